//! Proofs that formulas contradict each other, checked by looking things up and adding up.
//!
//! What is known of the left-hand side of an inequality, up to its sign, is an interval. A formula that is known gives intervals, and disjunctions; of a
//! disjunction, the one member that is not refuted is known. Everything is undone in the reverse order, so the hypotheses
//! that many conditions share are taken in once, and each goal and each case of a proof on top of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use threadwise_evidence::arithmetic::{Atom, Formula, Proof, Variable};

/// What is wrong with a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It says that there is an obvious contradiction, and there is none.
    NotObvious,
    /// It adds up an inequality that is not known.
    NotKnown(Atom),
    /// An inequality does not have the form that it must have.
    NotNormal(Atom),
    /// A factor is not a positive whole number, or too large.
    Factor(String),
    /// The sum is no contradiction.
    Sum,
    /// A number grows too large.
    TooLarge,
}

/// The position of a left-hand side.
type Form = usize;

/// An inequality: a left-hand side is at most, or at least, a number.
#[derive(Clone, Copy, Debug)]
struct Bound {
    form: Form,
    upper: bool,
    number: i128,
}

/// A formula, with inequalities as bounds.
#[derive(Clone, Debug)]
enum Node {
    Bound(Bound),
    All(Rc<[Node]>),
    One(Rc<[Node]>),
}

/// A disjunction that is known.
#[derive(Debug)]
struct Clause {
    members: Rc<[Node]>,
    /// Members that were not refuted when it was last looked at: they are looked at first.
    open: [usize; 2],
    /// Whether its last member that is not refuted has been made use of.
    spent: bool,
}

/// Something to undo.
#[derive(Debug)]
enum Change {
    Interval(Form, bool, Option<i128>),
    Clause,
    Spent(usize),
    Conflict,
}

/// What is known of formulas that all hold.
#[derive(Debug, Default)]
pub(crate) struct Known {
    forms: HashMap<Vec<(Variable, i64)>, Form>,
    /// For each form, what it is at least and at most.
    intervals: Vec<[Option<i128>; 2]>,
    clauses: Vec<Clause>,
    /// For each form, the clauses that it is in.
    occurrences: Vec<Vec<usize>>,
    conflict: bool,
    trail: Vec<Change>,
    levels: Vec<usize>,
    /// Forms whose intervals have shrunk.
    pending: Vec<Form>,
    /// How many clauses were looked at.
    pub(crate) visits: u64,
}

impl Known {
    /// Begins something that can be undone.
    pub(crate) fn push(&mut self) {
        self.levels.push(self.trail.len());
    }

    /// Undoes everything since the last `push` that has not been undone.
    pub(crate) fn pop(&mut self) {
        let to = self.levels.pop().unwrap_or_default();
        self.pending.clear();
        for change in self.trail.drain(to..).rev() {
            match change {
                Change::Interval(form, upper, before) => {
                    self.intervals[form][usize::from(upper)] = before;
                }
                Change::Clause => {
                    if let Some(clause) = self.clauses.pop() {
                        for member in clause.members.iter() {
                            forget(member, &mut self.occurrences);
                        }
                    }
                }
                Change::Spent(clause) => self.clauses[clause].spent = false,
                Change::Conflict => self.conflict = false,
            }
        }
    }

    /// Takes in formulas, and what follows from them.
    pub(crate) fn assume<'f>(&mut self, formulas: impl IntoIterator<Item = &'f Formula>) {
        for formula in formulas {
            let node = self.compile(formula);
            self.learn(&node);
        }
        self.propagate();
    }

    /// Checks a proof that what is known is contradictory.
    pub(crate) fn check(&mut self, proof: &Proof) -> Result<(), Flaw> {
        enum Task<'p> {
            Prove(&'p Proof),
            Enter(Atom),
            Leave,
        }
        let depth = self.levels.len();
        let mut tasks = vec![Task::Prove(proof)];
        let mut result = Ok(());
        while let (Some(task), true) = (tasks.pop(), result.is_ok()) {
            match task {
                Task::Enter(atom) => {
                    self.push();
                    self.assume([&Formula::Atom(atom)]);
                }
                Task::Leave => self.pop(),
                Task::Prove(_) if self.conflict => {}
                Task::Prove(Proof::Obvious) => result = Err(Flaw::NotObvious),
                Task::Prove(Proof::Sum(summands)) => result = self.sum(summands),
                Task::Prove(Proof::Split { on, holds, fails }) => {
                    if !on.is_normal() {
                        result = Err(Flaw::NotNormal(on.clone()));
                        continue;
                    }
                    let Ok(not) = on.negation() else {
                        result = Err(Flaw::TooLarge);
                        continue;
                    };
                    tasks.extend([
                        Task::Leave,
                        Task::Prove(fails),
                        Task::Enter(not),
                        Task::Leave,
                        Task::Prove(holds),
                        Task::Enter(on.clone()),
                    ]);
                }
            }
        }
        while self.levels.len() > depth {
            self.pop();
        }
        result
    }

    fn sum(&self, summands: &[(Atom, String)]) -> Result<(), Flaw> {
        let mut terms: BTreeMap<Variable, i128> = BTreeMap::new();
        let mut constant: i128 = 0;
        for (atom, factor) in summands {
            if !atom.is_normal() {
                return Err(Flaw::NotNormal(atom.clone()));
            }
            if !self.is_known(atom) {
                return Err(Flaw::NotKnown(atom.clone()));
            }
            let digits = factor.bytes().all(|byte| byte.is_ascii_digit());
            let factor = match factor.parse::<i128>() {
                Ok(number) if digits && !factor.starts_with('0') => number,
                _ => return Err(Flaw::Factor(factor.clone())),
            };
            let add = |sum: i128, number: i64| {
                let more = factor.checked_mul(i128::from(number));
                more.and_then(|more| sum.checked_add(more))
                    .ok_or(Flaw::TooLarge)
            };
            for (variable, coefficient) in &atom.terms {
                let total = terms.entry(*variable).or_default();
                *total = add(*total, *coefficient)?;
            }
            constant = add(constant, atom.constant)?;
        }
        match terms.values().all(|total| *total == 0) && constant > 0 {
            true => Ok(()),
            false => Err(Flaw::Sum),
        }
    }

    fn is_known(&self, atom: &Atom) -> bool {
        if let Some(truth) = atom.constant_truth() {
            return truth;
        }
        let Some((terms, upper, number)) = split(atom) else {
            return false;
        };
        let Some(form) = self.forms.get(terms.as_ref()) else {
            return false;
        };
        let known = self.intervals[*form][usize::from(upper)];
        known.is_some_and(|known| match upper {
            true => known <= number,
            false => known >= number,
        })
    }

    fn compile(&mut self, formula: &Formula) -> Node {
        match formula {
            Formula::Atom(atom) => {
                let constant = |truth| match truth {
                    true => Node::All(Rc::new([])),
                    false => Node::One(Rc::new([])),
                };
                if let Some(truth) = atom.constant_truth() {
                    return constant(truth);
                }
                // An inequality whose other side cannot be written down says nothing here.
                let Some((terms, upper, number)) = split(atom) else {
                    return constant(true);
                };
                let form = match self.forms.get(terms.as_ref()) {
                    Some(form) => *form,
                    None => {
                        let form = self.intervals.len();
                        self.forms.insert(terms.into_owned(), form);
                        self.intervals.push([None; 2]);
                        self.occurrences.push(Vec::new());
                        form
                    }
                };
                Node::Bound(Bound {
                    form,
                    upper,
                    number,
                })
            }
            Formula::And(members) => Node::All(members.iter().map(|m| self.compile(m)).collect()),
            Formula::Or(members) => Node::One(members.iter().map(|m| self.compile(m)).collect()),
        }
    }

    /// Takes in one formula.
    fn learn(&mut self, node: &Node) {
        if self.conflict {
            return;
        }
        match node {
            Node::Bound(bound) => self.shrink(*bound),
            Node::All(members) => members.iter().for_each(|member| self.learn(member)),
            Node::One(members) => {
                let clause = self.clauses.len();
                for member in members.iter() {
                    remember(member, clause, &mut self.occurrences);
                }
                self.clauses.push(Clause {
                    members: Rc::clone(members),
                    open: [0, 1],
                    spent: false,
                });
                self.trail.push(Change::Clause);
                self.look_at(clause);
            }
        }
    }

    fn shrink(&mut self, bound: Bound) {
        let Bound {
            form,
            upper,
            number,
        } = bound;
        let [least, greatest] = self.intervals[form];
        let before = if upper { greatest } else { least };
        let stronger = before.is_none_or(|before| match upper {
            true => number < before,
            false => number > before,
        });
        if !stronger {
            return;
        }
        self.trail.push(Change::Interval(form, upper, before));
        self.intervals[form][usize::from(upper)] = Some(number);
        self.pending.push(form);
        let [least, greatest] = self.intervals[form];
        if let (Some(least), Some(greatest)) = (least, greatest)
            && least > greatest
        {
            self.contradicted();
        }
    }

    fn contradicted(&mut self) {
        if !self.conflict {
            self.conflict = true;
            self.trail.push(Change::Conflict);
        }
    }

    fn propagate(&mut self) {
        while let Some(form) = self.pending.pop() {
            // The clauses that come to be on the way have been looked at already.
            for position in 0..self.occurrences[form].len() {
                if self.conflict {
                    self.pending.clear();
                    return;
                }
                self.look_at(self.occurrences[form][position]);
            }
        }
    }

    /// If all members of a clause but one are refuted, takes that one in.
    fn look_at(&mut self, clause: usize) {
        self.visits += 1;
        let Clause {
            members,
            open,
            spent,
        } = &self.clauses[clause];
        if *spent {
            return;
        }
        let is_open = |at: &usize| members.get(*at).is_some_and(|m| !self.is_refuted(m));
        if open.iter().all(is_open) {
            return;
        }
        let mut still = (0..members.len()).filter(is_open);
        match (still.next(), still.next()) {
            (Some(first), Some(second)) => self.clauses[clause].open = [first, second],
            (Some(only), None) => {
                let members = Rc::clone(members);
                self.clauses[clause].spent = true;
                self.trail.push(Change::Spent(clause));
                self.learn(&members[only]);
            }
            (None, _) => self.contradicted(),
        }
    }

    fn is_refuted(&self, node: &Node) -> bool {
        match node {
            Node::Bound(bound) => {
                let [least, greatest] = self.intervals[bound.form];
                match bound.upper {
                    true => least.is_some_and(|least| least > bound.number),
                    false => greatest.is_some_and(|greatest| greatest < bound.number),
                }
            }
            Node::All(members) => members.iter().any(|member| self.is_refuted(member)),
            Node::One(members) => members.iter().all(|member| self.is_refuted(member)),
        }
    }
}

/// A left-hand side.
type Terms<'a> = Cow<'a, [(Variable, i64)]>;

/// The left-hand side of an inequality with a first coefficient that is positive, whether it is at most or at least a number, and the number.
fn split(atom: &Atom) -> Option<(Terms<'_>, bool, i128)> {
    let upper = atom.terms.first().is_some_and(|(_, first)| *first > 0);
    let constant = i128::from(atom.constant);
    if upper {
        return Some((Cow::Borrowed(&atom.terms), true, -constant));
    }
    let negated = atom.terms.iter();
    let negated =
        negated.map(|(variable, coefficient)| Some((*variable, coefficient.checked_neg()?)));
    Some((Cow::Owned(negated.collect::<Option<_>>()?), false, constant))
}

fn remember(node: &Node, clause: usize, occurrences: &mut [Vec<usize>]) {
    match node {
        Node::Bound(bound) => occurrences[bound.form].push(clause),
        Node::All(members) | Node::One(members) => {
            for member in members.iter() {
                remember(member, clause, occurrences);
            }
        }
    }
}

/// The reverse of `remember`, for the clause that was remembered last.
fn forget(node: &Node, occurrences: &mut [Vec<usize>]) {
    match node {
        Node::Bound(bound) => {
            occurrences[bound.form].pop();
        }
        Node::All(members) | Node::One(members) => {
            for member in members.iter() {
                forget(member, occurrences);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(terms: &[(Variable, i64)], constant: i64) -> Atom {
        Atom::at_most_zero(terms.iter().copied(), constant).unwrap()
    }

    fn says(terms: &[(Variable, i64)], constant: i64) -> Formula {
        Formula::Atom(atom(terms, constant))
    }

    fn known(formulas: &[Formula]) -> Known {
        let mut known = Known::default();
        known.assume(formulas);
        known
    }

    #[test]
    fn units_are_propagated_and_undone() {
        // x <= 2; x >= 3 or (y >= 1 and (z >= 1 or y <= 0)).
        let mut known = known(&[
            says(&[(0, 1)], -2),
            Formula::Or(vec![
                says(&[(0, -1)], 3),
                Formula::And(vec![
                    says(&[(1, -1)], 1),
                    Formula::Or(vec![says(&[(2, -1)], 1), says(&[(1, 1)], 0)]),
                ]),
            ]),
        ]);
        assert!(known.is_known(&atom(&[(2, -1)], 1)));
        assert!(known.is_known(&atom(&[(2, -1)], 0)));
        assert!(!known.is_known(&atom(&[(2, -1)], 2)));
        assert_eq!(known.check(&Proof::Obvious), Err(Flaw::NotObvious));
        for _ in 0..2 {
            known.push();
            known.assume([&says(&[(2, 1)], 0)]);
            assert_eq!(known.check(&Proof::Obvious), Ok(()));
            known.pop();
            assert_eq!(known.check(&Proof::Obvious), Err(Flaw::NotObvious));
        }
    }

    #[test]
    fn of_several_members_that_are_left_none_is_known() {
        // One of x, y and z is at most 0.
        let members = [0, 1, 2].map(|variable| says(&[(variable, 1)], 0));
        let mut known = known(&[Formula::Or(members.to_vec())]);
        known.assume([&says(&[(0, -1)], 1)]);
        assert!(
            [1, 2]
                .iter()
                .all(|left| !known.is_known(&atom(&[(*left, 1)], 0)))
        );
        known.assume([&says(&[(1, -1)], 1)]);
        assert!(known.is_known(&atom(&[(2, 1)], 0)));
    }

    #[test]
    fn what_a_case_says_is_forgotten_after_it() {
        let mut known = known(&[Formula::Or(vec![
            says(&[(0, 1)], 1),
            Formula::Or(vec![says(&[(0, -1)], 1), says(&[(1, 1)], 0)]),
        ])]);
        let split = |holds, fails| Proof::Split {
            on: atom(&[(0, 1)], 0),
            holds: Box::new(holds),
            fails: Box::new(fails),
        };
        let x_negative = Proof::Sum(vec![(atom(&[(0, 1)], 1), "1".to_owned())]);
        let proof = split(Proof::Obvious, x_negative.clone());
        assert_eq!(known.check(&proof), Err(Flaw::NotObvious));
        known.assume([&says(&[(1, -1)], 1)]);
        known.assume([&says(&[(0, -1)], 0)]);
        // Of x >= 0 and y >= 1 only x >= 1 is left.
        assert_eq!(
            known.check(&split(Proof::Obvious, Proof::Obvious)),
            Err(Flaw::NotObvious)
        );
        known.assume([&says(&[(0, 1)], 0)]);
        assert_eq!(known.check(&Proof::Obvious), Ok(()));
    }

    #[test]
    fn sums_are_exact() {
        // 3x - 2y <= 0, 2y - 3z <= -1, z - x <= 0 once each, or thrice.
        let atoms = [
            atom(&[(0, 3), (1, -2)], 0),
            atom(&[(1, 2), (2, -3)], 1),
            atom(&[(2, 1), (0, -1)], 0),
        ];
        let mut known = known(&atoms.clone().map(Formula::Atom));
        let sum = |factors: [&str; 3]| {
            let each = atoms.iter().cloned().zip(factors.map(str::to_owned));
            Proof::Sum(each.collect())
        };
        assert_eq!(known.check(&sum(["1", "1", "3"])), Ok(()));
        assert_eq!(known.check(&sum(["2", "2", "6"])), Ok(()));
        assert_eq!(known.check(&sum(["1", "1", "1"])), Err(Flaw::Sum));
        for factor in [
            "-3",
            "0",
            "",
            "03",
            "+3",
            "3.0",
            "9999999999999999999999999999999999999999",
        ] {
            let flaw = Err(Flaw::Factor(factor.to_owned()));
            assert_eq!(known.check(&sum(["1", "1", factor])), flaw);
        }
        let large = i128::MAX.to_string();
        assert_eq!(known.check(&sum([&large, "1", "3"])), Err(Flaw::TooLarge));
        let unknown = atom(&[(0, 1)], 0);
        let proof = Proof::Sum(vec![(unknown.clone(), "1".to_owned())]);
        assert_eq!(known.check(&proof), Err(Flaw::NotKnown(unknown)));
        let loose = Atom {
            terms: vec![(0, 2)],
            constant: 1,
        };
        let proof = Proof::Sum(vec![(loose.clone(), "1".to_owned())]);
        assert_eq!(known.check(&proof), Err(Flaw::NotNormal(loose)));
        // Something true adds nothing.
        let proof = Proof::Sum(vec![(atom(&[], 0), "1".to_owned())]);
        assert_eq!(known.check(&proof), Err(Flaw::Sum));
        let proof = Proof::Sum(vec![(atom(&[], 1), "1".to_owned())]);
        assert_eq!(known.check(&proof), Err(Flaw::NotKnown(atom(&[], 1))));
    }
}
