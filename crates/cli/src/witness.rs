//! `check --witness`: what was found about a C program, in the format of the software verification competition.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use threadwise::{CHECKS, Run, Session};

use crate::args::LanguageArgs;

/// What came of it.
pub(crate) enum Written {
    /// It is in the file.
    Yes,
    /// There is none, for this reason.
    None(String),
    /// It cannot be written.
    Failed(String),
}

/// Why the option makes no sense here, and what to do.
pub(crate) fn refused(path: &Path, files: &[PathBuf]) -> Option<String> {
    let [file] = files else {
        return Some(
            "a witness is about one program, and there are several\n  help: check one file at a time".to_owned(),
        );
    };
    let end = file.extension().and_then(|end| end.to_str());
    if !matches!(end.map(str::to_ascii_lowercase).as_deref(), Some("c" | "i")) {
        return Some(format!(
            "{}: witnesses are about C programs (`.c`, `.i`)\n  help: --trace and --certificate write the evidence about models",
            file.display()
        ));
    }
    let same = match (path.canonicalize(), file.canonicalize()) {
        (Ok(path), Ok(file)) => path == file,
        _ => false,
    };
    same.then(|| {
        format!(
            "{}: it is the program that is to be checked\n  help: give another name to --witness",
            path.display()
        )
    })
}

/// Writes the witness for a run.
pub(crate) fn write(path: &Path, run: &Run, session: &Session, language: &LanguageArgs) -> Written {
    let mut results = run.results.iter();
    let Some(checks) = results.find(|result| result.property == CHECKS) else {
        return Written::None("nothing was checked".to_owned());
    };
    let data_model = language.data_model.unwrap_or_default();
    let text = match threadwise::witness(session, checks, data_model.name(), &now()) {
        Ok(text) => text,
        Err(reason) => return Written::None(reason.to_string()),
    };
    match fs::write(path, text) {
        Ok(()) => Written::Yes,
        Err(error) => Written::Failed(error.to_string()),
    }
}

/// The time, as ISO 8601 has it.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    iso(since.map_or(0, |since| since.as_secs()))
}

/// A time in seconds since 1970, as ISO 8601 has it.
fn iso(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have the leap day at their end; they are counted in periods of 400, from one that begins before 1970.
    let days = days + 719_468;
    let (period, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = match month {
        0..=9 => (month + 3, 0),
        _ => (month - 9, 1),
    };
    format!(
        "{:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z",
        period * 400 + year + next,
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(iso(seconds), expected);
        }
    }
}
