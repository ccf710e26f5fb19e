//! Where a model comes from that was written in another language: its text there, and which line each line of the model comes from.
//!
//! Everything inside speaks of the model's lines. What leaves a [`Session`](crate::Session) speaks of the original's: people wrote that.

use threadwise_evidence::{Ending, Trace};
use threadwise_lang::diagnostics::Diagnostic;
use threadwise_lang::program::{Directive, Span};
use threadwise_lang::render::LineIndex;

/// The program that a model was made from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Its text.
    pub text: String,
    /// For each line of the model, the line of the original, from 1.
    pub lines: Vec<Option<u32>>,
}

impl Origin {
    /// The line of the original that a line of the model comes from, or the nearest one before it that has one. Both from 1.
    pub fn line(&self, line: u32) -> Option<u32> {
        let before = self.lines.get(..(line as usize).min(self.lines.len()))?;
        before.iter().rev().find_map(|line| *line)
    }

    /// The same for a place in the model's text.
    pub(crate) fn line_at(&self, model: &LineIndex, at: u32) -> Option<u32> {
        self.line(u32::try_from(model.line(at)).unwrap_or(u32::MAX))
    }

    /// Makes the lines of a trace those of the original.
    pub(crate) fn trace(&self, trace: &mut Trace) {
        let moved = |line: &mut Option<u32>| *line = line.and_then(|line| self.line(line));
        for step in &mut trace.steps {
            moved(&mut step.line);
        }
        match &mut trace.ending {
            Ending::Check { line, .. } => moved(line),
            Ending::Invariant {
                fails: Some(failed),
            } => moved(&mut failed.line),
            Ending::Invariant { fails: None } | Ending::Deadlock | Ending::End => {}
        }
        if let Some(lasso) = &mut trace.lasso {
            for part in &mut lasso.violated {
                moved(&mut part.line);
                part.fails
                    .iter_mut()
                    .for_each(|failed| moved(&mut failed.line));
            }
            lasso
                .fairness
                .iter_mut()
                .for_each(|assumed| moved(&mut assumed.line));
        }
    }

    /// A message about the model as one about the lines of the original.
    pub(crate) fn diagnostic(&self, model: &str, mut diagnostic: Diagnostic) -> Diagnostic {
        let lines = LineIndex::new(model);
        let moved = |span: Span| self.whole_line(self.line_at(&lines, span.start).unwrap_or(1));
        diagnostic.span = moved(diagnostic.span);
        for (span, _) in &mut diagnostic.related {
            *span = moved(*span);
        }
        diagnostic.fix = None;
        diagnostic
    }

    /// The text of a line, without the space around it.
    fn whole_line(&self, number: u32) -> Span {
        let mut start = 0;
        for (position, line) in self.text.split_inclusive('\n').enumerate() {
            if position + 1 == number as usize {
                let text = line.trim();
                start += line.len() - line.trim_start().len();
                return Span {
                    start: start as u32,
                    end: (start + text.len()) as u32,
                };
            }
            start += line.len();
        }
        Span { start: 0, end: 0 }
    }

    /// What the original says is expected of it: comments that begin `//@`, alone in their lines.
    pub(crate) fn directives(&self) -> Vec<Directive> {
        let mut start = 0;
        let mut found = Vec::new();
        for line in self.text.split_inclusive('\n') {
            let at = start + line.len() - line.trim_start().len();
            if let Some(text) = line.trim().strip_prefix("//@") {
                let span = Span {
                    start: at as u32,
                    end: (at + line.trim().len()) as u32,
                };
                found.push(Directive {
                    span,
                    text: text.trim().to_owned(),
                });
            }
            start += line.len();
        }
        found
    }
}
