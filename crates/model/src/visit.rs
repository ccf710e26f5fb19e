//! Walks over a checked program, for questions that concern every expression or domain of it.

use threadwise_lang::program::{
    Block, Domain, Expr, ExprKind, FairnessTerm, Initial, Ltl, Program, PropertyKind, Span,
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
    for predicate in program.initially.iter().chain(&program.exceptions) {
        in_expr(predicate, visit);
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
        Ltl::Quantified { domain, .. } => visit(domain, DomainUse::Every, span),
        _ => {}
    }
    for part in formula.children() {
        in_formula(part, span, visit);
    }
}

fn block(statements: &Block, visit: &mut dyn FnMut(&Domain, DomainUse, Span)) {
    for statement in statements {
        match &statement.kind {
            // One round of a labelled loop is at least one step.
            StmtKind::ChooseIn(_, domain, _) | StmtKind::ForLabelled(_, domain, _) => {
                visit(domain, DomainUse::One, statement.span);
            }
            StmtKind::For(_, domain, _) => visit(domain, DomainUse::Every, statement.span),
            _ => {}
        }
        let parts = statement.kind.parts();
        let indices = parts.places.iter().flat_map(|place| &place.indices);
        for expr in parts.exprs.iter().copied().chain(indices) {
            in_expr(expr, visit);
        }
        for body in parts.blocks {
            block(body, visit);
        }
    }
}

fn in_expr(expr: &Expr, visit: &mut dyn FnMut(&Domain, DomainUse, Span)) {
    expr.walk(&mut |e| {
        if let ExprKind::Fold { domain, .. } = &e.kind {
            visit(domain, DomainUse::Every, e.span);
        }
    });
}

/// Calls `visit` with the expression, its parts, and the bodies of the definitions it calls.
fn expression(expr: &Expr, program: &Program, visit: &mut dyn FnMut(&Expr)) {
    let mut called = Vec::new();
    expr.walk(&mut |e| {
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
        program.defs[def].body.walk(&mut |e| {
            visit(e);
            if let ExprKind::Call(def, _) = &e.kind {
                called.push(*def);
            }
        });
    }
}
