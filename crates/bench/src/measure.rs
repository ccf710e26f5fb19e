//! One command in a process of its own, measured and limited.
//!
//! Between the harness and the command stands a process of this binary that has this one child. So the
//! operating system's account of its children is the account of the command and of whatever the command
//! waited for. It watches the limits, too: processor time, the clock, and the resident memory of the command itself. The command
//! comes as one line of JSON, the answer goes back as another; if the harness is gone, so is the command.

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::{self, Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use threadwise::Exit;

use crate::process::{
    end_group, ending, keep_beginning, mib, of_children, of_tree, resident_bytes,
};

/// How often the command is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// How often its processor time is looked at, which takes longer.
const LOOK_AT_TIME: Duration = Duration::from_millis(50);
/// How much longer than its limit on processor time a command may take on the clock: on a busy machine it gets its
/// share, but one that waits for ever is ended.
pub(crate) const CLOCK_FACTOR: f64 = 5.0;
/// The most that is kept of what a command prints: reports with long traces are some MiB.
const PRINTED_KEPT: usize = 64 << 20;
/// The same for its standard error.
const COMPLAINTS_KEPT: usize = 4096;

/// What is to be measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Command {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// The folder it runs in, if not this one.
    pub(crate) folder: Option<PathBuf>,
    /// The most processor time, of the command and all below it.
    pub(crate) cpu_seconds: f64,
    /// The most resident memory.
    pub(crate) memory: u64,
}

/// What it took.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Measured {
    pub(crate) end: End,
    /// User and system, of the command and of its children that it waited for.
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) clock_seconds: f64,
    pub(crate) peak_mib: Option<f64>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How it ended.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By itself, otherwise.
    Crashed(String),
    /// At the limit on time.
    Time,
    /// At the limit on memory.
    Memory,
    /// It could not be started.
    NotStarted(String),
}

/// Why there is no measurement.
#[derive(Debug, Error)]
pub(crate) enum MeasureError {
    #[error("interrupted")]
    Interrupted,
    #[error("the measuring process failed: {0}")]
    Lost(String),
}

impl From<io::Error> for MeasureError {
    fn from(error: io::Error) -> MeasureError {
        MeasureError::Lost(error.to_string())
    }
}

/// Runs a command in a measuring process, unless the user wants to stop.
pub(crate) fn measure(
    command: &Command,
    interrupted: &AtomicBool,
) -> Result<Measured, MeasureError> {
    let mut process = process::Command::new(std::env::current_exe()?);
    process.arg("measure");
    process.stdin(Stdio::piped()).stdout(Stdio::piped());
    // Ctrl-C goes to the harness alone, which then ends the others.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    let mut process = Ended(process.spawn()?);
    let mut line = serde_json::to_vec(command).map_err(io::Error::from)?;
    line.push(b'\n');
    if let Some(input) = &mut process.0.stdin {
        input.write_all(&line)?;
        input.flush()?;
    }
    let (send, answer) = mpsc::channel();
    if let Some(mut out) = process.0.stdout.take() {
        thread::spawn(move || {
            let mut text = String::new();
            let read = out.read_to_string(&mut text);
            // Nobody listens after an interrupt.
            let _ = send.send(read.map(|_| text));
        });
    }
    loop {
        match answer.recv_timeout(Duration::from_millis(50)) {
            Ok(text) => {
                return serde_json::from_str(&text?)
                    .map_err(|error| MeasureError::Lost(format!("its answer: {error}")));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(MeasureError::Lost("it gave no answer".to_owned()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(MeasureError::Interrupted);
        }
    }
}

/// The measuring process, which ends with its command when its standard input closes.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// `threadwise measure`: the measuring process.
pub fn serve() -> Exit {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let command: Command = match read.map(|_| serde_json::from_str(&line)) {
        Ok(Ok(command)) => command,
        Ok(Err(error)) => return refuse(&error),
        Err(error) => return refuse(&error),
    };
    let gone = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&gone);
    thread::spawn(move || {
        let mut rest = [0; 256];
        while matches!(io::stdin().lock().read(&mut rest), Ok(count) if count > 0) {}
        flag.store(true, Ordering::Relaxed);
    });
    let Some(measured) = run(&command, &gone) else {
        return Exit::Interrupted;
    };
    match serde_json::to_string(&measured) {
        Ok(text) => match writeln!(io::stdout().lock(), "{text}") {
            Ok(()) => Exit::Proved,
            Err(error) => refuse(&error),
        },
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &dyn std::fmt::Display) -> Exit {
    let _ = writeln!(
        io::stderr().lock(),
        "the command cannot be measured: {error}"
    );
    Exit::Internal
}

/// Runs the command here; nothing if the harness is gone.
fn run(command: &Command, gone: &AtomicBool) -> Option<Measured> {
    let mut process = process::Command::new(&command.program);
    process
        .args(&command.args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(folder) = &command.folder {
        process.current_dir(folder);
    }
    // A group of its own, so that it can be ended with what it has started.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    let started = Instant::now();
    let mut child = match process.spawn() {
        Ok(child) => child,
        Err(error) => {
            return Some(Measured {
                end: End::NotStarted(error.to_string()),
                cpu_seconds: None,
                clock_seconds: 0.0,
                peak_mib: None,
                stdout: String::new(),
                stderr: String::new(),
            });
        }
    };
    let out = child
        .stdout
        .take()
        .map(|out| thread::spawn(move || keep_beginning(out, PRINTED_KEPT)));
    let err = child
        .stderr
        .take()
        .map(|err| thread::spawn(move || keep_beginning(err, COMPLAINTS_KEPT)));
    let limit = Duration::from_secs_f64(command.cpu_seconds * CLOCK_FACTOR);
    let mut looked = started;
    let mut cpu_seen: f64 = 0.0;
    let end = loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                break match status.code() {
                    Some(code) => End::Exited(code),
                    None => End::Crashed(ending(status)),
                };
            }
            Ok(None) => {}
            Err(error) => break End::Crashed(error.to_string()),
        }
        if looked.elapsed() >= LOOK_AT_TIME {
            looked = Instant::now();
            cpu_seen = of_tree(child.id()).unwrap_or(0.0).max(cpu_seen);
        }
        let stop = if gone.load(Ordering::Relaxed) {
            Some(None)
        } else if started.elapsed() >= limit || cpu_seen >= command.cpu_seconds {
            Some(Some(End::Time))
        } else if resident_bytes(child.id()).is_some_and(|bytes| bytes > command.memory) {
            Some(Some(End::Memory))
        } else {
            None
        };
        if let Some(end) = stop {
            end_group(&mut child);
            break end?;
        }
        thread::sleep(LOOK);
    };
    let clock_seconds = started.elapsed().as_secs_f64();
    let used = of_children();
    let text = |thread: Option<thread::JoinHandle<String>>| {
        thread.and_then(|t| t.join().ok()).unwrap_or_default()
    };
    Some(Measured {
        end,
        // A command that was ended did not wait for its children, so they are not in the account.
        cpu_seconds: used.map(|used| used.cpu_seconds.max(cpu_seen)),
        clock_seconds,
        peak_mib: used.map(|used| mib(used.peak_bytes)),
        stdout: text(out),
        stderr: text(err),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_ended_with_what_it_has_started() {
        let command = Command {
            program: PathBuf::from("sh"),
            args: vec!["-c".to_owned(), "sleep 30 & sleep 30 & wait".to_owned()],
            folder: None,
            cpu_seconds: 0.1,
            memory: 1 << 30,
        };
        let begun = Instant::now();
        let measured = run(&command, &AtomicBool::new(false)).unwrap();
        assert_eq!(measured.end, End::Time);
        // A sleeper that is left would hold the output open.
        assert!(begun.elapsed().as_secs() < 10);
    }

    #[test]
    fn a_command_is_measured() {
        let command = Command {
            program: PathBuf::from("sh"),
            args: vec!["-c".to_owned(), "echo out; echo err >&2; exit 3".to_owned()],
            folder: None,
            cpu_seconds: 10.0,
            memory: 1 << 30,
        };
        let measured = run(&command, &AtomicBool::new(false)).unwrap();
        assert_eq!(measured.end, End::Exited(3));
        assert_eq!((&*measured.stdout, &*measured.stderr), ("out\n", "err\n"));
        assert!(measured.cpu_seconds.is_some() && measured.peak_mib > Some(0.5));
    }
}
