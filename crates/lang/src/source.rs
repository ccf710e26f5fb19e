//! The files of a program in one range of addresses.
//!
//! A place in a program is a [`Span`]: two offsets, and nothing about a file. The files of a program lie one behind the other, each from its base, so an offset
//! says which file it is in, too. A `.tw` program is one file at base 0. What a front end makes of a program of another language has places in
//! that program's files directly; there is no table of lines between the two.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::{Expr, Program, Span};
use crate::render::LineIndex;

/// One of the files of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name as given, or as the `#include` has it.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// The place that includes it, in a file before it; nothing for the program itself.
    pub included: Option<Span>,
    /// The offset of its first byte.
    base: u32,
}

/// The files of a program; the first is the one that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    /// Whether they are of another language than ours.
    foreign: bool,
}

/// There is no room for a file: all files of a program together have fewer bytes than 4 GB.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the files of the program are too large")]
pub struct TooLarge;

impl SourceMap {
    /// The map of a model in our language.
    pub fn of(name: &str, text: &str) -> SourceMap {
        SourceMap {
            foreign: false,
            files: vec![SourceFile {
                name: name.to_owned(),
                text: text.into(),
                included: None,
                base: 0,
            }],
        }
    }

    /// The map of a program of another language, without the files that it includes.
    pub fn foreign(name: &str, text: &str) -> SourceMap {
        SourceMap {
            foreign: true,
            ..SourceMap::of(name, text)
        }
    }

    /// Whether the program was written in another language than ours.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// The text of the program's own file.
    pub fn text(&self) -> &str {
        self.files.first().map_or("", |file| &file.text)
    }

    /// Adds a file behind the others, and gives the offset of its first byte.
    pub fn add(
        &mut self,
        name: &str,
        text: Arc<str>,
        included: Option<Span>,
    ) -> Result<u32, TooLarge> {
        // A place at the end of a file is not the first one of the next.
        let end = |file: &SourceFile| u64::from(file.base) + file.text.len() as u64 + 1;
        let base = self.files.last().map_or(0, end);
        if base + text.len() as u64 >= u64::from(u32::MAX) {
            return Err(TooLarge);
        }
        let base = base as u32;
        self.files.push(SourceFile {
            name: name.to_owned(),
            text,
            included,
            base,
        });
        Ok(base)
    }

    /// The files, the program first.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The file that an offset is in, and the offset in that file's text.
    pub fn find(&self, at: u32) -> Option<(&SourceFile, u32)> {
        let behind = self.files.partition_point(|file| file.base <= at);
        let file = self.files.get(behind.checked_sub(1)?)?;
        Some((file, (at - file.base).min(file.text.len() as u32)))
    }

    /// The place in the program's own file: the one given, or the `#include` that leads to it.
    pub fn in_program(&self, mut span: Span) -> Span {
        while let Some(from) = self.find(span.start).and_then(|(file, _)| file.included) {
            span = from;
        }
        span
    }

    /// The lines of the program's own file.
    pub fn lines(&self) -> SourceLines<'_> {
        SourceLines {
            map: self,
            index: LineIndex::new(self.text()),
        }
    }
}

/// Finds the lines of places: those of the program's own file, from 1. What comes from a file that it includes is on the line of the `#include`.
#[derive(Debug)]
pub struct SourceLines<'m> {
    map: &'m SourceMap,
    index: LineIndex,
}

impl SourceLines<'_> {
    /// The line that a place begins on.
    pub fn line(&self, span: Span) -> u32 {
        let at = self.map.in_program(span).start;
        u32::try_from(self.index.line(at)).unwrap_or(u32::MAX)
    }

    /// The line and the column, in characters, that a place begins at.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let at = self.map.in_program(span).start;
        self.index.position(self.map.text(), at)
    }

    /// The line that a place begins on, if it is one: what a front end adds of its own has none.
    pub fn known(&self, span: Span) -> Option<u32> {
        (span != Span::default()).then(|| self.line(span))
    }

    /// The lines of places, each once, in the order of the places.
    pub fn all(&self, places: &[Span]) -> Vec<u32> {
        let mut known = BTreeSet::new();
        let lines = places.iter().filter_map(|place| self.known(*place));
        lines.filter(|line| known.insert(*line)).collect()
    }
}

impl Program {
    /// An expression of a property, a definition or a declaration as people can read it: as they wrote it, on one line; if they wrote
    /// another language, as it is in ours.
    pub fn quote(&self, value: &Expr) -> String {
        match self.source.is_foreign() {
            true => crate::print::expression(self, value),
            false => self.quote_place(value.span),
        }
    }

    /// The same for several: as they wrote it, from the first to the last.
    pub fn quote_all(&self, values: &[&Expr]) -> String {
        if self.source.is_foreign() {
            let each: Vec<String> = values.iter().map(|value| self.quote(value)).collect();
            return each.join(", ");
        }
        let spans = || values.iter().map(|value| value.span);
        self.quote_place(Span {
            start: spans().map(|span| span.start).min().unwrap_or(0),
            end: spans().map(|span| span.end).max().unwrap_or(0),
        })
    }

    /// What stands at a place, on one line.
    fn quote_place(&self, span: Span) -> String {
        let found = self.source.find(span.start);
        let text = found.and_then(|(file, start)| {
            let end = start as usize + (span.end.max(span.start) - span.start) as usize;
            file.text.get(start as usize..end.min(file.text.len()))
        });
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::SourceMap;
    use crate::program::Span;

    #[test]
    fn an_offset_says_its_file() {
        let mut map = SourceMap::of("a.c", "one\n#include \"b.h\"\ntwo\n");
        let include = Span { start: 4, end: 18 };
        let base = map
            .add("b.h", "x\ny\n".into(), Some(include))
            .expect("room");
        let (file, within) = map.find(base + 2).expect("a file");
        assert_eq!((file.name.as_str(), within), ("b.h", 2));
        let (file, within) = map.find(20).expect("a file");
        assert_eq!((file.name.as_str(), within), ("a.c", 20));
        let at = Span {
            start: base + 2,
            end: base + 3,
        };
        assert_eq!(map.in_program(at), include);
        assert_eq!(map.lines().line(at), 2);
        assert_eq!(map.lines().line(Span { start: 19, end: 20 }), 3);
    }
}
