//! The states that are gone through, and what the interpreter says can happen in each of them.
//!
//! What happens in a state is asked once, however many conditions are about it: a proof about fair runs goes through the same states for each conjunct and each process.

use std::rc::Rc;

use index_vec::{IndexVec, define_index_type};
use rustc_hash::{FxHashMap, FxHashSet};
use threadwise_lang::program::{LocationId, Span};
use threadwise_model::expression::{Failure, Limit};
use threadwise_model::interpreter::{Interpreter, Judgement, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};
use threadwise_model::temporal::Atom;

use crate::Error;
use crate::rejection::{Condition, StepName, refused};
use crate::report::Subject;

/// The most outcomes of steps that are looked at.
const MOST_OUTCOMES: u64 = 10_000_000;

define_index_type! {
    /// A state that was met.
    pub(crate) struct StateId = u32;
}

/// The step that led to a state, as far as a property asks: the process and the label that it left.
pub(crate) type Last = Option<(ProcessRef, LocationId)>;

/// What can happen in a state.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    /// Whose turn it is.
    pub(crate) process: ProcessRef,
    pub(crate) kind: EventKind,
    /// The statement that it begins with.
    span: Span,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum EventKind {
    /// A step to this state.
    Move(StateId),
    /// The process rests, and nothing changes.
    Rest,
    /// A check fails, and the run ends.
    Fail(Failure),
}

/// Why states are not gone through.
pub(crate) fn too_many(what: &str) -> Error {
    Error::unsupported(format!("there are too many {what} to go through"))
}

pub(crate) struct Space<'a> {
    pub(crate) subject: Subject<'a>,
    interpreter: Interpreter<'a>,
    states: IndexVec<StateId, Rc<State>>,
    numbers: FxHashMap<Rc<State>, StateId>,
    events: IndexVec<StateId, Option<Rc<[Event]>>>,
    /// How many states it was asked what can happen in.
    asked: u64,
    /// How many outcomes were looked at.
    pub(crate) outcomes: u64,
}

impl<'a> Space<'a> {
    pub(crate) fn new(subject: Subject<'a>) -> Space<'a> {
        Space {
            subject,
            interpreter: Interpreter::new(subject.instance),
            states: IndexVec::new(),
            numbers: FxHashMap::default(),
            events: IndexVec::new(),
            asked: 0,
            outcomes: 0,
        }
    }

    /// How many states were met. They are numbered in the order in which they were.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The number of a state.
    pub(crate) fn number(&mut self, state: State) -> StateId {
        if let Some(known) = self.numbers.get(&state) {
            return *known;
        }
        let state = Rc::new(state);
        let new = self.states.push(Rc::clone(&state));
        self.numbers.insert(state, new);
        self.events.push(None);
        new
    }

    /// The number of a state that a certificate lists. What is not as steps leave it, in the counters of loops that control is not in, is on no run:
    /// a certificate that claims such states is left to ways that read programs as they were lowered.
    pub(crate) fn listed(&mut self, state: State) -> Result<StateId, Error> {
        match self.interpreter.settled(state.clone()) == state {
            true => Ok(self.number(state)),
            false => Err(too_many("states outside of all runs")),
        }
    }

    /// The initial states, one after the other.
    pub(crate) fn initial(&self) -> Result<impl Iterator<Item = State> + use<'a>, Error> {
        self.interpreter.initial_states().map_err(limit)
    }

    /// Everything that can happen in a state, process by process; what leads to the same state twice is there once. A step that leaves 64 bits rejects
    /// the certificate.
    pub(crate) fn events(&mut self, id: StateId) -> Result<Rc<[Event]>, Error> {
        if let Some(known) = &self.events[id] {
            return Ok(Rc::clone(known));
        }
        if self.asked.is_multiple_of(16) && (self.subject.cancel)() {
            return Err(Error::Cancelled);
        }
        self.asked += 1;
        let state = Rc::clone(&self.states[id]);
        let mut events: Vec<Event> = Vec::new();
        for process in state.processes() {
            let outcomes = match self.interpreter.outcomes(&state, process) {
                Ok(outcomes) => outcomes,
                Err(Limit::Overflow { span }) => {
                    let name = self.step_name(id, process, None, span);
                    let condition = Condition::Overflow(Some(name));
                    return Err(refused(condition, self.describe(id), None));
                }
                Err(other) => return Err(limit(other)),
            };
            self.outcomes += outcomes.len() as u64 + 1;
            if self.outcomes > MOST_OUTCOMES {
                return Err(too_many("outcomes of steps"));
            }
            let mut reached = FxHashSet::default();
            for outcome in outcomes {
                let first = |path: &[Span]| path.first().copied().unwrap_or_default();
                let (kind, span) = match outcome {
                    Outcome::Move { state, path, .. } => {
                        let to = self.number(state);
                        if !reached.insert(to) {
                            continue;
                        }
                        (EventKind::Move(to), first(&path))
                    }
                    Outcome::Rest { span } => (EventKind::Rest, span),
                    Outcome::Fail { failure, path, .. } => (EventKind::Fail(failure), first(&path)),
                };
                events.push(Event {
                    process,
                    kind,
                    span,
                });
            }
        }
        let events: Rc<[Event]> = events.into();
        self.events[id] = Some(Rc::clone(&events));
        Ok(events)
    }

    /// Whether a state is a deadlock: some process has not ended, and none can do anything but rest.
    pub(crate) fn is_deadlock(&mut self, id: StateId) -> Result<bool, Error> {
        let resting = self
            .events(id)?
            .iter()
            .all(|event| event.kind == EventKind::Rest);
        let state = &self.states[id];
        let mut processes = state.processes();
        Ok(resting && processes.any(|process| !self.interpreter.has_ended(state, process)))
    }

    /// Where a process is.
    pub(crate) fn location(&self, id: StateId, process: ProcessRef) -> LocationId {
        self.states[id].location(process)
    }

    /// Every process.
    pub(crate) fn processes(&self, id: StateId) -> impl Iterator<Item = ProcessRef> + '_ {
        self.states[id].processes()
    }

    /// Whether a predicate holds in a state, after a step of a process from a label; nothing if a check fails in it.
    pub(crate) fn truth(
        &self,
        id: StateId,
        last: Last,
        atom: &Atom<'_>,
    ) -> Result<Option<bool>, Error> {
        let state = &self.states[id];
        let judged = self
            .interpreter
            .judge_after(state, last, atom.expr, &atom.bindings);
        match judged {
            Ok(Judgement::True) => Ok(Some(true)),
            Ok(Judgement::False) => Ok(Some(false)),
            Ok(Judgement::Fails(_)) => Ok(None),
            Err(Limit::Overflow { .. }) => {
                let condition = Condition::Overflow(None);
                Err(refused(condition, self.describe(id), None))
            }
            Err(other) => Err(limit(other)),
        }
    }

    /// Where every process is in a state, and the value of every cell.
    pub(crate) fn describe(&self, id: StateId) -> Vec<(String, String)> {
        self.subject.describe_state(&self.states[id])
    }

    /// A step, in source terms.
    pub(crate) fn name(&self, from: StateId, event: &Event) -> StepName {
        let to = match event.kind {
            EventKind::Move(to) => Some(to),
            EventKind::Rest => Some(from),
            EventKind::Fail(_) => None,
        };
        self.step_name(from, event.process, to, event.span)
    }

    fn step_name(
        &self,
        from: StateId,
        process: ProcessRef,
        to: Option<StateId>,
        span: Span,
    ) -> StepName {
        let names = Names::new(self.subject.instance);
        let label = |state: StateId| {
            let location = self.states[state].location(process);
            names.location(process.template, location).to_owned()
        };
        StepName {
            process: names.process(process),
            from: label(from),
            to: to.map(label),
            span,
        }
    }
}

fn limit(limit: Limit) -> Error {
    Error::unsupported(format!(
        "the states are not for the interpreter to go through: {limit}"
    ))
}
