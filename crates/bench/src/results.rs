//! The file of results: one line of JSON for each run, kept between invocations.
//!
//! A run is found again by a key over everything that it depends on (program, model, property, values, options, limits,
//! machine), so an invocation goes on where another one stopped, and whatever has changed is measured again. Runs
//! that failed are not kept: they are tried again. A line that is damaged is left out, since the others are still good; a file without
//! any result is somebody else's, and is left as it is.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use threadwise::Values;

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

/// Why the file cannot be used.
#[derive(Debug, Error)]
pub(crate) enum ResultsError {
    #[error("{0}: the results cannot be read or written: {1}")]
    File(String, io::Error),
    #[error(
        "{0}:{1}: this is no result: {2}; name another file with --results, or remove this one"
    )]
    Foreign(String, usize, serde_json::Error),
    #[error("{0}: this is no regular file; name one for the results")]
    NoFile(String),
}

/// All runs known, and the file that new ones go to.
pub(crate) struct Results {
    name: String,
    file: File,
    runs: BTreeMap<String, Vec<Run>>,
    damaged: Vec<usize>,
}

impl Results {
    /// Opens the file, or creates it.
    pub(crate) fn open(path: &Path) -> Result<Results, ResultsError> {
        let name = path.display().to_string();
        let failed = |error| ResultsError::File(name.clone(), error);
        // Before it is opened: a pipe would wait, a device might never end.
        match std::fs::metadata(path) {
            Ok(kind) if !kind.is_file() => return Err(ResultsError::NoFile(name)),
            _ => {}
        }
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let complete = bytes.iter().rposition(|byte| *byte == b'\n');
        let complete = complete.map_or(0, |at| at + 1);
        let mut runs: BTreeMap<String, Vec<Run>> = BTreeMap::new();
        let mut damaged = Vec::new();
        let lines = bytes[..complete].split_inclusive(|byte| *byte == b'\n');
        for (number, line) in lines.enumerate() {
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => runs.entry(line.key).or_default().push(line.run),
                Err(error) => damaged.push((number + 1, error)),
            }
        }
        // What ended in the middle of a line had not finished that run.
        let unfinished = &bytes[complete..];
        if runs.is_empty() {
            let cut = serde_json::from_slice::<Line>(unfinished).err();
            let cut = cut.filter(|error| !error.is_eof());
            damaged.extend(cut.map(|error| (damaged.len() + 1, error)));
            if let Some((number, error)) = damaged.into_iter().next() {
                return Err(ResultsError::Foreign(name, number, error));
            }
            damaged = Vec::new();
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        if !unfinished.is_empty() {
            file.set_len(complete as u64).map_err(failed)?;
        }
        Ok(Results {
            name,
            file,
            runs,
            damaged: damaged.into_iter().map(|(number, _)| number).collect(),
        })
    }

    /// The lines of the file, from 1, that could not be read.
    pub(crate) fn damaged(&self) -> &[usize] {
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
    ) -> Result<(), ResultsError> {
        let line = Line {
            key: key.to_owned(),
            table: cell.table.to_owned(),
            row: cell.row.to_owned(),
            column: cell.column.to_owned(),
            values: cell.values.clone(),
            run: run.clone(),
        };
        let failed = |error| ResultsError::File(self.name.clone(), error);
        let mut text = serde_json::to_vec(&line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(failed)?;
        self.runs.entry(line.key).or_default().push(run.clone());
        Ok(())
    }
}

/// A number for a list of texts: FNV-1a over 128 bits, which stays the same over versions of everything.
pub(crate) fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
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
