//! A trace as a sequence diagram of Mermaid, which many viewers of Markdown draw.
//!
//! Participants are the processes that move, and the shared memory if it changes. A step is a note over its process with where it goes and what it changes of its
//! own; what it writes to shared variables is a message to the memory. A run without end has a `loop`.
//!
//! Whatever comes from the model or the trace is written with all but letters, digits and a few harmless characters as `#number;`, Mermaid's notation for a
//! character by its code, so nothing in it can end a line, a note or the diagram.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::fold::{self, Row};
use crate::grouping::{assignments, names};
use crate::text;
use threadwise_evidence::{Ending, Step, Trace, Valuation};

/// The trace as a diagram. Long stretches are folded: a diagram of a thousand messages is not drawn by Mermaid, nor looked at by anybody.
pub fn to_mermaid(trace: &Trace) -> String {
    let mut diagram = Diagram::new(trace);
    let steps = trace.steps.len();
    let from = trace.loop_from.filter(|from| *from < steps);
    diagram.steps(0..from.unwrap_or(steps));
    if let Some(from) = from {
        diagram.line(format_args!("loop for ever"));
        diagram.steps(from..steps);
        diagram.line(format_args!("end"));
    }
    let name = trace.property.as_deref().unwrap_or_default();
    let ending = match &trace.ending {
        Ending::Invariant { fails: None } => Some(format!("{name} does not hold")),
        Ending::Invariant {
            fails: Some(failed),
        } => Some(format!("evaluating {name} fails: {}", failed.check)),
        Ending::Check {
            process,
            from,
            check,
            meaning,
            ..
        } => {
            let words = meaning.clone().unwrap_or_else(|| check.to_string());
            Some(format!("{process} at {from} fails: {words}"))
        }
        Ending::Deadlock => Some("no process can go on: a deadlock".to_owned()),
        Ending::End => trace
            .lasso
            .as_ref()
            .map(|_| format!("{name} does not hold")),
    };
    if let Some(ending) = ending {
        diagram.note_over_all(&ending);
    }
    diagram.text
}

struct Diagram<'t> {
    trace: &'t Trace,
    text: String,
    /// The processes with their numbers as participants.
    processes: BTreeMap<&'t str, usize>,
    memory: bool,
}

impl<'t> Diagram<'t> {
    fn new(trace: &'t Trace) -> Diagram<'t> {
        let steps = trace.steps.iter().filter(|step| !step.rest && !step.idle);
        let mut processes: BTreeMap<&str, usize> =
            steps.map(|step| (step.process.as_str(), 0)).collect();
        if let (true, Some((first, _))) = (processes.is_empty(), trace.initial.locations.0.first())
        {
            processes.insert(first, 0);
        }
        let started = trace.steps.iter().flat_map(|step| step.started.iter());
        let mut order: Vec<&str> = Vec::new();
        for (name, _) in trace.initial.locations.iter().chain(started) {
            // Each is listed once, in the order of the model.
            if let Some(number) = processes.get_mut(name)
                && *number == 0
            {
                order.push(name);
                *number = order.len();
            }
        }
        for (name, number) in &mut processes {
            if *number == 0 {
                order.push(name);
                *number = order.len();
            }
        }
        let mut diagram = Diagram {
            trace,
            text: "sequenceDiagram\n".to_owned(),
            memory: trace.steps.iter().any(|step| !split(step).1.is_empty()),
            processes,
        };
        for (position, name) in order.iter().enumerate() {
            let name = escaped(name);
            diagram.line(format_args!("participant p{} as {name}", position + 1));
        }
        if diagram.memory {
            diagram.line(format_args!("participant memory as shared memory"));
        }
        let initial = &trace.initial;
        let mut values = assignments(&initial.variables, " = ");
        values.extend(assignments(&initial.locations, " at "));
        let params = trace.params.iter();
        let params = params.map(|(name, value)| format!("{name} = {value}"));
        values.splice(0..0, params);
        diagram.note_over_all(&format!("initially {}", limited(values)));
        diagram
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn note_over_all(&mut self, text: &str) {
        let text = escaped(text);
        let last = match (self.memory, self.processes.len()) {
            (true, 0) => "memory".to_owned(),
            (true, _) => "p1,memory".to_owned(),
            (false, 0) => return,
            (false, 1) => "p1".to_owned(),
            (false, last) => format!("p1,p{last}"),
        };
        self.line(format_args!("Note over {last}: {text}"));
    }

    fn steps(&mut self, range: Range<usize>) {
        let trace = self.trace;
        for row in fold::rows(trace, range, true) {
            match row {
                Row::Step(position) => {
                    if let Some(step) = trace.steps.get(position) {
                        self.step(position + 1, step);
                    }
                }
                Row::Still(steps) => {
                    for (step, processes) in text::still(trace.steps.get(steps).unwrap_or_default())
                    {
                        let said = format!("{} {}", names(processes), moves(step));
                        self.note_over_all(&said);
                    }
                }
                Row::Folded(steps, why) => {
                    self.note_over_all(&fold::describe(trace, &steps, why));
                }
            }
        }
    }

    fn step(&mut self, number: usize, step: &Step) {
        let (own, mut shared) = split(step);
        if !step.started.is_empty() {
            let started = names(step.started.iter().map(|(name, _)| name));
            shared.insert(0, format!("starts {started}"));
        }
        let mut said = vec![moves(step)];
        said.extend(own);
        let said = escaped(&limited(said));
        let Some(participant) = self.processes.get(step.process.as_str()) else {
            let said = format!("{} {}", step.process, moves(step));
            return self.note_over_all(&said);
        };
        let participant = format!("p{participant}");
        self.line(format_args!("Note over {participant}: {number}. {said}"));
        if !shared.is_empty() {
            let changes = escaped(&limited(shared));
            let to = if self.memory { "memory" } else { &participant };
            self.line(format_args!("{participant}->>{to}: {changes}"));
        }
    }
}

/// Where a step goes, without an arrow, which has a meaning here.
fn moves(step: &Step) -> String {
    match step.rest || step.idle {
        true => text::label(step),
        false => format!("{} to {}", step.from, step.to),
    }
}

/// What a step changes of its process's own, and of shared variables.
fn split(step: &Step) -> (Vec<String>, Vec<String>) {
    let prefix = format!("{}.", step.process);
    let mut own = Valuation::default();
    let mut shared = Valuation::default();
    for (name, value) in step.changes.iter() {
        match name.strip_prefix(&prefix) {
            Some(variable) => own.0.push((variable.to_owned(), value.clone())),
            None => shared.0.push((name.to_owned(), value.clone())),
        }
    }
    (assignments(&own, " = "), assignments(&shared, " = "))
}

/// As many of the parts as a note can hold.
fn limited(mut parts: Vec<String>) -> String {
    const SHOWN: usize = 12;
    let hidden = parts.len().saturating_sub(SHOWN);
    parts.truncate(SHOWN);
    if hidden > 0 {
        parts.push(format!("and {hidden} more"));
    }
    parts.join(", ")
}

/// A text in which nothing has a meaning to Mermaid.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        // Some words are keywords wherever they stand.
        let is_end = word
            .get(..3)
            .is_some_and(|begin| begin.eq_ignore_ascii_case("end"));
        for (position, c) in word.chars().enumerate() {
            let harmless = c.is_ascii_alphanumeric() || " _.,=[]".contains(c);
            match harmless && !(is_end && position == 0) {
                true => shown.push(c),
                false => {
                    let _ = write!(shown, "#{};", u32::from(c));
                }
            }
        }
    }
    shown
}
