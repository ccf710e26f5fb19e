//! When a statement can be executed, above all those on channels.

use super::build::*;
use super::ir::*;
use super::ranges::within;
use super::terms::{Terms, View};
use threadwise_lang::program::{CompareOp, Domain, ExprKind, ExprType, FoldKind, Place};

/// What patterns compare with.
pub(super) fn compared(patterns: &[Match]) -> Vec<Expr> {
    let expressions = patterns.iter().filter_map(|pattern| match pattern {
        Match::Equal(e) => Some(e.clone()),
        Match::Store(_) | Match::StoreChan(..) | Match::Ignore => None,
    });
    expressions.collect()
}

/// An index that may be larger is refused where it would have to be seen that it lies outside.
const MOST_INDEX: i64 = 1_000_000;

impl Terms<'_> {
    pub(super) fn class(&self, c: &ChanRef) -> Result<&Class> {
        match self.program.class_of[c.decl.0] {
            Some((id, _)) => Ok(&self.program.classes[id.0]),
            None => wrong(
                c.at,
                format!(
                    "`{}` never holds a channel",
                    self.program.chans[c.decl.0].name
                ),
                "declare one: `chan c = [1] of { byte };`",
            ),
        }
    }

    pub(super) fn buffered(&self, c: &ChanRef) -> Result<()> {
        if self.class(c)?.capacity == 0 {
            return refuse(
                c.at,
                "a question about a rendezvous channel, which never holds a message",
                "leave it out",
            );
        }
        Ok(())
    }

    /// Which of its class a channel is.
    pub(super) fn channel_number(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let decl = &self.program.chans[c.decl.0];
        let class = self.class(c)?;
        if let Some(var) = decl.var {
            if !class.indexed {
                return Ok(int(1));
            }
            let cell = Cell {
                var,
                indices: c.indices.clone(),
                at: c.at,
            };
            return self.cell(&cell, view);
        }
        let base = self.program.class_of[c.decl.0].map_or(1, |(_, base)| base);
        let mut number = base;
        let mut parts: Vec<Term> = Vec::new();
        let strided = |part: Term, stride: i64| match stride {
            1 => part,
            _ => times(part, int(stride)),
        };
        if let Some(owner) = decl.owner {
            let template = &self.program.templates[owner.0];
            if !template.single() {
                let length = decl.count();
                let pid = self.pid(view);
                number -= template.pids.0 * length;
                match constant(&pid) {
                    Some(n) => number += n * length,
                    None => parts.push(strided(pid, length)),
                }
            }
        }
        let mut stride = decl.count();
        for (at, (index, &length)) in c.indices.iter().zip(&decl.lengths).enumerate() {
            stride /= length;
            if let Some(n) = index.number() {
                if !(0..length).contains(&n) {
                    return wrong(c.at, "an index outside the array", "use a smaller index");
                }
                number += n * stride;
                continue;
            }
            let values = self.program.interval(index, view.template());
            let term = self.number(index, view)?;
            parts.push(strided(term.clone(), stride));
            // The index must lie within this array, not only within the class.
            let all = at == 0 && class.indexed && class.count == decl.count();
            let positive = values.0 >= 0;
            if within(values, (0, length - 1)) || (all && (positive || decl.lengths.len() == 1)) {
                continue;
            }
            if !class.indexed || !positive || values.1 > MOST_INDEX {
                return refuse(
                    c.at,
                    "an index of an array of channels that may lie outside it",
                    "let the index be a variable that only has values within the array",
                );
            }
            // No channel has such a number.
            parts.push(times(over(term, length), int(class.count)));
        }
        Ok(match parts.is_empty() {
            true => int(number),
            false => shifted(sum(parts), number),
        })
    }

    /// Whether a channel may turn out not to be one: an index outside the array, or a variable that was never set.
    pub(super) fn may_miss(&self, c: &ChanRef, view: &View) -> bool {
        let decl = &self.program.chans[c.decl.0];
        let given = decl.parameter
            && decl
                .owner
                .is_none_or(|t| self.program.templates[t.0].active == 0);
        let unset = decl.var.is_some() && !given;
        let outside = c.indices.iter().zip(&decl.lengths).any(|(index, length)| {
            !within(
                self.program.interval(index, view.template()),
                (0, length - 1),
            )
        });
        unset || outside
    }

    /// Fails where there is no such rendezvous channel (any more), and is true otherwise. Buffered channels need no such question, since
    /// there is none for which there are slots.
    pub(super) fn exists(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let class = self.class(c)?;
        match class.exists {
            Some(var) if self.may_miss(c, view) || !is(&self.gone(c, view)?, false) => {
                let var = self.shared_var(var)?;
                let number = self.living(c, view)?.coerced(ExprType::Int);
                Ok(self.value(self.shared(var, vec![number])))
            }
            // An index that lies within the array may still fail to be evaluated.
            _ => self.evaluated(&c.indices, view),
        }
    }

    /// A variable of a class for the channel, without the index of a slot.
    pub(super) fn of_channel(&self, var: VarId, c: &ChanRef, view: &View) -> Result<Place> {
        let var = self.shared_var(var)?;
        // If the number is not needed, a wrong index must not go unnoticed all the same.
        let number = self.channel_number(c, view)?.coerced(ExprType::Int);
        let indices = self.class(c)?.indexed.then_some(number);
        Ok(self.shared(var, indices.into_iter().collect()))
    }

    /// A slot of a field of a channel's messages.
    pub(super) fn slot(&self, field: VarId, c: &ChanRef, slot: Term, view: &View) -> Result<Place> {
        let mut place = self.of_channel(field, c, view)?;
        place.indices.push(slot);
        Ok(place)
    }

    pub(super) fn length(&self, c: &ChanRef, view: &View) -> Result<Place> {
        match self.class(c)?.length {
            Some(var) => self.of_channel(var, c, view),
            None => refuse(c.at, "the length of a rendezvous channel", "it is always 0"),
        }
    }

    /// A value as it is stored in a variable.
    pub(super) fn stored(&self, var: VarId, e: &Expr, view: &View) -> Result<Term> {
        let target = &self.program.vars[var.0];
        if target.boolean {
            return self.truth(e, view);
        }
        let value = self.program.interval(e, view.template());
        let term = self.number(e, view)?;
        Ok(self.wrapped(term, value, values_of(&target.kind)))
    }

    /// What is stored in one variable, as it is stored in another.
    pub(super) fn copied(&self, to: VarId, from: VarId, term: Term) -> Term {
        let (target, source) = (&self.program.vars[to.0], &self.program.vars[from.0]);
        match (target.boolean, source.boolean) {
            (true, true) => term,
            (true, false) => modulo(term, 2).compare(CompareOp::Ne, int(0)),
            (false, true) => self.counted(term),
            (false, false) => self.wrapped(term, source.range, values_of(&target.kind)),
        }
    }

    /// `field == e`.
    pub(super) fn equals(&self, field: VarId, value: Term, e: &Expr, view: &View) -> Result<Term> {
        if !self.program.vars[field.0].boolean {
            return Ok(equal(value, self.number(e, view)?));
        }
        let e = self.truth(e, view)?;
        Ok(match (is(&e, true), is(&e, false)) {
            (true, _) => value,
            (_, true) => not(value),
            _ => equal(value, e),
        })
    }

    /// Whether the message in a slot is what the patterns ask for.
    pub(super) fn matches(
        &self,
        c: &ChanRef,
        slot: &Term,
        patterns: &[Match],
        view: &View,
    ) -> Result<Term> {
        let class = self.class(c)?;
        let mut guard = truth(true);
        for (field, pattern) in class.fields.iter().zip(patterns) {
            if let Match::Equal(e) = pattern {
                let value = self.value(self.slot(*field, c, slot.clone(), view)?);
                guard = and(guard, self.equals(*field, value, e, view)?);
            }
        }
        Ok(guard)
    }

    /// A slot of a channel, and another one, as bound variables.
    pub(super) fn slots(&self) -> (Term, Term) {
        let of = |id| Term::new(ExprKind::Bound(id), ExprType::Int, NOWHERE);
        (of(self.declared.slot), of(self.declared.index))
    }

    /// Whether a message can be received from a buffered channel; for a poll, whether it could.
    pub(super) fn receivable(
        &self,
        c: &ChanRef,
        random: bool,
        patterns: &[Match],
        polls: bool,
        view: &View,
    ) -> Result<Term> {
        let length = self.receiver_length(c, view)?;
        let some = greater(length.clone(), int(0));
        if !patterns.iter().any(|p| matches!(p, Match::Equal(_))) {
            return Ok(some);
        }
        if !random {
            return Ok(and(some, self.matches(c, &int(0), patterns, view)?));
        }
        let (slot, _) = self.slots();
        let here = self.matches(c, &slot, patterns, view)?;
        let found = and(less(slot, length), here);
        let all = range(0, self.class(c)?.capacity - 1);
        let found = fold(FoldKind::Exists, self.declared.slot, all, found);
        // SPIN evaluates all patterns before it compares any, and for a poll also if there is no message.
        let all = self.evaluated(&compared(patterns), view)?;
        Ok(match is(&all, true) {
            true => found,
            false if polls => and(all, found),
            false => and(and(some, all), found),
        })
    }

    /// Whether somebody is ready to take this message by rendezvous.
    fn taker(&self, c: &ChanRef, values: &[Expr], view: &View) -> Result<Term> {
        let class = self.class(c)?;
        // A receive that `unless` goes before needs no look at that: while a message is handed over SPIN takes nothing but receives, and one
        // in front of the others is among the takers itself.
        self.takers(c, view, &|_, edge, seen| {
            self.takes(class, c, values, view, edge, seen)
        })
    }

    /// Whether a receive of another process takes this message.
    fn takes(
        &self,
        class: &Class,
        c: &ChanRef,
        values: &[Expr],
        view: &View,
        edge: &Edge,
        seen: &View,
    ) -> Result<Term> {
        let Action::Receive {
            channel, patterns, ..
        } = &edge.action
        else {
            return Ok(truth(false));
        };
        let mut guard = self.same_channel(c, view, channel, seen)?;
        for ((field, pattern), value) in class.fields.iter().zip(patterns).zip(values) {
            if let Match::Equal(e) = pattern {
                guard = and(guard, self.taken(*field, value, e, view, seen)?);
            }
        }
        Ok(guard)
    }

    /// The receives in front of this one, by `unless`, from channels of the same class.
    pub(super) fn receives_before(&self, template: TemplateId, edge: &Edge) -> Vec<&Edge> {
        let class_of = |edge: &Edge| {
            let channel = edge.action.receives()?;
            self.program.class_of[channel.decl.0].map(|(id, _)| id)
        };
        let class = class_of(edge);
        let nodes = &self.program.templates[template.0].nodes;
        let before = edge.unless.iter().flat_map(|id| &nodes[id.0].edges);
        before
            .filter(|other| class.is_some() && class_of(other) == class)
            .collect()
    }

    /// Whether a receive in front of this one, by `unless`, takes this message.
    pub(super) fn taken_before(
        &self,
        (c, values, view): (&ChanRef, &[Expr], &View),
        template: TemplateId,
        edge: &Edge,
        seen: &View,
    ) -> Result<Term> {
        let class = self.class(c)?;
        let mut all = Vec::new();
        for other in self.receives_before(template, edge) {
            all.push(self.takes(class, c, values, view, other, seen)?);
        }
        Ok(or(all))
    }

    /// True, if these expressions can be evaluated; fails otherwise.
    pub(super) fn evaluated(&self, values: &[Expr], view: &View) -> Result<Term> {
        let mut all = truth(true);
        for value in values {
            if !is(&self.fails(value, view)?, false) {
                let term = self.number(value, view)?;
                all = and(all, equal(term.clone(), term));
            }
        }
        Ok(all)
    }

    /// Whether a channel of another process is the same as ours.
    pub(super) fn same_channel(
        &self,
        c: &ChanRef,
        view: &View,
        channel: &ChanRef,
        seen: &View,
    ) -> Result<Term> {
        if !self.class(c)?.indexed {
            return Ok(truth(true));
        }
        let mine = self.channel_number(c, view)?;
        let theirs = self.channel_number(channel, seen)?;
        Ok(match (constant(&mine), constant(&theirs)) {
            (Some(a), Some(b)) => truth(a == b),
            _ => equal(theirs, mine),
        })
    }

    /// Whether a value that is sent is the one that another process waits for.
    pub(super) fn taken(
        &self,
        field: VarId,
        value: &Expr,
        wanted: &Expr,
        view: &View,
        seen: &View,
    ) -> Result<Term> {
        if let (Some(a), Some(b)) = (value.number(), wanted.number())
            && a == b
        {
            return Ok(truth(true));
        }
        let sent = self.stored(field, value, view)?;
        self.equals(field, sent, wanted, seen)
    }

    /// Something about every process that waits to receive from channels like this one: whether it is true of any. `of_one` is given the
    /// receive and how its process is seen.
    pub(super) fn takers(
        &self,
        c: &ChanRef,
        view: &View,
        of_one: &dyn Fn(TemplateId, &Edge, &View) -> Result<Term>,
    ) -> Result<Term> {
        let class_id = self.program.class_of[c.decl.0].map(|(id, _)| id);
        let mut takers = Vec::new();
        for (at, template) in self.program.present() {
            let id = TemplateId(at);
            let other = self.some_pid(id, self.declared.other[at]);
            let seen = View::Other(id, other.clone());
            let mut here = Vec::new();
            for (node_at, node) in template.nodes.iter().enumerate() {
                let Some(place) = self.is_at(id, NodeId(node_at), &seen) else {
                    continue;
                };
                for edge in &node.edges {
                    let Action::Receive { channel, .. } = &edge.action else {
                        continue;
                    };
                    if self.program.class_of[channel.decl.0].map(|(id, _)| id) != class_id {
                        continue;
                    }
                    here.push(and(place.clone(), of_one(id, edge, &seen)?));
                }
            }
            let ready = or(here);
            let is_me = view.template() == Some(id);
            if is(&ready, false) || (template.single() && is_me) {
                continue;
            }
            if template.single() {
                takers.push(ready);
                continue;
            }
            let mut guard = ready;
            if is_me {
                guard = and(other.compare(CompareOp::Ne, self.pid(view)), guard);
            }
            let all = Domain::Template(self.template(id)?);
            takers.push(fold(FoldKind::Exists, self.declared.other[at], all, guard));
        }
        Ok(or(takers))
    }

    // Executability.

    pub(super) fn executable(
        &self,
        template: TemplateId,
        node: NodeId,
        view: &View,
    ) -> Result<Term> {
        let node = &self.program.templates[template.0].nodes[node.0];
        if node
            .edges
            .iter()
            .any(|e| matches!(e.action, Action::Else) && e.unless.is_empty())
        {
            return Ok(truth(true));
        }
        let guards = node
            .edges
            .iter()
            .map(|e| self.guard(template, node, e, view))
            .collect::<Result<Vec<_>>>()?;
        Ok(or(guards))
    }

    /// When an edge can be taken, if nobody holds the right to move.
    pub(super) fn guard(
        &self,
        template: TemplateId,
        node: &Node,
        edge: &Edge,
        view: &View,
    ) -> Result<Term> {
        let mut guard = match &edge.action {
            Action::Else => {
                let others = node
                    .edges
                    .iter()
                    .filter(|e| !matches!(e.action, Action::Else))
                    .map(|e| self.guard(template, node, e, view))
                    .collect::<Result<Vec<_>>>()?;
                return Ok(not(or(others)));
            }
            Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Run { .. } => {
                truth(true)
            }
            Action::Test(e) => self.truth(e, view)?,
            Action::Send {
                channel, values, ..
            } => {
                let class = self.class(channel)?;
                if class.capacity == 0 {
                    let taker = self.taker(channel, values, view)?;
                    // With nobody to take it the channel and the message are still looked at.
                    let seen = and(self.exists(channel, view)?, self.evaluated(values, view)?);
                    match is(&taker, false) {
                        true => not(seen),
                        false => and(seen, taker),
                    }
                } else {
                    less(self.living_length(channel, view)?, int(class.capacity))
                }
            }
            Action::Receive {
                channel,
                random,
                patterns,
                ..
            } => {
                if self.class(channel)?.capacity == 0 {
                    truth(false)
                } else {
                    self.receivable(channel, *random, patterns, false, view)?
                }
            }
            Action::Deterministic(first) => self.executable(template, *first, view)?,
            Action::Die => equal(self.global(self.declared.nr_pr), shifted(self.pid(view), 1)),
        };
        for escape in &edge.unless {
            guard = and(guard, not(self.executable(template, *escape, view)?));
        }
        Ok(guard)
    }
}
