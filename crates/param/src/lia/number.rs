//! Exact fractions: two 64-bit numbers as long as they suffice, big ones where they do not.
//!
//! Almost every number in the tableaus that proofs about programs need is a small integer. Sums and products of small fractions are computed in 128 bits, where they cannot
//! overflow, and brought to lowest terms; what then does not fit into 64 bits becomes a big fraction, and a big fraction that fits becomes small again. So a number has
//! one representation only, and no operation is inexact.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

/// A fraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rational {
    /// Numerator and denominator in lowest terms; the denominator is positive.
    Small(i64, i64),
    /// One that does not fit.
    Big(Box<BigRational>),
}

/// The greatest common divisor; of 0 and a number, that number.
pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(mut small), Ok(mut other)) = (u64::try_from(a), u64::try_from(b)) {
            // The same, several times as fast.
            while other != 0 {
                (small, other) = (other, small % other);
            }
            return u128::from(small);
        }
        (a, b) = (b, a % b);
    }
    a
}

impl Rational {
    pub(super) const ZERO: Rational = Rational::Small(0, 1);
    pub(super) const ONE: Rational = Rational::Small(1, 1);

    /// Of a numerator and a positive denominator.
    fn reduced(numerator: i128, denominator: i128) -> Rational {
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs()).max(1);
        // The divisor divides a positive `i128`, so it is one.
        let divisor = i128::try_from(divisor).unwrap_or(1);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        match (i64::try_from(numerator), i64::try_from(denominator)) {
            (Ok(numerator), Ok(denominator)) => Rational::Small(numerator, denominator),
            _ => Rational::Big(Box::new(BigRational::new_raw(
                numerator.into(),
                denominator.into(),
            ))),
        }
    }

    fn from_big(number: BigRational) -> Rational {
        match (number.numer().to_i64(), number.denom().to_i64()) {
            (Some(numerator), Some(denominator)) => Rational::Small(numerator, denominator),
            _ => Rational::Big(Box::new(number)),
        }
    }

    fn big(&self) -> BigRational {
        match self {
            Rational::Small(numerator, denominator) => {
                BigRational::new_raw((*numerator).into(), (*denominator).into())
            }
            Rational::Big(number) => (**number).clone(),
        }
    }

    /// Whether 64 bits do not suffice for it.
    pub(super) fn is_big(&self) -> bool {
        matches!(self, Rational::Big(_))
    }

    /// The numerator in lowest terms.
    pub(super) fn numerator(&self) -> BigInt {
        match self {
            Rational::Small(numerator, _) => (*numerator).into(),
            Rational::Big(number) => number.numer().clone(),
        }
    }

    /// The denominator in lowest terms, which is positive.
    pub(super) fn denominator(&self) -> BigInt {
        match self {
            Rational::Small(_, denominator) => (*denominator).into(),
            Rational::Big(number) => number.denom().clone(),
        }
    }

    /// How it compares to 0.
    pub(super) fn sign(&self) -> Ordering {
        match self {
            Rational::Small(numerator, _) => numerator.cmp(&0),
            Rational::Big(number) if number.is_negative() => Ordering::Less,
            Rational::Big(_) => Ordering::Greater,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Rational::Small(0, _))
    }

    pub(super) fn is_integer(&self) -> bool {
        match self {
            Rational::Small(_, denominator) => *denominator == 1,
            Rational::Big(number) => number.is_integer(),
        }
    }

    /// The greatest integer that is not above it, if 64 bits suffice.
    pub(super) fn floor(&self) -> Option<i64> {
        match self {
            Rational::Small(numerator, denominator) => Some(numerator.div_euclid(*denominator)),
            Rational::Big(number) => number.floor().to_integer().to_i64(),
        }
    }

    /// How it compares to an integer.
    pub(super) fn compare(&self, integer: i64) -> Ordering {
        match self {
            Rational::Small(numerator, denominator) => {
                i128::from(*numerator).cmp(&(i128::from(integer) * i128::from(*denominator)))
            }
            Rational::Big(number) => {
                (**number).cmp(&BigRational::from_integer(BigInt::from(integer)))
            }
        }
    }

    pub(super) fn negated(&self) -> Rational {
        self.times(&Rational::Small(-1, 1))
    }

    pub(super) fn absolute(&self) -> Rational {
        match self.sign() {
            Ordering::Less => self.negated(),
            _ => self.clone(),
        }
    }

    /// One divided by it; it is not 0.
    pub(super) fn inverse(&self) -> Rational {
        match self {
            Rational::Small(numerator, denominator) => {
                let sign = i128::from(numerator.signum());
                let numerator = i128::from(*numerator) * sign;
                Rational::reduced(i128::from(*denominator) * sign, numerator)
            }
            Rational::Big(number) => Rational::from_big(number.recip()),
        }
    }

    pub(super) fn plus(&self, other: &Rational) -> Rational {
        match (self, other) {
            (Rational::Small(a, 1), Rational::Small(b, 1)) => {
                Rational::integer(i128::from(*a) + i128::from(*b))
            }
            (Rational::Small(a, b), Rational::Small(c, d)) => {
                let (a, b, c, d) = (*a, *b, *c, *d);
                let [a, b, c, d] = [a, b, c, d].map(i128::from);
                // Each product is below 2^126 in absolute value, or equal to it.
                Rational::reduced(a * d + c * b, b * d)
            }
            _ => Rational::from_big(self.big() + other.big()),
        }
    }

    pub(super) fn minus(&self, other: &Rational) -> Rational {
        self.plus(&other.negated())
    }

    pub(super) fn times(&self, other: &Rational) -> Rational {
        match (self, other) {
            (Rational::Small(a, 1), Rational::Small(b, 1)) => {
                Rational::integer(i128::from(*a) * i128::from(*b))
            }
            (Rational::Small(a, b), Rational::Small(c, d)) => Rational::reduced(
                i128::from(*a) * i128::from(*c),
                i128::from(*b) * i128::from(*d),
            ),
            _ => Rational::from_big(self.big() * other.big()),
        }
    }

    fn integer(number: i128) -> Rational {
        match i64::try_from(number) {
            Ok(number) => Rational::Small(number, 1),
            Err(_) => Rational::Big(Box::new(BigRational::from_integer(number.into()))),
        }
    }
}

impl From<i64> for Rational {
    fn from(number: i64) -> Rational {
        Rational::Small(number, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_traits::Zero;

    /// Every operation, on numbers around the limits of 64 bits, gives what big fractions give.
    #[test]
    fn operations_agree_with_big_fractions() {
        let mut numbers = Vec::new();
        let parts = [
            0,
            1,
            2,
            3,
            7,
            1 << 31,
            (1 << 62) + 1,
            i64::MAX,
            i64::MAX - 1,
        ];
        for numerator in parts.iter().chain(&[i64::MIN]) {
            for denominator in &parts[1..] {
                for sign in [1, -1] {
                    let numerator = i128::from(*numerator) * sign;
                    numbers.push(Rational::reduced(numerator, i128::from(*denominator)));
                }
            }
        }
        numbers.push(numbers[numbers.len() - 1].times(&numbers[numbers.len() - 2]));
        numbers.push(Rational::from(i64::MAX).plus(&Rational::ONE));
        let (mut big, mut small) = (0, 0);
        for a in &numbers {
            for b in &numbers {
                for (mine, theirs) in [
                    (a.plus(b), a.big() + b.big()),
                    (a.minus(b), a.big() - b.big()),
                    (a.times(b), a.big() * b.big()),
                ] {
                    assert_eq!(mine.big(), theirs);
                    assert_eq!(
                        mine,
                        Rational::from_big(theirs.clone()),
                        "one representation"
                    );
                    assert_eq!(mine.sign(), theirs.cmp(&BigRational::zero()));
                    assert_eq!(mine.floor(), theirs.floor().to_integer().to_i64());
                    if mine.is_big() {
                        big += 1;
                    } else {
                        small += 1;
                    }
                }
            }
            if !a.is_zero() {
                assert_eq!(a.inverse().times(a), Rational::ONE);
            }
            for integer in [0, 1, -1, i64::MAX, i64::MIN] {
                let theirs = BigRational::from_integer(integer.into());
                assert_eq!(a.compare(integer), a.big().cmp(&theirs));
            }
        }
        assert!(big > 1000 && small > 1000, "{big} big, {small} small");
    }
}
