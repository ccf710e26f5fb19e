//! What the programs for any number of processes are: the wrong ones say where they are wrong, and many have a right one beside them that differs
//! in a single token, so that a method cannot tell them apart by their looks.

use std::collections::BTreeMap;

use threadwise_lang::syntax::{SyntaxKind, parse};
use threadwise_testgen::variants_for_all;

/// The tokens of a program, comments left out.
fn tokens(text: &str) -> Vec<(SyntaxKind, String)> {
    parse(text)
        .tree
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .filter(|token| !token.kind().is_trivia())
        .map(|token| (token.kind(), token.text().to_owned()))
        .collect()
}

/// The lines that say what is expected, by how they begin.
fn expects<'a>(text: &'a str, what: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .filter(|line| line.starts_with("//@ expect "))
        .filter(move |line| line.contains(what))
}

#[test]
fn wrong_programs_differ_from_right_ones_in_one_token() {
    let programs: BTreeMap<String, String> = variants_for_all().into_iter().collect();
    let (mut wrong, mut pairs) = (0, 0);
    for (name, text) in &programs {
        if !name.starts_with("wrong_") {
            continue;
        }
        wrong += 1;
        assert!(
            expects(text, ": violated at ").count() > 0,
            "{name} does not say where"
        );
        let sibling = text
            .lines()
            .find_map(|line| line.strip_prefix("// The right one: "))
            .and_then(|file| file.strip_suffix(".tw."));
        let Some(sibling) = sibling else { continue };
        let right = &programs[sibling];
        assert_eq!(
            expects(right, ": violated").count(),
            0,
            "{sibling} is not right"
        );
        // What no engine proves is said in words, and expected of some instances.
        let open = right
            .lines()
            .any(|line| line.starts_with("// No engine proves `"));
        let claims = expects(right, ": proved for all ").count() > 0;
        assert!(
            claims || open && expects(right, ": proved at ").count() > 0,
            "{sibling} claims nothing for all values"
        );
        let (wrong, right) = (tokens(text), tokens(right));
        assert_eq!(wrong.len(), right.len(), "{name} and {sibling}");
        let different = wrong.iter().zip(&right).filter(|(a, b)| a != b).count();
        assert_eq!(different, 1, "{name} and {sibling}");
        pairs += 1;
    }
    assert!(
        wrong >= 40 && pairs >= 28,
        "{wrong} wrong programs, {pairs} with a right one"
    );
}
