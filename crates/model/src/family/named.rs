//! Processes that a property names by numbers, as `P[1]`.

use threadwise_lang::program::{BoundId, TemplateId};

use super::{Cell, Dimension, Family, Formula, Index, Term};

/// The first process that a formula names by a number: its template and its id.
pub(super) fn process(formula: &Formula) -> Option<(TemplateId, Term)> {
    match formula {
        Formula::Constant(_) => None,
        Formula::AtMost(a, b) | Formula::Equal(a, b) => of_term(a).or_else(|| of_term(b)),
        Formula::At {
            template, process, ..
        } => is_number(process).then(|| (*template, process.clone())),
        Formula::Not(inner) => process(inner),
        Formula::And(members) | Formula::Or(members) => members.iter().find_map(process),
        Formula::ForAll(_, _, body) | Formula::Exists(_, _, body) => process(body),
    }
}

fn of_term(term: &Term) -> Option<(TemplateId, Term)> {
    match term {
        Term::Cell(Cell::Local {
            template, process, ..
        }) if is_number(process) => Some((*template, (**process).clone())),
        Term::Sum(terms) => terms.iter().find_map(of_term),
        Term::Scaled(_, term) => of_term(term),
        Term::If(condition, yes, no) => {
            let parts = of_term(yes).or_else(|| of_term(no));
            process(condition).or(parts)
        }
        _ => None,
    }
}

/// Whether a term is a number, or one over parameters.
fn is_number(term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::Param(_) => true,
        Term::Sum(terms) => terms.iter().all(is_number),
        Term::Scaled(_, term) => is_number(term),
        _ => false,
    }
}

/// Whether a formula is about parameters and numbers of processes alone.
pub(super) fn is_fixed(formula: &Formula) -> bool {
    let fixed = |term: &Term| match term {
        Term::Sum(terms) => (terms.iter()).all(|term| is_number(term) || is_population(term)),
        term => is_number(term) || is_population(term),
    };
    match formula {
        Formula::Constant(_) => true,
        Formula::AtMost(a, b) | Formula::Equal(a, b) => fixed(a) && fixed(b),
        Formula::Not(inner) => is_fixed(inner),
        Formula::And(members) | Formula::Or(members) => members.iter().all(is_fixed),
        _ => false,
    }
}

fn is_population(term: &Term) -> bool {
    matches!(term, Term::Population(_))
}

/// A formula with another name for a process that it names by a number.
pub(super) fn replaced(
    family: &Family,
    formula: &Formula,
    of: (TemplateId, &Term),
    by: BoundId,
) -> Formula {
    Replacement { family, of, by }.formula(formula)
}

struct Replacement<'a> {
    family: &'a Family,
    of: (TemplateId, &'a Term),
    by: BoundId,
}

impl Replacement<'_> {
    fn process(&self, template: TemplateId, process: &Term) -> Term {
        match (template, process) == self.of {
            true => Term::Bound(self.by),
            false => self.term(process),
        }
    }

    fn formula(&self, formula: &Formula) -> Formula {
        let each = |members: &[Formula]| -> Vec<Formula> {
            members.iter().map(|member| self.formula(member)).collect()
        };
        match formula {
            Formula::Constant(truth) => Formula::Constant(*truth),
            Formula::AtMost(a, b) => Formula::at_most(self.term(a), self.term(b)),
            Formula::Equal(a, b) => Formula::equal(self.term(a), self.term(b)),
            Formula::At {
                template,
                process,
                locations,
            } => Formula::At {
                template: *template,
                process: self.process(*template, process),
                locations: locations.clone(),
            },
            Formula::Not(inner) => self.formula(inner).negated(),
            Formula::And(members) => Formula::all(each(members)),
            Formula::Or(members) => Formula::any(each(members)),
            Formula::ForAll(var, template, body) => {
                Formula::quantified(true, *var, *template, self.formula(body))
            }
            Formula::Exists(var, template, body) => {
                Formula::quantified(false, *var, *template, self.formula(body))
            }
        }
    }

    fn term(&self, term: &Term) -> Term {
        let boxed = |term: &Term| Box::new(self.term(term));
        match term {
            Term::Cell(cell) => Term::Cell(self.cell(cell)),
            Term::Sum(terms) => Term::sum(terms.iter().map(|term| self.term(term)).collect()),
            Term::Scaled(factor, term) => Term::scaled(*factor, self.term(term)),
            Term::Product(a, b) => Term::Product(boxed(a), boxed(b)),
            Term::Quotient(a, b) => Term::Quotient(boxed(a), boxed(b)),
            Term::Remainder(a, b) => Term::Remainder(boxed(a), boxed(b)),
            Term::If(condition, yes, no) => {
                Term::either(self.formula(condition), self.term(yes), self.term(no))
            }
            Term::Fold {
                kind,
                var,
                template,
                body,
            } => Term::Fold {
                kind: *kind,
                var: *var,
                template: *template,
                body: boxed(body),
            },
            _ => term.clone(),
        }
    }

    fn cell(&self, cell: &Cell) -> Cell {
        let each = |dims: &[Dimension], indices: &[Index]| -> Vec<Index> {
            let each = dims.iter().zip(indices).map(|pair| match pair {
                (Dimension::Processes(template), Index::Process(process)) => {
                    Index::Process(self.process(*template, process))
                }
                (_, index) => index.clone(),
            });
            each.collect()
        };
        match cell {
            Cell::Shared { var, indices } => Cell::Shared {
                var: *var,
                indices: each(&self.family.shared[*var].dims, indices),
            },
            Cell::Local {
                template,
                process,
                var,
                indices,
            } => {
                let declared = &self.family.templates[*template].locals[*var];
                Cell::Local {
                    template: *template,
                    process: Box::new(self.process(*template, process)),
                    var: *var,
                    indices: each(&declared.dims, indices),
                }
            }
        }
    }
}
