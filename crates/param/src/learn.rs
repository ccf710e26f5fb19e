//! Clauses learnt from what goes wrong: the relation between processes that small instances show, lifted to all of them.
//!
//! The states of small instances say which combinations of facts about one process, or about two, occur. The guess is that no others do, at any instance. It would be
//! a long formula, so it is written down clause by clause, where a clause is asked for: a state that assertions allow, and
//! in which the property is violated or from which a step breaks a clause learnt before, has a part that no sample has. The negation of a smallest such part is learnt. If
//! there is none, that state looks like a sample everywhere, and the clause that it breaks was wrong: it is given up for good. So this comes to an end, with
//! clauses that every step keeps, or without.

use std::collections::{BTreeSet, HashMap, HashSet};

use threadwise_evidence::arithmetic::{Formula as Linear, Variable};

use crate::candidates::Pool;
use crate::conditions::{Goal, Instantiation};
use crate::infer::{Asked, Halt, Inference};
use crate::lia::Model;

/// Literals of a clause at most.
const LITERALS: usize = 4;
/// Clauses that are tried at most, and how many of them may turn out wrong.
const CLAUSES: usize = 1_000;
const WRONG: usize = 150;

/// A clause of a view, by the positions of its literals in the pool: that not all of them hold.
type Part = (usize, Vec<u16>);

/// What has been learnt.
pub(crate) struct Learner<'p> {
    pools: &'p [Pool],
    /// Clauses that are assumed.
    clauses: BTreeSet<Part>,
    /// Clauses that were given up.
    given_up: HashSet<Part>,
}

impl<'p> Learner<'p> {
    pub(crate) fn new(pools: &'p [Pool]) -> Learner<'p> {
        Learner {
            pools,
            clauses: BTreeSet::new(),
            given_up: HashSet::new(),
        }
    }

    /// Learns until goals follow and every clause is kept by every step; says whether that was reached.
    pub(crate) fn run(&mut self, inference: &mut Inference, goals: &[&Goal]) -> Result<bool, Halt> {
        loop {
            if self.given_up.len() > WRONG || self.clauses.len() > CLAUSES {
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

    /// Learns until the goals follow.
    fn meet(&mut self, inference: &mut Inference, goals: &[&Goal]) -> Result<bool, Halt> {
        for goal in goals {
            loop {
                match inference.follows(goal)? {
                    Asked::Impossible(_) => break,
                    Asked::Open => return Ok(false),
                    Asked::Possible(model) => {
                        if !self.exclude(inference, &model, &goal.assumed) {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Learns until every step keeps every clause. If one has to be given up, it says no: goals may need another one in its place.
    fn keep(&mut self, inference: &mut Inference) -> Result<bool, Halt> {
        loop {
            let mut learnt = false;
            for number in 0..inference.cases.cases.len() {
                let cases = inference.cases;
                let case = &cases.cases[number];
                let parts: Vec<Part> = self
                    .clauses
                    .iter()
                    .filter(|(view, _)| *view == case.view)
                    .cloned()
                    .collect();
                for part in parts {
                    let clause = self.clause(&part)?;
                    loop {
                        match inference.broken(case, &clause)? {
                            Asked::Impossible(_) => break,
                            Asked::Possible(model)
                                if self.exclude(inference, &model, &case.assumed) =>
                            {
                                learnt = true;
                            }
                            Asked::Possible(_) | Asked::Open => {
                                self.give_up(inference, &part)?;
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

    fn clause(&self, (view, literals): &Part) -> Result<Linear, Halt> {
        let pool = &self.pools[*view];
        let negated = literals
            .iter()
            .map(|literal| pool.literals[usize::from(*literal)].negation());
        let negated = negated.collect::<Result<Vec<_>, _>>()?;
        Ok(Linear::any(negated))
    }

    fn give_up(&mut self, inference: &mut Inference, part: &Part) -> Result<(), Halt> {
        let clause = self.clause(part)?;
        self.clauses.remove(part);
        self.given_up.insert(part.clone());
        inference.views[part.0]
            .lemmas
            .retain(|lemma| *lemma != clause);
        Ok(())
    }

    /// Learns a clause that excludes a state; says whether there is one.
    fn exclude(
        &mut self,
        inference: &mut Inference,
        model: &Model,
        assumed: &[Instantiation],
    ) -> bool {
        let mut best: Option<Part> = None;
        for most in 0..=LITERALS {
            for instantiation in assumed {
                let view = instantiation.view;
                let pool = &self.pools[view];
                let true_here = pool.true_at(
                    &|variable: Variable| {
                        let variable = instantiation.renaming.get(&variable);
                        variable.copied()
                    },
                    model,
                );
                if let Some(part) = self.smallest(view, &true_here, most) {
                    best = Some(part);
                    break;
                }
            }
            if best.is_some() {
                break;
            }
        }
        let Some(part) = best else {
            return false;
        };
        let Ok(clause) = self.clause(&part) else {
            return false;
        };
        inference.views[part.0].lemmas.push(clause);
        self.clauses.insert(part);
        true
    }

    /// A set of so many of these literals that hold at no sample together.
    fn smallest(&self, view: usize, literals: &[u16], size: usize) -> Option<Part> {
        let pool = &self.pools[view];
        if size == 0 {
            // A view without samples is guessed to be impossible.
            let part = (view, Vec::new());
            let open = !self.given_up.contains(&part) && !self.clauses.contains(&part);
            return (pool.words == 0 && open).then_some(part);
        }
        let mut chosen = Vec::new();
        let all = vec![u64::MAX; pool.words];
        self.extend(view, pool, literals, size, &all, &mut chosen)
    }

    fn extend(
        &self,
        view: usize,
        pool: &Pool,
        literals: &[u16],
        size: usize,
        bits: &[u64],
        chosen: &mut Vec<u16>,
    ) -> Option<Part> {
        for (place, literal) in literals.iter().enumerate() {
            let own = &pool.bits[usize::from(*literal)];
            let both: Vec<u64> = bits.iter().zip(own).map(|(a, b)| a & b).collect();
            chosen.push(*literal);
            if size == 1 {
                if both.iter().all(|word| *word == 0) {
                    let part = (view, chosen.clone());
                    if !self.given_up.contains(&part) && !self.clauses.contains(&part) {
                        return Some(part);
                    }
                }
            } else if let Some(part) =
                self.extend(view, pool, &literals[place + 1..], size - 1, &both, chosen)
            {
                return Some(part);
            }
            chosen.pop();
        }
        None
    }
}

impl Pool {
    /// The literals that hold in a model, whose variables are found elsewhere.
    fn true_at(&self, renamed: &dyn Fn(Variable) -> Option<Variable>, model: &Model) -> Vec<u16> {
        let mut values: HashMap<Variable, i64> = HashMap::new();
        let each = self.literals.iter().enumerate();
        each.filter(|(_, literal)| {
            truth(literal, &mut |variable| {
                *values
                    .entry(variable)
                    .or_insert_with(|| model.value(renamed(variable).unwrap_or(variable)))
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
