//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod bench;
mod book;
mod check;
mod commands;
mod common;
mod documentation;
mod explore;
mod families;
mod horn;
mod hostile;
mod imports;
mod integrations;
mod limits;
mod liveness;
mod lsp;
mod packaging;
mod pages;
mod papers;
mod report;
mod shards;
