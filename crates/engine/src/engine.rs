//! The interface of all engines.
//!
//! An engine sees the lowered system and nothing of the source, so it speaks of processes by
//! number and of states as rows of integers. A violation comes with the run that shows it; the
//! caller has the interpreter run it again and so turns it into a trace in the user's terms.

use std::collections::BTreeSet;

use threadwise_evidence::{
    Account, Certificate, Reason, ReasonCode, ReplayError, Stats, Trace, record,
};
use threadwise_lang::program::{LocationId, Span, TemplateId};
use threadwise_model::expression::Failure;
use threadwise_model::instance::Instance;
use threadwise_model::layout::{process_ref, unflatten};
use threadwise_model::system::{CheckKind, ProcessId, System, SystemProperty};

use crate::limits::{Limits, Observer};

/// A method that decides properties.
pub trait Engine {
    /// The name that `--engine` takes.
    fn name(&self) -> &'static str;

    /// Whether the engine can decide the property of the system; if not, why.
    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported>;

    /// Decides several properties, in one go where the method allows. A property that the engine
    /// does not accept is `unknown`, with the reason.
    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome;

    /// Decides one property.
    fn check(
        &self,
        system: &System,
        property: &SystemProperty,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        self.check_all(system, &[property], limits, observer)
    }
}

/// Why an engine cannot decide a property.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unsupported {
    /// In a sentence.
    pub message: String,
    /// What could decide it.
    pub next: Option<String>,
}

impl From<Unsupported> for Reason {
    fn from(unsupported: Unsupported) -> Reason {
        Reason {
            code: ReasonCode::Unsupported,
            message: unsupported.message,
            next: unsupported.next,
            missing: None,
        }
    }
}

/// What an engine found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One for each property asked about, in that order.
    pub answers: Vec<Answer>,
    /// How each came about, in the same order; empty if the engine has nothing to tell.
    pub accounts: Vec<Account>,
    /// What was counted.
    pub stats: Stats,
    /// Whether every reachable state was visited, so that the counts are those of the system.
    pub complete: bool,
    /// A dynamic template of which more processes are started than the system has room for: to
    /// be built again with more.
    pub capacity_exceeded: Option<TemplateId>,
}

/// What an engine found about one property.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It holds.
    Proved(Option<Certificate>),
    /// It does not hold: this run shows it.
    Violated(Run),
    /// No answer.
    Unknown(Reason),
}

/// A state: the value of each cell.
pub type State = Vec<i64>;

/// A run of a system from an initial state to a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The initial state.
    pub initial: State,
    /// Who moved, and the state after.
    pub steps: Vec<(ProcessId, State)>,
    /// What is wrong at the end.
    pub ending: RunEnding,
}

impl Run {
    /// The last state.
    pub fn last(&self) -> &State {
        self.steps.last().map_or(&self.initial, |(_, state)| state)
    }

    /// The run as a trace, if the interpreter can take every step of it again and finds the property violated at
    /// its end. `system` is the instance's lowered form.
    pub fn record(
        &self,
        instance: &Instance,
        system: &System,
        property: &str,
    ) -> Result<Trace, ReplayError> {
        let steps = self
            .steps
            .iter()
            .map(|(process, state)| (process_ref(system, *process), unflatten(system, state)));
        let ending = match &self.ending {
            RunEnding::Loop { from, moves } => threadwise_evidence::RunEnding::Loop {
                from: *from,
                moves: moves.clone(),
            },
            RunEnding::Invariant => threadwise_evidence::RunEnding::Invariant,
            RunEnding::Deadlock => threadwise_evidence::RunEnding::Deadlock,
            RunEnding::Check {
                process,
                kind,
                span,
                ..
            } => threadwise_evidence::RunEnding::Check {
                process: process_ref(system, *process),
                failure: Failure {
                    kind: *kind,
                    span: *span,
                },
            },
        };
        let initial = unflatten(system, &self.initial);
        record(instance, Some(property), initial, steps, ending)
    }
}

/// What is wrong at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// Nothing: it goes on for ever, fair and against a liveness property. The last state is the one after `from` steps.
    Loop {
        /// Where the loop begins.
        from: usize,
        /// Of the steps that change nothing, those in which the process moves, by position from 0. In the others it rests, or has no step.
        moves: BTreeSet<usize>,
    },
    /// The invariant does not hold in the last state.
    Invariant,
    /// The last state is a deadlock.
    Deadlock,
    /// A step from the last state fails a check.
    Check {
        /// Whose step.
        process: ProcessId,
        /// Where it begins.
        from: LocationId,
        /// What fails.
        kind: CheckKind,
        /// Where it stands in the source.
        span: Span,
    },
}
