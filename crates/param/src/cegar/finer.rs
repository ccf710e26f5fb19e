//! The outer loop: an abstraction that has a violation is made finer (Figure 2 and Section IX a of Pani, Weissenbacher and Zuleger, FMCAD 2020, which sketch it).
//!
//! The first abstraction is the published one, which counts by labels alone and lets another process that moves have any values of its own. If a run of it violates the property, the same steps
//! are looked at with more that is known: processes are counted by predicates of their own variables, which the text suggests, and the property is assumed of those that move, as it holds
//! before the first violation (the stronger summary of the paper's footnote 3). If the steps are then contradictory, as much of that is left out as they, and all such runs before, allow, and
//! the rest is the next abstraction. So no abstraction comes twice, and no predicate is counted that no run asked for. One part that does for all runs is preferred to several:
//! where the first run could be refuted in two ways, the next one tells which of them was meant. Whether a run is one of the program
//! is not simulated: small instances were searched before, and a run of the program is contradictory in no abstraction.

use threadwise_model::family::Family;

use super::refine::whole;
use super::system::{Summary, Transitions};
use super::{Asker, Path};
use crate::candidates;
use crate::conditions::{Cases, Goal, Origin, TooMuch};
use crate::counter::{Allowance, Attempt, Claimed, Gap};
use crate::questions::Asked;
use crate::scope::{Counted, Ghosts, Table};

/// What an abstraction knows beyond Definition 5.
#[derive(Clone, Debug)]
pub(super) struct Finer {
    /// The variables that the predicates are about.
    table: Table,
    /// By what processes are counted besides their labels.
    counted: Vec<Counted>,
    pub(super) summary: Summary,
}

impl Default for Finer {
    fn default() -> Finer {
        Finer {
            table: Table::default(),
            counted: Vec::new(),
            summary: Summary::Anything,
        }
    }
}

impl Finer {
    /// All that there is to choose from.
    pub(super) fn most(family: &Family) -> Result<Finer, TooMuch> {
        let mut cases = Cases::new(family, Table::default(), Ghosts::default(), 0)?;
        let seeds = candidates::seeds(&mut cases, &[]);
        let predicates = candidates::predicates(&mut cases, &seeds);
        Ok(Finer {
            counted: [predicates.own, predicates.linking].concat(),
            summary: Summary::Claimed,
            table: cases.table,
        })
    }

    /// Each of its parts alone, the summary first.
    fn parts(&self) -> impl Iterator<Item = Finer> + '_ {
        let summary = Finer {
            counted: Vec::new(),
            ..self.clone()
        };
        let counted = self.counted.iter().map(|counted| Finer {
            counted: vec![counted.clone()],
            summary: Summary::Anything,
            table: self.table.clone(),
        });
        std::iter::once(summary).chain(counted)
    }

    /// The same without one of its parts, the last one first; nothing if it has no such part.
    fn without(&self, part: usize) -> Option<Finer> {
        let mut fewer = self.clone();
        match self.counted.len().checked_sub(part + 1) {
            Some(place) => {
                fewer.counted.remove(place);
            }
            None if part == self.counted.len() && self.summary == Summary::Claimed => {
                fewer.summary = Summary::Anything;
            }
            None => return None,
        }
        Some(fewer)
    }

    /// What to add to how a proof was found.
    pub(super) fn words(&self) -> String {
        let counted = match self.counted.len() {
            0 => String::new(),
            1 => ", one predicate counted".to_owned(),
            more => format!(", {more} predicates counted"),
        };
        let claimed = match self.summary {
            Summary::Anything => "",
            Summary::Claimed => ", the property assumed of those that move",
        };
        counted + claimed
    }
}

/// An abstraction and what must be contradictory in it.
pub(super) struct Level<'a> {
    pub(super) cases: Cases<'a>,
    pub(super) goals: Vec<Goal>,
}

impl<'a> Level<'a> {
    pub(super) fn new(
        family: &'a Family,
        claimed: &Claimed,
        finer: &Finer,
    ) -> Result<Level<'a>, TooMuch> {
        let ghosts = Ghosts {
            counted: finer.counted.clone(),
            ..Ghosts::default()
        };
        let mut cases = Cases::new(family, finer.table.clone(), ghosts, claimed.arity())?;
        let goals = claimed.goals(&mut cases)?;
        Ok(Level { cases, goals })
    }
}

/// A way to a violation, in words that all abstractions of a program share.
pub(super) struct Way {
    steps: Vec<(usize, Origin)>,
    target: usize,
}

impl Way {
    pub(super) fn new(system: &Transitions, path: &Path) -> Way {
        let steps = path.edges.iter().map(|edge| {
            let case = system.case(*edge);
            (case.view, case.origin.clone())
        });
        Way {
            steps: steps.collect(),
            target: path.target,
        }
    }

    /// The same way in another abstraction; nothing if there is no such step.
    fn path(&self, system: &Transitions) -> Option<Path> {
        let edges = self.steps.iter().map(|(view, origin)| {
            (0..system.edges.len()).find(|edge| {
                let case = system.case(*edge);
                (case.view, &case.origin) == (*view, origin)
            })
        });
        Some(Path {
            edges: edges.collect::<Option<_>>()?,
            target: (self.target < system.targets.len()).then_some(self.target)?,
        })
    }
}

impl Attempt<'_> {
    /// An abstraction in which no run takes any of these ways: one with a single part if there is such a one, and else one of which no part can be left out.
    pub(super) fn refuting(
        &self,
        claimed: &Claimed,
        ways: &[Way],
        most: &Finer,
        allowance: &mut Allowance,
    ) -> Result<Option<Finer>, Gap> {
        if !self.refutes(claimed, ways, most, allowance)? {
            return Ok(None);
        }
        for part in most.parts() {
            if self.refutes(claimed, ways, &part, allowance)? {
                return Ok(Some(part));
            }
        }
        let mut wanted = most.clone();
        let mut part = 0;
        while let Some(fewer) = wanted.without(part) {
            match self.refutes(claimed, ways, &fewer, allowance)? {
                true => wanted = fewer,
                false => part += 1,
            }
        }
        Ok(Some(wanted))
    }

    /// Whether no run of an abstraction takes any of these ways.
    fn refutes(
        &self,
        claimed: &Claimed,
        ways: &[Way],
        finer: &Finer,
        allowance: &mut Allowance,
    ) -> Result<bool, Gap> {
        let Level { cases, goals } = Level::new(self.family, claimed, finer)?;
        let system = Transitions::new(&cases, &goals, finer.summary);
        // The last one was found last, and is the likeliest to be possible.
        for way in ways.iter().rev() {
            let Some(path) = way.path(&system) else {
                return Ok(false);
            };
            let formulas = whole(&system, &path).map_err(TooMuch::from)?;
            let mut asker = Asker::new(allowance);
            let asked = asker.ask(&formulas);
            allowance.questions = asker.questions;
            if !matches!(asked?, Asked::Impossible) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
