//! What a process does at a control state, as one step of our language.
//!
//! An atomic sequence is followed as far as it goes and becomes one step. Where a later statement of it cannot be executed, control stays there
//! and the step ends: in SPIN the sequence loses its atomicity. A step of our language cannot wait after it has written, so this is a
//! branch, not an `await`. Where a sequence cannot be followed (it loops, it chooses among several options of which some may be
//! closed, or it meets another process in a rendezvous), it takes several steps, and a shared variable says who alone may move: nobody (0), a process (its
//! pid + 1), or whoever takes the message that is being handed over. SPIN does not store the states in between; they
//! are those where that variable is not 0.

use super::ir::*;
use super::texts::{Guard, Texts, Tracked, View, and, not};
use crate::from_promela::syntax::At;
use std::collections::BTreeSet;

/// Statements that one step may take over from an atomic sequence.
const MAX_INLINED: usize = 80;

/// A statement of our language.
#[derive(Clone, Debug)]
pub(super) enum Line {
    Plain(String, At),
    /// `if c { .. } else if d { .. } else { .. }`.
    If(Vec<(String, Vec<Line>)>, Vec<Line>, At),
    Choose(Vec<Vec<Line>>, At),
    /// `for k in D` or `choose k in D`.
    Over(String, Vec<Line>, At),
    Goto(NodeId, At),
    /// The process is over.
    Return(At),
}

/// What is found out while steps are written: who may be where while holding the right to move, and which states are locations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub held: BTreeSet<(TemplateId, NodeId)>,
    pub locations: BTreeSet<(TemplateId, NodeId)>,
    /// Locations whose steps nobody has asked for yet.
    pub waiting: Vec<NodeId>,
}

impl Found {
    pub(super) fn reach(&mut self, template: TemplateId, node: NodeId) {
        if self.locations.insert((template, node)) {
            self.waiting.push(node);
        }
    }
}

pub(super) struct Steps<'t, 'p> {
    pub texts: &'t Texts<'p>,
    pub template: TemplateId,
    /// What the last round found.
    pub before: &'t Found,
    pub found: &'t mut Found,
    /// Whether the variable that says who may move exists.
    pub exclusive: bool,
    pub tracked: &'t Tracked,
    /// Whether a message might be taken by the process that sends it, unless that is ruled out.
    pub sender: bool,
}

/// Where a step stands while it is written.
struct Walk {
    /// Control states on the way, against loops.
    path: Vec<NodeId>,
    source: NodeId,
    /// Whether the variable may be other than 0.
    held: bool,
    budget: usize,
}

impl Steps<'_, '_> {
    pub(super) fn view(&self) -> View {
        View::Own(self.template)
    }

    pub(super) fn me(&self) -> String {
        let pid = self.texts.pid(&self.view());
        pid.parse::<i64>()
            .map_or_else(|_| format!("{pid} + 1"), |n| (n + 1).to_string())
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.texts.program.templates[self.template.0].nodes[id.0]
    }

    /// The value of the variable while a message of a class is handed over.
    fn handing(&self, class: ClassId) -> i64 {
        self.texts.program.most + 1 + class.0 as i64
    }

    fn rendezvous(&self, c: &ChanRef) -> Option<ClassId> {
        let (id, _) = self.texts.program.class_of[c.decl.0]?;
        (self.texts.program.classes[id.0].capacity == 0).then_some(id)
    }

    /// The whole step at a location.
    pub(super) fn location(&mut self, id: NodeId) -> Result<Vec<Line>> {
        let node = self.node(id).clone();
        let held = self.before.held.contains(&(self.template, id));
        let name = self.texts.added.exclusive.clone();
        let free = match (self.exclusive, held) {
            (false, _) => Guard::Always,
            (true, false) => Guard::If(format!("{name} == 0")),
            (true, true) => Guard::If(format!("{name} == 0 || {name} == {}", self.me())),
        };
        let mut walk = Walk {
            path: vec![id],
            source: id,
            held,
            budget: MAX_INLINED,
        };
        if node.deterministic {
            let mut lines = Vec::new();
            if self.exclusive {
                lines.push(Line::Plain(
                    format!("await {name} == {};", self.me()),
                    node.at,
                ));
            }
            lines.extend(self.first_of(&node, &mut walk)?);
            return Ok(lines);
        }
        let mut there = free;
        if let Some(on) = self.presence(id) {
            there = and(Guard::If(on), there);
        }
        let others: Vec<&Edge> = node.edges.iter().filter(|e| !self.takes(e)).collect();
        // A test and `else`.
        if let [test, other] = node.edges.as_slice()
            && matches!(other.action, Action::Else)
            && others.len() == 2
            && test.unless.is_empty()
            && !self.chooses(test)
        {
            let guard = self.texts.guard(self.template, &node, test, &self.view())?;
            if let Guard::If(text) = &guard {
                let mut lines = await_of(&there, node.at);
                let yes = self.after_guard(test, &mut walk)?;
                let no = self.after_guard(other, &mut walk)?;
                lines.push(Line::If(vec![(text.clone(), yes)], no, node.at));
                return Ok(lines);
            }
        }
        let mut branches: Vec<Vec<Line>> = Vec::new();
        let common =
            others.len() == node.edges.len() && node.edges.len() > 1 && there != Guard::Always;
        for edge in &node.edges {
            let guard = self.texts.guard(self.template, &node, edge, &self.view())?;
            let mut lines;
            if let (Action::Receive { channel, .. }, Some(class)) =
                (&edge.action, self.receives(edge))
            {
                let here = self.presence(id).map_or(Guard::Always, Guard::If);
                let guard = match self.texts.exists(channel, &self.view())? {
                    Guard::Always => Guard::Always,
                    // Nobody looks at the channel while others hold the right to move.
                    exists => {
                        let name = &self.texts.added.exclusive;
                        let handing = self.handing(class);
                        let looks = format!("{name} == 0 || {name} == {handing}");
                        and(Guard::If(looks), exists)
                    }
                };
                let guard = and(and(here, guard), self.taking(channel, class, edge)?);
                lines = await_of(&guard, edge.at);
                let mut walk = Walk {
                    path: vec![id],
                    source: id,
                    held: true,
                    budget: MAX_INLINED,
                };
                lines.extend(self.after_guard(edge, &mut walk)?);
            } else {
                if guard == Guard::Never {
                    continue;
                }
                // The choice of a slot waits itself, but not for `unless`.
                let guard = if self.chooses(edge) && edge.unless.is_empty() {
                    Guard::Always
                } else {
                    guard
                };
                let all = if common {
                    guard
                } else {
                    and(there.clone(), guard)
                };
                lines = waiting(&all, self.after_guard(edge, &mut walk)?, edge.at);
            }
            branches.push(lines);
        }
        let mut lines = if common {
            await_of(&there, node.at)
        } else {
            Vec::new()
        };
        match branches.len() {
            0 => lines.push(Line::Plain("await false;".into(), node.at)),
            1 => lines.extend(branches.remove(0)),
            _ => lines.push(Line::Choose(branches, node.at)),
        }
        Ok(lines)
    }

    /// What must hold for a process that may not have been started yet.
    fn presence(&self, id: NodeId) -> Option<String> {
        let program = self.texts.program;
        let template = &program.templates[self.template.0];
        if !template.run || template.entry != id {
            return None;
        }
        Some(if program.ambiguous {
            self.texts
                .of_process(&self.texts.added.on[self.template.0], &self.view())
        } else {
            format!(
                "{} > {}",
                self.texts.added.nr_pr,
                self.texts.pid(&self.view())
            )
        })
    }

    fn receives(&self, edge: &Edge) -> Option<ClassId> {
        match &edge.action {
            Action::Receive { channel, .. } => self.rendezvous(channel),
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Test(_)
            | Action::Else
            | Action::Send { .. }
            | Action::Deterministic(_)
            | Action::Die => None,
        }
    }

    fn takes(&self, edge: &Edge) -> bool {
        self.receives(edge).is_some()
    }

    /// Whether the effect itself waits, with a choice of a slot.
    fn chooses(&self, edge: &Edge) -> bool {
        match &edge.action {
            Action::Send {
                sorted, channel, ..
            } => *sorted && self.rendezvous(channel).is_none(),
            Action::Receive {
                random,
                patterns,
                channel,
                ..
            } => {
                *random
                    && self.rendezvous(channel).is_none()
                    && patterns.iter().any(|p| matches!(p, Match::Equal(_)))
            }
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Test(_)
            | Action::Else
            | Action::Deterministic(_)
            | Action::Die => false,
        }
    }

    /// When the message that is being handed over is for this edge.
    fn taking(&self, channel: &ChanRef, class: ClassId, edge: &Edge) -> Result<Guard> {
        let texts = self.texts;
        let added = texts.added;
        let mut guard = Guard::If(format!("{} == {}", added.exclusive, self.handing(class)));
        if self.sender {
            guard = and(
                guard,
                Guard::If(format!("{} != {}", added.sender, self.me())),
            );
        }
        guard = and(guard, self.fits(channel, class, edge)?);
        // Of what `unless` puts in front, SPIN takes only receives now.
        for other in texts.receives_before(self.template, edge) {
            if let Action::Receive { channel, .. } = &other.action {
                guard = and(guard, not(self.fits(channel, class, other)?));
            }
        }
        Ok(guard)
    }

    /// Whether the channel and the message that is being handed over are those that a receive asks for.
    fn fits(&self, channel: &ChanRef, class: ClassId, edge: &Edge) -> Result<Guard> {
        let texts = self.texts;
        let mut guard = Guard::Always;
        let stored = &texts.program.classes[class.0];
        if let Some(which) = stored.which {
            let name = &texts.program.vars[which.0].name;
            let number = texts.channel_number(channel, &self.view())?;
            guard = Guard::If(format!("{name} == {number}"));
        }
        let Action::Receive { patterns, .. } = &edge.action else {
            return Ok(guard);
        };
        for (field, pattern) in stored.fields.iter().zip(patterns) {
            if let Match::Equal(e) = pattern {
                let name = texts.program.vars[field.0].name.clone();
                guard = and(guard, texts.equals(*field, &name, e, &self.view())?);
            }
        }
        Ok(guard)
    }

    /// The effect of an edge whose guard holds, and what follows.
    fn after_guard(&mut self, edge: &Edge, walk: &mut Walk) -> Result<Vec<Line>> {
        if let Action::Deterministic(first) = edge.action {
            walk.path.push(first);
            let node = self.node(first).clone();
            let lines = self.first_of(&node, walk)?;
            walk.path.pop();
            return Ok(lines);
        }
        let mut lines = self.effect(edge)?;
        if matches!(edge.action, Action::Die) {
            return Ok(lines);
        }
        if let Action::Send { channel, .. } = &edge.action
            && let Some(class) = self.rendezvous(channel)
        {
            // The right to move goes to who takes the message, also out of an atomic sequence.
            let hand = format!("{} := {};", self.texts.added.exclusive, self.handing(class));
            lines.push(Line::Plain(hand, edge.at));
            lines.extend(self.go(edge.target, walk, edge.at));
            return Ok(lines);
        }
        lines.extend(self.arrive(edge, walk)?);
        Ok(lines)
    }

    /// The edges of a state inside `d_step`: the first that can be taken is.
    fn first_of(&mut self, node: &Node, walk: &mut Walk) -> Result<Vec<Line>> {
        let mut branches = Vec::new();
        let mut last = vec![Line::Plain("assert false;".into(), node.at)];
        for edge in &node.edges {
            if self.chooses(edge) {
                return refuse(
                    edge.at,
                    "`!!`, or `??` with a constant, inside `d_step`",
                    "use `atomic` instead, or put the receive first",
                );
            }
            let guard = if matches!(edge.action, Action::Else) {
                Guard::Always
            } else {
                self.texts.guard(self.template, node, edge, &self.view())?
            };
            match guard {
                Guard::Never => {}
                Guard::Always => {
                    last = self.after_guard(edge, walk)?;
                    // `else` comes last wherever it stands.
                    if !matches!(edge.action, Action::Else) {
                        break;
                    }
                }
                Guard::If(text) => branches.push((text, self.after_guard(edge, walk)?)),
            }
        }
        if branches.is_empty() {
            return Ok(last);
        }
        Ok(vec![Line::If(branches, last, node.at)])
    }

    fn arrive(&mut self, edge: &Edge, walk: &mut Walk) -> Result<Vec<Line>> {
        let target = edge.target;
        if !edge.keeps {
            let mut lines = Vec::new();
            if walk.held {
                lines.push(Line::Plain(
                    format!("{} := 0;", self.texts.added.exclusive),
                    edge.at,
                ));
            }
            lines.extend(self.go(target, walk, edge.at));
            return Ok(lines);
        }
        let node = self.node(target).clone();
        if !walk.path.contains(&target) && walk.budget > 0 {
            walk.budget -= 1;
            walk.path.push(target);
            let inlined = self.inline(target, &node, walk)?;
            walk.path.pop();
            if let Some(lines) = inlined {
                return Ok(lines);
            }
        }
        self.found.held.insert((self.template, target));
        let name = self.texts.added.exclusive.clone();
        let guard = self.texts.executable(self.template, target, &self.view())?;
        let hold = Line::Plain(format!("{name} := {};", self.me()), edge.at);
        let mut lines = match guard {
            Guard::Always => vec![hold],
            Guard::Never if !node.deterministic => {
                vec![Line::Plain(format!("{name} := 0;"), edge.at)]
            }
            guard if node.deterministic => {
                vec![
                    Line::Plain(format!("assert {};", guard.text()), node.at),
                    hold,
                ]
            }
            guard => {
                let release = Line::Plain(format!("{name} := 0;"), edge.at);
                vec![Line::If(
                    vec![(guard.text(), vec![hold])],
                    vec![release],
                    edge.at,
                )]
            }
        };
        lines.extend(self.go(target, walk, edge.at));
        Ok(lines)
    }

    /// Follows an atomic sequence within the step. None where that cannot be done.
    fn inline(&mut self, id: NodeId, node: &Node, walk: &mut Walk) -> Result<Option<Vec<Line>>> {
        if node.deterministic {
            return Ok(Some(self.first_of(node, walk)?));
        }
        let mut guards = Vec::new();
        for edge in &node.edges {
            let hands = matches!(&edge.action, Action::Send { channel, .. } if self.rendezvous(channel).is_some());
            if hands || self.takes(edge) || self.chooses(edge) || asks_timeout(edge) {
                return Ok(None);
            }
            guards.push(self.texts.guard(self.template, node, edge, &self.view())?);
        }
        let open: Vec<(&Edge, Guard)> = node
            .edges
            .iter()
            .zip(guards)
            .filter(|(_, g)| *g != Guard::Never)
            .collect();
        if open.iter().all(|(_, g)| *g == Guard::Always) && !open.is_empty() {
            let mut branches = Vec::new();
            for (edge, _) in &open {
                branches.push(self.after_guard(edge, walk)?);
            }
            return Ok(Some(match branches.len() {
                1 => branches.remove(0),
                _ => vec![Line::Choose(branches, node.at)],
            }));
        }
        let (others, tests): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|(e, _)| matches!(e.action, Action::Else));
        let apart = tests
            .iter()
            .enumerate()
            .all(|(at, (a, _))| tests[at + 1..].iter().all(|(b, _)| exclusive(a, b)));
        if !apart && tests.len() > 2 {
            return Ok(None);
        }
        let otherwise = match others.first() {
            Some((edge, _)) => self.after_guard(edge, walk)?,
            None => {
                let mut lines = Vec::new();
                if walk.held {
                    lines.push(Line::Plain(
                        format!("{} := 0;", self.texts.added.exclusive),
                        node.at,
                    ));
                }
                lines.extend(self.go(id, walk, node.at));
                lines
            }
        };
        if tests.is_empty() {
            return Ok(Some(otherwise));
        }
        let mut branches = Vec::new();
        if !apart {
            let both = and(tests[0].1.clone(), tests[1].1.clone());
            let lines = vec![
                self.after_guard(tests[0].0, walk)?,
                self.after_guard(tests[1].0, walk)?,
            ];
            branches.push((both.text(), vec![Line::Choose(lines, node.at)]));
        }
        for (edge, guard) in &tests {
            branches.push((guard.text(), self.after_guard(edge, walk)?));
        }
        let complete = branches.iter().position(|(text, _)| text == "true");
        if let Some(at) = complete {
            let (_, last) = branches.swap_remove(at);
            branches.truncate(at);
            if branches.is_empty() {
                return Ok(Some(last));
            }
            return Ok(Some(vec![Line::If(branches, last, node.at)]));
        }
        Ok(Some(vec![Line::If(branches, otherwise, node.at)]))
    }

    /// Ends the step at a control state.
    fn go(&mut self, target: NodeId, walk: &Walk, at: At) -> Vec<Line> {
        let mut lines = Vec::new();
        let number = |id| self.tracked.get(&(self.template, id)).copied().unwrap_or(0);
        if number(walk.source) != number(target) {
            let place = self
                .texts
                .of_process(&self.texts.added.place[self.template.0], &self.view());
            lines.push(Line::Plain(format!("{place} := {};", number(target)), at));
        }
        let template = &self.texts.program.templates[self.template.0];
        if template.nodes[target.0].end && !template.dies {
            lines.push(Line::Return(at));
        } else {
            self.found.reach(self.template, target);
            lines.push(Line::Goto(target, at));
        }
        lines
    }
}

pub(super) fn await_of(guard: &Guard, at: At) -> Vec<Line> {
    match guard {
        Guard::Always => Vec::new(),
        other => vec![Line::Plain(format!("await {};", other.text()), at)],
    }
}

/// Code that waits for a guard first. If it waits itself, for a choice, it waits for both at once: evaluating the guard may fail, and a step
/// that may have failed does not wait.
fn waiting(guard: &Guard, mut code: Vec<Line>, at: At) -> Vec<Line> {
    if let Some(Line::Over(_, body, _)) = code.first_mut()
        && let Some(Line::Plain(text, _)) = body.first_mut()
        && let Some(own) = text.strip_prefix("await ")
    {
        let own = Guard::If(own.trim_end_matches(';').to_owned());
        *text = format!("await {};", and(guard.clone(), own).text());
        return code;
    }
    let mut lines = await_of(guard, at);
    lines.append(&mut code);
    lines
}

/// Whether two tests can never both hold, by their form.
fn exclusive(a: &Edge, b: &Edge) -> bool {
    use crate::from_promela::syntax::Binary;
    let (Action::Test(a), Action::Test(b)) = (&a.action, &b.action) else {
        return false;
    };
    let same = |a: &Expr, b: &Expr| format!("{:?}", strip(a)) == format!("{:?}", strip(b));
    match (a, b) {
        (Expr::Not(x), y) | (y, Expr::Not(x)) if same(x, y) => true,
        (Expr::Bin(p, x, m, _), Expr::Bin(q, y, n, _)) if same(x, y) => {
            if same(m, n) {
                return matches!(
                    (p, q),
                    (Binary::Equal, Binary::NotEqual)
                        | (Binary::NotEqual, Binary::Equal)
                        | (Binary::Less, Binary::GreaterEqual)
                        | (Binary::GreaterEqual, Binary::Less)
                        | (Binary::Greater, Binary::LessEqual)
                        | (Binary::LessEqual, Binary::Greater)
                        | (Binary::Less, Binary::Greater)
                        | (Binary::Greater, Binary::Less)
                        | (Binary::Equal, Binary::Less | Binary::Greater)
                        | (Binary::Less | Binary::Greater, Binary::Equal)
                );
            }
            let span = |op: &Binary, n: i64| match op {
                Binary::Equal => Some((n, n)),
                Binary::Less => Some((i64::MIN, n - 1)),
                Binary::LessEqual => Some((i64::MIN, n)),
                Binary::Greater => Some((n + 1, i64::MAX)),
                Binary::GreaterEqual => Some((n, i64::MAX)),
                _ => None,
            };
            match (
                m.number().and_then(|m| span(p, m)),
                n.number().and_then(|n| span(q, n)),
            ) {
                (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
                _ => false,
            }
        }
        _ => false,
    }
}

/// The expression without places, to compare it with another.
fn strip(e: &Expr) -> String {
    let mut text = String::new();
    e.walk(&mut |part| {
        let piece = match part {
            Expr::Num(n) => format!("{n} "),
            Expr::Member(name, _) => format!("{name} "),
            Expr::Var(cell) => format!("v{}[{}] ", cell.var.0, cell.indices.len()),
            Expr::Chan(c) => format!("c{}[{}] ", c.decl.0, c.indices.len()),
            Expr::Pid(_) => "pid ".into(),
            Expr::NrPr => "nr ".into(),
            Expr::Not(_) => "! ".into(),
            Expr::Minus(_) => "- ".into(),
            Expr::Bin(op, ..) => format!("{op:?} "),
            Expr::Cond(..) => "? ".into(),
            Expr::Length(c) => format!("len{}[{}] ", c.decl.0, c.indices.len()),
            Expr::Full(c) => format!("full{}[{}] ", c.decl.0, c.indices.len()),
            Expr::Empty(c) => format!("empty{}[{}] ", c.decl.0, c.indices.len()),
            // These are never taken for the same.
            other => format!("{:p} ", std::ptr::from_ref(other)),
        };
        text += &piece;
    });
    text
}

/// Whether an edge waits for everybody else to be stuck.
pub(super) fn asks_timeout(edge: &Edge) -> bool {
    let mut asks = false;
    for e in super::classes::expressions(&edge.action) {
        e.walk(&mut |part| asks |= matches!(part, Expr::Timeout(_)));
    }
    asks
}
