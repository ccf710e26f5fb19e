//! The other commands: new, fmt, engines, completions, man, replay, simulate, export, test.

use crate::common::{BROKEN, LOCK, Place};

#[test]
fn new_writes_a_model_that_checks_and_is_formatted() {
    let place = Place::new();
    place
        .run(&["new", "lock"])
        .expect(0)
        .says("lock.tw written");
    place.run(&["check", "lock.tw", "--deny", "all"]).expect(0);
    place.run(&["test", "lock.tw"]).expect(0).says("0 not met");
    place.run(&["fmt", "--check", "lock.tw"]).expect(0);
    let before = std::fs::read(place.path().join("lock.tw")).unwrap();
    place
        .run(&["new", "lock.tw"])
        .expect(2)
        .complains("exists already");
    assert_eq!(before, std::fs::read(place.path().join("lock.tw")).unwrap());
    let printed = place.run(&["new", "-"]).expect(0);
    assert_eq!(printed.stdout.as_bytes(), before);
    assert!(!place.path().join("-.tw").exists());
    place
        .run(&["new", "lock.txt"])
        .expect(0)
        .complains("models are named *.tw");
    place
        .run(&["new", "no/such/place.tw"])
        .expect(2)
        .complains("cannot be written");
}

#[test]
fn fmt_rewrites_checks_and_filters() {
    let place = Place::new();
    let messy = "shared   x:bool=true;process P{a:x:=!x;}\n";
    let path = place.file("messy.tw", messy);
    place
        .run(&["fmt", "--check", "messy.tw"])
        .expect(1)
        .says("messy.tw: not formatted");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), messy);
    let filtered = place.run_with(&["fmt", "-"], messy.as_bytes()).expect(0);
    place.run(&["fmt", "messy.tw"]).expect(0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), filtered.stdout);
    place.run(&["fmt", "--check", "messy.tw"]).expect(0);
    let deep = place.file("deep/er/messy.tw", messy);
    place
        .run(&["fmt", "--check", "."])
        .expect(1)
        .says("deep/er/messy.tw: not formatted");
    place.run(&["fmt", "."]).expect(0);
    assert_eq!(std::fs::read_to_string(&deep).unwrap(), filtered.stdout);
    place.file("empty/notes.txt", "");
    place.run(&["fmt", "empty"]).expect(2).complains("no model");
    place.file("bad.tw", "shared shared;");
    place.run(&["fmt", "bad.tw"]).expect(2).complains("error");
    place
        .run(&["fmt", "missing.tw"])
        .expect(2)
        .complains("no such file");
}

#[test]
fn engines_are_listed() {
    let place = Place::new();
    place
        .run(&["engines"])
        .expect(0)
        .says("explicit")
        .says("auto");
}

#[test]
fn completions_and_manual_pages_are_made() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        place
            .run(&["completions", shell])
            .expect(0)
            .says("simulate");
    }
    place.run(&["completions", "tcsh"]).expect(2);
    place.run(&["man"]).expect(0).says(".TH threadwise 1");
    place
        .run(&["man", "check"])
        .expect(0)
        .says("total\\-timeout");
    place
        .run(&["man", "chek"])
        .expect(2)
        .complains("did you mean `check`?");
    place.run(&["man", "worker"]).expect(2);
}

#[test]
fn help_teaches_by_example() {
    let place = Place::new();
    place
        .run(&["--help"])
        .expect(0)
        .says("Examples:")
        .says("Exit status");
    for command in [
        "check", "test", "replay", "simulate", "fmt", "new", "export",
    ] {
        place.run(&[command, "--help"]).expect(0).says("Examples:");
    }
    let ran = place.run(&["--help"]);
    assert!(!ran.stdout.contains("worker"), "hidden: {}", ran.stdout);
}

#[test]
fn replay_rejects_traces_that_are_no_executions() {
    let place = Place::new();
    place.file("broken.tw", BROKEN);
    place.file("lock.tw", LOCK);
    place.run(&["check", "broken.tw", "--trace", "."]).expect(1);
    let trace = "broken.mutex.N=2.json";
    place
        .run(&["replay", "broken.tw", trace])
        .expect(0)
        .says("mutex");
    for form in ["text", "lanes", "json", "itf", "mermaid"] {
        place
            .run(&["replay", "broken.tw", trace, "--format", form])
            .expect(0);
    }
    let lanes = place.run(&["replay", "broken.tw", trace]).expect(0);
    lanes.says("step  P[1]");
    let table = place.run(&["replay", "broken.tw", trace, "--format", "text"]);
    table.expect(0).says("step  process  label");
    place
        .run(&["replay", "lock.tw", trace])
        .expect(4)
        .complains("does not replay");
    let text = std::fs::read_to_string(place.path().join(trace)).unwrap();
    let moved = text.replace("\"critical\"", "\"idle\"");
    assert_ne!(text, moved);
    place.file("moved.json", moved);
    place.run(&["replay", "broken.tw", "moved.json"]).expect(4);
    place.file("nonsense.json", "{\"version\": 1}");
    place
        .run(&["replay", "broken.tw", "nonsense.json"])
        .expect(2)
        .complains("nonsense.json: this is no trace: missing field");
    for form in ["text", "lanes", "itf", "mermaid"] {
        place
            .run(&["check", "broken.tw", "--trace", ".", "--trace-format", form])
            .expect(1);
    }
    for (file, form) in [
        ("txt", "text"),
        ("lanes.txt", "text"),
        ("itf.json", "itf"),
        ("mmd", "mermaid"),
    ] {
        place
            .run(&["replay", "broken.tw", &format!("broken.mutex.N=2.{file}")])
            .expect(2)
            .complains(&format!("in the form `{form}`"))
            .complains("--trace-format json");
    }
    place
        .run(&["check", "broken.tw", "--trace-format", "mermaid"])
        .expect(2)
        .complains("--trace DIR");
    place
        .run(&["check", "broken.tw", "--trace-format", "text"])
        .expect(1)
        .says("step  process  label");
    place.file("empty.json", "");
    place.run(&["replay", "broken.tw", "empty.json"]).expect(2);
    place
        .run(&["replay", "broken.tw", "missing.json"])
        .expect(2)
        .complains("no such file")
        .complains("`threadwise check MODEL --trace DIR` writes traces");
}

#[test]
fn simulate_is_random_but_repeatable() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let run = |seed: &str| {
        place
            .run(&["simulate", "lock.tw", "--seed", seed, "--steps", "30"])
            .expect(0)
            .stdout
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
    place
        .run(&["simulate", "lock.tw", "--set", "N=2..3"])
        .expect(2)
        .complains("one value");
    place
        .run(&["simulate", "lock.tw", "--seed", "abc"])
        .expect(2)
        .complains("expected a number from 0");
    place
        .run(&["simulate", "lock.tw", "--steps", "0"])
        .expect(0);
    let ran = place
        .run(&["simulate", "lock.tw", "--format", "json"])
        .expect(0);
    let trace: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(trace["steps"].as_array().unwrap().len(), 50);
}

#[test]
fn simulate_reports_failures() {
    let place = Place::new();
    place.file(
        "over.tw",
        "shared x: 0..3 = 0;\nprocess P { loop { a: x := x + 1; } }\n",
    );
    place
        .run(&["simulate", "over.tw"])
        .expect(1)
        .says("outside the type");
}

#[test]
fn simulate_says_why_it_ended() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place
        .run(&["simulate", "lock.tw", "--steps", "7"])
        .expect(0)
        .complains("stopped after 7 steps (--steps)");
    place
        .run(&["simulate", "lock.tw", "--property", "access"])
        .expect(2)
        .complains("`access` is a liveness property");
    place.file("short.tw", "process P[i: 1..2] { a: skip; b: skip; }\n");
    place
        .run(&["simulate", "short.tw"])
        .expect(0)
        .complains("all processes have ended after 4 steps");
    let interactive = |file: &str| {
        let input = b"r\nr\nr\nr\n";
        place.run_with(&["simulate", file, "--interactive"], input)
    };
    interactive("short.tw")
        .expect(0)
        .says("all processes have ended");
    let stuck = "process P[i: 1..2] { a: skip; b: await false; }\n";
    place.file("stuck.tw", stuck);
    place.file("claim.tw", format!("{stuck}deadlock_free;\n"));
    place
        .run(&["simulate", "stuck.tw"])
        .expect(0)
        .complains("a deadlock, which the model does not forbid");
    interactive("stuck.tw").expect(0).says("a deadlock, which");
    place
        .run(&["simulate", "claim.tw"])
        .expect(1)
        .complains("`deadlock_free` is violated");
    interactive("claim.tw")
        .expect(1)
        .says("a deadlock: `deadlock_free` is violated");
}

#[test]
fn simulate_takes_choices() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let args = ["simulate", "lock.tw", "--set", "N=2", "--interactive"];
    let ran = place.run_with(&args, b"1\n1\nnonsense\nq\n").expect(0);
    assert!(ran.stdout.contains("P[1]"), "{ran:?}");
    // The end of the input is the end of the session.
    place.run_with(&args, b"1\n").expect(0);
    place
        .run_with(&["simulate", "-", "--interactive"], b"")
        .expect(2);
}

#[test]
fn export_translates() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place
        .run(&["export", "lock.tw", "--to", "promela", "--set", "N=2"])
        .expect(0)
        .says("proctype");
    place
        .run(&["export", "lock.tw", "--to", "promela", "-o", "lock.pml"])
        .expect(0);
    assert!(place.path().join("lock.pml").exists());
    place.run(&["export", "lock.tw", "--to", "latex"]).expect(2);
    let dot = ["export", "lock.tw", "--to", "dot"];
    place.run(&dot).expect(0).says("digraph \"lock.tw\"");
    place.run(&[&dot[..], &["--set", "N=2"]].concat()).expect(2);
    let all = ["export", "lock.tw", "--set", "N=2", "--to"];
    place
        .run(&[&all[..], &["smv"]].concat())
        .expect(0)
        .says("INVARSPEC NAME mutex")
        .says("INVARSPEC NAME checks");
    let one = [&all[..], &["smv", "--property", "mutex"]].concat();
    let ran = place.run(&one).expect(0);
    assert!(!ran.stdout.contains("NAME checks"), "{ran:?}");
    place
        .run(&[&all[..], &["blif", "--property", "checks"]].concat())
        .expect(0)
        .says(".outputs bad");
    // A circuit has one property.
    let ran = place.run(&[&all[..], &["blif"]].concat()).expect(2);
    assert!(
        ran.stderr.contains("choose with `--property NAME`"),
        "{ran:?}"
    );
    place.file(
        "live.tw",
        "shared x: bool = false; process P { a: x := true; b: await x; } liveness ends: F P at done; invariant i: x || !x;",
    );
    let hoa = ["export", "live.tw", "--to", "hoa"];
    let ran = place.run(&hoa).expect(0).says("AP: 1 \"P at done\"");
    assert!(!ran.stderr.contains("not part"), "{ran:?}");
    let ran = place
        .run(&[&hoa[..], &["--property", "i"]].concat())
        .expect(2);
    assert!(ran.stderr.contains("not a liveness property"), "{ran:?}");
}

#[test]
fn export_writes_horn_clauses() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let chc = ["export", "lock.tw", "--to", "chc"];
    let ran = place.run(&chc).expect(0);
    let ran = ran.says("(set-logic HORN)").says("(check-sat)");
    // The parameter is a variable, and what has no such form is named.
    assert!(ran.stdout.contains("(|N| Int)"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("not part of the translation: `deadlock_free`")
    );
    let ran = place.run(&[&chc[..], &["--set", "N=2"]].concat()).expect(0);
    assert!(!ran.stdout.contains("|N|"), "{ran:?}");
    let lemmas = [&chc[..], &["--with-lemmas", "-o", "lock.smt2"]].concat();
    place.run(&lemmas).expect(0);
    assert!(place.path().join("lock.smt2").exists());
    for (more, message) in [
        (["--property", "deadlock_free"], "is neither"),
        (["--property", "mutx"], "did you mean `mutex`?"),
        (["--set", "M=2"], "no parameter `M`"),
    ] {
        let ran = place.run(&[&chc[..], &more].concat()).expect(2);
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    let published = [&chc[..], &["--as-published"]].concat();
    place.run(&published).expect(0).says("|other #P.");
    let both = [&published[..], &["--with-lemmas"]].concat();
    place.run(&both).expect(2);
    for option in ["--with-lemmas", "--as-published"] {
        let smv = ["export", "lock.tw", "--to", "smv", option];
        let ran = place.run(&smv).expect(2);
        let message = format!("`{option}` is for `--to chc`");
        assert!(ran.stderr.contains(&message), "{ran:?}");
    }
}

#[test]
fn expectations_are_compared() {
    let place = Place::new();
    let with = |directives: &str| format!("{directives}{LOCK}");
    place.file("models/good.tw", with("//@ expect mutex: proved at N=2..3\n//@ expect mutex: proved\n//@ expect deadlock_free: proved at N=3\n//@ states at N=2: 12\n"));
    place.file(
        "models/deep/broken.tw",
        format!("//@ expect mutex: violated at N=2\n{BROKEN}"),
    );
    place.file("models/notes.txt", "not a model");
    place.file("models/silent.tw", LOCK);
    let ran = place.run(&["test", "models"]);
    let ran = ran.expect(0).says("3 files: 6 met, 0 not met");
    assert!(ran.stderr.contains("silent.tw: no expectations"), "{ran:?}");
    assert!(!ran.stdout.contains("notes"));
    place
        .run(&["test", "models", "--verbose"])
        .expect(0)
        .says("mutex: proved at N=3: met")
        .says("good.tw:2: mutex: proved: met");
}

#[test]
fn expectations_that_are_not_met_are_named() {
    let place = Place::new();
    place.file(
        "a.tw",
        format!("//@ expect mutex: violated at N=2\n//@ states at N=2: 13\n{LOCK}"),
    );
    place
        .run(&["test", "a.tw"])
        .expect(1)
        .says("a.tw:1: mutex: violated at N=2: not met: found proved\n  see: threadwise check a.tw --set N=2 --property mutex\n")
        .says("a.tw:2: 13 states at N=2: not met: found 12 states")
        .says("0 met, 2 not met");
}

#[test]
fn expectations_for_all_values_are_decided_or_not_met() {
    let place = Place::new();
    let text = "
        param N = 2 where N >= 2; param M = 2;
        shared x: 0..9 = 0;
        process P[i: 1..N] { loop { a: x := 1; b: x := 2; } }
        invariant low: x < 2;
        invariant few: N < 3 || x < M;
        liveness often: G F (x == 1) || G F (x == 2);
    ";
    let expected = [
        "expect low: proved for all N",
        "expect few: proved for all N",
        "expect often: proved for all N, M",
    ];
    let directives: Vec<String> = expected.iter().map(|e| format!("//@ {e}\n")).collect();
    place.file("a.tw", format!("{}{text}", directives.concat()));
    place
        .run(&["test", "a.tw"])
        .expect(1)
        .says("a.tw:1: low: proved for all N at M=2: not met: found violated at N=2, M=2\n  see: threadwise check a.tw --set M=2 --for-all N --property low\n")
        // What has no place in the claim has its default.
        .says("a.tw:2: few: proved for all N at M=2: not met: found violated at N=3, M=2\n")
        .says("a.tw:3: often: proved for all N, M: undecided: holds for N=2, M=")
        .says("0 met, 2 not met, 1 undecided");
}

#[test]
fn expectations_are_reported_in_source_order() {
    let place = Place::new();
    place.file(
        "a.tw",
        format!("//@ expect mutex: proved at N=3\n//@ expect mutex: proved at N=2\n// @ expect mutex: proved\n{LOCK}"),
    );
    place
        .run(&["test", "a.tw", "--verbose"])
        .expect(0)
        .says("a.tw:1: mutex: proved at N=3: met\na.tw:2: mutex: proved at N=2: met\n")
        .complains("a.tw:3: a comment, and no expectation: write `//@` without a space");
}

#[test]
fn expectations_that_cannot_be_read_are_errors_with_their_line() {
    let place = Place::new();
    for (directive, message) in [
        ("//@ expct mutex: proved", "a directive begins with"),
        ("//@ expect mutex: holds", "expected `proved` or `violated`"),
        ("//@ expect mutx: proved", "did you mean `mutex`?"),
        ("//@ expect mutex: proved at M=2", "no parameter `M`"),
        ("//@ expect mutex: proved at N=1", "`where` does not hold"),
        ("//@ expect mutex: proved for all M", "no parameter `M`"),
        ("//@ states at N=2: lots", "expected `states at N=2: 12`"),
    ] {
        place.file("a.tw", format!("\n{directive}\n{LOCK}"));
        place
            .run(&["test", "a.tw"])
            .expect(2)
            .complains("a.tw:2: ")
            .complains(message);
    }
}

#[test]
fn a_test_without_models_or_expectations_is_an_error() {
    let place = Place::new();
    place.file("empty/readme.txt", "");
    place
        .run(&["test", "empty"])
        .expect(2)
        .complains("no model");
    place
        .run(&["test", "missing"])
        .expect(2)
        .complains("missing: there is no such file");
    place.file("silent.tw", LOCK);
    place
        .run(&["test", "silent.tw"])
        .expect(2)
        .complains("expectation");
    place.file("bad.tw", "shared x bool;\n");
    place.run(&["test", "bad.tw"]).expect(2);
}

#[test]
fn a_wrong_name_of_a_file_suggests_the_nearest() {
    let place = Place::new();
    place.file("models/lock.tw", LOCK);
    for (given, meant) in [
        ("models/lok.tw", "models/lock.tw"),
        ("modls/lock.tw", "models/lock.tw"),
        ("modls/lokc.tw", "models/lock.tw"),
        ("models/lock", "models/lock.tw"),
    ] {
        place
            .run(&["check", given])
            .expect(2)
            .complains(&format!("did you mean `{meant}`?"));
    }
    for given in ["nothing/like/it.tw", "models/peterson.tw"] {
        place
            .run(&["check", given])
            .expect(2)
            .complains("threadwise new FILE");
    }
    place
        .run(&["check", "models/lock.tw", "--only", "safty"])
        .expect(2)
        .complains("did you mean `safety`?");
}

#[test]
fn a_file_where_the_command_belongs_is_to_be_checked() {
    let place = Place::new();
    place.file(
        "lock.tw",
        "shared x: bool = false;\nprocess P { a: x := true; }\n",
    );
    for file in ["lock.tw", "missing.tw", "program.pml"] {
        let ran = place.run(&[file]).expect(2);
        assert!(
            ran.stderr.contains(&format!("`{file}` is not a command")),
            "{ran:?}"
        );
        assert!(
            ran.stderr.contains(&format!("threadwise check {file}")),
            "{ran:?}"
        );
    }
    // A command that is misspelt is not a file.
    let ran = place.run(&["chekc"]).expect(2);
    assert!(ran.stderr.contains("'check'"), "{ran:?}");
}
