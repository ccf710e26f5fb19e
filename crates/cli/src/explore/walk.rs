//! A walk: where it begins, and who did what. The interpreter finds the states again, so a walk is a short list of numbers that fits an address.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use threadwise::Trace;
use threadwise_evidence::{Step, Steps, Value};
use threadwise_model::expression::Limit;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};

/// The longest walk: every state of it is kept, so that going back is quick.
const LONGEST: usize = 20_000;

/// What somebody does next: a process by its position among those of the state, and which of the things it can do; nothing if it is scheduled and has no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choice(pub(super) usize, pub(super) Option<usize>);

/// A walk as it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Walk {
    /// The number of its initial state, as text: there may be very many.
    pub(super) initial: String,
    /// What happened.
    pub(super) choices: Vec<Choice>,
}

/// Why a walk cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Misstep {
    /// No such initial state.
    #[error("the walk does not fit this model: there is no initial state number {0}")]
    Initial(String),
    /// A step that is not there.
    #[error("the walk does not fit this model from step {} on: {message}", .step + 1)]
    Step { step: usize, message: String },
    /// The interpreter cannot go on.
    #[error("{0}")]
    Limit(#[from] Limit),
    /// Too long.
    #[error("the walk has more than {LONGEST} steps")]
    Long,
}

/// A walk with all its states.
pub(super) struct Walked {
    instance: Arc<Instance>,
    initial: String,
    choices: Vec<Choice>,
    /// One more than steps.
    states: Vec<State>,
    steps: Vec<Step>,
}

impl Walked {
    /// The beginning of a walk.
    pub(super) fn new(instance: Arc<Instance>, initial: &str) -> Result<Walked, Misstep> {
        let number = initial.parse().ok();
        let states = Interpreter::new(&instance).initial_states()?;
        let state = number.and_then(|number| states.nth(number));
        let state = state.ok_or_else(|| Misstep::Initial(initial.chars().take(40).collect()))?;
        Ok(Walked {
            instance,
            initial: initial.to_owned(),
            choices: Vec::new(),
            states: vec![state],
            steps: Vec::new(),
        })
    }

    /// Whether it begins like another one.
    pub(super) fn begins(&self, instance: &Arc<Instance>, walk: &Walk) -> bool {
        Arc::ptr_eq(&self.instance, instance) && self.initial == walk.initial
    }

    /// Follows a walk, from where it differs from what is known. What is known beyond its end is kept: whoever goes back may come again.
    pub(super) fn follow(&mut self, walk: &Walk) -> Result<(), Misstep> {
        let wanted = &walk.choices[..walk.choices.len().min(LONGEST)];
        let long = wanted.len() < walk.choices.len();
        let same = self.choices.iter().zip(wanted);
        let same = same.take_while(|(a, b)| a == b).count();
        if same == wanted.len() && !long {
            return Ok(());
        }
        self.choices.truncate(same);
        self.steps.truncate(same);
        self.states.truncate(same + 1);
        let instance = Arc::clone(&self.instance);
        let describe = Steps::new(&instance);
        for choice in &wanted[same..] {
            let step = self.choices.len();
            let misstep = |message: &str| Misstep::Step {
                step,
                message: message.to_owned(),
            };
            let before = &self.states[step];
            let process = before.processes().nth(choice.0);
            let process = process.ok_or_else(|| misstep("there is no such process"))?;
            let outcomes = Interpreter::new(&instance).outcomes(before, process)?;
            let outcome = match choice.1 {
                None if outcomes.is_empty() => None,
                None => return Err(misstep("the process has a step")),
                Some(number) => Some(
                    outcomes
                        .get(number)
                        .ok_or_else(|| misstep("the process cannot do that"))?,
                ),
            };
            let taken = describe.step(before, process, outcome);
            let taken = taken.ok_or_else(|| misstep("a check fails in this step"))?;
            let after = match outcome {
                Some(Outcome::Move { state, .. }) => state.clone(),
                _ => before.clone(),
            };
            self.choices.push(*choice);
            self.steps.push(taken);
            self.states.push(after);
        }
        match long {
            true => Err(Misstep::Long),
            false => Ok(()),
        }
    }

    /// The steps that are known.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The state after so many steps.
    pub(super) fn state(&self, after: usize) -> Option<&State> {
        self.states.get(after)
    }
}

/// The position of a process among those of a state.
pub(super) fn position(state: &State, process: ProcessRef) -> Option<usize> {
    state.processes().position(|other| other == process)
}

/// The walk of a trace that the interpreter has replayed.
pub(super) fn of_trace(instance: &Instance, trace: &Trace) -> Result<Walk, String> {
    let names = Names::new(instance);
    let locations: Option<Vec<(&str, &str)>> = trace
        .initial
        .locations
        .iter()
        .map(|(process, label)| match label {
            Value::Name(label) => Some((process, label.as_str())),
            Value::Bool(_) | Value::Int(_) => None,
        })
        .collect();
    let cells = trace.initial.variables.iter();
    let cells = cells.map(|(name, value)| (name, value.into()));
    let locations = locations.ok_or("the initial state has a label that is none")?;
    let mut state = names
        .state(locations, cells)
        .map_err(|error| error.to_string())?;
    let interpreter = Interpreter::new(instance);
    let states = interpreter.initial_states().map_err(|e| e.to_string())?;
    let initial = states
        .number(&state)
        .ok_or("the initial state has no number")?;
    let describe = Steps::new(instance);
    let mut choices = Vec::with_capacity(trace.steps.len());
    for step in &trace.steps {
        let process = names
            .parse_process(&step.process, &state)
            .map_err(|error| error.to_string())?;
        let place = position(&state, process).ok_or("there is no such process")?;
        let outcomes = interpreter
            .outcomes(&state, process)
            .map_err(|limit| limit.to_string())?;
        if step.idle {
            choices.push(Choice(place, None));
            continue;
        }
        let taken = outcomes.iter().position(|outcome| {
            let taken = describe.step(&state, process, Some(outcome));
            taken.is_some_and(|taken| taken.does_the_same(step))
        });
        let taken = taken.ok_or("there is no such step")?;
        choices.push(Choice(place, Some(taken)));
        if let Some(Outcome::Move { state: after, .. }) = outcomes.into_iter().nth(taken) {
            state = after;
        }
    }
    Ok(Walk {
        initial: initial.to_string(),
        choices,
    })
}
