//! A fair run out of a fair hull: a way into a strongly connected part that no step within the hull leaves, and round it through all
//! duties. Whatever is left in a hull leads to every duty, so such a part contains them all.

use threadwise_model::system::ProcessId;
use threadwise_safety::foundation::{Halt, Search};
use threadwise_symbolic::{Bdd, Diagrams, Error};

use crate::fair::{Conditions, Hull, Must, doing, leads_to};
use crate::product::Graph;

/// A state, as far as it is seen.
#[derive(Clone, PartialEq)]
pub(crate) struct Seen {
    /// The values of the seen variables, by variable.
    pub(crate) values: Vec<Option<bool>>,
    /// All states that look so.
    pub(crate) set: Bdd,
}

/// A run without end: after the last state it goes on as after `loop_from` steps.
pub(crate) struct Lasso {
    /// The first state.
    pub(crate) initial: Seen,
    /// Who was scheduled, and the state after.
    pub(crate) steps: Vec<(ProcessId, Seen)>,
    /// Where the loop begins.
    pub(crate) loop_from: usize,
}

fn lost() -> Halt {
    Error::Internal("a fair hull without a fair run").into()
}

/// A fair run through a hull that is not empty. The hull may be one of fewer steps than those that lead to it.
pub(crate) fn lasso(
    search: &mut Search,
    to: &Graph,
    graph: &Graph,
    conditions: &Conditions,
    hull: &Hull,
) -> Result<Lasso, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let walker = Walker { search, d, graph };
    let component = walker.component(&hull.left)?;
    let way = Walker {
        search,
        d,
        graph: to,
    };
    let (initial, mut steps) = way.stem(&component, &hull.reached)?;
    let loop_from = steps.len();
    let home = steps.last().map_or(&initial, |(_, state)| state).clone();
    // What is done on the way need not be done again.
    let mut open: Vec<&Must> = conditions.musts.iter().collect();
    open.reverse();
    while let Some(must) = open.pop() {
        let here = steps.last().map_or(&initial, |(_, state)| state).clone();
        let doing = doing(search, graph, must, &component)?;
        let walker = Walker { search, d, graph };
        let way = walker.way(&here, &doing, &component)?;
        let at = way.last().map_or(&here, |(_, state)| state).clone();
        let by = walker.step(&at, &component, must.mover)?.ok_or_else(lost)?;
        let mut before = here;
        for (process, state) in way.into_iter().chain([by]) {
            let done = |other: &&Must| {
                other.mover.is_none_or(|mover| mover == process)
                    && walker.is_in(&before, &other.from)
            };
            open.retain(|other| !done(other));
            before = state.clone();
            steps.push((process, state));
        }
    }
    let walker = Walker { search, d, graph };
    // Strong assumptions that the loop asks for and does not meet yet.
    loop {
        let here = steps.last().map_or(&initial, |(_, state)| state).clone();
        let round: Vec<&Seen> = std::iter::once(&home)
            .chain(steps[loop_from..].iter().map(|(_, state)| state))
            .collect();
        let way_home = match here == home && steps.len() > loop_from {
            true => Vec::new(),
            false if here == home => {
                let first = walker.step(&here, &component, None)?.ok_or_else(lost)?;
                let rest = walker.way(&first.1, &home.set, &component)?;
                std::iter::once(first).chain(rest).collect()
            }
            false => walker.way(&here, &home.set, &component)?,
        };
        let all = || {
            round
                .iter()
                .copied()
                .chain(way_home.iter().map(|(_, state)| state))
        };
        let missing = conditions.strong.iter().find(|strong| {
            all().any(|state| walker.is_in(state, &strong.p))
                && !all().any(|state| walker.is_in(state, &strong.q))
        });
        match missing {
            Some(strong) => {
                let answer = d.and(&component, &strong.q)?;
                let way = walker.way(&here, &answer, &component)?;
                steps.extend(way);
            }
            None => {
                steps.extend(way_home);
                return Ok(Lasso {
                    initial,
                    steps,
                    loop_from,
                });
            }
        }
    }
}

struct Walker<'w, 'a, 's> {
    search: &'w Search<'a, 's>,
    d: &'w Diagrams,
    graph: &'w Graph,
}

impl Walker<'_, '_, '_> {
    fn is_in(&self, state: &Seen, set: &Bdd) -> bool {
        // What is seen of a state decides whether it is in a set of what is seen.
        self.d
            .and(&state.set, set)
            .is_ok_and(|both| !self.d.is_empty(&both))
    }

    /// Some state of a set, as far as it is seen.
    fn some(&self, set: &Bdd) -> Result<Option<Seen>, Halt> {
        let Some(member) = self.d.member(set) else {
            return Ok(None);
        };
        let mut values = vec![None; member.len()];
        let mut all = self.d.all();
        for var in self.graph.seen.iter().rev() {
            let value = member[*var as usize].unwrap_or(false);
            values[*var as usize] = Some(value);
            all = self.d.and(&self.d.literal(*var, value)?, &all)?;
        }
        Ok(Some(Seen { values, set: all }))
    }

    /// A strongly connected part of a hull that no step within the hull leaves.
    fn component(&self, hull: &Bdd) -> Result<Bdd, Halt> {
        let (d, graph) = (self.d, self.graph);
        let mut start = self.some(hull)?.ok_or_else(lost)?;
        loop {
            let mut ahead = start.set.clone();
            let mut quiet = 0;
            let mut next = 0;
            while quiet < graph.moves.len() {
                self.search.breathe()?;
                let process = ProcessId::from_usize(next);
                let after = d.and(&graph.post(d, process, &ahead)?, hull)?;
                let grown = d.or(&ahead, &after)?;
                quiet = if grown == ahead { quiet + 1 } else { 0 };
                ahead = grown;
                next = (next + 1) % graph.moves.len();
            }
            let back = leads_to(self.search, graph, &ahead, start.set.clone())?;
            match self.some(&d.minus(&ahead, &back)?)? {
                Some(further) => start = further,
                None => return Ok(ahead),
            }
        }
    }

    /// A shortest way from the beginning into a set.
    fn stem(&self, target: &Bdd, reached: &Bdd) -> Result<(Seen, Vec<(ProcessId, Seen)>), Halt> {
        let d = self.d;
        let mut layers = vec![target.clone()];
        let mut known = target.clone();
        loop {
            let last = layers.last().unwrap_or(target);
            if let Some(initial) = self.some(&d.and(last, &self.graph.initial)?)? {
                layers.pop();
                let way = self.down(&initial, &layers)?;
                return Ok((initial, way));
            }
            let promised = self.graph.promised(d, last)?;
            let mut before = d.none();
            for process in self.graph.moves.indices() {
                self.search.breathe()?;
                before = d.or(&before, &self.graph.before(d, process, &promised)?)?;
            }
            let new = d.minus(&d.and(&before, reached)?, &known)?;
            if d.is_empty(&new) {
                return Err(lost());
            }
            known = d.or(&known, &new)?;
            layers.push(new);
        }
    }

    /// A shortest way from a state into a set, within another; empty if it is there already.
    fn way(&self, from: &Seen, target: &Bdd, within: &Bdd) -> Result<Vec<(ProcessId, Seen)>, Halt> {
        let d = self.d;
        let mut layers: Vec<Bdd> = Vec::new();
        let mut last = d.and(target, within)?;
        let mut known = last.clone();
        while !self.is_in(from, &last) {
            let promised = self.graph.promised(d, &last)?;
            let mut before = d.none();
            for process in self.graph.moves.indices() {
                self.search.breathe()?;
                before = d.or(&before, &self.graph.before(d, process, &promised)?)?;
            }
            let new = d.minus(&d.and(&before, within)?, &known)?;
            if d.is_empty(&new) {
                return Err(lost());
            }
            known = d.or(&known, &new)?;
            layers.push(std::mem::replace(&mut last, new));
        }
        self.down(from, &layers)
    }

    /// A way through layers, from the last one to the first.
    fn down(&self, from: &Seen, layers: &[Bdd]) -> Result<Vec<(ProcessId, Seen)>, Halt> {
        let mut way: Vec<(ProcessId, Seen)> = Vec::new();
        for layer in layers.iter().rev() {
            let here = way.last().map_or(from, |(_, state)| state).clone();
            way.push(self.step(&here, layer, None)?.ok_or_else(lost)?);
        }
        Ok(way)
    }

    /// A step, of a process if that matters, into a set.
    fn step(
        &self,
        from: &Seen,
        into: &Bdd,
        mover: Option<ProcessId>,
    ) -> Result<Option<(ProcessId, Seen)>, Halt> {
        for process in self.graph.moves.indices() {
            if mover.is_some_and(|mover| mover != process) {
                continue;
            }
            self.search.breathe()?;
            let after = self.graph.post(self.d, process, &from.set)?;
            if let Some(state) = self.some(&self.d.and(&after, into)?)? {
                return Ok(Some((process, state)));
            }
        }
        Ok(None)
    }
}
