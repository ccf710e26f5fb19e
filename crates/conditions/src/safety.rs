//! The conditions of a certificate as SMT-LIB, for another solver.
//!
//! Cells are integers between bounds, nodes of decision graphs are truth values, and expressions are written as they stand. Each question relies
//! on all parts of the claim: to choose from them is left to the solver. This
//! shares nothing with the SAT encoding but the plain lowering, so a solver that answers `unsat` to every question
//! confirms the certificate without it. Integers are mathematical here: that no computation leaves 64 bits is not
//! among the questions.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use threadwise_certify::{Claimed, Error, Part, claimed};
use threadwise_evidence::Certificate;
use threadwise_evidence::certificate::{cell_names, cell_values};
use threadwise_evidence::dag::Child;
use threadwise_lang::program::{ArithOp, CompareOp, FoldKind};
use threadwise_model::instance::Instance;
use threadwise_model::layout::process_name;
use threadwise_model::system::{
    CellInitial, Clause, Expr, Place, ProcessId, Scope, Step, System, SystemPropertyKind,
};

/// Writes the conditions of a certificate as SMT-LIB 2: each `check-sat` must be answered `unsat`.
pub fn smtlib(
    instance: &Instance,
    certificate: &Certificate,
    property: &str,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let Claimed {
        system,
        kind,
        parts,
    } = claimed(instance, certificate, property)?;
    if let SystemPropertyKind::Liveness(_) = kind {
        let why = "proofs of liveness properties are not written as SMT-LIB";
        return Err(Error::Unsupported(why.to_owned()));
    }
    let mut bounds = Vec::new();
    for (values, name) in cell_values(&system).into_iter().zip(cell_names(&system)) {
        let values = values.filter(|(_, size)| *size > 0);
        bounds.push(
            values.ok_or_else(|| {
                Error::Unsupported(format!("`{name}` has no values, or too many"))
            })?,
        );
    }
    let exporter = Exporter {
        system: &system,
        parts,
        bounds,
    };
    writeln!(
        out,
        "; Written by threadwise: a certificate of {property}. Each check-sat must be answered unsat."
    )
    .and_then(|()| exporter.write(&kind, out))
        .map_err(|_| Error::Unsupported("the conditions cannot be written".to_owned()))
}

/// A term: a number if it is known, otherwise text.
#[derive(Clone)]
enum Term {
    Number(i64),
    Text(String),
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Number(number) if *number < 0 => write!(f, "(- {})", number.unsigned_abs()),
            Term::Number(number) => write!(f, "{number}"),
            Term::Text(text) => f.write_str(text),
        }
    }
}

/// Where an expression stands.
#[derive(Clone, Default)]
struct Env {
    own: Option<(u32, ProcessId)>,
    bounds: Vec<(u32, i64)>,
}

const PRELUDE: &str = "\
(set-logic ALL)
(define-fun absolute ((a Int)) Int (ite (< a 0) (- a) a))
(define-fun quotient ((a Int) (b Int)) Int (ite (= b 0) 0
  (ite (= (< a 0) (< b 0)) (div (absolute a) (absolute b)) (- (div (absolute a) (absolute b))))))
(define-fun rest ((a Int) (b Int)) Int (ite (= b 0) 0 (- a (* b (quotient a b)))))
(define-fun least ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun greatest ((a Int) (b Int)) Int (ite (< a b) b a))
";

struct Exporter<'a> {
    system: &'a System,
    parts: Vec<Part<'a>>,
    bounds: Vec<(i64, u64)>,
}

impl Exporter<'_> {
    fn write(&self, kind: &SystemPropertyKind, out: &mut dyn Write) -> fmt::Result {
        out.write_str(PRELUDE)?;
        let names = cell_names(self.system);
        for (cell, (lo, size)) in self.bounds.iter().enumerate() {
            let (low, high) = (
                Term::Number(*lo),
                Term::Number(lo.saturating_add_unsigned(size - 1)),
            );
            writeln!(out, "(declare-const c{cell} Int) ; {}", names[cell])?;
            writeln!(out, "(assert (<= {low} c{cell} {high}))")?;
        }
        for (number, part) in self.parts.iter().enumerate() {
            for (position, node) in part.dag.nodes().enumerate() {
                let cell = Term::Text(format!("c{}", part.cells[node.cell]));
                let test = self.test(part, position, &cell, &|child| before_name(number, child));
                let name = before_name(number, position);
                writeln!(out, "(declare-const {name} Bool)")?;
                writeln!(out, "(assert (= {name} {test}))")?;
            }
        }
        self.initial(out)?;
        for (process, own, step) in self.steps() {
            if !step.rest {
                self.step(process, own, step, out)?;
            }
        }
        match kind {
            SystemPropertyKind::Invariant(expr) => {
                let holds = self.truth(expr, &mut Env::default());
                let mut all = self.inside();
                all.push(format!("(not {holds})"));
                ask(out, "the property holds", &all)
            }
            SystemPropertyKind::DeadlockFree => self.deadlock(out),
            SystemPropertyKind::Checks | SystemPropertyKind::Liveness(_) => {
                for (process, own, step) in self.steps() {
                    self.checks(process, own, step, out)?;
                }
                Ok(())
            }
        }
    }

    fn steps(&self) -> impl Iterator<Item = (ProcessId, u32, &Step)> {
        self.system.templates.iter().flat_map(|template| {
            (0..template.count).flat_map(move |index| {
                let process = template.first + index as usize;
                let steps = template.steps.iter().flatten();
                steps.map(move |step| (process, index, step))
            })
        })
    }

    /// A leaf, or the name of a node.
    fn child(child: Child, name: &dyn Fn(usize) -> String) -> String {
        match child.node() {
            Some(node) => name(node),
            None => (child == Child::TRUE).to_string(),
        }
    }

    /// That the state is in each of the parts.
    fn inside(&self) -> Vec<String> {
        let parts = self.parts.iter().enumerate();
        parts
            .map(|(number, part)| Self::child(part.dag.root(), &|node| before_name(number, node)))
            .collect()
    }

    /// What a node of a part says, for this value of its cell.
    fn test(
        &self,
        part: &Part<'_>,
        position: usize,
        value: &Term,
        name: &dyn Fn(usize) -> String,
    ) -> String {
        let node = part.dag.node(position);
        let (lo, _) = self.bounds[part.cells[node.cell]];
        let mut text = String::new();
        let mut above = lo;
        for (at, run) in node.runs.iter().enumerate() {
            above = above.saturating_add_unsigned(run.count);
            let child = Self::child(run.child, name);
            if at + 1 == node.runs.len() {
                text.push_str(&child);
                text.push_str(&")".repeat(at));
            } else {
                text.push_str(&format!(
                    "(ite (< {value} {}) {child} ",
                    Term::Number(above)
                ));
            }
        }
        text
    }

    fn initial(&self, out: &mut dyn Write) -> fmt::Result {
        let mut initial = Vec::new();
        for (id, var) in self.system.vars.iter_enumerated() {
            let CellInitial::Value(expr) = &var.initial else {
                continue;
            };
            let (copies, first) = match var.scope {
                Scope::Shared => (1, None),
                Scope::Local(template) => {
                    let template = &self.system.templates[template];
                    (template.count, Some(template.first))
                }
            };
            for copy in 0..copies {
                let mut env = Env {
                    own: first.map(|first| (copy, first + copy as usize)),
                    bounds: Vec::new(),
                };
                let value = self.number(expr, &mut env);
                for offset in 0..var.len {
                    let cell = self.system.cell(id, copy, offset).index();
                    initial.push(format!("(= c{cell} {value})"));
                }
            }
        }
        for predicate in &self.system.initially {
            let mut env = Env {
                own: None,
                bounds: Vec::new(),
            };
            initial.push(self.truth(predicate, &mut env));
        }
        for inside in self.inside() {
            let mut all = initial.clone();
            all.push(format!("(not {inside})"));
            ask(out, "every initial state is in the set", &all)?;
        }
        Ok(())
    }

    /// The guards and checks of a step, with the location in front.
    fn clauses(
        &self,
        (process, own): (ProcessId, u32),
        step: &Step,
        env: &mut Env,
    ) -> Vec<(bool, String)> {
        let template = &self.system.templates[self.system.template_of(process)];
        let pc = self.system.cell(template.pc, own, 0).index();
        let mut clauses = vec![(false, format!("(= c{pc} {})", step.from.raw()))];
        for clause in &step.clauses {
            let (check, expr) = match clause {
                Clause::Guard(guard) => (false, guard),
                Clause::Check(check) => (true, &check.holds),
            };
            clauses.push((check, self.truth(expr, env)));
        }
        clauses
    }

    fn step(&self, process: ProcessId, own: u32, step: &Step, out: &mut dyn Write) -> fmt::Result {
        let mut env = Env {
            own: Some((own, process)),
            bounds: Vec::new(),
        };
        let template = &self.system.templates[self.system.template_of(process)];
        writeln!(
            out,
            "; the step of {} from {} to {} does not lead out of the set\n(push)",
            process_name(self.system, process),
            template.locations[step.from],
            template.locations[step.to]
        )?;
        declare_choices(step, out)?;
        for inside in self.inside() {
            writeln!(out, "(assert {inside})")?;
        }
        for (_, clause) in self.clauses((process, own), step, &mut env) {
            writeln!(out, "(assert {clause})")?;
        }
        let mut after: BTreeMap<usize, Term> = BTreeMap::new();
        for update in &step.updates {
            let value = self.number(&update.value, &mut env);
            for (condition, cell) in self.targets(&update.cell, &mut env) {
                let old = after.get(&cell).cloned();
                let old = old.unwrap_or_else(|| Term::Text(format!("c{cell}")));
                let new = match condition {
                    None => value.clone(),
                    Some(condition) => Term::Text(format!("(ite {condition} {value} {old})")),
                };
                after.insert(cell, new);
            }
        }
        let pc = self.system.cell(template.pc, own, 0).index();
        after.insert(pc, Term::Number(i64::from(step.to.raw())));
        for (cell, value) in &after {
            writeln!(
                out,
                "(declare-const a{cell} Int) (assert (= a{cell} {value}))"
            )?;
        }
        // The state after a step is in all parts that test no written cell, as the one before is.
        let written = |part: &Part<'_>| {
            let mut nodes = part.dag.nodes();
            nodes.any(|node| after.contains_key(&part.cells[node.cell]))
        };
        let changing = self.parts.iter().enumerate();
        for (number, part) in changing.filter(|(_, part)| written(part)) {
            writeln!(out, "(push)")?;
            // Nodes that no written cell is tested at or below are as before.
            let mut changed = vec![false; part.dag.len()];
            for (position, node) in part.dag.nodes().enumerate() {
                let mut below = node.runs.iter().filter_map(|run| run.child.node());
                let cell = part.cells[node.cell];
                changed[position] = after.contains_key(&cell) || below.any(|n| changed[n]);
                if changed[position] {
                    let name = if after.contains_key(&cell) { "a" } else { "c" };
                    let value = Term::Text(format!("{name}{cell}"));
                    let child = |child| after_name(number, &changed, child);
                    let test = self.test(part, position, &value, &child);
                    let name = after_name(number, &changed, position);
                    writeln!(out, "(declare-const {name} Bool)")?;
                    writeln!(out, "(assert (= {name} {test}))")?;
                }
            }
            let root = Self::child(part.dag.root(), &|node| after_name(number, &changed, node));
            writeln!(out, "(assert (not {root}))\n(check-sat)\n(pop)")?;
        }
        writeln!(out, "(pop)")
    }

    fn checks(
        &self,
        process: ProcessId,
        own: u32,
        step: &Step,
        out: &mut dyn Write,
    ) -> fmt::Result {
        let mut env = Env {
            own: Some((own, process)),
            bounds: Vec::new(),
        };
        let clauses = self.clauses((process, own), step, &mut env);
        for (at, (check, clause)) in clauses.iter().enumerate() {
            if !*check {
                continue;
            }
            let name = process_name(self.system, process);
            writeln!(out, "; a check of {name} holds\n(push)")?;
            declare_choices(step, out)?;
            let before = clauses[..at].iter().map(|(_, clause)| clause.clone());
            let parts = before
                .chain([format!("(not {clause})")])
                .chain(self.inside());
            for part in parts {
                writeln!(out, "(assert {part})")?;
            }
            writeln!(out, "(check-sat)\n(pop)")?;
        }
        Ok(())
    }

    fn deadlock(&self, out: &mut dyn Write) -> fmt::Result {
        let mut parts = self.inside();
        let mut unfinished = Vec::new();
        for template in &self.system.templates {
            for index in 0..template.count {
                let pc = self.system.cell(template.pc, index, 0).index();
                unfinished.push(format!("(not (= c{pc} {}))", template.done().raw()));
            }
        }
        parts.push(join("or", "false", unfinished));
        for (process, own, step) in self.steps() {
            if step.choices.iter().any(|(lo, hi)| lo > hi) {
                continue;
            }
            let mut env = Env {
                own: Some((own, process)),
                bounds: Vec::new(),
            };
            let clauses = self.clauses((process, own), step, &mut env);
            let texts: Vec<String> = clauses.iter().map(|(_, text)| text.clone()).collect();
            let mut acts = Vec::new();
            for (at, (check, clause)) in clauses.iter().enumerate() {
                if *check {
                    let mut all = texts[..at].to_vec();
                    all.push(format!("(not {clause})"));
                    acts.push(join("and", "true", all));
                }
            }
            if !step.rest {
                acts.push(join("and", "true", texts));
            }
            let acts = join("or", "false", acts);
            if step.choices.is_empty() {
                parts.push(format!("(not {acts})"));
                continue;
            }
            let mut variables = String::new();
            let mut all = Vec::new();
            for (choice, (lo, hi)) in step.choices.iter().enumerate() {
                variables.push_str(&format!("(k{choice} Int)"));
                let (lo, hi) = (Term::Number(*lo), Term::Number(*hi));
                all.push(format!("(<= {lo} k{choice} {hi})"));
            }
            all.push(acts);
            let body = join("and", "true", all);
            parts.push(format!("(not (exists ({variables}) {body}))"));
        }
        ask(out, "no state is a deadlock", &parts)
    }

    /// The cells that a place may be, each with the condition that it is, if that is not sure.
    fn targets(&self, place: &Place, env: &mut Env) -> Vec<(Option<String>, usize)> {
        let var = &self.system.vars[place.var];
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => self.system.templates[template].count,
        };
        let mut index = |expr: &Option<Expr>| match expr {
            Some(expr) => self.number(expr, env),
            None => Term::Number(0),
        };
        let (copy, offset) = (index(&place.process), index(&place.offset));
        let mut targets = Vec::new();
        for (c, copy_is) in positions(&copy, copies) {
            for (o, offset_is) in positions(&offset, var.len) {
                let parts: Vec<String> = copy_is.iter().chain(&offset_is).cloned().collect();
                let condition = (!parts.is_empty()).then(|| join("and", "true", parts));
                targets.push((condition, self.system.cell(place.var, c, o).index()));
            }
        }
        targets
    }

    /// An expression as a truth value.
    fn truth(&self, expr: &Expr, env: &mut Env) -> String {
        match expr {
            Expr::Not(inner) => format!("(not {})", self.truth(inner, env)),
            Expr::And(parts) => {
                let parts = parts.iter().map(|part| self.truth(part, env)).collect();
                join("and", "true", parts)
            }
            Expr::Or(parts) => {
                let parts = parts.iter().map(|part| self.truth(part, env)).collect();
                join("or", "false", parts)
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.number(a, env), self.number(b, env));
                match op {
                    CompareOp::Eq => format!("(= {a} {b})"),
                    CompareOp::Ne => format!("(not (= {a} {b}))"),
                    CompareOp::Lt => format!("(< {a} {b})"),
                    CompareOp::Le => format!("(<= {a} {b})"),
                    CompareOp::Gt => format!("(> {a} {b})"),
                    CompareOp::Ge => format!("(>= {a} {b})"),
                }
            }
            Expr::Ite(condition, yes, no) => {
                let condition = self.truth(condition, env);
                let (yes, no) = (self.truth(yes, env), self.truth(no, env));
                format!("(ite {condition} {yes} {no})")
            }
            Expr::Fold {
                kind: kind @ (FoldKind::Forall | FoldKind::Exists),
                bound,
                lo,
                hi,
                body,
            } => {
                let parts = self.each(*bound, (*lo, *hi), env, |env| self.truth(body, env));
                match kind {
                    FoldKind::Forall => join("and", "true", parts),
                    _ => join("or", "false", parts),
                }
            }
            _ => match self.number(expr, env) {
                Term::Number(number) => (number != 0).to_string(),
                Term::Text(text) => format!("(not (= {text} 0))"),
            },
        }
    }

    /// An expression as an integer.
    fn number(&self, expr: &Expr, env: &mut Env) -> Term {
        match expr {
            Expr::Const(value) => Term::Number(*value),
            Expr::Own => Term::Number(env.own.map_or(0, |(index, _)| i64::from(index))),
            Expr::OwnProcess => {
                Term::Number(env.own.map_or(-1, |(_, process)| i64::from(process.raw())))
            }
            Expr::Bound(bound) => {
                let value = env.bounds.iter().rev().find(|(other, _)| other == bound);
                Term::Number(value.map_or(0, |(_, value)| *value))
            }
            Expr::Choice(choice) => Term::Text(format!("k{choice}")),
            Expr::Load(place) => {
                let mut text = String::from("0");
                for (condition, cell) in self.targets(place, env).into_iter().rev() {
                    text = match condition {
                        None => format!("c{cell}"),
                        Some(condition) => format!("(ite {condition} c{cell} {text})"),
                    };
                }
                Term::Text(text)
            }
            Expr::Neg(inner) => match self.number(inner, env) {
                Term::Number(number) if number != i64::MIN => Term::Number(-number),
                term => Term::Text(format!("(- {term})")),
            },
            Expr::Arith(op, a, b) => {
                let (a, b) = (self.number(a, env), self.number(b, env));
                let name = match op {
                    ArithOp::Add => "+",
                    ArithOp::Sub => "-",
                    ArithOp::Mul => "*",
                    ArithOp::Div => "quotient",
                    ArithOp::Rem => "rest",
                    ArithOp::Min => "least",
                    ArithOp::Max => "greatest",
                };
                // Indices are mostly numbers, and numbers keep the text short.
                let known = match (op, &a, &b) {
                    (ArithOp::Add, Term::Number(a), Term::Number(b)) => a.checked_add(*b),
                    (ArithOp::Sub, Term::Number(a), Term::Number(b)) => a.checked_sub(*b),
                    (ArithOp::Mul, Term::Number(a), Term::Number(b)) => a.checked_mul(*b),
                    _ => None,
                };
                known.map_or_else(|| Term::Text(format!("({name} {a} {b})")), Term::Number)
            }
            Expr::Ite(condition, yes, no) => {
                let condition = self.truth(condition, env);
                let (yes, no) = (self.number(yes, env), self.number(no, env));
                Term::Text(format!("(ite {condition} {yes} {no})"))
            }
            Expr::Fold {
                kind: kind @ (FoldKind::Count | FoldKind::Sum | FoldKind::Min | FoldKind::Max),
                bound,
                lo,
                hi,
                body,
            } => {
                let name = match kind {
                    FoldKind::Min => "least",
                    FoldKind::Max => "greatest",
                    _ => "+",
                };
                let parts = self.each(*bound, (*lo, *hi), env, |env| self.number(body, env));
                parts
                    .into_iter()
                    .reduce(|so_far, part| Term::Text(format!("({name} {so_far} {part})")))
                    .unwrap_or(Term::Number(0))
            }
            _ => Term::Text(format!("(ite {} 1 0)", self.truth(expr, env))),
        }
    }

    /// The body of a quantifier for each value of its variable.
    fn each<T>(
        &self,
        bound: u32,
        (lo, hi): (i64, i64),
        env: &mut Env,
        mut body: impl FnMut(&mut Env) -> T,
    ) -> Vec<T> {
        let mut parts = Vec::new();
        for value in lo..=hi {
            env.bounds.push((bound, value));
            parts.push(body(env));
            env.bounds.pop();
        }
        parts
    }
}

/// The positions that an index may have, each with the condition that it has, if that is not sure.
fn positions(index: &Term, size: u32) -> Vec<(u32, Option<String>)> {
    match index {
        Term::Number(number) => {
            let inside = u32::try_from(*number).ok().filter(|at| *at < size);
            inside.map(|at| (at, None)).into_iter().collect()
        }
        Term::Text(text) => (0..size)
            .map(|at| (at, Some(format!("(= {text} {at})"))))
            .collect(),
    }
}

/// The name of a node of a part, for the state before a step.
fn before_name(part: usize, node: usize) -> String {
    format!("n{part}_{node}")
}

/// The same for the state after.
fn after_name(part: usize, changed: &[bool], node: usize) -> String {
    if changed[node] {
        format!("m{part}_{node}")
    } else {
        before_name(part, node)
    }
}

fn declare_choices(step: &Step, out: &mut dyn Write) -> fmt::Result {
    for (choice, (lo, hi)) in step.choices.iter().enumerate() {
        let (lo, hi) = (Term::Number(*lo), Term::Number(*hi));
        writeln!(out, "(declare-const k{choice} Int)")?;
        writeln!(out, "(assert (<= {lo} k{choice} {hi}))")?;
    }
    Ok(())
}

fn join(operator: &str, empty: &str, parts: Vec<String>) -> String {
    match parts.as_slice() {
        [] => empty.to_owned(),
        [only] => only.clone(),
        _ => format!("({operator} {})", parts.join(" ")),
    }
}

/// The question whether there is a state with all these parts.
fn ask(out: &mut dyn Write, what: &str, parts: &[String]) -> fmt::Result {
    writeln!(out, "; {what}\n(push)")?;
    for part in parts {
        writeln!(out, "(assert {part})")?;
    }
    writeln!(out, "(check-sat)\n(pop)")
}
