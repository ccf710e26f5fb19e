//! Which shared variables the processes and a property need, and which of them only one process needs.
//!
//! Methods that look at one process at a time pay for every shared variable in every process. Two kinds of shared cells need not be shared:
//! one that a single process reads and writes and the property does not mention is that process's *own*, whatever the program calls it; and one on which neither a
//! guard nor a check nor the property depends, directly or through what is written to other cells, is *unneeded*. The cells that are needed
//! change in the same way whatever the unneeded ones are, so leaving these out adds no run and drops none.
//!
//! From the optimised steps, cell by cell where an index is known. Over-approximates what is needed: nothing is missing.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;

use crate::optimise::{Footprint, Optimised, Region, region};
use crate::symmetry::Permutation;
use crate::system::{CellId, Clause, ProcessId, Scope, System, SystemProperty, SystemPropertyKind};

/// Who reads or writes a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touched {
    Nobody,
    By(ProcessId),
    BySeveral,
}

/// What depends on what in a system.
#[derive(Clone, Debug)]
pub struct Influence<'s> {
    system: &'s System,
    touched: IndexVec<CellId, Touched>,
    /// What guards and checks read.
    control: BTreeSet<Region>,
    /// What is written, and what is read for it.
    flows: BTreeSet<(Region, BTreeSet<Region>)>,
}

/// Shared cells that need not be shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Globals {
    /// Cells of one process, with the process.
    pub own: BTreeMap<CellId, ProcessId>,
    /// Cells that nothing depends on.
    pub unneeded: BTreeSet<CellId>,
}

impl<'s> Influence<'s> {
    /// Looks at all steps.
    pub fn new(optimised: &Optimised<'s>) -> Self {
        let system = optimised.system();
        let mut influence = Influence {
            system,
            touched: index_vec::index_vec![Touched::Nobody; system.cells],
            control: BTreeSet::new(),
            flows: BTreeSet::new(),
        };
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let own = system.index_of(process);
            let mut regions: BTreeSet<Region> = BTreeSet::new();
            for step in optimised.steps_of(process).iter().flatten() {
                let footprint = Footprint::of(system, step, process);
                regions.extend(footprint.reads.iter().chain(&footprint.writes));
                let mut control = Footprint::default();
                for clause in &step.clauses {
                    match clause {
                        Clause::Guard(guard) => control.read(system, guard, own),
                        Clause::Check(check) => control.read(system, &check.holds, own),
                    }
                }
                influence.control.append(&mut control.reads);
                for update in &step.updates {
                    let mut flow = Footprint::default();
                    flow.read(system, &update.value, own);
                    flow.read_indices(system, &update.cell, own);
                    let to = region(system, &update.cell, own);
                    influence.flows.insert((to, flow.reads));
                }
            }
            for cell in regions.iter().flat_map(|region| region.cells(system)) {
                let touched = &mut influence.touched[cell];
                *touched = match *touched {
                    Touched::Nobody => Touched::By(process),
                    Touched::By(other) if other == process => Touched::By(other),
                    _ => Touched::BySeveral,
                };
            }
        }
        influence
    }

    /// The shared cells that need not be shared for a property. Symmetries that are made use of, if any, map them onto each other.
    pub fn globals(&self, property: &SystemProperty, symmetries: &[Permutation]) -> Globals {
        let system = self.system;
        let images: Vec<_> = symmetries
            .iter()
            .map(|symmetry| (symmetry, symmetry.cells(system)))
            .collect();
        let mut mentioned = Footprint::default();
        if let SystemPropertyKind::Invariant(invariant) = &property.kind {
            mentioned.read(system, invariant, 0);
        }
        let mentioned: BTreeSet<CellId> = mentioned
            .reads
            .iter()
            .flat_map(|region| region.cells(system))
            .collect();
        let mut needed = mentioned.clone();
        needed.extend(self.control.iter().flat_map(|region| region.cells(system)));
        loop {
            let mut more: BTreeSet<CellId> = BTreeSet::new();
            for (to, from) in &self.flows {
                if to.cells(system).any(|cell| needed.contains(&cell)) {
                    more.extend(from.iter().flat_map(|region| region.cells(system)));
                }
            }
            for (_, images) in &images {
                more.extend(needed.iter().map(|cell| images[*cell].0));
            }
            let before = needed.len();
            needed.append(&mut more);
            if needed.len() == before {
                break;
            }
        }
        let shared: Vec<CellId> = system
            .vars
            .iter_enumerated()
            .filter(|(_, var)| var.scope == Scope::Shared)
            .flat_map(|(id, var)| (0..var.len).map(move |offset| system.cell(id, 0, offset)))
            .collect();
        let mut globals = Globals::default();
        for cell in shared {
            if !needed.contains(&cell) {
                globals.unneeded.insert(cell);
            } else if let Touched::By(process) = self.touched[cell]
                && !mentioned.contains(&cell)
            {
                globals.own.insert(cell, process);
            }
        }
        loop {
            let before = globals.own.clone();
            globals.own.retain(|cell, process| {
                images.iter().all(|(symmetry, images)| {
                    let image = symmetry.process(system, *process);
                    before.get(&images[*cell].0) == Some(&image)
                })
            });
            if globals.own == before {
                return globals;
            }
        }
    }
}
