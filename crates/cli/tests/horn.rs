//! `counter --method chc`: another program is asked, and never believed.

#![cfg(unix)]

use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Place, Ran};

/// What equations alone do not prove: somebody has incremented `x` if somebody is done, as `x` only grows.
const GROWS: &str = "
    param N = 2 where N >= 1; shared x: int = 0;
    process P[i: 1..N] { a: x := x + 1; loop { b: if x < 5 { x := x + 1; } } }
    invariant positive: forall i in P: P[i] at b -> x > 0;
";
const WRONG: &str = "
    param N = 9 where N >= 1; shared x: int = 0;
    process P[i: 1..N] { a: x := x + 1; }
    invariant few: x < 2;
";
const ARGS: [&str; 6] = ["check", "m.tw", "--engine", "counter", "--method", "chc"];

/// Only what the test has written can be found.
fn run(place: &Place, more: &[&str]) -> Ran {
    let mut command = place.command(&[&ARGS[..], more].concat());
    command.env("PATH", place.path().join("bin"));
    Ran::of(command.output().unwrap())
}

#[test]
fn what_z3_finds_is_proved() {
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("z3 is not installed: it is not asked");
        return;
    }
    let place = Place::new();
    place.file("m.tw", GROWS);
    let ran = place.run(&[&ARGS[..], &["--solver", "z3", "--verbose"]].concat());
    let ran = ran.expect(0).says("proved from what `z3` found");
    assert!(ran.stdout.contains("certificate checked"), "{ran:?}");
    // What is violated is found before anybody is asked.
    place.file("m.tw", WRONG);
    place.run(&ARGS).expect(1).says("few is violated at N=2");
}

#[test]
fn a_solver_that_is_missing_or_errs_makes_no_verdict() {
    let place = Place::new();
    place.file("m.tw", GROWS);
    run(&place, &[]).expect(3).says("`z3` is not on the PATH");
    let model = |body: &str| {
        let arguments = "((n Int) (x Int) (a Int) (b Int) (d Int))";
        format!(
            "/bin/cat <<'END'\nsat\n((define-fun |view/P.a| {arguments} Bool (>= x 0))
            (define-fun |view/P.b| {arguments} Bool {body}))\nEND"
        )
    };
    for (script, reason) in [
        ("echo sat; echo '()'".to_owned(), "could not be confirmed"),
        (model("(<= 1 x)"), "proved"),
        (model("false"), "could not be confirmed"),
        (model("(exists ((y Int)) (= x y))"), "not linear arithmetic"),
        ("echo unsat".to_owned(), "the abstraction has a violation"),
        ("echo unknown".to_owned(), "it says `unknown`"),
        ("echo what".to_owned(), "nothing that is an answer: `what`"),
        ("exit 1".to_owned(), "nothing that is an answer"),
    ] {
        place.script("z3", &script);
        let status = if reason == "proved" { 0 } else { 3 };
        let ran = run(&place, &["--property", "positive"]).expect(status);
        assert!(ran.stdout.contains(reason), "{script}: {ran:?}");
    }
}

/// True, and what no engine here proves: that only even numbers come about is no inequality.
const EVEN: &str = "
    param N = 2 where N >= 1; shared x: int = 0;
    process P[i: 1..N] { loop { a: x := x + 2; } }
    invariant odd: x != 7;
";

#[test]
fn by_default_z3_is_asked_last_and_for_so_much_work() {
    let place = Place::new();
    let ask = |model: &str| {
        place.file("m.tw", model);
        let args = [
            "check",
            "m.tw",
            "--property",
            "odd",
            "--verbose",
            "--for-all",
            "N",
            // Instances have no end: without it their search goes on until the memory of the machine is used up.
            "--memory",
            "200",
        ];
        let mut command = place.command(&args);
        command.env("PATH", place.path().join("bin"));
        Ran::of(command.output().unwrap())
    };
    let asked = || std::fs::read_to_string(place.path().join("asked"));
    ask(EVEN).expect(3).says("`z3` is not there to be asked");
    place.script("z3", "/bin/cat > asked; echo unknown");
    ask(EVEN).expect(3).says("it says `unknown`");
    assert!(asked().unwrap().starts_with("(set-option :rlimit "));
    // What is proved without it is not put to it.
    std::fs::remove_file(place.path().join("asked")).unwrap();
    ask(&EVEN.replace("x != 7", "x >= 0")).expect(0);
    assert!(asked().is_err());
}

#[test]
fn a_solver_keeps_the_time_limit() {
    let place = Place::new();
    place.file("m.tw", GROWS);
    place.script("z3", "echo $$ > pid; exec /bin/sleep 600");
    // The solver would take ten minutes.
    let begun = Instant::now();
    // On a busy machine a second may pass before it is begun.
    let begin = |seconds: &&str| {
        run(&place, &["--timeout", seconds]).expect(3);
        std::fs::read_to_string(place.path().join("pid")).ok()
    };
    let id = ["1", "5", "25"].iter().find_map(begin);
    let id = id.expect("a solver that was begun");
    assert!(begun.elapsed() < PATIENCE);
    // It was told to end by then, and does so when the machine gets round to it.
    let is_there = || {
        let there = Command::new("kill").args(["-0", id.trim()]).output();
        there.unwrap().status.success()
    };
    while is_there() {
        assert!(begun.elapsed() < PATIENCE, "{id} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn solvers_are_for_their_method() {
    let place = Place::new();
    place.file("m.tw", GROWS);
    for (args, message) in [
        (
            vec!["--engine", "split", "--method", "chc"],
            "`--method` is for the engine `counter`",
        ),
        (
            vec!["--engine", "counter", "--solver", "z3"],
            "`--solver` is for `--method chc`",
        ),
        (
            vec!["--engine", "counter", "--interpolants", "lattice"],
            "`--interpolants` is for `--method cegar`",
        ),
        (
            vec!["--engine", "counter", "--method", "chc", "--solver", "z4"],
            "there is no solver `z4`",
        ),
    ] {
        let ran = place.run(&[&["check", "m.tw"], &args[..]].concat());
        ran.expect(2).complains(message);
    }
}
