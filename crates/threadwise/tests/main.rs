//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod architecture;
mod diagnostics;
mod families;
mod session;
mod stopping;
mod turns;
mod walk;
