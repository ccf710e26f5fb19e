//! Literals of C.

/// The type that a literal's suffix and size give it, on a machine with 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub long: bool,
    pub unsigned: bool,
}

/// The value of an integer as it is written, and its type. `None` if it is no integer or too large.
pub(crate) fn number(text: &str) -> Option<(i128, Literal)> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let unsigned_suffix = match suffix.matches('u').count() {
        0 => false,
        1 => true,
        _ => return None,
    };
    let long_suffix = match suffix.matches('l').count() {
        0 => false,
        1 | 2 => true,
        _ => return None,
    };
    let (base, digits) = if let Some(digits) = digits.strip_prefix("0x") {
        (16, digits)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        (2, digits)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let value = u64::from_str_radix(digits, base).ok()?;
    Some((
        i128::from(value),
        typed(value, base == 10, unsigned_suffix, long_suffix)?,
    ))
}

/// The first type that a value fits, as the standard lists them.
fn typed(value: u64, decimal: bool, unsigned: bool, long: bool) -> Option<Literal> {
    let fits = |literal: &Literal| {
        let bits = if literal.long { 64 } else { 32 } - u32::from(!literal.unsigned);
        bits == 64 || value >> bits == 0
    };
    let mut candidates = Vec::new();
    for is_long in [false, true] {
        for is_unsigned in [false, true] {
            let allowed = (is_long || !long)
                && (is_unsigned || !unsigned)
                && (!is_unsigned || unsigned || !decimal);
            if allowed {
                candidates.push(Literal {
                    long: is_long,
                    unsigned: is_unsigned,
                });
            }
        }
    }
    candidates.into_iter().find(fits)
}

/// The value of a character as it is written.
pub(crate) fn character(text: &str) -> Option<i128> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut characters = inner.chars();
    let first = characters.next()?;
    if first != '\\' {
        return match characters.next() {
            None if first.is_ascii() => Some(i128::from(u32::from(first))),
            _ => None,
        };
    }
    let rest = characters.as_str();
    let simple = match rest {
        "n" => 10,
        "t" => 9,
        "r" => 13,
        "a" => 7,
        "b" => 8,
        "f" => 12,
        "v" => 11,
        "\\" => 92,
        "'" => 39,
        "\"" => 34,
        "?" => 63,
        _ => -1,
    };
    if simple >= 0 {
        return Some(simple);
    }
    let value = match rest.strip_prefix('x') {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => i64::from_str_radix(rest, 8).ok()?,
    };
    // A character is signed here, as it is on most machines.
    match value {
        0..=127 => Some(i128::from(value)),
        128..=255 => Some(i128::from(value - 256)),
        _ => None,
    }
}
