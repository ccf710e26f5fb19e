//! Writes a model as text.
//!
//! A statement that touches what is shared begins a step, so it gets a label, named after its line. What a process does with its own variables belongs to the
//! step before. Checks for overflow that are left are assertions in front of the statement that computes the value.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::conclude::in_type;
use super::ir::{
    Arith, Code, Compare, Count, Expr, LabelId, Model, Place, ProcessId, Statement, StatementKind,
    VarId, VarKind, for_statements,
};
use super::lower::{begins_step, is_truth};
use super::source::{At, Built, Sources, unsupported};
use super::types::{DataModel, IntType};

/// How many branches a step may have one after the other: each doubles its paths.
const MOST_BRANCHES: u32 = 3;
/// From so many values on, an input says what can be done about them.
const MANY: i128 = 1 << 12;
const MANY_VALUES: &str = " // many values: bound an input right after it is read (`assume_abort_if_not(0 <= x && x < 10);`), or give the variable an initial value: the one";
/// How long the text may be.
const LONGEST: usize = 4_000_000;

/// The text, and for each of its lines the place that it comes from.
pub(crate) struct Written {
    pub text: String,
    pub lines: Vec<Option<u32>>,
}

pub(crate) fn emit(
    model: &Model,
    data_model: DataModel,
    sources: &Sources,
    title: &str,
) -> Built<Written> {
    let mut writer = Writer {
        model,
        data_model,
        sources,
        text: String::new(),
        lines: Vec::new(),
        names: vec![String::new(); model.variables.len()],
        processes: Vec::new(),
        parameters: Vec::new(),
        labels: HashMap::new(),
        taken: HashSet::new(),
        indent: 0,
        pending: None,
        branches: 0,
        first: false,
        exclusive: false,
        in_step: false,
        process: ProcessId(0),
        failure: None,
    };
    writer.model_text(title)?;
    match writer.failure {
        Some((at, message)) => unsupported(at, message, "use smaller numbers"),
        None => Ok(Written {
            text: writer.text,
            lines: writer.lines,
        }),
    }
}

struct Writer<'m> {
    model: &'m Model,
    data_model: DataModel,
    sources: &'m Sources,
    text: String,
    lines: Vec<Option<u32>>,
    names: Vec<String>,
    processes: Vec<String>,
    parameters: Vec<String>,
    labels: HashMap<LabelId, String>,
    /// Labels of the process that are used.
    taken: HashSet<String>,
    indent: usize,
    /// A label that the next statement gets.
    pending: Option<(String, At)>,
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
    let mut plain: String = wish
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, 'v');
    }
    // The property that all checks hold has the last of these names.
    if threadwise_lang::is_reserved(&plain) || plain == "checks" {
        plain.push('_');
    }
    if !taken(&plain) {
        return plain;
    }
    let mut number = 2;
    loop {
        let name = format!("{plain}_{number}");
        if !taken(&name) {
            return name;
        }
        number += 1;
    }
}

impl Writer<'_> {
    fn line(&mut self, text: &str, at: Option<At>) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push(at.map(|at| self.sources.line(at)));
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

    fn model_text(&mut self, title: &str) -> Built<()> {
        self.line(&format!("// Brought over from {title}."), None);
        self.line("", None);
        let used = self.used();
        self.name_all(&used);
        for position in 0..self.model.parameters.len() {
            self.parameter(position)?;
        }
        if !self.model.parameters.is_empty() {
            self.line("", None);
        }
        for id in &used {
            if self.model.is_shared(*id) {
                let text = self.declaration("shared", *id)?;
                let at = self.model.variable(*id).at;
                self.line(&text, Some(at));
            }
        }
        for position in 0..self.model.processes.len() {
            self.line("", None);
            self.process_text(ProcessId(position), &used)?;
            if self.text.len() > LONGEST {
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

    fn parameter(&mut self, position: usize) -> Built<()> {
        let parameter = self.model.parameters[position].clone();
        let mut text = format!("param {}", self.parameters[position]);
        text.push_str(&format!(" = {}", parameter.initial.unwrap_or(2)));
        if let Some(condition) = parameter.conditions.into_iter().reduce(Expr::and) {
            text.push_str(" where ");
            text.push_str(&self.show(&condition, 0, parameter.at));
        }
        text.push(';');
        self.line(&text, Some(parameter.at));
        Ok(())
    }

    fn declaration(&mut self, word: &str, id: VarId) -> Built<String> {
        let variable = self.model.variable(id);
        let at = variable.at;
        let mut ty = match (variable.kind, variable.range) {
            (VarKind::Truth, _) => "bool".to_owned(),
            (VarKind::Mutex, _) => "mutex".to_owned(),
            (VarKind::Int(_), Some((lo, hi))) => format!("{lo}..{hi}"),
            (VarKind::Int(_), None) => "int".to_owned(),
        };
        for dim in variable.dims.iter().rev() {
            ty = match variable.from_one {
                true => format!("array[1..{dim}] of {ty}"),
                false => format!("array[0..{}] of {ty}", dim - 1),
            };
        }
        let initial = match (variable.kind, variable.initial, variable.parameter) {
            (VarKind::Mutex, ..) => String::new(),
            (_, _, Some(parameter)) => format!(" = {}", self.parameters[parameter]),
            (VarKind::Truth, Some(value), _) => format!(" = {}", value != 0),
            (VarKind::Int(_), Some(value), _) => format!(" = {}", self.number(value, at)),
            (_, None, _) => " = any".to_owned(),
        };
        Ok(format!("{word} {}: {ty}{initial};", self.names[id.0]))
    }

    fn process_text(&mut self, id: ProcessId, used: &BTreeSet<VarId>) -> Built<()> {
        let model = self.model;
        let process = &model.processes[id.0];
        let name = self.processes[id.0].clone();
        let head = match &process.count {
            Count::One => format!("process {name} {{"),
            Count::Fixed(count) => format!("ordered process {name}[i: 1..{count}] {{"),
            Count::Started => format!("process {name}[] {{"),
            Count::Parameter(size) => {
                let size = self.show(size, 0, process.at);
                format!("process {name}[i: 1..{size}] {{")
            }
        };
        self.line(&head, Some(process.at));
        self.indent = 1;
        for variable in used {
            if self.model.variable(*variable).owner == Some(id) {
                let text = self.declaration("local", *variable)?;
                let at = self.model.variable(*variable).at;
                self.line(&text, Some(at));
            }
        }
        self.process = id;
        self.taken = HashSet::new();
        self.labels = HashMap::new();
        self.pending = None;
        self.branches = 0;
        self.first = true;
        self.exclusive = false;
        self.name_labels(&process.body);
        self.code(&process.body);
        self.end_of_block(process.at);
        if self.first {
            let label = self.fresh_label(process.at);
            self.line(&format!("{label}: skip;"), Some(process.at));
        }
        self.indent = 0;
        self.line("}", None);
        Ok(())
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
            let name = match &self.model.labels[label.0].wish {
                Some(wish) => {
                    let others = &self.names;
                    let taken = |name: &str| {
                        self.taken.contains(name) || others.iter().any(|other| other == name)
                    };
                    free_name(wish, &taken)
                }
                None => self.fresh_label(at),
            };
            self.taken.insert(name.clone());
            self.labels.insert(label, name);
        }
    }

    fn fresh_label(&mut self, at: At) -> String {
        let line = self.sources.line(at);
        let name = free_name(&format!("l{line}"), &|name| {
            self.taken.contains(name) || self.names.iter().any(|other| other == name)
        });
        self.taken.insert(name.clone());
        name
    }

    fn label_of(&mut self, label: LabelId, at: At) -> String {
        if let Some(name) = self.labels.get(&label) {
            return name.clone();
        }
        let name = self.fresh_label(at);
        self.labels.insert(label, name.clone());
        name
    }

    fn end_of_block(&mut self, at: At) {
        let _ = at;
        if let Some((label, at)) = self.pending.take() {
            self.line(&format!("{label}: skip;"), Some(at));
            self.first = false;
        }
    }

    /// Writes a statement that is on one line, with its label.
    fn put(&mut self, statement: &str, label: Option<String>, at: At) {
        let text = match label {
            Some(label) => format!("{label}: {statement}"),
            None => statement.to_owned(),
        };
        self.line(&text, Some(at));
    }

    /// The label that a statement gets, if it needs one.
    fn label_for(&mut self, needed: bool, at: At) -> Option<String> {
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
            if self.text.len() > LONGEST {
                return;
            }
            self.statement(statement);
        }
    }

    fn block(&mut self, code: &[Statement]) {
        self.indent += 1;
        self.code(code);
        let at = code.last().map_or(At::default(), |last| last.at);
        self.end_of_block(at);
        self.indent -= 1;
    }

    /// Writes something that is a step by itself, after waiting for others where needed.
    fn step(&mut self, statements: Vec<String>, at: At, touches: bool) {
        let label = self.label_for(touches, at);
        let mut statements = statements;
        if let (Some(exclusive), true, false, false) =
            (self.model.exclusive, touches, self.exclusive, self.in_step)
        {
            let name = &self.names[exclusive.0];
            statements.insert(0, format!("await !locked({name});"));
        }
        match (statements.as_slice(), touches && !self.in_step) {
            ([one], _) => self.put(&one.clone(), label, at),
            (_, true) => {
                self.put("atomic {", label, at);
                self.indent += 1;
                for statement in statements {
                    self.line(&statement, Some(at));
                }
                self.indent -= 1;
                self.line("}", Some(at));
            }
            _ => {
                let mut label = label;
                for statement in statements {
                    self.put(&statement, label.take(), at);
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let at = statement.at;
        let touches = begins_step(statement, self.model);
        match &statement.kind {
            StatementKind::Label(label) => {
                self.end_of_block(at);
                let name = self.label_of(*label, at);
                self.pending = Some((name, at));
            }
            StatementKind::Assign(place, value) => {
                let mut lines = Vec::new();
                let (value, meaning) = match value {
                    // Storing it checks it.
                    Expr::Checked(ty, inner)
                        if self.stores_within(place, *ty)
                            && !matches!(**inner, Expr::Number(_)) =>
                    {
                        (&**inner, remark(&self.overflow(*ty)))
                    }
                    value => (value, String::new()),
                };
                self.checks(value, None, &mut lines, at);
                for index in &place.indices {
                    self.checks(index, None, &mut lines, at);
                }
                // A constant that does not fit: nothing comes after the check.
                if !lines.iter().any(|line| line.starts_with("assert false;")) {
                    let value = self.show(value, 0, at);
                    let place = self.show_place(place, at);
                    lines.push(format!("{place} := {value};{meaning}"));
                }
                self.step(lines, at, touches);
            }
            StatementKind::Havoc(place) => {
                let many = match self.model.variable(place.var).range {
                    Some((lo, hi)) => hi - lo >= MANY,
                    None => true,
                };
                let many = match many && self.model.parameters.is_empty() && self.model.has_main {
                    true => MANY_VALUES,
                    false => "",
                };
                let text = format!("havoc {};{many}", self.show_place(place, at));
                self.step(vec![text], at, touches);
            }
            StatementKind::Assert(condition, meaning) => {
                let mut lines = Vec::new();
                self.checks(condition, None, &mut lines, at);
                let condition = self.show(condition, 0, at);
                lines.push(format!("assert {condition};{}", remark(meaning)));
                self.step(lines, at, touches);
            }
            StatementKind::Await(condition) => {
                let text = format!("await {};", self.show(condition, 0, at));
                self.step(vec![text], at, true);
            }
            StatementKind::Lock(place) => {
                let text = format!("lock {};", self.show_place(place, at));
                self.step(vec![text], at, true);
            }
            StatementKind::Unlock(place) => {
                let text = format!("unlock {};", self.show_place(place, at));
                self.step(vec![text], at, true);
            }
            StatementKind::Start(process) => {
                let text = format!("start {};", self.processes[process.0]);
                self.step(vec![text], at, true);
            }
            StatementKind::Break => self.step(vec!["break;".to_owned()], at, false),
            StatementKind::Return => self.step(vec!["return;".to_owned()], at, false),
            StatementKind::Goto(label) => {
                let name = self.label_of(*label, at);
                self.step(vec![format!("goto {name};")], at, false);
            }
            StatementKind::If(condition, yes, no) => self.branch(condition, yes, no, touches, at),
            StatementKind::Choose(blocks) => {
                let label = self.label_for(false, at);
                self.branches += 1;
                for (position, block) in blocks.iter().enumerate() {
                    match position {
                        0 => self.put("choose {", label.clone(), at),
                        _ => self.line("} or {", Some(at)),
                    }
                    self.block(block);
                }
                self.line("}", Some(at));
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => self.repeat(*head, condition.as_ref(), body, at),
            StatementKind::Atomic(inner) => self.atomic(inner, at),
            StatementKind::Exclusive(begins) => {
                let name = match self.model.exclusive {
                    Some(exclusive) => self.names[exclusive.0].clone(),
                    None => String::new(),
                };
                let label = self.label_for(true, at);
                match begins {
                    true => self.put(&format!("lock {name};"), label, at),
                    false => self.put(&format!("unlock {name};"), label, at),
                }
                self.exclusive = *begins;
            }
            // Settled before.
            StatementKind::Create { .. }
            | StatementKind::Join(_)
            | StatementKind::Detach(_)
            | StatementKind::Initialised(_) => {
                self.failure = Some((at, "this thread was not settled".to_owned()));
            }
        }
    }

    fn atomic(&mut self, inner: &Code, at: At) {
        let label = self.label_for(true, at);
        let guard = match (self.model.exclusive, self.exclusive) {
            (Some(exclusive), false) => {
                Some(format!("await !locked({});", self.names[exclusive.0]))
            }
            _ => None,
        };
        // `atomic { x := x + 1; }` is on one line.
        self.put("atomic {", label, at);
        self.indent += 1;
        if let Some(guard) = guard {
            self.line(&guard, Some(at));
        }
        self.in_step = true;
        self.code(inner);
        self.in_step = false;
        self.indent -= 1;
        self.line("}", Some(at));
    }

    fn branch(&mut self, condition: &Expr, yes: &Code, no: &Code, touches: bool, at: At) {
        let mut checks = Vec::new();
        self.checks(condition, None, &mut checks, at);
        let mut label = self.label_for(touches, at);
        for check in checks {
            self.put(&check, label.take(), at);
        }
        let labelled = self.branches == 0;
        let before = self.branches;
        let mut condition = condition;
        let mut yes = yes;
        let mut no = no;
        let mut word = String::from("if");
        loop {
            let shown = self.show(condition, 0, at);
            self.put(&format!("{word} {shown} {{"), label.take(), at);
            self.block(yes);
            // A chain, if nothing has to happen between.
            if let [
                Statement {
                    kind: StatementKind::If(next, inner, other),
                    ..
                },
            ] = no.as_slice()
                && next.shared_reads(self.model) == 0
                && !has_checks(next)
            {
                (condition, yes, no) = (next, inner, other);
                word = String::from("} else if");
                continue;
            }
            break;
        }
        if !no.is_empty() {
            self.line("} else {", Some(at));
            self.block(no);
        }
        self.line("}", Some(at));
        self.branches = if labelled { 1 } else { before + 1 };
    }

    fn repeat(&mut self, head: LabelId, condition: Option<&Expr>, body: &Code, at: At) {
        // The label of the loop is where jumps to its next round go.
        if let Some((label, place)) = self.pending.take() {
            match self.labels.contains_key(&head) {
                true => self.line(&format!("{label}: skip;"), Some(place)),
                false => {
                    self.labels.insert(head, label);
                }
            }
        }
        let name = self.label_of(head, at);
        (self.branches, self.first) = (0, false);
        let checked = condition.filter(|condition| has_checks(condition));
        match (condition, checked) {
            (Some(_), Some(condition)) => {
                self.line(&format!("{name}: loop {{"), Some(at));
                self.indent += 1;
                let mut checks = Vec::new();
                self.checks(condition, None, &mut checks, at);
                for check in checks {
                    self.line(&check, Some(at));
                }
                let shown = self.show(&condition.clone().not(), 0, at);
                self.line(&format!("if {shown} {{"), Some(at));
                self.indent += 1;
                self.line("break;", Some(at));
                self.indent -= 1;
                self.line("}", Some(at));
                self.indent -= 1;
            }
            (Some(condition), None) => {
                let shown = self.show(condition, 0, at);
                self.line(&format!("{name}: while {shown} {{"), Some(at));
            }
            (None, _) => self.line(&format!("{name}: loop {{"), Some(at)),
        }
        self.block(body);
        self.line("}", Some(at));
        self.branches = 1;
    }

    fn stores_within(&self, place: &Place, ty: IntType) -> bool {
        let range = self.model.variable(place.var).range;
        range.is_some_and(|(lo, hi)| ty.least() <= lo && hi <= ty.greatest())
    }

    /// The assertions that an expression needs, each where it would be evaluated.
    fn checks(&mut self, expr: &Expr, when: Option<&Expr>, lines: &mut Vec<String>, at: At) {
        match expr {
            Expr::And(left, right) | Expr::Or(left, right) => {
                self.checks(left, when, lines, at);
                let own = match expr {
                    Expr::And(..) => (**left).clone(),
                    _ => (**left).clone().not(),
                };
                let both = match when {
                    Some(when) => when.clone().and(own),
                    None => own,
                };
                self.checks(right, Some(&both), lines, at);
            }
            _ => {
                let mut parts = Vec::new();
                expr.for_parts(&mut |part| parts.push(part));
                for part in parts {
                    self.checks(part, when, lines, at);
                }
            }
        }
        if let Expr::Checked(ty, inner) = expr {
            let check = in_type(*ty, (**inner).clone());
            let check = match when {
                Some(when) => when.clone().not().or(check),
                None => check,
            };
            let check = self.show(&check, 0, at);
            lines.push(format!("assert {check};{}", remark(&self.overflow(*ty))));
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

    fn number(&mut self, number: i128, at: At) -> String {
        if i64::try_from(number).is_err() || number == i128::from(i64::MIN) {
            self.failure = Some((
                at,
                format!("the number {number} does not fit 64 bits with a sign"),
            ));
        }
        number.to_string()
    }

    fn show_place(&mut self, place: &Place, at: At) -> String {
        let mut text = self.names[place.var.0].clone();
        for index in &place.indices {
            text.push_str(&format!("[{}]", self.show(index, 0, at)));
        }
        text
    }

    /// An expression as text. `level` is how tightly what stands around it binds.
    fn show(&mut self, expr: &Expr, level: u32, at: At) -> String {
        if self.text.len() > LONGEST {
            return "0".to_owned();
        }
        let (own, text) = match expr {
            Expr::Number(number) if *number < 0 => (5, self.number(*number, at)),
            Expr::Number(number) => (7, self.number(*number, at)),
            Expr::Truth(truth) => (7, truth.to_string()),
            Expr::Load(place) => (7, self.show_place(place, at)),
            Expr::Locked(place) => (7, format!("locked({})", self.show_place(place, at))),
            Expr::Own => (7, "i".to_owned()),
            Expr::Parameter(position) => (7, self.parameters[*position].clone()),
            Expr::Not(inner) => (6, format!("!{}", self.show(inner, 7, at))),
            Expr::Or(left, right) => (
                1,
                format!("{} || {}", self.show(left, 1, at), self.show(right, 2, at)),
            ),
            Expr::And(left, right) => (
                2,
                format!("{} && {}", self.show(left, 2, at), self.show(right, 3, at)),
            ),
            Expr::Compare(op, left, right) => {
                let sign = match op {
                    Compare::Equal => "==",
                    Compare::NotEqual => "!=",
                    Compare::Less => "<",
                    Compare::LessEqual => "<=",
                    Compare::Greater => ">",
                    Compare::GreaterEqual => ">=",
                };
                let truths = is_truth(left, self.model) || is_truth(right, self.model);
                let level = if truths { 7 } else { 4 };
                (
                    3,
                    format!(
                        "{} {sign} {}",
                        self.show(left, level, at),
                        self.show(right, level, at)
                    ),
                )
            }
            Expr::Arith(op @ (Arith::Min | Arith::Max), left, right) => {
                let word = if *op == Arith::Min { "min" } else { "max" };
                (
                    7,
                    format!(
                        "{word}({}, {})",
                        self.show(left, 0, at),
                        self.show(right, 0, at)
                    ),
                )
            }
            Expr::Arith(op, left, right) => {
                // `x + -1` reads better as `x - 1`.
                let (op, right) = match (op, &**right) {
                    (Arith::Add, Expr::Number(number)) if *number < 0 => {
                        (Arith::Sub, Expr::Number(-number))
                    }
                    (Arith::Sub, Expr::Number(number)) if *number < 0 => {
                        (Arith::Add, Expr::Number(-number))
                    }
                    (op, right) => (*op, right.clone()),
                };
                let (own, sign) = match op {
                    Arith::Add => (4, "+"),
                    Arith::Sub => (4, "-"),
                    Arith::Mul => (5, "*"),
                    Arith::Div => (5, "/"),
                    _ => (5, "%"),
                };
                if let (Arith::Sub, Expr::Number(0)) = (op, &**left) {
                    let text = format!("-{}", self.show(&right, 7, at));
                    return match level >= 5 {
                        true => format!("({text})"),
                        false => text,
                    };
                }
                (
                    own,
                    format!(
                        "{} {sign} {}",
                        self.show(left, own, at),
                        self.show(&right, own + 1, at)
                    ),
                )
            }
            // What has to be checked of it stands in front of the statement.
            Expr::Checked(_, inner) | Expr::Wrapping(_, inner) | Expr::Fit(_, inner) => {
                return self.show(inner, level, at);
            }
            Expr::Bits(..) => {
                self.failure = Some((at, "this operation was not settled".to_owned()));
                (7, "0".to_owned())
            }
        };
        match own < level {
            true => format!("({text})"),
            false => text,
        }
    }
}

/// What is wrong if a check of the front end's own fails, for those who see it fail: behind it, on its line.
fn remark(meaning: &str) -> String {
    match meaning {
        "" => String::new(),
        meaning => format!(" // fails: {meaning}"),
    }
}

fn has_checks(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Checked(..));
    expr.for_parts(&mut |part| found |= has_checks(part));
    found
}
