//! Random programs about any number of processes.

use std::collections::BTreeMap;

use threadwise_param::engine::{Method, Way};
use threadwise_testgen::generated_programs;
use threadwise_testgen::parametric::{
    AtInstance, Truth, generate, generate_arrays, generate_buffers, generate_caches,
    generate_levels, generate_queues, generate_rings, generate_structures, safety_mutant, verdicts,
};
use threadwise_testgen::sweep::programs;

use crate::engines::common::{Verdict, contradiction, decide};

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
    /// With equations for each order of positions.
    ordered: usize,
    /// With numbers of those that have come to each entry.
    levels: usize,
    /// Proofs of freedom from deadlock, and deadlocks.
    moving: usize,
    stuck: usize,
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
        self.ordered += other.ordered;
        self.levels += other.levels;
        self.moving += other.moving;
        self.stuck += other.stuck;
        self.searched += other.searched;
    }
}

/// What is asked of each program, by its seed: a way to decide it, and how often that may ask whether to stop.
type Asked = (Way, u64);

/// Makes so many programs, searches the instances of each up to some number of processes, and has the engines decide it that are given for its seed.
/// Gives what became of them, for each engine.
fn compare<const ENGINES: usize>(
    generate: fn(u64) -> String,
    count: u64,
    (up_to, states): (i64, u64),
    asked: impl Fn(u64) -> [Option<Asked>; ENGINES] + Sync,
) -> [Tally; ENGINES] {
    let tallies = generated_programs(generate, count, |seed, text, _| {
        let instances = verdicts(text, up_to, states, true)?;
        let mut tallies = [const { None }; ENGINES];
        for (tally, asked) in tallies.iter_mut().zip(asked(seed)) {
            if let Some((way, budget)) = asked {
                let found = decide(way, text, budget)?;
                *tally = Some(tally_of(&found, &instances)?);
            }
        }
        Ok(tallies)
    });
    let mut total: [Tally; ENGINES] = std::array::from_fn(|_| Tally::default());
    for tallies in &tallies {
        for (total, tally) in total.iter_mut().zip(tallies) {
            tally.iter().for_each(|tally| total.add(tally));
        }
    }
    println!("{total:?}");
    total
}

/// What became of the properties of a program; an error if a search of instances contradicts it.
fn tally_of(found: &BTreeMap<String, Verdict>, instances: &[AtInstance]) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for (property, verdict) in found {
        match verdict {
            Verdict::Proved(_, how) => {
                contradiction(property, instances)?;
                tally.proved += 1;
                tally.clauses += usize::from(!how.contains("by equations about"));
                tally.pairs += usize::from(how.contains("2 processes"));
                tally.counted += usize::from(how.contains("counted"));
                tally.ordered += usize::from(how.contains("in each order of positions"));
                tally.levels += usize::from(how.contains("at each entry"));
                tally.moving += usize::from(property == "deadlock_free");
                let searched = instances.iter().filter(|at| holds(at, property));
                tally.searched += usize::from(searched.count() >= 3);
            }
            Verdict::Violated(values) => {
                let same = instances.iter().find(|at| at.values == *values);
                if same.is_some_and(|at| holds(at, property)) {
                    return Err(format!("{property} holds at {values:?}"));
                }
                tally.violated += 1;
                tally.stuck += usize::from(property == "deadlock_free");
            }
            Verdict::Unknown(_) => {
                tally.unknown += 1;
                tally.missed += usize::from(contradiction(property, instances).is_err());
            }
        }
    }
    Ok(tally)
}

fn holds(at: &AtInstance, property: &str) -> bool {
    at.truths.get(property) == Some(&Truth::Holds)
}

/// How many programs.
const PROGRAMS: u64 = 300;

/// One search of its instances for each program, and every engine: `counter` always, the others on some.
#[test]
fn proofs_agree_with_search_on_random_programs() {
    let count = programs(PROGRAMS);
    let [counter, generalise, cegar, cubes] = compare(generate, count, (5, 3_000), |seed| {
        let some = |every, asked| seed.is_multiple_of(every).then_some(asked);
        [
            Some((Way::Counter(Method::default()), 2_000)),
            some(4, (Way::Generalise, 2_000)),
            some(6, (Way::Counter(Method::Cegar), 1_500)),
            some(2, (Way::Cubes, 2_000)),
        ]
    });
    // So many of each thousand programs.
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = counter.proved >= of(1_500)
        && counter.violated >= of(400)
        && counter.unknown <= of(900)
        && counter.clauses >= of(100)
        && counter.pairs >= of(15)
        && counter.moving >= of(200)
        && counter.stuck >= of(50)
        && counter.searched >= of(1_400);
    assert!(exercised, "counter: {counter:?}");
    let exercised = generalise.proved >= of(300)
        && generalise.violated >= of(50)
        && generalise.searched >= of(280);
    assert!(exercised, "generalise: {generalise:?}");
    assert!(cegar.proved >= of(100), "cegar: {cegar:?}");
    let exercised =
        cubes.proved >= of(300) && cubes.violated >= of(100) && cubes.searched >= of(280);
    assert!(exercised, "cubes: {cubes:?}");
}

/// Steps that write for everybody.
#[test]
fn proofs_agree_with_search_on_random_caches() {
    let count = programs(100);
    let [counter, generalise] = compare(generate_caches, count, (5, 3_000), |seed| {
        let some = |every, asked| (seed % 3 == every).then_some(asked);
        [
            some(0, (Way::Counter(Method::default()), 2_000)),
            some(1, (Way::Generalise, 2_000)),
        ]
    });
    let of = |thousand: usize| thousand * count as usize / 1_000;
    for (engine, tally) in [("counter", counter), ("generalise", generalise)] {
        let exercised = tally.proved >= of(600)
            && tally.violated >= of(400)
            && tally.unknown <= of(300)
            && tally.clauses >= of(200)
            && tally.pairs >= of(50)
            && tally.searched >= of(600);
        assert!(exercised, "{engine}: {tally:?}");
    }
}

/// An engine for each program, in turns.
fn in_turns(seed: u64, budget: u64) -> [Option<Asked>; 3] {
    let ways = [Way::COUNTER, Way::Generalise, Way::Cubes];
    let mut turn = 0;
    ways.map(|way| {
        turn += 1;
        (seed % 3 + 1 == turn).then_some((way, budget))
    })
}

fn sum(tallies: &[Tally]) -> Tally {
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.add(tally));
    total
}

/// Pointers, rings, and arrays whose size is a parameter.
#[test]
fn proofs_agree_with_search_on_random_structures() {
    let count = programs(90);
    let tallies = compare(generate_structures, count, (5, 3_000), |seed| {
        in_turns(seed, 1_000)
    });
    let total = sum(&tallies);
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = total.proved >= of(1_000) && total.violated >= of(1_000);
    assert!(exercised, "{total:?}");
}

/// What the library and the tests have, with small changes.
#[test]
fn proofs_agree_with_search_on_changed_programs() {
    let count = programs(60);
    let tallies = compare(safety_mutant, count, (5, 3_000), |seed| {
        in_turns(seed, 1_000)
    });
    let total = sum(&tallies);
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = total.proved >= of(700) && total.violated >= of(400);
    assert!(exercised, "{total:?}");
}

/// Neighbours, and pointers to them.
#[test]
fn proofs_agree_with_search_on_random_rings() {
    let count = programs(150);
    let [cubes] = compare(generate_rings, count, (5, 3_000), |_| {
        [Some((Way::Cubes, 2_000))]
    });
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = cubes.proved >= of(800)
        && cubes.violated >= of(800)
        && cubes.unknown <= of(2_000)
        && cubes.searched >= of(700);
    assert!(exercised, "{cubes:?}");
}

/// Who came first.
#[test]
fn proofs_agree_with_search_on_random_queues() {
    let count = programs(100);
    let [cubes] = compare(generate_queues, count, (5, 3_000), |_| {
        [Some((Way::Cubes, 1_000))]
    });
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised =
        cubes.proved >= of(300) && cubes.violated >= of(300) && cubes.searched >= of(250);
    assert!(exercised, "{cubes:?}");
}

/// Arrays whose size is a parameter.
#[test]
fn proofs_agree_with_search_on_random_arrays() {
    let count = programs(100);
    let [counter, cubes] = compare(generate_arrays, count, (5, 3_000), |seed| {
        let some = |every, asked| (seed % 3 == every).then_some(asked);
        [
            Some((Way::Counter(Method::default()), 1_000)),
            some(1, (Way::Cubes, 1_000)),
        ]
    });
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = counter.proved >= of(500)
        && counter.violated >= of(1_000)
        && counter.clauses >= of(20)
        && counter.searched >= of(1_000);
    assert!(exercised, "counter: {counter:?}");
    assert!(cubes.violated >= of(100), "cubes: {cubes:?}");
}

/// Rings of places, where the order of positions decides which equations hold.
#[test]
fn proofs_agree_with_search_on_random_buffers() {
    let count = programs(30);
    let [counter] = compare(generate_buffers, count, (4, 3_000), |_| {
        [Some((Way::Counter(Method::default()), 12_000))]
    });
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = counter.proved >= of(900)
        && counter.ordered >= of(250)
        && counter.violated >= of(250)
        && counter.searched >= of(900);
    assert!(exercised, "{counter:?}");
}

/// Levels, of which it is counted how many have come there.
#[test]
fn proofs_agree_with_search_on_random_levels() {
    let count = programs(30);
    let [counter] = compare(generate_levels, count, (5, 3_000), |_| {
        [Some((Way::Counter(Method::default()), 25_000))]
    });
    let of = |thousand: usize| thousand * count as usize / 1_000;
    let exercised = counter.proved >= of(500)
        && counter.levels >= of(60)
        && counter.violated >= of(500)
        && counter.searched >= of(400);
    assert!(exercised, "{counter:?}");
}

/// The same on a larger scale: `cargo test --release -p threadwise-param --test all -- --ignored engines::random`.
#[test]
#[ignore = "on a larger scale"]
fn proofs_agree_with_search_on_many_random_programs() {
    let ways = [Way::Counter(Method::default()), Way::Generalise, Way::Cubes];
    let totals = compare(generate, 20_000, (8, 100_000), |_| {
        ways.map(|way| Some((way, 20_000)))
    });
    for total in totals {
        assert!(total.proved > 10_000, "{total:?}");
    }
}
