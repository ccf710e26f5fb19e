//! The states of a claimed set, listed: a decision graph read with all values of the cells that it leaves open.
//!
//! Nothing here decides: whoever goes through the states that are listed shows of *them* that they are closed and that the property holds, so a state too many or too few
//! here leads to a certificate that is refused, never to one that is accepted wrongly.

use threadwise_evidence::certificate::cell_values;
use threadwise_evidence::dag::{Child, Dag};
use threadwise_model::system::System;

use crate::Error;
use crate::space::too_many;

/// The most values of cells that are kept.
const MOST_KEPT: usize = 10_000_000;
/// The most nodes that are met while states are listed.
const MOST_VISITS: u64 = 4_000_000;

/// A state: the value of every cell.
pub(crate) type Cells = Box<[i64]>;

/// The least value of each cell, and how many there are.
pub(crate) type Domains = [(i64, u64)];

/// The values of the cells of a system, which must be finitely many.
pub(crate) fn domains(system: &System) -> Result<Vec<(i64, u64)>, Error> {
    let all: Option<Vec<(i64, u64)>> = cell_values(system).into_iter().collect();
    all.ok_or_else(|| Error::unsupported("a variable is not finite"))
}

/// A decision graph in a form in which children are found fast.
pub(crate) struct Graph {
    root: Child,
    /// The cell of the system that each node tests, and where its runs end.
    nodes: Vec<(usize, usize)>,
    /// The position after the last one of each run.
    ends: Vec<u64>,
    children: Vec<Child>,
}

impl Graph {
    /// A decision graph, with the cells of the system that its own are.
    pub(crate) fn new(dag: &Dag, cells: &[usize]) -> Graph {
        let mut graph = Graph {
            root: dag.root(),
            nodes: Vec::with_capacity(dag.len()),
            ends: Vec::new(),
            children: Vec::new(),
        };
        for node in dag.nodes() {
            let mut end = 0u64;
            for run in node.runs {
                end = end.saturating_add(run.count);
                graph.ends.push(end);
                graph.children.push(run.child);
            }
            graph.nodes.push((cells[node.cell], graph.ends.len()));
        }
        graph
    }

    /// Where the runs of a node are.
    fn runs(&self, node: usize) -> std::ops::Range<usize> {
        let begin = node.checked_sub(1).map_or(0, |before| self.nodes[before].1);
        begin..self.nodes[node].1
    }

    /// The child of a node for a value of its cell; what is no value of the cell is in no set.
    fn child(&self, node: usize, domains: &Domains, value: i64) -> Child {
        let (lo, _) = domains[self.nodes[node].0];
        if value < lo {
            return Child::FALSE;
        }
        // The difference of two such numbers fits 64 bits without a sign.
        let position = value.wrapping_sub(lo) as u64;
        let runs = self.runs(node);
        let at = runs.start + self.ends[runs.clone()].partition_point(|end| *end <= position);
        match at < runs.end {
            true => self.children[at],
            false => Child::FALSE,
        }
    }

    /// Whether the state with these values is in the set.
    pub(crate) fn contains(&self, domains: &Domains, value: impl Fn(usize) -> i64) -> bool {
        let mut at = self.root;
        // Children stand before their parents, so this ends.
        while let Some(node) = at.node() {
            at = self.child(node, domains, value(self.nodes[node].0));
        }
        at == Child::TRUE
    }

    /// How many ways lead to true, each with as many values as it allows.
    fn ways(&self) -> u64 {
        let leaf = |child: Child| u64::from(child == Child::TRUE);
        let mut ways: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let mut sum = 0u64;
            let mut begin = 0;
            for at in self.runs(node) {
                let child = self.children[at];
                let below = child.node().map_or(leaf(child), |child| ways[child]);
                let count = self.ends[at] - begin;
                begin = self.ends[at];
                sum = sum.saturating_add(below.saturating_mul(count));
            }
            ways.push(sum);
        }
        self.root.node().map_or(leaf(self.root), |root| ways[root])
    }
}

/// What is left to do while states are listed: go on in a graph, from a child of a node.
struct Open {
    graph: usize,
    child: Child,
    /// How many values were given before.
    given: usize,
    /// What is given on the way.
    value: Option<(usize, i64)>,
}

/// The states over the first cells of a system that are in all of these sets, if they are not more than so many. The graphs test no other cells.
pub(crate) fn list(
    graphs: &[Graph],
    domains: &Domains,
    most: usize,
    cancel: &dyn Fn() -> bool,
) -> Result<Vec<Cells>, Error> {
    if let [only] = graphs
        && only.ways() > most as u64
    {
        return Err(too_many("states"));
    }
    let cells = domains.len();
    let mut states: Vec<Cells> = Vec::new();
    let mut values: Vec<Option<i64>> = vec![None; cells];
    let mut given: Vec<usize> = Vec::new();
    let mut visits = 0u64;
    let mut open = vec![Open {
        graph: 0,
        child: graphs.first().map_or(Child::TRUE, |graph| graph.root),
        given: 0,
        value: None,
    }];
    while let Some(next) = open.pop() {
        for cell in given.drain(next.given..) {
            values[cell] = None;
        }
        if let Some((cell, value)) = next.value {
            values[cell] = Some(value);
            given.push(cell);
        }
        let Open {
            mut graph,
            mut child,
            ..
        } = next;
        loop {
            visits += 1;
            if visits.is_multiple_of(4096) && cancel() {
                return Err(Error::Cancelled);
            }
            if visits > MOST_VISITS {
                return Err(too_many("states"));
            }
            let branch = |child: Child, cell: usize, position: u64| Open {
                graph,
                child,
                given: given.len(),
                // Positions are within the domain, so this does not overflow.
                value: Some((cell, domains[cell].0.wrapping_add_unsigned(position))),
            };
            if let Some(node) = child.node() {
                let set = &graphs[graph];
                let cell = set.nodes[node].0;
                if let Some(value) = values[cell] {
                    child = set.child(node, domains, value);
                    continue;
                }
                let mut begin = 0;
                for at in set.runs(node) {
                    let end = set.ends[at];
                    if set.children[at] != Child::FALSE {
                        visits = visits.saturating_add(end - begin);
                        if visits > MOST_VISITS {
                            return Err(too_many("states"));
                        }
                        open.extend(
                            (begin..end).map(|place| branch(set.children[at], cell, place)),
                        );
                    }
                    begin = end;
                }
                break;
            }
            if child == Child::FALSE {
                break;
            }
            if graph + 1 < graphs.len() {
                graph += 1;
                child = graphs[graph].root;
                continue;
            }
            // In all sets; what no set tests has any value.
            let Some(cell) = values.iter().position(Option::is_none) else {
                if states.len() == most || states.len() * cells > MOST_KEPT {
                    return Err(too_many("states"));
                }
                states.push(values.iter().copied().flatten().collect());
                break;
            };
            let size = domains[cell].1;
            visits = visits.saturating_add(size);
            if visits > MOST_VISITS {
                return Err(too_many("states"));
            }
            open.extend((0..size).map(|place| branch(Child::TRUE, cell, place)));
            break;
        }
    }
    Ok(states)
}
