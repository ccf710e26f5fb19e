//! Cells that begin with any value get it when they are read for the first time, not where they are declared.
//!
//! Nothing can tell the difference, and most cells that might be read before they are written never are: there is no way to see that the thread that fills them has ended,
//! say. Any of four thousand million values at the declaration would be a step that no engine goes through; a flag for each cell, whether it is still unset, costs a bit.
//! Choosing the value earlier than the read that needs it is as good, so that is a statement of its own in front of the read. A write, though, ends with the flag in the same step.

use std::collections::{BTreeMap, BTreeSet};

use super::ir::{
    Code, Compare, Expr, Model, Place, Statement, StatementKind, VarId, VarKind, Variable,
};
use super::ir::{for_statements, is_unset};
use super::source::At;

/// Gives cells their values when they are read, where that can be done for all reads of a variable.
pub(crate) fn postpone(model: &mut Model) {
    let mut declared: BTreeMap<VarId, At> = BTreeMap::new();
    let mut wrong = BTreeSet::new();
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            if let StatementKind::Havoc(place) = &statement.kind
                && is_unset(place, model)
                && matches!(model.variable(place.var).kind, VarKind::Int(_))
            {
                declared.entry(place.var).or_insert(statement.at);
            }
        });
    }
    let changes = |place: &Place| model.is_shared(place.var) || declared.contains_key(&place.var);
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            let before = matches!(
                statement.kind,
                StatementKind::Assign(..)
                    | StatementKind::Assert(..)
                    | StatementKind::If(..)
                    | StatementKind::Loop { .. }
            );
            statement.for_expressions(&mut |expr| {
                for_reads(expr, &When::Always, model, &mut |place, when| {
                    // The index is the same a statement earlier, and can be looked at there.
                    let same = place.indices.iter().all(|index| {
                        let mut same = !matches!(when, When::Perhaps) || index.cannot_fail(model);
                        index.for_places(&mut |place| same &= !changes(place));
                        same
                    });
                    if !before || !same {
                        wrong.insert(place.var);
                    }
                });
            });
        });
    }
    declared.retain(|var, _| !wrong.contains(var));
    let mut flags = BTreeMap::new();
    for (var, at) in declared {
        let variable = model.variable(var);
        let flag = Variable {
            wish: format!("{}_unset", variable.wish),
            kind: VarKind::Truth,
            initial: Some(0),
            parameter: None,
            range: None,
            choices: None,
            at,
            ..variable.clone()
        };
        let number = VarId(model.variables.len());
        flags.insert(
            var,
            Flag {
                var: number,
                dims: flag.dims.clone(),
                declared: at,
            },
        );
        model.variables.push(flag);
    }
    if flags.is_empty() {
        return;
    }
    for position in 0..model.processes.len() {
        let body = std::mem::take(&mut model.processes[position].body);
        let rewriter = Rewriter {
            model,
            flags: &flags,
        };
        let body = rewriter.code(body, false);
        model.processes[position].body = body;
    }
}

/// When a part of an expression is evaluated.
#[derive(Clone)]
enum When {
    Always,
    /// If this holds, which only the process itself can change.
    If(Expr),
    /// Others have a say in that.
    Perhaps,
}

impl When {
    fn and(&self, condition: &Expr, model: &Model) -> When {
        match self {
            _ if condition.shared_reads(model) > 0 => When::Perhaps,
            When::Perhaps => When::Perhaps,
            When::Always => When::If(condition.clone()),
            When::If(before) => When::If(Expr::And(
                Box::new(before.clone()),
                Box::new(condition.clone()),
            )),
        }
    }
}

/// Calls a function for each place that is read, and when it is.
fn for_reads<'e>(expr: &'e Expr, when: &When, model: &Model, f: &mut dyn FnMut(&'e Place, &When)) {
    match expr {
        Expr::And(left, right) => {
            for_reads(left, when, model, f);
            for_reads(right, &when.and(left, model), model, f);
        }
        Expr::Or(left, right) => {
            for_reads(left, when, model, f);
            for_reads(right, &when.and(&left.clone().not(), model), model, f);
        }
        _ => {
            if let Expr::Load(place) | Expr::Locked(place) = expr {
                f(place, when);
            }
            expr.for_parts(&mut |part| for_reads(part, when, model, f));
        }
    }
}

/// In front of a statement that reads a cell: if that is unset, it gets any value.
fn choice(place: &Place, flag: &Flag, at: At, when: &When) -> Statement {
    let Flag {
        var,
        dims,
        declared,
    } = flag;
    let (var, indices) = (*var, place.indices.clone());
    let flag = Place { var, indices };
    let chosen = [
        StatementKind::Havoc(place.clone()),
        StatementKind::Assign(flag.clone(), Expr::Truth(false)),
    ];
    let chosen = chosen.map(|kind| Statement {
        at: *declared,
        kind,
    });
    let mut unset = Expr::Load(flag);
    let mut only = |condition: Expr| {
        let unset_then = std::mem::replace(&mut unset, Expr::Truth(true));
        unset = Expr::And(Box::new(condition), Box::new(unset_then));
    };
    match when {
        When::Always => {}
        When::If(condition) => only(condition.clone()),
        // It is read only where there is such a cell.
        When::Perhaps => {
            for (index, size) in place.indices.iter().zip(dims).rev() {
                let compared = |op, number| {
                    let number = Expr::Number(number);
                    Expr::Compare(op, Box::new(index.clone()), Box::new(number))
                };
                only(compared(Compare::Lt, i128::from(*size)));
                only(compared(Compare::Ge, 0));
            }
        }
    }
    Statement::new(at, StatementKind::If(unset, chosen.into(), Vec::new()))
}

/// Whether cells of a variable are unset.
struct Flag {
    var: VarId,
    dims: Vec<u32>,
    /// Where the variable is declared.
    declared: At,
}

struct Rewriter<'m> {
    model: &'m Model,
    flags: &'m BTreeMap<VarId, Flag>,
}

impl Rewriter<'_> {
    fn code(&self, code: Code, atomic: bool) -> Code {
        let mut output = Code::new();
        for statement in code {
            let choices = self.choices(&statement, atomic);
            match statement.kind {
                // In front of the condition, in each round.
                StatementKind::Loop {
                    head,
                    condition: Some(condition),
                    body,
                } if !choices.is_empty() => {
                    let at = statement.at;
                    let out = vec![Statement::new(at, StatementKind::Break)];
                    let mut whole = choices;
                    whole.push(Statement::new(
                        at,
                        StatementKind::If(condition.not(), out, Vec::new()),
                    ));
                    whole.extend(self.code(body, atomic));
                    let kind = StatementKind::Loop {
                        head,
                        condition: None,
                        body: whole,
                    };
                    output.push(Statement { at, kind });
                    continue;
                }
                _ => output.extend(choices),
            }
            self.rewritten(statement, atomic, &mut output);
        }
        output
    }

    /// What has to be chosen in front of a statement.
    fn choices(&self, statement: &Statement, atomic: bool) -> Code {
        let mut always: Vec<&Place> = Vec::new();
        let mut choices = Code::new();
        let at = statement.at;
        statement.for_expressions(&mut |expr| {
            for_reads(expr, &When::Always, self.model, &mut |place, when| {
                let Some(flag) = self.flags.get(&place.var) else {
                    return;
                };
                // What is read in any case need not be chosen again.
                if always.contains(&place) {
                    return;
                }
                if matches!(when, When::Always) {
                    always.push(place);
                }
                let choice = choice(place, flag, at, when);
                choices.push(match atomic {
                    true => choice,
                    false => Statement::new(at, StatementKind::Atomic(vec![choice])),
                });
            });
        });
        choices
    }

    fn rewritten(&self, Statement { at, kind }: Statement, atomic: bool, output: &mut Code) {
        let kind = match kind {
            StatementKind::Havoc(place) if self.flags.contains_key(&place.var) => {
                let var = self.flags[&place.var].var;
                StatementKind::Assign(Place { var, ..place }, Expr::Truth(true))
            }
            StatementKind::Assign(place, value) => {
                let flag = self.flags.get(&place.var).map(|flag| Place {
                    var: flag.var,
                    indices: place.indices.clone(),
                });
                let write = StatementKind::Assign(place, value);
                match flag {
                    None => write,
                    Some(flag) => {
                        let both = [write, StatementKind::Assign(flag, Expr::Truth(false))];
                        let both = both.map(|kind| Statement { at, kind });
                        if atomic {
                            output.extend(both);
                            return;
                        }
                        StatementKind::Atomic(both.into())
                    }
                }
            }
            other => {
                let atomic = atomic || matches!(other, StatementKind::Atomic(_));
                other.with_inner(&mut |inner| self.code(inner, atomic))
            }
        };
        output.push(Statement { at, kind });
    }
}
