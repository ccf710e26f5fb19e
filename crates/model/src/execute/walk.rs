//! The paths from a label to the next, executed symbolically.
//!
//! A path carries what it has written and, in its trail, what must hold for it to exist. At a branch it divides; at a label it ends. A path on which an `await` can
//! never be passed ends there: it makes no move, but its checks before that count.

use std::collections::BTreeMap;

use threadwise_lang::program::{
    self as hir, ArithOp, BoundId, CompareOp, Domain, Expr, LocalId, LocationId, Span, Stmt,
    StmtKind, TemplateId,
};

use super::expression::{Evaluate, Var};
use super::flow::{Flow, Node, NodeId};
use super::{Frame, Truth, Value};
use crate::state::FREE;
use crate::system::{Check, CheckKind};

type Result<D, T> = std::result::Result<T, <D as Evaluate>::Refusal>;
/// A path of a way to execute.
pub(crate) type PathOf<D> =
    Path<<D as Evaluate>::Value, <D as Evaluate>::Write, <D as Execute>::Trail>;

/// A path as far as it goes.
#[derive(Clone)]
pub(crate) struct Path<V: Value, W, T> {
    /// The label where it begins.
    pub(crate) from: LocationId,
    /// The statement there.
    pub(crate) span: Span,
    /// What it has done.
    pub(crate) frame: Frame<V, W>,
    /// What must hold for it, and what it chooses.
    pub(crate) trail: T,
    node: NodeId,
    /// How often each labelled `for` went round since the path or the loop began.
    rounds: BTreeMap<LocalId, i64>,
}

impl<V: Value, W, T: Default> Path<V, W, T> {
    fn new(from: LocationId, span: Span, node: NodeId) -> Self {
        Path {
            from,
            span,
            frame: Frame::default(),
            trail: T::default(),
            node,
            rounds: BTreeMap::new(),
        }
    }
}

impl<V: Value, W, T: Default> Default for Path<V, W, T> {
    fn default() -> Self {
        Path::new(LocationId::new(0), Span::default(), NodeId::new(0))
    }
}

/// What becomes of paths. One of them is the current one, of which all functions here speak.
pub(crate) trait Execute: Evaluate {
    /// What must hold for a path, and what it chooses.
    type Trail: Clone + Default;
    /// Whether the way past an `if` of which no condition holds is listed before the others.
    const OTHERWISE_FIRST: bool;

    /// The path.
    fn path(&mut self) -> &mut PathOf<Self>;
    /// Whether the path can go on, beside so many that are still to follow. Refuses too many, and too much work.
    fn goes_on(&mut self, pending: usize) -> Result<Self, bool>;
    /// A copy of the path, paid for.
    fn fork(&mut self) -> Result<Self, PathOf<Self>>;
    /// The path exists only if this holds; false if it never does.
    fn assume(&mut self, condition: Self::Truth) -> bool;
    /// The path fails unless this holds.
    fn require(&mut self, check: Check<Self::Truth>) -> Result<Self, ()>;
    /// The path ends at a label.
    fn arrive(&mut self, to: LocationId) -> Result<Self, ()>;
    /// The process rests where it is.
    fn rest(&mut self) -> Result<Self, ()>;
    /// The path does not exist from here on.
    fn end(&mut self);
    /// The least and the greatest value of a domain of the text.
    fn bounds(&mut self, domain: &Domain, span: Span) -> Result<Self, (Self::Value, Self::Value)>;
    /// The same as numbers, where every value is gone through.
    fn numbers(&mut self, domain: &Domain, span: Span) -> Result<Self, (i64, i64)>;
    /// Any value from the first to the second; none if there is none.
    fn choose(&mut self, least: Self::Value, greatest: Self::Value) -> Option<Self::Value>;
    /// Any value of the type of a place's variable.
    fn any(&mut self, place: &Self::Place, span: Span) -> Result<Self, Self::Value>;
    /// Two places are different cells.
    fn different(&mut self, places: [&Self::Place; 2], span: Span) -> Result<Self, Self::Truth>;
    /// A value lies in the type of a place's variable.
    fn fits(&mut self, place: &Self::Place, value: &Self::Value) -> Result<Self, Self::Truth>;
    /// What a mutex holds that the process has locked.
    fn holder(&self) -> Self::Value;
    /// A value is written.
    fn write(&mut self, place: Self::Place, value: Self::Value, span: Span) -> Result<Self, ()>;
    /// What was written as if a condition held counts only where it does: elsewhere these cells keep what they hold now.
    fn write_where(
        &mut self,
        condition: Self::Truth,
        writes: Vec<Self::Write>,
        span: Span,
    ) -> Result<Self, ()>;
    /// The parameters of a template.
    fn parameters(&self, template: TemplateId) -> Vec<LocalId>;
    /// A value lies in the type of a parameter.
    fn argument_fits(
        &mut self,
        parameter: (TemplateId, LocalId),
        value: &Self::Value,
    ) -> Result<Self, Self::Truth>;
    /// A process is started, with values for its parameters.
    fn start(
        &mut self,
        template: TemplateId,
        given: Vec<(LocalId, Self::Value)>,
        span: Span,
    ) -> Result<Self, ()>;
    /// What stands for each process of a template, if what is done for all of them is done once: until `everybody_done`, everything is about each. Otherwise
    /// it is done for one after the other.
    fn everybody(&mut self, _bound: BoundId, _template: TemplateId) -> Option<Self::Value> {
        None
    }
    /// The end of what is done for all processes.
    fn everybody_done(&mut self) {}
}

/// Follows all paths from a label.
pub(crate) fn follow<D: Execute>(domain: &mut D, flow: &Flow, from: LocationId) -> Result<D, ()> {
    let Some((node, span)) = flow.starts[from] else {
        return Ok(());
    };
    let mut walk = Walk {
        flow,
        domain,
        pending: vec![Path::new(from, span, node)],
        given: Truth::constant(true),
    };
    while let Some(path) = walk.pending.pop() {
        *walk.domain.path() = path;
        if walk.domain.goes_on(walk.pending.len())? {
            walk.node(span)?;
        }
    }
    Ok(())
}

pub(super) struct Walk<'w, D: Execute> {
    pub(super) flow: &'w Flow<'w>,
    pub(super) domain: &'w mut D,
    /// Paths to go on with, the next one last.
    pending: Vec<PathOf<D>>,
    /// Where what is done is done, and so checked: the conditions around it in the body of a loop that does not divide the path.
    pub(super) given: D::Truth,
}

/// A value on its way to a place, and what is blamed if it lies outside the type.
type Write<D> = (<D as Evaluate>::Place, <D as Evaluate>::Value, Span);

impl<D: Execute> Walk<'_, D> {
    /// Executes one node, and lists how the path goes on.
    fn node(&mut self, span: Span) -> Result<D, ()> {
        let flow = self.flow;
        match &flow.nodes[self.domain.path().node] {
            Node::Label(label) => self.domain.arrive(*label)?,
            Node::Stay(next) => {
                self.domain.rest()?;
                self.go(*next);
            }
            Node::Do(stmt, next) => self.statement(stmt, *next)?,
            Node::Fork(targets) => {
                for target in targets.iter().rev() {
                    let mut branch = self.domain.fork()?;
                    branch.node = *target;
                    self.pending.push(branch);
                }
            }
            Node::Branch(branches, targets, otherwise) => {
                self.branch(branches, targets, *otherwise)?;
            }
            Node::Test(condition, inside, past) => {
                let condition = self.truth(condition)?;
                if self.divide(condition, *past)? {
                    self.go(*inside);
                }
            }
            Node::Pick(bound, domain, next) => {
                let (lo, hi) = self.domain.bounds(domain, span)?;
                match self.domain.choose(lo, hi) {
                    Some(choice) => {
                        self.domain.frame().bindings.insert(*bound, choice);
                        self.go(*next);
                    }
                    None => self.domain.end(),
                }
            }
            Node::ForEnter(looped, inside, past) => {
                if looped.everybody.is_some() {
                    self.rounds(looped)?;
                    self.go(*past);
                } else {
                    let (lo, hi) = self.domain.numbers(looped.domain, looped.span)?;
                    self.for_value(looped.bound, Some(lo), hi, (*inside, *past));
                }
            }
            Node::ForNext(looped, inside, past) => {
                let (_, hi) = self.domain.numbers(looped.domain, looped.span)?;
                let value = self.domain.frame().bindings.get(&looped.bound);
                // The next value, unless there is none beyond the greatest number.
                let next = value.and_then(|value| value.known()?.checked_add(1));
                self.for_value(looped.bound, next, hi, (*inside, *past));
            }
            Node::CounterEnter(local, domain, inside, past) => {
                let (lo, hi) = self.domain.bounds(domain, span)?;
                let some = Value::compare(CompareOp::Le, lo.clone(), hi);
                if self.divide(some, *past)? {
                    self.domain.path().rounds.remove(local);
                    let counter = self.counter(*local, span)?;
                    self.domain.write(counter, lo, span)?;
                    self.go(*inside);
                }
            }
            Node::CounterNext(local, domain, inside, past) => {
                self.next_round(*local, domain, (*inside, *past), span)?;
            }
            Node::CounterReset(local, domain, next) => {
                let (lo, _) = self.domain.bounds(domain, span)?;
                let counter = self.counter(*local, span)?;
                self.domain.write(counter, lo, span)?;
                self.go(*next);
            }
        }
        Ok(())
    }

    /// The path goes on at a node.
    fn go(&mut self, node: NodeId) {
        let mut path = std::mem::take(self.domain.path());
        path.node = node;
        self.pending.push(path);
    }

    /// One condition after the other; the path goes on where none holds.
    fn branch(
        &mut self,
        branches: &[(Expr, hir::Block)],
        targets: &[NodeId],
        otherwise: NodeId,
    ) -> Result<D, ()> {
        let mut ways = Vec::new();
        let mut open = true;
        for ((condition, _), target) in branches.iter().zip(targets) {
            let holds = self.truth(condition)?;
            let rest = self.domain.fork()?;
            let copy = self.domain.copy(&holds, condition.span)?;
            if self.domain.assume(copy) {
                let mut taken = std::mem::take(self.domain.path());
                taken.node = *target;
                ways.push(taken);
            }
            *self.domain.path() = rest;
            open = self.domain.assume(holds.negated());
            if !open {
                break;
            }
        }
        if open {
            let mut rest = std::mem::take(self.domain.path());
            rest.node = otherwise;
            ways.push(rest);
        }
        if !D::OTHERWISE_FIRST {
            ways.reverse();
        }
        self.pending.extend(ways);
        Ok(())
    }

    /// One path goes on at a node where the condition does not hold; the current one knows that it does, if it can.
    fn divide(&mut self, condition: D::Truth, otherwise: NodeId) -> Result<D, bool> {
        let within = self.domain.fork()?;
        let copy = self.domain.copy(&condition, within.span)?;
        if self.domain.assume(copy.negated()) {
            self.go(otherwise);
        }
        *self.domain.path() = within;
        Ok(self.domain.assume(condition))
    }

    /// An unlabelled `for` with this value, if there is such a value.
    fn for_value(
        &mut self,
        bound: BoundId,
        value: Option<i64>,
        last: i64,
        (inside, past): (NodeId, NodeId),
    ) {
        match value.filter(|value| *value <= last) {
            Some(value) => {
                let bindings = &mut self.domain.frame().bindings;
                bindings.insert(bound, Value::number(value));
                self.go(inside);
            }
            None => self.go(past),
        }
    }

    fn counter(&mut self, local: LocalId, span: Span) -> Result<D, D::Place> {
        self.domain.place_at(Var::Own(local), &[], span)
    }

    /// A labelled `for` goes on with the next value, or ends.
    fn next_round(
        &mut self,
        local: LocalId,
        domain: &Domain,
        (inside, past): (NodeId, NodeId),
        span: Span,
    ) -> Result<D, ()> {
        let (lo, hi) = self.domain.bounds(domain, span)?;
        // The counter began at the lower bound or above it. A round without a label would
        // otherwise be followed by another for ever, since its value is not known here.
        let rounds = self.domain.path().rounds.entry(local).or_default();
        *rounds += 1;
        if let (Some(lo), Some(hi)) = (lo.known(), hi.known())
            && lo.saturating_add(*rounds) > hi
        {
            self.go(past);
            return Ok(());
        }
        let counter = self.counter(local, span)?;
        let value = self.domain.read(counter.clone(), span)?;
        let more = Value::compare(CompareOp::Lt, self.domain.copy(&value, span)?, hi);
        if self.divide(more, past)? {
            let next = Value::arith(ArithOp::Add, value, Value::number(1));
            self.domain.write(counter, next, span)?;
            self.go(inside);
        }
        Ok(())
    }

    /// What was evaluated; what must be checked for it is required of the path.
    fn checked<T>(&mut self, result: Result<D, T>) -> Result<D, T> {
        let result = result?;
        for check in std::mem::take(&mut self.domain.frame().checks) {
            let check = self.where_given(check)?;
            self.domain.require(check)?;
        }
        Ok(result)
    }

    fn value(&mut self, expr: &Expr) -> Result<D, D::Value> {
        let value = self.domain.value(expr);
        self.checked(value)
    }

    pub(super) fn truth(&mut self, expr: &Expr) -> Result<D, D::Truth> {
        let truth = self.domain.truth(expr);
        self.checked(truth)
    }

    fn place(&mut self, place: &hir::Place) -> Result<D, D::Place> {
        let place = self.domain.place(place);
        self.checked(place)
    }

    /// The place that takes the result of a primitive, if there is one.
    fn result(&mut self, result: &Option<hir::Place>) -> Result<D, Option<D::Place>> {
        result.as_ref().map(|place| self.place(place)).transpose()
    }

    /// The place, and what it holds.
    fn current(&mut self, place: &hir::Place) -> Result<D, (D::Place, D::Value)> {
        let cell = self.place(place)?;
        let value = self.domain.read(cell.clone(), place.span)?;
        Ok((cell, value))
    }

    pub(super) fn check(&mut self, holds: D::Truth, kind: CheckKind, span: Span) -> Result<D, ()> {
        self.domain.check(holds, kind, span);
        self.checked(Ok(()))
    }

    /// Executes a statement that does not jump.
    fn statement(&mut self, stmt: &Stmt, next: NodeId) -> Result<D, ()> {
        let span = stmt.span;
        let mut exists = true;
        match &stmt.kind {
            StmtKind::Assign(places, values) => self.assignment(places, values, span)?,
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => return self.compare_and_swap(result, place, (old, new), span, next),
            StmtKind::Swap {
                result,
                place,
                value,
            } => self.exchange(result, place, span, |this, _| {
                Ok((this.value(value)?, value.span))
            })?,
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => self.exchange(result, place, span, |this, old| {
                Ok((Value::arith(ArithOp::Add, old, this.value(amount)?), span))
            })?,
            StmtKind::Await(condition) => {
                let condition = self.truth(condition)?;
                exists = self.domain.assume(condition);
            }
            StmtKind::Assert(condition) => {
                let holds = self.truth(condition)?;
                self.check(holds, CheckKind::Assert, span)?;
            }
            StmtKind::Havoc(places) => {
                for place in places {
                    let cell = self.place(place)?;
                    let value = self.domain.any(&cell, place.span)?;
                    self.domain.write(cell, value, place.span)?;
                }
            }
            StmtKind::Lock(place) => {
                let (cell, holder) = self.current(place)?;
                let free = Value::compare(CompareOp::Eq, holder, Value::number(FREE));
                exists = self.domain.assume(free);
                if exists {
                    let own = self.domain.holder();
                    self.domain.write(cell, own, span)?;
                }
            }
            StmtKind::Unlock(place) => {
                let (cell, holder) = self.current(place)?;
                let holds = Value::compare(CompareOp::Eq, holder, self.domain.holder());
                self.check(holds, CheckKind::Unlock, span)?;
                self.domain.write(cell, Value::number(FREE), span)?;
            }
            StmtKind::Start(template, values) => self.start(*template, values, span)?,
            // The rest is control flow, which the graph has resolved.
            _ => {}
        }
        match exists {
            true => self.go(next),
            false => self.domain.end(),
        }
        Ok(())
    }

    /// `start Child(e, f)`
    fn start(&mut self, template: TemplateId, values: &[Expr], span: Span) -> Result<D, ()> {
        let mut given = Vec::new();
        for (local, value) in self.domain.parameters(template).into_iter().zip(values) {
            given.push((local, self.value(value)?));
        }
        for ((local, value), text) in given.iter().zip(values) {
            let holds = self.domain.argument_fits((template, *local), value)?;
            self.check(holds, CheckKind::Range, text.span)?;
        }
        self.domain.start(template, given, span)
    }

    /// `p, q := e, f`
    pub(super) fn assignment(
        &mut self,
        places: &[hir::Place],
        values: &[Expr],
        span: Span,
    ) -> Result<D, ()> {
        let mut cells = Vec::new();
        for place in places {
            cells.push(self.place(place)?);
        }
        let mut writes = Vec::new();
        for (cell, value) in cells.into_iter().zip(values) {
            writes.push((cell, self.value(value)?, value.span));
        }
        self.assign(writes, span)
    }

    /// `cas`: two paths, in one of which the values are equal.
    fn compare_and_swap(
        &mut self,
        result: &Option<hir::Place>,
        place: &hir::Place,
        (old, new): (&Expr, &Expr),
        span: Span,
        next: NodeId,
    ) -> Result<D, ()> {
        let (cell, current) = self.current(place)?;
        let expected = self.value(old)?;
        let equal = Value::compare(CompareOp::Eq, current, expected);
        let yes = self.domain.fork()?;
        let copy = self.domain.copy(&equal, yes.span)?;
        if self.domain.assume(copy.negated()) {
            let target = self.result(result)?;
            let failed = target.map(|target| (target, Value::number(0), span));
            self.assign(failed.into_iter().collect(), span)?;
            self.go(next);
        }
        *self.domain.path() = yes;
        if self.domain.assume(equal) {
            let target = self.result(result)?;
            let mut writes = vec![(cell, self.value(new)?, new.span)];
            writes.extend(target.map(|target| (target, Value::number(1), span)));
            self.assign(writes, span)?;
            self.go(next);
        }
        Ok(())
    }

    /// `result, place := place, value`, where the value may use the old one.
    fn exchange(
        &mut self,
        result: &Option<hir::Place>,
        place: &hir::Place,
        span: Span,
        value: impl FnOnce(&mut Self, D::Value) -> Result<D, (D::Value, Span)>,
    ) -> Result<D, ()> {
        let result = self.result(result)?;
        let (cell, old) = self.current(place)?;
        let mut writes = Vec::new();
        if let Some(result) = result {
            writes.push((result, self.domain.copy(&old, span)?, span));
        }
        let (value, blamed) = value(self, old)?;
        writes.push((cell, value, blamed));
        self.assign(writes, span)
    }

    /// Writes values that are evaluated already: no cell twice, every value in its type.
    fn assign(&mut self, writes: Vec<Write<D>>, span: Span) -> Result<D, ()> {
        for (later, (cell, ..)) in writes.iter().enumerate() {
            for (earlier, ..) in &writes[..later] {
                let holds = self.domain.different([earlier, cell], span)?;
                self.check(holds, CheckKind::SameCell, span)?;
            }
        }
        for (cell, value, blamed) in &writes {
            let holds = self.domain.fits(cell, value)?;
            self.check(holds, CheckKind::Range, *blamed)?;
        }
        for (cell, value, blamed) in writes {
            self.domain.write(cell, value, blamed)?;
        }
        Ok(())
    }
}
