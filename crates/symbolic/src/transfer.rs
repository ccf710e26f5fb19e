//! Sets of states from diagrams in one layout to diagrams in another, or from one process to another.
//!
//! Cell by cell in the old order: the set divided by the cell's values, each part brought over, and put
//! together again under the new cell and codes. Under a permutation most cells stay as they are: above the first that moves only
//! the way down is walked, and what is below the last is left alone, so that swapping neighbours costs no more than what is
//! between them.

use std::collections::HashMap;

use index_vec::IndexVec;
use oxidd::VarNo;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{CellDomain, CellId};

use crate::diagrams::Bdd;
use crate::{Error, Symbolic};

pub(crate) fn transfer(from: &Symbolic, set: &Bdd, to: &Symbolic) -> Result<Bdd, Error> {
    let all = Transfer::new(from, to, None).run(set)?;
    // Where every code stood for a value, the set need not have looked at the cell; with other classes there may be
    // codes now that stand for none.
    Ok(to.diagrams.and(&all, &to.valid)?)
}

/// The image of a set under a permutation of processes, which the layout must respect.
pub(crate) fn permute(symbolic: &Symbolic, set: &Bdd, by: &Permutation) -> Result<Bdd, Error> {
    Transfer::new(symbolic, symbolic, Some(Moved::new(symbolic, by))).run(set)
}

/// Where a permutation takes cells.
struct Moved<'a> {
    by: &'a Permutation,
    cells: IndexVec<CellId, (CellId, CellDomain)>,
    /// The cells that stay where they are with all their values as they are.
    still: IndexVec<CellId, bool>,
    /// Sets that look at no variable before this one stay as they are.
    end: VarNo,
}

impl<'a> Moved<'a> {
    fn new(symbolic: &Symbolic, by: &'a Permutation) -> Self {
        let cells = by.cells(symbolic.system);
        let mut still = IndexVec::with_capacity(cells.len());
        let mut end = 0;
        for (cell, (to, domain)) in cells.iter_enumerated() {
            let code = &symbolic.encoding.cells[cell];
            let stays = cell == *to
                && code
                    .codes()
                    .iter()
                    .all(|(value, _)| by.value(symbolic.system, *domain, *value) == *value);
            if !stays {
                end = code.vars(false).last().map_or(end, |var| end.max(var + 1));
            }
            still.push(stays);
        }
        Moved {
            by,
            cells,
            still,
            end,
        }
    }
}

struct Transfer<'a, 's> {
    from: &'a Symbolic<'s>,
    to: &'a Symbolic<'s>,
    moved: Option<Moved<'a>>,
    /// The cell of each old variable.
    cells: Vec<Option<CellId>>,
    known: HashMap<Bdd, Bdd>,
}

impl<'a, 's> Transfer<'a, 's> {
    fn new(from: &'a Symbolic<'s>, to: &'a Symbolic<'s>, moved: Option<Moved<'a>>) -> Self {
        Transfer {
            from,
            to,
            moved,
            cells: from.encoding.cells_of_vars(),
            known: HashMap::new(),
        }
    }

    fn run(&mut self, set: &Bdd) -> Result<Bdd, Error> {
        let d = &self.to.diagrams;
        let Some((var, no, yes)) = self.from.diagrams.top(set) else {
            return Ok(d.constant(!self.from.diagrams.is_empty(set)));
        };
        if self.moved.as_ref().is_some_and(|moved| var >= moved.end) {
            return Ok(set.clone());
        }
        if let Some(known) = self.known.get(set) {
            return Ok(known.clone());
        }
        let cell = self.cells[var as usize].ok_or(Error::Internal("not a set of states"))?;
        if self.moved.as_ref().is_some_and(|moved| moved.still[cell]) {
            let (no, yes) = (self.run(&no)?, self.run(&yes)?);
            let result = d.ite(&d.literal(var, true)?, &yes, &no)?;
            self.known.insert(set.clone(), result.clone());
            return Ok(result);
        }
        let parts = self.from.split(set, cell);
        let to = match &self.moved {
            Some(moved) => moved.cells[cell].0,
            None => cell,
        };
        let vars: Vec<u32> = self.to.encoding.cells[to].vars(false).collect();
        let mut images = vec![d.none(); 1 << vars.len()];
        for (value, code) in self.from.encoding.cells[cell].codes() {
            let part = self.run(&parts[*code])?;
            let value = match &self.moved {
                Some(moved) => moved
                    .by
                    .value(self.from.system, moved.cells[cell].1, *value),
                None => *value,
            };
            let new = self.to.encoding.cells[to]
                .code(value)
                .ok_or(Error::Internal("a value without a code"))?;
            images[new] = part;
        }
        // Put together bit by bit, the last first: a cell can have as many values as there are processes.
        for var in vars.into_iter().rev() {
            let bit = d.literal(var, true)?;
            let mut halves = Vec::with_capacity(images.len() / 2);
            for pair in images.chunks_exact(2) {
                halves.push(match pair {
                    [no, yes] if no == yes => no.clone(),
                    [no, yes] => d.ite(&bit, yes, no)?,
                    _ => return Err(Error::Internal("an odd number of codes")),
                });
            }
            images = halves;
        }
        let result = images.swap_remove(0);
        self.known.insert(set.clone(), result.clone());
        Ok(result)
    }
}
