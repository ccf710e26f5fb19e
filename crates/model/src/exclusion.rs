//! Mutual exclusion, recognised.
//!
//! `forall i, j: i == j || !(X(i) && X(j))` says that at most one X holds. Built term by term it takes
//! as much as there are pairs; counted it takes as much as there are values. Exact: the two say the
//! same.

use threadwise_lang::program::{CompareOp, FoldKind};

use crate::build;
use crate::system::Expr;

/// "At most one of these holds."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtMostOne {
    /// The bound variable of the body.
    pub bound: u32,
    /// Its least value.
    pub lo: i64,
    /// Its greatest value.
    pub hi: i64,
    /// What holds for at most one value.
    pub body: Expr,
}

impl AtMostOne {
    /// Recognises the form above.
    pub fn of(expr: &Expr) -> Option<AtMostOne> {
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
        let Expr::Or(terms) = &**body else {
            return None;
        };
        let [Expr::Compare(CompareOp::Eq, a, b), Expr::Not(both)] = terms.as_slice() else {
            return None;
        };
        let Expr::And(conjuncts) = &**both else {
            return None;
        };
        let (first, second) = (Expr::Bound(*i), Expr::Bound(*j));
        let same = (**a == first && **b == second) || (**a == second && **b == first);
        if !same || (lo, hi) != (inner_lo, inner_hi) {
            return None;
        }
        let (of_i, of_j): (Vec<&Expr>, Vec<&Expr>) =
            conjuncts.iter().partition(|part| !mentions(part, &second));
        let renamed: Vec<Expr> = of_j
            .iter()
            .map(|part| {
                build::rebuild(part, &mut |leaf| match leaf {
                    leaf if *leaf == second => first.clone(),
                    leaf => leaf.clone(),
                })
            })
            .collect();
        let alike = !of_j.iter().any(|part| mentions(part, &first))
            && of_i.len() == renamed.len()
            && of_i.iter().zip(&renamed).all(|(a, b)| **a == *b);
        (alike && !renamed.is_empty()).then_some(AtMostOne {
            bound: *i,
            lo: *lo,
            hi: *hi,
            body: Expr::And(renamed),
        })
    }
}

/// Whether a leaf occurs in an expression.
fn mentions(expr: &Expr, leaf: &Expr) -> bool {
    let mut found = expr == leaf;
    build::for_children(expr, &mut |child| found = found || mentions(child, leaf));
    found
}
