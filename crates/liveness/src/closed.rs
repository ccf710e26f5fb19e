//! Closed sets: the states of a set from which no steps within it lead to a part of it.
//!
//! Whether a step leads out of what may be closed is asked of one process after the other, until none does. Mostly a set is about few
//! processes, and the steps of all others write nothing that matters to it. Then one question is enough for many of them: whether
//! anything could lead out if they wrote whatever they can write. If that is not known to be so, they are asked one by one.
//! Blocks of processes that are asked together are those that a binary tree over them has, so that there are few; they become larger as long as the answer is no.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use threadwise_model::system::ProcessId;
use threadwise_symbolic::{Bdd, Diagrams, Halt, Search};

use crate::product::Graph;

/// Computes closed sets.
pub(crate) struct Closing<'a> {
    graph: &'a Graph,
    /// What the steps of a block of processes write, by its first process and its size.
    written: RefCell<BTreeMap<(usize, usize), Bdd>>,
    /// For how many questions about single processes none is asked about a block,
    pause: Cell<u32>,
    /// and for how many after the next one that was in vain.
    next_pause: Cell<u32>,
}

/// No pause is longer than this.
const LONGEST_PAUSE: u32 = 1 << 8;

/// A question about a closed set.
pub(crate) struct Question<'a> {
    /// The states that steps may lead to.
    pub(crate) within: &'a Bdd,
    /// The part of them that no steps lead to.
    pub(crate) part: &'a Bdd,
    /// Nobody wants to know more once none of these are left; what is returned then need not be closed.
    pub(crate) matter: &'a Bdd,
    /// Who is asked first.
    pub(crate) first: Option<ProcessId>,
}

impl<'a> Closing<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Self {
        Closing {
            graph,
            written: RefCell::default(),
            pause: Cell::new(0),
            next_pause: Cell::new(1),
        }
    }

    /// The states of a set from which no steps within it lead to a part of it.
    pub(crate) fn closed(&self, search: &Search, question: &Question) -> Result<Bdd, Halt> {
        let d = &search.symbolic.diagrams;
        let graph = self.graph;
        let processes = graph.moves.len();
        let mut closed = d.minus(question.within, question.part)?;
        let mut outside = d.and(question.within, question.part)?;
        let mut promised = graph.promised(d, &outside)?;
        let mut quiet = 0;
        let mut next = question.first.map_or(0, |process| process.index());
        let mut largest = 1;
        while quiet < processes && !d.is_empty(&d.and(&closed, question.matter)?) {
            search.breathe()?;
            let size = match self.pause.get() {
                0 => block(next, largest.min(processes - quiet), processes),
                _ => 1,
            };
            if size > 1 {
                if !self.keeps_in(d, (next, size), &closed, &outside)? {
                    let pause = self.next_pause.get();
                    self.pause.set(pause);
                    self.next_pause.set((2 * pause).min(LONGEST_PAUSE));
                    largest = 1;
                    continue;
                }
                self.next_pause.set(1);
            } else {
                self.pause.set(self.pause.get().saturating_sub(1));
                let process = ProcessId::from_usize(next);
                if graph.leads(d, process, &closed, &promised)? {
                    let out = d.and(&graph.post(d, process, &closed)?, &outside)?;
                    let out = graph.promised(d, &out)?;
                    closed = graph.leading_nowhere(d, process, &closed, &out)?;
                    outside = d.minus(question.within, &closed)?;
                    promised = graph.promised(d, &outside)?;
                    quiet = 0;
                    largest = 1;
                    next = (next + 1) % processes;
                    continue;
                }
            }
            quiet += size;
            next = (next + size) % processes;
            largest = 2 * size;
        }
        Ok(closed)
    }

    /// Whether it is seen at once that no steps of a block of processes lead from a set to another one.
    fn keeps_in(
        &self,
        d: &Diagrams,
        block: (usize, usize),
        closed: &Bdd,
        outside: &Bdd,
    ) -> Result<bool, Halt> {
        let anything = d.exists(closed, &self.written(d, block)?)?;
        let after = self.graph.promises.keep(d, &anything)?;
        Ok(d.is_empty(&d.and(&after, outside)?))
    }

    /// What the steps of a block of processes write.
    fn written(&self, d: &Diagrams, (first, size): (usize, usize)) -> Result<Bdd, Halt> {
        if let Some(written) = self.written.borrow().get(&(first, size)) {
            return Ok(written.clone());
        }
        let written = match size {
            1 => self.graph.written(d, ProcessId::from_usize(first))?,
            _ => d.and(
                &self.written(d, (first, size / 2))?,
                &self.written(d, (first + size / 2, size / 2))?,
            )?,
        };
        let mut known = self.written.borrow_mut();
        known.insert((first, size), written.clone());
        Ok(written)
    }
}

/// The size of the largest block that begins with a process, with so many of them at most.
fn block(first: usize, most: usize, processes: usize) -> usize {
    let mut size = 1;
    while first.is_multiple_of(2 * size) && 2 * size <= most && first + 2 * size <= processes {
        size *= 2;
    }
    size
}
