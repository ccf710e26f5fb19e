//! How numbers of processes that compare with references are related, and what a quantifier says of them.
//!
//! Each inequality of a comparison has a part about the process, and a rest about the reference and the state. Where two have the same part, the one with the greater rest implies the other; where
//! the parts are opposite and the rests are at least 1 together, both cannot hold. So comparisons with different references can be put in order, `y[p] >= l` with another l, and what a guard
//! says of everybody, `y[j] < y[i]`, leaves nobody of whom `y[j] >= l` holds where l is at least `y[i]`.

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Overflow, Variable};
use threadwise_lang::program::{BoundId, LocationId, TemplateId};
use threadwise_model::family::{Formula, Names, Population, Term};

use crate::scope::{
    ComparedAt, Comparison, Form, Ghosts, Place, Reference, Translator, Var, plain,
};

/// A process that is in no scope.
const SOMEBODY: u32 = u32::MAX;

/// An inequality about a process: both together are at most 0.
struct Part {
    process: Vec<(Variable, i64)>,
    rest: Form,
}

/// A comparison with a process in scope.
struct With {
    comparison: u32,
    template: TemplateId,
    reference: u32,
    parts: Vec<Part>,
}

/// The inequalities of a conjunction.
fn members(predicate: &Linear) -> Option<Vec<Atom>> {
    let atom = |member: &Linear| match member {
        Linear::Atom(atom) => Some(atom.clone()),
        _ => None,
    };
    match predicate {
        Linear::Atom(atom) => Some(vec![atom.clone()]),
        Linear::And(members) => members.iter().map(atom).collect(),
        Linear::Or(_) => None,
    }
}

/// When some inequalities imply others.
fn implied(others: &[Part], by: &[Part]) -> Result<Linear, Overflow> {
    let mut all = Vec::with_capacity(others.len());
    for other in others {
        let mut any = Vec::new();
        for part in by.iter().filter(|part| part.process == other.process) {
            any.push(other.rest.at_most(&part.rest)?);
        }
        all.push(Linear::any(any));
    }
    Ok(Linear::all(all))
}

/// When some inequalities exclude others.
fn exclusive(one: &[Part], other: &[Part]) -> Result<Linear, Overflow> {
    let mut any = Vec::new();
    for part in one {
        for against in other {
            let negated = against.process.iter().map(|(v, factor)| (*v, -*factor));
            if part.process.iter().copied().eq(negated) {
                let both = part.rest.plus(1, &against.rest)?;
                any.push(Form::number(1).at_most(&both)?);
            }
        }
    }
    Ok(Linear::any(any))
}

impl Translator<'_> {
    /// The comparisons with processes in scope whose inequalities are known.
    fn withs(&mut self, compared: &[Comparison]) -> Result<Vec<With>, Overflow> {
        let mut all = Vec::new();
        for (number, comparison) in compared.iter().enumerate() {
            let Some(members) = members(&comparison.predicate) else {
                continue;
            };
            for reference in self.scope.of_template(comparison.of) {
                let mut parts = Vec::with_capacity(members.len());
                for atom in &members {
                    let mut form = Form::number(atom.constant);
                    for (variable, factor) in &atom.terms {
                        let variable = self.table.renamed(*variable, &[SOMEBODY, reference]);
                        form = form.plus(*factor, &Form::variable(variable))?;
                    }
                    parts.push(self.part(&form));
                }
                all.push(With {
                    comparison: number as u32,
                    template: comparison.template,
                    reference,
                    parts,
                });
            }
        }
        Ok(all)
    }

    fn part(&self, form: &Form) -> Part {
        let of_somebody = |variable: &Variable| {
            let named = |places: &[Place]| places.contains(&Place::Reference(SOMEBODY));
            match self.table.var(*variable) {
                Var::Id(process) => *process == SOMEBODY,
                Var::Local(process, _, _, places) => *process == SOMEBODY || named(places),
                Var::Shared(_, places) => named(places),
                _ => false,
            }
        };
        let terms = form.terms.iter().copied();
        let (process, rest) = terms.partition(|(variable, _)| of_somebody(variable));
        Part {
            process,
            rest: Form {
                terms: rest,
                constant: form.constant,
            },
        }
    }

    fn held_at(&mut self, with: &With, location: LocationId) -> Result<Form, Overflow> {
        let at = ComparedAt {
            comparison: with.comparison,
            template: with.template,
            location,
            reference: with.reference,
        };
        let scope: Vec<(u32, Reference)> = self.scope.iter().collect();
        Ok(self.others(at, &scope, false)?.0)
    }

    /// How the numbers of those who compare with processes in scope are related.
    pub(crate) fn related(
        &mut self,
        ghosts: &Ghosts,
        facts: &mut Vec<Linear>,
    ) -> Result<(), Overflow> {
        let family = self.family;
        let mut all = self.withs(&ghosts.compared)?;
        all.retain(|with| ghosts.compared[with.comparison as usize].of != with.template);
        for (number, greater) in all.iter().enumerate() {
            let others = all.iter().enumerate();
            let smaller: Vec<&With> = others
                .filter(|(other, with)| *other != number && with.template == greater.template)
                .map(|(_, with)| with)
                .collect();
            for (place, one) in smaller.iter().enumerate() {
                let implies = implied(&greater.parts, &one.parts)?;
                if implies.truth() == Some(false) {
                    continue;
                }
                // Who compares in the first way, and with that in another one that excludes it.
                let mut ways: Vec<(Option<&With>, Linear)> = vec![(None, implies.clone())];
                for other in &smaller[..place] {
                    let both = Linear::all([
                        implies.clone(),
                        implied(&greater.parts, &other.parts)?,
                        exclusive(&one.parts, &other.parts)?,
                    ]);
                    ways.push((Some(*other), both));
                }
                ways.retain(|(_, way)| way.truth() != Some(false));
                for (other, way) in ways {
                    let not = way.negation()?;
                    for location in family.templates[greater.template].locations.indices() {
                        let mut held = self.held_at(one, location)?;
                        if let Some(other) = other {
                            held = held.plus(1, &self.held_at(other, location)?)?;
                        }
                        let more = self.held_at(greater, location)?;
                        facts.push(Linear::any([not.clone(), held.at_most(&more)?]));
                    }
                }
            }
        }
        Ok(())
    }

    /// That nobody out of scope compares in a way that excludes what holds, or does not, of everybody.
    pub(crate) fn nobody(
        &mut self,
        var: BoundId,
        template: TemplateId,
        body: &Formula,
        holds: bool,
    ) -> Result<Vec<Linear>, Overflow> {
        let mut known = Vec::new();
        let compared = self.table.compared.clone();
        if self.at_first || compared.iter().all(|c| c.template != template) {
            return Ok(known);
        }
        let family = self.family;
        let body = body.resolve(&Names::default().with(var, SOMEBODY));
        let mut said = Vec::new();
        if !self.disjuncts(&body, template, holds, &mut said)? {
            return Ok(known);
        }
        let said: Vec<Part> = said.iter().map(|form| self.part(form)).collect();
        for with in self.withs(&compared)? {
            if with.template != template {
                continue;
            }
            let mut all = Vec::with_capacity(said.len());
            for said in &said {
                all.push(exclusive(&with.parts, std::slice::from_ref(said))?);
            }
            let excluded = Linear::all(all);
            if excluded.truth() == Some(false) {
                continue;
            }
            let not = excluded.negation()?;
            for location in family.templates[template].locations.indices() {
                let none = self.held_at(&with, location)?.at_most(&Form::number(0))?;
                known.push(Linear::any([not.clone(), none]));
            }
        }
        Ok(known)
    }

    /// Forms of which one is at most 0 if a formula holds, or does not, of somebody out of scope; whether it could be read like that.
    fn disjuncts(
        &mut self,
        formula: &Formula,
        template: TemplateId,
        holds: bool,
        found: &mut Vec<Form>,
    ) -> Result<bool, Overflow> {
        match (formula, holds) {
            (Formula::Not(inner), _) => self.disjuncts(inner, template, !holds, found),
            (Formula::Or(members), true) | (Formula::And(members), false) => {
                for member in members {
                    if !self.disjuncts(member, template, holds, found)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Formula::AtMost(a, b), _) if is_plain(a) && is_plain(b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                found.push(match holds {
                    true => a.plus(-1, &b)?,
                    false => b.plus(-1, &a)?.add(1)?,
                });
                Ok(true)
            }
            (Formula::Equal(Term::Reference(a), Term::Reference(b)), true) => {
                let here = self.scope.of_template(template);
                Ok(*a == SOMEBODY && here.contains(b) || *b == SOMEBODY && here.contains(a))
            }
            (Formula::Constant(truth), _) => Ok(*truth != holds),
            _ => Ok(false),
        }
    }

    /// What numbers of processes that compare with a reference are at first, as far as all begin with the same.
    pub(crate) fn compared_at_first(
        &mut self,
        ghosts: &Ghosts,
        facts: &mut Vec<Linear>,
    ) -> Result<(), Overflow> {
        let family = self.family;
        for (number, comparison) in ghosts.compared.iter().enumerate() {
            let template = &family.templates[comparison.template];
            let Some(members) = members(&comparison.predicate) else {
                continue;
            };
            if matches!(template.population, Population::Grows) {
                continue;
            }
            for reference in self.scope.of_template(comparison.of) {
                let at = ComparedAt {
                    comparison: number as u32,
                    template: comparison.template,
                    location: template.entry,
                    reference,
                };
                let scope: Vec<(u32, Reference)> = self.scope.iter().collect();
                let (held, _) = self.others(at, &scope, false)?;
                for atom in &members {
                    if let Some(form) = self.begins(atom, comparison, reference)? {
                        let none = held.at_most(&Form::number(0))?;
                        facts.push(Linear::any([form.at_most_zero()?, none]));
                    }
                }
            }
        }
        Ok(())
    }

    /// An inequality of a comparison with what the variables of a process begin with, if that is the same for all.
    fn begins(
        &mut self,
        atom: &Atom,
        comparison: &Comparison,
        reference: u32,
    ) -> Result<Option<Form>, Overflow> {
        let family = self.family;
        let mut form = Form::number(atom.constant);
        for (variable, factor) in &atom.terms {
            let declared = match self.table.var(*variable).clone() {
                Var::Id(0) => return Ok(None),
                Var::Local(0, _, var, _) => &family.templates[comparison.template].locals[var],
                Var::Shared(var, places) if places.contains(&Place::Reference(0)) => {
                    &family.shared[var]
                }
                _ => {
                    let variable = self.table.renamed(*variable, &[SOMEBODY, reference]);
                    form = form.plus(*factor, &Form::variable(variable))?;
                    continue;
                }
            };
            let somebody = Names {
                own: Some(SOMEBODY),
                ..Names::default()
            };
            match &declared.initial {
                Some(initial) if initial.resolve(&somebody) == *initial => {
                    form = form.plus(*factor, &self.term(initial)?)?;
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(form))
    }
}

/// Whether a term is a sum of multiples of what has a variable.
fn is_plain(term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::Param(_) | Term::Reference(_) => true,
        Term::Sum(terms) => terms.iter().all(is_plain),
        Term::Scaled(_, term) => is_plain(term),
        Term::Cell(cell) => plain(cell).is_some(),
        _ => false,
    }
}
