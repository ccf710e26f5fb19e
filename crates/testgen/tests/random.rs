//! Random programs: interpreter, plain and optimised lowering agree on all of them, and together
//! they exercise the whole language. What was exercised is printed and asserted.

mod coverage;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use threadwise_model::lower::lower;
use threadwise_testgen::{agree, generate::generate, instance, symmetry};

/// How many programs are compared.
const PROGRAMS: u64 = 2_000;
/// How many states of each.
const STATES: usize = 1_200;
/// How many states of each are checked for symmetry, which takes longer.
const SYMMETRIC_STATES: usize = 40;
/// Room for each dynamic template.
const CAPACITY: u32 = 3;

#[derive(Default)]
struct Totals {
    /// In how many programs each construct occurs.
    constructs: BTreeMap<String, usize>,
    states: Vec<usize>,
    violated: usize,
    blocking_in_branches: usize,
    symmetric: usize,
    discharging: usize,
    limits: usize,
    full: usize,
    complete: usize,
    transitions: usize,
    wrong: Vec<String>,
}

fn program(seed: u64, totals: &Mutex<Totals>) {
    let text = generate(seed);
    let result = instance(&text, &[]).and_then(|instance| {
        let findings = agree::compare(&instance, CAPACITY, STATES)?;
        let system = lower(&instance, CAPACITY).map_err(|_| "not lowered a second time")?;
        let generators = symmetry::check(&system, SYMMETRIC_STATES)?;
        Ok((coverage::of(instance.program()), findings, generators))
    });
    let mut totals = totals.lock().expect("no thread has failed");
    match result {
        Err(error) => totals.wrong.push(format!("seed {seed}:\n{text}\n{error}")),
        Ok((coverage, findings, generators)) => {
            for construct in &coverage.constructs {
                *totals.constructs.entry(construct.clone()).or_default() += 1;
            }
            totals.states.push(findings.states);
            totals.violated += usize::from(findings.violated());
            totals.blocking_in_branches += usize::from(coverage.blocking_in_branch);
            totals.symmetric += usize::from(generators > 0);
            totals.discharging += usize::from(findings.discharged > 0);
            totals.limits += usize::from(findings.limits > 0);
            totals.full += usize::from(findings.full > 0);
            totals.complete += usize::from(findings.complete);
            totals.transitions += findings.transitions;
        }
    }
}

#[test]
fn random_programs_agree() {
    let totals = Mutex::new(Totals::default());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let failed = totals.lock().expect("no thread has failed").wrong.len();
                    if seed >= PROGRAMS || failed >= 3 {
                        break;
                    }
                    program(seed, &totals);
                }
            });
        }
    });
    let mut totals = totals.into_inner().expect("no thread has failed");
    assert!(totals.wrong.is_empty(), "{}", totals.wrong.join("\n\n"));

    let programs = totals.states.len();
    totals.states.sort_unstable();
    let median = totals.states[programs / 2];
    let share = |n: usize| 100.0 * n as f64 / programs as f64;
    println!(
        "{programs} programs, {} transitions compared",
        totals.transitions
    );
    println!(
        "median {median} states, complete {:.1}%",
        share(totals.complete)
    );
    println!("violated {:.1}%", share(totals.violated));
    println!(
        "blocking inside branches {:.1}%",
        share(totals.blocking_in_branches)
    );
    println!(
        "with symmetry {:.1}%, with discharged checks {:.1}%",
        share(totals.symmetric),
        share(totals.discharging)
    );
    println!(
        "beyond 64 bits {:.1}%, templates full {:.1}%",
        share(totals.limits),
        share(totals.full)
    );
    for (construct, count) in &totals.constructs {
        println!("{construct:24} {:5.1}%", share(*count));
    }

    for construct in coverage::STATEMENTS {
        let count = totals.constructs.get(*construct).copied().unwrap_or(0);
        assert!(share(count) >= 5.0, "{construct} in only {count} programs");
    }
    for construct in coverage::OTHERS {
        let count = totals.constructs.get(*construct).copied().unwrap_or(0);
        assert!(share(count) >= 2.0, "{construct} in only {count} programs");
    }
    assert!(share(totals.violated) >= 25.0, "too few are violated");
    assert!(
        share(programs - totals.violated) >= 25.0,
        "too many are violated"
    );
    assert!(
        share(totals.blocking_in_branches) >= 20.0,
        "too little blocks in branches"
    );
    assert!(median >= 200, "the median is {median} states");
    assert!(share(totals.symmetric) >= 20.0, "too little symmetry");
    assert!(
        share(totals.discharging) >= 20.0,
        "too few discharged checks"
    );
}
