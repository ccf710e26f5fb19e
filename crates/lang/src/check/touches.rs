//! How often a statement or an expression touches shared memory, for the warning about coarse steps.
//!
//! Counts stop at 2, "more than once". A definition counts for what its body reads: one that only
//! computes with its arguments touches nothing, however often it uses them.

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
            def.body.walk(&mut |e| {
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
        value.children(&mut |child| {
            if n < MANY {
                n += self.repeated(child, repeated);
            }
        });
        n.min(MANY)
    }

    fn place(&self, place: &Place) -> u32 {
        let own = u32::from(matches!(place.var, VarRef::Shared(_)));
        own + place.indices.iter().map(|e| self.expr(e)).sum::<u32>()
    }

    /// Of a statement, the blocks inside it not counted.
    pub(super) fn stmt(&self, kind: &StmtKind) -> u32 {
        let parts = kind.parts();
        parts.places.into_iter().map(|p| self.place(p)).sum::<u32>()
            + parts.exprs.into_iter().map(|e| self.expr(e)).sum::<u32>()
    }

    /// Whether anything in a block touches shared memory.
    pub(super) fn block(&self, block: &Block) -> bool {
        block.iter().any(|stmt| {
            self.stmt(&stmt.kind) > 0 || stmt.kind.parts().blocks.into_iter().any(|b| self.block(b))
        })
    }
}
