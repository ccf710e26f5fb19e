//! Truth values as ordered decision graphs: formulas that are decided by walking.
//!
//! A node tests an input and has a child for each of its values, in runs of neighbours. On every way from the
//! root inputs are tested in one order, that of their *levels*, each at most once; equal nodes are one node, and a
//! node whose children are all the same is that child. So equal formulas are equal literals. Negation is the
//! lowest bit of a literal; of a node and its negation the one is kept whose first child is not negated.
//!
//! Whether some state makes several formulas true is found by a walk through their graphs together. It
//! meets no combination of nodes twice. One of the formulas may speak of the state *after* constants are written: at
//! the level of a written cell it goes on with the constant's child, whatever the value is before. No graph of the
//! state after is built.
//!
//! Nothing recurses: graphs can be as deep as there are cells. Graphs can also be large, which is why there are
//! limits; once one is reached, `go_on` is an error for ever.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use crate::Error;
use crate::logic::{Input, Lit, Logic};
use crate::report::Counts;

/// How many nodes there may be.
const MOST_NODES: usize = 3_000_000;
/// How many runs of children they may have together.
const MOST_RUNS: usize = 12_000_000;
/// How many combinations of nodes are remembered from one question to the next.
const MOST_REMEMBERED: usize = 1 << 22;
/// How many combinations one question may meet.
const MOST_VISITED: usize = 12_000_000;
/// How many operations there are between two questions to the caller whether to go on.
const PATIENCE: u32 = 4096;

/// The level below all inputs.
const BOTTOM: u32 = u32::MAX;

/// A hash function for small numbers: quick, and the same in every run.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(value)).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }
}

pub(crate) type Mixed = BuildHasherDefault<Mix>;

/// Children up to a value's position, which is not included.
pub(crate) type Run = (u32, Lit);

/// A combination of nodes: two for the state before, and one for the state after.
type Triple = (Lit, Lit, Lit);

/// A cell's level, and the position of the value that is written.
pub(crate) type Written = (u32, u32);

/// Ordered decision graphs.
pub(crate) struct Ordered<'a> {
    cancel: &'a dyn Fn() -> bool,
    /// Operations until the caller is asked again.
    left: Cell<u32>,
    stopped: Cell<bool>,
    full: bool,
    /// How many nodes there may be.
    most_nodes: usize,
    cells: Vec<u32>,
    choices: BTreeMap<Input, u32>,
    /// How many values the input of each level has.
    sizes: Vec<u32>,
    /// The level of each node, and where its runs end; they begin where those of the node before end.
    nodes: Vec<(u32, usize)>,
    runs: Vec<Run>,
    /// Positions of nodes by hash, with free places: 0 is free, as the leaf is no node to be found.
    table: Vec<u32>,
    conjunctions: HashMap<(Lit, Lit), Lit, Mixed>,
    /// Combinations without writes that no state makes true.
    empty: HashSet<Triple, Mixed>,
    /// Where two formulas arrive together, and how many pairs these are in all.
    pairs: HashMap<(Lit, Lit), Rc<[Pair]>, Mixed>,
    listed: usize,
    /// The value of every level in the state that was found last.
    solution: Vec<u32>,
    questions: u64,
    visits: u64,
}

/// A conjunction in the making.
struct Open {
    a: Lit,
    b: Lit,
    level: u32,
    /// Where its runs begin in the list of all that are open.
    first: usize,
    /// Where the run ends that is looked at.
    to: u32,
}

/// Where two formulas arrive with the same values.
struct Pair {
    a: Lit,
    c: Lit,
    /// The first level that one of them tests.
    level: u32,
    /// The first level from which they come here directly.
    from: u32,
}

/// A combination on the way that is walked.
struct Step {
    triple: Triple,
    /// The third speaks of the state before as well.
    plain: bool,
    level: u32,
    /// Where the run begins that is looked at, and where it ends.
    from: u32,
    to: u32,
}

impl<'a> Ordered<'a> {
    /// No formulas yet. The order of choices and then that of cells, each with its number of values.
    pub(crate) fn new(
        choices: &[(Input, u32)],
        order: &[(usize, u32)],
        cancel: &'a dyn Fn() -> bool,
    ) -> Ordered<'a> {
        let mut cells = vec![BOTTOM; order.len()];
        let numbered = (0u32..)
            .zip(choices)
            .map(|(level, (input, _))| (*input, level));
        let choice_levels: BTreeMap<Input, u32> = numbered.collect();
        for (at, (cell, _)) in order.iter().enumerate() {
            cells[*cell] = (choices.len() + at) as u32;
        }
        let sizes = choices.iter().map(|(_, size)| *size);
        let sizes: Vec<u32> = sizes.chain(order.iter().map(|(_, size)| *size)).collect();
        Ordered {
            cancel,
            left: Cell::new(0),
            stopped: Cell::new(false),
            full: false,
            most_nodes: MOST_NODES,
            cells,
            choices: choice_levels,
            solution: vec![0; sizes.len()],
            sizes,
            nodes: vec![(BOTTOM, 0)],
            runs: Vec::new(),
            table: vec![0; 1 << 10],
            conjunctions: HashMap::default(),
            empty: HashSet::default(),
            pairs: HashMap::default(),
            listed: 0,
            questions: 0,
            visits: 0,
        }
    }

    /// The level of a cell.
    pub(crate) fn cell_level(&self, cell: usize) -> u32 {
        self.cells[cell]
    }

    /// The level that a formula tests first.
    pub(crate) fn level(&self, lit: Lit) -> u32 {
        self.nodes[(lit.0 >> 1) as usize].0
    }

    fn runs(&self, node: usize) -> &[Run] {
        let first = node.checked_sub(1).map_or(0, |before| self.nodes[before].1);
        &self.runs[first..self.nodes[node].1]
    }

    /// Where a formula goes from a level with the value at a position, and how far its neighbours go
    /// there too.
    fn branch(&self, lit: Lit, level: u32, position: u32) -> (u32, Lit) {
        if self.level(lit) != level {
            return (self.sizes[level as usize], lit);
        }
        let runs = self.runs((lit.0 >> 1) as usize);
        let (to, child) = runs[runs.partition_point(|(to, _)| *to <= position)];
        (to, Lit(child.0 ^ (lit.0 & 1)))
    }

    /// The node with these children, or what it is equal to. Neighbouring runs have different children.
    fn node(&mut self, level: u32, runs: &mut [Run]) -> Lit {
        if let [(_, only)] = runs {
            return *only;
        }
        let negated = runs[0].1.0 & 1;
        for (_, child) in runs.iter_mut() {
            child.0 ^= negated;
        }
        if 2 * self.nodes.len() > self.table.len() {
            self.grow();
        }
        let mut place = self.hash(level, runs);
        loop {
            let known = self.table[place] as usize;
            if known == 0 {
                break;
            }
            if self.nodes[known].0 == level && self.runs(known) == runs {
                return Lit((known as u32) << 1 | negated);
            }
            place = (place + 1) % self.table.len();
        }
        if self.nodes.len() >= self.most_nodes || self.runs.len() + runs.len() > MOST_RUNS {
            self.full = true;
            return Lit::FALSE;
        }
        let new = self.nodes.len() as u32;
        self.table[place] = new;
        self.runs.extend_from_slice(runs);
        self.nodes.push((level, self.runs.len()));
        Lit(new << 1 | negated)
    }

    fn hash(&self, level: u32, runs: &[Run]) -> usize {
        let mut hash = Mix::default();
        hash.write_u32(level);
        for (to, child) in runs {
            hash.write_u32(*to);
            hash.write_u32(child.0);
        }
        hash.finish() as usize % self.table.len()
    }

    fn grow(&mut self) {
        self.table = vec![0; 2 * self.table.len()];
        for node in 1..self.nodes.len() {
            let mut place = self.hash(self.nodes[node].0, self.runs(node));
            while self.table[place] != 0 {
                place = (place + 1) % self.table.len();
            }
            self.table[place] = node as u32;
        }
    }

    /// A formula that tests a level, from its children; those of them that are not constant test levels below.
    pub(crate) fn test(&mut self, level: u32, children: impl IntoIterator<Item = Run>) -> Lit {
        let mut runs: Vec<Run> = Vec::new();
        for run in children {
            add(&mut runs, 0, run);
        }
        self.node(level, &mut runs)
    }

    /// A conjunction, if it is known at once.
    fn known(&self, a: Lit, b: Lit) -> Option<Lit> {
        match (a, b) {
            (Lit::FALSE, _) | (_, Lit::FALSE) => Some(Lit::FALSE),
            (Lit::TRUE, other) | (other, Lit::TRUE) => Some(other),
            _ if a == b => Some(a),
            _ if a == !b => Some(Lit::FALSE),
            _ => self.conjunctions.get(&(a.min(b), a.max(b))).copied(),
        }
    }

    fn open(&self, a: Lit, b: Lit, first: usize) -> Open {
        Open {
            a,
            b,
            level: self.level(a).min(self.level(b)),
            first,
            to: 0,
        }
    }

    /// Whether there is a state in which two formulas are true, and a third is after these constants are written.
    /// They come in the order of levels.
    pub(crate) fn meet(
        &mut self,
        a: Lit,
        b: Lit,
        after: Lit,
        writes: &[Written],
    ) -> Result<bool, Error> {
        self.questions += 1;
        self.search(a, b, after, writes)
    }

    fn search(&mut self, a: Lit, b: Lit, after: Lit, writes: &[Written]) -> Result<bool, Error> {
        self.go_on()?;
        let mut visited: HashSet<Triple, Mixed> = HashSet::default();
        let mut way: Vec<Step> = Vec::new();
        let mut next = Some(((a, b, after), false));
        loop {
            if let Some((triple, plain)) = next.take()
                && let Some((triple, plain)) = self.possible(triple, plain, writes)
            {
                if triple == (Lit::TRUE, Lit::TRUE, Lit::TRUE) {
                    self.found(&way);
                    return Ok(true);
                }
                // What was met before, and left behind, no state makes true: nothing leads back to what is
                // on the way, since levels only grow.
                let new = if plain {
                    self.empty.insert(triple)
                } else {
                    visited.insert(triple)
                };
                if new {
                    self.visits += 1;
                    self.full |= visited.len() + self.empty.len() > MOST_VISITED;
                    self.go_on()?;
                    let (a, b, c) = triple;
                    way.push(Step {
                        triple,
                        plain,
                        level: self.level(a).min(self.level(b)).min(self.level(c)),
                        from: 0,
                        to: 0,
                    });
                }
            }
            let Some(step) = way.last_mut() else {
                break;
            };
            let (level, plain) = (step.level, step.plain);
            let size = self.sizes[level as usize];
            if step.to == size {
                way.pop();
                continue;
            }
            step.from = step.to;
            let ((a, b, c), from) = (step.triple, step.from);
            let (to_a, a) = self.branch(a, level, from);
            let (to_b, b) = self.branch(b, level, from);
            let written = writes.iter().find(|(written, _)| *written == level);
            let (to_c, c) = match written.filter(|_| !plain) {
                Some((_, constant)) => (size, self.branch(c, level, *constant).1),
                None => self.branch(c, level, from),
            };
            if let Some(step) = way.last_mut() {
                step.to = to_a.min(to_b).min(to_c);
            }
            next = Some(((a, b, c), plain));
        }
        if self.empty.len() > MOST_REMEMBERED {
            self.empty.clear();
        }
        Ok(false)
    }

    /// Whether `meet` would find a state, without finding it. It is quicker when many questions are about the same first and third formula.
    ///
    /// Where neither the second formula tests a level nor a constant is written there, the first and the third go the same ways, and the pairs
    /// in which they arrive further below are listed once for all questions.
    pub(crate) fn meets(
        &mut self,
        a: Lit,
        b: Lit,
        after: Lit,
        writes: &[Written],
    ) -> Result<bool, Error> {
        self.questions += 1;
        self.go_on()?;
        let mut visited: HashSet<Triple, Mixed> = HashSet::default();
        let mut open = vec![(a, b, after)];
        while let Some(triple) = open.pop() {
            let Some((triple, plain)) = self.possible(triple, false, writes) else {
                continue;
            };
            let (a, b, c) = triple;
            if plain {
                if !self.empty.contains(&triple) && self.search(a, b, c, &[])? {
                    return Ok(true);
                }
                continue;
            }
            if !visited.insert(triple) {
                continue;
            }
            self.visits += 1;
            self.full |= visited.len() > MOST_VISITED;
            self.go_on()?;
            let here = self.level(a).min(self.level(c));
            let next = writes.iter().map(|(level, _)| *level);
            // A level that is written, but not tested by the third, is no different from others.
            let next = next.filter(|level| *level >= here.min(self.level(b))).min();
            let end = self.level(b).min(next.unwrap_or(BOTTOM));
            if here < end {
                let pairs = self.pairs(a, c)?;
                let there = |pair: &&Pair| pair.level >= end && pair.from < end;
                open.extend(pairs.iter().filter(there).map(|pair| (pair.a, b, pair.c)));
                continue;
            }
            let level = here.min(end);
            let written = writes.iter().find(|(written, _)| *written == level);
            let size = self.sizes[level as usize];
            let mut from = 0;
            while from < size {
                let (to_a, a) = self.branch(a, level, from);
                let (to_b, b) = self.branch(b, level, from);
                let (to_c, c) = match written {
                    Some((_, constant)) => (size, self.branch(c, level, *constant).1),
                    None => self.branch(c, level, from),
                };
                open.push((a, b, c));
                from = to_a.min(to_b).min(to_c);
            }
        }
        Ok(false)
    }

    /// The pairs of nodes that two formulas arrive in with the same values, themselves excepted.
    fn pairs(&mut self, a: Lit, c: Lit) -> Result<Rc<[Pair]>, Error> {
        if let Some(known) = self.pairs.get(&(a, c)) {
            return Ok(Rc::clone(known));
        }
        let mut found: Vec<Pair> = Vec::new();
        let mut places: HashMap<(Lit, Lit), usize, Mixed> = HashMap::default();
        let mut open = vec![(a, c)];
        while let Some((a, c)) = open.pop() {
            self.go_on()?;
            let level = self.level(a).min(self.level(c));
            if level == BOTTOM {
                continue;
            }
            let size = self.sizes[level as usize];
            let mut from = 0;
            while from < size {
                let (to_a, a) = self.branch(a, level, from);
                let (to_c, c) = self.branch(c, level, from);
                from = to_a.min(to_c);
                if a == Lit::FALSE || c == Lit::FALSE {
                    continue;
                }
                let place = *places.entry((a, c)).or_insert_with(|| {
                    open.push((a, c));
                    found.push(Pair {
                        a,
                        c,
                        level: self.level(a).min(self.level(c)),
                        from: level,
                    });
                    found.len() - 1
                });
                found[place].from = found[place].from.min(level);
            }
        }
        self.visits += found.len() as u64;
        self.listed += found.len();
        self.full |= found.len() > MOST_VISITED;
        if self.listed > MOST_REMEMBERED {
            self.pairs.clear();
            self.listed = found.len();
        }
        let found: Rc<[Pair]> = found.into();
        self.pairs.insert((a, c), Rc::clone(&found));
        Ok(found)
    }

    /// A formula put together anew as far as it tests levels before an end: what tests one is made from its level and its children, which are
    /// done already. This is recursive, and for few levels only.
    pub(crate) fn rebuild(
        &mut self,
        lit: Lit,
        end: u32,
        known: &mut HashMap<Lit, Lit>,
        make: &dyn Fn(&mut Self, u32, Vec<Run>) -> Lit,
    ) -> Lit {
        let level = self.level(lit);
        if level >= end {
            return lit;
        }
        if let Some(known) = known.get(&lit) {
            return *known;
        }
        let runs = self.runs((lit.0 >> 1) as usize).iter();
        let mut runs: Vec<Run> = runs
            .map(|(to, child)| (*to, Lit(child.0 ^ (lit.0 & 1))))
            .collect();
        for (_, child) in &mut runs {
            *child = self.rebuild(*child, end, known, make);
        }
        let new = make(self, level, runs);
        known.insert(lit, new);
        new
    }

    /// The levels that a formula tests.
    pub(crate) fn tested(&self, lit: Lit) -> HashSet<u32, Mixed> {
        let mut levels: HashSet<u32, Mixed> = HashSet::default();
        let mut met: HashSet<u32, Mixed> = HashSet::default();
        let mut open = vec![lit.0 >> 1];
        while let Some(node) = open.pop() {
            if node != 0 && met.insert(node) {
                levels.insert(self.nodes[node as usize].0);
                let runs = self.runs(node as usize).iter();
                open.extend(runs.map(|(_, child)| child.0 >> 1));
            }
        }
        levels
    }

    /// Keeps the state that a way leads to. What is on the way is not empty, as it turns out.
    fn found(&mut self, way: &[Step]) {
        self.solution.fill(0);
        for step in way {
            self.solution[step.level as usize] = step.from;
            self.empty.remove(&step.triple);
        }
    }

    /// A combination in the form in which it is remembered, and whether it is plain: of the state before alone.
    /// Nothing if it is seen at once that no state makes it true.
    fn possible(
        &self,
        (a, b, c): Triple,
        plain: bool,
        writes: &[Written],
    ) -> Option<(Triple, bool)> {
        let never = |x: Lit, y: Lit| x == Lit::FALSE || y == Lit::FALSE || x == !y;
        if never(a, b) || c == Lit::FALSE {
            return None;
        }
        // Below the last written cell the states before and after are the same.
        let last = writes.last().map(|(last, _)| *last);
        if !plain && last.is_some_and(|last| self.level(c) <= last) {
            let b = if a == b { Lit::TRUE } else { b };
            return Some(((a, b, c), false));
        }
        if never(a, c) || never(b, c) {
            return None;
        }
        // The order does not matter, nor what is there twice.
        let mut all = [a, b, c];
        all.sort_unstable();
        for at in 0..2 {
            if all[at] == all[at + 1] {
                all[at] = Lit::TRUE;
            }
        }
        all.sort_unstable();
        let [a, b, c] = all;
        Some(((a, b, c), true))
    }

    /// How many nodes a formula has, as far as they are no more than some.
    fn size(&self, lit: Lit, most: usize) -> usize {
        let mut met: HashSet<u32, Mixed> = HashSet::default();
        let mut open = vec![lit.0 >> 1];
        while let Some(node) = open.pop() {
            if node != 0 && met.insert(node) {
                if met.len() >= most {
                    break;
                }
                open.extend(
                    self.runs(node as usize)
                        .iter()
                        .map(|(_, child)| child.0 >> 1),
                );
            }
        }
        met.len()
    }

    /// A few formulas that are all true where all of these are. Those that stay small are joined, neighbours first.
    pub(crate) fn join(&mut self, mut lits: Vec<Lit>, most: usize) -> Result<Vec<Lit>, Error> {
        let mut large = Vec::new();
        while lits.len() > 1 {
            let mut joined = Vec::with_capacity(lits.len().div_ceil(2));
            for pair in lits.chunks(2) {
                self.go_on()?;
                let both = pair.iter().fold(Lit::TRUE, |all, lit| self.and(all, *lit));
                if pair.len() > 1 && self.size(both, most) >= most {
                    large.extend(pair);
                } else {
                    joined.push(both);
                }
            }
            lits = joined;
        }
        large.extend(lits);
        Ok(large)
    }
}

/// Adds a run to those from a place on; equal neighbours become one.
fn add(runs: &mut Vec<Run>, first: usize, (to, child): Run) {
    match runs[first..].last_mut() {
        Some((last, before)) if *before == child => *last = to,
        _ => runs.push((to, child)),
    }
}

impl Logic for Ordered<'_> {
    fn input(&mut self, input: Input, size: usize) -> Result<Rc<[Lit]>, Error> {
        let level = match input {
            Input::Cell(cell) => self.cells.get(cell).copied(),
            Input::Choice(..) => self.choices.get(&input).copied(),
        };
        let level = level.filter(|level| self.sizes.get(*level as usize) == Some(&(size as u32)));
        let Some(level) = level else {
            return Err(Error::unsupported("an input has no place in the order"));
        };
        let end = size as u32;
        Ok((1..end)
            .map(|at| self.test(level, [(at, Lit::TRUE), (end, Lit::FALSE)]))
            .collect())
    }

    fn go_on(&self) -> Result<(), Error> {
        if self.full {
            return Err(Error::unsupported("the walk meets too many nodes"));
        }
        if !self.stopped.get() {
            let left = self.left.get();
            if left == 0 {
                self.left.set(PATIENCE);
                self.stopped.set((self.cancel)());
            } else {
                self.left.set(left - 1);
            }
        }
        if self.stopped.get() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if let Some(known) = self.known(a, b) {
            return known;
        }
        let mut pending: Vec<Run> = Vec::new();
        let mut open = vec![self.open(a, b, 0)];
        while let Some(top) = open.last_mut() {
            let (level, from) = (top.level, top.to);
            if from < self.sizes[level as usize] {
                let (to_a, a) = self.branch(top.a, level, from);
                let (to_b, b) = self.branch(top.b, level, from);
                top.to = to_a.min(to_b);
                match self.known(a, b) {
                    Some(known) => add(&mut pending, top.first, (top.to, known)),
                    None => {
                        let below = self.open(a, b, pending.len());
                        open.push(below);
                    }
                }
                continue;
            }
            let (a, b, first) = (top.a, top.b, top.first);
            open.pop();
            let result = self.node(level, &mut pending[first..]);
            pending.truncate(first);
            // Beyond a limit, or after the end was asked for, what is built means nothing.
            if self.go_on().is_err() {
                return Lit::FALSE;
            }
            if self.conjunctions.len() >= MOST_REMEMBERED {
                self.conjunctions.clear();
            }
            self.conjunctions.insert((a.min(b), a.max(b)), result);
            match open.last() {
                Some(above) => add(&mut pending, above.first, (above.to, result)),
                None => return result,
            }
        }
        Lit::FALSE
    }

    fn all(&mut self, mut lits: Vec<Lit>) -> Lit {
        // From the lowest up: what is joined then is mostly put on top of what there is.
        lits.sort_unstable_by_key(|lit| (self.level(*lit), *lit));
        lits.dedup();
        lits.into_iter()
            .rev()
            .fold(Lit::TRUE, |all, lit| self.and(lit, all))
    }

    fn ite(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        let yes = self.and(condition, yes);
        let no = self.and(!condition, no);
        self.or(yes, no)
    }

    fn cases(&mut self, cases: &[(Lit, Vec<Lit>)]) -> Lit {
        let mut each = Vec::with_capacity(cases.len());
        for (case, lits) in cases {
            let any = self.any(lits.clone());
            each.push(self.and(*case, any));
        }
        self.any(each)
    }

    fn satisfiable(&mut self, all: &[Lit], one_of: &[Lit]) -> Result<bool, Error> {
        self.go_on()?;
        // The first is mostly the claimed set: joining the others first spares copies of it.
        let (first, rest) = match all {
            [first, rest @ ..] => (*first, rest),
            [] => (Lit::TRUE, all),
        };
        let most = 1000 + self.size(first, usize::MAX);
        let mut rest = self.join(rest.to_vec(), most)?;
        let last = rest.pop().unwrap_or(Lit::TRUE);
        let before = rest.into_iter().fold(first, |all, lit| self.and(all, lit));
        for one in one_of {
            if self.meet(before, last, *one, &[])? {
                return Ok(true);
            }
        }
        self.go_on()?;
        Ok(false)
    }

    fn value(&self, lit: Lit) -> bool {
        let mut at = lit;
        while self.level(at) != BOTTOM {
            let level = self.level(at);
            (_, at) = self.branch(at, level, self.solution[level as usize]);
        }
        at == Lit::TRUE
    }

    fn counts(&self) -> Counts {
        Counts {
            questions: self.questions,
            visits: self.visits,
            ..Counts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many values the cells of the tests have.
    const SIZES: [u32; 4] = [3, 2, 4, 2];

    fn ordered() -> Ordered<'static> {
        let order: Vec<(usize, u32)> = SIZES.iter().copied().enumerate().collect();
        Ordered::new(&[], &order, &|| false)
    }

    fn states() -> Vec<Vec<u32>> {
        SIZES.iter().fold(vec![Vec::new()], |states, size| {
            let longer = |state: &Vec<u32>, value| [state.as_slice(), &[value]].concat();
            let states = states.iter();
            states
                .flat_map(|state| (0..*size).map(move |value| longer(state, value)))
                .collect()
        })
    }

    fn holds(ordered: &mut Ordered<'_>, lit: Lit, state: &[u32]) -> bool {
        ordered.solution.copy_from_slice(state);
        ordered.value(lit)
    }

    /// Numbers that look random, the same every time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005) + 1;
            (self.0 >> 33) as usize % bound
        }
    }

    /// Formulas at random, each with the states in which it is true.
    fn formulas(ordered: &mut Ordered<'_>, seed: u64) -> Vec<(Lit, Vec<bool>)> {
        let states = states();
        let mut numbers = Numbers(seed);
        let mut formulas = vec![(Lit::TRUE, vec![true; states.len()])];
        for (cell, size) in SIZES.iter().enumerate() {
            let lits = ordered.input(Input::Cell(cell), *size as usize);
            for (most, lit) in (0u32..).zip(lits.expect("a place").iter()) {
                let truth = states.iter().map(|state| state[cell] <= most);
                formulas.push((*lit, truth.collect()));
            }
        }
        for _ in 0..40 {
            let mut some = || {
                let (lit, truth) = &formulas[numbers.below(formulas.len())];
                match numbers.below(2) {
                    0 => (*lit, truth.clone()),
                    _ => (!*lit, truth.iter().map(|holds| !holds).collect()),
                }
            };
            let [(a, x), (b, y), (c, z)] = [some(), some(), some()];
            let (lit, truth): (Lit, Vec<bool>) = match numbers.below(3) {
                0 => (
                    ordered.and(a, b),
                    x.iter().zip(&y).map(|(x, y)| *x && *y).collect(),
                ),
                1 => (
                    ordered.any(vec![a, b, c]),
                    (0..x.len()).map(|at| x[at] || y[at] || z[at]).collect(),
                ),
                _ => {
                    let either = |at: usize| if x[at] { y[at] } else { z[at] };
                    (ordered.ite(a, b, c), (0..x.len()).map(either).collect())
                }
            };
            formulas.push((lit, truth));
        }
        formulas
    }

    #[test]
    fn formulas_are_true_where_they_should_be_and_equal_ones_are_one() {
        for seed in 0..50 {
            let mut ordered = ordered();
            let formulas = formulas(&mut ordered, seed);
            for (lit, truth) in &formulas {
                for (state, expected) in states().iter().zip(truth) {
                    assert_eq!(holds(&mut ordered, *lit, state), *expected, "seed {seed}");
                }
                for (other, same) in &formulas {
                    assert_eq!(lit == other, truth == same, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn walks_find_a_state_exactly_if_there_is_one() {
        let states = states();
        let index = |state: &[u32]| states.iter().position(|other| other == state).expect("one");
        let mut found = [0, 0];
        for seed in 0..50 {
            let mut ordered = ordered();
            let formulas = formulas(&mut ordered, seed);
            let mut numbers = Numbers(seed ^ 77);
            for _ in 0..60 {
                let mut some = || &formulas[numbers.below(formulas.len())];
                let ((a, x), (b, y), (c, z)) = (some(), some(), some());
                let mut writes: Vec<Written> = Vec::new();
                for (cell, size) in (0u32..).zip(SIZES) {
                    if numbers.below(3) == 0 {
                        writes.push((cell, numbers.below(size as usize) as u32));
                    }
                }
                let wanted = |at: usize| {
                    let mut after = states[at].clone();
                    for (cell, value) in &writes {
                        after[*cell as usize] = *value;
                    }
                    x[at] && y[at] && !z[index(&after)]
                };
                let answer = ordered.meet(*a, *b, !*c, &writes);
                let expected = (0..states.len()).any(wanted);
                assert_eq!(answer, Ok(expected), "seed {seed}");
                if expected {
                    assert!(wanted(index(&ordered.solution)), "seed {seed}");
                }
                found[usize::from(expected)] += 1;
            }
        }
        assert!(found.iter().all(|count| *count > 300), "{found:?}");
    }

    #[test]
    fn beyond_the_limit_there_are_no_answers() {
        let mut ordered = ordered();
        ordered.most_nodes = 4;
        let lits: Vec<Lit> = (0..4)
            .filter_map(|cell| ordered.input(Input::Cell(cell), SIZES[cell] as usize).ok())
            .flat_map(|lits| lits.to_vec())
            .collect();
        let all = ordered.all(lits);
        assert!(matches!(ordered.go_on(), Err(Error::Unsupported(_))));
        assert!(ordered.meet(all, Lit::TRUE, Lit::TRUE, &[]).is_err());
        assert!(ordered.satisfiable(&[all], &[Lit::TRUE]).is_err());
    }
}
