//! The two streams: results to standard output, everything else to standard error.
//!
//! Colours are for terminals, and never with `NO_COLOR` or `TERM=dumb`. A reader that goes away
//! (`threadwise check .. | head`) ends the output quietly; it is no error of ours. Any other failure
//! to write, such as a full disk or a stream that is for reading, is said once and decides the exit status.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use threadwise_lang::diagnostics::{Code, Diagnostic, Severity};
use threadwise_lang::render::{LineIndex, render};

use crate::watch;
use threadwise_show::words::{counted, printable};

/// How many diagnostics of a file are drawn: nobody reads more, and a large file can have a
/// hundred thousand.
const MOST_DRAWN: usize = 200;

/// What the streams can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Standard output takes colours.
    pub(crate) colour_out: bool,
    /// Standard error takes colours.
    pub(crate) colour_err: bool,
    /// Standard error is a terminal, so a progress line can be redrawn on it.
    pub(crate) progress: bool,
    /// How wide standard output is, if it is a terminal.
    pub(crate) width: Option<usize>,
}

/// Colours of standard output.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    /// Proved.
    Good,
    /// Violated.
    Bad,
    /// Unknown.
    Unsure,
    /// Titles.
    Strong,
    /// Things of less weight.
    Faint,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Good => "32",
            Style::Bad => "1;31",
            Style::Unsure => "33",
            Style::Strong => "1",
            Style::Faint => "2",
        }
    }
}

impl Terminal {
    /// Looks at the streams and the environment.
    pub(crate) fn detect() -> Terminal {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = !set("NO_COLOR") && !dumb;
        let err = io::stderr().is_terminal();
        Terminal {
            colour_out: colour && io::stdout().is_terminal(),
            colour_err: colour && err,
            progress: err && !dumb,
            width: terminal_size::terminal_size_of(io::stdout())
                .map(|(width, _)| usize::from(width.0))
                .filter(|width| *width > 0),
        }
    }

    /// A text in a style, if standard output takes colours.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.colour_out {
            format!("\x1b[{}m{text}\x1b[0m", style.code())
        } else {
            text.to_owned()
        }
    }

    /// Prints an error without a place in a model.
    pub(crate) fn error(&self, message: &dyn Display) {
        let word = if self.colour_err {
            "\x1b[1;31merror\x1b[0m"
        } else {
            "error"
        };
        complain(format_args!(
            "{word}: {}\n",
            printable(&message.to_string())
        ));
    }

    /// Prints a remark.
    pub(crate) fn note(&self, message: &dyn Display) {
        complain(format_args!("note: {}\n", printable(&message.to_string())));
    }

    /// Draws the diagnostics of a model that cannot be used, and closes with what that means.
    pub(crate) fn refused(
        &self,
        diagnostics: &[Diagnostic],
        name: &str,
        text: &str,
        consequence: &str,
    ) {
        self.diagnostics(diagnostics, name, text);
        let errors = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity() == Severity::Error);
        let errors = counted(errors.count() as u64, "error");
        complain(format_args!(
            "{}: {errors}: {consequence}\n",
            printable(name)
        ));
    }

    /// Draws diagnostics over their source.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic], name: &str, text: &str) {
        let lines = LineIndex::new(text);
        for diagnostic in &diagnostics[..diagnostics.len().min(MOST_DRAWN)] {
            if diagnostic.code == Code::UnknownParameter {
                // It comes from the command line, so there is nothing to draw it over.
                let help = diagnostic.help.as_deref().unwrap_or("check `--set`");
                let message = &diagnostic.message;
                self.error(&format_args!("{name}: {message}\n  help: {help}"));
                continue;
            }
            let drawn = render(diagnostic, &printable(name), text, &lines, self.colour_err);
            complain(format_args!("{}\n\n", drawn.trim_end()));
        }
        if let Some(more) = diagnostics.len().checked_sub(MOST_DRAWN + 1) {
            let more = counted(more as u64 + 1, "more message");
            self.note(&format_args!("{name}: {more}; `check --json` lists all"));
        }
    }
}

/// Set when something that was said has not been written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to standard output.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    if let Err(error) = watch::writing(|| write(text))
        // Nothing can be done about a reader that is gone, and it is no reason to fail.
        && error.kind() != ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        complain(format_args!(
            "error: standard output cannot be written: {error}\n"
        ));
    }
}

fn write(text: fmt::Arguments<'_>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    #[cfg(unix)]
    if is_for_reading(&out) {
        return Err(io::Error::other("it is open for reading alone"));
    }
    out.write_fmt(text).and_then(|()| out.flush())
}

/// Whether nothing can be written there, which the language's runtime takes for success. (A stream that was closed before the program began is none of these: the
/// runtime opens it again, on the null device, and nothing tells it from one that somebody has put there.)
#[cfg(unix)]
fn is_for_reading(out: &io::StdoutLock<'_>) -> bool {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let flags = fcntl(out, FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
    flags.is_ok_and(|flags| flags & OFlag::O_ACCMODE == OFlag::O_RDONLY)
}

/// Whether results were lost because standard output could not be written.
pub(crate) fn output_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Writes to standard error.
pub(crate) fn complain(text: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}
