//! The outcomes of one process in one state: every path through the text from its label to the
//! next.
//!
//! Naive on purpose: a path has a copy of the state and a stack of frames, one for each block that
//! control is inside of. Where the text chooses, the path is copied.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use threadwise_lang::program::{
    Block, BoundId, Domain, Expr, LocalId, LocationId, Note, Place, Span, Stmt, StmtKind,
    TemplateId,
};

use crate::expression::{Bindings, Budget, Cell, Failure, Limit, Scope, Stop};
use crate::initial::cell_values;
use crate::instance::{Instance, MAX_PROCESSES, Start, Values};
use crate::interpreter::Outcome;
use crate::state::{FREE, ProcessRef, State};
use crate::system::CheckKind;

/// The greatest number of outcomes of one process in one state.
const MAX_OUTCOMES: usize = 1_000_000;
/// The greatest number of cells in all states that these outcomes lead to.
const MAX_OUTCOME_CELLS: usize = 50_000_000;
/// How many statements of a step are listed.
const MAX_SHOWN: usize = 1_000;

/// Everything that a process, which has not ended, can do in a state.
pub(crate) fn outcomes<'p>(
    instance: &'p Instance,
    state: &'p State,
    process: ProcessRef,
) -> Result<Vec<Outcome>, Limit> {
    let mut run = Run {
        instance,
        process,
        budget: Budget::default(),
        open: Vec::new(),
        outcomes: Vec::new(),
        most: (MAX_OUTCOME_CELLS / cells(state)).clamp(16, MAX_OUTCOMES),
    };
    let frames = run.frames_at(state.location(process), state)?;
    run.open.push(Path {
        state: Cow::Borrowed(state),
        frames,
        bindings: Vec::new(),
        executed: Vec::new(),
        begun: false,
    });
    while let Some(path) = run.open.pop() {
        run.follow(path)?;
    }
    Ok(run.outcomes)
}

/// Sets the counters of loops that a process is not in to their lower bounds: a loop that control has left, in whatever way, has its counter there.
pub(crate) fn settle(instance: &Instance, state: &mut State, process: ProcessRef) {
    let template = &instance.program().templates[process.template];
    if !template.locals.iter().any(|variable| variable.loop_counter) {
        return;
    }
    let at = state.location(process);
    let mut running = Vec::new();
    for (block, position) in locate(&template.body, at).unwrap_or_default() {
        let statement = &block[position];
        if let (StmtKind::ForLabelled(counter, ..), true) =
            (&statement.kind, statement.label != Some(at))
        {
            running.push(*counter);
        }
    }
    for (local, variable) in template.locals.iter_enumerated() {
        if variable.loop_counter && !running.contains(&local) {
            let shape = instance.local(process.template, local);
            let lowest = match shape.values {
                Values::Between(lo, _) => lo,
                _ => 0,
            };
            Cell::Local(process, shape.first).write(state, instance, lowest);
        }
    }
}

/// A block that control is inside of.
#[derive(Clone, Debug)]
struct Frame<'p> {
    block: &'p Block,
    /// The statement to execute next. While control is inside a `while` or `loop`, the frame
    /// around it stays at that statement: control comes back to it, and to its label.
    next: usize,
    kind: FrameKind,
    /// How many bound variables there are outside.
    outside: usize,
}

/// What happens at the end of a block.
#[derive(Clone, Copy, Debug)]
enum FrameKind {
    /// Control leaves it.
    Once,
    /// The body of a `while` or `loop`: control leaves it and meets the statement again.
    Again,
    /// The body of a `for` without labels, with this value of its variable.
    For { var: BoundId, value: i64, last: i64 },
    /// The body of a `for` with labels, whose variable is a cell.
    Counted { counter: LocalId, last: i64 },
}

/// A path through the text: where it is and what it did.
#[derive(Clone, Debug)]
struct Path<'p> {
    /// Copied when it is first written to: most processes wait.
    state: Cow<'p, State>,
    frames: Vec<Frame<'p>>,
    bindings: Bindings,
    executed: Vec<Span>,
    /// Whether the first statement was reached: its label is where the step began, every later one is where it ends.
    begun: bool,
}

impl<'p> Path<'p> {
    fn enter(&mut self, block: &'p Block, kind: FrameKind) {
        let outside = self.bindings.len();
        self.frames.push(Frame {
            block,
            next: 0,
            kind,
            outside,
        });
    }

    fn leave(&mut self) -> Option<FrameKind> {
        let frame = self.frames.pop()?;
        self.bindings.truncate(frame.outside);
        Some(frame.kind)
    }

    /// A copy of it that executes the block next.
    fn entering(&self, block: &'p Block, binding: Option<(BoundId, i64)>) -> Path<'p> {
        let mut way = self.clone();
        way.enter(block, FrameKind::Once);
        way.bindings.extend(binding);
        way
    }

    /// Out of the blocks inside the loop, then out of the loop's body.
    fn leave_loop(&mut self) {
        while let Some(kind) = self.leave() {
            match kind {
                FrameKind::Once => {}
                FrameKind::Again => {
                    self.advance();
                    break;
                }
                FrameKind::For { .. } | FrameKind::Counted { .. } => break,
            }
        }
    }

    fn executed(&mut self, span: Option<Span>) {
        // Enough to show, and a `for` with very many rounds does not fill the memory.
        if self.executed.len() < MAX_SHOWN {
            self.executed.extend(span);
        }
    }

    /// Goes past the statement that control is at.
    fn advance(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next += 1;
        }
    }
}

/// What executing a statement came to.
enum Progress {
    /// Control goes on.
    On,
    /// There is no such path, or it has branched into others.
    Gone,
    /// The step is over.
    At(LocationId),
}

/// The search for the outcomes of one process in one state.
struct Run<'p> {
    instance: &'p Instance,
    process: ProcessRef,
    budget: Budget,
    /// Paths still to follow; the last is the first in the text.
    open: Vec<Path<'p>>,
    outcomes: Vec<Outcome>,
    most: usize,
}

impl<'p> Run<'p> {
    fn body(&self) -> &'p Block {
        &self.instance.program().templates[self.process.template].body
    }

    fn counter(&self, counter: LocalId) -> Cell {
        let shape = self.instance.local(self.process.template, counter);
        Cell::Local(self.process, shape.first)
    }

    /// The frames of control at a label.
    fn frames_at(&mut self, label: LocationId, state: &State) -> Result<Vec<Frame<'p>>, Limit> {
        let mut frames = Vec::new();
        let Some(places) = locate(self.body(), label) else {
            return Ok(frames);
        };
        let mut kind = FrameKind::Once;
        for (block, position) in places {
            let statement = &block[position];
            let inside = statement.label != Some(label);
            let loops = matches!(statement.kind, StmtKind::While(..) | StmtKind::Loop(_));
            frames.push(Frame {
                block,
                next: if inside && !loops {
                    position + 1
                } else {
                    position
                },
                kind,
                outside: 0,
            });
            kind = match &statement.kind {
                StmtKind::While(..) | StmtKind::Loop(_) => FrameKind::Again,
                StmtKind::ForLabelled(counter, domain, _) => {
                    let mut bindings = Vec::new();
                    let mut scope = self.scope(state, &mut bindings);
                    let (_, last) = match scope.bounds(domain, statement.span) {
                        Ok(bounds) => bounds,
                        Err(Stop::Limit(limit)) => return Err(limit),
                        // Bounds are constants, which the instance has evaluated.
                        Err(Stop::Fails(failure)) => {
                            return Err(Limit::NotConstant { span: failure.span });
                        }
                    };
                    FrameKind::Counted {
                        counter: *counter,
                        last,
                    }
                }
                _ => FrameKind::Once,
            };
        }
        Ok(frames)
    }

    fn scope<'s>(&'s mut self, state: &'s State, bindings: &'s mut Bindings) -> Scope<'s> {
        Scope {
            instance: self.instance,
            state: Some(state),
            own: Some(self.process),
            last: None,
            bindings,
            budget: &mut self.budget,
        }
    }

    fn value(&mut self, path: &mut Path<'p>, expr: &Expr) -> Result<i64, Stop> {
        let Path {
            state, bindings, ..
        } = path;
        self.scope(state, bindings).value(expr)
    }

    fn truth(&mut self, path: &mut Path<'p>, expr: &Expr) -> Result<bool, Stop> {
        Ok(self.value(path, expr)? != 0)
    }

    fn cell(&mut self, path: &mut Path<'p>, place: &Place) -> Result<Cell, Stop> {
        let Path {
            state, bindings, ..
        } = path;
        self.scope(state, bindings).cell(place)
    }

    /// The cell that the result of a primitive goes to, if it is kept.
    fn cell_of(
        &mut self,
        path: &mut Path<'p>,
        place: &'p Option<Place>,
    ) -> Result<Option<(Cell, &'p Place)>, Stop> {
        match place {
            None => Ok(None),
            Some(place) => Ok(Some((self.cell(path, place)?, place))),
        }
    }

    fn read(&self, path: &Path<'p>, cell: Cell) -> i64 {
        cell.read(&path.state, self.instance)
    }

    fn bounds(
        &mut self,
        path: &mut Path<'p>,
        domain: &Domain,
        span: Span,
    ) -> Result<(i64, i64), Stop> {
        let Path {
            state, bindings, ..
        } = path;
        self.scope(state, bindings).bounds(domain, span)
    }

    /// Follows a path until it ends, branches or fails.
    fn follow(&mut self, mut path: Path<'p>) -> Result<(), Limit> {
        loop {
            let Some(frame) = path.frames.last() else {
                let done = self.instance.program().templates[self.process.template].done();
                self.arrive(path, done);
                return Ok(());
            };
            let Some(statement) = frame.block.get(frame.next) else {
                self.end_of_block(&mut path);
                continue;
            };
            if let (Some(label), true) = (statement.label, path.begun) {
                self.arrive(path, label);
                return Ok(());
            }
            path.begun = true;
            self.budget.spend(statement.span)?;
            path.executed(trail(statement));
            match self.execute(&mut path, statement) {
                Ok(Progress::On) => {}
                Ok(Progress::Gone) => return Ok(()),
                Ok(Progress::At(label)) => {
                    self.arrive(path, label);
                    return Ok(());
                }
                Err(Stop::Limit(limit)) => return Err(limit),
                Err(Stop::Fails(failure)) => {
                    self.outcomes.push(Outcome::Fail {
                        failure,
                        path: path.executed,
                        within: path.state.into_owned(),
                        meaning: meaning(statement, failure.kind),
                    });
                    return Ok(());
                }
            }
        }
    }

    /// Ends a step at a label, or at `done`.
    fn arrive(&mut self, mut path: Path<'p>, to: LocationId) {
        let state = path.state.to_mut();
        state.templates[self.process.template].locations[self.process.index as usize] = to;
        settle(self.instance, state, self.process);
        self.outcomes.push(Outcome::Move {
            state: path.state.into_owned(),
            to,
            path: path.executed,
        });
    }

    fn end_of_block(&mut self, path: &mut Path<'p>) {
        let Some(frame) = path.frames.last_mut() else {
            return;
        };
        match frame.kind {
            FrameKind::For { var, value, last } if value < last => {
                frame.next = 0;
                frame.kind = FrameKind::For {
                    var,
                    value: value + 1,
                    last,
                };
                path.bindings.truncate(frame.outside);
                path.bindings.push((var, value + 1));
            }
            FrameKind::Counted { counter, last } => {
                let cell = self.counter(counter);
                let value = cell.read(&path.state, self.instance);
                if value < last {
                    frame.next = 0;
                    cell.write(path.state.to_mut(), self.instance, value + 1);
                } else {
                    path.leave();
                }
            }
            FrameKind::Once | FrameKind::Again | FrameKind::For { .. } => {
                path.leave();
            }
        }
    }

    /// Branches: the path goes on in each of these ways, in this order.
    fn branch(&mut self, mut ways: Vec<Path<'p>>, span: Span) -> Result<Progress, Stop> {
        self.room(ways.len() as u128, span)?;
        ways.reverse();
        self.open.append(&mut ways);
        Ok(Progress::Gone)
    }

    /// Refuses to branch in more ways than can be listed.
    fn room(&self, ways: u128, span: Span) -> Result<(), Limit> {
        if ways + (self.open.len() + self.outcomes.len()) as u128 > self.most as u128 {
            return Err(Limit::TooManyOutcomes { span });
        }
        Ok(())
    }

    fn execute(&mut self, path: &mut Path<'p>, statement: &'p Stmt) -> Result<Progress, Stop> {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Assign(places, values) => self.assign(path, places, values, span)?,
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => self.compare_and_swap(path, result, place, (old, new), span)?,
            StmtKind::Swap {
                result,
                place,
                value,
            } => {
                let exchanged = |this: &mut Self, path: &mut Path<'p>, _| this.value(path, value);
                self.exchange(path, result, place, (span, value.span), exchanged)?;
            }
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => {
                let added = |this: &mut Self, path: &mut Path<'p>, before: i64| {
                    let sum = before.checked_add(this.value(path, amount)?);
                    Ok(sum.ok_or(Limit::Overflow { span })?)
                };
                self.exchange(path, result, place, (span, span), added)?;
            }
            StmtKind::Await(condition) => {
                if !self.truth(path, condition)? {
                    return Ok(Progress::Gone);
                }
            }
            StmtKind::Assert(condition) => {
                if !self.truth(path, condition)? {
                    return Err(fails(CheckKind::Assert, span));
                }
            }
            StmtKind::Skip => {}
            StmtKind::Stay => self.outcomes.push(Outcome::Rest { span }),
            StmtKind::Havoc(places) => return self.havoc(path, places, span),
            StmtKind::Lock(place) => {
                let cell = self.cell(path, place)?;
                if self.read(path, cell) != FREE {
                    return Ok(Progress::Gone);
                }
                cell.write(
                    path.state.to_mut(),
                    self.instance,
                    self.process.mutex_code(),
                );
            }
            StmtKind::Unlock(place) => {
                let cell = self.cell(path, place)?;
                if self.read(path, cell) != self.process.mutex_code() {
                    return Err(fails(CheckKind::Unlock, span));
                }
                cell.write(path.state.to_mut(), self.instance, FREE);
            }
            StmtKind::Start(template, values) => return self.start(path, *template, values, span),
            StmtKind::Goto(label) => return Ok(Progress::At(*label)),
            StmtKind::Break => {
                path.leave_loop();
                return Ok(Progress::On);
            }
            StmtKind::Return => {
                let done = self.instance.program().templates[self.process.template].done();
                return Ok(Progress::At(done));
            }
            StmtKind::If(branches, otherwise) => {
                let mut body = otherwise;
                for (condition, block) in branches {
                    path.executed(Some(condition.span));
                    if self.truth(path, condition)? {
                        body = block;
                        break;
                    }
                }
                path.advance();
                path.enter(body, FrameKind::Once);
                return Ok(Progress::On);
            }
            StmtKind::Choose(blocks) => {
                path.advance();
                let ways = blocks.iter().map(|block| path.entering(block, None));
                return self.branch(ways.collect(), span);
            }
            StmtKind::ChooseIn(var, domain, block) => {
                let (lo, hi) = self.bounds(path, domain, span)?;
                self.room(size(lo, hi), span)?;
                path.advance();
                let ways = (lo..=hi).map(|value| path.entering(block, Some((*var, value))));
                return self.branch(ways.collect(), span);
            }
            StmtKind::While(condition, body) => {
                if self.truth(path, condition)? {
                    path.enter(body, FrameKind::Again);
                    return Ok(Progress::On);
                }
            }
            StmtKind::Loop(body) => {
                path.enter(body, FrameKind::Again);
                return Ok(Progress::On);
            }
            StmtKind::For(var, domain, body) => {
                let (lo, hi) = self.bounds(path, domain, span)?;
                path.advance();
                if lo <= hi {
                    path.enter(
                        body,
                        FrameKind::For {
                            var: *var,
                            value: lo,
                            last: hi,
                        },
                    );
                    path.bindings.push((*var, lo));
                }
                return Ok(Progress::On);
            }
            StmtKind::ForLabelled(counter, domain, body) => {
                let (lo, hi) = self.bounds(path, domain, span)?;
                path.advance();
                if lo <= hi {
                    self.counter(*counter)
                        .write(path.state.to_mut(), self.instance, lo);
                    path.enter(
                        body,
                        FrameKind::Counted {
                            counter: *counter,
                            last: hi,
                        },
                    );
                }
                return Ok(Progress::On);
            }
            StmtKind::Group { body, .. } => {
                path.advance();
                path.enter(body, FrameKind::Once);
                return Ok(Progress::On);
            }
        }
        path.advance();
        Ok(Progress::On)
    }

    fn assign(
        &mut self,
        path: &mut Path<'p>,
        places: &'p [Place],
        values: &'p [Expr],
        span: Span,
    ) -> Result<(), Stop> {
        let mut cells = Vec::with_capacity(places.len());
        for place in places {
            cells.push(self.cell(path, place)?);
        }
        let mut writes = Vec::with_capacity(values.len());
        for ((cell, place), value) in cells.into_iter().zip(places).zip(values) {
            writes.push(Write {
                cell,
                place,
                value: self.value(path, value)?,
                span: value.span,
            });
        }
        self.write(path, &writes, span)
    }

    /// `if place == old { place, result := new, true } else { result := false }`
    fn compare_and_swap(
        &mut self,
        path: &mut Path<'p>,
        result: &'p Option<Place>,
        place: &'p Place,
        (old, new): (&Expr, &Expr),
        span: Span,
    ) -> Result<(), Stop> {
        let cell = self.cell(path, place)?;
        let equal = self.read(path, cell) == self.value(path, old)?;
        let result_cell = self.cell_of(path, result)?;
        let mut writes = Vec::new();
        if equal {
            writes.push(Write {
                cell,
                place,
                value: self.value(path, new)?,
                span: new.span,
            });
        }
        writes.extend(result_cell.map(|(cell, place)| Write {
            cell,
            place,
            value: i64::from(equal),
            span,
        }));
        self.write(path, &writes, span)
    }

    /// `result, place := place, after`, where `spans` are blamed for the two values and `after` knows the value before.
    fn exchange(
        &mut self,
        path: &mut Path<'p>,
        result: &'p Option<Place>,
        place: &'p Place,
        spans: (Span, Span),
        after: impl FnOnce(&mut Self, &mut Path<'p>, i64) -> Result<i64, Stop>,
    ) -> Result<(), Stop> {
        let result = self.cell_of(path, result)?;
        let cell = self.cell(path, place)?;
        let before = self.read(path, cell);
        let value = after(self, path, before)?;
        let mut writes = Vec::with_capacity(2);
        writes.extend(result.map(|(cell, place)| Write {
            cell,
            place,
            value: before,
            span: spans.0,
        }));
        writes.push(Write {
            cell,
            place,
            value,
            span: spans.1,
        });
        self.write(path, &writes, spans.0)
    }

    /// Writes several cells at once: first that no cell is there twice, then each value against
    /// its type.
    fn write(&mut self, path: &mut Path<'p>, writes: &[Write<'p>], span: Span) -> Result<(), Stop> {
        let mut cells = BTreeSet::new();
        if !writes.iter().all(|write| cells.insert(write.cell)) {
            return Err(fails(CheckKind::SameCell, span));
        }
        for write in writes {
            let shape = self.instance.shape(write.place.var, self.process.template);
            if let Values::Between(lo, hi) = shape.values
                && !(lo..=hi).contains(&write.value)
            {
                return Err(fails(CheckKind::Range, write.span));
            }
        }
        for write in writes {
            write
                .cell
                .write(path.state.to_mut(), self.instance, write.value);
        }
        Ok(())
    }

    /// One place after the other takes any value of its type.
    fn havoc(
        &mut self,
        path: &Path<'p>,
        places: &'p [Place],
        span: Span,
    ) -> Result<Progress, Stop> {
        let mut ways = vec![path.clone()];
        for place in places {
            let mut further = Vec::new();
            for mut way in ways {
                // A failure in one way leaves the others as they are.
                let cell = match self.cell(&mut way, place) {
                    Ok(cell) => cell,
                    Err(Stop::Limit(limit)) => return Err(limit.into()),
                    Err(Stop::Fails(failure)) => {
                        self.outcomes.push(Outcome::Fail {
                            failure,
                            path: way.executed,
                            within: way.state.into_owned(),
                            meaning: None,
                        });
                        continue;
                    }
                };
                let values = self.instance.shape(place.var, self.process.template).values;
                let choices = cell_values(values, &way.state, place.span)?;
                self.room(choices.len() + further.len() as u128, span)?;
                for value in choices {
                    let mut next = way.clone();
                    cell.write(next.state.to_mut(), self.instance, value);
                    further.push(next);
                }
            }
            ways = further;
        }
        for way in &mut ways {
            way.advance();
        }
        self.branch(ways, span)
    }

    /// Adds a process; where its variables begin with `any`, in each way there is.
    /// What a process is given that is started.
    fn arguments(
        &mut self,
        path: &mut Path<'p>,
        template: TemplateId,
        values: &[Expr],
    ) -> Result<BTreeMap<LocalId, i64>, Stop> {
        let declaration = &self.instance.program().templates[template];
        let mut given = Vec::with_capacity(values.len());
        for ((local, _), text) in declaration.parameters().zip(values) {
            given.push((local, self.value(path, text)?, text.span));
        }
        for (local, value, blamed) in &given {
            let shape = self.instance.local(template, *local);
            if let Values::Between(lo, hi) = shape.values
                && !(lo..=hi).contains(value)
            {
                return Err(fails(CheckKind::Range, *blamed));
            }
        }
        let given = given.into_iter();
        Ok(given.map(|(local, value, _)| (local, value)).collect())
    }

    fn start(
        &mut self,
        path: &Path<'p>,
        template: TemplateId,
        values: &[Expr],
        span: Span,
    ) -> Result<Progress, Stop> {
        let mut path = path.clone();
        let given = self.arguments(&mut path, template, values)?;
        let processes: usize = path.state.templates.iter().map(|t| t.locations.len()).sum();
        if processes >= MAX_PROCESSES as usize {
            return Err(Limit::TooManyProcesses { span }.into());
        }
        let declaration = &self.instance.program().templates[template];
        let child = ProcessRef {
            template,
            index: path.state.count(template),
        };
        let processes = &mut path.state.to_mut().templates[template];
        processes.locations.push(declaration.entry);
        let mut free = Vec::new();
        for local in declaration.locals.indices() {
            let shape = self.instance.local(template, local);
            let value = given.get(&local).copied();
            let value = value.or_else(|| shape.start.value(child.index));
            let values = std::iter::repeat_n(value.unwrap_or_default(), shape.len);
            processes.cells.extend(values);
            if shape.start == Start::Any {
                free.extend(
                    (shape.first..shape.first + shape.len).map(|position| (position, shape.values)),
                );
            }
        }
        path.advance();
        let mut ways = vec![path];
        for (position, values) in free {
            let mut further = Vec::new();
            for way in ways {
                let choices = cell_values(values, &way.state, span)?;
                self.room(choices.len() + further.len() as u128, span)?;
                for value in choices {
                    let mut next = way.clone();
                    Cell::Local(child, position).write(next.state.to_mut(), self.instance, value);
                    further.push(next);
                }
            }
            ways = further;
        }
        self.branch(ways, span)
    }
}

/// A value on its way into a cell.
struct Write<'p> {
    cell: Cell,
    place: &'p Place,
    value: i64,
    /// What a value outside the type is blamed on.
    span: Span,
}

/// What is wrong if a check of a statement fails. What the front end says is about the check that the statement is, or about what it stores.
fn meaning(statement: &Stmt, kind: CheckKind) -> Option<String> {
    match (&statement.note, kind) {
        (Some(Note::Fails(meaning)), CheckKind::Assert | CheckKind::Range) => Some(meaning.clone()),
        _ => None,
    }
}

fn fails(kind: CheckKind, span: Span) -> Stop {
    Stop::Fails(Failure { kind, span })
}

/// How many integers there are from the first to the second.
fn size(lo: i64, hi: i64) -> u128 {
    (i128::from(hi) - i128::from(lo) + 1).max(0) as u128
}

/// The size of a state, at least 1.
fn cells(state: &State) -> usize {
    let local: usize = state
        .templates
        .iter()
        .map(|t| t.locations.len() + t.cells.len())
        .sum();
    (state.shared.len() + local).max(1)
}

/// What executing a statement adds to the path that is shown: of a statement that holds others,
/// only its condition.
fn trail(statement: &Stmt) -> Option<Span> {
    match &statement.kind {
        StmtKind::If(..)
        | StmtKind::Choose(_)
        | StmtKind::ChooseIn(..)
        | StmtKind::Loop(_)
        | StmtKind::For(..)
        | StmtKind::ForLabelled(..)
        | StmtKind::Group { .. } => None,
        StmtKind::While(condition, _) => Some(condition.span),
        _ => Some(statement.span),
    }
}

/// The way to a label: the blocks it lies in, outermost first, each with the position of the
/// statement that leads on, which at last is the labelled one. `done` is nowhere.
pub(crate) fn locate(block: &Block, label: LocationId) -> Option<Vec<(&Block, usize)>> {
    for (position, statement) in block.iter().enumerate() {
        if statement.label == Some(label) {
            return Some(vec![(block, position)]);
        }
        let found = match &statement.kind {
            StmtKind::If(branches, otherwise) => branches
                .iter()
                .map(|(_, body)| body)
                .chain([otherwise])
                .find_map(|body| locate(body, label)),
            StmtKind::Choose(blocks) => blocks.iter().find_map(|body| locate(body, label)),
            StmtKind::While(_, body)
            | StmtKind::Loop(body)
            | StmtKind::ForLabelled(_, _, body)
            | StmtKind::Group { body, .. } => locate(body, label),
            _ => None,
        };
        if let Some(mut rest) = found {
            rest.insert(0, (block, position));
            return Some(rest);
        }
    }
    None
}
