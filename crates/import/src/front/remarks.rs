//! Messages about places in the program's files.

use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Span;

use crate::Remark;
use crate::front::source::At;

/// What was read, or the message about why it was not.
pub(crate) type Parsed<T> = Result<T, Box<Remark>>;

/// A message with its place and what to do about it.
pub(crate) fn remark(
    at: At,
    code: Code,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Box<Remark> {
    let span = Span {
        start: at.start,
        end: at.end,
    };
    Box::new(Remark {
        file: at.file as usize,
        diagnostic: Diagnostic::new(code, span, message).help(help),
    })
}

/// The program is not one of its language.
pub(crate) fn malformed(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Box<Remark> {
    remark(at, Code::ForeignSyntax, message, help)
}

/// The program is one of its language, but cannot be brought over.
pub(crate) fn unsupported(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Box<Remark> {
    remark(at, Code::Unsupported, message, help)
}

/// Adds another place to a message, if it is in the same file: a message is drawn over one text.
pub(crate) fn related(mut to: Box<Remark>, at: At, text: &str) -> Box<Remark> {
    if to.file == at.file as usize {
        to.diagnostic = to.diagnostic.related(
            Span {
                start: at.start,
                end: at.end,
            },
            text,
        );
    }
    to
}
