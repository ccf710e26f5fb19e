//! The tokens of C, before the preprocessor has seen them.

use std::rc::Rc;

use super::source::{At, Built, malformed};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    Character,
    Text,
    Mark,
}

/// One token with its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub text: Rc<str>,
    pub at: At,
    /// It is the first on its line.
    pub first: bool,
    /// White space stands in front of it.
    pub spaced: bool,
}

impl Token {
    /// Whether it is this mark or name.
    pub fn is(&self, text: &str) -> bool {
        &*self.text == text && self.kind != Kind::Text && self.kind != Kind::Character
    }
}

const MARKS: &[&str] = &[
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##",
];

/// Splits a text into tokens. Comments are white space; a backslash at the end of a line joins it to the next.
pub(crate) fn tokens(text: &str, file: u32) -> Built<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut first, mut spaced) = (0, true, false);
    let place = |start: usize, end: usize| At {
        file,
        start: start as u32,
        end: end as u32,
    };
    while at < bytes.len() {
        let rest = &text[at..];
        let byte = bytes[at];
        if byte == b'\n' {
            (first, spaced) = (true, true);
            at += 1;
        } else if byte.is_ascii_whitespace() {
            spaced = true;
            at += 1;
        } else if let Some(joined) = splice(rest) {
            at += joined;
        } else if rest.starts_with("//") {
            at += line_end(rest);
            spaced = true;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(end) => at += end + 4,
                None => {
                    let help = "end the comment with `*/`";
                    return malformed(place(at, at + 2), "this comment does not end", help);
                }
            }
            spaced = true;
        } else {
            let (kind, length) = one(rest).or_else(|message| {
                let help = "C programs are made of ASCII characters outside of texts and comments";
                let width = rest.chars().next().map_or(1, char::len_utf8);
                malformed(place(at, at + width), message, help)
            })?;
            let written = &rest[..length];
            let text: Rc<str> = match written.contains("\\\n") || written.contains("\\\r\n") {
                true => written.replace("\\\r\n", "").replace("\\\n", "").into(),
                false => written.into(),
            };
            found.push(Token {
                kind,
                text,
                at: place(at, at + length),
                first,
                spaced,
            });
            (first, spaced) = (false, false);
            at += length;
        }
    }
    Ok(found)
}

/// The length of a backslash and the line break behind it.
fn splice(rest: &str) -> Option<usize> {
    if rest.starts_with("\\\n") {
        Some(2)
    } else if rest.starts_with("\\\r\n") {
        Some(3)
    } else {
        None
    }
}

/// Where a comment to the end of the line ends.
fn line_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'\n' {
        at += splice(rest.get(at..).unwrap_or("")).unwrap_or(1);
    }
    at.min(bytes.len())
}

/// The kind and length of the token that a text begins with.
fn one(rest: &str) -> Result<(Kind, usize), String> {
    let bytes = rest.as_bytes();
    let byte = bytes[0];
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' {
        let length = bytes
            .iter()
            .take_while(|byte| word(byte) || **byte == b'$')
            .count();
        // A prefix of a text or a character.
        if matches!(&rest[..length], "L" | "u" | "U" | "u8") {
            match bytes.get(length) {
                Some(b'"') => return quoted(bytes, length).map(|end| (Kind::Text, end)),
                Some(b'\'') => return quoted(bytes, length).map(|end| (Kind::Character, end)),
                _ => {}
            }
        }
        return Ok((Kind::Name, length));
    }
    if byte.is_ascii_digit() || (byte == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        let mut at = 0;
        while at < bytes.len() && (word(&bytes[at]) || bytes[at] == b'.') {
            let sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
            let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
            let exponent = match hexadecimal {
                true => matches!(bytes[at], b'p' | b'P'),
                false => matches!(bytes[at], b'e' | b'E' | b'p' | b'P'),
            };
            at += if sign && exponent { 2 } else { 1 };
        }
        return Ok((Kind::Number, at));
    }
    match byte {
        b'"' => return quoted(bytes, 0).map(|end| (Kind::Text, end)),
        b'\'' => return quoted(bytes, 0).map(|end| (Kind::Character, end)),
        _ => {}
    }
    for mark in MARKS {
        if rest.starts_with(mark) {
            return Ok((Kind::Mark, mark.len()));
        }
    }
    match byte.is_ascii_punctuation() && !matches!(byte, b'`' | b'@' | b'\\') {
        true => Ok((Kind::Mark, 1)),
        false => Err("this character cannot begin a token".to_owned()),
    }
}

/// The end of a text or a character that opens at a position.
fn quoted(bytes: &[u8], open: usize) -> Result<usize, String> {
    let quote = bytes[open];
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Ok(at + 1),
            _ => at += 1,
        }
    }
    Err("this text does not end on its line".to_owned())
}

/// A token that can be sent to another thread.
pub(crate) struct Plain {
    kind: Kind,
    text: String,
    at: At,
    first: bool,
    spaced: bool,
}

impl From<&Token> for Plain {
    fn from(token: &Token) -> Self {
        Plain {
            kind: token.kind,
            text: token.text.to_string(),
            at: token.at,
            first: token.first,
            spaced: token.spaced,
        }
    }
}

impl From<Plain> for Token {
    fn from(plain: Plain) -> Self {
        Token {
            kind: plain.kind,
            text: plain.text.into(),
            at: plain.at,
            first: plain.first,
            spaced: plain.spaced,
        }
    }
}
