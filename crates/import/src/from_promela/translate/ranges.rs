//! Intervals, and which variables are truth values.
//!
//! Intervals say where a result may leave its type and must be wrapped; `flow` finds those of variables. A variable of type `bit` or
//! `bool` is a truth value of the model unless some expression uses it as a number.

use super::classes::actions;
use super::ir::*;
use crate::from_promela::syntax::{Binary, Type};
use std::collections::BTreeMap;

pub(super) type Interval = (i64, i64);

pub(super) const INT: Interval = (i32::MIN as i64, i32::MAX as i64);

/// The value after it was stored in a variable of the type.
pub(super) fn converted(kind: &Type, n: i64) -> i64 {
    let (low, high) = values_of(kind);
    let size = high - low + 1;
    (n - low).rem_euclid(size) + low
}

pub(super) fn join(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

pub(super) fn within(inner: Interval, outer: Interval) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// What a cell of the type may hold after a value of the interval was stored there.
pub(super) fn stored(kind: &Type, value: Interval) -> Interval {
    let all = values_of(kind);
    if within(value, all) { value } else { all }
}

/// The interval of an operation on integers, before it is wrapped to 32 bits.
pub(super) fn exact(op: Binary, a: Interval, b: Interval) -> Interval {
    let corners = |f: &dyn Fn(i64, i64) -> i64| {
        let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        let low = all.iter().copied().min().unwrap_or(0);
        let high = all.iter().copied().max().unwrap_or(0);
        (low, high)
    };
    match op {
        Binary::Add => (a.0 + b.0, a.1 + b.1),
        Binary::Sub => (a.0 - b.1, a.1 - b.0),
        Binary::Mul => corners(&|x, y| x * y),
        Binary::Div => {
            let most = a.0.abs().max(a.1.abs());
            if a.0 >= 0 && b.0 >= 1 {
                (a.0 / b.1, a.1 / b.0)
            } else if a.0 >= 0 && b.0 >= 0 {
                (0, a.1)
            } else {
                (-most, most)
            }
        }
        Binary::Mod => {
            let most = (b.0.abs().max(b.1.abs()) - 1).max(0);
            let high = if a.1 <= 0 { 0 } else { most.min(a.1) };
            let low = if a.0 >= 0 { 0 } else { (-most).max(a.0) };
            (low, high)
        }
        Binary::BitAnd if a.0 >= 0 && b.0 >= 0 => (0, a.1.min(b.1)),
        Binary::BitAnd if a.0 >= 0 => (0, a.1),
        Binary::BitAnd if b.0 >= 0 => (0, b.1),
        Binary::BitOr | Binary::BitXor if a.0 >= 0 && b.0 >= 0 => (0, all_ones(a.1.max(b.1))),
        // The sign is that of the side that may be negative.
        Binary::BitOr | Binary::BitXor if a.0 >= 0 || b.0 >= 0 => {
            let (positive, other) = if b.0 >= 0 { (b, a) } else { (a, b) };
            let least = -all_ones(positive.1.max(-other.0)) - 1;
            (least, all_ones(positive.1.max(other.1)))
        }
        Binary::ShiftLeft if a.0 >= 0 && b.0 >= 0 && b.1 <= 31 => (a.0 << b.0, a.1 << b.1),
        Binary::ShiftRight if a.0 >= 0 && b.0 >= 0 && b.1 <= 31 => (a.0 >> b.1, a.1 >> b.0),
        Binary::BitAnd
        | Binary::BitOr
        | Binary::BitXor
        | Binary::ShiftLeft
        | Binary::ShiftRight => INT,
        Binary::And
        | Binary::Or
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual => (0, 1),
    }
}

/// The least number of ones alone in binary that is not below this one.
pub(super) fn all_ones(n: i64) -> i64 {
    let mut ones = 0;
    while ones < n {
        ones = ones * 2 + 1;
    }
    ones
}

impl Program {
    /// The values of an expression.
    pub(super) fn interval(&self, e: &Expr, owner: Option<TemplateId>) -> Interval {
        self.interval_with(e, owner, &|var| self.vars[var.0].range)
    }

    /// The values of an expression, given those of variables.
    pub(super) fn interval_with(
        &self,
        e: &Expr,
        owner: Option<TemplateId>,
        of: &dyn Fn(VarId) -> Interval,
    ) -> Interval {
        let again = |e: &Expr| self.interval_with(e, owner, of);
        match e {
            Expr::Num(n) | Expr::Member(_, n) => (*n, *n),
            Expr::Var(cell) => of(cell.var),
            Expr::Chan(c) => {
                self.class_of[c.decl.0].map_or((0, 0), |(id, _)| (0, self.classes[id.0].count))
            }
            Expr::Pid(_) => owner.map_or((0, 255), |t| self.templates[t.0].pids),
            Expr::NrPr => (0, self.most),
            Expr::Not(_)
            | Expr::Timeout(_)
            | Expr::Full(_)
            | Expr::Empty(_)
            | Expr::Poll { .. } => (0, 1),
            Expr::RemoteLabel { .. } => (0, 1),
            Expr::RemoteVar { cell, .. } => self.vars[cell.var.0].range,
            Expr::Minus(e) => {
                let (low, high) = again(e);
                clip((-high, -low))
            }
            Expr::Bin(op, a, b, _) => clip(exact(*op, again(a), again(b))),
            Expr::Cond(_, a, b, _) => join(again(a), again(b)),
            Expr::Length(c) => {
                self.class_of[c.decl.0].map_or((0, 0), |(id, _)| (0, self.classes[id.0].capacity))
            }
        }
    }
}

/// After wrapping to 32 bits.
pub(super) fn clip(interval: Interval) -> Interval {
    if within(interval, INT) { interval } else { INT }
}

impl Program {
    /// Whether an expression is a truth value as it stands, so that no number is needed.
    pub(super) fn truth(&self, e: &Expr) -> bool {
        match e {
            Expr::Num(n) => *n == 0 || *n == 1,
            Expr::Var(cell) | Expr::RemoteVar { cell, .. } => self.vars[cell.var.0].boolean,
            Expr::Not(_) | Expr::Timeout(_) | Expr::Full(_) | Expr::Empty(_) => true,
            Expr::Poll { .. } | Expr::RemoteLabel { .. } => true,
            Expr::Bin(op, ..) => matches!(
                op,
                Binary::And
                    | Binary::Or
                    | Binary::Equal
                    | Binary::NotEqual
                    | Binary::Less
                    | Binary::LessEqual
                    | Binary::Greater
                    | Binary::GreaterEqual
            ),
            Expr::Cond(_, a, b, _) => self.truth(a) && self.truth(b),
            Expr::Member(..)
            | Expr::Chan(_)
            | Expr::Pid(_)
            | Expr::NrPr
            | Expr::Minus(_)
            | Expr::Length(_) => false,
        }
    }

    /// Notes variables that an expression uses as numbers.
    fn numbers(&self, e: &Expr, as_number: bool, found: &mut Vec<VarId>) {
        match e {
            Expr::Var(cell) | Expr::RemoteVar { cell, .. } => {
                if as_number {
                    found.push(cell.var);
                }
                self.index_numbers(&cell.indices, found);
                if let Expr::RemoteVar { index: Some(i), .. } = e {
                    self.numbers(i, true, found);
                }
            }
            Expr::Not(e) => self.numbers(e, false, found),
            Expr::Minus(e) => self.numbers(e, true, found),
            Expr::Bin(op, a, b, _) => {
                let number = match op {
                    Binary::And | Binary::Or => false,
                    Binary::Equal | Binary::NotEqual => !(self.truth(a) && self.truth(b)),
                    _ => true,
                };
                self.numbers(a, number, found);
                self.numbers(b, number, found);
            }
            Expr::Cond(c, a, b, _) => {
                self.numbers(c, false, found);
                self.numbers(a, as_number, found);
                self.numbers(b, as_number, found);
            }
            Expr::Poll {
                channel, patterns, ..
            } => {
                self.index_numbers(&channel.indices, found);
                self.pattern_numbers(channel, patterns, found);
            }
            Expr::Chan(c) | Expr::Length(c) | Expr::Full(c) | Expr::Empty(c) => {
                self.index_numbers(&c.indices, found);
            }
            Expr::RemoteLabel { index: Some(i), .. } => self.numbers(i, true, found),
            Expr::Num(_)
            | Expr::Member(..)
            | Expr::Pid(_)
            | Expr::NrPr
            | Expr::Timeout(_)
            | Expr::RemoteLabel { .. } => {}
        }
    }

    fn index_numbers(&self, indices: &[Expr], found: &mut Vec<VarId>) {
        indices.iter().for_each(|i| self.numbers(i, true, found));
    }

    /// A value stored in a variable: both truth values, or both numbers.
    fn stored_numbers(&self, var: VarId, e: &Expr, found: &mut Vec<VarId>) {
        if !self.truth(e) {
            found.push(var);
        }
        self.numbers(e, !self.vars[var.0].boolean, found);
    }

    fn pattern_numbers(&self, channel: &ChanRef, patterns: &[Match], found: &mut Vec<VarId>) {
        let Some((class, _)) = self.class_of[channel.decl.0] else {
            return;
        };
        for (field, pattern) in self.classes[class.0].fields.iter().zip(patterns) {
            match pattern {
                Match::Equal(e) => self.stored_numbers(*field, e, found),
                Match::Store(cell) => {
                    if self.vars[field.0].boolean != self.vars[cell.var.0].boolean {
                        found.push(*field);
                        found.push(cell.var);
                    }
                    self.index_numbers(&cell.indices, found);
                }
                Match::StoreChan(cell, _) => self.index_numbers(&cell.indices, found),
                Match::Ignore => {}
            }
        }
    }

    fn action_numbers(&self, action: &Action, found: &mut Vec<VarId>) {
        match action {
            Action::Test(e) | Action::Assert(e) => self.numbers(e, false, found),
            Action::Assign(cell, e) => {
                self.index_numbers(&cell.indices, found);
                self.stored_numbers(cell.var, e, found);
            }
            Action::Run {
                template,
                arguments,
                result,
                ..
            } => {
                for (parameter, argument) in
                    self.templates[template.0].parameters.iter().zip(arguments)
                {
                    match parameter {
                        Parameter::Var(var) => self.stored_numbers(*var, argument, found),
                        Parameter::Chan(_) => self.numbers(argument, true, found),
                    }
                }
                if let Some(cell) = result {
                    found.push(cell.var);
                }
            }
            Action::Send {
                channel,
                sorted,
                values,
            } => {
                self.index_numbers(&channel.indices, found);
                if let Some((class, _)) = self.class_of[channel.decl.0] {
                    for (field, value) in self.classes[class.0].fields.iter().zip(values) {
                        if *sorted {
                            found.push(*field);
                        }
                        self.stored_numbers(*field, value, found);
                    }
                }
            }
            Action::Receive {
                channel, patterns, ..
            } => {
                self.index_numbers(&channel.indices, found);
                self.pattern_numbers(channel, patterns, found);
            }
            Action::Skip | Action::Else | Action::Deterministic(_) | Action::Die => {}
        }
    }
}

/// Finds the variables of type `bit` and `bool` that are never used as numbers.
pub(super) fn find_truth_values(program: &mut Program, more: &[&Expr]) {
    for var in &mut program.vars {
        var.boolean = matches!(var.kind, Type::Bit | Type::Bool);
    }
    loop {
        let mut found = Vec::new();
        for (_, edge) in actions(program) {
            program.action_numbers(&edge.action, &mut found);
        }
        for (at, var) in program.vars.iter().enumerate() {
            program.stored_numbers(VarId(at), &var.initial, &mut found);
        }
        for e in more {
            program.numbers(e, false, &mut found);
        }
        let mut changed = false;
        for var in found {
            changed |= std::mem::replace(&mut program.vars[var.0].boolean, false);
        }
        if !changed {
            break;
        }
    }
    let mut used: Vec<VarId> = Vec::new();
    let mut note = |part: &Expr| {
        used.extend(part.channel().and_then(|c| program.chans[c.decl.0].var));
        if let Expr::Var(cell) | Expr::RemoteVar { cell, .. } = part {
            used.push(cell.var);
        }
    };
    for (_, edge) in actions(program) {
        for cell in edge.action.written() {
            note(&Expr::Var(cell.clone()));
        }
        if let Some(channel) = edge.action.channel() {
            note(&Expr::Chan(channel.clone()));
        }
    }
    program.walk(&mut note);
    // Also what only initial values speak of.
    let initials = program.vars.iter().map(|var| &var.initial);
    let others = more.iter().copied().chain(initials);
    others.for_each(|e| e.walk(&mut note));
    used.extend(told_apart(program));
    for var in used {
        program.vars[var.0].used = true;
    }
}

/// Parameters that are given more than one value: a process is another one then, even if it does not look at them.
fn told_apart(program: &Program) -> Vec<VarId> {
    let mut first: BTreeMap<VarId, Option<i64>> = BTreeMap::new();
    let mut apart = Vec::new();
    for (_, edge) in actions(program) {
        let Action::Run {
            template,
            arguments,
            ..
        } = &edge.action
        else {
            continue;
        };
        let parameters = &program.templates[template.0].parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let var = match parameter {
                Parameter::Var(var) => Some(*var),
                Parameter::Chan(c) => program.chans[c.0].var,
            };
            let Some(var) = var else {
                continue;
            };
            let value = argument.number();
            let before = first.entry(var).or_insert(value);
            if value.is_none() || *before != value {
                apart.push(var);
            }
        }
    }
    apart
}
