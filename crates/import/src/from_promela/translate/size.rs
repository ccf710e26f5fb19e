//! Whether a model is small enough to be checked.
//!
//! A model that is well written may still grow beyond all bounds when it is unfolded into steps: one step for each way through an atomic
//! sequence, one copy of a guard for each process. Whoever checks it would be told so in terms of the model; here it is said in
//! terms of the program.

use crate::Remark;
use std::collections::BTreeMap;
use std::sync::Arc;
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{Program, Span};
use threadwise_model::instance::Instance;
use threadwise_model::lower::{MAX_PATHS, lower};

/// No template of a model that comes from Promela grows.
const CAPACITY: u32 = 1;

/// Says where a model is too large; `lines` are those of the original for each line of the text, and `original` is that of its own file.
pub(super) fn check(
    program: Program,
    text: &str,
    lines: &[Option<u32>],
    original: &str,
) -> Result<(), Vec<Remark>> {
    let lowered = Instance::new(Arc::new(program), &BTreeMap::new())
        .and_then(|instance| lower(&instance, CAPACITY));
    let Err(errors) = lowered else {
        return Ok(());
    };
    Err(errors
        .first()
        .map(|error| remark(error, text, lines, original))
        .into_iter()
        .collect())
}

fn remark(error: &Diagnostic, text: &str, lines: &[Option<u32>], original: &str) -> Remark {
    let upto = (error.span.start as usize).min(text.len());
    let number = text.as_bytes()[..upto]
        .iter()
        .filter(|b| **b == b'\n')
        .count();
    // What comes from no line in particular has the place of what stands before it.
    let line = lines
        .iter()
        .take(number + 1)
        .rev()
        .find_map(|line| *line)
        .unwrap_or(1);
    let (message, help) = match error.code {
        Code::TooManyPaths => (
            format!("more than {MAX_PATHS} ways through one atomic sequence"),
            "split the sequence, or let it choose less often".to_owned(),
        ),
        Code::ExpansionTooLarge => (
            "a program whose model grows too large here".to_owned(),
            "use fewer processes, or simpler guards; `timeout` and rendezvous ask about all processes at once".to_owned(),
        ),
        _ => (
            format!("a program whose model is too large: {}", error.message),
            "use smaller arrays, fewer processes or fewer values".to_owned(),
        ),
    };
    Remark {
        file: 0,
        diagnostic: Diagnostic::new(
            Code::Unsupported,
            span_of(original, line),
            format!("not supported: {message}"),
        )
        .help(help),
    }
}

/// A line of the program's own file, without the space around it.
fn span_of(text: &str, line: u32) -> Span {
    let mut start = 0;
    for (at, whole) in text.split_inclusive('\n').enumerate() {
        if at as u32 + 1 == line {
            let lead = whole.len() - whole.trim_start().len();
            let start = start + lead;
            return Span {
                start: start as u32,
                end: (start + whole.trim().len()) as u32,
            };
        }
        start += whole.len();
    }
    Span { start: 0, end: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said about a model, with the text of its place in the program.
    fn said(program: &str, text: &str, lines: &[Option<u32>]) -> Option<(String, String)> {
        let model = threadwise_lang::check(text).program.expect("a model");
        let remarks = check(model, text, lines, program).err()?;
        let diagnostic = &remarks[0].diagnostic;
        assert!(diagnostic.help.is_some());
        let span = diagnostic.span;
        let place = &program[span.start as usize..span.end as usize];
        Some((diagnostic.message.clone(), place.to_owned()))
    }

    #[test]
    fn says_where_a_model_grows_too_large() {
        let program = "byte x;\nactive proctype P() {\n  atomic { x = 1 }\n}\n";
        let choices = "choose { x := 0; } or { x := 1; }\n".repeat(13);
        let text = format!("shared x: 0..1 = 0;\nprocess P {{\na: atomic {{\n{choices}}}\n}}\n");
        let mut lines = vec![Some(1), Some(2), Some(3)];
        let (message, place) = said(program, &text, &lines).unwrap();
        assert_eq!(
            message,
            "not supported: more than 4096 ways through one atomic sequence"
        );
        assert_eq!(place, "atomic { x = 1 }");
        // A line without an origin has that of the one before.
        lines[2] = None;
        let (_, place) = said(program, &text, &lines).unwrap();
        assert_eq!(place, "active proctype P() {");
        let small = text.replacen(&choices, "x := 1;\n", 1);
        assert!(said(program, &small, &lines).is_none());
    }

    #[test]
    fn copies_of_a_guard_are_counted() {
        let program = "byte x;\nactive proctype P() {\n  x > 0\n}\n";
        let mut text = "shared x: 0..1 = 0;\ndef d0 = x > 0;\n".to_owned();
        for n in 1..25 {
            text += &format!("def d{n} = d{m} || !d{m};\n", m = n - 1);
        }
        let mut lines = vec![Some(1); 26];
        lines.extend([Some(2), Some(3)]);
        text += "process P {\na: await d24;\n}\n";
        let (message, place) = said(program, &text, &lines).unwrap();
        assert!(message.contains("grows too large here"), "{message}");
        // It is said where the limit is reached: in the definitions.
        assert_eq!(place, "byte x;");
    }
}
