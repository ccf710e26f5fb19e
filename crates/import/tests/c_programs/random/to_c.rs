//! A program as C.

use std::fmt::Write as _;

use super::program::{Arg, Expr, Function, Kind, Place, Program, Stmt, Type, VarId};

const HEAD: &str = "#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
enum { ZERO, ONE, TWO };
typedef int number;
";

struct Printer<'a> {
    program: &'a Program,
    text: String,
    depth: usize,
}

pub fn to_c(program: &Program) -> String {
    let mut printer = Printer {
        program,
        text: HEAD.to_owned(),
        depth: 0,
    };
    printer.globals();
    for (number, function) in program.helpers.iter().enumerate() {
        let result = match (function.gives, number % 2) {
            (false, _) => "void",
            (true, 0) => "int",
            (true, _) => "static number",
        };
        printer.function(result, function);
    }
    for function in &program.bodies {
        printer.thread(function);
    }
    printer.line("int main(void) {");
    printer.depth += 1;
    for thread in 0..program.threads.len() {
        printer.line(&format!("pthread_t h{thread};"));
    }
    for (at, value) in program.semaphores.iter().enumerate() {
        printer.line(&format!("sem_init(&sem{at}, 0, {value});"));
    }
    printer.statements(&program.main);
    printer.line("return 0;");
    printer.depth -= 1;
    printer.line("}");
    printer.text
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Int => "int",
        Type::Bool => "_Bool",
        Type::UnsignedChar => "unsigned char",
    }
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    fn globals(&mut self) {
        let program = self.program;
        let statics: Vec<VarId> = program
            .helpers
            .iter()
            .flat_map(|f| f.statics.clone())
            .collect();
        for (id, var) in program.vars.iter().enumerate() {
            if statics.contains(&id) {
                continue;
            }
            match var.kind {
                Kind::Shared if var.c.contains('.') || !var.c_end.is_empty() => {}
                Kind::Shared => {
                    let ty = match (var.atomic, id % 2) {
                        (true, 0) => "atomic_int".to_owned(),
                        (true, _) => "_Atomic int".to_owned(),
                        (false, _) => type_name(var.ty).to_owned(),
                    };
                    match var.len {
                        Some(len) => self.line(&format!("{ty} {}[{len}];", var.c)),
                        None => self.line(&format!("{ty} {} = {};", var.c, var.init)),
                    }
                }
                Kind::ThreadLocal => self.line(&format!("_Thread_local int {};", var.c)),
                Kind::Local | Kind::Pointer => {}
            }
        }
        self.line("struct pair { int p; int q; };");
        self.line("struct pair s;");
        self.line("typedef struct { int p, q; } item;");
        self.line("item r[2];");
        for at in 0..program.mutexes {
            self.line(&format!(
                "pthread_mutex_t m{at} = PTHREAD_MUTEX_INITIALIZER;"
            ));
            self.line(&format!("pthread_cond_t c{at} = PTHREAD_COND_INITIALIZER;"));
        }
        for at in 0..program.semaphores.len() {
            self.line(&format!("sem_t sem{at};"));
        }
    }

    fn function(&mut self, result: &str, function: &Function) {
        let program = self.program;
        let params: Vec<String> = function
            .params
            .iter()
            .map(|&id| match program.vars[id].kind {
                Kind::Pointer => format!("int *{}", program.vars[id].c),
                _ => format!("int {}", program.vars[id].c),
            })
            .collect();
        let params = match params.is_empty() {
            true => "void".to_owned(),
            false => params.join(", "),
        };
        self.line(&format!("{result} {}({params}) {{", function.name));
        self.depth += 1;
        for &id in &function.statics {
            let var = &program.vars[id];
            self.line(&format!("static int {} = {};", var.c, var.init));
        }
        self.statements(&function.body);
        self.depth -= 1;
        self.line("}");
    }

    fn thread(&mut self, function: &Function) {
        self.line(&format!("void *{}(void *arg) {{", function.name));
        self.depth += 1;
        let param = &self.program.vars[function.params[0]];
        self.line(&format!("int {} = (int)(long)arg;", param.c));
        self.statements(&function.body);
        self.line("return 0;");
        self.depth -= 1;
        self.line("}");
    }

    fn statements(&mut self, all: &[Stmt]) {
        for one in all {
            self.statement(one);
        }
    }

    fn block(&mut self, head: &str, body: &[Stmt], end: &str) {
        self.line(&format!("{head}{{"));
        self.depth += 1;
        self.statements(body);
        self.depth -= 1;
        self.line(&format!("}}{end}"));
    }

    fn statement(&mut self, one: &Stmt) {
        let program = self.program;
        match one {
            Stmt::Expr(e) => {
                let text = self.expr(e);
                self.line(&format!("{text};"));
            }
            Stmt::Declare(id, e) => {
                let var = &program.vars[*id];
                let text = format!("{} {} = {};", type_name(var.ty), var.c, self.expr(e));
                self.line(&text);
            }
            Stmt::DeclareArray(id, values) => {
                let values: Vec<String> = values.iter().map(i64::to_string).collect();
                let c = &program.vars[*id].c;
                self.line(&format!(
                    "int {c}[{}] = {{ {} }};",
                    values.len(),
                    values.join(", ")
                ));
            }
            Stmt::DeclarePair([p, _], [first, second]) => {
                let c = program.vars[*p].c.trim_end_matches(".p");
                self.line(&format!(
                    "struct pair {c} = {{ .q = {second}, .p = {first} }};"
                ));
            }
            Stmt::DeclareInput(id, below) => {
                let c = &program.vars[*id].c;
                self.line(&format!("int {c} = __VERIFIER_nondet_int();"));
                self.line(&format!("assume_abort_if_not({c} >= 0 && {c} < {below});"));
            }
            Stmt::If(test, then, other) => {
                let head = format!("if ({}) ", self.expr(test));
                self.block(&head, then, "");
                if !other.is_empty() {
                    self.block("else ", other, "");
                }
            }
            Stmt::While(test, body) => {
                let head = format!("while ({}) ", self.expr(test));
                self.block(&head, body, "");
            }
            Stmt::DoWhile(body, test) => {
                let end = format!(" while ({});", self.expr(test));
                self.block("do ", body, &end);
            }
            Stmt::For(id, first, test, step, body) => {
                let head = format!(
                    "for (int {} = {}; {}; {}) ",
                    program.vars[*id].c,
                    self.expr(first),
                    self.expr(test),
                    self.expr(step)
                );
                self.block(&head, body, "");
            }
            Stmt::Spin(test) => {
                let text = format!("while (!{})", self.expr(test));
                self.line(&text);
                self.line("    ;");
            }
            Stmt::Switch(e, cases) => {
                let head = format!("switch ({}) {{", self.expr(e));
                self.line(&head);
                for case in cases {
                    match case.label {
                        Some(value) => self.line(&format!("case {value}:")),
                        None => self.line("default:"),
                    }
                    self.block("", &case.body, "");
                    if case.leaves {
                        self.line("    break;");
                    }
                }
                self.line("}");
            }
            Stmt::Break => self.line("break;"),
            Stmt::Continue => self.line("continue;"),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(e)) => {
                let text = format!("return {};", self.expr(e));
                self.line(&text);
            }
            Stmt::Block(body) => self.block("", body, ""),
            Stmt::Atomic(body) => {
                self.line("__VERIFIER_atomic_begin();");
                self.statements(body);
                self.line("__VERIFIER_atomic_end();");
            }
            Stmt::Assert(e) => {
                let text = format!("assert({});", self.expr(e));
                self.line(&text);
            }
            Stmt::Assume(e) => {
                let text = format!("assume_abort_if_not({});", self.expr(e));
                self.line(&text);
            }
            Stmt::Lock(at) => self.line(&format!("pthread_mutex_lock(&m{at});")),
            Stmt::Unlock(at) => self.line(&format!("pthread_mutex_unlock(&m{at});")),
            Stmt::Wait(at, test) => {
                let text = format!("while (!{})", self.expr(test));
                self.line(&text);
                self.line(&format!("    pthread_cond_wait(&c{at}, &m{at});"));
            }
            Stmt::SemWait(at) => self.line(&format!("sem_wait(&sem{at});")),
            Stmt::SemPost(at) => self.line(&format!("sem_post(&sem{at});")),
            Stmt::Create(at) => {
                let thread = &program.threads[*at];
                let body = &program.bodies[thread.function].name;
                self.line(&format!(
                    "pthread_create(&h{at}, 0, {body}, (void *){}L);",
                    thread.argument
                ));
            }
            Stmt::Join(at) => self.line(&format!("pthread_join(h{at}, 0);")),
        }
    }

    fn place(&self, place: &Place) -> String {
        let var = &self.program.vars[place.var];
        match &place.index {
            Some(index) => format!("{}[{}]{}", var.c, self.expr(index), var.c_end),
            None if var.kind == Kind::Pointer => format!("*{}", var.c),
            None => var.c.clone(),
        }
    }

    fn address(&self, place: &Place) -> String {
        let var = &self.program.vars[place.var];
        match var.kind {
            Kind::Pointer => var.c.clone(),
            _ => format!("&{}", self.place(place)),
        }
    }

    fn expr(&self, e: &Expr) -> String {
        match e {
            Expr::Const(value) if *value < 0 => format!("({value})"),
            Expr::Const(value) => value.to_string(),
            Expr::Named(name, _) => (*name).to_owned(),
            Expr::Read(place) => match self.program.vars[place.var].kind {
                Kind::Pointer => format!("({})", self.place(place)),
                _ => self.place(place),
            },
            Expr::Binary(op, a, b) => format!("({} {op} {})", self.expr(a), self.expr(b)),
            Expr::Unary(op, a) => format!("({op}{})", self.expr(a)),
            Expr::And(a, b) => format!("({} && {})", self.expr(a), self.expr(b)),
            Expr::Or(a, b) => format!("({} || {})", self.expr(a), self.expr(b)),
            Expr::Choose(c, a, b) => {
                format!("({} ? {} : {})", self.expr(c), self.expr(a), self.expr(b))
            }
            Expr::Assign(place, op, value) => {
                format!("({} {op} {})", self.place(place), self.expr(value))
            }
            Expr::Step { place, before, up } => {
                let op = if *up { "++" } else { "--" };
                let place = match self.program.vars[place.var].kind {
                    Kind::Pointer => format!("({})", self.place(place)),
                    _ => self.place(place),
                };
                match before {
                    true => format!("({op}{place})"),
                    false => format!("({place}{op})"),
                }
            }
            Expr::Comma(a, b) => format!("({}, {})", self.expr(a), self.expr(b)),
            Expr::Call(function, args) => {
                let args: Vec<String> = args
                    .iter()
                    .map(|arg| match arg {
                        Arg::Value(e) => self.expr(e),
                        Arg::Address(place) => self.address(place),
                    })
                    .collect();
                let name = &self.program.helpers[*function].name;
                format!("{name}({})", args.join(", "))
            }
            Expr::Rmw(_, place, operands, form) => {
                let mut text = form.replace("$p", &self.address(place));
                for (at, operand) in operands.iter().enumerate() {
                    text = text.replace(&format!("${}", at + 1), &self.expr(operand));
                }
                text
            }
            Expr::Cas(place, expected, value, weak) => format!(
                "atomic_compare_exchange_{}({}, &{}, {})",
                if *weak { "weak" } else { "strong" },
                self.address(place),
                self.program.vars[*expected].c,
                self.expr(value)
            ),
            Expr::Input(2) => "__VERIFIER_nondet_bool()".to_owned(),
            Expr::Input(below) => format!("(int)(__VERIFIER_nondet_uint() % {below}u)"),
            Expr::InputLess(e) => format!("(__VERIFIER_nondet_int() < {})", self.expr(e)),
            Expr::TryLock(at) => format!("(pthread_mutex_trylock(&m{at}) == 0)"),
            Expr::TryWait(at) => format!("(sem_trywait(&sem{at}) == 0)"),
        }
    }
}
