//! A set of states as a certificate: from a binary diagram over bits to a decision graph over named
//! cells with all their values.
//!
//! Values that are not encoded (locations that no step leads to, values outside the intervals)
//! are not in the set, so each cell that has such values is tested on every path, even where
//! the diagram does not look at it.

use std::collections::HashMap;

use threadwise_evidence::certificate::{builder, cell_values};
use threadwise_evidence::dag::{Builder, Child, Dag};
use threadwise_model::system::CellId;
use threadwise_symbolic::{Bdd, Symbolic};

/// The decision graph of a set of states; `None` if some cell cannot be part of a certificate.
pub(crate) fn graph(symbolic: &Symbolic, set: &Bdd) -> Option<Dag> {
    let mut writer = Writer {
        symbolic,
        builder: builder(symbolic.system)?,
        cells: symbolic.encoding.order(),
        values: cell_values(symbolic.system)
            .into_iter()
            .collect::<Option<Vec<(i64, u32)>>>()?,
        known: HashMap::new(),
    };
    let root = writer.write(set, 0)?;
    Some(writer.builder.finish(root))
}

struct Writer<'a, 's> {
    symbolic: &'a Symbolic<'s>,
    builder: Builder,
    /// In the order of the variables.
    cells: Vec<CellId>,
    /// The least value of each cell, and how many there are.
    values: Vec<(i64, u32)>,
    /// What was written: a function, from a place in the order on.
    known: HashMap<(Bdd, usize), Child>,
}

impl Writer<'_, '_> {
    fn write(&mut self, set: &Bdd, place: usize) -> Option<Child> {
        if self.symbolic.diagrams.is_empty(set) {
            return Some(Child::FALSE);
        }
        let Some(&cell) = self.cells.get(place) else {
            return Some(Child::TRUE);
        };
        let key = (set.clone(), place);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let code = &self.symbolic.encoding.cells[cell];
        let parts = self.symbolic.split(set, cell);
        // One part stands for all values if the diagram does not look at the cell.
        let same = match parts.as_slice() {
            [part] => Some(self.write(part, place + 1)?),
            _ => None,
        };
        let (lo, size) = self.values[cell.index()];
        let mut all = vec![Child::FALSE; size as usize];
        for (value, code) in code.codes() {
            all[(value - lo) as usize] = match same {
                Some(child) => child,
                None => self.write(&parts[*code], place + 1)?,
            };
        }
        let child = self.builder.node_of(cell.index(), all).ok()?;
        self.known.insert(key, child);
        Some(child)
    }
}
