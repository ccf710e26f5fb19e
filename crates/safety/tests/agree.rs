//! The symbolic engines against the explicit one: verdicts, numbers of states, lengths of runs. Every proof is accepted by
//! the independent checker, and every run is replayed by the interpreter.

use threadwise_engine::{Answer, Engine, Explicit, Limits, Outcome, Silent};
use threadwise_evidence::certificate::builder;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty, SystemPropertyKind};
use threadwise_safety::{Backward, Forward};
use threadwise_testgen::coverage::{Quality, Sample};
use threadwise_testgen::{instance, library, random_programs};

/// Programs that are generated.
const SEEDS: u64 = 5_300;
/// Programs that are compared at least.
const PROGRAMS: usize = 2_000;
/// Programs with fewer states are compared, but do not count.
const SMALL: u64 = 20;
/// The engine that works in layers.
const LAYERS: &str = "forward, breadth first";
/// How the names of engines end that look for a better order in every round.
const SIFTING: &str = "always sifting";
/// Larger ones are left out.
const STATES: u64 = 60_000;
/// Proofs of random programs with more states are not checked: that would take longer than all else.
const CERTIFIED: u64 = 400;

fn safety(system: &System) -> Vec<&SystemProperty> {
    system
        .properties
        .iter()
        .filter(|property| !matches!(property.kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

fn engines() -> Vec<(&'static str, Box<dyn Engine>)> {
    vec![
        ("forward", Box::new(Forward::default())),
        (
            LAYERS,
            Box::new(Forward {
                breadth_first: true,
                ..Forward::default()
            }),
        ),
        ("backward", Box::new(Backward::default())),
        (
            "forward, always sifting",
            Box::new(Forward {
                sift_at: 1,
                ..Forward::default()
            }),
        ),
        (
            "backward, always sifting",
            Box::new(Backward { sift_at: 1 }),
        ),
    ]
}

/// How the engines answered about a program, and what became of their evidence.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    proved: usize,
    violated: usize,
    /// Not finite, or beyond 64 bits: the engines say so.
    unsupported: usize,
    /// Proofs that the checker accepted.
    certified: usize,
    /// Proofs of programs whose types are not finite.
    uncertified: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.proved += other.proved;
        self.violated += other.violated;
        self.unsupported += other.unsupported;
        self.certified += other.certified;
        self.uncertified += other.uncertified;
    }
}

/// Compares engines with the oracle's outcome, and has their evidence checked, proofs of programs with at most so many
/// states only.
fn compare(
    (instance, text, system): (&Instance, &str, &System),
    oracle: &Outcome,
    certified: u64,
    engines: impl IntoIterator<Item = (&'static str, Box<dyn Engine>)>,
) -> Result<Count, String> {
    let properties = safety(system);
    let mut count = Count::default();
    for (name, engine) in engines {
        let outcome = engine.check_all(system, &properties, &Limits::NONE, &mut Silent);
        let mut proofs = Vec::new();
        for ((property, expected), found) in
            properties.iter().zip(&oracle.answers).zip(&outcome.answers)
        {
            let place = format!("{name}, {}", property.name);
            match (expected, found) {
                (Answer::Proved(_), Answer::Proved(proof)) => {
                    count.proved += 1;
                    match proof {
                        Some(proof) => proofs.push((proof, property.name.as_str())),
                        // A variable without a finite type cannot be part of a certificate.
                        None if builder(system).is_none() => count.uncertified += 1,
                        None => return Err(format!("{place}: no certificate")),
                    }
                }
                (Answer::Violated(shortest), Answer::Violated(run)) => {
                    run.record(instance, text, system, &property.name)
                        .map_err(|error| format!("{place}: {error}"))?;
                    if run.steps.len() != shortest.steps.len() {
                        return Err(format!(
                            "{place}: {} steps, the shortest run has {}",
                            run.steps.len(),
                            shortest.steps.len()
                        ));
                    }
                    count.violated += 1;
                }
                (_, Answer::Unknown(reason))
                    if matches!(reason.code.as_str(), "unsupported" | "overflow") =>
                {
                    count.unsupported += 1;
                }
                (expected, found) => {
                    return Err(format!("{place}: expected {expected:?}, found {found:?}"));
                }
            }
        }
        if outcome.complete && outcome.stats.states != oracle.stats.states {
            return Err(format!(
                "{name}: {:?} states, the oracle has {:?}",
                outcome.stats.states, oracle.stats.states
            ));
        }
        if oracle.stats.states.is_some_and(|states| states > certified) {
            continue;
        }
        let checked = threadwise_certify::check_all(instance, &proofs, &|| false);
        for ((_, property), answer) in proofs.iter().zip(checked) {
            match answer {
                Ok(_) => count.certified += 1,
                Err(error) => return Err(format!("{name}, {property}: {error}")),
            }
        }
    }
    Ok(count)
}

fn oracle(system: &System) -> Outcome {
    let limits = Limits {
        states: Some(STATES),
        ..Limits::NONE
    };
    Explicit::default().check_all(system, &safety(system), &limits, &mut Silent)
}

#[test]
fn the_library_agrees() {
    let mut instances = 0;
    let mut all = Count::default();
    for (name, text) in library() {
        for n in 2..=5 {
            let Ok(instance) = instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 3).expect("small enough");
            let oracle = oracle(&system);
            if !oracle.complete {
                continue;
            }
            match compare((&instance, &text, &system), &oracle, STATES, engines()) {
                Ok(count) => {
                    instances += usize::from(count.unsupported == 0);
                    all += count;
                }
                Err(error) => panic!("{name} N={n}: {error}"),
            }
        }
    }
    println!("{instances} instances, {all:?}");
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 300 && all.violated >= 30, "{all:?}");
    assert_eq!(all.certified, all.proved, "{all:?}");
}

/// What became of a random program.
enum Fate {
    /// Processes are started, which these engines do not take, and say so.
    Dynamic,
    /// Too large for the oracle.
    Large,
    Compared(Count, Sample),
    /// Compared, but too small to count.
    Small(Count),
}

fn random_program(seed: u64, text: &str, instance: &Instance) -> Result<Fate, String> {
    let system = lower(instance, 3).map_err(|errors| format!("{errors:?}"))?;
    if system.templates.iter().any(|template| template.dynamic) {
        let refused = engines()
            .iter()
            .all(|(_, engine)| engine.accepts(&system, &system.properties[0]).is_err());
        return refused
            .then_some(Fate::Dynamic)
            .ok_or_else(|| "accepted".to_owned());
    }
    let oracle = oracle(&system);
    if !oracle.complete {
        return Ok(Fate::Large);
    }
    // The slow ones: layers only on the library, sifting all the time on some.
    let engines = engines().into_iter().filter(|(name, _)| {
        *name != LAYERS && (!name.ends_with(SIFTING) || seed.is_multiple_of(8))
    });
    let count = compare((instance, text, &system), &oracle, CERTIFIED, engines)?;
    let states = oracle.stats.states.unwrap_or(0);
    if states < SMALL || count.unsupported > 0 {
        return Ok(Fate::Small(count));
    }
    let mut answers = oracle.answers.iter();
    let violated = answers.any(|answer| matches!(answer, Answer::Violated(_)));
    let sample = Sample::new(instance, &system, states, violated);
    Ok(Fate::Compared(count, sample))
}

#[test]
fn random_programs_agree() {
    let (mut dynamic, mut large, mut small) = (0, 0, 0);
    let mut all = Count::default();
    let mut samples = Vec::new();
    for fate in random_programs(SEEDS, |seed, text, instance| {
        random_program(seed, text, instance)
    }) {
        match fate {
            Fate::Dynamic => dynamic += 1,
            Fate::Large => large += 1,
            Fate::Small(count) => {
                small += 1;
                all += count;
            }
            Fate::Compared(count, sample) => {
                all += count;
                samples.push(sample);
            }
        }
    }
    println!("{all:?}");
    println!(
        "not counted: {dynamic} dynamic and {large} large ones, and {small} small or not finite \
         ones that were compared too"
    );
    let quality = Quality::of(samples);
    // Both are about processes that are started.
    quality.assert(&["start", "dynamic"]);
    assert!(quality.programs() >= PROGRAMS);
    assert!(all.unsupported * 4 < all.proved + all.violated, "{all:?}");
    assert!(all.certified * 3 > all.proved, "{all:?}");
}
