//! Engines for safety properties.
//!
//! [`Forward`] and [`Backward`] are the monolithic baselines: reachability over the whole program with
//! decision diagrams. They are complete for finite programs, and what every compositional
//! method is compared with. [`Split`] and [`Pairwise`] are compositional: assertions about one process or about two, whose
//! conjunction is inductive, refined until they decide the property. [`ThreadModular`] has cheaper assertions, which may not
//! suffice, and [`ThreadModularRefined`] refines them in the same way.

mod backward;
mod cartesian;
mod forward;
mod reach;
pub mod split;
mod target;

pub use backward::{BACKWARD, Backward};
pub use cartesian::{CARTESIAN, Cartesian, Exceptions};
pub use forward::{FORWARD, Forward};
pub use split::{
    Errors, Form, How, PAIRWISE, Pairwise, Predicates, SPLIT, Split, THREAD_MODULAR,
    THREAD_MODULAR_REFINED, ThreadModular, ThreadModularRefined,
};
