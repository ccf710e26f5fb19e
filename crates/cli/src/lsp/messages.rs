//! Errors and warnings of a document, and violations that a check of this text found.

use serde_json::{Value, json};
use threadwise_lang::diagnostics::{Diagnostic, Severity};
use threadwise_lang::program::Span;

use super::document::Document;
use super::symbols::properties;

const ERROR: u64 = 1;
const WARNING: u64 = 2;
/// What is never used is shown faded.
const UNNECESSARY: u64 = 1;

/// All there is to say about a document.
pub(super) fn all(document: &Document) -> Value {
    if let Some(text) = document.unknown() {
        let first = Span { start: 0, end: 0 };
        return json!([{
            "range": document.range(first),
            "severity": WARNING,
            "source": "threadwise",
            "message": text,
        }]);
    }
    let diagnostics = document.analysis().diagnostics.iter();
    let mut out: Vec<Value> = diagnostics
        .map(|diagnostic| message(document, diagnostic))
        .collect();
    let places = properties(document);
    for (name, outcome) in &document.outcomes {
        if !outcome.is_about(&document.text) || !outcome.is_violation() {
            continue;
        }
        // The built-in checks have no place of their own: what fails is the last step.
        let place = places.iter().find(|(known, _)| known == name);
        let place = place.map(|(_, span)| *span).unwrap_or_else(|| {
            let last = outcome.steps.last().map_or(1, |step| step.line);
            document.printed_line(last)
        });
        let steps: Vec<Value> = outcome
            .steps
            .iter()
            .map(|step| {
                let at = document.printed_line(step.line);
                json!({ "location": document.location(at), "message": step.text })
            })
            .collect();
        out.push(json!({
            "range": document.range(place),
            "severity": ERROR,
            "code": "violated",
            "source": "threadwise check",
            "message": format!("`{name}` is {}", outcome.summary),
            "relatedInformation": steps,
        }));
    }
    Value::Array(out)
}

/// A message of the front end.
pub(super) fn message(document: &Document, diagnostic: &Diagnostic) -> Value {
    let mut text = diagnostic.message.clone();
    if !diagnostic.label.is_empty() {
        text.push_str(&format!(": {}", diagnostic.label));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    let related: Vec<Value> = diagnostic
        .related
        .iter()
        .map(|(span, text)| json!({ "location": document.location(*span), "message": text }))
        .collect();
    let mut out = json!({
        "range": document.range(diagnostic.span),
        "severity": match diagnostic.severity() {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
        },
        "code": diagnostic.code.as_str(),
        "source": "threadwise",
        "message": text,
        "relatedInformation": related,
    });
    if diagnostic.code.slug().starts_with("unused") {
        out["tags"] = json!([UNNECESSARY]);
    }
    out
}
