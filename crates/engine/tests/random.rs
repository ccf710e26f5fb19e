//! The engine against the plain evaluator on random programs over the whole language.

mod reference;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use reference::{explore, is_run, judge, orbit};
use threadwise_engine::{Answer, Engine, Explicit, Limits, Outcome, Silent};
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_testgen::generate::generate;
use threadwise_testgen::instance;

const PROGRAMS: u64 = 1_000;
const STATES: usize = 3_000;
const CAPACITY: u32 = 3;

#[derive(Default)]
struct Totals {
    complete: AtomicUsize,
    doubtful: AtomicUsize,
    full: AtomicUsize,
    violated: AtomicUsize,
    reduced: AtomicUsize,
}

fn count(counter: &AtomicUsize, yes: bool) {
    counter.fetch_add(usize::from(yes), Ordering::Relaxed);
}

fn check(system: &System, engine: Explicit) -> Outcome {
    let properties: Vec<_> = system.properties.iter().collect();
    engine.check_all(system, &properties, &Limits::NONE, &mut Silent)
}

fn program(seed: u64, totals: &Totals) {
    let text = generate(seed);
    let instance = instance(&text, &[]).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let system = lower(&instance, CAPACITY).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
    let Some(reference) = explore(&system, STATES) else {
        return;
    };
    let exhaustive = Explicit {
        exhaustive: true,
        ..Explicit::default()
    };
    let symmetric = Explicit {
        symmetry: true,
        ..exhaustive
    };
    let outcome = check(&system, exhaustive);
    let by_symmetry = check(&system, symmetric);
    count(&totals.doubtful, reference.doubtful);
    count(&totals.full, reference.full);
    if reference.doubtful || reference.full {
        assert_eq!(
            outcome.capacity_exceeded.is_some(),
            reference.full,
            "seed {seed}"
        );
        assert!(!outcome.complete, "seed {seed}");
        for answer in outcome.answers.iter().chain(&by_symmetry.answers) {
            if let Answer::Violated(run) = answer {
                is_run(&system, run);
            }
        }
        return;
    }
    count(&totals.complete, true);
    count(
        &totals.violated,
        reference.shortest.iter().any(Option::is_some),
    );
    assert!(outcome.complete && by_symmetry.complete, "seed {seed}");
    assert_eq!(
        outcome.stats.states,
        Some(reference.states.len() as u64),
        "seed {seed}"
    );
    for (at, property) in system.properties.iter().enumerate() {
        for (how, outcome) in [("plain", &outcome), ("symmetric", &by_symmetry)] {
            let what = format!("seed {seed}, {}, {how}", property.name);
            judge(
                &what,
                &system,
                property,
                &outcome.answers[at],
                reference.shortest[at],
            );
        }
    }
    // Each stored state is one of the system's, and beyond the bound on ties an orbit may have several.
    let stored = by_symmetry.stats.states.unwrap_or(0) as usize;
    assert!(stored <= reference.states.len(), "seed {seed}");
    count(&totals.reduced, stored < reference.states.len());
    let fewest = orbits(&system, reference.states);
    assert!(
        stored >= fewest,
        "seed {seed}: {stored} stored, {fewest} orbits"
    );
}

fn orbits(system: &System, mut left: std::collections::BTreeSet<Vec<i64>>) -> usize {
    // The group of all properties together.
    let mut all = system.properties[0].clone();
    all.kind = SystemPropertyKind::Checks;
    for property in &system.properties {
        all.ids.named.extend(property.ids.named.iter().copied());
        all.ids.ordered.extend(property.ids.ordered.iter().copied());
    }
    let generators = threadwise_model::symmetry::generators(system, &all);
    let mut orbits = 0;
    while let Some(state) = left.pop_first() {
        orbits += 1;
        for member in orbit(system, &generators, &state) {
            left.remove(&member);
        }
    }
    orbits
}

#[test]
fn random_programs_agree_with_the_evaluator() {
    let totals = Totals::default();
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= PROGRAMS {
                        break;
                    }
                    program(seed, &totals);
                }
            });
        }
    });
    let Totals {
        complete,
        doubtful,
        full,
        violated,
        reduced,
    } = totals;
    let figures = [complete, doubtful, full, violated, reduced].map(AtomicUsize::into_inner);
    println!("complete, doubtful, full, violated, reduced: {figures:?}");
    let least = [
        PROGRAMS as usize / 2,
        1,
        5,
        PROGRAMS as usize / 8,
        PROGRAMS as usize / 20,
    ];
    assert!(
        figures
            .iter()
            .zip(least)
            .all(|(figure, least)| *figure >= least),
        "{figures:?}"
    );
}
