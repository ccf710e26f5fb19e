//! A program for all values of its parameters: what its processes do, as formulas over parameters, shared variables and local ones, with no instance in sight.
//!
//! An [`Instance`](crate::instance::Instance) has numbers where the program has parameters, and a cell for each process. A [`Family`] keeps the parameters,
//! and names a process by a term for its id. Every step is a list of [`Path`]s: what must hold for it, what is written, who is started, and where it ends. Statements are
//! executed (`execute`) as in the lowering of instances: choices between paths are the only alternatives, and `if` makes two paths. Nothing is approximated
//! here, but that integers are unbounded. What has no such form (arrays whose size depends on parameters, a `for` over all processes in one step whose rounds influence one another, many
//! paths) is [`Unsupported`].
//!
//! Cells hold integers as in a [state](crate::state), but for a mutex: it is -1 or [`Family::mutex_code`] of its holder, which has no upper bound on the number of processes.

mod counts;
mod expr;
mod liveness;
mod named;
mod paths;
mod properties;
mod slots;
mod terms;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use index_vec::IndexVec;
use threadwise_lang::program::{
    BoundId, Domain, Expr, Initial, Instances, LocalId, LocationId, ParamId, Program, Scalar,
    SharedId, Span, TemplateId, VarRef, Variable,
};

use crate::execute::Evaluate;
use crate::state::{FREE, NONE};
use crate::system::CheckKind;
use crate::visit;
use expr::Lowering;

pub use liveness::{From, Liveness, Pair};
pub use properties::Conjunct;
pub use slots::is_slot;
pub use terms::{Cell, FoldKind, Formula, Index, Names, Term};

/// The greatest number of cells that an array may have for each process.
const MAX_POSITIONS: u64 = 64;
/// The greatest number of paths of a template.
const MAX_PATHS: usize = 2_000;

/// A program for all values of its parameters.
#[derive(Clone, Debug)]
pub struct Family {
    program: Arc<Program>,
    /// The values of parameters that are given.
    pub fixed: IndexVec<ParamId, Option<i64>>,
    /// What `where` says. Terms are over parameters only.
    pub assumptions: Vec<Formula>,
    /// What must follow from the assumptions for every allowed value of the parameters to have an instance.
    pub requirements: Vec<Requirement>,
    /// What holds in initial states, besides what variables begin with. What its evaluation checks does, too.
    pub initially: Vec<Formula>,
    /// Shared variables.
    pub shared: IndexVec<SharedId, FamilyVariable>,
    /// Templates.
    pub templates: IndexVec<TemplateId, FamilyTemplate>,
}

/// A condition for an instance to exist.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The template of the process that [`Term::Own`] is in the formula, if it is about one: it is to hold of each at first.
    pub of: Option<TemplateId>,
    /// What must hold. Terms are over parameters, numbers of processes at first, and the own id.
    pub formula: Formula,
    /// Where the source asks for it.
    pub span: Span,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct FamilyVariable {
    /// Its name.
    pub name: String,
    /// The dimensions of an array.
    pub dims: Vec<Dimension>,
    /// The least value of a cell, if there is one: over parameters and numbers of processes.
    pub least: Option<Term>,
    /// The greatest value of a cell, if there is one.
    pub greatest: Option<Term>,
    /// What every cell begins with: over parameters, and the own id. `None` for any value of the type.
    pub initial: Option<Term>,
}

/// What an array is indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Consecutive integers.
    Positions {
        /// The least.
        lowest: i64,
        /// How many.
        size: u32,
    },
    /// The processes of a template.
    Processes(TemplateId),
}

/// A template.
#[derive(Clone, Debug)]
pub struct FamilyTemplate {
    /// Its name.
    pub name: String,
    /// How many processes there are.
    pub population: Population,
    /// The number that people see for the process with index 0.
    pub lowest_id: Term,
    /// Local variables.
    pub locals: IndexVec<LocalId, FamilyVariable>,
    /// The names of labels, and `done`.
    pub locations: IndexVec<LocationId, String>,
    /// Where processes begin.
    pub entry: LocationId,
    /// The paths from every label, in the order of labels.
    pub paths: Vec<Path>,
    /// The labels at which a process may rest (`stay`).
    pub rests: BTreeSet<LocationId>,
}

/// How many processes a template has.
#[derive(Clone, Debug)]
pub enum Population {
    /// As many as there are integers from the first to the second; none if there are none. Terms are over parameters.
    Between(Term, Term),
    /// None at first, more with `start`.
    Grows,
}

/// What a process can do from a label.
#[derive(Clone, Debug)]
pub struct Path {
    /// The label.
    pub from: LocationId,
    /// What must hold in the state before, all together. Terms are over that state.
    pub guard: Vec<Formula>,
    /// How many values are chosen: `Term::Choice(0)` and so on. The guard says what they can be.
    pub choices: u32,
    /// What is written, one after the other, so that of two writes to a cell the later one counts: all values and indices are terms over the state before.
    ///
    /// A write may be to cells of all processes at once. Then [`Write::each`] lists processes with their templates; the cell has each of them as an index,
    /// [`Index::Process`] of [`Term::Bound`], in a dimension over its template, and the value may speak of them. So no cell is written twice by one such write. An index need be a process only where the value is not the one that the cell has anyway (`if c { a[p] := .. }` checks `p` where `c` holds). What a step leaves in a cell is
    /// found by [`Write::after`], one write after the other: where the written cell has a bound process, the cell that is asked for has the one that is meant. The names are bound by the
    /// write alone: several writes, and quantifiers inside values, may use the same ones.
    pub writes: Vec<Write>,
    /// Processes that are started.
    pub starts: Vec<Started>,
    /// How it ends.
    pub end: PathEnd,
    /// The first statement, for messages.
    pub span: Span,
}

/// A process that a step starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its template.
    pub template: TemplateId,
    /// What its parameters are, over the state before. Other variables begin as their declarations say.
    pub given: Vec<(LocalId, Term)>,
}

impl Path {
    /// How many processes of a template the step starts.
    pub fn starts_of(&self, template: TemplateId) -> usize {
        let starts = self.starts.iter();
        starts
            .filter(|started| started.template == template)
            .count()
    }

    /// What a parameter of a process that the step starts can be: one term for each process that it may be, in which the process that takes the step has a number.
    /// Nothing if the variable is no parameter.
    pub fn given(&self, template: TemplateId, local: LocalId, mover: u32) -> Vec<Term> {
        let names = Names {
            own: Some(mover),
            ..Names::default()
        };
        let starts = self.starts.iter();
        let starts = starts.filter(|started| started.template == template);
        let given = starts.flat_map(|started| &started.given);
        let mut terms: Vec<Term> = Vec::new();
        for (_, term) in given.filter(|(given, _)| *given == local) {
            let term = term.resolve(&names);
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        terms
    }
}

/// A value that a step writes: to one cell, or to one for each process of some templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The processes for which it is done, all at once: names, and their templates. Nothing if it is one cell.
    pub each: Vec<(BoundId, TemplateId)>,
    /// The cell.
    pub cell: Cell,
    /// What it holds then.
    pub value: Term,
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// At a label, or at `done`.
    At(LocationId),
    /// With a check that fails; nothing is written.
    Fails(CheckKind, Span),
}

/// What a family cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Unsupported {
    /// What it is.
    pub what: String,
    /// The place in the source.
    pub span: Span,
}

impl Unsupported {
    pub(crate) fn new(what: impl Into<String>, span: Span) -> Unsupported {
        Unsupported {
            what: what.into(),
            span,
        }
    }
}

impl Family {
    /// Lowers a program; parameters that are named have these values.
    pub fn new(
        program: Arc<Program>,
        values: &BTreeMap<String, i64>,
    ) -> Result<Family, Unsupported> {
        let fixed = program.params.iter();
        let mut family = Family {
            fixed: fixed.map(|p| values.get(&p.name).copied()).collect(),
            program: Arc::clone(&program),
            assumptions: Vec::new(),
            requirements: Vec::new(),
            initially: Vec::new(),
            shared: IndexVec::new(),
            templates: IndexVec::new(),
        };
        let with_templates = slots::with_templates(&program, &|lo, hi| {
            let (lo, _) = family.constant_value(lo).ok()?;
            let (hi, _) = family.constant_value(hi).ok()?;
            Some((lo, hi))
        });
        let program = Arc::new(with_templates);
        family.program = Arc::clone(&program);
        for param in &program.params {
            if let Some(constraint) = &param.constraint {
                let (formula, checks) = family.constant_formula(constraint)?;
                // A constraint that cannot be evaluated excludes nothing and allows nothing: there is no such instance.
                for check in checks {
                    family.require(None, check, constraint.span);
                }
                family.assumptions.push(formula);
            }
        }
        family.declare_templates(&program)?;
        for variable in &program.shared {
            let lowered = family.variable(variable, None)?;
            family.shared.push(lowered);
        }
        for (id, template) in program.templates.iter_enumerated() {
            for variable in &template.locals {
                let lowered = family.variable(variable, Some(id))?;
                family.templates[id].locals.push(lowered);
            }
        }
        family.require_domains(&program)?;
        for id in program.templates.indices() {
            let (paths, rests) = paths::paths(&family, id)?;
            family.templates[id].paths = paths;
            family.templates[id].rests = rests;
        }
        for predicate in &program.initially {
            for conjunct in family.conjuncts(predicate)? {
                let variables = conjunct.variables.into_iter().rev();
                let all = variables.fold(conjunct.body, |body, (var, template)| {
                    Formula::quantified(true, var, template, body)
                });
                family.initially.push(all);
            }
        }
        Ok(family)
    }

    /// The program, with templates for ranges that arrays are over ([`Family::is_slot`]) after its own ones.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program, to keep.
    pub fn shared_program(&self) -> Arc<Program> {
        Arc::clone(&self.program)
    }

    /// Whether the processes of a template are the indices of arrays, and not of the program: they have ended from the first, and stay as many as they are.
    pub fn is_slot(&self, template: TemplateId) -> bool {
        slots::is_slot(&self.program.templates[template])
    }

    /// A variable.
    pub fn variable_of(&self, var: VarRef, template: TemplateId) -> &FamilyVariable {
        match var {
            VarRef::Shared(var) => &self.shared[var],
            VarRef::Local(var) => &self.templates[template].locals[var],
        }
    }

    /// What a mutex holds while a process has it: different for all processes, and not negative.
    pub fn mutex_code(&self, template: TemplateId, id: Term) -> Term {
        let templates = self.program.templates.len() as i64;
        Term::sum(vec![
            Term::scaled(templates, id),
            Term::Number(i64::from(template.raw())),
        ])
    }

    /// The number of processes of a template at first, over parameters.
    pub fn initial_population(&self, template: TemplateId) -> Term {
        match &self.templates[template].population {
            Population::Grows => Term::Number(0),
            Population::Between(lo, hi) => {
                let size = Term::sum(vec![
                    hi.clone(),
                    Term::scaled(-1, lo.clone()),
                    Term::Number(1),
                ]);
                Term::either(
                    Formula::at_most(Term::Number(0), size.clone()),
                    size,
                    Term::Number(0),
                )
            }
        }
    }

    fn require(&mut self, of: Option<TemplateId>, formula: Formula, span: Span) {
        let known = |known: &Requirement| known.of == of && known.formula == formula;
        if formula != Formula::Constant(true) && !self.requirements.iter().any(known) {
            self.requirements.push(Requirement { of, formula, span });
        }
    }

    /// Requires that the bounds of every quantifier, loop and choice have values.
    fn require_domains(&mut self, program: &Program) -> Result<(), Unsupported> {
        let mut bounds: Vec<Expr> = Vec::new();
        visit::domains(program, &mut |domain, _, _| {
            if let Domain::Range(lo, hi) = domain {
                bounds.extend([(**lo).clone(), (**hi).clone()]);
            }
        });
        for bound in &bounds {
            self.constant_term(bound)?;
        }
        Ok(())
    }

    fn declare_templates(&mut self, program: &Program) -> Result<(), Unsupported> {
        for template in &program.templates {
            let (population, lowest_id) = match &template.instances {
                Instances::Single => (
                    Population::Between(Term::Number(0), Term::Number(0)),
                    Term::Number(0),
                ),
                Instances::Dynamic => (Population::Grows, Term::Number(1)),
                Instances::Range(lo, hi) => {
                    let lo = self.constant_term(lo)?;
                    let hi = self.constant_term(hi)?;
                    (Population::Between(lo.clone(), hi), lo)
                }
            };
            self.templates.push(FamilyTemplate {
                name: template.name.clone(),
                population,
                lowest_id,
                locals: IndexVec::new(),
                locations: template.locations.iter().map(|l| l.name.clone()).collect(),
                entry: template.entry,
                paths: Vec::new(),
                rests: BTreeSet::new(),
            });
        }
        Ok(())
    }

    /// A term over parameters; what its evaluation checks is required.
    fn constant_term(&mut self, expr: &Expr) -> Result<Term, Unsupported> {
        let (term, checks) = self.constant_value(expr)?;
        for check in checks {
            self.require(None, check, expr.span);
        }
        Ok(term)
    }

    /// A term over parameters, and what its evaluation checks.
    fn constant_value(&self, expr: &Expr) -> Result<(Term, Vec<Formula>), Unsupported> {
        let mut lowering = Lowering::constant(self, None);
        let term = lowering.value(expr)?;
        let checks = std::mem::take(&mut lowering.frame().checks);
        Ok((term, checks.into_iter().map(|check| check.holds).collect()))
    }

    fn constant_formula(&self, expr: &Expr) -> Result<(Formula, Vec<Formula>), Unsupported> {
        let mut lowering = Lowering::constant(self, None);
        let formula = lowering.truth(expr)?;
        let checks = std::mem::take(&mut lowering.frame().checks);
        Ok((formula, checks.into_iter().map(|c| c.holds).collect()))
    }

    fn variable(
        &mut self,
        variable: &Variable,
        of: Option<TemplateId>,
    ) -> Result<FamilyVariable, Unsupported> {
        let mut dims = Vec::new();
        for domain in &variable.dims {
            dims.push(self.dimension(domain, variable)?);
        }
        let positions = dims.iter().map(|dim| match dim {
            Dimension::Positions { size, .. } => u64::from(*size),
            Dimension::Processes(_) => 1,
        });
        // An array without entries has no dimension with very many of them either.
        let positions = positions.fold(1, |all: u64, size| all.saturating_mul(size.max(1)));
        if positions > MAX_POSITIONS {
            let what = format!(
                "the array `{}` has more than {MAX_POSITIONS} entries",
                variable.name
            );
            return Err(Unsupported::new(what, variable.span));
        }
        let (least, greatest) = self.extremes(variable)?;
        // Of a template that grows, one process must fit, though there is none at first. It has no name for its own id.
        let of = of.filter(|t| !matches!(self.templates[*t].population, Population::Grows));
        let initial = match (&variable.initial, &least) {
            (_, Some(least)) if variable.loop_counter => Some(least.clone()),
            // What the values are that a process is given is said where it is started.
            (Initial::Any | Initial::Given, _) => None,
            (Initial::Free, _) => Some(Term::Number(FREE)),
            (Initial::Value(expr), _) => {
                let mut lowering = Lowering::constant(self, of);
                let term = lowering.value(expr)?;
                let checks = std::mem::take(&mut lowering.frame().checks);
                for check in checks {
                    let condition = self.where_cells_exist(&dims, check.holds);
                    self.require(of, condition, expr.span);
                }
                Some(term)
            }
        };
        if !variable.loop_counter {
            let inhabited = match (&least, &greatest) {
                (Some(least), Some(greatest)) => Formula::at_most(least.clone(), greatest.clone()),
                _ => Formula::Constant(true),
            };
            let inside = initial
                .as_ref()
                .map(|initial| between(&least, initial, &greatest));
            for condition in [inhabited].into_iter().chain(inside) {
                let condition = self.where_cells_exist(&dims, condition);
                self.require(of, condition, variable.span);
            }
        }
        Ok(FamilyVariable {
            name: variable.name.clone(),
            dims,
            least,
            greatest,
            initial,
        })
    }

    /// The least and the greatest value of a variable's cells.
    fn extremes(
        &mut self,
        variable: &Variable,
    ) -> Result<(Option<Term>, Option<Term>), Unsupported> {
        let (least, greatest) = match &variable.scalar {
            Scalar::Int => return Ok((None, None)),
            Scalar::Mutex => return Ok((Some(Term::Number(FREE)), None)),
            Scalar::Bool => (Term::Number(0), Term::Number(1)),
            Scalar::Range(lo, hi) => (self.constant_term(lo)?, self.constant_term(hi)?),
            Scalar::Enum(id) => self.domain_bounds(&Domain::Enum(*id))?,
            Scalar::Id(template) => self.domain_bounds(&Domain::Template(*template))?,
            Scalar::OptId(template) => {
                let (_, last) = self.domain_bounds(&Domain::Template(*template))?;
                (Term::Number(NONE), last)
            }
        };
        if !variable.loop_counter {
            return Ok((Some(least), Some(greatest)));
        }
        // The counter of a loop that never runs rests at the least value all the same.
        let some = Formula::at_most(least.clone(), greatest.clone());
        let greatest = Term::either(some, greatest, least.clone());
        Ok((Some(least), Some(greatest)))
    }

    /// A requirement of the cells of an array holds if there are none.
    fn where_cells_exist(&self, dims: &[Dimension], formula: Formula) -> Formula {
        let none = dims.iter().map(|dim| match dim {
            Dimension::Positions { size, .. } => Formula::Constant(*size == 0),
            Dimension::Processes(template) => {
                Formula::at_most(Term::Population(*template), Term::Number(0))
            }
        });
        Formula::any(none.chain([formula]))
    }

    fn dimension(
        &mut self,
        domain: &Domain,
        variable: &Variable,
    ) -> Result<Dimension, Unsupported> {
        match domain {
            Domain::Template(template) => {
                if matches!(self.templates[*template].population, Population::Grows) {
                    let what = format!(
                        "`{}` is an array over the ids of a template that grows",
                        variable.name
                    );
                    return Err(Unsupported::new(what, variable.span));
                }
                Ok(Dimension::Processes(*template))
            }
            Domain::Enum(id) => Ok(Dimension::Positions {
                lowest: 0,
                size: self.program.enums[*id].members.len() as u32,
            }),
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.constant_term(lo)?, self.constant_term(hi)?);
                let (Term::Number(lo), Term::Number(hi)) = (lo, hi) else {
                    let what = format!(
                        "the size of the array `{}` depends on parameters",
                        variable.name
                    );
                    return Err(Unsupported::new(what, variable.span));
                };
                let size = (i128::from(hi) - i128::from(lo) + 1).clamp(0, i128::from(u32::MAX));
                Ok(Dimension::Positions {
                    lowest: lo,
                    size: size as u32,
                })
            }
        }
    }

    /// The least and the greatest value of a domain, as terms.
    fn domain_bounds(&self, domain: &Domain) -> Result<(Term, Term), Unsupported> {
        match domain {
            Domain::Range(lo, hi) => {
                let mut lowering = Lowering::constant(self, None);
                Ok((lowering.value(lo)?, lowering.value(hi)?))
            }
            Domain::Enum(id) => {
                let members = self.program.enums[*id].members.len() as i64;
                Ok((Term::Number(0), Term::Number(members - 1)))
            }
            Domain::Template(template) => Ok((
                Term::Number(0),
                Term::sum(vec![Term::Population(*template), Term::Number(-1)]),
            )),
        }
    }

    /// The values of a domain whose bounds are numbers.
    fn domain_values(
        &self,
        domain: &Domain,
        span: Span,
    ) -> Result<std::ops::RangeInclusive<i64>, Unsupported> {
        match self.domain_bounds(domain)? {
            (Term::Number(lo), Term::Number(hi)) => {
                if i128::from(hi) - i128::from(lo) >= i128::from(MAX_POSITIONS) {
                    let what = format!("{lo}..{hi} has more than {MAX_POSITIONS} values");
                    return Err(Unsupported::new(what, span));
                }
                Ok(lo..=hi)
            }
            _ if matches!(domain, Domain::Template(_)) => Err(Unsupported::new(
                "rounds of a `for` over all processes in one step may influence one another",
                span,
            )),
            _ => Err(Unsupported::new(
                "the number of values depends on parameters",
                span,
            )),
        }
    }
}

/// A term lies between the others.
fn between(least: &Option<Term>, term: &Term, greatest: &Option<Term>) -> Formula {
    let low = least.iter();
    let low = low.map(|least| Formula::at_most(least.clone(), term.clone()));
    let high = greatest.iter();
    let high = high.map(|greatest| Formula::at_most(term.clone(), greatest.clone()));
    Formula::all(low.chain(high))
}
