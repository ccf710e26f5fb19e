//! Thread-modular checking: against the explicit engine, and the figures of the literature.

use crate::common::{
    Engines, QUICK, Runs, SINGLED_OUT, effort, models_up_to, outcome, random_ones_refined_by,
    the_given,
};
use threadwise_engine::Answer;
use threadwise_safety::{Form, Predicates, ThreadModular, ThreadModularRefined};

/// Models in which each process has to know nearly everything of the others: these take long from three processes on.
const HARD: [&str; 3] = ["szymanski", "mcs_lock", "wrong_bakery"];

fn engines() -> Engines {
    vec![
        (
            "thread-modular-refined",
            Box::new(ThreadModularRefined::default()),
        ),
        ("thread-modular", Box::new(ThreadModular::default())),
        (
            "thread-modular-refined, everybody, state by state, in parts",
            Box::new(ThreadModularRefined {
                symmetry: false,
                form: Form::Parts,
                predicates: Predicates::States,
                ..ThreadModularRefined::default()
            }),
        ),
        (
            "thread-modular, everybody, in parts",
            Box::new(ThreadModular {
                symmetry: false,
                form: Form::Parts,
                ..ThreadModular::default()
            }),
        ),
    ]
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
    let engines = || {
        let mut engines = engines();
        engines.truncate(2);
        engines
    };
    let hard = |model: &str| HARD.iter().any(|hard| model.contains(hard));
    let (some, mut all) = models_up_to(5, |model| !hard(model), engines, Runs::Any);
    let (others, more) = models_up_to(2, hard, engines, Runs::Any);
    all += more;
    let instances = some + others;
    assert!(instances >= 60, "{instances} instances");
    assert!(all.proved >= 250 && all.violated >= 20, "{all:?}");
    assert!(all.refined >= 80 && all.open >= 80, "{all:?}");
}

#[test]
fn random_programs_agree() {
    random_ones_refined_by(|seed| {
        let mut engines = engines();
        let more = (seed % 16) as usize;
        if (1..engines.len()).contains(&more) {
            engines.swap(1, more);
            engines.truncate(2);
        } else {
            engines.truncate(1);
        }
        engines
    });
}

/// Meng et al., Tables 1 to 5: without refinement there is a proof for bakery alone.
#[test]
fn guarantees_suffice_for_bakery_alone() {
    for symmetry in [true, false] {
        let engine = ThreadModular {
            symmetry,
            ..ThreadModular::default()
        };
        for n in [2, 3, 5] {
            for (model, property) in [
                ("mux_sem", "mutex"),
                ("mux_sem_last", "mutex"),
                ("mux_sem_count", "mutex"),
                ("dining", "neighbours"),
            ] {
                let outcome = outcome(&engine, model, &[("N", n)], property);
                let [Answer::Unknown(reason)] = &outcome.answers[..] else {
                    panic!("{model}: {:?}", outcome.answers);
                };
                assert_eq!(reason.code, "guarantees-too-weak", "{model}");
                let next = reason.next.as_deref().unwrap_or_default();
                assert!(next.contains("thread-modular-refined"), "{next}");
            }
            let outcome = outcome(&engine, "bakery", &[("N", n)], "mutex");
            assert!(matches!(outcome.answers[..], [Answer::Proved(Some(_))]));
        }
    }
}

/// The same tables with refinement.
#[test]
fn published_figures() {
    for symmetry in [true, false] {
        let engine = ThreadModularRefined {
            symmetry,
            ..ThreadModularRefined::default()
        };
        for n in [2, 5, 9] {
            let effort = |model, params: &[(&str, i64)]| effort(&engine, model, params, "mutex");
            let predicates = 2 * n as u64;
            assert_eq!(effort("mux_sem", &[("N", n)]), (1, predicates));
            assert_eq!(effort("mux_sem_last", &[("N", n)]), (1, predicates));
            let count = effort("mux_sem_count", &[("N", n), ("M", 10)]);
            assert_eq!(count, (1, predicates));
        }
        for n in [2, 3, 4] {
            assert_eq!(effort(&engine, "bakery", &[("N", n)], "mutex"), (0, 0));
        }
        // The paper counts every change of what is exposed or of the errors: 3 for dining.
        for n in [3, 4, 6, 8] {
            let effort = effort(&engine, "dining", &[("N", n)], "neighbours");
            assert_eq!(effort, (2, 2 * n as u64), "N={n}");
            let outcome = outcome(&engine, "dining", &[("N", n)], "neighbours");
            assert_eq!(outcome.accounts[0].extensions, Some(1), "N={n}");
        }
    }
}
