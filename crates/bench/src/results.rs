//! The file of results: one line of JSON for each run, kept between invocations.
//!
//! A run is found again by a key over everything that it depends on (program, model, property, values, options, limits,
//! machine), so an invocation goes on where another one stopped, and whatever has changed is measured again. Runs
//! that failed are not kept: they are tried again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use threadwise::Values;

use crate::journal::{self, Journal, JournalError, Lines};
use crate::share::{self, Share};
use crate::table::Decided;

/// How a run ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Proved,
    Violated,
    /// The method could not say.
    Unknown,
    /// At the limit on time.
    Time,
    /// At the limit on memory.
    Memory,
    /// The preparation took too long.
    Unprepared,
    /// It should have given an answer, and did not.
    Failed,
}

impl Outcome {
    /// The verdict, if it decides.
    pub(crate) fn decided(self) -> Option<Decided> {
        match self {
            Outcome::Proved => Some(Decided::Proved),
            Outcome::Violated => Some(Decided::Violated),
            _ => None,
        }
    }

    /// Whether it ended at a limit, so that larger instances need not be tried.
    pub(crate) fn at_limit(self) -> bool {
        matches!(self, Outcome::Time | Outcome::Memory | Outcome::Unprepared)
    }
}

impl From<Decided> for Outcome {
    fn from(verdict: Decided) -> Outcome {
        match verdict {
            Decided::Proved => Outcome::Proved,
            Decided::Violated => Outcome::Violated,
        }
    }
}

/// What one run gave.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    /// Why it is not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// Processor time of the whole.
    pub(crate) cpu_seconds: Option<f64>,
    /// Time on the clock.
    pub(crate) clock_seconds: f64,
    /// Processor time of the engine alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) engine_cpu_seconds: Option<f64>,
    /// Whether the evidence was rechecked.
    #[serde(default)]
    pub(crate) rechecked: bool,
    pub(crate) peak_mib: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) states: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nodes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refinements: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) predicates: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extensions: Option<u64>,
    /// How many processes wanted a processor when the run had ended (the average of a minute).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load: Option<f64>,
}

/// A line of the file. The names are for whoever reads it; the key alone counts.
#[derive(Deserialize, Serialize)]
struct Line {
    key: String,
    table: String,
    row: String,
    column: String,
    values: Values,
    run: Run,
}

/// Names of a cell.
#[derive(Clone, Copy)]
pub(crate) struct CellName<'a> {
    pub(crate) table: &'a str,
    pub(crate) row: &'a str,
    pub(crate) column: &'a str,
    pub(crate) values: &'a Values,
}

/// All runs known, and the file that new ones go to.
pub(crate) struct Results {
    /// None where nothing is run.
    journal: Option<Journal<Line>>,
    runs: BTreeMap<String, Vec<Run>>,
    damaged: Vec<(PathBuf, Vec<usize>)>,
}

impl Results {
    /// Opens the file, or creates it. For a share it is a directory: all files are read, and one is written.
    pub(crate) fn open(path: &Path, share: Option<Share>) -> Result<Results, JournalError> {
        let Some(share) = share else {
            return Results::of(Some(path), Vec::new());
        };
        std::fs::create_dir_all(path)
            .map_err(|error| JournalError::File(path.display().to_string(), error))?;
        let own = share.file(path);
        let mut others = Results::files(path)?;
        others.retain(|other| *other != own);
        Results::of(Some(&own), others)
    }

    /// Reads all files of a directory, and writes none.
    pub(crate) fn read(directory: &Path) -> Result<Results, JournalError> {
        Results::of(None, Results::files(directory)?)
    }

    fn files(directory: &Path) -> Result<Vec<PathBuf>, JournalError> {
        let failed = |error| JournalError::File(directory.display().to_string(), error);
        share::files(directory).map_err(failed)
    }

    fn of(own: Option<&Path>, others: Vec<PathBuf>) -> Result<Results, JournalError> {
        let mut runs: BTreeMap<String, Vec<Run>> = BTreeMap::new();
        let mut damaged = Vec::new();
        let mut add = |path: &Path, lines: Lines<Line>| {
            if !lines.damaged.is_empty() {
                damaged.push((path.to_owned(), lines.damaged));
            }
            for line in lines.lines {
                runs.entry(line.key).or_default().push(line.run);
            }
        };
        let mut journal = None;
        if let Some(own) = own {
            let (opened, lines) = Journal::open(own)?;
            add(own, lines);
            journal = Some(opened);
        }
        for other in others {
            let lines = journal::read(&other)?;
            add(&other, lines);
        }
        Ok(Results {
            journal,
            runs,
            damaged,
        })
    }

    /// The lines, from 1, that could not be read, by file.
    pub(crate) fn damaged(&self) -> &[(PathBuf, Vec<usize>)] {
        &self.damaged
    }

    /// The runs with a key.
    pub(crate) fn get(&self, key: &str) -> &[Run] {
        self.runs.get(key).map_or(&[], Vec::as_slice)
    }

    /// Adds a run, and writes it at once.
    pub(crate) fn add(
        &mut self,
        key: &str,
        cell: CellName<'_>,
        run: &Run,
    ) -> Result<(), JournalError> {
        let line = Line {
            key: key.to_owned(),
            table: cell.table.to_owned(),
            row: cell.row.to_owned(),
            column: cell.column.to_owned(),
            values: cell.values.clone(),
            run: run.clone(),
        };
        if let Some(journal) = &mut self.journal {
            journal.add(&line)?;
        }
        self.runs.entry(line.key).or_default().push(line.run);
        Ok(())
    }
}

/// A number for a list of texts: FNV-1a over 128 bits, which stays the same over versions of everything.
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash = START;
    let mut add = |byte: u8| hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    for part in parts {
        part.iter().copied().for_each(&mut add);
        // The length ends a part, so that moving its end gives another number.
        part.len().to_le_bytes().into_iter().for_each(&mut add);
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_differ_and_stay() {
        let of = |parts: &[&str]| fingerprint(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(of(&["a", "b"]), of(&["ab", ""]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
        assert_eq!(of(&["mux_sem", "N=2"]), of(&["mux_sem", "N=2"]));
        // The value for no input is the start of FNV-1a.
        assert_eq!(of(&[]), "6c62272e07bb014262b821756295c58d");
    }
}
