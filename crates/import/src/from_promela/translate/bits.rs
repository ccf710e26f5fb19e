//! Operators on bits, as arithmetic.

use super::build::*;
use super::ir::*;
use super::ranges::{Interval, all_ones};
use super::terms::Terms;
use crate::from_promela::syntax::{At, Binary};
use threadwise_lang::program::ArithOp;

/// Parts of the operands of what is written once for each bit.
const MAX_OPERANDS: usize = 250;
/// Parts of what is written once for each run of ones in a constant.
const MAX_MASKED: usize = 500;

impl Terms<'_> {
    /// Operators on bits, of numbers that are not negative.
    pub(super) fn bits(
        &self,
        op: Binary,
        (a, ia): (&Term, Interval),
        (b, ib): (&Term, Interval),
        constant: Option<i64>,
        at: At,
    ) -> Result<Term> {
        let small = size(a) + size(b) < MAX_OPERANDS;
        let by_power = |n: i64| match op {
            Binary::ShiftLeft => times(a.clone(), int(1 << n)),
            _ => over(a.clone(), 1 << n),
        };
        let shifts = matches!(op, Binary::ShiftLeft | Binary::ShiftRight) && ia.0 >= 0;
        if let (true, Some(n @ 0..=30)) = (shifts, constant) {
            return Ok(by_power(n));
        }
        if shifts && ib.0 >= 0 && ib.1 <= 15 && small {
            let part = |n| times(self.counted(is_number(b.clone(), n)), by_power(n));
            return Ok(sum((ib.0..=ib.1).map(part).collect()));
        }
        if let (Some(mask), true) = (constant, ia.0 >= 0)
            && let Some(term) = masked(op, a, ia.1, mask)
        {
            return Ok(term);
        }
        // What is not negative has no bits beyond its own, so those of the other side do not matter.
        let lowest = |term: &Term, most: i64| {
            let modulus = all_ones(most) + 1;
            let rest = modulo(term.clone(), modulus);
            (modulo(plus(rest, int(modulus)), modulus), (0, modulus - 1))
        };
        if op == Binary::BitAnd && ia.0 < 0 && ib.0 >= 0 {
            let (term, values) = lowest(a, ib.1);
            return self.bits(op, (&term, values), (b, ib), constant, at);
        }
        if op == Binary::BitAnd && ia.0 >= 0 && ib.0 < 0 {
            let (term, values) = lowest(b, ia.1);
            return self.bits(op, (a, ia), (&term, values), None, at);
        }
        // Only bits of the constant change, whatever the sign.
        if let (Binary::BitOr | Binary::BitXor, Some(mask @ 0..)) = (op, constant)
            && ia.0 < 0
        {
            let (rest, values) = lowest(a, mask);
            if let Some(set) = masked(Binary::BitAnd, &rest, values.1, mask) {
                let all = plus(a.clone(), int(mask));
                return Ok(minus(all, once_or_twice(op, set)));
            }
        }
        let most = match op {
            Binary::BitAnd => ia.1.min(ib.1),
            _ => ia.1.max(ib.1),
        };
        if matches!(op, Binary::BitAnd | Binary::BitOr | Binary::BitXor)
            && ia.0 >= 0
            && ib.0 >= 0
            && most < 65536
            && small
        {
            return Ok(bit_by_bit(op, a, b, most));
        }
        refuse(
            at,
            "an operator on bits of numbers that may be negative or large",
            "use `byte` or `unsigned` variables, or arithmetic",
        )
    }
}

/// What changes a bit to the other one where it is set, takes away twice as much as what clears it.
fn once_or_twice(op: Binary, part: Term) -> Term {
    match op {
        Binary::BitXor => times(part, int(2)),
        _ => part,
    }
}

/// An operator on numbers between 0 and `most`, bit by bit.
fn bit_by_bit(op: Binary, a: &Term, b: &Term, most: i64) -> Term {
    let mut parts = Vec::new();
    let mut bit = 1i64;
    while bit <= most {
        let of = |t: &Term| modulo(over(t.clone(), bit), 2);
        let (x, y) = (of(a), of(b));
        let part = match op {
            Binary::BitAnd => times(x, y),
            Binary::BitOr => x.arith(ArithOp::Max, y),
            _ => modulo(plus(x, y), 2),
        };
        parts.push(if bit == 1 {
            part
        } else {
            times(part, int(bit))
        });
        bit *= 2;
    }
    sum(parts)
}

/// An operator on bits with a constant, of a number between 0 and `most`: what is added or taken away for each run of ones in the constant.
fn masked(op: Binary, a: &Term, most: i64, mask: i64) -> Option<Term> {
    let ones = all_ones(most);
    let runs = runs(if op == Binary::BitAnd {
        mask & ones
    } else {
        mask
    })?;
    if size(a) * (runs.len() + 1) > MAX_MASKED {
        return None;
    }
    // The bits of a run, where the number has them.
    let part = |(low, high): (i64, i64)| {
        let a = a.clone();
        match (low, ones < high) {
            _ if ones < low => None,
            (1, true) => Some(a),
            (1, false) => Some(modulo(a, high)),
            (_, true) => Some(times(over(a, low), int(low))),
            (_, false) => Some(times(modulo(over(a, low), high / low), int(low))),
        }
    };
    match op {
        Binary::BitAnd => {
            let parts: Vec<Term> = runs.into_iter().filter_map(part).collect();
            // If nothing is left, the number has to be evaluated all the same.
            Some(match parts.is_empty() {
                true => modulo(a.clone(), 1),
                false => sum(parts),
            })
        }
        Binary::BitOr | Binary::BitXor => {
            let mut term = a.clone();
            for run in runs {
                term = plus(term, int(run.1 - run.0));
                if let Some(part) = part(run) {
                    term = minus(term, once_or_twice(op, part));
                }
            }
            Some(term)
        }
        _ => None,
    }
}

/// The runs of ones in a number's bits: the first bit of each, and the first behind it. Nothing if it is negative.
fn runs(number: i64) -> Option<Vec<(i64, i64)>> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    for at in 0..32 {
        let bit = 1i64 << at;
        if number & bit == 0 {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.1 == bit => last.1 = bit * 2,
            _ => found.push((bit, bit * 2)),
        }
    }
    (number >= 0).then_some(found)
}
