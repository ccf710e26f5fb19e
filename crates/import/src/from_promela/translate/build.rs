//! Expressions and statements of the model, as they are put together here.
//!
//! What is made has no places yet, and a bound variable has one number for its name, so that two guards that say the same are equal;
//! `finish` puts in places and numbers what is bound. Truth values that are known go away at once: so "always" is `true` and "never" is `false`.

use threadwise_lang::program::{
    ArithOp, Block, BoundId, CompareOp, Domain, Expr, ExprKind, ExprType, FoldKind, Ltl, Place,
    Span, Stmt, StmtKind,
};

/// An expression of the model.
pub(super) type Term = Expr;

pub(super) const NOWHERE: Span = Span { start: 0, end: 0 };

pub(super) fn boolean(kind: ExprKind) -> Term {
    Expr::new(kind, ExprType::Bool, NOWHERE)
}

pub(super) fn int(n: i64) -> Term {
    Expr::int(n, NOWHERE)
}

pub(super) fn truth(value: bool) -> Term {
    Expr::truth(value, NOWHERE)
}

/// The value of a number.
pub(super) fn constant(of: &Term) -> Option<i64> {
    match of.kind {
        ExprKind::Int(n) => Some(n),
        _ => None,
    }
}

/// Whether it is this truth value.
pub(super) fn is(of: &Term, value: bool) -> bool {
    of.kind == ExprKind::Bool(value)
}

pub(super) fn plus(a: Term, b: Term) -> Term {
    a.arith(ArithOp::Add, b)
}

pub(super) fn minus(a: Term, b: Term) -> Term {
    a.arith(ArithOp::Sub, b)
}

pub(super) fn times(a: Term, b: Term) -> Term {
    a.arith(ArithOp::Mul, b)
}

pub(super) fn over(a: Term, b: i64) -> Term {
    a.arith(ArithOp::Div, int(b))
}

pub(super) fn modulo(a: Term, b: i64) -> Term {
    a.arith(ArithOp::Rem, int(b))
}

/// A number further on, or back.
pub(super) fn shifted(a: Term, by: i64) -> Term {
    match (by, constant(&a)) {
        (0, _) => a,
        (_, Some(n)) => int(n + by),
        (1.., _) => plus(a, int(by)),
        _ => minus(a, int(-by)),
    }
}

/// The sum of at least one number.
pub(super) fn sum(parts: Vec<Term>) -> Term {
    let sum = parts.into_iter().reduce(plus);
    sum.unwrap_or_else(|| int(0))
}

pub(super) fn equal(a: Term, b: Term) -> Term {
    a.compare(CompareOp::Eq, b)
}

/// Whether a number is this one.
pub(super) fn is_number(a: Term, n: i64) -> Term {
    equal(a, int(n))
}

pub(super) fn less(a: Term, b: Term) -> Term {
    a.compare(CompareOp::Lt, b)
}

pub(super) fn greater(a: Term, b: Term) -> Term {
    a.compare(CompareOp::Gt, b)
}

/// Both.
pub(super) fn and(a: Term, b: Term) -> Term {
    match (&a.kind, &b.kind) {
        (ExprKind::Bool(false), _) | (_, ExprKind::Bool(false)) => truth(false),
        (ExprKind::Bool(true), _) => b,
        (_, ExprKind::Bool(true)) => a,
        _ => a.and(b),
    }
}

/// One of them at least; what is said twice is said once.
pub(super) fn or(terms: impl IntoIterator<Item = Term>) -> Term {
    let mut all: Vec<Term> = Vec::new();
    for term in terms {
        match term.kind {
            ExprKind::Bool(true) => return term,
            ExprKind::Bool(false) => {}
            _ if all.contains(&term) => {}
            _ => all.push(term),
        }
    }
    match all.len() {
        0 => truth(false),
        1 => all.remove(0),
        _ => boolean(ExprKind::Or(all)),
    }
}

/// One of them at least, and of those that are disjunctions themselves, one of theirs.
pub(super) fn any(terms: impl IntoIterator<Item = Term>) -> Term {
    or(terms.into_iter().flat_map(|term| match term.kind {
        ExprKind::Or(list) => list,
        _ => vec![term],
    }))
}

pub(super) fn not(of: Term) -> Term {
    match of.kind {
        ExprKind::Bool(value) => truth(!value),
        ExprKind::Not(inner) => *inner,
        ExprKind::Compare(op, a, b) => {
            let op = match op {
                CompareOp::Eq => CompareOp::Ne,
                CompareOp::Ne => CompareOp::Eq,
                CompareOp::Lt => CompareOp::Ge,
                CompareOp::Ge => CompareOp::Lt,
                CompareOp::Le => CompareOp::Gt,
                CompareOp::Gt => CompareOp::Le,
            };
            boolean(ExprKind::Compare(op, a, b))
        }
        _ => of.negated(),
    }
}

/// The numbers between two.
pub(super) fn range(low: i64, high: i64) -> Domain {
    Domain::Range(int(low).into(), int(high).into())
}

pub(super) fn fold(kind: FoldKind, var: BoundId, domain: Domain, body: Term) -> Term {
    Expr::fold(kind, var, domain, body, NOWHERE)
}

/// How many parts an expression has.
pub(super) fn size(of: &Term) -> usize {
    let mut parts = 0;
    of.walk(&mut |_| parts += 1);
    parts
}

/// How many parts a formula has.
pub(super) fn formula_size(f: &Ltl) -> usize {
    let own = match f {
        Ltl::State(e) => size(e),
        _ => 1,
    };
    f.children().into_iter().map(formula_size).sum::<usize>() + own
}

pub(super) fn stmt(kind: StmtKind, at: Span) -> Stmt {
    Stmt::new(kind, at)
}

/// What can be stored: an id is a number.
pub(super) fn number_or_truth(value: Term) -> Term {
    match value.ty {
        ExprType::Bool => value,
        _ => value.coerced(ExprType::Int),
    }
}

/// `place := value`
pub(super) fn assign(place: Place, value: Term, at: Span) -> Stmt {
    stmt(
        StmtKind::Assign(vec![place], vec![number_or_truth(value)]),
        at,
    )
}

/// `place := place + by`, for a number.
pub(super) fn add_to(place: Place, by: i64, at: Span) -> Stmt {
    let before = Expr::new(ExprKind::Read(place.clone()), ExprType::Int, NOWHERE);
    assign(place, shifted(before, by), at)
}

/// Waits, unless there is nothing to wait for.
pub(super) fn await_of(guard: Term, at: Span) -> Block {
    match is(&guard, true) {
        true => Vec::new(),
        false => vec![stmt(StmtKind::Await(guard), at)],
    }
}

/// What no run gets to.
pub(super) fn unreachable(at: Span) -> Stmt {
    stmt(StmtKind::Assert(truth(false)), at)
}

/// How many parts statements have.
pub(super) fn block_size(block: &Block) -> usize {
    let of = |stmt: &Stmt| {
        let parts = stmt.kind.parts();
        let places = parts.places.iter().flat_map(|place| &place.indices);
        let exprs: usize = places.chain(parts.exprs).map(size).sum();
        let blocks: usize = parts.blocks.into_iter().map(block_size).sum();
        1 + exprs + blocks
    };
    block.iter().map(of).sum()
}
