//! Channels whose process has died.
//!
//! A channel that a process declares is there as long as the process. Others may hold it longer: in a variable that a message has
//! filled. SPIN complains when somebody sends to it then, asks whether it is full, or looks at it for a rendezvous; who
//! receives from it finds it empty, and so it is here, since a process empties its channels when it dies; only if the program has a
//! rendezvous channel does SPIN complain then, too. A process outlives all
//! that are younger, so those that hold a channel of an older one need not ask.

use super::build::*;
use super::ir::*;
use super::terms::{Terms, View};
use threadwise_lang::program::{CompareOp, ExprType};

impl Terms<'_> {
    /// Whether the process that declared the channel has died. Can always be evaluated, if the channel itself can.
    pub(super) fn gone(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let holder = &self.program.chans[c.decl.0];
        let class = self.class(c)?;
        if holder.var.is_none() || !class.indexed || !class.handed {
            return Ok(truth(false));
        }
        let mut all = Vec::new();
        for (at, chan) in self.program.chans.iter().enumerate() {
            let (Some(owner), Some(_)) = (chan.owner, &chan.channel) else {
                continue;
            };
            let Some((id, base)) = self.program.class_of[at] else {
                continue;
            };
            let template = &self.program.templates[owner.0];
            let here = self.program.class_of[c.decl.0].is_some_and(|(class, _)| class == id);
            let younger = holder
                .owner
                .is_some_and(|t| self.program.templates[t.0].pids.0 > template.pids.1);
            if here && template.present && template.dies && !younger {
                all.push(self.owner_gone(c, (owner, base), chan, view)?);
            }
        }
        Ok(or(all))
    }

    /// Whether the channel is one of this declaration, of a process that has died.
    fn owner_gone(
        &self,
        c: &ChanRef,
        (owner, base): (TemplateId, i64),
        chan: &ChanDecl,
        view: &View,
    ) -> Result<Term> {
        let number = self.channel_number(c, view)?;
        let template = &self.program.templates[owner.0];
        let (first, last) = template.pids;
        let length = chan.count();
        let many = (last - first + 1) * length;
        let mut parts = Vec::new();
        if base > 1 {
            parts.push(number.clone().compare(CompareOp::Ge, int(base)));
        }
        if base + many - 1 < self.class(c)?.count {
            parts.push(less(number.clone(), int(base + many)));
        }
        let pid = match length {
            _ if template.single() => int(first),
            1 => shifted(number.clone(), first - base),
            _ => plus(over(shifted(number.clone(), -base), length), int(first)),
        };
        let others = self
            .program
            .templates
            .iter()
            .enumerate()
            .any(|(at, t)| at != owner.0 && t.present && t.pids.0 <= last && t.pids.1 >= first);
        if !others {
            parts.push(self.global(self.declared.nr_pr).compare(CompareOp::Le, pid));
        } else if template.run {
            if !template.single() {
                // Whatever stands in front must keep the index within the array.
                parts.push(greater(number, int(0)));
            }
            let on = self.of_process(self.declared.on[owner.0], &View::Other(owner, pid));
            parts.push(not(self.value(on)));
        } else {
            return refuse(
                c.at,
                format!(
                    "a channel of `{}`, which may have died, where its pid may have been given to another process",
                    template.original
                ),
                format!("declare `{}` outside the proctype", chan.name),
            );
        }
        Ok(parts.into_iter().fold(truth(true), and))
    }

    /// The number of a channel that must still be there: it is 0, for which nothing is stored, if its process has died.
    pub(super) fn living(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let number = self.channel_number(c, view)?;
        let alive = not(self.gone(c, view)?);
        Ok(match is(&alive, true) {
            true => number,
            false => times(number, self.counted(alive)),
        })
    }

    /// Whether SPIN complains also of who wants to receive from a channel whose process has died: it looks closer at channels if there
    /// is one for rendezvous in the program.
    pub(super) fn looks_closer(&self) -> bool {
        let mut declared = self.program.chans.iter().filter_map(|c| c.channel.as_ref());
        declared.any(|(capacity, _)| *capacity == 0)
    }

    /// The length of a channel for who wants to receive from it.
    pub(super) fn receiver_length(&self, c: &ChanRef, view: &View) -> Result<Term> {
        if self.looks_closer() {
            self.living_length(c, view)
        } else {
            Ok(self.value(self.length(c, view)?))
        }
    }

    /// The length of a channel that must still be there.
    pub(super) fn living_length(&self, c: &ChanRef, view: &View) -> Result<Term> {
        let mut length = self.length(c, view)?;
        if self.class(c)?.indexed {
            length.indices = vec![self.living(c, view)?.coerced(ExprType::Int)];
        }
        Ok(self.value(length))
    }
}
