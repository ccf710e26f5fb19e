//! threadwise as a library: read a model, check it, replay a trace; results are data.
//!
//! ```
//! use threadwise::{Options, Session};
//!
//! let text = "
//!     shared x: 0..1 = 0;
//!     process P { set: x := 1; }
//!     invariant small: x <= 1;
//! ";
//! let session = Session::new("small.tw", text);
//! let report = session.check(&Options::default()).unwrap();
//! assert_eq!(report.exit, 0);
//! ```
//!
//! There is no terminal here, no file and no clock. [`Session::check`] runs the engine in this
//! process, with limits that are kept between operations; a caller that needs hard limits runs
//! [`run_job`] in a process of its own, through its own [`Executor`], as the command line does.

#![forbid(unsafe_code)]

mod advice;
mod checking;
mod claim;
mod directive;
mod foreign;
mod grants;
mod in_process;
mod job;
mod judge;
pub mod page;
mod plan;
mod portfolio;
mod registry;
mod report;
mod sarif;
mod seen;
mod session;
mod setting;
mod witness;

pub use directive::{Directive, DirectiveError, Expected, ExpectedScope};
pub use grants::Grants;
pub use in_process::{Host, InProcess, run_job};
pub use job::{
    AskStop, Execution, Executor, Finding, Job, JobEvent, JobOutcome, Runner, Stop, Turn, Whole,
    WireDiagnostic,
};
pub use plan::{
    CHECKS, Denied, Only, Options, Plan, Planned, RequestError, properties, property_exists,
};
pub use portfolio::AUTO;
pub use registry::Registry;
pub use report::{
    Exit, Exposure, Kind, Level, Place, PropertyResult, RelatedPlace, Report, ReportedDiagnostic,
    Run, Scope, VerdictKind,
};
pub use sarif::sarif;
pub use session::{CertifyFailure, Checked, ReplayFailure, Session, values_of};
pub use setting::{Setting, SettingError, Values, combinations};
pub use threadwise_certify::{
    Error as CertifyError, Method as CertifyMethod, Report as CertifyReport,
};
pub use threadwise_engine::{
    Decides, EngineInfo, EngineOptions, Form, HornSolver, Make, OptionInfo, Refused, Setup,
};
pub use threadwise_evidence::{
    Certificate, Claim, Outline, Reason, ReasonCode, Remedy, ReplayError, Stats, Trace, Vacuity,
};
pub use witness::{NoWitness, witness};
