//! What random programs about any number of processes are worth: how many of their claims hold wherever they are looked at, how many
//! fail with few processes, and how many from a threshold on. That is printed and asserted.

use std::collections::BTreeMap;

use threadwise_testgen::parametric::{AtInstance, Truth, generate, verdicts};
use threadwise_testgen::{generated_programs, sweep};

/// How many programs are searched.
const PROGRAMS: u64 = 200;
/// How many processes of the template that grows with `N`.
const PROCESSES: i64 = 5;
/// How many states of each instance are visited.
const STATES: u64 = 30_000;

/// What becomes of a claim as `N` grows, with the other parameters where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Course {
    /// It holds at all instances that were looked at.
    Holds,
    /// It is violated at the first instance.
    Never,
    /// It holds at first, and is violated from some number of processes on.
    From(i64),
    /// It is violated at first, and holds from some number of processes on.
    UpTo(i64),
    /// It changes more than once.
    Mixed,
    /// Some instance has too many states.
    Undecided,
}

fn course(truths: &[(i64, Truth)]) -> Course {
    let changes: Vec<(i64, Truth)> = (truths.windows(2))
        .filter(|pair| pair[0].1 != pair[1].1)
        .map(|pair| pair[1])
        .collect();
    let first = truths.first().map(|(_, truth)| *truth);
    if truths.iter().any(|(_, truth)| *truth == Truth::Undecided) {
        return Course::Undecided;
    }
    match (first, changes.as_slice()) {
        (Some(Truth::Violated), []) => Course::Never,
        (_, []) => Course::Holds,
        (_, [(at, Truth::Violated)]) => Course::From(*at),
        (_, [(at, _)]) => Course::UpTo(*at),
        _ => Course::Mixed,
    }
}

/// The courses of all properties of a program. At each `N` the worst counts that other parameters lead to.
fn courses(found: &[AtInstance]) -> Vec<(String, Course)> {
    let mut all: BTreeMap<&str, BTreeMap<i64, Truth>> = BTreeMap::new();
    for at in found {
        let n = at.values.get("N").copied().unwrap_or(0);
        for (property, truth) in &at.truths {
            let worst = all.entry(property).or_default();
            let worst = worst.entry(n).or_insert(Truth::Holds);
            match (*worst, truth) {
                (Truth::Violated, _) | (_, Truth::Holds) => {}
                _ => *worst = *truth,
            }
        }
    }
    all.into_iter()
        .map(|(property, truths)| {
            let truths: Vec<(i64, Truth)> = truths.into_iter().collect();
            (property.to_owned(), course(&truths))
        })
        .collect()
}

/// Whether two searches of an instance found the same, as far as both had room for all states.
fn agree(one: &AtInstance, other: &AtInstance) -> bool {
    let decided = |truth: &Truth| *truth != Truth::Undecided;
    let mut truths = one.truths.iter().zip(&other.truths);
    one.values == other.values
        && truths.all(|(one, other)| one == other || !decided(one.1) || !decided(other.1))
}

/// Looks at the first programs, prints what becomes of their claims, and gives it: for each program, of its claims and of the built-in checks.
fn look(programs: u64, processes: i64) -> Vec<Vec<(String, Course)>> {
    let found = generated_programs(generate, programs, |seed, text, _| {
        let found = verdicts(text, processes, STATES, true)?;
        if seed % 10 == 0 {
            // Symmetry must not decide what is true.
            let plain = verdicts(text, 3, STATES, false)?;
            let differ = plain
                .iter()
                .zip(&found)
                .find(|(one, other)| !agree(one, other));
            if let Some((one, other)) = differ {
                return Err(format!("{one:?} without symmetry, {other:?} with"));
            }
        }
        Ok(courses(&found))
    });
    let mut numbers: BTreeMap<Course, usize> = BTreeMap::new();
    for (_, course) in found.iter().flatten() {
        *numbers.entry(*course).or_default() += 1;
    }
    println!("{programs} programs: {numbers:?}");
    found
}

/// How many of a hundred.
fn share<T>(all: &[T], wanted: impl Fn(&T) -> bool) -> f64 {
    100.0 * all.iter().filter(|one| wanted(one)).count() as f64 / all.len() as f64
}

#[test]
fn random_programs_are_worth_something() {
    let programs = look(sweep::programs(PROGRAMS), PROCESSES);
    let all: Vec<Course> = programs
        .iter()
        .flatten()
        .map(|(_, course)| *course)
        .collect();
    let holds = |course: &Course| *course == Course::Holds;
    let shares = [
        ("claims that hold", share(&all, holds), 60.0..80.0),
        (
            "claims that fail from a number of processes on",
            share(&all, |course| matches!(course, Course::From(_))),
            8.0..20.0,
        ),
        (
            "claims that fail with the fewest processes",
            share(&all, |course| {
                matches!(course, Course::Never | Course::UpTo(_))
            }),
            6.0..20.0,
        ),
        (
            "claims that fail with the fewest processes only",
            share(&all, |course| matches!(course, Course::UpTo(_))),
            1.0..10.0,
        ),
        (
            "claims that are not decided",
            share(&all, |course| *course == Course::Undecided),
            0.0..8.0,
        ),
        (
            "programs of which all claims hold",
            share(&programs, |claims| {
                claims.iter().all(|(_, course)| holds(course))
            }),
            35.0..70.0,
        ),
        (
            "programs with a check that fails",
            share(&programs, |claims| {
                claims
                    .iter()
                    .any(|(name, course)| name == "checks" && !holds(course))
            }),
            5.0..30.0,
        ),
    ];
    for (what, share, _) in &shares {
        println!("{share:.1}% {what}");
    }
    for (what, share, range) in &shares {
        assert!(range.contains(share), "{share:.1}% {what}");
    }
    for number in 1..=PROCESSES {
        assert!(
            all.contains(&Course::From(number)),
            "none fails from {number} on"
        );
    }
}

/// That what the language offers for such programs is used: each in so many of a hundred programs at least.
#[test]
fn random_programs_use_what_there_is() {
    let texts: Vec<String> = (0..5 * PROGRAMS).map(generate).collect();
    for (what, least) in [
        ("where N >= 0", 15.0),
        ("where N >= 3", 5.0),
        ("param M", 15.0),
        ("process Server", 8.0),
        ("start Child", 4.0),
        ("loop {", 15.0),
        (": int", 40.0),
        (": 0..", 5.0),
        ("..N", 50.0),
        (": bool", 5.0),
        (" = any", 5.0),
        ("P? = none", 5.0),
        ("mutex", 5.0),
        ("enum", 3.0),
        ("array[P] of bool", 5.0),
        ("array[P] of 0..1", 5.0),
        ("array[P] of int", 3.0),
        ("forall j in", 5.0),
        ("exists j in", 2.0),
        ("count j in", 5.0),
        ("sum j in", 2.0),
        ("max j in", 3.0),
        ("else {", 0.5),
        ("return;", 2.0),
        ("assert", 15.0),
        ("== N", 5.0),
        ("count i in", 15.0),
        ("i != j ->", 15.0),
        ("exists i in", 2.0),
    ] {
        let share = share(&texts, |text| text.contains(what));
        assert!(share >= least, "{share:.1}% with `{what}`");
    }
}

/// Up to eight processes, as many as the constants are: `cargo test --release -p threadwise-testgen --test all -- --ignored --nocapture parametric::`.
#[test]
#[ignore = "takes minutes"]
fn more_processes_refute_more() {
    let programs = look(10 * PROGRAMS, 8);
    let all: Vec<Course> = programs
        .iter()
        .flatten()
        .map(|(_, course)| *course)
        .collect();
    for number in 1..=8 {
        assert!(
            all.contains(&Course::From(number)),
            "none fails from {number} on"
        );
    }
}
