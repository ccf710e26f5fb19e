//! Engines for liveness properties under fairness.
//!
//! [`Monolithic`] looks for a fair cycle in the product of the whole program and the automaton of the negated property. [`Local`] looks at
//! one process at a time, against a summary of the others.

mod abstraction;
mod closed;
mod concrete;
mod decide;
mod explain;
mod exposure;
mod fair;
mod lasso;
mod local;
mod monolithic;
mod orbits;
mod product;
mod seen;
mod vacuity;

pub use local::{FAIR_LOCAL_A, FAIR_LOCAL_B, LOCAL, Local, Variant};
pub use monolithic::{MONOLITHIC, Monolithic};
pub use threadwise_evidence::Exposed;
