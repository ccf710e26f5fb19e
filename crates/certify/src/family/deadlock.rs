//! Freedom from deadlock: that the assertions exclude every state in which some process has not ended and none has a step.
//!
//! One condition says it all. In a deadlock nobody at a label has a step. So there is nobody, or any process there is one that each path is closed to: the *witness* of
//! the label. What holds of all processes at the label holds of it. Where processes are counted by predicates as well, there is a witness of those that a predicate holds of, and of those that
//! it does not; and of those at a label one that is *least* in an order: finitely many processes have one. Witnesses need not differ from each other, so nothing is said of two of them. A process at `done` has ended, and resting (`stay`) is no path. A path on which a check
//! fails is a step.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::Formula;
use threadwise_evidence::family::Condition;
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::Family;

use super::blockers::closed;
use super::compared::LeastAt;
use super::conditions::{Judge, Lister, property_span};
use super::linear::{Linear, at_most};
use super::names::counted_name;
use super::scope::{Process, Scope, assertions, facts};
use super::translate::Translation;
use super::{Claimed, Counted};
use crate::Error;

/// A process at a label: any, or one of those that a counted predicate holds of, or does not.
#[derive(Clone, Copy)]
struct Witness<'c> {
    process: Process,
    counted: Option<(usize, &'c Counted<'c>, bool)>,
    /// The order in which it is least of those at the label.
    least: Option<LeastAt>,
}

impl<J: Judge> Lister<'_, J> {
    /// That no state is a deadlock.
    pub(crate) fn deadlock(&mut self) -> Result<(), Error> {
        self.go_on()?;
        let (family, claim) = (self.family, self.claim);
        for (comparison, comparing) in claim.compared.iter().enumerate() {
            if comparing.order {
                self.order(comparison)?;
            }
        }
        let nobody = Scope::default();
        let mut translation = Translation::new(family, &nobody, &mut self.table);
        let mut known = facts(&mut translation, claim)?;
        known.extend(assertions(&mut translation, claim)?);
        let mut open = Linear::default();
        for (template, location) in labels(family) {
            open = open.plus(&translation.count(template, location))?;
        }
        known.push(at_most(&Linear::number(1), &open)?);
        known.extend(translation.take_facts());
        let everywhere: HashSet<Formula> = known.iter().cloned().collect();
        let witnesses = witnesses(family, claim);
        let mut next = witnesses.len() as u32;
        for witness in witnesses {
            let scope = Scope {
                processes: vec![witness.process],
            };
            let mut translation = Translation::new(family, &scope, &mut self.table);
            known.push(stuck(
                &mut translation,
                claim,
                witness,
                &everywhere,
                &mut next,
            )?);
        }
        self.judge.push(&self.table, &known)?;
        let property = self.property;
        self.judge.judge(&self.table, &Condition::Deadlock, &|_| {
            let what = "while somebody has not ended, somebody has a step";
            (what.to_owned(), property_span(family, property))
        })?;
        self.judge.pop()
    }
}

/// The labels of processes that have not ended.
fn labels(family: &Family) -> Vec<(TemplateId, LocationId)> {
    let templates = family.templates.iter_enumerated();
    let labels = templates.flat_map(|(id, template)| {
        let done = family.program().templates[id].done();
        let labels = template.locations.indices();
        labels.filter(move |l| *l != done).map(move |l| (id, l))
    });
    labels.collect()
}

/// The witnesses that are spoken of, numbered in this order.
fn witnesses<'c>(family: &Family, claim: &'c Claimed<'c>) -> Vec<Witness<'c>> {
    let mut found: Vec<Witness<'c>> = Vec::new();
    for (template, location) in labels(family) {
        let counted = claim.counted.iter().enumerate();
        let counted = counted.filter(|(_, counted)| counted.template == template);
        let mut which: Vec<_> = counted
            .flat_map(|(number, counted)| [true, false].map(|holds| Some((number, counted, holds))))
            .collect();
        if which.is_empty() {
            which.push(None);
        }
        let compared = claim.compared.iter().enumerate();
        let orders = compared.filter(|(_, comparing)| comparing.order && comparing.of == template);
        let least = orders.map(|(comparison, _)| LeastAt {
            template,
            location,
            comparison,
        });
        let which = which.into_iter().map(|counted| (counted, None));
        for (counted, least) in which.chain(least.map(|least| (None, Some(least)))) {
            let process = Process {
                number: found.len() as u32,
                template,
                location,
            };
            found.push(Witness {
                process,
                counted,
                least,
            });
        }
    }
    found
}

/// That there is no such process, or one that has no step.
fn stuck(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
    witness: Witness<'_>,
    everywhere: &HashSet<Formula>,
    next: &mut u32,
) -> Result<Formula, Error> {
    let family = translation.family;
    let Process {
        number,
        template,
        location,
    } = witness.process;
    let count = translation.count(template, location);
    let mut known = Vec::new();
    let absent = match witness.counted {
        None => at_most(&count, &Linear::default())?,
        Some((predicate, counted, holds)) => {
            let those = counted_name(family, template, location, predicate);
            let those = translation.variable(those);
            let is = translation.rename(counted.predicate, &|_| number)?;
            known.push(if holds { is } else { is.negation()? });
            match holds {
                true => at_most(&those, &Linear::default())?,
                false => at_most(&count, &those)?,
            }
        }
    };
    if let Some(least) = witness.least {
        let fewer = least.less_than(translation, number);
        known.push(at_most(&fewer, &Linear::default())?);
    }
    known.extend(closed(translation, claim, witness.process, next)?);
    if !known.iter().any(|known| known.truth() == Some(false)) {
        known.extend(facts(translation, claim)?);
        known.extend(assertions(translation, claim)?);
        known.extend(translation.take_facts());
    }
    known.retain(|known| !everywhere.contains(known));
    Ok(Formula::any([absent, Formula::all(known)]))
}
