//! Mutexes, condition variables, semaphores, read-write locks, barriers.
//!
//! Waiting for a condition variable may end at any time, as POSIX allows it to. So a wait is the release of the mutex and then the taking of it, and
//! signals say nothing that matters. A semaphore is a number. A read-write lock is a number too: how many read, or -1
//! if somebody writes, which the thread that does also knows of itself. Results are those of glibc. Who waits at a barrier goes on when enough have come; who comes to the next round waits until all of the last one have left, which each of them does
//! without touching anything else.

use std::collections::{BTreeMap, BTreeSet};

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::super::functions::{Barrier, Mutex, ReadWrite, Semaphore};
use super::super::ir::{
    Arith, Code, Compare, Expr, Place, ProcessId, Statement, StatementKind, VarId, VarKind,
    Variable,
};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{IntType, Type};
use super::library::{Call, success};
use super::{Builder, Object, Part, Value};

const EBUSY: i128 = 16;
const EINVAL: i128 = 22;
const EDEADLK: i128 = 35;
/// The greatest value of a semaphore. As many threads, or more, a barrier cannot be for.
const MOST_POSTS: Expr = Expr::Number(2_147_483_647);

type Structs = [Vec<(String, Type)>];

/// Which mutexes, semaphores and barriers the program initialises, and which of those that have to be it uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// Variables of functions that are declared without a value: they are none of their kind before they are initialised.
    bare: Vec<(VarId, String, At)>,
    initialised: BTreeSet<VarId>,
    used: BTreeSet<VarId>,
    /// For each mutex that something destroys, whether it is.
    destroyed: BTreeMap<VarId, VarId>,
    /// The semaphores that something posts.
    semaphores: BTreeSet<VarId>,
    /// For each process and read-write lock, whether it has it for writing; and those of these that are ever set.
    writers: BTreeMap<(ProcessId, VarId), VarId>,
    writes: BTreeSet<VarId>,
    /// What is being read is called by `pthread_once`.
    in_once: bool,
}

impl<'a> Builder<'a> {
    /// Notes that an object of a function has to be initialised before it can be used.
    pub(super) fn begin_unprepared(&mut self, part: &Part, name: &str, at: At) {
        fn variables(ty: &Type, object: &Object, structs: &Structs, found: &mut Vec<VarId>) {
            match (ty, object) {
                (Type::Array(inner, _), _) => variables(inner, object, structs, found),
                (
                    Type::Mutex | Type::Semaphore | Type::ReadWriteLock | Type::Barrier,
                    Object::Variable(var),
                ) => found.push(*var),
                (Type::Barrier, Object::Fields(fields)) => {
                    if let Some((_, Object::Variable(var))) = fields.first() {
                        found.push(*var);
                    }
                }
                (Type::Struct(number), Object::Fields(fields)) => {
                    for ((_, ty), (_, object)) in structs[*number].iter().zip(fields) {
                        variables(ty, object, structs, found);
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        variables(&part.ty, &part.object, &self.structs, &mut found);
        let bare = found.into_iter().map(|var| (var, name.to_owned(), at));
        self.prepared.bare.extend(bare);
    }

    /// Refuses a program that uses something that it never initialises.
    pub(super) fn check_prepared(&self) -> Built<()> {
        let Prepared {
            bare,
            initialised,
            used,
            ..
        } = &self.prepared;
        for (var, name, at) in bare {
            if used.contains(var) && !initialised.contains(var) {
                let message = format!("`{name}` is used, and nothing initialises it");
                let help =
                    "call the function that initialises it, or write `= PTHREAD_MUTEX_INITIALIZER`";
                return malformed(*at, message, help);
            }
        }
        Ok(())
    }

    /// Checks that nobody holds a mutex.
    fn not_held(&mut self, lock: Place, meaning: &'static str, at: At) {
        // The main thread alone, before it has made others and taken the mutex, cannot fail it.
        if !self.is_alone() || self.prepared.used.contains(&lock.var) {
            self.emit(at, StatementKind::Assert(Expr::Locked(lock).not(), meaning));
        }
    }

    pub(super) fn mutex(&mut self, kind: Mutex, call: Call<'a, '_>) -> Built<Value> {
        let Call { arguments, at, .. } = call;
        let lock = self.typed_argument(arguments, Type::Mutex, at)?;
        match kind {
            Mutex::Init | Mutex::SpinInit => {
                match kind {
                    Mutex::SpinInit => self.effect(&arguments[1])?,
                    _ => self.null_argument(arguments, 1, "an attribute of a mutex")?,
                }
                self.prepared.initialised.insert(lock.var);
                let meaning = "the mutex is initialised while somebody holds it";
                self.not_held(lock.clone(), meaning, at);
                self.emit(at, StatementKind::Initialised(lock));
            }
            Mutex::Destroy => {
                let meaning = "the mutex is destroyed while somebody holds it";
                let held = Expr::Locked(lock.clone());
                let flag = Place {
                    var: self.destroyed_flag(lock.var),
                    indices: lock.indices,
                };
                let check = StatementKind::Assert(held.not(), meaning);
                let set = StatementKind::Assign(flag, Expr::Truth(true));
                let code = [check, set].map(|kind| Statement { at, kind });
                self.step(code.into(), at);
            }
            Mutex::Lock => {
                self.prepared.used.insert(lock.var);
                self.emit(at, StatementKind::Lock(lock));
            }
            Mutex::Unlock => self.emit(at, StatementKind::Unlock(lock)),
            Mutex::Try => {
                self.prepared.used.insert(lock.var);
                let free = Expr::Locked(lock.clone()).not();
                let take = vec![Statement::new(at, StatementKind::Lock(lock))];
                return Ok(self.attempt(free, take, EBUSY, at));
            }
        }
        Ok(success())
    }

    /// The variable that says whether a mutex has been destroyed.
    fn destroyed_flag(&mut self, lock: VarId) -> VarId {
        if let Some(flag) = self.prepared.destroyed.get(&lock) {
            return *flag;
        }
        let variable = self.model.variable(lock).clone();
        let flag = self.new_variable(Variable {
            wish: format!("{}_destroyed", variable.wish),
            kind: VarKind::Truth,
            ..variable
        });
        self.prepared.destroyed.insert(lock, flag);
        flag
    }

    /// Who takes a mutex that has been destroyed fails a check: what happens then is not defined. And where a thread cannot have a read-write lock for writing, it is not asked.
    pub(super) fn check_destroyed(&mut self) {
        let destroyed = std::mem::take(&mut self.prepared.destroyed);
        let writers = std::mem::take(&mut self.prepared.writers);
        let idle: BTreeSet<VarId> = writers
            .values()
            .filter(|var| !self.prepared.writes.contains(var))
            .copied()
            .collect();
        for process in &mut self.model.processes {
            let body = std::mem::take(&mut process.body);
            process.body = settled(body, &destroyed, &idle, false);
        }
    }

    /// A wait for a condition variable: it may end at any time.
    pub(super) fn wait(&mut self, arguments: &'a [Node<Expression>], at: At) -> Built<Value> {
        self.not_in_step(at)?;
        self.object_argument(arguments, 0, &Type::Condition, at)?;
        let lock = self.typed_argument(&arguments[1..], Type::Mutex, at)?;
        for argument in &arguments[2..] {
            if super::call::acts(argument) {
                self.effect(argument)?;
            }
        }
        self.emit(at, StatementKind::Unlock(lock.clone()));
        self.emit(at, StatementKind::Lock(lock));
        Ok(success())
    }

    pub(super) fn semaphore(&mut self, kind: Semaphore, call: Call<'a, '_>) -> Built<Value> {
        let Call { arguments, at, .. } = call;
        let part = self.pointed_argument(arguments, 0, at)?;
        let place = self.number_of_type(&part, Type::Semaphore, at)?;
        if kind != Semaphore::Init {
            self.prepared.used.insert(place.var);
        }
        let load = || Expr::Load(place.clone());
        let positive = Expr::compare(Compare::Gt, load(), Expr::Number(0));
        let set = |value: Expr| Statement::new(at, StatementKind::Assign(place.clone(), value));
        let less = Expr::arith(Arith::Sub, load(), Expr::Number(1));
        match kind {
            Semaphore::Init => {
                self.effect(&arguments[1])?;
                let value = self.rvalue(&arguments[2])?;
                let expr = self.convert(value, IntType::UNSIGNED, at)?;
                let expr = self.settle(expr, IntType::UNSIGNED, at);
                self.prepared.initialised.insert(place.var);
                let fits = Expr::compare(Compare::Le, expr.clone(), MOST_POSTS);
                Ok(self.attempt(fits, vec![set(expr)], -1, at))
            }
            Semaphore::Destroy => Ok(success()),
            Semaphore::Wait => {
                let kind = StatementKind::Await(positive);
                self.step(vec![Statement { at, kind }, set(less)], at);
                Ok(success())
            }
            Semaphore::Try => Ok(self.attempt(positive, vec![set(less)], -1, at)),
            Semaphore::Post => {
                self.prepared.semaphores.insert(place.var);
                let more = Expr::arith(Arith::Add, load(), Expr::Number(1));
                let possible = Expr::compare(Compare::Lt, load(), MOST_POSTS);
                Ok(self.attempt(possible, vec![set(more)], -1, at))
            }
            Semaphore::Value => {
                let target = self.pointed_argument(arguments, 1, at)?;
                self.store(&target, Value::Int(load(), IntType::INT), at)?;
                Ok(success())
            }
        }
    }

    /// Takes out what only more than 2147483647 threads could do to semaphores: whether a value gets too large to be posted. Gives the places.
    pub(super) fn let_semaphores_grow(&mut self) -> Vec<At> {
        fn without(code: Code, semaphores: &BTreeSet<VarId>, places: &mut Vec<At>) -> Code {
            let mut output = Vec::new();
            for Statement { at, kind } in code {
                match kind {
                    StatementKind::If(Expr::Compare(Compare::Lt, left, right), yes, _)
                        if *right == MOST_POSTS
                            && matches!(&*left, Expr::Load(place) if semaphores.contains(&place.var)) =>
                    {
                        places.push(at);
                        output.extend(yes);
                    }
                    kind => {
                        let kind = kind.with_inner(&mut |code| without(code, semaphores, places));
                        output.push(Statement { at, kind });
                    }
                }
            }
            output
        }
        let mut places = Vec::new();
        for process in &mut self.model.processes {
            let body = std::mem::take(&mut process.body);
            process.body = without(body, &self.prepared.semaphores, &mut places);
        }
        places
    }

    pub(super) fn mutex_kind(&mut self, arguments: &'a [Node<Expression>], at: At) -> Built<Value> {
        self.object_argument(arguments, 0, &Type::Attributes, at)?;
        let plain = [
            "PTHREAD_MUTEX_NORMAL",
            "PTHREAD_MUTEX_DEFAULT",
            "PTHREAD_MUTEX_TIMED_NP",
        ];
        match plain.iter().any(|name| is_named(&arguments[1], name)) {
            true => Ok(success()),
            false => {
                let help = "use a plain mutex: locking it twice blocks the thread for ever";
                unsupported(at, "a mutex of another kind than the plain one", help)
            }
        }
    }

    pub(super) fn detach_state(
        &mut self,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        self.object_argument(arguments, 0, &Type::Attributes, at)?;
        if is_named(&arguments[1], "PTHREAD_CREATE_DETACHED") {
            self.threads.made_detached(at);
        } else if !is_named(&arguments[1], "PTHREAD_CREATE_JOINABLE") {
            let help = "write `PTHREAD_CREATE_JOINABLE` or `PTHREAD_CREATE_DETACHED`";
            return unsupported(at, "a state of threads that is not known", help);
        }
        Ok(success())
    }

    /// `pthread_once(&flag, function)`: the first one calls the function, all others wait until it has ended.
    pub(super) fn once(&mut self, arguments: &'a [Node<Expression>], at: At) -> Built<Value> {
        self.not_in_step(at)?;
        let part = self.pointed_argument(arguments, 0, at)?;
        let flag = self.number_of_type(&part, Type::Int(IntType::INT), at)?;
        let function = &arguments[1];
        let place = self.place_of(function);
        let Value::Function(function) = self.rvalue(function)? else {
            return unsupported(place, "which function this calls is not known", "name it");
        };
        let load = || Expr::Load(flag.clone());
        let is = |op: Compare, number: i128| Expr::compare(op, load(), Expr::Number(number));
        let set = |number: i128| {
            Statement::new(
                at,
                StatementKind::Assign(flag.clone(), Expr::Number(number)),
            )
        };
        let first = self.temporary(VarKind::Truth, at);
        let ask = vec![
            Statement::new(at, StatementKind::Await(is(Compare::Ne, 1))),
            Statement::new(
                at,
                StatementKind::Assign(Place::of(first), is(Compare::Eq, 0)),
            ),
            Statement::new(
                at,
                StatementKind::If(Expr::load(first), vec![set(1)], Vec::new()),
            ),
        ];
        self.step(ask, at);
        let outer = std::mem::replace(&mut self.prepared.in_once, true);
        let call = self.block(|builder| {
            builder.call_by_name(&function, Vec::new(), at)?;
            Ok(())
        });
        self.prepared.in_once = outer;
        let mut call = call?;
        call.push(set(2));
        self.emit(at, StatementKind::If(Expr::load(first), call, Vec::new()));
        Ok(success())
    }

    /// `pthread_exit(value)`.
    pub(super) fn exit_thread(
        &mut self,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        self.not_in_step(at)?;
        if self.prepared.in_once {
            let help = "return from the function that `pthread_once` calls";
            return unsupported(at, "a thread that ends in `pthread_once`", help);
        }
        self.rvalue(&arguments[0])?;
        match self.threads.end {
            Some(end) => self.emit(at, StatementKind::Goto(end)),
            None => self.emit(at, StatementKind::Return),
        }
        Ok(Value::Void)
    }

    pub(super) fn object_argument(
        &mut self,
        arguments: &'a [Node<Expression>],
        position: usize,
        ty: &Type,
        at: At,
    ) -> Built<()> {
        let part = self.pointed_argument(arguments, position, at)?;
        match part.ty == *ty {
            true => Ok(()),
            false => unsupported(
                at,
                "an object of another type is expected here",
                "check the argument",
            ),
        }
    }

    fn typed_argument(
        &mut self,
        arguments: &'a [Node<Expression>],
        ty: Type,
        at: At,
    ) -> Built<Place> {
        let part = self.pointed_argument(arguments, 0, at)?;
        if part.ty != ty {
            return unsupported(at, "this is no mutex", "pass a `pthread_mutex_t`");
        }
        let place = self.variable_of(&part, at)?;
        match self.model.is_shared(place.var) {
            true => Ok(place),
            false => {
                let help = "declare it outside of functions, or `static`";
                unsupported(at, "a mutex that one thread alone has", help)
            }
        }
    }

    fn number_of_type(&mut self, part: &super::Part, ty: Type, at: At) -> Built<Place> {
        match part.ty == ty {
            true => self.variable_of(part, at),
            false => unsupported(
                at,
                "an object of another type is expected here",
                "check the argument",
            ),
        }
    }

    /// Code that is one step.
    pub(super) fn step(&mut self, code: Vec<Statement>, at: At) {
        match self.in_step {
            true => self.code.extend(code),
            false => self.emit(at, StatementKind::Atomic(code)),
        }
    }

    /// Does something in one step if it can be done. The result is 0 then, and else another number.
    fn attempt(
        &mut self,
        possible: Expr,
        mut code: Vec<Statement>,
        otherwise: i128,
        at: At,
    ) -> Value {
        match possible {
            Expr::Truth(true) => {
                self.step(code, at);
                return success();
            }
            Expr::Truth(false) => return Value::Int(Expr::Number(otherwise), IntType::INT),
            _ => {}
        }
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let set = |number: i128| {
            Statement::new(
                at,
                StatementKind::Assign(Place::of(result), Expr::Number(number)),
            )
        };
        code.push(set(0));
        let choice = Statement::new(at, StatementKind::If(possible, code, vec![set(otherwise)]));
        self.step(vec![choice], at);
        Value::Int(Expr::load(result), IntType::INT)
    }

    /// Whether the process that is being read has a read-write lock for writing: a variable of its own.
    fn writer(&mut self, lock: &Place) -> Place {
        let key = (self.process, lock.var);
        let var = match self.prepared.writers.get(&key) {
            Some(var) => *var,
            None => {
                let variable = self.model.variable(lock.var).clone();
                let var = self.new_variable(Variable {
                    wish: format!("{}_written", variable.wish),
                    owner: Some(self.process),
                    kind: VarKind::Truth,
                    ..variable
                });
                self.prepared.writers.insert(key, var);
                var
            }
        };
        Place {
            var,
            indices: lock.indices.clone(),
        }
    }

    pub(super) fn read_write(&mut self, kind: ReadWrite, call: Call<'a, '_>) -> Built<Value> {
        let Call { arguments, at, .. } = call;
        let part = self.pointed_argument(arguments, 0, at)?;
        let place = self.number_of_type(&part, Type::ReadWriteLock, at)?;
        let mine = self.writer(&place);
        let load = || Expr::Load(place.clone());
        let set = |place: &Place, value: Expr| {
            Statement::new(at, StatementKind::Assign(place.clone(), value))
        };
        let fresh = self.is_alone() && !self.prepared.used.contains(&place.var);
        if !matches!(kind, ReadWrite::Init | ReadWrite::Destroy) {
            self.prepared.used.insert(place.var);
        }
        let readable = Expr::compare(Compare::Ge, load(), Expr::Number(0));
        let free = Expr::compare(Compare::Eq, load(), Expr::Number(0));
        let read = set(&place, Expr::arith(Arith::Add, load(), Expr::Number(1)));
        let write = vec![set(&place, Expr::Number(-1)), set(&mine, Expr::Truth(true))];
        if matches!(kind, ReadWrite::Write | ReadWrite::TryWrite) {
            self.prepared.writes.insert(mine.var);
        }
        match kind {
            ReadWrite::Init | ReadWrite::Destroy => {
                self.null_argument(arguments, 1, "an attribute of a read-write lock")?;
                self.prepared.initialised.insert(place.var);
                if !fresh {
                    let meaning = match kind {
                        ReadWrite::Init => {
                            "the read-write lock is initialised while somebody holds it"
                        }
                        _ => "the read-write lock is destroyed while somebody holds it",
                    };
                    self.emit(at, StatementKind::Assert(free, meaning));
                }
                Ok(success())
            }
            ReadWrite::Read => Ok(self.wait_unless(mine, readable, vec![read], at)),
            ReadWrite::Write => Ok(self.wait_unless(mine, free, write, at)),
            ReadWrite::TryRead => Ok(self.attempt(readable, vec![read], EBUSY, at)),
            ReadWrite::TryWrite => Ok(self.attempt(free, write, EBUSY, at)),
            ReadWrite::Unlock => {
                let meaning = "the read-write lock is released by a thread that does not hold it";
                let held = Expr::compare(Compare::Gt, load(), Expr::Number(0));
                let less = Expr::arith(Arith::Sub, load(), Expr::Number(1));
                let kind = StatementKind::Assert(held, meaning);
                let reads = vec![Statement { at, kind }, set(&place, less)];
                let writes = vec![set(&place, Expr::Number(0)), set(&mine, Expr::Truth(false))];
                let kind = StatementKind::If(Expr::Load(mine), writes, reads);
                self.step(vec![Statement { at, kind }], at);
                Ok(success())
            }
        }
    }

    /// Waits for something and does it in one step; 0. A thread that writes already is told so at once.
    fn wait_unless(
        &mut self,
        mine: Place,
        condition: Expr,
        mut code: Vec<Statement>,
        at: At,
    ) -> Value {
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let set = |number: i128| {
            Statement::new(
                at,
                StatementKind::Assign(Place::of(result), Expr::Number(number)),
            )
        };
        let kind = StatementKind::Await(condition);
        code.insert(0, Statement { at, kind });
        code.push(set(0));
        let code = match self.in_step {
            true => code,
            false => {
                let kind = StatementKind::Atomic(code);
                vec![Statement { at, kind }]
            }
        };
        self.emit(
            at,
            StatementKind::If(Expr::Load(mine), vec![set(EDEADLK)], code),
        );
        Value::Int(Expr::load(result), IntType::INT)
    }

    pub(super) fn barrier(&mut self, kind: Barrier, call: Call<'a, '_>) -> Built<Value> {
        let Call { arguments, at, .. } = call;
        self.not_in_step(at)?;
        let part = self.pointed_argument(arguments, 0, at)?;
        let fields = ["needed", "arrived", "leaving"].map(|field| self.field_named(&part, field));
        let [Some(needed), Some(arrived), Some(leaving)] = fields else {
            return unsupported(at, "this is no barrier", "pass a `pthread_barrier_t`");
        };
        let none =
            |place: &Place| Expr::compare(Compare::Eq, Expr::Load(place.clone()), Expr::Number(0));
        let set = |value: Expr| Statement::new(at, StatementKind::Assign(needed.clone(), value));
        let statement = |kind| Statement { at, kind };
        match kind {
            Barrier::Wait => Ok(self.at_barrier(&needed, &arrived, &leaving, at)),
            Barrier::Init => {
                self.null_argument(arguments, 1, "an attribute of a barrier")?;
                let value = self.rvalue(&arguments[2])?;
                let expr = self.convert(value, IntType::UNSIGNED, at)?;
                let expr = self.settle(expr, IntType::UNSIGNED, at);
                let mut code = Vec::new();
                if !self.is_alone() || self.prepared.used.contains(&needed.var) {
                    let meaning = "the barrier is initialised while somebody waits there";
                    let idle = none(&arrived).and(none(&leaving));
                    code.push(statement(StatementKind::Assert(idle, meaning)));
                }
                self.prepared.initialised.insert(needed.var);
                let some = Expr::compare(Compare::Gt, expr.clone(), Expr::Number(0));
                let few = Expr::compare(Compare::Lt, expr.clone(), MOST_POSTS);
                code.push(set(expr));
                Ok(self.attempt(some.and(few), code, EINVAL, at))
            }
            Barrier::Destroy => {
                let meaning = "the barrier is destroyed while somebody waits there";
                let code = vec![
                    statement(StatementKind::Await(none(&leaving))),
                    statement(StatementKind::Assert(none(&arrived), meaning)),
                    set(Expr::Number(0)),
                ];
                self.step(code, at);
                Ok(success())
            }
        }
    }

    /// Waits at a barrier.
    fn at_barrier(&mut self, needed: &Place, arrived: &Place, leaving: &Place, at: At) -> Value {
        self.prepared.used.insert(needed.var);
        // A barrier has to be initialised, wherever it is declared.
        let variable = self.model.variable(needed.var);
        let name = variable.wish.trim_end_matches("_needed").to_owned();
        let bare = (needed.var, name, variable.at);
        self.prepared.bare.push(bare);
        let load = |place: &Place| Expr::Load(place.clone());
        let set = |place: &Place, value: Expr| {
            Statement::new(at, StatementKind::Assign(place.clone(), value))
        };
        let last = self.temporary(VarKind::Truth, at);
        let one_more = Expr::arith(Arith::Add, load(arrived), Expr::Number(1));
        let is_last = Expr::compare(Compare::Ge, one_more.clone(), load(needed));
        let others = Expr::arith(Arith::Sub, load(needed), Expr::Number(1));
        let empty = Expr::compare(Compare::Eq, load(leaving), Expr::Number(0));
        let prepared = Expr::compare(Compare::Gt, load(needed), Expr::Number(0));
        let arrive = vec![
            Statement::new(at, StatementKind::Await(empty)),
            Statement::new(
                at,
                StatementKind::Assert(prepared, "the barrier is not initialised"),
            ),
            set(&Place::of(last), is_last),
            Statement::new(
                at,
                StatementKind::If(
                    Expr::load(last),
                    vec![set(arrived, Expr::Number(0)), set(leaving, others)],
                    vec![set(arrived, one_more)],
                ),
            ),
        ];
        self.emit(at, StatementKind::Atomic(arrive));
        let some = Expr::compare(Compare::Gt, load(leaving), Expr::Number(0));
        let less = Expr::arith(Arith::Sub, load(leaving), Expr::Number(1));
        let leave = Statement::new(
            at,
            StatementKind::Atomic(vec![
                Statement::new(at, StatementKind::Await(some)),
                set(leaving, less),
            ]),
        );
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let serial = set(&Place::of(result), Expr::Number(-1));
        let plain = set(&Place::of(result), Expr::Number(0));
        self.emit(
            at,
            StatementKind::If(Expr::load(last), vec![serial], vec![leave, plain]),
        );
        Value::Int(Expr::load(result), IntType::INT)
    }
}

fn is_named(expression: &Node<Expression>, name: &str) -> bool {
    matches!(&expression.node, Expression::Identifier(found) if found.node.name == name)
}

/// The code with a check behind each `Lock` of a mutex that may be destroyed. Of processes that never have a read-write lock for writing, the variables that would say so are taken out.
fn settled(
    code: Code,
    destroyed: &BTreeMap<VarId, VarId>,
    idle: &BTreeSet<VarId>,
    in_step: bool,
) -> Code {
    let mut output = Vec::new();
    for Statement { at, kind } in code {
        let statement = |kind| Statement { at, kind };
        let flag = |place: &Place| {
            destroyed.get(&place.var).map(|flag| Place {
                var: *flag,
                indices: place.indices.clone(),
            })
        };
        match kind {
            StatementKind::Initialised(place) => {
                let clear = |flag| statement(StatementKind::Assign(flag, Expr::Truth(false)));
                output.extend(flag(&place).map(clear));
            }
            StatementKind::Lock(place) => {
                let meaning = "the mutex is used after it was destroyed";
                let check = flag(&place)
                    .map(|flag| statement(StatementKind::Assert(Expr::Load(flag).not(), meaning)));
                let lock = statement(StatementKind::Lock(place));
                match check {
                    None => output.push(lock),
                    Some(check) if in_step => output.extend([lock, check]),
                    Some(check) => output.push(statement(StatementKind::Atomic(vec![lock, check]))),
                }
            }
            StatementKind::If(Expr::Load(place), _, no) if idle.contains(&place.var) => {
                output.extend(settled(no, destroyed, idle, in_step));
            }
            kind => {
                let in_step = in_step || matches!(kind, StatementKind::Atomic(_));
                let kind = kind.with_inner(&mut |code| settled(code, destroyed, idle, in_step));
                output.push(statement(kind));
            }
        }
    }
    output
}
