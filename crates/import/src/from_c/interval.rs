//! Which values expressions can have: intervals, by abstract interpretation.
//!
//! A process's own variables are followed through its code, with what conditions say about them. A shared variable has one interval for the whole run, but in one step it
//! is followed, too. What grows is widened to a constant of the program, and then to no bound, so the analysis ends.
//! With the intervals, conversions and checks that change nothing are taken out, and variables get ranges.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::forward::Forward;
use super::ir::{
    Arith, Bits, Compare, Count, Expr, LabelId, Model, Place, Statement, StatementKind, VarId,
    VarKind, for_statements,
};
use super::types::IntType;

/// Beyond this, a bound is none.
const FAR: i128 = 1 << 100;
/// After so many changes, bounds move to constants of the program; and after so many, to none.
const PATIENCE: u32 = 3;
const MOST_CHANGES: u32 = 9;
/// How often the whole program is gone through at most.
const MOST_ROUNDS: usize = 200;

/// The values from one number to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub lo: i128,
    pub hi: i128,
}

impl Interval {
    pub const ALL: Interval = Interval { lo: -FAR, hi: FAR };

    fn of(lo: i128, hi: i128) -> Self {
        Interval {
            lo: lo.max(-FAR),
            hi: hi.min(FAR),
        }
    }

    pub fn of_type(ty: IntType) -> Self {
        Interval::of(ty.least(), ty.greatest())
    }

    fn join(self, other: Self) -> Self {
        Interval {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    fn meet(self, other: Self) -> Option<Self> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    fn within(self, other: Self) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }

    pub fn fits(self, ty: IntType) -> bool {
        self.within(Interval::of_type(ty))
    }
}

/// What is known about variables at a place.
type Known = BTreeMap<VarId, Interval>;

pub(crate) struct Analysis<'m> {
    model: &'m Model,
    /// One interval for the whole run: of shared variables and arrays all values, of others those that are stored.
    stored: Vec<Option<Interval>>,
    changes: Vec<u32>,
    at: HashMap<LabelId, (Known, u32)>,
    thresholds: Vec<i128>,
    type_bounds: Vec<i128>,
    changed: bool,
    in_step: bool,
    /// Where the loops that are being gone through are left.
    exits: Vec<Option<Known>>,
    /// Variables that are written a known number of times at most, all together `writes` times: they are not widened.
    counted: Vec<bool>,
    writes: u64,
    /// What was written to them since.
    next: Vec<Option<Interval>>,
    /// Whether loops are entered whenever control comes to them.
    entered: HashMap<LabelId, bool>,
    process: usize,
    /// Where there is any number of threads: unsigned values that only grow are left to grow.
    grows: bool,
    /// The values of expressions, by their addresses, once everything else is known.
    recorded: Option<HashMap<usize, Interval>>,
}

impl<'m> Analysis<'m> {
    pub fn new(model: &'m Model) -> Self {
        let mut thresholds = BTreeSet::from([-FAR, FAR, -1, 0, 1]);
        for bits in [7, 8, 15, 16, 31, 32, 63, 64] {
            thresholds.extend([-(1i128 << bits), (1i128 << bits) - 1]);
        }
        let type_bounds = thresholds.iter().copied().collect();
        for process in &model.processes {
            for_statements(&process.body, &mut |statement| {
                statement.for_expressions(&mut |expr| constants(expr, &mut thresholds));
            });
        }
        let stored = model.variables.iter().map(|variable| match variable.kind {
            VarKind::Truth => Some(Interval::of(0, 1)),
            VarKind::Mutex => None,
            VarKind::Int(ty) => Some(match (variable.initial, variable.parameter) {
                (Some(initial), None) => Interval::of(initial, initial),
                (None, None) if !model.parameters.is_empty() => Interval::ALL,
                (None, None) => Interval::of_type(ty),
                (_, Some(_)) => Interval::ALL,
            }),
        });
        let (counted, writes) = counted(model);
        Analysis {
            next: vec![None; counted.len()],
            counted,
            writes,
            entered: HashMap::new(),
            process: 0,
            grows: model.is_unbounded(),
            stored: stored.collect(),
            changes: vec![0; model.variables.len()],
            at: HashMap::new(),
            thresholds: thresholds.into_iter().collect(),
            type_bounds,
            changed: false,
            in_step: false,
            exits: Vec::new(),
            recorded: None,
            model,
        }
    }

    /// Finds the intervals. `false`: it did not come to an end, and nothing may be concluded.
    ///
    /// A variable that is written at most n times has a value that at most n writes led to, so n rounds are enough for it, whether or not they come to an end.
    pub fn run(&mut self) -> bool {
        for written in 0..=self.writes {
            if !self.settle() {
                return false;
            }
            if written == self.writes {
                break;
            }
            let mut progress = false;
            for var in 0..self.stored.len() {
                if let (Some(old), Some(new)) = (self.stored[var], self.next[var].take())
                    && !new.within(old)
                {
                    self.stored[var] = Some(old.join(new));
                    progress = true;
                }
            }
            if !progress {
                break;
            }
        }
        true
    }

    /// Goes through the program until nothing changes.
    fn settle(&mut self) -> bool {
        for _ in 0..MOST_ROUNDS {
            self.changed = false;
            for process in 0..self.model.processes.len() {
                let model = self.model;
                self.process = process;
                self.code(&model.processes[process].body, Some(Known::new()));
            }
            if !self.changed {
                return true;
            }
        }
        false
    }

    /// Finds the intervals, and the values of expressions. `None`: it did not come to an end, and nothing may be concluded.
    ///
    /// A variable that any number of threads add to would wrap around if only there were enough of them, and is left to grow instead. But what wraps around below 0 is large at once, so
    /// where that can happen everything unsigned wraps around.
    pub fn found(model: &'m Model) -> Option<(Self, HashMap<usize, Interval>)> {
        let mut analysis = Analysis::new(model);
        if !analysis.run() {
            return None;
        }
        let recorded = analysis.record();
        if !analysis.grows || !goes_below(model, &recorded) {
            return Some((analysis, recorded));
        }
        let mut analysis = Analysis::new(model);
        analysis.grows = false;
        analysis.run().then(|| {
            let recorded = analysis.record();
            (analysis, recorded)
        })
    }

    /// Whether unsigned values are left to grow.
    pub fn grows(&self) -> bool {
        self.grows
    }

    /// The loops whose first round always happens.
    pub fn entered(&self) -> HashSet<LabelId> {
        let always = self.entered.iter().filter(|(_, always)| **always);
        always.map(|(head, _)| *head).collect()
    }

    /// The values that each expression of the program can have, by its address. Expressions that nothing leads to have none.
    pub fn record(&mut self) -> HashMap<usize, Interval> {
        self.recorded = Some(HashMap::new());
        for process in 0..self.model.processes.len() {
            let model = self.model;
            self.process = process;
            self.code(&model.processes[process].body, Some(Known::new()));
        }
        self.recorded.take().unwrap_or_default()
    }

    fn note_all(&mut self, statement: &Statement, known: &Known) {
        let Some(mut recorded) = self.recorded.take() else {
            return;
        };
        statement.for_expressions(&mut |expr| self.note_into(expr, known, &mut recorded));
        self.recorded = Some(recorded);
    }

    fn note_into(&self, expr: &Expr, known: &Known, recorded: &mut HashMap<usize, Interval>) {
        let value = self.value(expr, known);
        recorded
            .entry(address(expr))
            .and_modify(|old| *old = old.join(value))
            .or_insert(value);
        match expr {
            // The right side is evaluated only where the left does not decide.
            Expr::And(left, right) | Expr::Or(left, right) => {
                self.note_into(left, known, recorded);
                let and = matches!(expr, Expr::And(..));
                if let Some(known) = self.refined(known.clone(), left, and) {
                    self.note_into(right, &known, recorded);
                }
            }
            _ => expr.for_parts(&mut |part| self.note_into(part, known, recorded)),
        }
    }

    /// The values that a variable takes.
    pub fn values(&self, var: VarId) -> Interval {
        self.stored[var.0].unwrap_or(Interval::ALL)
    }

    fn widened(&self, old: Interval, new: Interval, changes: u32) -> Interval {
        let joined = old.join(new);
        if changes < PATIENCE {
            return joined;
        }
        let far = changes >= 2 * MOST_CHANGES;
        // First to constants of the program, then to bounds of types, then to none.
        let bounds = match changes >= MOST_CHANGES {
            true => &self.type_bounds,
            false => &self.thresholds,
        };
        let lo = match joined.lo < old.lo {
            true if far => -FAR,
            true => {
                let below = bounds.partition_point(|bound| *bound <= joined.lo);
                bounds.get(below.wrapping_sub(1)).copied().unwrap_or(-FAR)
            }
            false => old.lo,
        };
        let hi = match joined.hi > old.hi {
            true if far => FAR,
            true => {
                let above = bounds.partition_point(|bound| *bound < joined.hi);
                bounds.get(above).copied().unwrap_or(FAR)
            }
            false => old.hi,
        };
        Interval { lo, hi }
    }

    /// Notes that a variable gets a value.
    fn store(&mut self, place: &Place, value: Interval, known: &mut Known) {
        let var = place.var;
        let Some(old) = self.stored[var.0] else {
            return;
        };
        if self.counted[var.0] {
            let next = self.next[var.0].unwrap_or(old);
            self.next[var.0] = Some(next.join(value));
        } else if !value.within(old) {
            // What a process alone has is widened where control comes together.
            let own = place.indices.is_empty() && !self.model.is_shared(var);
            let changes = self.changes[var.0] / if own { 10 } else { 1 };
            self.stored[var.0] = Some(self.widened(old, value, changes));
            self.changes[var.0] += 1;
            self.changed = true;
        }
        if place.indices.is_empty() && (self.in_step || !self.model.is_shared(var)) {
            known.insert(var, value);
        } else {
            known.remove(&var);
        }
    }

    /// Uses `left op right` for a variable on the left.
    fn bounded(&self, mut known: Known, op: Compare, left: &Expr, right: &Expr) -> Option<Known> {
        let left = match left {
            Expr::Checked(_, inner) => inner,
            other => other,
        };
        let Expr::Load(place) = left else {
            return Some(known);
        };
        let follows = self.in_step || !self.model.is_shared(place.var);
        if !place.indices.is_empty() || !follows {
            return Some(known);
        }
        let (own, other) = (self.value(left, &known), self.value(right, &known));
        let limit = match op {
            Compare::Eq => other,
            Compare::Lt => Interval::of(-FAR, other.hi - 1),
            Compare::Le => Interval::of(-FAR, other.hi),
            Compare::Gt => Interval::of(other.lo + 1, FAR),
            Compare::Ge => Interval::of(other.lo, FAR),
            Compare::Ne if other.lo == other.hi => {
                let lo = own.lo + i128::from(own.lo == other.lo);
                let hi = own.hi - i128::from(own.hi == other.hi);
                Interval::of(lo, hi)
            }
            Compare::Ne => Interval::ALL,
        };
        known.insert(place.var, own.meet(limit)?);
        Some(known)
    }

    /// The values that an expression can have.
    pub fn value(&self, expr: &Expr, known: &Known) -> Interval {
        match expr {
            Expr::Number(number) => Interval::of(*number, *number),
            Expr::Truth(_)
            | Expr::Not(_)
            | Expr::Compare(..)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Locked(_) => Interval::of(0, 1),
            Expr::Load(place) => match known.get(&place.var) {
                Some(interval) if place.indices.is_empty() => *interval,
                _ => self.values(place.var),
            },
            Expr::Wrapping(_, inner) if self.model.is_unbounded() => self.value(inner, known),
            Expr::Wrapping(ty, inner) | Expr::Fit(ty, inner) => {
                let inner = self.value(inner, known);
                match inner.fits(*ty) || left_to_grow(self.grows, *ty, inner) {
                    true => inner,
                    false => Interval::of_type(*ty),
                }
            }
            Expr::Checked(ty, inner) => {
                let inner = self.value(inner, known);
                match self.model.is_unbounded() {
                    true => inner,
                    false => inner
                        .meet(Interval::of_type(*ty))
                        .unwrap_or(Interval::of_type(*ty)),
                }
            }
            Expr::Arith(op, left, right) => {
                let (left, right) = (self.value(left, known), self.value(right, known));
                arith(*op, left, right)
            }
            Expr::Bits(op, ty, left, right) => {
                let (left, right) = (self.value(left, known), self.value(right, known));
                bits(*op, *ty, left, right)
            }
            Expr::Own => match self.model.processes[self.process].count {
                Count::Fixed(count) => Interval::of(1, i128::from(count)),
                _ => Interval::of(1, 1 << 31),
            },
            Expr::Parameter(_) => Interval::ALL,
        }
    }
}

impl Forward for Analysis<'_> {
    type Fact = Known;

    fn at(&self, label: LabelId) -> Option<Known> {
        self.at.get(&label).map(|(known, _)| known.clone())
    }

    fn arrive(&mut self, label: LabelId, known: &Known) {
        let own: Known = known
            .iter()
            .filter(|(var, _)| !self.model.is_shared(**var))
            .map(|(var, interval)| (*var, *interval))
            .collect();
        let Some((old, changes)) = self.at.get(&label).cloned() else {
            self.at.insert(label, (own, 0));
            self.changed = true;
            return;
        };
        let mut joined = Known::new();
        for (var, old) in &old {
            // What only one side knows is not known.
            if let Some(new) = own.get(var) {
                let wide = self.widened(*old, *new, changes);
                joined.insert(*var, wide);
            }
        }
        if joined != old {
            self.changed = true;
            self.at.insert(label, (joined, changes + 1));
        }
    }

    fn both(one: Known, other: Known) -> Known {
        let mut joined = Known::new();
        for (var, a) in one {
            if let Some(b) = other.get(&var) {
                joined.insert(var, a.join(*b));
            }
        }
        joined
    }

    fn exits(&mut self) -> &mut Vec<Option<Known>> {
        &mut self.exits
    }

    fn visit(&mut self, statement: &Statement, known: &Known) {
        if self.recorded.is_none() {
            return;
        }
        if let StatementKind::Loop {
            head, condition, ..
        } = &statement.kind
        {
            let skipped = match condition {
                Some(condition) => self.refined(known.clone(), condition, false).is_some(),
                None => false,
            };
            let always = self.entered.entry(*head).or_insert(true);
            *always &= !skipped;
            return;
        }
        self.note_all(statement, known);
    }

    fn round(&mut self, statement: &Statement, known: &Known) {
        self.note_all(statement, known);
    }

    fn after(&mut self, statement: &Statement, mut known: Known) -> Option<Known> {
        let (place, interval) = match &statement.kind {
            StatementKind::Assign(place, value) => (place, self.value(value, &known)),
            StatementKind::Havoc(place) => {
                let variable = self.model.variable(place.var);
                let interval = match variable.kind {
                    VarKind::Int(_) if variable.choices.is_some() => {
                        let (lo, hi) = variable.choices.unwrap_or_default();
                        Interval::of(lo, hi)
                    }
                    VarKind::Int(_) if !self.model.parameters.is_empty() => Interval::ALL,
                    VarKind::Int(ty) => Interval::of_type(ty),
                    _ => Interval::of(0, 1),
                };
                (place, interval)
            }
            StatementKind::Assert(condition, _) | StatementKind::Await(condition) => {
                return self.refined(known, condition, true);
            }
            _ => return Some(known),
        };
        self.store(place, interval, &mut known);
        Some(known)
    }

    fn atomic(&mut self, inner: &[Statement], known: Known) -> Option<Known> {
        let outer = std::mem::replace(&mut self.in_step, true);
        let after = self.code(inner, Some(known));
        self.in_step = outer;
        // Others write shared variables between steps.
        after.map(|mut known| {
            if !outer {
                known.retain(|var, _| !self.model.is_shared(*var));
            }
            known
        })
    }

    fn refined(&self, known: Known, condition: &Expr, holds: bool) -> Option<Known> {
        match (condition, holds) {
            (Expr::Truth(truth), holds) => (*truth == holds).then_some(known),
            (Expr::Not(inner), holds) => self.refined(known, inner, !holds),
            (Expr::And(left, right), true) | (Expr::Or(left, right), false) => {
                let known = self.refined(known, left, holds)?;
                self.refined(known, right, holds)
            }
            (Expr::And(left, right), false) | (Expr::Or(left, right), true) => {
                let one = self.refined(known.clone(), left, holds);
                let rest = self.refined(known, left, !holds);
                let other = rest.and_then(|rest| self.refined(rest, right, holds));
                Self::joined(one, other)
            }
            (Expr::Compare(op, left, right), holds) => {
                let op = match holds {
                    true => *op,
                    false => op.negated(),
                };
                let known = self.bounded(known, op, left, right)?;
                self.bounded(known, op.mirrored(), right, left)
            }
            _ => Some(known),
        }
    }
}

/// Whether a value is not brought back into its type.
pub(crate) fn left_to_grow(grows: bool, ty: IntType, value: Interval) -> bool {
    grows && !ty.signed && ty.bits < 64 && value.lo >= 0
}

/// Whether some value that is brought into an unsigned type may be negative.
fn goes_below(model: &Model, recorded: &HashMap<usize, Interval>) -> bool {
    fn below(expr: &Expr, recorded: &HashMap<usize, Interval>) -> bool {
        let mut found = match expr {
            Expr::Fit(ty, inner) if !ty.signed && ty.bits < 64 => recorded
                .get(&address(inner))
                .is_some_and(|value| value.lo < 0),
            _ => false,
        };
        expr.for_parts(&mut |part| found |= below(part, recorded));
        found
    }
    let mut found = false;
    for process in &model.processes {
        for_statements(&process.body, &mut |statement| {
            statement.for_expressions(&mut |expr| found |= below(expr, recorded));
        });
    }
    found
}

/// How many writes in all may be counted one by one.
const MOST_WRITES: u64 = 100;

/// The shared variables that are written a known number of times, and how often that is in all.
fn counted(model: &Model) -> (Vec<bool>, u64) {
    let mut writes: Vec<Option<u64>> = vec![Some(0); model.variables.len()];
    for process in &model.processes {
        let times = match process.count {
            _ if jumps_back(&process.body) => None,
            Count::One => Some(1),
            Count::Fixed(count) => Some(u64::from(count)),
            Count::Started | Count::Parameter(_) => None,
        };
        count_writes(&process.body, times, model, &mut writes);
    }
    let mut total = 0;
    let mut counted = Vec::new();
    for (id, times) in writes.iter().enumerate() {
        let variable = &model.variables[id];
        let shared = variable.owner.is_none() && matches!(variable.kind, VarKind::Int(_));
        counted.push(shared && times.is_some());
        if let (true, Some(times)) = (shared, times) {
            total = times.saturating_add(total);
        }
    }
    match total <= MOST_WRITES {
        true => (counted, total),
        false => (vec![false; model.variables.len()], 0),
    }
}

fn count_writes(code: &[Statement], times: Option<u64>, model: &Model, writes: &mut [Option<u64>]) {
    for statement in code {
        if let Some(var) = statement.written() {
            writes[var.0] = match (writes[var.0], times) {
                (Some(before), Some(times)) => before.checked_add(times),
                _ => None,
            };
        }
        let times = match &statement.kind {
            StatementKind::Loop { head, .. } => {
                let rounds = times.zip(model.rounds.get(head));
                rounds.and_then(|(times, rounds)| times.checked_mul(*rounds))
            }
            _ => times,
        };
        for block in statement.kind.blocks() {
            count_writes(block, times, model, writes);
        }
    }
}

/// Whether a jump leads back, other than to the next round of a loop that it is in.
pub(crate) fn jumps_back(code: &[Statement]) -> bool {
    let mut seen = HashSet::new();
    let mut back = false;
    for_statements(code, &mut |statement| match &statement.kind {
        StatementKind::Label(label) => {
            seen.insert(*label);
        }
        StatementKind::Goto(label) => back |= seen.contains(label),
        _ => {}
    });
    back
}

/// What tells one expression of a program from another.
pub(crate) fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr) as usize
}

fn constants(expr: &Expr, found: &mut BTreeSet<i128>) {
    if let Expr::Number(number) = expr
        && found.len() < 500
    {
        found.extend([*number - 1, *number, *number + 1]);
    }
    expr.for_parts(&mut |part| constants(part, found));
}

fn arith(op: Arith, left: Interval, right: Interval) -> Interval {
    let far = |value: i128| value.abs() >= FAR;
    let unbounded = far(left.lo) || far(left.hi) || far(right.lo) || far(right.hi);
    match op {
        Arith::Add => Interval::of(
            if far(left.lo) || far(right.lo) {
                -FAR
            } else {
                left.lo + right.lo
            },
            if far(left.hi) || far(right.hi) {
                FAR
            } else {
                left.hi + right.hi
            },
        ),
        Arith::Sub => Interval::of(
            if far(left.lo) || far(right.hi) {
                -FAR
            } else {
                left.lo - right.hi
            },
            if far(left.hi) || far(right.lo) {
                FAR
            } else {
                left.hi - right.lo
            },
        ),
        Arith::Min => Interval::of(left.lo.min(right.lo), left.hi.min(right.hi)),
        Arith::Max => Interval::of(left.lo.max(right.lo), left.hi.max(right.hi)),
        Arith::Mul => {
            let corners = [
                left.lo.checked_mul(right.lo),
                left.lo.checked_mul(right.hi),
                left.hi.checked_mul(right.lo),
                left.hi.checked_mul(right.hi),
            ];
            match (unbounded, corners) {
                (false, [Some(a), Some(b), Some(c), Some(d)]) => {
                    Interval::of(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
                }
                _ => Interval::ALL,
            }
        }
        Arith::Div => {
            if unbounded {
                return Interval::ALL;
            }
            let most = left.lo.abs().max(left.hi.abs());
            if left.lo >= 0 && right.lo >= 1 {
                return Interval::of(left.lo / right.hi, left.hi / right.lo);
            }
            Interval::of(-most, most)
        }
        Arith::Rem => {
            let most = match far(right.lo) || far(right.hi) {
                true => FAR,
                false => (right.lo.abs().max(right.hi.abs()) - 1).max(0),
            };
            let lo = if left.lo >= 0 {
                0
            } else {
                (-most).max(left.lo)
            };
            let hi = if left.hi <= 0 { 0 } else { most.min(left.hi) };
            Interval::of(lo, hi)
        }
    }
}

fn bits(op: Bits, ty: IntType, left: Interval, right: Interval) -> Interval {
    let natural = left.lo >= 0 && right.lo >= 0 && left.hi < FAR && right.hi < FAR;
    let power = |value: i128| {
        let mut power = 1i128;
        while power <= value {
            power *= 2;
        }
        power - 1
    };
    match op {
        Bits::And if natural => Interval::of(0, left.hi.min(right.hi)),
        Bits::And if right.lo >= 0 && right.hi < FAR => Interval::of(0, right.hi),
        Bits::And if left.lo >= 0 && left.hi < FAR => Interval::of(0, left.hi),
        Bits::Or | Bits::Xor if natural => Interval::of(0, power(left.hi.max(right.hi))),
        Bits::Shift if left.lo >= 0 && left.hi < FAR => {
            let by = right.lo.clamp(0, 100);
            Interval::of(left.lo >> right.hi.clamp(0, 100), left.hi >> by)
        }
        Bits::Shift if left.lo > -FAR && left.hi < FAR => Interval::of(left.lo, left.hi.max(0)),
        _ => Interval::of_type(ty),
    }
}
