//! What must hold of every text, well-formed or not: used by the random tests and the fuzz targets.

use threadwise_lang::diagnostics::Severity;
use threadwise_lang::render::{LineIndex, render};
use threadwise_lang::syntax::{SyntaxKind, parse};

/// The tree covers the text, checking never panics, and messages point into the text.
pub fn front_end(text: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.tree.text().to_string(), text, "the tree is lossless");
    let checked = threadwise_lang::check(text);
    let errors = checked
        .diagnostics
        .iter()
        .any(|d| d.severity() == Severity::Error);
    assert_eq!(checked.program.is_none(), errors, "a program or an error");
    let lines = LineIndex::new(text);
    for diagnostic in &checked.diagnostics {
        for span in std::iter::once(&diagnostic.span).chain(diagnostic.related.iter().map(|r| &r.0))
        {
            assert!(span.start <= span.end && span.end as usize <= text.len());
            assert!(text.is_char_boundary(span.start as usize));
            assert!(text.is_char_boundary(span.end as usize));
        }
        let drawn = render(diagnostic, "fuzz.tw", text, &lines, false);
        assert!(drawn.contains(diagnostic.code.as_str()));
    }
}

/// Formatting keeps tokens and comments, and is stable.
pub fn formatter(text: &str) {
    let Ok(once) = threadwise_lang::format(text) else {
        return;
    };
    assert_eq!(essence(text), essence(&once), "tokens changed:\n{once}");
    let twice = threadwise_lang::format(&once).expect("no new syntax errors");
    assert_eq!(once, twice, "formatting is not stable");
}

/// Tokens and comments; runs of spaces do not count.
pub fn essence(text: &str) -> Vec<(SyntaxKind, String)> {
    parse(text)
        .tree
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .filter(|token| token.kind() != SyntaxKind::Whitespace)
        .map(|token| (token.kind(), token.text().trim_end().to_owned()))
        .collect()
}
