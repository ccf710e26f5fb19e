//! Proofs for every value of the parameters.
//!
//! A [`FamilyClaim`] has an assertion for each *view*: for some processes, all different, each at a label. It speaks of
//! parameters, shared variables, the numbers of processes at labels, and the variables of those processes, the references of the view. The
//! assertions are to hold of all processes that the view fits, in all reachable states, whatever the parameters are. What has to be shown for that is listed by
//! the checker from the program; the claim brings a [`Proof`] for each condition that does not hold obviously.
//!
//! Variables are named as in the source: `N`, `x`, `a[2]`. Beyond that there are `$0`, the number of the first reference from 0 on in its template (`$1` of the second one),
//! `$0.v` and `$0.v[2]`, its local variables, `a[$0]`, an entry of a shared array, `#P.l`, the number of processes of `P` at `l`, and `#P.l[0]`, the
//! number of those of which the first counted predicate holds. `?0` and the like are values that a step chooses, and `{max(y)}` and the like
//! terms that are not linear. `docs/book/src/certificates.md` has the conditions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{Formula, Proof};

/// The claim that a property holds for all values of the parameters that `where` allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyClaim {
    /// The names of variables. Formulas name them by their position here.
    pub variables: Vec<String>,
    /// Predicates of which it is counted how many processes they hold of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<CountedPredicate>,
    /// The assertions. Of views that are not listed nothing is claimed.
    pub views: Vec<ViewClaim>,
    /// The proofs of conditions that do not hold obviously.
    pub proofs: Vec<ConditionProof>,
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

impl fmt::Display for Condition {
    /// As it stands in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
