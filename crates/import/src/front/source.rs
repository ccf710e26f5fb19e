//! The files that a front end reads, and places in them.

use std::sync::Arc;

use threadwise_lang::build::Built as BuiltProgram;
use threadwise_lang::program::Span;
use threadwise_lang::render::LineIndex;
use threadwise_lang::source::{SourceFile, SourceMap, TooLarge};

use threadwise_lang::validate::{Invalid, validate};

use crate::{Files, Imported, Original, Remark};

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
#[derive(Debug)]
pub(crate) struct Sources {
    map: SourceMap,
    /// Where the files begin in the map.
    bases: Vec<u32>,
    /// The lines of the program.
    lines: LineIndex,
}

impl Sources {
    /// The program's own file.
    pub fn new(name: &str, text: &str) -> Sources {
        Sources {
            map: SourceMap::foreign(name, text),
            bases: vec![0],
            lines: LineIndex::new(text),
        }
    }

    /// Adds a file, unless it is there already, and gives its number.
    pub fn add(&mut self, name: &str, text: &str, from: At) -> Result<u32, TooLarge> {
        let mut files = self.map.files().iter();
        let same =
            |file: &SourceFile| file.included.is_some() && file.name == name && *file.text == *text;
        if let Some(known) = files.position(same) {
            return Ok(known as u32);
        }
        let base = self.map.add(name, text.into(), Some(self.span(from)))?;
        self.bases.push(base);
        Ok((self.bases.len() - 1) as u32)
    }

    /// The text of a file.
    pub fn text(&self, file: u32) -> Arc<str> {
        Arc::clone(&self.map.files()[file as usize].text)
    }

    /// The folder of a file that is included, from that of the program; empty, or with a slash at its end.
    pub fn folder(&self, file: u32) -> &str {
        match self.map.files().get(file as usize) {
            Some(file) if file.included.is_some() => {
                let end = file.name.rfind('/').map_or(0, |slash| slash + 1);
                &file.name[..end]
            }
            _ => "",
        }
    }

    /// A place among those of all files.
    pub fn span(&self, at: At) -> Span {
        let base = self.bases.get(at.file as usize).copied().unwrap_or(0);
        Span {
            start: base + at.start,
            end: base + at.end,
        }
    }

    /// The line of the program, from 1, that a place is on, or whose `#include` leads to it.
    pub fn line(&self, at: At) -> u32 {
        let place = self.map.in_program(self.span(at));
        self.lines.line(place.start) as u32
    }

    /// The files as a caller wants them.
    pub fn files(&self) -> Files {
        let files = self.map.files().iter().map(|file| Original {
            name: file.name.clone(),
            text: file.text.to_string(),
            included: file.included.map(|from| {
                let at = self.map.in_program(from);
                (at.start, at.end)
            }),
        });
        files.collect()
    }

    /// Gives a program its files, if it is one.
    pub fn imported(&self, built: BuiltProgram, notes: Vec<Remark>) -> Result<Imported, Invalid> {
        let BuiltProgram {
            mut program,
            layout,
        } = built;
        program.source = Arc::new(self.map.clone());
        validate(&program)?;
        Ok(Imported {
            program,
            layout,
            notes,
        })
    }
}
