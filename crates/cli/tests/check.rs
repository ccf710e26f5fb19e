//! `threadwise check`: verdicts, exit statuses, formats, filters and sweeps.

use threadwise_testgen::sweep::part;

use crate::common::{BROKEN, LOCK, Place, result, stable, without_stats};

#[test]
fn a_lock_that_works_is_proved() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let explicit = ["lock.tw", "--only", "safety", "--engine", "explicit"];
    let (report, ran) = place.json(&[&explicit[..], &["--set", "N=3"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    for property in ["checks", "mutex", "deadlock_free"] {
        let result = result(&report, property);
        assert_eq!(result["verdict"], "proved", "{property}");
        assert_eq!(result["scope"]["values"]["N"], 3);
        assert_eq!(result["rechecked"], true);
    }
    // The claim of the model is wider than the instance.
    let (report, ran) = place.json(&explicit);
    assert_eq!(ran.status, 3, "{ran:?}");
    for property in ["checks", "mutex", "deadlock_free"] {
        let result = result(&report, property);
        assert_eq!(result["verdict"], "unknown", "{property}");
        assert_eq!(result["scope"]["kind"], "all");
        assert_eq!(result["rechecked"], false);
        assert_eq!(result["holds"], serde_json::json!([{ "N": 3 }]));
        assert_eq!(result["shown"], serde_json::json!({ "N": 3 }));
        let tried = result["tried"][0].as_str().unwrap();
        assert_eq!(tried, "`explicit` looks at one instance at a time");
        let reason = &result["reason"];
        assert_eq!(reason["code"], "bounded");
        assert_eq!(reason["message"], "holds for N=3, not proved for every N");
        assert!(reason["next"].as_str().unwrap().contains("--set N=3"));
    }
    place
        .run(&[&["check"][..], &explicit].concat())
        .expect(3)
        .says("mutex          unknown   holds for N=3, not proved for every N, ")
        .says("to claim less, say so: --set N=3, or `where` in the model");
}

/// Each process counts itself, so the invariant fails with one process more than it allows.
const GROWS: &str = "\
param N = 3 where N >= 1;
shared c: int = 0;
process P[i: 1..N] { a: fetch_add(c, 1); }
invariant small: c <= 20;
deadlock_free;
";

#[test]
fn what_fails_with_many_processes_only_is_violated() {
    let place = Place::new();
    place.file("grows.tw", GROWS);
    let (report, ran) = place.json(&["grows.tw"]);
    ran.expect(1);
    let small = result(&report, "small");
    assert_eq!(small["verdict"], "violated");
    assert_eq!(small["rechecked"], true);
    assert_eq!(small["scope"]["values"], serde_json::json!({ "N": 21 }));
    // At the instances that are looked at otherwise it holds, and that is not what is claimed.
    place
        .run(&["check", "grows.tw", "--set", "N=1..4"])
        .expect(0);
    place
        .run(&[
            "check",
            "grows.tw",
            "--property",
            "small",
            "--engine",
            "explicit",
        ])
        .expect(3);
    place.file(
        "pairs.c",
        "\
int top = 0;
thread[N] push {
  assert(0 <= top && top < N);
  atomic { top++; }
  assert(N < 14 || top != 14);
}
thread[M] pop {
  assert(0 <= top && top <= N);
  atomic { if (top > 0) { top--; } }
}
",
    );
    let (report, ran) = place.json(&["pairs.c"]);
    ran.expect(1);
    let checks = result(&report, "checks");
    assert_eq!(checks["scope"]["values"]["N"], 14);
}

#[test]
fn a_claim_about_finitely_many_values_is_proved_at_each() {
    let place = Place::new();
    // Products are too much for engines for all instances.
    let with = |condition: &str| {
        let text = GROWS.replace("c: int", "c: 0..30");
        let text = text.replace("small: c <= 20", "product: c * c <= 400");
        text.replace("N >= 1", condition)
    };
    place.file("one.tw", with("N == 3"));
    let (report, ran) = place.json(&["one.tw", "--certificate", "proofs"]);
    ran.expect(0);
    let product = result(&report, "product");
    assert_eq!(product["rechecked"], true);
    let values = &product["scope"]["values"];
    assert_eq!(values, &serde_json::json!({ "N": 3 }));
    let some = "N >= 1 && N <= 4 && N != 2 || N == 5";
    place.file("some.tw", with(some));
    let (report, ran) = place.json(&["some.tw", "--certificate", "proofs"]);
    ran.expect(0);
    let product = result(&report, "product");
    assert_eq!(product["rechecked"], true);
    assert_eq!(product["scope"]["where"], some);
    for n in [1, 3, 4, 5] {
        let proof = format!("proofs/some.product.N={n}.cert.json");
        place.run(&["certify", "some.tw", &proof]).expect(0);
    }
    // One engine that looks at instances is enough.
    place
        .run(&["check", "some.tw", "--engine", "split"])
        .expect(0)
        .says("product        proved    for all N >= 1 && N <= 4 && N != 2 || N == 5");
    // And one of them that is wrong is enough, too.
    let wrong = GROWS.replace("N >= 1", "N >= 19 && N <= 22");
    place.file("wrong.tw", wrong.replace("N = 3", "N = 19"));
    let (report, ran) = place.json(&["wrong.tw", "--property", "small"]);
    ran.expect(1);
    let values = &result(&report, "small")["scope"]["values"];
    assert_eq!(values, &serde_json::json!({ "N": 21 }));
}

#[test]
fn what_is_looked_at_does_not_depend_on_how_many_look() {
    let place = Place::new();
    let inside = "(count i in P: P[i] at {critical, leave})";
    let product = format!("invariant product: {inside} * {inside} <= 1;\n");
    place.file("lock.tw", LOCK.to_owned() + &product);
    let of = |threads: &str| {
        let (report, ran) = place.json(&["lock.tw", "--only", "safety", "--threads", threads]);
        ran.expect(3);
        without_stats(report)
    };
    let one = of("1");
    assert_eq!(one, of("3"));
    let free = result(&one, "product");
    let holds = free["holds"].as_array().unwrap();
    let values: Vec<i64> = holds.iter().filter_map(|v| v["N"].as_i64()).collect();
    // The smallest first, and the default among them.
    let last = *values.last().unwrap();
    assert!(last > 3, "{values:?}");
    assert_eq!(values, (2..=last).collect::<Vec<i64>>());
    assert_eq!(free["shown"], serde_json::json!({ "N": 3 }));
}

#[test]
fn a_value_that_was_set_is_the_whole_claim() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (report, _) = place.json(&["lock.tw", "--only", "safety", "--set", "N=2"]);
    let mutex = result(&report, "mutex");
    assert_eq!(mutex["rechecked"], true);
    assert_eq!(mutex["reason"], serde_json::Value::Null);
}

#[test]
fn a_lock_that_does_not_work_is_violated_and_the_trace_replays() {
    let place = Place::new();
    place.file("broken.tw", BROKEN);
    let (report, ran) = place.json(&["broken.tw", "--trace", "traces"]);
    assert_eq!(ran.status, 1);
    let mutex = result(&report, "mutex");
    assert_eq!(mutex["verdict"], "violated");
    assert_eq!(mutex["rechecked"], true);
    assert_eq!(mutex["trace"]["property"], "mutex");
    assert_eq!(result(&report, "checks")["verdict"], "proved");
    place
        .run(&["replay", "broken.tw", "traces/broken.mutex.N=2.json"])
        .expect(0);
}

#[test]
fn the_shortest_execution_is_shown() {
    let place = Place::new();
    place.file("broken.tw", BROKEN);
    let (report, _) = place.json(&["broken.tw"]);
    let steps = result(&report, "mutex")["trace"]["steps"]
        .as_array()
        .unwrap()
        .len();
    // Each of the two leaves `idle`, tests and sets.
    assert_eq!(steps, 6);
}

/// `/dev/full` takes nothing: what a full disk does to a redirected output.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("messy.tw", "shared   x:bool=true;process P{a:x:=!x;}\n");
    for args in [
        &["check", "lock.tw", "--only", "safety"][..],
        &["check", "lock.tw", "--only", "safety", "--json"],
        &["simulate", "lock.tw"],
        &["export", "lock.tw", "--to", "promela"],
        &["fmt", "--check", "messy.tw"],
        &["new", "-"],
        &["engines"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        // A stream that is for reading takes nothing either, without a word from the language's runtime.
        let reading = std::fs::File::open("/dev/null");
        for stream in [full, reading] {
            let output = place.command(args).stdout(stream.unwrap()).output();
            let ran = crate::common::Ran::of(output.unwrap());
            ran.expect(4).complains("standard output cannot be written");
        }
    }
}

#[test]
fn a_file_with_errors_ends_with_what_that_means() {
    let place = Place::new();
    place.file("bad.tw", "process P { a: x := 1; b: y := 2; }\n");
    place
        .run(&["check", "bad.tw"])
        .expect(2)
        .complains("bad.tw: 2 errors: nothing was checked\n");
    place
        .run(&["test", "bad.tw"])
        .expect(2)
        .complains("2 errors: nothing was tested");
}

#[test]
fn for_all_says_what_the_claim_is() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (report, ran) = place.json(&[
        "lock.tw",
        "--only",
        "safety",
        "--engine",
        "explicit",
        "--for-all",
        "N",
    ]);
    assert_eq!(ran.status, 3);
    assert_eq!(result(&report, "mutex")["verdict"], "unknown");
    assert_eq!(result(&report, "mutex")["reason"]["code"], "bounded");
    // A violation is one for all values too.
    place.file("broken.tw", BROKEN);
    place
        .run(&["check", "broken.tw", "--for-all", "N"])
        .expect(1);
}

#[test]
fn a_sweep_has_a_run_for_each_value() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (report, ran) = place.json(&[
        "lock.tw", "--set", "N=2..4", "--only", "safety", "--engine", "explicit",
    ]);
    assert_eq!(ran.status, 0);
    let runs = report["runs"].as_array().unwrap();
    let values: Vec<_> = runs
        .iter()
        .map(|run| run["results"][0]["scope"]["values"]["N"].as_i64().unwrap())
        .collect();
    assert_eq!(values, [2, 3, 4]);
    let states: Vec<_> = runs
        .iter()
        .map(|run| run["results"][0]["stats"]["states"].as_u64().unwrap())
        .collect();
    assert!(states.is_sorted() && states[0] < states[2], "{states:?}");
}

#[test]
fn a_sweep_leaves_out_what_where_excludes_and_says_so() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (report, ran) = place.json(&["lock.tw", "--set", "N=1..2", "--only", "safety"]);
    assert_eq!(ran.status, 0);
    assert_eq!(report["runs"].as_array().unwrap().len(), 1);
    assert!(
        ran.stderr.contains("`where` excludes N=1"),
        "{}",
        ran.stderr
    );
    place
        .run(&["check", "lock.tw", "--set", "N=0..1"])
        .expect(2)
        .complains("excludes every value");
    place
        .run(&["check", "lock.tw", "--set", "N=1"])
        .expect(2)
        .complains("E0503");
}

#[test]
fn a_violation_anywhere_in_a_sweep_decides_the_status() {
    let place = Place::new();
    place.file(
        "late.tw",
        "param N = 1 where N >= 1;\n\
         shared x: 0..9 = 0;\n\
         process P[i: 1..N] { a: x := 1; b: skip; }\n\
         invariant few: (count i in P: P[i] at b) <= 2;\n",
    );
    place
        .run(&["check", "late.tw", "--set", "N=1..2"])
        .expect(0);
    let (report, ran) = place.json(&["late.tw", "--set", "N=1..4"]);
    assert_eq!(ran.status, 1);
    let verdicts: Vec<&str> = report["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["results"][1]["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["proved", "proved", "violated", "violated"]);
}

#[test]
fn a_sweep_shows_the_smallest_violation_of_each_property() {
    let place = Place::new();
    place.file("broken.tw", BROKEN);
    let args = ["check", "broken.tw", "--set", "N=2..4"];
    let ran = place.run(&args).expect(1);
    let ran = ran.says("\nmutex is also violated at N=3, 4; their traces: --verbose\n");
    let shown = |stdout: &str| stdout.matches("mutex is violated at").count();
    assert_eq!(shown(&ran.stdout), 1, "{ran:?}");
    let mut verbose = args.to_vec();
    verbose.push("--verbose");
    let ran = place.run(&verbose).expect(1);
    assert_eq!(shown(&ran.stdout), 3, "{ran:?}");
    let (report, _) = place.json(&args[1..]);
    for run in report["runs"].as_array().unwrap() {
        assert!(run["results"][1]["trace"].is_object());
    }
    // Another file is another model.
    place.file("again.tw", BROKEN);
    let ran = place.run(&["check", "broken.tw", "again.tw"]).expect(1);
    assert_eq!(shown(&ran.stdout), 2, "{ran:?}");
}

#[test]
fn an_invariant_that_cannot_be_evaluated_says_why() {
    let place = Place::new();
    place.file(
        "ids.tw",
        "process P[i: 1..2] { a: skip; }\ninvariant third: P[3] at a;\n",
    );
    let (report, ran) = place.json(&["ids.tw"]);
    assert_eq!(ran.status, 1);
    let ending = &result(&report, "third")["trace"]["ending"];
    assert_eq!(ending["fails"]["check"], "id");
    assert_eq!(ending["fails"]["line"], 2);
    place
        .run(&["check", "ids.tw"])
        .expect(1)
        .says("here evaluating `third` fails: there is no such process\n      2: invariant third");
}

#[test]
fn several_files_are_all_processed_and_the_worst_status_wins() {
    let place = Place::new();
    place.file(
        "good.tw",
        "shared x: bool = true;\nprocess P { a: x := !x; }\n",
    );
    place.file("broken.tw", BROKEN);
    // No engine takes liveness where processes are started.
    place.file(
        "open.tw",
        "process C[] { a: skip; }\nprocess P { a: start C; }\nliveness ends: F P at done;\n",
    );
    place.file("bad.tw", "shared x bool;\n");
    let status = |files: &[&str]| {
        let (report, ran) = place.json(files);
        assert_eq!(report["runs"].as_array().unwrap().len(), files.len());
        ran.status
    };
    assert_eq!(status(&["good.tw"]), 0);
    assert_eq!(status(&["good.tw", "open.tw"]), 3);
    assert_eq!(status(&["open.tw", "broken.tw", "good.tw"]), 1);
    assert_eq!(status(&["bad.tw", "broken.tw", "open.tw"]), 2);
    assert_eq!(status(&["missing.tw", "good.tw"]), 2);
}

#[test]
fn properties_are_chosen_by_name_with_a_suggestion() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let (report, ran) = place.json(&["lock.tw", "--property", "mutex"]);
    assert_eq!(ran.status, 0);
    let names: Vec<_> = report["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["property"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["checks", "mutex"], "the built-in checks run along");
    let (report, ran) = place.json(&["lock.tw", "--property", "mutx"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("did you mean `mutex`?"),
        "{}",
        ran.stderr
    );
    let diagnostic = &report["runs"][0]["diagnostics"][0];
    assert_eq!(diagnostic["help"], "did you mean `mutex`?");
}

#[test]
fn nothing_to_check_is_an_error() {
    let place = Place::new();
    place.file("broken.tw", BROKEN);
    place
        .run(&["check", "broken.tw", "--only", "liveness"])
        .expect(2)
        .complains("nothing to check");
    place
        .run(&[
            "check",
            "broken.tw",
            "--only",
            "liveness",
            "--property",
            "mutex",
        ])
        .expect(2);
}

#[test]
fn names_are_checked_and_suggested() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    for (args, message) in [
        (vec!["--engine", "explict"], "did you mean `explicit`?"),
        (vec!["--engine", "magic"], "there is no engine `magic`"),
        (vec!["--deny", "coarse-stp"], "did you mean `coarse-step`?"),
        (vec!["--set", "M=3"], "no parameter `M`"),
        (vec!["--for-all", "M"], "no parameter `M`"),
        (
            vec!["--for-all", "N", "--set", "N=2"],
            "leave out one of the two",
        ),
        (
            vec!["--deny", "W9999"],
            "coarse-step (W0001), unused-variable (W0002)",
        ),
        (
            vec!["--set", "N=2", "--set", "N=3"],
            "set twice; for several values write a range, N=LO..HI",
        ),
        (
            vec!["--engine", "forward", "--symmetry"],
            "`--symmetry` is for the engine `explicit`",
        ),
        (
            vec!["--breadth-first"],
            "`--breadth-first` is for the engine `forward`",
        ),
        (
            vec!["--no-symmetry"],
            "`--no-symmetry` is for the engine `split`, `pairwise`, `thread-modular`, `thread-modular-refined`, `liveness-monolithic`",
        ),
        (
            vec!["--engine", "pairwise", "--errors", "fixpoint"],
            "`--errors` is for the engine `split`",
        ),
        (
            vec![
                "--engine",
                "split",
                "--errors",
                "fixpoint",
                "--predicates",
                "paths",
            ],
            "leave out `--errors`, or say `--errors stages`",
        ),
        (
            vec!["--predicates", "paths"],
            "`--predicates` is for the engine `split` or `thread-modular-refined`",
        ),
        (
            vec![
                "--engine",
                "thread-modular-refined",
                "--predicates",
                "paths",
            ],
            "`--predicates paths` is for the engine `split`",
        ),
        (
            vec!["--engine", "thread-modular", "--predicates", "states"],
            "`--predicates` is for the engine",
        ),
        (
            vec!["--engine", "forward", "--witnesses"],
            "`--witnesses` is for the engine `split`",
        ),
        (
            vec!["--exceptions", "given"],
            "`--exceptions` is for the engine `cartesian`",
        ),
        (
            vec!["--engine", "split", "--exceptions", "computed"],
            "`--exceptions` is for the engine `cartesian`",
        ),
        (
            vec!["--engine", "cartesian", "--exceptions", "none"],
            "possible values: both, given, computed",
        ),
        (
            vec!["--learn", "N=2"],
            "`--learn` is for the engine `local-liveness`, `fair-local-liveness-a` or `fair-local-liveness-b`",
        ),
        (
            vec!["--engine", "liveness-monolithic", "--learn", "N=2"],
            "and the engine is `liveness-monolithic`",
        ),
        (
            vec!["--engine", "local-liveness", "--learn", "M=2"],
            "the model has no parameter `M`",
        ),
        (
            vec!["--engine", "local-liveness", "--learn", "N=2..3"],
            "takes one value of `N`",
        ),
        (
            vec![
                "--engine",
                "local-liveness",
                "--learn",
                "N=2",
                "--learn",
                "N=3",
            ],
            "parameter `N` is set twice",
        ),
        (
            vec!["--engine", "explicit", "--explain"],
            "`--explain` is for the engine",
        ),
        (vec!["--set", "N=2...4"], "is written N=2..4"),
        (vec!["--set", "N=2,3"], "is written N=2..3"),
        (vec!["--set", "N=2-4"], "is written N=2..4"),
        (vec!["--memory", "1G"], "--memory 1024"),
        (vec!["--memory", "0"], "at least 16 MiB"),
        (vec!["--memory", "lots"], "expected a number of MiB"),
        (vec!["--timeout", "-1"], "positive number of seconds"),
        (
            vec!["--only", "liveness", "--property", "mutex"],
            "`mutex` is no liveness property",
        ),
        (vec!["--set", "N=5..2"], "is empty"),
        (vec!["--set", "N=a"], "not an integer"),
        (vec!["--set", "N"], "expected NAME=VALUE"),
        (vec!["--set", "N=1..99999999"], "more than 10000 instances"),
        (vec!["--timeout", "0"], "positive number of seconds"),
        (vec!["--timeout", "soon"], "positive number of seconds"),
        (vec!["--memory", "1"], "16"),
        (vec!["--threads", "0"], "1..=1024"),
        (vec!["--only", "both"], "`safety` or `liveness`"),
        (
            vec!["--format", "xml"],
            "possible values: text, json, sarif",
        ),
        (vec!["--json", "--format", "text"], "cannot be used with"),
    ] {
        let mut all = vec!["check", "lock.tw"];
        all.extend(args);
        let ran = place.run(&all).expect(2).complains(message);
        assert_eq!(ran.stdout, "", "{all:?}");
    }
}

#[test]
fn commands_that_do_not_exist_are_refused_with_a_suggestion() {
    let place = Place::new();
    place.run(&["chek"]).expect(2).complains("'check'");
    place
        .run(&["translate"])
        .expect(2)
        .complains("unrecognized subcommand");
    place.run(&[]).expect(2).complains("Usage");
}

#[test]
fn warnings_can_be_denied() {
    let place = Place::new();
    let unused = "shared unused: bool = true;\nshared x: bool = true;\nprocess P { a: await x; }\n";
    place.file("unused.tw", unused);
    let (report, ran) = place.json(&["unused.tw"]);
    assert_eq!(ran.status, 0);
    let warning = &report["runs"][0]["diagnostics"][0];
    assert_eq!(warning["severity"], "warning");
    assert_eq!(warning["code"], "W0002");
    assert_eq!(warning["name"], "unused-variable");
    assert_eq!(warning["place"]["line"], 1);
    assert_eq!(warning["place"]["column"], 8);
    for name in ["unused-variable", "W0002", "w0002", "all"] {
        let (report, ran) = place.json(&["unused.tw", "--deny", name]);
        assert_eq!(ran.status, 2, "{name}");
        let run = &report["runs"][0];
        assert_eq!(run["diagnostics"][0]["severity"], "error");
        assert_eq!(run["results"].as_array().unwrap().len(), 0);
    }
    place
        .run(&["check", "unused.tw", "--deny", "coarse-step"])
        .expect(0);
}

#[test]
fn a_model_is_read_from_standard_input() {
    let place = Place::new();
    let ran = place.run_with(
        &["check", "-", "--only", "safety", "--json"],
        LOCK.as_bytes(),
    );
    assert_eq!(ran.json()["runs"][0]["file"], "-");
    assert_eq!(ran.status, 0);
    place
        .run_with(&["check", "-", "-"], LOCK.as_bytes())
        .expect(2)
        .complains("once");
}

#[test]
fn built_in_checks_are_a_result_of_their_own() {
    let place = Place::new();
    place.file(
        "over.tw",
        "shared x: 0..3 = 0;\nprocess P { loop { a: x := x + 1; } }\ninvariant small: x <= 3;\n",
    );
    let (report, ran) = place.json(&["over.tw"]);
    assert_eq!(ran.status, 1);
    let checks = result(&report, "checks");
    assert_eq!(
        (&checks["kind"], &checks["verdict"]),
        (&"builtin".into(), &"violated".into())
    );
    assert_eq!(checks["trace"]["ending"]["check"], "range");
    assert_eq!(checks["trace"]["ending"]["line"], 2);
}

#[test]
fn two_runs_and_any_number_of_threads_print_the_same() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("broken.tw", BROKEN);
    let args = |threads: &'static str| {
        vec![
            "lock.tw",
            "broken.tw",
            "--set",
            "N=2..3",
            "--threads",
            threads,
        ]
    };
    let (one, _) = place.json(&args("1"));
    let one = without_stats(one);
    for threads in ["1", "2"] {
        let (again, _) = place.json(&args(threads));
        assert_eq!(one.to_string(), without_stats(again).to_string());
    }
    let text = |threads: &str| {
        place
            .run(&["check", "broken.tw", "--threads", threads])
            .stable()
    };
    assert_eq!(text("1"), text("2"));
}

#[test]
fn the_number_of_threads_changes_nothing_in_the_library() {
    let place = Place::new();
    let (mut models, mut plans) = (0, 0);
    let library = threadwise_testgen::library();
    let all = library.len();
    for (name, text) in part(library, 4) {
        let file = format!("{name}.tw");
        place.file(&file, text);
        let report = |threads: &str, more: &[&str]| {
            let args = [&[file.as_str(), "--threads", threads][..], more].concat();
            without_stats(place.json(&args).0).to_string()
        };
        // Of the claim itself, and of instances: some only engines for one instance decide.
        for more in [&[][..], &["--set", "N=3"]] {
            let (one, two) = (report("1", more), report("2", more));
            assert_eq!(one, two, "{name} {more:?}");
            plans += usize::from(one.contains("\"plan\""));
        }
        models += 1;
    }
    assert!(
        models >= all / 4 && plans >= models,
        "{models} models of {all}, {plans} plans"
    );
}

#[test]
fn the_text_is_short_and_says_what_to_do_next() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("broken.tw", BROKEN);
    // An engine for safety does not take the liveness property.
    let ran = place
        .run(&["check", "lock.tw", "broken.tw", "--engine", "explicit"])
        .expect(1);
    assert_eq!(ran.stderr, "", "nothing but results, in a pipe");
    insta::assert_snapshot!("two_files", ran.stable());
    let ran = place
        .run(&["check", "broken.tw", "--quiet", "--engine", "explicit"])
        .expect(1);
    insta::assert_snapshot!("quiet", ran.stable());
    let ran = place.run(&["check", "lock.tw", "--set", "N=2..3", "--only", "safety"]);
    insta::assert_snapshot!("sweep", ran.expect(0).stable());
}

#[test]
fn symmetry_changes_the_counts_and_not_the_verdicts() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("broken.tw", BROKEN);
    let args = ["lock.tw", "broken.tw", "--set", "N=3", "--only", "safety"];
    let (plain, _) = place.json(&[&args[..], &["--engine", "explicit"]].concat());
    let mut reduced_args = args.to_vec();
    reduced_args.push("--symmetry");
    let (reduced, _) = place.json(&reduced_args);
    for run in 0..2 {
        let results = |report: &serde_json::Value| report["runs"][run]["results"].clone();
        let (plain, reduced) = (results(&plain), results(&reduced));
        for (plain, reduced) in plain
            .as_array()
            .unwrap()
            .iter()
            .zip(reduced.as_array().unwrap())
        {
            assert_eq!(plain["verdict"], reduced["verdict"]);
            // Some of the states are no certificate.
            let proved = plain["verdict"] == "proved";
            assert_eq!(reduced["rechecked"], !proved);
            assert_eq!(plain["rechecked"], true);
            let states = |result: &serde_json::Value| result["stats"]["states"].as_u64().unwrap();
            assert!(states(reduced) < states(plain));
            assert_eq!(reduced["stats"]["up_to_symmetry"], true);
        }
    }
    place
        .run(&[
            "check",
            "lock.tw",
            "--set",
            "N=3",
            "--symmetry",
            "--only",
            "safety",
        ])
        .expect(0)
        .says("states up to symmetry");
}

#[test]
fn verbose_adds_statistics_and_reasons() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let safety = ["check", "lock.tw", "--set", "N=3", "--only", "safety"];
    place
        .run(&[&safety[..], &["--verbose"]].concat())
        .expect(0)
        .says("engine explicit")
        .says("transitions")
        .says("depth")
        .says("certificate checked");
    // States that are stored up to symmetry are not all there are.
    place
        .run(&[&safety[..], &["-v", "--symmetry"]].concat())
        .expect(0)
        .says("not rechecked: the engine gave no certificate");
    place
        .run(&[&safety[..], &["-v", "--engine", "forward"]].concat())
        .expect(0)
        .says(" iterations, at most ")
        .says(" nodes");
}

#[test]
fn a_certificate_can_be_kept_and_checked() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("broken.tw", BROKEN);
    place
        .run(&[
            "check",
            "lock.tw",
            "--engine",
            "explicit",
            "--set",
            "N=3",
            "--only",
            "safety",
            "--certificate",
            "proofs",
        ])
        .expect(0)
        .complains("certificate of `mutex` written to");
    let explicit = [
        "check", "lock.tw", "--set", "N=3", "--only", "safety", "--engine", "explicit",
    ];
    place
        .run(&[&explicit[..], &["--symmetry", "--certificate", "proofs"]].concat())
        .expect(0)
        .complains("no certificate of `mutex` is written");
    let mutex = "proofs/lock.mutex.N=3.cert.json";
    place
        .run(&["certify", "lock.tw", mutex])
        .expect(0)
        .says("the certificate proves `mutex` at N=3");
    place
        .run(&["certify", "lock.tw", mutex, "--smtlib"])
        .expect(0)
        .says("(check-sat)");
    place
        .run(&["certify", "lock.tw", mutex, "--set", "N=2"])
        .expect(4)
        .complains("it is for N = 3, and here N = 2")
        .complains("leave out --property and --set");
    place
        .run(&["certify", "lock.tw", mutex, "--property", "deadlock_free"])
        .expect(4)
        .complains("it is about `mutex`");
    place
        .run(&["certify", "lock.tw", mutex, "--property", "mutx"])
        .expect(2)
        .complains("the model has no property `mutx`")
        .complains("did you mean `mutex`?");
    place
        .run(&["certify", "lock.tw", mutex, "--set", "N=2..3"])
        .expect(2)
        .complains("for one value or for all");
    place
        .run(&["certify", "lock.tw", "lock.tw"])
        .expect(2)
        .complains("this is not a certificate");
    let text = std::fs::read_to_string(place.path().join(mutex)).unwrap();
    for (wrong, status, message) in [
        (
            text[..text.len() / 2].to_owned(),
            2,
            "this is not a certificate",
        ),
        (
            text.replace("\"version\":1", "\"version\":7"),
            2,
            "version 7",
        ),
        (
            text.replace("\"mutex\"", "\"mu\\u001b[2Jtex\\nerror\""),
            4,
            "does not prove `mu\\u{1b}[2Jtex\\nerror`",
        ),
        (text.replace("\"N\":", "\"N\\u001b[2J\":"), 2, "N\\u{1b}[2J"),
        (text.replace("\"root\":", "\"root\":9"), 2, "the root"),
        (
            text.replace("\"model\":\"", "\"model\":\"0"),
            4,
            "made for another model",
        ),
        (
            text.split("\"cells\"").next().unwrap().to_owned()
                + "\"cells\":[],\"nodes\":[],\"root\":1}}",
            4,
            "made for this model, so it is wrong itself",
        ),
    ] {
        place.file("wrong.json", &wrong);
        place
            .run(&["certify", "lock.tw", "wrong.json"])
            .expect(status)
            .complains(message)
            .plain();
    }
}

#[test]
fn there_are_no_colours_in_a_pipe() {
    let place = Place::new();
    place.file("broken.tw", BROKEN);
    place.file("bad.tw", "shared x bool;\n");
    let ran = place.run(&["check", "broken.tw", "bad.tw"]);
    assert!(
        !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
        "{ran:?}"
    );
}

#[test]
fn traces_are_written_in_every_form_and_never_over_each_other() {
    let place = Place::new();
    place.file("a/broken.tw", BROKEN);
    place.file("b/broken.tw", BROKEN);
    let files = ["check", "a/broken.tw", "b/broken.tw", "--trace", "out"];
    for (form, name) in [
        ("json", "broken.mutex.N=2"),
        ("text", "broken.mutex.N=2"),
        ("itf", "broken.mutex.N=2"),
        ("lanes", "broken.mutex.N=2"),
        ("mermaid", "broken.mutex.N=2"),
    ] {
        let mut args = files.to_vec();
        args.extend(["--trace-format", form]);
        place.run(&args).expect(1);
        let ending = match form {
            "text" => "txt",
            "itf" => "itf.json",
            "lanes" => "lanes.txt",
            "mermaid" => "mmd",
            form => form,
        };
        for number in ["", "-2"] {
            let path = place.path().join(format!("out/{name}{number}.{ending}"));
            let text = std::fs::read_to_string(&path).unwrap();
            if ending.ends_with("json") {
                let _: serde_json::Value = serde_json::from_str(&text).unwrap();
            }
        }
    }
    place.file("occupied", "");
    place
        .run(&["check", "a/broken.tw", "--trace", "occupied"])
        .expect(2)
        .complains("cannot be written");
}

#[test]
fn durations_are_replaced_in_snapshots() {
    assert_eq!(
        stable("a 12 ms, 0.3 s\nb 4 states"),
        "a TIME, TIME\nb 4 states"
    );
}

#[test]
fn proofs_are_explained() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let args = [
        "lock.tw",
        "--set",
        "N=3",
        "--only",
        "safety",
        "--explain",
        "--engine",
    ];
    let (report, ran) = place.json(&[&args[..], &["split"]].concat());
    assert_eq!(ran.status, 0);
    let outline = &result(&report, "mutex")["outline"];
    assert_eq!(outline["whole"], true, "{outline}");
    assert!(!outline["processes"].as_array().unwrap().is_empty());
    place
        .run(&[&["check"], &args[..], &["split"]].concat())
        .expect(0)
        .says("The proof of")
        .says("for every i in P");
    let (report, _) = place.json(&["lock.tw", "--only", "safety", "--engine", "split"]);
    assert_eq!(result(&report, "mutex")["outline"], serde_json::Value::Null);
    let (report, ran) = place.json(&[&args[..], &["pairwise"]].concat());
    assert_eq!(ran.status, 0);
    let outline = &result(&report, "mutex")["outline"];
    assert_eq!(outline["whole"], true, "{outline}");
    assert_eq!(
        outline["processes"][0]["other"]["condition"], "j != i",
        "{outline}"
    );
    place
        .run(&[&["check"], &args[..], &["pairwise"]].concat())
        .expect(0)
        .says("P[i], for every i in P, and every P[j] with j != i");
    // Of all instances, in numbers of processes; and of the default, if it is among those that were left, by an engine that has something to show.
    let inside = "(count i in P: P[i] at {critical, leave})";
    let product = format!("invariant product: {inside} * {inside} <= 1;\n");
    place.file("product.tw", LOCK.to_owned() + &product);
    let every = ["product.tw", "--only", "safety", "--explain"];
    let (report, _) = place.json(&every);
    let outline = &result(&report, "mutex")["outline"];
    assert_eq!(outline["whole"], true, "{outline}");
    place
        .run(&[&["check"], &every[..]].concat())
        .expect(3)
        .says("#critical")
        .says("(#l is the number of processes at l")
        .says("The proof of product at N=3:\n  The others may speak of");
    // Others have nothing to explain, and say so.
    let ran = place
        .run(&[&["check"], &args[..], &["forward"]].concat())
        .expect(2);
    assert!(
        ran.stderr.contains(
            "`--explain` is for the engine `auto`, `split`, `pairwise`, `thread-modular`"
        ),
        "{ran:?}"
    );
}

#[test]
fn proofs_do_not_depend_on_the_name_of_the_file() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    place.file("elsewhere/peterson.tw", LOCK);
    for engine in ["split", "pairwise", "thread-modular-refined"] {
        let proof = |file| {
            let (report, _) =
                place.json(&[file, "--only", "safety", "--explain", "--engine", engine]);
            let found = result(&report, "mutex");
            let stats = &found["stats"];
            assert!(stats["predicates"].is_u64(), "{stats}");
            let figures = ["refinements", "predicates", "extensions"];
            (
                figures.map(|figure| stats[figure].clone()),
                found["outline"].clone(),
            )
        };
        assert_eq!(proof("lock.tw"), proof("elsewhere/peterson.tw"));
    }
}

#[test]
fn guarantees_that_do_not_suffice_name_the_engine_that_goes_on() {
    let place = Place::new();
    place.file("lock.tw", LOCK);
    let args = ["lock.tw", "--set", "N=3", "--only", "safety", "--engine"];
    let (report, ran) = place.json(&[&args[..], &["thread-modular"]].concat());
    assert_eq!(ran.status, 3);
    let mutex = result(&report, "mutex");
    assert_eq!(mutex["verdict"], "unknown");
    assert_eq!(mutex["reason"]["code"], "guarantees-too-weak");
    let next = mutex["reason"]["next"].as_str().unwrap();
    assert!(next.contains("`--engine thread-modular-refined`"), "{next}");
    assert_eq!(result(&report, "checks")["verdict"], "proved");
    let (report, ran) = place.json(&[&args[..], &["thread-modular-refined", "--explain"]].concat());
    assert_eq!(ran.status, 0);
    let mutex = result(&report, "mutex");
    assert_eq!(mutex["verdict"], "proved");
    assert_eq!(mutex["outline"]["whole"], true, "{}", mutex["outline"]);
    place.file("broken.tw", BROKEN);
    let (report, ran) = place.json(&["broken.tw", "--engine", "thread-modular-refined"]);
    assert_eq!(ran.status, 1);
    assert_eq!(result(&report, "mutex")["verdict"], "violated");
    let (report, _) = place.json(&["broken.tw", "--engine", "thread-modular"]);
    assert_eq!(result(&report, "mutex")["verdict"], "unknown");
}

/// A lock for two, with exceptions; the test and the taking are one step if it works.
fn lock_with(exception: &str, works: bool) -> String {
    let enter = if works {
        "idle: atomic { await free; free := false; }"
    } else {
        "idle: await free; claim: free := false;"
    };
    format!(
        "shared free: bool = true;
         process P[i: 1..2] {{ loop {{ {enter} inside: skip; leave: free := true; }} }}
         def within(i: P) = P[i] at {{inside, leave}};
         invariant mutex: forall i, j in P: i != j -> !(within(i) && within(j));
         exception {{ {exception}; }}
"
    )
}

#[test]
fn exceptions_are_hints_and_never_assumptions() {
    let nobody = "free && forall i in P: P[i] at idle";
    let one = "!free && (count i in P: within(i)) == 1";
    let both = "!free && forall i in P: P[i] at inside";
    let (weak, forbidden) = ("exceptions-too-weak", "exception-forbidden");
    let place = Place::new();
    for (exception, works, which, verdict, code, status) in [
        // Too weak, and completed.
        (nobody, true, "given", "unknown", weak, 3),
        (nobody, true, "both", "proved", "", 0),
        (nobody, false, "given", "unknown", weak, 3),
        (nobody, false, "both", "violated", "", 1),
        // Enough.
        (one, true, "given", "proved", "", 0),
        (one, false, "given", "unknown", weak, 3),
        (one, false, "both", "violated", "", 1),
        // Forbidden by the property: no violation, whether there is one or not.
        (both, true, "given", "unknown", forbidden, 3),
        (both, true, "both", "unknown", forbidden, 3),
        (both, false, "both", "unknown", forbidden, 3),
        // Not looked at.
        (both, true, "computed", "proved", "", 0),
        (both, false, "computed", "violated", "", 1),
    ] {
        place.file("lock.tw", lock_with(exception, works));
        let args = ["lock.tw", "--engine", "cartesian", "--property", "mutex"];
        let (report, ran) = place.json(&[&args[..], &["--exceptions", which]].concat());
        let case = format!("{exception}, works: {works}, {which}: {ran:?}");
        let mutex = result(&report, "mutex");
        assert_eq!(mutex["verdict"], verdict, "{case}");
        assert_eq!(ran.status, status, "{case}");
        if verdict == "unknown" {
            assert_eq!(mutex["reason"]["code"], code, "{case}");
            let next = mutex["reason"]["next"].as_str().unwrap_or_default();
            assert!(next.contains("--exceptions"), "{case}");
            let message = mutex["reason"]["message"].as_str().unwrap_or_default();
            let state = "(!free && P[1] at";
            assert!(message.contains(state), "{case}");
        } else {
            assert_eq!(mutex["rechecked"], true, "{case}");
        }
        if which == "both" {
            let (default, _) = place.json(&args);
            let default = result(&default, "mutex");
            assert_eq!(
                default["verdict"], verdict,
                "what is meant by default: {case}"
            );
            assert_eq!(default["reason"], mutex["reason"], "{case}");
        }
    }
    // Other engines do not look at them.
    place.file("lock.tw", lock_with(both, true));
    place.json(&["lock.tw", "--engine", "explicit"]).1.expect(0);
    // A model without a block is not said to have exceptions.
    let text = lock_with(nobody, true);
    place.file("lock.tw", text.split_once("exception").unwrap().0);
    let args = ["lock.tw", "--engine", "cartesian", "--exceptions", "given"];
    let (report, _) = place.json(&args);
    let message = &result(&report, "mutex")["reason"]["message"];
    assert!(
        message.as_str().unwrap().contains("the model has none"),
        "{message}"
    );
}

#[test]
fn a_model_without_properties_says_so() {
    let place = Place::new();
    place.file(
        "none.tw",
        "shared x: bool = false;\nprocess P { a: x := true; }\n",
    );
    let none = "the model says nothing that must hold";
    place
        .run(&["check", "none.tw"])
        .says(none)
        .says("Next: state what must hold");
    let quiet = place.run(&["check", "none.tw", "--quiet"]);
    assert!(!quiet.stdout.contains(none), "{quiet:?}");
    place.file("lock.tw", LOCK);
    let some = place.run(&["check", "lock.tw", "--set", "N=2", "--only", "safety"]);
    assert!(!some.stdout.contains(none), "{some:?}");
}
