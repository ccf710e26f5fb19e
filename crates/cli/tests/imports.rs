//! Programs of other languages on the command line: every command reads them, and everything that is said is about the lines that somebody wrote.

use crate::common::Place;

/// Two processes that do not look while they set their flags: both get in.
const WRONG: &str = "\
bool flag[2];
byte inside;

active [2] proctype P()
{
\tdo
\t:: !flag[1 - _pid] ->
\t\tflag[_pid] = true;
\t\tinside++;
\t\tassert(inside == 1);
\t\tinside--;
\t\tflag[_pid] = false
\tod
}
";

const PETERSON: &str = "\
//@ expect checks: proved
//@ expect deadlock_free: proved
#ifndef ROUNDS
#define TURN 1 - _pid
#else
#define TURN _pid
#endif
bool flag[2];
byte turn, inside;

active [2] proctype P()
{
\tdo
\t:: flag[_pid] = true;
\t\tturn = TURN;
\t\t!flag[1 - _pid] || turn == _pid;
\t\tinside++;
\t\tassert(inside == 1);
\t\tinside--;
\t\tflag[_pid] = false
\tod
}
";

const LOST_UPDATE: &str = "\
#include <pthread.h>
#include <assert.h>

int x;

void *add(void *arg)
{
    int seen = x;
    x = seen + 1;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
";

#[test]
fn a_violation_is_told_in_the_lines_of_the_original() {
    let place = Place::new();
    place.file("wrong.pml", WRONG);
    let ran = place.run(&[
        "check",
        "wrong.pml",
        "--trace",
        "traces",
        "--report",
        "r.html",
    ]);
    let ran = ran.expect(1);
    assert!(ran.stdout.contains("assert(inside == 1)"), "{ran:?}");
    assert!(ran.stdout.contains(":: !flag[1 - _pid] ->"), "{ran:?}");
    assert!(
        !ran.stdout.contains(":="),
        "the model's text is not what was written: {ran:?}"
    );
    let page = std::fs::read_to_string(place.path().join("r.html")).unwrap();
    assert!(page.contains("assert(inside == 1)"));
    // Every step has a line, and there is a statement in it.
    let (report, _) = place.json(&["wrong.pml"]);
    let checks = report["runs"][0]["results"].as_array().unwrap();
    let checks = checks
        .iter()
        .find(|one| one["property"] == "checks")
        .unwrap();
    let steps = checks["trace"]["steps"].as_array().unwrap();
    assert!(steps.len() >= 4);
    let lines: Vec<&str> = WRONG.lines().collect();
    for step in steps {
        let line = step["line"].as_u64().unwrap() as usize;
        assert!((6..=12).contains(&line), "{step}: {}", lines[line - 1]);
    }
    assert_eq!(checks["trace"]["ending"]["line"], 10);
    // What was written is read again.
    let trace = "traces/wrong.checks.json";
    let ran = place.run(&["replay", "wrong.pml", trace]).expect(0);
    assert!(ran.stdout.contains("assert(inside == 1)"), "{ran:?}");
    let sarif = place
        .run(&["check", "wrong.pml", "--format", "sarif"])
        .expect(1);
    let sarif: serde_json::Value = serde_json::from_str(&sarif.stdout).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let failed = results.iter().find(|one| one["kind"] == "fail").unwrap();
    let place = &failed["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 10);
    assert_eq!(place["artifactLocation"]["uri"], "wrong.pml");
}

#[test]
fn definitions_decide() {
    let place = Place::new();
    place.file("peterson.pml", PETERSON);
    place.run(&["check", "peterson.pml"]).expect(0);
    place.run(&["test", "peterson.pml"]).expect(0).says("2 met");
    place.run(&["test", "peterson.pml", "-DROUNDS"]).expect(1);
    place
        .run(&["check", "peterson.pml", "-D", "ROUNDS=2"])
        .expect(1);
    place.file("m.tw", "process P { a: skip; }");
    let ran = place.run(&["check", "m.tw", "-DN"]).expect(2);
    assert!(ran.stderr.contains("-D is for Promela and C"), "{ran:?}");
    let ran = place
        .run(&["check", "peterson.pml", "--integers", "machine"])
        .expect(2);
    assert!(ran.stderr.contains("--integers is for C"), "{ran:?}");
    let ran = place.run(&["check", "peterson.pml", "-D", "1=2"]).expect(2);
    assert!(ran.stderr.contains("expected a name"), "{ran:?}");
}

/// Promela goes by many names.
#[test]
fn endings_say_that_it_is_promela() {
    let place = Place::new();
    for ending in ["pml", "prom", "promela", "pm", "prm", "pr", "spin", "PML"] {
        let name = format!("peterson.{ending}");
        place.file(&name, PETERSON);
        let imported = place.run(&["import", &name]).expect(0);
        let first = format!("// From the Promela program {name}.");
        assert!(imported.stdout.starts_with(&first), "{imported:?}");
    }
}

/// Proofs are checked again, runs are walked, and the model can be read.
#[test]
fn every_command_reads_them() {
    let place = Place::new();
    place.file("peterson.pml", PETERSON);
    let proof = ["check", "peterson.pml", "--certificate", "proofs"];
    place.run(&proof).expect(0);
    let proof = std::fs::read_dir(place.path().join("proofs")).unwrap();
    let proofs: Vec<_> = proof.map(|entry| entry.unwrap().path()).collect();
    assert!(!proofs.is_empty());
    for proof in &proofs {
        place
            .run(&["certify", "peterson.pml", proof.to_str().unwrap()])
            .expect(0);
    }
    let ran = place
        .run(&["simulate", "peterson.pml", "--steps", "9"])
        .expect(0);
    assert!(ran.stdout.contains("turn = TURN"), "{ran:?}");
    let imported = place.run(&["import", "peterson.pml"]).expect(0);
    assert!(imported.stdout.contains("peterson.pml"), "{imported:?}");
    let checked = place.run_with(&["check", "-"], imported.stdout.as_bytes());
    checked.expect(0);
    place
        .run(&["import", "peterson.pml", "-o", "p.tw"])
        .expect(0);
    place.run(&["fmt", "--check", "p.tw"]).expect(0);
    place.run(&["import", "p.tw"]).expect(2);
    let dot = place
        .run(&["export", "peterson.pml", "--to", "dot"])
        .expect(0);
    assert!(dot.stdout.contains("turn = TURN"), "{dot:?}");
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let place = Place::new();
    place.file("bad.pml", "byte x;\nactive proctype P() {\n\tx = = 1\n}\n");
    let ran = place.run(&["check", "bad.pml"]).expect(2);
    assert!(ran.stderr.contains("bad.pml:3:"), "{ran:?}");
    let (report, _) = place.json(&["bad.pml"]);
    assert_eq!(report["runs"][0]["diagnostics"][0]["place"]["line"], 3);
    place.file("included.h", "byte y\nbyte z z;\n");
    place.file(
        "a.pml",
        "#include \"included.h\"\nactive proctype P() { skip }\n",
    );
    let ran = place.run(&["check", "a.pml"]).expect(2);
    assert!(ran.stderr.contains("included.h:2:"), "{ran:?}");
    place.file(
        "b.pml",
        "#include \"missing.h\"\nactive proctype P() { skip }\n",
    );
    let ran = place.run(&["check", "b.pml"]).expect(2);
    assert!(
        ran.stderr.contains("b.pml:1:") && ran.stderr.contains("no such file"),
        "{ran:?}"
    );
    place.file("bad.c", "int x;\nint main(void) {\n  x = ;\n}\n");
    let ran = place.run(&["check", "bad.c"]).expect(2);
    assert!(ran.stderr.contains("bad.c:3:"), "{ran:?}");
}

#[test]
fn a_lost_update_in_c() {
    let place = Place::new();
    place.file("lost.c", LOST_UPDATE);
    let ran = place.run(&["check", "lost.c"]).expect(1);
    assert!(ran.stdout.contains("assert(x == 2);"), "{ran:?}");
    assert!(ran.stdout.contains("int seen = x;"), "{ran:?}");
    let (report, _) = place.json(&["lost.c"]);
    let checks = &report["runs"][0]["results"][0];
    for step in checks["trace"]["steps"].as_array().unwrap() {
        let line = step["line"].as_u64().unwrap();
        assert!((6..=22).contains(&line), "{step}");
    }
    assert_eq!(checks["trace"]["ending"]["line"], 20);
}

/// Witnesses are about C programs; one of a violation names the lines and threads of the run, one of a proof what holds where.
#[test]
fn witnesses_of_both_kinds() {
    let place = Place::new();
    place.file("lost.c", LOST_UPDATE);
    place
        .run(&["check", "lost.c", "--witness", "w.yml"])
        .expect(1);
    let witness = std::fs::read_to_string(place.path().join("w.yml")).unwrap();
    for part in [
        "entry_type: \"violation_sequence\"",
        "thread_id: 2",
        "line: 20",
        "type: \"target\"",
    ] {
        assert!(witness.contains(part), "{part}: {witness}");
    }
    let peterson = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/c/peterson.c");
    place.file("peterson.c", std::fs::read(peterson).unwrap());
    place
        .run(&["check", "peterson.c", "--witness", "p.yml"])
        .expect(0);
    let witness = std::fs::read_to_string(place.path().join("p.yml")).unwrap();
    assert!(witness.contains("location_invariant"), "{witness}");
    place.file("peterson.pml", PETERSON);
    let ran = place
        .run(&["check", "peterson.pml", "--witness", "w.yml"])
        .expect(2);
    assert!(
        ran.stderr.contains("witnesses are about C programs"),
        "{ran:?}"
    );
    let ran = place
        .run(&["check", "lost.c", "--witness", "lost.c"])
        .expect(2);
    assert!(
        ran.stderr.contains("the program that is to be checked"),
        "{ran:?}"
    );
}
