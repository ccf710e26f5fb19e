//! C with threads in, and the templates of the literature's programs about any number of threads.
//!
//! The way of a program: `preprocess` expands its macros, `parse` makes trees of it with a parser for C, `lower` inlines its functions and splits
//! statements into steps, `interval` finds out which values there can be, and `emit` builds the program. What cannot be brought over exactly is refused, with its place.

mod beginning;
mod classes;
mod conclude;
mod dead;
mod emit;
mod forward;
mod functions;
mod interval;
mod ir;
mod lexer;
mod lower;
mod narrow;
mod parse;
mod reduce;
mod source;
#[cfg(test)]
mod tests;
mod tidy;
mod types;
mod uninitialised;
mod unset;

use std::collections::HashSet;

use threadwise_lang::validate::Rule;

use crate::front::preprocess::{Token, constant, preprocess};
use crate::front::source::Sources;
use crate::{Imported, Outcome, Settings};
pub use functions::{FUNCTIONS, Function, Treatment};
use source::{At, Built};
pub use types::DataModel;

/// How integers of C are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// Mathematical, and where a value of a signed type leaves its type a check fails; unsigned values wrap around. Where there
    /// may be any number of threads, what only very many of them could make overflow is not checked, and a note says so.
    Mathematical,
    /// Of the machine's width: unsigned values and conversions wrap around, and so do signed values.
    Machine,
}

/// What C leaves to the machine, and to whoever reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How integers behave.
    pub integers: Integers,
    /// How wide types are.
    pub data_model: DataModel,
}

/// The parser and what follows it call themselves for what is nested.
const STACK: usize = 512 << 20;

/// Brings a C program, or a program of templates, over. `name` is that of its file, for messages.
pub fn from_c(name: &str, text: &str, reading: Reading, settings: &mut Settings<'_>) -> Outcome {
    let mut sources = Sources::new(name, text);
    let result = preprocess(&lexer::dialect(reading.data_model), &mut sources, settings).and_then(
        |tokens| {
            let sources = &sources;
            std::thread::scope(|scope| {
                let builder = std::thread::Builder::new().stack_size(STACK);
                let handle =
                    builder.spawn_scoped(scope, move || translate(name, tokens, reading, sources));
                match handle.map(|handle| handle.join()) {
                    Ok(Ok(result)) => result,
                    _ => internal("the front end failed"),
                }
            })
        },
    );
    Outcome {
        files: sources.files(),
        result: result.map_err(|remark| vec![*remark]),
    }
}

fn translate(
    name: &str,
    tokens: Vec<Token>,
    reading: Reading,
    sources: &Sources,
) -> Built<Imported> {
    let parsed = parse::parse(tokens)?;
    let lowered = lower::lower(&parsed, reading)?;
    let (mut model, mut notes) = (lowered.model, lowered.notes);
    uninitialised::settle(&mut model);
    unset::postpone(&mut model);
    dead::remove(&mut model, &HashSet::new());
    narrow::narrow(&mut model);
    // What loops do first is known only now, and less is alive then; with that, more is known about values.
    let entered = conclude::conclude(&mut model.clone(), &mut Vec::new())?;
    dead::remove(&mut model, &entered);
    narrow::narrow(&mut model);
    conclude::conclude(&mut model, &mut notes)?;
    tidy::processes(&mut model);
    beginning::move_inputs(&mut model);
    reduce::reduce(&mut model);
    join_gates(&mut model);
    notes.sort_by_key(|note| (note.file, note.diagnostic.span.start));
    notes.dedup();
    let title = name
        .rsplit('/')
        .next()
        .unwrap_or(name)
        .replace(['\n', '\r'], " ");
    let built = emit::emit(&model, reading.data_model, sources, &title)?;
    sources
        .imported(built, notes)
        .or_else(|invalid| match invalid.rule {
            Rule::Depth => {
                let help = "write smaller functions and shorter expressions";
                source::unsupported(At::default(), "the program is nested too deeply", help)
            }
            rule => internal(&format!("what was built is not a program: {rule}")),
        })
}

/// A thread that waits until it is made does its first step in that step: it can wait nowhere else.
fn join_gates(model: &mut ir::Model) {
    use ir::{Statement, StatementKind};
    for process in model.processes.iter_mut().skip(1) {
        if !model.has_main || process.body.len() < 2 {
            continue;
        }
        let gate = matches!(&process.body[0].kind, StatementKind::Await(_));
        let step = match &process.body[1].kind {
            StatementKind::Assign(place, _) => model.variables[place.var.0].owner.is_none(),
            StatementKind::Lock(_) | StatementKind::Atomic(_) => true,
            _ => false,
        };
        if gate && step {
            let mut gate = process.body.remove(0);
            let Statement { at, kind } = process.body.remove(0);
            // Who follows a run sees the step where it does something.
            gate.at = at;
            let mut code = vec![gate];
            match kind {
                StatementKind::Atomic(inner) => code.extend(inner),
                kind => code.push(Statement { at, kind }),
            }
            let kind = StatementKind::Atomic(code);
            process.body.insert(0, Statement { at, kind });
        }
    }
}

fn internal<T>(message: &str) -> Built<T> {
    let message = format!("internal error: {message}");
    source::unsupported(
        At::default(),
        message,
        "please report this with the program",
    )
}
