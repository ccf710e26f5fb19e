//! Expressions and variables.
//!
//! An expression is refused when its tree is too high, not only when parentheses nest too deeply: a sum of many terms is a
//! high tree too, and who walks it afterwards does so by recursion.

use std::collections::HashMap;

use threadwise_lang::diagnostics::Code;

use super::lexer::Kind;
use super::parser::{Parser, embedded};
use super::remarks::{Parsed, malformed, related, remark, unsupported};
use super::scopes::{Known, Other};
use super::syntax::{At, Binary, Expr, ExprKind, Name, Place, Segment, Type, Unary};

/// The highest tree of an expression.
pub(super) const HIGHEST: u32 = 500;

/// An expression with the height of its tree.
pub(super) struct Tall {
    pub expr: Expr,
    pub height: u32,
}

/// Binary operators, with how strongly they bind.
pub(super) fn binary(sign: &str) -> Option<(u32, Binary)> {
    Some(match sign {
        "||" | "\\/" => (1, Binary::Or),
        "&&" | "/\\" => (2, Binary::And),
        "|" => (4, Binary::BitOr),
        "^" => (5, Binary::BitXor),
        "&" => (6, Binary::BitAnd),
        "==" => (7, Binary::Equal),
        "!=" => (7, Binary::NotEqual),
        "<" => (8, Binary::Less),
        "<=" => (8, Binary::LessEqual),
        ">" => (8, Binary::Greater),
        ">=" => (8, Binary::GreaterEqual),
        "<<" => (9, Binary::ShiftLeft),
        ">>" => (9, Binary::ShiftRight),
        "+" => (10, Binary::Add),
        "-" => (10, Binary::Sub),
        "*" => (11, Binary::Mul),
        "/" => (11, Binary::Div),
        "%" => (11, Binary::Mod),
        _ => return None,
    })
}

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let tall = self.tall(0)?;
        self.inner = self.inner.max(tall.height);
        Ok(tall.expr)
    }

    /// An expression without operators and parentheses, with its height: indices and arguments count.
    pub(super) fn measured_primary(&mut self) -> Parsed<Tall> {
        let outer = std::mem::take(&mut self.inner);
        let expr = self.primary()?;
        let height = self.check_height(expr.at, self.inner + 2)?;
        self.inner = outer;
        Ok(Tall { expr, height })
    }

    pub(super) fn check_height(&self, at: At, height: u32) -> Parsed<u32> {
        if height > HIGHEST {
            let help = format!(
                "at most {HIGHEST} operators one inside the other are read: split the expression up"
            );
            return Err(remark(
                at,
                Code::NestingTooDeep,
                "this expression is too large",
                help,
            ));
        }
        Ok(height)
    }

    fn tall(&mut self, least: u32) -> Parsed<Tall> {
        self.deeper()?;
        let mut left = self.unary()?;
        loop {
            let token = self.peek();
            let found = if token.kind == Kind::Sign {
                binary(&token.text)
            } else {
                None
            };
            // The signs of formulas have no meaning here.
            let Some((strength, operator)) = found.filter(|_| !token.text.contains('\\')) else {
                break;
            };
            if strength < least {
                break;
            }
            self.take();
            let right = self.tall(strength + 1)?;
            alone(&left.expr)?;
            alone(&right.expr)?;
            let at = left.expr.at.to(right.expr.at);
            let height = self.check_height(at, left.height.max(right.height) + 1)?;
            let kind = ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr));
            left = Tall {
                expr: Expr { at, kind },
                height,
            };
        }
        self.shallower();
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Tall> {
        let token = self.peek().clone();
        let operators: &[Unary] = match &*token.text {
            _ if token.kind != Kind::Sign => &[],
            "!" => &[Unary::Not],
            "!!" => &[Unary::Not, Unary::Not],
            "-" => &[Unary::Minus],
            "--" => &[Unary::Minus, Unary::Minus],
            "~" => &[Unary::Complement],
            _ => &[],
        };
        if operators.is_empty() {
            return self.tall_primary();
        }
        self.take();
        self.deeper()?;
        let mut inner = self.unary()?;
        for operator in operators {
            inner = self.applied(token.at, *operator, inner)?;
        }
        self.shallower();
        Ok(inner)
    }

    pub(super) fn applied(&self, at: At, operator: Unary, inner: Tall) -> Parsed<Tall> {
        alone(&inner.expr)?;
        let at = at.to(inner.expr.at);
        let height = self.check_height(at, inner.height + 1)?;
        Ok(Tall {
            expr: Expr {
                at,
                kind: ExprKind::Unary(operator, Box::new(inner.expr)),
            },
            height,
        })
    }

    fn tall_primary(&mut self) -> Parsed<Tall> {
        let open = self.peek().at;
        if !self.take_sign("(") {
            return self.measured_primary();
        }
        let mut inner = self.tall(0)?;
        if self.take_sign("->") {
            let yes = self.tall(0)?;
            self.expect(":")?;
            let no = self.tall(0)?;
            for part in [&inner, &yes, &no] {
                alone(&part.expr)?;
            }
            let height =
                self.check_height(open, inner.height.max(yes.height).max(no.height) + 1)?;
            let kind =
                ExprKind::Conditional(Box::new(inner.expr), Box::new(yes.expr), Box::new(no.expr));
            inner = Tall {
                expr: Expr { at: open, kind },
                height,
            };
        }
        self.expect(")")?;
        // With its parentheses, so that a message shows them.
        inner.expr.at = self.since(open);
        Ok(inner)
    }

    /// An expression without operators and parentheses.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let at = token.at;
        let expr = |kind| Ok(Expr { at, kind });
        match token.kind {
            Kind::Number => {
                let value = self.number()?;
                return expr(ExprKind::Number(value));
            }
            Kind::Character => {
                self.take();
                return match character(&token.text) {
                    Some(value) => expr(ExprKind::Number(value)),
                    None => Err(malformed(
                        at,
                        "this is not one character",
                        "write one character between the quotes",
                    )),
                };
            }
            Kind::Word => {}
            Kind::Text | Kind::Sign | Kind::Stray => return Err(self.unexpected("an expression")),
        }
        match &*token.text {
            "true" | "skip" | "false" => {
                self.take();
                return expr(ExprKind::Number(i64::from(&*token.text != "false")));
            }
            "timeout" => {
                self.take();
                return expr(ExprKind::Timeout);
            }
            "np_" => {
                self.take();
                return expr(ExprKind::NonProgress);
            }
            "_pid" | "_nr_pr" | "_last" => {
                self.take();
                // A statement that begins with a variable is read twice.
                if &*token.text == "_nr_pr" && !self.program.counted.contains(&at) {
                    self.program.counted.push(at);
                }
                return expr(match &*token.text {
                    "_pid" => ExprKind::Pid,
                    "_nr_pr" => ExprKind::NrPr,
                    _ => ExprKind::Last,
                });
            }
            "run" => return self.run(),
            "len" | "full" | "empty" | "nfull" | "nempty" => {
                self.take();
                self.expect("(")?;
                let channel = self.place(false)?;
                self.check_channel(&channel)?;
                self.expect(")")?;
                let kind = match &*token.text {
                    "len" => ExprKind::Length(channel),
                    "full" => ExprKind::Full(channel),
                    "empty" => ExprKind::Empty(channel),
                    "nfull" => ExprKind::NotFull(channel),
                    _ => ExprKind::NotEmpty(channel),
                };
                return Ok(Expr {
                    at: self.since(at),
                    kind,
                });
            }
            "enabled" | "pc_value" => {
                self.take();
                self.expect("(")?;
                let process = Box::new(self.expression()?);
                self.expect(")")?;
                let kind = match &*token.text {
                    "enabled" => ExprKind::Enabled(process),
                    _ => ExprKind::PcValue(process),
                };
                return Ok(Expr {
                    at: self.since(at),
                    kind,
                });
            }
            "eval" => {
                return Err(malformed(
                    at,
                    "`eval` stands in a receive only",
                    "write the expression without it",
                ));
            }
            "c_expr" | "c_code" => return Err(embedded(&token)),
            "get_priority" | "_priority" => {
                return Err(unsupported(
                    at,
                    "priorities of processes are not supported",
                    "remove them",
                ));
            }
            "else" => {
                let help =
                    "`else` stands alone as the first statement of an option of `if` or `do`";
                return Err(malformed(at, "`else` is out of place", help));
            }
            _ => {}
        }
        if self.scopes.is_other(&token.text, Other::Member) {
            self.take();
            return expr(ExprKind::Member(token.text.to_string()));
        }
        if !self.at_place() {
            return self.remote();
        }
        if token.is_word("_") {
            return Err(malformed(
                at,
                "`_` has no value",
                "it stands for a field that is not looked at",
            ));
        }
        let place = self.place(false)?;
        let random = self.at_sign("??");
        if (random || self.at_sign("?")) && self.ahead(1).is("[") {
            self.take();
            self.take();
            self.check_channel(&place)?;
            let patterns = self.patterns()?;
            self.expect("]")?;
            return Ok(Expr {
                at: self.since(at),
                kind: ExprKind::Poll {
                    channel: place,
                    random,
                    patterns,
                },
            });
        }
        Ok(Expr {
            at: place.at,
            kind: ExprKind::Variable(place),
        })
    }

    fn run(&mut self) -> Parsed<Expr> {
        let at = self.take().at;
        if !self.scopes.in_process() {
            return Err(malformed(
                at,
                "`run` outside a process",
                "processes are started by processes, such as `init`",
            ));
        }
        let name = self.name("the name of a proctype")?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.take_sign(")") {
            arguments.push(self.expression()?);
            if !self.at_sign(")") {
                self.expect(",")?;
            }
        }
        self.refuse_options()?;
        self.labels.run.push((name.clone(), arguments.len()));
        Ok(Expr {
            at: self.since(at),
            kind: ExprKind::Run { name, arguments },
        })
    }

    /// `P[e]@label`, `P@label`, `P[e]:x`, `P:x`.
    fn remote(&mut self) -> Parsed<Expr> {
        let at = self.peek().at;
        let process = self.name("an expression")?;
        if !self.at_sign("[") && !self.at_sign("@") && !self.at_sign(":") {
            return Err(self.scopes.unknown(&process));
        }
        let mut index = None;
        if self.take_sign("[") {
            index = Some(Box::new(self.expression()?));
            self.expect("]")?;
        }
        if self.take_sign("@") {
            let label = self.name("a label")?;
            self.labels.remote.push((process.clone(), label.clone()));
            return Ok(Expr {
                at: self.since(at),
                kind: ExprKind::RemoteLabel {
                    process,
                    index,
                    label,
                },
            });
        }
        if !self.take_sign(":") {
            return Err(self.scopes.unknown(&process));
        }
        let name = self.name("a variable of the process")?;
        let mut position = None;
        if self.take_sign("[") {
            position = Some(Box::new(self.expression()?));
            self.expect("]")?;
        }
        let place_at = self.since(name.at);
        let (scope, known) = self.variable_of(&process, &name)?;
        if known.array() != position.is_some() {
            return Err(index_wrong(&name, &known));
        }
        let segments = vec![Segment {
            name,
            scope: Some(scope),
            index: position,
        }];
        let place = Place {
            at: place_at,
            segments,
        };
        Ok(Expr {
            at: self.since(at),
            kind: ExprKind::RemoteVariable {
                process,
                index,
                place,
            },
        })
    }

    /// A variable of a process that was read already.
    fn variable_of(&self, process: &Name, name: &Name) -> Parsed<(u32, Known)> {
        let Some(found) = self.labels.processes.get(&process.text) else {
            if self.scopes.is_other(&process.text, Other::Process) {
                let help = "speak of its variables after its end, in a formula or a never claim";
                return Err(unsupported(
                    process.at,
                    format!("`{}` has not ended here", process.text),
                    help,
                ));
            }
            return Err(self.labels.unknown_process(process));
        };
        let mut named: Vec<_> = found
            .variables
            .iter()
            .filter(|(text, _, _)| *text == name.text)
            .collect();
        // The one of the outermost scope, if there is one; else there must be one only.
        if let Some(top) = named.iter().position(|(_, scope, _)| *scope == 0) {
            named = vec![named[top]];
        }
        match named[..] {
            [(_, scope, known)] => Ok((*scope, known.clone())),
            [] => {
                let names = found.variables.iter().map(|(text, _, _)| text.clone());
                let help = match threadwise_lang::suggest::closest(&name.text, names) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None if name.text == "_pid" => {
                        format!("the pid is the number in `{}[..]`", process.text)
                    }
                    None if self.scopes.is_global(&name.text) => {
                        format!("`{}` belongs to no process: write it alone", name.text)
                    }
                    None => format!("see the declarations of `{}`", process.text),
                };
                let message = format!("`{}` has no variable `{}`", process.text, name.text);
                Err(remark(name.at, Code::UnknownLocal, message, help))
            }
            _ => {
                let message = format!("`{}` has several variables `{}`", process.text, name.text);
                Err(unsupported(
                    name.at,
                    message,
                    "rename the one that is meant",
                ))
            }
        }
    }

    /// Whether a variable begins here, rather than another kind of expression.
    pub(super) fn at_place(&self) -> bool {
        let token = self.peek();
        if token.kind != Kind::Word || super::words::is_keyword(&token.text) {
            return false;
        }
        if ["_pid", "_nr_pr", "_last", "_priority"].contains(&&*token.text) {
            return false;
        }
        if self.scopes.is_other(&token.text, Other::Member)
            || self.scopes.is_other(&token.text, Other::Process)
        {
            return false;
        }
        // A process that is declared further down.
        let after = self.ahead(1);
        self.scopes.variable(&token.text).is_some() || !(after.is("@") || after.is("["))
    }

    /// A variable. `whole` allows an array without index.
    pub(super) fn place(&mut self, whole: bool) -> Parsed<Place> {
        self.deeper()?;
        let first = self.name("a variable")?;
        let at = first.at;
        if first.text == "STDIN" {
            return Err(unsupported(
                at,
                "reading from `STDIN` is not supported",
                "model what is read with `select` or `if`",
            ));
        }
        if first.text == "_" {
            self.shallower();
            return Ok(Place {
                at,
                segments: vec![Segment {
                    name: first,
                    scope: None,
                    index: None,
                }],
            });
        }
        let found = self
            .scopes
            .variable(&first.text)
            .map(|(scope, known)| (scope, known.clone()));
        let (scope, mut known) = match found {
            Some((scope, known)) => (scope, Some(known)),
            None => {
                let error = self.scopes.unknown(&first);
                self.complain(error)?;
                (None, None)
            }
        };
        let mut segments = vec![Segment {
            name: first,
            scope,
            index: None,
        }];
        loop {
            let index = if self.take_sign("[") {
                let index = self.expression()?;
                self.expect("]")?;
                Some(Box::new(index))
            } else {
                None
            };
            let last = segments.len() - 1;
            let goes_on = self.at_sign(".");
            if let Some(known) = &known {
                let missing = known.array() && index.is_none() && (goes_on || !whole);
                if missing || (!known.array() && index.is_some()) {
                    let error = index_wrong(&segments[last].name, known);
                    self.complain(error)?;
                }
            }
            segments[last].index = index;
            if !self.take_sign(".") {
                break;
            }
            let name = self.name("a field")?;
            known = match known.map(|known| known.kind) {
                None => None,
                Some(Type::Record(record)) => match self.scopes.field(&record, &name) {
                    Ok(field) => Some(field.clone()),
                    Err(error) => {
                        self.complain(error)?;
                        None
                    }
                },
                Some(_) => {
                    let message = format!("`{}` is no record", segments[last].name.text);
                    let help = "only variables of a typedef have fields";
                    self.complain(remark(name.at, Code::TypeMismatch, message, help))?;
                    None
                }
            };
            if segments.len() > 50 {
                return Err(remark(
                    name.at,
                    Code::NestingTooDeep,
                    "too many fields in each other",
                    "flatten the records",
                ));
            }
            segments.push(Segment {
                name,
                scope: None,
                index: None,
            });
        }
        self.shallower();
        Ok(Place {
            at: self.since(at),
            segments,
        })
    }

    /// The type of a variable that was read.
    pub(super) fn type_of(&self, place: &Place) -> Option<Type> {
        let mut segments = place.segments.iter();
        let (_, first) = self.scopes.variable(&segments.next()?.name.text)?;
        let mut kind = first.kind.clone();
        for segment in segments {
            let Type::Record(record) = kind else {
                return None;
            };
            kind = self.scopes.field(&record, &segment.name).ok()?.kind.clone();
        }
        Some(kind)
    }

    /// Refuses what is no channel where one is needed.
    pub(super) fn check_channel(&mut self, place: &Place) -> Parsed<()> {
        match self.type_of(place) {
            Some(Type::Chan) | None => Ok(()),
            // SPIN takes a number for a channel where a channel's number is kept in a byte.
            Some(_) => {
                let help = "declare it as `chan`: only channels can be sent to and received from";
                let error = unsupported(place.at, "this is no channel", help);
                self.complain(error)
            }
        }
    }

    /// What could not be looked up before the end.
    pub(super) fn check_references(&mut self) -> Parsed<()> {
        for (process, label) in std::mem::take(&mut self.labels.remote) {
            if let Err(error) = self.labels.check_remote(&process, &label) {
                self.complain(error)?;
            }
        }
        let mut known: HashMap<String, (At, usize)> = HashMap::new();
        for proctype in self
            .program
            .proctypes
            .iter()
            .filter(|proctype| !proctype.is_init)
        {
            known.insert(
                proctype.name.text.clone(),
                (proctype.name.at, proctype.parameters.len()),
            );
        }
        for (name, arguments) in std::mem::take(&mut self.labels.run) {
            let error = match known.get(&name.text) {
                None => self.labels.unknown_process(&name),
                Some((declared, wanted)) if *wanted != arguments => {
                    let message =
                        format!("`{}` takes {wanted} arguments, not {arguments}", name.text);
                    let message = remark(
                        name.at,
                        Code::ArgumentCount,
                        message,
                        "give as many as it has parameters",
                    );
                    related(message, *declared, "declared here")
                }
                Some(_) => continue,
            };
            self.complain(error)?;
        }
        Ok(())
    }
}

fn index_wrong(name: &Name, known: &Known) -> Box<crate::Remark> {
    if known.array() {
        let message = format!("`{}` is an array", name.text);
        let message = remark(
            name.at,
            Code::WholeArray,
            message,
            format!("say which element: `{}[i]`", name.text),
        );
        return related(message, known.at, "declared here");
    }
    let message = remark(
        name.at,
        Code::NotAnArray,
        format!("`{}` is no array", name.text),
        "remove the index",
    );
    related(message, known.at, "declared here")
}

/// `run` starts a process, which no part of an expression may do here.
pub(super) fn alone(value: &Expr) -> Parsed<()> {
    match value.kind {
        ExprKind::Run { .. } => Err(unsupported(
            value.at,
            "`run` inside an expression",
            "write `run P(..)` alone, or `x = run P(..)`",
        )),
        _ => Ok(()),
    }
}

/// The value of `'a'`.
fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut characters = inner.chars();
    let mut value = characters.next()?;
    if value == '\\' {
        // As SPIN reads them: any other character stands for itself.
        value = match characters.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\u{c}',
            other => other,
        };
    }
    (characters.next().is_none() && value.is_ascii()).then_some(i64::from(u32::from(value)))
}
