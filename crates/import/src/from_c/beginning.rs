//! Inputs that the main thread stores in shared variables before anything else happens, where there is any number of threads.
//!
//! `len = nondet();` at the beginning of `main` is as if `len` began with any value. The methods for any number of threads know how to reason about a value that
//! a variable begins with; one of the many that a step may choose they can only try. So the variable begins with any integer, and `main` waits, in vain unless the integer is
//! one of the type.

use super::conclude::in_type;
use super::ir::{Expr, Model, Statement, StatementKind, VarId, VarKind, for_statements};

/// Makes inputs at the beginning of `main` initial values.
pub(crate) fn move_inputs(model: &mut Model) {
    if !model.is_unbounded() || !model.has_main || !model.parameters.is_empty() {
        return;
    }
    let mut position = 0;
    while position + 1 < model.processes[0].body.len() {
        let body = &model.processes[0].body;
        if let Some((input, var)) = input_of(model, &body[position], &body[position + 1])
            && !mentions(&body[..position], var)
            && uses(model, input) == 2
            && let VarKind::Int(ty) = model.variable(var).kind
            && ty.bits < 64
        {
            let variable = &mut model.variables[var.0];
            (variable.initial, variable.range) = (None, None);
            let body = &mut model.processes[0].body;
            let Statement { at, .. } = body.remove(position);
            body[position] = Statement::new(at, StatementKind::Await(in_type(ty, Expr::load(var))));
            continue;
        }
        if !is_plain(model, &model.processes[0].body[position]) {
            return;
        }
        position += 1;
    }
}

/// The input and the shared variable of `input = nondet(); variable = input;`, if nothing is known about the input.
fn input_of(model: &Model, first: &Statement, second: &Statement) -> Option<(VarId, VarId)> {
    let StatementKind::Havoc(input) = &first.kind else {
        return None;
    };
    let StatementKind::Assign(place, Expr::Load(from)) = &second.kind else {
        return None;
    };
    let plain = input.indices.is_empty()
        && from == input
        && place.indices.is_empty()
        && model.is_shared(place.var)
        && !model.is_shared(input.var);
    let kinds = (model.variable(input.var), model.variable(place.var));
    let wide = kinds.0.choices.is_none() && kinds.0.kind == kinds.1.kind;
    (plain && wide).then_some((input.var, place.var))
}

fn mentions(code: &[Statement], var: VarId) -> bool {
    let mut found = false;
    for_statements(code, &mut |statement| {
        found |= statement.written() == Some(var);
        statement.for_expressions(&mut |expr| {
            expr.for_places(&mut |place| found |= place.var == var);
        });
    });
    found
}

/// How often a variable is written and read.
fn uses(model: &Model, var: VarId) -> usize {
    let mut count = 0;
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            count += usize::from(statement.written() == Some(var));
            statement.for_expressions(&mut |expr| {
                expr.for_places(&mut |place| count += usize::from(place.var == var));
            });
        });
    }
    count
}

/// Whether a statement comes to its end and starts no thread.
fn is_plain(model: &Model, statement: &Statement) -> bool {
    let starts = |var: VarId| {
        let variable = model.variable(var);
        variable.kind == VarKind::Truth && variable.owner.is_none()
    };
    match &statement.kind {
        StatementKind::Assign(place, _) => !starts(place.var),
        StatementKind::Havoc(_) | StatementKind::Await(_) => true,
        StatementKind::Atomic(inner) => inner.iter().all(|inner| is_plain(model, inner)),
        _ => false,
    }
}
