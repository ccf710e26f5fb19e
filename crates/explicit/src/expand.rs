//! Expanding states: a batch of them goes in, and everything that can be said without looking at
//! the store comes out. So this part can run on other threads than the one that owns the store.

use crate::code::{Halt, Successors};
use crate::compile::{Compiled, NOTHING, process_id};
use crate::layout::Layout;
use crate::search::{Doubt, End, Found, Goal};
use crate::store::hash;
use crate::symmetry::Symmetry;
use threadwise_engine::Limits;

/// A batch of states of one layer, and what came out of them.
#[derive(Default)]
pub(crate) struct Batch {
    /// The number of the first state; the others follow.
    pub first: u32,
    /// The packed states.
    pub states: Vec<u64>,
    /// For each: whether the invariants must be looked at.
    pub marked: Vec<bool>,
    /// For each goal: whether it is found already, and need not be looked for.
    pub decided: Vec<bool>,
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
    /// The work that the symmetry of its successors was.
    pub work: u64,
    /// The state and the process that come next, if not all were expanded.
    at: usize,
    process: usize,
    /// Whether the state that comes next can do something, by what was expanded of it.
    moved: bool,
}

impl Batch {
    /// Empties the batch, which will begin with this state.
    pub fn begin(&mut self, first: u32) {
        self.first = first;
        self.states.clear();
        self.marked.clear();
        (self.at, self.process, self.moved) = (0, 0, false);
        self.end = None;
    }

    /// Whether there is more to expand, after what there is was taken in.
    pub fn goes_on(&self) -> bool {
        self.end.is_none() && self.at < self.marked.len()
    }

    fn doubt(&mut self, goal: Option<usize>, doubt: Doubt) {
        if !self.doubts.contains(&(goal, doubt)) {
            self.doubts.push((goal, doubt));
        }
    }

    fn note(&mut self, goals: &[Goal], what: Goal, here: Found) {
        if let Some(goal) = goals.iter().position(|&goal| goal == what)
            && !self.found.iter().any(|(known, _)| *known == goal)
        {
            self.found.push((goal, here));
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        let words = self.states.capacity() + self.hashes.capacity() + self.out.words.capacity();
        (words * 8 + self.marked.capacity() + self.out.marks.capacity()) as u64
    }
}

/// Expansion pauses when the successors take more words than this.
const MOST_WORDS: usize = 1 << 21;

/// What expands states.
pub(crate) struct Expander<'a> {
    layout: &'a Layout,
    compiled: &'a Compiled,
    goals: &'a [Goal],
    symmetry: Option<&'a Symmetry<'a>>,
    limits: &'a Limits<'a>,
    memory: Vec<i64>,
    cells: Vec<i64>,
}

impl<'a> Expander<'a> {
    pub fn new(
        layout: &'a Layout,
        compiled: &'a Compiled,
        goals: &'a [Goal],
        symmetry: Option<&'a Symmetry<'a>>,
        limits: &'a Limits<'a>,
    ) -> Self {
        let memory = compiled.code.memory.clone();
        let cells = vec![0; layout.fields.len()];
        Expander {
            layout,
            compiled,
            goals,
            symmetry,
            limits,
            memory,
            cells,
        }
    }

    /// Expands the states of a batch, or some of them if they have very many successors.
    pub fn run(&mut self, batch: &mut Batch) {
        batch.out.clear();
        batch.hashes.clear();
        batch.found.clear();
        batch.doubts.clear();
        batch.work = 0;
        while batch.at < batch.marked.len() {
            if let Err(end) = self.state(batch) {
                batch.end = Some(end);
                break;
            }
            if batch.process > 0 {
                break;
            }
            batch.at += 1;
        }
        let words = self.layout.words;
        if let Some(symmetry) = self.symmetry {
            for state in batch.out.words.chunks_exact_mut(words) {
                self.layout.unpack(state, &mut self.cells);
                symmetry.represent(&mut self.cells, &mut batch.work);
                self.layout.pack_into(&self.cells, state);
            }
        }
        batch
            .hashes
            .extend(batch.out.words.chunks_exact(words).map(hash));
    }

    /// Expands the state that comes next, from the process that comes next: to the last, after which
    /// the first comes next, or as far as there is room.
    #[inline]
    fn state(&mut self, batch: &mut Batch) -> Result<(), End> {
        let words = self.layout.words;
        let number = batch.first + batch.at as u32;
        let first = batch.at * words;
        self.layout
            .unpack(&batch.states[first..first + words], &mut self.memory);
        if batch.process == 0 {
            batch.moved = false;
            if batch.marked[batch.at] {
                self.invariants(number, batch)?;
            }
        }
        let before = batch.out.marks.len() as u64 + batch.out.failures;
        let processes = self.compiled.processes.iter().enumerate();
        for (process, code) in processes.skip(batch.process) {
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
            let state = &batch.states[first..first + words];
            let memory = &mut self.memory;
            let result = self
                .compiled
                .code
                .run(entry, memory, state, &mut batch.out, self.limits);
            if let Some(check) = batch.out.failed.take() {
                let failure = Some((process_id(process), check));
                batch.note(
                    self.goals,
                    Goal::Check,
                    Found {
                        state: number,
                        failure,
                    },
                );
            }
            if let Err(halt) = result {
                batch.doubt(None, doubt(halt)?);
                batch.moved = true;
            }
            if batch.out.words.len() > MOST_WORDS && process + 1 < self.compiled.processes.len() {
                batch.process = process + 1;
                batch.moved |= batch.out.marks.len() as u64 + batch.out.failures > before;
                return Ok(());
            }
        }
        batch.process = 0;
        let moved = batch.moved || batch.out.marks.len() as u64 + batch.out.failures > before;
        if !moved && !self.all_ended() {
            batch.note(
                self.goals,
                Goal::Deadlock,
                Found {
                    state: number,
                    failure: None,
                },
            );
        }
        Ok(())
    }

    /// Whether every process has ended, or is not started, in the state in the memory.
    fn all_ended(&self) -> bool {
        let ended = |pc: u32, done: i64| self.memory[pc as usize] >= done;
        self.compiled
            .processes
            .iter()
            .all(|process| ended(process.pc, process.done))
    }

    fn invariants(&mut self, number: u32, batch: &mut Batch) -> Result<(), End> {
        for (at, goal) in self.goals.iter().enumerate() {
            let Goal::Invariant(invariant) = *goal else {
                continue;
            };
            if batch.decided[at] || batch.found.iter().any(|(known, _)| *known == at) {
                continue;
            }
            let entry = self.compiled.invariants[invariant];
            match self
                .compiled
                .code
                .run(entry, &mut self.memory, &[], &mut batch.out, self.limits)
            {
                Ok(()) => {}
                Err(Halt::Broken) => batch.found.push((
                    at,
                    Found {
                        state: number,
                        failure: None,
                    },
                )),
                Err(halt) => batch.doubt(Some(at), doubt(halt)?),
            }
        }
        Ok(())
    }
}

/// What code that stopped short means for the search: a doubt, or its end.
fn doubt(halt: Halt) -> Result<Doubt, End> {
    match halt {
        Halt::Overflow | Halt::Broken => Ok(Doubt::Overflow),
        Halt::TooMany => Ok(Doubt::TooMany),
        Halt::Capacity(template) => Err(End::Capacity(template)),
        Halt::OutOfRange(cell) => Err(End::OutOfRange(cell)),
        Halt::Stopped(stop) => Err(End::Stopped(stop)),
    }
}
