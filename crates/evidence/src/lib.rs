//! Evidence: what an engine's answer rests on, as plain data that can be written down, read back
//! and checked by somebody else.
//!
//! A [`Verdict`] is `proved` with a [`Certificate`] where the method has one, `violated` with a
//! [`Trace`], or `unknown` with a [`Reason`]. Formats carry a version. Nothing here is trusted
//! because of where it came from: files may be hostile, and reading them ends in an error at
//! worst.

mod itf;
mod lines;
mod record;
mod replay;
mod text;
mod trace;
mod verdict;

pub use itf::to_itf;
pub use record::{Recorder, RunEnding, record};
pub use replay::{CHECKS, ReplayError, annotate, replay};
pub use text::to_text;
pub use trace::{
    CheckName, Ending, Initial, MemoryModel, Step, TRACE_VERSION, Trace, TraceError, Valuation,
    Value,
};
pub use verdict::{CERTIFICATE_VERSION, Certificate, Claim, Reason, Stats, Verdict};
