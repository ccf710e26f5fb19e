//! The tokens of C as the preprocessor reads them, and the headers that it knows.

use super::types::DataModel;
use crate::front::preprocess::{Definitions, Dialect, Kind, Token};
use crate::front::remarks::{Parsed, malformed};
use crate::front::source::At;

/// Headers whose names the front end knows.
const HEADERS: &[&str] = &[
    "pthread.h",
    "stdatomic.h",
    "assert.h",
    "stdlib.h",
    "stdio.h",
    "stdbool.h",
    "limits.h",
    "stdint.h",
    "inttypes.h",
    "semaphore.h",
    "string.h",
    "unistd.h",
    "errno.h",
    "stddef.h",
    "sched.h",
    "time.h",
    "sys/types.h",
    "threads.h",
    "math.h",
    "signal.h",
    "stdarg.h",
];

/// Macros of a compiler on Linux, as far as programs ask for them, and macros of the known headers.
const DEFINED: Definitions = &[
    ("NULL", "((void*)0)"),
    ("INT_MAX", "2147483647"),
    ("INT_MIN", "(-2147483647-1)"),
    ("UINT_MAX", "4294967295U"),
    ("LLONG_MAX", "9223372036854775807LL"),
    ("LLONG_MIN", "(-9223372036854775807LL-1)"),
    ("CHAR_MAX", "127"),
    ("CHAR_MIN", "(-128)"),
    ("SCHAR_MAX", "127"),
    ("SCHAR_MIN", "(-128)"),
    ("UCHAR_MAX", "255"),
    ("CHAR_BIT", "8"),
    ("SHRT_MAX", "32767"),
    ("SHRT_MIN", "(-32768)"),
    ("USHRT_MAX", "65535"),
    ("INT8_MAX", "127"),
    ("INT8_MIN", "(-128)"),
    ("UINT8_MAX", "255"),
    ("INT16_MAX", "32767"),
    ("INT16_MIN", "(-32768)"),
    ("UINT16_MAX", "65535"),
    ("INT32_MAX", "2147483647"),
    ("INT32_MIN", "(-2147483647-1)"),
    ("UINT32_MAX", "4294967295U"),
    ("EXIT_SUCCESS", "0"),
    ("EXIT_FAILURE", "1"),
    ("ATOMIC_FLAG_INIT", "0"),
    ("EBUSY", "16"),
    ("EAGAIN", "11"),
    ("EINVAL", "22"),
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201112L"),
    ("__STDC_HOSTED__", "1"),
    ("__GNUC__", "12"),
    ("__GNUC_MINOR__", "2"),
    ("__GNUC_PATCHLEVEL__", "0"),
    ("__linux__", "1"),
    ("__linux", "1"),
    ("__gnu_linux__", "1"),
    ("__unix__", "1"),
    ("__unix", "1"),
    ("__ELF__", "1"),
    ("__CHAR_BIT__", "8"),
    ("__SIZEOF_SHORT__", "2"),
    ("__SIZEOF_INT__", "4"),
    ("__SIZEOF_LONG_LONG__", "8"),
    ("__SIZEOF_WCHAR_T__", "4"),
    ("__SCHAR_MAX__", "127"),
    ("__SHRT_MAX__", "32767"),
    ("__INT_MAX__", "2147483647"),
    ("__LONG_LONG_MAX__", "9223372036854775807LL"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "1234"),
    ("ATOMIC_BOOL_LOCK_FREE", "2"),
    ("ATOMIC_CHAR_LOCK_FREE", "2"),
    ("ATOMIC_SHORT_LOCK_FREE", "2"),
    ("ATOMIC_INT_LOCK_FREE", "2"),
    ("ATOMIC_LONG_LOCK_FREE", "2"),
    ("ATOMIC_LLONG_LOCK_FREE", "2"),
    ("ATOMIC_POINTER_LOCK_FREE", "2"),
    ("__ATOMIC_RELAXED", "0"),
    ("__ATOMIC_CONSUME", "1"),
    ("__ATOMIC_ACQUIRE", "2"),
    ("__ATOMIC_RELEASE", "3"),
    ("__ATOMIC_ACQ_REL", "4"),
    ("__ATOMIC_SEQ_CST", "5"),
    ("memory_order_relaxed", "0"),
    ("memory_order_consume", "1"),
    ("memory_order_acquire", "2"),
    ("memory_order_release", "3"),
    ("memory_order_acq_rel", "4"),
    ("memory_order_seq_cst", "5"),
    ("ATOMIC_VAR_INIT(x)", "(x)"),
];

/// Those of a machine with 64 bits.
const OF_LP64: Definitions = &[
    ("__x86_64__", "1"),
    ("__x86_64", "1"),
    ("__amd64__", "1"),
    ("__amd64", "1"),
    ("__LP64__", "1"),
    ("_LP64", "1"),
    ("__SSE2__", "1"),
    ("__SIZEOF_INT128__", "16"),
    ("LONG_MAX", "9223372036854775807L"),
    ("LONG_MIN", "(-9223372036854775807L-1)"),
    ("INT64_MAX", "9223372036854775807L"),
    ("__SIZEOF_LONG__", "8"),
    ("__SIZEOF_POINTER__", "8"),
    ("__SIZEOF_SIZE_T__", "8"),
    ("__SIZEOF_PTRDIFF_T__", "8"),
    ("__LONG_MAX__", "9223372036854775807L"),
];

/// Those of a machine with 32 bits.
const OF_ILP32: Definitions = &[
    ("__i386__", "1"),
    ("__i386", "1"),
    ("__ILP32__", "1"),
    ("_ILP32", "1"),
    ("LONG_MAX", "2147483647L"),
    ("LONG_MIN", "(-2147483647L-1)"),
    ("INT64_MAX", "9223372036854775807LL"),
    ("__SIZEOF_LONG__", "4"),
    ("__SIZEOF_POINTER__", "4"),
    ("__SIZEOF_SIZE_T__", "4"),
    ("__SIZEOF_PTRDIFF_T__", "4"),
    ("__LONG_MAX__", "2147483647L"),
    ("ULONG_MAX", "4294967295UL"),
    ("SIZE_MAX", "4294967295U"),
];

/// Names that the front end knows the meaning of, and that are macros of `pthread.h`.
const OF_PTHREAD: Definitions = &[
    ("PTHREAD_MUTEX_INITIALIZER", "PTHREAD_MUTEX_INITIALIZER"),
    ("PTHREAD_COND_INITIALIZER", "PTHREAD_COND_INITIALIZER"),
    ("PTHREAD_RWLOCK_INITIALIZER", "PTHREAD_RWLOCK_INITIALIZER"),
    ("PTHREAD_ONCE_INIT", "PTHREAD_ONCE_INIT"),
    ("PTHREAD_BARRIER_SERIAL_THREAD", "(-1)"),
    ("PTHREAD_PROCESS_PRIVATE", "0"),
    ("PTHREAD_PROCESS_SHARED", "1"),
];

/// Numbers of errors that functions give. `errno` itself is not known.
const OF_ERRNO: Definitions = &[
    ("EPERM", "1"),
    ("ESRCH", "3"),
    ("EINTR", "4"),
    ("ENOMEM", "12"),
    ("EDEADLK", "35"),
    ("EOVERFLOW", "75"),
    ("ETIMEDOUT", "110"),
];

/// The language of the preprocessor.
pub(crate) const fn dialect(model: DataModel) -> Dialect {
    Dialect {
        tokens,
        defined: match model {
            DataModel::Lp64 => &[DEFINED, OF_LP64],
            DataModel::Ilp32 => &[DEFINED, OF_ILP32],
        },
        header: |name, is_defined| match name {
            "stdbool.h" => Some(&[("bool", "_Bool"), ("true", "1"), ("false", "0")]),
            "assert.h" if is_defined("NDEBUG") => Some(&[("assert(condition)", "((void)0)")]),
            "assert.h" => Some(&[("assert", "assert")]),
            "pthread.h" => Some(OF_PTHREAD),
            "errno.h" => Some(OF_ERRNO),
            "semaphore.h" => Some(&[("SEM_VALUE_MAX", "2147483647")]),
            "stdlib.h" => Some(&[("RAND_MAX", "2147483647")]),
            "stdio.h" => Some(&[("EOF", "(-1)")]),
            _ => HEADERS.contains(&name).then_some(&[]),
        },
        unknown_header: "remove it if nothing of it is used, or include a file of your own with what is needed",
    }
}

const SIGNS: &[&str] = &[
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##",
];

/// Splits a text into tokens. Comments are white space; a backslash at the end of a line joins it to the next.
fn tokens(text: &str, file: u32) -> Parsed<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut first, mut spaced) = (0, true, false);
    let place = |start: usize, end: usize| At {
        file,
        start: start as u32,
        end: end as u32,
    };
    while at < bytes.len() {
        let rest = &text[at..];
        let byte = bytes[at];
        if byte == b'\n' {
            (first, spaced) = (true, true);
            at += 1;
        } else if byte.is_ascii_whitespace() {
            spaced = true;
            at += 1;
        } else if let Some(joined) = splice(rest) {
            at += joined;
        } else if rest.starts_with("//") {
            at += line_end(rest);
            spaced = true;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(end) => at += end + 4,
                None => {
                    let help = "end the comment with `*/`";
                    return Err(malformed(
                        place(at, at + 2),
                        "this comment does not end",
                        help,
                    ));
                }
            }
            spaced = true;
        } else {
            let (kind, length) = one(rest);
            let written = &rest[..length];
            let joined = written.replace("\\\r\n", "").replace("\\\n", "");
            found.push(Token {
                first,
                spaced,
                ..Token::new(kind, &joined, place(at, at + length))
            });
            (first, spaced) = (false, false);
            at += length;
        }
    }
    Ok(found)
}

/// The length of a backslash and the line break behind it.
fn splice(rest: &str) -> Option<usize> {
    if rest.starts_with("\\\n") {
        Some(2)
    } else if rest.starts_with("\\\r\n") {
        Some(3)
    } else {
        None
    }
}

/// Where a comment to the end of the line ends.
fn line_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'\n' {
        at += splice(rest.get(at..).unwrap_or("")).unwrap_or(1);
    }
    at.min(bytes.len())
}

/// The kind and length of the token that a text begins with.
fn one(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let byte = bytes[0];
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' {
        let length = bytes
            .iter()
            .take_while(|byte| word(byte) || **byte == b'$')
            .count();
        // A prefix of a text or a character.
        if matches!(&rest[..length], "L" | "u" | "U" | "u8") {
            match bytes.get(length) {
                Some(b'"') => return quoted(rest, length, Kind::Text),
                Some(b'\'') => return quoted(rest, length, Kind::Character),
                _ => {}
            }
        }
        return (Kind::Word, length);
    }
    if byte.is_ascii_digit() || (byte == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        let mut at = 0;
        while at < bytes.len() && (word(&bytes[at]) || bytes[at] == b'.') {
            let sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
            let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
            let exponent = match hexadecimal {
                true => matches!(bytes[at], b'p' | b'P'),
                false => matches!(bytes[at], b'e' | b'E' | b'p' | b'P'),
            };
            at += if sign && exponent { 2 } else { 1 };
        }
        return (Kind::Number, at);
    }
    match byte {
        b'"' => return quoted(rest, 0, Kind::Text),
        b'\'' => return quoted(rest, 0, Kind::Character),
        _ => {}
    }
    for sign in SIGNS {
        if rest.starts_with(sign) {
            return (Kind::Sign, sign.len());
        }
    }
    match byte.is_ascii_punctuation() && !matches!(byte, b'`' | b'@' | b'\\') {
        true => (Kind::Sign, 1),
        false => (Kind::Stray, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

/// A text or a character that opens at a position; it ends on its line.
fn quoted(rest: &str, open: usize, kind: Kind) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += splice(&rest[at..]).unwrap_or(2),
            byte if byte == bytes[open] => return (kind, at + 1),
            _ => at += 1,
        }
    }
    let line = rest.find('\n').unwrap_or(rest.len());
    (Kind::Stray, line)
}
