//! Proofs about fair runs, by going through the states of the product one by one, with the interpreter.
//!
//! A state of the product is a *place*, that is a state of the program with the step that led there, and the bits of the automaton as one number, its *mask*. The
//! places that the start has are listed, and what processes can do in each of them is found once; bits after a move are free as far
//! as demands allow, so for each place it is tabulated which masks before allow a mask there. Then every condition is a look at the moves from
//! the states of a set. Each layer deletes its states, so all layers together look at each move few times.
//!
//! As for safety, it does not matter how the sets of a certificate were read: whatever sets these are, the conditions are shown of them. The automaton and the assumptions are those of the
//! source's formula (`meaning`).

use std::rc::Rc;

use index_vec::{IndexVec, define_index_type};
use rustc_hash::{FxHashMap, FxHashSet};
use threadwise_evidence::certificate::{FairClaim, FairProof};
use threadwise_model::layout::unflatten;
use threadwise_model::names::Names;
use threadwise_model::state::ProcessRef;
use threadwise_model::temporal::{Atom, Fairness, Liveness};

use super::claim::{self, Deletion, Task, Wanted};
use super::meaning::{Meaning, Predicate};
use super::shape::Product;
use crate::Error;
use crate::automaton::{Automaton, Booleans};
use crate::listing::{Graph, domains, list};
use crate::parts::Parts;
use crate::rejection::{Condition, FairFault, FairPlace, Turn, refused};
use crate::report::{Method, Report};
use crate::space::{Event, EventKind, Last, Space, StateId, too_many};

/// The most states of a start that are gone through. There are as many for one of the program as there are steps that a property asks about.
const MOST_STATES: usize = 300_000;
/// The most states that are gone through to see that no predicate fails.
const MOST_REACHED: usize = 50_000;
/// The most bits of an automaton: all their combinations are gone through.
const MOST_BITS: usize = 8;
/// The most combinations of places and masks.
const MOST_COMBINATIONS: usize = 1 << 23;
/// The most questions whether a state is in a layer.
const MOST_TESTS: usize = 50_000_000;

/// The bits of the automaton as a number.
type Mask = usize;

define_index_type! {
    /// A state of the program with a value of `$last`.
    struct Place = u32;
}

/// A state of the product.
type Point = (Place, Mask);

/// What a scheduled process can do in a place; nothing if it does nothing, for want of a step.
#[derive(Clone, Copy)]
struct Move {
    process: ProcessRef,
    event: Option<Event>,
    to: Place,
}

/// What the automaton says of a state, for each mask there.
struct Table {
    /// The bits that may be set before.
    allowed: Vec<Mask>,
    /// Whether the negated conjunct is satisfied.
    whole: Vec<bool>,
}

struct Each<'s, 'a> {
    space: &'s mut Space<'a>,
    meaning: &'s Meaning<'a>,
    automaton: Automaton<usize>,
    predicates: &'s [Predicate<'a>],
    terms: &'s [Fairness<Atom<'a>>],
    place: FairPlace,
    places: IndexVec<Place, (StateId, usize)>,
    known: FxHashMap<(StateId, usize), Place>,
    /// For each place what can be done there; and what the automaton says.
    moves: IndexVec<Place, Vec<Move>>,
    tables: IndexVec<Place, Rc<Table>>,
    tabulated: FxHashMap<Vec<bool>, Rc<Table>>,
    /// For each assumption, for each place, whether its first and its second predicate hold.
    holds: Vec<IndexVec<Place, [bool; 2]>>,
    /// Steps that `$last` has no value for, with the states that they lead to: nothing asks for them.
    unasked: FxHashSet<(StateId, Last)>,
    /// For each place and mask, whether the state is there and not deleted yet.
    alive: Vec<bool>,
    masks: usize,
}

/// Checks the proofs of a claim, the first states of the space being its invariant if it has one.
pub(crate) fn check<'a>(
    space: &mut Space<'a>,
    invariant: Option<usize>,
    parts: &Parts<'_>,
    claim: &FairClaim,
    meaning: &Meaning<'a>,
    lowered: &Liveness,
) -> Result<Report, Error> {
    let numbers = (meaning.conjuncts.len(), meaning.fairness.len());
    let (subject, before) = (space.subject, space.outcomes);
    claim::covers(subject.instance, numbers, claim)?;
    if !meaning.defined {
        no_predicate_fails(space, invariant, claim, meaning)?;
    }
    let mut report = Report {
        method: Some(Method::Each),
        ..Report::default()
    };
    let conjuncts = lowered.formula.conjuncts();
    for proof in &claim.proofs {
        let product = Product::new(subject.system, lowered, &conjuncts[proof.conjunct])?;
        report = report.and(Each::judge(space, meaning, parts, &product, proof)?);
    }
    report.visits += space.outcomes - before;
    Ok(report)
}

/// That no predicate of the conjuncts with proofs of their own fails in a state of the invariant, or else in one that is reachable.
fn no_predicate_fails(
    space: &mut Space<'_>,
    invariant: Option<usize>,
    claim: &FairClaim,
    meaning: &Meaning<'_>,
) -> Result<(), Error> {
    let own: FxHashSet<usize> = claim.proofs.iter().map(|proof| proof.conjunct).collect();
    let predicates = own
        .iter()
        .flat_map(|own| &meaning.conjuncts[*own].predicates);
    let predicates: Vec<&Predicate<'_>> = predicates.collect();
    let mut open: Vec<(StateId, Last)> = Vec::new();
    let listed = invariant.filter(|_| !meaning.asks);
    match listed {
        Some(states) => open.extend((0..states).map(|state| (StateId::from_usize(state), None))),
        None => {
            for state in space.initial()?.take(MOST_REACHED + 1) {
                open.push((space.number(state), None));
            }
        }
    }
    let mut seen: FxHashSet<(StateId, Last)> = open.iter().copied().collect();
    while let Some((state, last)) = open.pop() {
        if seen.len() > MOST_REACHED && listed.is_none() {
            return Err(too_many("states"));
        }
        for predicate in &predicates {
            predicate.holds(space, state, last)?;
        }
        if listed.is_some() {
            continue;
        }
        for event in space.events(state)?.iter() {
            let after = match event.kind {
                EventKind::Move(to) => (
                    to,
                    Some((event.process, space.location(state, event.process))),
                ),
                EventKind::Rest => (state, None),
                EventKind::Fail(_) => continue,
            };
            let after = (after.0, after.1.filter(|_| meaning.asks));
            if seen.insert(after) {
                open.push(after);
            }
        }
        if meaning.asks && seen.insert((state, None)) {
            open.push((state, None));
        }
    }
    Ok(())
}

impl<'s, 'a> Each<'s, 'a> {
    /// Checks a proof.
    fn judge(
        space: &'s mut Space<'a>,
        meaning: &'s Meaning<'a>,
        parts: &Parts<'_>,
        product: &Product,
        proof: &FairProof,
    ) -> Result<Report, Error> {
        let subject = space.subject;
        let conjunct = &meaning.conjuncts[proof.conjunct];
        let terms = &meaning.fairness[proof.alternative];
        let automaton = Automaton::of_negation(&conjunct.formula);
        let bits = product.bits();
        if bits.len() > MOST_BITS || bits.len() != automaton.bits() {
            return Err(too_many("bits of the automaton"));
        }
        let layers = claim::layers(subject.instance, &automaton.obligations(), terms, proof)?;
        let dags: Vec<_> = std::iter::once(&proof.start)
            .chain(layers.iter().map(|(dag, _)| *dag))
            .collect();
        let cells = product.cells(&dags)?;
        let mut domains = domains(&product.system)?;
        domains.truncate(bits.end);
        let mut sets = dags
            .iter()
            .zip(&cells)
            .map(|(dag, cells)| Graph::new(dag, cells));
        let mut graphs: Vec<Graph> = sets.next().into_iter().collect();
        let of_parts = parts.list().iter();
        graphs.extend(of_parts.map(|part| Graph::new(part.dag, &part.cells)));
        let states = list(&graphs, &domains, MOST_STATES, subject.cancel)?;
        if states.len().saturating_mul(layers.len()) > MOST_TESTS {
            return Err(too_many("layers"));
        }
        let mut each = Each {
            space,
            meaning,
            masks: 1 << automaton.bits(),
            automaton,
            predicates: &conjunct.predicates,
            terms,
            place: claim::place(proof, None),
            places: IndexVec::new(),
            known: FxHashMap::default(),
            moves: IndexVec::new(),
            tables: IndexVec::new(),
            tabulated: FxHashMap::default(),
            holds: Vec::new(),
            unasked: FxHashSet::default(),
            alive: Vec::new(),
        };
        let mut points: Vec<(Point, &[i64])> = Vec::with_capacity(states.len());
        for state in &states {
            let (at, set) = state.split_at(bits.start);
            let mask = set
                .iter()
                .rev()
                .fold(0, |mask, bit| 2 * mask + usize::from(*bit != 0));
            let (program, last) = at.split_at(product.program);
            let number = each.space.listed(unflatten(subject.system, program))?;
            let last = last.first().map_or(0, |last| *last as usize);
            let next = each.places.len_idx();
            let place = *each.known.entry((number, last)).or_insert(next);
            if place == next {
                each.places.push((number, last));
            }
            points.push(((place, mask), state));
        }
        if each.places.len() * each.masks > MOST_COMBINATIONS {
            return Err(too_many("states"));
        }
        each.alive = vec![false; each.places.len() * each.masks];
        for (point, _) in &points {
            let at = each.at(*point);
            each.alive[at] = true;
        }
        each.start()?;
        let mut visits = 0;
        for (number, (set, (_, deletion))) in sets.zip(&layers).enumerate() {
            if (subject.cancel)() {
                return Err(Error::Cancelled);
            }
            each.place.layer = Some(number);
            visits += points.len() as u64;
            let inside = points
                .iter()
                .filter(|(_, state)| set.contains(&domains, |cell| state[cell]));
            let layer: Vec<Point> = inside.map(|(point, _)| *point).collect();
            each.delete(&layer, deletion)?;
            points.retain(|(point, _)| each.is_alive(*point));
        }
        each.place.layer = None;
        if let Some((left, _)) = points.first() {
            return Err(each.refuse(FairFault::Left, *left, None));
        }
        Ok(Report {
            nodes: dags.iter().map(|dag| dag.len()).sum(),
            conditions: 1 + layers.len() as u64,
            visits,
            ..Report::default()
        })
    }

    fn at(&self, (place, mask): Point) -> usize {
        place.index() * self.masks + mask
    }

    fn is_alive(&self, point: Point) -> bool {
        self.alive[self.at(point)]
    }

    /// That the start contains all initial states, and nothing leads out of it.
    fn start(&mut self) -> Result<(), Error> {
        for term in self.terms {
            let mut holds = IndexVec::with_capacity(self.places.len());
            for (state, last) in &self.places {
                holds.push(self.assumed(term, *state, self.meaning.step(*last))?);
            }
            self.holds.push(holds);
        }
        for place in self.places.indices() {
            let (state, last) = self.places[place];
            let table = self.table(state, self.meaning.step(last))?;
            self.tables.push(table);
        }
        self.initial()?;
        for place in self.places.indices() {
            let moves = self.explore(place)?;
            self.moves.push(moves);
        }
        Ok(())
    }

    /// Whether the predicates of an assumption hold. Where a check fails in one of them, it does not.
    fn assumed(
        &self,
        term: &Fairness<Atom<'a>>,
        state: StateId,
        last: Last,
    ) -> Result<[bool; 2], Error> {
        let mut holds = [false; 2];
        let predicates = [term.kind.first(), term.kind.second()];
        for (holds, predicate) in holds.iter_mut().zip(predicates) {
            if let Some(predicate) = predicate {
                *holds = self.space.truth(state, last, predicate)? == Some(true);
            }
        }
        Ok(holds)
    }

    /// The values of the predicates of the conjunct.
    fn truths(&self, state: StateId, last: Last) -> Result<Vec<bool>, Error> {
        let atoms = self.automaton.atoms.iter();
        atoms
            .map(|atom| self.predicates[*atom].holds(self.space, state, last))
            .collect()
    }

    /// What the automaton says of a state of the program after a step.
    fn table(&mut self, state: StateId, last: Last) -> Result<Rc<Table>, Error> {
        let atoms = self.truths(state, last)?;
        if let Some(known) = self.tabulated.get(&atoms) {
            return Ok(Rc::clone(known));
        }
        let mut table = Table {
            allowed: Vec::with_capacity(self.masks),
            whole: Vec::with_capacity(self.masks),
        };
        for mask in 0..self.masks {
            let bits = 0..self.automaton.bits();
            let bits: Vec<bool> = bits.map(|bit| mask >> bit & 1 == 1).collect();
            let satisfied = self.automaton.satisfied(&mut Booleans, &atoms, &bits);
            let demands = satisfied.demands.iter().enumerate();
            let met = demands.filter(|(_, met)| **met);
            let allowed = met.fold(0, |mask, (bit, _)| mask | 1 << bit);
            table.allowed.push(allowed);
            table.whole.push(satisfied.whole);
        }
        let table = Rc::new(table);
        self.tabulated.insert(atoms, Rc::clone(&table));
        Ok(table)
    }

    /// That all initial states are in the start.
    fn initial(&mut self) -> Result<(), Error> {
        for (number, state) in self.space.initial()?.enumerate() {
            if number % 64 == 0 && (self.space.subject.cancel)() {
                return Err(Error::Cancelled);
            }
            let state = self.space.number(state);
            let place = self.known.get(&(state, 0)).copied();
            let table = self.table(state, None)?;
            for mask in (0..self.masks).filter(|mask| table.whole[*mask]) {
                if place.is_none_or(|place| !self.is_alive((place, mask))) {
                    let condition = Condition::Fair(self.place.clone(), FairFault::Initial);
                    let described = self.describe((state, 0), mask);
                    return Err(refused(condition, described, None));
                }
            }
            // Of those that are in no run that violates the conjunct there may be very many.
            if number > 2 * self.places.len() + 1000 {
                return Err(too_many("initial states"));
            }
        }
        Ok(())
    }

    /// Finds what can be done in a place, and that nothing leads out of the start.
    fn explore(&mut self, place: Place) -> Result<Vec<Move>, Error> {
        let (state, _) = self.places[place];
        let events = self.space.events(state)?;
        let processes: Vec<ProcessRef> = self.space.processes(state).collect();
        let mut moves: Vec<Move> = Vec::new();
        let mut rest = &events[..];
        for process in processes {
            // They are there process by process; below it is seen that none is left over.
            let own = rest.iter().take_while(|event| event.process == process);
            let (own, others) = rest.split_at(own.count());
            rest = others;
            let mut found: Vec<(Option<Event>, StateId, Last)> = Vec::new();
            let step = Some((process, self.space.location(state, process)));
            for event in own {
                match event.kind {
                    EventKind::Move(to) => found.push((Some(*event), to, step)),
                    EventKind::Rest => found.push((Some(*event), state, None)),
                    // A run ends where a check fails.
                    EventKind::Fail(_) => {}
                }
            }
            if own.is_empty() {
                found.push((None, state, None));
            }
            let first = moves.len();
            for (event, to, step) in found {
                let last = self.meaning.last(step);
                self.unasked(to, step, last)?;
                match self.known.get(&(to, last)).copied() {
                    None => self.outside(place, (process, event), (to, last))?,
                    Some(to) if moves[first..].iter().any(|known| known.to == to) => {}
                    Some(to) => {
                        let found = Move { process, event, to };
                        self.inside(place, found)?;
                        moves.push(found);
                    }
                }
            }
        }
        match rest.is_empty() {
            true => Ok(moves),
            false => Err(Error::unsupported(
                "what processes can do is not there process by process, so there is no way to go through the states",
            )),
        }
    }

    /// That it makes no difference to the predicates which step led to a state, if `$last` does not say.
    fn unasked(&mut self, state: StateId, step: Last, last: usize) -> Result<(), Error> {
        let told = step.is_none() || last != 0 || !self.meaning.asks;
        if told || !self.unasked.insert((state, step)) {
            return Ok(());
        }
        let mut same = self.truths(state, step)? == self.truths(state, None)?;
        for term in self.terms {
            same &= self.assumed(term, state, step)? == self.assumed(term, state, None)?;
        }
        match same {
            true => Ok(()),
            false => Err(Error::unsupported(
                "a predicate asks for a step that its lowered form does not, so there is no way to go through the states",
            )),
        }
    }

    /// That a move from the states of a place stays in the start.
    fn inside(&self, place: Place, choice: Move) -> Result<(), Error> {
        for before in (0..self.masks).filter(|mask| self.is_alive((place, *mask))) {
            self.leads(before, choice.to, |to| {
                if self.is_alive(to) {
                    return Ok(());
                }
                let fault = FairFault::Start(self.turn(place, choice.process, choice.event));
                Err(self.refuse(fault, (place, before), Some((self.places[to.0], to.1))))
            })?;
        }
        Ok(())
    }

    /// That a move from states of the start to a place which it does not have is allowed by no mask.
    fn outside(
        &mut self,
        place: Place,
        (process, event): (ProcessRef, Option<Event>),
        to: (StateId, usize),
    ) -> Result<(), Error> {
        let table = self.table(to.0, self.meaning.step(to.1))?;
        for before in (0..self.masks).filter(|mask| self.is_alive((place, *mask))) {
            let mut masks = table.allowed.iter();
            if let Some(mask) = masks.position(|allowed| before & !allowed == 0) {
                let fault = FairFault::Start(self.turn(place, process, event));
                return Err(self.refuse(fault, (place, before), Some((to, mask))));
            }
        }
        Ok(())
    }

    /// That a layer, of which no state is deleted yet, may be deleted; deletes it.
    fn delete(&mut self, layer: &[Point], deletion: &Deletion) -> Result<(), Error> {
        let within: FxHashSet<Point> = layer.iter().copied().collect();
        let refuse = |fault: FairFault, from: Point, to: Option<Point>| {
            let to = to.map(|(place, mask)| (self.places[place], mask));
            Err(self.refuse(fault, from, to))
        };
        match deletion {
            Deletion::Stuck => self.moves_of(layer, |choice, from, to| {
                let turn = self.turn(from.0, choice.process, choice.event);
                refuse(FairFault::NotStuck(turn), from, Some(to))
            })?,
            Deletion::Unfair(task) => self.moves_of(layer, |choice, from, to| {
                let turn = || self.turn(from.0, choice.process, choice.event);
                if !within.contains(&to) {
                    return refuse(FairFault::Leaves(turn()), from, Some(to));
                }
                match task.is_of(choice.process) && self.does(*task, from) {
                    true => refuse(FairFault::Fulfils(turn()), from, Some(to)),
                    false => Ok(()),
                }
            })?,
            Deletion::Strong(term) => {
                self.moves_of(layer, |choice, from, to| {
                    if within.contains(&to) {
                        return Ok(());
                    }
                    let turn = self.turn(from.0, choice.process, choice.event);
                    refuse(FairFault::Leaves(turn), from, Some(to))
                })?;
                for from in layer {
                    if self.holds[*term][from.0][1] {
                        return refuse(FairFault::Holds, *from, None);
                    }
                }
            }
        }
        for point in layer {
            let gone = match deletion {
                Deletion::Stuck | Deletion::Unfair(_) => true,
                Deletion::Strong(term) => self.holds[*term][point.0][0],
            };
            if gone {
                let at = self.at(*point);
                self.alive[at] = false;
            }
        }
        Ok(())
    }

    /// Whether a move from a state is what a run must do, if it is one of the right process.
    fn does(&self, task: Task, (place, mask): Point) -> bool {
        match task.state {
            None => true,
            Some(Wanted::Unset(bit)) => mask >> bit & 1 == 0,
            Some(Wanted::Term(term)) => self.holds[term][place][0],
        }
    }

    /// Calls back with every state of a place that a move there leads to from a mask.
    fn leads(
        &self,
        before: Mask,
        to: Place,
        mut each: impl FnMut(Point) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let allowed = self.tables[to].allowed.iter().enumerate();
        for (mask, _) in allowed.filter(|(_, allowed)| before & !**allowed == 0) {
            each((to, mask))?;
        }
        Ok(())
    }

    /// Calls back with every move from these states to one that is not deleted.
    fn moves_of(
        &self,
        states: &[Point],
        mut each: impl FnMut(&Move, Point, Point) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for from in states {
            for choice in &self.moves[from.0] {
                self.leads(from.1, choice.to, |to| match self.is_alive(to) {
                    true => each(choice, *from, to),
                    false => Ok(()),
                })?;
            }
        }
        Ok(())
    }

    fn turn(&self, place: Place, process: ProcessRef, event: Option<Event>) -> Turn {
        match event {
            Some(event) => Turn::Step(self.space.name(self.places[place].0, &event)),
            None => Turn::Nothing(Names::new(self.space.subject.instance).process(process)),
        }
    }

    /// The state of the product, in words.
    fn describe(&self, (state, last): (StateId, usize), mask: Mask) -> Vec<(String, String)> {
        let mut cells = self.space.describe(state);
        if !self.meaning.taken.is_empty() {
            cells.push(("$last".to_owned(), last.to_string()));
        }
        let bits = 0..self.automaton.bits();
        cells.extend(bits.map(|bit| (format!("${bit}"), (mask >> bit & 1).to_string())));
        cells
    }

    fn refuse(
        &self,
        fault: FairFault,
        (place, mask): Point,
        next: Option<((StateId, usize), Mask)>,
    ) -> Error {
        let condition = Condition::Fair(self.place.clone(), fault);
        let next = next.map(|(at, mask)| self.describe(at, mask));
        refused(condition, self.describe(self.places[place], mask), next)
    }
}
