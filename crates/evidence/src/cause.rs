//! Why an invariant does not hold in a state, and who waits for what in a deadlock.
//!
//! The interpreter evaluates the parts of the invariant in the state itself: a `forall` that is false is so for some values, of an `&&` some part is false, and
//! what these speak of has values there. Nothing here decides whether the invariant holds: that was judged before, and this only words it. Where a
//! limit is reached, or a check fails, less is said.

use threadwise_lang::print;
use threadwise_lang::program::{
    Block, BoundId, Domain, Expr, ExprKind, ExprType, FoldKind, PropertyKind, Span, Stmt, StmtKind,
};
use threadwise_lang::source::SourceLines;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::Interpreter;
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};

use crate::trace::{Cause, Ending, Trace, Valuation, Value};

/// So many values are looked through, and so much is told.
const MOST_VALUES: usize = 10_000;
const MOST_FACTS: usize = 12;
/// Of so many processes that wait each is told about.
const MOST_WAITING: usize = 1_000;

/// The causes of what a trace ends with, in its last state.
pub(crate) fn causes(
    instance: &Instance,
    trace: &Trace,
    last: &State,
    lines: &SourceLines<'_>,
) -> Vec<Cause> {
    // What the names of a program of another language mean is for its front end to say.
    if instance.program().source.is_foreign() {
        return Vec::new();
    }
    let mut search = Search {
        instance,
        interpreter: Interpreter::new(instance),
        names: Names::new(instance),
        state: last,
        left: MOST_VALUES,
        cause: Cause::default(),
    };
    match &trace.ending {
        Ending::Invariant { fails: None } => {
            let name = trace.property.as_deref().unwrap_or_default();
            let mut properties = instance.program().properties.iter();
            let property = properties.find(|property| property.name == name);
            match property.map(|property| &property.kind) {
                Some(PropertyKind::Invariant(predicate)) => search.invariant(predicate, lines),
                _ => Vec::new(),
            }
        }
        Ending::Deadlock => last
            .processes()
            .filter(|process| !search.interpreter.has_ended(last, *process))
            .take(MOST_WAITING)
            .map(|process| search.waiting(process, lines))
            .collect(),
        _ => Vec::new(),
    }
}

struct Search<'a> {
    instance: &'a Instance,
    interpreter: Interpreter<'a>,
    names: Names<'a>,
    state: &'a State,
    /// How many more values are looked at.
    left: usize,
    cause: Cause,
}

type Bindings = Vec<(BoundId, i64)>;

impl Search<'_> {
    // ---- invariants ----

    fn invariant(&mut self, predicate: &Expr, lines: &SourceLines<'_>) -> Vec<Cause> {
        let mut bindings = Vec::new();
        let (part, chosen) = self.descend(predicate, &mut bindings);
        self.facts(part, false, &mut bindings);
        if chosen {
            self.cause.part = Some(self.text(part, &bindings));
            self.cause.line = lines.known(part.span);
        }
        let cause = std::mem::take(&mut self.cause);
        match cause == Cause::default() {
            true => Vec::new(),
            false => vec![cause],
        }
    }

    /// Goes to the part that is false, past each `forall` to values and past each `&&` to a part; says whether there was an `&&`.
    fn descend<'e>(&mut self, whole: &'e Expr, bindings: &mut Bindings) -> (&'e Expr, bool) {
        let (mut part, mut chosen) = (whole, false);
        loop {
            match &part.kind {
                ExprKind::Fold {
                    kind: FoldKind::Forall,
                    var,
                    domain,
                    body,
                } => match self.some_value(*var, domain, body, false, bindings) {
                    Some(value) => {
                        bindings.push((*var, value));
                        let (name, value) = self.names.bound(*var, value);
                        self.cause.values.0.push((name.to_owned(), value.into()));
                        part = body;
                    }
                    None => return (part, chosen),
                },
                ExprKind::And(parts) => {
                    let failing = parts
                        .iter()
                        .find(|part| self.truth(part, bindings) == Some(false));
                    match failing {
                        Some(failing) => (part, chosen) = (failing, true),
                        None => return (part, chosen),
                    }
                }
                _ => return (part, chosen),
            }
        }
    }

    /// The first value with which a predicate has a truth value.
    fn some_value(
        &mut self,
        var: BoundId,
        domain: &Domain,
        body: &Expr,
        wanted: bool,
        bindings: &mut Bindings,
    ) -> Option<i64> {
        let (first, last) = self.bounds(domain);
        for value in first..=last {
            self.left = self.left.checked_sub(1)?;
            bindings.push((var, value));
            let found = self.truth(body, bindings);
            bindings.pop();
            if found == Some(wanted) {
                return Some(value);
            }
        }
        None
    }

    fn bounds(&self, domain: &Domain) -> (i64, i64) {
        match domain {
            Domain::Template(template) => (0, i64::from(self.state.count(*template)) - 1),
            _ => self.instance.domain_bounds(domain),
        }
    }

    fn truth(&self, predicate: &Expr, bindings: &Bindings) -> Option<bool> {
        self.value(predicate, bindings).map(|value| value != 0)
    }

    fn value(&self, expr: &Expr, bindings: &Bindings) -> Option<i64> {
        let found = self
            .interpreter
            .evaluate_in(self.state, None, expr, bindings);
        found.ok()?.ok()
    }

    /// Adds what makes a predicate have this truth value.
    fn facts(&mut self, expr: &Expr, truth: bool, bindings: &mut Bindings) {
        if self.full() {
            return;
        }
        match &expr.kind {
            ExprKind::Not(inner) => self.facts(inner, !truth, bindings),
            // All of them make an `&&` true, the first that is false makes it false; and the other way round.
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                let all = matches!(expr.kind, ExprKind::And(_)) == truth;
                for part in parts {
                    if self.truth(part, bindings) == Some(truth) {
                        self.facts(part, truth, bindings);
                        if !all {
                            return;
                        }
                    }
                }
            }
            ExprKind::Implies(left, right) => match truth {
                false => {
                    self.facts(left, true, bindings);
                    self.facts(right, false, bindings);
                }
                true if self.truth(left, bindings) == Some(false) => {
                    self.facts(left, false, bindings);
                }
                true => self.facts(right, true, bindings),
            },
            ExprKind::Fold {
                kind: kind @ (FoldKind::Forall | FoldKind::Exists),
                var,
                domain,
                body,
            } if (*kind == FoldKind::Exists) == truth => {
                if let Some(value) = self.some_value(*var, domain, body, truth, bindings) {
                    bindings.push((*var, value));
                    self.facts(body, truth, bindings);
                    bindings.pop();
                }
            }
            ExprKind::Call(def, arguments) => {
                let def = &self.instance.program().defs[*def];
                let values: Option<Vec<i64>> = arguments
                    .iter()
                    .map(|argument| self.value(argument, bindings))
                    .collect();
                let Some(values) = values else { return };
                let mut inner: Bindings = def.params.iter().copied().zip(values).collect();
                match def.body.ty {
                    ExprType::Bool => self.facts(&def.body, truth, &mut inner),
                    _ => self.read(&def.body, &mut inner),
                }
            }
            _ => self.read(expr, bindings),
        }
    }

    /// Adds the values of what an expression reads.
    fn read(&mut self, expr: &Expr, bindings: &mut Bindings) {
        if self.full() {
            return;
        }
        match &expr.kind {
            ExprKind::At {
                template, process, ..
            } => {
                let index = match process {
                    Some(process) => self.value(process, bindings),
                    None => Some(0),
                };
                let Some(index) = index.and_then(|index| u32::try_from(index).ok()) else {
                    return;
                };
                let process = ProcessRef {
                    template: *template,
                    index,
                };
                if index < self.state.count(*template) {
                    let label = self.names.location(*template, self.state.location(process));
                    let value = Value::Name(label.to_owned());
                    add(
                        &mut self.cause.locations,
                        self.names.process(process),
                        value,
                    );
                }
            }
            ExprKind::Read(_) | ExprKind::Remote { .. } | ExprKind::Locked(_) => {
                if let Some(value) = self.value(expr, bindings) {
                    let name = self.text(expr, bindings);
                    let value = self.names.typed(expr.ty, value).into();
                    add(&mut self.cause.variables, name, value);
                }
            }
            ExprKind::Fold {
                kind: FoldKind::Count,
                var,
                domain,
                body,
            } => {
                let (first, last) = self.bounds(domain);
                for value in first..=last {
                    if self.left == 0 || self.full() {
                        return;
                    }
                    self.left -= 1;
                    bindings.push((*var, value));
                    if self.truth(body, bindings) == Some(true) {
                        self.facts(body, true, bindings);
                    }
                    bindings.pop();
                }
            }
            ExprKind::Compare(_, left, right)
            | ExprKind::Arith(_, left, right)
            | ExprKind::Iff(left, right) => {
                self.read(left, bindings);
                self.read(right, bindings);
            }
            ExprKind::Neg(inner)
            | ExprKind::Not(inner)
            | ExprKind::IntToId(inner)
            | ExprKind::IdToInt(inner)
            | ExprKind::IdToOpt(inner)
            | ExprKind::OptToId(inner)
            | ExprKind::Around { id: inner, .. } => self.read(inner, bindings),
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                for part in parts {
                    self.read(part, bindings);
                }
            }
            ExprKind::Call(..) => self.facts(expr, true, bindings),
            _ => {}
        }
    }

    fn full(&self) -> bool {
        self.cause.locations.0.len() + self.cause.variables.0.len() >= MOST_FACTS
    }

    /// An expression as in the source, with values in the place of bound variables.
    fn text(&self, expr: &Expr, bindings: &Bindings) -> String {
        let values: Vec<(BoundId, String)> = bindings
            .iter()
            .map(|(bound, value)| (*bound, Value::from(self.names.bound(*bound, *value).1)))
            .map(|(bound, value)| (bound, value.to_string()))
            .collect();
        print::with_values(self.instance.program(), expr, &values)
    }

    // ---- deadlocks ----

    /// What a process waits for.
    fn waiting(&self, process: ProcessRef, lines: &SourceLines<'_>) -> Cause {
        let program = self.instance.program();
        let template = &program.templates[process.template];
        let at = self.state.location(process);
        let mut cause = Cause {
            process: Some(self.names.process(process)),
            at: Some(self.names.location(process.template, at).to_owned()),
            ..Cause::default()
        };
        let labelled = find(&template.body, &|stmt| stmt.label == Some(at));
        let Some(blocking) = labelled.and_then(blocking) else {
            return cause;
        };
        cause.line = lines.known(blocking.span);
        match &blocking.kind {
            StmtKind::Lock(place) => {
                cause.part = Some(self.quoted(place.span));
                let cell = Expr {
                    kind: ExprKind::Read(place.clone()),
                    ty: ExprType::Int,
                    span: place.span,
                };
                let held = self
                    .of(process, &cell)
                    .and_then(ProcessRef::from_mutex_code);
                cause.held_by = held
                    .filter(|holder| holder.template.index() < program.templates.len())
                    .map(|holder| self.names.process(holder));
            }
            StmtKind::Await(condition) => {
                cause.part = Some(program.quote(condition));
                let mut reads = Vec::new();
                // The condition of `receive` and the like is not in the source.
                if condition.span != blocking.span {
                    cells(condition, &mut reads);
                }
                for read in reads.into_iter().take(MOST_FACTS) {
                    if let Some(value) = self.of(process, read) {
                        let value = self.names.typed(read.ty, value).into();
                        add(&mut cause.variables, program.quote(read), value);
                    }
                }
            }
            // A statement that waits and does something, as `send`.
            _ => cause.part = Some(self.quoted(blocking.span)),
        }
        cause
    }

    /// The value of an expression of a process's text.
    fn of(&self, process: ProcessRef, expr: &Expr) -> Option<i64> {
        let found = self
            .interpreter
            .evaluate_in(self.state, Some(process), expr, &[]);
        found.ok()?.ok()
    }

    fn quoted(&self, span: Span) -> String {
        let place = Expr {
            kind: ExprKind::None,
            ty: ExprType::Int,
            span,
        };
        let text = self.instance.program().quote(&place);
        text.trim_end_matches(';').to_owned()
    }
}

fn add(facts: &mut Valuation, name: String, value: Value) {
    if facts.0.iter().all(|(known, _)| *known != name) {
        facts.0.push((name, value));
    }
}

/// The cells that an expression reads, but for those that a fold binds the index of.
fn cells<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Read(_) | ExprKind::Locked(_) => found.push(expr),
        ExprKind::Compare(_, left, right)
        | ExprKind::Arith(_, left, right)
        | ExprKind::Implies(left, right)
        | ExprKind::Iff(left, right) => {
            cells(left, found);
            cells(right, found);
        }
        ExprKind::And(parts) | ExprKind::Or(parts) => {
            for part in parts {
                cells(part, found);
            }
        }
        ExprKind::Not(inner)
        | ExprKind::Neg(inner)
        | ExprKind::IntToId(inner)
        | ExprKind::IdToInt(inner)
        | ExprKind::IdToOpt(inner)
        | ExprKind::OptToId(inner) => cells(inner, found),
        _ => {}
    }
}

fn blocks(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If(branches, otherwise) => {
            let branches = branches.iter().map(|(_, block)| block);
            branches.chain([otherwise]).collect()
        }
        StmtKind::Choose(blocks) => blocks.iter().collect(),
        StmtKind::ChooseIn(_, _, body)
        | StmtKind::While(_, body)
        | StmtKind::Loop(body)
        | StmtKind::For(_, _, body)
        | StmtKind::ForLabelled(_, _, body)
        | StmtKind::Group { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// The first statement, in the order of the text, of which something is true.
fn find<'s>(body: &'s Block, wanted: &dyn Fn(&Stmt) -> bool) -> Option<&'s Stmt> {
    body.iter().find_map(|stmt| {
        if wanted(stmt) {
            return Some(stmt);
        }
        blocks(stmt)
            .into_iter()
            .find_map(|block| find(block, wanted))
    })
}

/// The statement that a step waits at, if it is the first one of the step.
fn blocking(stmt: &Stmt) -> Option<&Stmt> {
    match &stmt.kind {
        StmtKind::Await(_) | StmtKind::Lock(_) => Some(stmt),
        // What is written by the front end for one statement of the source has its place.
        StmtKind::Group { body, .. } => {
            let first = body.first()?;
            match first.span == stmt.span {
                true => Some(stmt),
                false => blocking(first),
            }
        }
        StmtKind::Loop(body) => body
            .first()
            .filter(|first| first.label.is_none())
            .and_then(blocking),
        _ => None,
    }
}
