//! The last pass over the model: places, bound variables, and what is not needed.
//!
//! Until here expressions have no places and get that of the statement or declaration they stand in; a bound variable has one number for its name
//! and gets one of its own for each quantifier, loop and choice; and what nothing speaks of goes.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_lang::program::{
    Bound, BoundId, DefId, Expr, ExprKind, Place, Program, SharedId, Span, Stmt, StmtKind,
    TemplateId, VarRef,
};
use threadwise_lang::rewrite::Rewrite;

/// The numbers of the variables and definitions that are left.
pub(super) struct Kept {
    pub shared: BTreeMap<SharedId, SharedId>,
    pub defs: BTreeMap<DefId, DefId>,
}

/// Finishes a model in which these shared variables stand in any case.
pub(super) fn finish(model: &mut Program, wanted: &BTreeSet<SharedId>) -> Kept {
    let mut named = Named {
        shared: wanted.clone(),
        defs: BTreeSet::new(),
    };
    model.rewrite(&mut named);
    let shared = named.shared.iter().enumerate();
    let shared = shared.map(|(at, old)| (*old, SharedId::new(at))).collect();
    let defs = named.defs.iter().enumerate();
    let defs = defs.map(|(at, old)| (*old, DefId::new(at))).collect();
    let all = std::mem::take(&mut model.shared).into_iter_enumerated();
    let left = all.filter(|(id, _)| named.shared.contains(id));
    model.shared = left.map(|(_, variable)| variable).collect();
    let all = std::mem::take(&mut model.defs).into_iter_enumerated();
    let left = all.filter(|(id, _)| named.defs.contains(id));
    model.defs = left.map(|(_, def)| def).collect();
    let mut finish = Finish {
        kept: Kept { shared, defs },
        names: std::mem::take(&mut model.bounds).into_iter().collect(),
        bounds: Vec::new(),
        scope: Vec::new(),
        item: Span::default(),
        stmts: Vec::new(),
    };
    model.rewrite(&mut finish);
    model.bounds = finish.bounds.into_iter().collect();
    finish.kept
}

/// What expressions and statements speak of.
struct Named {
    shared: BTreeSet<SharedId>,
    defs: BTreeSet<DefId>,
}

impl Rewrite for Named {
    fn expr(&mut self, value: &mut Expr) {
        if let ExprKind::Call(def, _) = value.kind {
            self.defs.insert(def);
        }
    }

    fn place(&mut self, place: &mut Place) {
        if let VarRef::Shared(id) = place.var {
            self.shared.insert(id);
        }
    }
}

struct Finish {
    kept: Kept,
    names: Vec<Bound>,
    bounds: Vec<Bound>,
    /// What is bound where we are: the number for the name, and the new one.
    scope: Vec<(BoundId, BoundId)>,
    item: Span,
    stmts: Vec<Span>,
}

impl Finish {
    fn bind(&mut self, var: &mut BoundId) {
        let new = BoundId::new(self.bounds.len());
        self.bounds.push(self.names[var.index()].clone());
        self.scope.push((*var, new));
        *var = new;
    }

    fn here(&self) -> Span {
        self.stmts.last().copied().unwrap_or(self.item)
    }
}

impl Rewrite for Finish {
    fn enter_item(&mut self, span: Span) {
        self.item = span;
    }

    fn enter_expr(&mut self, value: &mut Expr) {
        value.span = self.here();
        match &mut value.kind {
            ExprKind::Fold { var, .. } => self.bind(var),
            ExprKind::Bound(var) => {
                let mut inner = self.scope.iter().rev();
                if let Some((_, new)) = inner.find(|(name, _)| name == var) {
                    *var = *new;
                }
            }
            ExprKind::Call(def, _) => *def = self.kept.defs.get(def).copied().unwrap_or(*def),
            _ => {}
        }
    }

    fn expr(&mut self, value: &mut Expr) {
        if let ExprKind::Fold { .. } = value.kind {
            self.scope.pop();
        }
    }

    fn enter_stmt(&mut self, stmt: &mut Stmt) {
        self.stmts.push(stmt.span);
        if let StmtKind::For(var, ..) | StmtKind::ChooseIn(var, ..) = &mut stmt.kind {
            self.bind(var);
        }
    }

    fn stmt(&mut self, _: TemplateId, stmt: &mut Stmt) {
        self.stmts.pop();
        if let StmtKind::For(..) | StmtKind::ChooseIn(..) = stmt.kind {
            self.scope.pop();
        }
    }

    fn place(&mut self, place: &mut Place) {
        place.span = self.here();
        if let VarRef::Shared(id) = &mut place.var {
            *id = self.kept.shared.get(id).copied().unwrap_or(*id);
        }
    }
}
