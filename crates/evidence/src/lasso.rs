//! Runs without end: a stem, then a loop for ever, fair and against a liveness property.
//!
//! After `n` steps the state is the one after `from` steps, and the run goes on as it did from there. But `taken` asks about the last
//! step, and that is another one when the loop is entered than when it comes round. So the positions of the run are those after 0 to `n` steps, and the
//! one after `n` is followed by the one after `from + 1`: the loop is the positions `from + 1` to `n`, and each has one step before it.
//!
//! Formulas and fairness are evaluated on the program as it was written, by the interpreter, and so share nothing with the engine that found the run.

use std::collections::BTreeSet;

use threadwise_lang::program::{
    BoundId, Expr, FairnessId, LocationId, Ltl, Program, Property, PropertyKind, Span,
};
use threadwise_lang::source::SourceLines;
use threadwise_model::expression::{Failure, Limit};
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Judgement, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};
use threadwise_model::temporal::{self, Atom, Fairness, FairnessKind, Formula, TooLarge};

use crate::replay::ReplayError;
use crate::trace::{
    Assumption, Because, FailedCheck, FairnessName, Lasso, Met, Part, Trace, Valuation,
};

/// The states that a run goes through, with what `taken` asks about.
#[derive(Debug)]
pub(crate) struct Walk {
    /// Whether all of them are kept, or the last one only.
    whole: bool,
    /// Where nothing happens one moment lasts for several steps.
    moments: Vec<Moment>,
    /// The moment after 0, 1, .. steps.
    positions: Vec<usize>,
    /// The steps: whose, and whether it moved.
    steps: Vec<(ProcessRef, bool)>,
}

/// A state after a step.
#[derive(Debug)]
struct Moment {
    state: State,
    /// Who moved, and from where, if the step was a move.
    last: Option<(ProcessRef, LocationId)>,
}

impl Walk {
    /// A run without steps. If it is not the `whole` run that is asked for, only its last state is kept.
    pub(crate) fn new(initial: State, whole: bool) -> Walk {
        Walk {
            whole,
            moments: vec![Moment {
                state: initial,
                last: None,
            }],
            positions: vec![0],
            steps: Vec::new(),
        }
    }

    /// Adds a step of a process to a state.
    pub(crate) fn push(&mut self, process: ProcessRef, after: State, moved: bool) {
        let last = moved.then(|| (process, self.last().location(process)));
        let lasting = !moved && self.moments.last().is_some_and(|m| m.last.is_none());
        if self.whole {
            self.steps.push((process, moved));
        } else {
            self.moments.clear();
        }
        if !(self.whole && lasting) {
            self.moments.push(Moment { state: after, last });
        }
        if self.whole {
            self.positions.push(self.moments.len() - 1);
        }
    }

    /// The last state.
    pub(crate) fn last(&self) -> &State {
        // There is always a moment: the first, or that of the last step.
        &self.moments[self.moments.len() - 1].state
    }

    fn moment(&self, position: usize) -> &Moment {
        &self.moments[self.positions[position]]
    }
}

/// A walk that goes on for ever.
pub(crate) struct Endless<'a> {
    interpreter: Interpreter<'a>,
    walk: &'a Walk,
    /// The loop goes back to the state after so many steps.
    from: usize,
}

impl<'a> Endless<'a> {
    pub(crate) fn new(instance: &'a Instance, walk: &'a Walk, from: usize) -> Endless<'a> {
        Endless {
            interpreter: Interpreter::new(instance),
            walk,
            from,
        }
    }

    /// How many positions there are.
    fn len(&self) -> usize {
        self.walk.positions.len()
    }

    /// Those of the loop, as numbers of steps.
    fn around(&self) -> std::ops::Range<usize> {
        self.from + 1..self.len()
    }

    /// The moments of the loop, each once, with the first position of each in it.
    fn moments(&self) -> impl Iterator<Item = (usize, &'a Moment)> + '_ {
        let around = self.around();
        let first = around.start;
        around
            .filter(move |at| {
                *at == first || self.walk.positions[*at] != self.walk.positions[*at - 1]
            })
            .map(|at| (at, self.walk.moment(at)))
    }

    /// The states of the loop, with the first position of each.
    pub(crate) fn states(&self) -> impl Iterator<Item = (usize, &'a State)> + '_ {
        self.moments().map(|(at, moment)| (at, &moment.state))
    }

    /// What a process can do in a state at a position.
    pub(crate) fn outcomes(
        &self,
        position: usize,
        state: &State,
        process: ProcessRef,
    ) -> Result<Vec<Outcome>, ReplayError> {
        let outcomes = self.interpreter.outcomes(state, process);
        outcomes.map_err(|limit| limited(position, limit))
    }

    /// Whether a process is scheduled in the loop.
    pub(crate) fn is_scheduled(&self, process: ProcessRef) -> bool {
        self.around()
            .any(|step| self.walk.steps[step - 1].0 == process)
    }

    /// The processes that never move in the loop, and where they are.
    pub(crate) fn unmoved(&self) -> Vec<(ProcessRef, LocationId)> {
        let moved: BTreeSet<ProcessRef> = self
            .around()
            .map(|step| self.walk.steps[step - 1])
            .filter_map(|(process, moved)| moved.then_some(process))
            .collect();
        let state = self.walk.last();
        let unmoved = state.processes().filter(|p| !moved.contains(p));
        unmoved.map(|p| (p, state.location(p))).collect()
    }

    fn judge(&self, position: usize, atom: &Atom) -> Result<Judgement, ReplayError> {
        let moment = self.walk.moment(position);
        self.interpreter
            .judge_after(&moment.state, moment.last, atom.expr, &atom.bindings)
            .map_err(|limit| limited(position, limit))
    }

    /// The first position of the loop where a predicate holds. One that fails does not hold.
    fn first(&self, atom: &Atom) -> Result<Option<usize>, ReplayError> {
        for (position, _) in self.moments() {
            if self.judge(position, atom)?.holds() {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// The value of a formula at every position, and the first check that fails in one of its predicates.
    fn values(&self, formula: &Formula<Atom>) -> Result<(Vec<bool>, Failing), ReplayError> {
        let mut failing: Failing = None;
        let mut trouble = None;
        let mut before: Option<(usize, bool)> = None;
        let mut atom = |atom: &Atom, position: usize| {
            // Predicates are asked about from position 0 on: while nothing happens, the answer is the one before.
            let moment = self.walk.positions[position];
            if position > 0
                && let Some((known, value)) = before
                && known == moment
            {
                return value;
            }
            let value = match self.judge(position, atom) {
                Ok(Judgement::Fails(failure)) => {
                    if failing.is_none_or(|(earliest, _)| position < earliest) {
                        failing = Some((position, failure));
                    }
                    false
                }
                Ok(judgement) => judgement.holds(),
                Err(error) => {
                    trouble.get_or_insert(error);
                    false
                }
            };
            before = Some((moment, value));
            value
        };
        let values = formula.values(self.len(), self.from + 1, &mut atom);
        match trouble {
            Some(error) => Err(error),
            None => Ok((values, failing)),
        }
    }

    /// Why an assumption is met, and at which step of the loop; `None` if it is not.
    pub(crate) fn met(
        &self,
        term: &Fairness<Atom>,
    ) -> Result<Option<(Because, Option<usize>)>, ReplayError> {
        let holds = |step: usize| (Because::Holds, Some(step));
        Ok(match &term.kind {
            FairnessKind::Scheduled(process) => {
                let mut steps = self.around();
                let step = steps.find(|step| self.walk.steps[*step - 1].0 == *process);
                step.map(|step| (Because::Scheduled, Some(step)))
            }
            FairnessKind::Weak(atom) => self.first(atom)?.map(holds),
            FairnessKind::Strong(condition, then) => match self.first(condition)? {
                None => Some((Because::Never, None)),
                Some(_) => self.first(then)?.map(holds),
            },
        })
    }
}

/// Where the first check fails, and which one.
type Failing = Option<(usize, Failure)>;

fn limited(position: usize, limit: Limit) -> ReplayError {
    ReplayError::Limit {
        step: position,
        limit,
    }
}

fn too_large(_: TooLarge) -> ReplayError {
    ReplayError::TooLarge
}

/// Checks that a run without end violates its property, which is a liveness property, and is fair; and says why. With the source's lines, it
/// also says where things stand.
pub(crate) fn judge(
    instance: &Instance,
    trace: &Trace,
    property: &Property,
    walk: &Walk,
    lines: Option<&SourceLines<'_>>,
) -> Result<Lasso, ReplayError> {
    let PropertyKind::Liveness { under, formula } = &property.kind else {
        return Ok(Lasso::default());
    };
    let steps = trace.steps.len();
    let Some(from) = trace.loop_from else {
        return Err(ReplayError::Ending {
            steps,
            message: format!(
                "a run that ends does not violate `{}`: there is no loop",
                property.name
            ),
        });
    };
    let endless = Endless::new(instance, walk, from);
    let formula = temporal::unfold(instance, formula, property.span).map_err(too_large)?;
    let violated = violated(instance, &endless, &formula, lines)?;
    if violated.is_empty() {
        return Err(ReplayError::Ending {
            steps,
            message: format!("`{}` holds on this run", property.name),
        });
    }
    Ok(Lasso {
        violated,
        fairness: fair(instance, &endless, under, property.span, lines)?,
    })
}

/// The parts of a formula that do not hold.
fn violated(
    instance: &Instance,
    endless: &Endless,
    formula: &Formula<Atom>,
    lines: Option<&SourceLines<'_>>,
) -> Result<Vec<Part>, ReplayError> {
    let mut violated = Vec::new();
    for part in formula.conjuncts() {
        let (values, failing) = endless.values(&part)?;
        let mut after = failing.map(|(position, _)| position);
        if failing.is_none() {
            if values[0] {
                continue;
            }
            if let Formula::Release(never, always) = &part
                && matches!(&**never, Formula::Or(none) if none.is_empty())
            {
                let (values, _) = endless.values(always)?;
                after = values.iter().position(|value| !value);
            }
        }
        let (values, span) = place(instance, &part);
        violated.push(Part {
            values,
            line: lines.zip(span).and_then(|(lines, span)| lines.known(span)),
            after,
            fails: failing.map(|(_, failure)| FailedCheck {
                check: failure.kind.into(),
                line: lines.map(|lines| lines.line(failure.span)),
            }),
        });
    }
    Ok(violated)
}

/// The values that all predicates of a formula have in common, and where the first one stands.
fn place(instance: &Instance, formula: &Formula<Atom>) -> (Valuation, Option<Span>) {
    let mut common: Option<Vec<_>> = None;
    let mut span = None;
    formula.for_atoms(&mut |atom| {
        span.get_or_insert(atom.expr.span);
        match &mut common {
            None => common = Some(atom.bindings.clone()),
            Some(common) => {
                let same = common.iter().zip(&atom.bindings);
                let same = same.take_while(|(one, other)| one == other).count();
                common.truncate(same);
            }
        }
    });
    (valuation(instance, &common.unwrap_or_default()), span)
}

/// What some conjuncts of a liveness property wait for, as in the source, those that differ only in the values of variables together.
pub fn triggers(
    instance: &Instance,
    property: &str,
    conjuncts: &[usize],
) -> Vec<(String, Vec<Valuation>)> {
    let mut properties = instance.program().properties.iter();
    let Some(property) = properties.find(|known| known.name == property) else {
        return Vec::new();
    };
    let PropertyKind::Liveness { formula, .. } = &property.kind else {
        return Vec::new();
    };
    let Ok(formula) = temporal::unfold(instance, formula, property.span) else {
        return Vec::new();
    };
    let all = formula.conjuncts();
    let mut found: Vec<(String, Vec<Valuation>)> = Vec::new();
    for trigger in conjuncts
        .iter()
        .filter_map(|number| all.get(*number)?.trigger())
    {
        let mut atoms: Vec<&Expr> = Vec::new();
        trigger.for_atoms(&mut |atom| atoms.push(atom.expr));
        if atoms.is_empty() {
            continue;
        }
        let text = instance.program().quote_all(&atoms);
        let (values, _) = place(instance, trigger);
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, all)) => all.push(values),
            None => found.push((text, vec![values])),
        }
    }
    found
}

/// What a liveness property waits after, as in the source: `p` of `G (p -> q)`, whoever it is about.
pub fn trigger(program: &Program, property: &str) -> Option<String> {
    let property = program.properties.iter().find(|p| p.name == property)?;
    let PropertyKind::Liveness { formula, .. } = &property.kind else {
        return None;
    };
    let mut body = formula;
    loop {
        match body {
            Ltl::Quantified { body: inner, .. } | Ltl::Implies(_, inner) => body = inner,
            Ltl::Globally(inner) => match &**inner {
                Ltl::Implies(trigger, _) => match &**trigger {
                    Ltl::State(trigger) => return Some(program.quote_all(&[trigger])),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        }
    }
}

fn valuation(instance: &Instance, bindings: &[(BoundId, i64)]) -> Valuation {
    let names = Names::new(instance);
    let each = bindings.iter().map(|(bound, value)| {
        let (name, value) = names.bound(*bound, *value);
        (name.to_owned(), value.into())
    });
    Valuation(each.collect())
}

/// Why a run is fair, by the first alternative whose assumptions are all met.
fn fair(
    instance: &Instance,
    endless: &Endless,
    under: &[FairnessId],
    span: Span,
    lines: Option<&SourceLines<'_>>,
) -> Result<Vec<Assumption>, ReplayError> {
    let mut unmet = None;
    for alternative in temporal::unfold_fairness(instance, under, span).map_err(too_large)? {
        match assumptions(instance, endless, &alternative, lines)? {
            Ok(met) => return Ok(met),
            Err(error) => unmet = unmet.or(Some(error)),
        }
    }
    // There is at least one alternative, and if there were none, no run would be fair.
    Err(unmet.unwrap_or(ReplayError::TooLarge))
}

/// Why the assumptions of one alternative are met, those that are alike together; or which one is not.
fn assumptions(
    instance: &Instance,
    endless: &Endless,
    alternative: &[Fairness<Atom>],
    lines: Option<&SourceLines<'_>>,
) -> Result<Result<Vec<Assumption>, ReplayError>, ReplayError> {
    let program = instance.program();
    let mut known: Vec<(FairnessId, Option<Span>, Because)> = Vec::new();
    let mut all: Vec<Assumption> = Vec::new();
    for term in alternative {
        let Some((because, step)) = endless.met(term)? else {
            return Ok(Err(unfair(instance, term)));
        };
        let (kind, predicate) = match (&term.kind, because) {
            (FairnessKind::Scheduled(_), _) => (FairnessName::Unconditional, None),
            (FairnessKind::Weak(atom), _) => (FairnessName::Weak, Some(atom)),
            (FairnessKind::Strong(p, _), Because::Never) => (FairnessName::Strong, Some(p)),
            (FairnessKind::Strong(_, q), _) => (FairnessName::Strong, Some(q)),
        };
        let met = Met {
            process: match term.kind {
                FairnessKind::Scheduled(process) => Some(Names::new(instance).process(process)),
                _ => None,
            },
            values: predicate.map_or(Valuation::default(), |atom| {
                valuation(instance, &atom.bindings)
            }),
            step,
        };
        let key = (
            term.declaration,
            predicate.map(|atom| atom.expr.span),
            because,
        );
        if let Some(position) = known.iter().position(|one| *one == key) {
            all[position].met.push(met);
            continue;
        }
        known.push(key);
        all.push(Assumption {
            declaration: program.fairness[term.declaration].name.clone(),
            line: lines.and_then(|lines| lines.known(term_span(program, term))),
            kind,
            because,
            predicate: predicate
                .filter(|_| lines.is_some())
                .map(|atom| program.quote(atom.expr)),
            met: vec![met],
        });
    }
    Ok(Ok(all))
}

/// Where a term stands; for those without an expression, its declaration.
fn term_span(program: &Program, term: &Fairness<Atom>) -> Span {
    match &term.kind {
        FairnessKind::Scheduled(_) => program.fairness[term.declaration].span,
        FairnessKind::Weak(atom) | FairnessKind::Strong(atom, _) => atom.expr.span,
    }
}

fn unfair(instance: &Instance, term: &Fairness<Atom>) -> ReplayError {
    let of = |atom: &Atom| {
        let values = valuation(instance, &atom.bindings);
        let each = values
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        match each.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            values => format!("for {values}: "),
        }
    };
    let message = match &term.kind {
        FairnessKind::Scheduled(process) => {
            let process = Names::new(instance).process(*process);
            format!("`{process}` is not scheduled in the loop")
        }
        FairnessKind::Weak(atom) => format!("{}what it asks for never holds in the loop", of(atom)),
        FairnessKind::Strong(p, _) => format!(
            "{}its condition holds in the loop, and what it asks for never does",
            of(p)
        ),
    };
    ReplayError::Unfair {
        declaration: instance.program().fairness[term.declaration].name.clone(),
        message,
    }
}

/// Whether a lasso says the same as another, but for lines and texts, which need the source.
pub(crate) fn same(one: &Lasso, other: &Lasso) -> bool {
    let bare = |lasso: &Lasso| {
        let mut lasso = lasso.clone();
        for part in &mut lasso.violated {
            part.line = None;
            if let Some(fails) = &mut part.fails {
                fails.line = None;
            }
        }
        for assumption in &mut lasso.fairness {
            assumption.line = None;
            assumption.predicate = None;
        }
        lasso
    };
    bare(one) == bare(other)
}
