//! One symbolic execution, for both forms of a program: the [steps](crate::lower) of an instance, where every parameter has a value, and the
//! [family](crate::family) of all instances, where some have none.
//!
//! What a statement does, in which order things are evaluated and checked, and where a path divides or ends, is written here, once. What differs is behind two
//! traits. [`Evaluate`] says how values and cells are written: with numbers for parameters and an offset for each cell, or with parameters and ids as they stand. [`Execute`]
//! says what becomes of a path: guards and checks side by side in one step, or one path for each check that fails.
//!
//! Four parts, a file each. `flow` turns a template's statements into a graph. `walk` follows every path from a label to the next, carrying what was
//! written symbolically, so that everything on it speaks of the state before it. `rounds` executes loops whose rounds do not influence one another, without dividing the path.
//! `expression` evaluates expressions and collects the checks that they need.

mod expression;
mod flow;
mod rounds;
mod walk;

use std::collections::BTreeMap;

use threadwise_lang::program::{ArithOp, BoundId, CompareOp, LocalId, TemplateId};

use crate::system::Check;

pub(crate) use expression::{Evaluate, Fold, Var};
pub(crate) use flow::flow;
pub(crate) use walk::{Execute, Path, follow};

/// How large an expression, term or formula is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Numbers, names and operators.
    pub(crate) nodes: usize,
    /// The greatest number of them one inside the other.
    pub(crate) depth: usize,
}

impl Size {
    /// The size of something with these parts.
    pub(crate) fn around(parts: impl IntoIterator<Item = Size>) -> Size {
        let mut size = Size { nodes: 1, depth: 0 };
        for part in parts {
            size.nodes = size.nodes.saturating_add(part.nodes);
            size.depth = size.depth.max(part.depth);
        }
        size.depth += 1;
        size
    }
}

/// Something written symbolically.
pub(crate) trait Form: Clone + std::fmt::Debug + PartialEq {
    /// How large it is.
    fn size(&self) -> Size;
}

/// A truth value, written symbolically. Constants are folded.
pub(crate) trait Truth: Form {
    /// True or false.
    fn constant(truth: bool) -> Self;
    /// It does not hold.
    fn negated(self) -> Self;
    /// All hold.
    fn all(parts: impl IntoIterator<Item = Self>) -> Self;
    /// One holds.
    fn any(parts: impl IntoIterator<Item = Self>) -> Self;
}

/// An integer, written symbolically. Constants are folded.
pub(crate) trait Value: Form {
    /// What comparing two of them gives.
    type Truth: Truth;
    /// A number.
    fn number(number: i64) -> Self;
    /// The number that it is whatever the state.
    fn known(&self) -> Option<i64>;
    /// The id of the process whose text it is, from 0.
    fn own() -> Self;
    /// 1 if it holds, 0 otherwise.
    fn of_truth(truth: Self::Truth) -> Self;
    /// What one that is 0 or 1 says.
    fn truth(self) -> Self::Truth;
    /// A comparison.
    fn compare(op: CompareOp, a: Self, b: Self) -> Self::Truth;
    /// Whether two that are 0 or 1 are the same.
    fn same(a: Self, b: Self) -> Self::Truth;
    /// Arithmetic. A division by zero is any value.
    fn arith(op: ArithOp, a: Self, b: Self) -> Self;
    /// Minus.
    fn minus(self) -> Self;
    /// One or the other.
    fn either(condition: Self::Truth, yes: Self, no: Self) -> Self;
}

/// What a path has done so far, as far as expressions can see it.
#[derive(Clone, Debug)]
pub(crate) struct Frame<V: Value, W> {
    /// Values of bound variables.
    pub(crate) bindings: BTreeMap<BoundId, V>,
    /// What was written, oldest first.
    pub(crate) writes: Vec<W>,
    /// What was started, in order.
    pub(crate) starts: Vec<TemplateId>,
    /// What those that were started are given, where it is not written.
    pub(crate) given: Vec<Vec<(LocalId, V)>>,
    /// What must be checked of what was evaluated last, in order.
    pub(crate) checks: Vec<Check<V::Truth>>,
}

impl<V: Value, W> Default for Frame<V, W> {
    fn default() -> Self {
        Frame {
            bindings: BTreeMap::new(),
            writes: Vec::new(),
            starts: Vec::new(),
            given: Vec::new(),
            checks: Vec::new(),
        }
    }
}
