//! A proof as a person would write it: an outline in the manner of Owicki and Gries.
//!
//! It says what always holds, and for each process what holds at each label, in expressions of the language. Each fact is
//! implied by the invariant that the proof rests on; whether they are all of it, the outline says too. It is for
//! reading: what is checked is the certificate.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::drawing::INITIAL_WIDTH;
use crate::grouping::packed;

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

impl LabelOutline {
    /// What holds, in one line: the facts as one expression, and how much is left out of it.
    pub fn assertion(&self) -> String {
        self.conjuncts().join(" && ")
    }

    /// The facts, in parentheses where one expression of several needs them. There is at least one.
    fn conjuncts(&self) -> Vec<String> {
        let mut facts = self.holds.clone();
        facts.extend(self.omitted.iter().map(Omission::line));
        match facts.len() {
            0 => facts.push("true".to_owned()),
            1 => {}
            _ => facts.iter_mut().for_each(|fact| *fact = conjunct(fact)),
        }
        facts
    }
}

impl Omission {
    fn line(&self) -> String {
        format!(
            "... (not all is shown: this allows {} combinations of {}, the invariant {})",
            self.allowed, self.of, self.asserted
        )
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Outline {
    /// The outline in lines, those below others indented by two spaces a level.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(notation) = &self.notation {
            lines.push(format!("({notation})"));
        }
        if !self.exposed.is_empty() {
            lines.push("The others may speak of".to_owned());
            let exposed = packed(self.exposed.clone(), INITIAL_WIDTH);
            lines.extend(exposed.iter().map(|line| format!("  {line}")));
        }
        if !self.always.is_empty() || !self.omitted.is_empty() {
            lines.push("Always".to_owned());
            lines.extend(self.always.iter().map(|fact| format!("  {fact}")));
            let omitted = self.omitted.iter();
            lines.extend(omitted.map(|omission| format!("  {}", omission.line())));
        }
        for process in &self.processes {
            process.write(&mut lines);
        }
        if let Some(distance) = self.distance {
            lines.push(match distance {
                1 => "And the property itself: what holds otherwise does not imply it, but no step leads from there to a violation.".to_owned(),
                distance => format!(
                    "And a violation is at least {distance} steps away: what holds otherwise does not imply it, but no step leads from there nearer."
                ),
            });
        }
        if !self.argument.is_empty() {
            let facts = !self.always.is_empty() || !self.processes.is_empty();
            if facts {
                lines.push(match self.whole {
                    true => "That is the whole invariant: it holds at the beginning, and every step keeps it.".to_owned(),
                    false => "The invariant says more than is shown.".to_owned(),
                });
            }
            lines.extend(self.argument.iter().cloned());
            return lines;
        }
        lines.push(if self.whole {
            "That is the whole invariant: it holds at the beginning, every step keeps it, and it implies the property."
                .to_owned()
        } else {
            format!(
                "These facts follow from the invariant, but are not all of it: {}. `--certificate DIR` writes all.",
                self.left_out()
            )
        });
        lines
    }
}

impl Outline {
    /// Of what something was left out.
    fn left_out(&self) -> String {
        let mut parts = Vec::new();
        if !self.omitted.is_empty() {
            parts.push("what always holds".to_owned());
        }
        let labels = self.processes.iter().flat_map(|process| &process.labels);
        let number = |labels: &mut dyn Iterator<Item = &LabelOutline>| -> usize {
            labels.map(|label| label.labels.len()).sum()
        };
        let open = number(&mut labels.clone().filter(|label| label.omitted.is_some()));
        if open > 0 {
            parts.push(format!("{open} of {} labels", number(&mut labels.clone())));
        }
        if self.pairs_omitted > 0 {
            parts.push(format!("{} more kinds of pairs", self.pairs_omitted));
        }
        if parts.is_empty() {
            return "something is left out that has no place here, such as relations between local variables of several processes".to_owned();
        }
        format!("something is left out of {}", parts.join(", and of "))
    }
}

impl ProcessOutline {
    fn write(&self, lines: &mut Vec<String>) {
        let among = |title: &mut String, numbers: &[i64]| {
            if !numbers.is_empty() {
                let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
                let _ = write!(title, " among {}", numbers.join(", "));
            }
        };
        let mut title = self.process.clone();
        if let Some(binder) = &self.binder {
            let _ = write!(title, ", for every {binder}");
            among(&mut title, &self.among);
        }
        if let Some(other) = &self.other {
            let comma = self.binder.as_ref().map_or("", |_| ",");
            let every = other.binder.as_ref().map_or("", |_| "every ");
            let _ = write!(title, "{comma} and {every}{}", other.process);
            among(&mut title, &other.among);
            if let Some(condition) = &other.condition {
                let _ = write!(title, " with {condition}");
            }
        }
        lines.push(title);
        // Of a pair, both have labels.
        let whose = match &self.other {
            Some(_) => format!("{} ", self.process),
            None => String::new(),
        };
        let places: Vec<String> = self
            .labels
            .iter()
            .map(|label| format!("{whose}at {}", label.labels.join(", ")))
            .collect();
        let width = places.iter().map(|place| place.chars().count()).max();
        let width = width.unwrap_or_default();
        for (place, label) in places.iter().zip(&self.labels) {
            let mut facts = label.conjuncts();
            let last = facts.len() - 1;
            let line = facts.join(" && ");
            if line.chars().count() <= WIDTH {
                facts = vec![line];
            } else {
                facts[..last]
                    .iter_mut()
                    .for_each(|fact| fact.push_str(" &&"));
            }
            for (position, fact) in facts.iter().enumerate() {
                let place = if position == 0 { place.as_str() } else { "" };
                lines.push(format!("  {place:width$}  {fact}"));
            }
        }
    }
}

/// Longer conjunctions take a line for each part.
const WIDTH: usize = 72;

/// A fact as part of a conjunction: in parentheses if it binds more loosely.
fn conjunct(fact: &str) -> String {
    let mut depth = 0;
    for (place, sign) in fact.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' | ':' if depth == 0 => return format!("({fact})"),
            '-' if depth == 0 && fact[place..].starts_with("->") => return format!("({fact})"),
            _ => {}
        }
    }
    fact.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_that_is_not_all_says_what_is_missing() {
        let outline = Outline {
            always: vec!["x".to_owned()],
            ..Outline::default()
        };
        let last = outline.lines().pop().unwrap();
        assert!(last.contains("relations between local variables"), "{last}");
        assert!(!last.contains("left out of"), "{last}");
    }
}
