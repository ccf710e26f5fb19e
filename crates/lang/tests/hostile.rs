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
    assert!(found.contains(&Code::UnknownName) && found.contains(&Code::TooManyErrors));
    let checked = threadwise_lang::check("shared x: bool = y;".repeat(500_000).as_str());
    assert!(checked.program.is_none());
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
