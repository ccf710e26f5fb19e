//! Sets of states from diagrams in one layout to diagrams in another.
//!
//! Cell by cell in the old order: the set divided by the cell's values, each part brought over, and put
//! together again under the new codes.

use std::collections::HashMap;

use threadwise_model::system::CellId;

use crate::diagrams::Bdd;
use crate::{Error, Symbolic};

pub(crate) fn transfer(from: &Symbolic, set: &Bdd, to: &Symbolic) -> Result<Bdd, Error> {
    let mut cells = vec![None; from.encoding.variables as usize];
    for (cell, code) in from.encoding.cells.iter_enumerated() {
        for var in code.vars(false) {
            cells[var as usize] = Some(cell);
        }
    }
    let mut transfer = Transfer {
        from,
        to,
        cells,
        known: HashMap::new(),
    };
    let all = transfer.run(set)?;
    // Where every code stood for a value, the set need not have looked at the cell; with other classes there may be
    // codes now that stand for none.
    Ok(to.diagrams.and(&all, &to.valid)?)
}

struct Transfer<'a, 's> {
    from: &'a Symbolic<'s>,
    to: &'a Symbolic<'s>,
    /// The cell of each old variable.
    cells: Vec<Option<CellId>>,
    known: HashMap<Bdd, Bdd>,
}

impl Transfer<'_, '_> {
    fn run(&mut self, set: &Bdd) -> Result<Bdd, Error> {
        let d = &self.to.diagrams;
        let Some((var, ..)) = self.from.diagrams.top(set) else {
            return Ok(d.constant(!self.from.diagrams.is_empty(set)));
        };
        if let Some(known) = self.known.get(set) {
            return Ok(known.clone());
        }
        let cell = self.cells[var as usize].ok_or(Error::Internal("not a set of states"))?;
        let parts = self.from.split(set, cell);
        let mut result = d.none();
        for (value, code) in self.from.encoding.cells[cell].codes() {
            let part = self.run(&parts[*code])?;
            let new = self.to.encoding.cells[cell]
                .code(*value)
                .ok_or(Error::Internal("layouts of different systems"))?;
            let here = self.to.encoding.code(d, cell, new, false)?;
            result = d.or(&result, &d.and(&here, &part)?)?;
        }
        self.known.insert(set.clone(), result.clone());
        Ok(result)
    }
}
