//! How many processes there are, and which pids they have.
//!
//! Processes that are active from the beginning are numbered in order of the text. Those that `run` creates are found by following
//! each creating process through its control states, with the values of its variables as far as they
//! are known: so loops that count up to a constant are followed exactly. Where no bound is found, the program is refused.
//! In SPIN a new process has the lowest pid that no living process has, and only the youngest may die; so the
//! pid of a new process is the number of those that live.

use super::fold::compute;
use super::ir::*;
use super::ranges::converted;
use crate::from_promela::syntax::{At, Binary};
use std::collections::{BTreeMap, BTreeSet};

/// Control states with values that are looked at.
const MAX_VISITS: usize = 300_000;
const MAX_PROCESSES: i64 = 255;

type Known = BTreeMap<VarId, i64>;
type Arguments = Vec<Option<i64>>;

/// A `run` that a process may execute as its k-th.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    template: TemplateId,
    arguments: Arguments,
    at: At,
}

#[derive(Default)]
struct Runs {
    /// What the k-th `run` of the process may be.
    events: Vec<BTreeSet<Event>>,
    /// Whether nobody else can move between the first and the last.
    unbroken: bool,
}

struct Finder<'p> {
    program: &'p Program,
    totals: BTreeMap<(TemplateId, Arguments), Option<i64>>,
    visits: usize,
}

/// What an expression is, as far as known.
fn evaluate(e: &Expr, known: &Known) -> Option<i64> {
    match e {
        Expr::Num(n) | Expr::Member(_, n) => Some(*n),
        Expr::Var(cell) if cell.indices.is_empty() => known.get(&cell.var).copied(),
        Expr::Not(e) => Some(i64::from(evaluate(e, known)? == 0)),
        Expr::Minus(e) => Some(-evaluate(e, known)?),
        Expr::Bin(op, a, b, _) => {
            let (a, b) = (evaluate(a, known), evaluate(b, known));
            match (op, a, b) {
                (Binary::And, Some(0), _) | (Binary::And, _, Some(0)) => Some(0),
                (Binary::Or, Some(n), _) | (Binary::Or, _, Some(n)) if n != 0 => Some(1),
                _ => compute(*op, a?, b?),
            }
        }
        Expr::Cond(c, a, b, _) => {
            if evaluate(c, known)? != 0 {
                evaluate(a, known)
            } else {
                evaluate(b, known)
            }
        }
        _ => None,
    }
}

impl Finder<'_> {
    fn runs(&mut self, id: TemplateId, arguments: &Arguments) -> Result<Runs> {
        let program = self.program;
        let template = &program.templates[id.0];
        let mut found = Runs {
            events: Vec::new(),
            unbroken: true,
        };
        if !template.nodes.iter().any(|n| {
            n.edges
                .iter()
                .any(|e| matches!(e.action, Action::Run { .. }))
        }) {
            return Ok(found);
        }
        let tracked = |var: VarId| {
            let v = &program.vars[var.0];
            v.owner == Some(id) && v.dims.is_empty()
        };
        let mut start = Known::new();
        for var in &template.locals {
            if tracked(*var)
                && !program.vars[var.0].parameter
                && let Some(n) = program.vars[var.0].initial.number()
            {
                start.insert(*var, converted(&program.vars[var.0].kind, n));
            }
        }
        for (parameter, value) in template.parameters.iter().zip(arguments) {
            if let (Parameter::Var(var), Some(n)) = (parameter, value) {
                start.insert(*var, converted(&program.vars[var.0].kind, *n));
            }
        }
        // The number of runs so far, and whether nobody could move since the first.
        type Visit = (NodeId, Known, usize, bool);
        let mut seen: BTreeSet<Visit> = BTreeSet::new();
        let mut open: Vec<Visit> = vec![(template.entry, start, 0, true)];
        while let Some(visit) = open.pop() {
            if !seen.insert(visit.clone()) {
                continue;
            }
            self.visits += 1;
            if self.visits > MAX_VISITS {
                return refuse(
                    template.at,
                    format!(
                        "it cannot be found out how many processes `{}` starts",
                        template.original
                    ),
                    "let loops around `run` count up to a constant",
                );
            }
            let (node, known, count, unbroken) = visit;
            let node = &template.nodes[node.0];
            let values: Vec<Option<i64>> = node
                .edges
                .iter()
                .map(|e| match &e.action {
                    Action::Test(e) => evaluate(e, &known),
                    Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Run { .. } => {
                        Some(1)
                    }
                    Action::Else
                    | Action::Send { .. }
                    | Action::Receive { .. }
                    | Action::Deterministic(_)
                    | Action::Die => None,
                })
                .collect();
            let surely = values.iter().any(|v| v.is_some_and(|n| n != 0));
            let else_too = node.edges.iter().any(|e| matches!(e.action, Action::Else));
            let unbroken = unbroken && (count == 0 || surely || else_too);
            for (edge, value) in node.edges.iter().zip(&values) {
                if *value == Some(0) || (surely && matches!(edge.action, Action::Else)) {
                    continue;
                }
                let before = &known;
                let mut known = known.clone();
                let mut count = count;
                let mut target = edge.target;
                let mut set = |cell: &Cell, value: Option<i64>| {
                    if cell.indices.is_empty() && tracked(cell.var) {
                        match value {
                            Some(n) => {
                                known.insert(cell.var, converted(&program.vars[cell.var.0].kind, n))
                            }
                            None => known.remove(&cell.var),
                        };
                    }
                };
                match &edge.action {
                    Action::Assign(cell, e) => {
                        let value = evaluate(e, before);
                        set(cell, value);
                    }
                    Action::Receive { patterns, .. } => {
                        for pattern in patterns {
                            if let Match::Store(cell) | Match::StoreChan(cell, _) = pattern {
                                set(cell, None);
                            }
                        }
                    }
                    Action::Run {
                        template,
                        arguments,
                        result,
                        at,
                    } => {
                        let arguments = arguments.iter().map(|a| evaluate(a, before)).collect();
                        if count >= MAX_PROCESSES as usize {
                            return refuse(
                                *at,
                                "it cannot be shown that this `run` is executed at most 255 times",
                                "let the loop around it count up to a constant, in a variable of the process",
                            );
                        }
                        if found.events.len() <= count {
                            found.events.resize(count + 1, BTreeSet::new());
                        }
                        found.events[count].insert(Event {
                            template: *template,
                            arguments,
                            at: *at,
                        });
                        found.unbroken &= unbroken;
                        count += 1;
                        if let Some(cell) = result
                            && cell.indices.is_empty()
                        {
                            known.remove(&cell.var);
                        }
                    }
                    Action::Deterministic(first) => target = *first,
                    Action::Skip
                    | Action::Assert(_)
                    | Action::Test(_)
                    | Action::Else
                    | Action::Send { .. }
                    | Action::Die => {}
                }
                let keeps = edge.keeps || matches!(edge.action, Action::Deterministic(_));
                open.push((target, known, count, unbroken && (count == 0 || keeps)));
            }
        }
        Ok(found)
    }

    /// How many processes one process, with these arguments, brings about at most, itself not counted.
    fn total(
        &mut self,
        id: TemplateId,
        arguments: &Arguments,
        at: At,
        depth: usize,
    ) -> Result<i64> {
        let key = (id, arguments.clone());
        match self.totals.get(&key) {
            Some(Some(total)) => return Ok(*total),
            Some(None) => return self.endless(id, at),
            None => {}
        }
        if depth > 100 {
            return self.endless(id, at);
        }
        self.totals.insert(key.clone(), None);
        let runs = self.runs(id, arguments)?;
        let mut total = 0;
        for events in &runs.events {
            let mut most = 0;
            for event in events {
                most = most
                    .max(1 + self.total(event.template, &event.arguments, event.at, depth + 1)?);
            }
            total += most;
            if total > MAX_PROCESSES {
                return refuse(at, "there would be more than 255 processes", "start fewer");
            }
        }
        self.totals.insert(key, Some(total));
        Ok(total)
    }

    fn endless<T>(&self, id: TemplateId, at: At) -> Result<T> {
        refuse(
            at,
            format!(
                "`{}` starts processes that start it again, without a bound that can be found",
                self.program.templates[id.0].original
            ),
            "let a parameter count down to a constant, or start all processes from `init`",
        )
    }
}

/// Sets the pids of all templates.
pub(super) fn count(program: &mut Program) -> Result<()> {
    let mut started = 0;
    for template in &mut program.templates {
        template.first = started;
        started += template.active;
    }
    if started == 0 {
        let at = program.templates.first().map(|t| t.at).unwrap_or_default();
        return wrong(
            at,
            "no process is ever started",
            "write `active` in front of a proctype, or an `init`",
        );
    }
    if started > MAX_PROCESSES {
        return wrong(
            program.templates[0].at,
            "there can be at most 255 processes",
            "use fewer",
        );
    }
    let ends: Vec<bool> = program
        .templates
        .iter()
        .map(|t| t.nodes.iter().any(|n| n.end))
        .collect();
    let mut finder = Finder {
        program,
        totals: BTreeMap::new(),
        visits: 0,
    };
    let mut most = started;
    let mut creators: Vec<(i64, Runs)> = Vec::new();
    let mut created: BTreeSet<TemplateId> = BTreeSet::new();
    let mut nested = false;
    for (at, template) in program.templates.iter().enumerate() {
        if template.active == 0 {
            continue;
        }
        // Parameters of processes that nobody runs are zero.
        let zero: Arguments = template.parameters.iter().map(|_| Some(0)).collect();
        most += template.active * finder.total(TemplateId(at), &zero, template.at, 0)?;
        if most > MAX_PROCESSES {
            return refuse(
                template.at,
                "there may be more than 255 processes",
                "start fewer",
            );
        }
        for k in 0..template.active {
            let runs = finder.runs(TemplateId(at), &zero)?;
            if !runs.events.is_empty() {
                creators.push((template.first + k, runs));
            }
        }
    }
    // Everything that is created, directly or not.
    let mut open: Vec<Event> = creators
        .iter()
        .flat_map(|(_, r)| r.events.iter().flatten().cloned())
        .collect();
    let mut seen: BTreeSet<Event> = BTreeSet::new();
    while let Some(event) = open.pop() {
        if !seen.insert(event.clone()) {
            continue;
        }
        created.insert(event.template);
        let runs = finder.runs(event.template, &event.arguments)?;
        nested |= !runs.events.is_empty();
        open.extend(runs.events.into_iter().flatten());
    }
    let mut runs_of: BTreeMap<TemplateId, Option<i64>> = BTreeMap::new();
    let mut slots: Vec<BTreeSet<TemplateId>> = vec![BTreeSet::new(); most as usize];
    for (at, template) in program.templates.iter().enumerate() {
        for k in 0..template.active {
            slots[(template.first + k) as usize].insert(TemplateId(at));
        }
    }
    if let Some((creator, runs)) = creators.first() {
        let later_end = |from: i64| {
            program
                .templates
                .iter()
                .zip(&ends)
                .any(|(t, end)| *end && t.active > 0 && t.first + t.active > from)
        };
        let created_end = created.iter().any(|t| ends[t.0]);
        let fixed = creators.len() == 1
            && !nested
            && !later_end(creator + 1)
            && (runs.unbroken || !created_end);
        for event in seen.iter().map(|e| e.template) {
            // Where the order is not fixed, nothing is known.
            runs_of.insert(event, None);
        }
        if fixed {
            runs_of.clear();
            for (k, events) in runs.events.iter().enumerate() {
                slots[started as usize + k].extend(events.iter().map(|e| e.template));
                for template in events.iter().map(|e| e.template).collect::<BTreeSet<_>>() {
                    let times = runs_of.get(&template).copied().flatten().unwrap_or(0);
                    runs_of.insert(template, Some(times + 1));
                }
            }
        } else {
            let lowest = creators.iter().map(|(pid, _)| pid + 1).min().unwrap_or(0);
            for slot in &mut slots[lowest as usize..] {
                slot.extend(&created);
            }
        }
    }
    program.started = started;
    program.most = most;
    for (at, template) in program.templates.iter_mut().enumerate() {
        let id = TemplateId(at);
        let pids: Vec<i64> = (0..most)
            .filter(|p| slots[*p as usize].contains(&id))
            .collect();
        template.run = created.contains(&id);
        template.times = runs_of
            .get(&id)
            .copied()
            .unwrap_or(Some(0))
            .map(|runs| template.active + runs);
        template.present = !pids.is_empty();
        template.pids = match (pids.first(), pids.last()) {
            (Some(low), Some(high)) => (*low, *high),
            _ => (0, 0),
        };
    }
    let mut holders = vec![0; most as usize];
    for template in program.templates.iter().filter(|t| t.present) {
        (template.pids.0..=template.pids.1).for_each(|p| holders[p as usize] += 1);
    }
    program.ambiguous = holders.iter().any(|n| *n > 1);
    let any_run = !created.is_empty();
    // Only the youngest dies: without `run`, who is older than one that never ends stays for ever.
    let mut youngest_ends = true;
    for at in (0..program.templates.len()).rev() {
        let template = &mut program.templates[at];
        if !template.present {
            continue;
        }
        youngest_ends &= ends[at];
        template.dies = ends[at] && (any_run || youngest_ends);
    }
    Ok(())
}
