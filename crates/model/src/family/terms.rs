//! Terms and formulas over the state of a family, and their simplification.
//!
//! They are built by functions that fold constants, so that conditions which hold whatever the state is do not show up.

use std::borrow::Cow;
use std::fmt;

use threadwise_lang::program::{
    ArithOp, BoundId, CompareOp, LocalId, LocationId, ParamId, SharedId, TemplateId,
};

use super::Write;
use crate::execute::{Form, Size, Truth, Value};

/// An integer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A number.
    Number(i64),
    /// A parameter.
    Param(ParamId),
    /// How many processes of a template there are.
    Population(TemplateId),
    /// The id of the process whose step it is, from 0.
    Own,
    /// A process that a quantifier ranges over, by its id.
    Bound(BoundId),
    /// The id of a process that was picked, by its position in a list that goes with the term. Only [resolved](Term::resolve) terms have them.
    Reference(u32),
    /// A value that the step chooses.
    Choice(u32),
    /// A variable, in the state before the step.
    Cell(Cell),
    /// A sum.
    Sum(Vec<Term>),
    /// A multiple.
    Scaled(i64, Box<Term>),
    /// A product of two terms that both vary.
    Product(Box<Term>, Box<Term>),
    /// A quotient, rounded towards zero. Where the divisor is 0 it is any integer.
    Quotient(Box<Term>, Box<Term>),
    /// What is left of a division; it has the sign of the dividend.
    Remainder(Box<Term>, Box<Term>),
    /// One or the other.
    If(Box<Formula>, Box<Term>, Box<Term>),
    /// The sum, least or greatest of a term over the processes of a template. Of none, the least and the greatest are any integer.
    Fold {
        /// Which.
        kind: FoldKind,
        /// The process.
        var: BoundId,
        /// Its template.
        template: TemplateId,
        /// The term.
        body: Box<Term>,
    },
}

/// What is computed over processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoldKind {
    /// The sum; of 1 where something holds and 0 elsewhere it is a number of processes.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// A cell of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// Of a shared one.
    Shared {
        /// Which.
        var: SharedId,
        /// One index for each dimension.
        indices: Vec<Index>,
    },
    /// Of a local one.
    Local {
        /// The template.
        template: TemplateId,
        /// The id of the process.
        process: Box<Term>,
        /// Which variable.
        var: LocalId,
        /// One index for each dimension.
        indices: Vec<Index>,
    },
}

/// An index of an array.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// A number.
    Position(i64),
    /// The id of a process.
    Process(Term),
}

/// A truth value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// True or false.
    Constant(bool),
    /// The first is at most the second.
    AtMost(Term, Term),
    /// Both are the same.
    Equal(Term, Term),
    /// A process is at one of these labels.
    At {
        /// Its template.
        template: TemplateId,
        /// Its id.
        process: Term,
        /// The labels, sorted.
        locations: Vec<LocationId>,
    },
    /// It does not hold.
    Not(Box<Formula>),
    /// All hold.
    And(Vec<Formula>),
    /// One holds.
    Or(Vec<Formula>),
    /// It holds of all processes of a template.
    ForAll(BoundId, TemplateId, Box<Formula>),
    /// It holds of a process of a template.
    Exists(BoundId, TemplateId, Box<Formula>),
}

impl Term {
    /// A sum, with its numbers added up.
    pub fn sum(terms: Vec<Term>) -> Term {
        let mut number: i64 = 0;
        let mut rest = Vec::new();
        // What does not fit into 64 bits stays a sum of numbers.
        let mut add = |term: Term, rest: &mut Vec<Term>| match term {
            Term::Number(more) => match number.checked_add(more) {
                Some(sum) => number = sum,
                None => rest.push(Term::Number(more)),
            },
            other => rest.push(other),
        };
        for term in terms {
            match term {
                Term::Sum(inner) => inner.into_iter().for_each(|term| add(term, &mut rest)),
                other => add(other, &mut rest),
            }
        }
        if number != 0 || rest.is_empty() {
            rest.push(Term::Number(number));
        }
        match rest.len() {
            1 => rest.remove(0),
            _ => Term::Sum(rest),
        }
    }

    /// A multiple.
    pub fn scaled(factor: i64, term: Term) -> Term {
        match (factor, term) {
            (0, _) => Term::Number(0),
            (1, term) => term,
            (_, Term::Number(number)) => match factor.checked_mul(number) {
                Some(product) => Term::Number(product),
                None => Term::Scaled(factor, Box::new(Term::Number(number))),
            },
            (_, Term::Sum(terms)) => {
                let each = terms.into_iter().map(|term| Term::scaled(factor, term));
                Term::sum(each.collect())
            }
            (_, Term::Scaled(inner, term)) if factor.checked_mul(inner).is_some() => {
                Term::scaled(factor * inner, *term)
            }
            (_, term) => Term::Scaled(factor, Box::new(term)),
        }
    }

    /// One or the other.
    pub fn either(condition: Formula, yes: Term, no: Term) -> Term {
        match condition {
            Formula::Constant(true) => yes,
            Formula::Constant(false) => no,
            _ if yes == no => yes,
            condition => Term::If(Box::new(condition), Box::new(yes), Box::new(no)),
        }
    }

    /// 1 or 0.
    pub fn of_formula(formula: Formula) -> Term {
        Term::either(formula, Term::Number(1), Term::Number(0))
    }
}

impl Formula {
    /// The first is at most the second.
    pub fn at_most(a: Term, b: Term) -> Formula {
        match (&a, &b) {
            (Term::Number(a), Term::Number(b)) => Formula::Constant(a <= b),
            _ if a == b => Formula::Constant(true),
            _ => Formula::AtMost(a, b),
        }
    }

    /// Both are the same.
    pub fn equal(a: Term, b: Term) -> Formula {
        match (&a, &b) {
            (Term::Number(a), Term::Number(b)) => Formula::Constant(a == b),
            _ if a == b => Formula::Constant(true),
            _ => Formula::Equal(a, b),
        }
    }

    /// It does not hold.
    pub fn negated(self) -> Formula {
        match self {
            Formula::Constant(truth) => Formula::Constant(!truth),
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }

    /// All hold.
    pub fn all(members: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(members, true)
    }

    /// One holds.
    pub fn any(members: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(members, false)
    }

    fn joined(members: impl IntoIterator<Item = Formula>, all: bool) -> Formula {
        let mut kept = Vec::new();
        for member in members {
            match member {
                Formula::Constant(truth) if truth == all => {}
                Formula::Constant(truth) => return Formula::Constant(truth),
                Formula::And(inner) if all => kept.extend(inner),
                Formula::Or(inner) if !all => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Formula::Constant(all),
            1 => kept.remove(0),
            _ if all => Formula::And(kept),
            _ => Formula::Or(kept),
        }
    }

    /// It holds of all processes, or of one.
    pub fn quantified(forall: bool, var: BoundId, template: TemplateId, body: Formula) -> Formula {
        match (forall, body) {
            (true, Formula::Constant(true)) => Formula::Constant(true),
            (false, Formula::Constant(false)) => Formula::Constant(false),
            (true, body) => Formula::ForAll(var, template, Box::new(body)),
            (false, body) => Formula::Exists(var, template, Box::new(body)),
        }
    }
}

/// Which processes the names in a term are, by position in some list.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The process whose step it is.
    pub own: Option<u32>,
    /// Processes that quantifiers range over: references, or other names.
    pub bound: Vec<(BoundId, Term)>,
}

/// Calls a function with every name of a process in something.
type Bounds<'a> = &'a dyn Fn(&mut dyn FnMut(BoundId));

impl Names {
    /// The same with one more process.
    pub fn with(&self, var: BoundId, process: u32) -> Names {
        let mut names = self.clone();
        names.bound.push((var, Term::Reference(process)));
        names
    }

    /// Names in which a process has another one.
    pub(super) fn renaming(var: BoundId, to: BoundId) -> Names {
        Names {
            own: None,
            bound: vec![(var, Term::Bound(to))],
        }
    }

    /// The variable of a quantifier, and the names that are known inside it: one that it binds again is another there. Definitions that are
    /// called with calls of themselves lead to such quantifiers. Where a process that a name stands for is called like the variable, the variable gets a new name,
    /// or it would take that process for its own. `bounds` lists the names in the quantifier's body.
    fn inside(&self, var: BoundId, bounds: Bounds<'_>) -> (BoundId, Cow<'_, Names>) {
        let others = || self.bound.iter().filter(|(bound, _)| *bound != var);
        let mut captured = false;
        others().for_each(|(_, process)| process.bounds(&mut |bound| captured |= bound == var));
        if !captured && others().count() == self.bound.len() {
            return (var, Cow::Borrowed(self));
        }
        let mut names = Names {
            own: self.own,
            bound: others().cloned().collect(),
        };
        if !captured {
            return (var, Cow::Owned(names));
        }
        let mut last = var;
        bounds(&mut |bound| last = last.max(bound));
        others().for_each(|(_, process)| process.bounds(&mut |bound| last = last.max(bound)));
        let new = BoundId::from_usize(last.index() + 1);
        names.bound.push((var, Term::Bound(new)));
        (new, Cow::Owned(names))
    }
}

impl Write {
    /// The write of a step whose process is a reference.
    pub fn of(&self, own: u32) -> Write {
        let names = Names {
            own: Some(own),
            bound: Vec::new(),
        };
        Write {
            each: self.each.clone(),
            cell: self.cell.resolve(&names),
            value: self.value.resolve(&names),
        }
    }

    /// When a cell is written, and with which value; nothing if it never is, because it is of another variable.
    pub fn to(&self, cell: &Cell) -> Option<(Formula, Term)> {
        let (indices, others) = match (&self.cell, cell) {
            (
                Cell::Shared { indices, .. },
                Cell::Shared {
                    indices: others, ..
                },
            )
            | (
                Cell::Local { indices, .. },
                Cell::Local {
                    indices: others, ..
                },
            ) => (indices, others),
            _ => return None,
        };
        let mut names = Names::default();
        for (bound, _) in &self.each {
            let meant = |index: &Index| *index == Index::Process(Term::Bound(*bound));
            let position = indices.iter().position(meant)?;
            if let Some(Index::Process(process)) = others.get(position) {
                names.bound.push((*bound, process.clone()));
            }
        }
        match self.cell.resolve(&names).same(cell) {
            Formula::Constant(false) => None,
            same => Some((same, self.value.resolve(&names))),
        }
    }

    /// What a cell holds after the write, if it held something before.
    pub fn after(&self, cell: &Cell, before: Term) -> Term {
        match self.to(cell) {
            Some((written, value)) => Term::either(written, value, before),
            None => before,
        }
    }
}

impl Term {
    /// The term with names replaced by the processes that they are. Names that are not known stay.
    pub fn resolve(&self, names: &Names) -> Term {
        let boxed = |term: &Term| Box::new(term.resolve(names));
        match self {
            Term::Own => names.own.map_or(Term::Own, Term::Reference),
            Term::Bound(bound) => {
                let found = names.bound.iter().rev().find(|(var, _)| var == bound);
                found.map_or(Term::Bound(*bound), |(_, process)| process.clone())
            }
            Term::Number(_)
            | Term::Param(_)
            | Term::Population(_)
            | Term::Choice(_)
            | Term::Reference(_) => self.clone(),
            Term::Cell(cell) => Term::Cell(cell.resolve(names)),
            Term::Sum(terms) => Term::sum(terms.iter().map(|t| t.resolve(names)).collect()),
            Term::Scaled(factor, term) => Term::scaled(*factor, term.resolve(names)),
            Term::Product(a, b) => Term::Product(boxed(a), boxed(b)),
            Term::Quotient(a, b) => Term::Quotient(boxed(a), boxed(b)),
            Term::Remainder(a, b) => Term::Remainder(boxed(a), boxed(b)),
            Term::If(condition, yes, no) => Term::either(
                condition.resolve(names),
                yes.resolve(names),
                no.resolve(names),
            ),
            Term::Fold {
                kind,
                var,
                template,
                body,
            } => {
                let (var, names) = names.inside(*var, &|each| body.bounds(each));
                Term::Fold {
                    kind: *kind,
                    var,
                    template: *template,
                    body: Box::new(body.resolve(&names)),
                }
            }
        }
    }

    /// Calls a function with every name of a process in the term, also where it is bound.
    pub(super) fn bounds(&self, each: &mut dyn FnMut(BoundId)) {
        match self {
            Term::Bound(bound) => each(*bound),
            Term::Number(_)
            | Term::Param(_)
            | Term::Population(_)
            | Term::Own
            | Term::Reference(_)
            | Term::Choice(_) => {}
            Term::Cell(cell) => cell.bounds(each),
            Term::Sum(terms) => terms.iter().for_each(|term| term.bounds(each)),
            Term::Scaled(_, term) => term.bounds(each),
            Term::Product(a, b) | Term::Quotient(a, b) | Term::Remainder(a, b) => {
                a.bounds(each);
                b.bounds(each);
            }
            Term::If(condition, yes, no) => {
                condition.bounds(each);
                yes.bounds(each);
                no.bounds(each);
            }
            Term::Fold { var, body, .. } => {
                each(*var);
                body.bounds(each);
            }
        }
    }
}

impl Cell {
    /// The cell with names replaced by the processes that they are.
    pub fn resolve(&self, names: &Names) -> Cell {
        let each = |indices: &[Index]| {
            let each = indices.iter().map(|index| match index {
                Index::Position(position) => Index::Position(*position),
                Index::Process(term) => Index::Process(term.resolve(names)),
            });
            each.collect()
        };
        match self {
            Cell::Shared { var, indices } => Cell::Shared {
                var: *var,
                indices: each(indices),
            },
            Cell::Local {
                template,
                process,
                var,
                indices,
            } => Cell::Local {
                template: *template,
                process: Box::new(process.resolve(names)),
                var: *var,
                indices: each(indices),
            },
        }
    }

    fn bounds(&self, each: &mut dyn FnMut(BoundId)) {
        let (process, indices) = match self {
            Cell::Shared { indices, .. } => (None, indices),
            Cell::Local {
                process, indices, ..
            } => (Some(process), indices),
        };
        if let Some(process) = process {
            process.bounds(each);
        }
        for index in indices {
            if let Index::Process(term) = index {
                term.bounds(each);
            }
        }
    }

    /// Whether two cells are the same one.
    pub fn same(&self, other: &Cell) -> Formula {
        match (self, other) {
            (
                Cell::Shared { var, indices },
                Cell::Shared {
                    var: other,
                    indices: others,
                },
            ) if var == other => same_indices(indices, others),
            (
                Cell::Local {
                    template,
                    process,
                    var,
                    indices,
                },
                Cell::Local {
                    template: other_template,
                    process: other_process,
                    var: other,
                    indices: others,
                },
            ) if (template, var) == (other_template, other) => Formula::all([
                same_process(process, other_process),
                same_indices(indices, others),
            ]),
            _ => Formula::Constant(false),
        }
    }
}

fn same_indices(a: &[Index], b: &[Index]) -> Formula {
    Formula::all(a.iter().zip(b).map(|pair| match pair {
        (Index::Position(a), Index::Position(b)) => Formula::Constant(a == b),
        (Index::Process(a), Index::Process(b)) => same_process(a, b),
        _ => Formula::Constant(false),
    }))
}

/// Whether two terms, both ids of one template, name the same process. References are different processes.
fn same_process(a: &Term, b: &Term) -> Formula {
    match (a, b) {
        (Term::Reference(a), Term::Reference(b)) => Formula::Constant(a == b),
        _ => Formula::equal(a.clone(), b.clone()),
    }
}

impl Formula {
    /// The formula with names replaced by the processes that they are.
    pub fn resolve(&self, names: &Names) -> Formula {
        let each = |members: &[Formula]| -> Vec<Formula> {
            members.iter().map(|member| member.resolve(names)).collect()
        };
        match self {
            Formula::Constant(truth) => Formula::Constant(*truth),
            Formula::AtMost(a, b) => Formula::at_most(a.resolve(names), b.resolve(names)),
            Formula::Equal(a, b) => Formula::equal(a.resolve(names), b.resolve(names)),
            Formula::At {
                template,
                process,
                locations,
            } => Formula::At {
                template: *template,
                process: process.resolve(names),
                locations: locations.clone(),
            },
            Formula::Not(inner) => inner.resolve(names).negated(),
            Formula::And(members) => Formula::all(each(members)),
            Formula::Or(members) => Formula::any(each(members)),
            Formula::ForAll(var, template, body) | Formula::Exists(var, template, body) => {
                let forall = matches!(self, Formula::ForAll(..));
                let (var, names) = names.inside(*var, &|each| body.bounds(each));
                Formula::quantified(forall, var, *template, body.resolve(&names))
            }
        }
    }

    fn bounds(&self, each: &mut dyn FnMut(BoundId)) {
        match self {
            Formula::Constant(_) => {}
            Formula::AtMost(a, b) | Formula::Equal(a, b) => {
                a.bounds(each);
                b.bounds(each);
            }
            Formula::At { process, .. } => process.bounds(each),
            Formula::Not(inner) => inner.bounds(each),
            Formula::And(members) | Formula::Or(members) => {
                members.iter().for_each(|member| member.bounds(each));
            }
            Formula::ForAll(var, _, body) | Formula::Exists(var, _, body) => {
                each(*var);
                body.bounds(each);
            }
        }
    }
}

impl Form for Term {
    fn size(&self) -> Size {
        match self {
            Term::Number(_)
            | Term::Param(_)
            | Term::Population(_)
            | Term::Own
            | Term::Bound(_)
            | Term::Reference(_)
            | Term::Choice(_) => Size::around([]),
            Term::Cell(cell) => Size::around([cell.size()]),
            Term::Sum(terms) => Size::around(terms.iter().map(Term::size)),
            Term::Scaled(_, term) => Size::around([term.size()]),
            Term::Product(a, b) | Term::Quotient(a, b) | Term::Remainder(a, b) => {
                Size::around([a.size(), b.size()])
            }
            Term::If(condition, yes, no) => Size::around([condition.size(), yes.size(), no.size()]),
            Term::Fold { body, .. } => Size::around([body.size()]),
        }
    }
}

impl Form for Cell {
    fn size(&self) -> Size {
        let (process, indices) = match self {
            Cell::Shared { indices, .. } => (None, indices),
            Cell::Local {
                process, indices, ..
            } => (Some(process), indices),
        };
        let indices = indices.iter().map(|index| match index {
            Index::Position(_) => Size::around([]),
            Index::Process(term) => term.size(),
        });
        Size::around(indices.chain(process.map(|process| process.size())))
    }
}

impl Form for Formula {
    fn size(&self) -> Size {
        match self {
            Formula::Constant(_) => Size::around([]),
            Formula::AtMost(a, b) | Formula::Equal(a, b) => Size::around([a.size(), b.size()]),
            Formula::At { process, .. } => Size::around([process.size()]),
            Formula::Not(inner) => Size::around([inner.size()]),
            Formula::And(members) | Formula::Or(members) => {
                Size::around(members.iter().map(Formula::size))
            }
            Formula::ForAll(_, _, body) | Formula::Exists(_, _, body) => {
                Size::around([body.size()])
            }
        }
    }
}

impl Truth for Formula {
    fn constant(truth: bool) -> Formula {
        Formula::Constant(truth)
    }

    fn negated(self) -> Formula {
        Formula::negated(self)
    }

    fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::all(parts)
    }

    fn any(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::any(parts)
    }
}

impl Value for Term {
    type Truth = Formula;

    fn number(number: i64) -> Term {
        Term::Number(number)
    }

    fn known(&self) -> Option<i64> {
        match self {
            Term::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn own() -> Term {
        Term::Own
    }

    fn of_truth(truth: Formula) -> Term {
        Term::of_formula(truth)
    }

    fn truth(self) -> Formula {
        match self {
            Term::If(condition, yes, no) if *yes == Term::Number(1) && *no == Term::Number(0) => {
                *condition
            }
            term => Formula::equal(term, Term::Number(1)),
        }
    }

    fn compare(op: CompareOp, a: Term, b: Term) -> Formula {
        match op {
            CompareOp::Eq => Formula::equal(a, b),
            CompareOp::Ne => Formula::equal(a, b).negated(),
            CompareOp::Lt => Formula::at_most(b, a).negated(),
            CompareOp::Le => Formula::at_most(a, b),
            CompareOp::Gt => Formula::at_most(a, b).negated(),
            CompareOp::Ge => Formula::at_most(b, a),
        }
    }

    fn same(a: Term, b: Term) -> Formula {
        if !matches!(a, Term::If(..)) && !matches!(b, Term::If(..)) {
            return Formula::equal(a, b);
        }
        match (a.truth(), b.truth()) {
            (Formula::Constant(true), other) | (other, Formula::Constant(true)) => other,
            (Formula::Constant(false), other) | (other, Formula::Constant(false)) => {
                other.negated()
            }
            (a, b) => Formula::any([
                Formula::all([a.clone(), b.clone()]),
                Formula::all([a.negated(), b.negated()]),
            ]),
        }
    }

    fn arith(op: ArithOp, a: Term, b: Term) -> Term {
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
                let known = match (&a, &b) {
                    (Term::Number(a), Term::Number(b)) => op.value(*a, *b).ok(),
                    _ => None,
                };
                match (known, op) {
                    (Some(value), _) => Term::Number(value),
                    (None, ArithOp::Div) => Term::Quotient(Box::new(a), Box::new(b)),
                    (None, _) => Term::Remainder(Box::new(a), Box::new(b)),
                }
            }
            ArithOp::Min => Term::either(Formula::at_most(a.clone(), b.clone()), a, b),
            ArithOp::Max => Term::either(Formula::at_most(a.clone(), b.clone()), b, a),
        }
    }

    fn minus(self) -> Term {
        Term::scaled(-1, self)
    }

    fn either(condition: Formula, yes: Term, no: Term) -> Term {
        Term::either(condition, yes, no)
    }
}

impl fmt::Display for Term {
    /// A text that tells different terms apart. Variables are numbered, not named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Number(number) => write!(f, "{number}"),
            Term::Param(param) => write!(f, "p{}", param.raw()),
            Term::Population(template) => write!(f, "|t{}|", template.raw()),
            Term::Own => f.write_str("own"),
            Term::Bound(bound) => write!(f, "b{}", bound.raw()),
            Term::Reference(process) => write!(f, "${process}"),
            Term::Choice(choice) => write!(f, "?{choice}"),
            Term::Cell(cell) => write!(f, "{cell}"),
            Term::Sum(terms) => {
                f.write_str("(+")?;
                terms.iter().try_for_each(|term| write!(f, " {term}"))?;
                f.write_str(")")
            }
            Term::Scaled(factor, term) => write!(f, "(* {factor} {term})"),
            Term::Product(a, b) => write!(f, "(* {a} {b})"),
            Term::Quotient(a, b) => write!(f, "(/ {a} {b})"),
            Term::Remainder(a, b) => write!(f, "(% {a} {b})"),
            Term::If(condition, yes, no) => write!(f, "(if {condition} {yes} {no})"),
            Term::Fold {
                kind,
                var,
                template,
                body,
            } => {
                let kind = match kind {
                    FoldKind::Sum => "sum",
                    FoldKind::Min => "min",
                    FoldKind::Max => "max",
                };
                write!(f, "({kind} b{} t{} {body})", var.raw(), template.raw())
            }
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices = match self {
            Cell::Shared { var, indices } => {
                write!(f, "s{}", var.raw())?;
                indices
            }
            Cell::Local {
                template,
                process,
                var,
                indices,
            } => {
                write!(f, "t{}[{process}].l{}", template.raw(), var.raw())?;
                indices
            }
        };
        indices.iter().try_for_each(|index| match index {
            Index::Position(position) => write!(f, "[{position}]"),
            Index::Process(term) => write!(f, "[{term}]"),
        })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Constant(truth) => write!(f, "{truth}"),
            Formula::AtMost(a, b) => write!(f, "(<= {a} {b})"),
            Formula::Equal(a, b) => write!(f, "(= {a} {b})"),
            Formula::At {
                template,
                process,
                locations,
            } => {
                write!(f, "(at t{} {process}", template.raw())?;
                let mut each = locations.iter();
                each.try_for_each(|location| write!(f, " {}", location.raw()))?;
                f.write_str(")")
            }
            Formula::Not(inner) => write!(f, "(not {inner})"),
            Formula::And(members) | Formula::Or(members) => {
                let name = if matches!(self, Formula::And(_)) {
                    "and"
                } else {
                    "or"
                };
                write!(f, "({name}")?;
                members
                    .iter()
                    .try_for_each(|member| write!(f, " {member}"))?;
                f.write_str(")")
            }
            Formula::ForAll(var, template, body) => {
                write!(f, "(forall b{} t{} {body})", var.raw(), template.raw())
            }
            Formula::Exists(var, template, body) => {
                write!(f, "(exists b{} t{} {body})", var.raw(), template.raw())
            }
        }
    }
}
