//! How often a statement or an expression touches shared memory, for the warning about coarse steps.
//!
//! Counts stop at 2, "more than once". A definition counts for what its body reads: one that only
//! computes with its arguments touches nothing, however often it uses them.

use super::*;

/// More than once.
const MANY: u32 = 2;

/// What each definition touches.
#[derive(Default)]
pub(super) struct Touches {
    defs: IndexVec<DefId, u32>,
    /// Touching these does not count.
    ignored: BTreeSet<SharedId>,
    /// Groups of statements that are one touch of one of these variables each, by their place.
    operations: BTreeMap<Span, BTreeSet<SharedId>>,
}

impl Touches {
    /// Of a program, where touching some variables does not count.
    pub(super) fn of(
        defs: &IndexVec<DefId, Def>,
        ignored: BTreeSet<SharedId>,
        operations: BTreeMap<Span, BTreeSet<SharedId>>,
    ) -> Self {
        let mut touches = Touches {
            defs: defs.iter().map(|_| 0).collect(),
            ignored,
            operations,
        };
        // Counts only grow and end at 2, so each definition is looked at a few times only.
        to_fixpoint(defs, &mut |id| {
            let count = touches.expr(&defs[id].body);
            let grown = count > touches.defs[id];
            touches.defs[id] = count;
            grown
        });
        touches
    }

    fn counts(&self, place: &Place) -> u32 {
        match place.var {
            VarRef::Shared(var) => u32::from(!self.ignored.contains(&var)),
            VarRef::Local(_) => 0,
        }
    }

    /// Of evaluating an expression.
    pub(super) fn expr(&self, value: &Expr) -> u32 {
        self.repeated(value, false)
    }

    /// The same; the body of a quantifier is evaluated once for each value.
    fn repeated(&self, value: &Expr, repeated: bool) -> u32 {
        if let ExprKind::Fold { body, .. } = &value.kind
            && matches!(body.kind, ExprKind::At { .. })
        {
            // `ended(Child)` is one look.
            return if repeated { MANY } else { 1 };
        }
        let own = match &value.kind {
            ExprKind::Read(place) | ExprKind::Locked(place) => self.counts(place),
            ExprKind::Call(def, _) => self.defs.get(*def).copied().unwrap_or(0),
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
        self.counts(place) + place.indices.iter().map(|e| self.expr(e)).sum::<u32>()
    }

    /// Of a statement, the blocks inside it not counted. An `await` over everybody that reads one array counts as one touch: algorithms are published so, and the
    /// text shows what is read at once.
    pub(super) fn stmt(&self, kind: &StmtKind) -> u32 {
        if let StmtKind::Await(condition) = kind
            && let ExprKind::Fold { body, .. } = &condition.kind
            && !matches!(body.kind, ExprKind::At { .. })
        {
            return self.expr(body);
        }
        let parts = kind.parts();
        parts.places.into_iter().map(|p| self.place(p)).sum::<u32>()
            + parts.exprs.into_iter().map(|e| self.expr(e)).sum::<u32>()
    }

    /// Of a `send` or `receive`: one of the queue, and those of what is sent, and of where it goes.
    pub(super) fn operation(&self, body: &Block) -> Option<u32> {
        let lengths = self.operations.get(&body.first()?.span)?;
        let inside = Touches {
            defs: self.defs.clone(),
            ignored: self.ignored.union(lengths).copied().collect(),
            operations: BTreeMap::new(),
        };
        let own = lengths.iter().any(|length| !self.ignored.contains(length));
        let others = body.iter().map(|stmt| inside.stmt(&stmt.kind)).sum::<u32>();
        Some((u32::from(own) + others).min(MANY))
    }

    /// Whether anything in a block touches shared memory.
    pub(super) fn block(&self, block: &Block) -> bool {
        block.iter().any(|stmt| {
            self.stmt(&stmt.kind) > 0 || stmt.kind.parts().blocks.into_iter().any(|b| self.block(b))
        })
    }
}

/// The shared variables that each definition reads.
pub(super) fn shared_of(defs: &IndexVec<DefId, Def>) -> IndexVec<DefId, BTreeSet<SharedId>> {
    let mut read: IndexVec<DefId, BTreeSet<SharedId>> =
        defs.iter().map(|_| <_>::default()).collect();
    to_fixpoint(defs, &mut |id| {
        let mut found = BTreeSet::new();
        shared_in(&defs[id].body, &read, &mut found);
        let grown = found.len() > read[id].len();
        read[id] = found;
        grown
    });
    read
}

/// Adds the shared variables that an expression reads.
pub(super) fn shared_in(
    value: &Expr,
    defs: &IndexVec<DefId, BTreeSet<SharedId>>,
    found: &mut BTreeSet<SharedId>,
) {
    value.walk(&mut |inner| match &inner.kind {
        ExprKind::Read(place) | ExprKind::Locked(place) => {
            if let VarRef::Shared(var) = place.var {
                found.insert(var);
            }
        }
        ExprKind::Call(def, _) => found.extend(&defs[*def]),
        _ => {}
    });
}

/// Looks at each definition, and again at those that call one of which more was found.
fn to_fixpoint(defs: &IndexVec<DefId, Def>, look: &mut dyn FnMut(DefId) -> bool) {
    let mut callers: IndexVec<DefId, Vec<DefId>> = defs.iter().map(|_| vec![]).collect();
    for (id, def) in defs.iter_enumerated() {
        def.body.walk(&mut |e| {
            if let ExprKind::Call(callee, _) = e.kind {
                callers[callee].push(id);
            }
        });
    }
    let mut waiting: Vec<DefId> = defs.indices().collect();
    while let Some(id) = waiting.pop() {
        if look(id) {
            waiting.extend(&callers[id]);
        }
    }
}
