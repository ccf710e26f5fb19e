//! Reading models, traces, certificates and tables: files and standard input, with errors that say what to do next.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use threadwise_lang::suggest::closest;

/// The largest file that is read: positions in a source text are 32 bits wide, and nothing that
/// people write comes near.
const LARGEST: u64 = 64 << 20;

/// A text and the name it was given by.
pub(crate) struct Input {
    /// The path as given; `-` for standard input.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) text: String,
}

/// Why an input cannot be used.
#[derive(Debug)]
pub(crate) struct InputError {
    /// The path as given.
    pub(crate) name: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) help: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  help: {}", self.name, self.message, self.help)
    }
}

/// Reads a trace or a certificate, or standard input for `-`.
pub(crate) fn read_evidence(path: &Path, what: &str) -> Result<Input, InputError> {
    let missing = path != Path::new("-") && !path.exists();
    read(path).map_err(|error| InputError {
        help: match missing && meant(path).is_none() {
            true => format!("check the name; `threadwise check MODEL --{what} DIR` writes {what}s"),
            false => error.help,
        },
        ..error
    })
}

/// Reads a table of benchmarks.
pub(crate) fn read_table(path: &Path) -> Result<Input, InputError> {
    read(path).map_err(|error| InputError {
        help:
            "tables are files such as `benchmarks/peers.toml`; docs/benchmarking.md describes them"
                .to_owned(),
        ..error
    })
}

/// Finds the models below a path, in the order of their names; a file that is named is one.
pub(crate) fn models(path: &Path) -> Result<Vec<PathBuf>, InputError> {
    let mut files = Vec::new();
    collect(path, &mut files, true)?;
    Ok(files)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>, named: bool) -> Result<(), InputError> {
    let cannot = |error: io::Error| {
        let (message, help) = explain(path, &error);
        InputError {
            name: path.to_string_lossy().into_owned(),
            message,
            help,
        }
    };
    if path == Path::new("-") {
        files.push(path.to_owned());
        return Ok(());
    }
    let kind = fs::metadata(path).map_err(cannot)?;
    if kind.is_dir() {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            // Links below a directory are not followed, so that a circle of them does no harm.
            if !entry.file_type().map_err(cannot)?.is_symlink() {
                entries.push(entry.path());
            }
        }
        entries.sort();
        for entry in entries {
            collect(&entry, files, false)?;
        }
    } else if named || path.extension().is_some_and(|extension| extension == "tw") {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Input, InputError> {
    let name = path.to_string_lossy().into_owned();
    let bytes = match bytes(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let (message, help) = explain(path, &error);
            return Err(InputError {
                name,
                message,
                help,
            });
        }
    };
    if bytes.len() as u64 > LARGEST {
        return Err(InputError {
            name,
            message: format!("the file is larger than {} MiB", LARGEST >> 20),
            help: "models are texts of a few kilobytes; is this the right file?".to_owned(),
        });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Input { name, text }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..at];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let byte = error.as_bytes()[at];
            Err(InputError {
                name: format!("{name}:{line}"),
                message: format!("byte {at} (0x{byte:02x}) is not valid UTF-8"),
                help: "models are UTF-8 texts; convert the file, for example with `iconv -t utf-8`"
                    .to_owned(),
            })
        }
    }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin()
            .lock()
            .take(LARGEST + 1)
            .read_to_end(&mut bytes)?;
    } else {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The file that was probably meant by a name that does not exist: with `.tw` added, or with each part of the name that does not exist replaced by the
/// nearest that does.
fn meant(path: &Path) -> Option<PathBuf> {
    /// Directories with more entries are not searched.
    const MOST_ENTRIES: usize = 10_000;
    if path.extension().is_none() && path.with_extension("tw").is_file() {
        return Some(path.with_extension("tw"));
    }
    let mut found = PathBuf::new();
    for part in path.components() {
        let next = found.join(part);
        if next.symlink_metadata().is_ok() {
            found = next;
            continue;
        }
        let Component::Normal(name) = part else {
            return None;
        };
        let directory = match found.as_os_str().is_empty() {
            true => Path::new("."),
            false => &found,
        };
        let entries = fs::read_dir(directory).ok()?.take(MOST_ENTRIES).flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        found = found.join(closest(name.to_str()?, names)?);
    }
    Some(found)
}

/// Message and help for a file that cannot be opened or read.
fn explain(path: &Path, error: &io::Error) -> (String, String) {
    let (message, help) = match error.kind() {
        io::ErrorKind::NotFound => {
            let help = match meant(path) {
                Some(meant) => format!("did you mean `{}`?", meant.display()),
                None => "check the name; `threadwise new FILE` writes a starter model".to_owned(),
            };
            ("there is no such file".to_owned(), help)
        }
        io::ErrorKind::IsADirectory => (
            "this is a directory".to_owned(),
            format!(
                "name a file; `threadwise test {}` runs every model below a directory",
                path.display()
            ),
        ),
        io::ErrorKind::PermissionDenied => (
            "the file may not be read".to_owned(),
            "check its permissions".to_owned(),
        ),
        _ => (
            format!("the file cannot be read: {error}"),
            "check the file, or pipe the text in and name `-`".to_owned(),
        ),
    };
    (message, help)
}
