//! A model that was read: the place where everything begins.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_certify::{Error as CertifyError, Report as CertifyReport};
use threadwise_evidence::{
    self as evidence, Certificate, Reason, ReplayError, Stats, Trace, Vacuity, Verdict, annotate,
    remedies, replay,
};
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
use crate::setting::{Setting, Values};

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
        let mut searches = Vec::new();
        for group in plan.searches() {
            match self.search(plan, &instance, &values, &group, executor) {
                Ok(search) => searches.push(search),
                Err(diagnostics) => return Checked::Rejected(diagnostics),
            }
        }
        for search in &searches {
            if let Execution::Finished(outcome) = &search.execution {
                let states = outcome.stats.states.filter(|_| outcome.complete);
                run.state_count = run.state_count.or(states);
            }
        }
        let none = Recheck::default();
        for planned in &plan.properties {
            let search = searches
                .iter()
                .find(|s| s.properties.contains(&planned.name));
            let view = View {
                plan,
                instance: &instance,
                values: &values,
                text: &self.text,
                recheck: search.map_or(&none, |search| &search.recheck),
            };
            let result = match search.map(|search| &search.execution) {
                Some(Execution::Finished(outcome)) => view.finished(planned, outcome),
                Some(Execution::Stopped { by, stats }) => {
                    Ok(view.unknown(planned, view.stop_reason(planned, *by), stats.clone()))
                }
                Some(Execution::Rejected(diagnostics)) => {
                    return Checked::Rejected(diagnostics.clone());
                }
                Some(Execution::Crashed(message)) => Err(message.clone()),
                None => match engines::decides(&plan.options.engine, planned) {
                    Err(reason) => Ok(view.unknown(planned, reason, Stats::default())),
                    Ok(()) => Err(format!("`{}` was planned but not run", planned.name)),
                },
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
        let interrupted = |search: &Search| match search.execution {
            Execution::Stopped { by, .. } => by == Stop::Interrupted,
            _ => search.recheck.stopped == Some(Stop::Interrupted),
        };
        if searches.iter().any(interrupted) {
            run.trouble = Some(Exit::Interrupted);
        }
        Checked::Run(run)
    }

    /// Has an engine decide properties together, and its evidence checked. An error if the instance to learn from does not exist.
    fn search(
        &self,
        plan: &Plan,
        instance: &Instance,
        values: &Values,
        group: &[&Planned],
        executor: &mut dyn Executor,
    ) -> Result<Search, Vec<Diagnostic>> {
        let mut job = self.job(plan, values, group);
        let learnt = match plan.options.learn.as_slice() {
            [] => None,
            learn => Some(self.learn(learn, &mut job, executor)?),
        };
        let execution = match learnt {
            Some(Learnt::Nothing(execution)) => execution,
            Some(Learnt::Facts { note, stats }) => {
                let mut execution = executor.execute(&job);
                if let Execution::Finished(outcome) = &mut execution {
                    for finding in &mut outcome.findings {
                        finding.account.rounds.insert(0, note.clone());
                    }
                    add_times(&mut outcome.stats, &stats);
                }
                execution
            }
            None => executor.execute(&job),
        };
        let mut recheck = Recheck::default();
        if let Execution::Finished(outcome) = &execution
            && plan.options.recheck
        {
            recheck.seconds = executor.recheck(&mut |stop| {
                recheck.proofs(instance, outcome, stop);
            });
        }
        Ok(Search {
            properties: job.properties,
            execution,
            recheck,
        })
    }

    /// Has the properties of a job decided at a smaller instance, and adds to the job what was exposed there.
    fn learn(
        &self,
        learn: &[Setting],
        job: &mut Job,
        executor: &mut dyn Executor,
    ) -> Result<Learnt, Vec<Diagnostic>> {
        let mut values = job.values.clone();
        for (name, value) in &mut values.0 {
            if let Some(setting) = learn.iter().find(|setting| setting.name == *name) {
                *value = *setting.values.start();
            }
        }
        self.instance(&values)?;
        let small = Job {
            values,
            certificates: false,
            explain: false,
            ..job.clone()
        };
        match executor.execute(&small) {
            Execution::Finished(outcome) => {
                let findings = outcome.findings.into_iter();
                job.exposed = findings
                    .flat_map(|finding| finding.account.exposed)
                    .collect();
                let facts: usize = job.exposed.iter().map(|exposed| exposed.values.len()).sum();
                let plural = if facts == 1 { "" } else { "s" };
                Ok(Learnt::Facts {
                    note: format!("{facts} fact{plural} learnt at {}", small.values),
                    stats: outcome.stats,
                })
            }
            Execution::Rejected(diagnostics) => Err(diagnostics),
            other => Ok(Learnt::Nothing(other)),
        }
    }

    /// Replays a trace with the interpreter, at the parameter values that the trace names; the trace with its lines and reasons as this
    /// model has them.
    pub fn replay(&self, trace: &Trace) -> Result<Trace, ReplayFailure> {
        let values = trace.params.iter();
        let values = Values(values.map(|(name, value)| (name.clone(), *value)).collect());
        let instance = self.instance(&values).map_err(ReplayFailure::Instance)?;
        Ok(annotate(&instance, trace, &self.text)?)
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

    /// The job to decide properties that one engine decides.
    fn job(&self, plan: &Plan, values: &Values, group: &[&Planned]) -> Job {
        let kind = group.first().map_or(Kind::Builtin, |planned| planned.kind);
        let engine = engines::chosen(&plan.options.engine, kind);
        Job {
            text: self.text.clone(),
            values: values.clone(),
            properties: group.iter().map(|planned| planned.name.clone()).collect(),
            engine: engine.to_owned(),
            breadth_first: plan.options.breadth_first,
            threads: plan.options.threads,
            // With `auto`, it is for one of the engines.
            symmetry: plan.options.symmetry && engine == engines::EXPLICIT,
            no_symmetry: plan.options.no_symmetry,
            explain: plan.options.explain,
            errors: plan.options.errors.unwrap_or_default(),
            predicates: plan.options.predicates.unwrap_or_default(),
            witnesses: plan.options.witnesses,
            exceptions: plan.options.exceptions.unwrap_or_default(),
            exposed: Vec::new(),
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
    recheck: &'a Recheck,
}

/// One search of an engine, and what became of its evidence.
struct Search {
    /// What it was about.
    properties: Vec<String>,
    execution: Execution,
    recheck: Recheck,
}

/// What came of a smaller instance.
enum Learnt {
    /// What it exposed is in the job.
    Facts { note: String, stats: Stats },
    /// It ended otherwise.
    Nothing(Execution),
}

/// Adds the time that something took before.
fn add_times(stats: &mut Stats, before: &Stats) {
    let add = |one: &mut Option<f64>, other: Option<f64>| {
        if let (Some(one), Some(other)) = (one, other) {
            *one += other;
        }
    };
    add(&mut stats.seconds, before.seconds);
    add(&mut stats.cpu_seconds, before.cpu_seconds);
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
            engine: engines::chosen(&self.plan.options.engine, planned.kind).to_owned(),
            rechecked: false,
            reason: None,
            stats,
            rounds: Vec::new(),
            notes: Vec::new(),
            vacuous: None,
            outline: None,
            trace: None,
            remedies: Vec::new(),
            certificate: None,
        }
    }

    fn unknown(&self, planned: &Planned, reason: Reason, stats: Stats) -> PropertyResult {
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
        let rounds = found.account.rounds.clone();
        let result = self.judged(planned, &found.verdict, stats)?;
        // Of what was not accepted as a proof there is nothing to read.
        let proved = result.verdict == VerdictKind::Proved;
        Ok(PropertyResult {
            rounds,
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
                let more = evidence::triggers(self.instance, self.text, &planned.name, &conjuncts);
                triggers.extend(more);
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
                if recheck {
                    self.recheck(planned, trace)?;
                }
                Ok(PropertyResult {
                    rechecked: recheck,
                    reason: (!recheck).then(|| {
                        Reason::new("no-recheck", "the trace was not replayed, as was asked for")
                    }),
                    trace: Some(trace.clone()),
                    // Advice: if it cannot be had, nothing is wrong.
                    remedies: remedies(self.instance, trace).unwrap_or_default(),
                    ..self.result(planned, VerdictKind::Violated, stats)
                })
            }
            Verdict::Unknown(reason) => {
                // Engines say that a limit was reached; which one it was is known here.
                let reason = match reason.code.as_str() {
                    "internal" => return Err(reason.message.clone()),
                    "time-limit" => self.stop_reason(planned, Stop::Time),
                    TOTAL_TIME => self.stop_reason(planned, Stop::TotalTime),
                    "memory-limit" => self.stop_reason(planned, Stop::Memory),
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
            return Ok(self.unknown(planned, self.cut_short(planned), stats));
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

    fn stop_reason(&self, planned: &Planned, by: Stop) -> Reason {
        let options = &self.plan.options;
        let advice = |raise: &str| {
            advice::after_limit(self.instance.program(), self.plan, planned.kind, raise)
        };
        match by {
            Stop::Time => {
                let limit = options.seconds.unwrap_or_default();
                Reason::new(
                    "timeout",
                    format!("the time limit of {limit} s was reached"),
                )
                .next(advice("a longer --timeout"))
            }
            Stop::TotalTime => Reason::new(
                "timeout",
                "the time limit of the whole invocation was reached",
            )
            .next(advice("a longer --total-timeout")),
            Stop::Memory => {
                let limit = options.memory.map_or_else(
                    || "the memory is used up".to_owned(),
                    |bytes| format!("the memory limit of {} MiB was reached", bytes >> 20),
                );
                Reason::new("memory", limit).next(advice("a greater --memory"))
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
