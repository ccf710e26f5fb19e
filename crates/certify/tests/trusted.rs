//! `docs/trusted-base.md` is true: it lists every file of the checker with its size, says for each kind of certificate which files decide, as their `use` lines have it, and the
//! aims that it says are reached are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Sizes on the page are rounded to tens; so much may be added to a file before the page has to be brought up to date.
const ROUNDING: usize = 15;

/// What names the files of several kinds of certificates, to choose from: it is needed, and what it names is not for that.
const ENTRY: [&str; 4] = ["check.rs", "fair/check.rs", "family/mod.rs", "fit.rs"];
/// What says, lists or hands over, and decides nothing.
const SILENT: [&str; 3] = ["lib.rs", "wording.rs", "claimed.rs"];
/// The aim for the files that one kind of certificate needs.
const KIND: usize = 3_000;

/// The kinds of certificates as the page calls them, the files that they begin with, and whether the aim is reached.
const KINDS: &[(&str, &[&str], bool)] = &[
    ("Few states", &["check.rs", "each.rs"], true),
    (
        "Safety by walks",
        &["check.rs", "conditions.rs", "fit.rs", "walk.rs"],
        true,
    ),
    (
        "Safety by a solver",
        &["check.rs", "conditions.rs", "fit.rs", "graph.rs"],
        true,
    ),
    (
        "Fair runs by walks",
        &[
            "check.rs",
            "conditions.rs",
            "fair/check.rs",
            "fair/judge.rs",
            "fair/walk.rs",
        ],
        false,
    ),
    (
        "Fair runs by a solver",
        &[
            "check.rs",
            "conditions.rs",
            "graph.rs",
            "fair/check.rs",
            "fair/judge.rs",
            "fair/solver.rs",
        ],
        false,
    ),
    (
        "Images of conjuncts",
        &["check.rs", "fair/check.rs", "fair/symmetric.rs"],
        false,
    ),
    (
        "All values of the parameters",
        &[
            "family/mod.rs",
            "family/conditions.rs",
            "family/deadlock.rs",
            "family/names.rs",
            "family/scope.rs",
            "family/translate.rs",
            "family/fair.rs",
            "family/least.rs",
            "family/proof.rs",
            "fit.rs",
            "rejection.rs",
            "report.rs",
        ],
        false,
    ),
    (
        "Situations that never come about",
        &[
            "family/mod.rs",
            "family/conditions.rs",
            "family/deadlock.rs",
            "family/names.rs",
            "family/scope.rs",
            "family/translate.rs",
            "family/excluded/mod.rs",
            "family/fair.rs",
            "family/least.rs",
            "family/proof.rs",
            "fit.rs",
            "rejection.rs",
            "report.rs",
        ],
        false,
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/trusted-base.md")).expect("the page")
}

/// The code of a file: no tests, no comments, no empty lines.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end]
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
        .map(str::to_owned)
        .collect()
}

/// The files of the checker, by their names below `src`; those that are compiled for tests only are left out.
fn files() -> BTreeMap<String, Vec<String>> {
    let src = root().join("crates/certify/src");
    let mut found = BTreeMap::new();
    let mut open = vec![src.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path
                    .strip_prefix(&src)
                    .expect("below")
                    .to_str()
                    .expect("a name");
                found.insert(name.to_owned(), code(&path));
            }
        }
    }
    let tests: Vec<String> = found
        .keys()
        .filter(|name| for_tests(&found, name))
        .cloned()
        .collect();
    tests.iter().for_each(|name| drop(found.remove(name)));
    found
}

/// Whether the module of a file is declared for tests only.
fn for_tests(files: &BTreeMap<String, Vec<String>>, name: &str) -> bool {
    let Some((folder, file)) = name.rsplit_once('/') else {
        return false;
    };
    // What is below `tests` is part of that module.
    if folder.ends_with("/tests") {
        return for_tests(files, &format!("{folder}.rs"));
    }
    let declaration = format!("mod {};", file.trim_end_matches(".rs"));
    let parent = files.get(&format!("{folder}/mod.rs")).expect("a parent");
    let at = parent.iter().position(|line| *line == declaration);
    at.is_some_and(|at| at > 0 && parent[at - 1] == "#[cfg(test)]")
}

/// The files that a file uses: those whose modules its paths begin with, and those that it declares.
fn uses(files: &BTreeMap<String, Vec<String>>, name: &str) -> BTreeSet<String> {
    let module = name.trim_end_matches(".rs").trim_end_matches("/mod");
    let around = module.rsplit_once('/').map_or("", |(around, _)| around);
    let text = files[name].join(" ");
    let mut found = BTreeSet::new();
    for (word, base) in [("crate::", ""), ("super::", around)] {
        for (at, _) in text.match_indices(word) {
            for path in paths(&text[at + word.len()..]) {
                let path: Vec<&str> = [base]
                    .into_iter()
                    .filter(|base| !base.is_empty())
                    .chain(path)
                    .collect();
                // The longest beginning that is a file.
                let file = (1..=path.len()).rev().find_map(|parts| {
                    let stem = path[..parts].join("/");
                    let names = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
                    names.into_iter().find(|name| files.contains_key(name))
                });
                found.extend(file);
            }
        }
    }
    if let Some(folder) = name.strip_suffix("mod.rs") {
        let declared = files[name].iter().filter_map(|line| {
            let module = line.rsplit_once("mod ")?.1.strip_suffix(';')?;
            Some(format!("{folder}{module}.rs"))
        });
        found.extend(declared.filter(|name| files.contains_key(name)));
    }
    found.remove(name);
    found
}

/// The paths that a text begins with: one, or those in braces.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let (path, rest) = text.split_at(end.unwrap_or(text.len()));
    let path: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    let Some(list) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return vec![path];
    };
    let each = list.0.split(',').map(|part| {
        let part = part.trim().split("::").filter(|part| !part.is_empty());
        path.iter().copied().chain(part).collect()
    });
    each.collect()
}

/// All files that some files use, directly or through others; what the way in names is not followed.
fn closure(files: &BTreeMap<String, Vec<String>>, begin: &[&str]) -> BTreeSet<String> {
    let mut open: Vec<String> = begin.iter().map(|name| (*name).to_owned()).collect();
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        let followed = !ENTRY.contains(&name.as_str()) && !SILENT.contains(&name.as_str());
        if found.insert(name.clone()) && followed {
            open.extend(uses(files, &name));
        }
    }
    found
}

/// The rows of the table below a title: the first two columns, the second as a number.
fn table(page: &str, title: &str) -> BTreeMap<String, usize> {
    let heading = format!("\n## {title}\n");
    let (_, rest) = page
        .split_once(&heading)
        .unwrap_or_else(|| panic!("no section {title}"));
    let section = rest.split("\n## ").next().expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().expect("a name").trim_matches('`').to_owned();
        let size = cells.next().expect("a size").replace(',', "");
        (name, size.parse().unwrap_or_else(|_| panic!("{line}")))
    });
    rows.collect()
}

#[test]
fn the_page_lists_every_file_with_its_size() {
    let (page, files) = (page(), files());
    let listed = table(&page, "The files of the checker");
    assert_eq!(
        listed.keys().collect::<Vec<_>>(),
        files.keys().collect::<Vec<_>>()
    );
    let rows: Vec<String> = files
        .iter()
        .map(|(name, code)| format!("{name} {}", (code.len() + 5) / 10 * 10))
        .collect();
    for (name, size) in &listed {
        let real = files[name].len();
        assert!(
            real.abs_diff(*size) <= ROUNDING,
            "{name} has {real}:\n{}",
            rows.join("\n")
        );
    }
    for (name, size) in table(&page, "What it stands on") {
        let path = root().join("crates").join(&name);
        let real = match path.is_dir() {
            true => below(&path),
            false => code(&path).len(),
        };
        // These change for reasons of their own: the page says how large they are, about.
        assert!(real.abs_diff(size) <= 50 + size / 4, "{name} has {real}");
    }
}

/// The lines of all files below a folder.
fn below(folder: &Path) -> usize {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| match path.is_dir() {
            true => below(&path),
            false => code(&path).len(),
        })
        .sum()
}

#[test]
fn kinds_of_certificates_need_the_files_that_the_page_says() {
    let (page, files) = (page(), files());
    for (title, begin, reached) in KINDS {
        let needed = closure(&files, begin);
        let section = page
            .split_once(&format!("\n## {title}\n"))
            .unwrap_or_else(|| panic!("no section {title}"));
        let section = section.1.split("\n## ").next().expect("a section");
        let lines = section.lines().find(|line| line.starts_with("Files: "));
        let said: BTreeSet<String> = lines
            .expect("a line with files")
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        assert_eq!(said, needed, "{title}");
        let size: usize = needed.iter().map(|name| files[name].len()).sum();
        assert_eq!(size < KIND, *reached, "{title}: {size} lines");
        let said = section.split_once("Lines: ").expect("a size").1;
        let said: String = said
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',')
            .collect();
        let said: usize = said.replace(',', "").parse().expect("a number");
        assert!(size.abs_diff(said) <= 50, "{title}: {size} lines");
    }
}

#[test]
fn what_is_gone_through_state_by_state_uses_no_step_of_the_lowering() {
    let files = files();
    let needed = closure(&files, &["each.rs"]);
    // These read a certificate, and what they make of it is not trusted; the others must not see lowered steps or their evaluator.
    let reading = [
        "fit.rs",
        "listing.rs",
        "parts.rs",
        "fair/shape.rs",
        "report.rs",
    ];
    for name in needed
        .iter()
        .filter(|name| !reading.contains(&name.as_str()))
    {
        for line in &files[name] {
            for word in [
                "threadwise_model::eval",
                "threadwise_model::lower",
                "system::Step",
                "Step,",
            ] {
                assert!(!line.contains(word), "{name}: {line}");
            }
        }
    }
}
