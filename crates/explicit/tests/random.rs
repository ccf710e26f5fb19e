//! The engine against the plain evaluator on random programs over the whole language.

use crate::reference::{explore, is_run, judge, orbit};
use threadwise_engine::{Answer, Engine, Limits, Outcome, Silent};
use threadwise_explicit::Explicit;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_testgen::random_programs;
use threadwise_testgen::sweep::programs;

const PROGRAMS: u64 = 200;
const STATES: usize = 3_000;
const CAPACITY: u32 = 3;

/// What a program was like, each 0 or 1.
#[derive(Default)]
struct Kind {
    complete: usize,
    doubtful: usize,
    full: usize,
    violated: usize,
    reduced: usize,
}

fn check(system: &System, engine: Explicit) -> Outcome {
    let properties: Vec<_> = system.properties.iter().collect();
    engine.check_all(system, &properties, &Limits::NONE, &mut Silent)
}

fn program(seed: u64, instance: &Instance) -> Kind {
    let mut found = Kind::default();
    let system = lower(instance, CAPACITY).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
    let Some(reference) = explore(&system, STATES) else {
        return found;
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
    found.doubtful = usize::from(reference.doubtful);
    found.full = usize::from(reference.full);
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
        return found;
    }
    found.complete = 1;
    found.violated = usize::from(reference.shortest.iter().any(Option::is_some));
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
    found.reduced = usize::from(stored < reference.states.len());
    let fewest = orbits(&system, reference.states);
    assert!(
        stored >= fewest,
        "seed {seed}: {stored} stored, {fewest} orbits"
    );
    found
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
    let count = programs(PROGRAMS);
    let found = random_programs(count, |seed, _, instance| Ok(program(seed, instance)));
    let sum = |part: fn(&Kind) -> usize| found.iter().map(part).sum::<usize>();
    let figures = [
        sum(|kind| kind.complete),
        sum(|kind| kind.doubtful),
        sum(|kind| kind.full),
        sum(|kind| kind.violated),
        sum(|kind| kind.reduced),
    ];
    println!("complete, doubtful, full, violated, reduced: {figures:?}");
    let least = [
        count as usize / 2,
        1,
        count as usize / 200,
        count as usize / 8,
        count as usize / 20,
    ];
    assert!(
        figures
            .iter()
            .zip(least)
            .all(|(figure, least)| *figure >= least),
        "{figures:?}"
    );
}
