//! What fairness would rule out a run without end.
//!
//! A property may fail only because less is assumed than was meant. Declarations that the property does not assume and the run does not meet are
//! named; if there is none, a kind of assumption is. That the run is ruled out does not say that the property then holds: another run may violate it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use threadwise_lang::program::{LocationId, Ltl, PropertyKind, TemplateId};
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::Outcome;
use threadwise_model::names::Names;
use threadwise_model::state::ProcessRef;
use threadwise_model::temporal::{self, FairnessKind};

use crate::lasso::Endless;
use crate::replay::{ReplayError, follow, property};
use crate::trace::Trace;

/// How many suggestions are made.
const SUGGESTED: usize = 3;
/// How often the interpreter is asked what a process can do. The search for suggestions ends there.
const QUESTIONS: usize = 20_000;

/// An assumption of fairness that would rule a run out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// The name of the declaration, if the model has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declaration: Option<String>,
    /// Otherwise the assumption, as it could be declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumption: Option<String>,
    /// The same for people, in a sentence.
    pub message: String,
}

/// What would rule out the run of a trace, which violates a liveness property; nothing for other traces.
pub fn remedies(instance: &Instance, trace: &Trace) -> Result<Vec<Remedy>, ReplayError> {
    let found = property(instance, trace)?;
    let (Some(found), Some(from)) = (found, trace.loop_from) else {
        return Ok(Vec::new());
    };
    let PropertyKind::Liveness { under, formula } = &found.kind else {
        return Ok(Vec::new());
    };
    let walk = follow(instance, trace, |_, _, _| ())?;
    let mut search = Search {
        endless: Endless::new(instance, &walk, from),
        // Only `X` would notice a process that is scheduled and does nothing.
        insensitive: !has_next(formula),
        questions: QUESTIONS,
    };
    let mut remedies = Vec::new();
    for (id, fairness) in instance.program().fairness.iter_enumerated() {
        if under.contains(&id) {
            continue;
        }
        let alternatives = temporal::unfold_fairness(instance, &[id], fairness.span);
        let mut met = false;
        for alternative in alternatives.map_err(|_| ReplayError::TooLarge)? {
            let mut all = true;
            for term in &alternative {
                all = all
                    && match &term.kind {
                        FairnessKind::Scheduled(process) => search.can_be_scheduled(*process)?,
                        _ => search.endless.met(term)?.is_some(),
                    };
            }
            met |= all;
        }
        if !met {
            remedies.push(Remedy {
                declaration: Some(fairness.name.clone()),
                assumption: None,
                message: format!(
                    "`{}` (declared, not assumed by `{}`) would rule this run out",
                    fairness.name, found.name
                ),
            });
        }
    }
    if remedies.is_empty() {
        remedies = search.suggestions(instance)?;
    }
    Ok(remedies)
}

/// Whether a formula speaks of the next state.
fn has_next(formula: &Ltl) -> bool {
    match formula {
        Ltl::State(_) => false,
        Ltl::Next(_) => true,
        Ltl::Not(f) | Ltl::Globally(f) | Ltl::Finally(f) => has_next(f),
        Ltl::Quantified { body, .. } => has_next(body),
        Ltl::And(parts) | Ltl::Or(parts) => parts.iter().any(has_next),
        Ltl::Implies(f, g)
        | Ltl::Iff(f, g)
        | Ltl::Until(f, g)
        | Ltl::Release(f, g)
        | Ltl::WeakUntil(f, g) => has_next(f) || has_next(g),
    }
}

struct Search<'a> {
    endless: Endless<'a>,
    insensitive: bool,
    /// How many may still be asked.
    questions: usize,
}

/// What a process that never moves in the loop could do there.
#[derive(Clone, Copy, Debug, Default)]
struct Chances {
    /// It has a step other than resting somewhere.
    sometimes: bool,
    /// It has one everywhere.
    always: bool,
    /// It can rest, or has no step at all, somewhere.
    stays: bool,
}

impl Search<'_> {
    /// Whether a process is scheduled in the loop, or could be without anything else being different.
    fn can_be_scheduled(&mut self, process: ProcessRef) -> Result<bool, ReplayError> {
        Ok(
            self.endless.is_scheduled(process)
                || (self.insensitive && self.chances(process)?.stays),
        )
    }

    fn chances(&mut self, process: ProcessRef) -> Result<Chances, ReplayError> {
        let mut chances = Chances {
            always: true,
            ..Chances::default()
        };
        let states: Vec<_> = self.endless.states().collect();
        for (position, state) in states {
            if self.questions == 0 {
                // Nothing is claimed that was not seen.
                return Ok(Chances {
                    sometimes: false,
                    always: false,
                    stays: true,
                });
            }
            self.questions -= 1;
            let outcomes = self.endless.outcomes(position, state, process)?;
            let rest = |outcome: &Outcome| matches!(outcome, Outcome::Rest { .. });
            let acts = !outcomes.iter().all(rest);
            chances.sometimes |= acts;
            chances.always &= acts;
            chances.stays |= outcomes.is_empty() || outcomes.iter().any(rest);
        }
        Ok(chances)
    }

    /// Kinds of assumptions that would rule the run out. A process that could go on from a label again and again and never does stands there
    /// throughout the loop.
    fn suggestions(&mut self, instance: &Instance) -> Result<Vec<Remedy>, ReplayError> {
        let mut waiting: BTreeMap<(TemplateId, LocationId), Vec<ProcessRef>> = BTreeMap::new();
        for (process, location) in self.endless.unmoved() {
            let place = (process.template, location);
            waiting.entry(place).or_default().push(process);
        }
        let mut unscheduled = None;
        let mut terms: Vec<(bool, Remedy)> = Vec::new();
        for ((template, location), processes) in waiting {
            let mut suggested = false;
            for process in processes {
                if suggested && self.endless.is_scheduled(process) {
                    continue;
                }
                let chances = self.chances(process)?;
                if !chances.sometimes {
                    continue;
                }
                let unnoticed = self.insensitive && chances.stays;
                if !unnoticed && !self.endless.is_scheduled(process) {
                    unscheduled = unscheduled.or(Some(process));
                } else if !suggested {
                    suggested = true;
                    let rests = chances.always;
                    terms.push((rests, term(instance, process, template, location, chances)));
                }
            }
        }
        let names = Names::new(instance);
        if let Some(process) = unscheduled {
            return Ok(vec![Remedy {
                declaration: None,
                assumption: Some("unconditional".to_owned()),
                message: format!(
                    "`unconditional` would rule this run out: {} is never scheduled in the loop, where it could go on",
                    names.process(process)
                ),
            }]);
        }
        // Those who rest of their own will matter if nobody else is passed over.
        if terms.iter().any(|(rests, _)| !rests) {
            terms.retain(|(rests, _)| !rests);
        }
        let terms = terms.into_iter().map(|(_, remedy)| remedy);
        Ok(terms.take(SUGGESTED).collect())
    }
}

/// An assumption that a process goes on from a label.
fn term(
    instance: &Instance,
    process: ProcessRef,
    template: TemplateId,
    location: LocationId,
    chances: Chances,
) -> Remedy {
    let names = Names::new(instance);
    let name = &instance.program().templates[template].name;
    let label = names.location(template, location);
    let (binder, who) = match instance.is_single(template) {
        true => (String::new(), name.clone()),
        false => (format!("forall i in {name}: "), format!("{name}[i]")),
    };
    let (enabled, taken) = (
        format!("enabled({who}, {label})"),
        format!("taken({who}, {label})"),
    );
    let process = names.process(process);
    let (assumption, message) = match chances.always {
        // It is scheduled, could go on, and is still there: it rests.
        true => {
            let assumption = format!("weak {binder}!{enabled} || {taken}");
            let message = format!(
                "{process} rests at {label} for ever, as `stay` allows; if it must not, write `skip` there (`{assumption}` would rule this run out, too)"
            );
            (assumption, message)
        }
        false => {
            let assumption = format!("strong {binder}if {enabled} then {taken}");
            let message = format!(
                "`{assumption}` would rule this run out: {process} could again and again go on from {label} in the loop, and never does"
            );
            (assumption, message)
        }
    };
    Remedy {
        declaration: None,
        message,
        assumption: Some(assumption),
    }
}
