//! Everybody's next step at once, as one relation.
//!
//! Around a semaphore every process changes a shared variable at the top of the order and a class of its own
//! far below, so that a step of one process rebuilds the whole diagram, and a turn of all takes N squared
//! work. "One of them moves and the others stay" is a relation with as many nodes as there are processes, and one image under it serves
//! all. It finds things layer by layer, which is right where few layers lead to everything; for all else there is chaining.

use index_vec::IndexVec;
use threadwise_model::system::ProcessId;
use threadwise_symbolic::{Bdd, Diagrams, Halt, Renaming, Search, Symbolic, Transition};

use super::view::View;

/// With fewer processes chaining is as fast.
const LEAST_PROCESSES: usize = 16;
/// With more bits of shared variables frames cost more than they save.
const MOST_SHARED_BITS: usize = 32;
/// More layers than this are for chaining.
const MOST_LAYERS: usize = 16;

/// One step of any process, on what everybody sees.
pub(crate) struct Together {
    relation: Bdd,
    before: Bdd,
    back: Renaming,
}

impl Together {
    /// The relation, if it promises to be small.
    pub(crate) fn of(
        search: &Search,
        view: &View,
        seen: &IndexVec<ProcessId, Vec<Transition>>,
    ) -> Result<Option<Self>, Halt> {
        let symbolic = &search.symbolic;
        let d = &symbolic.diagrams;
        let shared: Vec<u32> = symbolic.encoding.vars_of(&view.shared, false);
        if view.own.len() < LEAST_PROCESSES
            || shared.len() > MOST_SHARED_BITS
            || !symbolic.schedule.is_far()
        {
            return Ok(None);
        }
        let (mut one, mut none) = (d.none(), d.all());
        for (process, own) in view.own.iter_enumerated().rev() {
            search.breathe()?;
            let classes: Vec<u32> = own.classes.vars().iter().copied().collect();
            let stays = frame(d, classes.iter().copied())?;
            one = d.and(&stays, &one)?;
            for transition in &seen[process] {
                let written = transition.written();
                let kept = shared.iter().chain(&classes).copied();
                let kept = frame(d, kept.filter(|var| !written.contains(var)))?;
                let step = d.and(&transition.relation(d)?, &kept)?;
                one = d.or(&one, &d.and(&step, &none)?)?;
            }
            none = d.and(&stays, &none)?;
        }
        let vars: Vec<u32> = shared
            .into_iter()
            .chain(
                view.own
                    .iter()
                    .flat_map(|own| own.classes.vars().iter().copied()),
            )
            .collect();
        let twins: Vec<u32> = vars.iter().map(|var| var + 1).collect();
        Ok(Some(Together {
            relation: one,
            before: d.cube(&vars)?,
            back: d.renaming(&twins, &vars)?,
        }))
    }

    /// Adds layers to a set; true if nothing is left to add.
    pub(crate) fn close(
        &self,
        search: &mut Search,
        symbolic: &Symbolic,
        set: &mut Bdd,
    ) -> Result<bool, Halt> {
        let d = &symbolic.diagrams;
        for _ in 0..MOST_LAYERS {
            search.breathe()?;
            search.round();
            let after = d.and_exists(set, &self.relation, &self.before)?;
            let grown = d.or(set, &d.rename(&after, &self.back)?)?;
            if grown == *set {
                return Ok(true);
            }
            *set = grown;
        }
        Ok(false)
    }
}

/// These variables stay as they are.
fn frame(d: &Diagrams, vars: impl Iterator<Item = u32>) -> Result<Bdd, Halt> {
    let mut vars: Vec<u32> = vars.collect();
    vars.sort_unstable();
    let mut frame = d.all();
    for var in vars.into_iter().rev() {
        let (before, after) = (d.literal(var, true)?, d.literal(var + 1, true)?);
        let changed = d.not(&after)?;
        frame = d.and(&d.ite(&before, &after, &changed)?, &frame)?;
    }
    Ok(frame)
}
