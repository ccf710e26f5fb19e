//! Paths of an instance become steps: guards, checks and choices in the order of the path, and what is written.
//!
//! A path that does not exist from some point on makes no move, but its checks before that count, so it is kept as a step that cannot be taken.

use index_vec::IndexVec;
use threadwise_lang::program::{
    self as hir, ArithOp, CompareOp, Domain, LocalId, LocationId, Span, TemplateId,
};

use super::expr::{Refusal, Translator, same_cell};
use super::{Layout, MAX_PATHS};
use crate::build;
use crate::execute::{self, Evaluate, Execute, Form};
use crate::system::{CellDomain, Check, Clause, Expr, Place, Step, Update, VarId};

type Result<T> = std::result::Result<T, Refusal>;
/// A path that is executed.
pub(super) type Path = execute::Path<Expr, (Place, Expr), Trail>;

/// The steps of a template from each of its locations.
pub(super) fn steps(
    layout: &Layout,
    template: TemplateId,
    budget: &mut u64,
) -> std::result::Result<IndexVec<LocationId, Vec<Step>>, Vec<Refusal>> {
    let body = &layout.program.templates[template];
    let flow = execute::flow(layout.program, template);
    let mut steps = index_vec::index_vec![Vec::new(); body.locations.len()];
    let mut refusals = Vec::new();
    for location in body.locations.indices() {
        let mut translator = Translator::new(layout, Some(template), *budget);
        match execute::follow(&mut translator, &flow, location) {
            Ok(()) => {
                *budget = translator.budget;
                steps[location] = translator.steps;
            }
            // What was spent comes back, so that every label that is too large gets its message.
            Err(refusal) => refusals.push(refusal),
        }
    }
    if refusals.is_empty() {
        Ok(steps)
    } else {
        Err(refusals)
    }
}

/// What must hold for a path, and what it chooses.
#[derive(Clone, Default)]
pub(super) struct Trail {
    clauses: Vec<Clause>,
    choices: Vec<(i64, i64)>,
    /// Nodes of the clauses and writes, for the price of a copy.
    size: usize,
}

impl Trail {
    fn clause(&mut self, clause: Clause) {
        self.size += match &clause {
            Clause::Guard(holds) | Clause::Check(Check { holds, .. }) => holds.size().nodes,
        };
        self.clauses.push(clause);
    }

    fn choice(&mut self, lo: i64, hi: i64) -> Expr {
        self.choices.push((lo, hi));
        Expr::Choice(self.choices.len() as u32 - 1)
    }
}

impl Execute for Translator<'_> {
    type Trail = Trail;
    const OTHERWISE_FIRST: bool = false;

    fn path(&mut self) -> &mut Path {
        &mut self.path
    }

    fn goes_on(&mut self, pending: usize) -> Result<bool> {
        if self.steps.len() + pending >= MAX_PATHS {
            return Err(Refusal::TooManyPaths(self.path.span));
        }
        self.spend(1, self.path.span)?;
        Ok(true)
    }

    fn fork(&mut self) -> Result<Path> {
        self.spend(self.path.trail.size, self.path.span)?;
        Ok(self.path.clone())
    }

    fn assume(&mut self, condition: Expr) -> bool {
        if let Expr::Const(value) = condition {
            return value != 0;
        }
        self.path.trail.clause(Clause::Guard(condition));
        true
    }

    fn require(&mut self, check: Check) -> Result<()> {
        self.path.trail.clause(Clause::Check(check));
        Ok(())
    }

    fn arrive(&mut self, to: LocationId) -> Result<()> {
        self.emit(to, false);
        Ok(())
    }

    fn rest(&mut self) -> Result<()> {
        let path = self.fork()?;
        self.path.frame = Default::default();
        self.emit(path.from, true);
        self.path = path;
        Ok(())
    }

    fn end(&mut self) {
        let Trail { clauses, .. } = &mut self.path.trail;
        if clauses.iter().any(|c| matches!(c, Clause::Check(_))) {
            clauses.push(Clause::Guard(build::FALSE));
            self.emit(self.path.from, false);
        }
    }

    fn bounds(&mut self, domain: &Domain, span: Span) -> Result<(Expr, Expr)> {
        let (lo, hi) = self.numbers(domain, span)?;
        Ok((Expr::Const(lo), Expr::Const(hi)))
    }

    fn numbers(&mut self, domain: &Domain, _: Span) -> Result<(i64, i64)> {
        if self.layout.dynamic(domain).is_some() {
            return Err(Refusal::Growing(self.path.span));
        }
        self.bounds_of(domain, self.path.span)
    }

    fn choose(&mut self, least: Expr, greatest: Expr) -> Option<Expr> {
        let (lo, hi) = (build::constant(&least)?, build::constant(&greatest)?);
        (lo <= hi).then(|| self.path.trail.choice(lo, hi))
    }

    fn any(&mut self, place: &Place, span: Span) -> Result<Expr> {
        self.any_value(place.var, span)
    }

    fn different(&mut self, [a, b]: [&Place; 2], span: Span) -> Result<Expr> {
        if a.var != b.var {
            return Ok(build::TRUE);
        }
        if let Some(same) = same_cell(a, b) {
            return Ok(build::boolean(!same));
        }
        let (a, b) = (self.copy_offset(a, span)?, self.copy_offset(b, span)?);
        Ok(build::compare(CompareOp::Ne, a, b))
    }

    fn fits(&mut self, place: &Place, value: &Expr) -> Result<Expr> {
        self.fits_in(place.var, value)
    }

    fn holder(&self) -> Expr {
        Expr::OwnProcess
    }

    /// An older write of the very same place no longer counts.
    fn write(&mut self, place: Place, value: Expr, _: Span) -> Result<()> {
        self.path.trail.size += value.size().nodes + 1;
        let writes = &mut self.path.frame.writes;
        writes.retain(|(older, _)| *older != place);
        writes.push((place, value));
        Ok(())
    }

    fn write_where(
        &mut self,
        condition: Expr,
        writes: Vec<(Place, Expr)>,
        span: Span,
    ) -> Result<()> {
        let mut merged = Vec::with_capacity(writes.len());
        for (place, value) in writes {
            let Some(place) = self.where_it_exists(place, &condition, span)? else {
                continue;
            };
            let kept = self.read(place.clone(), span)?;
            let condition = self.copy(&condition, span)?;
            merged.push((place, build::ite(condition, value, kept)));
        }
        for (place, value) in merged {
            self.admit(&value, span)?;
            self.write(place, value, span)?;
        }
        Ok(())
    }

    fn parameters(&self, template: TemplateId) -> Vec<LocalId> {
        let template = &self.layout.program.templates[template];
        template.parameters().map(|(local, _)| local).collect()
    }

    fn argument_fits(&mut self, parameter: (TemplateId, LocalId), value: &Expr) -> Result<Expr> {
        self.fits_in(self.layout.local(parameter.0, parameter.1), value)
    }

    /// Starts a process. Its cells hold their initial values already, but for those that are given or begin with any value.
    fn start(
        &mut self,
        template: TemplateId,
        given: Vec<(LocalId, Expr)>,
        span: Span,
    ) -> Result<()> {
        let layout = self.layout;
        self.path.frame.starts.push(template);
        for (local, value) in given {
            let place = Place {
                var: layout.local(template, local),
                process: Some(self.newest(template, span)?),
                offset: None,
            };
            self.write(place, value, span)?;
        }
        for (local, var) in layout.program.templates[template].locals.iter_enumerated() {
            if !matches!(var.initial, hir::Initial::Any) {
                continue;
            }
            let var = layout.local(template, local);
            let dims = &layout.vars[var].dims;
            for offset in 0..layout.vars[var].len {
                let value = self.any_value(var, span)?;
                let index = self.newest(template, span)?;
                let place = Place {
                    var,
                    process: Some(index),
                    offset: (!dims.is_empty()).then_some(Expr::Const(i64::from(offset))),
                };
                self.write(place, value, span)?;
            }
        }
        Ok(())
    }
}

impl Translator<'_> {
    fn fits_in(&mut self, var: VarId, value: &Expr) -> Result<Expr> {
        let CellDomain::Range(lo, hi) = self.layout.vars[var].domain else {
            return Ok(build::TRUE);
        };
        let copy = self.copy(value, self.path.span)?;
        Ok(build::within(copy, lo, hi))
    }

    /// A place that is a cell if a condition holds, because a check says so there, as one that is a cell in any case; nothing if it never is.
    fn where_it_exists(
        &mut self,
        place: Place,
        condition: &Expr,
        span: Span,
    ) -> Result<Option<Place>> {
        let Some(offset) = &place.offset else {
            return Ok(Some(place));
        };
        let last = i64::from(self.layout.vars[place.var].len) - 1;
        let reach = self.reach(offset);
        if reach.is_some_and(|(lo, hi)| 0 <= lo && hi <= last) {
            return Ok(Some(place));
        }
        if last < 0 || reach.is_some_and(|(lo, hi)| hi < 0 || last < lo) {
            return Ok(None);
        }
        let offset = self.copy(offset, span)?;
        let condition = self.copy(condition, span)?;
        let offset = Some(build::ite(condition, offset, Expr::Const(0)));
        Ok(Some(Place { offset, ..place }))
    }

    /// The least and the greatest value that an offset can have, if types say.
    fn reach(&self, offset: &Expr) -> Option<(i64, i64)> {
        match offset {
            Expr::Const(value) => Some((*value, *value)),
            Expr::Own => {
                let own = &self.layout.templates[self.own?];
                Some((0, i64::from(own.count) - 1))
            }
            Expr::Choice(choice) => self.path.trail.choices.get(*choice as usize).copied(),
            Expr::Load(place) => self.layout.values(self.layout.vars[place.var].domain),
            Expr::Ite(_, yes, no) => {
                let ((a, b), (c, d)) = (self.reach(yes)?, self.reach(no)?);
                Some((a.min(c), b.max(d)))
            }
            Expr::Arith(op, a, b) => {
                let ((a, b), (c, d)) = (self.reach(a)?, self.reach(b)?);
                match op {
                    ArithOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
                    ArithOp::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
                    // Sizes are not negative.
                    ArithOp::Mul if c == d && c >= 0 => {
                        Some((a.checked_mul(c)?, b.checked_mul(c)?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The path becomes a step.
    fn emit(&mut self, to: LocationId, rest: bool) {
        let path = std::mem::take(&mut self.path);
        let updates = path.frame.writes.into_iter();
        self.steps.push(Step {
            from: path.from,
            to,
            rest,
            choices: path.trail.choices,
            clauses: path.trail.clauses,
            updates: updates
                .map(|(cell, value)| Update { cell, value })
                .collect(),
            starts: path.frame.starts,
            span: path.span,
        });
    }

    /// Any value of a variable's type.
    fn any_value(&mut self, var: VarId, span: Span) -> Result<Expr> {
        let domain = self.layout.vars[var].domain;
        let Some((lo, hi)) = self.layout.values(domain) else {
            return Err(Refusal::Infinite(span));
        };
        Ok(self.path.trail.choice(lo, hi))
    }

    /// The index of the process that was started last.
    fn newest(&mut self, template: TemplateId, span: Span) -> Result<Expr> {
        // Not one of the translator's: the expression is nowhere inside another quantifier.
        let bound = u32::MAX;
        let started = self.started(template, Expr::Bound(bound), span)?;
        let last = i64::from(self.layout.templates[template].count) - 1;
        let count = build::fold(hir::FoldKind::Count, bound, 0, last, started);
        let starts = self.path.frame.starts.iter();
        let new = starts.filter(|t| **t == template).count() as i64;
        Ok(build::arith(ArithOp::Add, count, Expr::Const(new - 1)))
    }
}
