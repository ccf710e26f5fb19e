//! Operators on numbers.

use lang_c::ast::{BinaryOperator, Expression};
use lang_c::span::Node;

use super::super::Integers;
use super::super::ir::{Arith, Bits, Compare, Expr};
use super::super::source::{At, Built, malformed, unsupported};
use super::super::types::IntType;
use super::{Builder, Value};

impl<'a> Builder<'a> {
    pub(super) fn binary(
        &mut self,
        operator: &BinaryOperator,
        left: &'a Node<Expression>,
        right: &'a Node<Expression>,
        at: At,
    ) -> Built<Value> {
        let first = self.rvalue(left)?;
        let position = self.code.len();
        let second = self.rvalue(right)?;
        let later = match &second {
            Value::Int(expr, _) | Value::Truth(expr) => expr.shared_reads(&self.model) > 0,
            _ => false,
        };
        self.undisturbed(position, &first, at)?;
        let first = self.keep(position, first, later, at);
        self.combine(operator, first, second, at)
    }

    /// The value that an operator makes of two values.
    pub(super) fn combine(
        &mut self,
        operator: &BinaryOperator,
        first: Value,
        second: Value,
        at: At,
    ) -> Built<Value> {
        let compare = match operator {
            BinaryOperator::Less => Some(Compare::Lt),
            BinaryOperator::LessOrEqual => Some(Compare::Le),
            BinaryOperator::Greater => Some(Compare::Gt),
            BinaryOperator::GreaterOrEqual => Some(Compare::Ge),
            BinaryOperator::Equals => Some(Compare::Eq),
            BinaryOperator::NotEquals => Some(Compare::Ne),
            _ => None,
        };
        let (first, second) = match (first, second) {
            (Value::Pointer(pointer), other) | (other, Value::Pointer(pointer)) => {
                return self.with_pointer(operator, pointer, other, at);
            }
            (first, second) => (first, second),
        };
        // `(a == b) == 0` and the like stay truth values.
        if let (Value::Truth(truth), Value::Int(Expr::Number(number @ (0 | 1)), _))
        | (Value::Int(Expr::Number(number @ (0 | 1)), _), Value::Truth(truth)) =
            (&first, &second)
        {
            match operator {
                BinaryOperator::Equals if *number == 0 => {
                    return Ok(Value::Truth(truth.clone().not()));
                }
                BinaryOperator::Equals => return Ok(Value::Truth(truth.clone())),
                BinaryOperator::NotEquals if *number == 0 => {
                    return Ok(Value::Truth(truth.clone()));
                }
                BinaryOperator::NotEquals => return Ok(Value::Truth(truth.clone().not())),
                _ => {}
            }
        }
        let (first, first_type) = self.as_int(first, at)?;
        let position = self.code.len();
        let (second, second_type) = self.as_int(second, at)?;
        // Making a number of a truth value may have read something.
        let first = match self.keep(position, Value::Int(first, first_type), false, at) {
            Value::Int(first, _) => first,
            _ => Expr::Number(0),
        };
        if let BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight = operator {
            return self.shift(operator, first, first_type.promoted(), second, at);
        }
        let ty = first_type.common(second_type);
        let first = self.convert(Value::Int(first, first_type), ty, at)?;
        let second = self.convert(Value::Int(second, second_type), ty, at)?;
        if let Some(compare) = compare {
            return Ok(Value::Truth(Expr::compare(compare, first, second)));
        }
        let arith = match operator {
            BinaryOperator::Plus => Arith::Add,
            BinaryOperator::Minus => Arith::Sub,
            BinaryOperator::Multiply => Arith::Mul,
            BinaryOperator::Divide => Arith::Div,
            BinaryOperator::Modulo => Arith::Rem,
            BinaryOperator::BitwiseAnd => return Ok(self.bits(Bits::And, ty, first, second, at)),
            BinaryOperator::BitwiseOr => return Ok(self.bits(Bits::Or, ty, first, second, at)),
            BinaryOperator::BitwiseXor => return Ok(self.bits(Bits::Xor, ty, first, second, at)),
            _ => return malformed(at, "this operator is not expected here", "use another one"),
        };
        if let (Arith::Rem, true) = (arith, ty.signed) {
            // The remainder fits wherever the quotient does.
            return Ok(Value::Int(Expr::arith(arith, first, second), ty));
        }
        Ok(self.computed(Expr::arith(arith, first, second), ty))
    }

    /// A value that was computed in a type, which it may have left.
    pub(super) fn computed(&mut self, expr: Expr, ty: IntType) -> Value {
        if self.in_templates {
            return Value::Int(expr, ty);
        }
        let expr = match ty.signed && self.reading.integers == Integers::Mathematical {
            true => Expr::checked(ty, expr),
            false => Expr::fit(ty, expr),
        };
        Value::Int(expr, ty)
    }

    fn with_pointer(
        &mut self,
        operator: &BinaryOperator,
        pointer: super::Pointer,
        other: Value,
        at: At,
    ) -> Built<Value> {
        match (operator, &other) {
            (BinaryOperator::Equals, Value::Int(Expr::Number(0), _)) => {
                Ok(Value::Truth(Expr::Truth(false)))
            }
            (BinaryOperator::NotEquals, Value::Int(Expr::Number(0), _)) => {
                Ok(Value::Truth(Expr::Truth(true)))
            }
            (BinaryOperator::Plus, Value::Int(..)) => {
                Ok(Value::Pointer(self.moved(pointer, other, at)?))
            }
            (BinaryOperator::Equals | BinaryOperator::NotEquals, Value::Pointer(second)) => {
                let equal = matches!(operator, BinaryOperator::Equals);
                if *second == pointer {
                    return Ok(Value::Truth(Expr::Truth(equal)));
                }
                if pointer.part.object != second.part.object {
                    return Ok(Value::Truth(Expr::Truth(!equal)));
                }
                unsupported(
                    at,
                    "two pointers into one object",
                    "compare indices instead",
                )
            }
            _ => unsupported(
                at,
                "this use of a pointer is not supported",
                "use an index instead",
            ),
        }
    }

    fn bits(&mut self, op: Bits, ty: IntType, first: Expr, second: Expr, at: At) -> Value {
        if let (Expr::Number(a), Expr::Number(b)) = (&first, &second) {
            let value = match op {
                Bits::And => a & b,
                Bits::Or => a | b,
                Bits::Xor => a ^ b,
                Bits::Shift => a >> b.clamp(&0, &64),
            };
            return Value::Int(Expr::fit(ty, Expr::Number(value)), ty);
        }
        // Each operand is written several times later on.
        let first = self.settle_always(first, ty, at);
        let second = self.settle_always(second, ty, at);
        Value::Int(Expr::Bits(op, ty, Box::new(first), Box::new(second)), ty)
    }

    fn settle_always(&mut self, expr: Expr, ty: IntType, at: At) -> Expr {
        let simple = match &expr {
            Expr::Number(_) => true,
            Expr::Load(place) => place.indices.is_empty() && !self.model.is_shared(place.var),
            _ => false,
        };
        match simple {
            true => expr,
            false => self.settle_at(self.code.len(), expr, ty, at),
        }
    }

    fn shift(
        &mut self,
        operator: &BinaryOperator,
        first: Expr,
        ty: IntType,
        by: Expr,
        at: At,
    ) -> Built<Value> {
        let Expr::Number(by) = by else {
            return unsupported(
                at,
                "a shift by a value that varies",
                "shift by a constant, or multiply",
            );
        };
        if by < 0 || by >= i128::from(ty.bits) {
            return malformed(
                at,
                "a shift by more bits than the type has",
                "this has no meaning in C",
            );
        }
        match operator {
            BinaryOperator::ShiftLeft => {
                let product = Expr::arith(Arith::Mul, first, Expr::Number(1 << by));
                Ok(self.computed(product, ty))
            }
            _ => Ok(self.bits(Bits::Shift, ty, first, Expr::Number(by), at)),
        }
    }
}
