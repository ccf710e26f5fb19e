//! SPIN on the exported Promela: for every model of the library at small sizes it finds the same
//! number of states as `explicit`, and an error exactly if a property is violated.
//!
//! Without `spin` and `gcc` on the path the test says that it was skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use threadwise_engine::{Answer, Engine, Explicit, Limits, Silent};
use threadwise_import::promela::{ExportError, promela};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_testgen::generate::generate;

fn system(text: &str, n: Option<i64>) -> Option<System> {
    let checked = threadwise_lang::check(text);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let values: BTreeMap<String, i64> = n.into_iter().map(|n| ("N".to_owned(), n)).collect();
    let instance = Instance::new(Arc::new(program), &values).ok()?;
    Some(lower(&instance, 3).unwrap_or_else(|errors| panic!("{errors:?}")))
}

fn safety(system: &System) -> Vec<usize> {
    let all = 0..system.properties.len();
    all.filter(|&at| !matches!(system.properties[at].kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

fn have(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

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

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
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
    let refs: Vec<_> = properties
        .iter()
        .map(|&at| &system.properties[at])
        .collect();
    let outcome = Explicit {
        exhaustive: true,
        ..Explicit::default()
    }
    .check_all(system, &refs, &Limits::NONE, &mut Silent);
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
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<_> = std::fs::read_dir(models)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "tw"));
    files.sort();
    let next = AtomicUsize::new(0);
    let compared = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let text = std::fs::read_to_string(file).unwrap();
                    for n in [2, 3] {
                        let Some(system) = system(&text, Some(n)) else {
                            continue;
                        };
                        let name = format!("{}-{n}", file.file_stem().unwrap().to_string_lossy());
                        compared.fetch_add(usize::from(compare(&name, &system)), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let compared = compared.into_inner();
    println!("compared {compared} instances");
    assert!(compared >= 50, "only {compared} instances");
}

const EVERYTHING: &str = "
enum Phase { a, b }
shared run: -3..4 = -2;
shared last: P? = none;
shared m: mutex;
shared grid: array[1..2] of array[P] of bool = any;
shared phase: Phase = a;
process P[i: 1..2] {
    local end: 0..3 = 1;
    first:  atomic { choose { havoc end; } or { run, end := end, (end + 1) % 4; } }
    second: lock m;
    atomic: atomic { last := i; if run > 0 { run := run - 1; } else { run := 4; } }
    third:  atomic { grid[1][i], grid[2][i] := grid[2][i], grid[1][i]; phase := b; }
    fourth: unlock m;
}
process Q {
    loop { wait: stay; go: await phase == b; assert run / 2 < 2; }
}
deadlock_free;
invariant small: (sum i in P: P[i].end) + max(run, 0) <= 9;
";

#[test]
fn same_states_on_many_constructs() {
    if skip() {
        return;
    }
    let system = system(
        &EVERYTHING.replace("atomic: atomic", "coarse: atomic"),
        None,
    )
    .unwrap();
    assert!(compare("everything", &system));
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
    let next = AtomicUsize::new(0);
    let compared = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while compared.load(Ordering::Relaxed) < wanted {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let Some(system) = system(&generate(seed as u64), None) else {
                        continue;
                    };
                    if small(&system) {
                        let done = compare(&format!("seed-{seed}"), &system);
                        compared.fetch_add(usize::from(done), Ordering::Relaxed);
                    }
                }
            });
        }
    });
}

/// Complete, with few states, but not very few.
fn small(system: &System) -> bool {
    let limits = Limits {
        states: Some(20_000),
        ..Limits::NONE
    };
    let engine = Explicit {
        exhaustive: true,
        ..Explicit::default()
    };
    let outcome = engine.check_all(system, &[], &limits, &mut Silent);
    outcome.complete && outcome.stats.states.is_some_and(|states| states >= 30)
}
