//! A model that was read: the place where everything begins.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_certify::{Error as CertifyError, Report as CertifyReport};
use threadwise_evidence::{Certificate, Reason, ReplayError, Stats, Trace, Verdict, replay};
use threadwise_lang::diagnostics::{Code, Diagnostic, Severity};
use threadwise_lang::program::Program;
use threadwise_lang::render::LineIndex;
use threadwise_model::instance::Instance;

use crate::advice;
use crate::engines;
use crate::in_process::InProcess;
use crate::job::{AskStop, Execution, Executor, Job, JobOutcome, Stop, TOTAL_TIME};
use crate::plan::{Denied, Options, Plan, Planned, RequestError};
use crate::report::{
    Exit, Kind, PropertyResult, Report, ReportedDiagnostic, Run, Scope, VerdictKind,
};
use crate::setting::Values;

/// A model with its text and what the front end said about it.
#[derive(Clone, Debug)]
pub struct Session {
    name: String,
    text: String,
    program: Option<Arc<Program>>,
    diagnostics: Vec<Diagnostic>,
}

/// What became of one instance.
#[derive(Debug)]
pub enum Checked {
    /// It was checked.
    Run(Run),
    /// It does not exist, or cannot be built.
    Rejected(Vec<Diagnostic>),
    /// It is part of a sweep, and `where` excludes it.
    Excluded,
}

/// Why a trace could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFailure {
    /// The model has no instance with the trace's parameter values.
    #[error("the model has no instance with the parameter values of the trace")]
    Instance(Vec<Diagnostic>),
    /// It is no execution of the model, or does not end as it claims.
    #[error(transparent)]
    Rejected(#[from] ReplayError),
}

/// Why a certificate was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum CertifyFailure {
    /// The model has no instance with these parameter values.
    #[error("the model has no instance with the parameter values of the certificate")]
    Instance(Vec<Diagnostic>),
    /// The checker cannot say.
    #[error(transparent)]
    Undecided(CertifyError),
    /// It does not prove the property.
    #[error(transparent)]
    Refused(CertifyError),
}

impl From<CertifyError> for CertifyFailure {
    fn from(error: CertifyError) -> CertifyFailure {
        match error {
            CertifyError::Unsupported(_) | CertifyError::Cancelled => {
                CertifyFailure::Undecided(error)
            }
            _ => CertifyFailure::Refused(error),
        }
    }
}

impl Session {
    /// Reads a model; `name` is for messages.
    ///
    /// ```
    /// let session = threadwise::Session::new("empty.tw", "shared x: bool = true;");
    /// assert!(session.program().is_some());
    /// ```
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Session {
        let text = text.into();
        let checked = threadwise_lang::check(&text);
        Session {
            name: name.into(),
            text,
            program: checked.program.map(Arc::new),
            diagnostics: checked.diagnostics,
        }
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program, if there was no error.
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.program.as_ref()
    }

    /// Errors and warnings in source order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Diagnostics as a report has them.
    pub fn reported(&self, diagnostics: &[Diagnostic], denied: &Denied) -> Vec<ReportedDiagnostic> {
        let lines = LineIndex::new(&self.text);
        let each = diagnostics.iter();
        each.map(|diagnostic| {
            let denied = denied.contains(diagnostic.code);
            ReportedDiagnostic::of(diagnostic, denied, &self.text, &lines)
        })
        .collect()
    }

    /// Whether the model can be checked: no errors, and no warnings that count as errors.
    pub fn accepted(&self, denied: &Denied) -> bool {
        self.program.is_some()
            && self.diagnostics.iter().all(|diagnostic| {
                diagnostic.severity() == Severity::Warning && !denied.contains(diagnostic.code)
            })
    }

    /// The instance with these values; parameters that are not named have their defaults.
    pub fn instance(&self, values: &Values) -> Result<Instance, Vec<Diagnostic>> {
        let Some(program) = &self.program else {
            return Err(self.diagnostics.clone());
        };
        let values: BTreeMap<String, i64> = values.0.iter().cloned().collect();
        Instance::new(Arc::clone(program), &values)
    }

    /// Checks everything in this process, with limits that are kept between operations only.
    pub fn check(&self, options: &Options) -> Result<Report, RequestError> {
        let denied = Denied::default();
        let mut first = Run {
            file: self.name.clone(),
            diagnostics: self.reported(&self.diagnostics, &denied),
            ..Run::default()
        };
        let Some(program) = &self.program else {
            return Ok(Report::new(vec![first]));
        };
        let plan = Plan::new(program, options)?;
        let mut runs = Vec::new();
        for values in &plan.instances {
            let mut run = match self.check_instance(&plan, values, &mut InProcess) {
                Checked::Run(run) => run,
                Checked::Rejected(diagnostics) => Run {
                    file: self.name.clone(),
                    diagnostics: self.reported(&diagnostics, &denied),
                    ..Run::default()
                },
                Checked::Excluded => continue,
            };
            run.diagnostics.splice(0..0, first.diagnostics.drain(..));
            runs.push(run);
        }
        if runs.is_empty() {
            return Err(RequestError::AllExcluded);
        }
        Ok(Report::new(runs))
    }

    /// Checks one instance of a plan; `executor` runs the engine.
    pub fn check_instance(
        &self,
        plan: &Plan,
        values: &Values,
        executor: &mut dyn Executor,
    ) -> Checked {
        let instance = match self.instance(values) {
            Ok(instance) => instance,
            Err(diagnostics) => {
                let excluded = |d: &Diagnostic| d.code == Code::WhereViolated;
                return if plan.is_sweep() && diagnostics.iter().all(excluded) {
                    Checked::Excluded
                } else {
                    Checked::Rejected(diagnostics)
                };
            }
        };
        let values = values_of(&instance);
        let mut run = Run {
            file: self.name.clone(),
            values: values.clone(),
            ..Run::default()
        };
        let safety = plan.safety();
        let execution = if safety.is_empty() {
            None
        } else {
            Some(executor.execute(&self.job(plan, &values, safety)))
        };
        let mut view = View {
            plan,
            instance: &instance,
            values: &values,
            text: &self.text,
            recheck: Recheck::default(),
        };
        if let Some(Execution::Finished(outcome)) = &execution {
            run.state_count = outcome.stats.states.filter(|_| outcome.complete);
            if plan.options.recheck {
                let recheck = &mut view.recheck;
                recheck.seconds = executor.recheck(&mut |stop| {
                    recheck.proofs(&instance, outcome, stop);
                });
            }
        }
        for planned in &plan.properties {
            let result = match (planned.kind, &execution) {
                (Kind::Liveness, _) => Ok(view.no_liveness(planned)),
                (_, Some(Execution::Finished(outcome))) => view.finished(planned, outcome),
                (_, Some(Execution::Stopped { by, stats })) => {
                    Ok(view.unknown(planned, view.stop_reason(*by), stats.clone()))
                }
                (_, Some(Execution::Rejected(diagnostics))) => {
                    return Checked::Rejected(diagnostics.clone());
                }
                (_, Some(Execution::Crashed(message))) => Err(message.clone()),
                (_, None) => Err("a safety property was planned but not run".to_owned()),
            };
            match result {
                Ok(result) => run.results.push(result),
                Err(message) => {
                    // One message is enough: the same search stands behind all of them.
                    run.trouble = Some(Exit::Internal);
                    run.diagnostics.push(ReportedDiagnostic::error(
                        format!("internal error: {message}"),
                        Some(
                            "this is a fault in threadwise; please report it with the model"
                                .to_owned(),
                        ),
                    ));
                    break;
                }
            }
        }
        let stopped = match &execution {
            Some(Execution::Stopped { by, .. }) => Some(*by),
            _ => view.recheck.stopped,
        };
        if stopped == Some(Stop::Interrupted) {
            run.trouble = Some(Exit::Interrupted);
        }
        Checked::Run(run)
    }

    /// Replays a trace with the interpreter, at the parameter values that the trace names.
    pub fn replay(&self, trace: &Trace) -> Result<(), ReplayFailure> {
        let values = trace.params.iter();
        let values = Values(values.map(|(name, value)| (name.clone(), *value)).collect());
        let instance = self.instance(&values).map_err(ReplayFailure::Instance)?;
        Ok(replay(&instance, trace)?)
    }

    /// Has the independent checker check that a certificate proves a property, at these parameter values.
    pub fn certify(
        &self,
        certificate: &Certificate,
        values: &Values,
        property: &str,
    ) -> Result<CertifyReport, CertifyFailure> {
        let instance = self.instance(values).map_err(CertifyFailure::Instance)?;
        let checked = threadwise_certify::check(&instance, certificate, property, &|| false);
        checked.map_err(CertifyFailure::from)
    }

    /// The conditions of a certificate as SMT-LIB 2, for another solver.
    pub fn conditions(
        &self,
        certificate: &Certificate,
        values: &Values,
        property: &str,
    ) -> Result<String, CertifyFailure> {
        let instance = self.instance(values).map_err(CertifyFailure::Instance)?;
        let mut text = String::new();
        threadwise_certify::smtlib(&instance, certificate, property, &mut text)?;
        Ok(text)
    }

    fn job(&self, plan: &Plan, values: &Values, properties: Vec<String>) -> Job {
        Job {
            text: self.text.clone(),
            values: values.clone(),
            properties,
            engine: engines::chosen(&plan.options.engine).to_owned(),
            breadth_first: plan.options.breadth_first,
            threads: plan.options.threads,
            symmetry: plan.options.symmetry,
            no_symmetry: plan.options.no_symmetry,
            explain: plan.options.explain,
            errors: plan.options.errors.unwrap_or_default(),
            predicates: plan.options.predicates.unwrap_or_default(),
            witnesses: plan.options.witnesses,
            exceptions: plan.options.exceptions.unwrap_or_default(),
            count_states: plan.options.count_states,
            certificates: plan.options.recheck || plan.options.certificates,
            seconds: plan.options.seconds,
            memory: plan.options.memory,
        }
    }
}

/// The value of every parameter, in source order.
pub fn values_of(instance: &Instance) -> Values {
    let params = instance.params();
    Values(
        params
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// One instance of a plan, while its results are put together.
struct View<'a> {
    plan: &'a Plan,
    instance: &'a Instance,
    values: &'a Values,
    text: &'a str,
    recheck: Recheck,
}

/// What became of the certificates of an outcome.
#[derive(Default)]
struct Recheck {
    /// What the checker says of the certificate of each property.
    answers: BTreeMap<String, Result<(), CertifyError>>,
    /// What ended it early.
    stopped: Option<Stop>,
    /// How long it took.
    seconds: Option<f64>,
}

impl Recheck {
    /// Has the certificates of an outcome checked, all together: most claim the same set.
    fn proofs(&mut self, instance: &Instance, outcome: &JobOutcome, stop: &AskStop<'_>) {
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
        let answers = threadwise_certify::check_all(instance, &requests, &cancel);
        let names = requests.iter().map(|(_, property)| (*property).to_owned());
        self.answers = names
            .zip(answers.into_iter().map(|answer| answer.map(|_| ())))
            .collect();
        self.stopped = stopped.get();
    }
}

impl View<'_> {
    fn result(&self, planned: &Planned, verdict: VerdictKind, stats: Stats) -> PropertyResult {
        PropertyResult {
            property: planned.name.clone(),
            kind: planned.kind,
            verdict,
            scope: Scope::Instance {
                values: self.values.clone(),
            },
            engine: engines::chosen(&self.plan.options.engine).to_owned(),
            rechecked: false,
            reason: None,
            stats,
            rounds: Vec::new(),
            outline: None,
            trace: None,
            certificate: None,
        }
    }

    fn unknown(&self, planned: &Planned, reason: Reason, stats: Stats) -> PropertyResult {
        PropertyResult {
            reason: Some(reason),
            ..self.result(planned, VerdictKind::Unknown, stats)
        }
    }

    fn no_liveness(&self, planned: &Planned) -> PropertyResult {
        let mut reason = Reason::new("no-engine", "no engine decides liveness yet");
        // Whoever asked for liveness does not want to hear how to leave it out.
        if self.plan.options.only.is_none() && self.plan.options.properties.is_empty() {
            reason = reason.next("`--only safety` leaves liveness out");
        }
        PropertyResult {
            engine: self.plan.options.engine.clone(),
            ..self.unknown(planned, reason, Stats::default())
        }
    }

    /// A result from an engine's finding. An error is a fault of the engine.
    fn finished(&self, planned: &Planned, outcome: &JobOutcome) -> Result<PropertyResult, String> {
        let found = outcome.findings.iter().find(|f| f.property == planned.name);
        let Some(found) = found else {
            return Err(format!("the engine said nothing about `{}`", planned.name));
        };
        let stats = found.account.join(&outcome.stats);
        let rounds = found.account.rounds.clone();
        let result = self.judged(planned, &found.verdict, stats)?;
        // Of what was not accepted as a proof there is nothing to read.
        let outline = match result.verdict {
            VerdictKind::Proved => found.account.outline.clone(),
            _ => None,
        };
        Ok(PropertyResult {
            rounds,
            outline,
            ..result
        })
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
                if recheck {
                    self.recheck(planned, trace)?;
                }
                Ok(PropertyResult {
                    rechecked: recheck,
                    reason: (!recheck).then(|| {
                        Reason::new("no-recheck", "the trace was not replayed, as was asked for")
                    }),
                    trace: Some(trace.clone()),
                    ..self.result(planned, VerdictKind::Violated, stats)
                })
            }
            Verdict::Unknown(reason) => {
                // Engines say that a limit was reached; which one it was is known here.
                let reason = match reason.code.as_str() {
                    "internal" => return Err(reason.message.clone()),
                    "time-limit" => self.stop_reason(Stop::Time),
                    TOTAL_TIME => self.stop_reason(Stop::TotalTime),
                    "memory-limit" => self.stop_reason(Stop::Memory),
                    "capacity" if reason.next.is_none() => reason
                        .clone()
                        .next("let the model start fewer processes at most"),
                    _ => reason.clone(),
                };
                Ok(self.unknown(planned, reason, stats))
            }
        }
    }

    /// Replays a trace with the interpreter, which the engine has no part in.
    fn recheck(&self, planned: &Planned, trace: &Trace) -> Result<(), String> {
        let name = &planned.name;
        if trace.property.as_deref() != Some(name) {
            return Err(format!("the trace for `{name}` is about something else"));
        }
        replay(self.instance, trace)
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
                "no-certificate",
                "the engine gave no certificate, so the verdict rests on the engine",
            )));
        }
        match self.recheck.answers.get(name) {
            None => Ok(Some(Reason::new(
                "no-recheck",
                "the certificate was not checked, as was asked for",
            ))),
            Some(Ok(())) => Ok(None),
            Some(Err(CertifyError::Unsupported(why))) => {
                Ok(Some(Reason::new("not-rechecked", why.clone())))
            }
            Some(Err(error)) => Err(format!(
                "the certificate for `{name}` is refused: {}{error}",
                self.line(error)
            )),
        }
    }

    /// Why a proof whose recheck was ended early is none.
    fn cut_short(&self) -> Reason {
        let mut reason = self.stop_reason(self.recheck.stopped.unwrap_or(Stop::Time));
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
                let (line, _) = LineIndex::new(self.text).position(self.text, span.start);
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
            return Ok(self.unknown(planned, self.cut_short(), stats));
        }
        let mut reason = self.rechecked(planned, certificate)?;
        let open = self.open_parameters();
        if !self.plan.options.for_all.is_empty() {
            let names = self.plan.options.for_all.join(", ");
            let reason = Reason::new(
                "for-all",
                format!(
                    "no engine proves a claim for all {names} yet; it holds at {}",
                    self.values
                ),
            )
            .next(format!(
                "leave out --for-all, or sweep: --set {}",
                sweep(&open, self.values)
            ));
            return Ok(self.unknown(planned, reason, stats));
        }
        let rechecked = reason.is_none();
        if !open.is_empty() {
            let open_names = open.join(", ");
            let next = format!(
                "the claim is for every {open_names}, and was checked at {} alone; more values: --set {}",
                self.values,
                sweep(&open, self.values)
            );
            let instance = || {
                let message = format!("the claim is for every {open_names}");
                Reason::new("one-instance", message)
            };
            reason = Some(reason.unwrap_or_else(instance).next(next));
        }
        Ok(PropertyResult {
            reason,
            rechecked,
            certificate: certificate.cloned(),
            ..self.result(planned, VerdictKind::Proved, stats)
        })
    }

    /// Parameters that the caller left open.
    fn open_parameters(&self) -> Vec<&str> {
        let set = |name: &str| self.plan.options.settings.iter().any(|s| s.name == name);
        let names = self.values.0.iter().map(|(name, _)| name.as_str());
        names.filter(|name| !set(name)).collect()
    }

    fn advice(&self, raise: &str) -> String {
        advice::after_limit(self.instance.program(), self.plan, raise)
    }

    fn stop_reason(&self, by: Stop) -> Reason {
        let options = &self.plan.options;
        match by {
            Stop::Time => {
                let limit = options.seconds.unwrap_or_default();
                Reason::new(
                    "timeout",
                    format!("the time limit of {limit} s was reached"),
                )
                .next(self.advice("a longer --timeout"))
            }
            Stop::TotalTime => Reason::new(
                "timeout",
                "the time limit of the whole invocation was reached",
            )
            .next(self.advice("a longer --total-timeout")),
            Stop::Memory => {
                let limit = options.memory.map_or_else(
                    || "the memory is used up".to_owned(),
                    |bytes| format!("the memory limit of {} MiB was reached", bytes >> 20),
                );
                Reason::new("memory", limit).next(self.advice("a greater --memory"))
            }
            Stop::Interrupted => {
                Reason::new("interrupted", "interrupted before the search was over")
            }
        }
    }
}

/// A sweep that goes a little beyond the values that were checked.
fn sweep(open: &[&str], values: &Values) -> String {
    let name = open.first().copied().unwrap_or("N");
    let value = values.get(name).unwrap_or(2);
    format!("{name}={value}..{}", value.saturating_add(2))
}
