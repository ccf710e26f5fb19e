//! Why there is no answer, or why an answer says less than it could.
//!
//! Engines, jobs and reports agree on these codes, and programs that read reports rely on them. So they are one type here, from which
//! the words in JSON come; the schema and the book list the same, which a test keeps so.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why there is no answer, or why an answer was not rechecked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A stable word for programs, such as `timeout`.
    pub code: ReasonCode,
    /// The same for people, in a sentence.
    pub message: String,
    /// What to try next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What a proof for every value of the parameters lacks, as far as the engine knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<Missing>>,
}

/// Where a proof broke, in the model's words. It is no claim about runs: the state need not be one that they reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What may happen, as far as is known: the step, whose it is, and the fact that may fail.
    pub gap: String,
    /// A state in which it may, in which everything holds that was proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What could help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Missing {
    /// What may happen, without a state.
    pub fn new(gap: impl Into<String>) -> Missing {
        Missing {
            gap: gap.into(),
            state: None,
            help: None,
        }
    }

    /// Adds a state in which it may happen.
    pub fn state(mut self, state: impl Into<String>) -> Missing {
        self.state = Some(state.into());
        self
    }

    /// Adds what could help.
    pub fn help(mut self, help: impl Into<String>) -> Missing {
        self.help = Some(help.into());
        self
    }
}

impl Reason {
    /// A reason without advice.
    pub fn new(code: ReasonCode, message: impl Into<String>) -> Reason {
        Reason {
            code,
            message: message.into(),
            next: None,
            missing: None,
        }
    }

    /// Adds what to try next.
    pub fn next(mut self, next: impl Into<String>) -> Reason {
        self.next = Some(next.into());
        self
    }

    /// Adds what a proof lacks.
    pub fn missing(mut self, missing: Option<Missing>) -> Reason {
        self.missing = missing.map(Box::new);
        self
    }
}

/// Where a code occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurs {
    /// In reports, with `unknown`.
    Unknown,
    /// In reports, with verdicts that were not rechecked.
    Decided,
    /// In what engines answer; reports say it in another way.
    Inside,
}

/// Defines [`ReasonCode`] with its words, where each occurs, and what it is about.
macro_rules! codes {
    ($($name:ident $word:literal $occurs:ident $about:literal;)*) => {
        /// A stable word for programs: why there is no answer, or why an answer says less than it could.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ReasonCode { $(#[doc = $about] #[serde(rename = $word)] $name,)* }

        impl ReasonCode {
            /// Every code.
            pub const ALL: &'static [ReasonCode] = &[$(ReasonCode::$name,)*];

            /// The word, as in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(ReasonCode::$name => $word,)* }
            }

            /// Where it occurs.
            pub fn occurs(self) -> Occurs {
                match self { $(ReasonCode::$name => Occurs::$occurs,)* }
            }

            /// What it is about, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $(ReasonCode::$name => $about,)* }
            }
        }
    };
}

codes! {
    Timeout "timeout" Unknown "The time limit was reached, that of the property or of the whole invocation.";
    Memory "memory" Unknown "The memory limit was reached, or there is no more memory.";
    Interrupted "interrupted" Unknown "The check was interrupted.";
    Cancelled "cancelled" Unknown "Whoever runs the engine cancelled the search.";
    StateLimit "state-limit" Unknown "The limit of states was reached, or there are more than the engine can number.";
    Violations "violations" Unknown "All other properties are violated, and the search for a failing check was given up.";
    Overflow "overflow" Unknown "A computation left the 64 bits of an integer.";
    Integers "integers" Unknown "Integers without bounds that begin with any value began with a few only.";
    Choices "choices" Unknown "A step has more choices than can be gone through one by one.";
    Capacity "capacity" Unknown "More processes are started than there is room for.";
    ReplayLimit "replay-limit" Unknown "A violation was found, and the interpreter cannot replay it.";
    Unsupported "unsupported" Unknown "The engine does not take such programs or properties.";
    Bounded "bounded" Unknown "Proved at some values of the parameters, and the claim is for every value.";
    NoProof "no-proof" Unknown "The engine found neither a proof nor a violation.";
    GuaranteesTooWeak "guarantees-too-weak" Unknown "What processes guarantee each other does not exclude a violation (`thread-modular`).";
    ExceptionsTooWeak "exceptions-too-weak" Unknown "The exceptions of the model do not suffice for a proof (`cartesian`).";
    ExceptionForbidden "exception-forbidden" Unknown "The exceptions of the model contain a state that the property forbids (`cartesian`).";
    NoCertificate "no-certificate" Decided "Not rechecked: the engine gave no certificate.";
    NoRecheck "no-recheck" Decided "Not rechecked: `--no-recheck` asked for that.";
    NotRechecked "not-rechecked" Decided "Not rechecked: the checker cannot say.";
    TimeLimit "time-limit" Inside "The engine's time is over.";
    TotalTimeLimit "total-time-limit" Inside "The time of the whole invocation is over.";
    MemoryLimit "memory-limit" Inside "The engine's memory is used up.";
    Internal "internal" Inside "A bug of threadwise; reported as an internal error.";
}

impl ReasonCode {
    /// Whether a limit or the user ended the check: more time, memory or patience may help.
    pub fn is_limit(self) -> bool {
        match self {
            ReasonCode::Timeout
            | ReasonCode::Memory
            | ReasonCode::Interrupted
            | ReasonCode::TimeLimit
            | ReasonCode::TotalTimeLimit
            | ReasonCode::MemoryLimit => true,
            ReasonCode::Cancelled
            | ReasonCode::StateLimit
            | ReasonCode::Violations
            | ReasonCode::Overflow
            | ReasonCode::Integers
            | ReasonCode::Choices
            | ReasonCode::Capacity
            | ReasonCode::ReplayLimit
            | ReasonCode::Unsupported
            | ReasonCode::Bounded
            | ReasonCode::NoProof
            | ReasonCode::GuaranteesTooWeak
            | ReasonCode::ExceptionsTooWeak
            | ReasonCode::ExceptionForbidden
            | ReasonCode::NoCertificate
            | ReasonCode::NoRecheck
            | ReasonCode::NotRechecked
            | ReasonCode::Internal => false,
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
