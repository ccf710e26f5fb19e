//! Atomic operations: those of C11, and gcc's builtins. All are sequentially consistent here; an order that is weaker draws a note.

use lang_c::ast::Expression;
use lang_c::span::Node;

use super::super::functions::{Operation, Weak};
use super::super::ir::{Compare, Expr, Place, Statement, StatementKind, VarKind};
use super::super::source::{At, Built, unsupported};
use super::super::types::{IntType, Type};
use super::library::Call;
use super::{Builder, Part, Value};

impl<'a> Builder<'a> {
    pub(super) fn atomic_call(
        &mut self,
        operation: Operation,
        count: usize,
        call: Call<'a, '_>,
    ) -> Built<Value> {
        let Call {
            name,
            arguments,
            at,
            ..
        } = call;
        // `weak` of gcc's compare and exchange stands between them.
        let orders = match operation {
            Operation::Compare(Weak::Argument) => count + 1,
            _ => count,
        };
        // What gcc's older functions protect beside is nothing here: they protect everything.
        if !name.starts_with("__sync_") {
            self.orders(name, &arguments[orders.min(arguments.len())..], at)?;
        }
        if let Operation::Fence = operation {
            return Ok(Value::Void);
        }
        let pointer = self.rvalue(&arguments[0])?;
        let part = self.pointed(pointer, at)?;
        let Type::Int(int) = part.ty else {
            return unsupported(at, "an atomic operation on this", "they are for integers");
        };
        let byte = matches!(operation, Operation::TestAndSet | Operation::Clear)
            && name.starts_with("__atomic_");
        if byte && int.bits > 8 {
            let help = "use a `_Bool` or a `char`: it is for one byte";
            return unsupported(at, format!("`{name}` on an object of this size"), help);
        }
        match operation {
            Operation::Load => self.load(part, at),
            Operation::Store => {
                let value = self.rvalue(&arguments[1])?;
                self.store(&part, value, at)?;
                Ok(Value::Void)
            }
            Operation::Clear => {
                self.store(&part, Value::Int(Expr::Number(0), IntType::INT), at)?;
                Ok(Value::Void)
            }
            Operation::TestAndSet => {
                let one = Value::Int(Expr::Number(1), IntType::INT);
                self.update(&part, at, true, |_, _| Ok(one))
            }
            Operation::Exchange => {
                let value = self.rvalue(&arguments[1])?;
                let value = self.settled(value, at)?;
                self.update(&part, at, true, |_, _| Ok(value))
            }
            Operation::Change(change, old) => {
                let operator = change.operator();
                let value = self.rvalue(&arguments[1])?;
                let value = self.settled(value, at)?;
                let change = |builder: &mut Self, current: Value| {
                    // The operation is in the type of the object, and what leaves that wraps around: C says so of these operations.
                    Ok(match builder.combine(&operator, current, value, at)? {
                        Value::Int(Expr::Checked(ty, sum), int) => {
                            Value::Int(Expr::Wrapping(ty, sum), int)
                        }
                        result => result,
                    })
                };
                self.update(&part, at, old, change)
            }
            Operation::Compare(weak) => {
                let value = self.rvalue(&arguments[1])?;
                let expected = self.pointed(value, at)?;
                let value = self.rvalue(&arguments[2])?;
                let value = self.settled(value, at)?;
                let new = self.convert(value, int, at)?;
                let weak = match weak {
                    Weak::Never => false,
                    Weak::Always => true,
                    Weak::Argument => !matches!(self.constant(&arguments[3]), Ok(0)),
                };
                self.compare_exchange(&part, &expected, new, (int, weak), at)
            }
            Operation::Swap { truth } => {
                let value = self.rvalue(&arguments[1])?;
                let value = self.settled(value, at)?;
                let old = self.convert(value, int, at)?;
                let value = self.rvalue(&arguments[2])?;
                let value = self.settled(value, at)?;
                let new = self.convert(value, int, at)?;
                self.swap(&part, old, new, truth, int, at)
            }
            Operation::Fence => Ok(Value::Void),
        }
    }

    fn orders(&mut self, name: &str, orders: &'a [Node<Expression>], at: At) -> Built<()> {
        for order in orders {
            self.effect(order)?;
        }
        for order in orders {
            if !matches!(self.constant(order), Ok(5)) {
                let message =
                    format!("the memory order of `{name}` is read as sequentially consistent");
                let help = "what weaker orders allow beyond that is not explored";
                self.note(at, message, help);
                break;
            }
        }
        Ok(())
    }

    /// A value whose shared parts have been read.
    fn settled(&mut self, value: Value, at: At) -> Built<Value> {
        let (expr, ty) = self.as_int(value, at)?;
        Ok(Value::Int(self.settle(expr, ty, at), ty))
    }

    fn compare_exchange(
        &mut self,
        part: &Part,
        expected: &Part,
        new: Expr,
        (int, weak): (IntType, bool),
        at: At,
    ) -> Built<Value> {
        let place = self.variable_of(part, at)?;
        let other = self.variable_of(expected, at)?;
        // What is expected is read before, and written after, the step; a variable of the process can be part of it.
        let own = !self.model.is_shared(other.var);
        let wanted = match own {
            true => Expr::Load(other.clone()),
            false => {
                let end = self.code.len();
                self.settle_at(end, Expr::Load(other.clone()), int, at)
            }
        };
        let result = self.temporary(VarKind::Truth, at);
        let found = match own {
            true => other.clone(),
            false => Place::of(self.temporary(VarKind::Int(int.plain()), at)),
        };
        let set = |place: &Place, value: Expr| {
            Statement::new(at, StatementKind::Assign(place.clone(), value))
        };
        let equal = Expr::compare(Compare::Eq, Expr::Load(place.clone()), wanted);
        let mut code = Vec::new();
        let equal = match weak {
            // The weak form may fail for no reason.
            true => {
                let lucky = self.temporary(VarKind::Truth, at);
                let kind = StatementKind::Havoc(Place::of(lucky));
                code.push(Statement { at, kind });
                Expr::And(Box::new(Expr::load(lucky)), Box::new(equal))
            }
            false => equal,
        };
        code.extend([
            set(&Place::of(result), equal),
            Statement::new(
                at,
                StatementKind::If(
                    Expr::load(result),
                    vec![set(&place, new)],
                    vec![set(&found, Expr::Load(place.clone()))],
                ),
            ),
        ]);
        self.step(code, at);
        if !own {
            let back = set(&other, Expr::Load(found));
            let failed = Expr::load(result).not();
            self.emit(at, StatementKind::If(failed, vec![back], Vec::new()));
        }
        Ok(Value::Truth(Expr::load(result)))
    }

    fn swap(
        &mut self,
        part: &Part,
        old: Expr,
        new: Expr,
        truth: bool,
        int: IntType,
        at: At,
    ) -> Built<Value> {
        let place = self.variable_of(part, at)?;
        let set = |place: &Place, value: Expr| {
            Statement::new(at, StatementKind::Assign(place.clone(), value))
        };
        if truth {
            let result = self.temporary(VarKind::Truth, at);
            let equal = Expr::compare(Compare::Eq, Expr::Load(place.clone()), old);
            let code = vec![
                set(&Place::of(result), equal),
                Statement::new(
                    at,
                    StatementKind::If(Expr::load(result), vec![set(&place, new)], Vec::new()),
                ),
            ];
            self.step(code, at);
            return Ok(Value::Truth(Expr::load(result)));
        }
        let before = self.temporary(VarKind::Int(int.plain()), at);
        let equal = Expr::compare(Compare::Eq, Expr::load(before), old);
        let code = vec![
            set(&Place::of(before), Expr::Load(place.clone())),
            Statement::new(
                at,
                StatementKind::If(equal, vec![set(&place, new)], Vec::new()),
            ),
        ];
        self.step(code, at);
        Ok(Value::Int(Expr::load(before), int.plain()))
    }
}
