//! Changes that the server proposes: the layout of `threadwise fmt`, and what fixes a mistake.

use serde_json::{Value, json};
use threadwise_lang::diagnostics::Severity;
use threadwise_lang::program::Span;

use super::document::Document;
use super::messages;

/// The change that brings a text into its canonical layout; none for a text with syntax errors.
pub(super) fn format(document: &Document) -> Value {
    if !document.analysable() {
        return Value::Null;
    }
    let Ok(new) = threadwise_lang::format(&document.text) else {
        return Value::Null;
    };
    let old = &*document.text;
    if *old == new {
        return json!([]);
    }
    // Only what differs, so that cursors and marks elsewhere stay where they are.
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b);
    let mut start = same.count();
    while !(old.is_char_boundary(start) && new.is_char_boundary(start)) {
        start -= 1;
    }
    let rest = old[start..].bytes().rev().zip(new[start..].bytes().rev());
    let mut end = rest.take_while(|(a, b)| a == b).count();
    // Not between the two characters of a line break, either: a position cannot say that.
    while !old.is_char_boundary(old.len() - end)
        || !new.is_char_boundary(new.len() - end)
        || old[..old.len() - end].ends_with('\r')
    {
        end -= 1;
    }
    if old[..start].ends_with('\r') {
        start -= 1;
    }
    let span = Span {
        start: start as u32,
        end: (old.len() - end) as u32,
    };
    json!([{ "range": document.range(span), "newText": &new[start..new.len() - end] }])
}

/// What fixes the mistakes in a part of the text.
pub(super) fn actions(document: &Document, part: Span) -> Value {
    let diagnostics = &document.analysis().diagnostics;
    let touches = |span: Span| span.start <= part.end && part.start <= span.end;
    let mut out = Vec::new();
    for diagnostic in diagnostics {
        let Some(fix) = &diagnostic.fix else { continue };
        if !touches(diagnostic.span) && !touches(fix.span) {
            continue;
        }
        let title = match document.at(fix.span) {
            "" => format!("Insert `{}`", fix.text),
            old => format!("Change `{old}` to `{}`", fix.text),
        };
        out.push(json!({
            "title": title,
            "kind": "quickfix",
            "isPreferred": diagnostic.severity() == Severity::Error,
            "diagnostics": [messages::message(document, diagnostic)],
            "edit": { "changes": { &document.uri: [{
                "range": document.range(fix.span),
                "newText": fix.text,
            }] } },
        }));
    }
    Value::Array(out)
}
