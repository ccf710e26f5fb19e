//! The progress line: one line on standard error, redrawn in place, on terminals only.

use std::time::{Duration, Instant};

use threadwise::{Stats, Values};

use crate::terminal::complain;
use threadwise_show::words::{count, counted, one_line, seconds};

/// How often the line is redrawn: often enough to look alive, seldom enough not to flicker.
const EVERY: Duration = Duration::from_millis(200);

/// The line, if there is one.
pub(crate) struct ProgressLine {
    enabled: bool,
    file: String,
    drawn: Option<Instant>,
}

impl ProgressLine {
    /// A line that is drawn only if `enabled`.
    pub(crate) fn new(enabled: bool) -> ProgressLine {
        ProgressLine {
            enabled,
            file: String::new(),
            drawn: None,
        }
    }

    /// Names the file that is being checked.
    pub(crate) fn begin(&mut self, file: &str) {
        self.file = short(&one_line(file));
    }

    /// Redraws the line, if the last time was long enough ago.
    pub(crate) fn show(&mut self, values: &Values, stats: &Stats) {
        if !self.enabled || self.drawn.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        complain(format_args!("\r\x1b[K{}", line(&self.file, values, stats)));
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            complain(format_args!("\r\x1b[K"));
        }
    }
}

/// The end of a path, short enough for the line to fit a narrow terminal: a line that wraps cannot
/// be redrawn.
fn short(path: &str) -> String {
    const MOST: usize = 24;
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    let start: String = name.chars().take(MOST - 2).collect();
    format!("{start}..")
}

/// What the line says.
fn line(file: &str, values: &Values, stats: &Stats) -> String {
    let elapsed = stats.seconds.unwrap_or(0.0);
    let mut line = file.to_owned();
    if !values.is_empty() {
        line.push_str(&format!(" at {values}"));
    }
    if let Some(states) = stats.states {
        line.push_str(&format!(": {} states", count(states)));
        if elapsed > 0.0 {
            let rate = states as f64 / elapsed;
            line.push_str(&format!(", {} a second", count(rate as u64)));
        }
    }
    if let Some(depth) = stats.depth {
        line.push_str(&format!(", depth {depth}"));
    }
    if let Some(iterations) = stats.iterations {
        line.push_str(&format!(", iteration {}", count(iterations)));
    }
    if let Some(nodes) = stats.peak_nodes {
        line.push_str(&format!(", at most {}", counted(nodes, "node")));
    }
    if let Some(memory) = stats.memory_mib {
        line.push_str(&format!(", {memory:.0} MiB"));
    }
    line.push_str(&format!(", {}", seconds(elapsed)));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let values = Values(vec![("N".to_owned(), 5)]);
        let stats = Stats {
            seconds: Some(2.0),
            states: Some(2_500_000),
            depth: Some(31),
            ..Stats::default()
        };
        assert_eq!(
            line("lock.tw", &values, &stats),
            "lock.tw at N=5: 2,500,000 states, 1,250,000 a second, depth 31, 2.0 s"
        );
        let stats = Stats {
            seconds: Some(2.0),
            iterations: Some(3),
            peak_nodes: Some(40_000),
            ..Stats::default()
        };
        assert_eq!(
            line("lock.tw", &values, &stats),
            "lock.tw at N=5, iteration 3, at most 40,000 nodes, 2.0 s"
        );
        assert_eq!(short("models/a/lock.tw"), "lock.tw");
        assert_eq!(short(&"x".repeat(60)), format!("{}..", "x".repeat(22)));
    }
}
