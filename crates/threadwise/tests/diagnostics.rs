//! Every message has a model that provokes it (`diagnostics/CODE.tw`, or `CODE.pml` for programs of other languages) and a snapshot of how it looks.
//!
//! A first line `//! set N=3` gives values to parameters, as `--set` does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use threadwise_import::Settings;
use threadwise_import::from_promela::from_promela;
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::render::{LineIndex, render};
use threadwise_model::{instance::Instance, lower::lower};

/// Everything that is wrong with a text, down to the lowering.
fn diagnose(text: &str) -> Vec<Diagnostic> {
    let checked = threadwise_lang::check(text);
    let mut diagnostics = checked.diagnostics;
    let values: BTreeMap<String, i64> = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//! set "))
        .and_then(|setting| setting.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .into_iter()
        .collect();
    if let Some(program) = checked.program {
        match Instance::new(Arc::new(program), &values) {
            Ok(instance) => diagnostics.extend(lower(&instance, 2).err().into_iter().flatten()),
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics
}

/// The same for a program of another language.
fn diagnose_foreign(text: &str) -> Vec<Diagnostic> {
    let mut settings = Settings {
        defines: Vec::new(),
        include: &mut |name| Err(format!("there is no {name}")),
    };
    let remarks = match from_promela("m.pml", text, &mut settings).result {
        Ok(imported) => imported.notes,
        Err(remarks) => remarks,
    };
    let each = remarks.into_iter();
    each.map(|remark| remark.diagnostic).collect()
}

#[test]
fn every_code_has_its_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut shown = BTreeSet::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if ending != "tw" && ending != "pml" {
            continue;
        }
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).expect("readable");
        let diagnostics = match ending == "tw" {
            true => diagnose(&text),
            false => diagnose_foreign(&text),
        };
        let codes: BTreeSet<&str> = diagnostics.iter().map(|d| d.code.as_str()).collect();
        if Code::ALL.iter().any(|code| code.as_str() == name) {
            assert!(
                codes.contains(name.as_str()),
                "{name}.{ending} gives {codes:?}"
            );
            shown.insert(name.clone());
        }
        let lines = LineIndex::new(&text);
        let file = format!("{name}.{ending}");
        let report: Vec<String> = diagnostics
            .iter()
            .map(|d| render(d, &file, &text, &lines, false))
            .collect();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "diagnostics" }, {
            insta::assert_snapshot!(name.clone(), report.join("\n\n"));
        });
        names.push(name);
    }
    let all: BTreeSet<String> = Code::ALL
        .iter()
        .map(|code| code.as_str().to_owned())
        .collect();
    assert_eq!(shown, all, "codes and models differ");
    assert!(all.len() >= 40);

    let snapshots: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the folder")
        .filter_map(|entry| {
            let name = entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a plain name");
            Some(name.strip_suffix(".snap")?.to_owned())
        })
        .collect();
    assert_eq!(
        snapshots,
        names.into_iter().collect(),
        "snapshots without a model"
    );
}

/// A chapter of the book: every code with what it is about, and the message for the first place in its model that provokes it.
///
/// `THREADWISE_WRITE_BOOK=1` writes it.
#[test]
fn the_book_has_every_code() {
    const LONGEST: usize = 100;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut page = "# Diagnostics\n\nEvery message has a code. Codes that begin with E are errors: the model is not accepted. Codes that begin with W are warnings; `--deny` takes their names. \
                    Each is shown with an example. An editor offers a fix where one is likely to be meant.\n"
        .to_owned();
    let groups = [
        ("E00", "Text and syntax"),
        ("E01", "Names"),
        ("E02", "Types"),
        ("E03", "Control flow"),
        ("E04", "Who sees what"),
        ("E05", "Instances"),
        ("E06", "Programs of other languages"),
        ("W00", "Warnings"),
    ];
    let mut shown = 0;
    for (group, title) in groups {
        page += &format!("\n## {title}\n");
        let mut codes = Code::ALL
            .iter()
            .filter(|code| code.as_str().starts_with(group));
        codes
            .try_for_each(|code| {
                let name = code.as_str();
                let foreign = folder.join(format!("{name}.pml"));
                let (ending, text) = match fs::read_to_string(&foreign) {
                    Ok(text) => ("pml", text),
                    Err(_) => ("tw", fs::read_to_string(folder.join(format!("{name}.tw")))?),
                };
                let found = match ending {
                    "tw" => diagnose(&text),
                    _ => diagnose_foreign(&text),
                };
                let first = found.iter().find(|diagnostic| diagnostic.code == *code);
                let lines = LineIndex::new(&text);
                let drawn =
                    first.map(|d| render(d, &format!("model.{ending}"), &text, &lines, false));
                let drawn: Vec<String> = drawn
                    .unwrap_or_default()
                    .lines()
                    .map(|line| match line.char_indices().nth(LONGEST) {
                        Some((end, _)) => format!("{} ..", &line[..end]),
                        None => line.trim_end().to_owned(),
                    })
                    .collect();
                page += &format!("\n### {name}: {}\n\n{}\n", code.slug(), code.about());
                page += &format!("\n```text\n{}\n```\n", drawn.join("\n"));
                shown += 1;
                Ok::<(), std::io::Error>(())
            })
            .expect("every code has its model");
    }
    assert_eq!(shown, Code::ALL.len(), "a code is in no group");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/diagnostics.md");
    if std::env::var_os("THREADWISE_WRITE_BOOK").is_some() {
        fs::write(&path, &page).expect("writable");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, page,
        "THREADWISE_WRITE_BOOK=1 cargo test -p threadwise --test all diagnostics:: writes the chapter"
    );
}

#[test]
fn codes_and_slugs_are_unique() {
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let slugs: BTreeSet<&str> = Code::ALL.iter().map(|code| code.slug()).collect();
    assert_eq!(codes.len(), Code::ALL.len());
    assert_eq!(slugs.len(), Code::ALL.len());
}
