//! Messages about C programs.

use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Span;

use crate::Remark;

pub(crate) use crate::source::{At, Sources};

/// Why a program is not brought over.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub at: At,
    pub code: Code,
    pub message: String,
    pub label: String,
    pub help: String,
}

impl Refusal {
    /// As a caller wants it.
    pub fn remark(self) -> Remark {
        let span = Span {
            start: self.at.start,
            end: self.at.end,
        };
        let diagnostic = Diagnostic::new(self.code, span, self.message);
        Remark {
            file: self.at.file as usize,
            diagnostic: diagnostic.label(self.label).help(self.help),
        }
    }
}

/// What is built, or why it is not.
pub(crate) type Built<T> = Result<T, Box<Refusal>>;

/// Something that C allows and this front end does not take.
pub(crate) fn unsupported<T>(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Built<T> {
    Err(Box::new(Refusal {
        at,
        code: Code::Unsupported,
        message: message.into(),
        label: String::new(),
        help: help.into(),
    }))
}

/// Something that is no C.
pub(crate) fn malformed<T>(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Built<T> {
    Err(Box::new(Refusal {
        at,
        code: Code::ForeignSyntax,
        message: message.into(),
        label: String::new(),
        help: help.into(),
    }))
}
