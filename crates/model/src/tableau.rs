//! The automaton of a temporal formula, as bits with demands on the next state.
//!
//! The formula is brought into negation normal form. Each `X`, `U` and `R` in it has a bit, which promises something of the rest of the
//! run: of `X f` that `f` holds next, of `f U g` and `f R g` that they themselves hold next. Whether a formula holds now follows from the
//! state and the bits: `f U g` holds if `g` does, or `f` and the bit do. A bit that is set must be made true in the next state; one that is not
//! promises nothing. A promise of `f U g` must not be put off for ever, so that its bit is false infinitely often. A run satisfies
//! the formula exactly if there are bits along it that keep to this and with which the formula holds in the first state.
//!
//! After Clarke, Grumberg and Hamaguchi ("Another look at LTL model checking", CAV 1994), with promises instead of equivalences.

use crate::temporal::Formula;

/// A formula in negation normal form, as far as one state and the bits go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nnf<A> {
    /// A predicate, or its negation.
    Literal(A, bool),
    /// Conjunction; empty is true.
    And(Vec<Nnf<A>>),
    /// Disjunction; empty is false.
    Or(Vec<Nnf<A>>),
    /// The temporal formula with this bit.
    Temporal(usize),
}

/// A temporal formula in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator<A> {
    /// In the next state.
    Next(Nnf<A>),
    /// The second comes, and until then the first holds.
    Until(Nnf<A>, Nnf<A>),
    /// The second holds up to and including when the first comes, which it need not.
    Release(Nnf<A>, Nnf<A>),
}

/// The automaton of a formula.
#[derive(Clone, Debug)]
pub struct Tableau<A> {
    /// What must hold in the first state.
    pub root: Nnf<A>,
    /// The temporal formulas, by their bits: what one is made of comes before it.
    pub bits: Vec<Operator<A>>,
}

/// How to compute with truth values of some kind.
pub trait Truth<A> {
    /// A truth value, for all states at once perhaps.
    type Value: Clone;
    /// What goes wrong.
    type Error;
    /// A constant.
    fn constant(&mut self, value: bool) -> Result<Self::Value, Self::Error>;
    /// A predicate, or its negation.
    fn literal(&mut self, atom: &A, positive: bool) -> Result<Self::Value, Self::Error>;
    /// A bit.
    fn bit(&mut self, bit: usize) -> Result<Self::Value, Self::Error>;
    /// Conjunction.
    fn and(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// Disjunction.
    fn or(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;
}

impl<A: Clone + PartialEq> Tableau<A> {
    /// The automaton of a formula.
    pub fn new(formula: &Formula<A>) -> Self {
        Self::build(formula, true)
    }

    /// The automaton of the negation of a formula.
    pub fn of_negation(formula: &Formula<A>) -> Self {
        Self::build(formula, false)
    }

    fn build(formula: &Formula<A>, positive: bool) -> Self {
        let mut tableau = Tableau {
            root: Nnf::And(Vec::new()),
            bits: Vec::new(),
        };
        tableau.root = tableau.normal(formula, positive);
        tableau
    }

    fn normal(&mut self, formula: &Formula<A>, positive: bool) -> Nnf<A> {
        let mut all = |parts: &[Formula<A>]| -> Vec<Nnf<A>> {
            parts
                .iter()
                .map(|part| self.normal(part, positive))
                .collect()
        };
        match formula {
            Formula::Atom(atom) => Nnf::Literal(atom.clone(), positive),
            Formula::Not(f) => self.normal(f, !positive),
            Formula::And(parts) if positive => Nnf::And(all(parts)),
            Formula::And(parts) => Nnf::Or(all(parts)),
            Formula::Or(parts) if positive => Nnf::Or(all(parts)),
            Formula::Or(parts) => Nnf::And(all(parts)),
            Formula::Next(f) => {
                let f = self.normal(f, positive);
                self.temporal(Operator::Next(f))
            }
            Formula::Until(f, g) | Formula::Release(f, g) => {
                let until = matches!(formula, Formula::Until(..)) == positive;
                let f = self.normal(f, positive);
                let g = self.normal(g, positive);
                self.temporal(match until {
                    true => Operator::Until(f, g),
                    false => Operator::Release(f, g),
                })
            }
        }
    }

    /// The bit of a temporal formula; equal ones share it.
    fn temporal(&mut self, operator: Operator<A>) -> Nnf<A> {
        let known = self.bits.iter().position(|known| *known == operator);
        Nnf::Temporal(known.unwrap_or_else(|| {
            self.bits.push(operator);
            self.bits.len() - 1
        }))
    }

    /// The bits that must be false infinitely often.
    pub fn obligations(&self) -> Vec<usize> {
        let bits = self.bits.iter().enumerate();
        bits.filter(|(_, operator)| matches!(operator, Operator::Until(..)))
            .map(|(bit, _)| bit)
            .collect()
    }

    /// For each bit, whether its formula holds, in terms of the state and the bits.
    pub fn values<T: Truth<A>>(&self, truth: &mut T) -> Result<Vec<T::Value>, T::Error> {
        let mut values: Vec<T::Value> = Vec::with_capacity(self.bits.len());
        for (bit, operator) in self.bits.iter().enumerate() {
            let promise = truth.bit(bit)?;
            let value = match operator {
                Operator::Next(_) => promise,
                Operator::Until(f, g) => {
                    let (f, g) = (holds(f, &values, truth)?, holds(g, &values, truth)?);
                    let later = truth.and(&f, &promise)?;
                    truth.or(&g, &later)?
                }
                Operator::Release(f, g) => {
                    let (f, g) = (holds(f, &values, truth)?, holds(g, &values, truth)?);
                    let later = truth.or(&f, &promise)?;
                    truth.and(&g, &later)?
                }
            };
            values.push(value);
        }
        Ok(values)
    }

    /// Whether the formula holds, given the values of the temporal ones.
    pub fn start<T: Truth<A>>(
        &self,
        values: &[T::Value],
        truth: &mut T,
    ) -> Result<T::Value, T::Error> {
        holds(&self.root, values, truth)
    }

    /// For each bit, what must hold in the next state if it is set, given the values of the temporal formulas there.
    pub fn demands<T: Truth<A>>(
        &self,
        values: &[T::Value],
        truth: &mut T,
    ) -> Result<Vec<T::Value>, T::Error> {
        let bits = self.bits.iter().enumerate();
        bits.map(|(bit, operator)| match operator {
            Operator::Next(f) => holds(f, values, truth),
            Operator::Until(..) | Operator::Release(..) => Ok(values[bit].clone()),
        })
        .collect()
    }
}

fn holds<A, T: Truth<A>>(
    formula: &Nnf<A>,
    values: &[T::Value],
    truth: &mut T,
) -> Result<T::Value, T::Error> {
    match formula {
        Nnf::Literal(atom, positive) => truth.literal(atom, *positive),
        Nnf::Temporal(bit) => Ok(values[*bit].clone()),
        Nnf::And(parts) => {
            let mut all = truth.constant(true)?;
            for part in parts {
                let part = holds(part, values, truth)?;
                all = truth.and(&all, &part)?;
            }
            Ok(all)
        }
        Nnf::Or(parts) => {
            let mut any = truth.constant(false)?;
            for part in parts {
                let part = holds(part, values, truth)?;
                any = truth.or(&any, &part)?;
            }
            Ok(any)
        }
    }
}
