//! The threadwise language: text to checked program.
//!
//! [`check`] parses and checks a text. It always returns the diagnostics, and the program if
//! there was no error, and what each name stands for ([`names`]). [`syntax`] is the lossless tree that the formatter and editors use,
//! [`program`] the checked form that the rest of threadwise uses.

mod check;
pub mod diagnostics;
mod format;
pub mod names;
pub mod program;
pub mod render;
pub mod suggest;
pub mod syntax;
pub mod walk;

pub use check::{built_in, control_flow, next_labels};
pub use format::format;

use diagnostics::Diagnostic;
use names::Names;
use program::Program;

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

/// Parses and checks a text.
pub fn check(text: &str) -> Checked {
    check_parsed(&syntax::parse(text))
}

/// Checks a text that is parsed already.
pub fn check_parsed(parse: &syntax::Parse) -> Checked {
    check::check(&parse.tree, parse.diagnostics.clone())
}
