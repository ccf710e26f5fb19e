//! A solver for linear integer arithmetic that proves what it refutes.
//!
//! It decides whether formulas can hold together: with integers for which they do, or with a [`Proof`] that they cannot, which is checked by adding up inequalities. Both are
//! exact; where a limit is reached, the answer is [`Answer::Unknown`]. Whoever proves programs asks many questions with the same hypotheses, so these can be taken in once:
//!
//! ```
//! use threadwise_evidence::arithmetic::{Atom, Formula};
//! use threadwise_param::lia::{Answer, Limits, Solver};
//!
//! let (n, waiting) = (0, 1);
//! let at_most = |terms: &[(u32, i64)], constant| {
//!     Formula::Atom(Atom::at_most_zero(terms.iter().copied(), constant).unwrap())
//! };
//! let mut solver = Solver::new(Limits::default());
//! // waiting <= n, and n <= 4.
//! solver.push(&[at_most(&[(waiting, 1), (n, -1)], 0), at_most(&[(n, 1)], -4)]);
//! // Can waiting be 5, or at least 3?
//! let five = solver.solve(&[at_most(&[(waiting, -1)], 5)], &|| false);
//! assert!(matches!(five, Answer::Unsat(_)));
//! let Answer::Sat(model) = solver.solve(&[at_most(&[(waiting, -1)], 3)], &|| false) else {
//!     panic!()
//! };
//! assert!(model.value(waiting) >= 3 && model.value(n) >= model.value(waiting));
//! ```

mod interpolate;
mod number;
mod search;
mod simplex;
mod store;

use threadwise_evidence::arithmetic::{Formula, Proof, Variable};

pub use interpolate::interpolate;
use search::{Moment, Outcome, Search, State};
use store::{Mark, NodeId, Store};

/// How far one question may go. The work is counted, not timed, so answers do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Exchanges in the simplex method.
    pub pivots: u64,
    /// Distinctions of cases.
    pub splits: u64,
    /// Cases within cases. Proofs are no deeper than this.
    pub depth: u32,
    /// Cases within cases that only keep values from lying between integers.
    pub branches: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            pivots: 100_000,
            splits: 10_000,
            depth: 200,
            branches: 24,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// [`Limits::pivots`] is reached.
    #[error("the simplex method took too many steps")]
    Pivots,
    /// [`Limits::splits`] is reached.
    #[error("too many cases were distinguished")]
    Splits,
    /// [`Limits::depth`] is reached.
    #[error("cases are nested too deeply")]
    Depth,
    /// [`Limits::branches`] is reached.
    #[error("fractions satisfy the formulas, and no integers were found that do")]
    Branches,
    /// A number does not fit into 64 bits, in an inequality that would have to be written or in a model.
    #[error("a number does not fit into 64 bits")]
    Overflow,
    /// An inequality was given that does not have the form that [`threadwise_evidence::arithmetic::Atom`] asks for.
    #[error("an inequality is not in normal form")]
    Form,
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

impl Why {
    /// Whether the search cannot go on in other cases either.
    fn ends_search(self) -> bool {
        matches!(self, Why::Pivots | Why::Splits | Why::Stopped | Why::Form)
    }
}

/// Integers for which formulas hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Sorted; variables that may have any value are left out.
    values: Vec<(Variable, i64)>,
}

impl Model {
    /// The value of a variable.
    pub fn value(&self, variable: Variable) -> i64 {
        let position = (self.values).binary_search_by_key(&variable, |(variable, _)| *variable);
        position.map_or(0, |position| self.values[position].1)
    }

    /// The value of a sum, if it fits into 64 bits.
    pub fn sum(&self, terms: &[(Variable, i64)], constant: i64) -> Option<i64> {
        let mut sum = i128::from(constant);
        for (variable, factor) in terms {
            sum += i128::from(*factor) * i128::from(self.value(*variable));
        }
        i64::try_from(sum).ok()
    }
}

/// Whether formulas can hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They do for these values.
    Sat(Model),
    /// They cannot, with a proof from the formulas of the question and those that were taken in before it.
    Unsat(Proof),
    /// No answer.
    Unknown(Why),
}

/// How much was done, over all questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Questions.
    pub questions: u64,
    /// Exchanges in the simplex method.
    pub pivots: u64,
    /// Distinctions of cases.
    pub splits: u64,
    /// Distinctions that keep values from lying between integers.
    pub branches: u64,
    /// Distinctions whose first refutation did not need them.
    pub skipped: u64,
    /// Questions in which 64 bits did not suffice for the numbers of the simplex method.
    pub big: u64,
}

/// Formulas that are taken in, and what follows from them.
#[derive(Debug, Default)]
struct Level {
    /// What the store held and what was known before them.
    before: (Mark, Moment),
    /// The answer, if it is clear already.
    answer: Option<Result<Refutation, Why>>,
}

/// A proof, and the numbers of the formulas that it is from.
#[derive(Clone, Debug)]
struct Refutation {
    proof: Proof,
    core: Vec<u32>,
}

/// The solver, with a stack of formulas that it has taken in. Which values or proof it answers with may depend on earlier questions: it begins where the last one ended.
#[derive(Debug)]
pub struct Solver {
    limits: Limits,
    statistics: Statistics,
    store: Store,
    state: State,
    levels: Vec<Level>,
    core: Vec<u32>,
}

impl Solver {
    /// A solver without any formulas.
    pub fn new(limits: Limits) -> Solver {
        Solver {
            limits,
            statistics: Statistics::default(),
            store: Store::default(),
            state: State::default(),
            levels: Vec::new(),
            core: Vec::new(),
        }
    }

    /// How much was done.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Takes formulas in, as hypotheses of the questions that follow.
    pub fn push<'f>(&mut self, formulas: impl IntoIterator<Item = &'f Formula>) {
        let before = (self.store.mark(), self.state.moment());
        let answer = self.levels.last().and_then(|level| level.answer.clone());
        let answer = match (answer, read(&mut self.store, formulas)) {
            (Some(answer), _) => Some(answer),
            (None, Err(why)) => Some(Err(why)),
            (None, Ok(nodes)) => {
                let (store, state) = (&mut self.store, &mut self.state);
                let (limits, statistics) = (&self.limits, &mut self.statistics);
                let mut search = Search::new(store, state, limits, statistics, &|| false);
                match search.assume(&nodes).or_else(|| search.close()) {
                    Some(Outcome::Unsat(proof, rests)) => {
                        let core = search.core(&rests);
                        Some(Ok(Refutation { proof, core }))
                    }
                    // A question may go further.
                    _ => None,
                }
            }
        };
        self.levels.push(Level { before, answer });
    }

    /// Forgets the formulas of the last [`push`](Solver::push) that is not forgotten.
    pub fn pop(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.go_back(level.before);
        }
    }

    fn go_back(&mut self, (mark, moment): (Mark, Moment)) {
        self.state.go_back(moment, &self.store);
        self.state.forget(Store::first_form(mark));
        self.store.forget(mark);
    }

    /// Whether the formulas taken in, and these, can hold together. The search ends if `stop` says so.
    pub fn solve<'f>(
        &mut self,
        formulas: impl IntoIterator<Item = &'f Formula>,
        stop: &dyn Fn() -> bool,
    ) -> Answer {
        self.statistics.questions += 1;
        match self.levels.last().and_then(|level| level.answer.as_ref()) {
            Some(Ok(refutation)) => {
                self.core.clone_from(&refutation.core);
                return Answer::Unsat(refutation.proof.clone());
            }
            Some(Err(why)) => return Answer::Unknown(*why),
            None => {}
        }
        let before = (self.store.mark(), self.state.moment());
        let answer = self.search(formulas, stop);
        self.go_back(before);
        self.statistics.big += u64::from(self.state.big());
        answer
    }

    /// Which formulas the last [`Answer::Unsat`] rests on: its proof is one from these alone. Formulas are numbered as they were taken in, those of the question last.
    pub fn core(&self) -> &[u32] {
        &self.core
    }

    fn search<'f>(
        &mut self,
        formulas: impl IntoIterator<Item = &'f Formula>,
        stop: &dyn Fn() -> bool,
    ) -> Answer {
        let nodes = match read(&mut self.store, formulas) {
            Ok(nodes) => nodes,
            Err(why) => return Answer::Unknown(why),
        };
        let (store, limits) = (&mut self.store, &self.limits);
        let (state, statistics) = (&mut self.state, &mut self.statistics);
        let mut search = Search::new(store, state, limits, statistics, stop);
        let outcome = match search.assume(&nodes) {
            Some(outcome) => outcome,
            None => search.run(),
        };
        match outcome {
            Outcome::Sat(model) => Answer::Sat(model),
            Outcome::Unsat(proof, rests) => {
                self.core = search.core(&rests);
                Answer::Unsat(proof)
            }
            Outcome::Unknown(why) => Answer::Unknown(why),
        }
    }
}

fn read<'f>(
    store: &mut Store,
    formulas: impl IntoIterator<Item = &'f Formula>,
) -> Result<Vec<NodeId>, Why> {
    formulas
        .into_iter()
        .map(|formula| store.formula(formula))
        .collect()
}
