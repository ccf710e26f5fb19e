//! The interpreter: what a program means.
//!
//! It runs the statements of the checked program as `docs/book/src/language.md` describes them, from one
//! label to the next, and never looks at lowered steps; whatever else computes with a program is
//! tested against this. `paths` follows the statements, `expression` evaluates, `initial` begins.

use threadwise_lang::program::{BoundId, Expr, LocationId, Span};

use crate::expression::{Budget, Failure, Limit, Scope, Stop};
pub use crate::initial::InitialStates;
use crate::instance::Instance;
use crate::paths;
use crate::state::{ProcessRef, State};

/// One thing that a process can do in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A step to the next label, or to the end.
    Move {
        /// The state after it.
        state: State,
        /// Where it led.
        to: LocationId,
        /// The statements it executed, conditions included, in order; at most a thousand.
        path: Vec<Span>,
    },
    /// The process rests (`stay`): a step that changes nothing.
    Rest {
        /// The statement.
        span: Span,
    },
    /// A check fails, and the run ends.
    Fail {
        /// Which check, and where.
        failure: Failure,
        /// The statements executed up to there.
        path: Vec<Span>,
        /// The state within the step, with what these have written.
        within: State,
        /// What is wrong then, if the front end that made the program says so.
        meaning: Option<String>,
    },
}

/// What evaluating a state predicate gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is true.
    True,
    /// It is false.
    False,
    /// A check fails in it; such a predicate does not hold.
    Fails(Failure),
}

impl Judgement {
    /// Whether the predicate holds.
    pub fn holds(self) -> bool {
        self == Judgement::True
    }
}

/// The meaning of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'a> {
    instance: &'a Instance,
}

impl<'a> Interpreter<'a> {
    /// The interpreter of an instance.
    pub fn new(instance: &'a Instance) -> Self {
        Interpreter { instance }
    }

    /// The instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// The initial states, one after the other; there may be very many.
    pub fn initial_states(&self) -> Result<InitialStates<'a>, Limit> {
        let states = InitialStates::new(self.instance)?;
        match (self.instance.program().initially.first(), states.is_long()) {
            (Some(first), true) => Err(Limit::TooMuchWork { span: first.span }),
            _ => Ok(states),
        }
    }

    /// Whether a state is initial, without going through the initial states.
    pub fn is_initial(&self, state: &State) -> bool {
        crate::initial::is_initial(self.instance, state)
    }

    /// Everything that a process can do in a state, in the order of the text.
    pub fn outcomes(&self, state: &State, process: ProcessRef) -> Result<Vec<Outcome>, Limit> {
        if self.has_ended(state, process) {
            return Ok(Vec::new());
        }
        paths::outcomes(self.instance, state, process)
    }

    /// Everything that can happen in a state, process by process.
    pub fn successors(&self, state: &State) -> Result<Vec<(ProcessRef, Outcome)>, Limit> {
        let mut all = Vec::new();
        for process in state.processes() {
            all.extend(
                self.outcomes(state, process)?
                    .into_iter()
                    .map(|outcome| (process, outcome)),
            );
        }
        Ok(all)
    }

    /// A state as steps leave it: the counters of loops that control is not in are at their lower bounds, and nothing else is changed.
    pub fn settled(&self, mut state: State) -> State {
        let processes: Vec<ProcessRef> = state.processes().collect();
        for process in processes {
            paths::settle(self.instance, &mut state, process);
        }
        state
    }

    /// Whether a process has ended.
    pub fn has_ended(&self, state: &State, process: ProcessRef) -> bool {
        state.location(process) == self.instance.program().templates[process.template].done()
    }

    /// Whether a state is a deadlock: some process has not ended, and none can do anything but
    /// rest. A step that fails is a step.
    pub fn is_deadlock(&self, state: &State) -> Result<bool, Limit> {
        let mut unfinished = false;
        for process in state.processes() {
            unfinished |= !self.has_ended(state, process);
            let outcomes = self.outcomes(state, process)?;
            if outcomes
                .iter()
                .any(|outcome| !matches!(outcome, Outcome::Rest { .. }))
            {
                return Ok(false);
            }
        }
        Ok(unfinished)
    }

    /// The value of an expression of any type in a state; `Err` in it is a check that fails.
    pub fn evaluate(&self, state: &State, expr: &Expr) -> Result<Result<i64, Failure>, Limit> {
        self.evaluate_in(state, None, expr, &[])
    }

    /// The same with values for the variables that are bound around it, and as a part of the text of a process if there is one.
    pub fn evaluate_in(
        &self,
        state: &State,
        own: Option<ProcessRef>,
        expr: &Expr,
        bindings: &[(BoundId, i64)],
    ) -> Result<Result<i64, Failure>, Limit> {
        let mut scope = Scope {
            instance: self.instance,
            state: Some(state),
            own,
            last: None,
            bindings: &mut bindings.to_vec(),
            budget: &mut Budget::default(),
        };
        match scope.value(expr) {
            Ok(value) => Ok(Ok(value)),
            Err(Stop::Fails(failure)) => Ok(Err(failure)),
            Err(Stop::Limit(limit)) => Err(limit),
        }
    }

    /// The value of a state predicate.
    pub fn judge(&self, state: &State, predicate: &Expr) -> Result<Judgement, Limit> {
        self.judge_after(state, None, predicate, &[])
    }

    /// The value of a predicate after a step of some process from some label, which is what
    /// `taken` asks about, with values for the variables that are bound around it.
    pub fn judge_after(
        &self,
        state: &State,
        last: Option<(ProcessRef, LocationId)>,
        predicate: &Expr,
        bindings: &[(BoundId, i64)],
    ) -> Result<Judgement, Limit> {
        let mut scope = Scope {
            instance: self.instance,
            state: Some(state),
            own: None,
            last,
            bindings: &mut bindings.to_vec(),
            budget: &mut Budget::default(),
        };
        match scope.truth(predicate) {
            Ok(true) => Ok(Judgement::True),
            Ok(false) => Ok(Judgement::False),
            Err(Stop::Fails(failure)) => Ok(Judgement::Fails(failure)),
            Err(Stop::Limit(limit)) => Err(limit),
        }
    }
}
