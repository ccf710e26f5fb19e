//! What could be written at the cursor.
//!
//! The word before the one that is being typed says what belongs there: labels behind `at` and `goto`, the locals of a template behind
//! `P[i].`, types behind a colon, and so on. Otherwise it is a declaration, a statement or an expression, and which
//! names are known there the index of names says.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use threadwise_lang::names::{Names, Symbol, SymbolId, SymbolKind};
use threadwise_lang::syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

use super::built_in;
use super::document::{Document, token_span};
use super::hover::declaration;

/// What may stand at the cursor.
enum Context {
    /// Nothing that could be guessed: a comment, a number, a name that is being declared.
    Nothing,
    /// A declaration.
    Item,
    /// A statement; locals, too, as long as there is no statement.
    Statement,
    /// A value.
    Expression,
    /// A type.
    Type,
    /// What a bound variable ranges over.
    Domain,
    /// A label of a template; with `done`, unless it is to go to.
    Label(Option<String>, bool),
    /// A local variable of a template.
    Field(Option<String>),
    /// A template.
    Template,
    /// A fairness.
    Fairness,
    /// A fairness term.
    FairnessTerm,
}

const ITEMS: &[&str] = &[
    "param",
    "enum",
    "record",
    "type",
    "shared",
    "process",
    "ordered",
    "ring",
    "def",
    "macro",
    "invariant",
    "deadlock_free",
    "fairness",
    "liveness",
    "exception",
    "initially",
];
const STATEMENTS: &[&str] = &[
    "await", "assert", "skip", "stay", "havoc", "if", "else", "choose", "or", "while", "loop",
    "for", "break", "goto", "return", "atomic", "lock", "unlock", "start", "local",
];
const VALUES: &[&str] = &[
    "true", "false", "none", "forall", "exists", "count", "sum", "min", "max", "at", "any",
];
const TYPES: &[&str] = &["bool", "int", "mutex", "array", "queue"];
const TERMS: &[&str] = &["unconditional", "weak", "strong"];

pub(super) fn complete(document: &Document, at: u32) -> Value {
    let analysis = document.analysis();
    let (start, left) = left_of(document, at);
    let context = context(left.as_ref(), start);
    let mut items = Items {
        document,
        seen: BTreeSet::new(),
        items: Vec::new(),
    };
    let names = &analysis.names;
    let visible = |symbol: &Symbol| symbol.scope.start <= start && start <= symbol.scope.end;
    let global = |kinds: &'static [SymbolKind]| {
        names
            .symbols()
            .filter(move |(_, symbol)| kinds.contains(&symbol.kind))
    };
    use SymbolKind::*;
    match context {
        Context::Nothing => {}
        Context::Item => items.words(ITEMS),
        Context::Statement | Context::Expression => {
            for (_, symbol) in names.symbols() {
                let known = match symbol.kind {
                    Macro => matches!(context, Context::Statement),
                    Label | Fairness | Property => false,
                    _ => visible(symbol),
                };
                if known {
                    items.symbol(symbol);
                }
            }
            for known in built_in::functions() {
                items.built_in(known);
            }
            items.words(match context {
                Context::Statement => STATEMENTS,
                _ => VALUES,
            });
        }
        Context::Type => {
            for (_, symbol) in global(&[Enum, Type, Process, Param]) {
                items.symbol(symbol);
            }
            items.words(TYPES);
        }
        Context::Domain => {
            for (_, symbol) in global(&[Enum, Type, Process, Param]) {
                items.symbol(symbol);
            }
        }
        Context::Label(template, done) => {
            items.owned(names, template.as_deref(), start, &[Label]);
            if let Some(known) = built_in::about("done").filter(|_| done) {
                items.built_in(known);
            }
        }
        Context::Field(template) => {
            items.owned(names, template.as_deref(), start, &[Local, Counter]);
        }
        Context::Template => {
            for (_, symbol) in global(&[Process]) {
                items.symbol(symbol);
            }
        }
        Context::Fairness => {
            for (_, symbol) in global(&[SymbolKind::Fairness]) {
                items.symbol(symbol);
            }
        }
        Context::FairnessTerm => items.words(TERMS),
    }
    json!({ "isIncomplete": false, "items": items.items })
}

/// Where the word that is being typed begins, and the token before it that is no space; comments are tokens here.
fn left_of(document: &Document, at: u32) -> (u32, Option<SyntaxToken>) {
    let before = &document.text[..at as usize];
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = before.trim_end_matches(word).len() as u32;
    let tree = &document.analysis().tree;
    let end = tree.text_range().end();
    let mut token = tree.token_at_offset(end.min(start.into())).left_biased();
    // At the beginning of a token, the one before it is to the left.
    while let Some(found) = &token {
        let span = token_span(found);
        if span.start < start && found.kind() != SyntaxKind::Whitespace {
            break;
        }
        token = found.prev_token();
    }
    (start, token)
}

/// The token before another one that is neither space nor comment.
fn before(token: &SyntaxToken) -> Option<SyntaxToken> {
    let mut found = token.prev_token();
    while let Some(token) = found {
        if !token.kind().is_trivia() {
            return Some(token);
        }
        found = token.prev_token();
    }
    None
}

/// The nodes around a token, innermost first.
fn around(token: &SyntaxToken) -> impl Iterator<Item = SyntaxNode> {
    token.parent_ancestors()
}

fn context(left: Option<&SyntaxToken>, start: u32) -> Context {
    use SyntaxKind as K;
    let Some(left) = left else {
        return Context::Item;
    };
    let span = token_span(left);
    let comment = match left.kind() {
        // The end of a line ends such a comment, and the text of the token does not hold it.
        K::LineComment => span.end >= start,
        K::BlockComment => span.end > start || !left.text().ends_with("*/"),
        _ => false,
    };
    if comment {
        return Context::Nothing;
    }
    let left = match left.kind().is_trivia() {
        true => match before(left) {
            Some(token) => token,
            None => return Context::Item,
        },
        false => left.clone(),
    };
    let inside = |kind: K| around(&left).any(|node| node.kind() == kind);
    let parent = left.parent().map(|node| node.kind());
    match left.kind() {
        K::Dot => Context::Field(process_before(&left)),
        K::AtKw => Context::Label(process_before(&left), true),
        K::GotoKw => Context::Label(template_around(&left), false),
        K::StartKw => Context::Template,
        // Without the template it may be a name as well.
        K::Name if left.text() == "start" && begins_statement(&left) => Context::Template,
        K::InKw | K::DotDot => Context::Domain,
        K::LBracket if before(&left).is_some_and(|token| token.kind() == K::ArrayKw) => {
            Context::Domain
        }
        K::OfKw => Context::Type,
        K::UnderKw => Context::Fairness,
        K::LBrace | K::Comma if parent == Some(K::AtExpr) => {
            let at = around(&left).next().and_then(|node| {
                let tokens = node.children_with_tokens();
                let mut tokens = tokens.filter_map(|part| part.into_token());
                tokens.find(|token| token.kind() == K::AtKw)
            });
            Context::Label(at.as_ref().and_then(process_before), true)
        }
        K::Comma if parent == Some(K::Liveness) => Context::Fairness,
        K::Comma if parent == Some(K::FairList) => Context::FairnessTerm,
        K::Comma if parent == Some(K::CallExpr) => match label_argument(&left) {
            Some(template) => Context::Label(template, false),
            None => Context::Expression,
        },
        K::Colon => match parent {
            Some(K::Shared | K::Local | K::DefParam) => Context::Type,
            Some(K::Label) => Context::Statement,
            Some(K::Fairness) => Context::FairnessTerm,
            Some(K::ProcessIds) => Context::Domain,
            _ => Context::Expression,
        },
        K::OrKw if inside(K::Fairness) => Context::FairnessTerm,
        K::Equals if parent == Some(K::Alias) => Context::Type,
        K::Semicolon | K::LBrace | K::RBrace | K::ElseKw => {
            let closed = left.kind() == K::RBrace || left.kind() == K::Semicolon;
            // What a token ends is no longer around the cursor.
            let ended = |node: &SyntaxNode| closed && node.text_range().end() <= start.into();
            let mut open = around(&left).filter(|node| !ended(node));
            match open.find(|node| {
                matches!(
                    node.kind(),
                    K::Process | K::Block | K::Exception | K::Enum | K::File
                )
            }) {
                Some(node) if matches!(node.kind(), K::Process | K::Block) => Context::Statement,
                Some(node) if node.kind() == K::Exception => Context::Expression,
                Some(node) if node.kind() == K::Enum => Context::Nothing,
                _ => Context::Item,
            }
        }
        // The name of something new.
        K::ParamKw
        | K::EnumKw
        | K::TypeKw
        | K::SharedKw
        | K::LocalKw
        | K::ProcessKw
        | K::DefKw
        | K::MacroKw
        | K::InvariantKw
        | K::LivenessKw
        | K::FairnessKw
        | K::ForallKw
        | K::ExistsKw
        | K::CountKw
        | K::SumKw
        | K::ForKw => Context::Nothing,
        K::OrderedKw | K::RingKw => Context::Nothing,
        K::Number | K::BadToken => Context::Nothing,
        _ => Context::Expression,
    }
}

/// Whether a token is the first of a statement.
fn begins_statement(token: &SyntaxToken) -> bool {
    use SyntaxKind::{Colon, LBrace, RBrace, Semicolon};
    before(token).is_some_and(|left| matches!(left.kind(), Colon | LBrace | RBrace | Semicolon))
}

/// The name of the template in `P[..]` or `P` that ends before a token.
fn process_before(token: &SyntaxToken) -> Option<String> {
    let mut depth = 0usize;
    let mut found = before(token)?;
    loop {
        match found.kind() {
            SyntaxKind::RBracket => depth += 1,
            SyntaxKind::LBracket => depth = depth.checked_sub(1)?,
            SyntaxKind::Name if depth == 0 => return Some(found.text().to_owned()),
            SyntaxKind::Semicolon | SyntaxKind::LBrace | SyntaxKind::RBrace => return None,
            _ if depth == 0 => return None,
            _ => {}
        }
        found = before(&found)?;
    }
}

/// The template or macro around a token, by the name of a template.
fn template_around(token: &SyntaxToken) -> Option<String> {
    let process = around(token).find(|node| node.kind() == SyntaxKind::Process)?;
    let tokens = process.children_with_tokens();
    let mut tokens = tokens.filter_map(|part| part.into_token());
    let name = tokens.find(|token| token.kind() == SyntaxKind::Name)?;
    Some(name.text().to_owned())
}

/// If a comma leads to the second argument of `enabled` or `taken`: the template of the first.
fn label_argument(comma: &SyntaxToken) -> Option<Option<String>> {
    let call = comma.parent()?;
    let callee = call.first_token()?;
    let wanted = matches!(callee.text(), "enabled" | "taken");
    wanted.then(|| process_before(comma))
}

struct Items<'a> {
    document: &'a Document,
    seen: BTreeSet<String>,
    items: Vec<Value>,
}

impl Items<'_> {
    fn words(&mut self, words: &[&str]) {
        const KEYWORD: u64 = 14;
        for word in words {
            if self.seen.insert((*word).to_owned()) {
                self.items.push(json!({
                    "label": word,
                    "kind": KEYWORD,
                    "sortText": format!("3{word}"),
                }));
            }
        }
    }

    fn built_in(&mut self, known: &built_in::BuiltIn) {
        const FUNCTION: u64 = 3;
        if self.seen.insert(known.name.to_owned()) {
            self.items.push(json!({
                "label": known.name,
                "kind": FUNCTION,
                "detail": known.form,
                "documentation": { "kind": "markdown", "value": known.about },
                "sortText": format!("2{}", known.name),
            }));
        }
    }

    fn symbol(&mut self, symbol: &Symbol) {
        if !self.seen.insert(symbol.name.clone()) {
            return;
        }
        let detail = declaration(self.document, symbol);
        let detail = detail.lines().next().unwrap_or_default();
        // What is known only here is what is meant most often.
        let near = if symbol.scope.end == u32::MAX { 1 } else { 0 };
        self.items.push(json!({
            "label": symbol.name,
            "kind": kind(symbol.kind),
            "detail": detail,
            "sortText": format!("{near}{}", symbol.name),
        }));
    }

    /// What belongs to a template; of labels in a macro, where there is no template, those of the macro.
    fn owned(&mut self, names: &Names, template: Option<&str>, at: u32, kinds: &[SymbolKind]) {
        let owner: Option<SymbolId> = template.and_then(|template| {
            let found = names
                .symbols()
                .find(|(_, symbol)| symbol.kind == SymbolKind::Process && symbol.name == template);
            found.map(|(id, _)| id)
        });
        for (_, symbol) in names.symbols() {
            let here = match (template, owner) {
                (Some(_), Some(owner)) => symbol.owners.contains(&owner),
                (Some(_), None) => false,
                (None, _) => symbol.scope.start <= at && at <= symbol.scope.end,
            };
            if here && kinds.contains(&symbol.kind) {
                self.symbol(symbol);
            }
        }
    }
}

/// The kinds that editors have pictures for.
fn kind(kind: SymbolKind) -> u64 {
    match kind {
        SymbolKind::Param | SymbolKind::Counter => 21,
        SymbolKind::Enum => 13,
        SymbolKind::Member => 20,
        SymbolKind::Type => 22,
        SymbolKind::Local | SymbolKind::Field => 5,
        SymbolKind::Process => 7,
        SymbolKind::Def | SymbolKind::Macro => 3,
        SymbolKind::Label | SymbolKind::Fairness | SymbolKind::Property => 18,
        SymbolKind::Shared
        | SymbolKind::OwnId
        | SymbolKind::Bound
        | SymbolKind::DefParam
        | SymbolKind::MacroParam => 6,
    }
}

/// The form of the call around the cursor, and which of its arguments is being typed.
pub(super) fn signature(document: &Document, at: u32) -> Value {
    let analysis = document.analysis();
    let mut depth = 0usize;
    let mut argument = 0usize;
    let (_, mut token) = left_of(document, at);
    while let Some(found) = token {
        match found.kind() {
            SyntaxKind::RParen | SyntaxKind::RBracket => depth += 1,
            SyntaxKind::LBracket if depth == 0 => return Value::Null,
            SyntaxKind::LBracket => depth -= 1,
            SyntaxKind::Comma if depth == 0 => argument += 1,
            SyntaxKind::Semicolon | SyntaxKind::LBrace | SyntaxKind::RBrace => return Value::Null,
            SyntaxKind::LParen if depth > 0 => depth -= 1,
            SyntaxKind::LParen => {
                let Some(callee) = before(&found).filter(|token| token.kind() == SyntaxKind::Name)
                else {
                    // Parentheses around a part of an argument.
                    argument = 0;
                    token = before(&found);
                    continue;
                };
                let symbol = analysis.names.resolved(token_span(&callee)).next();
                let label = match (symbol, built_in::about(callee.text())) {
                    (Some(id), _) => {
                        let symbol = analysis.names.symbol(id);
                        let text = declaration(document, symbol);
                        let end = text.find(')').map_or(text.len(), |end| end + 1);
                        let start = text.find(symbol.name.as_str()).unwrap_or(0);
                        text.get(start..end).unwrap_or_default().to_owned()
                    }
                    (None, Some(known)) => known.form.to_owned(),
                    (None, None) => return Value::Null,
                };
                let inner = label.split_once('(').map_or("", |(_, inner)| inner);
                let inner = inner.trim_end_matches(')');
                let parameters: Vec<Value> = inner
                    .split(',')
                    .map(|part| json!({ "label": part.trim() }))
                    .collect();
                return json!({
                    "signatures": [{ "label": label, "parameters": parameters }],
                    "activeSignature": 0,
                    "activeParameter": argument,
                });
            }
            _ => {}
        }
        token = before(&found);
    }
    Value::Null
}
