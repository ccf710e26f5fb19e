//! SMV and BLIF: whoever reads them finds the same states as `explicit`, and the same verdict on
//! every safety property.
//!
//! Two small readers look at all of them. NuSMV and ABC do where they are on the path; otherwise the test says
//! that they were left out.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::readers::Found;
use crate::scratch;
use threadwise_engine::Answer;
use threadwise_export::UnfoldError;
use threadwise_export::blif::blif;
use threadwise_export::smv::smv;
use threadwise_model::system::System;
use threadwise_testgen::tools::{
    EVERYTHING, explicit, for_library, for_random, have, safety, small, system,
};

const NUSMV: &str = "NuSMV";
const ABC: &str = "berkeley-abc";
/// The readers go through so many states of one instance, to be quick.
const MOST_STATES: u64 = 4_000;

/// Verdicts that were compared.
#[derive(Default)]
struct Tally {
    proved: AtomicUsize,
    violated: AtomicUsize,
    /// Instances whose states were counted.
    counted: AtomicUsize,
}

impl Tally {
    fn add(&self, violated: &[bool], counted: bool) {
        let falses = violated.iter().filter(|violated| **violated).count();
        self.violated.fetch_add(falses, Ordering::Relaxed);
        self.proved
            .fetch_add(violated.len() - falses, Ordering::Relaxed);
        self.counted
            .fetch_add(usize::from(counted), Ordering::Relaxed);
    }

    /// Says what was compared, and fails if it is less than expected.
    fn expect(&self, who: &str, proved: usize, violated: usize, counted: usize) {
        let [p, v, c] = [&self.proved, &self.violated, &self.counted]
            .map(|count| count.load(Ordering::Relaxed));
        println!("{who}: {p} proved, {v} violated, states of {c} instances");
        assert!(
            p >= proved && v >= violated && c >= counted,
            "{who}: {p}, {v}, {c}"
        );
    }
}

/// Compares systems by all readers there are.
struct Comparison {
    /// The readers go through so many states.
    most_states: u64,
    nusmv: bool,
    abc: bool,
    by_smv_reader: Tally,
    by_blif_reader: Tally,
    by_nusmv: Tally,
    by_abc: Tally,
}

impl Comparison {
    fn new() -> Comparison {
        let [nusmv, abc] = [NUSMV, ABC].map(|tool| {
            let there = have(tool);
            if !there {
                eprintln!("SKIPPED: comparison with {tool}, which is not on the path");
            }
            there
        });
        Comparison {
            most_states: MOST_STATES,
            nusmv,
            abc,
            by_smv_reader: Tally::default(),
            by_blif_reader: Tally::default(),
            by_nusmv: Tally::default(),
            by_abc: Tally::default(),
        }
    }

    /// False if the system is refused.
    fn compare(&self, name: &str, system: &System) -> bool {
        let properties = safety(system);
        let text = match smv(system, &properties) {
            Ok(text) => text,
            Err(error) => {
                println!("{name}: not exported: {error}");
                return false;
            }
        };
        let outcome = explicit(system, &properties, None);
        assert!(outcome.complete, "{name}");
        let expected = Found {
            states: outcome.stats.states.unwrap(),
            violated: outcome
                .answers
                .iter()
                .map(|answer| matches!(answer, Answer::Violated(_)))
                .collect(),
        };
        let few = expected.states <= self.most_states;
        if few {
            assert_eq!(crate::readers::smv::read(&text), expected, "{name}");
            self.by_smv_reader.add(&expected.violated, true);
        }
        if self.nusmv {
            assert_eq!(run_nusmv(&scratch(name), &text), expected, "{name}");
            self.by_nusmv.add(&expected.violated, true);
        }
        for (number, (&property, &violated)) in
            properties.iter().zip(&expected.violated).enumerate()
        {
            let name = format!("{name}-{}", system.properties[property].name);
            let text = blif(system, property).unwrap();
            let violated = vec![violated];
            if few && let Some(found) = crate::readers::blif::read(&text, expected.states) {
                assert_eq!(
                    (found.states, &found.violated),
                    (expected.states, &violated),
                    "{name}"
                );
                self.by_blif_reader.add(&violated, number == 0);
            }
            if self.abc
                && let Some(found) = run_abc(&scratch(&name), &text)
            {
                assert_eq!(found, violated[0], "{name}");
                self.by_abc.add(&violated, false);
            }
        }
        true
    }
}

fn output(dir: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} in {dir:?}: {text}{errors}"
    );
    text
}

fn run_nusmv(dir: &Path, text: &str) -> Found {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("model.smv"), text).unwrap();
    let mut commands = String::from("go\n");
    // Of all at once it takes the easy ones first.
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("INVARSPEC NAME ") {
            let name = rest.split_whitespace().next().unwrap();
            commands.push_str(&format!("check_invar -P {name}\n"));
        }
    }
    commands.push_str("print_reachable_states\nquit\n");
    std::fs::write(dir.join("commands"), commands).unwrap();
    let report = output(dir, NUSMV, &["-source", "commands", "model.smv"]);
    let states = report.split("reachable states: ").nth(1);
    let states = states.unwrap_or_else(|| panic!("{report}"));
    let states: f64 = states.split_whitespace().next().unwrap().parse().unwrap();
    let verdicts = report.lines().filter_map(|line| {
        let verdict = line.strip_suffix("is false").map(|_| true);
        verdict.or_else(|| line.strip_suffix("is true").map(|_| false))
    });
    Found {
        states: states as u64,
        violated: verdicts.collect(),
    }
}

/// Whether ABC finds a violation; nothing if it does not know.
fn run_abc(dir: &Path, text: &str) -> Option<bool> {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("model.blif"), text).unwrap();
    let report = output(dir, ABC, &["-c", "read_blif model.blif; strash; pdr -T 2"]);
    match (
        report.contains("Property proved"),
        report.contains("was asserted in frame"),
    ) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        (false, false) => {
            println!("{dir:?}: ABC does not know: {report}");
            None
        }
        (true, true) => panic!("{dir:?}: {report}"),
    }
}

#[test]
fn same_states_and_verdicts_on_the_library() {
    let comparison = Comparison::new();
    for_library(|name, system| {
        comparison.compare(name, system);
    });
    comparison.by_smv_reader.expect("SMV reader", 100, 10, 45);
    comparison.by_blif_reader.expect("BLIF reader", 100, 10, 40);
    if comparison.nusmv {
        comparison.by_nusmv.expect("NuSMV", 100, 10, 50);
    }
    if comparison.abc {
        comparison.by_abc.expect("ABC", 100, 10, 0);
    }
}

/// How many random programs are compared.
const PROGRAMS: usize = 100;

#[test]
fn same_states_and_verdicts_on_random_programs() {
    let comparison = Comparison::new();
    for_random(PROGRAMS, |name, system| comparison.compare(name, system));
    comparison
        .by_smv_reader
        .expect("SMV reader", 100, 50, PROGRAMS / 2);
    comparison
        .by_blif_reader
        .expect("BLIF reader", 70, 30, PROGRAMS / 3);
    if comparison.nusmv {
        comparison.by_nusmv.expect("NuSMV", 100, 50, PROGRAMS);
    }
    if comparison.abc {
        comparison.by_abc.expect("ABC", 100, 50, 0);
    }
}

#[test]
fn same_states_on_many_constructs() {
    let system = system(EVERYTHING, None).unwrap();
    assert!(small(&system));
    let comparison = Comparison {
        most_states: u64::MAX,
        ..Comparison::new()
    };
    assert!(comparison.compare("everything", &system));
    comparison.by_smv_reader.expect("SMV reader", 1, 1, 1);
}

#[test]
fn refuses_what_cannot_be_written() {
    let refused = |text: &str, property: usize| {
        let system = system(text, None).unwrap();
        let error = smv(&system, &[property]).unwrap_err();
        assert_eq!(blif(&system, property), Err(error.clone()));
        error
    };
    let unbounded = refused("shared x: int = 0; process P { l: x := 1; }", 0);
    assert_eq!(unbounded, UnfoldError::Unbounded("x".into()));
    let dynamic = refused("process C[] { c: skip; } process P { l: start C; }", 0);
    assert_eq!(dynamic, UnfoldError::Dynamic("C".into()));
    let wide = refused("shared x: 0..3000000000 = 0; process P { l: x := 1; }", 0);
    assert_eq!(wide, UnfoldError::Wide("`x`".into()));
    let choices = refused(
        "shared x, y: 0..9999 = 0; process P { l: atomic { havoc x; y := x; } }",
        0,
    );
    assert!(
        matches!(choices, UnfoldError::TooManyChoices(_)),
        "{choices}"
    );
    let liveness = refused(
        "process P { l: skip; } fairness f: unconditional; liveness ends under f: F (P at done);",
        1,
    );
    assert_eq!(liveness, UnfoldError::Liveness("ends".into()));
}

/// Text that grows with the number of processes, not with its square, where steps do not look at each other.
#[test]
fn large_instances_are_written_shortly() {
    let text = "
        param N = 2; shared free: bool = true; shared in_use: array[P] of bool = false;
        process P[i: 1..N] { loop { wait: atomic { await free; free := false; in_use[i] := true; }
            leave: atomic { free := true; in_use[i] := false; } } }
        invariant mutex: forall i, j in P: i != j -> !(P[i] at leave && P[j] at leave);";
    let [small, large] = [50, 500].map(|n| {
        let system = system(text, Some(n)).unwrap();
        (
            smv(&system, &[1]).unwrap().len(),
            blif(&system, 1).unwrap().len(),
        )
    });
    assert!(large.0 < 15 * small.0, "SMV: {} and {}", small.0, large.0);
    assert!(large.1 < 15 * small.1, "BLIF: {} and {}", small.1, large.1);
}
