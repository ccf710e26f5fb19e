//! The run to a state, found again after the search: a state of layer d has a predecessor in
//! layer d-1, so the layers are expanded once more, backwards, each until the first predecessor
//! turns up. That costs at most as much as the search did, only when there is a violation, and
//! spares every state a pointer to its parent.

use threadwise_model::system::ProcessId;

use super::code::Successors;
use super::compile::{Compiled, NOTHING, process_id};
use super::search::Search;
use crate::limits::Stop;

/// A state of the path by number, and who moved to it; nobody to the first.
pub(crate) type Hop = (u32, Option<ProcessId>);

/// Calls for each successor of the state in the memory: process and packed state.
pub(crate) fn successors(
    compiled: &Compiled,
    memory: &mut [i64],
    state: &[u64],
    out: &mut Successors,
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
        let _ = compiled.code.run(at, memory, state, out);
        for successor in out.words.chunks_exact(state.len()) {
            if each(process_id(process), successor) {
                return true;
            }
        }
    }
    false
}

impl<const W: usize> Search<'_, W> {
    /// The path to a state.
    pub fn path_to(&self, target: u32) -> Result<Vec<Hop>, Stop> {
        let mut path = Vec::new();
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
                    |process, successor| {
                        if *successor == wanted[..] {
                            found = Some((number, process));
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
            let Some((before, process)) = found else {
                break;
            };
            path.push((target, Some(process)));
            target = before;
            layer -= 1;
        }
        path.push((target, None));
        path.reverse();
        Ok(path)
    }
}
