//! An open document: its text, the positions in it, and what is known about this version of it.
//!
//! A client speaks of lines and of columns in UTF-16 code units (or in bytes, if both sides agree to), the front end of bytes. Lines end with
//! `\n`, `\r\n` or `\r`. A position beyond the end of a line means its end, and one inside a character its beginning, so every
//! position is one in the text.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use threadwise_lang::diagnostics::Diagnostic;
use threadwise_lang::names::Names;
use threadwise_lang::program::{Program, Span};
use threadwise_lang::syntax::{self, SyntaxKind, SyntaxNode, SyntaxToken};

use super::checks::Outcome;

/// The longest text that is analysed. Models are texts of a few kilobytes.
const LONGEST: usize = 1 << 20;

/// How many bytes lie between two marks.
const MARK_EVERY: usize = 256;

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

/// What the front end says about a text.
pub(super) struct Analysis {
    pub(super) tree: SyntaxNode,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) names: Names,
    /// The program, if there is no error.
    pub(super) program: Option<Program>,
    /// Whether the text was understood in time; else there is nothing but its tree.
    complete: bool,
    /// The names in the order of the text: finding one in the tree takes longer the more siblings there are on the way.
    name_tokens: OnceCell<Vec<SyntaxToken>>,
}

/// How long the server waits for the front end to understand a text, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many texts the front end may be at, of which nobody waits for the result any more. Each keeps a processor busy.
const MOST_ABANDONED: usize = 2;
/// The stack of the front end: that of a main thread.
const STACK: usize = 8 << 20;
/// How many texts the front end is at.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// What comes of some work, if it comes in time. It is done in a thread of its own, which is left alone when it takes too long: nothing can end it,
/// and the server must go on to answer, to take the next version of the text, and to end.
fn in_time<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    /// Counts it until it is dropped, however that comes about.
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let others = UNDER_WAY.fetch_add(1, Ordering::Relaxed);
    let counted = Counted;
    if others > MOST_ABANDONED {
        return None;
    }
    let (send, answer) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        let result = work();
        // Before whoever waits asks for more.
        drop(counted);
        // Nobody may wait for it any more.
        let _ = send.send(result);
    });
    match (answer.recv_timeout(patience), thread) {
        (Ok(result), _) => Some(result),
        // A panic is for whoever guards the request.
        (Err(RecvTimeoutError::Disconnected), Ok(thread)) => match thread.join() {
            Err(panic) => resume_unwind(panic),
            Ok(()) => None,
        },
        (Err(_), _) => None,
    }
}

impl Analysis {
    pub(super) fn of(text: &str) -> Analysis {
        let tree = syntax::parse(text).tree;
        let owned = text.to_owned();
        let checked = in_time(PATIENCE, move || threadwise_lang::check(&owned));
        let complete = checked.is_some();
        let checked = checked.unwrap_or_else(|| threadwise_lang::check(""));
        Analysis {
            tree,
            diagnostics: checked.diagnostics,
            names: checked.names,
            program: checked.program,
            complete,
            name_tokens: OnceCell::new(),
        }
    }

    /// The name that begins at a byte.
    pub(super) fn name_at(&self, start: u32) -> Option<&SyntaxToken> {
        let names = self.name_tokens.get_or_init(|| {
            let elements = self.tree.descendants_with_tokens();
            let tokens = elements.filter_map(|element| element.into_token());
            tokens
                .filter(|token| token.kind() == SyntaxKind::Name)
                .collect()
        });
        let begins = |token: &SyntaxToken| token_span(token).start;
        let found = names.binary_search_by_key(&start, begins).ok()?;
        names.get(found)
    }

    /// The token at a byte: of two that meet there, a name or a word if one is.
    pub(super) fn token(&self, at: u32) -> Option<SyntaxToken> {
        let end = self.tree.text_range().end();
        let tokens = self.tree.token_at_offset(end.min(at.into()));
        let word =
            |token: &SyntaxToken| token.kind() == SyntaxKind::Name || token.kind().is_keyword();
        let (left, right) = (tokens.clone().left_biased(), tokens.right_biased());
        match (left, right) {
            (Some(left), Some(right)) if word(&left) && !word(&right) => Some(left),
            (_, right) => right,
        }
    }
}

/// An open document.
pub(super) struct Document {
    pub(super) uri: String,
    pub(super) version: Value,
    pub(super) text: Rc<str>,
    encoding: Encoding,
    /// Where each line begins.
    starts: Vec<u32>,
    /// How many UTF-16 code units stand before every so many bytes.
    marks: OnceCell<Vec<usize>>,
    analysis: OnceCell<Analysis>,
    /// What checks of this document said, by property; each knows the text that it is about.
    pub(super) outcomes: BTreeMap<String, Outcome>,
}

impl Document {
    pub(super) fn new(uri: &str, version: Value, text: &str, encoding: Encoding) -> Document {
        Document {
            uri: uri.to_owned(),
            version,
            starts: line_starts(text),
            text: text.into(),
            encoding,
            marks: OnceCell::new(),
            analysis: OnceCell::new(),
            outcomes: BTreeMap::new(),
        }
    }

    /// Replaces a part of the text, or all of it.
    pub(super) fn change(&mut self, range: Option<Span>, new: &str) {
        let text = match range {
            None => new.to_owned(),
            Some(span) => {
                let (start, end) = (span.start as usize, span.end as usize);
                [&self.text[..start], new, &self.text[end..]].concat()
            }
        };
        self.starts = line_starts(&text);
        self.text = text.into();
        self.marks = OnceCell::new();
        self.analysis = OnceCell::new();
    }

    /// Why nothing is known about the text, if that is so.
    pub(super) fn unknown(&self) -> Option<&'static str> {
        if !self.analysable() {
            return Some(
                "the text is too long for the editor: models are texts of a few kilobytes; `threadwise check` reads it",
            );
        }
        (!self.analysis().complete).then_some(
            "it takes too long to understand the text, so nothing is known about it; `threadwise check` takes the time",
        )
    }

    /// Whether the text is short enough to be looked at.
    pub(super) fn analysable(&self) -> bool {
        self.text.len() <= LONGEST
    }

    /// What is known about the text; nothing about one that is too long.
    pub(super) fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| {
            let text = if self.analysable() { &*self.text } else { "" };
            Analysis::of(text)
        })
    }

    /// The text at a place.
    pub(super) fn at(&self, span: Span) -> &str {
        let (start, end) = (span.start as usize, span.end as usize);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The bytes of a line, counted from 0, without its line break; past the last line, the end.
    fn line(&self, line: usize) -> (usize, &str) {
        let Some(start) = self.starts.get(line) else {
            return (self.text.len(), "");
        };
        let start = *start as usize;
        let end = self.starts.get(line + 1).map(|end| *end as usize);
        let line = &self.text[start..end.unwrap_or(self.text.len())];
        (start, line.trim_end_matches(['\n', '\r']))
    }

    /// The byte of a position; nothing if it is not one.
    pub(super) fn offset(&self, position: &Value) -> Option<u32> {
        let line = usize::try_from(position["line"].as_u64()?).ok()?;
        let column = position["character"].as_u64()?;
        let (start, line) = self.line(line);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            units += match self.encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
            } as u64;
            if units > column {
                return Some((start + at) as u32);
            }
        }
        Some((start + line.len()) as u32)
    }

    /// The bytes of a range; nothing if it is not one.
    pub(super) fn span(&self, range: &Value) -> Option<Span> {
        let (a, b) = (self.offset(&range["start"])?, self.offset(&range["end"])?);
        Some(Span {
            start: a.min(b),
            end: a.max(b),
        })
    }

    /// The line of a byte, from 0.
    pub(super) fn line_of(&self, at: u32) -> usize {
        let after = self.starts.partition_point(|start| *start <= at);
        after.saturating_sub(1)
    }

    /// Line and column of a byte, both from 0.
    pub(super) fn place(&self, at: u32) -> (usize, usize) {
        let line = self.line_of(at);
        let start = self.starts.get(line).map_or(0, |start| *start as usize);
        let at = at as usize;
        let column = match self.encoding {
            Encoding::Utf8 => at - start,
            Encoding::Utf16 => self.units_before(at) - self.units_before(start),
        };
        (line, column)
    }

    /// How many UTF-16 code units stand before a byte. Counted from marks, so that a text in one long line is no slower than another.
    fn units_before(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let marks = self.marks.get_or_init(|| {
            let mut sum = 0;
            let pieces = bytes.chunks(MARK_EVERY);
            pieces
                .map(|piece| {
                    let before = sum;
                    sum += units(piece);
                    before
                })
                .collect()
        });
        let mark = at / MARK_EVERY;
        match marks.get(mark) {
            Some(sum) => sum + units(&bytes[mark * MARK_EVERY..at]),
            None => marks.last().map_or(0, |sum| {
                sum + units(&bytes[(marks.len() - 1) * MARK_EVERY..])
            }),
        }
    }

    /// The position of a byte.
    pub(super) fn position(&self, at: u32) -> Value {
        let (line, character) = self.place(at);
        json!({ "line": line, "character": character })
    }

    /// The range of some bytes.
    pub(super) fn range(&self, span: Span) -> Value {
        json!({ "start": self.position(span.start), "end": self.position(span.end) })
    }

    /// Some bytes of this document, for a client.
    pub(super) fn location(&self, span: Span) -> Value {
        json!({ "uri": self.uri, "range": self.range(span) })
    }

    /// What stands in a line as the command line counts them, from 1 and by `\n` alone, without the spaces around it.
    pub(super) fn printed_line(&self, number: usize) -> Span {
        let mut start = 0;
        for _ in 1..number {
            match self.text[start..].find('\n') {
                Some(end) => start += end + 1,
                None => break,
            }
        }
        let line = self.text[start..].lines().next().unwrap_or_default();
        let spaces = line.len() - line.trim_start().len();
        Span {
            start: (start + spaces) as u32,
            end: (start + spaces.max(line.trim_end().len())) as u32,
        }
    }
}

/// The UTF-16 code units of the characters that begin in some bytes.
fn units(bytes: &[u8]) -> usize {
    let begins = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let pairs = bytes.iter().filter(|byte| **byte >= 0xf0).count();
    bytes.iter().filter(|byte| begins(byte)).count() + pairs
}

/// Where the lines of a text begin.
fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (at, byte) in bytes.iter().enumerate() {
        let ends = match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        if ends {
            starts.push(at as u32 + 1);
        }
    }
    starts
}

/// The bytes of a node.
pub(super) fn node_span(node: &SyntaxNode) -> Span {
    let range = node.text_range();
    Span {
        start: range.start().into(),
        end: range.end().into(),
    }
}

/// The bytes of a token.
pub(super) fn token_span(token: &SyntaxToken) -> Span {
    let range = token.text_range();
    Span {
        start: range.start().into(),
        end: range.end().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str, encoding: Encoding) -> Document {
        Document::new("file:///a.tw", json!(1), text, encoding)
    }

    #[test]
    fn positions_count_what_was_agreed() {
        let text = "a\u{e9}\u{1f600}b\r\nx\rlast";
        let at = |encoding, line: u64, character: u64| {
            let position = json!({ "line": line, "character": character });
            document(text, encoding).offset(&position).unwrap() as usize
        };
        assert_eq!(at(Encoding::Utf16, 0, 4), text.find('b').unwrap());
        assert_eq!(at(Encoding::Utf8, 0, 7), text.find('b').unwrap());
        // Inside a character: its beginning. Past the end of a line: its end, before the line break.
        assert_eq!(at(Encoding::Utf16, 0, 3), text.find('\u{1f600}').unwrap());
        assert_eq!(at(Encoding::Utf8, 0, 2), 1);
        assert_eq!(at(Encoding::Utf16, 0, 99), text.find('\r').unwrap());
        assert_eq!(at(Encoding::Utf16, 2, 0), text.find("last").unwrap());
        assert_eq!(at(Encoding::Utf16, 9, 9), text.len());
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let document = document(text, encoding);
            for (at, c) in text.char_indices().filter(|(_, c)| *c != '\n') {
                let position = document.position(at as u32);
                assert_eq!(document.offset(&position), Some(at as u32), "{c:?}");
            }
        }
    }

    #[test]
    fn columns_of_a_long_line_are_counted() {
        let text = "a\u{e9}\u{1f600}\n".repeat(3) + &"b\u{1f600}\u{e9}".repeat(500);
        let document = document(&text, Encoding::Utf16);
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let column = text[start..at].encode_utf16().count();
            assert_eq!(document.place(at as u32).1, column, "{at}");
        }
    }

    #[test]
    fn who_waits_too_long_goes_on() {
        let (release, waiting) = mpsc::channel::<()>();
        let endless = move || waiting.recv().is_ok();
        assert_eq!(in_time(Duration::ZERO, endless), None);
        // It is still there, and others are served.
        assert_eq!(in_time(Duration::MAX, || 1), Some(1));
        let more: Vec<mpsc::Sender<()>> = (0..MOST_ABANDONED)
            .map(|_| {
                let (release, waiting) = mpsc::channel::<()>();
                assert_eq!(
                    in_time(Duration::ZERO, move || waiting.recv().is_ok()),
                    None
                );
                release
            })
            .collect();
        // But not while there are too many: not even this one, for which there is all the time.
        assert_eq!(in_time(Duration::MAX, || 1), None);
        drop((release, more));
        while in_time(Duration::MAX, || 1).is_none() {
            thread::yield_now();
        }
    }

    #[test]
    fn lines_of_the_command_line_are_found() {
        let document = document("one\n  two  \nthree", Encoding::Utf16);
        assert_eq!(document.at(document.printed_line(2)), "two");
        assert_eq!(document.at(document.printed_line(3)), "three");
        assert_eq!(document.at(document.printed_line(9)), "three");
    }
}
