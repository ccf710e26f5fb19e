//! A naive checker of proofs, from the rules of `threadwise_evidence::arithmetic` alone.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use std::collections::BTreeMap;
use threadwise_evidence::arithmetic::{Atom, Formula, Proof};

/// What is known in a case.
#[derive(Clone, Default)]
struct Known {
    atoms: Vec<Atom>,
    disjunctions: Vec<Vec<Formula>>,
    contradiction: bool,
}

impl Known {
    fn knows(&self, atom: &Atom) -> bool {
        match atom.constant_truth() {
            Some(truth) => truth,
            None => (self.atoms.iter())
                .any(|known| known.terms == atom.terms && known.constant >= atom.constant),
        }
    }

    fn refutes(&self, formula: &Formula) -> bool {
        match formula {
            Formula::Atom(atom) => self.knows(&atom.negation().expect("fits")),
            Formula::And(members) => members.iter().any(|member| self.refutes(member)),
            Formula::Or(members) => members.iter().all(|member| self.refutes(member)),
        }
    }

    /// Whether it was new.
    fn add(&mut self, formula: &Formula) -> bool {
        self.contradiction |= self.refutes(formula);
        match formula {
            Formula::Atom(atom) if self.knows(atom) => false,
            Formula::Atom(atom) => {
                self.atoms.push(atom.clone());
                true
            }
            Formula::And(members) => {
                let mut new = false;
                for member in members {
                    new |= self.add(member);
                }
                new
            }
            Formula::Or(members) if self.disjunctions.contains(members) => false,
            Formula::Or(members) => {
                self.disjunctions.push(members.clone());
                true
            }
        }
    }

    fn close(&mut self) {
        let mut again = true;
        while again && !self.contradiction {
            again = false;
            for members in self.disjunctions.clone() {
                let open: Vec<&Formula> = (members.iter())
                    .filter(|member| !self.refutes(member))
                    .collect();
                match open[..] {
                    [] => self.contradiction = true,
                    [only] => again |= self.add(only),
                    _ => {}
                }
            }
        }
    }
}

/// Whether it is a proof that the formulas contradict each other, or why it is none.
pub fn check(formulas: &[Formula], proof: &Proof) -> Result<(), String> {
    let mut known = Known::default();
    for formula in formulas {
        known.add(formula);
    }
    case(known, proof)
}

fn case(mut known: Known, proof: &Proof) -> Result<(), String> {
    known.close();
    if known.contradiction {
        return Ok(());
    }
    match proof {
        Proof::Obvious => Err("nothing is obvious".into()),
        Proof::Sum(summands) => {
            let mut sum: BTreeMap<u32, BigInt> = BTreeMap::new();
            let mut constant = BigInt::zero();
            for (atom, factor) in summands {
                if !known.knows(atom) {
                    return Err(format!("not known: {atom:?}"));
                }
                let factor: BigInt = factor.parse().map_err(|_| "no number".to_owned())?;
                if !factor.is_positive() {
                    return Err("a factor is not positive".into());
                }
                for (variable, coefficient) in &atom.terms {
                    *sum.entry(*variable).or_default() += &factor * coefficient;
                }
                constant += factor * atom.constant;
            }
            if sum.values().any(|coefficient| !coefficient.is_zero()) {
                return Err(format!("variables are left: {sum:?}"));
            }
            match constant.is_positive() {
                true => Ok(()),
                false => Err(format!("{constant} is at most 0")),
            }
        }
        Proof::Split { on, holds, fails } => {
            let mut first = known.clone();
            first.add(&Formula::Atom(on.clone()));
            case(first, holds)?;
            known.add(&Formula::Atom(on.negation().map_err(|e| e.to_string())?));
            case(known, fails)
        }
    }
}

/// How many nodes a proof has.
pub fn size(proof: &Proof) -> usize {
    match proof {
        Proof::Obvious | Proof::Sum(_) => 1,
        Proof::Split { holds, fails, .. } => 1 + size(holds) + size(fails),
    }
}
