//! The symbolic engines against the explicit one: verdicts, numbers of states, lengths of runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use threadwise_engine::{Answer, Engine, Explicit, Limits, Outcome, Run, Silent};
use threadwise_model::eval;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty, SystemPropertyKind};
use threadwise_safety::{Backward, Forward};
use threadwise_testgen::generate::generate;
use threadwise_testgen::instance;

/// Programs that are generated.
const SEEDS: u64 = 5_200;
/// Programs that are compared at least.
const PROGRAMS: usize = 2_000;
/// Programs with fewer states are compared, but do not count.
const SMALL: u64 = 20;
/// The engine that works in layers.
const LAYERS: &str = "forward, breadth first";
/// How the names of engines end that look for a better order in every round.
const SIFTING: &str = "always sifting";
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
            LAYERS,
            Box::new(Forward {
                breadth_first: true,
                ..Forward::default()
            }),
        ),
        ("backward", Box::new(Backward::default())),
        (
            "forward, always sifting",
            Box::new(Forward {
                sift_at: 1,
                ..Forward::default()
            }),
        ),
        (
            "backward, always sifting",
            Box::new(Backward { sift_at: 1 }),
        ),
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
fn compare(
    system: &System,
    oracle: &Outcome,
    engines: impl IntoIterator<Item = (&'static str, Box<dyn Engine>)>,
    totals: &mut Totals,
) -> Result<(), String> {
    let properties = safety(system);
    let unsupported = totals.unsupported;
    for (name, engine) in engines {
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
            if let Err(error) = compare(&system, &oracle, engines(), &mut totals) {
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

/// What became of a random program.
fn random_program(seed: u64, totals: &Mutex<Random>) {
    let text = generate(seed);
    let instance = instance(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let system = lower(&instance, 3).expect("generated programs are small");
    // These engines do not take them, and say so.
    if system.templates.iter().any(|template| template.dynamic) {
        let refused = engines()
            .iter()
            .all(|(_, engine)| engine.accepts(&system, &system.properties[0]).is_err());
        assert!(refused, "seed {seed}");
        totals.lock().expect("no thread has failed").dynamic += 1;
        return;
    }
    let oracle = oracle(&system);
    if !oracle.complete {
        totals.lock().expect("no thread has failed").large += 1;
        return;
    }
    let mut own = Totals::default();
    // The slow ones: layers only on the library, sifting all the time on some.
    let engines = engines().into_iter().filter(|(name, _)| {
        *name != LAYERS && (!name.ends_with(SIFTING) || seed.is_multiple_of(8))
    });
    if let Err(error) = compare(&system, &oracle, engines, &mut own) {
        panic!("seed {seed}: {error}\n{text}");
    }
    let violated = oracle
        .answers
        .iter()
        .any(|answer| matches!(answer, Answer::Violated(_)));
    let mut totals = totals.lock().expect("no thread has failed");
    totals.all.proved += own.proved;
    totals.all.violated += own.violated;
    totals.all.unsupported += own.unsupported;
    if oracle.stats.states.is_some_and(|states| states < SMALL) {
        totals.small += 1;
    } else if own.programs > 0 {
        totals.all.programs += 1;
        totals.all.states.extend(own.states);
        totals.violated += usize::from(violated);
    }
}

#[derive(Default)]
struct Random {
    all: Totals,
    violated: usize,
    large: usize,
    small: usize,
    dynamic: usize,
}

#[test]
fn random_programs_agree() {
    let totals = Mutex::new(Random::default());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SEEDS {
                        break;
                    }
                    random_program(seed, &totals);
                }
            });
        }
    });
    let mut random = totals.into_inner().expect("no thread has failed");
    let totals = &mut random.all;
    totals.states.sort_unstable();
    let median = totals.states[totals.states.len() / 2];
    println!(
        "{} programs counted, {} violated; {} proofs, {} runs, {} not finite; median {median} states",
        totals.programs, random.violated, totals.proved, totals.violated, totals.unsupported
    );
    println!(
        "not counted: {} dynamic and {} large ones, and {} small ones that were compared too",
        random.dynamic, random.large, random.small
    );
    assert!(totals.programs >= PROGRAMS, "{} programs", totals.programs);
    assert!(random.violated * 4 > totals.programs);
    assert!((totals.programs - random.violated) * 4 > totals.programs);
    assert!(totals.unsupported * 4 < totals.proved + totals.violated);
    assert!(median >= 200, "median {median}");
}
