//! The parts of expressions, formulas and statements, for whoever asks something about all of them.

use crate::program::{Block, Domain, Expr, ExprKind, Ltl, Place, StmtKind};

impl Expr {
    /// Calls `f` on the direct subexpressions, in order; the bounds of a range that is gone through
    /// are among them, the body of a definition that is called is not.
    pub fn children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        use ExprKind::*;
        match &self.kind {
            Bool(_) | Int(_) | Member(_) | None | Param(_) | Own | Bound(_) => {}
            Read(place) | Locked(place) => place.indices.iter().for_each(f),
            Remote {
                process, indices, ..
            } => process.iter().map(|p| &**p).chain(indices).for_each(f),
            At { process, .. } | Enabled { process, .. } | Taken { process, .. } => {
                process.iter().for_each(|process| f(process));
            }
            IntToId(e)
            | IdToInt(e)
            | IdToOpt(e)
            | OptToId(e)
            | Not(e)
            | Neg(e)
            | Around { id: e, .. } => f(e),
            And(list) | Or(list) | Call(_, list) => list.iter().for_each(f),
            Implies(a, b) | Iff(a, b) | Compare(_, a, b) | Arith(_, a, b) => {
                f(a);
                f(b);
            }
            Fold { domain, body, .. } => {
                if let Domain::Range(lo, hi) = domain {
                    f(lo);
                    f(hi);
                }
                f(body);
            }
        }
    }

    /// Calls `f` on the expression and everything inside it.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        self.children(&mut |child| child.walk(f));
    }
}

impl Ltl {
    /// The direct subformulas.
    pub fn children(&self) -> Vec<&Ltl> {
        match self {
            Ltl::State(_) => Vec::new(),
            Ltl::Not(f) | Ltl::Globally(f) | Ltl::Finally(f) | Ltl::Next(f) => vec![f],
            Ltl::And(list) | Ltl::Or(list) => list.iter().collect(),
            Ltl::Implies(f, g)
            | Ltl::Iff(f, g)
            | Ltl::Until(f, g)
            | Ltl::Release(f, g)
            | Ltl::WeakUntil(f, g) => vec![f, g],
            Ltl::Quantified { body, .. } => vec![body],
        }
    }
}

/// What a statement consists of.
#[derive(Clone, Debug, Default)]
pub struct StmtParts<'a> {
    /// Cells that it reads or writes as a whole.
    pub places: Vec<&'a Place>,
    /// What it evaluates, the indices of its places excepted.
    pub exprs: Vec<&'a Expr>,
    /// The blocks inside it.
    pub blocks: Vec<&'a Block>,
}

impl StmtKind {
    /// The parts of a statement, in order.
    pub fn parts(&self) -> StmtParts<'_> {
        let mut parts = StmtParts::default();
        match self {
            StmtKind::Skip
            | StmtKind::Stay
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Return => {}
            StmtKind::Assign(places, values) => {
                parts.places.extend(places);
                parts.exprs.extend(values);
            }
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => {
                parts.places.extend(result);
                parts.places.push(place);
                parts.exprs.extend([old, new]);
            }
            StmtKind::Swap {
                result,
                place,
                value,
            }
            | StmtKind::FetchAdd {
                result,
                place,
                amount: value,
            } => {
                parts.places.extend(result);
                parts.places.push(place);
                parts.exprs.push(value);
            }
            StmtKind::Start(_, values) => parts.exprs.extend(values),
            StmtKind::Await(e) | StmtKind::Assert(e) => parts.exprs.push(e),
            StmtKind::Havoc(places) => parts.places.extend(places),
            StmtKind::Lock(place) | StmtKind::Unlock(place) => parts.places.push(place),
            StmtKind::If(branches, otherwise) => {
                for (condition, block) in branches {
                    parts.exprs.push(condition);
                    parts.blocks.push(block);
                }
                parts.blocks.push(otherwise);
            }
            StmtKind::Choose(blocks) => parts.blocks.extend(blocks),
            StmtKind::While(condition, block) => {
                parts.exprs.push(condition);
                parts.blocks.push(block);
            }
            StmtKind::ChooseIn(_, _, block)
            | StmtKind::Loop(block)
            | StmtKind::For(_, _, block)
            | StmtKind::ForLabelled(_, _, block)
            | StmtKind::Group { body: block, .. } => parts.blocks.push(block),
        }
        parts
    }
}
