//! A fair run out of a fair hull: a way into it, and round through all duties.

use threadwise_model::system::ProcessId;
use threadwise_symbolic::{Bdd, Diagrams, Error, Halt, Search};

use crate::fair::{Conditions, Hull, Must, doing};
use crate::product::Graph;

/// A state, as far as it is seen.
#[derive(Clone, PartialEq)]
pub(crate) struct Seen {
    /// The values of the seen variables, by variable.
    pub(crate) values: Vec<Option<bool>>,
    /// All states that look so.
    pub(crate) set: Bdd,
}

/// Who was scheduled, and the state after.
pub(crate) type Way = Vec<(ProcessId, Seen)>;

/// A run without end: after the last state it goes on as after `loop_from` steps.
pub(crate) struct Lasso {
    /// The first state.
    pub(crate) initial: Seen,
    /// Who was scheduled, and the state after.
    pub(crate) steps: Way,
    /// Where the loop begins.
    pub(crate) loop_from: usize,
}

fn lost() -> Halt {
    Error::Internal("a fair hull without a fair run").into()
}

/// A fair run through a hull that is not empty. The hull may be one of fewer steps than those that lead to it.
///
/// From every state of a hull, steps within it lead to every duty. So a walk does them all, and then goes back to where it began. If
/// there is no way back, it begins anew where it is: it will never be where it was again, so this ends.
pub(crate) fn lasso(
    search: &mut Search,
    to: &Graph,
    graph: &Graph,
    conditions: &Conditions,
    hull: &Hull,
) -> Result<Lasso, Halt> {
    let symbolic = search.symbolic.clone();
    let d = &symbolic.diagrams;
    let way = Walker {
        search,
        d,
        graph: to,
    };
    let walker = Walker { search, d, graph };
    let (initial, mut steps) = way.stem(&hull.left, &hull.reached)?;
    // What is done once may never come again; loops are rather found after it.
    let first = steps.last().map_or(&initial, |(_, state)| state).clone();
    walker.do_all(conditions, &hull.left, &first, &mut steps)?;
    loop {
        let loop_from = steps.len();
        let home = steps.last().map_or(&initial, |(_, state)| state).clone();
        walker.do_all(conditions, &hull.left, &home, &mut steps)?;
        let mut answered = true;
        while answered {
            let here = steps.last().map_or(&initial, |(_, state)| state).clone();
            let Some(way_home) = walker.way(&here, &home.set, &hull.left)? else {
                break;
            };
            let missing = {
                let round = steps[loop_from..].iter().chain(&way_home);
                let round: Vec<&Seen> = std::iter::once(&home)
                    .chain(round.map(|(_, state)| state))
                    .collect();
                conditions.strong.iter().find(|strong| {
                    round.iter().any(|state| walker.is_in(state, &strong.p))
                        && !round.iter().any(|state| walker.is_in(state, &strong.q))
                })
            };
            match missing {
                Some(strong) => {
                    let answer = d.and(&hull.left, &strong.q)?;
                    let way = walker.way(&here, &answer, &hull.left)?;
                    answered = way.is_some();
                    steps.extend(way.ok_or_else(lost)?);
                }
                None => {
                    steps.extend(way_home);
                    let mut round = steps.split_off(loop_from);
                    walker.prune(conditions, &home, &mut round);
                    return way.shortened(&home, round, &hull.reached);
                }
            }
        }
    }
}

struct Walker<'w, 'a, 's> {
    search: &'w Search<'a, 's>,
    d: &'w Diagrams<'w>,
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

    /// Leaves out steps that change nothing and that nobody needs: whoever is scheduled in one does what it must elsewhere in the loop.
    fn prune(&self, conditions: &Conditions, home: &Seen, round: &mut Way) {
        let before = |round: &Way, step: usize| match step.checked_sub(1) {
            Some(step) => round[step].1.clone(),
            None => home.clone(),
        };
        for step in (0..round.len()).rev() {
            let (process, state) = &round[step];
            if round.len() == 1 || before(round, step) != *state {
                continue;
            }
            let of = |must: &&Must| must.mover == Some(*process);
            let mut musts = conditions.musts.iter().filter(of);
            let elsewhere = musts.all(|must| {
                (0..round.len()).any(|other| {
                    other != step
                        && round[other].0 == *process
                        && self.is_in(&before(round, other), &must.from)
                })
            });
            if elsewhere {
                round.remove(step);
            }
        }
    }

    /// The loop with a shortest way to it.
    fn shortened(&self, home: &Seen, mut round: Way, reached: &Bdd) -> Result<Lasso, Halt> {
        let d = self.d;
        let mut states = home.set.clone();
        for (_, state) in &round {
            states = d.or(&states, &state.set)?;
        }
        let (initial, mut steps) = self.stem(&states, reached)?;
        let entry = steps.last().map_or(&initial, |(_, state)| state);
        let place = round.iter().position(|(_, state)| state == entry);
        round.rotate_left(place.map_or(0, |place| place + 1));
        let loop_from = steps.len();
        steps.extend(round);
        Ok(Lasso {
            initial,
            steps,
            loop_from,
        })
    }

    /// Does every duty, from a state on; one step at least.
    fn do_all(
        &self,
        conditions: &Conditions,
        hull: &Bdd,
        home: &Seen,
        steps: &mut Way,
    ) -> Result<(), Halt> {
        let mut here = home.clone();
        if conditions.musts.is_empty() {
            steps.push(self.step(&here, hull, None)?.ok_or_else(lost)?);
            return Ok(());
        }
        let mut open: Vec<&Must> = conditions.musts.iter().rev().collect();
        while let Some(must) = open.pop() {
            let mut way = Vec::new();
            let mut by = None;
            // Mostly it can be done at once.
            if self.is_in(&here, &must.from) {
                by = self.step(&here, hull, must.mover)?;
            }
            if by.is_none() {
                let doing = doing(self.search, self.graph, must, hull)?;
                way = self.way(&here, &doing, hull)?.ok_or_else(lost)?;
                let at = way.last().map_or(&here, |(_, state)| state);
                by = self.step(at, hull, must.mover)?;
            }
            for (process, state) in way.into_iter().chain([by.ok_or_else(lost)?]) {
                // What is done on the way need not be done again.
                open.retain(|other| {
                    let mover = other.mover.is_none_or(|mover| mover == process);
                    !(mover && self.is_in(&here, &other.from))
                });
                here = state.clone();
                steps.push((process, state));
            }
        }
        Ok(())
    }

    /// A shortest way from the beginning into a set.
    fn stem(&self, target: &Bdd, reached: &Bdd) -> Result<(Seen, Way), Halt> {
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

    /// A shortest way from a state into a set, within another; empty if it is there already, `None` if there is none. Forwards, since few
    /// states are near one.
    fn way(&self, from: &Seen, target: &Bdd, within: &Bdd) -> Result<Option<Way>, Halt> {
        let d = self.d;
        let mut layers = vec![from.set.clone()];
        let mut known = from.set.clone();
        loop {
            let last = layers.last().unwrap_or(&known);
            if let Some(end) = self.some(&d.and(last, target)?)? {
                layers.pop();
                return self.back(&layers, end).map(Some);
            }
            let mut after = d.none();
            for process in self.graph.moves.indices() {
                self.search.breathe()?;
                after = d.or(&after, &self.graph.post(d, process, last)?)?;
            }
            let new = d.minus(&d.and(&after, within)?, &known)?;
            if d.is_empty(&new) {
                return Ok(None);
            }
            known = d.or(&known, &new)?;
            layers.push(new);
        }
    }

    /// A way through layers, from the first one to a state after the last.
    fn back(&self, layers: &[Bdd], end: Seen) -> Result<Way, Halt> {
        let d = self.d;
        let mut way = Vec::new();
        let mut state = end;
        for layer in layers.iter().rev() {
            let promised = self.graph.promised(d, &state.set)?;
            let mut before = None;
            for process in self.graph.moves.indices() {
                self.search.breathe()?;
                let set = self.graph.before(d, process, &promised)?;
                if let Some(previous) = self.some(&d.and(&set, layer)?)? {
                    before = Some((process, previous));
                    break;
                }
            }
            let (process, previous) = before.ok_or_else(lost)?;
            way.push((process, std::mem::replace(&mut state, previous)));
        }
        way.reverse();
        Ok(way)
    }

    /// A way through layers, from the last one to the first.
    fn down(&self, from: &Seen, layers: &[Bdd]) -> Result<Way, Halt> {
        let mut way: Way = Vec::new();
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
