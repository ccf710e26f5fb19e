//! The syntax of Promela, after preprocessing and with inlines expanded.

pub(crate) use crate::front::source::At;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub at: At,
    pub text: String,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Promela {
    /// `mtype [:set] = { a, b }`, in order of appearance.
    pub mtypes: Vec<Mtype>,
    pub records: Vec<Record>,
    pub globals: Vec<Declaration>,
    /// In order of appearance; `init` is one of them.
    pub proctypes: Vec<Proctype>,
    pub claims: Vec<Claim>,
    pub formulas: Vec<Ltl>,
    /// `printf` and the like, which change nothing.
    pub printed: Vec<At>,
    /// `_nr_pr`, wherever it stands.
    pub counted: Vec<At>,
    /// Labels of processes that begin `accept`.
    pub accepting: Vec<At>,
}

#[derive(Clone, Debug)]
pub(crate) struct Mtype {
    pub set: Option<Name>,
    pub members: Vec<Name>,
}

/// `typedef R { .. }`.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub name: Name,
    pub fields: Vec<Declaration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bit,
    Bool,
    Byte,
    /// `pid`: a byte.
    Pid,
    Short,
    Int,
    /// `unsigned x : n`.
    Unsigned(u32),
    /// With the name of its set, if it has one.
    Mtype(Option<String>),
    Chan,
    Record(String),
}

/// One variable, of the program, of a process, of a record, or a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub at: At,
    pub name: Name,
    pub kind: Type,
    /// `hidden`: not part of the state.
    pub hidden: bool,
    /// The number of elements of an array.
    pub length: Option<Expr>,
    pub initial: Option<Initial>,
    /// Which scope of its process it belongs to: names are resolved already, see [`Segment`].
    pub scope: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Value(Expr),
    /// `{ 1, 2, 3 }` for an array.
    List(Vec<Expr>),
    /// `[capacity] of { types }`.
    Channel {
        capacity: Expr,
        fields: Vec<Type>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Proctype {
    pub at: At,
    pub name: Name,
    /// `init`.
    pub is_init: bool,
    /// `active [n]`: how many are there at the start.
    pub active: Option<Expr>,
    /// `D_proctype` is an error of the parser; so are `priority` and `provided`.
    pub parameters: Vec<Declaration>,
    pub body: Vec<Statement>,
    /// The closing brace.
    pub end: At,
}

#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub at: At,
    pub name: Option<Name>,
    pub body: Vec<Statement>,
    pub end: At,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub at: At,
    /// Labels in front of it, in order.
    pub labels: Vec<Name>,
    pub kind: StatementKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Declare(Vec<Declaration>),
    Assign(Place, Expr),
    /// `x++` is 1, `x--` is -1.
    Add(Place, i64),
    /// An expression as a statement: passes when it is not zero. `skip` is 1.
    Test(Expr),
    Assert(Expr),
    /// `printf`, `printm`: a step that changes nothing, with what is printed.
    Print(Vec<Expr>),
    If(Vec<Vec<Statement>>),
    Do(Vec<Vec<Statement>>),
    /// As the first statement of an option only.
    Else,
    Break,
    Goto(Name),
    Send {
        channel: Place,
        sorted: bool,
        values: Vec<Expr>,
    },
    /// `random` is `??`; `copy` is `<..>`: the message stays.
    Receive {
        channel: Place,
        random: bool,
        copy: bool,
        patterns: Vec<Pattern>,
    },
    Atomic(Vec<Statement>),
    DStep(Vec<Statement>),
    Block(Vec<Statement>),
    Unless(Vec<Statement>, Vec<Statement>),
}

/// One field of a receive.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// The value is stored here.
    Store(Place),
    /// A constant or `eval(e)`: the field must equal it.
    Equal(Expr),
    /// `_`.
    Ignore,
}

/// A variable: `a`, `a[i]`, `r.f[j].g`.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub at: At,
    pub segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub name: Name,
    /// For the first segment: the scope of the declaration it means, as `Declaration::scope`; `None` for a global.
    pub scope: Option<u32>,
    pub index: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub at: At,
    pub kind: ExprKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Minus,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// A number, `true`, `false`, `skip`.
    Number(i64),
    /// A member of an mtype.
    Member(String),
    Variable(Place),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Run {
        name: Name,
        arguments: Vec<Expr>,
    },
    Length(Place),
    Full(Place),
    Empty(Place),
    NotFull(Place),
    NotEmpty(Place),
    /// `c?[..]`, `c??[..]`: whether the receive could be executed.
    Poll {
        channel: Place,
        random: bool,
        patterns: Vec<Pattern>,
    },
    Timeout,
    /// `np_`.
    NonProgress,
    Pid,
    NrPr,
    Last,
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    /// `P[e]@label` or `P@label`.
    RemoteLabel {
        process: Name,
        index: Option<Box<Expr>>,
        label: Name,
    },
    /// `P[e]:x` or `P:x`.
    RemoteVariable {
        process: Name,
        index: Option<Box<Expr>>,
        place: Place,
    },
}

/// `ltl name { formula }`.
#[derive(Clone, Debug)]
pub(crate) struct Ltl {
    pub at: At,
    /// `None`: SPIN calls them `ltl_0`, `ltl_1`, ..
    pub name: Option<Name>,
    pub formula: Formula,
}

#[derive(Clone, Debug)]
pub(crate) struct Formula {
    pub at: At,
    pub kind: FormulaKind,
}

#[derive(Clone, Debug)]
pub(crate) enum FormulaKind {
    /// Without temporal operators: as large as possible.
    Predicate(Expr),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Equivalent(Box<Formula>, Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Next(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}
