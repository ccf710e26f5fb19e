//! The product of a program and the automaton of a negated conjunct, state by state: proofs that no run is fair, and an oracle that judges
//! them. Nothing is shared with the checker but the evaluation of lowered expressions.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::certificate::{
    Duty, FairClaim, FairProof, Layer, cell_names, cell_values,
};
use threadwise_evidence::dag::{Builder, Dag};
use threadwise_model::eval::{Context, Outcome, initial_states, outcomes_of};
use threadwise_model::layout::{process_id, process_name};
use threadwise_model::system::{Expr, ProcessId, System};
use threadwise_model::temporal::{Fairness, FairnessKind, Formula, Liveness};

use super::{Members, State, processes};

/// A conjunct's negation with its bits, as formulas.
pub struct Automaton {
    negation: Formula<Expr>,
    bits: Vec<Formula<Expr>>,
}

fn negated(formula: &Formula<Expr>) -> Formula<Expr> {
    let all = |parts: &[Formula<Expr>]| parts.iter().map(negated).collect();
    let two = |f: &Formula<Expr>, g: &Formula<Expr>| (Box::new(negated(f)), Box::new(negated(g)));
    match formula {
        Formula::Atom(_) => Formula::Not(Box::new(formula.clone())),
        Formula::Not(f) => positive(f),
        Formula::And(parts) => Formula::Or(all(parts)),
        Formula::Or(parts) => Formula::And(all(parts)),
        Formula::Next(f) => Formula::Next(Box::new(negated(f))),
        Formula::Until(f, g) => {
            let (f, g) = two(f, g);
            Formula::Release(f, g)
        }
        Formula::Release(f, g) => {
            let (f, g) = two(f, g);
            Formula::Until(f, g)
        }
    }
}

fn positive(formula: &Formula<Expr>) -> Formula<Expr> {
    let all = |parts: &[Formula<Expr>]| parts.iter().map(positive).collect();
    match formula {
        Formula::Atom(_) => formula.clone(),
        Formula::Not(f) => negated(f),
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::Next(f) => Formula::Next(Box::new(positive(f))),
        Formula::Until(f, g) => Formula::Until(Box::new(positive(f)), Box::new(positive(g))),
        Formula::Release(f, g) => Formula::Release(Box::new(positive(f)), Box::new(positive(g))),
    }
}

fn collect(formula: &Formula<Expr>, bits: &mut Vec<Formula<Expr>>) {
    match formula {
        Formula::Atom(_) => {}
        Formula::Not(f) => collect(f, bits),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|f| collect(f, bits)),
        Formula::Next(f) => collect(f, bits),
        Formula::Until(f, g) | Formula::Release(f, g) => {
            collect(f, bits);
            collect(g, bits);
        }
    }
    let temporal = matches!(
        formula,
        Formula::Next(_) | Formula::Until(..) | Formula::Release(..)
    );
    if temporal && !bits.contains(formula) {
        bits.push(formula.clone());
    }
}

impl Automaton {
    fn new(conjunct: &Formula<Expr>) -> Automaton {
        let negation = negated(conjunct);
        let mut bits = Vec::new();
        collect(&negation, &mut bits);
        Automaton { negation, bits }
    }

    pub fn obligations(&self) -> Vec<usize> {
        let until = |bit: &usize| matches!(self.bits[*bit], Formula::Until(..));
        (0..self.bits.len()).filter(until).collect()
    }
}

/// The product, as far as it is within an invariant.
pub struct Product<'a> {
    system: &'a System,
    liveness: &'a Liveness,
    pub automaton: Automaton,
    /// Names of cells, least values, numbers of values.
    cells: Vec<(String, i64, u64)>,
    pub states: Vec<State>,
    numbers: BTreeMap<State, usize>,
    initial: Vec<usize>,
    /// Who moves where, from each state.
    pub steps: Vec<Vec<(ProcessId, usize)>>,
}

pub type Set = BTreeSet<usize>;

impl<'a> Product<'a> {
    /// The product over some states of the program; nothing if it is too large, or a step leads elsewhere, or not all is known.
    pub fn new(
        system: &'a System,
        liveness: &'a Liveness,
        conjunct: &Formula<Expr>,
        program: &BTreeSet<State>,
    ) -> Option<Product<'a>> {
        let automaton = Automaton::new(conjunct);
        let mut cells = Vec::new();
        for (name, values) in cell_names(system).into_iter().zip(cell_values(system)) {
            let (lo, size) = values?;
            cells.push((name, lo, size));
        }
        let last = liveness.taken.len();
        if last > 0 {
            cells.push(("$last".to_owned(), 0, last as u64 + 1));
        }
        let bits = automaton.bits.len();
        cells.extend((0..bits).map(|bit| (format!("${bit}"), 0, 2)));
        let variants = (last + 1) << bits;
        if program.len().checked_mul(variants)? > 4_000 {
            return None;
        }
        let mut product = Product {
            system,
            liveness,
            automaton,
            cells,
            states: Vec::new(),
            numbers: BTreeMap::new(),
            initial: Vec::new(),
            steps: Vec::new(),
        };
        for state in program {
            for variant in 0..variants {
                let state = product.extended(state, variant >> bits, variant);
                product.numbers.insert(state.clone(), product.states.len());
                product.states.push(state);
            }
        }
        for at in 0..product.states.len() {
            let steps = product.successors(&product.states[at])?;
            product.steps.push(steps);
        }
        for state in initial_states(system).ok()? {
            for variant in 0..1usize << bits {
                let state = product.extended(&state, 0, variant);
                if product.satisfied(&product.automaton.negation, &state)? {
                    product.initial.extend(product.numbers.get(&state));
                }
            }
        }
        Some(product)
    }

    fn extended(&self, program: &[i64], last: usize, bits: usize) -> State {
        let mut state = program.to_vec();
        if !self.liveness.taken.is_empty() {
            state.push(last as i64);
        }
        state.extend((0..self.automaton.bits.len()).map(|bit| (bits >> bit & 1) as i64));
        state
    }

    fn bit(&self, state: &[i64], bit: usize) -> bool {
        state[state.len() - self.automaton.bits.len() + bit] == 1
    }

    pub fn holds(&self, expr: &Expr, state: &[i64]) -> Option<bool> {
        let steps = self.liveness.taken.len();
        let choices: Vec<i64> = (0..steps)
            .map(|k| i64::from(state[self.system.cells] == k as i64 + 1))
            .collect();
        let context = Context {
            choices: &choices,
            ..Context::of_state(self.system, state)
        };
        context.holds(expr).ok()
    }

    fn satisfied(&self, formula: &Formula<Expr>, state: &[i64]) -> Option<bool> {
        let set = || {
            let bit = self.automaton.bits.iter().position(|bit| bit == formula)?;
            Some(self.bit(state, bit))
        };
        Some(match formula {
            Formula::Atom(atom) => self.holds(atom, state)?,
            Formula::Not(f) => !self.satisfied(f, state)?,
            Formula::And(parts) => {
                let all: Option<Vec<bool>> =
                    parts.iter().map(|f| self.satisfied(f, state)).collect();
                all?.into_iter().all(|holds| holds)
            }
            Formula::Or(parts) => {
                let all: Option<Vec<bool>> =
                    parts.iter().map(|f| self.satisfied(f, state)).collect();
                all?.into_iter().any(|holds| holds)
            }
            Formula::Next(_) => set()?,
            Formula::Until(f, g) => {
                self.satisfied(g, state)? || self.satisfied(f, state)? && set()?
            }
            Formula::Release(f, g) => {
                self.satisfied(g, state)? && (self.satisfied(f, state)? || set()?)
            }
        })
    }

    fn successors(&self, state: &[i64]) -> Option<Vec<(ProcessId, usize)>> {
        let program = &state[..self.system.cells];
        let mut found = BTreeSet::new();
        for process in processes(self.system) {
            let template = &self.system.templates[self.system.template_of(process)];
            let at = self.system.location(program, process)?;
            let taken = self.liveness.taken.iter().position(|taken| {
                process_id(self.system, taken.process) == process && taken.location == at
            });
            let outcomes = outcomes_of(self.system, &template.steps[at], program, process);
            let mut next = Vec::new();
            for outcome in &outcomes {
                match outcome {
                    Outcome::Move(to) => next.push((to.clone(), taken.map_or(0, |at| at + 1))),
                    Outcome::Rest => next.push((program.to_vec(), 0)),
                    Outcome::Failure(..) => {}
                    _ => return None,
                }
            }
            if outcomes.is_empty() {
                next.push((program.to_vec(), 0));
            }
            for (to, last) in next {
                for bits in 0..1usize << self.automaton.bits.len() {
                    let to = self.extended(&to, last, bits);
                    let mut met = true;
                    for (bit, formula) in self.automaton.bits.iter().enumerate() {
                        let body = match formula {
                            Formula::Next(f) => f,
                            whole => whole,
                        };
                        met &= !self.bit(state, bit) || self.satisfied(body, &to)?;
                    }
                    if met {
                        found.insert((process, *self.numbers.get(&to)?));
                    }
                }
            }
        }
        Some(found.into_iter().collect())
    }

    /// What can be reached.
    pub fn reachable(&self) -> Set {
        let mut seen = Set::new();
        let mut open = self.initial.clone();
        while let Some(state) = open.pop() {
            if seen.insert(state) {
                open.extend(self.steps[state].iter().map(|(_, to)| *to));
            }
        }
        seen
    }

    /// A set as a decision graph.
    pub fn graph(&self, set: &Set) -> Dag {
        let order: Vec<usize> = (0..self.cells.len()).collect();
        self.graph_in(set, &order)
    }

    /// A set as a decision graph that tests cells in an order.
    pub fn graph_in(&self, set: &Set, order: &[usize]) -> Dag {
        let sorted: BTreeSet<Vec<u64>> = set
            .iter()
            .map(|at| {
                let state = &self.states[*at];
                let position = |cell: &usize| (state[*cell] - self.cells[*cell].1) as u64;
                order.iter().map(position).collect()
            })
            .collect();
        let cells = order.iter().map(|cell| &self.cells[*cell]);
        let mut states = Builder::new(cells.map(|(name, _, size)| (name.clone(), *size))).states();
        for state in sorted {
            states.push(&state).expect("in order");
        }
        states.finish().expect("not too large")
    }

    /// The states of a decision graph; nothing if it is not one over the product's cells.
    pub fn set(&self, dag: &Dag) -> Option<Set> {
        let place = |name: &String| self.cells.iter().position(|(cell, ..)| cell == name);
        let places: Vec<usize> = dag.cells().iter().map(place).collect::<Option<_>>()?;
        let fits = |node: threadwise_evidence::dag::Node<'_>| {
            node.values() == self.cells[places[node.cell]].2
        };
        if !dag.nodes().all(fits) {
            return None;
        }
        let inside = |at: &usize| {
            dag.contains(|cell| {
                let cell = places[cell];
                (self.states[*at][cell] - self.cells[cell].1) as u64
            })
        };
        Some((0..self.states.len()).filter(inside).collect())
    }

    /// Whether a step from a state by a process does what a run must; nothing if the duty is none.
    fn does(
        &self,
        duty: Duty,
        mover: Option<ProcessId>,
        terms: &[Fairness<Expr>],
    ) -> Option<Box<dyn Fn(usize, ProcessId) -> bool + '_>> {
        let obligations = self.automaton.obligations();
        let unset = move |bit: usize, at: usize| !self.bit(&self.states[at], bit);
        Some(match duty {
            Duty::Obligation(0) if mover.is_some() => return None,
            Duty::Obligation(number) => {
                let bit = *obligations.get(number)?;
                Box::new(move |at, _| unset(bit, at))
            }
            Duty::Mover => {
                let (mover, bit) = (mover?, obligations.first().copied());
                Box::new(move |at, process| {
                    process == mover && bit.is_none_or(|bit| unset(bit, at))
                })
            }
            Duty::Term(number) => match &terms.get(number)?.kind {
                FairnessKind::Scheduled(process) => {
                    let wanted = process_id(self.system, *process);
                    Box::new(move |_, process| process == wanted)
                }
                FairnessKind::Weak(e) => {
                    let e = e.clone();
                    Box::new(move |at, _| self.holds(&e, &self.states[at]) == Some(true))
                }
                FairnessKind::Strong(..) => return None,
            },
        })
    }

    /// The states of a set from which some others can be reached within it.
    fn reaching(&self, alive: &Set, mut found: Set) -> Set {
        loop {
            let before = found.len();
            for at in alive {
                if self.steps[*at].iter().any(|(_, to)| found.contains(to)) {
                    found.insert(*at);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// The layers of a proof, and what is left after them.
    fn prove(
        &self,
        start: &Set,
        mover: Option<ProcessId>,
        terms: &[Fairness<Expr>],
    ) -> (Vec<Layer>, Set) {
        let mut duties: Vec<Duty> = Vec::new();
        duties.extend(mover.map(|_| Duty::Mover));
        let first = usize::from(mover.is_some());
        duties.extend((first..self.automaton.obligations().len()).map(Duty::Obligation));
        duties.extend((0..terms.len()).map(Duty::Term));
        let mut alive = start.clone();
        let mut layers = Vec::new();
        loop {
            let before = alive.len();
            let inside =
                |alive: &Set, at: usize| self.steps[at].iter().any(|(_, to)| alive.contains(to));
            let stuck: Set = alive
                .iter()
                .copied()
                .filter(|at| !inside(&alive, *at))
                .collect();
            if !stuck.is_empty() {
                let remove = self.graph(&stuck);
                layers.push(Layer::Stuck { remove });
                alive = &alive - &stuck;
            }
            for duty in &duties {
                let Some(does) = self.does(*duty, mover, terms) else {
                    continue;
                };
                let doing = |at: &usize| {
                    let mut steps = self.steps[*at].iter();
                    steps.any(|(process, to)| alive.contains(to) && does(*at, *process))
                };
                let doing: Set = alive.iter().copied().filter(|at| doing(at)).collect();
                let remove = &alive - &self.reaching(&alive, doing);
                if !remove.is_empty() {
                    alive = &alive - &remove;
                    layers.push(Layer::Unfair {
                        lacks: *duty,
                        remove: self.graph(&remove),
                    });
                }
            }
            for (term, fairness) in terms.iter().enumerate() {
                let FairnessKind::Strong(p, q) = &fairness.kind else {
                    continue;
                };
                let holding = |expr: &Expr, set: &Set| -> Set {
                    let holds = |at: &usize| self.holds(expr, &self.states[*at]) == Some(true);
                    set.iter().copied().filter(holds).collect()
                };
                let within = &alive - &self.reaching(&alive, holding(q, &alive));
                let remove = holding(p, &within);
                if !remove.is_empty() {
                    alive = &alive - &remove;
                    let within = self.graph(&within);
                    layers.push(Layer::Strong { term, within });
                }
            }
            if alive.len() == before {
                return (layers, alive);
            }
        }
    }

    /// Whether a proof is one. The reason if not.
    fn judge(
        &self,
        proof: &FairProof,
        mover: Option<ProcessId>,
        terms: &[Fairness<Expr>],
    ) -> Result<(), String> {
        let set = |dag: &Dag| self.set(dag).ok_or("a graph over other cells");
        let mut alive = set(&proof.start)?;
        if let Some(at) = self.initial.iter().find(|at| !alive.contains(at)) {
            return Err(format!("initial {:?}", self.states[*at]));
        }
        for at in &alive {
            if let Some((_, to)) = self.steps[*at].iter().find(|(_, to)| !alive.contains(to)) {
                let (from, to) = (&self.states[*at], &self.states[*to]);
                return Err(format!("{from:?} to {to:?} leaves the start"));
            }
        }
        for (number, layer) in proof.layers.iter().enumerate() {
            let (layer_set, does, stuck) = match layer {
                Layer::Stuck { remove } => (set(remove)?, None, true),
                Layer::Unfair { lacks, remove } => {
                    let does = self.does(*lacks, mover, terms).ok_or("no duty")?;
                    (set(remove)?, Some(does), false)
                }
                Layer::Strong { within, .. } => (set(within)?, None, false),
            };
            let inside = &layer_set & &alive;
            for at in &inside {
                for (process, to) in self.steps[*at].iter().filter(|(_, to)| alive.contains(to)) {
                    let does = does.as_ref().is_some_and(|does| does(*at, *process));
                    if stuck || does || !inside.contains(to) {
                        let (from, to) = (&self.states[*at], &self.states[*to]);
                        return Err(format!("layer {number}: {from:?} to {to:?}"));
                    }
                }
            }
            match layer {
                Layer::Strong { term, .. } => {
                    let Some(FairnessKind::Strong(p, q)) = terms.get(*term).map(|t| &t.kind) else {
                        return Err("no strong term".into());
                    };
                    let holds = |e: &Expr, at: &usize| self.holds(e, &self.states[*at]);
                    if let Some(at) = inside.iter().find(|at| holds(q, at) != Some(false)) {
                        return Err(format!("layer {number}: {:?}", self.states[*at]));
                    }
                    alive.retain(|at| !inside.contains(at) || holds(p, at) != Some(true));
                }
                _ => alive = &alive - &inside,
            }
        }
        match alive.first() {
            Some(at) => Err(format!("{:?} is left", self.states[*at])),
            None => Ok(()),
        }
    }
}

/// The conjuncts that do not hold; nothing if finding out takes too long.
pub fn left(
    system: &System,
    liveness: &Liveness,
    invariant: &BTreeSet<State>,
) -> Option<BTreeSet<usize>> {
    let mut left = BTreeSet::new();
    for (conjunct, formula) in liveness.formula.conjuncts().iter().enumerate() {
        let product = Product::new(system, liveness, formula, invariant)?;
        let start = product.reachable();
        for terms in &liveness.fairness {
            if !product.prove(&start, None, terms).1.is_empty() {
                left.insert(conjunct);
            }
        }
    }
    Some(left)
}

/// A claim with the proofs that enumeration finds, by movers or not, and whether nothing is left in any of them; nothing if that takes too long.
pub fn claim(
    system: &System,
    liveness: &Liveness,
    invariant: (&BTreeSet<State>, Dag),
    by_movers: bool,
) -> Option<(FairClaim, bool)> {
    let mut proofs = Vec::new();
    let mut all = true;
    for (conjunct, formula) in liveness.formula.conjuncts().iter().enumerate() {
        let product = Product::new(system, liveness, formula, invariant.0)?;
        let start = product.reachable();
        for (alternative, terms) in liveness.fairness.iter().enumerate() {
            let movers: Vec<Option<ProcessId>> = match by_movers {
                true => processes(system).map(Some).collect(),
                false => vec![None],
            };
            for mover in movers {
                let (layers, left) = product.prove(&start, mover, terms);
                all &= left.is_empty();
                proofs.push(FairProof {
                    conjunct,
                    alternative,
                    mover: mover.map(|process| process_name(system, process)),
                    start: product.graph(&start),
                    layers,
                });
            }
        }
    }
    let claim = FairClaim {
        invariant: vec![invariant.1],
        proofs,
        symmetric: Vec::new(),
    };
    Some((claim, all))
}

/// Whether a claim proves a property, by going through all states. The reason if not; nothing if that takes too long.
pub fn judge(
    system: &System,
    universe: &[State],
    liveness: &Liveness,
    claim: &FairClaim,
) -> Option<Result<(), String>> {
    let Some(members) = Members::new(system, &claim.invariant) else {
        return Some(Err("unknown cells".into()));
    };
    let inside: BTreeSet<State> = universe
        .iter()
        .filter(|state| members.contain(state))
        .cloned()
        .collect();
    for state in initial_states(system).ok()? {
        if !inside.contains(&state) {
            return Some(Err(format!("initial {state:?}")));
        }
    }
    for state in &inside {
        for process in processes(system) {
            for outcome in threadwise_model::eval::outcomes(system, state, process) {
                if let Outcome::Move(next) = outcome
                    && !inside.contains(&next)
                {
                    return Some(Err(format!("{state:?} to {next:?}")));
                }
            }
        }
    }
    let conjuncts = liveness.formula.conjuncts();
    let mut covered: BTreeSet<(usize, usize, Option<ProcessId>)> = BTreeSet::new();
    for proof in &claim.proofs {
        let (Some(formula), Some(terms)) = (
            conjuncts.get(proof.conjunct),
            liveness.fairness.get(proof.alternative),
        ) else {
            return Some(Err("unknown conjunct or alternative".into()));
        };
        let mover = match &proof.mover {
            None => None,
            Some(name) => {
                let mover = processes(system).find(|p| process_name(system, *p) == *name);
                let Some(mover) = mover else {
                    return Some(Err("unknown mover".into()));
                };
                Some(mover)
            }
        };
        covered.insert((proof.conjunct, proof.alternative, mover));
        let product = Product::new(system, liveness, formula, &inside)?;
        if let Err(error) = product.judge(proof, mover, terms) {
            return Some(Err(error));
        }
    }
    for conjunct in 0..conjuncts.len() {
        for alternative in 0..liveness.fairness.len() {
            let by = |mover| covered.contains(&(conjunct, alternative, mover));
            if !by(None) && !processes(system).all(|process| by(Some(process))) {
                return Some(Err(format!("no proof for {conjunct}, {alternative}")));
            }
        }
    }
    Some(Ok(()))
}
