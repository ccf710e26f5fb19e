//! Mutexes, condition variables, semaphores, read-write locks, barriers.
//!
//! Waiting for a condition variable may end at any time, as POSIX allows it to. So a wait is the release of the mutex and then the taking of it, and
//! signals say nothing that matters. A semaphore is a number. A read-write lock is a number too: how many read, or -1
//! if somebody writes. Who waits at a barrier goes on when enough have come; who comes to the next round waits until all of the last one have left, which each of them does
//! without touching anything else.

use std::collections::BTreeSet;

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::super::ir::{Arith, Compare, Expr, Place, Statement, StatementKind, VarId, VarKind};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{IntType, Type};
use super::{Builder, Object, Part, Value};

type Structs = [Vec<(String, Type)>];

/// Which mutexes, semaphores and barriers the program initialises, and which of those that have to be it uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Prepared {
    /// Variables of functions that are declared without a value: they are none of their kind before they are initialised.
    bare: Vec<(VarId, String, At)>,
    initialised: BTreeSet<VarId>,
    used: BTreeSet<VarId>,
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

    pub(super) fn synchronise(
        &mut self,
        name: &str,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Option<Value>> {
        let success = Ok(Some(Value::Int(Expr::Number(0), IntType::INT)));
        if self.functions.contains_key(name) {
            return Ok(None);
        }
        match name {
            "pthread_mutex_init" | "pthread_spin_init" => {
                let lock = self.typed_argument(arguments, Type::Mutex, at)?;
                if name == "pthread_mutex_init" {
                    self.null_argument(arguments, 1, "an attribute of a mutex")?;
                }
                self.prepared.initialised.insert(lock.var);
                self.not_held(lock, "the mutex is initialised while somebody holds it", at);
                success
            }
            "pthread_mutex_destroy" | "pthread_spin_destroy" => {
                let lock = self.typed_argument(arguments, Type::Mutex, at)?;
                self.not_held(lock, "the mutex is destroyed while somebody holds it", at);
                success
            }
            "pthread_mutex_lock" | "pthread_spin_lock" => {
                let lock = self.typed_argument(arguments, Type::Mutex, at)?;
                self.prepared.used.insert(lock.var);
                self.emit(at, StatementKind::Lock(lock));
                success
            }
            "pthread_mutex_unlock" | "pthread_spin_unlock" => {
                let lock = self.typed_argument(arguments, Type::Mutex, at)?;
                self.emit(at, StatementKind::Unlock(lock));
                success
            }
            "pthread_mutex_trylock" | "pthread_spin_trylock" => {
                let lock = self.typed_argument(arguments, Type::Mutex, at)?;
                self.prepared.used.insert(lock.var);
                let free = Expr::Locked(lock.clone()).not();
                let take = vec![Statement {
                    at,
                    kind: StatementKind::Lock(lock),
                }];
                self.attempt(free, take, at)
            }
            "pthread_cond_init"
            | "pthread_cond_destroy"
            | "pthread_cond_signal"
            | "pthread_cond_broadcast" => {
                self.object_argument(arguments, 0, &Type::Condition, at)?;
                success
            }
            "pthread_cond_wait" | "pthread_cond_timedwait" => {
                self.not_in_step(at)?;
                self.object_argument(arguments, 0, &Type::Condition, at)?;
                let part = self.pointed_argument(arguments, 1, at)?;
                let lock = self.variable_of(&part, at)?;
                if part.ty != Type::Mutex {
                    return unsupported(at, "this is no mutex", "pass the mutex that is held");
                }
                self.emit(at, StatementKind::Unlock(lock.clone()));
                self.emit(at, StatementKind::Lock(lock));
                match name {
                    "pthread_cond_wait" => success,
                    _ => Ok(Some(self.arbitrary_result(110, at))),
                }
            }
            "sem_init" => {
                let part = self.pointed_argument(arguments, 0, at)?;
                let place = self.number_of_type(&part, Type::Semaphore, at)?;
                let value = match arguments.get(2) {
                    Some(value) => self.rvalue(value)?,
                    None => return unsupported(at, "an argument is missing", "give three"),
                };
                let expr = self.convert(value, IntType::UNSIGNED, at)?;
                self.prepared.initialised.insert(place.var);
                self.write(place, expr, IntType::UNSIGNED, at);
                success
            }
            "sem_wait" | "sem_post" | "sem_trywait" | "sem_destroy" => {
                let part = self.pointed_argument(arguments, 0, at)?;
                let place = self.number_of_type(&part, Type::Semaphore, at)?;
                self.prepared.used.insert(place.var);
                let positive =
                    Expr::compare(Compare::Greater, Expr::Load(place.clone()), Expr::Number(0));
                let change = |by: i128| {
                    let value =
                        Expr::arith(Arith::Add, Expr::Load(place.clone()), Expr::Number(by));
                    Statement {
                        at,
                        kind: StatementKind::Assign(place.clone(), value),
                    }
                };
                match name {
                    "sem_wait" => {
                        let kind = StatementKind::Await(positive);
                        let code = vec![Statement { at, kind }, change(-1)];
                        self.step(code, at);
                        success
                    }
                    "sem_post" => {
                        self.step(vec![change(1)], at);
                        success
                    }
                    "sem_trywait" => {
                        let taken = change(-1);
                        self.attempt(positive, vec![taken], at)
                    }
                    _ => success,
                }
            }
            "sem_getvalue" => {
                let part = self.pointed_argument(arguments, 0, at)?;
                let place = self.number_of_type(&part, Type::Semaphore, at)?;
                self.prepared.used.insert(place.var);
                let target = self.pointed_argument(arguments, 1, at)?;
                let value = Value::Int(Expr::Load(place), IntType::INT);
                self.store(&target, value, at)?;
                success
            }
            "pthread_rwlock_init" | "pthread_rwlock_destroy" => {
                let part = self.pointed_argument(arguments, 0, at)?;
                let place = self.number_of_type(&part, Type::ReadWriteLock, at)?;
                if name == "pthread_rwlock_init" {
                    self.null_argument(arguments, 1, "an attribute of a read-write lock")?;
                    self.prepared.initialised.insert(place.var);
                }
                success
            }
            "pthread_rwlock_rdlock"
            | "pthread_rwlock_wrlock"
            | "pthread_rwlock_unlock"
            | "pthread_rwlock_tryrdlock"
            | "pthread_rwlock_trywrlock" => {
                let part = self.pointed_argument(arguments, 0, at)?;
                let place = self.number_of_type(&part, Type::ReadWriteLock, at)?;
                self.prepared.used.insert(place.var);
                self.read_write(name, &place, at)
            }
            "pthread_barrier_init" => {
                let part = self.pointed_argument(arguments, 0, at)?;
                let (Type::Barrier, Some(needed)) = (&part.ty, self.field_named(&part, "needed"))
                else {
                    return unsupported(at, "this is no barrier", "pass a `pthread_barrier_t`");
                };
                self.null_argument(arguments, 1, "an attribute of a barrier")?;
                let value = match arguments.get(2) {
                    Some(value) => self.rvalue(value)?,
                    None => return unsupported(at, "an argument is missing", "give three"),
                };
                let expr = self.convert(value, IntType::INT, at)?;
                self.prepared.initialised.insert(needed.var);
                self.write(needed, expr, IntType::INT, at);
                success
            }
            "pthread_barrier_destroy" => success,
            "pthread_barrier_wait" => self.barrier(arguments, at),
            "pthread_attr_init"
            | "pthread_attr_destroy"
            | "pthread_mutexattr_init"
            | "pthread_mutexattr_destroy"
            | "pthread_condattr_init"
            | "pthread_condattr_destroy"
            | "pthread_attr_setdetachstate"
            | "pthread_attr_setstacksize" => {
                for argument in arguments.iter().skip(1) {
                    if super::call::acts(argument) {
                        return unsupported(at, "an argument that does something", "do it before");
                    }
                }
                success
            }
            "pthread_once" => self.once(arguments, at),
            "pthread_create" => self.create_thread(arguments, at),
            "pthread_join" => self.join_thread(arguments, at),
            "pthread_detach" => {
                if let Some(handle) = arguments.first() {
                    self.effect(handle)?;
                }
                success
            }
            "pthread_exit" => {
                self.not_in_step(at)?;
                if let Some(value) = arguments.first() {
                    self.null_or_number(value)?;
                }
                match self.threads.end {
                    Some(end) => self.emit(at, StatementKind::Goto(end)),
                    None => self.emit(at, StatementKind::Return),
                }
                Ok(Some(Value::Void))
            }
            "pthread_mutexattr_settype" => {
                let plain = matches!(arguments.get(1).map(|kind| &kind.node),
                    Some(Expression::Identifier(kind)) if matches!(kind.node.name.as_str(),
                        "PTHREAD_MUTEX_NORMAL" | "PTHREAD_MUTEX_DEFAULT" | "PTHREAD_MUTEX_TIMED_NP"));
                match plain {
                    true => success,
                    false => {
                        let help = "use a plain mutex: who locks it twice waits for ever";
                        unsupported(at, "a mutex of another kind than the plain one", help)
                    }
                }
            }
            "pthread_self" | "pthread_equal" => {
                let help = "give each thread a number as its argument, and compare these";
                unsupported(at, format!("`{name}` is not supported"), help)
            }
            _ if name.starts_with("pthread_") || name.starts_with("sem_") => {
                let help = "create, join, mutexes, condition variables, semaphores, read-write locks and barriers are";
                unsupported(at, format!("`{name}` is not supported"), help)
            }
            _ => Ok(None),
        }
    }

    /// `pthread_once(&flag, function)`: the first one calls the function, all others wait until it has ended.
    fn once(&mut self, arguments: &'a [Node<Expression>], at: At) -> Built<Option<Value>> {
        self.not_in_step(at)?;
        let part = self.pointed_argument(arguments, 0, at)?;
        let flag = self.number_of_type(&part, Type::Int(IntType::INT), at)?;
        let Some(function) = arguments.get(1) else {
            return malformed(at, "an argument is missing", "give both");
        };
        let place = self.place_of(function);
        let Value::Function(function) = self.rvalue(function)? else {
            return unsupported(place, "which function this calls is not known", "name it");
        };
        let load = || Expr::Load(flag.clone());
        let is = |op: Compare, number: i128| Expr::compare(op, load(), Expr::Number(number));
        let set = |number: i128| Statement {
            at,
            kind: StatementKind::Assign(flag.clone(), Expr::Number(number)),
        };
        let first = self.temporary(VarKind::Truth, at);
        let ask = vec![
            Statement {
                at,
                kind: StatementKind::Await(is(Compare::NotEqual, 1)),
            },
            Statement {
                at,
                kind: StatementKind::Assign(Place::of(first), is(Compare::Equal, 0)),
            },
            Statement {
                at,
                kind: StatementKind::If(Expr::load(first), vec![set(1)], Vec::new()),
            },
        ];
        self.step(ask, at);
        let mut call = self.block(|builder| {
            builder.call_by_name(&function, Vec::new(), at)?;
            Ok(())
        })?;
        call.push(set(2));
        self.emit(at, StatementKind::If(Expr::load(first), call, Vec::new()));
        Ok(Some(Value::Int(Expr::Number(0), IntType::INT)))
    }

    fn null_or_number(&mut self, value: &'a Node<Expression>) -> Built<()> {
        self.rvalue(value).map(|_| ())
    }

    fn object_argument(
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

    /// Does something in one step if it can be done. The result is 0 then, and else the number that says that it is busy.
    fn attempt(&mut self, possible: Expr, code: Vec<Statement>, at: At) -> Built<Option<Value>> {
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let set = |number: i128| Statement {
            at,
            kind: StatementKind::Assign(Place::of(result), Expr::Number(number)),
        };
        let mut code = code;
        code.push(set(0));
        let choice = Statement {
            at,
            kind: StatementKind::If(possible, code, vec![set(16)]),
        };
        self.step(vec![choice], at);
        Ok(Some(Value::Int(Expr::load(result), IntType::INT)))
    }

    /// 0 or another number, whichever.
    fn arbitrary_result(&mut self, other: i128, at: At) -> Value {
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let set = |number: i128| {
            vec![Statement {
                at,
                kind: StatementKind::Assign(Place::of(result), Expr::Number(number)),
            }]
        };
        self.emit(at, StatementKind::Choose(vec![set(0), set(other)]));
        Value::Int(Expr::load(result), IntType::INT)
    }

    fn read_write(&mut self, name: &str, place: &Place, at: At) -> Built<Option<Value>> {
        let load = || Expr::Load(place.clone());
        let set = |value: Expr| Statement {
            at,
            kind: StatementKind::Assign(place.clone(), value),
        };
        let readable = Expr::compare(Compare::GreaterEqual, load(), Expr::Number(0));
        let writable = Expr::compare(Compare::Equal, load(), Expr::Number(0));
        let more = Expr::arith(Arith::Add, load(), Expr::Number(1));
        let success = Ok(Some(Value::Int(Expr::Number(0), IntType::INT)));
        let wait = |condition: Expr| Statement {
            at,
            kind: StatementKind::Await(condition),
        };
        match name {
            "pthread_rwlock_rdlock" => {
                self.step(vec![wait(readable), set(more)], at);
                success
            }
            "pthread_rwlock_wrlock" => {
                self.step(vec![wait(writable), set(Expr::Number(-1))], at);
                success
            }
            "pthread_rwlock_tryrdlock" => self.attempt(readable, vec![set(more)], at),
            "pthread_rwlock_trywrlock" => self.attempt(writable, vec![set(Expr::Number(-1))], at),
            _ => {
                let held = Expr::compare(Compare::NotEqual, load(), Expr::Number(0));
                let check = Statement {
                    at,
                    kind: StatementKind::Assert(
                        held,
                        "the read-write lock is released, and nobody holds it",
                    ),
                };
                let writes = Expr::compare(Compare::Less, load(), Expr::Number(0));
                let less = Expr::arith(Arith::Sub, load(), Expr::Number(1));
                let choice = Statement {
                    at,
                    kind: StatementKind::If(writes, vec![set(Expr::Number(0))], vec![set(less)]),
                };
                self.step(vec![check, choice], at);
                success
            }
        }
    }

    fn barrier(&mut self, arguments: &'a [Node<Expression>], at: At) -> Built<Option<Value>> {
        self.not_in_step(at)?;
        let part = self.pointed_argument(arguments, 0, at)?;
        let fields = ["needed", "arrived", "leaving"].map(|field| self.field_named(&part, field));
        let [Some(needed), Some(arrived), Some(leaving)] = fields else {
            return unsupported(at, "this is no barrier", "pass a `pthread_barrier_t`");
        };
        self.prepared.used.insert(needed.var);
        // A barrier has to be initialised, wherever it is declared.
        let variable = self.model.variable(needed.var);
        let name = variable.wish.trim_end_matches("_needed").to_owned();
        let bare = (needed.var, name, variable.at);
        self.prepared.bare.push(bare);
        let load = |place: &Place| Expr::Load(place.clone());
        let set = |place: &Place, value: Expr| Statement {
            at,
            kind: StatementKind::Assign(place.clone(), value),
        };
        let last = self.temporary(VarKind::Truth, at);
        let one_more = Expr::arith(Arith::Add, load(&arrived), Expr::Number(1));
        let is_last = Expr::compare(Compare::GreaterEqual, one_more.clone(), load(&needed));
        let others = Expr::arith(Arith::Sub, load(&needed), Expr::Number(1));
        let empty = Expr::compare(Compare::Equal, load(&leaving), Expr::Number(0));
        let arrive = vec![
            Statement {
                at,
                kind: StatementKind::Await(empty),
            },
            set(&Place::of(last), is_last),
            Statement {
                at,
                kind: StatementKind::If(
                    Expr::load(last),
                    vec![set(&arrived, Expr::Number(0)), set(&leaving, others)],
                    vec![set(&arrived, one_more)],
                ),
            },
        ];
        self.emit(at, StatementKind::Atomic(arrive));
        let some = Expr::compare(Compare::Greater, load(&leaving), Expr::Number(0));
        let less = Expr::arith(Arith::Sub, load(&leaving), Expr::Number(1));
        let leave = Statement {
            at,
            kind: StatementKind::Atomic(vec![
                Statement {
                    at,
                    kind: StatementKind::Await(some),
                },
                set(&leaving, less),
            ]),
        };
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let serial = set(&Place::of(result), Expr::Number(-1));
        let plain = set(&Place::of(result), Expr::Number(0));
        self.emit(
            at,
            StatementKind::If(Expr::load(last), vec![serial], vec![leave, plain]),
        );
        Ok(Some(Value::Int(Expr::load(result), IntType::INT)))
    }
}
