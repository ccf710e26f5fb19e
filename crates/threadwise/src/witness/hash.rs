//! SHA-256, by which a witness names the file that it is about, and UUIDs made of it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The hash of some bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A UUID that is determined by some bytes: version 8 of RFC 9562, which is for such.
pub(crate) fn uuid(bytes: &[u8]) -> String {
    let mut bytes = digest(bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes[..16].iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
