//! The steps of a trace as lanes: one column a process, time downwards, and a column for what changes in shared variables.
//!
//! A cell says where its process comes to and what it changes of its own; `|` is a process that does not move in this step. Only processes that move have a lane, and those that the
//! violation is about; the others are named below. In a run without end the margin shows the loop, and a line under a step says which
//! fairness it meets.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::drawing::{Drawing, Line, Mark, Source, shortened};
use crate::fold::{self, Row, Why};
use crate::grouping::{assignments, names, packed};
use crate::lasso_text::for_values;
use crate::text::{self, LEAST_SOURCE};
use threadwise_evidence::{Ending, Met, Step, Trace, Valuation, Value};

/// What a process does goes on in a further line if it is longer than this; the narrower one is for lanes that would not fit otherwise.
const LANE_WIDTHS: [usize; 2] = [20, 12];
/// The same of what changes in shared variables.
const SHARED_WIDTH: usize = 32;
/// The margin where the loop is drawn.
const MARGIN: usize = 4;
/// How wide lanes may be, source included, where nobody knows how wide the screen is.
const USUAL_WIDTH: usize = 100;
/// How many lines about fairness are written; if there were more, what stands below the steps must do.
const MOST_FAIR: usize = 12;
/// For so many values of its variables the processes that a violated property speaks of have lanes.
const MOST_ABOUT: usize = 4;

/// Draws the steps. If lanes must fit: nothing if only one process moves, or if there is too little room for the lanes and the source.
pub(crate) fn draw(
    trace: &Trace,
    source: &Source<'_>,
    drawing: &Drawing<'_>,
    fit: bool,
) -> Option<Vec<Line>> {
    let lanes = Lanes::new(trace);
    if lanes.names.is_empty() || (fit && lanes.names.len() < 2) {
        return None;
    }
    let width = drawing.width.unwrap_or(USUAL_WIDTH);
    let sheets = LANE_WIDTHS.map(|widest| lanes.sheet(source, drawing.folded, widest));
    for sheet in &sheets {
        let room = width.saturating_sub(sheet.width());
        if room >= LEAST_SOURCE {
            let room = drawing.width.map_or(usize::MAX, |_| room);
            return Some(sheet.lines(source.title(), room));
        }
    }
    match fit {
        true => None,
        // They are wanted all the same.
        false => {
            let room = drawing.width.map_or(usize::MAX, |_| 0);
            Some(sheets.last()?.lines(source.title(), room))
        }
    }
}

/// The processes with lanes.
struct Lanes<'t> {
    trace: &'t Trace,
    names: Vec<&'t str>,
    positions: BTreeMap<&'t str, usize>,
}

impl<'t> Lanes<'t> {
    fn new(trace: &'t Trace) -> Lanes<'t> {
        let moving = trace.steps.iter().filter(|step| !step.rest && !step.idle);
        let mut wanted: BTreeSet<&str> = moving.map(|step| step.process.as_str()).collect();
        if let Ending::Check { process, .. } = &trace.ending {
            wanted.insert(process);
        }
        let violated = trace
            .lasso
            .as_ref()
            .map_or(&[][..], |lasso| &lasso.violated);
        let about: BTreeSet<String> = violated
            .iter()
            .flat_map(|part| part.values.iter())
            .filter_map(|(_, value)| match value {
                Value::Int(number) => Some(format!("[{number}]")),
                Value::Bool(_) | Value::Name(_) => None,
            })
            .collect();
        if about.len() > MOST_ABOUT {
            return Lanes::of(trace, wanted);
        }
        let spoken_of = trace.initial.locations.iter().map(|(name, _)| name);
        wanted.extend(spoken_of.filter(|name| about.iter().any(|index| name.ends_with(index))));
        Lanes::of(trace, wanted)
    }

    /// In the order of the model; processes that are started in that of their starts.
    fn of(trace: &'t Trace, mut wanted: BTreeSet<&'t str>) -> Lanes<'t> {
        let started = trace.steps.iter().flat_map(|step| step.started.iter());
        let all = trace.initial.locations.iter().chain(started);
        let mut names: Vec<&str> = all
            .map(|(name, _)| name)
            .filter(|name| wanted.remove(name))
            .collect();
        // A file may speak of processes that do not exist.
        names.extend(wanted);
        let positions = names.iter().enumerate();
        Lanes {
            trace,
            positions: positions
                .map(|(position, name)| (*name, position))
                .collect(),
            names,
        }
    }

    fn sheet(&self, source: &Source<'_>, folded: bool, widest: usize) -> Sheet<'t> {
        let trace = self.trace;
        let steps = trace.steps.len();
        let from = trace.loop_from.filter(|from| *from < steps);
        let mut at: Vec<Option<&str>> = vec![None; self.names.len()];
        for (process, label) in trace.initial.locations.iter() {
            if let (Some(position), Value::Name(label)) = (self.positions.get(process), label) {
                at[*position] = Some(label);
            }
        }
        let mut sheet = Sheet {
            names: self.names.clone(),
            entries: vec![places("0", &at)],
            looped: from.is_some(),
            rest: self.rest(),
        };
        let fair = self.fair();
        let parts = [
            (0..from.unwrap_or(steps), false),
            (from.unwrap_or(steps)..steps, true),
        ];
        for (range, in_loop) in parts {
            for row in fold::rows(trace, range, folded) {
                for mut entry in self.entries(&row, &mut at, source, widest) {
                    entry.in_loop = in_loop;
                    sheet.entries.push(entry);
                }
                if in_loop {
                    for text in fairness(&fair, &row.steps()) {
                        let mut entry = note(text, Mark::Faint);
                        entry.in_loop = true;
                        sheet.entries.push(entry);
                    }
                }
            }
        }
        sheet
    }

    /// The processes without a lane.
    fn rest(&self) -> Option<String> {
        let started = self.trace.steps.iter().flat_map(|step| step.started.iter());
        let all = self.trace.initial.locations.iter().chain(started);
        let all = all.map(|(name, _)| name);
        let rest: BTreeSet<&str> = all
            .filter(|name| !self.positions.contains_key(name))
            .collect();
        let many = if rest.len() == 1 { "moves" } else { "move" };
        (!rest.is_empty()).then(|| format!("{} never {many}", names(rest)))
    }

    fn entries(
        &self,
        row: &Row,
        at: &mut [Option<&'t str>],
        source: &Source<'_>,
        widest: usize,
    ) -> Vec<Entry> {
        let steps = self.trace.steps.get(row.steps()).unwrap_or_default();
        let entries = match row {
            Row::Step(position) => steps
                .iter()
                .map(|step| self.step(*position, step, at, source, widest))
                .collect(),
            Row::Still(range) => self.still(range, steps, at),
            Row::Folded(range, why) => {
                vec![note(fold::describe(self.trace, range, *why), Mark::Plain)]
            }
        };
        for step in steps {
            if let Some(position) = self.positions.get(step.process.as_str()) {
                at[*position] = Some(&step.to);
            }
            for (process, label) in step.started.iter() {
                if let (Some(position), Value::Name(label)) = (self.positions.get(process), label) {
                    at[*position] = Some(label);
                }
            }
        }
        let mut entries: Vec<Entry> = entries;
        if let Row::Folded(range, Why::Long) = row {
            entries.push(places(&range.end.to_string(), at));
        }
        entries
    }

    fn step(
        &self,
        position: usize,
        step: &Step,
        at: &[Option<&str>],
        source: &Source<'_>,
        widest: usize,
    ) -> Entry {
        let mut shared = Vec::new();
        let mut own: BTreeMap<usize, Vec<(String, Value)>> = BTreeMap::new();
        for (name, value) in step.changes.iter() {
            let lane = name.split_once('.').and_then(|(process, variable)| {
                Some((*self.positions.get(process)?, variable.to_owned()))
            });
            match lane {
                Some((lane, variable)) => {
                    own.entry(lane).or_default().push((variable, value.clone()));
                }
                None => shared.push((name.to_owned(), value.clone())),
            }
        }
        let mut shared = assignments(&Valuation(shared), " = ");
        if !step.started.is_empty() {
            let started = names(step.started.iter().map(|(name, _)| name));
            shared.insert(0, format!("starts {started}"));
        }
        let mut cells: Vec<Cell> = at.iter().map(|at| Cell::waiting(*at)).collect();
        let mut done: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        if let Some(lane) = self.positions.get(step.process.as_str()) {
            done.insert(*lane, vec![does(step)]);
        }
        for (process, label) in step.started.iter() {
            if let Some(lane) = self.positions.get(process) {
                done.entry(*lane).or_default().push(label.to_string());
            }
        }
        for (lane, changes) in own {
            let changes = assignments(&Valuation(changes), " = ");
            done.entry(lane).or_default().extend(changes);
        }
        for (lane, parts) in done {
            if let Some(cell) = cells.get_mut(lane) {
                *cell = Cell::Text(packed(parts, widest), Mark::Changed);
            }
        }
        Entry {
            number: (position + 1).to_string(),
            in_loop: false,
            content: Content::Cells {
                cells,
                shared: packed(shared, SHARED_WIDTH),
                source: source.step(step),
            },
        }
    }

    /// Processes that rest or have no step: in their lanes, if they have some.
    fn still(&self, range: &Range<usize>, steps: &[Step], at: &[Option<&str>]) -> Vec<Entry> {
        let mut cells: Vec<Cell> = at.iter().map(|at| Cell::waiting(*at)).collect();
        let mut others = Vec::new();
        for (step, processes) in text::still(steps) {
            let mut without = BTreeSet::new();
            for process in processes {
                match self
                    .positions
                    .get(process)
                    .and_then(|lane| cells.get_mut(*lane))
                {
                    Some(cell) => *cell = Cell::Text(vec![does(step)], Mark::Plain),
                    None => drop(without.insert(process)),
                }
            }
            if !without.is_empty() {
                others.push(format!("{}: {}", names(without), text::label(step)));
            }
        }
        let number = format!("{}..{}", range.start + 1, range.end);
        let content = Content::Cells {
            cells,
            shared: Vec::new(),
            source: String::new(),
        };
        let mut entries = vec![Entry {
            number,
            in_loop: false,
            content,
        }];
        entries.extend(others.into_iter().map(|text| note(text, Mark::Plain)));
        entries
    }

    /// The steps of the loop that meet an assumption of fairness, with its name.
    fn fair(&self) -> Vec<(&'t str, &'t Met)> {
        let assumptions = self.trace.lasso.iter().flat_map(|lasso| &lasso.fairness);
        let met = assumptions.flat_map(|assumption| {
            let name = assumption.declaration.as_str();
            assumption.met.iter().map(move |met| (name, met))
        });
        let met: Vec<_> = met.filter(|(_, met)| met.step.is_some()).collect();
        let steps: BTreeSet<(&str, Option<usize>)> =
            met.iter().map(|(name, met)| (*name, met.step)).collect();
        if steps.len() > MOST_FAIR {
            return Vec::new();
        }
        met
    }
}

/// What a process does in its lane.
fn does(step: &Step) -> String {
    match (step.idle, step.rest) {
        (true, _) => "(no step)".to_owned(),
        (false, true) => "(rests)".to_owned(),
        (false, false) => step.to.clone(),
    }
}

/// Which assumptions of fairness these steps meet.
fn fairness(fair: &[(&str, &Met)], steps: &Range<usize>) -> Vec<String> {
    let here = |met: &Met| {
        let step = met.step.and_then(|step| step.checked_sub(1));
        step.is_some_and(|step| steps.contains(&step))
    };
    let mut known: BTreeMap<&str, Vec<&Met>> = BTreeMap::new();
    for (name, met) in fair.iter().filter(|(_, met)| here(met)) {
        known.entry(name).or_default().push(met);
    }
    let said = known.into_iter().map(|(name, met)| {
        let processes: Vec<&str> = met
            .iter()
            .filter_map(|met| met.process.as_deref())
            .collect();
        match processes.is_empty() {
            true => {
                let values: Vec<&Valuation> = met.iter().map(|met| &met.values).collect();
                format!("fair: meets {name}{}", for_values(&values))
            }
            false => format!("fair: meets {name} for {}", names(processes)),
        }
    });
    said.collect()
}

fn note(text: String, mark: Mark) -> Entry {
    Entry {
        number: String::new(),
        in_loop: false,
        content: Content::Note(text, mark),
    }
}

/// Where everybody is.
fn places(number: &str, at: &[Option<&str>]) -> Entry {
    let cells = at.iter().map(|at| match at {
        Some(label) => Cell::Text(vec![(*label).to_owned()], Mark::Plain),
        None => Cell::Absent,
    });
    Entry {
        number: number.to_owned(),
        in_loop: false,
        content: Content::Cells {
            cells: cells.collect(),
            shared: Vec::new(),
            source: String::new(),
        },
    }
}

/// What stands in a lane at a step.
enum Cell {
    /// The process does something.
    Text(Vec<String>, Mark),
    /// It waits.
    Waiting,
    /// It has not been started.
    Absent,
}

impl Cell {
    fn waiting(at: Option<&str>) -> Cell {
        match at {
            Some(_) => Cell::Waiting,
            None => Cell::Absent,
        }
    }

    fn width(&self) -> usize {
        match self {
            Cell::Text(lines, _) => lines.iter().map(|line| line.chars().count()).max(),
            Cell::Waiting | Cell::Absent => None,
        }
        .unwrap_or(1)
    }
}

/// One step, or what is said in its place.
struct Entry {
    number: String,
    in_loop: bool,
    content: Content,
}

enum Content {
    Cells {
        cells: Vec<Cell>,
        shared: Vec<String>,
        source: String,
    },
    Note(String, Mark),
}

/// Everything that is drawn.
struct Sheet<'t> {
    names: Vec<&'t str>,
    entries: Vec<Entry>,
    looped: bool,
    rest: Option<String>,
}

impl Sheet<'_> {
    fn margin(&self) -> usize {
        if self.looped { MARGIN } else { 0 }
    }

    fn number_width(&self) -> usize {
        let numbers = self.entries.iter().map(|entry| entry.number.len());
        numbers.chain(["step".len()]).max().unwrap_or_default()
    }

    fn lane_width(&self, lane: usize) -> usize {
        let cells = self
            .entries
            .iter()
            .filter_map(|entry| match &entry.content {
                Content::Cells { cells, .. } => cells.get(lane).map(Cell::width),
                Content::Note(..) => None,
            });
        let name = self.names.get(lane).map(|name| name.chars().count());
        cells.chain(name).max().unwrap_or_default()
    }

    /// Nothing if no shared variable changes.
    fn shared_width(&self) -> Option<usize> {
        let shared = self
            .entries
            .iter()
            .filter_map(|entry| match &entry.content {
                Content::Cells { shared, .. } => {
                    shared.iter().map(|line| line.chars().count()).max()
                }
                Content::Note(..) => None,
            });
        shared.max().map(|width| width.max("shared".len()))
    }

    /// The width of all but the source, with the space before it.
    fn width(&self) -> usize {
        let lanes = (0..self.names.len()).map(|lane| self.lane_width(lane) + 2);
        let shared = self.shared_width().map_or(0, |width| width + 2);
        self.margin() + self.number_width() + 2 + lanes.sum::<usize>() + shared
    }

    /// `room` is how much of the source can be shown.
    fn lines(&self, source_title: &str, room: usize) -> Vec<Line> {
        let lanes: Vec<usize> = (0..self.names.len())
            .map(|lane| self.lane_width(lane))
            .collect();
        let number = self.number_width();
        let shared = self.shared_width();
        let mut title = Line::default();
        title.push("", Mark::Plain, self.margin());
        title.push(&format!("{:>number$}  ", "step"), Mark::Title, 0);
        for (name, width) in self.names.iter().zip(&lanes) {
            title.push(name, Mark::Title, width + 2);
        }
        if let Some(width) = shared {
            title.push("shared", Mark::Title, width + 2);
        }
        if room > 0 {
            title.push(source_title, Mark::Title, 0);
        }
        let mut lines = vec![title.trimmed()];
        let mut looping = false;
        for entry in &self.entries {
            let height = match &entry.content {
                Content::Note(..) => 1,
                Content::Cells { cells, shared, .. } => {
                    let cells = cells.iter().map(|cell| match cell {
                        Cell::Text(lines, _) => lines.len(),
                        Cell::Waiting | Cell::Absent => 1,
                    });
                    cells.chain([shared.len()]).max().unwrap_or(1)
                }
            };
            for row in 0..height {
                let mut line = Line::default();
                let margin = match (entry.in_loop, looping) {
                    (false, _) => "",
                    (true, false) => "+->",
                    (true, true) => "|",
                };
                looping |= entry.in_loop;
                line.push(margin, Mark::Faint, self.margin());
                let text = if row == 0 { entry.number.as_str() } else { "" };
                line.push(&format!("{text:>number$}  "), Mark::Faint, 0);
                match &entry.content {
                    Content::Note(text, mark) => line.push(text, *mark, 0),
                    Content::Cells {
                        cells,
                        shared: changes,
                        source,
                    } => {
                        for (cell, width) in cells.iter().zip(&lanes) {
                            let (text, mark) = match cell {
                                Cell::Text(lines, mark) => {
                                    (lines.get(row).map_or("", String::as_str), *mark)
                                }
                                Cell::Waiting => ("|", Mark::Faint),
                                Cell::Absent => ("", Mark::Plain),
                            };
                            line.push(text, mark, width + 2);
                        }
                        if let Some(width) = shared {
                            let text = changes.get(row).map_or("", String::as_str);
                            line.push(text, Mark::Changed, width + 2);
                        }
                        if row == 0 && room > 0 {
                            line.push(&shortened(source, room), Mark::Faint, 0);
                        }
                    }
                }
                lines.push(line.trimmed());
            }
        }
        if self.looped {
            let mut line = Line::default();
            line.push("+--", Mark::Faint, self.margin());
            line.push(&format!("{:number$}  for ever", ""), Mark::Faint, 0);
            lines.push(line);
        }
        if let Some(rest) = &self.rest {
            let mut line = Line::default();
            line.push("", Mark::Plain, self.margin() + number + 2);
            line.push(rest, Mark::Faint, 0);
            lines.push(line);
        }
        lines
    }
}
