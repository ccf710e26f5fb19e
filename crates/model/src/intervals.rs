//! Interval analysis: for each variable an interval that holds all values its cells ever take.
//!
//! Flow-insensitive: one interval for all cells of a variable, in all reachable states. It begins with the initial
//! values and grows by what the steps write, within the variable's type; where it keeps growing it is widened to
//! the type at once, and `int` to 64 bits on that side (beyond them a step has no known outcome).
//! Along a step the clauses refine what is known: after the guard `x < 3` the cell `x` is at most 2 in
//! this step. Facts are about expressions, compared as written: all of them are evaluated in
//! the state before the step, so equal expressions have equal values.
//!
//! The result over-approximates: an interval never misses a value, and a check is only called safe if it
//! holds in every state of the intervals that satisfies the clauses before it. Relations
//! between variables are lost.

use index_vec::IndexVec;
use threadwise_lang::program::{ArithOp, CompareOp, FoldKind, TemplateId};

use crate::system::{CellInitial, Clause, Expr, Scope, Step, System, VarId};

/// The least and the greatest result of a computation, which may lie beyond 64 bits.
type Wide = (i128, i128);

/// The integers from `lo` to `hi`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub lo: i64,
    /// The greatest.
    pub hi: i64,
}

impl Interval {
    /// All of 64 bits.
    pub const ALL: Interval = Interval {
        lo: i64::MIN,
        hi: i64::MAX,
    };
    const BOTH: Interval = Interval { lo: 0, hi: 1 };
    const FALSE: Interval = Interval { lo: 0, hi: 0 };
    const TRUE: Interval = Interval { lo: 1, hi: 1 };

    fn new(lo: i64, hi: i64) -> Interval {
        Interval { lo, hi }
    }

    /// From a wider computation: what lies in 64 bits.
    fn within_64_bits(wide: Wide) -> Interval {
        let clamp = |value: i128| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        Interval::new(clamp(wide.0), clamp(wide.1))
    }

    /// Whether there is no value in it.
    pub fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// The values in both.
    pub fn meet(self, other: Interval) -> Interval {
        Interval::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// The least interval around both.
    pub fn join(self, other: Interval) -> Interval {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Interval::new(self.lo.min(other.lo), self.hi.max(other.hi)),
        }
    }

    fn truth(known: Option<bool>) -> Interval {
        match known {
            Some(true) => Interval::TRUE,
            Some(false) => Interval::FALSE,
            None => Interval::BOTH,
        }
    }

    /// A truth value, if it is known.
    fn known(self) -> Option<bool> {
        match self {
            Interval::TRUE => Some(true),
            Interval::FALSE => Some(false),
            _ => None,
        }
    }
}

/// The intervals of a system's variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// One for each variable; empty if it has no cells.
    pub vars: IndexVec<VarId, Interval>,
}

/// After so many rounds, what still grows is widened to its type.
const PATIENCE: usize = 3;
/// How many facts a step may collect: more are not used.
const MAX_FACTS: usize = 200;

impl Bounds {
    /// Computes the intervals of a system.
    pub fn of(system: &System) -> Bounds {
        let types: IndexVec<VarId, Interval> = system
            .vars
            .iter()
            .map(|var| match system.values(var.domain) {
                Some((lo, hi)) => Interval::new(lo, hi),
                None => Interval::ALL,
            })
            .collect();
        let mut bounds = Bounds {
            vars: types.clone(),
        };
        bounds.vars = system
            .vars
            .iter_enumerated()
            .map(|(id, var)| match (&var.initial, var.scope) {
                (CellInitial::Any, _) => types[id],
                (CellInitial::Value(value), Scope::Shared) => {
                    Facts::new(system, &bounds, None, &[]).interval(value)
                }
                (CellInitial::Value(value), Scope::Local(template)) => {
                    Facts::new(system, &bounds, Some(template), &[]).interval(value)
                }
            })
            .collect();
        // Program counters are written by every step; their intervals say nothing, so they are the type.
        for template in &system.templates {
            bounds.vars[template.pc] = types[template.pc];
        }
        for round in 0.. {
            let mut next = bounds.clone();
            for (id, template) in system.templates.iter_enumerated() {
                for step in template.steps.iter().flatten() {
                    bounds.write(system, id, step, &mut next);
                }
            }
            for (var, interval) in next.vars.iter_mut_enumerated() {
                *interval = interval.meet(types[var]);
                if round >= PATIENCE {
                    let before = bounds.vars[var];
                    if interval.lo < before.lo {
                        interval.lo = types[var].lo;
                    }
                    if interval.hi > before.hi {
                        interval.hi = types[var].hi;
                    }
                }
            }
            if next == bounds {
                break;
            }
            bounds = next;
        }
        bounds
    }

    /// Adds what a step writes.
    fn write(&self, system: &System, template: TemplateId, step: &Step, into: &mut Bounds) {
        let mut facts = Facts::new(system, self, Some(template), &step.choices);
        for clause in &step.clauses {
            match clause {
                Clause::Guard(condition) => facts.assume(condition, true),
                Clause::Check(check) => facts.assume(&check.holds, true),
            }
        }
        if facts.impossible {
            return;
        }
        for update in &step.updates {
            let var = &mut into.vars[update.cell.var];
            *var = var.join(facts.interval(&update.value));
        }
    }

    /// The positions of the checks of a step that hold whenever they are reached.
    pub fn safe_checks(&self, system: &System, template: TemplateId, step: &Step) -> Vec<usize> {
        let mut facts = Facts::new(system, self, Some(template), &step.choices);
        let mut safe = Vec::new();
        for (position, clause) in step.clauses.iter().enumerate() {
            match clause {
                Clause::Guard(condition) => facts.assume(condition, true),
                Clause::Check(check) => {
                    // A check that may leave 64 bits is kept: there it neither holds nor fails.
                    facts.overflows = false;
                    let holds = facts.interval(&check.holds) == Interval::TRUE;
                    if facts.impossible || (holds && !facts.overflows) {
                        safe.push(position);
                    }
                    facts.assume(&check.holds, true);
                }
            }
        }
        safe
    }
}

/// What is known where an expression is evaluated.
struct Facts<'a> {
    system: &'a System,
    bounds: &'a Bounds,
    own: Option<TemplateId>,
    choices: &'a [(i64, i64)],
    /// Ranges of the bound variables around.
    folds: Vec<(u32, Interval)>,
    /// Expressions whose interval is known more closely, the newest last.
    known: Vec<(Expr, Interval)>,
    /// The facts contradict each other: this is never reached.
    impossible: bool,
    /// Set where a computation may leave 64 bits.
    overflows: bool,
}

impl<'a> Facts<'a> {
    fn new(
        system: &'a System,
        bounds: &'a Bounds,
        own: Option<TemplateId>,
        choices: &'a [(i64, i64)],
    ) -> Self {
        Facts {
            system,
            bounds,
            own,
            choices,
            folds: Vec::new(),
            known: Vec::new(),
            impossible: false,
            overflows: false,
        }
    }

    /// What a computation gives, if it stays within 64 bits.
    fn narrow(&mut self, wide: Wide) -> Interval {
        self.overflows |= wide.0 < i128::from(i64::MIN) || wide.1 > i128::from(i64::MAX);
        Interval::within_64_bits(wide)
    }

    /// Evaluates under a further assumption, which is taken back afterwards.
    fn under<T>(
        &mut self,
        condition: &Expr,
        truth: bool,
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (known, impossible) = (self.known.len(), self.impossible);
        self.assume(condition, truth);
        let result = evaluate(self);
        self.known.truncate(known);
        self.impossible = impossible;
        result
    }

    /// An interval that holds the value of the expression.
    fn interval(&mut self, expr: &Expr) -> Interval {
        let computed = self.compute(expr);
        // Only what `restrict` records can be found.
        if matches!(
            expr,
            Expr::Load(_)
                | Expr::Choice(_)
                | Expr::Own
                | Expr::Bound(_)
                | Expr::Compare(..)
                | Expr::Fold { .. }
        ) && let Some((_, fact)) = self.known.iter().rev().find(|(other, _)| other == expr)
        {
            return computed.meet(*fact);
        }
        computed
    }

    fn compute(&mut self, expr: &Expr) -> Interval {
        match expr {
            Expr::Const(value) => Interval::new(*value, *value),
            Expr::Own => match self.own {
                Some(template) => {
                    Interval::new(0, i64::from(self.system.templates[template].count) - 1)
                }
                None => Interval::ALL,
            },
            Expr::OwnProcess => match self.own {
                Some(template) => {
                    let template = &self.system.templates[template];
                    let first = i64::from(template.first.raw());
                    Interval::new(first, first + i64::from(template.count) - 1)
                }
                None => Interval::ALL,
            },
            Expr::Bound(bound) => self
                .folds
                .iter()
                .rev()
                .find(|(other, _)| other == bound)
                .map_or(Interval::ALL, |(_, interval)| *interval),
            Expr::Choice(choice) => self
                .choices
                .get(*choice as usize)
                .map_or(Interval::ALL, |(lo, hi)| Interval::new(*lo, *hi)),
            Expr::Load(place) => self.bounds.vars[place.var],
            Expr::Not(e) => Interval::truth(self.interval(e).known().map(|known| !known)),
            Expr::Neg(e) => {
                let Interval { lo, hi } = self.interval(e);
                self.narrow((-i128::from(hi), -i128::from(lo)))
            }
            Expr::And(parts) => self.connective(parts, true),
            Expr::Or(parts) => self.connective(parts, false),
            Expr::Compare(op, a, b) => {
                let (x, y) = (self.interval(a), self.interval(b));
                let same = a == b;
                Interval::truth(compare(*op, x, y, same))
            }
            Expr::Arith(op, a, b) => {
                let (x, y) = (self.interval(a), self.interval(b));
                self.narrow(arith(*op, x, y))
            }
            Expr::Ite(condition, yes, no) => match self.interval(condition).known() {
                Some(true) => self.interval(yes),
                Some(false) => self.interval(no),
                None => {
                    let yes = self.under(condition, true, |facts| facts.interval(yes));
                    let no = self.under(condition, false, |facts| facts.interval(no));
                    yes.join(no)
                }
            },
            Expr::Fold {
                kind,
                bound,
                lo,
                hi,
                body,
            } => {
                if lo > hi {
                    return match kind {
                        FoldKind::Forall => Interval::TRUE,
                        FoldKind::Min | FoldKind::Max => Interval::ALL,
                        _ => Interval::FALSE,
                    };
                }
                self.folds.push((*bound, Interval::new(*lo, *hi)));
                let item = self.interval(body);
                self.folds.pop();
                let count = i128::from(*hi) - i128::from(*lo) + 1;
                match kind {
                    FoldKind::Forall | FoldKind::Exists => Interval::truth(item.known()),
                    FoldKind::Count | FoldKind::Sum => self.narrow((
                        i128::from(item.lo).saturating_mul(count),
                        i128::from(item.hi).saturating_mul(count),
                    )),
                    FoldKind::Min | FoldKind::Max => item,
                }
            }
        }
    }

    /// `And` (`conjunction`) or `Or`: each part is evaluated where those before it did not decide.
    fn connective(&mut self, parts: &[Expr], conjunction: bool) -> Interval {
        let (known, impossible) = (self.known.len(), self.impossible);
        let mut all = true;
        let mut decided = false;
        for part in parts {
            match self.interval(part).known() {
                Some(truth) if truth != conjunction => {
                    decided = true;
                    break;
                }
                Some(_) => {}
                None => all = false,
            }
            self.assume(part, conjunction);
            if self.impossible {
                // The parts so far cannot all leave it open: one of them decides.
                decided = !impossible;
                break;
            }
        }
        self.known.truncate(known);
        self.impossible = impossible;
        Interval::truth(if decided {
            Some(!conjunction)
        } else {
            all.then_some(conjunction)
        })
    }

    /// Adds the assumption that a condition has this truth value.
    fn assume(&mut self, condition: &Expr, truth: bool) {
        match (condition, truth) {
            (Expr::Const(value), _) => self.impossible |= (*value != 0) != truth,
            (Expr::Not(e), _) => self.assume(e, !truth),
            (Expr::And(parts), true) | (Expr::Or(parts), false) => {
                for part in parts {
                    self.assume(part, truth);
                }
            }
            // One of the parts, unless all others are excluded.
            (Expr::And(parts), false) | (Expr::Or(parts), true) => {
                let mut open = Vec::new();
                for part in parts {
                    if self.interval(part).known() != Some(!truth) {
                        open.push(part);
                    }
                }
                match open.as_slice() {
                    [] => self.impossible = true,
                    [only] => self.assume(only, truth),
                    _ => {}
                }
            }
            (Expr::Compare(op, a, b), _) => {
                self.restrict(condition, Interval::truth(Some(truth)));
                let op = if truth { *op } else { op.negated() };
                let (x, y) = (self.interval(a), self.interval(b));
                self.restrict(a, limited(op, x, y));
                self.restrict(b, limited(op.mirrored(), y, x));
            }
            _ => self.restrict(condition, Interval::truth(Some(truth))),
        }
    }

    /// Records that an expression lies in an interval.
    fn restrict(&mut self, expr: &Expr, to: Interval) {
        let before = self.interval(expr);
        let now = before.meet(to);
        if now.is_empty() {
            self.impossible = true;
            return;
        }
        if now == before {
            return;
        }
        match expr {
            Expr::Arith(op @ (ArithOp::Add | ArithOp::Sub), a, b) => {
                // The sum is formed without overflow, or there is no step at all.
                let (x, y) = (self.interval(a), self.interval(b));
                if *op == ArithOp::Add {
                    self.restrict(a, arith_exact(now, y, false));
                    self.restrict(b, arith_exact(now, x, false));
                } else {
                    self.restrict(a, arith_exact(now, y, true));
                    self.restrict(b, arith_exact(x, now, false));
                }
            }
            Expr::Load(_)
            | Expr::Choice(_)
            | Expr::Own
            | Expr::Bound(_)
            | Expr::Compare(..)
            | Expr::Fold { .. }
                if self.known.len() < MAX_FACTS =>
            {
                self.known.push((expr.clone(), now));
            }
            _ => {}
        }
    }
}

/// All sums (`plus`) or differences of values of the two.
fn arith_exact(x: Interval, y: Interval, plus: bool) -> Interval {
    let op = if plus { ArithOp::Add } else { ArithOp::Sub };
    Interval::within_64_bits(arith(op, x, y))
}

/// The values of `x` for which `x op y` can hold.
fn limited(op: CompareOp, x: Interval, y: Interval) -> Interval {
    match op {
        CompareOp::Eq => y,
        CompareOp::Ne if y.lo == y.hi && x.lo == y.lo => {
            Interval::new(x.lo.saturating_add(1), x.hi)
        }
        CompareOp::Ne if y.lo == y.hi && x.hi == y.lo => {
            Interval::new(x.lo, x.hi.saturating_sub(1))
        }
        CompareOp::Ne => x,
        CompareOp::Lt => Interval::new(i64::MIN, y.hi.saturating_sub(1)),
        CompareOp::Le => Interval::new(i64::MIN, y.hi),
        CompareOp::Gt => Interval::new(y.lo.saturating_add(1), i64::MAX),
        CompareOp::Ge => Interval::new(y.lo, i64::MAX),
    }
}

/// Whether `x op y`, if the intervals tell; `same` if both are one expression.
fn compare(op: CompareOp, x: Interval, y: Interval, same: bool) -> Option<bool> {
    let (always, never) = match op {
        CompareOp::Eq => (same || (x.lo == x.hi && x == y), x.meet(y).is_empty()),
        CompareOp::Ne => {
            return compare(CompareOp::Eq, x, y, same).map(|equal| !equal);
        }
        CompareOp::Lt => (x.hi < y.lo, same || x.lo >= y.hi),
        CompareOp::Le => (same || x.hi <= y.lo, x.lo > y.hi),
        CompareOp::Gt => return compare(CompareOp::Lt, y, x, same),
        CompareOp::Ge => return compare(CompareOp::Le, y, x, same),
    };
    match (always, never) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn arith(op: ArithOp, x: Interval, y: Interval) -> Wide {
    let (xl, xh) = (i128::from(x.lo), i128::from(x.hi));
    let (yl, yh) = (i128::from(y.lo), i128::from(y.hi));
    const ALL: Wide = (i64::MIN as i128, i64::MAX as i128);
    match op {
        ArithOp::Add => (xl + yl, xh + yh),
        ArithOp::Sub => (xl - yh, xh - yl),
        ArithOp::Mul => around([xl * yl, xl * yh, xh * yl, xh * yh]),
        ArithOp::Div => {
            // The extremes lie at the ends of the dividend and at the divisors nearest to and farthest
            // from zero; a check excludes zero itself.
            let divisors: Vec<i128> = [yl, yh, -1, 1]
                .into_iter()
                .filter(|d| *d != 0 && (yl..=yh).contains(d))
                .collect();
            if divisors.is_empty() {
                return ALL;
            }
            around(divisors.iter().flat_map(|d| [xl / d, xh / d]))
        }
        ArithOp::Rem => {
            let most = (yl.abs().max(yh.abs()) - 1).max(0);
            let lo = if xl < 0 { (-most).max(xl) } else { 0 };
            let hi = if xh > 0 { most.min(xh) } else { 0 };
            if yl == 0 && yh == 0 {
                return ALL;
            }
            (lo, hi)
        }
        ArithOp::Min => (xl.min(yl), xh.min(yh)),
        ArithOp::Max => (xl.max(yl), xh.max(yh)),
    }
}

fn around(values: impl IntoIterator<Item = i128>) -> Wide {
    let (mut lo, mut hi) = (i128::MAX, i128::MIN);
    for value in values {
        lo = lo.min(value);
        hi = hi.max(value);
    }
    (lo, hi)
}
