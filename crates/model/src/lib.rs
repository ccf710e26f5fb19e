//! The interpreter, which is the semantics, and the lowering to guarded steps.
pub mod expression;
pub mod instance;
pub mod interpreter;
pub mod state;
pub mod system;
mod visit;
