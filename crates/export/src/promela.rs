//! Promela, the language of SPIN: a system becomes a program with exactly the same states.
//!
//! A template becomes a proctype, a location a label, and each step one indivisible statement
//! (`d_step`) followed by a jump, so SPIN's control state is the program counter and nothing is added. What would add states, or
//! take some away, is avoided:
//!
//! - a process at `done` blocks at an end label instead of terminating, because SPIN removes
//!   processes in the reverse of the order in which they began;
//! - rests (`stay`) are left out: they lead nowhere, and SPIN then sees a deadlock where
//!   threadwise does, in a state in which nobody can do anything else;
//! - an invariant is watched by a process of its own which can move only where it is false;
//! - a failing check is a step that asserts `false` and leads back, so that a search that does
//!   not stop at errors sees no other states;
//! - values that are computed before a simultaneous assignment stand in `hidden` variables;
//! - if variables begin with any value, `init` chooses them and then starts the processes. That
//!   adds the one state before the choice ([`Promela::extra_states`]).
//!
//! SPIN leaves out of the state what is written but never read, unless it is run with `-o2`, and
//! reduces interleavings, unless the verifier is compiled with `-DNOREDUCE`.
//!
//! Promela counts with 32 bits and has no unbounded integers, and processes that `start` others
//! end in an order that it does not allow. Such systems are refused.

mod text;

use std::collections::BTreeSet;
use std::fmt::Write;

use threadwise_lang::program::{ArithOp, CompareOp, FoldKind, LocationId, TemplateId};
use threadwise_model::system::{
    CellDomain, CellInitial, Clause, Expr, Place, Scope, Step, System, SystemPropertyKind, Update,
    VarId,
};

use text::{
    RESERVED, Scene, Written, add, arith, balanced, compare, constant, join, not, own, reads, truth,
};

/// A Promela program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promela {
    /// Its text.
    pub text: String,
    /// How many states SPIN finds beyond those of the system.
    pub extra_states: u64,
}

/// Why a system cannot be written in Promela.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A variable of type `int`.
    #[error("`{0}` is an unbounded `int`, and Promela has none: give it a range")]
    Unbounded(String),
    /// A variable whose values do not fit.
    #[error("the values of `{0}` do not fit into the 32 bits of Promela's integers")]
    WideVariable(String),
    /// A variable whose type has no values.
    #[error("the type of `{0}` has no values, so there is no initial state")]
    NoValues(String),
    /// A computation that may not fit.
    #[error("a computation in {0} may leave the 32 bits of Promela's integers")]
    WideComputation(String),
    /// A dynamic template.
    #[error(
        "processes of `{0}` are started while the program runs, which this export does not express"
    )]
    Dynamic(String),
    /// A condition on initial states.
    #[error("`initially` is a condition on initial states, which this export does not express")]
    Initially,
    /// Too many processes.
    #[error("there are {0} processes, and SPIN takes at most 255")]
    TooManyProcesses(u32),
    /// Too many alternatives.
    #[error("{0} has too many alternatives to write them down")]
    TooManyChoices(String),
    /// A property that is not one of safety.
    #[error("`{0}` is a liveness property, which this export does not express")]
    Liveness(String),
    /// An initial value that is none of the variable's values.
    #[error("the initial value of `{0}` cannot be written down")]
    Initial(String),
    /// The text would be too long.
    #[error("the program would be too long: more than {MOST_BYTES} bytes")]
    TooLong,
}

/// A condition that always holds: SPIN refuses a loop on one that it knows to.
const ALWAYS: &str = "(_nr_pr > 0)";
/// The longest program that is written.
const MOST_BYTES: usize = 16 << 20;
/// The most alternatives of one step, or of one initial value.
const MOST_ALTERNATIVES: i128 = 1024;

/// Writes a system in Promela, with the properties at these positions. The built-in checks are
/// always part of the program.
pub fn promela(system: &System, properties: &[usize]) -> Result<Promela, ExportError> {
    Writer::new(system)?.program(properties)
}

struct Writer<'a> {
    system: &'a System,
    /// Names of variables, proctypes and labels in the Promela program.
    vars: Vec<String>,
    proctypes: Vec<String>,
    labels: Vec<Vec<String>>,
    /// Initial values are chosen by `init`, which is the first process.
    chosen: bool,
    /// The most temporaries that a step needs.
    temporaries: usize,
    body: String,
}

impl<'a> Writer<'a> {
    fn new(system: &'a System) -> Result<Self, ExportError> {
        for template in &system.templates {
            if template.dynamic {
                return Err(ExportError::Dynamic(template.name.clone()));
            }
        }
        if !system.initially.is_empty() {
            return Err(ExportError::Initially);
        }
        if system.processes() > 250 {
            return Err(ExportError::TooManyProcesses(system.processes()));
        }
        let mut used: BTreeSet<String> = RESERVED.iter().map(|&word| word.to_owned()).collect();
        let mut name = |wanted: &str| {
            let mut name = own(wanted);
            while !used.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let proctypes: Vec<String> = system.templates.iter().map(|t| name(&t.name)).collect();
        let vars = system.vars.iter().map(|var| match var.scope {
            Scope::Shared => name(&var.name),
            Scope::Local(template) => {
                name(&format!("{}_{}", system.templates[template].name, var.name))
            }
        });
        let vars: Vec<String> = vars.collect();
        let chosen = system
            .vars
            .iter()
            .any(|var| var.initial == CellInitial::Any);
        Ok(Writer {
            system,
            vars,
            proctypes,
            labels: Vec::new(),
            chosen,
            temporaries: 0,
            body: String::new(),
        })
    }

    fn program(mut self, properties: &[usize]) -> Result<Promela, ExportError> {
        let mut invariants = Vec::new();
        let mut deadlock = false;
        for property in properties
            .iter()
            .filter_map(|&at| self.system.properties.get(at))
        {
            match &property.kind {
                SystemPropertyKind::Checks => {}
                SystemPropertyKind::DeadlockFree => deadlock = true,
                SystemPropertyKind::Invariant(expr) => invariants.push((&property.name, expr)),
                SystemPropertyKind::Liveness(_) => {
                    return Err(ExportError::Liveness(property.name.clone()));
                }
            }
        }
        // Where freedom from deadlock is not asked for, a process may end anywhere.
        let prefix = if deadlock { "at_" } else { "end_at_" };
        for template in &self.system.templates {
            let mut labels: Vec<String> = template
                .locations
                .iter()
                .map(|name| format!("{prefix}{name}"))
                .collect();
            if let Some(done) = labels.last_mut() {
                *done = "end_done".to_owned();
            }
            self.labels.push(labels);
        }
        for template in self.system.templates.indices() {
            self.template(template)?;
        }
        let mut monitors = Vec::new();
        for (name, invariant) in &invariants {
            monitors.push(self.monitor(name, invariant)?);
        }
        if self.chosen {
            self.init(&monitors)?;
        }
        let mut text = self.header(properties);
        self.declarations(&mut text)?;
        text.push_str(&self.body);
        if text.len() > MOST_BYTES {
            return Err(ExportError::TooLong);
        }
        Ok(Promela {
            text,
            extra_states: u64::from(self.chosen),
        })
    }

    fn header(&self, properties: &[usize]) -> String {
        let params: Vec<String> = self
            .system
            .params
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let names: Vec<&str> = properties
            .iter()
            .filter_map(|&at| Some(self.system.properties.get(at)?.name.as_str()))
            .collect();
        let mut text = String::from("/* Written by threadwise");
        if !params.is_empty() {
            let _ = write!(text, " for {}", params.join(", "));
        }
        let _ = writeln!(text, ". Properties: {}.", names.join(", "));
        text.push_str(" * To visit the same states as threadwise:\n");
        text.push_str(
            " *   spin -a -o2 FILE && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan\n",
        );
        if self.chosen {
            text.push_str(
                " * SPIN counts one more: the state before the initial values are chosen.\n",
            );
        }
        text.push_str(" */\n\n");
        text
    }

    fn copies(&self, scope: Scope) -> u32 {
        match scope {
            Scope::Shared => 1,
            Scope::Local(template) => self.system.templates[template].count,
        }
    }

    fn is_pc(&self, var: VarId) -> Option<TemplateId> {
        match self.system.vars[var].domain {
            CellDomain::Location(template) => Some(template),
            _ => None,
        }
    }

    /// The least and the greatest value of a variable, and what is taken off before it is stored.
    fn range(&self, var: VarId) -> Result<(i64, i64, i64), ExportError> {
        let info = &self.system.vars[var];
        let (lo, hi) = self
            .system
            .values(info.domain)
            .ok_or_else(|| ExportError::Unbounded(info.name.clone()))?;
        let base = if lo < 0 && i128::from(hi) - i128::from(lo) <= 255 {
            lo
        } else {
            0
        };
        Ok((lo, hi, base))
    }

    fn declarations(&self, text: &mut String) -> Result<(), ExportError> {
        for (id, var) in self.system.vars.iter_enumerated() {
            let copies = self.copies(var.scope);
            let cells = copies as usize * var.len as usize;
            if self.is_pc(id).is_some() || cells == 0 {
                continue;
            }
            let (lo, hi, base) = self.range(id)?;
            if lo > hi {
                return Err(ExportError::NoValues(var.name.clone()));
            }
            let wide = || ExportError::WideVariable(var.name.clone());
            let (lo, hi) = (
                lo.checked_sub(base).ok_or_else(wide)?,
                hi.checked_sub(base).ok_or_else(wide)?,
            );
            let kind = match (lo, hi) {
                (0.., ..=1) => "bool",
                (0.., ..=255) => "byte",
                (-32_768.., ..=32_767) => "short",
                (-2_147_483_648.., ..=2_147_483_647) => "int",
                _ => return Err(wide()),
            };
            let name = &self.vars[id.index()];
            let _ = write!(text, "{kind} {name}");
            let array = copies > 1 || !var.dims.is_empty();
            if array {
                let _ = write!(text, "[{cells}]");
            }
            if let CellInitial::Value(value) = &var.initial {
                let mut values = Vec::new();
                for copy in 0..copies {
                    let own = match var.scope {
                        Scope::Shared => None,
                        Scope::Local(template) => Some((template, copy)),
                    };
                    let value = self
                        .initial(value, own)
                        .ok_or_else(|| ExportError::Initial(var.name.clone()))?;
                    values.push(value.checked_sub(base).ok_or_else(wide)?);
                }
                if values.iter().all(|&value| value == values[0]) {
                    let _ = write!(text, " = {}", values[0]);
                } else {
                    let each = values
                        .iter()
                        .flat_map(|value| std::iter::repeat_n(value.to_string(), var.len as usize));
                    let each: Vec<String> = each.collect();
                    let _ = write!(text, " = {{ {} }}", each.join(", "));
                }
            }
            text.push_str(";\n");
        }
        for temporary in 0..self.temporaries {
            let _ = writeln!(text, "hidden int tmp_{temporary};");
        }
        text.push('\n');
        Ok(())
    }

    /// An initial value, for a process given by template and index.
    fn initial(&self, value: &Expr, own: Option<(TemplateId, u32)>) -> Option<i64> {
        let process =
            own.map(|(template, index)| self.system.templates[template].first + index as usize);
        let context = threadwise_model::eval::Context {
            system: self.system,
            state: &[],
            process,
            choices: &[],
        };
        context.value(value).ok()
    }

    /// `init` chooses the values of what begins with any value, and starts the processes.
    fn init(&mut self, monitors: &[String]) -> Result<(), ExportError> {
        let mut text = String::from("init {\n\tatomic {\n");
        for (id, var) in self.system.vars.iter_enumerated() {
            if var.initial != CellInitial::Any {
                continue;
            }
            let copies = self.copies(var.scope);
            let (lo, hi, base) = self.range(id)?;
            if i128::from(hi) - i128::from(lo) >= MOST_ALTERNATIVES {
                return Err(ExportError::TooManyChoices(format!(
                    "the initial value of `{}`",
                    var.name
                )));
            }
            let array = copies > 1 || !var.dims.is_empty();
            for cell in 0..copies as usize * var.len as usize {
                let name = &self.vars[id.index()];
                let cell = if array {
                    format!("{name}[{cell}]")
                } else {
                    name.clone()
                };
                text.push_str("\t\tif");
                for value in lo..=hi {
                    let _ = write!(text, " :: {cell} = {}", value - base);
                }
                text.push_str(" fi;\n");
                if text.len() > MOST_BYTES {
                    return Err(ExportError::TooLong);
                }
            }
        }
        for (template, name) in self.system.templates.iter().zip(&self.proctypes) {
            for _ in 0..template.count {
                let _ = writeln!(text, "\t\trun {name}();");
            }
        }
        for name in monitors {
            let _ = writeln!(text, "\t\trun {name}();");
        }
        text.push_str("\t}\nend_init:\n\tfalse\n}\n\n");
        self.body.push_str(&text);
        Ok(())
    }

    fn template(&mut self, id: TemplateId) -> Result<(), ExportError> {
        let template = &self.system.templates[id];
        if template.count == 0 {
            return Ok(());
        }
        let name = self.proctypes[id.index()].clone();
        let mut text = match (self.chosen, template.count) {
            (true, _) => format!("proctype {name}() {{\n"),
            (false, 1) => format!("active proctype {name}() {{\n"),
            (false, count) => format!("active [{count}] proctype {name}() {{\n"),
        };
        let done = template.done();
        // Processes begin with the first statement, so the entry comes first.
        let others = template
            .locations
            .indices()
            .filter(|&location| location != template.entry);
        for location in std::iter::once(template.entry)
            .chain(others)
            .filter(|&location| location != done)
        {
            let label = self.label(id, location);
            let what = format!("`{}` at `{}`", template.name, template.locations[location]);
            let mut options = Vec::new();
            for step in &template.steps[location] {
                self.options(id, step, &what, &mut options)?;
            }
            let _ = writeln!(text, "{label}:");
            if options.is_empty() {
                text.push_str("\tfalse;\n");
            } else {
                text.push_str("\tif\n");
                for option in options {
                    let _ = writeln!(text, "\t:: {option}");
                }
                text.push_str("\tfi;\n");
            }
            if text.len() > MOST_BYTES {
                return Err(ExportError::TooLong);
            }
        }
        text.push_str("end_done:\n\tfalse\n}\n\n");
        self.body.push_str(&text);
        Ok(())
    }

    fn label(&self, template: TemplateId, location: LocationId) -> String {
        self.labels[template.index()][location.index()].clone()
    }

    /// The alternatives that a step gives, with each combination of its choices.
    fn options(
        &mut self,
        template: TemplateId,
        step: &Step,
        what: &str,
        options: &mut Vec<String>,
    ) -> Result<(), ExportError> {
        let sizes = step
            .choices
            .iter()
            .map(|&(lo, hi)| (i128::from(hi) - i128::from(lo) + 1).max(0));
        let combinations = sizes.fold(1i128, |all, size| all.saturating_mul(size));
        if combinations > MOST_ALTERNATIVES {
            return Err(ExportError::TooManyChoices(what.to_owned()));
        }
        let mut choices: Vec<i64> = step.choices.iter().map(|&(lo, _)| lo).collect();
        for _ in 0..combinations {
            self.option(template, step, &choices, what, options)?;
            for (value, &(lo, hi)) in choices.iter_mut().zip(&step.choices).rev() {
                if *value < hi {
                    *value += 1;
                    break;
                }
                *value = lo;
            }
        }
        Ok(())
    }

    fn option(
        &mut self,
        template: TemplateId,
        step: &Step,
        choices: &[i64],
        what: &str,
        options: &mut Vec<String>,
    ) -> Result<(), ExportError> {
        let mut scene = Scene::new(what, Some(template), choices);
        let from = self.label(template, step.from);
        let mut push = |option: String| {
            // Paths through one text share their beginnings, and so their failures.
            if !options.contains(&option) {
                options.push(option);
            }
        };
        let mut tests: Vec<String> = Vec::new();
        for clause in &step.clauses {
            match clause {
                Clause::Guard(guard) => tests.push(self.expr(guard, &mut scene)?.text),
                Clause::Check(check) => {
                    let holds = self.expr(&check.holds, &mut scene)?;
                    let text = holds.text.clone();
                    if text == "1" {
                        continue;
                    }
                    let mut failing = tests.clone();
                    failing.push(not(holds).text);
                    push(format!(
                        "d_step {{ {}; assert(false) }}; goto {from}",
                        failing.join(" && ")
                    ));
                    tests.push(text);
                }
            }
        }
        if step.rest || tests.iter().any(|test| test == "0") {
            return Ok(());
        }
        tests.retain(|test| test != "1");
        let to = self.label(template, step.to);
        let writes = self.writes(&step.updates, &mut scene)?;
        push(match (&tests[..], &writes[..]) {
            ([], []) if step.from == step.to => format!("{ALWAYS}; goto {to}"),
            ([], []) => format!("true; goto {to}"),
            (tests, []) => format!("{}; goto {to}", tests.join(" && ")),
            ([], [write]) => format!("{write}; goto {to}"),
            ([], writes) => format!("d_step {{ {} }}; goto {to}", writes.join("; ")),
            (tests, writes) => {
                format!(
                    "d_step {{ {}; {} }}; goto {to}",
                    tests.join(" && "),
                    writes.join("; ")
                )
            }
        });
        Ok(())
    }

    /// The assignments of a step. All of them are evaluated in the state before it, so where one
    /// reads what an earlier one writes, everything is computed first.
    fn writes(
        &mut self,
        updates: &[Update],
        scene: &mut Scene,
    ) -> Result<Vec<String>, ExportError> {
        let mut written = BTreeSet::new();
        let mut depends = false;
        for update in updates {
            let parts = [&update.cell.process, &update.cell.offset];
            let mut read = BTreeSet::new();
            for part in parts.into_iter().flatten().chain([&update.value]) {
                reads(part, &mut read);
            }
            depends |= !read.is_disjoint(&written);
            written.insert(update.cell.var);
        }
        let mut first = Vec::new();
        let mut then = Vec::new();
        for update in updates {
            let var = update.cell.var;
            let (_, _, base) = self.range(var)?;
            let value = self.expr(&update.value, scene)?;
            let value = add(value, -i128::from(base), scene)?.text;
            let index = self.index(&update.cell, scene)?;
            let name = self.vars[var.index()].clone();
            let mut keep = |text: String| {
                if !depends || text.bytes().all(|b| b.is_ascii_digit()) {
                    return text;
                }
                first.push(text);
                format!("tmp_{}", first.len() - 1)
            };
            let value = keep(value);
            let cell = match index {
                None => name,
                Some(index) => format!("{name}[{}]", keep(index)),
            };
            then.push(format!("{cell} = {value}"));
        }
        self.temporaries = self.temporaries.max(first.len());
        let first = first
            .into_iter()
            .enumerate()
            .map(|(at, text)| format!("tmp_{at} = {text}"));
        Ok(first.chain(then).collect())
    }

    /// The text of a place's index; nothing for a scalar.
    fn index(&self, place: &Place, scene: &mut Scene) -> Result<Option<String>, ExportError> {
        let var = &self.system.vars[place.var];
        if self.copies(var.scope) <= 1 && var.dims.is_empty() {
            return Ok(None);
        }
        let process = match &place.process {
            None => constant(0),
            Some(process) => self.expr(process, scene)?,
        };
        let start = arith(ArithOp::Mul, process, constant(i128::from(var.len)), scene)?;
        let offset = match &place.offset {
            None => constant(0),
            Some(offset) => self.expr(offset, scene)?,
        };
        Ok(Some(arith(ArithOp::Add, start, offset, scene)?.text))
    }

    /// The number of a process in SPIN, less its index in its template.
    fn first_pid(&self, template: TemplateId) -> i128 {
        i128::from(self.system.templates[template].first.raw()) + i128::from(self.chosen)
    }

    fn expr(&self, expr: &Expr, scene: &mut Scene) -> Result<Written, ExportError> {
        let written = self.expr_inner(expr, scene)?;
        scene.size += written.text.len();
        if scene.size > MOST_BYTES {
            return Err(ExportError::TooLong);
        }
        Ok(written)
    }

    fn expr_inner(&self, expr: &Expr, scene: &mut Scene) -> Result<Written, ExportError> {
        Ok(match expr {
            Expr::Const(value) => {
                if i32::try_from(*value).is_err() {
                    return Err(ExportError::WideComputation(scene.what.to_owned()));
                }
                constant(i128::from(*value))
            }
            Expr::Own | Expr::OwnProcess => {
                let Some(template) = scene.template else {
                    return Ok(constant(0));
                };
                let info = &self.system.templates[template];
                let number = if *expr == Expr::Own {
                    0
                } else {
                    i128::from(info.first.raw())
                };
                let last = number + i128::from(info.count) - 1;
                if info.count == 1 {
                    return Ok(constant(number));
                }
                let pid = Written {
                    text: "_pid".to_owned(),
                    lo: 0,
                    hi: 255,
                };
                let own = add(pid, number - self.first_pid(template), scene)?;
                Written {
                    lo: number,
                    hi: last,
                    ..own
                }
            }
            Expr::Bound(bound) => {
                let value = scene.bounds.iter().rev().find(|(name, _)| name == bound);
                constant(i128::from(value.map_or(0, |&(_, value)| value)))
            }
            Expr::Choice(choice) => constant(i128::from(
                scene.choices.get(*choice as usize).copied().unwrap_or(0),
            )),
            Expr::Load(place) => self.load(place, scene)?,
            Expr::Not(inner) => not(self.expr(inner, scene)?),
            Expr::Neg(inner) => {
                let inner = self.expr(inner, scene)?;
                arith(ArithOp::Sub, constant(0), inner, scene)?
            }
            Expr::And(parts) | Expr::Or(parts) => {
                let and = matches!(expr, Expr::And(_));
                let mut written = Vec::new();
                for part in parts {
                    written.push(self.expr(part, scene)?);
                }
                join(written, and)
            }
            Expr::Compare(op, left, right) => {
                if let Some(at) = self.at(*op, left, right, scene)? {
                    return Ok(at);
                }
                let (left, right) = (self.expr(left, scene)?, self.expr(right, scene)?);
                compare(*op, &left, &right)
            }
            Expr::Arith(op, left, right) => {
                let (left, right) = (self.expr(left, scene)?, self.expr(right, scene)?);
                arith(*op, left, right, scene)?
            }
            Expr::Ite(cond, yes, no) => {
                let cond = self.expr(cond, scene)?;
                let (yes, no) = (self.expr(yes, scene)?, self.expr(no, scene)?);
                match cond.text.as_str() {
                    "0" => no,
                    "1" => yes,
                    _ => Written {
                        text: format!("({} -> {} : {})", cond.text, yes.text, no.text),
                        lo: yes.lo.min(no.lo),
                        hi: yes.hi.max(no.hi),
                    },
                }
            }
            Expr::Fold {
                kind,
                bound,
                lo,
                hi,
                body,
            } => {
                if i128::from(*hi) - i128::from(*lo) >= 1 << 20 {
                    return Err(ExportError::TooLong);
                }
                let mut written = Vec::new();
                for value in *lo..=*hi {
                    scene.bounds.push((*bound, value));
                    let body = self.expr(body, scene);
                    scene.bounds.pop();
                    written.push(body?);
                }
                match kind {
                    FoldKind::Forall => join(written, true),
                    FoldKind::Exists => join(written, false),
                    FoldKind::Count | FoldKind::Sum => balanced(ArithOp::Add, written, scene)?,
                    FoldKind::Min => balanced(ArithOp::Min, written, scene)?,
                    FoldKind::Max => balanced(ArithOp::Max, written, scene)?,
                }
            }
        })
    }

    fn load(&self, place: &Place, scene: &mut Scene) -> Result<Written, ExportError> {
        if let Some(template) = self.is_pc(place.var) {
            return self.location(template, place, scene);
        }
        let (lo, hi, base) = self.range(place.var)?;
        let name = &self.vars[place.var.index()];
        let text = match self.index(place, scene)? {
            None => name.clone(),
            Some(index) => format!("{name}[{index}]"),
        };
        let raw = Written {
            text,
            lo: i128::from(lo) - i128::from(base),
            hi: i128::from(hi) - i128::from(base),
        };
        add(raw, i128::from(base), scene)
    }

    /// A program counter as a number.
    fn location(
        &self,
        template: TemplateId,
        place: &Place,
        scene: &mut Scene,
    ) -> Result<Written, ExportError> {
        let last = self.system.templates[template].done();
        let mut text = "0".to_owned();
        for location in self.system.templates[template].locations.indices().skip(1) {
            let at = self.at_label(template, location, place, scene)?;
            text = format!("({at} -> {} : {text})", location.raw());
        }
        Ok(Written {
            text,
            lo: 0,
            hi: i128::from(last.raw()),
        })
    }

    /// The comparison of a program counter with a location.
    fn at(
        &self,
        op: CompareOp,
        left: &Expr,
        right: &Expr,
        scene: &mut Scene,
    ) -> Result<Option<Written>, ExportError> {
        let (Expr::Load(place), Expr::Const(value)) = (left, right) else {
            return Ok(None);
        };
        let Some(template) = self.is_pc(place.var) else {
            return Ok(None);
        };
        let locations = &self.system.templates[template].locations;
        let location = usize::try_from(*value)
            .ok()
            .filter(|&at| at < locations.len())
            .map(LocationId::from_usize);
        let at = match location {
            None => constant(0),
            Some(location) => truth(self.at_label(template, location, place, scene)?),
        };
        Ok(match op {
            CompareOp::Eq => Some(at),
            CompareOp::Ne => Some(not(at)),
            _ => None,
        })
    }

    fn at_label(
        &self,
        template: TemplateId,
        location: LocationId,
        place: &Place,
        scene: &mut Scene,
    ) -> Result<String, ExportError> {
        let process = match &place.process {
            None => constant(0),
            Some(process) => self.expr(process, scene)?,
        };
        let name = &self.proctypes[template.index()];
        let label = self.label(template, location);
        // SPIN wants a constant between the brackets.
        if process.lo == process.hi {
            let pid = process.lo + self.first_pid(template);
            return Ok(format!("({name}[{pid}]@{label})"));
        }
        let mut text = "0".to_owned();
        for index in 0..self.system.templates[template].count {
            let pid = i128::from(index) + self.first_pid(template);
            text = format!(
                "({} == {index} -> {name}[{pid}]@{label} : {text})",
                process.text
            );
        }
        Ok(text)
    }

    /// The process that watches an invariant; its name.
    fn monitor(&mut self, name: &str, invariant: &Expr) -> Result<String, ExportError> {
        let what = format!("invariant `{name}`");
        let holds = self.expr(invariant, &mut Scene::new(&what, None, &[]))?;
        let mut proctype = format!("watch_{name}");
        while self.vars.contains(&proctype) || self.proctypes.contains(&proctype) {
            proctype.push('_');
        }
        let active = if self.chosen { "" } else { "active " };
        let broken = match not(holds).text {
            always if always == "1" => ALWAYS.to_owned(),
            text => text,
        };
        let _ = writeln!(
            self.body,
            "{active}proctype {proctype}() {{\nend_watch:\n\tdo"
        );
        let _ = writeln!(
            self.body,
            "\t:: atomic {{ {broken}; assert(false) }}\n\tod\n}}\n"
        );
        Ok(proctype)
    }
}
