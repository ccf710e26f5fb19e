//! Walks over a checked program, for questions that concern every expression or domain of it.

use threadwise_lang::program::{
    Block, Domain, Expr, ExprKind, FairnessTerm, Initial, Ltl, Place, Program, PropertyKind, Span,
    StmtKind,
};

/// What a domain is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DomainUse {
    /// One value is chosen.
    One,
    /// Every value is gone through.
    Every,
}

/// Whether the value depends on the process's own id.
pub(crate) fn mentions_own_id(expr: &Expr, program: &Program) -> bool {
    let mut found = false;
    expression(expr, program, &mut |e| {
        found |= matches!(e.kind, ExprKind::Own)
    });
    found
}

/// Calls `visit` with the domain of each quantifier, loop and choice, how it is used, and a place.
/// Dimensions of arrays are not among them.
pub(crate) fn domains(program: &Program, visit: &mut dyn FnMut(&Domain, DomainUse, Span)) {
    for def in &program.defs {
        in_expr(&def.body, visit);
    }
    for template in &program.templates {
        block(&template.body, visit);
        for local in &template.locals {
            if let Initial::Value(expr) = &local.initial {
                in_expr(expr, visit);
            }
        }
    }
    for exception in &program.exceptions {
        in_expr(exception, visit);
    }
    for term in program
        .fairness
        .iter()
        .flat_map(|f| f.alternatives.iter().flatten())
    {
        let (binders, exprs): (&[_], Vec<&Expr>) = match term {
            FairnessTerm::Unconditional => (&[], Vec::new()),
            FairnessTerm::Weak(binders, e) => (binders, vec![e]),
            FairnessTerm::Strong(binders, p, q) => (binders, vec![p, q]),
        };
        for expr in exprs {
            for (_, domain) in binders {
                visit(domain, DomainUse::Every, expr.span);
            }
            in_expr(expr, visit);
        }
    }
    for property in &program.properties {
        match &property.kind {
            PropertyKind::Invariant(expr) => in_expr(expr, visit),
            PropertyKind::DeadlockFree => {}
            PropertyKind::Liveness { formula, .. } => in_formula(formula, property.span, visit),
        }
    }
}

fn in_formula(formula: &Ltl, span: Span, visit: &mut dyn FnMut(&Domain, DomainUse, Span)) {
    match formula {
        Ltl::State(expr) => in_expr(expr, visit),
        Ltl::Not(f) | Ltl::Globally(f) | Ltl::Finally(f) | Ltl::Next(f) => {
            in_formula(f, span, visit)
        }
        Ltl::And(fs) | Ltl::Or(fs) => {
            for f in fs {
                in_formula(f, span, visit);
            }
        }
        Ltl::Implies(f, g)
        | Ltl::Iff(f, g)
        | Ltl::Until(f, g)
        | Ltl::Release(f, g)
        | Ltl::WeakUntil(f, g) => {
            in_formula(f, span, visit);
            in_formula(g, span, visit);
        }
        Ltl::Quantified { domain, body, .. } => {
            visit(domain, DomainUse::Every, span);
            in_formula(body, span, visit);
        }
    }
}

fn block(statements: &Block, visit: &mut dyn FnMut(&Domain, DomainUse, Span)) {
    for statement in statements {
        let mut exprs: Vec<&Expr> = Vec::new();
        let mut places: Vec<&Place> = Vec::new();
        let mut blocks: Vec<&Block> = Vec::new();
        match &statement.kind {
            StmtKind::Assign(to, values) => {
                places.extend(to);
                exprs.extend(values);
            }
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => {
                places.extend(result);
                places.push(place);
                exprs.extend([old, new]);
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
                places.extend(result);
                places.push(place);
                exprs.push(value);
            }
            StmtKind::Await(e) | StmtKind::Assert(e) => exprs.push(e),
            StmtKind::Havoc(to) => places.extend(to),
            StmtKind::Lock(place) | StmtKind::Unlock(place) => places.push(place),
            StmtKind::Skip
            | StmtKind::Stay
            | StmtKind::Start(_)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Return => {}
            StmtKind::If(branches, otherwise) => {
                for (condition, body) in branches {
                    exprs.push(condition);
                    blocks.push(body);
                }
                blocks.push(otherwise);
            }
            StmtKind::Choose(bodies) => blocks.extend(bodies),
            StmtKind::While(condition, body) => {
                exprs.push(condition);
                blocks.push(body);
            }
            StmtKind::Loop(body) | StmtKind::Group { body, .. } => blocks.push(body),
            StmtKind::ChooseIn(_, domain, body) => {
                visit(domain, DomainUse::One, statement.span);
                blocks.push(body);
            }
            StmtKind::For(_, domain, body) => {
                visit(domain, DomainUse::Every, statement.span);
                blocks.push(body);
            }
            // One round is at least one step.
            StmtKind::ForLabelled(_, domain, body) => {
                visit(domain, DomainUse::One, statement.span);
                blocks.push(body);
            }
        }
        exprs.extend(places.iter().flat_map(|place| &place.indices));
        for expr in exprs {
            in_expr(expr, visit);
        }
        for body in blocks {
            block(body, visit);
        }
    }
}

fn in_expr(expr: &Expr, visit: &mut dyn FnMut(&Domain, DomainUse, Span)) {
    parts(expr, &mut |e| {
        if let ExprKind::Fold { domain, .. } = &e.kind {
            visit(domain, DomainUse::Every, e.span);
        }
    });
}

/// Calls `visit` with the expression, its parts, and the bodies of the definitions it calls.
fn expression(expr: &Expr, program: &Program, visit: &mut dyn FnMut(&Expr)) {
    let mut called = Vec::new();
    parts(expr, &mut |e| {
        visit(e);
        if let ExprKind::Call(def, _) = &e.kind {
            called.push(*def);
        }
    });
    // Each definition once, however often it is called.
    let mut seen = vec![false; program.defs.len()];
    while let Some(def) = called.pop() {
        if std::mem::replace(&mut seen[def.index()], true) {
            continue;
        }
        parts(&program.defs[def].body, &mut |e| {
            visit(e);
            if let ExprKind::Call(def, _) = &e.kind {
                called.push(*def);
            }
        });
    }
}

/// Calls `visit` with the expression and its parts.
fn parts(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Member(_)
        | ExprKind::None
        | ExprKind::Param(_)
        | ExprKind::Own
        | ExprKind::Bound(_) => {}
        ExprKind::Read(place) | ExprKind::Locked(place) => {
            place.indices.iter().for_each(|e| parts(e, visit))
        }
        ExprKind::Remote {
            process, indices, ..
        } => {
            process.iter().for_each(|e| parts(e, visit));
            indices.iter().for_each(|e| parts(e, visit));
        }
        ExprKind::At { process, .. }
        | ExprKind::Enabled { process, .. }
        | ExprKind::Taken { process, .. } => {
            process.iter().for_each(|e| parts(e, visit));
        }
        ExprKind::IntToId(e)
        | ExprKind::IdToInt(e)
        | ExprKind::IdToOpt(e)
        | ExprKind::OptToId(e)
        | ExprKind::Around { id: e, .. }
        | ExprKind::Not(e)
        | ExprKind::Neg(e) => parts(e, visit),
        ExprKind::And(es) | ExprKind::Or(es) | ExprKind::Call(_, es) => {
            es.iter().for_each(|e| parts(e, visit))
        }
        ExprKind::Implies(a, b)
        | ExprKind::Iff(a, b)
        | ExprKind::Compare(_, a, b)
        | ExprKind::Arith(_, a, b) => {
            parts(a, visit);
            parts(b, visit);
        }
        ExprKind::Fold { body, .. } => parts(body, visit),
    }
}
