//! A proof that no run is fair, decided with formulas about the product: whatever decides these, walks or a solver.

use threadwise_evidence::certificate::FairProof;
use threadwise_evidence::dag::Dag;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::layout::{process_name, process_ref};
use threadwise_model::system::{Expr, ProcessId};
use threadwise_model::temporal::{Fairness, FairnessKind, Formula, Liveness};

use super::claim::{self, Deletion, Task, Wanted};
use super::product::{Move, Region, Set, Source};
use super::shape::Product;
use crate::Error;
use crate::automaton::Booleans;
use crate::conditions::{contains, initial, reject};
use crate::encode::Encoder;
use crate::logic::{Lit, Logic};
use crate::parts::{FEW_PROCESSES, Parts};
use crate::rejection::{Condition, FairFault, FairPlace, Turn};
use crate::report::{Method, Report, Subject};

/// A way to decide what moves of the product are possible.
pub(crate) trait Reach<'a>: Sized {
    /// How formulas are decided.
    type Logic: Logic;

    /// The product, about which sets are asked that these graphs are; with each come the cells that its own are.
    fn new(
        product: &'a Product,
        graphs: &[(&Dag, &[usize])],
        cancel: &'a dyn Fn() -> bool,
    ) -> Result<(Encoder<'a, Self::Logic>, Self), Error>;

    /// That the state before is in the set of a graph.
    fn graph(
        &mut self,
        encoder: &mut Encoder<'a, Self::Logic>,
        dag: &Dag,
        cells: &[usize],
    ) -> Result<Lit, Error>;

    /// That all of these are true, unless that is too large for one formula.
    fn joined(
        &mut self,
        encoder: &mut Encoder<'a, Self::Logic>,
        sets: &[Lit],
    ) -> Result<Option<Lit>, Error>;

    /// Whether a move is possible from a state in which all of these are true to a state of a region.
    fn reaches(
        &mut self,
        encoder: &mut Encoder<'a, Self::Logic>,
        numbered: (usize, &Move<'a>),
        from: &[Lit],
        to: &Region,
        sets: &[Set<'a>],
    ) -> Result<bool, Error>;

    /// If the last question had the answer that it is: the values of all cells, and then those of the choices.
    fn solution(
        &mut self,
        encoder: &mut Encoder<'a, Self::Logic>,
        numbered: (usize, &Move<'a>),
        from: &[Lit],
        to: &Region,
        sets: &[Set<'a>],
    ) -> Result<Option<Vec<i64>>, Error>;
}

/// A proof, with what it speaks of.
pub(crate) struct Plan<'a> {
    place: FairPlace,
    product: Product,
    terms: &'a [Fairness<Expr>],
    /// The start, and the set of each layer; and the cells that those of the graphs are.
    dags: Vec<&'a Dag>,
    cells: Vec<Vec<usize>>,
    deletions: Vec<Deletion>,
}

impl<'a> Plan<'a> {
    /// Finds what a proof speaks of. Its conjunct and its alternative exist.
    pub(crate) fn new(
        subject: Subject<'_>,
        liveness: &'a Liveness,
        conjuncts: &[Formula<Expr>],
        proof: &'a FairProof,
    ) -> Result<Plan<'a>, Error> {
        let product = Product::new(subject.system, liveness, &conjuncts[proof.conjunct])?;
        let terms = &liveness.fairness[proof.alternative];
        let obligations = product.automaton.obligations();
        let layers = claim::layers(subject.instance, &obligations, terms, proof)?;
        let (layers, deletions): (Vec<&Dag>, Vec<Deletion>) = layers.into_iter().unzip();
        let dags: Vec<&Dag> = std::iter::once(&proof.start).chain(layers).collect();
        let cells = product.cells(&dags)?;
        Ok(Plan {
            place: claim::place(proof, None),
            product,
            terms,
            dags,
            cells,
            deletions,
        })
    }

    /// The predicates that the proof may use.
    fn predicates(&self) -> Vec<&'a Expr> {
        let terms = self.terms.iter();
        let of_terms = terms.flat_map(|term| [term.kind.first(), term.kind.second()]);
        of_terms.flatten().collect()
    }

    /// The predicates of an assumption: what holds infinitely often if anything does, and what does then.
    fn assumed(&self, term: usize) -> Result<[&'a Expr; 2], Error> {
        let kind = self.terms.get(term).map(|term| &term.kind);
        let first = kind.and_then(FairnessKind::first);
        let none = || Error::no_proof(format!("assumption {term} has no predicate"));
        let first = first.ok_or_else(none)?;
        Ok([first, kind.and_then(FairnessKind::second).unwrap_or(first)])
    }
}

/// A proof while it is checked.
pub(crate) struct Judge<'a, R: Reach<'a>> {
    subject: Subject<'a>,
    plan: &'a Plan<'a>,
    product: &'a Product,
    parts: &'a Parts<'a>,
    place: FairPlace,
    encoder: Encoder<'a, R::Logic>,
    reach: R,
    sets: Vec<Set<'a>>,
    moves: Vec<Move<'a>>,
    /// The parts of the invariant; nothing if `alive` is within all of them.
    invariant: Option<Vec<Lit>>,
    /// The processes that the conjunct is about, if these are few: parts about them are relied on first.
    about: Vec<ProcessId>,
    /// What is not deleted yet.
    alive: Region,
}

/// What moves from states of a set must not do.
#[derive(Clone, Copy)]
enum Ban {
    /// Lead out of the start.
    LeaveStart,
    /// Be possible in a stuck layer.
    Happen,
    /// Lead out of a layer, or do what it lacks.
    LeaveOrFulfil(Option<Task>),
}

impl<'a, R: Reach<'a>> Judge<'a, R> {
    /// Checks a proof.
    pub(crate) fn judge(
        method: Method,
        subject: Subject<'a>,
        parts: &'a Parts<'a>,
        plan: &'a Plan<'a>,
    ) -> Result<Report, Error> {
        let product = &plan.product;
        let own = plan.dags.iter().zip(&plan.cells);
        let own = own.map(|(dag, cells)| (*dag, &**cells));
        let of_parts = parts.list().iter().map(|part| (part.dag, &*part.cells));
        let graphs: Vec<(&Dag, &[usize])> = own.clone().chain(of_parts.clone()).collect();
        let (mut encoder, mut reach) = R::new(product, &graphs, subject.cancel)?;
        let moves = product.moves(&mut encoder)?;
        let mut invariant = Vec::with_capacity(parts.list().len());
        for (dag, cells) in of_parts {
            invariant.push(reach.graph(&mut encoder, dag, cells)?);
        }
        let within = reach.joined(&mut encoder, &invariant)?;
        let mut judge = Judge {
            subject,
            plan,
            product,
            parts,
            place: plan.place.clone(),
            encoder,
            reach,
            sets: Vec::new(),
            moves,
            invariant: within.is_none().then_some(invariant),
            about: Vec::new(),
            alive: Region {
                clauses: Vec::new(),
                lit: within.unwrap_or(Lit::TRUE),
            },
        };
        let of_terms = plan.predicates();
        let predicates: Vec<&Expr> = product.automaton.atoms.iter().chain(of_terms).collect();
        judge.predicates(&predicates)?;
        judge.about = judge.mentioned(&product.automaton.atoms)?;
        let mut sets = own.map(|(dag, cells)| Source::Graph(dag, cells));
        if let Some(start) = sets.next() {
            judge.start(start)?;
        }
        for (number, (source, deletion)) in sets.zip(&plan.deletions).enumerate() {
            judge.place.layer = Some(number);
            judge.layer(source, deletion)?;
        }
        judge.place.layer = None;
        if judge.state_in(&[judge.alive.lit])? {
            judge.refuse_state(FairFault::Left, &[])?;
        }
        judge.encoder.logic.go_on()?;
        let nodes = plan.dags.iter().map(|dag| dag.len()).sum();
        Ok(Report::counted(method, nodes, judge.encoder.logic.counts()))
    }

    /// The processes that predicates are about, if these are few.
    fn mentioned(&mut self, predicates: &[Expr]) -> Result<Vec<ProcessId>, Error> {
        self.encoder.mentioned.clear();
        for expr in predicates {
            self.product.predicate(&mut self.encoder, expr)?;
        }
        let mentioned = std::mem::take(&mut self.encoder.mentioned);
        let few = mentioned.len() <= FEW_PROCESSES;
        Ok(mentioned.into_iter().filter(|_| few).collect())
    }

    /// That no predicate leaves 64 bits in a state of the invariant.
    fn predicates(&mut self, predicates: &[&Expr]) -> Result<(), Error> {
        for expr in predicates {
            let (_, overflow) = self.product.predicate(&mut self.encoder, expr)?;
            if overflow != Lit::FALSE && self.state_in(&[self.alive.lit, overflow])? {
                let state = self.encoder.solution();
                let confirmed = self.is_invariant(&state);
                let confirmed = confirmed && self.product.holds(expr, &state).is_err();
                let condition = Condition::Overflow(None);
                return self.reject(confirmed, condition, &state, None);
            }
        }
        Ok(())
    }

    /// That the start contains the initial states, and no move leads out of it.
    fn start(&mut self, source: Source<'a>) -> Result<(), Error> {
        let start = self.set(source)?;
        let mut initial = initial(self.subject.system, &mut self.encoder)?;
        if let Some(last) = self.product.last {
            initial.push(self.encoder.cell_is(last, 0));
        }
        let satisfied = self
            .product
            .satisfied(&mut self.encoder, self.product.bits())?;
        let mut all = vec![!self.sets[start].lit, satisfied.whole];
        all.extend(initial);
        if self.encoder.logic.satisfiable(&all, &[Lit::TRUE])? {
            // That the state is initial is what was asked for, cell by cell.
            return self.refuse_state(FairFault::Initial, &[(start, false)]);
        }
        self.alive.lit = self.encoder.logic.and(self.alive.lit, self.sets[start].lit);
        self.alive.clauses.push(vec![(start, true)]);
        let outside = Region {
            clauses: vec![vec![(start, false)]],
            lit: !self.sets[start].lit,
        };
        self.moves(Ban::LeaveStart, start, &|_| vec![(Lit::TRUE, &outside)])
    }

    /// That a layer may be deleted; deletes it.
    fn layer(&mut self, source: Source<'a>, deletion: &Deletion) -> Result<(), Error> {
        let layer = self.set(source)?;
        let inside = self.sets[layer].lit;
        let alive = self.alive.clone();
        let mut rest = alive.clone();
        rest.lit = self.encoder.logic.and(rest.lit, !inside);
        rest.clauses.push(vec![(layer, false)]);
        match deletion {
            Deletion::Stuck => {
                self.moves(Ban::Happen, layer, &|_| vec![(Lit::TRUE, &alive)])?;
                self.alive = rest;
            }
            Deletion::Unfair(task) => {
                let does = match task.state {
                    None => Lit::TRUE,
                    Some(Wanted::Unset(bit)) => {
                        let bit = self.product.bits().start + bit;
                        self.encoder.cell_is(bit, 0)
                    }
                    Some(Wanted::Term(term)) => {
                        let [e, _] = self.plan.assumed(term)?;
                        self.product.predicate(&mut self.encoder, e)?.0
                    }
                };
                let ban = Ban::LeaveOrFulfil(Some(*task));
                let system = self.subject.system;
                let own = |choice: &Move<'a>| task.is_of(process_ref(system, choice.process));
                self.moves(ban, layer, &|choice| match own(choice) {
                    true => vec![(does, &alive), (!does, &rest)],
                    false => vec![(Lit::TRUE, &rest)],
                })?;
                self.alive = rest;
            }
            Deletion::Strong(term) => {
                let [p, q] = self.plan.assumed(*term)?;
                let ban = Ban::LeaveOrFulfil(None);
                self.moves(ban, layer, &|_| vec![(Lit::TRUE, &rest)])?;
                let (promised, _) = self.product.predicate(&mut self.encoder, q)?;
                if self.state_in(&[self.alive.lit, inside, promised])? {
                    let promised = self.set(Source::Predicate(q))?;
                    let there = [(layer, true), (promised, true)];
                    return self.refuse_state(FairFault::Holds, &there);
                }
                let first = self.set(Source::Predicate(p))?;
                let both = self.encoder.logic.and(inside, self.sets[first].lit);
                self.alive.lit = self.encoder.logic.and(self.alive.lit, !both);
                self.alive
                    .clauses
                    .push(vec![(layer, false), (first, false)]);
            }
        }
        self.encoder.logic.go_on()
    }

    /// A set that is spoken of from now on.
    fn set(&mut self, source: Source<'a>) -> Result<usize, Error> {
        let lit = match source {
            Source::Graph(dag, cells) => self.reach.graph(&mut self.encoder, dag, cells)?,
            Source::Predicate(expr) => self.product.predicate(&mut self.encoder, expr)?.0,
        };
        self.sets.push(Set { source, lit });
        Ok(self.sets.len() - 1)
    }

    /// Whether there is a state of the invariant in which all of these are true.
    fn state_in(&mut self, all: &[Lit]) -> Result<bool, Error> {
        let Some(invariant) = &self.invariant else {
            return self.encoder.logic.satisfiable(all, &[Lit::TRUE]);
        };
        for within in self.parts.rounds(&self.about, None) {
            let mut all = all.to_vec();
            all.extend(within.into_iter().map(|part| invariant[part]));
            if !self.encoder.logic.satisfiable(&all, &[Lit::TRUE])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// That no move from a state of a set that is not deleted does what it must not. For each move, it must not lead from states in which a
    /// literal is true to a region.
    fn moves<'r>(
        &mut self,
        ban: Ban,
        set: usize,
        questions: &dyn Fn(&Move<'a>) -> Vec<(Lit, &'r Region)>,
    ) -> Result<(), Error> {
        let inside = self.encoder.logic.and(self.alive.lit, self.sets[set].lit);
        let moves = std::mem::take(&mut self.moves);
        for numbered in moves.iter().enumerate() {
            self.encoder.logic.go_on()?;
            for (when, to) in questions(numbered.1) {
                let from = self.encoder.logic.and(inside, when);
                if let Some(from) = self.possible(numbered, from, to)? {
                    return self.refuse_move(ban, set, numbered, &from, to);
                }
            }
        }
        self.moves = moves;
        Ok(())
    }

    /// Whether a move leads from states of the invariant in which a literal is true to a region; if so, all literals that are then true before.
    fn possible(
        &mut self,
        numbered: (usize, &Move<'a>),
        from: Lit,
        to: &Region,
    ) -> Result<Option<Vec<Lit>>, Error> {
        if from == Lit::FALSE {
            return Ok(None);
        }
        let mut all = vec![from];
        let Some(invariant) = &self.invariant else {
            let found = self
                .reach
                .reaches(&mut self.encoder, numbered, &all, to, &self.sets)?;
            return Ok(found.then_some(all));
        };
        let mut about = self.about.clone();
        about.push(numbered.1.process);
        about.sort_unstable();
        about.dedup();
        for within in self.parts.rounds(&about, None) {
            all.truncate(1);
            all.extend(within.into_iter().map(|part| invariant[part]));
            let encoder = &mut self.encoder;
            if !self
                .reach
                .reaches(encoder, numbered, &all, to, &self.sets)?
            {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Refuses the proof because of the state found last, which is not deleted and in or outside of some sets.
    fn refuse_state(&mut self, fault: FairFault, there: &[(usize, bool)]) -> Result<(), Error> {
        let state = self.encoder.solution();
        let begins = fault == FairFault::Initial;
        let confirmed = self.is_alive(&state)
            && there
                .iter()
                .all(|(set, inside)| self.contains(*set, &state) == *inside)
            && (!begins || self.satisfied(&state).is_some_and(|(whole, _)| whole));
        let condition = Condition::Fair(self.place.clone(), fault);
        self.reject(confirmed, condition, &state, None)
    }

    /// Refuses the proof because of a move that was found to be possible.
    fn refuse_move(
        &mut self,
        ban: Ban,
        set: usize,
        numbered: (usize, &Move<'a>),
        from: &[Lit],
        to: &Region,
    ) -> Result<(), Error> {
        let choice = numbered.1;
        let found = self
            .reach
            .solution(&mut self.encoder, numbered, from, to, &self.sets)?
            .unwrap_or_else(|| self.encoder.solution());
        let (state, choices) = found.split_at(self.product.system.cells.min(found.len()));
        let next = self.after(choice, state, choices);
        let leaves = next.as_ref().is_some_and(|next| !self.contains(set, next));
        let begins = self.is_alive(state) && self.contains(set, state);
        let arrives = next.as_ref().is_some_and(|next| self.is_alive(next));
        let turn = match choice.step {
            Some(step) => Turn::Step(self.subject.name(choice.process, step)),
            None => Turn::Nothing(process_name(self.subject.system, choice.process)),
        };
        let (fault, wrong) = match ban {
            Ban::LeaveStart => (FairFault::Start(turn), leaves),
            Ban::Happen => (FairFault::NotStuck(turn), arrives),
            Ban::LeaveOrFulfil(Some(task)) if !leaves => {
                let process = process_ref(self.subject.system, choice.process);
                let done = task.is_of(process) && self.is_wanted(task.state, state);
                (FairFault::Fulfils(turn), arrives && done)
            }
            Ban::LeaveOrFulfil(_) => (FairFault::Leaves(turn), arrives && leaves),
        };
        let condition = Condition::Fair(self.place.clone(), fault);
        self.reject(begins && wrong, condition, state, next.as_deref())
    }

    /// The state after a move by the evaluator, if the move is one: the bits after are those that come with the state.
    fn after(&mut self, choice: &Move<'a>, state: &[i64], choices: &[i64]) -> Option<Vec<i64>> {
        let (system, product) = (self.subject.system, self.product);
        let program = &state[..product.program];
        let mut next = state.to_vec();
        match choice.step {
            None => {
                let outcomes = eval::outcomes(system, program, choice.process);
                outcomes.is_empty().then_some(())?;
            }
            Some(step) => {
                let context = Context {
                    system,
                    state: program,
                    process: Some(choice.process),
                    choices,
                };
                let at = system.location(program, choice.process);
                (at == Some(step.from)).then_some(())?;
                match context.step(step)? {
                    Outcome::Move(moved) => next[..product.program].copy_from_slice(&moved),
                    Outcome::Rest => {}
                    _ => return None,
                }
            }
        }
        if let Some(last) = product.last {
            next[last] = product.last_after(choice.process, choice.step);
        }
        next.copy_within(product.bits_after(), product.bits().start);
        let (_, demands) = self.satisfied(&next)?;
        let met = product.bits().zip(demands);
        let met = met.into_iter().all(|(bit, holds)| state[bit] == 0 || holds);
        met.then_some(next)
    }

    /// What is satisfied in a state: the negated conjunct, and what each bit demands.
    fn satisfied(&self, state: &[i64]) -> Option<(bool, Vec<bool>)> {
        let product = self.product;
        let mut atoms = Vec::new();
        for atom in &product.automaton.atoms {
            atoms.push(product.holds(atom, state).ok()?);
        }
        let bits: Vec<bool> = product.bits().map(|bit| state[bit] == 1).collect();
        let satisfied = product.automaton.satisfied(&mut Booleans, &atoms, &bits);
        Some((satisfied.whole, satisfied.demands))
    }

    fn is_wanted(&self, wanted: Option<Wanted>, state: &[i64]) -> bool {
        match wanted {
            None => true,
            Some(Wanted::Unset(bit)) => state[self.product.bits().start + bit] == 0,
            Some(Wanted::Term(term)) => {
                let assumed = self.plan.assumed(term);
                assumed.is_ok_and(|[e, _]| self.product.holds(e, state) == Ok(true))
            }
        }
    }

    /// Whether a state is in a set.
    fn contains(&self, set: usize, state: &[i64]) -> bool {
        match self.sets[set].source {
            Source::Graph(dag, cells) => contains(&self.encoder.cells, dag, cells, state),
            Source::Predicate(expr) => self.product.holds(expr, state) == Ok(true),
        }
    }

    fn is_invariant(&self, state: &[i64]) -> bool {
        let mut parts = self.parts.list().iter();
        parts.all(|part| contains(&self.encoder.cells, part.dag, &part.cells, state))
    }

    /// Whether a state is in the invariant and not deleted yet.
    fn is_alive(&self, state: &[i64]) -> bool {
        let mut clauses = self.alive.clauses.iter();
        self.is_invariant(state)
            && clauses.all(|clause| {
                let mut sets = clause.iter();
                sets.any(|(set, inside)| self.contains(*set, state) == *inside)
            })
    }

    /// Rejects the certificate because of a state that the evaluator has confirmed.
    fn reject(
        &self,
        confirmed: bool,
        condition: Condition,
        state: &[i64],
        next: Option<&[i64]>,
    ) -> Result<(), Error> {
        let program = self.product.program;
        let describe = |state: &[i64]| {
            let mut cells = self.subject.describe(&state[..program]);
            let more = program..self.product.bits_after().start;
            let names = &self.product.system.vars.raw;
            let names = &names[names.len() - (self.product.system.cells - program)..];
            let more = names.iter().zip(&state[more]);
            cells.extend(more.map(|(var, value)| (var.name.clone(), value.to_string())));
            cells
        };
        let next = next.map(describe);
        reject(confirmed, condition, describe(state), next)
    }
}
