//! What can be computed before the program runs.

use super::ir::*;
use crate::from_promela::syntax::Binary;

/// The value of an operator in C.
pub(super) fn compute(op: Binary, a: i64, b: i64) -> Option<i64> {
    let truth = |b: bool| Some(i64::from(b));
    let value = match op {
        Binary::Add => a.checked_add(b)?,
        Binary::Sub => a.checked_sub(b)?,
        Binary::Mul => a.checked_mul(b)?,
        Binary::Div => a.checked_div(b)?,
        Binary::Mod => a.checked_rem(b)?,
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::ShiftLeft if (0..31).contains(&b) && a >= 0 => a.checked_shl(b as u32)?,
        Binary::ShiftRight if (0..31).contains(&b) => a >> b,
        Binary::ShiftLeft | Binary::ShiftRight => return None,
        Binary::And => return truth(a != 0 && b != 0),
        Binary::Or => return truth(a != 0 || b != 0),
        Binary::Equal => return truth(a == b),
        Binary::NotEqual => return truth(a != b),
        Binary::Less => return truth(a < b),
        Binary::LessEqual => return truth(a <= b),
        Binary::Greater => return truth(a > b),
        Binary::GreaterEqual => return truth(a >= b),
    };
    (i64::from(i32::MIN) <= value && value <= i64::from(i32::MAX)).then_some(value)
}

/// Computes what is known, at the top of the expression only: its parts were folded when they were made.
pub(super) fn fold(expr: &Expr) -> Expr {
    match expr {
        Expr::Minus(e) => match e.number() {
            Some(n) => Expr::Num(-n),
            None => expr.clone(),
        },
        Expr::Bin(op, a, b, _) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => compute(*op, a, b).map_or_else(|| expr.clone(), Expr::Num),
            _ => expr.clone(),
        },
        _ => expr.clone(),
    }
}
