//! Processes that this one has started: what they took, as the operating system says, how they ended, and ending them.
//!
//! The figures of [`of_children`] are those of all children that have ended and were waited for, and of their children in
//! turn. Processor times add up, so a difference is what one child took; the peak of memory is the
//! greatest of any, so only a process with a single child learns the peak of that one.

use std::io::Read;
use std::process::{Child, ExitStatus};

/// What the children of this process took so far.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Processor time, user and system.
    pub cpu_seconds: f64,
    /// The greatest resident memory of any of them.
    pub peak_bytes: u64,
}

/// Asks the operating system.
#[cfg(unix)]
pub fn of_children() -> Option<Usage> {
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
pub fn of_children() -> Option<Usage> {
    None
}

/// The processor time so far of a process that is running, and of all that it has started and that are still running.
#[cfg(target_os = "linux")]
pub fn of_tree(process: u32) -> Option<f64> {
    /// What the kernel counts in: a hundredth of a second on every Linux this is built for in practice.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything; user and system time are fields 14 and 15.
    let fields = stat.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    let mut seconds = ticks as f64 / TICKS;
    for thread in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let children = thread.ok()?.path().join("children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        seconds += children.filter_map(of_tree).sum::<f64>();
    }
    Some(seconds)
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn of_tree(_process: u32) -> Option<f64> {
    None
}

/// Bytes as MiB, to one place.
pub fn mib(bytes: u64) -> f64 {
    (bytes as f64 / f64::from(1 << 20) * 10.0).round() / 10.0
}

/// How a process ended, in words.
#[cfg(unix)]
pub fn ending(status: ExitStatus) -> String {
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
pub fn ending(status: ExitStatus) -> String {
    status.to_string()
}

/// The beginning of what a stream says; the rest is read and dropped, so that nobody waits.
pub fn keep_beginning(mut stream: impl Read, most: usize) -> String {
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
pub fn resident_bytes(process: u32) -> Option<u64> {
    // Pages are 4096 bytes on every Linux this is built for in practice; where they are larger
    // the figure is too small, and the limit that the worker keeps itself still holds.
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn resident_bytes(_process: u32) -> Option<u64> {
    None
}

/// Ends a process with what it has started: it is the first of a process group. A compiler is several processes, and those that are left would hold
/// the streams open. A worker of `check` has a group of its own, and ends when `check` is gone.
pub fn end_group(child: &mut Child) {
    // All of this fails only if they are gone already, which is what is wanted.
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        use nix::sys::signal::{Signal, killpg};
        let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_running_child_is_seen() {
        let script = "sh -c 'while :; do :; done' & wait";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .spawn()
            .unwrap();
        let begun = std::time::Instant::now();
        let mut seen = 0.0;
        while seen < 0.1 && begun.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            seen = of_tree(child.id()).unwrap();
        }
        let below = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
        for grandchild in below.unwrap().split_whitespace() {
            let killed = std::process::Command::new("kill").arg(grandchild).status();
            assert!(killed.unwrap().success());
        }
        child.wait().unwrap();
        assert!(seen >= 0.1, "{seen}");
    }
}
