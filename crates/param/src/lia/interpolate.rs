//! Interpolants: from a proof that two lists of formulas contradict each other, what the first has to say about it.
//!
//! An interpolant follows from the first list, contradicts the second, and speaks only of variables that both have. It is read off a [`Proof`] by structure. Every known
//! inequality belongs to one list. Where inequalities add up to a contradiction, the interpolant is the sum of those of the first list: the
//! other variables have to cancel out. A disjunction of the first list gives the disjunction of the interpolants of its members, one of the second list their
//! conjunction; propagation is the special case in which all members but one are refuted at once. A distinction of cases
//! that the proof makes counts as a disjunction of a list that has its variables; if neither has all of them, there is no answer.
//! (McMillan, "An interpolating theorem prover", 2005, with cases in place of resolution.)

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::arithmetic::{Atom, Formula, Proof, Variable};

use super::{Answer, Limits, Solver};

/// A formula that follows from all of `a`, contradicts all of `b`, and has only variables that occur in both. None if these can hold together, if a limit is reached, or if the
/// proof mixes variables of both in one distinction of cases.
pub fn interpolate(
    a: &[Formula],
    b: &[Formula],
    limits: Limits,
    stop: &dyn Fn() -> bool,
) -> Option<Formula> {
    let Answer::Unsat(proof) = Solver::new(limits).solve(a.iter().chain(b), stop) else {
        return None;
    };
    let lists = [a, b].map(|formulas| {
        let mut variables = BTreeSet::new();
        for formula in formulas {
            collect(formula, &mut variables);
        }
        variables
    });
    let mut context = Context::default();
    for (list, formulas) in [(List::A, a), (List::B, b)] {
        for formula in formulas {
            if let Err(Found(found)) = context.add(list, formula) {
                return Some(found);
            }
        }
    }
    context.interpolant(&proof, &lists)
}

fn collect(formula: &Formula, variables: &mut BTreeSet<Variable>) {
    match formula {
        Formula::Atom(atom) => variables.extend(atom.terms.iter().map(|(variable, _)| *variable)),
        Formula::And(members) | Formula::Or(members) => {
            for member in members {
                collect(member, variables);
            }
        }
    }
}

/// The list that something belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    A,
    B,
}

impl List {
    fn other(self) -> List {
        match self {
            List::A => List::B,
            List::B => List::A,
        }
    }

    /// The interpolant of a disjunction of this list, from those of its members.
    fn combine(self, members: Vec<Formula>) -> Formula {
        let mut different: Vec<Formula> = Vec::new();
        for member in members {
            if !different.contains(&member) {
                different.push(member);
            }
        }
        match self {
            List::A => Formula::any(different),
            List::B => Formula::all(different),
        }
    }

    /// The interpolant if this list contradicts itself.
    fn alone(self) -> Formula {
        Formula::constant(self == List::B)
    }
}

/// A contradiction was met, with this interpolant.
struct Found(Formula);

/// A disjunction of a list was propagated: the interpolants of its refuted members, to be combined with that of the last one.
struct Around {
    list: List,
    refuted: Vec<Formula>,
}

impl Around {
    fn with(mut self, last: Formula) -> Formula {
        self.refuted.push(last);
        self.list.combine(self.refuted)
    }
}

/// What is known from one list.
#[derive(Clone, Default)]
struct Part<'f> {
    /// For terms, the greatest constant with which they are known to be at most 0.
    atoms: BTreeMap<Vec<(Variable, i64)>, i64>,
    disjunctions: Vec<&'f [Formula]>,
}

impl Part<'_> {
    fn knows(&self, atom: &Atom) -> bool {
        match atom.constant_truth() {
            Some(truth) => truth,
            None => (self.atoms.get(&atom.terms)).is_some_and(|known| *known >= atom.constant),
        }
    }
}

/// What is known in a case.
#[derive(Clone, Default)]
struct Context<'f> {
    a: Part<'f>,
    b: Part<'f>,
}

impl<'f> Context<'f> {
    fn part(&self, list: List) -> &Part<'f> {
        match list {
            List::A => &self.a,
            List::B => &self.b,
        }
    }

    fn part_mut(&mut self, list: List) -> &mut Part<'f> {
        match list {
            List::A => &mut self.a,
            List::B => &mut self.b,
        }
    }

    /// The interpolant of the contradiction between what is known and a formula of a list, if that is refuted.
    fn refutation(&self, list: List, formula: &Formula) -> Option<Formula> {
        match formula {
            Formula::Atom(atom) => {
                let negation = atom.negation().ok()?;
                if self.part(list).knows(&negation) {
                    return Some(list.alone());
                }
                let known = self.part(list.other()).knows(&negation);
                known.then(|| match list {
                    List::A => formula.clone(),
                    List::B => Formula::Atom(negation),
                })
            }
            Formula::And(members) => {
                let mut found = (members.iter()).filter_map(|member| self.refutation(list, member));
                let first = found.next()?;
                // What one list refutes by itself says the most.
                Some(found.fold(first, |best, next| match next == list.alone() {
                    true => next,
                    false => best,
                }))
            }
            Formula::Or(members) => {
                let each = (members.iter()).map(|member| self.refutation(list, member));
                Some(list.combine(each.collect::<Option<Vec<Formula>>>()?))
            }
        }
    }

    /// Adds what is known from a list.
    fn add(&mut self, list: List, formula: &'f Formula) -> Result<(), Found> {
        match formula {
            Formula::Atom(atom) => self.add_atom(list, atom),
            Formula::And(members) => members.iter().try_for_each(|member| self.add(list, member)),
            Formula::Or(members) => {
                self.part_mut(list).disjunctions.push(members);
                Ok(())
            }
        }
    }

    fn add_atom(&mut self, list: List, atom: &Atom) -> Result<(), Found> {
        if let Some(found) = self.refutation(list, &Formula::Atom(atom.clone())) {
            return Err(Found(found));
        }
        if !self.part(list).knows(atom) {
            let part = self.part_mut(list);
            part.atoms.insert(atom.terms.clone(), atom.constant);
        }
        Ok(())
    }

    /// Propagates one disjunction, if there is one to propagate.
    fn propagate(&mut self) -> Result<Option<Around>, Found> {
        for list in [List::A, List::B] {
            for position in 0..self.part(list).disjunctions.len() {
                let members = self.part(list).disjunctions[position];
                let mut refuted = Vec::new();
                let mut open = Vec::new();
                for member in members {
                    match self.refutation(list, member) {
                        Some(found) => refuted.push(found),
                        None => open.push(member),
                    }
                }
                match open[..] {
                    [] => return Err(Found(list.combine(refuted))),
                    [only] => {
                        self.part_mut(list).disjunctions.swap_remove(position);
                        let around = Around { list, refuted };
                        return match self.add(list, only) {
                            Ok(()) => Ok(Some(around)),
                            Err(Found(found)) => Err(Found(around.with(found))),
                        };
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    fn interpolant(mut self, proof: &Proof, lists: &[BTreeSet<Variable>; 2]) -> Option<Formula> {
        let mut propagated: Vec<Around> = Vec::new();
        let inner = loop {
            match self.propagate() {
                Ok(Some(around)) => propagated.push(around),
                Ok(None) => break self.leaf(proof, lists)?,
                Err(Found(found)) => break found,
            }
        };
        let outwards = propagated.into_iter().rev();
        Some(outwards.fold(inner, |inner, around| around.with(inner)))
    }

    /// The interpolant where nothing is left to propagate.
    fn leaf(self, proof: &Proof, lists: &[BTreeSet<Variable>; 2]) -> Option<Formula> {
        match proof {
            // Propagation has found nothing.
            Proof::Obvious => None,
            Proof::Sum(summands) => {
                let mut terms = Vec::new();
                let mut constant: i64 = 0;
                for (atom, factor) in summands {
                    if self.b.knows(atom) {
                        continue;
                    }
                    if !self.a.knows(atom) {
                        return None;
                    }
                    let factor: i64 = factor.parse().ok()?;
                    for (variable, coefficient) in &atom.terms {
                        terms.push((*variable, coefficient.checked_mul(factor)?));
                    }
                    constant = constant.checked_add(atom.constant.checked_mul(factor)?)?;
                }
                let sum = Formula::Atom(Atom::at_most_zero(terms, constant).ok()?);
                Some(match sum.truth() {
                    Some(truth) => Formula::constant(truth),
                    None => sum,
                })
            }
            Proof::Split { on, holds, fails } => {
                let list = [List::A, List::B]
                    .into_iter()
                    .zip(lists)
                    .find(|(_, variables)| on.terms.iter().all(|(x, _)| variables.contains(x)))?
                    .0;
                let case = |atom: &Atom, proof: &Proof| {
                    let mut context = self.clone();
                    match context.add_atom(list, atom) {
                        Ok(()) => context.interpolant(proof, lists),
                        Err(Found(found)) => Some(found),
                    }
                };
                let cases = vec![case(on, holds)?, case(&on.negation().ok()?, fails)?];
                Some(list.combine(cases))
            }
        }
    }
}
