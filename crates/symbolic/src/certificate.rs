//! A set of states as a certificate: from a binary diagram over bits to a decision graph over named
//! cells with all their values.
//!
//! Values that are not encoded (locations that no step leads to, values outside the intervals)
//! are not in the set, so each cell that has such values is tested on every path, even where
//! the diagram does not look at it. In a conjunction of sets one of them says so for each cell: the others do not
//! mention what they are not about.

use std::collections::{BTreeSet, HashMap};

use crate::{Bdd, Symbolic};
use threadwise_evidence::certificate::{cell_names, cell_values};
use threadwise_evidence::dag::{Builder, Child, Dag, Run};
use threadwise_model::system::{CellId, System};

/// The decision graph of a set of states; `None` if some cell cannot be part of a certificate. The diagrams may be those of a
/// system that has grown from this one, if the set says nothing of the new cells.
pub fn graph(symbolic: &Symbolic, system: &System, set: &Bdd) -> Option<Dag> {
    Names::of(symbolic)?.graph(set, |cell| cell.index() < system.cells)
}

/// The decision graphs of sets whose conjunction is meant, each over the cells that it is about.
pub fn graphs<'b>(
    symbolic: &Symbolic,
    sets: impl IntoIterator<Item = &'b Bdd>,
) -> Option<Vec<Dag>> {
    let d = &symbolic.diagrams;
    let names = Names::of(symbolic)?;
    let whose = symbolic.encoding.cells_of_vars();
    let mut mentioned: BTreeSet<CellId> = BTreeSet::new();
    let mut graphs = Vec::new();
    for set in sets {
        let vars = d.support(set).into_iter();
        let cells: BTreeSet<CellId> = vars.filter_map(|var| whose[var as usize]).collect();
        graphs.push(names.graph(set, |cell| cells.contains(&cell))?);
        mentioned.extend(cells);
    }
    for cell in symbolic.encoding.order() {
        if !mentioned.contains(&cell) {
            graphs.push(names.graph(&d.all(), |other| other == cell)?);
        }
    }
    // Most cells have codes for all values.
    graphs.retain(|graph| graph.root() != Child::TRUE);
    Some(graphs)
}

/// What is needed of a system to write graphs.
pub struct Names<'a, 's> {
    symbolic: &'a Symbolic<'s>,
    /// In the order of the variables.
    order: Vec<CellId>,
    /// The name of each cell.
    names: Vec<String>,
    /// The least value of each cell, and how many there are.
    values: Vec<(i64, u64)>,
}

impl<'a, 's> Names<'a, 's> {
    /// `None` if some cell cannot be part of a certificate.
    pub fn of(symbolic: &'a Symbolic<'s>) -> Option<Self> {
        let values = cell_values(symbolic.system).into_iter();
        Some(Names {
            symbolic,
            order: symbolic.encoding.order(),
            names: cell_names(symbolic.system),
            values: values.collect::<Option<_>>()?,
        })
    }

    /// The graph of a set over the cells that it depends on.
    pub fn about(&self, set: &Bdd) -> Option<Dag> {
        let whose = self.symbolic.encoding.cells_of_vars();
        let vars = self.symbolic.diagrams.support(set).into_iter();
        let cells: BTreeSet<CellId> = vars.filter_map(|var| whose[var as usize]).collect();
        self.graph(set, |cell| cells.contains(&cell))
    }

    /// The graph of a set that depends on some of the cells only.
    fn graph(&self, set: &Bdd, depends: impl Fn(CellId) -> bool) -> Option<Dag> {
        let order = self.order.iter().copied();
        let cells: Vec<CellId> = order.filter(|cell| depends(*cell)).collect();
        let mut listed = cells.clone();
        listed.sort_unstable();
        let named = listed.iter().map(|cell| {
            let (name, (_, size)) = (&self.names[cell.index()], self.values[cell.index()]);
            (name.clone(), size)
        });
        let mut writer = Writer {
            of: self,
            builder: Builder::new(named),
            cells,
            listed: &listed,
            known: HashMap::new(),
        };
        let root = writer.write(set, 0)?;
        Some(writer.builder.finish(root))
    }
}

struct Writer<'a, 's> {
    of: &'a Names<'a, 's>,
    builder: Builder,
    /// Those that are tested, in the order of the variables.
    cells: Vec<CellId>,
    /// The same in the order of the builder.
    listed: &'a [CellId],
    /// What was written: a function, from a place in the order on.
    known: HashMap<(Bdd, usize), Child>,
}

impl Writer<'_, '_> {
    fn write(&mut self, set: &Bdd, place: usize) -> Option<Child> {
        let Names {
            symbolic, values, ..
        } = self.of;
        if symbolic.diagrams.is_empty(set) {
            return Some(Child::FALSE);
        }
        let Some(&cell) = self.cells.get(place) else {
            return Some(Child::TRUE);
        };
        let key = (set.clone(), place);
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let code = &symbolic.encoding.cells[cell];
        let parts = symbolic.split(set, cell);
        // One part stands for all values if the diagram does not look at the cell.
        let same = match parts.as_slice() {
            [part] => Some(self.write(part, place + 1)?),
            _ => None,
        };
        let (lo, size) = values[cell.index()];
        // Between the values that have codes there can be very many that have none.
        let mut all = Vec::with_capacity(2 * code.codes().len() + 1);
        let mut next = 0;
        for (value, code) in code.codes() {
            let position = u64::try_from(i128::from(*value) - i128::from(lo)).ok()?;
            let child = match same {
                Some(child) => child,
                None => self.write(&parts[*code], place + 1)?,
            };
            let gap = position.checked_sub(next)?;
            all.push(run(gap, Child::FALSE));
            all.push(run(1, child));
            next = position + 1;
        }
        all.push(run(size.checked_sub(next)?, Child::FALSE));
        let listed = self.listed.binary_search(&cell).ok()?;
        let child = self.builder.node(listed, all).ok()?;
        self.known.insert(key, child);
        Some(child)
    }
}

fn run(count: u64, child: Child) -> Run {
    Run { count, child }
}
