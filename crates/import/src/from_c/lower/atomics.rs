//! Atomic operations: those of C11, and gcc's builtins. All are sequentially consistent here; an order that is weaker draws a note.

use lang_c::ast::{BinaryOperator, Expression};
use lang_c::span::Node;

use super::super::ir::{Compare, Expr, Place, Statement, StatementKind, VarKind};
use super::super::source::{At, Built, unsupported};
use super::super::types::{IntType, Type};
use super::{Builder, Part, Value};

/// What an operation does.
#[derive(Clone, Debug)]
enum Operation {
    Load,
    Store,
    Exchange,
    /// The operator, and whether the result is the old value.
    Change(BinaryOperator, bool),
    /// Compare and exchange: through a pointer to what is expected.
    Compare,
    /// gcc's older form, which gives the old value, or whether it did something.
    Swap {
        truth: bool,
    },
    Init,
    Fence,
    TestAndSet,
    Clear,
}

fn operator(name: &str) -> Option<BinaryOperator> {
    Some(match name {
        "add" => BinaryOperator::Plus,
        "sub" => BinaryOperator::Minus,
        "or" => BinaryOperator::BitwiseOr,
        "and" => BinaryOperator::BitwiseAnd,
        "xor" => BinaryOperator::BitwiseXor,
        _ => return None,
    })
}

/// The operation of a name, and how many arguments come before the memory orders.
fn operation(name: &str) -> Option<(Operation, usize)> {
    let plain = name
        .strip_suffix("_explicit")
        .or_else(|| name.strip_suffix("_n"))
        .unwrap_or(name);
    if let Some(rest) = name.strip_prefix("__sync_") {
        if let Some(op) = rest.strip_prefix("fetch_and_") {
            return Some((Operation::Change(operator(op)?, true), 2));
        }
        if let Some(op) = rest.strip_suffix("_and_fetch") {
            return Some((Operation::Change(operator(op)?, false), 2));
        }
        return Some(match rest {
            "bool_compare_and_swap" => (Operation::Swap { truth: true }, 3),
            "val_compare_and_swap" => (Operation::Swap { truth: false }, 3),
            "lock_test_and_set" => (Operation::Exchange, 2),
            "lock_release" => (Operation::Clear, 1),
            "synchronize" => (Operation::Fence, 0),
            _ => return None,
        });
    }
    if let Some(rest) = plain.strip_prefix("__atomic_") {
        if let Some(op) = rest.strip_prefix("fetch_") {
            return Some((Operation::Change(operator(op)?, true), 2));
        }
        if let Some(op) = rest.strip_suffix("_fetch") {
            return Some((Operation::Change(operator(op)?, false), 2));
        }
        return Some(match rest {
            "load" if plain != name => (Operation::Load, 1),
            "store" if plain != name => (Operation::Store, 2),
            "exchange" if plain != name => (Operation::Exchange, 2),
            "compare_exchange" if plain != name => (Operation::Compare, 3),
            "test_and_set" => (Operation::TestAndSet, 1),
            "clear" => (Operation::Clear, 1),
            "thread_fence" | "signal_fence" => (Operation::Fence, 0),
            _ => return None,
        });
    }
    let rest = plain.strip_prefix("atomic_")?;
    if let Some(op) = rest.strip_prefix("fetch_") {
        return Some((Operation::Change(operator(op)?, true), 2));
    }
    Some(match rest {
        "load" => (Operation::Load, 1),
        "store" => (Operation::Store, 2),
        "exchange" => (Operation::Exchange, 2),
        "compare_exchange_strong" | "compare_exchange_weak" => (Operation::Compare, 3),
        "init" => (Operation::Init, 2),
        "thread_fence" | "signal_fence" => (Operation::Fence, 0),
        "flag_test_and_set" => (Operation::TestAndSet, 1),
        "flag_clear" => (Operation::Clear, 1),
        _ => return None,
    })
}

impl<'a> Builder<'a> {
    pub(super) fn atomic_call(
        &mut self,
        name: &str,
        arguments: &'a [Node<Expression>],
        at: At,
    ) -> Built<Option<Value>> {
        if self.functions.contains_key(name) {
            return Ok(None);
        }
        let Some((operation, count)) = operation(name) else {
            return Ok(None);
        };
        if arguments.len() < count {
            return unsupported(at, "an argument is missing", "give all arguments");
        }
        // `weak` of gcc's compare and exchange stands between them.
        let orders = match (&operation, name.starts_with("__atomic_")) {
            (Operation::Compare, true) => count + 1,
            _ => count,
        };
        self.orders(name, &arguments[orders.min(arguments.len())..], at);
        if let Operation::Fence = operation {
            return Ok(Some(Value::Void));
        }
        let pointer = self.rvalue(&arguments[0])?;
        let part = self.pointed(pointer, at)?;
        let Type::Int(int) = part.ty else {
            return unsupported(at, "an atomic operation on this", "they are for integers");
        };
        match operation {
            Operation::Load => {
                let value = self.load(part, at)?;
                Ok(Some(value))
            }
            Operation::Store | Operation::Init => {
                let value = self.rvalue(&arguments[1])?;
                self.store(&part, value, at)?;
                Ok(Some(Value::Void))
            }
            Operation::Clear => {
                self.store(&part, Value::Int(Expr::Number(0), IntType::INT), at)?;
                Ok(Some(Value::Void))
            }
            Operation::TestAndSet => {
                let one = Value::Int(Expr::Number(1), IntType::INT);
                self.update(&part, at, true, |_, _| Ok(one)).map(Some)
            }
            Operation::Exchange => {
                let value = self.rvalue(&arguments[1])?;
                let value = self.settled(value, at)?;
                self.update(&part, at, true, |_, _| Ok(value)).map(Some)
            }
            Operation::Change(operator, old) => {
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
                self.update(&part, at, old, change).map(Some)
            }
            Operation::Compare => {
                let value = self.rvalue(&arguments[1])?;
                let expected = self.pointed(value, at)?;
                let value = self.rvalue(&arguments[2])?;
                let value = self.settled(value, at)?;
                let new = self.convert(value, int, at)?;
                let weak = match name.starts_with("__atomic_") {
                    true => arguments
                        .get(3)
                        .is_some_and(|weak| !matches!(self.constant(weak), Ok(0))),
                    false => name.contains("weak"),
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
            Operation::Fence => Ok(Some(Value::Void)),
        }
    }

    fn orders(&mut self, name: &str, orders: &'a [Node<Expression>], at: At) {
        for order in orders {
            if !matches!(self.constant(order), Ok(5)) {
                let message =
                    format!("the memory order of `{name}` is read as sequentially consistent");
                let help = "what weaker orders allow beyond that is not explored";
                self.note(at, message, help);
                return;
            }
        }
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
    ) -> Built<Option<Value>> {
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
        let set = |place: &Place, value: Expr| Statement {
            at,
            kind: StatementKind::Assign(place.clone(), value),
        };
        let equal = Expr::compare(Compare::Equal, Expr::Load(place.clone()), wanted);
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
            Statement {
                at,
                kind: StatementKind::If(
                    Expr::load(result),
                    vec![set(&place, new)],
                    vec![set(&found, Expr::Load(place.clone()))],
                ),
            },
        ]);
        self.step(code, at);
        if !own {
            let back = set(&other, Expr::Load(found));
            let failed = Expr::load(result).not();
            self.emit(at, StatementKind::If(failed, vec![back], Vec::new()));
        }
        Ok(Some(Value::Truth(Expr::load(result))))
    }

    fn swap(
        &mut self,
        part: &Part,
        old: Expr,
        new: Expr,
        truth: bool,
        int: IntType,
        at: At,
    ) -> Built<Option<Value>> {
        let place = self.variable_of(part, at)?;
        let set = |place: &Place, value: Expr| Statement {
            at,
            kind: StatementKind::Assign(place.clone(), value),
        };
        if truth {
            let result = self.temporary(VarKind::Truth, at);
            let equal = Expr::compare(Compare::Equal, Expr::Load(place.clone()), old);
            let code = vec![
                set(&Place::of(result), equal),
                Statement {
                    at,
                    kind: StatementKind::If(Expr::load(result), vec![set(&place, new)], Vec::new()),
                },
            ];
            self.step(code, at);
            return Ok(Some(Value::Truth(Expr::load(result))));
        }
        let before = self.temporary(VarKind::Int(int.plain()), at);
        let equal = Expr::compare(Compare::Equal, Expr::load(before), old);
        let code = vec![
            set(&Place::of(before), Expr::Load(place.clone())),
            Statement {
                at,
                kind: StatementKind::If(equal, vec![set(&place, new)], Vec::new()),
            },
        ];
        self.step(code, at);
        Ok(Some(Value::Int(Expr::load(before), int.plain())))
    }
}
