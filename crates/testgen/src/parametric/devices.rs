//! The devices that random programs about any number of processes are put together from.

use super::{Claim, Form, Mood, Stretch, Writer};

/// So many times something.
fn times(factor: i64, of: &str) -> String {
    if factor == 1 {
        of.to_owned()
    } else {
        format!("{factor} * {of}")
    }
}

impl Writer {
    /// Adds a device to a template. Some have room inside for another one.
    pub(super) fn device(&mut self, template: usize, room: usize) {
        // What only grows is for those that end, or there are infinitely many states.
        let kinds = if self.templates[template].repeats && self.random.percent(97) {
            7
        } else {
            13
        };
        match self.random.below(kinds) {
            0 => self.counter(template, room),
            1 => self.semaphore(template, room),
            2 => self.lock(template, room),
            3 => self.owner(template, room),
            4 => self.flags(template, room),
            5 => self.places(template, room),
            6 => self.mutex(template, room),
            7 => self.barrier(template),
            8 => self.weights(template),
            9 => self.stages(template),
            10 => self.tickets(template, room),
            11 => self.first(template),
            _ => self.bakery(template),
        }
    }

    fn name(&self, template: usize) -> &'static str {
        self.templates[template].name
    }

    /// How many processes a template has, as an expression; where that is not fixed, something of that size.
    fn count(&self, template: usize) -> &'static str {
        match self.templates[template].form {
            Form::Many(count) => count,
            Form::Single | Form::Dynamic => "N",
        }
    }

    /// What happens inside a device: perhaps another one, perhaps something that does not matter, or that might.
    fn inside(&mut self, template: usize, room: usize) {
        match self.random.below(6) {
            0 if room > 0 => self.device(template, room - 1),
            1 => self.step(template, "skip;"),
            2 => self.disturb(template),
            _ => {}
        }
    }

    fn stretch(&self, template: usize, from: usize, to: usize) -> Stretch {
        Stretch {
            template,
            from,
            to: Some(to),
        }
    }

    /// The labels from a step on, and the end.
    fn onwards(&self, template: usize, from: usize) -> Stretch {
        Stretch {
            template,
            from,
            to: None,
        }
    }

    /// `first` and `second` in one step, or in two if something is to be broken: waiting, and what it was waited for.
    fn waits(&mut self, template: usize, condition: &str, then: &str) {
        if self.breaks() {
            self.step(template, format!("atomic {{ await {condition}; }}"));
            self.step(template, format!("atomic {{ {then} }}"));
        } else {
            self.step(template, format!("atomic {{ await {condition}; {then} }}"));
        }
    }

    /// Raised and lowered again: it is the number of those between.
    fn counter(&mut self, template: usize, room: usize) {
        let count = self.count(template);
        let by = self.random.between(1, 2);
        let total = times(by, count);
        let ty = match (self.random.below(3), by) {
            (0, 1) => format!("0..{}", self.bound(count)),
            (1, 2) if self.breaks() => format!("0..{count} + {}", self.threshold()),
            (1, _) => format!("0..{}", self.bound(&total)),
            _ => "int".to_owned(),
        };
        let x = self.shared("x", &format!("{ty} = 0"));
        self.step(template, format!("fetch_add({x}, {by});"));
        let from = self.next(template);
        self.inside(template, room);
        if self.random.percent(25) {
            let limit = self.bound(&total);
            self.step(
                template,
                format!("atomic {{ assert {x} >= {by} && {x} <= {limit}; }}"),
            );
        }
        let back = if self.breaks() { 3 - by } else { by };
        let to = self.next(template);
        self.step(template, format!("fetch_add({x}, -{back});"));
        let stretch = self.stretch(template, from, to);
        let limit = self.bound(&total);
        let less = if self.breaks() { "<" } else { "<=" };
        self.claims.push(match self.random.below(4) {
            0 => Claim::Inside(stretch, format!("{x} > 0 && {x} {less} {limit}")),
            1 => Claim::Always(format!("{x} {less} {limit} && {x} >= 0")),
            2 if by == 1 => Claim::Exactly(stretch, x),
            _ => Claim::Inside(stretch, format!("{x} >= {by}")),
        });
    }

    /// At most so many inside.
    fn semaphore(&mut self, template: usize, room: usize) {
        let limit = if self.random.percent(20) {
            self.count(template).to_owned()
        } else {
            self.threshold().min(self.threshold()).to_string()
        };
        let (less, first) = match (self.breaks(), self.random.percent(50)) {
            (true, true) => ("<=", "0".to_owned()),
            (true, false) => ("<", "-1".to_owned()),
            _ => ("<", "0".to_owned()),
        };
        let x = self.shared("x", &format!("int = {first}"));
        self.waits(
            template,
            &format!("{x} {less} {limit}"),
            &format!("{x} := {x} + 1;"),
        );
        let from = self.next(template);
        self.inside(template, room);
        let to = self.next(template);
        self.step(template, format!("fetch_add({x}, -1);"));
        let stretch = self.stretch(template, from, to);
        let limit = self.bound(&limit);
        self.claims.push(match self.random.below(3) {
            0 => Claim::Always(format!("{x} <= {limit}")),
            _ => Claim::AtMost(stretch, limit),
        });
    }

    /// A Boolean that one process takes.
    fn lock(&mut self, template: usize, room: usize) {
        let initial = if self.breaks() { "any" } else { "true" };
        let free = self.shared("free", &format!("bool = {initial}"));
        self.waits(template, &free, &format!("{free} := false;"));
        let from = self.next(template);
        self.inside(template, room);
        let to = self.next(template);
        self.step(template, format!("{free} := true;"));
        let stretch = self.stretch(template, from, to);
        self.exclusion(stretch);
        if self.random.percent(30) {
            self.claims.push(Claim::Inside(stretch, format!("!{free}")));
        }
    }

    /// That processes exclude each other, said in one way or another.
    fn exclusion(&mut self, stretch: Stretch) {
        let limit = self.random.between(1, 2).to_string();
        self.claims.push(match self.random.below(10) {
            // Not if there is nobody else.
            0 => Claim::Outside(stretch),
            1..4 => Claim::AtMost(stretch, limit),
            _ => Claim::Alone(stretch),
        });
    }

    /// A variable that says who is inside.
    fn owner(&mut self, template: usize, room: usize) {
        let name = self.name(template);
        let owner = self.shared("owner", &format!("{name}? = none"));
        let condition = if self.breaks() {
            format!("{owner} != i")
        } else {
            format!("{owner} == none")
        };
        self.waits(template, &condition, &format!("{owner} := i;"));
        let from = self.next(template);
        self.inside(template, room);
        if self.random.percent(25) {
            self.step(template, format!("assert {owner} == i;"));
        }
        let to = self.next(template);
        self.step(template, format!("{owner} := none;"));
        let stretch = self.stretch(template, from, to);
        if self.random.percent(50) {
            self.claims
                .push(Claim::Inside(stretch, format!("{owner} == i")));
        } else {
            self.exclusion(stretch);
        }
    }

    /// A flag for each process, and a guard about all of them.
    fn flags(&mut self, template: usize, room: usize) {
        let name = self.name(template);
        let flag = self.shared("flag", &format!("array[{name}] of bool = false"));
        let wrong = self.breaks();
        let (all, some) = if wrong {
            ("exists", "forall")
        } else {
            ("forall", "exists")
        };
        let condition = match self.random.below(6) {
            0 => format!("{all} j in {name}: j != i -> !{flag}[j]"),
            1 => format!("{all} j in {name}: !{flag}[j]"),
            2 => format!("!({some} j in {name}: j != i && {flag}[j])"),
            3 => format!(
                "(count j in {name}: {flag}[j]) {} 1",
                if wrong { "<=" } else { "<" }
            ),
            4 => {
                let less = if wrong { ">=" } else { ">" };
                format!("1 - (count j in {name}: {flag}[j]) {less} 0")
            }
            _ => {
                let label = self.next(template);
                let condition = format!("{some} j in {name}: {flag}[j]");
                let (ahead, back) = (format!("{flag}[i] := true;"), format!("goto l{label};"));
                let text = if self.random.percent(50) {
                    format!("atomic {{ if {condition} {{ {back} }} {ahead} }}")
                } else {
                    let condition = format!("{all} j in {name}: !{flag}[j]");
                    format!("atomic {{ if {condition} {{ {ahead} }} else {{ {back} }} }}")
                };
                self.step(template, text);
                return self.flagged(template, room, &flag);
            }
        };
        self.waits(template, &condition, &format!("{flag}[i] := true;"));
        self.flagged(template, room, &flag);
    }

    fn flagged(&mut self, template: usize, room: usize, flag: &str) {
        let from = self.next(template);
        self.inside(template, room);
        let to = self.next(template);
        self.step(template, format!("{flag}[i] := false;"));
        let stretch = self.stretch(template, from, to);
        self.exclusion(stretch);
        if self.random.percent(30) {
            self.claims
                .push(Claim::Inside(stretch, format!("{flag}[i]")));
        }
    }

    /// The same with room for several.
    fn places(&mut self, template: usize, room: usize) {
        let name = self.name(template);
        let limit = self.threshold().min(self.threshold());
        let taken = self.shared("taken", &format!("array[{name}] of 0..1 = 0"));
        let sum = if self.random.percent(50) {
            format!("(count j in {name}: {taken}[j] == 1)")
        } else {
            format!("(sum j in {name}: {taken}[j])")
        };
        let less = if self.breaks() { "<=" } else { "<" };
        self.waits(
            template,
            &format!("{sum} {less} {limit}"),
            &format!("{taken}[i] := 1;"),
        );
        let from = self.next(template);
        self.inside(template, room);
        let to = self.next(template);
        self.step(template, format!("{taken}[i] := 0;"));
        let stretch = self.stretch(template, from, to);
        let limit = self.bound(&limit.to_string());
        self.claims.push(match self.random.below(2) {
            0 => Claim::Always(format!("{sum} <= {limit}")),
            _ => Claim::AtMost(stretch, limit),
        });
    }

    /// A mutex of the language.
    fn mutex(&mut self, template: usize, room: usize) {
        let door = self.shared("door", "mutex");
        self.step(template, format!("lock {door};"));
        let from = self.next(template);
        self.inside(template, room);
        let to = self.next(template);
        self.step(template, format!("unlock {door};"));
        if self.breaks() {
            self.step(template, format!("if !locked({door}) {{ lock {door}; }}"));
        }
        let stretch = self.stretch(template, from, to);
        self.exclusion(stretch);
    }

    /// All come, and then all go on.
    fn barrier(&mut self, template: usize) {
        let count = self.count(template);
        let first = i64::from(self.breaks());
        let come = self.shared("come", &format!("int = {first}"));
        self.arrivals.push((come.clone(), count));
        let before = self.next(template);
        self.step(template, format!("fetch_add({come}, 1);"));
        let last = before;
        let condition = match self.random.below(4) {
            0 => format!("{come} >= {count}"),
            1 if self.mood == Mood::Broken => format!("{come} >= {}", self.threshold()),
            _ => format!("{come} == {count}"),
        };
        self.step(template, format!("await {condition};"));
        let from = self.next(template);
        match self.random.below(3) {
            0 => self.step(template, format!("assert {come} == {count};")),
            1 => {
                let limit = self.bound(count);
                self.step(template, format!("assert {come} <= {limit};"));
            }
            _ if self.mood == Mood::Broken => {
                // Wrong for few processes, and right for more.
                let least = self.random.between(1, 4);
                self.step(template, format!("assert {come} >= {least};"));
            }
            _ => self.step(template, "skip;"),
        }
        let (here, there) = (
            self.onwards(template, from),
            self.stretch(template, before, last),
        );
        let limit = self.bound(count);
        let quantifier = if self.breaks() { "exists" } else { "forall" };
        self.claims.push(match self.random.below(4) {
            0 => Claim::Apart(here, there),
            1 => Claim::Always(format!("{come} <= {limit}")),
            2 => Claim::When(quantifier, here, format!("{come} == {limit}")),
            _ => Claim::Inside(here, format!("{come} == {count}")),
        });
    }

    /// Everybody adds what it likes.
    fn weights(&mut self, template: usize) {
        let count = self.count(template);
        let most = self.random.between(2, 3);
        let weight = self.fresh("w");
        let local = format!("local {weight}: 1..{most} = any;");
        self.templates[template].locals.push(local);
        let load = self.shared("load", "int = 0");
        self.step(template, format!("fetch_add({load}, {weight});"));
        let from = self.next(template);
        let stretch = self.onwards(template, from);
        let most = if self.breaks() { most - 1 } else { most };
        let limit = match self.mood {
            Mood::Bounded => self.random.between(2, 7 * most).to_string(),
            _ => times(most, count),
        };
        let mine = format!("{}[i].{weight}", self.name(template));
        self.claims.push(match self.random.below(2) {
            0 => Claim::Always(format!("{load} <= {limit}")),
            _ => Claim::Inside(stretch, format!("{load} >= {mine} && {load} <= {limit}")),
        });
    }

    /// Everybody moves on what all see, once.
    fn stages(&mut self, template: usize) {
        let members = self.random.between(3, 7) as usize;
        let kind = self.fresh("Stage");
        let member = |number: usize| format!("{}{number}", kind.to_lowercase());
        let list: Vec<String> = (0..members).map(member).collect();
        self.declarations
            .push(format!("enum {kind} {{ {} }}", list.join(", ")));
        let now = self.shared("now", &format!("{kind} = {}", list[0]));
        let moves: Vec<String> = (list.windows(2))
            .map(|pair| format!("await {now} == {}; {now} := {};", pair[0], pair[1]))
            .map(|step| format!("atomic {{ {step} }}"))
            .collect();
        let before = self.next(template);
        self.step(template, format!("choose {{ {} }}", moves.join(" } or { ")));
        let from = self.next(template);
        self.step(template, "skip;");
        let (here, first) = (self.onwards(template, from), list[0].clone());
        let last = list[members - 1].clone();
        let claim = match (self.mood, self.random.below(2)) {
            (Mood::Right, 0) => Claim::Inside(here, format!("{now} != {first}")),
            (Mood::Right, _) => {
                let here = self.stretch(template, before, before);
                Claim::When("forall", here, format!("{now} == {first}"))
            }
            (Mood::Broken, 0) => {
                let here = self.stretch(template, before, before);
                Claim::When("exists", here, format!("{now} == {first}"))
            }
            _ => Claim::Always(format!("{now} != {last}")),
        };
        self.claims.push(claim);
    }

    /// Take a number, and wait until it is shown.
    fn tickets(&mut self, template: usize, room: usize) {
        let mine = self.fresh("mine");
        self.templates[template]
            .locals
            .push(format!("local {mine}: int = 0;"));
        let dispenser = self.shared("dispenser", "int = 0");
        let shown = self.shared("shown", "int = 0");
        self.step(template, format!("{mine} := fetch_add({dispenser}, 1);"));
        let wait = self.next(template);
        let compare = if self.breaks() { "<=" } else { "==" };
        self.step(template, format!("await {shown} {compare} {mine};"));
        let from = self.next(template);
        self.inside(template, room);
        let to = self.next(template);
        self.step(template, format!("fetch_add({shown}, 1);"));
        let inside = self.stretch(template, from, to);
        let waiting = self.stretch(template, wait, to);
        let limit = self.bound(self.count(template));
        self.claims.push(match self.random.below(4) {
            0 => Claim::Inside(waiting, format!("{dispenser} > {shown}")),
            1 => Claim::Always(format!("{dispenser} - {shown} <= {limit}")),
            2 => Claim::Exactly(waiting, format!("{dispenser} - {shown}")),
            _ => Claim::Alone(inside),
        });
    }

    /// Whoever finds that it came among the first goes on.
    fn first(&mut self, template: usize) {
        let lucky = self.threshold().min(self.threshold());
        let come = self.shared("come", "int = 0");
        self.arrivals.push((come.clone(), self.count(template)));
        self.step(template, format!("fetch_add({come}, 1);"));
        let least = if self.breaks() { lucky + 1 } else { lucky };
        self.step(template, format!("if {come} > {least} {{ return; }}"));
        let from = self.next(template);
        self.step(template, "skip;");
        let stretch = self.stretch(template, from, from);
        let limit = self.bound(&lucky.to_string());
        self.claims.push(match self.random.below(3) {
            0 => Claim::Inside(stretch, format!("{come} > 0")),
            _ => Claim::AtMost(stretch, limit),
        });
    }

    /// Draw a number greater than all others, and wait until it is the least.
    fn bakery(&mut self, template: usize) {
        let name = self.name(template);
        let y = self.shared("y", &format!("array[{name}] of int = 0"));
        let more = i64::from(!self.breaks());
        self.step(
            template,
            format!("atomic {{ {y}[i] := (max j in {name}: {y}[j]) + {more}; }}"),
        );
        let wait = self.next(template);
        let (all, or) = match (self.breaks(), self.random.percent(50)) {
            (true, true) => ("exists", "||"),
            (true, false) => ("forall", "&&"),
            _ => ("forall", "||"),
        };
        self.step(
            template,
            format!(
                "atomic {{ await {all} j in {name}: j != i -> {y}[j] == 0 {or} {y}[i] < {y}[j]; }}"
            ),
        );
        let from = self.next(template);
        self.step(template, format!("{y}[i] := 0;"));
        let (inside, waiting) = (
            self.stretch(template, from, from),
            self.stretch(template, wait, from),
        );
        if self.random.percent(25) {
            self.claims
                .push(Claim::Inside(waiting, format!("{y}[i] > 0")));
        } else {
            self.exclusion(inside);
        }
    }

    /// A counter that one template raises and the other lowers, or both raise.
    pub(super) fn across(&mut self) {
        let x = self.shared("x", "int = 0");
        let repeats = self.templates.iter().any(|template| template.repeats);
        if repeats {
            // What only grows is for those that end.
            return self.shared_lock(&x);
        }
        let down = self.random.percent(50);
        let (first, second) = (self.next(0), self.next(1));
        self.step(0, format!("fetch_add({x}, 1);"));
        self.step(1, format!("fetch_add({x}, {});", if down { -1 } else { 1 }));
        let most = self.bound(if down { "N" } else { "N + M" });
        let least = if down { "0 - M" } else { "0" };
        let less = if self.breaks() { "<" } else { "<=" };
        let strict = if self.mood == Mood::Bounded {
            "<="
        } else {
            "<"
        };
        self.claims.push(match self.random.below(3) {
            0 => Claim::Always(format!("{x} {less} {most} && {x} >= {least}")),
            1 => Claim::Inside(
                self.stretch(0, first, first),
                format!("{x} {strict} {most}"),
            ),
            _ if down => Claim::Inside(self.stretch(1, second, second), format!("{x} > {least}")),
            _ => Claim::Inside(self.stretch(1, second, second), format!("{x} < N + M")),
        });
    }

    /// A lock for both templates.
    fn shared_lock(&mut self, held: &str) {
        let mut stretches = Vec::new();
        for template in 0..2 {
            self.waits(template, &format!("{held} == 0"), &format!("{held} := 1;"));
            let from = self.next(template);
            self.step(template, format!("{held} := 0;"));
            stretches.push(self.stretch(template, from, from));
        }
        self.claims.push(Claim::Apart(stretches[0], stretches[1]));
    }

    /// A step of its own that waits for, or writes, what belongs to a device.
    fn disturb(&mut self, template: usize) {
        let integers: Vec<&String> = (self.declarations.iter())
            .filter(|declared| declared.contains(": int ="))
            .collect();
        let Some(declared) = self.random.one(&integers) else {
            return;
        };
        let name = declared.trim_start_matches("shared ");
        let x = name.split(':').next().unwrap_or_default().to_owned();
        let threshold = self.threshold();
        let text = match self.random.below(4) {
            0 if self.mood == Mood::Broken => format!("{x} := {};", threshold - 1),
            1 if self.mood == Mood::Broken => {
                format!("atomic {{ if {x} > {threshold} {{ {x} := {x} - 1; }} }}")
            }
            2 => format!("await {x} >= {};", threshold - 2),
            _ => format!("await {x} <= {threshold};"),
        };
        self.step(template, text);
    }

    /// A single process waits until all have come, and asserts something then.
    pub(super) fn watch(&mut self, template: usize) {
        let known = self.random.one(&self.arrivals).cloned();
        let (come, count) = known.unwrap_or_else(|| {
            let come = self.shared("come", "int = 0");
            self.templates[0].repeats = false;
            self.step(0, format!("fetch_add({come}, 1);"));
            (come, "N")
        });
        let threshold = self.threshold();
        let condition = match self.random.below(3) {
            0 => format!("{come} >= {threshold}"),
            _ => format!("{come} == {count}"),
        };
        self.step(template, format!("await {condition};"));
        let from = self.next(template);
        let claim = match self.mood {
            Mood::Right => format!("{come} >= 0 && {come} <= {count}"),
            Mood::Bounded => format!("{come} <= {threshold}"),
            // Wrong for few processes, and right for more.
            Mood::Broken => format!("{come} >= {}", self.random.between(1, 4)),
        };
        if self.random.percent(50) {
            self.step(template, format!("assert {claim};"));
        } else {
            self.step(template, "skip;");
            let stretch = self.onwards(template, from);
            self.claims.push(Claim::Inside(stretch, claim));
        }
    }

    /// Parents that start children.
    pub(super) fn family(&mut self) {
        let (parent, child) = (0, 1);
        let each = self.random.between(1, 2);
        self.templates[parent].repeats = false;
        let started = self.shared("started", "int = 0");
        let ended = self.shared("ended", "int = 0");
        // How much a child counts for, if it is told.
        let told = self.random.percent(50);
        let (arguments, by) = if told {
            self.templates[child].given = "(by: 0..2, parent: P)".to_owned();
            let amount = if self.breaks() { 2 } else { 1 };
            (format!("({amount}, i)"), "by")
        } else {
            (String::new(), "1")
        };
        for _ in 0..each {
            self.step(
                parent,
                format!("atomic {{ {started} := {started} + 1; start Child{arguments}; }}"),
            );
        }
        let most = times(each, "N");
        let active = self.shared("active", "int = 0");
        self.step(child, format!("fetch_add({active}, {by});"));
        let from = self.next(child);
        let (stop, report) = (
            format!("fetch_add({active}, -{by});"),
            format!("fetch_add({ended}, 1);"),
        );
        let steps = if self.breaks() {
            [report, stop]
        } else {
            [stop, report]
        };
        for step in steps {
            self.step(child, step);
        }
        let busy = self.stretch(child, from, from);
        match self.random.below(4) {
            0 => {
                let nobody = if self.breaks() { 1 } else { 0 };
                self.step(
                    parent,
                    format!("atomic {{ await ended(Child); assert {active} == {nobody}; }}"),
                );
                self.claims
                    .push(Claim::Always(format!("{ended} <= {started}")));
            }
            1 => {
                let total = self.bound(&most);
                let all = if self.breaks() {
                    format!("{each}")
                } else {
                    most.clone()
                };
                self.step(parent, format!("await {ended} == {all};"));
                self.step(parent, format!("assert {active} == 0;"));
                self.claims
                    .push(Claim::Always(format!("{ended} <= {total}")));
            }
            2 => {
                let limit = self.bound(&most);
                self.claims.push(Claim::AtMost(busy, limit));
            }
            _ => {
                let limit = self.bound(&started);
                self.claims.push(Claim::Inside(
                    busy,
                    format!("{active} > 0 && {active} <= {limit}"),
                ));
            }
        }
        let limit = self.bound(&started);
        self.claims
            .push(Claim::Always(format!("{ended} + {active} <= {limit}")));
    }
}
