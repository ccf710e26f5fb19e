//! The extension for VS Code: its grammar knows every keyword, and its files are what they should be.

use std::path::{Path, PathBuf};

use serde_json::Value;
use threadwise_lang::syntax::SyntaxKind;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode")
}

fn json(name: &str) -> Value {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All values of a key, anywhere below.
fn all<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                match inner {
                    Value::String(text) if name == key => found.push(text),
                    _ => all(inner, key, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| all(inner, key, found)),
        _ => {}
    }
}

/// The words of a pattern such as `\b(if|else)\b`.
fn words(pattern: &str) -> Vec<&str> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    pattern
        .split(['(', ')', '|'])
        .filter(|word| !word.is_empty() && word.chars().all(letters))
        .collect()
}

#[test]
fn the_grammar_knows_the_words_of_the_language() {
    let grammar = json("syntaxes/threadwise.tmLanguage.json");
    assert_eq!(grammar["scopeName"], "source.threadwise");
    let mut patterns = Vec::new();
    all(&grammar, "match", &mut patterns);
    all(&grammar, "begin", &mut patterns);
    let known: Vec<&str> = patterns.iter().flat_map(|pattern| words(pattern)).collect();
    let keywords = SyntaxKind::all().filter(|kind| kind.is_keyword());
    let keywords = keywords.filter_map(SyntaxKind::text);
    let functions = threadwise_lang::built_in().iter();
    let functions = functions.chain(threadwise_lang::free_functions());
    let functions: Vec<&str> = functions.copied().collect();
    for word in keywords.chain(functions.iter().copied()) {
        assert!(known.contains(&word), "{word} is not in the grammar");
    }
    // And no other words, so that one that leaves the language leaves the grammar.
    for word in &known {
        let temporal = ["G", "F", "X", "U", "R", "W", "done"].contains(word);
        let ours = SyntaxKind::keyword(word).is_some() || functions.contains(word);
        assert!(ours || temporal, "{word} is no word of the language");
    }
    // What is included is there.
    let mut included = Vec::new();
    all(&grammar, "include", &mut included);
    assert!(included.len() > 4);
    for name in included {
        let name = name.strip_prefix('#').unwrap();
        assert!(grammar["repository"][name].is_object(), "{name}");
    }
    for pattern in patterns {
        let plain = pattern.replace("\\(", "").replace("\\)", "");
        let count = |bracket: char| plain.matches(bracket).count();
        assert_eq!(count('('), count(')'), "{pattern}");
    }
}

#[test]
fn the_extension_names_files_that_exist() {
    let package = json("package.json");
    let contributes = &package["contributes"];
    let mut paths = Vec::new();
    all(contributes, "path", &mut paths);
    all(contributes, "configuration", &mut paths);
    assert!(paths.len() >= 2, "{paths:?}");
    for path in paths {
        assert!(folder().join(path).is_file(), "{path}");
    }
    assert_eq!(contributes["languages"][0]["extensions"][0], ".tw");
    // What is run is made of `extension.js` when the package is built.
    assert_eq!(package["main"], "./dist/extension.js");
    let bundle = std::fs::read_to_string(folder().join("bundle.js")).unwrap();
    for file in ["\"extension.js\"", "\"dist/extension.js\""] {
        assert!(bundle.replace('\'', "\"").contains(file), "{file}");
    }
    json("language-configuration.json");
    // The commands of the server that the extension calls by name are the server's.
    let script = std::fs::read_to_string(folder().join("extension.js")).unwrap();
    assert!(script.contains("\"lsp\""));
}
