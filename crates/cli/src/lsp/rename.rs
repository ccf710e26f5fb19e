//! A new name for what the cursor is on.
//!
//! The new text is checked before it is proposed: every name in it must stand for what it stood for, and there must be no new message. So
//! clashes, captures and words that become operators need no rules of their own here; they only need a clear refusal.

use serde_json::{Value, json};
use threadwise_lang::built_in;
use threadwise_lang::names::{SymbolId, SymbolKind};
use threadwise_lang::program::Span;
use threadwise_lang::syntax::{SyntaxKind, SyntaxToken, is_keyword};

use super::document::{Analysis, Document, token_span};
use super::protocol::Failure;

/// Why a name cannot be changed, or not to that.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("there is no name here")]
    Nothing,
    #[error("`{0}` is a keyword")]
    Keyword(String),
    #[error("`{0}` is built in")]
    BuiltIn(String),
    #[error("`{0}` is not declared, or stands in a part of the text that has errors")]
    Unknown(String),
    #[error(
        "`{0}` is not a name: names are made of a to z, A to Z, 0 to 9 and _, and do not begin with a digit"
    )]
    NotAName(String),
    #[error("the {kind} `{name}` is also called `{other}` (line {line}), which would not follow")]
    OtherName {
        kind: &'static str,
        name: String,
        other: String,
        line: usize,
    },
    #[error("`{name}` in line {line} stands in a part of the text that has errors: fix them first")]
    Unread { name: String, line: usize },
    #[error("with the name `{name}` there would be an error in line {line}: {message}")]
    NewError {
        name: String,
        line: usize,
        message: String,
    },
    #[error("with the name `{name}`, `{word}` in line {line} would stand for something else")]
    Captured {
        name: String,
        word: String,
        line: usize,
    },
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::request_failed(refusal.to_string())
    }
}

/// The place of a name that may be changed.
pub(super) fn prepare(document: &Document, at: u32) -> Result<Value, Failure> {
    let (span, _) = target(document, at)?;
    Ok(json!({ "range": document.range(span), "placeholder": document.at(span) }))
}

fn target(document: &Document, at: u32) -> Result<(Span, Vec<SymbolId>), Refusal> {
    let analysis = document.analysis();
    if let Some(found) = analysis.names.at(at) {
        return Ok(found);
    }
    let token = analysis.token(at).ok_or(Refusal::Nothing)?;
    let word = token.text().to_owned();
    Err(match token.kind() {
        kind if kind.is_keyword() => Refusal::Keyword(word),
        SyntaxKind::Name if super::built_in::about(&word).is_some() => Refusal::BuiltIn(word),
        SyntaxKind::Name => Refusal::Unknown(word),
        _ => Refusal::Nothing,
    })
}

/// The changes that give the name at a byte a new name.
pub(super) fn rename(document: &Document, at: u32, new: &str) -> Result<Value, Failure> {
    let places = changes(document, at, new)?;
    let edits: Vec<Value> = places
        .iter()
        .map(|span| json!({ "range": document.range(*span), "newText": new }))
        .collect();
    Ok(json!({ "changes": { &document.uri: edits } }))
}

/// The places to change.
fn changes(document: &Document, at: u32, new: &str) -> Result<Vec<Span>, Refusal> {
    let names = &document.analysis().names;
    let (_, ids) = target(document, at)?;
    let tied = names.tied(&ids);
    let property = |id: &SymbolId| names.symbol(*id).kind == SymbolKind::Property;
    allowed(new, tied.iter().all(property))?;
    let mut places = Vec::new();
    for id in &tied {
        let symbol = names.symbol(*id);
        for span in names.places_of(*id) {
            if document.at(span) != symbol.name {
                return Err(Refusal::OtherName {
                    kind: symbol.kind.words(),
                    name: symbol.name.clone(),
                    other: document.at(span).to_owned(),
                    line: line(document, span),
                });
            }
            places.push(span);
        }
        unread(document, &symbol.name)?;
    }
    places.sort();
    places.dedup();
    keeps_meaning(document, &places, new)?;
    Ok(places)
}

/// Whether a text can be a name at all.
fn allowed(new: &str, property: bool) -> Result<(), Refusal> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let digit = |c: char| c.is_ascii_digit();
    if new.is_empty() || !new.chars().all(letters) || new.starts_with(digit) {
        return Err(Refusal::NotAName(new.to_owned()));
    }
    // Nothing refers to a property in an expression, so its name may be a keyword.
    if is_keyword(new) && !property {
        return Err(Refusal::Keyword(new.to_owned()));
    }
    if built_in().contains(&new) {
        return Err(Refusal::BuiltIn(new.to_owned()));
    }
    Ok(())
}

/// Refuses if the name also stands somewhere where it was not resolved.
fn unread(document: &Document, name: &str) -> Result<(), Refusal> {
    let analysis = document.analysis();
    if analysis.program.is_some() {
        return Ok(());
    }
    let unread = |token: &SyntaxToken| {
        token.kind() == SyntaxKind::Name
            && token.text() == name
            && analysis.names.resolved(token_span(token)).next().is_none()
    };
    let tokens = analysis.tree.descendants_with_tokens();
    let mut tokens = tokens.filter_map(|element| element.into_token());
    match tokens.find(unread) {
        Some(token) => Err(Refusal::Unread {
            name: name.to_owned(),
            line: line(document, token_span(&token)),
        }),
        None => Ok(()),
    }
}

/// Refuses if something would change but the name.
fn keeps_meaning(document: &Document, places: &[Span], new: &str) -> Result<(), Refusal> {
    let mut text = String::new();
    let mut end = 0;
    for span in places {
        text.push_str(&document.text[end..span.start as usize]);
        text.push_str(new);
        end = span.end as usize;
    }
    text.push_str(&document.text[end..]);
    let (before, after) = (document.analysis(), Analysis::of(&text));
    // All places hold the same name: symbols with several names are not tied.
    let old_length = places.first().map_or(0, |span| span.end - span.start);
    let growth = new.len() as i64 - i64::from(old_length);
    // The place in the new text of one in the old.
    let moved = |at: u32| {
        let earlier = places.partition_point(|span| span.end <= at);
        let grown = places[..earlier].len() as i64 * growth;
        u32::try_from(i64::from(at) + grown).unwrap_or(at)
    };
    let codes = |analysis: &Analysis| -> Vec<(u32, &'static str)> {
        let all = analysis.diagnostics.iter();
        all.map(|d| (d.span.start, d.code.as_str())).collect()
    };
    let known: Vec<(u32, &str)> = codes(before)
        .into_iter()
        .map(|(at, code)| (moved(at), code))
        .collect();
    let fresh = after
        .diagnostics
        .iter()
        .find(|d| !known.contains(&(d.span.start, d.code.as_str())));
    if let Some(error) = fresh {
        let line = text[..error.span.start as usize].matches('\n').count() + 1;
        return Err(Refusal::NewError {
            name: new.to_owned(),
            line,
            message: error.message.clone(),
        });
    }
    // Symbols are numbered in the order of the text, so those of one program are those of the other.
    let (old, new_places) = (before.names.places(), after.names.places());
    for (number, (span, id)) in old.iter().enumerate() {
        let expected = Span {
            start: moved(span.start),
            end: moved(span.end),
        };
        if new_places.get(number) != Some(&(expected, *id)) {
            return Err(Refusal::Captured {
                name: new.to_owned(),
                word: document.at(*span).to_owned(),
                line: line(document, *span),
            });
        }
    }
    Ok(())
}

fn line(document: &Document, span: Span) -> usize {
    document.line_of(span.start) + 1
}
