//! What a checked program means, and the forms in which engines compute with it.
//!
//! [`instance`] evaluates a program's constants for given parameter values. [`interpreter`] runs the
//! instance and *is* the semantics: initial states, steps, failures. [`names`] prints and parses
//! its [`state`]s in source terms, and [`simulate`] walks through them. [`lower`] turns the statements
//! into the guarded steps of a [`system`], the form that engines use; it is tested against the
//! interpreter, which never looks at it.
//! [`family`] keeps the parameters open. [`eval`] evaluates steps as they stand, [`influence`] says which shared variables are needed by whom, [`layout`] goes between the two shapes of a state, [`optimise`] simplifies
//! steps and lists what it claims (by [`intervals`]), [`partial`] takes expressions apart, [`symmetry`] says which processes can be exchanged, and [`witness`] adds variables
//! that name the process of which something holds.
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//! use threadwise_model::{instance::Instance, interpreter::Interpreter, names::Names};
//!
//! let text = "shared x: 0..3 = 1; process P[i: 1..2] { a: x := x + 1; b: skip; }";
//! let program = threadwise_lang::check(text).program.expect("no errors");
//! let instance = Instance::new(Arc::new(program), &BTreeMap::new()).expect("no errors");
//! let interpreter = Interpreter::new(&instance);
//!
//! let state = interpreter.initial_states()?.next().expect("one initial state");
//! assert_eq!(interpreter.successors(&state)?.len(), 2);
//! assert_eq!(Names::new(&instance).cells(&state)[0].0, "x");
//! # Ok::<(), threadwise_model::expression::Limit>(())
//! ```

mod build;
pub mod eval;
pub mod exclusion;
mod execute;
pub mod expression;
pub mod family;
pub mod influence;
mod initial;
pub mod instance;
pub mod interpreter;
pub mod intervals;
pub mod layout;
pub mod lower;
pub mod names;
pub mod optimise;
pub mod partial;
mod paths;
pub mod simulate;
pub mod state;
pub mod symmetry;
pub mod system;
pub mod tableau;
pub mod temporal;
mod visit;
pub mod witness;
