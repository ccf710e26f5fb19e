//! Terms and formulas of a program as inequalities.
//!
//! What is linear stays what it is. Every other term is a variable of its own, named by its text, and facts say what is known of it: there is always a
//! value of the variable for which they hold. That is so for terms whose value nobody asks for, too, as an entry of an array
//! with an index that does not exist. All terms are over one state.
//!
//! A formula is translated in order to be assumed, so the translation may say less than the formula, never more.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::{Formula as Known, Variable};
use threadwise_lang::program::{BoundId, LocationId, TemplateId};
use threadwise_model::family::{
    Cell, Dimension, Family, FoldKind, Formula, Index, Names, Population, Term,
};

use super::among;
use super::linear::{Linear, at_most, differ, equal, less, substitute};
use super::names::{Table, cell_name, count_name, id_name};
use super::scope::{Scope, within_type};
use super::sums;
use crate::Error;

/// The translation of the terms of a condition.
pub(crate) struct Translation<'f, 't> {
    pub(crate) family: &'f Family,
    pub(crate) scope: &'t Scope,
    pub(crate) table: &'t mut Table,
    /// Whether numbers of processes are those at first, over parameters, and not sums of counters.
    pub(crate) at_first: bool,
    /// What is known of the variables for terms.
    facts: Vec<Known>,
    /// The variables of which it is known.
    described: HashSet<Variable>,
}

impl<'f, 't> Translation<'f, 't> {
    pub(crate) fn new(family: &'f Family, scope: &'t Scope, table: &'t mut Table) -> Self {
        Translation {
            family,
            scope,
            table,
            at_first: false,
            facts: Vec::new(),
            described: HashSet::new(),
        }
    }

    /// The facts about terms that came up since the last call.
    pub(crate) fn take_facts(&mut self) -> Vec<Known> {
        std::mem::take(&mut self.facts)
    }

    /// The terms that facts have been taken of.
    pub(crate) fn described(&self) -> HashSet<Variable> {
        self.described.clone()
    }

    /// Forgets that there are facts of terms other than these.
    pub(crate) fn describe_again(&mut self, described: HashSet<Variable>) {
        self.described = described;
    }

    /// A variable by its name.
    pub(crate) fn variable(&mut self, name: String) -> Linear {
        Linear::variable(self.table.number(name))
    }

    /// How many processes are at a label.
    pub(crate) fn count(&mut self, template: TemplateId, location: LocationId) -> Linear {
        self.variable(count_name(self.family, template, location))
    }

    /// How many processes of a template there are.
    pub(crate) fn population(&mut self, template: TemplateId) -> Result<Linear, Error> {
        if self.at_first {
            return self.linear(&self.family.initial_population(template));
        }
        let locations = self.family.templates[template].locations.indices();
        self.total(template, locations)
    }

    /// How many processes are at some labels.
    pub(super) fn total(
        &mut self,
        template: TemplateId,
        locations: impl IntoIterator<Item = LocationId>,
    ) -> Result<Linear, Error> {
        let mut sum = Linear::default();
        for location in locations {
            sum = sum.plus(&self.count(template, location))?;
        }
        Ok(sum)
    }

    /// A term as a sum.
    pub(crate) fn linear(&mut self, term: &Term) -> Result<Linear, Error> {
        match term {
            Term::Number(number) => Ok(Linear::number(*number)),
            Term::Param(param) => {
                let name = self.family.program().params[*param].name.clone();
                Ok(self.variable(name))
            }
            Term::Population(template) => self.population(*template),
            Term::Reference(reference) => Ok(self.variable(id_name(*reference))),
            Term::Choice(choice) => Ok(self.variable(format!("?{choice}"))),
            Term::Sum(terms) => {
                let mut sum = Linear::default();
                for term in terms {
                    sum = sum.plus(&self.linear(term)?)?;
                }
                Ok(sum)
            }
            Term::Scaled(factor, term) => {
                let mut sum = Linear::default();
                sum.add(*factor, &self.linear(term)?)?;
                Ok(sum)
            }
            Term::Cell(cell) => match cell_name(self.family, cell) {
                Some(name) => Ok(self.variable(name)),
                None => self.opaque(term),
            },
            Term::Own | Term::Bound(_) => Err(Error::unsupported(
                "a condition is about a process that it does not name",
            )),
            _ => match self.counted_labels(term) {
                Some((template, locations)) => self.total(template, locations),
                None => match self.summed(term)? {
                    Some(sum) => Ok(sum),
                    None => self.opaque(term),
                },
            },
        }
    }

    /// If a term is a sum over all processes of what the claim sums, that sum.
    fn summed(&mut self, term: &Term) -> Result<Option<Linear>, Error> {
        match term {
            Term::Fold {
                kind: FoldKind::Sum,
                var,
                template,
                body,
            } if !self.at_first => sums::total(self, (*var, *template), body),
            _ => Ok(None),
        }
    }

    /// If a term is the number of processes at some labels, the template and the labels.
    fn counted_labels(&self, term: &Term) -> Option<(TemplateId, Vec<LocationId>)> {
        let Term::Fold {
            kind: FoldKind::Sum,
            var,
            template,
            body,
        } = term
        else {
            return None;
        };
        let (inside, _) = self.labels(counted(body)?, *var, *template, true)?;
        Some((*template, inside))
    }

    /// If whether a formula holds of a process depends on its label only: the labels where it does, or does not, and the others.
    pub(super) fn labels(
        &self,
        formula: &Formula,
        var: BoundId,
        template: TemplateId,
        holds: bool,
    ) -> Option<(Vec<LocationId>, Vec<LocationId>)> {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for location in self.family.templates[template].locations.indices() {
            match at_label(formula, var, template, location)? == holds {
                true => inside.push(location),
                false => outside.push(location),
            }
        }
        Some((inside, outside))
    }

    /// A formula of the claim about other references: `to(i)` instead of `$i`.
    pub(crate) fn rename(
        &mut self,
        formula: &Known,
        to: &dyn Fn(u32) -> u32,
    ) -> Result<Known, Error> {
        substitute(formula, &mut |variable| {
            let symbol = self.table.symbol(variable)?;
            let name = symbol.renamed(to).name(self.family);
            Ok(self.variable(name))
        })
    }

    /// The variable for a term.
    fn opaque(&mut self, term: &Term) -> Result<Linear, Error> {
        let variable = self.table.number(format!("{{{term}}}"));
        let value = Linear::variable(variable);
        if self.described.insert(variable) {
            self.describe(term, &value)?;
        }
        Ok(value)
    }

    /// Says what is known of a term that has a variable.
    fn describe(&mut self, term: &Term, value: &Linear) -> Result<(), Error> {
        let zero = Linear::default();
        match term {
            Term::Cell(cell) => self.describe_cell(cell, value),
            Term::If(condition, yes, no) => {
                let (yes, no) = (self.linear(yes)?, self.linear(no)?);
                let fact = Known::any([
                    Known::all([self.assume(condition, true)?, equal(value, &yes)?]),
                    Known::all([self.assume(condition, false)?, equal(value, &no)?]),
                ]);
                self.facts.push(fact);
                Ok(())
            }
            Term::Fold {
                kind,
                var,
                template,
                body,
            } => {
                let mut bodies = Vec::new();
                for process in self.scope.of(*template) {
                    let names = Names::default().with(*var, process.number);
                    bodies.push(self.linear(&body.resolve(&names))?);
                }
                let population = self.population(*template)?;
                let known = Linear::number(bodies.len() as i64);
                match kind {
                    FoldKind::Sum if counted(body).is_some() => {
                        let mut holding = Linear::default();
                        for body in &bodies {
                            holding = holding.plus(body)?;
                        }
                        let failing = known.minus(&holding)?;
                        let most = population.clone().minus(&failing)?;
                        self.facts.extend([
                            at_most(&zero, value)?,
                            at_most(value, &population)?,
                            at_most(&holding, value)?,
                            at_most(value, &most)?,
                        ]);
                    }
                    FoldKind::Sum => {
                        if let Term::Number(each) = **body {
                            let mut all = Linear::default();
                            all.add(each, &population)?;
                            self.facts.push(equal(value, &all)?);
                        }
                    }
                    FoldKind::Min | FoldKind::Max => {
                        for body in &bodies {
                            self.facts.push(match kind {
                                FoldKind::Min => at_most(value, body)?,
                                _ => at_most(body, value)?,
                            });
                        }
                        // Of nobody it can be anything.
                        if !bodies.is_empty() {
                            let mut ways = vec![less(&known, &population)?];
                            for body in &bodies {
                                ways.push(equal(value, body)?);
                            }
                            self.facts.push(Known::any(ways));
                        }
                    }
                }
                Ok(())
            }
            Term::Quotient(a, b) => {
                let Term::Number(divisor @ 1..) = **b else {
                    return Ok(());
                };
                let a = self.linear(a)?;
                let mut product = Linear::default();
                product.add(divisor, value)?;
                let fact = Known::any([
                    Known::all([
                        at_most(&zero, &a)?,
                        at_most(&product, &a)?,
                        at_most(&a, &product.clone().plus_number(divisor - 1)?)?,
                    ]),
                    Known::all([
                        less(&a, &zero)?,
                        at_most(&product.clone().plus_number(1 - divisor)?, &a)?,
                        at_most(&a, &product)?,
                    ]),
                ]);
                self.facts.push(fact);
                Ok(())
            }
            Term::Remainder(a, b) => self.describe_remainder(a, b, value),
            _ => Ok(()),
        }
    }

    fn describe_remainder(&mut self, a: &Term, b: &Term, value: &Linear) -> Result<(), Error> {
        if let Term::Number(divisor) = *b {
            if divisor > 0 {
                let quotient = Term::Quotient(Box::new(a.clone()), Box::new(b.clone()));
                let quotient = self.linear(&quotient)?;
                let mut rest = self.linear(a)?;
                rest.add(divisor.checked_neg().unwrap_or(divisor), &quotient)?;
                self.facts.push(equal(value, &rest)?);
            }
            return Ok(());
        }
        let (zero, one) = (Linear::default(), Linear::number(1));
        let (a, b) = (self.linear(a)?, self.linear(b)?);
        let twice = b.clone().plus(&b)?;
        let difference = a.clone().minus(&b)?;
        let positive = less(&zero, &b)?;
        let mut if_positive = |members: Vec<Known>| -> Result<(), Error> {
            let facts = Known::any([vec![positive.negation()?], members].concat());
            self.facts.push(facts);
            Ok(())
        };
        if_positive(vec![less(&a, &zero)?, at_most(&b, &a)?, equal(value, &a)?])?;
        let once = equal(value, &difference)?;
        if_positive(vec![less(&a, &b)?, at_most(&twice, &a)?, once])?;
        if_positive(vec![less(value, &b)?])?;
        if_positive(vec![at_most(&one.minus(&b)?, value)?])?;
        if_positive(vec![less(&a, &zero)?, at_most(&zero, value)?])?;
        if_positive(vec![less(&zero, &a)?, at_most(value, &zero)?])
    }

    /// That a cell which is indexed by something else than references is one that is indexed by them, if its indices are.
    fn describe_cell(&mut self, cell: &Cell, value: &Linear) -> Result<(), Error> {
        let family = self.family;
        let variable = match cell {
            Cell::Shared { var, .. } => &family.shared[*var],
            Cell::Local { template, var, .. } => &family.templates[*template].locals[*var],
        };
        let inside = within_type(self, variable, value)?;
        match (&variable.least, &variable.greatest) {
            // Where there are no such cells the type may have no values.
            (Some(least), Some(greatest)) => {
                let empty = less(&self.linear(greatest)?, &self.linear(least)?)?;
                self.facts.push(Known::any([empty, Known::all(inside)]));
            }
            _ => self.facts.extend(inside),
        }
        // The cells that it may be, each with what must be equal for that.
        let mut ways: Vec<(Vec<(Term, u32)>, Cell)> = vec![(Vec::new(), cell.clone())];
        let slots: Vec<(Option<usize>, TemplateId)> = match cell {
            Cell::Local { template, .. } => vec![(None, *template)],
            Cell::Shared { .. } => Vec::new(),
        };
        let indices = variable.dims.iter().enumerate();
        let indices = indices.filter_map(|(position, dim)| match dim {
            Dimension::Processes(template) => Some((Some(position), *template)),
            Dimension::Positions { .. } => None,
        });
        for (slot, template) in slots.into_iter().chain(indices) {
            let mut further = Vec::new();
            for (equations, cell) in ways {
                let term = match slot_of(&mut cell.clone(), slot) {
                    Some(term) if !matches!(term, Term::Reference(_)) => term.clone(),
                    _ => {
                        further.push((equations, cell));
                        continue;
                    }
                };
                for process in self.scope.of(template) {
                    let mut cell = cell.clone();
                    if let Some(index) = slot_of(&mut cell, slot) {
                        *index = Term::Reference(process.number);
                    }
                    let mut equations = equations.clone();
                    equations.push((term.clone(), process.number));
                    further.push((equations, cell));
                }
            }
            ways = further;
        }
        for (equations, cell) in ways {
            let mut members = Vec::new();
            for (term, process) in equations {
                let same = Formula::equal(term, Term::Reference(process));
                members.push(self.assume(&same, false)?);
            }
            let named = self.linear(&Term::Cell(cell))?;
            members.push(equal(value, &named)?);
            self.facts.push(Known::any(members));
        }
        Ok(())
    }

    /// A formula, or its negation, as something that holds.
    pub(crate) fn assume(&mut self, formula: &Formula, holds: bool) -> Result<Known, Error> {
        Ok(match formula {
            Formula::Constant(truth) => Known::constant(*truth == holds),
            Formula::AtMost(a, b) => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                match holds {
                    true => at_most(&a, &b)?,
                    false => less(&b, &a)?,
                }
            }
            Formula::Equal(a, b) => {
                if self.are_different(a, b) {
                    return Ok(Known::constant(!holds));
                }
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                match holds {
                    true => equal(&a, &b)?,
                    false => differ(&a, &b)?,
                }
            }
            Formula::At {
                template,
                process,
                locations,
            } => self.at(formula, *template, process, locations, holds)?,
            Formula::Not(inner) => self.assume(inner, !holds)?,
            Formula::And(members) | Formula::Or(members) => {
                let all = matches!(formula, Formula::And(_)) == holds;
                let mut translated = Vec::with_capacity(members.len());
                for member in members {
                    translated.push(self.assume(member, holds)?);
                }
                match all {
                    true => Known::all(translated),
                    false => Known::any(translated),
                }
            }
            Formula::ForAll(var, template, body) | Formula::Exists(var, template, body) => {
                let all = matches!(formula, Formula::ForAll(..)) == holds;
                let mut translated = Vec::new();
                for process in self.scope.of(*template) {
                    let names = Names::default().with(*var, process.number);
                    translated.push(self.assume(&body.resolve(&names), holds)?);
                }
                // If it is only about where they are, their numbers say it all.
                let labels = self.labels(body, *var, *template, holds);
                let labels = match labels {
                    Some((inside, outside)) => {
                        let (zero, one) = (Linear::default(), Linear::number(1));
                        Some(match all {
                            true => at_most(&self.total(*template, outside)?, &zero)?,
                            false => at_most(&one, &self.total(*template, inside)?)?,
                        })
                    }
                    None => None,
                };
                if all {
                    let others = among::nobody(self, (*var, *template), body, holds)?;
                    let all = translated.into_iter().chain(labels).chain(others);
                    return Ok(Known::all(all));
                }
                // It may be somebody who is not in scope.
                let known = Linear::number(translated.len() as i64);
                let population = self.population(*template)?;
                translated.push(less(&known, &population)?);
                Known::all([Known::any(translated)].into_iter().chain(labels))
            }
        })
    }

    /// Whether two terms are ids of different processes of one template.
    fn are_different(&self, a: &Term, b: &Term) -> bool {
        let (Term::Reference(a), Term::Reference(b)) = (a, b) else {
            return false;
        };
        let (Some(first), Some(second)) = (self.scope.get(*a), self.scope.get(*b)) else {
            return false;
        };
        a != b && first.template == second.template
    }

    fn at(
        &mut self,
        formula: &Formula,
        template: TemplateId,
        process: &Term,
        locations: &[LocationId],
        holds: bool,
    ) -> Result<Known, Error> {
        if let Term::Reference(reference) = process
            && let Some(known) = self.scope.get(*reference)
        {
            let here = locations.contains(&known.location);
            return Ok(Known::constant(here == holds));
        }
        let one = Linear::number(1);
        let truth = |value: &Linear, holds| match holds {
            true => at_most(&one, value),
            false => less(value, &one),
        };
        if let Population::Between(Term::Number(lo), Term::Number(hi)) =
            &self.family.templates[template].population
            && lo == hi
        {
            let here = self.total(template, locations.iter().copied())?;
            return Ok(truth(&here, holds)?);
        }
        let variable = self.table.number(format!("{{{formula}}}"));
        let value = Linear::variable(variable);
        if self.described.insert(variable) {
            let bounds = [at_most(&Linear::default(), &value)?, at_most(&value, &one)?];
            self.facts.extend(bounds);
            for known in self.scope.of(template) {
                let same = Formula::equal(process.clone(), Term::Reference(known.number));
                let here = truth(&value, locations.contains(&known.location))?;
                let fact = Known::any([self.assume(&same, false)?, here]);
                self.facts.push(fact);
            }
        }
        Ok(truth(&value, holds)?)
    }
}

/// The owner of a cell, or one of its indices, if that is a process.
fn slot_of(cell: &mut Cell, slot: Option<usize>) -> Option<&mut Term> {
    let (owner, indices) = match cell {
        Cell::Shared { indices, .. } => (None, indices),
        Cell::Local {
            process, indices, ..
        } => (Some(&mut **process), indices),
    };
    match slot {
        None => owner,
        Some(position) => match indices.get_mut(position)? {
            Index::Process(term) => Some(term),
            Index::Position(_) => None,
        },
    }
}

/// If a term is 1 where a formula holds and 0 elsewhere, the formula.
fn counted(body: &Term) -> Option<&Formula> {
    match body {
        Term::If(holds, yes, no) if (&**yes, &**no) == (&Term::Number(1), &Term::Number(0)) => {
            Some(holds)
        }
        _ => None,
    }
}

/// Whether a formula holds of a process at a label, if that is all that it asks.
fn at_label(
    formula: &Formula,
    var: BoundId,
    template: TemplateId,
    location: LocationId,
) -> Option<bool> {
    let at = |formula| at_label(formula, var, template, location);
    match formula {
        Formula::Constant(truth) => Some(*truth),
        Formula::At {
            template: of,
            process: Term::Bound(bound),
            locations,
        } if (*of, *bound) == (template, var) => Some(locations.contains(&location)),
        Formula::Not(inner) => Some(!at(inner)?),
        Formula::And(members) => {
            let each: Option<Vec<bool>> = members.iter().map(at).collect();
            Some(each?.into_iter().all(|holds| holds))
        }
        Formula::Or(members) => {
            let each: Option<Vec<bool>> = members.iter().map(at).collect();
            Some(each?.into_iter().any(|holds| holds))
        }
        _ => None,
    }
}
