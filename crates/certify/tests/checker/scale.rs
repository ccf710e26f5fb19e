//! Many processes: the check grows little faster than the certificate, and the certificate stays small.

use std::cell::Cell;
use std::time::Instant;

use crate::checker::support::{library, plain};
use threadwise_certify::{Error, Method, check, check_with};
use threadwise_evidence::Certificate;
use threadwise_evidence::certificate::builder;
use threadwise_evidence::dag::{Child, Dag};
use threadwise_model::system::System;

/// The reachable states of the semaphore: `x` is false exactly if one process is inside, and no more than one is.
/// `most` processes may be inside instead of one, if the set is to be wrong.
fn semaphore(system: &System, most: usize) -> Dag {
    let mut builder = builder(system).expect("finite");
    let n = system.cells - 1;
    // By how many are inside among the processes before: true if it ends with as many as `x` says.
    let mut taken: Vec<Child> = (0..=most)
        .map(|k| if k > 0 { Child::TRUE } else { Child::FALSE })
        .collect();
    let mut free = Child::TRUE;
    for process in (1..=n).rev() {
        // Locations: idle, request, critical, leave, done.
        let mut node = |outside: Child, inside: Child| {
            let children = [outside, outside, inside, inside, Child::FALSE];
            builder.node_of(process, children).expect("in order")
        };
        free = node(free, Child::FALSE);
        taken = (0..=most)
            .map(|k| node(taken[k], taken.get(k + 1).copied().unwrap_or(Child::FALSE)))
            .collect();
    }
    let root = builder.node_of(0, [taken[0], free]).expect("in order");
    builder.finish(root)
}

#[test]
fn a_hundred_processes() {
    let instance = library("mux_sem", &[("N", 100)]);
    let system = plain(&instance);
    for property in ["mutex", "deadlock_free", "checks"] {
        let certificate = Certificate::inductive(&system, property, semaphore(&system, 1));
        let begun = Instant::now();
        let report = check(&instance, &certificate, property, &|| false).expect("a proof");
        println!("{property}: {report:?} {:?}", begun.elapsed());
        // Figures that no machine changes: the nodes above a process for each of its steps.
        assert!((1..150_000).contains(&report.visits), "{report:?}");
        assert_eq!(report.clauses, 0, "{report:?}");
        let begun = Instant::now();
        let solved = check_with(Method::Solver, &instance, &certificate, property, &|| false);
        let report = solved.expect("a proof");
        println!("{property}: {report:?} {:?}", begun.elapsed());
        // About five conditions a process, and few clauses for each.
        assert!((1..60_000).contains(&report.clauses), "{report:?}");
        assert!(report.conflicts < 60_000, "{report:?}");
    }
    let wrong = Certificate::inductive(&system, "mutex", semaphore(&system, 2));
    match check(&instance, &wrong, "mutex", &|| false) {
        Err(Error::Rejected(_)) => {}
        other => panic!("{other:?}"),
    }
}

/// How many processes: more, if somebody wants to wait.
fn size() -> i64 {
    let wanted = std::env::var("THREADWISE_SCALE").ok();
    wanted.and_then(|size| size.parse().ok()).unwrap_or(1000)
}

#[test]
fn very_many_processes() {
    let instance = library("mux_sem", &[("N", size())]);
    let system = plain(&instance);
    let certificate = Certificate::inductive(&system, "checks", semaphore(&system, 1));
    let json = certificate.to_json();
    assert!(json.len() < 200_000, "{} bytes", json.len());
    let read = Certificate::from_json(&json).expect("what was written");
    assert_eq!(read, certificate);
    let begun = Instant::now();
    let report = check(&instance, &certificate, "checks", &|| false).expect("a proof");
    println!("{} bytes {report:?} {:?}", json.len(), begun.elapsed());
}

#[test]
fn an_end_on_request() {
    let instance = library("mux_sem", &[("N", 200)]);
    let system = plain(&instance);
    let certificate = Certificate::inductive(&system, "mutex", semaphore(&system, 1));
    // However often it is asked before: no answer after the request is another question.
    for before in [0, 1, 10] {
        let asked = Cell::new(0);
        let answer = check(&instance, &certificate, "mutex", &|| {
            asked.set(asked.get() + 1);
            asked.get() > before
        });
        assert_eq!(answer, Err(Error::Cancelled), "after {before} questions");
        assert_eq!(asked.get(), before + 1);
    }
}

/// The semaphore with two processes, with cells tested in different orders; `more` states can be added that do not
/// belong there.
fn without_order(system: &System, more: bool) -> Dag {
    let mut builder = builder(system).expect("finite");
    let mut node = |process, outside, inside| {
        let children = [outside, outside, inside, inside, Child::FALSE];
        builder.node_of(process, children).expect("a node")
    };
    let none = node(
        2,
        Child::TRUE,
        if more { Child::TRUE } else { Child::FALSE },
    );
    let one = node(2, Child::FALSE, Child::TRUE);
    let taken = node(1, one, none);
    let first = node(1, Child::TRUE, Child::FALSE);
    let free = node(2, first, Child::FALSE);
    let root = builder.node_of(0, [taken, free]).expect("a node");
    builder.finish(root)
}

#[test]
fn what_has_no_order_is_left_to_the_solver() {
    let instance = library("mux_sem", &[("N", 2)]);
    let system = plain(&instance);
    let good = Certificate::inductive(&system, "mutex", without_order(&system, false));
    let solved = check_with(Method::Solver, &instance, &good, "mutex", &|| false);
    let report = solved.expect("a proof");
    assert!(report.clauses > 0 && report.visits == 0, "{report:?}");
    // So few states need no solver.
    let report = check(&instance, &good, "mutex", &|| false).expect("a proof");
    assert!(report.clauses == 0 && report.visits > 0, "{report:?}");
    match check_with(Method::Walk, &instance, &good, "mutex", &|| false) {
        Err(Error::Unsupported(why)) => assert!(why.contains("in no one order"), "{why}"),
        other => panic!("{other:?}"),
    }
    let wrong = Certificate::inductive(&system, "mutex", without_order(&system, true));
    let answer = check(&instance, &wrong, "mutex", &|| false);
    assert!(matches!(answer, Err(Error::Rejected(_))), "{answer:?}");
}
