//! What the types alone say about a value, for every value of the parameters: intervals whose ends
//! are linear in the parameters. Used to tell which expressions can fail a check (an `await` must
//! not follow one) and which invariants are true whatever the program does. Never claims too much:
//! an unknown end is infinite.

use crate::program::*;
use index_vec::IndexVec;
use std::collections::BTreeMap;

/// Whether an expression consists of numbers and parameters.
pub(crate) fn is_constant(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Int(_) | ExprKind::Param(_) => true,
        ExprKind::Neg(e) => is_constant(e),
        ExprKind::Arith(_, a, b) => is_constant(a) && is_constant(b),
        _ => false,
    }
}

/// The value of an expression of numbers alone.
pub(crate) fn literal(value: &Expr) -> Option<i64> {
    match &value.kind {
        ExprKind::Int(n) => Some(*n),
        ExprKind::Neg(e) => literal(e)?.checked_neg(),
        ExprKind::Arith(op, a, b) => {
            let (a, b) = (literal(a)?, literal(b)?);
            op.value(a, b).ok()
        }
        _ => None,
    }
}

/// A constant plus multiples of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
struct Linear {
    constant: i128,
    coefficients: BTreeMap<ParamId, i128>,
}

impl Linear {
    fn constant(value: i64) -> Self {
        Linear {
            constant: value.into(),
            ..Linear::default()
        }
    }

    /// `self + factor * other`, if it stays small.
    fn plus(&self, other: &Linear, factor: i128) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(other.constant.checked_mul(factor)?)?;
        for (param, coefficient) in &other.coefficients {
            let entry = sum.coefficients.entry(*param).or_default();
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
        }
        Some(sum)
    }
}

/// The least and the greatest value, as far as they are known.
#[derive(Clone, Debug, Default)]
struct Interval {
    lo: Option<Linear>,
    hi: Option<Linear>,
}

impl Interval {
    fn point(value: Linear) -> Self {
        Interval {
            lo: Some(value.clone()),
            hi: Some(value),
        }
    }

    fn constants(lo: i64, hi: i64) -> Self {
        Interval {
            lo: Some(Linear::constant(lo)),
            hi: Some(Linear::constant(hi)),
        }
    }

    fn negated(&self) -> Self {
        let minus =
            |end: &Option<Linear>| end.as_ref().and_then(|end| Linear::default().plus(end, -1));
        Interval {
            lo: minus(&self.hi),
            hi: minus(&self.lo),
        }
    }

    fn plus(&self, other: &Interval) -> Self {
        let add = |a: &Option<Linear>, b: &Option<Linear>| a.as_ref()?.plus(b.as_ref()?, 1);
        Interval {
            lo: add(&self.lo, &other.lo),
            hi: add(&self.hi, &other.hi),
        }
    }
}

/// Bounds of types, read off a program whose declarations are checked.
pub(super) struct Bounds<'a> {
    program: &'a Program,
    /// What each bound variable ranges over; absent for definitions' parameters.
    domains: &'a IndexVec<BoundId, Option<Domain>>,
    /// The template whose locals and own id the expressions mention.
    template: Option<TemplateId>,
    /// What `where` says of single parameters.
    low: BTreeMap<ParamId, i128>,
    high: BTreeMap<ParamId, i128>,
    /// What is known of definitions: each is looked into once, however often it is called.
    def_can_fail: BTreeMap<DefId, bool>,
    def_truth: BTreeMap<DefId, Option<bool>>,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(
        program: &'a Program,
        domains: &'a IndexVec<BoundId, Option<Domain>>,
        template: Option<TemplateId>,
    ) -> Self {
        let mut bounds = Bounds {
            program,
            domains,
            template,
            low: BTreeMap::new(),
            high: BTreeMap::new(),
            def_can_fail: BTreeMap::new(),
            def_truth: BTreeMap::new(),
        };
        for param in &program.params {
            if let Some(constraint) = &param.constraint {
                bounds.learn(constraint);
            }
        }
        bounds
    }

    /// Takes in conjuncts of the form `N >= 2`.
    fn learn(&mut self, constraint: &Expr) {
        let raise = |map: &mut BTreeMap<ParamId, i128>, param, value: i128| {
            let entry = map.entry(param).or_insert(value);
            *entry = (*entry).max(value);
        };
        let lower = |map: &mut BTreeMap<ParamId, i128>, param, value: i128| {
            let entry = map.entry(param).or_insert(value);
            *entry = (*entry).min(value);
        };
        match &constraint.kind {
            ExprKind::And(list) => list.iter().for_each(|e| self.learn(e)),
            ExprKind::Compare(op, a, b) => {
                let (param, value, op) = match (&a.kind, literal(b), literal(a), &b.kind) {
                    (ExprKind::Param(param), Some(value), _, _) => (*param, value, *op),
                    (_, _, Some(value), ExprKind::Param(param)) => (*param, value, op.mirrored()),
                    _ => return,
                };
                let value = i128::from(value);
                match op {
                    CompareOp::Ge => raise(&mut self.low, param, value),
                    CompareOp::Gt => raise(&mut self.low, param, value + 1),
                    CompareOp::Le => lower(&mut self.high, param, value),
                    CompareOp::Lt => lower(&mut self.high, param, value - 1),
                    CompareOp::Eq => {
                        raise(&mut self.low, param, value);
                        lower(&mut self.high, param, value);
                    }
                    CompareOp::Ne => {}
                }
            }
            _ => {}
        }
    }

    /// Whether `a <= b` for all allowed parameter values.
    fn at_most(&self, a: &Option<Linear>, b: &Option<Linear>) -> bool {
        let difference = || -> Option<i128> {
            let difference = b.as_ref()?.plus(a.as_ref()?, -1)?;
            let mut least = difference.constant;
            for (param, coefficient) in &difference.coefficients {
                let end = match coefficient.signum() {
                    0 => continue,
                    1 => self.low.get(param)?,
                    _ => self.high.get(param)?,
                };
                least = least.checked_add(coefficient.checked_mul(*end)?)?;
            }
            Some(least)
        };
        difference().is_some_and(|least| least >= 0)
    }

    /// Whether `a < b` for all allowed parameter values.
    fn below(&self, a: &Option<Linear>, b: &Option<Linear>) -> bool {
        let next = a.as_ref().and_then(|a| a.plus(&Linear::constant(1), 1));
        self.at_most(&next, b)
    }

    fn domain(&self, domain: &Domain) -> Interval {
        match domain {
            Domain::Range(lo, hi) => Interval {
                lo: self.interval(lo).lo,
                hi: self.interval(hi).hi,
            },
            _ => Interval::default(),
        }
    }

    fn template_ids(&self, template: TemplateId) -> Interval {
        match &self.program.templates[template].instances {
            Instances::Range(lo, hi) => Interval {
                lo: self.interval(lo).lo,
                hi: self.interval(hi).hi,
            },
            _ => Interval::default(),
        }
    }

    fn variable(&self, var: &VarRef) -> Option<&Variable> {
        match var {
            VarRef::Shared(id) => Some(&self.program.shared[*id]),
            VarRef::Local(id) => Some(&self.program.templates[self.template?].locals[*id]),
        }
    }

    fn scalar(&self, scalar: &Scalar) -> Interval {
        match scalar {
            Scalar::Range(lo, hi) => Interval {
                lo: self.interval(lo).lo,
                hi: self.interval(hi).hi,
            },
            _ => Interval::default(),
        }
    }

    /// The values an integer expression can have.
    fn interval(&self, value: &Expr) -> Interval {
        match &value.kind {
            ExprKind::Int(n) => Interval::point(Linear::constant(*n)),
            ExprKind::Param(param) => Interval::point(Linear {
                constant: 0,
                coefficients: BTreeMap::from([(*param, 1)]),
            }),
            ExprKind::Bound(id) => match &self.domains[*id] {
                Some(domain) => self.domain(domain),
                None => Interval::default(),
            },
            ExprKind::Read(place) => match self.variable(&place.var) {
                Some(variable) => self.scalar(&variable.scalar),
                None => Interval::default(),
            },
            ExprKind::Remote { template, var, .. } => {
                self.scalar(&self.program.templates[*template].locals[*var].scalar)
            }
            ExprKind::IdToInt(id) => match id.ty {
                ExprType::Id(template) => self.template_ids(template),
                _ => Interval::default(),
            },
            ExprKind::Neg(e) => self.interval(e).negated(),
            ExprKind::Arith(op, a, b) => self.arithmetic(*op, a, b),
            ExprKind::Fold {
                kind: FoldKind::Count,
                domain,
                ..
            } => {
                let range = match domain {
                    Domain::Range(..) => self.domain(domain),
                    Domain::Template(id) => self.template_ids(*id),
                    Domain::Enum(_) => Interval::default(),
                };
                // At most hi - lo + 1, if that is not negative.
                let size = range
                    .hi
                    .as_ref()
                    .zip(range.lo.as_ref())
                    .and_then(|(hi, lo)| hi.plus(lo, -1)?.plus(&Linear::constant(1), 1));
                let zero = Some(Linear::constant(0));
                let known = self.at_most(&zero, &size);
                Interval {
                    lo: zero,
                    hi: size.filter(|_| known),
                }
            }
            _ => Interval::default(),
        }
    }

    fn arithmetic(&self, op: ArithOp, a: &Expr, b: &Expr) -> Interval {
        let (left, right) = (self.interval(a), self.interval(b));
        match op {
            ArithOp::Add => left.plus(&right),
            ArithOp::Sub => left.plus(&right.negated()),
            ArithOp::Mul => {
                let (factor, other) = match (literal(a), literal(b)) {
                    (Some(factor), _) => (factor, right),
                    (_, Some(factor)) => (factor, left),
                    _ => return Interval::default(),
                };
                let times = |end: &Option<Linear>| {
                    Linear::default().plus(end.as_ref()?, i128::from(factor))
                };
                let (lo, hi) = (times(&other.lo), times(&other.hi));
                if factor >= 0 {
                    Interval { lo, hi }
                } else {
                    Interval { lo: hi, hi: lo }
                }
            }
            ArithOp::Rem => match literal(b) {
                Some(modulus) if modulus > 0 => {
                    let zero = Some(Linear::constant(0));
                    let least = if self.at_most(&zero, &left.lo) {
                        0
                    } else {
                        1 - modulus
                    };
                    Interval::constants(least, modulus - 1)
                }
                _ => Interval::default(),
            },
            ArithOp::Div => Interval::default(),
            ArithOp::Min => {
                let lo = self.one_of(left.lo, right.lo, false);
                let hi = left.hi.or(right.hi);
                Interval { lo, hi }
            }
            ArithOp::Max => {
                let hi = self.one_of(left.hi, right.hi, true);
                let lo = left.lo.or(right.lo);
                Interval { lo, hi }
            }
        }
    }

    /// The smaller (or larger) of two ends, if it is known which that is.
    fn one_of(&self, a: Option<Linear>, b: Option<Linear>, larger: bool) -> Option<Linear> {
        let (small, large) = if self.at_most(&a, &b) {
            (a, b)
        } else if self.at_most(&b, &a) {
            (b, a)
        } else {
            return None;
        };
        if larger { large } else { small }
    }

    /// Whether evaluating an expression may fail a check.
    pub(super) fn can_fail(&mut self, value: &Expr) -> bool {
        let own = match &value.kind {
            ExprKind::Read(place) | ExprKind::Locked(place) => self.index_can_fail(place),
            ExprKind::Remote {
                template,
                var,
                indices,
                ..
            } => {
                let dims = &self.program.templates[*template].locals[*var].dims;
                dims.iter()
                    .zip(indices)
                    .any(|(dim, index)| self.outside(dim, index))
            }
            ExprKind::Arith(ArithOp::Div | ArithOp::Rem, _, divisor) => {
                let divisor = self.interval(divisor);
                let zero = Some(Linear::constant(0));
                !(self.below(&zero, &divisor.lo) || self.below(&divisor.hi, &zero))
            }
            ExprKind::IntToId(number) => match value.ty {
                ExprType::Id(template) => {
                    let ids = self.template_ids(template);
                    let number = self.interval(number);
                    !(self.at_most(&ids.lo, &number.lo) && self.at_most(&number.hi, &ids.hi))
                }
                _ => true,
            },
            ExprKind::OptToId(_) => true,
            ExprKind::Fold {
                kind: FoldKind::Min | FoldKind::Max,
                domain,
                ..
            } => match domain {
                Domain::Enum(_) => false,
                Domain::Range(..) => {
                    let range = self.domain(domain);
                    !self.at_most(&range.lo, &range.hi)
                }
                Domain::Template(id) => {
                    let range = self.template_ids(*id);
                    !self.at_most(&range.lo, &range.hi)
                }
            },
            ExprKind::Call(id, _) => match self.def_can_fail.get(id) {
                Some(known) => *known,
                None => {
                    let program = self.program;
                    let fails = self.can_fail(&program.defs[*id].body);
                    self.def_can_fail.insert(*id, fails);
                    fails
                }
            },
            _ => false,
        };
        if own {
            return true;
        }
        let mut inner = false;
        value.children(&mut |child| inner = inner || self.can_fail(child));
        inner
    }

    fn index_can_fail(&self, place: &Place) -> bool {
        match self.variable(&place.var) {
            Some(variable) => variable
                .dims
                .iter()
                .zip(&place.indices)
                .any(|(dim, index)| self.outside(dim, index)),
            None => true,
        }
    }

    fn outside(&self, dim: &Domain, index: &Expr) -> bool {
        match dim {
            Domain::Range(..) => {
                let (range, index) = (self.domain(dim), self.interval(index));
                !(self.at_most(&range.lo, &index.lo) && self.at_most(&index.hi, &range.hi))
            }
            Domain::Enum(_) | Domain::Template(_) => false,
        }
    }

    /// The truth value of an expression, if the types alone decide it.
    pub(super) fn truth(&mut self, value: &Expr) -> Option<bool> {
        match &value.kind {
            ExprKind::Bool(b) => Some(*b),
            ExprKind::Not(e) => self.truth(e).map(|b| !b),
            ExprKind::And(list) => self.all(list, true),
            ExprKind::Or(list) => self.all(list, false),
            ExprKind::Implies(a, b) => match (self.truth(a), self.truth(b)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                (Some(true), Some(false)) => Some(false),
                _ => None,
            },
            ExprKind::Iff(a, b) => Some(self.truth(a)? == self.truth(b)?),
            ExprKind::Compare(op, a, b) if a.ty == ExprType::Int => self.comparison(*op, a, b),
            ExprKind::At {
                template,
                locations,
                ..
            } => {
                let all = self.program.templates[*template].locations.len();
                (all > 0 && locations.len() == all).then_some(true)
            }
            ExprKind::Fold {
                kind: FoldKind::Forall,
                body,
                ..
            } => self.truth(body).filter(|b| *b),
            ExprKind::Call(id, args) if args.is_empty() => {
                if let Some(known) = self.def_truth.get(id) {
                    return *known;
                }
                let program = self.program;
                let truth = self.truth(&program.defs[*id].body);
                self.def_truth.insert(*id, truth);
                truth
            }
            _ => None,
        }
    }

    /// `&&` (`unit` true) or `||` (`unit` false).
    fn all(&mut self, list: &[Expr], unit: bool) -> Option<bool> {
        let values: Vec<Option<bool>> = list.iter().map(|e| self.truth(e)).collect();
        if values.contains(&Some(!unit)) {
            return Some(!unit);
        }
        values.iter().all(Option::is_some).then_some(unit)
    }

    fn comparison(&self, op: CompareOp, a: &Expr, b: &Expr) -> Option<bool> {
        let (a, b) = (self.interval(a), self.interval(b));
        let (yes, no) = match op {
            CompareOp::Le => (self.at_most(&a.hi, &b.lo), self.below(&b.hi, &a.lo)),
            CompareOp::Lt => (self.below(&a.hi, &b.lo), self.at_most(&b.hi, &a.lo)),
            CompareOp::Ge => (self.at_most(&b.hi, &a.lo), self.below(&a.hi, &b.lo)),
            CompareOp::Gt => (self.below(&b.hi, &a.lo), self.at_most(&a.hi, &b.lo)),
            CompareOp::Eq | CompareOp::Ne => {
                let apart = self.below(&a.hi, &b.lo) || self.below(&b.hi, &a.lo);
                let same = self.at_most(&a.hi, &b.lo) && self.at_most(&b.hi, &a.lo);
                if op == CompareOp::Eq {
                    (same, apart)
                } else {
                    (apart, same)
                }
            }
        };
        match (yes, no) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            // Both only if the types have no values at all.
            _ => None,
        }
    }
}
