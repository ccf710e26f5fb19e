//! Makes a program of a model.
//!
//! A statement that touches what is shared begins a step, so it gets a label, named after its line. What a process does with its own variables belongs to the
//! step before. Checks for overflow that are left are assertions in front of the statement that computes the value.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use threadwise_lang::build::{Builder, Built as Program};
use threadwise_lang::program::{
    Block, Domain, Expr as Value, ExprKind, IdOrder, Initial, Instances, LocationId, Note, Param,
    ParamId, Place as Cell, Scalar, Span, Stmt, StmtKind, Template, TemplateId, VarRef, Variable,
};

use super::conclude::in_type;
use super::ir::{
    Arith, Code, Count, Expr, LabelId, Model, Place, ProcessId, Statement, StatementKind, VarId,
    VarKind, for_statements,
};
use super::lower::begins_step;
use super::source::{At, Built, Sources, unsupported};
use super::types::{DataModel, IntType};
use crate::front::names::{free, identifier};

/// How many branches a step may have one after the other: each doubles its paths.
const MOST_BRANCHES: u32 = 3;
/// From so many values on, an input says what can be done about them.
const MANY: i128 = 1 << 12;
const MANY_VALUES: &str = "bound an input right after it is read (`assume_abort_if_not(0 <= x && x < 10);`), or give the variable an initial value: the one";
/// How many statements and expressions there may be.
const LARGEST: usize = 500_000;

/// The program of a model; `title` is the name of the file that it comes from.
pub(crate) fn emit(
    model: &Model,
    data_model: DataModel,
    sources: &Sources,
    title: &str,
) -> Built<Program> {
    let mut writer = Writer {
        model,
        data_model,
        sources,
        builder: Builder::new(),
        names: vec![String::new(); model.variables.len()],
        processes: Vec::new(),
        parameters: Vec::new(),
        variables: HashMap::new(),
        params: Vec::new(),
        templates: Vec::new(),
        labels: HashMap::new(),
        taken: HashSet::new(),
        block: Vec::new(),
        size: 0,
        pending: None,
        branches: 0,
        first: false,
        exclusive: false,
        in_step: false,
        process: ProcessId(0),
        failure: None,
    };
    writer.model(title)?;
    if let Some((at, message)) = writer.failure {
        return unsupported(at, message, "use smaller numbers");
    }
    let mut program = writer.builder.finish();
    for template in &mut program.program.templates {
        place_labels(template);
    }
    Ok(program)
}

/// A label is where its statement is.
fn place_labels(template: &mut Template) {
    fn places(block: &Block, into: &mut Vec<(LocationId, Span)>) {
        for stmt in block {
            into.extend(stmt.label.map(|label| (label, stmt.span)));
            for inner in stmt.kind.parts().blocks {
                places(inner, into);
            }
        }
    }
    let mut found = Vec::new();
    places(&template.body, &mut found);
    for (label, span) in found {
        template.locations[label].span = span;
    }
}

struct Writer<'m> {
    model: &'m Model,
    data_model: DataModel,
    sources: &'m Sources,
    builder: Builder,
    /// The names of variables, processes and parameters, by their numbers.
    names: Vec<String>,
    processes: Vec<String>,
    parameters: Vec<String>,
    /// What became of them.
    variables: HashMap<VarId, VarRef>,
    templates: Vec<TemplateId>,
    params: Vec<ParamId>,
    labels: HashMap<LabelId, LocationId>,
    /// Labels of the process that are used.
    taken: HashSet<String>,
    /// The block that is being written.
    block: Block,
    /// How many statements and expressions there are.
    size: usize,
    /// A label that the next statement gets.
    pending: Option<(LocationId, At)>,
    branches: u32,
    /// The next statement is the first of its process.
    first: bool,
    /// No other process moves here.
    exclusive: bool,
    in_step: bool,
    process: ProcessId,
    failure: Option<(At, String)>,
}

/// A name that is not taken.
fn free_name(wish: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let mut name = identifier(wish, 'v');
    // The property that all checks hold has the last of these names.
    if threadwise_lang::is_reserved(&name) || name == "checks" {
        name.push('_');
    }
    free(name, taken)
}

impl Writer<'_> {
    fn span(&self, at: At) -> Span {
        self.sources.span(at)
    }

    fn put(&mut self, stmt: Stmt) {
        self.size += 1;
        self.block.push(stmt);
    }

    fn used(&self) -> BTreeSet<VarId> {
        let mut used: BTreeSet<VarId> = BTreeSet::new();
        for process in &self.model.processes {
            for_statements(&process.body, &mut |statement| {
                used.extend(statement.written());
                statement.for_expressions(&mut |expr| {
                    expr.for_places(&mut |place| {
                        used.insert(place.var);
                    });
                });
            });
        }
        used.extend(self.model.exclusive);
        used
    }

    fn model(&mut self, title: &str) -> Built<()> {
        let used = self.used();
        self.name_all(&used);
        self.params = (0..self.parameters.len()).map(ParamId::new).collect();
        self.builder.comment(&format!("Brought over from {title}."));
        self.builder.blank();
        (0..self.model.parameters.len()).for_each(|position| self.parameter(position));
        self.builder.blank();
        for id in used.iter().filter(|id| self.model.is_shared(**id)) {
            let variable = self.declaration(*id);
            let shared = self.builder.shared(variable);
            self.variables.insert(*id, VarRef::Shared(shared));
        }
        for position in 0..self.model.processes.len() {
            self.builder.blank();
            self.template(ProcessId(position), &used);
        }
        for position in 0..self.model.processes.len() {
            self.body(ProcessId(position));
            if self.size > LARGEST {
                let help = "inline less, or write shorter functions";
                let at = self.model.processes[position].at;
                return unsupported(at, "the program gets too large", help);
            }
        }
        Ok(())
    }

    fn name_all(&mut self, used: &BTreeSet<VarId>) {
        let mut global: HashSet<String> = HashSet::new();
        // A process's own number is called so, and would hide another thing of that name.
        if (0..self.model.processes.len()).any(|process| self.has_number(process)) {
            global.insert("i".to_owned());
        }
        for parameter in &self.model.parameters {
            let name = free_name(&parameter.name, &|name| global.contains(name));
            global.insert(name.clone());
            self.parameters.push(name);
        }
        for id in used.iter().filter(|id| self.model.is_shared(**id)) {
            let name = free_name(&self.model.variable(*id).wish, &|name| {
                global.contains(name)
            });
            global.insert(name.clone());
            self.names[id.0] = name;
        }
        for process in &self.model.processes {
            let name = free_name(&process.wish, &|name| global.contains(name));
            global.insert(name.clone());
            self.processes.push(name);
        }
        for position in 0..self.model.processes.len() {
            let mut own: HashSet<String> = HashSet::new();
            for id in used {
                let variable = self.model.variable(*id);
                if variable.owner == Some(ProcessId(position)) {
                    let taken =
                        |name: &str| global.contains(name) || own.contains(name) || name == "i";
                    let name = match variable.wish.as_str() {
                        // The process's own number has this name.
                        "i" if !self.names_globally("i")
                            && !own.contains("i")
                            && !self.has_number(position) =>
                        {
                            "i".to_owned()
                        }
                        wish => free_name(wish, &taken),
                    };
                    own.insert(name.clone());
                    self.names[id.0] = name;
                }
            }
        }
    }

    /// Whether something outside of processes has this name.
    fn names_globally(&self, name: &str) -> bool {
        let shared =
            |(id, known): (usize, &String)| known == name && self.model.is_shared(VarId(id));
        self.parameters.iter().any(|known| known == name)
            || self.processes.iter().any(|known| known == name)
            || self.names.iter().enumerate().any(shared)
    }

    fn has_number(&self, process: usize) -> bool {
        matches!(
            self.model.processes[process].count,
            Count::Fixed(_) | Count::Parameter(_)
        )
    }

    fn parameter(&mut self, position: usize) {
        let parameter = &self.model.parameters[position];
        let (at, span) = (parameter.at, self.span(parameter.at));
        let initial = self.number(parameter.initial.unwrap_or(2), at);
        let conditions = parameter.conditions.iter().cloned();
        let constraint = conditions.reduce(Expr::and);
        let constraint = constraint.map(|condition| self.value(&condition, at));
        self.builder.param(Param {
            name: self.parameters[position].clone(),
            default: Some(initial),
            constraint,
            span,
        });
    }

    fn declaration(&mut self, id: VarId) -> Variable {
        let variable = self.model.variable(id);
        let (at, span) = (variable.at, self.span(variable.at));
        let scalar = match (variable.kind, variable.range) {
            (VarKind::Truth, _) => Scalar::Bool,
            (VarKind::Mutex, _) => Scalar::Mutex,
            (VarKind::Int(_), Some((lo, hi))) => {
                Scalar::Range(Arc::new(self.number(lo, at)), Arc::new(self.number(hi, at)))
            }
            (VarKind::Int(_), None) => Scalar::Int,
        };
        let first = i128::from(variable.from_one);
        let dims = variable.dims.iter().map(|dim| {
            let last = first + i128::from(*dim) - 1;
            let [first, last] = [first, last].map(|end| Arc::new(self.number(end, at)));
            Domain::Range(first, last)
        });
        let dims = dims.collect();
        let initial = match (variable.kind, variable.initial, variable.parameter) {
            (VarKind::Mutex, ..) => Initial::Free,
            (_, _, Some(parameter)) => Initial::Value(Value::param(self.params[parameter], span)),
            (VarKind::Truth, Some(value), _) => Initial::Value(Value::truth(value != 0, span)),
            (VarKind::Int(_), Some(value), _) => Initial::Value(self.number(value, at)),
            (_, None, _) => Initial::Any,
        };
        Variable {
            name: self.names[id.0].clone(),
            dims,
            scalar,
            initial,
            loop_counter: false,
            span,
        }
    }

    fn template(&mut self, id: ProcessId, used: &BTreeSet<VarId>) {
        let process = &self.model.processes[id.0];
        let span = self.span(process.at);
        let one = Value::int(1, span);
        let (order, instances) = match &process.count {
            Count::One => (IdOrder::Unordered, Instances::Single),
            Count::Fixed(count) => {
                let count = Value::int(i64::from(*count), span);
                (IdOrder::Ordered, Instances::Range(one, count))
            }
            Count::Started => (IdOrder::Unordered, Instances::Dynamic),
            Count::Parameter(size) => {
                let size = self.value(size, process.at);
                (IdOrder::Unordered, Instances::Range(one, size))
            }
        };
        let number = self.has_number(id.0).then_some("i");
        let name = &self.processes[id.0];
        let template = self.builder.template(name, order, number, instances, span);
        self.templates.push(template);
        for variable in used {
            if self.model.variable(*variable).owner == Some(id) {
                let declared = self.declaration(*variable);
                let local = self.builder.local(template, declared);
                self.variables.insert(*variable, VarRef::Local(local));
            }
        }
    }

    fn body(&mut self, id: ProcessId) {
        let process = &self.model.processes[id.0];
        self.process = id;
        self.taken = HashSet::new();
        self.labels = HashMap::new();
        self.pending = None;
        self.branches = 0;
        self.first = true;
        self.exclusive = false;
        self.name_labels(&process.body);
        let mut body = self.inner(&process.body);
        if self.first {
            let label = self.fresh_label(process.at);
            let skip = Stmt::new(StmtKind::Skip, self.span(process.at));
            body.push(skip.labelled(label));
        }
        self.builder.body(self.templates[id.0], body);
    }

    /// Labels that the program names keep their names.
    fn name_labels(&mut self, body: &Code) {
        let mut wishes = Vec::new();
        for_statements(body, &mut |statement| {
            if let StatementKind::Label(label) = &statement.kind {
                wishes.push((*label, statement.at));
            }
        });
        for (label, at) in wishes {
            let location = match &self.model.labels[label.0].wish {
                Some(wish) => self.named_label(wish, at),
                None => self.fresh_label(at),
            };
            self.labels.insert(label, location);
        }
    }

    fn named_label(&mut self, wish: &str, at: At) -> LocationId {
        let name = free_name(wish, &|name| {
            self.taken.contains(name) || self.names.iter().any(|other| other == name)
        });
        self.taken.insert(name.clone());
        let template = self.templates[self.process.0];
        self.builder.label(template, &name, self.sources.span(at))
    }

    fn fresh_label(&mut self, at: At) -> LocationId {
        let line = self.sources.line(at);
        self.named_label(&format!("l{line}"), at)
    }

    fn label_of(&mut self, label: LabelId, at: At) -> LocationId {
        if let Some(location) = self.labels.get(&label) {
            return *location;
        }
        let location = self.fresh_label(at);
        self.labels.insert(label, location);
        location
    }

    /// A label that nothing came behind gets a statement.
    fn settle_label(&mut self) {
        if let Some((label, at)) = self.pending.take() {
            let skip = Stmt::new(StmtKind::Skip, self.span(at));
            self.put(skip.labelled(label));
            self.first = false;
        }
    }

    /// The label that a statement gets, if it needs one.
    fn label_for(&mut self, needed: bool, at: At) -> Option<LocationId> {
        if self.in_step {
            return None;
        }
        if let Some((label, _)) = self.pending.take() {
            (self.branches, self.first) = (0, false);
            return Some(label);
        }
        if needed || self.first || self.branches > MOST_BRANCHES {
            (self.branches, self.first) = (0, false);
            return Some(self.fresh_label(at));
        }
        None
    }

    fn code(&mut self, code: &[Statement]) {
        for statement in code {
            if self.size > LARGEST {
                return;
            }
            self.statement(statement);
        }
    }

    /// The block that code becomes.
    fn inner(&mut self, code: &[Statement]) -> Block {
        let around = std::mem::take(&mut self.block);
        self.code(code);
        self.settle_label();
        std::mem::replace(&mut self.block, around)
    }

    /// That nobody moves alone, where that has to be waited for.
    fn guard(&mut self, at: At) -> Option<Stmt> {
        let exclusive = self.model.exclusive.filter(|_| !self.exclusive)?;
        let held = Value::locked(self.cell(&Place::of(exclusive), at));
        Some(Stmt::new(StmtKind::Await(held.negated()), self.span(at)))
    }

    /// Writes something that is a step by itself, after waiting for others where needed.
    fn step(&mut self, mut stmts: Block, at: At, touches: bool) {
        let mut label = self.label_for(touches, at);
        let alone = touches && !self.in_step;
        if alone && let Some(guard) = self.guard(at) {
            stmts.insert(0, guard);
        }
        if alone && stmts.len() > 1 {
            self.size += stmts.len();
            stmts = vec![self.one_step(stmts, at)];
        }
        for stmt in stmts {
            self.put(Stmt {
                label: label.take(),
                ..stmt
            });
        }
    }

    fn one_step(&self, body: Block, at: At) -> Stmt {
        Stmt::new(StmtKind::Group { atomic: true, body }, self.span(at))
    }

    fn statement(&mut self, statement: &Statement) {
        let at = statement.at;
        let touches = begins_step(statement, self.model);
        let kind = match &statement.kind {
            StatementKind::Label(label) => {
                self.settle_label();
                self.pending = Some((self.label_of(*label, at), at));
                return;
            }
            StatementKind::Assign(place, value) => {
                let stmts = self.assignment(place, value, at);
                return self.step(stmts, at, touches);
            }
            StatementKind::Assert(condition, meaning) => {
                let mut stmts = self.checks_of(condition, at);
                stmts.push(self.assertion(condition, meaning, at));
                return self.step(stmts, at, touches);
            }
            StatementKind::Havoc(place) => {
                let stmt = self.input(place, at);
                return self.step(vec![stmt], at, touches);
            }
            StatementKind::If(condition, yes, no) => {
                return self.branch(condition, yes, no, touches, at);
            }
            StatementKind::Choose(blocks) => return self.choose(blocks, at),
            StatementKind::Loop {
                head,
                condition,
                body,
            } => return self.repeat(*head, condition.as_ref(), body, at),
            StatementKind::Atomic(inner) => return self.atomic(inner, at),
            StatementKind::Exclusive(begins) => return self.alone(*begins, at),
            StatementKind::Await(condition) => StmtKind::Await(self.value(condition, at)),
            StatementKind::Lock(place) => StmtKind::Lock(self.cell(place, at)),
            StatementKind::Unlock(place) => StmtKind::Unlock(self.cell(place, at)),
            StatementKind::Start(process) => StmtKind::Start(self.templates[process.0], Vec::new()),
            StatementKind::Break => StmtKind::Break,
            StatementKind::Return => StmtKind::Return,
            StatementKind::Goto(label) => StmtKind::Goto(self.label_of(*label, at)),
            // Settled before.
            StatementKind::Create { .. }
            | StatementKind::Join(_)
            | StatementKind::Detach(_)
            | StatementKind::Initialised(_) => {
                self.failure = Some((at, "this thread was not settled".to_owned()));
                return;
            }
        };
        let waits = !matches!(kind, StmtKind::Break | StmtKind::Return | StmtKind::Goto(_));
        self.step(vec![Stmt::new(kind, self.span(at))], at, waits);
    }

    fn assignment(&mut self, place: &Place, value: &Expr, at: At) -> Block {
        let (value, meaning) = match value {
            // Storing it checks it.
            Expr::Checked(ty, inner)
                if self.stores_within(place, *ty) && !matches!(**inner, Expr::Number(_)) =>
            {
                (&**inner, Some(self.overflow(*ty)))
            }
            value => (value, None),
        };
        let mut stmts = self.checks_of(value, at);
        for index in &place.indices {
            stmts.extend(self.checks_of(index, at));
        }
        // A constant that does not fit: nothing comes after the check.
        let fails = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Assert(check) => check.kind == ExprKind::Bool(false),
            _ => false,
        };
        if !stmts.iter().any(fails) {
            let value = self.value(value, at);
            let cell = self.cell(place, at);
            let owner = Some(self.templates[self.process.0]);
            let mut stmt = self.builder.assign(owner, cell, value, self.span(at));
            stmt.note = meaning.map(Note::Fails);
            stmts.push(stmt);
        }
        stmts
    }

    fn input(&mut self, place: &Place, at: At) -> Stmt {
        let range = self.model.variable(place.var).range;
        let many = range.is_none_or(|(lo, hi)| hi - lo >= MANY);
        let advised = many && self.model.parameters.is_empty() && self.model.has_main;
        let stmt = Stmt::new(StmtKind::Havoc(vec![self.cell(place, at)]), self.span(at));
        match advised {
            true => stmt.noted(Note::Wide(MANY_VALUES.to_owned())),
            false => stmt,
        }
    }

    fn choose(&mut self, blocks: &[Code], at: At) {
        let label = self.label_for(false, at);
        self.branches += 1;
        let blocks = blocks.iter().map(|block| self.inner(block)).collect();
        let stmt = Stmt::new(StmtKind::Choose(blocks), self.span(at));
        self.put(Stmt { label, ..stmt });
    }

    /// Begin or end of a part during which no other process moves.
    fn alone(&mut self, begins: bool, at: At) {
        let Some(exclusive) = self.model.exclusive else {
            return;
        };
        let label = self.label_for(true, at);
        let cell = self.cell(&Place::of(exclusive), at);
        let kind = match begins {
            true => StmtKind::Lock(cell),
            false => StmtKind::Unlock(cell),
        };
        self.put(Stmt {
            label,
            ..Stmt::new(kind, self.span(at))
        });
        self.exclusive = begins;
    }

    fn atomic(&mut self, inner: &Code, at: At) {
        let label = self.label_for(true, at);
        let guard = self.guard(at);
        self.in_step = true;
        let around = std::mem::replace(&mut self.block, guard.into_iter().collect());
        self.code(inner);
        let body = std::mem::replace(&mut self.block, around);
        self.in_step = false;
        let stmt = self.one_step(body, at);
        self.put(Stmt { label, ..stmt });
    }

    fn branch(&mut self, condition: &Expr, yes: &Code, no: &Code, touches: bool, at: At) {
        let checks = self.checks_of(condition, at);
        let mut label = self.label_for(touches, at);
        for check in checks {
            self.put(Stmt {
                label: label.take(),
                ..check
            });
        }
        let labelled = self.branches == 0;
        let before = self.branches;
        let (mut condition, mut yes, mut no) = (condition, yes, no);
        let mut branches = Vec::new();
        loop {
            let test = self.value(condition, at);
            branches.push((test, self.inner(yes)));
            // A chain, if nothing has to happen between.
            match no.as_slice() {
                [
                    Statement {
                        kind: StatementKind::If(next, inner, other),
                        ..
                    },
                ] if next.shared_reads(self.model) == 0 && !has_checks(next) => {
                    (condition, yes, no) = (next, inner, other);
                }
                _ => break,
            }
        }
        let otherwise = self.inner(no);
        let stmt = Stmt::new(StmtKind::If(branches, otherwise), self.span(at));
        self.put(Stmt { label, ..stmt });
        self.branches = if labelled { 1 } else { before + 1 };
    }

    fn repeat(&mut self, head: LabelId, condition: Option<&Expr>, body: &Code, at: At) {
        // The label of the loop is where jumps to its next round go.
        if let Some((label, _)) = self.pending {
            if self.labels.contains_key(&head) {
                self.settle_label();
            } else {
                self.pending = None;
                self.labels.insert(head, label);
            }
        }
        let label = self.label_of(head, at);
        (self.branches, self.first) = (0, false);
        let mut first = Block::new();
        let mut test = None;
        if let Some(condition) = condition {
            match has_checks(condition) {
                true => {
                    first = self.checks_of(condition, at);
                    let over = self.value(&condition.clone().not(), at);
                    let leave = vec![Stmt::new(StmtKind::Break, self.span(at))];
                    let kind = StmtKind::If(vec![(over, leave)], Vec::new());
                    first.push(Stmt::new(kind, self.span(at)));
                }
                false => test = Some(self.value(condition, at)),
            }
        }
        first.extend(self.inner(body));
        let kind = match test {
            Some(test) => StmtKind::While(test, first),
            None => StmtKind::Loop(first),
        };
        let stmt = Stmt::new(kind, self.span(at));
        self.put(stmt.labelled(label));
        self.branches = 1;
    }

    fn stores_within(&self, place: &Place, ty: IntType) -> bool {
        let range = self.model.variable(place.var).range;
        range.is_some_and(|(lo, hi)| ty.least() <= lo && hi <= ty.greatest())
    }

    fn checks_of(&mut self, expr: &Expr, at: At) -> Block {
        let mut stmts = Vec::new();
        self.checks(expr, None, &mut stmts, at);
        stmts
    }

    /// The assertions that an expression needs, each where it would be evaluated.
    fn checks(&mut self, expr: &Expr, when: Option<&Expr>, stmts: &mut Block, at: At) {
        match expr {
            Expr::And(left, right) | Expr::Or(left, right) => {
                self.checks(left, when, stmts, at);
                let own = match expr {
                    Expr::And(..) => (**left).clone(),
                    _ => (**left).clone().not(),
                };
                let both = match when {
                    Some(when) => when.clone().and(own),
                    None => own,
                };
                self.checks(right, Some(&both), stmts, at);
            }
            _ => {
                let mut parts = Vec::new();
                expr.for_parts(&mut |part| parts.push(part));
                for part in parts {
                    self.checks(part, when, stmts, at);
                }
            }
        }
        if let Expr::Checked(ty, inner) = expr {
            let check = in_type(*ty, (**inner).clone());
            let check = match when {
                Some(when) => when.clone().not().or(check),
                None => check,
            };
            let meaning = self.overflow(*ty);
            stmts.push(self.assertion(&check, &meaning, at));
        }
    }

    /// A check, with what is wrong if it fails, for those who see it fail.
    fn assertion(&mut self, condition: &Expr, meaning: &str, at: At) -> Stmt {
        let stmt = Stmt::new(StmtKind::Assert(self.value(condition, at)), self.span(at));
        match meaning {
            "" => stmt,
            meaning => stmt.noted(Note::Fails(meaning.to_owned())),
        }
    }

    /// What is wrong where a value leaves a signed type.
    fn overflow(&self, ty: IntType) -> String {
        let name = match self.data_model {
            _ if ty.bits <= 32 => "int",
            DataModel::Lp64 => "long",
            DataModel::Ilp32 => "long long",
        };
        format!("signed overflow: the value is none of `{name}`")
    }

    fn number(&mut self, number: i128, at: At) -> Value {
        let fits = i64::try_from(number).ok().filter(|fits| *fits != i64::MIN);
        if fits.is_none() {
            let message = format!("the number {number} does not fit 64 bits with a sign");
            self.failure = Some((at, message));
        }
        Value::int(fits.unwrap_or(0), self.span(at))
    }

    fn cell(&mut self, place: &Place, at: At) -> Cell {
        let indices = place.indices.iter().map(|index| self.value(index, at));
        let indices = indices.collect();
        let owner = Some(self.templates[self.process.0]);
        let var = self.variables[&place.var];
        self.builder.place(owner, var, indices, self.span(at))
    }

    /// What an expression becomes.
    fn value(&mut self, expr: &Expr, at: At) -> Value {
        self.size += 1;
        let span = self.span(at);
        match expr {
            Expr::Number(number) => self.number(*number, at),
            Expr::Truth(truth) => Value::truth(*truth, span),
            Expr::Load(place) => {
                let cell = self.cell(place, at);
                let owner = Some(self.templates[self.process.0]);
                self.builder.read(owner, cell)
            }
            Expr::Locked(place) => Value::locked(self.cell(place, at)),
            Expr::Own => Value::own(self.templates[self.process.0], span),
            Expr::Parameter(position) => Value::param(self.params[*position], span),
            Expr::Not(inner) => self.value(inner, at).negated(),
            Expr::Or(left, right) => self.value(left, at).or(self.value(right, at)),
            Expr::And(left, right) => self.value(left, at).and(self.value(right, at)),
            Expr::Compare(op, left, right) => {
                self.value(left, at).compare(*op, self.value(right, at))
            }
            Expr::Arith(op, left, right) => self.arithmetic(*op, left, right, at),
            // What has to be checked of it stands in front of the statement.
            Expr::Checked(_, inner) | Expr::Wrapping(_, inner) | Expr::Fit(_, inner) => {
                self.value(inner, at)
            }
            Expr::Bits(..) => {
                self.failure = Some((at, "this operation was not settled".to_owned()));
                Value::int(0, span)
            }
        }
    }

    fn arithmetic(&mut self, op: Arith, left: &Expr, right: &Expr, at: At) -> Value {
        // `x + -1` reads better as `x - 1`.
        let (op, right) = match (op, right) {
            (Arith::Add, Expr::Number(number)) if *number < 0 => {
                (Arith::Sub, self.number(-number, at))
            }
            (Arith::Sub, Expr::Number(number)) if *number < 0 => {
                (Arith::Add, self.number(-number, at))
            }
            (op, right) => (op, self.value(right, at)),
        };
        match op {
            Arith::Sub if *left == Expr::Number(0) => right.negative(),
            op => self.value(left, at).arith(op, right),
        }
    }
}

fn has_checks(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Checked(..));
    expr.for_parts(&mut |part| found |= has_checks(part));
    found
}
