//! What the front ends share: reading files with their macros and the places in them, messages about these places, names, and what comes of a program.

mod imported;
pub(crate) mod names;
pub(crate) mod preprocess;
pub(crate) mod remarks;
pub(crate) mod source;

pub use imported::{Files, Imported, Original, Outcome, Remark, Settings};
