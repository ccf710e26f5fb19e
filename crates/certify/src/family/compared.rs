//! Numbers of processes that compare with a reference: `#(j at l: a[j] < a[i])`, for a process i.
//!
//! They are ghosts, and how steps change them is derived here from what they are. In a state: each process in scope counts as 1 or 0, as the comparison holds of it or not, and of the others
//! as many hold as there may be. In a step: processes that are not in scope keep what they are, unless the step writes something that the comparison is about. Then it
//! is told by somebody of whom it would have to be otherwise. If the reference writes: of all others at a label it holds after the step, or there is a process at the label of which it does not; of none of
//! them, or there is one of which it does. If something else is written: of no more than before, or there is a process of which it did not hold and does now; of no less, or there
//! is one of which it did and does not. Of that process all is known that is known of processes at the label.
//!
//! If a comparison is an order, then of finitely many processes at a label one is *least*: it holds of nobody there and that one. That it is an order is shown
//! from its text alone: it holds of no process and itself, and is transitive.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::Formula;
use threadwise_evidence::family::{Condition, Least};
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Cell, Index, Term};

use super::after::After;
use super::among;
use super::conditions::{Judge, Lister, property_span};
use super::linear::{Linear, at_most, substitute};
use super::names::{Compared, Place, Symbol, comparison_name, location_named};
use super::scope::{Process, Scope, assertions, facts, indicates};
use super::translate::Translation;
use super::{Claimed, template};
use crate::Error;

/// A comparison with a reference.
#[derive(Debug)]
pub(crate) struct Comparing<'a> {
    pub(crate) template: TemplateId,
    pub(crate) of: TemplateId,
    pub(crate) predicate: &'a Formula,
    pub(crate) order: bool,
}

impl Comparing<'_> {
    /// Whether another comparison of the same processes holds wherever this one does: it says that the same sum is at most more.
    fn implies(&self, other: &Comparing<'_>) -> bool {
        let (Formula::Atom(one), Formula::Atom(two)) = (self.predicate, other.predicate) else {
            return false;
        };
        (self.template, self.of) == (other.template, other.of)
            && one.terms == two.terms
            && one.constant > two.constant
    }
}

/// A process at a label that is least in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeastAt {
    pub(crate) template: TemplateId,
    pub(crate) location: LocationId,
    pub(crate) comparison: usize,
}

impl LeastAt {
    /// Looks up the names.
    pub(crate) fn new(
        family: &threadwise_model::family::Family,
        compared: &[Comparing<'_>],
        least: &Least,
    ) -> Result<LeastAt, Error> {
        let of = template(family, &least.template)?;
        let location = location_named(family, of, &least.location);
        let location = location.ok_or_else(|| {
            Error::no_proof(format!(
                "`{}` has no label `{}`",
                least.template, least.location
            ))
        })?;
        let comparing = compared.get(least.comparison);
        if !comparing.is_some_and(|comparing| comparing.order && comparing.of == of) {
            return Err(Error::no_proof(format!(
                "{} is no order of processes of `{}`",
                least.comparison, least.template
            )));
        }
        Ok(LeastAt {
            template: of,
            location,
            comparison: least.comparison,
        })
    }

    /// How many there are at the label that are less than a process.
    pub(crate) fn less_than(&self, translation: &mut Translation<'_, '_>, process: u32) -> Linear {
        let name = self.symbol(process).name(translation.family);
        translation.variable(name)
    }

    /// The same as something that changes in steps.
    pub(crate) fn symbol(&self, process: u32) -> Compared {
        Compared {
            template: self.template,
            location: self.location,
            comparison: self.comparison,
            of: self.template,
            reference: process,
        }
    }
}

/// The comparison of a process with a reference.
fn holds(
    translation: &mut Translation<'_, '_>,
    comparing: &Comparing<'_>,
    process: u32,
    reference: u32,
) -> Result<Formula, Error> {
    translation.rename(comparing.predicate, &|i| match i {
        0 => process,
        _ => reference,
    })
}

/// What holds of the numbers in every state.
pub(crate) fn counted(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
    facts: &mut Vec<Formula>,
) -> Result<(), Error> {
    let family = translation.family;
    let scope = translation.scope;
    for (comparison, comparing) in claim.compared.iter().enumerate() {
        for reference in scope.of(comparing.of) {
            let others = scope.of(comparing.template);
            for process in others.filter(|process| process.number != reference.number) {
                let holds = holds(translation, comparing, process.number, reference.number)?;
                let name = comparison_name(process.number, comparison, reference.number);
                let indicator = translation.variable(name);
                facts.extend(indicates(&indicator, holds)?);
            }
            for location in family.templates[comparing.template].locations.indices() {
                let compared = Compared {
                    template: comparing.template,
                    location,
                    comparison,
                    of: comparing.of,
                    reference: reference.number,
                };
                let which = translation.variable(compared.name(family));
                let Others { held, count } = others_at(translation, compared, &which, None)?;
                facts.push(at_most(&Linear::default(), &held)?);
                facts.push(at_most(&held, &count)?);
                for (weaker, other) in claim.compared.iter().enumerate() {
                    if comparing.implies(other) {
                        let compared = Compared {
                            comparison: weaker,
                            ..compared
                        };
                        let which = translation.variable(compared.name(family));
                        let more = others_at(translation, compared, &which, None)?;
                        facts.push(at_most(&held, &more.held)?);
                    }
                }
            }
        }
    }
    among::related(translation, claim, facts)
}

/// Processes at a label that are not in scope.
pub(super) struct Others {
    /// Of how many of them a comparison holds.
    pub(super) held: Linear,
    /// How many they are.
    count: Linear,
}

/// Those at a label who are not in scope: before a step, or with the scope after it, and new ones.
pub(super) fn others_at(
    translation: &mut Translation<'_, '_>,
    compared: Compared,
    which: &Linear,
    after: Option<&[Process]>,
) -> Result<Others, Error> {
    let scope = translation.scope;
    let (here, mark) = match after {
        None => (scope.processes.as_slice(), ""),
        Some(after) => (after, "'"),
    };
    let mut held = which.clone();
    for process in here {
        let there = (process.template, process.location) == (compared.template, compared.location);
        if there && process.number != compared.reference {
            let name = comparison_name(process.number, compared.comparison, compared.reference);
            held = held.minus(&translation.variable(name + mark))?;
        }
    }
    // Nobody else comes or goes, so they are as many as before.
    let before = scope.at(compared.template, compared.location).count();
    let count = translation.count(compared.template, compared.location);
    Ok(Others {
        held,
        count: count.plus_number(-(before as i64))?,
    })
}

/// Somebody that is not in scope, and of which a comparison would have to be otherwise.
#[derive(Clone, Copy, Debug)]
enum Witness {
    /// It holds of it after the step.
    Now(bool),
    /// It holds after the step and did not before, or the reverse.
    Changed(bool),
}

impl After<'_> {
    /// What is known after the step of all numbers of processes that compare with one.
    pub(super) fn all_compared(
        &self,
        translation: &mut Translation<'_, '_>,
        reference: Process,
        facts: &mut Vec<Formula>,
    ) -> Result<(), Error> {
        let family = translation.family;
        for (comparison, comparing) in self.claim.compared.iter().enumerate() {
            if comparing.of != reference.template {
                continue;
            }
            for location in family.templates[comparing.template].locations.indices() {
                let compared = Compared {
                    template: comparing.template,
                    location,
                    comparison,
                    of: comparing.of,
                    reference: reference.number,
                };
                self.value(translation, &Symbol::Compared(compared), facts)?;
            }
        }
        Ok(())
    }

    /// What is known of a number of processes that compare with a reference, after the step.
    pub(super) fn compared(
        &self,
        translation: &mut Translation<'_, '_>,
        compared: Compared,
        facts: &mut Vec<Formula>,
    ) -> Result<(), Error> {
        let family = translation.family;
        let claim = self.claim;
        let comparing = &claim.compared[compared.comparison];
        let template = comparing.template;
        let mut after: Vec<Process> = translation.scope.processes.clone();
        for process in &mut after {
            if process.number == self.mover.number {
                process.location = self.to;
            }
        }
        after.extend(self.started.iter().copied());
        let of_template = after.iter().filter(|process| process.template == template);
        for process in of_template.filter(|process| process.number != compared.reference) {
            let two = (process.number, compared.reference);
            let holds = self.holds(translation, comparing, two, facts)?;
            let name = comparison_name(process.number, compared.comparison, compared.reference);
            let indicator = translation.variable(name + "'");
            facts.extend(indicates(&indicator, holds)?);
        }
        let name = compared.name(family);
        let later = translation.variable(name.clone() + "'");
        let Others { held: is, count } = others_at(translation, compared, &later, Some(&after))?;
        let mut new = 0;
        if compared.location == family.templates[template].entry {
            let known = self.started.iter();
            let known = known.filter(|process| process.template == template);
            new = self.starts(template) - known.count() as i64;
        }
        facts.push(at_most(&Linear::default(), &is)?);
        facts.push(at_most(&is, &count.clone().plus_number(new)?)?);
        let reference = compared.reference;
        if self
            .started
            .iter()
            .any(|started| started.number == reference)
        {
            return Ok(());
        }
        let earlier = translation.variable(name);
        let Others { held: was, .. } = others_at(translation, compared, &earlier, None)?;
        let not_less = at_most(&was, &is)?;
        let not_more = at_most(&is, &was.plus_number(new)?)?;
        if !self.may_change(translation, comparing, reference)? {
            facts.extend([not_less, not_more]);
            return Ok(());
        }
        let none = at_most(&is, &Linear::number(new))?;
        let all = at_most(&count, &is)?;
        let mut told = match reference == self.mover.number {
            true => vec![(all, Witness::Now(false)), (none, Witness::Now(true))],
            false => vec![
                (not_less, Witness::Changed(false)),
                (not_more, Witness::Changed(true)),
                (none, Witness::Now(true)),
            ],
        };
        if comparing.of == template {
            told.truncate(2);
        }
        for (position, (unless, witness)) in told.into_iter().enumerate() {
            let number = number_of(translation, compared, position as u32);
            let known = self.told(translation, compared, number, witness)?;
            facts.push(Formula::any([unless, Formula::all(known)]));
        }
        Ok(())
    }

    /// A comparison after the step.
    fn holds(
        &self,
        translation: &mut Translation<'_, '_>,
        comparing: &Comparing<'_>,
        (process, reference): (u32, u32),
        facts: &mut Vec<Formula>,
    ) -> Result<Formula, Error> {
        substitute(comparing.predicate, &mut |variable| {
            let symbol = translation.table.symbol(variable)?;
            let symbol = symbol.renamed(&|i| match i {
                0 => process,
                _ => reference,
            });
            self.value(translation, &symbol, facts)
        })
    }

    /// Whether the step may change a comparison of somebody that is not in scope with a reference.
    fn may_change(
        &self,
        translation: &Translation<'_, '_>,
        comparing: &Comparing<'_>,
        reference: u32,
    ) -> Result<bool, Error> {
        let mut may = false;
        super::mentioned(comparing.predicate, &mut |variable| {
            let symbol = translation.table.symbol(variable)?;
            may |= self.writes.iter().any(|write| match (symbol, &write.cell) {
                (Symbol::Shared(var, places), Cell::Shared { var: to, indices }) => {
                    var == to && !elsewhere(places, indices, reference)
                }
                (Symbol::Local(0, ..), Cell::Local { process, .. }) => {
                    !matches!(**process, Term::Reference(_))
                }
                (Symbol::Local(..), Cell::Local { process, .. }) => match **process {
                    Term::Reference(to) => to == reference,
                    _ => true,
                },
                _ => false,
            });
            Ok(())
        })?;
        Ok(may)
    }

    /// What is known of somebody at a label that is not in scope, and of whom a comparison would have to be otherwise.
    fn told(
        &self,
        translation: &mut Translation<'_, '_>,
        compared: Compared,
        number: u32,
        witness: Witness,
    ) -> Result<Vec<Formula>, Error> {
        let claim = self.claim;
        let comparing = &claim.compared[compared.comparison];
        let process = Process {
            number,
            template: compared.template,
            location: compared.location,
        };
        beside(translation, claim, process, &mut |translation| {
            let mut known = Vec::new();
            let two = (number, compared.reference);
            let was = holds(translation, comparing, number, compared.reference)?;
            let is = self.holds(translation, comparing, two, &mut known)?;
            match witness {
                Witness::Now(true) => known.push(is),
                Witness::Now(false) => known.push(is.negation()?),
                Witness::Changed(true) => known.extend([was.negation()?, is]),
                Witness::Changed(false) => known.extend([was, is.negation()?]),
            }
            Ok(known)
        })
    }
}

/// Whether an entry of an array that is written is neither that of somebody out of scope nor that of a reference, whichever of them these places name.
fn elsewhere(places: &[Place], written: &[Index], reference: u32) -> bool {
    places
        .iter()
        .zip(written)
        .any(|(place, index)| match (place, index) {
            (Place::Position(place), Index::Position(position)) => place != position,
            (Place::Reference(0), Index::Process(Term::Reference(_))) => true,
            (Place::Reference(_), Index::Process(Term::Reference(to))) => *to != reference,
            _ => false,
        })
}

/// The least number of a process of whom something is told after a step: behind those in view, the one that moves and the entries that the step names.
const FIRST_TOLD: u32 = 16;
const _: () =
    assert!(super::MAX_REFERENCES + 1 + super::entries::MAX_ENTRIES <= FIRST_TOLD as usize);

/// A number for a process of whom something is told: another one for each reason.
fn number_of(translation: &Translation<'_, '_>, compared: Compared, position: u32) -> u32 {
    let templates = translation.family.templates.iter();
    let labels = templates.map(|template| template.locations.len() as u32);
    let labels = labels.max().unwrap_or_default();
    let of = compared.comparison as u32 * 8 + compared.reference;
    FIRST_TOLD + (of * labels + compared.location.index() as u32) * 3 + position
}

/// What is known of a process beside those in scope, without what is known anyway. What is asked about it is over one state.
pub(super) fn beside(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
    process: Process,
    about: &mut dyn FnMut(&mut Translation<'_, '_>) -> Result<Vec<Formula>, Error>,
) -> Result<Vec<Formula>, Error> {
    let family = translation.family;
    let everywhere = {
        let mut here = Translation::new(family, translation.scope, translation.table);
        let mut known = facts(&mut here, claim)?;
        known.extend(assertions(&mut here, claim)?);
        known.extend(here.take_facts());
        known.into_iter().collect::<HashSet<Formula>>()
    };
    let mut scope: Scope = translation.scope.clone();
    scope.processes.push(process);
    let mut wider = Translation::new(family, &scope, translation.table);
    let mut known = about(&mut wider)?;
    known.extend(facts(&mut wider, claim)?);
    known.extend(assertions(&mut wider, claim)?);
    known.extend(wider.take_facts());
    known.retain(|known| !everywhere.contains(known));
    Ok(known)
}

impl<J: Judge> Lister<'_, J> {
    /// That a comparison is an order.
    pub(super) fn order(&mut self, comparison: usize) -> Result<(), Error> {
        if !self.orders.insert(comparison) {
            return Ok(());
        }
        let claim = self.claim;
        let predicate = claim.compared[comparison].predicate;
        for transitive in [false, true] {
            self.go_on()?;
            let scope = Scope::default();
            let mut translation = Translation::new(self.family, &scope, &mut self.table);
            let mut between = |first: u32, second: u32| {
                translation.rename(predicate, &|i| if i == 0 { first } else { second })
            };
            let known = match transitive {
                false => vec![between(0, 0)?],
                true => vec![between(0, 1)?, between(1, 2)?, between(0, 2)?.negation()?],
            };
            self.judge.push(&self.table, &known)?;
            let condition = Condition::Order {
                comparison,
                transitive,
            };
            let (family, property) = (self.family, self.property);
            self.judge.judge(&self.table, &condition, &|_| {
                let what = format!("comparison {comparison} is an order");
                (what, property_span(family, property))
            })?;
            self.judge.pop()?;
        }
        Ok(())
    }
}

/// The variables of a comparison are parameters, shared ones, and those of the two processes.
pub(super) fn is_comparable(symbol: &Symbol) -> bool {
    matches!(
        symbol,
        Symbol::Param(_) | Symbol::Id(_) | Symbol::Shared(..) | Symbol::Local(..)
    )
}
