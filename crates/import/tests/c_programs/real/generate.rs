//! Random programs of C: integers of all widths, all statements with jumps of every form out of, in and into loops of every form, functions, threads, and the library with what it returns.
//!
//! A program has places at which an expression is looked at. First it is run to learn which values there are; then the places become assertions, made of these values or of guesses. What C leaves
//! undefined or open is avoided (the order of operands with effects, values of variables that have none), except where it is checked.

use std::collections::BTreeSet;

use super::super::damage::Numbers;
use super::library;

/// How many runs a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    One,
    Inputs,
    Threads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loop {
    While,
    Do,
    For,
    Forever,
    Goto,
}

pub const LOOPS: &[Loop] = &[Loop::While, Loop::Do, Loop::For, Loop::Forever, Loop::Goto];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Jump {
    Break,
    Continue,
    /// To a place behind the loop.
    Out,
    /// From a place before the loop into it.
    Into,
    /// From a place behind the loop into it.
    BackInto,
    /// Within the body, backwards.
    Back,
    /// Within the body, forwards.
    Forwards,
    Return,
    /// `break` out of a `switch` in the body, with a case that falls through.
    Switch,
    /// `continue` in a `switch` in the body.
    SwitchContinue,
    /// Out of a loop within the loop, past both.
    OutOfBoth,
    /// From a place before the loop into a loop within it.
    IntoBoth,
}

pub const JUMPS: &[Jump] = &[
    Jump::Break,
    Jump::Continue,
    Jump::Out,
    Jump::Into,
    Jump::BackInto,
    Jump::Back,
    Jump::Forwards,
    Jump::Return,
    Jump::Switch,
    Jump::SwitchContinue,
    Jump::OutOfBoth,
    Jump::IntoBoth,
];

/// Whether a jump can be in a loop of this form.
pub fn fits(jump: Jump, form: Loop) -> bool {
    form != Loop::Goto || !matches!(jump, Jump::Break | Jump::Continue | Jump::SwitchContinue)
}

/// An expression that is looked at.
#[derive(Clone, Debug)]
pub struct Probe {
    pub expression: String,
    /// It does something, so it must be evaluated once.
    pub acts: bool,
}

enum Line {
    Text(String),
    /// How deep it is, and which.
    Probe(usize, usize),
    /// Where `main` initialises what is used.
    Begin,
}

pub struct Generated {
    lines: Vec<Line>,
    pub probes: Vec<Probe>,
    pub kind: Kind,
    /// The functions of the library, with their results used if they have one.
    pub calls: BTreeSet<&'static str>,
    pub jumps: BTreeSet<(Jump, Loop)>,
}

impl Generated {
    /// The text, with this at the places.
    pub fn text(&self, place: impl Fn(usize, &Probe) -> String) -> String {
        let mut text = String::new();
        for line in &self.lines {
            match line {
                Line::Text(line) => text.push_str(line),
                Line::Begin => continue,
                Line::Probe(depth, at) => {
                    text.push_str(&"    ".repeat(*depth));
                    text.push_str(&place(*at, &self.probes[*at]));
                }
            }
            text.push('\n');
        }
        text
    }
}

/// The types of variables. Operations on the bits of `long` are refused, so it is rare.
const TYPES: &[&str] = &[
    "int",
    "int",
    "int",
    "int",
    "unsigned",
    "unsigned",
    "short",
    "short",
    "unsigned short",
    "unsigned short",
    "signed char",
    "signed char",
    "unsigned char",
    "unsigned char",
    "char",
    "char",
    "_Bool",
    "_Bool",
    "long",
];

const HEAD: &str = "#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
extern void abort(void);
extern void reach_error(void);
extern void __VERIFIER_assert(int);
extern void __VERIFIER_error(void);
extern void __VERIFIER_assume(int);
extern void assume(int);
extern void assume_abort_if_not(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);";

/// What a statement may be where it stands.
#[derive(Clone, Copy)]
pub struct Place {
    /// How deep statements may still be nested.
    pub room: usize,
    /// It is reached once at most, and `main` does it.
    pub straight: bool,
    /// Nothing may wait or jump away.
    pub plain: bool,
}

/// Whether what is written depends on variables, so that the order in which C evaluates an assignment matters.
fn is_computed(target: &str) -> bool {
    target.contains("g2 ") || target.contains("g2]") || target.contains('*')
}

pub struct Generator {
    pub numbers: Numbers,
    lines: Vec<Line>,
    depth: usize,
    pub probes: Vec<Probe>,
    pub kind: Kind,
    pub calls: BTreeSet<&'static str>,
    jumps: BTreeSet<(Jump, Loop)>,
    globals: Vec<String>,
    locals: Vec<String>,
    /// Declarations of the function that is being written.
    declarations: Vec<String>,
    names: usize,
    /// How `return` is written.
    leave: &'static str,
    /// Functions: the name, and how many parameters there are.
    helpers: Vec<(String, usize)>,
    /// Functions with a pointer to the second variable, and a value.
    changers: Vec<String>,
    counters: Vec<String>,
    /// Statements that may still come.
    budget: usize,
    /// What must be used, so that rare things occur.
    wanted_calls: [usize; 2],
    wanted_jump: Option<(Jump, Loop)>,
    /// Those of the first variables.
    types: [&'static str; 3],
}

/// The program of a number.
pub fn generate(seed: u64) -> Generated {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        numbers.next();
    }
    let kind = match numbers.below(20) {
        0..=9 => Kind::One,
        10 => Kind::Inputs,
        _ => Kind::Threads,
    };
    let pairs: Vec<(Jump, Loop)> = JUMPS
        .iter()
        .flat_map(|&jump| LOOPS.iter().map(move |&form| (jump, form)))
        .filter(|&(jump, form)| fits(jump, form))
        .collect();
    let generator = Generator {
        lines: Vec::new(),
        depth: 0,
        probes: Vec::new(),
        kind,
        calls: BTreeSet::new(),
        jumps: BTreeSet::new(),
        globals: Vec::new(),
        locals: Vec::new(),
        declarations: Vec::new(),
        names: 0,
        leave: "",
        helpers: Vec::new(),
        changers: Vec::new(),
        counters: Vec::new(),
        budget: 0,
        wanted_calls: [seed, seed.wrapping_add(library::RULES.len() as u64 / 2)]
            .map(|number| (number % library::RULES.len() as u64) as usize),
        // Programs with one run tell most about jumps, since everything about them is known.
        wanted_jump: (kind == Kind::One || numbers.below(3) == 0)
            .then(|| pairs[(seed % pairs.len() as u64) as usize]),
        types: ["int"; 3],
        numbers,
    };
    generator.program()
}

impl Generator {
    pub fn line(&mut self, text: impl AsRef<str>) {
        let line = format!("{}{}", "    ".repeat(self.depth), text.as_ref());
        self.lines.push(Line::Text(line));
    }

    pub fn chance(&mut self, of: usize) -> bool {
        self.numbers.below(of) == 0
    }

    pub fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        self.numbers.of::<&str>(texts)
    }

    fn fresh(&mut self, beginning: &str) -> String {
        self.names += 1;
        format!("{beginning}{}", self.names)
    }

    /// A new variable of the function.
    pub fn local(&mut self, beginning: &str, ty: &str, init: &str) -> String {
        let name = self.fresh(beginning);
        self.declarations.push(format!("{ty} {name} = {init};"));
        name
    }

    /// Looks at an expression.
    pub fn probe(&mut self, expression: impl Into<String>, acts: bool) {
        if self.probes.len() >= 60 {
            return;
        }
        let expression = expression.into();
        self.lines.push(Line::Probe(self.depth, self.probes.len()));
        self.probes.push(Probe { expression, acts });
    }

    /// Uses what a call of the library gives.
    pub fn result(&mut self, name: &'static str, call: &str) {
        self.calls.insert(name);
        match self.numbers.below(5) {
            0 => self.probe(call, true),
            1 => {
                let ty = *self
                    .numbers
                    .of(&["short", "long", "signed char", "unsigned"]);
                let result = self.local("r", ty, "0");
                self.line(format!("{result} = {call};"));
                self.probe(result.clone(), false);
                self.locals.push(result);
            }
            _ => {
                let result = self.local("r", "int", "0");
                self.line(format!("{result} = {call};"));
                self.probe(result.clone(), false);
                self.locals.push(result);
            }
        }
    }

    /// There are several runs, since something is chosen.
    pub fn choice(&mut self) {
        self.kind = self.kind.max(Kind::Inputs);
    }

    fn variable(&mut self) -> String {
        let all = self.globals.len() + self.locals.len();
        let at = self.numbers.below(all);
        let of = |list: &[String], at: usize| list.get(at).cloned();
        of(&self.globals, at)
            .or_else(|| of(&self.locals, at - self.globals.len()))
            .unwrap_or_else(|| "0".to_owned())
    }

    /// A variable that may be written.
    pub fn target(&mut self) -> String {
        match self.chance(3) && !self.locals.is_empty() {
            true => {
                let at = self.numbers.below(self.locals.len());
                self.locals[at].clone()
            }
            false => {
                let at = self.numbers.below(self.globals.len());
                self.globals[at].clone()
            }
        }
    }

    fn leaf(&mut self) -> String {
        match self.numbers.below(12) {
            0..=6 => self.variable(),
            7 => (*self
                .numbers
                .of(&["TWO", "255", "-128", "65535", "300L", "'a'"]))
            .to_owned(),
            _ => (*self.numbers.of(&["0", "1", "2", "3", "-1", "5", "1u", "7"])).to_owned(),
        }
    }

    /// An expression without effects.
    pub fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance(5) {
            return self.leaf();
        }
        let left = self.expression(depth - 1);
        let right = self.expression(depth - 1);
        let small = *self.numbers.of(&["1", "2", "3"]);
        match self.numbers.below(18) {
            0 | 1 => format!("({left} + {small})"),
            2 | 3 => format!("({left} - {right})"),
            4 => format!("({left} * {small})"),
            5 => format!("({left} / {small})"),
            6 => format!("({left} % {small})"),
            7 => format!("({left} {} {right})", self.pick(&["&", "|", "^"])),
            8 => {
                let ty = self.pick(&["unsigned", "unsigned char", "unsigned short"]);
                format!("(({ty})({left}) << {small})")
            }
            9 => format!("({left} >> {small})"),
            10..=12 => {
                let sign = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({left} {sign} {right})")
            }
            13 => format!("({left} && {right})"),
            14 => format!("({left} || {right})"),
            15 => format!("({left} ? {right} : {small})"),
            16 => format!("({}({left}))", self.pick(&["-", "~", "!"])),
            _ => {
                let ty = *self.numbers.of(TYPES);
                format!("(({ty})({left}))")
            }
        }
    }

    /// An expression with few values.
    pub fn small(&mut self, depth: usize) -> String {
        let inner = self.expression(depth);
        match self.numbers.below(8) {
            0 | 1 => format!("({inner} & 3)"),
            2 => format!("({inner} & 1)"),
            3 => format!("({inner} % 3)"),
            4 => format!("(!{inner})"),
            5 => (*self.numbers.of(&["0", "1", "2"])).to_owned(),
            6 => format!("(({inner} & 3) + 1)"),
            _ => inner,
        }
    }

    /// An expression that is evaluated before or after another one, whichever C chooses: where there are threads it reads nothing that others write.
    pub fn second(&mut self) -> String {
        if self.kind != Kind::Threads {
            return self.small(1);
        }
        let globals = std::mem::take(&mut self.globals);
        let locals = self.locals.clone();
        self.locals.retain(|local| !local.contains('*'));
        let value = self.small(1);
        (self.globals, self.locals) = (globals, locals);
        value
    }

    pub fn condition(&mut self) -> String {
        match self.numbers.below(9) {
            0 if self.kind != Kind::One => {
                self.calls.insert("__VERIFIER_nondet_bool");
                "__VERIFIER_nondet_bool()".to_owned()
            }
            1 => {
                // What is on the right is evaluated only if it must be.
                let (first, sign) = (self.expression(1), self.pick(&["&&", "||"]));
                let step = self.step();
                format!("({first} {sign} {step} > 1)")
            }
            2 => {
                let (target, value) = (self.target(), self.second());
                format!("({target} = {value})")
            }
            3 => self.expression(2),
            4 => {
                let test = self.expression(1);
                format!("({test} ? {} : {}) > 0", self.step(), self.step())
            }
            _ => {
                let sign = self.pick(&["<", "<=", ">", "==", "!="]);
                let number = self.pick(&["0", "1", "2"]);
                format!("({} {sign} {number})", self.variable())
            }
        }
    }

    fn step(&mut self) -> String {
        let target = self.target();
        match self.numbers.below(4) {
            0 => format!("++{target}"),
            1 => format!("{target}--"),
            2 => format!("--{target}"),
            _ => format!("{target}++"),
        }
    }

    /// A block in braces.
    pub fn block(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    pub fn statements(&mut self, place: Place, count: usize) {
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement(place);
        }
    }

    fn statement(&mut self, place: Place) {
        let inner = Place {
            room: place.room.saturating_sub(1),
            straight: false,
            ..place
        };
        match self.numbers.below(if place.room == 0 { 12 } else { 24 }) {
            0 | 1 => self.assignment(),
            2 => {
                let step = self.step();
                self.line(format!("{step};"));
            }
            3 => {
                let (value, step, target) = (self.second(), self.step(), self.target());
                match is_computed(&target) {
                    true => self.line(format!("{step}, {target} = {value};")),
                    false => self.line(format!("{target} = ({step}, {value});")),
                }
            }
            4 => {
                let variable = self.variable();
                self.probe(variable, false);
            }
            5 if !self.helpers.is_empty() => self.call(),
            6..=9 => library::statement(self, place),
            10 => {
                let unsigned = self.local("u", "unsigned", "1");
                let (number, target) = (self.pick(&["1", "3", "31"]), self.target());
                self.line(format!("{unsigned} <<= {number};"));
                self.line(format!("{target} ^= {unsigned} >> {number};"));
            }
            11 => {
                let (first, second) = (self.pick(&["s", "t"]), self.pick(&["s", "t"]));
                self.line(format!("{first} = {second};"));
                self.probe(format!("{first}.p"), false);
            }
            12 | 13 => {
                let condition = self.condition();
                self.line(format!("if ({condition}) {{"));
                self.block(|this| this.statements(inner, 2));
                if self.chance(2) {
                    self.line("} else {");
                    self.block(|this| this.statements(inner, 2));
                }
                self.line("}");
            }
            14 => self.switch(inner),
            15..=19 if !place.plain => {
                let (jump, form) = self.loop_with_jump();
                self.looping(jump, form, inner);
            }
            20 => {
                let label = self.fresh("inside");
                let (first, second) = (self.condition(), self.condition());
                self.line(format!("if ({first}) goto {label};"));
                self.line(format!("if ({second}) {{"));
                self.block(|this| {
                    this.statements(inner, 1);
                    this.line(format!("{label}: ;"));
                    this.assignment();
                });
                self.line("} else {");
                self.block(|this| this.statements(inner, 1));
                self.line("}");
            }
            21 if place.room > 1 && !self.changers.is_empty() => {
                let (name, value) = (self.changers[0].clone(), self.small(1));
                self.line(format!("{name}(&g1, {value});"));
            }
            22 => {
                let label = self.fresh("over");
                let condition = self.condition();
                self.line(format!("if ({condition}) goto {label};"));
                self.statements(inner, 2);
                self.line(format!("{label}: ;"));
            }
            _ => {
                let (name, value) = (self.fresh("b"), self.small(2));
                self.line("{");
                self.block(|this| {
                    let ty = *this.numbers.of(TYPES);
                    this.line(format!("{ty} {name} = {value};"));
                    this.locals.push(name.clone());
                    this.statements(inner, 2);
                    this.locals.retain(|local| *local != name);
                    let target = this.target();
                    this.line(format!("{target} = {name};"));
                });
                self.line("}");
            }
        }
    }

    /// A new variable that only counts how often something happens.
    fn counter(&mut self) -> String {
        let name = self.fresh("n");
        self.counters.push(name.clone());
        name
    }

    fn count(&mut self, counter: &str) {
        let text = match self.numbers.below(3) {
            0 => format!("{counter}++;"),
            1 => format!("++{counter};"),
            _ => format!("{counter} += 2;"),
        };
        self.line(text);
    }

    fn assignment(&mut self) {
        let target = self.target();
        let text = match self.numbers.below(7) {
            0 => format!("{target} += {};", self.second()),
            1 => format!("{target} -= {};", self.second()),
            2 => {
                let sign = self.pick(&["&=", "|=", "^="]);
                format!("{target} {sign} {};", self.second())
            }
            3 => {
                let sign = self.pick(&["*=", "/=", "%=", ">>="]);
                format!("{target} {sign} {};", self.pick(&["1", "2", "3"]))
            }
            4 => {
                let (other, value) = (self.target(), self.second());
                match other == target || is_computed(&target) || is_computed(&other) {
                    true => format!("{target} = {value};"),
                    false => format!("{target} = {other} = {value};"),
                }
            }
            _ if is_computed(&target) => format!("{target} = {};", self.second()),
            _ => format!("{target} = {};", self.small(2)),
        };
        self.line(text);
    }

    fn call(&mut self) {
        let at = self.numbers.below(self.helpers.len());
        let (name, parameters) = self.helpers[at].clone();
        let arguments: Vec<String> = (0..parameters).map(|_| self.second()).collect();
        let call = format!("{name}({})", arguments.join(", "));
        let target = self.target();
        match self.numbers.below(3) {
            0 => self.probe(call, true),
            1 if !is_computed(&target) => self.line(format!("{target} = {call};")),
            _ => {
                let number = self.numbers.below(3);
                self.line(format!("if ({call} == {number}) {target} = 1;"));
            }
        }
    }

    /// A `switch` with cases that fall through, and the default anywhere.
    fn switch(&mut self, inner: Place) {
        let value = self.small(1);
        self.line(format!("switch ({value}) {{"));
        let default = self.numbers.below(4);
        for case in 0..3 {
            if case == default {
                self.line("default:");
            } else {
                self.line(format!("case {case}:"));
            }
            self.block(|this| {
                this.assignment();
                this.statements(inner, 1);
                if this.chance(2) {
                    this.line("break;");
                }
            });
        }
        self.line("}");
    }

    fn loop_with_jump(&mut self) -> (Jump, Loop) {
        if let Some(wanted) = self.wanted_jump.take() {
            return wanted;
        }
        loop {
            let (jump, form) = (*self.numbers.of(JUMPS), *self.numbers.of(LOOPS));
            if fits(jump, form) {
                return (jump, form);
            }
        }
    }

    /// A loop with a jump of some form in it.
    fn looping(&mut self, jump: Jump, form: Loop, inner: Place) {
        self.jumps.insert((jump, form));
        let (label, out) = (self.fresh("label"), self.fresh("out"));
        let once = self.local("once", "int", "0");
        let counter = self.counter();
        if let Jump::Into | Jump::IntoBoth = jump {
            let condition = match self.chance(2) {
                true => format!("{counter} == 0"),
                false => self.condition(),
            };
            self.line(format!("if ({condition}) goto {label};"));
        }
        let end = self.begin_loop(form);
        self.block(|this| {
            match jump {
                Jump::Back => this.line(format!("{label}: ;")),
                _ => this.statements(inner, 1),
            }
            this.jump(jump, &label, &out, &once, inner);
            match this.chance(3) {
                true => this.assignment(),
                false => this.count(&counter),
            }
        });
        self.line(end);
        match jump {
            Jump::BackInto => self.line(format!("if ({once}++ < 1) goto {label};")),
            Jump::Out | Jump::OutOfBoth => self.line(format!("{out}: ;")),
            _ => {}
        }
    }

    /// What stands before the body of a loop; the result stands behind it.
    fn begin_loop(&mut self, form: Loop) -> String {
        let ty = *self
            .numbers
            .of(&["int", "int", "unsigned", "short", "unsigned char", "long"]);
        let i = self.local("i", ty, "0");
        let times = 1 + self.numbers.below(2);
        let (text, end) = match form {
            Loop::While => (format!("while ({i}++ < {times}) {{"), "}".to_owned()),
            Loop::Do => ("do {".to_owned(), format!("}} while (++{i} < {times});")),
            Loop::For => {
                let text = match self.numbers.below(8) {
                    0..=2 => format!("for ({i} = 1; {i} <= {times}; {i}++) {{"),
                    3 => format!("for ({i} = {}; {i} > 0; {i} -= 2) {{", times * 2),
                    4 => format!("for (; {i} < {times}; ++{i}) {{"),
                    5 => {
                        let j = self.local("j", "int", "0");
                        let start = times + 1;
                        format!("for ({i} = 0, {j} = {start}; {i} < {j}; {i}++, {j}--) {{")
                    }
                    6 => format!("for ({i} = 1; {i} < {}; {i} *= 3) {{", times * 3),
                    _ => format!("for ({i} = 0; {i} < {times}; {i} = {i} + 1) {{"),
                };
                (text, "}".to_owned())
            }
            Loop::Forever => {
                let head = self.pick(&["for (;;) {", "while (1) {"]);
                let end = format!("if (++{i} >= {times}) break;");
                self.line(head);
                self.block(|this| this.line(end));
                return "}".to_owned();
            }
            Loop::Goto => {
                let again = self.fresh("again");
                (
                    format!("{again}: {{"),
                    format!("}} if (++{i} < {times}) goto {again};"),
                )
            }
        };
        self.line(text);
        end
    }

    fn jump(&mut self, jump: Jump, label: &str, out: &str, once: &str, inner: Place) {
        let condition = self.condition();
        match jump {
            Jump::Break => self.line(format!("if ({condition}) break;")),
            Jump::Continue => self.line(format!("if ({condition}) continue;")),
            Jump::Out => self.line(format!("if ({condition}) goto {out};")),
            Jump::Into | Jump::BackInto => self.line(format!("{label}: ;")),
            Jump::Back => self.line(format!("if ({once}++ < 1) goto {label};")),
            Jump::Forwards => {
                self.line(format!("if ({condition}) goto {label};"));
                self.statements(inner, 1);
                self.line(format!("{label}: ;"));
            }
            Jump::Return => {
                let leave = self.leave;
                self.line(format!("if ({condition}) {leave}"));
            }
            Jump::Switch | Jump::SwitchContinue => {
                let leave = match jump {
                    Jump::Switch => "break;",
                    _ => "continue;",
                };
                let value = self.small(1);
                self.line(format!("switch ({value}) {{"));
                self.line("case 0:");
                self.block(Self::assignment);
                self.line("case 1:");
                self.block(|this| {
                    this.assignment();
                    this.line(leave);
                });
                self.line("default:");
                self.block(Self::assignment);
                self.line("}");
            }
            Jump::OutOfBoth | Jump::IntoBoth => {
                let form = *self.numbers.of(LOOPS);
                let end = self.begin_loop(form);
                self.block(|this| {
                    this.assignment();
                    match jump {
                        Jump::OutOfBoth => this.line(format!("if ({condition}) goto {out};")),
                        _ => this.line(format!("{label}: ;")),
                    }
                    this.assignment();
                });
                self.line(end);
            }
        }
    }

    /// A function, whose variables are declared where it begins.
    fn function(&mut self, head: &str, leave: &'static str, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.locals);
        self.leave = leave;
        self.line(format!("{head} {{"));
        let at = self.lines.len();
        self.block(|this| {
            write(this);
            this.line(leave);
        });
        self.line("}");
        let declarations = std::mem::take(&mut self.declarations);
        let lines = declarations
            .into_iter()
            .map(|text| Line::Text(format!("    {text}")));
        self.lines.splice(at..at, lines);
        self.locals = outer;
    }

    fn helper(&mut self) {
        let name = self.fresh("f");
        let parameters = self.numbers.below(3);
        let list: Vec<String> = (0..parameters)
            .map(|at| format!("{} p{at}", self.numbers.of(TYPES)))
            .collect();
        let list = match list.is_empty() {
            true => "void".to_owned(),
            false => list.join(", "),
        };
        let result = *self.numbers.of(TYPES);
        let fixed = self.pick(&["", "static "]);
        let leave = self.pick(&["return 1;", "return -1;", "return 300;"]);
        let pointer = self.chance(2);
        let counter = self.fresh("calls");
        self.function(&format!("{fixed}{result} {name}({list})"), leave, |this| {
            this.locals = (0..parameters).map(|at| format!("p{at}")).collect();
            if pointer {
                let at = this.numbers.below(2);
                this.declarations.push(format!(
                    "{}{} *to = &g{at};",
                    this.volatile(),
                    this.types[at]
                ));
                this.locals.push("(*to)".to_owned());
            }
            if this.chance(3) {
                this.declarations.push(format!("static int {counter} = 0;"));
                this.line(format!("{counter}++;"));
                this.locals.push(counter);
            }
            this.budget = 3;
            let place = Place {
                room: 1,
                straight: false,
                plain: true,
            };
            this.statements(place, 3);
            let value = this.small(2);
            this.line(format!("return {value};"));
        });
        self.helpers.push((name, parameters));
    }

    /// Where there are threads, gcc must not read a variable again to know what it has written there: `(x = 1) == 1` reads nothing.
    fn volatile(&self) -> &'static str {
        match self.kind {
            Kind::Threads => "volatile ",
            _ => "",
        }
    }

    /// A function that writes through a pointer.
    fn changer(&mut self) {
        let (name, ty) = (
            self.fresh("put"),
            format!("{}{}", self.volatile(), self.types[1]),
        );
        self.function(
            &format!("static void {name}({ty} *to, int value)"),
            "return;",
            |this| {
                let condition = this.condition();
                this.line(format!("if ({condition}) return;"));
                let sign = this.pick(&["=", "+=", "^="]);
                this.line(format!("*to {sign} value;"));
            },
        );
        self.changers.push(name);
    }

    fn program(mut self) -> Generated {
        self.types = [(); 3].map(|()| *self.numbers.of(TYPES));
        self.globals = ["g0", "g1", "g2", "own", "a[0]", "a[1]", "s.p", "s.q"]
            .map(str::to_owned)
            .to_vec();
        // Few, so that they meet.
        while self.globals.len() > 4 {
            let at = self.numbers.below(self.globals.len());
            self.globals.remove(at);
        }
        if self.chance(3) {
            // Which element it is, is computed; an index outside of the array is a failure.
            let index = self.pick(&["g2 & 1", "(unsigned)g2 % 2u", "g2"]);
            self.globals.push(format!("a[{index}]"));
        }
        if self.chance(2) {
            self.helper();
        }
        if self.chance(3) {
            self.changer();
        }
        let threads = match self.kind {
            Kind::Threads => 1 + self.numbers.below(2),
            _ => self.numbers.below(2),
        };
        let meet = self.kind == Kind::Threads && self.chance(6);
        let place = Place {
            room: 2,
            straight: true,
            plain: false,
        };
        for thread in 0..threads {
            self.function(
                &format!("void *t{thread}(void *arg)"),
                "return 0;",
                |this| {
                    this.declarations
                        .push("int id = (int)(long)arg;".to_owned());
                    this.locals.push("id".to_owned());
                    this.budget = if this.kind == Kind::Threads { 3 } else { 6 };
                    let place = Place {
                        straight: false,
                        ..place
                    };
                    this.statements(place, 3);
                    if meet {
                        this.result("pthread_barrier_wait", "pthread_barrier_wait(&bar)");
                        this.budget = 1;
                        this.statements(place, 1);
                    }
                },
            );
        }
        self.function("int main(void)", "return 0;", |this| {
            this.main(threads, meet, place)
        });
        self.finish(threads)
    }

    fn main(&mut self, threads: usize, meet: bool, place: Place) {
        self.lines.push(Line::Begin);
        for thread in 0..threads {
            let handle = format!("h{thread}");
            self.declarations.push(format!("pthread_t {handle};"));
            let call = format!(
                "pthread_create(&{handle}, 0, t{thread}, (void *){})",
                thread + 1
            );
            self.result("pthread_create", &call);
            if self.kind != Kind::Threads {
                self.result("pthread_join", &format!("pthread_join({handle}, 0)"));
            }
        }
        self.budget = match self.kind {
            Kind::Threads => 3,
            _ => 12,
        };
        for rule in self.wanted_calls {
            library::one(self, rule, place);
        }
        self.statements(place, 6);
        if let Some((jump, form)) = self.wanted_jump.take() {
            self.looping(
                jump,
                form,
                Place {
                    room: 1,
                    straight: false,
                    plain: false,
                },
            );
        }
        if meet {
            self.result("pthread_barrier_wait", "pthread_barrier_wait(&bar)");
        }
        for thread in 0..threads {
            if self.kind == Kind::Threads && !self.chance(6) {
                self.result("pthread_join", &format!("pthread_join(h{thread}, 0)"));
            }
        }
        for global in self.globals.clone() {
            self.probe(global, false);
        }
        for counter in self.counters.clone() {
            self.probe(counter, false);
        }
    }

    /// Puts what is used before the functions that use it.
    fn finish(mut self, threads: usize) -> Generated {
        let body: String = (self.lines.iter())
            .map(|line| match line {
                Line::Text(text) => format!("{text}\n"),
                Line::Probe(_, at) => format!("{}\n", self.probes[*at].expression),
                Line::Begin => String::new(),
            })
            .collect();
        let mut head: Vec<String> = vec![HEAD.to_owned()];
        let volatile = self.volatile();
        let mut values: Vec<usize> = (0..5).map(|_| self.numbers.below(3)).collect();
        if body.contains("a[g2]") {
            values[2] = 1;
        }
        for (at, ty) in self.types.iter().enumerate() {
            // Near its end, so that signed operations overflow.
            let value = match *ty == "int" && self.numbers.below(6) == 0 {
                true => 2_147_483_646,
                false => values[at],
            };
            head.push(format!("{volatile}{ty} g{at} = {value};"));
        }
        for counter in std::mem::take(&mut self.counters) {
            let ty = self.pick(&["int", "unsigned", "short", "unsigned char"]);
            head.push(format!("{volatile}{ty} {counter};"));
        }
        let own = self.pick(&["_Thread_local int own;", "static __thread short own;"]);
        head.push(own.to_owned());
        let element = format!("{volatile}{}", self.numbers.of(TYPES));
        head.push(format!(
            "{element} a[2] = {{ {}, {} }};",
            values[3], values[4]
        ));
        head.push(format!(
            "struct pair {{ {element} p; {volatile}unsigned char q; }} s, t = {{ 2, 1 }};"
        ));
        head.push("enum { ZERO, ONE, TWO };".to_owned());
        for (name, ty) in library::INPUTS {
            if body.contains(&format!("{name}()")) {
                head.push(format!("extern {ty} {name}(void);"));
            }
        }
        let mut begin = Vec::new();
        let ty = self.pick(&["int", "int", "unsigned", "short", "unsigned char", "long"]);
        head.push(format!("typedef {ty} A;"));
        for object in library::OBJECTS {
            if !object.mentioned.iter().any(|text| body.contains(text)) {
                continue;
            }
            head.push(object.declaration.to_owned());
            let value = self.numbers.below(3).to_string();
            let text = object
                .begin
                .replace("$N", &value)
                .replace("$P", &(threads + 1).to_string());
            if !text.is_empty() {
                begin.push(Line::Text(format!("    {text}")));
            }
        }
        let at = self
            .lines
            .iter()
            .position(|line| matches!(line, Line::Begin))
            .unwrap();
        self.lines.splice(at..=at, begin);
        let mut lines: Vec<Line> = head.into_iter().map(Line::Text).collect();
        lines.append(&mut self.lines);
        Generated {
            lines,
            probes: self.probes,
            kind: self.kind,
            calls: self.calls,
            jumps: self.jumps,
        }
    }
}
