//! Split invariants: against the explicit engine, and the figures of the literature.

use crate::agree::common::{
    Engines, QUICK, Runs, SINGLED_OUT, WITHOUT_PROCESSES, effort, models_up_to, outcome, the_given,
    the_library, the_library_up_to,
};
use threadwise_safety::{Errors, Form, How, Predicates, Split};

fn engines() -> Engines {
    vec![
        ("split", Box::new(Split::default())),
        (
            "split, everybody, in parts",
            Box::new(Split {
                how: How {
                    symmetry: false,
                    form: Form::Parts,
                    ..How::default()
                },
                ..Split::default()
            }),
        ),
    ]
}

/// The other ways to look for errors and for what tells them from other states.
fn variants() -> Engines {
    let stages = Split {
        errors: Errors::Stages,
        ..Split::default()
    };
    let states = Split {
        how: How {
            predicates: Predicates::States,
            ..How::default()
        },
        ..Split::default()
    };
    let paths = Split {
        how: How {
            predicates: Predicates::Paths,
            ..How::default()
        },
        ..Split::default()
    };
    let one = Split {
        how: How {
            symmetry: false,
            predicates: Predicates::One,
            ..How::default()
        },
        ..Split::default()
    };
    let witnesses = Split {
        how: How {
            witnesses: true,
            ..How::default()
        },
        ..Split::default()
    };
    let together = Split {
        how: How {
            symmetry: false,
            predicates: Predicates::States,
            witnesses: true,
            ..How::default()
        },
        errors: Errors::Stages,
    };
    vec![
        ("split, stages", Box::new(stages)),
        ("split, states", Box::new(states)),
        ("split, paths", Box::new(paths)),
        ("split, one", Box::new(one)),
        ("split, witnesses", Box::new(witnesses)),
        ("split, all that is different", Box::new(together)),
    ]
}

/// For a random program: the first always, the other on some.
pub fn for_random(seed: u64) -> Engines {
    let mut engines = engines();
    engines.truncate(if seed.is_multiple_of(4) { 2 } else { 1 });
    engines
}

/// One of the variants for a random program.
pub fn variant_for_random(seed: u64) -> Engines {
    let mut variants = variants();
    let place = seed as usize % variants.len();
    vec![variants.swap_remove(place)]
}

#[test]
fn programs_that_single_out_one_thing_agree() {
    let all = || engines().into_iter().chain(variants()).collect();
    the_given(SINGLED_OUT, all, Runs::Any);
}

#[test]
fn quick_models_agree() {
    models_up_to(
        4,
        |model| QUICK.contains(&model),
        || {
            engines()
                .into_iter()
                .chain(variants().into_iter().take(4))
                .collect()
        },
        Runs::Any,
    );
}

#[test]
fn variants_agree_on_the_library() {
    let (instances, all) = the_library_up_to(2, variants, Runs::Any);
    assert!(instances >= 25, "{instances} instances");
    assert!(all.proved >= 300 && all.violated >= 40, "{all:?}");
    assert!(all.refined >= 200, "{all:?}");
    // Witnesses of locations at which there are several grow large on the way to being given up.
    let without_witnesses = || variants().into_iter().take(4).collect();
    let (instances, all) = the_library_up_to(3, without_witnesses, Runs::Any);
    assert!(instances >= 50, "{instances} instances");
    assert!(all.proved >= 450 && all.violated >= 50, "{all:?}");
    assert!(all.refined >= 300, "{all:?}");
}

#[test]
fn variants_agree_without_processes() {
    the_given(WITHOUT_PROCESSES, variants, Runs::Any);
    the_given(WITHOUT_PROCESSES, engines, Runs::Any);
}

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library(engines, Runs::Any);
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 200 && all.violated >= 20, "{all:?}");
    assert!(all.refined >= 100, "{all:?}");
}

/// Cohen and Namjoshi, Tables 1 to 6: with errors looked for at the fixpoint, one refinement exposes what takes
/// two with errors looked for at every stage.
#[test]
fn published_figures() {
    for symmetry in [true, false] {
        let engine = Split {
            how: How {
                symmetry,
                ..How::default()
            },
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

/// The same tables with errors looked for at every stage, as in the paper.
#[test]
fn published_figures_of_stages() {
    for symmetry in [true, false] {
        let engine = Split {
            how: How {
                symmetry,
                ..How::default()
            },
            errors: Errors::Stages,
        };
        for n in [2, 5, 9] {
            let effort = |model, params: &[(&str, i64)]| effort(&engine, model, params, "mutex");
            let predicates = n as u64;
            assert_eq!(effort("mux_sem", &[("N", n)]), (2, 2 * predicates));
            assert_eq!(effort("mux_sem_short", &[("N", n)]), (1, predicates));
            assert_eq!(effort("mux_sem_last", &[("N", n)]), (0, 0));
            let count = effort("mux_sem_count", &[("N", n), ("M", 10)]);
            assert_eq!(count, (2, 2 * predicates));
        }
    }
}

/// What is exposed of all but one process may suffice: SPLIT in Meng et al., Tables 1 and 3, and Cohen and Namjoshi, Table 7 at N=2 and N=6.
#[test]
fn published_figures_of_single_processes() {
    let engine = |predicates, errors| Split {
        how: How {
            symmetry: false,
            predicates,
            ..How::default()
        },
        errors,
    };
    let one = engine(Predicates::One, Errors::Fixpoint);
    let one_by_stages = engine(Predicates::One, Errors::Stages);
    let states = engine(Predicates::States, Errors::Fixpoint);
    for n in [2, 5, 9] {
        let predicates = 2 * n as u64 - 2;
        let params = [("N", n), ("M", 10)];
        let effort = |engine, model, params: &[_]| effort(engine, model, params, "mutex");
        assert_eq!(effort(&one, "mux_sem", &params[..1]), (1, predicates));
        if n < 9 {
            assert_eq!(effort(&one, "mux_sem_count", &params), (1, predicates));
        }
        let by_stages = effort(&one_by_stages, "mux_sem", &params[..1]);
        assert_eq!(by_stages, (2, predicates));
    }
    for n in [2, 6, 10] {
        let effort = effort(&states, "test_and_set", &[("N", n)], "mutex");
        assert_eq!(effort, (2, 4 * n as u64 - 2), "N={n}");
    }
}

/// Two facts of each philosopher are enough for assertions that relate what is hidden of one to those about the others.
#[test]
fn two_facts_suffice_for_each_philosopher() {
    for errors in [Errors::Fixpoint, Errors::Stages] {
        let engine = Split {
            errors,
            ..Split::default()
        };
        for n in [3, 4, 5, 8] {
            let (_, predicates) = effort(&engine, "dining", &[("N", n)], "neighbours");
            assert_eq!(predicates, 2 * n as u64, "N={n}, {errors:?}");
        }
    }
}

/// Once the sharp form is known to take less than the factored one, it comes first: the factored form takes 1.3 million nodes when the second fact is exposed.
#[test]
fn the_sharp_form_comes_first_where_it_takes_less() {
    let outcome = outcome(&Split::default(), "dining", &[("N", 12)], "neighbours");
    let nodes = outcome.stats.peak_nodes.expect("counted");
    assert!(nodes < 600_000, "{nodes} nodes");
}

/// A variable that names the process at a label does for any number of processes.
#[test]
fn witnesses_do_not_grow_with_the_processes() {
    let engine = Split {
        how: How {
            witnesses: true,
            ..How::default()
        },
        ..Split::default()
    };
    for n in [2, 5, 9] {
        let effort = |model, params: &[(&str, i64)]| effort(&engine, model, params, "mutex");
        assert_eq!(effort("mux_sem", &[("N", n)]), (1, 2));
        assert_eq!(effort("mux_sem_short", &[("N", n)]), (1, 1));
        assert_eq!(effort("mux_sem_count", &[("N", n), ("M", 10)]), (1, 2));
    }
}
