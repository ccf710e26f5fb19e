//! And-gates and inverters, each gate once, and numbers made of them.
//!
//! A number is a word in two's complement, the least bit first; beyond its last bit it goes on with that
//! bit. Words are as wide as the values of their terms ask for, so no computation overflows.

use std::collections::HashMap;

/// A signal or its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Wire(u32);

impl Wire {
    pub(super) const FALSE: Wire = Wire(0);
    pub(super) const TRUE: Wire = Wire(1);

    /// The number of its signal.
    pub(super) fn signal(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for Wire {
    type Output = Wire;

    fn not(self) -> Wire {
        Wire(self.0 ^ 1)
    }
}

/// What drives a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    /// The constant false.
    False,
    /// An input or a latch.
    Free,
    And(Wire, Wire),
}

/// A number.
#[derive(Clone, Debug)]
pub(super) struct Word(Vec<Wire>);

impl Word {
    /// The word with these bits, the last of which is the sign.
    pub(super) fn new(bits: Vec<Wire>) -> Word {
        Word(bits)
    }

    pub(super) fn constant(value: i64) -> Word {
        Word(
            (0..width(value, value))
                .map(|bit| constant(value >> bit & 1 == 1))
                .collect(),
        )
    }

    /// 1 if the wire is true, otherwise 0.
    pub(super) fn truth(wire: Wire) -> Word {
        Word(vec![wire, Wire::FALSE])
    }

    pub(super) fn bit(&self, bit: usize) -> Wire {
        let last = self.0.last().copied().unwrap_or(Wire::FALSE);
        self.0.get(bit).copied().unwrap_or(last)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn sign(&self) -> Wire {
        self.bit(self.len())
    }
}

fn constant(value: bool) -> Wire {
    if value { Wire::TRUE } else { Wire::FALSE }
}

/// How many bits all numbers between two need, with the sign.
pub(super) fn width(lo: i64, hi: i64) -> usize {
    let bits = |value: i64| 64 - if value < 0 { !value } else { value }.leading_zeros();
    bits(lo).max(bits(hi)) as usize + 1
}

/// All gates. A gate comes after what it reads.
pub(super) struct Gates {
    drivers: Vec<Driver>,
    known: HashMap<(Wire, Wire), Wire>,
}

impl Gates {
    pub(super) fn new() -> Gates {
        Gates {
            drivers: vec![Driver::False],
            known: HashMap::new(),
        }
    }

    /// What drives each signal.
    pub(super) fn drivers(&self) -> &[Driver] {
        &self.drivers
    }

    fn signal(&mut self, driver: Driver) -> Wire {
        self.drivers.push(driver);
        Wire(2 * (self.drivers.len() as u32 - 1))
    }

    /// A new input or latch.
    pub(super) fn free(&mut self) -> Wire {
        self.signal(Driver::Free)
    }

    pub(super) fn and(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = (a.min(b), a.max(b));
        if a == Wire::FALSE || a == !b {
            return Wire::FALSE;
        }
        if a == Wire::TRUE || a == b {
            return b;
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return *known;
        }
        let gate = self.signal(Driver::And(a, b));
        self.known.insert((a, b), gate);
        gate
    }

    pub(super) fn or(&mut self, a: Wire, b: Wire) -> Wire {
        !self.and(!a, !b)
    }

    /// All of them, as a balanced tree.
    pub(super) fn all(&mut self, mut wires: Vec<Wire>) -> Wire {
        while wires.len() > 1 {
            let pairs = wires.chunks(2);
            wires = pairs
                .map(|pair| match *pair {
                    [a, b] => self.and(a, b),
                    _ => pair[0],
                })
                .collect();
        }
        wires.pop().unwrap_or(Wire::TRUE)
    }

    pub(super) fn any(&mut self, mut wires: Vec<Wire>) -> Wire {
        wires.iter_mut().for_each(|wire| *wire = !*wire);
        !self.all(wires)
    }

    pub(super) fn same(&mut self, a: Wire, b: Wire) -> Wire {
        let (both, neither) = (self.and(a, b), self.and(!a, !b));
        self.or(both, neither)
    }

    pub(super) fn choose(&mut self, condition: Wire, yes: Wire, no: Wire) -> Wire {
        if yes == no {
            return yes;
        }
        let (yes, no) = (self.and(condition, yes), self.and(!condition, no));
        self.or(yes, no)
    }

    pub(super) fn equal(&mut self, a: &Word, b: &Word) -> Wire {
        let bits = (0..a.len().max(b.len()))
            .map(|bit| self.same(a.bit(bit), b.bit(bit)))
            .collect();
        self.all(bits)
    }

    pub(super) fn less(&mut self, a: &Word, b: &Word) -> Wire {
        let mut less = Wire::FALSE;
        for bit in 0..a.len().max(b.len()) {
            let same = self.same(a.bit(bit), b.bit(bit));
            less = self.choose(same, less, b.bit(bit));
        }
        // A sign counts the other way round.
        let same = self.same(a.sign(), b.sign());
        self.choose(same, less, a.sign())
    }

    pub(super) fn choose_word(
        &mut self,
        condition: Wire,
        yes: &Word,
        no: &Word,
        width: usize,
    ) -> Word {
        Word(
            (0..width)
                .map(|bit| self.choose(condition, yes.bit(bit), no.bit(bit)))
                .collect(),
        )
    }

    pub(super) fn add(&mut self, a: &Word, b: &Word, width: usize) -> Word {
        self.sum(a, b, Wire::FALSE, width)
    }

    pub(super) fn subtract(&mut self, a: &Word, b: &Word, width: usize) -> Word {
        let complement = Word(b.0.iter().map(|&wire| !wire).collect());
        self.sum(a, &complement, Wire::TRUE, width)
    }

    fn sum(&mut self, a: &Word, b: &Word, mut carry: Wire, width: usize) -> Word {
        let mut bits = Vec::with_capacity(width);
        for bit in 0..width {
            let (x, y) = (a.bit(bit), b.bit(bit));
            let differ = !self.same(x, y);
            bits.push(!self.same(differ, carry));
            carry = self.choose(differ, carry, x);
        }
        Word(bits)
    }

    pub(super) fn multiply(&mut self, a: &Word, b: &Word, width: usize) -> Word {
        let mut product = Word::constant(0);
        for shift in 0..width {
            let mut row = vec![Wire::FALSE; shift];
            for bit in 0..width - shift {
                row.push(self.and(a.bit(bit), b.bit(shift)));
            }
            product = self.add(&product, &Word(row), width);
        }
        product
    }

    /// Quotient, rounded towards 0, and remainder, with the sign of the dividend.
    pub(super) fn divide(&mut self, a: &Word, b: &Word) -> (Word, Word) {
        // One more bit: the least number has no counterpart.
        let width = a.len().max(b.len()) + 1;
        let (dividend, divisor) = (self.magnitude(a, width), self.magnitude(b, width));
        let mut quotient = vec![Wire::FALSE; width];
        let mut rest = Word::constant(0);
        for bit in (0..width).rev() {
            let mut shifted = vec![dividend.bit(bit)];
            shifted.extend((0..width).map(|bit| rest.bit(bit)));
            let shifted = Word(shifted);
            let fits = !self.less(&shifted, &divisor);
            let less = self.subtract(&shifted, &divisor, width + 1);
            rest = self.choose_word(fits, &less, &shifted, width + 1);
            quotient[bit] = fits;
        }
        let negative = !self.same(a.sign(), b.sign());
        let quotient = self.negate_if(negative, &Word(quotient), width);
        (quotient, self.negate_if(a.sign(), &rest, width))
    }

    fn magnitude(&mut self, a: &Word, width: usize) -> Word {
        self.negate_if(a.sign(), a, width)
    }

    fn negate_if(&mut self, condition: Wire, a: &Word, width: usize) -> Word {
        let negated = self.subtract(&Word::constant(0), a, width);
        self.choose_word(condition, &negated, a, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that a word is, where the free signals have these values.
    fn read(gates: &Gates, word: &Word, free: &HashMap<usize, bool>) -> i64 {
        let mut values: Vec<bool> = Vec::new();
        for (signal, driver) in gates.drivers().iter().enumerate() {
            let value = |wire: Wire| values[wire.signal()] != wire.is_complement();
            let value = match *driver {
                Driver::False => false,
                Driver::Free => free[&signal],
                Driver::And(a, b) => value(a) && value(b),
            };
            values.push(value);
        }
        let value = |wire: Wire| values[wire.signal()] != wire.is_complement();
        let bits = word.0.iter().enumerate();
        let sum: i64 = bits.map(|(bit, &wire)| i64::from(value(wire)) << bit).sum();
        sum - (i64::from(value(word.sign())) << word.len())
    }

    #[test]
    fn computes_as_integers_do() {
        let mut gates = Gates::new();
        let a = Word((0..4).map(|_| gates.free()).collect());
        let b = Word((0..4).map(|_| gates.free()).collect());
        let results = [
            gates.add(&a, &b, 5),
            gates.subtract(&a, &b, 5),
            gates.multiply(&a, &b, 8),
            gates.divide(&a, &b).0,
            gates.divide(&a, &b).1,
            Word::truth(gates.less(&a, &b)),
            Word::truth(gates.equal(&a, &b)),
        ];
        let mut free = HashMap::new();
        for (x, y) in (-8i64..8).flat_map(|x| (-8i64..8).map(move |y| (x, y))) {
            for bit in 0..4 {
                free.insert(a.bit(bit).signal(), x >> bit & 1 == 1);
                free.insert(b.bit(bit).signal(), y >> bit & 1 == 1);
            }
            let by_zero = y == 0;
            let expected = [
                Some(x + y),
                Some(x - y),
                Some(x * y),
                (!by_zero).then(|| x / y),
                (!by_zero).then(|| x % y),
                Some(i64::from(x < y)),
                Some(i64::from(x == y)),
            ];
            for (at, (word, expected)) in results.iter().zip(expected).enumerate() {
                if let Some(expected) = expected {
                    assert_eq!(read(&gates, word, &free), expected, "{at}: {x} and {y}");
                }
            }
        }
    }

    #[test]
    fn words_are_wide_enough() {
        assert_eq!(
            [
                width(0, 0),
                width(0, 1),
                width(-1, 0),
                width(-2, 1),
                width(0, 4)
            ],
            [1, 2, 1, 2, 4]
        );
        for value in [-9, -8, -1, 0, 1, 7, 8] {
            assert_eq!(
                read(&Gates::new(), &Word::constant(value), &HashMap::new()),
                value
            );
        }
    }
}
