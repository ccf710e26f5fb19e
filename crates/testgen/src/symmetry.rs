//! Whether the permutations that are claimed map a program onto itself: initial states onto initial
//! states, moves onto moves, failures onto failures, and states in which a property holds onto such states.

use std::collections::{BTreeSet, VecDeque};

use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::symmetry::{Permutation, generators};
use threadwise_model::system::{ProcessId, System, SystemPropertyKind};

/// Checks every generator of every property, in at most `most` states. Gives the number of generators.
pub fn check(system: &System, most: usize) -> Result<usize, String> {
    let initial: Vec<Vec<i64>> = eval::initial_states(system)
        .map_err(|overflow| overflow.to_string())?
        .take(most)
        .collect();
    let complete = initial.len() < most;
    let initial: BTreeSet<Vec<i64>> = initial.into_iter().collect();
    let mut checked = 0;
    let mut seen: BTreeSet<Vec<i64>> = initial.clone();
    let mut queue: VecDeque<Vec<i64>> = initial.iter().cloned().collect();
    let groups: Vec<Vec<Permutation>> = system
        .properties
        .iter()
        .map(|p| generators(system, p))
        .collect();
    checked += groups.iter().map(Vec::len).sum::<usize>();
    if complete {
        for state in &initial {
            for permutation in groups.iter().flatten() {
                if !initial.contains(&permutation.apply(system, state)) {
                    return Err(format!("the image of an initial state is none: {state:?}"));
                }
            }
        }
    }
    let mut explored = 0;
    while let Some(state) = queue.pop_front() {
        explored += 1;
        if explored > most {
            break;
        }
        let mut all = Vec::new();
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let outcomes = eval::outcomes(system, &state, process);
            for outcome in &outcomes {
                if let Outcome::Move(next) = outcome
                    && seen.insert(next.clone())
                {
                    queue.push_back(next.clone());
                }
            }
            all.push(outcomes);
        }
        for (property, group) in system.properties.iter().zip(&groups) {
            for permutation in group {
                let image = permutation.apply(system, &state);
                if let SystemPropertyKind::Invariant(expr) = &property.kind {
                    let here = Context::of_state(system, &state).holds(expr);
                    let there = Context::of_state(system, &image).holds(expr);
                    if here != there {
                        return Err(format!("{} differs: {state:?}, {image:?}", property.name));
                    }
                }
                for (process, outcomes) in all.iter().enumerate() {
                    let process = permutation.process(system, ProcessId::new(process));
                    let there = eval::outcomes(system, &image, process);
                    same(system, permutation, outcomes, &there)
                        .map_err(|difference| format!("{difference}\n{state:?}\n{image:?}"))?;
                }
            }
        }
    }
    Ok(checked)
}

/// Whether the outcomes here become the outcomes there. Which of several checks fails first may depend on
/// the order in which a quantifier meets processes, so of failures only their presence counts.
fn same(
    system: &System,
    permutation: &Permutation,
    here: &[Outcome],
    there: &[Outcome],
) -> Result<(), String> {
    let moved: BTreeSet<Vec<i64>> = here
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Move(state) => Some(permutation.apply(system, state)),
            _ => None,
        })
        .collect();
    let moves: BTreeSet<Vec<i64>> = there
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Move(state) => Some(state.clone()),
            _ => None,
        })
        .collect();
    if moved != moves {
        return Err("moves differ".to_owned());
    }
    let has = |outcomes: &[Outcome], wanted: fn(&Outcome) -> bool| outcomes.iter().any(wanted);
    for wanted in [
        (|o| matches!(o, Outcome::Rest)) as fn(&Outcome) -> bool,
        |o| matches!(o, Outcome::Failure(..)),
        |o| {
            matches!(
                o,
                Outcome::Overflow | Outcome::Full(_) | Outcome::TooManyChoices
            )
        },
    ] {
        if has(here, wanted) != has(there, wanted) {
            return Err("rests or failures differ".to_owned());
        }
    }
    Ok(())
}
