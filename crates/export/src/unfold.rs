//! A system unfolded: every process with moves of its own, over cells instead of arrays.
//!
//! What the formats for symbolic model checkers have in common. A move is a guard and what it writes; cells that it
//! does not write keep their values. Choices that only decide what one cell gets stay
//! open ([`Written::Any`]), all others are gone through. Rests are no moves, and neither are steps that
//! change nothing.
//!
//! A failing check is no move either: it ends the run. So every state that a run reaches before its first failure is
//! reached by moves, and nothing else is; the states in which a check fails are those where
//! [`Process::fails`] holds.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::certificate::cell_names;
use threadwise_lang::program::{ArithOp, FoldKind, TemplateId};
use threadwise_model::eval::initial_value;
use threadwise_model::exclusion::AtMostOne;
use threadwise_model::layout::{array_owner, process_name};
use threadwise_model::system::{
    CellDomain, CellId, Clause, Expr, Place, ProcessId, Scope, Step, System, SystemPropertyKind,
    Update, VarId,
};

use crate::terms::{Extent, Refused, Term, Terms};

/// Why a system cannot be written for a symbolic model checker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfoldError {
    /// A variable of type `int`.
    #[error("`{0}` is an unbounded `int`, and this format has none: give it a range")]
    Unbounded(String),
    /// A variable whose type has no values.
    #[error("the type of `{0}` has no values, so there is no initial state")]
    NoValues(String),
    /// An initial value that is none of the variable's values.
    #[error("the initial value of `{0}` cannot be written down")]
    Initial(String),
    /// A variable whose values do not fit, or a computation that may not.
    #[error("a value in {0} may leave 32 bits, which is as far as this export counts")]
    Wide(String),
    /// A dynamic template.
    #[error(
        "processes of `{0}` are started while the program runs, which this export does not express"
    )]
    Dynamic(String),
    /// A condition on initial states.
    #[error("`initially` is a condition on initial states, which this export does not express")]
    Initially,
    /// Too many alternatives.
    #[error("{0} has too many alternatives to write them down")]
    TooManyChoices(String),
    /// A property that is not one of safety.
    #[error("`{0}` is a liveness property, which this export does not express")]
    Liveness(String),
    /// The text would be too long.
    #[error("{0} is too large to write down")]
    TooLong(String),
    /// Not one property.
    #[error("this format takes one property, and here are {}: choose with `--property NAME`", listed(.0))]
    NotOne(Vec<String>),
}

/// Names that a format can write, in place of others: letters, digits and `_`, and each once.
pub(crate) struct Identifiers {
    used: BTreeSet<String>,
}

impl Identifiers {
    /// None of these is given out.
    pub(crate) fn without(reserved: &[&str]) -> Self {
        Identifiers {
            used: reserved.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// The identifier for a name: `P_1_x` for `P[1].x`.
    pub(crate) fn identifier(&mut self, name: &str) -> String {
        let plain = name.replace(']', "");
        let mut identifier: String = plain
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        while !self.used.insert(identifier.clone()) {
            identifier.push('_');
        }
        identifier
    }
}

/// What was written for whom, in one line.
pub(crate) fn title(system: &System, properties: &[usize]) -> String {
    let params: Vec<String> = system
        .params
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let names: Vec<&str> = properties
        .iter()
        .filter_map(|&at| Some(system.properties.get(at)?.name.as_str()))
        .collect();
    let instance = match params.is_empty() {
        true => String::new(),
        false => format!(" for {}", params.join(", ")),
    };
    format!(
        "Written by threadwise{instance}. Properties: {}.",
        names.join(", ")
    )
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// The most combinations of choices of one step.
const MOST_ALTERNATIVES: i128 = 1024;

/// A cell of the state that has more than one value.
pub(crate) struct Cell {
    /// As the reader of the model would write it: `P[1].x`, `P[1]` for a program counter.
    pub(crate) name: String,
    pub(crate) extent: Extent,
    /// The value it begins with; any if none is given.
    pub(crate) initial: Option<i64>,
    /// What the values stand for, if they have names.
    pub(crate) legend: Vec<String>,
}

/// What a cell gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// This value.
    Value(Term),
    /// Any of the integers from the first to the second.
    Any(i64, i64),
}

/// A step with given choices.
pub(crate) struct Move {
    pub(crate) guard: Term,
    /// By position in [`Unfolded::cells`].
    pub(crate) writes: BTreeMap<usize, Written>,
}

/// What one process can do.
pub(crate) struct Process {
    /// As people write it: `P[3]`.
    pub(crate) name: String,
    /// Its moves from each location.
    pub(crate) moves: Vec<Vec<Move>>,
    /// A check fails in one of its steps.
    pub(crate) fails: Term,
    /// It can do something other than rest.
    pub(crate) acts: Term,
    /// It has ended.
    pub(crate) ended: Term,
}

/// A system, unfolded.
pub(crate) struct Unfolded<'a> {
    pub(crate) system: &'a System,
    pub(crate) terms: Terms,
    /// The cells that have more than one value, in an order that is good for decision diagrams.
    pub(crate) cells: Vec<Cell>,
    pub(crate) processes: Vec<Process>,
    /// For each cell of the system its term.
    values: Vec<Term>,
    /// For each cell of the system its position in `cells`.
    positions: Vec<Option<usize>>,
    /// What is being unfolded, for messages.
    what: String,
}

/// Whose expression it is, and what is fixed in it.
#[derive(Default)]
struct Scene {
    index: i64,
    process: i64,
    choices: Vec<i64>,
    bounds: Vec<(u32, i64)>,
}

impl<'a> Unfolded<'a> {
    pub(crate) fn new(system: &'a System) -> Result<Self, UnfoldError> {
        if let Some(template) = system.templates.iter().find(|template| template.dynamic) {
            return Err(UnfoldError::Dynamic(template.name.clone()));
        }
        if !system.initially.is_empty() {
            return Err(UnfoldError::Initially);
        }
        let mut unfolded = Unfolded {
            system,
            terms: Terms::default(),
            cells: Vec::new(),
            processes: Vec::new(),
            values: Vec::new(),
            positions: vec![None; system.cells],
            what: String::new(),
        };
        unfolded.unfold_cells()?;
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let process = unfolded.process(process)?;
            unfolded.processes.push(process);
        }
        Ok(unfolded)
    }

    /// That a property is not violated in a state.
    pub(crate) fn holds(&mut self, property: usize) -> Result<Term, UnfoldError> {
        let system = self.system;
        let Some(property) = system.properties.get(property) else {
            return Err(UnfoldError::NotOne(Vec::new()));
        };
        self.what = format!("property `{}`", property.name);
        let built = match &property.kind {
            SystemPropertyKind::Liveness(_) => {
                return Err(UnfoldError::Liveness(property.name.clone()));
            }
            SystemPropertyKind::Invariant(invariant) => {
                self.truth(invariant, &mut Scene::default())
            }
            SystemPropertyKind::Checks => {
                let fails = self.processes.iter().map(|process| process.fails);
                self.terms.or(fails).and_then(|fails| self.terms.not(fails))
            }
            SystemPropertyKind::DeadlockFree => {
                let acts = self.processes.iter().map(|process| process.acts);
                let ended = self.processes.iter().map(|process| process.ended);
                let all_ended = self.terms.and(ended);
                self.terms
                    .or(acts)
                    .and_then(|moving| self.terms.or([moving, all_ended?]))
            }
        };
        built.map_err(|refused| self.error(refused))
    }

    fn error(&self, refused: Refused) -> UnfoldError {
        match refused {
            Refused::Wide => UnfoldError::Wide(self.what.clone()),
            Refused::TooMany => UnfoldError::TooLong(self.what.clone()),
        }
    }

    fn unfold_cells(&mut self) -> Result<(), UnfoldError> {
        let system = self.system;
        let names = cell_names(system);
        let mut values = vec![None; system.cells];
        for (id, cell) in together(system) {
            let var = &system.vars[id];
            let (lo, hi) = system
                .values(var.domain)
                .ok_or_else(|| UnfoldError::Unbounded(var.name.clone()))?;
            if lo > hi {
                return Err(UnfoldError::NoValues(var.name.clone()));
            }
            self.what = format!("`{}`", var.name);
            // A copy's cells lie together, and copies lie one stride apart.
            let copy = match var.scope {
                Scope::Shared => 0,
                Scope::Local(_) => (cell - var.first.index()).raw() / var.stride,
            };
            let initial = initial_value(system, id, copy)
                .map_err(|_| UnfoldError::Initial(var.name.clone()))?;
            if initial.is_some_and(|value| !(lo..=hi).contains(&value)) {
                return Err(UnfoldError::Initial(var.name.clone()));
            }
            let extent = Extent {
                truth: var.domain == CellDomain::Bool,
                lo,
                hi,
            };
            let position = self.cells.len();
            let term = self.terms.cell(position, extent);
            values[cell.index()] = Some(term.map_err(|refused| self.error(refused))?);
            if lo < hi {
                self.positions[cell.index()] = Some(position);
                let legend = match var.domain {
                    CellDomain::Location(template) => system.templates[template]
                        .locations
                        .iter()
                        .cloned()
                        .collect(),
                    CellDomain::Enum(number, _) => system
                        .enums
                        .get(number as usize)
                        .cloned()
                        .unwrap_or_default(),
                    _ => Vec::new(),
                };
                self.cells.push(Cell {
                    name: names[cell.index()].clone(),
                    extent,
                    initial,
                    legend,
                });
            }
        }
        let zero = self
            .terms
            .number(0)
            .map_err(|refused| self.error(refused))?;
        self.values = values
            .into_iter()
            .map(|term| term.unwrap_or(zero))
            .collect();
        Ok(())
    }

    fn process(&mut self, id: ProcessId) -> Result<Process, UnfoldError> {
        let system = self.system;
        let template = &system.templates[system.template_of(id)];
        let mut scene = Scene {
            index: i64::from(system.index_of(id)),
            process: i64::from(id.raw()),
            ..Scene::default()
        };
        let pc = system.cell(template.pc, system.index_of(id), 0).index();
        let mut process_moves = Vec::new();
        let (mut fails, mut acts) = (Vec::new(), Vec::new());
        for (location, steps) in template.steps.iter_enumerated() {
            self.what = format!("`{}` at `{}`", template.name, template.locations[location]);
            let mut moves = Vec::new();
            for step in steps {
                let open = open_choices(step);
                let mut ranges = step.choices.clone();
                for &choice in &open {
                    ranges[choice] = (0, 0);
                }
                let sizes = ranges
                    .iter()
                    .map(|&(lo, hi)| (i128::from(hi) - i128::from(lo) + 1).max(0));
                let combinations = sizes.fold(1i128, |all, size| all.saturating_mul(size));
                // An empty range leaves nothing to choose, open or not.
                if combinations == 0 || step.choices.iter().any(|(lo, hi)| lo > hi) {
                    continue;
                }
                if combinations > MOST_ALTERNATIVES {
                    return Err(UnfoldError::TooManyChoices(self.what.clone()));
                }
                scene.choices = ranges.iter().map(|&(lo, _)| lo).collect();
                for _ in 0..combinations {
                    let taken = self
                        .step(step, pc, &open, &mut scene)
                        .map_err(|refused| self.error(refused))?;
                    fails.push(taken.fails);
                    acts.push(taken.fails);
                    if !step.rest {
                        acts.push(taken.passes);
                    }
                    moves.extend(taken.moves);
                    for (value, &(lo, hi)) in scene.choices.iter_mut().zip(&ranges).rev() {
                        if *value < hi {
                            *value += 1;
                            break;
                        }
                        *value = lo;
                    }
                }
            }
            process_moves.push(moves);
        }
        let done = i64::from(template.done().raw());
        let terms = &mut self.terms;
        let ended = terms
            .number(done)
            .and_then(|done| terms.equal(self.values[pc], done));
        let (fails, acts) = (terms.or(fails), terms.or(acts));
        let finish = || Ok((fails?, acts?, ended?));
        let (fails, acts, ended) = finish().map_err(|refused| self.error(refused))?;
        Ok(Process {
            name: process_name(system, id),
            moves: process_moves,
            fails,
            acts,
            ended,
        })
    }

    fn step(
        &mut self,
        step: &Step,
        pc: usize,
        open: &BTreeSet<usize>,
        scene: &mut Scene,
    ) -> Result<Taken, Refused> {
        let from = self.terms.number(i64::from(step.from.raw()))?;
        let mut passes = vec![self.terms.equal(self.values[pc], from)?];
        let mut fails = Vec::new();
        for clause in &step.clauses {
            // What comes after is not evaluated, and may not be computable.
            if passes.last().and_then(|&last| self.terms.constant(last)) == Some(0) {
                break;
            }
            match clause {
                Clause::Guard(guard) => passes.push(self.truth(guard, scene)?),
                Clause::Check(check) => {
                    let holds = self.truth(&check.holds, scene)?;
                    let broken = self.terms.not(holds)?;
                    let before = passes.iter().copied();
                    fails.push(self.terms.and(before.chain([broken]))?);
                    passes.push(holds);
                }
            }
        }
        let guard = self.terms.and(passes)?;
        let mut taken = Taken {
            passes: guard,
            fails: self.terms.or(fails)?,
            moves: None,
        };
        if step.rest || self.terms.constant(guard) == Some(0) {
            return Ok(taken);
        }
        let mut writes = BTreeMap::new();
        for update in &step.updates {
            self.write(step, update, open, scene, &mut writes)?;
        }
        if let Some(position) = self.positions[pc] {
            let to = self.terms.number(i64::from(step.to.raw()))?;
            writes.insert(position, Written::Value(to));
        }
        // What a cell holds already need not be written.
        let at = (self.positions[pc], i64::from(step.from.raw()));
        writes.retain(|&position, written| match *written {
            Written::Any(..) => true,
            Written::Value(value) if at.0 == Some(position) => {
                self.terms.constant(value) != Some(at.1)
            }
            Written::Value(value) => *self.terms.node(value) != crate::terms::Node::Cell(position),
        });
        if !writes.is_empty() {
            taken.moves = Some(Move { guard, writes });
        }
        Ok(taken)
    }

    /// Adds what an update writes. Where the cell depends on the state, each possible one gets the
    /// value or what it would have otherwise.
    fn write(
        &mut self,
        step: &Step,
        update: &Update,
        open: &BTreeSet<usize>,
        scene: &mut Scene,
        writes: &mut BTreeMap<usize, Written>,
    ) -> Result<(), Refused> {
        let targets = self.targets(&update.cell, scene)?;
        if let Expr::Choice(choice) = update.value
            && open.contains(&(choice as usize))
            && let [(_, cell)] = targets[..]
        {
            let (lo, hi) = step.choices[choice as usize];
            if let Some(position) = self.positions[cell] {
                writes.insert(position, Written::Any(lo, hi));
            }
            return Ok(());
        }
        let value = self.expr(&update.value, scene)?;
        for (here, cell) in targets {
            let Some(position) = self.positions[cell] else {
                continue;
            };
            let before = match writes.get(&position) {
                Some(Written::Value(value)) => *value,
                // `open_choices` leaves no choice open that another write may replace in some states only.
                Some(Written::Any(..)) | None => self.values[cell],
            };
            let value = match self.cells[position].extent.truth {
                true => self.terms.as_truth(value)?,
                false => self.terms.as_number(value)?,
            };
            let after = self.terms.ite(here, value, before)?;
            writes.insert(position, Written::Value(after));
        }
        Ok(())
    }

    /// The cells of the system that a place can be, each with the states in which it is that one.
    fn targets(&mut self, place: &Place, scene: &mut Scene) -> Result<Vec<(Term, usize)>, Refused> {
        let system = self.system;
        let var = &system.vars[place.var];
        let copies = match var.scope {
            Scope::Shared => 1,
            Scope::Local(template) => system.templates[template].count,
        };
        let copies = self.positions_of(place.process.as_ref(), copies, scene)?;
        let offsets = self.positions_of(place.offset.as_ref(), var.len, scene)?;
        let mut targets = Vec::with_capacity(copies.len() * offsets.len());
        for &(copy, in_copy) in &copies {
            for &(offset, at_offset) in &offsets {
                let here = self.terms.and([in_copy, at_offset])?;
                targets.push((here, system.cell(place.var, copy, offset).index()));
            }
        }
        Ok(targets)
    }

    /// The values below a limit that an index can have, each with the states in which it has it.
    fn positions_of(
        &mut self,
        index: Option<&Expr>,
        limit: u32,
        scene: &mut Scene,
    ) -> Result<Vec<(u32, Term)>, Refused> {
        let index = match index {
            None => self.terms.number(0)?,
            Some(index) => {
                let index = self.expr(index, scene)?;
                self.terms.as_number(index)?
            }
        };
        let extent = self.terms.extent(index);
        let mut positions = Vec::new();
        for position in 0..limit {
            if (extent.lo..=extent.hi).contains(&i64::from(position)) {
                let value = self.terms.number(i64::from(position))?;
                positions.push((position, self.terms.equal(index, value)?));
            }
        }
        Ok(positions)
    }

    fn truth(&mut self, expr: &Expr, scene: &mut Scene) -> Result<Term, Refused> {
        let term = self.expr(expr, scene)?;
        self.terms.as_truth(term)
    }

    fn expr(&mut self, expr: &Expr, scene: &mut Scene) -> Result<Term, Refused> {
        if let Some(found) = AtMostOne::of(expr) {
            return self.at_most_one(&found, scene);
        }
        match expr {
            Expr::Const(value) => self.terms.number(*value),
            Expr::Own => self.terms.number(scene.index),
            Expr::OwnProcess => self.terms.number(scene.process),
            Expr::Bound(bound) => {
                let bounds = scene.bounds.iter().rev();
                let value = bounds.clone().find(|(name, _)| name == bound);
                self.terms.number(value.map_or(0, |&(_, value)| value))
            }
            Expr::Choice(choice) => {
                let value = scene.choices.get(*choice as usize);
                self.terms.number(value.copied().unwrap_or(0))
            }
            Expr::Load(place) => self.load(place, scene),
            Expr::Not(inner) => {
                let inner = self.truth(inner, scene)?;
                self.terms.not(inner)
            }
            Expr::Neg(inner) => {
                let (zero, inner) = (self.terms.number(0)?, self.expr(inner, scene)?);
                self.terms.arith(ArithOp::Sub, zero, inner)
            }
            Expr::And(parts) | Expr::Or(parts) => {
                let and = matches!(expr, Expr::And(_));
                let mut terms = Vec::with_capacity(parts.len());
                for part in parts {
                    let part = self.truth(part, scene)?;
                    terms.push(part);
                    // What comes after is not evaluated, and may not be computable.
                    if self.terms.constant(part) == Some(i64::from(!and)) {
                        break;
                    }
                }
                match and {
                    true => self.terms.and(terms),
                    false => self.terms.or(terms),
                }
            }
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.expr(left, scene)?, self.expr(right, scene)?);
                self.terms.compare(*op, left, right)
            }
            Expr::Arith(op, left, right) => {
                let (left, right) = (self.expr(left, scene)?, self.expr(right, scene)?);
                self.terms.arith(*op, left, right)
            }
            Expr::Ite(condition, yes, no) => {
                let condition = self.truth(condition, scene)?;
                match self.terms.constant(condition) {
                    Some(0) => self.expr(no, scene),
                    Some(_) => self.expr(yes, scene),
                    None => {
                        let (yes, no) = (self.expr(yes, scene)?, self.expr(no, scene)?);
                        self.terms.ite(condition, yes, no)
                    }
                }
            }
            Expr::Fold {
                kind,
                bound,
                lo,
                hi,
                body,
            } => self.fold(*kind, *bound, (*lo, *hi), body, scene),
        }
    }

    fn fold(
        &mut self,
        kind: FoldKind,
        bound: u32,
        (lo, hi): (i64, i64),
        body: &Expr,
        scene: &mut Scene,
    ) -> Result<Term, Refused> {
        if i128::from(hi) - i128::from(lo) >= 1 << 20 {
            return Err(Refused::TooMany);
        }
        let mut terms = Vec::new();
        for value in lo..=hi {
            terms.push(self.bound(bound, value, body, scene)?);
        }
        let truths = match kind {
            FoldKind::Sum | FoldKind::Min | FoldKind::Max => false,
            FoldKind::Forall | FoldKind::Exists | FoldKind::Count => true,
        };
        if truths {
            for term in &mut terms {
                *term = self.terms.as_truth(*term)?;
            }
        }
        match kind {
            FoldKind::Forall => self.terms.and(terms),
            FoldKind::Exists => self.terms.or(terms),
            FoldKind::Count | FoldKind::Sum => self.balanced(ArithOp::Add, terms),
            FoldKind::Min => self.balanced(ArithOp::Min, terms),
            FoldKind::Max => self.balanced(ArithOp::Max, terms),
        }
    }

    /// A body with a bound variable fixed.
    fn bound(
        &mut self,
        bound: u32,
        value: i64,
        body: &Expr,
        scene: &mut Scene,
    ) -> Result<Term, Refused> {
        scene.bounds.push((bound, value));
        let term = self.expr(body, scene);
        scene.bounds.pop();
        term
    }

    fn balanced(&mut self, op: ArithOp, mut parts: Vec<Term>) -> Result<Term, Refused> {
        while parts.len() > 1 {
            let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
            for pair in parts.chunks(2) {
                halved.push(match *pair {
                    [left, right] => self.terms.arith(op, left, right)?,
                    _ => pair[0],
                });
            }
            parts = halved;
        }
        match parts.pop() {
            Some(part) => Ok(part),
            None => self.terms.number(0),
        }
    }

    /// None and exactly one of the values looked at so far: as long as there are values, not pairs.
    fn at_most_one(&mut self, found: &AtMostOne, scene: &mut Scene) -> Result<Term, Refused> {
        let (mut none, mut one) = (self.terms.truth(true)?, self.terms.truth(false)?);
        for value in (found.lo..=found.hi).rev() {
            let holds = self.bound(found.bound, value, &found.body, scene)?;
            let holds = self.terms.as_truth(holds)?;
            let fails = self.terms.not(holds)?;
            one = self.terms.ite(holds, none, one)?;
            none = self.terms.and([fails, none])?;
        }
        self.terms.or([none, one])
    }

    /// The value of a place. Outside the array, which a check excludes, it is that of some cell.
    fn load(&mut self, place: &Place, scene: &mut Scene) -> Result<Term, Refused> {
        let mut value = None;
        for (here, cell) in self.targets(place, scene)?.into_iter().rev() {
            let cell = self.values[cell];
            value = Some(match value {
                None => cell,
                Some(others) => self.terms.ite(here, cell, others)?,
            });
        }
        match value {
            Some(value) => Ok(value),
            None => self.terms.number(0),
        }
    }
}

/// What a step does with given choices.
struct Taken {
    passes: Term,
    fails: Term,
    moves: Option<Move>,
}

/// The choices of a step that only decide what one update writes, where no other update may write
/// the same variable.
fn open_choices(step: &Step) -> BTreeSet<usize> {
    let mut uses = vec![0usize; step.choices.len()];
    for clause in &step.clauses {
        match clause {
            Clause::Guard(guard) => count_choices(guard, &mut uses),
            Clause::Check(check) => count_choices(&check.holds, &mut uses),
        }
    }
    for update in &step.updates {
        count_choices(&update.value, &mut uses);
        let parts = [&update.cell.process, &update.cell.offset];
        parts
            .into_iter()
            .flatten()
            .for_each(|part| count_choices(part, &mut uses));
    }
    let fixed = |part: &Option<Expr>| {
        matches!(
            part,
            None | Some(Expr::Const(_) | Expr::Own | Expr::OwnProcess)
        )
    };
    let mut open = BTreeSet::new();
    for update in &step.updates {
        let Expr::Choice(choice) = update.value else {
            continue;
        };
        let choice = choice as usize;
        let mut others = step
            .updates
            .iter()
            .filter(|other| other.cell.var == update.cell.var);
        if uses.get(choice) == Some(&1)
            && others.all(|other| fixed(&other.cell.process) && fixed(&other.cell.offset))
        {
            open.insert(choice);
        }
    }
    open
}

/// Counts how often an expression mentions each choice.
fn count_choices(expr: &Expr, uses: &mut [usize]) {
    if let Expr::Choice(choice) = expr
        && let Some(count) = uses.get_mut(*choice as usize)
    {
        *count += 1;
    }
    expr.for_children(&mut |child| count_choices(child, uses));
}

/// All cells, in an order in which what is tested together stands together: shared scalars first, then each
/// process with its own cells and the array cells that are indexed by it.
fn together(system: &System) -> Vec<(VarId, CellId)> {
    /// Shared scalars and arrays without ids first, then process by process.
    type Key = (u32, u32, usize);
    let mut keyed: Vec<(Key, VarId, CellId)> = Vec::new();
    let owner =
        |template: TemplateId, index: u32| system.templates[template].first.raw() + index + 1;
    for (id, var) in system.vars.iter_enumerated() {
        match var.scope {
            Scope::Shared => {
                for offset in 0..var.len {
                    let process = array_owner(&var.dims, offset)
                        .map_or(0, |(template, index)| owner(template, index));
                    let cell = system.cell(id, 0, offset);
                    // Behind the process's own cells.
                    keyed.push(((process, 1, cell.index()), id, cell));
                }
            }
            Scope::Local(template) => {
                for index in 0..system.templates[template].count {
                    for offset in 0..var.len {
                        let cell = system.cell(id, index, offset);
                        keyed.push(((owner(template, index), 0, cell.index()), id, cell));
                    }
                }
            }
        }
    }
    keyed.sort_unstable_by_key(|(key, _, _)| *key);
    keyed
        .into_iter()
        .map(|(_, var, cell)| (var, cell))
        .collect()
}
