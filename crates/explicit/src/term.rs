//! Expressions made special: the process's own index, bound variables and cells whose value is
//! known become constants, constants are folded, places become cells, and quantifiers over few
//! values are written out. What remains is what must be computed when a state is expanded.
//!
//! Folding never changes a value. It leaves alone arithmetic that would overflow, so that the
//! overflow is found at run time, and only if the expression is evaluated.

use std::collections::BTreeMap;

use threadwise_lang::program::{ArithOp, CompareOp, FoldKind};
use threadwise_model::system::{Expr, Place, System};

/// A special expression. Truth values are 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// A value.
    Const(i64),
    /// A cell of the state.
    Cell(u32),
    /// A bound variable or a choice that takes its values in a loop.
    Var(Variable),
    /// The cell this far after the first one.
    CellAt(u32, Box<Term>),
    /// Negation.
    Not(Box<Term>),
    /// Conjunction, at least two.
    And(Vec<Term>),
    /// Disjunction, at least two.
    Or(Vec<Term>),
    /// Comparison.
    Compare(CompareOp, Box<Term>, Box<Term>),
    /// Arithmetic.
    Arith(ArithOp, Box<Term>, Box<Term>),
    /// If the first is true the second, otherwise the third.
    Ite(Box<Term>, Box<Term>, Box<Term>),
    /// A quantifier or an aggregate over many values.
    Loop(FoldKind, u32, i64, i64, Box<Term>),
}

/// What is known only when the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    /// The process's own index in its template.
    Own,
    /// The process's own number.
    OwnProcess,
    /// A bound variable.
    Bound(u32),
    /// A choice of the step.
    Choice(u32),
}

/// What is known when an expression is made special.
#[derive(Clone)]
pub(crate) struct Known<'a> {
    system: &'a System,
    /// Index and number of the process, if the code is for one process only.
    own: Option<(i64, i64)>,
    /// The most nodes that writing out a quantifier may make.
    most_nodes: u64,
    bounds: BTreeMap<u32, i64>,
    /// Cells whose value is known.
    pub cells: BTreeMap<u32, i64>,
}

/// In code that exists once for each process, a quantifier is written out if what comes out of it
/// has no more nodes than this.
pub(crate) const NODES_IN_STEP: u64 = 600;
/// The same for code that exists once.
pub(crate) const NODES_IN_PROPERTY: u64 = 20_000;

impl<'a> Known<'a> {
    /// Nothing is known but, perhaps, whose code it is: index in the template, and number.
    pub fn new(system: &'a System, own: Option<(i64, i64)>, most_nodes: u64) -> Self {
        Known {
            system,
            own,
            most_nodes,
            bounds: BTreeMap::new(),
            cells: BTreeMap::new(),
        }
    }

    /// Makes an expression special.
    pub fn term(&mut self, expr: &Expr) -> Term {
        match expr {
            Expr::Const(value) => Term::Const(*value),
            Expr::Own => self
                .own
                .map_or(Term::Var(Variable::Own), |own| Term::Const(own.0)),
            Expr::OwnProcess => self
                .own
                .map_or(Term::Var(Variable::OwnProcess), |own| Term::Const(own.1)),
            Expr::Bound(bound) => self
                .bounds
                .get(bound)
                .map_or(Term::Var(Variable::Bound(*bound)), |&value| {
                    Term::Const(value)
                }),
            Expr::Choice(choice) => Term::Var(Variable::Choice(*choice)),
            Expr::Load(place) => match self.cell(place) {
                Target::Cell(cell) => self
                    .cells
                    .get(&cell)
                    .map_or(Term::Cell(cell), |&value| Term::Const(value)),
                Target::Nowhere => Term::Const(0),
                Target::Among { first, index, .. } => Term::CellAt(first, Box::new(index)),
            },
            Expr::Not(inner) => not(self.term(inner)),
            Expr::Neg(inner) => arith(ArithOp::Sub, Term::Const(0), self.term(inner)),
            Expr::And(parts) => self.all(parts.iter(), true),
            Expr::Or(parts) => self.all(parts.iter(), false),
            Expr::Compare(op, left, right) => compare(*op, self.term(left), self.term(right)),
            Expr::Arith(op, left, right) => arith(*op, self.term(left), self.term(right)),
            Expr::Ite(cond, yes, no) => match self.term(cond) {
                Term::Const(0) => self.term(no),
                Term::Const(_) => self.term(yes),
                cond => {
                    let (yes, no) = (self.term(yes), self.term(no));
                    if yes == no {
                        yes
                    } else {
                        Term::Ite(Box::new(cond), Box::new(yes), Box::new(no))
                    }
                }
            },
            Expr::Fold {
                kind,
                bound,
                lo,
                hi,
                body,
            } => self.fold(*kind, *bound, *lo, *hi, body),
        }
    }

    fn all<'e>(&mut self, parts: impl Iterator<Item = &'e Expr>, and: bool) -> Term {
        let mut terms = Vec::new();
        for part in parts {
            if !join(&mut terms, self.term(part), and) {
                break;
            }
        }
        joined(terms, and)
    }

    fn fold(&mut self, kind: FoldKind, bound: u32, lo: i64, hi: i64, body: &Expr) -> Term {
        if lo > hi {
            return Term::Const(i64::from(kind == FoldKind::Forall));
        }
        let values = (hi as i128 - lo as i128 + 1) as u128;
        if values > 64 || values as u64 * nodes(body, self.most_nodes) > self.most_nodes {
            let outer = self.bounds.remove(&bound);
            let body = self.term(body);
            self.bounds.extend(outer.map(|value| (bound, value)));
            return match (&body, kind) {
                (Term::Const(_), FoldKind::Forall | FoldKind::Exists) => body,
                _ => Term::Loop(kind, bound, lo, hi, Box::new(body)),
            };
        }
        let outer = self.bounds.get(&bound).copied();
        let mut terms: Vec<Term> = Vec::new();
        for value in lo..=hi {
            self.bounds.insert(bound, value);
            let term = self.term(body);
            match kind {
                FoldKind::Forall | FoldKind::Exists => {
                    if !join(&mut terms, term, kind == FoldKind::Forall) {
                        break;
                    }
                }
                _ => terms.push(term),
            }
        }
        match outer {
            Some(value) => self.bounds.insert(bound, value),
            None => self.bounds.remove(&bound),
        };
        let op = match kind {
            FoldKind::Forall => return joined(terms, true),
            FoldKind::Exists => return joined(terms, false),
            FoldKind::Count | FoldKind::Sum => ArithOp::Add,
            FoldKind::Min => ArithOp::Min,
            FoldKind::Max => ArithOp::Max,
        };
        terms
            .into_iter()
            .reduce(|left, right| arith(op, left, right))
            .unwrap_or(Term::Const(0))
    }

    /// Which cell a place is.
    pub fn cell(&mut self, place: &Place) -> Target {
        let system = self.system;
        let var = &system.vars[place.var];
        let copies = if var.stride == 0 {
            1
        } else {
            copies_of(system, place)
        };
        let process = place
            .process
            .as_ref()
            .map_or(Term::Const(0), |process| self.term(process));
        let offset = place
            .offset
            .as_ref()
            .map_or(Term::Const(0), |offset| self.term(offset));
        if let Term::Const(offset) = offset
            && !(0..i64::from(var.len)).contains(&offset)
        {
            return Target::Nowhere;
        }
        if let Term::Const(process) = process
            && !(0..copies.max(1)).contains(&process)
        {
            return Target::Nowhere;
        }
        let stride = i64::from(var.stride);
        let first = i64::from(var.first.raw());
        match (process, offset) {
            (Term::Const(process), Term::Const(offset)) => {
                Target::Cell((first + process * stride + offset) as u32)
            }
            (Term::Const(process), offset) => Target::Among {
                first: (first + process * stride) as u32,
                index: offset,
                var: place.var,
            },
            (process, offset) => {
                let start = arith(ArithOp::Mul, process, Term::Const(stride));
                let index = arith(ArithOp::Add, start, offset);
                Target::Among {
                    first: first as u32,
                    index,
                    var: place.var,
                }
            }
        }
    }

    /// Replaces known cells in a term, and folds.
    pub fn apply(&self, term: &Term) -> Term {
        match term {
            Term::Const(_) | Term::Var(_) => term.clone(),
            Term::Cell(cell) => self
                .cells
                .get(cell)
                .map_or_else(|| term.clone(), |&value| Term::Const(value)),
            Term::CellAt(first, index) => Term::CellAt(*first, Box::new(self.apply(index))),
            Term::Not(inner) => not(self.apply(inner)),
            Term::And(parts) | Term::Or(parts) => {
                let and = matches!(term, Term::And(_));
                let mut terms = Vec::new();
                for part in parts {
                    if !join(&mut terms, self.apply(part), and) {
                        break;
                    }
                }
                joined(terms, and)
            }
            Term::Compare(op, left, right) => compare(*op, self.apply(left), self.apply(right)),
            Term::Arith(op, left, right) => arith(*op, self.apply(left), self.apply(right)),
            Term::Ite(cond, yes, no) => match self.apply(cond) {
                Term::Const(0) => self.apply(no),
                Term::Const(_) => self.apply(yes),
                cond => Term::Ite(
                    Box::new(cond),
                    Box::new(self.apply(yes)),
                    Box::new(self.apply(no)),
                ),
            },
            Term::Loop(kind, bound, lo, hi, body) => {
                Term::Loop(*kind, *bound, *lo, *hi, Box::new(self.apply(body)))
            }
        }
    }
}

/// Where a place leads.
pub(crate) enum Target {
    /// This cell.
    Cell(u32),
    /// No cell: a check excludes it.
    Nowhere,
    /// The cell this far after the first one.
    Among {
        /// The first.
        first: u32,
        /// How far after it.
        index: Term,
        /// The variable.
        var: threadwise_model::system::VarId,
    },
}

fn copies_of(system: &System, place: &Place) -> i64 {
    match system.vars[place.var].scope {
        threadwise_model::system::Scope::Shared => 1,
        threadwise_model::system::Scope::Local(template) => {
            i64::from(system.templates[template].count)
        }
    }
}

/// Adds a part to a conjunction or disjunction; false if that decides it.
fn join(terms: &mut Vec<Term>, term: Term, and: bool) -> bool {
    match term {
        Term::Const(value) if (value != 0) == and => true,
        Term::Const(_) => {
            // What stands before must still be evaluated only as far as it can overflow; an
            // overflow makes the verdict unknown, so dropping it is allowed only if there is none.
            terms.retain(may_overflow);
            terms.push(Term::Const(i64::from(!and)));
            false
        }
        Term::And(inner) if and => {
            terms.extend(inner);
            true
        }
        Term::Or(inner) if !and => {
            terms.extend(inner);
            true
        }
        term => {
            if terms.len() > 64 || !terms.contains(&term) {
                terms.push(term);
            }
            true
        }
    }
}

fn joined(mut terms: Vec<Term>, and: bool) -> Term {
    match terms.len() {
        0 => Term::Const(i64::from(and)),
        1 => terms.remove(0),
        _ if and => Term::And(terms),
        _ => Term::Or(terms),
    }
}

/// Whether evaluating a term may leave 64 bits.
fn may_overflow(term: &Term) -> bool {
    match term {
        Term::Const(_) | Term::Cell(_) | Term::Var(_) => false,
        Term::CellAt(_, inner) | Term::Not(inner) => may_overflow(inner),
        Term::And(parts) | Term::Or(parts) => parts.iter().any(may_overflow),
        Term::Compare(_, left, right) => may_overflow(left) || may_overflow(right),
        Term::Arith(ArithOp::Min | ArithOp::Max, left, right) => {
            may_overflow(left) || may_overflow(right)
        }
        Term::Arith(..) => true,
        Term::Ite(cond, yes, no) => may_overflow(cond) || may_overflow(yes) || may_overflow(no),
        Term::Loop(kind, _, _, _, body) => matches!(kind, FoldKind::Sum) || may_overflow(body),
    }
}

/// Negation.
pub(crate) fn not(term: Term) -> Term {
    match term {
        Term::Const(value) => Term::Const(i64::from(value == 0)),
        Term::Not(inner) => *inner,
        Term::And(parts) => Term::Or(parts.into_iter().map(not).collect()),
        Term::Or(parts) => Term::And(parts.into_iter().map(not).collect()),
        Term::Compare(op, left, right) => Term::Compare(op.negated(), left, right),
        term => Term::Not(Box::new(term)),
    }
}

fn compare(op: CompareOp, left: Term, right: Term) -> Term {
    if let (Term::Const(left), Term::Const(right)) = (&left, &right) {
        return Term::Const(i64::from(op.holds(left, right)));
    }
    Term::Compare(op, Box::new(left), Box::new(right))
}

fn arith(op: ArithOp, left: Term, right: Term) -> Term {
    match (&left, &right, op) {
        (Term::Const(a), Term::Const(b), _) => {
            if let Some(value) = op.total(*a, *b) {
                return Term::Const(value);
            }
        }
        (Term::Const(0), _, ArithOp::Add) | (Term::Const(1), _, ArithOp::Mul) => return right,
        (_, Term::Const(0), ArithOp::Add | ArithOp::Sub) | (_, Term::Const(1), ArithOp::Mul) => {
            return left;
        }
        _ => {}
    }
    Term::Arith(op, Box::new(left), Box::new(right))
}

/// About how many nodes an expression has once its quantifiers over few values are written out.
pub(crate) fn nodes(expr: &Expr, most: u64) -> u64 {
    let of = |expr: &Expr| nodes(expr, most);
    match expr {
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_) => 1,
        Expr::Load(place) => {
            1 + place.process.as_ref().map_or(0, of) + place.offset.as_ref().map_or(0, of)
        }
        Expr::Not(inner) | Expr::Neg(inner) => 1 + of(inner),
        Expr::And(parts) | Expr::Or(parts) => 1 + parts.iter().map(of).sum::<u64>(),
        Expr::Compare(_, left, right) | Expr::Arith(_, left, right) => 1 + of(left) + of(right),
        Expr::Ite(cond, yes, no) => 1 + of(cond) + of(yes) + of(no),
        Expr::Fold { lo, hi, body, .. } => {
            let body = of(body);
            let all = (*hi as i128 - *lo as i128 + 1).max(0) * i128::from(body);
            if all <= i128::from(most) {
                all as u64 + 1
            } else {
                body + 4
            }
        }
    }
}

/// Cells that a term reads: single ones, and stretches within which it reads any one.
pub(crate) fn reads(term: &Term, cells: &mut Vec<u32>, anywhere: &mut bool) {
    match term {
        Term::Const(_) | Term::Var(_) => {}
        Term::Cell(cell) => cells.push(*cell),
        Term::CellAt(_, index) => {
            *anywhere = true;
            reads(index, cells, anywhere);
        }
        Term::Not(inner) | Term::Loop(_, _, _, _, inner) => reads(inner, cells, anywhere),
        Term::And(parts) | Term::Or(parts) => {
            parts.iter().for_each(|part| reads(part, cells, anywhere))
        }
        Term::Compare(_, left, right) | Term::Arith(_, left, right) => {
            reads(left, cells, anywhere);
            reads(right, cells, anywhere);
        }
        Term::Ite(cond, yes, no) => {
            reads(cond, cells, anywhere);
            reads(yes, cells, anywhere);
            reads(no, cells, anywhere);
        }
    }
}
