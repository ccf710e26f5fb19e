//! Expressions of the source as terms and formulas of a family.
//!
//! What the evaluation of an expression checks on the way (a division by zero, a number that is no id) is collected: each check with the condition
//! under which it succeeds, which is true where short-circuiting skips it.

use std::collections::BTreeSet;

use threadwise_lang::program::{
    ArithOp, BoundId, CompareOp, Domain, Expr, ExprKind, ExprType, FoldKind as SourceFold, Place,
    Span, TemplateId, VarRef,
};

use super::terms::Size;
use super::{Cell, Dimension, Family, FoldKind, Formula, Index, Term, Unsupported};
use crate::state::{FREE, NONE};
use crate::system::CheckKind;

/// How deep definitions may nest.
const MAX_DEPTH: u32 = 200;

/// The greatest number of expressions that are evaluated in one, by quantifiers over numbers and calls of definitions.
const MAX_WORK: u32 = 100_000;
/// The greatest number of nodes of a term. What is read after it was written is written out, so a few statements can lead to very
/// large terms.
const MAX_NODES: usize = 20_000;
/// How deep terms may nest.
const MAX_NESTING: usize = 400;
/// The greatest number of writes in a step.
const MAX_WRITES: usize = 1_000;

/// Something that must hold for an evaluation not to fail.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) condition: Formula,
    pub(super) kind: CheckKind,
    pub(super) span: Span,
}

/// An expression being lowered: in which process, after which writes.
pub(super) struct Lowering<'a> {
    family: &'a Family,
    /// The process whose text it is.
    own: Option<TemplateId>,
    /// Whether it may read variables.
    stateless: bool,
    /// Values of bound variables, innermost last.
    pub(super) bindings: Vec<(BoundId, Term)>,
    /// What has been written since the beginning of the step.
    pub(super) writes: Vec<(Cell, Term)>,
    checks: Vec<Check>,
    depth: u32,
    work: u32,
    /// Templates with a single process that is mentioned.
    pub(super) singles: BTreeSet<TemplateId>,
}

impl<'a> Lowering<'a> {
    /// For an expression over parameters, and the own id.
    pub(super) fn constant(family: &'a Family, own: Option<TemplateId>) -> Lowering<'a> {
        Lowering {
            stateless: true,
            ..Lowering::new(family, own)
        }
    }

    /// For an expression of a process, or of a property.
    pub(super) fn new(family: &'a Family, own: Option<TemplateId>) -> Lowering<'a> {
        Lowering {
            family,
            own,
            stateless: false,
            bindings: Vec::new(),
            writes: Vec::new(),
            checks: Vec::new(),
            depth: 0,
            work: 0,
            singles: BTreeSet::new(),
        }
    }

    /// What has been checked since the last call, in order.
    pub(super) fn take_checks(&mut self) -> Vec<Check> {
        std::mem::take(&mut self.checks)
    }

    pub(super) fn check(&mut self, condition: Formula, kind: CheckKind, span: Span) {
        if condition != Formula::Constant(true) {
            self.checks.push(Check {
                condition,
                kind,
                span,
            });
        }
    }

    /// Lowers something that is evaluated only if a condition holds.
    fn only_if<T>(
        &mut self,
        condition: &Formula,
        lower: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        let before = self.checks.len();
        let result = lower(self)?;
        for check in &mut self.checks[before..] {
            let holds = std::mem::replace(&mut check.condition, Formula::Constant(true));
            check.condition = Formula::any([condition.clone().negated(), holds]);
        }
        Ok(result)
    }

    /// Lowers something that is evaluated for all processes of a template.
    fn for_each<T>(
        &mut self,
        var: BoundId,
        template: TemplateId,
        lower: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        let before = self.checks.len();
        self.bindings.push((var, Term::Bound(var)));
        let result = lower(self);
        self.bindings.pop();
        let result = result?;
        for check in &mut self.checks[before..] {
            let holds = std::mem::replace(&mut check.condition, Formula::Constant(true));
            check.condition = Formula::quantified(true, var, template, holds);
        }
        Ok(result)
    }

    /// The value of an expression, with truth values as 0 and 1.
    pub(super) fn term(&mut self, expr: &Expr) -> Result<Term, Unsupported> {
        let term = self.deeper(expr.span, |this| this.term_of_kind(expr))?;
        bounded(term.size(), expr.span)?;
        Ok(term)
    }

    /// The truth of a Boolean expression.
    pub(super) fn formula(&mut self, expr: &Expr) -> Result<Formula, Unsupported> {
        let formula = self.deeper(expr.span, |this| this.formula_of_kind(expr))?;
        bounded(formula.size(), expr.span)?;
        Ok(formula)
    }

    fn deeper<T>(
        &mut self,
        span: Span,
        lower: impl FnOnce(&mut Self) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        if self.depth >= MAX_DEPTH {
            return Err(Unsupported::new(
                "the expression is nested too deeply",
                span,
            ));
        }
        self.work += 1;
        if self.work > MAX_WORK {
            let what = format!("an expression takes more than {MAX_WORK} operations");
            return Err(Unsupported::new(what, span));
        }
        self.depth += 1;
        let result = lower(self);
        self.depth -= 1;
        result
    }

    fn term_of_kind(&mut self, expr: &Expr) -> Result<Term, Unsupported> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Int(value) => Term::Number(*value),
            ExprKind::Member(position) => Term::Number(i64::from(*position)),
            ExprKind::None => Term::Number(NONE),
            ExprKind::Param(param) => match self.family.fixed_param(expr) {
                Some(value) => Term::Number(value),
                None => Term::Param(*param),
            },
            ExprKind::Own => Term::Own,
            ExprKind::Bound(bound) => self.bound(*bound, span)?,
            ExprKind::Read(place) => self.read(place)?,
            ExprKind::Remote {
                template,
                process,
                var,
                indices,
            } => {
                let process = self.process(*template, process.as_deref())?;
                let dims = self.family.templates[*template].locals[*var].dims.clone();
                self.entry(&dims, indices, &|indices| Cell::Local {
                    template: *template,
                    process: Box::new(process.clone()),
                    var: *var,
                    indices,
                })?
            }
            ExprKind::IntToId(number) => {
                let number = self.term(number)?;
                let ExprType::Id(template) = expr.ty else {
                    return Ok(number);
                };
                let lowest = self.family.templates[template].lowest_id.clone();
                let id = Term::sum(vec![number, Term::scaled(-1, lowest)]);
                let last = Term::sum(vec![Term::Population(template), Term::Number(-1)]);
                let inside = Formula::all([
                    Formula::at_most(Term::Number(0), id.clone()),
                    Formula::at_most(id.clone(), last),
                ]);
                self.check(inside, CheckKind::Id, span);
                id
            }
            ExprKind::IdToInt(id) => {
                let index = self.term(id)?;
                match id.ty {
                    ExprType::Id(template) => {
                        let lowest = self.family.templates[template].lowest_id.clone();
                        Term::sum(vec![index, lowest])
                    }
                    _ => index,
                }
            }
            ExprKind::IdToOpt(id) => self.term(id)?,
            ExprKind::OptToId(id) => {
                let id = self.term(id)?;
                let some = Formula::at_most(Term::Number(0), id.clone());
                self.check(some, CheckKind::Id, span);
                id
            }
            ExprKind::Around { forward, id } => {
                let index = self.term(id)?;
                let ExprType::Id(template) = id.ty else {
                    return Err(Unsupported::new("a neighbour of what is no id", span));
                };
                let last = Term::sum(vec![Term::Population(template), Term::Number(-1)]);
                let (end, other, by) = match forward {
                    true => (last, Term::Number(0), 1),
                    false => (Term::Number(0), last, -1),
                };
                Term::either(
                    Formula::equal(index.clone(), end),
                    other,
                    Term::sum(vec![index, Term::Number(by)]),
                )
            }
            ExprKind::Neg(a) => Term::scaled(-1, self.term(a)?),
            ExprKind::Arith(op, a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                self.arithmetic(*op, a, b, span)
            }
            ExprKind::Fold {
                kind:
                    kind @ (SourceFold::Count | SourceFold::Sum | SourceFold::Min | SourceFold::Max),
                var,
                domain,
                body,
            } => self.fold(*kind, *var, domain, body, span)?,
            ExprKind::Call(def, arguments) => {
                self.call(*def, arguments, |this, body| this.term(body))?
            }
            _ => Term::of_formula(self.formula(expr)?),
        })
    }

    fn formula_of_kind(&mut self, expr: &Expr) -> Result<Formula, Unsupported> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Bool(value) => Formula::Constant(*value),
            ExprKind::At {
                template,
                process,
                locations,
            } => Formula::At {
                template: *template,
                process: self.process(*template, process.as_deref())?,
                locations: locations.clone(),
            },
            ExprKind::Locked(place) => {
                let holder = self.read(place)?;
                Formula::equal(holder, Term::Number(FREE)).negated()
            }
            ExprKind::Not(a) => self.formula(a)?.negated(),
            ExprKind::And(parts) => self.connected(parts, true)?,
            ExprKind::Or(parts) => self.connected(parts, false)?,
            ExprKind::Implies(a, b) => {
                let a = self.formula(a)?;
                let b = self.only_if(&a, |this| this.formula(b))?;
                Formula::any([a.negated(), b])
            }
            ExprKind::Iff(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                same(a, b)
            }
            ExprKind::Compare(op, a, b) if a.ty == ExprType::Bool => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                let equal = same(a, b);
                match op {
                    CompareOp::Ne => equal.negated(),
                    _ => equal,
                }
            }
            ExprKind::Compare(op, a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                match op {
                    CompareOp::Eq => Formula::equal(a, b),
                    CompareOp::Ne => Formula::equal(a, b).negated(),
                    CompareOp::Lt => Formula::at_most(b, a).negated(),
                    CompareOp::Le => Formula::at_most(a, b),
                    CompareOp::Gt => Formula::at_most(a, b).negated(),
                    CompareOp::Ge => Formula::at_most(b, a),
                }
            }
            ExprKind::Fold {
                kind: kind @ (SourceFold::Forall | SourceFold::Exists),
                var,
                domain,
                body,
            } => {
                let forall = *kind == SourceFold::Forall;
                match domain {
                    Domain::Template(template) => {
                        let body = self.for_each(*var, *template, |this| this.formula(body))?;
                        Formula::quantified(forall, *var, *template, body)
                    }
                    _ => {
                        let mut members = Vec::new();
                        for value in self.family.domain_values(domain, span)? {
                            self.bindings.push((*var, Term::Number(value)));
                            let member = self.formula(body);
                            self.bindings.pop();
                            members.push(member?);
                        }
                        match forall {
                            true => Formula::all(members),
                            false => Formula::any(members),
                        }
                    }
                }
            }
            ExprKind::Call(def, arguments) => {
                self.call(*def, arguments, |this, body| this.formula(body))?
            }
            ExprKind::Enabled { .. } | ExprKind::Taken { .. } => {
                return Err(Unsupported::new(
                    "`enabled` and `taken` are not for all numbers of processes",
                    span,
                ));
            }
            ExprKind::Bound(_) | ExprKind::Read(_) | ExprKind::Remote { .. } => {
                truth(self.term(expr)?)
            }
            _ => return Err(Unsupported::new("a truth value of this kind", span)),
        })
    }

    /// `a && b && ..` or `a || b || ..`: each is evaluated only if those before it leave the result open.
    fn connected(&mut self, parts: &[Expr], all: bool) -> Result<Formula, Unsupported> {
        let mut members: Vec<Formula> = Vec::with_capacity(parts.len());
        for part in parts {
            let before = members.iter().cloned();
            let reached = match all {
                true => Formula::all(before),
                false => Formula::any(before).negated(),
            };
            members.push(self.only_if(&reached, |this| this.formula(part))?);
        }
        Ok(match all {
            true => Formula::all(members),
            false => Formula::any(members),
        })
    }

    fn bound(&self, bound: BoundId, span: Span) -> Result<Term, Unsupported> {
        let found = self.bindings.iter().rev().find(|(id, _)| *id == bound);
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| Unsupported::new("a variable that is bound nowhere", span))
    }

    fn process(
        &mut self,
        template: TemplateId,
        process: Option<&Expr>,
    ) -> Result<Term, Unsupported> {
        match process {
            None => {
                self.singles.insert(template);
                Ok(Term::Bound(self.family.single(template)))
            }
            Some(expr) => self.term(expr),
        }
    }

    fn call<T>(
        &mut self,
        def: threadwise_lang::program::DefId,
        arguments: &[Expr],
        lower: impl FnOnce(&mut Self, &Expr) -> Result<T, Unsupported>,
    ) -> Result<T, Unsupported> {
        let family = self.family;
        let def = &family.program().defs[def];
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.term(argument)?);
        }
        let outside = self.bindings.len();
        self.bindings.extend(def.params.iter().copied().zip(values));
        let result = lower(self, &def.body);
        self.bindings.truncate(outside);
        result
    }

    fn arithmetic(&mut self, op: ArithOp, a: Term, b: Term, span: Span) -> Term {
        match op {
            ArithOp::Add => Term::sum(vec![a, b]),
            ArithOp::Sub => Term::sum(vec![a, Term::scaled(-1, b)]),
            ArithOp::Mul => match (a, b) {
                (Term::Number(factor), other) | (other, Term::Number(factor)) => {
                    Term::scaled(factor, other)
                }
                (a, b) => Term::Product(Box::new(a), Box::new(b)),
            },
            ArithOp::Div | ArithOp::Rem => {
                let divides = Formula::equal(b.clone(), Term::Number(0)).negated();
                self.check(divides, CheckKind::Division, span);
                match (op, &a, &b) {
                    (_, Term::Number(a), Term::Number(b))
                        if *b != 0 && (*a, *b) != (i64::MIN, -1) =>
                    {
                        Term::Number(if op == ArithOp::Div { a / b } else { a % b })
                    }
                    (ArithOp::Div, ..) => Term::Quotient(Box::new(a), Box::new(b)),
                    _ => Term::Remainder(Box::new(a), Box::new(b)),
                }
            }
            ArithOp::Min => Term::either(Formula::at_most(a.clone(), b.clone()), a, b),
            ArithOp::Max => Term::either(Formula::at_most(a.clone(), b.clone()), b, a),
        }
    }

    fn fold(
        &mut self,
        kind: SourceFold,
        var: BoundId,
        domain: &Domain,
        body: &Expr,
        span: Span,
    ) -> Result<Term, Unsupported> {
        let folded = match kind {
            SourceFold::Min => FoldKind::Min,
            SourceFold::Max => FoldKind::Max,
            _ => FoldKind::Sum,
        };
        if let Domain::Template(template) = domain {
            let body = self.for_each(var, *template, |this| this.term(body))?;
            if folded != FoldKind::Sum {
                let some = Formula::at_most(Term::Number(1), Term::Population(*template));
                self.check(some, CheckKind::Empty, span);
            }
            return Ok(Term::Fold {
                kind: folded,
                var,
                template: *template,
                body: Box::new(body),
            });
        }
        let mut items = Vec::new();
        for value in self.family.domain_values(domain, span)? {
            self.bindings.push((var, Term::Number(value)));
            let item = self.term(body);
            self.bindings.pop();
            items.push(item?);
        }
        if folded == FoldKind::Sum {
            return Ok(Term::sum(items));
        }
        let mut items = items.into_iter();
        let Some(mut result) = items.next() else {
            self.check(Formula::Constant(false), CheckKind::Empty, span);
            return Ok(Term::Number(0));
        };
        for item in items {
            let less = Formula::at_most(result.clone(), item.clone());
            result = match folded {
                FoldKind::Min => Term::either(less, result, item),
                _ => Term::either(less, item, result),
            };
        }
        Ok(result)
    }

    /// The value of a place, after what has been written.
    fn read(&mut self, place: &Place) -> Result<Term, Unsupported> {
        if self.stateless {
            return Err(Unsupported::new(
                "a constant that depends on the state",
                place.span,
            ));
        }
        let (dims, cell) = self.place(place)?;
        self.entry(&dims, &place.indices, &cell)
    }

    /// How to name a cell of a place's variable, given its indices.
    #[allow(clippy::type_complexity)]
    fn place(
        &self,
        place: &Place,
    ) -> Result<(Vec<Dimension>, Box<dyn Fn(Vec<Index>) -> Cell>), Unsupported> {
        match place.var {
            VarRef::Shared(var) => Ok((
                self.family.shared[var].dims.clone(),
                Box::new(move |indices| Cell::Shared { var, indices }),
            )),
            VarRef::Local(var) => {
                let Some(template) = self.own else {
                    return Err(Unsupported::new("a local variable of nobody", place.span));
                };
                Ok((
                    self.family.templates[template].locals[var].dims.clone(),
                    Box::new(move |indices| Cell::Local {
                        template,
                        process: Box::new(Term::Own),
                        var,
                        indices,
                    }),
                ))
            }
        }
    }

    /// The cells that indices can name, each with the condition that it is the one. Indices are checked.
    fn entries(
        &mut self,
        dims: &[Dimension],
        indices: &[Expr],
    ) -> Result<Vec<(Formula, Vec<Index>)>, Unsupported> {
        let mut ways = vec![(Formula::Constant(true), Vec::new())];
        for (dim, index) in dims.iter().zip(indices) {
            let value = self.term(index)?;
            let choices: Vec<(Formula, Index)> = match dim {
                Dimension::Processes(_) => vec![(Formula::Constant(true), Index::Process(value))],
                Dimension::Positions { lowest, size } => {
                    let last = lowest + (i64::from(*size) - 1);
                    let inside = Formula::all([
                        Formula::at_most(Term::Number(*lowest), value.clone()),
                        Formula::at_most(value.clone(), Term::Number(last)),
                    ]);
                    self.check(inside, CheckKind::Index, index.span);
                    (*lowest..=last)
                        .map(|position| {
                            let here = Formula::equal(value.clone(), Term::Number(position));
                            (here, Index::Position(position))
                        })
                        .filter(|(here, _)| *here != Formula::Constant(false))
                        .collect()
                }
            };
            let mut further = Vec::with_capacity(ways.len() * choices.len());
            for (condition, indices) in &ways {
                for (here, index) in &choices {
                    let mut indices: Vec<Index> = indices.clone();
                    indices.push(index.clone());
                    further.push((Formula::all([condition.clone(), here.clone()]), indices));
                }
            }
            ways = further;
        }
        Ok(ways)
    }

    /// The value of an entry of an array.
    fn entry(
        &mut self,
        dims: &[Dimension],
        indices: &[Expr],
        cell: &dyn Fn(Vec<Index>) -> Cell,
    ) -> Result<Term, Unsupported> {
        let mut ways = self.entries(dims, indices)?;
        // Where a check fails nobody asks for the value.
        let Some((_, last)) = ways.pop() else {
            return Ok(Term::Number(0));
        };
        let mut value = self.current(cell(last));
        for (condition, indices) in ways.into_iter().rev() {
            value = Term::either(condition, self.current(cell(indices)), value);
        }
        Ok(value)
    }

    /// The value of a cell, after what has been written.
    fn current(&self, cell: Cell) -> Term {
        let mut value = Term::Cell(cell.clone());
        for (written, new) in &self.writes {
            value = Term::either(written.same(&cell), new.clone(), value);
        }
        value
    }

    /// The cells that a write to a place may change, each with the condition that it is the one.
    pub(super) fn targets(&mut self, place: &Place) -> Result<Vec<(Formula, Cell)>, Unsupported> {
        let (dims, cell) = self.place(place)?;
        let ways = self.entries(&dims, &place.indices)?;
        Ok(ways
            .into_iter()
            .map(|(condition, indices)| (condition, cell(indices)))
            .collect())
    }

    /// The value of the cell that a place names, which are these.
    pub(super) fn value_at(
        &self,
        targets: &[(Formula, Cell)],
        span: Span,
    ) -> Result<Term, Unsupported> {
        let mut ways = targets.iter().rev();
        let Some((_, last)) = ways.next() else {
            return Ok(Term::Number(0));
        };
        let last = self.current(last.clone());
        let value = ways.fold(last, |value, (condition, cell)| {
            Term::either(condition.clone(), self.current(cell.clone()), value)
        });
        bounded(value.size(), span)?;
        Ok(value)
    }

    /// Writes a value to the cell that a place names, which are these.
    pub(super) fn write(
        &mut self,
        targets: Vec<(Formula, Cell)>,
        value: &Term,
        span: Span,
    ) -> Result<(), Unsupported> {
        for (condition, cell) in targets {
            let kept = self.current(cell.clone());
            let new = Term::either(condition, value.clone(), kept);
            bounded(new.size(), span)?;
            self.writes.push((cell, new));
        }
        match self.writes.len() > MAX_WRITES {
            true => Err(Unsupported::new(
                format!("a step has more than {MAX_WRITES} writes"),
                span,
            )),
            false => Ok(()),
        }
    }
}

fn bounded(size: Size, span: Span) -> Result<(), Unsupported> {
    if size.nodes > MAX_NODES || size.depth > MAX_NESTING {
        return Err(Unsupported::new("a value leads to very large terms", span));
    }
    Ok(())
}

/// What a truth value that is 0 or 1 says.
fn truth(term: Term) -> Formula {
    match term {
        Term::If(condition, yes, no) if *yes == Term::Number(1) && *no == Term::Number(0) => {
            *condition
        }
        term => Formula::equal(term, Term::Number(1)),
    }
}

/// Both truth values, which are 0 or 1, are the same.
fn same(a: Term, b: Term) -> Formula {
    if !matches!(a, Term::If(..)) && !matches!(b, Term::If(..)) {
        return Formula::equal(a, b);
    }
    match (truth(a), truth(b)) {
        (Formula::Constant(true), other) | (other, Formula::Constant(true)) => other,
        (Formula::Constant(false), other) | (other, Formula::Constant(false)) => other.negated(),
        (a, b) => Formula::any([
            Formula::all([a.clone(), b.clone()]),
            Formula::all([a.negated(), b.negated()]),
        ]),
    }
}
