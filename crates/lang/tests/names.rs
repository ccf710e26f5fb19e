//! The index of names: complete on every model of the library, and right on small texts.

use std::path::{Path, PathBuf};

use threadwise_lang::names::{Names, SymbolKind};
use threadwise_lang::program::Span;
use threadwise_lang::syntax::{SyntaxKind, parse};
use threadwise_lang::{built_in, check, free_functions};

fn models(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "tw") {
            found.push(path);
        }
    }
}

/// The names of a text that the index says nothing about, but for built-in ones.
fn unresolved(text: &str, names: &Names) -> Vec<String> {
    let tree = parse(text).tree;
    let tokens = tree.descendants_with_tokens();
    let tokens = tokens.filter_map(|element| element.into_token());
    tokens
        .filter(|token| token.kind() == SyntaxKind::Name)
        .filter(|token| {
            let range = token.text_range();
            let span = Span {
                start: range.start().into(),
                end: range.end().into(),
            };
            names.resolved(span).next().is_none()
        })
        .map(|token| token.text().to_owned())
        .filter(|word| !built_in().contains(&word.as_str()))
        .filter(|word| !free_functions().contains(&word.as_str()))
        .filter(|word| !["G", "F", "X", "U", "R", "W", "done"].contains(&word.as_str()))
        .collect()
}

#[test]
fn every_name_of_every_model_is_resolved() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut files = Vec::new();
    for folder in ["models", "tests/any"] {
        models(&Path::new(root).join(folder), &mut files);
    }
    assert!(files.len() > 60, "{}", files.len());
    let mut kinds = std::collections::BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let checked = check(&text);
        assert!(checked.program.is_some(), "{}", file.display());
        let left = unresolved(&text, &checked.names);
        assert!(left.is_empty(), "{}: {left:?}", file.display());
        for (span, id) in checked.names.places() {
            let symbol = checked.names.symbol(*id);
            let word = &text[span.start as usize..span.end as usize];
            assert_eq!(word, symbol.name, "{}", file.display());
            kinds.insert(symbol.kind);
        }
    }
    assert!(kinds.len() >= 14, "{kinds:?}");
}

/// The places of the declaration that the `n`-th occurrence of a word stands for, as `line:column`.
fn places(text: &str, word: &str, n: usize) -> Vec<String> {
    let names = check(text).names;
    let at = text.match_indices(word).nth(n).unwrap().0 as u32;
    let (_, ids) = names.at(at).unwrap_or_else(|| panic!("{word} {n}"));
    let lines = threadwise_lang::render::LineIndex::new(text);
    let spans = ids.iter().flat_map(|id| names.places_of(*id));
    spans
        .map(|span| {
            let (line, column) = lines.position(text, span.start);
            format!("{line}:{column}")
        })
        .collect()
}

const SCOPES: &str = "\
param N = 2;
shared x: array[P] of bool = false;
def some(i: P) = x[i];
process P[i: 1..N] {
    local own: bool = false;
    a: atomic { x[i] := own; }
    b: own := exists j in P: some(j);
    goto a;
}
invariant mutex: forall i in P: P[i] at a -> (forall i in P: P[i].own || x[i]);
//@ expect mutex: proved at N=2..3
//@ expect mutex: proved for all N
";

#[test]
fn a_name_is_known_in_its_scope() {
    // The `i` of the definition, of the process, and of the two quantifiers are four.
    assert_eq!(places(SCOPES, "i: P", 0), ["3:10", "3:20"]);
    assert_eq!(places(SCOPES, "i: 1", 0), ["4:11", "6:19"]);
    assert_eq!(places(SCOPES, "i in P: P[i] at", 0), ["10:25", "10:35"]);
    assert_eq!(
        places(SCOPES, "i in P: P[i].own", 0),
        ["10:54", "10:64", "10:76"]
    );
    assert_eq!(places(SCOPES, "own", 0), ["5:11", "6:25", "7:8", "10:67"]);
    assert_eq!(places(SCOPES, "a: atomic", 0), ["6:5", "8:10", "10:41"]);
    assert_eq!(places(SCOPES, "mutex", 0), ["10:11", "11:12", "12:12"]);
    assert_eq!(places(SCOPES, "N", 0), ["1:7", "4:17", "11:29", "12:34"]);
}

#[test]
fn a_label_of_a_macro_belongs_to_every_caller() {
    let text = "\
macro wait(v) { w: await v; if v { goto end; } }
shared x: bool = true;
process P { b: wait(x); end: skip; }
process Q { b: wait(!x); end: skip; }
invariant one: !(P at w && Q at w);
";
    let checked = check(text);
    assert!(checked.program.is_some(), "{:?}", checked.diagnostics);
    let names = &checked.names;
    assert_eq!(places(text, "w:", 0), ["1:17", "5:23", "5:33"]);
    let label = names.at(text.find("w:").unwrap() as u32).unwrap().1;
    assert_eq!(names.symbol(label[0]).owners.len(), 2);
    // `goto end` leads to two labels, which are tied by it.
    let goto = names.at(text.find("end;").unwrap() as u32).unwrap().1;
    assert_eq!(goto.len(), 2);
    let end = names.at(text.find("end:").unwrap() as u32).unwrap().1;
    assert_eq!(names.tied(&end).len(), 2);
    assert_eq!(places(text, "v)", 0), ["1:12", "1:26", "1:32"]);
}

#[test]
fn a_macro_without_calls_is_indexed() {
    let text = "\
shared x: array[1..2] of bool = true;
process P { a: skip; }
macro set(v) { l: for k in 1..2 { x[k] := v; } goto l; if exists k in 1..2: x[k] { start P; } }
";
    let names = check(text).names;
    assert_eq!(unresolved(text, &names), Vec::<String>::new());
    assert_eq!(places(text, "k in", 0), ["3:23", "3:37"]);
    assert_eq!(places(text, "k in", 1), ["3:66", "3:79"]);
    assert_eq!(places(text, "x", 0), ["1:8", "3:35", "3:77"]);
    assert_eq!(places(text, "l:", 0), ["3:16", "3:53"]);
}

#[test]
fn what_is_understood_of_a_broken_text_is_indexed() {
    let text = "\
shared free: bool = true;
process P[i: 1..2] {
    local own: bool = false;
    a: await fre;
    b: own := free && ;
    c: own := own +;
}
invariant broken: forall i in P: P[i].;
invariant fine: forall i in P: P[i].own -> free;
";
    let checked = check(text);
    assert!(checked.program.is_none());
    assert_eq!(places(text, "free", 0), ["1:8", "5:15", "9:44"]);
    assert_eq!(
        places(text, "own", 0),
        ["3:11", "5:8", "6:8", "6:15", "9:37"]
    );
    let kinds: Vec<SymbolKind> = checked.names.symbols().map(|(_, s)| s.kind).collect();
    assert_eq!(
        kinds.iter().filter(|k| **k == SymbolKind::Property).count(),
        2
    );
}
