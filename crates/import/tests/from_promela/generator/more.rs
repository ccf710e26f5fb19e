//! What is seldom written but easily got wrong: jumps into and out of atomic sequences, selections inside selections, channels and
//! records in messages, loops in `d_step`, messages around `unless`.

use super::{Generator, Kind, Place};

impl Generator {
    /// One of these, if the program has what it needs.
    pub(super) fn seldom(&mut self, place: Place) -> bool {
        match self.random.below(9) {
            0 if self.records => self.record_message(),
            1 if self.carrier.is_some() => self.pass_channel(),
            2 if place.depth < 3 => self.nested_choice(place),
            3 if !place.in_atomic => self.jump_into_atomic(place),
            4 if !place.in_atomic => self.jump_out_of_atomic(place),
            5 => return self.left_loop(place),
            6 if !place.in_atomic => self.busy_d_step(place),
            7 if !place.in_atomic => self.unless_message(place),
            8 if self.channels.iter().any(|c| c.capacity > 0) => self.message_in_d_step(place),
            _ => return false,
        }
        true
    }

    pub(super) fn fresh_label(&mut self) -> String {
        self.fresh += 1;
        format!("A{}", self.fresh)
    }

    pub(super) fn record_message(&mut self) {
        self.note("record in a message");
        let text = self.pick(&["cr!pair;", "cr?pair;", "cr?eval(pair.first), pair.second;"]);
        self.line(text);
    }

    pub(super) fn pass_channel(&mut self) {
        self.note("channel in a message");
        let Some(channel) = self.carrier.clone() else {
            return;
        };
        if !self.holds || self.chance(50) {
            return self.line(&format!("carrier!{};", channel.text));
        }
        self.note("channel from a message");
        self.partners.push(format!("carrier!{}", channel.text));
        self.line("carrier?h;");
        let all = std::mem::take(&mut self.channels);
        let mut held = channel;
        held.text = "h".to_owned();
        self.channels = vec![held];
        let text = self.message().unwrap_or_else(|| "skip".to_owned());
        self.line(&format!("{text};"));
        self.channels = all;
    }

    /// The options of the inner selection count as options of the outer one, for `else`, which may stand in the inner one as well.
    fn nested_choice(&mut self, place: Place) {
        let inner = Self::deeper(place);
        let (inside, first) = (self.chance(50), self.chance(30));
        self.line("if");
        if !inside && first {
            self.note("else that is not last");
            self.line(":: else -> skip");
        }
        if inside {
            self.note("else of an inner selection");
            let guard = self.plain_guard();
            self.line(&format!(":: {guard} -> skip"));
        } else {
            self.note("else around a selection");
        }
        self.line(":: if");
        if inside && first {
            self.line("\t:: else -> skip");
        }
        for _ in 0..1 + self.random.below(2) {
            let guard = self.plain_guard();
            self.line(&format!("\t:: {guard};"));
            self.indent += 2;
            self.assignment(inner);
            self.line("skip");
            self.indent -= 2;
        }
        if inside && !first {
            self.line("\t:: else -> skip");
        }
        self.line("\tfi;");
        self.inside(|it| it.assignment(inner));
        if !inside && !first {
            let atomic = !place.in_atomic && !place.in_d_step && self.chance(50);
            if atomic {
                self.note("else in atomic");
                self.line(":: atomic {");
            } else {
                self.line(":: {");
            }
            self.inside(|it| {
                it.line("else ->");
                it.assignment(inner);
                it.line("skip");
            });
            self.line("}");
        }
        self.line("fi;");
    }

    fn jump_into_atomic(&mut self, place: Place) {
        self.note("goto into atomic");
        let label = self.fresh_label();
        let guard = self.plain_guard();
        self.line("if");
        self.line(&format!(":: {guard} -> goto {label}"));
        self.line(":: else");
        self.line("fi;");
        let place = Place {
            in_atomic: true,
            ..Self::deeper(place)
        };
        self.line("atomic {");
        self.inside(|it| {
            it.assignment(place);
            it.line(&format!("{label}: skip;"));
            it.assignment(place);
            if it.chance(50) {
                it.test();
            }
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
    }

    fn jump_out_of_atomic(&mut self, place: Place) {
        self.note("goto out of atomic");
        let label = self.fresh_label();
        let place = Place {
            in_atomic: true,
            ..Self::deeper(place)
        };
        self.line("atomic {");
        self.inside(|it| {
            it.assignment(place);
            let guard = it.plain_guard();
            it.line("if");
            it.line(&format!(":: {guard} -> goto {label}"));
            it.line(":: else");
            it.line("fi;");
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
        self.assignment(place);
        self.line(&format!("{label}: skip;"));
    }

    fn left_loop(&mut self, place: Place) -> bool {
        let Some(counter) = self.counter() else {
            return false;
        };
        self.note("break out of for");
        let guard = self.plain_guard();
        self.line(&format!("for ({counter} : 0 .. 2) {{"));
        self.inside(|it| {
            it.line("if");
            it.line(&format!(":: {guard} -> break"));
            it.line(":: else");
            it.line("fi;");
            let others: Vec<_> = it
                .scalars()
                .into_iter()
                .filter(|var| var.text != counter)
                .collect();
            if let Some(var) = it.random.one(&others).cloned() {
                let text = it.assigned(&var);
                it.line(&text);
            }
            it.line("skip");
        });
        self.line("};");
        self.line(&format!("{counter} = 0;"));
        let _ = place;
        true
    }

    /// A guard, and a loop.
    fn busy_d_step(&mut self, place: Place) {
        self.note("guard in d_step");
        self.open_d_step();
        self.inside(|it| {
            let guard = it.plain_guard();
            it.line(&format!("({guard});"));
            it.assignment(place);
            if let Some(counter) = it.counter() {
                it.note("loop in d_step");
                it.line("do");
                it.line(&format!(
                    ":: {counter} >= 0 && {counter} < 2 -> {counter}++"
                ));
                it.line(":: else -> break");
                it.line("od;");
            }
            it.line("skip");
        });
        self.line("};");
    }

    fn message_in_d_step(&mut self, place: Place) {
        self.note("message in d_step");
        let buffered = self.channels.iter().filter(|c| c.capacity > 0);
        let channels = buffered.cloned().collect();
        let all = std::mem::replace(&mut self.channels, channels);
        self.open_d_step();
        self.inside(|it| {
            // Sorted and random forms are refused there.
            let text = (0..10).find_map(|_| {
                it.message()
                    .filter(|m| !m.contains("!!") && !m.contains("??"))
            });
            let text = text.unwrap_or_else(|| "true".to_owned());
            it.line(&format!("{text};"));
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
        self.channels = all;
    }

    fn unless_message(&mut self, place: Place) {
        self.note("message in unless");
        self.line("{");
        self.inside(|it| {
            it.assignment(place);
            it.buffered_message();
            it.assignment(place);
        });
        self.line("} unless {");
        self.inside(|it| {
            it.buffered_message();
            it.assignment(place);
            it.line("skip");
        });
        self.line("};");
    }

    fn buffered_message(&mut self) {
        let buffered = self.channels.iter().filter(|c| c.capacity > 0);
        let channels = buffered.cloned().collect();
        let all = std::mem::replace(&mut self.channels, channels);
        match self.message() {
            Some(text) => self.line(&format!("{text};")),
            None => self.test(),
        }
        self.channels = all;
    }

    /// An index that is a variable, for an array of two channels.
    pub(super) fn channel_index(&mut self) -> Option<String> {
        let bits: Vec<_> = self
            .scalars()
            .into_iter()
            .filter(|var| matches!(var.kind, Kind::Bit | Kind::Bool))
            .collect();
        let var = self.random.one(&bits)?.text.clone();
        self.note("computed channel");
        Some(var)
    }
}
