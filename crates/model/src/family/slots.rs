//! Arrays whose size is a parameter, as arrays by process.
//!
//! An array over `0..C - 1` has an entry for each of these numbers, as an array by process has one for each process. So the numbers become the ids of a
//! template: one whose processes have ended before anything happens. It has as many of them as there are numbers in the range, its ids are numbered like the range,
//! and an index is taken for an id, which is checked as an index is. Quantifiers over such a range, and `for` without labels, become ones over the
//! processes of that template. Nothing else of the program changes: its variables stay integers, nobody has one step more or less, and a state is a deadlock
//! if it was one before, since who has ended is not waited for. What is proved of processes, a few of them at a time, is thereby proved of entries of arrays.

use std::collections::BTreeMap;

use threadwise_lang::program::{
    BoundId, Domain, Expr, ExprKind, ExprType, IdOrder, Instances, Location, LocationId, Place,
    Program, Span, Stmt, StmtKind, Template, TemplateId, VarRef,
};
use threadwise_lang::rewrite::Rewrite;

use super::{Cell, Dimension, Family, Formula, Index, Names, Term, Write};

/// The bounds of a range, as numbers or terms over parameters; nothing if they cannot be evaluated.
pub(super) type Bounds<'a> = &'a dyn Fn(&Expr, &Expr) -> Option<(Term, Term)>;

/// The program with a template for each range that arrays and quantifiers are over and whose size is not known.
pub(super) fn with_templates(program: &Program, bounds: Bounds<'_>) -> Program {
    let mut changed = program.clone();
    let mut ranges = Ranges {
        bounds,
        known: Vec::new(),
        first: program.templates.len(),
        made: Vec::new(),
        bound: BTreeMap::new(),
    };
    let locals = changed.templates.iter_mut().flat_map(|t| &mut t.locals);
    for variable in changed.shared.iter_mut().chain(locals) {
        let (name, span) = (format!("index-of-{}", variable.name), variable.span);
        for dim in &mut variable.dims {
            ranges.replace(dim, &name, span);
        }
    }
    changed.rewrite(&mut ranges);
    if ranges.made.is_empty() {
        return changed;
    }
    let (made, bound) = (ranges.made, ranges.bound);
    let mut indices = Indices {
        program: &changed.clone(),
        bound: &bound,
        own: None,
    };
    changed.rewrite(&mut indices);
    for (var, template) in bound {
        changed.bounds[var].ty = ExprType::Id(template);
    }
    changed.templates.extend(made);
    changed
}

/// Whether a template is one of these: all others have labels.
pub fn is_slot(template: &Template) -> bool {
    template.locations.len() == 1
}

impl Family {
    /// The entries of arrays that formulas and values name by their index: the terms for indices, with the templates whose ids they are, each
    /// once, at most so many. Only those are listed that are the same whoever is picked from others.
    pub fn named_slots(
        &self,
        formulas: &[Formula],
        writes: &[Write],
        most: usize,
    ) -> Vec<(TemplateId, Term)> {
        let mut found: Vec<(TemplateId, Term)> = Vec::new();
        let mut visit = |cell: &Cell| {
            let (dims, indices) = match cell {
                Cell::Shared { var, indices } => (&self.shared[*var].dims, indices),
                Cell::Local {
                    template,
                    var,
                    indices,
                    ..
                } => (&self.templates[*template].locals[*var].dims, indices),
            };
            for (dim, index) in dims.iter().zip(indices) {
                let (Dimension::Processes(template), Index::Process(term)) = (dim, index) else {
                    continue;
                };
                let mut named = self.is_slot(*template) && !matches!(term, Term::Reference(_));
                term.bounds(&mut |_| named = false);
                let slot = (*template, term.clone());
                if named && found.len() < most && !found.contains(&slot) {
                    found.push(slot);
                }
            }
        };
        for formula in formulas {
            formula.cells(&mut visit);
        }
        for write in writes.iter().filter(|write| write.each.is_empty()) {
            write.value.cells(&mut visit);
            write.cell.cells(&mut visit);
        }
        found
    }

    /// The entries that steps of a process name by an index which is about the process: what is counted of others for such an entry may matter wherever the process is.
    pub fn slots_of(&self, template: TemplateId, process: u32) -> Vec<(TemplateId, Term)> {
        let mut found = Vec::new();
        let own = Names {
            own: Some(process),
            ..Names::default()
        };
        for path in &self.templates[template].paths {
            for (slot, index) in self.named_slots(&path.guard, &path.writes, usize::MAX) {
                let resolved = index.resolve(&own);
                let about = resolved != index && !matches!(resolved, Term::Reference(_));
                if about && !found.contains(&(slot, resolved.clone())) {
                    found.push((slot, resolved));
                }
            }
        }
        found
    }
}

impl Term {
    /// Calls a function with every cell in the term, inner ones first.
    fn cells(&self, each: &mut dyn FnMut(&Cell)) {
        match self {
            Term::Number(_)
            | Term::Param(_)
            | Term::Population(_)
            | Term::Own
            | Term::Bound(_)
            | Term::Reference(_)
            | Term::Choice(_) => {}
            Term::Cell(cell) => cell.cells(each),
            Term::Sum(terms) => terms.iter().for_each(|term| term.cells(each)),
            Term::Scaled(_, term) | Term::Fold { body: term, .. } => term.cells(each),
            Term::Product(a, b) | Term::Quotient(a, b) | Term::Remainder(a, b) => {
                a.cells(each);
                b.cells(each);
            }
            Term::If(condition, yes, no) => {
                condition.cells(each);
                yes.cells(each);
                no.cells(each);
            }
        }
    }
}

impl Cell {
    fn cells(&self, each: &mut dyn FnMut(&Cell)) {
        let (process, indices) = match self {
            Cell::Shared { indices, .. } => (None, indices),
            Cell::Local {
                process, indices, ..
            } => (Some(process), indices),
        };
        process.iter().for_each(|process| process.cells(each));
        for index in indices {
            if let Index::Process(term) = index {
                term.cells(each);
            }
        }
        each(self);
    }
}

impl Formula {
    fn cells(&self, each: &mut dyn FnMut(&Cell)) {
        match self {
            Formula::Constant(_) => {}
            Formula::AtMost(a, b) | Formula::Equal(a, b) => {
                a.cells(each);
                b.cells(each);
            }
            Formula::At { process, .. } => process.cells(each),
            Formula::Not(inner) => inner.cells(each),
            Formula::And(members) | Formula::Or(members) => {
                members.iter().for_each(|member| member.cells(each));
            }
            Formula::ForAll(_, _, body) | Formula::Exists(_, _, body) => body.cells(each),
        }
    }
}

/// Finds the ranges.
struct Ranges<'a> {
    bounds: Bounds<'a>,
    known: Vec<(Term, Term)>,
    first: usize,
    made: Vec<Template>,
    /// What is bound by quantifiers and loops over them.
    bound: BTreeMap<BoundId, TemplateId>,
}

impl Ranges<'_> {
    /// Replaces a range whose size is not known by the ids of a template, which it has from its first user.
    fn replace(&mut self, domain: &mut Domain, name: &str, span: Span) -> Option<TemplateId> {
        let Domain::Range(lo, hi) = domain else {
            return None;
        };
        let range = (self.bounds)(lo, hi)?;
        if let (Term::Number(_), Term::Number(_)) = range {
            return None;
        }
        let position = match self.known.iter().position(|known| *known == range) {
            Some(position) => position,
            None => {
                self.known.push(range);
                // No name of the program has such a character, and no two of these are the same.
                let same = self.made.iter().filter(|made| made.name.starts_with(name));
                let name = match same.count() {
                    0 => name.to_owned(),
                    more => format!("{name}-{}", more + 1),
                };
                self.made.push(Template {
                    name,
                    id_name: None,
                    order: IdOrder::Ordered,
                    instances: Instances::Range((**lo).clone(), (**hi).clone()),
                    locals: [].into_iter().collect(),
                    locations: [Location {
                        name: "there".to_owned(),
                        span,
                    }]
                    .into_iter()
                    .collect(),
                    entry: LocationId::new(0),
                    body: Vec::new(),
                    span,
                });
                self.made.len() - 1
            }
        };
        let template = TemplateId::from_usize(self.first + position);
        *domain = Domain::Template(template);
        Some(template)
    }

    fn quantified(&mut self, var: BoundId, domain: &mut Domain, span: Span) {
        let name = format!("value-{}", var.index());
        if let Some(template) = self.replace(domain, &name, span) {
            self.bound.insert(var, template);
        }
    }
}

impl Rewrite for Ranges<'_> {
    fn expr(&mut self, value: &mut Expr) {
        let span = value.span;
        if let ExprKind::Fold { var, domain, .. } = &mut value.kind {
            self.quantified(*var, domain, span);
        }
    }

    fn stmt(&mut self, _: TemplateId, stmt: &mut Stmt) {
        let span = stmt.span;
        if let StmtKind::For(var, domain, _) = &mut stmt.kind {
            self.quantified(*var, domain, span);
        }
    }
}

/// Takes indices for ids, and ids that were numbers for numbers.
struct Indices<'p> {
    /// The program with its new dimensions.
    program: &'p Program,
    bound: &'p BTreeMap<BoundId, TemplateId>,
    own: Option<TemplateId>,
}

impl Indices<'_> {
    fn indices(&self, dims: &[Domain], indices: &mut [Expr]) {
        for (dim, index) in dims.iter().zip(indices) {
            let Domain::Template(template) = *dim else {
                continue;
            };
            let (ty, span) = (ExprType::Id(template), index.span);
            if index.ty != ExprType::Int {
                continue;
            }
            let kind = ExprKind::Bool(false);
            let number = std::mem::replace(index, Expr { kind, ty, span });
            *index = match number.kind {
                ExprKind::IdToInt(id) if id.ty == ty => *id,
                _ => {
                    let kind = ExprKind::IntToId(Box::new(number));
                    Expr { kind, ty, span }
                }
            };
        }
    }
}

impl Rewrite for Indices<'_> {
    fn enter_template(&mut self, template: Option<TemplateId>) {
        self.own = template;
    }

    fn expr(&mut self, value: &mut Expr) {
        let span = value.span;
        match &mut value.kind {
            ExprKind::Bound(var) => {
                if let Some(template) = self.bound.get(var) {
                    let id = Expr {
                        kind: ExprKind::Bound(*var),
                        ty: ExprType::Id(*template),
                        span,
                    };
                    value.kind = ExprKind::IdToInt(Box::new(id));
                }
            }
            ExprKind::Remote {
                template,
                var,
                indices,
                ..
            } => {
                let program = self.program;
                self.indices(&program.templates[*template].locals[*var].dims, indices);
            }
            _ => {}
        }
    }

    fn place(&mut self, place: &mut Place) {
        let program = self.program;
        let variable = match (place.var, self.own) {
            (VarRef::Shared(var), _) => &program.shared[var],
            (VarRef::Local(var), Some(own)) => &program.templates[own].locals[var],
            (VarRef::Local(_), None) => return,
        };
        self.indices(&variable.dims, &mut place.indices);
    }
}
