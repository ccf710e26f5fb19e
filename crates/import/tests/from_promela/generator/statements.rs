//! Random statements.

use super::{Chan, Form, Generator, Kind, MEMBERS, Place, Var};

impl Generator {
    pub(super) fn block(&mut self, place: Place, most: usize) {
        for _ in 0..1 + self.random.below(most) {
            self.statement(place);
        }
    }

    pub(super) fn statement(&mut self, place: Place) {
        self.statements = self.statements.saturating_sub(1);
        let simple = self.statements == 0 || place.depth >= 3;
        if place.in_d_step {
            return match self.random.below(10) {
                0 | 1 if place.depth < 3 => self.decided(place),
                2 => self.assertion(),
                _ => self.assignment(place),
            };
        }
        if !simple && self.chance(15) && self.seldom(place) {
            return;
        }
        if !simple && self.chance(10) && self.odd(place) {
            return;
        }
        if !simple && self.chance(12) {
            return self.random_nest(place);
        }
        match self.random.below(if simple { 63 } else { 100 }) {
            0..30 => self.assignment(place),
            30..42 => self.communicate(),
            42..50 => self.assertion(),
            50..54 => self.test(),
            54..57 => {
                self.note("skip");
                self.line("skip;");
            }
            57 => {
                self.note("printf");
                let value = self.number(1);
                self.line(&format!("printf(\"%d\\n\", {value});"));
            }
            58..63 => self.jump(),
            63..72 => self.choice(place),
            // SPIN stores no states inside of atomic sequences, and takes very long for loops there.
            72..83 if place.in_atomic && self.chance(80) => self.assignment(place),
            72..83 => self.repeat(place),
            83..92 => {
                if place.in_atomic {
                    return self.assignment(place);
                }
                self.atomic(place);
            }
            92..95 => {
                self.note("d_step");
                self.open_d_step();
                self.inside(|it| {
                    it.assignment(place);
                    let place = Place {
                        in_d_step: true,
                        depth: place.depth + 1,
                        ..place
                    };
                    it.block(place, 3);
                    it.line("skip");
                });
                self.line("};");
            }
            95 | 96 => self.counted(place),
            97 => self.select(),
            _ => {
                if place.in_atomic {
                    return self.assertion();
                }
                self.unless(place);
            }
        }
    }

    pub(super) fn inside(&mut self, f: impl FnOnce(&mut Self)) {
        self.indent += 1;
        f(self);
        self.indent -= 1;
    }

    pub(super) fn deeper(place: Place) -> Place {
        Place {
            depth: place.depth + 1,
            ..place
        }
    }

    /// Begins a `d_step`, not where a loop before it would jump to: SPIN refuses that.
    pub(super) fn open_d_step(&mut self) {
        if self.out.ends_with("od;\n") || self.out.ends_with("};\n") {
            self.line("skip;");
        }
        self.line("d_step {");
    }

    pub(super) fn atomic(&mut self, place: Place) {
        self.note("atomic");
        self.line("atomic {");
        self.inside(|it| {
            let place = Place {
                in_atomic: true,
                ..Self::deeper(place)
            };
            if it.chance(70) {
                it.block(place, 3);
            } else {
                it.test();
                it.block(place, 2);
            }
            if it.chance(25) {
                it.note("atomic that may block");
                it.test();
            }
            if it.chance(35) {
                if it.channels.iter().any(|channel| channel.capacity == 0) {
                    it.note("rendezvous in atomic");
                }
                it.communicate();
                it.assignment(place);
            }
            it.line("skip");
        });
        self.line("};");
    }

    pub(super) fn choice(&mut self, place: Place) {
        self.note("if");
        self.line("if");
        self.options(place, false);
        self.line("fi;");
    }

    pub(super) fn repeat(&mut self, place: Place) {
        self.note("do");
        self.line("do");
        let place = Place {
            in_loop: true,
            ..place
        };
        self.options(place, true);
        self.line("od;");
    }

    pub(super) fn options(&mut self, place: Place, repeated: bool) {
        let inner = Self::deeper(place);
        // else may not stand beside guards that look at channels.
        let with_else = self.chance(45);
        let options = 1 + self.random.below(3);
        for _ in 0..options {
            let guard = if with_else {
                self.plain_guard()
            } else {
                self.any_guard()
            };
            self.line(&format!(":: {guard};"));
            self.inside(|it| {
                it.block(inner, 2);
                if repeated && it.chance(30) {
                    it.note("break");
                    it.line("break");
                } else {
                    it.line("skip");
                }
            });
        }
        if with_else {
            self.note("else");
            self.line(":: else ->");
            let out = repeated && self.chance(70);
            self.inside(|it| {
                if it.chance(40) {
                    it.assignment(inner);
                }
                if out {
                    it.note("break");
                    it.line("break");
                } else {
                    it.line("skip");
                }
            });
        } else if repeated && self.chance(60) {
            self.note("break");
            let guard = self.plain_guard();
            self.line(&format!(":: {guard} -> break"));
        } else if self.chance(12) && !place.in_atomic {
            self.note("timeout");
            self.line(":: timeout -> skip");
        }
    }

    /// A choice that is decided by values and has a way out in every case.
    pub(super) fn decided(&mut self, place: Place) {
        self.note("if");
        self.note("else");
        let guard = self.plain_guard();
        self.line("if");
        self.line(&format!(":: {guard} ->"));
        self.inside(|it| it.assignment(place));
        self.line(":: else");
        self.line("fi;");
    }

    pub(super) fn jump(&mut self) {
        let Some(label) = self.random.one(&self.labels).cloned() else {
            return self.test();
        };
        self.note("goto");
        let guard = self.plain_guard();
        self.line("if");
        self.line(&format!(":: {guard} -> goto {label}"));
        self.line(":: else");
        self.line("fi;");
    }

    pub(super) fn unless(&mut self, place: Place) {
        self.note("unless");
        self.line("{");
        self.inside(|it| {
            it.assignment(place);
            it.test();
            it.assignment(place);
        });
        self.line("} unless {");
        let guard = self.plain_guard();
        self.line(&format!("\t{guard} -> skip"));
        self.line("};");
    }

    pub(super) fn counter(&self) -> Option<String> {
        let numbers = |var: &&Var| {
            let number = matches!(var.kind, Kind::Byte | Kind::Short | Kind::Int);
            number && var.length.is_none() && !var.text.contains('.')
        };
        let mut all = self.locals.iter().chain(&self.globals);
        all.find(numbers).map(|var| var.text.clone())
    }

    pub(super) fn counted(&mut self, place: Place) {
        let Some(counter) = self.counter() else {
            return self.assignment(place);
        };
        self.note("for");
        self.line(&format!("for ({counter} : 0 .. 1) {{"));
        self.inside(|it| {
            let others: Vec<Var> = it
                .scalars()
                .into_iter()
                .filter(|var| var.text != counter)
                .collect();
            match it.random.one(&others).cloned() {
                Some(var) => {
                    let text = it.assigned(&var);
                    it.line(&text);
                }
                None => it.line("skip;"),
            }
            it.line("skip");
        });
        self.line("};");
        self.line(&format!("{counter} = 0;"));
    }

    pub(super) fn select(&mut self) {
        let Some(counter) = self.counter() else {
            return self.assertion();
        };
        self.note("select");
        let high = self.random.between(1, 2);
        self.line(&format!("select ({counter} : 0 .. {high});"));
    }

    pub(super) fn assertion(&mut self) {
        self.note("assert");
        let text = match self.random.below(3) {
            0 => self.condition(1),
            _ => {
                let scalars = self.scalars();
                match self.random.one(&scalars).cloned() {
                    Some(var) if var.kind == Kind::Mtype => {
                        format!("{} != {}", var.text, self.pick(&MEMBERS))
                    }
                    Some(var) => format!("{} <= {}", var.text, self.random.between(0, 3)),
                    None => "true".to_owned(),
                }
            }
        };
        self.line(&format!("assert({text});"));
    }

    pub(super) fn test(&mut self) {
        self.note("blocking test");
        // What only this process can change is tested seldom: it would block for ever.
        let locals = if self.chance(75) {
            std::mem::take(&mut self.locals)
        } else {
            Vec::new()
        };
        let guard = self.plain_guard();
        self.locals.extend(locals);
        self.line(&format!("({guard});"));
    }

    pub(super) fn communicate(&mut self) {
        if self.records && self.chance(25) {
            return self.record_message();
        }
        if self.carrier.is_some() && self.chance(25) {
            return self.pass_channel();
        }
        match self.message() {
            Some(text) => self.line(&format!("{text};")),
            None => self.assignment(Place::default()),
        }
    }

    /// A send or a receive.
    pub(super) fn message(&mut self) -> Option<String> {
        let channel = self.random.one(&self.channels).cloned()?;
        if self.chance(50) {
            let sorted = channel.capacity > 1 && self.chance(35);
            return Some(self.send(&channel, sorted, None));
        }
        let buffered = channel.capacity > 0;
        let form = Form {
            random: buffered && self.chance(25),
            copy: buffered && self.chance(20),
        };
        Some(self.receive(&channel, form, None))
    }

    /// A send, of this value if one is given.
    pub(super) fn send(&mut self, channel: &Chan, sorted: bool, value: Option<String>) -> String {
        self.note("send");
        let name = self.channel(channel);
        let mut parts = Vec::new();
        for &kind in &channel.fields {
            parts.push(if self.chance(70) {
                self.constant(kind)
            } else {
                self.value(kind, 1)
            });
        }
        if let Some(value) = value {
            parts[0] = value;
        }
        if sorted {
            self.note("sorted send");
        }
        let arrow = if sorted { "!!" } else { "!" };
        format!("{name}{arrow}{}", parts.join(", "))
    }

    /// A receive, of this value if one is given.
    pub(super) fn receive(&mut self, channel: &Chan, form: Form, value: Option<String>) -> String {
        self.note("receive");
        let name = self.channel(channel);
        let mut parts = Vec::new();
        for &kind in &channel.fields {
            // A lone bit is kept as a byte in a channel.
            let one_bit = channel.fields.len() > 1 && matches!(kind, Kind::Bit | Kind::Bool);
            let mut pattern = self.pattern(kind, one_bit);
            // SPIN wants different variables. When it goes back over a receive it takes the message from the
            // variables as they are now, which is wrong for one that is stored and compared with, or is an index of another.
            let name = |text: &str| text.replace("eval(", "").replace(')', "");
            let among = |part: &String| {
                let (one, other) = (name(part), name(&pattern));
                let index = |of: &str, in_: &str| in_.contains(&format!("[{of}]"));
                one == other || index(&one, &other) || index(&other, &one)
            };
            if parts.iter().any(among) || !parts.is_empty() && value.is_some() {
                pattern = "_".to_owned();
            }
            parts.push(pattern);
        }
        if let Some(value) = value {
            parts[0] = format!("eval({value})");
        }
        if form.random {
            self.note("random receive");
        }
        let arrow = if form.random { "??" } else { "?" };
        let parts = parts.join(", ");
        if form.copy {
            self.note("copy receive");
            return format!("{name}{arrow}<{parts}>");
        }
        format!("{name}{arrow}{parts}")
    }

    pub(super) fn pattern(&mut self, kind: Kind, one_bit: bool) -> String {
        // For the same reason a variable must have room for all that may come.
        let roomy = |var: &Var| one_bit || matches!(var.kind, Kind::Byte | Kind::Short | Kind::Int);
        let fitting: Vec<Var> = self
            .scalars()
            .into_iter()
            .filter(|var| match kind {
                Kind::Mtype => var.kind == Kind::Mtype,
                _ => var.kind != Kind::Mtype && roomy(var),
            })
            .collect();
        match self.random.below(10) {
            0 => {
                self.note("ignore pattern");
                "_".to_owned()
            }
            1 => {
                self.note("constant pattern");
                self.constant(kind)
            }
            3 if !fitting.is_empty() => {
                self.note("eval");
                let var = self.pick(&fitting);
                format!("eval({})", var.text)
            }
            _ => match self.random.one(&fitting) {
                Some(var) => var.text.clone(),
                None => "_".to_owned(),
            },
        }
    }

    pub(super) fn channel(&mut self, channel: &Chan) -> String {
        match channel.length {
            None => channel.text.clone(),
            Some(length) => {
                let index = if self.chance(40) {
                    self.channel_index()
                } else {
                    None
                };
                let index = index.unwrap_or_else(|| self.random.between(0, length - 1).to_string());
                format!("{}[{index}]", channel.text)
            }
        }
    }

    pub(super) fn assignment(&mut self, place: Place) {
        let scalars = self.scalars();
        let Some(var) = self.random.one(&scalars).cloned() else {
            return self.line("skip;");
        };
        let counts = !matches!(var.kind, Kind::Mtype | Kind::Bool);
        if counts
            && self.chance(20)
            && !(place.in_loop && matches!(var.kind, Kind::Byte | Kind::Short | Kind::Int))
        {
            if matches!(var.kind, Kind::Bit | Kind::Unsigned) {
                self.note("wrap-around");
            }
            let text = self.pick(&["++", "--", "++"]);
            return self.line(&format!("{}{text};", var.text));
        }
        if self.inline && counts && self.chance(25) {
            self.note("inline");
            let by = self.random.between(1, 2);
            return self.line(&format!("bump({}, {by});", var.text));
        }
        let text = self.assigned(&var);
        self.line(&text);
    }

    pub(super) fn assigned(&mut self, var: &Var) -> String {
        if var.kind != Kind::Mtype && self.chance(4) {
            self.note("wrap-around");
            let value = self.pick(&["256", "-1", "65537", "3 - 7"]);
            // Only what is small may be left of it, or loops would count far.
            if matches!(var.kind, Kind::Bit | Kind::Bool | Kind::Unsigned)
                || value == "256" && var.kind == Kind::Byte
            {
                return format!("{} = {value};", var.text);
            }
        }
        let value = match self.random.below(10) {
            0..5 => self.constant(var.kind),
            5 if var.kind == Kind::Mtype => self.value(var.kind, 1),
            5 | 6 if var.kind != Kind::Mtype => format!("1 - {}", var.text),
            _ => self.value(var.kind, 2),
        };
        match var.kind {
            Kind::Mtype | Kind::Bit | Kind::Bool | Kind::Unsigned => {
                format!("{} = {value};", var.text)
            }
            // Loops would count far.
            _ if value.len() > 2 => format!("{} = ({value}) % 3;", var.text),
            _ => format!("{} = {value};", var.text),
        }
    }
}
