//! An engine of one's own, as the book shows it: it visits whatever can be reached within a number of steps.
//!
//! A violation within the bound is real. If nothing new is left within the bound, everything was visited, and the invariant is proved.
//! Otherwise the answer is `unknown`: never a guess.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use threadwise_engine::{
    Answer, Engine, Limits, Observer, Outcome, Run, RunEnding, Silent, State, Unsupported,
};
use threadwise_evidence::{Reason, ReasonCode, Stats, to_text};
use threadwise_model::eval::{self, Context, initial_states, outcomes};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{Expr, ProcessId, System, SystemProperty, SystemPropertyKind};

// ANCHOR: engine
/// Visits what can be reached within a number of steps.
struct Bounded {
    steps: usize,
}

impl Engine for Bounded {
    fn name(&self) -> &'static str {
        "bounded"
    }

    fn accepts(&self, _: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        match property.kind {
            SystemPropertyKind::Invariant(_) => Ok(()),
            _ => Err(unsupported()),
        }
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        _: &mut dyn Observer,
    ) -> Outcome {
        let answer = |property: &&SystemProperty| match &property.kind {
            SystemPropertyKind::Invariant(holds) => self.search(system, holds, limits),
            _ => Answer::Unknown(unsupported().into()),
        };
        Outcome {
            answers: properties.iter().map(answer).collect(),
            accounts: Vec::new(),
            stats: Stats::default(),
            complete: false,
            capacity_exceeded: None,
        }
    }
}

/// Why other properties are not decided.
fn unsupported() -> Unsupported {
    Unsupported {
        message: "the engine `bounded` decides invariants only".to_owned(),
        next: Some("use `--engine explicit`".to_owned()),
    }
}
// ANCHOR_END: engine

// ANCHOR: search
/// How each state was found: from which one, and by whose step.
type Found = BTreeMap<State, Option<(State, ProcessId)>>;

impl Bounded {
    fn search(&self, system: &System, invariant: &Expr, limits: &Limits) -> Answer {
        let unknown = |code, message| Answer::Unknown(Reason::new(code, message));
        let overflow = || unknown(ReasonCode::Overflow, "a computation leaves 64 bits");
        let Ok(initial) = initial_states(system) else {
            return overflow();
        };
        let mut found: Found = initial.map(|state| (state, None)).collect();
        let mut layer: BTreeSet<State> = found.keys().cloned().collect();
        for _ in 0..=self.steps {
            let mut next = BTreeSet::new();
            for state in &layer {
                if limits.should_stop().is_some() {
                    return unknown(ReasonCode::TimeLimit, "the time is over");
                }
                match Context::of_state(system, state).holds(invariant) {
                    Ok(true) => {}
                    Ok(false) => return Answer::Violated(run(&found, state)),
                    Err(eval::Overflow) => return overflow(),
                }
                for process in (0..system.processes()).map(ProcessId::from_raw) {
                    for outcome in outcomes(system, state, process) {
                        let after = match outcome {
                            eval::Outcome::Move(after) => after,
                            // A property speaks of runs up to the first failing check.
                            eval::Outcome::Rest | eval::Outcome::Failure(..) => continue,
                            _ => return unknown(ReasonCode::Unsupported, "a step is not known"),
                        };
                        if !found.contains_key(&after) {
                            found.insert(after.clone(), Some((state.clone(), process)));
                            next.insert(after);
                        }
                    }
                }
            }
            if next.is_empty() {
                // A proof without a certificate: it is reported as not rechecked.
                return Answer::Proved(None);
            }
            layer = next;
        }
        unknown(ReasonCode::NoProof, "no violation within the bound")
    }
}

/// The run that leads to a state.
fn run(found: &Found, last: &State) -> Run {
    let mut steps = Vec::new();
    let mut state = last.clone();
    while let Some(Some((before, process))) = found.get(&state) {
        steps.push((*process, state));
        state = before.clone();
    }
    steps.reverse();
    Run {
        initial: state,
        steps,
        ending: RunEnding::Invariant,
    }
}
// ANCHOR_END: search

// ANCHOR: main
/// A lock that looks right.
const MODEL: &str = "\
shared busy: bool = false;

process P[i: 1..2] {
    loop {
        look:  await !busy;
        enter: busy := true;
        leave: busy := false;
    }
}

invariant mutex: !(forall i in P: P[i] at leave);
";

fn main() {
    for steps in [3, 4] {
        println!("{}", check(steps).unwrap_or_else(|error| error));
    }
}

/// What `bounded` says about the model.
fn check(steps: usize) -> Result<String, String> {
    let program = threadwise_lang::check(MODEL).program.ok_or("not a model")?;
    let instance = Instance::new(Arc::new(program), &BTreeMap::new())
        .map_err(|errors| format!("{errors:?}"))?;
    let system = lower(&instance, 0).map_err(|errors| format!("{errors:?}"))?;
    let mut named = system.properties.iter();
    let mutex = named
        .find(|known| known.name == "mutex")
        .ok_or("no mutex")?;
    let outcome = Bounded { steps }.check(&system, mutex, &Limits::NONE, &mut Silent);
    match &outcome.answers[0] {
        Answer::Proved(_) => Ok("proved".to_owned()),
        Answer::Unknown(reason) => Ok(format!("unknown: {}", reason.message)),
        // The interpreter takes every step again before anybody sees the run.
        Answer::Violated(run) => match run.record(&instance, MODEL, &system, "mutex") {
            Ok(trace) => Ok(to_text(&trace, Some(MODEL))),
            Err(error) => Err(error.to_string()),
        },
    }
}
// ANCHOR_END: main

#[test]
fn it_finds_the_violation_within_four_steps_and_not_within_three() {
    let three = check(3).unwrap();
    assert_eq!(three, "unknown: no violation within the bound");
    let four = check(4).unwrap();
    assert!(four.contains("here `mutex` does not hold"), "{four}");
    let page = include_str!("../../../docs/book/src/extending.md");
    assert!(
        page.contains(&format!("```text\n{three}\n{four}```\n")),
        "{four}"
    );
}
