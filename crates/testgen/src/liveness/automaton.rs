//! The automaton of a formula, by unfolding sets of obligations (Couvreur, On-the-fly verification of linear temporal logic, FM 1999).
//!
//! A state is a set of formulas that must hold from now on. Unfolding it gives ways to meet it: what atoms must be now, which formulas
//! must hold from the next position on, and which `U` put off their second part (a *promise*). A run is accepted if
//! no promise is made for ever from some time on without being kept: each is *not* made infinitely often. The conditions sit on edges, and
//! states have no valuation, so this has little in common with the tableau that engines use.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use threadwise_model::temporal::Formula;

use super::graph::{Arc, Condition, Graph, Marks};

/// The most edges that an automaton is built with.
const MOST_EDGES: usize = 200_000;

/// An automaton whose edges are labelled: with literals, and with promises.
#[derive(Clone, Debug)]
pub struct Automaton<A> {
    /// The atoms of the formula, each once.
    pub atoms: Vec<A>,
    /// The edges from each state; state 0 is where runs begin.
    pub states: Vec<Vec<Edge>>,
    /// How many promises there are.
    pub promises: usize,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// What some atoms, by number, must be.
    pub literals: BTreeMap<usize, bool>,
    /// The promises that are made, by number.
    pub promised: BTreeSet<usize>,
    /// Where it leads.
    pub to: usize,
}

impl Edge {
    /// Whether the literals hold where atoms have these values.
    pub fn fits(&self, values: &[bool]) -> bool {
        self.literals
            .iter()
            .all(|(atom, value)| values[*atom] == *value)
    }
}

/// A formula in negation normal form, by number.
type Id = usize;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Literal(usize, bool),
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    /// With the number of its promise.
    Until(Id, Id),
    Release(Id, Id),
}

/// A way to meet obligations.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    literals: BTreeMap<usize, bool>,
    promised: BTreeSet<usize>,
    next: BTreeSet<Id>,
}

struct Builder<A> {
    atoms: Vec<A>,
    nodes: Vec<Node>,
    numbers: BTreeMap<Node, Id>,
    /// The number of the promise of each `U`.
    promises: BTreeMap<Id, usize>,
}

impl<A: Clone + Eq + Hash> Automaton<A> {
    /// The automaton that accepts the runs on which the formula holds; nothing if it grows too large.
    pub fn new(formula: &Formula<A>) -> Option<Automaton<A>> {
        Automaton::build(formula, true)
    }

    /// The automaton that accepts the runs on which the formula does not hold.
    pub fn of_negation(formula: &Formula<A>) -> Option<Automaton<A>> {
        Automaton::build(formula, false)
    }

    fn build(formula: &Formula<A>, polarity: bool) -> Option<Automaton<A>> {
        let mut builder = Builder {
            atoms: Vec::new(),
            nodes: Vec::new(),
            numbers: BTreeMap::new(),
            promises: BTreeMap::new(),
        };
        let root = builder.normal(formula, polarity);
        let mut sets: Vec<BTreeSet<Id>> = vec![[root].into()];
        let mut known: BTreeMap<BTreeSet<Id>, usize> = [(sets[0].clone(), 0)].into();
        let mut states = Vec::new();
        let mut edges = 0;
        while states.len() < sets.len() {
            let mut ways = BTreeSet::new();
            let todo: Vec<Id> = sets[states.len()].iter().copied().collect();
            builder.unfold(todo, &mut BTreeSet::new(), Way::default(), &mut ways);
            let mut list = Vec::new();
            for way in minimal(ways) {
                let to = *known.entry(way.next.clone()).or_insert_with(|| {
                    sets.push(way.next.clone());
                    sets.len() - 1
                });
                list.push(Edge {
                    literals: way.literals,
                    promised: way.promised,
                    to,
                });
            }
            edges += list.len() + 1;
            if edges > MOST_EDGES {
                return None;
            }
            states.push(list);
        }
        Some(Automaton {
            atoms: builder.atoms,
            states,
            promises: builder.promises.len(),
        })
    }

    /// Whether it accepts a run of so many positions that goes on from `loop_from`.
    pub fn accepts(
        &self,
        positions: usize,
        loop_from: usize,
        atom: &mut dyn FnMut(&A, usize) -> bool,
    ) -> bool {
        let mut graph = Graph {
            arcs: Vec::new(),
            roots: vec![0],
        };
        // Node `position + positions * state`.
        graph.arcs = vec![Vec::new(); positions * self.states.len()];
        for position in 0..positions {
            let values: Vec<bool> = self.atoms.iter().map(|a| atom(a, position)).collect();
            let next = match position + 1 == positions {
                true => loop_from,
                false => position + 1,
            };
            for (state, edges) in self.states.iter().enumerate() {
                for edge in edges.iter().filter(|edge| edge.fits(&values)) {
                    graph.arcs[position + positions * state].push(Arc {
                        to: next + positions * edge.to,
                        marks: self.kept(edge),
                    });
                }
            }
        }
        graph.cycle(&self.conditions()).is_some()
    }

    /// The marks of an edge: the promises that it does not make, from bit 0 on.
    pub(super) fn kept(&self, edge: &Edge) -> Marks {
        (0..self.promises)
            .filter(|promise| !edge.promised.contains(promise))
            .fold(0, |marks, promise| marks | 1 << promise)
    }

    /// What cycles that are accepted meet.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        (0..self.promises)
            .map(|promise| Condition::Some(1 << promise))
            .collect()
    }
}

/// Without the ways that ask for all that another one asks for, and more.
fn minimal(ways: BTreeSet<Way>) -> Vec<Way> {
    let asks_less = |a: &Way, b: &Way| {
        a.next.is_subset(&b.next)
            && a.promised.is_subset(&b.promised)
            && a.literals.iter().all(|(k, v)| b.literals.get(k) == Some(v))
    };
    let ways: Vec<Way> = ways.into_iter().collect();
    let least = |way: &&Way| {
        !ways
            .iter()
            .any(|other| other != *way && asks_less(other, way))
    };
    ways.iter().filter(least).cloned().collect()
}

impl<A: Clone + Eq + Hash> Builder<A> {
    fn node(&mut self, node: Node) -> Id {
        if let Some(id) = self.numbers.get(&node) {
            return *id;
        }
        let id = self.nodes.len();
        if matches!(node, Node::Until(..)) {
            self.promises.insert(id, self.promises.len());
        }
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    fn normal(&mut self, formula: &Formula<A>, polarity: bool) -> Id {
        let list = |this: &mut Self, parts: &[Formula<A>]| -> Vec<Id> {
            parts.iter().map(|f| this.normal(f, polarity)).collect()
        };
        let node = match (formula, polarity) {
            (Formula::Atom(atom), _) => {
                let known = self.atoms.iter().position(|other| other == atom);
                let number = known.unwrap_or_else(|| {
                    self.atoms.push(atom.clone());
                    self.atoms.len() - 1
                });
                Node::Literal(number, polarity)
            }
            (Formula::Not(f), _) => return self.normal(f, !polarity),
            (Formula::And(parts), true) | (Formula::Or(parts), false) => {
                Node::And(list(self, parts))
            }
            (Formula::Or(parts), true) | (Formula::And(parts), false) => {
                Node::Or(list(self, parts))
            }
            (Formula::Next(f), _) => Node::Next(self.normal(f, polarity)),
            (Formula::Until(f, g), true) | (Formula::Release(f, g), false) => {
                Node::Until(self.normal(f, polarity), self.normal(g, polarity))
            }
            (Formula::Release(f, g), true) | (Formula::Until(f, g), false) => {
                Node::Release(self.normal(f, polarity), self.normal(g, polarity))
            }
        };
        self.node(node)
    }

    fn unfold(
        &self,
        mut todo: Vec<Id>,
        seen: &mut BTreeSet<Id>,
        mut way: Way,
        ways: &mut BTreeSet<Way>,
    ) {
        let Some(id) = todo.pop() else {
            ways.insert(way);
            return;
        };
        if !seen.insert(id) {
            return self.unfold(todo, seen, way, ways);
        }
        let with = |more: &[Id]| [todo.as_slice(), more].concat();
        match &self.nodes[id] {
            Node::Literal(atom, value) => {
                if *way.literals.entry(*atom).or_insert(*value) == *value {
                    self.unfold(todo, seen, way, ways);
                }
            }
            Node::And(parts) => self.unfold(with(parts), seen, way, ways),
            Node::Or(parts) => {
                for part in parts {
                    self.unfold(with(&[*part]), &mut seen.clone(), way.clone(), ways);
                }
            }
            Node::Next(f) => {
                way.next.insert(*f);
                self.unfold(todo, seen, way, ways);
            }
            Node::Until(f, g) => {
                self.unfold(with(&[*g]), &mut seen.clone(), way.clone(), ways);
                way.next.insert(id);
                way.promised.extend(self.promises.get(&id));
                self.unfold(with(&[*f]), seen, way, ways);
            }
            Node::Release(f, g) => {
                self.unfold(with(&[*f, *g]), &mut seen.clone(), way.clone(), ways);
                way.next.insert(id);
                self.unfold(with(&[*g]), seen, way, ways);
            }
        }
    }
}
