//! The language server, driven over its protocol as an editor does: the real binary on its standard streams.

#[path = "../common/mod.rs"]
mod common;

mod checking;
mod client;
mod fuzz;
mod grammar;
mod renames;
mod requests;
mod speed;
mod stream;
