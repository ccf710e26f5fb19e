//! What the engine does at the edges: limits, numbers beyond 64 bits, room for processes, many
//! processes, many initial states.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use threadwise_engine::{Answer, Engine, Limits, Observer, Outcome, Progress, Silent, Stop};
use threadwise_explicit::Explicit;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{CellInitial, System, VarId};

fn system(text: &str, n: i64, capacity: u32) -> System {
    let checked = threadwise_lang::check(text);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let values = match program.params.is_empty() {
        true => BTreeMap::new(),
        false => BTreeMap::from([("N".to_owned(), n)]),
    };
    let instance = Instance::new(Arc::new(program), &values).unwrap_or_else(|e| panic!("{e:?}"));
    lower(&instance, capacity).unwrap_or_else(|e| panic!("{e:?}"))
}

fn check(system: &System, limits: &Limits) -> Outcome {
    let properties: Vec<_> = system.properties.iter().collect();
    Explicit::default().check_all(system, &properties, limits, &mut Silent)
}

fn code(answer: &Answer) -> &str {
    match answer {
        Answer::Proved(_) => "proved",
        Answer::Violated(_) => "violated",
        Answer::Unknown(reason) => reason.code.as_str(),
    }
}

fn codes(outcome: &Outcome) -> Vec<&str> {
    outcome.answers.iter().map(code).collect()
}

const COUNTERS: &str = "
param N = 4 where N >= 1;
process P[i: 1..N] { local c: 0..99 = 0; loop { l: c := (c + 1) % 100; } }
invariant fine: forall i in P: P[i].c <= 99;
";

#[test]
fn memory_stays_within_its_limit() {
    let system = system(COUNTERS, 4, 0);
    for memory in [1 << 20, 10 << 20, 24 << 20] {
        let outcome = check(
            &system,
            &Limits {
                memory: Some(memory),
                ..Limits::NONE
            },
        );
        assert_eq!(codes(&outcome), ["memory-limit", "memory-limit"]);
        assert!(!outcome.complete);
        let peak = outcome.stats.peak_bytes.unwrap();
        assert!(peak <= memory, "{peak} bytes of {memory}");
        // Most of the memory was of use: a state takes a word, and a part of the table.
        let states = outcome.stats.states.unwrap();
        assert!(
            states * 8 > memory * 2 / 5,
            "only {states} states in {memory} bytes"
        );
    }
}

#[test]
fn states_stay_within_their_limit() {
    let system = system(COUNTERS, 4, 0);
    let outcome = check(
        &system,
        &Limits {
            states: Some(10_000),
            ..Limits::NONE
        },
    );
    assert_eq!(codes(&outcome), ["state-limit", "state-limit"]);
    assert!(outcome.stats.states.unwrap() < 20_000);
}

struct Watch(Vec<Progress>);

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) {
        self.0.push(*progress);
    }
}

#[test]
fn stops_when_told_to() {
    let system = system(COUNTERS, 4, 0);
    for (stop, code) in [(Stop::Time, "time-limit"), (Stop::Cancelled, "cancelled")] {
        let calls = AtomicU64::new(0);
        let asked = || (calls.fetch_add(1, Ordering::Relaxed) == 1000).then_some(stop);
        let limits = Limits {
            stop: Some(&asked),
            ..Limits::NONE
        };
        let properties: Vec<_> = system.properties.iter().collect();
        let mut watch = Watch(Vec::new());
        let outcome = Explicit::default().check_all(&system, &properties, &limits, &mut watch);
        assert_eq!(codes(&outcome), [code, code]);
        assert!(
            outcome.stats.states.unwrap() < 1_000_000,
            "asked too seldom"
        );
        assert!(!watch.0.is_empty());
        assert!(watch.0.is_sorted_by_key(|progress| progress.states));
        assert!(
            watch
                .0
                .iter()
                .all(|progress| progress.queue > 0 && progress.bytes > 0)
        );
    }
}

#[test]
fn beyond_64_bits_is_unknown_unless_violated() {
    let text = "
        shared x: int = 4611686018427387904;
        process P { l: x := x + x - 1; m: x := 1; }
        process Q { go: skip; went: skip; }
        invariant still: !(Q at went);
        invariant fine: x > 0;
    ";
    let outcome = check(&system(text, 0, 0), &Limits::NONE);
    assert_eq!(codes(&outcome), ["overflow", "violated", "overflow"]);
    assert!(!outcome.complete);
    let text = "
        shared x: int = 9223372036854775807;
        process P { l: skip; }
        invariant big: x + 1 > x || P at done;
        deadlock_free;
    ";
    assert_eq!(
        codes(&check(&system(text, 0, 0), &Limits::NONE)),
        ["proved", "overflow", "proved"]
    );
}

#[test]
fn more_processes_than_room_is_reported() {
    let text = "
        shared started: 0..3 = 0;
        process C[] { c: skip; }
        process P { loop { l: atomic { await started < 3; start C; started := started + 1; } } }
        invariant few: started <= 2;
    ";
    let small = system(text, 0, 2);
    let outcome = check(&small, &Limits::NONE);
    assert_eq!(
        outcome
            .capacity_exceeded
            .map(|t| small.templates[t].name.as_str()),
        Some("C")
    );
    assert_eq!(codes(&outcome), ["capacity", "capacity"]);
    let outcome = check(&system(text, 0, 3), &Limits::NONE);
    assert_eq!(outcome.capacity_exceeded, None);
    assert_eq!(codes(&outcome), ["proved", "violated"]);
}

#[test]
fn endless_initial_values_are_refused_and_many_are_not_listed_first() {
    // The lowering refuses such a text; the engine does not rely on it.
    let mut endless = system(
        "shared x: int = 0; process P { l: skip; } invariant a: true;",
        0,
        0,
    );
    endless.vars[VarId::from_raw(0)].initial = CellInitial::Any;
    assert_eq!(
        codes(&check(&endless, &Limits::NONE)),
        ["unsupported", "unsupported"]
    );
    let text = "shared x: array[1..60] of bool = any; process P { l: skip; } invariant a: true;";
    let many = system(text, 0, 0);
    let outcome = check(
        &many,
        &Limits {
            states: Some(100_000),
            ..Limits::NONE
        },
    );
    assert_eq!(codes(&outcome), ["state-limit", "state-limit"]);
}

#[test]
fn a_choice_among_too_many_values_is_unknown() {
    let text = "shared x: 0..1000000000000 = 0; process P { l: havoc x; } invariant a: x >= 0;";
    assert_eq!(
        codes(&check(&system(text, 0, 0), &Limits::NONE)),
        ["choices", "choices"]
    );
}

#[test]
fn a_thousand_processes() {
    let text = "
        param N = 2 where N >= 1;
        shared x: bool = true;
        shared last: P? = none;
        process P[i: 1..N] {
            loop { request: atomic { await x; x, last := false, i; } critical: skip; leave: x := true; }
        }
        invariant mutex: forall i, j in P: i != j -> !(P[i] at critical && P[j] at critical);
        invariant one: (count i in P: P[i] at {critical, leave}) <= 1;
        deadlock_free;
    ";
    for n in [5, 64, 65, 300] {
        let outcome = check(&system(text, n, 0), &Limits::NONE);
        assert_eq!(codes(&outcome), ["proved"; 4], "{n}");
        // Everybody out, with the last one or none; or one inside, twice, who is the last one.
        assert_eq!(outcome.stats.states, Some(1 + 3 * n as u64), "{n}");
    }
    let outcome = check(
        &system(text, 1000, 0),
        &Limits {
            states: Some(1500),
            ..Limits::NONE
        },
    );
    assert_eq!(codes(&outcome), ["state-limit"; 4]);
}

#[test]
fn no_processes_and_no_values() {
    let text = "param N = 0; process P[i: 1..N] { l: skip; } deadlock_free;";
    let outcome = check(&system(text, 0, 0), &Limits::NONE);
    assert_eq!(codes(&outcome), ["proved", "proved"]);
    assert_eq!(outcome.stats.states, Some(1));
}

#[test]
fn a_failing_step_is_no_deadlock_and_others_go_on() {
    let text = "
        shared x: 0..2 = 0;
        process P { l: x := x + 1; m: assert x < 1; n: skip; }
        process Q { q: await x == 1; r: await false; }
        deadlock_free;
        invariant never: !(Q at r);
    ";
    let outcome = check(&system(text, 0, 0), &Limits::NONE);
    // P fails at m; with Q at r that is still a step of P, so there is no deadlock.
    assert_eq!(codes(&outcome), ["violated", "proved", "violated"]);
}

#[test]
fn threads_change_nothing() {
    let text = "
        param N = 4;
        process P[i: 1..N] { local c: 0..16 = 0; loop { l: c := (c + 1) % 17; } }
        invariant deep: !(forall i in P: P[i].c == 12);
        invariant fine: forall i in P: P[i].c <= 16;
    ";
    let system = system(text, 4, 0);
    let properties: Vec<_> = system.properties.iter().collect();
    let run = |threads, symmetry| {
        let engine = Explicit {
            threads,
            symmetry,
            ..Explicit::default()
        };
        engine.check_all(&system, &properties, &Limits::NONE, &mut Silent)
    };
    for symmetry in [false, true] {
        let alone = run(1, symmetry);
        assert_eq!(codes(&alone), ["proved", "violated", "proved"]);
        for threads in [2, 3, 4] {
            let shared = run(threads, symmetry);
            assert_eq!(
                format!("{:?}", shared.answers),
                format!("{:?}", alone.answers)
            );
            assert_eq!(shared.stats.states, alone.stats.states);
            assert_eq!(shared.stats.transitions, alone.stats.transitions);
            assert_eq!(shared.stats.depth, alone.stats.depth);
        }
    }
}

#[test]
fn a_state_with_very_many_successors_takes_little_memory() {
    let text = "param N = 4; process P[i: 1..N] { a: skip; b: skip; } deadlock_free;";
    let memory = 64 << 20;
    let limits = Limits {
        memory: Some(memory),
        ..Limits::NONE
    };
    let outcome = check(&system(text, 20_000, 0), &limits);
    assert_eq!(codes(&outcome), ["memory-limit", "memory-limit"]);
    assert!(outcome.stats.peak_bytes.unwrap() <= memory + (40 << 20));
}

#[test]
fn a_long_evaluation_can_be_stopped() {
    let text = "
        param N = 4;
        process P[i: 1..N] { a: skip; }
        invariant slow: forall i, j, k in P: !(P[i] at done && P[j] at done && P[k] at done);
    ";
    let system = system(text, 3000, 0);
    let asked = AtomicU64::new(0);
    let late = || (asked.fetch_add(1, Ordering::Relaxed) >= 50).then_some(Stop::Time);
    let limits = Limits {
        stop: Some(&late),
        ..Limits::NONE
    };
    let outcome = check(&system, &limits);
    assert_eq!(codes(&outcome), ["time-limit"; 2]);
    // All questions were asked during one evaluation.
    assert_eq!(outcome.stats.states, Some(1));
}
