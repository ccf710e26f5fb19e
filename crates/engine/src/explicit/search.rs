//! The search: breadth first, layer by layer, so that the first violation found of a property has a
//! shortest run.
//!
//! States are expanded in batches. All successors of a batch are looked up together: first the
//! places in the table are read for all of them, then the states that those entries name, and
//! only then are new states added, one by one. The reads of the first two passes do not depend on
//! one another, so the processor waits for many of them at a time instead of one; nearly all
//! of the search's time is such waiting.
//!
//! No state remembers where it came from: `path` finds it again.

use threadwise_lang::program::TemplateId;
use threadwise_model::system::{ProcessId, System};

use super::code::{Halt, Successors};
use super::compile::{Compiled, NOTHING, process_id};
use super::initial::Initial;
use super::layout::Layout;
use super::store::{Full, Store};
use super::symmetry::Symmetry;
use crate::limits::{Limits, Observer, Progress, Stop};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A check that fails.
    Check,
    /// A deadlock.
    Deadlock,
    /// A state in which the invariant with this number does not hold.
    Invariant(usize),
}

/// What was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The number of the last state.
    pub state: u32,
    /// If a check fails: whose, and which.
    pub failure: Option<(ProcessId, u32)>,
}

/// What keeps a complete search from being a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// A computation left 64 bits.
    Overflow,
    /// A step had too many choices to go through.
    TooMany,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Every reachable state was visited.
    Complete,
    /// Everything looked for was found.
    Decided,
    /// It was told to stop.
    Stopped(Stop),
    /// Too many states.
    States,
    /// No memory is left.
    Memory,
    /// There are more states than numbers for them.
    Numbers,
    /// More processes are started than there is room for.
    Capacity(TemplateId),
    /// A cell was given a value that is none of its.
    OutOfRange(u32),
}

/// A search over states of `W` words.
pub(crate) struct Search<'a, const W: usize> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub compiled: &'a Compiled,
    pub limits: &'a Limits<'a>,
    pub store: Store<W>,
    /// The first state of each layer.
    pub layers: Vec<u32>,
    /// What is looked for.
    pub goals: Vec<Goal>,
    /// What was found, for each goal.
    pub found: Vec<Option<Found>>,
    /// For each goal: why not finding it says nothing.
    pub doubtful: Vec<Option<Doubt>>,
    pub transitions: u64,
    /// The most bytes taken at any time.
    pub peak: u64,
    /// Goes on when everything is found.
    pub exhaustive: bool,
    /// States are stored up to this.
    pub symmetry: Option<&'a Symmetry<'a>>,
    memory: Vec<i64>,
    out: Successors,
    /// A bit for each state of the layer being expanded, and of the next.
    marks: Bits,
    next_marks: Bits,
}

/// A growing row of bits.
#[derive(Default)]
struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    #[inline(always)]
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
    }

    #[inline(always)]
    fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 != 0
    }

    fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }
}

/// A batch ends when it has this many successors or states.
const BATCH_SUCCESSORS: usize = 512;
const BATCH_STATES: u32 = 128;
/// Progress is told once in so many batches.
const PROGRESS: u64 = 64;

impl<'a, const W: usize> Search<'a, W> {
    pub fn new(
        system: &'a System,
        layout: &'a Layout,
        compiled: &'a Compiled,
        limits: &'a Limits<'a>,
        goals: Vec<Goal>,
        exhaustive: bool,
        symmetry: Option<&'a Symmetry<'a>>,
    ) -> Self {
        let (found, doubtful) = (vec![None; goals.len()], vec![None; goals.len()]);
        Search {
            system,
            layout,
            compiled,
            limits,
            store: Store::new(layout.words),
            layers: Vec::new(),
            goals,
            found,
            doubtful,
            transitions: 0,
            peak: 0,
            exhaustive,
            symmetry,
            memory: compiled.code.memory.clone(),
            out: Successors::default(),
            marks: Bits::default(),
            next_marks: Bits::default(),
        }
    }

    /// Bytes taken for what grows with the states.
    fn bytes(&self) -> u64 {
        let marks = self.marks.words.capacity() + self.next_marks.words.capacity();
        let out = self.out.words.capacity() * 8 + self.out.marks.capacity();
        self.store.bytes() + (marks * 8 + out + self.layers.capacity() * 4) as u64
    }

    /// What the store may take.
    fn store_limit(&self) -> u64 {
        let others = self.bytes() - self.store.bytes();
        self.limits
            .memory
            .map_or(u64::MAX, |memory| memory.saturating_sub(others))
    }

    /// Runs the search to its end.
    pub fn run(&mut self, initial: Initial, observer: &mut dyn Observer) -> End {
        let end = self.explore(initial, observer);
        self.peak = self.peak.max(self.bytes());
        end
    }

    fn explore(&mut self, mut initial: Initial, observer: &mut dyn Observer) -> End {
        self.layers.push(0);
        let mut count = 0u64;
        while let Some(mut cells) = initial.next() {
            if let Some(symmetry) = self.symmetry {
                symmetry.represent(&mut cells);
            }
            let Some(state) = self.layout.pack(&cells) else {
                return End::OutOfRange(0);
            };
            let hash = Store::<W>::hash(&state);
            match self.store.insert(&state, hash, self.store_limit()) {
                Ok(true) => self.next_marks.push(true),
                Ok(false) => {}
                Err(full) => return full_end(full),
            }
            count += 1;
            if count.is_multiple_of(4096)
                && let Some(end) = self.pause(observer, 0, true)
            {
                return end;
            }
        }
        let mut at = 0;
        let mut batches = 0u64;
        while at < self.store.len() {
            let end_of_layer = self.store.len();
            std::mem::swap(&mut self.marks, &mut self.next_marks);
            self.next_marks.clear();
            let first = at;
            self.layers.push(end_of_layer);
            while at < end_of_layer {
                let batch_end = end_of_layer.min(at + BATCH_STATES);
                while at < batch_end && self.out.marks.len() < BATCH_SUCCESSORS {
                    let marked = self.marks.get((at - first) as usize);
                    if let Some(end) = self.expand(at, marked) {
                        return end;
                    }
                    at += 1;
                }
                if let Err(full) = self.absorb() {
                    return full_end(full);
                }
                batches += 1;
                let tell = batches.is_multiple_of(PROGRESS);
                if let Some(end) = self.pause(observer, end_of_layer - at, tell) {
                    return end;
                }
            }
        }
        // The last layer that was begun is empty.
        self.layers.pop();
        End::Complete
    }

    /// Looks at the limits.
    fn pause(&mut self, observer: &mut dyn Observer, left: u32, tell: bool) -> Option<End> {
        if let Some(stop) = self.limits.should_stop() {
            return Some(End::Stopped(stop));
        }
        let states = u64::from(self.store.len());
        if self.limits.states.is_some_and(|most| states > most) {
            return Some(End::States);
        }
        if tell {
            let bytes = self.bytes();
            self.peak = self.peak.max(bytes);
            let depth = self.layers.len() as u64 - 1;
            let behind = self
                .layers
                .last()
                .map_or(0, |&start| self.store.len() - start);
            observer.progress(&Progress {
                states,
                transitions: self.transitions,
                depth,
                queue: u64::from(left) + u64::from(behind),
                bytes,
            });
        }
        None
    }

    /// Looks at a state: adds its successors to the batch, and notes what is wrong in it.
    #[inline]
    fn expand(&mut self, number: u32, marked: bool) -> Option<End> {
        let state = self.store.get(number);
        self.layout.unpack(state, &mut self.memory);
        if marked {
            self.check_invariants(number);
        }
        let before = self.out.marks.len();
        let failures = self.out.failures;
        let mut halted = false;
        let state = self.store.get(number);
        let compiled = self.compiled;
        for (process, code) in compiled.processes.iter().enumerate() {
            let at =
                compiled.entries[code.entries as usize + self.memory[code.pc as usize] as usize];
            if at == NOTHING {
                continue;
            }
            if code.shared {
                let own = compiled.code.own as usize;
                self.memory[own] = i64::from(code.index);
                self.memory[own + 1] = process as i64;
            }
            let result = compiled
                .code
                .run(at, &mut self.memory, state, &mut self.out);
            if let Some(check) = self.out.failed.take() {
                let failure = Some((process_id(process), check));
                note(
                    &self.goals,
                    &mut self.found,
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
                    let doubt = if halt == Halt::TooMany {
                        Doubt::TooMany
                    } else {
                        Doubt::Overflow
                    };
                    self.doubtful.fill(Some(doubt));
                }
                Err(Halt::Capacity(template)) => return Some(End::Capacity(template)),
                Err(Halt::OutOfRange(cell)) => return Some(End::OutOfRange(cell)),
            }
        }
        let moves = (self.out.marks.len() - before) as u64;
        self.transitions += moves;
        if moves == 0 && self.out.failures == failures && !halted && !self.all_ended() {
            let here = Found {
                state: number,
                failure: None,
            };
            note(&self.goals, &mut self.found, Goal::Deadlock, here);
        }
        (!self.exhaustive && self.found.iter().all(Option::is_some)).then_some(End::Decided)
    }

    /// Whether every process has ended, or is not started, in the state in the memory.
    fn all_ended(&self) -> bool {
        self.compiled
            .processes
            .iter()
            .all(|process| self.memory[process.pc as usize] >= process.done)
    }

    fn check_invariants(&mut self, number: u32) {
        for goal in 0..self.goals.len() {
            let Goal::Invariant(invariant) = self.goals[goal] else {
                continue;
            };
            if self.found[goal].is_some() {
                continue;
            }
            let at = self.compiled.invariants[invariant];
            match self
                .compiled
                .code
                .run(at, &mut self.memory, &[], &mut self.out)
            {
                Ok(()) => {}
                Err(Halt::Broken) => {
                    self.found[goal] = Some(Found {
                        state: number,
                        failure: None,
                    })
                }
                Err(_) => self.doubtful[goal] = Some(Doubt::Overflow),
            }
        }
    }

    /// Adds the successors of a batch to the store.
    fn absorb(&mut self) -> Result<(), Full> {
        let words = if W == 0 { self.layout.words } else { W };
        if let Some(symmetry) = self.symmetry {
            let mut cells = vec![0; self.system.cells];
            for state in self.out.words.chunks_exact_mut(words) {
                self.layout.unpack(state, &mut cells);
                symmetry.represent(&mut cells);
                self.layout.pack_into(&cells, state);
            }
        }
        let limit = self.store_limit();
        const GROUP: usize = 32;
        let mut hashes = [0u64; GROUP];
        let mut entries = [0u32; GROUP];
        let mut known = [false; GROUP];
        let groups = self
            .out
            .words
            .chunks(GROUP * words)
            .zip(self.out.marks.chunks(GROUP));
        for (states, marks) in groups {
            for (at, state) in states.chunks_exact(words).enumerate() {
                let hash = Store::<W>::hash(state);
                hashes[at] = hash;
                entries[at] = self.store.entry(self.store.home(hash));
            }
            for (at, state) in states.chunks_exact(words).enumerate() {
                known[at] = self.store.entry_is(entries[at], hashes[at], state);
            }
            for (at, state) in states.chunks_exact(words).enumerate() {
                if !known[at] && self.store.insert(state, hashes[at], limit)? {
                    self.next_marks.push(marks[at]);
                }
            }
        }
        self.out.words.clear();
        self.out.marks.clear();
        self.transitions += std::mem::take(&mut self.out.rests);
        Ok(())
    }
}

fn note(goals: &[Goal], found: &mut [Option<Found>], what: Goal, here: Found) {
    if let Some(goal) = goals.iter().position(|&goal| goal == what) {
        found[goal].get_or_insert(here);
    }
}

fn full_end(full: Full) -> End {
    match full {
        Full::Memory => End::Memory,
        Full::Numbers => End::Numbers,
    }
}
