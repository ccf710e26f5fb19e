//! Messages about C programs: a refusal is what a function gives instead of its result.

use crate::front::remarks;

pub(crate) use crate::front::remarks::Parsed as Built;
pub(crate) use crate::front::source::{At, Sources};

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
