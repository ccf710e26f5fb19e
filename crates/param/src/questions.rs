//! Questions to the solver about cases and goals, few of which are asked twice.
//!
//! A question is whether a formula can hold together with the facts of a case or goal and with the assertions of all views that fit there. That it cannot rests on some of
//! these assertions, and the solver says on which: as long as they stand, the question is not asked again, whatever else is assumed or dropped. If the next question is about
//! the same place, what was taken in for the last one is not taken in again.

use index_vec::{IndexVec, define_index_type};
use rustc_hash::{FxHashMap, FxHashSet};
use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Proof};

use crate::conditions::Instantiation;
use crate::lia::{self, Answer, Model, Solver};

define_index_type! { /// An assertion of a view. The same formula has the same number whenever it is asserted.
pub(crate) struct AssertionId = u32; }

/// How many numbers of assertions are remembered at most, for all questions together.
const MEMORY: usize = 20_000_000;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Halt {
    #[error("it has done as much as it may")]
    Stopped,
    #[error("the allowance of questions to the arithmetic solver is used up")]
    Questions,
    #[error("the arithmetic solver gave no answer: {0}")]
    Solver(lia::Why),
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

/// What came of a question.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// It can be, like this.
    Possible(Model),
    /// It cannot.
    Impossible,
    /// The solver does not know.
    Open,
}

/// What a question is about: a case or a goal, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Case(usize),
    Goal(usize),
}

/// A place with what holds there.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'q> {
    pub(crate) place: Place,
    pub(crate) facts: &'q [Linear],
    pub(crate) assumed: &'q [Instantiation],
}

/// What the solver has taken in.
struct Entered {
    place: Place,
    facts: usize,
    /// The assertions, with the instantiation that each belongs to.
    taken: Vec<(usize, AssertionId)>,
    levels: usize,
    /// Up to which change of assertions this was looked at.
    changes: u64,
}

/// A solver, and what it was asked.
pub(crate) struct Questions<'s> {
    solver: Solver,
    stop: &'s dyn Fn() -> bool,
    left: u64,
    numbers: Vec<FxHashMap<Linear, AssertionId>>,
    formulas: IndexVec<AssertionId, Linear>,
    stands: IndexVec<AssertionId, bool>,
    /// The assertions of each view that stand.
    asserted: Vec<Vec<AssertionId>>,
    changes: u64,
    /// What was found impossible, and the assertions that this rests on. At a case it is that the step breaks an assertion.
    impossible: FxHashMap<(Place, Option<AssertionId>), Box<[AssertionId]>>,
    remembered: usize,
    entered: Option<Entered>,
}

impl<'s> Questions<'s> {
    /// A solver that may be asked so many questions about so many views.
    pub(crate) fn new(views: usize, left: u64, stop: &'s dyn Fn() -> bool) -> Questions<'s> {
        Questions {
            solver: Solver::new(lia::Limits::default()),
            stop,
            left,
            numbers: vec![FxHashMap::default(); views],
            formulas: IndexVec::new(),
            stands: IndexVec::new(),
            asserted: vec![Vec::new(); views],
            changes: 0,
            impossible: FxHashMap::default(),
            remembered: 0,
            entered: None,
        }
    }

    /// Has something else say when to stop.
    pub(crate) fn stop_by(&mut self, stop: &'s dyn Fn() -> bool) {
        self.stop = stop;
    }

    /// How many questions may still be asked.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The number of an assertion, whether it stands or not.
    pub(crate) fn number(&mut self, view: usize, formula: &Linear) -> AssertionId {
        if let Some(id) = self.numbers[view].get(formula) {
            return *id;
        }
        let id = self.formulas.push(formula.clone());
        self.stands.push(false);
        self.numbers[view].insert(formula.clone(), id);
        id
    }

    /// Says what stands of a view from now on.
    pub(crate) fn assert(&mut self, view: usize, formulas: &[Linear]) {
        for id in std::mem::take(&mut self.asserted[view]) {
            self.stands[id] = false;
        }
        for formula in formulas {
            let id = self.number(view, formula);
            self.stands[id] = true;
            self.asserted[view].push(id);
        }
        self.changes += 1;
    }

    /// Whether a question is known to have the answer that it cannot be.
    pub(crate) fn is_impossible(&self, place: Place, about: Option<AssertionId>) -> bool {
        let rests = self.impossible.get(&(place, about));
        rests.is_some_and(|rests| rests.iter().all(|id| self.stands[*id]))
    }

    /// Whether formulas can hold at a place. Each place and assertion is for one question only.
    pub(crate) fn ask(
        &mut self,
        spot: Spot,
        about: Option<AssertionId>,
        formulas: &[Linear],
    ) -> Result<Asked, Halt> {
        if self.is_impossible(spot.place, about) {
            return Ok(Asked::Impossible);
        }
        self.enter(spot);
        match self.solve(formulas)? {
            Answer::Sat(model) => Ok(Asked::Possible(model)),
            Answer::Unsat(_) => {
                self.remember(spot.place, about);
                Ok(Asked::Impossible)
            }
            Answer::Unknown(_) => Ok(Asked::Open),
        }
    }

    /// Whether formulas contradict what holds at a place. That is not remembered.
    pub(crate) fn contradicts(&mut self, spot: Spot, formulas: &[Linear]) -> Result<bool, Halt> {
        self.enter(spot);
        Ok(matches!(self.solve(formulas)?, Answer::Unsat(_)))
    }

    /// A proof that formulas contradict each other, whatever the assertions say, and the positions of those that it is from.
    pub(crate) fn refute<'f>(
        &mut self,
        formulas: impl IntoIterator<Item = &'f Linear>,
    ) -> Result<Option<(Proof, &[u32])>, Halt> {
        self.leave();
        match self.solve(formulas)? {
            Answer::Unsat(proof) => Ok(Some((proof, self.solver.core()))),
            Answer::Sat(_) | Answer::Unknown(_) => Ok(None),
        }
    }

    fn solve<'f>(
        &mut self,
        formulas: impl IntoIterator<Item = &'f Linear>,
    ) -> Result<Answer, Halt> {
        if (self.stop)() {
            return Err(Halt::Stopped);
        }
        self.left = self.left.checked_sub(1).ok_or(Halt::Questions)?;
        match self.solver.solve(formulas, self.stop) {
            Answer::Unknown(lia::Why::Stopped) => Err(Halt::Stopped),
            answer => Ok(answer),
        }
    }

    /// Notes what the last refutation rests on.
    fn remember(&mut self, place: Place, about: Option<AssertionId>) {
        let Some(entered) = &self.entered else {
            return;
        };
        let core = self.solver.core().iter();
        let rests = core.filter_map(|number| {
            let position = (*number as usize).checked_sub(entered.facts)?;
            entered.taken.get(position).map(|(_, id)| *id)
        });
        let rests: Box<[AssertionId]> = rests.collect();
        self.remembered += rests.len() + 1;
        if self.remembered > MEMORY {
            self.impossible.clear();
            self.remembered = rests.len() + 1;
        }
        self.impossible.insert((place, about), rests);
    }

    /// Takes in what holds at a place, as far as it is not taken in already.
    fn enter(&mut self, spot: Spot) {
        let here = self
            .entered
            .as_ref()
            .filter(|here| here.place == spot.place);
        if here.is_some_and(|here| here.changes == self.changes) {
            return;
        }
        let mut wanted: Vec<(usize, AssertionId)> = Vec::new();
        for (number, instantiation) in spot.assumed.iter().enumerate() {
            let asserted = self.asserted[instantiation.view].iter();
            wanted.extend(asserted.map(|id| (number, *id)));
        }
        let new: FxHashSet<(usize, AssertionId)> = wanted.iter().copied().collect();
        let stays = here.is_some_and(|here| here.taken.iter().all(|old| new.contains(old)));
        let mut entered = match self.entered.take() {
            Some(here) if stays => here,
            here => {
                self.entered = here;
                self.leave();
                self.solver.push(spot.facts);
                Entered {
                    place: spot.place,
                    facts: spot.facts.len(),
                    taken: Vec::new(),
                    levels: 1,
                    changes: 0,
                }
            }
        };
        let old: FxHashSet<(usize, AssertionId)> = entered.taken.iter().copied().collect();
        wanted.retain(|one| !old.contains(one));
        if !wanted.is_empty() {
            let renamed: Vec<Linear> = wanted
                .iter()
                .map(|(number, id)| spot.assumed[*number].says(&self.formulas[*id]))
                .collect();
            self.solver.push(&renamed);
            entered.levels += 1;
            entered.taken.append(&mut wanted);
        }
        entered.changes = self.changes;
        self.entered = Some(entered);
    }

    fn leave(&mut self) {
        if let Some(entered) = self.entered.take() {
            (0..entered.levels).for_each(|_| self.solver.pop());
        }
    }
}
