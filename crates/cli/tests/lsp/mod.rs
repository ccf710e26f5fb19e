//! The language server, driven over its protocol as an editor does: the real binary on its standard streams.

mod checking;
mod client;
mod fuzz;
mod grammar;
mod renames;
mod requests;
mod speed;
mod stream;
