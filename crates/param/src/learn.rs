//! Clauses learnt from what goes wrong: the relation between processes that small instances show, lifted to all of them.
//!
//! The states of small instances say which combinations of facts about one process, or about two, occur. The guess is that no others do, at any instance. It would be
//! a long formula, so it is written down clause by clause, where a clause is asked for: a state that assertions allow, and
//! in which the property is violated or from which a step breaks a clause learnt before, has a part that no sample has. The negation of a smallest such part is learnt. If
//! there is none, that state looks like a sample everywhere, and the clause that it breaks was wrong: it is given up for good. So this comes to an end, with
//! clauses that every step keeps, or without.
//!
//! If no part with few facts will do, all labels at which nobody is are taken together, with one more fact at most, and labels are left out as long as no sample has the rest. What is learnt then is
//! that the number of processes at these labels is at least 1, or that the fact does not hold: a cut through the control flow that somebody is always in, as "if the room is taken, somebody writes or is among the readers".

use std::collections::{BTreeSet, HashMap, HashSet};

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Variable};

use crate::candidates::Pool;
use crate::conditions::{Goal, Instantiation};
use crate::infer::Inference;
use crate::lia::Model;
use crate::questions::{Asked, Halt};
use crate::scope::Var;

/// Literals of a clause at most.
const LITERALS: usize = 4;
/// Clauses that are tried at most, and how many of them may turn out wrong.
const CLAUSES: usize = 1_000;
const WRONG: usize = 60;

/// Something that is guessed of a view.
type Guess = (usize, Linear);

/// What has been learnt.
pub(crate) struct Learner<'p> {
    pools: &'p [Pool],
    /// Whether cuts are learnt.
    cuts: bool,
    /// What is assumed.
    guesses: BTreeSet<Guess>,
    /// What was given up.
    given_up: HashSet<Guess>,
}

impl<'p> Learner<'p> {
    pub(crate) fn new(pools: &'p [Pool], cuts: bool) -> Learner<'p> {
        Learner {
            pools,
            cuts,
            guesses: BTreeSet::new(),
            given_up: HashSet::new(),
        }
    }

    /// Begins with these guesses.
    pub(crate) fn guess(&mut self, inference: &mut Inference, guesses: Vec<Guess>) {
        for (view, formula) in guesses {
            inference.assume(view, formula.clone());
            self.guesses.insert((view, formula));
        }
    }

    /// Learns until goals follow and every guess is kept by every step; says whether that was reached.
    pub(crate) fn run(&mut self, inference: &mut Inference, goals: &[&Goal]) -> Result<bool, Halt> {
        loop {
            if self.given_up.len() > WRONG || self.guesses.len() > CLAUSES {
                return Ok(false);
            }
            if !self.meet(inference, goals)? {
                return Ok(false);
            }
            if self.keep(inference)? {
                return Ok(true);
            }
        }
    }

    /// Learns what excludes states that goals forbid, as far as there is something to learn, and keeps what every step keeps; says whether that is anything.
    pub(crate) fn suggest(
        &mut self,
        inference: &mut Inference,
        goals: &[&Goal],
    ) -> Result<bool, Halt> {
        for goal in goals {
            while let Asked::Possible(model) = inference.follows(goal)? {
                if !self.exclude(inference, &model, &goal.assumed)? {
                    break;
                }
            }
        }
        while !self.guesses.is_empty() && !self.keep(inference)? {
            if self.given_up.len() > WRONG || self.guesses.len() > CLAUSES {
                return Ok(false);
            }
        }
        Ok(!self.guesses.is_empty())
    }

    /// Learns until the goals follow.
    fn meet(&mut self, inference: &mut Inference, goals: &[&Goal]) -> Result<bool, Halt> {
        for goal in goals {
            loop {
                match inference.follows(goal)? {
                    Asked::Impossible => break,
                    Asked::Open => return Ok(false),
                    Asked::Possible(model) => {
                        if !self.exclude(inference, &model, &goal.assumed)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Learns until every step keeps every guess. If one has to be given up, it says no: goals may need another one in its place.
    fn keep(&mut self, inference: &mut Inference) -> Result<bool, Halt> {
        loop {
            let mut learnt = false;
            for number in 0..inference.cases.cases.len() {
                let cases = inference.cases;
                let case = &cases.cases[number];
                let guesses = self.guesses.iter();
                let guesses: Vec<Guess> = guesses
                    .filter(|(view, _)| *view == case.view)
                    .cloned()
                    .collect();
                for guess in guesses {
                    loop {
                        match inference.broken(number, &guess.1)? {
                            Asked::Impossible => break,
                            Asked::Possible(model)
                                if self.exclude(inference, &model, &case.assumed)? =>
                            {
                                learnt = true;
                            }
                            Asked::Possible(_) | Asked::Open => {
                                self.give_up(inference, guess);
                                return Ok(false);
                            }
                        }
                    }
                }
            }
            if !learnt {
                return Ok(true);
            }
        }
    }

    fn give_up(&mut self, inference: &mut Inference, guess: Guess) {
        inference.drop(guess.0, &guess.1);
        self.guesses.remove(&guess);
        self.given_up.insert(guess);
    }

    /// Learns a clause that excludes a state; says whether there is one.
    fn exclude(
        &mut self,
        inference: &mut Inference,
        model: &Model,
        assumed: &[Instantiation],
    ) -> Result<bool, Halt> {
        let mut true_here: Vec<Option<Vec<u16>>> = vec![None; assumed.len()];
        for size in 0..=LITERALS {
            for (instantiation, true_here) in assumed.iter().zip(&mut true_here) {
                let nobody = instantiation.unless.as_ref();
                if nobody.is_some_and(|nobody| truth(nobody, &mut |v| model.value(v))) {
                    continue;
                }
                let view = instantiation.view;
                let literals = true_here.get_or_insert_with(|| {
                    self.pools[view].true_at(&instantiation.renaming, model)
                });
                if let Some(clause) = self.smallest(view, literals, size)? {
                    inference.assume(view, clause.clone());
                    self.guesses.insert((view, clause));
                    return Ok(true);
                }
            }
        }
        for (instantiation, literals) in assumed.iter().zip(&true_here) {
            let view = instantiation.view;
            if self.cuts
                && let Some(literals) = literals
                && let Some(clause) = self.cut(inference, view, literals)?
            {
                inference.assume(view, clause.clone());
                self.guesses.insert((view, clause));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// That somebody is at one of the labels at which nobody is, if another literal holds, or in any case: for as few labels as samples allow.
    fn cut(
        &self,
        inference: &Inference,
        view: usize,
        literals: &[u16],
    ) -> Result<Option<Linear>, Halt> {
        let pool = &self.pools[view];
        let empty = |literal: &u16| match &pool.literals[usize::from(*literal)] {
            Linear::Atom(atom) => match (atom.terms.as_slice(), atom.constant) {
                ([(variable, 1)], 0) => {
                    let var = inference.cases.table.var(*variable);
                    matches!(var, Var::Counter(..)).then_some(*variable)
                }
                _ => None,
            },
            _ => None,
        };
        let (labels, others): (Vec<u16>, Vec<u16>) = literals
            .iter()
            .partition(|literal| empty(literal).is_some());
        let bits = |of: &[u16]| {
            let mut bits = vec![u64::MAX; pool.words];
            for literal in of {
                let own = &pool.bits[usize::from(*literal)];
                bits.iter_mut().zip(own).for_each(|(all, own)| *all &= own);
            }
            bits
        };
        let none = |bits: &[u64], more: &[u64]| bits.iter().zip(more).all(|(a, b)| a & b == 0);
        if pool.words == 0 || labels.is_empty() {
            return Ok(None);
        }
        let nobody = bits(&labels);
        let each = others.iter().map(Some);
        for other in [None].into_iter().chain(each) {
            let also = match other {
                Some(other) => pool.bits[usize::from(*other)].clone(),
                None => vec![u64::MAX; pool.words],
            };
            if !none(&nobody, &also) {
                continue;
            }
            let mut cut = labels.clone();
            for label in &labels {
                let fewer: Vec<u16> = cut.iter().copied().filter(|one| one != label).collect();
                if none(&bits(&fewer), &also) {
                    cut = fewer;
                }
            }
            let terms = cut.iter().filter_map(empty).map(|variable| (variable, -1));
            let somebody = Linear::Atom(Atom::at_most_zero(terms, 1)?);
            let unless = match other {
                Some(other) => Some(pool.literals[usize::from(*other)].negation()?),
                None => None,
            };
            let guess = (view, Linear::any(unless.into_iter().chain([somebody])));
            if !self.given_up.contains(&guess) && !self.guesses.contains(&guess) {
                return Ok(Some(guess.1));
            }
        }
        Ok(None)
    }

    /// That not all of so many literals hold, where no sample has all of them.
    fn smallest(&self, view: usize, literals: &[u16], size: usize) -> Result<Option<Linear>, Halt> {
        let pool = &self.pools[view];
        if size == 0 && pool.words > 0 {
            return Ok(None);
        }
        let all = vec![u64::MAX; pool.words];
        self.extend((view, pool), literals, size, &all, &mut Vec::new())
    }

    fn extend(
        &self,
        (view, pool): (usize, &Pool),
        literals: &[u16],
        size: usize,
        bits: &[u64],
        chosen: &mut Vec<u16>,
    ) -> Result<Option<Linear>, Halt> {
        if size == 0 {
            if bits.iter().any(|word| *word != 0) {
                return Ok(None);
            }
            let chosen = chosen
                .iter()
                .map(|literal| &pool.literals[usize::from(*literal)]);
            let negated = chosen
                .map(Linear::negation)
                .collect::<Result<Vec<_>, _>>()?;
            let guess = (view, Linear::any(negated));
            let new = !self.given_up.contains(&guess) && !self.guesses.contains(&guess);
            return Ok(new.then_some(guess.1));
        }
        for (place, literal) in literals.iter().enumerate() {
            let own = &pool.bits[usize::from(*literal)];
            let both: Vec<u64> = bits.iter().zip(own).map(|(a, b)| a & b).collect();
            chosen.push(*literal);
            let rest = &literals[place + 1..];
            let found = self.extend((view, pool), rest, size - 1, &both, chosen)?;
            chosen.pop();
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl Pool {
    /// The literals that hold in a model, whose variables are found elsewhere.
    fn true_at(&self, renaming: &HashMap<Variable, Variable>, model: &Model) -> Vec<u16> {
        let each = self.literals.iter().enumerate();
        each.filter(|(_, literal)| {
            truth(literal, &mut |variable| {
                model.value(*renaming.get(&variable).unwrap_or(&variable))
            })
        })
        .map(|(place, _)| place as u16)
        .collect()
    }
}

/// Whether a formula holds for these values.
fn truth(formula: &Linear, value: &mut dyn FnMut(Variable) -> i64) -> bool {
    match formula {
        Linear::Atom(atom) => {
            let mut sum = i128::from(atom.constant);
            for (variable, factor) in &atom.terms {
                sum += i128::from(*factor) * i128::from(value(*variable));
            }
            sum <= 0
        }
        Linear::And(members) => members.iter().all(|member| truth(member, value)),
        Linear::Or(members) => members.iter().any(|member| truth(member, value)),
    }
}
