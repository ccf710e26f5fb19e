//! The paths from the labels of a template: the statements executed with terms instead of values.
//!
//! It follows the interpreter statement by statement. Where that evaluates a condition, a path here becomes two; where it checks something, one
//! path ends in the failure and the other goes on knowing that the check succeeded.

use threadwise_lang::program::{
    Block, BoundId, Expr, LocalId, LocationId, Place, Span, Stmt, StmtKind, TemplateId,
};

use super::expr::Lowering;
use super::{Cell, Family, Formula, MAX_PATHS, Path, PathEnd, Term, Unsupported};
use crate::paths::locate;
use crate::state::FREE;
use crate::system::CheckKind;

/// The greatest size of all paths from a label, as a number of nodes.
const MAX_NODES: usize = 2_000_000;
/// The greatest number of statements on all paths from a label.
const MAX_STATEMENTS: usize = 20_000;

/// The paths of a template, in the order of its labels.
pub(super) fn paths(family: &Family, template: TemplateId) -> Result<Vec<Path>, Unsupported> {
    let done = family.program().templates[template].done();
    let mut paths = Vec::new();
    for from in family.templates[template].locations.indices() {
        if from != done {
            let mut walk = Walk {
                family,
                template,
                from,
                open: Vec::new(),
                paths: &mut paths,
                nodes: 0,
                statements: 0,
            };
            walk.run()?;
        }
    }
    Ok(paths)
}

#[derive(Clone)]
struct Frame<'p> {
    block: &'p Block,
    next: usize,
    kind: FrameKind,
    outside: usize,
}

#[derive(Clone)]
enum FrameKind {
    Once,
    Again,
    For { var: BoundId, value: i64, last: i64 },
    Counted { counter: LocalId, last: Term },
}

/// A path that is not over.
struct Open<'p> {
    frames: Vec<Frame<'p>>,
    bindings: Vec<(BoundId, Term)>,
    guard: Vec<Formula>,
    choices: u32,
    writes: Vec<(Cell, Term)>,
    starts: Vec<TemplateId>,
    begun: bool,
    span: Span,
}

impl Clone for Open<'_> {
    fn clone(&self) -> Self {
        Open {
            frames: self.frames.clone(),
            bindings: self.bindings.clone(),
            guard: self.guard.clone(),
            writes: self.writes.clone(),
            starts: self.starts.clone(),
            ..*self
        }
    }
}

impl<'p> Open<'p> {
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

    fn advance(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next += 1;
        }
    }

    fn assume(&mut self, condition: Formula) {
        match condition {
            Formula::Constant(true) => {}
            Formula::And(members) => self.guard.extend(members),
            other => self.guard.push(other),
        }
    }

    fn impossible(&self) -> bool {
        self.guard.contains(&Formula::Constant(false))
    }
}

/// The cells that a place may name, each with the condition that it is the one.
type Targets = Vec<(Formula, Cell)>;

/// A value on its way to a place, and what is blamed if it lies outside the type.
type Write<'e> = (Targets, &'e Place, Term, Span);

/// What executing a statement came to.
enum Progress {
    On,
    Gone,
    At(LocationId),
}

struct Walk<'p, 'o> {
    family: &'p Family,
    template: TemplateId,
    from: LocationId,
    open: Vec<Open<'p>>,
    paths: &'o mut Vec<Path>,
    /// How large all that was kept so far is.
    nodes: usize,
    /// How many statements were executed.
    statements: usize,
}

impl<'p> Walk<'p, '_> {
    fn body(&self) -> &'p Block {
        &self.family.program().templates[self.template].body
    }

    fn run(&mut self) -> Result<(), Unsupported> {
        let mut frames = Vec::new();
        let mut kind = FrameKind::Once;
        let mut span = Span::default();
        for (block, position) in locate(self.body(), self.from).unwrap_or_default() {
            let statement = &block[position];
            span = statement.span;
            let inside = statement.label != Some(self.from);
            let loops = matches!(statement.kind, StmtKind::While(..) | StmtKind::Loop(_));
            frames.push(Frame {
                block,
                next: position + usize::from(inside && !loops),
                kind,
                outside: 0,
            });
            kind = match &statement.kind {
                StmtKind::While(..) | StmtKind::Loop(_) => FrameKind::Again,
                StmtKind::ForLabelled(counter, domain, _) => FrameKind::Counted {
                    counter: *counter,
                    last: self.family.domain_bounds(domain)?.1,
                },
                _ => FrameKind::Once,
            };
        }
        let first = Open {
            frames,
            bindings: Vec::new(),
            guard: Vec::new(),
            choices: 0,
            writes: Vec::new(),
            starts: Vec::new(),
            begun: false,
            span,
        };
        self.push(first)?;
        while let Some(path) = self.open.pop() {
            self.follow(path)?;
        }
        Ok(())
    }

    fn follow(&mut self, mut path: Open<'p>) -> Result<(), Unsupported> {
        loop {
            if path.impossible() {
                return Ok(());
            }
            if self.paths.len() + self.open.len() > MAX_PATHS {
                let what = format!("the template has more than {MAX_PATHS} paths");
                return Err(Unsupported::new(what, path.span));
            }
            let Some(frame) = path.frames.last() else {
                let done = self.family.program().templates[self.template].done();
                return self.arrive(path, done);
            };
            let Some(statement) = frame.block.get(frame.next) else {
                self.end_of_block(&mut path)?;
                continue;
            };
            if let (Some(label), true) = (statement.label, path.begun) {
                return self.arrive(path, label);
            }
            path.begun = true;
            self.statements += 1;
            if self.statements > MAX_STATEMENTS {
                let what = format!("the steps have more than {MAX_STATEMENTS} statements");
                return Err(Unsupported::new(what, statement.span));
            }
            match self.execute(&mut path, statement)? {
                Progress::On => {}
                Progress::Gone => return Ok(()),
                Progress::At(label) => return self.arrive(path, label),
            }
        }
    }

    fn counter(&self, counter: LocalId) -> Cell {
        Cell::Local {
            template: self.template,
            process: Box::new(Term::Own),
            var: counter,
            indices: Vec::new(),
        }
    }

    fn arrive(&mut self, mut path: Open<'p>, to: LocationId) -> Result<(), Unsupported> {
        let template = &self.family.program().templates[self.template];
        let mut running = Vec::new();
        for (block, position) in locate(&template.body, to).unwrap_or_default() {
            let statement = &block[position];
            if let (StmtKind::ForLabelled(counter, ..), true) =
                (&statement.kind, statement.label != Some(to))
            {
                running.push(*counter);
            }
        }
        for (local, variable) in template.locals.iter_enumerated() {
            if variable.loop_counter && !running.contains(&local) {
                let lowered = &self.family.templates[self.template].locals[local];
                let least = lowered.least.clone().unwrap_or(Term::Number(0));
                path.writes.push((self.counter(local), least));
            }
        }
        self.finish(path, PathEnd::At(to))
    }

    /// Remembers a path that is to be followed.
    fn push(&mut self, path: Open<'p>) -> Result<(), Unsupported> {
        self.spend(&path)?;
        self.open.push(path);
        Ok(())
    }

    /// Counts what is kept of a path.
    fn spend(&mut self, path: &Open<'p>) -> Result<(), Unsupported> {
        let guard = path.guard.iter().map(|formula| formula.size().nodes);
        let writes = path
            .writes
            .iter()
            .map(|(cell, term)| cell.size().nodes + term.size().nodes);
        self.nodes += guard.chain(writes).sum::<usize>();
        match self.nodes > MAX_NODES {
            true => Err(Unsupported::new("the steps are too large", path.span)),
            false => Ok(()),
        }
    }

    fn finish(&mut self, path: Open<'p>, end: PathEnd) -> Result<(), Unsupported> {
        if path.impossible() {
            return Ok(());
        }
        self.spend(&path)?;
        let (writes, starts) = match end {
            PathEnd::At(_) => (path.writes, path.starts),
            PathEnd::Fails(..) => (Vec::new(), Vec::new()),
        };
        self.paths.push(Path {
            from: self.from,
            guard: path.guard,
            choices: path.choices,
            writes,
            starts,
            end,
            span: path.span,
        });
        Ok(())
    }

    fn end_of_block(&mut self, path: &mut Open<'p>) -> Result<(), Unsupported> {
        let Some(frame) = path.frames.last_mut() else {
            return Ok(());
        };
        match frame.kind.clone() {
            FrameKind::For { var, value, last } if value < last => {
                frame.next = 0;
                frame.kind = FrameKind::For {
                    var,
                    value: value + 1,
                    last,
                };
                path.bindings.truncate(frame.outside);
                path.bindings.push((var, Term::Number(value + 1)));
            }
            FrameKind::Counted { counter, last } => {
                let (cell, span) = (self.counter(counter), path.span);
                let value = self.lower(path, |lowering| {
                    lowering.value_at(&[(Formula::Constant(true), cell.clone())], span)
                })?;
                let more = Formula::at_most(last, value.clone()).negated();
                let mut left = path.clone();
                left.leave();
                left.assume(more.clone().negated());
                self.push(left)?;
                path.assume(more);
                path.writes
                    .push((cell, Term::sum(vec![value, Term::Number(1)])));
                if let Some(frame) = path.frames.last_mut() {
                    frame.next = 0;
                }
            }
            FrameKind::Once | FrameKind::Again | FrameKind::For { .. } => {
                path.leave();
            }
        }
        Ok(())
    }

    /// Lowers something where a path is. For each check on the way, one path ends in its failure, and this one goes on.
    fn lower<T>(
        &mut self,
        path: &mut Open<'p>,
        lower: impl FnOnce(&mut Lowering<'p>) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        let mut lowering = Lowering::new(self.family, Some(self.template));
        lowering.bindings = std::mem::take(&mut path.bindings);
        lowering.writes = std::mem::take(&mut path.writes);
        let result = lower(&mut lowering)?;
        let checks = lowering.take_checks();
        path.bindings = lowering.bindings;
        path.writes = lowering.writes;
        for check in checks {
            let mut failing = path.clone();
            failing.assume(check.condition.clone().negated());
            self.finish(failing, PathEnd::Fails(check.kind, check.span))?;
            path.assume(check.condition);
        }
        Ok(result)
    }

    fn term(&mut self, path: &mut Open<'p>, expr: &Expr) -> Result<Term, Unsupported> {
        self.lower(path, |lowering| lowering.term(expr))
    }

    fn formula(&mut self, path: &mut Open<'p>, expr: &Expr) -> Result<Formula, Unsupported> {
        self.lower(path, |lowering| lowering.formula(expr))
    }

    fn targets(&mut self, path: &mut Open<'p>, place: &Place) -> Result<Targets, Unsupported> {
        self.lower(path, |lowering| lowering.targets(place))
    }

    /// Fails unless a condition holds.
    fn check(
        &mut self,
        path: &mut Open<'p>,
        condition: Formula,
        kind: CheckKind,
        span: Span,
    ) -> Result<(), Unsupported> {
        if condition == Formula::Constant(true) {
            return Ok(());
        }
        let mut failing = path.clone();
        failing.assume(condition.clone().negated());
        self.finish(failing, PathEnd::Fails(kind, span))?;
        path.assume(condition);
        Ok(())
    }

    /// Writes several cells at once: first that no cell is there twice, then each value against its type.
    fn write(
        &mut self,
        path: &mut Open<'p>,
        writes: Vec<Write>,
        span: Span,
    ) -> Result<(), Unsupported> {
        for (later, (targets, ..)) in writes.iter().enumerate() {
            for (others, ..) in &writes[..later] {
                let twice = targets.iter().flat_map(|(condition, cell)| {
                    others.iter().map(move |(other_condition, other)| {
                        Formula::all([condition.clone(), other_condition.clone(), cell.same(other)])
                    })
                });
                let twice = Formula::any(twice);
                self.check(path, twice.negated(), CheckKind::SameCell, span)?;
            }
        }
        for (_, place, value, span) in &writes {
            let variable = self.family.variable_of(place.var, self.template);
            let low = variable.least.clone();
            let low = low.map(|least| Formula::at_most(least, value.clone()));
            let high = variable.greatest.clone();
            let high = high.map(|greatest| Formula::at_most(value.clone(), greatest));
            // Truth values and ids are inside their types by construction; only integers are checked.
            let inside = match self.checked(place) {
                true => Formula::all(low.into_iter().chain(high)),
                false => Formula::Constant(true),
            };
            self.check(path, inside, CheckKind::Range, *span)?;
        }
        self.lower(path, |lowering| {
            writes
                .into_iter()
                .try_for_each(|(targets, _, value, span)| lowering.write(targets, &value, span))
        })
    }

    /// Whether a value can lie outside the type of a place's variable.
    fn checked(&self, place: &Place) -> bool {
        use threadwise_lang::program::{Scalar, VarRef};
        let program = self.family.program();
        let scalar = match place.var {
            VarRef::Shared(var) => &program.shared[var].scalar,
            VarRef::Local(var) => &program.templates[self.template].locals[var].scalar,
        };
        matches!(scalar, Scalar::Range(..))
    }

    /// Goes on in two ways.
    fn fork(&mut self, path: &mut Open<'p>, condition: &Formula) -> Open<'p> {
        let mut other = path.clone();
        other.assume(condition.clone().negated());
        path.assume(condition.clone());
        other
    }

    fn execute(
        &mut self,
        path: &mut Open<'p>,
        statement: &'p Stmt,
    ) -> Result<Progress, Unsupported> {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Assign(places, values) => {
                let mut cells = Vec::with_capacity(places.len());
                for place in places {
                    cells.push(self.targets(path, place)?);
                }
                let mut writes = Vec::with_capacity(places.len());
                for ((targets, place), value) in cells.into_iter().zip(places).zip(values) {
                    let term = self.term(path, value)?;
                    writes.push((targets, place, term, value.span));
                }
                self.write(path, writes, span)?;
            }
            StmtKind::Cas {
                result,
                place,
                old,
                new,
            } => {
                let targets = self.targets(path, place)?;
                let current = self.lower(path, |lowering| lowering.value_at(&targets, span))?;
                let old = self.term(path, old)?;
                let equal = Formula::equal(current, old);
                let result_targets = match result {
                    Some(result) => Some((self.targets(path, result)?, result)),
                    None => None,
                };
                let mut other = self.fork(path, &equal);
                if !other.impossible() {
                    let writes = result_targets.clone().into_iter();
                    let writes = writes.map(|(t, p)| (t, p, Term::Number(0), span));
                    self.write(&mut other, writes.collect(), span)?;
                    other.advance();
                    self.push(other)?;
                }
                let value = self.term(path, new)?;
                let mut writes = vec![(targets, place, value, new.span)];
                let result = result_targets.into_iter();
                writes.extend(result.map(|(t, p)| (t, p, Term::Number(1), span)));
                self.write(path, writes, span)?;
            }
            StmtKind::Swap {
                result,
                place,
                value,
            } => self.exchange(path, result.as_ref(), place, value, false, span)?,
            StmtKind::FetchAdd {
                result,
                place,
                amount,
            } => self.exchange(path, result.as_ref(), place, amount, true, span)?,
            StmtKind::Await(condition) => {
                let condition = self.formula(path, condition)?;
                path.assume(condition);
            }
            StmtKind::Assert(condition) => {
                let condition = self.formula(path, condition)?;
                self.check(path, condition, CheckKind::Assert, span)?;
            }
            StmtKind::Skip | StmtKind::Stay => {}
            StmtKind::Havoc(places) => {
                for place in places {
                    let targets = self.targets(path, place)?;
                    let value = Term::Choice(path.choices);
                    path.choices += 1;
                    let variable = self.family.variable_of(place.var, self.template);
                    let low = variable.least.clone();
                    let high = variable.greatest.clone();
                    if matches!(self.scalar_is_mutex(place), Some(true)) {
                        return Err(Unsupported::new("`havoc` of a mutex", span));
                    }
                    let low = low.map(|least| Formula::at_most(least, value.clone()));
                    let high = high.map(|greatest| Formula::at_most(value.clone(), greatest));
                    path.assume(Formula::all(low.into_iter().chain(high)));
                    self.lower(path, |lowering| lowering.write(targets, &value, span))?;
                }
            }
            StmtKind::Lock(place) => {
                let targets = self.targets(path, place)?;
                let holder = self.lower(path, |lowering| lowering.value_at(&targets, span))?;
                path.assume(Formula::equal(holder, Term::Number(FREE)));
                let own = self.family.mutex_code(self.template, Term::Own);
                self.lower(path, |lowering| lowering.write(targets, &own, span))?;
            }
            StmtKind::Unlock(place) => {
                let targets = self.targets(path, place)?;
                let holder = self.lower(path, |lowering| lowering.value_at(&targets, span))?;
                let own = self.family.mutex_code(self.template, Term::Own);
                self.check(path, Formula::equal(holder, own), CheckKind::Unlock, span)?;
                self.lower(path, |lowering| {
                    lowering.write(targets, &Term::Number(FREE), span)
                })?;
            }
            StmtKind::Start(template) => path.starts.push(*template),
            StmtKind::Goto(label) => return Ok(Progress::At(*label)),
            StmtKind::Break => {
                while let Some(kind) = path.leave() {
                    match kind {
                        FrameKind::Once => {}
                        FrameKind::Again => {
                            path.advance();
                            break;
                        }
                        FrameKind::For { .. } | FrameKind::Counted { .. } => break,
                    }
                }
                return Ok(Progress::On);
            }
            StmtKind::Return => {
                let done = self.family.program().templates[self.template].done();
                return Ok(Progress::At(done));
            }
            StmtKind::If(branches, otherwise) => {
                path.advance();
                for (condition, block) in branches {
                    let condition = self.formula(path, condition)?;
                    let mut taken = path.clone();
                    taken.assume(condition.clone());
                    taken.enter(block, FrameKind::Once);
                    if !taken.impossible() {
                        self.push(taken)?;
                    }
                    path.assume(condition.negated());
                    if path.impossible() {
                        return Ok(Progress::Gone);
                    }
                }
                path.enter(otherwise, FrameKind::Once);
                return Ok(Progress::On);
            }
            StmtKind::Choose(blocks) => {
                path.advance();
                for block in blocks.iter().rev() {
                    let mut way = path.clone();
                    way.enter(block, FrameKind::Once);
                    self.push(way)?;
                }
                return Ok(Progress::Gone);
            }
            StmtKind::ChooseIn(var, domain, block) => {
                let (lo, hi) = self.family.domain_bounds(domain)?;
                path.advance();
                path.enter(block, FrameKind::Once);
                let value = Term::Choice(path.choices);
                path.choices += 1;
                path.assume(Formula::all([
                    Formula::at_most(lo, value.clone()),
                    Formula::at_most(value.clone(), hi),
                ]));
                path.bindings.push((*var, value));
                return Ok(Progress::On);
            }
            StmtKind::While(condition, body) => {
                let condition = self.formula(path, condition)?;
                let mut over = self.fork(path, &condition);
                over.advance();
                self.push(over)?;
                path.enter(body, FrameKind::Again);
                return Ok(Progress::On);
            }
            StmtKind::Loop(body) => {
                path.enter(body, FrameKind::Again);
                return Ok(Progress::On);
            }
            StmtKind::For(var, domain, body) => {
                let values = self.family.domain_values(domain, span)?;
                path.advance();
                if !values.is_empty() {
                    let (value, last) = (*values.start(), *values.end());
                    path.enter(
                        body,
                        FrameKind::For {
                            var: *var,
                            value,
                            last,
                        },
                    );
                    path.bindings.push((*var, Term::Number(value)));
                }
                return Ok(Progress::On);
            }
            StmtKind::ForLabelled(counter, domain, body) => {
                let (lo, hi) = self.family.domain_bounds(domain)?;
                path.advance();
                let some = Formula::at_most(lo.clone(), hi.clone());
                let none = self.fork(path, &some);
                self.push(none)?;
                path.writes.push((self.counter(*counter), lo));
                path.enter(
                    body,
                    FrameKind::Counted {
                        counter: *counter,
                        last: hi,
                    },
                );
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

    fn scalar_is_mutex(&self, place: &Place) -> Option<bool> {
        use threadwise_lang::program::{Scalar, VarRef};
        let program = self.family.program();
        let scalar = match place.var {
            VarRef::Shared(var) => &program.shared.get(var)?.scalar,
            VarRef::Local(var) => &program.templates[self.template].locals.get(var)?.scalar,
        };
        Some(matches!(scalar, Scalar::Mutex))
    }

    /// `result, place := place, value`, or `place + value` if it is `added`.
    fn exchange(
        &mut self,
        path: &mut Open<'p>,
        result: Option<&'p Place>,
        place: &'p Place,
        value: &'p Expr,
        added: bool,
        span: Span,
    ) -> Result<(), Unsupported> {
        let result = match result {
            Some(result) => Some((self.targets(path, result)?, result)),
            None => None,
        };
        let targets = self.targets(path, place)?;
        let before = self.lower(path, |lowering| lowering.value_at(&targets, span))?;
        let term = self.term(path, value)?;
        let (after, blamed) = match added {
            true => (Term::sum(vec![before.clone(), term]), span),
            false => (term, value.span),
        };
        let mut writes = Vec::new();
        writes.extend(result.map(|(t, p)| (t, p, before, span)));
        writes.push((targets, place, after, blamed));
        self.write(path, writes, span)
    }
}
