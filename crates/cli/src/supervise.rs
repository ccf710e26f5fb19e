//! The parent's side of a worker process.
//!
//! An engine runs in a process of its own, so that a limit can be enforced whatever the engine is
//! doing, and so that a crash is a message and not the end. The worker gets its job as one line
//! of JSON, and more lines that say how much work it may do; it answers with lines of JSON: progress, that it waits for more, and at the end its findings. It also keeps
//! the limits itself, between operations, which saves what it has found by then; the parent steps
//! in a little later, when the worker did not stop by itself, and then only the last statistics
//! remain. When the user wants to stop, workers are told to say what they have found, and have a moment to do so. Memory is what Linux says in `/proc/PID/statm`; elsewhere only the worker looks.
//!
//! What a worker found is rechecked in the parent, with the time that the worker left and the same limit of memory.

use std::cell::Cell;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use threadwise::{
    AskStop, Execution, Executor, Job, JobEvent, Scope, Stats, Stop, Turn, Values, VerdictKind,
};

use threadwise_bench::process::{self, end_group, ending, keep_beginning, mib, resident_bytes};

use crate::progress::{Doing, ProgressLine};
use crate::watch;

/// How often the parent looks at the worker.
const LOOK: Duration = Duration::from_millis(10);
/// How long a worker may take over its time limit before it is ended.
const GRACE: Duration = Duration::from_millis(400);
/// How long workers may take to say what they have found when the user wants to stop.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// What a worker says when it dies because the system gives it no more memory, or no thread. Libraries know no other way to say so.
const EXHAUSTED: [&str; 3] = [
    "memory allocation of",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
];
/// The library of decision diagrams has a thread of its own, which has nothing to do here; by default it reserves a GiB for each manager.
const DIAGRAM_STACK: (&str, &str) = ("OXIDD_STACK_SIZE", "262144");
/// The grant that tells a worker to come to an end.
pub(crate) const NO_MORE: u64 = 0;
/// How much of a worker's standard error is kept, for the message about a crash.
const WORDS_KEPT: usize = 4096;

/// Runs jobs in worker processes.
pub(crate) struct Supervisor<'a> {
    /// When the whole invocation must be over.
    pub(crate) deadline: Option<Instant>,
    /// Set when the user wants to stop.
    pub(crate) interrupted: &'a AtomicBool,
    /// Where progress is shown.
    pub(crate) progress: ProgressLine,
    under_way: Under,
    /// What the recheck of the last job's evidence may take.
    left: Left,
}

/// The jobs that are under way.
#[derive(Default)]
struct Under {
    jobs: Vec<UnderWay>,
    /// When the first of them was begun.
    begun: Option<Instant>,
    /// Until when they may say what they have found, once the user wants to stop.
    last_words: Option<Instant>,
}

/// A job, and the worker that does it.
struct UnderWay {
    worker: Option<Worker>,
    /// How it ended, if it ended without being waited for.
    ended: Option<Execution>,
    values: Values,
    engine: String,
    properties: Vec<String>,
    granted: u64,
    /// When it must be over, and because of what.
    until: Option<(Instant, Stop)>,
    memory: Option<u64>,
    /// The last that was heard.
    stats: Stats,
    peak: u64,
    begun: Instant,
    cpu_seconds: Option<f64>,
    /// Whether nobody will ask for it again.
    over: bool,
}

/// What a job leaves for the recheck of its evidence.
#[derive(Clone, Copy, Default)]
struct Left {
    /// When it must be over, and because of what.
    until: Option<(Instant, Stop)>,
    /// The memory that this process may use.
    memory: Option<u64>,
}

impl UnderWay {
    /// The memory that it has in use.
    fn resident(&self) -> u64 {
        let worker = self.worker.as_ref();
        let resident = worker.and_then(|worker| resident_bytes(worker.child.id()));
        resident.unwrap_or(0)
    }

    /// Ends the worker, and notes what it took.
    fn stop(&mut self) {
        let Some(worker) = self.worker.take() else {
            return;
        };
        // The worker is waited for: the difference is what it took.
        let before = process::of_children();
        drop(worker);
        if let (Some(before), Some(after)) = (before, process::of_children()) {
            self.cpu_seconds = Some(after.cpu_seconds - before.cpu_seconds);
        }
    }

    /// What to say when it is ended by this.
    fn stopped(&self, by: Stop) -> Execution {
        stopped(by, self.stats.clone())
    }
}

impl Executor for Supervisor<'_> {
    fn begin(&mut self, job: &Job) -> usize {
        watch::working();
        let now = Instant::now();
        let first = *self.under_way.begun.get_or_insert(now);
        let own = job.seconds.map(|seconds| {
            let end = first + Duration::from_secs_f64(seconds);
            (end, Stop::Time)
        });
        let total = self.deadline.map(|end| (end, Stop::TotalTime));
        let until = own.into_iter().chain(total).min_by_key(|(end, _)| *end);
        let mut begun = UnderWay {
            worker: None,
            ended: None,
            values: job.values.clone(),
            engine: job.engine.clone(),
            properties: job.properties.clone(),
            granted: 0,
            until,
            memory: job.memory,
            stats: Stats::default(),
            peak: 0,
            begun: now,
            cpu_seconds: None,
            over: false,
        };
        let left = until.map(|(end, by)| (end.saturating_duration_since(now), by));
        if self.interrupted.load(Ordering::Relaxed) {
            begun.ended = Some(begun.stopped(Stop::Interrupted));
        } else if let Some((Duration::ZERO, by)) = left {
            begun.ended = Some(begun.stopped(by));
        } else {
            let job = Job {
                seconds: left.map(|(left, _)| left.as_secs_f64()),
                ..job.clone()
            };
            match Worker::start(&job) {
                Ok(worker) => begun.worker = Some(worker),
                Err(error) if is_exhausted(&error) => {
                    begun.ended = Some(begun.stopped(Stop::Exhausted));
                }
                Err(error) => {
                    let message = format!("the worker process cannot be started: {error}");
                    begun.ended = Some(Execution::Crashed(message));
                }
            }
        }
        self.under_way.jobs.push(begun);
        self.under_way.jobs.len() - 1
    }

    fn grant(&mut self, number: usize, work: u64) {
        let job = &mut self.under_way.jobs[number];
        job.granted = work;
        if let Some(worker) = &mut job.worker {
            worker.say(&work);
        }
    }

    fn wait(&mut self, number: usize) -> Turn {
        let turn = self.watch(number);
        let Turn::Ended(execution) = turn else {
            return turn;
        };
        // What comes next is to recheck what it found.
        self.show(number, true);
        let job = &self.under_way.jobs[number];
        // The time that the job left, and a little when it left none.
        self.left = Left {
            until: job
                .until
                .map(|(end, by)| (end.max(Instant::now() + GRACE), by)),
            memory: job.memory,
        };
        let total = matches!(job.until, Some((_, Stop::TotalTime)));
        match *execution {
            Execution::Finished(mut outcome) if total => {
                outcome.blame_total_time();
                Execution::Finished(outcome).into()
            }
            other => other.into(),
        }
    }

    fn hurry(&mut self, number: usize) -> Option<Execution> {
        let job = &mut self.under_way.jobs[number];
        let worker = job.worker.as_mut()?;
        worker.say(&NO_MORE);
        // The limit is over: how it is kept from here on is up to this.
        job.until = Some((Instant::now(), Stop::Time));
        match self.watch(number) {
            Turn::Ended(execution) if matches!(*execution, Execution::Finished(_)) => {
                Some(*execution)
            }
            _ => None,
        }
    }

    fn elapsed(&self) -> Option<f64> {
        let begun = self.under_way.begun?;
        Some(begun.elapsed().as_secs_f64())
    }

    fn end(&mut self, number: usize) -> Option<f64> {
        let job = &mut self.under_way.jobs[number];
        job.stop();
        let cpu_seconds = job.cpu_seconds;
        job.over = true;
        if self.under_way.jobs.iter().all(|job| job.over) {
            self.under_way = Under::default();
        }
        cpu_seconds
    }

    fn decided(&mut self, property: &str, verdict: VerdictKind, scope: &Scope) {
        self.progress.decided(property, verdict, scope);
    }

    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        let started = Instant::now();
        let looked = Cell::new(started);
        let Left { until, memory } = self.left;
        check(&|| {
            watch::sign_of_life();
            if self.interrupted.load(Ordering::Relaxed) {
                return Some(Stop::Interrupted);
            }
            let now = Instant::now();
            if let Some((end, by)) = until
                && now >= end
            {
                return Some(by);
            }
            if now.duration_since(looked.get()) < LOOK {
                return None;
            }
            looked.set(now);
            let used = resident_bytes(std::process::id()).zip(memory);
            used.is_some_and(|(used, most)| used > most)
                .then_some(Stop::Memory)
        });
        Some(started.elapsed().as_secs_f64())
    }
}

impl<'a> Supervisor<'a> {
    /// With nothing to do yet.
    pub(crate) fn new(
        deadline: Option<Instant>,
        interrupted: &'a AtomicBool,
        progress: ProgressLine,
    ) -> Supervisor<'a> {
        Supervisor {
            deadline,
            interrupted,
            progress,
            under_way: Under::default(),
            left: Left::default(),
        }
    }

    /// Shows how far a job is.
    fn show(&mut self, number: usize, rechecks: bool) {
        let job = &self.under_way.jobs[number];
        let begun = self.under_way.begun.unwrap_or(job.begun);
        self.progress.show(&Doing {
            engine: &job.engine,
            properties: &job.properties,
            values: &job.values,
            stats: &job.stats,
            elapsed: begun.elapsed().as_secs_f64(),
            rechecks,
        });
    }

    /// Waits until a job has done what it was granted, and sees to the limits meanwhile.
    fn watch(&mut self, number: usize) -> Turn {
        loop {
            watch::sign_of_life();
            let job = &mut self.under_way.jobs[number];
            if let Some(execution) = job.ended.take() {
                return execution.into();
            }
            let Some(worker) = &job.worker else {
                return Execution::Crashed("a job is waited for twice".to_owned()).into();
            };
            let event = worker.events.recv_timeout(LOOK);
            let elapsed = Some(job.begun.elapsed().as_secs_f64());
            let memory_mib = job.stats.memory_mib;
            job.stats.seconds = elapsed;
            match event {
                Ok(Ok(JobEvent::Progress(progress))) => {
                    job.stats = Stats {
                        seconds: elapsed,
                        memory_mib,
                        ..progress
                    };
                    self.show(number, false);
                }
                // What it was granted since then it has not heard of yet.
                Ok(Ok(JobEvent::Paused(granted))) if granted < job.granted => continue,
                Ok(Ok(JobEvent::Paused(_))) => return Turn::Paused,
                Ok(Ok(JobEvent::Finished(mut outcome))) => {
                    outcome.stats.seconds = elapsed;
                    outcome.stats.memory_mib = memory_mib;
                    if self.under_way.last_words.is_some() {
                        outcome.blame_interrupt();
                    }
                    return Execution::Finished(outcome).into();
                }
                Ok(Ok(rejected)) => return Execution::from(rejected).into(),
                Ok(Err(line)) => {
                    let message =
                        format!("the worker process said something that is no answer: {line}");
                    return Execution::Crashed(message).into();
                }
                // Who says nothing works all the same.
                Err(RecvTimeoutError::Timeout) => self.show(number, false),
                // The worker is gone without an answer.
                Err(RecvTimeoutError::Disconnected) => {
                    let stats = job.stats.clone();
                    if self.interrupted.load(Ordering::Relaxed) {
                        return stopped(Stop::Interrupted, stats).into();
                    }
                    let gone = job.worker.take().map(|worker| worker.post_mortem(stats));
                    job.ended = gone;
                    continue;
                }
            }
            if self.interrupted.load(Ordering::Relaxed) {
                let until = self.last_words();
                if Instant::now() >= until {
                    return self.under_way.jobs[number]
                        .stopped(Stop::Interrupted)
                        .into();
                }
            } else if let Some((end, by)) = self.under_way.jobs[number].until
                && Instant::now() >= end + GRACE
            {
                // The worker keeps its limit itself, if it can.
                return self.under_way.jobs[number].stopped(by).into();
            }
            self.look_at_memory(number);
        }
    }

    /// Tells all workers to come to an end, if they were not told yet; until when what they say then is waited for.
    fn last_words(&mut self) -> Instant {
        let Under {
            jobs, last_words, ..
        } = &mut self.under_way;
        *last_words.get_or_insert_with(|| {
            for worker in jobs.iter_mut().filter_map(|job| job.worker.as_mut()) {
                worker.say(&NO_MORE);
            }
            Instant::now() + LAST_WORDS
        })
    }

    /// Ends workers as long as those under way use more memory together than one may: the largest, but the one that is waited for only if it is alone.
    fn look_at_memory(&mut self, waited_for: usize) {
        let jobs = &mut self.under_way.jobs;
        let mut in_use = Vec::new();
        for (number, job) in jobs.iter_mut().enumerate() {
            let resident = job.resident();
            if resident > 0 {
                job.peak = job.peak.max(resident);
                job.stats.memory_mib = Some(mib(job.peak));
                in_use.push((number != waited_for, resident, number));
            }
        }
        in_use.sort_unstable();
        let mut sum: u64 = in_use.iter().map(|(_, resident, _)| resident).sum();
        while let Some((_, resident, number)) = in_use.pop() {
            let job = &mut jobs[number];
            if job.memory.is_none_or(|most| sum <= most) {
                return;
            }
            sum -= resident;
            job.ended = Some(job.stopped(Stop::Memory));
            job.stop();
        }
    }
}

/// Whether the system has no more memory, address space, processes or threads.
fn is_exhausted(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory)
}

fn stopped(by: Stop, stats: Stats) -> Execution {
    Execution::Stopped { by, stats }
}

/// A worker process; it is ended when this is dropped.
struct Worker {
    child: Child,
    events: mpsc::Receiver<Result<JobEvent, String>>,
    words: Option<thread::JoinHandle<String>>,
}

impl Worker {
    fn start(job: &Job) -> std::io::Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env(DIAGRAM_STACK.0, DIAGRAM_STACK.1);
        // Ctrl-C goes to the parent alone, which ends the worker when it has heard of it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (send, events) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            thread::Builder::new().spawn(move || {
                for line in BufReader::new(out).lines() {
                    let Ok(line) = line else { return };
                    let event = serde_json::from_str(&line).map_err(|error| {
                        let shown: String = line.chars().take(200).collect();
                        format!("{error} in `{shown}`")
                    });
                    if send.send(event).is_err() {
                        return;
                    }
                }
            })?;
        }
        let words = match child.stderr.take() {
            Some(err) => {
                let keep = move || keep_beginning(err, WORDS_KEPT);
                Some(thread::Builder::new().spawn(keep)?)
            }
            None => None,
        };
        let mut worker = Worker {
            child,
            events,
            words,
        };
        worker.say(job);
        Ok(worker)
    }

    /// Sends a line to the worker.
    fn say(&mut self, what: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(what) else {
            return;
        };
        line.push(b'\n');
        if let Some(input) = self.child.stdin.as_mut() {
            // A worker that dies closes the pipe: what it said on its way is the better message.
            let _ = input.write_all(&line).and_then(|()| input.flush());
        }
    }

    /// What to say about a worker that ended without an answer.
    fn post_mortem(mut self, stats: Stats) -> Execution {
        let status = self.child.wait();
        let words = self.words.take().and_then(|thread| thread.join().ok());
        let words = words.unwrap_or_default();
        if EXHAUSTED.iter().any(|end| words.contains(end)) {
            return stopped(Stop::Exhausted, stats);
        }
        let how = match status {
            Ok(status) => ending(status),
            Err(error) => format!("its end cannot be learned: {error}"),
        };
        let words = words.trim();
        let colon = if words.is_empty() { "" } else { ":\n" };
        Execution::Crashed(format!(
            "the worker process ended without an answer ({how}){colon}{words}"
        ))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // With the solvers that it has started.
        end_group(&mut self.child);
    }
}

/// The most memory that an engine may use unless told otherwise: whoever wants a search larger than
/// that should say so, and a search without end should not take the whole machine along.
#[cfg(target_os = "linux")]
const MOST_BY_DEFAULT: u64 = 8 << 30;

/// The memory that an engine may use unless told otherwise: three quarters of what is free. Of an address space that is limited from outside it is a quarter: stacks and
/// room that is reserved and not used yet count there.
#[cfg(target_os = "linux")]
pub(crate) fn default_memory() -> Option<u64> {
    use nix::sys::resource::{Resource, getrlimit};
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let addresses = getrlimit(Resource::RLIMIT_AS).map_or(u64::MAX, |(soft, _)| soft);
    let most = MOST_BY_DEFAULT.min(addresses / 4);
    Some((kib * 1024 / 4 * 3).min(most))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn default_memory() -> Option<u64> {
    None
}
