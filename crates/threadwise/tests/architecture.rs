//! The rules of ARCHITECTURE.md that a machine can keep: a crate uses only those before it, and nothing in the
//! core reads a clock, a file or the environment.

use std::fs;
use std::path::{Path, PathBuf};

use threadwise::Registry;

/// The crates in the order in which data flows; tests may use any of them.
const ORDER: &[&str] = &[
    "lang",
    "model",
    "evidence",
    "show",
    "certify",
    "conditions",
    "engine",
    "explicit",
    "symbolic",
    "safety",
    "liveness",
    "param",
    "export",
    "import",
    "threadwise",
    "bench",
    "cli",
    "testgen",
];

/// Crates that touch the world, or exist for tests only.
const OUTSIDE: &[&str] = &["bench", "cli", "testgen"];

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

/// What nobody names as a module is never built, and says nothing.
#[test]
fn every_file_of_integration_tests_is_part_of_them() {
    let mut looked = 0;
    for name in ORDER {
        let folder = crates().join(name).join("tests");
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let main = fs::read_to_string(folder.join("main.rs")).unwrap();
        for path in entries.map(|entry| entry.unwrap().path()) {
            let module = path.file_stem().unwrap().to_str().unwrap();
            let holds_tests = path.join("mod.rs").exists() || path.is_file();
            if holds_tests && module != "main" {
                let named = main.lines().any(|line| line == format!("mod {module};"));
                assert!(named, "{name}/tests/main.rs has no `mod {module};`");
                looked += 1;
            }
        }
    }
    assert!(looked > 50, "only {looked} files");
}

/// Crates without tests in their sources say so, which saves building them once more; so what they say must be so.
#[test]
fn no_test_stands_where_none_is_looked_for() {
    for name in ORDER {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let mut files = Vec::new();
        every_file(&crates().join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let place = file.display();
            let unit = text.lines().any(|line| line.trim() == "#[test]");
            assert!(!unit || !manifest.contains("\ntest = false"), "{place}");
            let fence = |line: &str| line.trim_start_matches(['/', '!', ' ']).starts_with("```");
            let doc = text.lines().any(|line| line.contains("//") && fence(line));
            assert!(!doc || !manifest.contains("\ndoctest = false"), "{place}");
        }
    }
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

/// The files of a folder and of those below it.
fn every_file(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            every_file(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The sources of a crate, without its tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    every_file(folder, found);
    found.retain(|path| !path.ancestors().any(is_for_tests));
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

/// All sources without their tests and comments, each with its path from the folder of crates on.
fn texts() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for name in ORDER {
        sources(&crates().join(name).join("src"), &mut files);
    }
    let folder = crates();
    let relative = |file: &PathBuf| {
        let path = file.strip_prefix(&folder).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        code.collect::<Vec<_>>().join("\n")
    };
    let texts = files.iter();
    texts.map(|file| (relative(file), text(file))).collect()
}

/// The folder of the module that a file is.
fn module(path: &str) -> &str {
    let path = path.strip_suffix("/mod.rs").unwrap_or(path);
    path.strip_suffix("/lib.rs").unwrap_or(path)
}

#[test]
fn an_option_is_named_where_its_engine_is() {
    let texts = texts();
    let options = Registry::standard().options();
    assert!(options.len() >= 10, "{options:?}");
    for name in options.iter().map(|option| option.name) {
        let literal = format!("\"{name}\"");
        let describes = |text: &str| {
            let mut parts = text.split("OptionInfo::").skip(1);
            parts.any(|part| {
                let inside = part.split_once('(').map_or("", |(_, inside)| inside);
                inside.trim_start().starts_with(&literal)
            })
        };
        let described = texts.iter().filter(|(_, text)| describes(text));
        let described: Vec<&str> = described.map(|(path, _)| path.as_str()).collect();
        let [home] = described.as_slice() else {
            panic!("`--{name}` is described in {described:?}");
        };
        // What several engines have is whoever's it is to run them.
        if home.starts_with("engine/") {
            continue;
        }
        let spelled = format!("--{name}");
        let names = |text: &str| {
            let mut rests = text.split(&spelled).skip(1);
            rests.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        };
        for (path, _) in texts.iter().filter(|(_, text)| names(text)) {
            assert!(
                path.starts_with(module(home)),
                "{path} names `--{name}` of {home}"
            );
        }
    }
}
