//! Places in the files that were read, and messages about them.

use std::sync::Arc;

use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Span;

use crate::{Files, Original, Remark};

/// A place in one of the files, in bytes. What a macro gave has the place of the macro's use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct At {
    /// Which file; 0 is the program.
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl At {
    /// From the beginning of this place to the end of another one.
    pub fn to(self, other: At) -> At {
        match self.file == other.file && other.end >= self.start {
            true => At {
                end: other.end,
                ..self
            },
            false => self,
        }
    }
}

/// Why a program is not brought over.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub at: At,
    pub code: Code,
    pub message: String,
    pub label: String,
    pub help: String,
}

/// What is built, or why it is not.
pub(crate) type Built<T> = Result<T, Box<Refusal>>;

/// Something that C allows and this front end does not take.
pub(crate) fn unsupported<T>(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Built<T> {
    Err(Box::new(Refusal {
        at,
        code: Code::Unsupported,
        message: message.into(),
        label: String::new(),
        help: help.into(),
    }))
}

/// Something that is no C.
pub(crate) fn malformed<T>(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Built<T> {
    Err(Box::new(Refusal {
        at,
        code: Code::ForeignSyntax,
        message: message.into(),
        label: String::new(),
        help: help.into(),
    }))
}

/// The files that were read so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    text: Arc<str>,
    /// Where it was included.
    from: Option<At>,
    /// Where its lines begin.
    lines: Vec<u32>,
}

impl Sources {
    /// Adds a file, and gives its number.
    pub fn add(&mut self, name: &str, text: &str, from: Option<At>) -> u32 {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1));
        self.files.push(File {
            name: name.to_owned(),
            text: text.into(),
            from,
            lines: lines.collect(),
        });
        (self.files.len() - 1) as u32
    }

    /// The text of a file.
    pub fn text(&self, file: u32) -> Arc<str> {
        Arc::clone(&self.files[file as usize].text)
    }

    /// How deep a file is included.
    pub fn depth(&self, file: u32) -> usize {
        let mut depth = 0;
        let mut from = self.files[file as usize].from;
        while let Some(at) = from {
            depth += 1;
            from = self.files[at.file as usize].from;
        }
        depth
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The line of the program, from 1, that a place is on, or whose `#include` leads to it.
    pub fn line(&self, mut at: At) -> u32 {
        while let Some(from) = self.files.get(at.file as usize).and_then(|file| file.from) {
            at = from;
        }
        match self.files.get(at.file as usize) {
            None => 1,
            Some(file) => file.lines.partition_point(|&start| start <= at.start) as u32,
        }
    }

    /// The files as a caller wants them.
    pub fn files(&self) -> Files {
        let files = self.files.iter().map(|file| Original {
            name: file.name.clone(),
            text: file.text.to_string(),
        });
        files.collect()
    }

    /// A message as a caller wants it.
    pub fn remark(&self, refusal: &Refusal) -> Remark {
        let length = self.files.get(refusal.at.file as usize);
        let length = length.map_or(0, |file| file.text.len() as u32);
        let span = Span {
            start: refusal.at.start.min(length),
            end: refusal.at.end.min(length),
        };
        let diagnostic = Diagnostic::new(refusal.code, span, refusal.message.clone());
        Remark {
            file: refusal.at.file as usize,
            diagnostic: diagnostic
                .label(refusal.label.clone())
                .help(refusal.help.clone()),
        }
    }
}
