//! Formulas as literals, whoever decides them.
//!
//! The meaning of expressions and steps is encoded once, in `encode`, `value` and `step`; there are two ways to
//! decide what comes out. To the SAT solver a literal is a variable or its negation, with gates as clauses; in
//! `ordered` it is a node of a decision graph.

use std::rc::Rc;

use crate::Error;
use crate::report::Counts;

/// A truth value that depends on the state and the choices of a step. The lowest bit negates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lit(pub(crate) u32);

impl Lit {
    /// What is always true.
    pub(crate) const TRUE: Lit = Lit(0);
    /// Its negation.
    pub(crate) const FALSE: Lit = Lit(1);

    pub(crate) fn of(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What literals speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Input {
    /// A cell of the state before the step.
    Cell(usize),
    /// A choice of a step: its number in the step, the least value and the greatest.
    Choice(usize, i64, i64),
}

/// A way to build formulas and to decide them.
pub(crate) trait Logic {
    /// That an input with this many values has at most its k-th value: for all k but the last. Nothing is
    /// known of a choice from steps before.
    fn input(&mut self, input: Input, size: usize) -> Result<Rc<[Lit]>, Error>;

    /// An error if the caller wants an end, or if a limit was reached. What was built since then means nothing.
    fn go_on(&self) -> Result<(), Error>;

    /// Both are true.
    fn and(&mut self, a: Lit, b: Lit) -> Lit;

    /// All are true.
    fn all(&mut self, lits: Vec<Lit>) -> Lit;

    /// If the first is true the second, otherwise the third.
    fn ite(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit;

    /// Of the first parts exactly one is true, and one of the literals beside it is. Where none of the first parts
    /// is true, the answer may be anything.
    fn cases(&mut self, cases: &[(Lit, Vec<Lit>)]) -> Lit;

    /// Whether there is a state, with choices, in which all of the first and one of the second are true.
    fn satisfiable(&mut self, all: &[Lit], one_of: &[Lit]) -> Result<bool, Error>;

    /// The value of a literal in the state that was found last.
    fn value(&self, lit: Lit) -> bool;

    /// What was done so far.
    fn counts(&self) -> Counts;

    /// One of them is true.
    fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Some are true.
    fn any(&mut self, lits: Vec<Lit>) -> Lit {
        !self.all(lits.into_iter().map(|lit| !lit).collect())
    }
}
