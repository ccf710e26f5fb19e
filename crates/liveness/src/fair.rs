//! Which states have a fair run: everything else is deleted, layer by layer.
//!
//! A run is *fair* here if it does each of some duties infinitely often and meets strong assumptions. A duty is a set of states and
//! perhaps a process: to take a step, of that process, from one of the states. (So "process k is scheduled infinitely often" needs no variable
//! that says who is.) What is left when nothing can be deleted is the *fair hull*: from each of its states, steps within it lead to every
//! duty. If nothing is left, the layers are a proof that no run is fair: no fair run is in a deleted set for ever again.
//!
//! Fair runs end up where steps lead to from states that fulfil the automaton's obligations: mostly few of all, those after a run has begun to
//! violate the property. Deletion begins there, and what leads there, which it would otherwise ask about again and again, is deleted as a whole in the end.
//!
//! After Emerson and Lei ("Modalities for model checking", 1987), with edges instead of states.

use threadwise_evidence::Duty;
use threadwise_model::system::ProcessId;
use threadwise_symbolic::{Bdd, Diagrams, Halt, Search};

use crate::closed::{Closing, Question};
use crate::product::Graph;

/// What a run must do infinitely often.
pub(crate) struct Must {
    /// Its name in a certificate.
    pub(crate) duty: Duty,
    /// Take a step from one of these states,
    pub(crate) from: Bdd,
    /// of this process, if it matters whose.
    pub(crate) mover: Option<ProcessId>,
}

/// A strong assumption: infinitely often `p` only if infinitely often `q`.
pub(crate) struct Strong {
    /// Which assumption of the alternative.
    pub(crate) term: usize,
    /// Where it surely is asked for: where `p` holds, whatever is not seen.
    pub(crate) p: Bdd,
    /// Where it may be met.
    pub(crate) q: Bdd,
    /// Whose steps are most likely to meet it.
    pub(crate) of: Option<ProcessId>,
}

/// What makes a run fair.
#[derive(Default)]
pub(crate) struct Conditions {
    pub(crate) musts: Vec<Must>,
    pub(crate) strong: Vec<Strong>,
}

/// What was deleted, and why.
pub(crate) enum Deleted {
    /// These have no successors.
    Stuck(Bdd),
    /// These are closed, and lack a duty.
    Unfair(Duty, Bdd),
    /// These are closed, and lack the second half of a strong assumption; those with the first half were deleted.
    Strong(usize, Bdd),
}

/// The states with fair runs.
pub(crate) struct Hull {
    /// The reachable states: they contain the initial ones, and no step leads out of them.
    pub(crate) reached: Bdd,
    /// What is left of them.
    pub(crate) left: Bdd,
    /// What was deleted, in order.
    pub(crate) layers: Vec<Deleted>,
    /// What no fair run comes back to, since it lacks a duty: it is deleted when nothing is left of what it leads to, the last first.
    aside: Vec<(Duty, Bdd)>,
}

/// All states that are reached.
fn reach(search: &mut Search, graph: &Graph) -> Result<Bdd, Halt> {
    forwards(search, graph, &graph.initial, None, None)
}

/// What steps lead to from a set, itself included: steps within another set, and from some states only, if these are given.
fn forwards(
    search: &mut Search,
    graph: &Graph,
    from: &Bdd,
    within: Option<&Bdd>,
    steps_from: Option<&Bdd>,
) -> Result<Bdd, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let mut reached = from.clone();
    // A full turn without anything new ends it.
    let processes = graph.moves.len();
    let mut quiet = 0;
    let mut next = 0;
    while quiet < processes {
        search.breathe()?;
        let process = ProcessId::from_usize(next);
        let mut after = match steps_from {
            Some(states) => graph.post(d, process, &d.and(&reached, states)?)?,
            None => graph.post(d, process, &reached)?,
        };
        if let Some(within) = within {
            after = d.and(&after, within)?;
        }
        let grown = d.or(&reached, &after)?;
        quiet = if grown == reached { quiet + 1 } else { 0 };
        reached = grown;
        next = (next + 1) % processes;
        if next == 0 {
            search.round();
        }
    }
    Ok(reached)
}

/// A set of states that contains the initial ones and that no step leads out of, without computing what is reached: wherever the program
/// can be, the automaton may begin.
fn start(search: &mut Search, graph: &Graph, program: &Bdd) -> Result<Bdd, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let bounds = graph.start(d, program)?;
    if bounds.least == bounds.most {
        return Ok(bounds.least);
    }
    forwards(
        search,
        graph,
        &bounds.least,
        Some(&bounds.most),
        Some(&bounds.leaving),
    )
}

/// Deletes what has no fair run. `program` are states of the program that contain the initial ones and that no step leads out of. Only if
/// something is left of those that could be reached by them, the states that are reached are computed.
pub(crate) fn decide(
    search: &mut Search,
    graph: &Graph,
    conditions: &Conditions,
    program: &Bdd,
    reached: &mut Option<Bdd>,
) -> Result<Hull, Halt> {
    if let Some(reached) = reached {
        return hull(search, graph, conditions, reached.clone());
    }
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let start = start(search, graph, program)?;
    let quick = hull(search, graph, conditions, start)?;
    if d.is_empty(&quick.left) {
        return Ok(quick);
    }
    // What was deleted has no fair run, wherever it is begun from.
    let reached = reached.insert(reach(search, graph)?).clone();
    let rest = Hull {
        left: d.and(&quick.left, &reached)?,
        reached,
        layers: quick.layers,
        aside: quick.aside,
    };
    delete(search, graph, conditions, rest)
}

/// Deletes what has no fair run.
pub(crate) fn hull(
    search: &mut Search,
    graph: &Graph,
    conditions: &Conditions,
    reached: Bdd,
) -> Result<Hull, Halt> {
    let all = Hull {
        left: reached.clone(),
        reached,
        layers: Vec::new(),
        aside: Vec::new(),
    };
    delete(search, graph, conditions, all)
}

/// Goes on deleting.
fn delete(
    search: &mut Search,
    graph: &Graph,
    conditions: &Conditions,
    mut hull: Hull,
) -> Result<Hull, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    for must in &conditions.musts {
        if matches!(must.duty, Duty::Obligation(_) | Duty::Mover) {
            hull.put_aside(search, d, graph, must)?;
        }
    }
    // Without duties a run must go on at least.
    if conditions.musts.is_empty() {
        hull.trim(search, d, graph)?;
    }
    let closing = Closing::new(graph);
    let count = conditions.musts.len() + conditions.strong.len();
    let mut quiet = 0;
    let mut next = 0;
    while quiet < count && !d.is_empty(&hull.left) {
        search.breathe()?;
        let before = hull.left.clone();
        match conditions.musts.get(next) {
            Some(must) => hull.lacking(search, d, graph, &closing, must)?,
            None => {
                let strong = &conditions.strong[next - conditions.musts.len()];
                hull.unanswered(search, d, &closing, strong)?;
                if hull.left != before && conditions.musts.is_empty() {
                    hull.trim(search, d, graph)?;
                }
            }
        }
        // After a deletion everything is asked again, what led to it included.
        quiet = if hull.left == before { quiet + 1 } else { 0 };
        if quiet == 0 {
            search.round();
            continue;
        }
        next = (next + 1) % count;
    }
    if d.is_empty(&hull.left) {
        let aside = std::mem::take(&mut hull.aside).into_iter().rev();
        let unfair = aside.map(|(duty, set)| Deleted::Unfair(duty, set));
        hull.layers.extend(unfair);
    }
    Ok(hull)
}

impl Hull {
    /// Leaves what steps lead to from where a duty can be done: fair runs are there from some time on.
    fn put_aside(
        &mut self,
        search: &mut Search,
        d: &Diagrams,
        graph: &Graph,
        must: &Must,
    ) -> Result<(), Halt> {
        let from = d.and(&self.left, &must.from)?;
        if from == self.left {
            return Ok(());
        }
        let after = forwards(search, graph, &from, Some(&self.left), None)?;
        let before = d.minus(&self.left, &after)?;
        if !d.is_empty(&before) {
            self.left = after;
            self.aside.push((must.duty, before));
        }
        Ok(())
    }

    fn trim(&mut self, search: &Search, d: &Diagrams, graph: &Graph) -> Result<(), Halt> {
        while !d.is_empty(&self.left) {
            let promised = graph.promised(d, &self.left)?;
            let mut stuck = self.left.clone();
            for process in graph.moves.indices() {
                search.breathe()?;
                stuck = graph.leading_nowhere(d, process, &stuck, &promised)?;
                if d.is_empty(&stuck) {
                    return Ok(());
                }
            }
            self.left = d.minus(&self.left, &stuck)?;
            self.layers.push(Deleted::Stuck(stuck));
        }
        Ok(())
    }

    fn lacking(
        &mut self,
        search: &mut Search,
        d: &Diagrams,
        graph: &Graph,
        closing: &Closing,
        must: &Must,
    ) -> Result<(), Halt> {
        let done = doing(search, graph, must, &self.left)?;
        let question = Question {
            within: &self.left,
            part: &done,
            matter: &self.left,
            first: must.mover,
        };
        let lacking = closing.closed(search, &question)?;
        if !d.is_empty(&lacking) {
            self.left = d.minus(&self.left, &lacking)?;
            self.layers.push(Deleted::Unfair(must.duty, lacking));
        }
        Ok(())
    }

    fn unanswered(
        &mut self,
        search: &mut Search,
        d: &Diagrams,
        closing: &Closing,
        strong: &Strong,
    ) -> Result<(), Halt> {
        let asked = d.and(&self.left, &strong.p)?;
        if d.is_empty(&asked) {
            return Ok(());
        }
        let answered = d.and(&self.left, &strong.q)?;
        let question = Question {
            within: &self.left,
            part: &answered,
            matter: &asked,
            first: strong.of,
        };
        let never = closing.closed(search, &question)?;
        let removed = d.and(&never, &strong.p)?;
        if !d.is_empty(&removed) {
            self.left = d.minus(&self.left, &removed)?;
            self.layers.push(Deleted::Strong(strong.term, never));
        }
        Ok(())
    }
}

/// The states of a set from which a step that does a duty leads back into it.
pub(crate) fn doing(
    search: &Search,
    graph: &Graph,
    must: &Must,
    within: &Bdd,
) -> Result<Bdd, Halt> {
    let d = &search.symbolic.diagrams;
    let from = d.and(within, &must.from)?;
    if d.is_empty(&from) {
        return Ok(from);
    }
    let promised = graph.promised(d, within)?;
    let mut not_done = from.clone();
    let movers = graph.moves.indices().map(|process| process.index());
    for process in movers.map(ProcessId::from_usize) {
        if must.mover.is_some_and(|mover| mover != process) {
            continue;
        }
        search.breathe()?;
        not_done = graph.leading_nowhere(d, process, &not_done, &promised)?;
        if d.is_empty(&not_done) {
            break;
        }
    }
    Ok(d.minus(&from, &not_done)?)
}
