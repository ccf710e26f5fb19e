//! Inputs that are only copied, and compared with one another and with constants.
//!
//! What a program does with such a value depends on how it compares, not on what it is. Variables between which values are copied, or that are compared, are a class. If there are k inputs in the
//! class, then k values beyond its constants on each side are enough: whatever values a run has, others with the same order can be taken from these, and the run is the same. Where values
//! are only compared for equality, one more than there are cells to hold them is enough as well. And a value of which only the remainder of a division by constants is used may be small.

use std::collections::BTreeSet;

use super::ir::{
    Arith, Bits, Compare, Count, Expr, Model, Place, Statement, StatementKind, VarId, VarKind,
};
use super::types::IntType;

/// More cells or values than this are not counted.
const MOST: u64 = 1 << 10;

#[derive(Clone, Debug)]
struct Facts {
    /// Something else is done with a value.
    computed: bool,
    compared: bool,
    ordered: bool,
    constants: BTreeSet<i128>,
    /// Of values only the remainders of divisions by this are used; 1 if none are.
    divisor: i128,
    /// How many inputs a run has at most.
    inputs: Option<u64>,
    /// The type of the inputs.
    input_type: Option<IntType>,
    /// The inputs have several types, so that not every value can stand for every other one.
    mixed: bool,
    /// How many cells there are.
    cells: Option<u64>,
}

/// The classes of the variables of a program.
pub(crate) struct Classes<'m> {
    model: &'m Model,
    parent: Vec<usize>,
    facts: Vec<Facts>,
}

impl<'m> Classes<'m> {
    pub fn new(model: &'m Model) -> Self {
        let facts = model.variables.iter().map(|variable| {
            let instances = match variable.owner {
                None => Some(1),
                Some(owner) => instances(&model.processes[owner.0].count),
            };
            let cells = variable
                .dims
                .iter()
                .try_fold(1u64, |cells, dim| cells.checked_mul(u64::from(*dim)));
            Facts {
                computed: variable.initial.is_none()
                    || variable.parameter.is_some()
                    || !matches!(variable.kind, VarKind::Int(_)),
                compared: false,
                ordered: false,
                constants: variable.initial.into_iter().collect(),
                divisor: 1,
                inputs: Some(0),
                input_type: None,
                mixed: false,
                cells: both(instances, cells, u64::checked_mul),
            }
        });
        let mut classes = Classes {
            parent: (0..model.variables.len()).collect(),
            facts: facts.collect(),
            model,
        };
        for process in &model.processes {
            let times = match super::interval::jumps_back(&process.body) {
                true => None,
                false => instances(&process.count),
            };
            classes.code(&process.body, times);
        }
        classes
    }

    /// The values of an input that matter, within those of its type.
    pub fn values(&mut self, var: VarId, whole: (i128, i128)) -> Option<(i128, i128)> {
        let root = self.root(var);
        let facts = &self.facts[root];
        if facts.computed || (facts.compared && facts.divisor > 1) {
            return None;
        }
        if facts.divisor > 1 {
            let most = facts.divisor - 1;
            return Some((whole.0.max(-most), whole.1.min(most)));
        }
        let different = match (facts.compared, facts.ordered) {
            (false, _) => Some(1),
            (true, true) => facts.inputs,
            (true, false) => {
                let cells = facts.cells.filter(|_| !facts.mixed);
                let cells = cells.and_then(|cells| cells.checked_add(1));
                match (facts.inputs, cells) {
                    (Some(inputs), Some(cells)) => Some(inputs.min(cells)),
                    (inputs, cells) => inputs.or(cells),
                }
            }
        };
        let different = i128::from(different.filter(|different| *different <= MOST)?);
        let first = facts.constants.first().copied().unwrap_or(0);
        let last = facts.constants.last().copied().unwrap_or(0);
        let (lo, hi) = (first - different, last + different);
        let (lo, hi) = (lo.max(whole.0), hi.min(whole.1));
        (lo <= hi).then_some((lo, hi))
    }

    fn root(&mut self, var: VarId) -> usize {
        let mut at = var.0;
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn of(&mut self, var: VarId) -> &mut Facts {
        let root = self.root(var);
        &mut self.facts[root]
    }

    fn join(&mut self, one: VarId, other: VarId) {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return;
        }
        self.parent[other] = one;
        let moved = self.facts[other].clone();
        let facts = &mut self.facts[one];
        facts.computed |= moved.computed;
        facts.compared |= moved.compared;
        facts.ordered |= moved.ordered;
        facts.constants.extend(moved.constants);
        facts.mixed |= moved.mixed;
        match (facts.input_type, moved.input_type) {
            (Some(one), Some(other)) => facts.mixed |= one != other,
            (one, other) => facts.input_type = one.or(other),
        }
        facts.inputs = both(facts.inputs, moved.inputs, u64::checked_add);
        facts.cells = both(facts.cells, moved.cells, u64::checked_add);
        let (divisor, other) = (facts.divisor, moved.divisor);
        self.divides(VarId(one), other);
        self.divides(VarId(one), divisor);
    }

    /// Notes that remainders of a division by a number are used.
    fn divides(&mut self, var: VarId, number: i128) {
        let facts = self.of(var);
        let (mut a, mut b) = (facts.divisor, number);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let least = facts.divisor / a.max(1) * number;
        match least <= i128::from(MOST) {
            true => facts.divisor = least,
            false => facts.computed = true,
        }
    }

    fn code(&mut self, code: &[Statement], times: Option<u64>) {
        for statement in code {
            self.statement(statement, times);
        }
    }

    fn statement(&mut self, statement: &Statement, times: Option<u64>) {
        match &statement.kind {
            StatementKind::Assign(place, value) => {
                place.indices.iter().for_each(|index| self.used(index));
                match value {
                    Expr::Load(from) => {
                        from.indices.iter().for_each(|index| self.used(index));
                        self.join(place.var, from.var);
                    }
                    Expr::Number(number) => {
                        self.of(place.var).constants.insert(*number);
                    }
                    value => {
                        self.of(place.var).computed = true;
                        self.used(value);
                    }
                }
            }
            StatementKind::Havoc(place) => {
                place.indices.iter().for_each(|index| self.used(index));
                let kind = self.model.variable(place.var).kind;
                let facts = self.of(place.var);
                facts.inputs = both(facts.inputs, times, u64::checked_add);
                if let VarKind::Int(ty) = kind {
                    let ty = ty.plain();
                    facts.mixed |= facts.input_type.is_some_and(|known| known != ty);
                    facts.input_type = Some(ty);
                }
            }
            _ => statement.for_expressions(&mut |expr| self.used(expr)),
        }
        let times = match &statement.kind {
            StatementKind::Loop { head, .. } => {
                let rounds = self.model.rounds.get(head).copied();
                both(times, rounds, u64::checked_mul)
            }
            _ => times,
        };
        for block in statement.kind.blocks() {
            self.code(block, times);
        }
    }

    /// Notes what an expression does with variables.
    fn used(&mut self, expr: &Expr) {
        match expr {
            Expr::Compare(op, left, right) => {
                let ordered = !matches!(op, Compare::Eq | Compare::Ne);
                match (&**left, &**right) {
                    (Expr::Load(one), Expr::Load(other)) => {
                        self.indices(one);
                        self.indices(other);
                        self.join(one.var, other.var);
                        let facts = self.of(one.var);
                        facts.compared = true;
                        facts.ordered |= ordered;
                    }
                    (Expr::Load(place), Expr::Number(number))
                    | (Expr::Number(number), Expr::Load(place)) => {
                        self.indices(place);
                        let facts = self.of(place.var);
                        facts.compared = true;
                        facts.constants.insert(*number);
                    }
                    _ => {
                        self.used(left);
                        self.used(right);
                    }
                }
            }
            Expr::Arith(Arith::Rem, left, right) => match (&**left, &**right) {
                (Expr::Load(place), Expr::Number(number)) if *number > 0 => {
                    self.indices(place);
                    self.divides(place.var, *number);
                }
                _ => {
                    self.used(left);
                    self.used(right);
                }
            },
            Expr::Bits(Bits::And, _, left, right) => match (&**left, &**right) {
                (Expr::Load(place), Expr::Number(mask))
                | (Expr::Number(mask), Expr::Load(place))
                    if (0..i128::from(MOST)).contains(mask) =>
                {
                    self.indices(place);
                    let size = (*mask as u64 + 1).next_power_of_two();
                    self.divides(place.var, i128::from(size));
                }
                _ => {
                    self.used(left);
                    self.used(right);
                }
            },
            Expr::Load(place) => {
                self.indices(place);
                self.of(place.var).computed = true;
            }
            other => other.for_parts(&mut |part| self.used(part)),
        }
    }

    fn indices(&mut self, place: &Place) {
        place.indices.iter().for_each(|index| self.used(index));
    }
}

fn both(one: Option<u64>, other: Option<u64>, f: fn(u64, u64) -> Option<u64>) -> Option<u64> {
    f(one?, other?)
}

/// How many processes there are of a template.
fn instances(count: &Count) -> Option<u64> {
    match count {
        Count::One => Some(1),
        Count::Fixed(count) => Some(u64::from(*count)),
        Count::Started | Count::Parameter(_) => None,
    }
}
