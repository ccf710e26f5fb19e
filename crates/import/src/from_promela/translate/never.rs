//! Never claims as formulas.
//!
//! A claim is an automaton that takes a step in every state of a run that SPIN stores, beginning with the first; it finds fault if it reaches its end, or
//! passes a label that begins `accept` for ever again. If each of its states lies on no cycle but a loop at itself, the runs
//! that it accepts from a state can be said as a formula: the tests of the loop hold until that of a way out does, and the rest follows
//! in the next state; or, at a label `accept`, the loop's tests hold for ever. The property is that no run does that. Other
//! claims are refused.
//!
//! Our runs have turns in which nothing happens, and states inside atomic sequences, which SPIN's do not have. So "the next state" is the
//! next one that a step has just led to and in which anybody may move, or, if nobody can move any more, just the next.

use super::build::*;
use super::emit::Plan;
use super::graph::Graph;
use super::ir::*;
use super::terms::{Terms, View};
use std::collections::BTreeMap;
use threadwise_lang::program::{CompareOp, Ltl};

/// Parts of a formula.
pub(super) const MAX_FORMULA: usize = 30_000;

struct Claim<'t, 'p> {
    terms: &'t Terms<'p>,
    graph: &'t Graph,
    /// That a state is one that SPIN stores.
    moment: Ltl,
    /// What was found for states before: a claim may have many ways to one state.
    known: BTreeMap<NodeId, Ltl>,
}

/// The expressions of a claim.
pub(super) fn expressions(graph: &Graph) -> Vec<&Expr> {
    graph
        .nodes
        .iter()
        .flat_map(|n| &n.edges)
        .flat_map(|e| e.action.expressions())
        .collect()
}

/// Only tests and assertions make sense in a claim. A label that begins `end` makes a state of it one that SPIN finds fault with.
pub(super) fn check(graph: &Graph) -> Result<()> {
    if let Some((_, at)) = graph.marks.iter().find(|mark| mark.0.starts_with("end")) {
        return refuse(
            *at,
            "an `end` label in a never claim",
            "let the claim reach its closing brace where it finds fault, or name the label otherwise",
        );
    }
    for edge in graph.nodes.iter().flat_map(|n| &n.edges) {
        let fine = matches!(
            edge.action,
            Action::Test(_) | Action::Skip | Action::Else | Action::Assert(_)
        );
        if !fine || !edge.unless.is_empty() || super::steps::asks_timeout(edge) {
            return refuse(
                edge.at,
                "anything but tests and assertions in a never claim",
                "write the property as an `ltl` formula",
            );
        }
    }
    Ok(())
}

/// Whether a formula is this truth value.
fn sure(f: &Ltl, value: bool) -> bool {
    matches!(f, Ltl::State(e) if is(e, value))
}

fn both(a: Term, b: Ltl) -> Ltl {
    match b {
        Ltl::State(b) => Ltl::State(and(a, b)),
        _ if is(&a, true) => b,
        _ if is(&a, false) => Ltl::State(a),
        _ => Ltl::State(a).and(b),
    }
}

fn one_of(all: Vec<Ltl>) -> Ltl {
    let mut different: Vec<Ltl> = Vec::new();
    for f in all {
        if sure(&f, true) {
            return f;
        }
        if !sure(&f, false) && !different.contains(&f) {
            different.push(f);
        }
    }
    let joined = different.into_iter().reduce(Ltl::or);
    joined.unwrap_or_else(|| Ltl::State(truth(false)))
}

impl Claim<'_, '_> {
    fn guard(&self, node: &Node, edge: &Edge) -> Result<Term> {
        match &edge.action {
            Action::Test(e) => self.terms.truth(e, &View::Nobody),
            Action::Else => {
                let others = node
                    .edges
                    .iter()
                    .filter(|e| !matches!(e.action, Action::Else))
                    .map(|e| self.guard(node, e))
                    .collect::<Result<Vec<_>>>()?;
                Ok(not(or(others)))
            }
            _ => Ok(truth(true)),
        }
    }

    /// What runs from a state of the claim are accepted; `path` are the states before it.
    fn accepts(&mut self, id: NodeId, path: &mut Vec<NodeId>) -> Result<Ltl> {
        let graph = self.graph;
        let node = &graph.nodes[id.0];
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        if node.end {
            return Ok(Ltl::State(truth(true)));
        }
        if path.contains(&id) || path.len() > 60 {
            return refuse(
                node.at,
                "a never claim with a cycle through several of its states",
                "write the property as an `ltl` formula",
            );
        }
        path.push(id);
        let (stays, leaves) = self.ways(id, path)?;
        path.pop();
        let accepting = node.labels.iter().any(|l| l.starts_with("accept"));
        let formula = self.stays_until(or(stays), one_of(leaves), accepting);
        if formula_size(&formula) > MAX_FORMULA {
            return refuse(
                node.at,
                "a never claim of this size",
                "write the property as an `ltl` formula",
            );
        }
        self.known.insert(id, formula.clone());
        Ok(formula)
    }

    /// The tests of the loops at a state, and what is accepted by leaving it.
    fn ways(&mut self, id: NodeId, path: &mut Vec<NodeId>) -> Result<(Vec<Term>, Vec<Ltl>)> {
        let graph = self.graph;
        let node = &graph.nodes[id.0];
        let (mut stays, mut leaves) = (Vec::new(), Vec::new());
        for edge in &node.edges {
            let mut guard = self.guard(node, edge)?;
            if let Action::Assert(e) = &edge.action {
                let holds = self.terms.truth(e, &View::Nobody)?;
                leaves.push(Ltl::State(not(holds.clone())));
                guard = and(guard, holds);
            }
            if edge.target == id {
                if edge.keeps {
                    return refuse(
                        edge.at,
                        "a loop inside `atomic` in a never claim",
                        "leave `atomic` out",
                    );
                }
                stays.push(guard);
                continue;
            }
            let mut then = self.accepts(edge.target, path)?;
            if !edge.keeps && !sure(&then, true) && !sure(&then, false) {
                let moment = || self.moment.clone();
                then = moment().negated().until(moment().and(then)).next();
            }
            leaves.push(both(guard, then));
        }
        Ok((stays, leaves))
    }

    /// That the loop's tests hold until a way out is taken; for ever, if the state is accepting.
    fn stays_until(&self, stays: Term, leaves: Ltl, accepting: bool) -> Ltl {
        let moment = || self.moment.clone();
        let always = || Ltl::State(truth(true));
        if is(&stays, false) {
            return leaves;
        }
        if sure(&leaves, true) || (is(&stays, true) && accepting) {
            return always();
        }
        let p = Ltl::State(stays);
        let goes_on = moment().implies(p.clone());
        match (sure(&leaves, false), accepting) {
            (true, false) => leaves,
            (true, true) => p.and(goes_on.globally().next()),
            (false, _) => {
                let met = moment().and(leaves.clone());
                let rest = match accepting {
                    true => goes_on.weak_until(met),
                    false => goes_on.until(met),
                };
                leaves.or(p.and(rest.next()))
            }
        }
    }
}

/// That a state is one that SPIN stores, and that a step has just led to it; or that nobody can move.
pub(super) fn moment(plan: &Plan<'_>, taken: Term, enabled: Term) -> Ltl {
    let reached = any([taken, not(enabled)]);
    let free = match plan.exclusive {
        true => plan.moves(CompareOp::Eq),
        false => truth(true),
    };
    Ltl::State(and(free, reached))
}

/// The property that a claim stands for.
pub(super) fn formula(
    plan: &Plan<'_>,
    terms: &Terms<'_>,
    graph: &Graph,
    moment: Ltl,
) -> Result<Ltl> {
    let mut claim = Claim {
        terms,
        graph,
        moment,
        known: BTreeMap::new(),
    };
    let accepted = claim.accepts(graph.entry, &mut Vec::new())?;
    Ok(plan.after_setup(accepted.negated()))
}
