//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod causes;
mod common;
mod lassos;
mod reasons;
mod traces;
