//! Control flow as a graph in the language of Graphviz: a cluster for each template, a node for each label with its line of the source, an edge for each
//! way that control may take from a label to the next.

use std::fmt::Write;

use threadwise_lang::control_flow;
use threadwise_lang::program::{Program, Span};

/// Longer lines of the source are cut.
const LONGEST: usize = 60;

/// The control flow of a program. `source` gives the line of the source at a place, with its number.
pub fn dot(
    name: &str,
    program: &Program,
    source: &dyn Fn(Span) -> Option<(u32, String)>,
) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&[name]));
    text.push_str("    node [shape=box, style=rounded, fontname=\"monospace\"];\n");
    for (id, template) in program.templates.iter_enumerated() {
        let number = id.index();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "    subgraph cluster_{number} {{\n        label={};\n        begin_{number} [shape=point];\n",
            quoted(&[&template.name])
        );
        let edges = control_flow(program, id);
        let reached = |at| at == template.entry || edges.iter().any(|(_, to)| *to == at);
        for (at, location) in template.locations.iter_enumerated() {
            let position = at.index();
            if at == template.done() {
                if reached(at) {
                    let _ = writeln!(
                        text,
                        "        l{number}_{position} [label={}, shape=doublecircle];",
                        quoted(&[&location.name])
                    );
                }
                continue;
            }
            let label = match source(location.span) {
                Some((line, shown)) => {
                    quoted(&[&location.name, &format!("{line}: {}", cut(&shown))])
                }
                None => quoted(&[&location.name]),
            };
            let _ = writeln!(text, "        l{number}_{position} [label={label}];");
        }
        let entry = template.entry.index();
        let _ = writeln!(text, "        begin_{number} -> l{number}_{entry};");
        for (from, to) in &edges {
            let (from, to) = (from.index(), to.index());
            let _ = writeln!(text, "        l{number}_{from} -> l{number}_{to};");
        }
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}

/// A line that is not too long.
fn cut(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Lines as one string of the language, each set flush left if there are several.
fn quoted(lines: &[&str]) -> String {
    let mut text = String::from("\"");
    for (position, line) in lines.iter().enumerate() {
        for c in line.chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => text.push(' '),
                c => text.push(c),
            }
        }
        if lines.len() > 1 {
            text.push_str(if position == 0 { "\\n" } else { "\\l" });
        }
    }
    text.push('"');
    text
}
