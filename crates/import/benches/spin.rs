//! `explicit` beside SPIN's verifier on the same states: CPU time, states a second, memory.
//!
//! `cargo bench -p threadwise-import --bench spin` prints a table in Markdown. Each figure is the
//! median of several runs, each in a process of its own, measured by GNU time. Both check all safety
//! properties of the model. SPIN gets a hash table that fits and exactly the depth that it needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use threadwise_engine::{Answer, Engine, Explicit, Limits, Silent};
use threadwise_import::promela::promela;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemPropertyKind};

/// Model, N, and the logarithm of the size of SPIN's hash table.
const CASES: &[(&str, i64, u32)] = &[
    ("peterson", 5, 24),
    ("bakery", 8, 22),
    ("mux_sem_count", 5, 25),
];
const RUNS: usize = 3;
const SPIN: &str = "gcc -O2 -DSAFETY -DNOREDUCE";

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    match &args[..] {
        [word, name, n, threads] if word == "explicit" => {
            explicit(
                name,
                n.parse().expect("a number"),
                threads.parse().expect("a number"),
            );
        }
        _ => table(&args),
    }
}

fn system(name: &str, n: i64) -> System {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.tw"));
    let checked = threadwise_lang::check(&std::fs::read_to_string(file).expect("a model"));
    let program = Arc::new(checked.program.expect("a model without errors"));
    let values = BTreeMap::from([("N".to_owned(), n)]);
    let instance = Instance::new(program, &values).expect("an instance");
    lower(&instance, 0).expect("a system")
}

fn safety(system: &System) -> Vec<usize> {
    let all = 0..system.properties.len();
    all.filter(|&at| !matches!(system.properties[at].kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

/// The run that is measured.
fn explicit(name: &str, n: i64, threads: usize) {
    let system = system(name, n);
    let properties: Vec<_> = safety(&system)
        .into_iter()
        .map(|at| &system.properties[at])
        .collect();
    let engine = Explicit {
        threads,
        ..Explicit::default()
    };
    let outcome = engine.check_all(&system, &properties, &Limits::NONE, &mut Silent);
    assert!(
        outcome
            .answers
            .iter()
            .all(|answer| matches!(answer, Answer::Proved(_)))
    );
    println!("{} states", outcome.stats.states.unwrap_or(0));
    println!(
        "{} bytes a state",
        outcome.stats.bytes_per_state.unwrap_or(0.0)
    );
}

/// What a run took.
#[derive(Clone, Copy)]
struct Run {
    states: u64,
    /// CPU seconds, user and system.
    seconds: f64,
    /// Seconds on the clock.
    clock: f64,
    /// The greatest resident memory, in KiB.
    memory: u64,
}

fn measure(dir: &Path, program: &Path, args: &[&str], states: impl Fn(&str) -> Option<u64>) -> Run {
    let runs = (0..RUNS).map(|_| {
        let mut command = Command::new("/usr/bin/time");
        command
            .args(["-f", "measured %U %S %M %e"])
            .arg(program)
            .args(args)
            .current_dir(dir);
        let output = command.output().expect("GNU time");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{program:?} failed: {text}{errors}"
        );
        let line = errors
            .lines()
            .find_map(|line| line.strip_prefix("measured "))
            .expect("a measurement");
        let figures: Vec<f64> = line
            .split(' ')
            .filter_map(|figure| figure.parse().ok())
            .collect();
        let states = states(&text).unwrap_or_else(|| panic!("no number of states: {text}"));
        Run {
            states,
            seconds: figures[0] + figures[1],
            memory: figures[2] as u64,
            clock: figures[3],
        }
    });
    let mut runs: Vec<Run> = runs.collect();
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs[RUNS / 2]
}

fn states(text: &str, after: &str) -> Option<u64> {
    text.lines()
        .find(|line| line.contains(after))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("threadwise-bench-{}-{name}", std::process::id()))
}

fn table(only: &[String]) {
    println!(
        "| model | engine | states | CPU s | clock s | M states/s | peak MiB | bytes a state |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for &(name, n, hash) in CASES {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        let system = system(name, n);
        let export = promela(&system, &safety(&system)).expect("an export");
        let dir = scratch(name);
        std::fs::create_dir_all(&dir).expect("a directory");
        std::fs::write(dir.join("model.pml"), &export.text).expect("a file");
        let gcc: Vec<&str> = SPIN
            .split(' ')
            .chain(["-w", "-o", "pan", "pan.c"])
            .collect();
        for command in [&["spin", "-a", "-o2", "model.pml"][..], &gcc] {
            let output = Command::new(command[0])
                .args(&command[1..])
                .current_dir(&dir)
                .output();
            assert!(
                output.expect("spin and gcc").status.success(),
                "{command:?}"
            );
        }
        let me = std::env::current_exe().expect("this program");
        let n_text = n.to_string();
        let ours = |threads: &str| {
            measure(&dir, &me, &["explicit", name, &n_text, threads], |text| {
                states(text, "states")
            })
        };
        let (ours, shared) = (ours("1"), ours("2"));
        let hash = format!("-w{hash}");
        let pan = dir.join("pan");
        // SPIN takes memory for as deep a search as it is told to expect: exactly what it needs.
        let trial = Command::new(&pan)
            .args(["-m20000000", &hash])
            .output()
            .expect("pan");
        let trial = String::from_utf8_lossy(&trial.stdout).into_owned();
        let depth = trial
            .split("depth reached ")
            .nth(1)
            .and_then(|rest| rest.split(',').next());
        let depth: u64 = depth
            .and_then(|depth| depth.trim().parse().ok())
            .expect("a depth");
        let depth = format!("-m{}", depth + 10);
        let pan = measure(&dir, &pan, &[&depth, &hash], |text| {
            assert!(
                text.contains("errors: 0") && !text.contains("too small"),
                "{text}"
            );
            states(text, "states, stored")
        });
        assert_eq!(pan.states - export.extra_states, ours.states, "{name}");
        for (engine, run) in [
            ("explicit", ours),
            ("explicit, 2 threads", shared),
            ("SPIN", pan),
        ] {
            println!(
                "| {name} N={n} | {engine} | {} | {:.2} | {:.2} | {:.2} | {:.0} | {:.1} |",
                run.states,
                run.seconds,
                run.clock,
                run.states as f64 / run.seconds / 1e6,
                run.memory as f64 / 1024.0,
                run.memory as f64 * 1024.0 / run.states as f64,
            );
        }
        let _ = std::fs::remove_dir_all(&dir);
    }
}
