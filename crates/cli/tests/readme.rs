//! What the README and the pages on the command line, on any number of processes, on the compositional engines, on exception sets and on fairness show is what the program prints today, but for the
//! times and for what they leave out with `[..]`, every option of the overview exists, and the models of the page on fairness are as they say.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The blocks with this mark.
fn blocks(page: &str, mark: &str) -> Vec<String> {
    let fence = format!("```{mark}\n");
    let parts = page.split(&fence).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// Runs threadwise with a text as its standard input.
fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_threadwise"))
        .args(args)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who does not read it may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn threadwise(args: &[&str], input: &str) -> String {
    String::from_utf8(run(args, input).stdout).unwrap()
}

/// The text without the times at the ends of its lines.
fn without_times(text: &str) -> String {
    let is_time = |text: &str| {
        let (number, unit) = text.split_once(' ').unwrap_or_default();
        number.parse::<f64>().is_ok() && ["ms", "s", "min"].contains(&unit)
    };
    let lines = text
        .trim_end()
        .lines()
        .map(|line| match line.rsplit_once(", ") {
            Some((start, end)) if is_time(end) => start,
            _ => line,
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the text is as shown: `[..]` stands for anything.
fn is_as_shown(text: &str, shown: &str) -> bool {
    let Some((first, shown)) = shown.split_once("[..]") else {
        return text == shown;
    };
    let (middle, last) = shown.rsplit_once("[..]").unwrap_or(("", shown));
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for part in middle.split("[..]") {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[test]
fn outputs_are_as_shown() {
    let pages = [
        "README.md",
        "docs/book/src/any-number.md",
        "docs/book/src/choosing-an-engine.md",
        "docs/book/src/command-line.md",
        "docs/book/src/compositional.md",
        "docs/book/src/exception-sets.md",
        "docs/book/src/fairness.md",
    ];
    for page in pages {
        let page = std::fs::read_to_string(root().join(page)).unwrap();
        let shown = blocks(&page, "console");
        assert!(!shown.is_empty());
        for (block, (place, _)) in shown.iter().zip(page.match_indices("```console\n")) {
            let (command, expected) = block.split_once('\n').unwrap();
            let command = command.strip_prefix("$ threadwise ").unwrap();
            let args: Vec<&str> = command.split(' ').collect();
            // `-` is the model that stands before it on the page.
            let model = blocks(&page[..place], "tw").pop().unwrap_or_default();
            let printed = without_times(&threadwise(&args, &model));
            assert!(
                is_as_shown(&printed, &without_times(expected)),
                "{command} prints\n{printed}"
            );
        }
    }
}

#[test]
fn models_about_fairness_are_as_they_say() {
    let page = std::fs::read_to_string(root().join("docs/book/src/fairness.md")).unwrap();
    let models = blocks(&page, "tw");
    assert!(models.len() >= 5);
    for model in models {
        let liveness = model.matches("\nliveness ").count();
        assert_eq!(model.matches("\n//@ expect ").count(), liveness, "{model}");
        let output = run(&["test", "-"], &model);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{model}\n{printed}");
    }
}

#[test]
fn only_what_is_marked_may_be_left_out() {
    assert!(is_as_shown("a b c d e", "a b c d e"));
    assert!(is_as_shown("a b c d e", "a [..] c [..] e"));
    assert!(is_as_shown("a b c d e", "a b [..]"));
    assert!(!is_as_shown("a b c d e", "a b c d"));
    assert!(!is_as_shown("a b c d e", "b [..] e"));
    assert!(!is_as_shown("a b c d e", "a [..] d"));
    assert!(!is_as_shown("a b c d e", "a [..] x [..] e"));
}

#[test]
fn times_are_left_out_and_nothing_else() {
    assert_eq!(
        without_times("24 states, 5 ms\nx"),
        without_times("24 states, 1.2 s\nx")
    );
    assert_ne!(
        without_times("24 states, 5 ms\nx"),
        without_times("25 states, 5 ms\nx")
    );
}

#[test]
fn commands_and_options_of_the_overview_exist() {
    let overview = blocks(&readme(), "text").concat();
    let mut commands = 0;
    for line in overview.lines() {
        let mut words = line.split([' ', ',', ';']).filter(|word| !word.is_empty());
        assert_eq!(words.next(), Some("threadwise"), "{line}");
        let command = words.next().unwrap();
        let help = threadwise(&[command, "--help"], "");
        assert!(help.contains("Usage"), "{command}");
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{command} {option}");
        }
        commands += 1;
    }
    assert!(commands >= 8);
}
