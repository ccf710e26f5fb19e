//! Thread-modular checking: against the explicit engine, and the figures of the literature.

use crate::agree::common::{
    Engines, QUICK, Runs, SINGLED_OUT, effort, models_up_to, outcome, the_given,
};
use threadwise_certify::check_all;
use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_model::lower::lower;
use threadwise_safety::{Form, How, Predicates, ThreadModular, ThreadModularRefined};
use threadwise_testgen::instance;

/// Programs for shared variables that need not be shared, each for one mistake.
const GLOBALS: [&str; 7] = [
    // Written by all, needed by nobody; and one for each process, of which its control depends.
    "shared x: bool = true; shared steps: 0..5 = 0; shared tries: array[P] of 0..2 = 0;
     process P[i: 1..3] { loop {
        a: atomic { await x; x := false; steps := (steps + 1) % 6; }
        b: if tries[i] < 2 { tries[i] := tries[i] + 1; } else { tries[i] := 0; }
        c: x := true; } }
     invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);
     deadlock_free;",
    // A violation that takes steps by which an unneeded variable changes.
    "shared x: 0..3 = 0; shared steps: 0..6 = 0;
     process P[i: 1..2] { loop { a: x := 1; b: x, steps := min(x + 1, 3), 6 - steps; } }
     invariant small: x < 3;",
    // What is written to a needed variable is needed, from however far it comes.
    "shared x: 0..2 = 0; shared y: 0..2 = 0; shared z: 0..2 = any; shared w: 0..2 = 1;
     process P[i: 1..2] { loop { a: x := y; b: y := z; c: z := 2 - w; } }
     invariant i: x < 2;
     invariant j: z < 3;",
    // An index is needed if the cell is.
    "shared k: 0..1 = 0; shared t: array[0..1] of bool = false; shared u: array[0..1] of bool = false;
     process P[i: 1..2] { loop { a: k := 1 - k; b: t[k] := true; c: u[k] := true; } }
     invariant one: !t[1];
     invariant other: true;",
    // A property that names a process: what it needs of one, it needs of all that are alike.
    "shared seen: array[P] of 0..2 = 0; shared x: bool = true;
     process P[i: 1..3] { loop { a: await x; b: seen[i] := (seen[i] + 1) % 3; c: x := !x; } }
     invariant first: seen[1] < 3;
     invariant never: seen[2] != 2;",
    // A cell of one process, read by another.
    "shared flag: array[P] of bool = false;
     ordered process P[i: 1..2] { loop { a: flag[i] := true; b: await i == 2 || !flag[2]; c: flag[i] := false; } }
     invariant mutex: !(P[1] at c && P[2] at c);",
    // What a check depends on.
    "shared n: 0..3 = 0; shared m: 0..3 = 0;
     process P { loop { a: n := (n + 1) % 4; b: m := m + n; } }
     process Q { loop { c: skip; } }",
];

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
            Box::new(ThreadModularRefined(How {
                symmetry: false,
                form: Form::Parts,
                predicates: Predicates::States,
                globals: true,
                ..How::default()
            })),
        ),
        (
            "thread-modular, everybody, in parts",
            Box::new(ThreadModular(How {
                symmetry: false,
                form: Form::Parts,
                globals: true,
                ..How::default()
            })),
        ),
    ]
}

/// For a random program: the first always, another on some.
pub fn for_random(seed: u64) -> Engines {
    let mut engines = engines();
    let more = (seed % 16) as usize;
    if (1..engines.len()).contains(&more) {
        engines.swap(1, more);
        engines.truncate(2);
    } else {
        engines.truncate(1);
    }
    engines
}

#[test]
fn programs_that_single_out_one_thing_agree() {
    the_given(SINGLED_OUT, engines, Runs::Any);
    the_given(GLOBALS, engines, Runs::Any);
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
    assert!(all.proved >= 345 && all.violated >= 20, "{all:?}");
    assert!(all.refined >= 80 && all.open >= 80, "{all:?}");
}

/// On bakery, chaining takes 900,000 nodes.
#[test]
fn guarantees_are_closed_by_layers() {
    let engine = ThreadModular::default();
    let outcome = outcome(&engine, "bakery", &[("N", 8)], "mutex");
    let nodes = outcome.stats.peak_nodes.expect("counted");
    assert!(nodes < 500_000, "{nodes} nodes");
}

/// Meng et al., Tables 1 to 5: without refinement there is a proof for bakery alone.
#[test]
fn guarantees_suffice_for_bakery_alone() {
    for symmetry in [true, false] {
        let engine = ThreadModular(How {
            symmetry,
            globals: true,
            ..How::default()
        });
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
                assert_eq!(reason.code.as_str(), "guarantees-too-weak", "{model}");
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
        let engine = ThreadModularRefined(How {
            symmetry,
            globals: true,
            ..How::default()
        });
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

/// A semaphore among many variables that have nothing to do with it.
#[test]
fn shared_variables_that_need_not_be_shared_cost_nothing() {
    let text = "shared x: bool = true;
        shared entries: 0..15 = 0; shared turns: 0..15 = 0; shared last: 0..15 = 0;
        shared visits: array[P] of 0..3 = 0;
        process P[i: 1..4] { loop {
            idle: stay;
            request: atomic { await x; x := false; entries := (entries + 1) % 16; }
            critical: atomic { visits[i] := (visits[i] + 1) % 4; last := entries; }
            leave: atomic { x := true; turns := (turns + 3) % 16; } } }
        invariant mutex: forall i, j in P: i != j ->
            !((P[i] at critical || P[i] at leave) && (P[j] at critical || P[j] at leave));";
    let instance = instance(text, &[]).expect("an instance");
    let system = lower(&instance, 0).expect("small");
    let mutex: Vec<_> = system
        .properties
        .iter()
        .filter(|p| p.name == "mutex")
        .collect();
    for symmetry in [true, false] {
        let nodes = [true, false].map(|globals| {
            let engine = ThreadModularRefined(How {
                symmetry,
                globals,
                ..How::default()
            });
            let outcome = engine.check_all(&system, &mutex, &Limits::NONE, &mut Silent);
            let [Answer::Proved(Some(proof))] = &outcome.answers[..] else {
                panic!("{:?}", outcome.answers);
            };
            let checked = check_all(&instance, &[(proof, "mutex")], &|| false);
            assert!(checked.iter().all(Result::is_ok), "{checked:?}");
            outcome.stats.peak_nodes.expect("counted")
        });
        println!("{nodes:?} nodes without and with them");
        assert!(nodes[0] * 10 < nodes[1], "{nodes:?}");
    }
}

/// Assertions that are images of others speak of no variables but those that everybody sees, or else the facts about these are never all.
#[test]
fn outlines_say_all_of_what_everybody_sees() {
    let engine = ThreadModularRefined(How {
        explain: true,
        globals: true,
        ..How::default()
    });
    let outcome = outcome(&engine, "readers_writers", &[("N", 2)], "deadlock_free");
    let outline = outcome.accounts[0].outline.as_ref().expect("it is proved");
    assert!(outline.omitted.is_empty(), "{:?}", outline.omitted);
}
