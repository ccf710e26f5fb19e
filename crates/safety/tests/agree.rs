//! The symbolic engines against the explicit one: verdicts, numbers of states, lengths of runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use threadwise_engine::{Answer, Engine, Explicit, Limits, Outcome, Run, Silent};
use threadwise_model::eval;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty, SystemPropertyKind};
use threadwise_safety::{Backward, Forward};
use threadwise_testgen::generate::generate;
use threadwise_testgen::instance;

/// Programs that are compared.
const PROGRAMS: usize = 2_000;
/// Larger ones are left out.
const STATES: u64 = 60_000;

fn safety(system: &System) -> Vec<&SystemProperty> {
    system
        .properties
        .iter()
        .filter(|property| !matches!(property.kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

fn engines() -> Vec<(&'static str, Box<dyn Engine>)> {
    vec![
        ("forward", Box::new(Forward::default())),
        (
            "forward, breadth first",
            Box::new(Forward {
                breadth_first: true,
            }),
        ),
        ("backward", Box::new(Backward)),
    ]
}

/// Each step of a run is a step of the system.
fn replay(system: &System, run: &Run) -> Result<(), String> {
    let mut state = run.initial.clone();
    let initial = eval::initial_states(system)
        .map_err(|error| error.to_string())?
        .any(|initial| initial == state);
    if !initial {
        return Err("the run does not begin initially".to_owned());
    }
    for (number, (process, next)) in run.steps.iter().enumerate() {
        let outcomes = eval::outcomes(system, &state, *process);
        if !outcomes.contains(&eval::Outcome::Move(next.clone())) {
            return Err(format!("step {number} is none"));
        }
        state = next.clone();
    }
    Ok(())
}

#[derive(Default)]
struct Totals {
    programs: usize,
    proved: usize,
    violated: usize,
    states: Vec<u64>,
    unsupported: usize,
}

/// Compares the engines with the oracle's outcome; counts the program if they decide all.
fn compare(system: &System, oracle: &Outcome, totals: &mut Totals) -> Result<(), String> {
    let properties = safety(system);
    let unsupported = totals.unsupported;
    for (name, engine) in engines() {
        let outcome = engine.check_all(system, &properties, &Limits::NONE, &mut Silent);
        for ((property, expected), found) in
            properties.iter().zip(&oracle.answers).zip(&outcome.answers)
        {
            let place = format!("{name}, {}", property.name);
            match (expected, found) {
                (Answer::Proved(_), Answer::Proved(_)) => totals.proved += 1,
                (Answer::Violated(shortest), Answer::Violated(run)) => {
                    replay(system, run).map_err(|error| format!("{place}: {error}"))?;
                    if run.steps.len() != shortest.steps.len() {
                        return Err(format!(
                            "{place}: {} steps, the shortest run has {}",
                            run.steps.len(),
                            shortest.steps.len()
                        ));
                    }
                    totals.violated += 1;
                }
                (_, Answer::Unknown(reason))
                    if matches!(reason.code.as_str(), "unsupported" | "overflow") =>
                {
                    totals.unsupported += 1;
                }
                (expected, found) => {
                    return Err(format!("{place}: expected {expected:?}, found {found:?}"));
                }
            }
        }
        if outcome.complete && outcome.stats.states != oracle.stats.states {
            return Err(format!(
                "{name}: {:?} states, the oracle has {:?}",
                outcome.stats.states, oracle.stats.states
            ));
        }
    }
    if totals.unsupported == unsupported {
        totals.programs += 1;
        totals.states.extend(oracle.stats.states);
    }
    Ok(())
}

fn oracle(system: &System) -> Outcome {
    let limits = Limits {
        states: Some(STATES),
        ..Limits::NONE
    };
    Explicit::default().check_all(system, &safety(system), &limits, &mut Silent)
}

#[test]
fn the_library_agrees() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<_> = std::fs::read_dir(models)
        .expect("the model library")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "tw"))
        .collect();
    files.sort();
    let mut totals = Totals::default();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let program = Arc::new(threadwise_lang::check(&text).program.expect("no errors"));
        for n in 2..=5 {
            let values = BTreeMap::from([("N".to_owned(), n)]);
            let Ok(instance) = Instance::new(program.clone(), &values) else {
                continue;
            };
            let system = lower(&instance, 3).expect("small enough");
            let oracle = oracle(&system);
            if !oracle.complete {
                continue;
            }
            if let Err(error) = compare(&system, &oracle, &mut totals) {
                panic!("{} N={n}: {error}", file.display());
            }
        }
    }
    println!(
        "{} instances, {} proved, {} violated",
        totals.programs, totals.proved, totals.violated
    );
    assert!(totals.programs >= 60, "{} instances", totals.programs);
    assert!(totals.proved >= 300 && totals.violated >= 30);
}

#[test]
fn random_programs_agree() {
    let mut totals = Totals::default();
    let (mut violated_programs, mut large, mut dynamic) = (0, 0, 0);
    let mut seed = 0;
    while totals.programs < PROGRAMS {
        seed += 1;
        let text = generate(seed);
        let instance = instance(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let system = lower(&instance, 3).expect("generated programs are small");
        // These engines do not take them, and say so.
        if system.templates.iter().any(|template| template.dynamic) {
            let refused = engines()
                .iter()
                .all(|(_, engine)| engine.accepts(&system, &system.properties[0]).is_err());
            assert!(refused, "seed {seed}");
            dynamic += 1;
            continue;
        }
        let oracle = oracle(&system);
        if !oracle.complete {
            large += 1;
            continue;
        }
        let before = totals.programs;
        if let Err(error) = compare(&system, &oracle, &mut totals) {
            panic!("seed {seed}: {error}\n{text}");
        }
        let violated = oracle
            .answers
            .iter()
            .any(|answer| matches!(answer, Answer::Violated(_)));
        violated_programs += usize::from(violated && totals.programs > before);
    }
    totals.states.sort_unstable();
    let median = totals.states[totals.states.len() / 2];
    println!(
        "{} programs compared ({dynamic} dynamic and {large} large ones left out), {violated_programs} violated; {} proofs, {} runs, {} not finite; median {median} states",
        totals.programs, totals.proved, totals.violated, totals.unsupported
    );
    assert!(violated_programs * 4 > totals.programs);
    assert!((totals.programs - violated_programs) * 4 > totals.programs);
    assert!(totals.unsupported * 4 < totals.proved + totals.violated);
    assert!(median >= 200, "median {median}");
}
