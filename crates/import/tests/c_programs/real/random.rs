//! Random programs, checked and run for real.
//!
//! `REAL_PROGRAMS` asks for another number of programs, `REAL_SEED` for others, and `REAL_FOUND` names a directory for those on which there is a difference, and for those whose
//! failure no run has shown.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_explicit::Explicit;
use threadwise_import::from_c::Integers;
use threadwise_import::from_c::{FUNCTIONS, Treatment};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;

use super::super::bring;
use super::super::damage::Numbers;
use super::generate::{Generated, JUMPS, Jump, Kind, LOOPS, Loop, Probe, fits, generate};
use super::{Batch, Runs, Seen, can_run, in_parallel, library, variable};

/// How many programs have the same numbers in every run of the test, and how many have others each time.
const PROGRAMS: u64 = 320;
const FRESH: u64 = 32;
/// How many there are in the long run.
const MANY: u64 = 2_000;
/// How many are compiled together.
const TOGETHER: usize = 16;
/// How often a program is run to learn, and to see whether it fails.
const LEARNING: usize = 40;
const RUNS: usize = 150;
/// Programs with more states are left open.
const MOST_STATES: u64 = 60_000;

/// An assertion about what was seen at a place.
fn assertion(numbers: &mut Numbers, probe: &Probe, seen: &Seen, wrong: bool) -> String {
    let expression = &probe.expression;
    let condition = match (seen.values.as_slice(), wrong) {
        ([], _) if !probe.acts => "0".to_owned(),
        ([value], false) => equal(expression, "==", *value),
        (values, true) if !values.is_empty() => match numbers.below(4) {
            0 => equal(expression, "==", *numbers.of(&[0, 0, 1, 16, -1])),
            1 => equal(expression, "<=", *numbers.of(values) - 1),
            _ => equal(expression, "!=", *numbers.of(values)),
        },
        (values, _) if seen.more || probe.acts || values.len() > 3 || numbers.below(3) == 0 => {
            match (values.iter().min(), values.iter().max()) {
                (Some(least), _) if numbers.below(2) == 0 => equal(expression, ">=", *least),
                (_, Some(most)) => equal(expression, "<=", *most),
                _ => equal(expression, "!=", 0),
            }
        }
        (values, _) => {
            let each: Vec<String> = values
                .iter()
                .map(|value| equal(expression, "==", *value))
                .collect();
            each.join(" || ")
        }
    };
    match numbers.below(4) {
        0 => format!("if (!({condition})) reach_error();"),
        1 => format!("__VERIFIER_assert({condition});"),
        _ => format!("assert({condition});"),
    }
}

/// A comparison with a number as a `long`, so that no sign is lost.
fn equal(expression: &str, sign: &str, value: i64) -> String {
    match value {
        i64::MIN => format!("(long)({expression}) {sign} (-9223372036854775807L - 1)"),
        value => format!("(long)({expression}) {sign} {value}L"),
    }
}

/// The program with assertions: all hold in the runs that were seen, or one of them is wrong or a guess.
fn with_assertions(seed: u64, program: &Generated, seen: &[Seen]) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
    numbers.next();
    let reached: Vec<usize> = (0..program.probes.len())
        .filter(|&at| !seen[at].values.is_empty())
        .collect();
    let wrong = (numbers.below(5) < 2 && !reached.is_empty()).then(|| *numbers.of(&reached));
    let assertions: Vec<String> = (program.probes.iter().enumerate())
        .map(|(at, probe)| assertion(&mut numbers, probe, &seen[at], wrong == Some(at)))
        .collect();
    program.text(|at, _| assertions[at].clone())
}

/// How a program's integers are read.
fn integers(seed: u64) -> Integers {
    match seed % 4 {
        0 => Integers::Machine,
        _ => Integers::Mathematical,
    }
}

/// What is found about a program.
enum Found {
    Refused(String),
    Open,
    Proved,
    Violated,
    Panics,
}

fn check(text: &str, integers: Integers) -> Found {
    let found = catch_unwind(AssertUnwindSafe(|| {
        let imported = match bring("random.c", text, integers) {
            Ok(imported) => imported,
            Err(why) => return Found::Refused(why),
        };
        let model = threadwise_lang::check(&imported.text()).program.unwrap();
        let instance = Instance::new(Arc::new(model), &BTreeMap::new()).unwrap();
        // An input without bounds is not for this engine.
        let Ok(system) = lower(&instance, 3) else {
            return Found::Open;
        };
        let property = system.properties.iter().find(|p| p.name == "checks");
        let limits = Limits {
            states: Some(MOST_STATES),
            ..Limits::NONE
        };
        let engine = Explicit::default();
        let outcome = engine.check_all(&system, &[property.unwrap()], &limits, &mut Silent);
        match &outcome.answers[0] {
            Answer::Proved(_) => Found::Proved,
            Answer::Violated(_) => Found::Violated,
            Answer::Unknown(_) => Found::Open,
        }
    }));
    found.unwrap_or(Found::Panics)
}

#[derive(Default)]
struct Quality {
    proved: usize,
    /// Violated, and a run fails.
    shown: usize,
    /// Violated, and no run fails.
    hidden: usize,
    /// Decided programs with one run.
    exact: usize,
    open: usize,
    refused: BTreeMap<String, usize>,
    executions: usize,
    calls: BTreeMap<&'static str, usize>,
    jumps: BTreeSet<(Jump, Loop)>,
    different: BTreeMap<u64, String>,
}

impl Quality {
    fn refusals(&self) -> usize {
        self.refused.values().sum()
    }

    fn all(&self) -> usize {
        self.proved + self.shown + self.hidden + self.open + self.refusals()
    }

    fn summary(&self) -> String {
        format!(
            "{} programs, {} executions: {} proved, {} violated and seen to fail, {} violated and not seen to fail, {} with one run; {} open, {} refused",
            self.all(),
            self.executions,
            self.proved,
            self.shown,
            self.hidden,
            self.exact,
            self.open,
            self.refusals()
        )
    }

    fn add(&mut self, seed: u64, program: &Generated, text: &str, found: Found, runs: &Runs) {
        self.executions += runs.all();
        let one = program.kind == Kind::One;
        match (found, &runs.first) {
            (Found::Refused(why), _) => {
                // Without the place.
                let why = why.split_once(": ").map_or(why.as_str(), |(_, why)| why);
                *self.refused.entry(why.to_owned()).or_default() += 1;
                return keep(seed, "refused", text);
            }
            (Found::Open, _) => {
                self.open += 1;
                return keep(seed, "open", text);
            }
            (Found::Panics, _) => {
                return self.differ(seed, text, "the front end or the engine panics".to_owned());
            }
            (Found::Violated, None) if one && runs.ended > 0 => {
                return self.differ(
                    seed,
                    text,
                    "violated, and its only run does not fail".to_owned(),
                );
            }
            (Found::Proved, Some((run, why))) => {
                return self.differ(seed, text, format!("proved, and run {run} fails: {why}"));
            }
            (Found::Violated, Some(_)) => self.shown += 1,
            (Found::Violated, None) => {
                self.hidden += 1;
                keep(seed, "hidden", text);
            }
            (Found::Proved, None) => self.proved += 1,
        }
        self.exact += usize::from(one);
        self.jumps.extend(&program.jumps);
        for call in &program.calls {
            *self.calls.entry(call).or_default() += 1;
        }
    }

    fn differ(&mut self, seed: u64, text: &str, what: String) {
        println!("program {seed}: {what}\n{text}");
        keep(seed, "different", &format!("// {what}\n{text}"));
        self.different.insert(seed, what);
    }

    fn assert(&self) {
        let summary = self.summary();
        let decided = self.proved + self.shown + self.hidden;
        assert!(self.refusals() * 4 <= self.all(), "{summary}");
        assert!(self.open * 10 <= self.all(), "{summary}");
        assert!(self.proved * 4 >= decided, "{summary}");
        assert!(self.shown * 5 >= decided, "{summary}");
        // The oracle bites.
        assert!(self.shown >= 3 * self.hidden, "{summary}");
        assert!(self.exact * 5 >= decided, "{summary}");
        for (name, _) in library::RULES {
            assert!(self.calls.contains_key(name), "no program calls `{name}`");
        }
        for &jump in JUMPS {
            for &form in LOOPS.iter().filter(|&&form| fits(jump, form)) {
                assert!(
                    self.jumps.contains(&(jump, form)),
                    "no {jump:?} in {form:?}"
                );
            }
        }
    }
}

/// Keeps a text for who asks for it.
fn keep(seed: u64, kind: &str, text: &str) {
    if let Some(dir) = std::env::var_os("REAL_FOUND") {
        let dir = Path::new(&dir);
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join(format!("{kind}-{seed}.c")), text).unwrap();
    }
}

fn batch(seeds: &[u64], quality: &Mutex<Quality>) {
    let programs: Vec<Generated> = seeds.iter().map(|&seed| generate(seed)).collect();
    let learning: Vec<String> = programs
        .iter()
        .map(|program| {
            let text = program.text(|at, probe| format!("probe({at}, ({}));", probe.expression));
            format!("extern void probe(int, long);\n{text}")
        })
        .collect();
    let texts = |all: &[String]| -> Batch {
        let all = all.iter().zip(seeds);
        let all: Vec<_> = all
            .map(|(text, &seed)| (text.as_str(), integers(seed)))
            .collect();
        Batch::build(&format!("real-random-{}", seeds[0]), &all)
    };
    let built = texts(&learning);
    let asserting: Vec<String> = (programs.iter().zip(seeds).enumerate())
        .map(|(at, (program, &seed))| {
            let runs = if program.kind == Kind::One {
                1
            } else {
                LEARNING
            };
            let runs = built.run(at, seed, runs, false);
            with_assertions(seed, program, &runs.seen)
        })
        .collect();
    drop(built);
    let built = texts(&asserting);
    for (at, (program, &seed)) in programs.iter().zip(seeds).enumerate() {
        let text = &asserting[at];
        let found = check(text, integers(seed));
        let runs = match (&found, program.kind) {
            (Found::Refused(_) | Found::Panics, _) => 0,
            (_, Kind::One) => 1,
            (Found::Violated, _) => 4 * RUNS,
            _ => RUNS,
        };
        let runs = built.run(at, seed + 1_000, runs, true);
        quality
            .lock()
            .unwrap()
            .add(seed, program, text, found, &runs);
    }
}

fn compare(seeds: &[u64]) -> Quality {
    let quality = Mutex::new(Quality::default());
    let batches: Vec<&[u64]> = seeds.chunks(TOGETHER).collect();
    in_parallel(batches.len(), |at| batch(batches[at], &quality));
    let quality = quality.into_inner().unwrap();
    println!("{}", quality.summary());
    for (why, count) in &quality.refused {
        println!("  {count}: {why}");
    }
    let list: Vec<String> = (quality.different.iter())
        .map(|(seed, what)| format!("{seed}: {what}"))
        .collect();
    assert!(list.is_empty(), "{}", list.join("\n"));
    quality
}

#[test]
fn every_function_of_the_table_has_a_rule() {
    let known: BTreeSet<&str> = FUNCTIONS
        .iter()
        .filter(|row| row.treatment != Treatment::Refused)
        .flat_map(|row| row.names.iter().copied())
        .collect();
    let ruled: BTreeSet<&str> = library::RULES.iter().map(|(name, _)| *name).collect();
    let without: Vec<&&str> = known.difference(&ruled).collect();
    let beyond: Vec<&&str> = ruled.difference(&known).collect();
    assert!(without.is_empty(), "no random program calls {without:?}");
    assert!(beyond.is_empty(), "the front end does not know {beyond:?}");
}

/// Programs from a number on.
fn compare_from(first: u64, count: u64) -> Quality {
    println!("programs {first} to {}", first + count - 1);
    let seeds: Vec<u64> = (first..first + count).collect();
    compare(&seeds)
}

/// A number that is another one each time.
fn fresh() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos() as u64 % 1_000_000_000 + 1_000_000
}

#[test]
fn what_is_proved_of_random_programs_does_not_fail_when_they_run() {
    if !can_run() {
        return;
    }
    let first = variable("REAL_SEED").unwrap_or(0);
    let count = variable("REAL_PROGRAMS").unwrap_or(PROGRAMS);
    let quality = compare_from(first, count);
    if count >= PROGRAMS {
        quality.assert();
    }
}

#[test]
fn what_is_proved_of_new_random_programs_does_not_fail_when_they_run() {
    if can_run() {
        compare_from(fresh(), FRESH);
    }
}

#[test]
#[ignore = "takes minutes"]
fn what_is_proved_of_many_random_programs_does_not_fail_when_they_run() {
    if can_run() {
        let first = variable("REAL_SEED").unwrap_or_else(fresh);
        compare_from(first, MANY).assert();
    }
}
