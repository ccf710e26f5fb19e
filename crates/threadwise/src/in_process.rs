//! Running a job where it stands: text to system, system to answers, answers to evidence.

use std::sync::{Arc, mpsc};
use std::thread;

use threadwise_engine::{
    Answer, Engine, FamilyAnswer, FamilyEngine, HornSolver, Limits, Make, Observer, Outcome,
    Progress, Refused, Run, Setup, Task, Work,
};
use threadwise_evidence::{Exposed, Reason, ReasonCode, ReplayError, Round, Stats, Verdict};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty};

use crate::grants::Grants;
use crate::job::{Execution, Executor, Finding, Job, JobEvent, JobOutcome, Runner, Turn};
use crate::registry::Registry;

/// Room for processes of a template that begins empty, at first; it is doubled when it is used up.
const FIRST_CAPACITY: u32 = 4;
/// The most that is tried: a program that starts processes without end has no end of states.
const LAST_CAPACITY: u32 = 1 << 12;

/// Deep expressions are evaluated by recursion, so the stack of an engine is not the small default.
const STACK: usize = 256 << 20;

/// Runs jobs in threads of this process.
#[derive(Debug, Default)]
pub struct InProcess {
    registry: Registry,
    jobs: Vec<UnderWay>,
}

impl InProcess {
    /// Runs jobs for these engines.
    pub fn new(registry: Registry) -> InProcess {
        InProcess {
            registry,
            jobs: Vec::new(),
        }
    }
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
        let (job, registry) = (job.clone(), self.registry.clone());
        // If there is no thread to be had, there will be no event either.
        let _ = thread::Builder::new().stack_size(STACK).spawn(move || {
            let pause = |done| {
                grants.wait(done, &|granted| {
                    let _ = send.send(JobEvent::Paused(granted));
                })
            };
            let host = Host {
                registry: &registry,
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
    /// The engines that there are.
    pub registry: &'a Registry,
    /// Says how many seconds the job has taken; asked every few milliseconds.
    pub spent: Option<&'a (dyn Fn() -> f64 + Sync)>,
    /// Hears how much work the job has done, as often, and says whether to go on; it may take its time.
    pub pause: Option<&'a (dyn Fn(u64) -> bool + Sync)>,
    /// Has other programs solve Horn clauses.
    pub solver: Option<&'a dyn HornSolver>,
}

/// Runs a job to its end. It reads no clock, and starts no process: that is the `host`'s part. `progress` hears how far the job is.
pub fn run_job(job: &Job, host: &Host, progress: &mut (dyn FnMut(&Stats) + Send)) -> JobEvent {
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
    let mut event = match host.registry.get(&job.engine).map(|engine| engine.make) {
        Ok(Make::One(make)) => run_learning(job, make, &limits, progress),
        Ok(Make::All(make)) => match make(&job.setup) {
            Ok(engine) => run_family(job, &*engine, host.solver, &limits, progress),
            Err(refused) => JobEvent::Failed(refused.to_string()),
        },
        Ok(Make::Several) => JobEvent::Failed(format!("`{}` is no single engine", job.engine)),
        Err(unknown) => JobEvent::Failed(unknown.to_string()),
    };
    if let JobEvent::Finished(outcome) = &mut event {
        outcome.stats.work = Some(work.done());
    }
    event
}

/// Makes an engine for one instance.
type MakeOne = fn(&Setup) -> Result<Box<dyn Engine>, Refused>;

/// Runs a job about one instance; if there is a smaller one to learn from, that first.
fn run_learning(
    job: &Job,
    make: MakeOne,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Stats) + Send),
) -> JobEvent {
    let Some(values) = &job.learn else {
        return run_instance(job, make, limits, progress);
    };
    let small = Job {
        values: values.clone(),
        setup: Setup {
            certificates: false,
            explain: false,
            ..job.setup.clone()
        },
        ..job.clone()
    };
    let learnt = match run_instance(&small, make, limits, progress) {
        JobEvent::Finished(outcome) => outcome,
        other => return other,
    };
    let exposed = learnt.findings.into_iter();
    let exposed: Vec<Exposed> = exposed.flat_map(|found| found.account.exposed).collect();
    let facts = exposed.len();
    let plural = if facts == 1 { "" } else { "s" };
    let note = format!("{facts} fact{plural} learnt at {values}");
    let mut taught = job.clone();
    taught.setup.exposed = exposed;
    let mut event = run_instance(&taught, make, limits, progress);
    if let JobEvent::Finished(outcome) = &mut event {
        for finding in &mut outcome.findings {
            finding.account.rounds.insert(0, Round::new(note.clone()));
        }
    }
    event
}

/// Runs a job about one instance.
fn run_instance(
    job: &Job,
    make: MakeOne,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Stats) + Send),
) -> JobEvent {
    let instance = match Instance::new(Arc::clone(&job.program), &job.values.map()) {
        Ok(instance) => instance,
        Err(diagnostics) => return JobEvent::rejected(&diagnostics),
    };
    let engine = match make(&job.setup) {
        Ok(engine) => engine,
        Err(refused) => return JobEvent::Failed(refused.to_string()),
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
        let open = job.setup.count_states
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
                // A count up to symmetry is not the number of states.
                complete: outcome.complete && outcome.stats.up_to_symmetry.is_none(),
                stats: outcome.stats,
            }),
            Err(message) => JobEvent::Failed(message),
        };
    }
}

/// Runs a job about all values of the parameters that have none.
fn run_family(
    job: &Job,
    engine: &dyn FamilyEngine,
    solver: Option<&dyn HornSolver>,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Stats) + Send),
) -> JobEvent {
    let task = Task {
        program: &job.program,
        fixed: &job.values.map(),
        properties: &job.properties,
        solver,
        limits,
    };
    let outcome = engine.check(&task, &mut Relay(progress));
    let mut findings = Vec::new();
    for (property, (answer, account)) in job.properties.iter().zip(outcome.findings) {
        let verdict = match answer {
            FamilyAnswer::Proved(certificate) => Verdict::Proved(certificate),
            FamilyAnswer::Unknown(reason) => Verdict::Unknown(reason),
            FamilyAnswer::Violated(found) => {
                match violated(&found.instance, &found.system, &found.run, property) {
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
            Answer::Violated(run) => violated(instance, system, run, property)?,
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
    instance: &Instance,
    system: &System,
    run: &Run,
    property: &str,
) -> Result<Verdict, String> {
    match run.record(instance, system, property) {
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
