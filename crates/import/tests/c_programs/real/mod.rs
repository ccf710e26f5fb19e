//! C programs run for real: gcc compiles them, and `scheduler.c` runs each some hundred times with threads that are switched at random.
//!
//! What is proved must not fail in any run. The other direction cannot be asked of one program, since runs are only samples; but of all programs that are violated a large part must fail for real, so that the oracle is
//! known to bite, and a program that has one run only must fail in it.

mod generate;
mod library;
mod random;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use threadwise_import::from_c::Integers;

use super::{Expected, programs};
use crate::common::scratch;
use threadwise_testgen::tools::have;

/// What gcc is asked for: calls of the scheduler, and a trap where an index is outside of its array.
const FLAGS: &[&str] = &[
    "-w",
    "-O0",
    "-std=gnu11",
    "-fsanitize=thread",
    "-fsanitize=bounds",
    "-fsanitize-undefined-trap-on-error",
    "-fsanitize-coverage=trace-pc",
    "-finstrument-functions",
    "-ftrivial-auto-var-init=pattern",
    "-include",
    "names.h",
];

/// What becomes of signed operations that overflow.
fn overflow(integers: Integers) -> &'static str {
    match integers {
        Integers::Mathematical => "-fsanitize=signed-integer-overflow",
        Integers::Machine => "-fwrapv",
    }
}

/// Programs in one executable.
struct Batch {
    dir: PathBuf,
}

/// How the runs of a program ended.
#[derive(Debug, Default)]
struct Runs {
    ended: usize,
    /// Runs in which an assumption is false, all threads wait, or that take too long.
    stuck: usize,
    failed: usize,
    /// The seed of the first run that fails, and what fails in it.
    first: Option<(u64, String)>,
    /// The values that were seen at each place that asks for them.
    seen: Vec<Seen>,
}

/// The values of an expression at a place.
#[derive(Clone, Debug, Default)]
struct Seen {
    values: Vec<i64>,
    /// There were more.
    more: bool,
}

impl Runs {
    fn all(&self) -> usize {
        self.ended + self.stuck + self.failed
    }
}

/// Whether programs can be run; says so if not.
fn can_run() -> bool {
    let can = have("gcc") && have("objcopy");
    if !can {
        eprintln!("SKIPPED: C programs run for real, because gcc or objcopy is missing");
    }
    can
}

fn tool(dir: &Path, name: &str, arguments: &[&str]) -> Output {
    let output = Command::new(name).args(arguments).current_dir(dir).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}:\n{errors}");
    output
}

/// The names in a text that begin in some way, outside of comments.
fn names(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let mut found: Vec<&str> = words.filter(|word| wanted(word)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// What is put behind a program: its functions that are one step by their names, and those that must not be called.
fn tail(number: usize, text: &str) -> String {
    let atomic = names(text, |name| {
        let rest = name.strip_prefix("__VERIFIER_atomic_");
        rest.is_some_and(|rest| rest != "begin" && rest != "end")
    });
    let error = names(text, |name| name == "reach_error");
    let mut tail = String::new();
    for (list, names) in [("atomic", atomic), ("error", error)] {
        let each: String = names
            .iter()
            .map(|name| format!("(void *){name}, "))
            .collect();
        let _ = writeln!(tail, "\nvoid *const {list}_{number}[] = {{ {each}0 }};");
    }
    tail
}

impl Batch {
    /// Compiles programs; each keeps its names to itself.
    fn build(name: &str, programs: &[(&str, Integers)]) -> Batch {
        let dir = scratch(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        let write = |file: &str, text: &str| std::fs::write(dir.join(file), text).unwrap();
        write("names.h", include_str!("names.h"));
        write("scheduler.c", include_str!("scheduler.c"));
        let mut table = String::from(
            "struct program { int (*main)(); void *const *atomic, *const *error; };\n",
        );
        let mut rows = String::new();
        let mut objects = Vec::new();
        for (number, &(text, integers)) in programs.iter().enumerate() {
            let (source, object) = (format!("{number}.c"), format!("{number}.o"));
            write(&source, &format!("{text}{}", tail(number, text)));
            let main = format!("-Dmain=main_{number}");
            tool(
                &dir,
                "gcc",
                &[FLAGS, &[overflow(integers), &main, "-c", &source]].concat(),
            );
            let kept = ["main", "atomic", "error"].map(|kept| format!("-G{kept}_{number}"));
            let [main, atomic, error] = kept.each_ref().map(String::as_str);
            tool(&dir, "objcopy", &[main, atomic, error, &object]);
            let _ = writeln!(
                table,
                "extern int main_{number}(); extern void *const atomic_{number}[], *const error_{number}[];"
            );
            let _ = writeln!(
                rows,
                "{{ main_{number}, atomic_{number}, error_{number} }},"
            );
            objects.push(object);
        }
        let _ = writeln!(table, "const struct program programs[] = {{\n{rows}}};");
        write("table.c", &table);
        let mut arguments = vec![
            "-w",
            "-O1",
            "-pthread",
            "-o",
            "programs",
            "scheduler.c",
            "table.c",
        ];
        arguments.extend(objects.iter().map(String::as_str));
        tool(&dir, "gcc", &arguments);
        Batch { dir }
    }

    /// Runs a program with so many seeds from one on, or until it fails.
    fn run(&self, number: usize, seed: u64, runs: usize, until_failure: bool) -> Runs {
        let stop = if until_failure { "1" } else { "0" };
        let arguments = [
            &number.to_string(),
            &seed.to_string(),
            &runs.to_string(),
            stop,
        ];
        let output = tool(&self.dir, "./programs", &arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines();
        let counts = lines
            .next()
            .unwrap()
            .split(' ')
            .map(|word| word.parse().unwrap());
        let [ended, stuck, failed] = counts.collect::<Vec<usize>>().try_into().unwrap();
        let (seed, why) = lines.next().unwrap().split_once(' ').unwrap();
        let seen = lines.map(|line| {
            let mut numbers = line.split(' ').map(|word| word.parse().unwrap());
            let count: i64 = numbers.next().unwrap();
            let values: Vec<i64> = numbers.collect();
            Seen {
                more: count > values.len() as i64,
                values,
            }
        });
        Runs {
            ended,
            stuck,
            failed,
            first: (failed > 0).then(|| (seed.parse().unwrap(), why.to_owned())),
            seen: seen.collect(),
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Calls `f` with the numbers below `count`, in two threads.
fn in_parallel(count: usize, f: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    f(at);
                }
            });
        }
    });
}

/// A number of the environment.
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// How often a program of `tests/c` is run.
const RUNS: usize = 100;
/// How many are compiled together.
const TOGETHER: usize = 16;

#[test]
fn what_is_proved_of_the_programs_does_not_fail_when_they_run() {
    if !can_run() {
        return;
    }
    // That the verdicts are those that the programs state is tested where they are checked. Templates are not C.
    let all = programs();
    let compiled: Vec<_> = all
        .iter()
        .filter(|p| !p.name.starts_with("templates"))
        .collect();
    let batches: Vec<_> = compiled.chunks(TOGETHER).collect();
    let [executions, shown, hidden] = [const { AtomicUsize::new(0) }; 3];
    let wrong = Mutex::new(Vec::new());
    let runs = variable("C_RUNS").map_or(RUNS, |runs| runs as usize);
    in_parallel(batches.len(), |at| {
        let texts: Vec<_> = (batches[at].iter())
            .map(|program| (program.text.as_str(), Integers::Mathematical))
            .collect();
        let batch = Batch::build(&format!("real-{at}"), &texts);
        for (number, program) in batches[at].iter().enumerate() {
            let violated = program.expected == Expected::Violated;
            let found = batch.run(number, 1, if violated { 2 * runs } else { runs }, true);
            executions.fetch_add(found.all(), Ordering::Relaxed);
            match (violated, found.first) {
                (true, Some(_)) => _ = shown.fetch_add(1, Ordering::Relaxed),
                (true, None) => _ = hidden.fetch_add(1, Ordering::Relaxed),
                (false, Some((seed, why))) => {
                    let message =
                        format!("{} is proved, and run {seed} fails: {why}", program.name);
                    wrong.lock().unwrap().push(message);
                }
                (false, None) => {}
            }
        }
    });
    let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let (shown, hidden) = (of(&shown), of(&hidden));
    println!(
        "{} programs, {} executions; of those that are violated {shown} fail, {hidden} do not",
        compiled.len(),
        of(&executions)
    );
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compiled.len() >= 150 && shown >= 40, "{shown} fail");
    assert!(shown >= 3 * hidden, "{shown} fail, {hidden} do not");
}
