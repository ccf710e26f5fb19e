//! What engines say a proof lacks: the step, whose it is, the fact that may fail, and a state in which it may.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_engine::{FamilyAnswer, FamilyEngine, Limits, Silent, Task};
use threadwise_evidence::Missing;
use threadwise_param::engine::{Prover, Ranking, Way};

/// What an engine says about a property that it cannot prove.
fn missing(engine: &dyn FamilyEngine, text: &str, property: &str) -> Missing {
    let program = Arc::new(threadwise_lang::check(text).program.expect("a program"));
    let properties = [property.to_owned()];
    let ask = || {
        let task = Task {
            program: &program,
            fixed: &BTreeMap::new(),
            properties: &properties,
            solver: None,
            limits: &Limits::NONE,
        };
        match &engine.check(&task, &mut Silent).findings[0].0 {
            FamilyAnswer::Unknown(reason) => *reason.missing.clone().expect("something is missing"),
            answer => panic!("{property}: {answer:?}"),
        }
    };
    let first = ask();
    assert_eq!(ask(), first, "it is the same each time");
    first
}

fn counter() -> Prover {
    Prover {
        bounded: true,
        ..Prover::new(Way::COUNTER)
    }
}

fn ranking() -> Ranking {
    Ranking {
        bounded: true,
        explain: false,
    }
}

/// What everybody adds to; it goes wrong with more processes than anybody looks at.
const ADD: &str = "
    param N = 2 where N >= 1;
    shared c: int = 0;
    process P[i: 1..N] { add: c := c + 1; rest: await c != 60; }
    invariant small: c <= 60;
    deadlock_free;
";

#[test]
fn an_invariant_has_the_step_that_breaks_it() {
    let missing = missing(&counter(), ADD, "small");
    assert_eq!(missing.gap, "after `add` of P[i], `small` may fail");
    let state = missing.state.unwrap();
    assert!(state.starts_with("P[i] at add, c == 60"), "{state}");
    assert!(missing.help.unwrap().contains("invariant"));
}

#[test]
fn the_step_of_somebody_else_is_told_from_ones_own() {
    let text = "
        param N = 2 where N >= 1;
        shared c: int = 0;
        process P[i: 1..N] {
            local seen: int = 0;
            look: seen := c;
            add: c := c + 1;
            rest: skip;
        }
        invariant near: forall i in P: P[i] at add -> c <= P[i].seen + 60;
    ";
    let missing = missing(&counter(), text, "near");
    assert_eq!(missing.gap, "after `add` of P[j], `near` may fail");
    let state = missing.state.unwrap();
    assert!(state.starts_with("P[i] at add, P[j] at add, "), "{state}");
    assert!(state.contains("P[i].seen == "), "{state}");
}

#[test]
fn a_check_has_the_state_in_which_it_fails() {
    let text = ADD.replace("add: c := c + 1;", "add: c := c + 1; test: assert c <= 60;");
    let missing = missing(&counter(), &text, "checks");
    assert_eq!(
        missing.gap,
        "in `test` of P[i], a check may fail: the assertion is false"
    );
    let state = missing.state.unwrap();
    assert!(state.starts_with("P[i] at test, c == 61"), "{state}");
}

#[test]
fn a_deadlock_is_the_state_without_steps() {
    let missing = missing(&counter(), ADD, "deadlock_free");
    assert_eq!(
        missing.gap,
        "nobody may have a step, though not all have ended"
    );
    let state = missing.state.unwrap();
    assert!(state.starts_with("P[i] at rest, c == 60"), "{state}");
}

#[test]
fn ids_and_mutexes_are_said_as_what_they_are() {
    let text = "
        param N = 2 where N >= 1;
        shared m: mutex;
        shared last: P? = none;
        shared c: int = 0;
        process P[i: 1..N] {
            take: lock m;
            note: last := i;
            add: c := c + 1;
            give: unlock m;
        }
        invariant small: c <= 60;
    ";
    let missing = missing(&counter(), text, "small");
    assert_eq!(missing.gap, "after `add` of P[i], `small` may fail");
    let state = missing.state.unwrap();
    assert!(
        state.starts_with("P[i] at add, P[i] holds m, last == i, c == 60"),
        "{state}"
    );
}

/// A lock for which the scheduler alone is not enough.
const LOCK: &str = "
    param N = 2 where N >= 2;
    shared free: bool = true;
    process P[i: 1..N] {
        loop {
            idle: stay;
            wait: atomic { await free; free := false; }
            inside: free := true;
        }
    }
    fairness turns: unconditional;
    liveness enters under turns: forall i in P: G (P[i] at wait -> F P[i] at inside);
    liveness idles: forall i in P: G (P[i] at inside -> F P[i] at idle);
";

#[test]
fn waiting_has_the_steps_that_are_taken_meanwhile() {
    let missing = missing(&ranking(), LOCK, "enters");
    assert_eq!(
        missing.gap,
        "P[i] may wait for ever at `wait`, while these steps are taken again and again: `idle`, `wait`, `inside` of another P"
    );
    let state = missing.state.unwrap();
    assert!(state.starts_with("P[i] at wait, "), "{state}");
    assert!(missing.help.unwrap().contains("what gets smaller"));
}

#[test]
fn who_is_not_scheduled_is_told_so() {
    let missing = missing(&ranking(), LOCK, "idles");
    assert!(
        missing
            .gap
            .starts_with("P[i] may wait for ever at `inside`"),
        "{}",
        missing.gap
    );
    assert!(missing.help.unwrap().contains("unconditional"));
}
