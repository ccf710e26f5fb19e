//! The conditions by walks through decision graphs.
//!
//! Graphs of a certificate that test cells in one order, as engines write them, need not become clauses. Guards and
//! values become decision graphs in the same order (`ordered`), and a step leads out of the set if some state is in
//! the graph of the set, in that of the guard and, with the written constants put in, not in the graph of the
//! set: a walk through the three of them together finds it. Values that are written are split into
//! constants before. So the time is bounded by products of sizes, where a solver may search.
//!
//! Guards can have no small graph in the set's order. Then this gives up, and the solver is asked.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::certificate::cell_values;
use threadwise_evidence::dag::{Child, Dag};
use threadwise_model::system::System;

use crate::Error;
use crate::encode::Encoder;
use crate::logic::{Input, Lit, Logic};
use crate::ordered::{Ordered, Written};
use crate::parts::Part;
use crate::procedure::Procedure;
use crate::step::Case;
use crate::value::{MAX_VALUES, Value};

/// How many combinations of written values of one case are gone through.
const MOST_CONSTANTS: usize = 1 << 16;

/// The parts of a claim as ordered decision graphs.
pub(crate) struct Walk<'a> {
    parts: &'a [Part<'a>],
    sets: Vec<Lit>,
}

/// The cells that graphs test, of so many, in an order in which every way tests them; and whether there is one. Otherwise some ways do.
/// With each graph come the cells that its own are.
pub(crate) fn order<'d>(
    cells: usize,
    graphs: impl IntoIterator<Item = (&'d Dag, &'d [usize])>,
) -> (Vec<usize>, bool) {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); cells];
    let mut left: BTreeSet<usize> = BTreeSet::new();
    for (dag, cells) in graphs {
        for node in dag.nodes() {
            let cell = cells[node.cell];
            left.insert(cell);
            for child in node.runs.iter().filter_map(|run| run.child.node()) {
                let next = cells[dag.node(child).cell];
                // Neighbouring nodes say the same again and again.
                if below[cell].last() != Some(&next) {
                    below[cell].push(next);
                }
            }
        }
    }
    let mut above = vec![0usize; cells];
    for cells in &mut below {
        cells.sort_unstable();
        cells.dedup();
        cells.iter().for_each(|cell| above[*cell] += 1);
    }
    // Whatever has nothing above it any more comes next, the first of the system first.
    let ready = left.iter().copied();
    let mut ready: BTreeSet<usize> = ready.filter(|cell| above[*cell] == 0).collect();
    let mut order = Vec::with_capacity(left.len());
    let mut whole = true;
    while let Some(cell) = ready.pop_first().or_else(|| {
        whole &= left.is_empty();
        left.first().copied()
    }) {
        order.push(cell);
        left.remove(&cell);
        for next in &below[cell] {
            above[*next] = above[*next].saturating_sub(1);
            if above[*next] == 0 && left.contains(next) {
                ready.insert(*next);
            }
        }
    }
    (order, whole)
}

/// Cells of a system as levels, each with its number of values.
pub(crate) fn levels(
    system: &System,
    cells: impl Iterator<Item = usize>,
) -> Result<Vec<(usize, u32)>, Error> {
    let values = cell_values(system);
    let level = |cell: usize| match values[cell] {
        Some((_, size)) if size > MAX_VALUES as u64 => Err(Error::unsupported(format!(
            "a variable has more than {MAX_VALUES} values"
        ))),
        Some((_, size)) if size > 0 => Ok((cell, size as u32)),
        _ => Err(Error::unsupported("a variable is not finite")),
    };
    cells.map(level).collect()
}

/// The choices of all steps, each with its number of values.
pub(crate) fn choices(system: &System) -> Vec<(Input, u32)> {
    let mut inputs = BTreeMap::new();
    let steps = system.templates.iter().flat_map(|template| &template.steps);
    for step in steps.flatten() {
        for (number, (lo, hi)) in step.choices.iter().enumerate() {
            let size = i128::from(*hi) - i128::from(*lo) + 1;
            if (1..=MAX_VALUES as i128).contains(&size) {
                inputs.insert(Input::Choice(number, *lo, *hi), size as u32);
            }
        }
    }
    inputs.into_iter().collect()
}

impl<'a> Procedure<'a> for Walk<'a> {
    type Logic = Ordered<'a>;

    fn new(
        system: &'a System,
        parts: &'a [Part<'a>],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Ordered<'a>>, Walk<'a>), Error> {
        let graphs = parts.iter().map(|part| (part.dag, &*part.cells));
        let (order, true) = order(system.cells, graphs) else {
            return Err(Error::unsupported("the graphs test cells in no one order"));
        };
        let mut tested = vec![false; system.cells];
        order.iter().for_each(|cell| tested[*cell] = true);
        let others = (0..system.cells).filter(|cell| !tested[*cell]);
        let levels = levels(system, order.into_iter().chain(others))?;
        let ordered = Ordered::new(&choices(system), &levels, cancel);
        let mut encoder = Encoder::new(system, ordered)?;
        let leaf = |child: Child| Lit::of(child == Child::TRUE);
        let mut sets = Vec::with_capacity(parts.len());
        for Part { dag, cells, .. } in parts {
            let mut nodes: Vec<Lit> = Vec::with_capacity(dag.len());
            for node in dag.nodes() {
                encoder.logic.go_on()?;
                let mut to = 0;
                let runs = node.runs.iter().map(|run| {
                    // The cell has no more values than a level can.
                    to += run.count as u32;
                    let child = run.child.node().map_or(leaf(run.child), |at| nodes[at]);
                    (to, child)
                });
                let level = encoder.logic.cell_level(cells[node.cell]);
                let lit = encoder.logic.test(level, runs);
                nodes.push(lit);
            }
            let root = dag.root();
            sets.push(root.node().map_or(leaf(root), |at| nodes[at]));
        }
        encoder.logic.go_on()?;
        Ok((encoder, Walk { parts, sets }))
    }

    fn inside(&self, part: usize) -> Lit {
        self.sets[part]
    }

    fn outside(&self, part: usize) -> Lit {
        !self.sets[part]
    }

    fn leaves(
        &mut self,
        encoder: &mut Encoder<'a, Ordered<'a>>,
        when: &[Lit],
        within: &[usize],
        part: usize,
        case: &Case,
    ) -> Result<bool, Error> {
        let set = self.sets[part];
        let mut when = encoder.logic.all([when, &[case.when]].concat());
        // One after the other: what a process's step is taken within is the same for many parts, and then known.
        for other in within.iter().filter(|other| **other != part) {
            when = encoder.logic.and(when, self.sets[*other]);
        }
        // What is written to a cell that is not tested does not matter.
        let tested = &self.parts[part].tested;
        let writes = case.writes.iter().copied();
        let writes = writes.filter(|(cell, _)| tested.binary_search(cell).is_ok());
        for (when, constants) in constants(encoder, when, writes)? {
            if encoder.logic.meet(set, when, !set, &constants)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What is written to some cells, as constants, with the condition for each combination. Values outside a cell's type are
/// left out.
pub(crate) fn constants(
    encoder: &mut Encoder<'_, Ordered<'_>>,
    when: Lit,
    writes: impl IntoIterator<Item = (usize, Value)>,
) -> Result<Vec<(Lit, Vec<Written>)>, Error> {
    let mut combinations = vec![(when, Vec::new())];
    let mut writes: Vec<(u32, usize, Value)> = writes
        .into_iter()
        .map(|(cell, value)| (encoder.logic.cell_level(cell), cell, value))
        .collect();
    writes.sort_unstable_by_key(|(level, ..)| *level);
    for (level, cell, value) in writes {
        let (lo, size) = (encoder.cells[cell].lo, encoder.cells[cell].size());
        let mut next = Vec::new();
        for (value, lit) in encoder.values.items(value).iter() {
            let position = usize::try_from(i128::from(*value) - i128::from(lo));
            let Some(position) = position.ok().filter(|position| *position < size) else {
                continue;
            };
            for (when, constants) in &combinations {
                let when = encoder.logic.and(*when, *lit);
                if when == Lit::FALSE {
                    continue;
                }
                let mut constants: Vec<Written> = constants.clone();
                constants.push((level, position as u32));
                next.push((when, constants));
            }
        }
        if next.len() > MOST_CONSTANTS {
            return Err(Error::unsupported("a step writes too many values at once"));
        }
        combinations = next;
    }
    encoder.logic.go_on()?;
    Ok(combinations)
}
