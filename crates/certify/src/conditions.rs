//! The conditions of an inductive set, and how they are decided.
//!
//! A set proves a property if
//! 1. it contains every initial state,
//! 2. no step of any process leads out of it (a step whose guards and checks hold; a run ends where
//!    a check fails),
//! 3. the property holds in all of it: the invariant is true; or no step can fail a check; or no state is a
//!    deadlock.
//!
//! Computations must not leave 64 bits in the set either, since what they give then is not known.
//!
//! Each condition is a question to one SAT solver, whether there is a state that breaks it. The steps are
//! those of the plain form: no check is left out, and no symmetry is used.

use threadwise_evidence::dag::Dag;
use threadwise_evidence::{Certificate, Claim};
use threadwise_lang::program::FoldKind;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::exclusion::AtMostOne;
use threadwise_model::instance::Instance;
use threadwise_model::layout::{process_name, unflatten};
use threadwise_model::names::Names;
use threadwise_model::system::{
    CellInitial, Expr, ProcessId, Scope, Step, System, SystemPropertyKind,
};

use crate::encode::{Encoder, Env};
use crate::fit;
use crate::graph::Graph;
use crate::rejection::{Condition, Error, Rejection, StepName};
use crate::solver::Lit;
use crate::step::{self, Mover, Taken};
use crate::value::MAX_VALUES;

/// What was decided on the way to accepting a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nodes of the decision graph.
    pub nodes: usize,
    /// Conditions that the solver decided.
    pub conditions: u64,
    /// Clauses that the solver was given.
    pub clauses: u64,
    /// Conflicts that the solver met.
    pub conflicts: u64,
}

/// Checks that a certificate proves a property of an instance. `cancel` is asked every few milliseconds
/// whether to give up.
pub fn check(
    instance: &Instance,
    certificate: &Certificate,
    property: &str,
    cancel: &dyn Fn() -> bool,
) -> Result<Report, Error> {
    let mut answers = check_all(instance, &[(certificate, property)], cancel);
    answers.pop().unwrap_or(Err(Error::Cancelled))
}

/// Checks several certificates of one instance, each for its property. Where they claim the same set, what does
/// not depend on the property is checked once. The counts of a report are those of all of them.
pub fn check_all(
    instance: &Instance,
    requests: &[(&Certificate, &str)],
    cancel: &dyn Fn() -> bool,
) -> Vec<Result<Report, Error>> {
    let system = match fit::plain(instance) {
        Ok(system) => system,
        Err(error) => return vec![Err(error); requests.len()],
    };
    let mut answers: Vec<Option<Result<Report, Error>>> = vec![None; requests.len()];
    for first in 0..requests.len() {
        if answers[first].is_some() {
            continue;
        }
        let claim = &requests[first].0.claim;
        let mut group = Vec::new();
        for (at, (certificate, property)) in requests.iter().enumerate().skip(first) {
            if answers[at].is_none() && certificate.claim == *claim {
                match property_of(&system, certificate, property) {
                    Ok(kind) => group.push((at, *property, kind)),
                    Err(error) => answers[at] = Some(Err(error)),
                }
            }
        }
        let properties: Vec<_> = group.iter().map(|(_, name, kind)| (*name, *kind)).collect();
        let checked = check_claim(instance, &system, claim, &properties, cancel);
        for ((at, ..), answer) in group.into_iter().zip(checked) {
            answers[at] = Some(answer);
        }
    }
    answers
        .into_iter()
        .map(|answer| answer.unwrap_or(Err(Error::Cancelled)))
        .collect()
}

/// The property that a certificate is asked about, if it is one that an inductive set can prove.
fn property_of<'s>(
    system: &'s System,
    certificate: &Certificate,
    property: &str,
) -> Result<&'s SystemPropertyKind, Error> {
    fit::envelope(system, certificate, property)?;
    let found = system
        .properties
        .iter()
        .find(|known| known.name == property);
    match found.map(|found| &found.kind) {
        None => Err(Error::mismatch(format!(
            "the model has no property `{property}`"
        ))),
        Some(SystemPropertyKind::Liveness(_)) => Err(Error::mismatch(format!(
            "`{property}` is a liveness property, which an inductive set does not prove"
        ))),
        Some(kind) => Ok(kind),
    }
}

/// Checks one claim for several properties.
fn check_claim(
    instance: &Instance,
    system: &System,
    claim: &Claim,
    properties: &[(&str, &SystemPropertyKind)],
    cancel: &dyn Fn() -> bool,
) -> Vec<Result<Report, Error>> {
    let checks = properties
        .iter()
        .any(|(_, kind)| matches!(kind, SystemPropertyKind::Checks));
    let closed = Checker::new(instance, system, claim, cancel).and_then(|mut checker| {
        checker.initial()?;
        // Properties come last: formulas over all processes would slow down the many questions about steps.
        let failing = checker.steps(checks)?;
        Ok((checker, failing))
    });
    let (mut checker, failing) = match closed {
        Ok(closed) => closed,
        Err(error) => return vec![Err(error); properties.len()],
    };
    let each = properties.iter().map(|(name, kind)| {
        match kind {
            SystemPropertyKind::Invariant(expr) => checker.invariant(name, expr)?,
            SystemPropertyKind::DeadlockFree => checker.deadlock()?,
            SystemPropertyKind::Checks => failing.clone().map_or(Ok(()), Err)?,
            SystemPropertyKind::Liveness(_) => {}
        }
        Ok(checker.report())
    });
    each.collect()
}

struct Checker<'a> {
    instance: &'a Instance,
    system: &'a System,
    dag: &'a Dag,
    /// The cell of the system that each cell of the graph is.
    cells: Vec<usize>,
    encoder: Encoder<'a>,
    graph: Graph<'a>,
    cancel: &'a dyn Fn() -> bool,
    /// What solvers before the present one counted.
    before: Report,
}

/// How many clauses parts of a property may add before the solver starts anew.
const FRESH: u64 = 50_000;

impl<'a> Checker<'a> {
    fn new(
        instance: &'a Instance,
        system: &'a System,
        claim: &'a Claim,
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<Checker<'a>, Error> {
        let dag = match claim {
            Claim::Inductive(dag) => dag,
            _ => return Err(Error::unsupported("this kind of claim is not known")),
        };
        let cells = fit::cells(system, dag)?;
        let mut encoder = Encoder::new(system, cancel)?;
        let graph = Graph::new(&mut encoder, dag, cells.clone())?;
        Ok(Checker {
            instance,
            system,
            dag,
            cells,
            encoder,
            graph,
            cancel,
            before: Report::default(),
        })
    }

    fn report(&self) -> Report {
        let (clauses, conditions, conflicts) = self.encoder.solver.counts();
        Report {
            nodes: self.dag.len(),
            conditions: self.before.conditions + conditions,
            clauses: self.before.clauses + clauses,
            conflicts: self.before.conflicts + conflicts,
        }
    }

    fn initial(&mut self) -> Result<(), Error> {
        let mut assumptions = vec![self.graph.outside()];
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
                let own = first.map(|first| (copy, first + copy as usize));
                let mut env = Env::new(own, Vec::new());
                let (value, overflow) = self.encoder.expr(expr, &mut env)?;
                if overflow != Lit::FALSE {
                    return Err(Error::unsupported("an initial value leaves 64 bits"));
                }
                for offset in 0..var.len {
                    let cell = self.system.cell(id, copy, offset).index();
                    for (value, lit) in self.encoder.values.items(value).iter() {
                        if *lit != Lit::TRUE {
                            return Err(Error::unsupported("an initial value is not constant"));
                        }
                        assumptions.push(self.encoder.cell_is(cell, *value));
                    }
                }
            }
        }
        // A value outside the type would make the condition true for no good reason.
        if assumptions[1..].contains(&Lit::FALSE) {
            return Err(Error::unsupported(
                "an initial value is outside its variable's type",
            ));
        }
        if self.encoder.solver.satisfiable(&assumptions)? {
            let state = self.encoder.solution();
            let confirmed = !self.contains(&state);
            return self.reject(confirmed, Condition::Initial, &state, None);
        }
        Ok(())
    }

    /// That an invariant holds. A conjunction over all processes is asked for in parts, with a new solver each: a
    /// question costs as much as all that the solver was told before.
    fn invariant(&mut self, name: &str, expr: &Expr) -> Result<(), Error> {
        let mut open = vec![(expr, Env::default())];
        let mut wrong = Vec::new();
        let (mut last, ..) = self.encoder.solver.counts();
        while let Some((part, mut env)) = open.pop() {
            if env.is_empty()
                && let Some(exclusion) = AtMostOne::of(part)
                && i128::from(exclusion.hi) - i128::from(exclusion.lo) < MAX_VALUES as i128
            {
                wrong.extend(self.two_of(&exclusion)?);
                continue;
            }
            match part {
                Expr::And(parts) => {
                    open.extend(parts.iter().rev().map(|part| (part, env.clone())));
                    continue;
                }
                Expr::Fold {
                    kind: FoldKind::Forall,
                    bound,
                    lo,
                    hi,
                    body,
                } if env.is_empty() && i128::from(*hi) - i128::from(*lo) < MAX_VALUES as i128 => {
                    let values = (*lo..=*hi).rev();
                    open.extend(values.map(|value| (&**body, env.with(*bound, value))));
                    continue;
                }
                _ => {}
            }
            let (holds, overflow) = self.encoder.condition(part, &mut env)?;
            // Where no part before is wrong, this one is evaluated.
            wrong.extend([!holds, overflow]);
            let (clauses, ..) = self.encoder.solver.counts();
            if clauses - last > FRESH && !open.is_empty() {
                self.property(name, expr, std::mem::take(&mut wrong))?;
                self.renew()?;
                last = self.encoder.solver.counts().0;
            }
        }
        self.property(name, expr, wrong)
    }

    /// What makes "at most one" wrong: some value, and one before it; or a computation that leaves 64 bits.
    fn two_of(&mut self, exclusion: &AtMostOne) -> Result<Vec<Lit>, Error> {
        let mut wrong = Vec::new();
        let mut before = Lit::FALSE;
        for value in exclusion.lo..=exclusion.hi {
            let mut env = Env::default().with(exclusion.bound, value);
            let (holds, overflow) = self.encoder.condition(&exclusion.body, &mut env)?;
            let solver = &mut self.encoder.solver;
            wrong.extend([overflow, solver.and(before, holds)]);
            before = solver.or(before, holds);
        }
        Ok(wrong)
    }

    /// That none of these, which make a property wrong, is true in the set.
    fn property(&mut self, name: &str, expr: &Expr, wrong: Vec<Lit>) -> Result<(), Error> {
        let wrong = self.encoder.solver.any(wrong);
        let inside = self.graph.inside();
        if !self.encoder.solver.satisfiable(&[inside, wrong])? {
            return Ok(());
        }
        let state = self.encoder.solution();
        let (condition, wrong) = match Context::of_state(self.system, &state).holds(expr) {
            Ok(holds) => (Condition::Property(name.to_owned()), !holds),
            Err(eval::Overflow) => (Condition::Overflow(None), true),
        };
        let confirmed = self.contains(&state) && wrong;
        self.reject(confirmed, condition, &state, None)
    }

    /// Begins with a new solver, which knows the state and the graph only.
    fn renew(&mut self) -> Result<(), Error> {
        let (clauses, conditions, conflicts) = self.encoder.solver.counts();
        self.before.clauses += clauses;
        self.before.conditions += conditions;
        self.before.conflicts += conflicts;
        self.encoder = Encoder::new(self.system, self.cancel)?;
        self.graph = Graph::new(&mut self.encoder, self.dag, self.cells.clone())?;
        Ok(())
    }

    fn deadlock(&mut self) -> Result<(), Error> {
        let mut assumptions = vec![self.graph.inside()];
        let mut unfinished = Vec::new();
        for (mover, steps) in self.movers() {
            let template = &self.system.templates[self.system.template_of(mover.process)];
            let done = i64::from(template.done().raw());
            unfinished.push(!self.encoder.cell_is(mover.pc, done));
            for step in steps {
                assumptions.push(!step::acts(&mut self.encoder, mover, step)?);
            }
        }
        assumptions.push(self.encoder.solver.any(unfinished));
        if self.encoder.solver.satisfiable(&assumptions)? {
            let state = self.encoder.solution();
            let confirmed = self.contains(&state) && self.is_deadlock(&state);
            return self.reject(confirmed, Condition::Deadlock, &state, None);
        }
        Ok(())
    }

    fn is_deadlock(&self, state: &[i64]) -> bool {
        let mut processes = self.movers().into_iter().map(|(mover, _)| mover.process);
        let resting = processes.clone().all(|process| {
            let outcomes = eval::outcomes(self.system, state, process);
            outcomes.iter().all(|outcome| *outcome == Outcome::Rest)
        });
        resting && processes.any(|process| eval::active(self.system, state, process).is_some())
    }

    /// That no step leads out of the set, or leaves 64 bits. If asked, finds one that fails a check.
    fn steps(&mut self, checks: bool) -> Result<Option<Error>, Error> {
        let mut failing = None;
        for (mover, steps) in self.movers() {
            for step in steps {
                self.encoder.solver.go_on()?;
                let Some(mut taken) = step::take(&mut self.encoder, mover, step)? else {
                    continue;
                };
                let cases = if step.rest || taken.passes == Lit::FALSE {
                    Vec::new()
                } else {
                    step::writes(&mut self.encoder, mover, step, &mut taken)?
                };
                let inside = self.graph.inside();
                if taken.overflows != Lit::FALSE {
                    let assumptions = [inside, taken.overflows];
                    self.ask(&assumptions, mover, step, &taken)?;
                }
                if checks && failing.is_none() && taken.fails != Lit::FALSE {
                    match self.ask(&[inside, taken.fails], mover, step, &taken) {
                        Err(error @ Error::Rejected(_)) => failing = Some(error),
                        other => other?,
                    }
                }
                for case in cases {
                    let leaves = self.graph.leaves(&mut self.encoder, &case.writes)?;
                    let wrong = self.encoder.solver.or(leaves, case.outside);
                    if wrong != Lit::FALSE {
                        let assumptions = [inside, taken.passes, case.when, wrong];
                        self.ask(&assumptions, mover, step, &taken)?;
                    }
                    // The solver may forget what was said for this case alone.
                    self.encoder.solver.clause([!leaves]);
                }
            }
        }
        Ok(failing)
    }

    /// Asks for a state in which a step does something wrong, and finds out what.
    fn ask(
        &mut self,
        assumptions: &[Lit],
        mover: Mover,
        step: &Step,
        taken: &Taken,
    ) -> Result<(), Error> {
        if !self.encoder.solver.satisfiable(assumptions)? {
            return Ok(());
        }
        let state = self.encoder.solution();
        let solver = &self.encoder.solver;
        let choices: Vec<i64> = taken
            .choices
            .iter()
            .map(|choice| choice.solution(solver))
            .collect();
        let context = Context {
            system: self.system,
            state: &state,
            process: Some(mover.process),
            choices: &choices,
        };
        let name = self.name(mover.process, step);
        let inside = self.contains(&state);
        match context.step(step) {
            Some(Outcome::Move(next)) => {
                let confirmed = inside && !self.contains(&next);
                self.reject(confirmed, Condition::Step(name), &state, Some(&next))
            }
            Some(Outcome::Failure(kind, span)) => {
                let condition = Condition::Check {
                    step: name,
                    check: kind.into(),
                    span,
                };
                self.reject(inside, condition, &state, None)
            }
            Some(Outcome::Overflow) => {
                self.reject(inside, Condition::Overflow(Some(name)), &state, None)
            }
            _ => self.reject(false, Condition::Step(name), &state, None),
        }
    }

    /// Every process with its steps.
    fn movers(&self) -> Vec<(Mover, Vec<&'a Step>)> {
        let mut movers = Vec::new();
        for template in &self.system.templates {
            for index in 0..template.count {
                let mover = Mover {
                    process: template.first + index as usize,
                    index,
                    pc: self.system.cell(template.pc, index, 0).index(),
                };
                movers.push((mover, template.steps.iter().flatten().collect()));
            }
        }
        movers
    }

    fn contains(&self, state: &[i64]) -> bool {
        self.dag.contains(|cell| {
            let cell = self.cells[cell];
            let position = i128::from(state[cell]) - i128::from(self.encoder.cells[cell].lo);
            // What lies below the type has no child either.
            u64::try_from(position).unwrap_or(u64::MAX)
        })
    }

    fn name(&self, process: ProcessId, step: &Step) -> StepName {
        let template = &self.system.templates[self.system.template_of(process)];
        StepName {
            process: process_name(self.system, process),
            from: template.locations[step.from].clone(),
            to: template.locations[step.to].clone(),
            span: step.span,
        }
    }

    /// Rejects the certificate because of a state that the evaluator has confirmed.
    fn reject(
        &self,
        confirmed: bool,
        condition: Condition,
        state: &[i64],
        next: Option<&[i64]>,
    ) -> Result<(), Error> {
        let names = Names::new(self.instance);
        let describe = |cells: &[i64]| -> Vec<(String, String)> {
            let state = unflatten(self.system, cells);
            let locations = names.locations(&state).into_iter();
            let locations = locations.map(|(process, label)| (process, label.to_owned()));
            let cells = names.cells(&state).into_iter();
            let cells = cells.map(|(name, value)| (name, value.to_string()));
            locations.chain(cells).collect()
        };
        let state = describe(state);
        let changes = next.map_or_else(Vec::new, |next| {
            let next = describe(next).into_iter().zip(&state);
            next.filter(|(new, old)| new != *old)
                .map(|(new, _)| new)
                .collect()
        });
        let rejection = Rejection {
            condition,
            state,
            changes,
        };
        if confirmed {
            Err(Error::Rejected(Box::new(rejection)))
        } else {
            Err(Error::unsupported(format!(
                "the checker's encoding and its evaluator do not agree, on this: {rejection}"
            )))
        }
    }
}
