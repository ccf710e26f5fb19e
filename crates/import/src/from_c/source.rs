//! Messages about C programs: a refusal is what a function gives instead of its result.

use crate::remarks;

pub(crate) use crate::remarks::Parsed as Built;
pub(crate) use crate::source::{At, Sources};

/// Something that C allows and this front end does not take.
pub(crate) fn unsupported<T>(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Built<T> {
    Err(remarks::unsupported(at, message, help))
}

/// Something that is no C.
pub(crate) fn malformed<T>(
    at: At,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Built<T> {
    Err(remarks::malformed(at, message, help))
}
