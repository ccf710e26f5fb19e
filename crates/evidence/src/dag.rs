//! Sets of states as decision graphs over named cells.
//!
//! A node tests one cell and has one child for each value of it; the leaves are false and true. A
//! state is in the set if the way from the root that its values take ends in true. Equal nodes are
//! stored once, so that sets with regular structure stay small. Nothing is said about an order
//! of tests: whoever writes a graph tests cells in the order that suits it, and whoever reads one
//! needs no more than that children stand before their parents, which excludes cycles.
//!
//! Neighbouring values mostly lead to the same child, so children are kept, and written, as *runs*.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde::de::Error as _;
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where an edge of a decision graph leads: false, true, or a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Child(u32);

impl Child {
    /// No state from here is in the set.
    pub const FALSE: Child = Child(0);
    /// Every state from here is in the set.
    pub const TRUE: Child = Child(1);

    /// The node with this position.
    pub const fn to_node(position: u32) -> Child {
        Child(position + 2)
    }

    /// The position of the node; `None` for false and true.
    pub fn node(self) -> Option<usize> {
        (self.0 as usize).checked_sub(2)
    }

    fn of_leaf(value: bool) -> Child {
        if value { Child::TRUE } else { Child::FALSE }
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Child::FALSE => f.write_str("false"),
            Child::TRUE => f.write_str("true"),
            Child(number) => write!(f, "#{}", number - 2),
        }
    }
}

/// The most values that a cell of a decision graph can have.
pub const MOST_VALUES: u64 = i64::MAX as u64;

/// Neighbouring values of a cell that lead to the same child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// How many values, at least one.
    pub count: u64,
    /// Where they lead.
    pub child: Child,
}

/// A node of a decision graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The position, in the graph's list of cells, of the cell that is tested.
    pub cell: usize,
    /// The children, from the least value of the cell to the greatest.
    pub runs: &'a [Run],
}

impl Node<'_> {
    /// How many values have a child.
    pub fn values(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// The child for the value at this position, counted from the least.
    pub fn child(&self, position: u64) -> Option<Child> {
        let mut left = position;
        for run in self.runs {
            match left.checked_sub(run.count) {
                Some(rest) => left = rest,
                None => return Some(run.child),
            }
        }
        None
    }
}

/// A set of states as a decision graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dag {
    cells: Vec<String>,
    /// The cell of each node, and where its runs end; they begin where those of the node before end.
    nodes: Vec<(u32, usize)>,
    runs: Vec<Run>,
    root: Child,
}

/// Why something is not a decision graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DagError {
    /// A cell is listed twice.
    #[error("the cell `{0}` is listed twice")]
    CellTwice(String),
    /// A node tests a cell that is not listed.
    #[error("node {node} tests cell number {cell}, and only {cells} are listed")]
    NoCell {
        /// The position of the node.
        node: usize,
        /// The cell that it tests.
        cell: i64,
        /// How many there are.
        cells: usize,
    },
    /// A node without children, or without a cell.
    #[error("node {0} has no children")]
    NoChildren(usize),
    /// A child that does not stand before its parent, or that does not exist.
    #[error("node {node} has the child {child}, which is not 0, 1 or an earlier node")]
    NoChild {
        /// The position of the node.
        node: usize,
        /// The number of the child.
        child: i64,
    },
    /// A repetition of nothing, or more children than a cell can have values.
    #[error("node {0} repeats a child that is not there, or too often")]
    Repetition(usize),
    /// A root that does not exist.
    #[error("the root {0} is not 0, 1 or a node")]
    NoRoot(u64),
    /// More nodes than can be numbered.
    #[error("the decision graph has too many nodes")]
    TooLarge,
    /// States that do not come in ascending order.
    #[error("the states do not come in ascending order")]
    NotAscending,
    /// A state with a value outside its cell, or with too few or too many cells.
    #[error("a state has a value that its cell cannot have")]
    NotAState,
}

impl Dag {
    /// The set of all states, or the empty set.
    pub fn leaf(value: bool) -> Dag {
        Dag {
            cells: Vec::new(),
            nodes: Vec::new(),
            runs: Vec::new(),
            root: Child::of_leaf(value),
        }
    }

    /// The names of the cells that nodes may test.
    pub fn cells(&self) -> &[String] {
        &self.cells
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes, so that the set is empty or everything.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Where the way of every state begins.
    pub fn root(&self) -> Child {
        self.root
    }

    /// The node at a position below `len`.
    pub fn node(&self, position: usize) -> Node<'_> {
        let begin = match position.checked_sub(1) {
            Some(before) => self.nodes[before].1,
            None => 0,
        };
        let (cell, end) = self.nodes[position];
        Node {
            cell: cell as usize,
            runs: &self.runs[begin..end],
        }
    }

    /// The nodes; children come before their parents.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node<'_>> + ExactSizeIterator {
        (0..self.len()).map(|position| self.node(position))
    }

    /// Whether a state is in the set; `position` tells, for a cell by its place in the list of
    /// cells, the position of the cell's value, counted from its least value. A value without a
    /// child is in no set.
    pub fn contains(&self, mut position: impl FnMut(usize) -> u64) -> bool {
        let mut at = self.root;
        // Children stand before their parents, so this ends.
        while let Some(number) = at.node() {
            let node = self.node(number);
            at = node.child(position(node.cell)).unwrap_or(Child::FALSE);
        }
        at == Child::TRUE
    }

    fn push(&mut self, cell: u32, runs: impl IntoIterator<Item = Run>) -> Result<Child, DagError> {
        let number = u32::try_from(self.nodes.len())
            .ok()
            .filter(|number| *number < u32::MAX - 2)
            .ok_or(DagError::TooLarge)?;
        self.runs.extend(runs);
        self.nodes.push((cell, self.runs.len()));
        Ok(Child::to_node(number))
    }

    /// The node as it is written: its cell, then its children; `-k` repeats the child before k
    /// times more.
    fn written(node: Node<'_>) -> impl Iterator<Item = i64> {
        let children = node.runs.iter().flat_map(|run| {
            let child = i64::from(run.child.0);
            // Twice the same takes no more space than a repetition, and is easier to read.
            let again = match run.count {
                0 | 1 => None,
                2 => Some(child),
                // Nodes have no more children than that.
                count => Some(1 - i64::try_from(count).unwrap_or(i64::MAX)),
            };
            std::iter::once(child).chain(again)
        });
        std::iter::once(node.cell as i64).chain(children)
    }

    fn read(&mut self, numbers: &[i64]) -> Result<(), DagError> {
        let node = self.nodes.len();
        let (cell, children) = numbers.split_first().ok_or(DagError::NoChildren(node))?;
        let cell = u32::try_from(*cell)
            .ok()
            .filter(|cell| (*cell as usize) < self.cells.len())
            .ok_or(DagError::NoCell {
                node,
                cell: *cell,
                cells: self.cells.len(),
            })?;
        let mut runs: Vec<Run> = Vec::new();
        let mut values = 0u64;
        for number in children {
            let count = if *number < 0 {
                number.unsigned_abs()
            } else {
                1
            };
            values = values.saturating_add(count);
            if values > MOST_VALUES {
                return Err(DagError::Repetition(node));
            }
            let child = match u32::try_from(*number) {
                Ok(child) if (child as usize) < node + 2 => Child(child),
                Ok(_) => {
                    return Err(DagError::NoChild {
                        node,
                        child: *number,
                    });
                }
                Err(_) if *number < 0 => runs.last().ok_or(DagError::Repetition(node))?.child,
                Err(_) => {
                    return Err(DagError::NoChild {
                        node,
                        child: *number,
                    });
                }
            };
            match runs.last_mut() {
                Some(last) if last.child == child => last.count += count,
                _ => runs.push(Run { count, child }),
            }
        }
        if runs.is_empty() {
            return Err(DagError::NoChildren(node));
        }
        self.push(cell, runs).map(|_| ())
    }
}

/// A decision graph as it is written down.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    cells: Vec<String>,
    nodes: Vec<Vec<i64>>,
    root: u64,
}

impl TryFrom<Written> for Dag {
    type Error = DagError;

    fn try_from(written: Written) -> Result<Dag, DagError> {
        let mut names = BTreeSet::new();
        for cell in &written.cells {
            if !names.insert(cell.as_str()) {
                return Err(DagError::CellTwice(cell.clone()));
            }
        }
        let mut dag = Dag::leaf(false);
        dag.cells = written.cells;
        for numbers in &written.nodes {
            dag.read(numbers)?;
        }
        dag.root = u32::try_from(written.root)
            .ok()
            .filter(|root| (*root as usize) < dag.nodes.len() + 2)
            .map(Child)
            .ok_or(DagError::NoRoot(written.root))?;
        Ok(dag)
    }
}

impl<'de> Deserialize<'de> for Dag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dag, D::Error> {
        Dag::try_from(Written::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for Dag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Nodes<'a>(&'a Dag);
        struct Numbers<'a>(Node<'a>);
        impl Serialize for Nodes<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.nodes().map(Numbers))
            }
        }
        impl Serialize for Numbers<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut sequence = serializer.serialize_seq(None)?;
                for number in Dag::written(self.0) {
                    sequence.serialize_element(&number)?;
                }
                sequence.end()
            }
        }
        let mut dag = serializer.serialize_struct("Dag", 3)?;
        dag.serialize_field("cells", &self.cells)?;
        dag.serialize_field("nodes", &Nodes(self))?;
        dag.serialize_field("root", &self.root.0)?;
        dag.end()
    }
}

/// Builds a decision graph, with equal nodes made one.
#[derive(Clone, Debug)]
pub struct Builder {
    dag: Dag,
    sizes: Vec<u64>,
    known: HashMap<(u32, Box<[Run]>), Child>,
}

impl Builder {
    /// For cells with these names and numbers of values.
    pub fn new(cells: impl IntoIterator<Item = (String, u64)>) -> Builder {
        let (names, sizes) = cells.into_iter().unzip();
        let mut dag = Dag::leaf(false);
        dag.cells = names;
        Builder {
            dag,
            sizes,
            known: HashMap::new(),
        }
    }

    /// How many nodes there are so far.
    pub fn len(&self) -> usize {
        self.dag.len()
    }

    /// Whether there are no nodes yet.
    pub fn is_empty(&self) -> bool {
        self.dag.is_empty()
    }

    /// A node that tests the cell at a place in the list, with these children from the least value on: a new
    /// one, or the one that is there already; without a node if all children are the same.
    /// Fewer children than the cell has values are an error, and so are more.
    pub fn node(
        &mut self,
        cell: usize,
        children: impl IntoIterator<Item = Run>,
    ) -> Result<Child, DagError> {
        let position = self.dag.len();
        let size = *self.sizes.get(cell).ok_or(DagError::NoCell {
            node: position,
            cell: cell as i64,
            cells: self.sizes.len(),
        })?;
        let mut runs: Vec<Run> = Vec::new();
        let mut values = 0u64;
        for run in children {
            if run.child.node().is_some_and(|child| child >= position) {
                return Err(DagError::NoChild {
                    node: position,
                    child: i64::from(run.child.0),
                });
            }
            values = values.saturating_add(run.count);
            match runs.last_mut() {
                _ if run.count == 0 => {}
                Some(last) if last.child == run.child => {
                    last.count = last.count.saturating_add(run.count);
                }
                _ => runs.push(run),
            }
        }
        if values != size || values > MOST_VALUES {
            return Err(DagError::Repetition(position));
        }
        match runs.as_slice() {
            [] => Err(DagError::NoChildren(position)),
            [only] => Ok(only.child),
            _ => {
                let key = (cell as u32, runs.into_boxed_slice());
                if let Some(known) = self.known.get(&key) {
                    return Ok(*known);
                }
                let child = self.dag.push(key.0, key.1.iter().copied())?;
                self.known.insert(key, child);
                Ok(child)
            }
        }
    }

    /// The same with one child for each value.
    pub fn node_of(
        &mut self,
        cell: usize,
        children: impl IntoIterator<Item = Child>,
    ) -> Result<Child, DagError> {
        let runs = children.into_iter().map(|child| Run { count: 1, child });
        self.node(cell, runs)
    }

    /// The graph with this root. Nodes that it does not need are left out, and so are cells that no node tests.
    pub fn finish(self, root: Child) -> Dag {
        let dag = self.dag;
        let mut needed = vec![false; dag.len()];
        if let Some(root) = root.node() {
            needed[root] = true;
        }
        for (position, node) in dag.nodes().enumerate().rev() {
            if needed[position] {
                for child in node.runs.iter().filter_map(|run| run.child.node()) {
                    needed[child] = true;
                }
            }
        }
        let mut tested = vec![false; dag.cells.len()];
        for (position, node) in dag.nodes().enumerate() {
            tested[node.cell] |= needed[position];
        }
        let mut cells = Vec::new();
        let mut places = vec![0u32; dag.cells.len()];
        for (cell, name) in dag.cells.iter().enumerate() {
            if tested[cell] {
                places[cell] = cells.len() as u32;
                cells.push(name.clone());
            }
        }
        let mut kept = Dag::leaf(false);
        kept.cells = cells;
        let mut moved = vec![Child::FALSE; dag.len()];
        let to = |child: Child, moved: &[Child]| child.node().map_or(child, |node| moved[node]);
        for (position, node) in dag.nodes().enumerate() {
            if needed[position] {
                let runs = node.runs.iter().map(|run| Run {
                    child: to(run.child, &moved),
                    ..*run
                });
                kept.runs.extend(runs);
                kept.nodes.push((places[node.cell], kept.runs.len()));
                moved[position] = Child::to_node(kept.nodes.len() as u32 - 1);
            }
        }
        kept.root = to(root, &moved);
        kept
    }

    /// Begins a set that is given by its states, in ascending order: cells are tested in the order of
    /// the list.
    pub fn states(self) -> States {
        States {
            open: vec![Open::default(); self.sizes.len()],
            last: Vec::new(),
            any: false,
            builder: self,
        }
    }
}

/// A set of states under construction.
///
/// States come in ascending order, so that all states with the same first values are neighbours:
/// when a state differs from the one before at some cell, the nodes of all later cells are complete.
/// Only one way from the root is ever open, so memory is used for the graph alone.
#[derive(Clone, Debug)]
pub struct States {
    builder: Builder,
    open: Vec<Open>,
    last: Vec<u64>,
    any: bool,
}

/// A node under construction: the children of the values up to the one that is being built.
#[derive(Clone, Debug, Default)]
struct Open {
    runs: Vec<Run>,
    values: u64,
}

impl Open {
    fn add(&mut self, value: u64, child: Child) {
        if value > self.values {
            self.runs.push(Run {
                count: value - self.values,
                child: Child::FALSE,
            });
        }
        self.runs.push(Run { count: 1, child });
        self.values = value + 1;
    }
}

impl States {
    /// How many nodes there are so far.
    pub fn nodes(&self) -> usize {
        self.builder.len()
    }

    /// Adds a state: for each cell the position of its value, counted from the least.
    pub fn push(&mut self, state: &[u64]) -> Result<(), DagError> {
        let fits = state.len() == self.open.len()
            && state
                .iter()
                .zip(&self.builder.sizes)
                .all(|(value, size)| value < size);
        if !fits {
            return Err(DagError::NotAState);
        }
        if self.any {
            let differs = state
                .iter()
                .zip(&self.last)
                .position(|(new, old)| new != old);
            match differs {
                // The same state again.
                None => return Ok(()),
                Some(at) if state[at] < self.last[at] => return Err(DagError::NotAscending),
                Some(at) => self.close(at)?,
            }
        }
        self.any = true;
        self.last.clear();
        self.last.extend_from_slice(state);
        Ok(())
    }

    /// Completes the nodes of all cells after this one, and tells it so.
    fn close(&mut self, at: usize) -> Result<(), DagError> {
        let mut child = Child::TRUE;
        for cell in (at..self.open.len()).rev() {
            self.open[cell].add(self.last[cell], child);
            if cell > at {
                child = self.complete(cell)?;
            }
        }
        Ok(())
    }

    fn complete(&mut self, cell: usize) -> Result<Child, DagError> {
        let open = std::mem::take(&mut self.open[cell]);
        let rest = Run {
            count: self.builder.sizes[cell] - open.values,
            child: Child::FALSE,
        };
        self.builder.node(cell, open.runs.into_iter().chain([rest]))
    }

    /// The set of all states that were added.
    pub fn finish(mut self) -> Result<Dag, DagError> {
        let root = if !self.any {
            Child::FALSE
        } else if self.open.is_empty() {
            Child::TRUE
        } else {
            self.close(0)?;
            self.complete(0)?
        };
        Ok(self.builder.finish(root))
    }
}
