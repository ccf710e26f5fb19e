//! Assignments.

use lang_c::ast::{BinaryOperator, Expression};
use lang_c::span::Node;

use super::super::ir::{Expr, Place, StatementKind, VarKind};
use super::super::source::{At, Built, unsupported};
use super::super::types::{IntType, Type};
use super::{Binding, Builder, Object, Part, Value};

/// The operator that an assignment applies first; `Assign` for none.
pub(super) fn compound(operator: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match operator {
        BinaryOperator::Assign => BinaryOperator::Assign,
        BinaryOperator::AssignMultiply => BinaryOperator::Multiply,
        BinaryOperator::AssignDivide => BinaryOperator::Divide,
        BinaryOperator::AssignModulo => BinaryOperator::Modulo,
        BinaryOperator::AssignPlus => BinaryOperator::Plus,
        BinaryOperator::AssignMinus => BinaryOperator::Minus,
        BinaryOperator::AssignShiftLeft => BinaryOperator::ShiftLeft,
        BinaryOperator::AssignShiftRight => BinaryOperator::ShiftRight,
        BinaryOperator::AssignBitwiseAnd => BinaryOperator::BitwiseAnd,
        BinaryOperator::AssignBitwiseXor => BinaryOperator::BitwiseXor,
        BinaryOperator::AssignBitwiseOr => BinaryOperator::BitwiseOr,
        _ => return None,
    })
}

impl<'a> Builder<'a> {
    pub(super) fn assignment(
        &mut self,
        operator: BinaryOperator,
        left: &'a Node<Expression>,
        right: &'a Node<Expression>,
        at: At,
    ) -> Built<Value> {
        if let Some(value) = self.pointer_assignment(&operator, left, right, at)? {
            return Ok(value);
        }
        let part = self.lvalue(left)?;
        self.lasting(&part, at)?;
        if operator == BinaryOperator::Assign {
            let position = self.code.len();
            let value = self.rvalue(right)?;
            self.unchanged(&part, position, at)?;
            return self.store(&part, value, at);
        }
        if self.is_atomic(&part) && !self.in_step {
            let (operand, ty) = {
                let value = self.rvalue(right)?;
                self.as_int(value, at)?
            };
            let operand = self.settle(operand, ty, at);
            return self.update(&part, at, false, |builder, old| {
                builder.combine(&operator, old, Value::Int(operand, ty), at)
            });
        }
        let old = self.load(part.clone(), at)?;
        let position = self.code.len();
        let value = self.rvalue(right)?;
        let later = match &value {
            Value::Int(expr, _) | Value::Truth(expr) => expr.shared_reads(&self.model) > 0,
            _ => false,
        };
        self.undisturbed(position, &old, at)?;
        let old = self.keep(position, old, later, at);
        self.unchanged(&part, position, at)?;
        let value = self.combine(&operator, old, value, at)?;
        self.store(&part, value, at)
    }

    /// Refuses an object that lives only as long as a value does.
    fn lasting(&mut self, part: &Part, at: At) -> Built<()> {
        match (&part.ty, &*part.object) {
            (Type::Array(..), _) => {
                unsupported(at, "an array cannot be assigned", "assign its elements")
            }
            (
                Type::Mutex
                | Type::Condition
                | Type::Barrier
                | Type::Semaphore
                | Type::ReadWriteLock,
                _,
            ) => unsupported(
                at,
                "this object cannot be assigned",
                "use the functions that it is made for",
            ),
            _ => Ok(()),
        }
    }

    /// Refuses an assignment whose right side changes what the left side's index depends on.
    fn unchanged(&mut self, part: &Part, position: usize, at: At) -> Built<()> {
        let mut written = Vec::new();
        super::super::ir::for_statements(&self.code[position..], &mut |statement| {
            written.extend(statement.written());
        });
        let mut changed = false;
        for index in &part.indices {
            index.for_places(&mut |place| changed |= written.contains(&place.var));
        }
        match changed {
            true => unsupported(
                at,
                "an index that the same statement changes",
                "write two statements",
            ),
            false => Ok(()),
        }
    }

    /// A pointer variable that gets its one value.
    fn pointer_assignment(
        &mut self,
        operator: &BinaryOperator,
        left: &'a Node<Expression>,
        right: &'a Node<Expression>,
        at: At,
    ) -> Built<Option<Value>> {
        let Expression::Identifier(name) = &left.node else {
            return Ok(None);
        };
        let name = name.node.name.clone();
        match self.lookup(&name) {
            Some(Binding::Unset(Type::Pointer(_))) if *operator == BinaryOperator::Assign => {}
            _ => return Ok(None),
        }
        let value = self.rvalue(right)?;
        let value = self.hold(value, at)?;
        for scope in self.frame().scopes.iter_mut().rev() {
            if let Some(binding) = scope.get_mut(&name) {
                *binding = Binding::Value(value.clone());
                return Ok(Some(value));
            }
        }
        if self.set_global_pointer(&name, &value) {
            return Ok(Some(value));
        }
        let help = "a pointer outside of functions may be set once, by `main`, before it makes threads; else pass it as a parameter";
        unsupported(at, "a pointer in memory", help)
    }

    fn is_atomic(&self, part: &Part) -> bool {
        matches!(part.ty, Type::Int(int) if int.atomic)
    }

    /// Writes a value, and gives what was written.
    pub(super) fn store(&mut self, part: &Part, value: Value, at: At) -> Built<Value> {
        match (&part.ty, value) {
            (Type::Int(int), value) => {
                let place = self.variable_of(part, at)?;
                if let Value::Truth(truth) = &value
                    && !matches!(truth, Expr::Truth(_))
                {
                    return self.store_truth(place, truth.clone(), *int, at);
                }
                let expr = self.convert(value, *int, at)?;
                Ok(self.write(place, expr, *int, at))
            }
            (Type::Thread, value) => {
                let place = self.variable_of(part, at)?;
                let (expr, _) = self.as_int(value, at)?;
                Ok(self.write(place, expr, IntType::LONG_LONG, at))
            }
            (Type::Struct(_), Value::Struct(from)) => {
                if from.ty != part.ty {
                    return unsupported(at, "structs of different types", "copy their fields");
                }
                let (mut source, mut target) = (Vec::new(), Vec::new());
                self.all_cells(&from, &mut source, at)?;
                self.all_cells(part, &mut target, at)?;
                for ((from, _), (to, _)) in source.into_iter().zip(target) {
                    let ty = match self.model.variable(to.var).kind {
                        VarKind::Int(int) => int,
                        _ => IntType::INT,
                    };
                    self.write(to, Expr::Load(from), ty, at);
                }
                Ok(Value::Struct(part.clone()))
            }
            (Type::Pointer(_), _) => unsupported(at, "a pointer in memory", "use an index instead"),
            _ => unsupported(
                at,
                "this cannot be assigned",
                "use the functions that it is made for",
            ),
        }
    }

    fn store_truth(&mut self, place: Place, truth: Expr, ty: IntType, at: At) -> Built<Value> {
        let shared = self.model.is_shared(place.var);
        let truth = match shared && !self.in_step {
            true => self.settle(truth, IntType::INT, at),
            false => truth,
        };
        let set = |number: i128| {
            let kind = StatementKind::Assign(place.clone(), Expr::Number(number));
            vec![super::Statement { at, kind }]
        };
        let choice = StatementKind::If(truth.clone(), set(1), set(0));
        match shared && !self.in_step {
            // The write is one step, whatever is written.
            true => {
                let kind = StatementKind::Atomic(vec![super::Statement { at, kind: choice }]);
                self.emit(at, kind);
            }
            false => self.emit(at, choice),
        }
        // What was written, not what the place holds: somebody else may write it.
        let mut itself = false;
        truth.for_places(&mut |read| itself |= read.var == place.var);
        match truth.shared_reads(&self.model) {
            0 if !itself => Ok(Value::Truth(truth)),
            _ => Ok(Value::Int(Expr::Load(place), ty.plain())),
        }
    }

    /// Writes to a variable, with what is shared read before.
    pub(super) fn write(&mut self, place: Place, expr: Expr, ty: IntType, at: At) -> Value {
        let shared = self.model.is_shared(place.var);
        let expr = match shared && !self.in_step {
            true => self.settle(expr, ty, at),
            false => expr,
        };
        self.emit(at, StatementKind::Assign(place.clone(), expr.clone()));
        let mut itself = false;
        expr.for_places(&mut |read| itself |= read.var == place.var);
        match shared && !itself && expr.shared_reads(&self.model) == 0 {
            true => Value::Int(expr, ty.plain()),
            false => Value::Int(Expr::Load(place), ty.plain()),
        }
    }

    /// Reads, computes and writes in one step. Gives the old value or the new one.
    pub(super) fn update(
        &mut self,
        part: &Part,
        at: At,
        old_value: bool,
        change: impl FnOnce(&mut Self, Value) -> Built<Value>,
    ) -> Built<Value> {
        let Type::Int(int) = part.ty else {
            return unsupported(
                at,
                "this is no integer",
                "atomic operations are for integers",
            );
        };
        let place = self.variable_of(part, at)?;
        let result = self.temporary(VarKind::Int(int.plain()), at);
        let outer = std::mem::replace(&mut self.in_step, true);
        let code = self.block(|builder| {
            let old = Value::Int(Expr::Load(place.clone()), int.plain());
            if old_value {
                builder.emit(
                    at,
                    StatementKind::Assign(Place::of(result), Expr::Load(place.clone())),
                );
            }
            let new = change(builder, old)?;
            let new = builder.convert(new, int, at)?;
            builder.emit(at, StatementKind::Assign(place.clone(), new));
            if !old_value {
                builder.emit(
                    at,
                    StatementKind::Assign(Place::of(result), Expr::Load(place.clone())),
                );
            }
            Ok(())
        })?;
        self.in_step = outer;
        match outer {
            true => self.code.extend(code),
            false => self.emit(at, StatementKind::Atomic(code)),
        }
        Ok(Value::Int(Expr::load(result), int.plain()))
    }

    /// `x++` and the like.
    pub(super) fn increment(
        &mut self,
        operand: &'a Node<Expression>,
        by: i128,
        old_value: bool,
        at: At,
    ) -> Built<Value> {
        let part = self.lvalue(operand)?;
        let Type::Int(int) = part.ty else {
            return unsupported(
                at,
                "only integers can be counted up",
                "use an index instead",
            );
        };
        let one = Value::Int(Expr::Number(by.abs()), IntType::INT);
        let operator = match by > 0 {
            true => BinaryOperator::Plus,
            false => BinaryOperator::Minus,
        };
        if int.atomic && !self.in_step {
            return self.update(&part, at, old_value, |builder, old| {
                builder.combine(&operator, old, one, at)
            });
        }
        let old = self.load(part.clone(), at)?;
        let place = self.variable_of(&part, at)?;
        let shared = self.model.is_shared(place.var);
        let old = match old {
            Value::Int(expr, ty) if old_value || shared && !self.in_step => {
                let position = self.code.len();
                Value::Int(self.settle_at(position, expr, ty, at), ty)
            }
            other => other,
        };
        let new = self.combine(&operator, old.clone(), one, at)?;
        let written = self.store(&part, new, at)?;
        Ok(match old_value {
            true => old,
            false => written,
        })
    }

    /// Whether an object is one that this process alone has.
    pub(super) fn is_own(&self, object: &Object) -> bool {
        match object {
            Object::Variable(var) => !self.model.is_shared(*var),
            Object::Fields(fields) => fields.iter().any(|(_, object)| self.is_own(object)),
            Object::Nothing => false,
        }
    }
}
