//! From a name to its declaration and to its uses.

use serde_json::{Value, json};
use threadwise_lang::names::SymbolId;
use threadwise_lang::program::Span;

use super::document::Document;

/// What the name at a byte stands for.
fn symbols(document: &Document, at: u32) -> Vec<SymbolId> {
    let found = document.analysis().names.at(at);
    found.map(|(_, ids)| ids).unwrap_or_default()
}

pub(super) fn definition(document: &Document, at: u32) -> Value {
    let names = &document.analysis().names;
    symbols(document, at)
        .into_iter()
        .map(|id| document.location(names.symbol(id).span))
        .collect()
}

/// The places of what the name at a byte stands for, each once, and whether it is a declaration.
fn places(document: &Document, at: u32) -> Vec<(Span, bool)> {
    let names = &document.analysis().names;
    let ids = symbols(document, at);
    let mut places: Vec<(Span, bool)> = ids
        .iter()
        .flat_map(|id| names.places_of(*id).map(|span| (span, *id)))
        .map(|(span, id)| (span, names.symbol(id).span == span))
        .collect();
    places.sort();
    places.dedup();
    places
}

pub(super) fn references(document: &Document, at: u32, declarations: bool) -> Value {
    places(document, at)
        .into_iter()
        .filter(|(_, declaration)| declarations || !declaration)
        .map(|(span, _)| document.location(span))
        .collect()
}

pub(super) fn highlights(document: &Document, at: u32) -> Value {
    const READ: u64 = 2;
    const WRITE: u64 = 3;
    places(document, at)
        .into_iter()
        .map(|(span, declaration)| {
            let kind = if declaration { WRITE } else { READ };
            json!({ "range": document.range(span), "kind": kind })
        })
        .collect()
}
