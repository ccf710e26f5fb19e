//! Expressions: from the checked program to total expressions and the checks they need.
//!
//! Reading a cell after writes of the same step is resolved here: the newest write that surely hits
//! decides, one that may hit becomes a case distinction on the indices, and what is left is
//! read from the state before the step. Checks are collected in the order of evaluation; those of a right-hand
//! side of `&&`, `||` and `->` hold only if the left does not decide, and those under a quantifier become
//! quantified themselves.
//!
//! Copies are what can make the result large: of written values, of arguments, of conditions in
//! front of checks. Each copy is measured and paid for, so that the work is bounded whatever the program.

use std::collections::BTreeMap;

use threadwise_lang::program::{
    self as hir, ArithOp, BoundId, CompareOp, Domain, ExprKind, ExprType, FoldKind, LocalId,
    LocationId, Span, TemplateId, VarRef,
};

use index_vec::IndexVec;

use super::Layout;
use crate::build;
use crate::state::ProcessRef;
use crate::system::{Check, CheckKind, Clause, DimKind, Expr, Place, SystemTemplate, VarId};
use crate::temporal::Taken;

/// How deep a lowered expression may nest: engines walk it recursively.
pub(super) const MAX_DEPTH: usize = 400;

/// Why an expression cannot be lowered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// It grows beyond the budget, or nests too deeply.
    TooLarge(Span),
    /// `enabled` and `taken` are no expressions over a state.
    NotAState(Span),
    /// Any value of a type without bounds.
    Infinite(Span),
    /// A template that grows, where its processes would have to be enumerated. The checker accepts none.
    Growing(Span),
    /// Too many paths from one label.
    TooManyPaths(Span),
}

/// What a path has done so far, as far as expressions can see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// Values of bound variables.
    pub(super) bindings: BTreeMap<BoundId, Expr>,
    /// What was written, oldest first; no place occurs twice.
    pub(super) writes: Vec<(Place, Expr)>,
    /// What was started, in order.
    pub(super) starts: Vec<TemplateId>,
}

impl Frame {
    /// Records a write. An older write of the very same place no longer counts.
    pub(super) fn write(&mut self, place: Place, value: Expr) {
        self.writes.retain(|(older, _)| *older != place);
        self.writes.push((place, value));
    }
}

/// Lowers expressions.
pub(super) struct Translator<'a> {
    pub(super) layout: &'a Layout<'a>,
    /// The template whose text it is; none in properties.
    pub(super) own: Option<TemplateId>,
    /// What evaluation must check, in order.
    pub(super) checks: Vec<Check>,
    /// Nodes that may still be built.
    pub(super) budget: u64,
    /// What `enabled` and `taken` speak of; none but in temporal properties.
    pub(super) temporal: Option<Temporal<'a>>,
    depth: usize,
    next_bound: u32,
}

/// What predicates of temporal properties may ask about besides the state.
pub(super) struct Temporal<'a> {
    /// The steps of each template.
    pub(super) steps: &'a IndexVec<TemplateId, SystemTemplate>,
    /// The steps that `taken` asks about, so far.
    pub(super) taken: Vec<Taken>,
}

type Result<T> = std::result::Result<T, Refusal>;

impl<'a> Translator<'a> {
    pub(super) fn new(layout: &'a Layout<'a>, own: Option<TemplateId>, budget: u64) -> Self {
        Translator {
            layout,
            own,
            checks: Vec::new(),
            budget,
            temporal: None,
            depth: 0,
            next_bound: 0,
        }
    }

    /// Pays for work.
    pub(super) fn spend(&mut self, nodes: usize, span: Span) -> Result<()> {
        match self.budget.checked_sub(nodes as u64) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(Refusal::TooLarge(span)),
        }
    }

    /// A copy, paid for.
    pub(super) fn copy(&mut self, expr: &Expr, span: Span) -> Result<Expr> {
        let (size, depth) = build::measure(expr);
        if depth > MAX_DEPTH {
            return Err(Refusal::TooLarge(span));
        }
        self.spend(size, span)?;
        Ok(expr.clone())
    }

    fn fresh(&mut self) -> u32 {
        self.next_bound += 1;
        self.next_bound - 1
    }

    fn check(&mut self, holds: Expr, kind: CheckKind, span: Span) {
        if holds != build::TRUE {
            self.checks.push(Check { holds, kind, span });
        }
    }

    /// The checks that the given evaluation adds, apart from those before.
    fn apart<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<Check>)> {
        let before = std::mem::take(&mut self.checks);
        let result = evaluate(self);
        let added = std::mem::replace(&mut self.checks, before);
        Ok((result?, added))
    }

    /// The value of an expression.
    pub(super) fn expr(&mut self, frame: &mut Frame, expr: &hir::Expr) -> Result<Expr> {
        self.spend(1, expr.span)?;
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::TooLarge(expr.span));
        }
        self.depth += 1;
        let result = self.kind(frame, expr);
        self.depth -= 1;
        result
    }

    fn kind(&mut self, frame: &mut Frame, expr: &hir::Expr) -> Result<Expr> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Bool(value) => build::boolean(*value),
            ExprKind::Int(value) => Expr::Const(*value),
            ExprKind::Member(position) => Expr::Const(i64::from(*position)),
            ExprKind::None => Expr::Const(-1),
            ExprKind::Param(param) => Expr::Const(self.layout.params[*param]),
            ExprKind::Own => Expr::Own,
            ExprKind::Bound(bound) => match frame.bindings.get(bound) {
                Some(value) => self.copy(value, span)?,
                None => return Err(Refusal::NotAState(span)),
            },
            ExprKind::Read(place) => {
                let place = self.place(frame, place)?;
                self.read(frame, place, span)?
            }
            ExprKind::Locked(place) => {
                let place = self.place(frame, place)?;
                let holder = self.read(frame, place, span)?;
                build::compare(CompareOp::Ne, holder, Expr::Const(-1))
            }
            ExprKind::Remote {
                template,
                process,
                var,
                indices,
            } => {
                let process = self.process(frame, process.as_deref())?;
                let var = self.layout.local(*template, *var);
                let offset = self.offset(frame, var, indices)?;
                build::load(Place {
                    var,
                    process: Some(process),
                    offset,
                })
            }
            ExprKind::At {
                template,
                process,
                locations,
            } => {
                let process = self.process(frame, process.as_deref())?;
                let mut parts = Vec::new();
                for location in locations {
                    let process = self.copy(&process, span)?;
                    parts.push(build::eq(
                        self.layout.pc(*template, process),
                        Expr::Const(i64::from(location.raw())),
                    ));
                }
                build::or(parts)
            }
            ExprKind::Enabled {
                template,
                process,
                location,
            } => {
                let process = self.process(frame, process.as_deref())?;
                self.enabled(*template, process, *location, span)?
            }
            ExprKind::Taken {
                template,
                process,
                location,
            } => {
                let process = self.process(frame, process.as_deref())?;
                self.taken(*template, process, *location, span)?
            }
            ExprKind::IntToId(number) => {
                let number = self.expr(frame, number)?;
                self.int_to_id(number, expr.ty, span)?
            }
            ExprKind::IdToInt(id) => {
                let lowest = self.lowest(id.ty);
                let id = self.expr(frame, id)?;
                build::arith(ArithOp::Add, id, Expr::Const(lowest))
            }
            ExprKind::IdToOpt(id) => self.expr(frame, id)?,
            ExprKind::OptToId(id) => {
                let id = self.expr(frame, id)?;
                let copy = self.copy(&id, span)?;
                let holds = build::compare(CompareOp::Ne, copy, Expr::Const(-1));
                self.check(holds, CheckKind::Id, span);
                id
            }
            ExprKind::Around { forward, id } => {
                let ty = id.ty;
                let id = self.expr(frame, id)?;
                self.around(*forward, id, ty, span)?
            }
            ExprKind::Not(a) => build::not(self.expr(frame, a)?),
            ExprKind::Neg(a) => build::neg(self.expr(frame, a)?),
            ExprKind::And(parts) => self.connective(frame, parts, true)?,
            ExprKind::Or(parts) => self.connective(frame, parts, false)?,
            ExprKind::Implies(a, b) => {
                let a = build::not(self.expr(frame, a)?);
                self.right_side(frame, vec![a], b, false)?
            }
            ExprKind::Iff(a, b) => {
                let a = self.expr(frame, a)?;
                let b = self.expr(frame, b)?;
                build::eq(a, b)
            }
            ExprKind::Compare(op, a, b) => {
                let a = self.expr(frame, a)?;
                let b = self.expr(frame, b)?;
                build::compare(*op, a, b)
            }
            ExprKind::Arith(op, a, b) => {
                let a = self.expr(frame, a)?;
                let b = self.expr(frame, b)?;
                if matches!(op, ArithOp::Div | ArithOp::Rem) {
                    let divisor = self.copy(&b, span)?;
                    let holds = build::compare(CompareOp::Ne, divisor, Expr::Const(0));
                    self.check(holds, CheckKind::Division, span);
                }
                build::arith(*op, a, b)
            }
            ExprKind::Fold {
                kind,
                var,
                domain,
                body,
            } => self.fold(frame, *kind, *var, domain, body, span)?,
            ExprKind::Call(def, arguments) => {
                let def = &self.layout.program.defs[*def];
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.expr(frame, argument)?);
                }
                // A definition may occur among its own arguments, so that a parameter has a value already.
                let mut shadowed = Vec::new();
                for (param, value) in def.params.iter().zip(values) {
                    shadowed.push((*param, frame.bindings.insert(*param, value)));
                }
                let result = self.expr(frame, &def.body);
                for (param, value) in shadowed {
                    match value {
                        Some(value) => frame.bindings.insert(param, value),
                        None => frame.bindings.remove(&param),
                    };
                }
                // What is too large is the use, not the line of the definition at which the limit happens to be reached.
                result.map_err(|refusal| match refusal {
                    Refusal::TooLarge(_) => Refusal::TooLarge(span),
                    other => other,
                })?
            }
        })
    }

    /// `&&` (`conjunction`) or `||`: each part is evaluated only if those before it do not decide.
    fn connective(
        &mut self,
        frame: &mut Frame,
        parts: &[hir::Expr],
        conjunction: bool,
    ) -> Result<Expr> {
        if self.own.is_none() {
            let mut each = Vec::new();
            for part in parts {
                let (value, checks) = self.apart(|this| this.expr(frame, part))?;
                let holds = build::and(checks.into_iter().map(|check| check.holds));
                each.push((value, holds, part.span));
            }
            let Some((value, holds, span)) = self.together(each, conjunction)? else {
                return Ok(build::boolean(conjunction));
            };
            self.check(holds, CheckKind::Index, span);
            return Ok(value);
        }
        let mut done: Vec<Expr> = Vec::new();
        for part in parts {
            let result = self.right_side(frame, done, part, conjunction)?;
            done = vec![result];
        }
        Ok(done.pop().unwrap_or(build::boolean(conjunction)))
    }

    /// A conjunction or disjunction of parts, each with its value and whether its checks hold, in a property, where it does not matter which check fails. Halves are put
    /// together, so that the values in front of a check are not written anew for each check behind them.
    fn together(
        &mut self,
        mut parts: Vec<(Expr, Expr, Span)>,
        conjunction: bool,
    ) -> Result<Option<(Expr, Expr, Span)>> {
        if parts.len() < 2 {
            return Ok(parts.pop());
        }
        let second = parts.split_off(parts.len() / 2);
        let first = self.together(parts, conjunction)?;
        let second = self.together(second, conjunction)?;
        let (Some((a, a_holds, _)), Some((b, b_holds, span))) = (first, second) else {
            return Ok(None);
        };
        let b_holds = match b_holds {
            build::TRUE => build::TRUE,
            // Evaluated only where the first half does not decide.
            holds if conjunction => build::implies(self.copy(&a, span)?, holds),
            holds => build::or([self.copy(&a, span)?, holds]),
        };
        let value = match conjunction {
            true => build::and([a, b]),
            false => build::or([a, b]),
        };
        Ok(Some((value, build::and([a_holds, b_holds]), span)))
    }

    /// Adds a part to a conjunction or disjunction that does not decide yet.
    fn right_side(
        &mut self,
        frame: &mut Frame,
        done: Vec<Expr>,
        part: &hir::Expr,
        conjunction: bool,
    ) -> Result<Expr> {
        let before = if conjunction {
            build::and(done)
        } else {
            build::or(done)
        };
        let (part_value, checks) = self.apart(|this| this.expr(frame, part))?;
        for check in checks {
            let before = self.copy(&before, part.span)?;
            let holds = if conjunction {
                build::implies(before, check.holds)
            } else {
                build::or([before, check.holds])
            };
            self.check(holds, check.kind, check.span);
        }
        Ok(if conjunction {
            build::and([before, part_value])
        } else {
            build::or([before, part_value])
        })
    }

    fn process(&mut self, frame: &mut Frame, process: Option<&hir::Expr>) -> Result<Expr> {
        match process {
            None => Ok(Expr::Const(0)),
            Some(process) => self.expr(frame, process),
        }
    }

    fn template_of(&self, ty: ExprType) -> Option<TemplateId> {
        match ty {
            ExprType::Id(template) | ExprType::OptId(template) => Some(template),
            _ => None,
        }
    }

    fn lowest(&self, ty: ExprType) -> i64 {
        self.template_of(ty)
            .map_or(0, |template| self.layout.templates[template].lowest_id)
    }

    fn int_to_id(&mut self, number: Expr, ty: ExprType, span: Span) -> Result<Expr> {
        let Some(template) = self.template_of(ty) else {
            return Ok(number);
        };
        let shape = &self.layout.templates[template];
        let (lowest, count) = (shape.lowest_id, i64::from(shape.count));
        let copy = self.copy(&number, span)?;
        let mut holds = build::within(copy, lowest, lowest.saturating_add(count - 1));
        let index = build::arith(ArithOp::Sub, number, Expr::Const(lowest));
        if shape.dynamic {
            let copy = self.copy(&index, span)?;
            holds = build::and([holds, self.started(template, copy, span)?]);
        }
        self.check(holds, CheckKind::Id, span);
        Ok(index)
    }

    /// The neighbour on a ring, whose size is fixed.
    fn around(&mut self, forward: bool, id: Expr, ty: ExprType, span: Span) -> Result<Expr> {
        let Some(template) = self.template_of(ty) else {
            return Ok(id);
        };
        let last = Expr::Const(i64::from(self.layout.templates[template].count) - 1);
        let copy = self.copy(&id, span)?;
        let one = Expr::Const(1);
        Ok(if forward {
            build::ite(
                build::eq(copy, last),
                Expr::Const(0),
                build::arith(ArithOp::Add, id, one),
            )
        } else {
            build::ite(
                build::eq(copy, Expr::Const(0)),
                last,
                build::arith(ArithOp::Sub, id, one),
            )
        })
    }

    /// Whether a process is at a label and has a step other than resting there. A step that fails a check is one.
    fn enabled(
        &mut self,
        template: TemplateId,
        process: Expr,
        location: LocationId,
        span: Span,
    ) -> Result<Expr> {
        let Some(temporal) = &self.temporal else {
            return Err(Refusal::NotAState(span));
        };
        let system = &temporal.steps[template];
        let (first, steps) = (system.first, &system.steps[location]);
        let mut can = Vec::new();
        for step in steps.iter().filter(|step| !step.rest) {
            let mut feasible = build::TRUE;
            for clause in step.clauses.iter().rev() {
                feasible = match clause {
                    Clause::Guard(guard) => build::and([guard.clone(), feasible]),
                    Clause::Check(check) => build::or([build::not(check.holds.clone()), feasible]),
                };
            }
            // Variables that are bound inside must not be taken for those that are bound around.
            let mut highest = 0;
            build::for_all(&feasible, &mut |e| {
                if let Expr::Fold { bound, .. } = e {
                    highest = highest.max(bound + 1);
                }
            });
            let shift = self.next_bound;
            let choices = shift + highest;
            self.next_bound = choices + step.choices.len() as u32;
            let (size, _) = build::measure(&feasible);
            let (more, _) = build::measure(&process);
            self.spend(size.saturating_mul(more), span)?;
            let mut feasible = build::rebind(&feasible, shift, &mut |leaf| match leaf {
                Expr::Own => process.clone(),
                Expr::OwnProcess => build::arith(
                    ArithOp::Add,
                    Expr::Const(i64::from(first.raw())),
                    process.clone(),
                ),
                Expr::Choice(choice) => Expr::Bound(choices + choice),
                leaf => leaf.clone(),
            });
            for (choice, (lo, hi)) in step.choices.iter().enumerate() {
                feasible = build::fold(
                    FoldKind::Exists,
                    choices + choice as u32,
                    *lo,
                    *hi,
                    feasible,
                );
            }
            can.push(feasible);
        }
        let here = Expr::Const(i64::from(location.raw()));
        let at = build::eq(self.layout.pc(template, process), here);
        let all = build::and([at, build::or(can)]);
        if build::measure(&all).1 > MAX_DEPTH {
            return Err(Refusal::TooLarge(span));
        }
        Ok(all)
    }

    /// Whether the last step was one of a process from a label.
    fn taken(
        &mut self,
        template: TemplateId,
        process: Expr,
        location: LocationId,
        span: Span,
    ) -> Result<Expr> {
        let count = self.layout.templates[template].count;
        let mut cases = Vec::new();
        for index in 0..count {
            let (copy, own) = (self.copy(&process, span)?, Expr::Const(i64::from(index)));
            let who = build::eq(copy, own);
            if who == build::FALSE {
                continue;
            }
            let Some(temporal) = &mut self.temporal else {
                return Err(Refusal::NotAState(span));
            };
            let step = Taken {
                process: ProcessRef { template, index },
                location,
            };
            let known = temporal.taken.iter().position(|taken| *taken == step);
            let number = known.unwrap_or_else(|| {
                temporal.taken.push(step);
                temporal.taken.len() - 1
            });
            cases.push(build::and([who, Expr::Choice(number as u32)]));
        }
        Ok(build::or(cases))
    }

    /// Whether the process with this index of a dynamic template is started.
    pub(super) fn started(
        &mut self,
        template: TemplateId,
        index: Expr,
        span: Span,
    ) -> Result<Expr> {
        self.spend(1, span)?;
        let unstarted = Expr::Const(self.layout.templates[template].unstarted());
        Ok(build::compare(
            CompareOp::Ne,
            self.layout.pc(template, index),
            unstarted,
        ))
    }

    /// The least and the greatest value of a domain, with all that a dynamic template can hold.
    pub(super) fn bounds(&self, domain: &Domain, span: Span) -> Result<(i64, i64)> {
        self.layout.bounds(domain).ok_or(Refusal::NotAState(span))
    }

    fn fold(
        &mut self,
        frame: &mut Frame,
        kind: FoldKind,
        var: BoundId,
        domain: &Domain,
        body: &hir::Expr,
        span: Span,
    ) -> Result<Expr> {
        let (lo, hi) = self.bounds(domain, span)?;
        let dynamic = self.layout.dynamic(domain);
        if lo > hi {
            if matches!(kind, FoldKind::Min | FoldKind::Max) {
                self.check(build::FALSE, CheckKind::Empty, span);
            }
            return Ok(match kind {
                FoldKind::Forall => build::TRUE,
                _ => build::FALSE,
            });
        }
        let bound = self.fresh();
        let (value, checks) =
            self.apart(|this| this.bound_to(frame, var, Expr::Bound(bound), body))?;
        let Some(template) = dynamic else {
            self.quantify(bound, (lo, hi), build::TRUE, checks, span)?;
            return Ok(build::fold(kind, bound, lo, hi, value));
        };
        let started = self.started(template, Expr::Bound(bound), span)?;
        self.quantify(bound, (lo, hi), started.clone(), checks, span)?;
        let value = match kind {
            FoldKind::Forall => build::implies(started, value),
            FoldKind::Exists | FoldKind::Count => build::and([started, value]),
            FoldKind::Sum => build::ite(started, value, Expr::Const(0)),
            // The first process stands in for those that are not there.
            FoldKind::Min | FoldKind::Max => {
                let some = self.started(template, Expr::Const(0), span)?;
                self.check(some, CheckKind::Empty, span);
                let (first, _) =
                    self.apart(|this| this.bound_to(frame, var, Expr::Const(0), body))?;
                build::ite(started, value, first)
            }
        };
        Ok(build::fold(kind, bound, lo, hi, value))
    }

    fn bound_to(
        &mut self,
        frame: &mut Frame,
        var: BoundId,
        value: Expr,
        body: &hir::Expr,
    ) -> Result<Expr> {
        let shadowed = frame.bindings.insert(var, value);
        let result = self.expr(frame, body);
        match shadowed {
            Some(value) => frame.bindings.insert(var, value),
            None => frame.bindings.remove(&var),
        };
        result
    }

    /// Turns the checks of a body into checks for all values.
    ///
    /// The body is evaluated value by value, and the first check that fails is the failure. With checks
    /// of one kind and place, "all hold" is enough. Otherwise the check that fails must be told
    /// apart: each fails only for a value at which those before it hold, and before which nothing fails.
    fn quantify(
        &mut self,
        bound: u32,
        (lo, hi): (i64, i64),
        among: Expr,
        checks: Vec<Check>,
        span: Span,
    ) -> Result<()> {
        // In a property it does not matter which check fails.
        let alike = self.own.is_none()
            || checks
                .windows(2)
                .all(|pair| (pair[0].kind, pair[0].span) == (pair[1].kind, pair[1].span));
        if alike {
            for check in checks {
                let among = self.copy(&among, span)?;
                let holds = build::fold(
                    FoldKind::Forall,
                    bound,
                    lo,
                    hi,
                    build::implies(among, check.holds),
                );
                self.check(holds, check.kind, check.span);
            }
            return Ok(());
        }
        for (position, check) in checks.iter().enumerate() {
            let earlier = self.fresh();
            let mut fails_earlier = Vec::new();
            for other in &checks {
                fails_earlier.push(build::not(self.copy(&other.holds, span)?));
            }
            let fails_earlier = build::and([
                build::compare(CompareOp::Lt, Expr::Bound(earlier), Expr::Bound(bound)),
                rename(
                    &build::and([self.copy(&among, span)?, build::or(fails_earlier)]),
                    bound,
                    earlier,
                ),
            ]);
            let mut parts = vec![build::not(self.copy(&among, span)?)];
            for other in &checks[..position] {
                parts.push(build::not(self.copy(&other.holds, span)?));
            }
            parts.push(self.copy(&check.holds, span)?);
            parts.push(build::fold(
                FoldKind::Exists,
                earlier,
                lo,
                hi,
                fails_earlier,
            ));
            let holds = build::fold(FoldKind::Forall, bound, lo, hi, build::or(parts));
            self.check(holds, check.kind, check.span);
        }
        Ok(())
    }

    /// The cell that a place of the program names, its indices checked.
    pub(super) fn place(&mut self, frame: &mut Frame, place: &hir::Place) -> Result<Place> {
        let (var, process) = match place.var {
            VarRef::Shared(shared) => (self.layout.shared(shared), None),
            VarRef::Local(local) => (self.own_local(local, place.span)?, Some(Expr::Own)),
        };
        let offset = self.offset(frame, var, &place.indices)?;
        Ok(Place {
            var,
            process,
            offset,
        })
    }

    /// A local variable of the process itself.
    pub(super) fn own_local(&self, local: LocalId, span: Span) -> Result<VarId> {
        let own = self.own.ok_or(Refusal::NotAState(span))?;
        Ok(self.layout.local(own, local))
    }

    fn offset(
        &mut self,
        frame: &mut Frame,
        var: VarId,
        indices: &[hir::Expr],
    ) -> Result<Option<Expr>> {
        let dims = &self.layout.vars[var].dims;
        let mut offset = None;
        for (dim, index) in dims.iter().zip(indices) {
            let value = self.expr(frame, index)?;
            let value = match dim.kind {
                DimKind::Range(lo) => {
                    let copy = self.copy(&value, index.span)?;
                    let hi = lo.saturating_add(i64::from(dim.size) - 1);
                    self.check(build::within(copy, lo, hi), CheckKind::Index, index.span);
                    build::arith(ArithOp::Sub, value, Expr::Const(lo))
                }
                DimKind::Enum(_) | DimKind::Template(_) => value,
            };
            offset = Some(match offset {
                None => value,
                Some(outer) => build::arith(
                    ArithOp::Add,
                    build::arith(ArithOp::Mul, outer, Expr::Const(i64::from(dim.size))),
                    value,
                ),
            });
        }
        Ok(offset)
    }

    /// The value of a cell after what the path has written.
    pub(super) fn read(&mut self, frame: &Frame, place: Place, span: Span) -> Result<Expr> {
        // Newest first: the cases so far are the writes that may hit, until one surely does.
        let mut cases: Vec<(Expr, Expr)> = Vec::new();
        let mut last = None;
        for (written, value) in frame.writes.iter().rev() {
            if written.var != place.var {
                continue;
            }
            match same_cell(written, &place) {
                Some(false) => {}
                Some(true) => {
                    last = Some(self.copy(value, span)?);
                    break;
                }
                None => {
                    let a = self.copy_offset(&place, span)?;
                    let b = self.copy_offset(written, span)?;
                    cases.push((build::eq(a, b), self.copy(value, span)?));
                }
            }
        }
        let last = last.unwrap_or_else(|| build::load(place));
        Ok(cases
            .into_iter()
            .rev()
            .fold(last, |otherwise, (hits, value)| {
                build::ite(hits, value, otherwise)
            }))
    }

    fn copy_offset(&mut self, place: &Place, span: Span) -> Result<Expr> {
        match &place.offset {
            Some(offset) => self.copy(offset, span),
            None => Ok(Expr::Const(0)),
        }
    }
}

/// Whether two places of one variable are one cell; `None` if it depends on the state.
pub(super) fn same_cell(a: &Place, b: &Place) -> Option<bool> {
    match (&a.offset, &b.offset) {
        _ if a == b => Some(true),
        // The processes of a step are the process itself and those it starts, all different, and each
        // always named in the same way.
        _ if a.process != b.process => Some(false),
        (Some(Expr::Const(x)), Some(Expr::Const(y))) => Some(x == y),
        _ => None,
    }
}

fn rename(expr: &Expr, from: u32, to: u32) -> Expr {
    build::rebuild(expr, &mut |leaf| match leaf {
        Expr::Bound(bound) if *bound == from => Expr::Bound(to),
        other => other.clone(),
    })
}
