//! Expressions: which parts are evaluated in which order, and what must be checked on the way.
//!
//! Checks are collected in the order of evaluation. Those of a right-hand side of `&&`, `||` and `->` hold where the left decides. Whatever
//! can fail has a check, so the values themselves are total.

use std::sync::Arc;

use threadwise_lang::program::{
    ArithOp, BoundId, CompareOp, DefId, Domain, Expr, ExprKind, ExprType, FoldKind, LocalId,
    LocationId, ParamId, Place, Program, SharedId, Span, TemplateId, VarRef,
};

use super::{Form, Frame, Truth, Value};
use crate::state::{FREE, NONE};
use crate::system::{Check, CheckKind};

/// What a path has done, in the values of a way to evaluate.
pub(crate) type FrameOf<D> = Frame<<D as Evaluate>::Value, <D as Evaluate>::Write>;
type ChecksOf<D> = Vec<Check<<D as Evaluate>::Truth>>;
type Result<D, T> = std::result::Result<T, <D as Evaluate>::Refusal>;

/// A variable, and whose it is.
#[derive(Clone, Debug)]
pub(crate) enum Var<V> {
    /// A shared one.
    Shared(SharedId),
    /// One of the process itself.
    Own(LocalId),
    /// One of the process of a template with this id.
    Of(TemplateId, V, LocalId),
}

/// A quantifier or an aggregate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold<'e> {
    pub(crate) kind: FoldKind,
    pub(crate) var: BoundId,
    pub(crate) domain: &'e Domain,
    pub(crate) body: &'e Expr,
    pub(crate) span: Span,
}

/// A way to write values and cells, and with it the evaluation of expressions.
pub(crate) trait Evaluate: Sized {
    /// Truth values.
    type Truth: Truth;
    /// Integers, with truth values as 0 and 1.
    type Value: Value<Truth = Self::Truth>;
    /// A value that was written, and where.
    type Write: Clone + PartialEq;
    /// What a place of the program names, its indices evaluated.
    type Place: Clone;
    /// Why something cannot be evaluated.
    type Refusal;

    /// The program.
    fn program(&self) -> Arc<Program>;
    /// What the path has done so far.
    fn frame(&mut self) -> &mut FrameOf<Self>;
    /// Begins with an expression. Refuses what takes too much work or nests too deeply.
    fn enter(&mut self, span: Span) -> Result<Self, ()>;
    /// Ends the expression that was begun last.
    fn leave(&mut self);
    /// Pays for a copy. Refuses what is too large.
    fn pay(&mut self, form: &impl Form, span: Span) -> Result<Self, ()>;
    /// Whether the value of an expression may be so large.
    fn admit(&self, form: &impl Form, span: Span) -> Result<Self, ()>;
    /// A variable that is bound nowhere, or not by the text itself.
    fn unbound(span: Span) -> Self::Refusal;
    /// A refusal of the body of a definition that is used here.
    fn blame(refusal: Self::Refusal, _used: Span) -> Self::Refusal {
        refusal
    }
    /// A parameter.
    fn param(&self, param: ParamId) -> Self::Value;
    /// The number that people see for the process with id 0.
    fn lowest_id(&self, template: TemplateId) -> Self::Value;
    /// The greatest id.
    fn last_id(&self, template: TemplateId) -> Self::Value;
    /// The id of the process of a template that has a single one.
    fn single(&mut self, template: TemplateId) -> Self::Value;
    /// The id with this number, which is checked to be one.
    fn id(
        &mut self,
        number: Self::Value,
        template: TemplateId,
        span: Span,
    ) -> Result<Self, Self::Value>;
    /// An optional id is not `none`.
    fn is_some(id: Self::Value) -> Self::Truth;
    /// A process is at one of these labels.
    fn at(
        &mut self,
        template: TemplateId,
        process: Self::Value,
        locations: &[LocationId],
        span: Span,
    ) -> Result<Self, Self::Truth>;
    /// `enabled` and `taken`.
    fn temporal(
        &mut self,
        expr: &Expr,
        template: TemplateId,
        process: Self::Value,
        location: LocationId,
    ) -> Result<Self, Self::Truth>;
    /// The place with these indices, which are evaluated and checked.
    fn place_at(
        &mut self,
        var: Var<Self::Value>,
        indices: &[Expr],
        span: Span,
    ) -> Result<Self, Self::Place>;
    /// The value at a place after what the path has written.
    fn read(&mut self, place: Self::Place, span: Span) -> Result<Self, Self::Value>;
    /// A quantifier or an aggregate.
    fn fold(&mut self, fold: Fold<'_>) -> Result<Self, Self::Value>;
    /// `&&` (`conjunction`) or `||`: each part is evaluated only if those before it do not decide.
    fn connective(&mut self, parts: &[Expr], conjunction: bool) -> Result<Self, Self::Truth> {
        let mut done = Truth::constant(conjunction);
        for part in parts {
            done = self.further(done, part, conjunction)?;
        }
        Ok(done)
    }

    // What follows is the same for all.

    /// A copy, paid for.
    fn copy<T: Form>(&mut self, form: &T, span: Span) -> Result<Self, T> {
        self.pay(form, span)?;
        Ok(form.clone())
    }

    /// What follows must hold.
    fn check(&mut self, holds: Self::Truth, kind: CheckKind, span: Span) {
        if holds != Truth::constant(true) {
            self.frame().checks.push(Check { holds, kind, span });
        }
    }

    /// The checks that the given evaluation adds, apart from those before.
    fn apart<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Result<Self, T>,
    ) -> Result<Self, (T, ChecksOf<Self>)> {
        let before = std::mem::take(&mut self.frame().checks);
        let result = evaluate(self);
        let added = std::mem::replace(&mut self.frame().checks, before);
        Ok((result?, added))
    }

    /// Evaluates something with a value for a bound variable, which may have one already.
    fn bound_to<T>(
        &mut self,
        var: BoundId,
        value: Self::Value,
        evaluate: impl FnOnce(&mut Self) -> Result<Self, T>,
    ) -> Result<Self, T> {
        let shadowed = self.frame().bindings.insert(var, value);
        let result = evaluate(self);
        match shadowed {
            Some(value) => self.frame().bindings.insert(var, value),
            None => self.frame().bindings.remove(&var),
        };
        result
    }

    /// The value of an expression, with truth values as 0 and 1.
    fn value(&mut self, expr: &Expr) -> Result<Self, Self::Value> {
        self.enter(expr.span)?;
        let value = self.value_of_kind(expr);
        self.leave();
        let value = value?;
        self.admit(&value, expr.span)?;
        Ok(value)
    }

    /// The truth of a Boolean expression.
    fn truth(&mut self, expr: &Expr) -> Result<Self, Self::Truth> {
        self.enter(expr.span)?;
        let truth = self.truth_of_kind(expr);
        self.leave();
        let truth = truth?;
        self.admit(&truth, expr.span)?;
        Ok(truth)
    }

    /// The place that the program names.
    fn place(&mut self, place: &Place) -> Result<Self, Self::Place> {
        let var = match place.var {
            VarRef::Shared(var) => Var::Shared(var),
            VarRef::Local(var) => Var::Own(var),
        };
        self.place_at(var, &place.indices, place.span)
    }

    /// The process that `P[j]` or `Server` names.
    fn process(
        &mut self,
        template: TemplateId,
        process: Option<&Expr>,
    ) -> Result<Self, Self::Value> {
        match process {
            None => Ok(self.single(template)),
            Some(process) => self.value(process),
        }
    }

    /// The value of an expression of one kind.
    fn value_of_kind(&mut self, expr: &Expr) -> Result<Self, Self::Value> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Int(value) => Value::number(*value),
            ExprKind::Member(position) => Value::number(i64::from(*position)),
            ExprKind::None => Value::number(NONE),
            ExprKind::Param(param) => self.param(*param),
            ExprKind::Own => Value::own(),
            ExprKind::Bound(bound) => match self.frame().bindings.get(bound).cloned() {
                Some(value) => {
                    self.pay(&value, span)?;
                    value
                }
                None => return Err(Self::unbound(span)),
            },
            ExprKind::Read(place) => {
                let place = self.place(place)?;
                self.read(place, span)?
            }
            ExprKind::Remote {
                template,
                process,
                var,
                indices,
            } => {
                let process = self.process(*template, process.as_deref())?;
                let var = Var::Of(*template, process, *var);
                let place = self.place_at(var, indices, span)?;
                self.read(place, span)?
            }
            ExprKind::IntToId(number) => {
                let number = self.value(number)?;
                match template_of(expr.ty) {
                    Some(template) => self.id(number, template, span)?,
                    None => number,
                }
            }
            ExprKind::IdToInt(id) => {
                let index = self.value(id)?;
                match template_of(id.ty) {
                    Some(template) => Value::arith(ArithOp::Add, index, self.lowest_id(template)),
                    None => index,
                }
            }
            ExprKind::IdToOpt(id) => self.value(id)?,
            ExprKind::OptToId(id) => {
                let id = self.value(id)?;
                let copy = self.copy(&id, span)?;
                self.check(Self::is_some(copy), CheckKind::Id, span);
                id
            }
            ExprKind::Around { forward, id } => {
                let index = self.value(id)?;
                self.around(*forward, index, id.ty, span)?
            }
            ExprKind::Neg(a) => self.value(a)?.minus(),
            ExprKind::Arith(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                if matches!(op, ArithOp::Div | ArithOp::Rem) {
                    let divisor = self.copy(&b, span)?;
                    let holds = Value::compare(CompareOp::Ne, divisor, Value::number(0));
                    self.check(holds, CheckKind::Division, span);
                }
                Value::arith(*op, a, b)
            }
            ExprKind::Fold {
                kind,
                var,
                domain,
                body,
            } => {
                let fold = Fold {
                    kind: *kind,
                    var: *var,
                    domain,
                    body,
                    span,
                };
                let before = self.fold(fold)?;
                match self.of_started(expr) {
                    Some(begun) => {
                        let both = [before.truth(), Truth::constant(begun)];
                        Value::of_truth(Truth::all(both))
                    }
                    None => before,
                }
            }
            ExprKind::Call(def, arguments) => self.call(*def, arguments, span, Self::value)?,
            _ => Value::of_truth(self.truth_of_kind(expr)?),
        })
    }

    /// Whether what is said of all processes of a template holds of those that the step has started, if it has. In the state before the step they are not
    /// there; now they are at their first label. Program text says nothing of them but that all have ended.
    fn of_started(&mut self, expr: &Expr) -> Option<bool> {
        let program = self.program();
        let template = program.ended(expr)?;
        let declared = &program.templates[template];
        let started = self.frame().starts.contains(&template);
        started.then_some(declared.entry == declared.done())
    }

    /// The truth of a Boolean expression of one kind.
    fn truth_of_kind(&mut self, expr: &Expr) -> Result<Self, Self::Truth> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Bool(value) => Truth::constant(*value),
            ExprKind::Locked(place) => {
                let place = self.place(place)?;
                let holder = self.read(place, span)?;
                Value::compare(CompareOp::Ne, holder, Value::number(FREE))
            }
            ExprKind::At {
                template,
                process,
                locations,
            } => {
                let process = self.process(*template, process.as_deref())?;
                self.at(*template, process, locations, span)?
            }
            ExprKind::Enabled {
                template,
                process,
                location,
            }
            | ExprKind::Taken {
                template,
                process,
                location,
            } => {
                let process = self.process(*template, process.as_deref())?;
                self.temporal(expr, *template, process, *location)?
            }
            ExprKind::Not(a) => self.truth(a)?.negated(),
            ExprKind::And(parts) => self.connective(parts, true)?,
            ExprKind::Or(parts) => self.connective(parts, false)?,
            ExprKind::Implies(a, b) => {
                let a = self.truth(a)?.negated();
                self.further(a, b, false)?
            }
            ExprKind::Iff(a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                Value::same(a, b)
            }
            ExprKind::Compare(op, a, b) => {
                let boolean = a.ty == ExprType::Bool;
                let (a, b) = (self.value(a)?, self.value(b)?);
                match (boolean, op) {
                    (false, _) => Value::compare(*op, a, b),
                    (true, CompareOp::Ne) => Value::same(a, b).negated(),
                    (true, _) => Value::same(a, b),
                }
            }
            ExprKind::Call(def, arguments) => self.call(*def, arguments, span, Self::truth)?,
            _ => self.value_of_kind(expr)?.truth(),
        })
    }

    /// Adds a part to a conjunction or disjunction that does not decide yet.
    fn further(
        &mut self,
        before: Self::Truth,
        part: &Expr,
        conjunction: bool,
    ) -> Result<Self, Self::Truth> {
        let (value, checks) = self.apart(|this| this.truth(part))?;
        for check in checks {
            let before = self.copy(&before, part.span)?;
            let decided = if conjunction {
                before.negated()
            } else {
                before
            };
            let holds = Truth::any([decided, check.holds]);
            self.check(holds, check.kind, check.span);
        }
        Ok(match conjunction {
            true => Truth::all([before, value]),
            false => Truth::any([before, value]),
        })
    }

    /// The neighbour on a ring.
    fn around(
        &mut self,
        forward: bool,
        id: Self::Value,
        ty: ExprType,
        span: Span,
    ) -> Result<Self, Self::Value> {
        let Some(template) = template_of(ty) else {
            return Ok(id);
        };
        let (last, copy) = (self.last_id(template), self.copy(&id, span)?);
        let (end, other, op) = match forward {
            true => (last, Value::number(0), ArithOp::Add),
            false => (Value::number(0), last, ArithOp::Sub),
        };
        let further = Value::arith(op, id, Value::number(1));
        let wraps = Value::compare(CompareOp::Eq, copy, end);
        Ok(Value::either(wraps, other, further))
    }

    /// A definition with these arguments.
    fn call<T>(
        &mut self,
        def: DefId,
        arguments: &[Expr],
        span: Span,
        evaluate: fn(&mut Self, &Expr) -> Result<Self, T>,
    ) -> Result<Self, T> {
        let program = self.program();
        let def = &program.defs[def];
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        // A definition may occur among its own arguments, so that a parameter has a value already.
        let mut shadowed = Vec::new();
        for (param, value) in def.params.iter().zip(values) {
            shadowed.push((*param, self.frame().bindings.insert(*param, value)));
        }
        let result = evaluate(self, &def.body);
        for (param, value) in shadowed {
            match value {
                Some(value) => self.frame().bindings.insert(param, value),
                None => self.frame().bindings.remove(&param),
            };
        }
        result.map_err(|refusal| Self::blame(refusal, span))
    }
}

fn template_of(ty: ExprType) -> Option<TemplateId> {
    match ty {
        ExprType::Id(template) | ExprType::OptId(template) => Some(template),
        _ => None,
    }
}
