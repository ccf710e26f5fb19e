//! A job for one engine on one instance, or on all, as data, so that it can run in another process.
//!
//! The answer to a job is evidence: one finding for each property. Whoever asked rechecks it.

use serde::{Deserialize, Serialize};
use threadwise_evidence::{Account, Exposed, Stats, Verdict};
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Span;
use threadwise_param::engine::Method;
use threadwise_safety::{Errors, Exceptions, Predicates};

use crate::setting::Values;

/// One engine, one instance or all of them, any number of properties.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The model's text. It was accepted before; the worker reads it again.
    pub text: String,
    /// The value of every parameter. With an engine for all instances, parameters may be left out: the job is about all of their values.
    pub values: Values,
    /// The properties to decide, by name.
    pub properties: Vec<String>,
    /// The engine.
    pub engine: String,
    /// Layers instead of chaining, in `forward`.
    pub breadth_first: bool,
    /// Threads it may use.
    pub threads: u16,
    /// Store one of all states that differ only in who is who.
    pub symmetry: bool,
    /// Compute the assertions of every process or pair, in the engines that have some.
    pub no_symmetry: bool,
    /// Write proofs as outlines, too, in the same engines.
    #[serde(default)]
    pub explain: bool,
    /// When errors are looked for, in `split`.
    pub errors: Errors,
    /// Where predicates come from, in `split` and `thread-modular-refined`.
    pub predicates: Predicates,
    /// Expose who it is that a predicate holds of, in `split`.
    pub witnesses: bool,
    /// Where exceptions come from, in `cartesian`.
    pub exceptions: Exceptions,
    /// How a proof is looked for, in `counter`.
    #[serde(default)]
    pub method: Method,
    /// The program to ask with `--method chc`, if it is not the usual one.
    #[serde(default)]
    pub solver: Option<String>,
    /// What is exposed from the beginning, in the local engines for liveness.
    #[serde(default)]
    pub exposed: Vec<Exposed>,
    /// Go on after every property is decided, until all states are counted.
    pub count_states: bool,
    /// Give up after some amount of work, in the engines for all instances.
    #[serde(default)]
    pub bounded: bool,
    /// Whether proofs are to come with certificates.
    pub certificates: bool,
    /// Seconds it may take.
    pub seconds: Option<f64>,
    /// Bytes it may use.
    pub memory: Option<u64>,
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEvent {
    /// How far it is.
    Progress(Stats),
    /// The end.
    Finished(JobOutcome),
    /// The instance cannot be built.
    Rejected(Vec<WireDiagnostic>),
    /// A fault of threadwise.
    Failed(String),
}

impl JobEvent {
    /// The instance cannot be built, because of these.
    pub(crate) fn rejected(diagnostics: &[Diagnostic]) -> JobEvent {
        JobEvent::Rejected(diagnostics.iter().map(WireDiagnostic::from).collect())
    }
}

/// What an engine found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobOutcome {
    /// One for each property of the job, in its order.
    pub findings: Vec<Finding>,
    /// What was counted.
    pub stats: Stats,
    /// Whether every reachable state was visited, so that their number is exact.
    pub complete: bool,
}

/// The code of a reason: the limit that ended the job was that of the whole invocation.
pub(crate) const TOTAL_TIME: &str = "total-time-limit";

impl JobOutcome {
    /// Says of every time limit that it was the one of the whole invocation, which a job does not
    /// know of.
    pub fn blame_total_time(&mut self) {
        for finding in &mut self.findings {
            if let Verdict::Unknown(reason) = &mut finding.verdict
                && reason.code == "time-limit"
            {
                TOTAL_TIME.clone_into(&mut reason.code);
            }
        }
    }
}

/// What an engine found about one property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The property.
    pub property: String,
    /// The verdict with its evidence.
    pub verdict: Verdict,
    /// How the engine came to it.
    #[serde(default)]
    pub account: Account,
}

/// How a job ended, as the caller sees it.
#[derive(Clone, Debug)]
pub enum Execution {
    /// By itself.
    Finished(JobOutcome),
    /// It was ended from outside.
    Stopped {
        /// By what.
        by: Stop,
        /// The last that was known.
        stats: Stats,
    },
    /// The instance cannot be built.
    Rejected(Vec<Diagnostic>),
    /// The worker failed; the text says how.
    Crashed(String),
}

/// What ended a job, or the recheck after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time for each property.
    Time,
    /// The time for the whole invocation.
    TotalTime,
    /// The memory.
    Memory,
    /// The user.
    Interrupted,
}

/// Says whether to stop, and because of what; asked every few milliseconds.
pub type AskStop<'a> = dyn Fn() -> Option<Stop> + 'a;

/// Whoever runs jobs: in this process, or in another one.
pub trait Executor {
    /// Runs a job to its end.
    fn execute(&mut self, job: &Job) -> Execution;

    /// Has the evidence of the last job rechecked, and says how many seconds it took, if it knows.
    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        check(&|| None);
        None
    }
}

/// A diagnostic as it travels between processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireDiagnostic {
    code: String,
    message: String,
    span: (u32, u32),
    label: String,
    related: Vec<(u32, u32, String)>,
    help: Option<String>,
}

impl From<&Diagnostic> for WireDiagnostic {
    fn from(diagnostic: &Diagnostic) -> Self {
        let related = diagnostic.related.iter();
        WireDiagnostic {
            code: diagnostic.code.as_str().to_owned(),
            message: diagnostic.message.clone(),
            span: (diagnostic.span.start, diagnostic.span.end),
            label: diagnostic.label.clone(),
            related: related
                .map(|(span, text)| (span.start, span.end, text.clone()))
                .collect(),
            help: diagnostic.help.clone(),
        }
    }
}

impl WireDiagnostic {
    /// The diagnostic again; nothing if its code is not one of ours.
    pub fn into_diagnostic(self) -> Option<Diagnostic> {
        let code = Code::ALL.iter().find(|code| code.as_str() == self.code)?;
        let (start, end) = self.span;
        let related = self.related.into_iter();
        Some(Diagnostic {
            code: *code,
            message: self.message,
            span: Span { start, end },
            label: self.label,
            related: related
                .map(|(start, end, text)| (Span { start, end }, text))
                .collect(),
            help: self.help,
        })
    }
}

impl From<JobEvent> for Execution {
    fn from(event: JobEvent) -> Execution {
        match event {
            JobEvent::Finished(outcome) => Execution::Finished(outcome),
            JobEvent::Rejected(wire) => {
                let count = wire.len();
                let known = wire.into_iter().filter_map(WireDiagnostic::into_diagnostic);
                let known: Vec<Diagnostic> = known.collect();
                if known.is_empty() || known.len() < count {
                    Execution::Crashed(
                        "the instance was rejected for a reason that is not known".to_owned(),
                    )
                } else {
                    Execution::Rejected(known)
                }
            }
            JobEvent::Failed(message) => Execution::Crashed(message),
            JobEvent::Progress(_) => {
                Execution::Crashed("the job ended with a progress report".to_owned())
            }
        }
    }
}
