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
    /// By their [codes](encode).
    numbers: FxHashMap<Box<[u8]>, StateId>,
    /// The code of the state that is looked up, kept for its room.
    code: Vec<u8>,
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
            code: Vec::new(),
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
        self.code.clear();
        encode(&state, &mut self.code);
        if let Some(known) = self.numbers.get(self.code.as_slice()) {
            return *known;
        }
        let new = self.states.push(Rc::new(state));
        self.numbers.insert(self.code.as_slice().into(), new);
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
            let several = outcomes.len() > 1;
            let mut reached = FxHashSet::default();
            for outcome in outcomes {
                let first = |path: &[Span]| path.first().copied().unwrap_or_default();
                let (kind, span) = match outcome {
                    Outcome::Move { state, path, .. } => {
                        let to = self.number(state);
                        if several && !reached.insert(to) {
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

/// Writes a state as bytes, different states differently: a code is looked up faster than the vectors of a state are. What is small takes one byte; 255 says that
/// eight bytes follow. How many processes there are says where what is.
fn encode(state: &State, code: &mut Vec<u8>) {
    let mut add = |value: i64| match u8::try_from(value.wrapping_add(1)) {
        Ok(small) if small < u8::MAX => code.push(small),
        _ => {
            code.push(u8::MAX);
            code.extend(value.to_le_bytes());
        }
    };
    state.shared.iter().for_each(|cell| add(*cell));
    for processes in &state.templates {
        add(processes.locations.len() as i64);
        let locations = processes.locations.iter();
        locations.for_each(|location| add(i64::from(location.raw())));
        processes.cells.iter().for_each(|cell| add(*cell));
    }
}

fn limit(limit: Limit) -> Error {
    Error::unsupported(format!(
        "the states are not for the interpreter to go through: {limit}"
    ))
}

#[cfg(test)]
mod tests {
    use threadwise_lang::program::{LocationId, TemplateId};
    use threadwise_model::state::Processes;

    use super::*;

    /// The numbers that a code was made of.
    fn decode(mut code: &[u8]) -> Vec<i64> {
        let mut numbers = Vec::new();
        while let [first, rest @ ..] = code {
            code = rest;
            numbers.push(match *first {
                u8::MAX => {
                    let (eight, rest) = code.split_at(8);
                    code = rest;
                    i64::from_le_bytes(eight.try_into().unwrap())
                }
                small => i64::from(small) - 1,
            });
        }
        numbers
    }

    #[test]
    fn codes_say_all_that_states_do() {
        let shared = vec![i64::MIN, -2, -1, 0, 1, 253, 254, 255, 256, i64::MAX];
        let cells = vec![-1, 7, i64::MAX - 1];
        let mut state = State {
            shared: shared.clone(),
            ..State::default()
        };
        let locations = vec![LocationId::from_raw(2), LocationId::from_raw(300)];
        let first: TemplateId = state.templates.push(Processes {
            locations,
            cells: cells.clone(),
        });
        let mut code = Vec::new();
        encode(&state, &mut code);
        assert_eq!(decode(&code), [shared, vec![2, 2, 300], cells].concat());
        // One process more is another state, also if the numbers behind it look alike.
        state.templates[first].locations.pop();
        state.templates[first].cells.insert(0, 300);
        let mut other = Vec::new();
        encode(&state, &mut other);
        assert_ne!(code, other);
    }
}
