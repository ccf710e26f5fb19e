//! Programs that solve Horn clauses, found on the PATH.
//!
//! A solver is a process of its own: it gets the clauses on its standard input, and the time and the memory that the job has left. What it
//! prints is no answer yet; the engine proves it. It must not outlive the worker that asked it, however that ends: if the worker is ended from outside, the parent ends
//! all of its process group, and if the parent is gone, the worker calls [`end`].

use std::env;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use threadwise::{HornSolver, Job};

/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// Bytes of an answer that are read.
const MOST: u64 = 64 << 20;

/// The process that runs now, or 0.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// What a solver may use.
#[derive(Debug)]
pub(crate) struct External {
    until: Option<Instant>,
    memory: Option<u64>,
}

impl External {
    /// What the solver of a job that has begun may use.
    pub(crate) fn new(job: &Job, begun: Instant) -> External {
        External {
            until: job.seconds.map(|s| begun + Duration::from_secs_f64(s)),
            memory: job.memory,
        }
    }

    /// Starts the process: z3 with clauses on standard input.
    fn start(&self, name: &str) -> io::Result<Child> {
        let mut command = Command::new(name);
        command.arg("-in");
        if let Some(until) = self.until {
            // It is ended in time; this is for the case that nobody is left to do that.
            let left = until.saturating_duration_since(Instant::now());
            command.arg(format!("-T:{}", left.as_secs() + 2));
        }
        if let Some(memory) = self.memory {
            command.arg(format!("-memory:{}", (memory >> 20).max(1)));
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }
}

impl HornSolver for External {
    fn has(&self, name: &str) -> bool {
        env::var_os("PATH")
            .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
    }

    fn solve(&self, name: &str, clauses: &str) -> Result<String, String> {
        let mut child = match self.start(name) {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(format!("`{name}` is not on the PATH"));
            }
            Err(error) => return Err(format!("`{name}` cannot be started: {error}")),
        };
        RUNNING.store(child.id(), Ordering::SeqCst);
        let clauses = clauses.to_owned();
        let writer = child.stdin.take().map(|mut input| {
            // It may end before it has read everything; then what it says is the better message.
            thread::spawn(move || input.write_all(clauses.as_bytes()))
        });
        let reader = child.stdout.take().map(|out| {
            thread::spawn(move || {
                let mut said = Vec::new();
                let _ = out.take(MOST).read_to_end(&mut said);
                String::from_utf8_lossy(&said).into_owned()
            })
        });
        let ended = loop {
            match child.try_wait() {
                Ok(None) if self.until.is_some_and(|until| Instant::now() >= until) => break false,
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(_)) => break true,
                Err(_) => break false,
            }
        };
        if !ended {
            // Both fail only if it is gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
        RUNNING.store(0, Ordering::SeqCst);
        let said = reader.and_then(|thread| thread.join().ok());
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        match (ended, said) {
            (true, Some(said)) => Ok(said),
            (true, None) => Err(format!("what `{name}` says cannot be read")),
            (false, _) => Err(format!("`{name}` did not end in time")),
        }
    }
}

/// Ends the solver that runs now, if there is one.
#[cfg(unix)]
pub(crate) fn end() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let running = RUNNING.load(Ordering::SeqCst);
    if let Ok(id @ 1..) = i32::try_from(running) {
        // It fails only if it is gone already.
        let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// Ends the solver that runs now, if there is one: here it keeps its time limit itself.
#[cfg(not(unix))]
pub(crate) fn end() {}
