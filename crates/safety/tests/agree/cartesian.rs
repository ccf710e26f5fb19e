//! Cartesian abstraction with exception sets: against the explicit engine.

use crate::agree::common::{
    Engines, QUICK, Runs, SINGLED_OUT, WITHOUT_PROCESSES, models_up_to, safety, the_given,
    the_library_up_to,
};
use std::sync::atomic::{AtomicU32, Ordering};
use threadwise_engine::{Answer, Engine, Limits, Silent, Stop};
use threadwise_model::lower::lower;
use threadwise_safety::{Cartesian, Exceptions};
use threadwise_testgen::instance;

/// For a random program as for others.
pub fn for_random(_seed: u64) -> Engines {
    engines()
}

fn engines() -> Engines {
    vec![(
        "cartesian",
        Box::new(Cartesian {
            exceptions: Exceptions::Computed,
            ..Cartesian::default()
        }),
    )]
}

#[test]
fn programs_that_single_out_one_thing_agree() {
    the_given(SINGLED_OUT, engines, Runs::Any);
    the_given(WITHOUT_PROCESSES, engines, Runs::Any);
}

#[test]
fn quick_models_agree() {
    models_up_to(5, |model| QUICK.contains(&model), engines, Runs::Any);
}

#[test]
fn the_library_agrees() {
    let (instances, all) = the_library_up_to(3, engines, Runs::Any);
    assert!(instances >= 50, "{instances} instances");
    assert!(all.proved >= 150 && all.violated >= 15, "{all:?}");
    assert!(all.refined >= 50, "{all:?}");
}

/// Without all initial states nothing is proved, for the second property neither.
#[test]
fn nothing_is_proved_before_the_search_begins() {
    let text = "shared x: 0..3 = 0; process P[i: 1..2] { local k: 0..9 = any; a: x := 1; b: skip; }
        invariant zero: x == 0;
        invariant nothing: false;";
    let instance = instance(text, &[]).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let limits = Limits {
        stop: Some(&|| Some(Stop::Time)),
        ..Limits::NONE
    };
    let outcome = Cartesian::default().check_all(&system, &safety(&system), &limits, &mut Silent);
    assert_eq!(outcome.answers.len(), 3);
    for answer in outcome.answers {
        assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    }
}

/// What was decided in time is kept: the engine stops by itself, and need not be ended from outside.
#[test]
fn a_predicate_that_takes_long_is_given_up_in_time() {
    let text = "shared x: bool = false; process P[i: 1..14] { local k: 0..3 = any; loop { a: x := !x; b: skip; } }
        invariant short: x || !x;
        invariant long: (max i in P: P[i].k) < 4;";
    let instance = instance(text, &[]).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let asked = AtomicU32::new(0);
    let stop = || (asked.fetch_add(1, Ordering::Relaxed) > 2_000).then_some(Stop::Time);
    let limits = Limits {
        stop: Some(&stop),
        ..Limits::NONE
    };
    let outcome = Cartesian::default().check_all(&system, &safety(&system), &limits, &mut Silent);
    assert!(matches!(outcome.answers[1], Answer::Proved(_)));
    assert!(matches!(outcome.answers[2], Answer::Unknown(_)));
}

/// A variable that begins with any of very many values is not listed before a limit is looked at.
#[test]
fn initial_states_obey_the_memory_limit() {
    let text = "shared x: 0..2000000000 = any; process P { a: skip; } invariant ok: x >= 0;";
    let instance = instance(text, &[]).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let limits = Limits {
        memory: Some(1 << 20),
        ..Limits::NONE
    };
    let outcome = Cartesian::default().check_all(&system, &safety(&system), &limits, &mut Silent);
    for answer in outcome.answers {
        let Answer::Unknown(reason) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(reason.code.as_str(), "memory-limit");
    }
}
