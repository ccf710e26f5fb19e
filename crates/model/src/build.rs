//! Constructors of lowered expressions that fold constants as they build.
//!
//! Folding keeps the value of every expression in every state, and never makes an evaluation
//! overflow that did not: constants are folded only where 64 bits hold the result, and a division
//! by zero is left as it stands. So these need no justification towards a checker.

use crate::execute::{Form, Size, Truth, Value};
use crate::system::{Expr, Place};
use threadwise_lang::program::{ArithOp, CompareOp, FoldKind};

/// The constant `true`.
pub(crate) const TRUE: Expr = Expr::Const(1);
/// The constant `false`.
pub(crate) const FALSE: Expr = Expr::Const(0);

/// A truth value.
pub(crate) fn boolean(value: bool) -> Expr {
    Expr::Const(i64::from(value))
}

/// The value, if it is a constant.
pub(crate) fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}

/// `!e`
pub(crate) fn not(expr: Expr) -> Expr {
    match expr {
        Expr::Const(value) => boolean(value == 0),
        Expr::Not(inner) => *inner,
        Expr::Compare(op, a, b) => Expr::Compare(op.negated(), a, b),
        other => Expr::Not(Box::new(other)),
    }
}

/// The conjunction, in order.
pub(crate) fn and(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Expr::Const(0) => return FALSE,
            Expr::Const(_) => {}
            Expr::And(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    single_or(flat, TRUE, Expr::And)
}

/// The disjunction, in order.
pub(crate) fn or(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Expr::Const(0) => {}
            Expr::Const(_) => return TRUE,
            Expr::Or(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    single_or(flat, FALSE, Expr::Or)
}

fn single_or(mut parts: Vec<Expr>, empty: Expr, make: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.len() {
        0 => empty,
        1 => parts.swap_remove(0),
        _ => make(parts),
    }
}

/// `a -> b`
pub(crate) fn implies(a: Expr, b: Expr) -> Expr {
    or([not(a), b])
}

/// A comparison.
pub(crate) fn compare(op: CompareOp, a: Expr, b: Expr) -> Expr {
    match (&a, &b) {
        (Expr::Const(x), Expr::Const(y)) => boolean(op.holds(x, y)),
        (Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_), _) if a == b => {
            boolean(op.holds(0, 0))
        }
        _ => Expr::Compare(op, Box::new(a), Box::new(b)),
    }
}

/// `a == b`
pub(crate) fn eq(a: Expr, b: Expr) -> Expr {
    compare(CompareOp::Eq, a, b)
}

/// `lo <= e && e <= hi`, for a value of 64 bits.
pub(crate) fn within(expr: Expr, lo: i64, hi: i64) -> Expr {
    let above = match lo {
        i64::MIN => TRUE,
        _ => compare(CompareOp::Le, Expr::Const(lo), expr.clone()),
    };
    let below = match hi {
        i64::MAX => TRUE,
        _ => compare(CompareOp::Le, expr, Expr::Const(hi)),
    };
    and([above, below])
}

/// Arithmetic.
pub(crate) fn arith(op: ArithOp, a: Expr, b: Expr) -> Expr {
    if let (Expr::Const(x), Expr::Const(y)) = (&a, &b)
        && let Ok(value) = op.value(*x, *y)
    {
        return Expr::Const(value);
    }
    match (op, &a, &b) {
        (ArithOp::Add | ArithOp::Sub, _, Expr::Const(0))
        | (ArithOp::Mul | ArithOp::Div, _, Expr::Const(1)) => return a,
        (ArithOp::Add, Expr::Const(0), _) | (ArithOp::Mul, Expr::Const(1), _) => return b,
        // `(x + 1) + 1`, as a loop writes it, would otherwise grow with every round. The
        // constants have one sign, so that the sum overflows exactly when the two steps would.
        (ArithOp::Add | ArithOp::Sub, Expr::Arith(inner, x, c), Expr::Const(d)) if *inner == op => {
            if let Expr::Const(c) = **c
                && (c < 0) == (*d < 0)
                && let Some(sum) = c.checked_add(*d)
            {
                return Expr::Arith(op, x.clone(), Box::new(Expr::Const(sum)));
            }
        }
        _ => {}
    }
    Expr::Arith(op, Box::new(a), Box::new(b))
}

/// `-e`
pub(crate) fn neg(expr: Expr) -> Expr {
    match expr {
        Expr::Const(value) if value != i64::MIN => Expr::Const(-value),
        other => Expr::Neg(Box::new(other)),
    }
}

/// If the first then the second else the third.
pub(crate) fn ite(condition: Expr, yes: Expr, no: Expr) -> Expr {
    match condition {
        Expr::Const(0) => no,
        Expr::Const(_) => yes,
        _ if yes == no => yes,
        condition => Expr::Ite(Box::new(condition), Box::new(yes), Box::new(no)),
    }
}

/// A quantifier or an aggregate.
pub(crate) fn fold(kind: FoldKind, bound: u32, lo: i64, hi: i64, body: Expr) -> Expr {
    match (kind, constant(&body)) {
        (FoldKind::Forall, _) if lo > hi => return TRUE,
        (FoldKind::Exists | FoldKind::Count | FoldKind::Sum, _) if lo > hi => return FALSE,
        (FoldKind::Forall | FoldKind::Exists, Some(value)) => return Expr::Const(value),
        (FoldKind::Count | FoldKind::Sum, Some(0)) => return Expr::Const(0),
        _ => {}
    }
    Expr::Fold {
        kind,
        bound,
        lo,
        hi,
        body: Box::new(body),
    }
}

/// A cell, read.
pub(crate) fn load(place: Place) -> Expr {
    Expr::Load(Box::new(place))
}

impl Form for Expr {
    fn size(&self) -> Size {
        let (mut nodes, mut depth) = (1, 0);
        for_children(self, &mut |child| {
            let size = child.size();
            nodes += size.nodes;
            depth = depth.max(size.depth);
        });
        let depth = depth + 1;
        Size { nodes, depth }
    }
}

impl Truth for Expr {
    fn constant(truth: bool) -> Expr {
        boolean(truth)
    }

    fn negated(self) -> Expr {
        not(self)
    }

    fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
        and(parts)
    }

    fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
        or(parts)
    }
}

impl Value for Expr {
    type Truth = Expr;

    fn number(number: i64) -> Expr {
        Expr::Const(number)
    }

    fn known(&self) -> Option<i64> {
        constant(self)
    }

    fn own() -> Expr {
        Expr::Own
    }

    fn of_truth(truth: Expr) -> Expr {
        truth
    }

    fn truth(self) -> Expr {
        self
    }

    fn compare(op: CompareOp, a: Expr, b: Expr) -> Expr {
        compare(op, a, b)
    }

    fn same(a: Expr, b: Expr) -> Expr {
        eq(a, b)
    }

    fn arith(op: ArithOp, a: Expr, b: Expr) -> Expr {
        arith(op, a, b)
    }

    fn minus(self) -> Expr {
        neg(self)
    }

    fn either(condition: Expr, yes: Expr, no: Expr) -> Expr {
        ite(condition, yes, no)
    }
}

impl Expr {
    /// Visits the immediate parts of the expression.
    pub fn for_children(&self, visit: &mut dyn FnMut(&Expr)) {
        for_children(self, visit);
    }
}

/// Visits the immediate parts of an expression.
pub(crate) fn for_children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match expr {
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_) => {}
        Expr::Load(place) => {
            place.process.iter().for_each(&mut *visit);
            place.offset.iter().for_each(visit);
        }
        Expr::Not(e) | Expr::Neg(e) => visit(e),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(visit),
        Expr::Compare(_, a, b) | Expr::Arith(_, a, b) => {
            visit(a);
            visit(b);
        }
        Expr::Ite(c, a, b) => {
            visit(c);
            visit(a);
            visit(b);
        }
        Expr::Fold { body, .. } => visit(body),
    }
}

/// Visits an expression and everything inside it.
pub(crate) fn for_all(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    for_children(expr, &mut |child| for_all(child, visit));
}

/// Rebuilds an expression from the leaves up; `leaf` says what each leaf becomes, and constants
/// are folded on the way.
pub(crate) fn rebuild(expr: &Expr, leaf: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    rebind(expr, 0, leaf)
}

/// The same with all bound variables renumbered by so much, so that the result can stand under other quantifiers. Leaves are renumbered before
/// `leaf` sees them.
pub(crate) fn rebind(expr: &Expr, shift: u32, leaf: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    let rebuild = |expr: &Expr, leaf: &mut dyn FnMut(&Expr) -> Expr| rebind(expr, shift, leaf);
    match expr {
        Expr::Bound(bound) => leaf(&Expr::Bound(bound + shift)),
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Choice(_) => leaf(expr),
        Expr::Load(place) => load(Place {
            var: place.var,
            process: place.process.as_ref().map(|e| rebuild(e, leaf)),
            offset: place.offset.as_ref().map(|e| rebuild(e, leaf)),
        }),
        Expr::Not(e) => not(rebuild(e, leaf)),
        Expr::Neg(e) => neg(rebuild(e, leaf)),
        Expr::And(parts) => {
            let parts: Vec<Expr> = parts.iter().map(|p| rebuild(p, leaf)).collect();
            and(parts)
        }
        Expr::Or(parts) => {
            let parts: Vec<Expr> = parts.iter().map(|p| rebuild(p, leaf)).collect();
            or(parts)
        }
        Expr::Compare(op, a, b) => {
            let a = rebuild(a, leaf);
            compare(*op, a, rebuild(b, leaf))
        }
        Expr::Arith(op, a, b) => {
            let a = rebuild(a, leaf);
            arith(*op, a, rebuild(b, leaf))
        }
        Expr::Ite(c, a, b) => {
            let c = rebuild(c, leaf);
            match constant(&c) {
                Some(0) => rebuild(b, leaf),
                Some(_) => rebuild(a, leaf),
                None => {
                    let a = rebuild(a, leaf);
                    ite(c, a, rebuild(b, leaf))
                }
            }
        }
        Expr::Fold {
            kind,
            bound,
            lo,
            hi,
            body,
        } => fold(*kind, bound + shift, *lo, *hi, rebuild(body, leaf)),
    }
}

/// The same for a place.
pub(crate) fn rebuild_place(place: &Place, leaf: &mut dyn FnMut(&Expr) -> Expr) -> Place {
    Place {
        var: place.var,
        process: place.process.as_ref().map(|e| rebuild(e, leaf)),
        offset: place.offset.as_ref().map(|e| rebuild(e, leaf)),
    }
}
