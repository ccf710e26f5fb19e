//! Random programs about any number of processes.

use threadwise_param::engine::FamilyEngine;
use threadwise_testgen::generated_programs;
use threadwise_testgen::parametric::{AtInstance, Truth, generate, verdicts};

use crate::common::{Verdict, contradiction, decide};

/// What became of the properties of a program.
#[derive(Clone, Debug, Default)]
struct Tally {
    proved: usize,
    violated: usize,
    unknown: usize,
    /// Of those that are not decided, those that a search finds violated.
    missed: usize,
    /// Proofs that need more than equations.
    clauses: usize,
    /// About two processes.
    pairs: usize,
    /// With predicates that are counted.
    counted: usize,
    /// Proofs of what a search has seen to hold at three instances or more.
    searched: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.proved += other.proved;
        self.violated += other.violated;
        self.unknown += other.unknown;
        self.missed += other.missed;
        self.clauses += other.clauses;
        self.pairs += other.pairs;
        self.counted += other.counted;
        self.searched += other.searched;
    }
}

/// Has programs decided, and compares with a search of the instances up to some number of processes.
fn programs(
    engine: FamilyEngine,
    count: u64,
    every: u64,
    up_to: i64,
    states: u64,
    budget: u64,
) -> Tally {
    let tallies = generated_programs(generate, count, |seed, text, _| {
        let mut tally = Tally::default();
        if !seed.is_multiple_of(every) {
            return Ok(tally);
        }
        let found = decide(engine, text, budget)?;
        let instances = verdicts(text, up_to, states, true)?;
        for (property, verdict) in &found {
            match verdict {
                Verdict::Proved(_, how) => {
                    contradiction(property, &instances)?;
                    tally.proved += 1;
                    tally.clauses += usize::from(!how.contains("by equations about"));
                    tally.pairs += usize::from(how.contains("2 processes"));
                    tally.counted += usize::from(how.contains("counted"));
                    let searched = instances.iter().filter(|at| holds(at, property));
                    tally.searched += usize::from(searched.count() >= 3);
                }
                Verdict::Violated(values) => {
                    let same = instances.iter().find(|at| at.values == *values);
                    if same.is_some_and(|at| holds(at, property)) {
                        return Err(format!("{property} holds at {values:?}"));
                    }
                    tally.violated += 1;
                }
                Verdict::Unknown(_) => {
                    tally.unknown += 1;
                    tally.missed += usize::from(contradiction(property, &instances).is_err());
                }
            }
        }
        Ok(tally)
    });
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.add(tally));
    total
}

fn holds(at: &AtInstance, property: &str) -> bool {
    at.truths.get(property) == Some(&Truth::Holds)
}

#[test]
fn proofs_agree_with_search_on_random_programs() {
    let total = programs(FamilyEngine::Counter, 1_000, 1, 5, 3_000, 2_000);
    let exercised = total.proved >= 1_500
        && total.violated >= 400
        && total.unknown <= 900
        && total.clauses >= 100
        && total.pairs >= 15
        && total.searched >= 1_400;
    assert!(exercised, "{total:?}");
}

#[test]
fn generalised_proofs_agree_with_search_on_random_programs() {
    let total = programs(FamilyEngine::Generalise, 1_000, 4, 5, 3_000, 2_000);
    let exercised = total.proved >= 300 && total.violated >= 50 && total.searched >= 280;
    assert!(exercised, "{total:?}");
}

/// The same on a larger scale: `cargo test --release -p threadwise-param --test engines -- --ignored random`.
#[test]
#[ignore = "on a larger scale"]
fn proofs_agree_with_search_on_many_random_programs() {
    for engine in [FamilyEngine::Counter, FamilyEngine::Generalise] {
        let total = programs(engine, 20_000, 1, 8, 100_000, 20_000);
        assert!(total.proved > 10_000, "{total:?}");
    }
}
