//! What SPIN checks, as properties of our language.
//!
//! Assertions, indices and divisions are `checks`. End states: where processes only ever stop at their ends, a bad one is a deadlock; with
//! labels that begin `end`, or processes that are not started yet, an invariant says which states may be the last. A formula
//! `[] p` is an invariant, other formulas are liveness on the runs that SPIN looks at: those that go on as long as
//! anybody can. SPIN evaluates formulas only where nobody is inside an atomic sequence. Our runs also have turns in which nothing happens; only
//! formulas with `X` can tell the difference, and are said of the moments at which SPIN looks, as never claims are.

use super::build::*;
use super::emit::{Plan, Written};
use super::ir::*;
use super::names::Names;
use super::never;
use super::terms::{Terms, View};
use crate::from_promela::syntax::{At, Formula, FormulaKind};
use std::collections::BTreeMap;
use threadwise_lang::program::{
    CompareOp, Domain, FairnessId, FoldKind, LocationId, Ltl, PropertyKind,
};

/// The predicates of a formula, resolved, by the place of each.
pub(super) type Predicates = BTreeMap<At, Expr>;

/// Collects the predicates of a formula.
pub(super) fn predicates(
    formula: &Formula,
    resolve: &mut dyn FnMut(&crate::from_promela::syntax::Expr) -> Result<Expr>,
    into: &mut Predicates,
    depth: usize,
) -> Result<()> {
    if depth > 250 {
        return refuse(
            formula.at,
            "a formula nested this deeply",
            "use fewer levels",
        );
    }
    let mut inner = |f: &Formula| predicates(f, resolve, into, depth + 1);
    match &formula.kind {
        FormulaKind::Predicate(e) => {
            let resolved = resolve(e)?;
            into.insert(formula.at, resolved);
            Ok(())
        }
        FormulaKind::Not(f)
        | FormulaKind::Always(f)
        | FormulaKind::Eventually(f)
        | FormulaKind::Next(f) => inner(f),
        FormulaKind::And(a, b)
        | FormulaKind::Or(a, b)
        | FormulaKind::Implies(a, b)
        | FormulaKind::Equivalent(a, b)
        | FormulaKind::Until(a, b)
        | FormulaKind::WeakUntil(a, b)
        | FormulaKind::Release(a, b) => {
            inner(a)?;
            inner(b)
        }
    }
}

struct Formulas<'t, 'p> {
    terms: &'t Terms<'p>,
    predicates: &'t Predicates,
    /// When SPIN evaluates formulas; nothing where that is always.
    seen: Option<Term>,
    /// That a state is one that SPIN stores, and just reached. It does not hold of the first one.
    moment: Ltl,
}

impl Formulas<'_, '_> {
    fn when_seen(&self, f: Ltl) -> Ltl {
        match &self.seen {
            Some(seen) => Ltl::State(seen.clone()).implies(f),
            None => f,
        }
    }

    fn seen_and(&self, f: Ltl) -> Ltl {
        match &self.seen {
            Some(seen) => Ltl::State(seen.clone()).and(f),
            None => f,
        }
    }

    fn predicate(&self, f: &Formula) -> Result<Ltl> {
        match self.predicates.get(&f.at) {
            Some(e) => Ok(Ltl::State(self.terms.truth(e, &View::Nobody)?)),
            None => refuse(f.at, "this formula", "write it otherwise"),
        }
    }

    fn formula(&self, f: &Formula) -> Result<Ltl> {
        let inner = |f: &Formula| self.formula(f);
        Ok(match &f.kind {
            FormulaKind::Predicate(_) => self.predicate(f)?,
            FormulaKind::Not(f) => inner(f)?.negated(),
            FormulaKind::And(a, b) => inner(a)?.and(inner(b)?),
            FormulaKind::Or(a, b) => inner(a)?.or(inner(b)?),
            FormulaKind::Implies(a, b) => inner(a)?.implies(inner(b)?),
            FormulaKind::Equivalent(a, b) => inner(a)?.iff(inner(b)?),
            FormulaKind::Always(f) => self.when_seen(inner(f)?).globally(),
            FormulaKind::Eventually(f) => self.seen_and(inner(f)?).finally(),
            FormulaKind::Until(a, b) => self.when_seen(inner(a)?).until(self.seen_and(inner(b)?)),
            FormulaKind::WeakUntil(a, b) => self
                .when_seen(inner(a)?)
                .weak_until(self.seen_and(inner(b)?)),
            FormulaKind::Release(a, b) => {
                self.seen_and(inner(a)?).release(self.when_seen(inner(b)?))
            }
            FormulaKind::Next(_) => return self.at_moment(f, false),
        })
    }

    fn has_next(f: &Formula) -> bool {
        match &f.kind {
            FormulaKind::Predicate(_) => false,
            FormulaKind::Next(_) => true,
            FormulaKind::Not(f) | FormulaKind::Always(f) | FormulaKind::Eventually(f) => {
                Self::has_next(f)
            }
            FormulaKind::And(a, b)
            | FormulaKind::Or(a, b)
            | FormulaKind::Implies(a, b)
            | FormulaKind::Equivalent(a, b)
            | FormulaKind::Until(a, b)
            | FormulaKind::WeakUntil(a, b)
            | FormulaKind::Release(a, b) => Self::has_next(a) || Self::has_next(b),
        }
    }

    /// A formula with `X`, at a moment at which SPIN looks; `first` says that it is the beginning of the run.
    fn at_moment(&self, f: &Formula, first: bool) -> Result<Ltl> {
        if !Self::has_next(f) {
            return self.formula(f);
        }
        let now = |f: &Formula| self.at_moment(f, first);
        let later = |f: &Formula| self.at_moment(f, false);
        let moment = || self.moment.clone();
        let when = |f: &Formula| later(f).map(|f| moment().implies(f));
        let met = |f: &Formula| later(f).map(|f| moment().and(f));
        let formula = match &f.kind {
            FormulaKind::Predicate(_) => self.predicate(f)?,
            FormulaKind::Not(f) => now(f)?.negated(),
            FormulaKind::And(a, b) => now(a)?.and(now(b)?),
            FormulaKind::Or(a, b) => now(a)?.or(now(b)?),
            FormulaKind::Implies(a, b) => now(a)?.implies(now(b)?),
            FormulaKind::Equivalent(a, b) => now(a)?.iff(now(b)?),
            FormulaKind::Next(f) => moment().negated().until(met(f)?).next(),
            FormulaKind::Always(f) => match (when(f)?.globally(), first) {
                (rest, true) => now(f)?.and(rest.next()),
                (rest, false) => rest,
            },
            FormulaKind::Eventually(f) => match (met(f)?.finally(), first) {
                (rest, true) => now(f)?.or(rest.next()),
                (rest, false) => rest,
            },
            FormulaKind::Until(a, b) | FormulaKind::WeakUntil(a, b) => {
                let rest = match f.kind {
                    FormulaKind::WeakUntil(..) => when(a)?.weak_until(met(b)?),
                    _ => when(a)?.until(met(b)?),
                };
                match first {
                    true => now(b)?.or(now(a)?.and(rest.next())),
                    false => rest,
                }
            }
            FormulaKind::Release(a, b) => match (met(a)?.release(when(b)?), first) {
                (rest, true) => now(b)?.and(now(a)?.or(rest.next())),
                (rest, false) => rest,
            },
        };
        if formula_size(&formula) > never::MAX_FORMULA {
            return refuse(f.at, "a formula of this size with `X`", "split it");
        }
        Ok(formula)
    }

    /// Without temporal operators.
    fn is_state(f: &Formula) -> bool {
        match &f.kind {
            FormulaKind::Predicate(_) => true,
            FormulaKind::Not(f) => Self::is_state(f),
            FormulaKind::And(a, b)
            | FormulaKind::Or(a, b)
            | FormulaKind::Implies(a, b)
            | FormulaKind::Equivalent(a, b) => Self::is_state(a) && Self::is_state(b),
            FormulaKind::Always(_)
            | FormulaKind::Eventually(_)
            | FormulaKind::Next(_)
            | FormulaKind::Until(..)
            | FormulaKind::WeakUntil(..)
            | FormulaKind::Release(..) => false,
        }
    }
}

/// Whether something was done, or can be.
#[derive(Clone, Copy)]
enum Asked {
    Taken,
    Enabled,
}

pub(super) fn write(plan: &Plan<'_>, out: &mut Written) -> Result<()> {
    let source = plan.source;
    let terms = plan.terms();
    let mut names = Names::of_properties();
    end_states(plan, &terms, &mut names, out)?;
    let progress = names.fresh("progress");
    let asked = !source.formulas.is_empty() || !source.claims.is_empty();
    let taken = everywhere(plan, &terms, Asked::Taken)?;
    let enabled = everywhere(plan, &terms, Asked::Enabled)?;
    // The only one, or the first.
    let fair = FairnessId::new(0);
    let mut needed = false;
    for (at, ltl) in source.formulas.iter().enumerate() {
        let wanted = ltl
            .name
            .as_ref()
            .map_or_else(|| format!("ltl_{at}"), |n| n.text.clone());
        let name = names.fresh(&wanted);
        let none = Predicates::new();
        let mut resolved = plan.predicates.iter().filter(|(n, ..)| *n == at);
        let formulas = Formulas {
            terms: &terms,
            predicates: resolved.next().map_or(&none, |(_, found)| found),
            seen: plan.exclusive.then(|| plan.moves(CompareOp::Eq)),
            moment: never::moment(plan, taken.clone(), enabled.clone()),
        };
        if let FormulaKind::Always(inner) = &ltl.formula.kind
            && Formulas::is_state(inner)
            && let Ltl::State(invariant) = formulas.when_seen(formulas.formula(inner)?)
        {
            out.property(&name, PropertyKind::Invariant(invariant), Some(ltl.at));
            continue;
        }
        needed = true;
        let formula = plan.after_setup(formulas.at_moment(&ltl.formula, true)?);
        out.liveness(&name, fair, formula, Some(ltl.at));
    }
    for (at, graph) in plan.claims.iter().enumerate() {
        needed = true;
        let claim = source.claims.get(at);
        let wanted = claim
            .and_then(|c| c.name.as_ref())
            .map_or("never", |n| n.text.as_str());
        let moment = never::moment(plan, taken.clone(), enabled.clone());
        let formula = never::formula(plan, &terms, graph, moment)?;
        out.liveness(&names.fresh(wanted), fair, formula, claim.map(|c| c.at));
    }
    if !asked {
        return cycles(plan, &terms, (&mut names, &progress), (taken, enabled), out);
    }
    if needed {
        out.fairness(ON_AND_ON, &progress, any([taken, not(enabled)]));
    }
    Ok(())
}

const ON_AND_ON: &str = "The runs that go on as long as anybody can.";

/// Some process has done, or can do, something.
fn everywhere(plan: &Plan<'_>, terms: &Terms<'_>, what: Asked) -> Result<Term> {
    let mut all = Vec::new();
    let ask = |template, process, location| match what {
        Asked::Taken => Term::taken(template, process, location, NOWHERE),
        Asked::Enabled => Term::enabled(template, process, location, NOWHERE),
    };
    for (at, template) in plan.program.present() {
        let id = TemplateId(at);
        let some = plan.declared.some[at];
        let (number, pid) = (terms.template(id)?, terms.some_pid(id, some));
        let locations = plan.locations.iter().filter(|((t, _), _)| *t == id);
        let here = any(locations.map(|(_, l)| ask(number, terms.process(id, pid.clone()), *l)));
        all.push(match template.single() {
            true => here,
            false => fold(FoldKind::Exists, some, Domain::Template(number), here),
        });
    }
    if let Some(setup) = plan.setup_process() {
        all.push(ask(setup, None, LocationId::new(0)));
    }
    Ok(any(all))
}

fn has_label(node: &Node, prefix: &str) -> bool {
    node.labels.iter().any(|l| l.starts_with(prefix))
}

/// `P[id] at {..}` for the locations that are wanted.
fn at_some(
    plan: &Plan<'_>,
    terms: &Terms<'_>,
    (id, view): (TemplateId, &View),
    wanted: &dyn Fn(&Node) -> bool,
) -> Result<Term> {
    let template = &plan.program.templates[id.0];
    let own = plan.locations.iter().filter(|((t, _), _)| *t == id);
    let mut found: Vec<LocationId> = own
        .clone()
        .filter(|((_, n), _)| wanted(&template.nodes[n.0]))
        .map(|(_, location)| *location)
        .collect();
    if !template.run && template.nodes.iter().any(|n| n.end && wanted(n)) {
        // The end comes behind all others.
        found.push(LocationId::new(own.count()));
    }
    found.sort();
    match found.is_empty() {
        true => Ok(truth(false)),
        false => terms.at(id, terms.pid(view), found),
    }
}

/// For each process something, joined by `and` or `or`.
fn of_all(
    plan: &Plan<'_>,
    terms: &Terms<'_>,
    kind: FoldKind,
    of_one: &dyn Fn(TemplateId, &View) -> Result<Term>,
) -> Result<Vec<Term>> {
    let mut all = Vec::new();
    for (at, template) in plan.program.present() {
        let id = TemplateId(at);
        let some = plan.declared.some[at];
        let view = View::Property(id, terms.some_pid(id, some));
        let guard = of_one(id, &view)?;
        let known = is(&guard, true) || is(&guard, false);
        all.push(match known || template.single() {
            true => guard,
            false => fold(kind, some, Domain::Template(terms.template(id)?), guard),
        });
    }
    Ok(all)
}

fn end_states(
    plan: &Plan<'_>,
    terms: &Terms<'_>,
    names: &mut Names,
    out: &mut Written,
) -> Result<()> {
    let program = &plan.program;
    let plain = program
        .present()
        .all(|(_, t)| !t.run && !t.nodes.iter().any(|n| has_label(n, "end")));
    if plain {
        out.property("deadlock_free", PropertyKind::DeadlockFree, None);
        return Ok(());
    }
    let moves = of_all(plan, terms, FoldKind::Exists, &|id, view| {
        let mut here = Vec::new();
        let template = &program.templates[id.0];
        for ((t, node), location) in &plan.locations {
            if *t != id || template.nodes[node.0].deterministic {
                continue;
            }
            // Who is not there yet has no parameters: that is asked first.
            let there = match *node == template.entry {
                true => terms.is_there(id, view),
                false => truth(true),
            };
            let there = and(there, terms.at(id, terms.pid(view), vec![*location])?);
            here.push(and(there, terms.moves(id, *node, view)?));
        }
        Ok(or(here))
    })?;
    let ends = of_all(plan, terms, FoldKind::Forall, &|id, view| {
        let stop = at_some(plan, terms, (id, view), &|node| {
            node.end || has_label(node, "end")
        })?;
        Ok(or([stop, not(terms.is_there(id, view))]))
    })?;
    let held = plan.exclusive.then(|| plan.moves(CompareOp::Ne));
    let ended = ends.into_iter().fold(truth(true), and);
    let all = or(held.into_iter().chain(moves).chain([ended]));
    let name = names.fresh("valid_end_states");
    out.comment("Somebody can move, or everybody may stop where they are.");
    out.property(&name, PropertyKind::Invariant(all), None);
    Ok(())
}

/// Labels that begin `accept` and `progress`. A run that stops at an acceptance label stays there for ever, as it does in a formula.
fn cycles(
    plan: &Plan<'_>,
    terms: &Terms<'_>,
    (names, progress): (&mut Names, &str),
    (taken, enabled): (Term, Term),
    out: &mut Written,
) -> Result<()> {
    let mut assumed: Vec<(&str, String, Term)> = Vec::new();
    for (prefix, wanted) in [
        ("accept", "no_acceptance_cycle"),
        ("progress", "no_non_progress_cycle"),
    ] {
        let labelled = plan.program.present().flat_map(|(_, t)| &t.nodes);
        for node in labelled.filter(|n| has_label(n, prefix)) {
            if node.atomic {
                return refuse(
                    node.at,
                    format!("a label `{prefix}` inside `atomic` or `d_step`"),
                    "put it in front of the sequence, or behind it",
                );
            }
        }
        // A label that is never reached still asks the question, also that of a process that is never started.
        let mut marks = plan.program.templates.iter().flat_map(|t| &t.marks);
        let Some((_, at)) = marks.find(|(label, _)| label.starts_with(prefix)) else {
            continue;
        };
        let places = of_all(plan, terms, FoldKind::Exists, &|id, view| {
            let there = at_some(plan, terms, (id, view), &|node| has_label(node, prefix))?;
            Ok(and(there, terms.is_there(id, view)))
        })?;
        let mut there = or(places);
        if plan.exclusive {
            there = and(plan.moves(CompareOp::Eq), there);
        }
        let fair = FairnessId::new(assumed.len());
        let formula = match prefix {
            "accept" => {
                let goes_on = any([taken.clone(), not(enabled.clone())]);
                assumed.push((ON_AND_ON, progress.to_owned(), goes_on));
                Ltl::State(not(there)).globally().finally()
            }
            _ => {
                let name = names.fresh("moving");
                assumed.push(("The runs that never stop.", name, taken.clone()));
                Ltl::State(there).finally().globally()
            }
        };
        out.liveness(&names.fresh(wanted), fair, formula, Some(*at));
    }
    for (comment, name, assumption) in assumed {
        out.fairness(comment, &name, assumption);
    }
    Ok(())
}
