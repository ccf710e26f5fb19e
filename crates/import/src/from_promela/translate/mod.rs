//! From the tree of a Promela program to a model of our language.
//!
//! Names are resolved and bodies become graphs of control states as SPIN has them (`graph`); the number of processes is found
//! (`instances`), channels are put into classes (`classes`), ranges are worked out (`ranges`); then each control state is written as
//! one step (`steps`), and what SPIN checks as properties (`properties`).

mod classes;
mod effects;
mod emit;
mod fails;
mod flow;
mod fold;
mod graph;
mod guards;
mod instances;
mod ir;
mod kinds;
mod names;
mod never;
mod owners;
mod properties;
mod ranges;
mod resolve;
mod steps;
mod texts;
mod visible;

#[cfg(test)]
mod tests;

use super::syntax::Promela;
use crate::source::Sources;
use crate::{Imported, Remark};
use ir::{Action, Edge, NodeId, TemplateId};
use threadwise_lang::diagnostics::{Code, Diagnostic, Severity};
use threadwise_lang::program::Span;

/// Brings a program over. `notes` are what the parser left out.
pub(crate) fn translate(
    name: &str,
    program: &Promela,
    sources: &Sources,
    notes: Vec<Remark>,
) -> Result<Imported, Vec<Remark>> {
    let output = plan(program, sources).map_err(|remark| vec![*remark])?;
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut text = format!("// From the Promela program {name}.\n\n");
    for (line, at) in &output.lines {
        // The formatter may move lines: each carries its origin until then.
        let mark = at.map(|at| format!(" {MARK}{}", sources.line(at)));
        for (n, part) in line.split('\n').enumerate() {
            text += part;
            if n == 0 && !part.contains("//") {
                text += mark.as_deref().unwrap_or("");
            }
            text.push('\n');
        }
    }
    let formatted = threadwise_lang::format(&text).map_err(|d| internal(&text, d))?;
    let mut plain = String::new();
    let mut lines = Vec::new();
    for line in formatted.lines() {
        let (code, origin) = match line.rsplit_once(MARK) {
            Some((code, number)) => (code, number.trim().parse().ok()),
            None => (line, None),
        };
        plain += code.trim_end();
        plain.push('\n');
        lines.push(origin);
    }
    let checked = threadwise_lang::check(&plain);
    if checked.program.is_none() {
        let errors = checked
            .diagnostics
            .into_iter()
            .filter(|d| d.severity() == Severity::Error)
            .collect();
        return Err(internal(&plain, errors));
    }
    Ok(Imported {
        text: plain,
        lines,
        notes,
    })
}

const MARK: &str = "//#";

/// The model that was written is not one: a mistake of ours.
fn internal(text: &str, errors: Vec<Diagnostic>) -> Vec<Remark> {
    let what = errors.first().map_or_else(String::new, |d| {
        let upto = (d.span.start as usize).min(text.len());
        let number = text.as_bytes()[..upto]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        format!(
            "{} at `{}`",
            d.message,
            text.lines().nth(number).unwrap_or("").trim()
        )
    });
    let message = format!("the model that was written for this program is not accepted: {what}");
    vec![Remark {
        file: 0,
        diagnostic: Diagnostic::new(Code::Unsupported, Span { start: 0, end: 0 }, message)
            .help("this is a mistake in threadwise: please report it with the program"),
    }]
}

fn plan(source: &Promela, sources: &Sources) -> ir::Result<emit::Output> {
    let mut resolver = resolve::Resolver::new(source)?;
    for (at, proctype) in source.proctypes.iter().enumerate() {
        let graph = graph::build(
            &resolver,
            Some(TemplateId(at)),
            &proctype.body,
            proctype.end,
        )?;
        let template = &mut resolver.program.templates[at];
        template.nodes = graph.nodes;
        template.entry = graph.entry;
        template.marks = graph.marks;
    }
    let mut formulas = Vec::new();
    for (at, ltl) in source.formulas.iter().enumerate() {
        let mut all = properties::Predicates::new();
        properties::predicates(&ltl.formula, &mut |e| resolver.expr(e, None), &mut all, 0)?;
        formulas.push((at, all));
    }
    let mut claims = Vec::new();
    for claim in &source.claims {
        let graph = graph::build(&resolver, None, &claim.body, claim.end)?;
        never::check(&graph)?;
        claims.push(graph);
    }
    let mut program = resolver.program;
    instances::count(&mut program)?;
    for template in &mut program.templates {
        if template.dies {
            for at in 0..template.nodes.len() {
                if template.nodes[at].end {
                    let place = template.nodes[at].at;
                    template.nodes[at].edges.push(Edge {
                        at: place,
                        action: Action::Die,
                        target: NodeId(at),
                        keeps: false,
                        unless: Vec::new(),
                        within: (None, None),
                    });
                }
            }
        }
    }
    check_messages(&program)?;
    classes::classify(&mut program)?;
    check_messages(&program)?;
    check_steps(&program)?;
    visible::settle_initials(&mut program)?;
    let tracked = visible::track(&mut program)?;
    let more: Vec<&ir::Expr> = formulas
        .iter()
        .flat_map(|(_, p)| p.values())
        .chain(claims.iter().flat_map(never::expressions))
        .collect();
    for e in &more {
        let mut asked = None;
        e.walk(&mut |part| {
            if let ir::Expr::Timeout(at) | ir::Expr::Pid(at) = part {
                asked = Some(*at);
            }
        });
        if let Some(at) = asked {
            return ir::refuse(
                at,
                "`timeout` or `_pid` in a property",
                "say what you mean with variables and labels",
            );
        }
    }
    kinds::check(&program, &more)?;
    emit::analyse(&mut program, &more);
    let (names, added) = emit::name_all(&mut program);
    let sender = takes_its_own(&program);
    let mut plan = emit::Plan {
        source,
        program,
        added,
        tracked,
        locations: emit::Locations::new(),
        found: steps::Found::default(),
        exclusive: false,
        sender,
        names,
        predicates: formulas,
        setup: Vec::new(),
        claims,
    };
    plan.setup = emit::setup(&plan)?;
    emit::settle(&mut plan, &|at| sources.line(at))?;
    let mut output = emit::Output::default();
    emit::model(&plan, &mut output)?;
    if output.too_large() {
        return ir::refuse(
            plan.program.templates[0].at,
            "a program whose model would be too large",
            "make it smaller",
        );
    }
    Ok(output)
}

/// Messages have as many fields as their channels.
fn check_messages(program: &ir::Program) -> ir::Result<()> {
    if program.class_of.is_empty() {
        return Ok(());
    }
    let fields = |c: &ir::ChanRef| {
        program.class_of[c.decl.0].map(|(id, _)| program.classes[id.0].fields.len())
    };
    for (_, edge) in classes::actions(program) {
        let (channel, count) = match &edge.action {
            Action::Send {
                channel, values, ..
            } => (channel, values.len()),
            Action::Receive {
                channel, patterns, ..
            } => (channel, patterns.len()),
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::Run { .. }
            | Action::Test(_)
            | Action::Else
            | Action::Deterministic(_)
            | Action::Die => continue,
        };
        match fields(channel) {
            None => {
                return ir::wrong(
                    channel.at,
                    "this never holds a channel",
                    "declare one: `chan c = [1] of { byte };`",
                );
            }
            Some(n) if n != count => {
                return ir::wrong(
                    edge.at,
                    format!("the messages of this channel have {n} fields, here are {count}"),
                    "write one for each field; `_` for those that do not matter",
                );
            }
            Some(_) => {}
        }
    }
    for (_, edge) in classes::actions(program) {
        for e in classes::expressions(&edge.action) {
            let mut bad = None;
            e.walk(&mut |part| {
                if let ir::Expr::Poll {
                    channel, patterns, ..
                } = part
                    && fields(channel) != Some(patterns.len())
                {
                    bad = Some((channel.at, fields(channel).unwrap_or(0), patterns.len()));
                }
            });
            if let Some((at, n, count)) = bad {
                return ir::wrong(
                    at,
                    format!("the messages of this channel have {n} fields, here are {count}"),
                    "write one for each field; `_` for those that do not matter",
                );
            }
        }
    }
    Ok(())
}

/// What cannot be inside `d_step`: SPIN refuses `run` and remote references there, and its verifier complains of a rendezvous. A
/// receive that a `d_step` begins with is not inside: see `graph`.
fn check_steps(program: &ir::Program) -> ir::Result<()> {
    let rendezvous = |c: &ir::ChanRef| {
        let class = program.class_of[c.decl.0];
        class.is_some_and(|(id, _)| program.classes[id.0].capacity == 0)
    };
    for (_, template) in program.present() {
        let inside = template.nodes.iter().filter(|node| node.deterministic);
        for edge in inside.flat_map(|node| &node.edges) {
            match &edge.action {
                Action::Send { channel, .. } | Action::Receive { channel, .. }
                    if rendezvous(channel) =>
                {
                    return ir::refuse(
                        edge.at,
                        "a rendezvous inside `d_step`",
                        "put the receive first, outside `if` and `do`, or use `atomic` instead",
                    );
                }
                Action::Run { at, .. } => {
                    return ir::wrong(*at, "`run` inside `d_step`", "use `atomic` instead");
                }
                Action::Skip
                | Action::Assign(..)
                | Action::Assert(_)
                | Action::Test(_)
                | Action::Else
                | Action::Send { .. }
                | Action::Receive { .. }
                | Action::Deterministic(_)
                | Action::Die => {}
            }
            let mut remote = None;
            for e in classes::expressions(&edge.action) {
                e.walk(&mut |part| {
                    if let ir::Expr::RemoteLabel { at, .. } | ir::Expr::RemoteVar { at, .. } = part
                    {
                        remote = Some(*at);
                    }
                });
            }
            if let Some(at) = remote {
                return ir::wrong(
                    at,
                    "a process that is looked at inside `d_step`",
                    "look at it in front of the `d_step`, or use `atomic` instead",
                );
            }
        }
    }
    Ok(())
}

/// Whether a process is ready to receive on a rendezvous channel right after it has sent on it.
fn takes_its_own(program: &ir::Program) -> bool {
    let class = |c: &ir::ChanRef| {
        program.class_of[c.decl.0]
            .map(|(id, _)| id)
            .filter(|id| program.classes[id.0].capacity == 0)
    };
    program.templates.iter().filter(|t| t.present).any(|template| {
        template.nodes.iter().flat_map(|n| &n.edges).any(|edge| match &edge.action {
            Action::Send { channel, .. } => class(channel).is_some_and(|sent| {
                template.nodes[edge.target.0]
                    .edges
                    .iter()
                    .any(|e| matches!(&e.action, Action::Receive { channel, .. } if class(channel) == Some(sent)))
            }),
            Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Run { .. } | Action::Test(_) | Action::Else | Action::Receive { .. } | Action::Deterministic(_) | Action::Die => false,
        })
    })
}
