//! The outline of a proof in lines.

use std::fmt::Write as _;

use threadwise_evidence::{LabelOutline, Omission, Outline, ProcessOutline};

use crate::drawing::INITIAL_WIDTH;
use crate::grouping::packed;

/// What holds while a process is at a label, in one line: the facts as one expression, and how much is left out of it.
pub fn assertion(label: &LabelOutline) -> String {
    conjuncts(label).join(" && ")
}

/// The facts, in parentheses where one expression of several needs them. There is at least one.
fn conjuncts(label: &LabelOutline) -> Vec<String> {
    let mut facts = label.holds.clone();
    facts.extend(label.omitted.iter().map(left_out_of));
    match facts.len() {
        0 => facts.push("true".to_owned()),
        1 => {}
        _ => facts.iter_mut().for_each(|fact| *fact = conjunct(fact)),
    }
    facts
}

fn left_out_of(omission: &Omission) -> String {
    format!(
        "... (not all is shown: this allows {} combinations of {}, the invariant {})",
        omission.allowed, omission.of, omission.asserted
    )
}

/// The outline in lines, those below others indented by two spaces a level.
pub fn to_outline(outline: &Outline) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(notation) = &outline.notation {
        lines.push(format!("({notation})"));
    }
    if !outline.exposed.is_empty() {
        lines.push("The others may speak of".to_owned());
        let exposed = packed(outline.exposed.clone(), INITIAL_WIDTH);
        lines.extend(exposed.iter().map(|line| format!("  {line}")));
    }
    if !outline.always.is_empty() || !outline.omitted.is_empty() {
        lines.push("Always".to_owned());
        lines.extend(outline.always.iter().map(|fact| format!("  {fact}")));
        let omitted = outline.omitted.iter();
        lines.extend(omitted.map(|omission| format!("  {}", left_out_of(omission))));
    }
    for process in &outline.processes {
        write(process, &mut lines);
    }
    if let Some(distance) = outline.distance {
        lines.push(match distance {
            1 => "And the property itself: what holds otherwise does not imply it, but no step leads from there to a violation.".to_owned(),
            distance => format!(
                "And a violation is at least {distance} steps away: what holds otherwise does not imply it, but no step leads from there nearer."
            ),
        });
    }
    if !outline.argument.is_empty() {
        let facts = !outline.always.is_empty() || !outline.processes.is_empty();
        if facts {
            lines.push(match outline.whole {
                true => "That is the whole invariant: it holds at the beginning, and every step keeps it.".to_owned(),
                false => "The invariant says more than is shown.".to_owned(),
            });
        }
        lines.extend(outline.argument.iter().cloned());
        return lines;
    }
    lines.push(if outline.whole {
        "That is the whole invariant: it holds at the beginning, every step keeps it, and it implies the property."
            .to_owned()
    } else {
        format!(
            "These facts follow from the invariant, but are not all of it: {}. `--certificate DIR` writes all.",
            left_out(outline)
        )
    });
    lines
}

/// Of what something was left out.
fn left_out(outline: &Outline) -> String {
    let mut parts = Vec::new();
    if !outline.omitted.is_empty() {
        parts.push("what always holds".to_owned());
    }
    let labels = outline.processes.iter().flat_map(|process| &process.labels);
    let number = |labels: &mut dyn Iterator<Item = &LabelOutline>| -> usize {
        labels.map(|label| label.labels.len()).sum()
    };
    let open = number(&mut labels.clone().filter(|label| label.omitted.is_some()));
    if open > 0 {
        parts.push(format!("{open} of {} labels", number(&mut labels.clone())));
    }
    if outline.pairs_omitted > 0 {
        parts.push(format!("{} more kinds of pairs", outline.pairs_omitted));
    }
    if parts.is_empty() {
        return "something is left out that has no place here, such as relations between local variables of several processes".to_owned();
    }
    format!("something is left out of {}", parts.join(", and of "))
}

fn write(process: &ProcessOutline, lines: &mut Vec<String>) {
    let among = |title: &mut String, numbers: &[i64]| {
        if !numbers.is_empty() {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let _ = write!(title, " among {}", numbers.join(", "));
        }
    };
    let mut title = process.process.clone();
    if let Some(binder) = &process.binder {
        let _ = write!(title, ", for every {binder}");
        among(&mut title, &process.among);
    }
    if let Some(other) = &process.other {
        let comma = process.binder.as_ref().map_or("", |_| ",");
        let every = other.binder.as_ref().map_or("", |_| "every ");
        let _ = write!(title, "{comma} and {every}{}", other.process);
        among(&mut title, &other.among);
        if let Some(condition) = &other.condition {
            let _ = write!(title, " with {condition}");
        }
    }
    lines.push(title);
    // Of a pair, both have labels.
    let whose = match &process.other {
        Some(_) => format!("{} ", process.process),
        None => String::new(),
    };
    let places: Vec<String> = process
        .labels
        .iter()
        .map(|label| format!("{whose}at {}", label.labels.join(", ")))
        .collect();
    let width = places.iter().map(|place| place.chars().count()).max();
    let width = width.unwrap_or_default();
    for (place, label) in places.iter().zip(&process.labels) {
        let mut facts = conjuncts(label);
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
        let last = to_outline(&outline).pop().unwrap();
        assert!(last.contains("relations between local variables"), "{last}");
        assert!(!last.contains("left out of"), "{last}");
    }
}
