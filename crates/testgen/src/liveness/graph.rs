//! Graphs whose edges carry marks, and the search for a cycle that meets conditions on marks (Streett's).
//!
//! A strongly connected component in which every condition can be met has a cycle that meets all of them: go round
//! all of its edges. If a mark that must occur is missing, no cycle of the component will do. If a mark occurs that asks for another one, which is missing, cycles
//! that will do avoid the former: its edges are taken out, and what is left is taken apart again.

use std::collections::{HashMap, VecDeque};

/// A set of marks, as bits.
pub type Marks = u128;

/// An edge.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    /// Where it leads.
    pub to: usize,
    /// What it carries.
    pub marks: Marks,
}

/// What a cycle has to meet.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// Has an edge with one of these marks.
    Some(Marks),
    /// If it has an edge with one of the first, it has one with one of the second.
    If(Marks, Marks),
}

/// A graph; nodes are numbered.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The edges from each node.
    pub arcs: Vec<Vec<Arc>>,
    /// Where runs begin.
    pub roots: Vec<usize>,
}

/// A run that goes round a cycle: each edge as the node it leaves and its position there.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The way from a root to the cycle.
    pub stem: Vec<(usize, usize)>,
    /// Once round.
    pub round: Vec<(usize, usize)>,
}

impl Graph {
    /// A cycle that can be reached and meets all conditions, if there is one.
    pub fn cycle(&self, conditions: &[Condition]) -> Option<Cycle> {
        let mut groups = Groups::new(self.arcs.len());
        // Nodes, and the marks of the edges that are taken out.
        let mut open: Vec<(Vec<usize>, Marks)> = vec![(self.reached(), 0)];
        while let Some((nodes, without)) = open.pop() {
            for component in self.components(&mut groups, &nodes, without) {
                let group = groups.form(&component);
                let mut marks = 0;
                let mut edges = false;
                for node in &component {
                    for (_, arc) in self.inner(*node, &groups, group, without) {
                        marks |= arc.marks;
                        edges = true;
                    }
                }
                let never = conditions
                    .iter()
                    .any(|c| matches!(c, Condition::Some(wanted) if marks & wanted == 0));
                if !edges || never {
                    continue;
                }
                let asks: Marks = conditions
                    .iter()
                    .map(|c| match c {
                        Condition::If(p, q) if marks & p != 0 && marks & q == 0 => *p,
                        _ => 0,
                    })
                    .fold(0, |a, b| a | b);
                if asks != 0 {
                    open.push((component, without | asks));
                    continue;
                }
                let wanted: Vec<Marks> = conditions
                    .iter()
                    .filter_map(|c| match c {
                        Condition::Some(wanted) => Some(*wanted),
                        Condition::If(p, q) => (marks & p != 0).then_some(*q),
                    })
                    .collect();
                return self.round(&groups, group, without, &wanted);
            }
        }
        None
    }

    fn reached(&self) -> Vec<usize> {
        let mut reached = vec![false; self.arcs.len()];
        let mut open = self.roots.clone();
        let mut nodes = Vec::new();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                nodes.push(node);
                open.extend(self.arcs[node].iter().map(|arc| arc.to));
            }
        }
        nodes
    }

    /// The edges from a node that stay in its group, with their positions.
    fn inner<'a>(
        &'a self,
        node: usize,
        groups: &'a Groups,
        group: usize,
        without: Marks,
    ) -> impl Iterator<Item = (usize, &'a Arc)> + 'a {
        let arcs = self.arcs[node].iter().enumerate();
        arcs.filter(move |(_, arc)| arc.marks & without == 0 && groups.of[arc.to] == group)
    }

    /// The strongly connected components among some nodes (Tarjan), without recursion.
    fn components(&self, groups: &mut Groups, nodes: &[usize], without: Marks) -> Vec<Vec<usize>> {
        let group = groups.form(nodes);
        for node in nodes {
            groups.number[*node] = NEW;
        }
        let (mut stack, mut components, mut next) = (Vec::new(), Vec::new(), 0);
        for root in nodes {
            if groups.number[*root] != NEW {
                continue;
            }
            let mut calls = vec![(*root, 0)];
            while let Some((node, at)) = calls.pop() {
                if at == 0 {
                    groups.number[node] = next;
                    groups.low[node] = next;
                    next += 1;
                    stack.push(node);
                    groups.on_stack[node] = true;
                } else {
                    let child = self.arcs[node][at - 1].to;
                    groups.low[node] = groups.low[node].min(groups.low[child]);
                }
                let mut position = at;
                let mut entered = false;
                while let Some(arc) = self.arcs[node].get(position) {
                    position += 1;
                    if arc.marks & without != 0 || groups.of[arc.to] != group {
                        continue;
                    }
                    if groups.number[arc.to] == NEW {
                        calls.push((node, position));
                        calls.push((arc.to, 0));
                        entered = true;
                        break;
                    }
                    if groups.on_stack[arc.to] {
                        groups.low[node] = groups.low[node].min(groups.number[arc.to]);
                    }
                }
                if entered || groups.low[node] != groups.number[node] {
                    continue;
                }
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    groups.on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                components.push(component);
            }
        }
        components
    }

    /// A cycle within a strongly connected component that has all that is wanted.
    fn round(
        &self,
        groups: &Groups,
        group: usize,
        without: Marks,
        wanted: &[Marks],
    ) -> Option<Cycle> {
        let everywhere = Groups::new(self.arcs.len());
        let stem = self.way(&everywhere, 0, 0, &self.roots, &|to, _| {
            groups.of[to] == group
        })?;
        let start = match stem.last() {
            Some((node, position)) => self.arcs[*node][*position].to,
            None => *self.roots.iter().find(|root| groups.of[**root] == group)?,
        };
        let mut round: Vec<(usize, usize)> = Vec::new();
        let mut at = start;
        let mut had: Marks = 0;
        for wanted in wanted {
            if had & wanted != 0 {
                continue;
            }
            let more = self.way(groups, group, without, &[at], &|_, arc| {
                arc.is_some_and(|arc| arc.marks & wanted != 0)
            })?;
            for (node, position) in more {
                had |= self.arcs[node][position].marks;
                at = self.arcs[node][position].to;
                round.push((node, position));
            }
        }
        // One edge at least, also if nothing is wanted.
        let back = self.way(groups, group, without, &[at], &|to, arc| {
            to == start && (arc.is_some() || !round.is_empty())
        })?;
        round.extend(back);
        Some(Cycle { stem, round })
    }

    /// A shortest way within a group whose end is wanted: the node, with the edge that leads there; empty if a node to
    /// begin with is wanted by itself.
    fn way(
        &self,
        groups: &Groups,
        group: usize,
        without: Marks,
        from: &[usize],
        wanted: &dyn Fn(usize, Option<&Arc>) -> bool,
    ) -> Option<Vec<(usize, usize)>> {
        if from.iter().any(|node| wanted(*node, None)) {
            return Some(Vec::new());
        }
        let mut came: HashMap<usize, Option<(usize, usize)>> =
            from.iter().map(|node| (*node, None)).collect();
        let mut queue: VecDeque<usize> = from.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            for (position, arc) in self.inner(node, groups, group, without) {
                if wanted(arc.to, Some(arc)) {
                    let mut way = vec![(node, position)];
                    let mut at = node;
                    while let Some(Some(edge)) = came.get(&at) {
                        way.push(*edge);
                        at = edge.0;
                    }
                    way.reverse();
                    return Some(way);
                }
                came.entry(arc.to).or_insert_with(|| {
                    queue.push_back(arc.to);
                    Some((node, position))
                });
            }
        }
        None
    }
}

const NEW: usize = usize::MAX;

/// Which nodes belong together at the moment, and what the search for components notes about each.
struct Groups {
    of: Vec<usize>,
    last: usize,
    number: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
}

impl Groups {
    /// All nodes in group 0.
    fn new(nodes: usize) -> Groups {
        Groups {
            of: vec![0; nodes],
            last: 0,
            number: vec![NEW; nodes],
            low: vec![0; nodes],
            on_stack: vec![false; nodes],
        }
    }

    /// Some nodes in a group of their own.
    fn form(&mut self, nodes: &[usize]) -> usize {
        self.last += 1;
        for node in nodes {
            self.of[*node] = self.last;
        }
        self.last
    }
}
