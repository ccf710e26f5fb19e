//! The worker's side: one job in, events out.
//!
//! The job, with its program, is one line of standard input. Each line after it is how much work the job may do in all; it waits when it has done that, and comes to an end at once if the line is `0`. When the stream closes, the
//! parent is gone, however it went, and then the worker goes too.

use std::io::{self, BufRead, Write};
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use threadwise::{Exit, Grants, Host, Job, JobEvent, run_job};

use crate::horn_solver::{self, External};
use crate::supervise::NO_MORE;

/// How often progress is sent.
const EVERY: Duration = Duration::from_millis(50);
/// Deep expressions are evaluated by recursion, so the engine's stack is not the small default.
const STACK: usize = 256 << 20;

pub(crate) fn run() -> Exit {
    let mut line = String::new();
    if let Err(error) = io::stdin().lock().read_line(&mut line) {
        return refuse(&format!("the job cannot be read: {error}"));
    }
    let engine = thread::Builder::new().stack_size(STACK).spawn(move || {
        let job = match read(&line) {
            Ok(job) => job,
            Err(error) => return refuse(&format!("the job cannot be read: {error}")),
        };
        drop(line);
        let grants = granted();
        let started = Instant::now();
        let spent = || started.elapsed().as_secs_f64();
        let mut said = started;
        let solver = External::new(&job, started);
        let pause = |done| grants.wait(done, &|granted| send(&JobEvent::Paused(granted)));
        let host = Host {
            spent: Some(&spent),
            pause: Some(&pause),
            solver: Some(&solver),
            ..Host::default()
        };
        let event = run_job(&job, &host, &mut |stats| {
            if said.elapsed() >= EVERY {
                said = Instant::now();
                send(&JobEvent::Progress(stats.clone()));
            }
        });
        send(&event);
        Exit::Proved
    });
    match engine.map(thread::JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        // The panic has printed its message, which the parent passes on.
        Ok(Err(_)) => Exit::Internal,
        Err(error) => refuse(&format!("the engine's thread cannot be started: {error}")),
    }
}

/// What the job may do, as the lines of standard input say it from now on.
fn granted() -> Arc<Grants> {
    let grants = Arc::new(Grants::default());
    let granting = Arc::clone(&grants);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match line.parse() {
                Ok(NO_MORE) => granting.close(),
                Ok(work) => granting.grant(work),
                Err(_) => break,
            }
        }
        horn_solver::end();
        process::exit(i32::from(Exit::Internal.code()));
    });
    grants
}

/// A job's program is nested as deeply as the checker allows, which is more than JSON usually is.
fn read(line: &str) -> serde_json::Result<Job> {
    let mut reader = serde_json::Deserializer::from_str(line);
    reader.disable_recursion_limit();
    Job::deserialize(&mut reader)
}

fn refuse(message: &str) -> Exit {
    crate::terminal::complain(format_args!("{message}\n"));
    Exit::Internal
}

fn send(event: &JobEvent) {
    let Ok(mut line) = serde_json::to_vec(event) else {
        return;
    };
    line.push(b'\n');
    let mut out = io::stdout().lock();
    if out.write_all(&line).and_then(|()| out.flush()).is_err() {
        // Nobody listens any more.
        process::exit(i32::from(Exit::Internal.code()));
    }
}
