//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod c_programs;
mod common;
mod from_c;
mod from_promela;
