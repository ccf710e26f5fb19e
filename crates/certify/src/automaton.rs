//! The automaton of a formula's negation, by bits.
//!
//! A run violates a formula if the formula's negation holds at its beginning. With negations pushed to the predicates, what the
//! negation says of a state is a matter of that state and of what it leaves to later, and that is what the bits are for: one for each
//! subformula that begins with a temporal operator, equal ones having one together. A bit that is set demands something of the next state: of
//! `X f` that `f` holds there, of `f U g` and `f R g` that the whole formula does. So
//! - `f U g` is *satisfied* in a state if `g` is, or `f` is and the bit is set;
//! - `f R g` if `g` is, and `f` is or the bit is set;
//! - `X f` if the bit is set.
//!
//! A bit that is not set demands nothing. If the negation holds of a run, setting each bit exactly where the rest of the run fulfils its demand
//! meets all demands. The other way round, demands that are met make the negation true, unless an `f U g` is put off for ever; that is what
//! obligations exclude: infinitely often, the bit of each `U` is not set. (Where `f U g` holds, its bit need not
//! be set once `g` holds, and where it does not, not at all; so the run of the first argument can be chosen such that it fulfils them.)
//!
//! Engines build the same automaton with code of their own.

use std::collections::HashMap;
use std::hash::Hash;

use threadwise_model::temporal::Formula;

/// Truth values, and how they are put together.
pub(crate) trait Algebra {
    type Value: Copy;

    fn not(&mut self, a: Self::Value) -> Self::Value;

    /// All are true.
    fn all(&mut self, values: Vec<Self::Value>) -> Self::Value;

    /// Some are true.
    fn any(&mut self, values: Vec<Self::Value>) -> Self::Value;
}

/// Truth values that are known.
pub(crate) struct Booleans;

impl Algebra for Booleans {
    type Value = bool;

    fn not(&mut self, a: bool) -> bool {
        !a
    }

    fn all(&mut self, values: Vec<bool>) -> bool {
        !values.contains(&false)
    }

    fn any(&mut self, values: Vec<bool>) -> bool {
        values.contains(&true)
    }
}

/// The automaton of a formula's negation.
pub(crate) struct Automaton<A> {
    /// Distinct predicates of the formula.
    pub(crate) atoms: Vec<A>,
    /// Subformulas of the negation; each stands after its own. The last is the negation itself.
    nodes: Vec<Node>,
    /// The subformula that each bit is of.
    bits: Vec<usize>,
}

/// A subformula; others are known by their places in the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// A predicate, or its negation.
    Atom(usize, bool),
    And(Vec<usize>),
    Or(Vec<usize>),
    Next(usize),
    Until(usize, usize),
    Release(usize, usize),
}

/// Subformulas, each listed once.
struct Listing<A> {
    atoms: Vec<A>,
    known_atoms: HashMap<A, usize>,
    nodes: Vec<Node>,
    known: HashMap<Node, usize>,
    bits: Vec<usize>,
}

impl<A: Clone + Eq + Hash> Listing<A> {
    /// Lists a formula, or its negation.
    fn list(&mut self, formula: &Formula<A>, negated: bool) -> usize {
        let node = match formula {
            Formula::Not(f) => return self.list(f, !negated),
            Formula::Atom(atom) => Node::Atom(self.atom(atom), !negated),
            Formula::And(parts) | Formula::Or(parts) => {
                let parts = parts.iter().map(|part| self.list(part, negated)).collect();
                match matches!(formula, Formula::And(_)) != negated {
                    true => Node::And(parts),
                    false => Node::Or(parts),
                }
            }
            Formula::Next(f) => Node::Next(self.list(f, negated)),
            Formula::Until(f, g) | Formula::Release(f, g) => {
                let (f, g) = (self.list(f, negated), self.list(g, negated));
                match matches!(formula, Formula::Until(..)) != negated {
                    true => Node::Until(f, g),
                    false => Node::Release(f, g),
                }
            }
        };
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let new = self.nodes.len();
        if let Node::Next(_) | Node::Until(..) | Node::Release(..) = node {
            self.bits.push(new);
        }
        self.nodes.push(node.clone());
        self.known.insert(node, new);
        new
    }

    fn atom(&mut self, atom: &A) -> usize {
        if let Some(known) = self.known_atoms.get(atom) {
            return *known;
        }
        let new = self.atoms.len();
        self.atoms.push(atom.clone());
        self.known_atoms.insert(atom.clone(), new);
        new
    }
}

impl<A: Clone + Eq + Hash> Automaton<A> {
    /// The automaton of the runs that violate a formula.
    pub(crate) fn of_negation(formula: &Formula<A>) -> Automaton<A> {
        let mut listing = Listing {
            atoms: Vec::new(),
            known_atoms: HashMap::new(),
            nodes: Vec::new(),
            known: HashMap::new(),
            bits: Vec::new(),
        };
        listing.list(formula, true);
        Automaton {
            atoms: listing.atoms,
            nodes: listing.nodes,
            bits: listing.bits,
        }
    }

    /// How many bits there are.
    pub(crate) fn bits(&self) -> usize {
        self.bits.len()
    }

    /// The bits that must not be set infinitely often, one for each `U`.
    pub(crate) fn obligations(&self) -> Vec<usize> {
        let until = |bit: &usize| matches!(self.nodes[self.bits[*bit]], Node::Until(..));
        (0..self.bits.len()).filter(until).collect()
    }

    /// Which subformulas are satisfied in a state, from the values of the predicates and the bits there.
    pub(crate) fn satisfied<T: Algebra>(
        &self,
        algebra: &mut T,
        atoms: &[T::Value],
        bits: &[T::Value],
    ) -> Satisfied<T::Value> {
        let mut values: Vec<T::Value> = Vec::with_capacity(self.nodes.len());
        let mut bit = bits.iter().copied();
        for node in &self.nodes {
            // Bits are numbered in the order of their subformulas, and there are as many.
            let mut later = |algebra: &mut T| bit.next().unwrap_or_else(|| algebra.any(Vec::new()));
            let value = match node {
                Node::Atom(atom, true) => atoms[*atom],
                Node::Atom(atom, false) => algebra.not(atoms[*atom]),
                Node::And(parts) => algebra.all(parts.iter().map(|part| values[*part]).collect()),
                Node::Or(parts) => algebra.any(parts.iter().map(|part| values[*part]).collect()),
                Node::Next(_) => later(algebra),
                Node::Until(f, g) => {
                    let later = later(algebra);
                    let more = algebra.all(vec![values[*f], later]);
                    algebra.any(vec![values[*g], more])
                }
                Node::Release(f, g) => {
                    let later = later(algebra);
                    let more = algebra.any(vec![values[*f], later]);
                    algebra.all(vec![values[*g], more])
                }
            };
            values.push(value);
        }
        let demands = self.bits.iter().map(|at| match self.nodes[*at] {
            Node::Next(f) => values[f],
            _ => values[*at],
        });
        Satisfied {
            demands: demands.collect(),
            // There is a subformula at least: the negation itself.
            whole: values[values.len() - 1],
        }
    }
}

/// What is satisfied in a state.
pub(crate) struct Satisfied<V> {
    /// What each bit demands, if it is set in the state before.
    pub(crate) demands: Vec<V>,
    /// The negation of the whole formula.
    pub(crate) whole: V,
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadwise_testgen::random::Random;

    type F = Formula<usize>;

    /// A formula over three predicates with few temporal operators.
    fn formula(random: &mut Random, temporal: &mut usize, depth: usize) -> F {
        let kinds = if *temporal > 0 { 10 } else { 6 };
        if depth == 0 {
            return F::Atom(random.below(3));
        }
        let mut sub = |random: &mut Random| Box::new(formula(random, temporal, depth - 1));
        match random.below(kinds) {
            0 => F::Atom(random.below(3)),
            1 => F::Not(sub(random)),
            2 => F::And(vec![*sub(random), *sub(random)]),
            3 => F::Or(vec![*sub(random), *sub(random)]),
            4 => F::TRUE,
            5 if random.percent(50) => F::FALSE,
            5 => {
                // The same formula twice.
                let f = sub(random);
                F::And(vec![F::Or(vec![(*f).clone(), *sub(random)]), *f])
            }
            kind => {
                *temporal -= 1;
                let mut sub = |random: &mut Random| Box::new(formula(random, temporal, depth - 1));
                match kind {
                    6 => F::Next(sub(random)),
                    7 => F::Until(sub(random), sub(random)),
                    8 => F::Release(sub(random), sub(random)),
                    _ => F::Next(Box::new(F::Until(sub(random), sub(random)))),
                }
            }
        }
    }

    /// Whether some run of the automaton along a lasso is accepting.
    fn accepts(automaton: &Automaton<usize>, truth: &[Vec<bool>], loop_from: usize) -> bool {
        let (positions, bits) = (truth.len(), automaton.bits());
        let mut satisfied = Vec::new();
        for atoms in truth {
            for set in 0..1usize << bits {
                let atoms: Vec<bool> = automaton.atoms.iter().map(|a| atoms[*a]).collect();
                let bits: Vec<bool> = (0..bits).map(|bit| set >> bit & 1 == 1).collect();
                satisfied.push(automaton.satisfied(&mut Booleans, &atoms, &bits));
            }
        }
        let place = |at: usize, set: usize| at << bits | set;
        let after = |node: usize| -> Vec<usize> {
            let (at, set) = (node >> bits, node & ((1 << bits) - 1));
            let next = if at + 1 == positions {
                loop_from
            } else {
                at + 1
            };
            let met = |then: &usize| {
                let demands = &satisfied[place(next, *then)].demands;
                (0..bits).all(|bit| set >> bit & 1 == 0 || demands[bit])
            };
            (0..1usize << bits)
                .filter(met)
                .map(|then| place(next, then))
                .collect()
        };
        let reach = |from: Vec<usize>| {
            let mut seen = vec![false; positions << bits];
            let mut open = from;
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    open.extend(after(node));
                }
            }
            seen
        };
        let begin = (0..1usize << bits).filter(|set| satisfied[place(0, *set)].whole);
        let reachable = reach(begin.map(|set| place(0, set)).collect());
        let obligations = automaton.obligations();
        let from: Vec<Vec<bool>> = (0..positions << bits)
            .map(|node| match reachable[node] {
                true => reach(after(node)),
                false => Vec::new(),
            })
            .collect();
        let cyclic = (0..positions << bits).filter(|node| reachable[*node] && from[*node][*node]);
        let together = |a: usize, b: usize| from[a][b] && !from[b].is_empty() && from[b][a];
        cyclic.into_iter().any(|node| {
            obligations.iter().all(|bit| {
                (0..positions << bits)
                    .any(|other| reachable[other] && other >> bit & 1 == 0 && together(node, other))
            })
        })
    }

    #[test]
    fn accepted_runs_are_those_that_violate_the_formula() {
        let mut random = Random::new(17);
        let mut found = [0, 0];
        for round in 0..3000 {
            let mut temporal = 3;
            let f = formula(&mut random, &mut temporal, 4);
            let automaton = Automaton::of_negation(&f);
            if automaton.bits() > 5 {
                continue;
            }
            let positions = 1 + random.below(4);
            let loop_from = random.below(positions);
            let truth: Vec<Vec<bool>> = (0..positions)
                .map(|_| (0..3).map(|_| random.percent(50)).collect())
                .collect();
            let holds = f.holds(positions, loop_from, &mut |atom, at| truth[at][*atom]);
            let accepted = accepts(&automaton, &truth, loop_from);
            assert_eq!(accepted, !holds, "round {round}: {f:?} on {truth:?}");
            found[usize::from(accepted)] += 1;
        }
        assert!(found.iter().all(|count| *count > 700), "{found:?}");
    }

    #[test]
    fn bits_are_numbered_from_left_to_right_and_from_the_inside() {
        // G(a -> F b): the negation is true U (a && (false R !b)).
        let not = |f| F::Not(Box::new(f));
        let response = F::Or(vec![not(F::Atom(0)), F::Atom(1).eventually()]).always();
        let automaton = Automaton::of_negation(&response);
        assert_eq!(automaton.bits(), 2);
        assert_eq!(automaton.obligations(), [1]);
        // Equal subformulas share a bit, and X (f U g) has one of its own.
        let until = F::Until(Box::new(F::Atom(0)), Box::new(F::Atom(1)));
        let twice = F::Or(vec![until.clone(), F::Next(Box::new(until.clone())), until]);
        let automaton = Automaton::of_negation(&not(twice));
        assert_eq!(automaton.bits(), 2);
        assert_eq!(automaton.obligations(), [0]);
        // A predicate that is negated twice is itself.
        let same = F::And(vec![
            F::Atom(0).eventually(),
            not(not(F::Atom(0))).eventually(),
        ]);
        assert_eq!(Automaton::of_negation(&same).bits(), 1);
    }
}
