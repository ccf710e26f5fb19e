//! `counter --method chc`: the abstraction is solved by another program, as Horn clauses, and what it says is proved here.
//!
//! The solver gets the clauses with the equations of the hulls, which it seldom needs to find anything to add to. Its model has a formula for each view. Together with the equations they
//! must be assertions as any others: their conditions are proved by [`crate::lia`], and written down as a certificate. So a solver that errs can
//! cause an `unknown`, never a wrong verdict. That there is no solution says that the abstraction has a violation; whether the
//! program has one, the search of small instances has told as far as it went.

use std::collections::HashMap;
use std::fmt::Display;

use threadwise_engine::HornSolver;
use threadwise_evidence::arithmetic::{Formula as Linear, Variable};

use crate::candidates::Modes;
use crate::certificate::Failure;
use crate::conditions::{Goal, TooMuch};
use crate::counter::{Allowance, Attempt, Claimed, Gap, Proof};
use crate::engine::Proved;
use crate::horn::{self, Abstraction};
use crate::infer::Inference;
use crate::points::Points;
use crate::solution::{self, Said};

/// What a solver may spend where there are others to ask, in its own units, which do not depend on the machine: some seconds.
const RESOURCES: u32 = 20_000_000;

/// A solver that is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'s> {
    /// Whoever can start it.
    pub host: &'s dyn HornSolver,
    /// What it is called.
    pub name: &'s str,
    /// Whether it is to give up after some work.
    pub bounded: bool,
}

impl Attempt<'_> {
    /// Tries to prove properties with the help of a solver, one after the other.
    pub(crate) fn solved(
        &self,
        properties: &[(String, Claimed)],
        solver: Option<Asked<'_>>,
        proved: &mut Proved,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        for (name, claimed) in properties {
            let found = match solver {
                Some(solver) => self.ask(name, claimed, &solver, allowance)?,
                None => Err("there is no solver to ask here".to_owned()),
            };
            match found {
                Ok(proof) => {
                    proved.proofs.insert(name.clone(), proof);
                }
                Err(why) => {
                    proved.whys.insert(name.clone(), why);
                }
            }
        }
        Ok(())
    }

    /// Tries to prove one property with the help of a solver. Without a proof, it says why.
    fn ask(
        &self,
        name: &str,
        claimed: &Claimed,
        asked: &Asked<'_>,
        allowance: &mut Allowance,
    ) -> Result<Result<Proof, String>, Gap> {
        let wanted = [(name.to_owned(), claimed.clone())];
        let Abstraction { mut cases, goals } = horn::abstraction(self.family, &wanted)?;
        let requirements = cases.requirements().map_err(TooMuch::from)?;
        let points = Points::new(&cases, self.samples);
        let modes = Modes::none(&cases);
        let mut inference =
            Inference::new(&cases, &points, &modes, allowance.questions, allowance.stop);
        inference.close_hulls()?;
        let lemmas = horn::equations(&inference)?;
        let mut clauses = horn::clauses(&cases, &goals, &lemmas);
        if asked.bounded {
            clauses.insert_str(0, &format!("(set-option :rlimit {RESOURCES})\n"));
        }
        let solver = asked.name;
        let says = |what: &dyn Display| format!("`{solver}`: {what}");
        let answer = match asked.host.solve(solver, &clauses) {
            Ok(answer) => answer,
            Err(message) => return Ok(Err(message)),
        };
        let arguments: HashMap<String, Vec<Variable>> = (0..cases.views.len())
            .map(|view| {
                let name = horn::predicate(&cases, view);
                (
                    name.trim_matches('|').to_owned(),
                    cases.variables[view].clone(),
                )
            })
            .collect();
        let mut found = match solution::read(&answer, &arguments) {
            Ok(Said::Sat(found)) => found,
            Ok(Said::Unsat) => {
                return Ok(Err(says(&"the abstraction has a violation")));
            }
            Err(unusable) => return Ok(Err(says(&unusable))),
        };
        let goals: Vec<Goal> = goals.into_iter().flat_map(|(_, goals)| goals).collect();
        for view in 0..cases.views.len() {
            let name = horn::predicate(&cases, view);
            // What is not defined may be anything: it is true.
            if let Some(formula) = found.remove(name.trim_matches('|')) {
                let members = match formula {
                    Linear::And(members) => members,
                    other => vec![other],
                };
                for member in members {
                    inference.assume(view, member);
                }
            }
        }
        let proof = self.judge(&mut inference, &requirements, &goals, name);
        allowance.questions = inference.questions.left();
        match proof {
            Ok(Some(mut proof)) => {
                proof
                    .rounds
                    .push(format!("proved from what `{solver}` found"));
                Ok(Ok(proof))
            }
            Ok(None) | Err(Gap::Failure(Failure::NotInductive)) => {
                Ok(Err(says(&"what it found could not be confirmed")))
            }
            Err(gap) => Err(gap),
        }
    }
}
