//! The independent checker of certificates.
//!
//! A proof that threadwise prints has been checked twice: by the engine that found it, and by this crate, which
//! knows no engine. It lowers the program anew, in the plain form, and decides the conditions that a
//! certificate's claim stands for; `conditions` says which, and by which of three methods. So what an engine computes, how
//! it encodes states and what the optimised form left out need not be trusted. Whoever does not trust this
//! crate either has `threadwise-conditions` write the same conditions for another solver.
//!
//! Claims about all values of the parameters are another matter: `family` lists their conditions, and they bring proofs, which are checked by adding up.
//!
//! What is trusted: the front end, the plain lowering, and either its evaluator or the encoding here and the walks or the SAT solver. A condition that
//! does not hold is never merely reported: the state that shows it is evaluated by `model::eval`.
//!
//! ```
//! # use std::{collections::BTreeMap, sync::Arc};
//! # use threadwise_model::{instance::Instance, lower::lower, eval};
//! use threadwise_certify::check;
//! use threadwise_evidence::{Certificate, certificate, dag::Dag};
//!
//! let text = "shared x: 0..3 = 0; process P[i: 1..2] { loop { a: x := 1 - x; } } invariant small: x < 2;";
//! # let program = threadwise_lang::check(text).program.expect("no errors");
//! # let instance = Instance::new(Arc::new(program), &BTreeMap::new()).expect("no errors");
//! # let system = lower(&instance, 0).expect("small");
//! let mut states = certificate::builder(&system).expect("finite").states();
//! // The values of x, P[1] and P[2].
//! states.push(&[0, 0, 0])?;
//! states.push(&[1, 0, 0])?;
//! let proof = Certificate::inductive(&system, "small", states.finish()?);
//! assert!(check(&instance, &proof, "small", &|| false).is_ok());
//!
//! let wrong = Certificate::inductive(&system, "small", Dag::leaf(true));
//! let error = check(&instance, &wrong, "small", &|| false).unwrap_err();
//! assert!(error.to_string().contains("`small` does not hold"));
//! # Ok::<(), threadwise_evidence::dag::DagError>(())
//! ```

mod automaton;
mod check;
mod claimed;
mod conditions;
mod each;
mod encode;
mod fair;
mod family;
mod fit;
mod graph;
mod listing;
mod logic;
mod ordered;
mod parts;
mod procedure;
mod rejection;
mod report;
mod solver;
mod space;
mod step;
mod value;
mod walk;
mod wording;

pub use check::{check, check_all, check_with};
pub use claimed::{Claimed, Part, claimed};
pub use family::{Judge, Table, check_family, list_family};
pub use rejection::{
    Condition, Error, FairFault, FairPlace, Fault, Rejection, StepName, Turn, Unproved,
};
pub use report::{Method, Report};
