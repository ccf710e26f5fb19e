//! Functions that need no body in the program: those of the verification competition, and of the standard library.

use lang_c::ast::{
    BlockItem, CallExpression, DerivedDeclarator, Expression, FunctionDefinition,
    Statement as CStatement, UnaryOperator,
};
use lang_c::span::Node;

use super::super::functions::{Gives, Input, Known, function};
use super::super::ir::{Arith, Compare, Expr, Place, Statement, StatementKind, VarKind};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{DataModel, IntType, Type};
use super::call::acts;
use super::{Builder, Value};

impl Input {
    /// The type of an input, if all its values can be had.
    fn ty(self, model: DataModel) -> Option<IntType> {
        Some(match self {
            Input::Int => IntType::INT,
            Input::Unsigned => IntType::UNSIGNED,
            Input::Bool => IntType::BOOL,
            Input::Char => IntType::new(8, true),
            Input::UnsignedChar => IntType::new(8, false),
            Input::Short => IntType::new(16, true),
            Input::UnsignedShort => IntType::new(16, false),
            Input::Long => model.long(),
            Input::UnsignedLong if model == DataModel::Ilp32 => model.size(),
            Input::UnsignedLong => return None,
            Input::LongLong => IntType::LONG_LONG,
        })
    }
}

/// A call of a function that needs no body.
#[derive(Clone, Copy)]
pub(super) struct Call<'a, 'n> {
    pub name: &'n str,
    pub arguments: &'a [Node<Expression>],
    /// Whether its result is used.
    pub used: bool,
    pub at: At,
}

impl Call<'_, '_> {
    /// Refuses a call whose result is used, and is not known.
    pub fn unknown_result<T>(&self, why: &str) -> Built<T> {
        let message = format!("what `{}` gives is not known here", self.name);
        unsupported(self.at, message, why)
    }
}

/// The value of a call that succeeds with 0.
pub(super) fn success() -> Value {
    Value::Int(Expr::Number(0), IntType::INT)
}

/// Whether a function does nothing but stop where its argument is false, as the competition's programs write it: `if (!cond) { abort(); }`.
fn is_usual_assumption(function: &FunctionDefinition) -> bool {
    fn only(statement: &CStatement) -> Option<&CStatement> {
        match statement {
            CStatement::Compound(items) => match items.as_slice() {
                [item] => match &item.node {
                    BlockItem::Statement(statement) => only(&statement.node),
                    _ => None,
                },
                _ => None,
            },
            other => Some(other),
        }
    }
    let parameter = function
        .declarator
        .node
        .derived
        .iter()
        .find_map(|part| match &part.node {
            DerivedDeclarator::Function(function) => match function.node.parameters.as_slice() {
                [one] => super::declare::name_of(&one.node.declarator.as_ref()?.node),
                _ => None,
            },
            _ => None,
        });
    let Some(CStatement::If(test)) = only(&function.statement.node) else {
        return false;
    };
    let stops = match only(&test.node.then_statement.node) {
        Some(CStatement::Expression(Some(called))) => match &called.node {
            Expression::Call(call) => match &call.node.callee.node {
                Expression::Identifier(name) => {
                    ["abort", "exit"].contains(&name.node.name.as_str())
                }
                _ => false,
            },
            _ => false,
        },
        _ => false,
    };
    let negated = match &test.node.condition.node {
        Expression::UnaryOperator(unary) if unary.node.operator.node == UnaryOperator::Negate => {
            match &unary.node.operand.node {
                Expression::Identifier(name) => Some(name.node.name.as_str()),
                _ => None,
            }
        }
        _ => None,
    };
    stops && test.node.else_statement.is_none() && parameter.is_some() && negated == parameter
}

/// The characters of a text. `None` if it is not plain.
fn characters(pieces: &[String]) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for piece in pieces {
        let inner = piece.strip_prefix('"')?.strip_suffix('"')?;
        let mut rest = inner.chars().peekable();
        while let Some(character) = rest.next() {
            if !character.is_ascii() {
                all.extend(character.to_string().bytes().map(u32::from));
                continue;
            }
            if character != '\\' {
                all.push(u32::from(character));
                continue;
            }
            let escaped = rest.next()?;
            let (radix, first, most) = match escaped {
                'x' => (16, None, usize::MAX),
                '0'..='7' => (8, escaped.to_digit(8), 2),
                'u' | 'U' => return None,
                // Any but `%`, which no letter stands for.
                _ => {
                    all.push(u32::from(if escaped == '%' { '%' } else { ' ' }));
                    continue;
                }
            };
            let mut number = first.unwrap_or(0);
            let mut digits = 0;
            while digits < most
                && let Some(digit) = rest.peek().and_then(|next| next.to_digit(radix))
            {
                number = (number << radix.ilog2() | digit) & 0xff;
                rest.next();
                digits += 1;
            }
            // A text ends there, whatever follows.
            if number == 0 {
                return Some(all);
            }
            all.push(number);
        }
    }
    Some(all)
}

impl<'a> Builder<'a> {
    /// Whether a name means what it means in C's libraries and in the competition: a body of the program's own says what it means instead. But to
    /// call `reach_error` is the error, whatever it does.
    pub(super) fn is_library(&self, name: &str) -> bool {
        match self.functions.get(name) {
            None => true,
            Some(_) if matches!(name, "reach_error" | "__VERIFIER_error") => true,
            Some(function) => {
                matches!(name, "assume_abort_if_not" | "__VERIFIER_assume" | "assume")
                    && is_usual_assumption(&function.node)
            }
        }
    }

    /// A call of a known function; `None` if it is not one.
    pub(super) fn library(&mut self, call: Call<'a, '_>) -> Built<Option<Value>> {
        let Call {
            name,
            arguments,
            at,
            ..
        } = call;
        if name == super::super::parse::START {
            return self.start_template(arguments, at).map(Some);
        }
        let Some(function) = function(name) else {
            return Ok(None);
        };
        let (fewest, most) = function.arguments;
        if arguments.len() < fewest || arguments.len() > most {
            let message = format!("`{name}` with {} arguments", arguments.len());
            return malformed(at, message, "give as many as it has parameters");
        }
        self.known_call(function.does, call).map(Some)
    }

    fn known_call(&mut self, does: Known, call: Call<'a, '_>) -> Built<Value> {
        let Call {
            name,
            arguments,
            used,
            at,
        } = call;
        match does {
            Known::Assert => {
                let condition = self.truth_of(&arguments[0])?;
                let condition = self.checkable(condition, at);
                self.emit(at, StatementKind::Assert(condition, ""));
                Ok(Value::Void)
            }
            Known::Error(meaning) => {
                for argument in arguments.iter().filter(|argument| acts(argument)) {
                    self.effect(argument)?;
                }
                // A failed check ends the run.
                self.emit(at, StatementKind::Assert(Expr::Truth(false), meaning));
                Ok(Value::Void)
            }
            Known::Assume => {
                let condition = self.truth_of(&arguments[0])?;
                self.assume(condition, at);
                Ok(Value::Void)
            }
            Known::Stop => {
                self.effects(arguments)?;
                self.stop(at);
                Ok(Value::Void)
            }
            Known::AtomicPart => {
                let help = "begin and end must be statements of one block, in pairs";
                unsupported(at, "an atomic part that is not a block", help)
            }
            Known::Expect => {
                let value = self.rvalue(&arguments[0])?;
                let long = self.reading.data_model.long();
                let expr = self.convert(value, long, at)?;
                let kept = match acts(&arguments[1]) {
                    true => {
                        let end = self.code.len();
                        self.settle_at(end, expr, long, at)
                    }
                    false => expr,
                };
                self.effect(&arguments[1])?;
                Ok(Value::Int(kept, long))
            }
            Known::Abs => self.absolute(&arguments[0], at),
            Known::Input(input) => match input.ty(self.reading.data_model) {
                Some(ty) => Ok(self.arbitrary(ty, at)),
                None => {
                    let help = "use `__VERIFIER_nondet_uint`";
                    unsupported(at, "a value of this type that is not known", help)
                }
            },
            Known::Natural { long: true } => Ok(self.natural(self.reading.data_model.long(), at)),
            Known::Natural { long: false } => Ok(self.natural(IntType::INT, at)),
            Known::Left(gives) => self.left_out(gives, call),
            Known::Asked => {
                let help = "what it gives may only be printed";
                unsupported(at, format!("`{name}` is not supported"), help)
            }
            Known::Allocate => self.allocate(name, arguments, at),
            Known::Release => self.release(arguments, at),
            Known::Atomic(operation, count) => self.atomic_call(operation, count, call),
            Known::Refused(help) => unsupported(at, format!("`{name}` is not supported"), help),
            Known::Mutex(kind) => self.mutex(kind, call),
            Known::Condition => {
                self.object_argument(arguments, 0, &Type::Condition, at)?;
                self.null_argument(arguments, 1, "an attribute of a condition variable")?;
                Ok(success())
            }
            Known::Wait { timed } if timed && used => {
                call.unknown_result("ask for the condition again instead of using the result")
            }
            Known::Wait { .. } => self.wait(arguments, at),
            Known::Semaphore(kind) => self.semaphore(kind, call),
            Known::ReadWrite(kind) => self.read_write(kind, call),
            Known::Barrier(kind) => self.barrier(kind, call),
            Known::Attributes => {
                self.object_argument(arguments, 0, &Type::Attributes, at)?;
                Ok(success())
            }
            Known::MutexKind => self.mutex_kind(arguments, at),
            Known::DetachState => self.detach_state(arguments, at),
            Known::StackSize if used => call.unknown_result("leave the result out"),
            Known::StackSize => {
                self.object_argument(arguments, 0, &Type::Attributes, at)?;
                self.effect(&arguments[1])?;
                Ok(success())
            }
            Known::Once => self.once(arguments, at),
            Known::Create => self.create_thread(arguments, at),
            Known::Join => self.join_thread(arguments, at),
            Known::Detach => self.detach_thread(arguments, at),
            Known::Exit => self.exit_thread(arguments, at),
        }
    }

    fn effects(&mut self, arguments: &'a [Node<Expression>]) -> Built<()> {
        arguments
            .iter()
            .try_for_each(|argument| self.effect(argument))
    }

    /// `abs(x)`, whose argument is an `int`.
    fn absolute(&mut self, argument: &'a Node<Expression>, at: At) -> Built<Value> {
        let value = self.rvalue(argument)?;
        let expr = self.convert(value, IntType::INT, at)?;
        let end = self.code.len();
        let expr = self.settle_at(end, expr, IntType::INT, at);
        let negative = Expr::arith(Arith::Sub, Expr::Number(0), expr.clone());
        let larger = Expr::arith(Arith::Max, expr, negative);
        Ok(self.computed(larger, IntType::INT))
    }

    /// A call that is left out. What its arguments do is done, and its result is one that it may have.
    fn left_out(&mut self, gives: Gives, call: Call<'a, '_>) -> Built<Value> {
        let Call {
            name,
            arguments,
            used,
            at,
        } = call;
        match name {
            "time" => self.null_argument(arguments, 0, "a place for the time")?,
            "nanosleep" => self.null_argument(arguments, 1, "a place for the time that is left")?,
            _ => {}
        }
        let format = match gives {
            Gives::Printed(position) => Some(self.format(&arguments[position])?),
            _ => None,
        };
        let character = match gives {
            Gives::Character if used => {
                let byte = IntType::new(8, false);
                let value = self.rvalue(&arguments[0])?;
                let expr = self.convert(value, byte, at)?;
                let end = self.code.len();
                Some(self.settle_at(end, expr, IntType::INT, at))
            }
            _ => None,
        };
        let rest = if character.is_some() { 1 } else { 0 };
        for argument in &arguments[rest..] {
            if super::call::matters(argument) {
                self.effect(argument)?;
            }
        }
        let message = format!("`{name}` is left out: nothing that is checked depends on it");
        self.note(at, message, "what it would read is not read");
        if !used {
            return Ok(Value::Void);
        }
        Ok(match (gives, format.flatten(), character) {
            (Gives::Nothing, ..) => Value::Void,
            (Gives::Zero, ..) => success(),
            (Gives::ZeroOr(other), ..) => self.one_of(Expr::Number(0), other, at),
            (Gives::Printed(_), Some(length), _) => self.one_of(Expr::Number(length), -1, at),
            (Gives::Character, _, Some(character)) => self.one_of(character, -1, at),
            (Gives::Natural, ..) => {
                let value = self.arbitrary(IntType::INT, at);
                let (expr, _) = self.as_int(value.clone(), at)?;
                self.assume(Expr::compare(Compare::Ge, expr, Expr::Number(-1)), at);
                value
            }
            (Gives::Microseconds, ..) => match self.constant(&arguments[0]) {
                Ok(0..1_000_000) => success(),
                _ => self.one_of(Expr::Number(0), -1, at),
            },
            (Gives::Time, ..) => self.arbitrary(self.reading.data_model.long(), at),
            (Gives::Unknown | Gives::Printed(_) | Gives::Character, ..) => {
                return call.unknown_result("do not use its result");
            }
        })
    }

    /// How many characters a format without conversions prints. A format must be a text, in which nothing is written.
    fn format(&mut self, format: &'a Node<Expression>) -> Built<Option<i128>> {
        let at = self.place_of(format);
        let Expression::StringLiteral(pieces) = &format.node else {
            let help = "write the format where it is used, `printf(\"%s\", text)`";
            return unsupported(at, "a format that is not a text", help);
        };
        let Some(text) = characters(&pieces.node) else {
            return unsupported(
                at,
                "a text of this kind as a format",
                "use plain characters",
            );
        };
        let (mut length, mut plain) = (0, true);
        let mut rest = text.iter();
        while let Some(character) = rest.next() {
            length += 1;
            if *character != u32::from('%') {
                continue;
            }
            let conversion = rest.find(|next| {
                !char::from_u32(**next)
                    .is_some_and(|next| " -+#0123456789'I*.$hlLqjzt".contains(next))
            });
            match conversion.and_then(|next| char::from_u32(*next)) {
                Some('%') => {}
                Some('n') => {
                    let help = "count the characters in another way";
                    return unsupported(at, "a format with `%n`, which writes", help);
                }
                Some(_) => plain = false,
                None => return malformed(at, "a format that ends in `%`", "write `%%`"),
            }
        }
        Ok(plain.then_some(length))
    }

    /// A condition that may stand in a check: of shared variables one read at most.
    fn checkable(&mut self, condition: Expr, at: At) -> Expr {
        match self.guarded && condition.shared_reads(&self.model) > 1 {
            true => self.settle(condition, IntType::INT, at),
            false => condition,
        }
    }

    /// The run goes no further here. Others may go on, as if this process were slow.
    pub(super) fn stop(&mut self, at: At) {
        // Nothing comes past a check that always fails, and a step cannot wait when it has done something.
        let failed = self
            .code
            .last()
            .is_some_and(|last| matches!(last.kind, StatementKind::Assert(Expr::Truth(false), _)));
        if self.in_step && failed {
            return;
        }
        self.emit(at, StatementKind::Await(Expr::Truth(false)));
    }

    /// The run goes on only if this holds.
    pub(super) fn assume(&mut self, condition: Expr, at: At) {
        if condition == Expr::Truth(true) {
            return;
        }
        // What may fail is evaluated before.
        let condition = match condition.cannot_fail(&self.model) {
            true => condition,
            false if self.in_step => condition,
            false => {
                let end = self.code.len();
                self.settle_at(end, condition, IntType::INT, at)
            }
        };
        self.emit(at, StatementKind::Await(condition));
    }

    /// Any value of a type.
    pub(super) fn arbitrary(&mut self, ty: IntType, at: At) -> Value {
        // A variable of its own: its range says which values there are.
        let variable = self.local_variable("input", VarKind::Int(ty), at);
        self.emit(at, StatementKind::Havoc(Place::of(variable)));
        Value::Int(Expr::load(variable), ty)
    }

    /// Any value of `int` that is not negative, as one of a type.
    pub(super) fn natural(&mut self, ty: IntType, at: At) -> Value {
        let value = self.arbitrary(IntType::INT, at);
        let Value::Int(expr, _) = value else {
            return value;
        };
        let natural = Expr::compare(Compare::Ge, expr.clone(), Expr::Number(0));
        self.assume(natural, at);
        Value::Int(expr, ty)
    }

    /// A value, or another number.
    fn one_of(&mut self, value: Expr, other: i128, at: At) -> Value {
        let result = self.temporary(VarKind::Int(IntType::INT), at);
        let set = |value: Expr| {
            vec![Statement::new(
                at,
                StatementKind::Assign(Place::of(result), value),
            )]
        };
        let choices = vec![set(value), set(Expr::Number(other))];
        self.emit(at, StatementKind::Choose(choices));
        Value::Int(Expr::load(result), IntType::INT)
    }

    /// Whether an initial value is any value.
    pub(super) fn is_arbitrary(&self, expression: &'a Node<Expression>) -> bool {
        match &expression.node {
            Expression::Call(call) => self.calls_arbitrary(&call.node),
            Expression::UnaryOperator(unary) => {
                self.in_templates && unary.node.operator.node == UnaryOperator::Indirection
            }
            _ => false,
        }
    }

    /// Whether a call gives any value.
    pub(super) fn calls_arbitrary(&self, call: &CallExpression) -> bool {
        let Expression::Identifier(name) = &call.callee.node else {
            return false;
        };
        let name = name.node.name.as_str();
        let does = function(name).map(|function| function.does);
        !self.functions.contains_key(name)
            && self.lookup(name).is_none()
            && match does {
                Some(Known::Input(input)) => input.ty(self.reading.data_model).is_some(),
                Some(Known::Natural { long: false }) => true,
                _ => false,
            }
    }

    /// The object that an argument points to.
    pub(super) fn pointed_argument(
        &mut self,
        arguments: &'a [Node<Expression>],
        position: usize,
        at: At,
    ) -> Built<super::Part> {
        match arguments.get(position) {
            Some(argument) => {
                let value = self.rvalue(argument)?;
                let place = self.place_of(argument);
                self.pointed(value, place)
            }
            None => malformed(at, "an argument is missing", "give all arguments"),
        }
    }

    /// Refuses an argument that is not a null pointer.
    pub(super) fn null_argument(
        &mut self,
        arguments: &'a [Node<Expression>],
        position: usize,
        what: &str,
    ) -> Built<()> {
        let Some(argument) = arguments.get(position) else {
            return Ok(());
        };
        let place = self.place_of(argument);
        match self.rvalue(argument)? {
            Value::Int(Expr::Number(0), _) => Ok(()),
            Value::Pointer(pointer) if pointer.part.ty == Type::Attributes => Ok(()),
            _ => unsupported(place, format!("{what} that is not `NULL`"), "pass `NULL`"),
        }
    }
}
