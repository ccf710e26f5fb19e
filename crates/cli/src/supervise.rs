//! The parent's side of a worker process.
//!
//! An engine runs in a process of its own, so that a limit can be enforced whatever the engine is
//! doing, and so that a crash is a message and not the end. The worker gets its job as one line
//! of JSON and answers with lines of JSON: progress, and at the end its findings. It also keeps
//! the limits itself, between operations, which saves what it has found by then; the parent steps
//! in a little later, when the worker did not stop by itself, and then only the last statistics
//! remain. Memory is what Linux says in `/proc/PID/statm`; elsewhere only the worker looks.
//!
//! What a worker found is rechecked in the parent, with the time that the worker left and the same limit of memory.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use threadwise::{AskStop, Execution, Executor, Job, JobEvent, JobOutcome, Stats, Stop};

use crate::progress::ProgressLine;
use crate::usage;

/// How often the parent looks at the worker.
const LOOK: Duration = Duration::from_millis(10);
/// How long a worker may take over its time limit before it is ended.
const GRACE: Duration = Duration::from_millis(400);
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
    /// What the recheck of the last job's evidence may take.
    pub(crate) left: Left,
}

/// What a job leaves for the recheck of its evidence.
#[derive(Clone, Copy, Default)]
pub(crate) struct Left {
    /// When it must be over, and because of what.
    until: Option<(Instant, Stop)>,
    /// The memory that this process may use.
    memory: Option<u64>,
}

impl Executor for Supervisor<'_> {
    fn execute(&mut self, job: &Job) -> Execution {
        if self.interrupted.load(Ordering::Relaxed) {
            return stopped(Stop::Interrupted, Stats::default());
        }
        let mut job = job.clone();
        let mut total = false;
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return stopped(Stop::TotalTime, Stats::default());
            }
            if job.seconds.is_none_or(|own| left.as_secs_f64() < own) {
                job.seconds = Some(left.as_secs_f64());
                total = true;
            }
        }
        let started = Instant::now();
        let before = usage::of_children();
        let mut execution = match Worker::start(&job) {
            Ok(worker) => self.watch(worker, &job),
            Err(error) => {
                Execution::Crashed(format!("the worker process cannot be started: {error}"))
            }
        };
        self.progress.clear();
        // The worker is gone and waited for, and there is one at a time: the difference is what it took.
        if let (Some(before), Some(after)) = (before, usage::of_children())
            && let Execution::Stopped { stats, .. } | Execution::Finished(JobOutcome { stats, .. }) =
                &mut execution
        {
            stats.cpu_seconds = Some(after.cpu_seconds - before.cpu_seconds);
        }
        // The time that the job left, and a little when it left none.
        let until = job.seconds.map(|seconds| {
            let limit = started + Duration::from_secs_f64(seconds);
            let by = if total { Stop::TotalTime } else { Stop::Time };
            (limit.max(Instant::now() + GRACE), by)
        });
        self.left = Left {
            until,
            memory: job.memory,
        };
        match execution {
            Execution::Stopped {
                by: Stop::Time,
                stats,
            } if total => stopped(Stop::TotalTime, stats),
            Execution::Finished(mut outcome) if total => {
                outcome.blame_total_time();
                Execution::Finished(outcome)
            }
            other => other,
        }
    }

    fn recheck(&mut self, check: &mut dyn FnMut(&AskStop<'_>)) -> Option<f64> {
        let started = Instant::now();
        let looked = Cell::new(started);
        let Left { until, memory } = self.left;
        check(&|| {
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

impl Supervisor<'_> {
    fn watch(&mut self, worker: Worker, job: &Job) -> Execution {
        let started = Instant::now();
        let limit = job
            .seconds
            .map(|seconds| started + Duration::from_secs_f64(seconds) + GRACE);
        let mut stats = Stats::default();
        let mut peak = 0;
        loop {
            let event = worker.events.recv_timeout(LOOK);
            let elapsed = started.elapsed();
            stats.seconds = Some(elapsed.as_secs_f64());
            match event {
                Ok(Ok(JobEvent::Progress(progress))) => {
                    stats = Stats {
                        seconds: Some(elapsed.as_secs_f64()),
                        ..progress
                    };
                    self.progress.show(&job.values, &stats);
                }
                Ok(Ok(JobEvent::Finished(mut outcome))) => {
                    outcome.stats.seconds = Some(elapsed.as_secs_f64());
                    outcome.stats.memory_mib = stats.memory_mib;
                    return Execution::Finished(outcome);
                }
                Ok(Ok(rejected)) => return rejected.into(),
                Ok(Err(line)) => {
                    return Execution::Crashed(format!(
                        "the worker process said something that is no answer: {line}"
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // The worker is gone without an answer.
                    if self.interrupted.load(Ordering::Relaxed) {
                        return stopped(Stop::Interrupted, stats);
                    }
                    return worker.post_mortem(stats);
                }
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return stopped(Stop::Interrupted, stats);
            }
            if let Some(resident) = resident_bytes(worker.child.id()) {
                peak = resident.max(peak);
                stats.memory_mib = Some(mib(peak));
                if job.memory.is_some_and(|most| resident > most) {
                    return stopped(Stop::Memory, stats);
                }
            }
            if limit.is_some_and(|limit| Instant::now() >= limit) {
                return stopped(Stop::Time, stats);
            }
        }
    }
}

fn stopped(by: Stop, stats: Stats) -> Execution {
    Execution::Stopped { by, stats }
}

/// Bytes as MiB, to one place.
pub(crate) fn mib(bytes: u64) -> f64 {
    (bytes as f64 / f64::from(1 << 20) * 10.0).round() / 10.0
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
            .stderr(Stdio::piped());
        // Ctrl-C goes to the parent alone, which ends the worker when it has heard of it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (send, events) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            thread::spawn(move || {
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
            });
        }
        let words = child
            .stderr
            .take()
            .map(|err| thread::spawn(move || keep_beginning(err, WORDS_KEPT)));
        let mut worker = Worker {
            child,
            events,
            words,
        };
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        if let Some(input) = worker.child.stdin.as_mut() {
            // A worker that dies at once closes the pipe: what it said on its way is the better message.
            let _ = input.write_all(&line).and_then(|()| input.flush());
        }
        Ok(worker)
    }

    /// What to say about a worker that ended without an answer.
    fn post_mortem(mut self, stats: Stats) -> Execution {
        let status = self.child.wait();
        let words = self.words.take().and_then(|thread| thread.join().ok());
        let words = words.unwrap_or_default();
        if words.contains("memory allocation of") {
            return stopped(Stop::Memory, stats);
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
        // All of this fails only if the worker is gone already, which is what is wanted.
        #[cfg(unix)]
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a worker with the solvers that it has started: it is the first of a process group.
#[cfg(unix)]
fn end_group(child: &Child) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    if let Ok(id) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// How a process ended, in words.
#[cfg(unix)]
pub(crate) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(9) => {
            "signal 9: ended from outside, perhaps because the machine ran out of memory; try --memory".to_owned()
        }
        Some(signal) => format!("signal {signal}"),
        None => status.to_string(),
    }
}

/// How a process ended, in words.
#[cfg(not(unix))]
pub(crate) fn ending(status: ExitStatus) -> String {
    status.to_string()
}

/// The beginning of what a stream says; the rest is read and dropped, so that nobody waits.
pub(crate) fn keep_beginning(mut stream: impl Read, most: usize) -> String {
    let mut kept = Vec::new();
    let mut piece = [0; 1024];
    while let Ok(count) = stream.read(&mut piece) {
        if count == 0 {
            break;
        }
        let room = most - kept.len();
        kept.extend_from_slice(&piece[..count.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The memory of a process that is in use now.
#[cfg(target_os = "linux")]
pub(crate) fn resident_bytes(process: u32) -> Option<u64> {
    // Pages are 4096 bytes on every Linux this is built for in practice; where they are larger
    // the figure is too small, and the limit that the worker keeps itself still holds.
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn resident_bytes(_process: u32) -> Option<u64> {
    None
}

/// The most memory that an engine may use unless told otherwise: whoever wants a search larger than
/// that should say so, and a search without end should not take the whole machine along.
#[cfg(target_os = "linux")]
const MOST_BY_DEFAULT: u64 = 8 << 30;

/// The memory that an engine may use unless told otherwise: three quarters of what is free.
#[cfg(target_os = "linux")]
pub(crate) fn default_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kib * 1024 / 4 * 3).min(MOST_BY_DEFAULT))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn default_memory() -> Option<u64> {
    None
}
