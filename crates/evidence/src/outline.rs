//! A proof as a person would write it: an outline in the manner of Owicki and Gries.
//!
//! It says what always holds, and for each process what holds at each label, in expressions of the language. Each fact is
//! implied by the invariant that the proof rests on; whether they are all of it, the outline says too. It is for
//! reading: what is checked is the certificate. The crate `threadwise-show` writes it.

use serde::{Deserialize, Serialize};

/// A readable proof of one property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// What the notation means, where it is not that of the language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notation: Option<String>,
    /// What of each process the assertions of the others may speak of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<String>,
    /// What always holds, about shared variables and what is exposed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// What was left out of what always holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<Omission>,
    /// What holds where.
    pub processes: Vec<ProcessOutline>,
    /// How many kinds of pairs of processes were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_omitted: u64,
    /// If the proof also needs that a violation is some steps away: how many, at least. 1 if it needs the property itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<u64>,
    /// For liveness: why no run within the invariant is fair and against the property.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argument: Vec<String>,
    /// Whether the facts are all of the invariant.
    pub whole: bool,
}

/// What holds at the labels of a process, or of several that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessOutline {
    /// Which process: `P[i]`, `P[2]`, `Server`.
    pub process: String,
    /// What the name in it stands for: `i in P`; none if it is one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binder: Option<String>,
    /// The numbers that the name stands for, if these are not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<i64>,
    /// Another process that what holds speaks of, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherOutline>,
    /// What holds at each of its labels. If it speaks of another process, labels at which that adds nothing are left out.
    pub labels: Vec<LabelOutline>,
}

/// The other process of a pair, or several that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherOutline {
    /// Which process: `P[j]`, `P[next(i)]`, `P[2]`, `Server`.
    pub process: String,
    /// What the name in it stands for: `j in P`; none if it is one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binder: Option<String>,
    /// The numbers that the name stands for, if these are not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<i64>,
    /// How it differs from the first process, if both are of one template: `j != i`, or `i < j` by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// What holds while a process is at a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelOutline {
    /// The labels at which the same holds.
    pub labels: Vec<String>,
    /// All of these hold; `false` if the process never gets there.
    pub holds: Vec<String>,
    /// What was left out, if that is not all that the assertion says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<Omission>,
}

/// What facts leave out: they allow more than the invariant does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Omission {
    /// Of what combinations of values are counted: `shared variables`.
    pub of: String,
    /// How many combinations the facts allow, as a decimal number.
    pub allowed: String,
    /// How many of them the invariant allows.
    pub asserted: String,
}

impl LabelOutline {
    /// Labels with what holds there; those with the same facts together.
    pub fn by_facts(places: impl IntoIterator<Item = LabelOutline>) -> Vec<LabelOutline> {
        let mut labels: Vec<LabelOutline> = Vec::new();
        for place in places {
            let same = labels.iter_mut().find(|label| {
                label.holds == place.holds && label.omitted.is_none() && place.omitted.is_none()
            });
            match same {
                Some(label) => label.labels.extend(place.labels),
                None => labels.push(place),
            }
        }
        labels
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
