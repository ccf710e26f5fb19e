//! What newcomers from TLA+, Promela, C, Rust and Python type: each mistake has one error, and where the error carries a fix, the fixed text has none.
//!
//! `mistakes/NAME.tw` has one mistake; `mistakes/NAME.snap` is what is said about it.

use std::fs;
use std::path::Path;
use threadwise_lang::check;
use threadwise_lang::diagnostics::{Diagnostic, Severity};
use threadwise_lang::render::{LineIndex, render};

fn errors(text: &str) -> Vec<Diagnostic> {
    let found = check(text).diagnostics.into_iter();
    found
        .filter(|diagnostic| diagnostic.severity() == Severity::Error)
        .collect()
}

/// The lines that a fix changes.
fn changes(text: &str, fixed: &str) -> String {
    let old: Vec<&str> = text.lines().collect();
    let new: Vec<&str> = fixed.lines().filter(|line| !old.contains(line)).collect();
    new.join("\n")
}

#[test]
fn each_has_one_error_and_its_fix_works() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let entries = fs::read_dir(&folder).expect("the folder");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "tw"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 30, "only {}", paths.len());
    let mut fixes = 0;
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&path).expect("readable");
        let found = errors(&text);
        let shown: Vec<String> = found
            .iter()
            .map(|d| {
                render(
                    d,
                    &format!("{name}.tw"),
                    &text,
                    &LineIndex::new(&text),
                    false,
                )
            })
            .collect();
        let [error] = found.as_slice() else {
            panic!("{name}: {} errors\n{}", found.len(), shown.join("\n"));
        };
        assert!(
            error.fix.is_some() || error.help.is_some() || !error.related.is_empty(),
            "{name} does not say what to do\n{}",
            shown[0]
        );
        let mut shown = shown[0].clone();
        if let Some(fix) = &error.fix {
            let mut fixed = text.clone();
            fixed.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.text);
            let left = errors(&fixed);
            assert!(left.is_empty(), "{name} fixed:\n{fixed}\n{left:?}");
            shown += &format!("\n\nfixed:\n{}", changes(&text, &fixed));
            fixes += 1;
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "mistakes" }, {
            insta::assert_snapshot!(name.into_owned(), shown);
        });
    }
    assert!(fixes >= 30, "only {fixes} fixes");
}

#[test]
fn what_was_meant_has_no_error() {
    // The same operators and words where they are right.
    for text in [
        "shared x: 0..9 = 0;\nprocess P[i: 1..2] { a: x := 1; }\nliveness l: G (x < 3 -> F (x > 1));",
        "shared not, and: bool = false;\nprocess P { a: and := !not && not; }",
        "shared wait: 0..3 = 0;\nprocess P { a: wait := 1; b: assert !(wait == 2); }",
        "def not(e: bool) = !e;\nshared x: bool = false;\nprocess P { a: x := not(x) && not (x); }",
        "macro wait(e) { await e; }\nshared x: bool = false;\nprocess P { a: wait(x); }",
        "process P { local do, pass: bool = false; a: do := pass; b: if do { skip; } }",
    ] {
        assert_eq!(errors(text), [], "{text}");
    }
}

#[test]
fn mistakes_apart_are_all_reported() {
    let text = "shared x: bool = tru;\nprocess P { a: x = true; b: y := x & x; }\ninvariant x;\ninvariant i: zz;\n";
    let found = errors(text);
    let codes: Vec<&str> = found.iter().map(|error| error.code.as_str()).collect();
    assert_eq!(
        codes,
        ["E0101", "E0009", "E0001", "E0004", "E0101"],
        "{found:#?}"
    );
}

#[test]
fn many_mistakes_are_read_quickly() {
    // Each of these would take minutes if looking for what is meant went through the text once for every mistake.
    for text in [
        format!("liveness l: {};", "[] x && ".repeat(100_000)),
        "invariant i: forall j: x;\n".repeat(50_000),
        format!("fn f({}", "(".repeat(200_000)),
        "shared x: bool = a & b;\ninvariant y & z;\n".repeat(50_000),
        "\"".repeat(200_001),
    ] {
        assert!(!errors(&text).is_empty());
    }
}
