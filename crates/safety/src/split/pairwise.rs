//! Pairwise split invariants: one assertion for each pair of processes.
//!
//! The invariant is `common and pair_ij for all i, j`: `common` speaks of what all can see (shared variables and classes), `pair_ij`
//! of the shared variables and all cells of i and j. It relates two processes without exposing anything: round a semaphore, that not
//! both are inside. Where that is not enough, the loop refines as it does for assertions about one process.
//!
//! Inductive. Take a state of the invariant and a step of process k. For k = i or j, `pair_ij` is closed under the step itself, which
//! touches nothing but shared variables and cells of k. For any other k the state is also in `pair_ik`, `pair_jk` and `common`, and
//! `pair_ij` is closed under what is left of the step, taken within the three, when the cells of k are forgotten. `common` is closed under what
//! everybody sees of the step, taken within all pairs of k. Complete by refinement: with everything exposed, `common` is the set of reachable states.
//! Weaker than the paper's: a third process's step is taken within the assertions about three processes, not within those about all.
//!
//! By symmetry one pair stands for all that a permutation takes it to. Every round takes all images of the same stage, and closes each
//! representative completely. So the assertions stay invariant under the permutations that fix their pair, it does not matter by which one a pair is
//! reached, and what a representative is closed under its images are closed under, too.
//!
//! After Cohen and Namjoshi, "Local proofs for global safety properties" (CAV 2007), Section 3, "Split-Inv-Pairwise".

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use index_vec::IndexVec;
use threadwise_engine::{Answer, Decides, EngineInfo, Make, NO_SYMMETRY};
use threadwise_evidence::Outline;
use threadwise_model::system::{ProcessId, SystemProperty};
use threadwise_symbolic::{Bdd, Diagrams, Error, Halt, Hidden, Search, Symbolic, Transition};

use super::assertions::{Groups, close, close_common, summary};
use super::division::{Body, Division, Fixpoint};
use super::outline::outline_of_pairs;
use super::pairs::{self, Pair, Pairs};
use super::view::View;
use super::{How, Stage, decide};
use crate::reach::{Method, engine};

/// Split invariants over pairs of processes, as the engine is known.
pub static PAIRWISE: EngineInfo = EngineInfo {
    name: Pairwise::NAME,
    about: "One assertion for each pair of processes, refined in the same way; counterexamples as of `split`.",
    decides: Decides::Safety,
    explains: true,
    options: &[NO_SYMMETRY],
    make: Make::One(|setup| Ok(Box::new(Pairwise(How::of(setup))))),
};

/// Split invariants over pairs of processes, with refinement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairwise(pub How);

engine!(Pairwise);

impl Method for Pairwise {
    const NAME: &'static str = "pairwise";

    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt> {
        let pairs = Pairs::new(search.symbolic.system, self.0.symmetry);
        decide::<PairAssertions>(search, &pairs, self.0, properties, answers)?;
        Ok(None)
    }
}

/// A pairwise split invariant: the conjunction of all parts.
pub(super) struct PairAssertions {
    /// Over what everybody sees.
    pub(super) common: Bdd,
    /// For each pair, over the shared variables and its own.
    pub(super) pairs: BTreeMap<Pair, Bdd>,
    processes: usize,
}

impl Division for PairAssertions {
    type Representatives = Pairs;

    fn processes(pairs: &Pairs) -> Vec<ProcessId> {
        pairs.processes.all()
    }

    fn outline(search: &Search, stage: &Stage<Self>, pairs: &Pairs) -> Result<Outline, Halt> {
        outline_of_pairs(search, stage, pairs)
    }

    fn strongest(search: &mut Search, view: &View, pairs: &Pairs) -> Result<Fixpoint<Self>, Halt> {
        let symbolic = search.symbolic.clone();
        let d = &symbolic.diagrams;
        // If nothing is exposed, the pairs say all that everybody sees.
        let exposed = view.exposes();
        let mut common = match exposed {
            true => view.hidden.forget(d, &symbolic.initial)?,
            false => d.all(),
        };
        let mut matrix = Matrix::new(&symbolic, view, pairs)?;
        let outside = Outside::new(&symbolic, view)?;
        let mut environments: Vec<Environment> = pairs
            .wanted
            .iter()
            .map(|_| Environment::new(d, &outside))
            .collect();
        let mut seen: IndexVec<ProcessId, Vec<Transition>> =
            view.own.iter().map(|_| Vec::new()).collect();
        let mut first = true;
        loop {
            let mut grown = Vec::new();
            for (&pair, environment) in pairs.wanted.iter().zip(&mut environments) {
                if !std::mem::replace(&mut environment.new, false) {
                    continue;
                }
                let moves = &symbolic.transitions.moves;
                let own = pair.processes().flat_map(|process| &moves[process]);
                let effects = environment.effects(d, &outside)?;
                let others = effects.iter().chain(environment.single.values().flatten());
                let steps = own.chain(others);
                let mut part = matrix.wanted[&pair].clone();
                // As below: a step can wait for what the pair does on its own.
                let mut open = true;
                while open {
                    let earlier = part.clone();
                    if let Some(layout) = close(search, &mut part, steps.clone())? {
                        return Ok(Fixpoint::Rearrange(layout));
                    }
                    open = part != earlier;
                }
                if part != matrix.wanted[&pair] {
                    grown.push((pair, part));
                }
            }
            matrix.replace(grown);
            let mut known: BTreeMap<ProcessId, Bdd> = BTreeMap::new();
            for process in pairs.processes.all() {
                search.breathe()?;
                if exposed && (first || matrix.has_changed_of(process)) {
                    known.insert(process, matrix.about(view, process)?);
                }
            }
            for process in view.own.indices() {
                let (representative, permutation) = pairs.processes.of(process);
                if let Some(within) = known.get(&representative) {
                    search.breathe()?;
                    let within = match permutation {
                        Some(permutation) => &symbolic.permute(within, permutation)?,
                        None => within,
                    };
                    // The image of what is seen of others may speak of which of their codes have a meaning, too.
                    seen[process] = summary(
                        d,
                        &symbolic.transitions.moves[process],
                        within,
                        &view.hidden,
                    )?;
                }
            }
            let before = common.clone();
            // The schedule knows who depends on whom through shared variables. Here a step can also wait for what is seen
            // of another process.
            let mut open = exposed;
            while open {
                let earlier = common.clone();
                close_common(search, view, &seen, &mut common)?;
                open = common != earlier;
            }
            let everywhere = first || common != before;
            if !everywhere && matrix.changed.is_empty() {
                break;
            }
            first = false;
            let around = Around {
                view,
                outside: &outside,
                common: &common,
                everywhere,
            };
            for (&pair, environment) in pairs.wanted.iter().zip(&mut environments) {
                environment.extend(search, &around, &mut matrix, pair)?;
            }
        }
        let mut all = BTreeMap::new();
        for pair in pairs::all(symbolic.system) {
            search.breathe()?;
            all.insert(pair, matrix.get(pair)?);
        }
        Ok(Fixpoint::Reached(PairAssertions {
            common,
            pairs: all,
            processes: view.own.len(),
        }))
    }

    fn rows(&self) -> Vec<Vec<&Bdd>> {
        let mut rows = vec![vec![&self.common]];
        let pairs: Vec<(&Pair, &Bdd)> = self.pairs.iter().rev().collect();
        // From the last variables up, and all pairs of a process together: then each step adds little on top.
        for row in pairs.chunk_by(|(one, _), (other, _)| one.lower() == other.lower()) {
            rows.push(row.iter().map(|(_, part)| *part).collect());
        }
        rows
    }

    fn among(&self, d: &Diagrams, set: &Bdd, processes: &[ProcessId]) -> Result<Bdd, Halt> {
        let mut states = set.clone();
        if let [process] = *processes {
            // Any pair of the process says what there is to say of it alone, or nearly so.
            let next = ProcessId::from_usize((process.index() + 1) % self.processes);
            states = d.and(&states, &self.pairs[&Pair::new(process, next)])?;
        }
        for (place, &one) in processes.iter().enumerate() {
            for &other in &processes[place + 1..] {
                states = d.and(&states, &self.pairs[&Pair::new(one, other)])?;
            }
        }
        Ok(d.and(&states, &self.common)?)
    }

    fn two_of(&self, d: &Diagrams, _: &View, bodies: &[Body]) -> Result<Bdd, Halt> {
        for (place, one) in bodies.iter().enumerate() {
            for other in &bodies[place + 1..] {
                let both = d.and(one.holds, other.holds)?;
                let processes = [one.processes.as_slice(), &other.processes].concat();
                let possible = self.among(d, &both, &processes)?;
                if !d.is_empty(&possible) {
                    return Ok(possible);
                }
            }
        }
        Ok(d.none())
    }
}

/// The parts of all pairs at a stage of the computation.
struct Matrix<'a, 's> {
    symbolic: &'a Rc<Symbolic<'s>>,
    pairs: &'a Pairs,
    wanted: BTreeMap<Pair, Bdd>,
    /// Images that were asked for at this stage.
    images: HashMap<Pair, Bdd>,
    /// The representatives whose parts have grown since the stage before.
    changed: BTreeSet<Pair>,
}

impl<'a, 's> Matrix<'a, 's> {
    /// The initial states.
    fn new(symbolic: &'a Rc<Symbolic<'s>>, view: &View, pairs: &'a Pairs) -> Result<Self, Halt> {
        let d = &symbolic.diagrams;
        let shared = symbolic.initial_of(&view.shared)?;
        let mut wanted = BTreeMap::new();
        for &pair in &pairs.wanted {
            let mut initial = shared.clone();
            for process in pair.processes() {
                let own = symbolic.initial_of(&view.own[process].cells)?;
                initial = d.and(&initial, &own)?;
            }
            wanted.insert(pair, initial);
        }
        Ok(Matrix {
            symbolic,
            pairs,
            wanted,
            images: HashMap::new(),
            changed: BTreeSet::new(),
        })
    }

    fn replace(&mut self, grown: Vec<(Pair, Bdd)>) {
        if !grown.is_empty() {
            self.images.clear();
        }
        self.changed = grown.iter().map(|(pair, _)| *pair).collect();
        self.wanted.extend(grown);
    }

    fn get(&mut self, pair: Pair) -> Result<Bdd, Halt> {
        if let Some(part) = self.wanted.get(&pair).or_else(|| self.images.get(&pair)) {
            return Ok(part.clone());
        }
        let (representative, permutation) = self.pairs.of(self.symbolic.system, pair);
        let permutation =
            permutation.ok_or(Error::Internal("a pair that stands for itself has no part"))?;
        let part = self
            .symbolic
            .permute(&self.wanted[&representative], &permutation)?;
        self.images.insert(pair, part.clone());
        Ok(part)
    }

    fn has_changed(&self, pair: Pair) -> bool {
        let representative = self.pairs.of(self.symbolic.system, pair).0;
        self.changed.contains(&representative)
    }

    /// The pairs of a process.
    fn pairs_of(&self, process: ProcessId) -> impl Iterator<Item = Pair> + use<> {
        let count = self.symbolic.system.processes();
        (0..count)
            .map(ProcessId::from_raw)
            .filter(move |other| *other != process || count == 1)
            .map(move |other| Pair::new(process, other))
    }

    /// Whether something new is known of a process.
    fn has_changed_of(&self, process: ProcessId) -> bool {
        !self.changed.is_empty() && self.pairs_of(process).any(|pair| self.has_changed(pair))
    }

    /// What all its pairs say of a process and of what is seen of the others.
    fn about(&mut self, view: &View, process: ProcessId) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let mut all = d.all();
        // From the last variables up.
        for pair in self.pairs_of(process).collect::<Vec<_>>().into_iter().rev() {
            let mut part = self.get(pair)?;
            for other in pair.processes().filter(|other| *other != process) {
                part = view.own[other].hidden.forget(d, &part)?;
            }
            all = d.and(&all, &part)?;
        }
        Ok(all)
    }
}

/// What the steps of each process do to shared variables.
struct Outside<'a> {
    /// All variables of each process.
    own: IndexVec<ProcessId, Hidden>,
    /// What some steps do: they write these constants.
    effects: Vec<Transition>,
    /// For each process the effects that it can have, and when.
    causes: IndexVec<ProcessId, Vec<(usize, Bdd)>>,
    /// For each process its other steps.
    single: IndexVec<ProcessId, Vec<&'a Transition>>,
}

impl<'a> Outside<'a> {
    fn new(symbolic: &'a Symbolic, view: &View) -> Result<Self, Halt> {
        let d = &symbolic.diagrams;
        let mut own = IndexVec::new();
        let mut groups = Groups::default();
        let mut single: IndexVec<ProcessId, Vec<&Transition>> = IndexVec::new();
        for (process, cells) in view.own.iter_enumerated() {
            let vars = symbolic.encoding.vars_of(&cells.cells, false);
            let hidden = Hidden::new(d, vars)?;
            let mut others = Vec::new();
            for transition in &symbolic.transitions.moves[process] {
                let shared = transition.project(d, &d.all(), &hidden)?;
                if shared.is_idle() {
                    continue;
                }
                if shared.assignment().is_some() {
                    groups.add(shared, process, transition.guard.clone());
                } else {
                    others.push(transition);
                }
            }
            own.push(hidden);
            single.push(others);
        }
        let mut effects = Vec::new();
        let mut causes: IndexVec<ProcessId, Vec<(usize, Bdd)>> =
            view.own.iter().map(|_| Vec::new()).collect();
        for (effect, members) in groups.list {
            for (process, when) in members {
                causes[process].push((effects.len(), when));
            }
            effects.push(effect);
        }
        Ok(Outside {
            own,
            effects,
            causes,
            single,
        })
    }
}

/// What other processes do to a pair. May allow more than they do, never less.
struct Environment {
    /// When each effect can occur.
    guards: Vec<Bdd>,
    /// What is left of other steps, by process.
    single: BTreeMap<ProcessId, Vec<Transition>>,
    /// Whether the pair's part has not been closed under it yet.
    new: bool,
}

impl Environment {
    /// Nothing.
    fn new(d: &Diagrams, outside: &Outside) -> Self {
        Environment {
            guards: outside.effects.iter().map(|_| d.none()).collect(),
            single: BTreeMap::new(),
            new: true,
        }
    }

    /// The effects that occur, as steps.
    fn effects(&self, d: &Diagrams, outside: &Outside) -> Result<Vec<Transition>, Halt> {
        let mut steps = Vec::new();
        for (effect, guard) in outside.effects.iter().zip(&self.guards) {
            if !d.is_empty(guard) {
                steps.extend(effect.guarded(d, guard.clone())?);
            }
        }
        Ok(steps)
    }

    /// Adds what is new since the stage before: the steps of every third process, taken within what is known of it together
    /// with the pair.
    fn extend(
        &mut self,
        search: &Search,
        around: &Around,
        matrix: &mut Matrix,
        pair: Pair,
    ) -> Result<(), Halt> {
        let d = &search.symbolic.diagrams;
        let Around { view, outside, .. } = around;
        for third in view.own.indices() {
            let (causes, single) = (&outside.causes[third], &outside.single[third]);
            if pair.contains(third) || causes.is_empty() && single.is_empty() {
                continue;
            }
            let mut with_third = pair.processes().map(|process| Pair::new(process, third));
            if !around.everywhere && !with_third.clone().any(|pair| matrix.has_changed(pair)) {
                continue;
            }
            search.breathe()?;
            let classes =
                view.classes_outside(d, |other| other == third || pair.contains(other))?;
            let common = classes.forget(d, around.common)?;
            let within = with_third.try_fold(common, |within, pair| {
                Ok::<_, Halt>(d.and(&within, &matrix.get(pair)?)?)
            })?;
            let own = &outside.own[third];
            for (effect, when) in causes {
                let when = own.forget_and(d, &within, when)?;
                let all = d.or(&self.guards[*effect], &when)?;
                self.new |= all != self.guards[*effect];
                self.guards[*effect] = all;
            }
            if !single.is_empty() {
                let mut seen = Vec::new();
                for transition in single {
                    seen.push(transition.project(d, &within, own)?);
                }
                self.single.insert(third, seen);
                self.new = true;
            }
        }
        Ok(())
    }
}

/// What environments are computed from.
struct Around<'a> {
    view: &'a View,
    outside: &'a Outside<'a>,
    common: &'a Bdd,
    /// Whether everything is new, not only what concerns pairs that have changed.
    everywhere: bool,
}
