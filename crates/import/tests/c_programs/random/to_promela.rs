//! A program as Promela, by the meaning that `docs/book/src/c.md` states.
//!
//! Each read and each write of a shared variable is a statement; functions are inlined. What is computed of a thread's own variables becomes statements too, which
//! nobody else can tell. A thread that stops in the middle of an atomic part lets nobody go on: it sets `halt`, and no check fails after that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::program::{Arg, Expr, Function, Kind, Place, Program, Rmw, Stmt, Type, VarId};

/// A variable or an element, as Promela writes it.
#[derive(Clone, Debug)]
struct Spot {
    text: String,
    shared: bool,
    atomic: bool,
    ty: Type,
}

struct Printer<'a> {
    program: &'a Program,
    /// Statements of the process.
    lines: Vec<String>,
    locals: Vec<String>,
    labels: usize,
    copies: usize,
    /// Temporary variables in use, and the most that were.
    temps: usize,
    most: usize,
    atomic: bool,
    /// Where the variables of the functions that are being inlined are.
    frames: Vec<BTreeMap<VarId, Spot>>,
    /// The result and the end of functions.
    returns: Vec<(Option<String>, String)>,
    breaks: Vec<String>,
    continues: Vec<String>,
    /// The number of the process, from 1.
    me: usize,
}

pub fn to_promela(program: &Program) -> String {
    let mut text = String::from("int halt = 0;\n");
    for var in &program.vars {
        if var.kind == Kind::Shared {
            let _ = match var.len {
                Some(len) => writeln!(text, "int {}[{len}];", var.name),
                None => writeln!(text, "int {} = {};", var.name, var.init),
            };
        }
    }
    for at in 0..program.mutexes {
        let _ = writeln!(text, "int m{at} = 0;");
    }
    for (at, value) in program.semaphores.iter().enumerate() {
        let _ = writeln!(text, "int sem{at} = {value};");
    }
    for at in 0..program.threads.len() {
        let _ = writeln!(text, "int ended{at} = 0;");
    }
    for (at, thread) in program.threads.iter().enumerate() {
        let body = &program.bodies[thread.function];
        let mut printer = Printer::new(program, at + 1);
        printer.frame();
        let param = printer.local(body.params[0]);
        printer.push(&format!("{param} = {}", thread.argument));
        printer.body(&body.body, None);
        printer.push(&format!("ended{at} = 1"));
        let _ = write!(text, "proctype thread{at}() {{\n{}}}\n", printer.finish());
    }
    let mut printer = Printer::new(program, program.threads.len() + 1);
    printer.frame();
    printer.body(&program.main, None);
    let _ = write!(text, "init {{\n{}}}\n", printer.finish());
    text
}

/// A value of a type.
fn converted(ty: Type, value: &str) -> String {
    match ty {
        Type::Int => value.to_owned(),
        Type::Bool => format!("({value} != 0)"),
        Type::UnsignedChar => format!("({value} & 255)"),
    }
}

/// Whether evaluating it changes something or takes steps, so that what is on its left has to be evaluated before.
fn simple(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Named(..) => true,
        Expr::Read(place) => place.index.is_none(),
        Expr::Binary(op, a, b) => !matches!(*op, "/" | "%") && simple(a) && simple(b),
        Expr::Unary(_, a) => simple(a),
        _ => false,
    }
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program, me: usize) -> Printer<'a> {
        Printer {
            program,
            lines: Vec::new(),
            locals: Vec::new(),
            labels: 0,
            copies: 0,
            temps: 0,
            most: 0,
            atomic: false,
            frames: Vec::new(),
            returns: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
            me,
        }
    }

    fn finish(self) -> String {
        let mut text = String::new();
        for var in &self.program.vars {
            if var.kind == Kind::ThreadLocal {
                let _ = writeln!(text, "int {} = 0;", var.name);
            }
        }
        for local in &self.locals {
            let _ = writeln!(text, "int {local};");
        }
        for temp in 0..self.most {
            let _ = writeln!(text, "int t{temp};");
        }
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn push(&mut self, statement: &str) {
        self.lines.push(format!("{statement};"));
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn at(&mut self, label: &str) {
        self.lines.push(format!("{label}: skip;"));
    }

    fn temp(&mut self) -> String {
        self.temps += 1;
        self.most = self.most.max(self.temps);
        format!("t{}", self.temps - 1)
    }

    fn frame(&mut self) {
        self.frames.push(BTreeMap::new());
    }

    /// A variable of the function, new each time.
    fn local(&mut self, id: VarId) -> String {
        self.copies += 1;
        let var = &self.program.vars[id];
        let name = format!("{}_{}", var.name, self.copies);
        let declared = match var.len {
            Some(len) => format!("{name}[{len}]"),
            None => name.clone(),
        };
        self.locals.push(declared);
        let spot = Spot {
            text: name.clone(),
            shared: false,
            atomic: false,
            ty: var.ty,
        };
        self.frames.last_mut().unwrap().insert(id, spot);
        name
    }

    /// What a function does, until its end.
    fn body(&mut self, body: &[Stmt], result: Option<String>) {
        let end = self.label();
        self.returns.push((result, end.clone()));
        self.statements(body);
        self.returns.pop();
        self.at(&end);
    }

    fn check(&mut self, test: &str) {
        self.push(&format!(
            "if :: ({test}) -> skip :: else -> assert(halt != 0); false fi"
        ));
    }

    fn statements(&mut self, all: &[Stmt]) {
        for one in all {
            let temps = self.temps;
            self.statement(one);
            self.temps = temps;
        }
    }

    /// Goes on behind if the test fails.
    fn test(&mut self, test: &Expr, otherwise: &str) {
        let value = self.expr(test);
        self.push(&format!(
            "if :: ({value} != 0) -> skip :: else -> goto {otherwise} fi"
        ));
    }

    fn in_loop(&mut self, body: &[Stmt], leave: &str, again: &str) {
        self.breaks.push(leave.to_owned());
        self.continues.push(again.to_owned());
        self.statements(body);
        self.breaks.pop();
        self.continues.pop();
    }

    fn statement(&mut self, one: &Stmt) {
        match one {
            Stmt::Expr(e) => drop(self.expr(e)),
            Stmt::Declare(id, e) => {
                let name = self.local(*id);
                let value = self.expr(e);
                let value = converted(self.program.vars[*id].ty, &value);
                self.push(&format!("{name} = {value}"));
            }
            Stmt::DeclareArray(id, values) => {
                let name = self.local(*id);
                for (at, value) in values.iter().enumerate() {
                    self.push(&format!("{name}[{at}] = {value}"));
                }
            }
            Stmt::DeclarePair(fields, values) => {
                for (&field, value) in fields.iter().zip(values) {
                    let name = self.local(field);
                    self.push(&format!("{name} = {value}"));
                }
            }
            Stmt::DeclareInput(id, below) => {
                let name = self.local(*id);
                self.any(&name, *below);
            }
            Stmt::If(test, then, other) => {
                let (no, end) = (self.label(), self.label());
                self.test(test, &no);
                self.statements(then);
                self.push(&format!("goto {end}"));
                self.at(&no);
                self.statements(other);
                self.at(&end);
            }
            Stmt::While(test, body) => {
                let (begin, end) = (self.label(), self.label());
                self.at(&begin);
                self.test(test, &end);
                self.in_loop(body, &end, &begin);
                self.push(&format!("goto {begin}"));
                self.at(&end);
            }
            Stmt::DoWhile(body, test) => {
                let (begin, again, end) = (self.label(), self.label(), self.label());
                self.at(&begin);
                self.in_loop(body, &end, &again);
                self.at(&again);
                self.test(test, &end);
                self.push(&format!("goto {begin}"));
                self.at(&end);
            }
            Stmt::For(id, first, test, step, body) => {
                let (begin, again, end) = (self.label(), self.label(), self.label());
                let name = self.local(*id);
                let first = self.expr(first);
                self.push(&format!("{name} = {first}"));
                self.at(&begin);
                self.test(test, &end);
                self.in_loop(body, &end, &again);
                self.at(&again);
                self.expr(step);
                self.push(&format!("goto {begin}"));
                self.at(&end);
            }
            Stmt::Spin(test) => {
                let (begin, end) = (self.label(), self.label());
                self.at(&begin);
                let value = self.expr(test);
                self.push(&format!(
                    "if :: ({value} != 0) -> goto {end} :: else -> goto {begin} fi"
                ));
                self.at(&end);
            }
            Stmt::Switch(e, cases) => {
                let value = self.expr(e);
                let end = self.label();
                let labels: Vec<String> = cases.iter().map(|_| self.label()).collect();
                let mut options = String::new();
                let mut otherwise = &end;
                for (case, label) in cases.iter().zip(&labels) {
                    match case.label {
                        Some(of) => {
                            let _ = write!(options, ":: ({value} == {of}) -> goto {label} ");
                        }
                        None => otherwise = label,
                    }
                }
                self.push(&format!("if {options}:: else -> goto {otherwise} fi"));
                self.breaks.push(end.clone());
                for (case, label) in cases.iter().zip(&labels) {
                    self.at(label);
                    self.statements(&case.body);
                    if case.leaves {
                        self.push(&format!("goto {end}"));
                    }
                }
                self.breaks.pop();
                self.at(&end);
            }
            Stmt::Break => {
                let to = self.breaks.last().unwrap().clone();
                self.push(&format!("goto {to}"));
            }
            Stmt::Continue => {
                let to = self.continues.last().unwrap().clone();
                self.push(&format!("goto {to}"));
            }
            Stmt::Return(e) => {
                let value = e.as_ref().map(|e| self.expr(e));
                let (result, end) = self.returns.last().unwrap().clone();
                if let (Some(result), Some(value)) = (result, value) {
                    self.push(&format!("{result} = {value}"));
                }
                self.push(&format!("goto {end}"));
            }
            Stmt::Block(body) => self.statements(body),
            Stmt::Atomic(body) => {
                self.lines.push("atomic {".to_owned());
                self.atomic = true;
                self.push("skip");
                self.statements(body);
                self.atomic = false;
                self.lines.push("};".to_owned());
            }
            Stmt::Assert(e) => {
                let value = self.expr(e);
                self.check(&format!("{value} != 0"));
            }
            Stmt::Assume(e) => {
                let value = self.expr(e);
                match self.atomic {
                    true => self.push(&format!(
                        "if :: ({value} != 0) -> skip :: else -> halt = 1; false fi"
                    )),
                    false => self.push(&format!("({value} != 0)")),
                }
            }
            Stmt::Lock(at) => self.lock(*at),
            Stmt::Unlock(at) => self.unlock(*at),
            Stmt::Wait(at, test) => {
                let (begin, end) = (self.label(), self.label());
                self.at(&begin);
                let value = self.expr(test);
                self.push(&format!(
                    "if :: ({value} != 0) -> goto {end} :: else -> skip fi"
                ));
                self.unlock(*at);
                self.lock(*at);
                self.push(&format!("goto {begin}"));
                self.at(&end);
            }
            Stmt::SemWait(at) => {
                self.push(&format!(
                    "atomic {{ (sem{at} > 0); sem{at} = sem{at} - 1 }}"
                ));
            }
            Stmt::SemPost(at) => self.push(&format!("sem{at} = sem{at} + 1")),
            Stmt::Create(at) => self.push(&format!("run thread{at}()")),
            Stmt::Join(at) => self.push(&format!("(ended{at} == 1)")),
        }
    }

    fn lock(&mut self, at: usize) {
        let me = self.me;
        self.push(&format!("atomic {{ (m{at} == 0); m{at} = {me} }}"));
    }

    fn unlock(&mut self, at: usize) {
        let me = self.me;
        self.check(&format!("m{at} == {me}"));
        self.push(&format!("m{at} = 0"));
    }

    /// Any number below this.
    fn any(&mut self, name: &str, below: i64) {
        let options: Vec<String> = (0..below).map(|v| format!(":: {name} = {v}")).collect();
        self.push(&format!("if {} fi", options.join(" ")));
    }

    /// The place, when its index has been evaluated. The index is checked where the place is read or written.
    fn spot(&mut self, place: &Place) -> (Spot, Option<String>) {
        let var = &self.program.vars[place.var];
        let mut spot = match self.frames.last().unwrap().get(&place.var) {
            Some(spot) => spot.clone(),
            None => Spot {
                text: var.name.clone(),
                shared: var.kind == Kind::Shared,
                atomic: var.atomic,
                ty: var.ty,
            },
        };
        let Some(index) = &place.index else {
            return (spot, None);
        };
        let value = self.held(index);
        spot.text = format!("{}[{value}]", spot.text);
        let len = var.len.unwrap();
        let inside = format!("{value} >= 0 && {value} < {len}");
        (spot, Some(inside))
    }

    fn inside(&mut self, test: Option<String>) {
        if let Some(test) = test {
            self.check(&test);
        }
    }

    /// The value in a temporary variable, or a constant: nothing changes it later.
    fn held(&mut self, e: &Expr) -> String {
        let value = self.expr(e);
        self.hold(value)
    }

    fn hold(&mut self, value: String) -> String {
        if value.parse::<i64>().is_ok() {
            return value;
        }
        let temp = self.temp();
        self.push(&format!("{temp} = {value}"));
        temp
    }

    fn read(&mut self, spot: &Spot) -> String {
        match spot.shared {
            true => self.hold(spot.text.clone()),
            false => spot.text.clone(),
        }
    }

    /// A local expression with the value. Nothing that it names may change before it is used.
    fn expr(&mut self, e: &Expr) -> String {
        match e {
            Expr::Const(value) => value.to_string(),
            Expr::Named(_, value) => value.to_string(),
            Expr::Read(place) => {
                let (spot, inside) = self.spot(place);
                self.inside(inside);
                self.read(&spot)
            }
            Expr::Binary(op, a, b) => {
                let left = match simple(b) {
                    true => self.expr(a),
                    false => self.held(a),
                };
                let right = self.expr(b);
                if matches!(*op, "/" | "%") {
                    self.check(&format!("{right} != 0"));
                }
                format!("({left} {op} ({right}))")
            }
            Expr::Unary(op, a) => {
                let value = self.expr(a);
                format!("({op}({value}))")
            }
            Expr::And(a, b) => self.both(a, b, true),
            Expr::Or(a, b) => self.both(a, b, false),
            Expr::Choose(c, a, b) => {
                let (no, end) = (self.label(), self.label());
                let result = self.temp();
                self.test(c, &no);
                let value = self.expr(a);
                self.push(&format!("{result} = {value}"));
                self.push(&format!("goto {end}"));
                self.at(&no);
                let value = self.expr(b);
                self.push(&format!("{result} = {value}"));
                self.at(&end);
                result
            }
            Expr::Assign(place, "=", value) => {
                let (spot, inside) = self.spot(place);
                let value = self.expr(value);
                self.inside(inside);
                let value = converted(spot.ty, &value);
                let value = self.hold(value);
                self.push(&format!("{} = {value}", spot.text));
                value
            }
            Expr::Assign(place, op, value) => {
                let op = op.trim_end_matches('=');
                let (spot, inside) = self.spot(place);
                if spot.atomic {
                    let value = self.held(value);
                    self.inside(inside);
                    return self.at_once(&spot, op, &value, true);
                }
                self.inside(inside);
                let old = self.hold(spot.text.clone());
                let value = self.expr(value);
                let new = converted(spot.ty, &format!("({old} {op} ({value}))"));
                let new = self.hold(new);
                self.push(&format!("{} = {new}", spot.text));
                new
            }
            Expr::Step { place, before, up } => {
                let op = if *up { "+" } else { "-" };
                let (spot, inside) = self.spot(place);
                self.inside(inside);
                if spot.atomic {
                    return self.at_once(&spot, op, "1", *before);
                }
                let old = self.hold(spot.text.clone());
                let new = converted(spot.ty, &format!("({old} {op} 1)"));
                let new = self.hold(new);
                self.push(&format!("{} = {new}", spot.text));
                if *before { new } else { old }
            }
            Expr::Comma(a, b) => {
                self.expr(a);
                self.expr(b)
            }
            Expr::Call(function, args) => self.call(*function, args),
            Expr::Rmw(kind, place, operands, _) => {
                let (spot, inside) = self.spot(place);
                let values: Vec<String> = operands.iter().map(|e| self.held(e)).collect();
                self.inside(inside);
                let spot_text = &spot.text;
                match kind {
                    Rmw::Load => self.read(&spot),
                    Rmw::Fetch(op, new) => self.at_once(&spot, op, &values[0], *new),
                    Rmw::Exchange => {
                        let old = self.temp();
                        self.push(&format!(
                            "atomic {{ {old} = {spot_text}; {spot_text} = {} }}",
                            values[0]
                        ));
                        old
                    }
                    Rmw::Swap(truth) => {
                        let old = self.temp();
                        self.push(&format!(
                            "atomic {{ {old} = {spot_text}; if :: ({old} == {}) -> {spot_text} = {} :: else -> skip fi }}",
                            values[0], values[1]
                        ));
                        match truth {
                            true => format!("({old} == {})", values[0]),
                            false => old,
                        }
                    }
                }
            }
            Expr::Cas(place, expected, value, weak) => {
                let (spot, inside) = self.spot(place);
                let value = self.held(value);
                self.inside(inside);
                let expected = self.frames.last().unwrap()[expected].text.clone();
                let done = self.temp();
                let spot = &spot.text;
                let weak = match weak {
                    true => format!(":: {expected} = {spot}; {done} = 0 "),
                    false => String::new(),
                };
                self.push(&format!(
                    "atomic {{ if :: ({spot} == {expected}) -> {spot} = {value}; {done} = 1 :: ({spot} != {expected}) -> {expected} = {spot}; {done} = 0 {weak}fi }}"
                ));
                done
            }
            Expr::Input(below) => {
                let result = self.temp();
                self.any(&result, *below);
                result
            }
            Expr::InputLess(e) => {
                self.expr(e);
                let result = self.temp();
                self.any(&result, 2);
                result
            }
            Expr::TryLock(at) => {
                let (done, me) = (self.temp(), self.me);
                self.push(&format!(
                    "atomic {{ if :: (m{at} == 0) -> m{at} = {me}; {done} = 1 :: else -> {done} = 0 fi }}"
                ));
                done
            }
            Expr::TryWait(at) => {
                let done = self.temp();
                self.push(&format!(
                    "atomic {{ if :: (sem{at} > 0) -> sem{at} = sem{at} - 1; {done} = 1 :: else -> {done} = 0 fi }}"
                ));
                done
            }
        }
    }

    /// Reads and writes in one step.
    fn at_once(&mut self, spot: &Spot, op: &str, value: &str, new: bool) -> String {
        let (old, text) = (self.temp(), &spot.text);
        let now = converted(spot.ty, &format!("({old} {op} {value})"));
        self.push(&format!("atomic {{ {old} = {text}; {text} = {now} }}"));
        if new { now } else { old }
    }

    /// `&&` or `||`.
    fn both(&mut self, a: &Expr, b: &Expr, and: bool) -> String {
        let result = self.temp();
        let end = self.label();
        let value = self.expr(a);
        self.push(&format!("{result} = ({value} != 0)"));
        let decides = if and { 0 } else { 1 };
        self.push(&format!(
            "if :: ({result} == {decides}) -> goto {end} :: else -> skip fi"
        ));
        let value = self.expr(b);
        self.push(&format!("{result} = ({value} != 0)"));
        self.at(&end);
        result
    }

    fn call(&mut self, function: usize, args: &[Arg]) -> String {
        let program = self.program;
        let function: &Function = &program.helpers[function];
        let mut given = Vec::new();
        for arg in args {
            given.push(match arg {
                Arg::Value(e) => Err(self.held(e)),
                Arg::Address(place) => Ok(self.spot(place).0),
            });
        }
        let result = self.temp();
        self.push(&format!("{result} = 0"));
        self.frame();
        for (&param, value) in function.params.iter().zip(given) {
            match value {
                Ok(spot) => drop(self.frames.last_mut().unwrap().insert(param, spot)),
                Err(value) => {
                    let name = self.local(param);
                    self.push(&format!("{name} = {value}"));
                }
            }
        }
        if function.atomic {
            self.lines.push("atomic {".to_owned());
            self.atomic = true;
            // No label may stand first.
            self.push("skip");
        }
        self.body(&function.body, Some(result.clone()));
        if function.atomic {
            self.lines.push("};".to_owned());
            self.atomic = false;
        }
        self.frames.pop();
        result
    }
}
