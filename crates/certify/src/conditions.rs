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
//! Each condition is a question, whether there is a state that breaks it. There are three ways to answer: `each` goes through the claimed
//! states if these are few; `walk` is quick for what engines write, and what it cannot answer goes to a SAT solver (`graph`). The steps are those of
//! the plain form: no check is left out, and no symmetry is used.
//!
//! A set can be claimed as a conjunction of parts. Then conditions 1 and 2 are asked for each part: every initial state is in it; no step from a
//! state in all parts leads out of it, and a step that writes no cell of a part needs no question. A question may rely on all parts, and
//! is first asked with few (`parts`).

use std::collections::BTreeMap;

use threadwise_evidence::dag::Dag;
use threadwise_lang::program::{CompareOp, FoldKind};
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::system::{
    CellInitial, Expr, ProcessId, Scope, Step, System, SystemPropertyKind,
};
use threadwise_model::temporal::Liveness;

use crate::encode::{Encoder, Env, Finite};
use crate::logic::{Lit, Logic};
use crate::parts::{Parts, Processes};
use crate::procedure::Procedure;
use crate::rejection::{Condition, Error, refused};
use crate::report::{Method, Report, Subject};
use crate::step::{self, Case, Mover, Taken};
use crate::value::MAX_VALUES;

/// Checks a claim by one method. `closed` says whether all that does not depend on properties is known to hold; `fair` checks what it says about fair runs.
pub(crate) fn decide<'a, P: Procedure<'a>>(
    method: Method,
    subject: Subject<'a>,
    parts: &'a Parts<'a>,
    properties: &[(&str, &SystemPropertyKind)],
    closed: &mut bool,
    fair: &dyn Fn(&Liveness) -> Result<Report, Error>,
) -> Vec<Result<Report, Error>> {
    let checks = properties
        .iter()
        .any(|(_, kind)| matches!(kind, SystemPropertyKind::Checks));
    let begun = Checker::<P>::new(method, subject, parts).and_then(|mut checker| {
        // Whether checks fail is found out along with the steps.
        let mut failing = None;
        if !*closed || checks {
            checker.initial()?;
            // Properties come last: formulas over all processes would slow down the many questions about steps.
            failing = checker.steps(checks)?;
            checker.encoder.logic.go_on()?;
        }
        Ok((checker, failing))
    });
    let (mut checker, failing) = match begun {
        Ok(begun) => begun,
        Err(error) => return vec![Err(error); properties.len()],
    };
    *closed = true;
    let each = properties.iter().map(|(name, kind)| {
        let mut more = Report::default();
        match kind {
            SystemPropertyKind::Invariant(expr) => checker.invariant(name, expr)?,
            SystemPropertyKind::DeadlockFree => checker.deadlock()?,
            SystemPropertyKind::Checks => failing.clone().map_or(Ok(()), Err)?,
            SystemPropertyKind::Liveness(liveness) => more = fair(liveness)?,
        }
        // Beyond a limit formulas mean nothing, so nothing is accepted there.
        checker.encoder.logic.go_on()?;
        Ok(checker.report().and(more))
    });
    each.collect()
}

struct Checker<'a, P: Procedure<'a>> {
    subject: Subject<'a>,
    system: &'a System,
    parts: &'a Parts<'a>,
    encoder: Encoder<'a, P::Logic>,
    sets: P,
    method: Method,
    /// What solvers before the present one counted.
    before: Report,
}

/// `forall i, j: i == j || !(X(i) && Y(j))`, which mutual exclusion looks like. Built term by term it takes as much as there are pairs; by values it takes as
/// much as these.
struct Exclusion<'e> {
    lo: i64,
    hi: i64,
    /// The bound variable of each side, and what is said of it.
    sides: [(u32, Vec<&'e Expr>); 2],
}

impl<'e> Exclusion<'e> {
    fn of(expr: &'e Expr) -> Option<Exclusion<'e>> {
        let forall = |expr: &'e Expr| match expr {
            Expr::Fold {
                kind: FoldKind::Forall,
                bound,
                lo,
                hi,
                body,
            } => Some((*bound, (*lo, *hi), &**body)),
            _ => None,
        };
        let (i, (lo, hi), body) = forall(expr)?;
        let (j, bounds, body) = forall(body)?;
        let Expr::Or(either) = body else { return None };
        let [Expr::Compare(CompareOp::Eq, a, b), Expr::Not(both)] = either.as_slice() else {
            return None;
        };
        let (Expr::And(parts), Expr::Bound(a), Expr::Bound(b)) = (&**both, &**a, &**b) else {
            return None;
        };
        if i == j || bounds != (lo, hi) || ![(i, j), (j, i)].contains(&(*a, *b)) {
            return None;
        }
        let mut sides = [(i, Vec::new()), (j, Vec::new())];
        for part in parts {
            let mut mentioned = [false; 2];
            step::leaves(part, &mut |leaf| {
                mentioned[0] |= *leaf == Expr::Bound(i);
                mentioned[1] |= *leaf == Expr::Bound(j);
            });
            match mentioned {
                [true, true] => return None,
                [_, second] => sides[usize::from(second)].1.push(part),
            }
        }
        Some(Exclusion { lo, hi, sides })
    }
}

/// What makes a property wrong, by the processes that it is about.
type Wrong = BTreeMap<Processes, Vec<Lit>>;

/// How many clauses parts of a property may add before the solver starts anew.
const FRESH: u64 = 50_000;

impl<'a, P: Procedure<'a>> Checker<'a, P> {
    fn new(
        method: Method,
        subject: Subject<'a>,
        parts: &'a Parts<'a>,
    ) -> Result<Checker<'a, P>, Error> {
        let (encoder, sets) = P::new(subject.system, parts.list(), subject.cancel)?;
        Ok(Checker {
            subject,
            system: subject.system,
            parts,
            encoder,
            sets,
            method,
            before: Report::default(),
        })
    }

    fn report(&self) -> Report {
        let nodes = self.parts.list().iter().map(|part| part.dag.len()).sum();
        let counted = Report::counted(self.method, nodes, self.encoder.logic.counts());
        Report {
            nodes: 0,
            ..self.before
        }
        .and(counted)
    }

    /// Whether there is a state in which all of these are true.
    fn satisfiable(&mut self, all: &[Lit]) -> Result<bool, Error> {
        self.encoder.logic.satisfiable(all, &[Lit::TRUE])
    }

    /// The first literals, and that the state before is in these parts.
    fn within(&self, parts: &[usize], all: &[Lit]) -> Vec<Lit> {
        let inside = parts.iter().map(|part| self.sets.inside(*part));
        inside.chain(all.iter().copied()).collect()
    }

    /// Whether there is a state in all parts in which all of the first and one of the second are true; these are about some
    /// processes.
    fn possible(
        &mut self,
        about: &[ProcessId],
        all: &[Lit],
        one_of: &[Lit],
    ) -> Result<bool, Error> {
        // What is never true is about nobody, and would be asked of all parts.
        if one_of.iter().all(|lit| *lit == Lit::FALSE) {
            return Ok(false);
        }
        for parts in self.parts.rounds(about, None) {
            let all = self.within(&parts, all);
            if !self.encoder.logic.satisfiable(&all, one_of)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn initial(&mut self) -> Result<(), Error> {
        let initial = initial(self.system, &mut self.encoder)?;
        for (at, part) in self.parts.list().iter().enumerate() {
            let outside = self.sets.outside(at);
            let mut assumptions = vec![outside];
            match self.system.initially.is_empty() {
                true => assumptions.extend(part.tested.iter().map(|cell| initial[*cell])),
                false => assumptions.extend(&initial),
            }
            // The other cells have initial values, whatever these are: the second question is for a state to show.
            if self.satisfiable(&assumptions)? {
                assumptions.truncate(1);
                assumptions.extend(&initial);
                let confirmed = self.satisfiable(&assumptions)?;
                let state = self.encoder.solution();
                let confirmed = confirmed && !self.contains(&state);
                return self.reject(confirmed, Condition::Initial, &state, None);
            }
        }
        Ok(())
    }

    /// That an invariant holds. A conjunction over all processes is asked for in parts, with a new solver each: a
    /// question costs as much as all that the solver was told before.
    fn invariant(&mut self, name: &str, expr: &Expr) -> Result<(), Error> {
        let mut open = vec![(expr, Env::default())];
        let mut wrong = Wrong::new();
        let mut last = self.encoder.logic.counts().clauses;
        while let Some((part, mut env)) = open.pop() {
            if env.is_empty()
                && let Some(exclusion) = Exclusion::of(part)
                && i128::from(exclusion.hi) - i128::from(exclusion.lo) < MAX_VALUES as i128
            {
                self.two_of(exclusion, &mut wrong)?;
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
            let (about, holds, overflow) = self.condition(part, &mut env)?;
            // Where no part before is wrong, this one is evaluated.
            wrong.entry(about).or_default().extend([!holds, overflow]);
            let clauses = self.encoder.logic.counts().clauses;
            if clauses - last > FRESH && !open.is_empty() {
                self.property(name, expr, std::mem::take(&mut wrong))?;
                self.renew()?;
                last = self.encoder.logic.counts().clauses;
            }
        }
        self.property(name, expr, wrong)
    }

    /// The processes that a condition is about, as far as that matters; whether it holds; whether finding out leaves 64 bits.
    fn condition(&mut self, expr: &Expr, env: &mut Env) -> Result<(Processes, Lit, Lit), Error> {
        self.encoder.mentioned.clear();
        let (holds, overflow) = self.encoder.condition(expr, env)?;
        let about = std::mem::take(&mut self.encoder.mentioned);
        // Without a choice of parts all questions are alike.
        let about = about.into_iter().filter(|_| !self.parts.is_whole());
        Ok((about.collect(), holds, overflow))
    }

    /// What makes an exclusion wrong: the one of some value and the other of another; or a computation that leaves 64 bits.
    fn two_of(&mut self, exclusion: Exclusion<'_>, wrong: &mut Wrong) -> Result<(), Error> {
        let mut bodies: [Vec<(Processes, Lit)>; 2] = [Vec::new(), Vec::new()];
        let mut twice = Vec::new();
        let mut before = [Lit::FALSE; 2];
        let sides = exclusion.sides.map(|(bound, parts)| {
            let parts: Vec<Expr> = parts.into_iter().cloned().collect();
            (bound, Expr::And(parts))
        });
        for value in exclusion.lo..=exclusion.hi {
            let mut holds = [Lit::FALSE; 2];
            for (side, (bound, body)) in sides.iter().enumerate() {
                let mut env = Env::default().with(*bound, value);
                let (about, lit, overflow) = self.condition(body, &mut env)?;
                wrong.entry(about.clone()).or_default().push(overflow);
                bodies[side].push((about, lit));
                holds[side] = lit;
            }
            let logic = &mut self.encoder.logic;
            twice.push(logic.and(before[0], holds[1]));
            twice.push(logic.and(before[1], holds[0]));
            before = [0, 1].map(|side| logic.or(before[side], holds[side]));
        }
        twice.dedup();
        if self.parts.is_whole() {
            wrong.entry(Vec::new()).or_default().extend(twice);
            return Ok(());
        }
        // What is said of the program as a whole may exclude them all at once; otherwise it is asked for every two.
        let general = self.within(&self.parts.general(), &[]);
        if self.encoder.logic.satisfiable(&general, &twice)? {
            let [first, second] = &bodies;
            for (at, (about, holds)) in first.iter().enumerate() {
                // If both are the same, every two are met once.
                let others = match first == second {
                    true => &second[..at],
                    false => second,
                };
                for (_, (other, also)) in others.iter().enumerate().filter(|(to, _)| *to != at) {
                    let mut about: Processes = about.iter().chain(other).copied().collect();
                    about.sort_unstable();
                    about.dedup();
                    let both = self.encoder.logic.and(*holds, *also);
                    wrong.entry(about).or_default().push(both);
                }
            }
        }
        Ok(())
    }

    /// That none of these, which make a property wrong, is true in the set.
    fn property(&mut self, name: &str, expr: &Expr, wrong: Wrong) -> Result<(), Error> {
        let mut found = false;
        for (about, lits) in wrong {
            found = self.possible(&about, &[], &lits)?;
            if found {
                break;
            }
        }
        if !found {
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

    /// Begins with a new solver, which knows the state and the graphs only.
    fn renew(&mut self) -> Result<(), Error> {
        self.before = self.report();
        let subject = self.subject;
        (self.encoder, self.sets) = P::new(subject.system, self.parts.list(), subject.cancel)?;
        Ok(())
    }

    fn deadlock(&mut self) -> Result<(), Error> {
        let mut assumptions = Vec::new();
        let mut unfinished = Vec::new();
        for (mover, steps) in step::movers(self.system) {
            let template = &self.system.templates[self.system.template_of(mover.process)];
            let done = i64::from(template.done().raw());
            unfinished.push(!self.encoder.cell_is(mover.pc, done));
            for step in steps {
                assumptions.push(!step::acts(&mut self.encoder, mover, step, false)?);
            }
        }
        assumptions.push(self.encoder.logic.any(unfinished));
        if self.possible(&[], &assumptions, &[Lit::TRUE])? {
            let state = self.encoder.solution();
            let confirmed = self.contains(&state) && self.is_deadlock(&state);
            return self.reject(confirmed, Condition::Deadlock, &state, None);
        }
        Ok(())
    }

    fn is_deadlock(&self, state: &[i64]) -> bool {
        let mut processes = step::movers(self.system)
            .into_iter()
            .map(|(mover, _)| mover.process);
        let resting = processes.clone().all(|process| {
            let outcomes = eval::outcomes(self.system, state, process);
            outcomes.iter().all(|outcome| *outcome == Outcome::Rest)
        });
        resting && processes.any(|process| eval::active(self.system, state, process).is_some())
    }

    /// That no step leads out of the set, or leaves 64 bits. If asked, finds one that fails a check.
    fn steps(&mut self, checks: bool) -> Result<Option<Error>, Error> {
        let mut failing = None;
        for (mover, steps) in step::movers(self.system) {
            for step in steps {
                self.encoder.logic.go_on()?;
                let Some(mut taken) = step::take(&mut self.encoder, mover, step)? else {
                    continue;
                };
                let cases = if step.rest || taken.passes == Lit::FALSE {
                    Vec::new()
                } else {
                    step::writes(&mut self.encoder, mover, step, &mut taken)?
                };
                if taken.overflows != Lit::FALSE {
                    self.ask(&[taken.overflows], mover, step, &taken)?;
                }
                if checks && failing.is_none() && taken.fails != Lit::FALSE {
                    match self.ask(&[taken.fails], mover, step, &taken) {
                        Err(error @ Error::Rejected(_)) => failing = Some(error),
                        other => other?,
                    }
                }
                for case in cases {
                    let outside = [taken.passes, case.when, case.outside];
                    if case.outside != Lit::FALSE {
                        self.ask(&outside, mover, step, &taken)?;
                    }
                    let written = case.writes.iter().map(|(cell, _)| *cell);
                    for part in self.parts.testing(written) {
                        if self.leaves(part, mover, &taken, &case)? {
                            self.refuse(mover, step, &taken)?;
                        }
                    }
                }
            }
        }
        Ok(failing)
    }

    /// Whether a step leads out of a part, from a state in all parts.
    fn leaves(
        &mut self,
        part: usize,
        mover: Mover,
        taken: &Taken,
        case: &Case,
    ) -> Result<bool, Error> {
        let when = [taken.passes];
        let about = self.parts.concerned(part, mover.process);
        for within in self.parts.rounds(&about, Some(part)) {
            let encoder = &mut self.encoder;
            if !self.sets.leaves(encoder, &when, &within, part, case)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks for a state in all parts in which a step does something wrong.
    fn ask(
        &mut self,
        assumptions: &[Lit],
        mover: Mover,
        step: &Step,
        taken: &Taken,
    ) -> Result<(), Error> {
        if self.possible(&[mover.process], assumptions, &[Lit::TRUE])? {
            self.refuse(mover, step, taken)?;
        }
        Ok(())
    }

    /// Finds out what a step does wrong in the state found last.
    fn refuse(&self, mover: Mover, step: &Step, taken: &Taken) -> Result<(), Error> {
        let state = self.encoder.solution();
        let logic = &self.encoder.logic;
        let choices: Vec<i64> = taken
            .choices
            .iter()
            .map(|choice| choice.solution(logic))
            .collect();
        let context = Context {
            system: self.system,
            state: &state,
            process: Some(mover.process),
            choices: &choices,
        };
        let name = self.subject.name(mover.process, step);
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

    fn contains(&self, state: &[i64]) -> bool {
        let mut parts = self.parts.list().iter();
        parts.all(|part| contains(&self.encoder.cells, part.dag, &part.cells, state))
    }

    /// Rejects the certificate because of a state that the evaluator has confirmed.
    fn reject(
        &self,
        confirmed: bool,
        condition: Condition,
        state: &[i64],
        next: Option<&[i64]>,
    ) -> Result<(), Error> {
        let next = next.map(|next| self.subject.describe(next));
        reject(confirmed, condition, self.subject.describe(state), next)
    }
}

/// That each cell of a system has an initial value, and then what `initially` says.
pub(crate) fn initial(
    system: &System,
    encoder: &mut Encoder<'_, impl Logic>,
) -> Result<Vec<Lit>, Error> {
    let mut initial = vec![Lit::TRUE; system.cells];
    for (id, var) in system.vars.iter_enumerated() {
        let CellInitial::Value(expr) = &var.initial else {
            continue;
        };
        let (copies, first) = match var.scope {
            Scope::Shared => (1, None),
            Scope::Local(template) => {
                let template = &system.templates[template];
                (template.count, Some(template.first))
            }
        };
        for copy in 0..copies {
            let own = first.map(|first| (copy, first + copy as usize));
            let mut env = Env::new(own, Vec::new());
            let (value, overflow) = encoder.expr(expr, &mut env)?;
            if overflow != Lit::FALSE {
                return Err(Error::unsupported("an initial value leaves 64 bits"));
            }
            for offset in 0..var.len {
                let cell = system.cell(id, copy, offset).index();
                for (value, lit) in encoder.values.items(value).iter() {
                    if *lit != Lit::TRUE {
                        return Err(Error::unsupported("an initial value is not constant"));
                    }
                    initial[cell] = encoder.cell_is(cell, *value);
                }
            }
        }
    }
    // A value outside the type would make the condition true for no good reason.
    if initial.contains(&Lit::FALSE) {
        return Err(Error::unsupported(
            "an initial value is outside its variable's type",
        ));
    }
    for predicate in &system.initially {
        let (holds, overflow) = encoder.condition(predicate, &mut Env::default())?;
        // A state in which evaluating it leaves 64 bits is not initial.
        initial.push(encoder.logic.and(holds, !overflow));
    }
    if initial.contains(&Lit::FALSE) {
        return Err(Error::unsupported("no state satisfies `initially`"));
    }
    Ok(initial)
}

/// Whether a state is in the set of a graph. With it come the cells that its own are.
pub(crate) fn contains(types: &[Finite], dag: &Dag, cells: &[usize], state: &[i64]) -> bool {
    dag.contains(|cell| {
        let cell = cells[cell];
        let position = i128::from(state[cell]) - i128::from(types[cell].lo);
        // What lies below the type has no child either.
        u64::try_from(position).unwrap_or(u64::MAX)
    })
}

/// Rejects a certificate because of a state, and perhaps the one after it, if an evaluator has confirmed it.
pub(crate) fn reject(
    confirmed: bool,
    condition: Condition,
    state: Vec<(String, String)>,
    next: Option<Vec<(String, String)>>,
) -> Result<(), Error> {
    let refused = refused(condition, state, next);
    if confirmed {
        return Err(refused);
    }
    Err(Error::unsupported(format!(
        "the checker's encoding and its evaluator do not agree, on this: {refused}"
    )))
}
