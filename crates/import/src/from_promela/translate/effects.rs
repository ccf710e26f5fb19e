//! What a statement does once it can be executed: assignments, messages, new processes, and the end of one.

use super::guards::compared;
use super::ir::*;
use super::steps::{Line, Steps, await_of};
use super::texts::{Guard, SUM, Text, View, and, not, or};
use crate::from_promela::syntax::At;
use std::collections::BTreeSet;

impl Steps<'_, '_> {
    pub(super) fn effect(&mut self, edge: &Edge) -> Result<Vec<Line>> {
        let texts = self.texts;
        let view = self.view();
        let at = edge.at;
        let one = |text: String| Ok(vec![Line::Plain(text, at)]);
        match &edge.action {
            Action::Skip | Action::Test(_) | Action::Else | Action::Deterministic(_) => {
                Ok(Vec::new())
            }
            Action::Assign(cell, e) => self.assign(cell, e, at),
            Action::Assert(e) => one(format!("assert {};", texts.truth(e, &view)?.text)),
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

    fn assign(&self, cell: &Cell, e: &Expr, at: At) -> Result<Vec<Line>> {
        let view = self.view();
        if let Expr::Cond(c, a, b, _) = e {
            let condition = self.texts.truth(c, &view)?.text;
            let (yes, no) = (self.assign(cell, a, at)?, self.assign(cell, b, at)?);
            return Ok(vec![Line::If(vec![(condition, yes)], no, at)]);
        }
        let target = self.texts.cell(cell, &view)?;
        let value = self.texts.stored(cell.var, e, &view)?.text;
        Ok(vec![Line::Plain(format!("{target} := {value};"), at)])
    }

    fn run(
        &self,
        id: TemplateId,
        arguments: &[Expr],
        result: Option<&Cell>,
        at: At,
    ) -> Result<Vec<Line>> {
        let texts = self.texts;
        let program = texts.program;
        let view = self.view();
        let template = &program.templates[id.0];
        if !template.present {
            // It was found that no run gets here; should one do so, it must not go unnoticed.
            return Ok(vec![Line::Plain("assert false;".into(), at)]);
        }
        let counter = &texts.added.nr_pr;
        let mut lines = Vec::new();
        let mut push = |text: String| lines.push(Line::Plain(text, at));
        let new = View::Other(id, counter.clone());
        for (parameter, argument) in template.parameters.iter().zip(arguments) {
            let var = match parameter {
                Parameter::Var(var) => Some(*var),
                Parameter::Chan(c) => {
                    let indexed = program.class_of[c.0]
                        .is_some_and(|(class, _)| program.classes[class.0].indexed);
                    program.chans[c.0].var.filter(|_| indexed)
                }
            };
            let Some(var) = var.filter(|v| program.vars[v.0].used) else {
                continue;
            };
            let target = texts.of_process(&program.vars[var.0].name, &new);
            push(format!(
                "{target} := {};",
                texts.stored(var, argument, &view)?.text
            ));
        }
        for local in &template.locals {
            let var = &program.vars[local.0];
            if !var.shared
                || !var.used
                || var.parameter
                || (var.initial.number().is_some() && var.list.is_none())
            {
                continue;
            }
            if let Some(list) = &var.list {
                let name = texts.of_process(&var.name, &new);
                for (index, value) in list.iter().enumerate() {
                    let value = texts.stored(*local, &Expr::Num(*value), &new)?.text;
                    push(format!("{name}[{index}] := {value};"));
                }
                continue;
            }
            if !var.dims.is_empty() {
                return refuse(
                    var.at,
                    "an array whose initial value is no constant",
                    "set it by assignments",
                );
            }
            let target = texts.of_process(&var.name, &new);
            push(format!(
                "{target} := {};",
                texts.stored(*local, &var.initial, &new)?.text
            ));
        }
        if let Some(number) = self.tracked.get(&(id, template.entry)) {
            push(format!(
                "{} := {number};",
                texts.of_process(&texts.added.place[id.0], &new)
            ));
        }
        if program.ambiguous {
            push(format!(
                "{} := true;",
                texts.of_process(&texts.added.on[id.0], &new)
            ));
        }
        push(format!("{counter} := {counter} + 1;"));
        if let Some(cell) = result {
            let pid = Text::new(format!("{counter} - 1"), SUM);
            let kind = values_of(&program.vars[cell.var.0].kind);
            let pid = texts.wrapped(pid, (0, program.most - 1), kind).text;
            push(format!("{} := {pid};", texts.cell(cell, &view)?));
        }
        Ok(lines)
    }

    fn send(&self, channel: &ChanRef, sorted: bool, values: &[Expr], at: At) -> Result<Vec<Line>> {
        let texts = self.texts;
        let view = self.view();
        let class = texts.class(channel)?;
        let mut lines = Vec::new();
        if class.capacity == 0 {
            for (field, value) in class.fields.iter().zip(values) {
                let name = &texts.program.vars[field.0].name;
                lines.push(Line::Plain(
                    format!("{name} := {};", texts.stored(*field, value, &view)?.text),
                    at,
                ));
            }
            if let Some(which) = class.which {
                let name = &texts.program.vars[which.0].name;
                lines.push(Line::Plain(
                    format!("{name} := {};", texts.channel_number(channel, &view)?),
                    at,
                ));
            }
            if self.sender {
                lines.push(Line::Plain(
                    format!("{} := {};", texts.added.sender, self.me()),
                    at,
                ));
            }
            return Ok(lines);
        }
        let length = texts.length(channel, &view)?;
        if !sorted {
            for (field, value) in class.fields.iter().zip(values) {
                let array = texts.of_channel(*field, channel, &view)?;
                let value = texts.stored(*field, value, &view)?.text;
                lines.push(Line::Plain(format!("{array}[{length}] := {value};"), at));
            }
            lines.push(Line::Plain(format!("{length} := {length} + 1;"), at));
            return Ok(lines);
        }
        // In front of the first message that is greater, field by field.
        let (slot, other) = (&texts.added.slot, &texts.added.slot2);
        let last = class.capacity - 1;
        let greater = |index: &str| -> Result<Guard> {
            let mut same = Guard::Always;
            let mut any = Vec::new();
            for (field, value) in class.fields.iter().zip(values) {
                let array = texts.of_channel(*field, channel, &view)?;
                // SPIN compares with the value as it is before it is stored, which may be wider than the field.
                let value = texts.number(value, &view)?.text;
                any.push(and(
                    same.clone(),
                    Guard::If(format!("{array}[{index}] > ({value})")),
                ));
                same = and(same, Guard::If(format!("{array}[{index}] == ({value})")));
            }
            Ok(or(any))
        };
        let here = or([Guard::If(format!("{slot} == {length}")), greater(slot)?]);
        let none = Guard::If(format!(
            "(forall {other} in 0..{last}: {other} < {slot} -> {})",
            not(greater(other)?).text()
        ));
        let place = and(
            Guard::If(format!(
                "{} < {} && {slot} <= {length}",
                texts.living_length(channel, &view)?,
                class.capacity
            )),
            and(none, here),
        );
        let mut body = await_of(&place, at);
        if last > 0 {
            let mut shift = Vec::new();
            for field in &class.fields {
                let array = texts.of_channel(*field, channel, &view)?;
                shift.push(Line::Plain(
                    format!(
                        "{array}[{} - {other}] := {array}[{} - {other}];",
                        class.capacity, last
                    ),
                    at,
                ));
            }
            let inner = Line::If(
                vec![(format!("{} - {other} > {slot}", class.capacity), shift)],
                Vec::new(),
                at,
            );
            body.push(Line::Over(
                format!("for {other} in 1..{last}"),
                vec![inner],
                at,
            ));
        }
        for (field, value) in class.fields.iter().zip(values) {
            let array = texts.of_channel(*field, channel, &view)?;
            let value = texts.stored(*field, value, &view)?.text;
            body.push(Line::Plain(format!("{array}[{slot}] := {value};"), at));
        }
        body.push(Line::Plain(format!("{length} := {length} + 1;"), at));
        Ok(vec![Line::Over(
            format!("choose {slot} in 0..{last}"),
            body,
            at,
        )])
    }

    fn receive(
        &self,
        channel: &ChanRef,
        random: bool,
        copy: bool,
        patterns: &[Match],
        at: At,
    ) -> Result<Vec<Line>> {
        let texts = self.texts;
        let program = texts.program;
        let view = self.view();
        let class = texts.class(channel)?;
        let empty = |field: VarId| {
            if program.vars[field.0].boolean {
                "false"
            } else {
                "0"
            }
        };
        let store = |slot: &str, lines: &mut Vec<Line>| -> Result<()> {
            for (field, pattern) in class.fields.iter().zip(patterns) {
                let (Match::Store(cell) | Match::StoreChan(cell, _)) = pattern else {
                    continue;
                };
                let from = if class.capacity == 0 {
                    program.vars[field.0].name.clone()
                } else {
                    format!("{}[{slot}]", texts.of_channel(*field, channel, &view)?)
                };
                let target = texts.cell(cell, &view)?;
                lines.push(Line::Plain(
                    format!("{target} := {};", texts.copied(cell.var, *field, &from)),
                    at,
                ));
            }
            Ok(())
        };
        let mut lines = Vec::new();
        if class.capacity == 0 {
            if random || copy {
                return refuse(
                    at,
                    "this form of receive on a rendezvous channel",
                    "use `c?x`",
                );
            }
            store("0", &mut lines)?;
            for field in &class.fields {
                lines.push(Line::Plain(
                    format!("{} := {};", program.vars[field.0].name, empty(*field)),
                    at,
                ));
            }
            if let Some(which) = class.which {
                lines.push(Line::Plain(
                    format!("{} := 0;", program.vars[which.0].name),
                    at,
                ));
            }
            if self.sender {
                lines.push(Line::Plain(format!("{} := 0;", texts.added.sender), at));
            }
            return Ok(lines);
        }
        if self.moves_the_channel(channel, patterns) {
            return refuse(
                at,
                "a receive that stores into what says which channel it is",
                "receive into another variable, and assign that afterwards",
            );
        }
        let length = texts.length(channel, &view)?;
        let last = class.capacity - 1;
        let (slot, other) = (&texts.added.slot, &texts.added.slot2);
        let remove = |from: Option<&str>, lines: &mut Vec<Line>| -> Result<()> {
            let mut shift = Vec::new();
            for field in &class.fields {
                let array = texts.of_channel(*field, channel, &view)?;
                shift.push(Line::Plain(
                    format!("{array}[{other}] := {array}[{other} + 1];"),
                    at,
                ));
            }
            if last > 0 {
                let inner = match from {
                    Some(from) => vec![Line::If(
                        vec![(format!("{other} >= {from}"), shift)],
                        Vec::new(),
                        at,
                    )],
                    None => shift,
                };
                lines.push(Line::Over(
                    format!("for {other} in 0..{}", last - 1),
                    inner,
                    at,
                ));
            }
            for field in &class.fields {
                let array = texts.of_channel(*field, channel, &view)?;
                lines.push(Line::Plain(
                    format!("{array}[{last}] := {};", empty(*field)),
                    at,
                ));
            }
            lines.push(Line::Plain(format!("{length} := {length} - 1;"), at));
            Ok(())
        };
        let has_test = patterns.iter().any(|p| matches!(p, Match::Equal(_)));
        if !random || !has_test {
            store("0", &mut lines)?;
            if !copy {
                remove(None, &mut lines)?;
            }
            return Ok(lines);
        }
        let here = texts.matches(channel, slot, patterns, &view)?;
        let before = texts.matches(channel, other, patterns, &view)?;
        let first = Guard::If(format!(
            "(forall {other} in 0..{last}: {other} < {slot} -> {})",
            not(before).text()
        ));
        let some = format!("{slot} < {}", texts.receiver_length(channel, &view)?);
        // All patterns are evaluated before any is compared.
        let all = texts.evaluated(&compared(patterns), &view)?;
        let guard = and(and(Guard::If(some), all), and(here, first));
        let mut body = await_of(&guard, at);
        store(slot, &mut body)?;
        if !copy {
            remove(Some(slot), &mut body)?;
        }
        Ok(vec![Line::Over(
            format!("choose {slot} in 0..{last}"),
            body,
            at,
        )])
    }

    /// Whether a receive changes the index of its channel, or the variable that holds it: the message has to be taken out of the
    /// channel that was meant before.
    fn moves_the_channel(&self, channel: &ChanRef, patterns: &[Match]) -> bool {
        let mut read: BTreeSet<VarId> = BTreeSet::new();
        read.extend(self.texts.program.chans[channel.decl.0].var);
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
    fn die(&mut self, at: At) -> Result<Vec<Line>> {
        let texts = self.texts;
        let program = texts.program;
        let view = self.view();
        let template = &program.templates[self.template.0];
        let mut lines = Vec::new();
        for local in &template.locals {
            let var = &program.vars[local.0];
            if !var.used || !super::emit::emitted(program, *local) {
                continue;
            }
            // What never changes needs no reset.
            let initial = if var.shared && var.initial.number().is_none() {
                if var.boolean {
                    "false".to_string()
                } else {
                    "0".to_string()
                }
            } else {
                texts.stored(*local, &var.initial, &view)?.text
            };
            let base = if var.shared {
                texts.of_process(&var.name, &view)
            } else {
                var.name.clone()
            };
            lines.extend(reset(base, &var.dims, &initial, &texts.added.slot, at));
        }
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
                let indices = indices.collect();
                let c = ChanRef {
                    at: chan.at,
                    decl: ChanId(chan_at),
                    indices,
                };
                for field in &class.fields {
                    let base = texts.of_channel(*field, &c, &view)?;
                    let zero = if program.vars[field.0].boolean {
                        "false"
                    } else {
                        "0"
                    };
                    lines.extend(reset(
                        base,
                        &[(0, class.capacity - 1)],
                        zero,
                        &texts.added.slot,
                        at,
                    ));
                }
                lines.push(Line::Plain(
                    format!("{} := 0;", texts.length(&c, &view)?),
                    at,
                ));
            }
        }
        if program.ambiguous && template.run {
            let on = texts.of_process(&texts.added.on[self.template.0], &view);
            lines.push(Line::Plain(format!("{on} := false;"), at));
        }
        let source = template.nodes.iter().position(|n| n.end).map(NodeId);
        if source.is_some_and(|s| self.tracked.contains_key(&(self.template, s))) {
            let place = texts.of_process(&texts.added.place[self.template.0], &view);
            lines.push(Line::Plain(format!("{place} := 0;"), at));
        }
        lines.push(Line::Plain(
            format!("{} := {};", texts.added.nr_pr, texts.pid(&view)),
            at,
        ));
        if template.run {
            self.found.reach(self.template, template.entry);
            lines.push(Line::Goto(template.entry, at));
        } else {
            lines.push(Line::Return(at));
        }
        Ok(lines)
    }
}

/// Sets all cells of an array.
fn reset(base: String, dims: &[(i64, i64)], value: &str, index: &str, at: At) -> Vec<Line> {
    match dims {
        [] => vec![Line::Plain(format!("{base} := {value};"), at)],
        [(low, high), rest @ ..] => {
            let name = format!("{index}{}", rest.len());
            let inner = reset(format!("{base}[{name}]"), rest, value, index, at);
            vec![Line::Over(
                format!("for {name} in {low}..{high}"),
                inner,
                at,
            )]
        }
    }
}
