//! The decision graphs of a certificate, before and after a step, as clauses.
//!
//! Three kinds of variables, each with clauses in the one direction that is needed:
//! - `active(n)`: the way of the state before the step passes node n. An active node makes the
//!   child of the cell's value active, and false is never active: so "the root is active" says that the
//!   state is in the set.
//! - `holds(n)`: the state before, followed from n on, ends in true. So "not holds(n)" says
//!   that it ends in false.
//! - `active(n, w)`: the way of the state after the writes w passes n.
//!
//! The way of the state after goes with that of the state before until a written cell is tested, and
//! below the last test of a written cell it is decided by `holds`. Only in between are new
//! variables needed, and they depend on those writes alone that are tested above: steps of different processes
//! that write the same value to a shared variable have them in common. So the encoding of all
//! steps grows little faster than the graph, and what the solver learnt of one step serves the next.
//!
//! Graphs can be as deep as they have nodes, so nothing here recurses.

use std::collections::HashMap;

use threadwise_evidence::dag::{Child, Dag};
use threadwise_model::system::System;

use crate::Error;
use crate::encode::Encoder;
use crate::logic::{Lit, Logic};
use crate::parts::Part;
use crate::procedure::Procedure;
use crate::solver::Solver;
use crate::step::Case;
use crate::value::{Value, Writes};

/// The parts of a claim as clauses.
pub(crate) struct Graphs<'a>(Vec<Graph<'a>>);

/// A decision graph as clauses.
struct Graph<'a> {
    dag: &'a Dag,
    /// The cell of the system that each cell of the graph is.
    cells: &'a [usize],
    /// Whether a node can be reached from the root.
    reachable: Vec<bool>,
    active: Vec<Lit>,
    holds: Vec<Lit>,
    /// The parents of each node and the values that lead to it, as positions: `parents[first[n]..first[n + 1]]`.
    parents: Vec<Edge>,
    first: Vec<usize>,
    after: HashMap<(u32, u32), Lit>,
    writes: HashMap<Writes, u32>,
    /// For the step at hand: which written cells are tested above a node, and which at it or below.
    above: Vec<u64>,
    below: Vec<u64>,
    now: Vec<Lit>,
}

#[derive(Clone, Copy)]
struct Edge {
    parent: u32,
    from: u32,
    to: u32,
}

impl<'a> Graph<'a> {
    /// The graph over the cells of a system, and the clauses for the state before.
    fn over(
        encoder: &mut Encoder<'_, Solver<'_>>,
        dag: &'a Dag,
        cells: &'a [usize],
    ) -> Result<Graph<'a>, Error> {
        let len = dag.len();
        let mut reachable = vec![false; len];
        if let Some(root) = dag.root().node() {
            reachable[root] = true;
        }
        let mut first = vec![0usize; len + 1];
        for (position, node) in dag.nodes().enumerate().rev() {
            if !reachable[position] {
                continue;
            }
            for child in node.runs.iter().filter_map(|run| run.child.node()) {
                reachable[child] = true;
                first[child + 1] += 1;
            }
        }
        for position in 0..len {
            first[position + 1] += first[position];
        }
        let none = Edge {
            parent: 0,
            from: 0,
            to: 0,
        };
        let mut parents = vec![none; first[len]];
        let mut next = first.clone();
        for (position, node) in dag.nodes().enumerate().filter(|(at, _)| reachable[*at]) {
            let mut from = 0;
            for run in node.runs {
                // Cells with more values are not encoded.
                let to = from + run.count as u32;
                if let Some(child) = run.child.node() {
                    parents[next[child]] = Edge {
                        parent: position as u32,
                        from,
                        to,
                    };
                    next[child] += 1;
                }
                from = to;
            }
        }
        let mut graph = Graph {
            dag,
            cells,
            active: vec![Lit::FALSE; len],
            holds: vec![Lit::FALSE; len],
            reachable,
            parents,
            first,
            after: HashMap::new(),
            writes: HashMap::new(),
            above: vec![0; len],
            below: vec![0; len],
            now: vec![Lit::FALSE; len],
        };
        graph.before(encoder)?;
        Ok(graph)
    }

    fn before(&mut self, encoder: &mut Encoder<'_, Solver<'_>>) -> Result<(), Error> {
        for position in 0..self.dag.len() {
            if self.reachable[position] {
                self.active[position] = encoder.logic.new_lit();
                self.holds[position] = encoder.logic.new_lit();
            }
        }
        for (position, node) in self.dag.nodes().enumerate() {
            if !self.reachable[position] {
                continue;
            }
            encoder.logic.go_on()?;
            let (active, holds) = (self.active[position], self.holds[position]);
            // What the state before is known to pass, it ends in true from.
            encoder.logic.clause([!active, holds]);
            let cell = encoder.cells[self.cells[node.cell]].clone();
            let mut from = 0;
            for run in node.runs {
                let to = from + run.count as usize;
                let (least, greatest) = (cell.below(from), cell.at_most(to - 1));
                let (child_active, child_holds) = match run.child.node() {
                    Some(child) => (self.active[child], self.holds[child]),
                    None => {
                        let leaf = Lit::of(run.child == Child::TRUE);
                        (leaf, leaf)
                    }
                };
                let solver = &mut encoder.logic;
                solver.clause([!active, least, !greatest, child_active]);
                solver.clause([holds, least, !greatest, !child_holds]);
                from = to;
            }
        }
        Ok(())
    }

    /// A literal that says, of a state inside, that the state after these writes is not in the set.
    /// Written values outside the cell's type are left to the caller.
    fn after(
        &mut self,
        encoder: &mut Encoder<'_, Solver<'_>>,
        writes: &Writes,
    ) -> Result<Lit, Error> {
        let Some(root) = self.dag.root().node() else {
            return Ok(Lit::of(self.dag.root() == Child::FALSE));
        };
        let bits = self.mark(writes);
        if self.below[root] == 0 {
            // No written cell is tested: the state after is inside, as the one before is.
            return Ok(Lit::FALSE);
        }
        let written: HashMap<usize, Value> = writes.iter().copied().collect();
        let mut keys: HashMap<u64, u32> = HashMap::new();
        let leaves = encoder.logic.new_lit();
        // Parents come after their children, so this meets each node after all of its parents.
        for position in (0..self.dag.len()).rev() {
            if !self.reachable[position] || self.below[position] == 0 {
                continue;
            }
            encoder.logic.go_on()?;
            self.now[position] = if self.above[position] == 0 {
                self.active[position]
            } else {
                let mask = self.above[position];
                let key = *keys.entry(mask).or_insert_with(|| {
                    let relevant = |at: usize| bits.is_none_or(|bits| mask & bits[at] != 0);
                    let part = writes.iter().enumerate().filter(|(at, _)| relevant(*at));
                    let part: Writes = part.map(|(_, write)| *write).collect();
                    let next = self.writes.len() as u32;
                    *self.writes.entry(part).or_insert(next)
                });
                self.active_after(encoder, position, key, &written)
            };
            self.ends(encoder, position, &written, leaves);
        }
        Ok(leaves)
    }

    /// Finds out which written cells are tested above and below each node. Each write has a bit, if
    /// there are enough; otherwise all share one, which is returned as nothing.
    fn mark(&mut self, writes: &Writes) -> Option<&'static [u64; 64]> {
        static BITS: [u64; 64] = {
            let mut bits = [0; 64];
            let mut at = 0;
            while at < 64 {
                bits[at] = 1 << at;
                at += 1;
            }
            bits
        };
        let bits = (writes.len() <= 64).then_some(&BITS);
        let bit = |at: usize| bits.map_or(1, |bits| bits[at]);
        let mut of_cell: HashMap<usize, u64> = HashMap::new();
        for (at, (cell, _)) in writes.iter().enumerate() {
            of_cell.insert(*cell, bit(at));
        }
        let tested: Vec<u64> = self
            .cells
            .iter()
            .map(|cell| of_cell.get(cell).copied().unwrap_or(0))
            .collect();
        self.above.fill(0);
        for (position, node) in self.dag.nodes().enumerate() {
            let children = node.runs.iter().filter_map(|run| run.child.node());
            self.below[position] =
                children.fold(tested[node.cell], |bits, child| bits | self.below[child]);
        }
        for (position, node) in self.dag.nodes().enumerate().rev() {
            if !self.reachable[position] {
                continue;
            }
            let bits = self.above[position] | tested[node.cell];
            if bits != 0 {
                for child in node.runs.iter().filter_map(|run| run.child.node()) {
                    self.above[child] |= bits;
                }
            }
        }
        bits
    }

    /// That the way of the state after passes a node. All parents are done.
    fn active_after(
        &mut self,
        encoder: &mut Encoder<'_, Solver<'_>>,
        position: usize,
        key: u32,
        written: &HashMap<usize, Value>,
    ) -> Lit {
        if let Some(known) = self.after.get(&(position as u32, key)) {
            return *known;
        }
        let active = encoder.logic.new_lit();
        for at in self.first[position]..self.first[position + 1] {
            let Edge { parent, from, to } = self.parents[at];
            let parent = parent as usize;
            let cell = self.cells[self.dag.node(parent).cell];
            let value = written.get(&cell).copied();
            edge(
                encoder,
                (cell, value),
                (from as usize, to as usize),
                &[!self.now[parent], active],
            );
        }
        self.after.insert((position as u32, key), active);
        active
    }

    /// The edges of a node below which no written cell is tested: if the way of the state after takes one,
    /// the state before must end in false from there.
    fn ends(
        &self,
        encoder: &mut Encoder<'_, Solver<'_>>,
        position: usize,
        written: &HashMap<usize, Value>,
        leaves: Lit,
    ) {
        let node = self.dag.node(position);
        let cell = self.cells[node.cell];
        let value = written.get(&cell).copied();
        let mut from = 0;
        for run in node.runs {
            let to = from + run.count as usize;
            let ends_false = match run.child.node() {
                Some(child) if self.below[child] != 0 => Lit::TRUE,
                Some(child) => !self.holds[child],
                None => Lit::of(run.child == Child::FALSE),
            };
            if ends_false != Lit::TRUE {
                let clause = [!leaves, !self.now[position], ends_false];
                edge(encoder, (cell, value), (from, to), &clause);
            }
            from = to;
        }
    }

    fn inside(&self) -> Lit {
        match self.dag.root().node() {
            Some(root) => self.active[root],
            None => Lit::of(self.dag.root() == Child::TRUE),
        }
    }

    fn outside(&self) -> Lit {
        match self.dag.root().node() {
            Some(root) => !self.holds[root],
            None => Lit::of(self.dag.root() == Child::FALSE),
        }
    }
}

impl<'a> Procedure<'a> for Graphs<'a> {
    type Logic = Solver<'a>;

    fn new(
        system: &'a System,
        parts: &'a [Part<'a>],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Solver<'a>>, Graphs<'a>), Error> {
        let mut encoder = Encoder::new(system, Solver::new(cancel))?;
        let graphs = parts
            .iter()
            .map(|part| Graph::over(&mut encoder, part.dag, &part.cells))
            .collect::<Result<_, _>>()?;
        Ok((encoder, Graphs(graphs)))
    }

    fn inside(&self, part: usize) -> Lit {
        self.0[part].inside()
    }

    fn outside(&self, part: usize) -> Lit {
        self.0[part].outside()
    }

    fn leaves(
        &mut self,
        encoder: &mut Encoder<'a, Solver<'a>>,
        when: &[Lit],
        within: &[usize],
        part: usize,
        case: &Case,
    ) -> Result<bool, Error> {
        let leaves = self.0[part].after(encoder, &case.writes)?;
        if leaves == Lit::FALSE {
            return Ok(false);
        }
        let inside = |part: &usize| self.inside(*part);
        let mut assumptions: Vec<Lit> = within.iter().chain([&part]).map(inside).collect();
        assumptions.extend(when);
        assumptions.push(case.when);
        let found = encoder.logic.satisfiable(&assumptions, &[leaves])?;
        if !found {
            // The solver may forget what was said for this case alone.
            encoder.logic.clause([!leaves]);
        }
        Ok(found)
    }
}

/// Adds a clause under the condition that a cell, or what is written to it, has a value at one of
/// these positions.
fn edge(
    encoder: &mut Encoder<'_, Solver<'_>>,
    (cell, written): (usize, Option<Value>),
    (from, to): (usize, usize),
    clause: &[Lit],
) {
    let rest = clause.iter().copied();
    let finite = &encoder.cells[cell];
    match written {
        None => {
            let (least, greatest) = (finite.below(from), finite.at_most(to - 1));
            encoder.logic.clause(rest.chain([least, !greatest]));
        }
        Some(value) => {
            // Values may lie far outside the type; positions do not.
            let low = i128::from(finite.lo);
            let positions = low + from as i128..low + to as i128;
            for (value, lit) in encoder.values.items(value).iter() {
                if positions.contains(&i128::from(*value)) {
                    encoder.logic.clause(rest.clone().chain([!*lit]));
                }
            }
        }
    }
}
