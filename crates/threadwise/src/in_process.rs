//! Running a job where it stands: text to system, system to answers, answers to evidence.

use std::sync::{Arc, mpsc};
use std::thread;

use threadwise_engine::{Answer, Engine, Explicit, Limits, Observer, Outcome, Progress, Run, Work};
use threadwise_evidence::{Exposed, Reason, ReasonCode, ReplayError, Round, Stats, Verdict};
use threadwise_liveness::{Local, Monolithic, Variant};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty};
use threadwise_param::engine::{self as family, FamilyEngine, HornSolver, Task};
use threadwise_safety::{
    Backward, Cartesian, Forward, Pairwise, Split, ThreadModular, ThreadModularRefined,
};

use crate::engines::{
    self, BACKWARD, CARTESIAN, EXPLICIT, FAIR_LOCAL_LIVENESS_A, FAIR_LOCAL_LIVENESS_B, FORWARD,
    LIVENESS_MONOLITHIC, LOCAL_LIVENESS, PAIRWISE, SPLIT, THREAD_MODULAR, THREAD_MODULAR_REFINED,
};
use crate::grants::Grants;
use crate::job::{Execution, Executor, Finding, Job, JobEvent, JobOutcome, Runner, Turn};
use crate::session::Session;

/// Room for processes of a template that begins empty, at first; it is doubled when it is used up.
const FIRST_CAPACITY: u32 = 4;
/// The most that is tried: a program that starts processes without end has no end of states.
const LAST_CAPACITY: u32 = 1 << 12;

/// Deep expressions are evaluated by recursion, so the stack of an engine is not the small default.
const STACK: usize = 256 << 20;

/// Runs jobs in threads of this process.
#[derive(Debug, Default)]
pub struct InProcess {
    jobs: Vec<UnderWay>,
}

/// A job in a thread. If it is dropped, the thread ends when the engine asks whether to go on.
#[derive(Debug)]
struct UnderWay {
    grants: Arc<Grants>,
    granted: u64,
    events: mpsc::Receiver<JobEvent>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.grants.close();
    }
}

impl Executor for InProcess {
    fn begin(&mut self, job: &Job) -> usize {
        let grants = Arc::new(Grants::default());
        let (send, events) = mpsc::channel();
        self.jobs.push(UnderWay {
            grants: Arc::clone(&grants),
            granted: 0,
            events,
        });
        let job = job.clone();
        // If there is no thread to be had, there will be no event either.
        let _ = thread::Builder::new().stack_size(STACK).spawn(move || {
            let pause = |done| {
                grants.wait(done, &|granted| {
                    let _ = send.send(JobEvent::Paused(granted));
                })
            };
            let host = Host {
                pause: Some(&pause),
                ..Host::default()
            };
            let event = run_job(&job, &host, &mut |_| ());
            // Nobody may wait for it any more.
            let _ = send.send(event);
        });
        self.jobs.len() - 1
    }

    fn grant(&mut self, number: usize, work: u64) {
        if let Some(job) = self.jobs.get_mut(number) {
            job.granted = work;
            job.grants.grant(work);
        }
    }

    fn wait(&mut self, number: usize) -> Turn {
        let Some(job) = self.jobs.get(number) else {
            return Execution::Crashed("there is no such job".to_owned()).into();
        };
        for event in &job.events {
            match event {
                JobEvent::Paused(granted) if granted < job.granted => {}
                JobEvent::Paused(_) => return Turn::Paused,
                other => return Execution::from(other).into(),
            }
        }
        Execution::Crashed("the engine ended without an answer".to_owned()).into()
    }

    fn end(&mut self, number: usize) -> Option<f64> {
        if let Some(job) = self.jobs.get(number) {
            job.grants.close();
        }
        if number + 1 == self.jobs.len() {
            self.jobs.pop();
        }
        None
    }
}

impl Runner for InProcess {
    fn run(&mut self, job: &Job) -> Execution {
        self.execute(job)
    }
}

/// What a job needs of the world around it. By default it has all the time, and nobody to ask.
#[derive(Clone, Copy, Default)]
pub struct Host<'a> {
    /// Says how many seconds the job has taken; asked every few milliseconds.
    pub spent: Option<&'a (dyn Fn() -> f64 + Sync)>,
    /// Hears how much work the job has done, as often, and says whether to go on; it may take its time.
    pub pause: Option<&'a (dyn Fn(u64) -> bool + Sync)>,
    /// Solves Horn clauses, for `counter --method chc`.
    pub solver: Option<&'a dyn HornSolver>,
}

/// Runs a job to its end. It reads no clock, and starts no process: that is the `host`'s part. `progress` hears how far the job is.
pub fn run_job(job: &Job, host: &Host, progress: &mut (dyn FnMut(&Stats) + Send)) -> JobEvent {
    let session = Session::new("", job.text.as_str());
    let spent = || host.spent.map_or(0.0, |spent| spent());
    let within = |share: f64| job.seconds.is_none_or(|most| spent() < most * share);
    let work = Work::default();
    let stop = || {
        if host.pause.is_some_and(|pause| !pause(work.done())) {
            return Some(threadwise_engine::Stop::Cancelled);
        }
        (!within(1.0)).then_some(threadwise_engine::Stop::Time)
    };
    // Half of the time is for verdicts alone, and for checking them.
    let leisure = || within(0.5);
    let limits = Limits {
        memory: job.memory.map(own_share),
        stop: Some(&stop),
        leisure: Some(&leisure),
        work: Some(&work),
        clock: host.spent,
        ..Limits::NONE
    };
    let mut event = match engines::family(&job.engine) {
        Some(engine) => run_family(job, engine, &session, host.solver, &limits, progress),
        None => run_learning(job, &session, &limits, progress),
    };
    if let JobEvent::Finished(outcome) = &mut event {
        outcome.stats.work = Some(work.done());
    }
    event
}

/// Runs a job about one instance; if there is a smaller one to learn from, that first.
fn run_learning(
    job: &Job,
    session: &Session,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Stats) + Send),
) -> JobEvent {
    let Some(values) = &job.learn else {
        return run_instance(job, &[], session, limits, progress);
    };
    let small = Job {
        values: values.clone(),
        certificates: false,
        explain: false,
        ..job.clone()
    };
    let learnt = match run_instance(&small, &[], session, limits, progress) {
        JobEvent::Finished(outcome) => outcome,
        other => return other,
    };
    let exposed = learnt.findings.into_iter();
    let exposed: Vec<Exposed> = exposed.flat_map(|found| found.account.exposed).collect();
    let facts: usize = exposed.iter().map(|exposed| exposed.values.len()).sum();
    let plural = if facts == 1 { "" } else { "s" };
    let note = format!("{facts} fact{plural} learnt at {values}");
    let mut event = run_instance(job, &exposed, session, limits, progress);
    if let JobEvent::Finished(outcome) = &mut event {
        for finding in &mut outcome.findings {
            finding.account.rounds.insert(0, Round::new(note.clone()));
        }
    }
    event
}

/// Runs a job about one instance, with some facts exposed from the beginning.
fn run_instance(
    job: &Job,
    exposed: &[Exposed],
    session: &Session,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Stats) + Send),
) -> JobEvent {
    let instance = match session.instance(&job.values) {
        Ok(instance) => instance,
        Err(diagnostics) => return JobEvent::rejected(&diagnostics),
    };
    let engine: Box<dyn Engine> = match job.engine.as_str() {
        EXPLICIT => Box::new(Explicit {
            exhaustive: job.count_states,
            along: job.along,
            symmetry: job.symmetry,
            certificates: job.certificates,
            threads: usize::from(job.threads),
            integers: None,
        }),
        FORWARD => Box::new(Forward {
            breadth_first: job.breadth_first,
            ..Forward::default()
        }),
        BACKWARD => Box::new(Backward::default()),
        SPLIT => Box::new(Split {
            symmetry: !job.no_symmetry,
            certificates: job.certificates,
            explain: job.explain,
            errors: job.errors,
            predicates: job.predicates,
            witnesses: job.witnesses,
            ..Split::default()
        }),
        PAIRWISE => Box::new(Pairwise {
            symmetry: !job.no_symmetry,
            certificates: job.certificates,
            explain: job.explain,
            ..Pairwise::default()
        }),
        THREAD_MODULAR => Box::new(ThreadModular {
            symmetry: !job.no_symmetry,
            certificates: job.certificates,
            explain: job.explain,
            ..ThreadModular::default()
        }),
        THREAD_MODULAR_REFINED => Box::new(ThreadModularRefined {
            symmetry: !job.no_symmetry,
            certificates: job.certificates,
            explain: job.explain,
            predicates: job.predicates,
            ..ThreadModularRefined::default()
        }),
        CARTESIAN => Box::new(Cartesian {
            exceptions: job.exceptions,
            certificates: job.certificates,
            explain: job.explain,
        }),
        LIVENESS_MONOLITHIC => Box::new(Monolithic {
            symmetric: !job.no_symmetry,
            certificates: job.certificates,
            explain: job.explain,
            ..Monolithic::default()
        }),
        LOCAL_LIVENESS => local(job, Variant::Plain, exposed),
        FAIR_LOCAL_LIVENESS_A => local(job, Variant::A, exposed),
        FAIR_LOCAL_LIVENESS_B => local(job, Variant::B, exposed),
        other => return JobEvent::Failed(format!("there is no engine `{other}`")),
    };
    let mut capacity = FIRST_CAPACITY;
    loop {
        let system = match lower(&instance, capacity) {
            Ok(system) => system,
            Err(diagnostics) => return JobEvent::rejected(&diagnostics),
        };
        let mut properties: Vec<&SystemProperty> = Vec::new();
        for name in &job.properties {
            match system.properties.iter().find(|known| known.name == *name) {
                Some(property) => properties.push(property),
                None => return JobEvent::Failed(format!("the model has no property `{name}`")),
            }
        }
        let outcome = engine.check_all(&system, &properties, limits, &mut Relay(progress));
        let open = job.count_states
            || outcome
                .answers
                .iter()
                .any(|a| matches!(a, Answer::Unknown(_)));
        if outcome.capacity_exceeded.is_some() && open && capacity < LAST_CAPACITY {
            capacity *= 2;
            continue;
        }
        return match findings(job, &instance, &system, &outcome) {
            Ok(findings) => JobEvent::Finished(JobOutcome {
                findings,
                stats: Stats {
                    up_to_symmetry: job.symmetry.then_some(true),
                    ..outcome.stats
                },
                // A count up to symmetry is not the number of states.
                complete: outcome.complete && !job.symmetry,
            }),
            Err(message) => JobEvent::Failed(message),
        };
    }
}

/// Runs a job about all values of the parameters that have none.
fn run_family(
    job: &Job,
    engine: FamilyEngine,
    session: &Session,
    solver: Option<&dyn HornSolver>,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Stats) + Send),
) -> JobEvent {
    let Some(program) = session.program() else {
        return JobEvent::rejected(session.diagnostics());
    };
    let task = Task {
        program,
        fixed: &job.values.map(),
        properties: &job.properties,
        method: job.method,
        solver,
        bounded: job.bounded,
        certificates: job.certificates,
        explain: job.explain,
        limits,
    };
    let outcome = engine.check(&task, &mut Relay(progress));
    let mut findings = Vec::new();
    for (property, (answer, account)) in job.properties.iter().zip(outcome.findings) {
        let verdict = match answer {
            family::Answer::Proved(certificate) => Verdict::Proved(certificate),
            family::Answer::Unknown(reason) => Verdict::Unknown(reason),
            family::Answer::Violated(found) => {
                match violated(
                    &job.text,
                    &found.instance,
                    &found.system,
                    &found.run,
                    property,
                ) {
                    Ok(verdict) => verdict,
                    Err(message) => return JobEvent::Failed(message),
                }
            }
        };
        findings.push(Finding {
            property: property.clone(),
            verdict,
            account,
        });
    }
    JobEvent::Finished(JobOutcome {
        findings,
        stats: outcome.stats,
        complete: false,
    })
}

/// An engine that looks for fair cycles one process at a time.
fn local(job: &Job, variant: Variant, exposed: &[Exposed]) -> Box<dyn Engine> {
    Box::new(Local {
        variant,
        symmetric: !job.no_symmetry,
        certificates: job.certificates,
        explain: job.explain,
        exposed: exposed.to_vec(),
    })
}

/// What an engine may store, of what its process may use: the program itself and what the engine
/// does not count need some too.
fn own_share(bytes: u64) -> u64 {
    bytes.saturating_sub(bytes / 16).saturating_sub(12 << 20)
}

/// Answers as evidence.
fn findings(
    job: &Job,
    instance: &Instance,
    system: &System,
    outcome: &Outcome,
) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for (place, (property, answer)) in job.properties.iter().zip(&outcome.answers).enumerate() {
        let verdict = match answer {
            Answer::Proved(certificate) => Verdict::Proved(certificate.clone()),
            Answer::Unknown(reason) => Verdict::Unknown(reason.clone()),
            Answer::Violated(run) => violated(&job.text, instance, system, run, property)?,
        };
        findings.push(Finding {
            property: property.clone(),
            verdict,
            account: outcome.accounts.get(place).cloned().unwrap_or_default(),
        });
    }
    Ok(findings)
}

/// A run as evidence. It is followed by the interpreter, which turns it into a trace; one that it does not follow
/// is a fault of the engine.
fn violated(
    text: &str,
    instance: &Instance,
    system: &System,
    run: &Run,
    property: &str,
) -> Result<Verdict, String> {
    match run.record(instance, text, system, property) {
        Ok(trace) => Ok(Verdict::Violated(trace)),
        Err(ReplayError::Limit { limit, .. }) => Ok(Verdict::Unknown(Reason::new(
            ReasonCode::ReplayLimit,
            format!("a violation was found, but the interpreter cannot replay it: {limit}"),
        ))),
        Err(error) => Err(format!(
            "the run that violates `{property}` is not one of the model: {error}"
        )),
    }
}

/// Passes progress on as statistics.
struct Relay<'a>(&'a mut (dyn FnMut(&Stats) + Send));

impl Observer for Relay<'_> {
    fn progress(&mut self, progress: &Progress) {
        // An engine that does not visit states one by one has none to report, and others no nodes.
        let counted = |count: u64| (count > 0).then_some(count);
        (self.0)(&Stats {
            states: counted(progress.states),
            transitions: counted(progress.transitions),
            depth: counted(progress.depth),
            iterations: counted(progress.iterations),
            peak_nodes: counted(progress.peak_nodes),
            ..Stats::default()
        });
    }
}
