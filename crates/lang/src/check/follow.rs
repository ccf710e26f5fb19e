//! One mistake, one message: what the checker says only because the parser could not read something is dropped.
//!
//! Such are messages about the statement or declaration that could not be read; about names that stand in text that was skipped, or that a
//! declaration with a mistake may have declared; and about the control flow of a process of which statements are missing.
//! Nothing is accepted for it: a text with a syntax error is refused whatever the checker says.

use crate::diagnostics::{Code, Diagnostic};
use crate::program::Span;
use crate::syntax::{SyntaxElement, SyntaxKind, SyntaxNode, child, span};
use rowan::{TextRange, TextSize};
use std::collections::BTreeSet;

/// Drops what follows from syntax errors.
pub(super) fn without_consequences(
    tree: &SyntaxNode,
    syntax: &[Diagnostic],
    found: &mut Vec<Diagnostic>,
) {
    // After these the parser has read what was meant.
    let harmless = [Code::MissingSemicolon, Code::AssignmentOperator];
    let confusing = syntax.iter();
    let confusing = confusing.filter(|error| !harmless.contains(&error.code));
    let confusing = Places::of(confusing.map(|error| error.span).collect());
    if confusing.reached.is_empty() {
        return;
    }
    let lost = lost_names(tree, &confusing);
    let text = tree.text().to_string();
    found.retain(|diagnostic| {
        let place = around(tree, diagnostic.span);
        let unit = place.as_ref().and_then(unit);
        let hurt = |within: Span| confusing.touch(within);
        if unit.is_some_and(hurt) {
            return false;
        }
        let flow = diagnostic.code.as_str().starts_with("E03");
        let process = place.iter().flat_map(SyntaxNode::ancestors);
        let mut process = process.filter(|node| node.kind() == SyntaxKind::Process);
        if flow && process.next().is_some_and(|node| hurt(span(&node))) {
            return false;
        }
        let about = text
            .get(diagnostic.span.start as usize..diagnostic.span.end as usize)
            .unwrap_or_default();
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = about.split(|c| !letter(c)).find(|word| !word.is_empty());
        !word.is_some_and(|word| lost.contains(word))
    });
}

/// The names in text that was skipped, and those that a declaration with a mistake declares.
fn lost_names(tree: &SyntaxNode, confusing: &Places) -> BTreeSet<String> {
    let mut lost = BTreeSet::new();
    for node in tree.descendants() {
        let head = match node.kind() {
            SyntaxKind::Error => None,
            SyntaxKind::Shared
            | SyntaxKind::Local
            | SyntaxKind::Param
            | SyntaxKind::Alias
            | SyntaxKind::Enum
            | SyntaxKind::Record
            | SyntaxKind::Def => Some(span(&node)),
            SyntaxKind::Process => Some(until(&node, SyntaxKind::LBrace)),
            _ => continue,
        };
        if head.is_some_and(|head| !confusing.touch(head)) {
            continue;
        }
        let whole = head.unwrap_or(span(&node));
        lost.extend(
            node.descendants_with_tokens()
                .filter_map(SyntaxElement::into_token)
                .filter(|token| token.kind() == SyntaxKind::Name)
                .filter(|token| u32::from(token.text_range().start()) < whole.end)
                .map(|token| token.text().to_owned()),
        );
    }
    lost
}

/// The innermost node around a place.
fn around(tree: &SyntaxNode, place: Span) -> Option<SyntaxNode> {
    let range = TextRange::new(TextSize::new(place.start), TextSize::new(place.end));
    if !tree.text_range().contains_range(range) {
        return None;
    }
    match tree.covering_element(range) {
        SyntaxElement::Node(node) => Some(node),
        SyntaxElement::Token(token) => token.parent(),
    }
}

/// The statement or declaration that a node is in, without the blocks in it.
fn unit(node: &SyntaxNode) -> Option<Span> {
    let found = node.ancestors().find(|node| {
        node.kind().is_statement()
            || matches!(
                node.kind(),
                SyntaxKind::Shared
                    | SyntaxKind::Local
                    | SyntaxKind::Param
                    | SyntaxKind::Alias
                    | SyntaxKind::Enum
                    | SyntaxKind::Record
                    | SyntaxKind::Def
                    | SyntaxKind::Invariant
                    | SyntaxKind::Liveness
                    | SyntaxKind::Fairness
                    | SyntaxKind::Exception
                    | SyntaxKind::Initially
                    | SyntaxKind::ProcessIds
            )
    })?;
    Some(match child(&found, SyntaxKind::Block) {
        Some(block) => Span {
            end: span(&block).start,
            ..span(&found)
        },
        None => span(&found),
    })
}

/// From the beginning of a node to its first token of a kind.
fn until(node: &SyntaxNode, kind: SyntaxKind) -> Span {
    let whole = span(node);
    let end = crate::syntax::token(node, kind).map(|token| token.text_range().start().into());
    Span {
        end: end.unwrap_or(whole.end),
        ..whole
    }
}

/// Places of errors, by their beginnings, each with the end of the last one so far: there may be very many.
struct Places {
    reached: Vec<(u32, u32)>,
}

impl Places {
    fn of(mut places: Vec<Span>) -> Places {
        places.sort_by_key(|place| place.start);
        let mut end = 0;
        let reached = places.into_iter().map(|place| {
            end = place.end.max(end);
            (place.start, end)
        });
        Places {
            reached: reached.collect(),
        }
    }

    /// Whether one of them is within something, its end included: what is missing is missing there.
    fn touch(&self, within: Span) -> bool {
        let before = self
            .reached
            .partition_point(|(start, _)| *start <= within.end);
        self.reached[..before]
            .last()
            .is_some_and(|(_, end)| *end >= within.start)
    }
}
