//! An engine of one's own, as the book shows it: it visits whatever can be reached within a number of steps.
//!
//! A violation within the bound is real. If nothing new is left within the bound, everything was visited, and the invariant is proved.
//! Otherwise the answer is `unknown`: never a guess.

use std::collections::{BTreeMap, BTreeSet};

use threadwise::{
    Decides, EngineInfo, EngineOptions, Form, Make, OptionInfo, Options, Refused, Registry,
    Session, Setup,
};
use threadwise_engine::{
    Answer, Engine, Limits, Observer, Outcome, Run, RunEnding, State, Unsupported,
};
use threadwise_evidence::{Reason, ReasonCode};
use threadwise_model::eval::{self, Context, initial_states, outcomes};
use threadwise_model::system::{Expr, ProcessId, System, SystemProperty, SystemPropertyKind};
use threadwise_show::to_text;

// ANCHOR: engine
/// Visits what can be reached within a number of steps.
struct Bounded {
    steps: usize,
}

impl Engine for Bounded {
    fn name(&self) -> &'static str {
        BOUNDED.name
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
            ..Outcome::default()
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

// ANCHOR: description
/// The engine, as threadwise knows it.
static BOUNDED: EngineInfo = EngineInfo {
    name: "bounded",
    about: "Visits what can be reached within a number of steps.",
    decides: Decides::Safety,
    explains: false,
    options: &[STEPS],
    make: Make::One(bounded),
};

const STEPS: OptionInfo = OptionInfo::new(
    "steps",
    "In `bounded`, how many steps to take [default: 10]",
    Form::Value("NUMBER"),
);

fn bounded(setup: &Setup) -> Result<Box<dyn Engine>, Refused> {
    let steps = match setup.options.all(&STEPS).last() {
        None => 10,
        Some(number) => number.parse().map_err(|_| Refused {
            message: format!("`--steps {number}` is no number of steps"),
            help: "give a number, such as --steps 4".to_owned(),
        })?,
    };
    Ok(Box::new(Bounded { steps }))
}
// ANCHOR_END: description

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
    for steps in ["3", "4"] {
        println!("{}", check(steps).unwrap_or_else(|error| error));
    }
}

/// What `bounded` says about the model.
fn check(steps: &str) -> Result<String, String> {
    let options = Options {
        registry: Registry::standard().with(&BOUNDED),
        engine: BOUNDED.name.to_owned(),
        engine_options: EngineOptions::default().value("steps", steps),
        ..Options::default()
    };
    let report = Session::new("lock.tw", MODEL).check(&options);
    let report = report.map_err(|error| error.to_string())?;
    let mut results = report.runs.iter().flat_map(|run| &run.results);
    let mutex = results.find(|result| result.property == "mutex");
    let mutex = mutex.ok_or("no mutex")?;
    Ok(match (&mutex.trace, &mutex.reason) {
        (Some(trace), _) => to_text(trace, Some(MODEL)),
        (None, Some(reason)) => format!("unknown: {}", reason.message),
        (None, None) => "proved".to_owned(),
    })
}
// ANCHOR_END: main

#[test]
fn it_finds_the_violation_within_four_steps_and_not_within_three() {
    let three = check("3").unwrap();
    assert_eq!(three, "unknown: no violation within the bound");
    let four = check("4").unwrap();
    assert!(four.contains("here `mutex` does not hold"), "{four}");
    let page = include_str!("../../../docs/book/src/extending.md");
    assert!(
        page.contains(&format!("```text\n{three}\n{four}```\n")),
        "{four}"
    );
}

#[test]
fn its_option_is_checked_as_those_of_other_engines_are() {
    assert_eq!(
        check("few").unwrap_err(),
        "`--steps few` is no number of steps"
    );
    let mut options = Options {
        registry: Registry::standard().with(&BOUNDED),
        engine: "explicit".to_owned(),
        engine_options: EngineOptions::default().value("steps", "4"),
        ..Options::default()
    };
    let error = options.registry.check(&options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`--steps` is for the engine `bounded`, and the engine is `explicit`"
    );
    options.registry = Registry::default();
    let error = options.registry.check(&options).unwrap_err();
    assert_eq!(error.to_string(), "no engine has the option `--steps`");
}
