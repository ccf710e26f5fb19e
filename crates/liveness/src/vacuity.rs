//! Proofs of nothing: no run is fair as the property assumes, or what it waits for never happens.
//!
//! That some run is fair is mostly seen by taking turns for a while. Only if that finds none, decision diagrams are asked whether there
//! is one.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_engine::State;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::layout::process_id;
use threadwise_model::partial::choose;
use threadwise_model::system::{Expr, ProcessId, System};
use threadwise_model::temporal::{Fairness, FairnessKind, Formula, Liveness};

/// So many steps are taken in turns,
const MOST_STEPS: usize = 20_000;
/// and so many cells written down on the way.
const MOST_CELLS: usize = 2_000_000;
/// So many ways of taking turns are tried.
const WAYS: usize = 3;

/// Whether taking turns finds a run that is fair.
pub(crate) fn takes_turns_fairly(system: &System, liveness: &Liveness) -> bool {
    let assumes = |term: &Fairness<Expr>| !matches!(term.kind, FairnessKind::Scheduled(_));
    (0..WAYS).any(|way| {
        let Some(round) = in_turns(system, liveness, way) else {
            return false;
        };
        liveness.fairness.iter().any(|terms| {
            let mut terms = terms.iter().filter(|term| assumes(term));
            terms.all(|term| met(system, &round, term))
        })
    })
}

/// A state, and which of the steps that `taken` asks about led to it.
type Moment = (State, Option<usize>);

/// The states of a loop that everybody's taking turns ends in, in one of several ways.
fn in_turns(system: &System, liveness: &Liveness, way: usize) -> Option<Vec<Moment>> {
    let mut state = eval::initial_states(system).ok()?.next()?;
    let processes = system.processes();
    if processes == 0 {
        // Nobody takes a turn.
        return None;
    }
    let mut met: BTreeMap<(State, Option<usize>, usize), usize> = BTreeMap::new();
    let mut run: Vec<Moment> = Vec::new();
    let mut last = None;
    for time in 0..MOST_STEPS.min(MOST_CELLS / system.cells.max(1)) {
        let turn = time % processes as usize;
        // Choices are made by the number of the round, so that they differ from round to round, in a rhythm.
        let round = time / processes as usize % (way + 1);
        let key = (state.clone(), last, turn + processes as usize * round);
        if let Some(first) = met.insert(key, time) {
            return Some(run.split_off(first));
        }
        run.push((state.clone(), last));
        let process = ProcessId::from_raw(turn as u32);
        let outcomes = eval::outcomes(system, &state, process);
        let moves: Vec<&State> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Move(next) => Some(next),
                _ => None,
            })
            .collect();
        last = None;
        if let Some(next) = moves.get(round % moves.len().max(1)) {
            let from = system.location(&state, process);
            let mut taken = liveness.taken.iter();
            last = taken.position(|taken| {
                process_id(system, taken.process) == process && Some(taken.location) == from
            });
            state = (*next).clone();
        } else if !outcomes.is_empty() && !outcomes.contains(&Outcome::Rest) {
            // Nothing but failures.
            return None;
        }
    }
    None
}

fn met(system: &System, round: &[Moment], term: &Fairness<Expr>) -> bool {
    let some = |predicate: &Expr| {
        round.iter().any(|(state, last)| {
            let predicate = choose(predicate, &mut |taken| {
                Expr::Const(i64::from(*last == Some(taken as usize)))
            });
            Context::of_state(system, state)
                .holds(&predicate)
                .unwrap_or(false)
        })
    };
    match &term.kind {
        FairnessKind::Scheduled(_) => true,
        FairnessKind::Weak(e) => some(e),
        FairnessKind::Strong(p, q) => some(q) || !some(p),
    }
}

/// What a conjunct waits for, if it is a predicate of states.
pub(crate) fn trigger(conjunct: &Formula<Expr>) -> Option<Expr> {
    state_predicate(conjunct.trigger()?)
}

fn state_predicate(formula: &Formula<Expr>) -> Option<Expr> {
    let all = |parts: &[Formula<Expr>]| -> Option<Vec<Expr>> {
        parts.iter().map(state_predicate).collect()
    };
    Some(match formula {
        Formula::Atom(atom) => {
            let mut asks = BTreeSet::new();
            let atom = choose(atom, &mut |taken| {
                asks.insert(taken);
                Expr::Const(0)
            });
            // What was taken is no part of a state.
            asks.is_empty().then_some(atom)?
        }
        Formula::Not(f) => Expr::Not(Box::new(state_predicate(f)?)),
        Formula::And(parts) => Expr::And(all(parts)?),
        Formula::Or(parts) => Expr::Or(all(parts)?),
        Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => return None,
    })
}
