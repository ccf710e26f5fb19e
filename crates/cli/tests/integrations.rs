//! Results for other tools: SARIF, the definition of an action, hooks for commits, and the module for BenchExec.

use std::path::Path;
use std::process::Command;

use crate::common::Place;
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn model(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/models/{name}.tw")).unwrap()
}

fn sarif(place: &Place, args: &[&str], status: i32) -> Value {
    let mut all = vec!["check", "--format", "sarif"];
    all.extend(args);
    let ran = place.run(&all).expect(status);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().unwrap()
}

/// The result about a property, by its name in the message.
fn about<'l>(log: &'l Value, property: &str) -> &'l Value {
    let name = format!("`{property}`");
    let text = |result: &Value| result["message"]["text"].as_str().unwrap().to_owned();
    let mut found = results(log).iter();
    found
        .find(|result| text(result).starts_with(&name))
        .unwrap()
}

#[test]
fn a_violation_in_sarif() {
    let place = Place::new();
    place.file("a b/lock#1.tw", model("mux_sem_try"));
    let log = sarif(&place, &["a b/lock#1.tw"], 1);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "threadwise");
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    // Every rule that a result names is declared, once.
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let mut ids: Vec<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
    let number = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), number);
    for result in results(&log) {
        assert!(
            ids.contains(&result["ruleId"].as_str().unwrap()),
            "{result}"
        );
        // The format asks for it.
        assert_eq!(
            result["kind"] == "fail",
            result["level"] != "none",
            "{result}"
        );
    }
    let mutex = about(&log, "mutex");
    assert_eq!(
        (&mutex["kind"], &mutex["level"]),
        (&json!("fail"), &json!("error"))
    );
    let place_of = |value: &Value| {
        let physical = &value["physicalLocation"];
        let line = physical["region"]["startLine"].as_u64().unwrap();
        (
            physical["artifactLocation"]["uri"]
                .as_str()
                .unwrap()
                .to_owned(),
            line,
        )
    };
    let uri = "a%20b/lock%231.tw".to_owned();
    assert_eq!(place_of(&mutex["locations"][0]), (uri.clone(), 31));
    // The run: one place a step, at the line of the step.
    let flow = &mutex["codeFlows"][0]["threadFlows"][0]["locations"];
    let lines: Vec<(String, u64)> = flow
        .as_array()
        .unwrap()
        .iter()
        .map(|step| place_of(&step["location"]))
        .collect();
    assert_eq!(lines, [22, 22, 23, 23].map(|line| (uri.clone(), line)));
    assert_eq!(
        flow[2]["location"]["message"]["text"],
        "P[2] goes from look to enter"
    );
    assert_eq!(about(&log, "checks")["kind"], "pass");
}

#[test]
fn what_is_unknown_and_what_cannot_be_read_in_sarif() {
    let place = Place::new();
    place.file("count.tw", "shared x: int = 0;\nprocess P { loop { up: x := x + 1; } }\ninvariant small: x != -1;\ndeadlock_free;\n");
    let log = sarif(
        &place,
        &["count.tw", "--engine", "explicit", "--timeout", "0.2"],
        3,
    );
    assert_eq!(about(&log, "small")["kind"], "open");
    place.file("wrong.tw", "shared x: bool = 3;\nprocess P { a: skip; }\n");
    let log = sarif(&place, &["wrong.tw"], 2);
    let error = &results(&log)[0];
    assert_eq!(error["level"], "error");
    let region = &error["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (region["startLine"].as_u64(), region["startColumn"].as_u64()),
        (Some(1), Some(18))
    );
    // A file that is not there.
    let log = sarif(&place, &["no-such.tw"], 2);
    assert_eq!(results(&log).len(), 1);
}

/// Whether a program is there; if not, the test says so.
fn has(program: &str, args: &[&str]) -> bool {
    let there = Command::new(program).args(args).output();
    let there = there.is_ok_and(|output| output.status.success());
    if !there {
        println!(
            "{program} {} does not run: the test is left out",
            args.join(" ")
        );
    }
    there
}

/// What the module for BenchExec makes of answers, by BenchExec's own types.
#[test]
fn benchexec_understands_the_answers() {
    if !has("python3", &["-c", "import benchexec.tools.template"]) {
        return;
    }
    let place = Place::new();
    for (name, text) in [("right", model("mux_sem")), ("wrong", model("mux_sem_try"))] {
        place.file(&format!("{name}.tw"), text);
    }
    place.file(
        "index.c",
        "int a[3]; int i = 5;\nint main(void) { a[i] = 1; }\n",
    );
    place.file("race.prp", "CHECK( init(main()), LTL(G ! data-race) )\n");
    let script = format!(
        "import sys, benchexec.tools.template, importlib.util, subprocess, benchexec.util as util\n\
         spec = importlib.util.spec_from_file_location('threadwise', '{ROOT}/integrations/benchexec/threadwise.py')\n\
         module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n\
         tool = module.Tool()\n\
         program = sys.argv[1]\n\
         print(tool.version(program))\n\
         from benchexec.tools.template import BaseTool2\n\
         for name, options in [('right.tw', ['--only', 'safety']), ('wrong.tw', []), ('right.tw', ['--engine', 'explicit', '--set', 'N=18', '--timeout', '0.3', '--property', 'mutex']), ('index.c', []), ('missing.tw', [])]:\n\
         \x20   task = BaseTool2.Task.with_files([name])\n\
         \x20   limits = BaseTool2.ResourceLimits(memory=2000000000)\n\
         \x20   command = tool.cmdline(program, options, task, limits)\n\
         \x20   done = subprocess.run(command, capture_output=True, text=True)\n\
         \x20   run = BaseTool2.Run(command, util.ProcessExitCode.create(value=done.returncode), BaseTool2.RunOutput(done.stdout.splitlines(keepends=True)), None)\n\
         \x20   print(name, tool.determine_result(run))\n\
         print(tool.get_value_from_output(run.output, 'states'))\n\
         try:\n\
         \x20   tool.cmdline(program, [], BaseTool2.Task.with_files(['index.c'], property_file='race.prp'), limits)\n\
         except benchexec.tools.template.UnsupportedFeatureException as error:\n\
         \x20   print(error)\n"
    );
    let output = Command::new("python3")
        .args(["-c", &script, env!("CARGO_BIN_EXE_threadwise")])
        .current_dir(place.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            env!("CARGO_PKG_VERSION"),
            "right.tw true",
            "wrong.tw false",
            "right.tw TIMEOUT",
            "index.c false(valid-deref)",
            "missing.tw ERROR",
            "None",
            "threadwise answers whether an error is reached and whether something overflows, not what race.prp asks",
        ],
        "{errors}"
    );
}

/// Tasks for BenchExec: a program, the data model, and for each property what BenchExec should find and how it should judge it.
type BenchTask = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, bool, &'static str, &'static str)],
);

const BENCH_TASKS: &[BenchTask] = &[
    (
        "right",
        "LP64",
        "int x = 1;\nint main(void) { if (x != 1) reach_error(); }\n",
        &[
            ("unreach-call", true, "true", "correct"),
            ("no-overflow", true, "true", "correct"),
        ],
    ),
    // `long` is as wide as the task says.
    (
        "wide",
        "LP64",
        "long x = 2147483647;\nint main(void) { x = x + 1; if (x < 0) reach_error(); }\n",
        &[
            ("unreach-call", true, "true", "correct"),
            ("no-overflow", true, "true", "correct"),
        ],
    ),
    (
        "narrow",
        "ILP32",
        "long x = 2147483647;\nint main(void) { x = x + 1; if (x < 0) reach_error(); }\n",
        &[
            ("unreach-call", false, "false(unreach-call)", "correct"),
            ("no-overflow", false, "false(no-overflow)", "correct"),
        ],
    ),
    // What goes wrong is not what was asked about.
    (
        "index",
        "LP64",
        "int a[3]; int i = 5;\nint main(void) { a[i] = 1; }\n",
        &[
            ("unreach-call", true, "unknown", "unknown"),
            ("no-overflow", true, "unknown", "unknown"),
        ],
    ),
    (
        "assertion",
        "LP64",
        "int x = 5;\nint main(void) { assert(x == 4); }\n",
        &[("unreach-call", true, "unknown", "unknown")],
    ),
    // Where there may be any number of threads, overflows are not looked for.
    (
        "any",
        "LP64",
        "int x;\nvoid *f(void *a) { x++; return 0; }\nint main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }\n",
        &[("no-overflow", false, "unknown", "unknown")],
    ),
];

/// BenchExec itself runs tasks of the competition's form with the module, and judges the answers.
#[test]
fn benchexec_runs_tasks() {
    // Some machines do not let it measure anything.
    if !has(
        "runexec",
        &["--no-container", "--output", "/dev/null", "true"],
    ) {
        return;
    }
    let place = Place::new();
    place.file("tools/__init__.py", "");
    let module = std::fs::read_to_string(format!("{ROOT}/integrations/benchexec/threadwise.py"));
    place.file("tools/threadwise.py", module.unwrap());
    for (name, formula) in [
        ("unreach-call", "! call(reach_error())"),
        ("no-overflow", "! overflow"),
    ] {
        let text = format!("CHECK( init(main()), LTL(G {formula}) )\n\n");
        place.file(&format!("{name}.prp"), text);
    }
    let mut expected = Vec::new();
    for (name, data_model, text, questions) in BENCH_TASKS {
        let begin = "#include <assert.h>\n#include <pthread.h>\nextern void reach_error(void);\n";
        place.file(&format!("{name}.c"), format!("{begin}{text}"));
        let mut task = format!("format_version: '2.0'\ninput_files: '{name}.c'\nproperties:\n");
        for (question, verdict, status, category) in *questions {
            task +=
                &format!("  - property_file: {question}.prp\n    expected_verdict: {verdict}\n");
            expected.push(format!("{question} {name}: {status} {category}"));
        }
        task += &format!("options:\n  language: C\n  data_model: {data_model}\n");
        place.file(&format!("{name}.yml"), task);
    }
    expected.sort();
    let mut rundefinitions = String::new();
    for question in ["unreach-call", "no-overflow"] {
        rundefinitions += &format!(
            "<rundefinition name=\"{question}\"><propertyfile>{question}.prp</propertyfile></rundefinition>\n"
        );
    }
    place.file(
        "tasks.xml",
        format!(
            "<?xml version=\"1.0\"?>\n<benchmark tool=\"tools.threadwise\">\n{rundefinitions}<tasks name=\"c\"><include>*.yml</include></tasks>\n</benchmark>\n"
        ),
    );
    let program = Path::new(env!("CARGO_BIN_EXE_threadwise"))
        .parent()
        .unwrap();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(program.to_owned()).chain(std::env::split_paths(&paths));
    let output = Command::new("benchexec")
        .args(["tasks.xml", "--no-container", "--no-compress-results"])
        .args(["--output", "out/"])
        .current_dir(place.path())
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("PYTHONPATH", place.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let value = |text: &str, title: &str| {
        let (_, rest) = text.split_once(&format!("title=\"{title}\"")).unwrap();
        let (_, rest) = rest.split_once("value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let mut found = Vec::new();
    for file in std::fs::read_dir(place.path().join("out")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let question = ["unreach-call", "no-overflow"]
            .into_iter()
            .find(|question| name.contains(&format!(".results.{question}.c.xml")));
        let Some(question) = question else { continue };
        let text = std::fs::read_to_string(path).unwrap();
        for run in text.split("<run ").skip(1) {
            let (_, rest) = run.split_once("name=\"").unwrap();
            let task = rest.split(".yml").next().unwrap();
            let task = task.rsplit('/').next().unwrap();
            let (status, category) = (value(run, "status"), value(run, "category"));
            found.push(format!("{question} {task}: {status} {category}"));
        }
    }
    found.sort();
    assert_eq!(
        found,
        expected,
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// The script of a step of the action.
fn step(name: &str) -> String {
    let text = std::fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let (_, rest) = text.split_once(&format!("    - name: {name}\n")).unwrap();
    let (_, rest) = rest.split_once("run: |\n").unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with("        "));
    lines.map(|line| format!("{}\n", &line[8..])).collect()
}

/// The script of the action, run as a runner would: with the inputs in the environment.
#[test]
fn the_action_writes_results_and_a_status() {
    if !has("bash", &["--version"]) {
        return;
    }
    let place = Place::new();
    place.file("wrong.tw", model("mux_sem_try"));
    for (fail, status) in [("true", 1), ("false", 0)] {
        let ran = Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", &step("Check")])
            .current_dir(place.path())
            .env("THREADWISE", env!("CARGO_BIN_EXE_threadwise"))
            .env("GITHUB_OUTPUT", place.path().join("output"))
            .env("FILES", "wrong.tw")
            .env("ARGUMENTS", "--timeout 60")
            .env("SARIF", "results.sarif")
            .env("FAIL", fail)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(status), "{ran:?}");
        let output = std::fs::read_to_string(place.path().join("output")).unwrap();
        assert!(output.ends_with("status=1\n"), "{output}");
        let log = std::fs::read_to_string(place.path().join("results.sarif")).unwrap();
        let log: Value = serde_json::from_str(&log).unwrap();
        assert_eq!(about(&log, "mutex")["kind"], "fail");
    }
}

/// A release is taken if it is what its checksums say, refused if it is not, and threadwise is built where there is none.
#[cfg(target_os = "linux")]
#[test]
fn the_action_downloads_a_release_or_builds() {
    if !has("curl", &["--version"]) {
        return;
    }
    let place = Place::new();
    let folder = place.path();
    let name = format!("threadwise-{}-linux", std::env::consts::ARCH);
    let program = env!("CARGO_BIN_EXE_threadwise");
    place.file(
        &format!("releases/v1/{name}/bin/threadwise"),
        format!("#!/bin/sh\nexec '{program}' \"$@\"\n"),
    );
    // What stands for a build: it says what it was asked to do.
    place.file("tools/cargo", "#!/bin/sh\necho \"cargo $*\"\n");
    let script = std::fs::read_to_string(format!("{ROOT}/scripts/fetch-release")).unwrap();
    place.file("action/scripts/fetch-release", script);
    let prepare = format!(
        "chmod +x tools/cargo releases/v1/{name}/bin/threadwise\n\
         cd releases/v1; tar czf {name}.tar.gz {name}; sha256sum {name}.tar.gz > SHA256SUMS\n\
         cd ..; cp -r v1 v2; echo more >> v2/{name}.tar.gz\n\
         cp -r v1 v3; echo > v3/SHA256SUMS\n"
    );
    let bash = |script: &str, release: &str| {
        let paths = std::env::var("PATH").unwrap();
        Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", script])
            .current_dir(folder)
            .env("PATH", format!("{}/tools:{paths}", folder.display()))
            .env_remove("CARGO_TARGET_DIR")
            .env("GITHUB_ACTION_PATH", folder.join("action"))
            .env("GITHUB_OUTPUT", folder.join("output"))
            .env("RELEASES", format!("file://{}/releases", folder.display()))
            .env("RELEASE", release)
            .output()
            .unwrap()
    };
    let prepared = bash(&prepare, "");
    assert!(prepared.status.success(), "{prepared:?}");
    let install = step("Install threadwise");
    let built = folder.join("action/target/release/threadwise");
    let downloaded = folder.join("action/target/installed/bin/threadwise");
    for (release, status, said, program) in [
        (
            "v1",
            0,
            concat!("threadwise ", env!("CARGO_PKG_VERSION")),
            Some(&downloaded),
        ),
        // One byte more, and a list that does not name the archive.
        ("v2", 1, "is not what SHA256SUMS says", None),
        ("v3", 1, "does not name", None),
        // A release that is not there, a branch, and nothing.
        ("v9", 0, "cargo build --release --locked", Some(&built)),
        ("main", 0, "cargo build --release --locked", Some(&built)),
        ("none", 0, "cargo build --release --locked", Some(&built)),
    ] {
        std::fs::write(folder.join("output"), "").unwrap();
        let ran = bash(&install, release);
        assert_eq!(ran.status.code(), Some(status), "{release}: {ran:?}");
        let text = [ran.stdout, ran.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(said), "{release}: {text}");
        let output = std::fs::read_to_string(folder.join("output")).unwrap();
        let expected = program.map(|path| format!("program={}\n", path.display()));
        assert_eq!(output, expected.unwrap_or_default(), "{release}");
    }
}

/// The hooks call commands and options that there are.
#[test]
fn hooks_call_what_there_is() {
    let path = Path::new(ROOT).join(".pre-commit-hooks.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let place = Place::new();
    place.file("right.tw", model("mux_sem_try"));
    let mut hooks = 0;
    for line in text.lines() {
        let Some(entry) = line.trim().strip_prefix("entry: threadwise ") else {
            continue;
        };
        hooks += 1;
        let mut args: Vec<&str> = entry.split(' ').collect();
        args.push("right.tw");
        let status = if entry.starts_with("check") { 1 } else { 0 };
        place.run(&args).expect(status);
    }
    assert_eq!(hooks, 3);
}
