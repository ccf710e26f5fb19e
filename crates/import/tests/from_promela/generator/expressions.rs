//! Random values, conditions and formulas.

use super::{Chan, Generator, Kind, MEMBERS, Var};

impl Generator {
    /// Everything that can be read or written, with elements of arrays by an index that fits.
    pub(super) fn scalars(&mut self) -> Vec<Var> {
        let all: Vec<Var> = self.locals.iter().chain(&self.globals).cloned().collect();
        let mut scalars = Vec::new();
        for var in all {
            match var.length {
                None => scalars.push(var),
                Some(length) => {
                    // Where an index is out of range SPIN complains only if it happens to look.
                    let index = if self.in_formula || self.chance(85) {
                        self.random.between(0, length - 1).to_string()
                    } else {
                        match self.counter() {
                            // It may be too large: then a check fails.
                            Some(counter) if counter != var.text => counter,
                            _ => "0".to_owned(),
                        }
                    };
                    scalars.push(Var {
                        text: format!("{}[{index}]", var.text),
                        kind: var.kind,
                        length: None,
                    });
                }
            }
        }
        scalars
    }

    pub(super) fn constant(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Mtype => self.pick(&MEMBERS).to_owned(),
            Kind::Bool => self.pick(&["true", "false"]).to_owned(),
            _ => self.random.between(0, kind.small()).to_string(),
        }
    }

    pub(super) fn value(&mut self, kind: Kind, depth: usize) -> String {
        if kind == Kind::Mtype {
            let members: Vec<Var> = self
                .scalars()
                .into_iter()
                .filter(|var| var.kind == Kind::Mtype)
                .collect();
            return match self.random.one(&members) {
                Some(var) if self.random.percent(60) => var.text.clone(),
                _ => self.constant(kind),
            };
        }
        self.number(depth)
    }

    pub(super) fn number(&mut self, depth: usize) -> String {
        let numbers: Vec<Var> = self
            .scalars()
            .into_iter()
            .filter(|var| var.kind != Kind::Mtype)
            .collect();
        if depth == 0 || self.chance(35) {
            return match self.random.below(12) {
                0 => {
                    self.note("_pid");
                    "_pid".to_owned()
                }
                1 => match self.random.one(&self.channels).cloned() {
                    Some(channel) if channel.capacity > 0 => {
                        self.note("len");
                        let name = self.channel(&channel);
                        // An expression with a channel in it may not stand beside else.
                        format!("len({name})")
                    }
                    _ => "1".to_owned(),
                },
                2..5 => self.random.between(0, 3).to_string(),
                _ => match self.random.one(&numbers) {
                    Some(var) => var.text.clone(),
                    None => "2".to_owned(),
                },
            };
        }
        // Operators on bits are for numbers that are not negative.
        let natural = |var: &&Var| !matches!(var.kind, Kind::Short | Kind::Int);
        let natural: Vec<Var> = numbers.iter().filter(natural).cloned().collect();
        let left = self.number(depth - 1);
        match self.random.below(20) {
            0..6 => format!("({left} + {})", self.number(depth - 1)),
            6..10 => format!("({left} - {})", self.number(depth - 1)),
            10 => format!("({left} * {})", self.number(depth - 1)),
            11 | 12 => {
                self.note("division");
                let by = self.random.between(1, 3);
                format!("({left} {} {by})", self.pick(&["/", "%"]))
            }
            13 => {
                self.note("conditional");
                let condition = self.condition(depth - 1);
                format!("({condition} -> {left} : {})", self.number(depth - 1))
            }
            15 | 16 if !natural.is_empty() => {
                self.note("bit operator");
                let var = self.pick(&natural);
                let operator = self.pick(&["&", "|", "^", "<<", ">>"]);
                format!("({} {operator} {})", var.text, self.random.between(0, 2))
            }
            17 => {
                self.note("truth value as number");
                let condition = self.condition(depth - 1);
                format!("({condition})")
            }
            18 if self.macros => {
                self.note("macro");
                format!("TWICE({left})")
            }
            18 => format!("(-{left})"),
            _ => left,
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        let members: Vec<Var> = self
            .scalars()
            .into_iter()
            .filter(|var| var.kind == Kind::Mtype)
            .collect();
        match self.random.below(14) {
            0 | 1 if depth > 0 => {
                let operator = self.pick(&["&&", "||"]);
                format!(
                    "({} {operator} {})",
                    self.condition(depth - 1),
                    self.condition(depth - 1)
                )
            }
            2 if depth > 0 => format!("!({})", self.condition(depth - 1)),
            3..6 if !members.is_empty() => {
                let var = self.pick(&members);
                let operator = self.pick(&["==", "!="]);
                format!("{} {operator} {}", var.text, self.constant(Kind::Mtype))
            }
            6 => self.number(1),
            _ => {
                let operator = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let left = self.number(1);
                let right = self.random.between(0, 2);
                format!("{left} {operator} {right}")
            }
        }
    }

    /// Whatever an option can begin with, but for `else` and `timeout`.
    pub(super) fn any_guard(&mut self) -> String {
        let buffered: Vec<Chan> = self
            .channels
            .iter()
            .filter(|channel| channel.capacity > 0)
            .cloned()
            .collect();
        match self.random.below(20) {
            0..8 => {
                if let Some(message) = self.message() {
                    return message;
                }
            }
            8 | 9 => {
                if let Some(channel) = self.random.one(&buffered).cloned() {
                    self.note("full or empty");
                    let name = self.channel(&channel);
                    let test = self.pick(&["full", "empty", "nfull", "nempty"]);
                    return format!("{test}({name})");
                }
            }
            10 => {
                if let Some(channel) = self.random.one(&buffered).cloned() {
                    self.note("poll");
                    let name = self.channel(&channel);
                    let fields: Vec<String> = channel
                        .fields
                        .iter()
                        .map(|&kind| self.asked(kind))
                        .collect();
                    let arrow = self.pick(&["?", "??"]);
                    return format!("{name}{arrow}[{}]", fields.join(", "));
                }
            }
            11 => {
                if let Some(channel) = self.random.one(&buffered).cloned() {
                    self.note("len");
                    let name = self.channel(&channel);
                    return format!("len({name}) < {}", self.random.between(1, 2));
                }
            }
            _ => {}
        }
        self.plain_guard()
    }

    /// What a poll asks for.
    fn asked(&mut self, kind: Kind) -> String {
        let scalars = self.scalars();
        let numbers = scalars.iter().filter(|var| var.kind != Kind::Mtype);
        let numbers: Vec<&Var> = numbers.collect();
        match self.random.one(&numbers) {
            Some(var) if kind != Kind::Mtype && self.random.percent(40) => {
                let text = format!("eval({})", var.text);
                self.note("eval in a poll");
                text
            }
            _ => self.constant(kind),
        }
    }

    /// A guard that does not look at channels.
    pub(super) fn plain_guard(&mut self) -> String {
        if self.chance(15) {
            return "true".to_owned();
        }
        let channels = std::mem::take(&mut self.channels);
        let text = self.condition(2);
        self.channels = channels;
        text
    }

    /// Formulas now and then, or those about a predicate.
    pub(super) fn formulas(&mut self, predicate: Option<String>) -> Vec<String> {
        // With acceptance labels SPIN would report cycles through them as well.
        let labelled = self.constructs.contains("accept label");
        if predicate.is_none() && (!self.chance(35) || labelled) {
            return Vec::new();
        }
        self.note("formula");
        self.in_formula = true;
        self.locals.clear();
        let channels = std::mem::take(&mut self.channels);
        let mut names = Vec::new();
        for at in 0..1 + self.random.below(2) {
            let name = format!("f{at}");
            let mut predicates = Vec::new();
            for _ in 0..2 {
                let remote = if self.chance(15) {
                    self.random.one(&self.remote).cloned()
                } else {
                    None
                };
                predicates.push(match remote {
                    Some((process, label))
                        if self.out.contains(&format!("active proctype {process}(")) =>
                    {
                        self.note("remote label");
                        format!("{process}@{label}")
                    }
                    _ => self.global_condition(),
                });
            }
            if let Some(predicate) = &predicate {
                predicates[0].clone_from(predicate);
            }
            let (p, q) = (&predicates[0], &predicates[1]);
            let text = match self.random.below(14) {
                0 | 1 => format!("[] ({p})"),
                2 | 3 => format!("<> ({p})"),
                4 => format!("[] <> ({p})"),
                5 => format!("<> [] ({p})"),
                6 => format!("[] (({p}) -> <> ({q}))"),
                7 => format!("({p}) U ({q})"),
                8 => {
                    self.note("weak until");
                    format!("({p}) W ({q})")
                }
                9 => {
                    self.note("release");
                    format!("({p}) V ({q})")
                }
                10 => {
                    self.note("nested until");
                    format!("[] (({p}) U ({q}))")
                }
                11 => {
                    self.note("nested until");
                    format!("!(({p}) U (({q}) W ({p})))")
                }
                12 => format!("([] <> ({p})) -> ([] <> ({q}))"),
                _ => format!("([] ({p})) || (<> ({q}))"),
            };
            self.line(&format!("ltl {name} {{ {text} }}"));
            names.push(name);
        }
        self.channels = channels;
        names
    }

    /// A condition on global variables; a formula has no process that could evaluate `_pid`.
    pub(super) fn global_condition(&mut self) -> String {
        for _ in 0..20 {
            let text = self.condition(1);
            if !text.contains("_pid") && !text.contains("->") {
                return text;
            }
        }
        "true".to_owned()
    }
}
