//! Mutual exclusion, recognised.
//!
//! `forall i, j: i == j || !(X(i) && X(j))` says that at most one X holds. Built term by term it takes
//! as many nodes as there are pairs; counted from the last process up it takes two for each.
//! Exact: the two are the same set.

use threadwise_lang::program::{CompareOp, FoldKind};
use threadwise_model::system::{Expr, Place};

/// The X of such an expression, with its bound variable and range.
pub(crate) fn exclusion(expr: &Expr) -> Option<(u32, i64, i64, Expr)> {
    let Expr::Fold {
        kind: FoldKind::Forall,
        bound: i,
        lo,
        hi,
        body,
    } = expr
    else {
        return None;
    };
    let Expr::Fold {
        kind: FoldKind::Forall,
        bound: j,
        lo: inner_lo,
        hi: inner_hi,
        body,
    } = &**body
    else {
        return None;
    };
    if (lo, hi) != (inner_lo, inner_hi) {
        return None;
    }
    let Expr::Or(terms) = &**body else {
        return None;
    };
    let [same, other] = terms.as_slice() else {
        return None;
    };
    let both = |a: &Expr, b: &Expr| {
        (*a == Expr::Bound(*i) && *b == Expr::Bound(*j))
            || (*a == Expr::Bound(*j) && *b == Expr::Bound(*i))
    };
    let is_same = matches!(same, Expr::Compare(CompareOp::Eq, a, b) if both(a, b));
    let Expr::Not(other) = other else {
        return None;
    };
    let Expr::And(list) = &**other else {
        return None;
    };
    let (of_i, of_j): (Vec<&Expr>, Vec<&Expr>) =
        list.iter().partition(|conjunct| !mentions(conjunct, *j));
    let clean = of_j.iter().all(|conjunct| !mentions(conjunct, *i));
    let renamed: Vec<Expr> = of_j.iter().map(|e| rename(e, *j, *i)).collect();
    let matches = of_i.len() == renamed.len() && of_i.iter().zip(&renamed).all(|(a, b)| **a == *b);
    (is_same && clean && matches && !renamed.is_empty()).then_some((
        *i,
        *lo,
        *hi,
        Expr::And(renamed),
    ))
}

fn mentions(expr: &Expr, bound: u32) -> bool {
    let mut found = false;
    crate::transitions::visit(expr, &mut |e| found |= *e == Expr::Bound(bound));
    found
}

/// The expression with one bound variable in place of another. Inner folds bind other variables:
/// numbers are unique along a path of nesting.
fn rename(expr: &Expr, from: u32, to: u32) -> Expr {
    let one = |e: &Expr| Box::new(rename(e, from, to));
    let list = |list: &[Expr]| list.iter().map(|e| rename(e, from, to)).collect();
    match expr {
        Expr::Bound(bound) if *bound == from => Expr::Bound(to),
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_) => {
            expr.clone()
        }
        Expr::Load(place) => Expr::Load(Box::new(Place {
            var: place.var,
            process: place.process.as_ref().map(|e| rename(e, from, to)),
            offset: place.offset.as_ref().map(|e| rename(e, from, to)),
        })),
        Expr::Not(e) => Expr::Not(one(e)),
        Expr::Neg(e) => Expr::Neg(one(e)),
        Expr::And(terms) => Expr::And(list(terms)),
        Expr::Or(terms) => Expr::Or(list(terms)),
        Expr::Compare(op, a, b) => Expr::Compare(*op, one(a), one(b)),
        Expr::Arith(op, a, b) => Expr::Arith(*op, one(a), one(b)),
        Expr::Ite(c, a, b) => Expr::Ite(one(c), one(a), one(b)),
        Expr::Fold {
            kind,
            bound,
            lo,
            hi,
            body,
        } => Expr::Fold {
            kind: *kind,
            bound: *bound,
            lo: *lo,
            hi: *hi,
            body: one(body),
        },
    }
}
