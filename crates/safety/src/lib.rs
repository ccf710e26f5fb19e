//! Engines for safety properties.
//!
//! [`Forward`] and [`Backward`] are the monolithic baselines: reachability over the whole program with
//! decision diagrams. They are complete for finite programs, and what every compositional
//! method is compared with.

mod backward;
mod certificate;
mod forward;
mod reach;
mod split;
mod target;

pub use backward::Backward;
pub use forward::Forward;
pub use split::Split;
