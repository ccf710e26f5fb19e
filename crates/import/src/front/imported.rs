//! What a front end gives: a program of another language as a model, with places in the original.

use threadwise_lang::diagnostics::Diagnostic;
use threadwise_lang::print::{Layout, print};
use threadwise_lang::program::Program;

/// A program of another language, as a model.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The model; its places are in the files of the original (`Program::source`).
    pub program: Program,
    /// How it is written in our language.
    pub layout: Layout,
    /// What was left out because it changes nothing that is checked, such as printing.
    pub notes: Vec<Remark>,
}

impl Imported {
    /// The model in our language.
    pub fn text(&self) -> String {
        print(&self.program, &self.layout)
    }
}

/// A message about a place in one of the files that the front end read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Which of [`Files`]; 0 is the one that was asked for.
    pub file: usize,
    /// The message, with its place in the file's text.
    pub diagnostic: Diagnostic,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its name as given, or as the `#include` has it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where the program's `#include` that led to it names a file, in bytes; nothing for the program itself.
    pub included: Option<(u32, u32)>,
}

/// The files of a program: the one asked for, and those it includes.
pub type Files = Vec<Original>;

/// What a front end needs beside the text.
pub struct Settings<'r> {
    /// `-D` definitions: a name, and what it stands for (`1` where nothing was said).
    pub defines: Vec<(String, String)>,
    /// Reads a file that `#include "NAME"` names, relative to the program's file. `Err` says why not.
    pub include: &'r mut dyn FnMut(&str) -> Result<String, String>,
}

/// What came of a program.
pub struct Outcome {
    /// The files that were read, to draw messages over.
    pub files: Files,
    /// The model, or why there is none: at least one message.
    pub result: Result<Imported, Vec<Remark>>,
}
