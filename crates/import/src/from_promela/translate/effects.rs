//! What a statement does once it can be executed: assignments, messages, new processes, and the end of one.

use super::build::*;
use super::declared::emitted;
use super::guards::compared;
use super::ir::*;
use super::steps::Steps;
use super::terms::View;
use std::collections::BTreeSet;
use threadwise_lang::program::{
    Block, CompareOp, ExprKind, ExprType, FoldKind, Place, Span, Stmt, StmtKind, VarRef,
};

impl Steps<'_, '_> {
    pub(super) fn effect(&mut self, edge: &Edge) -> Result<Block> {
        let view = self.view();
        let at = self.terms.span(edge.at);
        match &edge.action {
            Action::Skip | Action::Test(_) | Action::Else | Action::Deterministic(_) => {
                Ok(Vec::new())
            }
            Action::Assign(cell, e) => self.assign(cell, e, at),
            Action::Assert(e) => {
                let holds = self.terms.truth(e, &view)?;
                Ok(vec![stmt(StmtKind::Assert(holds), at)])
            }
            Action::Run {
                template,
                arguments,
                result,
                ..
            } => self.run(*template, arguments, result.as_ref(), at),
            Action::Send {
                channel,
                sorted,
                values,
            } => self.send(channel, *sorted, values, at),
            Action::Receive {
                channel,
                random,
                copy,
                patterns,
            } => self.receive(channel, *random, *copy, patterns, at),
            Action::Die => self.die(at),
        }
    }

    fn assign(&self, cell: &Cell, e: &Expr, at: Span) -> Result<Block> {
        let view = self.view();
        if let Expr::Cond(c, a, b, _) = e {
            let condition = self.terms.truth(c, &view)?;
            let (yes, no) = (self.assign(cell, a, at)?, self.assign(cell, b, at)?);
            return Ok(vec![stmt(StmtKind::If(vec![(condition, yes)], no), at)]);
        }
        let target = self.terms.target(cell, &view)?;
        let value = self.terms.stored(cell.var, e, &view)?;
        Ok(vec![assign(target, value, at)])
    }

    fn run(
        &self,
        id: TemplateId,
        arguments: &[Expr],
        result: Option<&Cell>,
        at: Span,
    ) -> Result<Block> {
        let terms = self.terms;
        let program = terms.program;
        let view = self.view();
        let template = &program.templates[id.0];
        if !template.present {
            // It was found that no run gets here; should one do so, it must not go unnoticed.
            return Ok(vec![unreachable(at)]);
        }
        let counter = terms.global(terms.declared.nr_pr);
        let new = View::Other(id, counter.clone());
        let mut block = Vec::new();
        for (parameter, argument) in template.parameters.iter().zip(arguments) {
            let var = match parameter {
                Parameter::Var(var) => Some(*var),
                Parameter::Chan(c) => program.chans[c.0].var,
            };
            let Some(var) = var.filter(|var| emitted(program, *var)) else {
                continue;
            };
            let target = terms.of_process(terms.shared_var(var)?, &new);
            block.push(assign(target, terms.stored(var, argument, &view)?, at));
        }
        for local in &template.locals {
            let var = &program.vars[local.0];
            let given = var.initial.number().is_some() && var.list.is_none();
            if !var.shared || var.parameter || given || !emitted(program, *local) {
                continue;
            }
            block.extend(terms.initialise(*local, &new, at)?);
        }
        if let Some(number) = self.tracked.get(&(id, template.entry)) {
            let place = terms.of_process(terms.declared.place[id.0], &new);
            block.push(assign(place, int(*number), at));
        }
        if program.ambiguous {
            let on = terms.of_process(terms.declared.on[id.0], &new);
            block.push(assign(on, truth(true), at));
        }
        block.push(add_to(
            terms.shared(terms.declared.nr_pr, Vec::new()),
            1,
            at,
        ));
        if let Some(cell) = result {
            let kind = values_of(&program.vars[cell.var.0].kind);
            let pid = terms.wrapped(shifted(counter, -1), (0, program.most - 1), kind);
            block.push(assign(terms.target(cell, &view)?, pid, at));
        }
        Ok(block)
    }

    fn send(&self, channel: &ChanRef, sorted: bool, values: &[Expr], at: Span) -> Result<Block> {
        let terms = self.terms;
        let view = self.view();
        let class = terms.class(channel)?;
        let mut block = Vec::new();
        if class.capacity == 0 {
            for (field, value) in class.fields.iter().zip(values) {
                let target = terms.shared(terms.shared_var(*field)?, Vec::new());
                block.push(assign(target, terms.stored(*field, value, &view)?, at));
            }
            if let Some(which) = class.which {
                let target = terms.shared(terms.shared_var(which)?, Vec::new());
                block.push(assign(target, terms.channel_number(channel, &view)?, at));
            }
            if self.sender {
                let sender = terms.shared(terms.declared.sender, Vec::new());
                block.push(assign(sender, self.me(), at));
            }
            return Ok(block);
        }
        let length = terms.length(channel, &view)?;
        let slot = match sorted {
            true => terms.slots().0,
            false => terms.value(length.clone()),
        };
        if sorted {
            let place = self.place_of_message(channel, values)?;
            block.extend(await_of(place, at));
            block.extend(self.make_room(channel, at)?);
        }
        for (field, value) in class.fields.iter().zip(values) {
            let target = terms.slot(*field, channel, slot.clone(), &view)?;
            block.push(assign(target, terms.stored(*field, value, &view)?, at));
        }
        block.push(add_to(length, 1, at));
        Ok(match sorted {
            true => self.in_some_slot(class, block, at),
            false => block,
        })
    }

    /// Does something with one of the slots of a channel.
    fn in_some_slot(&self, class: &Class, block: Block, at: Span) -> Block {
        let all = range(0, class.capacity - 1);
        let choice = StmtKind::ChooseIn(self.terms.declared.slot, all, block);
        vec![stmt(choice, at)]
    }

    /// That the chosen slot is where a message belongs in a sorted channel that has room: in front of the first that is greater, field by field.
    fn place_of_message(&self, channel: &ChanRef, values: &[Expr]) -> Result<Term> {
        let terms = self.terms;
        let view = self.view();
        let class = terms.class(channel)?;
        let (slot, other) = terms.slots();
        let greater_in = |index: &Term| -> Result<Term> {
            let mut same = truth(true);
            let mut any = Vec::new();
            for (field, value) in class.fields.iter().zip(values) {
                let there = terms.value(terms.slot(*field, channel, index.clone(), &view)?);
                // SPIN compares with the value as it is before it is stored, which may be wider than the field.
                let value = terms.number(value, &view)?;
                any.push(and(same.clone(), greater(there.clone(), value.clone())));
                same = and(same, equal(there, value));
            }
            Ok(or(any))
        };
        let length = terms.value(terms.length(channel, &view)?);
        let here = or([equal(slot.clone(), length.clone()), greater_in(&slot)?]);
        let none = less(other.clone(), slot.clone()).implies(not(greater_in(&other)?));
        let all = range(0, class.capacity - 1);
        let none = fold(FoldKind::Forall, terms.declared.index, all, none);
        let room = less(terms.living_length(channel, &view)?, int(class.capacity));
        let within = and(room, slot.compare(CompareOp::Le, length));
        Ok(and(within, and(none, here)))
    }

    /// Moves the messages from the chosen slot on up by one.
    fn make_room(&self, channel: &ChanRef, at: Span) -> Result<Block> {
        let terms = self.terms;
        let view = self.view();
        let class = terms.class(channel)?;
        let (slot, other) = terms.slots();
        let last = class.capacity - 1;
        let from_end = |n: i64| minus(int(n), other.clone());
        let mut shift = Vec::new();
        for field in &class.fields {
            let to = terms.slot(*field, channel, from_end(class.capacity), &view)?;
            let from = terms.slot(*field, channel, from_end(last), &view)?;
            shift.push(assign(to, terms.value(from), at));
        }
        if last == 0 {
            return Ok(Vec::new());
        }
        let behind = greater(from_end(class.capacity), slot);
        let inner = stmt(StmtKind::If(vec![(behind, shift)], Vec::new()), at);
        let all = StmtKind::For(terms.declared.index, range(1, last), vec![inner]);
        Ok(vec![stmt(all, at)])
    }

    /// The value of an empty slot.
    fn empty(&self, field: VarId) -> Term {
        match self.terms.program.vars[field.0].boolean {
            true => truth(false),
            false => int(0),
        }
    }

    /// Stores what was received into variables; `from` says where each field is.
    fn store(
        &self,
        class: &Class,
        patterns: &[Match],
        from: &dyn Fn(VarId) -> Result<Place>,
        at: Span,
    ) -> Result<Block> {
        let view = self.view();
        let mut block = Vec::new();
        for (field, pattern) in class.fields.iter().zip(patterns) {
            let (Match::Store(cell) | Match::StoreChan(cell, _)) = pattern else {
                continue;
            };
            let value = self.terms.value(from(*field)?);
            let value = self.terms.copied(cell.var, *field, value);
            block.push(assign(self.terms.target(cell, &view)?, value, at));
        }
        Ok(block)
    }

    /// Takes a message that is handed over.
    fn take(&self, class: &Class, patterns: &[Match], at: Span) -> Result<Block> {
        let terms = self.terms;
        let whole = |field: VarId| -> Result<Place> {
            Ok(terms.shared(terms.shared_var(field)?, Vec::new()))
        };
        let mut block = self.store(class, patterns, &whole, at)?;
        for field in &class.fields {
            block.push(assign(whole(*field)?, self.empty(*field), at));
        }
        if let Some(which) = class.which {
            block.push(assign(whole(which)?, int(0), at));
        }
        if self.sender {
            let sender = terms.shared(terms.declared.sender, Vec::new());
            block.push(assign(sender, int(0), at));
        }
        Ok(block)
    }

    /// Takes a message out of a channel: the first, or that of the chosen slot.
    fn remove(&self, channel: &ChanRef, chosen: bool, at: Span) -> Result<Block> {
        let terms = self.terms;
        let view = self.view();
        let class = terms.class(channel)?;
        let last = class.capacity - 1;
        let (slot, other) = terms.slots();
        let mut shift = Vec::new();
        for field in &class.fields {
            let to = terms.slot(*field, channel, other.clone(), &view)?;
            let from = terms.slot(*field, channel, shifted(other.clone(), 1), &view)?;
            shift.push(assign(to, terms.value(from), at));
        }
        let mut block = Vec::new();
        if last > 0 {
            if chosen {
                let behind = other.compare(CompareOp::Ge, slot);
                shift = vec![stmt(StmtKind::If(vec![(behind, shift)], Vec::new()), at)];
            }
            let all = StmtKind::For(terms.declared.index, range(0, last - 1), shift);
            block.push(stmt(all, at));
        }
        for field in &class.fields {
            let target = terms.slot(*field, channel, int(last), &view)?;
            block.push(assign(target, self.empty(*field), at));
        }
        block.push(add_to(terms.length(channel, &view)?, -1, at));
        Ok(block)
    }

    fn receive(
        &self,
        channel: &ChanRef,
        random: bool,
        copy: bool,
        patterns: &[Match],
        at: Span,
    ) -> Result<Block> {
        let terms = self.terms;
        let view = self.view();
        let class = terms.class(channel)?;
        if class.capacity == 0 {
            if random || copy {
                return refuse(
                    channel.at,
                    "this form of receive on a rendezvous channel",
                    "use `c?x`",
                );
            }
            return self.take(class, patterns, at);
        }
        if self.moves_the_channel(channel, patterns) {
            return refuse(
                channel.at,
                "a receive that stores into what says which channel it is",
                "receive into another variable, and assign that afterwards",
            );
        }
        let chosen = random && patterns.iter().any(|p| matches!(p, Match::Equal(_)));
        let (slot, _) = terms.slots();
        let here = if chosen { slot } else { int(0) };
        let from = |field: VarId| terms.slot(field, channel, here.clone(), &view);
        let mut block = match chosen {
            true => await_of(self.first_that_fits(channel, patterns)?, at),
            false => Vec::new(),
        };
        block.extend(self.store(class, patterns, &from, at)?);
        if !copy {
            block.extend(self.remove(channel, chosen, at)?);
        }
        Ok(match chosen {
            true => self.in_some_slot(class, block, at),
            false => block,
        })
    }

    /// That the chosen slot is the first whose message is what the patterns ask for.
    fn first_that_fits(&self, channel: &ChanRef, patterns: &[Match]) -> Result<Term> {
        let terms = self.terms;
        let view = self.view();
        let (slot, other) = terms.slots();
        let here = terms.matches(channel, &slot, patterns, &view)?;
        let before = terms.matches(channel, &other, patterns, &view)?;
        let none = less(other, slot.clone()).implies(not(before));
        let all = range(0, terms.class(channel)?.capacity - 1);
        let first = fold(FoldKind::Forall, terms.declared.index, all, none);
        let some = less(slot, terms.receiver_length(channel, &view)?);
        // All patterns are evaluated before any is compared.
        let all = terms.evaluated(&compared(patterns), &view)?;
        Ok(and(and(some, all), and(here, first)))
    }

    /// Whether a receive changes the index of its channel, or the variable that holds it: the message has to be taken out of the
    /// channel that was meant before.
    fn moves_the_channel(&self, channel: &ChanRef, patterns: &[Match]) -> bool {
        let mut read: BTreeSet<VarId> = BTreeSet::new();
        read.extend(self.terms.program.chans[channel.decl.0].var);
        for index in &channel.indices {
            index.walk(&mut |part| {
                if let Expr::Var(cell) = part {
                    read.insert(cell.var);
                }
            });
        }
        patterns.iter().any(|pattern| match pattern {
            Match::Store(cell) | Match::StoreChan(cell, _) => read.contains(&cell.var),
            Match::Equal(_) | Match::Ignore => false,
        })
    }

    /// The youngest process leaves nothing behind.
    fn die(&mut self, at: Span) -> Result<Block> {
        let terms = self.terms;
        let program = terms.program;
        let view = self.view();
        let template = &program.templates[self.template.0];
        let mut block = Vec::new();
        for local in &template.locals {
            let var = &program.vars[local.0];
            let Some(own) = terms.declared.vars[local.0].filter(|_| emitted(program, *local))
            else {
                continue;
            };
            // What never changes needs no reset.
            let initial = match var.shared && var.initial.number().is_none() {
                true => self.empty(*local),
                false => terms.stored(*local, &var.initial, &view)?,
            };
            let base = match own {
                VarRef::Shared(id) => terms.of_process(id, &view),
                VarRef::Local(_) => Place {
                    var: own,
                    indices: Vec::new(),
                    span: NOWHERE,
                },
            };
            block.push(self.reset(base, &var.dims, initial, at));
        }
        block.extend(self.empty_channels(at)?);
        if program.ambiguous && template.run {
            let on = terms.of_process(terms.declared.on[self.template.0], &view);
            block.push(assign(on, truth(false), at));
        }
        let source = template.nodes.iter().position(|n| n.end).map(NodeId);
        if source.is_some_and(|s| self.tracked.contains_key(&(self.template, s))) {
            let place = terms.of_process(terms.declared.place[self.template.0], &view);
            block.push(assign(place, int(0), at));
        }
        let counter = terms.shared(terms.declared.nr_pr, Vec::new());
        block.push(assign(counter, terms.pid(&view), at));
        block.push(match template.run {
            true => self.jump(template.entry, at),
            false => stmt(StmtKind::Return, at),
        });
        Ok(block)
    }

    /// Empties the channels that a process declares.
    fn empty_channels(&self, at: Span) -> Result<Block> {
        let terms = self.terms;
        let program = terms.program;
        let view = self.view();
        let mut block = Vec::new();
        for (chan_at, chan) in program.chans.iter().enumerate() {
            let (Some(owner), Some(_), Some((class, _))) =
                (chan.owner, &chan.channel, program.class_of[chan_at])
            else {
                continue;
            };
            let class = &program.classes[class.0];
            if owner != self.template || class.capacity == 0 {
                continue;
            }
            for element in 0..chan.count() {
                let mut rest = chan.count();
                let indices = chan.lengths.iter().map(|length| {
                    let inner = rest / length;
                    let index = element % rest / inner;
                    rest = inner;
                    Expr::Num(index)
                });
                let c = ChanRef {
                    at: chan.at,
                    decl: ChanId(chan_at),
                    indices: indices.collect(),
                };
                for field in &class.fields {
                    let base = terms.of_channel(*field, &c, &view)?;
                    let slots = [(0, class.capacity - 1)];
                    block.push(self.reset(base, &slots, self.empty(*field), at));
                }
                block.push(assign(terms.length(&c, &view)?, int(0), at));
            }
        }
        Ok(block)
    }

    /// Sets all cells of an array.
    fn reset(&self, mut base: Place, dims: &[(i64, i64)], value: Term, at: Span) -> Stmt {
        let [(low, high), rest @ ..] = dims else {
            return assign(base, value, at);
        };
        let index = self.terms.declared.loops[rest.len()];
        base.indices
            .push(Term::new(ExprKind::Bound(index), ExprType::Int, NOWHERE));
        let inner = self.reset(base, rest, value, at);
        stmt(StmtKind::For(index, range(*low, *high), vec![inner]), at)
    }
}

impl super::terms::Terms<'_> {
    /// Gives a variable that all share its initial value, where a declaration cannot: for the process of the view.
    pub(super) fn initialise(&self, id: VarId, view: &View, at: Span) -> Result<Block> {
        let var = &self.program.vars[id.0];
        let place = self.of_process(self.shared_var(id)?, view);
        if let Some(list) = &var.list {
            let mut block = Vec::new();
            for (index, value) in list.iter().enumerate() {
                let mut element = place.clone();
                element.indices.push(int(index as i64));
                block.push(assign(
                    element,
                    self.stored(id, &Expr::Num(*value), view)?,
                    at,
                ));
            }
            return Ok(block);
        }
        if !var.dims.is_empty() {
            return refuse(
                var.at,
                "an array whose initial value is no constant",
                "set it by assignments",
            );
        }
        Ok(vec![assign(
            place,
            self.stored(id, &var.initial, view)?,
            at,
        )])
    }
}
