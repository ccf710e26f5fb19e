//! The engines for liveness against the explicit oracle: on random programs with random fairness, and on the model library.

mod common;
mod economy;
mod library;
mod random;
