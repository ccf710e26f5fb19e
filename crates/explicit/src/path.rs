//! The run to a state, found again when it is wanted: a state of layer d has a predecessor in
//! layer d-1, so the layers are expanded once more, backwards, each until the first predecessor
//! turns up. That costs at most as much as the search did, only when there is a violation, and
//! spares every state a pointer to its parent.

use threadwise_model::system::ProcessId;

use crate::code::Successors;
use crate::compile::{Compiled, NOTHING, process_id};
use crate::search::Search;
use crate::symmetry::Renaming;
use threadwise_engine::State;
use threadwise_engine::{Limits, Stop};

/// A run: the first state, then who moved and the state after.
pub(crate) type Steps = (State, Vec<(ProcessId, State)>);

/// Calls for each successor of the state in the memory: process and packed state.
pub(crate) fn successors(
    compiled: &Compiled,
    memory: &mut [i64],
    state: &[u64],
    out: &mut Successors,
    limits: &Limits,
    mut each: impl FnMut(ProcessId, &[u64]) -> bool,
) -> bool {
    for (process, code) in compiled.processes.iter().enumerate() {
        let at = compiled.entries[code.entries as usize + memory[code.pc as usize] as usize];
        if at == NOTHING {
            continue;
        }
        if code.shared {
            let own = compiled.code.own as usize;
            memory[own] = i64::from(code.index);
            memory[own + 1] = process as i64;
        }
        out.words.clear();
        out.marks.clear();
        // What was emitted before the code stopped short are successors all the same.
        let _ = compiled.code.run(at, memory, state, out, limits);
        for successor in out.words.chunks_exact(state.len()) {
            if each(process_id(process), successor) {
                return true;
            }
        }
    }
    false
}

impl<const W: usize> Search<'_, W> {
    /// The run to a state, and the renaming of processes from the stored state to the run's last.
    pub fn run_to(&self, target: u32) -> Result<(Steps, Renaming), Stop> {
        let (first, hops) = self.hops_to(target)?;
        let (start, mut renaming) = self.start(first)?;
        let mut steps = Vec::with_capacity(hops.len());
        for hop in hops {
            let process = renaming.process(self.system, hop.process);
            if let Some(stored) = &hop.renaming {
                renaming = renaming.after(&stored.inverse());
            }
            let state = renaming.state(self.system, &self.cells(hop.state));
            steps.push((process, state));
        }
        Ok(((start, steps), renaming))
    }

    /// The state with this number.
    pub fn cells(&self, number: u32) -> State {
        let mut cells = vec![0; self.system.cells];
        self.layout.unpack(self.store.get(number), &mut cells);
        cells
    }

    /// The initial state that is stored under this number, and the renaming that leads to it.
    fn start(&self, number: u32) -> Result<(State, Renaming), Stop> {
        let stored = self.cells(number);
        let Some(symmetry) = self.symmetry else {
            return Ok((stored, Renaming::identity(self.system)));
        };
        let mut looked_at = 0u32;
        let mut initial = self.initial.clone();
        while let Some(state) = initial.next() {
            let mut image = state.clone();
            let renaming = symmetry.represent(&mut image, &mut 0);
            if image == stored {
                return Ok((state, renaming.inverse()));
            }
            looked_at += 1;
            if looked_at.is_multiple_of(256)
                && let Some(stop) = self.limits.should_stop()
            {
                return Err(stop);
            }
        }
        Ok((stored, Renaming::identity(self.system)))
    }

    /// The first state of a path to the target, and the way from there, by stored states.
    fn hops_to(&self, target: u32) -> Result<(u32, Vec<Hop>), Stop> {
        let mut hops = Vec::new();
        let mut target = target;
        let mut layer = self.layers.partition_point(|&first| first <= target) - 1;
        let mut memory = self.compiled.code.memory.clone();
        let mut out = Successors::default();
        let mut looked_at = 0u32;
        while layer > 0 {
            let wanted = self.store.get(target).to_vec();
            let mut found = None;
            for number in self.layers[layer - 1]..self.layers[layer] {
                let state = self.store.get(number);
                self.layout.unpack(state, &mut memory);
                successors(
                    self.compiled,
                    &mut memory,
                    state,
                    &mut out,
                    self.limits,
                    |process, successor| {
                        if let Some(renaming) = self.stored_as(successor, &wanted) {
                            found = Some((
                                number,
                                Hop {
                                    state: target,
                                    process,
                                    renaming,
                                },
                            ));
                        }
                        found.is_some()
                    },
                );
                if found.is_some() {
                    break;
                }
                looked_at += 1;
                if looked_at.is_multiple_of(256)
                    && let Some(stop) = self.limits.should_stop()
                {
                    return Err(stop);
                }
            }
            // Every state but the initial ones was found from the layer before.
            let Some((before, hop)) = found else { break };
            hops.push(hop);
            target = before;
            layer -= 1;
        }
        hops.reverse();
        Ok((target, hops))
    }

    /// Whether a successor is stored as the given state: by which renaming, if any.
    fn stored_as(&self, successor: &[u64], wanted: &[u64]) -> Option<Option<Renaming>> {
        let Some(symmetry) = self.symmetry else {
            return (successor == wanted).then_some(None);
        };
        let mut cells = vec![0; self.system.cells];
        self.layout.unpack(successor, &mut cells);
        let renaming = symmetry.represent(&mut cells, &mut 0);
        (self.layout.pack(&cells).as_deref() == Some(wanted)).then_some(Some(renaming))
    }
}

/// A step of a path.
struct Hop {
    /// The stored state that it leads to.
    state: u32,
    /// Who moves, in the stored state before.
    process: ProcessId,
    /// From the successor to the stored state.
    renaming: Option<Renaming>,
}
