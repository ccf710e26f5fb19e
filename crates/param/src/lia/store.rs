//! Formulas in the shape that the search reads: an inequality is a bound of a *form*.
//!
//! The terms of an inequality, up to their common sign, are a form; `x - y <= 3` and `y - x <= 2` are an upper and a lower bound of the form `x - y`. Two
//! inequalities of one form decide each other by comparing two numbers, which is just the propagation that proofs allow, and a form is one row of the tableau.
//! Nothing is lost or added by it.

use std::ops::Range;

use index_vec::{IndexVec, define_index_type};
use rustc_hash::FxHashMap;
use threadwise_evidence::arithmetic::{Atom, Formula, Variable};

use super::Why;

define_index_type! { /// A linear form.
pub(super) struct FormId = u32; }
define_index_type! { /// A formula or a part of one.
pub(super) struct NodeId = u32; }

/// Which way a bound goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

impl Side {
    pub(super) fn opposite(self) -> Side {
        match self {
            Side::Lower => Side::Upper,
            Side::Upper => Side::Lower,
        }
    }

    /// Whether a bound of this side says at least as much as another.
    pub(super) fn implies(self, bound: i64, other: i64) -> bool {
        match self {
            Side::Lower => bound >= other,
            Side::Upper => bound <= other,
        }
    }
}

/// A form has a bound: an inequality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) form: FormId,
    pub(super) side: Side,
    pub(super) bound: i64,
}

impl Literal {
    /// The literal that holds just if this one does not. It fits: [`Store::literal`] keeps a distance from the limits, and the negation of a negation is the literal itself.
    pub(super) fn negation(self) -> Literal {
        Literal {
            form: self.form,
            side: self.side.opposite(),
            bound: match self.side {
                Side::Lower => self.bound - 1,
                Side::Upper => self.bound + 1,
            },
        }
    }
}

/// A formula whose members stand in the store's list of members.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Atom(Literal),
    And(Range<u32>),
    Or(Range<u32>),
}

/// Forms and formulas. Both are stacks: what came last can be taken back.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// The terms of each form; the first coefficient is positive.
    forms: IndexVec<FormId, Vec<(Variable, i64)>>,
    ids: FxHashMap<Vec<(Variable, i64)>, FormId>,
    nodes: IndexVec<NodeId, Node>,
    members: Vec<NodeId>,
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    forms: usize,
    nodes: usize,
    members: usize,
}

impl Store {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            forms: self.forms.len(),
            nodes: self.nodes.len(),
            members: self.members.len(),
        }
    }

    /// The first form that a store did not hold at a mark.
    pub(super) fn first_form(mark: Mark) -> FormId {
        FormId::from_usize(mark.forms)
    }

    /// Forgets what came after a mark.
    pub(super) fn forget(&mut self, mark: Mark) {
        for terms in self.forms.raw.drain(mark.forms..) {
            self.ids.remove(&terms);
        }
        self.nodes.truncate(mark.nodes);
        self.members.truncate(mark.members);
    }

    pub(super) fn terms(&self, form: FormId) -> &[(Variable, i64)] {
        &self.forms[form]
    }

    /// The variable that a form is, if it is one.
    pub(super) fn variable(&self, form: FormId) -> Option<Variable> {
        match self.terms(form) {
            [(variable, 1)] => Some(*variable),
            _ => None,
        }
    }

    /// The form that is just a variable.
    pub(super) fn variable_form(&mut self, variable: Variable) -> FormId {
        self.form(&[(variable, 1)])
    }

    /// The form that is just a variable, if it was ever asked for.
    pub(super) fn find_variable(&self, variable: Variable) -> Option<FormId> {
        self.ids.get([(variable, 1)].as_slice()).copied()
    }

    /// The variables that are forms.
    pub(super) fn variables(&self) -> impl Iterator<Item = (Variable, FormId)> {
        let forms = self.forms.indices();
        forms.filter_map(|form| Some((self.variable(form)?, form)))
    }

    fn form(&mut self, terms: &[(Variable, i64)]) -> FormId {
        if let Some(id) = self.ids.get(terms) {
            return *id;
        }
        let id = self.forms.push(terms.to_vec());
        self.ids.insert(terms.to_vec(), id);
        if !matches!(terms, [(_, 1)]) {
            // Variables come together with whatever has them, so that they are not forgotten first.
            for (variable, _) in terms {
                self.variable_form(*variable);
            }
        }
        id
    }

    pub(super) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    /// The members in a range that a node names.
    pub(super) fn members(&self, range: &Range<u32>) -> &[NodeId] {
        &self.members[range.start as usize..range.end as usize]
    }

    /// Calls for every inequality of a formula.
    pub(super) fn literals(&self, node: NodeId, visit: &mut dyn FnMut(Literal)) {
        match self.node(node) {
            Node::Atom(literal) => visit(*literal),
            Node::And(range) | Node::Or(range) => {
                for member in self.members(range) {
                    self.literals(*member, visit);
                }
            }
        }
    }

    /// The literal that an inequality with variables is.
    pub(super) fn literal(&mut self, atom: &Atom) -> Result<Literal, Why> {
        // Beyond this, the negation of the inequality or of the negation would not fit.
        const LIMIT: i64 = i64::MAX - 1;
        let mut divisor = 0;
        let mut last = None;
        for (variable, coefficient) in &atom.terms {
            if last >= Some(*variable) || *coefficient == 0 {
                return Err(Why::Form);
            }
            last = Some(*variable);
            if *coefficient == i64::MIN {
                return Err(Why::Overflow);
            }
            divisor = super::number::gcd(divisor, coefficient.unsigned_abs().into());
        }
        if divisor != 1 {
            return Err(Why::Form);
        }
        if !(-LIMIT..=LIMIT).contains(&atom.constant) {
            return Err(Why::Overflow);
        }
        let positive = atom.terms.first().is_some_and(|(_, first)| *first > 0);
        Ok(if positive {
            Literal {
                form: self.form(&atom.terms),
                side: Side::Upper,
                bound: -atom.constant,
            }
        } else {
            let terms: Vec<(Variable, i64)> = (atom.terms.iter())
                .map(|(variable, coefficient)| (*variable, -coefficient))
                .collect();
            Literal {
                form: self.form(&terms),
                side: Side::Lower,
                bound: atom.constant,
            }
        })
    }

    /// The inequality that a literal is.
    pub(super) fn atom(&self, literal: Literal) -> Atom {
        let terms = self.terms(literal.form);
        match literal.side {
            Side::Upper => Atom {
                terms: terms.to_vec(),
                constant: -literal.bound,
            },
            Side::Lower => Atom {
                terms: (terms.iter())
                    .map(|(variable, coefficient)| (*variable, -coefficient))
                    .collect(),
                constant: literal.bound,
            },
        }
    }

    /// Takes a formula in.
    pub(super) fn formula(&mut self, formula: &Formula) -> Result<NodeId, Why> {
        let node = match formula {
            Formula::Atom(atom) => match atom.constant_truth() {
                Some(true) => Node::And(0..0),
                Some(false) => Node::Or(0..0),
                None => Node::Atom(self.literal(atom)?),
            },
            Formula::And(members) => Node::And(self.list(members)?),
            Formula::Or(members) => Node::Or(self.list(members)?),
        };
        Ok(self.nodes.push(node))
    }

    fn list(&mut self, members: &[Formula]) -> Result<Range<u32>, Why> {
        let members: Vec<NodeId> = (members.iter())
            .map(|member| self.formula(member))
            .collect::<Result<_, Why>>()?;
        let start = self.members.len() as u32;
        self.members.extend(members);
        Ok(start..self.members.len() as u32)
    }
}
