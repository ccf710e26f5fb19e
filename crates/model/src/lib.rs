//! The interpreter, which is the semantics, and the lowering to guarded steps.
mod build;
pub mod eval;
pub mod expression;
mod initial;
pub mod instance;
pub mod interpreter;
pub mod intervals;
pub mod layout;
pub mod lower;
pub mod names;
pub mod optimise;
mod paths;
pub mod simulate;
pub mod state;
pub mod symmetry;
pub mod system;
mod visit;
