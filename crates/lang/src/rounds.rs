//! Loops over the processes of a template whose rounds do not influence one another.
//!
//! `for j in P { .. }` goes through ids in their order. The order makes no difference, and the loop may as well do its body for every `j` at once,
//! if each round writes only cells that are its own, and reads no cell that another round writes. That is so if every array that is written is
//! written and read at index `j` only, always in the same dimension, and if nothing but assignments, `if` and `assert` is in the body: rounds write
//! different cells then, and each finds the cells that it reads as they were before the loop, but for its own writes. If several rounds fail a check,
//! the step fails in any order; which of them is named may differ.
//!
//! So such loops are allowed where ids have no order, and every permutation of the processes maps the step to itself; and for any number of
//! processes they are one write. The test is about the text: an index that is always equal to `j` but is not the name `j` counts as another one.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{
    Block, BoundId, DefId, Domain, Expr, ExprKind, Place, Program, Span, StmtKind, TemplateId,
    VarRef, Variable,
};

/// What makes the rounds of a loop depend on one another, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// What it is.
    pub tie: Tie,
    /// Its place.
    pub span: Span,
}

/// What makes rounds depend on one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// A statement that is none of those that can be done for all at once.
    Statement,
    /// Rounds write the same cell of this variable.
    Write(VarRef),
    /// A round reads a cell of this variable that another one writes.
    Read(VarRef),
}

/// Whether the rounds of `for var in template { body }`, in a process of the template `own`, do not influence one another; if they may, why.
pub fn independent(
    program: &Program,
    own: TemplateId,
    var: BoundId,
    template: TemplateId,
    body: &Block,
) -> Result<(), Dependence> {
    let mut rounds = Rounds {
        program,
        own,
        template,
        written: BTreeMap::new(),
        seen: BTreeSet::new(),
    };
    let names = BTreeSet::from([var]);
    rounds.writes(body, &names)?;
    rounds.reads(body, &names)
}

struct Rounds<'p> {
    program: &'p Program,
    own: TemplateId,
    template: TemplateId,
    /// The variables that are written, with the dimensions where every index so far is the round's process.
    written: BTreeMap<VarRef, BTreeSet<usize>>,
    /// Definitions that were looked into, with the parameters that are the round's process.
    seen: BTreeSet<(DefId, BTreeSet<BoundId>)>,
}

impl<'p> Rounds<'p> {
    fn variable(&self, var: VarRef) -> &'p Variable {
        match var {
            VarRef::Shared(var) => &self.program.shared[var],
            VarRef::Local(var) => &self.program.templates[self.own].locals[var],
        }
    }

    /// The dimensions of a place whose index is the round's process.
    fn dimensions(&self, place: &Place, names: &BTreeSet<BoundId>) -> BTreeSet<usize> {
        let dims = self.variable(place.var).dims.iter().zip(&place.indices);
        let own = dims.enumerate().filter(|(_, (dim, index))| {
            let of_template = matches!(dim, Domain::Template(id) if *id == self.template);
            of_template && matches!(&index.kind, ExprKind::Bound(id) if names.contains(id))
        });
        own.map(|(position, _)| position).collect()
    }

    /// Finds what is written.
    fn writes(&mut self, body: &Block, names: &BTreeSet<BoundId>) -> Result<(), Dependence> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign(places, _) => {
                    for place in places {
                        let own = self.dimensions(place, names);
                        let known = self.written.entry(place.var).or_insert_with(|| own.clone());
                        known.retain(|position| own.contains(position));
                        if known.is_empty() {
                            let (tie, span) = (Tie::Write(place.var), place.span);
                            return Err(Dependence { tie, span });
                        }
                    }
                }
                StmtKind::Assert(_)
                | StmtKind::Skip
                | StmtKind::If(..)
                | StmtKind::For(..)
                | StmtKind::Group { .. } => {}
                _ => {
                    let (tie, span) = (Tie::Statement, stmt.span);
                    return Err(Dependence { tie, span });
                }
            }
            for inner in stmt.kind.parts().blocks {
                self.writes(inner, names)?;
            }
        }
        Ok(())
    }

    /// Looks for reads of what another round writes.
    fn reads(&mut self, body: &'p Block, names: &BTreeSet<BoundId>) -> Result<(), Dependence> {
        for stmt in body {
            let parts = stmt.kind.parts();
            let indices = parts.places.iter().flat_map(|place| &place.indices);
            for expr in indices.chain(parts.exprs.iter().copied()) {
                self.expr(expr, names)?;
            }
            for inner in parts.blocks {
                self.reads(inner, names)?;
            }
        }
        Ok(())
    }

    fn expr(&mut self, expr: &'p Expr, names: &BTreeSet<BoundId>) -> Result<(), Dependence> {
        match &expr.kind {
            ExprKind::Read(place) | ExprKind::Locked(place) => {
                let own = self.dimensions(place, names);
                if let Some(known) = self.written.get_mut(&place.var) {
                    known.retain(|position| own.contains(position));
                    if known.is_empty() {
                        let (tie, span) = (Tie::Read(place.var), expr.span);
                        return Err(Dependence { tie, span });
                    }
                }
            }
            ExprKind::Call(def, arguments) => {
                let called = &self.program.defs[*def];
                let same = called.params.iter().zip(arguments).filter(|(_, argument)| {
                    matches!(&argument.kind, ExprKind::Bound(id) if names.contains(id))
                });
                let inside: BTreeSet<BoundId> = same.map(|(param, _)| *param).collect();
                if self.seen.insert((*def, inside.clone())) {
                    let found = self.expr(&called.body, &inside);
                    // The place in the text of the loop, not of the definition.
                    found.map_err(|found| Dependence {
                        span: expr.span,
                        ..found
                    })?;
                }
            }
            _ => {}
        }
        let mut result = Ok(());
        expr.children(&mut |child| {
            if result.is_ok() {
                result = self.expr(child, names);
            }
        });
        result
    }
}
