//! Text to tokens, with what the later passes need to know of the layout: where a line begins.
//!
//! Nothing is an error here but a comment without its end: text that a conditional leaves out may hold anything. What is no
//! token is a [`Kind::Stray`], and an error once it is used.

use std::sync::Arc;

use crate::front::preprocess::{self, Dialect};
use crate::front::remarks::{Parsed, malformed};
use crate::front::source::At;

pub(crate) use crate::front::preprocess::Kind;

/// The language of the preprocessor.
pub(crate) const DIALECT: Dialect = Dialect {
    tokens,
    defined: &[],
    header: |_, _| None,
    unknown_header: "headers of the system are not read: write `#include \"FILE\"` for a file of your own",
};

/// A token of the program, after preprocessing.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub at: At,
    pub kind: Kind,
    pub text: Arc<str>,
    /// First of its line: where most semicolons may be left out.
    pub breaks: bool,
    /// Which call of an inline it comes from; 0 for none.
    pub call: u32,
    /// The brace that opens the body of a call.
    pub opens_call: bool,
}

impl From<preprocess::Token> for Token {
    fn from(token: preprocess::Token) -> Token {
        Token {
            at: token.at,
            kind: token.kind,
            text: token.text,
            breaks: token.first,
            call: 0,
            opens_call: false,
        }
    }
}

impl Token {
    pub(crate) fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && &*self.text == sign
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && &*self.text == word
    }

    /// A sign that stands nowhere in the text, at the place given.
    pub(crate) fn sign(at: At, sign: &str, call: u32) -> Token {
        Token {
            at,
            kind: Kind::Sign,
            text: sign.into(),
            breaks: false,
            call,
            opens_call: false,
        }
    }

    /// How a message names it.
    pub(crate) fn shown(&self) -> String {
        preprocess::shown(&self.text)
    }
}

/// Longest first. Those of formulas do not occur elsewhere, so the lexer need not know where it is.
const SIGNS: &[&str] = &[
    "<->", "...", "::", "->", "--", "++", "<<", ">>", "<=", ">=", "==", "!=", "!!", "??", "&&",
    "||", "..", "[]", "<>", "/\\", "\\/", "##", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "?", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "@", "#",
];

/// Where a line that was broken with a backslash goes on, if one is broken here.
fn continued(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    if rest.starts_with('\n') {
        Some(2)
    } else if rest.starts_with("\r\n") {
        Some(3)
    } else {
        None
    }
}

/// The tokens of one file.
fn tokens(text: &str, file: u32) -> Parsed<Vec<preprocess::Token>> {
    let mut out = Vec::new();
    let mut at = 0;
    let (mut first, mut spaced) = (true, false);
    while let Some(character) = text[at..].chars().next() {
        let rest = &text[at..];
        let place = |length: usize| At {
            file,
            start: at as u32,
            end: (at + length) as u32,
        };
        if character == '\n' {
            (first, spaced) = (true, true);
            at += 1;
            continue;
        }
        if let Some(length) = continued(rest) {
            at += length;
            continue;
        }
        if character.is_whitespace() || character == '\u{feff}' {
            spaced = true;
            at += character.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            spaced = true;
            at += line_comment(rest);
            continue;
        }
        if let Some(inside) = rest.strip_prefix("/*") {
            spaced = true;
            match inside.find("*/") {
                Some(length) => at += length + 4,
                None => {
                    return Err(malformed(
                        place(2),
                        "this comment has no end",
                        "close it with `*/`",
                    ));
                }
            }
            continue;
        }
        let (kind, length) = token(rest, character);
        // SPIN reads an arrow with a long shaft as an arrow.
        let arrow = rest.starts_with("-->");
        let length = if arrow { 3 } else { length };
        let shown = if arrow { "->" } else { &rest[..length] };
        out.push(preprocess::Token {
            first,
            spaced,
            ..preprocess::Token::new(kind, shown, place(length))
        });
        (first, spaced) = (false, false);
        at += length;
    }
    Ok(out)
}

fn line_comment(text: &str) -> usize {
    let mut at = 0;
    while let Some(length) = text[at..].find('\n') {
        let line = &text[at..at + length];
        at += length;
        if !line.trim_end_matches('\r').ends_with('\\') {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The token that text begins with, by its kind and length.
fn token(text: &str, first: char) -> (Kind, usize) {
    let many = |wanted: fn(char) -> bool| text.find(|c| !wanted(c)).unwrap_or(text.len());
    if first.is_ascii_digit() {
        return (Kind::Number, many(|c| c.is_ascii_digit()));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return (Kind::Word, many(|c| c.is_ascii_alphanumeric() || c == '_'));
    }
    if first == '"' || first == '\'' {
        let mut escaped = false;
        for (index, c) in text.char_indices().skip(1) {
            if c == '\n' {
                return (Kind::Stray, index);
            }
            if c == first && !escaped {
                return (
                    if first == '"' {
                        Kind::Text
                    } else {
                        Kind::Character
                    },
                    index + 1,
                );
            }
            escaped = c == '\\' && !escaped;
        }
        return (Kind::Stray, text.len());
    }
    match SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        // `/` in front of a broken line.
        Some(&"/\\") if continued(&text[1..]).is_some() => (Kind::Sign, 1),
        Some(sign) => (Kind::Sign, sign.len()),
        None => (Kind::Stray, first.len_utf8()),
    }
}
