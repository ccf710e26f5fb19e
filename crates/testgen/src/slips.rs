//! Wrong readings of a program, planted on purpose: an `exists` that is read as `forall`, a range that is one too short.
//!
//! Comparing two readings of random programs is worth what it notices. So a slip is made in the program that one side reads, and not in
//! the other's, and a test asks how many random programs it takes until the comparison sees it. A slip is made everywhere in its
//! position, as a mistake in the code that reads programs would be.

use std::sync::Arc;

use threadwise_lang::program::{
    ArithOp, Block, CompareOp, Domain, Expr, ExprKind, ExprType, FairnessTerm, FoldKind, Initial,
    Ltl, Program, PropertyKind, StmtKind,
};

/// A way to misread expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slip {
    /// `exists` as `forall`.
    ExistsAsForall,
    /// `forall` as `exists`.
    ForallAsExists,
    /// `count` with one more.
    CountOneMore,
    /// `max` over a domain as `min`.
    MaxAsMin,
    /// `min` over a domain as `max`.
    MinAsMax,
    /// `sum` as `count` of what is not 0.
    SumAsCount,
    /// The least value of a range left out.
    LowerBound,
    /// The greatest value of a range left out.
    UpperBound,
    /// `->` as `&&`.
    ImpliesAsAnd,
}

impl Slip {
    /// All of them.
    pub const ALL: [Slip; 9] = [
        Slip::ExistsAsForall,
        Slip::ForallAsExists,
        Slip::CountOneMore,
        Slip::MaxAsMin,
        Slip::MinAsMax,
        Slip::SumAsCount,
        Slip::LowerBound,
        Slip::UpperBound,
        Slip::ImpliesAsAnd,
    ];
}

/// Where expressions are misread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// In the bodies of processes.
    Body,
    /// In invariants.
    Invariant,
    /// In liveness properties and fairness.
    Temporal,
    /// In definitions.
    Definition,
    /// In initial values.
    Initial,
}

impl Position {
    /// All of them.
    pub const ALL: [Position; 5] = [
        Position::Body,
        Position::Invariant,
        Position::Temporal,
        Position::Definition,
        Position::Initial,
    ];
}

/// The program with a slip made everywhere in a position; nothing if there is no place for it.
pub fn misread(program: &Program, slip: Slip, position: Position) -> Option<Program> {
    let mut program = program.clone();
    let mut made = 0;
    let mut misread = |expr: &mut Expr| made += inside(expr, slip);
    match position {
        Position::Body => {
            for template in &mut program.templates {
                in_block(&mut template.body, &mut misread);
            }
        }
        Position::Invariant => {
            for property in &mut program.properties {
                if let PropertyKind::Invariant(expr) = &mut property.kind {
                    misread(expr);
                }
            }
        }
        Position::Temporal => {
            for property in &mut program.properties {
                if let PropertyKind::Liveness { formula, .. } = &mut property.kind {
                    in_formula(formula, &mut misread);
                }
            }
            let fairness = program.fairness.iter_mut();
            for term in fairness.flat_map(|f| f.alternatives.iter_mut().flatten()) {
                match term {
                    FairnessTerm::Unconditional => {}
                    FairnessTerm::Weak(_, expr) => misread(expr),
                    FairnessTerm::Strong(_, p, q) => {
                        misread(p);
                        misread(q);
                    }
                }
            }
        }
        Position::Definition => {
            for def in &mut program.defs {
                misread(&mut def.body);
            }
        }
        Position::Initial => {
            let locals = program.templates.iter_mut().flat_map(|t| &mut t.locals);
            for variable in program.shared.iter_mut().chain(locals) {
                if let Initial::Value(expr) = &mut variable.initial {
                    misread(expr);
                }
            }
        }
    }
    (made > 0).then_some(program)
}

/// Makes a slip in an expression and all its parts; how often.
fn inside(expr: &mut Expr, slip: Slip) -> usize {
    let mut made = usize::from(here(expr, slip));
    // What was just put around it is no place for the slip once more.
    let parts: Vec<&mut Expr> = match (&mut expr.kind, slip) {
        (ExprKind::Arith(_, counted, _), Slip::CountOneMore) if made > 0 => parts(counted),
        _ => parts(expr),
    };
    for part in parts {
        made += inside(part, slip);
    }
    made
}

/// Makes a slip at an expression itself, if it is of the kind.
fn here(expr: &mut Expr, slip: Slip) -> bool {
    let span = expr.span;
    let number = |value| Expr {
        kind: ExprKind::Int(value),
        ty: ExprType::Int,
        span,
    };
    let arith = |op, a: Expr, b: Expr| Expr {
        kind: ExprKind::Arith(op, Box::new(a), Box::new(b)),
        ty: ExprType::Int,
        span,
    };
    match (&mut expr.kind, slip) {
        (ExprKind::Implies(a, b), Slip::ImpliesAsAnd) => {
            let both = vec![(**a).clone(), (**b).clone()];
            expr.kind = ExprKind::And(both);
        }
        (ExprKind::Fold { kind, body, .. }, _)
            if (*kind, slip) == (FoldKind::Sum, Slip::SumAsCount) =>
        {
            *kind = FoldKind::Count;
            let zero = Box::new(number(0));
            **body = Expr {
                kind: ExprKind::Compare(CompareOp::Ne, body.clone(), zero),
                ty: ExprType::Bool,
                span,
            };
        }
        (
            ExprKind::Fold {
                kind: FoldKind::Count,
                ..
            },
            Slip::CountOneMore,
        ) => {
            *expr = arith(ArithOp::Add, expr.clone(), number(1));
        }
        (ExprKind::Fold { kind, .. }, _) if confused(*kind, slip).is_some() => {
            *kind = confused(*kind, slip).unwrap_or(*kind);
        }
        (
            ExprKind::Fold {
                domain: Domain::Range(lo, _),
                ..
            },
            Slip::LowerBound,
        ) => {
            *lo = Arc::new(arith(ArithOp::Add, (**lo).clone(), number(1)));
        }
        (
            ExprKind::Fold {
                domain: Domain::Range(_, hi),
                ..
            },
            Slip::UpperBound,
        ) => {
            *hi = Arc::new(arith(ArithOp::Sub, (**hi).clone(), number(1)));
        }
        _ => return false,
    }
    true
}

/// What a quantifier is taken for.
fn confused(kind: FoldKind, slip: Slip) -> Option<FoldKind> {
    match (kind, slip) {
        (FoldKind::Exists, Slip::ExistsAsForall) => Some(FoldKind::Forall),
        (FoldKind::Forall, Slip::ForallAsExists) => Some(FoldKind::Exists),
        (FoldKind::Max, Slip::MaxAsMin) => Some(FoldKind::Min),
        (FoldKind::Min, Slip::MinAsMax) => Some(FoldKind::Max),
        _ => None,
    }
}

/// The direct subexpressions; bounds of ranges are none here, since a slip changes them itself.
fn parts(expr: &mut Expr) -> Vec<&mut Expr> {
    use ExprKind::*;
    match &mut expr.kind {
        Bool(_) | Int(_) | Member(_) | None | Param(_) | Own | Bound(_) => vec![],
        Read(place) | Locked(place) => place.indices.iter_mut().collect(),
        Remote {
            process, indices, ..
        } => {
            let process = process.iter_mut().map(|process| &mut **process);
            process.chain(indices).collect()
        }
        At { process, .. } | Enabled { process, .. } | Taken { process, .. } => {
            process.iter_mut().map(|process| &mut **process).collect()
        }
        IntToId(e) | IdToInt(e) | IdToOpt(e) | OptToId(e) | Not(e) | Neg(e) => vec![e],
        Around { id, .. } => vec![id],
        And(list) | Or(list) | Call(_, list) => list.iter_mut().collect(),
        Implies(a, b) | Iff(a, b) | Compare(_, a, b) | Arith(_, a, b) => vec![a, b],
        Fold { body, .. } => vec![body],
    }
}

fn in_formula(formula: &mut Ltl, misread: &mut impl FnMut(&mut Expr)) {
    match formula {
        Ltl::State(expr) => misread(expr),
        Ltl::Not(f) | Ltl::Globally(f) | Ltl::Finally(f) | Ltl::Next(f) => in_formula(f, misread),
        Ltl::And(list) | Ltl::Or(list) => list.iter_mut().for_each(|f| in_formula(f, misread)),
        Ltl::Implies(f, g)
        | Ltl::Iff(f, g)
        | Ltl::Until(f, g)
        | Ltl::Release(f, g)
        | Ltl::WeakUntil(f, g) => {
            in_formula(f, misread);
            in_formula(g, misread);
        }
        Ltl::Quantified { body, .. } => in_formula(body, misread),
    }
}

fn in_block(block: &mut Block, misread: &mut impl FnMut(&mut Expr)) {
    for statement in block {
        match &mut statement.kind {
            StmtKind::Assign(_, values) => values.iter_mut().for_each(&mut *misread),
            StmtKind::Cas { old, new, .. } => {
                misread(old);
                misread(new);
            }
            StmtKind::Swap { value, .. } | StmtKind::FetchAdd { amount: value, .. } => {
                misread(value)
            }
            StmtKind::Await(expr) | StmtKind::Assert(expr) => misread(expr),
            StmtKind::If(branches, otherwise) => {
                for (condition, body) in branches {
                    misread(condition);
                    in_block(body, misread);
                }
                in_block(otherwise, misread);
            }
            StmtKind::Choose(blocks) => blocks.iter_mut().for_each(|b| in_block(b, misread)),
            StmtKind::While(condition, body) => {
                misread(condition);
                in_block(body, misread);
            }
            StmtKind::ChooseIn(_, _, body)
            | StmtKind::Loop(body)
            | StmtKind::For(_, _, body)
            | StmtKind::ForLabelled(_, _, body)
            | StmtKind::Group { body, .. } => in_block(body, misread),
            StmtKind::Start(_, values) => values.iter_mut().for_each(&mut *misread),
            StmtKind::Skip
            | StmtKind::Stay
            | StmtKind::Havoc(_)
            | StmtKind::Lock(_)
            | StmtKind::Unlock(_)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Return => {}
        }
    }
}
