//! Proofs that hold for every value of a program's parameters, and so for any number of processes.
//!
//! The modules, from the bottom up:
//!
//! - [`lia`] decides whether formulas over linear inequalities of integers can hold together. Its answer is a model, or a proof in the form of
//!   [`threadwise_evidence::arithmetic`] that a checker confirms by adding up inequalities.
//! - [`small`] searches small instances, for violations and for sample states.
//! - [`engine`] is what all of this is for: the engines by name.

mod among;
mod blockers;
mod candidates;
mod cegar;
mod certificate;
mod chc;
mod compared;
mod conditions;
mod counter;
mod cubes;
pub mod engine;
mod explain;
pub mod horn;
mod hull;
mod infer;
mod learn;
pub mod lia;
mod missing;
mod points;
mod positions;
mod questions;
mod ranking;
mod scope;
pub mod small;
mod solution;
mod stuck;
mod sums;
