//! The plain exploration that the engine is held against: the evaluator of lowered steps, a set of
//! states, and nothing else.

use std::collections::BTreeSet;

use threadwise_engine::{Answer, Run, RunEnding};
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{ProcessId, System, SystemProperty, SystemPropertyKind};

/// What a plain exploration finds.
pub struct Reference {
    /// The reachable states.
    pub states: BTreeSet<Vec<i64>>,
    /// For each property, the length of a shortest run to a violation.
    pub shortest: Vec<Option<usize>>,
    /// Some step left 64 bits, or had too many choices: there may be more than was found.
    pub doubtful: bool,
    /// A template had no room for another process.
    pub full: bool,
}

fn processes(system: &System) -> impl Iterator<Item = ProcessId> + use<> {
    (0..system.processes()).map(ProcessId::from_raw)
}

/// Explores naively; nothing if there are too many states for that.
pub fn explore(system: &System, most: usize) -> Option<Reference> {
    let initial = eval::initial_states(system).unwrap();
    let mut layer: Vec<Vec<i64>> = initial.take(most + 1).collect();
    let mut seen: BTreeSet<Vec<i64>> = layer.iter().cloned().collect();
    if seen.len() > most {
        return None;
    }
    let mut shortest = vec![None; system.properties.len()];
    let mut depth = 0;
    let (mut doubtful, mut full) = (false, false);
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
                        let holds = Context::of_state(system, state).holds(e);
                        doubtful |= holds.is_err();
                        holds == Ok(false)
                    }
                    SystemPropertyKind::Liveness(_) => false,
                };
                if bad {
                    shortest[at].get_or_insert(depth);
                }
            }
            for outcome in all {
                match outcome {
                    Outcome::Move(state) => {
                        if seen.insert(state.clone()) {
                            next.push(state);
                        }
                    }
                    Outcome::Overflow | Outcome::TooManyChoices => doubtful = true,
                    Outcome::Full(_) => full = true,
                    Outcome::Rest | Outcome::Failure(..) => {}
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
        doubtful,
        full,
    })
}

/// Asserts that a run is one, up to what its ending says.
pub fn is_run(system: &System, run: &Run) {
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
        RunEnding::Loop { .. } => panic!("a run of a liveness property"),
    }
}

/// Holds an answer against the reference.
pub fn judge(
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
            assert_eq!(reason.code.as_str(), "unsupported");
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

/// All states that differ from this one only in who is who.
pub fn orbit(system: &System, generators: &[Permutation], state: &[i64]) -> BTreeSet<Vec<i64>> {
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
