//! Split invariants: against the explicit engine, and the figures of the literature.

use crate::common::{Engines, Runs, effort, random_ones_refined, the_library};
use threadwise_safety::{Form, Split};

fn engines() -> Engines {
    vec![
        ("split", Box::new(Split::default())),
        (
            "split, everybody, in parts",
            Box::new(Split {
                symmetry: false,
                form: Form::Parts,
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
    random_ones_refined(engines);
}

/// Cohen and Namjoshi, Tables 1 to 6: with errors looked for at the fixpoint, one refinement exposes what takes
/// two with errors looked for at every stage.
#[test]
fn published_figures() {
    for symmetry in [true, false] {
        let engine = Split {
            symmetry,
            ..Split::default()
        };
        for n in [2, 5, 9] {
            let effort = |model, params: &[(&str, i64)]| effort(&engine, model, params, "mutex");
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
            for model in ["bakery", "peterson"] {
                let effort = effort(&engine, model, &[("N", n)], "mutex");
                assert_eq!(effort, (0, 0), "{model}");
            }
        }
    }
}
