//! Which statements a run executes.
//!
//! Lines do not tell: several statements come from one line, and several from one place on it. So the trace is replayed on a copy of the program in which every node has a line of
//! its own, in a text without words; the lines of that trace are numbers of nodes. Places have no part in what a program does, so the copy has the same runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_evidence::{Trace, annotate};
use threadwise_lang::program::{Program, Span, StmtKind, VarRef};
use threadwise_lang::source::SourceMap;
use threadwise_model::instance::Instance;

use crate::foreign::for_statements;

/// A node that is executed.
#[derive(Default)]
pub(crate) struct Executed {
    /// Its line, if it comes from one.
    pub(crate) line: Option<u32>,
    /// The variable of the process for which it takes any value.
    pub(crate) input: Option<String>,
}

/// The nodes of a program by their numbers.
pub(crate) struct Nodes {
    lines: Vec<Option<u32>>,
    inputs: BTreeMap<u32, String>,
}

impl Nodes {
    /// Replays a trace: its lines are numbers of nodes then.
    pub(crate) fn replay(program: &Program, trace: &Trace) -> Option<(Nodes, Trace)> {
        let original = program.source.lines();
        let mut numbered = program.clone();
        let mut lines = Vec::new();
        let mut places = Vec::new();
        numbered.map_spans(&mut |span| {
            let start = lines.len() as u32;
            lines.push(original.known(span));
            places.push(span);
            let end = start + 1;
            Span { start, end }
        });
        numbered.source = Arc::new(SourceMap::of("nodes", &"\n".repeat(lines.len())));
        let inputs = inputs(&numbered, &program.source, &places);
        let params = trace.params.iter();
        let params = params.map(|(name, value)| (name.clone(), *value)).collect();
        let instance = Instance::new(Arc::new(numbered), &params).ok()?;
        let trace = annotate(&instance, trace).ok()?;
        Some((Nodes { lines, inputs }, trace))
    }

    /// What a line of the replayed trace stands for.
    pub(crate) fn executed(&self, number: u32) -> Executed {
        let node = number - 1;
        Executed {
            line: self.lines.get(node as usize).copied().flatten(),
            input: self.inputs.get(&node).cloned(),
        }
    }
}

/// The nodes that take any value for one variable of their process where the program calls for it. Other nodes do so too, for variables without a value say, on the same line.
fn inputs(numbered: &Program, source: &SourceMap, places: &[Span]) -> BTreeMap<u32, String> {
    let mut inputs = BTreeMap::new();
    for template in &numbered.templates {
        for_statements(&template.body, &mut |stmt| {
            if let StmtKind::Havoc(cells) = &stmt.kind
                && let [cell] = cells.as_slice()
                && let VarRef::Local(variable) = cell.var
                && cell.indices.is_empty()
                && calls_for_any(source, places[stmt.span.start as usize])
            {
                inputs.insert(stmt.span.start, template.locals[variable].name.clone());
            }
        });
    }
    inputs
}

/// Whether what stands at a place has a call that gives any value.
fn calls_for_any(source: &SourceMap, place: Span) -> bool {
    let Some((file, start)) = source.find(place.start) else {
        return false;
    };
    let end = start + (place.end - place.start);
    let text = file.text.get(start as usize..end as usize);
    text.is_some_and(|text| text.contains("__VERIFIER_nondet_"))
}
