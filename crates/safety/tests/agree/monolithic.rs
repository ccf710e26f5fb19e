//! The monolithic engines against the explicit one.

use crate::agree::common::{Engines, Runs, the_given, the_library};
use threadwise_safety::{Backward, Forward};

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

/// For a random program: layers only on the library, sifting all the time on some.
pub fn for_random(seed: u64) -> Engines {
    let mut engines = engines();
    engines.retain(|(name, _)| {
        *name != LAYERS && (!name.ends_with(SIFTING) || seed.is_multiple_of(8))
    });
    engines
}

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library(engines, Runs::Shortest);
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 300 && all.violated >= 30, "{all:?}");
}

#[test]
fn programs_that_single_out_one_thing_agree() {
    // The only violation is what the agenda finds last, in a turn in which it becomes empty.
    let last: Vec<String> = (2..8)
        .map(|k| {
            format!(
                "shared x: 0..9 = 0; process S {{ loop {{ a: await x < {k}; x := x + 1; }} }}
                 process T {{ t: skip; }} process U {{ u: skip; }} invariant small: x < {k};"
            )
        })
        .collect();
    // Values far from the least of their type, and locations that no step leads to.
    let values =
        "shared x: 0..9 = 5; process S { loop { a: x := 11 - x; } b: skip; } invariant mid: x > 4;";
    let texts = last.iter().map(String::as_str).chain([values]);
    the_given(texts, engines, Runs::Shortest);
}
