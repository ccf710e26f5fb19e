//! A trace for people: one line a step, with only what changed.
//!
//! Cells of arrays and processes that have the same value are written together, `P[1..1000].k = 0`,
//! so that an instance with a thousand processes fits a screen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use crate::lasso_text;
use crate::lines::Lines;
use crate::trace::{Ending, Step, Trace, Valuation};

/// How many groups of the initial state are written.
const SHOWN_GROUPS: usize = 60;
/// How many ranges of one group are written.
const SHOWN_RANGES: usize = 4;
/// Changes longer than this go on in a further line.
const CHANGES_WIDTH: usize = 40;
/// The same of the initial state.
pub(crate) const INITIAL_WIDTH: usize = 92;

/// The trace as text; with the source, also the line that each step begins with.
pub fn to_text(trace: &Trace, source: Option<&str>) -> String {
    let lines = source.map(Lines::new);
    let source_line = |line: Option<u32>| match (line, &lines) {
        (Some(number), Some(lines)) => format!("{number}: {}", lines.line(number)),
        (Some(number), None) => number.to_string(),
        (None, _) => String::new(),
    };
    let mut text = String::new();
    let out = &mut text;
    initial(trace, out);
    if !trace.steps.is_empty() {
        let steps = trace.steps.len();
        let from = trace.loop_from.filter(|from| *from < steps);
        let mut rows = Vec::new();
        step_rows(trace, 0..from.unwrap_or(steps), &source_line, &mut rows);
        let stem = rows.len();
        step_rows(trace, from.unwrap_or(steps)..steps, &source_line, &mut rows);
        let _ = writeln!(out);
        let title = if lines.is_some() { "source" } else { "line" };
        let titles = ["step", "process", "label", "changes", title];
        table(titles, &rows, from.map(|_| stem), out);
    }
    let _ = writeln!(out);
    out.push_str(&conclusion(trace, lines.as_ref()));
    text
}

/// What is wrong with a run, in sentences: where it goes on for ever, what fails or does not hold, and why the run is fair. With the
/// source, places in it are quoted.
pub fn to_conclusion(trace: &Trace, source: Option<&str>) -> String {
    conclusion(trace, source.map(Lines::new).as_ref())
}

fn conclusion(trace: &Trace, lines: Option<&Lines>) -> String {
    let mut text = String::new();
    let out = &mut text;
    if let Some(loop_from) = trace.loop_from {
        let _ = match loop_from {
            0 => writeln!(out, "and for ever again from the initial state"),
            _ => writeln!(
                out,
                "and for ever again from the state after step {loop_from}"
            ),
        };
    }
    let name = trace.property.as_deref().unwrap_or_default();
    let place = |line: &Option<u32>| match (line, lines) {
        (Some(number), Some(lines)) => format!("    {number}: {}\n", lines.line(*number)),
        (Some(number), None) => format!("    line {number}\n"),
        (None, _) => String::new(),
    };
    let _ = match &trace.ending {
        Ending::Invariant { fails: None } => writeln!(out, "here `{name}` does not hold"),
        Ending::Invariant {
            fails: Some(failed),
        } => {
            let check = failed.check;
            let _ = writeln!(out, "here evaluating `{name}` fails: {check}");
            out.write_str(&place(&failed.line))
        }
        Ending::Check {
            process,
            from,
            check,
            line,
        } => {
            let _ = writeln!(out, "here {process} at {from} fails: {check}");
            out.write_str(&place(line))
        }
        Ending::Deadlock => writeln!(out, "here no process can go on: a deadlock"),
        Ending::End => Ok(()),
    };
    if let Some(lasso) = &trace.lasso {
        lasso_text::violated(name, lasso, &place, out);
        lasso_text::fairness(lasso, out);
    }
    text
}

/// The rows of some steps. Where processes rest or have no step, one after the other, those that do the same are together: a loop in which each of
/// a thousand processes is scheduled is no longer than one of three.
fn step_rows(
    trace: &Trace,
    range: Range<usize>,
    source_line: &dyn Fn(Option<u32>) -> String,
    rows: &mut Vec<[String; 5]>,
) {
    let mut position = range.start;
    while position < range.end {
        let steps = trace.steps.get(position..range.end).unwrap_or_default();
        let still = steps.iter().take_while(|step| step.rest || step.idle);
        let still = still.count();
        if still > 1 {
            still_rows(position, &steps[..still], source_line, rows);
            position += still;
            continue;
        }
        let Some(step) = steps.first() else { return };
        let mut changes = assignments(&step.changes, " = ");
        if !step.started.is_empty() {
            let started = together(step.started.iter().map(|(name, _)| (name, "")));
            let names: Vec<String> = started.into_iter().map(|(name, _)| name).collect();
            changes.insert(0, format!("starts {}", names.join(", ")));
        }
        let mut lines = packed(changes, CHANGES_WIDTH).into_iter();
        rows.push([
            (position + 1).to_string(),
            step.process.clone(),
            label(step),
            lines.next().unwrap_or_default(),
            source_line(step.line),
        ]);
        let none = String::new;
        rows.extend(lines.map(|line| [none(), none(), none(), line, none()]));
        position += 1;
    }
}

/// The rows of steps that change nothing.
fn still_rows(
    first: usize,
    steps: &[Step],
    source_line: &dyn Fn(Option<u32>) -> String,
    rows: &mut Vec<[String; 5]>,
) {
    let mut groups: Vec<(&Step, BTreeSet<&str>)> = Vec::new();
    for step in steps {
        let alike = |other: &&mut (&Step, BTreeSet<&str>)| {
            label(other.0) == label(step) && other.0.line == step.line
        };
        match groups.iter_mut().find(alike) {
            // A process may be scheduled twice.
            Some((_, processes)) => drop(processes.insert(&step.process)),
            None => groups.push((step, BTreeSet::from([step.process.as_str()]))),
        }
    }
    let mut number = format!("{}..{}", first + 1, first + steps.len());
    for (step, processes) in groups {
        let names = together(processes.into_iter().map(|name| (name, "")));
        let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        rows.push([
            std::mem::take(&mut number),
            names.join(", "),
            label(step),
            String::new(),
            source_line(step.line),
        ]);
    }
}

fn label(step: &Step) -> String {
    match (step.idle, step.rest) {
        (true, _) => format!("no step at {}", step.from),
        (false, true) => format!("rests at {}", step.from),
        (false, false) => format!("{} -> {}", step.from, step.to),
    }
}

fn initial(trace: &Trace, out: &mut String) {
    let params: Vec<String> = trace
        .params
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if params.is_empty() {
        let _ = writeln!(out, "initial state");
    } else {
        let _ = writeln!(out, "initial state, {}", params.join(", "));
    }
    let mut groups = assignments(&trace.initial.variables, " = ");
    groups.extend(assignments(&trace.initial.locations, " at "));
    let hidden = groups.len().saturating_sub(SHOWN_GROUPS);
    groups.truncate(SHOWN_GROUPS);
    if hidden > 0 {
        groups.push(format!("and {hidden} more"));
    }
    for line in packed(groups, INITIAL_WIDTH) {
        let _ = writeln!(out, "    {}", line.trim_end_matches(','));
    }
}

/// As many on a line as fit; a line that another one follows ends with a comma.
pub(crate) fn packed(parts: Vec<String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + part.chars().count() <= width => {
                line.push_str(", ");
                line.push_str(&part);
            }
            last => {
                if let Some(line) = last {
                    line.push(',');
                }
                lines.push(part);
            }
        }
    }
    lines
}

/// `name = value` for each group of names.
fn assignments(valuation: &Valuation, between: &str) -> Vec<String> {
    let values: Vec<(&str, String)> = valuation
        .iter()
        .map(|(name, value)| (name, value.to_string()))
        .collect();
    together(values.iter().map(|(name, value)| (*name, value.as_str())))
        .into_iter()
        .map(|(name, value)| format!("{name}{between}{value}"))
        .collect()
}

/// Puts names that differ in one number, and have the same value, together: first by the number
/// in the first pair of brackets, then by the second, and so on.
pub(crate) fn together<'n>(
    entries: impl Iterator<Item = (&'n str, &'n str)>,
) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = entries
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    for bracket in 0..3 {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        for (name, value) in entries {
            match split(&name, bracket) {
                None => groups.push(Group {
                    before: name,
                    numbers: Vec::new(),
                    after: String::new(),
                    value,
                }),
                Some((before, number, after)) => {
                    let key = (before, after, value);
                    match known.get(&key) {
                        Some(position) => groups[*position].numbers.push(number),
                        None => {
                            known.insert(key.clone(), groups.len());
                            let (before, after, value) = key;
                            groups.push(Group {
                                before,
                                numbers: vec![number],
                                after,
                                value,
                            });
                        }
                    }
                }
            }
        }
        entries = groups.into_iter().map(Group::into_entry).collect();
    }
    entries
}

/// Names that differ in one number.
struct Group {
    before: String,
    numbers: Vec<i64>,
    after: String,
    value: String,
}

impl Group {
    fn into_entry(self) -> (String, String) {
        let name = if self.numbers.is_empty() {
            self.before
        } else {
            format!("{}[{}]{}", self.before, ranges(self.numbers), self.after)
        };
        (name, self.value)
    }
}

/// Splits a name at the bracket with this position, if there is a number in it.
fn split(name: &str, bracket: usize) -> Option<(String, i64, String)> {
    let (open, _) = name.match_indices('[').nth(bracket)?;
    let close = open + name[open..].find(']')?;
    let number = name[open + 1..close].parse().ok()?;
    Some((
        name[..open].to_owned(),
        number,
        name[close + 1..].to_owned(),
    ))
}

/// `1..3,5,8..1000`
pub(crate) fn ranges(mut numbers: Vec<i64>) -> String {
    numbers.sort_unstable();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let hidden = ranges.len().saturating_sub(SHOWN_RANGES);
    let mut parts: Vec<String> = ranges
        .into_iter()
        .take(SHOWN_RANGES)
        .map(|(first, last)| match last.saturating_sub(first) {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}..{last}"),
        })
        .collect();
    if hidden > 0 {
        parts.push("..".to_owned());
    }
    parts.join(",")
}

/// Rows with aligned columns; numbers to the right. After so many rows the loop begins, if there is one.
fn table(titles: [&str; 5], rows: &[[String; 5]], stem: Option<usize>, out: &mut String) {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([titles[column].len()])
            .max()
            .unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let titles = titles.map(str::to_owned);
    for (position, row) in std::iter::once(&titles).chain(rows).enumerate() {
        let [step, process, label, changes, source] = row;
        let line = format!(
            "{step:>a$}  {process:<b$}  {label:<c$}  {changes:<d$}  {source}",
            a = widths[0],
            b = widths[1],
            c = widths[2],
            d = widths[3],
        );
        let _ = writeln!(out, "{}", line.trim_end());
        if stem == Some(position) {
            let _ = writeln!(out, "{:>a$}  for ever:", "", a = widths[0]);
        }
    }
}
