//! The table of constructs, row by row: what is said to be translated is, what is said to be refused is, and gcc agrees.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use threadwise::VerdictKind;
use threadwise_import::from_c::{FUNCTIONS, Integers, Treatment};

use super::{bring, checks};
use table::{PREAMBLE, SYNTAX};

// What types of headers there are is for the tests of the front end.
#[allow(dead_code)]
#[path = "../tables/c.rs"]
mod table;

const PATIENCE: Duration = Duration::from_secs(900);
/// The line that an example must be refused at.
const MARK: &str = "/*!*/";

/// A row of the table.
#[derive(Clone, Debug)]
struct Construct {
    /// What kind of construct it is.
    area: &'static str,
    /// How it is written, with code as the book has it; the names of functions that are alike.
    names: Vec<&'static str>,
    /// What is done about it.
    treatment: Treatment,
    /// What it means here, or why it is refused.
    meaning: &'static str,
    /// A program with it, which begins behind `PREAMBLE`.
    example: &'static str,
}

/// The area of functions that need no body.
const LIBRARY: &str = "Functions";

/// All rows.
fn constructs() -> Vec<Construct> {
    let syntax = SYNTAX.iter().map(|row| Construct {
        area: row.area,
        names: vec![row.name],
        treatment: row.treatment,
        meaning: row.meaning,
        example: row.example,
    });
    let functions = FUNCTIONS.iter().map(|function| Construct {
        area: LIBRARY,
        names: function.names.to_vec(),
        treatment: function.treatment,
        meaning: function.meaning,
        example: function.example,
    });
    syntax.chain(functions).collect()
}

/// The table as a page of the book.
fn page() -> String {
    let mut page = String::from(
        "# Constructs of C\n\nEverything that C has, and what is done about it; [Programs in C](c.md) says how it is read. Nothing else is: what this page does not list is refused. A test checks every row: what is translated or approximated has a program that is proved, \
and that gcc runs without a failure; what is refused has one that is refused, at its place. The test also writes this page.\n\n\
- **translated**: it means what it means in C.\n- **approximated**: it does not mean all that it means in C; the row says why verdicts are right all the same.\n- **refused**: a program with it is refused, with the place.\n",
    );
    let mut area = "";
    for row in constructs() {
        if row.area != area {
            area = row.area;
            let _ = write!(
                page,
                "\n## {area}\n\n| construct | | what is done |\n|---|---|---|\n"
            );
        }
        let names = match row.area {
            LIBRARY => format!("`{}`", row.names.join("`, `")),
            _ => row.names.join(", ").replace('|', "\\|"),
        };
        let treatment = match row.treatment {
            Treatment::Translated => "translated",
            Treatment::Refused => "refused",
            Treatment::Approximated => "approximated",
        };
        let meaning = row.meaning.replace('|', "\\|");
        let _ = writeln!(page, "| {names} | {treatment} | {meaning} |");
    }
    page
}

fn program(row: &Construct) -> String {
    format!("{PREAMBLE}{}\n", row.example)
}

/// What is wrong with a row.
fn mistake(row: &Construct) -> Option<String> {
    let text = program(row);
    let imported = bring("example.c", &text, Integers::Mathematical);
    if row.treatment == Treatment::Refused {
        let line = text.lines().position(|line| line.contains(MARK))? + 1;
        return match imported {
            Ok(_) => Some("it is accepted".to_owned()),
            Err(message) => {
                let place = format!("example.c:{line}: ");
                (!message.starts_with(&place)).then(|| format!("not at line {line}: {message}"))
            }
        };
    }
    let model = match imported {
        Ok(imported) => imported.text(),
        Err(message) => return Some(format!("refused: {message}")),
    };
    match checks(&model, PATIENCE) {
        Ok(found) if found.verdict == VerdictKind::Proved => None,
        Ok(found) => Some(format!("{:?}:\n{model}", found.verdict)),
        Err(message) => Some(message),
    }
}

#[test]
fn every_row_is_true() {
    let mut mistakes = Vec::new();
    for row in constructs() {
        let marked = row.example.contains(MARK);
        assert_eq!(
            marked,
            row.treatment == Treatment::Refused,
            "{:?}",
            row.names
        );
        if row.area == LIBRARY {
            for name in &row.names {
                assert!(
                    row.example.contains(&format!("{name}(")),
                    "no call of {name}"
                );
            }
        }
        if let Some(mistake) = mistake(&row) {
            mistakes.push(format!("{:?}: {mistake}", row.names));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// Whether gcc knows all that an example uses: it knows nothing of the verification competition's functions.
fn is_for_gcc(row: &Construct) -> bool {
    let foreign = ["__VERIFIER", "nondet", "reach_error", "assume", "__assert"];
    row.treatment != Treatment::Refused && !foreign.iter().any(|name| row.example.contains(name))
}

#[test]
fn gcc_runs_every_example_without_a_failure() {
    if Command::new("gcc").arg("--version").output().is_err() {
        println!("gcc is not here: examples were not run");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (folder.join("row.c"), folder.join("row"));
    let mut mistakes = Vec::new();
    let mut ran = 0;
    for row in constructs().iter().filter(|row| is_for_gcc(row)) {
        std::fs::write(&source, program(row)).unwrap();
        let mut gcc = Command::new("gcc");
        let compiled = gcc.args(["-w", "-O0", "-pthread", "-o"]).arg(&binary);
        let compiled = compiled.arg(&source).output().unwrap();
        if !compiled.status.success() {
            let messages = String::from_utf8_lossy(&compiled.stderr).into_owned();
            mistakes.push(format!("{:?}: {messages}", row.names));
            continue;
        }
        for _ in 0..5 {
            ran += 1;
            let output = Command::new(&binary).output().unwrap();
            if output.status.code().is_none() {
                let messages = String::from_utf8_lossy(&output.stderr).into_owned();
                mistakes.push(format!("{:?}: {messages}", row.names));
                break;
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    assert!(ran > 300, "{ran} runs");
}

/// The page of the book is the table. `THREADWISE_WRITE_BOOK=1` writes it anew.
#[test]
fn the_page_of_the_book_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/c-constructs.md");
    if std::env::var_os("THREADWISE_WRITE_BOOK").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page(),
        "docs/book/src/c-constructs.md is not the table; write it with\nTHREADWISE_WRITE_BOOK=1 cargo test -p threadwise-import --test all the_page_of_the_book"
    );
}
