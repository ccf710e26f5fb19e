//! Expressions as text of our language.
//!
//! Promela knows integers only; our language tells truth values from integers. So every expression can be written as either: a number
//! as a truth value is `n != 0`, a truth value as a number counts how often it is true in a range of one value.
//! Results that may leave 32 bits, or the type they are stored in, are wrapped; intervals say where that is not needed.

use super::ir::*;
use super::ranges::{INT, Interval, all_ones, clip, exact, within};
use crate::from_promela::syntax::{At, Binary, Type};
use std::collections::BTreeMap;

/// From where variables of processes are seen.
#[derive(Clone, Debug)]
pub(super) enum View {
    /// From the process itself.
    Own(TemplateId),
    /// From program text of another process: the process has this id.
    Other(TemplateId, String),
    /// From a property.
    Property(TemplateId, String),
    /// From a property that speaks of no process in particular.
    Nobody,
}

impl View {
    pub(super) fn template(&self) -> Option<TemplateId> {
        match self {
            View::Own(t) | View::Other(t, _) | View::Property(t, _) => Some(*t),
            View::Nobody => None,
        }
    }
}

/// Text and how tightly it binds.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub text: String,
    level: u8,
}

const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
pub(super) const SUM: u8 = 4;
pub(super) const PRODUCT: u8 = 5;
const UNARY: u8 = 6;
pub(super) const PRIMARY: u8 = 7;

impl Text {
    pub(super) fn new(text: impl Into<String>, level: u8) -> Self {
        Text {
            text: text.into(),
            level,
        }
    }

    pub(super) fn at_least(&self, level: u8) -> String {
        if self.level < level {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

/// Whether something can be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Always,
    Never,
    If(String),
}

impl Guard {
    pub(super) fn text(&self) -> String {
        match self {
            Guard::Always => "true".into(),
            Guard::Never => "false".into(),
            Guard::If(text) => text.clone(),
        }
    }
}

/// Both; the texts are put in brackets where needed by whoever made them.
pub(super) fn and(a: Guard, b: Guard) -> Guard {
    match (a, b) {
        (Guard::Never, _) | (_, Guard::Never) => Guard::Never,
        (Guard::Always, other) | (other, Guard::Always) => other,
        (Guard::If(a), Guard::If(b)) => Guard::If(format!("{} && {}", bracket(&a), bracket(&b))),
    }
}

pub(super) fn or(guards: impl IntoIterator<Item = Guard>) -> Guard {
    let mut all: Vec<String> = Vec::new();
    for guard in guards {
        match guard {
            Guard::Always => return Guard::Always,
            Guard::Never => {}
            Guard::If(text) if all.contains(&text) => {}
            Guard::If(text) => all.push(text),
        }
    }
    match all.as_slice() {
        [] => Guard::Never,
        [one] => Guard::If(one.clone()),
        _ => Guard::If(
            all.iter()
                .map(|t| bracket(t))
                .collect::<Vec<_>>()
                .join(" || "),
        ),
    }
}

pub(super) fn not(guard: Guard) -> Guard {
    match guard {
        Guard::Always => Guard::Never,
        Guard::Never => Guard::Always,
        Guard::If(text) => match text.strip_prefix('!') {
            Some(inner) if plain(inner) => Guard::If(inner.to_string()),
            _ if flipped(&text).is_some() => Guard::If(flipped(&text).unwrap_or_default()),
            _ if plain(&text) => Guard::If(format!("!{text}")),
            _ => Guard::If(format!("!({text})")),
        },
    }
}

/// A single comparison, the other way round.
fn flipped(text: &str) -> Option<String> {
    let signs = [
        ("==", "!="),
        ("!=", "=="),
        ("<", ">="),
        ("<=", ">"),
        (">", "<="),
        (">=", "<"),
    ];
    let mut words: Vec<&str> = text.split(' ').collect();
    let loose = ["&&", "||", "->", "<->", "in", "if"];
    let negated = words.iter().any(|w| w.starts_with('!') && *w != "!=");
    if negated || text.contains('(') || words.iter().any(|w| loose.contains(w)) {
        return None;
    }
    let found: Vec<usize> = (0..words.len())
        .filter(|at| signs.iter().any(|(s, _)| *s == words[*at]))
        .collect();
    let [at] = found[..] else {
        return None;
    };
    words[at] = signs.iter().find(|(s, _)| *s == words[at])?.1;
    Some(words.join(" "))
}

/// A name, or a name with an index.
fn plain(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_[]".contains(c))
}

/// Brackets around what may bind less than `&&`.
pub(super) fn bracket(text: &str) -> String {
    let loose = text.contains("||")
        || text.contains("->")
        || text.contains("exists")
        || text.contains("forall")
        || text.contains("count");
    let mixed = text.contains("&&");
    if (loose || mixed) && !enclosed(text) {
        format!("({text})")
    } else {
        text.to_string()
    }
}

/// Whether the first bracket closes at the very end.
fn enclosed(text: &str) -> bool {
    let inner = text.strip_prefix("!").unwrap_or(text);
    if !inner.starts_with('(') {
        return false;
    }
    let mut depth = 0;
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == inner.len();
        }
    }
    false
}

/// Names that the translation adds.
#[derive(Debug, Default)]
pub(super) struct Added {
    pub exclusive: String,
    pub nr_pr: String,
    pub stuck: String,
    pub sender: String,
    /// The id of a process in its own text.
    pub pid: String,
    pub other: String,
    /// The id of a process in a property.
    pub some: String,
    pub once: String,
    pub slot: String,
    pub slot2: String,
    /// A process that sets initial values, and its only label.
    pub setup: String,
    pub begin: String,
    /// Of each template: whether a process is there; where it is.
    pub on: Vec<String>,
    pub place: Vec<String>,
}

/// Which control states others can see, and by which number.
pub(super) type Tracked = BTreeMap<(TemplateId, NodeId), i64>;

pub(super) struct Texts<'p> {
    pub program: &'p Program,
    pub added: &'p Added,
    pub tracked: &'p Tracked,
    /// Inside the definition of "nothing can be executed".
    pub no_timeout: bool,
    /// Names of locations, of each template.
    pub locations: &'p BTreeMap<(TemplateId, NodeId), String>,
}

impl Texts<'_> {
    /// The id of the process of a view.
    pub(super) fn pid(&self, view: &View) -> String {
        match view {
            View::Own(t) => {
                let template = &self.program.templates[t.0];
                if template.single() {
                    template.pids.0.to_string()
                } else {
                    self.added.pid.clone()
                }
            }
            View::Other(_, id) | View::Property(_, id) => id.clone(),
            View::Nobody => "0".into(),
        }
    }

    /// The name of an array over the processes of a template, for the process of the view.
    pub(super) fn of_process(&self, name: &str, view: &View) -> String {
        match view.template() {
            Some(t) if !self.program.templates[t.0].single() => {
                format!("{name}[{}]", self.pid(view))
            }
            _ => name.to_string(),
        }
    }

    pub(super) fn cell(&self, cell: &Cell, view: &View) -> Result<String> {
        let var = &self.program.vars[cell.var.0];
        let mut text = match (var.owner, view) {
            (None, _) => var.name.clone(),
            (Some(_), _) if var.shared => self.of_process(&var.name, view),
            (Some(_), View::Own(_)) => var.name.clone(),
            (Some(t), View::Property(_, id)) => {
                let template = &self.program.templates[t.0];
                if template.single() {
                    format!("{}.{}", template.name, var.name)
                } else {
                    format!("{}[{id}].{}", template.name, var.name)
                }
            }
            _ if pid_only(&var.initial) => {
                let value = self.stored(cell.var, &var.initial, view)?;
                return Ok(value.at_least(PRIMARY));
            }
            _ => {
                return refuse(
                    cell.at,
                    "a local variable that other processes would have to see",
                    "make it global",
                );
            }
        };
        for index in &cell.indices {
            text += &format!("[{}]", self.number(index, view)?.text);
        }
        Ok(text)
    }

    /// A condition that is written twice must not be long, or nested ones would grow without bounds.
    fn short(&self, text: Text, at: At) -> Result<Text> {
        if text.text.len() > 2000 {
            return refuse(
                at,
                "a conditional expression of this size",
                "use `if` instead",
            );
        }
        Ok(text)
    }

    pub(super) fn counted(&self, truth: &str) -> Text {
        Text::new(
            format!("(count {} in 0..0: {truth})", self.added.once),
            PRIMARY,
        )
    }

    pub(super) fn wrapped(&self, text: Text, value: Interval, kind: Interval) -> Text {
        if within(value, kind) {
            return text;
        }
        let (low, high) = kind;
        let size = high - low + 1;
        let shifted = match low {
            0 => text.at_least(PRODUCT),
            low if low < 0 => format!("({} + {})", text.at_least(SUM), -low),
            low => format!("({} - {low})", text.at_least(SUM)),
        };
        let mut result = Text::new(format!("{shifted} % {size}"), PRODUCT);
        if value.0 < low {
            result = Text::new(format!("({} + {size}) % {size}", result.text), PRODUCT);
        }
        match low {
            0 => result,
            low if low < 0 => Text::new(format!("{} - {}", result.text, -low), SUM),
            low => Text::new(format!("{} + {low}", result.text), SUM),
        }
    }

    /// An expression as a number.
    pub(super) fn number(&self, e: &Expr, view: &View) -> Result<Text> {
        let owner = view.template();
        let plain = |text: String| Ok(Text::new(text, PRIMARY));
        match e {
            Expr::Num(n) if *n < 0 => Ok(Text::new(format!("-{}", n.unsigned_abs()), UNARY)),
            Expr::Num(n) => plain(n.to_string()),
            Expr::Member(name, _) => plain(self.member(name)),
            Expr::Var(cell) => {
                let text = self.cell(cell, view)?;
                if self.program.vars[cell.var.0].boolean {
                    Ok(self.counted(&text))
                } else {
                    plain(text)
                }
            }
            Expr::Chan(c) => plain(self.channel_number(c, view)?),
            Expr::Pid(_) => plain(self.pid(view)),
            Expr::NrPr => plain(self.added.nr_pr.clone()),
            Expr::Length(c) => plain(self.length(c, view)?),
            Expr::RemoteVar {
                template,
                index,
                cell,
                at,
            } if !self.program.vars[cell.var.0].boolean => {
                plain(self.remote_variable(*template, index, cell, *at, view)?)
            }
            Expr::Minus(inner) => {
                let (low, high) = self.program.interval(inner, owner);
                let text = Text::new(
                    format!("-{}", self.number(inner, view)?.at_least(PRIMARY)),
                    UNARY,
                );
                Ok(self.wrapped(text, (-high, -low), INT))
            }
            Expr::Bin(op, a, b, at) if !self.program.truth(e) => {
                let (ia, ib) = (
                    self.program.interval(a, owner),
                    self.program.interval(b, owner),
                );
                let (ta, tb) = (self.number(a, view)?, self.number(b, view)?);
                let text = match op {
                    Binary::Add => Text::new(
                        format!("{} + {}", ta.at_least(SUM), tb.at_least(PRODUCT)),
                        SUM,
                    ),
                    Binary::Sub => Text::new(
                        format!("{} - {}", ta.at_least(SUM), tb.at_least(PRODUCT)),
                        SUM,
                    ),
                    Binary::Mul => Text::new(
                        format!("{} * {}", ta.at_least(PRODUCT), tb.at_least(UNARY)),
                        PRODUCT,
                    ),
                    Binary::Div => Text::new(
                        format!("{} / {}", ta.at_least(PRODUCT), tb.at_least(UNARY)),
                        PRODUCT,
                    ),
                    Binary::Mod => Text::new(
                        format!("{} % {}", ta.at_least(PRODUCT), tb.at_least(UNARY)),
                        PRODUCT,
                    ),
                    _ => match (op, a.number()) {
                        // These may change sides, and a constant is simpler on the right.
                        (Binary::BitAnd | Binary::BitOr | Binary::BitXor, Some(mask)) => {
                            self.bits(*op, (&tb, ib), (&ta, ia), Some(mask), *at)?
                        }
                        _ => self.bits(*op, (&ta, ia), (&tb, ib), b.number(), *at)?,
                    },
                };
                Ok(self.wrapped(text, exact(*op, ia, ib), INT))
            }
            Expr::Cond(c, a, b, at) if !self.program.truth(e) => {
                if self.fails(a, view)? != Guard::Never || self.fails(b, view)? != Guard::Never {
                    return refuse(
                        *at,
                        "a conditional expression with an index, a division or a channel that may fail in a part that is not always evaluated",
                        "use `if` instead",
                    );
                }
                let (a, b) = (self.number(a, view)?, self.number(b, view)?);
                let c = self.short(self.truth(c, view)?, *at)?;
                let yes = self.counted(&c.text).text;
                let no = self.counted(&not(Guard::If(c.text)).text()).text;
                let text = format!(
                    "{yes} * {} + {no} * {}",
                    a.at_least(UNARY),
                    b.at_least(UNARY)
                );
                Ok(Text::new(text, SUM))
            }
            _ => {
                let text = self.truth(e, view)?.text;
                Ok(match text.as_str() {
                    "true" => Text::new("1", PRIMARY),
                    "false" => Text::new("0", PRIMARY),
                    _ => self.counted(&text),
                })
            }
        }
    }

    /// Operators on bits, of numbers that are not negative.
    fn bits(
        &self,
        op: Binary,
        (a, ia): (&Text, Interval),
        (b, ib): (&Text, Interval),
        constant: Option<i64>,
        at: crate::from_promela::syntax::At,
    ) -> Result<Text> {
        if let (Binary::ShiftLeft | Binary::ShiftRight, Some(n)) = (op, constant)
            && (0..=30).contains(&n)
            && ia.0 >= 0
        {
            let sign = if op == Binary::ShiftLeft { "*" } else { "/" };
            return Ok(Text::new(
                format!("{} {sign} {}", a.at_least(PRODUCT), 1i64 << n),
                PRODUCT,
            ));
        }
        let size = a.text.len() + b.text.len();
        if let (Binary::ShiftLeft | Binary::ShiftRight, true) =
            (op, ia.0 >= 0 && ib.0 >= 0 && ib.1 <= 15 && size < 500)
        {
            let sign = if op == Binary::ShiftLeft { "*" } else { "/" };
            let parts: Vec<String> = (ib.0..=ib.1)
                .map(|n| {
                    let here = self.counted(&format!("{} == {n}", b.at_least(SUM))).text;
                    format!("{here} * ({} {sign} {})", a.at_least(PRODUCT), 1i64 << n)
                })
                .collect();
            return Ok(Text::new(parts.join(" + "), SUM));
        }
        if let (Some(mask), true) = (constant, ia.0 >= 0)
            && let Some(text) = masked(op, a, ia.1, mask)
        {
            return Ok(text);
        }
        // What is not negative has no bits beyond its own, so those of the other side do not matter.
        let lowest = |text: &Text, most: i64| {
            let modulus = all_ones(most) + 1;
            let text = text.at_least(PRODUCT);
            let rest = format!("({text} % {modulus} + {modulus}) % {modulus}");
            (Text::new(rest, PRODUCT), (0, modulus - 1))
        };
        if op == Binary::BitAnd && ia.0 < 0 && ib.0 >= 0 {
            let (text, values) = lowest(a, ib.1);
            return self.bits(op, (&text, values), (b, ib), constant, at);
        }
        if op == Binary::BitAnd && ia.0 >= 0 && ib.0 < 0 {
            let (text, values) = lowest(b, ia.1);
            return self.bits(op, (a, ia), (&text, values), None, at);
        }
        // Only bits of the constant change, whatever the sign.
        if let (Binary::BitOr | Binary::BitXor, Some(mask @ 0..)) = (op, constant)
            && ia.0 < 0
        {
            let (rest, values) = lowest(a, mask);
            if let Some(set) = masked(Binary::BitAnd, &rest, values.1, mask) {
                let twice = if op == Binary::BitXor { " * 2" } else { "" };
                let set = set.at_least(PRODUCT);
                let text = format!("{} + {mask} - {set}{twice}", a.at_least(SUM));
                return Ok(Text::new(text, SUM));
            }
        }
        let most = if op == Binary::BitAnd {
            ia.1.min(ib.1)
        } else {
            ia.1.max(ib.1)
        };
        if matches!(op, Binary::BitAnd | Binary::BitOr | Binary::BitXor)
            && ia.0 >= 0
            && ib.0 >= 0
            && most < 65536
            && size < 500
        {
            let mut parts = Vec::new();
            let mut bit = 1i64;
            while bit <= most {
                let of = |t: &Text| format!("{} / {bit} % 2", t.at_least(PRODUCT));
                let (x, y) = (of(a), of(b));
                let part = match op {
                    Binary::BitAnd => format!("({x}) * ({y})"),
                    Binary::BitOr => format!("max({x}, {y})"),
                    _ => format!("(({x}) + ({y})) % 2"),
                };
                parts.push(if bit == 1 {
                    part
                } else {
                    format!("{part} * {bit}")
                });
                bit *= 2;
            }
            return Ok(Text::new(
                if parts.is_empty() {
                    "0".into()
                } else {
                    parts.join(" + ")
                },
                SUM,
            ));
        }
        refuse(
            at,
            "an operator on bits of numbers that may be negative or large",
            "use `byte` or `unsigned` variables, or arithmetic",
        )
    }

    pub(super) fn member(&self, name: &str) -> String {
        self.program
            .members
            .iter()
            .find(|(n, ..)| n == name)
            .map_or_else(|| name.to_string(), |(.., n)| n.clone())
    }

    /// An expression as a truth value.
    pub(super) fn truth(&self, e: &Expr, view: &View) -> Result<Text> {
        let plain = |text: String| Ok(Text::new(text, PRIMARY));
        let owner = view.template();
        match e {
            Expr::Num(n) => plain((*n != 0).to_string()),
            Expr::Var(cell) if self.program.vars[cell.var.0].boolean => {
                plain(self.cell(cell, view)?)
            }
            Expr::RemoteVar {
                template,
                index,
                cell,
                at,
            } if self.program.vars[cell.var.0].boolean => {
                plain(self.remote_variable(*template, index, cell, *at, view)?)
            }
            Expr::RemoteLabel {
                template,
                index,
                label,
                at,
            } => plain(self.remote_label(*template, index, label, *at, view)?),
            Expr::Timeout(_) => plain(if self.no_timeout {
                "false".into()
            } else {
                self.added.stuck.clone()
            }),
            Expr::Not(inner) => {
                let inner = self.truth(inner, view)?;
                match inner.text.as_str() {
                    "true" => return plain("false".into()),
                    "false" => return plain("true".into()),
                    _ => {}
                }
                Ok(Text::new(format!("!{}", inner.at_least(PRIMARY)), UNARY))
            }
            Expr::Bin(op @ (Binary::And | Binary::Or), a, b, _) => {
                let (a, b) = (self.truth(a, view)?, self.truth(b, view)?);
                Ok(if *op == Binary::And {
                    Text::new(format!("{} && {}", a.at_least(AND), b.at_least(AND)), AND)
                } else {
                    Text::new(format!("{} || {}", a.at_least(AND), b.at_least(AND)), OR)
                })
            }
            Expr::Bin(op @ (Binary::Equal | Binary::NotEqual), a, b, at)
                if self.program.truth(a) && self.program.truth(b) =>
            {
                let same = *op == Binary::Equal;
                for (x, y) in [(a, b), (b, a)] {
                    if let Some(n) = x.number() {
                        return if (n != 0) == same {
                            self.truth(y, view)
                        } else {
                            self.truth(&Expr::Not(y.clone()), view)
                        };
                    }
                }
                let _ = at;
                let (a, b) = (self.truth(a, view)?, self.truth(b, view)?);
                let op = if same { "==" } else { "!=" };
                Ok(Text::new(
                    format!("{} {op} {}", a.at_least(SUM), b.at_least(SUM)),
                    COMPARE,
                ))
            }
            Expr::Bin(op, a, b, _) if comparison(*op).is_some() => {
                let sign = comparison(*op).unwrap_or_default();
                let (a, b) = (self.number(a, view)?, self.number(b, view)?);
                Ok(Text::new(
                    format!("{} {sign} {}", a.at_least(SUM), b.at_least(SUM)),
                    COMPARE,
                ))
            }
            Expr::Cond(c, a, b, at) => {
                let c = self.short(self.truth(c, view)?, *at)?;
                let (a, b) = (self.truth(a, view)?, self.truth(b, view)?);
                let c_not = not(Guard::If(c.text.clone())).text();
                Ok(Text::new(
                    format!(
                        "({} && {}) || ({c_not} && {})",
                        c.at_least(AND),
                        a.at_least(AND),
                        b.at_least(AND)
                    ),
                    OR,
                ))
            }
            Expr::Full(c) => {
                let class = self.class(c)?;
                self.buffered(c)?;
                Ok(Text::new(
                    format!("{} == {}", self.living_length(c, view)?, class.capacity),
                    COMPARE,
                ))
            }
            Expr::Empty(c) => {
                self.buffered(c)?;
                Ok(Text::new(
                    format!("{} == 0", self.length(c, view)?),
                    COMPARE,
                ))
            }
            Expr::Poll {
                channel,
                random,
                patterns,
            } => {
                self.buffered(channel)?;
                let guard = self.receivable(channel, *random, patterns, true, view)?;
                let text = guard.text();
                Ok(Text::new(
                    if text.contains("&&") || text.contains("exists") {
                        format!("({text})")
                    } else {
                        text
                    },
                    COMPARE,
                ))
            }
            _ => {
                let _ = owner;
                let number = self.number(e, view)?;
                Ok(Text::new(format!("{} != 0", number.at_least(SUM)), COMPARE))
            }
        }
    }

    /// The process that `P[e]` or `P` means: its pid, and how a property names it.
    fn remote_process(
        &self,
        template: TemplateId,
        index: &Option<Box<Expr>>,
        at: At,
    ) -> Result<(i64, String)> {
        let t = &self.program.templates[template.0];
        let id = match index {
            None => t.pids.0,
            Some(e) => match e.number() {
                Some(n) => n,
                None => {
                    return refuse(
                        at,
                        "a process that depends on a variable",
                        "write the pid as a constant",
                    );
                }
            },
        };
        if !t.present || id < t.pids.0 || id > t.pids.1 || self.program.ambiguous {
            return refuse(
                at,
                format!("this does not name one process of `{}`", t.original),
                format!("write its pid, between {} and {}", t.pids.0, t.pids.1),
            );
        }
        let process = if t.single() {
            t.name.clone()
        } else {
            format!("{}[{id}]", t.name)
        };
        Ok((id, process))
    }

    /// `P[e]@label`.
    fn remote_label(
        &self,
        template: TemplateId,
        index: &Option<Box<Expr>>,
        label: &str,
        at: At,
        view: &View,
    ) -> Result<String> {
        let (id, process) = self.remote_process(template, index, at)?;
        // In the text of a process: others are seen by what they share.
        if let View::Own(_) | View::Other(..) = view {
            return self.remote_in_text(label, (template, id, at), view);
        }
        let t = &self.program.templates[template.0];
        let mut names: Vec<String> = Vec::new();
        for (node, found) in t.nodes.iter().enumerate() {
            if found.labels.iter().any(|l| l == label)
                && let Some(name) = self.locations.get(&(template, NodeId(node)))
            {
                names.push(name.clone());
            }
        }
        match names.as_slice() {
            // Who is not there yet is at its first location.
            [name] if t.run => Ok(format!(
                "({process} at {name} && {} > {id})",
                self.added.nr_pr
            )),
            [name] => Ok(format!("{process} at {name}")),
            // The label is there, but no run ever gets to it.
            [] if t.marks.iter().any(|(mark, _)| mark == label)
                && !t
                    .nodes
                    .iter()
                    .any(|node| node.labels.iter().any(|l| l == label)) =>
            {
                Ok("false".into())
            }
            _ => refuse(
                at,
                format!("no process of `{}` is ever seen at `{label}`", t.original),
                "put the label in front of a statement that takes a step, outside `atomic`",
            ),
        }
    }

    /// `P[e]:x`.
    fn remote_variable(
        &self,
        template: TemplateId,
        index: &Option<Box<Expr>>,
        cell: &Cell,
        at: At,
        view: &View,
    ) -> Result<String> {
        let (id, _) = self.remote_process(template, index, at)?;
        if let View::Own(_) | View::Other(..) = view {
            return refuse(
                at,
                "a variable of another process in the text of a process",
                "make the variable global",
            );
        }
        let t = &self.program.templates[template.0];
        let var = &self.program.vars[cell.var.0];
        // For SPIN the variables of who is not there are zero.
        if (t.run || t.dies) && (var.initial.number() != Some(0) || var.list.is_some()) {
            return refuse(
                at,
                "a variable of a process that may not be there, and which begins with another value than zero",
                "use a global variable",
            );
        }
        self.cell(cell, &View::Property(template, id.to_string()))
    }
}

impl Texts<'_> {
    /// `P[e]@label` in the text of another process.
    fn remote_in_text(
        &self,
        label: &str,
        (template, id, at): (TemplateId, i64, At),
        view: &View,
    ) -> Result<String> {
        let t = &self.program.templates[template.0];
        // Within a step nobody says where it is itself.
        if view.template() == Some(template) {
            return refuse(
                at,
                format!("a label of `{}` in its own text", t.original),
                "let a global variable say where the process is",
            );
        }
        let place = self.of_process(
            &self.added.place[template.0],
            &View::Other(template, id.to_string()),
        );
        let mut seen = Vec::new();
        for (node, found) in t.nodes.iter().enumerate() {
            if !found.labels.iter().any(|l| l == label) {
                continue;
            }
            match self.tracked.get(&(template, NodeId(node))) {
                Some(number) => seen.push(format!("{place} == {number}")),
                None => {
                    return refuse(
                        at,
                        format!("the label `{label}`, which stands in a `d_step`"),
                        "put the label in front of a statement outside",
                    );
                }
            }
        }
        if seen.is_empty() && !t.marks.iter().any(|(mark, _)| mark == label) {
            return wrong(
                at,
                format!("`{}` has no label `{label}`", t.original),
                "name a label of the proctype",
            );
        }
        Ok(match seen.as_slice() {
            // The label is there, but no run ever gets to it.
            [] => "false".into(),
            [one] => format!("({one})"),
            _ => format!("({})", seen.join(" || ")),
        })
    }
}

/// An operator on bits with a constant, of a number between 0 and `most`: what is added or taken away for each run of ones in the constant.
fn masked(op: Binary, a: &Text, most: i64, mask: i64) -> Option<Text> {
    let ones = all_ones(most);
    let runs = runs(if op == Binary::BitAnd {
        mask & ones
    } else {
        mask
    })?;
    if a.text.len() * (runs.len() + 1) > 1000 {
        return None;
    }
    // The bits of a run, where the number has them.
    let part = |(low, high): (i64, i64)| {
        let a = a.at_least(PRODUCT);
        match (low, ones < high) {
            _ if ones < low => None,
            (1, true) => Some(a),
            (1, false) => Some(format!("{a} % {high}")),
            (_, true) => Some(format!("{a} / {low} * {low}")),
            (_, false) => Some(format!("{a} / {low} % {} * {low}", high / low)),
        }
    };
    let mut text = a.at_least(SUM);
    match op {
        Binary::BitAnd => {
            let parts: Vec<String> = runs.into_iter().filter_map(part).collect();
            // Nothing is left, but the number has to be evaluated.
            if parts.is_empty() {
                return Some(Text::new(format!("{} % 1", a.at_least(PRODUCT)), PRODUCT));
            }
            let level = if parts.len() == 1 { PRODUCT } else { SUM };
            return Some(Text::new(parts.join(" + "), level));
        }
        Binary::BitOr | Binary::BitXor => {
            let twice = if op == Binary::BitXor { " * 2" } else { "" };
            for run in runs {
                text += &format!(" + {}", run.1 - run.0);
                if let Some(part) = part(run) {
                    text += &format!(" - {part}{twice}");
                }
            }
        }
        _ => return None,
    }
    Some(Text::new(text, SUM))
}

/// The runs of ones in a number's bits: the first bit of each, and the first behind it. Nothing if it is negative.
fn runs(number: i64) -> Option<Vec<(i64, i64)>> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for at in 0..32 {
        let bit = 1i64 << at;
        if number & bit == 0 {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.1 == bit => last.1 = bit * 2,
            _ => found.push((bit, bit * 2)),
        }
    }
    (number >= 0).then_some(found)
}

/// The sign of an operator that compares numbers.
fn comparison(op: Binary) -> Option<&'static str> {
    Some(match op {
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Mod
        | Binary::BitAnd
        | Binary::BitOr
        | Binary::BitXor
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::And
        | Binary::Or => return None,
    })
}

/// Whether an expression is made of numbers and the pid.
pub(super) fn pid_only(e: &Expr) -> bool {
    let mut only = true;
    e.walk(&mut |part| {
        only &= matches!(
            part,
            Expr::Num(_)
                | Expr::Member(..)
                | Expr::Pid(_)
                | Expr::Bin(..)
                | Expr::Minus(_)
                | Expr::Not(_)
        );
    });
    only
}

/// The type of a variable in our language, without its dimensions.
pub(super) fn scalar(var: &Var) -> String {
    if var.boolean && matches!(var.kind, Type::Bit | Type::Bool) {
        "bool".into()
    } else {
        let (low, high) = clip(var.range);
        let (low, high) = if matches!(var.kind, Type::Unsigned(_)) {
            var.range
        } else {
            (low, high)
        };
        format!("{low}..{high}")
    }
}
