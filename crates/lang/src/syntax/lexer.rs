//! Text to tokens. Every byte belongs to exactly one token, so the tree is lossless; a character
//! that begins no token becomes a [`SyntaxKind::BadToken`] and an error.

use super::kind::SyntaxKind;
use crate::diagnostics::{Code, Diagnostic};
use crate::program::Span;

/// A token: its kind and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: SyntaxKind,
    /// Where it is.
    pub span: Span,
}

/// Cuts a text into tokens.
pub fn lex(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    // Some editors begin a file with a byte order mark.
    if text.starts_with('\u{feff}') {
        at = '\u{feff}'.len_utf8();
        tokens.push(Token {
            kind: SyntaxKind::Whitespace,
            span: Span {
                start: 0,
                end: at as u32,
            },
        });
    }
    while at < text.len() {
        let (kind, len) = next_token(&text[at..]);
        let span = Span {
            start: at as u32,
            end: (at + len) as u32,
        };
        match kind {
            _ if kind != SyntaxKind::BadToken && foreign(&text[at..]).is_some() => {
                let written = &text[at..at + len];
                let meant = kind.text().unwrap_or_default();
                let found = Diagnostic::new(
                    Code::BadCharacter,
                    span,
                    format!("`{written}` is written `{meant}`"),
                );
                // A keyword may not grow together with what follows it.
                let next = text[at + len..].chars().next();
                let apart = kind.is_keyword() && next.is_some_and(|next| !next.is_whitespace());
                let before = text[..at].chars().next_back();
                let behind =
                    kind.is_keyword() && before.is_some_and(|before| !before.is_whitespace());
                let space = |wanted| if wanted { " " } else { "" };
                diagnostics.push(found.label(format!("write `{meant}`")).fix(format!(
                    "{}{meant}{}",
                    space(behind),
                    space(apart)
                )));
            }
            SyntaxKind::BadToken => diagnostics.push(bad_character(&text[at..at + len], span)),
            SyntaxKind::BlockComment if !text[at..at + len].ends_with("*/") || len < 4 => {
                diagnostics.push(
                    Diagnostic::new(
                        Code::UnterminatedComment,
                        Span {
                            start: span.start,
                            end: span.start + 2,
                        },
                        "this comment is never closed",
                    )
                    .label("opened here")
                    .help("end it with `*/`"),
                )
            }
            _ => {}
        }
        tokens.push(Token { kind, span });
        at += len;
    }
    tokens
}

fn bad_character(text: &str, span: Span) -> Diagnostic {
    let first = text.chars().next().unwrap_or_default();
    if text.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Diagnostic::new(
            Code::BadCharacter,
            span,
            format!("`{text}` has letters that names cannot have"),
        )
        .label("names are made of a to z, A to Z, 0 to 9 and _");
    }
    if first == '"' {
        let found = Diagnostic::new(Code::BadCharacter, span, "the language has no strings");
        return found
            .label("a string")
            .help("for a value, declare an enumeration: `enum Phase { idle, busy }`; leave out what prints");
    }
    let help = match first {
        '\'' => Some("there are no characters, and no primes: `x := e` gives `x` its next value"),
        '^' => Some("there are no operators on bits, and no powers"),
        _ => None,
    };
    let diagnostic = Diagnostic::new(
        Code::BadCharacter,
        span,
        format!("unexpected character {text:?}"),
    )
    .label("no token begins with this");
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Operators of other languages and of mathematics that begin no token of ours, and what they are here. The longest come first.
const FOREIGN: &[(&str, SyntaxKind)] = &[
    ("===", SyntaxKind::EqEq),
    ("!==", SyntaxKind::NotEq),
    ("<=>", SyntaxKind::DoubleArrow),
    ("=/=", SyntaxKind::NotEq),
    ("\\in", SyntaxKind::InKw),
    ("/\\", SyntaxKind::AndAnd),
    ("\\/", SyntaxKind::OrOr),
    ("\\A", SyntaxKind::ForallKw),
    ("\\E", SyntaxKind::ExistsKw),
    ("=>", SyntaxKind::Arrow),
    ("=<", SyntaxKind::LessEq),
    ("&", SyntaxKind::AndAnd),
    ("|", SyntaxKind::OrOr),
    ("~", SyntaxKind::Bang),
    ("#", SyntaxKind::NotEq),
    ("@", SyntaxKind::AtKw),
    ("∧", SyntaxKind::AndAnd),
    ("∨", SyntaxKind::OrOr),
    ("¬", SyntaxKind::Bang),
    ("≠", SyntaxKind::NotEq),
    ("≤", SyntaxKind::LessEq),
    ("≥", SyntaxKind::GreaterEq),
    ("→", SyntaxKind::Arrow),
    ("⇒", SyntaxKind::Arrow),
    ("∀", SyntaxKind::ForallKw),
    ("∃", SyntaxKind::ExistsKw),
    ("∈", SyntaxKind::InKw),
];

/// Such an operator at the beginning of a text: what it is here, and its length.
fn foreign(text: &str) -> Option<(SyntaxKind, usize)> {
    if text.starts_with("&&") || text.starts_with("||") {
        return None;
    }
    let found = FOREIGN
        .iter()
        .find(|(theirs, _)| text.starts_with(theirs))?;
    Some((found.1, found.0.len()))
}

/// The kind and the length in bytes of the token that a non-empty text begins with.
fn next_token(text: &str) -> (SyntaxKind, usize) {
    use SyntaxKind::*;
    if let Some(found) = foreign(text) {
        return found;
    }
    if let Some(rest) = text.strip_prefix('"') {
        let line = rest.split('\n').next().unwrap_or_default();
        // A string ends on its line, or it is only a quote.
        return (BadToken, line.find('"').map_or(1, |end| end + 2));
    }
    let bytes = text.as_bytes();
    let run = |accept: fn(u8) -> bool| bytes.iter().take_while(|b| accept(**b)).count();
    match bytes[0] {
        b' ' | b'\t' | b'\r' | b'\n' => (Whitespace, run(|b| b" \t\r\n".contains(&b))),
        b'0'..=b'9' => (Number, run(|b| b.is_ascii_digit() || b == b'_')),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
            let len = run(|b| b.is_ascii_alphanumeric() || b == b'_');
            match word_length(text) {
                whole if whole > len => (BadToken, whole),
                _ => (SyntaxKind::keyword(&text[..len]).unwrap_or(Name), len),
            }
        }
        b'/' if bytes.starts_with(b"//") => (LineComment, text.find('\n').unwrap_or(text.len())),
        b'/' if bytes.starts_with(b"/*") => (
            BlockComment,
            text[2..].find("*/").map_or(text.len(), |end| end + 4),
        ),
        _ => {
            const THREE: &[SyntaxKind] = &[DoubleArrow];
            const TWO: &[SyntaxKind] = &[
                Becomes, DotDot, EqEq, NotEq, LessEq, GreaterEq, AndAnd, OrOr, Arrow,
            ];
            const ONE: &[SyntaxKind] = &[
                Semicolon, Comma, Colon, Dot, LBracket, RBracket, LBrace, RBrace, LParen, RParen,
                Question, Equals, Less, Greater, Plus, Minus, Star, Slash, Percent, Bang,
            ];
            for kinds in [THREE, TWO, ONE] {
                for &kind in kinds {
                    let token = kind.text().unwrap_or_default();
                    if text.starts_with(token) {
                        return (kind, token.len());
                    }
                }
            }
            let first = text.chars().next().map_or(1, char::len_utf8);
            (BadToken, word_length(text).max(first))
        }
    }
}

/// The length in bytes of the letters and digits of any script that a text begins with.
fn word_length(text: &str) -> usize {
    text.char_indices()
        .find(|(_, c)| !c.is_alphanumeric() && *c != '_')
        .map_or(text.len(), |(end, _)| end)
}
