//! Proofs about fair runs, by going through the states of the product one by one.
//!
//! A state of the product is a *place*, that is a state of the program with the step that led there, and the bits of the automaton as one number, its *mask*. The
//! places that the start has are listed, and what processes can do in each of them is found once; bits after a move are free as far
//! as demands allow, so for each place it is tabulated which masks before allow a mask there. Then every condition is a look at the moves from
//! the states of a set. Each layer deletes its states, so all layers together look at each move few times.

use std::collections::HashMap;
use std::rc::Rc;

use threadwise_model::eval::{self, Outcome};
use threadwise_model::layout::process_name;
use threadwise_model::system::{Expr, ProcessId, Step};

use super::product::Product;
use super::{Deletion, Plan, Task, Wanted};
use crate::Error;
use crate::conditions::{Report, Subject, reject};
use crate::each::{Graph, State, Steps, domains, list, too_many};
use crate::logic::{Counts, Input, Lit, Logic};
use crate::parts::Parts;
use crate::rejection::{Condition, FairFault, FairPlace, Turn};

/// The most states of a start that are gone through. There are as many for one of the program as there are steps that a property asks about.
const MOST_STATES: usize = 300_000;
/// The most bits of an automaton: all their combinations are gone through.
const MOST_BITS: usize = 8;
/// The most combinations of places and masks.
const MOST_COMBINATIONS: usize = 1 << 23;
/// The most questions whether a state is in a layer.
const MOST_TESTS: usize = 50_000_000;

/// The bits of the automaton as a number.
type Mask = usize;

/// A place by its number.
type Place = usize;

/// What a scheduled process can do in a place.
struct Move<'a> {
    process: ProcessId,
    step: Option<&'a Step>,
    to: Place,
}

/// What the automaton says of a state, for each mask there.
struct Table {
    /// The bits that may be set before.
    allowed: Vec<Mask>,
    /// Whether the negated conjunct is satisfied.
    whole: Vec<bool>,
}

struct Each<'a> {
    subject: Subject<'a>,
    product: &'a Product,
    place: FairPlace,
    places: Vec<State>,
    known: HashMap<State, Place>,
    /// For each place what can be done there; and what the automaton says.
    moves: Vec<Vec<Move<'a>>>,
    tables: Vec<Rc<Table>>,
    tabulated: HashMap<Vec<bool>, Rc<Table>>,
    /// For each predicate of the property the places where it holds.
    holds: Vec<(&'a Expr, Vec<bool>)>,
    /// For each place and mask, whether the state is there and not deleted yet.
    alive: Vec<bool>,
    masks: usize,
}

/// Checks a proof.
pub(super) fn judge<'a>(
    subject: Subject<'a>,
    parts: &Parts<'_>,
    plan: &'a Plan<'a>,
) -> Result<Report, Error> {
    let product = &plan.product;
    let bits = product.bits();
    if bits.len() > MOST_BITS {
        return Err(too_many("bits of the automaton"));
    }
    let mut domains = domains(&product.system)?;
    domains.truncate(bits.end);
    let own = plan.dags.iter().zip(&plan.cells);
    let mut sets = own.map(|(dag, cells)| Graph::new(dag, cells));
    let Some(start) = sets.next() else {
        return Err(Error::no_proof("it has no start"));
    };
    let mut graphs = vec![start];
    let of_parts = parts.list().iter();
    graphs.extend(of_parts.map(|part| Graph::new(part.dag, &part.cells)));
    let states = list(&graphs, &domains, MOST_STATES, subject.cancel)?;
    if states.len().saturating_mul(plan.deletions.len()) > MOST_TESTS {
        return Err(too_many("layers"));
    }
    let mut each = Each {
        subject,
        product,
        place: plan.place.clone(),
        places: Vec::new(),
        known: HashMap::new(),
        moves: Vec::new(),
        tables: Vec::new(),
        tabulated: HashMap::new(),
        holds: Vec::new(),
        alive: Vec::new(),
        masks: 1 << bits.len(),
    };
    let mut alive: Vec<(Place, Mask)> = Vec::with_capacity(states.len());
    for state in &states {
        let (at, set) = state.split_at(bits.start);
        let mask = set
            .iter()
            .rev()
            .fold(0, |mask, bit| 2 * mask + usize::from(*bit != 0));
        let next = each.places.len();
        let place = *each.known.entry(at.into()).or_insert(next);
        if place == next {
            each.places.push(at.into());
        }
        alive.push((place, mask));
    }
    if each.places.len() * each.masks > MOST_COMBINATIONS {
        return Err(too_many("states"));
    }
    each.alive = vec![false; each.places.len() * each.masks];
    for (place, mask) in &alive {
        each.alive[place * each.masks + mask] = true;
    }
    each.predicates(plan)?;
    for place in 0..each.places.len() {
        let table = each.table(&each.places[place].clone())?;
        each.tables.push(table);
    }
    each.initial()?;
    let outcomes = each.explore()?;
    let mut visits = outcomes;
    for (number, (set, deletion)) in sets.zip(&plan.deletions).enumerate() {
        if (subject.cancel)() {
            return Err(Error::Cancelled);
        }
        each.place.layer = Some(number);
        let inside = |(place, mask): &(Place, Mask)| {
            let at = &each.places[*place];
            set.contains(&domains, |cell| match cell.checked_sub(bits.start) {
                Some(bit) => i64::from(mask >> bit & 1 == 1),
                None => at[cell],
            })
        };
        visits += alive.len() as u64;
        let layer: Vec<(Place, Mask)> = alive.iter().copied().filter(inside).collect();
        each.delete(&layer, deletion)?;
        alive.retain(|(place, mask)| each.alive[place * each.masks + mask]);
    }
    each.place.layer = None;
    if let Some(left) = alive.first() {
        each.refuse(FairFault::Left, *left, None)?;
    }
    Ok(Report {
        nodes: plan.dags.iter().map(|dag| dag.len()).sum(),
        conditions: 1 + plan.deletions.len() as u64,
        visits,
        ..Report::default()
    })
}

impl<'a> Each<'a> {
    fn is_alive(&self, (place, mask): (Place, Mask)) -> bool {
        self.alive[place * self.masks + mask]
    }

    /// Finds where the predicates of the property hold. None may leave 64 bits.
    fn predicates(&mut self, plan: &'a Plan<'a>) -> Result<(), Error> {
        for expr in plan.predicates() {
            let mut holds = Vec::with_capacity(self.places.len());
            for (number, place) in self.places.iter().enumerate() {
                if number % 64 == 0 && (self.subject.cancel)() {
                    return Err(Error::Cancelled);
                }
                match self.product.holds(expr, place) {
                    Ok(truth) => holds.push(truth),
                    Err(eval::Overflow) => {
                        let state = self.describe(place, 0);
                        return reject(true, Condition::Overflow(None), state, None)
                            .and_then(|()| Err(too_many("values")));
                    }
                }
            }
            self.holds.push((expr, holds));
        }
        Ok(())
    }

    fn holds(&self, expr: &Expr, place: Place) -> Result<bool, Error> {
        let known = self
            .holds
            .iter()
            .find(|(known, _)| std::ptr::eq(*known, expr));
        let (_, holds) = known.ok_or_else(|| Error::unsupported("a predicate of no property"))?;
        Ok(holds[place])
    }

    /// What the automaton says of a state of the program with the step that led there.
    fn table(&mut self, at: &[i64]) -> Result<Rc<Table>, Error> {
        let mut atoms = Vec::with_capacity(self.product.automaton.atoms.len());
        for atom in &self.product.automaton.atoms {
            let truth = self.product.holds(atom, at);
            atoms.push(truth.map_err(|_| Error::unsupported("a predicate leaves 64 bits"))?);
        }
        if let Some(known) = self.tabulated.get(&atoms) {
            return Ok(Rc::clone(known));
        }
        let mut table = Table {
            allowed: Vec::with_capacity(self.masks),
            whole: Vec::with_capacity(self.masks),
        };
        let truths: Vec<Lit> = atoms.iter().map(|truth| Lit::of(*truth)).collect();
        for mask in 0..self.masks {
            let bits = 0..self.product.bits().len();
            let bits: Vec<Lit> = bits.map(|bit| Lit::of(mask >> bit & 1 == 1)).collect();
            let automaton = &self.product.automaton;
            let satisfied = automaton.satisfied(&mut Constants, &truths, &bits);
            let demands = satisfied.demands.iter().enumerate();
            let met = demands.filter(|(_, lit)| **lit == Lit::TRUE);
            table
                .allowed
                .push(met.fold(0, |mask, (bit, _)| mask | 1 << bit));
            table.whole.push(satisfied.whole == Lit::TRUE);
        }
        let table = Rc::new(table);
        self.tabulated.insert(atoms, Rc::clone(&table));
        Ok(table)
    }

    /// That all initial states are in the start.
    fn initial(&mut self) -> Result<(), Error> {
        let initial = eval::initial_states(self.subject.system)
            .map_err(|_| Error::unsupported("an initial value leaves 64 bits"))?;
        for (number, mut state) in initial.enumerate() {
            if number % 64 == 0 && (self.subject.cancel)() {
                return Err(Error::Cancelled);
            }
            state.extend(self.product.last.map(|_| 0));
            let place = self.known.get(&*state).copied();
            let table = match place {
                Some(place) => Rc::clone(&self.tables[place]),
                None => self.table(&state)?,
            };
            for mask in (0..self.masks).filter(|mask| table.whole[*mask]) {
                if place.is_none_or(|place| !self.is_alive((place, mask))) {
                    let condition = Condition::Fair(self.place.clone(), FairFault::Initial);
                    reject(true, condition, self.describe(&state, mask), None)?;
                }
            }
            // Of those that are in no run that violates the conjunct there may be very many.
            if number > 2 * self.places.len() + 1000 {
                return Err(too_many("initial states"));
            }
        }
        Ok(())
    }

    /// Finds what can be done in all places, and that nothing leads out of the start. Says how many outcomes there were.
    fn explore(&mut self) -> Result<u64, Error> {
        let (subject, product) = (self.subject, self.product);
        let mut steps = Steps::new(subject);
        for place in 0..self.places.len() {
            if place % 64 == 0 && (subject.cancel)() {
                return Err(Error::Cancelled);
            }
            let at = self.places[place].clone();
            let program = &at[..product.program];
            let mut moves: Vec<Move<'a>> = Vec::new();
            for process in (0..subject.system.processes()).map(ProcessId::from_raw) {
                let first = moves.len();
                let mut idle = true;
                let mut found: Vec<(Option<&'a Step>, State)> = Vec::new();
                let after = |step: Option<&Step>, program: &[i64]| -> State {
                    let last = product.last.map(|_| product.last_after(process, step));
                    program.iter().copied().chain(last).collect()
                };
                steps.of(program, process, |step, outcome| {
                    idle = false;
                    match outcome {
                        Outcome::Move(next) => found.push((Some(step), after(Some(step), &next))),
                        Outcome::Rest => found.push((Some(step), after(Some(step), program))),
                        // A run ends where a check fails.
                        _ => {}
                    }
                    Ok(())
                })?;
                if idle {
                    found.push((None, after(None, program)));
                }
                for (step, next) in found {
                    let to = match self.known.get(&next) {
                        Some(to) => *to,
                        None => {
                            self.outside(place, (process, step), &next)?;
                            continue;
                        }
                    };
                    if moves[first..].iter().all(|known| known.to != to) {
                        moves.push(Move { process, step, to });
                    }
                }
            }
            for mask in 0..self.masks {
                if self.is_alive((place, mask)) {
                    for choice in &moves {
                        self.inside((place, mask), choice)?;
                    }
                }
            }
            self.moves.push(moves);
        }
        Ok(steps.count())
    }

    /// That a move from a state of the start stays in it.
    fn inside(&self, from: (Place, Mask), choice: &Move<'a>) -> Result<(), Error> {
        let allowed = &self.tables[choice.to].allowed;
        for (mask, allowed) in allowed.iter().enumerate() {
            if from.1 & !allowed == 0 && !self.is_alive((choice.to, mask)) {
                let fault = FairFault::Start(self.turn(choice.process, choice.step));
                self.refuse(fault, from, Some((&self.places[choice.to], mask)))?;
            }
        }
        Ok(())
    }

    /// That a move from states of the start to a place which it does not have is allowed by no mask.
    fn outside(
        &mut self,
        place: Place,
        (process, step): (ProcessId, Option<&Step>),
        next: &[i64],
    ) -> Result<(), Error> {
        let table = self.table(next)?;
        for before in (0..self.masks).filter(|mask| self.is_alive((place, *mask))) {
            let mut masks = table.allowed.iter();
            if let Some(mask) = masks.position(|allowed| before & !allowed == 0) {
                let fault = FairFault::Start(self.turn(process, step));
                self.refuse(fault, (place, before), Some((next, mask)))?;
            }
        }
        Ok(())
    }

    /// That a layer, of which no state is deleted yet, may be deleted; deletes it.
    fn delete(&mut self, layer: &[(Place, Mask)], deletion: &Deletion<'a>) -> Result<(), Error> {
        match deletion {
            Deletion::Stuck => {
                for from in layer {
                    self.moves_of(*from, |choice, to| {
                        let fault = FairFault::NotStuck(self.turn(choice.process, choice.step));
                        self.refuse(fault, *from, Some((&self.places[to.0], to.1)))
                    })?;
                }
                self.drop(layer);
            }
            Deletion::Unfair(task) => {
                // What is left of the states when the layer is gone is what moves must not lead to; within the layer they may, unless
                // they do what is lacking.
                self.drop(layer);
                let within: HashMap<(Place, Mask), ()> =
                    layer.iter().map(|state| (*state, ())).collect();
                for from in layer {
                    let does = self.does(*task, *from)?;
                    for choice in &self.moves[from.0] {
                        self.leads(*from, choice, |to| {
                            let turn = self.turn(choice.process, choice.step);
                            let fault = if self.is_alive(to) {
                                FairFault::Leaves(turn)
                            } else if does && task.is_of(choice.process) && within.contains_key(&to)
                            {
                                FairFault::Fulfils(turn)
                            } else {
                                return Ok(());
                            };
                            self.refuse(fault, *from, Some((&self.places[to.0], to.1)))
                        })?;
                    }
                }
            }
            Deletion::Strong(p, q) => {
                let within: HashMap<(Place, Mask), ()> =
                    layer.iter().map(|state| (*state, ())).collect();
                for from in layer {
                    self.moves_of(*from, |choice, to| {
                        if within.contains_key(&to) {
                            return Ok(());
                        }
                        let fault = FairFault::Leaves(self.turn(choice.process, choice.step));
                        self.refuse(fault, *from, Some((&self.places[to.0], to.1)))
                    })?;
                    if self.holds(q, from.0)? {
                        self.refuse(FairFault::Holds, *from, None)?;
                    }
                }
                let mut gone = Vec::new();
                for state in layer {
                    if self.holds(p, state.0)? {
                        gone.push(*state);
                    }
                }
                self.drop(&gone);
            }
        }
        Ok(())
    }

    fn drop(&mut self, states: &[(Place, Mask)]) {
        for (place, mask) in states {
            self.alive[place * self.masks + mask] = false;
        }
    }

    /// Whether a move from a state is what a run must do, if it is one of the right process.
    fn does(&self, task: Task<'a>, (place, mask): (Place, Mask)) -> Result<bool, Error> {
        match task.state {
            None => Ok(true),
            Some(Wanted::Unset(bit)) => Ok(mask >> bit & 1 == 0),
            Some(Wanted::Predicate(expr)) => self.holds(expr, place),
        }
    }

    /// Calls back with every state that a move leads to.
    fn leads(
        &self,
        (_, before): (Place, Mask),
        choice: &Move<'a>,
        mut each: impl FnMut((Place, Mask)) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let allowed = self.tables[choice.to].allowed.iter().enumerate();
        for (mask, _) in allowed.filter(|(_, allowed)| before & !**allowed == 0) {
            each((choice.to, mask))?;
        }
        Ok(())
    }

    /// Calls back with every move from a state to one that is not deleted.
    fn moves_of(
        &self,
        from: (Place, Mask),
        mut each: impl FnMut(&Move<'a>, (Place, Mask)) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for choice in &self.moves[from.0] {
            self.leads(from, choice, |to| match self.is_alive(to) {
                true => each(choice, to),
                false => Ok(()),
            })?;
        }
        Ok(())
    }

    fn turn(&self, process: ProcessId, step: Option<&Step>) -> Turn {
        match step {
            Some(step) => Turn::Step(self.subject.name(process, step)),
            None => Turn::Nothing(process_name(self.subject.system, process)),
        }
    }

    /// The state of the product, in words.
    fn describe(&self, at: &[i64], mask: Mask) -> Vec<(String, String)> {
        let program = self.product.program;
        let mut cells = self.subject.describe(&at[..program]);
        let last = at[program..].iter().copied();
        let bits = (0..self.product.bits().len()).map(|bit| i64::from(mask >> bit & 1 == 1));
        let names = &self.product.system.vars.raw;
        let names = &names[names.len() - (self.product.system.cells - program)..];
        let more = names.iter().zip(last.chain(bits));
        cells.extend(more.map(|(var, value)| (var.name.clone(), value.to_string())));
        cells
    }

    fn refuse(
        &self,
        fault: FairFault,
        (place, mask): (Place, Mask),
        next: Option<(&[i64], Mask)>,
    ) -> Result<(), Error> {
        let condition = Condition::Fair(self.place.clone(), fault);
        let next = next.map(|(at, mask)| self.describe(at, mask));
        let state = self.describe(&self.places[place], mask);
        reject(true, condition, state, next)
    }
}

/// Formulas that are true or false, whatever the state: what the automaton says where all predicates and bits are known.
struct Constants;

impl Logic for Constants {
    fn input(&mut self, _: Input, _: usize) -> Result<Rc<[Lit]>, Error> {
        Err(Error::unsupported("a constant depends on nothing"))
    }

    fn go_on(&self) -> Result<(), Error> {
        Ok(())
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        Lit::of(a == Lit::TRUE && b == Lit::TRUE)
    }

    fn all(&mut self, lits: Vec<Lit>) -> Lit {
        Lit::of(lits.into_iter().all(|lit| lit == Lit::TRUE))
    }

    fn ite(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        if condition == Lit::TRUE { yes } else { no }
    }

    fn cases(&mut self, cases: &[(Lit, Vec<Lit>)]) -> Lit {
        let case = cases.iter().find(|(when, _)| *when == Lit::TRUE);
        Lit::of(case.is_some_and(|(_, lits)| lits.contains(&Lit::TRUE)))
    }

    fn satisfiable(&mut self, all: &[Lit], one_of: &[Lit]) -> Result<bool, Error> {
        Ok(all.iter().all(|lit| *lit == Lit::TRUE) && one_of.contains(&Lit::TRUE))
    }

    fn value(&self, lit: Lit) -> bool {
        lit == Lit::TRUE
    }

    fn counts(&self) -> Counts {
        Counts::default()
    }
}
