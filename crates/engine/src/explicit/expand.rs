//! Expanding states: a batch of them goes in, and everything that can be said without looking at
//! the store comes out. So this part can run on other threads than the one that owns the store.

use super::code::{Halt, Successors};
use super::compile::{Compiled, NOTHING, process_id};
use super::layout::Layout;
use super::search::{Doubt, End, Found, Goal};
use super::store::hash;
use super::symmetry::Symmetry;

/// A batch of states of one layer, and what came out of them.
#[derive(Default)]
pub(crate) struct Batch {
    /// The number of the first state; the others follow.
    pub first: u32,
    /// The packed states.
    pub states: Vec<u64>,
    /// For each: whether the invariants must be looked at.
    pub marked: Vec<bool>,
    /// The packed successors of all of them, in order.
    pub out: Successors,
    /// Their hashes.
    pub hashes: Vec<u64>,
    /// What was found: the first of each goal.
    pub found: Vec<(usize, Found)>,
    /// What keeps the search from being a proof; of all goals or of one.
    pub doubts: Vec<(Option<usize>, Doubt)>,
    /// Why the search cannot go on after this batch.
    pub end: Option<End>,
}

impl Batch {
    /// Empties the batch, which will begin with this state.
    pub fn begin(&mut self, first: u32) {
        self.first = first;
        self.states.clear();
        self.marked.clear();
        self.out.clear();
        self.hashes.clear();
        self.found.clear();
        self.doubts.clear();
        self.end = None;
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        let words = self.states.capacity() + self.hashes.capacity() + self.out.words.capacity();
        (words * 8 + self.marked.capacity() + self.out.marks.capacity()) as u64
    }
}

/// What expands states.
pub(crate) struct Expander<'a> {
    layout: &'a Layout,
    compiled: &'a Compiled,
    goals: &'a [Goal],
    symmetry: Option<&'a Symmetry<'a>>,
    memory: Vec<i64>,
    cells: Vec<i64>,
}

impl<'a> Expander<'a> {
    pub fn new(
        layout: &'a Layout,
        compiled: &'a Compiled,
        goals: &'a [Goal],
        symmetry: Option<&'a Symmetry<'a>>,
    ) -> Self {
        let memory = compiled.code.memory.clone();
        let cells = vec![0; layout.fields.len()];
        Expander {
            layout,
            compiled,
            goals,
            symmetry,
            memory,
            cells,
        }
    }

    /// Expands the states of a batch.
    pub fn run(&mut self, batch: &mut Batch) {
        let words = self.layout.words;
        for at in 0..batch.marked.len() {
            batch.end = self.state(batch, at);
            if batch.end.is_some() {
                break;
            }
        }
        if let Some(symmetry) = self.symmetry {
            for state in batch.out.words.chunks_exact_mut(words) {
                self.layout.unpack(state, &mut self.cells);
                symmetry.represent(&mut self.cells);
                self.layout.pack_into(&self.cells, state);
            }
        }
        batch
            .hashes
            .extend(batch.out.words.chunks_exact(words).map(hash));
    }

    #[inline]
    fn state(&mut self, batch: &mut Batch, at: usize) -> Option<End> {
        let words = self.layout.words;
        let number = batch.first + at as u32;
        let state = &batch.states[at * words..(at + 1) * words];
        self.layout.unpack(state, &mut self.memory);
        if batch.marked[at] {
            self.invariants(number, &mut batch.out, &mut batch.found, &mut batch.doubts);
        }
        let before = batch.out.marks.len();
        let failures = batch.out.failures;
        let mut halted = false;
        for (process, code) in self.compiled.processes.iter().enumerate() {
            let location = self.memory[code.pc as usize] as usize;
            let entry = self.compiled.entries[code.entries as usize + location];
            if entry == NOTHING {
                continue;
            }
            if code.shared {
                let own = self.compiled.code.own as usize;
                self.memory[own] = i64::from(code.index);
                self.memory[own + 1] = process as i64;
            }
            let result = self
                .compiled
                .code
                .run(entry, &mut self.memory, state, &mut batch.out);
            if let Some(check) = batch.out.failed.take() {
                let failure = Some((process_id(process), check));
                note(
                    self.goals,
                    &mut batch.found,
                    Goal::Check,
                    Found {
                        state: number,
                        failure,
                    },
                );
            }
            match result {
                Ok(()) => {}
                Err(halt @ (Halt::Overflow | Halt::TooMany | Halt::Broken)) => {
                    halted = true;
                    let doubt = match halt {
                        Halt::TooMany => Doubt::TooMany,
                        _ => Doubt::Overflow,
                    };
                    batch.doubts.push((None, doubt));
                }
                Err(Halt::Capacity(template)) => return Some(End::Capacity(template)),
                Err(Halt::OutOfRange(cell)) => return Some(End::OutOfRange(cell)),
            }
        }
        let still = batch.out.marks.len() == before && batch.out.failures == failures && !halted;
        if still && !self.all_ended() {
            let here = Found {
                state: number,
                failure: None,
            };
            note(self.goals, &mut batch.found, Goal::Deadlock, here);
        }
        None
    }

    /// Whether every process has ended, or is not started, in the state in the memory.
    fn all_ended(&self) -> bool {
        let ended = |pc: u32, done: i64| self.memory[pc as usize] >= done;
        self.compiled
            .processes
            .iter()
            .all(|process| ended(process.pc, process.done))
    }

    fn invariants(
        &mut self,
        number: u32,
        out: &mut Successors,
        found: &mut Vec<(usize, Found)>,
        doubts: &mut Vec<(Option<usize>, Doubt)>,
    ) {
        for (at, goal) in self.goals.iter().enumerate() {
            let Goal::Invariant(invariant) = *goal else {
                continue;
            };
            if found.iter().any(|(known, _)| *known == at) {
                continue;
            }
            let entry = self.compiled.invariants[invariant];
            match self.compiled.code.run(entry, &mut self.memory, &[], out) {
                Ok(()) => {}
                Err(Halt::Broken) => found.push((
                    at,
                    Found {
                        state: number,
                        failure: None,
                    },
                )),
                Err(_) => doubts.push((Some(at), Doubt::Overflow)),
            }
        }
    }
}

fn note(goals: &[Goal], found: &mut Vec<(usize, Found)>, what: Goal, here: Found) {
    if let Some(goal) = goals.iter().position(|&goal| goal == what)
        && !found.iter().any(|(known, _)| *known == goal)
    {
        found.push((goal, here));
    }
}
