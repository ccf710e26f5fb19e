//! The files that a front end reads, and places in them.

use std::sync::Arc;

use crate::{Files, Original};

/// A place in one of the files, in bytes. What a macro gave has the place of the macro's use, what an inline of Promela gave that of its body.
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

/// The files that were read so far; the first is the program.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    text: Arc<str>,
    /// Where it was included first.
    from: Option<At>,
    /// Where its lines begin.
    lines: Vec<u32>,
}

impl Sources {
    /// The program's own file.
    pub fn new(name: &str, text: &str) -> Sources {
        let mut sources = Sources { files: Vec::new() };
        sources.add(name, text, None);
        sources
    }

    /// Adds a file, unless it is there already, and gives its number.
    pub fn add(&mut self, name: &str, text: &str, from: Option<At>) -> u32 {
        let same = |file: &File| file.from.is_some() && file.name == name && *file.text == *text;
        if let Some(known) = self.files.iter().position(same) {
            return known as u32;
        }
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

    /// The folder of a file that is included, from that of the program; empty, or with a slash at its end.
    pub fn folder(&self, file: u32) -> &str {
        match self.files.get(file as usize) {
            Some(file) if file.from.is_some() => {
                let end = file.name.rfind('/').map_or(0, |slash| slash + 1);
                &file.name[..end]
            }
            _ => "",
        }
    }

    /// The line of the program, from 1, that a place is on, or whose `#include` leads to it.
    pub fn line(&self, at: At) -> u32 {
        let at = self.in_program(at);
        match self.files.get(at.file as usize) {
            None => 1,
            Some(file) => file.lines.partition_point(|&start| start <= at.start) as u32,
        }
    }

    /// A place in the program itself: the one given, or the `#include` that leads to it.
    fn in_program(&self, mut at: At) -> At {
        while let Some(from) = self.files.get(at.file as usize).and_then(|file| file.from) {
            at = from;
        }
        at
    }

    /// The files as a caller wants them.
    pub fn files(&self) -> Files {
        let files = self.files.iter().map(|file| Original {
            name: file.name.clone(),
            text: file.text.to_string(),
            included: file.from.map(|from| {
                let at = self.in_program(from);
                (at.start, at.end)
            }),
        });
        files.collect()
    }
}
