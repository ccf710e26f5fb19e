//! Steps as transitions on sets of states, forwards and backwards.
//!
//! A step whose written values do not depend on the state (most steps of locks and protocols) is a
//! *guarded assignment*: its image is `(exists written. S and guard) and values`, without a copy
//! of the variables and without frames. Any other step is a relation between the bits it writes
//! and their twins; bits that it does not write stay implicit. A step that writes a cell
//! chosen by the state becomes one transition for each cell, so that no array is copied. A step that reads one of many cells becomes one for each value of
//! the cell that chooses, if most of those to choose from stand above it: together they would be exponential in their number.
//!
//! Exact: a transition relates the same states as its step, on states whose values are encoded. If only the values that somebody has seen
//! are, a step may write another one: it is then left out, and the states from which it does so are known as escapes.

use std::collections::BTreeSet;
use std::rc::Rc;

use index_vec::IndexVec;
use oxidd::VarNo;
use threadwise_model::optimise::Optimised;
use threadwise_model::system::{CellId, Clause, Expr, ProcessId, Step, System, Update};

use crate::Error;
use crate::cases::{Cases, Translator};
use crate::diagrams::{Bdd, Diagrams, Renaming};
use crate::encoding::Encoding;

/// A step is divided into at most so many parts by the cells that choose between others.
const MAX_PARTS: usize = 1 << 10;

/// A step, or a part of one, of one process.
#[derive(Clone)]
pub struct Transition {
    /// Whose it is.
    pub process: ProcessId,
    /// The states in which it can be taken: location, guards and checks.
    pub guard: Bdd,
    effect: Effect,
}

#[derive(Clone)]
enum Effect {
    /// The written variables get values that do not depend on the state.
    Assign {
        /// The written variables.
        vars: Vec<VarNo>,
        /// The same, to forget them with.
        written: Bdd,
        /// Their values afterwards: one combination, or several for `havoc`.
        values: Bdd,
    },
    /// The guard and how the written variables change.
    Relate {
        /// Guard, and written bits with their twins.
        relation: Bdd,
        /// The written variables.
        vars: Vec<VarNo>,
        /// The same, to forget them with.
        written: Bdd,
        /// Their twins.
        twins: Bdd,
        /// From twins to variables.
        back: Rc<Renaming>,
        /// From variables to twins.
        forth: Rc<Renaming>,
    },
}

/// Variables that are to be forgotten.
pub struct Hidden {
    vars: BTreeSet<VarNo>,
    cube: Bdd,
    /// The variables and their twins.
    both: Bdd,
}

impl Hidden {
    /// These variables, which belong to the state before a step.
    pub fn new(d: &Diagrams, vars: impl IntoIterator<Item = VarNo>) -> Result<Self, Error> {
        let vars: BTreeSet<VarNo> = vars.into_iter().collect();
        let before: Vec<VarNo> = vars.iter().copied().collect();
        let both: Vec<VarNo> = vars.iter().flat_map(|var| [*var, var + 1]).collect();
        Ok(Hidden {
            cube: d.cube(&before)?,
            both: d.cube(&both)?,
            vars,
        })
    }

    /// A set with the variables forgotten.
    pub fn forget(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Error> {
        if self.vars.is_empty() {
            return Ok(set.clone());
        }
        Ok(d.exists(set, &self.cube)?)
    }

    /// The intersection of two sets with the variables forgotten.
    pub fn forget_and(&self, d: &Diagrams, a: &Bdd, b: &Bdd) -> Result<Bdd, Error> {
        Ok(d.and_exists(a, b, &self.cube)?)
    }

    /// Whether there is nothing to forget.
    pub fn is_empty(&self) -> bool {
        self.vars.is_empty()
    }

    /// The variables.
    pub fn vars(&self) -> &BTreeSet<VarNo> {
        &self.vars
    }
}

impl Transition {
    /// The states after the transition from a set.
    pub fn post(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Error> {
        Ok(match &self.effect {
            Effect::Assign {
                written, values, ..
            } => {
                let rest = d.and_exists(set, &self.guard, written)?;
                d.and(&rest, values)?
            }
            Effect::Relate {
                relation,
                written,
                back,
                ..
            } => {
                let after = d.and_exists(set, relation, written)?;
                d.rename(&after, back)?
            }
        })
    }

    /// The states from which the transition leads into a set.
    pub fn pre(&self, d: &Diagrams, set: &Bdd) -> Result<Bdd, Error> {
        Ok(match &self.effect {
            Effect::Assign {
                written, values, ..
            } => {
                let rest = d.and_exists(set, values, written)?;
                d.and(&rest, &self.guard)?
            }
            Effect::Relate {
                relation,
                twins,
                forth,
                ..
            } => {
                let after = d.rename(set, forth)?;
                d.and_exists(&after, relation, twins)?
            }
        })
    }

    /// The states of one set from which the transition leads into another.
    pub fn pre_within(&self, d: &Diagrams, set: &Bdd, within: &Bdd) -> Result<Bdd, Error> {
        // Mostly it can be taken in few of them, or in none.
        let from = d.and(within, &self.guard)?;
        if d.is_empty(&from) {
            return Ok(from);
        }
        Ok(match &self.effect {
            Effect::Assign {
                written, values, ..
            } => d.and(&from, &d.and_exists(set, values, written)?)?,
            Effect::Relate { .. } => d.and(&from, &self.pre(d, set)?)?,
        })
    }

    /// What can be seen of the transition, taken within a set, by those who do not see the hidden
    /// variables. May add steps between states that differ only there, never drops one.
    pub fn project(&self, d: &Diagrams, within: &Bdd, hidden: &Hidden) -> Result<Self, Error> {
        let seen = |vars: &[VarNo]| -> Vec<VarNo> {
            let mut vars = vars.to_vec();
            vars.retain(|var| !hidden.vars.contains(var));
            vars
        };
        let effect = match &self.effect {
            Effect::Assign { vars, values, .. } => {
                let vars = seen(vars);
                Effect::Assign {
                    written: d.cube(&vars)?,
                    values: hidden.forget(d, values)?,
                    vars,
                }
            }
            Effect::Relate {
                relation,
                vars,
                back,
                forth,
                ..
            } => {
                let vars = seen(vars);
                let twins: Vec<VarNo> = vars.iter().map(|var| var + 1).collect();
                Effect::Relate {
                    relation: d.and_exists(relation, within, &hidden.both)?,
                    written: d.cube(&vars)?,
                    twins: d.cube(&twins)?,
                    back: back.clone(),
                    forth: forth.clone(),
                    vars,
                }
            }
        };
        Ok(Transition {
            process: self.process,
            guard: hidden.forget_and(d, &self.guard, within)?,
            effect,
        })
    }

    /// The same as an assignment, if what it writes does not depend on the state: so it can be after a projection.
    pub fn simplified(self, d: &Diagrams) -> Result<Self, Error> {
        let Effect::Relate {
            relation,
            vars,
            written,
            twins,
            back,
            ..
        } = &self.effect
        else {
            return Ok(self);
        };
        let before: Vec<VarNo> = d
            .support(relation)
            .into_iter()
            .filter(|var| var.checked_sub(1).is_none_or(|var| !vars.contains(&var)))
            .collect();
        let guard = d.exists(relation, twins)?;
        let values = d.exists(relation, &d.cube(&before)?)?;
        if d.and(&guard, &values)? != *relation {
            return Ok(self);
        }
        Ok(Transition {
            process: self.process,
            guard,
            effect: Effect::Assign {
                values: d.rename(&values, back)?,
                written: written.clone(),
                vars: vars.clone(),
            },
        })
    }

    /// The variables that it writes, and what it writes to them, if that does not depend on the state.
    pub fn assignment(&self) -> Option<(&[VarNo], &Bdd)> {
        match &self.effect {
            Effect::Assign { vars, values, .. } => Some((vars, values)),
            Effect::Relate { .. } => None,
        }
    }

    /// The variables that it writes.
    pub fn written(&self) -> &[VarNo] {
        match &self.effect {
            Effect::Assign { vars, .. } | Effect::Relate { vars, .. } => vars,
        }
    }

    /// The transition as a relation: the guard, and the written variables with their twins.
    pub fn relation(&self, d: &Diagrams) -> Result<Bdd, Error> {
        match &self.effect {
            Effect::Assign { vars, values, .. } => {
                let twins: Vec<VarNo> = vars.iter().map(|var| var + 1).collect();
                let after = d.rename(values, &d.renaming(vars, &twins)?)?;
                Ok(d.and(&self.guard, &after)?)
            }
            Effect::Relate { relation, .. } => Ok(relation.clone()),
        }
    }

    /// Whether it writes nothing.
    pub fn is_idle(&self) -> bool {
        self.written().is_empty()
    }

    /// The same assignment under another guard.
    pub fn guarded(&self, d: &Diagrams, guard: Bdd) -> Result<Option<Self>, Error> {
        let Some((vars, values)) = self.assignment() else {
            return Ok(None);
        };
        Ok(Some(Transition {
            process: self.process,
            guard,
            effect: Effect::Assign {
                vars: vars.to_vec(),
                written: d.cube(vars)?,
                values: values.clone(),
            },
        }))
    }
}

/// What can happen in a system: its transitions, failures and blocked states.
pub struct Transitions {
    /// The moves of each process in the order of the text. Rests, and moves that change nothing, are
    /// left out.
    pub moves: IndexVec<ProcessId, Vec<Transition>>,
    /// For each process, the states in which a step of it fails a check.
    pub failures: IndexVec<ProcessId, Bdd>,
    /// For each process, the states in which it has a step other than resting; a failing step
    /// counts. In parts, like the moves.
    pub enabled: IndexVec<ProcessId, Vec<Bdd>>,
    /// For each process, the states in which it can rest or move without a change, in parts.
    pub still: IndexVec<ProcessId, Vec<Bdd>>,
    /// The states in which a step writes a value that is not encoded. No reachable state may be among them.
    pub escapes: Bdd,
}

impl Transitions {
    /// Nothing can happen.
    pub(crate) fn none(system: &System, diagrams: &Diagrams) -> Self {
        let processes = 0..system.processes();
        Transitions {
            moves: processes.clone().map(|_| Vec::new()).collect(),
            failures: processes.clone().map(|_| diagrams.none()).collect(),
            enabled: processes.clone().map(|_| Vec::new()).collect(),
            still: processes.map(|_| Vec::new()).collect(),
            escapes: diagrams.none(),
        }
    }

    /// Translates the steps of an optimised system. If `narrow`, steps may write values that are not encoded.
    pub fn new(
        optimised: &Optimised,
        diagrams: &Diagrams,
        encoding: &Encoding,
        narrow: bool,
    ) -> Result<Self, Error> {
        let system = optimised.system();
        let cells = encoding.cells_of_vars();
        let mut all = Transitions {
            moves: IndexVec::new(),
            failures: IndexVec::new(),
            enabled: IndexVec::new(),
            still: IndexVec::new(),
            escapes: diagrams.none(),
        };
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let mut failures = diagrams.none();
            let mut enabled = Vec::new();
            let mut still = Vec::new();
            let mut moves = Vec::new();
            for step in optimised.steps_of(process).iter().flatten() {
                let translator = Translator {
                    system,
                    diagrams,
                    encoding,
                    choices: &step.choices,
                    given: &[],
                };
                for given in parts(translator, step) {
                    let built = Builder {
                        translator: translator.giving(&given),
                        process,
                        cells: &cells,
                        narrow,
                    }
                    .step(step)?;
                    failures = diagrams.or(&failures, &built.fails)?;
                    if !step.rest {
                        enabled.push(built.enabled);
                    }
                    still.push(built.still);
                    all.escapes = diagrams.or(&all.escapes, &built.escapes)?;
                    moves.extend(built.moves);
                }
            }
            for parts in [&mut enabled, &mut still] {
                parts.retain(|part| !diagrams.is_empty(part));
            }
            all.moves.push(moves);
            all.failures.push(failures);
            all.enabled.push(enabled);
            all.still.push(still);
        }
        Ok(all)
    }
}

/// The parts of a step, each for some values of the cells that choose between many others.
fn parts(translator: Translator, step: &Step) -> Vec<Vec<(CellId, i64)>> {
    let mut parts = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(given) = open.pop() {
        let Some(cell) = chooser(translator.giving(&given), step) else {
            parts.push(given);
            continue;
        };
        let values = translator.encoding.cells[cell].codes();
        if parts.len() + open.len() + values.len() > MAX_PARTS {
            parts.push(given);
            continue;
        }
        for (value, _) in values.iter().rev() {
            let mut given = given.clone();
            given.push((cell, *value));
            open.push(given);
        }
    }
    parts
}

/// A cell that a step had better be divided by.
fn chooser(translator: Translator, step: &Step) -> Option<CellId> {
    let mut found = None;
    visit_step(step, &mut |expr| {
        if let Expr::Load(place) = expr
            && found.is_none()
        {
            for index in place.process.iter().chain(&place.offset) {
                visit(index, &mut |expr| {
                    if let Expr::Load(inner) = expr
                        && let Some(cell) = translator.only_cell(inner)
                        && translator.chooses_above(cell, place)
                    {
                        found = Some(cell);
                    }
                });
            }
        }
    });
    found
}

/// What a step can do.
struct Built {
    moves: Vec<Transition>,
    fails: Bdd,
    /// Where it can be taken or fails.
    enabled: Bdd,
    /// Where it can be taken without a change.
    still: Bdd,
    /// Where it writes a value that is not encoded.
    escapes: Bdd,
}

/// Builds the transitions of one process.
struct Builder<'a> {
    translator: Translator<'a>,
    process: ProcessId,
    /// The cell of each variable.
    cells: &'a [Option<CellId>],
    /// Whether steps may write values that are not encoded.
    narrow: bool,
}

/// The cells a transition writes, with their values, under a condition.
#[derive(Clone)]
struct Writes {
    when: Bdd,
    cells: Vec<(CellId, Value)>,
}

#[derive(Clone)]
enum Value {
    Cases(Cases),
    /// Any value that the choice can have, whatever else happens.
    Free(u32),
}

impl Builder<'_> {
    fn step(&self, step: &Step) -> Result<Built, Error> {
        let d = self.translator.diagrams;
        let system = self.translator.system;
        if !step.starts.is_empty() {
            return Err(Error::Unsupported(
                "processes that are started while others run",
            ));
        }
        let template = &system.templates[system.template_of(self.process)];
        let pc = system.cell(template.pc, system.index_of(self.process), 0);
        let encoding = self.translator.encoding;
        let none = Built {
            moves: Vec::new(),
            fails: d.none(),
            enabled: d.none(),
            still: d.none(),
            escapes: d.none(),
        };
        // A location that is never reached has no code, and steps from it are never taken.
        let Some(from) = encoding.cells[pc].code(i64::from(step.from.raw())) else {
            return Ok(none);
        };
        if step.choices.iter().any(|(lo, hi)| lo > hi) {
            return Ok(none);
        }
        let mut guard = encoding.code(d, pc, from, false)?;
        for (cell, value) in self.translator.given {
            let code = encoding.cells[*cell].code(*value);
            let code = code.ok_or(Error::Internal("a given value without a code"))?;
            guard = d.and(&guard, &encoding.code(d, *cell, code, false)?)?;
        }
        let mut fails = d.none();
        for (position, choice) in step.choices.iter().enumerate() {
            let valid = self.valid_choice(position as u32, *choice)?;
            guard = d.and(&guard, &valid)?;
        }
        for clause in &step.clauses {
            match clause {
                Clause::Guard(condition) => {
                    guard = d.and(&guard, &self.translator.truth(condition)?)?;
                }
                Clause::Check(check) => {
                    let holds = self.translator.truth(&check.holds)?;
                    fails = d.or(&fails, &d.minus(&guard, &holds)?)?;
                    guard = d.and(&guard, &holds)?;
                }
            }
        }
        let chosen = d.cube(&encoding.choice_vars())?;
        let forget = |set: &Bdd| -> Result<Bdd, Error> {
            if step.choices.is_empty() {
                return Ok(set.clone());
            }
            Ok(d.exists(set, &chosen)?)
        };
        let fails = forget(&fails)?;
        let enabled = d.or(&forget(&guard)?, &fails)?;
        let mut moves = Vec::new();
        let mut escapes = d.none();
        let mut still = match step.rest {
            true => forget(&guard)?,
            false => d.none(),
        };
        if !step.rest && self.possible(&guard)? {
            let mut writes = self.writes(step, guard)?;
            if step.to != step.from {
                let value = i64::from(step.to.raw());
                for write in &mut writes {
                    set(&mut write.cells, pc, Value::Cases(vec![(value, d.all())]));
                }
            }
            for write in writes {
                match write.cells.is_empty() {
                    true => still = d.or(&still, &forget(&write.when)?)?,
                    false => {
                        let (transition, beyond) = self.transition(step, write)?;
                        moves.extend(transition);
                        escapes = d.or(&escapes, &forget(&beyond)?)?;
                    }
                }
            }
        }
        Ok(Built {
            moves,
            fails,
            enabled,
            still,
            escapes,
        })
    }

    /// Whether a set contains a state whose codes all stand for values. Others occur in no set of states, but
    /// complements contain them, so that an impossible guard need not be empty.
    fn possible(&self, set: &Bdd) -> Result<bool, Error> {
        let d = self.translator.diagrams;
        let encoding = self.translator.encoding;
        let mut cells: Vec<CellId> = d
            .support(set)
            .into_iter()
            .filter_map(|var| self.cells[var as usize])
            .collect();
        cells.dedup();
        let mut states = set.clone();
        for cell in cells.into_iter().rev() {
            states = d.and(&states, &encoding.valid_cell(d, cell)?)?;
        }
        Ok(!d.is_empty(&states))
    }

    fn valid_choice(&self, choice: u32, (lo, hi): (i64, i64)) -> Result<Bdd, Error> {
        let d = self.translator.diagrams;
        let mut valid = d.none();
        for code in 0..=(hi - lo) as usize {
            valid = d.or(&valid, &self.translator.encoding.choice(d, choice, code)?)?;
        }
        Ok(valid)
    }

    /// The writes of a step, divided where the cell depends on the state.
    fn writes(&self, step: &Step, guard: Bdd) -> Result<Vec<Writes>, Error> {
        let d = self.translator.diagrams;
        let mut all = vec![Writes {
            when: guard,
            cells: Vec::new(),
        }];
        for update in &step.updates {
            let value = match free_choice(step, update) {
                Some(choice) => Value::Free(choice),
                None => Value::Cases(self.translator.cases(&update.value)?),
            };
            let targets = self.translator.cells(&update.cell)?;
            let mut divided = Vec::new();
            for writes in all {
                for (cell, states) in &targets {
                    let when = d.and(&writes.when, states)?;
                    if !self.possible(&when)? {
                        continue;
                    }
                    let mut cells = writes.cells.clone();
                    set(&mut cells, *cell, value.clone());
                    divided.push(Writes { when, cells });
                }
            }
            all = divided;
        }
        Ok(all)
    }

    /// The transition, if there is one, and where a value is written that is not encoded.
    fn transition(&self, step: &Step, writes: Writes) -> Result<(Option<Transition>, Bdd), Error> {
        let d = self.translator.diagrams;
        let encoding = self.translator.encoding;
        let chosen = d.cube(&encoding.choice_vars())?;
        let has_choices = !step.choices.is_empty();
        let guard = if has_choices {
            d.exists(&writes.when, &chosen)?
        } else {
            writes.when.clone()
        };
        let mut escapes = d.none();
        let cells: Vec<CellId> = writes.cells.iter().map(|(cell, _)| *cell).collect();
        let vars = encoding.vars_of(&cells, false);
        let written = d.cube(&vars)?;
        let independent = writes.cells.iter().all(|(_, value)| match value {
            Value::Free(_) => true,
            Value::Cases(cases) => cases.len() == 1,
        });
        if independent {
            let mut values = d.all();
            for (cell, value) in writes.cells.iter().rev() {
                // The only case of a value holds in all states, so its states say nothing. They
                // must be left out: they may mention choices and variables as they were before.
                let value = match value {
                    Value::Cases(cases) => {
                        Value::Cases(cases.iter().map(|(value, _)| (*value, d.all())).collect())
                    }
                    Value::Free(choice) => Value::Free(*choice),
                };
                let (set, beyond) = self.set_of(step, *cell, &value, &writes.when, false)?;
                values = d.and(&set, &values)?;
                escapes = d.or(&escapes, &beyond)?;
            }
            if d.is_empty(&values) {
                return Ok((None, escapes));
            }
            let transition = Transition {
                process: self.process,
                guard,
                effect: Effect::Assign {
                    vars,
                    written,
                    values,
                },
            };
            return Ok((Some(transition), escapes));
        }
        let mut relation = writes.when.clone();
        for (cell, value) in writes.cells.iter().rev() {
            let (change, beyond) = self.set_of(step, *cell, value, &writes.when, true)?;
            relation = d.and(&relation, &change)?;
            escapes = d.or(&escapes, &beyond)?;
        }
        if has_choices {
            relation = d.exists(&relation, &chosen)?;
        }
        let twin_vars = encoding.vars_of(&cells, true);
        let transition = Transition {
            process: self.process,
            guard,
            effect: Effect::Relate {
                relation,
                written,
                twins: d.cube(&twin_vars)?,
                back: Rc::new(d.renaming(&twin_vars, &vars)?),
                forth: Rc::new(d.renaming(&vars, &twin_vars)?),
                vars,
            },
        };
        Ok((Some(transition), escapes))
    }

    /// The written cell with its value: on the variables themselves if the value does not depend
    /// on the state, on the twins otherwise. And where the value is not encoded.
    fn set_of(
        &self,
        step: &Step,
        cell: CellId,
        value: &Value,
        when: &Bdd,
        after: bool,
    ) -> Result<(Bdd, Bdd), Error> {
        let d = self.translator.diagrams;
        let encoding = self.translator.encoding;
        let mut set = d.none();
        let mut escapes = d.none();
        match value {
            Value::Free(choice) => {
                let (lo, hi) = step.choices[*choice as usize];
                for value in lo..=hi {
                    let code = match encoding.cells[cell].code(value) {
                        Some(code) => code,
                        None if self.narrow => {
                            escapes = when.clone();
                            continue;
                        }
                        None => return Err(Error::Internal("an arbitrary value without a code")),
                    };
                    set = d.or(&set, &encoding.code(d, cell, code, after)?)?;
                }
            }
            Value::Cases(cases) => {
                for (value, states) in cases {
                    // A value read from a cell that the state chooses needs all of those cells; where it is written, the choice is mostly made.
                    let states = &match after && self.narrow {
                        true => d.and(when, states)?,
                        false => states.clone(),
                    };
                    if d.is_empty(states) {
                        continue;
                    }
                    let one = match encoding.cells[cell].code(*value) {
                        Some(code) => encoding.code(d, cell, code, after)?,
                        // Checks and intervals exclude it.
                        None if !self.possible(&d.and(when, states)?)? => continue,
                        None if self.narrow => {
                            escapes = d.or(&escapes, &d.and(when, states)?)?;
                            continue;
                        }
                        None => return Err(Error::Internal("a written value without a code")),
                    };
                    set = d.or(&set, &d.and(states, &one)?)?;
                }
            }
        }
        Ok((set, escapes))
    }
}

/// Of two writes of one cell the later counts.
fn set(cells: &mut Vec<(CellId, Value)>, cell: CellId, value: Value) {
    cells.retain(|(other, _)| *other != cell);
    cells.push((cell, value));
}

/// The choice that an update writes, if the step uses it for nothing else.
fn free_choice(step: &Step, update: &Update) -> Option<u32> {
    let Expr::Choice(choice) = update.value else {
        return None;
    };
    let mut uses = 0;
    visit_step(step, &mut |e| {
        uses += usize::from(*e == Expr::Choice(choice));
    });
    (uses == 1).then_some(choice)
}

/// Calls `f` on all expressions of a step.
fn visit_step(step: &Step, f: &mut dyn FnMut(&Expr)) {
    for clause in &step.clauses {
        match clause {
            Clause::Guard(e) => visit(e, f),
            Clause::Check(check) => visit(&check.holds, f),
        }
    }
    for update in &step.updates {
        visit(&update.value, f);
        for index in update.cell.process.iter().chain(&update.cell.offset) {
            visit(index, f);
        }
    }
}

/// Calls `f` on an expression and everything inside it.
fn visit(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    f(expr);
    match expr {
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_) => {}
        Expr::Load(place) => {
            for e in place.process.iter().chain(&place.offset) {
                visit(e, f);
            }
        }
        Expr::Not(e) | Expr::Neg(e) | Expr::Fold { body: e, .. } => visit(e, f),
        Expr::And(list) | Expr::Or(list) => list.iter().for_each(|e| visit(e, f)),
        Expr::Compare(_, a, b) | Expr::Arith(_, a, b) => {
            visit(a, f);
            visit(b, f);
        }
        Expr::Ite(c, a, b) => {
            visit(c, f);
            visit(a, f);
            visit(b, f);
        }
    }
}

/// The initial values of some cells, given in the order of their variables.
pub fn initial(
    system: &System,
    d: &Diagrams,
    encoding: &Encoding,
    cells: &[CellId],
) -> Result<Bdd, Error> {
    let mut set = d.all();
    let owners = crate::layout::owners(system);
    // From the last variable up, so that each step adds on top.
    for &cell in cells.iter().rev() {
        let (id, index) = owners[cell].ok_or(Error::Internal("a cell of no variable"))?;
        let value = threadwise_model::eval::initial_value(system, id, index)
            .map_err(|_| Error::Overflow)?;
        let one = match value {
            None => encoding.valid_cell(d, cell)?,
            Some(value) => {
                let code = encoding.cells[cell]
                    .code(value)
                    .ok_or(Error::Internal("an initial value without a code"))?;
                encoding.code(d, cell, code, false)?
            }
        };
        set = d.and(&one, &set)?;
    }
    Ok(set)
}
