//! The strongest split invariant, by a fixpoint.
//!
//! The assertion of process i is `common and own_i`: `common` speaks of what all can see (shared variables and
//! classes), `own_i` of the shared variables and of process i. Kept apart, each part is small: what the
//! others show is stated once for all processes, not once for each. As long as nothing is exposed this is the strongest split
//! invariant (Cohen and Namjoshi, "Local proofs for global safety properties", Section 2); with classes it
//! leaves out how the hidden part of i depends on the classes of others beyond the shared variables and
//! its own class. Where that matters, `sharp` has the strongest. May contain states that are not reachable, never misses one.
//!
//! A step of process j changes `own_j` directly. For all others it is what can be seen of it, taken within
//! `own_j`: a step on shared variables and on the classes of j. `common` is closed under these by chaining. To
//! process i it is a change of shared variables where `common` allows it, and the classes of j no longer
//! matter: steps of different processes that write the same are one.

use std::collections::HashMap;

use index_vec::IndexVec;
use threadwise_evidence::Outline;
use threadwise_model::system::ProcessId;
use threadwise_symbolic::{
    Agenda, Bdd, Diagrams, Halt, Hidden, Layout, Search, Symbolic, Transition,
};

use super::Stage;
use super::division::{Body, Division, Fixpoint, Staged};
use super::outline::outline;
use super::sharp::{self, outline_alone};
use super::together::Together;
use super::view::{Representatives, Source, View};

/// A split invariant: the conjunction of all parts.
#[derive(PartialEq)]
pub struct Assertions {
    /// Over what everybody sees.
    pub common: Bdd,
    /// For each process, over the shared variables and its own.
    pub own: IndexVec<ProcessId, Bdd>,
    /// Whether the assertion of a process speaks of the classes of others, too, or there are none.
    pub(crate) sharp: bool,
}

impl Division for Assertions {
    type Representatives = Representatives;

    fn processes(representatives: &Representatives) -> Vec<ProcessId> {
        representatives.all()
    }

    fn outline(
        search: &Search,
        stage: &Stage<Self>,
        representatives: &Representatives,
    ) -> Result<Outline, Halt> {
        if stage.assertions.sharp && stage.view.exposes() {
            return outline_alone(search, stage, &stage.assertions, representatives);
        }
        outline(search, stage, representatives)
    }

    fn strongest(
        search: &mut Search,
        view: &View,
        representatives: &Representatives,
    ) -> Result<Fixpoint<Self>, Halt> {
        let symbolic = search.symbolic.clone();
        let exposed = view.exposes();
        let mut assertions = Assertions::first(&symbolic, view)?;
        let wanted = representatives.all();
        let sources = representatives.sources(&symbolic);
        let mut seen: IndexVec<ProcessId, Vec<Transition>> =
            view.own.iter().map(|_| Vec::new()).collect();
        // Nobody has seen anything of these yet.
        let mut changed = wanted.clone();
        let mut environments: Vec<Vec<Transition>> = wanted.iter().map(|_| Vec::new()).collect();
        loop {
            for (&process, environment) in wanted.iter().zip(&environments) {
                let before = assertions.own[process].clone();
                let steps = symbolic.transitions.moves[process]
                    .iter()
                    .chain(environment);
                if let Some(layout) = close(search, &mut assertions.own[process], steps)? {
                    return Ok(Fixpoint::Rearrange(layout));
                }
                if assertions.own[process] != before {
                    changed.push(process);
                }
            }
            for Source { process, image } in &sources {
                let process = *process;
                if !changed.contains(&representatives.of(process).0) {
                    continue;
                }
                search.breathe()?;
                if let Some((from, permutation)) = image {
                    assertions.own[process] =
                        symbolic.permute(&assertions.own[*from], permutation)?;
                }
                let moves = &symbolic.transitions.moves[process];
                let (own, hidden) = (&assertions.own[process], &view.own[process].hidden);
                seen[process] = summary(&symbolic.diagrams, moves, own, hidden)?;
            }
            let before = assertions.common.clone();
            if exposed {
                close_common(search, view, &seen, &mut assertions.common)?;
            }
            if changed.is_empty() && assertions.common == before {
                return Ok(Fixpoint::Reached(assertions));
            }
            changed.clear();
            environments =
                Environments::new(search, view, &assertions.common, &seen)?.of(search, &wanted)?;
        }
    }

    fn sharp(
        search: &mut Search,
        view: &View,
        representatives: &Representatives,
        reachable: &mut Option<usize>,
    ) -> Result<Option<Fixpoint<Self>>, Halt> {
        sharp::strongest(search, view, representatives, reachable)
    }

    fn is_sharp(&self) -> bool {
        self.sharp
    }

    fn rows(&self) -> Vec<Vec<&Bdd>> {
        let mut rows = vec![vec![&self.common]];
        // From the last variables up.
        rows.extend(self.own.iter().rev().map(|own| vec![own]));
        rows
    }

    fn among(&self, d: &Diagrams, set: &Bdd, processes: &[ProcessId]) -> Result<Bdd, Halt> {
        let mut states = d.and(&self.common, set)?;
        for process in processes.iter().rev() {
            states = d.and(&states, &self.own[*process])?;
        }
        Ok(states)
    }

    fn two_of(&self, d: &Diagrams, view: &View, bodies: &[Body]) -> Result<Bdd, Halt> {
        let (mut one, mut two) = (d.none(), d.none());
        for body in bodies.iter().rev() {
            let mut seen = body.holds.clone();
            for process in &body.processes {
                let hidden = &view.own[*process].hidden;
                seen = hidden.forget_and(d, &seen, &self.own[*process])?;
            }
            two = d.or(&two, &d.and(&one, &seen)?)?;
            one = d.or(&one, &seen)?;
        }
        Ok(d.and(&two, &self.common)?)
    }
}

impl Staged for Assertions {
    fn first(symbolic: &Symbolic, view: &View) -> Result<Self, Halt> {
        let d = &symbolic.diagrams;
        let shared = symbolic.initial_of(&view.shared)?;
        // If nothing is exposed, everybody's own part says all that everybody sees.
        let common = match view.exposes() {
            true => view.hidden.forget(d, &view.initial(symbolic)?)?,
            false => d.all(),
        };
        let mut own = IndexVec::new();
        for cells in &view.own {
            let initial = symbolic.initial_of(&cells.cells)?;
            own.push(d.and(&shared, &initial)?);
        }
        Ok(Assertions {
            common,
            own,
            sharp: !view.exposes(),
        })
    }

    fn first_sharp(
        &self,
        search: &Search,
        view: &View,
        representatives: &Representatives,
    ) -> Result<Option<Self>, Halt> {
        if self.sharp {
            return Ok(None);
        }
        sharp::divided(search, view, representatives, &search.symbolic.initial).map(Some)
    }

    fn next(
        &self,
        search: &Search,
        view: &View,
        representatives: &Representatives,
    ) -> Result<Self, Halt> {
        if self.sharp && view.exposes() {
            return sharp::next(search, view, representatives, self);
        }
        let symbolic = &search.symbolic;
        let d = &symbolic.diagrams;
        let mut seen = IndexVec::new();
        for (process, own) in self.own.iter_enumerated() {
            search.breathe()?;
            let moves = &symbolic.transitions.moves[process];
            seen.push(summary(d, moves, own, &view.own[process].hidden)?);
        }
        let wanted = representatives.all();
        let environments =
            Environments::new(search, view, &self.common, &seen)?.of(search, &wanted)?;
        let mut next = Assertions {
            common: self.common.clone(),
            own: self.own.clone(),
            sharp: self.sharp,
        };
        for (&process, environment) in wanted.iter().zip(&environments) {
            for step in symbolic.transitions.moves[process]
                .iter()
                .chain(environment)
            {
                search.breathe()?;
                let after = step.post(d, &self.own[process])?;
                next.own[process] = d.or(&next.own[process], &after)?;
            }
        }
        for process in view.own.indices() {
            if let (representative, Some(permutation)) = representatives.of(process) {
                next.own[process] = symbolic.permute(&next.own[representative], permutation)?;
            }
        }
        if view.exposes() {
            for step in seen.iter().flatten() {
                search.breathe()?;
                next.common = d.or(&next.common, &step.post(d, &self.common)?)?;
            }
        }
        Ok(next)
    }
}

/// Closes what everybody sees under what is seen of all steps.
pub(super) fn close_common(
    search: &mut Search,
    view: &View,
    seen: &IndexVec<ProcessId, Vec<Transition>>,
    common: &mut Bdd,
) -> Result<(), Halt> {
    let symbolic = search.symbolic.clone();
    if let Some(together) = Together::of(search, view, seen)?
        && together.close(search, &symbolic, common)?
    {
        return Ok(());
    }
    let mut agenda = Agenda::new(symbolic.schedule.clone());
    while !search.advance_by(&mut agenda, seen, common, Transition::post)? {}
    Ok(())
}

/// Closes a part under steps of those whom it speaks of and of their environment, unless a better layout shows up.
pub(super) fn close<'t>(
    search: &mut Search,
    part: &mut Bdd,
    steps: impl Iterator<Item = &'t Transition>,
) -> Result<Option<Layout>, Halt> {
    let symbolic = search.symbolic.clone();
    let mut moves: IndexVec<ProcessId, Vec<&Transition>> = symbolic
        .transitions
        .moves
        .iter()
        .map(|_| Vec::new())
        .collect();
    for transition in steps {
        moves[transition.process].push(transition);
    }
    let mut agenda = Agenda::new(symbolic.schedule.clone());
    while !search.advance_by(&mut agenda, &moves, part, Transition::post)? {
        if let Some(layout) = search.better_layout(part)? {
            return Ok(Some(layout));
        }
    }
    Ok(None)
}

/// What is seen of steps, taken within a set, by those who do not see the hidden variables.
pub fn summary(
    d: &Diagrams,
    steps: &[Transition],
    within: &Bdd,
    hidden: &Hidden,
) -> Result<Vec<Transition>, Halt> {
    let mut summary = Vec::new();
    for transition in steps {
        // Where nothing is seen of it, its guard need not be looked at.
        if transition
            .written()
            .iter()
            .all(|var| hidden.vars().contains(var))
        {
            continue;
        }
        let seen = transition.project(d, within, hidden)?;
        if !d.is_empty(&seen.guard) {
            summary.push(seen);
        }
    }
    Ok(summary)
}

/// Steps that write the same constants: what they do, and when whose step is taken.
pub(super) type Group = (Transition, Vec<(ProcessId, Bdd)>);

#[derive(Default)]
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// The place of each group by what it writes.
    known: HashMap<(Vec<u32>, Bdd), usize>,
}

impl Groups {
    pub(super) fn add(&mut self, assignment: Transition, process: ProcessId, when: Bdd) {
        let Some((vars, values)) = assignment.assignment() else {
            return;
        };
        let key = (vars.to_vec(), values.clone());
        let place = *self.known.entry(key).or_insert(self.list.len());
        if place == self.list.len() {
            self.list.push((assignment, Vec::new()));
        }
        self.list[place].1.push((process, when));
    }
}

/// What the environment of each process does to the shared variables.
pub(super) struct Environments<'a> {
    d: &'a Diagrams<'a>,
    common: &'a Bdd,
    view: &'a View,
    /// Steps that write the same constants to shared variables.
    groups: Vec<Group>,
    /// Other steps.
    single: Vec<&'a Transition>,
}

impl<'a> Environments<'a> {
    pub(super) fn new(
        search: &'a Search,
        view: &'a View,
        common: &'a Bdd,
        seen: &'a IndexVec<ProcessId, Vec<Transition>>,
    ) -> Result<Self, Halt> {
        let d = &search.symbolic.diagrams;
        let all = d.all();
        let mut groups = Groups::default();
        let mut single = Vec::new();
        for transition in seen.iter().flatten() {
            let process = transition.process;
            let shared = transition.project(d, &all, &view.own[process].classes)?;
            if shared.is_idle() {
                continue;
            }
            if shared.assignment().is_some() {
                groups.add(shared, process, transition.guard.clone());
            } else {
                single.push(transition);
            }
        }
        Ok(Environments {
            d,
            common,
            view,
            groups: groups.list,
            single,
        })
    }

    /// The environment of each of these processes, as steps on the shared variables and what is seen of the process.
    pub(super) fn of(
        &self,
        search: &Search,
        wanted: &[ProcessId],
    ) -> Result<Vec<Vec<Transition>>, Halt> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut guards: Vec<Vec<(usize, Bdd)>> = vec![Vec::new(); self.view.own.len()];
        if wanted.len() == self.view.own.len() {
            self.divide(
                search,
                0,
                self.view.own.len(),
                self.common,
                &[],
                &mut guards,
            )?;
        } else {
            for process in wanted {
                search.breathe()?;
                let others = self
                    .view
                    .classes_outside(self.d, |other| other == *process)?;
                for (group, (_, members)) in self.groups.iter().enumerate() {
                    let when = self.union(members, |other| other != *process)?;
                    let guard = others.forget_and(self.d, self.common, &when)?;
                    guards[process.index()].push((group, guard));
                }
            }
        }
        let mut environments = Vec::new();
        for process in wanted {
            let mut environment = Vec::new();
            for (group, guard) in std::mem::take(&mut guards[process.index()]) {
                if !self.d.is_empty(&guard) {
                    environment.extend(self.groups[group].0.guarded(self.d, guard)?);
                }
            }
            if !self.single.is_empty() {
                search.breathe()?;
                let others = self
                    .view
                    .classes_outside(self.d, |other| other == *process)?;
                for transition in &self.single {
                    if transition.process != *process {
                        let step = transition.project(self.d, self.common, &others)?;
                        if !self.d.is_empty(&step.guard) {
                            environment.push(step);
                        }
                    }
                }
            }
            environments.push(environment);
        }
        Ok(environments)
    }

    /// For each process from `first` to `last` (excluded), when the others do what a group does, with
    /// everybody else's classes forgotten. Halves of the range are treated alike, so that each class is
    /// forgotten for many processes at once.
    ///
    /// `common` and `outside` (when somebody outside the range does it) have forgotten the classes of
    /// processes outside the range.
    fn divide(
        &self,
        search: &Search,
        first: usize,
        last: usize,
        common: &Bdd,
        outside: &[(usize, Bdd)],
        guards: &mut [Vec<(usize, Bdd)>],
    ) -> Result<(), Halt> {
        search.breathe()?;
        if last - first == 1 {
            guards[first] = outside.to_vec();
            return Ok(());
        }
        let middle = first + (last - first) / 2;
        for (here, there) in [(first..middle, middle..last), (middle..last, first..middle)] {
            let leaving = self
                .view
                .classes_outside(self.d, |other| !there.contains(&other.index()))?;
            let mut around: Vec<(usize, Bdd)> = Vec::new();
            let mut known = outside.iter().peekable();
            for (group, (_, members)) in self.groups.iter().enumerate() {
                let joining = self.union(members, |other| there.contains(&other.index()))?;
                let mut when = self.d.and(common, &joining)?;
                if let Some((_, guard)) = known.next_if(|(other, _)| *other == group) {
                    when = self.d.or(&when, guard)?;
                }
                if !self.d.is_empty(&when) {
                    around.push((group, leaving.forget(self.d, &when)?));
                }
            }
            let common = leaving.forget(self.d, common)?;
            self.divide(search, here.start, here.end, &common, &around, guards)?;
        }
        Ok(())
    }

    fn union(
        &self,
        members: &[(ProcessId, Bdd)],
        of: impl Fn(ProcessId) -> bool,
    ) -> Result<Bdd, Halt> {
        let mut union = self.d.none();
        // From the last variables up.
        for (process, guard) in members.iter().rev() {
            if of(*process) {
                union = self.d.or(&union, guard)?;
            }
        }
        Ok(union)
    }
}
