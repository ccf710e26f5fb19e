//! The engine against the plain evaluator, on every model of the library at small sizes: the same
//! states, the same verdicts, and runs that are runs and as short as can be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use threadwise_engine::{Answer, Engine, Explicit, Limits, Run, RunEnding, Silent};
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::symmetry::{self, Permutation};
use threadwise_model::system::{ProcessId, System, SystemProperty, SystemPropertyKind};

fn systems() -> Vec<(String, System)> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<_> = std::fs::read_dir(models)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "tw"));
    files.sort();
    assert!(!files.is_empty());
    let mut systems = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let checked = threadwise_lang::check(&std::fs::read_to_string(&file).unwrap());
        let Some(program) = checked.program else {
            panic!("{name}: {:?}", checked.diagnostics)
        };
        let program = Arc::new(program);
        for n in [2, 3] {
            let values = BTreeMap::from([("N".to_owned(), n)]);
            let Ok(instance) = Instance::new(program.clone(), &values) else {
                continue;
            };
            let system = lower(&instance, 4).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            systems.push((format!("{name} N={n}"), system));
        }
    }
    systems
}

struct Reference {
    states: BTreeSet<Vec<i64>>,
    /// For each property, the length of a shortest run to a violation.
    shortest: Vec<Option<usize>>,
}

fn processes(system: &System) -> impl Iterator<Item = ProcessId> + use<> {
    (0..system.processes()).map(ProcessId::from_raw)
}

/// Explores naively; nothing if there are too many states for that.
fn explore(system: &System, most: usize) -> Option<Reference> {
    let mut layer: Vec<Vec<i64>> = eval::initial_states(system).unwrap().collect();
    let mut seen: BTreeSet<Vec<i64>> = layer.iter().cloned().collect();
    let mut shortest = vec![None; system.properties.len()];
    let mut depth = 0;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for state in &layer {
            let all: Vec<Outcome> = processes(system)
                .flat_map(|p| eval::outcomes(system, state, p))
                .collect();
            let failing = all.iter().any(|o| matches!(o, Outcome::Failure(..)));
            let stuck = all.iter().all(|o| *o == Outcome::Rest)
                && processes(system).any(|p| eval::active(system, state, p).is_some());
            for (at, property) in system.properties.iter().enumerate() {
                let bad = match &property.kind {
                    SystemPropertyKind::Checks => failing,
                    SystemPropertyKind::DeadlockFree => stuck,
                    SystemPropertyKind::Invariant(e) => {
                        !Context::of_state(system, state).holds(e).unwrap()
                    }
                    SystemPropertyKind::Liveness(_) => false,
                };
                if bad {
                    shortest[at].get_or_insert(depth);
                }
            }
            for outcome in all {
                if let Outcome::Move(state) = outcome
                    && seen.insert(state.clone())
                {
                    next.push(state);
                }
            }
        }
        if seen.len() > most {
            return None;
        }
        layer = next;
        depth += 1;
    }
    Some(Reference {
        states: seen,
        shortest,
    })
}

fn is_run(system: &System, run: &Run) {
    assert!(
        eval::initial_states(system)
            .unwrap()
            .any(|state| state == run.initial)
    );
    let mut state = run.initial.clone();
    for (process, next) in &run.steps {
        let moves = eval::outcomes(system, &state, *process);
        assert!(
            moves.contains(&Outcome::Move(next.clone())),
            "{process:?} cannot move so"
        );
        state.clone_from(next);
    }
    match run.ending {
        RunEnding::Check {
            process,
            kind,
            span,
            ..
        } => {
            assert!(
                eval::outcomes(system, &state, process).contains(&Outcome::Failure(kind, span))
            );
        }
        RunEnding::Deadlock => {
            for process in processes(system) {
                assert!(
                    eval::outcomes(system, &state, process)
                        .iter()
                        .all(|o| *o == Outcome::Rest)
                );
            }
        }
        RunEnding::Invariant => {}
    }
}

/// Holds an answer against the reference.
fn judge(
    what: &str,
    system: &System,
    property: &SystemProperty,
    answer: &Answer,
    shortest: Option<usize>,
) {
    match (answer, shortest) {
        (Answer::Proved(_), None) => {}
        (Answer::Unknown(reason), None)
            if matches!(property.kind, SystemPropertyKind::Liveness(_)) =>
        {
            assert_eq!(reason.code, "unsupported");
        }
        (Answer::Violated(run), Some(length)) => {
            assert_eq!(run.steps.len(), length, "{what}");
            is_run(system, run);
            if let SystemPropertyKind::Invariant(e) = &property.kind {
                let holds = Context::of_state(system, run.last()).holds(e);
                assert_eq!(holds, Ok(false), "{what}");
            }
        }
        (answer, shortest) => panic!("{what}: {answer:?}, but {shortest:?}"),
    }
}

#[test]
fn agrees_with_the_evaluator() {
    let mut compared = 0;
    for (name, system) in systems() {
        let Some(reference) = explore(&system, 20_000) else {
            continue;
        };
        compared += 1;
        let properties: Vec<_> = system.properties.iter().collect();
        let engine = Explicit {
            exhaustive: true,
            ..Explicit::default()
        };
        let outcome = engine.check_all(&system, &properties, &Limits::NONE, &mut Silent);
        assert!(outcome.complete, "{name}");
        assert_eq!(
            outcome.stats.states,
            Some(reference.states.len() as u64),
            "{name}"
        );
        for (at, property) in properties.iter().enumerate() {
            let what = format!("{name} {}", property.name);
            judge(
                &what,
                &system,
                property,
                &outcome.answers[at],
                reference.shortest[at],
            );
            let alone = Explicit::default().check(&system, property, &Limits::NONE, &mut Silent);
            judge(
                &what,
                &system,
                property,
                &alone.answers[0],
                reference.shortest[at],
            );
        }
    }
    println!("compared {compared} instances");
    assert!(
        compared >= 40,
        "only {compared} instances were small enough"
    );
}

/// All states that differ from this one only in who is who.
fn orbit(system: &System, generators: &[Permutation], state: &[i64]) -> BTreeSet<Vec<i64>> {
    let mut orbit = BTreeSet::from([state.to_vec()]);
    let mut open = vec![state.to_vec()];
    while let Some(state) = open.pop() {
        for generator in generators {
            let image = generator.apply(system, &state);
            if orbit.insert(image.clone()) {
                open.push(image);
            }
        }
    }
    orbit
}

#[test]
fn symmetry_keeps_one_state_of_each_orbit() {
    let (mut compared, mut reduced) = (0, 0);
    for (name, system) in systems() {
        let Some(reference) = explore(&system, 5_000) else {
            continue;
        };
        compared += 1;
        for (at, property) in system.properties.iter().enumerate() {
            let what = format!("{name} {}", property.name);
            let engine = Explicit {
                symmetry: true,
                ..Explicit::default()
            };
            let outcome = engine.check(&system, property, &Limits::NONE, &mut Silent);
            judge(
                &what,
                &system,
                property,
                &outcome.answers[0],
                reference.shortest[at],
            );
            if !matches!(outcome.answers[0], Answer::Proved(_)) {
                continue;
            }
            let generators = symmetry::generators(&system, property);
            let mut left = reference.states.clone();
            let mut orbits = 0;
            while let Some(state) = left.pop_first() {
                orbits += 1;
                for member in orbit(&system, &generators, &state) {
                    left.remove(&member);
                }
            }
            reduced += usize::from(orbits < reference.states.len());
            assert_eq!(outcome.stats.states, Some(orbits as u64), "{what}");
        }
    }
    println!("compared {compared} instances, reduced {reduced} times");
    assert!(compared >= 30 && reduced >= 30, "{compared} {reduced}");
}
