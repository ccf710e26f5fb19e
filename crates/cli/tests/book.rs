//! What the README and the book show is so: every command prints today what the page says it prints (see `pages`), every model is formatted, every link leads
//! somewhere, every chapter is in the table of contents, and the reference of the command line is what the program says of itself.
//!
//! `THREADWISE_WRITE_BOOK=1 cargo test -p threadwise-cli --test all book::` writes what the program prints into the pages instead of complaining. Look at the difference!

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::common::{Place, stable};
use crate::pages::{Block, blocks, chapters, follow, is_as_shown, read, root, write};

const SUMMARY: &str = "docs/book/src/SUMMARY.md";
const REFERENCE: &str = "docs/book/src/command-line-reference.md";

/// Held by whoever may rewrite pages.
static PAGES: Mutex<()> = Mutex::new(());

/// The README and all chapters.
fn all_pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    pages.extend(chapters());
    pages
}

#[test]
fn commands_print_what_the_pages_show() {
    let _pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut commands = BTreeMap::new();
    let mut complaints = Vec::new();
    for name in all_pages() {
        let page = read(&name);
        let followed = follow(&name, &page);
        if write() && followed.mended != page {
            std::fs::write(root().join(&name), &followed.mended).unwrap();
        }
        // Counted once more in the text alone: no command is passed over.
        let shown = page.lines().filter(|line| line.starts_with("$ ")).count();
        let untested: Vec<usize> = blocks(&page)
            .into_iter()
            .filter(|block| block.is("sh") && block.text.contains("threadwise "))
            .map(|block| block.line)
            .collect();
        assert!(untested.is_empty(), "{name}: not run: lines {untested:?}");
        assert_eq!(
            followed.commands, shown,
            "{name}: {:#?}",
            followed.complaints
        );
        commands.insert(name, followed.commands);
        complaints.extend(followed.complaints);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let all: usize = commands.values().sum();
    assert!(all >= 45, "only {all} commands: {commands:?}");
}

#[test]
fn a_wrong_output_is_noticed() {
    let model = "```tw,file=x.tw\nshared x: 0..1 = 0;\n\nprocess P {\n    a: x := 1;\n}\n\ninvariant low: x < 1;\n```\n";
    let shown = |output: &str| {
        let page = format!(
            "{model}\n```console\n$ threadwise check x.tw --quiet\n{output}$ echo $?\n1\n```\n"
        );
        follow("page", &page)
    };
    let fair = shown("nothing\n");
    assert_eq!(fair.complaints.len(), 1, "{fair:?}");
    assert!(fair.mended.contains("  low     violated  "), "{fair:?}");
    let again = follow("page", &fair.mended);
    assert_eq!(
        (again.commands, again.complaints.len()),
        (2, 0),
        "{again:?}"
    );
    for wrong in [
        fair.mended.replace("violated", "proved"),
        fair.mended.replace("$ echo $?\n1", "$ echo $?\n0"),
        fair.mended.replace("x.tw --quiet", "y.tw --quiet"),
        fair.mended.replace("$ echo $?", "$ rm x.tw"),
        fair.mended.replace("x := 1", "x := 0"),
    ] {
        assert_ne!(wrong, fair.mended);
        assert!(!follow("page", &wrong).complaints.is_empty(), "{wrong}");
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
fn durations_are_left_out_and_nothing_else() {
    assert_eq!(stable("24 states, 5 ms\nx"), stable("24 states, 1.2 s\nx"));
    assert_ne!(stable("24 states, 5 ms\nx"), stable("25 states, 5 ms\nx"));
}

#[test]
fn models_about_fairness_are_as_they_say() {
    let page = read("docs/book/src/fairness.md");
    let models: Vec<Block> = blocks(&page).into_iter().filter(|b| b.is("tw")).collect();
    assert!(models.len() >= 5);
    let place = Place::new();
    for Block { text, .. } in models {
        let liveness = text.matches("\nliveness ").count();
        assert_eq!(text.matches("\n//@ expect ").count(), liveness, "{text}");
        place.run_with(&["test", "-"], text.as_bytes()).expect(0);
    }
}

#[test]
fn models_are_formatted() {
    let _pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut complaints = Vec::new();
    let mut models = 0;
    for name in all_pages() {
        let mut page = read(&name);
        let before = page.clone();
        for block in blocks(&before) {
            // What does not parse has no form.
            let Ok(formatted) = threadwise_lang::format(block.text) else {
                continue;
            };
            if !block.is("tw") {
                continue;
            }
            models += 1;
            if formatted != block.text {
                complaints.push(format!("{name}:{}: should be\n{formatted}", block.line));
                page = page.replace(block.text, &formatted);
            }
        }
        if write() && page != before {
            std::fs::write(root().join(&name), page).unwrap();
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(models >= 30, "only {models} models");
}

/// The targets of the links and pictures of a page, outside of its blocks, with their lines.
fn links(page: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // What is code has no links.
        let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for part in text.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            links.push((number + 1, target.to_owned()));
        }
    }
    links
}

#[test]
fn what_is_included_exists() {
    let mut seen = 0;
    for name in chapters() {
        for part in read(&name).split("{{#include ").skip(1) {
            let target = part.split("}}").next().unwrap();
            let (file, anchor) = target.split_once(':').unwrap();
            let path = root().join(&name).parent().unwrap().join(file);
            let text = std::fs::read_to_string(&path).unwrap();
            for mark in ["ANCHOR", "ANCHOR_END"] {
                let mark = format!("// {mark}: {anchor}\n");
                assert_eq!(text.matches(&mark).count(), 1, "{name}: {target}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen}");
}

/// The names that the headings of a page have in links.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = page.lines().filter(|line| {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        !fenced && line.starts_with('#')
    });
    let mut anchors = BTreeSet::new();
    for heading in headings {
        let name = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = name
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let name: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        assert!(anchors.insert(name.clone()), "two headings are `{name}`");
    }
    anchors
}

#[test]
fn links_lead_somewhere() {
    let mut names = all_pages();
    names.extend([SUMMARY, "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned));
    for folder in ["docs", "docs/decisions"] {
        let files = std::fs::read_dir(root().join(folder)).unwrap();
        let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let pages = files.filter(|name| name.ends_with(".md"));
        names.extend(pages.map(|name| format!("{folder}/{name}")));
    }
    let mut complaints = Vec::new();
    let mut seen = 0;
    for name in names {
        let path = root().join(&name);
        for (line, target) in links(&read(&name)) {
            if target.contains("://") {
                continue;
            }
            seen += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let found = file.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&file).unwrap()).contains(anchor));
            if !found {
                complaints.push(format!("{name}:{line}: {target}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(seen > 100, "only {seen} links");
}

#[test]
fn every_chapter_is_in_the_table_of_contents_once() {
    let mut listed: Vec<String> = links(&read(SUMMARY))
        .into_iter()
        .map(|(_, target)| format!("docs/book/src/{target}"))
        .collect();
    listed.sort();
    assert_eq!(listed, chapters());
}

#[test]
fn every_picture_is_used_and_says_what_it_shows() {
    let folder = root().join("docs/book/src/pictures");
    let used: BTreeSet<String> = chapters()
        .iter()
        .flat_map(|name| links(&read(name)))
        .filter_map(|(_, target)| target.strip_prefix("pictures/").map(str::to_owned))
        .collect();
    let mut there = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let picture = std::fs::read_to_string(&path).unwrap();
        for part in [
            "<title ",
            "<desc ",
            "role=\"img\"",
            "prefers-color-scheme: dark",
        ] {
            assert!(
                picture.contains(part),
                "{part} is not in {}",
                path.display()
            );
        }
        assert!(picture.len() < 12_000, "{}", path.display());
        there.insert(file_name(&path));
    }
    assert_eq!(used, there);
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn the_highlighter_knows_every_word_of_the_grammar() {
    let page = read("docs/book/src/language.md");
    let grammar = blocks(&page).into_iter().find(|block| block.is("ebnf"));
    let script = read("docs/book/tw.js");
    let known: BTreeSet<&str> = script
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let quoted = grammar.unwrap().text.split('"').skip(1).step_by(2);
    let is_word =
        |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_alphabetic() || c == '_');
    let words: BTreeSet<&str> = quoted.filter(is_word).collect();
    assert!(words.len() > 50, "{words:?}");
    let missing: Vec<_> = words.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_reference_is_what_the_program_says_of_itself() {
    let place = Place::new();
    let made = place.run(&["man", "--markdown"]).expect(0).plain().stdout;
    if write() {
        std::fs::write(root().join(REFERENCE), &made).unwrap();
    }
    assert!(
        made == read(REFERENCE),
        "{REFERENCE} is not what `threadwise man --markdown` prints: see the top of this file"
    );
}
