//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod library;
mod limits;
mod random;
mod reference;
