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

/// What holds a channel, as far as found: declarations and fields of what they carry, in groups of those that may hold the same.
#[derive(Default)]
struct Holders {
    groups: Groups,
    /// Fields of the messages of a group.
    fields: BTreeMap<(usize, usize), usize>,
}

/// Two that may hold the same channel: declarations, or a field of a declaration's messages and a declaration.
enum Meeting {
    Declarations(usize, usize),
    Field(usize, usize, usize),
}

/// All that hold the same in some statement.
fn meetings(program: &Program) -> Vec<Meeting> {
    // Which declaration belongs to a variable.
    let chans = program.chans.iter().enumerate();
    let chan_of: BTreeMap<VarId, usize> = chans.filter_map(|(at, c)| Some((c.var?, at))).collect();
    let held = |e: &Expr| match e {
        Expr::Chan(c) => Some(c.decl.0),
        _ => None,
    };
    let mut all = Vec::new();
    for (_, edge) in actions(program) {
        match &edge.action {
            Action::Assign(cell, value) => {
                if let (Some(to), Some(from)) = (chan_of.get(&cell.var), held(value)) {
                    all.push(Meeting::Declarations(*to, from));
                }
            }
            Action::Run {
                template,
                arguments,
                ..
            } => {
                let parameters = &program.templates[template.0].parameters;
                for (parameter, argument) in parameters.iter().zip(arguments) {
                    if let (Parameter::Chan(to), Some(from)) = (parameter, held(argument)) {
                        all.push(Meeting::Declarations(to.0, from));
                    }
                }
            }
            Action::Send {
                channel, values, ..
            } => {
                let sent = values.iter().enumerate();
                let sent = sent.filter_map(|(at, value)| Some((at, held(value)?)));
                all.extend(sent.map(|(at, from)| Meeting::Field(channel.decl.0, at, from)));
            }
            Action::Receive {
                channel, patterns, ..
            } => {
                for (at, pattern) in patterns.iter().enumerate() {
                    if let Match::StoreChan(_, to) | Match::Equal(Expr::Chan(to)) = pattern {
                        all.push(Meeting::Field(channel.decl.0, at, to.decl.0));
                    }
                }
            }
            _ => {}
        }
        edge.action.walk(&mut |part| match part {
            Expr::Bin(_, a, b, _) => {
                if let (Some(a), Some(b)) = (held(a), held(b)) {
                    all.push(Meeting::Declarations(a, b));
                }
            }
            Expr::Poll {
                channel, patterns, ..
            } => {
                for (at, pattern) in patterns.iter().enumerate() {
                    if let Match::Equal(Expr::Chan(to)) = pattern {
                        all.push(Meeting::Field(channel.decl.0, at, to.decl.0));
                    }
                }
            }
            _ => {}
        });
    }
    all
}

impl Holders {
    /// Joins what meets, until nothing changes.
    fn of(program: &Program) -> Holders {
        let mut holders = Holders::default();
        program.chans.iter().for_each(|_| {
            holders.groups.add();
        });
        let meetings = meetings(program);
        while meetings.iter().fold(false, |any, m| holders.join(m) | any) | holders.join_fields() {}
        holders
    }

    fn join(&mut self, meeting: &Meeting) -> bool {
        match *meeting {
            Meeting::Declarations(a, b) => self.groups.join(a, b),
            Meeting::Field(channel, field, held) => {
                let key = (self.groups.root(channel), field);
                let known = self.fields.get(&key).copied();
                let node = known.unwrap_or_else(|| self.groups.add());
                self.fields.insert(key, node);
                self.groups.join(node, held) | known.is_none()
            }
        }
    }

    /// Joins the fields of channels that turned out to be of one group.
    fn join_fields(&mut self) -> bool {
        let mut changed = false;
        for ((channel, field), node) in self.fields.clone() {
            let key = (self.groups.root(channel), field);
            let other = *self.fields.entry(key).or_insert(node);
            changed |= self.groups.join(other, node);
        }
        changed
    }
}

/// Finds the classes and declares what they store.
pub(super) fn classify(program: &mut Program) -> Result<()> {
    let groups = Holders::of(program).groups;
    let mut classes: BTreeMap<usize, ClassId> = BTreeMap::new();
    let mut first: Vec<(At, Vec<Type>)> = Vec::new();
    let mut class_of = vec![None; program.chans.len()];
    for (at, chan) in program.chans.iter().enumerate() {
        let Some((capacity, kinds)) = &chan.channel else {
            continue;
        };
        let many = match chan.owner.map(|owner| &program.templates[owner.0]) {
            Some(template) if !template.present => continue,
            Some(template) => (template.pids.1 - template.pids.0 + 1) * chan.count(),
            None => chan.count(),
        };
        let id = *classes.entry(groups.root(at)).or_insert_with(|| {
            first.push((chan.at, kinds.clone()));
            program.classes.push(Class::new(&chan.name, *capacity));
            ClassId(first.len() - 1)
        });
        let class = &mut program.classes[id.0];
        if class.capacity != *capacity || first[id.0].1 != *kinds {
            return refuse(
                chan.at,
                format!(
                    "`{}` is used for the same variables as `{}`, which is declared otherwise",
                    chan.name, class.name
                ),
                "declare channels that stand for each other with the same capacity and the same fields",
            );
        }
        class_of[at] = Some((id, class.count + 1));
        class.count += many;
    }
    for (at, chan) in program.chans.iter().enumerate() {
        if chan.channel.is_none()
            && let Some(id) = classes.get(&groups.root(at))
        {
            class_of[at] = Some((*id, 0));
            let class = &mut program.classes[id.0];
            // Who may not have been given a channel yet must be told from those who have.
            class.indexed |= !chan.parameter;
            // What only parameters hold comes from a process that is older.
            class.handed |= !chan.parameter;
        }
    }
    program.class_of = class_of;
    handed_by_messages(program);
    for (at, (place, kinds)) in first.into_iter().enumerate() {
        declare(program, ClassId(at), place, &kinds);
    }
    for (chan, class) in program.chans.iter().zip(&program.class_of) {
        if let (Some(var), Some((id, _))) = (chan.var, class) {
            program.vars[var.0].range = (0, program.classes[id.0].count);
        }
    }
    Ok(())
}

/// Marks the classes of channels that messages hand over.
fn handed_by_messages(program: &mut Program) {
    let mut received = Vec::new();
    for (_, edge) in actions(program) {
        if let Action::Receive { patterns, .. } = &edge.action {
            received.extend(patterns.iter().filter_map(|pattern| match pattern {
                Match::StoreChan(_, c) => program.class_of[c.decl.0],
                _ => None,
            }));
        }
    }
    for (id, _) in received {
        program.classes[id.0].handed = true;
    }
}

/// Declares what a class stores.
fn declare(program: &mut Program, id: ClassId, at: At, kinds: &[Type]) {
    let class = &mut program.classes[id.0];
    class.indexed |= class.count > 1;
    let Class {
        ref name,
        capacity,
        count,
        indexed,
        ..
    } = *class;
    let outer: Vec<(i64, i64)> = indexed.then_some((1, count)).into_iter().collect();
    let mut add = |what: String, kind: Type, dims: Vec<(i64, i64)>, range| {
        program.vars.push(Var {
            range,
            ..Var::added(at, format!("{name}{what}"), kind, dims)
        });
        VarId(program.vars.len() - 1)
    };
    let mut slots = outer.clone();
    match capacity {
        0 => slots.clear(),
        _ => slots.push((0, capacity - 1)),
    }
    let mut fields = Vec::new();
    for (k, kind) in kinds.iter().enumerate() {
        let what = match kinds.len() {
            1 => String::new(),
            _ => format!("_{}", k + 1),
        };
        fields.push(add(what, kind.clone(), slots.clone(), (0, 0)));
    }
    let rendezvous = capacity == 0 && indexed;
    let exists = rendezvous.then(|| add("_exists".into(), Type::Bool, outer.clone(), (0, 0)));
    let length = (capacity > 0).then(|| add("_len".into(), Type::Byte, outer, (0, capacity)));
    let which = rendezvous.then(|| add("_channel".into(), Type::Byte, Vec::new(), (0, count)));
    if let (&[field], [Type::Bit | Type::Bool]) = (&fields[..], kinds) {
        program.vars[field.0].kind = Type::Byte;
        program.vars[field.0].lone = true;
    }
    if let Some(exists) = exists {
        program.vars[exists.0].initial = Expr::Num(1);
    }
    let class = &mut program.classes[id.0];
    (class.fields, class.length) = (fields, length);
    (class.which, class.exists) = (which, exists);
}
