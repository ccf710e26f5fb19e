//! Thread-modular counter abstraction, after Pani, Weissenbacher and Zuleger (FMCAD 2020).
//!
//! The state is seen from one process, or from a few: parameters, shared variables, their own variables, and how many processes are at each label. These numbers
//! count all processes, the references included, so equations about them are the same everywhere. What other processes do is what their
//! text allows in states that the assertions allow. Assertions are found in stages, each stronger and slower than the one before: equations, bounds, differences, clauses of two; then the same
//! with equations computed anew under what was found. If all of that does not suffice, more is counted, or more processes are looked at together.
//!
//! Whatever is found is inductive for every value of the parameters. It is written down with proofs that others check.

use std::collections::BTreeMap;

use threadwise_evidence::{Certificate, Missing};
use threadwise_model::family::{Conjunct, Family, Liveness};

use crate::candidates::{self, Modes};
use crate::certificate::{self, Failure};
use crate::compared;
use crate::conditions::{Cases, Goal, TooMuch};
use crate::infer::Inference;
use crate::learn::Learner;
use crate::missing::Reached;
use crate::points::Points;
use crate::positions;
use crate::questions::{Asked, Halt};
use crate::ranking::{Prepared, Search};
use crate::scope::{Comparison, Counted, Ghosts, Table};
use crate::small::Sample;
use crate::sums::{self, Summed};

/// A property to prove.
#[derive(Clone, Debug)]
pub(crate) enum Claimed {
    /// The built-in checks.
    Checks,
    /// An invariant.
    Invariant(Vec<Conjunct>),
    /// Freedom from deadlock.
    Deadlock,
}

impl Claimed {
    /// Of how many processes it speaks, and one at least.
    pub(crate) fn arity(&self) -> usize {
        match self {
            Claimed::Checks | Claimed::Deadlock => 1,
            Claimed::Invariant(conjuncts) => {
                let each = conjuncts.iter().map(|conjunct| conjunct.variables.len());
                each.max().unwrap_or(1).max(1)
            }
        }
    }

    /// What must be contradictory for it.
    pub(crate) fn goals(&self, cases: &mut Cases) -> Result<Vec<Goal>, TooMuch> {
        Ok(match self {
            Claimed::Checks => cases.check_goals()?,
            Claimed::Invariant(conjuncts) => cases.property_goals(conjuncts)?,
            Claimed::Deadlock => {
                let mut goals = vec![cases.deadlock_goal()?];
                let templates = cases.family.templates.indices();
                let orders = templates.flat_map(|template| cases.orders(template));
                for comparison in orders.collect::<Vec<_>>() {
                    goals.extend(cases.order_goals(comparison)?);
                }
                goals
            }
        })
    }
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
    /// When to stop telling what proofs lack. That is no part of the search, which goes the same ways whether it is told or not.
    pub(crate) calm: &'a dyn Fn() -> bool,
    /// What proofs lack, of the properties that there are none of.
    pub(crate) missing: BTreeMap<String, Missing>,
}

/// How an abstraction looks at the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many processes are looked at together.
    pub(crate) arity: usize,
    /// What is counted besides labels.
    pub(crate) counted: Vec<Counted>,
    /// What is summed over processes.
    pub(crate) summed: Vec<Summed>,
    /// How processes are compared with references.
    pub(crate) compared: Vec<Comparison>,
    /// Whether clauses may speak of numbers of processes.
    pub(crate) counting: bool,
    /// Whether it is guessed that somebody is always at some of many labels.
    pub(crate) cuts: bool,
    /// What equations are computed for one by one.
    pub(crate) modes: Modes,
    stages: &'static [Stage],
}

impl Shape {
    fn ghosts(&self) -> Ghosts {
        Ghosts {
            counted: self.counted.clone(),
            compared: self.compared.clone(),
        }
    }
}

/// Equations, and what is asked for beyond them: quick, and often enough.
const LIGHT: &[Stage] = &[Stage::Equations, Stage::Learning];
/// Bounds and differences as well.
const BOUNDED: &[Stage] = &[
    Stage::Equations,
    Stage::Bounds,
    Stage::Learning,
    Stage::Differences,
    Stage::Learning,
    Stage::EquationsAgain,
];
/// All clauses of two literals. There are so many about several processes that this is for one alone.
const CLAUSES: &[Stage] = &[
    Stage::Equations,
    Stage::Bounds,
    Stage::Differences,
    Stage::EquationsAgain,
    Stage::Clauses,
    Stage::EquationsAgain,
    Stage::Bounds,
    Stage::Clauses,
];
/// What samples say of two processes, equations included, taken for true until a step breaks it.
const GUESSED: &[Stage] = &[
    Stage::Equations,
    Stage::Bounds,
    Stage::Learning,
    Stage::Guessing,
];

/// The same with positions in arrays.
const PLACED: &[Stage] = &[Stage::Equations, Stage::Positions];

/// Bounds, and what is known of numbers of processes that compare with entries of arrays.
const LEVELS: &[Stage] = &[Stage::Equations, Stage::Bounds, Stage::Levels];

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
        let mut reached = Reached::default();
        let outcome = self.shapes(properties, proofs, &mut reached, allowance);
        reached.tell(proofs, self.samples, allowance);
        outcome
    }

    fn shapes<'r>(
        &'r self,
        properties: &[(String, Claimed)],
        proofs: &mut BTreeMap<String, Proof>,
        reached: &mut Reached<'r>,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        let mut cases = Cases::new(self.family, Table::default(), Ghosts::default(), 0)?;
        let seeds = candidates::seeds(&mut cases, &[]);
        let predicates = candidates::predicates(&mut cases, &seeds);
        let summed = sums::terms(&mut cases).map_err(TooMuch::from)?;
        let mut table = cases.table;
        let comparisons = compared::comparisons(self.family, &mut table);
        let rounds = compared::rounds(self.family, &mut table);
        let none: &[Counted] = &[];
        let (own, linking) = (predicates.own.as_slice(), predicates.linking.as_slice());
        let both: Vec<Counted> = own.iter().chain(linking).cloned().collect();
        // Quick attempts at everything come first.
        let counting = |arity, counted: &[Counted], modes, stages| Shape {
            arity,
            counted: counted.to_vec(),
            summed: Vec::new(),
            compared: Vec::new(),
            counting: true,
            cuts: false,
            modes,
            stages,
        };
        let not_counting = Shape {
            counting: false,
            ..counting(2, none, Modes::One, LIGHT)
        };
        let mut templates = self.family.templates.indices();
        let placed = match templates.any(|template| self.family.is_slot(template)) {
            true => PLACED,
            false => LIGHT,
        };
        let summing = Shape {
            summed,
            ..counting(1, none, Modes::One, LIGHT)
        };
        let summing_apart = Shape {
            modes: Modes::Truths,
            ..summing.clone()
        };
        let cutting = Shape {
            cuts: true,
            ..counting(1, none, Modes::One, LIGHT)
        };
        let placing = counting(1, none, Modes::Positions, LIGHT);
        let cutting_apart = Shape {
            modes: Modes::Locks,
            ..cutting.clone()
        };
        let mut shapes: Vec<Shape> = Vec::new();
        for shape in [
            counting(1, none, Modes::One, LIGHT),
            counting(1, own, Modes::One, LIGHT),
            summing,
            placing,
            not_counting,
            counting(2, none, Modes::One, LIGHT),
            counting(1, none, Modes::One, placed),
            counting(2, none, Modes::One, placed),
            counting(1, none, Modes::One, BOUNDED),
            counting(1, own, Modes::Truths, LIGHT),
            summing_apart,
            counting(1, none, Modes::Orders, LIGHT),
            cutting,
            cutting_apart,
            counting(1, own, Modes::Phases, LIGHT),
            counting(1, &both, Modes::One, LIGHT),
            counting(2, own, Modes::Truths, LIGHT),
            counting(2, own, Modes::Orders, LIGHT),
            counting(1, none, Modes::One, CLAUSES),
            counting(1, &both, Modes::One, CLAUSES),
            counting(2, none, Modes::One, GUESSED),
            counting(2, own, Modes::Orders, GUESSED),
            counting(3, none, Modes::One, LIGHT),
        ] {
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        // Where guards compare processes, they are counted by that as well.
        let comparing = comparisons.into_iter().map(|compared| Shape {
            compared,
            ..counting(1, none, Modes::One, LIGHT)
        });
        let levels = compared::levels(self.family, &mut table).map_err(TooMuch::from)?;
        let comparing = comparing.chain(levels.into_iter().map(|compared| Shape {
            compared,
            ..counting(1, none, Modes::One, LEVELS)
        }));
        let place = shapes.len().min(5);
        shapes.splice(place..place, comparing);
        let place = shapes.iter().position(|shape| shape.modes == Modes::Phases);
        let place = place.unwrap_or(shapes.len());
        let comparing = rounds.into_iter().map(|compared| Shape {
            compared,
            ..counting(1, none, Modes::Rounds, LIGHT)
        });
        shapes.splice(place..place, comparing);
        let mut claims = properties.iter();
        if claims.any(|(_, claimed)| matches!(claimed, Claimed::Deadlock)) {
            let truths = compared::truths(self.family, &mut table).into_iter();
            shapes.extend(truths.map(|compared| Shape {
                compared,
                ..counting(1, none, Modes::One, LIGHT)
            }));
        }
        for shape in &shapes {
            if proofs.len() == properties.len() {
                break;
            }
            self.try_shape(shape, &mut table, properties, (proofs, reached), allowance)?;
        }
        Ok(())
    }

    /// Tries one shape. That it is too much for this program is no reason not to try others.
    fn try_shape<'r>(
        &'r self,
        shape: &Shape,
        table: &mut Table,
        properties: &[(String, Claimed)],
        found: (&mut BTreeMap<String, Proof>, &mut Reached<'r>),
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        match self.run(shape, table.clone(), properties, found, allowance) {
            Ok(after) => *table = after,
            Err(gap @ Gap::Halt(Halt::Stopped | Halt::Questions)) => return Err(gap),
            Err(_) => {}
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
        let mut reached = Reached::default();
        let outcome = self.generalised(properties, proofs, &mut reached, allowance);
        reached.tell(proofs, self.samples, allowance);
        outcome
    }

    fn generalised<'r>(
        &'r self,
        properties: &[(String, Claimed)],
        proofs: &mut BTreeMap<String, Proof>,
        reached: &mut Reached<'r>,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        let mut table = Table::default();
        for arity in [1, 2, 3] {
            if proofs.len() == properties.len() {
                break;
            }
            let shape = Shape {
                arity,
                stages: LIGHT,
                ..Shape::default()
            };
            self.try_shape(&shape, &mut table, properties, (proofs, reached), allowance)?;
        }
        Ok(())
    }

    /// Tries to prove properties; those that are proved come back with their proofs.
    fn run<'r>(
        &'r self,
        shape: &Shape,
        table: Table,
        properties: &[(String, Claimed)],
        (proofs, reached): (&mut BTreeMap<String, Proof>, &mut Reached<'r>),
        allowance: &mut Allowance,
    ) -> Result<Table, Gap> {
        let mut table = table;
        table.summed = shape.summed.clone();
        let mut cases = Cases::with_named(self.family, table, shape.ghosts(), shape.arity)?;
        let mut goals: Vec<(String, Vec<Goal>)> = Vec::new();
        for (name, claimed) in properties {
            if !proofs.contains_key(name) {
                goals.push((name.clone(), claimed.goals(&mut cases)?));
            }
        }
        let requirements = cases.requirements().map_err(TooMuch::from)?;
        let points = Points::new(&cases, self.samples);
        let modes = shape.modes.by(&mut cases, &points).map_err(TooMuch::from)?;
        if shape.modes != Modes::One && modes.iter().all(|modes| modes.len() == 1) {
            // There is nothing to tell apart, so this was tried before.
            return Ok(cases.table);
        }
        let mut views = None;
        for stage in shape.stages.iter().copied() {
            if goals.is_empty() {
                break;
            }
            let suggestions: Vec<&Goal> = goals.iter().flat_map(|(_, goals)| goals).collect();
            let candidates = match stage {
                Stage::Equations
                | Stage::EquationsAgain
                | Stage::Learning
                | Stage::Positions
                | Stage::Guessing => Vec::new(),
                Stage::Bounds => {
                    let seeds = candidates::seeds(&mut cases, &suggestions);
                    candidates::units(&mut cases, &points, &seeds)
                }
                Stage::Differences => candidates::differences(&mut cases, &points),
                Stage::Levels => candidates::levels(&cases, &points).map_err(TooMuch::from)?,
                Stage::Clauses => {
                    let seeds = candidates::seeds(&mut cases, &suggestions);
                    candidates::clauses(&mut cases, &points, &seeds)
                }
            };
            let pools = match stage {
                Stage::Learning | Stage::Positions | Stage::Guessing => {
                    let seeds = candidates::seeds(&mut cases, &suggestions);
                    let equations = match stage {
                        Stage::Positions => {
                            let found = positions::equations(&mut cases, &points);
                            Some(found.map_err(TooMuch::from)?)
                        }
                        _ => None,
                    };
                    let equations = equations.as_deref();
                    candidates::pools(&mut cases, &points, &seeds, shape.counting, equations)
                }
                _ => Vec::new(),
            };
            let mut inference =
                Inference::new(&cases, &points, &modes, allowance.questions, allowance.stop);
            if let Some(views) = views.take() {
                inference.set_views(views);
            }
            let outcome = match stage {
                Stage::Equations => inference.close_hulls(),
                Stage::EquationsAgain => inference.again(),
                Stage::Learning | Stage::Positions | Stage::Guessing => Ok(()),
                _ => inference.houdini(candidates),
            };
            outcome?;
            let mut open = Vec::new();
            for (name, goals) in goals {
                if !matches!(pools.as_slice(), []) {
                    let views = inference.views().to_vec();
                    let wanted: Vec<&Goal> = goals.iter().collect();
                    let mut learner = Learner::new(&pools, shape.cuts);
                    if stage == Stage::Guessing {
                        let guesses = inference.guesses()?;
                        learner.guess(&mut inference, guesses);
                    }
                    if !learner.run(&mut inference, &wanted)? {
                        // What was learnt in vain is not inductive.
                        inference.set_views(views);
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
            allowance.questions = inference.questions.left();
            views = Some(inference.views().to_vec());
        }
        let table = cases.table.clone();
        if let Some(views) = views {
            reached.note(shape.arity, cases, modes, views, goals);
        }
        Ok(table)
    }

    /// Tries to prove a liveness property: with equations about one process, then with bounds, then with what is counted.
    pub(crate) fn fair(
        &self,
        name: &str,
        liveness: &Liveness,
        allowance: &mut Allowance,
    ) -> Result<Option<Proof>, Gap> {
        let mut cases = Cases::new(self.family, Table::default(), Ghosts::default(), 0)?;
        let seeds = candidates::seeds(&mut cases, &[]);
        let predicates = candidates::predicates(&mut cases, &seeds);
        let summed = sums::terms(&mut cases).map_err(TooMuch::from)?;
        let mut table = cases.table;
        let comparisons = compared::comparisons(self.family, &mut table);
        let rounds = compared::rounds(self.family, &mut table);
        let own = Ghosts {
            counted: predicates.own,
            ..Ghosts::default()
        };
        let comparing = |compared: &Vec<Comparison>| Ghosts {
            compared: compared.clone(),
            ..Ghosts::default()
        };
        let shape = |ghosts: &Ghosts, modes, effort| FairShape {
            ghosts: ghosts.clone(),
            summed: Vec::new(),
            modes,
            effort,
        };
        let summing = |ghosts: &Ghosts| FairShape {
            summed: summed.clone(),
            ..shape(ghosts, Modes::One, Effort::Equations)
        };
        let none = Ghosts::default();
        let mut shapes = vec![
            shape(&none, Modes::One, Effort::Equations),
            shape(&own, Modes::One, Effort::Equations),
        ];
        for (sets, modes, effort) in [
            (&comparisons, Modes::One, Effort::Equations),
            (&rounds, Modes::Rounds, Effort::Equations),
            (&comparisons, Modes::One, Effort::Bounds),
        ] {
            let ghosts = sets.iter().map(comparing);
            shapes.extend(ghosts.map(|ghosts| shape(&ghosts, modes, effort)));
        }
        shapes.extend([
            summing(&none),
            shape(&none, Modes::One, Effort::Bounds),
            summing(&own),
            shape(&own, Modes::Truths, Effort::Bounds),
            shape(&own, Modes::Phases, Effort::Learning),
        ]);
        let mut tried: Vec<&FairShape> = Vec::new();
        for shape in &shapes {
            if tried.contains(&shape) {
                continue;
            }
            tried.push(shape);
            if let Some(proof) = self.fair_in((name, liveness), shape, &mut table, allowance)? {
                return Ok(Some(proof));
            }
        }
        Ok(None)
    }

    /// The same in one shape.
    fn fair_in(
        &self,
        (name, liveness): (&str, &Liveness),
        shape: &FairShape,
        table: &mut Table,
        allowance: &mut Allowance,
    ) -> Result<Option<Proof>, Gap> {
        table.summed = shape.summed.clone();
        let mut cases = Cases::new(self.family, table.clone(), shape.ghosts.clone(), 1)?;
        let prepared = Prepared::new(&mut cases, liveness)?;
        let requirements = cases.requirements().map_err(TooMuch::from)?;
        let points = Points::new(&cases, self.samples);
        let modes = shape.modes.by(&mut cases, &points).map_err(TooMuch::from)?;
        let seeds = candidates::seeds(&mut cases, &[]);
        let (mut guesses, mut pools) = (None, Vec::new());
        match shape.effort {
            Effort::Equations => {}
            Effort::Bounds => guesses = Some(candidates::units(&mut cases, &points, &seeds)),
            Effort::Learning => {
                pools = candidates::pools(&mut cases, &points, &seeds, true, None);
            }
        }
        let tests = candidates::tests(&cases, &seeds);
        let mut inference =
            Inference::new(&cases, &points, &modes, allowance.questions, allowance.stop);
        inference.close_hulls()?;
        if let Some(guesses) = guesses {
            inference.houdini(guesses)?;
        }
        let mut search = Search::new(&prepared, &mut inference, &tests);
        let mut found = search.run()?;
        for round in 0..LEARNT {
            if found || pools.is_empty() {
                break;
            }
            // Some of what is left may be in no state that is reached.
            let left = search.left_over(round)?;
            let left: Vec<&Goal> = left.iter().collect();
            let views = inference.views().to_vec();
            let learnt = Learner::new(&pools, false).suggest(&mut inference, &left)?;
            if !learnt {
                inference.set_views(views);
            }
            search = Search::new(&prepared, &mut inference, &tests);
            found = search.run()?;
            if !learnt {
                break;
            }
        }
        if found {
            let rounds = search.rounds();
            let (goals, fair) = search.found();
            let claim = certificate::claim(&mut inference, &requirements, &goals, Some(fair))?;
            return Ok(Some(Proof {
                certificate: Certificate::family(name, self.fixed.clone(), claim),
                rounds,
            }));
        }
        if let Some(missing) = search.missing(allowance.calm) {
            allowance.missing.insert(name.to_owned(), missing);
        }
        allowance.questions = inference.questions.left();
        *table = cases.table;
        Ok(None)
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
            if !matches!(inference.follows(goal)?, Asked::Impossible) {
                return Ok(None);
            }
        }
        let claim = certificate::claim(inference, requirements, goals, None)?;
        Ok(Some(Proof {
            certificate: Certificate::family(name, self.fixed.clone(), claim),
            rounds: Vec::new(),
        }))
    }
}

/// How a proof of liveness is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FairShape {
    ghosts: Ghosts,
    summed: Vec<Summed>,
    modes: Modes,
    effort: Effort,
}

/// What supports it beside equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    Equations,
    Bounds,
    /// Clauses that exclude some of what is left.
    Learning,
}

/// How often clauses are learnt for what is left of one property.
const LEARNT: usize = 3;

/// The stages of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Equations,
    Bounds,
    Differences,
    Clauses,
    EquationsAgain,
    Learning,
    Positions,
    Guessing,
    Levels,
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
            Stage::Positions => "clauses about positions learnt from small instances",
            Stage::Levels => "bounds of those at each entry",
            Stage::Guessing => "equations and clauses of small instances",
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
        let summed = match shape.summed.is_empty() {
            true => "",
            false => ", with sums over processes",
        };
        let compared = match shape.compared.is_empty() {
            true => "",
            false => ", those counted that compare with it",
        };
        let ordered = match shape.modes {
            Modes::Positions => ", in each order of positions",
            _ => "",
        };
        format!("proved by {stage} about {many}{counted}{summed}{compared}{ordered}")
    }
}
