//! When evaluating a guard fails: an index outside its array, a division by zero, a variable that holds no channel,
//! or one whose process has died.
//!
//! A process whose guard cannot be evaluated has a step, one that fails, and that is what `checks` is about. An invariant that asks whether
//! anybody can move must say so itself, since an invariant that cannot be evaluated counts as violated. The
//! conditions written here can always be evaluated, and they hold exactly where the guard cannot: `a && b` fails where `a` does,
//! or where `a` holds and `b` fails.

use super::build::*;
use super::guards::compared;
use super::ir::*;
use super::ranges::within;
use super::terms::{Terms, View};
use crate::from_promela::syntax::Binary;

impl Terms<'_> {
    /// Whether a node can be executed, or evaluating that fails; can always be evaluated itself.
    pub(super) fn moves(&self, template: TemplateId, node: NodeId, view: &View) -> Result<Term> {
        let fails = self.node_fails(template, node, view, 0)?;
        Ok(or([fails, self.executable(template, node, view)?]))
    }

    fn node_fails(
        &self,
        template: TemplateId,
        id: NodeId,
        view: &View,
        depth: usize,
    ) -> Result<Term> {
        let node = &self.program.templates[template.0].nodes[id.0];
        let mut all = Vec::new();
        for edge in &node.edges {
            all.push(self.edge_fails(template, node, edge, view, depth)?);
        }
        Ok(or(all))
    }

    fn edge_fails(
        &self,
        template: TemplateId,
        node: &Node,
        edge: &Edge,
        view: &View,
        depth: usize,
    ) -> Result<Term> {
        // `unless` is not nested, and neither is `d_step`: a few levels are all there can be.
        if depth > 20 {
            return refuse(edge.at, "sequences nested this deeply", "use fewer levels");
        }
        let mut fails = match &edge.action {
            Action::Test(e) => self.fails(e, view)?,
            Action::Send {
                channel, values, ..
            } => {
                let fails = self.living_fails(channel, view)?;
                if self.class(channel)?.capacity == 0 {
                    let mut all = vec![fails];
                    for value in values {
                        all.push(self.fails(value, view)?);
                    }
                    all.push(self.taker_fails(channel, values, view)?);
                    or(all)
                } else {
                    fails
                }
            }
            Action::Receive {
                channel,
                random,
                patterns,
                ..
            } if self.class(channel)?.capacity > 0 => {
                self.receive_fails(channel, *random, patterns, false, view)?
            }
            Action::Deterministic(first) => self.node_fails(template, *first, view, depth + 1)?,
            Action::Receive { channel, .. } => self.living_fails(channel, view)?,
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Else
            | Action::Die => truth(false),
        };
        let mut before = self.guard_alone(template, node, edge, view)?;
        for escape in &edge.unless {
            let here = self.node_fails(template, *escape, view, depth + 1)?;
            fails = or([fails, and(before.clone(), here)]);
            before = and(before, not(self.executable(template, *escape, view)?));
        }
        Ok(fails)
    }

    /// The guard of an edge without those of `unless`.
    fn guard_alone(
        &self,
        template: TemplateId,
        node: &Node,
        edge: &Edge,
        view: &View,
    ) -> Result<Term> {
        let mut alone = edge.clone();
        alone.unless.clear();
        self.guard(template, node, &alone, view)
    }

    /// Whether evaluating an expression fails.
    pub(super) fn fails(&self, e: &Expr, view: &View) -> Result<Term> {
        Ok(match e {
            Expr::Num(_)
            | Expr::Member(..)
            | Expr::Pid(_)
            | Expr::NrPr
            | Expr::Timeout(_)
            | Expr::RemoteLabel { .. }
            | Expr::RemoteVar { .. } => truth(false),
            Expr::Var(cell) => self.cell_fails(cell, view)?,
            Expr::Chan(c) => self.index_fails(c, view)?,
            Expr::Length(c) | Expr::Empty(c) => self.channel_fails(c, view)?,
            Expr::Full(c) => self.living_fails(c, view)?,
            Expr::Poll {
                channel,
                random,
                patterns,
            } => self.receive_fails(channel, *random, patterns, true, view)?,
            Expr::Not(e) | Expr::Minus(e) => self.fails(e, view)?,
            Expr::Bin(op @ (Binary::And | Binary::Or), a, b, _) => {
                let second = self.fails(b, view)?;
                let first = self.fails(a, view)?;
                if is(&second, false) {
                    return Ok(first);
                }
                let mut reached = self.truth(a, view)?;
                if *op == Binary::Or {
                    reached = not(reached);
                }
                or([first, and(reached, second)])
            }
            Expr::Bin(op, a, b, _) => {
                let mut all = vec![self.fails(a, view)?, self.fails(b, view)?];
                let divisor = self.program.interval(b, view.template());
                if matches!(op, Binary::Div | Binary::Mod) && divisor.0 <= 0 && divisor.1 >= 0 {
                    all.push(is_number(self.number(b, view)?, 0));
                }
                or(all)
            }
            Expr::Cond(c, a, b, _) => {
                let (yes, no) = (self.fails(a, view)?, self.fails(b, view)?);
                let first = self.fails(c, view)?;
                if is(&yes, false) && is(&no, false) {
                    return Ok(first);
                }
                let chosen = self.truth(c, view)?;
                or([first, and(chosen.clone(), yes), and(not(chosen), no)])
            }
        })
    }

    fn cell_fails(&self, cell: &Cell, view: &View) -> Result<Term> {
        let mut all = Vec::new();
        for (index, bounds) in cell.indices.iter().zip(&self.program.vars[cell.var.0].dims) {
            all.push(self.fails(index, view)?);
            all.push(self.outside(index, *bounds, view)?);
        }
        Ok(or(all))
    }

    fn outside(&self, index: &Expr, bounds: (i64, i64), view: &View) -> Result<Term> {
        let values = self.program.interval(index, view.template());
        if within(values, bounds) {
            return Ok(truth(false));
        }
        let term = self.number(index, view)?;
        let mut all = Vec::new();
        if values.0 < bounds.0 {
            all.push(less(term.clone(), int(bounds.0)));
        }
        if values.1 > bounds.1 {
            all.push(greater(term, int(bounds.1)));
        }
        Ok(or(all))
    }

    /// Whether it cannot be said which channel is meant.
    fn index_fails(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let decl = &self.program.chans[c.decl.0];
        let mut all = Vec::new();
        for (index, length) in c.indices.iter().zip(&decl.lengths) {
            all.push(self.fails(index, view)?);
            all.push(self.outside(index, (0, length - 1), view)?);
        }
        Ok(or(all))
    }

    /// Whether there is no channel to use.
    fn channel_fails(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let index = self.index_fails(c, view)?;
        let held = self.program.chans[c.decl.0].var.is_some() && self.class(c)?.indexed;
        if !held || !self.may_miss(c, view) {
            return Ok(index);
        }
        let number = self.channel_number(c, view)?;
        Ok(or([index, is_number(number, 0)]))
    }

    /// Whether there is no channel to use, or its process has died.
    fn living_fails(&self, c: &ChanRef, view: &View) -> Result<Term> {
        Ok(or([self.channel_fails(c, view)?, self.gone(c, view)?]))
    }

    /// Whether comparing a message with the patterns fails, field by field.
    fn patterns_fail(
        &self,
        fields: &[(VarId, Term)],
        patterns: &[Match],
        view: &View,
    ) -> Result<Term> {
        let mut all = Vec::new();
        let mut same = truth(true);
        for ((field, value), pattern) in fields.iter().zip(patterns) {
            if let Match::Equal(e) = pattern {
                all.push(and(same.clone(), self.fails(e, view)?));
                same = and(same, self.equals(*field, value.clone(), e, view)?);
            }
        }
        Ok(or(all))
    }

    fn receive_fails(
        &self,
        c: &ChanRef,
        random: bool,
        patterns: &[Match],
        polls: bool,
        view: &View,
    ) -> Result<Term> {
        let fails = if self.looks_closer() {
            self.living_fails(c, view)?
        } else {
            self.channel_fails(c, view)?
        };
        let class = self.class(c)?;
        let some = || -> Result<Term> { Ok(greater(self.value(self.length(c, view)?), int(0))) };
        if random {
            // All patterns are evaluated before any is compared, for a poll also if there is no message.
            let mut all = Vec::new();
            for e in compared(patterns) {
                all.push(self.fails(&e, view)?);
            }
            let pattern = or(all);
            return Ok(match is(&pattern, false) {
                true => fails,
                false if polls => or([fails, pattern]),
                false => or([fails, and(some()?, pattern)]),
            });
        }
        let mut fields = Vec::new();
        for field in &class.fields {
            let first = self.slot(*field, c, int(0), view)?;
            fields.push((*field, self.value(first)));
        }
        let pattern = self.patterns_fail(&fields, patterns, view)?;
        if is(&pattern, false) {
            return Ok(fails);
        }
        Ok(or([fails, and(some()?, pattern)]))
    }

    /// Whether asking who takes a message by rendezvous fails.
    fn taker_fails(&self, c: &ChanRef, values: &[Expr], view: &View) -> Result<Term> {
        let class = self.class(c)?;
        self.takers(c, view, &|id, edge, seen| {
            let Action::Receive {
                channel, patterns, ..
            } = &edge.action
            else {
                return Ok(truth(false));
            };
            let mut fails = self.living_fails(channel, seen)?;
            let mut same = self.same_channel(c, view, channel, seen)?;
            for ((field, pattern), value) in class.fields.iter().zip(patterns).zip(values) {
                let Match::Equal(e) = pattern else {
                    continue;
                };
                let here = or([self.fails(value, view)?, self.fails(e, seen)?]);
                fails = or([fails, and(same.clone(), here)]);
                same = and(same, self.taken(*field, value, e, view, seen)?);
            }
            // Nobody looks at this receive if one in front of it takes the message.
            let before = self.taken_before((c, values, view), id, edge, seen)?;
            Ok(and(not(before), fails))
        })
    }
}
