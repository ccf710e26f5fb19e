//! Promela in: what SPIN reads, as a model.

mod declarations;
mod expressions;
mod formulas;
mod inlines;
mod labels;
mod lexer;
mod parser;
mod scopes;
mod separators;
mod statements;
mod syntax;
mod translate;
mod words;

#[cfg(test)]
mod tests;

use threadwise_lang::diagnostics::Code;

use crate::front::remarks;
use crate::front::source::Sources;
use crate::{Outcome, Remark, Settings};

/// Brings a Promela program over. `name` is that of its file, for messages.
pub fn from_promela(name: &str, text: &str, settings: &mut Settings<'_>) -> Outcome {
    let mut sources = Sources::new(name, text);
    let parsed = parser::parse(&mut sources, settings);
    let result = parsed.and_then(|(program, hints)| {
        let notes = about_hints(hints).into_iter();
        let notes = notes.chain(about_printing(&program));
        let notes = notes.chain(about_claims(&program)).collect();
        translate::translate(name, &program, &sources, notes)
    });
    Outcome {
        files: sources.files(),
        result,
    }
}

/// How often something stands in a program, behind what is said about the first place.
fn times(number: usize) -> String {
    match number {
        0 | 1 => String::new(),
        2 => ", here and once more".to_owned(),
        several => format!(", here and {} times more", several - 1),
    }
}

/// One note for all hints to SPIN, at the first place.
fn about_hints(hints: Vec<Remark>) -> Option<Remark> {
    let times = times(hints.len());
    let mut first = hints.into_iter().next()?;
    first.diagnostic.message += &times;
    Some(first)
}

/// One note for all that is printed, at the first place.
fn about_printing(program: &syntax::Promela) -> Option<Remark> {
    let first = *program.printed.first()?;
    let message = format!(
        "what is printed is left out{}",
        times(program.printed.len())
    );
    let help = "printing is a step that changes nothing, as in SPIN's verifier";
    Some(*remarks::remark(first, Code::LeftOut, message, help))
}

/// Where SPIN goes another way while it checks a formula or a claim: one note for each kind, at the first place.
fn about_claims(program: &syntax::Promela) -> Vec<Remark> {
    if program.formulas.is_empty() && program.claims.is_empty() {
        return Vec::new();
    }
    let kinds = [
        (
            &program.counted,
            "the claim is not counted by `_nr_pr`",
            "SPIN counts it while it checks a formula or a claim, and may then come to another verdict",
        ),
        (
            &program.accepting,
            "cycles through `accept` labels are not looked for beside a formula or a claim",
            "check the program without the formula for them",
        ),
    ];
    let notes = kinds.into_iter().filter_map(|(places, message, help)| {
        let message = format!("{message}{}", times(places.len()));
        Some(*remarks::remark(
            *places.first()?,
            Code::LeftOut,
            message,
            help,
        ))
    });
    notes.collect()
}
