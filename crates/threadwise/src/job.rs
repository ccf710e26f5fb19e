//! A job for one engine on one instance, or on all, as data, so that it can run in another process.
//!
//! The answer to a job is evidence: one finding for each property. Whoever asked rechecks it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use threadwise_engine::Setup;
use threadwise_evidence::{Account, ReasonCode, Stats, Verdict};
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{Program, Span};

use crate::report::{Scope, VerdictKind};
use crate::setting::Values;

/// One engine, one instance or all of them, any number of properties.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub program: Arc<Program>,
    /// The value of every parameter. With an engine for all instances, parameters may be left out: the job is about all of their values.
    pub values: Values,
    /// The properties to decide, by name.
    pub properties: Vec<String>,
    /// The engine.
    pub engine: String,
    /// How it is to work.
    pub setup: Setup,
    /// The smaller instance to learn from first what to expose from the beginning, in engines that can.
    #[serde(default)]
    pub learn: Option<Values>,
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
    /// It has done the work that was granted, which was so much in all, and waits for more.
    Paused(u64),
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

impl JobOutcome {
    /// Says of every time limit that it was the one of the whole invocation, which a job does not
    /// know of.
    pub fn blame_total_time(&mut self) {
        for finding in &mut self.findings {
            if let Verdict::Unknown(reason) = &mut finding.verdict
                && reason.code == ReasonCode::TimeLimit
            {
                reason.code = ReasonCode::TotalTimeLimit;
            }
        }
    }

    /// Says of everything that was left open because the job was told to come to an end that the user wanted that.
    pub fn blame_interrupt(&mut self) {
        for finding in &mut self.findings {
            if let Verdict::Unknown(reason) = &mut finding.verdict
                && reason.code == ReasonCode::Cancelled
            {
                reason.code = ReasonCode::Interrupted;
            }
        }
    }

    /// Whether something was left open because the user wanted that.
    pub(crate) fn is_interrupted(&self) -> bool {
        let mut verdicts = self.findings.iter().map(|finding| &finding.verdict);
        verdicts.any(
            |verdict| matches!(verdict, Verdict::Unknown(reason) if reason.code == ReasonCode::Interrupted),
        )
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
    /// The system, which gave no more memory or threads.
    Exhausted,
    /// The user.
    Interrupted,
}

/// Says whether to stop, and because of what; asked every few milliseconds.
pub type AskStop<'a> = dyn Fn() -> Option<Stop> + 'a;

/// How far a job went with the work that it was granted.
#[derive(Clone, Debug)]
pub enum Turn {
    /// It has done that much, and could go on.
    Paused,
    /// It is over.
    Ended(Box<Execution>),
}

/// Whoever runs jobs: in this process, or in others.
///
/// Several can be under way. Each goes on until it has done the work that it was granted, and then waits, with all that it knows, to be granted
/// more. A time limit counts from when the first of those under way was begun.
pub trait Executor {
    /// Begins a job, and grants it nothing yet. The number is its name.
    fn begin(&mut self, job: &Job) -> usize;

    /// Lets a job go on until it has done so much work in all; it goes on while others are waited for.
    fn grant(&mut self, number: usize, work: u64);

    /// Waits until a job has done what it was granted.
    fn wait(&mut self, number: usize) -> Turn;

    /// Has a job that waits say what it has found so far, if it can do that in an instant. It does not go on after that.
    fn hurry(&mut self, _number: usize) -> Option<Execution> {
        None
    }

    /// Seconds since the first of the jobs under way was begun, if there is a clock.
    fn elapsed(&self) -> Option<f64> {
        None
    }

    /// Ends a job, if it is not over, and says how many seconds of processor time it took, if that is known.
    fn end(&mut self, number: usize) -> Option<f64>;

    /// Runs a job to its end.
    fn execute(&mut self, job: &Job) -> Execution {
        let number = self.begin(job);
        self.grant(number, u64::MAX);
        let turn = self.wait(number);
        let cpu_seconds = self.end(number);
        let mut execution = match turn {
            Turn::Ended(execution) => *execution,
            Turn::Paused => Execution::Crashed("a job waits for what it has".to_owned()),
        };
        if let Execution::Finished(JobOutcome { stats, .. }) | Execution::Stopped { stats, .. } =
            &mut execution
        {
            stats.cpu_seconds = cpu_seconds;
        }
        execution
    }

    /// Hears of each property that is decided, for whoever waits: at an instance, or for all. What comes of it in the end is in the report.
    fn decided(&mut self, _property: &str, _verdict: VerdictKind, _scope: &Scope) {}

    /// Has the evidence of a job rechecked, within what it left, and says how many seconds it took, if it knows.
    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        check(&|| None);
        None
    }
}

/// Whoever runs jobs only from their beginning to their end.
pub trait Runner {
    /// Runs a job to its end.
    fn run(&mut self, job: &Job) -> Execution;

    /// As of an [`Executor`].
    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        check(&|| None);
        None
    }
}

impl Runner for &mut dyn Runner {
    fn run(&mut self, job: &Job) -> Execution {
        (**self).run(job)
    }

    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        (**self).recheck(check)
    }
}

/// Makes an executor of a runner: each job is run when it is waited for, whatever it was granted.
#[derive(Debug, Default)]
pub struct Whole<R> {
    /// Who runs the jobs.
    pub runner: R,
    jobs: Vec<Job>,
}

impl<R> Whole<R> {
    /// An executor that has it run all jobs.
    pub fn new(runner: R) -> Whole<R> {
        Whole {
            runner,
            jobs: Vec::new(),
        }
    }
}

impl<R: Runner> Executor for Whole<R> {
    fn begin(&mut self, job: &Job) -> usize {
        self.jobs.push(job.clone());
        self.jobs.len() - 1
    }

    fn grant(&mut self, _number: usize, _work: u64) {}

    fn wait(&mut self, number: usize) -> Turn {
        let job = self.jobs.get(number);
        let none = || Execution::Crashed("there is no such job".to_owned());
        let execution = job.map_or_else(none, |job| self.runner.run(job));
        execution.into()
    }

    fn end(&mut self, _number: usize) -> Option<f64> {
        None
    }

    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        self.runner.recheck(check)
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
            // Only the text has fixes, and it is checked before there is a job.
            fix: None,
        })
    }
}

impl From<Execution> for Turn {
    fn from(execution: Execution) -> Turn {
        Turn::Ended(Box::new(execution))
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
            JobEvent::Progress(_) | JobEvent::Paused(_) => {
                Execution::Crashed("the job ended without an answer".to_owned())
            }
        }
    }
}
