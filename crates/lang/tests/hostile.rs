//! Input that means harm: a message or an answer, soon, and never a crash.

use std::time::{Duration, Instant};
use threadwise_lang::diagnostics::Code;

/// Checks and formats a text, which must not take long; returns the codes of the messages.
fn codes(text: &str) -> Vec<Code> {
    let begin = Instant::now();
    let checked = threadwise_lang::check(text);
    let _ = threadwise_lang::format(text);
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "took {:?}",
        begin.elapsed()
    );
    checked.diagnostics.iter().map(|d| d.code).collect()
}

fn process(body: &str) -> String {
    format!("shared x: 0..9 = 0;\nprocess P {{\n{body}\n}}\ninvariant i: x < 9;\n")
}

#[test]
fn nesting_is_bounded() {
    let n = 100_000;
    let deep = |open: &str, close: &str| {
        process(&format!(
            "l: await {}true{};",
            open.repeat(n),
            close.repeat(n)
        ))
    };
    for text in [
        deep("(", ")"),
        deep("!", ""),
        deep("forall k in 1..2: ", ""),
        deep("true -> ", ""),
        deep("d(", ")"),
        process(&format!(
            "l: {}skip;{}",
            "atomic {".repeat(n),
            "}".repeat(n)
        )),
        process(&format!("l: {}", "if true {".repeat(n))),
        process(&format!("l: await {} > 0;", "1 + ".repeat(n) + "1")),
        process(&format!("l: await {} > 0;", "-".repeat(n) + "1")),
        process(&format!("l: await x{} > 0;", "[0]".repeat(n))),
        format!("shared y: {} bool = any;", "array[0..1] of ".repeat(n)),
        format!("liveness l: {}true;", "G ".repeat(n)),
        format!("liveness l: {}true;", "true U ".repeat(n)),
    ] {
        let found = codes(&text);
        assert!(
            found.contains(&Code::NestingTooDeep),
            "{}: {found:?}",
            &text[..60]
        );
    }
}

#[test]
fn long_chains_are_fine_where_nothing_nests() {
    let n = 20_000;
    let text = process(&format!("l: await {}x > 0;", "x > 0 && ".repeat(n)));
    assert!(!codes(&text).contains(&Code::NestingTooDeep));
    let branches = " else if x == 1 { skip; }".repeat(n);
    let text = process(&format!("l: if x == 0 {{ skip; }}{branches}"));
    assert!(!codes(&text).contains(&Code::NestingTooDeep));
}

#[test]
fn chains_of_definitions_are_bounded() {
    let mut text = String::from("shared x: 0..9 = 0;\ndef d0 = x;\n");
    for k in 1..5_000 {
        text.push_str(&format!("def d{k} = d{} + 1;\n", k - 1));
    }
    text.push_str("process P { l: await d4999 > 0; }\n");
    assert!(codes(&text).contains(&Code::NestingTooDeep));
    // In the other order each definition needs the next, which is not checked yet.
    let mut text = String::from("shared x: 0..9 = 0;\n");
    for k in 0..5_000 {
        text.push_str(&format!("def d{k} = d{} + 1;\n", k + 1));
    }
    text.push_str("def d5000 = x;\nprocess P { l: await d0 > 0; }\n");
    assert!(codes(&text).contains(&Code::NestingTooDeep));
    // The same for types.
    let mut text = String::new();
    for k in 0..5_000 {
        text.push_str(&format!("type T{k} = T{};\n", k + 1));
    }
    text.push_str("type T5000 = bool;\nshared y: T0 = true;\nprocess P { l: await y; }\n");
    assert!(codes(&text).contains(&Code::NestingTooDeep));
}

#[test]
fn large_files_are_read() {
    // 10 MB of statements on lines of their own, and of comments.
    let mut body = String::new();
    let mut k = 0;
    while body.len() < 10_000_000 {
        body.push_str(&format!("    l{k}: x := {}; // comment {k}\n", k % 10));
        k += 1;
    }
    let found = codes(&process(&body));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_line_of_ten_megabytes_is_read() {
    let found = codes(&process(&format!(
        "l: skip; {}",
        "x := y; ".repeat(1_250_000)
    )));
    // The same name in the same process is one mistake.
    assert_eq!(found, [Code::UnknownName]);
    let checked = threadwise_lang::check("shared x: bool = y;".repeat(500_000).as_str());
    assert!(checked.program.is_none());
    let found: Vec<Code> = checked.diagnostics.iter().map(|d| d.code).collect();
    assert!(found.contains(&Code::UnknownName) && found.contains(&Code::TooManyErrors));
}

#[test]
fn many_labels_gotos_and_names_are_linear_enough() {
    let n = 20_000;
    let labels: String = (0..n)
        .map(|k| format!("l{k}: goto l{};\n", n - 1 - k))
        .collect();
    codes(&process(&labels));
    let shared: String = (0..n)
        .map(|k| format!("shared v{k}: bool = w{k};\n"))
        .collect();
    assert!(codes(&shared).contains(&Code::UnknownName));
    let at: String = (0..2_000)
        .map(|k| format!("invariant i{k}: !(P at l{k}) || x < 9;\n"))
        .collect();
    let labels: String = (0..2_000).map(|k| format!("l{k}: skip;\n")).collect();
    let found = codes(&format!("{}{at}", process(&labels)));
    assert!(found.is_empty(), "{:?}", &found[..found.len().min(5)]);
}

#[test]
fn odd_texts_are_survived() {
    for text in [
        "",
        "\u{feff}",
        "\0",
        "/*",
        "//",
        "//@",
        "process",
        "process P",
        "process P[",
        "process P {",
        "process P { l",
        "process P { l:",
        "exception {",
        "exception {\n)",
        "enum E {",
        "macro m(",
        "fairness f: or or",
        "liveness l under",
        "shared x: bool = any",
        "}}}}",
        "l: l: l: l:",
        "process P { a: b: skip; }",
        "\r\n\r\n",
    ] {
        codes(text);
    }
}

#[test]
fn initial_values_may_not_speak_of_labels_through_definitions() {
    for text in [
        "shared x: bool = d; def d = enabled(P[1], a); process P[i: 1..2] { a: skip; }",
        "shared x: bool = d; macro m() { b: skip; } def d = P at {a, b, done}; process P { a: skip; m(); }",
    ] {
        assert_eq!(codes(text), [Code::NotConstant], "{text}");
    }
}

/// The codes of the errors alone.
fn errors(text: &str) -> Vec<Code> {
    let mut found = codes(text);
    found.retain(|code| code.as_str().starts_with('E'));
    found
}

/// Definitions of which each uses the one before twice: `step` says how.
fn doubling(n: usize, base: &str, step: impl Fn(&str) -> String) -> String {
    let mut text = format!("shared x: 0..9 = 0;\ndef d0 = {base};\n");
    for k in 1..n {
        text.push_str(&format!("def d{k} = {};\n", step(&format!("d{}", k - 1))));
    }
    text
}

#[test]
fn definitions_that_double_are_looked_into_once() {
    let n = 90;
    let last = n - 1;
    let steps: [fn(&str) -> String; 5] = [
        |d| format!("{d} || {d}"),
        |d| format!("{d} && {d}"),
        |d| format!("{d} -> {d}"),
        |d| format!("{d} <-> {d}"),
        |d| format!("forall k in 1..9: {d}"),
    ];
    for step in steps {
        let text = doubling(n, "x == 0", step);
        let text = format!(
            "{text}process P {{ l: await d{last}; }}\ninvariant i: d{last} || x > 0;\nfairness f: weak d{last};\nliveness j under f: F d{last};\nexception {{ d{last}; }}\n"
        );
        assert_eq!(errors(&text), [], "{text}");
    }
    let text = doubling(n, "x", |d| format!("max({d}, {d} / 2)"));
    let text = format!("{text}process P {{ l: x := d{last}; }}\ninvariant i: d{last} < 9;\n");
    assert_eq!(errors(&text), [], "{text}");
    // What is true by the types alone is still found through definitions.
    let text = doubling(n, "x <= 9", |d| format!("{d} && {d}"));
    let text = format!("{text}process P {{ l: x := 1; }}\ninvariant i: d{last};\n");
    assert!(codes(&text).contains(&Code::TrivialInvariant));
}

#[test]
fn macros_that_double_are_refused() {
    for step in ["{ m#(e); m#(e); }", "{ m#(e || e); }"] {
        let mut text = String::from("shared x: bool = false;\nmacro m0(e) { x := e; }\n");
        for k in 1..60 {
            let body = step.replace('#', &(k - 1).to_string());
            text.push_str(&format!("macro m{k}(e) {body}\n"));
        }
        text.push_str("process P { l: m59(x); }\n");
        assert_eq!(codes(&text), [Code::ExpansionTooLarge]);
    }
}

/// A chain of macros, the last of which does `end`.
fn chain(n: usize, end: &str) -> String {
    let mut text = format!("shared x: bool = false;\nmacro m0(e) {{ {end} }}\n");
    for k in 1..n {
        text.push_str(&format!("macro m{k}(e) {{ m{}(e); }}\n", k - 1));
    }
    format!("{text}process P {{ l: m{}(x); }}\ninvariant i: x;\n", n - 1)
}

#[test]
fn only_macros_that_lead_back_to_themselves_are_recursive() {
    for n in [51, 52, 200, 290] {
        assert_eq!(errors(&chain(n, "x := e;")), [], "{n} macros");
    }
    for n in [1, 2, 51, 200] {
        let back = format!("m{}(e);", n - 1);
        assert_eq!(errors(&chain(n, &back)), [Code::RecursiveMacro], "{n}");
    }
    for n in [310, 20_000] {
        let found = threadwise_lang::check(&chain(n, "x := e;")).diagnostics;
        let codes: Vec<Code> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::NestingTooDeep], "{n} macros");
        assert!(found[0].help.is_some());
    }
}

#[test]
fn labels_in_deep_macros_are_found() {
    let text = chain(120, "inside: x := e;");
    let text = text.replace("invariant i: x", "invariant i: !(P at inside)");
    assert_eq!(errors(&text), []);
}

#[test]
fn bounds_of_types_are_short() {
    let sum = vec!["N"; 150].join(" + ");
    let long = format!("({sum}) + ({sum})");
    let many: Vec<String> = (0..20_000).map(|k| format!("x{k}")).collect();
    let shared = format!("shared {}: T = 0;\n", many.join(", "));
    let reads = vec!["x0 < 9"; 20_000].join(" && ");
    let rest = format!("process P {{ l: await {reads}; x1 := 1; }}\n");
    let text = |bound: &str| format!("param N = 1;\ntype T = 0..{bound};\n{shared}{rest}");
    assert_eq!(codes(&text(&long)), [Code::ExpansionTooLarge]);
    assert_eq!(errors(&text("N + N")), []);
    for text in [
        format!("param N = 1;\nprocess P {{ l: for k in 1..{long} {{ skip; }} }}\n"),
        format!(
            "param N = 1;\ninvariant i: forall k in 1..{long}: k > 0;\nprocess P {{ l: skip; }}\n"
        ),
    ] {
        assert!(codes(&text).contains(&Code::ExpansionTooLarge));
    }
}

#[test]
fn loops_of_one_name_are_numbered_quickly() {
    let loops: String = (0..20_000)
        .map(|k| format!("l{k}: for k in 1..2 {{ m{k}: x := k; }}\n"))
        .collect();
    let checked = threadwise_lang::check(&process(&loops));
    let program = checked.program.expect("no errors");
    let locals = &program.templates[0].locals;
    assert_eq!(locals[0].name, "k");
    assert_eq!(locals[19_999].name, "k_20000");
}
