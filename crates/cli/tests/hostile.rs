//! Input that nobody means well with: a clear error or a right answer, within seconds.

use crate::common::{BROKEN, Place, Ran};

/// Checks a text, which must not take long and never be an internal error.
#[track_caller]
fn check(text: impl AsRef<[u8]>, args: &[&str]) -> Ran {
    let place = Place::new();
    place.file("hostile.tw", text);
    let mut all = vec!["hostile.tw"];
    all.extend(args);
    #[cfg(unix)]
    let ran = {
        let (ran, took) = place.measured(&[&["check", "--json"], &all[..]].concat());
        assert!(took < 20.0, "{took} s");
        ran.json();
        ran
    };
    #[cfg(not(unix))]
    let (_, ran) = place.json(&all);
    assert_ne!(ran.status, 4, "{ran:?}");
    ran
}

#[test]
fn a_hundred_thousand_parentheses() {
    let nested = |open: &str, close: &str| {
        let (open, close) = (open.repeat(100_000), close.repeat(100_000));
        format!("shared x: int = {open}1{close};\n")
    };
    check(nested("(", ")"), &[]).expect(2).complains("E0006");
    check(nested("-", ""), &[]).expect(2);
    check(nested("(", ""), &[]).expect(2);
    let blocks = format!("process P {{ a: {}", "if true { ".repeat(100_000));
    check(blocks, &[]).expect(2);
    let chain = format!("invariant i: {}true;\n", "true -> ".repeat(100_000));
    check(chain, &[]);
    let sum = format!(
        "shared x: int = 0{};\nprocess P {{ a: x := 1; }}\n",
        " + 1".repeat(100_000)
    );
    check(sum, &[]);
    let locals = format!("process P {{ a: skip; {} }}\n", "b: skip; ".repeat(2));
    check(locals, &[]).expect(2).complains("E0104");
}

#[test]
fn ten_megabytes() {
    let many: String = (0..350_000)
        .map(|i| format!("shared variable_{i:06}: bool = true;\n"))
        .collect();
    assert!(many.len() > 10_000_000);
    let ran = check(&many, &[]);
    assert!(ran.stderr.contains("more messages"), "not all are drawn");
    let same = "shared x: bool = true;\n".repeat(450_000);
    check(same, &[]).expect(2).complains("E0102");
    check("/".repeat(10_000_000), &[]).expect(2);
    check("\u{4e16}".repeat(3_500_000), &[]).expect(2);
    check("x ".repeat(5_000_000), &[]).expect(2);
}

#[test]
fn bytes_that_are_no_text() {
    check(b"shared x: bool\n = \xff true;\n", &[])
        .expect(2)
        .complains("hostile.tw:2: byte 18 (0xff) is not valid UTF-8")
        .complains("iconv");
    check(
        b"\xef\xbb\xbfshared x: bool = true;\nprocess P { a: x := true; }\n",
        &[],
    );
    check(b"\0\0\0\0", &[]).expect(2);
    check(b"", &[]).expect(2).complains("nothing to check");
}

#[test]
fn no_file_commands_the_terminal() {
    let place = Place::new();
    // In a comment they are no error, and the line is shown in traces and messages.
    let model = BROKEN.replace(";\n", "; // \u{1b}[2J\u{202e}\r\u{7}x\n");
    place.file("broken.tw", &model);
    let args = ["check", "broken.tw", "--set", "N=2", "--trace", "out"];
    place.run(&args).expect(1).says("\\u{1b}[2J").plain();
    let trace = "out/broken.mutex.N=2.json";
    place
        .run(&["replay", "broken.tw", trace])
        .expect(0)
        .says("\\u{1b}[2J")
        .plain();
    place
        .run(&["simulate", "broken.tw", "--steps", "5"])
        .plain();
    let text = std::fs::read_to_string(place.path().join(trace)).unwrap();
    for (from, to) in [
        ("\"mutex\"", "\"mu\\u001b[2Jtex\""),
        ("\"P[1]\"", "\"P\\u001b[2J\""),
        ("\"N\"", "\"N\\u001b[2J\""),
        ("\"property\"", "\"prop\\u001b[2J\""),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        place.file("wrong.json", changed);
        let ran = place.run(&["replay", "broken.tw", "wrong.json"]).plain();
        assert_ne!(ran.status, 0, "{ran:?}");
    }
    place.file(
        "bad.tw",
        format!("{model}invariant \u{1b}[2J: 1;\nshared y: boll; // \u{1b}c\n"),
    );
    place.run(&["check", "bad.tw"]).expect(2).plain();
    place.file("odd\u{1b}[2J.tw", BROKEN);
    place.run(&["check", "odd\u{1b}[2J.tw"]).expect(1).plain();
    place.run(&["test", "."]).plain();
}

#[test]
fn tabs_and_wide_characters_in_excerpts() {
    let place = Place::new();
    place.file("wide.tw", "shared\tx:\tbool = true; // \u{65e5}\u{672c}\u{8a9e}\n/* \u{65e5}\u{672c} */\tshared y: boll = true;\n");
    let ran = place.run(&["check", "wide.tw"]).expect(2);
    insta::assert_snapshot!("wide", ran.stderr);
    let (report, _) = place.json(&["wide.tw"]);
    let place = &report["runs"][0]["diagnostics"][0]["place"];
    assert_eq!((&place["line"], &place["column"]), (&2.into(), &20.into()));
}

#[test]
fn ranges_up_to_the_last_integer() {
    let model = |range: &str, initial: &str| {
        format!("shared x: {range} = {initial};\nprocess P {{ a: x := {initial}; }}\n")
    };
    let (least, most) = (i64::MIN + 1, i64::MAX);
    check(model(&format!("0..{most}"), "0"), &[]).expect(0);
    check(model(&format!("{least}..{most}"), &most.to_string()), &[]).expect(0);
    check(model("0..9223372036854775808", "0"), &[])
        .expect(2)
        .complains("E0003");
    check(model(&format!("{most}..{least}"), "0"), &[]).expect(2);
    let any = format!("shared x: {least}..{most} = any;\nprocess P {{ a: skip; }}\n");
    check(any, &["--timeout", "1"]).expect(3);
    let havoc = format!("shared x: {least}..{most} = 0;\nprocess P {{ a: havoc x; }}\n");
    check(havoc, &["--timeout", "1"]).expect(3);
    let array = format!("shared x: array[0..{most}] of bool = true;\nprocess P {{ a: skip; }}\n");
    check(array, &[]).expect(2).complains("E0506");
    let quantified =
        format!("invariant i: forall k in 0..{most}: k >= 0;\nprocess P {{ a: skip; }}\n");
    check(quantified, &["--timeout", "1"]);
    let over = format!("shared x: int = {most};\nprocess P {{ loop {{ a: x := x + 1; }} }}\n");
    // There is nothing to fail, but whoever computes with it has no answer.
    check(over.clone(), &[]).expect(0);
    check(over, &["--engine", "explicit"]).expect(3);
}

#[test]
fn very_many_processes_and_none() {
    let model = |count: &str| {
        format!(
            "param N = {count};\nshared x: bool = true;\nprocess P[i: 1..N] {{ a: x := false; }}\ninvariant i: forall p in P: P[p] at {{a, done}};\ndeadlock_free;\n"
        )
    };
    let explicit = ["--engine", "explicit"];
    for count in ["1000000", "9223372036854775807"] {
        check(model(count), &explicit).expect(2).complains("E0506");
        // A proof for all instances needs none of them.
        check(model(count), &[]).expect(0);
    }
    for set in ["N=0", "N=-5", "N=1000"] {
        check(model("2"), &["--set", set]).expect(0);
    }
    // A diagram of five thousand million nodes.
    let diagrams = ["--set", "N=50000", "--engine", "forward"];
    let limits = ["--timeout", "2", "--memory", "1024"];
    check(model("2"), &[diagrams.as_slice(), &limits].concat()).expect(3);
    let empty = "shared p: P = any;\nparam N = 0;\nprocess P[i: 1..N] { a: skip; }\n";
    check(empty, &["--set", "N=0"]).expect(2).complains("E0504");
    // There are others.
    check(empty, &[]).expect(3);
}

#[test]
fn programs_that_grow_without_end() {
    let starts = "process Child[] { a: skip; }\nprocess P { loop { a: start Child; } }\n";
    check(
        starts,
        &["--timeout", "3", "--memory", "1024", "--engine", "explicit"],
    )
    .expect(3);
    check(starts, &["--timeout", "60", "--memory", "1024"]).expect(0);
    let paths = format!(
        "shared x: bool = true;\nprocess P {{ a: {} }}\n",
        "choose { x := true; } or { x := false; } ".repeat(40)
    );
    check(paths, &[]).expect(2).complains("E0508");
    let mut macros = String::from("macro m0() { skip; }\n");
    for level in 1..40 {
        macros.push_str(&format!(
            "macro m{level}() {{ m{0}(); m{0}(); }}\n",
            level - 1
        ));
    }
    macros.push_str("process P { a: m39(); }\n");
    check(macros, &[]).expect(2).complains("E0116");
    let mut defs = String::from("def d0(x: int) = x + x;\n");
    for level in 1..60 {
        defs.push_str(&format!(
            "def d{level}(x: int) = d{0}(x) + d{0}(x);\n",
            level - 1
        ));
    }
    defs.push_str("shared y: int = 0;\nprocess P { a: y := d59(0); }\n");
    check(defs, &["--timeout", "2"]);
}

#[test]
fn definitions_that_double() {
    let mut text = String::from("shared x: bool = false;\ndef d0 = x;\n");
    for k in 1..28 {
        text.push_str(&format!("def d{k} = d{0} || d{0};\n", k - 1));
    }
    text.push_str("process P { a: x := true; }\n");
    for property in [
        "invariant i: d27 || !x;",
        "invariant i: d27;",
        "liveness i: F d27;",
    ] {
        let ran = check(format!("{text}{property}\n"), &["--timeout", "5"]);
        ran.expect(2).complains("E0116").complains(property);
    }
    let place = Place::new();
    place.file("doubling.tw", text);
    let (ran, took) = place.measured(&["fmt", "--check", "doubling.tw"]);
    assert!(ran.status < 2 && took < 20.0, "{took} s, {ran:?}");
}

#[test]
fn initial_values_that_take_long() {
    let sum = |count: &str| format!("sum k in 1..{count}: k");
    let model = |initial: &str| {
        format!("shared x: int = {initial};\nprocess P {{ a: x := 1; }}\ninvariant i: x > 0;\n")
    };
    // Decision diagrams take no variables of so many values.
    for (engine, status) in [("explicit", 0), ("forward", 3), ("auto", 0)] {
        let args = ["--engine", engine];
        check(model(&sum("3000")), &args).expect(status);
        check(model(&sum("30000000")), &args)
            .expect(2)
            .complains("E0507");
    }
    // Each of them is short, all together are not.
    let many: String = (0..2_000)
        .map(|k| format!("shared x{k}: int = {};\n", sum("1000000")))
        .collect();
    check(format!("{many}process P {{ a: x1 := 1; }}\n"), &[])
        .expect(2)
        .complains("E0507");
    let each = format!(
        "ordered process P[i: 1..100000] {{ local y: int = i + ({}); a: y := y + 1; }}\n",
        sum("1000")
    );
    check(each, &[]).expect(2).complains("E0507");
    let each = "ordered process P[i: 1..3] { local y: 0..20000000 = i + (sum k in 1..3000: k); a: y := y + 1; }\n";
    for (engine, status) in [("explicit", 0), ("forward", 3), ("auto", 0)] {
        check(each, &["--engine", engine]).expect(status);
    }
}

#[test]
fn things_that_are_no_files() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("directory")).unwrap();
    place
        .run(&["check", "directory"])
        .expect(2)
        .complains("there is no model below the directories given");
    place
        .run(&["check", "missing.tw"])
        .expect(2)
        .complains("missing.tw: there is no such file");
    place.file("lock.tw", crate::common::LOCK);
    place
        .run(&["check", "lock"])
        .expect(2)
        .complains("did you mean `lock.tw`?");
    place.run(&["check", ""]).expect(2);
    #[cfg(target_os = "linux")]
    {
        place
            .run(&["check", "/dev/zero"])
            .expect(2)
            .complains("larger than");
        place
            .run(&["check", "/dev/null"])
            .expect(2)
            .complains("nothing to check");
        place
            .run(&["check", "/proc/self/mem"])
            .expect(2)
            .complains("cannot be read");
    }
}

/// Pipes and sockets may have nobody at their other end.
#[cfg(unix)]
#[test]
fn nobody_is_waited_for() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo")
        .args(["pipe.tw", "pipe.c", "pipe.h", "pipe.json"])
        .current_dir(place.path())
        .status();
    assert!(made.unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(place.path().join("socket.tw"));
    place.file("lock.tw", crate::common::LOCK);
    let commands = [
        "check pipe.tw",
        "check socket.tw",
        "check pipe.c",
        "test pipe.tw",
        "simulate pipe.tw",
        "explore pipe.tw",
        "import pipe.c",
        "export pipe.tw --to dot",
        "fmt pipe.tw",
        "certify lock.tw pipe.json",
        "replay lock.tw pipe.json",
        "bench pipe.json",
    ];
    for command in commands {
        let args: Vec<&str> = command.split(' ').collect();
        place
            .run(&args)
            .expect(2)
            .complains("it is a pipe or a socket");
    }
    for include in ["pipe.h", "/dev/stdin", "/dev/zero"] {
        place.file(
            "main.c",
            format!("#include \"{include}\"\nint main() {{ return 0; }}\n"),
        );
        place
            .run(&["check", "main.c"])
            .expect(2)
            .complains("this is no file");
    }
    // Below a directory they are none of the models.
    place.file("models/lock.tw", crate::common::LOCK);
    let moved = std::fs::rename(
        place.path().join("pipe.tw"),
        place.path().join("models/pipe.tw"),
    );
    moved.unwrap();
    place.run(&["fmt", "--check", "models"]).expect(0);
    // What a shell has opened has somebody at its other end.
    let script = "\"$0\" check <(cat lock.tw) --only safety";
    let shell = std::process::Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_threadwise")])
        .current_dir(place.path())
        .output();
    Ran::of(shell.unwrap()).expect(0);
}

#[test]
fn traces_that_nobody_wrote() {
    let place = Place::new();
    place.file("lock.tw", crate::common::LOCK);
    for trace in [
        "[]".to_owned(),
        "null".to_owned(),
        "{\"version\": 1e400}".to_owned(),
        "{\"version\": 99}".to_owned(),
        "[".repeat(100_000),
        "\u{feff}{}".to_owned(),
    ] {
        place.file("trace.json", &trace);
        place.run(&["replay", "lock.tw", "trace.json"]).expect(2);
    }
}
