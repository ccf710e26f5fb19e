//! Programs that single out one condition: the set of their reachable states is all right but for one thing, or
//! all right where a mistake would see something wrong.

use std::collections::BTreeSet;

use crate::checker::support::{State, check, graph, plain, reachable};
use threadwise_certify::{Condition, Error};
use threadwise_evidence::Certificate;

/// What the checker says of a set of states of a program: `reachable` changed by a function.
fn judged(text: &str, property: &str, change: impl Fn(&mut BTreeSet<State>)) -> Result<(), Error> {
    let instance = threadwise_testgen::instance(text, &[]).expect("a program");
    let system = plain(&instance);
    let mut states = reachable(&system, 1_000).expect("few states");
    change(&mut states);
    let dag = graph(&system, &states).expect("finite");
    let certificate = Certificate::inductive(&system, property, dag);
    check(&instance, &certificate, property, &|| false).map(|_| ())
}

#[track_caller]
fn broken(answer: Result<(), Error>) -> Condition {
    match answer {
        Err(Error::Rejected(rejection)) => rejection.condition,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_arbitrary_initial_value_counts() {
    let text = "shared x: 0..2 = any; process S { a: skip; }";
    assert_eq!(judged(text, "checks", |_| ()), Ok(()));
    for value in 0..3 {
        let answer = judged(text, "checks", |states| {
            states.retain(|state| state[0] != value)
        });
        assert!(matches!(broken(answer), Condition::Initial), "{value}");
    }
}

#[test]
fn any_two_exclude_each_other() {
    for (one, two) in [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4)] {
        let text = format!(
            "ordered process P[i: 1..4] {{ a: await i == {one} || i == {two}; b: stay; }}
             invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);"
        );
        let answer = judged(&text, "mutex", |_| ());
        assert!(
            matches!(broken(answer), Condition::Property(_)),
            "{one} {two}"
        );
    }
    let text = "ordered process P[i: 1..4] { a: await i == 3; b: stay; }
        invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);";
    assert_eq!(judged(text, "mutex", |_| ()), Ok(()));
}

#[test]
fn different_sides_exclude_each_other_both_ways() {
    let program = |one: u32, two: u32, beside: &str| {
        format!(
            "ordered process P[i: 1..4] {{ a: await i == {one} || i == {two}; b: await i == {two}; c: stay; }}
             invariant apart: forall i, j in P: i != j -> !(P[i] at b && P[j] at c{beside});"
        )
    };
    for (one, two) in [(1, 2), (2, 1), (1, 4), (4, 1), (3, 2)] {
        let answer = judged(&program(one, two, ""), "apart", |_| ());
        assert!(
            matches!(broken(answer), Condition::Property(_)),
            "{one} {two}"
        );
        // What is said of both at once counts.
        let answer = judged(&program(one, two, " && i < j"), "apart", |_| ());
        assert_eq!(answer.is_ok(), one > two, "{one} {two}");
    }
    assert_eq!(judged(&program(3, 3, ""), "apart", |_| ()), Ok(()));
}

#[test]
fn of_two_writes_of_one_cell_the_later_counts() {
    let text = "shared i, j: 0..1 = any; shared a: array[0..1] of 0..2 = 0;
        process S { s: atomic { a[i] := 1; a[j] := 2; } }
        invariant later: S at s || a[j] == 2;";
    assert_eq!(judged(text, "later", |_| ()), Ok(()));
    // All with what the earlier write would have left instead.
    let answer = judged(text, "checks", |states| {
        let wrong = states.iter().cloned().map(|mut state| {
            let cells = state.iter_mut().filter(|cell| **cell == 2);
            cells.for_each(|cell| *cell = 1);
            state
        });
        *states = wrong.collect();
    });
    assert!(matches!(broken(answer), Condition::Step(_)));
}
