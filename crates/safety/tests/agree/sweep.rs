//! Random programs: each is made once and explored once by the explicit engine, and then every engine is asked about it. What the programs exercise is
//! printed and asserted.

use crate::agree::common::{Count, Engines, Runs, compare, oracle};
use crate::agree::{cartesian, monolithic, pairwise, split, thread_modular};
use threadwise_engine::Answer;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_testgen::coverage::{Quality, Sample};
use threadwise_testgen::random_programs;
use threadwise_testgen::sweep::programs;

/// Programs that are generated.
const SEEDS: u64 = 2_000;
/// Of so many generated programs one is compared at least.
const COMPARED: u64 = 3;
/// Programs with fewer states are compared, but do not count.
const SMALL: u64 = 20;

/// Engines that are asked about each program, by its seed.
struct Group {
    name: &'static str,
    runs: Runs,
    /// Whether a fifth of the programs must need a refinement.
    refines: bool,
    engines: fn(u64) -> Engines,
}

const GROUPS: [Group; 6] = [
    Group {
        name: "monolithic",
        runs: Runs::Shortest,
        refines: false,
        engines: monolithic::for_random,
    },
    refining("pairwise", pairwise::for_random),
    refining("split", split::for_random),
    refining("split, variants", split::variant_for_random),
    refining("cartesian", cartesian::for_random),
    refining("thread-modular", thread_modular::for_random),
];

const fn refining(name: &'static str, engines: fn(u64) -> Engines) -> Group {
    Group {
        name,
        runs: Runs::Any,
        refines: true,
        engines,
    }
}

/// What became of a program.
enum Fate {
    /// Processes are started, which these engines do not take, and say so.
    Dynamic,
    /// Too large for the oracle.
    Large,
    /// With the answers of each group, unless the program is too small or not finite, so that it does not count.
    Compared(Box<[Count; GROUPS.len()]>, Option<Sample>),
}

fn program(seed: u64, instance: &Instance) -> Result<Fate, String> {
    let system = lower(instance, 3).map_err(|errors| format!("{errors:?}"))?;
    if system.templates.iter().any(|template| template.dynamic) {
        let mut engines = GROUPS.iter().flat_map(|group| (group.engines)(seed));
        let refused = engines.all(|(_, engine)| {
            let accepted = engine.accepts(&system, &system.properties[0]);
            accepted.is_err()
        });
        return refused
            .then_some(Fate::Dynamic)
            .ok_or_else(|| "accepted".to_owned());
    }
    let oracle = oracle(&system);
    if !oracle.complete {
        return Ok(Fate::Large);
    }
    let mut counts = [Count::default(); GROUPS.len()];
    for (count, group) in counts.iter_mut().zip(&GROUPS) {
        let subject = (instance, &system);
        *count = compare(subject, &oracle, group.runs, (group.engines)(seed))?;
    }
    let states = oracle.stats.states.unwrap_or(0);
    let supported = counts.iter().all(|count| count.unsupported == 0);
    let mut answers = oracle.answers.iter();
    let violated = answers.any(|answer| matches!(answer, Answer::Violated(_)));
    let sample =
        (states >= SMALL && supported).then(|| Sample::new(instance, &system, states, violated));
    Ok(Fate::Compared(Box::new(counts), sample))
}

#[test]
fn all_engines_agree_on_random_programs() {
    let seeds = programs(SEEDS);
    let (mut dynamic, mut large, mut small) = (0, 0, 0);
    let mut all = [Count::default(); GROUPS.len()];
    let mut refined = [0; GROUPS.len()];
    let mut samples = Vec::new();
    for fate in random_programs(seeds, |seed, _, instance| program(seed, instance)) {
        match fate {
            Fate::Dynamic => dynamic += 1,
            Fate::Large => large += 1,
            Fate::Compared(counts, sample) => {
                for ((all, refined), count) in all.iter_mut().zip(&mut refined).zip(*counts) {
                    *refined += usize::from(sample.is_some() && count.refined > 0);
                    *all += count;
                }
                small += usize::from(sample.is_none());
                samples.extend(sample);
            }
        }
    }
    println!(
        "not counted: {dynamic} dynamic and {large} large ones, and {small} small or not finite \
         ones that were compared too"
    );
    let quality = Quality::of(samples);
    // Both are about processes that are started.
    quality.assert(&["start", "dynamic"]);
    let programs = quality.programs();
    assert!(programs as u64 * COMPARED >= seeds, "{programs} compared");
    for ((group, all), refined) in GROUPS.iter().zip(all).zip(refined) {
        let name = group.name;
        println!("{name}: {all:?}, {refined} programs refined");
        assert!(all.unsupported * 4 < all.proved + all.violated, "{name}");
        assert_eq!(all.certified + all.uncertified, all.proved, "{name}");
        assert_eq!(all.refused, 0, "{name}");
        assert!(!group.refines || refined * 5 >= programs, "{name}");
    }
}
