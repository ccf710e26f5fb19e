//! What the comparisons with other tools share.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use threadwise_engine::{Engine, Limits, Outcome, Silent};
use threadwise_explicit::Explicit;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemPropertyKind};

use crate::generate::generate;

/// The system of a program; nothing if `N` cannot have this value.
pub fn system(text: &str, n: Option<i64>) -> Option<System> {
    let checked = threadwise_lang::check(text);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let values: BTreeMap<String, i64> = n.into_iter().map(|n| ("N".to_owned(), n)).collect();
    let instance = Instance::new(Arc::new(program), &values).ok()?;
    Some(lower(&instance, 3).unwrap_or_else(|errors| panic!("{errors:?}")))
}

/// The positions of its safety properties.
pub fn safety(system: &System) -> Vec<usize> {
    let all = 0..system.properties.len();
    all.filter(|&at| !matches!(system.properties[at].kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

/// Whether a tool is on the path.
pub fn have(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// What `explicit` finds for some properties in all states.
pub fn explicit(system: &System, properties: &[usize], states: Option<u64>) -> Outcome {
    let refs: Vec<_> = properties
        .iter()
        .map(|&at| &system.properties[at])
        .collect();
    let limits = Limits {
        states,
        ..Limits::NONE
    };
    let engine = Explicit {
        exhaustive: true,
        ..Explicit::default()
    };
    engine.check_all(system, &refs, &limits, &mut Silent)
}

/// Complete, with few states, but not very few.
pub fn small(system: &System) -> bool {
    let outcome = explicit(system, &[], Some(20_000));
    outcome.complete && outcome.stats.states.is_some_and(|states| states >= 30)
}

/// Calls `f` with every model of the library at N=2 and N=3, and with its name.
pub fn for_library(f: impl Fn(&str, &System) + Sync) {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files: Vec<_> = std::fs::read_dir(models)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "tw"));
    files.sort();
    let next = AtomicUsize::new(0);
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
                        f(&name, &system);
                    }
                }
            });
        }
    });
}

/// Calls `f` with small random programs until it has said of so many that it took them.
pub fn for_random(wanted: usize, f: impl Fn(&str, &System) -> bool + Sync) {
    let next = AtomicUsize::new(0);
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while taken.load(Ordering::Relaxed) < wanted {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let Some(system) = system(&generate(seed as u64), None) else {
                        continue;
                    };
                    if small(&system) {
                        let took = f(&format!("seed-{seed}"), &system);
                        taken.fetch_add(usize::from(took), Ordering::Relaxed);
                    }
                }
            });
        }
    });
}

/// A program with most constructs in it.
pub const EVERYTHING: &str = "
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
    coarse: atomic { last := i; if run > 0 { run := run - 1; } else { run := 4; } }
    third:  atomic { grid[1][i], grid[2][i] := grid[2][i], grid[1][i]; phase := b; }
    fourth: unlock m;
}
process Q {
    loop { wait: stay; go: await phase == b; assert run / 2 < 2; }
}
deadlock_free;
invariant small: (sum i in P: P[i].end) + max(run, 0) <= 9;
";
