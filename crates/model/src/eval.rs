//! A plain evaluator of lowered expressions and steps on flat states.
//!
//! The reference for whatever compiles steps: it walks the expressions as they stand. Evaluation is
//! lazy where the form is (`And`, `Or`, `Ite`, `Forall`, `Exists` stop when they are decided), and
//! arithmetic is checked: beyond 64 bits there is no value but [`Overflow`], an outcome of its own.
//! Sums are formed with 128 bits, so that they do not depend on the order of the summands.

use threadwise_lang::program::{FoldKind, LocationId, Span, TemplateId};

use crate::system::{
    CellInitial, CheckKind, Clause, Expr, Place, ProcessId, Scope, Step, System, VarId,
};

/// A computation left 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a computation leaves 64 bits")]
pub struct Overflow;

/// What a process can do from a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It moves to this state.
    Move(Vec<i64>),
    /// It rests.
    Rest,
    /// A check fails.
    Failure(CheckKind, Span),
    /// A computation leaves 64 bits: what happens is not known.
    Overflow,
    /// A template has no room for another process: what happens is not known.
    Full(TemplateId),
    /// A step has more choices than are listed: what happens is not known.
    TooManyChoices,
}

/// The greatest number of combinations of choices that are listed for one step.
pub const MAX_CHOICES: u64 = 1_000_000;

/// Where expressions are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The system.
    pub system: &'a System,
    /// The state.
    pub state: &'a [i64],
    /// The process whose step it is; in properties none.
    pub process: Option<ProcessId>,
    /// The choices of the step.
    pub choices: &'a [i64],
}

impl<'a> Context<'a> {
    /// For properties: a state alone.
    pub fn of_state(system: &'a System, state: &'a [i64]) -> Self {
        Context {
            system,
            state,
            process: None,
            choices: &[],
        }
    }

    /// The value of an expression.
    pub fn value(&self, expr: &Expr) -> Result<i64, Overflow> {
        self.eval(expr, &mut Vec::new())
    }

    /// Whether a condition holds.
    pub fn holds(&self, expr: &Expr) -> Result<bool, Overflow> {
        Ok(self.value(expr)? != 0)
    }

    fn eval(&self, expr: &Expr, bounds: &mut Vec<(u32, i64)>) -> Result<i64, Overflow> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Own => self
                .process
                .map_or(0, |process| i64::from(self.system.index_of(process))),
            Expr::OwnProcess => self.process.map_or(-1, |process| i64::from(process.raw())),
            Expr::Bound(bound) => bounds
                .iter()
                .rev()
                .find(|(other, _)| other == bound)
                .map_or(0, |(_, value)| *value),
            Expr::Choice(choice) => self.choices.get(*choice as usize).copied().unwrap_or(0),
            Expr::Load(place) => self.cell(place, bounds)?.map_or(0, |cell| self.state[cell]),
            Expr::Not(e) => i64::from(self.eval(e, bounds)? == 0),
            Expr::Neg(e) => self.eval(e, bounds)?.checked_neg().ok_or(Overflow)?,
            Expr::And(parts) => {
                for part in parts {
                    if self.eval(part, bounds)? == 0 {
                        return Ok(0);
                    }
                }
                1
            }
            Expr::Or(parts) => {
                for part in parts {
                    if self.eval(part, bounds)? != 0 {
                        return Ok(1);
                    }
                }
                0
            }
            Expr::Compare(op, a, b) => {
                i64::from(op.holds(self.eval(a, bounds)?, self.eval(b, bounds)?))
            }
            Expr::Arith(op, a, b) => {
                let (a, b) = (self.eval(a, bounds)?, self.eval(b, bounds)?);
                op.total(a, b).ok_or(Overflow)?
            }
            Expr::Ite(condition, yes, no) => {
                let branch = if self.eval(condition, bounds)? != 0 {
                    yes
                } else {
                    no
                };
                self.eval(branch, bounds)?
            }
            Expr::Fold {
                kind,
                bound,
                lo,
                hi,
                body,
            } => {
                let mut result: Option<i128> = None;
                for value in *lo..=*hi {
                    bounds.push((*bound, value));
                    let item = self.eval(body, bounds);
                    bounds.pop();
                    let item = item?;
                    match kind {
                        FoldKind::Forall if item == 0 => return Ok(0),
                        FoldKind::Exists if item != 0 => return Ok(1),
                        _ => {}
                    }
                    let item = i128::from(item);
                    result = Some(match (kind, result) {
                        (_, None) => item,
                        (FoldKind::Count | FoldKind::Sum, Some(so_far)) => so_far + item,
                        (FoldKind::Min, Some(so_far)) => so_far.min(item),
                        (FoldKind::Max, Some(so_far)) => so_far.max(item),
                        (FoldKind::Forall | FoldKind::Exists, Some(so_far)) => so_far,
                    });
                }
                match kind {
                    FoldKind::Forall => 1,
                    FoldKind::Exists => 0,
                    _ => i64::try_from(result.unwrap_or(0)).map_err(|_| Overflow)?,
                }
            }
        })
    }

    /// The position of a cell in the state; `None` outside the array.
    fn cell(&self, place: &Place, bounds: &mut Vec<(u32, i64)>) -> Result<Option<usize>, Overflow> {
        let var = &self.system.vars[place.var];
        let index = match &place.process {
            Some(process) => self.eval(process, bounds)?,
            None => 0,
        };
        let offset = match &place.offset {
            Some(offset) => self.eval(offset, bounds)?,
            None => 0,
        };
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => self.system.templates[template].count,
        };
        let inside =
            (0..i64::from(copies)).contains(&index) && (0..i64::from(var.len)).contains(&offset);
        Ok(inside.then(|| {
            self.system
                .cell(place.var, index as u32, offset as u32)
                .index()
        }))
    }

    /// What a step does with these choices; `None` if it cannot be taken.
    pub fn step(&self, step: &Step) -> Option<Outcome> {
        self.try_step(step).unwrap_or(Some(Outcome::Overflow))
    }

    fn try_step(&self, step: &Step) -> Result<Option<Outcome>, Overflow> {
        for clause in &step.clauses {
            match clause {
                Clause::Guard(condition) => {
                    if !self.holds(condition)? {
                        return Ok(None);
                    }
                }
                Clause::Check(check) => {
                    if !self.holds(&check.holds)? {
                        return Ok(Some(Outcome::Failure(check.kind, check.span)));
                    }
                }
            }
        }
        if step.rest {
            return Ok(Some(Outcome::Rest));
        }
        let mut next = self.state.to_vec();
        for template in &step.starts {
            let shape = &self.system.templates[*template];
            let free = (0..shape.count)
                .map(|index| self.system.cell(shape.pc, index, 0).index())
                .find(|cell| next[*cell] == shape.unstarted());
            match free {
                Some(cell) => next[cell] = i64::from(shape.entry.raw()),
                None => return Ok(Some(Outcome::Full(*template))),
            }
        }
        for update in &step.updates {
            let value = self.value(&update.value)?;
            if let Some(cell) = self.cell(&update.cell, &mut Vec::new())? {
                next[cell] = value;
            }
        }
        if let Some(process) = self.process {
            let template = &self.system.templates[self.system.template_of(process)];
            let pc = self
                .system
                .cell(template.pc, self.system.index_of(process), 0);
            next[pc.index()] = i64::from(step.to.raw());
        }
        Ok(Some(Outcome::Move(next)))
    }
}

/// What a process can do from a state: each outcome once, in order.
pub fn outcomes(system: &System, state: &[i64], process: ProcessId) -> Vec<Outcome> {
    match system.location(state, process) {
        Some(location) => {
            let template = system.template_of(process);
            outcomes_of(
                system,
                &system.templates[template].steps[location],
                state,
                process,
            )
        }
        None => Vec::new(),
    }
}

/// What a process can do from a state by these steps, all of the location it is at: each outcome
/// once, in order.
pub fn outcomes_of(
    system: &System,
    steps: &[Step],
    state: &[i64],
    process: ProcessId,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for step in steps {
        let combinations = step
            .choices
            .iter()
            .try_fold(1u64, |n, (lo, hi)| n.checked_mul(size(*lo, *hi)?));
        if combinations.is_none_or(|n| n > MAX_CHOICES) {
            outcomes.push(Outcome::TooManyChoices);
            continue;
        }
        let mut choices = Odometer::new(step.choices.clone());
        while let Some(values) = choices.values() {
            let context = Context {
                system,
                state,
                process: Some(process),
                choices: values,
            };
            outcomes.extend(context.step(step));
            choices.advance();
        }
    }
    outcomes.sort();
    outcomes.dedup();
    outcomes
}

fn size(lo: i64, hi: i64) -> Option<u64> {
    if lo > hi {
        return Some(0);
    }
    u64::try_from(i128::from(hi) - i128::from(lo) + 1).ok()
}

/// The location of a process, if it is started and has not ended.
pub fn active(system: &System, state: &[i64], process: ProcessId) -> Option<LocationId> {
    let template = &system.templates[system.template_of(process)];
    system
        .location(state, process)
        .filter(|location| *location != template.done())
}

/// All combinations of values, the last changing fastest.
struct Odometer {
    ranges: Vec<(i64, i64)>,
    values: Vec<i64>,
    ended: bool,
}

impl Odometer {
    fn new(ranges: Vec<(i64, i64)>) -> Self {
        Odometer {
            values: ranges.iter().map(|(lo, _)| *lo).collect(),
            ended: ranges.iter().any(|(lo, hi)| lo > hi),
            ranges,
        }
    }

    fn values(&self) -> Option<&[i64]> {
        (!self.ended).then_some(&self.values)
    }

    fn advance(&mut self) {
        for (value, (lo, hi)) in self.values.iter_mut().zip(&self.ranges).rev() {
            if *value < *hi {
                *value += 1;
                return;
            }
            *value = *lo;
        }
        self.ended = true;
    }
}

/// The value that the cells of a variable begin with, in the process with the given index if it
/// is a local one; `None` if it is any.
pub fn initial_value(system: &System, var: VarId, index: u32) -> Result<Option<i64>, Overflow> {
    let CellInitial::Value(expr) = &system.vars[var].initial else {
        return Ok(None);
    };
    let process = match system.vars[var].scope {
        Scope::Shared => None,
        Scope::Local(template) => Some(system.templates[template].first + index as usize),
    };
    let context = Context {
        system,
        state: &[],
        process,
        choices: &[],
    };
    context.value(expr).map(Some)
}

/// The initial states, one after the other: there can be very many.
pub fn initial_states(system: &System) -> Result<InitialStates<'_>, Overflow> {
    let mut base = vec![0; system.cells];
    let mut open = Vec::new();
    let mut ranges = Vec::new();
    for (id, var) in system.vars.iter_enumerated() {
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => system.templates[template].count,
        };
        for copy in 0..copies {
            let value = initial_value(system, id, copy)?;
            for offset in 0..var.len {
                let cell = system.cell(id, copy, offset).index();
                match value {
                    Some(value) => base[cell] = value,
                    None => {
                        open.push(cell);
                        ranges.push(system.values(var.domain).unwrap_or((0, 0)));
                    }
                }
            }
        }
    }
    Ok(InitialStates {
        system,
        base,
        open,
        odometer: Odometer::new(ranges),
    })
}

/// An iterator over initial states.
pub struct InitialStates<'s> {
    system: &'s System,
    base: Vec<i64>,
    /// The cells that begin with any value.
    open: Vec<usize>,
    odometer: Odometer,
}

impl Iterator for InitialStates<'_> {
    type Item = Vec<i64>;

    fn next(&mut self) -> Option<Vec<i64>> {
        loop {
            for (cell, value) in self.open.iter().zip(self.odometer.values()?) {
                self.base[*cell] = *value;
            }
            self.odometer.advance();
            if is_constrained(self.system, &self.base) {
                return Some(self.base.clone());
            }
        }
    }
}

/// Whether a state is as `initially` says. Where evaluating that leaves 64 bits, it is not.
pub fn is_constrained(system: &System, state: &[i64]) -> bool {
    let context = Context::of_state(system, state);
    let mut predicates = system.initially.iter();
    predicates.all(|predicate| context.holds(predicate) == Ok(true))
}
