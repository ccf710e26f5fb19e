//! Which values each variable may have.
//!
//! A variable that one process alone writes, a local one or a global one, is followed along that process's control states: intervals are
//! joined where ways meet, tests narrow them, and one that goes on growing jumps to the next constant of the program, at last to the ends of
//! its type. For all other variables the values assigned to them are joined, whatever the order; and what a statement that is on no loop adds to a
//! variable, it adds at most once for each process. What comes out is declared in the model, where every write is checked: so it may hold too many values, never too few.

use super::classes::actions;
use super::ir::*;
use super::ranges::{Interval, converted, join, stored};
use crate::from_promela::syntax::{Binary, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Rounds before a variable that several write and that still grows is given all values of its type.
const ROUNDS: usize = 12;
/// Changes of a control state before its intervals jump.
const PATIENCE: usize = 12;
/// Control states of programs that are followed.
const MAX_NODES: usize = 3000;
/// Control states times variables that are followed.
const MAX_FOLLOWED: usize = 100_000;

type Values = BTreeMap<VarId, Interval>;

struct Flow<'p> {
    program: &'p Program,
    /// For each variable the template whose only process writes it, or whose processes have one each.
    followed: BTreeMap<VarId, TemplateId>,
    constants: Vec<i64>,
    /// What has been found so far.
    ranges: Vec<Interval>,
    /// Statements that only add a constant, and are executed a known number of times.
    counted: BTreeSet<(TemplateId, NodeId, usize)>,
}

/// `x = x + 1`: the variable and what is added.
fn added(action: &Action) -> Option<(&Cell, i64)> {
    let Action::Assign(cell, Expr::Bin(op, a, b, _)) = action else {
        return None;
    };
    let (Expr::Var(from), Some(by)) = (&**a, b.number()) else {
        return None;
    };
    let same = |a: &Expr, b: &Expr| a.number().is_some() && a.number() == b.number();
    let alike = from.var == cell.var
        && from
            .indices
            .iter()
            .zip(&cell.indices)
            .all(|(a, b)| same(a, b));
    match op {
        Binary::Add if alike => Some((cell, by)),
        Binary::Sub if alike => Some((cell, -by)),
        _ => None,
    }
}

/// Whether control can come back to a node.
fn on_a_loop(template: &Template, id: NodeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![id];
    while let Some(node) = open.pop() {
        for edge in &template.nodes[node.0].edges {
            for next in [Some(edge.target), edge.action.inner()]
                .into_iter()
                .flatten()
            {
                if next == id {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    false
}

/// The only process that writes a variable of the program.
fn writers(program: &Program) -> BTreeMap<VarId, BTreeSet<TemplateId>> {
    let mut all: BTreeMap<VarId, BTreeSet<TemplateId>> = BTreeMap::new();
    for (template, edge) in actions(program) {
        for cell in edge.action.written() {
            all.entry(cell.var).or_default().insert(template);
        }
    }
    all
}

/// A variable that is followed has only these of its values. False if there are none.
fn keep(values: &mut Values, e: &Expr, low: i64, high: i64) -> bool {
    let known = match e {
        Expr::Var(cell) if cell.indices.is_empty() => values.get_mut(&cell.var),
        _ => None,
    };
    known.is_none_or(|known| {
        *known = (known.0.max(low), known.1.min(high));
        known.0 <= known.1
    })
}

/// An interval without the value of another, if that is one; only the ends can be cut off.
fn without(mine: Interval, other: Interval) -> Interval {
    let cut = |end: i64| i64::from(other.0 == other.1 && end == other.0);
    (mine.0 + cut(mine.0), mine.1 - cut(mine.1))
}

/// The comparison that holds where this one does not.
fn opposite(op: Binary) -> Option<Binary> {
    Some(match op {
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        Binary::Less => Binary::GreaterEqual,
        Binary::LessEqual => Binary::Greater,
        Binary::Greater => Binary::LessEqual,
        Binary::GreaterEqual => Binary::Less,
        _ => return None,
    })
}

impl Flow<'_> {
    fn value(&self, values: &Values, e: &Expr, owner: TemplateId) -> Interval {
        self.program.interval_with(e, Some(owner), &|var| {
            values.get(&var).copied().unwrap_or(self.ranges[var.0])
        })
    }

    /// Narrows what is known by a test that came out so. False if it cannot.
    fn narrow(&self, values: &mut Values, e: &Expr, holds: bool, owner: TemplateId) -> bool {
        match e {
            Expr::Not(e) => self.narrow(values, e, !holds, owner),
            Expr::Bin(Binary::And, a, b, _) if holds => {
                self.narrow(values, a, true, owner) && self.narrow(values, b, true, owner)
            }
            Expr::Bin(Binary::Or, a, b, _) if !holds => {
                self.narrow(values, a, false, owner) && self.narrow(values, b, false, owner)
            }
            Expr::Var(_) if !holds => keep(values, e, 0, 0),
            Expr::Bin(op, a, b, _) => {
                let (ia, ib) = (self.value(values, a, owner), self.value(values, b, owner));
                let mut both = |of_a: Interval, of_b: Interval| {
                    keep(values, a, of_a.0, of_a.1) && keep(values, b, of_b.0, of_b.1)
                };
                match if holds { Some(*op) } else { opposite(*op) } {
                    Some(Binary::Equal) => both(ib, ia),
                    Some(Binary::Less) => both((i64::MIN, ib.1 - 1), (ia.0 + 1, i64::MAX)),
                    Some(Binary::LessEqual) => both((i64::MIN, ib.1), (ia.0, i64::MAX)),
                    Some(Binary::Greater) => both((ib.0 + 1, i64::MAX), (i64::MIN, ia.1 - 1)),
                    Some(Binary::GreaterEqual) => both((ib.0, i64::MAX), (i64::MIN, ia.1)),
                    Some(Binary::NotEqual) => both(without(ia, ib), without(ib, ia)),
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// A value is stored. What is not followed goes to `other`.
    fn store(
        &self,
        cell: &Cell,
        value: Interval,
        values: &mut Values,
        other: &mut Vec<(VarId, Interval)>,
    ) {
        let var = &self.program.vars[cell.var.0];
        let value = stored(&var.kind, value);
        match values.get_mut(&cell.var) {
            Some(known) if var.dims.is_empty() => *known = value,
            Some(known) => *known = join(*known, value),
            None => other.push((cell.var, value)),
        }
    }

    /// What an edge does to what is known; what it stores elsewhere goes to `found`. False if it cannot be taken.
    fn take(
        &self,
        id: TemplateId,
        node_id: NodeId,
        edge_at: usize,
        values: &mut Values,
        found: &mut Vec<(VarId, Interval)>,
    ) -> bool {
        let program = self.program;
        let node = &program.templates[id.0].nodes[node_id.0];
        let edge = &node.edges[edge_at];
        match &edge.action {
            Action::Test(e) => {
                if !self.narrow(values, e, true, id) {
                    return false;
                }
            }
            Action::Else => {
                let tests = node.edges.iter().filter_map(|e| match &e.action {
                    Action::Test(test) if e.unless.is_empty() => Some(test),
                    _ => None,
                });
                let mut possible = true;
                for test in tests {
                    possible &= self.narrow(values, test, false, id);
                }
                if !possible {
                    return false;
                }
            }
            Action::Assign(..) if self.counted.contains(&(id, node_id, edge_at)) => {}
            Action::Assign(cell, e) => {
                let value = self.value(values, e, id);
                self.store(cell, value, values, found);
            }
            Action::Run {
                template,
                arguments,
                result,
                ..
            } => {
                let created = &program.templates[template.0];
                for (parameter, argument) in created.parameters.iter().zip(arguments) {
                    if let Parameter::Var(var) = parameter {
                        let value = self.value(values, argument, id);
                        found.push((*var, stored(&program.vars[var.0].kind, value)));
                    }
                }
                if let Some(cell) = result {
                    self.store(cell, (0, program.most), values, found);
                }
            }
            Action::Send {
                channel,
                values: sent,
                ..
            } => {
                if let Some((class, _)) = program.class_of[channel.decl.0] {
                    for (field, value) in program.classes[class.0].fields.iter().zip(sent) {
                        let value = self.value(values, value, id);
                        found.push((*field, stored(&program.vars[field.0].kind, value)));
                    }
                }
            }
            Action::Receive {
                channel, patterns, ..
            } => {
                if let Some((class, _)) = program.class_of[channel.decl.0] {
                    for (field, pattern) in program.classes[class.0].fields.iter().zip(patterns) {
                        if let Match::Store(cell) = pattern {
                            self.store(cell, self.ranges[field.0], values, found);
                        }
                    }
                }
            }
            Action::Skip | Action::Assert(_) | Action::Die | Action::Deterministic(_) => {}
        }
        true
    }

    /// Follows the processes of one template; returns what may be stored where.
    fn template(&self, id: TemplateId) -> Vec<(VarId, Interval)> {
        let program = self.program;
        let template = &program.templates[id.0];
        let mut found: Vec<(VarId, Interval)> = Vec::new();
        let mut start = Values::new();
        for (var, owner) in &self.followed {
            if *owner == id {
                let parameter = program.vars[var.0].parameter;
                start.insert(
                    *var,
                    if parameter {
                        self.ranges[var.0]
                    } else {
                        self.initial(*var, id)
                    },
                );
            }
        }
        let mut at: Vec<Option<Values>> = vec![None; template.nodes.len()];
        let mut changes = vec![0usize; template.nodes.len()];
        let mut open: BTreeSet<NodeId> = BTreeSet::from([template.entry]);
        at[template.entry.0] = Some(start.clone());
        while let Some(node_id) = open.pop_first() {
            let Some(known) = at[node_id.0].clone() else {
                continue;
            };
            let node = &template.nodes[node_id.0];
            for (edge_at, edge) in node.edges.iter().enumerate() {
                let mut values = known.clone();
                if !self.take(id, node_id, edge_at, &mut values, &mut found) {
                    continue;
                }
                let target = edge.action.inner().unwrap_or(edge.target);
                let before = &at[target.0];
                let mut after = values;
                if let Some(before) = before {
                    for (var, value) in &mut after {
                        let old = before.get(var).copied().unwrap_or(*value);
                        *value = join(old, *value);
                        if *value != old && changes[target.0] > PATIENCE {
                            *value = self.jump(*var, old, *value, changes[target.0] > 4 * PATIENCE);
                        }
                    }
                }
                if before.as_ref() != Some(&after) {
                    at[target.0] = Some(after);
                    changes[target.0] += 1;
                    open.insert(target);
                }
            }
        }
        // Constants that are never stored must lie in the range all the same, for the model to be accepted.
        for (node_at, node) in template.nodes.iter().enumerate() {
            if at[node_at].is_none() {
                for edge_at in 0..node.edges.len() {
                    let mut values = start.clone();
                    self.take(id, NodeId(node_at), edge_at, &mut values, &mut found);
                    found.extend(values);
                }
            }
        }
        for values in at.into_iter().flatten() {
            found.extend(values);
        }
        found
    }

    /// A wider interval than the one that grows: up to the next constant, or to the ends of the type.
    fn jump(&self, var: VarId, old: Interval, new: Interval, far: bool) -> Interval {
        let all = values_of(&self.program.vars[var.0].kind);
        let up = self
            .constants
            .iter()
            .copied()
            .find(|c| *c >= new.1)
            .filter(|c| !far && *c <= all.1)
            .unwrap_or(all.1);
        let down = self
            .constants
            .iter()
            .rev()
            .copied()
            .find(|c| *c <= new.0)
            .filter(|c| !far && *c >= all.0)
            .unwrap_or(all.0);
        (
            if new.0 < old.0 { down } else { new.0 },
            if new.1 > old.1 { up } else { new.1 },
        )
    }

    fn initial(&self, var: VarId, owner: TemplateId) -> Interval {
        let v = &self.program.vars[var.0];
        let mut value = stored(
            &v.kind,
            self.program
                .interval_with(&v.initial, Some(owner), &|var| self.ranges[var.0]),
        );
        for n in v.list.iter().flatten() {
            value = join(value, (*n, *n));
        }
        value
    }
}

/// Sets the range of every variable.
pub(super) fn bound(program: &mut Program) {
    let preset: Vec<Interval> = program.vars.iter().map(|v| v.range).collect();
    let nodes: usize = program.templates.iter().map(|t| t.nodes.len()).sum();
    let mut followed = BTreeMap::new();
    let writers = writers(program);
    if nodes <= MAX_NODES {
        for (at, var) in program.vars.iter().enumerate() {
            if var.kind == Type::Chan {
                continue;
            }
            let only = writers
                .get(&VarId(at))
                .filter(|w| w.len() == 1)
                .and_then(|w| w.first().copied());
            match (var.owner, only) {
                (Some(owner), _) => {
                    followed.insert(VarId(at), owner);
                }
                (None, Some(owner)) if program.templates[owner.0].times == Some(1) => {
                    followed.insert(VarId(at), owner);
                }
                _ => {}
            }
        }
    }
    if nodes * followed.len() > MAX_FOLLOWED {
        followed.clear();
    }
    let mut constants: BTreeSet<i64> = BTreeSet::new();
    for (_, edge) in actions(program) {
        for e in edge.action.expressions() {
            e.walk(&mut |part| {
                if let Some(n) = part.number() {
                    constants.extend([n - 1, n, n + 1]);
                }
            });
        }
    }
    let mut ranges: Vec<Interval> = Vec::new();
    for (at, var) in program.vars.iter().enumerate() {
        let mut range = preset[at];
        if let Some(n) = var.initial.number() {
            let n = converted(&var.kind, n);
            // Zero is what an unused slot or a process that is not there has.
            let plain = var.owner.is_none() && preset[at] == (0, 0) && var.list.is_none();
            range = if plain {
                (n, n)
            } else {
                join(range, (n.min(0), n.max(0)))
            };
        } else {
            range = join(range, (0, 0));
        }
        for n in var.list.iter().flatten() {
            range = join(range, (*n, *n));
        }
        ranges.push(range);
    }
    // How far such statements can take a variable from where others put it.
    let mut counted = BTreeSet::new();
    let mut reach: BTreeMap<VarId, Interval> = BTreeMap::new();
    for (at, template) in program.present() {
        for (node_at, node) in template.nodes.iter().enumerate() {
            for (edge_at, edge) in node.edges.iter().enumerate() {
                let (Some((cell, by)), Some(times)) = (added(&edge.action), template.times) else {
                    continue;
                };
                if followed.contains_key(&cell.var)
                    || nodes > MAX_NODES
                    || on_a_loop(template, NodeId(node_at))
                {
                    continue;
                }
                counted.insert((TemplateId(at), NodeId(node_at), edge_at));
                let known = reach.entry(cell.var).or_insert((0, 0));
                *known = (known.0 + times * by.min(0), known.1 + times * by.max(0));
            }
        }
    }
    // Where others put them.
    let mut base = ranges.clone();
    for round in 0.. {
        for (var, (down, up)) in &reach {
            let (low, high) = base[var.0];
            ranges[var.0] = stored(&program.vars[var.0].kind, (low + down, high + up));
        }
        let flow = Flow {
            program,
            followed: followed.clone(),
            constants: constants.iter().copied().collect(),
            ranges: ranges.clone(),
            counted: counted.clone(),
        };
        let mut found: Vec<(VarId, Interval)> = Vec::new();
        for (at, template) in program.templates.iter().enumerate() {
            if template.present {
                found.extend(flow.template(TemplateId(at)));
            }
        }
        for (at, var) in program.vars.iter().enumerate() {
            if let Some(owner) = var.owner
                && var.kind != Type::Chan
            {
                found.push((VarId(at), flow.initial(VarId(at), owner)));
            }
        }
        let mut changed = false;
        for (var, value) in found {
            let known = base[var.0];
            let range = join(known, value);
            if range != known {
                changed = true;
                let all = values_of(&program.vars[var.0].kind);
                let settled = round < ROUNDS;
                base[var.0] = if settled {
                    range
                } else {
                    (
                        if range.0 < known.0 {
                            all.0.min(range.0)
                        } else {
                            range.0
                        },
                        if range.1 > known.1 {
                            all.1.max(range.1)
                        } else {
                            range.1
                        },
                    )
                };
            }
        }
        for (at, range) in base.iter().enumerate() {
            if !reach.contains_key(&VarId(at)) {
                ranges[at] = *range;
            }
        }
        if !changed {
            break;
        }
    }
    for (var, range) in program.vars.iter_mut().zip(ranges) {
        var.range = range;
    }
}
