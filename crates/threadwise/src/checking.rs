//! One instance of a plan, or all of them: which engines are asked, in which order, and what is made of their answers.
//!
//! The claim of a model is for every value of its parameters. So the engines for all instances come first, as far as the plan says; each gets what the
//! others left open. What all of them leave open is decided at one instance, and the result says so. The strongest answer
//! counts: a proof for all instances, or a violation at any.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_evidence::{Reason, Stats};
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Program;
use threadwise_model::instance::Instance;
use threadwise_param::small::{self, Reach};

use crate::engines;
use crate::job::{Execution, Executor, Job, Stop};
use crate::judge::{Recheck, Subject, View};
use crate::plan::{Plan, Planned};
use crate::report::{Exit, Kind, PropertyResult, ReportedDiagnostic, Run, VerdictKind};
use crate::session::{Checked, Session, values_of};
use crate::setting::{Setting, Values};

/// The least that a search gets of the time, when those before it have used it up.
const LEAST_SECONDS: f64 = 0.1;

/// One instance of a plan, or all with some values, while it is checked.
pub(crate) struct Checking<'a> {
    session: &'a Session,
    plan: &'a Plan,
    program: &'a Arc<Program>,
    /// The values that were given.
    given: &'a Values,
    executor: &'a mut dyn Executor,
    /// What is decided, or will not be.
    results: BTreeMap<String, PropertyResult>,
    /// Why properties were not decided for all instances.
    open: BTreeMap<String, Vec<Reason>>,
    /// What the searches for all instances took.
    spent: Stats,
    state_count: Option<u64>,
    interrupted: bool,
    /// A fault of threadwise.
    fault: Option<String>,
}

/// One search of an engine, and what became of its evidence.
struct Search {
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

impl<'a> Checking<'a> {
    /// Before anything was asked.
    pub(crate) fn new(
        session: &'a Session,
        plan: &'a Plan,
        program: &'a Arc<Program>,
        given: &'a Values,
        executor: &'a mut dyn Executor,
    ) -> Checking<'a> {
        Checking {
            session,
            plan,
            program,
            given,
            executor,
            results: BTreeMap::new(),
            open: BTreeMap::new(),
            spent: Stats::default(),
            state_count: None,
            interrupted: false,
            fault: None,
        }
    }

    /// Asks the engines.
    pub(crate) fn run(mut self) -> Checked {
        let families = self.plan.families(self.program, self.given);
        let instance = self.session.instance(self.given);
        if let Err(diagnostics) = &instance {
            // There may be other instances with these values than the one that the defaults give.
            let others =
                || !small::instances(self.program, &self.given.map(), Reach::Small).is_empty();
            if families.is_empty() || !others() {
                let excluded = |d: &Diagnostic| d.code == Code::WhereViolated;
                return if self.plan.is_sweep() && diagnostics.iter().all(excluded) {
                    Checked::Excluded
                } else {
                    Checked::Rejected(diagnostics.clone())
                };
            }
        }
        self.all(families);
        match &instance {
            Ok(instance) => {
                if let Err(diagnostics) = self.one(instance) {
                    return Checked::Rejected(diagnostics);
                }
            }
            Err(diagnostics) if self.results.is_empty() => {
                return Checked::Rejected(diagnostics.clone());
            }
            Err(diagnostics) => {
                let subject = Subject::All(self.program, self.given);
                self.give_up(subject, &Recheck::default(), &self.undecided(), diagnostics);
            }
        }
        let values = match &instance {
            Ok(instance) if families.is_empty() => values_of(instance),
            _ => self.given.in_order(self.program),
        };
        Checked::Run(self.finish(values))
    }

    /// The properties that there is no result of yet.
    fn undecided(&self) -> Vec<&'a Planned> {
        let properties = self.plan.properties.iter();
        properties
            .filter(|planned| !self.results.contains_key(&planned.name))
            .collect()
    }

    /// Asks the engines for all instances.
    fn all(&mut self, families: &[&str]) {
        for (place, engine) in families.iter().enumerate() {
            let mut group = self.undecided();
            group.retain(|planned| planned.kind != Kind::Liveness);
            if group.is_empty() || self.ended() {
                return;
            }
            let mut job = self.job(self.given, &group);
            job.engine = (*engine).to_owned();
            // Those that come after it get as much of the time, and so does the instance.
            let shares = match self.plan.is_family() {
                true => 1.0,
                false => (families.len() - place + 1) as f64,
            };
            job.bounded = !self.plan.is_family();
            job.seconds = job.seconds.map(|seconds| seconds / shares);
            let subject = Subject::All(self.program, self.given);
            let execution = self.executor.execute(&job);
            let search = self.rechecked(subject, execution);
            self.account(&job, &search);
            let view = View::new(
                self.session,
                self.plan,
                subject,
                engine,
                &search.recheck,
                &[],
            );
            for planned in group {
                match view.of(planned, &search.execution) {
                    Err(fault) => self.fault = self.fault.take().or(Some(fault)),
                    Ok(result)
                        if result.verdict == VerdictKind::Unknown && !self.plan.is_family() =>
                    {
                        let reasons = self.open.entry(planned.name.clone()).or_default();
                        reasons.extend(result.reason);
                    }
                    Ok(result) => {
                        self.results.insert(planned.name.clone(), result);
                    }
                }
            }
        }
    }

    /// Whether there is nothing more to ask.
    fn ended(&self) -> bool {
        self.interrupted || self.fault.is_some()
    }

    /// Notes what a search took, so that those after it get the rest of the time.
    fn account(&mut self, job: &Job, search: &Search) {
        let took = match &search.execution {
            Execution::Finished(outcome) => outcome.stats.clone(),
            Execution::Stopped { stats, .. } => stats.clone(),
            Execution::Rejected(_) | Execution::Crashed(_) => Stats::default(),
        };
        let add = |sum: &mut Option<f64>, more: Option<f64>| {
            *sum = sum.map_or(more, |sum| Some(sum + more.unwrap_or(0.0)));
        };
        // An executor that knows no clock has used up what it was given.
        add(&mut self.spent.seconds, took.seconds.or(job.seconds));
        add(&mut self.spent.seconds, search.recheck.seconds);
        add(&mut self.spent.cpu_seconds, took.cpu_seconds);
    }

    /// Decides what is left at one instance. An error if the instance is refused.
    fn one(&mut self, instance: &Instance) -> Result<(), Vec<Diagnostic>> {
        let values = values_of(instance);
        let subject = Subject::One(instance, &values);
        let none = Vec::new();
        let groups = self.plan.searches(&self.undecided());
        for group in groups {
            if self.fault.is_some() {
                return Ok(());
            }
            let search = self.search(subject, &values, &group)?;
            let kind = group.first().map_or(Kind::Builtin, |planned| planned.kind);
            let engine = engines::chosen(&self.plan.options.engine, kind);
            if let Execution::Rejected(diagnostics) = &search.execution {
                if self.open.is_empty() {
                    return Err(diagnostics.clone());
                }
                self.give_up(subject, &search.recheck, &group, diagnostics);
                continue;
            }
            for planned in group {
                let tried = self.open.get(&planned.name).unwrap_or(&none);
                let view = View::new(
                    self.session,
                    self.plan,
                    subject,
                    engine,
                    &search.recheck,
                    tried,
                );
                match view.of(planned, &search.execution) {
                    // One message is enough: the same search stands behind all of them.
                    Err(fault) => self.fault = self.fault.take().or(Some(fault)),
                    Ok(mut result) => {
                        if !tried.is_empty() {
                            add_times(&mut result.stats, &self.spent);
                        }
                        self.results.insert(planned.name.clone(), result);
                    }
                }
            }
            if let Execution::Finished(outcome) = &search.execution {
                let states = outcome.stats.states.filter(|_| outcome.complete);
                self.state_count = self.state_count.or(states);
            }
        }
        let recheck = Recheck::default();
        for planned in self.undecided() {
            let engine = engines::chosen(&self.plan.options.engine, planned.kind);
            let view = View::new(self.session, self.plan, subject, engine, &recheck, &[]);
            match engines::decides(&self.plan.options.engine, planned) {
                Err(reason) => {
                    let result = view.unknown(planned, reason, Stats::default());
                    self.results.insert(planned.name.clone(), result);
                }
                Ok(()) => {
                    let fault = format!("`{}` was planned but not run", planned.name);
                    self.fault = self.fault.take().or(Some(fault));
                }
            }
        }
        Ok(())
    }

    /// Says of properties that there is no instance to decide them at.
    fn give_up(
        &mut self,
        subject: Subject<'_>,
        recheck: &Recheck,
        group: &[&Planned],
        diagnostics: &[Diagnostic],
    ) {
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        let none = Vec::new();
        for planned in group {
            let tried = self.open.get(&planned.name).unwrap_or(&none);
            let engine = engines::chosen(&self.plan.options.engine, planned.kind);
            let view = View::new(self.session, self.plan, subject, engine, recheck, tried);
            let reason = view.no_instance(&messages.join("; "));
            let result = view.unknown(planned, reason, self.spent.clone());
            self.results.insert(planned.name.clone(), result);
        }
    }

    /// Puts the results together.
    fn finish(mut self, values: Values) -> Run {
        let mut run = Run {
            file: self.session.name().to_owned(),
            values,
            state_count: self.state_count,
            ..Run::default()
        };
        for planned in &self.plan.properties {
            run.results.extend(self.results.remove(&planned.name));
        }
        if let Some(fault) = self.fault {
            run.trouble = Some(Exit::Internal);
            run.diagnostics.push(ReportedDiagnostic::error(
                format!("internal error: {fault}"),
                Some("this is a fault in threadwise; please report it with the model".to_owned()),
            ));
        }
        if self.interrupted {
            run.trouble = Some(Exit::Interrupted);
        }
        run
    }

    /// Has an engine decide properties together at an instance. An error if the instance to learn from does not exist.
    fn search(
        &mut self,
        subject: Subject<'_>,
        values: &Values,
        group: &[&Planned],
    ) -> Result<Search, Vec<Diagnostic>> {
        let mut job = self.job(values, group);
        let learnt = match self.plan.options.learn.as_slice() {
            [] => None,
            learn => Some(self.learn(learn, &mut job)?),
        };
        let execution = match learnt {
            Some(Learnt::Nothing(execution)) => execution,
            Some(Learnt::Facts { note, stats }) => {
                let mut execution = self.executor.execute(&job);
                if let Execution::Finished(outcome) = &mut execution {
                    for finding in &mut outcome.findings {
                        finding.account.rounds.insert(0, note.clone());
                    }
                    add_times(&mut outcome.stats, &stats);
                }
                execution
            }
            None => self.executor.execute(&job),
        };
        Ok(self.rechecked(subject, execution))
    }

    /// Has the evidence of the last job checked.
    fn rechecked(&mut self, subject: Subject<'_>, execution: Execution) -> Search {
        let mut recheck = Recheck::default();
        if let Execution::Finished(outcome) = &execution
            && self.plan.options.recheck
        {
            recheck.seconds = self.executor.recheck(&mut |stop| {
                recheck.proofs(subject, outcome, stop);
            });
        }
        let stopped = match &execution {
            Execution::Stopped { by, .. } => Some(*by),
            _ => recheck.stopped,
        };
        self.interrupted |= stopped == Some(Stop::Interrupted);
        Search { execution, recheck }
    }

    /// Has the properties of a job decided at a smaller instance, and adds to the job what was exposed there.
    fn learn(&mut self, learn: &[Setting], job: &mut Job) -> Result<Learnt, Vec<Diagnostic>> {
        let mut values = job.values.clone();
        for (name, value) in &mut values.0 {
            if let Some(setting) = learn.iter().find(|setting| setting.name == *name) {
                *value = *setting.values.start();
            }
        }
        self.session.instance(&values)?;
        let small = Job {
            values,
            certificates: false,
            explain: false,
            ..job.clone()
        };
        match self.executor.execute(&small) {
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

    /// The job to decide properties that one engine decides.
    fn job(&self, values: &Values, group: &[&Planned]) -> Job {
        let options = &self.plan.options;
        let kind = group.first().map_or(Kind::Builtin, |planned| planned.kind);
        let engine = engines::chosen(&options.engine, kind);
        let seconds = options.seconds.map(|seconds| {
            let left = seconds - self.spent.seconds.unwrap_or(0.0);
            left.max(LEAST_SECONDS.min(seconds))
        });
        Job {
            text: self.session.text().to_owned(),
            values: values.clone(),
            properties: group.iter().map(|planned| planned.name.clone()).collect(),
            engine: engine.to_owned(),
            breadth_first: options.breadth_first,
            threads: options.threads,
            // With `auto`, it is for one of the engines.
            symmetry: options.symmetry && engine == engines::EXPLICIT,
            no_symmetry: options.no_symmetry,
            explain: options.explain,
            errors: options.errors.unwrap_or_default(),
            predicates: options.predicates.unwrap_or_default(),
            witnesses: options.witnesses,
            exceptions: options.exceptions.unwrap_or_default(),
            method: options.method.unwrap_or_default(),
            solver: options.solver.clone(),
            exposed: Vec::new(),
            count_states: options.count_states,
            bounded: false,
            certificates: options.recheck || options.certificates,
            seconds,
            memory: options.memory,
        }
    }
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
