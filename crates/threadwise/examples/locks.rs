//! A front end of one's own, as the book shows it: threads that take and release locks, written one a line.
//!
//! It writes a model in the threadwise language, has it checked, and tells the result in the words of its own input. Whatever it does not understand is an
//! error with its line: a front end that drops what it does not know proves another program.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use threadwise::{Options, Session, VerdictKind};

// ANCHOR: input
/// Two threads that take two locks in different orders.
const INPUT: &str = "\
north: take left, take right, release right, release left
south: take right, take left, release left, release right
";
// ANCHOR_END: input

// ANCHOR: translate
/// The model of an input, or what is wrong with which line.
fn translate(input: &str) -> Result<String, String> {
    let mut locks = BTreeSet::new();
    let mut threads = String::new();
    for (number, line) in input.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let (thread, actions) = line.split_once(": ").ok_or_else(|| wrong("no thread"))?;
        check_name(thread).map_err(|name| wrong(&name))?;
        let mut body = String::new();
        for (place, action) in actions.split(", ").enumerate() {
            let (statement, lock) = match action.split_once(' ') {
                Some(("take", lock)) => ("lock", lock),
                Some(("release", lock)) => ("unlock", lock),
                _ => return Err(wrong(&format!("what is `{action}`?"))),
            };
            check_name(lock).map_err(|name| wrong(&name))?;
            locks.insert(lock);
            // A label for each action: each is a step of its own, and can be found again.
            let _ = writeln!(body, "    action{place}: {statement} lock_{lock};");
        }
        let _ = writeln!(threads, "process thread_{thread} {{\n{body}}}\n");
    }
    let mut model = String::new();
    for lock in locks {
        let _ = writeln!(model, "shared lock_{lock}: mutex;");
    }
    Ok(format!("{model}\n{threads}deadlock_free;\n"))
}

/// Names end up in the model, so they have to be names there.
fn check_name(name: &str) -> Result<(), String> {
    match !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase()) {
        true => Ok(()),
        false => Err(format!("`{name}` is no name")),
    }
}
// ANCHOR_END: translate

// ANCHOR: check
/// What is to be said about an input.
fn check(input: &str) -> Result<String, String> {
    let session = Session::new("input", translate(input)?);
    let report = session
        .check(&Options::default())
        .map_err(|error| error.to_string())?;
    let mut text = String::new();
    for result in report.runs.iter().flat_map(|run| &run.results) {
        let verdict = match result.verdict {
            VerdictKind::Proved => "proved",
            VerdictKind::Violated => "violated",
            VerdictKind::Unknown => "unknown",
        };
        let _ = writeln!(text, "{}: {verdict}", result.property);
        for step in result.trace.iter().flat_map(|trace| &trace.steps) {
            let thread = step.process.trim_start_matches("thread_");
            let action = step.from.trim_start_matches("action");
            let actions = input
                .lines()
                .find_map(|line| line.strip_prefix(thread)?.strip_prefix(": "));
            let action = actions
                .zip(action.parse().ok())
                .and_then(|(actions, number)| actions.split(", ").nth(number));
            let _ = writeln!(text, "  {thread}: {}", action.unwrap_or("?"));
        }
    }
    Ok(text)
}

fn main() -> ExitCode {
    match check(INPUT) {
        Ok(text) => print!("{text}"),
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
// ANCHOR_END: check

#[test]
fn a_deadlock_is_told_in_the_words_of_the_input() {
    let text = check(INPUT).unwrap();
    let page = include_str!("../../../docs/book/src/extending.md");
    assert!(page.contains(&format!("```text\n{text}```\n")), "{text}");
    let (checks, deadlock) = text.split_once('\n').unwrap();
    assert_eq!(checks, "checks: proved");
    let mut lines: Vec<&str> = deadlock.lines().collect();
    lines[1..].sort_unstable();
    assert_eq!(
        lines,
        [
            "deadlock_free: violated",
            "  north: take left",
            "  south: take right"
        ]
    );
}

#[test]
fn the_same_order_is_proved() {
    let same = "a: take x, take y, release y, release x\nb: take x, take y, release y, release x\n";
    assert_eq!(
        check(same).unwrap(),
        "checks: proved\ndeadlock_free: proved\n"
    );
}

#[test]
fn what_is_not_understood_is_an_error() {
    assert_eq!(
        translate("a: take x, drop x"),
        Err("line 1: what is `drop x`?".to_owned())
    );
    assert_eq!(
        translate("a: take x;"),
        Err("line 1: `x;` is no name".to_owned())
    );
    assert_eq!(translate("nothing"), Err("line 1: no thread".to_owned()));
}
