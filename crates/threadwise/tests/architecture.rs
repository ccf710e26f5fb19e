//! The rules of ARCHITECTURE.md that a machine can keep: a crate uses only those before it, and nothing in the
//! core reads a clock, a file or the environment.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates in the order in which data flows; tests may use any of them.
const ORDER: &[&str] = &[
    "lang",
    "model",
    "evidence",
    "certify",
    "engine",
    "symbolic",
    "safety",
    "liveness",
    "param",
    "import",
    "threadwise",
    "cli",
    "testgen",
];

/// Crates that touch the world, or exist for tests only.
const OUTSIDE: &[&str] = &["cli", "testgen"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The threadwise crates that a crate depends on, those of its tests not counted.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.to_owned();
        } else if section == "[dependencies]" && line.starts_with("threadwise") {
            let package = line.split(['.', ' ', '=']).next().unwrap();
            found.push(
                package
                    .strip_prefix("threadwise-")
                    .unwrap_or(package)
                    .to_owned(),
            );
        }
    }
    found
}

#[test]
fn the_order_names_every_crate() {
    let mut found: Vec<String> = fs::read_dir(crates())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut expected = ORDER.to_vec();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_crate_uses_only_those_before_it() {
    for (position, name) in ORDER.iter().enumerate() {
        for used in dependencies(name) {
            let before = ORDER.iter().position(|other| *other == used).unwrap();
            assert!(before < position, "{name} uses {used}");
        }
    }
    assert_eq!(dependencies("model"), ["lang"]);
    // What the checker must never use, also through others: see its own test.
    assert_eq!(dependencies("certify"), ["evidence", "lang", "model"]);
    for name in ORDER {
        let used = dependencies(name);
        assert!(!used.contains(&"testgen".to_owned()), "{name} uses testgen");
    }
}

/// Whether a path is that of the module `tests` of its parent, which is compiled for tests alone: they may read what they compare with.
fn is_for_tests(path: &Path) -> bool {
    if path.file_stem().is_none_or(|name| name != "tests") {
        return false;
    }
    let folder = path.parent().unwrap();
    let parents = [
        folder.join("mod.rs"),
        folder.join("lib.rs"),
        folder.with_extension("rs"),
    ];
    let declared = parents
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    declared
        .into_iter()
        .any(|text| text.contains("#[cfg(test)]\nmod tests;"))
}

/// The sources of a crate, without its tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if is_for_tests(&path) {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_core_reads_no_clock_no_file_and_no_environment() {
    let mut looked = 0;
    for name in ORDER.iter().filter(|name| !OUTSIDE.contains(name)) {
        let mut files = Vec::new();
        sources(&crates().join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                for word in [
                    "std::time::Instant",
                    "SystemTime",
                    "Instant::now",
                    "std::fs",
                    "std::env",
                    "std::net",
                ] {
                    assert!(
                        !code.contains(word),
                        "{}:{}: {word}",
                        file.display(),
                        number + 1
                    );
                }
            }
            looked += 1;
        }
    }
    assert!(looked > 30, "only {looked} files");
}
