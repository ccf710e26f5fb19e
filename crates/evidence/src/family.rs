//! Proofs for every value of the parameters.
//!
//! A [`FamilyClaim`] has an assertion for each *view*: for some processes, all different, each at a label. It speaks of
//! parameters, shared variables, the numbers of processes at labels, and the variables of those processes, the references of the view. The
//! assertions are to hold of all processes that the view fits, in all reachable states, whatever the parameters are. What has to be shown for that is listed by
//! the checker from the program; the claim brings a [`Proof`] for each condition that does not hold obviously.
//!
//! Variables are named as in the source: `N`, `x`, `a[2]`. Beyond that there are `$0`, the number of the first reference from 0 on in its template (`$1` of the second one),
//! `$0.v` and `$0.v[2]`, its local variables, `a[$0]`, an entry of a shared array, `#P.l`, the number of processes of `P` at `l`, `#P.l[0]`, the
//! number of those of which the first counted predicate holds, and `#P.l[0:$0]`, the number of those, the reference left out, of which the first comparison with the reference holds. `+P.l[0]` is
//! the sum of the first summed term over them. `?0` and the like are values that a step chooses, and `{max(y)}` and the like terms that are not linear. `docs/book/src/certificates.md` has the conditions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{Formula, Proof, Variable};

/// The claim that a property holds for all values of the parameters that `where` allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyClaim {
    /// The names of variables. Formulas name them by their position here.
    pub variables: Vec<String>,
    /// Predicates of which it is counted how many processes they hold of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<CountedPredicate>,
    /// Terms that are summed, label by label, over the processes there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summed: Vec<SummedTerm>,
    /// Comparisons with a reference of which it is counted how many other processes they hold of. If there are any, it is asked of a process that has no step who keeps it from that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Comparison>,
    /// The assertions. Of views that are not listed nothing is claimed.
    pub views: Vec<ViewClaim>,
    /// Where it matters to excluded situations who came first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Box<Arrivals>>,
    /// Situations of a few processes that never come about. A claim has these, or views and what is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<Vec<Excluded>>,
    /// The proofs of conditions that do not hold obviously.
    pub proofs: Vec<ConditionProof>,
    /// Of a liveness property, why no fair run violates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair: Option<Box<FairClaim>>,
}

/// Why no fair run waits for ever: what such a run would do in the end is deleted bit by bit, until nothing is left.
///
/// A run that waits for ever has an end in which only some states (the *region*) and only some transitions occur. At first these are all states in which it waits, and all transitions between them. Each
/// deletion says what occurs finitely often only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FairClaim {
    /// The labels at which the process that waits may be; if the property is about nobody in particular, one without a label.
    pub controls: Vec<Control>,
    /// The deletions, in their order.
    pub deletions: Vec<Deletion>,
}

/// The states in which it is waited, with the process that waits at a label. It is `$0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// The label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What holds while it is waited.
    pub pending: Formula,
}

/// A path that is taken in the region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// Where the process that waits is before it, by position among the controls.
    pub control: usize,
    /// The template of the process that moves, if that is another one than the one that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The path, by its position in the template.
    pub path: usize,
}

/// States that are deleted from the region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// Where the process that waits is.
    pub control: usize,
    /// What holds in them.
    pub states: Formula,
}

/// Processes that a counted predicate holds of, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    /// The predicate, by its position. It is about local variables of the process alone.
    pub predicate: usize,
    /// Whether it holds.
    pub holds: bool,
}

/// Something that occurs finitely often only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Deletion {
    /// Transitions that do not lead from the region into the region.
    Impossible {
        /// Which.
        transitions: Vec<Transition>,
    },
    /// Transitions of the process that waits from which no transitions lead back.
    Leave {
        /// Which.
        transitions: Vec<Transition>,
    },
    /// Transitions that change a sum: none raises it, and it is bounded.
    Rank {
        /// The sum.
        terms: Vec<(Variable, i64)>,
        /// What it is at least.
        least: i64,
    },
    /// The process that waits can move, and would if it stayed so: it is scheduled.
    Oneself {
        /// These states.
        states: Deleted,
    },
    /// Somebody else is at a label, can move, and would if it stayed so, since everybody is scheduled.
    Somebody {
        /// Their template.
        template: String,
        /// The label.
        location: String,
        /// Which of them, if not all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holding: Option<Holding>,
        /// These states.
        states: Vec<Deleted>,
    },
    /// Of those at a label somebody is least in an order. If that is somebody else than the process that waits, it can move, and would if it stayed so. Nobody
    /// comes to the label who is less, so it is the same one all the time.
    Least {
        /// Where it is, and in which order it is least.
        least: Least,
        /// These states.
        states: Vec<Deleted>,
    },
    /// Whoever is scheduled moves.
    Everybody {
        /// These states, in which there are no transitions.
        states: Vec<Deleted>,
    },
    /// What is infinitely often only if something else is, which it is not.
    Promise {
        /// The assumption, by its position.
        assumption: usize,
        /// Whether it is taken for the process that waits, instead of for anybody.
        own: bool,
        /// These states.
        states: Vec<Deleted>,
    },
}

/// A predicate about one process, of which it is counted at every label how many processes it holds of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedPredicate {
    /// The template of the processes.
    pub template: String,
    /// What holds: over parameters, shared variables, and variables of the process, `$0`.
    pub predicate: Formula,
}

/// A term about one process, of which the values of all processes at a label are summed, at every label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummedTerm {
    /// The template of the processes.
    pub template: String,
    /// Multiples of parameters, and of local variables of the process, `$0`.
    pub terms: Vec<(Variable, i64)>,
    /// What is added to that.
    pub constant: i64,
}

/// A comparison of a process with another one, the reference. It is counted at every label of how many processes other than the reference it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The template of the processes that are counted.
    pub template: String,
    /// The template of the reference.
    pub of: String,
    /// What holds: over parameters, shared variables, and variables of the process that is counted, `$0`, and of the reference, `$1`.
    pub predicate: Formula,
    /// Whether it is an order of the processes of one template: of those at a label one is least, if there are any. For freedom from deadlock these are looked at.
    #[serde(default, skip_serializing_if = "is_false")]
    pub order: bool,
}

/// A process at a label such that a comparison with it, an order, holds of nobody there. There is one if there is anybody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Least {
    /// Its template.
    pub template: String,
    /// The label.
    pub location: String,
    /// The comparison, by its position: whether a process is less than another one.
    pub comparison: usize,
}

/// The assertion of a view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewClaim {
    /// The processes it is about. There may be none.
    pub references: Vec<Reference>,
    /// What holds of them, all together.
    pub assertions: Vec<Formula>,
}

/// Some process at a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its template.
    pub template: String,
    /// The label, or `done`.
    pub location: String,
}

/// Some processes, all different, of which these facts never hold all at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// Their templates.
    pub references: Vec<String>,
    /// What never holds of them, all together.
    pub facts: Vec<Fact>,
}

/// Where processes are in the order in which they came there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arrivals(pub Vec<Queue>);

/// Labels at which processes are in the order in which they came there: from labels of their template that are not listed. There is one order for all templates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// The template.
    pub template: String,
    /// The labels.
    pub labels: Vec<String>,
}

/// A fact about a few processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// A process is at one of these labels.
    At {
        /// Which.
        reference: usize,
        /// The labels, or `done`.
        labels: Vec<String>,
    },
    /// A cell holds one of these numbers; truth values are 0 and 1, and members of an enumeration count from 0.
    Value {
        /// The cell, as variables are named: `x`, `a[$0]`, `$1.v`.
        cell: String,
        /// The numbers.
        values: Vec<i64>,
    },
    /// A cell of an id, or a mutex, holds one of these.
    Id {
        /// The cell.
        cell: String,
        /// `none`; nobody holds the mutex.
        #[serde(default, skip_serializing_if = "is_false")]
        none: bool,
        /// The ids of these references.
        references: Vec<usize>,
        /// The id of whoever is no reference.
        #[serde(default, skip_serializing_if = "is_false")]
        other: bool,
    },
    /// The id of a process is smaller than that of another one of its template.
    Before {
        /// The one.
        first: usize,
        /// The other one.
        second: usize,
    },
    /// A process has the smallest id of its template, or not.
    First {
        /// Which process.
        reference: usize,
        /// Whether it has.
        holds: bool,
    },
    /// A process has the greatest id of its template, or not.
    Last {
        /// Which process.
        reference: usize,
        /// Whether it has.
        holds: bool,
    },
    /// Which of two processes came first to where they are in order.
    Came {
        /// The one.
        first: usize,
        /// The other one.
        second: usize,
        /// It may be that the first one did.
        #[serde(default, skip_serializing_if = "is_false")]
        before: bool,
        /// It may be that the second one did.
        #[serde(default, skip_serializing_if = "is_false")]
        after: bool,
        /// It may be that not both are there.
        #[serde(default, skip_serializing_if = "is_false")]
        apart: bool,
    },
    /// One of these is beside a process on a ring.
    Beside {
        /// Which process.
        reference: usize,
        /// Whether it is asked for the next one, or for the one before.
        forward: bool,
        /// The ids of these references.
        references: Vec<usize>,
        /// The id of whoever is no reference.
        #[serde(default, skip_serializing_if = "is_false")]
        other: bool,
    },
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A proof of one condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionProof {
    /// Which condition.
    pub condition: Condition,
    /// That what it assumes contradicts the negation of what it claims.
    pub proof: Proof,
}

/// A condition of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// Every value of the parameters has an instance: this requirement of the program (by its position there) follows from `where`.
    Instance {
        /// The requirement.
        requirement: usize,
    },
    /// An assertion holds at first.
    Initial {
        /// The view, by its position in the claim.
        view: usize,
        /// The assertion, by its position in the view.
        assertion: usize,
    },
    /// A step leads to states in which an assertion holds.
    Step {
        /// The view that the step leads to.
        view: usize,
        /// The assertion.
        assertion: usize,
        /// Whose step it is: a reference of the view, or a process that is none.
        mover: Option<usize>,
        /// The template of the mover.
        template: String,
        /// The path that is taken, by its position in the template.
        path: usize,
        /// The references that the step starts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        started: Vec<usize>,
    },
    /// A path on which a check fails is not taken.
    Check {
        /// The template.
        template: String,
        /// The path.
        path: usize,
    },
    /// A comparison by which somebody is said to be least is an order: it holds of no process and itself; or if it holds of a first and a second and of the second
    /// and a third one, then of the first and the third.
    Order {
        /// The comparison, by its position.
        comparison: usize,
        /// Whether it is the second part that is shown.
        transitive: bool,
    },
    /// In no state has somebody not ended while nobody has a step.
    Deadlock,
    /// Of a liveness property: this holds in every state, as its predicates could not be evaluated elsewhere.
    Defined {
        /// What is checked, by its position.
        check: usize,
    },
    /// Of a liveness property: nobody waits with the process at this label, or nobody begins to.
    Elsewhere {
        /// The label.
        location: String,
    },
    /// What holds while it is waited.
    Pending {
        /// The control.
        control: usize,
    },
    /// A part of a deletion.
    Deletion {
        /// The deletion, by its position; the one after the last is that nothing is left.
        deletion: usize,
        /// What is shown.
        part: DeletionPart,
        /// The control that it is about.
        control: usize,
        /// The template of the process that moves, or is looked at, if it is another one than the one that waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
        /// The path of a transition, or the label of the process that is looked at, by their positions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<usize>,
    },
    /// The property is not violated by these processes, which it says something about: some way for its outermost quantifiers.
    Property {
        /// The part of the property, by its position.
        conjunct: usize,
        /// Where they are; processes that the property names twice are here once.
        references: Vec<Reference>,
        /// For each variable of the outermost quantifiers, which reference it is.
        names: Vec<usize>,
    },
}

/// What is shown of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPart {
    /// A transition is impossible, does not raise the sum, or leads from the states to the states.
    Transition,
    /// A transition is not taken in the states by the process that could move.
    Gone,
    /// The sum is bounded.
    Bounded,
    /// A process has a step.
    Enabled,
    /// There is such a process.
    Present,
    /// The process that is least stays so in a step of another one.
    Least,
    /// The states are among those in which the cause holds.
    Cause,
    /// The effect does not hold in the region.
    Effect,
    /// Nothing is left.
    Empty,
}

impl fmt::Display for Condition {
    /// As it stands in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
