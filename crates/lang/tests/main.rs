//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod expressions;
mod format;
mod hostile;
mod invariants;
mod mistakes;
mod mutations;
mod names;
mod print;
mod rounds;
mod validate;
mod words;
