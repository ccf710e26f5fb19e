//! The integration tests of the crate, built as one program: linking one for each file takes longer than running them.

mod exclusion;
mod family;
mod graph;
mod influence;
mod instances;
mod interpreted;
mod lowering;
mod machine;
mod optimise;
mod semantics;
mod symmetry;
mod witness;
