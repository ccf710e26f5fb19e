//! Comparing engines with the explicit one: verdicts, numbers of states, lengths of runs. Every proof is accepted by the
//! independent checker, and every run is replayed by the interpreter.

use threadwise_engine::{Answer, Engine, Limits, Outcome, Silent};
use threadwise_evidence::certificate::builder;
use threadwise_explicit::Explicit;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty, SystemPropertyKind};
use threadwise_testgen::{instance, library};

/// Larger instances are left out.
const STATES: u64 = 60_000;

/// Models that take little time, with processes that are alike or on a ring, with and without violations.
pub const QUICK: [&str; 5] = [
    "barrier",
    "mux_sem",
    "mux_sem_try",
    "wrong_dining",
    "wrong_test_and_set",
];

/// Programs for engines that divide an invariant, each for one mistake that the library might not show.
pub const SINGLED_OUT: [&str; 6] = [
    // Two are inside, but the first process never is.
    "ordered process P[i: 1..3] { loop { a: await i > 1; b: skip; } }
     invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);",
    // Two are inside, but no neighbours.
    "ordered process P[i: 1..3] { loop { a: await i != 2; b: skip; } }
     invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);",
    // Only for the last process something is wrong.
    "shared x: 0..3 = 0; ordered process P[i: 1..3] { a: x := i; b: skip; }
     invariant last: forall i in P: P[i] at b -> i < 3;
     invariant small: x < 3;",
    // Only for the first.
    "shared x: 0..3 = 0; ordered process P[i: 1..3] { a: assert i > 1 || x != 2; b: x := i; }",
    // Two kinds of processes, two of each.
    "shared x: 0..2 = 0;
     process P[i: 1..2] { loop { a: atomic { await x == 0; x := 1; } b: x := 0; } }
     process Q[i: 1..2] { loop { c: atomic { await x == 0; x := 2; } d: x := 0; } }
     invariant apart: forall i in P: forall j in Q: !(P[i] at b && Q[j] at d);",
    // A witness has several at a label, in whatever order they come and go.
    "shared x: 0..3 = 0;
     process P[i: 1..3] { loop { a: atomic { await x < 2; x := x + 1; } b: x := x - 1; } }
     invariant two: x < 3;
     invariant one: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);",
];

/// Programs in which nothing happens, right and wrong ones.
pub const WITHOUT_PROCESSES: [&str; 3] = [
    "shared x: bool = false; invariant i: !x;",
    "shared x: bool = any; invariant i: !x;",
    "param N = 0; shared x: 0..3 = any; process P[i: 1..N] { l: x := 0; } invariant i: x <= 2;",
];

/// Engines with what to call them.
pub type Engines = Vec<(&'static str, Box<dyn Engine>)>;

/// How long counterexamples are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// As short as the oracle's.
    Shortest,
    /// Perhaps longer.
    Any,
}

pub fn safety(system: &System) -> Vec<&SystemProperty> {
    system
        .properties
        .iter()
        .filter(|property| !matches!(property.kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

/// How the engines answered about a program, and what became of their evidence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Answers.
    pub proved: usize,
    /// Answers.
    pub violated: usize,
    /// Not finite, or beyond 64 bits: the engines say so.
    pub unsupported: usize,
    /// Proofs that the checker accepted.
    pub certified: usize,
    /// Proofs of programs whose types are not finite.
    pub uncertified: usize,
    /// Answers that needed a refinement, or an extension of the errors.
    pub refined: usize,
    /// Answers left open by an engine that refines nothing.
    pub open: usize,
    /// No answer, because the model has an exception that is forbidden.
    pub refused: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.proved += other.proved;
        self.violated += other.violated;
        self.unsupported += other.unsupported;
        self.certified += other.certified;
        self.uncertified += other.uncertified;
        self.refined += other.refined;
        self.open += other.open;
        self.refused += other.refused;
    }
}

/// Compares engines with the oracle's outcome, and has their evidence checked.
pub fn compare(
    (instance, system): (&Instance, &System),
    oracle: &Outcome,
    runs: Runs,
    engines: Engines,
) -> Result<Count, String> {
    let properties = safety(system);
    let mut count = Count::default();
    for (name, engine) in engines {
        let outcome = engine.check_all(system, &properties, &Limits::NONE, &mut Silent);
        let mut proofs = Vec::new();
        for ((property, expected), found) in
            properties.iter().zip(&oracle.answers).zip(&outcome.answers)
        {
            let place = format!("{name}, {}", property.name);
            match (expected, found) {
                (Answer::Proved(_), Answer::Proved(proof)) => {
                    count.proved += 1;
                    match proof {
                        Some(proof) => proofs.push((proof, property.name.as_str())),
                        // A variable without a finite type cannot be part of a certificate.
                        None if builder(system).is_none() => count.uncertified += 1,
                        None => return Err(format!("{place}: no certificate")),
                    }
                }
                (Answer::Violated(shortest), Answer::Violated(run)) => {
                    run.record(instance, system, &property.name)
                        .map_err(|error| format!("{place}: {error}"))?;
                    let mut states = run
                        .steps
                        .iter()
                        .map(|(_, state)| state)
                        .chain([&run.initial]);
                    if states.any(|state| state.len() != system.cells) {
                        return Err(format!("{place}: states of another program"));
                    }
                    let (length, least) = (run.steps.len(), shortest.steps.len());
                    if length < least || runs == Runs::Shortest && length > least {
                        return Err(format!(
                            "{place}: {length} steps, the shortest run has {least}"
                        ));
                    }
                    count.violated += 1;
                }
                (_, Answer::Unknown(reason))
                    if matches!(reason.code.as_str(), "unsupported" | "overflow") =>
                {
                    count.unsupported += 1;
                }
                (_, Answer::Unknown(reason))
                    if engine.name() == "thread-modular"
                        && reason.code.as_str() == "guarantees-too-weak" =>
                {
                    count.open += 1;
                }
                (_, Answer::Unknown(reason)) if reason.code.as_str() == "exception-forbidden" => {
                    count.refused += 1;
                }
                (expected, found) => {
                    return Err(format!("{place}: expected {expected:?}, found {found:?}"));
                }
            }
        }
        let refined = outcome
            .accounts
            .iter()
            .filter(|account| account.refinements > Some(0) || account.extensions > Some(0));
        count.refined += refined.count();
        if outcome.complete && outcome.stats.states != oracle.stats.states {
            return Err(format!(
                "{name}: {:?} states, the oracle has {:?}",
                outcome.stats.states, oracle.stats.states
            ));
        }
        let checked = threadwise_certify::check_all(instance, &proofs, &|| false);
        for ((_, property), answer) in proofs.iter().zip(checked) {
            match answer {
                Ok(_) => count.certified += 1,
                Err(error) => return Err(format!("{name}, {property}: {error}")),
            }
        }
    }
    Ok(count)
}

/// What the explicit engine says of all properties, unless there are too many states.
pub fn oracle(system: &System) -> Outcome {
    let limits = Limits {
        states: Some(STATES),
        ..Limits::NONE
    };
    Explicit::default().check_all(system, &safety(system), &limits, &mut Silent)
}

/// The library at N=2..5: the number of instances compared, and the answers.
pub fn the_library(engines: impl Fn() -> Engines, runs: Runs) -> (usize, Count) {
    the_library_up_to(5, engines, runs)
}

/// The library from N=2 on.
pub fn the_library_up_to(most: i64, engines: impl Fn() -> Engines, runs: Runs) -> (usize, Count) {
    models_up_to(most, |_| true, engines, runs)
}

/// Some models of the library from N=2 on.
pub fn models_up_to(
    most: i64,
    chosen: impl Fn(&str) -> bool,
    engines: impl Fn() -> Engines,
    runs: Runs,
) -> (usize, Count) {
    let mut instances = 0;
    let mut all = Count::default();
    for (name, text) in library().into_iter().filter(|(name, _)| chosen(name)) {
        for n in 2..=most {
            let Ok(instance) = instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 3).expect("small enough");
            let oracle = oracle(&system);
            if !oracle.complete {
                continue;
            }
            match compare((&instance, &system), &oracle, runs, engines()) {
                Ok(count) => {
                    instances += usize::from(count.unsupported == 0);
                    all += count;
                }
                Err(error) => panic!("{name} N={n}: {error}"),
            }
        }
    }
    println!("{instances} instances, {all:?}");
    assert_eq!(all.certified, all.proved, "{all:?}");
    assert_eq!(all.refused, 0, "{all:?}");
    (instances, all)
}

/// Programs that single out one thing.
pub fn the_given<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    engines: impl Fn() -> Engines,
    runs: Runs,
) {
    for text in texts {
        let instance = instance(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
        let system = lower(&instance, 0).expect("small");
        let outcome = oracle(&system);
        let subject = (&instance, &system);
        let count = compare(subject, &outcome, runs, engines());
        let count = count.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(count.certified, count.proved, "{text}");
        assert_eq!(count.unsupported + count.refused, 0, "{text}");
    }
}

/// Refinements and predicates that a proof of a library model takes.
pub fn effort(
    engine: &dyn Engine,
    model: &str,
    params: &[(&str, i64)],
    property: &str,
) -> (u64, u64) {
    let outcome = outcome(engine, model, params, property);
    assert!(
        matches!(outcome.answers[..], [Answer::Proved(_)]),
        "{model}: {:?}",
        outcome.answers
    );
    let account = &outcome.accounts[0];
    (
        account.refinements.expect("counted"),
        account.predicates.expect("counted"),
    )
}

/// What an engine makes of one property of a library model.
pub fn outcome(
    engine: &dyn Engine,
    model: &str,
    params: &[(&str, i64)],
    property: &str,
) -> Outcome {
    let (_, text) = library()
        .into_iter()
        .find(|(name, _)| name == model)
        .expect("a model of the library");
    let instance = instance(&text, params).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let properties: Vec<_> = system
        .properties
        .iter()
        .filter(|known| known.name == property)
        .collect();
    engine.check_all(&system, &properties, &Limits::NONE, &mut Silent)
}
