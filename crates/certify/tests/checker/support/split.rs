//! Split invariants by enumeration: parts whose conjunction is inductive.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::certificate::{cell_names, cell_values};
use threadwise_evidence::dag::{Builder, Dag};
use threadwise_model::eval::{Outcome, initial_states, outcomes};
use threadwise_model::layout::owners;
use threadwise_model::system::{CellId, ProcessId, System};

use super::{State, processes};

/// A set of states that is given by the values of some cells.
#[derive(Clone, Debug)]
pub struct Part {
    /// In ascending order.
    pub cells: Vec<usize>,
    pub values: BTreeSet<State>,
}

impl Part {
    pub fn new(cells: Vec<usize>) -> Part {
        Part {
            cells,
            values: BTreeSet::new(),
        }
    }

    pub fn project(&self, state: &State) -> State {
        self.cells.iter().map(|cell| state[*cell]).collect()
    }

    pub fn graph(&self, system: &System) -> Option<Dag> {
        let names = cell_names(system);
        let domains = cell_values(system);
        let domains: Vec<(i64, u64)> = self
            .cells
            .iter()
            .map(|cell| domains[*cell])
            .collect::<Option<_>>()?;
        let names = self.cells.iter().map(|cell| names[*cell].clone());
        let sizes = domains.iter().map(|(_, size)| *size);
        let mut states = Builder::new(names.zip(sizes)).states();
        for values in &self.values {
            let positions: Vec<u64> = values
                .iter()
                .zip(&domains)
                .map(|(value, (lo, _))| (value - lo) as u64)
                .collect();
            states.push(&positions).expect("in order");
        }
        Some(states.finish().expect("not too large"))
    }
}

/// The cells of an assertion about some processes: what is shared, and what is theirs.
pub fn scope(system: &System, processes: &[ProcessId]) -> Vec<usize> {
    let owners = owners(system);
    let seen = |cell: &usize| {
        let owner = owners[CellId::from_usize(*cell)];
        owner.is_none_or(|owner| processes.contains(&owner))
    };
    (0..system.cells).filter(seen).collect()
}

/// One scope for each process; or one for each pair.
pub fn scopes(system: &System, pairs: bool) -> Vec<Vec<usize>> {
    let processes: Vec<ProcessId> = processes(system).collect();
    let mut scopes = Vec::new();
    for (at, one) in processes.iter().enumerate() {
        if !pairs {
            scopes.push(scope(system, &[*one]));
        }
        for other in processes[at + 1..].iter().filter(|_| pairs) {
            scopes.push(scope(system, &[*one, *other]));
        }
    }
    scopes
}

/// The states that are in all parts; `None` if there are more than `most` on the way.
pub fn members(system: &System, parts: &[Part], most: usize) -> Option<Vec<State>> {
    let mut bound = vec![false; system.cells];
    let mut states: Vec<State> = vec![vec![0; system.cells]];
    // What no part speaks of has any value.
    let domains: Vec<(i64, u64)> = cell_values(system).into_iter().collect::<Option<_>>()?;
    let mut free = Vec::new();
    for (cell, (lo, size)) in domains.into_iter().enumerate() {
        if !parts.iter().any(|part| part.cells.contains(&cell)) {
            let mut part = Part::new(vec![cell]);
            part.values = (0..size as i64).map(|k| vec![lo + k]).collect();
            free.push(part);
        }
    }
    for part in parts.iter().chain(&free) {
        let known: Vec<usize> = (0..part.cells.len())
            .filter(|at| bound[part.cells[*at]])
            .collect();
        let mut alike: BTreeMap<State, Vec<&State>> = BTreeMap::new();
        for values in &part.values {
            let key = known.iter().map(|at| values[*at]).collect();
            alike.entry(key).or_default().push(values);
        }
        let mut longer = Vec::new();
        for state in &states {
            let key: State = known.iter().map(|at| state[part.cells[*at]]).collect();
            for values in alike.get(&key).into_iter().flatten() {
                let mut state = state.clone();
                for (cell, value) in part.cells.iter().zip(*values) {
                    state[*cell] = *value;
                }
                longer.push(state);
            }
            if longer.len() > most {
                return None;
            }
        }
        states = longer;
        part.cells.iter().for_each(|cell| bound[*cell] = true);
    }
    Some(states)
}

/// The least sets over these scopes whose conjunction is inductive; `None` if it has more than `most` states, or not all
/// outcomes are known.
pub fn strongest(system: &System, scopes: Vec<Vec<usize>>, most: usize) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = scopes.into_iter().map(Part::new).collect();
    let mut new: Vec<State> = initial_states(system).ok()?.collect();
    let mut met: BTreeSet<State> = BTreeSet::new();
    while !new.is_empty() {
        for state in new.drain(..) {
            for part in &mut parts {
                let values = part.project(&state);
                part.values.insert(values);
            }
        }
        for state in members(system, &parts, most)? {
            if met.contains(&state) {
                continue;
            }
            for process in processes(system) {
                for outcome in outcomes(system, &state, process) {
                    match outcome {
                        Outcome::Move(next) => new.push(next),
                        Outcome::Rest | Outcome::Failure(..) => {}
                        _ => return None,
                    }
                }
            }
            met.insert(state);
        }
    }
    Some(parts)
}

/// The decision graphs of parts.
pub fn graphs(system: &System, parts: &[Part]) -> Option<Vec<Dag>> {
    parts.iter().map(|part| part.graph(system)).collect()
}
