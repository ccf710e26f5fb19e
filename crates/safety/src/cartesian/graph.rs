//! Sets of tuples of local states, one component for each thread, as decision graphs over threads.
//!
//! A node of level k has edges labelled with disjoint sets of local states of thread k; a path from the root to the end is a
//! product of sets, and a node stands for the union of the products below it. Products that begin or end alike share
//! nodes: "exactly one of n threads is inside" is a union of n products and a graph of 2n nodes.
//! Equal sets have equal nodes (edges with the same child are one, and every node leads somewhere), so they are compared by number.
//!
//! This is how exception sets and images are kept. Malkis, Podelski and Rybalchenko ("Precise thread-modular
//! verification", SAS 2007) keep an exception set as the antichain of its maximal products, since from it the best abstraction of a
//! product without exceptions can be read (their Proposition 8). From a graph it can be read too: a local state survives if
//! an edge with it is left in the difference. That needs no maximal products, of which there can be many more than
//! there are products, and all threads' steps are one image.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::sets::{EMPTY, LocalId, SetId, Sets};

/// A node, and the set of tuples below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(u32);

/// No tuple.
pub(crate) const NONE: Node = Node(0);
/// The end of every path.
const END: Node = Node(1);

type Edge = (SetId, Node);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Union,
    Meet,
    Minus,
}

/// Where steps of threads lead, between two valuations of the shared variables.
#[derive(Default)]
pub(crate) struct Moves {
    /// By thread and local state before: the local states after.
    by_thread: FxHashMap<usize, FxHashMap<LocalId, SetId>>,
    /// The last thread that can move.
    last: usize,
}

impl Moves {
    pub(crate) fn add(&mut self, sets: &mut Sets, thread: usize, from: LocalId, to: LocalId) {
        let after = self.by_thread.entry(thread).or_default();
        let after = after.entry(from).or_insert(EMPTY);
        let to = sets.of([to]);
        *after = sets.union(*after, to);
        self.last = self.last.max(thread);
    }

    /// Where a thread can be after a step from one of these.
    fn after(&self, sets: &mut Sets, thread: usize, from: SetId) -> SetId {
        let Some(moves) = self.by_thread.get(&thread) else {
            return EMPTY;
        };
        let members = sets.members(from).into_iter();
        let after: Vec<SetId> = members
            .filter_map(|member| moves.get(&member).copied())
            .collect();
        sets.union_of(&after)
    }

    /// From which of these a step leads to one of those.
    fn before(&self, sets: &mut Sets, thread: usize, from: SetId, to: SetId) -> SetId {
        let Some(moves) = self.by_thread.get(&thread) else {
            return EMPTY;
        };
        let mut before = sets.members(from);
        before.retain(|member| {
            let after = moves.get(member);
            after.is_some_and(|after| !sets.are_disjoint(*after, to))
        });
        sets.of(before)
    }
}

/// All nodes for a number of threads.
pub(crate) struct Graphs {
    pub(crate) sets: Sets,
    threads: usize,
    /// Level and edges of each node, in the order of their children.
    nodes: Vec<(usize, Rc<[Edge]>)>,
    known: FxHashMap<(usize, Rc<[Edge]>), Node>,
    results: FxHashMap<(Operation, Node, Node), Node>,
    edges: usize,
}

impl Graphs {
    pub(crate) fn new(threads: usize) -> Self {
        let end: Rc<[Edge]> = Rc::new([]);
        Graphs {
            sets: Sets::new(),
            threads,
            nodes: vec![(threads, end.clone()), (threads, end)],
            known: FxHashMap::default(),
            results: FxHashMap::default(),
            edges: 0,
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Memory taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.sets.bytes() + self.nodes.len() * 80 + self.edges * 8 + self.results.capacity() * 20
    }

    /// Forgets results that can be computed again, if there are more than so many.
    pub(crate) fn forget_results_beyond(&mut self, most: usize) {
        if self.results.len() > most {
            self.results = FxHashMap::default();
        }
    }

    /// The level of a node and its edges.
    pub(crate) fn node(&self, node: Node) -> (usize, Rc<[Edge]>) {
        let (level, edges) = &self.nodes[node.0 as usize];
        (*level, edges.clone())
    }

    fn edges(&self, node: Node) -> Rc<[Edge]> {
        self.nodes[node.0 as usize].1.clone()
    }

    /// The node with these edges, whose sets are disjoint.
    fn make(&mut self, level: usize, mut edges: Vec<Edge>) -> Node {
        edges.retain(|(set, child)| *set != EMPTY && *child != NONE);
        if edges.is_empty() {
            return NONE;
        }
        edges.sort_unstable_by_key(|(set, child)| (*child, *set));
        let mut merged: Vec<Edge> = Vec::with_capacity(edges.len());
        for (set, child) in edges {
            match merged.last_mut() {
                Some((other, same)) if *same == child => *other = self.sets.union(*other, set),
                _ => merged.push((set, child)),
            }
        }
        let key = (level, Rc::from(merged));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let node = Node(self.nodes.len() as u32);
        self.edges += key.1.len();
        self.nodes.push(key.clone());
        self.known.insert(key, node);
        node
    }

    /// The node with these edges, whose sets may overlap.
    fn collect(&mut self, level: usize, edges: Vec<Edge>) -> Node {
        let mut apart: Vec<Edge> = Vec::with_capacity(edges.len());
        for (mut set, child) in edges {
            if child == NONE {
                continue;
            }
            let mut place = 0;
            while set != EMPTY && place < apart.len() {
                let (other, below) = apart[place];
                if !self.sets.are_disjoint(set, other) {
                    let both = self.sets.meet(set, other);
                    set = self.sets.minus(set, both);
                    if below != child {
                        let joined = self.union(below, child);
                        let rest = self.sets.minus(other, both);
                        apart[place] = (both, joined);
                        if rest != EMPTY {
                            apart.push((rest, below));
                        }
                    }
                }
                place += 1;
            }
            if set != EMPTY {
                apart.push((set, child));
            }
        }
        self.make(level, apart)
    }

    /// All tuples with a component in each of these sets.
    pub(crate) fn product(&mut self, components: &[SetId]) -> Node {
        self.suffix(components, 0)
    }

    /// The same from a level on.
    pub(crate) fn suffix(&mut self, components: &[SetId], from: usize) -> Node {
        let mut node = END;
        for level in (from..self.threads).rev() {
            node = self.make(level, vec![(components[level], node)]);
        }
        node
    }

    /// A node above others, whose sets may overlap.
    pub(crate) fn above(&mut self, level: usize, edges: Vec<(SetId, Node)>) -> Node {
        self.collect(level, edges)
    }

    pub(crate) fn union(&mut self, a: Node, b: Node) -> Node {
        match (a, b) {
            (NONE, other) | (other, NONE) => other,
            (a, b) if a == b => a,
            (a, b) => self.apply(Operation::Union, a.min(b), a.max(b)),
        }
    }

    pub(crate) fn meet(&mut self, a: Node, b: Node) -> Node {
        match (a, b) {
            (NONE, _) | (_, NONE) => NONE,
            (a, b) if a == b => a,
            (a, b) => self.apply(Operation::Meet, a.min(b), a.max(b)),
        }
    }

    pub(crate) fn minus(&mut self, a: Node, b: Node) -> Node {
        match (a, b) {
            (NONE, _) => NONE,
            (a, NONE) => a,
            (a, b) if a == b => NONE,
            (a, b) => self.apply(Operation::Minus, a, b),
        }
    }

    /// Two different nodes of one level, which is not the end.
    fn apply(&mut self, operation: Operation, a: Node, b: Node) -> Node {
        if let Some(known) = self.results.get(&(operation, a, b)) {
            return *known;
        }
        let (level, left) = self.node(a);
        let right = self.edges(b);
        let mut edges = Vec::new();
        for &(set, child) in left.iter() {
            let mut alone = set;
            for &(other, below) in right.iter() {
                if self.sets.are_disjoint(set, other) {
                    continue;
                }
                let both = self.sets.meet(set, other);
                alone = self.sets.minus(alone, both);
                let result = match operation {
                    Operation::Union => self.union(child, below),
                    Operation::Meet => self.meet(child, below),
                    Operation::Minus => self.minus(child, below),
                };
                edges.push((both, result));
            }
            if operation != Operation::Meet {
                edges.push((alone, child));
            }
        }
        if operation == Operation::Union {
            for &(set, child) in right.iter() {
                let mut alone = set;
                for &(other, _) in left.iter() {
                    alone = self.sets.minus(alone, other);
                }
                edges.push((alone, child));
            }
        }
        let result = self.make(level, edges);
        self.results.insert((operation, a, b), result);
        result
    }

    pub(crate) fn is_subset(&mut self, a: Node, b: Node) -> bool {
        self.minus(a, b) == NONE
    }

    /// What is reached by one step of some thread.
    pub(crate) fn image(&mut self, node: Node, moves: &Moves) -> Node {
        self.image_below(node, moves, &mut FxHashMap::default())
    }

    fn image_below(
        &mut self,
        node: Node,
        moves: &Moves,
        known: &mut FxHashMap<Node, Node>,
    ) -> Node {
        let (level, edges) = self.node(node);
        if node == NONE || level > moves.last || level == self.threads {
            return NONE;
        }
        if let Some(known) = known.get(&node) {
            return *known;
        }
        let mut after = Vec::new();
        for &(set, child) in edges.iter() {
            let later = self.image_below(child, moves, known);
            after.push((set, later));
            let to = moves.after(&mut self.sets, level, set);
            after.push((to, child));
        }
        let image = self.collect(level, after);
        known.insert(node, image);
        image
    }

    /// The tuples of one set from which a step leads into another.
    pub(crate) fn preimage(&mut self, from: Node, to: Node, moves: &Moves) -> Node {
        self.preimage_below(from, to, moves, &mut FxHashMap::default())
    }

    fn preimage_below(
        &mut self,
        from: Node,
        to: Node,
        moves: &Moves,
        known: &mut FxHashMap<(Node, Node), Node>,
    ) -> Node {
        let (level, left) = self.node(from);
        if from == NONE || to == NONE || level > moves.last || level == self.threads {
            return NONE;
        }
        if let Some(known) = known.get(&(from, to)) {
            return *known;
        }
        let right = self.edges(to);
        let mut before = Vec::new();
        for &(set, child) in left.iter() {
            for &(other, below) in right.iter() {
                let stays = self.sets.meet(set, other);
                if stays != EMPTY {
                    before.push((stays, self.preimage_below(child, below, moves, known)));
                }
                let moved = moves.before(&mut self.sets, level, set, other);
                if moved != EMPTY {
                    before.push((moved, self.meet(child, below)));
                }
            }
        }
        let preimage = self.collect(level, before);
        known.insert((from, to), preimage);
        preimage
    }

    /// The nodes below and including one, level by level.
    fn levels(&self, node: Node) -> Vec<Vec<Node>> {
        let mut levels = vec![Vec::new(); self.threads];
        if node == NONE || node == END {
            return levels;
        }
        levels[0].push(node);
        for level in 1..self.threads {
            let mut next: Vec<Node> = levels[level - 1]
                .iter()
                .flat_map(|node| self.nodes[node.0 as usize].1.iter().map(|edge| edge.1))
                .collect();
            next.sort_unstable();
            next.dedup();
            levels[level] = next;
        }
        levels
    }

    /// The least product that contains a set.
    pub(crate) fn components(&mut self, node: Node) -> Vec<SetId> {
        let levels = self.levels(node);
        let mut components = Vec::with_capacity(self.threads);
        for nodes in levels {
            let mut all = EMPTY;
            for node in nodes {
                for &(set, _) in self.edges(node).iter() {
                    all = self.sets.union(all, set);
                }
            }
            components.push(all);
        }
        components
    }

    /// The tuples that have one of these local states in some component.
    pub(crate) fn touching(&mut self, node: Node, any: &[SetId]) -> Node {
        self.touching_below(node, any, &mut FxHashMap::default())
    }

    fn touching_below(
        &mut self,
        node: Node,
        any: &[SetId],
        known: &mut FxHashMap<Node, Node>,
    ) -> Node {
        let (level, edges) = self.node(node);
        if level == self.threads {
            return NONE;
        }
        if let Some(known) = known.get(&node) {
            return *known;
        }
        let mut touching = Vec::new();
        for &(set, child) in edges.iter() {
            let inside = self.sets.meet(set, any[level]);
            let outside = self.sets.minus(set, any[level]);
            touching.push((inside, child));
            if outside != EMPTY {
                touching.push((outside, self.touching_below(child, any, known)));
            }
        }
        let result = self.make(level, touching);
        known.insert(node, result);
        result
    }

    /// For each thread the local states by which tuples are in the set: with another one of `components` in its place, some
    /// tuple of the set would not be in it. And the classes of local states that the set does not tell apart.
    pub(crate) fn essentials(
        &mut self,
        node: Node,
        components: &[SetId],
    ) -> (Vec<SetId>, Vec<Vec<SetId>>) {
        let levels = self.levels(node);
        let mut essential = Vec::with_capacity(self.threads);
        let mut classes = Vec::with_capacity(self.threads);
        for (nodes, &all) in levels.iter().zip(components) {
            let mut found = EMPTY;
            let mut alike = vec![all];
            for &node in nodes {
                let edges = self.edges(node);
                let mut rest = all;
                for &(set, _) in edges.iter() {
                    rest = self.sets.minus(rest, set);
                }
                for &(set, child) in edges.iter() {
                    let elsewhere = rest != EMPTY
                        || edges
                            .iter()
                            .any(|&(_, other)| other != child && !self.is_subset(child, other));
                    if elsewhere {
                        found = self.sets.union(found, set);
                    }
                    let mut finer = Vec::with_capacity(alike.len() + 1);
                    for class in alike {
                        let inside = self.sets.meet(class, set);
                        let outside = self.sets.minus(class, set);
                        finer.extend([inside, outside].into_iter().filter(|set| *set != EMPTY));
                    }
                    alike = finer;
                }
            }
            essential.push(found);
            classes.push(alike);
        }
        (essential, classes)
    }

    /// The set with every local state joined by those of its class.
    pub(crate) fn widened(&mut self, node: Node, classes: &[Vec<SetId>]) -> Node {
        self.widened_below(node, classes, &mut FxHashMap::default())
    }

    fn widened_below(
        &mut self,
        node: Node,
        classes: &[Vec<SetId>],
        known: &mut FxHashMap<Node, Node>,
    ) -> Node {
        let (level, edges) = self.node(node);
        if level == self.threads {
            return node;
        }
        if let Some(known) = known.get(&node) {
            return *known;
        }
        let mut wide = Vec::new();
        for &(set, child) in edges.iter() {
            let child = self.widened_below(child, classes, known);
            let mut joined = set;
            for &class in &classes[level] {
                if !self.sets.are_disjoint(class, set) {
                    joined = self.sets.union(joined, class);
                }
            }
            wide.push((joined, child));
        }
        let result = self.collect(level, wide);
        known.insert(node, result);
        result
    }

    /// Some tuple.
    pub(crate) fn pick(&self, node: Node) -> Option<Vec<LocalId>> {
        let mut tuple = Vec::with_capacity(self.threads);
        let mut here = node;
        while tuple.len() < self.threads {
            let (set, child) = *self.nodes[here.0 as usize].1.first()?;
            tuple.push(*self.sets.members(set).first()?);
            here = child;
        }
        (node != NONE).then_some(tuple)
    }

    pub(crate) fn contains(&self, node: Node, tuple: &[LocalId]) -> bool {
        let mut here = node;
        for local in tuple {
            let edges = self.nodes[here.0 as usize].1.iter();
            let mut edges = edges.filter(|(set, _)| self.sets.contains(*set, *local));
            match edges.next() {
                Some((_, child)) => here = *child,
                None => return false,
            }
        }
        here == END
    }
}

#[cfg(test)]
mod tests;
