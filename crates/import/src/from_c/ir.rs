//! What a C program becomes before it is written out: processes over integer variables, with structured control.
//!
//! Integers are mathematical here. Where C would bring a value to a type, [`Expr::Fit`] says so (modulo the type's width), and
//! where leaving a type is an error, [`Expr::Checked`]; the analysis of intervals shows later which of them change nothing.

pub(crate) use threadwise_lang::program::{ArithOp as Arith, CompareOp as Compare};

use super::source::At;
use super::types::IntType;

/// A variable of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct VarId(pub usize);

/// A place that control can go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LabelId(pub usize);

/// A process, or a template of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcessId(pub usize);

/// Operators on the bits of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    And,
    Or,
    Xor,
    /// To the right; the second operand is a number.
    Shift,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    Number(i128),
    Truth(bool),
    Load(Place),
    Not(Box<Expr>),
    Arith(Arith, Box<Expr>, Box<Expr>),
    Compare(Compare, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// The value modulo the width of the type.
    Fit(IntType, Box<Expr>),
    /// The value, which must be one of the type.
    Checked(IntType, Box<Expr>),
    /// The value modulo the width of the type; where there is any number of threads, the value itself.
    Wrapping(IntType, Box<Expr>),
    /// An operation on values of a type.
    Bits(Bits, IntType, Box<Expr>, Box<Expr>),
    /// Whether somebody holds a mutex.
    Locked(Place),
    /// The number of the process among those of its template.
    Own,
    /// A parameter of the program.
    Parameter(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub var: VarId,
    pub indices: Vec<Expr>,
}

impl Place {
    pub fn of(var: VarId) -> Self {
        Place {
            var,
            indices: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub at: At,
    pub kind: StatementKind,
}

pub(crate) type Code = Vec<Statement>;

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Assign(Place, Expr),
    Havoc(Place),
    /// A check, and what is wrong if it fails; nothing for an assertion of the program.
    Assert(Expr, &'static str),
    /// The process waits until this holds.
    Await(Expr),
    If(Expr, Code, Code),
    /// Repeats its body while the condition holds, or until a `Break`.
    Loop {
        head: LabelId,
        condition: Option<Expr>,
        body: Code,
    },
    Break,
    Goto(LabelId),
    Label(LabelId),
    /// The process ends.
    Return,
    /// One step.
    Atomic(Code),
    Lock(Place),
    Unlock(Place),
    Start(ProcessId),
    /// One of them, any.
    Choose(Vec<Code>),
    /// A thread is made; what that means is decided when all threads are known.
    Create {
        site: usize,
        handle: Option<Place>,
        arguments: Vec<Expr>,
    },
    /// Waits for the end of a thread.
    Join(Expr),
    /// Nobody will wait for a thread.
    Detach(Expr),
    /// A mutex is initialised.
    Initialised(Place),
    /// Begin and end of a part during which no other process moves.
    Exclusive(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarKind {
    Int(IntType),
    Truth,
    Mutex,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The name that it should have, if that is free.
    pub wish: String,
    /// `None`: shared.
    pub owner: Option<ProcessId>,
    pub kind: VarKind,
    pub dims: Vec<u32>,
    /// Indices begin at 1, and the last one is the size.
    pub from_one: bool,
    /// `None`: any value.
    pub initial: Option<i128>,
    /// An initial value that is a parameter.
    pub parameter: Option<usize>,
    /// The least and greatest value that it takes, if that is known from its use.
    pub range: Option<(i128, i128)>,
    /// For a variable that gets any value: those that matter.
    pub choices: Option<(i128, i128)>,
    pub at: At,
}

/// How many processes there are of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    Fixed(u32),
    /// They are started while the program runs, any number.
    Started,
    /// What an expression over parameters says.
    Parameter(Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub wish: String,
    pub at: At,
    pub count: Count,
    pub body: Code,
}

#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// The name in the program, if it has one.
    pub wish: Option<String>,
}

/// A parameter of a program of templates.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub at: At,
    pub initial: Option<i128>,
    pub conditions: Vec<Expr>,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub variables: Vec<Variable>,
    pub processes: Vec<Process>,
    pub labels: Vec<Label>,
    pub parameters: Vec<Parameter>,
    /// The first process makes all others, directly or not.
    pub has_main: bool,
    /// How often loops run at most, by their labels.
    pub rounds: std::collections::HashMap<LabelId, u64>,
    /// The mutex that is held during parts in which no other process moves.
    pub exclusive: Option<VarId>,
}

impl Model {
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0]
    }

    pub fn is_shared(&self, id: VarId) -> bool {
        self.variables[id.0].owner.is_none()
    }

    /// Whether some threads are started without a bound on their number.
    pub fn is_unbounded(&self) -> bool {
        let mut counts = self.processes.iter().map(|process| &process.count);
        counts.any(|count| matches!(count, Count::Started | Count::Parameter(_)))
    }
}

impl Expr {
    pub fn load(var: VarId) -> Expr {
        Expr::Load(Place::of(var))
    }

    pub fn not(self) -> Expr {
        match self {
            Expr::Truth(truth) => Expr::Truth(!truth),
            Expr::Not(inner) => *inner,
            Expr::Compare(op, left, right) => Expr::Compare(op.negated(), left, right),
            other => Expr::Not(Box::new(other)),
        }
    }

    pub fn and(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Truth(true), other) => other,
            (Expr::Truth(false), _) => Expr::Truth(false),
            (one, Expr::Truth(true)) => one,
            (one, other) => Expr::And(Box::new(one), Box::new(other)),
        }
    }

    pub fn or(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Truth(false), other) => other,
            (Expr::Truth(true), _) => Expr::Truth(true),
            (one, Expr::Truth(false)) => one,
            (one, other) => Expr::Or(Box::new(one), Box::new(other)),
        }
    }

    pub fn compare(op: Compare, left: Expr, right: Expr) -> Expr {
        if let (Expr::Number(left), Expr::Number(right)) = (&left, &right) {
            return Expr::Truth(op.holds(left, right));
        }
        Expr::Compare(op, Box::new(left), Box::new(right))
    }

    pub fn arith(op: Arith, left: Expr, right: Expr) -> Expr {
        if let (Expr::Number(left), Expr::Number(right)) = (&left, &right) {
            let value = match op {
                Arith::Add => left.checked_add(*right),
                Arith::Sub => left.checked_sub(*right),
                Arith::Mul => left.checked_mul(*right),
                Arith::Div => left.checked_div(*right),
                Arith::Rem => left.checked_rem(*right),
                Arith::Min => Some(*left.min(right)),
                Arith::Max => Some(*left.max(right)),
            };
            if let Some(value) = value.filter(|value| value.unsigned_abs() < 1 << 100) {
                return Expr::Number(value);
            }
        }
        match (op, &left, &right) {
            (Arith::Add | Arith::Sub, _, Expr::Number(0)) => return left,
            (Arith::Add, Expr::Number(0), _) => return right,
            (Arith::Mul | Arith::Div, _, Expr::Number(1)) => return left,
            (Arith::Mul, Expr::Number(1), _) => return right,
            _ => {}
        }
        Expr::Arith(op, Box::new(left), Box::new(right))
    }

    /// The value modulo the width of a type.
    pub fn fit(ty: IntType, value: Expr) -> Expr {
        let ty = ty.plain();
        match value {
            Expr::Number(number) => Expr::Number(wrapped(ty, number)),
            value => Expr::Fit(ty, Box::new(value)),
        }
    }

    pub fn checked(ty: IntType, value: Expr) -> Expr {
        match value {
            Expr::Number(number) if ty.least() <= number && number <= ty.greatest() => value,
            value => Expr::Checked(ty.plain(), Box::new(value)),
        }
    }

    /// Calls a function for this expression's parts.
    pub fn for_parts<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match self {
            Expr::Number(_) | Expr::Truth(_) | Expr::Own | Expr::Parameter(_) => {}
            Expr::Load(place) | Expr::Locked(place) => place.indices.iter().for_each(f),
            Expr::Not(inner)
            | Expr::Fit(_, inner)
            | Expr::Checked(_, inner)
            | Expr::Wrapping(_, inner) => f(inner),
            Expr::Arith(_, left, right)
            | Expr::Compare(_, left, right)
            | Expr::And(left, right)
            | Expr::Or(left, right)
            | Expr::Bits(_, _, left, right) => {
                f(left);
                f(right);
            }
        }
    }

    /// Calls a function for each place that is read.
    pub fn for_places<'a>(&'a self, f: &mut dyn FnMut(&'a Place)) {
        if let Expr::Load(place) | Expr::Locked(place) = self {
            f(place);
        }
        self.for_parts(&mut |part| part.for_places(f));
    }

    /// How often it reads shared variables.
    pub fn shared_reads(&self, model: &Model) -> usize {
        let mut count = 0;
        self.for_places(&mut |place| count += usize::from(model.is_shared(place.var)));
        count
    }

    /// Whether it can be evaluated without a check: no division, no index but numbers inside the array, no overflow.
    pub fn cannot_fail(&self, model: &Model) -> bool {
        let own = match self {
            Expr::Load(place) | Expr::Locked(place) => {
                let variable = model.variable(place.var);
                let first = i128::from(variable.from_one);
                let mut indices = place.indices.iter().zip(&variable.dims);
                indices.all(|(index, len)| {
                    let inside = first..first + i128::from(*len);
                    matches!(index, Expr::Number(number) if inside.contains(number))
                })
            }
            Expr::Checked(..) | Expr::Wrapping(..) | Expr::Fit(..) | Expr::Bits(..) => false,
            Expr::Arith(Arith::Div | Arith::Rem, _, divisor) => {
                matches!(**divisor, Expr::Number(number) if number != 0)
            }
            _ => true,
        };
        let mut all = own;
        self.for_parts(&mut |part| all &= part.cannot_fail(model));
        all
    }
}

/// A number modulo the width of a type, as one of its values.
pub(crate) fn wrapped(ty: IntType, number: i128) -> i128 {
    if ty.bits == 1 {
        return i128::from(number != 0);
    }
    (number - ty.least()).rem_euclid(1 << ty.bits) + ty.least()
}

/// Whether any value for a place is what a declaration leaves there: it is a cell of an array or of a shared variable. Inputs are variables of a
/// process, without indices.
pub(crate) fn is_unset(place: &Place, model: &Model) -> bool {
    let plain = |index: &Expr| match index {
        Expr::Number(_) => true,
        Expr::Load(place) => place.indices.is_empty() && !model.is_shared(place.var),
        _ => false,
    };
    place.indices.iter().all(plain) && (model.is_shared(place.var) || !place.indices.is_empty())
}

/// Calls a function for each statement, outer ones first.
pub(crate) fn for_statements<'a>(code: &'a [Statement], f: &mut dyn FnMut(&'a Statement)) {
    for statement in code {
        f(statement);
        for block in statement.kind.blocks() {
            for_statements(block, f);
        }
    }
}

impl StatementKind {
    /// The code inside.
    pub fn blocks(&self) -> Vec<&Code> {
        match self {
            StatementKind::If(_, yes, no) => vec![yes, no],
            StatementKind::Loop { body, .. } | StatementKind::Atomic(body) => vec![body],
            StatementKind::Choose(blocks) => blocks.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The same with other code inside, if it has some.
    pub fn with_inner(self, f: &mut dyn FnMut(Code) -> Code) -> StatementKind {
        match self {
            StatementKind::If(condition, yes, no) => {
                let yes = f(yes);
                StatementKind::If(condition, yes, f(no))
            }
            StatementKind::Loop {
                head,
                condition,
                body,
            } => StatementKind::Loop {
                head,
                condition,
                body: f(body),
            },
            StatementKind::Atomic(inner) => StatementKind::Atomic(f(inner)),
            StatementKind::Choose(blocks) => {
                StatementKind::Choose(blocks.into_iter().map(f).collect())
            }
            other => other,
        }
    }
}

impl Statement {
    pub fn new(at: At, kind: StatementKind) -> Statement {
        Statement { at, kind }
    }

    /// Calls a function for each expression that stands in this statement itself.
    pub fn for_expressions<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            StatementKind::Assign(place, value) => {
                place.indices.iter().for_each(&mut *f);
                f(value);
            }
            StatementKind::Havoc(place)
            | StatementKind::Lock(place)
            | StatementKind::Unlock(place)
            | StatementKind::Initialised(place) => {
                place.indices.iter().for_each(f);
            }
            StatementKind::Assert(value, _)
            | StatementKind::Await(value)
            | StatementKind::If(value, ..)
            | StatementKind::Join(value)
            | StatementKind::Detach(value) => f(value),
            StatementKind::Loop {
                condition: Some(value),
                ..
            } => f(value),
            StatementKind::Create {
                handle, arguments, ..
            } => {
                if let Some(handle) = handle {
                    handle.indices.iter().for_each(&mut *f);
                }
                arguments.iter().for_each(f);
            }
            _ => {}
        }
    }

    /// The variable that it writes, if it is one that writes.
    pub fn written(&self) -> Option<VarId> {
        match &self.kind {
            StatementKind::Assign(place, _)
            | StatementKind::Havoc(place)
            | StatementKind::Lock(place)
            | StatementKind::Unlock(place) => Some(place.var),
            StatementKind::Create { handle, .. } => handle.as_ref().map(|place| place.var),
            _ => None,
        }
    }
}
