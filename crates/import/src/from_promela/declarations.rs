//! Declarations of variables, with their types and initial values.

use threadwise_lang::diagnostics::Code;

use super::lexer::Kind;
use super::parser::Parser;
use super::remarks::{Parsed, malformed, remark};
use super::scopes::{Known, Other};
use super::syntax::{Binary, Declaration, Expr, ExprKind, Initial, Name, Type, Unary};
use super::words::begins_declaration;

impl Parser {
    /// Whether a declaration of variables begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let token = self.peek();
        token.kind == Kind::Word
            && match &*token.text {
                "hidden" | "show" | "local" | "bit" | "bool" | "byte" | "pid" | "short" | "int"
                | "unsigned" | "mtype" | "chan" => true,
                other => self.scopes.is_other(other, Other::Record),
            }
    }

    /// The word of a type; `unsigned` still without its width.
    fn type_name(&mut self) -> Parsed<Type> {
        let token = self.peek().clone();
        if token.kind != Kind::Word {
            return Err(self.unexpected("a type"));
        }
        let kind = match &*token.text {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "pid" => Type::Pid,
            "short" => Type::Short,
            "int" => Type::Int,
            "unsigned" => Type::Unsigned(0),
            "chan" => Type::Chan,
            "mtype" => {
                self.take();
                let mut set = None;
                if self.take_sign(":") {
                    let name = self.name("the name of the mtype's set")?;
                    if !self.members.contains_key(&Some(name.text.clone())) {
                        let message = format!("there is no `mtype:{}`", name.text);
                        let help = format!("declare it above: `mtype:{} = {{ .. }}`", name.text);
                        self.complain(remark(name.at, Code::UnknownType, message, help))?;
                    }
                    set = Some(name.text);
                }
                return Ok(Type::Mtype(set));
            }
            other if self.scopes.is_other(other, Other::Record) => Type::Record(other.to_string()),
            other => {
                let message = format!("there is no type `{other}`");
                let help = "types are bit, bool, byte, pid, short, int, unsigned, mtype, chan, and those of a typedef above";
                return Err(remark(token.at, Code::UnknownType, message, help));
            }
        };
        self.take();
        Ok(kind)
    }

    /// `hidden byte a, b[3] = 1`; declares the names.
    pub(super) fn declaration(&mut self) -> Parsed<Vec<Declaration>> {
        self.variables(true)
    }

    pub(super) fn fields(&mut self) -> Parsed<Vec<Declaration>> {
        self.variables(false)
    }

    fn variables(&mut self, declare: bool) -> Parsed<Vec<Declaration>> {
        let mut hidden = false;
        if let "hidden" | "show" | "local" = &*self.peek().text {
            hidden = self.at_word("hidden");
            self.take();
        }
        let kind = self.type_name()?;
        if let (Type::Mtype(_), true) = (&kind, self.at_sign("=") || self.at_sign("{")) {
            let help = "move the declaration of the members out of the process";
            return Err(malformed(
                self.peek().at,
                "an mtype's members are declared outside processes",
                help,
            ));
        }
        let mut out = Vec::new();
        loop {
            out.push(self.variable(kind.clone(), hidden, declare)?);
            // In a list of parameters a comma may also come in front of the next type.
            let next = self.ahead(1);
            let another = next.kind == Kind::Word && begins_declaration(&next.text);
            if !self.at_sign(",") || another {
                return Ok(out);
            }
            self.take();
        }
    }

    fn variable(&mut self, kind: Type, hidden: bool, declare: bool) -> Parsed<Declaration> {
        let name = self.name("the variable's name")?;
        let mut kind = kind;
        if let Type::Unsigned(_) = kind {
            let width = if self.take_sign(":") {
                self.number()?
            } else {
                0
            };
            if !(1..=31).contains(&width) {
                let help = "write `unsigned x : 3` for three bits; at most 31 are allowed";
                return Err(malformed(
                    name.at,
                    "`unsigned` needs its width in bits",
                    help,
                ));
            }
            kind = Type::Unsigned(width as u32);
        }
        let mut length = None;
        if self.take_sign("[") {
            length = Some(self.constant("the length of an array", 1)?);
            self.expect("]")?;
        }
        let mut initial = None;
        let mut start = None;
        if self.take_sign("=") {
            if self.at_sign("[") {
                initial = Some(self.channel(&name, &kind)?);
            } else if self.at_sign("{") {
                self.take();
                let mut values = Vec::new();
                while !self.take_sign("}") {
                    if !self.take_sign(",") {
                        values.push(self.expression()?);
                    }
                }
                if length.is_none() {
                    let help = "give it a length: `x[2] = { 1, 2 }`";
                    return Err(malformed(
                        name.at,
                        format!("`{}` is no array", name.text),
                        help,
                    ));
                }
                initial = Some(Initial::List(values));
            } else {
                let value = self.expression()?;
                if let ExprKind::Number(number) = value.kind {
                    start = Some(number);
                }
                initial = Some(Initial::Value(value));
            }
        }
        let at = self.since(name.at);
        let scope = self.scopes.current();
        let declaration = Declaration {
            at,
            name,
            kind,
            hidden,
            length,
            initial,
            scope,
        };
        if declare {
            let known = Known::of(&declaration, start);
            if let Err(error) = self.scopes.declare(&declaration.name, known) {
                self.complain(error)?;
            }
        }
        Ok(declaration)
    }

    fn channel(&mut self, name: &Name, kind: &Type) -> Parsed<Initial> {
        self.expect("[")?;
        if *kind != Type::Chan {
            return Err(malformed(
                name.at,
                format!("`{}` is no channel", name.text),
                "declare it as `chan`",
            ));
        }
        let capacity = self.constant("the capacity of a channel", 0)?;
        self.expect("]")?;
        self.expect_word("of")?;
        self.expect("{")?;
        let mut fields = vec![self.message_field()?];
        while self.take_sign(",") {
            fields.push(self.message_field()?);
        }
        // The end of a line may have put a semicolon here.
        while self.take_sign(";") {}
        self.expect("}")?;
        Ok(Initial::Channel { capacity, fields })
    }

    fn message_field(&mut self) -> Parsed<Type> {
        let at = self.peek().at;
        match self.type_name()? {
            Type::Unsigned(_) => Err(malformed(
                at,
                "`unsigned` cannot be a field of a message",
                "use `byte`, `short` or `int`",
            )),
            kind => Ok(kind),
        }
    }

    /// An expression of numbers, which SPIN computes at once, or a member; the name of a variable stands for its initial value.
    pub(super) fn constant(&mut self, what: &str, least: i64) -> Parsed<Expr> {
        let value = self.expression()?;
        let at = value.at;
        let wrong = |message: String, help: &str| Err(remark(at, Code::NotConstant, message, help));
        let folded = match &value.kind {
            ExprKind::Member(_) => return Ok(value),
            ExprKind::Variable(place) => {
                let known = place
                    .segments
                    .first()
                    .and_then(|first| self.scopes.variable(&first.name.text));
                // SPIN takes 8 where there is no initial value; that is hardly what was meant.
                known
                    .and_then(|(_, known)| known.start)
                    .filter(|start| *start > 0)
                    .map(Some)
            }
            _ => folded(&value),
        };
        match folded {
            None => wrong(
                format!("{what} must be a constant"),
                "use a number or a macro: `#define N 3`",
            ),
            Some(None) => wrong("this constant divides by zero".to_string(), "fix it"),
            Some(Some(number)) if number < least => wrong(
                format!("{what} is {number}, and must be at least {least}"),
                "write a larger number",
            ),
            Some(Some(number)) => Ok(Expr {
                at,
                kind: ExprKind::Number(number),
            }),
        }
    }

    pub(super) fn number(&mut self) -> Parsed<i64> {
        let token = self.peek();
        if token.kind != Kind::Number {
            return Err(self.unexpected("a number"));
        }
        let value = token
            .text
            .parse()
            .ok()
            .filter(|value| *value <= i64::from(i32::MAX));
        let Some(value) = value else {
            let message = format!("{} does not fit 32 bits", token.shown());
            return Err(remark(
                token.at,
                Code::NumberTooLarge,
                message,
                "the largest number of Promela is 2147483647",
            ));
        };
        self.take();
        Ok(value)
    }
}

/// The value of an expression of numbers, in 32 bits as SPIN computes it: `Some(None)` where it divides by zero.
fn folded(value: &Expr) -> Option<Option<i64>> {
    let narrow = |number: i64| Some(Some(i64::from(number as i32)));
    match &value.kind {
        ExprKind::Number(number) => Some(Some(*number)),
        ExprKind::Unary(Unary::Minus, inner) => match folded(inner)? {
            Some(inner) => narrow(-inner),
            None => Some(None),
        },
        ExprKind::Binary(operator, left, right) => {
            let (Some(left), Some(right)) = (folded(left)?, folded(right)?) else {
                return Some(None);
            };
            match operator {
                Binary::Add => narrow(left + right),
                Binary::Sub => narrow(left - right),
                Binary::Mul => narrow(left.wrapping_mul(right)),
                Binary::Div | Binary::Mod if right == 0 => Some(None),
                Binary::Div => narrow(left / right),
                Binary::Mod => narrow(left % right),
                _ => None,
            }
        }
        _ => None,
    }
}
