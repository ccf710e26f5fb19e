//! Engines for every value of the parameters at once.
//!
//! They see the checked program, not an instance of it: there is none. Otherwise they are like all engines: what they say comes with evidence, which
//! others check. A proof is a certificate about all instances; a violation is an instance, and a run of it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use threadwise_evidence::{Account, Certificate, Reason, Stats};
use threadwise_lang::program::Program;
use threadwise_model::instance::Instance;
use threadwise_model::system::System;

use crate::engine::Run;
use crate::limits::{Limits, Observer};

/// A method that decides properties for all values of the parameters.
pub trait FamilyEngine {
    /// The name that `--engine` takes.
    fn name(&self) -> &'static str;

    /// Decides properties for all values of the parameters that have none in the task.
    fn check(&self, task: &Task, observer: &mut dyn Observer) -> FamilyOutcome;
}

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Arc<Program>,
    /// The values of the parameters that have one. The claim is for all values of the others.
    pub fixed: &'a BTreeMap<String, i64>,
    /// Properties by name; `checks` are the built-in checks.
    pub properties: &'a [String],
    /// Whoever can have Horn clauses solved.
    pub solver: Option<&'a dyn HornSolver>,
    /// What the engine may use.
    pub limits: &'a Limits<'a>,
}

/// Has other programs solve Horn clauses.
pub trait HornSolver: Debug + Sync {
    /// Whether the program of this name is there to be asked.
    fn has(&self, program: &str) -> bool;

    /// What the program of this name prints, given clauses in SMT-LIB; or why it prints nothing.
    fn solve(&self, program: &str, clauses: &str) -> Result<String, String>;
}

/// What was found about one property.
#[derive(Debug)]
pub enum FamilyAnswer {
    /// It holds at all instances.
    Proved(Option<Certificate>),
    /// It does not hold at this one.
    Violated(Box<Counterexample>),
    /// No answer.
    Unknown(Reason),
}

/// An instance at which a property does not hold, and how.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The instance.
    pub instance: Instance,
    /// Its lowered form, which the run is of.
    pub system: System,
    /// A shortest run to a violation.
    pub run: Run,
}

/// What was found.
#[derive(Debug)]
pub struct FamilyOutcome {
    /// For each property, in the order of the task, the answer and how it came about.
    pub findings: Vec<(FamilyAnswer, Account)>,
    /// What was counted.
    pub stats: Stats,
}
