//! What the figures were measured on: enough to judge them by, nothing that names a host or a person.

use std::fs;

/// The machine in a few words.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = line("/proc/cpuinfo", "model name");
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = line("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
        .map(|kib| format!(", {:.0} GiB of memory", kib as f64 / f64::from(1 << 20)));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease");
    // Major and minor version: the rest may name who has built it.
    let kernel = kernel.ok().map(|text| {
        let numbers: Vec<&str> = text.trim().split('.').take(2).collect();
        format!(" {}", numbers.join("."))
    });
    format!(
        "{cores} cores of {model}{}, {}{}",
        memory.unwrap_or_default(),
        std::env::consts::OS,
        kernel.unwrap_or_default()
    )
}

/// How many processes want a processor, as the average of a minute.
pub(crate) fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The value of a name in a file of lines `name : value`.
fn line(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
