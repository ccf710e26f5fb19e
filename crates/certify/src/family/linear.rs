//! Sums of variables, on their way into inequalities.

use threadwise_evidence::arithmetic::{Atom, Formula, Overflow, Variable};

/// A sum of multiples of variables and a constant. A variable can be there more than once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    terms: Vec<(Variable, i64)>,
    constant: i64,
}

impl Linear {
    /// A number.
    pub(crate) fn number(constant: i64) -> Linear {
        Linear {
            terms: Vec::new(),
            constant,
        }
    }

    /// A variable.
    pub(crate) fn variable(variable: Variable) -> Linear {
        Linear {
            terms: vec![(variable, 1)],
            constant: 0,
        }
    }

    /// The multiples of variables. A variable can be there more than once.
    pub(crate) fn terms(&self) -> &[(Variable, i64)] {
        &self.terms
    }

    /// The constant.
    pub(crate) fn constant(&self) -> i64 {
        self.constant
    }

    /// Adds a multiple of another sum.
    pub(crate) fn add(&mut self, factor: i64, other: &Linear) -> Result<(), Overflow> {
        for (variable, coefficient) in &other.terms {
            let coefficient = coefficient.checked_mul(factor).ok_or(Overflow)?;
            self.terms.push((*variable, coefficient));
        }
        let more = other.constant.checked_mul(factor).ok_or(Overflow)?;
        self.constant = self.constant.checked_add(more).ok_or(Overflow)?;
        Ok(())
    }

    /// The sum with another one.
    pub(crate) fn plus(mut self, other: &Linear) -> Result<Linear, Overflow> {
        self.add(1, other)?;
        Ok(self)
    }

    /// The sum without another one.
    pub(crate) fn minus(mut self, other: &Linear) -> Result<Linear, Overflow> {
        self.add(-1, other)?;
        Ok(self)
    }

    /// The sum with a number.
    pub(crate) fn plus_number(self, number: i64) -> Result<Linear, Overflow> {
        self.plus(&Linear::number(number))
    }
}

/// That the first is at most the second.
pub(crate) fn at_most(a: &Linear, b: &Linear) -> Result<Formula, Overflow> {
    let sum = a.clone().minus(b)?;
    let atom = Atom::at_most_zero(sum.terms, sum.constant)?;
    Ok(match atom.constant_truth() {
        Some(truth) => Formula::constant(truth),
        None => Formula::Atom(atom),
    })
}

/// That the first is less than the second.
pub(crate) fn less(a: &Linear, b: &Linear) -> Result<Formula, Overflow> {
    at_most(&a.clone().plus_number(1)?, b)
}

/// That both are the same.
pub(crate) fn equal(a: &Linear, b: &Linear) -> Result<Formula, Overflow> {
    Ok(Formula::all([at_most(a, b)?, at_most(b, a)?]))
}

/// That they differ.
pub(crate) fn differ(a: &Linear, b: &Linear) -> Result<Formula, Overflow> {
    Ok(Formula::any([less(a, b)?, less(b, a)?]))
}

/// A formula with a sum in the place of each variable.
pub(crate) fn substitute<E: From<Overflow>>(
    formula: &Formula,
    value: &mut dyn FnMut(Variable) -> Result<Linear, E>,
) -> Result<Formula, E> {
    let mut each = |members: &[Formula]| -> Result<Vec<Formula>, E> {
        let each = members.iter().map(|member| substitute(member, value));
        each.collect()
    };
    Ok(match formula {
        Formula::And(members) => Formula::all(each(members)?),
        Formula::Or(members) => Formula::any(each(members)?),
        Formula::Atom(atom) => at_most(&of_atom(atom, value)?, &Linear::default())?,
    })
}

/// What an inequality says is at most 0, with a sum in the place of each variable.
pub(crate) fn of_atom<E: From<Overflow>>(
    atom: &Atom,
    value: &mut dyn FnMut(Variable) -> Result<Linear, E>,
) -> Result<Linear, E> {
    let mut sum = Linear::number(atom.constant);
    for (variable, coefficient) in &atom.terms {
        sum.add(*coefficient, &value(*variable)?)?;
    }
    Ok(sum)
}
