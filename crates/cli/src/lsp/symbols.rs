//! The names that a document declares, its parts that can be folded, and the kinds of its names for colours.

use serde_json::{Value, json};
use threadwise_lang::names::{Symbol, SymbolId, SymbolKind};
use threadwise_lang::program::Span;
use threadwise_lang::syntax::{SyntaxElement, SyntaxKind, SyntaxNode};

use super::document::{Document, node_span, token_span};
use super::hover::declaration;

/// The kinds that editors have pictures for.
fn kind(kind: SymbolKind) -> u64 {
    match kind {
        SymbolKind::Param => 14,
        SymbolKind::Enum => 10,
        SymbolKind::Member => 22,
        SymbolKind::Type => 26,
        SymbolKind::Process => 5,
        SymbolKind::Local | SymbolKind::Counter | SymbolKind::Field => 8,
        SymbolKind::Def | SymbolKind::Macro => 12,
        SymbolKind::Label => 20,
        SymbolKind::Fairness | SymbolKind::Property => 7,
        SymbolKind::Shared
        | SymbolKind::OwnId
        | SymbolKind::Bound
        | SymbolKind::DefParam
        | SymbolKind::MacroParam => 13,
    }
}

/// Whether a symbol is worth listing.
fn listed(symbol: &Symbol) -> bool {
    !matches!(
        symbol.kind,
        SymbolKind::OwnId | SymbolKind::Bound | SymbolKind::DefParam | SymbolKind::MacroParam
    )
}

/// The declaration that a name stands in: the statement of a label, the item of anything else.
fn extent(document: &Document, symbol: &Symbol) -> Span {
    let token = document.analysis().name_at(symbol.span.start);
    let node = token.and_then(|token| token.parent());
    let node = match node {
        Some(node) if node.kind() == SyntaxKind::Label => node.parent(),
        node => node,
    };
    match (node, symbol.kind) {
        (Some(node), kind) if kind != SymbolKind::Member => node_span(&node),
        _ => symbol.span,
    }
}

/// The symbols of a document as a tree.
pub(super) fn tree(document: &Document) -> Value {
    let names = &document.analysis().names;
    let all: Vec<(SymbolId, &Symbol)> = (names.symbols())
        .filter(|(_, symbol)| listed(symbol))
        .collect();
    let extents: Vec<Span> = all
        .iter()
        .map(|(_, symbol)| extent(document, symbol))
        .collect();
    let top = |symbol: &Symbol| symbol.scope.end == u32::MAX && symbol.kind != SymbolKind::Member;
    let mut out: Vec<(Span, Value)> = Vec::new();
    for ((_, symbol), span) in all.iter().zip(&extents) {
        let detail = declaration(document, symbol);
        let mut entry = json!({
            "name": symbol.name,
            "detail": detail.lines().next().unwrap_or_default(),
            "kind": kind(symbol.kind),
            "range": document.range(*span),
            "selectionRange": document.range(symbol.span),
        });
        if top(symbol) {
            entry["children"] = json!([]);
            out.push((*span, entry));
            continue;
        }
        // Symbols are in the order of the text, so what holds this one is the last that began.
        if let Some((outer, parent)) = out.last_mut()
            && outer.start <= symbol.span.start
            && symbol.span.end <= outer.end
            && let Some(children) = parent["children"].as_array_mut()
        {
            children.push(entry);
        }
    }
    out.into_iter().map(|(_, entry)| entry).collect()
}

/// The symbols of a document as a list, those that match a query.
pub(super) fn list(document: &Document, query: &str) -> Vec<Value> {
    let names = &document.analysis().names;
    let query = query.to_lowercase();
    let wanted = |symbol: &Symbol| symbol.name.to_lowercase().contains(&query);
    names
        .symbols()
        .filter(|(_, symbol)| listed(symbol) && wanted(symbol))
        .map(|(_, symbol)| {
            let mut entry = json!({
                "name": symbol.name,
                "kind": kind(symbol.kind),
                "location": document.location(symbol.span),
            });
            if let Some(owner) = symbol.owners.first() {
                entry["containerName"] = json!(names.symbol(*owner).name);
            }
            entry
        })
        .collect()
}

/// What can be folded: blocks of several lines, and comments of several lines.
pub(super) fn folding(document: &Document) -> Value {
    let tree = &document.analysis().tree;
    let mut out = Vec::new();
    let lines = |span: Span| (document.line_of(span.start), document.line_of(span.end));
    let mut run: Option<(usize, usize)> = None;
    let finish = |run: &mut Option<(usize, usize)>, out: &mut Vec<Value>| {
        if let Some((first, last)) = run.take().filter(|(first, last)| last > first) {
            out.push(json!({ "startLine": first, "endLine": last, "kind": "comment" }));
        }
    };
    // With tokens: stepping from node to node alone takes longer the more siblings there are.
    for element in tree.descendants_with_tokens() {
        let token = match element {
            SyntaxElement::Token(token) => token,
            SyntaxElement::Node(node) => {
                let braces = matches!(
                    node.kind(),
                    SyntaxKind::Process
                        | SyntaxKind::Block
                        | SyntaxKind::Enum
                        | SyntaxKind::Exception
                );
                let (first, last) = lines(node_span(&node));
                // The line of the closing brace stays visible.
                if braces && last > first + 1 {
                    out.push(json!({ "startLine": first, "endLine": last - 1 }));
                }
                continue;
            }
        };
        match token.kind() {
            SyntaxKind::LineComment | SyntaxKind::BlockComment => {
                let (first, last) = lines(token_span(&token));
                run = match run {
                    Some((begun, until)) if first <= until + 1 => Some((begun, last)),
                    _ => {
                        finish(&mut run, &mut out);
                        Some((first, last))
                    }
                };
            }
            SyntaxKind::Whitespace => {}
            _ => finish(&mut run, &mut out),
        }
    }
    finish(&mut run, &mut out);
    Value::Array(out)
}

/// The kinds of names, as editors colour them.
pub(super) const TOKEN_TYPES: &[&str] = &[
    "parameter",
    "enum",
    "enumMember",
    "type",
    "variable",
    "property",
    "class",
    "function",
    "macro",
    "label",
];
/// What else is known of a name.
pub(super) const TOKEN_MODIFIERS: &[&str] = &["declaration", "readonly"];

fn token_type(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Param | SymbolKind::DefParam | SymbolKind::MacroParam => "parameter",
        SymbolKind::Enum => "enum",
        SymbolKind::Member => "enumMember",
        SymbolKind::Type => "type",
        SymbolKind::Shared | SymbolKind::OwnId | SymbolKind::Bound => "variable",
        SymbolKind::Local | SymbolKind::Counter | SymbolKind::Field => "property",
        SymbolKind::Process => "class",
        SymbolKind::Def | SymbolKind::Fairness | SymbolKind::Property => "function",
        SymbolKind::Macro => "macro",
        SymbolKind::Label => "label",
    }
}

/// The kinds of all names, in the compressed form of the protocol: five numbers a name, places relative to the one before.
pub(super) fn tokens(document: &Document) -> Value {
    let names = &document.analysis().names;
    let mut data: Vec<usize> = Vec::new();
    let mut last = (0, 0);
    let mut done = None;
    for (span, id) in names.places() {
        // One name is one token, also if it stands for several things.
        if done == Some(*span) {
            continue;
        }
        done = Some(*span);
        let symbol = names.symbol(*id);
        let (line, column) = document.place(span.start);
        let (_, end) = document.place(span.end);
        let name = token_type(symbol.kind);
        let number = TOKEN_TYPES.iter().position(|known| *known == name);
        let declaration = usize::from(symbol.span == *span);
        let readonly = usize::from(matches!(
            symbol.kind,
            SymbolKind::Param | SymbolKind::Member | SymbolKind::OwnId | SymbolKind::Bound
        ));
        let from = if line == last.0 { last.1 } else { 0 };
        data.extend([
            line - last.0,
            column - from,
            end - column,
            number.unwrap_or(0),
            declaration | readonly << 1,
        ]);
        last = (line, column);
    }
    json!({ "data": data })
}

/// The properties of a document: the name, and the place to say something about it.
pub(super) fn properties(document: &Document) -> Vec<(String, Span)> {
    let tree = &document.analysis().tree;
    let name = |item: SyntaxNode| {
        let tokens = item.children_with_tokens();
        let mut tokens = tokens.filter_map(|part| part.into_token());
        match item.kind() {
            SyntaxKind::Deadlock => tokens.next(),
            SyntaxKind::Invariant | SyntaxKind::Liveness => {
                tokens.find(|token| token.kind() == SyntaxKind::Name)
            }
            _ => None,
        }
    };
    let items = tree.children_with_tokens();
    items
        .filter_map(|item| item.into_node())
        .filter_map(name)
        .map(|token| (token.text().to_owned(), token_span(&token)))
        .collect()
}
