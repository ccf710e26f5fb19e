//! Horn clauses of the library's programs, decided by z3 where it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use threadwise_lang::program::Program;
use threadwise_param::horn::{Horn, HornError, Others, horn};

fn model(name: &str) -> Arc<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/any");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    program(&text)
}

fn program(text: &str) -> Arc<Program> {
    Arc::new(threadwise_lang::check(text).program.unwrap())
}

fn of(program: &Arc<Program>, properties: &[&str], others: Others) -> Result<Horn, HornError> {
    let properties: Vec<String> = properties.iter().map(|&name| name.to_owned()).collect();
    horn(program, &BTreeMap::new(), &properties, others)
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
fn decides(name: &str, others: Others, expected: &str) {
    let clauses = of(&model(name), &[], others).unwrap();
    if let Some(said) = answer(&clauses) {
        assert_eq!(said, expected, "{name}");
    }
}

#[test]
fn z3_decides_what_is_easy() {
    decides("pp.tw", Others::Known, "sat");
    decides("mm.tw", Others::Known, "sat");
    decides("shareds_bug.tw", Others::Known, "unsat");
}

#[test]
fn with_lemmas_it_decides_what_is_hard() {
    for name in ["ppmm.tw", "fkp2014.tw", "shareds.tw", "semaphore.tw"] {
        decides(name, Others::WithLemmas, "sat");
    }
    // What is wrong stays wrong.
    decides("shareds_bug.tw", Others::WithLemmas, "unsat");
}

/// Definitions 3 to 5 of Pani, Weissenbacher and Zuleger.
#[test]
fn as_published_the_others_are_counted_and_nothing_else_is_known_of_them() {
    let clauses = of(&model("pp.tw"), &[], Others::Anything).unwrap().text;
    assert!(clauses.contains("(|other #P.l0| Int)"), "{clauses}");
    for clause in clauses.split("(assert ").skip(1) {
        let (body, head) = clause.rsplit_once("\n    ").expect("a head");
        assert!(body.matches("(|view").count() <= 1, "{clause}");
        assert!(head.matches("(|view").count() <= 1, "{clause}");
    }
    // A process that is followed is not counted, so its own step changes no counter; that of another one does.
    let step = |origin: &str| {
        let from = clauses
            .find(origin)
            .unwrap_or_else(|| panic!("{origin}: {clauses}"));
        clauses[from..].split("\n; ").next().expect("a clause")
    };
    let own = step("a step of $0 at P.l0");
    assert!(
        own.contains("(+ |X| 1) |other #P.l0| |other #P.done|)"),
        "{own}"
    );
    let others = step("a step of another process at P.l0");
    assert!(
        others.contains("(+ |X| 1) (+ |other #P.l0| (- 1)) (+ |other #P.done| 1))"),
        "{others}"
    );
}

#[test]
fn as_published_z3_decides_the_same() {
    for (name, expected) in [
        ("pp.tw", "sat"),
        ("mm.tw", "sat"),
        ("cyclic.tw", "sat"),
        ("spin2003.tw", "sat"),
        ("stack.tw", "sat"),
        ("shareds_bug.tw", "unsat"),
        // There is no proof that follows one process: the paper says so, too.
        ("maximum.tw", "unsat"),
    ] {
        decides(name, Others::Anything, expected);
    }
}

#[test]
fn as_published_own_variables_of_others_may_have_any_values() {
    let program = program(
        "param N = 2 where N >= 1; shared x: int = 0;
         process P[i: 1..N] { local by: int = 1; a: x := x + by; } invariant grows: x >= 0;",
    );
    for (others, expected) in [(Others::Known, "sat"), (Others::Anything, "unsat")] {
        let clauses = of(&program, &["grows"], others).unwrap();
        assert!(
            answer(&clauses).is_none_or(|said| said == expected),
            "{others:?}"
        );
    }
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
    let mutex = of(&lock, &["mutex"], Others::Known).unwrap();
    assert!(mutex.text.contains("(declare-fun |view/P.b/P.b| ("));
    let free = of(&lock, &["free"], Others::Known).unwrap();
    assert!(!free.text.contains("|view/P.b/P.b|"));
    for clauses in [mutex, free] {
        assert!(answer(&clauses).is_none_or(|said| said == "sat"));
    }
    let all = of(&lock, &[], Others::Known).unwrap();
    assert_eq!(all.left_out, ["again"]);
    let error = of(&lock, &["again"], Others::Known).unwrap_err();
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
        let clauses = horn(&program, &fixed, &["most".to_owned()], Others::Known).unwrap();
        assert!(answer(&clauses).is_none_or(|said| said == expected), "{n}");
    }
}

#[test]
fn what_has_no_form_is_refused() {
    let program = program(
        "param N = 2 where N >= 1; shared x: int = 0;
         ordered process P[i: 1..N] { b: for k in P { x := 2 * x + k; } } invariant zero: x >= 0;",
    );
    let error = of(&program, &[], Others::Known).unwrap_err();
    assert!(matches!(error, HornError::Program(_)), "{error}");
}
