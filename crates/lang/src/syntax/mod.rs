//! The lossless syntax tree: every byte of the text, comments included, in nodes named after the
//! grammar. It is built even from a text with errors, which the diagnostics then list.

mod expressions;
mod habits;
mod items;
mod kind;
mod lexer;
mod parser;
mod statements;
mod words;

pub(crate) use habits::{foreign_statement, foreign_type};
pub use kind::{SyntaxKind, Threadwise};
pub use parser::{MAX_NESTING, Parse, parse};

/// Whether a word is a keyword wherever it stands, so that it can name nothing but a property.
pub fn is_keyword(word: &str) -> bool {
    SyntaxKind::keyword(word).is_some_and(|kind| !words::is_contextual(kind))
}

use crate::program::Span;

/// A node of the syntax tree.
pub type SyntaxNode = rowan::SyntaxNode<Threadwise>;
/// A token of the syntax tree.
pub type SyntaxToken = rowan::SyntaxToken<Threadwise>;
/// A node or a token of the syntax tree.
pub type SyntaxElement = rowan::SyntaxElement<Threadwise>;

/// The bytes of a node. Nodes begin and end with a token that is no comment or space.
pub(crate) fn span(node: &SyntaxNode) -> Span {
    let range = node.text_range();
    Span {
        start: range.start().into(),
        end: range.end().into(),
    }
}

/// The bytes of a token.
pub(crate) fn token_span(token: &SyntaxToken) -> Span {
    let range = token.text_range();
    Span {
        start: range.start().into(),
        end: range.end().into(),
    }
}

/// The first token of a kind directly in a node.
pub(crate) fn token(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxToken> {
    tokens(node).find(|token| token.kind() == kind)
}

/// The tokens directly in a node, without spaces and comments.
pub(crate) fn tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    node.children_with_tokens()
        .filter_map(SyntaxElement::into_token)
        .filter(|token| !token.kind().is_trivia())
}

/// The names directly in a node.
pub(crate) fn names(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    tokens(node).filter(|token| token.kind() == SyntaxKind::Name)
}

/// The first child node of a kind.
pub(crate) fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.children().find(|child| child.kind() == kind)
}

/// The expressions directly in a node.
pub(crate) fn exprs(node: &SyntaxNode) -> impl Iterator<Item = SyntaxNode> {
    node.children().filter(|child| child.kind().is_expr())
}
