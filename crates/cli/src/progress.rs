//! Progress: below what is decided so far, one line that says what is being done. It is redrawn in place on standard error, on terminals only, and taken away before
//! results are printed.

use std::time::{Duration, Instant};

use threadwise::{Scope, Stats, Values, VerdictKind};

use crate::terminal::complain;
use threadwise_show::words::{count, counted, one_line, seconds};

/// How often it is redrawn: often enough to look alive, seldom enough not to flicker.
const EVERY: Duration = Duration::from_millis(200);
/// So many properties that are decided are listed, the last ones, and so many that are not are named.
const LISTED: usize = 8;
const NAMED: usize = 2;
/// How wide a terminal is taken to be that does not say.
const WIDTH: usize = 80;

/// What is being done.
pub(crate) struct Doing<'a> {
    /// The engine that works.
    pub(crate) engine: &'a str,
    /// The properties that it is asked about.
    pub(crate) properties: &'a [String],
    /// The instance.
    pub(crate) values: &'a Values,
    /// How far it is.
    pub(crate) stats: &'a Stats,
    /// Seconds since work on these properties began, whoever does it.
    pub(crate) elapsed: f64,
    /// Whether what it found is being rechecked.
    pub(crate) rechecks: bool,
}

/// What is drawn, if there is a terminal.
pub(crate) struct ProgressLine {
    enabled: bool,
    file: String,
    drawn: Option<Instant>,
    /// How many lines are drawn.
    rows: usize,
    /// Properties that are decided, each with what is said of it, in the order in which they were.
    decided: Vec<(String, String)>,
}

impl ProgressLine {
    /// Draws only if `enabled`.
    pub(crate) fn new(enabled: bool) -> ProgressLine {
        ProgressLine {
            enabled,
            file: String::new(),
            drawn: None,
            rows: 0,
            decided: Vec::new(),
        }
    }

    /// Names the file that is being checked.
    pub(crate) fn begin(&mut self, file: &str) {
        self.file = short(&one_line(file));
        self.decided.clear();
    }

    /// Remembers what was decided.
    pub(crate) fn decided(&mut self, property: &str, verdict: VerdictKind, scope: &Scope) {
        let said = format!("{:8}  {}", verdict.as_str(), scope.phrase());
        self.decided.retain(|(known, _)| known != property);
        self.decided.push((property.to_owned(), said));
        // It is to be seen at once.
        self.drawn = None;
    }

    /// Redraws it, if the last time was long enough ago.
    pub(crate) fn show(&mut self, doing: &Doing<'_>) {
        if !self.enabled || self.drawn.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let mut lines = decided_lines(&self.decided);
        lines.push(line(&self.file, doing));
        let width = terminal_size::terminal_size_of(std::io::stderr())
            .map_or(WIDTH, |(width, _)| usize::from(width.0));
        // A line that wraps cannot be redrawn.
        let lines: Vec<String> = lines.iter().map(|line| cut(line, width)).collect();
        complain(format_args!("{}{}", away(self.rows), lines.join("\n")));
        self.rows = lines.len();
    }

    /// Takes it away.
    pub(crate) fn clear(&mut self) {
        if self.rows > 0 {
            complain(format_args!("{}", away(self.rows)));
        }
        (self.rows, self.drawn) = (0, None);
    }
}

/// What takes so many lines away, the cursor being in the last one.
fn away(rows: usize) -> String {
    match rows {
        0 | 1 => "\r\x1b[J".to_owned(),
        _ => format!("\r\x1b[{}A\x1b[J", rows - 1),
    }
}

fn cut(line: &str, width: usize) -> String {
    line.chars().take(width.saturating_sub(1).max(1)).collect()
}

fn decided_lines(decided: &[(String, String)]) -> Vec<String> {
    let hidden = decided.len().saturating_sub(LISTED);
    let names = decided.iter().map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default();
    let mut lines = Vec::new();
    if hidden > 0 {
        lines.push(format!("  {hidden} more decided"));
    }
    let shown = decided[hidden..].iter();
    lines.extend(shown.map(|(name, said)| {
        let line = format!("  {name:width$}  {said}");
        line.trim_end().to_owned()
    }));
    lines
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
fn line(file: &str, doing: &Doing<'_>) -> String {
    let (stats, elapsed) = (doing.stats, doing.elapsed);
    let mut line = file.to_owned();
    if !doing.values.is_empty() {
        line.push_str(&format!(" at {}", doing.values));
    }
    let mut names: Vec<&str> = doing.properties.iter().map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    line.push_str(&format!(": {}", names.join(", ")));
    if more > 0 {
        line.push_str(&format!(" and {more} more"));
    }
    let engine = doing.engine;
    if doing.rechecks {
        line.push_str(&format!(
            ": rechecks what `{engine}` found, {}",
            seconds(elapsed)
        ));
        return line;
    }
    line.push_str(&format!(": {engine}, {}", seconds(elapsed)));
    if let Some(states) = stats.states {
        line.push_str(&format!(", {} states", count(states)));
        let own = stats.seconds.unwrap_or(elapsed);
        if own > 0.0 {
            let rate = states as f64 / own;
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
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let values = Values(vec![("N".to_owned(), 5)]);
        let properties: Vec<String> = ["mutex", "small", "fair"].map(str::to_owned).into();
        let stats = Stats {
            seconds: Some(2.0),
            states: Some(2_500_000),
            depth: Some(31),
            ..Stats::default()
        };
        let mut doing = Doing {
            engine: "explicit",
            properties: &properties,
            values: &values,
            stats: &stats,
            elapsed: 3.5,
            rechecks: false,
        };
        assert_eq!(
            line("lock.tw", &doing),
            "lock.tw at N=5: mutex, small and 1 more: explicit, 3.5 s, 2,500,000 states, 1,250,000 a second, depth 31"
        );
        doing.rechecks = true;
        assert_eq!(
            line("lock.tw", &doing),
            "lock.tw at N=5: mutex, small and 1 more: rechecks what `explicit` found, 3.5 s"
        );
        let stats = Stats {
            seconds: Some(2.0),
            iterations: Some(3),
            peak_nodes: Some(40_000),
            ..Stats::default()
        };
        let doing = Doing {
            engine: "forward",
            properties: &properties[..1],
            stats: &stats,
            rechecks: false,
            ..doing
        };
        assert_eq!(
            line("lock.tw", &doing),
            "lock.tw at N=5: mutex: forward, 3.5 s, iteration 3, at most 40,000 nodes"
        );
        assert_eq!(short("models/a/lock.tw"), "lock.tw");
        assert_eq!(short(&"x".repeat(60)), format!("{}..", "x".repeat(22)));
        assert_eq!(cut("abcdef", 4), "abc");
    }

    #[test]
    fn what_is_decided_stands_above() {
        let mut progress = ProgressLine::new(false);
        let at = |value| Scope::Instance {
            values: Values(vec![("N".to_owned(), value)]),
        };
        progress.begin("lock.tw");
        progress.decided("mutex", VerdictKind::Proved, &at(2));
        progress.decided("deadlock_free", VerdictKind::Violated, &at(2));
        progress.decided("mutex", VerdictKind::Proved, &at(3));
        assert_eq!(
            decided_lines(&progress.decided),
            [
                "  deadlock_free  violated  at N=2",
                "  mutex          proved    at N=3"
            ]
        );
        for number in 0..20 {
            progress.decided(&format!("p{number:02}"), VerdictKind::Proved, &at(2));
        }
        let lines = decided_lines(&progress.decided);
        assert_eq!(lines.len(), LISTED + 1);
        assert_eq!(lines[0], "  14 more decided");
        // The cursor goes up past all but the line it is in.
        assert_eq!(away(3), "\r\x1b[2A\x1b[J");
    }
}
