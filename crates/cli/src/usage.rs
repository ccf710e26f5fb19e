//! What processes took, as the operating system says.
//!
//! The figures are those of all children that have ended and were waited for, and of their children in
//! turn. Processor times add up, so a difference is what one child took; the peak of memory is the
//! greatest of any, so only a process with a single child learns the peak of that one.

/// What the children of this process took so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Processor time, user and system.
    pub(crate) cpu_seconds: f64,
    /// The greatest resident memory of any of them.
    pub(crate) peak_bytes: u64,
}

/// Asks the operating system.
#[cfg(unix)]
pub(crate) fn of_children() -> Option<Usage> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;
    // Linux counts in KiB, Apple's systems in bytes.
    const UNIT: u64 = if cfg!(target_vendor = "apple") {
        1
    } else {
        1024
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Some(Usage {
        cpu_seconds: seconds(usage.user_time()) + seconds(usage.system_time()),
        peak_bytes: u64::try_from(usage.max_rss()).ok()?.checked_mul(UNIT)?,
    })
}

/// Not known here.
#[cfg(not(unix))]
pub(crate) fn of_children() -> Option<Usage> {
    None
}
