//! What the engines for every value of the parameters are asked, and what they answer.
//!
//! They see the checked program, not an instance of it: there is none. Otherwise they are like all engines: what they say comes with evidence, which
//! others check. A proof is a certificate about all instances; a violation is an instance, and a run of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use threadwise_engine::{Limits, Observer, Stop};
use threadwise_evidence::{Account, Certificate, Claim, Reason, ReasonCode, Round, Stats};
use threadwise_lang::program::{Program, PropertyKind};

use threadwise_evidence::CHECKS;
use threadwise_model::family::Family;

pub use crate::chc::HornSolver;
use crate::counter::{Allowance, Attempt, Claimed, Proof};
use crate::explain;
use crate::small::{self, Counterexample, Found, Reach};

/// States of each small instance that are looked at as samples.
pub(crate) const SAMPLES: usize = 1_500;
/// Questions that the arithmetic solver is asked at most.
pub(crate) const QUESTIONS: u64 = 400_000;
/// Steps of the solver after which to give up where there are other engines to try. The hardest program of the library needs 57,000.
const BOUNDED_STEPS: u64 = 80_000;
/// Units of work of a step of the arithmetic solver: it asks at each whether to stop.
const STEP: u64 = 300;

/// An engine for every value of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyEngine {
    /// Thread-modular counter abstraction.
    Counter,
    /// Invariants of small instances, generalised.
    Generalise,
}

/// How the counter abstraction is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// By equations, guesses and clauses, in stages.
    #[default]
    Native,
    /// By predicate abstraction, with predicates from interpolation.
    Cegar,
    /// By another program, as Horn clauses; what it finds is proved here.
    Chc,
}

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Arc<Program>,
    /// The values of the parameters that have one. The claim is for all values of the others.
    pub fixed: &'a BTreeMap<String, i64>,
    /// Properties by name; `checks` are the built-in checks.
    pub properties: &'a [String],
    /// How [`FamilyEngine::Counter`] looks for a proof.
    pub method: Method,
    /// The program that [`Method::Chc`] asks.
    pub solver: Option<&'a dyn HornSolver>,
    /// Whether to give up after some amount of work that depends on nothing but the task, since there are others to try.
    pub bounded: bool,
    /// Whether proofs are to come with certificates.
    pub certificates: bool,
    /// Whether proofs are to come with outlines.
    pub explain: bool,
    /// What the engine may use.
    pub limits: &'a Limits<'a>,
}

/// What was found about one property.
#[derive(Debug)]
pub enum Answer {
    /// It holds at all instances.
    Proved(Option<Certificate>),
    /// It does not hold at this one.
    Violated(Box<Counterexample>),
    /// No answer.
    Unknown(Reason),
}

/// What was found.
#[derive(Debug)]
pub struct Outcome {
    /// For each property, in the order of the task, the answer and how it came about.
    pub findings: Vec<(Answer, Account)>,
    /// What was counted.
    pub stats: Stats,
}

/// What was proved, and why not more.
#[derive(Default)]
pub(crate) struct Proved {
    pub(crate) proofs: BTreeMap<String, Proof>,
    /// What is to say about single properties.
    pub(crate) whys: BTreeMap<String, String>,
    why: Option<String>,
}

impl FamilyEngine {
    /// What `--engine` calls it.
    pub fn name(self) -> &'static str {
        match self {
            FamilyEngine::Counter => "counter",
            FamilyEngine::Generalise => "generalise",
        }
    }

    /// Decides properties for all values of the parameters that have none in the task.
    pub fn check(self, task: &Task, observer: &mut dyn Observer) -> Outcome {
        let search = |reach: Reach, properties: &[String], observer: &mut dyn Observer| {
            let Task {
                program,
                fixed,
                limits,
                ..
            } = *task;
            small::search(program, fixed, properties, reach, limits, observer)
        };
        let Found {
            mut violations,
            mut states,
            mut instances,
            mut processes,
            mut stopped,
            ..
        } = search(Reach::Small, task.properties, observer);
        let Proved {
            mut proofs,
            whys,
            why,
        } = match stopped {
            None => self.prove(task, &violations, observer),
            Some(_) => Proved::default(),
        };
        let open: Vec<usize> = (0..violations.len())
            .filter(|place| {
                let proved = proofs.contains_key(&task.properties[*place]);
                violations[*place].is_none() && !proved
            })
            .collect();
        if stopped.is_none() && !open.is_empty() {
            let names = open.iter().map(|place| task.properties[*place].clone());
            let names: Vec<String> = names.collect();
            let found = search(Reach::Larger, &names, observer);
            states += found.states;
            instances += found.instances;
            processes = processes.max(found.processes);
            stopped = found.stopped;
            for (place, violation) in open.into_iter().zip(found.violations) {
                violations[place] = violation;
            }
        }
        let round = format!(
            "{instances} small instances, with up to {processes} processes: {states} states up to symmetry"
        );
        let answers = task.properties.iter().zip(violations);
        let findings = answers.map(|(property, violation)| {
            let mut account = Account {
                rounds: vec![Round::new(round.clone())],
                ..Account::default()
            };
            if let Some(proof) = proofs.remove(property) {
                account.rounds.extend(proof.rounds.into_iter().map(Round::new));
                if let (true, Claim::Family(claim)) = (task.explain, &proof.certificate.claim) {
                    let hurry =
                        || task.limits.should_stop().is_some() || !task.limits.has_leisure();
                    account.outline = explain::outline(task.program, task.fixed, claim, &hurry);
                }
                return (Answer::Proved(Some(proof.certificate)), account);
            }
            let answer = match (violation, stopped) {
                (Some(violation), _) => Answer::Violated(Box::new(violation)),
                (None, Some(stop)) => Answer::Unknown(stop_reason(stop)),
                (None, None) if is_liveness(task.program, property) => {
                    Answer::Unknown(self.refused(property))
                }
                (None, None) => {
                    let why = whys.get(property).or(why.as_ref());
                    let why = why.map(|why| format!(" ({why})"));
                    Answer::Unknown(Reason::new(
                        ReasonCode::NoProof,
                        format!(
                            "`{}` found no proof{}, and no violation in {states} states of instances with up to {processes} processes",
                            self.name(),
                            why.unwrap_or_default()
                        ),
                    ))
                }
            };
            (answer, account)
        });
        Outcome {
            findings: findings.collect(),
            stats: Stats::default(),
        }
    }

    /// Tries to prove what is not violated.
    fn prove(
        self,
        task: &Task,
        violations: &[Option<Counterexample>],
        observer: &mut dyn Observer,
    ) -> Proved {
        let mut proved = Proved::default();
        let family = match Family::new(Arc::clone(task.program), task.fixed) {
            Ok(family) => family,
            Err(unsupported) => {
                proved.why = Some(unsupported.what);
                return proved;
            }
        };
        let mut open: Vec<(String, Claimed)> = Vec::new();
        for (property, violation) in task.properties.iter().zip(violations) {
            if violation.is_some() {
                continue;
            }
            if property == CHECKS {
                open.push((property.clone(), Claimed::Checks));
            } else if let Ok(Some(conjuncts)) = family.invariant(property) {
                open.push((property.clone(), Claimed::Invariant(conjuncts)));
            }
        }
        let samples = small::samples(task.program, task.fixed, SAMPLES, task.limits, observer);
        let steps = Cell::new(0);
        let stop = || {
            task.limits.spend(STEP);
            steps.set(steps.get() + 1);
            let enough = task.bounded && steps.get() > BOUNDED_STEPS;
            enough || task.limits.should_stop().is_some()
        };
        let attempt = Attempt {
            family: &family,
            samples: &samples,
            fixed: task.fixed,
        };
        let mut allowance = Allowance {
            questions: QUESTIONS,
            stop: &stop,
        };
        let outcome = match self {
            FamilyEngine::Counter => match task.method {
                Method::Native => attempt.all(&open, &mut proved.proofs, &mut allowance),
                Method::Cegar => attempt.refined(&open, &mut proved, &mut allowance),
                Method::Chc => attempt.solved(&open, task.solver, &mut proved, &mut allowance),
            },
            FamilyEngine::Generalise => {
                attempt.generalise(&open, &mut proved.proofs, &mut allowance)
            }
        };
        proved.why = outcome.err().map(|gap| gap.to_string());
        proved
    }

    fn refused(self, property: &str) -> Reason {
        let name = self.name();
        Reason::new(
            ReasonCode::Unsupported,
            format!("`{name}` decides safety properties, and `{property}` is a liveness property"),
        )
    }
}

fn is_liveness(program: &Program, property: &str) -> bool {
    let mut properties = program.properties.iter();
    properties
        .any(|known| known.name == property && matches!(known.kind, PropertyKind::Liveness { .. }))
}

fn stop_reason(stop: Stop) -> Reason {
    match stop {
        Stop::Time => Reason::new(ReasonCode::TimeLimit, "the time limit was reached"),
        Stop::Cancelled => Reason::new(ReasonCode::Cancelled, "the search was cancelled"),
    }
}

#[cfg(test)]
mod tests {
    use threadwise_engine::Silent;

    use super::*;

    #[test]
    fn each_property_has_an_answer() {
        let text = "
            param N = 2 where N >= 1; shared x: 0..1 = 0;
            process P[i: 1..N] { loop { a: x := 1 - x; } }
            invariant zero: x == 0; invariant bit: x <= 1;
            liveness again: G F (x == 0);
        ";
        let program = Arc::new(threadwise_lang::check(text).program.unwrap());
        let properties = ["checks", "zero", "bit", "again"].map(str::to_owned);
        let fixed = BTreeMap::from([("N".to_owned(), 3)]);
        for engine in [FamilyEngine::Counter, FamilyEngine::Generalise] {
            let task = Task {
                program: &program,
                fixed: &fixed,
                properties: &properties,
                method: Method::default(),
                solver: None,
                bounded: true,
                certificates: true,
                explain: false,
                limits: &Limits::NONE,
            };
            let outcome = engine.check(&task, &mut Silent);
            let [_, zero, _, again] = outcome.findings.as_slice() else {
                panic!("an answer for each of four properties");
            };
            let (Answer::Violated(violation), _) = zero else {
                panic!("{zero:?}");
            };
            assert_eq!(violation.instance.params().collect::<Vec<_>>(), [("N", 3)]);
            let (Answer::Unknown(reason), _) = again else {
                panic!("{again:?}");
            };
            assert_eq!(reason.code, ReasonCode::Unsupported);
        }
    }
}
