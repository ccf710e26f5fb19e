//! Many processes: the check grows little faster than the certificate, and the certificate stays small.

mod support;

use std::time::Instant;

use support::{library, plain};
use threadwise_certify::{Error, check};
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
        // Figures that no machine changes: about five conditions a process, and few clauses for each.
        assert!(report.clauses < 60_000, "{report:?}");
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
    let begun = Instant::now();
    let answer = check(&instance, &certificate, "mutex", &|| true);
    assert_eq!(answer, Err(Error::Cancelled));
    assert!(begun.elapsed().as_secs() < 5);
}
