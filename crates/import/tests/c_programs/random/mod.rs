//! Random concurrent programs, compared with SPIN: whether a check can fail.
//!
//! A program is printed twice, as C and as Promela, by the meaning of C that the book states. `C_PROGRAMS` asks for another number of programs, `C_SEED` for others, and `C_FOUND`
//! names a directory for those on which there is a difference.

mod generate;
mod program;
mod to_c;
mod to_promela;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use threadwise_engine::Answer;
use threadwise_import::from_c::Integers;

use self::generate::generate;
use self::to_c::to_c;
use self::to_promela::to_promela;
use super::bring;
use crate::common::scratch;
use threadwise_testgen::tools::{self, have};

/// How many programs are compared.
const PROGRAMS: u64 = 400;
/// Programs with more states are not compared.
const MOST_STATES: u64 = 60_000;

/// What texts of C should have in them, with the least share of programs, in percent.
const CONSTRUCTS: &[(&str, usize)] = &[
    ("__VERIFIER_atomic_f", 10),
    ("struct pair", 5),
    ("void f", 10),
    ("pthread_join", 70),
    ("pthread_mutex_lock(&", 15),
    ("pthread_mutex_trylock", 3),
    ("pthread_cond_wait", 3),
    ("sem_wait", 3),
    ("sem_trywait", 3),
    ("sem_post", 3),
    ("__VERIFIER_atomic_begin();\n", 10),
    ("atomic_fetch_add", 5),
    ("atomic_exchange", 5),
    ("compare_exchange_strong", 3),
    ("compare_exchange_weak", 1),
    ("__sync_fetch_and_add", 5),
    ("__sync_bool_compare_and_swap", 3),
    ("__sync_val_compare_and_swap", 3),
    ("__atomic_", 5),
    ("while (", 15),
    ("do {", 5),
    ("for (", 5),
    ("switch (", 8),
    ("default:", 5),
    ("break;", 10),
    ("continue;", 1),
    ("if (", 40),
    ("else {", 10),
    (" && ", 20),
    (" || ", 15),
    (" ? ", 8),
    ("++", 30),
    (" += ", 8),
    ("a[", 20),
    ("s.p", 5),
    ("].q", 5),
    ("*to", 5),
    ("static int", 5),
    ("own", 10),
    ("= __VERIFIER_nondet_int();", 8),
    ("__VERIFIER_nondet_uint()", 8),
    ("__VERIFIER_nondet_int() <", 8),
    ("assume_abort_if_not(", 20),
];

enum Comparison {
    /// SPIN gives up.
    TooLarge,
    Refused(String),
    /// We do not decide.
    Open,
    Compared {
        violated: bool,
    },
    Different(String),
}

/// `tcc` compiles a verifier ten times as fast as `gcc`.
fn compiler() -> Option<&'static str> {
    ["tcc", "gcc"].into_iter().find(|tool| have(tool))
}

/// Whether a check can fail; nothing if there are too many states.
fn by_spin(dir: &Path, text: &str, reduced: bool) -> Option<bool> {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("model.pml"), text).unwrap();
    let spin = Command::new("spin")
        .args(["-a", "model.pml"])
        .current_dir(dir)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&spin.stdout).into_owned();
    assert!(
        spin.status.success() && !said.contains("rror"),
        "{said}\n{text}"
    );
    let compiled = Command::new(compiler().unwrap())
        .args(["-w", "-DSAFETY", "-DVECTORSZ=16384", "-DMEMLIM=400"])
        .args((!reduced).then_some("-DNOREDUCE"))
        .args(["-o", "pan", "pan.c"])
        .current_dir(dir)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}\n{text}");
    let run = Command::new("sh")
        .args(["-c", "ulimit -t 3; exec ./pan -E -n -w18 -m100000"])
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&run.stdout);
    if report.contains("assertion violated") {
        return Some(true);
    }
    let full = ["max search depth too small", "MEMLIM", "out of memory"];
    if run.status.code().is_none() || full.iter().any(|words| report.contains(words)) {
        return None;
    }
    assert!(report.contains("errors: 0"), "{report}\n{text}");
    Some(false)
}

fn compare(name: &str, c: &str, promela: &str) -> Comparison {
    let dir = scratch(name);
    let spin = by_spin(&dir, promela, true);
    let Some(theirs) = spin else {
        let _ = std::fs::remove_dir_all(&dir);
        return Comparison::TooLarge;
    };
    let ours = catch_unwind(AssertUnwindSafe(|| {
        let imported = bring(name, c, Integers::Mathematical)?;
        let Some(system) = tools::system(&imported.text(), None) else {
            return Err("no instance".to_owned());
        };
        let at = system.properties.iter().position(|p| p.name == "checks");
        let Some(at) = at else {
            return Err("no checks".to_owned());
        };
        let outcome = tools::explicit(&system, &[at], Some(MOST_STATES));
        Ok(match &outcome.answers[0] {
            Answer::Proved(_) => Some(false),
            Answer::Violated(_) => Some(true),
            Answer::Unknown(_) => None,
        })
    }));
    let found = match ours {
        Err(_) => Comparison::Different("panic".to_owned()),
        Ok(Err(why)) => Comparison::Refused(why),
        Ok(Ok(None)) => Comparison::Open,
        Ok(Ok(Some(mine))) if mine == theirs => Comparison::Compared { violated: mine },
        Ok(Ok(Some(mine))) => {
            let again = by_spin(&dir, promela, false);
            Comparison::Different(format!(
                "violated is {mine} for us, {theirs} for SPIN, {again:?} without reduction"
            ))
        }
    };
    let _ = std::fs::remove_dir_all(&dir);
    found
}

#[derive(Default)]
struct Quality {
    compared: usize,
    violated: usize,
    open: usize,
    too_large: usize,
    refused: BTreeMap<String, usize>,
    constructs: BTreeMap<&'static str, usize>,
    different: BTreeMap<u64, String>,
}

impl Quality {
    fn share(&self, count: usize) -> usize {
        count * 100 / self.compared.max(1)
    }

    fn print(&self) {
        println!(
            "{} compared, {} violated, {} open, {} too large for SPIN, {} refused",
            self.compared,
            self.violated,
            self.open,
            self.too_large,
            self.refused.values().sum::<usize>()
        );
        for (why, count) in &self.refused {
            println!("  {count}: {why}");
        }
        for (construct, count) in &self.constructs {
            println!("{:>4}% {}", self.share(*count), construct.trim());
        }
    }

    fn assert(&self) {
        assert!(self.compared >= 300, "only {} compared", self.compared);
        let violated = self.share(self.violated);
        assert!((20..=80).contains(&violated), "{violated}% are violated");
        assert!(self.open * 10 < self.compared, "{} open", self.open);
        assert!(
            self.too_large * 10 < self.compared,
            "{} too large",
            self.too_large
        );
        let refused: usize = self.refused.values().sum();
        assert!(refused * 10 < self.compared, "{refused} refused");
        for &(construct, least) in CONSTRUCTS {
            let count = self.constructs.get(construct).copied().unwrap_or(0);
            assert!(
                self.share(count) >= least,
                "{construct}: {}%, less than {least}%",
                self.share(count)
            );
        }
    }
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn checks_fail_where_spin_says_so() {
    if !have("spin") || compiler().is_none() {
        eprintln!("SKIPPED: comparison with SPIN, because spin or a C compiler is missing");
        return;
    }
    let first: u64 = variable("C_SEED").unwrap_or(0);
    let count = variable("C_PROGRAMS").unwrap_or(PROGRAMS);
    let next = AtomicUsize::new(0);
    let quality = Mutex::new(Quality::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed) as u64;
                    if at >= count {
                        break;
                    }
                    one(first + at, &quality);
                }
            });
        }
    });
    let quality = quality.into_inner().unwrap();
    quality.print();
    let list: Vec<String> = quality
        .different
        .iter()
        .map(|(seed, what)| format!("{seed}: {what}"))
        .collect();
    assert!(list.is_empty(), "{}", list.join("\n"));
    if count >= PROGRAMS {
        quality.assert();
    }
}

fn one(seed: u64, quality: &Mutex<Quality>) {
    let program = generate(seed);
    let (c, promela) = (to_c(&program), to_promela(&program));
    let result = compare(&format!("random-c-{seed}"), &c, &promela);
    let mut quality = quality.lock().unwrap();
    match result {
        Comparison::TooLarge => quality.too_large += 1,
        Comparison::Refused(why) => {
            // Without the place.
            let why = why.split_once(": ").map_or(why.as_str(), |(_, why)| why);
            *quality.refused.entry(why.to_owned()).or_default() += 1;
        }
        Comparison::Open => quality.open += 1,
        Comparison::Compared { violated } => {
            quality.compared += 1;
            quality.violated += usize::from(violated);
            let (_, own) = c.split_once("item r[2];").unwrap();
            for &(construct, _) in CONSTRUCTS {
                if own.contains(construct) {
                    *quality.constructs.entry(construct).or_default() += 1;
                }
            }
        }
        Comparison::Different(what) => {
            println!("seed {seed}: {what}");
            if let Some(dir) = std::env::var_os("C_FOUND") {
                std::fs::create_dir_all(&dir).unwrap();
                let path = Path::new(&dir).join(format!("{seed}"));
                std::fs::write(path.with_extension("c"), &c).unwrap();
                std::fs::write(path.with_extension("pml"), &promela).unwrap();
            }
            quality.different.insert(seed, what);
        }
    }
}
