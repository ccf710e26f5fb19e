//! How numbers of processes that compare with references are related, and what a quantifier says of them.
//!
//! A comparison that is a conjunction of inequalities is taken apart: of each inequality a part is about the process, and the rest about the reference and the state. Where the parts
//! about the process are the same, an inequality follows from another one whose rest is at least as great; where one is the negative of the other, both cannot hold if the rests are 1
//! or more together. So whether one comparison implies another one, with the same reference or another, and whether two exclude each other, is said by the rests alone. Of the
//! processes at a label that are not in scope, no more compare in the first way than in the second; in both of two ways that exclude each other, no more than in one that both imply; and nobody
//! in a way that excludes what a quantifier says of everybody.

use std::collections::BTreeMap;

use threadwise_evidence::arithmetic::{Formula as Known, Variable};
use threadwise_lang::program::{BoundId, TemplateId};
use threadwise_model::family::{Formula, Names, Population, Term};

use super::Claimed;
use super::compared::{Comparing, others_at};
use super::linear::{Linear, at_most, of_atom};
use super::names::{Compared, Place, Symbol, cell_name};
use super::translate::Translation;
use crate::Error;

/// A process that is in no scope.
const SOMEBODY: u32 = u32::MAX;

/// A comparison, for quantifiers: the claim has it as well.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(crate) template: TemplateId,
    pub(crate) of: TemplateId,
    pub(crate) predicate: Known,
}

/// An inequality about a process: both together are at most 0.
struct Part {
    /// What is about the process: variables with their factors, which are not 0.
    process: Vec<(Variable, i64)>,
    rest: Linear,
}

/// The inequalities of which a comparison with a reference is the conjunction, if it is one.
fn parts(
    translation: &mut Translation<'_, '_>,
    predicate: &Known,
    reference: u32,
) -> Result<Option<Vec<Part>>, Error> {
    let members = match predicate {
        Known::Or(_) => return Ok(None),
        Known::And(members) => members.as_slice(),
        Known::Atom(_) => std::slice::from_ref(predicate),
    };
    let mut parts = Vec::with_capacity(members.len());
    for member in members {
        let Known::Atom(atom) = member else {
            return Ok(None);
        };
        let sum = of_atom(atom, &mut |variable| {
            let symbol = translation.table.symbol(variable)?;
            let symbol = symbol.renamed(&|i| match i {
                0 => SOMEBODY,
                _ => reference,
            });
            Ok::<_, Error>(translation.variable(symbol.name(translation.family)))
        })?;
        parts.push(part(translation, &sum)?);
    }
    Ok(Some(parts))
}

/// A sum, taken apart.
fn part(translation: &Translation<'_, '_>, sum: &Linear) -> Result<Part, Error> {
    let somebody = format!("${SOMEBODY}");
    let mut process: BTreeMap<Variable, i64> = BTreeMap::new();
    let mut rest = Linear::number(sum.constant());
    for (variable, factor) in sum.terms() {
        match translation.table.name(*variable).contains(&somebody) {
            true => {
                let sum = process.entry(*variable).or_default();
                *sum = sum.checked_add(*factor).ok_or_else(too_large)?;
            }
            false => rest.add(*factor, &Linear::variable(*variable))?,
        }
    }
    process.retain(|_, factor| *factor != 0);
    Ok(Part {
        process: process.into_iter().collect(),
        rest,
    })
}

fn too_large() -> Error {
    Error::from(threadwise_evidence::arithmetic::Overflow)
}

/// When some inequalities imply others.
fn implied(others: &[Part], by: &[Part]) -> Result<Known, Error> {
    let mut all = Vec::with_capacity(others.len());
    for other in others {
        let mut any = Vec::new();
        for part in by.iter().filter(|part| part.process == other.process) {
            any.push(at_most(&other.rest, &part.rest)?);
        }
        all.push(Known::any(any));
    }
    Ok(Known::all(all))
}

/// When some inequalities exclude others.
fn exclusive(one: &[Part], other: &[Part]) -> Result<Known, Error> {
    let mut any = Vec::new();
    for part in one {
        for against in other {
            let opposite = part.process.len() == against.process.len()
                && part
                    .process
                    .iter()
                    .zip(&against.process)
                    .all(|(a, b)| a.0 == b.0 && a.1.checked_neg() == Some(b.1));
            if opposite {
                let both = part.rest.clone().plus(&against.rest)?;
                any.push(at_most(&Linear::number(1), &both)?);
            }
        }
    }
    Ok(Known::any(any))
}

/// A comparison with a process in scope, and its inequalities.
struct With {
    comparison: usize,
    template: TemplateId,
    of: TemplateId,
    reference: u32,
    parts: Vec<Part>,
}

impl With {
    /// Of how many processes at a label that are not in scope it holds.
    fn held(
        &self,
        translation: &mut Translation<'_, '_>,
        location: threadwise_lang::program::LocationId,
    ) -> Result<Linear, Error> {
        let compared = Compared {
            template: self.template,
            location,
            comparison: self.comparison,
            of: self.of,
            reference: self.reference,
        };
        let which = translation.variable(compared.name(translation.family));
        Ok(others_at(translation, compared, &which, None)?.held)
    }

    fn is(&self, other: &With) -> bool {
        (self.comparison, self.reference) == (other.comparison, other.reference)
    }
}

/// How the numbers of those who compare with processes in scope are related.
pub(super) fn related(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
    facts: &mut Vec<Known>,
) -> Result<(), Error> {
    let family = translation.family;
    let mut all = Vec::new();
    for (comparison, comparing) in claim.compared.iter().enumerate() {
        let Comparing { template, of, .. } = *comparing;
        if template == of {
            continue;
        }
        let references: Vec<u32> = translation.scope.of(of).map(|p| p.number).collect();
        for reference in references {
            if let Some(parts) = parts(translation, comparing.predicate, reference)? {
                all.push(With {
                    comparison,
                    template,
                    of,
                    reference,
                    parts,
                });
            }
        }
    }
    for greater in &all {
        let smaller: Vec<&With> = all
            .iter()
            .filter(|other| other.template == greater.template && !other.is(greater))
            .collect();
        for (place, one) in smaller.iter().enumerate() {
            let implies = implied(&greater.parts, &one.parts)?;
            if implies.truth() == Some(false) {
                continue;
            }
            let not = implies.negation()?;
            for location in family.templates[greater.template].locations.indices() {
                let held = one.held(translation, location)?;
                let more = greater.held(translation, location)?;
                facts.push(Known::any([not.clone(), at_most(&held, &more)?]));
            }
            for other in &smaller[..place] {
                let both = Known::all([
                    implies.clone(),
                    implied(&greater.parts, &other.parts)?,
                    exclusive(&one.parts, &other.parts)?,
                ]);
                if both.truth() == Some(false) {
                    continue;
                }
                let not = both.negation()?;
                for location in family.templates[greater.template].locations.indices() {
                    let held = one.held(translation, location)?;
                    let held = held.plus(&other.held(translation, location)?)?;
                    let more = greater.held(translation, location)?;
                    facts.push(Known::any([not.clone(), at_most(&held, &more)?]));
                }
            }
        }
    }
    Ok(())
}

/// What is known because a formula holds, or does not, of everybody of a template: that nobody out of scope compares in a way that excludes it.
pub(super) fn nobody(
    translation: &mut Translation<'_, '_>,
    (var, template): (BoundId, TemplateId),
    body: &Formula,
    holds: bool,
) -> Result<Vec<Known>, Error> {
    let comparisons = translation.table.compared.clone();
    if translation.at_first || !comparisons.iter().any(|c| c.template == template) {
        return Ok(Vec::new());
    }
    let body = body.resolve(&Names::default().with(var, SOMEBODY));
    let mut sums = Vec::new();
    if !disjuncts(translation, &body, template, holds, &mut sums)? {
        return Ok(Vec::new());
    }
    let family = translation.family;
    let mut said = Vec::with_capacity(sums.len());
    for sum in &sums {
        said.push(part(translation, sum)?);
    }
    let mut known = Vec::new();
    for (comparison, comparing) in comparisons.iter().enumerate() {
        if comparing.template != template {
            continue;
        }
        let references: Vec<u32> = translation
            .scope
            .of(comparing.of)
            .map(|p| p.number)
            .collect();
        for reference in references {
            let Some(parts) = parts(translation, &comparing.predicate, reference)? else {
                continue;
            };
            let with = With {
                comparison,
                template,
                of: comparing.of,
                reference,
                parts,
            };
            let mut all = Vec::with_capacity(said.len());
            for said in &said {
                all.push(exclusive(&with.parts, std::slice::from_ref(said))?);
            }
            let excluded = Known::all(all);
            if excluded.truth() == Some(false) {
                continue;
            }
            let not = excluded.negation()?;
            for location in family.templates[template].locations.indices() {
                let held = with.held(translation, location)?;
                let none = at_most(&held, &Linear::default())?;
                known.push(Known::any([not.clone(), none]));
            }
        }
    }
    Ok(known)
}

/// Sums of which one is at most 0 if a formula holds, or does not, of somebody who is not in scope. Says whether it could be read in this way.
fn disjuncts(
    translation: &mut Translation<'_, '_>,
    formula: &Formula,
    template: TemplateId,
    holds: bool,
    found: &mut Vec<Linear>,
) -> Result<bool, Error> {
    match (formula, holds) {
        (Formula::Not(inner), _) => disjuncts(translation, inner, template, !holds, found),
        (Formula::Or(members), true) | (Formula::And(members), false) => {
            for member in members {
                if !disjuncts(translation, member, template, holds, found)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Formula::AtMost(a, b), _) if is_plain(translation, a) && is_plain(translation, b) => {
            let (a, b) = (translation.linear(a)?, translation.linear(b)?);
            found.push(match holds {
                true => a.minus(&b)?,
                false => b.minus(&a)?.plus_number(1)?,
            });
            Ok(true)
        }
        // Nobody out of scope is in scope.
        (Formula::Equal(Term::Reference(a), Term::Reference(b)), true) => {
            let in_scope = |number: &u32| {
                let known = translation.scope.get(*number);
                known.is_some_and(|known| known.template == template)
            };
            Ok(*a == SOMEBODY && in_scope(b) || *b == SOMEBODY && in_scope(a))
        }
        (Formula::Constant(truth), _) => Ok(*truth != holds),
        _ => Ok(false),
    }
}

/// Whether a term is a sum of multiples of what has a name.
fn is_plain(translation: &Translation<'_, '_>, term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::Param(_) | Term::Reference(_) => true,
        Term::Sum(terms) => terms.iter().all(|term| is_plain(translation, term)),
        Term::Scaled(_, term) => is_plain(translation, term),
        Term::Cell(cell) => cell_name(translation.family, cell).is_some(),
        _ => false,
    }
}

/// What numbers of processes that compare with a reference are at first, as far as all begin with the same.
pub(super) fn at_first(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
) -> Result<Vec<Known>, Error> {
    let family = translation.family;
    let mut known = Vec::new();
    for (comparison, comparing) in claim.compared.iter().enumerate() {
        let template = &family.templates[comparing.template];
        if matches!(template.population, Population::Grows) {
            continue;
        }
        let members = match comparing.predicate {
            Known::Or(_) => continue,
            Known::And(members) => members.as_slice(),
            member @ Known::Atom(_) => std::slice::from_ref(member),
        };
        let references: Vec<u32> = translation
            .scope
            .of(comparing.of)
            .map(|p| p.number)
            .collect();
        for reference in references {
            let compared = Compared {
                template: comparing.template,
                location: template.entry,
                comparison,
                of: comparing.of,
                reference,
            };
            let which = translation.variable(compared.name(family));
            let held = others_at(translation, compared, &which, None)?.held;
            for member in members {
                if let Some(holds) = begins(translation, member, comparing, reference)? {
                    known.push(Known::any([holds, at_most(&held, &Linear::default())?]));
                }
            }
        }
    }
    Ok(known)
}

/// A part of a comparison with what the variables of a process begin with, if that is the same for all.
fn begins(
    translation: &mut Translation<'_, '_>,
    member: &Known,
    comparing: &Comparing<'_>,
    reference: u32,
) -> Result<Option<Known>, Error> {
    let Known::Atom(atom) = member else {
        return Ok(None);
    };
    let family = translation.family;
    let mut same = true;
    let sum = of_atom(atom, &mut |variable| {
        let symbol = translation.table.symbol(variable)?.clone();
        let of_process = |places: &[Place]| places.contains(&Place::Reference(0));
        let declared = match &symbol {
            Symbol::Id(0) => None,
            Symbol::Local(0, name, _) => {
                let mut locals = family.templates[comparing.template].locals.iter();
                locals.find(|local| local.name == *name)
            }
            Symbol::Shared(var, places) if of_process(places) => Some(&family.shared[*var]),
            other => {
                let name = other.renamed(&|_| reference).name(family);
                return Ok(translation.variable(name));
            }
        };
        let initial = declared.and_then(|declared| declared.initial.as_ref());
        // A term that mentions the process is another one when it is somebody.
        let somebody = Names {
            own: Some(SOMEBODY),
            bound: Vec::new(),
        };
        match initial {
            Some(initial) if initial.resolve(&somebody) == *initial => translation.linear(initial),
            _ => {
                same = false;
                Ok::<_, Error>(Linear::default())
            }
        }
    })?;
    Ok(match same {
        true => Some(at_most(&sum, &Linear::default())?),
        false => None,
    })
}
