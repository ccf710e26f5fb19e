//! Exposing who it is that something holds of.
//!
//! "Process i is at `critical`", exposed for every i, takes a bit for each process. Where it holds of one process at a time, it
//! is enough that everybody sees which one: a shared variable that names it, for any number of processes, and the assertion about i says
//! that the variable names i there. (Cohen and Namjoshi, "Local proofs for global safety properties", CAV 2007, Section 6, name
//! existential predicates, "there is at least one process in the critical region"; this is one with its witness.) If it
//! does hold of several at once the variable says no more, and the loop asks for the same predicate again. Then the
//! variable is given up, and the predicate itself is exposed.

use std::collections::BTreeSet;

use threadwise_model::layout::{locate, owners};
use threadwise_model::system::{CellId, System};
use threadwise_model::witness::{Watched, witnessed};
use threadwise_symbolic::{Bdd, Error, Hidden, Layout, Symbolic};

use super::outline::terms::Naming;
use super::refine::Predicate;

/// What witnesses there are for.
#[derive(Default)]
pub(super) struct Witnesses {
    /// Those that there are, in the order in which they came up.
    present: Vec<Watched>,
    /// Those that did not help.
    given_up: BTreeSet<Watched>,
}

/// What becomes of predicates.
pub(super) struct Sorted {
    /// Those that have to be exposed of every process.
    pub(super) others: BTreeSet<Predicate>,
    /// What has a witness now.
    pub(super) new: Vec<Watched>,
    /// What has none any more.
    pub(super) given_up: Vec<Watched>,
}

impl Sorted {
    /// What there is to tell about witnesses.
    pub(super) fn told(&self, system: &System) -> Vec<String> {
        let naming = Naming::plain(system);
        let new = self.new.iter();
        let new = new.map(|watched| format!("who is the {}", naming.somebody(*watched)));
        let old = self.given_up.iter();
        let old = old.map(|watched| {
            let somebody = naming.somebody(*watched);
            format!("no longer who is the {somebody}, which did not help")
        });
        new.chain(old).collect()
    }
}

impl Witnesses {
    /// Sorts predicates: some get a witness; who has one already did not get by with it.
    pub(super) fn sort(&mut self, system: &System, predicates: BTreeSet<Predicate>) -> Sorted {
        let before = self.present.clone();
        let mut others = BTreeSet::new();
        for (cell, value) in predicates {
            let watched = locate(system, cell).map(|(var, ..)| Watched { var, value });
            let watched = watched.filter(|watched| !self.given_up.contains(watched));
            match watched {
                Some(watched) if before.contains(&watched) => {
                    self.given_up.insert(watched);
                    others.insert((cell, value));
                }
                Some(watched) if self.present.contains(&watched) => {}
                Some(watched) if witnessed(system, watched, "").is_some() => {
                    self.present.push(watched);
                }
                _ => {
                    others.insert((cell, value));
                }
            }
        }
        let given_up = before.iter().filter(|old| self.given_up.contains(old));
        let sorted = Sorted {
            others,
            new: self.present[before.len()..].to_vec(),
            given_up: given_up.copied().collect(),
        };
        self.present
            .retain(|watched| !self.given_up.contains(watched));
        sorted
    }

    /// The system with all witnesses that there are.
    pub(super) fn system(&self, system: &System) -> Option<System> {
        let naming = Naming::plain(system);
        let mut present = self.present.iter();
        present.try_fold(system.clone(), |grown, watched| {
            witnessed(&grown, *watched, &naming.somebody(*watched))
        })
    }
}

/// The layout of a system that has grown: new cells come after those of no process.
pub(super) fn layout(layout: &Layout, system: &System, grown: &System) -> Layout {
    let mut layout = layout.clone();
    layout.order.retain(|cell| cell.index() < system.cells);
    let owners = owners(system);
    let owned = layout.order.iter().position(|cell| owners[*cell].is_some());
    let place = owned.unwrap_or(layout.order.len());
    let new = (system.cells..grown.cells).map(CellId::new);
    layout.order.splice(place..place, new);
    layout
}

/// A set of states of a system that has grown, as states of what it has grown from.
pub(super) fn forget(symbolic: &Symbolic, system: &System, set: &Bdd) -> Result<Bdd, Error> {
    let d = &symbolic.diagrams;
    let new = (system.cells..symbolic.system.cells).map(CellId::new);
    let vars = new.flat_map(|cell| symbolic.encoding.cells[cell].vars(false));
    Hidden::new(d, vars)?.forget(d, set)
}
