//! Work that is divided among several processes, on one machine or many that see the same files: `--shard I/K --results DIR`.
//!
//! The units are numbered, every process takes its share of them, and each unit that is done becomes a line in the file of that share. Whoever comes later finds it by
//! its key, a number over everything that it depends on: the program, its arguments and limits, the unit, and the text of what is checked. So what was finished
//! is never done again, and what has changed is. `merge` puts all units together, and refuses if one is missing. A unit that was interrupted has no line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use threadwise::page::Source;
use threadwise::{Exit, ReportedDiagnostic, Run, Values};
use threadwise_bench::fingerprint;
use threadwise_bench::journal::{Journal, JournalError, read};
use threadwise_bench::share::{Share, files};
use threadwise_show::words::counted;

use crate::expectations::TestedFile;

/// What was found of a unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Found {
    /// `check`: an instance of a file.
    Check(Box<CheckedUnit>),
    /// `test`: a file.
    Test(Box<TestedFile>),
}

/// What `check` found of one instance of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckedUnit {
    /// The file as it was named.
    pub(crate) file: String,
    /// The number of the first unit of that file.
    pub(crate) first: usize,
    pub(crate) outcome: UnitOutcome,
    pub(crate) run: Run,
    /// The values that the run is about.
    pub(crate) values: Values,
    /// What the run adds to the exit status.
    pub(crate) trouble: Option<Exit>,
    /// Messages about the file, which are said of its first instance.
    pub(crate) about: Vec<ReportedDiagnostic>,
    /// The file, if it could be read.
    pub(crate) source: Option<Source>,
}

impl CheckedUnit {
    /// The run, with what is not written with it; none where an instance does not exist.
    pub(crate) fn restored(self) -> Option<Run> {
        (self.outcome != UnitOutcome::Excluded).then_some(Run {
            values: self.values,
            trouble: self.trouble,
            ..self.run
        })
    }
}

/// What became of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnitOutcome {
    /// It was checked.
    Checked,
    /// `where` excludes it.
    Excluded,
    /// Nothing was checked of the whole file.
    File,
}

/// A line of a file of results.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// What all units belong to: the command, its arguments, and the list of units.
    request: String,
    share: Share,
    unit: usize,
    /// How many units there are.
    of: usize,
    key: String,
    found: Found,
}

/// Why results cannot be used.
#[derive(Debug, Error)]
pub(crate) enum ShardError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{0}: the directory cannot be read or written: {1}")]
    Directory(String, std::io::Error),
    #[error("this program cannot be read: {0}")]
    Program(std::io::Error),
    #[error(
        "{0}: this can be read only once, and the work is divided by what files say\n  help: write it into a file"
    )]
    Once(String),
    #[error("{0}: there are no results in this directory")]
    Empty(String),
    #[error(
        "{0} and {1} have results of different requests: other files, arguments, limits or versions\n  help: remove the older file, or use an empty directory for each request"
    )]
    Requests(String, String),
    #[error(
        "{0}: unit {1} was done again after its text or threadwise had changed, and an older result is in another file\n  help: remove the older file"
    )]
    Changed(String, usize),
    #[error("{missing} of {of} units are missing\n  help: {help}")]
    Missing {
        missing: usize,
        of: usize,
        help: String,
    },
}

/// Refuses standard input and pipes: what they say is gone when it has been looked at.
pub(crate) fn lasting(files: &[PathBuf]) -> Result<(), ShardError> {
    let gone = |file: &&PathBuf| {
        let kind = fs::metadata(file);
        **file == Path::new("-") || kind.is_ok_and(|kind| !kind.is_file())
    };
    match files.iter().find(gone) {
        Some(file) => Err(ShardError::Once(file.to_string_lossy().into_owned())),
        None => Ok(()),
    }
}

/// The work of one process.
pub(crate) struct Sharing {
    share: Share,
    request: String,
    of: usize,
    /// What keys begin with: the program, and what it is asked.
    base: String,
    journal: Journal<Line>,
    /// What is known, by key.
    known: BTreeMap<String, Found>,
    /// The keys that this file has for this request.
    here: BTreeMap<usize, String>,
    /// How many units were done before.
    pub(crate) before: usize,
}

impl Sharing {
    /// Opens the file of a share. `asked` are the arguments that results depend on, and `units` what there is to do, in its order.
    pub(crate) fn open(
        directory: &Path,
        share: Share,
        asked: &str,
        units: &[String],
    ) -> Result<Sharing, ShardError> {
        let failed = |error| ShardError::Directory(directory.to_string_lossy().into_owned(), error);
        let version = env!("CARGO_PKG_VERSION");
        let names = units.iter().map(String::as_str);
        let request = [version, asked].into_iter().chain(names).map(str::as_bytes);
        let request = fingerprint(request);
        let program = std::env::current_exe().and_then(fs::read);
        let program = program.map_err(ShardError::Program)?;
        let base = fingerprint([program.as_slice(), asked.as_bytes()]);
        fs::create_dir_all(directory).map_err(failed)?;
        let own = share.file(directory);
        let (journal, lines) = Journal::<Line>::open(&own)?;
        let mut known = BTreeMap::new();
        let mut here = BTreeMap::new();
        for line in lines.lines {
            if line.request == request {
                here.insert(line.unit, line.key.clone());
            }
            known.insert(line.key, line.found);
        }
        for other in files(directory).map_err(failed)? {
            if other != own {
                for line in read::<Line>(&other)?.lines {
                    known.entry(line.key).or_insert(line.found);
                }
            }
        }
        Ok(Sharing {
            share,
            request,
            of: units.len(),
            base,
            journal,
            known,
            here,
            before: 0,
        })
    }

    /// Whether a unit is done here.
    pub(crate) fn has(&self, unit: usize) -> bool {
        self.share.has(unit)
    }

    /// The key of a unit: its name, and what it is about.
    pub(crate) fn key(&self, name: &str, texts: &[String]) -> String {
        let texts = texts.iter().map(String::as_str);
        let parts = [self.base.as_str(), name].into_iter().chain(texts);
        fingerprint(parts.map(str::as_bytes))
    }

    /// What was found of a unit before, by whichever process. It is kept for this request, too.
    pub(crate) fn before(&mut self, unit: usize, key: &str) -> Result<Option<Found>, ShardError> {
        let Some(found) = self.known.get(key).cloned() else {
            return Ok(None);
        };
        if self.here.get(&unit).is_none_or(|here| here != key) {
            self.keep(unit, key, found.clone())?;
        }
        self.before += 1;
        Ok(Some(found))
    }

    /// Keeps what was found of a unit.
    pub(crate) fn keep(&mut self, unit: usize, key: &str, found: Found) -> Result<(), ShardError> {
        let line = Line {
            request: self.request.clone(),
            share: self.share,
            unit,
            of: self.of,
            key: key.to_owned(),
            found,
        };
        self.journal.add(&line)?;
        self.here.insert(unit, line.key.clone());
        self.known.insert(line.key, line.found);
        Ok(())
    }
}

/// Everything that was found, in the order of the units.
pub(crate) fn merged(directory: &Path) -> Result<Vec<Found>, ShardError> {
    let name = directory.to_string_lossy().into_owned();
    let failed = |error| ShardError::Directory(name.clone(), error);
    let mut units: BTreeMap<usize, Line> = BTreeMap::new();
    let mut first: Option<(String, Line)> = None;
    let mut shares = BTreeSet::new();
    for path in files(directory).map_err(failed)? {
        let lines = read::<Line>(&path)?.lines;
        // What was asked before in the same place does not count.
        let Some(last) = lines.last().cloned() else {
            continue;
        };
        let shown = path.to_string_lossy().into_owned();
        if let Some((other, line)) = &first
            && line.request != last.request
        {
            return Err(ShardError::Requests(other.clone(), shown));
        }
        let mut here: BTreeMap<usize, Line> = BTreeMap::new();
        for line in lines {
            if line.request == last.request {
                here.insert(line.unit, line);
            }
        }
        for (unit, line) in here {
            shares.insert(line.share.with(0));
            match units.get(&unit) {
                Some(known) if known.key != line.key => {
                    return Err(ShardError::Changed(shown, unit));
                }
                Some(_) => {}
                None => {
                    units.insert(unit, line);
                }
            }
        }
        first.get_or_insert((shown, last));
    }
    let Some((_, any)) = first else {
        return Err(ShardError::Empty(name));
    };
    let missing: Vec<usize> = (0..any.of)
        .filter(|unit| !units.contains_key(unit))
        .collect();
    if missing.is_empty() {
        return Ok(units.into_values().map(|line| line.found).collect());
    }
    // With one division, the shares that are to be run again are known.
    let again = match shares.len() {
        1 => {
            let again: BTreeSet<Share> = missing.iter().map(|unit| any.share.with(*unit)).collect();
            let list: Vec<String> = again.iter().take(20).map(Share::to_string).collect();
            let more = again.len().saturating_sub(list.len());
            match more {
                0 => format!("run --shard {} again", list.join(", ")),
                _ => format!("run --shard {} and {more} more again", list.join(", ")),
            }
        }
        _ => "run all shares of one division again".to_owned(),
    };
    Err(ShardError::Missing {
        missing: missing.len(),
        of: any.of,
        help: format!(
            "{again}, with the same arguments and --results; what is done is not done again"
        ),
    })
}

/// What to say at the end of a share.
pub(crate) fn closing(sharing: &Sharing, directory: &Path) -> String {
    let (share, done) = (sharing.share, sharing.here.len());
    let before = match sharing.before {
        0 => String::new(),
        before => format!(", {before} of them before"),
    };
    format!(
        "share {share}: {} done{before}; `threadwise merge {}` puts the shares together",
        counted(done as u64, "unit"),
        directory.display()
    )
}
