//! SPIN on the exported Promela: for every model of the library at small sizes it finds the same
//! number of states as `explicit`, and an error exactly if a property is violated.
//!
//! Without `spin` and `gcc` on the path the test says that it was skipped.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::scratch;
use threadwise_engine::Answer;
use threadwise_export::promela::{ExportError, promela};
use threadwise_model::system::System;
use threadwise_testgen::tools::{
    EVERYTHING, explicit, for_library, for_random, have, safety, system,
};

fn skip() -> bool {
    let missing: Vec<&str> = ["spin", "gcc"]
        .into_iter()
        .filter(|tool| !have(tool))
        .collect();
    if missing.is_empty() {
        return false;
    }
    eprintln!(
        "SKIPPED: comparison with SPIN, because of missing {}",
        missing.join(" and ")
    );
    true
}

/// States and errors that SPIN finds.
fn spin(dir: &Path, text: &str) -> (u64, u64) {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("model.pml"), text).unwrap();
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program)
            .args(args)
            .current_dir(dir)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{program} in {dir:?}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    };
    run("spin", &["-a", "-o2", "model.pml"]);
    run(
        "gcc",
        &["-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"],
    );
    let report = run("./pan", &["-c0", "-m1000000"]);
    let number = |before: &str, after: &str| -> u64 {
        let line = report
            .lines()
            .find(|line| line.contains(after))
            .unwrap_or_else(|| panic!("{report}"));
        let rest = if before.is_empty() {
            line
        } else {
            line.split(before).nth(1).unwrap()
        };
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(!report.contains("max search depth too small"), "{report}");
    (number("", "states, stored"), number("errors: ", "errors: "))
}

fn compare(name: &str, system: &System) -> bool {
    let properties = safety(system);
    let export = match promela(system, &properties) {
        Ok(export) => export,
        Err(error) => {
            println!("{name}: not exported: {error}");
            return false;
        }
    };
    let outcome = explicit(system, &properties, None);
    assert!(outcome.complete, "{name}");
    let (states, errors) = spin(&scratch(name), &export.text);
    assert_eq!(
        Some(states - export.extra_states),
        outcome.stats.states,
        "{name}"
    );
    let violated = outcome
        .answers
        .iter()
        .any(|answer| matches!(answer, Answer::Violated(_)));
    assert_eq!(errors > 0, violated, "{name}: SPIN finds {errors} errors");
    if violated {
        for (at, answer) in properties.iter().zip(&outcome.answers).skip(1) {
            let violated = matches!(answer, Answer::Violated(_))
                || matches!(outcome.answers[0], Answer::Violated(_));
            let name = format!("{name}-{}", system.properties[*at].name);
            let export = promela(system, &[*at]).unwrap();
            let (_, errors) = spin(&scratch(&name), &export.text);
            assert_eq!(errors > 0, violated, "{name}: SPIN finds {errors} errors");
        }
    }
    true
}

#[test]
fn same_states_and_verdicts_on_the_library() {
    if skip() {
        return;
    }
    let compared = AtomicUsize::new(0);
    for_library(|name, system| {
        compared.fetch_add(usize::from(compare(name, system)), Ordering::Relaxed);
    });
    let compared = compared.into_inner();
    println!("compared {compared} instances");
    assert!(compared >= 50, "only {compared} instances");
}

#[test]
fn same_states_on_many_constructs() {
    if skip() {
        return;
    }
    let system = system(EVERYTHING, None).unwrap();
    assert!(compare("everything", &system));
}

/// SPIN reads a model through the C preprocessor, and writes C with the names in it.
#[test]
fn names_that_mean_something_to_spin_or_c() {
    if skip() {
        return;
    }
    let names = "D_proctype active chan byte NULL EOF HAS_CODE VECTORSZ SYNC __LINE__ linux unix errno stdin uchar uint State Index _p _pid _last _ v_NULL";
    let names: Vec<&str> = names.split(' ').collect();
    let steps: String = names
        .iter()
        .map(|name| format!("to_{name}: {name} := 1 - {name};\n"))
        .collect();
    let text = format!(
        "shared {}: 0..1 = 0;\nprocess NULL_ {{ local _n, _t: 0..1 = 0; first: _n := 1; second: _t := 1;\n{steps} }}\n\
         process _P {{ local x: 0..1 = 0; first: x := 1; }}\ninvariant up: _p + _last <= 1; deadlock_free;",
        names.join(", "),
    );
    assert!(compare("names", &system(&text, None).unwrap()));
}

#[test]
fn refuses_what_promela_has_not() {
    let refused = |text: &str| promela(&system(text, None).unwrap(), &[0]).unwrap_err();
    let unbounded = refused("shared x: int = 0; process P { l: x := 1; }");
    assert_eq!(unbounded, ExportError::Unbounded("x".into()));
    let dynamic = refused("process C[] { c: skip; } process P { l: start C; }");
    assert_eq!(dynamic, ExportError::Dynamic("C".into()));
    let wide = refused("shared x: 0..3000000000 = 0; process P { l: x := 1; }");
    assert!(
        matches!(
            wide,
            ExportError::WideVariable(_) | ExportError::WideComputation(_)
        ),
        "{wide}"
    );
}

/// How many random programs SPIN sees; `SPIN_PROGRAMS` asks for another number.
const PROGRAMS: usize = 24;

#[test]
fn same_states_and_verdicts_on_random_programs() {
    if skip() {
        return;
    }
    let wanted = std::env::var("SPIN_PROGRAMS")
        .ok()
        .and_then(|n| n.parse().ok());
    let wanted: usize = wanted.unwrap_or(PROGRAMS);
    for_random(wanted, compare);
}
