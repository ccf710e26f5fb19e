//! Replay: the interpreter follows a trace, which may come from anywhere, and says whether it is
//! a run of the instance that ends as it claims.

use threadwise_lang::program::{Property, PropertyKind, Span};
use threadwise_lang::source::SourceLines;
use threadwise_model::expression::{Failure, Limit};
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Judgement, Outcome};
use threadwise_model::names::{NameError, Names};
use threadwise_model::state::{ProcessRef, State};

use crate::cause::causes;
use crate::lasso::{self, Walk};
use crate::record::{Failing, label_span, labels, lines_of, valuation};
use crate::trace::{
    CheckName, Ending, FailedCheck, Lasso, Step, TRACE_VERSION, Trace, Valuation, Value,
};

/// The name of the built-in checks as a property.
pub const CHECKS: &str = "checks";

/// Why a trace is not what it claims to be. Steps are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Another version of the format.
    #[error(
        "the trace has version {found} of the format; this threadwise reads version {TRACE_VERSION}"
    )]
    Version {
        /// The version it has.
        found: u32,
    },
    /// Another instance.
    #[error("the trace is for {trace}, and this instance has {instance}")]
    Params {
        /// The parameters of the trace.
        trace: String,
        /// The parameters of the instance.
        instance: String,
    },
    /// A property that the program does not have.
    #[error("the model has no property `{0}`")]
    NoProperty(String),
    /// Something in the initial state that does not exist, or is missing.
    #[error("the initial state: {0}")]
    Initial(#[from] NameError),
    /// A first state that is not initial.
    #[error("the trace begins in a state that is not an initial state")]
    NotInitial,
    /// A step that the program cannot take.
    #[error("step {step}, of `{process}`: {message}")]
    NoSuchStep {
        /// Which step.
        step: usize,
        /// Whose.
        process: String,
        /// Why not.
        message: String,
    },
    /// An ending that is not as claimed.
    #[error("the end, after {steps} steps: {message}")]
    Ending {
        /// How many steps the trace has.
        steps: usize,
        /// What is wrong.
        message: String,
    },
    /// A run that is not fair as its property assumes.
    #[error("the run is not fair by `{declaration}`: {message}")]
    Unfair {
        /// The declaration of fairness.
        declaration: String,
        /// What is not met.
        message: String,
    },
    /// A temporal property that cannot be evaluated.
    #[error("the property or its fairness is too large when its quantifiers are unfolded")]
    TooLarge,
    /// A limit of the interpreter.
    #[error("step {step}: {limit}")]
    Limit {
        /// Which step; one past the last for the end.
        step: usize,
        /// Which limit.
        limit: Limit,
    },
}

/// Checks that a trace is a run of the instance: it begins in an initial state, each step is one
/// that its process can take, and it ends, or goes on for ever, as it claims, which for a trace of a
/// property is a violation of it.
pub fn replay(instance: &Instance, trace: &Trace) -> Result<(), ReplayError> {
    let walk = follow(instance, trace, |_, _, _| ())?;
    judge_ending(instance, trace, &walk, None).map(|_| ())
}

/// Replays a trace and sets its lines to those of the instance's program.
pub fn annotate(instance: &Instance, trace: &Trace) -> Result<Trace, ReplayError> {
    let lines = instance.program().source.lines();
    let mut annotated = trace.clone();
    let walk = follow(instance, trace, |step, path, label| {
        let (line, then) = lines_of(&lines, path, label);
        (annotated.steps[step].line, annotated.steps[step].then) = (Some(line), then);
    })?;
    annotated.lasso = judge_ending(instance, trace, &walk, Some(&lines))?;
    let last = walk.last();
    match &mut annotated.ending {
        Ending::Check {
            process,
            check,
            line,
            after,
            changes,
            meaning,
            ..
        } => {
            // What a file says about it is not known to be true.
            *meaning = None;
            let names = Names::new(instance);
            let process = names.parse_process(process, last).ok();
            let outcomes = process.and_then(|p| Interpreter::new(instance).outcomes(last, p).ok());
            let outcomes = outcomes.unwrap_or_default();
            if let Some(found) = failing(&outcomes, *check, (&names, last), changes) {
                *line = Some(lines.line(found.failure.span));
                *meaning = found.meaning.map(str::to_owned);
                *after = found.lines_before(&lines);
                *changes = found.changes(&names, last);
            }
        }
        Ending::Invariant { fails } => {
            let name = trace.property.as_deref().unwrap_or_default();
            *fails = evaluation_failure(instance, name, last).map(|failure| FailedCheck {
                check: failure.kind.into(),
                line: Some(lines.line(failure.span)),
            });
        }
        Ending::Deadlock | Ending::End => {}
    }
    // What a file says about it is not known to be true.
    annotated.causes = causes(instance, &annotated, last, &lines);
    Ok(annotated)
}

/// Follows the steps; `visit` is called with each step's position, the places of what it executes, and that of the label it begins at. All
/// states are remembered where the property needs that, otherwise the last one.
pub(crate) fn follow(
    instance: &Instance,
    trace: &Trace,
    mut visit: impl FnMut(usize, &[Span], Span),
) -> Result<Walk, ReplayError> {
    if trace.version != TRACE_VERSION {
        return Err(ReplayError::Version {
            found: trace.version,
        });
    }
    same_params(instance, trace)?;
    let names = Names::new(instance);
    let mut locations = Vec::with_capacity(trace.initial.locations.0.len());
    for (process, label) in trace.initial.locations.iter() {
        match label {
            Value::Name(label) => locations.push((process, label.as_str())),
            other => {
                return Err(ReplayError::Initial(NameError::NoLabel {
                    process: process.to_owned(),
                    label: other.to_string(),
                }));
            }
        }
    }
    let cells = trace
        .initial
        .variables
        .iter()
        .map(|(name, value)| (name, value.into()));
    let state = names.state(locations, cells)?;
    if !Interpreter::new(instance).is_initial(&state) {
        return Err(ReplayError::NotInitial);
    }
    let property = property(instance, trace)?;
    let liveness = property.is_some_and(|p| matches!(p.kind, PropertyKind::Liveness { .. }));
    let mut looped = (trace.loop_from == Some(0)).then(|| state.clone());
    let mut walk = Walk::new(state, liveness);
    for (position, step) in trace.steps.iter().enumerate() {
        if step.idle && trace.loop_from.is_none() {
            return Err(ReplayError::NoSuchStep {
                step: position + 1,
                process: step.process.clone(),
                message: "only in runs without end a process can be scheduled that has no step"
                    .to_owned(),
            });
        }
        let taken = take(instance, walk.last(), position + 1, step)?;
        let label = label_span(instance.program(), taken.process, walk.last());
        visit(position, &taken.path, label);
        walk.push(taken.process, taken.after, !step.rest && !step.idle);
        if trace.loop_from == Some(position + 1) {
            looped = Some(walk.last().clone());
        }
    }
    let wrong = match trace.loop_from {
        Some(from) if from == trace.steps.len() => "the loop has no step",
        Some(_) if looped.as_ref() != Some(walk.last()) => {
            "the last state is not the one that the loop goes back to"
        }
        _ => return Ok(walk),
    };
    Err(ReplayError::Ending {
        steps: trace.steps.len(),
        message: wrong.to_owned(),
    })
}

/// The property that a trace names, unless it is that of the built-in checks.
pub(crate) fn property<'i>(
    instance: &'i Instance,
    trace: &Trace,
) -> Result<Option<&'i Property>, ReplayError> {
    let name = match trace.property.as_deref() {
        None | Some(CHECKS) => return Ok(None),
        Some(name) => name,
    };
    let mut properties = instance.program().properties.iter();
    let found = properties.find(|property| property.name == name);
    found
        .map(Some)
        .ok_or_else(|| ReplayError::NoProperty(name.to_owned()))
}

fn same_params(instance: &Instance, trace: &Trace) -> Result<(), ReplayError> {
    let same = trace.params.len() == instance.params().count()
        && instance
            .params()
            .all(|(name, value)| trace.params.get(name) == Some(&value));
    if same {
        return Ok(());
    }
    fn list<'n>(params: impl Iterator<Item = (&'n str, i64)>) -> String {
        let params: Vec<String> = params
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if params.is_empty() {
            "no parameters".to_owned()
        } else {
            params.join(", ")
        }
    }
    Err(ReplayError::Params {
        trace: list(
            trace
                .params
                .iter()
                .map(|(name, value)| (name.as_str(), *value)),
        ),
        instance: list(instance.params()),
    })
}

/// A step that was taken.
struct Taken {
    process: ProcessRef,
    /// The places of what it executes.
    path: Vec<Span>,
    after: State,
}

/// Takes a step.
fn take(
    instance: &Instance,
    state: &State,
    number: usize,
    step: &Step,
) -> Result<Taken, ReplayError> {
    let names = Names::new(instance);
    let wrong = |message: String| ReplayError::NoSuchStep {
        step: number,
        process: step.process.clone(),
        message,
    };
    let process = names
        .parse_process(&step.process, state)
        .map_err(|error| wrong(error.to_string()))?;
    let at = names.location(process.template, state.location(process));
    if at != step.from {
        return Err(wrong(format!("it is at `{at}`, not at `{}`", step.from)));
    }
    let outcomes = Interpreter::new(instance)
        .outcomes(state, process)
        .map_err(|limit| ReplayError::Limit {
            step: number,
            limit,
        })?;
    let wanted = step.changes.sorted();
    let nothing = step.to == step.from && wanted.is_empty() && step.started.is_empty();
    if step.idle && !step.rest && nothing && outcomes.is_empty() {
        return Ok(Taken {
            process,
            path: Vec::new(),
            after: state.clone(),
        });
    }
    let mut possible = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Rest { span } => {
                if step.rest && !step.idle && nothing {
                    return Ok(Taken {
                        process,
                        path: vec![span],
                        after: state.clone(),
                    });
                }
                possible.push("rest".to_owned());
            }
            Outcome::Fail { failure, .. } => {
                possible.push(format!("fail: {}", CheckName::from(failure.kind)))
            }
            Outcome::Move {
                state: after,
                to,
                path,
            } => {
                let to = names.location(process.template, to);
                let changes = valuation(names.changes(state, &after));
                if !step.rest
                    && !step.idle
                    && to == step.to
                    && changes.sorted() == wanted
                    && labels(names.started(state, &after)).sorted() == step.started.sorted()
                {
                    return Ok(Taken {
                        process,
                        path,
                        after,
                    });
                }
                possible.push(describe(to, &changes));
            }
        }
    }
    let claimed = match (step.idle, step.rest) {
        (true, _) => "do nothing for want of a step".to_owned(),
        (false, true) => "rest".to_owned(),
        (false, false) => describe(&step.to, &step.changes),
    };
    Err(wrong(match possible.len() {
        0 => format!("it is blocked at `{at}`, and cannot {claimed}"),
        1..=3 => format!(
            "at `{at}` it cannot {claimed}; it can {}",
            possible.join(", or ")
        ),
        more => format!(
            "at `{at}` it cannot {claimed}; it can {}, or do one of {} other things",
            possible[..2].join(", or "),
            more - 2
        ),
    }))
}

/// A move in words, to follow "it can".
fn describe(to: &str, changes: &Valuation) -> String {
    match changes.is_empty() {
        true => format!("go to `{to}` without a change"),
        false => format!("go to `{to}` with {}", changes.first_few()),
    }
}

/// Checks that a trace ends, after these steps, as it claims and as its property needs. For a liveness property: why it is a violation.
pub(crate) fn judge_ending(
    instance: &Instance,
    trace: &Trace,
    walk: &Walk,
    lines: Option<&SourceLines<'_>>,
) -> Result<Option<Lasso>, ReplayError> {
    let last = walk.last();
    let steps = trace.steps.len();
    let wrong = |message: String| ReplayError::Ending { steps, message };
    let limited = |limit| ReplayError::Limit {
        step: steps + 1,
        limit,
    };
    let interpreter = Interpreter::new(instance);
    let property = property(instance, trace)?;
    let needed = match property.map(|property| &property.kind) {
        Some(PropertyKind::Invariant(_)) => matches!(trace.ending, Ending::Invariant { .. }),
        Some(PropertyKind::DeadlockFree) => matches!(trace.ending, Ending::Deadlock),
        Some(PropertyKind::Liveness { .. }) => matches!(trace.ending, Ending::End),
        None if trace.property.is_some() => matches!(trace.ending, Ending::Check { .. }),
        None => !matches!(trace.ending, Ending::Invariant { .. }),
    };
    if !needed {
        return Err(wrong(match trace.property.as_deref() {
            Some(name) => format!("such an ending is no violation of `{name}`"),
            None => "the trace names no property that could be violated".to_owned(),
        }));
    }
    let liveness = |p: &&Property| matches!(p.kind, PropertyKind::Liveness { .. });
    if let Some(property) = property.filter(liveness) {
        let found = lasso::judge(instance, trace, property, walk, lines)?;
        return match &trace.lasso {
            Some(claimed) if !lasso::same(claimed, &found) => Err(wrong(format!(
                "the run violates `{}` and is fair, but not for the reasons that the trace gives",
                property.name
            ))),
            _ => Ok(Some(found)),
        };
    }
    if trace.lasso.is_some() {
        return Err(wrong(
            "only of a liveness property `lasso` says why it is violated".to_owned(),
        ));
    }
    match &trace.ending {
        Ending::End => Ok(None),
        Ending::Invariant { fails } => {
            let Some(PropertyKind::Invariant(predicate)) = property.map(|property| &property.kind)
            else {
                return Err(wrong("no invariant is named".to_owned()));
            };
            let name = trace.property.as_deref().unwrap_or_default();
            match (interpreter.judge(last, predicate).map_err(limited)?, fails) {
                (Judgement::True, _) => Err(wrong(format!(
                    "the invariant `{name}` holds in the last state"
                ))),
                (Judgement::False, Some(_)) => Err(wrong(format!(
                    "the invariant `{name}` is false in the last state, and its evaluation does not fail"
                ))),
                (Judgement::Fails(failure), Some(claimed))
                    if CheckName::from(failure.kind) != claimed.check =>
                {
                    Err(wrong(format!(
                        "the evaluation of `{name}` does not fail because {}",
                        claimed.check
                    )))
                }
                _ => Ok(None),
            }
        }
        Ending::Deadlock => {
            if !interpreter.is_deadlock(last).map_err(limited)? {
                return Err(wrong("the last state is not a deadlock".to_owned()));
            }
            Ok(None)
        }
        Ending::Check {
            process: name,
            from,
            check,
            changes,
            ..
        } => {
            let names = Names::new(instance);
            let process = names
                .parse_process(name, last)
                .map_err(|error| wrong(error.to_string()))?;
            let at = names.location(process.template, last.location(process));
            if at != from {
                return Err(wrong(format!("`{name}` is at `{at}`, not at `{from}`")));
            }
            let outcomes = interpreter.outcomes(last, process).map_err(limited)?;
            if failing(&outcomes, *check, (&names, last), changes).is_none() {
                let having = match changes.is_empty() {
                    true => String::new(),
                    false => format!(", having set {}", changes.first_few()),
                };
                return Err(wrong(format!(
                    "no step of `{name}` at `{at}` fails because {check}{having}"
                )));
            }
            Ok(None)
        }
    }
}

/// What fails when an invariant is evaluated in a state, if anything does.
pub(crate) fn evaluation_failure(
    instance: &Instance,
    name: &str,
    state: &State,
) -> Option<Failure> {
    let mut properties = instance.program().properties.iter();
    let property = properties.find(|property| property.name == name)?;
    let PropertyKind::Invariant(predicate) = &property.kind else {
        return None;
    };
    match Interpreter::new(instance).judge(state, predicate) {
        Ok(Judgement::Fails(failure)) => Some(failure),
        _ => None,
    }
}

/// The first outcome in which a check of this kind fails; if changes are told, having made these.
fn failing<'o>(
    outcomes: &'o [Outcome],
    check: CheckName,
    (names, before): (&Names<'_>, &State),
    changes: &Valuation,
) -> Option<Failing<'o>> {
    let wanted = changes.sorted();
    outcomes.iter().filter_map(Failing::of).find(|failing| {
        CheckName::from(failing.failure.kind) == check
            && (wanted.is_empty() || failing.changes(names, before).sorted() == wanted)
    })
}
