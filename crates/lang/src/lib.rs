//! The threadwise language: text to checked program.
//!
//! [`check`] parses and checks a text. It always returns the diagnostics, and the program if
//! there was no error. [`syntax`] is the lossless tree that the formatter and editors use,
//! [`program`] the checked form that the rest of threadwise uses.

mod check;
pub mod diagnostics;
mod format;
pub mod program;
pub mod render;
pub mod suggest;
pub mod syntax;
pub mod walk;

pub use format::format;

use diagnostics::Diagnostic;
use program::Program;

/// What checking a text gave.
#[derive(Debug)]
pub struct Checked {
    /// The program, if there was no error.
    pub program: Option<Program>,
    /// Errors and warnings in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses and checks a text.
pub fn check(text: &str) -> Checked {
    let parse = syntax::parse(text);
    check::check(&parse.tree, parse.diagnostics)
}
