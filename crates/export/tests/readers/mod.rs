//! Readers of what the exports write, written from the definitions of the languages and not
//! from the exports: each says which states there are and which properties are violated.

pub mod blif;
pub mod smv;

/// What a reader found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub states: u64,
    /// For each property, in order, whether it is violated.
    pub violated: Vec<bool>,
}
