//! Engines for safety properties.
//!
//! [`Forward`] and [`Backward`] are the monolithic baselines: reachability over the whole program with
//! decision diagrams. They are complete for finite programs, and what every compositional
//! method is compared with. [`Split`] and [`Pairwise`] are compositional: assertions about one process or about two, whose
//! conjunction is inductive, refined until they decide the property. [`ThreadModular`] has cheaper assertions, which may not
//! suffice, and [`ThreadModularRefined`] refines them in the same way.

mod backward;
mod cartesian;
mod certificate;
mod forward;
mod reach;
mod split;
mod target;

/// What engines for other kinds of properties build on: searches with decision diagrams, split invariants, and their certificates.
pub mod foundation {
    pub use crate::certificate::{Names, graph, graphs};
    pub use crate::reach::{Grown, Halt, Search, room};
    pub use crate::split::{
        Assertions, Own, Representatives, Source, View, fact, split_invariant, split_outline,
        summary,
    };
}

pub use backward::Backward;
pub use cartesian::{Cartesian, Exceptions};
pub use forward::Forward;
pub use split::{Errors, Form, Pairwise, Predicates, Split, ThreadModular, ThreadModularRefined};
