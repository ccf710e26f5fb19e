//! Why an invariant is false in the last state, and who waits for what in a deadlock.

use crate::common::{drawn, instance};
use crate::traces::search;
use threadwise_evidence::{Cause, RunEnding, Trace, annotate};
use threadwise_lang::program::PropertyKind;
use threadwise_model::interpreter::{Interpreter, Judgement};
use threadwise_show::Layout;

/// A shortest run to a state in which a property is violated.
fn violation(text: &str, property: &str) -> Trace {
    let instance = instance(text, &[]);
    let interpreter = Interpreter::new(&instance);
    let mut properties = instance.program().properties.iter();
    let kind = properties.find(|p| p.name == property).map(|p| &p.kind);
    let found = search(&instance, property, |state| match kind {
        Some(PropertyKind::Invariant(predicate)) => {
            let judged = interpreter.judge(state, predicate).unwrap();
            matches!(judged, Judgement::False).then_some(RunEnding::Invariant)
        }
        _ => interpreter
            .is_deadlock(state)
            .unwrap()
            .then_some(RunEnding::Deadlock),
    });
    let trace = found.expect("it is violated");
    // Whoever reads a file finds out the same.
    let forged = Trace {
        causes: vec![Cause {
            process: Some("nobody".to_owned()),
            ..Cause::default()
        }],
        ..trace.clone()
    };
    assert_eq!(annotate(&instance, &forged).unwrap(), trace);
    trace
}

/// What stands below the steps.
fn last_words(text: &str, property: &str) -> String {
    let trace = violation(text, property);
    let drawn = drawn(&trace, Some(text), Some(100), Layout::Table);
    let from = drawn.find("here ").expect("an ending");
    drawn[from..].trim_end().to_owned()
}

const LOCK: &str = "\
param N = 3 where N >= 2;
shared x: bool = false;
shared n: array[1..2] of 0..9 = 0;
process P[i: 1..N] {
    local t: 0..3 = 0;
    try:  await !x;
    set:  x, t := true, 2;
    crit: n[1] := n[1] + 1;
    exit: x := false;
}
def inside(i: P) = P[i] at {crit, exit};
invariant mutex: forall i, j in P: i != j -> !(P[i] at crit && P[j] at crit);
invariant called: forall i, j in P: i != j -> !(inside(i) && inside(j));
invariant few: (count i in P: P[i] at crit) <= 1;
invariant parts: n[2] == 0 && (forall i in P: P[i].t < 2) && n[1] < 9;
invariant either: x || forall i in P: P[i] at {try, set};
invariant none: !(exists i in P: P[i] at exit);
invariant plain: n[1] < 2;
deadlock_free;
";

#[test]
fn it_says_for_whom_and_which_part() {
    for (property, words) in [
        (
            "mutex",
            "here `mutex` does not hold for i = 1, j = 2: P[1,2] at crit",
        ),
        (
            "called",
            "here `called` does not hold for i = 1, j = 2: P[1,2] at crit",
        ),
        ("few", "here `few` does not hold: P[1,2] at crit"),
        (
            "parts",
            "here `parts` does not hold for i = 1: P[1].t = 2\n    this part of it is false: P[1].t < 2",
        ),
        (
            "either",
            "here `either` does not hold: P[1] at done, x = false",
        ),
        ("none", "here `none` does not hold: P[1] at exit"),
        ("plain", "here `plain` does not hold: n[1] = 2"),
    ] {
        assert_eq!(last_words(LOCK, property), words, "{property}");
    }
}

#[test]
fn what_it_says_is_so_in_the_last_state() {
    let trace = violation(LOCK, "mutex");
    let [cause] = trace.causes.as_slice() else {
        panic!("{:?}", trace.causes);
    };
    let values: Vec<String> = cause
        .values
        .iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    assert_eq!(values, ["i=1", "j=2"]);
    let json = serde_json::to_value(&trace).unwrap();
    assert_eq!(json["causes"][0]["locations"]["P[1]"], "crit");
    assert_eq!(json["causes"][0]["values"]["j"], 2);
    assert_eq!(Trace::from_json(&trace.to_json()).unwrap(), trace);
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let text = "\
shared a: mutex;
shared b: mutex;
shared go: 0..3 = 0;
shared q: queue[1] of 0..1;
process P { p1: lock a; p2: lock b; p3: skip; }
process Q { q1: lock b; q2: lock a; q3: skip; }
process R[i: 1..2] { local t: 0..3 = 2; r: await go == t; }
process S { local m: 0..1 = 0; s: m := receive(q); }
deadlock_free;
";
    assert_eq!(
        last_words(text, "deadlock_free"),
        "here no process can go on: a deadlock
    P at p2 waits for `b`, which Q holds
    Q at q2 waits for `a`, which P holds
    R[1,2] at r wait for `go == t`, and go = 0, t = 2
    S at s waits for `m := receive(q)`"
    );
    let twice = "shared m: mutex;\nprocess P { a: lock m; b: lock m; }\ndeadlock_free;\n";
    assert_eq!(
        last_words(twice, "deadlock_free"),
        "here no process can go on: a deadlock\n    P at b waits for `m`, which it holds itself"
    );
}
