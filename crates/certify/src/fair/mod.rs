//! The conditions of proofs that no fair run violates a property, and how they are decided.
//!
//! A run that violates a conjunct of the property is a run of the product of the program and the automaton of the negated conjunct
//! (`product`, `automaton`), and if it is fair, it fulfils the automaton's obligations and meets the assumptions of some alternative. A proof deletes
//! states of the product, layer by layer, such that from some time on no such run is in what was deleted. When none is left, there is no such run. Every
//! condition speaks of one step only. All are meant relative to the invariant, whose own conditions are those of any inductive set: all states of
//! runs are in it.
//!
//! Let A be what is not deleted yet: runs are in it from some time on. At first it is the start, in which runs are from the beginning.
//! - *Stuck*: no step leads from W to A. A run that stays in A is in W at most in its beginning, so it is not in W from some time on.
//! - *Unfair*: no step leads from W to A without W, and none within W is what the run must do infinitely often. A run that stays in A and is in W
//!   infinitely often enters W some time and cannot leave it, and then does no more what it must.
//! - *Strong*: no step leads from W to A without W, and the second predicate of an assumption holds nowhere in W. A run that stays in A and is in W
//!   infinitely often stays there, as before; so the second predicate holds finitely often, and by the assumption the first does, too: the states of W
//!   where the first holds are deleted.
//!
//! With a mover, what is to be done infinitely often for the first obligation is a step of that process from a state that fulfils it. A
//! run that fulfils the obligation does so infinitely often with some process scheduled, so proofs for all processes cover all runs.

mod each;
mod product;
mod solver;
mod symmetric;
mod walk;

use threadwise_evidence::certificate::{Duty, FairClaim, FairProof, Layer, Symmetric};
use threadwise_evidence::dag::Dag;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::layout::{process_id, process_name};
use threadwise_model::system::{Expr, ProcessId, System};
use threadwise_model::temporal::{Fairness, FairnessKind, Formula, Liveness};

use crate::Error;
use crate::conditions::{Method, Report, Subject, contains, initial, reject};
use crate::encode::Encoder;
use crate::logic::{Lit, Logic};
use crate::parts::{FEW_PROCESSES, Parts};
use crate::rejection::{Condition, FairFault, FairPlace, Turn};
use product::{Move, Product, Region, Set, Source};
use solver::Clauses;
use walk::Walks;

/// A way to decide what moves of the product are possible.
trait Reach<'a>: Sized {
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

/// Checks the proofs of a claim, whose invariant is known to be one.
pub(crate) fn check(
    method: Method,
    subject: Subject<'_>,
    parts: &Parts<'_>,
    claim: &FairClaim,
    liveness: &Liveness,
) -> Result<Report, Error> {
    let conjuncts = liveness.formula.conjuncts();
    covers(subject.system, liveness, conjuncts.len(), claim)?;
    let mut report = Report::default();
    for proof in &claim.proofs {
        let plan = Plan::new(subject.system, liveness, &conjuncts, proof)?;
        let done = match method {
            Method::Each => each::judge(subject, parts, &plan),
            Method::Walk => Judge::<Walks<'_>>::judge(subject, parts, &plan),
            Method::Solver => Judge::<Clauses<'_>>::judge(subject, parts, &plan),
        };
        report = report.and(done?);
    }
    if !claim.symmetric.is_empty() {
        let product = Product::new(subject.system, liveness, &Formula::TRUE)?;
        let check = match method {
            // About the steps, whatever the states.
            Method::Each | Method::Walk => symmetric::check::<Walks<'_>>,
            Method::Solver => symmetric::check::<Clauses<'_>>,
        };
        report = report.and(check(subject, liveness, &conjuncts, claim, &product)?);
    }
    Ok(report)
}

/// That there are proofs for all conjuncts and alternatives, and no others.
fn covers(
    system: &System,
    liveness: &Liveness,
    conjuncts: usize,
    claim: &FairClaim,
) -> Result<(), Error> {
    let alternatives = liveness.fairness.len();
    let mut covered = vec![Vec::new(); conjuncts * alternatives];
    for proof in &claim.proofs {
        let FairProof {
            conjunct,
            alternative,
            ..
        } = *proof;
        if conjunct >= conjuncts || alternative >= alternatives {
            return Err(Error::no_proof(format!(
                "a proof is about conjunct {conjunct} and alternative {alternative}, and the property has \
                 {conjuncts} and {alternatives}, counted from 0"
            )));
        }
        covered[conjunct * alternatives + alternative].push(mover(system, proof)?);
    }
    let mut elsewhere = vec![None; conjuncts];
    for Symmetric { conjunct, of, .. } in &claim.symmetric {
        if conjunct.max(of) >= &conjuncts {
            return Err(Error::no_proof(format!(
                "conjunct {conjunct} is said to be an image of {of}, and the property has {conjuncts}, counted from 0"
            )));
        }
        elsewhere[*conjunct] = Some(*of);
    }
    // What is an image needs no proofs of its own, but what it is an image of does.
    let own = |conjunct: usize| {
        let image_of = |other: &Option<usize>| *other == Some(conjunct);
        elsewhere[conjunct].is_none() || elsewhere.iter().any(image_of)
    };
    for (at, movers) in covered.iter().enumerate() {
        if !own(at / alternatives) {
            continue;
        }
        let missing = movers_of(system).find(|process| !movers.contains(&Some(*process)));
        if let Some(missing) = missing.filter(|_| !movers.contains(&None)) {
            let steps = match movers.is_empty() {
                true => String::new(),
                false => format!(" with steps of {}", process_name(system, missing)),
            };
            return Err(Error::no_proof(format!(
                "it has no proof of conjunct {} for alternative {}{steps}",
                at / alternatives,
                at % alternatives
            )));
        }
    }
    Ok(())
}

fn movers_of(system: &System) -> impl Iterator<Item = ProcessId> {
    (0..system.processes()).map(ProcessId::from_raw)
}

/// The mover of a proof.
fn mover(system: &System, proof: &FairProof) -> Result<Option<ProcessId>, Error> {
    let Some(name) = &proof.mover else {
        return Ok(None);
    };
    let named = movers_of(system).find(|process| process_name(system, *process) == *name);
    let unknown = || Error::no_proof(format!("the model has no process `{name}`"));
    named.map(Some).ok_or_else(unknown)
}

/// What a run must do infinitely often: be in a state of a set, have a process scheduled, or both at once.
#[derive(Clone, Copy)]
struct Task<'a> {
    process: Option<ProcessId>,
    state: Option<Wanted<'a>>,
}

impl Task<'_> {
    /// Whether moves of a process can do it.
    fn is_of(&self, process: ProcessId) -> bool {
        self.process.is_none_or(|wanted| wanted == process)
    }
}

/// In which states something is done.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// Where this bit is not set.
    Unset(usize),
    /// Where this predicate holds.
    Predicate(&'a Expr),
}

/// A layer that makes sense.
enum Deletion<'a> {
    Stuck,
    Unfair(Task<'a>),
    Strong(&'a Expr, &'a Expr),
}

/// A proof, with what it speaks of.
struct Plan<'a> {
    place: FairPlace,
    product: Product,
    terms: &'a [Fairness<Expr>],
    /// The start, and the set of each layer; and the cells that those of the graphs are.
    dags: Vec<&'a Dag>,
    cells: Vec<Vec<usize>>,
    deletions: Vec<Deletion<'a>>,
}

impl<'a> Plan<'a> {
    /// Finds what a proof speaks of. Its conjunct and its alternative exist.
    fn new(
        system: &System,
        liveness: &'a Liveness,
        conjuncts: &[Formula<Expr>],
        proof: &'a FairProof,
    ) -> Result<Plan<'a>, Error> {
        let product = Product::new(system, liveness, &conjuncts[proof.conjunct])?;
        let terms = &liveness.fairness[proof.alternative];
        let mover = mover(system, proof)?;
        let mut dags = vec![&proof.start];
        let mut deletions = Vec::with_capacity(proof.layers.len());
        for (number, layer) in proof.layers.iter().enumerate() {
            let nonsense = |message: String| {
                let place = place(proof, Some(number));
                Error::no_proof(format!("{place}: {message}"))
            };
            let (set, deletion) = match layer {
                Layer::Stuck { remove } => (remove, Deletion::Stuck),
                Layer::Unfair { lacks, remove } => {
                    let obligations = product.automaton.obligations();
                    let task = task(system, *lacks, mover, &obligations, terms);
                    (remove, Deletion::Unfair(task.map_err(nonsense)?))
                }
                Layer::Strong { term, within } => match terms.get(*term).map(|term| &term.kind) {
                    Some(FairnessKind::Strong(p, q)) => (within, Deletion::Strong(p, q)),
                    Some(_) => {
                        let message = format!("assumption {term} is not a strong one");
                        return Err(nonsense(message));
                    }
                    None => return Err(nonsense(unknown_term(*term, terms))),
                },
            };
            dags.push(set);
            deletions.push(deletion);
        }
        let cells = product.cells(&dags)?;
        Ok(Plan {
            place: place(proof, None),
            product,
            terms,
            dags,
            cells,
            deletions,
        })
    }

    /// The predicates that the proof may use.
    fn predicates(&self) -> Vec<&Expr> {
        let of_term = |term: &'a Fairness<Expr>| match &term.kind {
            FairnessKind::Scheduled(_) => Vec::new(),
            FairnessKind::Weak(e) => vec![e],
            FairnessKind::Strong(p, q) => vec![p, q],
        };
        let terms = self.terms.iter().flat_map(of_term);
        self.product.automaton.atoms.iter().chain(terms).collect()
    }
}

fn place(proof: &FairProof, layer: Option<usize>) -> FairPlace {
    FairPlace {
        conjunct: proof.conjunct,
        alternative: proof.alternative,
        mover: proof.mover.clone(),
        layer,
    }
}

fn unknown_term(term: usize, terms: &[Fairness<Expr>]) -> String {
    format!(
        "there is no assumption {term}: the alternative has {}, counted from 0",
        terms.len()
    )
}

/// What a run must do by a duty, if that is one.
fn task<'a>(
    system: &System,
    duty: Duty,
    mover: Option<ProcessId>,
    obligations: &[usize],
    terms: &'a [Fairness<Expr>],
) -> Result<Task<'a>, String> {
    let unset = |obligation: usize| obligations.get(obligation).map(|bit| Wanted::Unset(*bit));
    match (duty, mover) {
        (Duty::Obligation(0), Some(_)) => {
            Err("the first obligation is the mover's in this proof".to_owned())
        }
        (Duty::Obligation(obligation), _) => match unset(obligation) {
            Some(state) => Ok(Task {
                process: None,
                state: Some(state),
            }),
            None => Err(format!(
                "there is no obligation {obligation}: the automaton has {}, counted from 0",
                obligations.len()
            )),
        },
        (Duty::Mover, None) => Err("the proof has no mover".to_owned()),
        (Duty::Mover, process) => Ok(Task {
            process,
            state: unset(0),
        }),
        (Duty::Term(term), _) => match terms.get(term).map(|term| &term.kind) {
            Some(FairnessKind::Scheduled(process)) => Ok(Task {
                process: Some(process_id(system, *process)),
                state: None,
            }),
            Some(FairnessKind::Weak(e)) => Ok(Task {
                process: None,
                state: Some(Wanted::Predicate(e)),
            }),
            Some(FairnessKind::Strong(..)) => Err(format!(
                "assumption {term} is a strong one, which is no duty"
            )),
            None => Err(unknown_term(term, terms)),
        },
    }
}

/// A proof while it is checked.
struct Judge<'a, R: Reach<'a>> {
    subject: Subject<'a>,
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
enum Ban<'a> {
    /// Lead out of the start.
    LeaveStart,
    /// Be possible in a stuck layer.
    Happen,
    /// Lead out of a layer, or do what it lacks.
    LeaveOrFulfil(Option<Task<'a>>),
}

impl<'a, R: Reach<'a>> Judge<'a, R> {
    /// Checks a proof.
    fn judge(
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
        judge.predicates(&plan.predicates())?;
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
        Ok(Report::counted(nodes, judge.encoder.logic.counts()))
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
    fn layer(&mut self, source: Source<'a>, deletion: &Deletion<'a>) -> Result<(), Error> {
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
                    Some(Wanted::Predicate(e)) => self.product.predicate(&mut self.encoder, e)?.0,
                };
                let ban = Ban::LeaveOrFulfil(Some(*task));
                self.moves(ban, layer, &|choice| match task.is_of(choice.process) {
                    true => vec![(does, &alive), (!does, &rest)],
                    false => vec![(Lit::TRUE, &rest)],
                })?;
                self.alive = rest;
            }
            Deletion::Strong(p, q) => {
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
        ban: Ban<'a>,
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
        ban: Ban<'a>,
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
                let done = task.is_of(choice.process) && self.is_wanted(task.state, state);
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
    fn satisfied(&mut self, state: &[i64]) -> Option<(bool, Vec<bool>)> {
        let product = self.product;
        let mut atoms = Vec::new();
        for atom in &product.automaton.atoms {
            atoms.push(Lit::of(product.holds(atom, state).ok()?));
        }
        let bits: Vec<Lit> = product.bits().map(|bit| Lit::of(state[bit] == 1)).collect();
        // Of constants come constants.
        let logic = &mut self.encoder.logic;
        let satisfied = product.automaton.satisfied(logic, &atoms, &bits);
        let holds = |lit: Lit| lit == Lit::TRUE;
        let demands = satisfied.demands.into_iter().map(holds).collect();
        Some((holds(satisfied.whole), demands))
    }

    fn is_wanted(&self, wanted: Option<Wanted<'a>>, state: &[i64]) -> bool {
        match wanted {
            None => true,
            Some(Wanted::Unset(bit)) => state[self.product.bits().start + bit] == 0,
            Some(Wanted::Predicate(expr)) => self.product.holds(expr, state) == Ok(true),
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
