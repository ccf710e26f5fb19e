//! Threads: who makes them, how many there are, and who waits for them.
//!
//! The threads that run one function with one kind of argument are one template. If it is known how often they are made at most, there are as many processes, each of which
//! waits until it is its turn, and a handle is the number of a process. Otherwise they are processes that are started while the program runs, any number of them, and nobody can wait for one.
//!
//! The function is read once for each template, so an argument that is a constant or the address of a variable is known in it.

use std::collections::BTreeSet;

use lang_c::ast::{CallExpression, Expression, FunctionDefinition, UnaryOperator};
use lang_c::span::{Node, Span};
use lang_c::visit::Visit;

use super::super::ir::{
    Arith, Code, Compare, Count, Expr, LabelId, Place, Process, ProcessId, Statement,
    StatementKind, VarId, VarKind, for_statements,
};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::tidy;
use super::super::types::{IntType, Type};
use super::library::success;
use super::{Builder, Object, Value};

/// How many threads may be there as processes of their own.
const MOST_THREADS: u64 = 64;

/// A place that makes threads.
#[derive(Clone, Debug)]
struct Site {
    template: usize,
    creator: ProcessId,
    /// How often it happens in one process at most.
    times: Option<u64>,
}

/// Threads of one function with one kind of argument.
#[derive(Clone, Debug)]
struct Template {
    function: String,
    /// With loads of the variables below where parts are passed on.
    argument: Value,
    /// The variables of the process that hold what is passed on.
    passed: Vec<VarId>,
    process: ProcessId,
    at: At,
    read: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Threads {
    sites: Vec<Site>,
    templates: Vec<Template>,
    /// The end of the thread that is being read.
    pub end: Option<LabelId>,
    /// Where somebody waits for a thread, or detaches one.
    uses: Vec<Use>,
    /// Where an attribute says that threads are detached from the beginning.
    detached: Option<At>,
}

/// A place where a handle is joined or detached.
#[derive(Clone, Debug)]
struct Use {
    at: At,
    process: ProcessId,
    joins: bool,
    /// The variable that has the handle, if it is one.
    place: Option<Place>,
    /// Whether this place sees no handle twice, as long as nobody else has its variable: it happens once, or once for each element of an array, or right behind the call that makes the thread.
    once: bool,
}

impl Threads {
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    pub fn forget_since(&mut self, sites: usize) {
        self.sites.truncate(sites);
    }

    /// Notes that threads may be made detached.
    pub fn made_detached(&mut self, at: At) {
        self.detached.get_or_insert(at);
    }
}

impl<'a> Builder<'a> {
    /// A program with `main`.
    pub(super) fn program(&mut self) -> Built<()> {
        let Some((&name, &main)) = self.functions.get_key_value("main") else {
            let help = "a program begins in `main`; templates are written `thread[N] name { .. }`";
            return malformed(At::default(), "there is no function `main`", help);
        };
        self.find_escaping(main);
        let at = self.place_of(main);
        self.begin_process("main", at, Count::One);
        self.own_variables()?;
        self.model.has_main = true;
        let arguments = self.main_arguments(main)?;
        let body = self.block(|builder| {
            let end = builder.new_label(None);
            builder.threads.end = Some(end);
            builder.inline(name, main, arguments, at)?;
            builder.emit(at, StatementKind::Label(end));
            Ok(())
        })?;
        let mut code = std::mem::take(&mut self.code);
        code.extend(body);
        self.model.processes[0].body = code;
        let mut next = 0;
        while next < self.threads.templates.len() {
            self.thread_body(next)?;
            next += 1;
        }
        // `static` variables of functions, too, begin with their values.
        let initial = std::mem::take(&mut self.initial);
        if let Some(at) = initial.first().map(|first| first.at) {
            let kind = StatementKind::Atomic(initial);
            self.model.processes[0]
                .body
                .insert(0, Statement { at, kind });
        }
        self.check_prepared()?;
        self.check_destroyed();
        self.settle_threads()?;
        if self.model.is_unbounded() {
            for at in self.let_semaphores_grow() {
                let message = "whether the semaphore is at its maximum is not checked: there may be any number of threads";
                let help = "with few threads nothing is left out";
                self.note(at, message, help);
            }
        }
        tidy::processes(&mut self.model);
        Ok(())
    }

    pub(super) fn begin_process(&mut self, wish: &str, at: At, count: Count) -> ProcessId {
        let process = ProcessId(self.model.processes.len());
        self.model.processes.push(Process {
            wish: wish.to_owned(),
            at,
            count,
            body: Vec::new(),
        });
        self.enter_process(process);
        process
    }

    pub(super) fn enter_process(&mut self, process: ProcessId) {
        self.process = process;
        self.temporaries.clear();
        self.in_use = 0;
        self.times = Some(1);
    }

    /// Whether what is being read is done by the main thread before there can be another one.
    pub(super) fn is_alone(&self) -> bool {
        self.process == ProcessId(0)
            && !self.in_templates
            && self.times == Some(1)
            && self.threads.sites() == 0
    }

    /// `argc` is not negative, `argv` may not be used.
    fn main_arguments(&mut self, main: &'a Node<FunctionDefinition>) -> Built<Vec<Value>> {
        let mut values = Vec::new();
        let at = self.place_of(main);
        for (position, _) in super::call::parameters_of(main).iter().enumerate() {
            values.push(match position {
                0 => self.natural(IntType::INT, at),
                _ => Value::Int(Expr::Number(0), IntType::LONG_LONG),
            });
        }
        Ok(values)
    }

    /// The variables of `main` that threads get the addresses of.
    fn find_escaping(&mut self, main: &'a Node<FunctionDefinition>) {
        let mut found = Addresses::default();
        found.visit_function_definition(&main.node, &main.span);
        self.escaping.extend(found.names);
    }

    fn thread_body(&mut self, number: usize) -> Built<()> {
        if self.threads.templates[number].read {
            return Ok(());
        }
        self.threads.templates[number].read = true;
        let template = self.threads.templates[number].clone();
        let Some((&name, &function)) = self.functions.get_key_value(template.function.as_str())
        else {
            let message = format!("the function `{}` has no body", template.function);
            return unsupported(template.at, message, "write its body");
        };
        self.enter_process(template.process);
        self.own_variables()?;
        let at = self.place_of(function);
        self.model.processes[template.process.0].at = at;
        let arguments = match super::call::parameters_of(function).len() {
            0 => Vec::new(),
            _ => vec![template.argument.clone()],
        };
        let body = self.block(|builder| {
            let end = builder.new_label(None);
            builder.threads.end = Some(end);
            builder.inline(name, function, arguments, at)?;
            builder.emit(at, StatementKind::Label(end));
            Ok(())
        })?;
        self.model.processes[template.process.0].body = body;
        Ok(())
    }

    /// `pthread_create(&handle, attributes, function, argument)`.
    pub(super) fn create_thread(
        &mut self,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        self.not_in_step(at)?;
        let [handle, _, function, argument] = arguments else {
            return malformed(
                at,
                "`pthread_create` has four arguments",
                "give all of them",
            );
        };
        let place = self.place_of(handle);
        let handle = match self.rvalue(handle)? {
            Value::Int(Expr::Number(0), _) => None,
            value => {
                let part = self.pointed(value, place)?;
                match (&part.ty, &*part.object) {
                    (Type::Thread, Object::Variable(var)) => Some(Place {
                        var: *var,
                        indices: part.indices.clone(),
                    }),
                    (Type::Thread, _) => None,
                    (Type::Int(_), Object::Variable(var)) => Some(Place {
                        var: *var,
                        indices: part.indices.clone(),
                    }),
                    _ => return unsupported(place, "this is no handle", "pass a `pthread_t`"),
                }
            }
        };
        self.null_argument(arguments, 1, "an attribute of a thread")?;
        let place = self.place_of(function);
        let Value::Function(function) = self.rvalue(function)? else {
            return unsupported(
                place,
                "which function the thread runs is not known",
                "name it",
            );
        };
        let place = self.place_of(argument);
        let value = self.rvalue(argument)?;
        let (shape, passed) = self.shape(value, place)?;
        let template = self.template(&function, shape, passed.len(), at)?;
        let site = self.threads.sites.len();
        self.threads.sites.push(Site {
            template,
            creator: self.process,
            times: self.times,
        });
        // What is passed is read before the thread is made.
        let passed = passed
            .into_iter()
            .map(|expr| self.settle(expr, IntType::LONG_LONG, place))
            .collect();
        self.emit(
            at,
            StatementKind::Create {
                site,
                handle,
                arguments: passed,
            },
        );
        Ok(success())
    }

    /// An argument with its varying parts taken out: what the thread knows, and what is passed on.
    fn shape(&mut self, value: Value, at: At) -> Built<(Value, Vec<Expr>)> {
        let mut passed = Vec::new();
        let hole = Expr::Own;
        let mut part = |expr: Expr| match expr {
            Expr::Number(_) | Expr::Parameter(_) => expr,
            other => {
                passed.push(other);
                hole.clone()
            }
        };
        let value = match value {
            Value::Truth(_) => {
                let (expr, ty) = self.as_int(value, at)?;
                Value::Int(part(expr), ty)
            }
            Value::Int(expr, ty) => Value::Int(part(expr), ty),
            Value::Pointer(mut pointer) => {
                if self.is_own(&pointer.part.object) {
                    let help = "declare it outside of functions, `static`, or in `main`";
                    return unsupported(at, "the address of a variable of one thread", help);
                }
                pointer.part.indices = pointer.part.indices.into_iter().map(&mut part).collect();
                pointer.element = pointer.element.map(&mut part);
                Value::Pointer(pointer)
            }
            Value::Function(_) | Value::Text => value,
            Value::Struct(_) | Value::Void => {
                return unsupported(
                    at,
                    "this cannot be passed to a thread",
                    "pass a number or an address",
                );
            }
        };
        Ok((value, passed))
    }

    /// The template of a function and a kind of argument.
    fn template(&mut self, function: &str, shape: Value, holes: usize, at: At) -> Built<usize> {
        let same = |template: &Template| {
            template.function == function
                && same_shape(&template.argument, &shape, &template.passed)
        };
        if let Some(found) = self.threads.templates.iter().position(same) {
            return Ok(found);
        }
        if self.threads.templates.len() >= MOST_THREADS as usize {
            return unsupported(
                at,
                "too many kinds of threads",
                "pass arguments of one kind",
            );
        }
        let process = ProcessId(self.model.processes.len());
        self.model.processes.push(Process {
            wish: function.to_owned(),
            at,
            count: Count::One,
            body: Vec::new(),
        });
        let outer = std::mem::replace(&mut self.process, process);
        let passed: Vec<VarId> = (0..holes)
            .map(|_| self.local_variable("argument", VarKind::Int(IntType::LONG_LONG), at))
            .collect();
        self.process = outer;
        let mut next = passed.iter();
        let mut fill = |expr: Expr| match expr {
            Expr::Own => next.next().map_or(Expr::Number(0), |id| Expr::load(*id)),
            other => other,
        };
        let argument = match shape {
            Value::Int(expr, ty) => Value::Int(fill(expr), ty),
            Value::Pointer(mut pointer) => {
                pointer.part.indices = pointer.part.indices.into_iter().map(&mut fill).collect();
                pointer.element = pointer.element.map(&mut fill);
                Value::Pointer(pointer)
            }
            other => other,
        };
        self.threads.templates.push(Template {
            function: function.to_owned(),
            argument,
            passed,
            process,
            at,
            read: false,
        });
        Ok(self.threads.templates.len() - 1)
    }

    /// `pthread_join(handle, NULL)`.
    pub(super) fn join_thread(
        &mut self,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        self.not_in_step(at)?;
        if !self.ignores_result(&arguments[1]) {
            self.null_argument(arguments, 1, "a place for what the thread returns")?;
        }
        let handle = self.handle(&arguments[0], true, at)?;
        self.emit(at, StatementKind::Join(handle));
        Ok(success())
    }

    /// `pthread_detach(handle)`.
    pub(super) fn detach_thread(
        &mut self,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        self.not_in_step(at)?;
        let handle = self.handle(&arguments[0], false, at)?;
        self.emit(at, StatementKind::Detach(handle));
        Ok(success())
    }

    /// The handle that is joined or detached.
    fn handle(&mut self, handle: &'a Node<Expression>, joins: bool, at: At) -> Built<Expr> {
        let value = self.rvalue(handle)?;
        let (expr, ty) = self.as_int(value, at)?;
        let place = match &expr {
            Expr::Load(place) => Some(place.clone()),
            _ => None,
        };
        let once = place.as_ref().is_some_and(|place| {
            let number = |index: &Expr| matches!(index, Expr::Number(_));
            let counted = matches!(place.indices.as_slice(), [Expr::Load(index)]
                if index.indices.is_empty() && self.counting == Some(index.var));
            (self.times == Some(1) && place.indices.iter().all(number))
                || counted
                || self.is_fresh(place)
        });
        self.threads.uses.push(Use {
            at,
            process: self.process,
            joins,
            place,
            once,
        });
        Ok(self.settle(expr, ty, at))
    }

    /// Whether the handle of a thread that has just been made is there: nothing between could have been jumped to, or have used it.
    fn is_fresh(&self, handle: &Place) -> bool {
        for statement in self.code.iter().rev() {
            match &statement.kind {
                StatementKind::Create {
                    handle: Some(made), ..
                } if made == handle => return true,
                StatementKind::Create { .. }
                | StatementKind::Assign(..)
                | StatementKind::Assert(..)
                | StatementKind::Lock(_)
                | StatementKind::Unlock(_) => {
                    let mut kept = statement.written() != Some(handle.var);
                    for index in &handle.indices {
                        index.for_places(&mut |place| {
                            kept &= statement.written() != Some(place.var);
                        });
                    }
                    if !kept {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        false
    }

    /// `&p` of a pointer that is not used otherwise: its value is never known.
    fn ignores_result(&self, result: &'a Node<Expression>) -> bool {
        let Expression::UnaryOperator(unary) = &result.node else {
            return false;
        };
        let Expression::Identifier(name) = &unary.node.operand.node else {
            return false;
        };
        unary.node.operator.node == UnaryOperator::Address
            && matches!(
                self.lookup(&name.node.name),
                Some(super::Binding::Unset(Type::Pointer(_)))
            )
    }

    /// Decides how many threads there are of each template, and writes what making and waiting for them is.
    fn settle_threads(&mut self) -> Built<()> {
        let counts = self.counts();
        let joins = self.threads.uses.iter().find(|used| used.joins);
        let joined = joins.is_some();
        let any = counts.iter().any(|count| count.is_none());
        if let (Some(Use { at, .. }), true) = (joins, any) {
            let help = format!(
                "create at most {MOST_THREADS} threads of a function, in `for` loops with constant bounds or with handles `t[i]` of an array, or do not wait for them"
            );
            return unsupported(*at, "waiting for one of any number of threads", help);
        }
        let tracked = self.twice(&counts);
        self.check_uses(&counts, any.then_some(tracked.as_ref()).flatten())?;
        let total: u64 = counts.iter().flatten().sum();
        let at = At::default();
        let mut flags = |wish: &str, needed: bool| {
            (needed && total > 0).then(|| {
                let flags = self.shared_variable(wish, VarKind::Truth, vec![total as u32], at);
                self.model.variables[flags.0].from_one = true;
                flags
            })
        };
        let ended = flags("ended", joined);
        let gone = flags("gone", tracked.is_some());
        let mut plans = Vec::new();
        let mut base = 0;
        for (number, count) in counts.iter().enumerate() {
            let template = self.threads.templates[number].clone();
            plans.push(self.plan(&template, *count, base, ended));
            base += count.unwrap_or(0) as i128;
        }
        let sites = self.threads.sites.clone();
        let mut straight: Vec<Option<i128>> = Vec::new();
        // Threads of a template that are made at places that happen once each have fixed numbers.
        for (number, site) in sites.iter().enumerate() {
            let own = |other: &&Site| other.template == site.template;
            let once = sites.iter().filter(own).all(|other| {
                other.times == Some(1) && self.model.processes[other.creator.0].count == Count::One
            });
            let before = sites[..number].iter().filter(own).count() as i128;
            straight.push(once.then_some(before + 1));
        }
        let handles = Handles {
            ended,
            gone,
            any,
            foreign: self.foreign(),
        };
        for position in 0..self.model.processes.len() {
            let body = std::mem::take(&mut self.model.processes[position].body);
            let process = ProcessId(position);
            let own = plans.iter().find(|plan| plan.process == process);
            let own = own.filter(|_| handles.foreign.contains(&process));
            let own = own.map(|plan| match plan.many {
                true => Expr::arith(Arith::Add, Expr::Own, Expr::Number(plan.base)),
                false => Expr::Number(plan.base + 1),
            });
            let body = self.rewritten(body, &sites, &straight, &plans, (&handles, own.as_ref()));
            self.model.processes[position].body = body;
        }
        Ok(())
    }

    /// Which processes write a variable by making threads, and whether something else writes it.
    fn makers(&self, var: VarId) -> (BTreeSet<ProcessId>, bool) {
        let (mut makers, mut otherwise) = (BTreeSet::new(), false);
        for (number, process) in self.model.processes.iter().enumerate() {
            for_statements(&process.body, &mut |statement| {
                if statement.written() == Some(var) {
                    match statement.kind {
                        StatementKind::Create { .. } => {
                            makers.insert(ProcessId(number));
                        }
                        _ => otherwise = true,
                    }
                }
            });
        }
        (makers, otherwise)
    }

    /// Whether there is one process of this number.
    fn is_single(&self, process: ProcessId, counts: &[Option<u64>]) -> bool {
        let mut templates = self.threads.templates.iter().zip(counts);
        templates.all(|(template, count)| {
            template.process != process || *count <= Some(1) && count.is_some()
        })
    }

    /// Where a handle may be joined or detached that has been before, as far as the text says. Each handle is in one variable, which has it from the call that makes the thread; so
    /// none is used twice if each variable, or element of an array, is used in one place, and that place sees no handle twice.
    fn twice(&self, counts: &[Option<u64>]) -> Option<At> {
        let uses = &self.threads.uses;
        let found = uses.iter().enumerate().find(|(number, used)| {
            let Some(place) = &used.place else {
                return true;
            };
            let fixed = |place: &Place| {
                let number = |index: &Expr| matches!(index, Expr::Number(_));
                place.indices.iter().all(number)
            };
            let again = uses.iter().enumerate().any(|(other, second)| {
                let same = match &second.place {
                    Some(second) if fixed(second) && fixed(place) => second == place,
                    Some(second) => second.var == place.var,
                    None => false,
                };
                other != *number && same
            });
            let (makers, otherwise) = self.makers(place.var);
            let own = !self.model.is_shared(place.var)
                || makers.iter().all(|maker| *maker == used.process)
                    && self.is_single(used.process, counts);
            !used.once || again || otherwise || !own
        });
        found.map(|(_, used)| used.at)
    }

    /// Processes other than `main` that wait for threads that they have not made.
    fn foreign(&self) -> BTreeSet<ProcessId> {
        let joins = self.threads.uses.iter().filter(|used| used.joins);
        let foreign = joins.filter(|used| {
            let own = used
                .place
                .as_ref()
                .is_some_and(|place| !self.model.is_shared(place.var) && !self.makers(place.var).1);
            used.process != ProcessId(0) && !own
        });
        foreign.map(|used| used.process).collect()
    }

    /// Refuses what is not followed: handles of any number of threads, of threads that may be made detached, and of threads that may wait for one another.
    fn check_uses(&self, counts: &[Option<u64>], unknown: Option<&At>) -> Built<()> {
        if let Some(at) = unknown {
            let help = "detach each thread once, right behind the call that makes it";
            return unsupported(*at, "a thread that may be detached twice", help);
        }
        let uses = &self.threads.uses;
        if let (Some(at), Some(_)) = (self.threads.detached, uses.first()) {
            let help = "make threads that can be joined, and call `pthread_detach`";
            let message = "detached threads in a program that joins or detaches some";
            return unsupported(at, message, help);
        }
        let foreign = self.foreign();
        let waits = |used: &&Use| used.joins && used.process != ProcessId(0);
        let circle = uses.iter().filter(waits).find(|used| {
            let others = foreign.iter().any(|process| *process != used.process);
            others || foreign.contains(&used.process) && !self.is_single(used.process, counts)
        });
        match circle {
            Some(used) => {
                let help = "let each thread wait for those that it has made itself";
                unsupported(used.at, "threads that may wait for one another", help)
            }
            None => Ok(()),
        }
    }

    /// How many threads there are at most of each template.
    fn counts(&self) -> Vec<Option<u64>> {
        let templates = &self.threads.templates;
        let mut counts: Vec<Option<u64>> = vec![Some(0); templates.len()];
        // As many rounds as templates are enough unless they make one another.
        for round in 0..=templates.len() + 1 {
            let mut next: Vec<Option<u64>> = vec![Some(0); templates.len()];
            for site in &self.threads.sites {
                let creator = templates
                    .iter()
                    .position(|template| template.process == site.creator);
                let creators = match creator {
                    None => Some(1),
                    Some(creator) => counts[creator],
                };
                let made = match (creators, site.times) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (Some(creators), Some(times)) => creators.checked_mul(times),
                    _ => None,
                };
                let sum = match (next[site.template], made) {
                    (Some(sum), Some(made)) => sum.checked_add(made),
                    _ => None,
                };
                next[site.template] = sum.filter(|sum| *sum <= MOST_THREADS);
            }
            if next == counts {
                return counts;
            }
            if round > templates.len() {
                // They make one another.
                for (count, before) in next.iter_mut().zip(&counts) {
                    if count != before {
                        *count = None;
                    }
                }
            }
            counts = next;
        }
        // Whatever still grows has no bound.
        vec![None; templates.len()]
    }

    /// The variables by which threads of a template are made.
    fn plan(
        &mut self,
        template: &Template,
        count: Option<u64>,
        base: i128,
        ended: Option<VarId>,
    ) -> Plan {
        let function = &template.function;
        let at = template.at;
        let dims = match count {
            Some(0 | 1) | None => Vec::new(),
            Some(count) => vec![count as u32],
        };
        let shared = count.is_some();
        let started = shared.then(|| {
            self.shared_variable(
                &format!("{function}_started"),
                VarKind::Truth,
                dims.clone(),
                at,
            )
        });
        let made = (count > Some(1)).then(|| {
            let kind = VarKind::Int(IntType::INT);
            self.shared_variable(&format!("{function}_made"), kind, Vec::new(), at)
        });
        let given = (!shared && !template.passed.is_empty()).then(|| {
            self.shared_variable(&format!("{function}_given"), VarKind::Truth, Vec::new(), at)
        });
        let arguments: Vec<VarId> = template
            .passed
            .iter()
            .map(|_| {
                let wish = format!("{function}_argument");
                self.shared_variable(&wish, VarKind::Int(IntType::LONG_LONG), dims.clone(), at)
            })
            .collect();
        for id in started.iter().chain(&arguments) {
            self.model.variables[id.0].from_one = true;
        }
        let process = &mut self.model.processes[template.process.0];
        process.count = match count {
            Some(0 | 1) => Count::One,
            Some(count) => Count::Fixed(count as u32),
            None => Count::Started,
        };
        let own = |var: VarId| Place {
            var,
            indices: match dims.is_empty() {
                true => Vec::new(),
                false => vec![Expr::Own],
            },
        };
        let place = process.at;
        // The closing brace.
        let last = At {
            start: place.end.saturating_sub(1),
            ..place
        };
        let mut code: Code = Vec::new();
        let statement = |kind: StatementKind| Statement { at: place, kind };
        let take = template
            .passed
            .iter()
            .zip(&arguments)
            .map(|(local, shared)| {
                statement(StatementKind::Assign(
                    Place::of(*local),
                    Expr::Load(own(*shared)),
                ))
            });
        if let Some(flag) = started.or(given) {
            let mut step = vec![statement(StatementKind::Await(Expr::Load(own(flag))))];
            step.extend(take);
            if let Some(given) = given {
                step.push(statement(StatementKind::Assign(
                    Place::of(given),
                    Expr::Truth(false),
                )));
            }
            match step.len() {
                1 => code.extend(step),
                _ => code.push(statement(StatementKind::Atomic(step))),
            }
        }
        code.append(&mut process.body);
        if let (Some(ended), true) = (ended, shared) {
            let index = match dims.is_empty() {
                true => Expr::Number(base + 1),
                false => Expr::arith(Arith::Add, Expr::Own, Expr::Number(base)),
            };
            let flag = Place {
                var: ended,
                indices: vec![index],
            };
            code.push(Statement::new(
                last,
                StatementKind::Assign(flag, Expr::Truth(true)),
            ));
        }
        process.body = code;
        Plan {
            process: template.process,
            started,
            made,
            given,
            arguments,
            base,
            many: !dims.is_empty(),
        }
    }

    fn rewritten(
        &mut self,
        code: Code,
        sites: &[Site],
        straight: &[Option<i128>],
        plans: &[Plan],
        (handles, own): (&Handles, Option<&Expr>),
    ) -> Code {
        let mut output = Vec::new();
        for Statement { at, kind } in code {
            let mut inner =
                |code: Code| self.rewritten(code, sites, straight, plans, (handles, own));
            let kind = match kind {
                StatementKind::Join(handle) => {
                    output.extend(handles.joined(handle, own, at));
                    continue;
                }
                StatementKind::Detach(handle) => {
                    output.extend(handles.detached(handle, at));
                    continue;
                }
                StatementKind::Create {
                    site,
                    handle,
                    arguments,
                } => {
                    let plan = &plans[sites[site].template];
                    let made = self.made(plan, straight[site], handle, arguments, at);
                    output.extend(made);
                    continue;
                }
                other => other.with_inner(&mut inner),
            };
            output.push(Statement { at, kind });
        }
        output
    }

    /// What making a thread is.
    fn made(
        &mut self,
        plan: &Plan,
        number: Option<i128>,
        handle: Option<Place>,
        arguments: Vec<Expr>,
        at: At,
    ) -> Code {
        let set =
            |place: Place, value: Expr| Statement::new(at, StatementKind::Assign(place, value));
        let mut step = Vec::new();
        let mut value = Expr::Number(0);
        if let Some(started) = plan.started {
            let number = match (number, plan.made) {
                (Some(number), _) => Expr::Number(number),
                (None, None) => Expr::Number(1),
                (None, Some(made)) => {
                    let more = Expr::arith(Arith::Add, Expr::load(made), Expr::Number(1));
                    step.push(set(Place::of(made), more));
                    Expr::load(made)
                }
            };
            value = Expr::arith(Arith::Add, number.clone(), Expr::Number(plan.base));
            let cell = |var: VarId| Place {
                var,
                indices: match plan.many {
                    true => vec![number.clone()],
                    false => Vec::new(),
                },
            };
            for (var, argument) in plan.arguments.iter().zip(arguments) {
                step.push(set(cell(*var), argument));
            }
            step.push(set(cell(started), Expr::Truth(true)));
        } else {
            if let Some(given) = plan.given {
                let free = Expr::load(given).not();
                step.push(Statement::new(at, StatementKind::Await(free)));
                for (var, argument) in plan.arguments.iter().zip(arguments) {
                    step.push(set(Place::of(*var), argument));
                }
                step.push(set(Place::of(given), Expr::Truth(true)));
            }
            step.push(Statement::new(at, StatementKind::Start(plan.process)));
        }
        let mut code = Vec::new();
        let kept = handle.filter(|_| plan.started.is_some());
        match step.len() {
            1 => code.extend(step),
            _ => code.push(Statement::new(at, StatementKind::Atomic(step))),
        }
        if let Some(place) = kept {
            let write = set(place, value.clone());
            match (value, &mut code[..]) {
                // It is read in the step that makes the thread.
                (Expr::Number(_), _) => code.push(write),
                (
                    _,
                    [
                        Statement {
                            kind: StatementKind::Atomic(step),
                            ..
                        },
                    ],
                ) => step.push(write),
                _ => code.push(write),
            }
        }
        code
    }
}

/// What is known of handles while the program runs.
struct Handles {
    /// Whether threads have ended.
    ended: Option<VarId>,
    /// Whether they have been joined or detached, if the text alone does not say so.
    gone: Option<VarId>,
    /// There may be any number of threads, whose handles are not kept.
    any: bool,
    /// Processes other than `main` that wait for threads that they have not made.
    foreign: BTreeSet<ProcessId>,
}

impl Handles {
    fn flag(var: VarId, handle: &Expr) -> Place {
        Place {
            var,
            indices: vec![handle.clone()],
        }
    }

    /// What waiting for a thread is. `own` is the handle of a thread that might wait for itself.
    fn joined(&self, handle: Expr, own: Option<&Expr>, at: At) -> Code {
        let statement = |kind| Statement { at, kind };
        let mut code = Vec::new();
        if let Some(own) = own {
            let other = Expr::compare(Compare::Ne, handle.clone(), own.clone());
            let kind = StatementKind::Assert(other, "the thread waits for itself");
            code.push(statement(kind));
        }
        let Some(ended) = self.ended else {
            let kind = StatementKind::Assert(Expr::Truth(false), NO_THREAD);
            return vec![statement(kind)];
        };
        let ended = Expr::Load(Handles::flag(ended, &handle));
        let Some(gone) = self.gone else {
            code.push(statement(StatementKind::Await(ended)));
            return code;
        };
        let gone = Handles::flag(gone, &handle);
        // Who has been detached is not waited for.
        let go_on = ended.or(Expr::Load(gone.clone()));
        code.push(statement(StatementKind::Atomic(vec![
            statement(StatementKind::Await(go_on)),
            statement(StatementKind::Assert(Expr::Load(gone.clone()).not(), TWICE)),
            statement(StatementKind::Assign(gone, Expr::Truth(true))),
        ])));
        code
    }

    /// What detaching a thread is.
    fn detached(&self, handle: Expr, at: At) -> Code {
        let statement = |kind| Statement { at, kind };
        let Some(gone) = self.gone else {
            let some = Expr::compare(Compare::Ne, handle, Expr::Number(0));
            let check = statement(StatementKind::Assert(some, NO_THREAD));
            return if self.any { Vec::new() } else { vec![check] };
        };
        let gone = Handles::flag(gone, &handle);
        let check = StatementKind::Assert(Expr::Load(gone.clone()).not(), TWICE);
        let set = StatementKind::Assign(gone, Expr::Truth(true));
        let kind = StatementKind::Atomic([check, set].map(statement).into());
        vec![statement(kind)]
    }
}

const NO_THREAD: &str = "there is no such thread";
const TWICE: &str = "the thread has been joined or detached before";

/// How threads of a template are made.
#[derive(Clone, Debug)]
struct Plan {
    process: ProcessId,
    started: Option<VarId>,
    made: Option<VarId>,
    given: Option<VarId>,
    arguments: Vec<VarId>,
    base: i128,
    many: bool,
}

/// Whether a template's argument has this shape, in which `Own` stands for what is passed on.
fn same_shape(argument: &Value, shape: &Value, passed: &[VarId]) -> bool {
    let same = |own: &Expr, shape: &Expr| match (own, shape) {
        (Expr::Load(place), Expr::Own) => passed.contains(&place.var),
        (own, shape) => own == shape,
    };
    match (argument, shape) {
        (Value::Int(own, a), Value::Int(shape, b)) => same(own, shape) && a == b,
        (Value::Pointer(own), Value::Pointer(shape)) => {
            own.part.ty == shape.part.ty
                && own.part.object == shape.part.object
                && own.part.indices.len() == shape.part.indices.len()
                && own
                    .part
                    .indices
                    .iter()
                    .zip(&shape.part.indices)
                    .all(|(a, b)| same(a, b))
                && match (&own.element, &shape.element) {
                    (Some(a), Some(b)) => same(a, b),
                    (None, None) => true,
                    _ => false,
                }
        }
        (Value::Function(a), Value::Function(b)) => a == b,
        (Value::Text, Value::Text) => true,
        _ => false,
    }
}

/// Names whose addresses threads get.
#[derive(Default)]
struct Addresses {
    names: Vec<String>,
}

impl<'ast> Visit<'ast> for Addresses {
    fn visit_call_expression(&mut self, call: &'ast CallExpression, span: &'ast Span) {
        let creates = matches!(&call.callee.node, Expression::Identifier(name)
            if name.node.name == "pthread_create");
        if let (true, Some(argument)) = (creates, call.arguments.get(3)) {
            let mut names = Named::default();
            names.visit_expression(&argument.node, &argument.span);
            self.names.extend(names.names);
        }
        lang_c::visit::visit_call_expression(self, call, span);
    }
}

#[derive(Default)]
struct Named {
    names: Vec<String>,
}

impl<'ast> Visit<'ast> for Named {
    fn visit_unary_operator_expression(
        &mut self,
        node: &'ast lang_c::ast::UnaryOperatorExpression,
        span: &'ast Span,
    ) {
        if node.operator.node == UnaryOperator::Address {
            let mut object = &node.operand.node;
            loop {
                object = match object {
                    Expression::Member(member) => &member.node.expression.node,
                    Expression::BinaryOperator(binary) => &binary.node.lhs.node,
                    Expression::Identifier(name) => {
                        self.names.push(name.node.name.clone());
                        break;
                    }
                    _ => break,
                };
            }
        }
        lang_c::visit::visit_unary_operator_expression(self, node, span);
    }
}
