//! Expressions: their values, and the places that they name.

use lang_c::ast::{
    BinaryOperator, CastExpression, Constant, Expression, Integer, IntegerBase, IntegerSize,
    MemberExpression, MemberOperator, UnaryOperator,
};
use lang_c::span::Node;

use super::super::constant;
use super::super::functions::function;
use super::super::ir::{Arith, Compare, Expr, Place, StatementKind, VarKind};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::{DataModel, IntType, Type};
use super::{Binding, Builder, Object, Part, Pointer, Value};

impl<'a> Builder<'a> {
    /// The value of an expression. What it does is emitted.
    pub(super) fn rvalue(&mut self, expression: &'a Node<Expression>) -> Built<Value> {
        let at = self.place_of(expression);
        self.check_size(at)?;
        match &expression.node {
            Expression::Identifier(name) => self.named(&name.node.name, at),
            Expression::Constant(constant) => self.literal(&constant.node, at),
            Expression::StringLiteral(_) => Ok(Value::Text),
            Expression::Member(_) => {
                let part = self.lvalue(expression)?;
                self.load(part, at)
            }
            Expression::Call(call) => self.call(&call.node, true, at),
            Expression::SizeOfTy(name) => {
                let ty = self.type_name(&name.node.0)?;
                self.size_of(&ty, at)
            }
            Expression::SizeOfVal(inner) => {
                let mut found = None;
                self.block(|builder| {
                    found = Some(match builder.lvalue(&inner.node.0) {
                        Ok(part) => part.ty,
                        Err(_) => match builder.rvalue(&inner.node.0)? {
                            Value::Int(_, ty) => Type::Int(ty),
                            Value::Truth(_) => Type::Int(IntType::INT),
                            _ => Type::Other("the size of this"),
                        },
                    });
                    Ok(())
                })?;
                self.size_of(&found.unwrap_or(Type::Void), at)
            }
            Expression::UnaryOperator(unary) => {
                self.unary(&unary.node.operator.node, &unary.node.operand, at)
            }
            Expression::Cast(cast) => self.cast(&cast.node, at),
            Expression::BinaryOperator(binary) => {
                let (left, right) = (&*binary.node.lhs, &*binary.node.rhs);
                match &binary.node.operator.node {
                    BinaryOperator::Index => {
                        let part = self.lvalue(expression)?;
                        self.load(part, at)
                    }
                    BinaryOperator::LogicalAnd => self.logical(left, right, true, at),
                    BinaryOperator::LogicalOr => self.logical(left, right, false, at),
                    operator => match super::assign::compound(operator) {
                        Some(compound) => self.assignment(compound, left, right, at),
                        None => self.binary(operator, left, right, at),
                    },
                }
            }
            Expression::Conditional(conditional) => {
                let node = &conditional.node;
                self.conditional(
                    &node.condition,
                    &node.then_expression,
                    &node.else_expression,
                    at,
                )
            }
            Expression::Comma(parts) => {
                let Some((last, before)) = parts.split_last() else {
                    return Ok(Value::Void);
                };
                for part in before {
                    self.effect(part)?;
                }
                self.rvalue(last)
            }
            Expression::Statement(statement) => self.statement_value(statement),
            Expression::CompoundLiteral(_) => {
                unsupported(at, "an object without a name", "declare a variable")
            }
            Expression::GenericSelection(_) => {
                unsupported(at, "`_Generic` is not supported", "write what it selects")
            }
            Expression::AlignOf(_) | Expression::OffsetOf(_) | Expression::VaArg(_) => unsupported(
                at,
                "this expression is not supported",
                "write it in another way",
            ),
        }
    }

    fn named(&mut self, name: &str, at: At) -> Built<Value> {
        match self.lookup(name).cloned() {
            Some(Binding::Object(part)) => self.load(part, at),
            Some(Binding::Value(value)) => Ok(value),
            Some(Binding::Number(number)) => Ok(Value::Int(Expr::Number(number), IntType::INT)),
            Some(Binding::Unset(ty)) => self.unset(name, &ty, at),
            None if self.functions.contains_key(name) || function(name).is_some() => {
                Ok(Value::Function(name.to_owned()))
            }
            None if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                Ok(Value::Text)
            }
            None if name == "PTHREAD_ONCE_INIT" => Ok(Value::Int(Expr::Number(0), IntType::INT)),
            None => {
                if let Some(value) = self.parameter_value(name, at) {
                    return Ok(value);
                }
                let message = format!("`{name}` is not declared");
                malformed(
                    at,
                    message,
                    "declare it; of headers only what is supported is known",
                )
            }
        }
    }

    fn unset<T>(&mut self, name: &str, ty: &Type, at: At) -> Built<T> {
        match ty {
            Type::Pointer(_) => {
                let message = format!("where the pointer `{name}` points is not known here");
                let help = "a pointer may be a parameter, or a variable of a function that is set once to `&x`";
                unsupported(at, message, help)
            }
            Type::Other(what) => {
                let message = format!("`{name}` is {what}, which is not supported");
                let help = "use integers, arrays and structs of them, and what <pthread.h> has";
                unsupported(at, message, help)
            }
            _ => {
                let message = format!("the type of `{name}` is not supported");
                unsupported(at, message, "use integers, arrays and structs of them")
            }
        }
    }

    fn literal(&mut self, constant: &Constant, at: At) -> Built<Value> {
        match constant {
            Constant::Integer(integer) => match integer_value(integer, self.reading.data_model) {
                Some((number, ty)) => Ok(Value::Int(Expr::Number(number), ty)),
                None => malformed(at, "this number is too large", "use at most 64 bits"),
            },
            Constant::Character(text) => {
                let text = match text.starts_with('\'') {
                    true => text.clone(),
                    false => format!("'{text}'"),
                };
                match constant::character(&text) {
                    Some(number) => Ok(Value::Int(Expr::Number(number), IntType::INT)),
                    None => unsupported(at, "this character is not known", "write its number"),
                }
            }
            Constant::Float(_) => unsupported(
                at,
                "floating-point numbers are not supported",
                "use integers",
            ),
        }
    }

    fn size_of(&mut self, ty: &Type, at: At) -> Built<Value> {
        let word = i128::from(self.reading.data_model.word() / 8);
        let size = match ty {
            Type::Int(int) => Some(i128::from(int.bits.div_ceil(8))),
            Type::Pointer(_) | Type::Thread => Some(word),
            Type::Array(inner, Some(size)) => match **inner {
                Type::Int(int) => Some(i128::from(int.bits.div_ceil(8)) * i128::from(*size)),
                Type::Thread => Some(word * i128::from(*size)),
                _ => None,
            },
            _ => None,
        };
        match size {
            Some(size) => Ok(Value::Int(
                Expr::Number(size),
                self.reading.data_model.size(),
            )),
            None => unsupported(at, "the size of this is not known", "write a number"),
        }
    }

    /// What a part of an object holds.
    pub(super) fn load(&mut self, part: Part, at: At) -> Built<Value> {
        match (&part.ty, &*part.object) {
            (Type::Int(int), Object::Variable(var)) => Ok(Value::Int(
                Expr::Load(Place {
                    var: *var,
                    indices: part.indices.clone(),
                }),
                int.plain(),
            )),
            (Type::Thread | Type::Semaphore, Object::Variable(var)) => Ok(Value::Int(
                Expr::Load(Place {
                    var: *var,
                    indices: part.indices.clone(),
                }),
                self.reading.data_model.long(),
            )),
            // Handles that nothing can wait for.
            (Type::Thread, Object::Nothing) => {
                Ok(Value::Int(Expr::Number(0), self.reading.data_model.long()))
            }
            (Type::Array(..), _) => Ok(Value::Pointer(Pointer {
                part,
                element: Some(Expr::Number(0)),
            })),
            (Type::Struct(_), _) => Ok(Value::Struct(part)),
            (Type::Pointer(_), _) => {
                let help = "use an index into an array instead";
                unsupported(at, "a pointer in memory", help)
            }
            (Type::Other(what), _) => {
                let message = format!("{what} is not supported");
                unsupported(at, message, "use integers, arrays and structs of them")
            }
            _ => unsupported(
                at,
                "this object has no value",
                "use the functions that it is made for",
            ),
        }
    }

    /// The part of an object that an expression names.
    pub(super) fn lvalue(&mut self, expression: &'a Node<Expression>) -> Built<Part> {
        let at = self.place_of(expression);
        self.check_size(at)?;
        match &expression.node {
            Expression::Identifier(name) => {
                let name = &name.node.name;
                match self.lookup(name).cloned() {
                    Some(Binding::Object(part)) => Ok(part),
                    Some(Binding::Unset(ty)) => self.unset(name, &ty, at),
                    Some(_) => {
                        let message = format!("`{name}` cannot be written here");
                        let help = "a pointer has one value as long as it lives; use an index into an array instead";
                        unsupported(at, message, help)
                    }
                    None => {
                        let message = format!("`{name}` is not declared");
                        malformed(at, message, "declare it")
                    }
                }
            }
            Expression::Member(member) => self.member(&member.node, at),
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                let value = self.rvalue(&unary.node.operand)?;
                self.pointed(value, at)
            }
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                let base = self.rvalue(&binary.node.lhs)?;
                let index = self.rvalue(&binary.node.rhs)?;
                let (base, index) = match (base, index) {
                    (Value::Pointer(base), index) => (base, index),
                    (index, Value::Pointer(base)) => (base, index),
                    _ => return unsupported(at, "this is no array", "declare an array"),
                };
                let moved = self.moved(base, index, at)?;
                self.pointed(Value::Pointer(moved), at)
            }
            Expression::Cast(_) => unsupported(at, "a cast cannot be written", "remove the cast"),
            _ => unsupported(at, "this names no variable", "use a variable"),
        }
    }

    fn member(&mut self, member: &'a MemberExpression, at: At) -> Built<Part> {
        let part = match member.operator.node {
            MemberOperator::Direct => self.lvalue(&member.expression)?,
            MemberOperator::Indirect => {
                let value = self.rvalue(&member.expression)?;
                self.pointed(value, at)?
            }
        };
        let name = &member.identifier.node.name;
        let Type::Struct(number) = part.ty else {
            let message = format!("this has no field `{name}`");
            return unsupported(at, message, "fields belong to structs");
        };
        let position = self.structs[number]
            .iter()
            .position(|(field, _)| field == name);
        match position.and_then(|position| self.field_at(&part, position)) {
            Some(field) => match field.ty {
                Type::Pointer(_) | Type::Other(_) | Type::Function => {
                    let message = format!("the field `{name}` has a type that is not supported");
                    unsupported(at, message, "use integers, arrays and structs of them")
                }
                _ => Ok(field),
            },
            None => malformed(at, format!("there is no field `{name}`"), "check its name"),
        }
    }

    /// What a pointer points to.
    pub(super) fn pointed(&mut self, value: Value, at: At) -> Built<Part> {
        match value {
            Value::Pointer(Pointer {
                part,
                element: None,
            }) => Ok(part),
            Value::Pointer(Pointer {
                part,
                element: Some(element),
            }) => {
                let Type::Array(inner, _) = part.ty else {
                    return unsupported(at, "this is no array", "declare an array");
                };
                let mut indices = part.indices;
                indices.push(element);
                Ok(Part {
                    ty: *inner,
                    object: part.object,
                    indices,
                })
            }
            Value::Int(..) => {
                let help =
                    "only the address of a variable, or of an element of an array, can be followed";
                unsupported(at, "a number used as an address", help)
            }
            _ => unsupported(at, "this is no pointer", "use the address of a variable"),
        }
    }

    /// A pointer moved by a number of elements.
    pub(super) fn moved(&mut self, pointer: Pointer, by: Value, at: At) -> Built<Pointer> {
        let (by, ty) = self.as_int(by, at)?;
        let by = self.settle(by, ty, at);
        match pointer.element {
            Some(element) => Ok(Pointer {
                part: pointer.part,
                element: Some(Expr::arith(Arith::Add, element, by)),
            }),
            None if by == Expr::Number(0) => Ok(pointer),
            None => {
                let help = "only pointers into arrays can be moved";
                unsupported(at, "a pointer that leaves its variable", help)
            }
        }
    }

    /// A value that stays what it is for as long as a name for it lives.
    pub(super) fn hold(&mut self, value: Value, at: At) -> Built<Value> {
        let Value::Pointer(mut pointer) = value else {
            return match value {
                Value::Int(Expr::Number(_), _) | Value::Function(_) => Ok(value),
                Value::Int(expr, ty) => {
                    let held = self.held(expr, ty, at);
                    Ok(Value::Int(held, ty))
                }
                Value::Truth(_) => {
                    let (expr, ty) = self.as_int(value, at)?;
                    let held = self.held(expr, ty, at);
                    Ok(Value::Int(held, ty))
                }
                _ => unsupported(at, "a pointer to this is not supported", "use `&x`"),
            };
        };
        let indices = std::mem::take(&mut pointer.part.indices);
        for index in indices {
            let held = self.held(index, IntType::LONG_LONG, at);
            pointer.part.indices.push(held);
        }
        pointer.element = pointer
            .element
            .map(|element| self.held(element, IntType::LONG_LONG, at));
        Ok(Value::Pointer(pointer))
    }

    fn held(&mut self, expr: Expr, ty: IntType, at: At) -> Expr {
        if matches!(expr, Expr::Number(_) | Expr::Parameter(_)) {
            return expr;
        }
        let variable = self.local_variable("index", VarKind::Int(ty.plain()), at);
        self.emit(at, StatementKind::Assign(Place::of(variable), expr));
        Expr::load(variable)
    }

    fn unary(
        &mut self,
        operator: &UnaryOperator,
        operand: &'a Node<Expression>,
        at: At,
    ) -> Built<Value> {
        match operator {
            UnaryOperator::PostIncrement => self.increment(operand, 1, true, at),
            UnaryOperator::PostDecrement => self.increment(operand, -1, true, at),
            UnaryOperator::PreIncrement => self.increment(operand, 1, false, at),
            UnaryOperator::PreDecrement => self.increment(operand, -1, false, at),
            UnaryOperator::Address => self.address(operand, at),
            UnaryOperator::Indirection => {
                let value = self.rvalue(operand)?;
                if let Value::Function(_) = value {
                    return Ok(value);
                }
                let part = self.pointed(value, at)?;
                self.load(part, at)
            }
            UnaryOperator::Negate => {
                let value = self.rvalue(operand)?;
                Ok(Value::Truth(self.as_truth(value, at)?.not()))
            }
            UnaryOperator::Plus => {
                let value = self.rvalue(operand)?;
                let (expr, ty) = self.as_int(value, at)?;
                Ok(Value::Int(expr, ty.promoted()))
            }
            UnaryOperator::Minus => {
                let value = self.rvalue(operand)?;
                let (expr, ty) = self.as_int(value, at)?;
                let negative = Expr::arith(Arith::Sub, Expr::Number(0), expr);
                Ok(self.computed(negative, ty.promoted()))
            }
            UnaryOperator::Complement => {
                let value = self.rvalue(operand)?;
                let (expr, ty) = self.as_int(value, at)?;
                let ty = ty.promoted();
                let from = if ty.signed { -1 } else { ty.greatest() };
                Ok(Value::Int(
                    Expr::arith(Arith::Sub, Expr::Number(from), expr),
                    ty,
                ))
            }
        }
    }

    /// The address of what an expression names.
    pub(super) fn address(&mut self, operand: &'a Node<Expression>, at: At) -> Built<Value> {
        if let Expression::Identifier(name) = &operand.node
            && self.functions.contains_key(name.node.name.as_str())
            && self.lookup(&name.node.name).is_none()
        {
            return Ok(Value::Function(name.node.name.clone()));
        }
        // `&*p` and `&a[i]` stay within their array, so that the pointer can be moved.
        if let Expression::BinaryOperator(binary) = &operand.node
            && binary.node.operator.node == BinaryOperator::Index
        {
            let base = self.rvalue(&binary.node.lhs)?;
            let index = self.rvalue(&binary.node.rhs)?;
            if let Value::Pointer(base) = base {
                return Ok(Value::Pointer(self.moved(base, index, at)?));
            }
            return unsupported(at, "this is no array", "declare an array");
        }
        let part = self.lvalue(operand)?;
        Ok(Value::Pointer(Pointer {
            part,
            element: None,
        }))
    }

    fn cast(&mut self, cast: &'a CastExpression, at: At) -> Built<Value> {
        let ty = self.type_name(&cast.type_name)?;
        let value = self.rvalue(&cast.expression)?;
        match ty {
            Type::Void => Ok(Value::Void),
            Type::Int(int) => {
                let int = int.plain();
                if let Value::Pointer(_) = value {
                    return unsupported(
                        at,
                        "the address of an object as a number",
                        "pass an index instead",
                    );
                }
                let expr = self.convert(value, int, at)?;
                Ok(Value::Int(expr, int))
            }
            Type::Thread => {
                let (expr, _) = self.as_int(value, at)?;
                Ok(Value::Int(expr, self.reading.data_model.long()))
            }
            Type::Pointer(target) => match value {
                Value::Pointer(pointer) => self.retyped(pointer, &target, at),
                Value::Function(_) | Value::Text => Ok(value),
                Value::Void | Value::Struct(_) => {
                    unsupported(at, "this cast is not supported", "remove it")
                }
                value => {
                    let word = self.reading.data_model.long();
                    let expr = self.convert(value, word, at)?;
                    Ok(Value::Int(expr, word))
                }
            },
            Type::Struct(_) => Ok(value),
            _ => unsupported(at, "a cast to this type is not supported", "remove it"),
        }
    }

    /// A pointer seen as one to another type, which must be the one that it has.
    fn retyped(&mut self, pointer: Pointer, target: &Type, at: At) -> Built<Value> {
        let own = match (&pointer.element, &pointer.part.ty) {
            (Some(_), Type::Array(inner, _)) => &**inner,
            (_, ty) => ty,
        };
        let same = match (own, target) {
            (_, Type::Void) => true,
            (Type::Int(own), Type::Int(target)) => {
                own.bits == target.bits && own.signed == target.signed
            }
            (own, target) => own == target,
        };
        match same {
            true => Ok(Value::Pointer(pointer)),
            false => {
                let help = "a pointer must have the type of what it points to";
                unsupported(at, "an object seen as one of another type", help)
            }
        }
    }

    fn conditional(
        &mut self,
        condition: &'a Node<Expression>,
        yes: &'a Node<Expression>,
        no: &'a Node<Expression>,
        at: At,
    ) -> Built<Value> {
        let condition = self.rvalue(condition)?;
        let condition = self.as_truth(condition, at)?;
        if let Expr::Truth(truth) = condition {
            let (chosen, other) = match truth {
                true => (yes, no),
                false => (no, yes),
            };
            return self.chosen(chosen, other, at);
        }
        let (mut first, mut second) = (Value::Void, Value::Void);
        let mut yes_code = self.block(|builder| {
            first = builder.rvalue(yes)?;
            Ok(())
        })?;
        let mut no_code = self.block(|builder| {
            second = builder.rvalue(no)?;
            Ok(())
        })?;
        if matches!(first, Value::Void) || matches!(second, Value::Void) {
            self.emit(at, StatementKind::If(condition, yes_code, no_code));
            return Ok(Value::Void);
        }
        if let (Value::Pointer(a), Value::Pointer(b)) = (&first, &second)
            && a == b
        {
            return Ok(first);
        }
        let ty = match (&first, &second) {
            (Value::Int(_, a), Value::Int(_, b)) => a.common(*b),
            (Value::Int(_, a), _) | (_, Value::Int(_, a)) => a.common(IntType::INT),
            _ => IntType::INT,
        };
        if let (Value::Int(first, own), Value::Int(second, other)) = (&first, &second)
            && yes_code.is_empty()
            && no_code.is_empty()
            && (own == other || self.is_bit(first) && self.is_bit(second))
            && let Some(value) = self.without_branch(&condition, first, second)
        {
            let converted = self.convert(Value::Int(value, *own), ty, at)?;
            return Ok(Value::Int(converted, ty));
        }
        let variable = self.temporary(VarKind::Int(ty), at);
        for (code, value) in [(&mut yes_code, first), (&mut no_code, second)] {
            let outer = std::mem::replace(&mut self.code, std::mem::take(code));
            let converted = self.convert(value, ty, at)?;
            self.emit(at, StatementKind::Assign(Place::of(variable), converted));
            *code = std::mem::replace(&mut self.code, outer);
        }
        self.emit(at, StatementKind::If(condition, yes_code, no_code));
        Ok(Value::Int(Expr::load(variable), ty))
    }

    /// The value of an operand that is known to be chosen. The other one is not evaluated, but it has a part in the type.
    fn chosen(
        &mut self,
        chosen: &'a Node<Expression>,
        other: &'a Node<Expression>,
        at: At,
    ) -> Built<Value> {
        let sites = self.threads.sites();
        let mut unused = Value::Void;
        self.block(|builder| {
            unused = builder.rvalue(other)?;
            Ok(())
        })?;
        self.threads.forget_since(sites);
        let value = self.rvalue(chosen)?;
        let ty = match (&value, &unused) {
            (Value::Int(_, a), Value::Int(_, b)) => a.common(*b),
            (Value::Int(_, a), Value::Truth(_)) | (Value::Truth(_), Value::Int(_, a)) => {
                a.common(IntType::INT)
            }
            _ => return Ok(value),
        };
        let converted = self.convert(value, ty, at)?;
        Ok(Value::Int(converted, ty))
    }

    /// Brings a value to an integer type.
    pub(super) fn convert(&mut self, value: Value, to: IntType, at: At) -> Built<Expr> {
        if to.bits == 1 {
            if let Value::Int(expr, _) = &value
                && self.is_bit(expr)
            {
                return Ok(expr.clone());
            }
            let truth = self.as_truth(value, at)?;
            return Ok(match self.bit_in_step(&truth) {
                Some(bit) => bit,
                None => self.number_of(truth, at),
            });
        }
        let (expr, from) = self.as_int(value, at)?;
        let fits = from.least() >= to.least() && from.greatest() <= to.greatest();
        Ok(match fits {
            true => expr,
            false if self.in_templates => {
                self.without_bounds(to, at)?;
                expr
            }
            false => Expr::fit(to, expr),
        })
    }

    /// Whether an expression is certainly 0 or 1.
    fn is_bit(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Number(number) => matches!(number, 0 | 1),
            Expr::Load(place) => {
                matches!(self.model.variable(place.var).kind, VarKind::Int(ty) if ty.bits == 1)
            }
            Expr::Arith(Arith::Min | Arith::Max, left, right) => {
                self.is_bit(left) && self.is_bit(right)
            }
            Expr::Arith(Arith::Sub, left, right) => **left == Expr::Number(1) && self.is_bit(right),
            _ => false,
        }
    }

    /// In a part that is one step, a truth value about bits as a number: each `if` would make its ways twice as many.
    fn bit_in_step(&self, truth: &Expr) -> Option<Expr> {
        (self.in_step && truth.cannot_fail(&self.model))
            .then(|| self.bit_of(truth))
            .flatten()
    }

    fn bit_of(&self, truth: &Expr) -> Option<Expr> {
        let inverse = |bit: Expr| Expr::arith(Arith::Sub, Expr::Number(1), bit);
        Some(match truth {
            Expr::Truth(truth) => Expr::Number(i128::from(*truth)),
            Expr::Not(inner) => inverse(self.bit_of(inner)?),
            Expr::And(left, right) => {
                Expr::arith(Arith::Min, self.bit_of(left)?, self.bit_of(right)?)
            }
            Expr::Or(left, right) => {
                Expr::arith(Arith::Max, self.bit_of(left)?, self.bit_of(right)?)
            }
            Expr::Compare(op, left, right) if self.is_bit(left) => match (op, &**right) {
                (Compare::Ne, Expr::Number(0)) | (Compare::Eq, Expr::Number(1)) => (**left).clone(),
                (Compare::Eq, Expr::Number(0)) | (Compare::Ne, Expr::Number(1)) => {
                    inverse((**left).clone())
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// `c ? a : b` without a branch, where that is possible in a part that is one step.
    fn without_branch(&self, condition: &Expr, first: &Expr, second: &Expr) -> Option<Expr> {
        if !self.in_step || !condition.cannot_fail(&self.model) {
            return None;
        }
        if first == second {
            return Some(first.clone());
        }
        let bits = self.is_bit(first) && self.is_bit(second);
        let pure = first.cannot_fail(&self.model) && second.cannot_fail(&self.model);
        let condition = self.bit_of(condition).filter(|_| bits && pure)?;
        let other = Expr::arith(Arith::Sub, Expr::Number(1), condition.clone());
        Some(Expr::arith(
            Arith::Max,
            Expr::arith(Arith::Min, condition, first.clone()),
            Expr::arith(Arith::Min, other, second.clone()),
        ))
    }

    /// A truth value as a number.
    pub(super) fn number_of(&mut self, truth: Expr, at: At) -> Expr {
        if let Expr::Truth(truth) = truth {
            return Expr::Number(i128::from(truth));
        }
        let variable = self.temporary(VarKind::Int(IntType::BOOL), at);
        let set = |number: i128| {
            let kind = StatementKind::Assign(Place::of(variable), Expr::Number(number));
            vec![super::Statement { at, kind }]
        };
        self.emit(at, StatementKind::If(truth, set(1), set(0)));
        Expr::load(variable)
    }

    /// The number and the type of a value.
    pub(super) fn as_int(&mut self, value: Value, at: At) -> Built<(Expr, IntType)> {
        match value {
            Value::Int(expr, ty) => Ok((expr, ty)),
            Value::Truth(truth) => Ok((self.number_of(truth, at), IntType::INT)),
            Value::Pointer(_) => {
                unsupported(at, "an address used as a number", "pass an index instead")
            }
            Value::Function(name) => {
                let message = format!("the function `{name}` used as a value");
                unsupported(at, message, "call it by its name")
            }
            Value::Text => unsupported(at, "a text used as a value", "texts may only be printed"),
            Value::Struct(_) => {
                malformed(at, "a struct where a number is expected", "name a field")
            }
            Value::Void => malformed(at, "this has no value", "use something that has one"),
        }
    }

    /// Whether a value is not 0.
    pub(super) fn as_truth(&mut self, value: Value, at: At) -> Built<Expr> {
        match value {
            Value::Truth(truth) => Ok(truth),
            Value::Pointer(_) | Value::Function(_) | Value::Text => Ok(Expr::Truth(true)),
            value => {
                let (expr, _) = self.as_int(value, at)?;
                // What was just made a number of a truth value.
                Ok(Expr::compare(
                    super::super::ir::Compare::Ne,
                    expr,
                    Expr::Number(0),
                ))
            }
        }
    }

    /// `&&` and `||`. The right side happens only if the left does not decide.
    fn logical(
        &mut self,
        left: &'a Node<Expression>,
        right: &'a Node<Expression>,
        and: bool,
        at: At,
    ) -> Built<Value> {
        let value = self.rvalue(left)?;
        let first = self.as_truth(value, at)?;
        if let Expr::Truth(truth) = first
            && truth != and
        {
            return Ok(Value::Truth(Expr::Truth(truth)));
        }
        let mut second = Expr::Truth(and);
        let code = self.block(|builder| {
            let value = builder.rvalue(right)?;
            second = builder.as_truth(value, at)?;
            Ok(())
        })?;
        if let Expr::Truth(truth) = first
            && truth == and
        {
            self.code.extend(code);
            return Ok(Value::Truth(second));
        }
        let reads = first.shared_reads(&self.model) + second.shared_reads(&self.model);
        let joined =
            self.in_step || reads <= 1 || second.shared_reads(&self.model) == 0 || self.is_alone();
        if code.is_empty() && joined {
            return Ok(Value::Truth(match and {
                true => first.and(second),
                false => first.or(second),
            }));
        }
        let variable = self.temporary(VarKind::Truth, at);
        self.emit(at, StatementKind::Assign(Place::of(variable), first));
        let mut code = code;
        code.push(super::Statement::new(
            at,
            StatementKind::Assign(Place::of(variable), second),
        ));
        let load = Expr::load(variable);
        self.emit(
            at,
            match and {
                true => StatementKind::If(load.clone(), code, Vec::new()),
                false => StatementKind::If(load.clone().not(), code, Vec::new()),
            },
        );
        Ok(Value::Truth(load))
    }

    /// A part of an object that is a variable.
    pub(super) fn variable_of(&mut self, part: &Part, at: At) -> Built<Place> {
        match &*part.object {
            Object::Variable(var) => Ok(Place {
                var: *var,
                indices: part.indices.clone(),
            }),
            _ => unsupported(at, "this is no variable", "use a variable"),
        }
    }

    /// One of the variables of an object that has several.
    pub(super) fn field_named(&self, part: &Part, name: &str) -> Option<Place> {
        let Object::Fields(fields) = &*part.object else {
            return None;
        };
        let (_, object) = fields.iter().find(|(field, _)| field == name)?;
        match object {
            Object::Variable(var) => Some(Place {
                var: *var,
                indices: part.indices.clone(),
            }),
            _ => None,
        }
    }
}

/// The value of a literal, and its type.
fn integer_value(integer: &Integer, model: DataModel) -> Option<(i128, IntType)> {
    let prefix = match integer.base {
        IntegerBase::Decimal => "",
        IntegerBase::Octal => "0",
        IntegerBase::Hexadecimal => "0x",
        IntegerBase::Binary => "0b",
    };
    // Where `long` is no wider than `int`, its suffix says nothing.
    let wide = match integer.suffix.size {
        IntegerSize::Int => false,
        IntegerSize::Long => model == DataModel::Lp64,
        IntegerSize::LongLong => true,
    };
    let suffix = match (integer.suffix.unsigned, wide) {
        (false, false) => "",
        (true, false) => "u",
        (false, true) => "l",
        (true, true) => "ul",
    };
    if integer.suffix.imaginary {
        return None;
    }
    let (number, literal) = constant::number(&format!("{prefix}{}{suffix}", integer.number))?;
    let bits = if literal.long { 64 } else { 32 };
    Some((number, IntType::new(bits, !literal.unsigned)))
}
