//! A trace for people: the initial state, the steps as a table or as lanes, and how it ends.
//!
//! A drawing is made of lines of marked pieces, so that whoever prints it can colour them, and knows nothing of terminals itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::grouping::{assignments, names, packed};
use crate::lasso_text;
use crate::lines::Lines;
use crate::{lanes, text};
use threadwise_evidence::{Cause, Ending, Step, Trace};

/// How many groups of the initial state are written.
const SHOWN_GROUPS: usize = 60;
/// How many of the lines that a step executes after the first are named.
const SHOWN_LINES: usize = 3;
/// How long lines of the initial state are.
pub(crate) const INITIAL_WIDTH: usize = 92;

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing special.
    Plain,
    /// A title.
    Title,
    /// What a step has changed.
    Changed,
    /// What is there for orientation.
    Faint,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// What it is.
    pub mark: Mark,
}

/// A line of a drawing, without space at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Piece>);

impl Line {
    /// Adds a piece, and space up to this width.
    pub(crate) fn push(&mut self, text: &str, mark: Mark, width: usize) {
        let padding = width.saturating_sub(text.chars().count());
        for (text, mark) in [(text.to_owned(), mark), (" ".repeat(padding), Mark::Plain)] {
            if !text.is_empty() {
                self.0.push(Piece { text, mark });
            }
        }
    }

    /// Takes the space at the end away.
    pub(crate) fn trimmed(mut self) -> Line {
        while let Some(last) = self.0.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }

    /// The text alone.
    pub fn text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }
}

/// How the steps of a trace are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One line a step.
    Table,
    /// One column a process, time downwards.
    Lanes,
    /// Lanes if several processes move and there is room for them, otherwise a table.
    Fitting,
}

/// How a trace is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'s> {
    /// The text of the model, for the lines that steps begin with.
    pub source: Option<&'s str>,
    /// How wide a line may be; if nothing is said, lines of the source are not shortened.
    pub width: Option<usize>,
    /// Whether long stretches are folded.
    pub folded: bool,
}

impl Drawing<'_> {
    /// Draws a trace.
    pub fn lines(&self, trace: &Trace, layout: Layout) -> Vec<Line> {
        let source = Source(self.source.map(Lines::new));
        let mut drawn = plain(&initial(trace));
        if !trace.steps.is_empty() {
            drawn.push(Line::default());
            let lanes = match layout {
                Layout::Table => None,
                Layout::Lanes => lanes::draw(trace, &source, self, false),
                Layout::Fitting => lanes::draw(trace, &source, self, true),
            };
            drawn.extend(lanes.unwrap_or_else(|| text::table(trace, &source, self)));
        }
        drawn.push(Line::default());
        drawn.extend(plain(&goes_on(trace)));
        drawn.extend(plain(&ending(trace, &source)));
        drawn
    }
}

/// The trace as text, as a table of all steps; with the source, also the line that each step begins with.
pub fn to_text(trace: &Trace, source: Option<&str>) -> String {
    let drawing = Drawing {
        source,
        width: None,
        folded: false,
    };
    let mut text = String::new();
    for line in drawing.lines(trace, Layout::Table) {
        let _ = writeln!(text, "{}", line.text());
    }
    text
}

/// What is wrong with a run, in sentences: what fails or does not hold, and why the run is fair. With the source, places in it are
/// quoted.
pub fn to_conclusion(trace: &Trace, source: Option<&str>) -> String {
    ending(trace, &Source(source.map(Lines::new)))
}

/// The lines of the source, if there is one.
pub(crate) struct Source<'s>(Option<Lines<'s>>);

impl Source<'_> {
    /// The title of the column for it.
    pub(crate) fn title(&self) -> &'static str {
        if self.0.is_some() { "source" } else { "line" }
    }

    /// A line with its number.
    pub(crate) fn line(&self, line: Option<u32>) -> String {
        match (line, &self.0) {
            (Some(number), Some(lines)) => format!("{number}: {}", lines.line(number)),
            (Some(number), None) => number.to_string(),
            (None, _) => String::new(),
        }
    }

    /// The line that a step begins with, and the numbers of those that follow.
    pub(crate) fn step(&self, step: &Step) -> String {
        let mut text = self.line(step.line);
        let mut numbers = step.then.iter();
        for (position, number) in numbers.by_ref().take(SHOWN_LINES).enumerate() {
            let before = if position == 0 { " (then " } else { ", " };
            let _ = write!(text, "{before}{number}");
        }
        match (step.then.is_empty(), numbers.next()) {
            (true, _) => {}
            (false, None) => text.push(')'),
            (false, Some(_)) => text.push_str(", ..)"),
        }
        text
    }

    /// The same on a line of its own.
    fn place(&self, line: &Option<u32>) -> String {
        match (line, &self.0) {
            (Some(number), Some(lines)) => format!("    {number}: {}\n", lines.line(*number)),
            (Some(number), None) => format!("    line {number}\n"),
            (None, _) => String::new(),
        }
    }
}

/// A text that is no longer than this.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(width.saturating_sub(2)).collect();
            format!("{}..", kept.trim_end())
        }
    }
}

fn plain(text: &str) -> Vec<Line> {
    let line = |text: &str| {
        let mut line = Line::default();
        line.push(text, Mark::Plain, 0);
        line
    };
    text.lines().map(line).collect()
}

fn initial(trace: &Trace) -> String {
    let mut text = "initial state".to_owned();
    let params = trace.params.iter();
    let params: Vec<String> = params
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if !params.is_empty() {
        let _ = write!(text, ", {}", params.join(", "));
    }
    text.push('\n');
    let mut groups = assignments(&trace.initial.variables, " = ");
    groups.extend(assignments(&trace.initial.locations, " at "));
    indented(groups, &mut text);
    text
}

/// Groups of assignments, up to a limit.
fn indented(mut groups: Vec<String>, out: &mut String) {
    let hidden = groups.len().saturating_sub(SHOWN_GROUPS);
    groups.truncate(SHOWN_GROUPS);
    if hidden > 0 {
        groups.push(format!("and {hidden} more"));
    }
    for line in packed(groups, INITIAL_WIDTH) {
        let _ = writeln!(out, "    {}", line.trim_end_matches(','));
    }
}

/// The labels that processes are at in the end, those that have ended left out, in the order of the first process at each.
fn whereabouts(trace: &Trace) -> Vec<(String, Vec<&str>)> {
    let mut order: Vec<&str> = trace
        .initial
        .locations
        .iter()
        .map(|(name, _)| name)
        .collect();
    let mut at: BTreeMap<&str, String> = BTreeMap::new();
    let began = trace.initial.locations.iter();
    at.extend(began.map(|(name, label)| (name, label.to_string())));
    for step in &trace.steps {
        at.insert(&step.process, step.to.clone());
        for (name, label) in step.started.iter() {
            order.push(name);
            at.insert(name, label.to_string());
        }
    }
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for name in order {
        let Some(label) = at.get(name).filter(|label| *label != "done") else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| known == label) {
            Some((_, processes)) => processes.push(name),
            None => found.push((label.clone(), vec![name])),
        }
    }
    found
}

/// Where a run without end goes on.
fn goes_on(trace: &Trace) -> String {
    match trace.loop_from {
        Some(0) => "and for ever again from the initial state\n".to_owned(),
        Some(from) => format!("and for ever again from the state after step {from}\n"),
        None => String::new(),
    }
}

/// For which values an invariant is false, what is so there, and which part of it is false.
fn why_false(cause: &Cause, out: &mut String) -> std::fmt::Result {
    if !cause.values.is_empty() {
        let values = cause.values.iter();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        write!(out, " for {}", values.join(", "))?;
    }
    let mut facts = assignments(&cause.locations, " at ");
    facts.extend(assignments(&cause.variables, " = "));
    if !facts.is_empty() {
        write!(out, ": {}", facts.join(", "))?;
    }
    writeln!(out)?;
    if let Some(part) = &cause.part {
        writeln!(out, "    this part of it is false: {part}")?;
    }
    Ok(())
}

/// Who waits for what, with processes together that wait for the same.
fn waiting(causes: &[Cause], out: &mut String) {
    let mut groups: Vec<(Cause, Vec<&str>)> = Vec::new();
    for cause in causes {
        let process = cause.process.as_deref().unwrap_or_default();
        let alike = Cause {
            process: None,
            ..cause.clone()
        };
        match groups.iter_mut().find(|(known, _)| *known == alike) {
            Some((_, processes)) => processes.push(process),
            None => groups.push((alike, vec![process])),
        }
    }
    for (cause, processes) in &groups {
        let many = processes.len() > 1;
        let label = cause.at.as_deref().unwrap_or_default();
        let _ = write!(out, "    {} at {label}", names(processes.iter().copied()));
        if let Some(part) = &cause.part {
            let waits = if many { "wait" } else { "waits" };
            let _ = write!(out, " {waits} for `{part}`");
        }
        match &cause.held_by {
            // With one process alone that can be said of it.
            Some(holder) if processes.as_slice() == [holder.as_str()] => {
                let _ = write!(out, ", which it holds itself");
            }
            Some(holder) => {
                let _ = write!(out, ", which {holder} holds");
            }
            None => {}
        }
        let facts = assignments(&cause.variables, " = ");
        if !facts.is_empty() {
            let _ = write!(out, ", and {}", facts.join(", "));
        }
        let _ = writeln!(out);
    }
}

/// What is wrong with a run.
fn ending(trace: &Trace, source: &Source<'_>) -> String {
    let mut text = String::new();
    let out = &mut text;
    let name = trace.property.as_deref().unwrap_or_default();
    let _ = match &trace.ending {
        Ending::Invariant { fails: None } => {
            let _ = write!(out, "here `{name}` does not hold");
            match trace.causes.first() {
                Some(cause) => why_false(cause, out),
                None => writeln!(out),
            }
        }
        Ending::Invariant {
            fails: Some(failed),
        } => {
            let check = failed.check;
            let _ = writeln!(out, "here evaluating `{name}` fails: {check}");
            out.write_str(&source.place(&failed.line))
        }
        Ending::Check {
            process,
            from,
            check,
            line,
            changes,
            meaning,
            ..
        } => {
            let words = meaning.clone().unwrap_or_else(|| check.to_string());
            let _ = writeln!(out, "here {process} at {from} fails: {words}");
            let _ = out.write_str(&source.place(line));
            if !changes.is_empty() {
                let _ = writeln!(out, "after the same step has set");
                indented(assignments(changes, " = "), out);
            }
            Ok(())
        }
        Ending::Deadlock => {
            let _ = writeln!(out, "here no process can go on: a deadlock");
            if !trace.causes.is_empty() {
                waiting(&trace.causes, out);
                return text;
            }
            for (label, processes) in whereabouts(trace) {
                let _ = writeln!(out, "    {} at {label}", names(processes));
            }
            Ok(())
        }
        Ending::End => Ok(()),
    };
    if let Some(lasso) = &trace.lasso {
        lasso_text::violated(name, (trace, lasso), &|line| source.place(line), out);
        lasso_text::fairness(lasso, out);
    }
    text
}
