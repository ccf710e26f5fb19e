//! Who keeps a process from a step.
//!
//! A process has no step if of each path some guard is false. Where processes are compared, a guard that is false because of somebody is false because of a process in scope, or because
//! of another one, the *blocker*, that is at some label. A variable says of each label whether it is there, and if it is, all is known of it that is known of processes
//! there. In the same way a process is named that the least or the greatest value of a term belongs to, if the guard speaks of it: if there are processes at all, one has
//! it.

use threadwise_evidence::arithmetic::Formula;
use threadwise_lang::program::{BoundId, TemplateId};
use threadwise_model::family::{FoldKind, Formula as Guard, Names, Term};

use super::Claimed;
use super::compared::beside;
use super::linear::{Linear, at_most, equal};
use super::names::blocker_name;
use super::scope::Process;
use super::translate::Translation;
use crate::Error;

/// What is known of a process at a label that has no step: of each path, some guard is false. Blockers are numbered from `next` on.
pub(super) fn closed(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
    process: Process,
    next: &mut u32,
) -> Result<Vec<Formula>, Error> {
    let names = Names {
        own: Some(process.number),
        bound: Vec::new(),
    };
    let mut known = Vec::new();
    let paths = translation.family.templates[process.template].paths.iter();
    // Nothing is known of the values that a path could choose.
    for path in paths.filter(|path| path.from == process.location && path.choices == 0) {
        let guard = path.guard.iter().map(|guard| guard.resolve(&names));
        let guard = Guard::all(guard);
        if claim.compared.is_empty() {
            known.push(translation.assume(&guard, false)?);
            continue;
        }
        let mut search = Search {
            claim,
            next,
            known: Vec::new(),
        };
        let fails = search.fails(translation, &guard, false)?;
        known.push(fails);
        let mut terms = Vec::new();
        extremes(&guard, &mut terms);
        for term in terms {
            search.attained(translation, term)?;
        }
        known.append(&mut search.known);
    }
    Ok(known)
}

/// The search for those that keep a process from a step.
struct Search<'c> {
    claim: &'c Claimed<'c>,
    next: &'c mut u32,
    /// What is known of them.
    known: Vec<Formula>,
}

impl Search<'_> {
    /// A formula, or its negation, as something that holds.
    fn fails(
        &mut self,
        translation: &mut Translation<'_, '_>,
        formula: &Guard,
        holds: bool,
    ) -> Result<Formula, Error> {
        match formula {
            Guard::Not(inner) => self.fails(translation, inner, !holds),
            Guard::And(members) | Guard::Or(members) => {
                let mut each = Vec::with_capacity(members.len());
                for member in members {
                    each.push(self.fails(translation, member, holds)?);
                }
                Ok(match matches!(formula, Guard::And(_)) == holds {
                    true => Formula::all(each),
                    false => Formula::any(each),
                })
            }
            Guard::ForAll(var, template, body) if !holds => {
                self.somebody(translation, (*var, *template), body, false)
            }
            Guard::Exists(var, template, body) if holds => {
                self.somebody(translation, (*var, *template), body, true)
            }
            _ => translation.assume(formula, holds),
        }
    }

    /// That a formula, or its negation, holds of somebody.
    fn somebody(
        &mut self,
        translation: &mut Translation<'_, '_>,
        (var, template): (BoundId, TemplateId),
        body: &Guard,
        holds: bool,
    ) -> Result<Formula, Error> {
        if translation.labels(body, var, template, true).is_some() {
            let all = Guard::quantified(!holds, var, template, body.clone());
            return translation.assume(&all, holds);
        }
        let mut ways = Vec::new();
        let here: Vec<u32> = translation.scope.of(template).map(|p| p.number).collect();
        for process in here {
            let names = Names::default().with(var, process);
            ways.push(translation.assume(&body.resolve(&names), holds)?);
        }
        ways.extend(
            self.at_labels(translation, template, &mut |translation, process| {
                let names = Names::default().with(var, process);
                translation.assume(&body.resolve(&names), holds)
            })?,
        );
        Ok(Formula::any(ways))
    }

    /// That the value of a term belongs to somebody, if there is anybody.
    fn attained(
        &mut self,
        translation: &mut Translation<'_, '_>,
        term: &Term,
    ) -> Result<(), Error> {
        let Term::Fold {
            var,
            template,
            body,
            ..
        } = term
        else {
            return Ok(());
        };
        let value = translation.linear(term)?;
        let population = translation.population(*template)?;
        let mut ways = vec![at_most(&population, &Linear::default())?];
        let here: Vec<u32> = translation.scope.of(*template).map(|p| p.number).collect();
        for process in here {
            let names = Names::default().with(*var, process);
            let own = translation.linear(&body.resolve(&names))?;
            ways.push(equal(&value, &own)?);
        }
        ways.extend(
            self.at_labels(translation, *template, &mut |translation, process| {
                let names = Names::default().with(*var, process);
                let own = translation.linear(&body.resolve(&names))?;
                Ok(equal(&value, &own)?)
            })?,
        );
        self.known.push(Formula::any(ways));
        Ok(())
    }

    /// The ways for a process beside those in scope to be at a label, with what holds of it then.
    fn at_labels(
        &mut self,
        translation: &mut Translation<'_, '_>,
        template: TemplateId,
        about: &mut dyn FnMut(&mut Translation<'_, '_>, u32) -> Result<Formula, Error>,
    ) -> Result<Vec<Formula>, Error> {
        let family = translation.family;
        let number = *self.next;
        *self.next += 1;
        let mut ways = Vec::new();
        for location in family.templates[template].locations.indices() {
            let process = Process {
                number,
                template,
                location,
            };
            let is = translation.variable(blocker_name(family, number, template, location));
            let known = beside(translation, self.claim, process, &mut |translation| {
                Ok(vec![about(translation, number)?])
            })?;
            let not = at_most(&is, &Linear::default())?;
            ways.push(at_most(&Linear::number(1), &is)?);
            self.known.push(Formula::any([not, Formula::all(known)]));
        }
        Ok(ways)
    }
}

/// The terms for a least or a greatest value in a guard, but for those inside of quantifiers and of each other.
fn extremes<'g>(guard: &'g Guard, found: &mut Vec<&'g Term>) {
    match guard {
        Guard::AtMost(a, b) | Guard::Equal(a, b) => {
            extremes_of(a, found);
            extremes_of(b, found);
        }
        Guard::Not(inner) => extremes(inner, found),
        Guard::And(members) | Guard::Or(members) => {
            members.iter().for_each(|member| extremes(member, found));
        }
        Guard::Constant(_) | Guard::At { .. } | Guard::ForAll(..) | Guard::Exists(..) => {}
    }
}

fn extremes_of<'g>(term: &'g Term, found: &mut Vec<&'g Term>) {
    match term {
        Term::Fold {
            kind: FoldKind::Min | FoldKind::Max,
            ..
        } if !found.contains(&term) => found.push(term),
        Term::Sum(terms) => terms.iter().for_each(|term| extremes_of(term, found)),
        Term::Scaled(_, term) => extremes_of(term, found),
        Term::If(condition, yes, no) => {
            extremes(condition, found);
            extremes_of(yes, found);
            extremes_of(no, found);
        }
        _ => {}
    }
}
