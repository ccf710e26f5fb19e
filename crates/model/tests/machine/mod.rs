//! A program, its text and a state of it, for tests that step through it by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_lang::program::PropertyKind;
use threadwise_model::expression::Limit;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Judgement, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::State;

/// A program with its text and its current state.
pub struct Machine {
    text: String,
    pub instance: Instance,
    pub state: State,
}

impl Machine {
    pub fn new(text: &str) -> Machine {
        Machine::with(text, &[])
    }

    pub fn with(text: &str, values: &[(&str, i64)]) -> Machine {
        let instance = instance(text, values).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let state = Interpreter::new(&instance)
            .initial_states()
            .unwrap()
            .next()
            .unwrap();
        Machine {
            text: text.to_owned(),
            instance,
            state,
        }
    }

    pub fn raw(&self, process: &str) -> Result<Vec<Outcome>, Limit> {
        let process = Names::new(&self.instance)
            .parse_process(process, &self.state)
            .unwrap();
        Interpreter::new(&self.instance).outcomes(&self.state, process)
    }

    /// What a process can do.
    pub fn outcomes(&self, process: &str) -> Vec<String> {
        let names = Names::new(&self.instance);
        let template = names.parse_process(process, &self.state).unwrap().template;
        let show = |outcome: Outcome| match outcome {
            Outcome::Rest { .. } => "rest".to_owned(),
            Outcome::Fail { failure, .. } => {
                let blamed = &self.text[failure.span.start as usize..failure.span.end as usize];
                format!("fail {:?} in `{blamed}`", failure.kind)
            }
            Outcome::Move { state, to, .. } => {
                let mut changes: Vec<String> = names
                    .changes(&self.state, &state)
                    .into_iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                changes.extend(
                    names
                        .started(&self.state, &state)
                        .iter()
                        .map(|(name, at)| format!("start {name} at {at}")),
                );
                format!(
                    "to {}: {}",
                    names.location(template, to),
                    changes.join(", ")
                )
            }
        };
        self.raw(process).unwrap().into_iter().map(show).collect()
    }

    /// Takes the only move of a process, or the one that is `chosen` among those it lists.
    pub fn go(&mut self, process: &str, chosen: usize) {
        let outcomes = self.raw(process).unwrap();
        let Some(Outcome::Move { state, .. }) = outcomes.into_iter().nth(chosen) else {
            panic!(
                "{process} has no move {chosen}: {:?}",
                self.outcomes(process)
            );
        };
        self.state = state;
    }

    pub fn judge(&self, property: &str) -> Judgement {
        let found = self
            .instance
            .program()
            .properties
            .iter()
            .find(|p| p.name == property);
        let PropertyKind::Invariant(predicate) = &found.unwrap().kind else {
            panic!("{property} is no invariant");
        };
        Interpreter::new(&self.instance)
            .judge(&self.state, predicate)
            .unwrap()
    }

    pub fn deadlocked(&self) -> bool {
        Interpreter::new(&self.instance)
            .is_deadlock(&self.state)
            .unwrap()
    }

    pub fn cell(&self, wanted: &str) -> String {
        let cells = Names::new(&self.instance).cells(&self.state);
        cells
            .into_iter()
            .find(|(name, _)| name == wanted)
            .unwrap()
            .1
            .to_string()
    }
}

pub fn instance(text: &str, values: &[(&str, i64)]) -> Result<Instance, Vec<String>> {
    let checked = threadwise_lang::check(text);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    let values: BTreeMap<String, i64> = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    Instance::new(Arc::new(program), &values).map_err(|errors| {
        errors
            .into_iter()
            .map(|error| format!("{} {}", error.code.as_str(), error.message))
            .collect()
    })
}
