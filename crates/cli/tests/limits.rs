//! Limits, interrupts and crashes: whatever happens to an engine, there is an answer, and no
//! process is left behind.

#![cfg(unix)]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{ENDLESS, LOCK, PATIENCE, Place, Ran, SCATTERED, result};
use serde_json::Value;

/// Runs `check --json`, which must take less than so many seconds of the processor.
#[track_caller]
fn within(seconds: f64, place: &Place, args: &[&str]) -> (Value, Ran) {
    let (ran, took) = place.measured(&[&["check", "--json"], args].concat());
    assert!(took < seconds, "{args:?}: {took} s");
    (ran.json(), ran)
}

/// A model of which one property is violated at once, and that has no end of states.
const HALF: &str = "\
shared a, b, c: 0..100000 = 0;
process P[i: 1..4] {
    loop {
        step: choose { await a < 100000; a := a + 1; }
              or { await b < 100000; b := b + 1; }
              or { await c < 100000; c := c + 1; }
    }
}
invariant tiny: a <= 2;
invariant small: a <= 100000 && b <= 99999;
";

#[test]
fn a_time_limit_is_kept_and_the_statistics_stay() {
    let place = Place::new();
    place.file("endless.tw", ENDLESS);
    let begun = Instant::now();
    // One thread, so that its time is no shorter than that of the processor.
    let args = "endless.tw --engine explicit --threads 1 --timeout 2";
    let args: Vec<&str> = args.split(' ').collect();
    let (report, ran) = within(3.0, &place, &args);
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(1), "{took:?}");
    assert_eq!(ran.status, 3);
    let small = result(&report, "small");
    assert_eq!(small["verdict"], "unknown");
    assert_eq!(small["reason"]["code"], "timeout");
    assert!(small["reason"]["message"].as_str().unwrap().contains("2 s"));
    assert!(small["stats"]["states"].as_u64().unwrap() > 1000);
    assert!(small["stats"]["seconds"].as_f64().unwrap() > 1.0);
}

#[test]
fn what_was_decided_before_the_limit_stays_decided() {
    let place = Place::new();
    place.file("half.tw", HALF);
    // On a busy machine a second may pass before anything is decided.
    for seconds in ["1", "5", "25", "125"] {
        let (report, ran) = place.json(&["half.tw", "--timeout", seconds]);
        assert_eq!(result(&report, "small")["reason"]["code"], "timeout");
        let tiny = result(&report, "tiny");
        if tiny["verdict"] == "violated" {
            assert_eq!(ran.status, 1);
            return;
        }
        assert_eq!(tiny["reason"]["code"], "timeout");
    }
    panic!("nothing was decided before the limit");
}

#[test]
fn a_total_time_limit_ends_a_sweep() {
    let place = Place::new();
    place.file("scattered.tw", SCATTERED);
    let args = "scattered.tw --set N=1..5 --threads 1 --total-timeout 1";
    let args: Vec<&str> = args.split(' ').collect();
    let (report, ran) = within(3.0, &place, &args);
    assert_eq!(ran.status, 3);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 5, "every instance is accounted for");
    for run in runs {
        let reason = &run["results"][1]["reason"];
        assert_eq!(reason["code"], "timeout");
        assert!(
            reason["message"]
                .as_str()
                .unwrap()
                .contains("whole invocation")
        );
    }
}

#[test]
fn a_memory_limit_is_kept() {
    let place = Place::new();
    // Wide states, so that the memory is full soon.
    let wide = "shared wide: array[1..400] of 0..1000000 = 0;\n";
    place.file("endless.tw", format!("{ENDLESS}{wide}"));
    let (report, ran) = place.json(&[
        "endless.tw",
        "--engine",
        "explicit",
        "--memory",
        "256",
        "--timeout",
        "300",
    ]);
    assert_eq!(ran.status, 3);
    let small = result(&report, "small");
    assert_eq!(small["reason"]["code"], "memory");
    assert!(small["stats"]["states"].as_u64().unwrap() > 1000);
    if cfg!(target_os = "linux") {
        let used = small["stats"]["memory_mib"].as_f64().unwrap();
        assert!(used < 400.0 && used > 100.0, "{used}");
    }
}

#[test]
fn engines_that_take_turns_keep_the_limits_together() {
    let place = Place::new();
    place.file("scattered.tw", SCATTERED);
    for (threads, most) in [("1", 3.0), ("2", 6.0)] {
        let args = ["scattered.tw", "--set", "N=2", "--threads", threads];
        let args = [&args[..], &["--timeout", "2"]].concat();
        let (report, ran) = within(most, &place, &args);
        assert_eq!(ran.status, 3);
        let apart = result(&report, "apart");
        assert_eq!(apart["reason"]["code"], "timeout");
        assert!(
            apart["plan"]
                .as_str()
                .unwrap()
                .contains("explicit (share 3)")
        );
        let stats = &apart["stats"];
        assert!(stats["seconds"].as_f64().unwrap() > 0.5, "{stats}");
        assert!(stats["memory_mib"].as_f64().unwrap() > 1.0, "{stats}");
    }
}

/// Memory of a process in MiB.
#[cfg(target_os = "linux")]
fn resident_mib(process: u32) -> f64 {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm"));
    let pages = statm.ok().and_then(|statm| {
        let pages = statm.split(' ').nth(1)?.parse::<f64>();
        pages.ok()
    });
    pages.unwrap_or(0.0) / 256.0
}

#[cfg(target_os = "linux")]
#[test]
fn engines_that_take_turns_share_the_memory() {
    let place = Place::new();
    // Wide states, so that the memory is full soon.
    let wide = "shared wide: array[1..400] of 0..1000000 = 0;\n";
    place.file("scattered.tw", format!("{SCATTERED}{wide}"));
    let args = ["check", "scattered.tw", "--set", "N=2", "--json"];
    let limits = ["--memory", "256", "--timeout", "300"];
    let mut command = place.command(&[&args[..], &limits].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut most = 0.0f64;
    while child.try_wait().unwrap().is_none() {
        let all = workers(&child).into_iter().chain([child.id()]);
        most = most.max(all.map(resident_mib).sum());
        sleep(Duration::from_millis(20));
    }
    let ran = finish(child);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(most > 100.0 && most < 400.0, "{most}");
    let report = ran.json();
    let code = result(&report, "apart")["reason"]["code"].clone();
    assert!(code == "memory" || code == "timeout", "{code}");
}

#[test]
fn engines_that_take_turns_end_with_their_parent() {
    for name in ["INT", "KILL"] {
        let place = Place::new();
        place.file("scattered.tw", SCATTERED);
        let mut command = place.command(&["check", "scattered.tw", "--set", "N=2", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let begun = Instant::now();
        while workers(&child).len() < 3 {
            assert!(begun.elapsed() < PATIENCE, "too few workers");
            sleep(Duration::from_millis(20));
        }
        let all = workers(&child);
        signal(child.id(), name);
        let ran = finish(child);
        if name == "INT" {
            assert_eq!(ran.status, 130);
            let report = ran.json();
            assert_eq!(result(&report, "apart")["reason"]["code"], "interrupted");
        }
        all.into_iter().for_each(gone);
    }
}

/// Two arrays that are equal nowhere: a diagram that doubles with each index, in one operation.
const PAIRS: &str = "\
shared a, b: array[1..40] of bool = any;
process P { loop { step: skip; } }
invariant apart: exists i in 1..40: a[i] != b[i];
";

/// The engines that use decision diagrams.
const SYMBOLIC: [&str; 2] = ["forward", "backward"];

/// The text of a model of the library.
fn model(name: &str) -> String {
    let path = format!("{}/../../models/{name}.tw", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn decision_diagrams_keep_a_time_limit() {
    let place = Place::new();
    place.file("pairs.tw", PAIRS);
    place.file("peterson.tw", model("peterson"));
    place.file("mux_sem.tw", model("mux_sem"));
    place.file("wrong.tw", model("wrong_test_and_set"));
    let cases: [(&[&str], &str); 4] = [
        // In the middle of one operation.
        (&["pairs.tw"], "apart"),
        // While transitions are built.
        (&["peterson.tw", "--set", "N=9"], "mutex"),
        // A violation that has many steps to it.
        (&["wrong.tw", "--set", "N=1000"], "mutex"),
        // Thousands of processes: lowering, transitions and images together.
        (&["mux_sem.tw", "--set", "N=4000"], "mutex"),
    ];
    for engine in SYMBOLIC {
        for (args, property) in cases {
            let limits = ["--engine", engine, "--timeout", "2", "--no-recheck"];
            let (report, ran) = within(3.0, &place, &[args, &limits].concat());
            assert_eq!(ran.status, 3, "{engine} {args:?}");
            let answer = result(&report, property);
            assert_eq!(answer["verdict"], "unknown", "{engine} {args:?}");
            assert_eq!(answer["reason"]["code"], "timeout", "{engine} {args:?}");
            let seconds = answer["stats"]["seconds"].as_f64().unwrap();
            assert!(seconds > 1.9, "{engine} {args:?}");
            // Nothing is known of states, so nothing is said.
            assert!(answer["stats"]["states"].is_null(), "{engine} {args:?}");
        }
    }
}

#[test]
fn decision_diagrams_keep_a_memory_limit() {
    let place = Place::new();
    place.file("pairs.tw", PAIRS);
    for engine in SYMBOLIC {
        let limits = ["--engine", engine, "--memory", "256", "--timeout", "300"];
        let (report, ran) = place.json(&[&["pairs.tw"], &limits[..]].concat());
        assert_eq!(ran.status, 3, "{engine}");
        let apart = result(&report, "apart");
        assert_eq!(apart["verdict"], "unknown", "{engine}");
        let code = apart["reason"]["code"].as_str().unwrap();
        assert!(matches!(code, "memory" | "memory-limit"), "{engine} {code}");
        assert!(apart["stats"]["seconds"].as_f64().unwrap() > 0.0);
        if cfg!(target_os = "linux") {
            let used = apart["stats"]["memory_mib"].as_f64().unwrap();
            assert!(used < 400.0 && used > 100.0, "{engine} {used}");
        }
    }
}

/// The workers of a process.
fn workers(parent: &Child) -> Vec<u32> {
    let listed = Command::new("ps")
        .args(["-eo", "pid=,ppid="])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let pairs = listed.lines().filter_map(|line| {
        let mut numbers = line
            .split_whitespace()
            .map(|word| word.parse::<u32>().unwrap());
        Some((numbers.next()?, numbers.next()?))
    });
    pairs
        .filter(|pair| pair.1 == parent.id())
        .map(|pair| pair.0)
        .collect()
}

fn is_alive(process: u32) -> bool {
    let out = Command::new("ps")
        .args(["-o", "stat=", "-p", &process.to_string()])
        .output();
    let state = String::from_utf8(out.unwrap().stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Starts a check that would take for ever, and waits for its worker.
fn start(place: &Place, args: &[&str]) -> (Child, u32) {
    place.file("endless.tw", ENDLESS);
    let mut all = vec![
        "check",
        "endless.tw",
        "--engine",
        "explicit",
        "--timeout",
        "600",
    ];
    all.extend(args);
    let mut command = place.command(&all);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let worker = worker_of(&child);
    (child, worker)
}

/// The worker of a process, once it is at work.
fn worker_of(parent: &Child) -> u32 {
    let begun = Instant::now();
    loop {
        if let Some(worker) = workers(parent).first() {
            sleep(Duration::from_millis(300));
            return *worker;
        }
        assert!(begun.elapsed() < PATIENCE, "no worker");
        sleep(Duration::from_millis(20));
    }
}

fn finish(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

fn gone(process: u32) {
    let begun = Instant::now();
    while is_alive(process) {
        assert!(begun.elapsed() < PATIENCE, "{process} is still there");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupt_prints_what_there_is() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (child, worker) = start(&place, &["lock.tw", "--json", "--only", "safety"]);
    signal(child.id(), "INT");
    let ran = finish(child);
    assert_eq!(ran.status, 130);
    let report = ran.json();
    assert_eq!(result(&report, "small")["reason"]["code"], "interrupted");
    assert_eq!(
        report["runs"].as_array().unwrap().len(),
        1,
        "the second file was not begun"
    );
    gone(worker);
}

#[test]
fn an_interrupt_prints_text_too() {
    let place = Place::new();
    let (child, worker) = start(&place, &[]);
    signal(child.id(), "INT");
    finish(child)
        .expect(130)
        .says("interrupted before the search was over");
    gone(worker);
}

#[test]
fn a_worker_that_crashes_is_an_internal_error() {
    for name in ["ABRT", "KILL"] {
        let place = Place::new();
        let (child, worker) = start(&place, &["--json"]);
        signal(worker, name);
        let ran = finish(child);
        assert_eq!(ran.status, 4, "{name}");
        let report = ran.json();
        let diagnostics = report["runs"][0]["diagnostics"].as_array().unwrap();
        let diagnostic = diagnostics.last().unwrap();
        assert_eq!(diagnostic["severity"], "error");
        assert!(
            diagnostic["message"].as_str().unwrap().contains("signal"),
            "{diagnostic}"
        );
        assert!(ran.stderr.contains("internal error"), "{}", ran.stderr);
    }
}

#[test]
fn a_worker_does_not_outlive_its_parent() {
    let place = Place::new();
    let (child, worker) = start(&place, &[]);
    signal(child.id(), "KILL");
    finish(child);
    gone(worker);
}

#[test]
fn a_worker_refuses_nonsense() {
    let place = Place::new();
    for input in ["", "nonsense\n", "{}\n"] {
        place
            .run_with(&["worker"], input.as_bytes())
            .expect(4)
            .complains("the job cannot be read");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let mut command = place.command(&["check", "lock.tw", "--set", "N=2..6", "--only", "safety"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    finish(child).expect(0);
}

/// The explorer and the language server start checks, and may be killed while one runs.
#[test]
fn a_check_with_a_parent_ends_with_it() {
    let place = Place::new();
    place.file("endless.tw", ENDLESS);
    // The shell is gone when the check has a worker.
    let script = "\"$0\" check endless.tw --engine explicit --with-parent >out 2>&1 &
        until ps -eo ppid= | grep -qw $!; do sleep 0.05; done";
    let shell = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_threadwise")])
        .current_dir(place.path())
        .status();
    assert!(shell.unwrap().success());
    let begin = Instant::now();
    let said = || std::fs::read_to_string(place.path().join("out")).unwrap();
    while !said().contains("interrupted before the search was over") {
        assert!(begin.elapsed() < PATIENCE, "{}", said());
        sleep(Duration::from_millis(50));
    }
}

/// Starts a command that reads standard input, of which there is no end; by now it reads.
fn of_endless_input(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.as_mut().unwrap();
    // More than a pipe holds. On a busy machine a limit may be reached before that.
    let _ = input.write_all("// more to come\n".repeat(100_000).as_bytes());
    child
}

/// What happens before an engine is asked keeps the limits, too.
#[test]
fn reading_keeps_the_limits() {
    let place = Place::new();
    for limit in ["--timeout", "--total-timeout"] {
        let mut child = of_endless_input(&place, &["check", "-", "--json", limit, "1"]);
        let input = child.stdin.take();
        let ran = finish(child);
        drop(input);
        assert_eq!(ran.status, 3, "{ran:?}");
        let checks = result(&ran.json(), "checks").clone();
        assert_eq!(checks["verdict"], "unknown");
        assert_eq!(checks["reason"]["code"], "timeout");
        let mut child = of_endless_input(&place, &["test", "-", limit, "1"]);
        let input = child.stdin.take();
        let ran = finish(child);
        drop(input);
        ran.expect(3)
            .complains("before an engine was asked")
            .says("0 met");
    }
    let many: String = (0..200_000)
        .map(|i| format!("shared variable_{i:06}: bool = true;\n"))
        .collect();
    place.file("many.tw", many);
    place.file("lock.tw", LOCK);
    let files = "lock.tw many.tw lock.tw lock.tw --memory 32 --property checks";
    let files: Vec<&str> = files.split(' ').collect();
    let (report, ran) = place.json(&files);
    if cfg!(target_os = "linux") {
        assert_eq!(ran.status, 3, "{ran:?}");
        // What was found before that is there.
        assert_eq!(result(&report, "checks")["verdict"], "proved");
        let cut = &report["runs"][1]["results"][0];
        assert_eq!(cut["verdict"], "unknown");
        assert_eq!(cut["reason"]["code"], "memory");
        assert_eq!(report["runs"][1]["file"], "many.tw");
        ran.complains("2 further files: not begun");
    }
}

#[test]
fn one_signal_ends_what_happens_before_an_engine_is_asked() {
    for name in ["INT", "TERM"] {
        let place = Place::new();
        place.file("lock.tw", LOCK);
        let args = ["check", "lock.tw", "-", "--only", "safety"];
        let mut child = of_endless_input(&place, &args);
        let input = child.stdin.take();
        signal(child.id(), name);
        let ran = finish(child);
        drop(input);
        ran.expect(130)
            .says("proved")
            .says("interrupted before an engine was asked");
        let mut child = of_endless_input(&place, &["test", "lock.tw", "-"]);
        let input = child.stdin.take();
        signal(child.id(), name);
        let ran = finish(child);
        drop(input);
        ran.expect(130)
            .complains("interrupted before an engine was asked");
    }
}

/// A violation that was found is printed when the user wants to stop, whoever has found it.
#[test]
fn an_interrupt_takes_no_violation_away() {
    for engine in ["explicit", "auto"] {
        let found = [1, 5, 25, 125].into_iter().any(|seconds| {
            let place = Place::new();
            place.file("half.tw", HALF);
            let args = "check half.tw half.tw --json --report page.html --trace out --engine";
            let mut args: Vec<&str> = args.split(' ').collect();
            args.push(engine);
            let mut command = place.command(&args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            sleep(Duration::from_secs(seconds));
            signal(child.id(), "INT");
            let ran = finish(child);
            assert_eq!(ran.status, 130, "{ran:?}");
            let report = ran.json();
            assert_eq!(report["runs"].as_array().unwrap().len(), 1);
            assert_eq!(result(&report, "small")["reason"]["code"], "interrupted");
            let tiny = result(&report, "tiny");
            if tiny["verdict"] != "violated" {
                assert_eq!(tiny["reason"]["code"], "interrupted");
                return false;
            }
            assert_eq!(tiny["trace"]["steps"].as_array().unwrap().len(), 3);
            let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
            assert!(page.contains("\"verdict\":\"violated\""));
            assert!(place.path().join("out/half.tiny.json").exists());
            true
        });
        assert!(found, "{engine}: nothing was found before the interrupt");
    }
}

/// A deadlock one step from the beginning, in a model of very many states.
const DEADLOCK: &str = "\
shared held: bool = false;
shared a, b, c: 0..100000 = 0;
process Q { take: held := true; wait: await !held; }
process P {
    loop {
        step: choose { atomic { await !held && a < 100000; a := a + 1; } }
              or { atomic { await !held && b < 100000; b := b + 1; } }
              or { atomic { await !held && c < 100000; c := c + 1; } }
    }
}
deadlock_free;
";

#[test]
fn a_search_ends_soon_after_what_it_was_for() {
    let place = Place::new();
    place.file("deadlock.tw", DEADLOCK);
    for engine in ["explicit", "auto"] {
        // A search that does not end would fill this.
        let args = ["deadlock.tw", "--memory", "1024", "--engine", engine];
        let (report, ran) = place.json(&args);
        assert_eq!(ran.status, 1, "{ran:?}");
        let found = result(&report, "deadlock_free");
        assert_eq!(found["verdict"], "violated");
        assert_eq!(found["trace"]["steps"].as_array().unwrap().len(), 1);
        let states = found["stats"]["states"].as_u64().unwrap();
        assert!(states < 300_000, "{states}");
        if engine == "explicit" {
            let checks = result(&report, "checks");
            assert_eq!(checks["verdict"], "unknown");
            assert_eq!(checks["reason"]["code"], "violations");
        }
    }
    // Who names the built-in checks wants to know about them.
    let named = "deadlock.tw --engine explicit --property checks --property deadlock_free";
    let args: Vec<&str> = named.split(' ').chain(["--timeout", "2"]).collect();
    let (report, _) = place.json(&args);
    assert_eq!(result(&report, "checks")["reason"]["code"], "timeout");
}

/// What is limited from outside is no fault of anybody.
#[cfg(target_os = "linux")]
#[test]
fn an_address_space_that_is_limited_from_outside() {
    let place = Place::new();
    place.file("mux_sem.tw", model("mux_sem"));
    for kib in [8_000_000, 4_000_000, 2_000_000, 1_000_000] {
        for engine in [
            "split",
            "pairwise",
            "thread-modular",
            "forward",
            "local-liveness",
            "auto",
        ] {
            let only = match engine {
                "local-liveness" => "liveness",
                _ => "safety",
            };
            let script = format!(
                "ulimit -v {kib}; exec \"$0\" check mux_sem.tw --json --set N=4 --only {only} --engine {engine}"
            );
            let output = Command::new("sh")
                .args(["-c", &script, env!("CARGO_BIN_EXE_threadwise")])
                .current_dir(place.path())
                .output();
            let ran = Ran::of(output.unwrap());
            let report = ran.json();
            let expected = match engine {
                // It does not prove every property, whatever it may use.
                "thread-modular" => &[3][..],
                _ => &[0, 3],
            };
            assert!(expected.contains(&ran.status), "{kib} {engine}: {ran:?}");
            let name = match only {
                "liveness" => "access",
                _ => "mutex",
            };
            let answer = result(&report, name);
            // The deep stack alone takes more than a million KiB.
            if kib == 1_000_000 && engine != "auto" {
                assert_eq!(answer["verdict"], "unknown", "{engine}");
                assert_eq!(answer["reason"]["code"], "memory", "{engine}");
            }
            if kib == 8_000_000 && engine != "thread-modular" {
                assert_eq!(answer["verdict"], "proved", "{engine}");
            }
        }
    }
}
