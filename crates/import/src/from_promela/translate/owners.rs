//! Channels whose process has died.
//!
//! A channel that a process declares is there as long as the process. Others may hold it longer: in a variable that a message has
//! filled. SPIN complains when somebody sends to it then, asks whether it is full, or looks at it for a rendezvous; who
//! receives from it finds it empty, and so it is here, since a process empties its channels when it dies; only if the program has a
//! rendezvous channel does SPIN complain then, too. A process outlives all
//! that are younger, so those that hold a channel of an older one need not ask.

use super::ir::*;
use super::texts::{Guard, Texts, View, not, or};

impl Texts<'_> {
    /// Whether the process that declared the channel has died. Can always be evaluated, if the channel itself can.
    pub(super) fn gone(&self, c: &ChanRef, view: &View) -> Result<Guard> {
        let holder = &self.program.chans[c.decl.0];
        let class = self.class(c)?;
        if holder.var.is_none() || !class.indexed || !class.handed {
            return Ok(Guard::Never);
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
    ) -> Result<Guard> {
        let number = self.channel_number(c, view)?;
        let template = &self.program.templates[owner.0];
        let (first, last) = template.pids;
        let length = chan.count();
        let many = (last - first + 1) * length;
        let mut parts = Vec::new();
        if base > 1 {
            parts.push(format!("{number} >= {base}"));
        }
        if base + many - 1 < self.class(c)?.count {
            parts.push(format!("{number} < {}", base + many));
        }
        let shift = |n: i64| match n {
            0 => number.clone(),
            n if n < 0 => format!("{number} - {}", -n),
            n => format!("{number} + {n}"),
        };
        let pid = match length {
            _ if template.single() => first.to_string(),
            1 => shift(first - base),
            _ => format!("({}) / {length} + {first}", shift(-base)),
        };
        let others = self
            .program
            .templates
            .iter()
            .enumerate()
            .any(|(at, t)| at != owner.0 && t.present && t.pids.0 <= last && t.pids.1 >= first);
        if !others {
            parts.push(format!("{} <= {pid}", self.added.nr_pr));
        } else if template.run {
            let on = &self.added.on[owner.0];
            if template.single() {
                parts.push(format!("!{on}"));
            } else {
                // Whatever stands in front must keep the index within the array.
                parts.push(format!("{number} > 0 && !{on}[{pid}]"));
            }
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
        Ok(Guard::If(parts.join(" && ")))
    }

    /// The number of a channel that must still be there: it is 0, for which nothing is stored, if its process has died.
    pub(super) fn living(&self, c: &ChanRef, view: &View) -> Result<String> {
        let number = self.channel_number(c, view)?;
        Ok(match not(self.gone(c, view)?) {
            Guard::If(alive) => format!("{number} * {}", self.counted(&alive).text),
            _ => number,
        })
    }

    /// Whether SPIN complains also of who wants to receive from a channel whose process has died: it looks closer at channels if there
    /// is one for rendezvous in the program.
    pub(super) fn looks_closer(&self) -> bool {
        let mut declared = self.program.chans.iter().filter_map(|c| c.channel.as_ref());
        declared.any(|(capacity, _)| *capacity == 0)
    }

    /// The length of a channel for who wants to receive from it.
    pub(super) fn receiver_length(&self, c: &ChanRef, view: &View) -> Result<String> {
        if self.looks_closer() {
            self.living_length(c, view)
        } else {
            self.length(c, view)
        }
    }

    /// The length of a channel that must still be there.
    pub(super) fn living_length(&self, c: &ChanRef, view: &View) -> Result<String> {
        match self.class(c)?.length {
            Some(var) if self.class(c)?.indexed => {
                let name = &self.program.vars[var.0].name;
                Ok(format!("{name}[{}]", self.living(c, view)?))
            }
            _ => self.length(c, view),
        }
    }
}
