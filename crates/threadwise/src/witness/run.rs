//! A run as a sequence of lines that threads come to.

use std::collections::HashMap;

use threadwise_evidence::{Ending, Step, Trace, Valuation};

use super::NoWitness;
use super::nodes::{Executed, Nodes};
use super::program::Program;
use super::proof::location;
use super::yaml::Node;
use crate::session::Session;

/// The `content` of a violation: one segment for each statement that a thread comes to, and one for the violation.
pub(crate) fn segments(
    session: &Session,
    program: &Program<'_>,
    trace: &Trace,
) -> Result<Node, NoWitness> {
    let Ending::Check {
        line: Some(target), ..
    } = trace.ending
    else {
        return Err(NoWitness::Place);
    };
    if program.function(target).is_none() {
        return Err(NoWitness::Place);
    }
    let model = session.program().ok_or(NoWitness::Place)?;
    let (nodes, trace) = Nodes::replay(model, trace).ok_or(NoWitness::Place)?;
    let Ending::Check {
        process,
        after,
        changes,
        ..
    } = &trace.ending
    else {
        return Err(NoWitness::Property);
    };
    let mut threads = Threads::default();
    let mut run = Run {
        program,
        segments: Vec::new(),
        last: HashMap::new(),
        values: HashMap::new(),
    };
    run.set(&trace.initial.variables);
    for step in trace.steps.iter().filter(|step| !step.rest && !step.idle) {
        run.set(&step.changes);
        threads.step((program, &nodes), &trace, step);
        if is_bookkeeping(&trace, step) {
            continue;
        }
        for number in executed(step) {
            let thread = threads.number(&step.process);
            run.comes_to(nodes.executed(number), &step.process, thread);
        }
    }
    let thread = threads.number(process);
    run.set(changes);
    for number in after {
        let executed = nodes.executed(*number);
        if executed.line != Some(target) {
            run.comes_to(executed, process, thread);
        }
    }
    let waypoint = Node::map([
        ("type", Node::text("target")),
        ("action", Node::text("follow")),
        ("location", location(program, target, None)),
        ("thread_id", Node::Number(thread)),
    ]);
    run.segments.push(within_segment(waypoint));
    Ok(Node::List(run.segments))
}

/// The numbers of the nodes that a step executes.
fn executed(step: &Step) -> impl Iterator<Item = u32> {
    step.line.iter().chain(&step.then).copied()
}

/// A run up to some step.
struct Run<'r> {
    program: &'r Program<'r>,
    segments: Vec<Node>,
    /// The line that each process has come to last.
    last: HashMap<&'r str, u32>,
    /// The values of cells.
    values: HashMap<&'r str, String>,
}

impl<'r> Run<'r> {
    fn set(&mut self, changes: &'r Valuation) {
        let changes = changes.iter();
        self.values
            .extend(changes.map(|(name, value)| (name, value.to_string())));
    }

    /// A process executes a statement.
    fn comes_to(&mut self, executed: Executed, process: &'r str, thread: u32) {
        let Some(line) = executed.line else { return };
        // What goes on inside a statement is no waypoint.
        if self.last.insert(process, line) != Some(line) {
            let assumption = segment(self.program, "assumption", "1", (line, None), thread);
            self.segments.push(assumption);
        }
        let input = executed.input.zip(self.program.input(line));
        let Some((variable, column)) = input else {
            return;
        };
        let Some(value) = self.values.get(format!("{process}.{variable}").as_str()) else {
            return;
        };
        let value = match value.as_str() {
            "true" => "1",
            "false" => "0",
            number => number,
        };
        let result = format!("\\result == {value}");
        let place = (line, Some(column));
        let returned = segment(self.program, "function_return", &result, place, thread);
        self.segments.push(returned);
    }
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
    fn step(&mut self, (program, nodes): (&Program<'_>, &Nodes), trace: &Trace, step: &Step) {
        for (started, _) in step.started.iter() {
            self.number(started);
        }
        let mut lines = executed(step).filter_map(|number| nodes.executed(number).line);
        if lines.any(|line| program.mentions(line, "pthread_create")) {
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
