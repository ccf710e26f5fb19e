//! Which channels may stand for each other.
//!
//! A variable of type `chan`, a parameter or a field of a message may hold different channels at different times. All that
//! may meet in one place form a class; they must be alike (capacity and fields) and are stored in one array, where a number
//! says which one is meant. A channel that is alone in its class, and that no variable holds, needs no number.

use super::ir::*;
use crate::from_promela::syntax::{At, Type};
use std::collections::BTreeMap;

/// Something that may hold a channel: a declaration, or a field of what a declaration carries.
#[derive(Default)]
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn add(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.parent.len() - 1
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
        a != b
    }
}

/// Every expression of every action, with the template it stands in.
pub(super) fn actions(program: &Program) -> impl Iterator<Item = (TemplateId, &Edge)> {
    program.present().flat_map(|(at, template)| {
        template
            .nodes
            .iter()
            .flat_map(move |node| node.edges.iter().map(move |edge| (TemplateId(at), edge)))
    })
}

/// The expressions of an action, outermost only.
pub(super) fn expressions(action: &Action) -> Vec<&Expr> {
    let mut all = Vec::new();
    match action {
        Action::Skip | Action::Else | Action::Die | Action::Deterministic(_) => {}
        Action::Assign(cell, e) => {
            all.extend(&cell.indices);
            all.push(e);
        }
        Action::Assert(e) | Action::Test(e) => all.push(e),
        Action::Run {
            arguments, result, ..
        } => {
            all.extend(arguments);
            if let Some(cell) = result {
                all.extend(&cell.indices);
            }
        }
        Action::Send {
            channel, values, ..
        } => {
            all.extend(&channel.indices);
            all.extend(values);
        }
        Action::Receive {
            channel, patterns, ..
        } => {
            all.extend(&channel.indices);
            for pattern in patterns {
                match pattern {
                    Match::Store(cell) | Match::StoreChan(cell, _) => all.extend(&cell.indices),
                    Match::Equal(e) => all.push(e),
                    Match::Ignore => {}
                }
            }
        }
    }
    all
}

/// Finds the classes and declares what they store.
pub(super) fn classify(program: &mut Program) -> Result<()> {
    let mut groups = Groups::default();
    for _ in &program.chans {
        groups.add();
    }
    // Which declaration belongs to a variable.
    let chan_of: BTreeMap<VarId, usize> = program
        .chans
        .iter()
        .enumerate()
        .filter_map(|(at, c)| c.var.map(|v| (v, at)))
        .collect();
    let mut fields: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    loop {
        let mut changed = false;
        let held = |e: &Expr| match e {
            Expr::Chan(c) => Some(c.decl.0),
            _ => None,
        };
        let mut joins: Vec<(usize, usize)> = Vec::new();
        // (channel, field) with what it is sent or stored as.
        let mut carried: Vec<(usize, usize, usize)> = Vec::new();
        let mut polls: Vec<(usize, usize, usize)> = Vec::new();
        for (_, edge) in actions(program) {
            match &edge.action {
                Action::Assign(cell, value) => {
                    if let (Some(to), Some(from)) = (chan_of.get(&cell.var), held(value)) {
                        joins.push((*to, from));
                    }
                }
                Action::Run {
                    template,
                    arguments,
                    ..
                } => {
                    for (parameter, argument) in program.templates[template.0]
                        .parameters
                        .iter()
                        .zip(arguments)
                    {
                        if let (Parameter::Chan(to), Some(from)) = (parameter, held(argument)) {
                            joins.push((to.0, from));
                        }
                    }
                }
                Action::Send {
                    channel, values, ..
                } => {
                    for (at, value) in values.iter().enumerate() {
                        if let Some(from) = held(value) {
                            carried.push((channel.decl.0, at, from));
                        }
                    }
                }
                Action::Receive {
                    channel, patterns, ..
                } => {
                    for (at, pattern) in patterns.iter().enumerate() {
                        match pattern {
                            Match::StoreChan(_, to) => {
                                carried.push((channel.decl.0, at, to.decl.0))
                            }
                            Match::Equal(e) => {
                                if let Some(to) = held(e) {
                                    carried.push((channel.decl.0, at, to));
                                }
                            }
                            Match::Store(_) | Match::Ignore => {}
                        }
                    }
                }
                Action::Skip
                | Action::Assert(_)
                | Action::Test(_)
                | Action::Else
                | Action::Deterministic(_)
                | Action::Die => {}
            }
            for e in expressions(&edge.action) {
                e.walk(&mut |part| match part {
                    Expr::Bin(_, a, b, _) => {
                        if let (Some(a), Some(b)) = (held(a), held(b)) {
                            joins.push((a, b));
                        }
                    }
                    Expr::Poll {
                        channel, patterns, ..
                    } => {
                        for (at, pattern) in patterns.iter().enumerate() {
                            if let Match::Equal(Expr::Chan(c)) = pattern {
                                polls.push((channel.decl.0, at, c.decl.0));
                            }
                        }
                    }
                    _ => {}
                });
            }
        }
        for (a, b) in joins {
            changed |= groups.join(a, b);
        }
        for (channel, field, held) in carried.into_iter().chain(polls) {
            let key = (groups.root(channel), field);
            let node = match fields.get(&key) {
                Some(node) => *node,
                None => {
                    changed = true;
                    let node = groups.add();
                    fields.insert(key, node);
                    node
                }
            };
            changed |= groups.join(node, held);
        }
        // Fields of channels that turned out to be of one class.
        let all: Vec<_> = fields.iter().map(|(k, v)| (*k, *v)).collect();
        for ((channel, field), node) in all {
            let key = (groups.root(channel), field);
            match fields.get(&key) {
                Some(other) if *other != node => changed |= groups.join(*other, node),
                Some(_) => {}
                None => {
                    fields.insert(key, node);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut classes: BTreeMap<usize, ClassId> = BTreeMap::new();
    let mut first: Vec<(At, i64, Vec<Type>)> = Vec::new();
    let mut class_of = vec![None; program.chans.len()];
    for (at, chan) in program.chans.iter().enumerate() {
        let Some((capacity, kinds)) = &chan.channel else {
            continue;
        };
        let each = match chan.owner {
            Some(owner) => {
                let template = &program.templates[owner.0];
                if !template.present {
                    continue;
                }
                template.pids.1 - template.pids.0 + 1
            }
            None => 1,
        };
        let many = each * chan.count();
        let root = groups.root(at);
        match classes.get(&root) {
            Some(id) => {
                let (_, c, k) = &first[id.0];
                if c != capacity || k != kinds {
                    return refuse(
                        chan.at,
                        format!(
                            "`{}` is used for the same variables as `{}`, which is declared otherwise",
                            chan.name, program.classes[id.0].name
                        ),
                        "declare channels that stand for each other with the same capacity and the same fields",
                    );
                }
                class_of[at] = Some((*id, program.classes[id.0].count + 1));
                program.classes[id.0].count += many;
            }
            None => {
                let id = ClassId(first.len());
                classes.insert(root, id);
                first.push((chan.at, *capacity, kinds.clone()));
                class_of[at] = Some((id, 1));
                program.classes.push(Class {
                    name: chan.name.clone(),
                    capacity: *capacity,
                    fields: Vec::new(),
                    length: None,
                    count: many,
                    indexed: false,
                    handed: false,
                    which: None,
                    exists: None,
                });
            }
        }
    }
    for (at, chan) in program.chans.iter().enumerate() {
        if chan.channel.is_some() {
            continue;
        }
        if let Some(id) = classes.get(&groups.root(at)) {
            class_of[at] = Some((*id, 0));
            // Who may not have been given a channel yet must be told from those who have.
            program.classes[id.0].indexed |= !chan.parameter;
            // What only parameters hold comes from a process that is older.
            program.classes[id.0].handed |= !chan.parameter;
        }
    }
    let received: Vec<ClassId> = actions(program)
        .filter_map(|(_, edge)| match &edge.action {
            Action::Receive { patterns, .. } => Some(patterns),
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Test(_)
            | Action::Else
            | Action::Send { .. }
            | Action::Deterministic(_)
            | Action::Die => None,
        })
        .flatten()
        .filter_map(|pattern| match pattern {
            Match::StoreChan(_, c) => class_of[c.decl.0].map(|(id, _)| id),
            Match::Store(_) | Match::Equal(_) | Match::Ignore => None,
        })
        .collect();
    for id in received {
        program.classes[id.0].handed = true;
    }
    program.class_of = class_of;
    for (at, (place, capacity, kinds)) in first.into_iter().enumerate() {
        if program.classes[at].count > 1 {
            program.classes[at].indexed = true;
        }
        let class = program.classes[at].clone();
        let outer: Vec<(i64, i64)> = if class.indexed {
            vec![(1, class.count)]
        } else {
            Vec::new()
        };
        let mut add = |name: String, kind: Type, dims: Vec<(i64, i64)>, lone: bool| {
            program.vars.push(Var {
                at: place,
                name,
                owner: None,
                kind,
                dims,
                initial: Expr::Num(0),
                list: None,
                range: (0, 0),
                boolean: false,
                shared: false,
                used: false,
                parameter: false,
                lone,
            });
            VarId(program.vars.len() - 1)
        };
        let mut fields = Vec::new();
        for (k, kind) in kinds.iter().enumerate() {
            let name = if kinds.len() == 1 {
                class.name.clone()
            } else {
                format!("{}_{}", class.name, k + 1)
            };
            let mut dims = outer.clone();
            if capacity > 0 {
                dims.push((0, capacity - 1));
            } else {
                dims.clear();
            }
            let lone = kinds.len() == 1 && matches!(kind, Type::Bit | Type::Bool);
            fields.push(add(
                name,
                if lone { Type::Byte } else { kind.clone() },
                dims,
                lone,
            ));
        }
        let exists = (capacity == 0 && class.indexed).then(|| {
            let name = format!("{}_exists", class.name);
            add(name, Type::Bool, outer.clone(), false)
        });
        let length =
            (capacity > 0).then(|| add(format!("{}_len", class.name), Type::Byte, outer, false));
        let which = (capacity == 0 && class.indexed).then(|| {
            add(
                format!("{}_channel", class.name),
                Type::Byte,
                Vec::new(),
                false,
            )
        });
        if let Some(length) = length {
            program.vars[length.0].range = (0, capacity);
        }
        if let Some(exists) = exists {
            program.vars[exists.0].initial = Expr::Num(1);
        }
        if let Some(which) = which {
            program.vars[which.0].range = (0, class.count);
        }
        let class = &mut program.classes[at];
        class.fields = fields;
        class.length = length;
        class.which = which;
        class.exists = exists;
    }
    let numbers: Vec<(VarId, i64)> = program
        .chans
        .iter()
        .zip(&program.class_of)
        .filter_map(|(c, class)| Some((c.var?, program.classes[(*class)?.0.0].count)))
        .collect();
    for (var, count) in numbers {
        program.vars[var.0].range = (0, count);
    }
    Ok(())
}
