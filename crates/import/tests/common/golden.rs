//! Golden files: what the front ends make of programs, kept in the repository under `tests/golden`.
//!
//! A file has each line of the model behind the line of the original that it comes from, and below them the notes, so a difference says
//! what changed in the model, in its places, or in what is said about it. `THREADWISE_WRITE_GOLDEN=1` writes the files instead of comparing. Look at the difference!

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use threadwise_import::{Imported, Outcome};
use threadwise_testgen::origins::origins;

/// What was made of a program, as its golden file has it.
pub fn golden(outcome: &Outcome) -> String {
    let mut text = String::new();
    let remarks = match &outcome.result {
        Ok(imported) => {
            text.push_str(&with_lines(imported));
            &imported.notes
        }
        Err(remarks) => remarks,
    };
    for remark in remarks {
        let file = &outcome.files[remark.file];
        let start = remark.diagnostic.span.start as usize;
        let line = file.text[..start].matches('\n').count() + 1;
        let message = &remark.diagnostic.message;
        writeln!(text, "note: {}:{line}: {message}", file.name).unwrap();
    }
    text
}

fn with_lines(imported: &Imported) -> String {
    let mut text = String::new();
    for (line, origin) in imported
        .text()
        .lines()
        .zip(origins(&imported.program, &imported.layout))
    {
        let origin = origin.map_or(String::new(), |origin| origin.to_string());
        writeln!(text, "{}", format!("{origin:>4} | {line}").trim_end()).unwrap();
    }
    text
}

/// Compares with the golden files of a folder, all of which must be named: each is a name without ending, and what the file should have.
pub fn compare(folder: &str, made: &[(String, String)]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let folder = root.join(folder);
    let path = |name: &str| folder.join(format!("{name}.txt"));
    let write = std::env::var_os("THREADWISE_WRITE_GOLDEN").is_some_and(|value| value != "0");
    let mut differences = Vec::new();
    for (name, text) in made {
        let path = path(name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if old == *text {
            continue;
        }
        differences.push(format!("{name}: {}", first_difference(&old, text)));
        if write {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    let named: BTreeSet<PathBuf> = made.iter().map(|(name, _)| path(name)).collect();
    for left in files(&folder).difference(&named) {
        differences.push(format!("{}: made of no program", left.display()));
        if write {
            std::fs::remove_file(left).unwrap();
        }
    }
    assert!(
        write || differences.is_empty(),
        "{} of {} golden files differ; THREADWISE_WRITE_GOLDEN=1 writes them anew\n{}",
        differences.len(),
        made.len(),
        differences.join("\n")
    );
}

/// The first line in which two texts differ.
fn first_difference(old: &str, new: &str) -> String {
    let (mut before, mut now) = (old.lines(), new.lines());
    for number in 1.. {
        match (before.next(), now.next()) {
            (None, None) => break,
            (before, now) if before == now => {}
            (before, now) => {
                let shown = |line: Option<&str>| line.unwrap_or("(nothing)").to_owned();
                return format!("line {number}\n  - {}\n  + {}", shown(before), shown(now));
            }
        }
    }
    "the end of the file".to_owned()
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => {
                found.insert(path);
            }
        }
    }
    found
}
