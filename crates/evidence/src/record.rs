//! From a run, as states, to a trace in source terms.
//!
//! The interpreter takes each step again, so that a trace that was recorded has been replayed,
//! and says which statements each step executed.

use std::collections::BTreeSet;

use threadwise_lang::program::{Program, Span};
use threadwise_model::expression::Failure;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};

use crate::lines::Lines;
use crate::replay::{ReplayError, evaluation_failure, judge_ending};
use crate::trace::{
    Ending, FailedCheck, Initial, MemoryModel, Step, TRACE_VERSION, Trace, Valuation, Value,
};

/// What happens at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// Nothing: it goes on for ever, fair and against a liveness property. The last state is the one after `from` steps.
    Loop {
        /// Where the loop begins.
        from: usize,
        /// Of the steps that change nothing, those in which the process moves, by position. In the others it rests, or has no step.
        moves: BTreeSet<usize>,
    },
    /// The property, an invariant, does not hold in the last state.
    Invariant,
    /// The last state is a deadlock.
    Deadlock,
    /// A step from the last state fails.
    Check {
        /// Whose step.
        process: ProcessRef,
        /// What fails, and where.
        failure: Failure,
    },
    /// Nothing.
    End,
}

/// Builds a trace step by step.
#[derive(Debug)]
pub struct Recorder<'a> {
    instance: &'a Instance,
    lines: Lines<'a>,
    state: State,
    trace: Trace,
}

impl<'a> Recorder<'a> {
    /// Begins a trace. `source` is the text that the instance's program was checked from.
    pub fn new(
        instance: &'a Instance,
        source: &'a str,
        initial: State,
    ) -> Result<Self, ReplayError> {
        if !Interpreter::new(instance).is_initial(&initial) {
            return Err(ReplayError::NotInitial);
        }
        let names = Names::new(instance);
        let trace = Trace {
            version: TRACE_VERSION,
            memory_model: MemoryModel::SequentiallyConsistent,
            property: None,
            params: instance
                .params()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            initial: Initial {
                locations: labels(names.locations(&initial)),
                variables: valuation(names.cells(&initial)),
            },
            steps: Vec::new(),
            loop_from: None,
            ending: Ending::End,
        };
        Ok(Recorder {
            instance,
            lines: Lines::new(source),
            state: initial,
            trace,
        })
    }

    /// The last state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Adds a step of a process to a state, which must be one that the interpreter takes.
    pub fn step(&mut self, process: ProcessRef, after: State) -> Result<(), ReplayError> {
        let number = self.trace.steps.len() + 1;
        let outcomes = Interpreter::new(self.instance)
            .outcomes(&self.state, process)
            .map_err(|limit| ReplayError::Limit {
                step: number,
                limit,
            })?;
        let moved = outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Move { state, path, .. } if *state == after => {
                Some((false, path.first().copied()))
            }
            _ => None,
        });
        let rested = || {
            outcomes.iter().find_map(|outcome| match outcome {
                Outcome::Rest { span } if self.state == after => Some((true, Some(*span))),
                _ => None,
            })
        };
        let Some((rest, span)) = moved.or_else(rested) else {
            return Err(ReplayError::NoSuchStep {
                step: number,
                process: Names::new(self.instance).process(process),
                message: "the interpreter does not take this step".to_owned(),
            });
        };
        self.push(process, after, rest, span);
        Ok(())
    }

    /// Adds an outcome that the interpreter has just given in the last state; one that fails ends
    /// the run and adds nothing.
    pub fn outcome(&mut self, process: ProcessRef, outcome: &Outcome) {
        match outcome {
            Outcome::Move { state, path, .. } => {
                self.push(process, state.clone(), false, path.first().copied())
            }
            Outcome::Rest { span } => self.push(process, self.state.clone(), true, Some(*span)),
            Outcome::Fail { .. } => {}
        }
    }

    fn push(&mut self, process: ProcessRef, after: State, rest: bool, span: Option<Span>) {
        let names = Names::new(self.instance);
        let from = self.state.location(process);
        let span =
            span.unwrap_or_else(|| label_span(self.instance.program(), process, &self.state));
        self.trace.steps.push(Step {
            process: names.process(process),
            from: names.location(process.template, from).to_owned(),
            to: names
                .location(process.template, after.location(process))
                .to_owned(),
            line: Some(self.lines.number(span.start)),
            rest,
            changes: valuation(names.changes(&self.state, &after)),
            started: labels(names.started(&self.state, &after)),
        });
        self.state = after;
    }

    /// Ends the trace. The ending is checked: for a violation of `property`, that it is one.
    pub fn finish(
        mut self,
        property: Option<&str>,
        ending: RunEnding,
    ) -> Result<Trace, ReplayError> {
        let names = Names::new(self.instance);
        self.trace.property = property.map(str::to_owned);
        self.trace.ending = match ending {
            RunEnding::Invariant => Ending::Invariant {
                fails: property
                    .and_then(|name| evaluation_failure(self.instance, name, &self.state))
                    .map(|failure| FailedCheck {
                        check: failure.kind.into(),
                        line: Some(self.lines.number(failure.span.start)),
                    }),
            },
            RunEnding::Loop { from, .. } => {
                self.trace.loop_from = Some(from);
                Ending::End
            }
            RunEnding::Deadlock => Ending::Deadlock,
            RunEnding::End => Ending::End,
            RunEnding::Check { process, failure } => Ending::Check {
                process: names.process(process),
                from: names
                    .location(process.template, self.state.location(process))
                    .to_owned(),
                check: failure.kind.into(),
                line: Some(self.lines.number(failure.span.start)),
            },
        };
        judge_ending(self.instance, &self.trace, &self.state)?;
        Ok(self.trace)
    }
}

/// The place of the label that a process is at, for steps that execute nothing.
fn label_span(program: &Program, process: ProcessRef, state: &State) -> Span {
    program.templates[process.template].locations[state.location(process)].span
}

/// Records a whole run.
pub fn record(
    instance: &Instance,
    source: &str,
    property: Option<&str>,
    initial: State,
    steps: impl IntoIterator<Item = (ProcessRef, State)>,
    ending: RunEnding,
) -> Result<Trace, ReplayError> {
    let mut recorder = Recorder::new(instance, source, initial)?;
    for (process, after) in steps {
        recorder.step(process, after)?;
    }
    recorder.finish(property, ending)
}

pub(crate) fn valuation(cells: Vec<(String, threadwise_model::names::Value)>) -> Valuation {
    Valuation(
        cells
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect(),
    )
}

pub(crate) fn labels(processes: Vec<(String, &str)>) -> Valuation {
    let label = |(process, label): (String, &str)| (process, Value::Name(label.to_owned()));
    Valuation(processes.into_iter().map(label).collect())
}
