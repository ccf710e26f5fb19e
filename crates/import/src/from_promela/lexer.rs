//! Text to tokens, with what the later passes need to know of the layout: where a line begins.
//!
//! Nothing is an error here but a comment without its end: text that a conditional leaves out may hold anything. What is no
//! token is a [`Kind::Stray`], and an error once the parser sees it.

use std::rc::Rc;

use super::remarks::{Parsed, malformed};
use super::syntax::At;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    Number,
    /// `'a'`.
    Character,
    /// `"text"`.
    Text,
    /// An operator or a bracket.
    Sign,
    /// Not a token of Promela.
    Stray,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub at: At,
    pub kind: Kind,
    pub text: Rc<str>,
    /// First of its line: where most semicolons may be left out.
    pub breaks: bool,
    /// A macro's name inside its own expansion: stays as it is.
    pub frozen: bool,
    /// Which call of an inline it comes from; 0 for none.
    pub call: u32,
    /// The brace that opens the body of a call.
    pub opens_call: bool,
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
            frozen: false,
            call,
            opens_call: false,
        }
    }

    /// How a message names it.
    pub(crate) fn shown(&self) -> String {
        if self.text.chars().count() > 40 {
            return format!("`{}..`", self.text.chars().take(40).collect::<String>());
        }
        format!("`{}`", self.text)
    }
}

/// Longest first. Those of formulas do not occur elsewhere, so the lexer need not know where it is.
const SIGNS: &[&str] = &[
    "<->", "::", "->", "--", "++", "<<", ">>", "<=", ">=", "==", "!=", "!!", "??", "&&", "||",
    "..", "[]", "<>", "/\\", "\\/", "##", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?",
    "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "@", "#",
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
pub(crate) fn tokens(text: &str, file: u32) -> Parsed<Vec<Token>> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut breaks = true;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let place = |length: usize| At {
            file,
            start: at as u32,
            end: (at + length) as u32,
        };
        if first == '\n' {
            breaks = true;
            at += 1;
            continue;
        }
        if let Some(length) = continued(rest) {
            at += length;
            continue;
        }
        if first.is_whitespace() || first == '\u{feff}' || first == '\0' {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += line_comment(rest);
            continue;
        }
        if let Some(inside) = rest.strip_prefix("/*") {
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
        let (kind, length) = token(rest, first);
        // SPIN reads an arrow with a long shaft as an arrow.
        let arrow = rest.starts_with("-->");
        let length = if arrow { 3 } else { length };
        let shown = if arrow { "->" } else { &rest[..length] };
        out.push(Token {
            at: place(length),
            kind,
            text: shown.into(),
            breaks,
            frozen: false,
            call: 0,
            opens_call: false,
        });
        breaks = false;
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
