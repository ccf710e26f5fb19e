//! Engines for liveness properties under fairness.
//!
//! [`Monolithic`] looks for a fair cycle in the product of the whole program and the automaton of the negated property. [`Local`] looks at
//! one process at a time, against a summary of the others.

mod decide;
mod fair;
mod lasso;
mod monolithic;
mod product;
pub mod tableau;

pub use monolithic::Monolithic;

use serde::{Deserialize, Serialize};
use threadwise_engine::{Answer, Engine, Limits, Observer, Outcome, Unsupported};
use threadwise_evidence::{Reason, Stats};
use threadwise_model::system::{System, SystemProperty};

/// Which runs of an abstract process are excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Local liveness: for each process, those in which it moves for ever again; all that fairness speaks of is exposed.
    Plain,
    /// Fair local liveness, variant A: the same with fairness abstracted.
    A,
    /// Fair local liveness, variant B: all, for one process.
    #[default]
    B,
}

/// Looks for fair cycles one process at a time.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Which runs are excluded.
    pub variant: Variant,
    /// Whether one process stands for all that are alike.
    pub symmetric: bool,
    /// Whether proofs come with certificates.
    pub certificates: bool,
    /// Whether proofs are written as outlines.
    pub explain: bool,
    /// What is exposed from the beginning.
    pub exposed: Vec<Exposed>,
}

/// Facts about all processes of a template that everybody sees: whether a variable has one of some values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Exposed {
    /// The template.
    pub template: String,
    /// Its variable; `None` for where a process is.
    pub variable: Option<String>,
    /// Which of the variable's cells.
    pub offset: u32,
    /// Values that are told apart from all others, each by itself.
    pub values: Vec<i64>,
}

impl Variant {
    /// The name that `--engine` takes.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Plain => "local-liveness",
            Variant::A => "fair-local-liveness-a",
            Variant::B => "fair-local-liveness-b",
        }
    }
}

impl Engine for Local {
    fn name(&self) -> &'static str {
        self.variant.name()
    }

    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        decide::accepts(self.name(), system, property)
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        _: &Limits,
        _: &mut dyn Observer,
    ) -> Outcome {
        undecided(self, system, properties)
    }
}

fn undecided(engine: &dyn Engine, system: &System, properties: &[&SystemProperty]) -> Outcome {
    let answer = |property: &&SystemProperty| match engine.accepts(system, property) {
        Ok(()) => Answer::Unknown(Reason::new("no-engine", "no engine decides liveness yet")),
        Err(unsupported) => Answer::Unknown(unsupported.into()),
    };
    Outcome {
        answers: properties.iter().map(answer).collect(),
        accounts: Vec::new(),
        stats: Stats::default(),
        complete: false,
        capacity_exceeded: None,
    }
}
