//! An engine that is told to stop does so, whatever it is doing: models whose steps and sets take very many operations, and a host that
//! says no after so many questions. The host counts; no clock decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use threadwise::{
    Decides, EngineInfo, Host, Job, JobEvent, Make, Registry, Session, Setup, Values, run_job,
};

/// An engine that goes on for so long has not heard: on the busiest machine it ends within seconds.
const PATIENCE: Duration = Duration::from_secs(300);

/// What is hard for somebody, each with a property for safety and one for liveness.
const MODELS: &[(&str, &str)] = &[
    (
        // Sums and products have tens of thousands of values, each with a diagram.
        "wide",
        "shared x: 0..65535 = 0;
        shared y: 0..65535 = 1;
        process P { loop { a: atomic { x := (x * 3 + y) % 65536; } b: atomic { y := (y + x) % 65536; } } }
        invariant safe: x * y % 65521 != 12345 || x == y;
        fairness u: unconditional;
        liveness live under u: G F (x == 7);",
    ),
    (
        "any",
        "shared a, b, c: 0..4095 = any;
        process P { loop { s: atomic { c := (a * b + c) % 4096; } t: atomic { a := (a * c + b * b) % 4096; } } }
        invariant safe: (a * b * c) % 4093 != 1234 || a == b;
        fairness u: unconditional;
        liveness live under u: G F (a * b % 7 == 3);",
    ),
    (
        "array",
        "param N = 1000;
        shared a: array[1..N] of 0..65535 = 0;
        process P { local k: 1..N = 1; loop { s: atomic { choose j in 1..N { a[j] := (a[k] + a[j] + 1) % 65536; k := j; } } } }
        invariant safe: forall i in 1..N, j in 1..N: a[i] + a[j] >= 0;
        fairness u: unconditional;
        liveness live under u: forall i in 1..N: G F (a[i] == 7);",
    ),
    (
        "processes",
        "param N = 300;
        shared t: P? = none;
        shared n: 0..65535 = 0;
        process P[i: 1..N] { loop { a: stay; b: atomic { await t == none; t := i; } c: atomic { n := (n * 7 + 1) % 65536; } d: t := none; } }
        invariant safe: forall i, j in P: i != j -> !(P[i] at c && P[j] at {c, d});
        fairness u: unconditional;
        liveness live under u: forall i in P: G (P[i] at b -> F P[i] at c);",
    ),
];

fn job(text: &str, engine: &str, property: &str) -> Job {
    Job {
        program: Arc::new(threadwise_lang::check(text).program.expect("a program")),
        values: Values(Vec::new()),
        properties: vec![property.to_owned()],
        engine: engine.to_owned(),
        setup: Setup {
            threads: 1,
            certificates: true,
            explain: true,
            ..Setup::default()
        },
        learn: None,
        seconds: None,
        memory: Some(1 << 30),
    }
}

/// Runs a job that is told to stop at this question; how many were asked, and whether it came to an end by itself before.
fn stopped_at(job: &Job, question: u64) -> (u64, bool) {
    let job = job.clone();
    let (send, answer) = mpsc::channel();
    let about = format!(
        "{} {:?} from question {question}",
        job.engine, job.properties
    );
    let run = move || {
        let asked = AtomicU64::new(0);
        let go_on = |_| asked.fetch_add(1, Ordering::Relaxed) + 1 < question;
        let host = Host {
            pause: Some(&go_on),
            ..Host::default()
        };
        let event = run_job(&job, &host, &mut |_| ());
        let _ = send.send((event, asked.into_inner()));
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    // One that does not hear is left behind until the test ends.
    drop(thread.spawn(run).unwrap());
    let (event, asked) =
        (answer.recv_timeout(PATIENCE)).unwrap_or_else(|error| panic!("{about}: {error}"));
    let JobEvent::Finished(_) = event else {
        panic!("{about}: {event:?}");
    };
    (asked, asked < question)
}

#[test]
fn engines_end_when_they_are_told_to() {
    let mut stopped = 0;
    for (name, text) in MODELS {
        let session = Session::new("model.tw", *text);
        assert!(
            session.program().is_some(),
            "{name}: {:?}",
            session.diagnostics()
        );
        let single = |engine: &&EngineInfo| !matches!(engine.make, Make::Several);
        for engine in Registry::standard().engines().filter(single) {
            let property = match engine.decides == Decides::Liveness {
                true => "live",
                false => "safe",
            };
            for question in [1, 50] {
                let (asked, by_itself) = stopped_at(&job(text, engine.name, property), question);
                println!(
                    "{name} {} {property} at {question}: {asked} questions",
                    engine.name
                );
                // On the way out it may ask a few times more.
                assert!(
                    by_itself || asked < question + 100,
                    "{name} {}: {asked}",
                    engine.name
                );
                stopped += u64::from(!by_itself);
            }
        }
    }
    // Some refuse what they cannot express, before they begin.
    println!("{stopped} searches were stopped");
    assert!(stopped >= 40, "{stopped}");
}
