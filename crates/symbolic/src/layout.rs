//! In which order cells become variables, and which facts about them stand apart.
//!
//! The natural order keeps together what is tested together: first the shared cells that many
//! processes touch, then process by process: its own cells, the array cells that are
//! indexed by it, and shared cells that only it and few others touch (the read and write sets of the steps tell).
//! Other arrays of which the state says which cell is touched are spread over the processes: a choice between cells that all stand
//! above the one that chooses takes a number of nodes exponential in theirs. Sifting may find a better order.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use threadwise_lang::program::TemplateId;
use threadwise_model::layout::array_owner;
use threadwise_model::system::{CellId, ProcessId, Scope, System, VarId};

use crate::schedule::Touches;

/// Where cells stand among the variables.
#[derive(Clone, Debug)]
pub struct Layout {
    /// All cells, in the order of their variables.
    pub order: Vec<CellId>,
    /// Cells whose values are divided into classes. Values that are in no class make up one of their own.
    pub classes: BTreeMap<CellId, Vec<Vec<i64>>>,
}

impl Layout {
    /// Whether everybody sees that a cell has a value: it is in a class alone.
    pub fn exposes(&self, cell: CellId, value: i64) -> bool {
        let classes = self.classes.get(&cell);
        classes.is_some_and(|classes| classes.iter().any(|class| *class == [value]))
    }

    /// The natural order, without classes.
    pub(crate) fn natural(system: &System, touches: &Touches) -> Self {
        /// Cells of no process first, then process by process with its own cells before the shared ones.
        type Key = (Option<ProcessId>, bool, CellId);
        let process = |template: TemplateId, index: u32| {
            ProcessId::from_raw(system.templates[template].first.raw() + index)
        };
        let mut keys: Vec<Key> = Vec::new();
        for (id, var) in system.vars.iter_enumerated() {
            match var.scope {
                Scope::Shared => {
                    for offset in 0..var.len {
                        let owner = array_owner(&var.dims, offset)
                            .map(|(template, index)| process(template, index))
                            .or_else(|| touches.few(id, offset)?.first().copied())
                            .or_else(|| {
                                let spread = var.len > 1 && touches.anywhere(id);
                                spread.then(|| evenly(offset, var.len, system.processes()))
                            });
                        keys.push((owner, true, system.cell(id, 0, offset)));
                    }
                }
                Scope::Local(template) => {
                    for index in 0..system.templates[template].count {
                        let owner = Some(process(template, index));
                        for offset in 0..var.len {
                            keys.push((owner, false, system.cell(id, index, offset)));
                        }
                    }
                }
            }
        }
        keys.sort_unstable();
        Layout {
            order: keys.into_iter().map(|(_, _, cell)| cell).collect(),
            classes: BTreeMap::new(),
        }
    }
}

/// The process beside which a cell of an array stands when all are spread over so many processes.
fn evenly(offset: u32, len: u32, processes: u32) -> ProcessId {
    let place = u64::from(offset) * u64::from(processes) / u64::from(len);
    ProcessId::from_raw(place as u32)
}

/// The variable of each cell, with the index of the process whose it is (0 for a shared one).
pub(crate) fn owners(system: &System) -> IndexVec<CellId, Option<(VarId, u32)>> {
    let mut owners = index_vec::index_vec![None; system.cells];
    for (id, var) in system.vars.iter_enumerated() {
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => system.templates[template].count,
        };
        for index in 0..copies {
            for offset in 0..var.len {
                owners[system.cell(id, index, offset)] = Some((id, index));
            }
        }
    }
    owners
}
