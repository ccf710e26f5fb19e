//! Liveness for all values.

use std::collections::BTreeMap;

use threadwise_certify::check_family;
use threadwise_engine::{FamilyAnswer, FamilyEngine, Limits, Silent, Task};
use threadwise_evidence::{Certificate, Outline};
use threadwise_lang::program::PropertyKind;
use threadwise_model::lower::lower;
use threadwise_model::system::SystemPropertyKind;
use threadwise_param::engine::Ranking;
use threadwise_show::to_outline;
use threadwise_testgen::liveness::judge;
use threadwise_testgen::parametric::{liveness_mutant, waiting};
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{generated_programs, instance, library};

use crate::engines::common::program;

/// A proof, which has been checked, and what it says.
type Proof = (Certificate, Option<Outline>);

/// What is proved of the liveness properties; and why others are not.
fn decide(text: &str, explain: bool) -> Result<BTreeMap<String, Result<Proof, String>>, String> {
    let program = program(text).ok_or("no program")?;
    let properties = program.properties.iter();
    let properties = properties.filter(|p| matches!(p.kind, PropertyKind::Liveness { .. }));
    let properties: Vec<String> = properties.map(|property| property.name.clone()).collect();
    let task = Task {
        program: &program,
        fixed: &BTreeMap::new(),
        properties: &properties,
        solver: None,
        limits: &Limits::NONE,
    };
    let engine = Ranking {
        bounded: true,
        explain,
    };
    let outcome = engine.check(&task, &mut Silent);
    let mut found = BTreeMap::new();
    for (property, (answer, account)) in properties.iter().zip(outcome.findings) {
        let answer = match answer {
            FamilyAnswer::Proved(Some(certificate)) => {
                check_family(&program, &certificate, property, &|| false)
                    .map_err(|error| format!("{property}: the proof is refused: {error}"))?;
                Ok((certificate, account.outline))
            }
            FamilyAnswer::Unknown(reason) => Err(reason.message),
            other => return Err(format!("{property}: {other:?}")),
        };
        found.insert(property.clone(), answer);
    }
    Ok(found)
}

/// What the library promises and what is proved of that, for all values.
const PROVED: &[&str] = &[
    "bakery.access",
    "bakery.first",
    "cond_term.first",
    "cond_term.termination",
    "critical_sections.ends",
    "mux_sem.access",
    "mux_sem_busy.given_back_by_all",
    "mux_sem_busy.in_use",
    "mux_sem_count.access",
    "mux_sem_last.access",
    "mux_sem_nondet.access",
    "mux_sem_nondet.first",
    "mux_sem_short.access",
    "mux_sem_unfair.first",
    "test_and_set.progress",
    "ticket_lock.access",
];

#[test]
fn the_library_is_live() {
    let mut proved = Vec::new();
    for (name, text) in library() {
        // Others take long, or have no form for all values.
        let quick = [
            "mux_sem", "test_and", "critical", "cond", "bakery", "ticket",
        ];
        if quick.iter().any(|quick| name.starts_with(quick)) {
            let found = decide(&text, false).unwrap_or_else(|error| panic!("{name}: {error}"));
            let found = found.into_iter().filter(|(_, found)| found.is_ok());
            proved.extend(found.map(|(property, _)| format!("{name}.{property}")));
        }
    }
    assert_eq!(proved, PROVED);
}

#[test]
fn proofs_can_be_read() {
    let text = include_str!("../../../../models/mux_sem.tw");
    let mut found = decide(text, true).expect("an answer");
    let (_, outline) = found.remove("access").expect("access").expect("a proof");
    let shown = to_outline(&outline.expect("an outline")).join("\n");
    for line in [
        "Suppose P[i] waits for ever in a fair run, at request. What such a run does only finitely often is excluded, one thing after the other:",
        "By the fairness `entry` of P[i], this is true only finitely often: x. Otherwise what is promised for it would come, and in what is left that never does.",
        "This does not last: #leave > 0. Another P at leave has a step and keeps it until it is scheduled, but no such step is taken any more.",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
}

/// Programs that are live up to some number of processes, or look as if they were.
#[test]
fn what_is_not_live_is_not_proved() {
    let wrong = [
        // A number grows, and is to fall.
        "param N = 2 where N >= 1; shared n: int = 0;
         process P[i: 1..N] { loop { a: n := n + 1; } }
         fairness all: unconditional; liveness live under all: F (n < 0);",
        // With five processes, one can be passed for ever.
        "param N = 2 where N >= 1; shared x: 0..4 = 4;
         process P[i: 1..N] { loop { a: atomic { await x > 0; x := x - 1; } b: x := x + 1; } }
         fairness all: unconditional;
         liveness live under all: forall i in P: G (P[i] at a -> F P[i] at b);",
        // The sixth takes what is not given back.
        "param N = 2 where N >= 1; shared x: int = 5;
         process P[i: 1..N] { a: atomic { await x > 0; x := x - 1; } }
         fairness all: unconditional; liveness live under all: forall i in P: F P[i] at done;",
        // Nobody has to be scheduled.
        "param N = 2 where N >= 1;
         process P[i: 1..N] { a: skip; }
         liveness live: forall i in P: F P[i] at done;",
        // What is to hold for ever fails again and again.
        "param N = 2 where N >= 1; shared x: bool = false;
         process P[i: 1..N] { loop { a: x := true; b: x := false; } }
         fairness all: unconditional; liveness live under all: F G x;",
        // The fifth has no seat.
        "param N = 2 where N >= 1; shared x: int = 4;
         process P[i: 1..N] { a: atomic { await x > 0; x := x - 1; } loop { b: stay; } }
         fairness all: unconditional; liveness live under all: forall i in P: F G P[i] at b;",
        // It is assumed of another one.
        "param N = 2 where N >= 2;
         process P[i: 1..N] { loop { a: stay; b: skip; } }
         fairness all: unconditional;
         liveness live under all: forall i in P: (exists j in P: G F P[j] at b) -> (G F P[i] at b);",
        // With less than five tickets, two wait with one, and one of them may miss its turn.
        "param N = 2 where N >= 1; shared d, s: 0..3 = 0;
         process P[i: 1..N] { local m: 0..3 = 0;
             loop { t: atomic { m, d := d, (d + 1) % 4; } w: await s == m; l: atomic { s := (s + 1) % 4; } } }
         fairness all: unconditional;
         liveness live under all: forall i in P: G (P[i] at w -> F P[i] at l);",
        // Who has ended is scheduled, too.
        "param N = 2 where N >= 1;
         process P[i: 1..N] { a: skip; }
         liveness live: F (forall i in P: P[i] at done);",
    ];
    for text in wrong {
        let found = decide(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(found["live"].is_err(), "{text}");
    }
    // And these are close to them, and live.
    let right = [
        "param N = 2 where N >= 1; shared n: int = 0;
         process P[i: 1..N] { loop { a: n := n - 1; } }
         liveness live: F (n < 0);",
        "param N = 2 where N >= 1;
         process P[i: 1..N] { a: skip; b: skip; }
         fairness all: unconditional; liveness live under all: forall i in P: F P[i] at done;",
        "param N = 2 where N >= 1;
         process P[i: 1..N] { loop { a: skip; b: skip; } }
         fairness all: unconditional; liveness live under all: forall i in P: G F P[i] at b;",
    ];
    for text in right {
        let found = decide(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(found["live"].is_ok(), "{text}: {:?}", found["live"]);
    }
}

/// How many processes at most: one more in a longer sweep.
fn processes() -> i64 {
    if programs(1) == 1 { 4 } else { 5 }
}

/// Makes so many programs, and compares what is proved of their liveness with what the oracle says of the instances with up to so many processes, of so many states. Gives the number
/// of properties, of those that are proved, and of those that are violated.
fn compare(generate: fn(u64) -> String, count: u64, (up_to, states): (i64, usize)) -> [usize; 3] {
    let tallies = generated_programs(generate, count, |_, text, _| {
        let found = decide(text, false)?;
        let mut wrong: BTreeMap<String, i64> = BTreeMap::new();
        for processes in 0..=up_to {
            // `where` excludes some.
            let Ok(instance) = instance(text, &[("N", processes)]) else {
                continue;
            };
            let system = lower(&instance, 1).map_err(|errors| format!("{errors:?}"))?;
            for property in &system.properties {
                let SystemPropertyKind::Liveness(liveness) = &property.kind else {
                    continue;
                };
                if wrong.contains_key(&property.name) {
                    continue;
                }
                let Ok(judgement) = judge(&system, liveness, states) else {
                    continue;
                };
                if judgement.violation.is_some() {
                    wrong.insert(property.name.clone(), processes);
                }
            }
        }
        let proved = found.iter().filter(|(_, found)| found.is_ok());
        let proved: Vec<&String> = proved.map(|(name, _)| name).collect();
        match proved.iter().find(|name| wrong.contains_key(**name)) {
            Some(name) => Err(format!("{name} is wrong at N={}", wrong[*name])),
            None => Ok([found.len(), proved.len(), wrong.len()]),
        }
    });
    let mut total = [0; 3];
    for tally in tallies {
        total
            .iter_mut()
            .zip(tally)
            .for_each(|(sum, more)| *sum += more);
    }
    let [all, proved, wrong] = total;
    println!("{all} properties, {proved} proved, {wrong} wrong");
    total
}

#[test]
fn proofs_agree_with_the_oracle_on_random_programs() {
    let [all, proved, wrong] = compare(waiting, programs(200), (processes(), 3_000));
    assert!(
        proved * 4 >= all && wrong * 4 >= all,
        "{all}: {proved} proved, {wrong} wrong"
    );
}

/// What the library and the tests promise, with small changes.
#[test]
fn proofs_agree_with_the_oracle_on_changed_programs() {
    let [all, proved, wrong] = compare(liveness_mutant, programs(60), (processes(), 2_000));
    assert!(
        proved * 8 >= all && wrong * 8 >= all,
        "{all}: {proved} proved, {wrong} wrong"
    );
}
