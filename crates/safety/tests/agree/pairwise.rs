//! Pairwise split invariants: against the explicit engine, and the figures of the literature.

use crate::agree::common::{
    Engines, QUICK, Runs, SINGLED_OUT, effort, models_up_to, the_given, the_library,
};
use threadwise_safety::{Form, How, Pairwise};

fn engines() -> Engines {
    vec![
        ("pairwise", Box::new(Pairwise::default())),
        (
            "pairwise, every pair, in parts",
            Box::new(Pairwise(How {
                symmetry: false,
                form: Form::Parts,
                ..How::default()
            })),
        ),
    ]
}

/// For a random program: the first always, the other on some.
pub fn for_random(seed: u64) -> Engines {
    let mut engines = engines();
    engines.truncate(if seed.is_multiple_of(4) { 2 } else { 1 });
    engines
}

#[test]
fn programs_that_single_out_one_thing_agree() {
    the_given(SINGLED_OUT, engines, Runs::Any);
}

#[test]
fn quick_models_agree() {
    models_up_to(4, |model| QUICK.contains(&model), engines, Runs::Any);
}

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library(engines, Runs::Any);
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 200 && all.violated >= 20, "{all:?}");
    assert!(all.refined >= 50, "{all:?}");
}

/// Cohen and Namjoshi, Tables 1 to 7: pairs need nothing to be exposed.
#[test]
fn published_figures() {
    for symmetry in [true, false] {
        let engine = Pairwise(How {
            symmetry,
            ..How::default()
        });
        for model in ["mux_sem", "mux_sem_short", "mux_sem_last", "test_and_set"] {
            for n in [2, 3, 9, 30] {
                let effort = effort(&engine, model, &[("N", n)], "mutex");
                assert_eq!(effort, (0, 0), "{model}, N={n}");
            }
        }
        for n in [2, 3, 9] {
            let params = [("N", n), ("M", 10)];
            assert_eq!(effort(&engine, "mux_sem_count", &params, "mutex"), (0, 0));
        }
        for model in ["bakery", "peterson"] {
            for n in [2, 3] {
                let effort = effort(&engine, model, &[("N", n)], "mutex");
                assert_eq!(effort, (0, 0), "{model}, N={n}");
            }
        }
    }
}
