//! The search: breadth first, layer by layer, so that the first violation found of a property has a
//! shortest run.
//!
//! States are expanded in batches. All successors of a batch are looked up together: first the
//! places in the table are read for all of them, then the states that those entries name, and
//! only then are new states added, one by one. The reads of the first two passes do not depend on
//! one another, so the processor waits for many of them at a time instead of one; most of the
//! search's time is such waiting.
//!
//! With several threads, one owns the store and the others expand. Batches go to them and come back
//! in a fixed order, so states get the same numbers, and everything else is the same, for any number of threads.
//!
//! No state remembers where it came from: `path` finds it again, at once when something is found, so that whatever ends the search later takes no violation away.

use std::sync::mpsc;

use threadwise_lang::program::TemplateId;
use threadwise_model::eval::is_constrained;
use threadwise_model::system::{ProcessId, System};

use crate::compile::Compiled;
use crate::expand::{Batch, Expander};
use crate::initial::Initial;
use crate::layout::Layout;
use crate::path::Steps;
use crate::store::{Full, Store, hash};
use crate::symmetry::{Renaming, Symmetry};
use threadwise_engine::{Limits, Observer, Progress, Stop};

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
    /// Initial states were left out.
    Integers,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Every reachable state was visited.
    Complete,
    /// Everything looked for was found.
    Decided,
    /// Everything was found but a failing check, which was looked for along with the rest.
    Along,
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
    pub initial: &'a Initial,
    pub store: Store<W>,
    /// The first state of each layer.
    pub layers: Vec<u32>,
    /// What is looked for.
    pub goals: Vec<Goal>,
    /// What was found, for each goal.
    pub found: Vec<Option<Found>>,
    /// The run to what was found, or what kept it from being rebuilt.
    pub runs: Vec<Option<Result<(Steps, Renaming), Stop>>>,
    /// For each goal: why not finding it says nothing.
    pub doubtful: Vec<Option<Doubt>>,
    pub transitions: u64,
    /// The most bytes taken at any time.
    pub peak: u64,
    /// Goes on when everything is found.
    pub exhaustive: bool,
    /// Does not go on for long when everything but a failing check is found.
    pub along: bool,
    /// How many states there were when the last thing but that was found.
    rest_found: Option<u32>,
    /// States are stored up to this.
    pub symmetry: Option<&'a Symmetry<'a>>,
    /// How many threads work on it.
    pub threads: usize,
    batches: u64,
    /// Bytes taken for batches.
    batch_bytes: u64,
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

/// A batch has about this many successors, if each process has one.
const BATCH_SUCCESSORS: u32 = 512;
const MOST_BATCH_STATES: u32 = 128;
/// Batches that wait for each expanding thread, or for the one that owns the store.
const WAITING: usize = 4;
/// With fewer states than this in a layer, other threads are not worth waking.
const WORTH_SHARING: u32 = 1024;
/// Progress is told once in so many batches.
const PROGRESS: u64 = 64;
/// When all else is found, a failing check is looked for among so many further states, or as many as there were.
const FURTHER_STATES: u32 = 1 << 17;
/// After so many initial states the limits are looked at.
const FEW: u64 = 4096;
/// What it takes to see whether `initially` admits a combination of values, in steps.
const COMBINATION: u64 = 4;

impl<'a, const W: usize> Search<'a, W> {
    pub fn new(
        system: &'a System,
        layout: &'a Layout,
        compiled: &'a Compiled,
        limits: &'a Limits<'a>,
        initial: &'a Initial,
        goals: Vec<Goal>,
        symmetry: Option<&'a Symmetry<'a>>,
    ) -> Self {
        let (found, doubtful) = (vec![None; goals.len()], vec![None; goals.len()]);
        let runs = goals.iter().map(|_| None).collect();
        Search {
            system,
            layout,
            compiled,
            limits,
            initial,
            store: Store::new(layout.words),
            layers: Vec::new(),
            goals,
            found,
            runs,
            doubtful,
            transitions: 0,
            peak: 0,
            exhaustive: false,
            along: false,
            rest_found: None,
            symmetry,
            threads: 1,
            batches: 0,
            batch_bytes: 0,
            marks: Bits::default(),
            next_marks: Bits::default(),
        }
    }

    /// Bytes taken for what grows with the states.
    fn bytes(&self) -> u64 {
        let marks = self.marks.words.capacity() + self.next_marks.words.capacity();
        self.store.bytes()
            + self.batch_bytes
            + self.compiled.bytes
            + (marks * 8 + self.layers.capacity() * 4) as u64
    }

    /// What the store may take.
    fn store_limit(&self) -> u64 {
        let others = self.bytes() - self.store.bytes();
        self.limits
            .memory
            .map_or(u64::MAX, |memory| memory.saturating_sub(others))
    }

    /// Runs the search to its end.
    pub fn run(&mut self, observer: &mut dyn Observer) -> End {
        let end = self.explore(observer);
        self.peak = self.peak.max(self.bytes());
        end
    }

    fn explore(&mut self, observer: &mut dyn Observer) -> End {
        self.layers.push(0);
        let mut count = 0u64;
        let mut initial = self.initial.clone();
        let constrained = !self.system.initially.is_empty();
        while let Some(mut cells) = initial.next() {
            count += 1;
            if count.is_multiple_of(FEW) {
                // There may be many combinations of values for each state that `initially` admits.
                if constrained {
                    self.limits.spend(FEW * COMBINATION);
                }
                if let Some(end) = self.pause(observer, 0, true) {
                    return end;
                }
            }
            if !is_constrained(self.system, &cells) {
                continue;
            }
            if let Some(symmetry) = self.symmetry {
                let mut work = 0;
                symmetry.represent(&mut cells, &mut work);
                self.limits.spend(work);
            }
            let Some(state) = self.layout.pack(&cells) else {
                return End::OutOfRange(0);
            };
            let hash = hash(&state);
            match self.store.insert(&state, hash, self.store_limit()) {
                Ok(true) => self.next_marks.push(true),
                Ok(false) => {}
                Err(full) => return full_end(full),
            }
        }
        let (layout, compiled, symmetry) = (self.layout, self.compiled, self.symmetry);
        let goals = self.goals.clone();
        let limits = self.limits;
        let expander = || Expander::new(layout, compiled, &goals, symmetry, limits);
        let mut local = expander();
        let mut spare = vec![Batch::default()];
        std::thread::scope(|scope| {
            // Each of the other threads has a queue in and a queue out, and ends with the first.
            let mut workers = Vec::new();
            for _ in 1..self.threads {
                let (work, todo) = mpsc::sync_channel::<Batch>(WAITING);
                let (finished, done) = mpsc::sync_channel::<Batch>(WAITING);
                let mut expander = expander();
                scope.spawn(move || {
                    for mut batch in todo {
                        expander.run(&mut batch);
                        if finished.send(batch).is_err() {
                            break;
                        }
                    }
                });
                workers.push((work, done));
                spare.extend((0..WAITING).map(|_| Batch::default()));
            }
            let mut first = 0;
            while first < self.store.len() {
                let last = self.store.len();
                std::mem::swap(&mut self.marks, &mut self.next_marks);
                self.next_marks.clear();
                self.layers.push(last);
                let layer = first..last;
                let end = match workers.is_empty() || last - first < WORTH_SHARING {
                    true => self.layer_alone(layer, &mut local, &mut spare[0], observer),
                    false => self.layer_shared(layer, &workers, &mut local, &mut spare, observer),
                };
                if end.is_some() {
                    return end;
                }
                first = last;
            }
            // The last layer that was begun is empty.
            self.layers.pop();
            None
        })
        .unwrap_or(End::Complete)
    }

    /// Expands a layer on this thread.
    fn layer_alone(
        &mut self,
        layer: std::ops::Range<u32>,
        expander: &mut Expander,
        batch: &mut Batch,
        observer: &mut dyn Observer,
    ) -> Option<End> {
        let mut at = layer.start;
        while at < layer.end {
            at = self.fill(batch, at, &layer);
            expander.run(batch);
            let end = self.absorb_all(batch, expander, layer.end - at, observer);
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// Expands a layer on other threads.
    fn layer_shared(
        &mut self,
        layer: std::ops::Range<u32>,
        workers: &[Worker],
        expander: &mut Expander,
        spare: &mut Vec<Batch>,
        observer: &mut dyn Observer,
    ) -> Option<End> {
        let mut at = layer.start;
        let (mut sent, mut received) = (0usize, 0usize);
        let mut ended = None;
        while received < sent || at < layer.end && ended.is_none() {
            while at < layer.end && ended.is_none() && sent - received < WAITING * workers.len() {
                let mut batch = spare.pop().unwrap_or_default();
                at = self.fill(&mut batch, at, &layer);
                // A thread that is gone has panicked, and the scope will say so.
                if workers[sent % workers.len()].0.send(batch).is_err() {
                    return Some(End::Stopped(Stop::Cancelled));
                }
                sent += 1;
            }
            let Ok(mut batch) = workers[received % workers.len()].1.recv() else {
                return Some(End::Stopped(Stop::Cancelled));
            };
            received += 1;
            if ended.is_none() {
                ended = self.absorb_all(&mut batch, expander, layer.end - at, observer);
            }
            spare.push(batch);
        }
        ended
    }

    /// Fills a batch with the states from this one on; where the next begins.
    fn fill(&self, batch: &mut Batch, at: u32, layer: &std::ops::Range<u32>) -> u32 {
        let processes = self.compiled.processes.len() as u32;
        let size = (BATCH_SUCCESSORS / processes.max(1)).clamp(1, MOST_BATCH_STATES);
        let end = layer.end.min(at + size);
        batch.begin(at);
        batch.decided.clear();
        batch.decided.extend(self.found.iter().map(Option::is_some));
        for number in at..end {
            batch.states.extend_from_slice(self.store.get(number));
            batch
                .marked
                .push(self.marks.get((number - layer.start) as usize));
        }
        end
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
                ..Progress::default()
            });
        }
        None
    }

    /// Takes in what came out of a batch, and expands the rest of it, if any.
    fn absorb_all(
        &mut self,
        batch: &mut Batch,
        expander: &mut Expander,
        left: u32,
        observer: &mut dyn Observer,
    ) -> Option<End> {
        loop {
            let end = self.absorb(batch, left, observer);
            if end.is_some() || !batch.goes_on() {
                return end;
            }
            expander.run(batch);
        }
    }

    /// Takes in what came out of a batch: adds the successors to the store, and looks at the limits.
    fn absorb(&mut self, batch: &mut Batch, left: u32, observer: &mut dyn Observer) -> Option<End> {
        for &(goal, found) in &batch.found {
            if self.found[goal].is_none() {
                self.found[goal] = Some(found);
                self.runs[goal] = Some(self.run_to(found.state));
            }
        }
        for &(goal, doubt) in &batch.doubts {
            match goal {
                Some(goal) => self.doubtful[goal] = Some(doubt),
                None => self.doubtful.fill(Some(doubt)),
            }
        }
        if batch.end.is_some() {
            return batch.end;
        }
        if !self.exhaustive
            && let Some(end) = self.enough()
        {
            return Some(end);
        }
        // The batches are all about as large as this one.
        let batches = 1 + (self.threads as u64 - 1) * WAITING as u64;
        self.batch_bytes = self.batch_bytes.max(batch.bytes() * batches);
        if let Err(full) = self.add(batch) {
            return Some(full_end(full));
        }
        let transitions = batch.out.marks.len() as u64 + batch.out.rests;
        self.transitions += transitions;
        self.limits.spend(transitions + batch.work);
        self.batches += 1;
        let tell = self.batches.is_multiple_of(PROGRESS);
        self.pause(observer, left, tell)
    }

    /// Whether so much was found that the search is over.
    fn enough(&mut self) -> Option<End> {
        let open = |(at, found): (usize, &Option<Found>)| found.is_none().then_some(self.goals[at]);
        let mut open = self.found.iter().enumerate().filter_map(open);
        match (open.next(), open.next()) {
            (None, _) => Some(End::Decided),
            (Some(Goal::Check), None) if self.along && self.goals.len() > 1 => {
                let states = self.store.len();
                let then = *self.rest_found.get_or_insert(states);
                (states - then > then.max(FURTHER_STATES)).then_some(End::Along)
            }
            _ => None,
        }
    }

    fn add(&mut self, batch: &Batch) -> Result<(), Full> {
        const GROUP: usize = 32;
        let words = if W == 0 { self.layout.words } else { W };
        let limit = self.store_limit();
        let mut entries = [0u32; GROUP];
        let mut known = [false; GROUP];
        let states = batch.out.words.chunks(GROUP * words);
        let others = batch
            .hashes
            .chunks(GROUP)
            .zip(batch.out.marks.chunks(GROUP));
        for (states, (hashes, marks)) in states.zip(others) {
            for (entry, &hash) in entries.iter_mut().zip(hashes) {
                *entry = self.store.entry(self.store.home(hash));
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
        Ok(())
    }
}

/// The queues to and from another thread.
type Worker = (mpsc::SyncSender<Batch>, mpsc::Receiver<Batch>);

fn full_end(full: Full) -> End {
    match full {
        Full::Memory => End::Memory,
        Full::Numbers => End::Numbers,
    }
}
