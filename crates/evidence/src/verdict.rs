//! What an engine answers, and what it counted on the way.

use serde::{Deserialize, Serialize};

use crate::{Certificate, Outline, Trace};

/// The answer to whether a property holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds. Where a method gives no certificate, the result is not rechecked.
    Proved(Option<Certificate>),
    /// It does not hold: this run shows it.
    Violated(Trace),
    /// No answer.
    Unknown(Reason),
}

/// Why there is no answer, or why an answer was not rechecked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A stable word for programs, such as `time-limit`.
    pub code: String,
    /// The same for people, in a sentence.
    pub message: String,
    /// What to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Reason {
    /// A reason without advice.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Reason {
        Reason {
            code: code.into(),
            message: message.into(),
            next: None,
        }
    }

    /// Adds what to try next.
    pub fn next(mut self, next: impl Into<String>) -> Reason {
        self.next = Some(next.into());
        self
    }
}

/// What an engine counted; only what it knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Time taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Processor time of the engine's process, user and system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// Time that checking certificates took after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck_seconds: Option<f64>,
    /// Distinct states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// Distinct states as a decimal number, where they are too many for `states`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_decimal: Option<String>,
    /// Whether states that differ only in who is who were counted once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to_symmetry: Option<bool>,
    /// Transitions, those to known states included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<u64>,
    /// The length of the longest shortest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// Memory for one state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_state: Option<f64>,
    /// The most bytes stored at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// The most memory that the engine's process had in use, in MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<f64>,
    /// How often the set of errors was extended by their predecessors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<u64>,
    /// Refinements of an abstraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refinements: Option<u64>,
    /// Predicates of an abstraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicates: Option<u64>,
    /// Iterations of a fixpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// The greatest number of nodes of a decision diagram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_nodes: Option<u64>,
}

/// How an engine came to the answer about one property.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Refinements of an abstraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refinements: Option<u64>,
    /// How often the set of errors was extended by their predecessors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<u64>,
    /// Predicates of an abstraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicates: Option<u64>,
    /// What happened, round by round, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<String>,
    /// The proof in readable form, if it was asked for and the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
}

impl Account {
    /// The statistics of a job with those of this property.
    pub fn join(&self, stats: &Stats) -> Stats {
        Stats {
            refinements: self.refinements,
            extensions: self.extensions,
            predicates: self.predicates,
            ..stats.clone()
        }
    }
}
