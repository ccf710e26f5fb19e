//! Placeholder documentation, written with the crate.
