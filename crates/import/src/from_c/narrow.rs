//! Which values of an input matter.
//!
//! `x = nondet(); assume(0 <= x && x < 5);`: with another value the process would stop without having done anything, so only these five are tried.
//! And an input behaves alike beyond everything that it is compared with, so one value beyond on each side stands for the rest, if with such a value nothing is done but comparing it. What is known about the
//! values of expressions says how far that is. Inputs that are compared with one another are the matter of `classes`.

use std::collections::{BTreeSet, HashMap};

use super::classes::Classes;
use super::interval::{Analysis, Interval, address};
use super::ir::{
    Code, Compare, Expr, Model, Place, ProcessId, Statement, StatementKind, VarId, VarKind,
    for_statements,
};

/// More values than this are not tried one by one anyway.
const MANY: i128 = 1 << 12;

/// Finds the values that matter of each input.
pub(crate) fn narrow(model: &mut Model) {
    let mut writes: HashMap<VarId, usize> = HashMap::new();
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            if let Some(var) = statement.written() {
                *writes.entry(var).or_default() += 1;
            }
        });
    }
    let mut found: Vec<(VarId, (i128, i128))> = Vec::new();
    // Where nothing is known, as if nothing could be reached, nothing may be concluded.
    let Some((_, values)) = Analysis::found(model) else {
        return;
    };
    for position in 0..model.processes.len() {
        let narrowing = Narrowing {
            model,
            writes: &writes,
            values: &values,
            process: ProcessId(position),
        };
        let alone = position == 0 && model.has_main;
        narrowing.code(&model.processes[position].body, alone, &mut found);
    }
    let mut classes = Classes::new(model);
    let mut chosen: Vec<(VarId, (i128, i128))> = Vec::new();
    for_inputs(model, &mut |place| {
        let variable = model.variable(place.var);
        if let (VarKind::Int(ty), true) = (variable.kind, model.parameters.is_empty()) {
            let known = found.iter().find(|(var, _)| *var == place.var);
            let whole = (ty.least(), ty.greatest());
            let (lo, hi) = known.map_or(whole, |(_, range)| *range);
            let class = classes.values(place.var, whole);
            // Each of them leaves out values that others stand for; which ones may differ, so they cannot be combined.
            let (lo, hi) = match class {
                Some(class) if class.1 - class.0 < hi - lo => class,
                _ => (lo, hi),
            };
            if hi - lo < MANY && (lo, hi) != whole {
                chosen.push((place.var, (lo, hi)));
            }
        }
    });
    for (var, (lo, hi)) in chosen {
        let variable = &mut model.variables[var.0];
        variable.choices = Some((lo, hi));
        if let Some(initial) = variable.initial {
            variable.initial = Some(initial.clamp(lo, hi));
        }
    }
}

/// Calls a function for each statement that gives any value.
fn for_inputs(model: &Model, f: &mut dyn FnMut(&Place)) {
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            if let StatementKind::Havoc(place) = &statement.kind {
                f(place);
            }
        });
    }
}

struct Narrowing<'m> {
    model: &'m Model,
    /// The values of expressions, by their addresses.
    values: &'m HashMap<usize, Interval>,
    writes: &'m HashMap<VarId, usize>,
    process: ProcessId,
}

impl Narrowing<'_> {
    /// `alone`: no other process can have moved yet.
    fn code(&self, code: &Code, mut alone: bool, found: &mut Vec<(VarId, (i128, i128))>) {
        for (position, statement) in code.iter().enumerate() {
            match &statement.kind {
                StatementKind::Havoc(place) => {
                    if let Some(range) = self.range(place, &code[position + 1..], alone) {
                        found.push((place.var, range));
                    }
                }
                StatementKind::Atomic(_) => {}
                other => {
                    for block in other.blocks() {
                        self.code(block, false, found);
                    }
                }
            }
            alone &= matches!(
                &statement.kind,
                StatementKind::Assign(..) | StatementKind::Havoc(_) | StatementKind::Await(_)
            ) && !statement.written().is_some_and(|var| self.starts(var))
                || matches!(&statement.kind, StatementKind::Atomic(inner) if inner.iter().all(|inner| {
                    matches!(&inner.kind, StatementKind::Assign(place, _) if !self.starts(place.var))
                }));
        }
    }

    /// Whether a variable is one by which threads are started.
    fn starts(&self, var: VarId) -> bool {
        let variable = self.model.variable(var);
        variable.kind == VarKind::Truth && variable.owner.is_none()
    }

    fn range(&self, place: &Place, rest: &[Statement], alone: bool) -> Option<(i128, i128)> {
        let variable = self.model.variable(place.var);
        let VarKind::Int(ty) = variable.kind else {
            return None;
        };
        if self.writes.get(&place.var) != Some(&1)
            || !self.model.parameters.is_empty()
            || self.model.is_shared(place.var)
            || !variable.dims.is_empty()
        {
            return None;
        }
        let whole = (ty.least(), ty.greatest());
        let assumed = self.assumed(place.var, rest, alone, whole);
        if assumed.1 - assumed.0 < MANY && assumed.0 <= assumed.1 {
            return (assumed != whole).then_some(assumed);
        }
        let compared = self.compared(place.var, whole)?;
        let both = (assumed.0.max(compared.0), assumed.1.min(compared.1));
        (both.0 <= both.1 && both.1 - both.0 < MANY).then_some(both)
    }

    /// The values with which the process gets past the assumptions that follow.
    fn assumed(
        &self,
        var: VarId,
        rest: &[Statement],
        mut alone: bool,
        whole: (i128, i128),
    ) -> (i128, i128) {
        let mut names = BTreeSet::from([var]);
        let (mut lo, mut hi) = whole;
        // Variables that hold the input in the other type of its width, and what is known of their values.
        let mut converted = BTreeSet::new();
        let mut other = None;
        let (mut least, mut greatest) = (i128::MIN, i128::MAX);
        for statement in rest {
            match &statement.kind {
                StatementKind::Assign(place, Expr::Fit(ty, value))
                    if place.indices.is_empty()
                        && matches!(&**value, Expr::Load(from) if from.indices.is_empty() && names.contains(&from.var))
                        && ty.greatest() - ty.least() == whole.1 - whole.0 =>
                {
                    let shared = self.model.is_shared(place.var) && !alone;
                    if shared || *other.get_or_insert(*ty) != *ty {
                        break;
                    }
                    (least, greatest) = (least.max(ty.least()), greatest.min(ty.greatest()));
                    names.remove(&place.var);
                    converted.insert(place.var);
                }
                StatementKind::Assign(place, Expr::Load(from))
                    if place.indices.is_empty()
                        && from.indices.is_empty()
                        && names.contains(&from.var) =>
                {
                    if self.model.is_shared(place.var) && !alone {
                        break;
                    }
                    names.insert(place.var);
                }
                StatementKind::Assign(place, value) => {
                    if self.model.is_shared(place.var) && !alone || !value.cannot_fail(self.model) {
                        break;
                    }
                    alone &= !self.starts(place.var);
                    if !alone && self.model.is_shared(place.var) {
                        break;
                    }
                    names.remove(&place.var);
                    converted.remove(&place.var);
                    if place.var == var {
                        break;
                    }
                }
                StatementKind::Havoc(place) => {
                    names.remove(&place.var);
                    converted.remove(&place.var);
                }
                StatementKind::Await(condition) => {
                    bounds(condition, &names, &mut lo, &mut hi);
                    bounds(condition, &converted, &mut least, &mut greatest);
                }
                // `if (!condition) abort();`
                StatementKind::If(condition, yes, no)
                    if no.is_empty()
                        && condition.cannot_fail(self.model)
                        && matches!(
                            yes.first().map(|first| &first.kind),
                            Some(StatementKind::Await(Expr::Truth(false)))
                        ) =>
                {
                    let condition = condition.clone().not();
                    bounds(&condition, &names, &mut lo, &mut hi);
                    bounds(&condition, &converted, &mut least, &mut greatest);
                }
                _ => break,
            }
        }
        // A value that both types have is the same in both.
        if least >= 0 && greatest <= (whole.1 - whole.0) / 2 {
            (lo, hi) = (lo.max(least), hi.min(greatest));
        }
        (lo, hi)
    }

    /// The values from below to above all that the input is compared with, and with which something else is done.
    fn compared(&self, var: VarId, whole: (i128, i128)) -> Option<(i128, i128)> {
        // Variables that only hold the input.
        let mut names = BTreeSet::from([var]);
        for_statements(
            &self.model.processes[self.process.0].body,
            &mut |statement| {
                if let StatementKind::Assign(place, Expr::Load(from)) = &statement.kind
                    && place.indices.is_empty()
                    && from.var == var
                    && !self.model.is_shared(place.var)
                    && self.writes.get(&place.var) == Some(&1)
                {
                    names.insert(place.var);
                }
            },
        );
        let mut reach: Option<Interval> = None;
        let mut only = true;
        for process in &self.model.processes {
            for_statements(&process.body, &mut |statement| {
                if let StatementKind::Assign(place, Expr::Load(from)) = &statement.kind
                    && names.contains(&from.var)
                    && names.contains(&place.var)
                {
                    return;
                }
                statement
                    .for_expressions(&mut |expr| only &= self.compares(expr, &names, &mut reach));
            });
        }
        let reach = reach.unwrap_or(Interval { lo: 0, hi: 0 });
        let (lo, hi) = ((reach.lo - 1).max(whole.0), (reach.hi + 1).min(whole.1));
        (only && lo <= hi).then_some((lo, hi))
    }

    /// Adds the values that an expression compares these variables with, or that they have where it does something else with them. `false` if one is compared with itself.
    fn compares(&self, expr: &Expr, names: &BTreeSet<VarId>, reach: &mut Option<Interval>) -> bool {
        let is_name = |expr: &Expr| matches!(expr, Expr::Load(place) if place.indices.is_empty() && names.contains(&place.var));
        match expr {
            Expr::Compare(_, left, right) if is_name(left) || is_name(right) => {
                let other = match is_name(left) {
                    true => right,
                    false => left,
                };
                let mut itself = false;
                other.for_places(&mut |place| itself |= names.contains(&place.var));
                self.reaches(other, reach);
                !itself && self.compares(other, names, reach)
            }
            Expr::Load(place) if names.contains(&place.var) => {
                self.reaches(expr, reach);
                let mut all = true;
                expr.for_parts(&mut |part| all &= self.compares(part, names, reach));
                all
            }
            _ => {
                let mut all = true;
                expr.for_parts(&mut |part| all &= self.compares(part, names, reach));
                all
            }
        }
    }

    /// Adds the values that an expression can have. What nothing leads to has none.
    fn reaches(&self, expr: &Expr, reach: &mut Option<Interval>) {
        let value = match expr {
            Expr::Number(number) => Some(Interval {
                lo: *number,
                hi: *number,
            }),
            expr => self.values.get(&address(expr)).copied(),
        };
        if let Some(value) = value {
            *reach = Some(reach.map_or(value, |known| Interval {
                lo: known.lo.min(value.lo),
                hi: known.hi.max(value.hi),
            }));
        }
    }
}

/// What a condition says about the bounds of these variables.
fn bounds(condition: &Expr, names: &BTreeSet<VarId>, lo: &mut i128, hi: &mut i128) {
    let (op, number) = match condition {
        Expr::And(left, right) => {
            bounds(left, names, lo, hi);
            bounds(right, names, lo, hi);
            return;
        }
        Expr::Compare(op, left, right) => match (&**left, &**right) {
            (Expr::Load(place), Expr::Number(number)) if names.contains(&place.var) => {
                (*op, *number)
            }
            (Expr::Number(number), Expr::Load(place)) if names.contains(&place.var) => {
                (op.mirrored(), *number)
            }
            _ => return,
        },
        _ => return,
    };
    match op {
        Compare::Lt => *hi = (*hi).min(number - 1),
        Compare::Le => *hi = (*hi).min(number),
        Compare::Gt => *lo = (*lo).max(number + 1),
        Compare::Ge => *lo = (*lo).max(number),
        Compare::Eq => (*lo, *hi) = ((*lo).max(number), (*hi).min(number)),
        Compare::Ne => {}
    }
}
