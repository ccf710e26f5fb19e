//! Parts of lowered expressions: what is left when a bound variable gets a value, and which cells may be read.

use crate::build;
use crate::optimise::region;
use crate::system::{CellId, Expr, System};

/// An expression with a value for a variable that a `Fold` around it binds.
pub fn bind(expr: &Expr, bound: u32, value: i64) -> Expr {
    build::rebuild(expr, &mut |leaf| match leaf {
        Expr::Bound(other) if *other == bound => Expr::Const(value),
        leaf => leaf.clone(),
    })
}

/// An expression with something else in place of choices.
pub fn choose(expr: &Expr, choice: &mut dyn FnMut(u32) -> Expr) -> Expr {
    build::rebuild(expr, &mut |leaf| match leaf {
        Expr::Choice(number) => choice(*number),
        leaf => leaf.clone(),
    })
}

/// Visits every cell that an expression of a property may read: where an index is not a constant, all cells of the variable.
pub fn for_cells(system: &System, expr: &Expr, visit: &mut dyn FnMut(CellId)) {
    if let Expr::Load(place) = expr {
        // Properties have no process of their own.
        region(system, place, 0).cells(system).for_each(&mut *visit);
    }
    build::for_children(expr, &mut |child| for_cells(system, child, visit));
}
