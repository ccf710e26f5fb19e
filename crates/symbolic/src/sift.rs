//! Sifting (Rudell, ICCAD 1993): a better order of variables for a set, by moving one group of them at
//! a time through all places and leaving it at the best.
//!
//! A group is the bits of a cell, which stay together. The library's diagrams are not touched: the set is copied
//! into a plain table, where neighbouring variables are swapped; the result is an order to build new
//! diagrams in. So running out of memory half way harms nothing, and the work is bounded by a budget that grows
//! with the set.

use std::collections::HashMap;

use oxidd::VarNo;
use rustc_hash::FxHashMap;
use threadwise_model::system::CellId;

use crate::diagrams::{Bdd, Diagrams};
use crate::encoding::Encoding;

/// Node visits allowed for each node of the set.
const EFFORT: usize = 300;
/// A group is not moved on when the table has grown by this factor over the best size seen.
const GROWTH: f64 = 1.2;
/// An order is worth building anew if the set shrinks below this part.
const WORTHWHILE: f64 = 0.75;

/// An order of cells in which a set takes clearly fewer nodes, if there is one.
pub(crate) fn sift(diagrams: &Diagrams, encoding: &Encoding, set: &Bdd) -> Option<Vec<CellId>> {
    let cells = encoding.order();
    let mut table = Table::new(diagrams, encoding, &cells, set);
    let before = table.size;
    let groups: Vec<CellId> = cells
        .iter()
        .copied()
        .filter(|cell| encoding.cells[*cell].vars(false).next().is_some())
        .collect();
    let widths = groups
        .iter()
        .map(|cell| encoding.cells[*cell].vars(false).count())
        .collect();
    let mut sifter = Sifter {
        effort: before.saturating_mul(EFFORT),
        order: (0..groups.len()).collect(),
        widths,
        table: &mut table,
    };
    sifter.run();
    let order = sifter.order;
    if (table.size as f64) > before as f64 * WORTHWHILE {
        return None;
    }
    let without_bits = cells
        .iter()
        .copied()
        .filter(|cell| encoding.cells[*cell].vars(false).next().is_none());
    Some(
        without_bits
            .chain(order.into_iter().map(|group| groups[group]))
            .collect(),
    )
}

struct Sifter<'a> {
    table: &'a mut Table,
    /// The groups by place.
    order: Vec<usize>,
    /// The number of variables of each group.
    widths: Vec<usize>,
    effort: usize,
}

impl Sifter<'_> {
    fn run(&mut self) {
        let mut largest: Vec<(usize, usize)> = Vec::new();
        let mut level = 0;
        for (place, group) in self.order.iter().enumerate() {
            let levels = level..level + self.widths[*group];
            level = levels.end;
            largest.push((levels.map(|level| self.table.at(level)).sum(), place));
        }
        largest.sort_unstable_by_key(|(nodes, place)| (std::cmp::Reverse(*nodes), *place));
        let groups: Vec<usize> = largest
            .into_iter()
            .map(|(_, place)| self.order[place])
            .collect();
        for group in groups {
            if self.effort == 0 {
                return;
            }
            self.sift_one(group);
        }
    }

    /// Moves a group down and up, and back to the best place seen.
    fn sift_one(&mut self, group: usize) {
        let last = self.order.len() - 1;
        let Some(start) = self.order.iter().position(|other| *other == group) else {
            return;
        };
        let mut place = start;
        let mut best = (self.table.size, start);
        let down_first = last - start < start;
        for down in [down_first, !down_first] {
            while if down { place < last } else { place > 0 } {
                if down {
                    self.swap(place);
                    place += 1;
                } else {
                    self.swap(place - 1);
                    place -= 1;
                }
                best = best.min((self.table.size, place));
                if self.table.size as f64 > best.0 as f64 * GROWTH || self.effort == 0 {
                    break;
                }
            }
            // The other direction begins where this one did, or passes it.
        }
        while place < best.1 {
            self.swap(place);
            place += 1;
        }
        while place > best.1 {
            self.swap(place - 1);
            place -= 1;
        }
    }

    /// Swaps the groups at a place and the next.
    fn swap(&mut self, place: usize) {
        let first: usize = self.order[..place].iter().map(|g| self.widths[*g]).sum();
        let (above, below) = (
            self.widths[self.order[place]],
            self.widths[self.order[place + 1]],
        );
        // The lowest variable of the upper group sinks first.
        for variable in (0..above).rev() {
            for step in 0..below {
                let visits = self.table.swap(first + variable + step);
                self.effort = self.effort.saturating_sub(visits + 1);
            }
        }
        self.order.swap(place, place + 1);
    }
}

type NodeId = u32;
const FALSE: NodeId = 0;
const TRUE: NodeId = 1;

#[derive(Clone, Copy)]
struct Node {
    var: u32,
    lo: NodeId,
    hi: NodeId,
    /// How many nodes point here; the root has one more.
    parents: u32,
}

/// A decision diagram without complemented edges, in which variables can be swapped.
struct Table {
    nodes: Vec<Node>,
    /// The nodes of each variable by their children.
    unique: Vec<FxHashMap<(NodeId, NodeId), NodeId>>,
    /// The variable at each level.
    vars: Vec<u32>,
    /// Places in `nodes` to use again.
    free: Vec<NodeId>,
    size: usize,
}

impl Table {
    fn new(diagrams: &Diagrams, encoding: &Encoding, cells: &[CellId], set: &Bdd) -> Self {
        let vars: Vec<VarNo> = cells
            .iter()
            .flat_map(|cell| encoding.cells[*cell].vars(false))
            .collect();
        let mut copier = Copier {
            table: Table::empty(vars.len()),
            diagrams,
            numbers: vars.into_iter().zip(0..).collect(),
            known: HashMap::new(),
        };
        let root = copier.copy(set);
        copier.table.nodes[root as usize].parents += 1;
        copier.table
    }

    fn empty(vars: usize) -> Self {
        let constant = Node {
            var: u32::MAX,
            lo: FALSE,
            hi: FALSE,
            parents: 1,
        };
        Table {
            nodes: vec![constant, constant],
            unique: vec![FxHashMap::default(); vars],
            vars: (0..vars as u32).collect(),
            free: Vec::new(),
            size: 0,
        }
    }

    fn at(&self, level: usize) -> usize {
        self.unique[self.vars[level] as usize].len()
    }

    fn node(&mut self, var: u32, lo: NodeId, hi: NodeId) -> NodeId {
        if lo == hi {
            return lo;
        }
        if let Some(node) = self.unique[var as usize].get(&(lo, hi)) {
            return *node;
        }
        let new = Node {
            var,
            lo,
            hi,
            parents: 0,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = new;
                id
            }
            None => {
                self.nodes.push(new);
                (self.nodes.len() - 1) as NodeId
            }
        };
        self.unique[var as usize].insert((lo, hi), id);
        self.nodes[lo as usize].parents += 1;
        self.nodes[hi as usize].parents += 1;
        self.size += 1;
        id
    }

    /// Takes away one parent; nodes without any are removed.
    fn release(&mut self, id: NodeId) {
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            let node = &mut self.nodes[id as usize];
            node.parents -= 1;
            if node.parents == 0 {
                let node = *node;
                self.unique[node.var as usize].remove(&(node.lo, node.hi));
                self.free.push(id);
                self.size -= 1;
                waiting.extend([node.lo, node.hi]);
            }
        }
    }

    /// Swaps the variable at a level with the one below; returns how many nodes were looked at.
    fn swap(&mut self, level: usize) -> usize {
        let (upper, lower) = (self.vars[level], self.vars[level + 1]);
        self.vars.swap(level, level + 1);
        let old = std::mem::take(&mut self.unique[upper as usize]);
        let visits = old.len();
        let mut crossing = Vec::new();
        for (children, id) in old {
            let looks = |child: NodeId| self.nodes[child as usize].var == lower;
            if looks(children.0) || looks(children.1) {
                crossing.push((children, id));
            } else {
                self.unique[upper as usize].insert(children, id);
            }
        }
        for ((lo, hi), id) in crossing {
            let parts = |table: &Table, child: NodeId| {
                let node = table.nodes[child as usize];
                if node.var == lower {
                    (node.lo, node.hi)
                } else {
                    (child, child)
                }
            };
            let (lo_no, lo_yes) = parts(self, lo);
            let (hi_no, hi_yes) = parts(self, hi);
            let no = self.node(upper, lo_no, hi_no);
            self.nodes[no as usize].parents += 1;
            let yes = self.node(upper, lo_yes, hi_yes);
            self.nodes[yes as usize].parents += 1;
            let node = &mut self.nodes[id as usize];
            (node.var, node.lo, node.hi) = (lower, no, yes);
            self.unique[lower as usize].insert((no, yes), id);
            self.release(lo);
            self.release(hi);
        }
        visits
    }
}

/// Copies a diagram into a table.
struct Copier<'a> {
    table: Table,
    diagrams: &'a Diagrams<'a>,
    /// The table's numbers of the variables.
    numbers: HashMap<VarNo, u32>,
    known: HashMap<Bdd, NodeId>,
}

impl Copier<'_> {
    fn copy(&mut self, set: &Bdd) -> NodeId {
        let Some((var, no, yes)) = self.diagrams.top(set) else {
            return if self.diagrams.is_empty(set) {
                FALSE
            } else {
                TRUE
            };
        };
        if let Some(node) = self.known.get(set) {
            return *node;
        }
        let lo = self.copy(&no);
        let hi = self.copy(&yes);
        let node = self.table.node(self.numbers[&var], lo, hi);
        self.known.insert(set.clone(), node);
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x0 = x3, x1 = x4, x2 = x5`: exponential in this order, linear with each pair together.
    fn pairs() -> Table {
        let mut table = Table::empty(6);
        let root = build(&mut table, 0, 0);
        table.nodes[root as usize].parents += 1;
        table
    }

    fn build(table: &mut Table, level: u32, bits: u32) -> NodeId {
        if level == 6 {
            return NodeId::from(bits & 7 == bits >> 3);
        }
        let lo = build(table, level + 1, bits);
        let hi = build(table, level + 1, bits | 1 << level);
        table.node(level, lo, hi)
    }

    fn holds(table: &Table, bits: u32) -> bool {
        let root = (2..table.nodes.len())
            .find(|id| {
                let id = *id as NodeId;
                !table.free.contains(&id) && table.nodes[id as usize].var == table.vars[0]
            })
            .expect("a root");
        let mut at = root as NodeId;
        while at > TRUE {
            let node = table.nodes[at as usize];
            at = if bits >> node.var & 1 == 1 {
                node.hi
            } else {
                node.lo
            };
        }
        at == TRUE
    }

    #[test]
    fn pairs_come_together() {
        let mut table = pairs();
        let before = table.size;
        let mut sifter = Sifter {
            order: (0..6).collect(),
            widths: vec![1; 6],
            effort: 10_000,
            table: &mut table,
        };
        sifter.run();
        let order = sifter.order;
        assert_eq!(before, 21);
        assert_eq!(table.size, 9);
        assert_eq!(
            table.vars,
            order.iter().map(|g| *g as u32).collect::<Vec<_>>()
        );
        for bits in 0..64 {
            assert_eq!(holds(&table, bits), bits & 7 == bits >> 3, "{bits:06b}");
        }
    }

    #[test]
    fn groups_of_several_variables_move_together() {
        let mut table = pairs();
        let mut sifter = Sifter {
            order: (0..3).collect(),
            widths: vec![2, 1, 3],
            effort: 10_000,
            table: &mut table,
        };
        sifter.swap(0);
        sifter.swap(1);
        assert_eq!(sifter.order, [1, 2, 0]);
        assert_eq!(table.vars, [2, 3, 4, 5, 0, 1]);
        for bits in 0..64 {
            assert_eq!(holds(&table, bits), bits & 7 == bits >> 3, "{bits:06b}");
        }
    }
}
