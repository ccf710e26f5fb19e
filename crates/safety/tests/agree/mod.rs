//! The engines for safety against the explicit one.

mod cartesian;
mod common;
mod exceptions;
mod form;
mod monolithic;
mod outline;
mod pairwise;
mod renaming;
mod split;
mod sweep;
mod thread_modular;
