//! An oracle for liveness under fairness, and what to try it on. Everything is explicit, and nothing is shared with engines or checker but
//! the evaluation of lowered expressions.
//!
//! [`Automaton`] is what runs violate a formula: sets of obligations, unfolded one by one. [`Space`] is the reachable states of
//! a system, with their steps. [`Space::decide`] builds the product of the two and looks for a cycle in it that is fair,
//! by taking strongly connected components apart ([`Graph`]). What it finds is a [`Lasso`], and [`Lasso::refutes`] judges
//! a lasso by itself, by the direct meaning of formulas.

mod automaton;
mod formulas;
mod graph;
mod judge;
mod space;

pub use automaton::{Automaton, Edge};
pub use formulas::{PATTERNS, Word, patterns, patterns_model, random_formula};
pub use graph::{Arc, Condition, Cycle, Graph};
pub use judge::{Judgement, judge};
pub use space::{Lasso, LassoStep, Space, Unknown, distinct_terms, swapped, without};
