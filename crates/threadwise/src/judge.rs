//! What is made of an engine's answer: the evidence is checked by somebody else, and the result says what it speaks of.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_certify::Error as CertifyError;
use threadwise_evidence::{
    self as evidence, Certificate, Reason, ReasonCode, Round, Stats, Trace, Vacuity, Valuation,
    Verdict, remedies, replay,
};
use threadwise_lang::program::Program;
use threadwise_model::instance::Instance;
use threadwise_show::for_values;

use crate::advice;
use crate::job::{AskStop, Execution, JobOutcome, Stop};
use crate::plan::{CHECKS, Options, Plan, Planned};
use crate::report::{Exit, Exposure, Kind, PropertyResult, Run, Scope, VerdictKind};
use crate::session::values_of;
use crate::setting::Values;

/// What a search is about.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// One instance, and the values of its parameters.
    One(&'a Instance, &'a Values),
    /// All instances that have these values.
    All(&'a Arc<Program>, &'a Values),
}

/// A search, while its results are put together.
pub(crate) struct View<'a> {
    plan: &'a Plan,
    subject: Subject<'a>,
    engine: &'a str,
    recheck: &'a Recheck,
    /// Why the engines for all instances gave no answer, if they were asked.
    tried: &'a [Reason],
}

/// What became of the certificates of an outcome.
#[derive(Default)]
pub(crate) struct Recheck {
    /// What the checker says of the certificate of each property.
    answers: BTreeMap<String, Result<(), CertifyError>>,
    /// What ended it early.
    pub(crate) stopped: Option<Stop>,
    /// How long it took.
    pub(crate) seconds: Option<f64>,
}

impl Recheck {
    /// Has the certificates of an outcome checked, all together: most claim the same set.
    pub(crate) fn proofs(
        &mut self,
        subject: Subject<'_>,
        outcome: &JobOutcome,
        stop: &AskStop<'_>,
    ) {
        let requests: Vec<(&Certificate, &str)> = outcome
            .findings
            .iter()
            .filter_map(|finding| match &finding.verdict {
                Verdict::Proved(Some(certificate)) => {
                    Some((certificate, finding.property.as_str()))
                }
                _ => None,
            })
            .collect();
        let stopped = Cell::new(None);
        let cancel = || {
            stopped.set(stopped.get().or_else(stop));
            stopped.get().is_some()
        };
        let answers: Vec<Result<(), CertifyError>> = match subject {
            Subject::One(instance, _) => {
                let answers = threadwise_certify::check_all(instance, &requests, &cancel);
                answers
                    .into_iter()
                    .map(|answer| answer.map(|_| ()))
                    .collect()
            }
            Subject::All(program, values) => {
                let check = |(certificate, property): &(&Certificate, &str)| {
                    fits(certificate, values)?;
                    threadwise_certify::check_family(program, certificate, property, &cancel)?;
                    Ok(())
                };
                requests.iter().map(check).collect()
            }
        };
        let names = requests.iter().map(|(_, property)| (*property).to_owned());
        self.answers = names.zip(answers).collect();
        self.stopped = stopped.get();
    }
}

impl<'a> View<'a> {
    /// A search by this engine; `tried` says why engines for all instances gave no answer before it.
    pub(crate) fn new(
        plan: &'a Plan,
        subject: Subject<'a>,
        engine: &'a str,
        recheck: &'a Recheck,
        tried: &'a [Reason],
    ) -> View<'a> {
        View {
            plan,
            subject,
            engine,
            recheck,
            tried,
        }
    }

    /// The result about a property that the search was asked for. An error is a fault of the engine.
    pub(crate) fn of(
        &self,
        planned: &Planned,
        execution: &Execution,
    ) -> Result<PropertyResult, String> {
        match execution {
            Execution::Finished(outcome) => self.finished(planned, outcome),
            Execution::Stopped { by, stats } => {
                Ok(self.unknown(planned, self.stop_reason(planned, *by), stats.clone()))
            }
            Execution::Rejected(diagnostics) => {
                let messages = diagnostics.iter().map(|d| d.message.as_str());
                let messages: Vec<&str> = messages.collect();
                Err(format!("the model is refused: {}", messages.join("; ")))
            }
            Execution::Crashed(message) => Err(message.clone()),
        }
    }

    fn program(&self) -> &Program {
        match self.subject {
            Subject::One(instance, _) => instance.program(),
            Subject::All(program, _) => program,
        }
    }

    fn values(&self) -> &Values {
        match self.subject {
            Subject::One(_, values) | Subject::All(_, values) => values,
        }
    }

    fn result(&self, planned: &Planned, verdict: VerdictKind, stats: Stats) -> PropertyResult {
        let scope = scope(self.program(), self.values());
        PropertyResult {
            stats,
            ..PropertyResult::new(
                planned.name.clone(),
                planned.kind,
                verdict,
                scope,
                self.engine,
            )
        }
    }

    /// The result that a property is not decided.
    pub(crate) fn unknown(
        &self,
        planned: &Planned,
        reason: Reason,
        stats: Stats,
    ) -> PropertyResult {
        PropertyResult {
            reason: Some(reason),
            ..self.result(planned, VerdictKind::Unknown, stats)
        }
    }

    /// A result from an engine's finding. An error is a fault of the engine.
    fn finished(&self, planned: &Planned, outcome: &JobOutcome) -> Result<PropertyResult, String> {
        let found = outcome.findings.iter().find(|f| f.property == planned.name);
        let Some(found) = found else {
            return Err(format!("the engine said nothing about `{}`", planned.name));
        };
        let stats = found.account.join(&outcome.stats);
        let rounds = &found.account.rounds;
        let result = self.judged(planned, &found.verdict, stats)?;
        // Of what was not accepted as a proof there is nothing to read.
        let proved = result.verdict == VerdictKind::Proved;
        Ok(PropertyResult {
            rounds: rounds.iter().map(|round| round.text.clone()).collect(),
            exposures: exposures(rounds),
            notes: found.account.notes.clone(),
            vacuous: found
                .account
                .vacuous
                .clone()
                .filter(|_| proved)
                .map(|v| self.told(planned, v)),
            outline: found.account.outline.clone().filter(|_| proved),
            ..result
        })
    }

    /// Says in terms of the source what an engine says in numbers.
    fn told(&self, planned: &Planned, vacuous: Vacuity) -> Vacuity {
        match vacuous {
            Vacuity::NeverTriggered {
                conjuncts,
                mut triggers,
            } => {
                match self.subject {
                    Subject::One(instance, _) => {
                        let more = evidence::triggers(instance, &planned.name, &conjuncts);
                        triggers.extend(more.iter().map(|(text, values)| {
                            let values: Vec<&Valuation> = values.iter().collect();
                            format!("`{text}`{}", for_values(&values))
                        }));
                    }
                    Subject::All(program, _) => {
                        let trigger = evidence::trigger(program, &planned.name);
                        triggers.extend(trigger.map(|text| format!("`{text}`")));
                    }
                }
                Vacuity::NeverTriggered {
                    conjuncts: Vec::new(),
                    triggers,
                }
            }
            vacuous => vacuous,
        }
    }

    fn judged(
        &self,
        planned: &Planned,
        verdict: &Verdict,
        stats: Stats,
    ) -> Result<PropertyResult, String> {
        match verdict {
            Verdict::Proved(certificate) => self.proved(planned, certificate.as_ref(), stats),
            Verdict::Violated(trace) => {
                let recheck = self.plan.options.recheck;
                let instance = self.instance_of(trace)?;
                if recheck {
                    self.recheck(planned, &instance, trace)?;
                }
                Ok(PropertyResult {
                    scope: Scope::Instance {
                        values: values_of(&instance),
                    },
                    rechecked: recheck,
                    reason: (!recheck).then(|| {
                        Reason::new(
                            ReasonCode::NoRecheck,
                            "the trace was not replayed, as was asked for",
                        )
                    }),
                    trace: Some(trace.clone()),
                    // Advice: if it cannot be had, nothing is wrong.
                    remedies: remedies(&instance, trace).unwrap_or_default(),
                    ..self.result(planned, VerdictKind::Violated, stats)
                })
            }
            Verdict::Unknown(reason) => {
                // Engines say that a limit was reached; which one it was is known here.
                let reason = match reason.code {
                    ReasonCode::Internal => return Err(reason.message.clone()),
                    ReasonCode::TimeLimit => self.stop_reason(planned, Stop::Time),
                    ReasonCode::TotalTimeLimit => self.stop_reason(planned, Stop::TotalTime),
                    ReasonCode::MemoryLimit => self.stop_reason(planned, Stop::Memory),
                    ReasonCode::Interrupted => self.stop_reason(planned, Stop::Interrupted),
                    ReasonCode::Capacity if reason.next.is_none() => reason
                        .clone()
                        .next("let the model start fewer processes at most"),
                    ReasonCode::Capacity
                    | ReasonCode::NoProof
                    | ReasonCode::Unsupported
                    | ReasonCode::Timeout
                    | ReasonCode::Memory
                    | ReasonCode::Cancelled
                    | ReasonCode::StateLimit
                    | ReasonCode::Violations
                    | ReasonCode::Overflow
                    | ReasonCode::Integers
                    | ReasonCode::Choices
                    | ReasonCode::ReplayLimit
                    | ReasonCode::Bounded
                    | ReasonCode::GuaranteesTooWeak
                    | ReasonCode::ExceptionsTooWeak
                    | ReasonCode::ExceptionForbidden
                    | ReasonCode::NoCertificate
                    | ReasonCode::NoRecheck
                    | ReasonCode::NotRechecked => reason.clone(),
                };
                Ok(self.unknown(planned, reason, stats))
            }
        }
    }

    /// The instance that a trace is a run of.
    fn instance_of(&self, trace: &Trace) -> Result<Cow<'a, Instance>, String> {
        match self.subject {
            Subject::One(instance, _) => Ok(Cow::Borrowed(instance)),
            Subject::All(program, values) => {
                let differs = |(name, value): &(String, i64)| trace.params.get(name) != Some(value);
                if values.0.iter().any(differs) {
                    return Err(format!("a trace is not of an instance with {values}"));
                }
                let instance = Instance::new(Arc::clone(program), &trace.params);
                let instance = instance.map_err(|diagnostics| {
                    let messages = diagnostics.iter().map(|d| d.message.as_str());
                    let messages: Vec<&str> = messages.collect();
                    format!("a trace is of no instance: {}", messages.join("; "))
                });
                instance.map(Cow::Owned)
            }
        }
    }

    /// Replays a trace with the interpreter, which the engine has no part in.
    fn recheck(&self, planned: &Planned, instance: &Instance, trace: &Trace) -> Result<(), String> {
        let name = &planned.name;
        if trace.property.as_deref() != Some(name) {
            return Err(format!("the trace for `{name}` is about something else"));
        }
        replay(instance, trace)
            .map_err(|error| format!("the trace for `{name}` does not replay: {error}"))
    }

    /// Whether the certificate of a proof was rechecked; if not, why. An error if it was refused.
    fn rechecked(
        &self,
        planned: &Planned,
        certificate: Option<&Certificate>,
    ) -> Result<Option<Reason>, String> {
        let name = &planned.name;
        if certificate.is_none() {
            return Ok(Some(Reason::new(
                ReasonCode::NoCertificate,
                "the engine gave no certificate, so the verdict rests on the engine",
            )));
        }
        match self.recheck.answers.get(name) {
            None => Ok(Some(Reason::new(
                ReasonCode::NoRecheck,
                "the certificate was not checked, as was asked for",
            ))),
            Some(Ok(())) => Ok(None),
            Some(Err(CertifyError::Unsupported(why))) => {
                Ok(Some(Reason::new(ReasonCode::NotRechecked, why.clone())))
            }
            Some(Err(error)) => Err(format!(
                "the certificate for `{name}` is refused: {}{error}",
                self.line(error)
            )),
        }
    }

    /// Why a proof whose recheck was ended early is none.
    fn cut_short(&self, planned: &Planned) -> Reason {
        let mut reason = self.stop_reason(planned, self.recheck.stopped.unwrap_or(Stop::Time));
        reason.message = match self.recheck.stopped {
            Some(Stop::Interrupted) => "interrupted before the proof was rechecked".to_owned(),
            _ => format!("{} before the proof was rechecked", reason.message),
        };
        if let Some(next) = &mut reason.next {
            next.push_str("; --no-recheck takes the word of the engine");
        }
        reason
    }

    /// `line 12: ` if the source says what fails.
    fn line(&self, error: &CertifyError) -> String {
        match error.span() {
            Some(span) => {
                let line = self.program().source.lines().line(span);
                format!("line {line}: ")
            }
            None => String::new(),
        }
    }

    fn proved(
        &self,
        planned: &Planned,
        certificate: Option<&Certificate>,
        stats: Stats,
    ) -> Result<PropertyResult, String> {
        let stats = Stats {
            recheck_seconds: self.recheck.seconds.filter(|_| certificate.is_some()),
            ..stats
        };
        let answer = self.recheck.answers.get(&planned.name);
        if let Some(Err(CertifyError::Cancelled)) = answer {
            return Ok(self.unknown(planned, self.cut_short(planned), stats));
        }
        let reason = self.rechecked(planned, certificate)?;
        let rechecked = reason.is_none();
        Ok(PropertyResult {
            reason,
            rechecked,
            certificate: certificate.cloned(),
            ..self.result(planned, VerdictKind::Proved, stats)
        })
    }

    /// Why a property is not decided that engines for all instances leave open, if there is no instance to look at.
    pub(crate) fn no_instance(&self, refusal: &str) -> Reason {
        let why = self.tried.iter().map(|reason| reason.message.as_str());
        let why: Vec<&str> = why
            .chain([refusal])
            .filter(|text| !text.is_empty())
            .collect();
        Reason::new(ReasonCode::NoProof, why.join("; "))
    }

    fn stop_reason(&self, planned: &Planned, by: Stop) -> Reason {
        let options = &self.plan.options;
        let reason = stop_reason(options, by);
        let raise = match by {
            Stop::Time => "a longer --timeout",
            Stop::TotalTime => "a longer --total-timeout",
            Stop::Memory => "a greater --memory",
            Stop::Exhausted => "to give it more (`ulimit`)",
            Stop::Interrupted => return reason,
        };
        reason.next(advice::after_limit(
            self.program(),
            self.plan,
            planned.kind,
            raise,
        ))
    }
}

/// What ended something, as a reason.
fn stop_reason(options: &Options, by: Stop) -> Reason {
    match by {
        Stop::Time => {
            let limit = options.seconds.unwrap_or_default();
            Reason::new(
                ReasonCode::Timeout,
                format!("the time limit of {limit} s was reached"),
            )
        }
        Stop::TotalTime => Reason::new(
            ReasonCode::Timeout,
            "the time limit of the whole invocation was reached",
        ),
        Stop::Memory => {
            let limit = options.memory.map_or_else(
                || "the memory is used up".to_owned(),
                |bytes| format!("the memory limit of {} MiB was reached", bytes >> 20),
            );
            Reason::new(ReasonCode::Memory, limit)
        }
        Stop::Exhausted => Reason::new(
            ReasonCode::Memory,
            "the system gave no more memory or threads",
        ),
        Stop::Interrupted => Reason::new(
            ReasonCode::Interrupted,
            "interrupted before the search was over",
        ),
    }
}

/// A run that ended before any engine was asked, or while its results were put together; `place` says where: `while the program was read`.
pub(crate) fn cut_short(file: &str, options: &Options, by: Stop, place: &str) -> Run {
    let mut reason = stop_reason(options, by);
    reason.message = match by {
        Stop::Interrupted => format!("interrupted {place}"),
        _ => format!("{} {place}", reason.message),
    };
    reason.next = match by {
        Stop::Interrupted => None,
        Stop::Time => Some("try a longer --timeout, or a smaller program".to_owned()),
        Stop::TotalTime => Some("try a longer --total-timeout, or a smaller program".to_owned()),
        Stop::Memory => Some("try a greater --memory, or a smaller program".to_owned()),
        Stop::Exhausted => Some("give it more (`ulimit`), or a smaller program".to_owned()),
    };
    // Every program has built-in checks, whatever else may be in it.
    let checks = PropertyResult {
        reason: Some(reason),
        ..PropertyResult::new(
            CHECKS.to_owned(),
            Kind::Builtin,
            VerdictKind::Unknown,
            Scope::Instance {
                values: Values::default(),
            },
            &options.engine,
        )
    };
    Run {
        file: file.to_owned(),
        results: vec![checks],
        trouble: (by == Stop::Interrupted).then_some(Exit::Interrupted),
        ..Run::default()
    }
}

/// What a verdict about these values of parameters speaks of, and about all values of the others.
pub(crate) fn scope(program: &Program, values: &Values) -> Scope {
    let values = values.in_order(program);
    let open = program.params.iter();
    let open = open.filter(|param| values.get(&param.name).is_none());
    let parameters: Vec<String> = open.map(|param| param.name.clone()).collect();
    if parameters.is_empty() {
        return Scope::Instance { values };
    }
    Scope::All {
        parameters,
        condition: condition(program),
        values,
    }
}

/// What `where` says of all parameters, as in the source.
fn condition(program: &Program) -> String {
    let constraints = program.params.iter().filter_map(|p| p.constraint.as_ref());
    let sources: Vec<String> = constraints.map(|e| program.quote(e)).collect();
    match sources.as_slice() {
        [] => "true".to_owned(),
        [one] => one.clone(),
        many => {
            let weak = |source: &String| source.contains("||") || source.contains("->");
            let member = |source: &String| match weak(source) {
                true => format!("({source})"),
                false => source.clone(),
            };
            let members: Vec<String> = many.iter().map(member).collect();
            members.join(" && ")
        }
    }
}

/// Whether a certificate about all instances is about all that have these values: one about fewer proves less.
pub(crate) fn fits(certificate: &Certificate, values: &Values) -> Result<(), CertifyError> {
    let values = values.map();
    for (name, value) in &certificate.params {
        if values.get(name) != Some(value) {
            let message = format!("it is about {name}={value} alone");
            return Err(CertifyError::Mismatch(message));
        }
    }
    for (name, value) in &values {
        if !certificate.params.contains_key(name) {
            let message = format!("it is about all values of `{name}`, not about {name}={value}");
            return Err(CertifyError::Mismatch(message));
        }
    }
    Ok(())
}

/// Which round exposed what.
fn exposures(rounds: &[Round]) -> Vec<Exposure> {
    let each = rounds.iter().enumerate();
    each.filter(|(_, round)| !round.exposed.is_empty())
        .map(|(position, round)| Exposure {
            round: position + 1,
            facts: round.exposed.clone(),
        })
        .collect()
}
