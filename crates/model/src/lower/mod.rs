//! Lowering: from an instance of the checked program to guarded steps, the plain form.
//!
//! Statements are executed (`execute`) as for a family, with numbers for parameters: `expr` writes values as expressions over cells, `paths` makes steps of paths.
//!
//! Loops without labels are unrolled and definitions put in place, so the result can be far
//! larger than the text. Both kinds of growth are bounded: [`MAX_PATHS`] paths from one label, and
//! [`MAX_NODES`] nodes of expressions altogether. Beyond that there is a diagnostic, and no system.

mod expr;
mod paths;

use index_vec::IndexVec;
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{
    Domain, FairnessId, IdOrder, Initial, LocalId, Ltl, ParamId, Program, PropertyKind, Scalar,
    SharedId, Span, TemplateId, Variable,
};

use crate::build;
use crate::execute::Evaluate;
use crate::instance::{Instance, MAX_CELLS, MAX_PROCESSES, Shape, Values};
use crate::symmetry;
use crate::system::{
    CellDomain, CellId, CellInitial, Check, Dim, DimKind, Expr, IdUse, Place, ProcessId, Scope,
    System, SystemProperty, SystemPropertyKind, SystemTemplate, SystemVar, VarId,
};
use crate::temporal::{self, Atom, Formula, Liveness, TooLarge};
use crate::visit;
use expr::{Refusal, Temporal, Translator};

/// The greatest number of paths from one label to the next.
pub const MAX_PATHS: usize = 4_096;
/// The greatest number of expression nodes that lowering one instance may build.
pub const MAX_NODES: u64 = 2_000_000;

/// Lowers an instance. Dynamic templates get room for `capacity` processes each; what happens when
/// it is used up is for the user of the system to decide (`eval` reports it as an outcome of its own).
pub fn lower(instance: &Instance, capacity: u32) -> Result<System, Vec<Diagnostic>> {
    lower_with(instance, capacity, false)
}

/// The same, but integers without bounds may begin with any value: for those who make do with some of the initial states.
pub fn lower_unbounded(instance: &Instance, capacity: u32) -> Result<System, Vec<Diagnostic>> {
    lower_with(instance, capacity, true)
}

fn lower_with(
    instance: &Instance,
    capacity: u32,
    unbounded: bool,
) -> Result<System, Vec<Diagnostic>> {
    let layout = Layout::new(instance, capacity, unbounded)?;
    let program = instance.program();
    let mut errors = Vec::new();
    let mut budget = MAX_NODES;
    let symmetries = symmetry::of_templates(instance);
    let mut templates = IndexVec::new();
    for (id, template) in program.templates.iter_enumerated() {
        let steps = match paths::steps(&layout, id, &mut budget) {
            Ok(steps) => steps,
            Err(refusals) => {
                errors.extend(refusals.into_iter().map(diagnostic));
                index_vec::index_vec![Vec::new(); template.locations.len()]
            }
        };
        let shape = &layout.templates[id];
        templates.push(SystemTemplate {
            name: template.name.clone(),
            count: shape.count,
            first: shape.first,
            lowest_id: shape.lowest_id,
            single: instance.is_single(id),
            dynamic: shape.dynamic,
            ring: template.order == IdOrder::Ring,
            locations: template.locations.iter().map(|l| l.name.clone()).collect(),
            entry: template.entry,
            pc: shape.pc,
            symmetry: symmetries[id],
            steps,
        });
    }
    let mut properties = vec![SystemProperty {
        name: "checks".to_owned(),
        kind: SystemPropertyKind::Checks,
        ids: IdUse::default(),
    }];
    for property in &program.properties {
        let kind = match &property.kind {
            PropertyKind::DeadlockFree => Ok(SystemPropertyKind::DeadlockFree),
            PropertyKind::Liveness { under, formula } => {
                let span = property.span;
                liveness(&layout, &templates, under, formula, span, &mut budget)
                    .map(SystemPropertyKind::Liveness)
            }
            PropertyKind::Invariant(expr) => {
                predicate(&layout, expr, &mut budget).map(SystemPropertyKind::Invariant)
            }
        };
        match kind {
            Ok(kind) => properties.push(SystemProperty {
                name: property.name.clone(),
                kind,
                ids: symmetry::id_use(instance, &property.kind),
            }),
            Err(refusal) => errors.push(diagnostic(refusal)),
        }
    }
    let mut predicates = |list: &[threadwise_lang::program::Expr]| {
        let mut lowered = Vec::new();
        for one in list {
            match predicate(&layout, one, &mut budget) {
                Ok(expr) => lowered.push(expr),
                Err(refusal) => errors.push(diagnostic(refusal)),
            }
        }
        lowered
    };
    let initially = predicates(&program.initially);
    let exceptions = predicates(&program.exceptions);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(System {
        params: instance
            .params()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        enums: program.enums.iter().map(|e| e.members.clone()).collect(),
        templates,
        cells: layout.cells,
        vars: layout.vars,
        properties,
        initially,
        exceptions,
    })
}

/// A state predicate as a total expression: no check fails, and it is true.
fn predicate(
    layout: &Layout,
    expr: &threadwise_lang::program::Expr,
    budget: &mut u64,
) -> Result<Expr, Refusal> {
    let mut translator = Translator::new(layout, None, *budget);
    let value = translator.value(expr)?;
    *budget = translator.budget;
    let checks = translator
        .path
        .frame
        .checks
        .into_iter()
        .map(|check| check.holds);
    Ok(build::and(checks.chain([value])))
}

/// A liveness property with its quantifiers unfolded. Where a check fails while one of its predicates is evaluated, the property
/// does not hold, whatever the predicate would say. A predicate of fairness does not hold there.
fn liveness(
    layout: &Layout,
    templates: &IndexVec<TemplateId, SystemTemplate>,
    under: &[FairnessId],
    formula: &Ltl,
    span: Span,
    budget: &mut u64,
) -> Result<Liveness, Refusal> {
    let too_large = |TooLarge { span }| Refusal::TooLarge(span);
    let formula = temporal::unfold(layout.instance, formula, span).map_err(too_large)?;
    let fairness = temporal::unfold_fairness(layout.instance, under, span).map_err(too_large)?;
    let mut translator = Translator::new(layout, None, *budget);
    translator.temporal = Some(Temporal {
        steps: templates,
        taken: Vec::new(),
    });
    let mut lower = |atom: &Atom| -> Result<(Expr, Vec<Check>), Refusal> {
        let bindings = atom.bindings.iter();
        translator.path.frame.bindings = bindings
            .map(|(var, value)| (*var, Expr::Const(*value)))
            .collect();
        let value = translator.value(atom.expr)?;
        Ok((value, std::mem::take(&mut translator.path.frame.checks)))
    };
    let mut checks: Vec<Expr> = Vec::new();
    let formula = formula.try_map(&mut |atom| {
        let (value, needed) = lower(atom)?;
        for check in needed {
            if !checks.contains(&check.holds) {
                checks.push(check.holds);
            }
        }
        Ok(value)
    })?;
    let mut condition = |atom: &Atom| {
        let (value, needed) = lower(atom)?;
        let needed = needed.into_iter().map(|check| check.holds);
        Ok(build::and(needed.chain([value])))
    };
    let mut alternatives = Vec::new();
    for terms in &fairness {
        let terms = terms.iter().map(|term| term.try_map(&mut condition));
        alternatives.push(terms.collect::<Result<Vec<_>, _>>()?);
    }
    *budget = translator.budget;
    let formula = match build::and(checks) {
        build::TRUE => formula,
        defined => Formula::And(vec![formula, Formula::Atom(defined).always()]),
    };
    let declarations = layout.program.fairness.iter();
    Ok(Liveness {
        declarations: declarations.map(|fairness| fairness.name.clone()).collect(),
        taken: translator.temporal.map_or(Vec::new(), |t| t.taken),
        formula,
        fairness: alternatives,
    })
}

fn diagnostic(refusal: Refusal) -> Diagnostic {
    match refusal {
        Refusal::TooLarge(span) => Diagnostic::new(
            Code::ExpansionTooLarge,
            span,
            "the expression or step grows too large when definitions and loops are expanded",
        )
        .label("the limit is reached here")
        .help("split the step with a label, or simplify the definitions"),
        Refusal::TooManyPaths(span) => Diagnostic::new(
            Code::TooManyPaths,
            span,
            format!("the step that begins here has more than {MAX_PATHS} paths"),
        )
        .help("add a label inside, so that the step becomes several"),
        Refusal::Infinite(span) => Diagnostic::new(
            Code::TypeNotAllowed,
            span,
            "any value of a type without bounds",
        )
        .help("give the variable a range"),
        Refusal::Growing(span) => Diagnostic::new(
            Code::TypeNotAllowed,
            span,
            "the processes of a template that grows are for properties only",
        ),
        Refusal::NotAState(span) => Diagnostic::new(
            Code::FairnessOnly,
            span,
            "this depends on more than a state",
        ),
    }
}

/// Where everything lies in a state, and the program's constants.
pub(crate) struct Layout<'a> {
    instance: &'a Instance,
    program: &'a Program,
    params: IndexVec<ParamId, i64>,
    templates: IndexVec<TemplateId, TemplateShape>,
    vars: IndexVec<VarId, SystemVar>,
    cells: usize,
    /// Whether integers without bounds may begin with any value.
    unbounded: bool,
}

struct TemplateShape {
    count: u32,
    first: ProcessId,
    lowest_id: i64,
    dynamic: bool,
    pc: VarId,
    locations: usize,
}

impl TemplateShape {
    /// The program counter of a process that is not started yet.
    fn unstarted(&self) -> i64 {
        self.locations as i64
    }
}

impl<'a> Layout<'a> {
    fn new(
        instance: &'a Instance,
        capacity: u32,
        unbounded: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let program = instance.program();
        let mut layout = Layout {
            instance,
            program,
            params: program
                .params
                .indices()
                .map(|p| instance.param(p))
                .collect(),
            templates: IndexVec::new(),
            vars: IndexVec::new(),
            cells: 0,
            unbounded,
        };
        // Counts first: arrays and id types of any variable depend on them.
        let mut processes: u32 = 0;
        let mut pc = program.shared.len();
        for (id, template) in program.templates.iter_enumerated() {
            let dynamic = instance.is_dynamic(id);
            let count = if dynamic {
                capacity
            } else {
                instance.count(id)
            };
            layout.templates.push(TemplateShape {
                count,
                first: ProcessId::from_raw(processes),
                lowest_id: instance.lowest_id(id),
                dynamic,
                pc: VarId::new(pc),
                locations: template.locations.len(),
            });
            processes = processes.saturating_add(count);
            pc += 1 + template.locals.len();
            if processes > MAX_PROCESSES {
                return Err(vec![too_large(
                    template.span,
                    "processes",
                    u64::from(MAX_PROCESSES),
                )]);
            }
        }
        for (id, var) in program.shared.iter_enumerated() {
            let var = layout.var(var, instance.shared(id), None)?;
            layout.cells += var.len as usize;
            layout.vars.push(var);
        }
        for (id, template) in program.templates.iter_enumerated() {
            let base = layout.cells;
            let pc = SystemVar {
                name: "pc".to_owned(),
                scope: Scope::Local(id),
                dims: Vec::new(),
                domain: CellDomain::Location(id),
                initial: CellInitial::Value(Expr::Const(if instance.is_dynamic(id) {
                    template.locations.len() as i64
                } else {
                    i64::from(template.entry.raw())
                })),
                first: CellId::new(base),
                len: 1,
                stride: 0,
            };
            let mut vars = vec![pc];
            let mut stride = 1;
            for (local, var) in template.locals.iter_enumerated() {
                let mut var = layout.var(var, instance.local(id, local), Some(id))?;
                var.first = CellId::new(base + stride as usize);
                stride += var.len;
                vars.push(var);
            }
            for mut var in vars {
                var.stride = stride;
                layout.vars.push(var);
            }
            let count = u64::from(layout.templates[id].count);
            let cells = base as u64 + count.saturating_mul(u64::from(stride));
            if cells > MAX_CELLS.saturating_mul(2) {
                return Err(vec![too_large(template.span, "cells", MAX_CELLS)]);
            }
            layout.cells = cells as usize;
        }
        Ok(layout)
    }

    fn var(
        &self,
        var: &Variable,
        shape: &Shape,
        owner: Option<TemplateId>,
    ) -> Result<SystemVar, Vec<Diagnostic>> {
        let dims = var.dims.iter().zip(&shape.dims).map(|(domain, dim)| Dim {
            size: dim.size,
            kind: match domain {
                Domain::Range(..) => DimKind::Range(dim.lowest),
                Domain::Enum(id) => DimKind::Enum(id.raw()),
                Domain::Template(id) => DimKind::Template(*id),
            },
        });
        let domain = match &var.scalar {
            Scalar::Bool => CellDomain::Bool,
            Scalar::Int => CellDomain::Int,
            Scalar::Range(..) => match shape.values {
                Values::Between(lo, hi) => CellDomain::Range(lo, hi),
                _ => CellDomain::Int,
            },
            Scalar::Enum(id) => {
                CellDomain::Enum(id.raw(), self.program.enums[*id].members.len() as u32)
            }
            Scalar::Id(id) | Scalar::OptId(id) if self.templates[*id].dynamic => {
                return Err(vec![diagnostic(Refusal::Growing(var.span))]);
            }
            Scalar::Id(id) => CellDomain::Id(*id),
            Scalar::OptId(id) => CellDomain::OptId(*id),
            Scalar::Mutex => CellDomain::Mutex,
        };
        let initial = match &var.initial {
            Initial::Free => CellInitial::Value(Expr::Const(-1)),
            Initial::Any => self.any(var, owner, domain)?,
            // What a process is given it has from its start; until then the cell holds the least.
            Initial::Given => {
                CellInitial::Value(Expr::Const(self.values(domain).map_or(0, |(lo, _)| lo)))
            }
            Initial::Value(expr) => {
                // The instance has evaluated it and found it sound: the checks hold.
                let mut translator = Translator::new(self, owner, MAX_NODES);
                let value = translator
                    .value(expr)
                    .map_err(|refusal| vec![diagnostic(refusal)])?;
                // One that is the same for all is evaluated once, not for each cell and by each engine.
                let same = !visit::mentions_own_id(expr, self.program);
                let known = same.then(|| self.instance.constant(expr).ok()).flatten();
                CellInitial::Value(known.map_or(value, Expr::Const))
            }
        };
        Ok(SystemVar {
            name: var.name.clone(),
            scope: owner.map_or(Scope::Shared, Scope::Local),
            dims: dims.collect(),
            domain,
            initial,
            first: CellId::new(self.cells),
            len: shape.len as u32,
            stride: 0,
        })
    }

    /// How a variable that begins with any value begins.
    fn any(
        &self,
        var: &Variable,
        owner: Option<TemplateId>,
        domain: CellDomain,
    ) -> Result<CellInitial, Vec<Diagnostic>> {
        let waits = owner.is_some_and(|owner| self.templates[owner].dynamic);
        Ok(match domain {
            CellDomain::Int if self.unbounded && !waits => CellInitial::Any,
            CellDomain::Int | CellDomain::Mutex => {
                return Err(vec![diagnostic(Refusal::Infinite(var.span))]);
            }
            // The value is chosen when the process is started; until then the cell holds the least.
            _ if waits => {
                CellInitial::Value(Expr::Const(self.values(domain).map_or(0, |(lo, _)| lo)))
            }
            _ => CellInitial::Any,
        })
    }

    /// The least and the greatest value that can be chosen for a cell; `None` for `int` and `mutex`.
    fn values(&self, domain: CellDomain) -> Option<(i64, i64)> {
        let last = |template: TemplateId| i64::from(self.templates[template].count) - 1;
        Some(match domain {
            CellDomain::Bool => (0, 1),
            CellDomain::Range(lo, hi) => (lo, hi),
            CellDomain::Int | CellDomain::Mutex => return None,
            CellDomain::Enum(_, members) => (0, i64::from(members) - 1),
            CellDomain::Id(template) => (0, last(template)),
            CellDomain::OptId(template) => (-1, last(template)),
            CellDomain::Location(template) => (0, self.templates[template].locations as i64 - 1),
        })
    }

    /// The least and the greatest value of a bound variable's domain.
    fn bounds(&self, domain: &Domain) -> Option<(i64, i64)> {
        Some(match domain {
            Domain::Range(lo, hi) => (
                self.instance.constant(lo).ok()?,
                self.instance.constant(hi).ok()?,
            ),
            Domain::Enum(id) => (0, self.program.enums[*id].members.len() as i64 - 1),
            Domain::Template(id) => (0, i64::from(self.templates[*id].count) - 1),
        })
    }

    /// The template, if the domain is one that grows.
    fn dynamic(&self, domain: &Domain) -> Option<TemplateId> {
        match domain {
            Domain::Template(id) if self.templates[*id].dynamic => Some(*id),
            _ => None,
        }
    }

    fn shared(&self, var: SharedId) -> VarId {
        VarId::new(var.index())
    }

    fn local(&self, template: TemplateId, var: LocalId) -> VarId {
        self.templates[template].pc + 1 + var.index()
    }

    /// The program counter of a process, read.
    fn pc(&self, template: TemplateId, process: Expr) -> Expr {
        build::load(Place {
            var: self.templates[template].pc,
            process: Some(process),
            offset: None,
        })
    }
}

fn too_large(span: Span, what: &str, limit: u64) -> Diagnostic {
    Diagnostic::new(
        Code::TooLarge,
        span,
        format!("the instance has too many {what}; it can have {limit}"),
    )
    .help("choose smaller parameters, or a smaller capacity for templates that grow")
}
