//! Memory from `malloc`, and pointers that are set once for the whole program.
//!
//! A call of `malloc` that happens a known number of times gives as many objects, which are there from the beginning; each time round the next one is used. What they begin with
//! is not known. Memory that is released stays as it is: that somebody uses it afterwards is not noticed.

use std::rc::Rc;

use lang_c::ast::{BinaryOperator, Expression, Initializer, UnaryOperator};
use lang_c::span::Node;

use super::super::ir::{Arith, Expr, Place, ProcessId, StatementKind, VarKind, for_statements};
use super::super::source::{At, Built, unsupported};
use super::super::types::{IntType, Type};
use super::declare::Owner;
use super::{Binding, Builder, Part, Pointer, Value};

/// How many objects a place of the program may give.
const MOST_OBJECTS: u64 = 64;

impl<'a> Builder<'a> {
    /// `malloc(size)` and `calloc(number, size)`.
    pub(super) fn allocate(
        &mut self,
        name: &str,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Value> {
        let measured = match (name, arguments) {
            ("malloc", [size]) => self.measured(size)?,
            ("calloc", [number, size]) => self.many(number, size)?,
            _ => None,
        };
        let Some((ty, count)) = measured else {
            let help = "write `malloc(sizeof(T))`, or `malloc(N * sizeof(T))` with a constant `N`";
            return unsupported(at, "memory of a size that is not known", help);
        };
        if let Type::Void | Type::Pointer(_) | Type::Function | Type::Other(_) = ty {
            let help = "use objects that hold integers, arrays and structs of them";
            return unsupported(at, "memory for something that is not supported", help);
        }
        let Some(times) = self.times.filter(|times| *times <= MOST_OBJECTS) else {
            let help = "allocate it outside of loops, in `for` loops with constant bounds, or declare a variable";
            return unsupported(at, "memory that is allocated any number of times", help);
        };
        // What the main thread allocates may be handed to others.
        let owner = match self.process == ProcessId(0) {
            true => Owner::Shared,
            false => Owner::Process,
        };
        let object_type = match count {
            Some(1) => ty.clone(),
            count => Type::Array(Box::new(ty.clone()), count),
        };
        let whole = match times {
            1 => object_type.clone(),
            _ => Type::Array(Box::new(object_type.clone()), Some(times as u32)),
        };
        let object = Rc::new(self.object(&whole, "memory", owner, at)?);
        let mut part = Part {
            ty: object_type,
            object: Rc::clone(&object),
            indices: Vec::new(),
        };
        if times > 1 {
            let next = self.local_variable("allocated", VarKind::Int(IntType::INT), at);
            let index = self.local_variable("index", VarKind::Int(IntType::INT), at);
            let set = |builder: &mut Self, var, value| {
                builder.emit(at, StatementKind::Assign(Place::of(var), value));
            };
            set(self, index, Expr::load(next));
            let more = Expr::arith(Arith::Add, Expr::load(next), Expr::Number(1));
            set(self, next, more);
            part.indices.push(Expr::load(index));
        }
        if name == "malloc" {
            self.begin_with_any(&part, at)?;
        }
        self.begin_unprepared(&part, "memory", at);
        let element = match part.ty {
            Type::Array(..) => Some(Expr::Number(0)),
            _ => None,
        };
        Ok(Value::Pointer(Pointer { part, element }))
    }

    /// The type and the number of the objects that memory of a size is for.
    fn measured(&mut self, size: &'a Node<Expression>) -> Built<Option<(Type, Option<u32>)>> {
        Ok(match &size.node {
            Expression::SizeOfTy(name) => Some((self.type_name(&name.node.0)?, Some(1))),
            Expression::SizeOfVal(inner) => {
                self.type_of_value(&inner.node.0)?.map(|ty| (ty, Some(1)))
            }
            Expression::Cast(cast) => self.measured(&cast.node.expression)?,
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Multiply =>
            {
                match self.many(&binary.node.lhs, &binary.node.rhs)? {
                    Some(found) => Some(found),
                    None => self.many(&binary.node.rhs, &binary.node.lhs)?,
                }
            }
            _ => None,
        })
    }

    fn many(
        &mut self,
        number: &'a Node<Expression>,
        size: &'a Node<Expression>,
    ) -> Built<Option<(Type, Option<u32>)>> {
        let Some((ty, Some(1))) = self.measured(size)? else {
            return Ok(None);
        };
        Ok(match self.constant(number) {
            Ok(number @ 1..=1_000_000) => Some((ty, Some(number as u32))),
            // Handles that nothing waits for.
            Err(_) if ty == Type::Thread => Some((ty, None)),
            _ => None,
        })
    }

    fn type_of_value(&mut self, value: &'a Node<Expression>) -> Built<Option<Type>> {
        if let Expression::UnaryOperator(unary) = &value.node
            && unary.node.operator.node == UnaryOperator::Indirection
            && let Expression::Identifier(name) = &unary.node.operand.node
            && let Some(Binding::Unset(Type::Pointer(target))) = self.lookup(&name.node.name)
        {
            return Ok(Some((**target).clone()));
        }
        let mut found = None;
        self.block(|builder| {
            found = builder.lvalue(value).ok().map(|part| part.ty);
            Ok(())
        })?;
        Ok(found)
    }

    /// `free(p)`.
    pub(super) fn release(&mut self, arguments: &'a [Node<Expression>], at: At) -> Built<Value> {
        for argument in arguments {
            self.effect(argument)?;
        }
        let message = "memory is not released: using it afterwards is not noticed";
        self.note(
            at,
            message,
            "nothing that is checked depends on it otherwise",
        );
        Ok(Value::Void)
    }

    /// The value of a pointer outside of functions that no function writes: it has one for the whole run.
    pub(super) fn fixed_pointer(&mut self, initializer: &'a Initializer) -> Option<Value> {
        let Initializer::Expression(expression) = initializer else {
            return None;
        };
        let mut value = None;
        let code = self.block(|builder| {
            value = Some(builder.rvalue(expression)?);
            Ok(())
        });
        let constant = |expr: &Expr| matches!(expr, Expr::Number(_));
        match value? {
            Value::Pointer(pointer)
                if code.is_ok_and(|code| code.is_empty())
                    && pointer.part.indices.iter().all(constant)
                    && pointer.element.iter().all(constant) =>
            {
                Some(Value::Pointer(pointer))
            }
            _ => None,
        }
    }

    /// A pointer outside of functions that the main thread sets before there are others, certainly, and nobody else ever does.
    pub(super) fn set_global_pointer(&mut self, name: &str, value: &Value) -> bool {
        let mut jumps = false;
        for_statements(&self.code, &mut |statement| {
            jumps |= matches!(statement.kind, StatementKind::Goto(_));
        });
        let once = self.process == ProcessId(0)
            && self.depth == 1
            && self.times == Some(1)
            && self.threads.sites() == 0
            && !jumps
            && self.assigned.get(name) == Some(&1);
        let fixed = match value {
            Value::Pointer(pointer) => {
                let constant = |expr: &Expr| matches!(expr, Expr::Number(_));
                pointer.part.indices.iter().all(constant)
                    && pointer.element.iter().all(constant)
                    && !self.is_own(&pointer.part.object)
            }
            _ => false,
        };
        if once && fixed {
            self.globals
                .insert(name.to_owned(), Binding::Value(value.clone()));
        }
        once && fixed
    }
}
