//! The value of an expression: in a state, or without one for constants.
//!
//! This is the part of the semantics that statements and properties share. Evaluation gives an
//! integer (coded as cells are), or stops for one of two reasons that must never be confused: a
//! check *fails*, which is a behaviour of the program, or a *limit* of threadwise is reached,
//! after which nothing can be said.

use threadwise_lang::program::{
    ArithOp, BoundId, CompareOp, DefId, Domain, Expr, ExprKind, ExprType, FoldKind, LocalId,
    LocationId, NoValue, Place, Span, TemplateId, VarRef,
};

use crate::instance::{Instance, Shape};
use crate::interpreter::{Interpreter, Outcome};
use crate::state::{FREE, NONE, ProcessRef, State};
use crate::system::CheckKind;

/// A check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Failure {
    /// Which check.
    pub kind: CheckKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// A limit of threadwise: the question stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// A value that does not fit 64 bits.
    #[error("a computation leaves 64 bits")]
    Overflow {
        /// The expression.
        span: Span,
    },
    /// `havoc` or `any` of `int`.
    #[error("any value of `int`: infinitely many choices")]
    Infinite {
        /// The variable or statement.
        span: Span,
    },
    /// A step with more choices than the interpreter lists.
    #[error("one step has more outcomes than can be listed")]
    TooManyOutcomes {
        /// The statement that chooses.
        span: Span,
    },
    /// A step or a property that takes too long to evaluate.
    #[error("evaluation takes more than {MAX_WORK} operations")]
    TooMuchWork {
        /// Where it stood at the end.
        span: Span,
    },
    /// Definitions that call one another too deeply.
    #[error("expressions and definitions nest deeper than {MAX_DEPTH}")]
    TooDeep {
        /// Where it stood at the end.
        span: Span,
    },
    /// `start` without end.
    #[error("more than {} processes", crate::instance::MAX_PROCESSES)]
    TooManyProcesses {
        /// The statement.
        span: Span,
    },
    /// A constant was asked for, and the expression depends on the state.
    #[error("the expression is not constant")]
    NotConstant {
        /// The part that depends on the state.
        span: Span,
    },
}

impl Limit {
    /// The place in the source.
    pub fn span(&self) -> Span {
        match *self {
            Limit::Overflow { span }
            | Limit::Infinite { span }
            | Limit::TooManyOutcomes { span }
            | Limit::TooMuchWork { span }
            | Limit::TooDeep { span }
            | Limit::TooManyProcesses { span }
            | Limit::NotConstant { span } => span,
        }
    }
}

/// Why an evaluation gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A check failed.
    Fails(Failure),
    /// A limit was reached.
    Limit(Limit),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Stop::Limit(limit)
    }
}

/// Operations that one question (the outcomes of a process, the value of a property) may take.
pub const MAX_WORK: u64 = 200_000_000;
/// How deep evaluations may nest: the parser bounds each expression, but not chains of definitions.
pub const MAX_DEPTH: u32 = 1_000;

/// What is left of [`MAX_WORK`] and [`MAX_DEPTH`].
#[derive(Debug)]
pub(crate) struct Budget {
    work: u64,
    depth: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            work: MAX_WORK,
            depth: MAX_DEPTH,
        }
    }
}

impl Budget {
    /// A smaller allowance, for constants.
    pub(crate) fn of(work: u64) -> Budget {
        Budget {
            work,
            depth: MAX_DEPTH,
        }
    }

    /// Counts one operation.
    pub(crate) fn spend(&mut self, span: Span) -> Result<(), Limit> {
        self.work = self
            .work
            .checked_sub(1)
            .ok_or(Limit::TooMuchWork { span })?;
        Ok(())
    }
}

/// The values of bound variables, innermost last.
pub(crate) type Bindings = Vec<(BoundId, i64)>;

/// Where an expression is evaluated.
pub(crate) struct Scope<'a> {
    /// The instance.
    pub instance: &'a Instance,
    /// The state; absent for constants.
    pub state: Option<&'a State>,
    /// The process whose text it is; absent in properties.
    pub own: Option<ProcessRef>,
    /// The last step, for `taken`: who, and from where.
    pub last: Option<(ProcessRef, LocationId)>,
    /// Values of bound variables.
    pub bindings: &'a mut Bindings,
    /// What may still be spent.
    pub budget: &'a mut Budget,
}

impl Scope<'_> {
    fn state(&self, span: Span) -> Result<&State, Stop> {
        self.state.ok_or(Stop::Limit(Limit::NotConstant { span }))
    }

    fn own(&self, span: Span) -> Result<ProcessRef, Stop> {
        self.own.ok_or(Stop::Limit(Limit::NotConstant { span }))
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> Result<i64, Stop> {
        self.budget.spend(expr.span)?;
        if self.budget.depth == 0 {
            return Err(Limit::TooDeep { span: expr.span }.into());
        }
        self.budget.depth -= 1;
        let value = self.value_of_kind(expr);
        self.budget.depth += 1;
        value
    }

    /// The value of a Boolean expression.
    pub(crate) fn truth(&mut self, expr: &Expr) -> Result<bool, Stop> {
        Ok(self.value(expr)? != 0)
    }

    /// Whether a Boolean expression is true, where one that fails a check or leaves 64 bits counts as false. So the first part of a conjunction that is not true decides,
    /// and nothing after it is looked at: there may be many states to ask.
    pub(crate) fn holds(&mut self, expr: &Expr) -> bool {
        let (ExprKind::And(..) | ExprKind::Fold { .. }) = &expr.kind else {
            return matches!(self.truth(expr), Ok(true));
        };
        if self.budget.depth == 0 || self.budget.spend(expr.span).is_err() {
            return false;
        }
        self.budget.depth -= 1;
        let holds = match &expr.kind {
            ExprKind::And(parts) => parts.iter().all(|part| self.holds(part)),
            ExprKind::Fold {
                kind: FoldKind::Forall,
                var,
                domain,
                body,
            } => self.bounds(domain, expr.span).is_ok_and(|(lo, hi)| {
                (lo..=hi).all(|value| {
                    self.bindings.push((*var, value));
                    let holds = self.holds(body);
                    self.bindings.pop();
                    holds
                })
            }),
            _ => matches!(self.value_of_kind(expr), Ok(value) if value != 0),
        };
        self.budget.depth += 1;
        holds
    }

    fn value_of_kind(&mut self, expr: &Expr) -> Result<i64, Stop> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Bool(value) => Ok(i64::from(*value)),
            ExprKind::Int(value) => Ok(*value),
            ExprKind::Member(position) => Ok(i64::from(*position)),
            ExprKind::None => Ok(NONE),
            ExprKind::Param(param) => self
                .instance
                .known_param(*param)
                .ok_or(Stop::Limit(Limit::NotConstant { span })),
            ExprKind::Own => Ok(i64::from(self.own(span)?.index)),
            ExprKind::Bound(bound) => self.bound(*bound, span),
            ExprKind::Read(place) => self.read(place),
            ExprKind::Remote {
                template,
                process,
                var,
                indices,
            } => self.remote(*template, process.as_deref(), *var, indices, span),
            ExprKind::At {
                template,
                process,
                locations,
            } => {
                let process = self.process(*template, process.as_deref())?;
                let at = self.state(span)?.location(process);
                Ok(i64::from(locations.contains(&at)))
            }
            ExprKind::Enabled {
                template,
                process,
                location,
            } => {
                let process = self.process(*template, process.as_deref())?;
                self.enabled(process, *location, span)
            }
            ExprKind::Taken {
                template,
                process,
                location,
            } => {
                let process = self.process(*template, process.as_deref())?;
                Ok(i64::from(self.last == Some((process, *location))))
            }
            ExprKind::Locked(place) => Ok(i64::from(self.read(place)? != FREE)),
            ExprKind::IntToId(number) => {
                let number = self.value(number)?;
                self.id(number, expr.ty, span)
            }
            ExprKind::IdToInt(id) => {
                let index = self.value(id)?;
                let lowest = match id.ty {
                    ExprType::Id(template) => self.instance.lowest_id(template),
                    _ => 0,
                };
                index
                    .checked_add(lowest)
                    .ok_or(Limit::Overflow { span }.into())
            }
            ExprKind::IdToOpt(id) => self.value(id),
            ExprKind::OptToId(id) => match self.value(id)? {
                NONE => Err(Stop::Fails(Failure {
                    kind: CheckKind::Id,
                    span,
                })),
                index => Ok(index),
            },
            ExprKind::Around { forward, id } => {
                let index = self.value(id)?;
                let count = match id.ty {
                    ExprType::Id(template) => self.count(template, span)?,
                    _ => 1,
                };
                Ok((index + if *forward { 1 } else { -1 }).rem_euclid(count.max(1)))
            }
            ExprKind::Not(a) => Ok(i64::from(!self.truth(a)?)),
            ExprKind::Neg(a) => self
                .value(a)?
                .checked_neg()
                .ok_or(Limit::Overflow { span }.into()),
            ExprKind::And(parts) => {
                for part in parts {
                    if !self.truth(part)? {
                        return Ok(0);
                    }
                }
                Ok(1)
            }
            ExprKind::Or(parts) => {
                for part in parts {
                    if self.truth(part)? {
                        return Ok(1);
                    }
                }
                Ok(0)
            }
            ExprKind::Implies(a, b) => {
                if self.truth(a)? {
                    self.value(b)
                } else {
                    Ok(1)
                }
            }
            ExprKind::Iff(a, b) => {
                let (a, b) = (self.truth(a)?, self.truth(b)?);
                Ok(i64::from(a == b))
            }
            ExprKind::Compare(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                Ok(i64::from(compare(*op, a, b)))
            }
            ExprKind::Arith(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                arithmetic(*op, a, b, span)
            }
            ExprKind::Fold {
                kind,
                var,
                domain,
                body,
            } => self.fold(*kind, *var, domain, body, span),
            ExprKind::Call(def, arguments) => self.call(*def, arguments, span),
        }
    }

    fn bound(&self, bound: BoundId, span: Span) -> Result<i64, Stop> {
        self.bindings
            .iter()
            .rev()
            .find(|(id, _)| *id == bound)
            .map(|(_, value)| *value)
            .ok_or(Stop::Limit(Limit::NotConstant { span }))
    }

    /// How many processes a template has now.
    fn count(&self, template: TemplateId, span: Span) -> Result<i64, Stop> {
        match (self.state, self.instance.known_count(template)) {
            (Some(state), _) => Ok(i64::from(state.count(template))),
            (None, Some(count)) => Ok(i64::from(count)),
            (None, None) => Err(Limit::NotConstant { span }.into()),
        }
    }

    /// The id with this number, which must be one.
    fn id(&self, number: i64, ty: ExprType, span: Span) -> Result<i64, Stop> {
        let ExprType::Id(template) = ty else {
            return Ok(number);
        };
        let count = self.count(template, span)?;
        match number.checked_sub(self.instance.lowest_id(template)) {
            Some(index) if (0..count).contains(&index) => Ok(index),
            _ => Err(Stop::Fails(Failure {
                kind: CheckKind::Id,
                span,
            })),
        }
    }

    /// The process that `P[j]` or `Server` names.
    fn process(
        &mut self,
        template: TemplateId,
        process: Option<&Expr>,
    ) -> Result<ProcessRef, Stop> {
        let index = match process {
            None => 0,
            Some(expr) => self.value(expr)?,
        };
        Ok(ProcessRef {
            template,
            index: index as u32,
        })
    }

    fn enabled(
        &mut self,
        process: ProcessRef,
        location: LocationId,
        span: Span,
    ) -> Result<i64, Stop> {
        let state = self.state(span)?;
        if state.location(process) != location {
            return Ok(0);
        }
        let outcomes = Interpreter::new(self.instance).outcomes(state, process)?;
        let acts = |outcome: &Outcome| !matches!(outcome, Outcome::Rest { .. });
        Ok(i64::from(outcomes.iter().any(acts)))
    }

    /// The least and the greatest value of a domain; empty if the first is greater.
    pub(crate) fn bounds(&mut self, domain: &Domain, span: Span) -> Result<(i64, i64), Stop> {
        match domain {
            Domain::Range(lo, hi) => Ok((self.value(lo)?, self.value(hi)?)),
            Domain::Enum(id) => Ok((
                0,
                self.instance.program().enums[*id].members.len() as i64 - 1,
            )),
            Domain::Template(template) => Ok((0, self.count(*template, span)? - 1)),
        }
    }

    fn fold(
        &mut self,
        kind: FoldKind,
        var: BoundId,
        domain: &Domain,
        body: &Expr,
        span: Span,
    ) -> Result<i64, Stop> {
        let (lo, hi) = self.bounds(domain, span)?;
        // Every value is evaluated, also when the result is clear already: a check that fails for
        // a later value is a failure all the same.
        let mut result: Option<i64> = match kind {
            FoldKind::Forall => Some(1),
            FoldKind::Exists | FoldKind::Count | FoldKind::Sum => Some(0),
            FoldKind::Min | FoldKind::Max => None,
        };
        for value in lo..=hi {
            self.bindings.push((var, value));
            let item = self.value(body);
            self.bindings.pop();
            let item = item?;
            result = Some(match (kind, result) {
                (FoldKind::Forall, Some(so_far)) => so_far & item,
                (FoldKind::Exists, Some(so_far)) => so_far | item,
                (FoldKind::Count | FoldKind::Sum, Some(so_far)) => {
                    so_far.checked_add(item).ok_or(Limit::Overflow { span })?
                }
                (FoldKind::Min, Some(so_far)) => so_far.min(item),
                (FoldKind::Max, Some(so_far)) => so_far.max(item),
                (_, None) => item,
            });
        }
        result.ok_or(Stop::Fails(Failure {
            kind: CheckKind::Empty,
            span,
        }))
    }

    fn call(&mut self, def: DefId, arguments: &[Expr], _span: Span) -> Result<i64, Stop> {
        let instance = self.instance;
        let def = &instance.program().defs[def];
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        let outside = self.bindings.len();
        self.bindings.extend(def.params.iter().copied().zip(values));
        let result = self.value(&def.body);
        self.bindings.truncate(outside);
        result
    }

    /// The value of a cell.
    fn read(&mut self, place: &Place) -> Result<i64, Stop> {
        let cell = self.cell(place)?;
        Ok(cell.read(self.state(place.span)?, self.instance))
    }

    /// The cell that a place names; its indices are evaluated and checked one after the other.
    pub(crate) fn cell(&mut self, place: &Place) -> Result<Cell, Stop> {
        let instance = self.instance;
        match place.var {
            VarRef::Shared(var) => Ok(Cell::Shared(
                self.position(instance.shared(var), &place.indices)?,
            )),
            VarRef::Local(var) => {
                let own = self.own(place.span)?;
                let shape = instance.local(own.template, var);
                Ok(Cell::Local(own, self.position(shape, &place.indices)?))
            }
        }
    }

    fn remote(
        &mut self,
        template: TemplateId,
        process: Option<&Expr>,
        var: LocalId,
        indices: &[Expr],
        span: Span,
    ) -> Result<i64, Stop> {
        let instance = self.instance;
        let process = self.process(template, process)?;
        let position = self.position(instance.local(template, var), indices)?;
        Ok(Cell::Local(process, position).read(self.state(span)?, instance))
    }

    /// The position of a cell among the shared cells, or among its process's.
    fn position(&mut self, shape: &Shape, indices: &[Expr]) -> Result<usize, Stop> {
        let mut offset = 0;
        for (dim, index) in shape.dims.iter().zip(indices) {
            let value = self.value(index)?;
            let Some(step) = dim.offset(value) else {
                return Err(Stop::Fails(Failure {
                    kind: CheckKind::Index,
                    span: index.span,
                }));
            };
            offset = offset * dim.size as usize + step;
        }
        Ok(shape.first + offset)
    }
}

/// A cell of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    /// The position among the shared cells.
    Shared(usize),
    /// The process, and the position among its cells.
    Local(ProcessRef, usize),
}

impl Cell {
    pub(crate) fn read(self, state: &State, instance: &Instance) -> i64 {
        match self {
            Cell::Shared(position) => state.shared[position],
            Cell::Local(process, position) => {
                let stride = instance.local_cells(process.template);
                state.templates[process.template].cells[process.index as usize * stride + position]
            }
        }
    }

    pub(crate) fn write(self, state: &mut State, instance: &Instance, value: i64) {
        match self {
            Cell::Shared(position) => state.shared[position] = value,
            Cell::Local(process, position) => {
                let stride = instance.local_cells(process.template);
                state.templates[process.template].cells
                    [process.index as usize * stride + position] = value;
            }
        }
    }
}

fn compare(op: CompareOp, a: i64, b: i64) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

fn arithmetic(op: ArithOp, a: i64, b: i64, span: Span) -> Result<i64, Stop> {
    op.value(a, b).map_err(|none| match none {
        NoValue::DivisionByZero => Stop::Fails(Failure {
            kind: CheckKind::Division,
            span,
        }),
        NoValue::Overflow => Limit::Overflow { span }.into(),
    })
}
