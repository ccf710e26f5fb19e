//! A program for given parameter values: every bound, count and initial value that depends on
//! parameters only, evaluated once and found sound.
//!
//! What [`Instance::new`] accepts has a state of bounded size, types that are not empty, initial
//! values inside their types, and domains whose bounds can be evaluated; so whoever uses an
//! instance asks for them without a case for failure.

use std::collections::BTreeMap;
use std::sync::Arc;

use index_vec::IndexVec;
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::{
    Domain, Expr, Initial, Instances, LocalId, ParamId, Program, Scalar, SharedId, Span,
    TemplateId, VarRef, Variable,
};
use threadwise_lang::suggest;

use crate::expression::{Budget, Limit, Scope, Stop};
use crate::initial::InitialStates;
use crate::state::{FREE, ProcessRef};
use crate::system::CheckKind;
use crate::visit::{self, DomainUse};

/// The greatest number of processes of an instance.
pub const MAX_PROCESSES: u32 = 100_000;
/// The greatest number of cells of a state: shared and local variables, and one for the location
/// of each process.
pub const MAX_CELLS: u64 = 4_000_000;
/// Operations that evaluating one constant may take, and all initial values together: there may be one for each process.
const MAX_CONSTANT_WORK: u64 = 10_000_000;

/// A program with values for its parameters.
#[derive(Clone, Debug)]
pub struct Instance {
    program: Arc<Program>,
    params: IndexVec<ParamId, i64>,
    templates: IndexVec<TemplateId, TemplateInstance>,
    shared: IndexVec<SharedId, Shape>,
    shared_cells: usize,
}

/// A template with its numbers.
#[derive(Clone, Debug)]
struct TemplateInstance {
    count: u32,
    lowest_id: i64,
    locals: IndexVec<LocalId, Shape>,
    local_cells: usize,
}

/// A variable with its numbers.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The position of its first cell among the shared cells, or among its process's cells.
    pub first: usize,
    /// The dimensions, outermost first.
    pub dims: Vec<Dim>,
    /// The number of cells: the product of the dimensions.
    pub len: usize,
    /// The values of a cell.
    pub values: Values,
    /// How its cells begin.
    pub start: Start,
}

/// An array dimension: consecutive indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// The least index.
    pub lowest: i64,
    /// How many there are.
    pub size: u32,
}

impl Dim {
    /// How far an index is from the first; nothing if it lies outside.
    pub fn offset(self, index: i64) -> Option<usize> {
        let offset = index.checked_sub(self.lowest)?;
        (offset >= 0 && offset < i64::from(self.size)).then_some(offset as usize)
    }
}

/// The values that a cell may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// The integers from the first to the second: a Boolean, a range, members of an enumeration, ids (from 0) or optional ids (from -1).
    Between(i64, i64),
    /// Every integer.
    Integers,
    /// Ids of a dynamic template: those started so far, and `none` if `optional`.
    Started {
        /// The template.
        template: TemplateId,
        /// Whether `none` is among them.
        optional: bool,
    },
    /// The states of a mutex.
    Mutex,
}

/// How the cells of a variable begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Each cell with any of its values.
    Any,
    /// All with this value.
    Same(i64),
    /// A local variable whose initial value depends on the id: one value for each process.
    Each(Vec<i64>),
}

impl Start {
    /// The value that the process with this index begins with; nothing for `any`.
    pub fn value(&self, index: u32) -> Option<i64> {
        match self {
            Start::Any => None,
            Start::Same(value) => Some(*value),
            Start::Each(values) => values.get(index as usize).copied(),
        }
    }
}

impl Instance {
    /// Evaluates a program's constants with these parameter values; parameters that are not named
    /// get their defaults.
    pub fn new(
        program: Arc<Program>,
        values: &BTreeMap<String, i64>,
    ) -> Result<Instance, Vec<Diagnostic>> {
        let mut builder = Builder {
            instance: Instance {
                program: Arc::clone(&program),
                params: IndexVec::new(),
                templates: IndexVec::new(),
                shared: IndexVec::new(),
                shared_cells: 0,
            },
            errors: Vec::new(),
            initial_work: Budget::of(MAX_CONSTANT_WORK),
        };
        // Each stage uses the numbers of the one before, so an error ends the stages, though all
        // errors of one stage are reported together.
        builder.parameters(&program, values);
        builder.stage()?;
        builder.processes(&program);
        builder.stage()?;
        builder.variables(&program);
        builder.domains(&program);
        builder.stage()?;
        builder.initial_state(&program);
        builder.stage()?;
        Ok(builder.instance)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program, to keep.
    pub(crate) fn shared_program(&self) -> Arc<Program> {
        Arc::clone(&self.program)
    }

    /// The value of a parameter.
    pub fn param(&self, param: ParamId) -> i64 {
        self.params[param]
    }

    /// Names and values of the parameters in source order.
    pub fn params(&self) -> impl Iterator<Item = (&str, i64)> {
        self.program
            .params
            .iter()
            .map(|p| p.name.as_str())
            .zip(self.params.iter().copied())
    }

    pub(crate) fn known_param(&self, param: ParamId) -> Option<i64> {
        self.params.get(param).copied()
    }

    pub(crate) fn known_count(&self, template: TemplateId) -> Option<u32> {
        self.templates.get(template).map(|t| t.count)
    }

    /// How many processes a template begins with.
    pub fn count(&self, template: TemplateId) -> u32 {
        self.templates[template].count
    }

    /// The number that people see for the process with index 0. Processes of dynamic templates
    /// are counted from 1.
    pub fn lowest_id(&self, template: TemplateId) -> i64 {
        self.templates[template].lowest_id
    }

    /// Whether more processes of the template can be started.
    pub fn is_dynamic(&self, template: TemplateId) -> bool {
        matches!(
            self.program.templates[template].instances,
            Instances::Dynamic
        )
    }

    /// Whether the template is a single process, which is named without a number.
    pub fn is_single(&self, template: TemplateId) -> bool {
        matches!(
            self.program.templates[template].instances,
            Instances::Single
        )
    }

    /// The shape of a shared variable.
    pub fn shared(&self, var: SharedId) -> &Shape {
        &self.shared[var]
    }

    /// The shape of a local variable.
    pub fn local(&self, template: TemplateId, var: LocalId) -> &Shape {
        &self.templates[template].locals[var]
    }

    /// The shape of a variable that the text of a template names.
    pub fn shape(&self, var: VarRef, template: TemplateId) -> &Shape {
        match var {
            VarRef::Shared(var) => self.shared(var),
            VarRef::Local(var) => self.local(template, var),
        }
    }

    /// The number of cells of all shared variables.
    pub fn shared_cells(&self) -> usize {
        self.shared_cells
    }

    /// The number of cells of all local variables of one process.
    pub fn local_cells(&self, template: TemplateId) -> usize {
        self.templates[template].local_cells
    }

    /// The value of a constant expression, coded as cells are.
    pub fn constant(&self, expr: &Expr) -> Result<i64, Stop> {
        self.constant_for(expr, None, &mut Budget::of(MAX_CONSTANT_WORK))
    }

    /// The value of an expression that depends on at most a process's own id.
    fn constant_for(
        &self,
        expr: &Expr,
        own: Option<ProcessRef>,
        budget: &mut Budget,
    ) -> Result<i64, Stop> {
        Scope {
            instance: self,
            state: None,
            own,
            last: None,
            bindings: &mut Vec::new(),
            budget,
        }
        .value(expr)
    }

    /// The least and the greatest value of a domain, coded as cells are: ids by index, members by
    /// position. It is empty if the first is greater. A dynamic template has as many ids as it
    /// has processes in a state; here, where there is no state, none.
    pub fn domain_bounds(&self, domain: &Domain) -> (i64, i64) {
        self.try_domain_bounds(domain).unwrap_or((0, -1))
    }

    fn try_domain_bounds(&self, domain: &Domain) -> Result<(i64, i64), Stop> {
        match domain {
            Domain::Range(lo, hi) => Ok((self.constant(lo)?, self.constant(hi)?)),
            Domain::Enum(id) => Ok((0, self.program.enums[*id].members.len() as i64 - 1)),
            Domain::Template(template) => Ok((0, i64::from(self.count(*template)) - 1)),
        }
    }

    fn values(&self, scalar: &Scalar) -> Result<Values, Stop> {
        let ids = |template: TemplateId, optional: bool| {
            if self.is_dynamic(template) {
                Values::Started { template, optional }
            } else {
                Values::Between(-i64::from(optional), i64::from(self.count(template)) - 1)
            }
        };
        Ok(match scalar {
            Scalar::Bool => Values::Between(0, 1),
            Scalar::Int => Values::Integers,
            Scalar::Range(lo, hi) => Values::Between(self.constant(lo)?, self.constant(hi)?),
            Scalar::Enum(id) => {
                Values::Between(0, self.program.enums[*id].members.len() as i64 - 1)
            }
            Scalar::Id(template) => ids(*template, false),
            Scalar::OptId(template) => ids(*template, true),
            Scalar::Mutex => Values::Mutex,
        })
    }
}

/// An instance whose numbers are not complete yet.
struct Builder {
    instance: Instance,
    errors: Vec<Diagnostic>,
    /// What is left for initial values.
    initial_work: Budget,
}

impl Builder {
    fn stage(&mut self) -> Result<(), Vec<Diagnostic>> {
        if self.errors.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.errors))
        }
    }

    /// The values a user would want to see beside a constant that went wrong.
    fn setting(&self) -> String {
        let values: Vec<String> = self
            .instance
            .params()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if values.is_empty() {
            String::new()
        } else {
            format!(" with {}", values.join(", "))
        }
    }

    fn constant_fails(&mut self, what: &str, stop: Stop, place: Span) {
        let (span, why) = match stop {
            Stop::Fails(failure) => (
                failure.span,
                match failure.kind {
                    CheckKind::Division => "divides by zero",
                    CheckKind::Empty => "takes the least or greatest of nothing",
                    CheckKind::Id => "is not the number of a process",
                    _ => "fails",
                },
            ),
            Stop::Limit(limit) => (
                limit.span(),
                match limit {
                    Limit::Overflow { .. } => "leaves 64 bits",
                    Limit::TooMuchWork { .. } => "takes too long to evaluate",
                    Limit::TooDeep { .. } => "is nested too deeply",
                    _ => "is not constant",
                },
            ),
        };
        let span = if span == Span::default() { place } else { span };
        let message = format!("{what} {why}{}", self.setting());
        self.errors
            .push(Diagnostic::new(Code::ConstantFails, span, message));
    }

    fn parameters(&mut self, program: &Program, values: &BTreeMap<String, i64>) {
        for name in values.keys() {
            if !program.params.iter().any(|p| p.name == *name) {
                self.unknown_parameter(program, name);
            }
        }
        for param in &program.params {
            let value = match (values.get(&param.name), &param.default) {
                (Some(value), _) => *value,
                (None, Some(default)) => match self.instance.constant(default) {
                    Ok(value) => value,
                    Err(stop) => {
                        self.constant_fails(
                            &format!("the default of `{}`", param.name),
                            stop,
                            param.span,
                        );
                        0
                    }
                },
                (None, None) => {
                    self.errors.push(
                        Diagnostic::new(
                            Code::ParameterWithoutValue,
                            param.span,
                            format!("the parameter `{}` has no value", param.name),
                        )
                        .label("neither a default nor a value from outside")
                        .help(format!(
                            "give it one with `--set {name}=4`, or a default: `param {name} = 4`",
                            name = param.name
                        )),
                    );
                    0
                }
            };
            self.instance.params.push(value);
        }
        if !self.errors.is_empty() {
            return;
        }
        for param in &program.params {
            let Some(constraint) = &param.constraint else {
                continue;
            };
            match self.instance.constant(constraint) {
                Ok(0) => {
                    let setting = self.setting();
                    self.errors.push(
                        Diagnostic::new(
                            Code::WhereViolated,
                            constraint.span,
                            format!("`where` does not hold{setting}"),
                        )
                        .label(format!("the constraint of `{}`", param.name))
                        .help("choose values that the constraint allows"),
                    );
                }
                Ok(_) => {}
                Err(stop) => self.constant_fails(
                    &format!("the constraint of `{}`", param.name),
                    stop,
                    param.span,
                ),
            }
        }
    }

    fn unknown_parameter(&mut self, program: &Program, name: &str) {
        let known: Vec<&str> = program.params.iter().map(|p| p.name.as_str()).collect();
        let candidates = known.iter().map(|name| (*name).to_owned());
        let help = match suggest::closest(name, candidates) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "the model has no parameters".to_owned(),
            None => format!("the model's parameters: {}", known.join(", ")),
        };
        self.errors.push(
            Diagnostic::new(
                Code::UnknownParameter,
                Span::default(),
                format!("the model has no parameter `{name}`"),
            )
            .help(help),
        );
    }

    /// That `initially` allows some state, as far as that can be seen.
    fn initial_state(&mut self, program: &Program) {
        let Some(first) = program.initially.first() else {
            return;
        };
        let states = InitialStates::new(&self.instance);
        if states.is_ok_and(|states| states.exists() == Some(false)) {
            let setting = self.setting();
            self.errors.push(
                Diagnostic::new(
                    Code::NoInitialState,
                    first.span,
                    format!("no state satisfies `initially`{setting}"),
                )
                .label("so there is no initial state")
                .help("let variables begin with `any`, or exclude such values of the parameters with `where`"),
            );
        }
    }

    fn processes(&mut self, program: &Program) {
        let mut total: u128 = 0;
        for template in &program.templates {
            let (lowest_id, count) = match &template.instances {
                Instances::Single => (0, 1),
                Instances::Dynamic => (1, 0),
                Instances::Range(lo, hi) => {
                    match (self.instance.constant(lo), self.instance.constant(hi)) {
                        (Ok(lo), Ok(hi)) => (lo, size(lo, hi)),
                        (Err(stop), _) | (_, Err(stop)) => {
                            self.constant_fails(
                                &format!("the range of `{}`", template.name),
                                stop,
                                template.span,
                            );
                            (0, 0)
                        }
                    }
                }
            };
            total += count;
            if count > u128::from(MAX_PROCESSES) || total > u128::from(MAX_PROCESSES) {
                let setting = self.setting();
                self.errors.push(
                    Diagnostic::new(
                        Code::TooLarge,
                        template.span,
                        format!("the instance has {total} processes{setting}; an instance can have {MAX_PROCESSES}"),
                    )
                    .label(format!("{count} processes of `{}`", template.name))
                    .help("choose smaller parameters"),
                );
                return;
            }
            self.instance.templates.push(TemplateInstance {
                count: count as u32,
                lowest_id,
                locals: IndexVec::new(),
                local_cells: 0,
            });
        }
    }

    fn variables(&mut self, program: &Program) {
        let mut cells: u128 = 0;
        for var in &program.shared {
            let shape = self.shape(var, None, self.instance.shared_cells, &mut cells, 1);
            self.instance.shared_cells += shape.len;
            self.instance.shared.push(shape);
        }
        for (id, template) in program.templates.iter_enumerated() {
            let count = self.instance.count(id);
            cells += u128::from(count);
            for var in &template.locals {
                let first = self.instance.templates[id].local_cells;
                let shape = self.shape(var, Some(id), first, &mut cells, count);
                self.instance.templates[id].local_cells += shape.len;
                self.instance.templates[id].locals.push(shape);
            }
        }
    }

    /// Evaluates a variable and adds its cells, in `copies` copies, to the total. After an error
    /// the shape is an arbitrary small one: the instance is not built.
    fn shape(
        &mut self,
        var: &Variable,
        template: Option<TemplateId>,
        first: usize,
        cells: &mut u128,
        copies: u32,
    ) -> Shape {
        let mut shape = Shape {
            first,
            dims: Vec::new(),
            len: 1,
            values: Values::Integers,
            start: Start::Same(0),
        };
        let mut len: u128 = 1;
        for domain in &var.dims {
            if let Domain::Template(template) = domain
                && self.instance.is_dynamic(*template)
            {
                let message = format!(
                    "`{}` is an array over the ids of a template that grows",
                    var.name
                );
                self.errors.push(
                    Diagnostic::new(Code::TypeNotAllowed, var.span, message)
                        .help("index it with a range, or make it a local variable of the template"),
                );
                return shape;
            }
            match self.instance.try_domain_bounds(domain) {
                Ok((lo, hi)) => {
                    let size = size(lo, hi);
                    len = len.saturating_mul(size);
                    shape.dims.push(Dim {
                        lowest: lo,
                        size: u32::try_from(size).unwrap_or(u32::MAX),
                    });
                }
                Err(stop) => {
                    self.constant_fails(
                        &format!("a bound in the type of `{}`", var.name),
                        stop,
                        var.span,
                    );
                    return shape;
                }
            }
        }
        // A dynamic template has no copies yet, but one must fit.
        let dynamic = template.is_some_and(|t| self.instance.is_dynamic(t));
        let copies = if dynamic { 1 } else { copies };
        let before = *cells;
        *cells = cells.saturating_add(len.saturating_mul(u128::from(copies)));
        if *cells > u128::from(MAX_CELLS) || len > u128::from(MAX_CELLS) {
            // One message is enough: those that follow would say the same.
            if before <= u128::from(MAX_CELLS) {
                let setting = self.setting();
                self.errors.push(
                    Diagnostic::new(
                        Code::TooLarge,
                        var.span,
                        format!("a state{setting} has more than {MAX_CELLS} cells"),
                    )
                    .label(format!("`{}` exceeds the limit", var.name))
                    .help("choose smaller parameters or a smaller array"),
                );
            }
            return shape;
        }
        shape.len = len as usize;
        shape.values = match self.instance.values(&var.scalar) {
            Ok(values) => values,
            Err(stop) => {
                self.constant_fails(
                    &format!("a bound in the type of `{}`", var.name),
                    stop,
                    var.span,
                );
                return shape;
            }
        };
        if let Values::Between(lo, hi) = shape.values
            && var.loop_counter
            && lo > hi
        {
            // The loop never runs, and its counter rests at the least value all the same.
            shape.values = Values::Between(lo, lo);
        }
        let exists = shape.len > 0 && copies > 0;
        let empty = match shape.values {
            Values::Between(lo, hi) => lo > hi,
            Values::Started { optional, .. } => !optional,
            Values::Integers | Values::Mutex => false,
        };
        if exists && empty {
            let setting = self.setting();
            let why = match (&var.scalar, shape.values) {
                (_, Values::Between(lo, hi)) if matches!(var.scalar, Scalar::Range(..)) => {
                    format!("the range {lo}..{hi} is empty")
                }
                (Scalar::Enum(_), _) => "the enumeration has no members".to_owned(),
                (_, Values::Started { template, .. }) => {
                    format!(
                        "no process `{}` has been started at first",
                        self.instance.program.templates[template].name
                    )
                }
                (Scalar::Id(template), _) => {
                    format!(
                        "there is no process `{}`",
                        self.instance.program.templates[*template].name
                    )
                }
                _ => "there is no value".to_owned(),
            };
            self.errors.push(
                Diagnostic::new(
                    Code::EmptyType,
                    var.span,
                    format!("the type of `{}` has no values{setting}", var.name),
                )
                .label(why)
                .help("change the bounds, or exclude such values of the parameters with `where`"),
            );
            return shape;
        }
        if exists {
            shape.start = self.start(var, template, &shape, copies);
        }
        shape
    }

    fn start(
        &mut self,
        var: &Variable,
        template: Option<TemplateId>,
        shape: &Shape,
        copies: u32,
    ) -> Start {
        if let (true, Values::Between(lo, _)) = (var.loop_counter, shape.values) {
            return Start::Same(lo);
        }
        let expr = match &var.initial {
            Initial::Any => return Start::Any,
            // Overwritten by the statement that starts the process.
            Initial::Given => return Start::Same(0),
            Initial::Free => return Start::Same(FREE),
            Initial::Value(expr) => expr,
        };
        let what = format!("the initial value of `{}`", var.name);
        let depends = template.filter(|_| visit::mentions_own_id(expr, &self.instance.program));
        let mut values = Vec::new();
        for index in 0..if depends.is_some() { copies } else { 1 } {
            let own = depends.map(|template| ProcessRef { template, index });
            let value = self
                .instance
                .constant_for(expr, own, &mut self.initial_work);
            match value {
                Ok(value) => {
                    if let Values::Between(lo, hi) = shape.values
                        && !(lo..=hi).contains(&value)
                    {
                        self.initial_out_of_range(var, expr, value, (lo, hi), own);
                        return Start::Same(lo);
                    }
                    values.push(value);
                }
                Err(stop) => {
                    self.constant_fails(&what, stop, expr.span);
                    return Start::Same(0);
                }
            }
        }
        match values.as_slice() {
            [value] => Start::Same(*value),
            _ => Start::Each(values),
        }
    }

    fn initial_out_of_range(
        &mut self,
        var: &Variable,
        expr: &Expr,
        value: i64,
        (lo, hi): (i64, i64),
        own: Option<ProcessRef>,
    ) {
        let setting = self.setting();
        let whose = match own {
            Some(process) => {
                let number = self
                    .instance
                    .lowest_id(process.template)
                    .saturating_add(i64::from(process.index));
                format!(
                    "{}[{number}].{}",
                    self.instance.program.templates[process.template].name, var.name
                )
            }
            None => var.name.clone(),
        };
        self.errors.push(
            Diagnostic::new(
                Code::InitialOutOfRange,
                expr.span,
                format!("`{whose}` begins outside its type{setting}"),
            )
            .label(format!("this is {value}, outside {lo}..{hi}"))
            .related(var.span, "declared here"),
        );
    }

    /// Evaluates the domain of every quantifier and loop, so that nobody meets a failing one later.
    fn domains(&mut self, program: &Program) {
        let mut problems = Vec::new();
        visit::domains(program, &mut |domain, usage, span| {
            match self.instance.try_domain_bounds(domain) {
                Ok((lo, hi)) => {
                    // `choose .. in` names one value and costs nothing; all others go through them.
                    if usage == DomainUse::Every && size(lo, hi) > u128::from(MAX_CELLS) {
                        problems.push((span, Ok((lo, hi))));
                    }
                }
                Err(stop) => problems.push((span, Err(stop))),
            }
        });
        for (span, problem) in problems {
            match problem {
                Ok((lo, hi)) => {
                    let setting = self.setting();
                    self.errors.push(
                        Diagnostic::new(
                            Code::TooLarge,
                            span,
                            format!("{lo}..{hi} has more than {MAX_CELLS} values{setting}"),
                        )
                        .label("every value is gone through")
                        .help("choose smaller bounds"),
                    );
                }
                Err(stop) => self.constant_fails("a bound", stop, span),
            }
        }
    }
}

/// How many integers there are from the first to the second.
fn size(lo: i64, hi: i64) -> u128 {
    if lo > hi {
        0
    } else {
        (i128::from(hi) - i128::from(lo) + 1) as u128
    }
}
