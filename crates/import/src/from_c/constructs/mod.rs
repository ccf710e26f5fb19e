//! The table of constructs: everything that C has, and what is done about it.
//!
//! A test goes through the table: what is translated or approximated has an example that must be proved, and that gcc must run without a failure; what is refused has one that must be refused at the place that `/*!*/`
//! marks; and every variant of the syntax tree must be met in some example. The table is also a page of the book, which the same test compares. Functions of libraries are a table of their own
//! (`functions.rs`), since calls are looked up there.

mod syntax;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use super::functions::FUNCTIONS;
use syntax::SYNTAX;

/// What is done about a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It means what it means in C.
    Translated,
    /// A program with it is refused, with the place.
    Refused,
    /// It does not mean all that it means in C. Why verdicts are right all the same is said with it.
    Approximated,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Construct {
    /// What kind of construct it is.
    pub area: &'static str,
    /// How it is written, with code as the book has it; the names of functions that are alike.
    pub names: Vec<&'static str>,
    /// The variants of the syntax tree that it is about.
    pub variants: &'static [&'static str],
    /// What is done about it.
    pub treatment: Treatment,
    /// What it means here, or why it is refused.
    pub meaning: &'static str,
    /// A program with it, which begins behind [`PREAMBLE`].
    pub example: &'static str,
}

/// What every example begins with.
pub const PREAMBLE: &str = "\
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
";

/// The area of functions that need no body.
pub const LIBRARY: &str = "Functions";

/// All rows.
pub fn constructs() -> Vec<Construct> {
    let syntax = SYNTAX.iter().map(|row| Construct {
        area: row.area,
        names: vec![row.name],
        variants: row.variants,
        treatment: row.treatment,
        meaning: row.meaning,
        example: row.example,
    });
    let functions = FUNCTIONS.iter().map(|function| Construct {
        area: LIBRARY,
        names: function.names.to_vec(),
        variants: &[],
        treatment: function.treatment,
        meaning: function.meaning,
        example: function.example,
    });
    syntax.chain(functions).collect()
}

/// The functions that need no body, and what is done about each.
pub fn functions() -> impl Iterator<Item = (&'static str, Treatment)> {
    let rows = FUNCTIONS.iter();
    rows.flat_map(|row| row.names.iter().map(|name| (*name, row.treatment)))
}

/// The table as a page of the book.
pub fn page() -> String {
    let mut page = String::from(
        "# Constructs of C\n\nEverything that C has, and what is done about it; [Programs in C](c.md) says how it is read. Nothing else is: what this page does not list is refused. A test checks every row: what is translated or approximated has a program that is proved, \
and that gcc runs without a failure; what is refused has one that is refused, at its place. The test also writes this page.\n\n\
- **translated**: it means what it means in C.\n- **approximated**: it does not mean all that it means in C; the row says why verdicts are right all the same.\n- **refused**: a program with it is refused, with the place.\n",
    );
    let mut area = "";
    for row in constructs() {
        if row.area != area {
            area = row.area;
            let _ = write!(
                page,
                "\n## {area}\n\n| construct | | what is done |\n|---|---|---|\n"
            );
        }
        let names = match row.area {
            LIBRARY => format!("`{}`", row.names.join("`, `")),
            _ => row.names.join(", ").replace('|', "\\|"),
        };
        let treatment = match row.treatment {
            Treatment::Translated => "translated",
            Treatment::Refused => "refused",
            Treatment::Approximated => "approximated",
        };
        let meaning = row.meaning.replace('|', "\\|");
        let _ = writeln!(page, "| {names} | {treatment} | {meaning} |");
    }
    page
}
