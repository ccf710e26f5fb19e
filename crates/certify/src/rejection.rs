//! What the checker says when it does not accept a certificate.

use threadwise_evidence::arithmetic::Overflow;
use threadwise_evidence::{CheckName, family};
use threadwise_lang::program::Span;

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is about something else: another property, other values of parameters, another model.
    #[error("the certificate does not fit: {0}")]
    Mismatch(String),
    /// It is about this, but no proof: something is missing, or makes no sense.
    #[error("the certificate is no proof: {0}")]
    NoProof(String),
    /// One of its conditions does not hold.
    #[error("{0}")]
    Rejected(Box<Rejection>),
    /// A condition of a claim about all values of the parameters is not proved.
    #[error("{0}")]
    Unproved(Box<Unproved>),
    /// The checker cannot encode the program, so that it neither accepts nor rejects.
    #[error("{0}")]
    Unsupported(String),
    /// The caller wanted an end.
    #[error("the check was cancelled")]
    Cancelled,
}

impl Error {
    /// Where the source says what fails, if it does.
    pub fn span(&self) -> Option<Span> {
        match self {
            Error::Rejected(rejection) => rejection.condition.span(),
            Error::Unproved(unproved) => unproved.span,
            _ => None,
        }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Error {
        Error::Unsupported(message.into())
    }

    pub(crate) fn no_proof(message: impl Into<String>) -> Error {
        Error::NoProof(message.into())
    }

    pub(crate) fn mismatch(message: impl Into<String>) -> Error {
        Error::Mismatch(message.into())
    }
}

impl From<Overflow> for Error {
    fn from(overflow: Overflow) -> Error {
        Error::Unsupported(overflow.to_string())
    }
}

/// A condition of a claim about all values of the parameters, and what is wrong with its proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not proved that {what}: {fault}")]
pub struct Unproved {
    /// The condition.
    pub condition: family::Condition,
    /// What it says, in source terms.
    pub what: String,
    /// The place in the source that it is about.
    pub span: Option<Span>,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a proof of a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is none, and it does not hold obviously.
    #[error("it does not hold obviously, and there is no proof of it")]
    Missing,
    /// What is said to be obvious is not.
    #[error("the proof says that it holds obviously in some case, and it does not")]
    NotObvious,
    /// It uses this, which is not known.
    #[error("the proof uses `{0}`, which is not known")]
    NotKnown(String),
    /// It uses this, which is not written as it should be.
    #[error("the proof uses `{0}`, which is not in normal form")]
    NotNormal(String),
    /// It uses something so many times.
    #[error("the proof has the factor `{0}`, which is not a positive number, or too large")]
    Factor(String),
    /// What it adds up is no contradiction.
    #[error("the inequalities that the proof adds up do not contradict each other")]
    Sum,
    /// It computes with numbers that are too large.
    #[error("the proof adds up numbers that are too large")]
    TooLarge,
}

/// A condition that does not hold, and a state that shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The condition.
    pub condition: Condition,
    /// The state: where every process is and the value of every cell.
    pub state: Vec<(String, String)>,
    /// What a step changes in it.
    pub changes: Vec<(String, String)>,
}

/// The rejection of a certificate because of a condition that does not hold in a state, or in the step to another one.
pub(crate) fn refused(
    condition: Condition,
    state: Vec<(String, String)>,
    next: Option<Vec<(String, String)>>,
) -> Error {
    let next = next.unwrap_or_default().into_iter().zip(&state);
    let changes = next.filter(|(new, old)| new != *old);
    let changes = changes.map(|(new, _)| new).collect();
    Error::Rejected(Box::new(Rejection {
        condition,
        state,
        changes,
    }))
}

/// A condition that a certificate has to meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The claimed set contains every initial state.
    Initial,
    /// This step does not lead out of the claimed set.
    Step(StepName),
    /// The property holds in the claimed set.
    Property(String),
    /// No check of this step fails in the claimed set.
    Check {
        /// The step.
        step: StepName,
        /// The check.
        check: CheckName,
        /// Where the check stands in the source.
        span: Span,
    },
    /// No state of the claimed set is a deadlock.
    Deadlock,
    /// In the claimed set this step's computations do not leave 64 bits; for a property there is no step.
    Overflow(Option<StepName>),
    /// A condition of a proof that no run is fair.
    Fair(FairPlace, FairFault),
}

/// A proof that no run is fair, and how far it was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairPlace {
    /// Which conjunct of the property it is about, counted from 0.
    pub conjunct: usize,
    /// Which alternative of the fairness it assumes, counted from 0.
    pub alternative: usize,
    /// The process that moves for ever again.
    pub mover: Option<String>,
    /// The layer, counted from 0; nothing before the first and after the last.
    pub layer: Option<usize>,
}

/// What is wrong with a proof that no run is fair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FairFault {
    /// An initial state is not in the start.
    Initial,
    /// This leads out of the start.
    Start(Turn),
    /// This is possible in a state that is said to be stuck.
    NotStuck(Turn),
    /// This leads out of the states of a layer.
    Leaves(Turn),
    /// This is what runs are said not to do in the states of a layer.
    Fulfils(Turn),
    /// What is said to hold in no state of a layer holds in one.
    Holds,
    /// A state is left when all layers are deleted.
    Left,
}

/// What a scheduled process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It takes this step, or rests by it.
    Step(StepName),
    /// It has no step that it could take, and does nothing; its name.
    Nothing(String),
}

impl Turn {
    fn span(&self) -> Option<Span> {
        match self {
            Turn::Step(step) => Some(step.span),
            Turn::Nothing(_) => None,
        }
    }
}

/// A step, in source terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepName {
    /// The process.
    pub process: String,
    /// The label it is at.
    pub from: String,
    /// The label it goes to; nothing if it does not get there.
    pub to: Option<String>,
    /// The statement that the step begins with.
    pub span: Span,
}

impl Condition {
    /// Where the source says what fails.
    pub fn span(&self) -> Option<Span> {
        match self {
            Condition::Initial | Condition::Property(_) | Condition::Deadlock => None,
            Condition::Check { span, .. } => Some(*span),
            Condition::Step(step) => Some(step.span),
            Condition::Overflow(step) => step.as_ref().map(|step| step.span),
            Condition::Fair(_, fault) => match fault {
                FairFault::Initial | FairFault::Holds | FairFault::Left => None,
                FairFault::Start(turn)
                | FairFault::NotStuck(turn)
                | FairFault::Leaves(turn)
                | FairFault::Fulfils(turn) => turn.span(),
            },
        }
    }
}
