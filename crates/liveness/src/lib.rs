//! Engines for liveness properties under fairness.
//!
//! [`Monolithic`] looks for a fair cycle in the product of the whole program and the automaton of the negated property. [`Local`] looks at
//! one process at a time, against a summary of the others.

mod abstraction;
mod closed;
mod concrete;
mod decide;
mod explain;
mod exposure;
mod fair;
mod lasso;
mod local;
mod monolithic;
mod orbits;
mod product;
mod seen;
pub mod tableau;
mod vacuity;

pub use monolithic::Monolithic;
pub use threadwise_evidence::Exposed;

use serde::{Deserialize, Serialize};

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
