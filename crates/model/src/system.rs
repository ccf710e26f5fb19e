//! The lowered program: templates whose labels carry guarded steps, for given parameter values.
//!
//! A guarded step is one path from a label to the next, brought into a form that engines can use
//! without knowing statements: a sequence of *clauses* (guards and checks), all evaluated in the
//! state before the step, and a list of *updates*, likewise evaluated before. Every expression is
//! total: whatever may fail in the source (an index, a division) has its own check clause before
//! the clause or update that needs it. The plain form is this and no more. The optimised form
//! (`optimise`) is the same type with fewer clauses and simpler expressions.

use std::collections::BTreeSet;

use index_vec::{IndexVec, define_index_type};
use threadwise_lang::program::{ArithOp, CompareOp, FoldKind, LocationId, Span, TemplateId};

use crate::temporal::Liveness;

define_index_type! { /// A process of the instance; processes of a template are consecutive.
pub struct ProcessId = u32; }
define_index_type! { /// A variable of the system: shared, local to a template, or a template's program counter.
pub struct VarId = u32; }
define_index_type! { /// A cell of the state vector.
pub struct CellId = u32; }

/// A program for given values of its parameters, as guarded steps.
#[derive(Clone, Debug)]
pub struct System {
    /// Name and value of each parameter.
    pub params: Vec<(String, i64)>,
    /// The names of the members of each enumeration, by position in the program.
    pub enums: Vec<Vec<String>>,
    /// The templates.
    pub templates: IndexVec<TemplateId, SystemTemplate>,
    /// The variables: shared ones first, then for each template its program counter and its locals.
    pub vars: IndexVec<VarId, SystemVar>,
    /// The number of cells in a state.
    pub cells: usize,
    /// What is to be checked; the built-in checks come first.
    pub properties: Vec<SystemProperty>,
    /// What holds in initial states: those that the variables allow and in which all of these hold.
    pub initially: Vec<Expr>,
    /// Sets of states that methods with exception sets keep exactly. A hint: no meaning depends on them.
    pub exceptions: Vec<Expr>,
}

impl System {
    /// The number of processes, with all that dynamic templates have room for.
    pub fn processes(&self) -> u32 {
        self.templates.iter().map(|t| t.count).sum()
    }

    /// The template of a process.
    pub fn template_of(&self, process: ProcessId) -> TemplateId {
        // Templates without processes begin where the next one does, and are never the last that fits.
        let after = self.templates.iter().position(|t| t.first > process);
        TemplateId::new(after.unwrap_or(self.templates.len()) - 1)
    }

    /// The index of a process in its template.
    pub fn index_of(&self, process: ProcessId) -> u32 {
        process.raw() - self.templates[self.template_of(process)].first.raw()
    }

    /// The cell that holds a variable of the process with the given index (0 for a shared
    /// variable), at the given offset.
    pub fn cell(&self, var: VarId, index: u32, offset: u32) -> CellId {
        let var = &self.vars[var];
        var.first + (index as usize * var.stride as usize + offset as usize)
    }

    /// The location of a process; `None` if it is not started yet.
    pub fn location(&self, state: &[i64], process: ProcessId) -> Option<LocationId> {
        let template = &self.templates[self.template_of(process)];
        let index = process.raw() - template.first.raw();
        let pc = state[self.cell(template.pc, index, 0).index()];
        (pc < template.locations.len() as i64).then(|| LocationId::new(pc as usize))
    }

    /// The least and the greatest value of a cell; `None` for `int`. The ids of a dynamic
    /// template are all that it has room for.
    pub fn values(&self, domain: CellDomain) -> Option<(i64, i64)> {
        let last = |template: TemplateId| i64::from(self.templates[template].count) - 1;
        Some(match domain {
            CellDomain::Bool => (0, 1),
            CellDomain::Range(lo, hi) => (lo, hi),
            CellDomain::Int => return None,
            CellDomain::Enum(_, members) => (0, i64::from(members) - 1),
            CellDomain::Id(template) => (0, last(template)),
            CellDomain::OptId(template) => (-1, last(template)),
            CellDomain::Mutex => (-1, i64::from(self.processes()) - 1),
            CellDomain::Location(template) => {
                let template = &self.templates[template];
                let unstarted = i64::from(template.dynamic);
                (0, template.locations.len() as i64 - 1 + unstarted)
            }
        })
    }
}

impl SystemTemplate {
    /// The location of a process that has ended.
    pub fn done(&self) -> LocationId {
        self.locations.last_idx()
    }

    /// The program counter of a process that is not started yet; only in dynamic templates.
    pub fn unstarted(&self) -> i64 {
        self.locations.len() as i64
    }
}

/// A template for given values of the parameters.
#[derive(Clone, Debug)]
pub struct SystemTemplate {
    /// Its name.
    pub name: String,
    /// How many processes it has; for a dynamic template, the capacity.
    pub count: u32,
    /// Its first process.
    pub first: ProcessId,
    /// The number that people see for the process with index 0.
    pub lowest_id: i64,
    /// A single process has no number.
    pub single: bool,
    /// Its processes have a `next` and a `prev`.
    pub ring: bool,
    /// A dynamic template has one more program-counter value after `done`: not started yet.
    pub dynamic: bool,
    /// Names of the locations; the last is `done`.
    pub locations: IndexVec<LocationId, String>,
    /// Where processes begin.
    pub entry: LocationId,
    /// The program counter.
    pub pc: VarId,
    /// Which permutations of the template's processes the program cannot tell apart.
    pub symmetry: TemplateSymmetry,
    /// The steps from each location; `done` has none.
    pub steps: IndexVec<LocationId, Vec<Step>>,
}

/// Which permutations of a template's processes map the system onto itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TemplateSymmetry {
    /// All of them: ids are only compared for equality, stored and used as an index.
    Full,
    /// The rotations: ids are also used with `next` and `prev`.
    Rotations,
    /// None but the identity is claimed.
    Identity,
}

/// Whose a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Shared.
    Shared,
    /// Each process of the template has one.
    Local(TemplateId),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct SystemVar {
    /// Its name in the source; `pc` for a program counter.
    pub name: String,
    /// Whose it is.
    pub scope: Scope,
    /// Array dimensions, outermost first.
    pub dims: Vec<Dim>,
    /// The values of a cell.
    pub domain: CellDomain,
    /// Initial values; each cell of the variable independently takes any of them, and all cells begin so.
    pub initial: CellInitial,
    /// The variable's first cell. A local variable of the process with index k begins at `first + k * stride`.
    pub first: CellId,
    /// Cells of one copy: the product of the dimensions.
    pub len: u32,
    /// The distance between the copies of neighbouring processes; 0 for shared variables.
    pub stride: u32,
}

/// One array dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// How many indices.
    pub size: u32,
    /// What they are.
    pub kind: DimKind,
}

/// What the indices of a dimension are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimKind {
    /// Integers from this one.
    Range(i64),
    /// Members of an enumeration (position in the program).
    Enum(u32),
    /// Ids: index k is the process with index k.
    Template(TemplateId),
}

/// The values of a cell, all coded as integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellDomain {
    /// 0 and 1.
    Bool,
    /// The integers from the first to the second.
    Range(i64, i64),
    /// All integers.
    Int,
    /// Members of an enumeration (position in the program, number of members), by position.
    Enum(u32, u32),
    /// Ids of a template, by process index.
    Id(TemplateId),
    /// Ids of a template by process index, or -1 for `none`.
    OptId(TemplateId),
    /// -1 for free, or the number of the process (`ProcessId`) that holds it.
    Mutex,
    /// A location of the template, by position; for a dynamic template also one past `done`: not started.
    Location(TemplateId),
}

/// How the cells of a variable begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellInitial {
    /// Any value of the domain, each cell on its own.
    Any,
    /// This value in every cell; the expression uses at most `Own`.
    Value(Expr),
}

/// One path from a label to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it begins.
    pub from: LocationId,
    /// Where it ends.
    pub to: LocationId,
    /// The process rests (`stay`): nothing changes, and `to == from`.
    pub rest: bool,
    /// Nondeterministic choices along the path; `Expr::Choice(k)` is the k-th. Each ranges over the integers from the first bound to the second, both included.
    pub choices: Vec<(i64, i64)>,
    /// Guards and checks in path order.
    pub clauses: Vec<Clause>,
    /// What is written, the program counter excepted; of two updates of one cell the later counts.
    pub updates: Vec<Update>,
    /// The templates of which a process is started, in order; each takes the first copy that is not started.
    pub starts: Vec<TemplateId>,
    /// The statement that the step begins with.
    pub span: Span,
}

/// A guard or a check of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// If false, this path does not exist.
    Guard(Expr),
    /// If false, the program fails here.
    Check(Check),
}

/// Something that must hold where a program is evaluated or executed, or else it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check<T = Expr> {
    /// What must hold.
    pub holds: T,
    /// What kind of check it is.
    pub kind: CheckKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// The built-in checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// `assert`
    Assert,
    /// A value outside the type of the variable it is written to.
    Range,
    /// An array index outside the array.
    Index,
    /// A division by zero.
    Division,
    /// An integer that is no id.
    Id,
    /// `unlock` of a mutex that the process does not hold.
    Unlock,
    /// `min` or `max` over nothing.
    Empty,
    /// The same cell twice in one assignment.
    SameCell,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Which cell.
    pub cell: Place,
    /// What it gets.
    pub value: Expr,
}

/// A cell, named by expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The variable.
    pub var: VarId,
    /// For a local variable or a program counter: the index of the process in its template (`Own` in steps).
    pub process: Option<Expr>,
    /// The offset of the cell in the variable's copy, row by row; absent for a scalar.
    pub offset: Option<Expr>,
}

/// A total expression over a state. Truth values are 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A value.
    Const(i64),
    /// The index of the process in its template.
    Own,
    /// The number (`ProcessId`) of the process.
    OwnProcess,
    /// A variable bound by an enclosing `Fold`; numbers are unique along a path of nesting.
    Bound(u32),
    /// A choice of the step.
    Choice(u32),
    /// A cell. Outside the array (which a check excludes) any value.
    Load(Box<Place>),
    /// Negation.
    Not(Box<Expr>),
    /// Minus.
    Neg(Box<Expr>),
    /// Conjunction; empty is true.
    And(Vec<Expr>),
    /// Disjunction; empty is false.
    Or(Vec<Expr>),
    /// Comparison.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// Arithmetic; dividing by zero (which a check excludes) gives any value.
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    /// If the first is true the second, otherwise the third.
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A quantifier or an aggregate over the integers from `lo` to `hi`, both included; `min` and `max` over nothing (which a check excludes) give any value.
    Fold {
        /// Which.
        kind: FoldKind,
        /// The bound variable.
        bound: u32,
        /// The least value.
        lo: i64,
        /// The greatest value.
        hi: i64,
        /// The body.
        body: Box<Expr>,
    },
}

/// A property of the system.
#[derive(Clone, Debug)]
pub struct SystemProperty {
    /// Its name; the built-in checks are called `checks`.
    pub name: String,
    /// What it says.
    pub kind: SystemPropertyKind,
    /// How it uses ids beyond what every permutation respects.
    pub ids: IdUse,
}

/// How a property tells processes apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdUse {
    /// The processes it names by a literal id, by index: permutations must fix them.
    pub named: BTreeSet<(TemplateId, u32)>,
    /// The templates whose ids it uses as numbers: permutations must be the identity there.
    pub ordered: BTreeSet<TemplateId>,
}

/// What a property says.
#[derive(Clone, Debug)]
pub enum SystemPropertyKind {
    /// No check fails.
    Checks,
    /// No reachable state is a deadlock.
    DeadlockFree,
    /// This holds in every reachable state; it includes that its own evaluation fails no check.
    Invariant(Expr),
    /// A temporal property of all runs without end that are fair.
    Liveness(Liveness),
}
