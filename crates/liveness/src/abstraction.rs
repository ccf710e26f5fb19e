//! What one process sees of the product: itself, what is shared, and the facts that are exposed of the others.
//!
//! A step of another process is what can be seen of it, taken where its assertion holds. A predicate about others *may* hold where
//! what is hidden of them can be such that it does, and *surely* holds where it cannot be such that it does not. Every run of the product
//! is a run of the abstract process, and fair there if it is fair: predicates that are assumed to hold infinitely often may hold, and only
//! those that surely hold must be answered. (Cohen, Namjoshi and Sa'ar, "A dash of fairness for compositional reasoning", CAV 2010,
//! Sections 3.4 and 4. Terms about the process itself are exact, as in Remark 0 there.)

use std::collections::BTreeSet;

use index_vec::IndexVec;
use threadwise_model::system::{Expr, ProcessId};
use threadwise_model::temporal::Fairness;
use threadwise_safety::split::{Assertions, View, summary};
use threadwise_symbolic::{Bdd, Diagrams, Halt, Hidden, Layout, Search, Symbolic, Transition};

use crate::fair::Conditions;
use crate::monolithic::conditions;
use crate::product::{Extended, Graph, Promises};

/// The assertions of all processes, and what is seen of their steps, in the diagrams of the product.
pub(crate) struct Abstraction {
    /// What of the product is seen by whom.
    pub(crate) view: View,
    /// What everybody sees.
    pub(crate) common: Bdd,
    /// The assertion of each process, over what is shared and its own cells.
    pub(crate) own: IndexVec<ProcessId, Bdd>,
    /// What is seen of the steps of each process.
    seen: IndexVec<ProcessId, Vec<Transition>>,
    /// Where it can be that a process changes nothing.
    still: IndexVec<ProcessId, Bdd>,
    /// Whose each variable is.
    whose: Vec<Option<ProcessId>>,
}

/// The layout of the product that goes with one of the program: new cells come after those of no process.
pub(crate) fn layout(program: &Layout, extended: &Extended) -> Layout {
    let mut layout = program.clone();
    let new = (extended.program_cells..extended.system.cells).map(index_vec::Idx::from_usize);
    layout.order.splice(0..0, new);
    layout
}

impl Abstraction {
    /// The abstraction that goes with a split invariant of the program.
    pub(crate) fn new(
        search: &Search,
        program: &Symbolic,
        assertions: &Assertions,
    ) -> Result<Self, Halt> {
        let symbolic = &search.symbolic;
        let d = &symbolic.diagrams;
        let view = View::new(symbolic, &Default::default())?;
        let whose = view.whose(symbolic);
        // Codes that stand for no value, where nothing is seen, are left open again.
        let common = symbolic.import(program, &assertions.common)?;
        let common = view.hidden.forget(d, &common)?;
        let mut own = IndexVec::new();
        let mut seen = IndexVec::new();
        let mut still = IndexVec::new();
        for (process, assertion) in assertions.own.iter_enumerated() {
            search.breathe()?;
            let assertion = symbolic.import(program, assertion)?;
            // Codes of other processes' cells that stand for no value are none of its business.
            let vars = d.support(&assertion).into_iter();
            let others = vars.filter(|var| whose[*var as usize].is_some_and(|o| o != process));
            let assertion = Hidden::new(d, others)?.forget(d, &assertion)?;
            let hidden = &view.own[process].hidden;
            let moves = &symbolic.transitions.moves[process];
            let mut moves = summary(d, moves, &assertion, hidden)?;
            let mut idle = hidden.forget_and(d, &symbolic.still(process)?, &assertion)?;
            // A step that changes nothing of what is seen is as good as none.
            for transition in &symbolic.transitions.moves[process] {
                let projected = transition.project(d, &assertion, hidden)?;
                if projected.is_idle() {
                    idle = d.or(&idle, &projected.guard)?;
                }
            }
            moves.retain(|transition| !d.is_empty(&transition.guard));
            seen.push(moves);
            still.push(idle);
            own.push(assertion);
        }
        Ok(Abstraction {
            view,
            common,
            own,
            seen,
            still,
            whose,
        })
    }

    /// Whose each variable is.
    pub(crate) fn whose(&self) -> &[Option<ProcessId>] {
        &self.whose
    }

    /// Where a predicate may hold, as a process sees it.
    fn may(&self, d: &Diagrams, process: ProcessId, set: &Bdd) -> Result<Bdd, Halt> {
        let vars = d.support(set).into_iter();
        let others: BTreeSet<ProcessId> = vars
            .filter_map(|var| self.whose[var as usize])
            .filter(|other| *other != process)
            .collect();
        let mut may = set.clone();
        for other in others.into_iter().rev() {
            may = self.view.own[other]
                .hidden
                .forget_and(d, &may, &self.own[other])?;
        }
        Ok(may)
    }

    /// Where a predicate surely holds, and where it may, as a process sees it.
    fn bounds(&self, d: &Diagrams, process: ProcessId, set: &Bdd) -> Result<(Bdd, Bdd), Halt> {
        let may = self.may(d, process, set)?;
        let may_not = self.may(d, process, &d.not(set)?)?;
        Ok((d.not(&may_not)?, may))
    }

    /// The abstract process. What it sees must decide the predicates of the automaton.
    pub(crate) fn graph(
        &self,
        symbolic: &Symbolic,
        extended: &Extended,
        process: ProcessId,
    ) -> Result<Graph, Halt> {
        let d = &symbolic.diagrams;
        let promises = Promises::new(extended, symbolic, &mut |predicate, positive| {
            let set = symbolic.states(predicate)?;
            let set = if positive { set } else { d.not(&set)? };
            self.may(d, process, &set)
        })?;
        let mut moves = self.seen.clone();
        moves[process] = symbolic.transitions.moves[process].clone();
        let mut still = self.still.clone();
        still[process] = symbolic.still(process)?;
        let others = self.view.hidden_outside(d, |other| other == process)?;
        let initial = d.and(&others.forget(d, &symbolic.initial)?, &promises.root)?;
        let all = symbolic.encoding.vars_of(&symbolic.encoding.order(), false);
        let hidden: &Hidden = &others;
        let mut seen: Vec<u32> = all
            .into_iter()
            .filter(|var| !hidden.vars().contains(var))
            .collect();
        seen.sort_unstable();
        Ok(Graph {
            moves,
            still,
            initial,
            seen,
            promises,
        })
    }

    /// Fairness as an abstract process sees it. With a mover, runs in which it moves for ever again are looked for.
    pub(crate) fn conditions(
        &self,
        symbolic: &Symbolic,
        extended: &Extended,
        graph: &Graph,
        terms: &[Fairness<Expr>],
        process: ProcessId,
        mover: Option<ProcessId>,
    ) -> Result<Conditions, Halt> {
        let d = &symbolic.diagrams;
        conditions(extended, symbolic, graph, terms, mover, &mut |predicate| {
            let set = symbolic.states(&extended.predicate(predicate))?;
            self.bounds(d, process, &set)
        })
    }

    /// The same abstract process with those steps of others alone that they can surely take, whatever is hidden of them.
    pub(crate) fn sure(
        &self,
        symbolic: &Symbolic,
        graph: &Graph,
        process: ProcessId,
    ) -> Result<Graph, Halt> {
        let d = &symbolic.diagrams;
        let mut moves = graph.moves.clone();
        let mut still = graph.still.clone();
        for other in graph.moves.indices() {
            if other == process {
                continue;
            }
            let (hidden, own) = (&self.view.own[other].hidden, &self.own[other]);
            let surely = |set: &Bdd| -> Result<Bdd, Halt> {
                let not = hidden.forget(d, &d.minus(own, set)?)?;
                Ok(d.not(&not)?)
            };
            let mut sure = Vec::new();
            for transition in &symbolic.transitions.moves[other] {
                let projected = transition.project(d, own, hidden)?;
                if projected.is_idle() {
                    continue;
                }
                let guard = d.and(&projected.guard, &surely(&transition.guard)?)?;
                sure.extend(projected.guarded(d, guard)?);
            }
            moves[other] = sure;
            still[other] = d.and(&still[other], &surely(&symbolic.still(other)?)?)?;
        }
        Ok(Graph {
            moves,
            still,
            initial: graph.initial.clone(),
            seen: graph.seen.clone(),
            promises: graph.promises.clone(),
        })
    }
}
