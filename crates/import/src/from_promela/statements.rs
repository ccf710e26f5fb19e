//! Statements.
//!
//! Two things are rewritten on the way, because SPIN does the same before it knows of steps: a declaration that comes after
//! the first statement of its process is followed by an assignment, which is a step of its own; and `for` and `select` are
//! loops that count, but for a `select` between numbers that are few and stand there as digits, which is an `if` of
//! assignments.

use threadwise_lang::diagnostics::Code;

use super::expressions::alone;
use super::lexer::{Kind, Token};
use super::parser::{Parser, embedded};
use super::remarks::{Parsed, malformed, remark, unsupported};
use super::scopes::Other;
use super::syntax::{
    At, Binary, Declaration, Expr, ExprKind, Initial, Name, Pattern, Place, Segment, Statement,
    StatementKind, Type,
};

/// SPIN writes out a `select` whose bounds are no further apart.
const WRITTEN_OUT: i64 = 32;

impl Parser {
    /// The body of a process, whose scope is open; ends the process.
    pub(super) fn body(&mut self, process: &str) -> Parsed<(Vec<Statement>, At)> {
        let open = self.expect("{")?;
        self.early = true;
        self.loops = 0;
        let mut body = self.sequence(open)?;
        let end = self.closing(open)?;
        let variables = self.scopes.finish_process();
        for error in self.labels.finish(process, &mut body, variables) {
            self.complain(Box::new(error))?;
        }
        Ok((body, end))
    }

    fn closing(&mut self, open: At) -> Parsed<At> {
        if self.ended() {
            return Err(remark(
                open,
                Code::UnclosedBrace,
                "this brace is never closed",
                "close it with `}`",
            ));
        }
        self.expect("}")
    }

    fn at_end_of_sequence(&self) -> bool {
        self.at_sign("}")
            || self.at_sign("::")
            || self.at_word("fi")
            || self.at_word("od")
            || self.ended()
    }

    fn separators(&mut self) -> bool {
        let mut found = false;
        while self.take_sign(";") || self.take_sign("->") {
            found = true;
        }
        found
    }

    /// Statements up to what ends them. `open` is the place of what opened them.
    fn sequence(&mut self, open: At) -> Parsed<Vec<Statement>> {
        let mut out = Vec::new();
        self.separators();
        let mut any = false;
        while !self.at_end_of_sequence() {
            self.step(&mut out)?;
            any = true;
            if !self.separators() && !self.at_end_of_sequence() {
                return Err(self.unexpected("`;` or `->` between statements"));
            }
        }
        if !any && !self.ended() {
            return Err(malformed(
                open,
                "there is no statement in here",
                "write `skip` where nothing is to happen",
            ));
        }
        Ok(out)
    }

    /// `{ .. }`, which does not begin with a label: SPIN would not know which state it is.
    fn block(&mut self) -> Parsed<Vec<Statement>> {
        let body = self.braces()?;
        if let Some(label) = first_label(&body) {
            let help = "put the label in front of the brace, or of the word before it";
            return Err(malformed(label.at, "a label behind an opening brace", help));
        }
        Ok(body)
    }

    /// `{ .. }`, a scope of its own.
    fn braces(&mut self) -> Parsed<Vec<Statement>> {
        self.deeper()?;
        self.early = false;
        let open = self.expect("{")?;
        self.scopes.enter();
        let body = self.sequence(open)?;
        self.closing(open)?;
        self.scopes.leave();
        self.shallower();
        Ok(body)
    }

    fn step(&mut self, out: &mut Vec<Statement>) -> Parsed<()> {
        let token = self.peek().clone();
        if self.at_declaration() {
            self.option_begins = false;
            return self.declare(out);
        }
        if token.is_word("xr") || token.is_word("xs") {
            self.option_begins = false;
            self.take();
            self.place(true)?;
            while self.take_sign(",") {
                self.place(true)?;
            }
            let message = format!("{} only helps SPIN to leave out states", token.shown());
            self.notes.push(*remark(
                self.since(token.at),
                Code::LeftOut,
                message,
                "nothing need be done",
            ));
            return Ok(());
        }
        let first = self.statement()?;
        out.append(&mut self.in_front);
        if !self.at_word("unless") {
            out.push(first);
            return Ok(());
        }
        self.take();
        let second = self.statement()?;
        out.append(&mut self.in_front);
        let at = self.since(token.at);
        out.push(Statement {
            at,
            labels: Vec::new(),
            kind: StatementKind::Unless(vec![first], vec![second]),
        });
        Ok(())
    }

    fn declare(&mut self, out: &mut Vec<Statement>) -> Parsed<()> {
        let at = self.peek().at;
        let mut declarations = self.declaration()?;
        let mut steps = Vec::new();
        if !self.early {
            for declaration in &mut declarations {
                steps.push(late_value(declaration)?);
            }
        }
        out.push(Statement {
            at: self.since(at),
            labels: Vec::new(),
            kind: StatementKind::Declare(declarations),
        });
        out.extend(steps);
        Ok(())
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.deeper()?;
        let option_begins = std::mem::take(&mut self.option_begins);
        let mut labels = Vec::new();
        let at = self.peek().at;
        while self.at_label() {
            let call = self.peek().call;
            let name = self.name("a label")?;
            self.take();
            let name = match self.labels.declare(&name, call) {
                Ok(name) => name,
                Err(error) => {
                    self.complain(error)?;
                    name
                }
            };
            if name.text.starts_with("accept") && !self.in_claim {
                self.program.accepting.push(name.at);
            }
            if self.scopes.variable(&name.text).is_some() {
                let message = format!("`{}` is a variable, and cannot be a label too", name.text);
                self.complain(remark(
                    name.at,
                    Code::DeclaredTwice,
                    message,
                    "rename one of them",
                ))?;
            }
            labels.push(name);
        }
        if !labels.is_empty() && (self.at_declaration() || self.at_word("xr") || self.at_word("xs"))
        {
            let help = "a label belongs to a statement: put the declaration in front of it";
            return Err(malformed(at, "a label in front of a declaration", help));
        }
        let ends = self.at_end_of_sequence() || self.at_sign(";") || self.at_sign("->");
        let kind = if !labels.is_empty() && ends {
            StatementKind::Test(Expr {
                at,
                kind: ExprKind::Number(1),
            })
        } else {
            self.unlabelled(option_begins && labels.is_empty())?
        };
        self.early = false;
        self.shallower();
        Ok(Statement {
            at: self.since(at),
            labels,
            kind,
        })
    }

    fn at_label(&self) -> bool {
        let token = self.peek();
        token.kind == Kind::Word
            && self.ahead(1).is(":")
            && !self.scopes.is_other(&token.text, Other::Process)
    }

    /// A statement without its labels; `first` is whether an option begins with it.
    fn unlabelled(&mut self, first: bool) -> Parsed<StatementKind> {
        let token = self.peek().clone();
        if token.is("{") {
            self.option_begins = first;
            return Ok(StatementKind::Block(self.block()?));
        }
        if token.kind == Kind::Word {
            match &*token.text {
                "if" => return Ok(StatementKind::If(self.options("fi")?)),
                "do" => {
                    self.loops += 1;
                    let options = self.options("od")?;
                    self.loops -= 1;
                    return Ok(StatementKind::Do(options));
                }
                "break" => {
                    self.take();
                    if self.loops == 0 {
                        return Err(remark(
                            token.at,
                            Code::BreakOutsideLoop,
                            "`break` outside a loop",
                            "use `goto`",
                        ));
                    }
                    return Ok(StatementKind::Break);
                }
                "goto" => {
                    self.take();
                    self.labels.jump(self.peek().call);
                    return Ok(StatementKind::Goto(self.name("a label")?));
                }
                "atomic" => {
                    self.take();
                    self.option_begins = first;
                    return Ok(StatementKind::Atomic(self.block()?));
                }
                "d_step" => {
                    self.take();
                    return Ok(StatementKind::DStep(self.block()?));
                }
                "for" => return self.for_loop(),
                "select" => return self.select(),
                "else" if first => {
                    self.take();
                    return Ok(StatementKind::Else);
                }
                "else" => {
                    let help =
                        "`else` stands alone as the first statement of an option of `if` or `do`";
                    return Err(malformed(token.at, "`else` is out of place", help));
                }
                "printf" | "printm" => return self.print(),
                "assert" => {
                    self.take();
                    return Ok(StatementKind::Assert(self.expression()?));
                }
                "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track" => {
                    return Err(embedded(&token));
                }
                "set_priority" => {
                    return Err(unsupported(
                        token.at,
                        "priorities of processes are not supported",
                        "remove them",
                    ));
                }
                _ => {}
            }
        }
        self.simple()
    }

    /// An assignment, a send, a receive, or an expression.
    fn simple(&mut self) -> Parsed<StatementKind> {
        if !self.at_place() {
            return Ok(StatementKind::Test(self.expression()?));
        }
        // `_ = e` stores nothing, `STDIN` is not modelled.
        let start = self.position();
        let first = self.peek().clone();
        let place = self.place(false)?;
        let sign = self.peek().clone();
        if sign.kind == Kind::Sign {
            match &*sign.text {
                "=" => {
                    self.take();
                    self.refuse_write(&place)?;
                    return Ok(StatementKind::Assign(place, self.expression()?));
                }
                "++" | "--" => {
                    self.take();
                    self.refuse_write(&place)?;
                    return Ok(StatementKind::Add(
                        place,
                        if &*sign.text == "++" { 1 } else { -1 },
                    ));
                }
                "!" | "!!" => {
                    self.take();
                    self.check_channel(&place)?;
                    let values = self.message()?;
                    return Ok(StatementKind::Send {
                        channel: place,
                        sorted: &*sign.text == "!!",
                        values,
                    });
                }
                "?" | "??" if !self.ahead(1).is("[") => {
                    self.take();
                    self.check_channel(&place)?;
                    let random = &*sign.text == "??";
                    let copy = self.take_sign("<");
                    let patterns = self.patterns()?;
                    if copy {
                        self.expect(">")?;
                    }
                    return Ok(StatementKind::Receive {
                        channel: place,
                        random,
                        copy,
                        patterns,
                    });
                }
                _ => {}
            }
        }
        if first.is_word("_") {
            return Err(malformed(
                first.at,
                "`_` can only be written to",
                "it stands for a field that is not looked at",
            ));
        }
        self.go_back(start);
        Ok(StatementKind::Test(self.expression()?))
    }

    fn refuse_write(&mut self, place: &Place) -> Parsed<()> {
        match place.segments.first().map(|first| &*first.name.text) {
            Some("_") => {
                let help = "write `skip`, or read the message field with `_`";
                Err(unsupported(
                    place.at,
                    "an assignment to `_` stores nothing",
                    help,
                ))
            }
            _ => Ok(()),
        }
    }

    /// The values of a send: `a, b` or `m(a, b)`.
    fn message(&mut self) -> Parsed<Vec<Expr>> {
        let mut values = vec![self.expression()?];
        let inside = self.take_sign("(");
        if inside {
            values.push(self.expression()?);
        }
        while self.take_sign(",") {
            values.push(self.expression()?);
        }
        if inside {
            self.expect(")")?;
        }
        values.iter().try_for_each(alone)?;
        Ok(values)
    }

    /// The fields of a receive: `a, b`, `m(a, b)` or `(a, b)`.
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        self.deeper()?;
        let mut out = Vec::new();
        if self.take_sign("(") {
            out = self.patterns()?;
            self.expect(")")?;
        } else {
            loop {
                out.push(self.pattern()?);
                if self.take_sign("(") {
                    out.extend(self.patterns()?);
                    self.expect(")")?;
                    break;
                }
                if !self.take_sign(",") {
                    break;
                }
            }
        }
        self.shallower();
        Ok(out)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        let token = self.peek().clone();
        if token.is_word("_") {
            self.take();
            return Ok(Pattern::Ignore);
        }
        if token.is_word("eval") {
            self.take();
            self.expect("(")?;
            let value = self.expression()?;
            self.expect(")")?;
            return Ok(Pattern::Equal(value));
        }
        if token.is("-") {
            self.take();
            let value = -self.number()?;
            return Ok(Pattern::Equal(Expr {
                at: self.since(token.at),
                kind: ExprKind::Number(value),
            }));
        }
        if self.at_place() {
            let place = self.place(false)?;
            self.refuse_write(&place)?;
            return Ok(Pattern::Store(place));
        }
        let value = self.primary()?;
        match value.kind {
            ExprKind::Number(_) | ExprKind::Member(_) => Ok(Pattern::Equal(value)),
            _ => Err(malformed(
                value.at,
                "a field of a receive is a variable or a constant",
                "write `eval(..)` around it",
            )),
        }
    }

    fn options(&mut self, end: &str) -> Parsed<Vec<Vec<Statement>>> {
        self.deeper()?;
        self.early = false;
        let open = self.take().at;
        self.separators();
        let mut options: Vec<Vec<Statement>> = Vec::new();
        let mut has_else = false;
        while !self.take_word(end) {
            if self.ended() {
                return Err(remark(
                    open,
                    Code::UnclosedBrace,
                    "this is never closed",
                    format!("close it with `{end}`"),
                ));
            }
            let at = self.expect("::")?;
            self.separators();
            self.option_begins = true;
            let mut option = self.sequence(at)?;
            if !self.in_claim {
                drop_idle(&mut option);
            }
            if let Some(at) = option.first().and_then(leading_else)
                && std::mem::replace(&mut has_else, true)
            {
                return Err(malformed(
                    at,
                    "a second `else`",
                    "one option at most is taken when no other can be",
                ));
            }
            options.push(option);
        }
        if options.is_empty() {
            return Err(malformed(
                open,
                "there are no options",
                "write `::` in front of each",
            ));
        }
        self.shallower();
        Ok(options)
    }

    /// A variable that `for` or `select` counts with.
    fn counter(&mut self) -> Parsed<Place> {
        let variable = self.place(false)?;
        self.refuse_write(&variable)?;
        let plain = variable.segments.len() == 1 && variable.segments[0].index.is_none();
        if !plain || matches!(self.type_of(&variable), Some(Type::Chan | Type::Record(_))) {
            let help = "declare a variable of its own for it, which is no array, record or channel";
            return Err(malformed(
                variable.at,
                "only a plain variable can count",
                help,
            ));
        }
        Ok(variable)
    }

    /// `low .. high`; numbers must be in order.
    fn range(&mut self) -> Parsed<(Expr, Expr)> {
        let low = self.expression()?;
        self.expect("..")?;
        let high = self.expression()?;
        if let (ExprKind::Number(from), ExprKind::Number(to)) = (&low.kind, &high.kind)
            && from > to
        {
            return Err(malformed(
                low.at.to(high.at),
                "this range is empty",
                "put the smaller number first",
            ));
        }
        Ok((low, high))
    }

    fn for_loop(&mut self) -> Parsed<StatementKind> {
        let word = self.take();
        self.early = false;
        self.expect("(")?;
        if self.ahead(1).is_word("in") && !self.at_array(2) {
            let help = "count with `for (i : 0 .. n)`";
            let at = self.ahead(2).at;
            return Err(unsupported(at, "`for` over anything but an array", help));
        }
        let variable = self.counter()?;
        let (low, high) = if self.take_sign(":") {
            self.range()?
        } else if self.take_word("in") {
            self.indices()?
        } else {
            return Err(self.unexpected("`:` and a range, or `in` and an array"));
        };
        self.expect(")")?;
        let at = self.since(word.at);
        let body = self.loop_body()?;
        let otherwise = vec![
            plain(at, StatementKind::Else),
            plain(at, StatementKind::Break),
        ];
        Ok(self.counting(
            at,
            variable,
            low,
            (Binary::LessEqual, high),
            body,
            otherwise,
        ))
    }

    /// Whether the name further on is that of an array.
    fn at_array(&self, by: usize) -> bool {
        let found = self.scopes.variable(&self.ahead(by).text);
        found.is_some_and(|(_, known)| known.array()) && self.ahead(by + 1).is(")")
    }

    /// The indices of an array.
    fn indices(&mut self) -> Parsed<(Expr, Expr)> {
        let over = self.name("an array")?;
        let known = self.scopes.variable(&over.text);
        let Some(length) = known.and_then(|(_, known)| known.length.clone()) else {
            return Err(self.scopes.unknown(&over));
        };
        let number = |value| number_at(over.at, value);
        let last = match length.kind {
            ExprKind::Number(length) => number(length - 1),
            _ => Expr {
                at: over.at,
                kind: ExprKind::Binary(Binary::Sub, Box::new(length), Box::new(number(1))),
            },
        };
        Ok((number(0), last))
    }

    fn loop_body(&mut self) -> Parsed<Vec<Statement>> {
        while self.take_sign(";") {}
        self.loops += 1;
        let body = self.braces()?;
        self.loops -= 1;
        Ok(body)
    }

    fn select(&mut self) -> Parsed<StatementKind> {
        let word = self.take();
        self.expect("(")?;
        let name = self.peek().clone();
        let variable = self.counter()?;
        self.expect(":")?;
        let digits = |token: &Token| token.kind == Kind::Number;
        let few = digits(self.peek())
            && self.ahead(1).is("..")
            && digits(self.ahead(2))
            && self.ahead(3).is(")")
            && word.call == 0
            && name.text.chars().all(|c| c.is_ascii_alphanumeric());
        let (low, high) = self.range()?;
        self.expect(")")?;
        let at = self.since(word.at);
        if let (true, ExprKind::Number(from), ExprKind::Number(to)) = (few, &low.kind, &high.kind)
            && to - from <= WRITTEN_OUT
        {
            let one = |value: i64| {
                let value = number_at(at, value);
                vec![plain(at, StatementKind::Assign(variable.clone(), value))]
            };
            return Ok(StatementKind::If((*from..=*to).map(one).collect()));
        }
        let stop = vec![plain(at, StatementKind::Break)];
        Ok(self.counting(at, variable, low, (Binary::Less, high), Vec::new(), stop))
    }

    /// A loop that counts, as SPIN rewrites it: the counter is set by a statement in front, which labels and `unless` do
    /// not see; then comes `do :: otherwise :: v <= high -> body; v++ od`. In `d_step` the order of the options matters.
    fn counting(
        &mut self,
        at: At,
        variable: Place,
        low: Expr,
        (compare, high): (Binary, Expr),
        body: Vec<Statement>,
        otherwise: Vec<Statement>,
    ) -> StatementKind {
        let value = Expr {
            at: variable.at,
            kind: ExprKind::Variable(variable.clone()),
        };
        let test = Expr {
            at,
            kind: ExprKind::Binary(compare, Box::new(value), Box::new(high)),
        };
        let mut again = vec![plain(at, StatementKind::Test(test))];
        again.extend(body);
        again.push(plain(at, StatementKind::Add(variable.clone(), 1)));
        let start = StatementKind::Assign(variable, low);
        self.in_front.push(plain(at, start));
        StatementKind::Do(vec![otherwise, again])
    }

    fn print(&mut self) -> Parsed<StatementKind> {
        let word = self.take();
        self.expect("(")?;
        let mut values = Vec::new();
        if word.is_word("printf") {
            if self.peek().kind != Kind::Text {
                return Err(self.unexpected("a text in double quotes"));
            }
            self.take();
            while self.take_sign(",") {
                let value = self.expression()?;
                alone(&value)?;
                values.push(value);
            }
        } else {
            values.push(self.expression()?);
        }
        self.expect(")")?;
        self.program.printed.push(self.since(word.at));
        Ok(StatementKind::Print(values))
    }
}

/// A statement without labels.
fn plain(at: At, kind: StatementKind) -> Statement {
    Statement {
        at,
        labels: Vec::new(),
        kind,
    }
}

fn number_at(at: At, value: i64) -> Expr {
    Expr {
        at,
        kind: ExprKind::Number(value),
    }
}

/// SPIN drops a second `skip` in a row from an option of a process, unless it has a label or is the last statement. From the body
/// of a `for` it drops none.
fn drop_idle(option: &mut Vec<Statement>) {
    let is_declaration = |s: &Statement| matches!(s.kind, StatementKind::Declare(_));
    let last = option.iter().rposition(|s| !is_declaration(s));
    let mut idle = 0;
    let mut at = 0;
    option.retain(|statement| {
        let here = at;
        at += 1;
        let skips = matches!(&statement.kind, StatementKind::Test(e) if matches!(e.kind, ExprKind::Number(1)));
        if is_declaration(statement) {
            return true;
        }
        if !statement.labels.is_empty()
            || !(skips || matches!(statement.kind, StatementKind::Print(_)))
        {
            idle = 0;
            return true;
        }
        idle += 1;
        idle == 1 || !skips || last == Some(here)
    });
}

/// The label of the first state of a sequence. A loop has a state in front that no label names.
fn first_label(body: &[Statement]) -> Option<&Name> {
    let mut statements = body.iter();
    let first = statements.find(|s| !matches!(s.kind, StatementKind::Declare(_)))?;
    match &first.kind {
        StatementKind::Do(_) => None,
        StatementKind::Unless(main, _) => first_label(main),
        StatementKind::Declare(_)
        | StatementKind::Assign(..)
        | StatementKind::Add(..)
        | StatementKind::Test(_)
        | StatementKind::Assert(_)
        | StatementKind::Print(_)
        | StatementKind::If(_)
        | StatementKind::Else
        | StatementKind::Break
        | StatementKind::Goto(_)
        | StatementKind::Send { .. }
        | StatementKind::Receive { .. }
        | StatementKind::Atomic(_)
        | StatementKind::DStep(_)
        | StatementKind::Block(_) => first.labels.first(),
    }
}

/// What a declaration after the first statement does when control comes to it: it stores its value, as a step.
fn late_value(declaration: &mut Declaration) -> Parsed<Statement> {
    let at = declaration.at;
    let zero = || Expr {
        at,
        kind: ExprKind::Number(0),
    };
    let value = match declaration.initial.take() {
        None => zero(),
        Some(Initial::Value(value)) => value,
        Some(Initial::List(_)) => {
            let help = "move the declaration to the start of the process, or assign the elements one by one";
            return Err(malformed(
                at,
                "a list of values after the first statement",
                help,
            ));
        }
        Some(Initial::Channel { .. }) => {
            let help = "move the declaration to the start of the process";
            return Err(malformed(
                at,
                "a channel that is made after the first statement",
                help,
            ));
        }
    };
    if let Type::Record(_) = declaration.kind {
        // A step too, but one that stores nothing.
        let kind = StatementKind::Test(Expr {
            at,
            kind: ExprKind::Number(1),
        });
        return Ok(Statement {
            at,
            labels: Vec::new(),
            kind,
        });
    }
    // SPIN stores to the first element of an array only.
    let index = declaration.length.is_some().then(|| Box::new(zero()));
    let name = Name {
        at: declaration.name.at,
        text: declaration.name.text.clone(),
    };
    let place = Place {
        at,
        segments: vec![Segment {
            name,
            scope: Some(declaration.scope),
            index,
        }],
    };
    Ok(Statement {
        at,
        labels: Vec::new(),
        kind: StatementKind::Assign(place, value),
    })
}

/// The `else` that an option begins with, also inside `{ }` and `atomic`.
fn leading_else(mut first: &Statement) -> Option<At> {
    loop {
        match &first.kind {
            StatementKind::Else => return Some(first.at),
            StatementKind::Block(body) | StatementKind::Atomic(body) => first = body.first()?,
            StatementKind::Declare(_)
            | StatementKind::Assign(..)
            | StatementKind::Add(..)
            | StatementKind::Test(_)
            | StatementKind::Assert(_)
            | StatementKind::Print(_)
            | StatementKind::If(_)
            | StatementKind::Do(_)
            | StatementKind::Break
            | StatementKind::Goto(_)
            | StatementKind::Send { .. }
            | StatementKind::Receive { .. }
            | StatementKind::DStep(_)
            | StatementKind::Unless(..) => return None,
        }
    }
}
