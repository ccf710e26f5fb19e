//! When a statement can be executed, above all those on channels.

use super::ir::*;
use super::ranges::within;
use super::texts::{Guard, PRIMARY, PRODUCT, SUM, Text, Texts, View, and, not, or};

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

impl Texts<'_> {
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
    pub(super) fn channel_number(&self, c: &ChanRef, view: &View) -> Result<String> {
        let decl = &self.program.chans[c.decl.0];
        let class = self.class(c)?;
        if let Some(var) = decl.var {
            if !class.indexed {
                return Ok("1".into());
            }
            return self.cell(
                &Cell {
                    var,
                    indices: c.indices.clone(),
                    at: c.at,
                },
                view,
            );
        }
        let base = self.program.class_of[c.decl.0].map_or(1, |(_, base)| base);
        let mut constant = base;
        let mut parts: Vec<String> = Vec::new();
        if let Some(owner) = decl.owner {
            let template = &self.program.templates[owner.0];
            if !template.single() {
                let length = decl.count();
                let pid = self.pid(view);
                match pid.parse::<i64>() {
                    Ok(n) => constant += (n - template.pids.0) * length,
                    Err(_) => {
                        constant -= template.pids.0 * length;
                        parts.push(if length == 1 {
                            pid
                        } else {
                            format!("{pid} * {length}")
                        });
                    }
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
                constant += n * stride;
                continue;
            }
            let values = self.program.interval(index, view.template());
            let text = self.number(index, view)?;
            parts.push(if stride == 1 {
                text.at_least(SUM)
            } else {
                format!("{} * {stride}", text.at_least(PRODUCT))
            });
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
            let beyond = class.count;
            parts.push(format!("{} / {length} * {beyond}", text.at_least(PRODUCT)));
        }
        if parts.is_empty() {
            return Ok(constant.to_string());
        }
        let sum = parts.join(" + ");
        Ok(match constant {
            0 => sum,
            n if n < 0 => format!("{sum} - {}", -n),
            n => format!("{sum} + {n}"),
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
    pub(super) fn exists(&self, c: &ChanRef, view: &View) -> Result<Guard> {
        let class = self.class(c)?;
        Ok(match class.exists {
            Some(var) if self.may_miss(c, view) || self.gone(c, view)? != Guard::Never => {
                let name = &self.program.vars[var.0].name;
                Guard::If(format!("{name}[{}]", self.living(c, view)?))
            }
            // An index that lies within the array may still fail to be evaluated.
            _ => self.evaluated(&c.indices, view)?,
        })
    }

    /// A variable of a class for the channel, without the index of a slot.
    pub(super) fn of_channel(&self, var: VarId, c: &ChanRef, view: &View) -> Result<String> {
        let name = &self.program.vars[var.0].name;
        if self.class(c)?.indexed {
            Ok(format!("{name}[{}]", self.channel_number(c, view)?))
        } else {
            // The number is not needed, but a wrong index must not go unnoticed.
            self.channel_number(c, view)?;
            Ok(name.clone())
        }
    }

    pub(super) fn length(&self, c: &ChanRef, view: &View) -> Result<String> {
        match self.class(c)?.length {
            Some(var) => self.of_channel(var, c, view),
            None => refuse(c.at, "the length of a rendezvous channel", "it is always 0"),
        }
    }

    /// A value as it is stored in a variable.
    pub(super) fn stored(&self, var: VarId, e: &Expr, view: &View) -> Result<Text> {
        let target = &self.program.vars[var.0];
        if target.boolean {
            return self.truth(e, view);
        }
        let value = self.program.interval(e, view.template());
        let text = self.number(e, view)?;
        Ok(self.wrapped(text, value, values_of(&target.kind)))
    }

    /// What is stored in one variable, as it is stored in another.
    pub(super) fn copied(&self, to: VarId, from: VarId, text: &str) -> String {
        let (target, source) = (&self.program.vars[to.0], &self.program.vars[from.0]);
        match (target.boolean, source.boolean) {
            (true, true) => text.to_string(),
            (true, false) => format!("{text} % 2 != 0"),
            (false, true) => self.counted(text).text,
            (false, false) => {
                let text = Text::new(text, PRIMARY);
                self.wrapped(text, source.range, values_of(&target.kind))
                    .text
            }
        }
    }

    /// `field == e`, where the field is written `text`.
    pub(super) fn equals(&self, field: VarId, text: &str, e: &Expr, view: &View) -> Result<Guard> {
        let e_text = if self.program.vars[field.0].boolean {
            let e = self.truth(e, view)?;
            match e.text.as_str() {
                "true" => return Ok(Guard::If(text.to_string())),
                "false" => return Ok(not(Guard::If(text.to_string()))),
                _ => e.at_least(SUM),
            }
        } else {
            self.number(e, view)?.at_least(SUM)
        };
        Ok(Guard::If(format!("{text} == {e_text}")))
    }

    /// Whether the message in a slot is what the patterns ask for.
    pub(super) fn matches(
        &self,
        c: &ChanRef,
        slot: &str,
        patterns: &[Match],
        view: &View,
    ) -> Result<Guard> {
        let class = self.class(c)?;
        let mut guard = Guard::Always;
        for (field, pattern) in class.fields.iter().zip(patterns) {
            if let Match::Equal(e) = pattern {
                let text = format!("{}[{slot}]", self.of_channel(*field, c, view)?);
                guard = and(guard, self.equals(*field, &text, e, view)?);
            }
        }
        Ok(guard)
    }

    /// Whether a message can be received from a buffered channel; for a poll, whether it could.
    pub(super) fn receivable(
        &self,
        c: &ChanRef,
        random: bool,
        patterns: &[Match],
        polls: bool,
        view: &View,
    ) -> Result<Guard> {
        let length = self.receiver_length(c, view)?;
        let some = Guard::If(format!("{length} > 0"));
        if !patterns.iter().any(|p| matches!(p, Match::Equal(_))) {
            return Ok(some);
        }
        if !random {
            return Ok(and(some, self.matches(c, "0", patterns, view)?));
        }
        let slot = &self.added.slot;
        let found = and(
            Guard::If(format!("{slot} < {length}")),
            self.matches(c, slot, patterns, view)?,
        );
        let capacity = self.class(c)?.capacity;
        let found = Guard::If(format!(
            "(exists {slot} in 0..{}: {})",
            capacity - 1,
            found.text()
        ));
        // SPIN evaluates all patterns before it compares any, and for a poll also if there is no message.
        Ok(match self.evaluated(&compared(patterns), view)? {
            Guard::Always => found,
            all if polls => and(all, found),
            all => and(and(some, all), found),
        })
    }

    /// Whether somebody is ready to take this message by rendezvous.
    fn taker(&self, c: &ChanRef, values: &[Expr], view: &View) -> Result<Guard> {
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
    ) -> Result<Guard> {
        let Action::Receive {
            channel, patterns, ..
        } = &edge.action
        else {
            return Ok(Guard::Never);
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
        let class_of = |edge: &Edge| match &edge.action {
            Action::Receive { channel, .. } => {
                self.program.class_of[channel.decl.0].map(|(id, _)| id)
            }
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Test(_)
            | Action::Else
            | Action::Send { .. }
            | Action::Deterministic(_)
            | Action::Die => None,
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
    ) -> Result<Guard> {
        let class = self.class(c)?;
        let mut all = Vec::new();
        for other in self.receives_before(template, edge) {
            all.push(self.takes(class, c, values, view, other, seen)?);
        }
        Ok(or(all))
    }

    /// True, if these expressions can be evaluated; fails otherwise.
    pub(super) fn evaluated(&self, values: &[Expr], view: &View) -> Result<Guard> {
        let mut all = Guard::Always;
        for value in values {
            if self.fails(value, view)? != Guard::Never {
                let text = self.number(value, view)?.at_least(SUM);
                all = and(all, Guard::If(format!("{text} == {text}")));
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
    ) -> Result<Guard> {
        if !self.class(c)?.indexed {
            return Ok(Guard::Always);
        }
        let mine = self.channel_number(c, view)?;
        let theirs = self.channel_number(channel, seen)?;
        Ok(match (mine.parse::<i64>(), theirs.parse::<i64>()) {
            (Ok(a), Ok(b)) if a == b => Guard::Always,
            (Ok(_), Ok(_)) => Guard::Never,
            _ => Guard::If(format!("{theirs} == {mine}")),
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
    ) -> Result<Guard> {
        if let (Some(a), Some(b)) = (value.number(), wanted.number())
            && a == b
        {
            return Ok(Guard::Always);
        }
        let sent = self.stored(field, value, view)?;
        self.equals(field, &sent.at_least(SUM), wanted, seen)
    }

    /// Something about every process that waits to receive from channels like this one: whether it is true of any. `of_one` is given the
    /// receive and how its process is seen.
    pub(super) fn takers(
        &self,
        c: &ChanRef,
        view: &View,
        of_one: &dyn Fn(TemplateId, &Edge, &View) -> Result<Guard>,
    ) -> Result<Guard> {
        let class_id = self.program.class_of[c.decl.0].map(|(id, _)| id);
        let mut takers = Vec::new();
        for (at, template) in self.program.present() {
            let id = TemplateId(at);
            let other = if template.single() {
                template.pids.0.to_string()
            } else {
                self.added.other.clone()
            };
            let seen = View::Other(id, other.clone());
            let mut here = Vec::new();
            for (node_at, node) in template.nodes.iter().enumerate() {
                let Some(number) = self.tracked.get(&(id, NodeId(node_at))) else {
                    continue;
                };
                for edge in &node.edges {
                    let Action::Receive { channel, .. } = &edge.action else {
                        continue;
                    };
                    if self.program.class_of[channel.decl.0].map(|(id, _)| id) != class_id {
                        continue;
                    }
                    let place = Guard::If(format!(
                        "{} == {number}",
                        self.of_process(&self.added.place[at], &seen)
                    ));
                    here.push(and(place, of_one(id, edge, &seen)?));
                }
            }
            let ready = or(here);
            let is_me = view.template() == Some(id);
            if ready == Guard::Never || (template.single() && is_me) {
                continue;
            }
            if template.single() {
                takers.push(ready);
                continue;
            }
            let mut guard = ready;
            if is_me {
                guard = and(Guard::If(format!("{other} != {}", self.pid(view))), guard);
            }
            takers.push(Guard::If(format!(
                "(exists {other} in {}: {})",
                template.name,
                guard.text()
            )));
        }
        Ok(or(takers))
    }

    // Executability.

    pub(super) fn executable(
        &self,
        template: TemplateId,
        node: NodeId,
        view: &View,
    ) -> Result<Guard> {
        let node = &self.program.templates[template.0].nodes[node.0];
        if node
            .edges
            .iter()
            .any(|e| matches!(e.action, Action::Else) && e.unless.is_empty())
        {
            return Ok(Guard::Always);
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
    ) -> Result<Guard> {
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
                Guard::Always
            }
            Action::Test(e) => match self.truth(e, view)?.text.as_str() {
                "true" => Guard::Always,
                "false" => Guard::Never,
                text => Guard::If(text.to_string()),
            },
            Action::Send {
                channel, values, ..
            } => {
                let class = self.class(channel)?;
                if class.capacity == 0 {
                    let taker = self.taker(channel, values, view)?;
                    // With nobody to take it the channel and the message are still looked at.
                    let seen = and(self.exists(channel, view)?, self.evaluated(values, view)?);
                    match (seen, taker) {
                        (seen @ Guard::If(_), Guard::Never) => not(seen),
                        (seen, taker) => and(seen, taker),
                    }
                } else {
                    Guard::If(format!(
                        "{} < {}",
                        self.living_length(channel, view)?,
                        class.capacity
                    ))
                }
            }
            Action::Receive {
                channel,
                random,
                patterns,
                ..
            } => {
                if self.class(channel)?.capacity == 0 {
                    Guard::Never
                } else {
                    self.receivable(channel, *random, patterns, false, view)?
                }
            }
            Action::Deterministic(first) => self.executable(template, *first, view)?,
            Action::Die => {
                let pid = self.pid(view);
                let next = pid
                    .parse::<i64>()
                    .map_or_else(|_| format!("{pid} + 1"), |n| (n + 1).to_string());
                Guard::If(format!("{} == {next}", self.added.nr_pr))
            }
        };
        for escape in &edge.unless {
            guard = and(guard, not(self.executable(template, *escape, view)?));
        }
        Ok(guard)
    }
}
