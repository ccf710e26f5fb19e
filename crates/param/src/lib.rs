//! Proofs that hold for every value of a program's parameters, and so for any number of processes.
//!
//! The modules, from the bottom up:
//!
//! - [`lia`] decides whether formulas over linear inequalities of integers can hold together. Its answer is a model, or a proof in the form of
//!   [`threadwise_evidence::arithmetic`] that a checker confirms by adding up inequalities.

pub mod lia;
