//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod dot;
mod hoa;
mod readers;
mod spin;
mod symbolic;

/// A directory for files.
fn scratch(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
