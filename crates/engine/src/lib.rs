//! What engines have in common, and the reference engine.
//!
//! An [`Engine`] decides properties of a lowered system within [`Limits`] and tells an
//! [`Observer`] how far it is. [`Explicit`] visits every state; it is the oracle for all others.
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//! use threadwise_engine::{Answer, Engine, Explicit, Limits, Silent};
//! use threadwise_model::{instance::Instance, lower::lower};
//!
//! let text = "shared x: 0..2 = 0; process P { a: x := 1; b: x := 2; } invariant low: x < 2;";
//! let program = threadwise_lang::check(text).program.unwrap();
//! let instance = Instance::new(Arc::new(program), &BTreeMap::new()).unwrap();
//! let system = lower(&instance, 0).unwrap();
//! let low = &system.properties[1];
//! let outcome = Explicit::default().check(&system, low, &Limits::NONE, &mut Silent);
//! let Answer::Violated(run) = &outcome.answers[0] else { panic!() };
//! assert_eq!(run.steps.len(), 2);
//! ```

mod engine;
mod explicit;
mod limits;

pub use engine::{Answer, Engine, Outcome, Run, RunEnding, State, Unsupported};
pub use explicit::{Explicit, Visited};
pub use limits::{Limits, Observer, Progress, Silent, Stop, Work};
