//! The interpreter, which is the semantics, and the lowering to guarded steps.
pub mod system;
