//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod engines;
mod explain;
mod horn;
mod lia;
mod missing;
