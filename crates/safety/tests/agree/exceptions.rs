//! Exception sets: against the published procedure on explicit sets of states, and what they can and cannot change.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_evidence::certificate::{cell_names, cell_values};
use threadwise_evidence::dag::Dag;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::instance::Instance;
use threadwise_model::layout::owners;
use threadwise_model::lower::lower;
use threadwise_model::system::{Expr, ProcessId, System, SystemProperty, SystemPropertyKind};
use threadwise_safety::{Cartesian, Exceptions};
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{instance, is_forbidden, library, random_programs};

use crate::agree::common::{Engines, Runs, compare, oracle, safety};

type State = Vec<i64>;
type States = BTreeSet<State>;
/// For each shared part, the local parts of each thread.
type Product = BTreeMap<State, Vec<BTreeSet<State>>>;

/// Programs whose products have more states are left out.
const STATES: usize = 1_500;

fn cartesian(exceptions: Exceptions) -> Cartesian {
    Cartesian {
        exceptions,
        ..Cartesian::default()
    }
}

/// The procedure of Malkis, Podelski and Rybalchenko (Sections 2 and 3), one state at a time.
struct Procedure<'s> {
    system: &'s System,
    /// The cells of each thread; the shared ones come first.
    cells: Vec<Vec<usize>>,
    /// Whether all exceptions count from the beginning, as published; otherwise one does when its parts are reached, as here.
    at_once: bool,
    initial: States,
}

impl<'s> Procedure<'s> {
    fn new(system: &'s System, at_once: bool) -> Option<Self> {
        let mut cells = vec![Vec::new(); system.processes() as usize + 1];
        for (cell, owner) in owners(system).iter_enumerated() {
            cells[owner.map_or(0, |process| process.index() + 1)].push(cell.index());
        }
        let initial: States = eval::initial_states(system)
            .ok()?
            .take(STATES + 1)
            .collect();
        (initial.len() <= STATES).then_some(Procedure {
            system,
            cells,
            at_once,
            initial,
        })
    }

    fn part(&self, state: &[i64], of: usize) -> State {
        self.cells[of].iter().map(|cell| state[*cell]).collect()
    }

    /// Adds states to the least product that contains them.
    fn join(&self, product: &mut Product, states: &States) {
        for state in states {
            let threads = self.cells.len() - 1;
            let entry = product.entry(self.part(state, 0));
            let parts = entry.or_insert_with(|| vec![BTreeSet::new(); threads]);
            for (thread, part) in parts.iter_mut().enumerate() {
                part.insert(self.part(state, thread + 1));
            }
        }
    }

    /// All states of a product, unless there are too many.
    fn states(&self, product: &Product) -> Option<States> {
        let size =
            |parts: &Vec<BTreeSet<State>>| parts.iter().map(BTreeSet::len).product::<usize>();
        if product.values().map(size).sum::<usize>() > STATES {
            return None;
        }
        let mut all = States::new();
        for (shared, parts) in product {
            let mut states = vec![vec![0; self.system.cells]];
            let place = |state: &State, of: usize, values: &State| {
                let mut state = state.clone();
                for (cell, value) in self.cells[of].iter().zip(values) {
                    state[*cell] = *value;
                }
                state
            };
            states[0] = place(&states[0], 0, shared);
            for (thread, part) in parts.iter().enumerate() {
                let longer = |state| {
                    part.iter()
                        .map(move |values| place(state, thread + 1, values))
                };
                states = states.iter().flat_map(longer).collect();
            }
            all.extend(states);
        }
        Some(all)
    }

    fn is_exception(&self, state: &State) -> Option<bool> {
        let context = Context::of_state(self.system, state);
        let holds = self
            .system
            .exceptions
            .iter()
            .map(|expr| context.holds(expr));
        let holds: Result<Vec<bool>, _> = holds.collect();
        Some(holds.ok()?.contains(&true))
    }

    /// The exceptions among states.
    fn exceptions(&self, states: States) -> Option<States> {
        let mut exceptions = States::new();
        for state in states {
            if self.is_exception(&state)? {
                exceptions.insert(state);
            }
        }
        Some(exceptions)
    }

    fn after(&self, states: &States) -> Option<States> {
        let mut after = States::new();
        for state in states {
            for process in (0..self.system.processes()).map(ProcessId::from_raw) {
                for outcome in eval::outcomes(self.system, state, process) {
                    match outcome {
                        Outcome::Move(next) => {
                            after.insert(next);
                        }
                        Outcome::Failure(..) | Outcome::Rest => {}
                        _ => return None,
                    }
                }
            }
        }
        Some(after)
    }

    /// The approximations, the last of which is the fixpoint. None if that takes too many states, or more than 64 bits.
    fn run(&self) -> Option<Vec<States>> {
        let (mut met, mut product) = (Product::new(), Product::new());
        if self.at_once {
            self.join(&mut met, &all_states(self.system)?);
        }
        let mut rounds: Vec<States> = Vec::new();
        loop {
            let mut new = self.initial.clone();
            if let Some(last) = rounds.last() {
                new.extend(self.after(last)?);
            }
            self.join(&mut met, &new);
            let exceptions = self.exceptions(self.states(&met)?)?;
            new.retain(|state| !exceptions.contains(state));
            self.join(&mut product, &new);
            let mut states = self.states(&product)?;
            states.extend(exceptions);
            if rounds.last() == Some(&states) {
                return Some(rounds);
            }
            rounds.push(states);
        }
    }
}

/// All combinations of values.
fn all_states(system: &System) -> Option<States> {
    let mut states = vec![State::new()];
    for values in cell_values(system) {
        let (least, count) = values?;
        let values = least..least.saturating_add_unsigned(count);
        if states.len().saturating_mul(count as usize) > STATES {
            return None;
        }
        let longer = |state: &State| {
            let state = state.clone();
            values
                .clone()
                .map(move |value| [&state[..], &[value]].concat())
        };
        states = states.iter().flat_map(longer).collect();
    }
    Some(states.into_iter().collect())
}

/// For each cell of a certificate's set, which cell of the system that is.
fn cells_of(system: &System, set: &Dag) -> Vec<usize> {
    let names = cell_names(system);
    let place = |name: &String| names.iter().position(|known| known == name);
    let cells = set.cells().iter();
    cells.map(|name| place(name).expect("a cell")).collect()
}

/// Whether a certificate's set contains a state.
fn contains(system: &System, set: &Dag, state: &State) -> bool {
    let values = cell_values(system);
    let cells = cells_of(system, set);
    set.contains(|cell| {
        let cell = cells[cell];
        let least = values[cell].map_or(0, |(least, _)| least);
        u64::try_from(state[cell] - least).expect("a value of the cell")
    })
}

/// The set of the certificate of a proof with the model's exceptions alone.
fn given(system: &System, property: &SystemProperty) -> Answer {
    let engine = cartesian(Exceptions::Given);
    let mut outcome = engine.check_all(system, &[property], &Limits::NONE, &mut Silent);
    outcome.answers.remove(0)
}

fn property<'s>(system: &'s System, name: &str) -> &'s SystemProperty {
    let mut properties = system.properties.iter();
    properties
        .find(|known| known.name == name)
        .expect("a property")
}

/// A state of `peterson2` as it is written in the paper: x, y and turn, and where the processes are.
fn shown(system: &System, state: &State) -> String {
    let names = cell_names(system);
    let value = |name: &str| {
        let cell = names.iter().position(|known| known == name);
        state[cell.expect("a cell")]
    };
    let place = |name: &str| {
        let template = system
            .templates
            .iter()
            .find(|template| template.name == name);
        let locations = &template.expect("a process").locations;
        locations.raw[value(name) as usize].clone()
    };
    format!(
        "{}{}{} {} {}",
        value("x"),
        value("y"),
        value("turn"),
        place("P1"),
        place("P2")
    )
}

/// `peterson2` without symmetry or optimisation, with some exceptions and not others.
fn peterson(exceptions: bool) -> System {
    let (_, text) = library()
        .into_iter()
        .find(|(name, _)| name == "peterson2")
        .expect("a model of the library");
    let instance = instance(&text, &[]).expect("an instance");
    let mut system = lower(&instance, 0).expect("small");
    assert_eq!(system.exceptions.len(), 3);
    if !exceptions {
        system.exceptions.clear();
    }
    system
}

/// The states of a proof of a property of `peterson2`.
fn proof_of_peterson(system: &System, name: &str) -> BTreeSet<String> {
    let Answer::Proved(Some(proof)) = given(system, property(system, name)) else {
        panic!("{name} is not proved");
    };
    let [set] = proof.claim.parts() else {
        panic!("one set");
    };
    let all = all_states(system).expect("few");
    assert_eq!(all.len(), 8 * 5 * 5);
    let inside = all.iter().filter(|state| contains(system, set, state));
    inside.map(|state| shown(system, state)).collect()
}

fn texts(states: &[&str]) -> BTreeSet<String> {
    states.iter().map(|state| (*state).to_owned()).collect()
}

/// The example of Section 2, round by round and state by state.
#[test]
fn peterson_with_three_exceptions_is_as_published() {
    let system = peterson(true);
    let procedure = Procedure::new(&system, true).expect("few initial states");
    let rounds = procedure.run().expect("few states");
    let rounds: Vec<BTreeSet<String>> = rounds
        .iter()
        .map(|round| round.iter().map(|state| shown(&system, state)).collect())
        .collect();
    assert_eq!(
        rounds[0],
        texts(&["000 A A", "110 B D", "110 C C", "111 D B"])
    );
    assert_eq!(
        rounds[1],
        texts(&[
            "000 A A", "010 A B", "011 A B", "100 B A", "110 B D", "110 C C", "110 D C", "111 C D",
            "111 D B"
        ])
    );
    let fixpoint = rounds.last().expect("a round");
    assert_eq!(proof_of_peterson(&system, "mutex"), *fixpoint);
    assert_eq!(fixpoint.len(), 23);
    assert!(fixpoint.iter().all(|state| !state.ends_with("D D")));
}

/// What is computed without exceptions is listed in Section 2: it allows both to be inside.
#[test]
fn peterson_without_exceptions_is_as_published() {
    let system = peterson(false);
    // Nothing can fail, so that nothing is forbidden and the whole abstraction is the proof.
    let found = proof_of_peterson(&system, "checks");
    let procedure = Procedure::new(&system, true).expect("few initial states");
    let rounds = procedure.run().expect("few states");
    let fixpoint = rounds.last().expect("a round").iter();
    assert_eq!(found, fixpoint.map(|state| shown(&system, state)).collect());
    let mut listed = BTreeSet::new();
    for (shared, first, second) in [
        ("000", "A", "A"),
        ("001", "A", "A"),
        ("010", "A", "ABCD"),
        ("011", "A", "ABCD"),
        ("100", "BCD", "A"),
        ("101", "BCD", "A"),
        ("110", "BCD", "ABCD"),
        ("111", "BCD", "ABCD"),
    ] {
        for a in first.chars() {
            listed.extend(second.chars().map(|b| format!("{shared} {a} {b}")));
        }
    }
    // The list has the second process at A with y set, to which no step of it leads.
    listed.retain(|state| !(&state[1..2] == "1" && state.ends_with('A')));
    assert_eq!(found, listed);
    assert!(found.contains("110 D D") && found.contains("111 D D"));
    let Answer::Unknown(reason) = given(&system, property(&system, "mutex")) else {
        panic!("the abstraction allows a violation");
    };
    assert_eq!(reason.code.as_str(), "exceptions-too-weak");
}

/// What random programs with exceptions exercised.
#[derive(Debug, Default)]
struct Count {
    /// Proofs with the model's exceptions alone whose set is that of the procedure.
    proved: usize,
    /// Of those, with exceptions that no step leads to.
    beyond: usize,
    /// Too weak, as the procedure finds.
    weak: usize,
    /// Exceptions that are forbidden.
    forbidden: usize,
}

/// Compares what is proved with the model's exceptions alone with the procedure.
fn compare_with_procedure(system: &System) -> Result<Option<Count>, String> {
    let procedure = Procedure::new(system, false);
    let Some(rounds) = procedure.as_ref().and_then(Procedure::run) else {
        return Ok(None);
    };
    let (Some(procedure), Some(fixpoint)) = (procedure, rounds.last()) else {
        return Ok(None);
    };
    let mut count = Count::default();
    let mut reached = procedure.after(fixpoint).unwrap_or_default();
    reached.extend(procedure.initial.iter().cloned());
    let beyond =
        |state: &State| !reached.contains(state) && procedure.is_exception(state) == Some(true);
    for property in safety(system) {
        let name = &property.name;
        let wrong = fixpoint
            .iter()
            .filter(|state| is_forbidden(system, property, state) == Some(true));
        let wrong: Vec<&State> = wrong.collect();
        match given(system, property) {
            Answer::Proved(proof) => {
                if let Some(state) = wrong.first() {
                    return Err(format!("{name}: proved in spite of {state:?}"));
                }
                let Some(proof) = proof else {
                    continue;
                };
                let [set] = proof.claim.parts() else {
                    return Err(format!("{name}: several sets"));
                };
                if let Some(state) = fixpoint.iter().find(|state| !contains(system, set, state)) {
                    return Err(format!("{name}: {state:?} is not in the proof"));
                }
                let states = set_size(system, set);
                if states != fixpoint.len() {
                    return Err(format!("{name}: {states} states, not {}", fixpoint.len()));
                }
                count.proved += 1;
                count.beyond += usize::from(fixpoint.iter().any(beyond));
            }
            // Found at once, among the initial states.
            Answer::Violated(run) if run.steps.is_empty() => {}
            Answer::Unknown(reason)
                if reason.code.as_str() == "unsupported" || reason.code.as_str() == "overflow" => {}
            Answer::Unknown(reason) => {
                if wrong.is_empty() {
                    return Err(format!("{name}: {}, but nothing is wrong", reason.code));
                }
                match reason.code.as_str() {
                    "exceptions-too-weak" => count.weak += 1,
                    "exception-forbidden" => {
                        let mut wrong = wrong.iter();
                        if !wrong.any(|state| procedure.is_exception(state) == Some(true)) {
                            return Err(format!("{name}: no exception is forbidden"));
                        }
                        count.forbidden += 1;
                    }
                    code => return Err(format!("{name}: {code}")),
                }
            }
            Answer::Violated(_) => return Err(format!("{name}: violated by given exceptions")),
        }
    }
    Ok(Some(count))
}

/// How many states a certificate's set has.
fn set_size(system: &System, set: &Dag) -> usize {
    fn below(
        set: &Dag,
        sizes: &[u128],
        cell: usize,
        child: threadwise_evidence::dag::Child,
    ) -> u128 {
        let Some(number) = child.node() else {
            let value = u128::from(child == threadwise_evidence::dag::Child::TRUE);
            return value * sizes[cell..].iter().product::<u128>();
        };
        let node = set.node(number);
        let between = sizes[cell..node.cell].iter().product::<u128>();
        let runs = node.runs.iter();
        let runs =
            runs.map(|run| u128::from(run.count) * below(set, sizes, node.cell + 1, run.child));
        between * runs.sum::<u128>()
    }
    let values = cell_values(system);
    let size = |cell: usize| values[cell].map_or(0, |(_, size)| u128::from(size));
    let cells = cells_of(system, set);
    let sizes: Vec<u128> = cells.iter().map(|cell| size(*cell)).collect();
    let others = (0..system.cells).filter(|cell| !cells.contains(cell));
    let others: u128 = others.map(size).product();
    (below(set, &sizes, 0, set.root()) * others) as usize
}

/// Random programs that are looked at.
const PROGRAMS: u64 = 100;

/// Tests random programs with exceptions of their own, with what an invariant allows as exceptions, and with what it forbids.
fn random_exceptions<T: Send>(
    test: impl Fn(&Instance, &System) -> Result<Option<T>, String> + Sync,
) -> Vec<T> {
    let results = random_programs(programs(PROGRAMS), |seed, _, instance| {
        let mut system = lower(instance, 3).map_err(|errors| format!("{errors:?}"))?;
        if system.templates.iter().any(|template| template.dynamic) {
            return Ok(None);
        }
        let mut properties = system.properties.iter();
        let invariant = properties.find_map(|property| match &property.kind {
            SystemPropertyKind::Invariant(expr) => Some(expr.clone()),
            _ => None,
        });
        match (seed % 4, invariant) {
            (0, Some(expr)) => system.exceptions.push(Expr::Not(Box::new(expr))),
            (1 | 2, Some(expr)) => system.exceptions.push(expr),
            _ => {}
        }
        test(instance, &system)
    });
    results.into_iter().flatten().collect()
}

#[test]
fn given_exceptions_of_random_programs_are_as_published() {
    let results = random_exceptions(|_, system| compare_with_procedure(system));
    let mut all = Count::default();
    for count in &results {
        all.proved += count.proved;
        all.beyond += count.beyond;
        all.weak += count.weak;
        all.forbidden += count.forbidden;
    }
    println!("{} programs, {all:?}", results.len());
    // So many of each hundred programs.
    let of = |hundred: u64| (hundred * programs(PROGRAMS) / 100) as usize;
    assert!(results.len() >= of(20), "{} programs", results.len());
    assert!(all.proved >= of(30) && all.beyond >= of(6), "{all:?}");
    assert!(all.weak >= of(4) && all.forbidden >= of(4), "{all:?}");
}

#[test]
fn exceptions_change_no_verdict() {
    let results = random_exceptions(|instance, system| {
        let oracle = oracle(system);
        if oracle.stats.states > Some(STATES as u64) || !oracle.complete {
            return Ok(None);
        }
        let both = cartesian(Exceptions::Both);
        let engines: Engines = vec![("both", Box::new(both))];
        compare((instance, system), &oracle, Runs::Any, engines).map(Some)
    });
    let (mut decided, mut refined, mut refused) = (0, 0, 0);
    for count in &results {
        decided += count.proved + count.violated;
        refined += count.refined;
        refused += count.refused;
    }
    println!(
        "{} programs, {decided} decided, {refined} refined, {refused} refused",
        results.len()
    );
    let of = |hundred: u64| (hundred * programs(PROGRAMS) / 100) as usize;
    assert!(
        decided >= of(60) && refined >= of(4),
        "{decided} decided, {refined} refined"
    );
    // An exception that is forbidden is the only reason not to answer, and there are some.
    assert!(refused >= of(4), "{refused} refused");
}

/// Each process adds once, but the abstraction forgets that: without bounds it would add for ever.
#[test]
fn variables_without_bounds_are_refused() {
    for (value, code) in [("x + 1", Some("unsupported")), ("(x + 1) % 3", None)] {
        let text = format!(
            "shared x: int = 0; process P[i: 1..2] {{ a: atomic {{ x := {value}; }} }} invariant low: x < 3;"
        );
        let instance = instance(&text, &[]).expect("a program");
        let system = lower(&instance, 3).expect("small");
        let limits = Limits {
            memory: Some(16 << 20),
            ..Limits::NONE
        };
        let properties = [property(&system, "low")];
        let engine = cartesian(Exceptions::Computed);
        let outcome = engine.check_all(&system, &properties, &limits, &mut Silent);
        match (&outcome.answers[0], code) {
            (Answer::Unknown(reason), Some(code)) => assert_eq!(reason.code.as_str(), code),
            (Answer::Proved(_), None) => {}
            (answer, _) => panic!("{value}: {answer:?}"),
        }
    }
}
