//! The checked program: what the front end hands to everything else.
//!
//! It is structured (blocks and statements, not a graph), resolved (names are ids), typed, and
//! still *parametric*: bounds of types and of process sets are expressions over the parameters.
//! Every coercion is explicit, macros are expanded, definitions are kept as calls. The
//! interpreter runs this form directly, and the lowering reads it.

use std::sync::Arc;

use index_vec::{IndexVec, define_index_type};
use serde::{Deserialize, Serialize};

use crate::source::SourceMap;

define_index_type! { /// A parameter of the model.
pub struct ParamId = u32; }
define_index_type! { /// An enumeration.
pub struct EnumId = u32; }
define_index_type! { /// A process template.
pub struct TemplateId = u32; }
define_index_type! { /// A shared variable.
pub struct SharedId = u32; }
define_index_type! { /// A local variable of a template.
pub struct LocalId = u32; }
define_index_type! { /// A location of a template: one of its labels, or `done`, which comes last.
pub struct LocationId = u32; }
define_index_type! { /// A definition (`def`).
pub struct DefId = u32; }
define_index_type! { /// A variable bound by a quantifier, `for`, `choose .. in`, or a definition's parameter list. Unique in the program.
pub struct BoundId = u32; }
define_index_type! { /// A fairness declaration.
pub struct FairnessId = u32; }

/// A range of bytes in the files of a program, which lie one behind the other ([`SourceMap`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A checked program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Parameters in source order.
    pub params: IndexVec<ParamId, Param>,
    /// Enumerations in source order.
    pub enums: IndexVec<EnumId, Enum>,
    /// Process templates in source order.
    pub templates: IndexVec<TemplateId, Template>,
    /// Shared variables in source order.
    pub shared: IndexVec<SharedId, Variable>,
    /// Definitions in source order.
    pub defs: IndexVec<DefId, Def>,
    /// Everything bound by quantifiers, `for`, `choose .. in` and definitions' parameters.
    pub bounds: IndexVec<BoundId, Bound>,
    /// Fairness declarations in source order.
    pub fairness: IndexVec<FairnessId, Fairness>,
    /// Properties in source order. The built-in checks are not listed: every program has them.
    pub properties: Vec<Property>,
    /// What holds in initial states: of the states that the initial values of variables allow, those in which one of these predicates does not hold, or its
    /// evaluation fails a check, are not initial.
    pub initially: Vec<Expr>,
    /// Exception sets written by the user: Boolean state predicates.
    pub exceptions: Vec<Expr>,
    /// `//@` directives in source order, for `threadwise test`.
    pub directives: Vec<Directive>,
    /// What it was read from: all places are offsets in these files.
    pub source: Arc<SourceMap>,
}

/// `param N = 4 where N >= 2;`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The default, over earlier parameters.
    pub default: Option<Expr>,
    /// The constraint, over all parameters.
    pub constraint: Option<Expr>,
    /// The name's place.
    pub span: Span,
}

/// `enum Phase { idle, busy }`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// Its members; a member's value is its position.
    pub members: Vec<String>,
    /// The name's place.
    pub span: Span,
}

/// A bound variable, for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ExprType,
}

/// The type of a variable's cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `lo..hi`; both are expressions over parameters, which all variables of a type share.
    Range(Arc<Expr>, Arc<Expr>),
    /// An enumeration.
    Enum(EnumId),
    /// Ids of a template.
    Id(TemplateId),
    /// Ids of a template and `none`.
    OptId(TemplateId),
    /// `mutex`: free, or held by a process of any template.
    Mutex,
}

/// A set to index an array with, or that a bound variable ranges over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Domain {
    /// The integers `lo..hi`; both are expressions over parameters.
    Range(Arc<Expr>, Arc<Expr>),
    /// The members of an enumeration.
    Enum(EnumId),
    /// The ids of a template; of a dynamic template, those started so far.
    Template(TemplateId),
}

/// A variable: shared, or local to a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// One entry for each array dimension, outermost first; empty for a scalar.
    pub dims: Vec<Domain>,
    /// The type of a cell.
    pub scalar: Scalar,
    /// The initial value of every cell.
    pub initial: Initial,
    /// Set for the hidden counter of a `for` loop with labels inside.
    pub loop_counter: bool,
    /// The name's place.
    pub span: Span,
}

/// How a variable begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Initial {
    /// Any value of its type, cell by cell.
    Any,
    /// This value, in every cell.
    Value(Expr),
    /// Free; only for `mutex`.
    Free,
    /// What the statement says that starts the process; only for the parameters of a dynamic template, which are its first locals and single values.
    Given,
}

/// How the ids of a template may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdOrder {
    /// A scalarset: equality only.
    Unordered,
    /// Ids are integers too.
    Ordered,
    /// Ids are integers too, and `next` and `prev` wrap around.
    Ring,
}

/// Which processes a template has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instances {
    /// `process Server`: one.
    Single,
    /// `process P[i: lo..hi]`; the bounds are expressions over parameters.
    Range(Expr, Expr),
    /// `process Child[]`: none at first, more with `start`.
    Dynamic,
}

/// A process template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// The name of a process's own id, where it has one.
    pub id_name: Option<String>,
    /// How ids may be used.
    pub order: IdOrder,
    /// Which processes there are.
    pub instances: Instances,
    /// Local variables: parameters first, hidden loop counters included.
    pub locals: IndexVec<LocalId, Variable>,
    /// The labels in source order, then `done`.
    pub locations: IndexVec<LocationId, Location>,
    /// Where processes begin.
    pub entry: LocationId,
    /// The body.
    pub body: Block,
    /// The name's place.
    pub span: Span,
}

/// The name of what `ended(Child)` binds: it stands for `forall ended in Child: Child[ended] at done`.
pub const ENDED: &str = "ended";

impl Program {
    /// The template of which an expression says that all of its processes have ended, whatever it binds.
    pub fn ended(&self, value: &Expr) -> Option<TemplateId> {
        let ExprKind::Fold {
            kind: FoldKind::Forall,
            var,
            domain: Domain::Template(over),
            body,
        } = &value.kind
        else {
            return None;
        };
        let ExprKind::At {
            template,
            process: Some(process),
            locations,
        } = &body.kind
        else {
            return None;
        };
        let done = self.templates.get(*over)?.locations.indices().next_back()?;
        let said = template == over
            && matches!(process.kind, ExprKind::Bound(bound) if bound == *var)
            && *locations == [done];
        said.then_some(*over)
    }
}

impl Template {
    /// The location of a process that has ended.
    pub fn done(&self) -> LocationId {
        self.locations.last_idx()
    }

    /// The local variables that get their values from whoever starts a process, in the order of the arguments.
    pub fn parameters(&self) -> impl Iterator<Item = (LocalId, &Variable)> {
        let given = |(_, local): &(LocalId, &Variable)| matches!(local.initial, Initial::Given);
        self.locals.iter_enumerated().filter(given)
    }
}

/// A label, or `done`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// The label's place; for `done`, the template's name.
    pub span: Span,
}

/// A sequence of statements.
pub type Block = Vec<Stmt>;

/// A statement, with the label in front of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Stmt {
    /// The label: a step ends here, and another begins.
    pub label: Option<LocationId>,
    /// What it does.
    pub kind: StmtKind,
    /// Its place, without the label.
    pub span: Span,
    /// What the front end that made it says about it.
    pub note: Option<Note>,
}

/// What a front end says about a statement, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// What is wrong if the check that this statement is, or its store, fails.
    Fails(String),
    /// The statement gives any of many values: what to do if these are too many.
    Wide(String),
}

/// What a statement does. The reference, `docs/book/src/language.md`, says what each means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StmtKind {
    /// `p, q := e, f`: as many values as places, types coerced.
    Assign(Vec<Place>, Vec<Expr>),
    /// `result := cas(place, old, new)`
    Cas {
        /// Where the Boolean result goes.
        result: Option<Place>,
        /// The cell.
        place: Place,
        /// What it must hold.
        old: Expr,
        /// What it gets.
        new: Expr,
    },
    /// `result := swap(place, value)`
    Swap {
        /// Where the old value goes.
        result: Option<Place>,
        /// The cell.
        place: Place,
        /// What it gets.
        value: Expr,
    },
    /// `result := fetch_add(place, amount)`
    FetchAdd {
        /// Where the old value goes.
        result: Option<Place>,
        /// The cell.
        place: Place,
        /// What is added.
        amount: Expr,
    },
    /// `await e`
    Await(Expr),
    /// `assert e`
    Assert(Expr),
    /// `skip`
    Skip,
    /// `stay`
    Stay,
    /// `havoc p, q`
    Havoc(Vec<Place>),
    /// `lock m`
    Lock(Place),
    /// `unlock m`
    Unlock(Place),
    /// `start Child(e, f)`: as many values as the template has parameters, types coerced.
    Start(TemplateId, Vec<Expr>),
    /// `goto l`
    Goto(LocationId),
    /// `break`
    Break,
    /// `return`
    Return,
    /// `if c {..} else if d {..} else {..}`: conditions with their blocks, then the `else` block, empty if absent.
    If(Vec<(Expr, Block)>, Block),
    /// `choose {..} or {..}`
    Choose(Vec<Block>),
    /// `choose k in D {..}`; no labels inside.
    ChooseIn(BoundId, Domain, Block),
    /// `while c {..}`
    While(Expr, Block),
    /// `loop {..}`
    Loop(Block),
    /// `for k in D {..}` without labels inside.
    For(BoundId, Domain, Block),
    /// `for k in lo..hi {..}` with labels inside: the counter is a local (`loop_counter`).
    ForLabelled(LocalId, Domain, Block),
    /// `atomic {..}`, or the body of an expanded macro (`atomic: false`).
    Group {
        /// Whether it was written `atomic`.
        atomic: bool,
        /// What it holds.
        body: Block,
    },
}

/// Which variable a place names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VarRef {
    /// A shared variable.
    Shared(SharedId),
    /// A local variable of the process itself.
    Local(LocalId),
}

/// A cell: a variable and one index for each of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Place {
    /// The variable.
    pub var: VarRef,
    /// The indices, of the dimensions' types.
    pub indices: Vec<Expr>,
    /// Its place in the source.
    pub span: Span,
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprType {
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A member of an enumeration.
    Enum(EnumId),
    /// An id of a template.
    Id(TemplateId),
    /// An id of a template, or `none`.
    OptId(TemplateId),
}

/// An expression with its type and place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: ExprType,
    /// Its place.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Int(i64),
    /// A member of an enumeration, by position.
    Member(u32),
    /// `none`
    None,
    /// A parameter.
    Param(ParamId),
    /// The process's own id.
    Own,
    /// A bound variable.
    Bound(BoundId),
    /// A cell, read.
    Read(Place),
    /// `P[j].v[..]`: a local of some process, in properties.
    Remote {
        /// The template.
        template: TemplateId,
        /// The process, of type `Id(template)`; absent for a single process.
        process: Option<Box<Expr>>,
        /// The variable.
        var: LocalId,
        /// The indices.
        indices: Vec<Expr>,
    },
    /// `P[j] at {..}`, in properties.
    At {
        /// The template.
        template: TemplateId,
        /// The process; absent for a single process.
        process: Option<Box<Expr>>,
        /// The locations, sorted.
        locations: Vec<LocationId>,
    },
    /// `enabled(P[j], l)`, in fairness and liveness.
    Enabled {
        /// The template.
        template: TemplateId,
        /// The process; absent for a single process.
        process: Option<Box<Expr>>,
        /// The label.
        location: LocationId,
    },
    /// `taken(P[j], l)`, in fairness and liveness.
    Taken {
        /// The template.
        template: TemplateId,
        /// The process; absent for a single process.
        process: Option<Box<Expr>>,
        /// The label.
        location: LocationId,
    },
    /// `locked(m)`
    Locked(Place),
    /// An integer as an id of an ordered template (or, in a property, a constant id of any): checked. The ids are numbered from the lower bound of the template's range.
    IntToId(Box<Expr>),
    /// An id as an integer.
    IdToInt(Box<Expr>),
    /// An id as an optional id.
    IdToOpt(Box<Expr>),
    /// An optional id as an id: a check (`CheckKind::Id`) that it is not `none`.
    OptToId(Box<Expr>),
    /// `next(i)` or `prev(i)` on a ring.
    Around {
        /// `next`, as opposed to `prev`.
        forward: bool,
        /// The id.
        id: Box<Expr>,
    },
    /// `!e`
    Not(Box<Expr>),
    /// `-e`
    Neg(Box<Expr>),
    /// `a && b && ..`, left to right; at least two.
    And(Vec<Expr>),
    /// `a || b || ..`, left to right; at least two.
    Or(Vec<Expr>),
    /// `a -> b`
    Implies(Box<Expr>, Box<Expr>),
    /// `a <-> b`
    Iff(Box<Expr>, Box<Expr>),
    /// A comparison of two values of one type.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// Arithmetic.
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    /// A quantifier or an aggregate.
    Fold {
        /// Which.
        kind: FoldKind,
        /// The bound variable.
        var: BoundId,
        /// What it ranges over.
        domain: Domain,
        /// The body: Boolean for `forall`, `exists` and `count`, otherwise an integer.
        body: Box<Expr>,
    },
    /// A definition's value; arguments are evaluated first.
    Call(DefId, Vec<Expr>),
}

/// `== != < <= > >=`; order only on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// What holds exactly if this does not.
    pub fn negated(self) -> CompareOp {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Lt => CompareOp::Ge,
            CompareOp::Le => CompareOp::Gt,
            CompareOp::Gt => CompareOp::Le,
            CompareOp::Ge => CompareOp::Lt,
        }
    }

    /// The same with the sides exchanged.
    pub fn mirrored(self) -> CompareOp {
        match self {
            CompareOp::Eq | CompareOp::Ne => self,
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
        }
    }

    /// Whether it holds of two values.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            CompareOp::Eq => left == right,
            CompareOp::Ne => left != right,
            CompareOp::Lt => left < right,
            CompareOp::Le => left <= right,
            CompareOp::Gt => left > right,
            CompareOp::Ge => left >= right,
        }
    }
}

/// Arithmetic on two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ArithOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, rounding towards zero
    Div,
    /// `%`, with the sign of the dividend
    Rem,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// Why an operation on two integers has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// It divides by zero: a check fails there.
    DivisionByZero,
    /// The value does not fit 64 bits.
    Overflow,
}

impl ArithOp {
    /// The value on two integers. This *is* the meaning of the operators.
    #[inline]
    pub fn value(self, a: i64, b: i64) -> Result<i64, NoValue> {
        let value = match self {
            ArithOp::Add => a.checked_add(b),
            ArithOp::Sub => a.checked_sub(b),
            ArithOp::Mul => a.checked_mul(b),
            ArithOp::Div | ArithOp::Rem if b == 0 => return Err(NoValue::DivisionByZero),
            ArithOp::Div => a.checked_div(b),
            // The remainder always fits; only the machine's instruction does not know it.
            ArithOp::Rem => Some(a.wrapping_rem(b)),
            ArithOp::Min => Some(a.min(b)),
            ArithOp::Max => Some(a.max(b)),
        };
        value.ok_or(NoValue::Overflow)
    }

    /// The same in lowered steps, where a check stands before every division: there dividing by zero gives zero, so that expressions are total. Nothing beyond
    /// 64 bits.
    #[inline]
    pub fn total(self, a: i64, b: i64) -> Option<i64> {
        match self.value(a, b) {
            Err(NoValue::DivisionByZero) => Some(0),
            value => value.ok(),
        }
    }
}

/// Quantifiers and aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FoldKind {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
    /// `count`
    Count,
    /// `sum`
    Sum,
    /// `min`; over nothing it fails
    Min,
    /// `max`; over nothing it fails
    Max,
}

/// `def name(a: T) = e;`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Def {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<BoundId>,
    /// Its body, which calls only definitions that do not lead back here.
    pub body: Expr,
    /// The name's place.
    pub span: Span,
}

/// A property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// What it says.
    pub kind: PropertyKind,
    /// The name's place.
    pub span: Span,
}

/// What a property says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropertyKind {
    /// `invariant name: e`
    Invariant(Expr),
    /// `deadlock_free`
    DeadlockFree,
    /// `liveness name under f: formula`
    Liveness {
        /// The fairness assumed.
        under: Vec<FairnessId>,
        /// The formula.
        formula: Ltl,
    },
}

/// A temporal formula.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ltl {
    /// A state predicate.
    State(Expr),
    /// `!f`
    Not(Box<Ltl>),
    /// `f && g && ..`
    And(Vec<Ltl>),
    /// `f || g || ..`
    Or(Vec<Ltl>),
    /// `f -> g`
    Implies(Box<Ltl>, Box<Ltl>),
    /// `f <-> g`
    Iff(Box<Ltl>, Box<Ltl>),
    /// `G f`
    Globally(Box<Ltl>),
    /// `F f`
    Finally(Box<Ltl>),
    /// `X f`
    Next(Box<Ltl>),
    /// `f U g`
    Until(Box<Ltl>, Box<Ltl>),
    /// `f R g`
    Release(Box<Ltl>, Box<Ltl>),
    /// `f W g`
    WeakUntil(Box<Ltl>, Box<Ltl>),
    /// `forall` (a conjunction) or `exists` (a disjunction) over formulas.
    Quantified {
        /// `forall`, as opposed to `exists`.
        forall: bool,
        /// The bound variable.
        var: BoundId,
        /// What it ranges over.
        domain: Domain,
        /// The body.
        body: Box<Ltl>,
    },
}

/// `fairness name: list or list;`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fairness {
    /// Its name.
    pub name: String,
    /// Alternatives, each a list of terms that all hold.
    pub alternatives: Vec<Vec<FairnessTerm>>,
    /// The name's place.
    pub span: Span,
}

/// A fairness assumption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FairnessTerm {
    /// Every process is scheduled for ever again.
    Unconditional,
    /// For all values of the bound variables: infinitely often `e`.
    Weak(Vec<(BoundId, Domain)>, Expr),
    /// For all values of the bound variables: infinitely often `p` only if infinitely often `q`.
    Strong(Vec<(BoundId, Domain)>, Expr, Expr),
}

/// The text of a `//@` comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// What follows `//@`, trimmed.
    pub text: String,
    /// The comment's place.
    pub span: Span,
}
