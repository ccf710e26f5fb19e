//! The watch over this process itself: what happens outside of the workers keeps the limits, too, and ends when the user wants it to.
//!
//! Engines run in workers, which `supervise` ends when they do not end by themselves. Here, files are read, programs of several languages understood and lowered,
//! evidence is rechecked, and reports are written. None of that asks for the time on its way, and an input can make any of it long. So a thread
//! looks at the clock, the memory and the signals every few milliseconds. Where the process keeps limits itself, it gives a sign of life. When there was none for
//! too long, this thread has printed what there is, and ends the process: that is the one way to stop a computation that does not ask.
//!
//! Nothing is lost by it but what was not found yet. No verdict depends on it: what is cut short is `unknown`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use threadwise::{Exit, Stop};

use crate::terminal::Terminal;
use threadwise_bench::process::resident_bytes;
use threadwise_show::words::counted;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(10);
/// How often it looks where there is nothing but the memory to look at: a server may be idle for days.
const LOOK_SELDOM: Duration = Duration::from_millis(200);
/// How long over a limit before any engine was asked: then there is nothing to lose yet.
const GRACE: Duration = Duration::from_millis(400);
/// How long it may take to put results together after the user wants to stop.
const CLOSING: Duration = Duration::from_secs(2);
/// The least that rechecking and writing of results may take without a sign of life, whatever the limits: they are short, and what they are about is found already.
const LEAST_WORK: Duration = Duration::from_secs(10);
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What the process may use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// For each stretch of work without a sign of life.
    pub(crate) time: Option<Duration>,
    /// When all must be over.
    pub(crate) deadline: Option<Instant>,
    /// Bytes of memory.
    pub(crate) memory: Option<u64>,
    /// That is all there is to look at: signals end the process by themselves.
    pub(crate) memory_alone: bool,
}

/// Why the process is ended, and where it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// By what.
    pub(crate) by: Stop,
    /// To follow the reason.
    pub(crate) place: &'static str,
}

impl Cut {
    /// The exit status, if nothing else was found.
    pub(crate) fn exit(&self) -> Exit {
        match self.by {
            Stop::Interrupted => Exit::Interrupted,
            _ => Exit::Unknown,
        }
    }
}

/// Milliseconds, since the watch began, of the last sign of life.
static SIGN: AtomicU64 = AtomicU64::new(0);
/// Whether a program is being read, and no engine was asked about it.
static READING: AtomicBool = AtomicBool::new(false);
/// How many are writing results: whoever reads them may take all the time.
static WRITING: AtomicUsize = AtomicUsize::new(0);
static BEGUN: OnceLock<Instant> = OnceLock::new();

/// Says that limits are being kept.
pub(crate) fn sign_of_life() {
    if let Some(begun) = BEGUN.get() {
        let now = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        SIGN.store(now, Ordering::Relaxed);
    }
}

/// Says that a program is read from now on.
pub(crate) fn reading() {
    sign_of_life();
    READING.store(true, Ordering::Relaxed);
}

/// Says that an engine is asked from now on.
pub(crate) fn working() {
    sign_of_life();
    READING.store(false, Ordering::Relaxed);
}

/// Writes results, which counts against no limit of time.
pub(crate) fn writing<T>(write: impl FnOnce() -> T) -> T {
    WRITING.fetch_add(1, Ordering::Relaxed);
    let result = write();
    sign_of_life();
    WRITING.fetch_sub(1, Ordering::Relaxed);
    result
}

/// Says how many files are not looked at because a limit ends the process.
pub(crate) fn left_out(files: usize, cut: Cut, terminal: &Terminal) {
    if files > 0 && cut.by != Stop::Interrupted {
        let files = counted(files as u64, "further file");
        terminal.note(&format_args!("{files}: not begun"));
    }
}

/// Begins the watch. `last_words` prints what there is, and says what the exit status is.
pub(crate) fn start(
    limits: Limits,
    interrupted: &'static AtomicBool,
    last_words: impl FnOnce(Cut) -> Exit + Send + 'static,
) {
    BEGUN.get_or_init(Instant::now);
    reading();
    // Without a thread there is no watch; Ctrl-C still ends the program, if pressed twice.
    let _ = thread::Builder::new().spawn(move || {
        let cut = wait(&limits, interrupted);
        let (send, said) = mpsc::channel();
        // Whoever holds the output may be what hangs.
        let speaker = thread::Builder::new().spawn(move || send.send(last_words(cut)));
        let said = speaker
            .ok()
            .and_then(|_| said.recv_timeout(LAST_WORDS).ok());
        let exit = said.unwrap_or(cut.exit());
        std::process::exit(i32::from(exit.code()));
    });
}

/// Waits until the process must end.
fn wait(limits: &Limits, interrupted: &AtomicBool) -> Cut {
    let mut wanted: Option<Instant> = None;
    let look = match limits.memory_alone {
        true => LOOK_SELDOM,
        false => LOOK,
    };
    loop {
        thread::sleep(look);
        if wanted.is_none() && interrupted.load(Ordering::Relaxed) {
            wanted = Some(Instant::now());
        }
        if let Some(cut) = over(limits, wanted) {
            return cut;
        }
    }
}

/// What ends the process now, if anything does; since when the user wants that.
fn over(limits: &Limits, wanted: Option<Instant>) -> Option<Cut> {
    let reading = READING.load(Ordering::Relaxed);
    let writing = WRITING.load(Ordering::Relaxed) > 0;
    let begun = BEGUN.get()?;
    let sign = *begun + Duration::from_millis(SIGN.load(Ordering::Relaxed));
    let now = Instant::now();
    let silent = now.saturating_duration_since(sign);
    let after = |end: Instant, grace: Duration| now >= end.max(sign) + grace;
    // How long it may take to stop, to go on in silence, and to go on after the end of all time.
    let (closing, time, late, place) = match reading {
        true => (GRACE, limits.time, GRACE, "before an engine was asked"),
        false => {
            let time = limits.time.map(|time| time.max(LEAST_WORK));
            // A report that is cut off in the middle is worse than a late one.
            let closing = if writing { LEAST_WORK } else { CLOSING };
            (closing, time, LEAST_WORK, "outside of the engines")
        }
    };
    let by = if wanted.is_some_and(|wanted| after(wanted, closing)) {
        Stop::Interrupted
    } else if !writing && time.is_some_and(|time| silent >= time + GRACE) {
        Stop::Time
    } else if !writing && limits.deadline.is_some_and(|end| after(end, late)) {
        Stop::TotalTime
    } else if limits.memory.is_some_and(|most| too_large(most, silent)) {
        Stop::Memory
    } else {
        return None;
    };
    Some(Cut { by, place })
}

/// Whether the process uses more memory than it may. Whoever keeps the limit gets a moment to do so, but not for a quarter more.
fn too_large(most: u64, silent: Duration) -> bool {
    let used = resident_bytes(std::process::id()).unwrap_or(0);
    used > most && silent >= GRACE || used > most.saturating_add(most / 4)
}
