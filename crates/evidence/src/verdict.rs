//! What an engine answers, and what it counted on the way.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Certificate, Outline, Reason, Trace};

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
    /// How much was done, in units that budgets are counted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<u64>,
    /// What was measured in each round; empty if nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Measure>,
}

/// What was measured at the end of a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// How large what the engine works with is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// In what the size is counted: `nodes`, `exceptions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Seconds since the engine began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A round of an engine that goes on until its abstraction is good enough.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// What happened, for people.
    pub text: String,
    /// Facts about processes that may be used from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<String>,
    /// What was measured.
    #[serde(default)]
    pub measure: Measure,
}

impl Round {
    /// A round of which nothing but this is known.
    pub fn new(text: impl Into<String>) -> Round {
        Round {
            text: text.into(),
            ..Round::default()
        }
    }

    /// With the facts that it exposed.
    pub fn exposing(mut self, facts: Vec<String>) -> Round {
        self.exposed = facts;
        self
    }

    /// With the size of what the engine works with.
    pub fn sized(mut self, size: usize, unit: &str) -> Round {
        self.measure.size = Some(size as u64);
        self.measure.unit = Some(unit.to_owned());
        self
    }

    /// With the time since the engine began, if there is a clock.
    pub fn after(mut self, seconds: Option<f64>) -> Round {
        self.measure.seconds = seconds;
        self
    }
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
    /// What happened, round by round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// What whoever reads the verdict should know besides, in sentences: what was exposed because the property speaks of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Of a proof: that there was nothing to prove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuous: Option<Vacuity>,
    /// What was exposed in the end, for other instances to begin with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<Exposed>,
    /// The proof in readable form, if it was asked for and the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outline: Option<Outline>,
}

/// Facts about all processes of a template that everybody sees: whether a variable has one of some values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exposed {
    /// The template.
    pub template: String,
    /// Its variable; `None` for where a process is.
    pub variable: Option<String>,
    /// Which of the variable's cells.
    pub offset: u32,
    /// The values.
    pub values: Vec<i64>,
    /// Whether this is about processes that the property speaks of, or about the others.
    pub mentioned: bool,
}

/// Why a liveness property holds whatever the program does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Vacuity {
    /// No run is fair: the assumptions contradict each other, or the program.
    NoFairRun,
    /// What should be followed by something never happens.
    NeverTriggered {
        /// Which conjuncts of the formula wait for it, by number from 0: what an engine knows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conjuncts: Vec<usize>,
        /// What never happens, as in the source: what people are told.
        #[serde(default)]
        triggers: Vec<String>,
    },
}

impl fmt::Display for Vacuity {
    /// To follow "proved, but vacuously:".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Vacuity::NoFairRun => f.write_str("no run is fair as it assumes"),
            Vacuity::NeverTriggered { triggers, .. } => {
                f.write_str("this never happens: ")?;
                f.write_str(&triggers.join("; "))
            }
        }
    }
}

impl Account {
    /// The statistics of a job with those of this property.
    pub fn join(&self, stats: &Stats) -> Stats {
        let rounds: Vec<Measure> = self.rounds.iter().map(|r| r.measure.clone()).collect();
        let measured = rounds.iter().any(|measure| *measure != Measure::default());
        Stats {
            rounds: if measured { rounds } else { Vec::new() },
            refinements: self.refinements,
            extensions: self.extensions,
            predicates: self.predicates,
            ..stats.clone()
        }
    }
}
