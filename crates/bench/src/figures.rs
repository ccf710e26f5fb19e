//! What is measured in a run, and how a figure is written.

use serde::{Deserialize, Serialize};

use crate::results::Run;
use threadwise_show::words::count;

/// A figure of a cell.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Figure {
    /// Processor time from the start of the process to its end.
    Cpu,
    /// Processor time of the engine alone.
    Proof,
    /// Processor time outside the engine: reading, rechecking, printing.
    Recheck,
    /// Time on the clock.
    Clock,
    /// The greatest resident memory.
    Memory,
    /// States stored or counted.
    States,
    /// Nodes of decision diagrams.
    Nodes,
    /// Refinements of an abstraction.
    Refinements,
    /// Predicates that refinements exposed.
    Predicates,
    /// Extensions of the set of errors.
    Extensions,
    /// States for each second of processor time.
    Rate,
    /// Memory for each state.
    Bytes,
}

impl Figure {
    /// All of them.
    pub(crate) const ALL: [Figure; 12] = [
        Figure::Cpu,
        Figure::Proof,
        Figure::Recheck,
        Figure::Clock,
        Figure::Memory,
        Figure::States,
        Figure::Nodes,
        Figure::Refinements,
        Figure::Predicates,
        Figure::Extensions,
        Figure::Rate,
        Figure::Bytes,
    ];

    /// The name in tables and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Figure::Cpu => "cpu",
            Figure::Proof => "proof",
            Figure::Recheck => "recheck",
            Figure::Clock => "clock",
            Figure::Memory => "memory",
            Figure::States => "states",
            Figure::Nodes => "nodes",
            Figure::Refinements => "refinements",
            Figure::Predicates => "predicates",
            Figure::Extensions => "extensions",
            Figure::Rate => "rate",
            Figure::Bytes => "bytes",
        }
    }

    /// The head of a column.
    pub(crate) fn head(self) -> &'static str {
        match self {
            Figure::Cpu => "CPU s",
            Figure::Proof => "engine CPU s",
            Figure::Recheck => "recheck CPU s",
            Figure::Clock => "clock s",
            Figure::Memory => "peak MiB",
            Figure::States => "states",
            Figure::Nodes => "peak nodes",
            Figure::Refinements => "refinements",
            Figure::Predicates => "predicates",
            Figure::Extensions => "extensions",
            Figure::Rate => "M states / CPU s",
            Figure::Bytes => "bytes a state",
        }
    }

    /// Its value in a run, if it is known.
    pub(crate) fn of(self, run: &Run) -> Option<f64> {
        let states = run.states.map(|states| states as f64);
        match self {
            Figure::Cpu => run.cpu_seconds,
            Figure::Proof => run.engine_cpu_seconds,
            Figure::Recheck => {
                let engine = run.engine_cpu_seconds?;
                let outside = run.cpu_seconds? - engine;
                run.rechecked.then_some(outside.max(0.0))
            }
            Figure::Clock => Some(run.clock_seconds),
            Figure::Memory => run.peak_mib,
            Figure::States => states,
            Figure::Nodes => run.nodes.map(|nodes| nodes as f64),
            Figure::Refinements => run.refinements.map(|refinements| refinements as f64),
            Figure::Predicates => run.predicates.map(|predicates| predicates as f64),
            Figure::Extensions => run.extensions.map(|extensions| extensions as f64),
            Figure::Rate => {
                let cpu = run.cpu_seconds.filter(|cpu| *cpu > 0.0)?;
                Some(states? / cpu / 1e6)
            }
            Figure::Bytes => {
                let states = states.filter(|states| *states > 0.0)?;
                Some(run.peak_mib? * f64::from(1 << 20) / states)
            }
        }
    }

    /// A value as it is printed, in the unit of the head.
    pub(crate) fn shown(self, value: f64) -> String {
        match self {
            Figure::Cpu | Figure::Proof | Figure::Recheck | Figure::Clock => seconds(value),
            // Beyond that a number is not exact.
            Figure::States | Figure::Nodes if value >= 2f64.powi(53) => format!("{value:.2e}"),
            Figure::States
            | Figure::Nodes
            | Figure::Refinements
            | Figure::Predicates
            | Figure::Extensions => count(value as u64),
            Figure::Memory => format!("{value:.0}"),
            Figure::Rate => format!("{value:.2}"),
            Figure::Bytes => format!("{value:.1}"),
        }
    }
}

/// Two digits that mean something: `0.012`, `0.34`, `5.6`, `78`.
pub(crate) fn seconds(value: f64) -> String {
    if value < 0.0995 {
        format!("{value:.3}")
    } else if value < 9.95 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    }
}

/// A length of time that is not measured but given: `50 ms`, `2 s`.
pub(crate) fn short_time(seconds: f64) -> String {
    match seconds < 1.0 {
        true => format!("{} ms", (seconds * 1e6).round() / 1e3),
        false => format!("{seconds} s"),
    }
}

/// The middle value; the mean of the two in the middle of an even number.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    match values.len() % 2 {
        1 => Some(upper),
        _ => Some((values[middle - 1] + upper) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_depend_on_the_order() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 100.0, 2.0]), Some(3.0));
    }

    #[test]
    fn counts_are_exact_or_say_that_they_are_not() {
        assert_eq!(Figure::States.shown(12_640_810.0), "12,640,810");
        assert_eq!(Figure::States.shown(51.0 * 2f64.powi(50)), "5.74e16");
    }

    #[test]
    fn given_times_are_written_as_they_are() {
        let written = [0.0005, 0.05, 0.3, 1.5].map(short_time);
        assert_eq!(written, ["0.5 ms", "50 ms", "300 ms", "1.5 s"]);
    }

    #[test]
    fn seconds_have_digits_that_mean_something() {
        assert_eq!(seconds(0.0042), "0.004");
        assert_eq!(seconds(0.0999), "0.10");
        assert_eq!(seconds(1.234), "1.23");
        assert_eq!(seconds(61.26), "61.3");
    }
}
