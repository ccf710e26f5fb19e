//! Linear arithmetic over the integers, as plain data: inequalities, formulas over them, and proofs that formulas contradict each other.
//!
//! A [`Proof`] is checked by adding up inequalities; whoever checks one needs no solver. It is about a list of formulas that all hold. An
//! inequality is *known* if it is one of the formulas, a member of a known conjunction, the only member of a known
//! disjunction that is not refuted, what the case that the proof is in says, or if it follows from a known one with the same terms (`x <= 3` from `x <= 2`). An
//! inequality is refuted if its [negation](Atom::negation) is known, a conjunction if one member is, a disjunction if all are. If a known formula is refuted, there is
//! nothing left to prove.
//!
//! The terms of inequalities have no common divisor: `2x + 1 <= 0` and `x + 1 <= 0` say the same of integers and are the same [`Atom`].

use serde::{Deserialize, Serialize};

/// A variable, by its position in a table that goes with the formulas.
pub type Variable = u32;

/// An inequality: the sum of `terms` and `constant` is at most 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atom {
    /// Variables with their coefficients: sorted, no variable twice, no coefficient 0, no common divisor.
    pub terms: Vec<(Variable, i64)>,
    /// The constant.
    pub constant: i64,
}

/// A number does not fit into 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number in an inequality does not fit into 64 bits")]
pub struct Overflow;

impl Atom {
    /// The inequality that a sum is at most 0, in the form that the fields' descriptions ask for.
    pub fn at_most_zero(
        terms: impl IntoIterator<Item = (Variable, i64)>,
        constant: i64,
    ) -> Result<Atom, Overflow> {
        let mut terms: Vec<(Variable, i64)> = terms.into_iter().collect();
        terms.sort_unstable_by_key(|(variable, _)| *variable);
        let mut sum: Vec<(Variable, i64)> = Vec::with_capacity(terms.len());
        for (variable, coefficient) in terms {
            match sum.last_mut() {
                Some((last, total)) if *last == variable => {
                    *total = total.checked_add(coefficient).ok_or(Overflow)?;
                }
                _ => sum.push((variable, coefficient)),
            }
        }
        sum.retain(|(_, coefficient)| *coefficient != 0);
        let divisor = sum.iter().fold(0, |divisor, (_, coefficient)| {
            gcd(divisor, coefficient.unsigned_abs())
        });
        let mut constant = constant;
        if divisor > 1 {
            let divisor = i64::try_from(divisor).map_err(|_| Overflow)?;
            for (_, coefficient) in &mut sum {
                *coefficient /= divisor;
            }
            // The sum of the terms is at most `-constant`, and a multiple of the divisor.
            constant = constant.div_euclid(divisor) + i64::from(constant.rem_euclid(divisor) != 0);
        }
        Ok(Atom {
            terms: sum,
            constant,
        })
    }

    /// Whether it has the form that [`at_most_zero`](Atom::at_most_zero) gives, as an inequality from elsewhere must.
    pub fn is_normal(&self) -> bool {
        Atom::at_most_zero(self.terms.iter().copied(), self.constant).as_ref() == Ok(self)
    }

    /// Whether it holds, of an inequality without variables.
    pub fn constant_truth(&self) -> Option<bool> {
        self.terms.is_empty().then_some(self.constant <= 0)
    }

    /// The inequality that holds just if this one does not.
    pub fn negation(&self) -> Result<Atom, Overflow> {
        let negated = self.terms.iter().map(|(variable, coefficient)| {
            let coefficient = coefficient.checked_neg().ok_or(Overflow)?;
            Ok((*variable, coefficient))
        });
        Ok(Atom {
            terms: negated.collect::<Result<_, Overflow>>()?,
            constant: 1_i64.checked_sub(self.constant).ok_or(Overflow)?,
        })
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A formula over inequalities, without negation: of an inequality it is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// An inequality.
    Atom(Atom),
    /// All of these hold; without any, it is true.
    And(Vec<Formula>),
    /// One of these holds; without any, it is false.
    Or(Vec<Formula>),
}

impl Formula {
    /// True, or false.
    pub fn constant(truth: bool) -> Formula {
        match truth {
            true => Formula::And(Vec::new()),
            false => Formula::Or(Vec::new()),
        }
    }

    /// Whether it is true, or false, whatever the variables are.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Formula::Atom(atom) => atom.constant_truth(),
            Formula::And(members) if members.is_empty() => Some(true),
            Formula::Or(members) if members.is_empty() => Some(false),
            _ => None,
        }
    }

    /// All of these hold. Conjunctions in it are taken apart, and what is constant is left out.
    pub fn all(members: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for member in members {
            match member.truth() {
                Some(true) => {}
                Some(false) => return Formula::constant(false),
                None => match member {
                    Formula::And(inner) => flat.extend(inner),
                    other => flat.push(other),
                },
            }
        }
        match flat.len() {
            1 => flat.remove(0),
            _ => Formula::And(flat),
        }
    }

    /// One of these holds. Disjunctions in it are taken apart, and what is constant is left out.
    pub fn any(members: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for member in members {
            match member.truth() {
                Some(false) => {}
                Some(true) => return Formula::constant(true),
                None => match member {
                    Formula::Or(inner) => flat.extend(inner),
                    other => flat.push(other),
                },
            }
        }
        match flat.len() {
            1 => flat.remove(0),
            _ => Formula::Or(flat),
        }
    }

    /// The formula that holds just if this one does not.
    pub fn negation(&self) -> Result<Formula, Overflow> {
        let each = |members: &[Formula]| -> Result<Vec<Formula>, Overflow> {
            members.iter().map(Formula::negation).collect()
        };
        Ok(match self {
            Formula::Atom(atom) => Formula::Atom(atom.negation()?),
            Formula::And(members) => Formula::any(each(members)?),
            Formula::Or(members) => Formula::all(each(members)?),
        })
    }
}

/// A proof that formulas contradict each other. It is written as a list, each distinction of cases followed by both proofs: texts that are nested deeply cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Line>", into = "Vec<Line>")]
pub enum Proof {
    /// A known formula is refuted.
    #[default]
    Obvious,
    /// These known inequalities, each so many times, add up to one without variables that is false. Each factor is a positive whole number in decimal notation.
    Sum(Vec<(Atom, String)>),
    /// Either an inequality holds or its negation does; there is a proof for either case.
    Split {
        /// The inequality.
        on: Atom,
        /// The proof if it holds.
        holds: Box<Proof>,
        /// The proof if it does not.
        fails: Box<Proof>,
    },
}

/// How deep cases of a proof that is read may be nested.
const MAX_DEPTH: usize = 1_000;

/// A part of a proof that is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Obvious,
    Sum(Vec<(Atom, String)>),
    /// The proof if it holds follows, then the one if it does not.
    Split(Atom),
}

/// Why a list is no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NoProof {
    #[error("a proof lacks a case")]
    Short,
    #[error("a proof goes on after its end")]
    Long,
    #[error("a proof has cases within cases, more than {MAX_DEPTH}")]
    Deep,
}

impl From<Proof> for Vec<Line> {
    fn from(proof: Proof) -> Vec<Line> {
        let (mut lines, mut open) = (Vec::new(), vec![proof]);
        while let Some(proof) = open.pop() {
            lines.push(match proof {
                Proof::Obvious => Line::Obvious,
                Proof::Sum(summands) => Line::Sum(summands),
                Proof::Split { on, holds, fails } => {
                    open.extend([*fails, *holds]);
                    Line::Split(on)
                }
            });
        }
        lines
    }
}

impl TryFrom<Vec<Line>> for Proof {
    type Error = NoProof;

    fn try_from(lines: Vec<Line>) -> Result<Proof, NoProof> {
        // From the end: then both proofs of a distinction are there when it comes. Each has its depth with it.
        let mut proofs: Vec<(Proof, usize)> = Vec::new();
        for line in lines.into_iter().rev() {
            let proof = match line {
                Line::Obvious => (Proof::Obvious, 0),
                Line::Sum(summands) => (Proof::Sum(summands), 0),
                Line::Split(on) => {
                    let (Some((holds, first)), Some((fails, second))) =
                        (proofs.pop(), proofs.pop())
                    else {
                        return Err(NoProof::Short);
                    };
                    let depth = first.max(second) + 1;
                    if depth > MAX_DEPTH {
                        return Err(NoProof::Deep);
                    }
                    let proof = Proof::Split {
                        on,
                        holds: Box::new(holds),
                        fails: Box::new(fails),
                    };
                    (proof, depth)
                }
            };
            proofs.push(proof);
        }
        match (proofs.pop(), proofs.is_empty()) {
            (Some((proof, _)), true) => Ok(proof),
            (Some(_), false) => Err(NoProof::Long),
            (None, _) => Err(NoProof::Short),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(of: Variable, holds: Proof, fails: Proof) -> Proof {
        Proof::Split {
            on: Atom::at_most_zero([(of, 1)], 0).unwrap(),
            holds: Box::new(holds),
            fails: Box::new(fails),
        }
    }

    #[test]
    fn proofs_are_written_as_lists() {
        let sum = Proof::Sum(vec![(Atom::at_most_zero([], 1).unwrap(), "2".to_owned())]);
        let proof = case(0, case(1, Proof::Obvious, sum), Proof::Obvious);
        let text = serde_json::to_string(&proof).unwrap();
        let expected = r#"[{"split":{"terms":[[0,1]],"constant":0}},{"split":{"terms":[[1,1]],"constant":0}},"obvious",{"sum":[[{"terms":[],"constant":1},"2"]]},"obvious"]"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Proof>(&text).unwrap(), proof);
        let error = |text: &str| serde_json::from_str::<Proof>(text).unwrap_err().to_string();
        assert!(error("[]").contains("lacks a case"));
        assert!(error(r#"[{"split":{"terms":[],"constant":0}},"obvious"]"#).contains("lacks"));
        assert!(error(r#"["obvious","obvious"]"#).contains("after its end"));
    }

    #[test]
    fn proofs_may_be_deep_and_no_deeper() {
        let nested = |depth| (0..depth).fold(Proof::Obvious, |p, at| case(at, p, Proof::Obvious));
        let deep = nested(1_000);
        let text = serde_json::to_string(&deep).unwrap();
        assert_eq!(serde_json::from_str::<Proof>(&text).unwrap(), deep);
        let text = serde_json::to_string(&nested(1_001)).unwrap();
        assert!(serde_json::from_str::<Proof>(&text).is_err());
    }
}
