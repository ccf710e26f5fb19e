//! The paths from a label to the next, executed symbolically.
//!
//! A path carries its clauses in order, its choices, and what it has written. At a branch it
//! divides; at a label it ends and becomes a step. A path on which an `await` is constantly false ends
//! there: it makes no move, but its checks before that count, so it is kept as a step that cannot be taken.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use threadwise_lang::program::{
    self as hir, ArithOp, BoundId, CompareOp, Domain, LocalId, LocationId, Span, Stmt, StmtKind,
    TemplateId,
};

use super::expr::{Frame, Refusal, Translator, same_cell};
use super::flow::{self, Flow, Node, NodeId};
use super::{Layout, MAX_PATHS};
use crate::build;
use crate::system::{CellDomain, Check, CheckKind, Clause, Expr, Place, Step, Update, VarId};

type Result<T> = std::result::Result<T, Refusal>;

/// The steps of a template from each of its locations.
pub(super) fn steps(
    layout: &Layout,
    template: TemplateId,
    budget: &mut u64,
) -> std::result::Result<IndexVec<LocationId, Vec<Step>>, Vec<Refusal>> {
    let body = &layout.program.templates[template];
    let flow = flow::flow(body);
    let mut steps = index_vec::index_vec![Vec::new(); body.locations.len()];
    let mut refusals = Vec::new();
    for (location, start) in flow.starts.iter_enumerated() {
        let Some((node, span)) = *start else { continue };
        let mut walk = Walk {
            flow: &flow,
            from: location,
            span,
            translator: Translator::new(layout, Some(template), *budget),
            pending: vec![Path::new(node)],
            steps: Vec::new(),
        };
        match walk.run() {
            Ok(()) => {
                *budget = walk.translator.budget;
                steps[location] = walk.steps;
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

/// A path as far as it goes.
#[derive(Clone)]
struct Path {
    node: NodeId,
    frame: Frame,
    clauses: Vec<Clause>,
    choices: Vec<(i64, i64)>,
    /// How often each labelled `for` went round since the path or the loop began.
    rounds: BTreeMap<LocalId, i64>,
    /// Nodes of the clauses and writes, for the price of a copy.
    size: usize,
}

impl Path {
    fn new(node: NodeId) -> Path {
        Path {
            node,
            frame: Frame::default(),
            clauses: Vec::new(),
            choices: Vec::new(),
            rounds: BTreeMap::new(),
            size: 0,
        }
    }

    fn write(&mut self, place: Place, value: Expr) {
        self.size += build::measure(&value).0 + 1;
        self.frame.write(place, value);
    }
}

struct Walk<'a> {
    flow: &'a Flow<'a>,
    from: LocationId,
    span: Span,
    translator: Translator<'a>,
    /// Paths to go on with, the next one last.
    pending: Vec<Path>,
    steps: Vec<Step>,
}

impl<'a> Walk<'a> {
    fn run(&mut self) -> Result<()> {
        while let Some(path) = self.pending.pop() {
            if self.steps.len() + self.pending.len() >= MAX_PATHS {
                return Err(Refusal::TooManyPaths(self.span));
            }
            self.follow(path)?;
        }
        Ok(())
    }

    /// Executes one node, and lists how the path goes on.
    fn follow(&mut self, mut path: Path) -> Result<()> {
        let flow = self.flow;
        self.translator.spend(1, self.span)?;
        match &flow.nodes[path.node] {
            Node::Label(label) => {
                self.emit(path, *label, false);
                Ok(())
            }
            Node::Stay(next) => {
                let mut rest = self.fork(&path)?;
                rest.frame = Frame::default();
                let from = self.from;
                self.emit(rest, from, true);
                self.go(path, *next)
            }
            Node::Do(stmt, next) => self.statement(path, stmt, *next),
            Node::Fork(targets) => {
                for target in targets.iter().rev() {
                    let mut branch = self.fork(&path)?;
                    branch.node = *target;
                    self.pending.push(branch);
                }
                Ok(())
            }
            Node::Branch(branches, targets, otherwise) => {
                // One condition after the other; the path goes on where none holds.
                let mut taken = Vec::new();
                for ((condition, _), target) in branches.iter().zip(targets) {
                    let condition_value = self.expr(&mut path, condition)?;
                    let mut branch = self.fork(&path)?;
                    branch.node = *target;
                    let copy = self.translator.copy(&condition_value, condition.span)?;
                    if guard(&mut branch, copy) {
                        taken.push(branch);
                    }
                    if !guard(&mut path, build::not(condition_value)) {
                        self.pending.extend(taken.into_iter().rev());
                        return Ok(());
                    }
                }
                self.go(path, *otherwise)?;
                self.pending.extend(taken.into_iter().rev());
                Ok(())
            }
            Node::Test(condition, inside, past) => {
                let condition = self.expr(&mut path, condition)?;
                self.divide(path, condition, *inside, *past)
            }
            Node::Pick(bound, domain, next) => {
                let (lo, hi) = self.bounds(domain)?;
                if lo > hi {
                    self.end(path);
                    return Ok(());
                }
                let choice = choice(&mut path, lo, hi);
                path.frame.bindings.insert(*bound, choice);
                self.go(path, *next)
            }
            Node::ForEnter(bound, domain, inside, past) => {
                let (lo, _) = self.bounds(domain)?;
                self.for_value(path, *bound, domain, lo, *inside, *past)
            }
            Node::ForNext(bound, domain, inside, past) => {
                let value = path.frame.bindings.get(bound).and_then(build::constant);
                // The next value, unless there is none beyond the greatest number.
                match value.and_then(|value| value.checked_add(1)) {
                    Some(next) => self.for_value(path, *bound, domain, next, *inside, *past),
                    None => self.go(path, *past),
                }
            }
            Node::CounterEnter(local, domain, inside, past) => {
                let (lo, hi) = self.bounds(domain)?;
                if lo > hi {
                    return self.go(path, *past);
                }
                path.rounds.remove(local);
                self.set_counter(&mut path, *local, Expr::Const(lo))?;
                self.go(path, *inside)
            }
            Node::CounterNext(local, domain, inside, past) => {
                let (lo, hi) = self.bounds(domain)?;
                // The counter began at the lower bound or above it. A round without a label would
                // otherwise be followed by another for ever, since its value is not known here.
                let rounds = path.rounds.entry(*local).or_default();
                *rounds += 1;
                if lo.saturating_add(*rounds) > hi {
                    return self.go(path, *past);
                }
                let place = self.counter(*local)?;
                let value = self.translator.read(&path.frame, place, self.span)?;
                let more = build::compare(CompareOp::Lt, self.copy(&value)?, Expr::Const(hi));
                let next = build::arith(ArithOp::Add, value, Expr::Const(1));
                let mut within = self.fork(&path)?;
                self.set_counter(&mut within, *local, next)?;
                self.divide_into(within, path, more, *inside, *past)
            }
            Node::CounterReset(local, domain, next) => {
                let (lo, _) = self.bounds(domain)?;
                self.set_counter(&mut path, *local, Expr::Const(lo))?;
                self.go(path, *next)
            }
        }
    }

    /// The least and the greatest value of a domain in program text.
    fn bounds(&self, domain: &Domain) -> Result<(i64, i64)> {
        if self.translator.layout.dynamic(domain).is_some() {
            return Err(Refusal::Growing(self.span));
        }
        self.translator.bounds(domain, self.span)
    }

    fn copy(&mut self, expr: &Expr) -> Result<Expr> {
        self.translator.copy(expr, self.span)
    }

    fn fork(&mut self, path: &Path) -> Result<Path> {
        self.translator.spend(path.size, self.span)?;
        Ok(path.clone())
    }

    fn go(&mut self, mut path: Path, node: NodeId) -> Result<()> {
        path.node = node;
        self.pending.push(path);
        Ok(())
    }

    /// Into one node where the condition holds, into the other where it does not.
    fn divide(&mut self, path: Path, condition: Expr, yes: NodeId, no: NodeId) -> Result<()> {
        let within = self.fork(&path)?;
        self.divide_into(within, path, condition, yes, no)
    }

    fn divide_into(
        &mut self,
        mut yes_path: Path,
        mut no_path: Path,
        condition: Expr,
        yes: NodeId,
        no: NodeId,
    ) -> Result<()> {
        let copy = self.copy(&condition)?;
        if guard(&mut no_path, build::not(copy)) {
            self.go(no_path, no)?;
        }
        if guard(&mut yes_path, condition) {
            self.go(yes_path, yes)?;
        }
        Ok(())
    }

    /// An unlabelled `for` with this value, if there is such a value.
    fn for_value(
        &mut self,
        mut path: Path,
        bound: BoundId,
        domain: &Domain,
        value: i64,
        inside: NodeId,
        past: NodeId,
    ) -> Result<()> {
        let (_, hi) = self.bounds(domain)?;
        if value > hi {
            return self.go(path, past);
        }
        path.frame.bindings.insert(bound, Expr::Const(value));
        self.go(path, inside)
    }

    fn counter(&self, local: LocalId) -> Result<Place> {
        Ok(Place {
            var: self.translator.own_local(local, self.span)?,
            process: Some(Expr::Own),
            offset: None,
        })
    }

    fn set_counter(&mut self, path: &mut Path, local: LocalId, value: Expr) -> Result<()> {
        let place = self.counter(local)?;
        path.write(place, value);
        Ok(())
    }

    /// The value of an expression; what it must check is added to the path.
    fn expr(&mut self, path: &mut Path, expr: &hir::Expr) -> Result<Expr> {
        let value = self.translator.expr(&mut path.frame, expr)?;
        self.take_checks(path);
        Ok(value)
    }

    fn place(&mut self, path: &mut Path, place: &hir::Place) -> Result<Place> {
        let place = self.translator.place(&mut path.frame, place)?;
        self.take_checks(path);
        Ok(place)
    }

    fn take_checks(&mut self, path: &mut Path) {
        for check in std::mem::take(&mut self.translator.checks) {
            path.size += build::measure(&check.holds).0;
            path.clauses.push(Clause::Check(check));
        }
    }

    fn check(&mut self, path: &mut Path, holds: Expr, kind: CheckKind, span: Span) {
        if holds != build::TRUE {
            path.size += build::measure(&holds).0;
            path.clauses
                .push(Clause::Check(Check { holds, kind, span }));
        }
    }

    fn emit(&mut self, path: Path, to: LocationId, rest: bool) {
        self.steps.push(Step {
            from: self.from,
            to,
            rest,
            choices: path.choices,
            clauses: path.clauses,
            updates: path
                .frame
                .writes
                .into_iter()
                .map(|(cell, value)| Update { cell, value })
                .collect(),
            starts: path.frame.starts,
            span: self.span,
        });
    }

    /// Ends a path that does not exist from here on.
    fn end(&mut self, mut path: Path) {
        if path.clauses.iter().any(|c| matches!(c, Clause::Check(_))) {
            path.clauses.push(Clause::Guard(build::FALSE));
            let from = self.from;
            self.emit(path, from, false);
        }
    }

    fn wait(&mut self, mut path: Path, condition: Expr, next: NodeId) -> Result<()> {
        if condition == build::FALSE {
            self.end(path);
            return Ok(());
        }
        guard(&mut path, condition);
        self.go(path, next)
    }

    fn statement(&mut self, mut path: Path, stmt: &Stmt, next: NodeId) -> Result<()> {
        match &stmt.kind {
            StmtKind::Assign(places, values) => {
                let mut cells = Vec::new();
                for place in places {
                    cells.push(self.place(&mut path, place)?);
                }
                let mut results = Vec::new();
                for value in values {
                    results.push((self.expr(&mut path, value)?, value.span));
                }
                self.assign(&mut path, cells, results, stmt.span)?;
                self.go(path, next)
            }
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => {
                let cell = self.place(&mut path, place)?;
                let current = self
                    .translator
                    .read(&path.frame, cell.clone(), place.span)?;
                let expected = self.expr(&mut path, old)?;
                let equal = build::eq(current, expected);
                let mut yes = self.fork(&path)?;
                let mut no = path;
                let copy = self.copy(&equal)?;
                let (yes_exists, no_exists) =
                    (guard(&mut yes, equal), guard(&mut no, build::not(copy)));
                if no_exists {
                    if let Some(result) = result {
                        let target = self.place(&mut no, result)?;
                        let value = (build::FALSE, stmt.span);
                        self.assign(&mut no, vec![target], vec![value], stmt.span)?;
                    }
                    self.go(no, next)?;
                }
                if yes_exists {
                    let mut cells = vec![cell];
                    if let Some(result) = result {
                        cells.push(self.place(&mut yes, result)?);
                    }
                    let mut values = vec![(self.expr(&mut yes, new)?, new.span)];
                    if result.is_some() {
                        values.push((build::TRUE, stmt.span));
                    }
                    self.assign(&mut yes, cells, values, stmt.span)?;
                    self.go(yes, next)?;
                }
                Ok(())
            }
            StmtKind::Swap {
                result,
                place,
                value,
            } => {
                self.exchange(
                    &mut path,
                    result.as_ref(),
                    place,
                    stmt.span,
                    |this, path, _| Ok((this.expr(path, value)?, value.span)),
                )?;
                self.go(path, next)
            }
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => {
                let span = stmt.span;
                self.exchange(
                    &mut path,
                    result.as_ref(),
                    place,
                    span,
                    |this, path, old| {
                        let amount = this.expr(path, amount)?;
                        Ok((build::arith(ArithOp::Add, old, amount), span))
                    },
                )?;
                self.go(path, next)
            }
            StmtKind::Await(condition) => {
                let condition = self.expr(&mut path, condition)?;
                self.wait(path, condition, next)
            }
            StmtKind::Assert(condition) => {
                let holds = self.expr(&mut path, condition)?;
                self.check(&mut path, holds, CheckKind::Assert, stmt.span);
                self.go(path, next)
            }
            StmtKind::Havoc(places) => {
                for place in places {
                    let cell = self.place(&mut path, place)?;
                    let value = self.any_value(&mut path, cell.var, place.span)?;
                    path.write(cell, value);
                }
                self.go(path, next)
            }
            StmtKind::Lock(place) => {
                let cell = self.place(&mut path, place)?;
                let holder = self
                    .translator
                    .read(&path.frame, cell.clone(), place.span)?;
                let free = build::eq(holder, Expr::Const(-1));
                if free == build::FALSE {
                    self.end(path);
                    return Ok(());
                }
                guard(&mut path, free);
                path.write(cell, Expr::OwnProcess);
                self.go(path, next)
            }
            StmtKind::Unlock(place) => {
                let cell = self.place(&mut path, place)?;
                let holder = self
                    .translator
                    .read(&path.frame, cell.clone(), place.span)?;
                let holds = build::eq(holder, Expr::OwnProcess);
                self.check(&mut path, holds, CheckKind::Unlock, stmt.span);
                path.write(cell, Expr::Const(-1));
                self.go(path, next)
            }
            StmtKind::Start(template) => {
                self.start(&mut path, *template, stmt.span)?;
                self.go(path, next)
            }
            // The rest is control flow, which the graph has resolved.
            _ => self.go(path, next),
        }
    }

    /// `result, place := place, value`, where the value may use the old one.
    fn exchange(
        &mut self,
        path: &mut Path,
        result: Option<&hir::Place>,
        place: &hir::Place,
        span: Span,
        value: impl FnOnce(&mut Self, &mut Path, Expr) -> Result<(Expr, Span)>,
    ) -> Result<()> {
        let mut cells = Vec::new();
        if let Some(result) = result {
            cells.push(self.place(path, result)?);
        }
        let cell = self.place(path, place)?;
        let old = self
            .translator
            .read(&path.frame, cell.clone(), place.span)?;
        cells.push(cell);
        let mut values = Vec::new();
        if result.is_some() {
            values.push((self.copy(&old)?, span));
        }
        values.push(value(self, path, old)?);
        self.assign(path, cells, values, span)
    }

    /// Writes values that are evaluated already: no cell twice, every value in its type.
    fn assign(
        &mut self,
        path: &mut Path,
        cells: Vec<Place>,
        values: Vec<(Expr, Span)>,
        span: Span,
    ) -> Result<()> {
        for (later, cell) in cells.iter().enumerate() {
            for earlier in &cells[..later] {
                if earlier.var != cell.var {
                    continue;
                }
                let holds = match same_cell(earlier, cell) {
                    Some(same) => build::boolean(!same),
                    None => {
                        let a = earlier.offset.clone().unwrap_or(Expr::Const(0));
                        let b = cell.offset.clone().unwrap_or(Expr::Const(0));
                        self.translator
                            .spend(build::measure(&a).0 + build::measure(&b).0, span)?;
                        build::compare(CompareOp::Ne, a, b)
                    }
                };
                self.check(path, holds, CheckKind::SameCell, span);
            }
        }
        for (cell, (value, value_span)) in cells.into_iter().zip(values) {
            if let CellDomain::Range(lo, hi) = self.translator.layout.vars[cell.var].domain {
                let copy = self.copy(&value)?;
                self.check(
                    path,
                    build::within(copy, lo, hi),
                    CheckKind::Range,
                    value_span,
                );
            }
            path.write(cell, value);
        }
        Ok(())
    }

    /// Any value of a variable's type.
    fn any_value(&mut self, path: &mut Path, var: VarId, span: Span) -> Result<Expr> {
        let layout = self.translator.layout;
        let domain = layout.vars[var].domain;
        let Some((lo, hi)) = layout.values(domain) else {
            return Err(Refusal::Infinite(span));
        };
        Ok(choice(path, lo, hi))
    }

    /// Starts a process. Its cells hold their initial values already, but for those that begin with any value.
    fn start(&mut self, path: &mut Path, template: TemplateId, span: Span) -> Result<()> {
        let layout = self.translator.layout;
        path.frame.starts.push(template);
        for (local, var) in layout.program.templates[template].locals.iter_enumerated() {
            if !matches!(var.initial, hir::Initial::Any) {
                continue;
            }
            let var = layout.local(template, local);
            let dims = &layout.vars[var].dims;
            for offset in 0..layout.vars[var].len {
                let value = self.any_value(path, var, span)?;
                let index = self.newest(path, template, span)?;
                let place = Place {
                    var,
                    process: Some(index),
                    offset: (!dims.is_empty()).then_some(Expr::Const(i64::from(offset))),
                };
                path.write(place, value);
            }
        }
        Ok(())
    }

    /// The index of the process that was started last.
    fn newest(&mut self, path: &Path, template: TemplateId, span: Span) -> Result<Expr> {
        let layout = self.translator.layout;
        // Not one of the translator's: the expression is nowhere inside another quantifier.
        let bound = u32::MAX;
        let started = self
            .translator
            .started(template, Expr::Bound(bound), span)?;
        let last = i64::from(layout.templates[template].count) - 1;
        let count = build::fold(hir::FoldKind::Count, bound, 0, last, started);
        let new = path.frame.starts.iter().filter(|t| **t == template).count() as i64;
        Ok(build::arith(ArithOp::Add, count, Expr::Const(new - 1)))
    }
}

/// Adds a guard; false if the path cannot be taken.
fn guard(path: &mut Path, condition: Expr) -> bool {
    match condition {
        Expr::Const(value) => value != 0,
        condition => {
            path.size += build::measure(&condition).0;
            path.clauses.push(Clause::Guard(condition));
            true
        }
    }
}

fn choice(path: &mut Path, lo: i64, hi: i64) -> Expr {
    path.choices.push((lo, hi));
    Expr::Choice(path.choices.len() as u32 - 1)
}
