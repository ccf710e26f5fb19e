//! Models in the formats of other tools.
//!
//! [`promela`] writes a lowered system as a Promela program for SPIN; [`smv`] and [`blif`] write what a symbolic model
//! checker takes, NuSMV the one and ABC the other. These two have their first half in common: the system
//! unfolded into moves over cells, with expressions in a graph. [`hoa`] writes the automaton of a liveness property, [`dot`] the control flow.

pub mod blif;
pub mod dot;
pub mod hoa;
pub mod promela;
pub mod smv;
mod terms;
mod unfold;

pub use unfold::UnfoldError;
