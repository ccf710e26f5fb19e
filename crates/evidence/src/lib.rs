//! Evidence: what an engine's answer rests on, as plain data that can be written down, read back
//! and checked by somebody else.
//!
//! A [`Verdict`] is `proved` with a [`Certificate`] where the method has one, `violated` with a
//! [`Trace`], or `unknown` with a [`Reason`]. Formats carry a version. Nothing here is trusted
//! because of where it came from: files may be hostile, and reading them ends in an error at
//! worst.
//!
//! [`record`] and [`Recorder`] make a trace of a run, [`replay`] lets the interpreter take a trace's
//! steps again, and [`Trace::to_json`] writes it down. For people and for other tools, `threadwise-show` does.
//!
//! A certificate's claims are about sets of states, which are decision graphs ([`dag`]); [`certificate`]
//! has what engines need to write them in terms of the source.
//!
//! ```
//! # use std::{collections::BTreeMap, sync::Arc};
//! # use threadwise_model::{instance::Instance, simulate::{Event, Simulation}};
//! use threadwise_evidence::{Recorder, RunEnding, Trace, Value, replay};
//!
//! let text = "shared x: 0..3 = 1; process S { a: x := x + 1; b: skip; }";
//! # let program = threadwise_lang::check(text).program.expect("no errors");
//! # let instance = Instance::new(Arc::new(program), &BTreeMap::new()).expect("no errors");
//! let mut simulation = Simulation::new(&instance, 0)?;
//! let mut recorder = Recorder::new(&instance, simulation.state().clone())?;
//! while let Event::Step { process, outcome, .. } = simulation.advance()? {
//!     recorder.outcome(process, &outcome);
//! }
//! let trace = recorder.finish(None, RunEnding::End)?;
//! assert_eq!(trace.steps[0].changes.0, [("x".to_owned(), Value::Int(2))]);
//! replay(&instance, &Trace::from_json(&trace.to_json())?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod arithmetic;
mod cause;
pub mod certificate;
pub mod dag;
mod expression;
pub mod family;
mod lasso;
mod outline;
mod reason;
mod record;
mod remedy;
mod replay;
mod trace;
mod transplant;
mod verdict;

pub use certificate::{
    CERTIFICATE_VERSION, Certificate, CertificateError, Claim, Duty, FairClaim, FairProof, Images,
    Layer, Symmetric,
};
pub use expression::{Expression, length};
pub use lasso::{trigger, triggers};
pub use outline::{LabelOutline, Omission, OtherOutline, Outline, ProcessOutline};
pub use reason::{Missing, Occurs, Reason, ReasonCode};
pub use record::{Recorder, RunEnding, Steps, record};
pub use remedy::{Remedy, remedies};
pub use replay::{CHECKS, ReplayError, annotate, replay};
pub use trace::{
    Assumption, Because, Cause, CheckName, Ending, FailedCheck, FairnessName, Initial, Lasso,
    MemoryModel, Met, Part, Step, TRACE_VERSION, Trace, TraceError, Valuation, Value,
};
pub use transplant::transplant;
pub use verdict::{Account, Exposed, Measure, Round, Stats, Vacuity, Verdict};
