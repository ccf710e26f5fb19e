//! The table of constructs is true, and the book has it.
//!
//! `THREADWISE_WRITE_BOOK=1 cargo test -p threadwise-import --lib constructs` writes the page instead of complaining. Look at the difference!

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::met::met;
use super::table::{Construct, MARK, ROWS, Treatment};
use crate::from_promela::parser::parse;
use crate::from_promela::{from_promela, scopes, words};
use crate::front::source::Sources;
use crate::{Remark, Settings};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn models() -> PathBuf {
    root().join("tests/promela")
}

/// A model's text, and the constructs of its syntax tree.
fn model(name: &str) -> (String, BTreeSet<Construct>) {
    let text = std::fs::read_to_string(models().join(name)).unwrap_or_else(|_| panic!("no {name}"));
    let defines = text.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("// SPIN: define: ")?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    let mut settings = Settings {
        defines: defines.collect(),
        include: &mut |name| {
            std::fs::read_to_string(models().join(name)).map_err(|error| error.to_string())
        },
    };
    let parsed = parse(&mut Sources::new(name, &text), &mut settings);
    let (program, _) = parsed.unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    (text, met(&program))
}

/// The notes on a program, or the messages why it is refused.
fn messages(text: &str) -> Result<Vec<Remark>, Vec<Remark>> {
    let mut settings = Settings {
        defines: Vec::new(),
        include: &mut |_| Err("no such file".to_owned()),
    };
    let outcome = from_promela("row.pml", text, &mut settings);
    outcome.result.map(|imported| imported.notes)
}

#[test]
fn translated_constructs_are_in_their_models() {
    let mut wrong = Vec::new();
    let mut known = BTreeMap::new();
    let tree: BTreeSet<Construct> = std::fs::read_dir(models())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".pml"))
        .flat_map(|name| {
            let (text, all) = model(&name);
            known.insert(name, (text, all.clone()));
            all
        })
        .collect();
    for row in ROWS {
        let Treatment::Translated { model, text } = row.treatment else {
            continue;
        };
        let found = match known.get(model) {
            None => false,
            Some((_, constructs)) if text.is_empty() => constructs.contains(&row.construct),
            Some((whole, _)) => whole.contains(text),
        };
        if !found {
            let having = known
                .iter()
                .filter(|(_, (_, c))| c.contains(&row.construct));
            let having: Vec<_> = having.map(|(name, _)| name).take(4).collect();
            wrong.push(format!(
                "{:?}: not in {model}, but in {having:?}",
                row.construct
            ));
        }
    }
    // What the tree of a model has is translated, or what is lost is said.
    for construct in &tree {
        let row = ROWS.iter().find(|row| row.construct == *construct);
        let refused = row.is_none_or(|row| {
            matches!(row.treatment, Treatment::Refused(_) | Treatment::Foreign(_))
        });
        if refused {
            wrong.push(format!("{construct:?} is in a model, but refused"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The message about a program, if its place is the one that is marked, and it says what to do.
fn refusal(program: &str) -> Result<String, String> {
    let place = program.find(MARK).ok_or("no mark")? + MARK.len();
    let Err(remarks) = messages(program) else {
        return Err("accepted".to_owned());
    };
    let [remark] = &remarks[..] else {
        return Err(format!("several messages: {remarks:?}"));
    };
    let diagnostic = &remark.diagnostic;
    let start = diagnostic.span.start as usize;
    if start != place {
        let found = program.get(start..).unwrap_or_default();
        return Err(format!("{}, at `{found}`", diagnostic.message));
    }
    match &diagnostic.help {
        Some(help) => Ok(format!("{}: {help}", diagnostic.message)),
        None => Err(format!("no advice: {}", diagnostic.message)),
    }
}

#[test]
fn refused_constructs_are_refused_at_their_places() {
    let wrong: Vec<String> = ROWS
        .iter()
        .filter_map(|row| match row.treatment {
            Treatment::Refused(program) | Treatment::Foreign(program) => {
                let error = refusal(program).err()?;
                Some(format!("{:?}: {error}", row.construct))
            }
            Treatment::Approximated { program, .. } => {
                let errors = messages(program).err()?;
                Some(format!("{:?}: {errors:?}", row.construct))
            }
            Treatment::Translated { .. } => None,
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where SPIN may come to another verdict, a note says so.
#[test]
fn what_differs_is_noted() {
    let programs = ROWS.iter().filter_map(|row| match row.treatment {
        Treatment::Approximated { program, .. } => Some((row.construct, program)),
        Treatment::Translated { .. } | Treatment::Refused(_) | Treatment::Foreign(_) => None,
    });
    for (construct, program) in programs {
        let noted = match construct {
            Construct::NrPrWithClaim => "`_nr_pr`",
            Construct::AcceptWithFormula => "`accept` labels",
            Construct::Exclusive => "`xs`",
            Construct::Print => "printed",
            _ => "",
        };
        let notes = messages(program).unwrap();
        let found: Vec<&str> = notes
            .iter()
            .map(|n| n.diagnostic.message.as_str())
            .collect();
        match noted {
            "" => assert!(found.is_empty(), "{construct:?}: {found:?}"),
            noted => assert!(found[0].contains(noted), "{construct:?}: {found:?}"),
        }
    }
}

/// What trees have and models do not, since it is refused later or approximated, is in the programs of the rows.
#[test]
fn programs_of_rows_have_their_constructs() {
    let lost = [
        Construct::Hidden,
        Construct::Print,
        Construct::Next,
        Construct::NonProgress,
        Construct::Last,
        Construct::Enabled,
        Construct::PcValue,
    ];
    for row in ROWS.iter().filter(|row| lost.contains(&row.construct)) {
        let (Treatment::Refused(text) | Treatment::Approximated { program: text, .. }) =
            row.treatment
        else {
            panic!("{row:?}");
        };
        let mut settings = Settings {
            defines: Vec::new(),
            include: &mut |_| Err("no such file".to_owned()),
        };
        let (program, _) = parse(&mut Sources::new("row.pml", text), &mut settings).unwrap();
        assert!(met(&program).contains(&row.construct), "{row:?}");
    }
}

#[test]
fn every_word_has_a_row() {
    let written: BTreeSet<&str> = ROWS
        .iter()
        .flat_map(|row| {
            row.written
                .split(|c: char| !c.is_alphanumeric() && c != '_')
        })
        .collect();
    let words = words::OPEN.iter().chain(words::ENDING);
    let words = words.chain(scopes::BUILT_IN).chain(&["in", "STDIN"]);
    let missing: Vec<&&str> = words.filter(|word| !written.contains(*word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let constructs: BTreeSet<Construct> = ROWS.iter().map(|row| row.construct).collect();
    assert_eq!(constructs.len(), ROWS.len(), "a construct has two rows");
}

/// The page of the book.
fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    let mut area = "";
    for row in ROWS {
        if row.area != area {
            area = row.area;
            let _ = write!(page, "\n## {area}\n\n| construct | is | |\n|---|---|---|\n");
        }
        let said = |program| refusal(program).unwrap().replace('|', "\\|");
        let (is, more) = match row.treatment {
            Treatment::Translated { model, .. } => {
                ("translated", format!("`tests/promela/{model}`"))
            }
            Treatment::Refused(program) => ("refused", said(program)),
            Treatment::Foreign(program) => ("refused, as by SPIN", said(program)),
            Treatment::Approximated { why, .. } => ("approximated", why.to_owned()),
        };
        let _ = writeln!(page, "| {} | {is} | {more} |", row.written);
    }
    page
}

const INTRODUCTION: &str = "\
# Constructs of Promela

What is done about each construct of [Promela](promela.md). What is *translated* means what it means for SPIN; the model that is named has the construct, and tests compare its verdicts and its number of states
with SPIN. What is *refused* is an error at its place, with the message and the advice shown. What is *approximated* is accepted though it does not mean all that it means for SPIN; the reason is given.

The page is made from the table that the front end is tested with, `crates/import/tests/tables/promela.rs`: `THREADWISE_WRITE_BOOK=1 cargo test -p threadwise-import --lib constructs` writes it.
";

#[test]
fn the_book_has_the_table() {
    let path = root().join("docs/book/src/promela-constructs.md");
    let page = page();
    if std::env::var_os("THREADWISE_WRITE_BOOK").is_some_and(|value| value != "0") {
        std::fs::write(path, page).unwrap();
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == page,
        "THREADWISE_WRITE_BOOK=1 cargo test -p threadwise-import --lib constructs writes docs/book/src/promela-constructs.md anew"
    );
}
