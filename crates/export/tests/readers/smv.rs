//! SMV: one module of variables, initial values, definitions, one `TRANS` and invariants.

use std::collections::{HashMap, HashSet};

use super::Found;

#[derive(Debug)]
enum Expr {
    Number(i64),
    Var(usize),
    Next(usize),
    Define(usize),
    Not(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Case(Vec<(Expr, Expr)>),
}

/// Binary operators by how tightly they bind, loosest first.
const LEVELS: &[&[&str]] = &[
    &["<->"],
    &["|"],
    &["&"],
    &["=", "<", ">", "<=", ">="],
    &["+", "-"],
    &["*", "/", "mod"],
];

#[derive(Default)]
struct Module {
    tokens: Vec<String>,
    at: usize,
    vars: HashMap<String, usize>,
    domains: Vec<(i64, i64)>,
    initial: Vec<Option<i64>>,
    defines: HashMap<String, usize>,
    bodies: Vec<Expr>,
    /// Whether a definition speaks of the next state.
    of_next: Vec<bool>,
    relation: Option<Expr>,
    invariants: Vec<Expr>,
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.split("--").next().unwrap().trim_start();
        while !rest.is_empty() {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let len = match rest.chars().next().unwrap() {
                c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
                _ => {
                    let long = ["<->", "<=", ">=", ":=", ".."];
                    let found = long.iter().find(|symbol| rest.starts_with(**symbol));
                    found.map_or(1, |symbol| symbol.len())
                }
            };
            tokens.push(rest[..len].to_owned());
            rest = rest[len..].trim_start();
        }
    }
    tokens
}

impl Module {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn expect(&mut self, wanted: &str) {
        let token = self.take();
        assert_eq!(
            token,
            wanted,
            "after {:?}",
            &self.tokens[self.at.saturating_sub(9)..self.at]
        );
    }

    fn parse(text: &str) -> Module {
        let mut module = Module {
            tokens: tokens(text),
            ..Module::default()
        };
        module.expect("MODULE");
        module.expect("main");
        let mut section = String::new();
        while module.at < module.tokens.len() {
            if ["VAR", "ASSIGN", "DEFINE", "TRANS", "INVARSPEC"].contains(&module.peek()) {
                section = module.take();
            }
            module.item(&section);
            module.expect(";");
        }
        module
    }

    fn item(&mut self, section: &str) {
        match section {
            "VAR" => {
                let name = self.take();
                self.expect(":");
                let domain = if self.peek() == "boolean" {
                    self.take();
                    (0, 1)
                } else {
                    let lo = self.number();
                    self.expect("..");
                    (lo, self.number())
                };
                assert!(self.vars.insert(name, self.domains.len()).is_none());
                self.domains.push(domain);
                self.initial.push(None);
            }
            "ASSIGN" => {
                self.expect("init");
                self.expect("(");
                let name = self.take();
                let var = self.vars[&name];
                self.expect(")");
                self.expect(":=");
                let value = self.expr(0);
                self.initial[var] = Some(self.value(&value, &[], &[]));
            }
            "DEFINE" => {
                let name = self.take();
                self.expect(":=");
                let body = self.expr(0);
                let of_next = self.mentions_next(&body);
                assert!(self.defines.insert(name, self.bodies.len()).is_none());
                self.bodies.push(body);
                self.of_next.push(of_next);
            }
            "TRANS" => {
                assert!(self.relation.is_none());
                self.relation = Some(self.expr(0));
            }
            "INVARSPEC" => {
                self.expect("NAME");
                self.take();
                self.expect(":=");
                let invariant = self.expr(0);
                self.invariants.push(invariant);
            }
            other => panic!("section `{other}`"),
        }
    }

    fn number(&mut self) -> i64 {
        match self.take().as_str() {
            "-" => -self.number(),
            token => token.parse().unwrap(),
        }
    }

    fn expr(&mut self, level: usize) -> Expr {
        if level == LEVELS.len() {
            return self.atom();
        }
        let mut left = self.expr(level + 1);
        while let Some(op) = LEVELS[level].iter().find(|op| **op == self.peek()) {
            self.take();
            let right = self.expr(level + 1);
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        left
    }

    fn atom(&mut self) -> Expr {
        let token = self.take();
        match token.as_str() {
            "(" => {
                let inner = self.expr(0);
                self.expect(")");
                inner
            }
            "!" => Expr::Not(Box::new(self.atom())),
            "-" => Expr::Number(-self.number()),
            "TRUE" => Expr::Number(1),
            "FALSE" => Expr::Number(0),
            "next" => {
                self.expect("(");
                let name = self.take();
                let var = self.vars[&name];
                self.expect(")");
                Expr::Next(var)
            }
            "case" => {
                let mut cases = Vec::new();
                while self.peek() != "esac" {
                    let condition = self.expr(0);
                    self.expect(":");
                    cases.push((condition, self.expr(0)));
                    self.expect(";");
                }
                self.take();
                Expr::Case(cases)
            }
            token => match (token.parse(), self.vars.get(token)) {
                (Ok(number), _) => Expr::Number(number),
                (_, Some(var)) => Expr::Var(*var),
                _ => Expr::Define(self.defines[token]),
            },
        }
    }

    fn mentions_next(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Next(_) => true,
            Expr::Number(_) | Expr::Var(_) => false,
            Expr::Define(define) => self.of_next[*define],
            Expr::Not(inner) => self.mentions_next(inner),
            Expr::Binary(_, a, b) => self.mentions_next(a) || self.mentions_next(b),
            Expr::Case(cases) => cases
                .iter()
                .any(|(when, then)| self.mentions_next(when) || self.mentions_next(then)),
        }
    }

    fn value(&self, expr: &Expr, now: &[i64], next: &[i64]) -> i64 {
        let value = |expr: &Expr| self.value(expr, now, next);
        match expr {
            Expr::Number(number) => *number,
            Expr::Var(var) => now[*var],
            Expr::Next(var) => next[*var],
            Expr::Define(define) => value(&self.bodies[*define]),
            Expr::Not(inner) => 1 - value(inner),
            Expr::Case(cases) => {
                let case = cases.iter().find(|(when, _)| value(when) != 0);
                value(&case.expect("a case that holds").1)
            }
            Expr::Binary("&", a, b) => i64::from(value(a) != 0 && value(b) != 0),
            Expr::Binary("|", a, b) => i64::from(value(a) != 0 || value(b) != 0),
            Expr::Binary(op, a, b) => {
                let (a, b) = (value(a), value(b));
                match *op {
                    "=" | "<->" => i64::from(a == b),
                    "<" => i64::from(a < b),
                    ">" => i64::from(a > b),
                    "<=" => i64::from(a <= b),
                    ">=" => i64::from(a >= b),
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    _ => a % b,
                }
            }
        }
    }

    /// Finds the states that satisfy what is to be satisfied, after `now`. What is not yet known of the
    /// state after is `None`; conditions that do not fix a variable are looked at in the end.
    fn solve<'m>(
        &'m self,
        now: &[i64],
        mut todo: Vec<&'m Expr>,
        mut next: Vec<Option<i64>>,
        mut late: Vec<&'m Expr>,
        found: &mut HashSet<Vec<i64>>,
    ) {
        while let Some(expr) = todo.pop() {
            let fix = match expr {
                Expr::Next(var) => Some((*var, 1)),
                Expr::Not(inner) => match &**inner {
                    Expr::Next(var) => Some((*var, 0)),
                    _ => None,
                },
                Expr::Binary("=" | "<->", a, b) if !self.mentions_next(b) => match **a {
                    Expr::Next(var) => Some((var, self.value(b, now, &[]))),
                    _ => None,
                },
                _ => None,
            };
            match (fix, expr) {
                (Some((var, value)), _) => {
                    let (lo, hi) = self.domains[var];
                    if !(lo..=hi).contains(&value) || next[var].is_some_and(|old| old != value) {
                        return;
                    }
                    next[var] = Some(value);
                }
                (None, expr) if !self.mentions_next(expr) => {
                    if self.value(expr, now, &[]) == 0 {
                        return;
                    }
                }
                (None, Expr::Define(define)) => todo.push(&self.bodies[*define]),
                (None, Expr::Binary("&", a, b)) => todo.extend([&**a, &**b]),
                (None, Expr::Binary("|", a, b)) => {
                    for part in [a, b] {
                        let mut todo = todo.clone();
                        todo.push(part);
                        self.solve(now, todo, next.clone(), late.clone(), found);
                    }
                    return;
                }
                (None, expr) => late.push(expr),
            }
        }
        let Some(open) = next.iter().position(Option::is_none) else {
            let next: Vec<i64> = next.into_iter().flatten().collect();
            if late.iter().all(|expr| self.value(expr, now, &next) != 0) {
                found.insert(next);
            }
            return;
        };
        let (lo, hi) = self.domains[open];
        for value in lo..=hi {
            let mut next = next.clone();
            next[open] = Some(value);
            self.solve(now, Vec::new(), next, late.clone(), found);
        }
    }
}

/// The reachable states, and which invariants are violated in one of them.
pub fn read(text: &str) -> Found {
    let module = Module::parse(text);
    let mut known = HashSet::new();
    module.solve(
        &[],
        Vec::new(),
        module.initial.clone(),
        Vec::new(),
        &mut known,
    );
    let mut waiting: Vec<Vec<i64>> = known.iter().cloned().collect();
    let mut violated = vec![false; module.invariants.len()];
    while let Some(state) = waiting.pop() {
        for (violated, invariant) in violated.iter_mut().zip(&module.invariants) {
            *violated |= module.value(invariant, &state, &[]) == 0;
        }
        let mut next = HashSet::new();
        let relation = module.relation.iter().collect();
        let open = vec![None; module.domains.len()];
        module.solve(&state, relation, open, Vec::new(), &mut next);
        assert!(next.contains(&state), "no way to do nothing in {state:?}");
        for state in next {
            if known.insert(state.clone()) {
                waiting.push(state);
            }
        }
    }
    Found {
        states: known.len() as u64,
        violated,
    }
}
