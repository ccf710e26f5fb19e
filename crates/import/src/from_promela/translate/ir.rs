//! What the translator works on: a program whose names are resolved to numbered variables, channels and templates.
//!
//! Records are taken apart into their fields, so that a variable is a scalar or an array of scalars, whatever it was in the
//! original. Channels that may stand for each other form a class (see `classes`), and what a class stores is
//! again a variable for each field. So ranges, truth values and terms have to be worked out for variables only.

use crate::from_promela::syntax::{At, Binary, Type};
use crate::front::remarks;

pub(super) use crate::front::remarks::Parsed as Result;

/// Something that we cannot do exactly.
pub(super) fn refuse<T>(at: At, message: impl Into<String>, help: impl Into<String>) -> Result<T> {
    let message = format!("not supported: {}", message.into());
    Err(remarks::unsupported(at, message, help))
}

/// Something that is wrong in Promela.
pub(super) fn wrong<T>(at: At, message: impl Into<String>, help: impl Into<String>) -> Result<T> {
    Err(remarks::malformed(at, message, help))
}

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) struct $name(pub usize);
    )* };
}

index! {
    /// A variable.
    VarId;
    /// A declaration of type `chan`: a channel, an array of them, or a variable that holds one.
    ChanId;
    /// A proctype.
    TemplateId;
    /// A control state of a proctype.
    NodeId;
    /// A set of channels that may stand for each other.
    ClassId;
}

/// The values of a scalar type.
pub(super) fn values_of(kind: &Type) -> (i64, i64) {
    match kind {
        Type::Bit | Type::Bool => (0, 1),
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan | Type::Record(_) => (0, 255),
        Type::Short => (-32768, 32767),
        Type::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Type::Unsigned(bits) => (0, (1i64 << (*bits).clamp(1, 32)) - 1),
    }
}

/// A variable: of the program, of each process of a template, or one that the translation adds.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub at: At,
    pub name: String,
    /// The template whose processes each have one.
    pub owner: Option<TemplateId>,
    pub kind: Type,
    /// The index range of each dimension.
    pub dims: Vec<(i64, i64)>,
    pub initial: Expr,
    /// The initial values of the elements of an array, where they differ.
    pub list: Option<Vec<i64>>,
    /// What values it may have; found by `ranges`.
    pub range: (i64, i64),
    /// Whether it is a truth value in the model.
    pub boolean: bool,
    /// A variable of a process that others must see, or that the creator writes: stored in an array over the processes.
    pub shared: bool,
    /// Whether the text says something about it at all.
    pub used: bool,
    pub parameter: bool,
    /// A truth value that SPIN keeps in a byte, so that other numbers pass through: an array of them, or the only field of a message.
    pub lone: bool,
}

impl Var {
    /// A variable that the translation adds, or that nothing is known of yet.
    pub(super) fn added(at: At, name: String, kind: Type, dims: Vec<(i64, i64)>) -> Self {
        Var {
            at,
            name,
            owner: None,
            kind,
            dims,
            initial: Expr::Num(0),
            list: None,
            range: (0, 0),
            boolean: false,
            shared: false,
            used: false,
            parameter: false,
            lone: false,
        }
    }
}

/// A cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub var: VarId,
    pub indices: Vec<Expr>,
    pub at: At,
}

/// What is known of a declaration of type `chan`.
#[derive(Clone, Debug)]
pub(super) struct ChanDecl {
    pub at: At,
    pub name: String,
    pub owner: Option<TemplateId>,
    /// How many elements the arrays have that it is in, from the outermost.
    pub lengths: Vec<i64>,
    /// `[capacity] of { fields }`.
    pub channel: Option<(i64, Vec<Type>)>,
    /// The variable that holds the channel, where it is no fixed one.
    pub var: Option<VarId>,
    pub parameter: bool,
}

impl ChanDecl {
    /// How many channels, or variables for them, are declared.
    pub fn count(&self) -> i64 {
        self.lengths.iter().product()
    }
}

/// A channel as an operand.
#[derive(Clone, Debug)]
pub(super) struct ChanRef {
    pub at: At,
    pub decl: ChanId,
    pub indices: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(super) enum Match {
    Store(Cell),
    /// A channel stored in a variable.
    StoreChan(Cell, ChanRef),
    Equal(Expr),
    Ignore,
}

/// An expression. All values are integers, as in Promela.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Num(i64),
    Member(String, i64),
    Var(Cell),
    Chan(ChanRef),
    Pid(At),
    NrPr,
    Timeout(At),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Bin(Binary, Box<Expr>, Box<Expr>, At),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>, At),
    Length(ChanRef),
    Full(ChanRef),
    Empty(ChanRef),
    Poll {
        channel: ChanRef,
        random: bool,
        patterns: Vec<Match>,
    },
    RemoteLabel {
        template: TemplateId,
        index: Option<Box<Expr>>,
        label: String,
        at: At,
    },
    RemoteVar {
        template: TemplateId,
        index: Option<Box<Expr>>,
        cell: Cell,
        at: At,
    },
}

impl Expr {
    /// The value of a number.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Expr::Num(n) | Expr::Member(_, n) => Some(*n),
            Expr::Minus(e) => e.number().map(|n| -n),
            _ => None,
        }
    }

    /// The channel that it is, or asks about.
    pub(super) fn channel(&self) -> Option<&ChanRef> {
        match self {
            Expr::Chan(c)
            | Expr::Length(c)
            | Expr::Full(c)
            | Expr::Empty(c)
            | Expr::Poll { channel: c, .. } => Some(c),
            _ => None,
        }
    }

    /// Calls `visit` for this expression and all its parts, outermost first.
    pub(super) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        let cells = |cell: &Cell, visit: &mut dyn FnMut(&Expr)| {
            cell.indices.iter().for_each(|e| e.walk(visit));
        };
        let indices = self.channel().into_iter().flat_map(|c| &c.indices);
        indices.for_each(|e| e.walk(visit));
        match self {
            Expr::Num(_) | Expr::Member(..) | Expr::Pid(_) | Expr::NrPr | Expr::Timeout(_) => {}
            Expr::Chan(_) | Expr::Length(_) | Expr::Full(_) | Expr::Empty(_) => {}
            Expr::Var(cell) => cells(cell, visit),
            Expr::Not(e) | Expr::Minus(e) => e.walk(visit),
            Expr::Bin(_, a, b, _) => {
                a.walk(visit);
                b.walk(visit);
            }
            Expr::Cond(a, b, c, _) => {
                a.walk(visit);
                b.walk(visit);
                c.walk(visit);
            }
            Expr::Poll { patterns, .. } => patterns.iter().for_each(|p| p.walk(visit)),
            Expr::RemoteLabel { index, .. } => {
                if let Some(e) = index {
                    e.walk(visit);
                }
            }
            Expr::RemoteVar { index, cell, .. } => {
                if let Some(e) = index {
                    e.walk(visit);
                }
                cells(cell, visit);
            }
        }
    }
}

impl Match {
    pub(super) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Match::Store(cell) | Match::StoreChan(cell, _) => {
                cell.indices.iter().for_each(|e| e.walk(visit));
            }
            Match::Equal(e) => e.walk(visit),
            Match::Ignore => {}
        }
    }
}

/// What an edge does. The first group can always be executed.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Skip,
    Assign(Cell, Expr),
    Assert(Expr),
    Run {
        template: TemplateId,
        arguments: Vec<Expr>,
        result: Option<Cell>,
        at: At,
    },
    Test(Expr),
    Else,
    Send {
        channel: ChanRef,
        sorted: bool,
        values: Vec<Expr>,
    },
    Receive {
        channel: ChanRef,
        random: bool,
        copy: bool,
        patterns: Vec<Match>,
    },
    /// A whole `d_step`, which begins at this node.
    Deterministic(NodeId),
    /// The process dies.
    Die,
}

impl Action {
    /// Its expressions, outermost only.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = Vec::new();
        all.extend(self.channel().into_iter().flat_map(|c| &c.indices));
        match self {
            Action::Skip | Action::Else | Action::Die | Action::Deterministic(_) => {}
            Action::Assign(cell, e) => {
                all.extend(&cell.indices);
                all.push(e);
            }
            Action::Assert(e) | Action::Test(e) => all.push(e),
            Action::Run {
                arguments, result, ..
            } => {
                all.extend(arguments);
                all.extend(result.iter().flat_map(|cell| &cell.indices));
            }
            Action::Send { values, .. } => all.extend(values),
            Action::Receive { patterns, .. } => {
                for pattern in patterns {
                    match pattern {
                        Match::Store(cell) | Match::StoreChan(cell, _) => all.extend(&cell.indices),
                        Match::Equal(e) => all.push(e),
                        Match::Ignore => {}
                    }
                }
            }
        }
        all
    }

    /// Calls `visit` for all parts of its expressions.
    pub(super) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        self.expressions().into_iter().for_each(|e| e.walk(visit));
    }

    /// The cells that it writes.
    pub(super) fn written(&self) -> Vec<&Cell> {
        match self {
            Action::Assign(cell, _)
            | Action::Run {
                result: Some(cell), ..
            } => vec![cell],
            Action::Receive { patterns, .. } => {
                let stored = patterns.iter().filter_map(|pattern| match pattern {
                    Match::Store(cell) | Match::StoreChan(cell, _) => Some(cell),
                    Match::Equal(_) | Match::Ignore => None,
                });
                stored.collect()
            }
            _ => Vec::new(),
        }
    }

    /// The channel that it sends to or receives from.
    pub(super) fn channel(&self) -> Option<&ChanRef> {
        match self {
            Action::Send { channel, .. } | Action::Receive { channel, .. } => Some(channel),
            _ => None,
        }
    }

    /// The channel that it receives from.
    pub(super) fn receives(&self) -> Option<&ChanRef> {
        self.channel()
            .filter(|_| matches!(self, Action::Receive { .. }))
    }

    /// Where a `d_step` begins.
    pub(super) fn inner(&self) -> Option<NodeId> {
        match self {
            Action::Deterministic(first) => Some(*first),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub at: At,
    pub action: Action,
    pub target: NodeId,
    /// Whether nobody else may move at the target: the statement is inside `atomic` and not its last.
    pub keeps: bool,
    /// Nodes of `unless` that go first: the edge cannot be taken if one of their edges can.
    pub unless: Vec<NodeId>,
    /// The `atomic` and the `d_step` that the statement stands in.
    pub within: (Option<usize>, Option<usize>),
}

/// A control state.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub at: At,
    pub edges: Vec<Edge>,
    /// Labels of the original.
    pub labels: Vec<String>,
    /// Inside `d_step`: the first edge that can be executed is taken.
    pub deterministic: bool,
    /// Inside `atomic` or `d_step`.
    pub atomic: bool,
    /// The end of the process.
    pub end: bool,
}

/// A proctype.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub at: At,
    pub name: String,
    pub original: String,
    pub parameters: Vec<Parameter>,
    /// Variables and channels of its processes.
    pub locals: Vec<VarId>,
    pub nodes: Vec<Node>,
    pub entry: NodeId,
    /// All labels that mark a state, also one that is never reached.
    pub marks: Vec<(String, At)>,
    pub active: i64,
    /// The pids that its processes may have.
    pub pids: (i64, i64),
    /// The pid of the first of those that are there from the beginning.
    pub first: i64,
    /// Whether any process of it comes from `run`.
    pub run: bool,
    /// Whether its processes die, by a step, when they are the youngest.
    pub dies: bool,
    /// How many such processes there ever are, at most, if that is known.
    pub times: Option<i64>,
    /// Whether there may be such processes at all.
    pub present: bool,
}

impl Template {
    /// Whether there is one process only, so that no id is needed.
    pub(super) fn single(&self) -> bool {
        self.pids.0 == self.pids.1
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Parameter {
    Var(VarId),
    Chan(ChanId),
}

impl Class {
    /// A class without channels.
    pub(super) fn new(name: &str, capacity: i64) -> Self {
        Class {
            name: name.to_owned(),
            capacity,
            ..Class::default()
        }
    }
}

/// Channels that may stand for each other: alike, and stored together.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub name: String,
    pub capacity: i64,
    /// What is stored of each field; for a rendezvous channel, the message being handed over.
    pub fields: Vec<VarId>,
    /// How many messages there are. None for rendezvous.
    pub length: Option<VarId>,
    /// How many channels.
    pub count: i64,
    /// Whether an index says which of them is meant.
    pub indexed: bool,
    /// Whether one of them may be known to others for longer than its process lives: variables or messages may hold it.
    pub handed: bool,
    /// Of rendezvous, if indexed: which channel is in use.
    pub which: Option<VarId>,
    /// Of rendezvous, if indexed: true for each channel. Asking it for a channel that does not exist fails, as it does in SPIN.
    pub exists: Option<VarId>,
}

/// The whole program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub vars: Vec<Var>,
    pub chans: Vec<ChanDecl>,
    pub templates: Vec<Template>,
    pub classes: Vec<Class>,
    /// Of each declaration of type `chan`: its class, and the number of its first channel there.
    pub class_of: Vec<Option<(ClassId, i64)>>,
    /// Members of `mtype`: the name, the number, the name in the model.
    pub members: Vec<(String, i64, String)>,
    /// The number of processes at the beginning, and the most that there can be.
    pub started: i64,
    pub most: i64,
    /// Whether a pid may belong to processes of several proctypes.
    pub ambiguous: bool,
}

impl Program {
    /// Calls `visit` for all parts of all expressions in processes.
    pub(super) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        super::classes::actions(self).for_each(|(_, edge)| edge.action.walk(visit));
    }

    /// The class of a channel, if it is one for rendezvous.
    pub(super) fn rendezvous(&self, c: &ChanRef) -> Option<ClassId> {
        let (id, _) = self.class_of[c.decl.0]?;
        (self.classes[id.0].capacity == 0).then_some(id)
    }

    /// The templates that have processes, each with its number.
    pub(super) fn present(&self) -> impl Iterator<Item = (usize, &Template)> {
        let templates = self.templates.iter().enumerate();
        templates.filter(|(_, template)| template.present)
    }
}
