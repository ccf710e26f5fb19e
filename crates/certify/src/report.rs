//! What is checked, by which method, and what was counted on the way.

use threadwise_model::instance::Instance;
use threadwise_model::layout::{process_name, unflatten};
use threadwise_model::names::Names;
use threadwise_model::state::State;
use threadwise_model::system::{ProcessId, Step, System};

use crate::rejection::StepName;

/// What was decided on the way to accepting a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How it was decided: by the last method that was needed. Nothing for a claim about all values of the parameters.
    pub method: Option<Method>,
    /// Nodes of the decision graphs.
    pub nodes: usize,
    /// Questions that were decided.
    pub conditions: u64,
    /// Combinations of nodes that walks met.
    pub visits: u64,
    /// Clauses that the solver was given.
    pub clauses: u64,
    /// Conflicts that the solver met.
    pub conflicts: u64,
}

impl Report {
    /// What was counted with decision graphs of so many nodes.
    pub(crate) fn counted(method: Method, nodes: usize, counts: Counts) -> Report {
        Report {
            method: Some(method),
            nodes,
            conditions: counts.questions,
            visits: counts.visits,
            clauses: counts.clauses,
            conflicts: counts.conflicts,
        }
    }

    /// Both together.
    pub(crate) fn and(self, other: Report) -> Report {
        Report {
            method: self.method.max(other.method),
            nodes: self.nodes + other.nodes,
            conditions: self.conditions + other.conditions,
            visits: self.visits + other.visits,
            clauses: self.clauses + other.clauses,
            conflicts: self.conflicts + other.conflicts,
        }
    }
}

/// A way to decide the conditions; the less has to be trusted for it, the earlier it stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The states of the claimed set one by one with the interpreter, if these are few.
    Each,
    /// Walks through decision graphs, if the certificate tests cells in one order.
    Walk,
    /// A SAT solver.
    Solver,
}

/// What certificates are checked against.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) system: &'a System,
    pub(crate) cancel: &'a dyn Fn() -> bool,
}

impl Subject<'_> {
    /// Where every process is in a state of the system, and the value of every cell.
    pub(crate) fn describe(&self, cells: &[i64]) -> Vec<(String, String)> {
        self.describe_state(&unflatten(self.system, cells))
    }

    /// Where every process is in a state, and the value of every cell.
    pub(crate) fn describe_state(&self, state: &State) -> Vec<(String, String)> {
        let names = Names::new(self.instance);
        let locations = names.locations(state).into_iter();
        let locations = locations.map(|(process, label)| (process, label.to_owned()));
        let cells = names.cells(state).into_iter();
        let cells = cells.map(|(name, value)| (name, value.to_string()));
        locations.chain(cells).collect()
    }

    pub(crate) fn name(&self, process: ProcessId, step: &Step) -> StepName {
        let template = &self.system.templates[self.system.template_of(process)];
        StepName {
            process: process_name(self.system, process),
            from: template.locations[step.from].clone(),
            to: Some(template.locations[step.to].clone()),
            span: step.span,
        }
    }
}

/// What deciding took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Questions.
    pub(crate) questions: u64,
    /// Clauses that a solver was given.
    pub(crate) clauses: u64,
    /// Conflicts that a solver met.
    pub(crate) conflicts: u64,
    /// Combinations of nodes that a walk met.
    pub(crate) visits: u64,
}
