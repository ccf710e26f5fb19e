//! The constructs of Promela that are put inside one another, and which of them may stand where.
//!
//! A block holds statements, a statement values, and a value other values. A value that stands in a block is tested or assigned there. What SPIN
//! refuses beyond that is listed with its words, and so is what we refuse; the tests try these pairs as well.

/// A construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    Atomic,
    DStep,
    Braces,
    /// The main part of `unless`.
    Unless,
    /// What stands behind `unless`.
    Escape,
    If,
    Do,
    ForRange,
    ForArray,
    /// An inline that is called.
    Inline,
    /// A macro that stands for statements.
    Macro,
    /// What stands behind `else`.
    Else,
    /// What stands behind `timeout`.
    Timeout,
    /// A label that somebody jumps to.
    Label,
    EndLabel,
    AcceptLabel,
    ProgressLabel,
    Init,
    /// A process that `run` starts.
    Started,
    Never,
    Ltl,
    Assign,
    Test,
    Assert,
    Printf,
    Select,
    Run,
    /// A declaration between statements, with an initial value.
    Declare,
    Break,
    /// A jump out of what is around it.
    GotoOut,
    /// A label inside what is around it, with a jump from before.
    GotoIn,
    MeetSend,
    MeetReceive,
    Send,
    SortedSend,
    Receive,
    RandomReceive,
    CopyReceive,
    RandomCopy,
    EvalReceive,
    RecordSend,
    RecordReceive,
    ChannelSend,
    ChannelReceive,
    /// A message over a variable that holds a channel.
    HeldMessage,
    Conditional,
    Poll,
    RandomPoll,
    Length,
    FullEmpty,
    Pid,
    NumberOfProcesses,
    RemoteLabel,
    RemoteVariable,
    Mtype,
    Field,
    Element,
    MacroValue,
    /// A variable that is declared `local`.
    Local,
    /// A variable that is declared `hidden`.
    Hidden,
    /// `timeout` as part of a condition.
    TimeoutValue,
}

use Construct::*;

/// What a construct can hold, and where it can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Holds statements.
    Block,
    /// A block that is no statement itself.
    Outermost,
    /// Holds values.
    Statement,
    /// A statement without a place for a value of one's own.
    Plain,
    /// A value that holds values.
    Value,
    /// A variable, or a question without operands.
    Atom,
}

/// All constructs.
pub const ALL: &[(Construct, Shape)] = &[
    (Atomic, Shape::Block),
    (DStep, Shape::Block),
    (Braces, Shape::Block),
    (Unless, Shape::Block),
    (Escape, Shape::Block),
    (If, Shape::Block),
    (Do, Shape::Block),
    (ForRange, Shape::Block),
    (ForArray, Shape::Block),
    (Inline, Shape::Block),
    (Macro, Shape::Block),
    (Else, Shape::Block),
    (Timeout, Shape::Block),
    (Label, Shape::Block),
    (EndLabel, Shape::Block),
    (AcceptLabel, Shape::Block),
    (ProgressLabel, Shape::Block),
    (Init, Shape::Outermost),
    (Started, Shape::Outermost),
    (Never, Shape::Outermost),
    (Ltl, Shape::Outermost),
    (Assign, Shape::Statement),
    (Test, Shape::Statement),
    (Assert, Shape::Statement),
    (Printf, Shape::Statement),
    (Select, Shape::Statement),
    (Run, Shape::Statement),
    (Declare, Shape::Statement),
    (Break, Shape::Plain),
    (GotoOut, Shape::Plain),
    (GotoIn, Shape::Plain),
    (MeetSend, Shape::Statement),
    (MeetReceive, Shape::Plain),
    (Send, Shape::Statement),
    (SortedSend, Shape::Statement),
    (Receive, Shape::Plain),
    (RandomReceive, Shape::Plain),
    (CopyReceive, Shape::Plain),
    (RandomCopy, Shape::Plain),
    (EvalReceive, Shape::Statement),
    (RecordSend, Shape::Plain),
    (RecordReceive, Shape::Plain),
    (ChannelSend, Shape::Plain),
    (ChannelReceive, Shape::Plain),
    (HeldMessage, Shape::Plain),
    (Conditional, Shape::Value),
    (Poll, Shape::Value),
    (RandomPoll, Shape::Value),
    (Length, Shape::Atom),
    (FullEmpty, Shape::Atom),
    (Pid, Shape::Atom),
    (NumberOfProcesses, Shape::Atom),
    (RemoteLabel, Shape::Value),
    (RemoteVariable, Shape::Atom),
    (Mtype, Shape::Atom),
    (Field, Shape::Atom),
    (Element, Shape::Value),
    (MacroValue, Shape::Value),
    (Local, Shape::Atom),
    (Hidden, Shape::Atom),
    (TimeoutValue, Shape::Atom),
];

impl Construct {
    pub fn shape(self) -> Shape {
        let found = ALL.iter().find(|(construct, _)| *construct == self);
        found.expect("all constructs are listed").1
    }

    pub fn is_block(self) -> bool {
        matches!(self.shape(), Shape::Block | Shape::Outermost)
    }

    pub fn is_value(self) -> bool {
        matches!(self.shape(), Shape::Value | Shape::Atom)
    }

    pub fn may_block(self) -> bool {
        let never = [Assign, Assert, Printf, Select, Run, Declare, Break, GotoOut];
        match self.shape() {
            Shape::Block | Shape::Outermost => self == Timeout,
            Shape::Value | Shape::Atom => true,
            Shape::Statement | Shape::Plain => !never.contains(&self),
        }
    }

    pub fn is_label(self) -> bool {
        matches!(
            self,
            Label | EndLabel | AcceptLabel | ProgressLabel | GotoIn
        )
    }

    /// Whether the grammar has a place for the other in it.
    pub fn can_hold(self, inner: Construct) -> bool {
        if inner.shape() == Shape::Outermost {
            return false;
        }
        match self.shape() {
            Shape::Outermost if self == Ltl => inner.is_value(),
            Shape::Block | Shape::Outermost => true,
            Shape::Statement | Shape::Value => inner.is_value(),
            Shape::Plain | Shape::Atom => false,
        }
    }
}

/// Every pair that the grammar has, the outer construct first.
pub fn pairs() -> Vec<(Construct, Construct)> {
    let all = ALL.iter().map(|&(construct, _)| construct);
    let outer = all.clone();
    outer
        .flat_map(|outer| all.clone().map(move |inner| (outer, inner)))
        .filter(|(outer, inner)| outer.can_hold(*inner))
        .collect()
}

/// SPIN's words, if it refuses the one in the other.
pub fn forbidden(outer: Construct, inner: Construct) -> Option<&'static str> {
    Some(match (outer, inner) {
        (DStep, Break | GotoOut) => "non_local jump in d_step sequence",
        (DStep, GotoIn) => "jump into d_step sequence",
        (DStep, Run | RemoteLabel) => "d_step",
        (DStep, MeetSend) => "rv-attempt in d_step",
        (Never, Declare) => "defines local",
        (Never, MeetSend | MeetReceive | Send | SortedSend | Receive | EvalReceive)
        | (Never, RandomReceive | CopyReceive | RandomCopy | HeldMessage)
        | (Never, RecordSend | RecordReceive | ChannelSend | ChannelReceive) => {
            "never claim contains i/o stmnts"
        }
        (EvalReceive, RemoteVariable) => "bad node type",
        (Ltl, Conditional) => "syntax error",
        // That is a condition, not a number.
        (_, FullEmpty) if !outer.is_block() && !matches!(outer, Test | Assert) => "syntax error",
        (Ltl, FullEmpty) => "syntax error",
        _ => return None,
    })
}

/// Our words, if we refuse the one in the other, though SPIN takes it. Where control never gets to it we do not look at it.
pub fn refused(outer: Construct, inner: Construct) -> Option<&'static str> {
    Some(match (outer, inner) {
        (_, Hidden) => "a hidden variable",
        (Atomic | DStep, Unless | Escape) => "`unless` inside `atomic` or `d_step`",
        (Atomic | DStep, AcceptLabel | ProgressLabel) => "inside `atomic` or `d_step`",
        (DStep, SortedSend) => "inside `d_step`",
        (Unless, Unless | Escape) => "`unless` inside `unless`",
        (Never, DStep | Unless | Escape | ForRange | ForArray | Timeout)
        | (Never, TimeoutValue | Select | Run) => {
            "anything but tests and assertions in a never claim"
        }
        (Never, EndLabel) => "an `end` label in a never claim",
        (Never, Pid) => "`_pid` outside a process",
        (Ltl, Pid | TimeoutValue) => "`_pid`",
        (RemoteLabel, _) => "process",
        (_, RemoteVariable) if !matches!(outer, Never | Ltl) => "process",
        _ => return None,
    })
}
