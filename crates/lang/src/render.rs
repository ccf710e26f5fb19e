//! Draws diagnostics over the source.

use crate::diagnostics::{Diagnostic, Severity};
use crate::program::Span;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

/// More source than this around one message is not drawn; the place is still named.
const MAX_EXCERPT: usize = 20_000;

/// Finds lines and columns in a text.
#[derive(Debug)]
pub struct LineIndex {
    /// Where each line begins.
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        LineIndex {
            starts: std::iter::once(0)
                .chain(newlines.map(|(at, _)| at as u32 + 1))
                .collect(),
        }
    }

    /// The line of a byte, counted from 1.
    pub fn line(&self, at: u32) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// The line and the column in characters of a byte, both counted from 1.
    pub fn position(&self, text: &str, at: u32) -> (usize, usize) {
        let line = self.line(at);
        let start = self.starts[line - 1] as usize;
        let before = text.get(start..at as usize).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// Where a line begins, for a line counted from 1; past the last line, the end.
    fn start(&self, line: usize, text: &str) -> usize {
        self.starts
            .get(line - 1)
            .map_or(text.len(), |start| *start as usize)
    }
}

/// Draws one message: code, excerpt, cause, help.
pub fn render(
    diagnostic: &Diagnostic,
    path: &str,
    text: &str,
    lines: &LineIndex,
    colour: bool,
) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(diagnostic.message.clone())
        .id(diagnostic.code.as_str());
    let spans =
        || std::iter::once(diagnostic.span).chain(diagnostic.related.iter().map(|(span, _)| *span));
    let first = spans()
        .map(|span| lines.line(span.start))
        .min()
        .unwrap_or(1);
    let last = spans()
        .map(|span| lines.line(span.end.max(span.start + 1) - 1))
        .max()
        .unwrap_or(1);
    let (from, to) = (lines.start(first, text), lines.start(last + 1, text));
    let mut report = Vec::new();
    let mut group = if to - from > MAX_EXCERPT {
        let (line, column) = lines.position(text, diagnostic.span.start);
        title.element(Origin::path(path.to_owned()).line(line).char_column(column))
    } else {
        let excerpt = &text[from..to];
        let range = |span: Span| {
            let start = floor(excerpt, (span.start as usize).saturating_sub(from));
            let end = floor(excerpt, (span.end as usize).saturating_sub(from));
            start..end.max(start)
        };
        let mut snippet = Snippet::source(excerpt)
            .path(path.to_owned())
            .line_start(first)
            .annotation(
                AnnotationKind::Primary
                    .span(range(diagnostic.span))
                    .label(diagnostic.label.clone()),
            );
        for (span, label) in &diagnostic.related {
            snippet = snippet.annotation(
                AnnotationKind::Context
                    .span(range(*span))
                    .label(label.clone()),
            );
        }
        title.element(snippet)
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.clone()));
    }
    report.push(group);
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.render(&report)
}

/// The last character boundary at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
