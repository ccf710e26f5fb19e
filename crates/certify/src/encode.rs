//! The state before a step, and expressions over it, as literals.
//!
//! A cell with n values is n - 1 variables: "the value is at most the k-th" (order encoding).
//! Chains of implications are all it needs to have exactly one value, and edges of a decision graph,
//! which speak of neighbouring values, are two literals.
//!
//! Expressions become symbolic values with the same laziness as in `model::eval`: a part that is
//! not evaluated cannot leave 64 bits.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use threadwise_evidence::certificate::cell_values;
use threadwise_lang::program::{ArithOp, FoldKind};
use threadwise_model::system::{Expr, Place, ProcessId, Scope, System, VarId};

use crate::Error;
use crate::logic::{Input, Lit, Logic};
use crate::value::{MAX_VALUES, Value, Values, Writes};

/// An integer from a finite range.
#[derive(Clone, Debug)]
pub(crate) struct Finite {
    pub(crate) lo: i64,
    /// For all values but the greatest: that the value is at most this one.
    at_most: Rc<[Lit]>,
}

impl Finite {
    fn new(logic: &mut impl Logic, input: Input, lo: i64, size: usize) -> Result<Finite, Error> {
        let at_most = logic.input(input, size)?;
        Ok(Finite { lo, at_most })
    }

    pub(crate) fn size(&self) -> usize {
        self.at_most.len() + 1
    }

    /// That the value's position is at most this one.
    pub(crate) fn at_most(&self, position: usize) -> Lit {
        self.at_most.get(position).copied().unwrap_or(Lit::TRUE)
    }

    /// That the value's position is less than this one.
    pub(crate) fn below(&self, position: usize) -> Lit {
        match position.checked_sub(1) {
            Some(before) => self.at_most(before),
            None => Lit::FALSE,
        }
    }

    /// The value in the solution found last.
    pub(crate) fn solution(&self, logic: &impl Logic) -> i64 {
        self.lo + self.at_most.partition_point(|lit| !logic.value(*lit)) as i64
    }
}

/// Where an expression stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    /// The process: its index in its template, and its number.
    own: Option<(u32, ProcessId)>,
    /// The choices of the step.
    choices: Vec<Value>,
    bounds: Vec<(u32, i64)>,
}

impl Env {
    pub(crate) fn new(own: Option<(u32, ProcessId)>, choices: Vec<Value>) -> Env {
        Env {
            own,
            choices,
            bounds: Vec::new(),
        }
    }

    /// Whether no variable is bound.
    pub(crate) fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// The same, with one more bound variable.
    pub(crate) fn with(&self, bound: u32, value: i64) -> Env {
        let mut env = self.clone();
        env.bounds.push((bound, value));
        env
    }
}

/// A symbolic value, and whether its computation leaves 64 bits.
pub(crate) type Computed = (Value, Lit);

/// The encoding of a system's state, with the logic.
pub(crate) struct Encoder<'a, L> {
    pub(crate) system: &'a System,
    pub(crate) logic: L,
    pub(crate) values: Values,
    pub(crate) cells: Vec<Finite>,
    cell_values: Vec<Option<Value>>,
    loads: HashMap<(VarId, Value, Value), Value>,
    /// The processes whose cells expressions have spoken of since somebody took note.
    pub(crate) mentioned: BTreeSet<ProcessId>,
}

impl<'a, L: Logic> Encoder<'a, L> {
    pub(crate) fn new(system: &'a System, mut logic: L) -> Result<Encoder<'a, L>, Error> {
        let mut cells = Vec::with_capacity(system.cells);
        for (cell, domain) in cell_values(system).into_iter().enumerate() {
            match domain {
                Some((lo, size)) if size > 0 && size as usize <= MAX_VALUES => {
                    let input = Input::Cell(cell);
                    cells.push(Finite::new(&mut logic, input, lo, size as usize)?);
                }
                Some((_, 0)) => return Err(Error::unsupported("a variable's type is empty")),
                _ => {
                    return Err(Error::unsupported(format!(
                        "a variable has more than {MAX_VALUES} values"
                    )));
                }
            }
        }
        Ok(Encoder {
            system,
            logic,
            values: Values::default(),
            cell_values: vec![None; cells.len()],
            cells,
            loads: HashMap::new(),
            mentioned: BTreeSet::new(),
        })
    }

    /// A choice of a step, by its number in it, as a symbolic value.
    pub(crate) fn choice(
        &mut self,
        number: usize,
        lo: i64,
        hi: i64,
    ) -> Result<(Finite, Value), Error> {
        let size = usize::try_from(i128::from(hi) - i128::from(lo) + 1)
            .ok()
            .filter(|size| *size <= MAX_VALUES)
            .ok_or_else(|| {
                Error::unsupported(format!("a choice has more than {MAX_VALUES} values"))
            })?;
        let input = Input::Choice(number, lo, hi);
        let choice = Finite::new(&mut self.logic, input, lo, size)?;
        let value = self.value_of(&choice);
        Ok((choice, value))
    }

    fn value_of(&mut self, finite: &Finite) -> Value {
        let items: Vec<(i64, Lit)> = (0..finite.size())
            .map(|position| {
                let (at_most, below) = (finite.at_most(position), finite.below(position));
                let is = self.logic.and(at_most, !below);
                (finite.lo + position as i64, is)
            })
            .collect();
        self.values.value(items)
    }

    /// The value of a cell before the step.
    pub(crate) fn cell(&mut self, cell: usize) -> Value {
        if let Some(value) = self.cell_values[cell] {
            return value;
        }
        let finite = self.cells[cell].clone();
        let value = self.value_of(&finite);
        self.cell_values[cell] = Some(value);
        value
    }

    /// That a cell has this value.
    pub(crate) fn cell_is(&mut self, cell: usize, value: i64) -> Lit {
        let symbolic = self.cell(cell);
        self.values.is(symbolic, value)
    }

    /// What is found out of the state after these writes, as if it were the state before.
    pub(crate) fn after<T>(&mut self, writes: &Writes, find: impl FnOnce(&mut Self) -> T) -> T {
        let loads = std::mem::take(&mut self.loads);
        let write = |values: &mut [Option<Value>], (cell, value): &(usize, Option<Value>)| {
            (*cell, std::mem::replace(&mut values[*cell], *value))
        };
        let writes = writes.iter().map(|(cell, value)| (*cell, Some(*value)));
        let before: Vec<(usize, Option<Value>)> = writes
            .map(|new| write(&mut self.cell_values, &new))
            .collect();
        let found = find(self);
        for old in &before {
            write(&mut self.cell_values, old);
        }
        self.loads = loads;
        found
    }

    /// The state in the solution found last.
    pub(crate) fn solution(&self) -> Vec<i64> {
        self.cells
            .iter()
            .map(|cell| cell.solution(&self.logic))
            .collect()
    }

    /// Whether a condition holds, and whether finding out leaves 64 bits.
    pub(crate) fn condition(&mut self, expr: &Expr, env: &mut Env) -> Result<(Lit, Lit), Error> {
        let (value, overflow) = self.expr(expr, env)?;
        Ok((self.values.truth(value), overflow))
    }

    /// An expression.
    pub(crate) fn expr(&mut self, expr: &Expr, env: &mut Env) -> Result<Computed, Error> {
        let sure = |value| Ok((value, Lit::FALSE));
        match expr {
            Expr::Const(value) => sure(Value::Const(*value)),
            Expr::Own => sure(Value::Const(
                env.own.map_or(0, |(index, _)| i64::from(index)),
            )),
            Expr::OwnProcess => sure(Value::Const(
                env.own.map_or(-1, |(_, process)| i64::from(process.raw())),
            )),
            Expr::Bound(bound) => {
                let value = env.bounds.iter().rev().find(|(other, _)| other == bound);
                sure(Value::Const(value.map_or(0, |(_, value)| *value)))
            }
            Expr::Choice(choice) => {
                let value = env.choices.get(*choice as usize).copied();
                sure(value.unwrap_or(Value::Const(0)))
            }
            Expr::Load(place) => self.load(place, env),
            Expr::Not(inner) => {
                let (holds, overflow) = self.condition(inner, env)?;
                Ok((boolean(!holds), overflow))
            }
            Expr::Neg(inner) => {
                let (value, before) = self.expr(inner, env)?;
                let zero = Value::Const(0);
                let (value, overflow) =
                    self.values
                        .arith(&mut self.logic, ArithOp::Sub, zero, value)?;
                Ok((value, self.logic.or(before, overflow)))
            }
            Expr::And(parts) => self.junction(true, parts.iter(), env),
            Expr::Or(parts) => self.junction(false, parts.iter(), env),
            Expr::Compare(op, a, b) => {
                let (a, before) = self.expr(a, env)?;
                let (b, overflow) = self.expr(b, env)?;
                let holds = self.values.compare(&mut self.logic, *op, a, b)?;
                Ok((boolean(holds), self.logic.or(before, overflow)))
            }
            Expr::Arith(op, a, b) => {
                let (a, first) = self.expr(a, env)?;
                let (b, second) = self.expr(b, env)?;
                let (value, third) = self.values.arith(&mut self.logic, *op, a, b)?;
                Ok((value, self.logic.any(vec![first, second, third])))
            }
            Expr::Ite(condition, yes, no) => {
                let (condition, first) = self.condition(condition, env)?;
                match condition {
                    Lit::TRUE => {
                        let (value, second) = self.expr(yes, env)?;
                        return Ok((value, self.logic.or(first, second)));
                    }
                    Lit::FALSE => {
                        let (value, second) = self.expr(no, env)?;
                        return Ok((value, self.logic.or(first, second)));
                    }
                    _ => {}
                }
                let (yes, second) = self.expr(yes, env)?;
                let (no, third) = self.expr(no, env)?;
                let branch = self.logic.ite(condition, second, third);
                let value = self.values.ite(&mut self.logic, condition, yes, no)?;
                Ok((value, self.logic.or(first, branch)))
            }
            Expr::Fold {
                kind,
                bound,
                lo,
                hi,
                body,
            } => self.fold(*kind, (*bound, *lo, *hi), body, env),
        }
    }

    /// A conjunction or disjunction: parts are evaluated until one decides.
    fn junction<'e>(
        &mut self,
        and: bool,
        parts: impl Iterator<Item = &'e Expr>,
        env: &mut Env,
    ) -> Result<Computed, Error> {
        let mut junction = Junction::new(and);
        for part in parts {
            let part = self.condition(part, env)?;
            if junction.add(&mut self.logic, part) {
                break;
            }
        }
        Ok(junction.finish(&mut self.logic))
    }

    fn fold(
        &mut self,
        kind: FoldKind,
        (bound, lo, hi): (u32, i64, i64),
        body: &Expr,
        env: &mut Env,
    ) -> Result<Computed, Error> {
        if i128::from(hi) - i128::from(lo) >= MAX_VALUES as i128 {
            return Err(Error::unsupported(format!(
                "a quantifier ranges over more than {MAX_VALUES} values"
            )));
        }
        let op = match kind {
            FoldKind::Forall | FoldKind::Exists => {
                let mut junction = Junction::new(kind == FoldKind::Forall);
                for value in lo..=hi {
                    self.logic.go_on()?;
                    env.bounds.push((bound, value));
                    let part = self.condition(body, env);
                    env.bounds.pop();
                    if junction.add(&mut self.logic, part?) {
                        break;
                    }
                }
                return Ok(junction.finish(&mut self.logic));
            }
            FoldKind::Count | FoldKind::Sum => ArithOp::Add,
            FoldKind::Min => ArithOp::Min,
            FoldKind::Max => ArithOp::Max,
        };
        let mut overflows = Vec::new();
        let mut result = None;
        for value in lo..=hi {
            env.bounds.push((bound, value));
            let item = self.expr(body, env);
            env.bounds.pop();
            let (item, overflow) = item?;
            overflows.push(overflow);
            result = Some(match result {
                None => item,
                Some(so_far) => {
                    let (value, overflow) = self.values.arith(&mut self.logic, op, so_far, item)?;
                    // A sum that leaves 64 bits in between counts as one that does at the end: that can only
                    // refuse more.
                    overflows.push(overflow);
                    value
                }
            });
        }
        let overflow = self.logic.any(overflows);
        Ok((result.unwrap_or(Value::Const(0)), overflow))
    }

    /// The index of the copy and the offset of a place, and whether computing them leaves 64 bits.
    pub(crate) fn place(
        &mut self,
        place: &Place,
        env: &mut Env,
    ) -> Result<(Value, Value, Lit), Error> {
        let none = (Value::Const(0), Lit::FALSE);
        let (copy, first) = match &place.process {
            Some(process) => self.expr(process, env)?,
            None => none,
        };
        let (offset, second) = match &place.offset {
            Some(offset) => self.expr(offset, env)?,
            None => none,
        };
        Ok((copy, offset, self.logic.or(first, second)))
    }

    /// The cell of a variable, by copy and offset; `None` outside.
    pub(crate) fn target(&self, var: VarId, copy: i64, offset: i64) -> Option<usize> {
        let shape = &self.system.vars[var];
        let copies = match shape.scope {
            Scope::Shared => 1,
            Scope::Local(template) => self.system.templates[template].count,
        };
        let inside =
            (0..i64::from(copies)).contains(&copy) && (0..i64::from(shape.len)).contains(&offset);
        inside.then(|| self.system.cell(var, copy as u32, offset as u32).index())
    }

    /// The cells that a place can be, each with the literal that says so; `None` for those outside.
    pub(crate) fn targets(
        &mut self,
        var: VarId,
        copy: Value,
        offset: Value,
    ) -> Result<Vec<(Lit, Option<usize>)>, Error> {
        let (copies, offsets) = (self.values.items(copy), self.values.items(offset));
        if copies.len().saturating_mul(offsets.len()) > MAX_VALUES {
            return Err(Error::unsupported("an index has too many values"));
        }
        let mut targets = Vec::with_capacity(copies.len() * offsets.len());
        for (copy, copy_lit) in copies.iter() {
            for (offset, offset_lit) in offsets.iter() {
                let case = self.logic.and(*copy_lit, *offset_lit);
                targets.push((case, self.target(var, *copy, *offset)));
            }
        }
        Ok(targets)
    }

    fn load(&mut self, place: &Place, env: &mut Env) -> Result<Computed, Error> {
        let (copy, offset, overflow) = self.place(place, env)?;
        if let Scope::Local(template) = self.system.vars[place.var].scope {
            let template = &self.system.templates[template];
            let copies = self.values.items(copy);
            let copies = copies
                .iter()
                .filter_map(|(copy, _)| u32::try_from(*copy).ok());
            let copies = copies.filter(|copy| *copy < template.count);
            let processes = copies.map(|copy| template.first + copy as usize);
            self.mentioned.extend(processes);
        }
        if let (Value::Const(copy), Value::Const(offset)) = (copy, offset) {
            let value = match self.target(place.var, copy, offset) {
                Some(cell) => self.cell(cell),
                None => Value::Const(0),
            };
            return Ok((value, overflow));
        }
        if let Some(value) = self.loads.get(&(place.var, copy, offset)) {
            return Ok((*value, overflow));
        }
        let mut cases = Vec::new();
        for (case, cell) in self.targets(place.var, copy, offset)? {
            let value = match cell {
                Some(cell) => self.cell(cell),
                None => Value::Const(0),
            };
            cases.push((case, value));
        }
        let value = self.values.select(&mut self.logic, &cases)?;
        self.loads.insert((place.var, copy, offset), value);
        Ok((value, overflow))
    }
}

pub(crate) fn boolean(lit: Lit) -> Value {
    match lit {
        Lit::TRUE => Value::Const(1),
        Lit::FALSE => Value::Const(0),
        lit => Value::Bool(lit),
    }
}

/// A conjunction or disjunction in the making.
struct Junction {
    and: bool,
    parts: Vec<Lit>,
    overflows: Vec<Lit>,
}

impl Junction {
    fn new(and: bool) -> Junction {
        Junction {
            and,
            parts: Vec::new(),
            overflows: Vec::new(),
        }
    }

    /// Adds a part; true if it decides whatever comes after.
    fn add(&mut self, logic: &mut impl Logic, (holds, overflow): (Lit, Lit)) -> bool {
        if overflow != Lit::FALSE {
            // It is evaluated only if no part before decided.
            let reached = self.parts.clone();
            let reached = if self.and {
                logic.all(reached)
            } else {
                !logic.any(reached)
            };
            let overflow = logic.and(reached, overflow);
            self.overflows.push(overflow);
        }
        self.parts.push(holds);
        holds == Lit::of(!self.and)
    }

    fn finish(self, logic: &mut impl Logic) -> Computed {
        let holds = if self.and {
            logic.all(self.parts)
        } else {
            logic.any(self.parts)
        };
        let overflow = logic.any(self.overflows);
        (boolean(holds), overflow)
    }
}
