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

use super::emit::Plan;
use super::graph::Graph;
use super::ir::*;
use super::texts::{Guard, Texts, View, and, not, or};
use std::collections::BTreeMap;

/// Characters of a formula.
pub(super) const MAX_FORMULA: usize = 60_000;

pub(super) struct Claim<'t, 'p> {
    pub texts: &'t Texts<'p>,
    pub graph: &'t Graph,
    /// That a state is one that SPIN stores.
    pub moment: String,
    /// What was found for states before: a claim may have many ways to one state.
    pub known: BTreeMap<NodeId, Guard>,
}

/// The expressions of a claim.
pub(super) fn expressions(graph: &Graph) -> Vec<&Expr> {
    graph
        .nodes
        .iter()
        .flat_map(|n| &n.edges)
        .flat_map(|e| super::classes::expressions(&e.action))
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

impl Claim<'_, '_> {
    fn truth(&self, e: &Expr) -> Result<Guard> {
        Ok(match self.texts.truth(e, &View::Nobody)?.text.as_str() {
            "true" => Guard::Always,
            "false" => Guard::Never,
            text => Guard::If(text.to_string()),
        })
    }

    fn guard(&self, node: &Node, edge: &Edge) -> Result<Guard> {
        match &edge.action {
            Action::Test(e) => self.truth(e),
            Action::Else => {
                let others = node
                    .edges
                    .iter()
                    .filter(|e| !matches!(e.action, Action::Else))
                    .map(|e| self.guard(node, e))
                    .collect::<Result<Vec<_>>>()?;
                Ok(not(or(others)))
            }
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Send { .. }
            | Action::Receive { .. }
            | Action::Deterministic(_)
            | Action::Die => Ok(Guard::Always),
        }
    }

    /// What runs from a state of the claim are accepted; `path` are the states before it.
    pub(super) fn accepts(&mut self, id: NodeId, path: &mut Vec<NodeId>) -> Result<Guard> {
        let graph = self.graph;
        let node = &graph.nodes[id.0];
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        if node.end {
            return Ok(Guard::Always);
        }
        if path.contains(&id) || path.len() > 60 {
            return refuse(
                node.at,
                "a never claim with a cycle through several of its states",
                "write the property as an `ltl` formula",
            );
        }
        path.push(id);
        let mut stays = Vec::new();
        let mut leaves = Vec::new();
        for edge in &node.edges {
            let mut guard = self.guard(node, edge)?;
            if let Action::Assert(e) = &edge.action {
                let holds = self.truth(e)?;
                leaves.push(not(holds.clone()));
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
            let then = self.accepts(edge.target, path)?;
            let then = match then {
                Guard::If(text) if !edge.keeps => {
                    Guard::If(format!("(X ((!{0}) U ({0} && ({text}))))", self.moment))
                }
                other => other,
            };
            leaves.push(and(guard, then));
        }
        path.pop();
        let accepting = node.labels.iter().any(|l| l.starts_with("accept"));
        let (stays, leaves) = (or(stays), or(leaves));
        let moment = self.moment.clone();
        let formula = match (stays, leaves) {
            (Guard::Never, leaves) => leaves,
            (_, Guard::Always) => Guard::Always,
            (Guard::Always, Guard::Never) if accepting => Guard::Always,
            (_, Guard::Never) if !accepting => Guard::Never,
            (stays, Guard::Never) => {
                let p = stays.text();
                Guard::If(format!("(({p}) && X G ({moment} -> ({p})))"))
            }
            (Guard::Always, _) if accepting => Guard::Always,
            (stays, leaves) => {
                let (p, q) = (stays.text(), leaves.text());
                let until = if accepting { "W" } else { "U" };
                Guard::If(format!(
                    "(({q}) || (({p}) && X (({moment} -> ({p})) {until} ({moment} && ({q})))))"
                ))
            }
        };
        if formula.text().len() > MAX_FORMULA {
            return refuse(
                node.at,
                "a never claim of this size",
                "write the property as an `ltl` formula",
            );
        }
        self.known.insert(id, formula.clone());
        Ok(formula)
    }
}

/// That a state is one that SPIN stores, and that a step has just led to it; or that nobody can move.
pub(super) fn moment(plan: &Plan<'_>, taken: &str, enabled: &str) -> String {
    let free = if plan.exclusive {
        format!("{} == 0 && ", plan.added.exclusive)
    } else {
        String::new()
    };
    format!("({free}({taken} || !({enabled})))").replace('\n', " ")
}

/// The property that a claim stands for.
pub(super) fn formula(
    plan: &Plan<'_>,
    texts: &Texts<'_>,
    graph: &Graph,
    taken: &str,
    enabled: &str,
) -> Result<String> {
    let moment = moment(plan, taken, enabled);
    let mut claim = Claim {
        texts,
        graph,
        moment,
        known: BTreeMap::new(),
    };
    let accepted = claim.accepts(graph.entry, &mut Vec::new())?.text();
    let text = format!("!({accepted})");
    Ok(if plan.setup.is_empty() {
        text
    } else {
        let name = &plan.added.exclusive;
        format!("{name} != 0 U ({name} == 0 && {text})")
    })
}
