//! Formulas of linear arithmetic as SMT-LIB, for solvers that are not ours.

use std::fmt;

use threadwise_evidence::arithmetic::{Atom, Formula, Variable};

/// A formula as an SMT-LIB term of sort `Bool`; `name` says what its variables, of sort `Int`, are called.
pub struct SmtLib<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// The name of a variable, as it is to be written.
    pub name: &'a dyn Fn(Variable) -> String,
}

impl fmt::Display for SmtLib<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, members) = match self.formula {
            Formula::Atom(atom) => return self.atom(atom, f),
            Formula::And(members) if members.is_empty() => return f.write_str("true"),
            Formula::Or(members) if members.is_empty() => return f.write_str("false"),
            Formula::And(members) => ("and", members),
            Formula::Or(members) => ("or", members),
        };
        write!(f, "({word}")?;
        for formula in members {
            write!(f, " {}", SmtLib { formula, ..*self })?;
        }
        f.write_str(")")
    }
}

impl SmtLib<'_> {
    fn atom(&self, atom: &Atom, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = sum(&atom.terms, 0, self.name);
        write!(f, "(<= {terms} {})", number(-i128::from(atom.constant)))
    }
}

/// A linear sum as an SMT-LIB term of sort `Int`.
pub fn sum(terms: &[(Variable, i64)], constant: i64, name: &dyn Fn(Variable) -> String) -> String {
    let mut parts: Vec<String> = terms
        .iter()
        .map(|(variable, factor)| match factor {
            1 => name(*variable),
            _ => format!("(* {} {})", number(i128::from(*factor)), name(*variable)),
        })
        .collect();
    if constant != 0 || parts.is_empty() {
        parts.push(number(i128::from(constant)));
    }
    match parts.as_slice() {
        [one] => one.clone(),
        several => format!("(+ {})", several.join(" ")),
    }
}

/// A number: SMT-LIB has no negative ones, so they are written as negations.
fn number(number: i128) -> String {
    match number < 0 {
        true => format!("(- {})", number.unsigned_abs()),
        false => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_terms() {
        let name = |variable: Variable| format!("x{variable}");
        let atom = |terms: &[(Variable, i64)], constant| {
            Formula::Atom(Atom::at_most_zero(terms.iter().copied(), constant).unwrap())
        };
        let formula = Formula::any([
            atom(&[(0, 1), (1, -2)], -3),
            Formula::all([atom(&[(1, 1)], 4), atom(&[(0, -1)], 0)]),
        ]);
        let text = |formula: &Formula| {
            let name = &name;
            SmtLib { formula, name }.to_string()
        };
        assert_eq!(
            text(&formula),
            "(or (<= (+ x0 (* (- 2) x1)) 3) (and (<= x1 (- 4)) (<= (* (- 1) x0) 0)))"
        );
        assert_eq!(text(&Formula::constant(false)), "false");
        assert_eq!(sum(&[], i64::MIN, &name), "(- 9223372036854775808)");
    }
}
