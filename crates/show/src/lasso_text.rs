//! A run without end for people: what of the property it violates, and why it is fair.
//!
//! What is alike for many processes is said once, `for i = 2..1000`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::grouping::{names, ranges};
use threadwise_evidence::{Assumption, Because, Lasso, Part, Trace, Valuation, Value};

/// How many combinations of values are listed, where there is more than one variable.
const SHOWN: usize = 4;

/// What of a property does not hold.
pub(crate) fn violated(
    name: &str,
    (trace, lasso): (&Trace, &Lasso),
    place: &dyn Fn(&Option<u32>) -> String,
    out: &mut String,
) {
    let after = |part: &Part| match part.after {
        Some(0) => "in the initial state".to_owned(),
        Some(after) => format!("after step {after}"),
        None => "somewhere".to_owned(),
    };
    let failing = |part: &&Part| part.fails.is_some();
    if let Some(part) = lasso.violated.iter().find(failing)
        && let Some(failed) = &part.fails
    {
        let (check, after) = (failed.check, after(part));
        let _ = writeln!(out, "evaluating `{name}` fails {after}: {check}");
        out.push_str(&place(&failed.line));
        return;
    }
    let _ = write!(out, "`{name}` does not hold");
    let values: Vec<&Valuation> = lasso.violated.iter().map(|part| &part.values).collect();
    out.push_str(&for_values(&values));
    if let [part] = lasso.violated.as_slice()
        && part.after.is_some()
    {
        let after = after(part);
        let _ = write!(out, ": {after} the property no longer holds");
    }
    let waiting = waiting(trace, lasso);
    if !waiting.is_empty() {
        let _ = write!(out, ": {}", waiting.join(", "));
    }
    let _ = writeln!(out);
    // Several parts that no values tell apart stand in different places.
    let mut lines: Vec<Option<u32>> = lasso
        .violated
        .iter()
        .filter(|part| part.values.is_empty())
        .map(|part| part.line)
        .collect();
    lines.dedup();
    for line in &lines {
        out.push_str(&place(line));
    }
}

/// So many labels at which processes wait for ever are told.
const WAITING: usize = 3;

/// The processes that the violated parts are about and that never move in the loop, by label: `P[1] waits for ever at set` if it has a turn there and no
/// step, otherwise `P[1] stays for ever at set`. One that rests in the loop is not told: it goes on when it likes.
fn waiting(trace: &Trace, lasso: &Lasso) -> Vec<String> {
    let Some(from) = trace.loop_from else {
        return Vec::new();
    };
    let mut at: BTreeMap<&str, String> = BTreeMap::new();
    let began = trace.initial.locations.iter();
    at.extend(began.map(|(name, label)| (name, label.to_string())));
    for step in &trace.steps {
        at.insert(&step.process, step.to.clone());
        let started = step.started.iter();
        at.extend(started.map(|(name, label)| (name, label.to_string())));
    }
    let around = trace.steps.get(from..).unwrap_or_default();
    let busy: BTreeSet<&str> = around
        .iter()
        .filter(|step| !step.idle)
        .map(|step| step.process.as_str())
        .collect();
    let blocked: BTreeSet<&str> = around
        .iter()
        .filter(|step| step.idle)
        .map(|step| step.process.as_str())
        .collect();
    let values: BTreeSet<String> = lasso
        .violated
        .iter()
        .flat_map(|part| part.values.iter())
        .map(|(_, value)| format!("[{value}]"))
        .collect();
    // Without values it is not known whom it is about, but who has no step is worth a word.
    let about = |name: &str| match values.is_empty() {
        true => blocked.contains(name),
        false => values.iter().any(|value| name.ends_with(value.as_str())),
    };
    let mut groups: BTreeMap<(String, bool), Vec<&str>> = BTreeMap::new();
    for (name, label) in at {
        if !busy.contains(name) && label != "done" && about(name) {
            let group = (label, blocked.contains(name));
            groups.entry(group).or_default().push(name);
        }
    }
    if groups.len() > WAITING {
        return Vec::new();
    }
    let groups = groups.into_iter();
    groups
        .map(|((label, blocked), processes)| {
            let verb = match (blocked, processes.len()) {
                (true, 1) => "waits",
                (true, _) => "wait",
                (false, 1) => "stays",
                (false, _) => "stay",
            };
            format!("{} {verb} for ever at {label}", names(processes))
        })
        .collect()
}

/// Why a run is fair.
pub(crate) fn fairness(lasso: &Lasso, out: &mut String) {
    if lasso.fairness.is_empty() {
        return;
    }
    let _ = writeln!(out, "the run is fair:");
    for assumption in &lasso.fairness {
        let name = &assumption.declaration;
        let _ = writeln!(out, "    {name}: {}", why(assumption));
    }
}

fn why(assumption: &Assumption) -> String {
    let quoted = |otherwise: &str| match &assumption.predicate {
        Some(predicate) => format!("`{predicate}`"),
        None => otherwise.to_owned(),
    };
    let values: Vec<&Valuation> = assumption.met.iter().map(|met| &met.values).collect();
    let values = for_values(&values);
    let step = match assumption.met.as_slice() {
        [met] => met.step,
        _ => None,
    };
    match assumption.because {
        Because::Scheduled => {
            let processes = assumption
                .met
                .iter()
                .filter_map(|met| met.process.as_deref());
            let are = match assumption.met.len() {
                1 => "is",
                _ => "are",
            };
            format!("{} {are} scheduled in the loop", names(processes))
        }
        Because::Holds => {
            let what = quoted("what it asks for");
            match step {
                Some(step) => format!("{what} holds in the loop{values}, after step {step}"),
                None => format!("{what} holds in the loop{values}"),
            }
        }
        Because::Never => {
            let what = quoted("its condition");
            format!("{what} never holds in the loop{values}")
        }
    }
}

/// ` for i = 1..3,5`; nothing if no variable has values.
pub fn for_values(all: &[&Valuation]) -> String {
    let named: Vec<&Valuation> = all.iter().copied().filter(|v| !v.is_empty()).collect();
    let single = |valuation: &&Valuation| match valuation.0.as_slice() {
        [(name, Value::Int(number))] => Some((name.clone(), *number)),
        _ => None,
    };
    let numbers: Option<Vec<(String, i64)>> = named.iter().map(single).collect();
    if let Some(numbers) = numbers
        && let Some((name, _)) = numbers.first()
        && numbers.iter().all(|(other, _)| other == name)
    {
        let mut values: Vec<i64> = numbers.iter().map(|(_, number)| *number).collect();
        values.sort_unstable();
        values.dedup();
        return format!(" for {name} = {}", ranges(values));
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut shown: Vec<String> = Vec::new();
    for valuation in &named {
        let each = valuation
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        let text = each.collect::<Vec<_>>().join(", ");
        if seen.insert(text.clone()) {
            shown.push(text);
        }
    }
    match shown.len() {
        0 => String::new(),
        number if number > SHOWN => {
            let first = shown[..SHOWN].join("; ");
            format!(" for {first}; and {} more", number - SHOWN)
        }
        _ => format!(" for {}", shown.join("; ")),
    }
}
