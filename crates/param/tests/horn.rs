//! Horn clauses of the library's programs, decided by z3 where it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use threadwise_lang::program::Program;
use threadwise_param::horn::{Horn, HornError, horn};

fn model(name: &str) -> Arc<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/any");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    program(&text)
}

fn program(text: &str) -> Arc<Program> {
    Arc::new(threadwise_lang::check(text).program.unwrap())
}

fn of(program: &Arc<Program>, properties: &[&str], lemmas: bool) -> Result<Horn, HornError> {
    let properties: Vec<String> = properties.iter().map(|&name| name.to_owned()).collect();
    horn(program, &BTreeMap::new(), &properties, lemmas)
}

/// What z3 says of clauses in its first line; nothing where it is not installed.
fn answer(clauses: &Horn) -> Option<String> {
    let child = Command::new("z3")
        .args(["-in", "-T:60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("z3 is not installed: the clauses are not decided");
        return None;
    };
    let mut input = child.stdin.take().expect("a pipe");
    let text = clauses.text.clone();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("z3");
    writer.join().expect("a thread").expect("a pipe");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !said.contains("(error") || said.starts_with("unsat"),
        "{said}"
    );
    said.lines().next().map(str::to_owned)
}

/// Compares what z3 says of all properties of a model with what is expected.
fn decides(name: &str, lemmas: bool, expected: &str) {
    let clauses = of(&model(name), &[], lemmas).unwrap();
    if let Some(said) = answer(&clauses) {
        assert_eq!(said, expected, "{name}");
    }
}

#[test]
fn z3_decides_what_is_easy() {
    decides("pp.tw", false, "sat");
    decides("mm.tw", false, "sat");
    decides("shareds_bug.tw", false, "unsat");
}

#[test]
fn with_lemmas_it_decides_what_is_hard() {
    for name in ["ppmm.tw", "fkp2014.tw", "shareds.tw", "semaphore.tw"] {
        decides(name, true, "sat");
    }
    // What is wrong stays wrong.
    decides("shareds_bug.tw", true, "unsat");
}

#[test]
fn a_property_has_views_of_as_many_processes_as_it_speaks_of() {
    let lock = program(
        "param N = 2 where N >= 1; shared m: bool = false;
         process P[i: 1..N] { a: atomic { await !m; m := true; } b: m := false; }
         invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);
         invariant free: (count i in P: P[i] at b) <= 1;
         liveness again: G F !m;",
    );
    let mutex = of(&lock, &["mutex"], false).unwrap();
    assert!(mutex.text.contains("(declare-fun |view/P.b/P.b| ("));
    let free = of(&lock, &["free"], false).unwrap();
    assert!(!free.text.contains("|view/P.b/P.b|"));
    for clauses in [mutex, free] {
        assert!(answer(&clauses).is_none_or(|said| said == "sat"));
    }
    let all = of(&lock, &[], false).unwrap();
    assert_eq!(all.left_out, ["again"]);
    let error = of(&lock, &["again"], false).unwrap_err();
    assert!(matches!(error, HornError::Kind(name) if name == "again"));
}

#[test]
fn values_of_parameters_count() {
    // With one process it holds, with more it does not.
    let program = program(
        "param N = 1 where N >= 1; shared x: int = 0;
         process P[i: 1..N] { a: x := x + 1; } invariant most: x <= 1;",
    );
    for (n, expected) in [(1, "sat"), (2, "unsat")] {
        let fixed = BTreeMap::from([("N".to_owned(), n)]);
        let clauses = horn(&program, &fixed, &["most".to_owned()], false).unwrap();
        assert!(answer(&clauses).is_none_or(|said| said == expected), "{n}");
    }
}

#[test]
fn what_has_no_form_is_refused() {
    let program = program(
        "param N = 2 where N >= 1; shared x: int = 0;
         ordered process P[i: 1..N] { b: for k in P { x := 2 * x + k; } } invariant zero: x >= 0;",
    );
    let error = of(&program, &[], false).unwrap_err();
    assert!(matches!(error, HornError::Program(_)), "{error}");
}
