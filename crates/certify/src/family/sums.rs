//! Sums over all processes at a label: of a term over parameters and local variables of each.
//!
//! A step changes local variables of the process that takes it and of nobody else. So it takes what the process had from the sum at the label that it leaves, and adds what it
//! has then to the sum at the label where it arrives; that is a value over the state before, not only an inequality. Of processes that are not in scope it is known that they have
//! values of their types, and that the sum over nobody is 0. What processes begin with is known if it is the same number for all.

use std::collections::BTreeMap;

use threadwise_evidence::arithmetic::{Formula, Variable};
use threadwise_evidence::family::{FamilyClaim, SummedTerm};
use threadwise_lang::program::{BoundId, LocationId, TemplateId};
use threadwise_model::family::{Cell, Family, FamilyVariable, Index, Names, Term};

use super::after::After;
use super::linear::{Linear, at_most, equal};
use super::names::{Place, Symbol, Table, sum_name, template_named};
use super::translate::Translation;
use crate::Error;

/// A process that is in no scope.
const NOBODY: u32 = u32::MAX;

/// A term of which the values of all processes at a label are summed.
#[derive(Clone, Debug)]
pub(crate) struct Summed {
    template: TemplateId,
    /// Parameters, and local variables of `$0`.
    terms: Vec<(Symbol, i64)>,
    constant: i64,
}

impl Summed {
    /// The terms of a claim.
    pub(crate) fn of_claim(
        family: &Family,
        claim: &FamilyClaim,
        table: &Table,
    ) -> Result<Vec<Summed>, Error> {
        let each = claim.summed.iter();
        each.map(|listed| Summed::read(family, listed, table))
            .collect()
    }

    fn read(family: &Family, listed: &SummedTerm, table: &Table) -> Result<Summed, Error> {
        let template = template_named(family, &listed.template)
            .ok_or_else(|| Error::no_proof("a sum is over a template that there is not"))?;
        let mut terms = Vec::new();
        for (variable, factor) in &listed.terms {
            let symbol = table.symbol(*variable)?;
            let own = match symbol {
                Symbol::Param(_) => true,
                Symbol::Local(_, _, places) => {
                    let fixed = places.iter().all(|p| matches!(p, Place::Position(_)));
                    fixed
                        && symbol
                            .fits(family, &|i| (i == 0).then_some(template))
                            .is_ok()
                }
                _ => false,
            };
            if !own {
                let name = table.name(*variable);
                return Err(Error::no_proof(format!(
                    "`{name}` is not for a sum: others may change it"
                )));
            }
            terms.push((symbol.clone(), *factor));
        }
        Ok(Summed {
            template,
            terms,
            constant: listed.constant,
        })
    }

    /// The value of a process.
    fn of_process(
        &self,
        translation: &mut Translation<'_, '_>,
        process: u32,
    ) -> Result<Linear, Error> {
        let mut sum = Linear::number(self.constant);
        for (symbol, factor) in &self.terms {
            let name = symbol.renamed(&|_| process).name(translation.family);
            sum.add(*factor, &translation.variable(name))?;
        }
        Ok(sum)
    }

    /// The term with something in the place of each local variable, if it is a number then.
    fn number(
        &self,
        translation: &mut Translation<'_, '_>,
        of: &dyn Fn(&FamilyVariable, i64) -> Option<Term>,
    ) -> Result<Option<i64>, Error> {
        let family = translation.family;
        let mut sum = Linear::number(self.constant);
        for (symbol, factor) in &self.terms {
            let value = match symbol {
                Symbol::Local(_, name, _) => {
                    let mut locals = family.templates[self.template].locals.iter();
                    let declared = locals.find(|local| local.name == *name);
                    match declared.and_then(|declared| of(declared, *factor)) {
                        Some(value) => translation.linear(&value)?,
                        None => return Ok(None),
                    }
                }
                other => translation.variable(other.name(family)),
            };
            sum.add(*factor, &value)?;
        }
        Ok(sum.as_number())
    }

    /// What every process begins with, if that is a number.
    fn initial(&self, translation: &mut Translation<'_, '_>) -> Result<Option<i64>, Error> {
        // A term that mentions the process is another one when it is somebody.
        let somebody = Names {
            own: Some(0),
            bound: Vec::new(),
        };
        self.number(translation, &|declared, _| {
            let initial = declared.initial.as_ref();
            let same = initial.filter(|initial| initial.resolve(&somebody) == **initial);
            same.cloned()
        })
    }
}

/// What holds of sums in every state.
pub(crate) fn facts(translation: &mut Translation<'_, '_>) -> Result<Vec<Formula>, Error> {
    let family = translation.family;
    let zero = Linear::default();
    let mut facts = Vec::new();
    for (number, summed) in translation.table.summed.clone().iter().enumerate() {
        let least = summed.number(translation, &|declared, factor| match factor > 0 {
            true => declared.least.clone(),
            false => declared.greatest.clone(),
        })?;
        let greatest = summed.number(translation, &|declared, factor| match factor > 0 {
            true => declared.greatest.clone(),
            false => declared.least.clone(),
        })?;
        for location in family.templates[summed.template].locations.indices() {
            let name = sum_name(family, summed.template, location, number);
            // Of those that are not in scope.
            let mut rest = translation.variable(name);
            let mut others = translation.count(summed.template, location);
            for process in translation.scope.at(summed.template, location) {
                rest = rest.minus(&summed.of_process(translation, process.number)?)?;
                others = others.plus_number(-1)?;
            }
            facts.push(Formula::any([
                at_most(&Linear::number(1), &others)?,
                equal(&rest, &zero)?,
            ]));
            if let Some(least) = least {
                let mut all = Linear::default();
                all.add(least, &others)?;
                facts.push(at_most(&all, &rest)?);
            }
            if let Some(greatest) = greatest {
                let mut all = Linear::default();
                all.add(greatest, &others)?;
                facts.push(at_most(&rest, &all)?);
            }
        }
    }
    Ok(facts)
}

/// What the sums at the first labels are at first. At others nobody is, and the sum over nobody is known.
pub(crate) fn at_first(translation: &mut Translation<'_, '_>) -> Result<Vec<Formula>, Error> {
    let family = translation.family;
    let mut known = Vec::new();
    for (number, summed) in translation.table.summed.clone().iter().enumerate() {
        if let Some(each) = summed.initial(translation)? {
            let entry = family.templates[summed.template].entry;
            let name = sum_name(family, summed.template, entry, number);
            let mut all = Linear::default();
            all.add(each, &translation.count(summed.template, entry))?;
            known.push(equal(&translation.variable(name), &all)?);
        }
    }
    Ok(known)
}

/// A sum at a label after a step.
pub(crate) fn after(
    step: &After<'_>,
    translation: &mut Translation<'_, '_>,
    (template, location, number): (TemplateId, LocationId, usize),
    facts: &mut Vec<Formula>,
) -> Result<Linear, Error> {
    let family = translation.family;
    let summed = translation.table.summed.get(number).cloned();
    let summed = summed.filter(|summed| summed.template == template);
    let summed = summed.ok_or_else(|| Error::no_proof("there is no such sum"))?;
    let name = sum_name(family, template, location, number);
    let unknown = translation.variable(name.clone() + "'");
    let mut sum = translation.variable(name);
    let mover = step.mover;
    if step.writes_of_others() {
        return Ok(unknown);
    }
    if mover.template == template && mover.location == location {
        sum = sum.minus(&summed.of_process(translation, mover.number)?)?;
    }
    if mover.template == template && step.to == location {
        sum = sum.plus_number(summed.constant)?;
        for (symbol, factor) in &summed.terms {
            let symbol = symbol.renamed(&|_| mover.number);
            sum.add(*factor, &step.value(translation, &symbol, facts)?)?;
        }
    }
    let starts = step.starts(template);
    if location == family.templates[template].entry && starts > 0 {
        match summed.initial(translation)? {
            Some(each) => sum.add(each, &Linear::number(starts))?,
            None => return Ok(unknown),
        }
    }
    Ok(sum)
}

/// The sum of a term over all processes of a template, if the claim has the sums of that term at labels.
pub(crate) fn total(
    translation: &mut Translation<'_, '_>,
    (var, template): (BoundId, TemplateId),
    body: &Term,
) -> Result<Option<Linear>, Error> {
    let family = translation.family;
    for (number, summed) in translation.table.summed.clone().iter().enumerate() {
        if summed.template != template {
            continue;
        }
        let Some(of_nobody) = of_nobody(translation, var, body)? else {
            return Ok(None);
        };
        let rest = of_nobody.minus(&summed.of_process(translation, NOBODY)?)?;
        let Some(rest) = rest.as_number() else {
            continue;
        };
        let mut all = Linear::default();
        all.add(rest, &translation.population(template)?)?;
        for location in family.templates[template].locations.indices() {
            let name = sum_name(family, template, location, number);
            all = all.plus(&translation.variable(name))?;
        }
        return Ok(Some(all));
    }
    Ok(None)
}

/// A term over parameters and local variables of a process that has a name, as one of a process that is nowhere.
fn of_nobody(
    translation: &mut Translation<'_, '_>,
    var: BoundId,
    term: &Term,
) -> Result<Option<Linear>, Error> {
    Ok(match term {
        Term::Number(_) | Term::Param(_) => Some(translation.linear(term)?),
        Term::Cell(Cell::Local {
            process, indices, ..
        }) => {
            let fixed = indices.iter().all(|i| matches!(i, Index::Position(_)));
            let names = Names::default().with(var, NOBODY);
            match fixed && **process == Term::Bound(var) {
                true => Some(translation.linear(&term.resolve(&names))?),
                false => None,
            }
        }
        Term::Scaled(factor, term) => match of_nobody(translation, var, term)? {
            Some(term) => {
                let mut sum = Linear::default();
                sum.add(*factor, &term)?;
                Some(sum)
            }
            None => None,
        },
        Term::Sum(terms) => {
            let mut sum = Linear::default();
            for term in terms {
                match of_nobody(translation, var, term)? {
                    Some(term) => sum = sum.plus(&term)?,
                    None => return Ok(None),
                }
            }
            Some(sum)
        }
        _ => None,
    })
}

impl Linear {
    /// The sum, if it is a number.
    fn as_number(&self) -> Option<i64> {
        let mut sums: BTreeMap<Variable, i128> = BTreeMap::new();
        for (variable, factor) in self.terms() {
            *sums.entry(*variable).or_default() += i128::from(*factor);
        }
        let number = sums.values().all(|factor| *factor == 0);
        number.then_some(self.constant())
    }
}
