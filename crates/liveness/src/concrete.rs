//! Whether an abstract run is one of the program, and what to expose if it is not.
//!
//! An abstract run says who is scheduled, what is shared, and the class of everything else. So whether the others can take part is a
//! question about each of them alone: follow all states that its hidden part may be in, along the run. If none is left at some step,
//! what tells those that are stuck there from those that could take it is exposed. If the hidden parts can go on for ever, but in no way that
//! is fair, what the fairness speaks of is exposed. Otherwise the parts make up a run of the program.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use index_vec::IndexVec;
use threadwise_engine::{Run, RunEnding, State};
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::layout::locate;
use threadwise_model::system::{CellId, Expr, ProcessId, System};
use threadwise_model::temporal::{Fairness, FairnessKind};
use threadwise_symbolic::{Bdd, Error, Halt, Hidden, Symbolic};

use crate::abstraction::Abstraction;
use crate::lasso::{Lasso, Seen};
use crate::product::{Extended, Graph, moves_without_change};

/// So many hidden states of one process along a run are followed; if there are more, everything of it is exposed.
const MOST_NODES: usize = 200_000;
/// So many cells, of all states together, a run may have.
const MOST_CELLS: usize = 50_000_000;

/// What became of an abstract run.
pub(crate) enum Examined {
    /// It is one of the program.
    Real(Run),
    /// It is none; this tells it from those that are.
    Tell(Vec<Fact>),
    /// The program has such a run, but it is too long to be written down.
    TooLong,
}

/// Something to expose.
pub(crate) enum Fact {
    /// Whether a process's cell has one of some values.
    Value(CellId, BTreeSet<i64>),
    /// Whatever a set depends on in the cells of some processes. The first set that tells something new will do.
    Whatever(Vec<ProcessId>, Vec<Bdd>),
}

/// The values of a process's own cells.
type Local = Vec<i64>;

/// An abstract run, to be made one of the program.
pub(crate) struct Examiner<'a, 's> {
    pub(crate) symbolic: &'a Symbolic<'s>,
    pub(crate) extended: &'a Extended,
    pub(crate) abstraction: &'a Abstraction,
    pub(crate) graph: &'a Graph,
    /// Whose abstract run it is.
    pub(crate) process: ProcessId,
    pub(crate) terms: &'a [Fairness<Expr>],
    pub(crate) lasso: &'a Lasso,
    /// Whether steps of others must be such that they can be taken whatever is hidden.
    pub(crate) must: bool,
}

impl Examiner<'_, '_> {
    /// Follows everybody along the run.
    pub(crate) fn examine(&self) -> Result<Examined, Halt> {
        let frames = Frames::new(self)?;
        let others: Vec<ProcessId> = self
            .graph
            .moves
            .indices()
            .filter(|other| *other != self.process)
            .collect();
        let mut facts = match self.must {
            true => self.may_be_unable(&others)?,
            false => Vec::new(),
        };
        if !facts.is_empty() {
            return Ok(Examined::Tell(facts));
        }
        // Round the loop first: what is wrong there is wrong on all ways to it.
        for other in &others {
            let start = self.locals(*other, self.lasso.loop_from)?;
            facts.extend(self.stuck(&frames, *other, self.lasso.loop_from, start)?);
        }
        if !facts.is_empty() {
            return Ok(Examined::Tell(facts));
        }
        for other in &others {
            let start = self.initial(&frames, *other)?;
            facts.extend(self.stuck(&frames, *other, 0, start)?);
        }
        if !facts.is_empty() {
            return Ok(Examined::Tell(facts));
        }
        let mut tracks = BTreeMap::new();
        for other in &others {
            match self.track(&frames, *other)? {
                Ok(track) => {
                    tracks.insert(*other, track);
                }
                Err(fact) => facts.push(fact),
            }
        }
        match facts.is_empty() {
            true => self.join(&frames, &tracks),
            false => Ok(Examined::Tell(facts)),
        }
    }

    /// For the first step that somebody else can perhaps not take, what tells whether it can: a MUST predicate (Figure 6 of the paper).
    fn may_be_unable(&self, others: &[ProcessId]) -> Result<Vec<Fact>, Halt> {
        let d = &self.symbolic.diagrams;
        for (position, (process, _)) in self.lasso.steps.iter().enumerate() {
            if !others.contains(process) {
                continue;
            }
            let seen = self.cells_of(self.seen(position))?;
            let here = self.only(*process, &d.and(&self.abstraction.own[*process], &seen)?)?;
            let able = self.able(*process, position)?;
            let unable = d.minus(&here, &able)?;
            if d.is_empty(&unable) {
                continue;
            }
            for cell in &self.abstraction.view.own[*process].cells {
                let values = self.values(&able, *cell)?;
                if values.is_disjoint(&self.values(&unable, *cell)?) {
                    return Ok(vec![Fact::Value(*cell, values)]);
                }
            }
            return Ok(vec![Fact::Whatever(vec![*process], vec![able])]);
        }
        Ok(Vec::new())
    }

    /// All local states that an assertion allows at a position.
    fn locals(&self, process: ProcessId, position: usize) -> Result<Option<BTreeSet<Local>>, Halt> {
        let d = &self.symbolic.diagrams;
        let here = d.and(
            &self.abstraction.own[process],
            &self.cells_of(self.seen(position))?,
        )?;
        let here = self.only(process, &here)?;
        let cells = &self.abstraction.view.own[process].cells;
        let mut parts: Vec<(Local, Bdd)> = vec![(Vec::new(), here)];
        for cell in cells {
            let mut longer = Vec::new();
            for (local, set) in parts {
                for (value, code) in self.symbolic.encoding.cells[*cell].codes() {
                    let code = self.symbolic.encoding.code(d, *cell, *code, false)?;
                    let set = d.and(&set, &code)?;
                    if !d.is_empty(&set) {
                        longer.push(([local.as_slice(), &[*value]].concat(), set));
                    }
                }
            }
            if longer.len() > MOST_NODES {
                return Ok(None);
            }
            parts = longer;
        }
        Ok(Some(parts.into_iter().map(|(local, _)| local).collect()))
    }

    /// All local states that a process can begin in; `None` if they are too many.
    fn initial(
        &self,
        frames: &Frames,
        process: ProcessId,
    ) -> Result<Option<BTreeSet<Local>>, Halt> {
        let system = &self.extended.system;
        let mut locals: Vec<Local> = vec![Vec::new()];
        for cell in &self.abstraction.view.own[process].cells {
            let (var, index, _) =
                locate(system, *cell).ok_or(Error::Internal("a cell of no variable"))?;
            let value = eval::initial_value(system, var, index).map_err(|_| Error::Overflow)?;
            let codes = self.symbolic.encoding.cells[*cell].codes();
            let values: Vec<i64> = match value {
                Some(value) => vec![value],
                None => codes.iter().map(|(value, _)| *value).collect(),
            };
            let values: Vec<i64> = values
                .into_iter()
                .filter(|value| frames.allows(self, 0, *cell, *value))
                .collect();
            if locals.len().saturating_mul(values.len()) > MOST_NODES {
                return Ok(None);
            }
            locals = locals
                .iter()
                .flat_map(|local| {
                    let longer = |value: &i64| [local.as_slice(), &[*value]].concat();
                    values.iter().map(longer).collect::<Vec<_>>()
                })
                .collect();
        }
        Ok(Some(locals.into_iter().collect()))
    }

    fn seen(&self, position: usize) -> &Seen {
        match position.checked_sub(1) {
            Some(step) => &self.lasso.steps[step].1,
            None => &self.lasso.initial,
        }
    }

    /// Follows a process from some local states for ever. If none is left at some step, what is to be exposed.
    fn stuck(
        &self,
        frames: &Frames,
        process: ProcessId,
        from: usize,
        start: Option<BTreeSet<Local>>,
    ) -> Result<Option<Fact>, Halt> {
        let everything = || {
            let own = self.abstraction.own[process].clone();
            Fact::Whatever(vec![process], vec![own])
        };
        let Some(start) = start else {
            return Ok(Some(everything()));
        };
        let mut here = start;
        let mut position = from;
        // The sets at the beginning of the loop; one that comes again comes for ever.
        let mut met: Vec<BTreeSet<Local>> = Vec::new();
        loop {
            if position == self.lasso.loop_from {
                if met.contains(&here) {
                    return Ok(None);
                }
                met.push(here.clone());
            }
            let mut after = BTreeSet::new();
            for local in &here {
                after.extend(frames.successors(self, process, position, local));
            }
            if after.is_empty() {
                break;
            }
            here = after;
            position = frames.next(self, position);
        }
        let able = self.able(process, position)?;
        for (place, cell) in self.abstraction.view.own[process].cells.iter().enumerate() {
            let values = self.values(&able, *cell)?;
            if here.iter().all(|local| !values.contains(&local[place])) {
                return Ok(Some(Fact::Value(*cell, values)));
            }
        }
        Ok(Some(Fact::Whatever(vec![process], vec![able])))
    }

    /// The local states that an assertion allows at a position, and in which the process can take the step from there.
    fn able(&self, process: ProcessId, position: usize) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let before = self.cells_of(self.seen(position))?;
        let after = self.cells_of(&self.lasso.steps[position].1)?;
        let still = self.symbolic.still(process)?;
        let mut can = d.and(&self.graph.promises.unidle(d, &after)?, &still)?;
        for transition in &self.symbolic.transitions.moves[process] {
            can = d.or(&can, &transition.pre(d, &after)?)?;
        }
        let here = d.and(&before, &self.abstraction.own[process])?;
        self.only(process, &d.and(&can, &here)?)
    }

    /// A set with everything forgotten but the cells of a process.
    fn only(&self, process: ProcessId, set: &Bdd) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let own = &self.abstraction.view.own[process];
        let others = d.support(set).into_iter();
        let others = others
            .filter(|var| !own.hidden.vars().contains(var) && !own.classes.vars().contains(var));
        Ok(Hidden::new(d, others)?.forget(d, set)?)
    }

    /// The values that a cell has in a set.
    fn values(&self, set: &Bdd, cell: CellId) -> Result<BTreeSet<i64>, Halt> {
        let d = &self.symbolic.diagrams;
        let mut values = BTreeSet::new();
        for (value, code) in self.symbolic.encoding.cells[cell].codes() {
            let code = self.symbolic.encoding.code(d, cell, *code, false)?;
            if !d.is_empty(&d.and(set, &code)?) {
                values.insert(*value);
            }
        }
        Ok(values)
    }

    /// What everybody sees of a state of the program.
    fn cells_of(&self, seen: &Seen) -> Result<Bdd, Halt> {
        let d = &self.symbolic.diagrams;
        let bits = self.symbolic.encoding.vars_of(&self.extended.bits, false);
        let own = &self.abstraction.view.own[self.process].hidden;
        let mut set = d.all();
        for var in self.graph.seen.iter().rev() {
            if let Some(value) = seen.values[*var as usize]
                && !bits.contains(var)
                && !own.vars().contains(var)
            {
                set = d.and(&d.literal(*var, value)?, &set)?;
            }
        }
        Ok(set)
    }

    /// A way of a process along the run, for ever and fair as far as it alone is concerned.
    fn track(&self, frames: &Frames, process: ProcessId) -> Result<Result<Track, Fact>, Halt> {
        let everything = || {
            let own = self.abstraction.own[process].clone();
            Fact::Whatever(vec![process], vec![own])
        };
        let Some(start) = self.initial(frames, process)? else {
            return Ok(Err(everything()));
        };
        let Some(ways) = Ways::new(self, frames, process, start) else {
            return Ok(Err(everything()));
        };
        let terms = self.terms_of(frames, process, &ways)?;
        let round: Vec<usize> = (0..ways.nodes.len())
            .filter(|node| ways.nodes[*node].0 >= self.lasso.loop_from)
            .collect();
        match ways.fair_component(&round, &terms) {
            Ok(component) => {
                let track = ways.track(self.lasso.loop_from, &component, &terms);
                Ok(track.ok_or_else(everything))
            }
            Err(None) => Ok(Err(everything())),
            Err(Some(term)) => {
                let whatever = self.term(term, &[process])?;
                Ok(Err(whatever))
            }
        }
    }

    /// What is to be exposed so that a term can be told.
    fn term(&self, term: usize, processes: &[ProcessId]) -> Result<Fact, Halt> {
        let d = &self.symbolic.diagrams;
        let states = |e: &Expr| self.symbolic.states(&self.extended.predicate(e));
        let mut processes = processes.to_vec();
        let sets = match &self.terms[term].kind {
            FairnessKind::Scheduled(_) => Vec::new(),
            FairnessKind::Weak(e) => vec![states(e)?],
            FairnessKind::Strong(p, q) => {
                let q = states(q)?;
                let p = states(p)?;
                // If the abstract run has the answer the program does not have, it is the answer that must be told; otherwise the question.
                let answered = (self.lasso.loop_from..self.lasso.steps.len()).any(|position| {
                    let both = d.and(&self.seen(position).set, &q);
                    both.is_ok_and(|both| !d.is_empty(&both))
                });
                if answered { vec![q, p] } else { vec![p, q] }
            }
        };
        if processes.is_empty() {
            let whose = self.abstraction.whose();
            let vars = sets.iter().flat_map(|set| d.support(set));
            let owners: BTreeSet<ProcessId> = vars.filter_map(|var| whose[var as usize]).collect();
            processes.extend(owners.into_iter().filter(|other| *other != self.process));
        }
        Ok(Fact::Whatever(processes, sets))
    }

    /// The terms that speak of one process alone, on its ways.
    fn terms_of(
        &self,
        frames: &Frames,
        process: ProcessId,
        ways: &Ways,
    ) -> Result<Vec<Term>, Halt> {
        let whose = self.abstraction.whose();
        let d = &self.symbolic.diagrams;
        let mut terms = Vec::new();
        for (number, term) in self.terms.iter().enumerate() {
            let predicates: Vec<Expr> = match &term.kind {
                FairnessKind::Scheduled(_) => continue,
                FairnessKind::Weak(e) => vec![Expr::Const(1), self.extended.predicate(e)],
                FairnessKind::Strong(p, q) => {
                    vec![self.extended.predicate(p), self.extended.predicate(q)]
                }
            };
            let mut own = true;
            let mut speaks = false;
            for predicate in &predicates {
                for var in d.support(&self.symbolic.states(predicate)?) {
                    own &= whose[var as usize].is_none_or(|owner| owner == process);
                    speaks |= whose[var as usize] == Some(process);
                }
            }
            if !own || !speaks {
                continue;
            }
            let at = |predicate: &Expr| {
                let holds = |(position, local): &(usize, Local)| {
                    let state = frames.state(self, process, *position, local);
                    holds(&self.extended.system, &state, predicate)
                };
                ways.nodes.iter().map(holds).collect::<Vec<bool>>()
            };
            terms.push(Term {
                number,
                p: at(&predicates[0]),
                q: at(&predicates[1]),
            });
        }
        Ok(terms)
    }

    /// The run of the program that ways of all processes make up.
    fn join(&self, frames: &Frames, tracks: &BTreeMap<ProcessId, Track>) -> Result<Examined, Halt> {
        let round = self.lasso.steps.len() - self.lasso.loop_from;
        let stem = tracks.values().map(|track| track.stem.len()).max();
        let stem = stem
            .unwrap_or(self.lasso.loop_from)
            .max(self.lasso.loop_from);
        let mut period = round;
        for track in tracks.values() {
            period = match lcm(period, track.round.len()) {
                Some(period) => period,
                None => return Ok(Examined::TooLong),
            };
            if period.saturating_mul(self.extended.program_cells) > MOST_CELLS {
                return Ok(Examined::TooLong);
            }
        }
        let length = stem + period;
        if length.saturating_mul(self.extended.program_cells) > MOST_CELLS {
            return Ok(Examined::TooLong);
        }
        let position = |time: usize| match time < self.lasso.steps.len() {
            true => time,
            false => self.lasso.loop_from + (time - self.lasso.loop_from) % round,
        };
        let mut states: Vec<State> = Vec::with_capacity(length + 1);
        for time in 0..=length {
            let mut state = frames.base[position(time)].clone();
            for (process, track) in tracks {
                let local = match time.checked_sub(track.stem.len()) {
                    None => &track.stem[time],
                    Some(time) => &track.round[time % track.round.len()],
                };
                for (cell, value) in self.abstraction.view.own[*process].cells.iter().zip(local) {
                    state[cell.index()] = *value;
                }
            }
            states.push(state);
        }
        // Terms about several processes.
        for (number, term) in self.terms.iter().enumerate() {
            let round = &states[stem..length];
            let met = |predicate: &Expr| {
                let predicate = self.extended.predicate(predicate);
                let mut states = round.iter();
                states.any(|state| holds(&self.extended.system, state, &predicate))
            };
            let fair = match &term.kind {
                FairnessKind::Scheduled(_) => true,
                FairnessKind::Weak(e) => met(e),
                FairnessKind::Strong(p, q) => met(q) || !met(p),
            };
            if !fair {
                return Ok(Examined::Tell(vec![self.term(number, &[])?]));
            }
        }
        let program = |state: &State| state[..self.extended.program_cells].to_vec();
        let mut steps = Vec::with_capacity(length);
        let mut moves = BTreeSet::new();
        for time in 0..length {
            let (process, _) = &self.lasso.steps[position(time)];
            let (before, after) = (program(&states[time]), program(&states[time + 1]));
            if before == after {
                let last = self.extended.last;
                let taken = last.is_some_and(|last| states[time + 1][last.index()] != 0);
                let system = &self.extended.system;
                if taken || moves_without_change(system, &states[time], *process) {
                    moves.insert(time);
                }
            }
            steps.push((*process, after));
        }
        Ok(Examined::Real(Run {
            initial: program(&states[0]),
            steps,
            ending: RunEnding::Loop { from: stem, moves },
        }))
    }
}

fn holds(system: &System, state: &State, predicate: &Expr) -> bool {
    // A computation that leaves 64 bits has no value; the diagrams would have refused it.
    Context::of_state(system, state)
        .holds(predicate)
        .unwrap_or(false)
}

fn lcm(a: usize, b: usize) -> Option<usize> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

/// The abstract run, position by position.
struct Frames {
    /// A state that looks as it is seen; what is hidden has some value of its class.
    base: Vec<State>,
}

impl Frames {
    fn new(examiner: &Examiner) -> Result<Self, Halt> {
        let encoding = &examiner.symbolic.encoding;
        let view = &examiner.abstraction.view;
        let mut exact: IndexVec<CellId, bool> = encoding.cells.iter().map(|_| false).collect();
        for cell in view.shared.iter().chain(&view.own[examiner.process].cells) {
            exact[*cell] = true;
        }
        let mut base = Vec::new();
        for position in 0..=examiner.lasso.steps.len() {
            let values = &examiner.seen(position).values;
            let mut state = Vec::with_capacity(encoding.cells.len());
            for (cell, code) in encoding.cells.iter_enumerated() {
                let value = match exact[cell] {
                    true => code.value(values),
                    false => {
                        let class = code.class_among(values);
                        let mut codes = code.codes().iter();
                        let some = codes.find(|(_, number)| code.class(*number) == class);
                        some.map(|(value, _)| *value)
                    }
                };
                state.push(value.ok_or(Error::Internal("a state that stands for none"))?);
            }
            base.push(state);
        }
        Ok(Frames { base })
    }

    fn next(&self, examiner: &Examiner, position: usize) -> usize {
        match position + 1 == examiner.lasso.steps.len() {
            true => examiner.lasso.loop_from,
            false => position + 1,
        }
    }

    /// Whether a value of a hidden cell looks as it is seen.
    fn allows(&self, examiner: &Examiner, position: usize, cell: CellId, value: i64) -> bool {
        let code = &examiner.symbolic.encoding.cells[cell];
        let class = code.class_among(&examiner.seen(position).values);
        code.code(value)
            .is_some_and(|number| code.class(number) == class)
    }

    /// The state at a position with the local state of a process.
    fn state(
        &self,
        examiner: &Examiner,
        process: ProcessId,
        position: usize,
        local: &Local,
    ) -> State {
        let mut state = self.base[position].clone();
        for (cell, value) in examiner.abstraction.view.own[process]
            .cells
            .iter()
            .zip(local)
        {
            state[cell.index()] = *value;
        }
        state
    }

    /// The local states that a process can be in after a step of the run.
    fn successors(
        &self,
        examiner: &Examiner,
        process: ProcessId,
        position: usize,
        local: &Local,
    ) -> Vec<Local> {
        if examiner.lasso.steps[position].0 != process {
            return vec![local.clone()];
        }
        let cells = &examiner.abstraction.view.own[process].cells;
        let state = self.state(examiner, process, position, local);
        let outcomes = eval::outcomes(&examiner.extended.system, &state, process);
        let mut idle = outcomes.is_empty();
        let mut after = Vec::new();
        let mut consider = |next: &State| {
            let shared = &examiner.abstraction.view.shared;
            let fits = shared.iter().all(|cell| {
                examiner.extended.bits.contains(cell)
                    || next[cell.index()] == self.base[position + 1][cell.index()]
            }) && cells
                .iter()
                .all(|cell| self.allows(examiner, position + 1, *cell, next[cell.index()]));
            if fits {
                after.push(cells.iter().map(|cell| next[cell.index()]).collect());
            }
        };
        for outcome in &outcomes {
            match outcome {
                Outcome::Move(next) => consider(next),
                Outcome::Rest => idle = true,
                _ => {}
            }
        }
        if idle {
            let mut next = state;
            if let Some(last) = examiner.extended.last {
                next[last.index()] = 0;
            }
            consider(&next);
        }
        after.sort_unstable();
        after.dedup();
        after
    }
}

/// A term on the nodes of the ways of a process.
struct Term {
    number: usize,
    p: Vec<bool>,
    q: Vec<bool>,
}

/// All ways of a process along an abstract run.
struct Ways {
    nodes: Vec<(usize, Local)>,
    after: Vec<Vec<usize>>,
    start: Vec<usize>,
}

/// A way of a process for ever.
struct Track {
    /// The local states up to where it goes round, which is at the beginning of the loop.
    stem: Vec<Local>,
    /// Then these, for ever again.
    round: Vec<Local>,
}

impl Ways {
    fn new(
        examiner: &Examiner,
        frames: &Frames,
        process: ProcessId,
        start: BTreeSet<Local>,
    ) -> Option<Self> {
        let mut ways = Ways {
            nodes: start.into_iter().map(|local| (0, local)).collect(),
            after: Vec::new(),
            start: Vec::new(),
        };
        ways.start = (0..ways.nodes.len()).collect();
        let mut known: HashMap<(usize, Local), usize> =
            ways.nodes.iter().cloned().zip(0..).collect();
        let mut at = 0;
        while at < ways.nodes.len() {
            if ways.nodes.len() > MOST_NODES {
                return None;
            }
            let (position, local) = ways.nodes[at].clone();
            let next = frames.next(examiner, position);
            let mut after = Vec::new();
            for local in frames.successors(examiner, process, position, &local) {
                let node = (next, local);
                let number = *known.entry(node.clone()).or_insert_with(|| {
                    ways.nodes.push(node);
                    ways.nodes.len() - 1
                });
                after.push(number);
            }
            ways.after.push(after);
            at += 1;
        }
        Some(ways)
    }

    /// A strongly connected part in which all terms are met; otherwise a term that is in the way, if it is a term.
    fn fair_component(&self, among: &[usize], terms: &[Term]) -> Result<Vec<usize>, Option<usize>> {
        let mut blame = None;
        let mut open: Vec<Vec<usize>> = vec![among.to_vec()];
        while let Some(nodes) = open.pop() {
            for component in components(&nodes, &self.after) {
                let mut unmet = None;
                for term in terms {
                    let asked = component.iter().any(|node| term.p[*node]);
                    let met = component.iter().any(|node| term.q[*node]);
                    if asked && !met {
                        unmet = Some(term);
                        break;
                    }
                }
                match unmet {
                    None => return Ok(component),
                    Some(term) => {
                        blame = blame.or(Some(term.number));
                        let rest = component.into_iter().filter(|node| !term.p[*node]);
                        let rest: Vec<usize> = rest.collect();
                        if !rest.is_empty() {
                            open.push(rest);
                        }
                    }
                }
            }
        }
        Err(blame)
    }

    /// A way into a part and round it through what its terms ask for.
    fn track(&self, loop_from: usize, component: &[usize], terms: &[Term]) -> Option<Track> {
        let inside: BTreeSet<usize> = component.iter().copied().collect();
        let mut homes = component.iter();
        let home = *homes.find(|node| self.nodes[**node].0 == loop_from)?;
        let everywhere = |_: usize| true;
        let mut stem = self.way(&self.start, &everywhere, &|node| node == home)?;
        stem.pop();
        let within = |node: usize| inside.contains(&node);
        let mut round = vec![home];
        for term in terms {
            let asked = component.iter().any(|node| term.p[*node]);
            if asked && !round.iter().any(|node| term.q[*node]) {
                let way = self.way(&[*round.last()?], &within, &|node| term.q[node])?;
                round.extend(&way[1..]);
            }
        }
        // On, and home.
        let last = *round.last()?;
        let mut next = self.after[last]
            .iter()
            .copied()
            .filter(|node| within(*node));
        let next = next.next()?;
        let way = self.way(&[next], &within, &|node| node == home)?;
        round.extend(way);
        round.pop();
        let local = |node: usize| self.nodes[node].1.clone();
        Some(Track {
            stem: stem.into_iter().map(local).collect(),
            round: round.into_iter().map(local).collect(),
        })
    }

    /// A shortest way to a node, both ends included.
    fn way(
        &self,
        from: &[usize],
        within: &dyn Fn(usize) -> bool,
        target: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut came: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        let mut queue: VecDeque<usize> = VecDeque::new();
        for node in from {
            came.insert(*node, None);
            queue.push_back(*node);
        }
        while let Some(node) = queue.pop_front() {
            if target(node) {
                let mut way = vec![node];
                let mut at = node;
                while let Some(Some(before)) = came.get(&at) {
                    way.push(*before);
                    at = *before;
                }
                way.reverse();
                return Some(way);
            }
            for next in &self.after[node] {
                if within(*next) && !came.contains_key(next) {
                    came.insert(*next, Some(node));
                    queue.push_back(*next);
                }
            }
        }
        None
    }
}

/// The strongly connected parts of a graph, restricted to some nodes, that have a step within themselves (Tarjan).
fn components(nodes: &[usize], after: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let among: BTreeSet<usize> = nodes.iter().copied().collect();
    let mut index: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut stack: Vec<usize> = Vec::new();
    let mut stacked: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for root in nodes {
        if index.contains_key(root) {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(*root, 0)];
        index.insert(*root, (index.len(), index.len()));
        stack.push(*root);
        stacked.insert(*root);
        while let Some((node, child)) = path.last_mut() {
            let node = *node;
            let next = after[node].get(*child).copied();
            *child += 1;
            match next {
                Some(next) if !among.contains(&next) => {}
                Some(next) => match index.get(&next) {
                    None => {
                        index.insert(next, (index.len(), index.len()));
                        stack.push(next);
                        stacked.insert(next);
                        path.push((next, 0));
                    }
                    Some((number, _)) if stacked.contains(&next) => {
                        let number = *number;
                        if let Some((_, low)) = index.get_mut(&node) {
                            *low = (*low).min(number);
                        }
                    }
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    let (number, low) = index[&node];
                    if let Some((above, _)) = path.last()
                        && let Some((_, least)) = index.get_mut(above)
                    {
                        *least = (*least).min(low);
                    }
                    if number == low {
                        let mut component = Vec::new();
                        while let Some(member) = stack.pop() {
                            stacked.remove(&member);
                            component.push(member);
                            if member == node {
                                break;
                            }
                        }
                        let inside: BTreeSet<usize> = component.iter().copied().collect();
                        let turns = component
                            .iter()
                            .any(|member| after[*member].iter().any(|next| inside.contains(next)));
                        if turns {
                            component.sort_unstable();
                            found.push(component);
                        }
                    }
                }
            }
        }
    }
    found
}
