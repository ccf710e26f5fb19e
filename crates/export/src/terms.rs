//! Expressions over the cells of one instance, each of them once.
//!
//! Processes, bound variables and choices are gone: what is left are cells, constants and operators,
//! and equal expressions are one node. So a writer that names shared nodes writes text
//! as long as the graph, not as the tree. Nodes know between which values they lie, and what is
//! constant by that is folded as it is built.
//!
//! Truth values and numbers are two sorts, as the languages that are written have it. Every operator is total and
//! says what [`threadwise_model::eval`] says: a division by zero gives 0.

use std::collections::HashMap;

use threadwise_lang::program::{ArithOp, CompareOp};

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(u32);

impl Term {
    /// Its position among all nodes. Nodes come after their parts.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Truth(bool),
    Number(i64),
    /// The value of a cell.
    Cell(usize),
    Not(Term),
    And(Vec<Term>),
    Or(Vec<Term>),
    /// Two truth values are equal.
    Same(Term, Term),
    Equal(Term, Term),
    Less(Term, Term),
    Add(Term, Term),
    Sub(Term, Term),
    Mul(Term, Term),
    /// A quotient, rounded towards 0; the divisor is not 0.
    Div(Term, Term),
    /// A remainder, with the sign of the dividend; the divisor is not 0.
    Rem(Term, Term),
    /// If the first then the second else the third; of either sort.
    Ite(Term, Term, Term),
}

impl Node {
    /// Calls `f` on each part.
    pub(crate) fn parts(&self, mut f: impl FnMut(Term)) {
        match self {
            Node::Truth(_) | Node::Number(_) | Node::Cell(_) => {}
            Node::Not(a) => f(*a),
            Node::And(parts) | Node::Or(parts) => parts.iter().copied().for_each(f),
            Node::Same(a, b)
            | Node::Equal(a, b)
            | Node::Less(a, b)
            | Node::Add(a, b)
            | Node::Sub(a, b)
            | Node::Mul(a, b)
            | Node::Div(a, b)
            | Node::Rem(a, b) => [*a, *b].into_iter().for_each(f),
            Node::Ite(a, b, c) => [*a, *b, *c].into_iter().for_each(f),
        }
    }
}

/// Why a node cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A computation may leave 32 bits.
    Wide,
    /// There are too many nodes.
    TooMany,
}

/// The sort of a node, and between which values it lies; false is 0 and true is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) truth: bool,
    pub(crate) lo: i64,
    pub(crate) hi: i64,
}

/// More nodes than this are not built.
const MOST_NODES: usize = 1 << 23;

/// All nodes.
#[derive(Default)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    extents: Vec<Extent>,
    known: HashMap<Node, Term>,
}

type Built = Result<Term, Refused>;

impl Terms {
    pub(crate) fn node(&self, term: Term) -> &Node {
        &self.nodes[term.index()]
    }

    pub(crate) fn extent(&self, term: Term) -> Extent {
        self.extents[term.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The value of a node that has only one.
    pub(crate) fn constant(&self, term: Term) -> Option<i64> {
        let Extent { lo, hi, .. } = self.extent(term);
        (lo == hi).then_some(lo)
    }

    fn put(&mut self, node: Node, truth: bool, lo: i128, hi: i128) -> Built {
        let (Ok(narrow_lo), Ok(narrow_hi)) = (i32::try_from(lo), i32::try_from(hi)) else {
            return Err(Refused::Wide);
        };
        let (lo, hi) = (i64::from(narrow_lo), i64::from(narrow_hi));
        let node = match (lo == hi, truth) {
            (true, true) => Node::Truth(lo != 0),
            (true, false) => Node::Number(lo),
            (false, _) => node,
        };
        if let Some(known) = self.known.get(&node) {
            return Ok(*known);
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(Refused::TooMany);
        }
        let term = Term(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.extents.push(Extent { truth, lo, hi });
        self.known.insert(node, term);
        Ok(term)
    }

    fn put_truth(&mut self, node: Node) -> Built {
        self.put(node, true, 0, 1)
    }

    pub(crate) fn truth(&mut self, value: bool) -> Built {
        let value_as_number = i128::from(value);
        self.put(Node::Truth(value), true, value_as_number, value_as_number)
    }

    pub(crate) fn number(&mut self, value: i64) -> Built {
        self.put(Node::Number(value), false, value.into(), value.into())
    }

    pub(crate) fn cell(&mut self, cell: usize, extent: Extent) -> Built {
        let Extent { truth, lo, hi } = extent;
        self.put(Node::Cell(cell), truth, lo.into(), hi.into())
    }

    /// A node as a truth value: a number is true if it is not 0.
    pub(crate) fn as_truth(&mut self, term: Term) -> Built {
        if self.extent(term).truth {
            return Ok(term);
        }
        let zero = self.number(0)?;
        let is_zero = self.equal(term, zero)?;
        self.not(is_zero)
    }

    /// A node as a number.
    pub(crate) fn as_number(&mut self, term: Term) -> Built {
        if !self.extent(term).truth {
            return Ok(term);
        }
        let (one, zero) = (self.number(1)?, self.number(0)?);
        self.ite(term, one, zero)
    }

    pub(crate) fn not(&mut self, term: Term) -> Built {
        match *self.node(term) {
            Node::Truth(value) => self.truth(!value),
            Node::Not(inner) => Ok(inner),
            _ => self.put_truth(Node::Not(term)),
        }
    }

    pub(crate) fn and(&mut self, parts: impl IntoIterator<Item = Term>) -> Built {
        self.join(parts, true)
    }

    pub(crate) fn or(&mut self, parts: impl IntoIterator<Item = Term>) -> Built {
        self.join(parts, false)
    }

    fn join(&mut self, parts: impl IntoIterator<Item = Term>, and: bool) -> Built {
        let mut kept: Vec<Term> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for part in parts {
            match *self.node(part) {
                Node::Truth(value) if value == and => continue,
                Node::Truth(_) => return self.truth(!and),
                _ => {}
            }
            if seen.insert(part) {
                kept.push(part);
            }
        }
        match kept[..] {
            [] => self.truth(and),
            [one] => Ok(one),
            _ if and => self.put_truth(Node::And(kept)),
            _ => self.put_truth(Node::Or(kept)),
        }
    }

    pub(crate) fn compare(&mut self, op: CompareOp, a: Term, b: Term) -> Built {
        match op {
            CompareOp::Eq => self.equal(a, b),
            CompareOp::Ne => {
                let equal = self.equal(a, b)?;
                self.not(equal)
            }
            CompareOp::Lt => self.less(a, b),
            CompareOp::Gt => self.less(b, a),
            CompareOp::Le => {
                let greater = self.less(b, a)?;
                self.not(greater)
            }
            CompareOp::Ge => {
                let less = self.less(a, b)?;
                self.not(less)
            }
        }
    }

    pub(crate) fn equal(&mut self, a: Term, b: Term) -> Built {
        let (left, right) = (self.extent(a), self.extent(b));
        if a == b {
            return self.truth(true);
        }
        if left.hi < right.lo || right.hi < left.lo {
            return self.truth(false);
        }
        match (left.truth, right.truth) {
            // One of them is a truth value; the other may be written as a number.
            (true, _) | (_, true)
                if left.lo >= 0 && left.hi <= 1 && right.lo >= 0 && right.hi <= 1 =>
            {
                let (a, b) = (self.as_truth(a)?, self.as_truth(b)?);
                return match (self.constant(a), self.constant(b)) {
                    (_, Some(0)) => self.not(a),
                    (_, Some(_)) => Ok(a),
                    (Some(0), _) => self.not(b),
                    (Some(_), _) => Ok(b),
                    _ => self.put_truth(Node::Same(a.min(b), a.max(b))),
                };
            }
            _ => {}
        }
        let (a, b) = (self.as_number(a)?, self.as_number(b)?);
        let (a, b) = match self.constant(a) {
            Some(_) => (b, a),
            None => (a, b),
        };
        if let Some(value) = self.constant(b) {
            if self.constant(a) == Some(value) {
                return self.truth(true);
            }
            if let Node::Ite(condition, yes, no) = *self.node(a)
                && (self.constant(yes).is_some() || self.constant(no).is_some())
            {
                let (yes, no) = (self.equal(yes, b)?, self.equal(no, b)?);
                return self.ite(condition, yes, no);
            }
            return self.put_truth(Node::Equal(a, b));
        }
        self.put_truth(Node::Equal(a.min(b), a.max(b)))
    }

    fn less(&mut self, a: Term, b: Term) -> Built {
        let (a, b) = (self.as_number(a)?, self.as_number(b)?);
        let (left, right) = (self.extent(a), self.extent(b));
        if left.hi < right.lo {
            return self.truth(true);
        }
        if left.lo >= right.hi || a == b {
            return self.truth(false);
        }
        self.put_truth(Node::Less(a, b))
    }

    pub(crate) fn ite(&mut self, condition: Term, yes: Term, no: Term) -> Built {
        match self.constant(condition) {
            Some(0) => return Ok(no),
            Some(_) => return Ok(yes),
            None if yes == no => return Ok(yes),
            None => {}
        }
        let (left, right) = (self.extent(yes), self.extent(no));
        if !left.truth || !right.truth {
            let (yes, no) = (self.as_number(yes)?, self.as_number(no)?);
            let (lo, hi) = (left.lo.min(right.lo), left.hi.max(right.hi));
            return self.put(Node::Ite(condition, yes, no), false, lo.into(), hi.into());
        }
        match (self.constant(yes), self.constant(no)) {
            (Some(0), _) => {
                let otherwise = self.not(condition)?;
                self.and([otherwise, no])
            }
            (Some(_), _) => self.or([condition, no]),
            (_, Some(0)) => self.and([condition, yes]),
            (_, Some(_)) => {
                let otherwise = self.not(condition)?;
                self.or([otherwise, yes])
            }
            _ => self.put_truth(Node::Ite(condition, yes, no)),
        }
    }

    pub(crate) fn arith(&mut self, op: ArithOp, a: Term, b: Term) -> Built {
        let (a, b) = (self.as_number(a)?, self.as_number(b)?);
        let (left, right) = (self.extent(a), self.extent(b));
        let ends = |f: fn(i128, i128) -> i128| {
            let all = [
                (left.lo, right.lo),
                (left.lo, right.hi),
                (left.hi, right.lo),
                (left.hi, right.hi),
            ]
            .map(|(x, y)| f(x.into(), y.into()));
            let least = all.into_iter().fold(i128::MAX, i128::min);
            (least, all.into_iter().fold(i128::MIN, i128::max))
        };
        let zero_left = self.constant(a) == Some(0);
        let zero_right = self.constant(b) == Some(0);
        match op {
            ArithOp::Add if zero_left => Ok(b),
            ArithOp::Add | ArithOp::Sub if zero_right => Ok(a),
            ArithOp::Mul | ArithOp::Div if self.constant(b) == Some(1) => Ok(a),
            ArithOp::Mul if self.constant(a) == Some(1) => Ok(b),
            ArithOp::Div | ArithOp::Rem if zero_right => self.number(0),
            ArithOp::Add => {
                let (lo, hi) = ends(|x, y| x + y);
                self.put(Node::Add(a, b), false, lo, hi)
            }
            ArithOp::Sub => {
                let (lo, hi) = ends(|x, y| x - y);
                self.put(Node::Sub(a, b), false, lo, hi)
            }
            ArithOp::Mul => {
                let (lo, hi) = ends(|x, y| x * y);
                self.put(Node::Mul(a, b), false, lo, hi)
            }
            ArithOp::Min => {
                let less = self.less(a, b)?;
                self.narrowed_ite(less, a, b, ends(i128::min))
            }
            ArithOp::Max => {
                let less = self.less(a, b)?;
                self.narrowed_ite(less, b, a, ends(i128::max))
            }
            ArithOp::Div | ArithOp::Rem => {
                let (zero, one) = (self.number(0)?, self.number(1)?);
                let by_zero = self.equal(b, zero)?;
                let divisor = self.ite(by_zero, one, b)?;
                if let (Some(x), Some(y)) = (self.constant(a), self.constant(divisor)) {
                    // Of 32 bits each, so 64 hold the result.
                    return self.number(if op == ArithOp::Div { x / y } else { x % y });
                }
                let result = if op == ArithOp::Div {
                    // No greater than the dividend.
                    let most = i128::from(left.lo.abs().max(left.hi.abs()));
                    self.put(Node::Div(a, divisor), false, -most, most)?
                } else {
                    let most = i128::from(right.lo.abs().max(right.hi.abs()).max(1)) - 1;
                    let lo = i128::from(left.lo.min(0)).max(-most);
                    self.put(
                        Node::Rem(a, divisor),
                        false,
                        lo,
                        i128::from(left.hi.max(0)).min(most),
                    )?
                };
                self.ite(by_zero, zero, result)
            }
        }
    }

    /// A choice whose values are known to lie closer together than those of its parts.
    fn narrowed_ite(
        &mut self,
        condition: Term,
        yes: Term,
        no: Term,
        (lo, hi): (i128, i128),
    ) -> Built {
        match self.constant(condition) {
            Some(0) => Ok(no),
            Some(_) => Ok(yes),
            None if yes == no => Ok(yes),
            None => self.put(Node::Ite(condition, yes, no), false, lo, hi),
        }
    }
}
