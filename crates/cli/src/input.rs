//! Reading models, traces, certificates and tables: files and standard input, with errors that say what to do next.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use threadwise::Session;
use threadwise_import::from_c::{DataModel, Integers, Reading, from_c};
use threadwise_import::from_promela::from_promela;
use threadwise_import::{Original, Outcome, Remark, Settings};
use threadwise_lang::diagnostics::Diagnostic;
use threadwise_lang::program::Span;
use threadwise_lang::render::LineIndex;
use threadwise_lang::suggest::closest;

use crate::args::{DataModelArg, IntegersArg, LanguageArgs};

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

/// The language of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    /// Ours.
    Model,
    Promela,
    C,
}

impl Language {
    /// By the end of the file's name.
    fn of(path: &Path) -> Language {
        let end = path.extension().and_then(|end| end.to_str());
        match end.map(str::to_ascii_lowercase).as_deref() {
            Some("pml" | "prom" | "promela" | "pm" | "prm" | "pr" | "spin") => Language::Promela,
            Some("c" | "i" | "hcc") => Language::C,
            _ => Language::Model,
        }
    }
}

/// Reads a model, or a program of another language as one. Whether it can be used is for the caller to look at.
pub(crate) fn read_model(path: &Path, args: &LanguageArgs) -> Result<Session, InputError> {
    let language = Language::of(path);
    let unused = match language {
        Language::Model if !args.define.is_empty() => Some("-D is for Promela and C"),
        Language::Model | Language::Promela if args.integers.is_some() => {
            Some("--integers is for C")
        }
        Language::Model | Language::Promela if args.data_model.is_some() => {
            Some("--data-model is for C")
        }
        _ => None,
    };
    if let Some(unused) = unused {
        return Err(InputError {
            name: path.to_string_lossy().into_owned(),
            message: format!("{unused}, and this is something else by its name"),
            help: "leave the option out; `--set` gives values to the parameters of models"
                .to_owned(),
        });
    }
    let Input { name, text } = read(path)?;
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    let mut include = |name: &str| match read_included(&directory.join(name)) {
        Ok(input) => Ok(input.text),
        Err(error) => Err(error.message),
    };
    let mut settings = Settings {
        defines: args.define.clone(),
        include: &mut include,
    };
    let outcome = match language {
        Language::Model => return Ok(Session::new(name, text)),
        Language::Promela => from_promela(&name, &text, &mut settings),
        Language::C => {
            let integers = match args.integers.unwrap_or_default() {
                IntegersArg::Mathematical => Integers::Mathematical,
                IntegersArg::Machine => Integers::Machine,
            };
            let data_model = match args.data_model.unwrap_or_default() {
                DataModelArg::Lp64 => DataModel::Lp64,
                DataModelArg::Ilp32 => DataModel::Ilp32,
            };
            let reading = Reading {
                integers,
                data_model,
            };
            from_c(&name, &text, reading, &mut settings)
        }
    };
    Ok(session(name, text, outcome))
}

/// The texts that a program is made of: its own, and those of all files that it names to be included, as far as they can be read.
pub(crate) fn texts(path: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let input = match seen.len() {
            1 => read(&path),
            _ => read_included(&path),
        };
        let text = input.map_or_else(|error| error.message, |input| input.text);
        if Language::of(&path) != Language::Model || seen.len() > 1 {
            let directory = path.parent().unwrap_or(Path::new(""));
            open.extend(text.lines().filter_map(included).map(|n| directory.join(n)));
        }
        texts.push(text);
    }
    texts
}

/// The file that a line includes, if it does.
fn included(line: &str) -> Option<&str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let named = directive.strip_prefix("include")?.trim_start();
    Some(named.strip_prefix('"')?.split_once('"')?.0)
}

/// What a front end made of a program.
fn session(name: String, text: String, outcome: Outcome) -> Session {
    let files = outcome.files;
    let about = |remarks: Vec<Remark>| -> Vec<Diagnostic> {
        let each = remarks.into_iter();
        each.map(|remark| in_program(remark, &files)).collect()
    };
    match outcome.result {
        Ok(imported) => Session::imported(
            name,
            imported.program,
            imported.layout,
            about(imported.notes),
        ),
        Err(remarks) => Session::refused(name, text, about(remarks)),
    }
}

/// A remark as a message about the program: one about a file that it includes says so, and is drawn over the `#include`.
fn in_program(remark: Remark, files: &[Original]) -> Diagnostic {
    let mut diagnostic = remark.diagnostic;
    if let Some(file) = files.get(remark.file).filter(|_| remark.file > 0) {
        let lines = LineIndex::new(&file.text);
        let (line, column) = lines.position(&file.text, diagnostic.span.start);
        diagnostic.message = format!("{}:{line}:{column}: {}", file.name, diagnostic.message);
        let (start, end) = file.included.unwrap_or((0, 0));
        diagnostic.span = Span { start, end };
        diagnostic.label = String::new();
        diagnostic.related.clear();
        diagnostic.fix = None;
    }
    diagnostic
}

/// Which files of a directory are meant.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    /// Models.
    Models,
    /// Models, and programs of other languages.
    Programs,
}

/// Finds the files below a path, in the order of their names; a file that is named is one.
pub(crate) fn files(path: &Path, wanted: Wanted) -> Result<Vec<PathBuf>, InputError> {
    let mut files = Vec::new();
    collect(path, &mut files, wanted, true)?;
    Ok(files)
}

fn collect(
    path: &Path,
    files: &mut Vec<PathBuf>,
    wanted: Wanted,
    named: bool,
) -> Result<(), InputError> {
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
            collect(&entry, files, wanted, false)?;
        }
    } else if named
        || kind.is_file()
            && (path.extension().is_some_and(|end| end == "tw")
                || matches!(wanted, Wanted::Programs) && Language::of(path) != Language::Model)
    {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Reads a file that a program names: a file it must be, for nobody has asked to wait for a pipe or a device.
fn read_included(path: &Path) -> Result<Input, InputError> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() && !about.is_dir() => Err(InputError {
            name: path.to_string_lossy().into_owned(),
            message: NO_FILE.to_owned(),
            help: "include a file".to_owned(),
        }),
        _ => read(path),
    }
}

/// What to say of a pipe, a device or a socket.
const NO_FILE: &str = "this is no file";

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
        let about = fs::metadata(path)?;
        if about.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if waits(path, &about) {
            return Err(io::Error::other("it is a pipe or a socket"));
        }
        let file = File::open(path)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Whether opening or reading it may wait for another program for ever: a pipe or a socket. What a shell has opened for this one (`check <(generate)`) has somebody at its other end.
#[cfg(unix)]
fn waits(path: &Path, about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let open = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];
    let kind = about.file_type();
    (kind.is_fifo() || kind.is_socket()) && !open.iter().any(|open| path.starts_with(open))
}

#[cfg(not(unix))]
fn waits(_: &Path, _: &fs::Metadata) -> bool {
    false
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
