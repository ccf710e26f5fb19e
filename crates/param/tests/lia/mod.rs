//! The solver for linear integer arithmetic: against all values of small boxes, and against z3.
//!
//! Every proof is checked by a naive checker that is written from the rules alone, and every model is put into the formulas.

mod boxes;
mod exact;
mod generate;
mod interpolants;
mod proof;
mod z3;

use threadwise_evidence::arithmetic::{Atom, Formula};
use threadwise_param::lia::{Answer, Limits, Solver, Statistics};

/// The inequality that a sum is at most 0.
fn at_most(terms: &[(u32, i64)], constant: i64) -> Formula {
    Formula::Atom(Atom::at_most_zero(terms.iter().copied(), constant).expect("small numbers"))
}

/// A sum is 0.
fn equal(terms: &[(u32, i64)], constant: i64) -> Formula {
    let negated: Vec<(u32, i64)> = terms.iter().map(|(x, k)| (*x, -k)).collect();
    Formula::And(vec![at_most(terms, constant), at_most(&negated, -constant)])
}

/// Whether a formula holds for these values.
fn holds(formula: &Formula, value: &dyn Fn(u32) -> i64) -> bool {
    match formula {
        Formula::Atom(atom) => {
            let terms = atom.terms.iter();
            let sum: i128 = terms
                .map(|(x, k)| i128::from(*k) * i128::from(value(*x)))
                .sum();
            sum + i128::from(atom.constant) <= 0
        }
        Formula::And(members) => members.iter().all(|member| holds(member, value)),
        Formula::Or(members) => members.iter().any(|member| holds(member, value)),
    }
}

/// The answer for formulas, whose evidence is checked. The first `taken_in` formulas are taken in before.
fn solve(solver: &mut Solver, formulas: &[Formula], taken_in: usize) -> Answer {
    let (before, question) = formulas.split_at(taken_in);
    solver.push(before);
    let answer = solver.solve(question, &|| false);
    solver.pop();
    check(solver, formulas, &answer);
    answer
}

/// Checks the evidence of an answer to the question whether these formulas can hold together.
fn check(solver: &Solver, formulas: &[Formula], answer: &Answer) {
    match answer {
        Answer::Sat(model) => {
            for formula in formulas {
                let value = |variable| model.value(variable);
                assert!(holds(formula, &value), "{model:?} breaks {formula:?}");
            }
        }
        Answer::Unsat(proof) => {
            // The proof is one from the formulas that it says it rests on.
            let core = solver.core().iter();
            let core: Vec<Formula> = core
                .map(|number| formulas[*number as usize].clone())
                .collect();
            if let Err(mistake) = proof::check(&core, proof) {
                panic!("{mistake}\nformulas: {formulas:#?}\ncore: {core:#?}\nproof: {proof:#?}");
            }
        }
        Answer::Unknown(_) => {}
    }
}

/// What questions exercised.
#[derive(Debug, Default)]
struct Tally {
    questions: usize,
    sat: usize,
    unsat: usize,
    unknown: usize,
    split: usize,
    branched: usize,
    big: usize,
}

impl Tally {
    fn count(&mut self, answer: &Answer, before: &Statistics, after: &Statistics) {
        self.questions += 1;
        match answer {
            Answer::Sat(_) => self.sat += 1,
            Answer::Unsat(_) => self.unsat += 1,
            Answer::Unknown(_) => self.unknown += 1,
        }
        self.split += usize::from(after.splits > before.splits);
        self.branched += usize::from(after.branches > before.branches);
        self.big += usize::from(after.big > before.big);
    }

    /// Asserts that shares of the questions, in percent, are at least these.
    fn at_least(&self, shares: &[(&str, usize, usize)]) {
        println!("{self:?}");
        for (what, found, share) in shares {
            assert!(
                found * 100 >= share * self.questions,
                "{what}: {found} of {}, less than {share} %",
                self.questions
            );
        }
    }
}

/// A solver with the usual limits.
fn solver() -> Solver {
    Solver::new(Limits::default())
}
