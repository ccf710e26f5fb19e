//! Split invariants: against the explicit engine, and the figures of the literature.

use crate::common::{Engines, Runs, random_ones, the_library};
use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_model::lower::lower;
use threadwise_safety::Split;
use threadwise_testgen::{instance, library};

/// Programs that are generated.
const SEEDS: u64 = 5_300;

fn engines() -> Engines {
    vec![
        ("split", Box::new(Split::default())),
        (
            "split, everybody",
            Box::new(Split {
                symmetry: false,
                ..Split::default()
            }),
        ),
    ]
}

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library(engines, Runs::Any);
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 200 && all.violated >= 20, "{all:?}");
    assert!(all.refined >= 100, "{all:?}");
}

#[test]
fn random_programs_agree() {
    let (refined, programs, _) = random_ones(SEEDS, Runs::Any, |seed| {
        // With symmetry always, without on some.
        let mut engines = engines();
        engines.truncate(if seed.is_multiple_of(4) { 2 } else { 1 });
        engines
    });
    assert!(refined * 5 >= programs, "{refined} of {programs}");
}

/// Refinements and predicates that a proof of a library model takes.
fn effort(model: &str, params: &[(&str, i64)], property: &str, symmetry: bool) -> (u64, u64) {
    let (_, text) = library()
        .into_iter()
        .find(|(name, _)| name == model)
        .expect("a model of the library");
    let instance = instance(&text, params).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let properties: Vec<_> = system
        .properties
        .iter()
        .filter(|known| known.name == property)
        .collect();
    let outcome = Split {
        symmetry,
        ..Split::default()
    }
    .check_all(&system, &properties, &Limits::NONE, &mut Silent);
    assert!(
        matches!(outcome.answers[..], [Answer::Proved(_)]),
        "{model}: {:?}",
        outcome.answers
    );
    let account = &outcome.accounts[0];
    (
        account.refinements.expect("counted"),
        account.predicates.expect("counted"),
    )
}

/// Cohen and Namjoshi, Tables 1 to 6: with errors looked for at the fixpoint, one refinement exposes what takes
/// two with errors looked for at every stage.
#[test]
fn published_figures() {
    for symmetry in [true, false] {
        for n in [2, 5, 9] {
            let effort = |model, params: &[(&str, i64)]| effort(model, params, "mutex", symmetry);
            let predicates = n as u64;
            assert_eq!(effort("mux_sem", &[("N", n)]), (1, 2 * predicates));
            assert_eq!(effort("mux_sem_short", &[("N", n)]), (1, predicates));
            assert_eq!(effort("mux_sem_last", &[("N", n)]), (0, 0));
            assert_eq!(
                effort("mux_sem_count", &[("N", n), ("M", 10)]),
                (1, 2 * predicates)
            );
        }
        for n in [2, 3, 4] {
            assert_eq!(effort("bakery", &[("N", n)], "mutex", symmetry), (0, 0));
            assert_eq!(effort("peterson", &[("N", n)], "mutex", symmetry), (0, 0));
        }
    }
}
