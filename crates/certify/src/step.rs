//! One step of one process as literals: whether it can be taken, whether it fails, what it writes.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_model::system::{Check, Clause, Expr, ProcessId, Step, System};

use crate::Error;
use crate::encode::{Encoder, Env, Finite};
use crate::logic::{Lit, Logic};
use crate::value::{Value, Writes};

/// How many cases of written cells a step may be split into; beyond that, cells that may be written are
/// written with their old value in the other cases.
const MOST_CASES: usize = 1 << 10;
/// How many combinations of choices are gone through to say that no choice lets a step be taken.
const MOST_COMBINATIONS: u128 = 1 << 12;

/// A step of a process, encoded.
pub(crate) struct Taken {
    /// All guards and checks hold.
    pub(crate) passes: Lit,
    /// A check fails.
    pub(crate) fails: Lit,
    /// A computation leaves 64 bits.
    pub(crate) overflows: Lit,
    /// The choices.
    pub(crate) choices: Vec<Finite>,
    env: Env,
}

/// A process, and where its program counter is.
#[derive(Clone, Copy)]
pub(crate) struct Mover {
    pub(crate) process: ProcessId,
    pub(crate) index: u32,
    /// The cell with its location.
    pub(crate) pc: usize,
}

/// Every process with its steps.
pub(crate) fn movers(system: &System) -> Vec<(Mover, Vec<&Step>)> {
    let mut movers = Vec::new();
    for template in &system.templates {
        for index in 0..template.count {
            let mover = Mover {
                process: template.first + index as usize,
                index,
                pc: system.cell(template.pc, index, 0).index(),
            };
            movers.push((mover, template.steps.iter().flatten().collect()));
        }
    }
    movers
}

impl Mover {
    fn env(self, choices: Vec<Value>) -> Env {
        Env::new(Some((self.index, self.process)), choices)
    }
}

/// Encodes the guards and checks of a step; nothing if it has a choice from nothing.
pub(crate) fn take(
    encoder: &mut Encoder<'_, impl Logic>,
    mover: Mover,
    step: &Step,
) -> Result<Option<Taken>, Error> {
    if step.choices.iter().any(|(lo, hi)| lo > hi) {
        return Ok(None);
    }
    let mut choices = Vec::new();
    let mut values = Vec::new();
    for (number, (lo, hi)) in step.choices.iter().enumerate() {
        let (choice, value) = encoder.choice(number, *lo, *hi)?;
        choices.push(choice);
        values.push(value);
    }
    take_with(encoder, mover, step, choices, values).map(Some)
}

/// The same with these choices, and these values of them.
pub(crate) fn take_with(
    encoder: &mut Encoder<'_, impl Logic>,
    mover: Mover,
    step: &Step,
    choices: Vec<Finite>,
    values: Vec<Value>,
) -> Result<Taken, Error> {
    if !step.starts.is_empty() {
        return Err(Error::unsupported("a step starts processes"));
    }
    let mut env = mover.env(values);
    let (passes, fails, overflows) = clauses(encoder, mover, step, &mut env)?;
    Ok(Taken {
        passes,
        fails,
        overflows,
        choices,
        env,
    })
}

/// Whether all guards and checks hold, a check fails, a computation leaves 64 bits.
fn clauses(
    encoder: &mut Encoder<'_, impl Logic>,
    mover: Mover,
    step: &Step,
    env: &mut Env,
) -> Result<(Lit, Lit, Lit), Error> {
    let mut passes = encoder.cell_is(mover.pc, i64::from(step.from.raw()));
    let mut fails = Vec::new();
    let mut overflows = Vec::new();
    for clause in &step.clauses {
        if passes == Lit::FALSE {
            break;
        }
        let condition = match clause {
            Clause::Guard(condition) => condition,
            Clause::Check(check) => &check.holds,
        };
        let (holds, overflow) = encoder.condition(condition, env)?;
        overflows.push(encoder.logic.and(passes, overflow));
        if let Clause::Check(_) = clause {
            fails.push(encoder.logic.and(passes, !holds));
        }
        passes = encoder.logic.and(passes, holds);
    }
    let fails = encoder.logic.any(fails);
    let overflows = encoder.logic.any(overflows);
    Ok((passes, fails, overflows))
}

/// What a step writes in one case of its indices.
pub(crate) struct Case {
    /// When this case is.
    pub(crate) when: Lit,
    /// What is written: every cell once, in order.
    pub(crate) writes: Writes,
    /// A written value is none of its cell's.
    pub(crate) outside: Lit,
}

/// Encodes the writes of a step, case by case: in each of them it is known which cells are
/// written. Adds to `taken` when computing them leaves 64 bits.
pub(crate) fn writes(
    encoder: &mut Encoder<'_, impl Logic>,
    mover: Mover,
    step: &Step,
    taken: &mut Taken,
) -> Result<Vec<Case>, Error> {
    let mut updates = Vec::new();
    let mut count = 1usize;
    for update in &step.updates {
        let env = &mut taken.env;
        let (value, first) = encoder.expr(&update.value, env)?;
        let (copy, offset, second) = encoder.place(&update.cell, env)?;
        let overflow = encoder.logic.or(first, second);
        let overflow = encoder.logic.and(taken.passes, overflow);
        taken.overflows = encoder.logic.or(taken.overflows, overflow);
        let targets = encoder.targets(update.cell.var, copy, offset)?;
        count = count.saturating_mul(targets.len());
        updates.push((targets, value));
    }
    let to = Value::Const(i64::from(step.to.raw()));
    updates.push((vec![(Lit::TRUE, Some(mover.pc))], to));
    if count > MOST_CASES {
        return Ok(vec![together(encoder, &updates)?]);
    }
    let mut cases = vec![(Lit::TRUE, BTreeMap::new())];
    for (targets, value) in &updates {
        let mut next = Vec::with_capacity(cases.len() * targets.len());
        for (when, writes) in &cases {
            for (target, cell) in targets {
                let when = encoder.logic.and(*when, *target);
                if when == Lit::FALSE {
                    continue;
                }
                let mut writes: BTreeMap<usize, Value> = writes.clone();
                if let Some(cell) = cell {
                    writes.insert(*cell, *value);
                }
                next.push((when, writes));
            }
        }
        cases = next;
    }
    Ok(cases
        .into_iter()
        .map(|(when, writes)| finish(encoder, when, writes))
        .collect())
}

/// A target of a write: when, and which cell.
type Targets = Vec<(Lit, Option<usize>)>;

/// All cases in one: a cell that may be written gets its old value where it is not.
fn together(
    encoder: &mut Encoder<'_, impl Logic>,
    updates: &[(Targets, Value)],
) -> Result<Case, Error> {
    let mut writes: BTreeMap<usize, Value> = BTreeMap::new();
    for (targets, value) in updates {
        for (when, cell) in targets {
            let Some(cell) = cell else { continue };
            let before = match writes.get(cell) {
                Some(value) => *value,
                None => encoder.cell(*cell),
            };
            let after = encoder
                .values
                .ite(&mut encoder.logic, *when, *value, before)?;
            writes.insert(*cell, after);
        }
    }
    Ok(finish(encoder, Lit::TRUE, writes))
}

fn finish(
    encoder: &mut Encoder<'_, impl Logic>,
    when: Lit,
    writes: BTreeMap<usize, Value>,
) -> Case {
    let mut outside = Vec::new();
    let mut kept = Writes::new();
    for (cell, value) in writes {
        if value == encoder.cell(cell) {
            continue;
        }
        let finite = &encoder.cells[cell];
        let least = i128::from(finite.lo);
        let values = least..least + finite.size() as i128;
        for (value, lit) in encoder.values.items(value).iter() {
            if !values.contains(&i128::from(*value)) {
                outside.push(*lit);
            }
        }
        kept.push((cell, value));
    }
    let outside = encoder.logic.any(outside);
    Case {
        when,
        writes: kept,
        outside,
    }
}

/// That the process can do something by this step: move, or fail a check; or rest, if that counts.
pub(crate) fn acts(
    encoder: &mut Encoder<'_, impl Logic>,
    mover: Mover,
    step: &Step,
    rests: bool,
) -> Result<Lit, Error> {
    if step.choices.iter().any(|(lo, hi)| lo > hi) {
        return Ok(Lit::FALSE);
    }
    // A step acts if it does for *some* choices: all that its clauses mention are gone through.
    let mut mentioned = BTreeSet::new();
    for clause in &step.clauses {
        let (Clause::Guard(expr) | Clause::Check(Check { holds: expr, .. })) = clause;
        leaves(expr, &mut |leaf| {
            if let Expr::Choice(choice) = leaf {
                mentioned.insert(*choice);
            }
        });
    }
    let mut choices: Vec<i64> = step.choices.iter().map(|(lo, _)| *lo).collect();
    let ranges: Vec<(usize, i64, i64)> = mentioned
        .into_iter()
        .filter_map(|choice| {
            let (lo, hi) = step.choices.get(choice as usize)?;
            Some((choice as usize, *lo, *hi))
        })
        .collect();
    let combinations = ranges.iter().fold(1u128, |product, (_, lo, hi)| {
        let size = i128::from(*hi) - i128::from(*lo) + 1;
        product.saturating_mul(size.unsigned_abs())
    });
    if combinations > MOST_COMBINATIONS {
        return Err(Error::unsupported(
            "a step that it depends on whether a process can do nothing has too many choices",
        ));
    }
    let mut acts = Vec::new();
    loop {
        let values = choices.iter().map(|value| Value::Const(*value)).collect();
        let mut env = mover.env(values);
        let (passes, fails, overflows) = clauses(encoder, mover, step, &mut env)?;
        acts.extend([fails, overflows]);
        if rests || !step.rest {
            acts.push(passes);
        }
        // The next combination, the first choice turning fastest.
        let turned = ranges.iter().find(|(choice, lo, hi)| {
            let value = &mut choices[*choice];
            let more = *value < *hi;
            *value = if more { *value + 1 } else { *lo };
            more
        });
        if turned.is_none() {
            return Ok(encoder.logic.any(acts));
        }
    }
}

/// Calls a function for every part of an expression that has no parts itself.
pub(crate) fn leaves(expr: &Expr, each: &mut dyn FnMut(&Expr)) {
    let mut all = |parts: &[&Expr]| parts.iter().for_each(|part| leaves(part, each));
    match expr {
        Expr::Const(_) | Expr::Own | Expr::OwnProcess | Expr::Bound(_) | Expr::Choice(_) => {
            each(expr);
        }
        Expr::Load(place) => {
            let parts = place.process.iter().chain(&place.offset);
            parts.for_each(|part| leaves(part, each));
        }
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| leaves(part, each)),
        Expr::Not(inner) | Expr::Neg(inner) => all(&[inner]),
        Expr::Compare(_, a, b) | Expr::Arith(_, a, b) => all(&[a, b]),
        Expr::Ite(condition, yes, no) => all(&[condition, yes, no]),
        Expr::Fold { body, .. } => all(&[body]),
    }
}
