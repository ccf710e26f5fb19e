//! What the tests of both front ends share.

pub mod golden;

use std::path::{Path, PathBuf};

/// A directory for files.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
