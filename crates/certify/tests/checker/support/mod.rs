//! An oracle by enumeration, and certificates from reachable states.

pub mod damage;
pub mod fair;
pub mod split;

use std::collections::{BTreeSet, VecDeque};

use threadwise_certify::{Error, Method, Report, check_with};
use threadwise_evidence::Certificate;
use threadwise_evidence::certificate::{self, cell_names, cell_values};
use threadwise_evidence::dag::Dag;
use threadwise_model::eval::{Context, Outcome, active, initial_states, outcomes};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{ProcessId, System, SystemPropertyKind};

pub type State = Vec<i64>;

/// A model of the library at these parameter values.
pub fn library(name: &str, params: &[(&str, i64)]) -> Instance {
    let path = format!("{}/../../models/{name}.tw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    threadwise_testgen::instance(&text, params).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub fn plain(instance: &Instance) -> System {
    lower(instance, 4).unwrap_or_else(|errors| panic!("{errors:?}"))
}

pub fn processes(system: &System) -> impl Iterator<Item = ProcessId> {
    (0..system.processes()).map(ProcessId::from_raw)
}

/// The checker's answer, which all of its methods must give: walks decide whatever tests cells in one order, and states are gone through if they
/// are few.
pub fn check(
    instance: &Instance,
    certificate: &Certificate,
    property: &str,
    cancel: &dyn Fn() -> bool,
) -> Result<Report, Error> {
    let [each, walked, solved] = [Method::Each, Method::Walk, Method::Solver]
        .map(|method| check_with(method, instance, certificate, property, cancel));
    match (&walked, &solved) {
        (Ok(_), Ok(_)) | (Err(Error::Rejected(_)), Err(Error::Rejected(_))) => {}
        (Err(Error::Unsupported(why)), _) if why.contains("in no one order") => {}
        (Err(walked), Err(solved)) => assert_eq!(walked, solved),
        _ => panic!("a walk says {walked:?}, and the solver {solved:?}"),
    }
    match (&each, &solved) {
        (Ok(_), Ok(_)) | (Err(Error::Rejected(_)), Err(Error::Rejected(_))) => {}
        (Err(Error::Unsupported(why)), _) if why.contains("to go through") => {}
        (Err(each), Err(solved)) => assert_eq!(each, solved),
        _ => panic!("one by one: {each:?}, and the solver says {solved:?}"),
    }
    let answer = threadwise_certify::check(instance, certificate, property, cancel);
    assert_eq!(answer.is_ok(), solved.is_ok(), "{answer:?}, {solved:?}");
    answer
}

/// All reachable states up to failures; `None` if there are more than `most`, or not all is known.
pub fn reachable(system: &System, most: usize) -> Option<BTreeSet<State>> {
    let mut states = BTreeSet::new();
    let mut queue = VecDeque::new();
    for state in initial_states(system).ok()? {
        if states.insert(state.clone()) {
            queue.push_back(state);
        }
        if states.len() > most {
            return None;
        }
    }
    while let Some(state) = queue.pop_front() {
        for process in processes(system) {
            for outcome in outcomes(system, &state, process) {
                match outcome {
                    Outcome::Move(next) => {
                        if states.insert(next.clone()) {
                            queue.push_back(next);
                        }
                    }
                    Outcome::Rest | Outcome::Failure(..) => {}
                    _ => return None,
                }
            }
        }
        if states.len() > most {
            return None;
        }
    }
    Some(states)
}

/// The decision graph of a set of states.
pub fn graph(system: &System, states: &BTreeSet<State>) -> Option<Dag> {
    let lows: Vec<i64> = cell_values(system)
        .into_iter()
        .map(|values| values.map(|(lo, _)| lo))
        .collect::<Option<_>>()?;
    let mut builder = certificate::builder(system)?.states();
    for state in states {
        let positions: Vec<u64> = state
            .iter()
            .zip(&lows)
            .map(|(value, lo)| (value - lo) as u64)
            .collect();
        builder.push(&positions).expect("in order");
    }
    Some(builder.finish().expect("not too large"))
}

/// All states of the types' product; `None` if there are more than `most`.
pub fn universe(system: &System, most: u64) -> Option<Vec<State>> {
    let domains: Vec<(i64, u64)> = cell_values(system).into_iter().collect::<Option<_>>()?;
    let total = domains
        .iter()
        .try_fold(1u64, |n, (_, size)| n.checked_mul(*size))?;
    if total > most {
        return None;
    }
    let mut states = vec![Vec::new()];
    for (lo, size) in domains {
        states = states
            .iter()
            .flat_map(|state: &State| {
                (0..size as i64).map(move |position| {
                    let mut state = state.clone();
                    state.push(lo + position);
                    state
                })
            })
            .collect();
    }
    Some(states)
}

/// Whether all of a certificate's sets contain a state.
pub struct Members<'a> {
    parts: Vec<(&'a Dag, Vec<(usize, i64)>)>,
}

impl<'a> Members<'a> {
    pub fn new(system: &System, dags: &'a [Dag]) -> Option<Members<'a>> {
        let names = cell_names(system);
        let values = cell_values(system);
        let cells = |dag: &Dag| {
            let cells = dag.cells().iter().map(|name| {
                let cell = names.iter().position(|other| other == name)?;
                Some((cell, values[cell]?.0))
            });
            cells.collect::<Option<_>>()
        };
        let parts = dags.iter().map(|dag| Some((dag, cells(dag)?)));
        Some(Members {
            parts: parts.collect::<Option<_>>()?,
        })
    }

    pub fn contain(&self, state: &State) -> bool {
        self.parts.iter().all(|(dag, cells)| {
            dag.contains(|cell| {
                let (cell, lo) = cells[cell];
                u64::try_from(state[cell] - lo).unwrap_or(u64::MAX)
            })
        })
    }
}

/// Whether a set proves a property, by going through all states that it may contain. The reason if not.
pub fn oracle(
    system: &System,
    universe: &[State],
    certificate: &Certificate,
    property: &str,
) -> Result<(), String> {
    if certificate.property != property {
        return Err("another property".into());
    }
    let params: std::collections::BTreeMap<_, _> = system.params.iter().cloned().collect();
    if certificate.params != params {
        return Err("other parameters".into());
    }
    let kind = &system
        .properties
        .iter()
        .find(|p| p.name == property)
        .ok_or("no such property")?
        .kind;
    let members = Members::new(system, certificate.claim.parts()).ok_or("unknown cells")?;
    let sizes = cell_values(system);
    for (dag, cells) in &members.parts {
        for node in dag.nodes() {
            let size = sizes[cells[node.cell].0].map_or(0, |(_, size)| size);
            if node.values() != size {
                return Err("wrong number of children".into());
            }
        }
    }
    for state in initial_states(system).map_err(|e| e.to_string())? {
        if !members.contain(&state) {
            return Err(format!("initial state {state:?}"));
        }
    }
    for state in universe.iter().filter(|state| members.contain(state)) {
        let mut moves = 0;
        for process in processes(system) {
            for outcome in outcomes(system, state, process) {
                match outcome {
                    Outcome::Move(next) => {
                        moves += 1;
                        if !members.contain(&next) {
                            return Err(format!("step from {state:?} to {next:?}"));
                        }
                    }
                    Outcome::Rest => {}
                    Outcome::Failure(kind_of_check, _) => {
                        moves += 1;
                        if let SystemPropertyKind::Checks = kind {
                            return Err(format!("{kind_of_check:?} fails in {state:?}"));
                        }
                    }
                    other => return Err(format!("{other:?} in {state:?}")),
                }
            }
        }
        match kind {
            SystemPropertyKind::Invariant(expr) => {
                match Context::of_state(system, state).holds(expr) {
                    Ok(true) => {}
                    Ok(false) => return Err(format!("property false in {state:?}")),
                    Err(overflow) => return Err(overflow.to_string()),
                }
            }
            SystemPropertyKind::DeadlockFree => {
                let someone = processes(system).any(|p| active(system, state, p).is_some());
                if moves == 0 && someone {
                    return Err(format!("deadlock {state:?}"));
                }
            }
            SystemPropertyKind::Checks => {}
            SystemPropertyKind::Liveness(_) => return Err("liveness".into()),
        }
    }
    Ok(())
}
