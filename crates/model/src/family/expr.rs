//! Values of a family: terms and formulas over parameters, ids and variables.
//!
//! A place whose index is not an id is one of a few cells, each with the condition that it is the one. Quantifiers over processes stay; those over numbers are
//! written out.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadwise_lang::program::{
    BoundId, Domain, Expr, FoldKind as SourceFold, LocationId, ParamId, Program, Scalar, Span,
    TemplateId,
};

use super::paths::Open;
use super::{
    Cell, Dimension, Family, FamilyVariable, FoldKind, Formula, Index, Path, Term, Unsupported,
    Write,
};
use crate::execute::{self, Evaluate, Fold, Form, Value, Var};
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

pub(super) type Result<T> = std::result::Result<T, Unsupported>;
type Frame = execute::Frame<Term, Write>;

/// Lowers expressions and paths.
pub(super) struct Lowering<'a> {
    pub(super) family: &'a Family,
    /// The process whose text it is.
    pub(super) own: Option<TemplateId>,
    /// Whether it may read variables.
    stateless: bool,
    /// The path that is executed.
    pub(super) path: Open,
    depth: u32,
    work: u32,
    /// Templates with a single process that is mentioned.
    pub(super) singles: BTreeSet<TemplateId>,
    /// The paths of the template so far.
    pub(super) paths: Vec<Path>,
    /// The labels of the template so far at which a process may rest.
    pub(super) rests: BTreeSet<LocationId>,
    /// How large all is that was kept of the paths from a label.
    pub(super) nodes: usize,
    /// How many statements were executed on them.
    pub(super) statements: usize,
    /// The loops over all processes that what is executed is in, outermost first.
    pub(super) everybody: Vec<Everybody>,
}

/// A loop over all processes that is executed once, for all of them.
pub(super) struct Everybody {
    /// The process.
    pub(super) bound: BoundId,
    pub(super) template: TemplateId,
    /// How much was written before it.
    pub(super) writes: usize,
}

/// The cells that a place may name, each with the condition that it is the one.
#[derive(Clone)]
pub(super) struct Targets<'a> {
    pub(super) variable: &'a FamilyVariable,
    pub(super) scalar: &'a Scalar,
    pub(super) cells: Vec<(Formula, Cell)>,
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
            path: Open::default(),
            depth: 0,
            work: 0,
            singles: BTreeSet::new(),
            paths: Vec::new(),
            rests: BTreeSet::new(),
            nodes: 0,
            statements: 0,
            everybody: Vec::new(),
        }
    }

    /// The body of a quantifier or an aggregate for a value.
    fn body(&mut self, fold: Fold, value: Term) -> Result<Term> {
        self.bound_to(fold.var, value, |this| this.value(fold.body))
    }

    fn over_processes(&mut self, fold: Fold, template: TemplateId) -> Result<Term> {
        let var = fold.var;
        let (body, checks) = self.apart(|this| this.body(fold, Term::Bound(var)))?;
        for check in checks {
            let holds = Formula::quantified(true, var, template, check.holds);
            self.check(holds, check.kind, check.span);
        }
        let kind = match fold.kind {
            SourceFold::Forall | SourceFold::Exists => {
                let forall = fold.kind == SourceFold::Forall;
                let formula = Formula::quantified(forall, var, template, body.truth());
                return Ok(Term::of_formula(formula));
            }
            SourceFold::Count | SourceFold::Sum => FoldKind::Sum,
            SourceFold::Min => FoldKind::Min,
            SourceFold::Max => FoldKind::Max,
        };
        if kind != FoldKind::Sum {
            let some = Formula::at_most(Term::Number(1), Term::Population(template));
            self.check(some, CheckKind::Empty, fold.span);
        }
        Ok(Term::Fold {
            kind,
            var,
            template,
            body: Box::new(body),
        })
    }

    fn over_numbers(&mut self, fold: Fold) -> Result<Term> {
        let mut items = Vec::new();
        for value in self.family.domain_values(fold.domain, fold.span)? {
            items.push(self.body(fold, Term::Number(value))?);
        }
        let mut items = items.into_iter();
        Ok(match fold.kind {
            SourceFold::Forall => Term::of_formula(Formula::all(items.map(Value::truth))),
            SourceFold::Exists => Term::of_formula(Formula::any(items.map(Value::truth))),
            SourceFold::Count | SourceFold::Sum => Term::sum(items.collect()),
            SourceFold::Min | SourceFold::Max => {
                let Some(first) = items.next() else {
                    self.check(Formula::Constant(false), CheckKind::Empty, fold.span);
                    return Ok(Term::Number(0));
                };
                items.fold(first, |result, item| {
                    let less = Formula::at_most(result.clone(), item.clone());
                    match fold.kind {
                        SourceFold::Min => Term::either(less, result, item),
                        _ => Term::either(less, item, result),
                    }
                })
            }
        })
    }

    /// The cells that indices can name, each with the condition that it is the one. Indices are checked.
    fn entries(
        &mut self,
        dims: &[Dimension],
        indices: &[Expr],
    ) -> Result<Vec<(Formula, Vec<Index>)>> {
        let mut ways = vec![(Formula::Constant(true), Vec::new())];
        for (dim, index) in dims.iter().zip(indices) {
            let value = self.value(index)?;
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

    /// The value of a cell, after what has been written.
    pub(super) fn current(&self, cell: Cell) -> Term {
        let writes = self.path.frame.writes.iter();
        writes.fold(Term::Cell(cell.clone()), |value, write| {
            write.after(&cell, value)
        })
    }
}

impl<'a> Evaluate for Lowering<'a> {
    type Truth = Formula;
    type Value = Term;
    type Write = Write;
    type Place = Targets<'a>;
    type Refusal = Unsupported;

    fn program(&self) -> Arc<Program> {
        Arc::clone(&self.family.program)
    }

    fn frame(&mut self) -> &mut Frame {
        &mut self.path.frame
    }

    fn enter(&mut self, span: Span) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(Unsupported::new(
                "the expression is nested too deeply",
                span,
            ));
        }
        self.work = if self.depth == 0 { 1 } else { self.work + 1 };
        if self.work > MAX_WORK {
            let what = format!("an expression takes more than {MAX_WORK} operations");
            return Err(Unsupported::new(what, span));
        }
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    // What is copied was admitted.
    fn pay(&mut self, _: &impl Form, _: Span) -> Result<()> {
        Ok(())
    }

    fn admit(&self, form: &impl Form, span: Span) -> Result<()> {
        let size = form.size();
        if size.nodes > MAX_NODES || size.depth > MAX_NESTING {
            return Err(Unsupported::new("a value leads to very large terms", span));
        }
        Ok(())
    }

    fn unbound(span: Span) -> Unsupported {
        Unsupported::new("a variable that is bound nowhere", span)
    }

    fn param(&self, param: ParamId) -> Term {
        self.family.fixed[param].map_or(Term::Param(param), Term::Number)
    }

    fn lowest_id(&self, template: TemplateId) -> Term {
        self.family.templates[template].lowest_id.clone()
    }

    fn last_id(&self, template: TemplateId) -> Term {
        Term::sum(vec![Term::Population(template), Term::Number(-1)])
    }

    fn single(&mut self, template: TemplateId) -> Term {
        self.singles.insert(template);
        Term::Bound(self.family.single(template))
    }

    fn id(&mut self, number: Term, template: TemplateId, span: Span) -> Result<Term> {
        let id = Term::sum(vec![number, self.lowest_id(template).minus()]);
        let inside = Formula::all([
            Formula::at_most(Term::Number(0), id.clone()),
            Formula::at_most(id.clone(), self.last_id(template)),
        ]);
        let kind = match self.family.is_slot(template) {
            true => CheckKind::Index,
            false => CheckKind::Id,
        };
        self.check(inside, kind, span);
        Ok(id)
    }

    fn is_some(id: Term) -> Formula {
        Formula::at_most(Term::Number(0), id)
    }

    fn at(
        &mut self,
        template: TemplateId,
        process: Term,
        locations: &[LocationId],
        _: Span,
    ) -> Result<Formula> {
        Ok(Formula::At {
            template,
            process,
            locations: locations.to_vec(),
        })
    }

    fn temporal(&mut self, expr: &Expr, _: TemplateId, _: Term, _: LocationId) -> Result<Formula> {
        let what = "`enabled` and `taken` are not for all numbers of processes";
        Err(Unsupported::new(what, expr.span))
    }

    fn place_at(&mut self, var: Var<Term>, indices: &[Expr], span: Span) -> Result<Targets<'a>> {
        let (family, program) = (self.family, self.family.program());
        let owner = match var {
            Var::Shared(var) => {
                let variable = &family.shared[var];
                let ways = self.entries(&variable.dims, indices)?;
                let cell = |(here, indices)| (here, Cell::Shared { var, indices });
                return Ok(Targets {
                    variable,
                    scalar: &program.shared[var].scalar,
                    cells: ways.into_iter().map(cell).collect(),
                });
            }
            Var::Own(var) => self.own.map(|template| (template, Term::Own, var)),
            Var::Of(template, process, var) => Some((template, process, var)),
        };
        let Some((template, process, var)) = owner else {
            return Err(Unsupported::new("a local variable of nobody", span));
        };
        let variable = &family.templates[template].locals[var];
        let ways = self.entries(&variable.dims, indices)?;
        let cell = |(here, indices)| {
            let cell = Cell::Local {
                template,
                process: Box::new(process.clone()),
                var,
                indices,
            };
            (here, cell)
        };
        Ok(Targets {
            variable,
            scalar: &program.templates[template].locals[var].scalar,
            cells: ways.into_iter().map(cell).collect(),
        })
    }

    fn read(&mut self, place: Targets<'a>, span: Span) -> Result<Term> {
        if self.stateless {
            let what = "a constant that depends on the state";
            return Err(Unsupported::new(what, span));
        }
        let mut ways = place.cells.into_iter().rev();
        // Where a check fails nobody asks for the value.
        let Some((_, last)) = ways.next() else {
            return Ok(Term::Number(0));
        };
        let value = ways.fold(self.current(last), |value, (condition, cell)| {
            Term::either(condition, self.current(cell), value)
        });
        self.admit(&value, span)?;
        Ok(value)
    }

    fn fold(&mut self, fold: Fold) -> Result<Term> {
        match fold.domain {
            Domain::Template(template) => self.over_processes(fold, *template),
            _ => self.over_numbers(fold),
        }
    }
}
