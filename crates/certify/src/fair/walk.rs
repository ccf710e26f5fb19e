//! Moves of the product by walks through decision graphs.
//!
//! Bits come first in the order of levels, each with its value in the state after right below it. So to go from a set of states after to
//! what may come before, as far as the bits are concerned, is work on the topmost levels: the bits of the set are moved to those of the state
//! after, the demands are joined, and the bits after are left open. Done once for a set, this leaves a formula over the program's state
//! after a move and the bits *before*, and the moves are those of the program alone, which write no bits.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use threadwise_evidence::dag::{Child, Dag};

use crate::Error;
use crate::encode::Encoder;
use crate::fair::judge::Reach;
use crate::fair::product::{Move, Region, Set};
use crate::fair::shape::Product;
use crate::logic::{Lit, Logic};
use crate::ordered::{Mixed, Ordered, Run, Written};
use crate::walk;

/// Sets that are too large together with all others are not joined.
const MOST_JOINED: usize = 2_000;

/// What a move writes, as constants, with the condition for each combination.
type Constants = Rc<[(Lit, Vec<Written>)]>;

/// The product as ordered decision graphs.
pub(crate) struct Walks<'a> {
    product: &'a Product,
    /// The level of the first bit, and the first one below all bits.
    first: u32,
    end: u32,
    /// That the demands of the bits are met.
    demands: Lit,
    /// What can come before each set of states, as far as bits are concerned; with the levels that are tested.
    before: HashMap<Lit, (Lit, Rc<HashSet<u32, Mixed>>)>,
    /// For each move what it writes, as constants.
    constants: Vec<Option<Constants>>,
}

impl<'a> Reach<'a> for Walks<'a> {
    type Logic = Ordered<'a>;

    fn new(
        product: &'a Product,
        graphs: &[(&Dag, &[usize])],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Ordered<'a>>, Walks<'a>), Error> {
        let system = &product.system;
        let (tested, _) = walk::order(system.cells, graphs.iter().copied());
        let bits = product.bits().zip(product.bits_after());
        let mut order: Vec<usize> = bits.flat_map(|(bit, after)| [bit, after]).collect();
        order.extend(product.last);
        let mut listed = vec![false; system.cells];
        order.iter().for_each(|cell| listed[*cell] = true);
        for cell in tested.into_iter().chain(0..product.program) {
            if !std::mem::replace(&mut listed[cell], true) {
                order.push(cell);
            }
        }
        let levels = walk::levels(system, order.into_iter())?;
        let choices = walk::choices(system);
        let first = choices.len() as u32;
        let mut encoder = Encoder::new(system, Ordered::new(&choices, &levels, cancel))?;
        let demands = product.demands(&mut encoder)?;
        let walks = Walks {
            product,
            first,
            end: first + 2 * product.bits().len() as u32,
            demands,
            before: HashMap::new(),
            constants: Vec::new(),
        };
        Ok((encoder, walks))
    }

    fn graph(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        dag: &Dag,
        cells: &[usize],
    ) -> Result<Lit, Error> {
        let leaf = |child: Child| Lit::of(child == Child::TRUE);
        let mut nodes: Vec<Lit> = Vec::with_capacity(dag.len());
        for node in dag.nodes() {
            encoder.logic.go_on()?;
            let level = encoder.logic.cell_level(cells[node.cell]);
            let mut to = 0;
            let runs = node.runs.iter().map(|run| {
                // The cell has no more values than a level can.
                to += run.count as u32;
                let child = run.child.node().map_or(leaf(run.child), |at| nodes[at]);
                (to, child)
            });
            let runs: Vec<Run> = runs.collect();
            let below = |(_, child): &Run| encoder.logic.level(*child) > level;
            let lit = if runs.iter().all(below) {
                encoder.logic.test(level, runs)
            } else {
                // The graph tests cells in another order, as it may, and bits anywhere.
                let mut from = 0;
                let mut parts = Vec::with_capacity(runs.len());
                let size = runs.last().map_or(0, |(to, _)| *to);
                for (to, child) in runs {
                    let mut is: Vec<Run> = vec![(from, Lit::FALSE), (to, Lit::TRUE)];
                    is.push((size, Lit::FALSE));
                    is.dedup_by_key(|(to, _)| *to);
                    is.retain(|(to, _)| *to > 0);
                    let is = encoder.logic.test(level, is);
                    parts.push(encoder.logic.and(is, child));
                    from = to;
                }
                encoder.logic.any(parts)
            };
            nodes.push(lit);
        }
        let root = dag.root();
        Ok(root.node().map_or(leaf(root), |at| nodes[at]))
    }

    fn joined(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        sets: &[Lit],
    ) -> Result<Option<Lit>, Error> {
        if let [only] = sets {
            return Ok(Some(*only));
        }
        let joined = encoder.logic.join(sets.to_vec(), MOST_JOINED)?;
        Ok(match *joined {
            [] => Some(Lit::TRUE),
            [only] => Some(only),
            _ => None,
        })
    }

    fn reaches(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        (number, choice): (usize, &Move<'a>),
        from: &[Lit],
        to: &Region,
        _: &[Set<'a>],
    ) -> Result<bool, Error> {
        let (before, tested) = self.before(encoder, to.lit)?;
        let [first, rest @ ..] = from else {
            return Ok(false);
        };
        if before == Lit::FALSE || *first == Lit::FALSE {
            return Ok(false);
        }
        for (when, constants) in self.constants(encoder, number, choice)?.iter() {
            let when = rest
                .iter()
                .fold(*when, |all, lit| encoder.logic.and(all, *lit));
            if when == Lit::FALSE {
                continue;
            }
            // What is not tested does not matter.
            let constants: Vec<Written> = constants
                .iter()
                .filter(|(level, _)| tested.contains(level))
                .copied()
                .collect();
            let found = if constants.is_empty() {
                // The state is the same before and after, and so is the formula for many moves.
                let both = encoder.logic.and(*first, before);
                encoder.logic.meets(both, when, Lit::TRUE, &[])?
            } else {
                encoder.logic.meets(*first, when, before, &constants)?
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn solution(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        (number, choice): (usize, &Move<'a>),
        from: &[Lit],
        to: &Region,
        _: &[Set<'a>],
    ) -> Result<Option<Vec<i64>>, Error> {
        // The state before first, then the bits after, which go with it and the state after.
        let (before, _) = self.before(encoder, to.lit)?;
        let from = encoder.logic.all(from.to_vec());
        for (when, constants) in self.constants(encoder, number, choice)?.iter() {
            if !encoder.logic.meet(from, *when, before, constants)? {
                continue;
            }
            let mut found = encoder.solution();
            let choices: Vec<i64> = choice
                .choices
                .iter()
                .map(|choice| choice.solution(&encoder.logic))
                .collect();
            let mut after: Vec<Lit> = Vec::new();
            let before = found[..self.product.bits_after().start].iter();
            for (cell, value) in before.enumerate() {
                let level = encoder.logic.cell_level(cell);
                let written = constants.iter().find(|(written, _)| *written == level);
                let value = match written {
                    Some((_, position)) => encoder.cells[cell].lo + i64::from(*position),
                    None => *value,
                };
                after.push(encoder.cell_is(cell, value));
            }
            let there = self.moved(encoder, to.lit);
            after.extend([there, self.demands]);
            if !encoder.logic.satisfiable(&after, &[Lit::TRUE])? {
                return Ok(None);
            }
            let bits = self.product.bits_after();
            let solution = encoder.solution();
            found[bits.clone()].copy_from_slice(&solution[bits]);
            found.extend(choices);
            return Ok(Some(found));
        }
        Ok(None)
    }
}

impl<'a> Walks<'a> {
    /// A set of states with its bits in the places of those after.
    fn moved(&self, encoder: &mut Encoder<'a, Ordered<'a>>, set: Lit) -> Lit {
        let make =
            |logic: &mut Ordered<'a>, level: u32, runs: Vec<Run>| logic.test(level + 1, runs);
        let logic = &mut encoder.logic;
        logic.rebuild(set, self.end, &mut HashMap::new(), &make)
    }

    /// What can come before a set of states, as far as bits are concerned: the bits are those before, the rest is that after.
    fn before(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        set: Lit,
    ) -> Result<(Lit, Rc<HashSet<u32, Mixed>>), Error> {
        if let Some((before, tested)) = self.before.get(&set) {
            return Ok((*before, Rc::clone(tested)));
        }
        let there = self.moved(encoder, set);
        let met = encoder.logic.and(there, self.demands);
        let first = self.first;
        let open = |logic: &mut Ordered<'a>, level: u32, runs: Vec<Run>| {
            if (level - first).is_multiple_of(2) {
                logic.test(level, runs)
            } else {
                logic.any(runs.into_iter().map(|(_, child)| child).collect())
            }
        };
        let logic = &mut encoder.logic;
        let before = logic.rebuild(met, self.end, &mut HashMap::new(), &open);
        logic.go_on()?;
        let tested = Rc::new(logic.tested(before));
        self.before.insert(set, (before, Rc::clone(&tested)));
        Ok((before, tested))
    }

    /// What a move writes, as constants, with the condition for each combination.
    fn constants(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        number: usize,
        choice: &Move<'a>,
    ) -> Result<Constants, Error> {
        if self.constants.len() <= number {
            self.constants.resize(number + 1, None);
        }
        if let Some(known) = &self.constants[number] {
            return Ok(Rc::clone(known));
        }
        let writes = choice.writes.iter().copied();
        let found: Constants = walk::constants(encoder, choice.when, writes)?.into();
        self.constants[number] = Some(Rc::clone(&found));
        Ok(found)
    }
}
