//! Random programs of few threads and small values. What C leaves undefined is not written, but for what is checked: indices, divisors, locks.

use std::collections::BTreeSet;

use threadwise_testgen::random::Random;

use super::program::{
    Arg, Case, Expr, Function, Kind, Place, Program, Rmw, Stmt, Thread, Type, Var, VarId,
};

/// Stands for whatever a pointer points to.
const ANYTHING: VarId = VarId::MAX;

/// Where a statement is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Helper { gives: bool },
    Thread,
    Main,
}

struct Generator {
    random: Random,
    program: Program,
    /// Variables of the function that can be named.
    scope: Vec<VarId>,
    /// Variables whose names mean others.
    hidden: Vec<VarId>,
    within: Within,
    /// In a part that is one step: no locks, no jumps out of it.
    atomic: bool,
    /// In a function that is one step: it may be left.
    own_step: bool,
    /// In a loop that `continue` may go on with, and in something that `break` may leave.
    looping: bool,
    leaving: bool,
    held: Option<usize>,
    locals: usize,
    /// Whether a helper takes no lock and has no atomic part.
    plain: Vec<bool>,
    was_plain: bool,
}

pub fn generate(seed: u64) -> Program {
    let mut generator = Generator {
        random: Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(77)),
        program: Program::default(),
        scope: Vec::new(),
        hidden: Vec::new(),
        within: Within::Main,
        atomic: false,
        own_step: false,
        looping: false,
        leaving: false,
        held: None,
        locals: 0,
        plain: Vec::new(),
        was_plain: true,
    };
    generator.run();
    generator.program
}

/// What an expression reads and writes itself, without the functions that it calls; an error if two parts that C does not order disturb one another.
#[derive(Default)]
struct Effects {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
    /// Other threads may tell when it happens, or it calls a function that may do anything.
    synchronises: bool,
}

impl Effects {
    fn touches(&self) -> bool {
        self.synchronises || !self.reads.is_empty() || !self.writes.is_empty()
    }

    fn disturbs(&self, other: &Effects) -> bool {
        let meets = |a: &BTreeSet<VarId>, b: &BTreeSet<VarId>| {
            let any =
                |a: &BTreeSet<VarId>, b: &BTreeSet<VarId>| a.contains(&ANYTHING) && !b.is_empty();
            any(a, b) || any(b, a) || !a.is_disjoint(b)
        };
        meets(&self.writes, &other.reads)
            || meets(&self.writes, &other.writes)
            || meets(&self.reads, &other.writes)
            || self.synchronises && other.touches()
            || other.synchronises && self.touches()
    }

    fn with(mut self, other: Effects) -> Effects {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.synchronises |= other.synchronises;
        self
    }
}

impl Generator {
    fn run(&mut self) {
        self.shared();
        self.program.mutexes = 2;
        self.program.semaphores = vec![self.random.between(0, 2)];
        for at in 0..self.random.below(4) {
            let helper = self.helper(at);
            self.plain.push(self.was_plain);
            self.program.helpers.push(helper);
        }
        let bodies = 1 + self.random.below(2);
        for at in 0..bodies {
            let body = self.thread(at);
            self.program.bodies.push(body);
        }
        let threads = match self.random.below(10) {
            0 => 1,
            1 => 3,
            _ => 2,
        };
        for at in 0..threads {
            let argument = self.random.between(0, 2);
            self.program.threads.push(Thread {
                function: at % bodies,
                argument,
            });
        }
        self.enter(Within::Main);
        let mut main = Vec::new();
        if self.random.percent(30) {
            let statement = self.statement(1);
            main.extend(statement);
        }
        for at in 0..threads {
            main.push(Stmt::Create(at));
        }
        if self.random.percent(50) {
            let statements = self.statements(1, 1);
            main.extend(statements);
        }
        let joined = self.random.percent(75);
        for at in 0..threads {
            if joined || self.random.percent(30) {
                main.push(Stmt::Join(at));
            }
        }
        if self.random.percent(40) {
            let statement = self.statement(1);
            main.extend(statement);
        }
        main.push(self.assertion());
        self.program.main = main;
    }

    fn shared(&mut self) {
        let types = [
            Type::Int,
            *self.pick(&[Type::Int, Type::Bool, Type::UnsignedChar]),
            *self.pick(&[Type::Int, Type::Int, Type::UnsignedChar]),
        ];
        for (at, ty) in types.into_iter().enumerate() {
            let init = self.random.between(0, 1);
            self.var(Kind::Shared, ty, &format!("g{at}"), init);
        }
        let ax = self.var(Kind::Shared, Type::Int, "ax", 0);
        self.program.vars[ax].atomic = true;
        let a = self.var(Kind::Shared, Type::Int, "a", 0);
        self.program.vars[a].len = Some(2 + self.random.below(2));
        for field in ["p", "q"] {
            let id = self.var(Kind::Shared, Type::Int, &format!("s.{field}"), 0);
            self.program.vars[id].name = format!("s_{field}");
        }
        for (field, end) in [("p", ".p"), ("q", ".q")] {
            let id = self.var(Kind::Shared, Type::Int, "r", 0);
            let var = &mut self.program.vars[id];
            var.name = format!("r_{field}");
            var.c_end = end;
            var.len = Some(2);
        }
        self.var(Kind::ThreadLocal, Type::Int, "own", 0);
    }

    fn pick<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.random.below(of.len())]
    }

    fn var(&mut self, kind: Kind, ty: Type, c: &str, init: i64) -> VarId {
        let id = self.program.vars.len();
        let name = match kind {
            Kind::Local | Kind::Pointer => format!("{c}_{id}"),
            _ => c.to_owned(),
        };
        self.program.vars.push(Var {
            kind,
            ty,
            atomic: false,
            c: c.to_owned(),
            c_end: "",
            name,
            len: None,
            init,
            fixed: false,
        });
        id
    }

    /// A new variable of the function; now and then its name is that of another, which cannot be named until the block ends.
    fn local(&mut self, ty: Type) -> VarId {
        self.locals += 1;
        let mut name = format!("l{}", self.locals);
        if self.random.percent(12) {
            let all = self.program.vars.iter().enumerate();
            let others: Vec<VarId> = all
                .filter(|(id, var)| {
                    !self.hidden.contains(id)
                        && match var.kind {
                            Kind::Shared => ["g0", "g1", "g2", "a"].contains(&var.c.as_str()),
                            _ => false,
                        }
                })
                .map(|(id, _)| id)
                .collect();
            if let Some(&other) = self.random.one(&others) {
                name = self.program.vars[other].c.clone();
                self.hidden.push(other);
            }
        }
        self.var(Kind::Local, ty, &name, 0)
    }

    fn enter(&mut self, within: Within) {
        self.within = within;
        self.scope.clear();
        self.hidden.clear();
        self.atomic = false;
        self.own_step = false;
        self.looping = false;
        self.leaving = false;
        self.held = None;
        self.locals = 0;
        self.was_plain = true;
    }

    fn helper(&mut self, at: usize) -> Function {
        let gives = self.random.percent(80);
        self.enter(Within::Helper { gives });
        let atomic = self.random.percent(20);
        self.atomic = atomic;
        self.own_step = atomic;
        let mut params = Vec::new();
        for number in 0..self.random.below(3) {
            params.push(self.var(Kind::Local, Type::Int, &format!("n{number}"), 0));
        }
        if self.random.percent(40) {
            params.push(self.var(Kind::Pointer, Type::Int, "to", 0));
        }
        self.scope.extend(params.iter().copied());
        let mut statics = Vec::new();
        if self.random.percent(20) {
            let id = self.var(Kind::Shared, Type::Int, "kept", 0);
            self.program.vars[id].name = format!("kept{at}");
            self.program.vars[id].init = self.random.between(0, 1);
            statics.push(id);
            self.scope.push(id);
        }
        let most = 1 + self.random.below(2);
        let mut body = self.statements(most, 2);
        if gives {
            let value = self.expr(1);
            body.push(Stmt::Return(Some(value)));
        }
        self.was_plain &= !atomic;
        let prefix = if atomic { "__VERIFIER_atomic_" } else { "" };
        Function {
            name: format!("{prefix}f{at}"),
            params,
            gives,
            atomic,
            statics,
            body,
        }
    }

    fn thread(&mut self, at: usize) -> Function {
        self.enter(Within::Thread);
        let param = self.var(Kind::Local, Type::Int, "me", 0);
        self.scope.push(param);
        let count = 1 + self.random.below(3);
        let mut body = self.statements(count, 2);
        if self.random.percent(40) {
            body.push(self.assertion());
        }
        Function {
            name: format!("work{at}"),
            params: vec![param],
            gives: false,
            atomic: false,
            statics: Vec::new(),
            body,
        }
    }

    /// The statements of a block of their own.
    fn statements(&mut self, count: usize, depth: usize) -> Vec<Stmt> {
        let (scope, hidden) = (self.scope.len(), self.hidden.len());
        let all: Vec<Stmt> = (0..count).flat_map(|_| self.statement(depth)).collect();
        // The outermost block of a function ends with it.
        if depth < 2 && self.within != Within::Main {
            self.scope.truncate(scope);
            self.hidden.truncate(hidden);
        }
        all
    }

    fn body(&mut self, depth: usize) -> Vec<Stmt> {
        let (scope, hidden) = (self.scope.len(), self.hidden.len());
        let count = 1 + self.random.below(2);
        let all = (0..count).flat_map(|_| self.statement(depth)).collect();
        self.scope.truncate(scope);
        self.hidden.truncate(hidden);
        all
    }

    fn assertion(&mut self) -> Stmt {
        let test = self.full(|g| {
            let left = g.expr(1);
            let (op, value) = (
                *g.pick(&["<=", "<", "!=", "!=", ">=", "=="]),
                g.random.between(0, 4),
            );
            let test = Expr::Binary(op, Box::new(left), Box::new(Expr::Const(value)));
            match g.random.below(4) {
                0 => Expr::Or(Box::new(test), Box::new(g.test())),
                1 => Expr::Unary("!", Box::new(Expr::And(Box::new(test), Box::new(g.test())))),
                _ => test,
            }
        });
        Stmt::Assert(test)
    }

    /// An expression that C defines.
    fn full(&mut self, mut make: impl FnMut(&mut Generator) -> Expr) -> Expr {
        for _ in 0..20 {
            let e = make(self);
            if self.effects(&e).is_some() {
                return e;
            }
        }
        Expr::Const(1)
    }

    fn statement(&mut self, depth: usize) -> Vec<Stmt> {
        let nested = depth > 0;
        match self.random.below(43) {
            0..=11 => {
                let e = self.full(|g| g.effect());
                vec![Stmt::Expr(e)]
            }
            12..=14 => {
                let ty = *self.pick(&[
                    Type::Int,
                    Type::Int,
                    Type::Int,
                    Type::Bool,
                    Type::UnsignedChar,
                ]);
                let value = self.full(|g| g.expr(2));
                let id = self.local(ty);
                self.scope.push(id);
                vec![Stmt::Declare(id, value)]
            }
            15 => {
                let id = self.local(Type::Int);
                self.program.vars[id].len = Some(2);
                self.scope.push(id);
                let values = vec![self.random.between(0, 2), self.random.between(0, 2)];
                vec![Stmt::DeclareArray(id, values)]
            }
            16 => {
                let below = self.random.between(2, 3);
                let id = self.local(Type::Int);
                self.scope.push(id);
                vec![Stmt::DeclareInput(id, below)]
            }
            17..=20 if nested => {
                let test = self.full(|g| g.test());
                let then = self.body(depth - 1);
                let other = match self.random.percent(40) {
                    true => self.body(depth - 1),
                    false => Vec::new(),
                };
                vec![Stmt::If(test, then, other)]
            }
            21..=23 if nested => self.repeat(depth),
            24 | 25 if nested => vec![self.switch(depth)],
            26 | 27 if nested && !self.atomic => {
                self.was_plain = false;
                self.atomic = true;
                let (leaving, looping) = (self.leaving, self.looping);
                (self.leaving, self.looping) = (false, false);
                let (scope, hidden) = (self.scope.len(), self.hidden.len());
                let count = 1 + self.random.below(2);
                let body = (0..count).flat_map(|_| self.statement(depth - 1)).collect();
                self.scope.truncate(scope);
                self.hidden.truncate(hidden);
                (self.leaving, self.looping) = (leaving, looping);
                self.atomic = false;
                vec![Stmt::Block(vec![Stmt::Atomic(body)])]
            }
            28..=30 if nested && !self.atomic && self.held.is_none() => self.locked(depth),
            31 if !self.atomic => {
                self.was_plain = false;
                match self.random.below(2) {
                    0 => vec![Stmt::SemWait(0)],
                    _ => vec![Stmt::SemPost(0)],
                }
            }
            32 | 33 if self.leaving => {
                let test = self.full(|g| g.test());
                let jump = match self.looping && self.random.percent(50) {
                    true => Stmt::Continue,
                    false => Stmt::Break,
                };
                vec![Stmt::If(test, vec![jump], Vec::new())]
            }
            34 | 35 if !self.atomic || self.own_step => {
                let test = self.full(|g| g.test());
                let mut then = Vec::new();
                if let Some(at) = self.held {
                    then.push(Stmt::Unlock(at));
                }
                let value = match self.within {
                    Within::Helper { gives: true } => Some(self.full(|g| g.expr(1))),
                    Within::Helper { gives: false } => None,
                    Within::Thread | Within::Main => Some(Expr::Const(0)),
                };
                then.push(Stmt::Return(value));
                vec![Stmt::If(test, then, Vec::new())]
            }
            36 => {
                let test = self.full(|g| g.test());
                vec![Stmt::Assume(test)]
            }
            37 if !self.atomic => {
                let test = self.full(|g| g.test());
                vec![Stmt::Spin(test)]
            }
            38 => vec![self.assertion()],
            39 => {
                self.locals += 1;
                let name = format!("l{}", self.locals);
                let fields = ["p", "q"].map(|field| {
                    let id = self.var(Kind::Local, Type::Int, &format!("{name}.{field}"), 0);
                    self.program.vars[id].name = format!("{name}_{field}_{id}");
                    id
                });
                self.scope.extend(fields);
                let values = [self.random.between(0, 2), self.random.between(0, 2)];
                vec![Stmt::DeclarePair(fields, values)]
            }
            40 | 41 => match self.call(false) {
                Some(call) if self.effects(&call).is_some() => vec![Stmt::Expr(call)],
                _ => vec![self.assertion()],
            },
            _ => {
                let e = self.full(|g| g.effect());
                vec![Stmt::Expr(e)]
            }
        }
    }

    fn repeat(&mut self, depth: usize) -> Vec<Stmt> {
        let (leaving, looping) = (self.leaving, self.looping);
        (self.leaving, self.looping) = (true, true);
        let held = self.held;
        let limit = Box::new(Expr::Const(self.random.between(1, 2)));
        let (scope, hidden) = (self.scope.len(), self.hidden.len());
        let id = self.var(Kind::Local, Type::Int, &format!("i{depth}"), 0);
        self.program.vars[id].fixed = true;
        self.scope.push(id);
        let place = Place {
            var: id,
            index: None,
        };
        let read = Box::new(Expr::Read(place.clone()));
        let step = |before| {
            Box::new(Expr::Step {
                place: place.clone(),
                before,
                up: true,
            })
        };
        let more = match self.random.percent(50) {
            true => Some(Box::new(self.full(|g| g.test()))),
            false => None,
        };
        let with = |test: Expr| match more.clone() {
            Some(more) => Expr::And(Box::new(test), more),
            None => test,
        };
        let all = match self.random.below(3) {
            0 => {
                let test = with(Expr::Binary("<", step(false), limit));
                let body = self.body(depth - 1);
                let declare = Stmt::Declare(id, Expr::Const(0));
                vec![Stmt::Block(vec![declare, Stmt::While(test, body)])]
            }
            1 => {
                let test = with(Expr::Binary("<", step(true), limit));
                let body = self.body(depth - 1);
                let declare = Stmt::Declare(id, Expr::Const(0));
                vec![Stmt::Block(vec![declare, Stmt::DoWhile(body, test)])]
            }
            _ => {
                let test = with(Expr::Binary("<", read, limit));
                let step = match self.random.percent(30) {
                    true => Expr::Comma(Box::new(self.full(|g| g.effect())), step(true)),
                    false => *step(false),
                };
                let body = self.body(depth - 1);
                vec![Stmt::For(id, Expr::Const(0), test, step, body)]
            }
        };
        self.scope.truncate(scope);
        self.hidden.truncate(hidden);
        (self.leaving, self.looping) = (leaving, looping);
        self.held = held;
        all
    }

    fn switch(&mut self, depth: usize) -> Stmt {
        let value = self.full(|g| g.expr(1));
        let leaving = std::mem::replace(&mut self.leaving, true);
        // `continue` leaves the `switch`, too.
        let mut labels = vec![Some(0), Some(1), Some(2)];
        labels.truncate(1 + self.random.below(3));
        if self.random.percent(60) {
            let at = self.random.below(labels.len() + 1);
            labels.insert(at, None);
        }
        let mut cases = Vec::new();
        for label in labels {
            cases.push(Case {
                label,
                body: self.body(depth - 1),
                leaves: self.random.percent(65),
            });
        }
        self.leaving = leaving;
        Stmt::Switch(value, cases)
    }

    /// What is done while a lock is held.
    fn locked(&mut self, depth: usize) -> Vec<Stmt> {
        self.was_plain = false;
        let at = self.random.below(self.program.mutexes);
        let (leaving, looping) = (self.leaving, self.looping);
        if self.random.percent(80) {
            (self.leaving, self.looping) = (false, false);
        }
        self.held = Some(at);
        let trying = self.random.percent(20);
        let mut body = Vec::new();
        if self.random.percent(20) {
            let test = self.full(|g| g.test());
            body.push(Stmt::Wait(at, test));
        }
        body.extend(self.body(depth - 1));
        // Now and then it is not the right lock.
        let wrong = self.random.percent(2);
        body.push(Stmt::Unlock(if wrong { 1 - at } else { at }));
        self.held = None;
        (self.leaving, self.looping) = (leaving, looping);
        match trying {
            true => vec![Stmt::If(Expr::TryLock(at), body, Vec::new())],
            false => {
                body.insert(0, Stmt::Lock(at));
                vec![Stmt::Block(body)]
            }
        }
    }

    fn visible(&self, id: VarId) -> bool {
        let var = &self.program.vars[id];
        let global = match var.kind {
            Kind::Shared => !var.name.starts_with("kept"),
            Kind::ThreadLocal => true,
            _ => false,
        };
        (global || self.scope.contains(&id)) && !self.hidden.contains(&id)
    }

    fn place(&mut self, wanted: impl Fn(&Var) -> bool) -> Option<Place> {
        let all = 0..self.program.vars.len();
        let possible: Vec<VarId> = all
            .filter(|&id| self.visible(id) && wanted(&self.program.vars[id]))
            .collect();
        // A third is `g0`, so that threads meet.
        let var = match possible.contains(&0) && self.random.percent(33) {
            true => 0,
            false => *self.random.one(&possible)?,
        };
        let index = self.program.vars[var].len.map(|len| {
            Box::new(match self.random.below(20) {
                0 => self.leaf(),
                1..=8 => Expr::Binary("&", Box::new(self.leaf()), Box::new(Expr::Const(1))),
                _ => Expr::Const(self.random.below(len) as i64),
            })
        });
        Some(Place { var, index })
    }

    fn leaf(&mut self) -> Expr {
        match self.random.below(10) {
            0 => {
                let named = [("ZERO", 0), ("ONE", 1), ("TWO", 2)];
                let &(name, value) = self.pick(&named);
                Expr::Named(name, value)
            }
            1 | 2 => Expr::Const(self.random.between(-1, 3)),
            _ => match self.place(|var| var.len.is_none()) {
                Some(place) => Expr::Read(place),
                None => Expr::Const(1),
            },
        }
    }

    fn boxed(&mut self, depth: usize) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.random.below(32) {
            0..=7 => match self.place(|_| true) {
                Some(place) => Expr::Read(place),
                None => Expr::Const(2),
            },
            8..=13 => {
                let op = *self.pick(&["+", "-", "&", "|", "^", "==", "<", ">", "!="]);
                Expr::Binary(op, self.boxed(depth), self.boxed(depth))
            }
            14 => {
                let op = *self.pick(&["%", "/", "*", "%"]);
                let number = Box::new(Expr::Const(self.random.between(2, 3)));
                let right = match op == "%" && self.random.percent(15) {
                    true => self.boxed(0),
                    false => number,
                };
                Expr::Binary(op, self.boxed(depth), right)
            }
            15 => Expr::Unary(["!", "-", "~"][self.random.below(3)], self.boxed(depth)),
            16 => Expr::And(self.boxed(depth), self.boxed(depth)),
            17 => Expr::Or(self.boxed(depth), self.boxed(depth)),
            18 => Expr::Choose(self.boxed(depth), self.boxed(depth), self.boxed(depth)),
            19 => Expr::Comma(Box::new(self.effect()), self.boxed(depth)),
            20 | 21 => self.effect(),
            22..=24 => self.call(true).unwrap_or(Expr::Const(1)),
            25 | 26 => self.rmw(),
            27 => Expr::Input(self.random.between(2, 3)),
            28 => Expr::InputLess(Box::new(self.leaf())),
            29 if !self.atomic => {
                self.was_plain = false;
                Expr::TryWait(0)
            }
            _ => self.leaf(),
        }
    }

    fn test(&mut self) -> Expr {
        match self.random.below(8) {
            0 => self.expr(2),
            1 => Expr::And(self.boxed(1), self.boxed(1)),
            2 => Expr::Or(self.boxed(1), self.boxed(1)),
            3 => Expr::Unary("!", Box::new(self.effect())),
            _ => {
                let op = *self.pick(&["==", "<", ">", "!=", "<="]);
                let value = Box::new(Expr::Const(self.random.between(0, 2)));
                Expr::Binary(op, self.boxed(1), value)
            }
        }
    }

    /// Something that changes something.
    fn effect(&mut self) -> Expr {
        let target = self.place(|var| !var.fixed);
        let Some(place) = target else {
            return Expr::Const(0);
        };
        match self.random.below(16) {
            0..=5 => {
                let mut value = self.boxed(2);
                if self.random.percent(50) {
                    value = Box::new(Expr::Binary("&", value, Box::new(Expr::Const(3))));
                }
                Expr::Assign(place, "=", value)
            }
            6 | 7 => {
                let op = *self.pick(&["+=", "-=", "|=", "&=", "^="]);
                Expr::Assign(place, op, self.boxed(1))
            }
            8..=11 => Expr::Step {
                place,
                before: self.random.percent(50),
                up: self.random.percent(75),
            },
            12 => {
                let inner = self.effect();
                Expr::Assign(place, "=", Box::new(inner))
            }
            13 => self.call(true).unwrap_or(Expr::Const(0)),
            _ => self.rmw(),
        }
    }

    /// A call, of a function with a result if one is wanted.
    fn call(&mut self, wanted: bool) -> Option<Expr> {
        let all = 0..self.program.helpers.len();
        let possible: Vec<usize> = all
            .filter(|&at| {
                let gives = self.program.helpers[at].gives;
                (gives || !wanted) && (self.plain[at] || !self.atomic)
            })
            .collect();
        let at = *self.random.one(&possible)?;
        self.was_plain &= self.plain[at];
        let params = self.program.helpers[at].params.clone();
        let mut args = Vec::new();
        for param in params {
            args.push(match self.program.vars[param].kind {
                Kind::Pointer => {
                    let place = self.place(|var| {
                        var.ty == Type::Int
                            && !var.atomic
                            && !var.fixed
                            && var.kind != Kind::ThreadLocal
                    });
                    let mut place = place?;
                    if let Some(len) = self.program.vars[place.var].len {
                        let at = self.random.below(len) as i64;
                        place.index = Some(Box::new(Expr::Const(at)));
                    }
                    Arg::Address(place)
                }
                _ => Arg::Value(self.expr(1)),
            });
        }
        Some(Expr::Call(at, args))
    }

    fn rmw(&mut self) -> Expr {
        let one = self.expr(1);
        let two = self.leaf();
        let atomic = self.random.percent(50);
        let place = self.place(|var| {
            var.kind == Kind::Shared
                && var.ty == Type::Int
                && var.len.is_none()
                && var.atomic == atomic
        });
        let Some(place) = place else {
            return one;
        };
        let (rmw, form, count) = match atomic {
            true => {
                let scope: Vec<VarId> = self
                    .scope
                    .iter()
                    .copied()
                    .filter(|&id| {
                        let var = &self.program.vars[id];
                        var.kind == Kind::Local
                            && var.ty == Type::Int
                            && var.len.is_none()
                            && !var.fixed
                            && self.visible(id)
                    })
                    .collect();
                if let Some(&expected) = self.random.one(&scope)
                    && self.random.percent(50)
                {
                    let weak = self.random.percent(30);
                    return Expr::Cas(place, expected, Box::new(one), weak);
                }
                *self.pick(&[
                    (Rmw::Fetch("+", false), "atomic_fetch_add($p, $1)", 1),
                    (Rmw::Fetch("-", false), "atomic_fetch_sub($p, $1)", 1),
                    (Rmw::Fetch("|", false), "atomic_fetch_or($p, $1)", 1),
                    (Rmw::Exchange, "atomic_exchange($p, $1)", 1),
                    (Rmw::Load, "atomic_load($p)", 0),
                ])
            }
            false => *self.pick(&[
                (Rmw::Fetch("+", false), "__sync_fetch_and_add($p, $1)", 1),
                (Rmw::Fetch("+", true), "__sync_add_and_fetch($p, $1)", 1),
                (
                    Rmw::Fetch("-", false),
                    "__atomic_fetch_sub($p, $1, __ATOMIC_SEQ_CST)",
                    1,
                ),
                (
                    Rmw::Fetch("&", true),
                    "__atomic_and_fetch($p, $1, __ATOMIC_SEQ_CST)",
                    1,
                ),
                (
                    Rmw::Exchange,
                    "__atomic_exchange_n($p, $1, __ATOMIC_SEQ_CST)",
                    1,
                ),
                (
                    Rmw::Swap(true),
                    "__sync_bool_compare_and_swap($p, $1, $2)",
                    2,
                ),
                (
                    Rmw::Swap(false),
                    "__sync_val_compare_and_swap($p, $1, $2)",
                    2,
                ),
                (Rmw::Load, "__atomic_load_n($p, __ATOMIC_SEQ_CST)", 0),
            ]),
        };
        let mut operands = vec![one, two];
        operands.truncate(count);
        Expr::Rmw(rmw, place, operands, form)
    }

    fn known(&self, id: VarId) -> VarId {
        match self.program.vars[id].kind {
            Kind::Pointer => ANYTHING,
            _ => id,
        }
    }

    /// All of these in any order.
    fn unordered(&self, all: &[&Expr]) -> Option<Effects> {
        let mut sum = Effects::default();
        for e in all {
            let effects = self.effects(e)?;
            if effects.disturbs(&sum) {
                return None;
            }
            sum = sum.with(effects);
        }
        Some(sum)
    }

    fn ordered(&self, all: &[&Expr]) -> Option<Effects> {
        let mut sum = Effects::default();
        for e in all {
            sum = sum.with(self.effects(e)?);
        }
        Some(sum)
    }

    /// Writes a place after all of these.
    fn written(&self, place: &Place, all: &[&Expr]) -> Option<Effects> {
        let mut parts = all.to_vec();
        parts.extend(place.index.as_deref());
        let mut effects = self.unordered(&parts)?;
        let var = self.known(place.var);
        let before = Effects {
            reads: BTreeSet::new(),
            writes: BTreeSet::from([var]),
            synchronises: false,
        };
        let unread = Effects {
            reads: BTreeSet::new(),
            writes: effects.writes.clone(),
            synchronises: false,
        };
        if before.disturbs(&unread) {
            return None;
        }
        effects.writes.insert(var);
        Some(effects)
    }

    fn effects(&self, e: &Expr) -> Option<Effects> {
        match e {
            Expr::Const(_) | Expr::Named(..) | Expr::Input(_) => Some(Effects::default()),
            Expr::TryLock(_) | Expr::TryWait(_) => Some(Effects {
                synchronises: true,
                ..Effects::default()
            }),
            Expr::Read(place) => {
                let mut effects = match &place.index {
                    Some(index) => self.effects(index)?,
                    None => Effects::default(),
                };
                effects.reads.insert(self.known(place.var));
                effects.synchronises |= self.program.vars[place.var].atomic;
                Some(effects)
            }
            Expr::Binary(_, a, b) => self.unordered(&[a, b]),
            Expr::Unary(_, a) | Expr::InputLess(a) => self.effects(a),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Comma(a, b) => self.ordered(&[a, b]),
            Expr::Choose(a, b, c) => self.ordered(&[a, b, c]),
            Expr::Assign(place, _, value) => self.written(place, &[value]),
            Expr::Step { place, .. } => self.written(place, &[]),
            Expr::Rmw(_, place, operands, _) => {
                let operands: Vec<&Expr> = operands.iter().collect();
                let mut effects = self.written(place, &operands)?;
                effects.synchronises = true;
                Some(effects)
            }
            Expr::Cas(place, expected, value, _) => {
                let mut effects = self.written(place, &[value])?;
                effects.writes.insert(*expected);
                effects.synchronises = true;
                Some(effects)
            }
            Expr::Call(_, args) => {
                let values: Vec<&Expr> = args
                    .iter()
                    .filter_map(|arg| match arg {
                        Arg::Value(e) => Some(e),
                        Arg::Address(_) => None,
                    })
                    .collect();
                let mut effects = self.unordered(&values)?;
                effects.synchronises = true;
                Some(effects)
            }
        }
    }
}
