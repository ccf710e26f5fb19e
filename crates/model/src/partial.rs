//! Parts of lowered expressions: what is left when a bound variable gets a value, and which cells may be read.

use crate::build;
use crate::system::{CellId, Expr, Place, Scope, System};

/// An expression with a value for a variable that a `Fold` around it binds.
pub fn bind(expr: &Expr, bound: u32, value: i64) -> Expr {
    build::rebuild(expr, &mut |leaf| match leaf {
        Expr::Bound(other) if *other == bound => Expr::Const(value),
        leaf => leaf.clone(),
    })
}

/// Visits every cell that an expression may read: where an index is not a constant, all cells of the variable.
pub fn for_cells(system: &System, expr: &Expr, visit: &mut dyn FnMut(CellId)) {
    if let Expr::Load(place) = expr {
        cells_of(system, place, visit);
    }
    build::for_children(expr, &mut |child| for_cells(system, child, visit));
}

fn cells_of(system: &System, place: &Place, visit: &mut dyn FnMut(CellId)) {
    let var = &system.vars[place.var];
    let copies = match var.scope {
        Scope::Shared => 1,
        Scope::Local(template) => system.templates[template].count,
    };
    let range = |index: &Option<Expr>, size: u32| match index.as_ref() {
        None => 0..size.min(1),
        Some(Expr::Const(index)) => match u32::try_from(*index) {
            Ok(index) if index < size => index..index + 1,
            _ => 0..0,
        },
        Some(_) => 0..size,
    };
    for copy in range(&place.process, copies) {
        for offset in range(&place.offset, var.len) {
            visit(system.cell(place.var, copy, offset));
        }
    }
}
