//! What SPIN checks, as properties of our language.
//!
//! Assertions, indices and divisions are `checks`. End states: where processes only ever stop at their ends, a bad one is a deadlock; with
//! labels that begin `end`, or processes that are not started yet, an invariant says which states may be the last. A formula
//! `[] p` is an invariant, other formulas are liveness on the runs that SPIN looks at: those that go on as long as
//! anybody can. SPIN evaluates formulas only where nobody is inside an atomic sequence. Our runs also have turns in which nothing happens; only
//! formulas with `X` can tell the difference, and are said of the moments at which SPIN looks, as never claims are.

use super::emit::{Output, Plan};
use super::ir::*;
use super::never;
use super::texts::{Guard, Texts, View, and, bracket, not, or};
use crate::from_promela::syntax::{At, Formula, FormulaKind};
use std::collections::BTreeMap;

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
    texts: &'t Texts<'p>,
    predicates: &'t Predicates,
    /// When SPIN evaluates formulas; nothing where that is always.
    seen: Option<String>,
    /// That a state is one that SPIN stores, and just reached. It does not hold of the first one.
    moment: String,
}

impl Formulas<'_, '_> {
    fn when_seen(&self, f: &str) -> String {
        match &self.seen {
            Some(seen) => format!("({seen} -> {f})"),
            None => f.to_string(),
        }
    }

    fn seen_and(&self, f: &str) -> String {
        match &self.seen {
            Some(seen) => format!("({seen} && {f})"),
            None => f.to_string(),
        }
    }

    /// In brackets.
    fn text(&self, f: &Formula) -> Result<String> {
        Ok(match &f.kind {
            FormulaKind::Predicate(_) => match self.predicates.get(&f.at) {
                Some(e) => format!("({})", self.texts.truth(e, &View::Nobody)?.text),
                None => return refuse(f.at, "this formula", "write it otherwise"),
            },
            FormulaKind::Not(f) => format!("!{}", self.text(f)?),
            FormulaKind::And(a, b) => format!("({} && {})", self.text(a)?, self.text(b)?),
            FormulaKind::Or(a, b) => format!("({} || {})", self.text(a)?, self.text(b)?),
            FormulaKind::Implies(a, b) => format!("({} -> {})", self.text(a)?, self.text(b)?),
            FormulaKind::Equivalent(a, b) => format!("({} <-> {})", self.text(a)?, self.text(b)?),
            FormulaKind::Always(f) => format!("(G {})", self.when_seen(&self.text(f)?)),
            FormulaKind::Eventually(f) => format!("(F {})", self.seen_and(&self.text(f)?)),
            FormulaKind::Until(a, b) => {
                format!(
                    "({} U {})",
                    self.when_seen(&self.text(a)?),
                    self.seen_and(&self.text(b)?)
                )
            }
            FormulaKind::WeakUntil(a, b) => {
                format!(
                    "({} W {})",
                    self.when_seen(&self.text(a)?),
                    self.seen_and(&self.text(b)?)
                )
            }
            FormulaKind::Release(a, b) => {
                format!(
                    "({} R {})",
                    self.seen_and(&self.text(a)?),
                    self.when_seen(&self.text(b)?)
                )
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
    fn at_moment(&self, f: &Formula, first: bool) -> Result<String> {
        if !Self::has_next(f) {
            return self.text(f);
        }
        let moment = &self.moment;
        let now = |f: &Formula| self.at_moment(f, first);
        let later = |f: &Formula| self.at_moment(f, false);
        let when = |f: &Formula| later(f).map(|f| format!("({moment} -> {f})"));
        let met = |f: &Formula| later(f).map(|f| format!("({moment} && {f})"));
        let text = match &f.kind {
            FormulaKind::Predicate(_) => self.text(f)?,
            FormulaKind::Not(f) => format!("!{}", now(f)?),
            FormulaKind::And(a, b) => format!("({} && {})", now(a)?, now(b)?),
            FormulaKind::Or(a, b) => format!("({} || {})", now(a)?, now(b)?),
            FormulaKind::Implies(a, b) => format!("({} -> {})", now(a)?, now(b)?),
            FormulaKind::Equivalent(a, b) => format!("({} <-> {})", now(a)?, now(b)?),
            FormulaKind::Next(f) => format!("(X (!{moment} U {}))", met(f)?),
            FormulaKind::Always(f) => {
                let rest = format!("(G {})", when(f)?);
                if first {
                    format!("({} && X {rest})", now(f)?)
                } else {
                    rest
                }
            }
            FormulaKind::Eventually(f) => {
                let rest = format!("(F {})", met(f)?);
                if first {
                    format!("({} || X {rest})", now(f)?)
                } else {
                    rest
                }
            }
            FormulaKind::Until(a, b) | FormulaKind::WeakUntil(a, b) => {
                let weak = matches!(f.kind, FormulaKind::WeakUntil(..));
                let until = if weak { "W" } else { "U" };
                let rest = format!("({} {until} {})", when(a)?, met(b)?);
                if first {
                    format!("({} || ({} && X {rest}))", now(b)?, now(a)?)
                } else {
                    rest
                }
            }
            FormulaKind::Release(a, b) => {
                let rest = format!("({} R {})", met(a)?, when(b)?);
                if first {
                    format!("({} && ({} || X {rest}))", now(b)?, now(a)?)
                } else {
                    rest
                }
            }
        };
        if text.len() > never::MAX_FORMULA {
            return refuse(f.at, "a formula of this size with `X`", "split it");
        }
        Ok(text)
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

/// Takes the outermost brackets away.
fn bare(text: &str) -> &str {
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) if bracket(text) == text => {
            let mut depth = 0i32;
            for c in inner.chars() {
                depth += match c {
                    '(' => 1,
                    ')' => -1,
                    _ => 0,
                };
                if depth < 0 {
                    return text;
                }
            }
            inner
        }
        _ => text,
    }
}

pub(super) fn write(plan: &Plan<'_>, out: &mut Output) -> Result<()> {
    let source = plan.source;
    let texts = plan.texts();
    let mut names = super::names::Names::of_properties();
    end_states(plan, &texts, &mut names, out)?;
    let mut fair = false;
    let progress = names.fresh("progress");
    for (at, ltl) in source.formulas.iter().enumerate() {
        let wanted = ltl
            .name
            .as_ref()
            .map_or_else(|| format!("ltl_{at}"), |n| n.text.clone());
        let name = names.fresh(&wanted);
        let seen = plan
            .exclusive
            .then(|| format!("{} == 0", plan.added.exclusive));
        let mut all = Predicates::new();
        let mut resolved = plan.predicates.iter().filter(|(n, ..)| *n == at);
        if let Some((_, found)) = resolved.next() {
            all.extend(found.iter().map(|(k, v)| (*k, v.clone())));
        }
        let formulas = Formulas {
            texts: &texts,
            predicates: &all,
            seen,
            moment: never::moment(
                plan,
                &everywhere(plan, "taken"),
                &everywhere(plan, "enabled"),
            ),
        };
        if let FormulaKind::Always(inner) = &ltl.formula.kind
            && Formulas::is_state(inner)
        {
            let text = formulas.when_seen(&formulas.text(inner)?);
            out.push(format!("invariant {name}: {};", bare(&text)), Some(ltl.at));
            continue;
        }
        fair = true;
        let mut text = formulas.at_moment(&ltl.formula, true)?;
        if !plan.setup.is_empty() {
            // The first state that SPIN knows is the one after the initial values are set.
            let name = &plan.added.exclusive;
            text = format!("({name} != 0 U ({name} == 0 && {text}))");
        }
        out.push(
            format!("liveness {name} under {progress}: {};", bare(&text)),
            Some(ltl.at),
        );
    }
    for (at, graph) in plan.claims.iter().enumerate() {
        fair = true;
        let place = source.claims.get(at).map(|c| c.at);
        let wanted = source
            .claims
            .get(at)
            .and_then(|c| c.name.as_ref())
            .map_or("never", |n| n.text.as_str());
        let text = never::formula(
            plan,
            &texts,
            graph,
            &everywhere(plan, "taken"),
            &everywhere(plan, "enabled"),
        )?;
        let name = names.fresh(wanted);
        out.push(format!("liveness {name} under {progress}: {text};"), place);
    }
    if source.formulas.is_empty() && source.claims.is_empty() {
        fair |= cycles(plan, &texts, &mut names, &progress, out)?;
    }
    if fair {
        let (taken, enabled) = (everywhere(plan, "taken"), everywhere(plan, "enabled"));
        out.push("// The runs that go on as long as anybody can.", None);
        out.push(
            format!("fairness {progress}: weak {taken}\n|| !({enabled});"),
            None,
        );
    }
    Ok(())
}

/// Some process has done, or can do, something.
fn everywhere(plan: &Plan<'_>, what: &str) -> String {
    let mut all = Vec::new();
    for (at, template) in plan.program.present() {
        let id = &plan.added.some;
        let process = if template.single() {
            template.name.clone()
        } else {
            format!("{}[{id}]", template.name)
        };
        let here: Vec<String> = plan
            .locations
            .iter()
            .filter(|((t, _), _)| t.0 == at)
            .map(|(_, name)| format!("{what}({process}, {name})"))
            .collect();
        let here = here.join(" || ");
        all.push(if template.single() {
            here
        } else {
            format!("(exists {id} in {}: {here})", template.name)
        });
    }
    if !plan.setup.is_empty() {
        all.push(format!(
            "{what}({}, {})",
            plan.added.setup, plan.added.begin
        ));
    }
    all.join("\n|| ")
}

fn has_label(node: &Node, prefix: &str) -> bool {
    node.labels.iter().any(|l| l.starts_with(prefix))
}

/// `P[id] at {..}` for the locations that are wanted.
fn at_some(
    plan: &Plan<'_>,
    id: TemplateId,
    process: &str,
    wanted: &dyn Fn(&Node) -> bool,
) -> Guard {
    let template = &plan.program.templates[id.0];
    let mut names: Vec<String> = plan
        .locations
        .iter()
        .filter(|((t, n), _)| *t == id && wanted(&template.nodes[n.0]))
        .map(|(_, name)| name.clone())
        .collect();
    if !template.run && template.nodes.iter().any(|n| n.end && wanted(n)) {
        names.push("done".into());
    }
    match names.as_slice() {
        [] => Guard::Never,
        [one] => Guard::If(format!("{process} at {one}")),
        _ => Guard::If(format!("{process} at {{{}}}", names.join(", "))),
    }
}

/// Whether the process has been started and is not gone.
fn is_there(plan: &Plan<'_>, texts: &Texts<'_>, id: TemplateId, view: &View) -> Guard {
    let program = &plan.program;
    let template = &program.templates[id.0];
    if !template.run {
        return Guard::Always;
    }
    if program.ambiguous {
        Guard::If(texts.of_process(&plan.added.on[id.0], view))
    } else {
        Guard::If(format!("{} > {}", plan.added.nr_pr, texts.pid(view)))
    }
}

/// For each process something, joined by `and` or `or`.
fn of_all(
    plan: &Plan<'_>,
    every: bool,
    of_one: &dyn Fn(TemplateId, &str, &View) -> Result<Guard>,
) -> Result<Vec<Guard>> {
    let mut all = Vec::new();
    for (at, template) in plan.program.present() {
        let id = TemplateId(at);
        let some = &plan.added.some;
        let (process, pid) = if template.single() {
            (template.name.clone(), template.pids.0.to_string())
        } else {
            (format!("{}[{some}]", template.name), some.clone())
        };
        let view = View::Property(id, pid);
        let guard = of_one(id, &process, &view)?;
        all.push(match guard {
            Guard::If(text) if !template.single() => {
                let word = if every { "forall" } else { "exists" };
                Guard::If(format!("({word} {some} in {}: {text})", template.name))
            }
            other => other,
        });
    }
    Ok(all)
}

fn end_states(
    plan: &Plan<'_>,
    texts: &Texts<'_>,
    names: &mut super::names::Names,
    out: &mut Output,
) -> Result<()> {
    let program = &plan.program;
    let plain = program
        .present()
        .all(|(_, t)| !t.run && !t.nodes.iter().any(|n| has_label(n, "end")));
    if plain {
        out.push("deadlock_free;", None);
        return Ok(());
    }
    let moves = of_all(plan, false, &|id, process, view| {
        let mut here = Vec::new();
        for ((t, node), name) in &plan.locations {
            if *t != id || program.templates[id.0].nodes[node.0].deterministic {
                continue;
            }
            // Who is not there yet has no parameters: that is asked first.
            let there = if *node == program.templates[id.0].entry {
                is_there(plan, texts, id, view)
            } else {
                Guard::Always
            };
            let guard = and(
                and(there, Guard::If(format!("{process} at {name}"))),
                texts.moves(id, *node, view)?,
            );
            here.push(guard);
        }
        Ok(or(here))
    })?;
    let ends = of_all(plan, true, &|id, process, view| {
        let stop = at_some(plan, id, process, &|node| {
            node.end || has_label(node, "end")
        });
        Ok(or([stop, not(is_there(plan, texts, id, view))]))
    })?;
    let ended = ends.into_iter().fold(Guard::Always, and);
    let mut all = moves;
    all.push(ended);
    if plan.exclusive {
        all.insert(0, Guard::If(format!("{} != 0", plan.added.exclusive)));
    }
    let lines: Vec<String> = all
        .into_iter()
        .filter(|g| *g != Guard::Never)
        .map(|g| bracket(&g.text()))
        .collect();
    let name = names.fresh("valid_end_states");
    out.push(
        "// Somebody can move, or everybody may stop where they are.",
        None,
    );
    out.push(format!("invariant {name}: {};", lines.join("\n|| ")), None);
    Ok(())
}

/// Labels that begin `accept` and `progress`. A run that stops at an acceptance label stays there for ever, as it does in a formula; says
/// whether the assumption for that is needed.
fn cycles(
    plan: &Plan<'_>,
    texts: &Texts<'_>,
    names: &mut super::names::Names,
    progress: &str,
    out: &mut Output,
) -> Result<bool> {
    let mut fairness = None;
    let mut stays = false;
    for (prefix, wanted) in [
        ("accept", "no_acceptance_cycle"),
        ("progress", "no_non_progress_cycle"),
    ] {
        let templates = || plan.program.templates.iter().filter(|t| t.present);
        let labelled = templates().flat_map(|t| &t.nodes);
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
        let places = of_all(plan, false, &|id, process, view| {
            let there = at_some(plan, id, process, &|node| has_label(node, prefix));
            Ok(and(there, is_there(plan, texts, id, view)))
        })?;
        let mut there = or(places);
        if plan.exclusive {
            there = and(Guard::If(format!("{} == 0", plan.added.exclusive)), there);
        }
        let fair = if prefix == "accept" {
            stays = true;
            progress.to_string()
        } else {
            let name = fairness.get_or_insert_with(|| names.fresh("moving"));
            name.clone()
        };
        let text = there.text();
        let formula = if prefix == "accept" {
            format!("F G !({text})")
        } else {
            format!("G F ({text})")
        };
        out.push(
            format!("liveness {} under {fair}: {formula};", names.fresh(wanted)),
            Some(*at),
        );
    }
    if let Some(fair) = fairness {
        out.push("// The runs that never stop.", None);
        out.push(
            format!("fairness {fair}: weak {};", everywhere(plan, "taken")),
            None,
        );
    }
    Ok(stays)
}
