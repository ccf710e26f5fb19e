//! The abstract states that steps lead to, layer by layer, until nothing is new.
//!
//! At a valuation of the shared variables the states are a product of sets of local states and the exceptions. A layer takes
//! the image of all that is new. At each valuation that it leads to, what is no exception joins the product: the
//! least one that contains both. If the product would then contain an error that no step leads to, exceptions are added first
//! (`refine`). If a step does lead to an error, the states before it are errors too, and the search goes back to the first layer
//! that has one of them. An initial state among the errors is the beginning of a run that shows the violation.
//!
//! This ends, for finite programs: each time the search goes back the errors have grown, and in between products and exceptions grow. It
//! is right: errors are states from which a run does lead to a violation, and a search that ends has found a set that
//! contains the initial states, that no step leads out of, and that has no errors.
//!
//! An exception of the model counts as reached as soon as all its parts are: its shared part, and at it each of the local states.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use threadwise_engine::{Answer, Limits, Observer, Progress, Run, Stop};
use threadwise_evidence::{Account, Reason, ReasonCode, Stats};
use threadwise_model::eval::{self, Overflow};
use threadwise_model::system::{CellId, ProcessId, Scope, System, SystemProperty};
use threadwise_symbolic::{Error, Halt, OutOfNodes, Room, room};

use super::formula::{Predicate, is_void};
use super::graph::{Graphs, Moves, NONE, Node};
use super::sets::{EMPTY, LocalId, SetId};
use super::threads::{SharedId, Threads};
use super::{Cartesian, Exceptions, proof};
use crate::target;

/// Results of operations that are kept.
const MOST_RESULTS: usize = 1 << 22;

/// What is known at one valuation of the shared variables.
pub(super) struct Part {
    /// The initial states.
    initial: Node,
    /// For each thread the local states whose steps are in `out`.
    expanded: Vec<SetId>,
    /// Where steps lead, by valuation after.
    out: BTreeMap<SharedId, Moves>,
    /// Errors, by how many steps they are away from what the property forbids; those that are none steps away are not listed.
    errors: Vec<(usize, Node)>,
    /// What the search has reached.
    pub(super) reached: Reached,
}

/// What was reached at a valuation.
#[derive(Clone)]
pub(super) struct Reached {
    /// For each thread the local states that were met.
    pub(super) seen: Vec<SetId>,
    /// For each thread the local states that can be combined freely.
    pub(super) product: Vec<SetId>,
    /// Exceptions that were computed.
    pub(super) computed: Node,
    /// All exceptions, those of the model too.
    pub(super) exceptions: Node,
    /// All states: the product and the exceptions.
    pub(super) states: Node,
}

impl Reached {
    fn nothing(threads: usize) -> Self {
        Reached {
            seen: vec![EMPTY; threads],
            product: vec![EMPTY; threads],
            computed: NONE,
            exceptions: NONE,
            states: NONE,
        }
    }
}

/// A layer of the search: what it adds, where that comes from, and what was there before.
struct Layer {
    pending: BTreeMap<SharedId, Node>,
    sources: Vec<SharedId>,
    before: Vec<(SharedId, Reached)>,
}

impl Part {
    fn new(threads: usize) -> Self {
        Part {
            initial: NONE,
            expanded: vec![EMPTY; threads],
            out: BTreeMap::new(),
            errors: Vec::new(),
            reached: Reached::nothing(threads),
        }
    }
}

/// What a layer adds at a valuation.
pub(super) struct Incoming {
    pub(super) to: SharedId,
    /// The states that steps lead to.
    pub(super) after: Node,
    /// The local states that were met there, these included.
    pub(super) seen: Vec<SetId>,
    /// The errors among all combinations of them.
    pub(super) error: Node,
    /// The exceptions of the model among all combinations of them, without errors.
    pub(super) given: Node,
}

/// An abstraction under way.
pub(super) struct Abstraction<'a, 's> {
    how: Cartesian,
    pub(super) limits: &'a Limits<'a>,
    observer: &'a mut dyn Observer,
    pub(super) threads: Threads<'s>,
    pub(super) graphs: Graphs,
    pub(super) parts: IndexVec<SharedId, Part>,
    /// The exceptions of the model.
    given: Predicate,
    /// What the property forbids.
    forbidden: Option<Predicate>,
    /// The greatest distance of an error.
    distance: usize,
    layers: u64,
    /// Whether initial states were put in their places.
    begun: bool,
}

impl<'a, 's> Abstraction<'a, 's> {
    pub(super) fn new(
        how: &Cartesian,
        system: &'s System,
        limits: &'a Limits<'a>,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let threads = Threads::new(system);
        let exceptions = match how.exceptions {
            Exceptions::Both | Exceptions::Given => system.exceptions.clone(),
            Exceptions::Computed => Vec::new(),
        };
        Abstraction {
            how: *how,
            limits,
            observer,
            graphs: Graphs::new(threads.len()),
            given: Predicate::any_of(&threads, exceptions),
            threads,
            parts: IndexVec::new(),
            forbidden: None,
            distance: 0,
            layers: 0,
            begun: false,
        }
    }

    /// What was counted.
    pub(super) fn stats(&self) -> Stats {
        Stats {
            iterations: Some(self.layers),
            peak_nodes: Some(self.graphs.len() as u64),
            peak_bytes: Some(self.bytes() as u64),
            ..Stats::default()
        }
    }

    fn bytes(&self) -> usize {
        let parts = self.parts.len() * (200 + 16 * self.threads.len());
        self.graphs.bytes() + self.threads.bytes() + parts
    }

    /// To be called between operations.
    fn breathe(&mut self) -> Result<(), Halt> {
        if let Some(stop) = self.limits.should_stop() {
            return Err(Halt::Stop(stop));
        }
        self.graphs.forget_results_beyond(MOST_RESULTS);
        let bytes = self.bytes() as u64;
        if self.limits.memory.is_some_and(|memory| bytes > memory) {
            let capacity = self.graphs.len();
            return Err(Error::from(OutOfNodes { capacity }).into());
        }
        Ok(())
    }

    /// The same for what no verdict depends on.
    pub(super) fn breathe_at_leisure(&self) -> Result<(), Halt> {
        let stop = match self.limits.has_leisure() {
            true => self.limits.should_stop(),
            false => Some(Stop::Time),
        };
        stop.map_or(Ok(()), |stop| Err(Halt::Stop(stop)))
    }

    /// What binary diagrams may use.
    pub(super) fn room(&self) -> Room<'_> {
        room(self.limits)
    }

    fn tell_layer(&mut self) {
        self.layers += 1;
        let bytes = self.bytes() as u64;
        self.observer.progress(&Progress {
            iterations: self.layers,
            peak_nodes: self.graphs.len() as u64,
            bytes,
            ..Progress::default()
        });
    }

    /// Decides a property.
    pub(super) fn decide(
        &mut self,
        property: &SystemProperty,
        account: &mut Account,
    ) -> Result<Answer, Halt> {
        *account = Account {
            refinements: Some(0),
            extensions: Some(0),
            ..Account::default()
        };
        self.forbidden = Predicate::forbidden(&self.threads, property);
        self.distance = 0;
        for part in &mut self.parts {
            part.errors.clear();
        }
        self.begin()?;
        match self.search(property, account)? {
            None => proof::proved(self, &self.how.clone(), property, account),
            Some(answer) => Ok(answer),
        }
    }

    /// Puts the initial states in their places.
    fn begin(&mut self) -> Result<(), Halt> {
        if self.begun {
            return Ok(());
        }
        let system = self.threads.system;
        let mut values: Vec<(i64, i64)> = vec![(0, 0); system.cells];
        for (id, var) in system.vars.iter_enumerated() {
            let copies = match var.scope {
                Scope::Shared => 1,
                Scope::Local(template) => system.templates[template].count,
            };
            for copy in 0..copies {
                let value = eval::initial_value(system, id, copy)
                    .map_err(|Overflow| Halt::from(Error::Overflow))?;
                for offset in 0..var.len {
                    values[system.cell(id, copy, offset).index()] = match value {
                        Some(value) => (value, value),
                        None => system.values(var.domain).unwrap_or((0, 0)),
                    };
                }
            }
        }
        let mut components = Vec::new();
        for thread in 0..self.threads.len() {
            let cells = self.threads.own_cells[thread].clone();
            let mut locals = Vec::new();
            self.combinations(&values, &cells, |this, row| {
                locals.push(this.threads.number_local(thread, row));
            })?;
            components.push(self.graphs.sets.of(locals));
        }
        let product = self.graphs.product(&components);
        let cells = self.threads.shared_cells.clone();
        self.combinations(&values, &cells, |this, row| {
            let shared = this.threads.number_shared(row);
            this.part(shared).initial = product;
        })?;
        // Not before all are there: a search from some of them would prove too much.
        self.begun = true;
        Ok(())
    }

    /// All rows of values of some cells, each between two bounds.
    fn combinations(
        &mut self,
        values: &[(i64, i64)],
        cells: &[CellId],
        mut found: impl FnMut(&mut Self, Vec<i64>),
    ) -> Result<(), Halt> {
        let bounds: Vec<(i64, i64)> = cells.iter().map(|cell| values[cell.index()]).collect();
        let mut row: Vec<i64> = bounds.iter().map(|(lo, _)| *lo).collect();
        loop {
            self.breathe()?;
            found(self, row.clone());
            // The last cell turns fastest.
            let turned = row.iter_mut().zip(&bounds).rev().any(|(value, (lo, hi))| {
                let turns = *value < *hi;
                *value = if turns { *value + 1 } else { *lo };
                turns
            });
            if !turned {
                return Ok(());
            }
        }
    }

    pub(super) fn part(&mut self, shared: SharedId) -> &mut Part {
        while self.parts.len() <= shared.index() {
            let part = Part::new(self.threads.len());
            self.parts.push(part);
        }
        &mut self.parts[shared]
    }

    /// Searches from the initial states. Without an answer, nothing is new any more, and there is no error.
    fn search(
        &mut self,
        property: &SystemProperty,
        account: &mut Account,
    ) -> Result<Option<Answer>, Halt> {
        for part in &mut self.parts {
            part.reached = Reached::nothing(self.threads.len());
        }
        let parts = self.parts.iter_enumerated();
        let mut layer = Layer {
            pending: parts
                .filter(|(_, part)| part.initial != NONE)
                .map(|(shared, part)| (shared, part.initial))
                .collect(),
            sources: Vec::new(),
            before: Vec::new(),
        };
        let mut layers = Vec::new();
        loop {
            self.tell_layer();
            let mut incoming = Vec::new();
            let mut hits = Vec::new();
            for (&to, &after) in &layer.pending {
                self.breathe()?;
                let known = self.part(to).reached.states;
                if self.graphs.is_subset(after, known) {
                    continue;
                }
                let next = match self.incoming(to, after)? {
                    Ok(next) => next,
                    Err(reason) => return Ok(Some(Answer::Unknown(reason))),
                };
                let hit = self.graphs.meet(after, next.error);
                if hit != NONE {
                    hits.push((to, hit));
                }
                incoming.push(next);
            }
            if !hits.is_empty() {
                if let Some(answer) = self.extend(property, account, &layer.sources, &hits)? {
                    return Ok(Some(answer));
                }
                layer = self.back(&mut layers, &layer.sources)?;
                continue;
            }
            let mut refined = Vec::new();
            for next in incoming {
                self.breathe()?;
                let to = next.to;
                let before = self.parts[to].reached.clone();
                match self.absorb(next)? {
                    Ok(reached) => {
                        if reached.computed != before.computed {
                            refined.push(to);
                        }
                        self.parts[to].reached = reached;
                    }
                    Err(reason) => return Ok(Some(Answer::Unknown(reason))),
                }
                layer.before.push((to, before));
            }
            self.tell_refinement(&refined, account);
            let sources: Vec<SharedId> = layer.before.iter().map(|(to, _)| *to).collect();
            if sources.is_empty() {
                return Ok(None);
            }
            layers.push(layer);
            let mut pending = BTreeMap::new();
            for &from in &sources {
                self.breathe()?;
                self.expand(from)?;
                let part = &self.parts[from];
                for (&to, moves) in &part.out {
                    let image = self.graphs.image(part.reached.states, moves);
                    if image != NONE {
                        let all = pending.entry(to).or_insert(NONE);
                        *all = self.graphs.union(*all, image);
                    }
                }
            }
            layer = Layer {
                pending,
                sources,
                before: Vec::new(),
            };
        }
    }

    /// Goes back to before the first layer with one of the errors that are new, which are at these valuations.
    fn back(&mut self, layers: &mut Vec<Layer>, new: &[SharedId]) -> Result<Layer, Halt> {
        loop {
            let mut layer = layers
                .pop()
                .ok_or(Error::Internal("errors that no layer has"))?;
            for (to, before) in std::mem::take(&mut layer.before) {
                self.parts[to].reached = before;
            }
            let wrong = new.iter().any(|shared| {
                let part = &self.parts[*shared];
                let errors = part.errors.last().filter(|last| last.0 == self.distance);
                errors.is_some_and(|(_, errors)| {
                    self.graphs.meet(*errors, part.reached.states) != NONE
                })
            });
            if !wrong {
                return Ok(layer);
            }
        }
    }

    /// What a layer adds at a valuation, with the errors and the model's exceptions that matter there. An exception that is
    /// forbidden is a reason not to answer.
    fn incoming(&mut self, to: SharedId, after: Node) -> Result<Result<Incoming, Reason>, Halt> {
        let mut seen = self.graphs.components(after);
        for (all, before) in seen.iter_mut().zip(&self.part(to).reached.seen.clone()) {
            *all = self.graphs.sets.union(*all, *before);
        }
        let forbidden = self.forbidden_within(to, &seen)?;
        let given =
            self.given
                .within(&mut self.threads, &mut self.graphs, self.limits, to, &seen)?;
        let wrong = self.graphs.meet(given, forbidden);
        if let Some(tuple) = self.graphs.pick(wrong) {
            let state = self.threads.state(to, &tuple);
            return Ok(Err(self.forbidden_exception(&state)));
        }
        let mut farther = NONE;
        for (_, errors) in &self.parts[to].errors {
            farther = self.graphs.union(farther, *errors);
        }
        Ok(Ok(Incoming {
            to,
            after,
            seen,
            error: self.graphs.union(forbidden, farther),
            given: self.graphs.minus(given, farther),
        }))
    }

    /// What the property forbids among all combinations.
    fn forbidden_within(&mut self, shared: SharedId, components: &[SetId]) -> Result<Node, Halt> {
        match &mut self.forbidden {
            Some(_) if is_void(components) => Ok(NONE),
            Some(forbidden) => forbidden.within(
                &mut self.threads,
                &mut self.graphs,
                self.limits,
                shared,
                components,
            ),
            None => Ok(NONE),
        }
    }

    fn forbidden_exception(&self, state: &[i64]) -> Reason {
        Reason::new(
            ReasonCode::ExceptionForbidden,
            format!(
                "the model's exception set contains a state that the property forbids ({}), and exceptions count as reachable",
                self.written_state(state)
            ),
        )
        .next("exclude it from the `exception` block, or have exceptions computed: `--exceptions computed`")
    }

    /// The model's exceptions leave these errors.
    fn too_weak(&self, shared: SharedId, errors: Node) -> Reason {
        let with = if self.threads.system.exceptions.is_empty() {
            "without exceptions (the model has none)"
        } else {
            "with the model's exceptions alone"
        };
        let state = self.graphs.pick(errors).map_or_else(String::new, |tuple| {
            let state = self.threads.state(shared, &tuple);
            format!(" ({})", self.written_state(&state))
        });
        Reason::new(
            ReasonCode::ExceptionsTooWeak,
            format!(
                "{with}, the combinations of local states lead to one that the property forbids{state}; whether it can be reached is not known"
            ),
        )
        .next("have what is missing computed: `--exceptions both`")
    }

    fn written_state(&self, state: &[i64]) -> String {
        let values = state.iter().enumerate();
        self.written(values.map(|(cell, value)| (CellId::from_usize(cell), *value)))
    }

    /// What is reached at a valuation with what is new there, unless exceptions are needed and may not be computed.
    fn absorb(&mut self, next: Incoming) -> Result<Result<Reached, Reason>, Halt> {
        let mut computed = self.parts[next.to].reached.computed;
        loop {
            let exceptions = self.graphs.union(next.given, computed);
            let rest = self.graphs.minus(next.after, exceptions);
            let mut components = self.graphs.components(rest);
            let before = &self.parts[next.to].reached.product;
            for (all, before) in components.iter_mut().zip(before) {
                *all = self.graphs.sets.union(*all, *before);
            }
            let product = self.graphs.product(&components);
            let wrong = self.graphs.meet(product, next.error);
            if wrong == NONE {
                return Ok(Ok(Reached {
                    seen: next.seen,
                    product: components,
                    computed,
                    exceptions,
                    states: self.graphs.union(product, exceptions),
                }));
            }
            if self.how.exceptions == Exceptions::Given {
                return Ok(Err(self.too_weak(next.to, wrong)));
            }
            let new = self.exceptions(&next, rest, wrong, &components);
            computed = self.graphs.union(computed, new);
        }
    }

    /// Looks where the threads can go from here.
    fn expand(&mut self, from: SharedId) -> Result<(), Halt> {
        let states = self.parts[from].reached.states;
        let components = self.graphs.components(states);
        for (thread, &locals) in components.iter().enumerate() {
            let expanded = self.parts[from].expanded[thread];
            if locals == expanded {
                continue;
            }
            self.breathe()?;
            let new = self.graphs.sets.minus(locals, expanded);
            for local in self.graphs.sets.members(new) {
                let actions = self.threads.actions(from, thread, local)?;
                for &(to, after) in &actions.moves {
                    self.part(to);
                    let moves = self.parts[from].out.entry(to).or_default();
                    moves.add(&mut self.graphs.sets, thread, local, after);
                }
            }
            self.parts[from].expanded[thread] = self.graphs.sets.union(expanded, new);
        }
        Ok(())
    }

    /// Steps from these valuations lead to errors: the states before them are errors, too.
    fn extend(
        &mut self,
        property: &SystemProperty,
        account: &mut Account,
        sources: &[SharedId],
        hits: &[(SharedId, Node)],
    ) -> Result<Option<Answer>, Halt> {
        if sources.is_empty() {
            for &(shared, hit) in hits {
                if let Some(tuple) = self.graphs.pick(hit) {
                    return self.run(property, shared, tuple).map(Some);
                }
            }
        }
        if self.how.exceptions == Exceptions::Given {
            let mut hits = hits.iter().filter(|(_, hit)| *hit != NONE);
            let &(shared, hit) = hits.next().ok_or(Error::Internal("no error was met"))?;
            return Ok(Some(Answer::Unknown(self.too_weak(shared, hit))));
        }
        self.distance += 1;
        for &from in sources {
            let mut before = NONE;
            for &(to, hit) in hits {
                self.breathe()?;
                let part = &self.parts[from];
                if let Some(moves) = part.out.get(&to) {
                    let leading = self.graphs.preimage(part.reached.states, hit, moves);
                    before = self.graphs.union(before, leading);
                }
            }
            if before == NONE {
                continue;
            }
            let part = &mut self.parts[from];
            part.errors.push((self.distance, before));
            let initial = self.graphs.meet(before, part.initial);
            if let Some(tuple) = self.graphs.pick(initial) {
                self.tell_extension(account);
                return self.run(property, from, tuple).map(Some);
            }
        }
        self.tell_extension(account);
        Ok(None)
    }

    /// How many steps a state is away from what the property forbids, as far as that is known.
    fn distance(&mut self, shared: SharedId, tuple: &[LocalId]) -> Result<Option<usize>, Halt> {
        let components: Vec<SetId> = tuple
            .iter()
            .map(|local| self.graphs.sets.of([*local]))
            .collect();
        if self.forbidden_within(shared, &components)? != NONE {
            return Ok(Some(0));
        }
        let Some(part) = self.parts.get(shared) else {
            return Ok(None);
        };
        let errors = part.errors.iter();
        let mut errors = errors.filter(|(_, errors)| self.graphs.contains(*errors, tuple));
        Ok(errors.next().map(|(distance, _)| *distance))
    }

    /// The run from an error to what the property forbids: each step leads nearer.
    fn run(
        &mut self,
        property: &SystemProperty,
        mut shared: SharedId,
        mut tuple: Vec<LocalId>,
    ) -> Result<Answer, Halt> {
        let missing = || Halt::from(Error::Internal("an error that no step leads on from"));
        let initial = self.threads.state(shared, &tuple);
        let mut steps = Vec::new();
        let mut distance = self.distance(shared, &tuple)?.ok_or_else(missing)?;
        while distance > 0 {
            let mut best: Option<(usize, usize, SharedId, LocalId)> = None;
            for thread in 0..tuple.len() {
                self.breathe()?;
                let before = tuple[thread];
                let actions = self.threads.actions(shared, thread, before)?;
                for &(to, after) in &actions.moves {
                    tuple[thread] = after;
                    let limit = best.map_or(distance, |(distance, ..)| distance);
                    match self.distance(to, &tuple)? {
                        Some(nearer) if nearer < limit => best = Some((nearer, thread, to, after)),
                        _ => {}
                    }
                }
                tuple[thread] = before;
            }
            let (nearer, thread, to, after) = best.ok_or_else(missing)?;
            (distance, shared, tuple[thread]) = (nearer, to, after);
            let process = ProcessId::from_usize(thread);
            steps.push((process, self.threads.state(shared, &tuple)));
        }
        let last = self.threads.state(shared, &tuple);
        let ending = target::ending(self.threads.system, property, &last).ok_or_else(missing)?;
        Ok(Answer::Violated(Run {
            initial,
            steps,
            ending,
        }))
    }
}
