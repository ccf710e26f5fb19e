//! What engines have in common.
//!
//! An [`Engine`] decides properties of a lowered system within [`Limits`] and tells an [`Observer`] how far it is; a [`FamilyEngine`] decides them for all values of a program's
//! parameters. An [`EngineInfo`] is what is known of either beforehand: its name, its options, and how to make one.

mod description;
mod engine;
mod family;
mod limits;

pub use description::{
    Decides, EngineInfo, EngineOptions, Form, LEARN, Make, NO_LEARN, NO_SYMMETRY, OptionInfo,
    Refused, Setup,
};
pub use engine::{Answer, Engine, Outcome, Run, RunEnding, State, Unsupported};
pub use family::{Counterexample, FamilyAnswer, FamilyEngine, FamilyOutcome, HornSolver, Task};
pub use limits::{Limits, Observer, Progress, Silent, Stop, Work};
