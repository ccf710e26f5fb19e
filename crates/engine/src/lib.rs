//! What engines have in common, and the reference engine.
//!
//! An [`Engine`] decides properties of a lowered system within [`Limits`] and tells an
//! [`Observer`] how far it is. [`Explicit`] visits every state; it is the oracle for all others.

mod engine;
mod explicit;
mod limits;

pub use engine::{Answer, Engine, Outcome, Run, RunEnding, State, Unsupported};
pub use explicit::Explicit;
pub use limits::{Limits, Observer, Progress, Silent, Stop};
