//! From a run, as states, to a trace in source terms.
//!
//! The interpreter takes each step again, so that a trace that was recorded has been replayed,
//! and says which statements each step executed.

use std::collections::BTreeSet;

use threadwise_lang::program::{Program, Span};
use threadwise_lang::source::SourceLines;
use threadwise_model::expression::Failure;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::{ProcessRef, State};

use crate::cause::causes;
use crate::lasso::Walk;
use crate::replay::{ReplayError, evaluation_failure, follow, judge_ending};
use crate::trace::{
    CheckName, Ending, FailedCheck, Initial, MemoryModel, Step, TRACE_VERSION, Trace, Valuation,
    Value,
};

/// What happens at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// Nothing: it goes on for ever, fair and against a liveness property. The last state is the one after `from` steps.
    Loop {
        /// Where the loop begins.
        from: usize,
        /// Of the steps that change nothing, those in which the process moves, by position from 0. In the others it rests, or has no step.
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
    lines: SourceLines<'a>,
    state: State,
    trace: Trace,
}

impl<'a> Recorder<'a> {
    /// Begins a trace.
    pub fn new(instance: &'a Instance, initial: State) -> Result<Self, ReplayError> {
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
            lasso: None,
            causes: Vec::new(),
        };
        Ok(Recorder {
            instance,
            lines: instance.program().source.lines(),
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
        let same = self.state == after;
        self.add(process, after, |outcomes, after| {
            moving(outcomes, after).or(same.then(|| resting(outcomes)).flatten())
        })
    }

    /// Adds a step in which a process is scheduled and does not move: it rests, or has no step.
    fn stay(&mut self, process: ProcessRef) -> Result<(), ReplayError> {
        self.add(process, self.state.clone(), |outcomes, _| {
            let idle = outcomes.is_empty().then(|| (Kind::Idle, Vec::new()));
            resting(outcomes).or(idle)
        })
    }

    /// Adds a step that `pick` finds among what the process can do, with the statements that it executes.
    fn add(
        &mut self,
        process: ProcessRef,
        after: State,
        pick: impl Fn(&[Outcome], &State) -> Option<(Kind, Vec<Span>)>,
    ) -> Result<(), ReplayError> {
        let outcomes = self.outcomes(process)?;
        let picked = pick(&outcomes, &after);
        let (kind, path) = picked.ok_or_else(|| self.not_taken(process))?;
        self.push(process, after, kind, &path);
        Ok(())
    }

    fn outcomes(&self, process: ProcessRef) -> Result<Vec<Outcome>, ReplayError> {
        if process.index >= self.state.count(process.template) {
            return Err(self.not_taken(process));
        }
        let outcomes = Interpreter::new(self.instance).outcomes(&self.state, process);
        outcomes.map_err(|limit| ReplayError::Limit {
            step: self.trace.steps.len() + 1,
            limit,
        })
    }

    fn not_taken(&self, process: ProcessRef) -> ReplayError {
        ReplayError::NoSuchStep {
            step: self.trace.steps.len() + 1,
            process: Names::new(self.instance).process(process),
            message: "the interpreter does not take this step".to_owned(),
        }
    }

    /// Adds an outcome that the interpreter has just given in the last state; one that fails ends
    /// the run and adds nothing.
    pub fn outcome(&mut self, process: ProcessRef, outcome: &Outcome) {
        match outcome {
            Outcome::Move { state, path, .. } => {
                self.push(process, state.clone(), Kind::Move, path)
            }
            Outcome::Rest { span } => {
                self.push(process, self.state.clone(), Kind::Rest, &[*span]);
            }
            Outcome::Fail { .. } => {}
        }
    }

    fn push(&mut self, process: ProcessRef, after: State, kind: Kind, path: &[Span]) {
        let steps = (self.instance, &self.lines);
        let step = step_between(steps, process, (&self.state, &after), kind, path);
        self.trace.steps.push(step);
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
                        line: Some(self.lines.line(failure.span)),
                    }),
            },
            RunEnding::Loop { from, .. } => {
                self.trace.loop_from = Some(from);
                Ending::End
            }
            RunEnding::Deadlock => Ending::Deadlock,
            RunEnding::End => Ending::End,
            RunEnding::Check { process, failure } => {
                let outcomes = self.outcomes(process)?;
                let failing = outcomes.iter().find_map(|outcome| {
                    Failing::of(outcome).filter(|failing| failing.failure == failure)
                });
                let (after, changes, meaning) = failing.map_or_else(Default::default, |failing| {
                    let after = failing.lines_before(&self.lines);
                    let meaning = failing.meaning.map(str::to_owned);
                    (after, failing.changes(&names, &self.state), meaning)
                });
                Ending::Check {
                    process: names.process(process),
                    from: names
                        .location(process.template, self.state.location(process))
                        .to_owned(),
                    check: failure.kind.into(),
                    line: Some(self.lines.line(failure.span)),
                    after,
                    changes,
                    meaning,
                }
            }
        };
        let walk = match self.trace.loop_from {
            // What was between is needed again, and that the loop closes is yet to be seen.
            Some(_) => follow(self.instance, &self.trace, |_, _, _| ())?,
            None => Walk::new(self.state, false),
        };
        self.trace.lasso = judge_ending(self.instance, &self.trace, &walk, Some(&self.lines))?;
        self.trace.causes = causes(self.instance, &self.trace, walk.last(), &self.lines);
        Ok(self.trace)
    }
}

/// What a process does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Move,
    Rest,
    Idle,
}

/// Describes steps in terms of the source.
#[derive(Debug)]
pub struct Steps<'a> {
    instance: &'a Instance,
    lines: SourceLines<'a>,
}

impl<'a> Steps<'a> {
    /// For an instance.
    pub fn new(instance: &'a Instance) -> Steps<'a> {
        Steps {
            instance,
            lines: instance.program().source.lines(),
        }
    }

    /// What the interpreter says that a process can do in a state, or that it has no step; nothing if a check fails in it.
    pub fn step(
        &self,
        before: &State,
        process: ProcessRef,
        outcome: Option<&Outcome>,
    ) -> Option<Step> {
        let (after, kind, path) = match outcome {
            None => (before, Kind::Idle, &[][..]),
            Some(Outcome::Rest { span }) => (before, Kind::Rest, std::slice::from_ref(span)),
            Some(Outcome::Move { state, path, .. }) => (state, Kind::Move, path.as_slice()),
            Some(Outcome::Fail { .. }) => return None,
        };
        let steps = (self.instance, &self.lines);
        Some(step_between(steps, process, (before, after), kind, path))
    }

    /// What the interpreter says that fails in a state, in words, if a check does.
    pub fn failure(&self, before: &State, outcome: &Outcome) -> Option<String> {
        let failing = Failing::of(outcome)?;
        Some(failing.words(&Names::new(self.instance), before))
    }

    /// A whole state.
    pub fn state(&self, state: &State) -> Initial {
        let names = Names::new(self.instance);
        Initial {
            locations: labels(names.locations(state)),
            variables: valuation(names.cells(state)),
        }
    }

    /// The line, from 1, of a place.
    pub fn line(&self, span: Span) -> u32 {
        self.lines.line(span)
    }
}

fn step_between(
    (instance, lines): (&Instance, &SourceLines<'_>),
    process: ProcessRef,
    (before, after): (&State, &State),
    kind: Kind,
    path: &[Span],
) -> Step {
    let names = Names::new(instance);
    let place = |state: &State| names.location(process.template, state.location(process));
    let (line, then) = lines_of(lines, path, label_span(instance.program(), process, before));
    Step {
        process: names.process(process),
        from: place(before).to_owned(),
        to: place(after).to_owned(),
        line: Some(line),
        then,
        rest: kind == Kind::Rest,
        idle: kind == Kind::Idle,
        changes: valuation(names.changes(before, after)),
        started: labels(names.started(before, after)),
    }
}

/// Moving to a state, if it is among the outcomes.
fn moving(outcomes: &[Outcome], after: &State) -> Option<(Kind, Vec<Span>)> {
    outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Move { state, path, .. } if state == after => Some((Kind::Move, path.clone())),
        _ => None,
    })
}

/// Resting, if it is among the outcomes.
fn resting(outcomes: &[Outcome]) -> Option<(Kind, Vec<Span>)> {
    outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Rest { span } => Some((Kind::Rest, vec![*span])),
        _ => None,
    })
}

/// The line that a step begins with, which is that of its label if it executes nothing, and the lines that follow.
pub(crate) fn lines_of(lines: &SourceLines<'_>, path: &[Span], label: Span) -> (u32, Vec<u32>) {
    let mut numbers = lines.all(path);
    match numbers.is_empty() {
        true => (lines.line(label), numbers),
        false => (numbers.remove(0), numbers),
    }
}

/// An outcome in which a check fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failing<'o> {
    pub(crate) failure: Failure,
    path: &'o [Span],
    within: &'o State,
    /// What is wrong then, if the front end says so.
    pub(crate) meaning: Option<&'o str>,
}

impl<'o> Failing<'o> {
    pub(crate) fn of(outcome: &'o Outcome) -> Option<Failing<'o>> {
        match outcome {
            Outcome::Fail {
                failure,
                path,
                within,
                meaning,
            } => Some(Failing {
                failure: *failure,
                path,
                within,
                meaning: meaning.as_deref(),
            }),
            Outcome::Move { .. } | Outcome::Rest { .. } => None,
        }
    }

    /// The lines of what the step executes before the one that fails.
    pub(crate) fn lines_before(&self, lines: &SourceLines<'_>) -> Vec<u32> {
        let mut numbers = lines.all(self.path);
        let last = lines.line(self.failure.span);
        numbers.retain(|number| *number != last);
        numbers
    }

    /// What fails, and what the step has set before that.
    fn words(&self, names: &Names<'_>, before: &State) -> String {
        let check = CheckName::from(self.failure.kind);
        let changes = self.changes(names, before);
        match changes.is_empty() {
            true => check.to_string(),
            false => format!("{check}, after setting {}", changes.first_few()),
        }
    }

    /// What the step has changed before it fails.
    pub(crate) fn changes(&self, names: &Names<'_>, before: &State) -> Valuation {
        valuation(names.changes(before, self.within))
    }
}

/// The place of the label that a process is at, for steps that execute nothing.
pub(crate) fn label_span(program: &Program, process: ProcessRef, state: &State) -> Span {
    program.templates[process.template].locations[state.location(process)].span
}

/// Records a whole run.
pub fn record(
    instance: &Instance,
    property: Option<&str>,
    initial: State,
    steps: impl IntoIterator<Item = (ProcessRef, State)>,
    ending: RunEnding,
) -> Result<Trace, ReplayError> {
    let mut recorder = Recorder::new(instance, initial)?;
    for (position, (process, after)) in steps.into_iter().enumerate() {
        match &ending {
            RunEnding::Loop { moves, .. }
                if after != recorder.state || moves.contains(&position) =>
            {
                recorder.add(process, after, moving)?;
            }
            RunEnding::Loop { .. } => recorder.stay(process)?,
            _ => recorder.step(process, after)?,
        }
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
