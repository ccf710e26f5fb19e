//! What an engine may use, and how it tells how far it is. Engines read no clock and ask no
//! operating system: both come in here.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use threadwise_evidence::{Reason, ReasonCode};

/// Why an engine was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its time is over.
    Time,
    /// Somebody wants it to stop.
    Cancelled,
}

impl From<Stop> for Reason {
    fn from(stop: Stop) -> Reason {
        match stop {
            Stop::Time => Reason::new(ReasonCode::TimeLimit, "the time limit was reached"),
            Stop::Cancelled => Reason::new(ReasonCode::Cancelled, "the search was cancelled"),
        }
    }
}

/// How much an engine has done, in units that depend on nothing but what it was asked: steps of search, nodes of diagrams, steps of the arithmetic. A unit is
/// about a tenth of a microsecond, on a machine of these years.
///
/// So budgets in units end a search at the same place on every machine, which budgets in seconds do not.
#[derive(Debug, Default)]
pub struct Work(AtomicU64);

impl Work {
    /// Adds to it.
    pub fn add(&self, units: u64) {
        self.0.fetch_add(units, Ordering::Relaxed);
    }

    /// So far.
    pub fn done(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What an engine may use.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// Bytes that it may take for what it stores.
    pub memory: Option<u64>,
    /// States that it may visit.
    pub states: Option<u64>,
    /// Asked every few milliseconds at least: whether to stop.
    pub stop: Option<&'a (dyn Fn() -> Option<Stop> + Sync)>,
    /// Whether there is time for what no verdict depends on.
    pub leisure: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Where it is counted how much was done.
    pub work: Option<&'a Work>,
    /// Seconds since the engine began, for statistics alone.
    pub clock: Option<&'a (dyn Fn() -> f64 + Sync)>,
}

impl Limits<'_> {
    /// No limits.
    pub const NONE: Limits<'static> = Limits {
        memory: None,
        states: None,
        stop: None,
        leisure: None,
        work: None,
        clock: None,
    };

    /// Counts what was done since the last time.
    pub fn spend(&self, units: u64) {
        if let Some(work) = self.work {
            work.add(units);
        }
    }

    /// Seconds since the engine began, if there is a clock: for statistics alone.
    pub fn seconds(&self) -> Option<f64> {
        self.clock.map(|clock| clock())
    }

    /// Whether to stop now.
    pub fn should_stop(&self) -> Option<Stop> {
        self.stop.and_then(|stop| stop())
    }

    /// Whether there is time for what no verdict depends on.
    pub fn has_leisure(&self) -> bool {
        self.leisure.is_none_or(|leisure| leisure())
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("memory", &self.memory)
            .field("states", &self.states)
            .field("stop", &self.stop.map(|_| ".."))
            .field("leisure", &self.leisure.map(|_| ".."))
            .field("work", &self.work)
            .field("clock", &self.clock.map(|_| ".."))
            .finish()
    }
}

/// How far an engine is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States found.
    pub states: u64,
    /// Transitions followed.
    pub transitions: u64,
    /// Steps from an initial state.
    pub depth: u64,
    /// Rounds of an engine that computes with sets.
    pub iterations: u64,
    /// The most nodes of decision diagrams so far.
    pub peak_nodes: u64,
    /// States found and not yet looked at.
    pub queue: u64,
    /// Bytes taken.
    pub bytes: u64,
}

/// Whoever wants to know how far an engine is.
pub trait Observer: Send {
    /// Called every few milliseconds or less often.
    fn progress(&mut self, progress: &Progress);
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) {}
}
