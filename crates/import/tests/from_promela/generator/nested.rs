//! Constructs inside constructs: a chain of them is written one around the other, each as the first statement of what is around it or behind another.
//!
//! What a chain needs (channels, records, a partner for its messages, a loop around `break`) is added to the program when it is asked for. In a `d_step`, where
//! nothing may block in the middle, what may block comes first or has another way beside it.

use super::constructs::{ALL, Construct, Construct::*, forbidden};
use super::{Chan, Form, Generator, Kind, Place, Var};

impl Generator {
    /// Writes a chain of constructs, with what has to stand before and behind it.
    pub(super) fn nest(&mut self, chain: &[Construct], place: Place) {
        let out = std::mem::take(&mut self.out);
        let before = std::mem::take(&mut self.before);
        let after = std::mem::take(&mut self.after);
        self.once = place.in_atomic || place.in_d_step || chain.contains(&Run);
        self.put(chain, place);
        let text = std::mem::replace(&mut self.out, out);
        for line in std::mem::replace(&mut self.before, before) {
            self.line(&line);
        }
        self.out.push_str(&text);
        for line in std::mem::replace(&mut self.after, after) {
            self.line(&line);
        }
    }

    /// A chain that may stand here.
    pub(super) fn random_nest(&mut self, place: Place) {
        let blocks: Vec<Construct> = ALL.iter().map(|&(c, _)| c).collect();
        let mut chain = Vec::new();
        for _ in 0..30 {
            let next = self.pick(&blocks);
            let fits = match chain.last() {
                None => next.can_hold(Assign) && Init.can_hold(next),
                Some(_) => chain.iter().all(|outer: &Construct| {
                    outer.can_hold(next) && forbidden(*outer, next).is_none()
                }),
            };
            let here = match next {
                Unless | Escape | Atomic | DStep => !place.in_atomic,
                Run | AcceptLabel | ProgressLabel | Do => false,
                Hidden | NumberOfProcesses | Timeout | TimeoutValue => self.chance(5),
                _ => true,
            };
            if fits && here {
                chain.push(next);
                if chain.len() == 3 || !next.is_block() {
                    break;
                }
            }
        }
        if chain.len() < 2 {
            return self.assignment(place);
        }
        self.note("nested");
        if chain[0].is_label() || chain[0] == DStep {
            self.line("skip;");
        }
        self.nest(&chain, place);
    }

    fn put(&mut self, chain: &[Construct], place: Place) {
        let Some((&what, rest)) = chain.split_first() else {
            return;
        };
        for &outer in &self.within {
            self.pairs.insert((outer, what));
        }
        let blocks = self.within.iter().any(|&c| c != DStep) || self.chance(40);
        if place.in_d_step && what.may_block() && !what.is_block() && blocks {
            self.line("if");
            self.line("::");
            self.inside(|it| it.put_one(what, rest, place));
            self.line(":: true -> skip");
            return self.line("fi;");
        }
        self.put_one(what, rest, place);
    }

    fn put_one(&mut self, what: Construct, rest: &[Construct], place: Place) {
        if what.is_value() && !matches!(self.within.last(), Some(Assign | Test)) {
            let host = if self.in_formula || what == FullEmpty || self.chance(60) {
                Test
            } else {
                Assign
            };
            let chain: Vec<Construct> = [&[host, what], rest].concat();
            return self.put(&chain, place);
        }
        self.within.push(what);
        if what.is_block() {
            self.block_of(what, rest, Self::deeper(place));
        } else {
            self.statement_of(what, rest, place);
        }
        self.within.pop();
    }

    /// What stands inside of a block.
    pub(super) fn fill(&mut self, rest: &[Construct], place: Place) {
        let Some(&inner) = rest.first() else {
            self.filler(place);
            if !place.in_d_step && !self.in_formula && self.chance(40) {
                self.test();
            }
            return self.filler(place);
        };
        // SPIN wants labels in front of sequences and options, not in front of their first statements or of declarations, and no jumps to a `d_step`.
        let labelled = self.within.last().is_some_and(|outer| outer.is_label());
        let apart = if labelled {
            matches!(inner, Declare | DStep)
        } else {
            inner.is_label()
        };
        let first = place.in_d_step && rest.iter().any(|c| c.may_block()) || self.chance(60);
        if !first || apart {
            self.filler(place);
        }
        self.put(rest, place);
        if self.chance(70) {
            self.filler(place);
        }
    }

    fn filler(&mut self, place: Place) {
        if self.in_formula {
            let text = self.global_condition();
            return self.line(&format!("({text});"));
        }
        self.assignment(place);
    }

    fn number_of(&mut self) -> usize {
        self.fresh += 1;
        self.fresh
    }

    fn braced(&mut self, open: &str, rest: &[Construct], place: Place) {
        self.line(open);
        self.inside(|it| it.fill(rest, place));
        self.line("};");
    }

    fn block_of(&mut self, what: Construct, rest: &[Construct], place: Place) {
        match what {
            Atomic | DStep => {
                let once = std::mem::replace(&mut self.once, true);
                let place = Place {
                    in_atomic: true,
                    in_d_step: place.in_d_step || what == DStep,
                    ..place
                };
                let word = if what == Atomic {
                    "atomic {"
                } else {
                    "d_step {"
                };
                self.braced(word, rest, place);
                self.once = once;
            }
            Braces => self.braced("{", rest, place),
            Unless => {
                self.line("{");
                self.inside(|it| it.fill(rest, place));
                self.line("} unless {");
                self.inside(|it| {
                    let guard = it.guard_here();
                    it.line(&format!("({guard});"));
                    it.filler(place);
                });
                self.line("};");
            }
            Escape => {
                self.line("{");
                self.inside(|it| it.fill(&[], place));
                self.braced("} unless {", rest, place);
            }
            If | Do | Else | Timeout => self.options_of(what, rest, place),
            ForRange | ForArray => self.counting(what, rest, place),
            Inline => self.called(rest, place),
            Macro => self.replaced(rest, place),
            Label => {
                let label = self.fresh_label();
                self.jump_to(&label);
                self.filler(place);
                self.line(&format!("{label}:"));
                self.fill(rest, place);
            }
            EndLabel | AcceptLabel | ProgressLabel => {
                let at = self.number_of();
                let name = match what {
                    EndLabel => "end",
                    AcceptLabel => "accept",
                    _ => "progress",
                };
                self.line(&format!("{name}{at}:"));
                self.fill(rest, place);
            }
            _ => self.fill(rest, place),
        }
    }

    /// A guard of an option that holds what matters, written as its first statement or behind a test.
    fn option(&mut self, rest: &[Construct], place: Place, leave: bool) {
        let tested = !place.in_d_step && self.chance(30);
        let guard = self.guard_here();
        self.line(&if tested {
            format!(":: {guard};")
        } else {
            "::".to_owned()
        });
        self.inside(|it| {
            it.fill(rest, place);
            if leave {
                it.line("break");
            }
        });
    }

    fn guard_here(&mut self) -> String {
        if self.in_formula {
            self.global_condition()
        } else {
            self.plain_guard()
        }
    }

    fn options_of(&mut self, what: Construct, rest: &[Construct], place: Place) {
        let repeats = what == Do || what == Else && self.chance(30);
        let leave = |it: &mut Self| repeats && (it.once || it.in_formula || it.chance(40));
        let place = Place {
            in_loop: place.in_loop || repeats,
            ..place
        };
        let other = match what {
            _ if place.in_d_step && what != Else => "true".to_owned(),
            _ => self.guard_here(),
        };
        let plain = |it: &mut Self| {
            it.line(&format!(":: {other};"));
            let leaves = leave(it);
            it.inside(|it| {
                it.filler(place);
                if leaves {
                    it.line("break");
                }
            });
        };
        self.line(if repeats { "do" } else { "if" });
        match what {
            Else | Timeout => {
                plain(self);
                let word = if what == Else { "else" } else { "timeout" };
                self.line(&format!(":: {word} ->"));
                let leaves = repeats && (self.once || self.chance(70));
                self.inside(|it| {
                    it.fill(rest, place);
                    if leaves {
                        it.line("break");
                    }
                });
            }
            _ => {
                let second = !place.in_d_step && self.chance(40);
                if second {
                    plain(self);
                }
                let leaves = leave(self);
                self.option(rest, place, leaves);
                if !second {
                    plain(self);
                }
                if repeats && !place.in_d_step {
                    let guard = self.guard_here();
                    self.line(&format!(":: {guard} -> break"));
                }
            }
        }
        self.line(if repeats { "od;" } else { "fi;" });
    }

    fn counting(&mut self, what: Construct, rest: &[Construct], place: Place) {
        let counter = format!("i{}", self.number_of());
        self.own(&format!("byte {counter};"));
        let place = Place {
            in_loop: true,
            ..place
        };
        if what == ForRange {
            let high = if self.chance(30) && !self.in_formula {
                format!("({}) % 2", self.number(1))
            } else {
                "1".to_owned()
            };
            return self.braced(&format!("for ({counter} : 0 .. {high}) {{"), rest, place);
        }
        let array = self.array();
        self.line(&format!("for ({counter} in {array}) {{"));
        self.inside(|it| {
            if it.chance(50) && !it.in_formula {
                it.line(&format!("{array}[{counter}] = 1;"));
            }
            it.fill(rest, place);
        });
        self.line("};");
    }

    /// The statements as the text of an inline.
    fn called(&mut self, rest: &[Construct], place: Place) {
        let name = format!("call{}", self.number_of());
        let given = self.numbers();
        let given = self.random.one(&given).cloned();
        let given = given.filter(|_| !self.in_formula);
        let text = self.apart(|it| {
            if given.is_some() && it.chance(40) {
                it.line("v = (1 + v) % 2;");
            }
            it.fill(rest, place);
        });
        let (formal, actual) = match &given {
            Some(var) => ("v", var.text.as_str()),
            None => ("", ""),
        };
        self.late += &format!("inline {name}({formal}) {{\n{text}}}\n");
        self.line(&format!("{name}({actual});"));
    }

    /// The statements as the text of a macro.
    fn replaced(&mut self, rest: &[Construct], place: Place) {
        let name = format!("BODY{}", self.number_of());
        let text = self.apart(|it| it.fill(rest, place));
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        let text = text.trim_end_matches(';');
        self.late += &format!("#define {name} {text}\n");
        self.line(&format!("{name};"));
    }

    /// What is written meanwhile, as a text of its own.
    pub(super) fn apart(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let out = std::mem::take(&mut self.out);
        let indent = std::mem::replace(&mut self.indent, 1);
        write(self);
        self.indent = indent;
        std::mem::replace(&mut self.out, out)
    }

    fn jump_to(&mut self, label: &str) {
        let guard = self.guard_here();
        self.line("if");
        self.line(&format!(":: {guard} -> goto {label}"));
        self.line(":: else");
        self.line("fi;");
    }

    fn numbers(&mut self) -> Vec<Var> {
        let scalars = self.scalars().into_iter();
        scalars.filter(|var| var.kind != Kind::Mtype).collect()
    }

    fn statement_of(&mut self, what: Construct, rest: &[Construct], place: Place) {
        match what {
            Assign | Test | Assert | Printf | Select | Run | Declare => {
                self.with_value(what, rest, place)
            }
            Break => {
                let loops = [Do, ForRange, ForArray];
                if !place.in_loop && !self.within.iter().any(|c| loops.contains(c)) {
                    self.before.extend(["do".to_owned(), ":: true;".to_owned()]);
                    self.after.push("od;".to_owned());
                }
                if self.chance(50) {
                    return self.line("break;");
                }
                let guard = self.guard_here();
                self.line("if");
                self.line(&format!(":: {guard} -> break"));
                self.line(":: else");
                self.line("fi;");
            }
            GotoOut => {
                let label = self.fresh_label();
                if self.chance(60) {
                    self.jump_to(&label);
                } else {
                    self.line(&format!("goto {label};"));
                }
                let text = self.apart(|it| it.filler(place));
                self.after.push(format!("{label}: {}", text.trim()));
            }
            GotoIn => {
                let label = self.fresh_label();
                let text = self.apart(|it| it.jump_to(&label));
                self.before
                    .extend(text.lines().map(|l| l.trim().to_owned()));
                self.line(&format!("{label}:"));
                self.filler(place);
            }
            _ => self.message_of(what, rest),
        }
    }

    fn with_value(&mut self, what: Construct, rest: &[Construct], place: Place) {
        if rest.is_empty() && matches!(what, Assign | Test | Assert) {
            return match what {
                Assign => self.filler(place),
                Test => self.test(),
                _ => self.assertion(),
            };
        }
        let value = self.operand(rest);
        let text = match what {
            Assign => {
                let numbers = self.numbers();
                match self.random.one(&numbers) {
                    Some(var) => format!("{} = ({value}) % 3;", var.text),
                    None => format!("({value});"),
                }
            }
            Test | Assert => {
                // What a question about a channel says is no number.
                let form = if rest.first() == Some(&FullEmpty) {
                    3 * self.random.below(2)
                } else {
                    self.random.below(4)
                };
                let text = match form {
                    0 => value,
                    1 => format!("{value} != {}", self.random.below(2)),
                    2 => format!("{value} <= {}", self.random.below(3)),
                    _ => format!("({value}) || {}", self.guard_here()),
                };
                if what == Test {
                    format!("({text});")
                } else {
                    format!("assert({text});")
                }
            }
            Printf => format!("printf(\"%d\\n\", {value});"),
            Select => self.selected(&value, rest.is_empty()),
            Run => self.started(&value),
            _ => {
                let name = format!("y{}", self.number_of());
                self.line(&format!("byte {name} = {value};"));
                let numbers = self.numbers();
                match self.random.one(&numbers) {
                    Some(var) => format!("{} = {name} % 3;", var.text),
                    None => format!("({name} > 0);"),
                }
            }
        };
        self.line(&text);
    }

    fn selected(&mut self, value: &str, constant: bool) -> String {
        let name = format!("s{}", self.number_of());
        self.demand(&format!("byte {name};"));
        self.globals.push(Var {
            text: name.clone(),
            kind: Kind::Byte,
            length: None,
        });
        let high = if constant && self.chance(50) {
            "2".to_owned()
        } else {
            format!("({value}) % 3")
        };
        format!("select ({name} : 0 .. {high});")
    }

    fn started(&mut self, value: &str) -> String {
        let name = format!("Run{}", self.number_of());
        let locals = std::mem::take(&mut self.locals);
        let text = self.apart(|it| {
            it.assignment(Place::default());
            it.line("(p > 0) || true;");
            it.test();
            it.assertion();
        });
        self.locals = locals;
        self.late_processes += &format!("proctype {name}(byte p) {{\n{text}}}\n");
        let numbers = self.numbers();
        match self.random.one(&numbers) {
            Some(var) if self.random.percent(30) => format!("{} = run {name}({value});", var.text),
            _ => format!("run {name}({value});"),
        }
    }

    /// A message, and what a partner has to do for it.
    fn message_of(&mut self, what: Construct, rest: &[Construct]) {
        let meets = matches!(what, MeetSend | MeetReceive);
        if meets && self.within.contains(&Atomic) {
            self.note("rendezvous in atomic");
        }
        let channel = self.single(if meets { 0 } else { 1 });
        let text = match what {
            MeetSend | Send | SortedSend => {
                let value = (!rest.is_empty()).then(|| self.operand(rest));
                self.send(&channel, what == SortedSend, value)
            }
            RecordSend | RecordReceive | ChannelSend | ChannelReceive => {
                return self.carried(what, &channel);
            }
            HeldMessage => {
                self.own("chan held;");
                self.before.push(format!("held = {};", channel.text));
                let held = Chan {
                    text: "held".to_owned(),
                    ..channel.clone()
                };
                if self.chance(50) {
                    self.send(&held, false, None)
                } else {
                    self.receive(&held, Form::default(), None)
                }
            }
            EvalReceive => {
                let value = self.without(&channel, |it| match rest {
                    [] => it.number(0),
                    _ => it.operand(rest),
                });
                // So a message that `timeout` selects has to stay where it is.
                let form = Form {
                    random: false,
                    copy: value.contains("timeout"),
                };
                self.receive(&channel, form, Some(value))
            }
            _ => {
                let form = Form {
                    random: matches!(what, RandomReceive | RandomCopy),
                    copy: matches!(what, CopyReceive | RandomCopy),
                };
                self.receive(&channel, form, None)
            }
        };
        let name = &channel.text;
        let other = if text.contains('!') {
            format!("{name}?{}", anything(&channel))
        } else {
            let sent = self.constants(&channel);
            format!("{name}!{sent}")
        };
        self.partners.push(other);
        self.line(&format!("{text};"));
    }

    /// Something that does not ask about a channel: SPIN goes back over a receive with the values of then, so what a message is compared with must not
    /// depend on the channel that it comes from.
    fn without<T>(&mut self, channel: &Chan, f: impl FnOnce(&mut Self) -> T) -> T {
        let at = self.channels.iter().position(|c| c.text == channel.text);
        let taken = at.map(|at| self.channels.remove(at));
        let result = f(self);
        self.channels.extend(taken);
        result
    }

    /// A record or a channel as the message.
    fn carried(&mut self, what: Construct, channel: &Chan) {
        let (mine, other) = match what {
            RecordSend | RecordReceive => {
                self.record();
                self.demand("chan records = [1] of { Pair };");
                ("records!pair".to_owned(), "records?pair".to_owned())
            }
            _ => {
                let capacity = self.random.below(2);
                if !self.late.contains("chan givers") {
                    self.demand(&format!("chan givers = [{capacity}] of {{ chan }};"));
                }
                self.own("chan k;");
                (format!("givers!{}", channel.text), "givers?k".to_owned())
            }
        };
        let sends = matches!(what, RecordSend | ChannelSend);
        let (mine, other) = if sends { (mine, other) } else { (other, mine) };
        self.partners.push(other.replace("?k", "?_"));
        self.line(&format!("{mine};"));
    }

    /// A value that holds the rest of the chain, or any.
    pub(super) fn operand(&mut self, rest: &[Construct]) -> String {
        let Some((&what, rest)) = rest.split_first() else {
            return self.number(1);
        };
        for &outer in &self.within {
            self.pairs.insert((outer, what));
        }
        self.within.push(what);
        let text = self.value_of(what, rest);
        self.within.pop();
        text
    }

    fn value_of(&mut self, what: Construct, rest: &[Construct]) -> String {
        match what {
            Conditional => {
                let operand = self.operand(rest);
                let (one, other) = (self.number(0), self.number(0));
                match self.random.below(3) {
                    0 => format!("({operand} -> {one} : {other})"),
                    1 => format!("({one} == 1 -> {operand} : {other})"),
                    _ => format!("({other} != 0 -> {one} : {operand})"),
                }
            }
            Poll | RandomPoll | Length | FullEmpty => self.question(what, rest),
            Pid => "_pid".to_owned(),
            NumberOfProcesses => "_nr_pr".to_owned(),
            RemoteLabel => {
                self.seen = true;
                if rest.is_empty() {
                    return "Partner@there".to_owned();
                }
                format!("Partner[{}]@there", self.operand(rest))
            }
            RemoteVariable => {
                self.seen = true;
                "Partner:seen".to_owned()
            }
            Mtype => self.colour(),
            Field => {
                self.record();
                self.pick(&["pair.first", "pair.second"]).to_owned()
            }
            Element => {
                let array = self.array();
                let index = self.operand(rest);
                let index = if rest.is_empty() {
                    self.random.below(2).to_string()
                } else {
                    format!("({index}) % 2")
                };
                format!("{array}[{index}]")
            }
            MacroValue => {
                self.demand("#define NEXT(x) (((x) + 1) % 3)");
                format!("NEXT({})", self.operand(rest))
            }
            Local => self.marked("local"),
            Hidden => self.marked("hidden"),
            _ => "timeout".to_owned(),
        }
    }

    /// A question about a channel with room for messages.
    fn question(&mut self, what: Construct, rest: &[Construct]) -> String {
        let channel = self.single(1);
        let name = &channel.text;
        let sent = self.constants(&channel);
        self.partners.push(format!("{name}!{sent}"));
        if let Length | FullEmpty = what {
            let word = match what {
                Length => "len",
                _ => self.pick(&["full", "empty", "nfull", "nempty"]),
            };
            return format!("{word}({name})");
        }
        self.partners.push(format!("{name}?{}", anything(&channel)));
        let mut fields: Vec<String> = Vec::new();
        for &kind in &channel.fields {
            fields.push(self.constant(kind));
        }
        if !rest.is_empty() {
            fields[0] = format!("eval({})", self.operand(rest));
        }
        let arrow = if what == Poll { "?" } else { "??" };
        format!("{name}{arrow}[{}]", fields.join(", "))
    }

    fn constants(&mut self, channel: &Chan) -> String {
        let fields = channel.fields.iter().map(|&kind| self.constant(kind));
        let fields: Vec<String> = fields.collect();
        fields.join(", ")
    }

    fn colour(&mut self) -> String {
        let member = self.constant(Kind::Mtype);
        let members = self.scalars().into_iter();
        let members: Vec<Var> = members.filter(|var| var.kind == Kind::Mtype).collect();
        if let Some(var) = self.random.one(&members) {
            return format!("({} == {member})", var.text);
        }
        self.demand("mtype colour = red;");
        self.partners.push("colour = green".to_owned());
        format!("(colour == {member})")
    }

    /// A variable of P0's alone, or of none.
    fn marked(&mut self, word: &str) -> String {
        let name = format!("{word}_var");
        self.demand(&format!("{word} byte {name} = 1;"));
        if !self.in_formula {
            self.before.push(format!("{name} = 1 - {name};"));
        }
        name
    }

    /// A declaration in the process that is written; a claim has none of its own.
    fn own(&mut self, line: &str) {
        if self.in_formula {
            self.demand(line);
        } else if !self.late_locals.iter().any(|other| other == line) {
            self.late_locals.push(line.to_owned());
        }
    }

    /// A declaration that is there once.
    pub(super) fn demand(&mut self, line: &str) {
        if !self.late.contains(line) {
            self.late += line;
            self.late += "\n";
        }
    }

    /// A channel, and no array of channels, with room for messages or for none.
    fn single(&mut self, capacity: i64) -> Chan {
        // A partner knows no parameters.
        let known = |c: &Chan| c.length.is_none() && c.text != "q";
        let fits = |c: &&Chan| known(c) && (c.capacity > 0) == (capacity > 0);
        let fitting: Vec<Chan> = self.channels.iter().filter(fits).cloned().collect();
        if let Some(channel) = self.random.one(&fitting) {
            return channel.clone();
        }
        let channel = Chan {
            text: format!("d{}", self.number_of()),
            capacity,
            fields: vec![self.pick(&[Kind::Byte, Kind::Bit])],
            length: None,
        };
        let kind = channel.fields[0].text();
        self.demand(&format!(
            "chan {} = [{capacity}] of {{ {kind} }};",
            channel.text
        ));
        self.channels.push(channel.clone());
        channel
    }

    fn record(&mut self) {
        if !self.globals.iter().any(|var| var.text == "pair.first") {
            self.demand("typedef Pair { byte first; bit second };");
            self.demand("Pair pair;");
            for (text, kind) in [("pair.first", Kind::Byte), ("pair.second", Kind::Bit)] {
                let text = text.to_owned();
                let length = None;
                self.globals.push(Var { text, kind, length });
            }
        }
    }

    fn array(&mut self) -> String {
        let numbers = self.globals.iter().filter(|var| var.kind != Kind::Mtype);
        if let Some(var) = numbers.clone().find(|var| var.length.is_some()) {
            return var.text.clone();
        }
        self.demand("byte many[2];");
        let text = "many".to_owned();
        self.globals.push(Var {
            text: text.clone(),
            kind: Kind::Byte,
            length: Some(2),
        });
        text
    }

    /// A process that does what the others wait for, and is looked at by them.
    pub(super) fn partner(&mut self) {
        let others = std::mem::take(&mut self.out);
        self.locals.clear();
        self.labels.clear();
        let mut partners = std::mem::take(&mut self.partners);
        partners.sort();
        partners.dedup();
        self.line("active proctype Partner() {");
        self.inside(|it| {
            if it.seen {
                it.line("byte seen;");
            }
            let repeats = it.chance(60);
            if repeats && it.chance(40) {
                it.line("end:");
            }
            it.line(if repeats { "do" } else { "if" });
            for partner in &partners {
                it.line(&format!(":: {partner};"));
                it.inside(|it| it.assignment(Place::default()));
            }
            let guard = it.plain_guard();
            it.line(&format!(":: {guard};"));
            it.inside(|it| it.assignment(Place::default()));
            if repeats && it.chance(75) {
                let guard = it.plain_guard();
                it.line(&format!(":: {guard} -> break"));
            }
            it.line(if repeats { "od;" } else { "fi;" });
            if it.seen {
                it.line("there:");
                it.line("seen = 1;");
            }
            it.assignment(Place::default());
            if it.chance(60) {
                it.assertion();
            }
        });
        self.line("}");
        // SPIN knows a process by its name only behind its text.
        if self.seen {
            self.out.push_str(&others);
        } else {
            self.out.insert_str(0, &others);
        }
    }
}

/// A receive that takes whatever there is.
fn anything(channel: &Chan) -> String {
    vec!["_"; channel.fields.len()].join(", ")
}
