//! Shapes that few people write: jumps from one atomic sequence to another, `unless` around rendezvous, loops where a statement could be a guard.

use super::{Generator, Place};

impl Generator {
    /// One of these, if the program has what it needs.
    pub(super) fn odd(&mut self, place: Place) -> bool {
        match self.random.below(7) {
            0 if !place.in_atomic => self.atomic_to_atomic(place),
            1 | 2 if !place.in_atomic => return self.unless_handover(place),
            3 if place.depth < 3 => self.loop_first(place),
            4 if !place.in_atomic => self.timeout_in_atomic(place),
            5 if !place.in_atomic => self.jump_in_d_step(place),
            6 => return self.else_beside_poll(place),
            _ => return false,
        }
        true
    }

    /// Between the two others may move: the second begins behind the jump.
    fn atomic_to_atomic(&mut self, place: Place) {
        let place = Place {
            in_atomic: true,
            ..Self::deeper(place)
        };
        let guard = self.plain_guard();
        if self.chance(50) {
            self.note("break from atomic to atomic");
            self.line("do");
            self.line(":: atomic {");
            self.inside(|it| {
                it.assignment(place);
                it.line("if");
                it.line(&format!(":: {guard} -> break"));
                it.line(":: else -> break");
                it.line("fi;");
                it.line("skip");
            });
            self.line("}");
            self.line("od;");
        } else {
            self.note("goto from atomic to atomic");
            let label = self.fresh_label();
            self.line("atomic {");
            self.inside(|it| {
                it.assignment(place);
                it.line("if");
                it.line(&format!(":: {guard} -> goto {label}"));
                it.line(":: else");
                it.line("fi;");
                it.line("skip");
            });
            self.line("};");
            self.assignment(place);
            self.line(&format!("{label}:"));
        }
        self.line("atomic {");
        self.inside(|it| {
            it.assignment(place);
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
    }

    /// While a message is handed over, only receives are tried, those behind `unless` first.
    fn unless_handover(&mut self, place: Place) -> bool {
        let meeting = self.channels.iter().filter(|c| c.capacity == 0);
        let channels: Vec<_> = meeting.cloned().collect();
        if channels.is_empty() {
            return false;
        }
        self.note("rendezvous in unless");
        let all = std::mem::replace(&mut self.channels, channels);
        self.line("{");
        self.inside(|it| {
            it.assignment(place);
            let text = it.message().unwrap_or_default();
            it.line(&format!("{text};"));
            it.assignment(place);
        });
        self.line("} unless {");
        self.inside(|it| {
            let text = if it.chance(50) {
                it.note("rendezvous behind unless");
                it.message().unwrap_or_default()
            } else {
                it.plain_guard()
            };
            it.line(&format!("{text};"));
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
        self.channels = all;
        true
    }

    /// A loop as the first statement of an option, of an atomic sequence, or of a block that `unless` guards.
    fn loop_first(&mut self, place: Place) {
        self.note("loop in front");
        let around = self.random.below(if place.in_atomic { 1 } else { 3 });
        self.line(["if", "atomic {", "{"][around]);
        if around == 0 {
            self.line("::");
        }
        let (first, second) = (self.plain_guard(), self.plain_guard());
        self.inside(|it| {
            it.line("do");
            it.line(&format!(":: {first};"));
            it.inside(|it| {
                it.assignment(place);
                it.line("break");
            });
            it.line(&format!(":: {second} -> break"));
            it.line("od;");
            it.assignment(place);
            it.line("skip");
        });
        let guard = self.plain_guard();
        match around {
            0 => {
                self.line(&format!(":: {guard} -> skip"));
                self.line("fi;");
            }
            1 => self.line("};"),
            _ => self.line(&format!("}} unless {{ {guard} -> skip }};")),
        }
    }

    fn timeout_in_atomic(&mut self, place: Place) {
        self.note("timeout in atomic");
        let first = self.chance(50);
        self.line("atomic {");
        self.inside(|it| {
            if first {
                it.assignment(place);
            }
            it.line("timeout;");
            it.assignment(place);
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
    }

    fn jump_in_d_step(&mut self, place: Place) {
        self.note("goto in d_step");
        let label = self.fresh_label();
        let guard = self.plain_guard();
        self.open_d_step();
        self.inside(|it| {
            it.assignment(place);
            it.line("if");
            it.line(&format!(":: {guard} -> goto {label}"));
            it.line(":: else");
            it.line("fi;");
            it.assignment(place);
            it.line(&format!("{label}: skip;"));
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
    }

    /// SPIN takes `else` beside a question about a channel, not beside a message.
    fn else_beside_poll(&mut self, place: Place) -> bool {
        let buffered: Vec<_> = self.channels.iter().filter(|c| c.capacity > 0).collect();
        let Some(channel) = self.random.one(&buffered).map(|c| (*c).clone()) else {
            return false;
        };
        self.note("else beside a poll");
        let name = self.channel(&channel);
        let fields = channel.fields.iter().map(|&kind| self.constant(kind));
        let fields: Vec<String> = fields.collect();
        self.line("if");
        self.line(&format!(":: {name}?[{}] -> skip", fields.join(", ")));
        self.line(":: else ->");
        self.inside(|it| {
            it.assignment(place);
            it.line("skip");
        });
        self.line("fi;");
        true
    }
}
