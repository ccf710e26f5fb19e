//! Values of an instance: total expressions over the cells of a state.
//!
//! Reading a cell after writes of the same step is resolved here: the newest write that surely hits
//! decides, one that may hit becomes a case distinction on the indices, and what is left is
//! read from the state before the step. Checks under a quantifier become quantified themselves.
//!
//! Copies are what can make the result large: of written values, of arguments, of conditions in
//! front of checks. Each copy is measured and paid for, so that the work is bounded whatever the program.

use std::sync::Arc;

use threadwise_lang::program::{
    self as hir, ArithOp, CompareOp, Domain, ExprKind, FoldKind, LocalId, LocationId, ParamId,
    Program, Span, TemplateId,
};

use index_vec::IndexVec;

use super::Layout;
use super::paths::Path;
use crate::build;
use crate::execute::{self, Evaluate, Fold, Form, Var};
use crate::state::ProcessRef;
use crate::system::{Check, CheckKind, Clause, DimKind, Expr, Place, Step, SystemTemplate, VarId};
use crate::temporal::Taken;

type Frame = execute::Frame<Expr, (Place, Expr)>;

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

/// Lowers expressions.
pub(super) struct Translator<'a> {
    pub(super) layout: &'a Layout<'a>,
    /// The template whose text it is; none in properties.
    pub(super) own: Option<TemplateId>,
    /// The path that is executed.
    pub(super) path: Path,
    /// Nodes that may still be built.
    pub(super) budget: u64,
    /// What `enabled` and `taken` speak of; none but in temporal properties.
    pub(super) temporal: Option<Temporal<'a>>,
    /// The steps that paths have become.
    pub(super) steps: Vec<Step>,
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
            path: Path::default(),
            budget,
            temporal: None,
            steps: Vec::new(),
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

    fn fresh(&mut self) -> u32 {
        self.next_bound += 1;
        self.next_bound - 1
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
            let price = feasible.size().nodes.saturating_mul(process.size().nodes);
            self.spend(price, span)?;
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
        if all.size().depth > MAX_DEPTH {
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
    pub(super) fn bounds_of(&self, domain: &Domain, span: Span) -> Result<(i64, i64)> {
        self.layout.bounds(domain).ok_or(Refusal::NotAState(span))
    }

    /// The body of a quantifier or an aggregate for a value.
    fn body(&mut self, fold: Fold, value: Expr) -> Result<Expr> {
        self.bound_to(fold.var, value, |this| this.value(fold.body))
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

    /// A local variable of the process itself.
    fn own_local(&self, local: LocalId, span: Span) -> Result<VarId> {
        let own = self.own.ok_or(Refusal::NotAState(span))?;
        Ok(self.layout.local(own, local))
    }

    fn offset(&mut self, var: VarId, indices: &[hir::Expr]) -> Result<Option<Expr>> {
        let dims = &self.layout.vars[var].dims;
        let mut offset = None;
        for (dim, index) in dims.iter().zip(indices) {
            let value = self.value(index)?;
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

    /// The value of a cell after these writes.
    fn read_after(&mut self, writes: &[(Place, Expr)], place: Place, span: Span) -> Result<Expr> {
        // Newest first: the cases so far are the writes that may hit, until one surely does.
        let mut cases: Vec<(Expr, Expr)> = Vec::new();
        let mut last = None;
        for (written, value) in writes.iter().rev() {
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

    pub(super) fn copy_offset(&mut self, place: &Place, span: Span) -> Result<Expr> {
        match &place.offset {
            Some(offset) => self.copy(offset, span),
            None => Ok(Expr::Const(0)),
        }
    }
}

impl<'a> Evaluate for Translator<'a> {
    type Truth = Expr;
    type Value = Expr;
    type Write = (Place, Expr);
    type Place = Place;
    type Refusal = Refusal;

    fn program(&self) -> Arc<Program> {
        self.layout.instance.shared_program()
    }

    fn frame(&mut self) -> &mut Frame {
        &mut self.path.frame
    }

    fn enter(&mut self, span: Span) -> Result<()> {
        self.spend(1, span)?;
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::TooLarge(span));
        }
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn pay(&mut self, form: &impl Form, span: Span) -> Result<()> {
        let size = form.size();
        if size.depth > MAX_DEPTH {
            return Err(Refusal::TooLarge(span));
        }
        self.spend(size.nodes, span)
    }

    // What is large is refused where it is copied.
    fn admit(&self, _: &impl Form, _: Span) -> Result<()> {
        Ok(())
    }

    fn unbound(span: Span) -> Refusal {
        Refusal::NotAState(span)
    }

    // What is too large is the use, not the line of the definition at which the limit happens to be reached.
    fn blame(refusal: Refusal, used: Span) -> Refusal {
        match refusal {
            Refusal::TooLarge(_) => Refusal::TooLarge(used),
            other => other,
        }
    }

    fn param(&self, param: ParamId) -> Expr {
        Expr::Const(self.layout.params[param])
    }

    fn lowest_id(&self, template: TemplateId) -> Expr {
        Expr::Const(self.layout.templates[template].lowest_id)
    }

    fn last_id(&self, template: TemplateId) -> Expr {
        Expr::Const(i64::from(self.layout.templates[template].count) - 1)
    }

    fn single(&mut self, _: TemplateId) -> Expr {
        Expr::Const(0)
    }

    fn id(&mut self, number: Expr, template: TemplateId, span: Span) -> Result<Expr> {
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

    fn is_some(id: Expr) -> Expr {
        build::compare(CompareOp::Ne, id, Expr::Const(-1))
    }

    fn at(
        &mut self,
        template: TemplateId,
        process: Expr,
        locations: &[LocationId],
        span: Span,
    ) -> Result<Expr> {
        let mut parts = Vec::new();
        for location in locations {
            let process = self.copy(&process, span)?;
            parts.push(build::eq(
                self.layout.pc(template, process),
                Expr::Const(i64::from(location.raw())),
            ));
        }
        Ok(build::or(parts))
    }

    fn temporal(
        &mut self,
        expr: &hir::Expr,
        template: TemplateId,
        process: Expr,
        location: LocationId,
    ) -> Result<Expr> {
        match expr.kind {
            ExprKind::Enabled { .. } => self.enabled(template, process, location, expr.span),
            _ => self.taken(template, process, location, expr.span),
        }
    }

    fn place_at(&mut self, var: Var<Expr>, indices: &[hir::Expr], span: Span) -> Result<Place> {
        let (var, process) = match var {
            Var::Shared(shared) => (self.layout.shared(shared), None),
            Var::Own(local) => (self.own_local(local, span)?, Some(Expr::Own)),
            Var::Of(template, process, local) => {
                (self.layout.local(template, local), Some(process))
            }
        };
        let offset = self.offset(var, indices)?;
        Ok(Place {
            var,
            process,
            offset,
        })
    }

    fn read(&mut self, place: Place, span: Span) -> Result<Expr> {
        let writes = std::mem::take(&mut self.path.frame.writes);
        let value = self.read_after(&writes, place, span);
        self.path.frame.writes = writes;
        value
    }

    fn fold(&mut self, fold: Fold) -> Result<Expr> {
        let (kind, span) = (fold.kind, fold.span);
        let (lo, hi) = self.bounds_of(fold.domain, span)?;
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
        let (value, checks) = self.apart(|this| this.body(fold, Expr::Bound(bound)))?;
        let Some(template) = self.layout.dynamic(fold.domain) else {
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
                let (first, _) = self.apart(|this| this.body(fold, Expr::Const(0)))?;
                build::ite(started, value, first)
            }
        };
        Ok(build::fold(kind, bound, lo, hi, value))
    }

    fn connective(&mut self, parts: &[hir::Expr], conjunction: bool) -> Result<Expr> {
        let mut done = build::boolean(conjunction);
        if self.own.is_some() {
            for part in parts {
                done = self.further(done, part, conjunction)?;
            }
            return Ok(done);
        }
        let mut each = Vec::new();
        for part in parts {
            let (value, checks) = self.apart(|this| this.truth(part))?;
            let holds = build::and(checks.into_iter().map(|check| check.holds));
            each.push((value, holds, part.span));
        }
        let Some((value, holds, span)) = self.together(each, conjunction)? else {
            return Ok(done);
        };
        self.check(holds, CheckKind::Index, span);
        Ok(value)
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
