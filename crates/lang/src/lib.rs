//! The threadwise language: text to checked program.
//!
//! [`check`] parses and checks a text. It always returns the diagnostics, and the program if
//! there was no error, and what each name stands for ([`names`]). [`syntax`] is the lossless tree that the formatter and editors use,
//! [`program`] the checked form that the rest of threadwise uses.

pub mod build;
mod check;
mod compact;
pub mod diagnostics;
mod format;
pub mod names;
pub mod print;
pub mod program;
pub mod render;
pub mod rewrite;
pub mod rounds;
pub mod source;
pub mod suggest;
pub mod syntax;
pub mod validate;
pub mod walk;

pub use check::{built_in, control_flow, free_functions, next_labels};
pub use format::format;
pub use validate::validate;

use diagnostics::{Code, Diagnostic};
use names::Names;
use program::{Expr, Program, Span};

/// Whether a word has a meaning of its own somewhere in the language, so that whoever makes up names had better not use it: a keyword, a built-in name, the
/// last label, an operator of temporal formulas.
pub fn is_reserved(word: &str) -> bool {
    /// Nothing that is made up can stand where these are keywords.
    const ELSEWHERE: [&str; 3] = ["record", "queue", "initially"];
    syntax::SyntaxKind::keyword(word).is_some() && !ELSEWHERE.contains(&word)
        || built_in().contains(&word)
        || matches!(word, "done" | "G" | "F" | "X" | "U" | "R" | "W")
}

/// What checking a text gave.
#[derive(Debug)]
pub struct Checked {
    /// The program, if there was no error.
    pub program: Option<Program>,
    /// Errors and warnings in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// What each name stands for, as far as the text was understood.
    pub names: Names,
}

/// An expression about the states of a program, and the program that it belongs to: that of the text, with the variables that the expression binds.
#[derive(Debug)]
pub struct Watched {
    /// The program.
    pub program: Program,
    /// The expression, of any type.
    pub value: Expr,
}

/// Parses and checks one expression about the states of a program, as it could stand in an invariant but for its type. Places in diagnostics are
/// those of the expression's text. `text` must be a text without errors.
pub fn check_expression(text: &str, expression: &str) -> Result<Watched, Vec<Diagnostic>> {
    let before = "invariant watched: ";
    // The semicolon has a line of its own: a comment at the end must not hide it.
    let parse = syntax::parse(&format!("{before}{expression}\n;"));
    let here = |diagnostic: Diagnostic| {
        let within =
            |at: u32| (at.saturating_sub(before.len() as u32)).min(expression.len() as u32);
        let moved = |span: Span| Span {
            start: within(span.start),
            end: within(span.end),
        };
        Diagnostic {
            span: moved(diagnostic.span),
            // Other places are places of the program.
            related: Vec::new(),
            ..diagnostic
        }
    };
    if !parse.diagnostics.is_empty() {
        return Err(parse.diagnostics.into_iter().map(here).collect());
    }
    let mut items = parse.tree.children();
    match (items.next(), items.next()) {
        (Some(item), None) => match check::expression(&syntax::parse(text).tree, &item) {
            Ok(watched) => Ok(watched),
            Err(diagnostics) => Err(diagnostics.into_iter().map(here).collect()),
        },
        _ => {
            let whole = Span {
                start: 0,
                end: expression.len() as u32,
            };
            let message = "this is not one expression";
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, whole, message);
            Err(vec![diagnostic.label("one is expected")])
        }
    }
}

/// Parses and checks a text.
pub fn check(text: &str) -> Checked {
    check_parsed(&syntax::parse(text))
}

/// Checks a text that is parsed already.
pub fn check_parsed(parse: &syntax::Parse) -> Checked {
    check::check(&parse.tree, parse.diagnostics.clone())
}
