//! What a process does at a control state, as one step of our language.
//!
//! An atomic sequence is followed as far as it goes and becomes one step. Where a later statement of it cannot be executed, control stays there
//! and the step ends: in SPIN the sequence loses its atomicity. A step of our language cannot wait after it has written, so this is a
//! branch, not an `await`. Where a sequence cannot be followed (it loops, it chooses among several options of which some may be
//! closed, or it meets another process in a rendezvous), it takes several steps, and a shared variable says who alone may move: nobody (0), a process (its
//! pid + 1), or whoever takes the message that is being handed over. SPIN does not store the states in between; they
//! are those where that variable is not 0.

use super::build::*;
use super::ir::*;
use super::terms::{Terms, Tracked, View};
use crate::from_promela::syntax::Binary;
use std::collections::BTreeSet;
use threadwise_lang::program::{Block, CompareOp, LocationId, Span, Stmt, StmtKind};

/// Statements that one step may take over from an atomic sequence.
const MAX_INLINED: usize = 80;

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
    pub terms: &'t Terms<'p>,
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

    /// What the variable that says who may move is while this process holds the right.
    pub(super) fn me(&self) -> Term {
        shifted(self.terms.pid(&self.view()), 1)
    }

    /// Whether that variable has this value.
    fn moves(&self, value: Term) -> Term {
        equal(self.terms.global(self.terms.declared.exclusive), value)
    }

    /// Gives the right to move: to nobody if it is 0.
    fn let_move(&self, value: Term, at: Span) -> Stmt {
        let exclusive = self.terms.shared(self.terms.declared.exclusive, Vec::new());
        assign(exclusive, value, at)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.terms.program.templates[self.template.0].nodes[id.0]
    }

    /// The value of the variable while a message of a class is handed over.
    fn handing(&self, class: ClassId) -> i64 {
        self.terms.program.most + 1 + class.0 as i64
    }

    fn rendezvous(&self, c: &ChanRef) -> Option<ClassId> {
        self.terms.program.rendezvous(c)
    }

    /// The whole step at a location.
    pub(super) fn location(&mut self, id: NodeId) -> Result<Block> {
        let node = self.node(id).clone();
        let here = self.terms.span(node.at);
        let held = self.before.held.contains(&(self.template, id));
        let mut walk = Walk {
            path: vec![id],
            source: id,
            held,
            budget: MAX_INLINED,
        };
        if node.deterministic {
            let mut block = Vec::new();
            if self.exclusive {
                block.extend(await_of(self.moves(self.me()), here));
            }
            block.extend(self.first_of(&node, &mut walk)?);
            return Ok(block);
        }
        let free = match (self.exclusive, held) {
            (false, _) => truth(true),
            (true, false) => self.moves(int(0)),
            (true, true) => or([self.moves(int(0)), self.moves(self.me())]),
        };
        let there = and(self.presence(id), free);
        let apart = node.edges.iter().any(|edge| self.receives(edge).is_some());
        // A test and `else`.
        if let [test, other] = node.edges.as_slice()
            && matches!(other.action, Action::Else)
            && !apart
            && test.unless.is_empty()
            && !self.chooses(test)
        {
            let guard = self.terms.guard(self.template, &node, test, &self.view())?;
            if !is(&guard, true) && !is(&guard, false) {
                let mut block = await_of(there, here);
                let yes = self.after_guard(test, &mut walk)?;
                let no = self.after_guard(other, &mut walk)?;
                block.push(stmt(StmtKind::If(vec![(guard, yes)], no), here));
                return Ok(block);
            }
        }
        let common = !apart && node.edges.len() > 1 && !is(&there, true);
        let mut branches: Vec<Block> = Vec::new();
        for edge in &node.edges {
            let guard = self.terms.guard(self.template, &node, edge, &self.view())?;
            if let Some(class) = self.receives(edge) {
                branches.push(self.rendezvous_with(id, edge, class)?);
            } else if !is(&guard, false) {
                // The choice of a slot waits itself, but not for `unless`.
                let waits = self.chooses(edge) && edge.unless.is_empty();
                let guard = if waits { truth(true) } else { guard };
                let all = match common {
                    true => guard,
                    false => and(there.clone(), guard),
                };
                branches.push(waiting(
                    all,
                    self.after_guard(edge, &mut walk)?,
                    self.terms.span(edge.at),
                ));
            }
        }
        let mut block = match common {
            true => await_of(there, here),
            false => Vec::new(),
        };
        match branches.len() {
            0 => block.extend(await_of(truth(false), here)),
            1 => block.extend(branches.remove(0)),
            _ => block.push(stmt(StmtKind::Choose(branches), here)),
        }
        Ok(block)
    }

    /// Takes a message that is being handed over.
    fn rendezvous_with(&mut self, id: NodeId, edge: &Edge, class: ClassId) -> Result<Block> {
        let Action::Receive { channel, .. } = &edge.action else {
            return Ok(Vec::new());
        };
        let at = self.terms.span(edge.at);
        let exists = self.terms.exists(channel, &self.view())?;
        // Nobody looks at the channel while others hold the right to move.
        let seen = match is(&exists, true) {
            true => exists,
            false => {
                let handing = self.moves(int(self.handing(class)));
                and(or([self.moves(int(0)), handing]), exists)
            }
        };
        let there = and(self.presence(id), seen);
        let guard = and(there, self.taking(channel, class, edge)?);
        let mut block = await_of(guard, at);
        let mut walk = Walk {
            path: vec![id],
            source: id,
            held: true,
            budget: MAX_INLINED,
        };
        block.extend(self.after_guard(edge, &mut walk)?);
        Ok(block)
    }

    /// What must hold for a process that may not have been started yet.
    fn presence(&self, id: NodeId) -> Term {
        match self.terms.program.templates[self.template.0].entry == id {
            true => self.terms.is_there(self.template, &self.view()),
            false => truth(true),
        }
    }

    /// The class of the rendezvous channel that an edge receives from.
    fn receives(&self, edge: &Edge) -> Option<ClassId> {
        self.rendezvous(edge.action.receives()?)
    }

    /// Whether the effect itself waits, with a choice of a slot.
    fn chooses(&self, edge: &Edge) -> bool {
        let (channel, chooses) = match &edge.action {
            Action::Send {
                sorted, channel, ..
            } => (channel, *sorted),
            Action::Receive {
                random,
                patterns,
                channel,
                ..
            } => {
                let tests = patterns.iter().any(|p| matches!(p, Match::Equal(_)));
                (channel, *random && tests)
            }
            _ => return false,
        };
        chooses && self.rendezvous(channel).is_none()
    }

    /// When the message that is being handed over is for this edge.
    fn taking(&self, channel: &ChanRef, class: ClassId, edge: &Edge) -> Result<Term> {
        let terms = self.terms;
        let mut guard = self.moves(int(self.handing(class)));
        if self.sender {
            let sender = terms.global(terms.declared.sender);
            guard = and(guard, sender.compare(CompareOp::Ne, self.me()));
        }
        guard = and(guard, self.fits(channel, class, edge)?);
        // Of what `unless` puts in front, SPIN takes only receives now.
        for other in terms.receives_before(self.template, edge) {
            if let Action::Receive { channel, .. } = &other.action {
                guard = and(guard, not(self.fits(channel, class, other)?));
            }
        }
        Ok(guard)
    }

    /// Whether the channel and the message that is being handed over are those that a receive asks for.
    fn fits(&self, channel: &ChanRef, class: ClassId, edge: &Edge) -> Result<Term> {
        let terms = self.terms;
        let mut guard = truth(true);
        let stored = &terms.program.classes[class.0];
        if let Some(which) = stored.which {
            let handed = terms.global(terms.shared_var(which)?);
            guard = equal(handed, terms.channel_number(channel, &self.view())?);
        }
        let Action::Receive { patterns, .. } = &edge.action else {
            return Ok(guard);
        };
        for (field, pattern) in stored.fields.iter().zip(patterns) {
            if let Match::Equal(e) = pattern {
                let handed = terms.global(terms.shared_var(*field)?);
                guard = and(guard, terms.equals(*field, handed, e, &self.view())?);
            }
        }
        Ok(guard)
    }

    /// The effect of an edge whose guard holds, and what follows.
    fn after_guard(&mut self, edge: &Edge, walk: &mut Walk) -> Result<Block> {
        if let Action::Deterministic(first) = edge.action {
            walk.path.push(first);
            let node = self.node(first).clone();
            let block = self.first_of(&node, walk)?;
            walk.path.pop();
            return Ok(block);
        }
        let at = self.terms.span(edge.at);
        let mut block = self.effect(edge)?;
        if matches!(edge.action, Action::Die) {
            return Ok(block);
        }
        if let Action::Send { channel, .. } = &edge.action
            && let Some(class) = self.rendezvous(channel)
        {
            // The right to move goes to who takes the message, also out of an atomic sequence.
            block.push(self.let_move(int(self.handing(class)), at));
            block.extend(self.go(edge.target, walk, at));
            return Ok(block);
        }
        block.extend(self.arrive(edge, walk)?);
        Ok(block)
    }

    /// The edges of a state inside `d_step`: the first that can be taken is.
    fn first_of(&mut self, node: &Node, walk: &mut Walk) -> Result<Block> {
        let here = self.terms.span(node.at);
        let mut branches = Vec::new();
        let mut last = vec![unreachable(here)];
        for edge in &node.edges {
            if self.chooses(edge) {
                return refuse(
                    edge.at,
                    "`!!`, or `??` with a constant, inside `d_step`",
                    "use `atomic` instead, or put the receive first",
                );
            }
            let otherwise = matches!(edge.action, Action::Else);
            let guard = match otherwise {
                true => truth(true),
                false => self.terms.guard(self.template, node, edge, &self.view())?,
            };
            if is(&guard, true) {
                last = self.after_guard(edge, walk)?;
                // `else` comes last wherever it stands.
                if !otherwise {
                    break;
                }
            } else if !is(&guard, false) {
                branches.push((guard, self.after_guard(edge, walk)?));
            }
        }
        if branches.is_empty() {
            return Ok(last);
        }
        Ok(vec![stmt(StmtKind::If(branches, last), here)])
    }

    /// Nobody holds the right to move any more, if anybody did.
    fn release(&self, walk: &Walk, at: Span) -> Option<Stmt> {
        walk.held.then(|| self.let_move(int(0), at))
    }

    fn arrive(&mut self, edge: &Edge, walk: &mut Walk) -> Result<Block> {
        let target = edge.target;
        let at = self.terms.span(edge.at);
        if !edge.keeps {
            let mut block: Block = self.release(walk, at).into_iter().collect();
            block.extend(self.go(target, walk, at));
            return Ok(block);
        }
        let node = self.node(target).clone();
        if !walk.path.contains(&target) && walk.budget > 0 {
            walk.budget -= 1;
            walk.path.push(target);
            let inlined = self.inline(target, &node, walk)?;
            walk.path.pop();
            if let Some(block) = inlined {
                return Ok(block);
            }
        }
        self.found.held.insert((self.template, target));
        let guard = self.terms.executable(self.template, target, &self.view())?;
        let hold = self.let_move(self.me(), at);
        let free = self.let_move(int(0), at);
        let mut block = match (is(&guard, true), is(&guard, false)) {
            (true, _) => vec![hold],
            _ if node.deterministic => {
                let here = self.terms.span(node.at);
                vec![stmt(StmtKind::Assert(guard), here), hold]
            }
            (_, true) => vec![free],
            _ => vec![stmt(
                StmtKind::If(vec![(guard, vec![hold])], vec![free]),
                at,
            )],
        };
        block.extend(self.go(target, walk, at));
        Ok(block)
    }

    /// Follows an atomic sequence within the step. None where that cannot be done.
    fn inline(&mut self, id: NodeId, node: &Node, walk: &mut Walk) -> Result<Option<Block>> {
        if node.deterministic {
            return Ok(Some(self.first_of(node, walk)?));
        }
        let here = self.terms.span(node.at);
        let mut open: Vec<(&Edge, Term)> = Vec::new();
        for edge in &node.edges {
            let hands = matches!(&edge.action, Action::Send { channel, .. } if self.rendezvous(channel).is_some());
            if hands || self.receives(edge).is_some() || self.chooses(edge) || asks_timeout(edge) {
                return Ok(None);
            }
            let guard = self.terms.guard(self.template, node, edge, &self.view())?;
            if !is(&guard, false) {
                open.push((edge, guard));
            }
        }
        if open.iter().all(|(_, guard)| is(guard, true)) && !open.is_empty() {
            let mut branches = Vec::new();
            for (edge, _) in &open {
                branches.push(self.after_guard(edge, walk)?);
            }
            return Ok(Some(match branches.len() {
                1 => branches.remove(0),
                _ => vec![stmt(StmtKind::Choose(branches), here)],
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
                let mut block: Block = self.release(walk, here).into_iter().collect();
                block.extend(self.go(id, walk, here));
                block
            }
        };
        if tests.is_empty() {
            return Ok(Some(otherwise));
        }
        let mut branches = Vec::new();
        if !apart {
            let both = and(tests[0].1.clone(), tests[1].1.clone());
            let either = vec![
                self.after_guard(tests[0].0, walk)?,
                self.after_guard(tests[1].0, walk)?,
            ];
            branches.push((both, vec![stmt(StmtKind::Choose(either), here)]));
        }
        for (edge, guard) in tests {
            branches.push((guard, self.after_guard(edge, walk)?));
        }
        let complete = branches.iter().position(|(guard, _)| is(guard, true));
        if let Some(at) = complete {
            let (_, last) = branches.swap_remove(at);
            branches.truncate(at);
            if branches.is_empty() {
                return Ok(Some(last));
            }
            return Ok(Some(vec![stmt(StmtKind::If(branches, last), here)]));
        }
        Ok(Some(vec![stmt(StmtKind::If(branches, otherwise), here)]))
    }

    /// Ends the step at a control state.
    fn go(&mut self, target: NodeId, walk: &Walk, at: Span) -> Block {
        let mut block = Vec::new();
        let number = |id| self.tracked.get(&(self.template, id)).copied().unwrap_or(0);
        if number(walk.source) != number(target) {
            let place = self.terms.declared.place[self.template.0];
            let place = self.terms.of_process(place, &self.view());
            block.push(assign(place, int(number(target)), at));
        }
        let template = &self.terms.program.templates[self.template.0];
        block.push(match template.nodes[target.0].end && !template.dies {
            true => stmt(StmtKind::Return, at),
            false => self.jump(target, at),
        });
        block
    }

    /// Goes on at a control state in another step.
    pub(super) fn jump(&mut self, target: NodeId, at: Span) -> Stmt {
        self.found.reach(self.template, target);
        // What is not known yet is found in this round, so another one follows.
        let known = self.terms.locations.get(&(self.template, target));
        let location = known.copied().unwrap_or_else(|| LocationId::new(0));
        stmt(StmtKind::Goto(location), at)
    }
}

/// Code that waits for a guard first. If it waits itself, for a choice, it waits for both at once: evaluating the guard may fail, and a step
/// that may have failed does not wait.
fn waiting(guard: Term, mut code: Block, at: Span) -> Block {
    if let Some(first) = code.first_mut()
        && let StmtKind::ChooseIn(_, _, body) = &mut first.kind
        && let Some(first) = body.first_mut()
        && let StmtKind::Await(own) = &mut first.kind
    {
        *own = and(guard, own.clone());
        return code;
    }
    let mut block = await_of(guard, at);
    block.append(&mut code);
    block
}

/// Whether two tests can never both hold, by their form.
fn exclusive(a: &Edge, b: &Edge) -> bool {
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
    edge.action
        .walk(&mut |part| asks |= matches!(part, Expr::Timeout(_)));
    asks
}
