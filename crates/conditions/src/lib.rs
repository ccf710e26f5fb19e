//! The conditions of certificates as SMT-LIB, for those who trust another solver more than the checker's own ways to decide them.
//!
//! [`smtlib`] writes those of an inductive set and [`smtlib_family`] those of a claim about all values of the parameters. Nothing here decides anything: what is
//! accepted is accepted by `threadwise-certify`, which knows nothing of this.

mod family;
mod safety;

pub use family::smtlib_family;
pub use safety::smtlib;
