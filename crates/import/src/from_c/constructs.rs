//! The table of constructs: everything that C has, and what is done about it.
//!
//! A test goes through the table: what is translated or approximated has an example that must be proved, and that gcc must run without a failure; what is refused has one that must be refused at the place that `/*!*/`
//! marks; and every variant of the syntax tree must be met in some example. The table is also a page of the book, which the same test compares. Functions of libraries are a table of their own
//! (`functions.rs`), since calls are looked up there.

use super::functions::FUNCTIONS;

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
    /// How it is written; the names of functions that are alike.
    pub names: Vec<&'static str>,
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
    let functions = FUNCTIONS.iter().map(|function| Construct {
        area: LIBRARY,
        names: function.names.to_vec(),
        treatment: function.treatment,
        meaning: function.meaning,
        example: function.example,
    });
    functions.collect()
}

/// The functions that need no body, and what is done about each.
pub fn functions() -> impl Iterator<Item = (&'static str, Treatment)> {
    let rows = FUNCTIONS.iter();
    rows.flat_map(|row| row.names.iter().map(|name| (*name, row.treatment)))
}
