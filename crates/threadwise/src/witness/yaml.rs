//! A few forms of YAML, enough for witnesses: maps and lists in blocks, and every string in double quotes, so that none is taken for something else.

use std::fmt::Write as _;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Keys with values, in this order.
    Map(Vec<(String, Node)>),
    /// One after the other.
    List(Vec<Node>),
    /// A string.
    Text(String),
    /// A number.
    Number(u32),
}

impl Node {
    /// A map with keys that are plain words.
    pub(crate) fn map<const N: usize>(entries: [(&str, Node); N]) -> Node {
        Node::Map(entries.map(|(key, value)| (key.to_owned(), value)).into())
    }

    /// A string.
    pub(crate) fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }
}

/// A document that is a list.
pub(crate) fn text(entries: &[Node]) -> String {
    let mut out = String::new();
    list(&mut out, entries, 0);
    out
}

/// Writes a list, each member at this depth. Nothing but what is already written stands on the first line before it.
fn list(out: &mut String, members: &[Node], depth: usize) {
    if members.is_empty() {
        let _ = writeln!(out, "{}[]", "  ".repeat(depth));
    }
    for member in members {
        let _ = write!(out, "{}- ", "  ".repeat(depth));
        match member {
            Node::Map(entries) if !entries.is_empty() => map(out, entries, depth + 1, true),
            member => value(out, member, depth),
        }
    }
}

/// Writes a map. If `begun`, the line of its first key has been begun.
fn map(out: &mut String, entries: &[(String, Node)], depth: usize, begun: bool) {
    for (place, (key, entry)) in entries.iter().enumerate() {
        if place > 0 || !begun {
            out.push_str(&"  ".repeat(depth));
        }
        let plain = key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        match plain && !key.is_empty() {
            true => out.push_str(key),
            false => quoted(out, key),
        }
        out.push(':');
        match entry {
            Node::Map(entries) if !entries.is_empty() => {
                out.push('\n');
                map(out, entries, depth + 1, false);
            }
            Node::List(members) if !members.is_empty() => {
                out.push('\n');
                list(out, members, depth + 1);
            }
            entry => {
                out.push(' ');
                value(out, entry, depth);
            }
        }
    }
}

/// Writes what fits on the line, and ends it; a list in a list begins on the next one.
fn value(out: &mut String, node: &Node, depth: usize) {
    match node {
        Node::Map(_) => out.push_str("{}"),
        Node::List(members) if members.is_empty() => out.push_str("[]"),
        Node::List(members) => {
            out.push('\n');
            return list(out, members, depth + 1);
        }
        Node::Text(text) => quoted(out, text),
        Node::Number(number) => {
            let _ = write!(out, "{number}");
        }
    }
    out.push('\n');
}

/// A string in double quotes. Whatever is not printable is written by its number.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            '\u{a0}'..='\u{d7ff}' if !matches!(character, '\u{2028}' | '\u{2029}') => {
                out.push(character);
            }
            _ => {
                let _ = write!(out, "\\U{:08x}", u32::from(character));
            }
        }
    }
    out.push('"');
}
