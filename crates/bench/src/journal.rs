//! A file that grows by one line of JSON for each thing that is done, so that whoever comes later goes on from there.
//!
//! A line is written when the thing is done, in one piece, and handed to the disk at once. What ended in the middle of a line, or without its end, was not done: it is cut off
//! by the next one who writes. Any other line that cannot be read is left out, since the others are still good; a file without a single good line is
//! somebody else's, and is left as it is. One process at a time may write.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system says no.
    #[error("{0}: the results cannot be read or written: {1}")]
    File(String, io::Error),
    /// No line of it is one of ours.
    #[error(
        "{0}:{1}: this is no result: {2}; name another file with --results, or remove this one"
    )]
    Foreign(String, usize, serde_json::Error),
    /// A pipe, a device, a directory.
    #[error("{0}: this is no regular file; name one for the results")]
    NoFile(String),
    /// Somebody else has it open.
    #[error("{0}: another process writes its results here; wait for its end")]
    Busy(String),
}

/// What a file has.
#[derive(Debug)]
pub struct Lines<T> {
    /// The good lines, in their order.
    pub lines: Vec<T>,
    /// The numbers of those that cannot be read, from 1.
    pub damaged: Vec<usize>,
    /// How many bytes are whole lines, and whether there are more.
    complete: u64,
    torn: bool,
}

/// Reads all lines of a file; one that does not exist has none.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Lines<T>, JournalError> {
    let name = path.display().to_string();
    // Before it is opened: a pipe would wait, a device might never end.
    match fs::metadata(path) {
        Ok(kind) if !kind.is_file() => return Err(JournalError::NoFile(name)),
        _ => {}
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(JournalError::File(name, error)),
    };
    let complete = bytes.iter().rposition(|byte| *byte == b'\n');
    let (whole, torn) = bytes.split_at(complete.map_or(0, |at| at + 1));
    let mut lines = Vec::new();
    let mut damaged = Vec::new();
    for (number, line) in whole.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match serde_json::from_slice::<T>(line) {
            Ok(line) => lines.push(line),
            Err(error) => damaged.push((number + 1, error)),
        }
    }
    if lines.is_empty() {
        // The beginning of a line of ours ends where more is expected.
        let cut = serde_json::from_slice::<T>(torn).err();
        let cut = cut.filter(|error| !torn.is_empty() && !error.is_eof());
        damaged.extend(cut.map(|error| (damaged.len() + 1, error)));
        if let Some((number, error)) = damaged.into_iter().next() {
            return Err(JournalError::Foreign(name, number, error));
        }
        damaged = Vec::new();
    }
    Ok(Lines {
        lines,
        damaged: damaged.into_iter().map(|(number, _)| number).collect(),
        complete: whole.len() as u64,
        torn: !torn.is_empty(),
    })
}

/// A file that lines are added to.
#[derive(Debug)]
pub struct Journal<T> {
    name: String,
    file: File,
    of: PhantomData<fn(&T)>,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens the file, or creates it, and says what it has.
    pub fn open(path: &Path) -> Result<(Journal<T>, Lines<T>), JournalError> {
        let name = path.display().to_string();
        let failed = |error| JournalError::File(name.clone(), error);
        // A file of somebody else is not touched.
        read::<T>(path)?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy(name)),
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        // Only now nobody else adds to it.
        let lines = read::<T>(path)?;
        if lines.torn {
            file.set_len(lines.complete).map_err(failed)?;
        }
        let of = PhantomData;
        Ok((Journal { name, file, of }, lines))
    }

    /// Adds a line, and hands it to the disk.
    pub fn add(&mut self, line: &T) -> Result<(), JournalError> {
        let failed = |error| JournalError::File(self.name.clone(), error);
        let mut text = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(failed)?;
        self.file.sync_data().map_err(failed)
    }
}
