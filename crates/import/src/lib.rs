//! Other languages in, other formats out.
//!
//! [`promela`] writes a lowered system as a Promela program for SPIN; [`smv`] and [`blif`] write what a symbolic model
//! checker takes, NuSMV the one and ABC the other. These two have their first half in common: the system
//! unfolded into moves over cells, with expressions in a graph. [`hoa`] writes the automaton of a liveness property, [`dot`] the control flow.
//!
//! [`from_promela`] and [`from_c`] are front ends: they bring programs of other languages into ours, as text, with the lines that each part comes from.

pub mod blif;
pub mod dot;
pub mod from_c;
pub mod from_promela;
pub mod hoa;
mod imported;
mod preprocess;
pub mod promela;
mod remarks;
pub mod smv;
mod source;
mod terms;
mod unfold;

pub use imported::{Files, Imported, Original, Outcome, Remark, Settings};
pub use unfold::UnfoldError;
