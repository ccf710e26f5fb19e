//! Uses the intervals: takes out conversions and checks that change nothing, writes operations on bits as arithmetic, and gives variables ranges.

use std::collections::{HashMap, HashSet};

use threadwise_lang::diagnostics::Code as MessageCode;

use super::interval::{Analysis, Interval, address, left_to_grow};
use super::ir::{
    Arith, Bits, Code, Compare, Expr, LabelId, Model, Place, Statement, StatementKind, VarId,
    VarKind,
};
use super::source::{At, Built, unsupported};
use super::types::IntType;
use crate::Remark;
use crate::front::remarks::remark;

/// Finishes a model. Notes say which checks are left out.
pub(crate) fn conclude(model: &mut Model, notes: &mut Vec<Remark>) -> Built<HashSet<LabelId>> {
    let (ranges, recorded, entered, grows) = match Analysis::found(model) {
        Some((analysis, recorded)) => {
            let ranges: Vec<Interval> = (0..model.variables.len())
                .map(|id| analysis.values(VarId(id)))
                .collect();
            let (entered, grows) = (analysis.entered(), analysis.grows());
            (Some(ranges), recorded, entered, grows)
        }
        None => (None, HashMap::new(), HashSet::new(), false),
    };
    let mut conclusion = Conclusion {
        recorded,
        unbounded: model.is_unbounded(),
        grows,
        in_step: false,
        notes: Vec::new(),
    };
    let mut bodies = Vec::new();
    for process in &model.processes {
        bodies.push(conclusion.code(&process.body)?);
    }
    for (process, body) in model.processes.iter_mut().zip(bodies) {
        process.body = body;
    }
    if let Some(ranges) = ranges {
        for (variable, range) in model.variables.iter_mut().zip(ranges) {
            let small = i128::from(i64::MIN) < range.lo && range.hi < i128::from(i64::MAX);
            if let (VarKind::Int(_), true) = (variable.kind, small) {
                variable.range = Some((range.lo, range.hi));
            }
        }
    }
    // What nothing leads to is still written out, and must fit.
    let mut constants = Vec::new();
    for process in &model.processes {
        super::ir::for_statements(&process.body, &mut |statement| {
            if let StatementKind::Assign(place, Expr::Number(number)) = &statement.kind {
                constants.push((place.var, *number));
            }
        });
    }
    for (var, number) in constants {
        if let Some((lo, hi)) = &mut model.variables[var.0].range {
            (*lo, *hi) = ((*lo).min(number), (*hi).max(number));
        }
    }
    conclusion.notes.sort_by_key(|at| (at.file, at.start));
    conclusion.notes.dedup();
    for at in conclusion.notes {
        let message =
            "whether this leaves its type is not checked: there may be any number of threads";
        let help = "integers are mathematical here; with few threads nothing is left out";
        notes.push(*remark(at, MessageCode::LeftOut, message, help));
    }
    Ok(entered)
}

struct Conclusion {
    recorded: HashMap<usize, Interval>,
    unbounded: bool,
    grows: bool,
    in_step: bool,
    /// Where checks are left out.
    notes: Vec<At>,
}

impl Conclusion {
    fn code(&mut self, code: &Code) -> Built<Code> {
        let mut output = Vec::with_capacity(code.len());
        for statement in code {
            let at = statement.at;
            let kind = match &statement.kind {
                StatementKind::Assign(place, value) => {
                    StatementKind::Assign(self.place(place, at)?, self.expr(value, at)?)
                }
                StatementKind::Havoc(place) => StatementKind::Havoc(self.place(place, at)?),
                StatementKind::Assert(value, meaning) => {
                    StatementKind::Assert(self.expr(value, at)?, meaning)
                }
                StatementKind::Await(value) => StatementKind::Await(self.expr(value, at)?),
                // In a step there are no labels, so what is never chosen can go.
                StatementKind::If(condition, yes, no) if self.in_step => {
                    match self.decided(condition) {
                        Some(true) => output.extend(self.code(yes)?),
                        Some(false) => output.extend(self.code(no)?),
                        None => {
                            let condition = self.expr(condition, at)?;
                            let kind =
                                StatementKind::If(condition, self.code(yes)?, self.code(no)?);
                            output.push(Statement { at, kind });
                        }
                    }
                    continue;
                }
                StatementKind::If(condition, yes, no) => {
                    StatementKind::If(self.expr(condition, at)?, self.code(yes)?, self.code(no)?)
                }
                StatementKind::Loop {
                    head,
                    condition,
                    body,
                } => StatementKind::Loop {
                    head: *head,
                    condition: match condition {
                        Some(condition) => Some(self.expr(condition, at)?),
                        None => None,
                    },
                    body: self.code(body)?,
                },
                StatementKind::Atomic(inner) => {
                    let outer = std::mem::replace(&mut self.in_step, true);
                    let inner = self.code(inner);
                    self.in_step = outer;
                    StatementKind::Atomic(inner?)
                }
                StatementKind::Choose(blocks) => {
                    let mut inner = Vec::new();
                    for block in blocks {
                        inner.push(self.code(block)?);
                    }
                    StatementKind::Choose(inner)
                }
                StatementKind::Lock(place) => StatementKind::Lock(self.place(place, at)?),
                StatementKind::Unlock(place) => StatementKind::Unlock(self.place(place, at)?),
                other => other.clone(),
            };
            output.push(Statement { at, kind });
        }
        Ok(output)
    }

    fn place(&mut self, place: &Place, at: At) -> Built<Place> {
        let mut indices = Vec::new();
        for index in &place.indices {
            indices.push(self.expr(index, at)?);
        }
        Ok(Place {
            var: place.var,
            indices,
        })
    }

    fn known(&self, expr: &Expr) -> Interval {
        match expr {
            Expr::Number(number) => Interval {
                lo: *number,
                hi: *number,
            },
            _ => self
                .recorded
                .get(&address(expr))
                .copied()
                .unwrap_or(Interval::ALL),
        }
    }

    /// Whether a variable is always below a number, or never.
    fn decided(&self, condition: &Expr) -> Option<bool> {
        let Expr::Compare(Compare::Lt, left, right) = condition else {
            return None;
        };
        let (Expr::Load(_), Expr::Number(bound)) = (&**left, &**right) else {
            return None;
        };
        let known = self.recorded.get(&address(left))?;
        match (known.hi < *bound, known.lo >= *bound) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    fn expr(&mut self, expr: &Expr, at: At) -> Built<Expr> {
        Ok(match expr {
            Expr::Number(_) | Expr::Truth(_) | Expr::Own | Expr::Parameter(_) => expr.clone(),
            Expr::Load(place) => Expr::Load(self.place(place, at)?),
            Expr::Locked(place) => Expr::Locked(self.place(place, at)?),
            Expr::Not(inner) => self.expr(inner, at)?.not(),
            Expr::Arith(op, left, right) => {
                Expr::arith(*op, self.expr(left, at)?, self.expr(right, at)?)
            }
            Expr::Compare(op, left, right) => {
                Expr::compare(*op, self.expr(left, at)?, self.expr(right, at)?)
            }
            Expr::And(left, right) => self.expr(left, at)?.and(self.expr(right, at)?),
            Expr::Or(left, right) => self.expr(left, at)?.or(self.expr(right, at)?),
            Expr::Checked(ty, inner) => {
                let known = self.known(inner);
                let inner = self.expr(inner, at)?;
                match known.fits(*ty) || ty.bits >= 64 {
                    true => inner,
                    false if self.unbounded => {
                        self.notes.push(at);
                        inner
                    }
                    false => Expr::Checked(*ty, Box::new(inner)),
                }
            }
            Expr::Wrapping(ty, inner) if self.unbounded => {
                if !self.known(inner).fits(*ty) {
                    self.notes.push(at);
                }
                self.expr(inner, at)?
            }
            Expr::Wrapping(ty, inner) | Expr::Fit(ty, inner) => {
                let known = self.known(inner);
                let inner = self.expr(inner, at)?;
                self.fit(*ty, known, inner, at)?
            }
            Expr::Bits(op, ty, left, right) => {
                let (a, b) = (self.known(left), self.known(right));
                let (left, right) = (self.expr(left, at)?, self.expr(right, at)?);
                bits(*op, *ty, (left, a), (right, b), at)?
            }
        })
    }

    fn fit(&mut self, ty: IntType, known: Interval, inner: Expr, at: At) -> Built<Expr> {
        if known.fits(ty) {
            return Ok(inner);
        }
        if ty.bits >= 64 {
            if ty.signed || known.lo >= 0 {
                // What does not fit 64 bits has no verdict, which is never wrong.
                return Ok(inner);
            }
            let help = "use a type of 32 bits, or make sure that it is not negative";
            return unsupported(
                at,
                "a value of 64 bits without a sign that may wrap around",
                help,
            );
        }
        if left_to_grow(self.grows, ty, known) {
            self.notes.push(at);
            return Ok(inner);
        }
        Ok(wrapping(ty, known, inner))
    }
}

/// A value modulo the width of a type.
fn wrapping(ty: IntType, known: Interval, inner: Expr) -> Expr {
    let size = 1i128 << ty.bits;
    let number = Expr::Number;
    // Shifted so that the type's values begin at 0.
    let shift = -ty.least();
    let moved = Expr::arith(Arith::Add, inner, number(shift));
    let least = known.lo + shift;
    let rest = if least >= 0 {
        Expr::arith(Arith::Rem, moved, number(size))
    } else if least >= -size {
        let moved = Expr::arith(Arith::Add, moved, number(size));
        Expr::arith(Arith::Rem, moved, number(size))
    } else {
        let rest = Expr::arith(Arith::Rem, moved, number(size));
        let rest = Expr::arith(Arith::Add, rest, number(size));
        Expr::arith(Arith::Rem, rest, number(size))
    };
    Expr::arith(Arith::Sub, rest, number(shift))
}

/// An operation on bits as arithmetic.
fn bits(
    op: Bits,
    ty: IntType,
    left: (Expr, Interval),
    right: (Expr, Interval),
    at: At,
) -> Built<Expr> {
    let number = Expr::Number;
    if let (Bits::Shift, Expr::Number(by)) = (op, &right.0) {
        let size = 1i128 << *by;
        if left.1.lo >= 0 {
            return Ok(Expr::arith(Arith::Div, left.0, number(size)));
        }
        // Rounded down: what is left over is taken away first.
        let rest = Expr::arith(Arith::Rem, left.0.clone(), number(size));
        let rest = Expr::arith(Arith::Add, rest, number(size));
        let rest = Expr::arith(Arith::Rem, rest, number(size));
        let even = Expr::arith(Arith::Sub, left.0, rest);
        return Ok(Expr::arith(Arith::Div, even, number(size)));
    }
    let is_bit = |interval: Interval| interval.lo >= 0 && interval.hi <= 1;
    if is_bit(left.1) && is_bit(right.1) {
        return Ok(match op {
            Bits::And => Expr::arith(Arith::Min, left.0, right.0),
            Bits::Or => Expr::arith(Arith::Max, left.0, right.0),
            _ => {
                let sum = Expr::arith(Arith::Add, left.0, right.0);
                Expr::arith(Arith::Rem, sum, number(2))
            }
        });
    }
    // `x & 7` is a remainder.
    for ((value, known), (mask, _)) in [(&left, &right), (&right, &left)] {
        if let (Bits::And, Expr::Number(mask)) = (op, mask)
            && *mask > 0
            && (mask & (mask + 1)) == 0
            && known.lo >= 0
        {
            return Ok(Expr::arith(Arith::Rem, value.clone(), number(mask + 1)));
        }
    }
    let natural = |(value, known): (Expr, Interval)| match known.lo >= 0 {
        true => (value, known.hi),
        false => {
            let unsigned = IntType::new(ty.bits, false);
            (wrapping(unsigned, known, value), unsigned.greatest())
        }
    };
    let signed = ty.signed && (left.1.lo < 0 || right.1.lo < 0);
    let ((left, most_left), (right, most_right)) = (natural(left), natural(right));
    let most = match op {
        Bits::And => most_left.min(most_right),
        _ => most_left.max(most_right),
    };
    if most >= 1 << 32 {
        let help = "use types of at most 32 bits, or numbers that are known to be small";
        return unsupported(at, "an operation on the bits of large numbers", help);
    }
    let mut sum = number(0);
    let mut bit = 1i128;
    while bit <= most {
        let one = |value: &Expr| {
            let shifted = Expr::arith(Arith::Div, value.clone(), number(bit));
            Expr::arith(Arith::Rem, shifted, number(2))
        };
        let joined = match op {
            Bits::And => Expr::arith(Arith::Min, one(&left), one(&right)),
            Bits::Or => Expr::arith(Arith::Max, one(&left), one(&right)),
            _ => Expr::arith(
                Arith::Rem,
                Expr::arith(Arith::Add, one(&left), one(&right)),
                number(2),
            ),
        };
        sum = Expr::arith(
            Arith::Add,
            sum,
            Expr::arith(Arith::Mul, joined, number(bit)),
        );
        bit *= 2;
    }
    if signed {
        let known = Interval {
            lo: 0,
            hi: IntType::new(ty.bits, false).greatest(),
        };
        sum = wrapping(ty, known, sum);
    }
    Ok(sum)
}

/// The check that a value is one of a type.
pub(crate) fn in_type(ty: IntType, value: Expr) -> Expr {
    let above = Expr::compare(Compare::Le, Expr::Number(ty.least()), value.clone());
    above.and(Expr::compare(
        Compare::Le,
        value,
        Expr::Number(ty.greatest()),
    ))
}
