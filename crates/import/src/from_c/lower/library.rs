//! Functions that need no body in the program: those of the verification competition, and of the standard library.

use lang_c::ast::{
    BlockItem, CallExpression, DerivedDeclarator, Expression, FunctionDefinition, Statement,
    UnaryOperator,
};
use lang_c::span::Node;

use super::super::ir::{Compare, Expr, Place, StatementKind, VarKind};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{DataModel, IntType, Type};
use super::{Builder, Value};

/// The type of `__VERIFIER_nondet_..`.
fn arbitrary_type(name: &str, model: DataModel) -> Option<IntType> {
    let kind = name.strip_prefix("__VERIFIER_nondet_")?;
    Some(match kind {
        "int" | "s32" => IntType::INT,
        "uint" | "unsigned" | "u32" | "unsigned_int" => IntType::UNSIGNED,
        "bool" | "_Bool" => IntType::BOOL,
        "char" | "s8" => IntType::new(8, true),
        "uchar" | "u8" | "unsigned_char" => IntType::new(8, false),
        "short" | "s16" => IntType::new(16, true),
        "ushort" | "u16" => IntType::new(16, false),
        "long" => model.long(),
        "longlong" | "s64" => IntType::LONG_LONG,
        "ulong" | "size_t" if model == DataModel::Ilp32 => model.size(),
        _ => return None,
    })
}

/// Whether a function gives any value of an integer type.
fn is_arbitrary(name: &str, model: DataModel) -> bool {
    arbitrary_type(name, model).is_some()
        || matches!(name, "nondet" | "nondet_int" | "nondet_bool" | "rand")
}

/// Functions that only print, wait or ask, so that nothing but their result may matter.
const SILENT: &[&str] = &[
    "printf",
    "puts",
    "putchar",
    "fprintf",
    "fflush",
    "perror",
    "fputs",
    "putc",
    "usleep",
    "sleep",
    "nanosleep",
    "sched_yield",
    "pthread_yield",
    "srand",
    "time",
    "write",
    "setbuf",
    "setvbuf",
];

/// Functions whose calls may be left out together with what prints their results.
const ASKING: &[&str] = &[
    "strerror",
    "pthread_self",
    "getpid",
    "gettid",
    "time",
    "clock",
];

/// Whether a name is that of a function that is known.
pub(super) fn is_known(name: &str) -> bool {
    name.starts_with("pthread_") || name.starts_with("__VERIFIER_") || SILENT.contains(&name)
}

/// Whether a function does nothing but stop where its argument is false, as the competition's programs write it: `if (!cond) { abort(); }`.
fn is_usual_assumption(function: &FunctionDefinition) -> bool {
    fn only(statement: &Statement) -> Option<&Statement> {
        match statement {
            Statement::Compound(items) => match items.as_slice() {
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
    let Some(Statement::If(test)) = only(&function.statement.node) else {
        return false;
    };
    let stops = match only(&test.node.then_statement.node) {
        Some(Statement::Expression(Some(called))) => match &called.node {
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
    pub(super) fn library(
        &mut self,
        name: &str,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Option<Value>> {
        let own = self.functions.contains_key(name);
        if let Some(ty) = arbitrary_type(name, self.reading.data_model) {
            return Ok(Some(self.arbitrary(ty, at)));
        }
        match name {
            "assert" | "__VERIFIER_assert" if arguments.len() == 1 => {
                let condition = self.truth_of(&arguments[0])?;
                let condition = self.checkable(condition, at);
                self.emit(at, StatementKind::Assert(condition, ""));
                Ok(Some(Value::Void))
            }
            "reach_error"
            | "__VERIFIER_error"
            | "__assert_fail"
            | "__assert"
            | "__assert_rtn"
            | "__assert_perror_fail" => {
                // A failed check ends the run.
                let meaning = match name {
                    "reach_error" | "__VERIFIER_error" => "the error is reached",
                    _ => "",
                };
                self.emit(at, StatementKind::Assert(Expr::Truth(false), meaning));
                Ok(Some(Value::Void))
            }
            "assume_abort_if_not" | "__VERIFIER_assume" | "assume" if arguments.len() == 1 => {
                let condition = self.truth_of(&arguments[0])?;
                self.assume(condition, at);
                Ok(Some(Value::Void))
            }
            "abort"
            | "exit"
            | "_exit"
            | "_Exit"
            | "quick_exit"
            | "__builtin_unreachable"
            | "__builtin_trap"
                if !own =>
            {
                for argument in arguments {
                    self.effect(argument)?;
                }
                self.stop(at);
                Ok(Some(Value::Void))
            }
            "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => {
                let help = "begin and end must be statements of one block, in pairs";
                unsupported(at, "an atomic part that is not a block", help)
            }
            super::super::parse::START => self.start_template(arguments, at).map(Some),
            "__builtin_expect" if arguments.len() == 2 => Ok(Some(self.rvalue(&arguments[0])?)),
            "__VERIFIER_nondet_ulong"
            | "__VERIFIER_nondet_size_t"
            | "__VERIFIER_nondet_ulonglong"
            | "__VERIFIER_nondet_u64"
            | "__VERIFIER_nondet_pointer"
            | "__VERIFIER_nondet_float"
            | "__VERIFIER_nondet_double"
            | "__VERIFIER_nondet_pchar" => unsupported(
                at,
                "a value of this type that is not known",
                "use `__VERIFIER_nondet_uint`",
            ),
            "nondet" | "nondet_int" if !own => Ok(Some(self.arbitrary(IntType::INT, at))),
            "nondet_bool" if !own => Ok(Some(self.arbitrary(IntType::BOOL, at))),
            "rand" if !own => Ok(Some(self.natural(IntType::INT, at))),
            "random" if !own => Ok(Some(self.natural(self.reading.data_model.long(), at))),
            "abs" if !own && arguments.len() == 1 => {
                let value = self.rvalue(&arguments[0])?;
                let (expr, ty) = self.as_int(value, at)?;
                let end = self.code.len();
                let expr = self.settle_at(end, expr, ty, at);
                let negative =
                    Expr::arith(super::super::ir::Arith::Sub, Expr::Number(0), expr.clone());
                let larger = Expr::arith(super::super::ir::Arith::Max, expr, negative);
                Ok(Some(self.computed(larger, IntType::INT)))
            }
            _ if SILENT.contains(&name) && !own => {
                self.leave_out(name, arguments, at)?;
                // Who uses the result does not know it.
                Ok(Some(match name {
                    "time" | "write" => self.arbitrary(self.reading.data_model.long(), at),
                    "sleep" => self.arbitrary(IntType::UNSIGNED, at),
                    "srand" | "perror" | "setbuf" => Value::Void,
                    _ => self.arbitrary(IntType::INT, at),
                }))
            }
            "malloc" | "calloc" if !own => self.allocate(name, arguments, at).map(Some),
            "free" if !own => self.release(arguments, at).map(Some),
            "realloc" | "alloca" | "reallocarray" | "aligned_alloc" | "posix_memalign" if !own => {
                let help = "declare a variable or an array instead";
                unsupported(at, "memory that is allocated while the program runs", help)
            }
            "memset" | "memcpy" | "memmove" | "strcpy" | "strcmp" | "strlen" | "sprintf"
            | "snprintf"
                if !own =>
            {
                unsupported(
                    at,
                    format!("`{name}` is not supported"),
                    "write a loop instead",
                )
            }
            "setjmp" | "longjmp" | "signal" | "fork" | "system" if !own => {
                unsupported(at, format!("`{name}` is not supported"), "leave it out")
            }
            _ => {
                if let Some(value) = self.synchronise(name, arguments, at)? {
                    return Ok(Some(value));
                }
                self.atomic_call(name, arguments, at)
            }
        }
    }

    /// Whether a call is one whose result alone may matter.
    pub(super) fn is_silent(&self, name: &str) -> bool {
        SILENT.contains(&name) && !self.functions.contains_key(name)
    }

    /// A call that is left out. What its arguments do is done.
    pub(super) fn leave_out(
        &mut self,
        name: &str,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<()> {
        match (name, arguments) {
            ("time", [_]) => self.null_argument(arguments, 0, "a place for the time")?,
            ("nanosleep", [_, _]) => {
                self.null_argument(arguments, 1, "a place for the time that is left")?;
            }
            _ => {}
        }
        for argument in arguments {
            if super::call::acts_beyond(argument, ASKING) {
                self.effect(argument)?;
            }
        }
        let message = format!("`{name}` is left out: nothing that is checked depends on it");
        self.note(at, message, "what it would read is not read");
        Ok(())
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
    fn natural(&mut self, ty: IntType, at: At) -> Value {
        let value = self.arbitrary(IntType::INT, at);
        let Value::Int(expr, _) = value else {
            return value;
        };
        let natural = Expr::compare(Compare::GreaterEqual, expr.clone(), Expr::Number(0));
        self.assume(natural, at);
        Value::Int(expr, ty)
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
        let own = |name: &str| self.functions.contains_key(name);
        matches!(&call.callee.node, Expression::Identifier(name)
            if is_arbitrary(&name.node.name, self.reading.data_model) && !own(name.node.name.as_str()))
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
