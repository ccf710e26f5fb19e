//! The steps of a trace as a table: one line a step, with only what changed.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::drawing::{Drawing, Line, Mark, Source, shortened};
use crate::fold::{self, Row};
use crate::grouping::{assignments, names, packed};
use threadwise_evidence::{Step, Trace};

/// Changes longer than this go on in a further line.
const CHANGES_WIDTH: usize = 40;
/// Lines of the source are shortened to this at least, however narrow the terminal.
pub(crate) const LEAST_SOURCE: usize = 20;

/// What stands in a line: step, process, label, changes, source.
type Cells = [String; 5];

/// A line of the table.
enum Entry {
    Cells(Cells),
    Note(String),
}

/// The steps; in a run without end, with a line where the loop begins.
pub(crate) fn table(trace: &Trace, source: &Source<'_>, drawing: &Drawing<'_>) -> Vec<Line> {
    let steps = trace.steps.len();
    let from = trace.loop_from.filter(|from| *from < steps);
    let mut entries = Vec::new();
    let stem = 0..from.unwrap_or(steps);
    entries_of(trace, stem, source, drawing.folded, &mut entries);
    if let Some(from) = from {
        entries.push(Entry::Note("for ever:".to_owned()));
        entries_of(trace, from..steps, source, drawing.folded, &mut entries);
    }
    let titles = ["step", "process", "label", "changes", source.title()].map(str::to_owned);
    let widths: [usize; 4] = std::array::from_fn(|column| {
        let cells = entries.iter().filter_map(|entry| match entry {
            Entry::Cells(cells) => Some(cells),
            Entry::Note(_) => None,
        });
        let widths = cells
            .chain([&titles])
            .map(|cells| cells[column].chars().count());
        widths.max().unwrap_or_default()
    });
    let indent: usize = widths.iter().map(|width| width + 2).sum();
    let room = drawing
        .width
        .map(|width| width.saturating_sub(indent).max(LEAST_SOURCE));
    let marks = |header: bool| match header {
        true => [Mark::Title; 5],
        false => [
            Mark::Faint,
            Mark::Plain,
            Mark::Plain,
            Mark::Changed,
            Mark::Faint,
        ],
    };
    let mut lines = vec![aligned(&titles, widths, marks(true))];
    for entry in &mut entries {
        lines.push(match entry {
            Entry::Cells(cells) => {
                if let Some(room) = room {
                    cells[4] = shortened(&cells[4], room);
                }
                aligned(cells, widths, marks(false))
            }
            Entry::Note(note) => {
                let mut line = Line::default();
                line.push("", Mark::Plain, widths[0] + 2);
                line.push(note, Mark::Plain, 0);
                line
            }
        });
    }
    lines
}

/// Aligned columns; numbers to the right.
fn aligned(cells: &Cells, widths: [usize; 4], marks: [Mark; 5]) -> Line {
    let mut line = Line::default();
    let [step, rest @ ..] = cells;
    line.push(&format!("{step:>a$}  ", a = widths[0]), marks[0], 0);
    for (position, cell) in rest.iter().enumerate() {
        let width = widths.get(position + 1).map_or(0, |width| width + 2);
        line.push(cell, marks[position + 1], width);
    }
    line.trimmed()
}

fn entries_of(
    trace: &Trace,
    range: Range<usize>,
    source: &Source<'_>,
    folded: bool,
    entries: &mut Vec<Entry>,
) {
    for row in fold::rows(trace, range, folded) {
        match row {
            Row::Step(position) => {
                let Some(step) = trace.steps.get(position) else {
                    return;
                };
                let mut lines = packed(changes(step), CHANGES_WIDTH).into_iter();
                entries.push(Entry::Cells([
                    (position + 1).to_string(),
                    step.process.clone(),
                    label(step),
                    lines.next().unwrap_or_default(),
                    source.step(step),
                ]));
                let none = String::new;
                let further = lines.map(|line| [none(), none(), none(), line, none()]);
                entries.extend(further.map(Entry::Cells));
            }
            Row::Still(steps) => {
                let mut number = format!("{}..{}", steps.start + 1, steps.end);
                for (step, processes) in still(trace.steps.get(steps).unwrap_or_default()) {
                    entries.push(Entry::Cells([
                        std::mem::take(&mut number),
                        names(processes),
                        label(step),
                        String::new(),
                        source.step(step),
                    ]));
                }
            }
            Row::Folded(steps, why) => {
                entries.push(Entry::Note(fold::describe(trace, &steps, why)));
            }
        }
    }
}

/// What a step changes, with the processes that it starts.
pub(crate) fn changes(step: &Step) -> Vec<String> {
    let mut changes = assignments(&step.changes, " = ");
    if !step.started.is_empty() {
        let started = names(step.started.iter().map(|(name, _)| name));
        changes.insert(0, format!("starts {started}"));
    }
    changes
}

/// Steps that change nothing, with the processes that do the same together: a loop in which each of a thousand processes is scheduled is no longer
/// than one of three.
pub(crate) fn still(steps: &[Step]) -> Vec<(&Step, BTreeSet<&str>)> {
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
    groups
}

pub(crate) fn label(step: &Step) -> String {
    match (step.idle, step.rest) {
        (true, _) => format!("no step at {}", step.from),
        (false, true) => format!("rests at {}", step.from),
        (false, false) => format!("{} -> {}", step.from, step.to),
    }
}
