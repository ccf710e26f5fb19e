//! How often a statement or an expression touches shared memory, for the warning about coarse steps.
//!
//! Counts stop at 2, "more than once". A definition counts for what its body reads: one that only
//! computes with its arguments touches nothing, however often it uses them.

use super::bounds::{children, visit};
use super::*;

/// More than once.
const MANY: u32 = 2;

/// What each definition touches.
pub(super) struct Touches {
    defs: IndexVec<DefId, u32>,
}

impl Touches {
    pub(super) fn of(defs: &IndexVec<DefId, Def>) -> Self {
        let mut callers: IndexVec<DefId, Vec<DefId>> = defs.iter().map(|_| vec![]).collect();
        for (id, def) in defs.iter_enumerated() {
            visit(&def.body, &mut |e| {
                if let ExprKind::Call(callee, _) = e.kind {
                    callers[callee].push(id);
                }
            });
        }
        // Counts only grow and end at 2, so each definition is looked at a few times only.
        let mut touches = Touches {
            defs: defs.iter().map(|_| 0).collect(),
        };
        let mut waiting: Vec<DefId> = defs.indices().collect();
        while let Some(id) = waiting.pop() {
            let count = touches.expr(&defs[id].body);
            if count > touches.defs[id] {
                touches.defs[id] = count;
                waiting.extend(&callers[id]);
            }
        }
        touches
    }

    /// Of evaluating an expression.
    pub(super) fn expr(&self, value: &Expr) -> u32 {
        self.repeated(value, false)
    }

    /// The same; the body of a quantifier is evaluated once for each value.
    fn repeated(&self, value: &Expr, repeated: bool) -> u32 {
        let own = match &value.kind {
            ExprKind::Read(place) | ExprKind::Locked(place) => {
                u32::from(matches!(place.var, VarRef::Shared(_)))
            }
            ExprKind::Call(def, _) => self.defs[*def],
            _ => 0,
        };
        let mut n = if repeated { own * MANY } else { own };
        let repeated = repeated || matches!(value.kind, ExprKind::Fold { .. });
        children(value, &mut |child| {
            if n < MANY {
                n += self.repeated(child, repeated);
            }
        });
        n.min(MANY)
    }

    fn exprs(&self, values: &[Expr]) -> u32 {
        values.iter().map(|value| self.expr(value)).sum()
    }

    fn place(&self, place: &Place) -> u32 {
        u32::from(matches!(place.var, VarRef::Shared(_))) + self.exprs(&place.indices)
    }

    fn places<'a>(&self, places: impl IntoIterator<Item = &'a Place>) -> u32 {
        places.into_iter().map(|place| self.place(place)).sum()
    }

    /// Of a statement without blocks.
    pub(super) fn stmt(&self, kind: &StmtKind) -> u32 {
        match kind {
            StmtKind::Assign(places, values) => self.places(places) + self.exprs(values),
            StmtKind::Await(e) | StmtKind::Assert(e) => self.expr(e),
            StmtKind::Havoc(places) => self.places(places),
            StmtKind::Lock(place) | StmtKind::Unlock(place) => self.place(place),
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => self.places(result) + self.place(place) + self.expr(old) + self.expr(new),
            StmtKind::Swap {
                result,
                place,
                value,
            } => self.places(result) + self.place(place) + self.expr(value),
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => self.places(result) + self.place(place) + self.expr(amount),
            _ => 0,
        }
    }

    /// Whether anything in a block touches shared memory.
    pub(super) fn block(&self, block: &Block) -> bool {
        block.iter().any(|stmt| match &stmt.kind {
            StmtKind::If(branches, otherwise) => {
                let mut branches = branches.iter();
                branches.any(|(condition, block)| self.expr(condition) > 0 || self.block(block))
                    || self.block(otherwise)
            }
            StmtKind::Choose(blocks) => blocks.iter().any(|block| self.block(block)),
            StmtKind::While(condition, block) => self.expr(condition) > 0 || self.block(block),
            StmtKind::ChooseIn(_, _, block)
            | StmtKind::Loop(block)
            | StmtKind::For(_, _, block)
            | StmtKind::ForLabelled(_, _, block)
            | StmtKind::Group { body: block, .. } => self.block(block),
            kind => self.stmt(kind) > 0,
        })
    }
}
