//! The monolithic engines against the explicit one.

use crate::common::{Engines, Runs, random_ones, the_library};
use threadwise_safety::{Backward, Forward};

/// Programs that are generated.
const SEEDS: u64 = 5_300;
/// The engine that works in layers.
const LAYERS: &str = "forward, breadth first";
/// How the names of engines end that look for a better order in every round.
const SIFTING: &str = "always sifting";

fn engines() -> Engines {
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

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library(engines, Runs::Shortest);
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 300 && all.violated >= 30, "{all:?}");
}

#[test]
fn random_programs_agree() {
    random_ones(SEEDS, Runs::Shortest, |seed| {
        // The slow ones: layers only on the library, sifting all the time on some.
        let mut engines = engines();
        engines.retain(|(name, _)| {
            *name != LAYERS && (!name.ends_with(SIFTING) || seed.is_multiple_of(8))
        });
        engines
    });
}
