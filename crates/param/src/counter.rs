//! Thread-modular counter abstraction, after Pani, Weissenbacher and Zuleger (FMCAD 2020).
//!
//! The state is seen from one process, or from a few: parameters, shared variables, their own variables, and how many processes are at each label. These numbers
//! count all processes, the references included, so equations about them are the same everywhere. What other processes do is what their
//! text allows in states that the assertions allow. Assertions are found in stages, each stronger and slower than the one before: equations, bounds, differences, clauses of two; then the same
//! with equations computed anew under what was found. If all of that does not suffice, more is counted, or more processes are looked at together.
//!
//! Whatever is found is inductive for every value of the parameters. It is written down with proofs that others check.

use std::collections::BTreeMap;

use threadwise_evidence::Certificate;
use threadwise_model::family::{Conjunct, Family};

use crate::candidates;
use crate::certificate::{self, Failure};
use crate::conditions::{Cases, Goal, TooMuch};
use crate::infer::{Asked, Halt, Inference};
use crate::learn::Learner;
use crate::points::Points;
use crate::scope::{Counted, Table};
use crate::small::Sample;

/// A property to prove.
#[derive(Clone, Debug)]
pub(crate) enum Claimed {
    /// The built-in checks.
    Checks,
    /// An invariant.
    Invariant(Vec<Conjunct>),
}

/// What became of a property.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub(crate) certificate: Certificate,
    /// How it was found, in words.
    pub(crate) rounds: Vec<String>,
}

/// What limits an attempt.
pub(crate) struct Allowance<'a> {
    pub(crate) questions: u64,
    pub(crate) stop: &'a dyn Fn() -> bool,
}

/// How an abstraction looks at the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many processes are looked at together.
    pub(crate) arity: usize,
    /// What is counted besides labels.
    pub(crate) counted: Vec<Counted>,
    /// Whether clauses may speak of numbers of processes.
    pub(crate) counting: bool,
}

impl Shape {
    /// The stages of an attempt in this shape.
    fn stages(&self) -> &'static [Stage] {
        match (self.counting, self.arity) {
            (false, _) => &[Stage::Equations, Stage::Learning],
            (true, 0 | 1) => &[
                Stage::Equations,
                Stage::Learning,
                Stage::Bounds,
                Stage::Learning,
                Stage::Differences,
                Stage::Learning,
                Stage::EquationsAgain,
                Stage::Clauses,
                Stage::EquationsAgain,
                Stage::Bounds,
                Stage::Clauses,
            ],
            // There are so many clauses about several processes that only those that are asked for are looked at.
            (true, _) => &[
                Stage::Equations,
                Stage::Learning,
                Stage::Bounds,
                Stage::Learning,
            ],
        }
    }
}

/// The attempt to prove properties of a family in one shape.
pub(crate) struct Attempt<'a> {
    pub(crate) family: &'a Family,
    pub(crate) samples: &'a [Sample],
    pub(crate) fixed: &'a BTreeMap<String, i64>,
}

/// Why an attempt ended without proofs of everything.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Gap {
    #[error(transparent)]
    Halt(#[from] Halt),
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl Attempt<'_> {
    /// Tries to prove properties in one shape after the other, the cheapest first.
    pub(crate) fn all(
        &self,
        properties: &[(String, Claimed)],
        proofs: &mut BTreeMap<String, Proof>,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        let mut cases = Cases::new(self.family, Table::default(), Vec::new(), 0)?;
        let seeds = candidates::seeds(&mut cases, &[]);
        let predicates = candidates::predicates(&mut cases, &seeds);
        let mut table = cases.table;
        let none: &[Counted] = &[];
        let (own, linking) = (predicates.own.as_slice(), predicates.linking.as_slice());
        let both: Vec<Counted> = own.iter().chain(linking).cloned().collect();
        let mut shapes: Vec<Shape> = Vec::new();
        for (arity, counted) in [(1, none), (1, own), (2, none), (1, &both), (2, own)] {
            let shape = Shape {
                arity,
                counted: counted.to_vec(),
                counting: true,
            };
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        for shape in &shapes {
            if proofs.len() == properties.len() {
                break;
            }
            table = self.run(shape, table, properties, proofs, allowance)?;
        }
        Ok(())
    }

    /// Tries to prove properties by what small instances show of one process and of two.
    pub(crate) fn generalise(
        &self,
        properties: &[(String, Claimed)],
        proofs: &mut BTreeMap<String, Proof>,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        let mut table = Table::default();
        for arity in [1, 2] {
            if proofs.len() == properties.len() {
                break;
            }
            let shape = Shape {
                arity,
                ..Shape::default()
            };
            table = self.run(&shape, table, properties, proofs, allowance)?;
        }
        Ok(())
    }

    /// Tries to prove properties; those that are proved come back with their proofs.
    fn run(
        &self,
        shape: &Shape,
        table: Table,
        properties: &[(String, Claimed)],
        proofs: &mut BTreeMap<String, Proof>,
        allowance: &mut Allowance,
    ) -> Result<Table, Gap> {
        let mut cases = Cases::new(self.family, table, shape.counted.clone(), shape.arity)?;
        let mut goals: Vec<(String, Vec<Goal>)> = Vec::new();
        for (name, claimed) in properties {
            if !proofs.contains_key(name) {
                let found = match claimed {
                    Claimed::Checks => cases.check_goals().map_err(TooMuch::from)?,
                    Claimed::Invariant(conjuncts) => cases.property_goals(conjuncts)?,
                };
                goals.push((name.clone(), found));
            }
        }
        let requirements = cases.requirements().map_err(TooMuch::from)?;
        let points = Points::new(&cases, self.samples);
        let mut views = None;
        for stage in shape.stages().iter().copied() {
            if goals.is_empty() {
                break;
            }
            let suggestions: Vec<&Goal> = goals.iter().flat_map(|(_, goals)| goals).collect();
            let candidates = match stage {
                Stage::Equations | Stage::EquationsAgain | Stage::Learning => Vec::new(),
                Stage::Bounds => {
                    let seeds = candidates::seeds(&mut cases, &suggestions);
                    candidates::units(&mut cases, &points, &seeds)
                }
                Stage::Differences => candidates::differences(&mut cases, &points),
                Stage::Clauses => {
                    let seeds = candidates::seeds(&mut cases, &suggestions);
                    candidates::clauses(&mut cases, &points, &seeds)
                }
            };
            let pools = match stage {
                Stage::Learning => {
                    let seeds = candidates::seeds(&mut cases, &suggestions);
                    candidates::pools(&mut cases, &points, &seeds, shape.counting)
                }
                _ => Vec::new(),
            };
            let mut inference =
                Inference::new(&cases, &points, allowance.questions, allowance.stop);
            if let Some(views) = views.take() {
                inference.views = views;
            }
            let outcome = match stage {
                Stage::Equations => inference.close_hulls(),
                Stage::EquationsAgain => inference.again(),
                Stage::Learning => Ok(()),
                _ => inference.houdini(candidates),
            };
            outcome?;
            let mut open = Vec::new();
            for (name, goals) in goals {
                if stage == Stage::Learning {
                    let lemmas: Vec<_> = inference.views.clone();
                    let wanted: Vec<&Goal> = goals.iter().collect();
                    if !Learner::new(&pools).run(&mut inference, &wanted)? {
                        // What was learnt in vain is not inductive.
                        inference.views = lemmas;
                        open.push((name, goals));
                        continue;
                    }
                }
                match self.judge(&mut inference, &requirements, &goals, &name)? {
                    Some(mut proof) => {
                        proof.rounds.push(stage.words(shape));
                        proofs.insert(name, proof);
                    }
                    None => open.push((name, goals)),
                }
            }
            goals = open;
            allowance.questions = inference.left();
            views = Some(std::mem::take(&mut inference.views));
        }
        Ok(cases.table)
    }

    /// Writes a proof down, if the goals follow from what was found.
    pub(crate) fn judge(
        &self,
        inference: &mut Inference,
        requirements: &[(
            threadwise_evidence::family::Condition,
            Vec<threadwise_evidence::arithmetic::Formula>,
        )],
        goals: &[Goal],
        name: &str,
    ) -> Result<Option<Proof>, Gap> {
        for goal in goals {
            if !matches!(inference.follows(goal)?, Asked::Impossible(_)) {
                return Ok(None);
            }
        }
        let claim = certificate::claim(inference, requirements, goals)?;
        Ok(Some(Proof {
            certificate: Certificate::family(name, self.fixed.clone(), claim),
            rounds: Vec::new(),
        }))
    }
}

/// The stages of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Equations,
    Bounds,
    Differences,
    Clauses,
    EquationsAgain,
    Learning,
}

impl Stage {
    fn words(self, shape: &Shape) -> String {
        let stage = match self {
            Stage::Equations => "equations",
            Stage::Bounds => "bounds",
            Stage::Differences => "differences",
            Stage::Clauses => "clauses of two literals",
            Stage::EquationsAgain => "equations under what was found",
            Stage::Learning => "clauses learnt from small instances",
        };
        let many = match shape.arity {
            1 => "one process".to_owned(),
            more => format!("{more} processes"),
        };
        let counted = match shape.counted.len() {
            0 => String::new(),
            1 => ", one predicate counted".to_owned(),
            more => format!(", {more} predicates counted"),
        };
        format!("proved by {stage} about {many}{counted}")
    }
}
