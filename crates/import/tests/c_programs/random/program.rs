//! Small concurrent programs, between the texts that are printed of them.

/// The position of a variable in [`Program::vars`].
pub type VarId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int,
    Bool,
    UnsignedChar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Outside of functions, or `static` in one.
    Shared,
    /// Of a function.
    Local,
    /// One for each thread.
    ThreadLocal,
    /// A parameter that points to an integer.
    Pointer,
}

#[derive(Clone, Debug)]
pub struct Var {
    pub kind: Kind,
    pub ty: Type,
    pub atomic: bool,
    /// How C writes it; for an element, what stands before the index.
    pub c: String,
    /// What stands behind the index: a field.
    pub c_end: &'static str,
    /// A name that no other variable has.
    pub name: String,
    pub len: Option<usize>,
    pub init: i64,
    /// A counter: only its loop writes it.
    pub fixed: bool,
}

#[derive(Clone, Debug)]
pub struct Place {
    pub var: VarId,
    pub index: Option<Box<Expr>>,
}

/// An operation that is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rmw {
    /// The operator, and whether the result is the new value.
    Fetch(&'static str, bool),
    Exchange,
    /// `__sync_*_compare_and_swap`: the old value, and whether the result is the truth of the exchange.
    Swap(bool),
    Load,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Const(i64),
    /// A member of the enumeration.
    Named(&'static str, i64),
    Read(Place),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Unary(&'static str, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// With `=`, `+=` and so on.
    Assign(Place, &'static str, Box<Expr>),
    Step {
        place: Place,
        before: bool,
        up: bool,
    },
    Comma(Box<Expr>, Box<Expr>),
    Call(usize, Vec<Arg>),
    /// The text of C for it, with the operands' places as `$1`, `$2`.
    Rmw(Rmw, Place, Vec<Expr>, &'static str),
    /// The local variable that is expected, the new value, and whether it is the weak form.
    Cas(Place, VarId, Box<Expr>, bool),
    /// Any number below this.
    Input(i64),
    /// Whether any integer at all is less than this.
    InputLess(Box<Expr>),
    /// Whether the lock was free.
    TryLock(usize),
    TryWait(usize),
}

#[derive(Clone, Debug)]
pub enum Arg {
    Value(Expr),
    Address(Place),
}

#[derive(Clone, Debug)]
pub struct Case {
    /// `default` has none.
    pub label: Option<i64>,
    pub body: Vec<Stmt>,
    pub leaves: bool,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Expr(Expr),
    Declare(VarId, Expr),
    /// Of a local array.
    DeclareArray(VarId, Vec<i64>),
    /// Of a local struct, by its two fields.
    DeclarePair([VarId; 2], [i64; 2]),
    /// An input with an assumption behind it.
    DeclareInput(VarId, i64),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    DoWhile(Vec<Stmt>, Expr),
    For(VarId, Expr, Expr, Expr, Vec<Stmt>),
    /// A loop that does nothing.
    Spin(Expr),
    Switch(Expr, Vec<Case>),
    Break,
    Continue,
    Return(Option<Expr>),
    Block(Vec<Stmt>),
    Atomic(Vec<Stmt>),
    Assert(Expr),
    Assume(Expr),
    Lock(usize),
    Unlock(usize),
    /// Waits in a loop for a condition.
    Wait(usize, Expr),
    SemWait(usize),
    SemPost(usize),
    Create(usize),
    Join(usize),
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub params: Vec<VarId>,
    pub gives: bool,
    /// One step, by its name.
    pub atomic: bool,
    /// `static` variables.
    pub statics: Vec<VarId>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Thread {
    /// The position among the functions of threads.
    pub function: usize,
    pub argument: i64,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub vars: Vec<Var>,
    pub mutexes: usize,
    /// Where semaphores begin.
    pub semaphores: Vec<i64>,
    pub helpers: Vec<Function>,
    /// Functions of threads; the parameter is a number.
    pub bodies: Vec<Function>,
    pub threads: Vec<Thread>,
    pub main: Vec<Stmt>,
}
