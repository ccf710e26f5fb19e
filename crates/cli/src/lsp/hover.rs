//! What there is to say about the name under the cursor: its declaration, what it is, the comment above it; of a label also the steps
//! that begin there and what a proof says holds there.

use serde_json::{Value, json};
use threadwise_lang::names::{Symbol, SymbolKind};
use threadwise_lang::next_labels;
use threadwise_lang::program::Span;
use threadwise_lang::syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

use super::built_in;
use super::document::{Document, node_span, token_span};

/// More of a declaration than this is not shown.
const MOST_LINES: usize = 12;

pub(super) fn hover(document: &Document, at: u32) -> Value {
    let analysis = document.analysis();
    let Some((span, ids)) = analysis.names.at(at) else {
        return built_in_word(document, at);
    };
    let parts: Vec<String> = ids
        .iter()
        .map(|id| describe(document, analysis.names.symbol(*id)))
        .collect();
    json!({
        "contents": { "kind": "markdown", "value": parts.join("\n\n---\n\n") },
        "range": document.range(span),
    })
}

/// A built-in function, or the location `done`.
fn built_in_word(document: &Document, at: u32) -> Value {
    let Some(token) = document.analysis().token(at) else {
        return Value::Null;
    };
    match built_in::about(token.text()).filter(|_| token.kind() == SyntaxKind::Name) {
        Some(known) => json!({
            "contents": {
                "kind": "markdown",
                "value": format!("{}{}", code(known.form), known.about),
            },
            "range": document.range(token_span(&token)),
        }),
        None => Value::Null,
    }
}

/// Source text as Markdown.
fn code(text: &str) -> String {
    format!("```threadwise\n{text}\n```\n")
}

/// A symbol in Markdown.
fn describe(document: &Document, symbol: &Symbol) -> String {
    let names = &document.analysis().names;
    let mut out = code(&declaration(document, symbol));
    let owners: Vec<String> = symbol
        .owners
        .iter()
        .map(|owner| format!("`{}`", names.symbol(*owner).name))
        .collect();
    out.push_str(symbol.kind.words());
    if !owners.is_empty() {
        out.push_str(&format!(" of {}", owners.join(", ")));
    }
    if let Some(ty) = &symbol.ty {
        out.push_str(&format!(": {ty}"));
    }
    if let Some(comment) = comment_above(document, symbol) {
        out.push_str(&format!("\n\n{comment}"));
    }
    if symbol.kind == SymbolKind::Label {
        for owner in &symbol.owners {
            out.push_str(&steps(document, symbol, &names.symbol(*owner).name));
        }
    }
    out
}

/// The node that a name is declared in.
fn declaring(document: &Document, symbol: &Symbol) -> Option<(SyntaxToken, SyntaxNode)> {
    let token = document.analysis().name_at(symbol.span.start)?;
    Some((token.clone(), token.parent()?))
}

/// The declaration as written, the part of it that is about the name.
pub(super) fn declaration(document: &Document, symbol: &Symbol) -> String {
    let Some((token, node)) = declaring(document, symbol) else {
        return symbol.name.clone();
    };
    let first = |kind: SyntaxKind| {
        let mut parts = node.children_with_tokens();
        parts.find(|part| part.kind() == kind)
    };
    let until = |kind: SyntaxKind| {
        let end = first(kind).map_or(node.text_range().end(), |part| part.text_range().start());
        let start = node_span(&node).start;
        document.at(Span {
            start,
            end: end.into(),
        })
    };
    let text = match node.kind() {
        // Several variables may share a declaration.
        SyntaxKind::Shared | SyntaxKind::Local => {
            let word = document.at(Span {
                start: node_span(&node).start,
                end: token_span(&token).start,
            });
            let word = word.split_whitespace().next().unwrap_or_default();
            let ty = first(SyntaxKind::Colon).map_or("", |colon| {
                document.at(Span {
                    start: colon.text_range().start().into(),
                    end: node_span(&node).end,
                })
            });
            format!("{word} {}{ty}", symbol.name)
        }
        SyntaxKind::Process | SyntaxKind::Macro if symbol.kind == SymbolKind::MacroParam => {
            symbol.name.clone()
        }
        SyntaxKind::Process | SyntaxKind::Macro => {
            let end = node
                .children()
                .find(|part| part.kind() == SyntaxKind::Block);
            match end {
                Some(block) => document
                    .at(Span {
                        start: node_span(&node).start,
                        end: node_span(&block).start,
                    })
                    .to_owned(),
                None => until(SyntaxKind::LBrace).to_owned(),
            }
        }
        SyntaxKind::ProcessIds | SyntaxKind::For | SyntaxKind::ChooseIn | SyntaxKind::Group => {
            let domain = node
                .children()
                .find(|part| part.kind() == SyntaxKind::Domain);
            let between = match node.kind() {
                SyntaxKind::ProcessIds => ":",
                _ => " in",
            };
            match domain {
                Some(domain) => format!(
                    "{}{between} {}",
                    symbol.name,
                    document.at(node_span(&domain))
                ),
                None => symbol.name.clone(),
            }
        }
        SyntaxKind::Label => {
            let statement = node.parent().unwrap_or(node);
            document.at(node_span(&statement)).to_owned()
        }
        _ => document.at(node_span(&node)).to_owned(),
    };
    shorten(text.trim().trim_end_matches(';').trim_end())
}

/// The first lines of a text, indented as little as they all allow.
fn shorten(text: &str) -> String {
    let indent = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = indent.map(|line| line.len() - line.trim_start().len());
    let indent = indent.min().unwrap_or(0);
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| match number {
        0 => line,
        _ => line.get(indent..).unwrap_or_default(),
    });
    let mut kept: Vec<&str> = lines.take(MOST_LINES).collect();
    if text.lines().count() > MOST_LINES {
        kept.push("..");
    }
    kept.join("\n")
}

/// The comment on the lines directly above a declaration.
fn comment_above(document: &Document, symbol: &Symbol) -> Option<String> {
    let (_, node) = declaring(document, symbol)?;
    // What is declared inside something has no comment of its own, but for members, locals and labels.
    let node = match node.kind() {
        SyntaxKind::Label => node.parent()?,
        SyntaxKind::Enum if symbol.kind == SymbolKind::Member => return None,
        SyntaxKind::Group | SyntaxKind::DefParam | SyntaxKind::ProcessIds => return None,
        SyntaxKind::For | SyntaxKind::ChooseIn => return None,
        _ if symbol.kind == SymbolKind::MacroParam => return None,
        _ => node,
    };
    let mut lines = Vec::new();
    let mut before = node.first_token()?.prev_token();
    while let Some(token) = before {
        let text = token.text();
        match token.kind() {
            SyntaxKind::Whitespace if text.matches('\n').count() <= 1 => {}
            SyntaxKind::LineComment if !text.starts_with("//@") => {
                lines.push(text.trim_start_matches('/').trim().to_owned());
            }
            SyntaxKind::BlockComment => {
                let inner = text.trim_start_matches("/*").trim_end_matches("*/");
                let inner = inner
                    .lines()
                    .map(|line| line.trim().trim_start_matches('*'));
                lines.push(inner.collect::<Vec<_>>().join("\n").trim().to_owned());
            }
            _ => break,
        }
        before = token.prev_token();
    }
    // A comment behind the code of the line above is about that line.
    if let Some(token) = before_comments(&node)
        && !token.text().contains('\n')
        && lines.len() == 1
    {
        return None;
    }
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What stands before the comment above a node, if that is code on the same line.
fn before_comments(node: &SyntaxNode) -> Option<SyntaxToken> {
    let mut token = node.first_token()?.prev_token()?;
    while matches!(token.kind(), SyntaxKind::Whitespace) && token.text().contains('\n') {
        token = token.prev_token()?;
    }
    if token.kind() != SyntaxKind::LineComment {
        return None;
    }
    let before = token.prev_token()?;
    match before.kind() {
        SyntaxKind::Whitespace if before.text().contains('\n') => None,
        SyntaxKind::LineComment | SyntaxKind::BlockComment => None,
        _ => Some(before),
    }
}

/// Where the steps from a label lead, and what holds there.
fn steps(document: &Document, label: &Symbol, template: &str) -> String {
    let mut out = String::new();
    if let Some(program) = &document.analysis().program
        && let Some((id, found)) =
            (program.templates.iter_enumerated()).find(|(_, known)| known.name == template)
        && let Some((location, _)) =
            (found.locations.iter_enumerated()).find(|(_, known)| known.span == label.span)
    {
        let next: Vec<String> = next_labels(program, id, location)
            .into_iter()
            .map(|next| format!("`{}`", found.locations[next].name))
            .collect();
        if !next.is_empty() {
            out.push_str(&format!(
                "\n\nA step of `{template}` leads from `{}` to {}.",
                label.name,
                next.join(", ")
            ));
        }
    }
    for (property, outcome) in &document.outcomes {
        let facts = outcome.facts_at(template, &label.name);
        if facts.is_empty() {
            continue;
        }
        let stale = match outcome.is_about(&document.text) {
            true => "",
            false => ", before the last change",
        };
        out.push_str(&format!(
            "\n\nBy the proof of `{property}`{}{stale}, here holds:\n",
            outcome.instance
        ));
        for fact in facts {
            out.push_str(&format!("- `{fact}`\n"));
        }
    }
    out
}
