//! Predicates against the evaluator, tuple by tuple.

use std::collections::BTreeSet;

use threadwise_model::eval::{self, Outcome};
use threadwise_model::lower::lower;
use threadwise_model::system::{ProcessId, System};
use threadwise_testgen::random::Random;
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{instance, is_forbidden, random_programs};

use super::*;

/// Each invariant for one kind of predicate.
const KINDS: &str = "
    shared s: 0..2 = any;
    shared a: array[1..3] of 0..2 = 0;
    shared door: mutex;
    ordered process P[i: 1..3] {
        local v: -1..2 = any;
        local w: bool = false;
        loop {
            one: atomic { await s > 0; s := max(v, 0); }
            two: atomic { assert v + s < 3; a[i] := s; }
            three: lock door;
            four: atomic { unlock door; w := !w; }
        }
    }
    process Q { local u: 0..2 = 1; stop: atomic { await s == 1; u := s; } }

    invariant local: forall i in P: P[i] at two -> P[i].v > 0;
    invariant some: exists i in P: P[i] at one && P[i].w;
    invariant shared_only: s > 0 || a[1] == a[2];
    invariant of_arrays: forall i in P: P[i].v == a[i];
    invariant by_index: forall i in P: P[i].v > 0 -> a[P[i].v] == s;
    invariant holders: locked(door) <-> (exists i in P: P[i] at four);
    invariant one_inside: forall i, j in P: i != j -> !(P[i] at {two, three} && P[j] at {two, three});
    invariant counted: (count i in P: P[i] at two) < 2;
    invariant counted_shared: (count i in P: P[i].v == s) == s;
    invariant counted_more: (count i in P: P[i] at one) >= (count i in P: P[i].w);
    invariant not_two: (count i in P: P[i].v > 0) != 2;
    invariant summed: (sum i in P: P[i].v) <= s + 1;
    invariant summed_more: (sum i in P: P[i].v) - Q.u > s - 2;
    invariant negative: -(P[1].v + P[3].v) < Q.u;
    invariant two_values: P[1].v <= P[2].v;
    invariant two_equal: P[3].v == P[1].v;
    invariant multiplied: P[1].v * P[2].v <= s;
    invariant apart: P[1].v * P[3].v != 1 || Q.u > 0;
    invariant greatest: (max i in P: P[i].v) > 0;
    invariant if_and_only_if: P[1] at one <-> P[2].w;
    invariant chosen: (exists i in P: P[i].w && P[i].v > 1) -> (forall i in P: P[i] at one || s > 1);
    invariant nested: forall i in P: exists j in P: P[j].v >= P[i].v && (P[j].w || i == j);
    invariant never: false;
    deadlock_free;
    exception { P[1] at two && s == 1; P[2].w && P[3].v > P[1].v; }
";

/// What a formula is made of.
fn kinds(formula: &Formula, found: &mut BTreeSet<String>) {
    let kind = match formula {
        Formula::Constant(value) => format!("{value}"),
        Formula::Local(_, test) => match test {
            Test::Holds(_) => "local".to_owned(),
            other => format!("{other:?}"),
        },
        Formula::Not(inner) => {
            kinds(inner, found);
            "not".to_owned()
        }
        Formula::And(parts) => {
            for part in parts {
                kinds(part, found);
            }
            "and".to_owned()
        }
        Formula::Sum { op, .. } => format!("sum {op:?}"),
        Formula::Several(about, _) => format!("several, {}", about.len()),
    };
    found.insert(kind);
}

/// Local states of each thread and shared parts, of states on some runs.
fn some_states(
    threads: &mut Threads,
    random: &mut Random,
) -> Option<(Vec<BTreeSet<LocalId>>, BTreeSet<SharedId>)> {
    let system = threads.system;
    let initial: Vec<Vec<i64>> = eval::initial_states(system).ok()?.take(1_000).collect();
    let mut states = Vec::new();
    for _ in 0..40 {
        let mut state = random.one(&initial)?.clone();
        for _ in 0..20 {
            let process = ProcessId::from_usize(random.below(threads.len()));
            let mut after = eval::outcomes(system, &state, process);
            after.retain(|outcome| matches!(outcome, Outcome::Move(_)));
            states.push(state.clone());
            if let Some(Outcome::Move(next)) = random.one(&after) {
                state.clone_from(next);
            }
        }
    }
    let mut locals = vec![BTreeSet::new(); threads.len()];
    let mut shared = BTreeSet::new();
    for state in &states {
        let row = |cells: &[CellId]| cells.iter().map(|cell| state[cell.index()]).collect();
        for (thread, locals) in locals.iter_mut().enumerate() {
            let row = row(&threads.own_cells[thread]);
            locals.insert(threads.number_local(thread, row));
        }
        shared.insert(threads.number_shared(row(&threads.shared_cells)));
    }
    Some((locals, shared))
}

/// At most so many of these.
fn few<T: Copy>(random: &mut Random, all: &BTreeSet<T>, most: usize) -> Vec<T> {
    let mut all: Vec<T> = all.iter().copied().collect();
    while all.len() > most {
        all.swap_remove(random.below(all.len()));
    }
    all
}

/// All tuples with a component in each of these.
fn tuples(components: &[Vec<LocalId>]) -> Vec<Vec<LocalId>> {
    components.iter().fold(vec![Vec::new()], |tuples, locals| {
        let longer = |tuple: &Vec<LocalId>, local: &LocalId| [&tuple[..], &[*local]].concat();
        let tuples = tuples.iter();
        tuples
            .flat_map(|tuple| locals.iter().map(move |local| longer(tuple, local)))
            .collect()
    })
}

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    kinds: BTreeSet<String>,
    inside: usize,
    outside: usize,
    overflows: usize,
}

/// Compares all predicates of a system with the evaluator on combinations of some local states.
fn compare(
    system: &System,
    random: &mut Random,
    shared_parts: usize,
    compared: &mut Compared,
) -> Result<(), String> {
    let mut threads = Threads::new(system);
    let mut graphs = Graphs::new(threads.len());
    let Some((locals, shared)) = some_states(&mut threads, random) else {
        return Ok(());
    };
    let exceptions = system.exceptions.clone();
    let any_exception = |state: &[i64]| {
        let context = Context::of_state(system, state);
        let holds: Result<Vec<bool>, Overflow> =
            exceptions.iter().map(|e| context.holds(e)).collect();
        Some(holds.ok()?.contains(&true))
    };
    let mut predicates: Vec<(&str, Option<&SystemProperty>, Predicate)> = vec![(
        "exceptions",
        None,
        Predicate::any_of(&threads, exceptions.clone()),
    )];
    for property in &system.properties {
        if let Some(forbidden) = Predicate::forbidden(&threads, property) {
            predicates.push((&property.name, Some(property), forbidden));
        }
    }
    for shared in few(random, &shared, shared_parts) {
        let components: Vec<Vec<LocalId>> =
            locals.iter().map(|locals| few(random, locals, 4)).collect();
        let sets: Vec<SetId> = components
            .iter()
            .map(|locals| graphs.sets.of(locals.iter().copied()))
            .collect();
        let all = tuples(&components);
        for (name, property, predicate) in &mut predicates {
            let found =
                match predicate.within(&mut threads, &mut graphs, &Limits::NONE, shared, &sets) {
                    Ok(found) => found,
                    Err(Halt::Stop(stop)) => return Err(format!("{name}: {stop:?}")),
                    Err(_) => {
                        compared.overflows += 1;
                        continue;
                    }
                };
            for tuple in &all {
                let state = threads.state(shared, tuple);
                let expected = match property {
                    Some(property) => is_forbidden(system, property, &state),
                    None => any_exception(&state),
                };
                let contains = graphs.contains(found, tuple);
                match expected {
                    Some(true) => compared.inside += 1,
                    Some(false) => compared.outside += 1,
                    None => continue,
                }
                if expected != Some(contains) {
                    return Err(format!("{name}: {contains} at {state:?}"));
                }
            }
        }
    }
    for formula in predicates.iter().flat_map(|(_, _, p)| p.known.values()) {
        kinds(formula, &mut compared.kinds);
    }
    Ok(())
}

#[test]
fn every_kind_of_predicate() {
    let instance = instance(KINDS, &[]).expect("a program");
    let mut compared = Compared::default();
    // As written, and with what the optimiser makes of it.
    for level in [0, 3] {
        let system = lower(&instance, level).expect("small");
        compare(&system, &mut Random::new(1), 10, &mut compared).expect("agreement");
    }
    assert_eq!(compared.overflows, 0);
    assert!(
        compared.inside >= 10_000 && compared.outside >= 10_000,
        "{compared:?}"
    );
    let kinds: Vec<&str> = compared.kinds.iter().map(String::as_str).collect();
    for kind in [
        "Ended",
        "Fails",
        "Stuck",
        "and",
        "false",
        "local",
        "not",
        "several, 2",
        "several, 3",
        "sum Eq",
        "sum Ge",
        "sum Gt",
        "sum Le",
        "sum Lt",
        "sum Ne",
        "true",
    ] {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
}

#[test]
fn predicates_of_random_programs() {
    let count = programs(50);
    let results = random_programs(count, |seed, _, instance| {
        let system = lower(instance, 3).map_err(|errors| format!("{errors:?}"))?;
        let mut compared = Compared::default();
        let dynamic = system.templates.iter().any(|template| template.dynamic);
        if !dynamic && system.processes() <= 4 {
            compare(&system, &mut Random::new(seed), 3, &mut compared)?;
        }
        Ok(compared)
    });
    let programs = results
        .iter()
        .filter(|compared| compared.inside > 0)
        .count();
    let mut all = Compared::default();
    for compared in results {
        all.kinds.extend(compared.kinds);
        all.inside += compared.inside;
        all.outside += compared.outside;
        all.overflows += compared.overflows;
    }
    let count = count as usize;
    assert!(programs * 5 >= count * 2, "{programs} programs");
    let least = 40 * count;
    assert!(all.inside >= least && all.outside >= least, "{all:?}");
    assert!(all.overflows * 12 <= count, "{all:?}");
}
