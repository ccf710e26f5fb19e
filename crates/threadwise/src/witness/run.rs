//! A run as a sequence of lines that threads come to.

use std::collections::HashMap;

use threadwise_evidence::{Ending, Step, Trace};

use super::NoWitness;
use super::program::Program;
use super::proof::location;
use super::yaml::Node;

/// The `content` of a violation: one segment for each statement that a thread comes to, and one for the violation.
pub(crate) fn segments(program: &Program<'_>, trace: &Trace) -> Result<Node, NoWitness> {
    let Ending::Check { process, line, .. } = &trace.ending else {
        return Err(NoWitness::Property);
    };
    let target = line.ok_or(NoWitness::Place)?;
    let mut threads = Threads::default();
    let mut segments = Vec::new();
    let mut last: HashMap<&str, u32> = HashMap::new();
    let mut values: HashMap<&str, String> = HashMap::new();
    for (name, value) in trace.initial.variables.iter() {
        values.insert(name, value.to_string());
    }
    for step in trace.steps.iter().filter(|step| !step.rest && !step.idle) {
        for (name, value) in step.changes.iter() {
            values.insert(name, value.to_string());
        }
        let Some(line) = step.line else {
            threads.step(program, trace, step, None);
            continue;
        };
        threads.step(program, trace, step, Some(line));
        if is_bookkeeping(trace, step) {
            continue;
        }
        let thread = threads.number(&step.process);
        // What goes on inside a statement is no waypoint.
        if last.insert(&step.process, line) != Some(line) {
            segments.push(segment(program, "assumption", "1", (line, None), thread));
        }
        if let Some((variable, column)) = program.arbitrary(line) {
            let local = format!("{}.{variable}", step.process);
            let value = values.get(local.as_str()).or_else(|| values.get(variable));
            // The step that writes the variable is the one that takes the value.
            let written = step.changes.iter();
            let mut written = written.filter(|(name, _)| *name == local || *name == variable);
            if let (Some(value), Some(_)) = (value, written.next()) {
                let value = match value.as_str() {
                    "true" => "1",
                    "false" => "0",
                    number => number,
                };
                let result = format!("\\result == {value}");
                let place = (line, Some(column));
                segments.push(segment(program, "function_return", &result, place, thread));
            }
        }
    }
    let thread = threads.number(process);
    let waypoint = Node::map([
        ("type", Node::text("target")),
        ("action", Node::text("follow")),
        ("location", location(program, target, None)),
        ("thread_id", Node::Number(thread)),
    ]);
    segments.push(within_segment(waypoint));
    Ok(Node::List(segments))
}

fn segment(
    program: &Program<'_>,
    kind: &str,
    constraint: &str,
    (line, column): (u32, Option<u32>),
    thread: u32,
) -> Node {
    let format = match kind {
        "function_return" => "ext_c_expression",
        _ => "c_expression",
    };
    within_segment(Node::map([
        ("type", Node::text(kind)),
        ("action", Node::text("follow")),
        ("location", location(program, line, column)),
        (
            "constraint",
            Node::map([
                ("value", Node::text(constraint)),
                ("format", Node::text(format)),
            ]),
        ),
        ("thread_id", Node::Number(thread)),
    ]))
}

fn within_segment(waypoint: Node) -> Node {
    let waypoint = Node::map([("waypoint", waypoint)]);
    Node::map([("segment", Node::List(vec![waypoint]))])
}

/// The numbers of threads: the main thread is 0, and others have the next one when they are created.
#[derive(Default)]
struct Threads {
    numbers: HashMap<String, u32>,
}

impl Threads {
    /// A step may create threads: as processes that begin, or by setting the flag that one waits for.
    fn step(&mut self, program: &Program<'_>, trace: &Trace, step: &Step, line: Option<u32>) {
        for (started, _) in step.started.iter() {
            self.number(started);
        }
        if line.is_some_and(|line| program.mentions(line, "pthread_create")) {
            for (cell, _) in step.changes.iter() {
                let process = waits_for(cell);
                let exists = |name: &String| trace.initial.locations.iter().any(|(n, _)| n == name);
                if let Some(process) = process.filter(exists) {
                    self.number(&process);
                }
            }
        }
    }

    /// The number of a process. One that has none has been created before, when nothing told which it was.
    fn number(&mut self, process: &str) -> u32 {
        if process == MAIN {
            return 0;
        }
        let next = self.numbers.len() as u32 + 1;
        *self.numbers.entry(process.to_owned()).or_insert(next)
    }
}

/// The process that waits for a flag: `f[2]` for `f_started[2]`.
fn waits_for(cell: &str) -> Option<String> {
    let (before, after) = cell.rsplit_once("_started")?;
    Some(format!("{before}{after}"))
}

/// Whether a step is one of the model alone: a thread that finds that it was created, or that says that it has ended.
fn is_bookkeeping(trace: &Trace, step: &Step) -> bool {
    let mut locations = trace.initial.locations.iter();
    let first = locations.any(|(process, label)| {
        process == step.process && label.to_string() == step.from && process != MAIN
    });
    let mut cells = trace.initial.variables.iter();
    let waits = cells.any(|(cell, _)| waits_for(cell).as_ref() == Some(&step.process));
    let mut changes = step.changes.iter();
    let ended = step.to == "done" && changes.all(|(cell, _)| cell.starts_with("ended["));
    (first && waits && step.changes.is_empty()) || (ended && !step.changes.is_empty())
}

/// The process that is the main thread.
const MAIN: &str = "main";
