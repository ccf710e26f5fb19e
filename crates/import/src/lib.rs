//! Programs of other languages.
//!
//! [`from_promela`] and [`from_c`] are front ends: they bring programs of other languages into ours, as programs whose places are in the original's files.

pub mod from_c;
pub mod from_promela;
mod front;

pub use front::{Files, Imported, Original, Outcome, Remark, Settings};
