//! A run of a program in source terms: names and values as people write them, so that a file of
//! it can be read without threadwise and survives changes inside threadwise.
//!
//! The initial state is complete; each step lists only what it changed.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use threadwise_model::names;
use threadwise_model::system::CheckKind;

/// The version of the trace format that this library writes and reads.
pub const TRACE_VERSION: u32 = 1;

/// A run that violates a property, or a simulated one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The version of the format.
    pub version: u32,
    /// The memory model.
    pub memory_model: MemoryModel,
    /// The property that is violated; absent for a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The value of every parameter.
    pub params: BTreeMap<String, i64>,
    /// The state it begins in.
    pub initial: Initial,
    /// The steps.
    pub steps: Vec<Step>,
    /// For a run without end: after the last step it goes on as after this many steps, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_from: Option<usize>,
    /// What happens in the last state.
    pub ending: Ending,
    /// For a run without end that violates a property: what of it, and why the run is fair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasso: Option<Lasso>,
    /// Why the last state violates the property: what makes the invariant false, or who waits for what in a deadlock. Nobody has to believe it: the state
    /// says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
}

/// Why an invariant is false, or a process waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The process that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The label it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The values of the variables that `forall` binds for which the invariant is false.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub values: Valuation,
    /// The part of the invariant that is false, if it is not the whole; or what the process waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The line where that stands, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The process that holds the mutex that is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Where the processes are that it speaks of.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub locations: Valuation,
    /// The values of the variables that it reads.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub variables: Valuation,
}

/// Why a run without end is a violation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lasso {
    /// The parts of the property that do not hold: the property itself, or some of those that hold together if it does.
    pub violated: Vec<Part>,
    /// Why the fairness that the property assumes is met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fairness: Vec<Assumption>,
}

/// A part of a property that does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The values of the variables that `forall` binds around it.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub values: Valuation,
    /// The line where it stands, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Of what should always hold: after how many steps it does not, for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
    /// The check that fails there, if that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<FailedCheck>,
}

/// An assumption of fairness, for some values or processes, and why it is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    /// The name of its declaration.
    pub declaration: String,
    /// The line where it stands, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What kind it is.
    pub kind: FairnessName,
    /// Why it is met.
    pub because: Because,
    /// The predicate that holds, or never does, as in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// For whom, or what.
    pub met: Vec<Met>,
}

/// The kinds of fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FairnessName {
    /// `unconditional`
    Unconditional,
    /// `weak`
    Weak,
    /// `strong`
    Strong,
}

/// Why an assumption of fairness is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// The process is scheduled in the loop.
    Scheduled,
    /// What should hold again and again holds in the loop.
    Holds,
    /// The condition of `strong` never holds in the loop.
    Never,
}

/// Where an assumption is met for one process, or for values of its variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met {
    /// The process that is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The values of the variables that `forall` binds.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub values: Valuation,
    /// The first step of the loop that does it, or after which it holds; from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}

/// Why a text is not a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Another version of the format.
    #[error(
        "this is version {found} of the trace format; this threadwise reads version {TRACE_VERSION}"
    )]
    Version {
        /// The version it has.
        found: u64,
    },
    /// Not JSON, or not of this form.
    #[error("this is no trace: {0}")]
    Form(#[from] serde_json::Error),
}

impl Trace {
    /// Reads a trace from JSON.
    pub fn from_json(text: &str) -> Result<Trace, TraceError> {
        // The version first: of another version nothing else need be as expected.
        #[derive(Deserialize)]
        struct Envelope {
            version: u64,
        }
        let envelope: Envelope = serde_json::from_str(text)?;
        if envelope.version != u64::from(TRACE_VERSION) {
            return Err(TraceError::Version {
                found: envelope.version,
            });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The trace as JSON, one line a field.
    pub fn to_json(&self) -> String {
        // Maps with text keys and no floats: this cannot fail, and an empty text is no trace.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// The memory model of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryModel {
    /// Sequential consistency.
    #[serde(rename = "sc")]
    SequentiallyConsistent,
}

/// A complete state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Initial {
    /// The location of every process, by the process's name: `P[2]`, `Server`.
    pub locations: Valuation,
    /// The value of every cell: `x`, `flag[2]`, `P[1].k`, `Server.k`.
    pub variables: Valuation,
}

/// A step of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The process: `P[2]`.
    pub process: String,
    /// The label it was at.
    pub from: String,
    /// The label it went to.
    pub to: String,
    /// The line of the statement that the step begins with, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The lines of the statements that it executes after that, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<u32>,
    /// The process rests (`stay`): nothing changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
    /// The process is scheduled, but has no step: nothing changes. In runs without end only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idle: bool,
    /// The cells that changed, with their new values.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub changes: Valuation,
    /// Processes that were started, with the labels they begin at; their cells are among the changes.
    #[serde(default, skip_serializing_if = "Valuation::is_empty")]
    pub started: Valuation,
}

impl Step {
    /// Whether another step is one of the same process that does the same, wherever it stands in the source.
    pub fn does_the_same(&self, other: &Step) -> bool {
        (&self.process, &self.from, &self.to) == (&other.process, &other.from, &other.to)
            && (self.rest, self.idle) == (other.rest, other.idle)
            && self.changes.sorted() == other.changes.sorted()
            && self.started.sorted() == other.started.sorted()
    }
}

/// What happens in the last state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// The invariant named by the trace is false there, or its evaluation fails.
    Invariant {
        /// Why its evaluation fails, if that is why it does not hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fails: Option<FailedCheck>,
    },
    /// A check fails in the step that a process could take next.
    Check {
        /// The process.
        process: String,
        /// The label it is at.
        from: String,
        /// Which check.
        check: CheckName,
        /// The line of the check, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// The lines of the statements that the step executes before it, each once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<u32>,
        /// The cells that the step has changed by then, with their values there.
        #[serde(default, skip_serializing_if = "Valuation::is_empty")]
        changes: Valuation,
        /// What the check stands for in the program that the model was made from, if it says more than `check`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meaning: Option<String>,
    },
    /// No process can do anything but rest, and some process has not ended.
    Deadlock,
    /// Nothing: the run stops here, or goes on for ever if there is `loop_from`.
    End,
}

/// A check that fails while a property is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// Which check.
    pub check: CheckName,
    /// The line of the expression that fails, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A built-in check, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckName {
    /// An assertion.
    Assert,
    /// A value outside the type it is written to.
    Range,
    /// An index outside the array.
    Index,
    /// A division by zero.
    Division,
    /// A number that is no id, or `none` where an id is needed.
    Id,
    /// `unlock` of a mutex that the process does not hold.
    Unlock,
    /// `min` or `max` over nothing.
    Empty,
    /// The same cell twice in one assignment.
    SameCell,
}

impl From<CheckKind> for CheckName {
    fn from(kind: CheckKind) -> CheckName {
        match kind {
            CheckKind::Assert => CheckName::Assert,
            CheckKind::Range => CheckName::Range,
            CheckKind::Index => CheckName::Index,
            CheckKind::Division => CheckName::Division,
            CheckKind::Id => CheckName::Id,
            CheckKind::Unlock => CheckName::Unlock,
            CheckKind::Empty => CheckName::Empty,
            CheckKind::SameCell => CheckName::SameCell,
        }
    }
}

impl fmt::Display for CheckName {
    /// What went wrong, to follow "because".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CheckName::Assert => "the assertion is false",
            CheckName::Range => "the value is outside the type of the variable",
            CheckName::Index => "the index is outside the array",
            CheckName::Division => "the divisor is zero",
            CheckName::Id => "there is no such process",
            CheckName::Unlock => "the process does not hold the mutex",
            CheckName::Empty => "there is no least or greatest of nothing",
            CheckName::SameCell => "one assignment writes the same cell twice",
        })
    }
}

/// A value in source terms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer, or the number of a process.
    Int(i64),
    /// A member of an enumeration, a label, `none`, `free`, or the process that holds a mutex.
    Name(String),
}

impl From<names::Value> for Value {
    fn from(value: names::Value) -> Value {
        match value {
            names::Value::Bool(value) => Value::Bool(value),
            names::Value::Int(value) => Value::Int(value),
            names::Value::Name(name) => Value::Name(name),
        }
    }
}

impl From<&Value> for names::Value {
    fn from(value: &Value) -> names::Value {
        match value {
            Value::Bool(value) => names::Value::Bool(*value),
            Value::Int(value) => names::Value::Int(*value),
            Value::Name(name) => names::Value::Name(name.clone()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Name(name) => f.write_str(name),
        }
    }
}

/// Names with values, in source order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Valuation(pub Vec<(String, Value)>);

impl Valuation {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names and values, by name.
    pub(crate) fn sorted(&self) -> Vec<(&str, &Value)> {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(name, _)| *name);
        entries
    }

    /// The first few, in words.
    pub(crate) fn first_few(&self) -> String {
        const SHOWN: usize = 5;
        let shown = self.iter().take(SHOWN);
        let mut parts: Vec<String> = shown
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if self.0.len() > SHOWN {
            parts.push("..".to_owned());
        }
        parts.join(", ")
    }

    /// The names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Serialize for Valuation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Valuation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Valuation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Valuation, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Valuation(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
