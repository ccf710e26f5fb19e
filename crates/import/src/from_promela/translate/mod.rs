//! From the tree of a Promela program to a model of our language.
//!
//! Names are resolved and bodies become graphs of control states as SPIN has them (`graph`); the number of processes is found
//! (`instances`), channels are put into classes (`classes`), ranges are worked out (`ranges`); then each control state is written as
//! one step (`steps`), and what SPIN checks as properties (`properties`).

mod bits;
mod build;
mod classes;
mod declared;
mod effects;
mod emit;
mod fails;
mod finish;
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
mod terms;
mod visible;

#[cfg(test)]
mod tests;

use super::syntax::Promela;
use crate::front::source::Sources;
use crate::{Imported, Remark};
use ir::{Action, Edge, NodeId, TemplateId};
use std::collections::BTreeMap;
use threadwise_lang::build::Built;
use threadwise_lang::diagnostics::{Code, Diagnostic};
use threadwise_lang::program::Span;

/// Brings a program over. `notes` are what the parser left out.
pub(crate) fn translate(
    name: &str,
    program: &Promela,
    sources: &Sources,
    notes: Vec<Remark>,
) -> Result<Imported, Vec<Remark>> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let built = plan(program, sources, &name).map_err(|remark| vec![*remark])?;
    sources.imported(built, notes).map_err(|invalid| {
        let message = format!("what was made of this program is not one of ours: {invalid}");
        vec![Remark {
            file: 0,
            diagnostic: Diagnostic::new(Code::Unsupported, Span::default(), message)
                .help("this is a mistake in threadwise: please report it with the program"),
        }]
    })
}

fn plan(source: &Promela, sources: &Sources, name: &str) -> ir::Result<Built> {
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
    let mut counted = false;
    let mut note = |part: &ir::Expr| counted |= matches!(part, ir::Expr::NrPr);
    more.iter().for_each(|e| e.walk(&mut note));
    program.walk(&mut note);
    let (names, added) = declared::name_all(&mut program);
    let declared = declared::declare(&program, sources, added, &tracked, counted);
    let sender = takes_its_own(&program);
    let mut plan = emit::Plan {
        source,
        sources,
        program,
        declared,
        tracked,
        locations: terms::Locations::new(),
        location_names: BTreeMap::new(),
        found: steps::Found::default(),
        exclusive: false,
        sender,
        names,
        predicates: formulas,
        setup: Vec::new(),
        claims,
    };
    plan.setup = emit::setup(&plan)?;
    emit::settle(&mut plan)?;
    emit::model(&plan, name)
}

/// Messages have as many fields as their channels.
fn check_messages(program: &ir::Program) -> ir::Result<()> {
    if program.class_of.is_empty() {
        return Ok(());
    }
    let fields = |c: &ir::ChanRef| {
        program.class_of[c.decl.0].map(|(id, _)| program.classes[id.0].fields.len())
    };
    let wrong_number = |at, n: usize, count: usize| {
        ir::wrong(
            at,
            format!("the messages of this channel have {n} fields, here are {count}"),
            "write one for each field; `_` for those that do not matter",
        )
    };
    for (_, edge) in classes::actions(program) {
        let (channel, count) = match &edge.action {
            Action::Send {
                channel, values, ..
            } => (channel, values.len()),
            Action::Receive {
                channel, patterns, ..
            } => (channel, patterns.len()),
            _ => continue,
        };
        match fields(channel) {
            None => {
                return ir::wrong(
                    channel.at,
                    "this never holds a channel",
                    "declare one: `chan c = [1] of { byte };`",
                );
            }
            Some(n) if n != count => return wrong_number(edge.at, n, count),
            Some(_) => {}
        }
    }
    let mut bad = None;
    program.walk(&mut |part| {
        if let ir::Expr::Poll {
            channel, patterns, ..
        } = part
            && fields(channel) != Some(patterns.len())
            && bad.is_none()
        {
            bad = Some((channel.at, fields(channel).unwrap_or(0), patterns.len()));
        }
    });
    bad.map_or(Ok(()), |(at, n, count)| wrong_number(at, n, count))
}

/// What cannot be inside `d_step`: SPIN refuses `run` and remote references there, and its verifier complains of a rendezvous. A
/// receive that a `d_step` begins with is not inside: see `graph`.
fn check_steps(program: &ir::Program) -> ir::Result<()> {
    for (_, template) in program.present() {
        let inside = template.nodes.iter().filter(|node| node.deterministic);
        for edge in inside.flat_map(|node| &node.edges) {
            let channel = edge.action.channel();
            if channel.is_some_and(|c| program.rendezvous(c).is_some()) {
                return ir::refuse(
                    edge.at,
                    "a rendezvous inside `d_step`",
                    "put the receive first, outside `if` and `do`, or use `atomic` instead",
                );
            }
            if let Action::Run { at, .. } = &edge.action {
                return ir::wrong(*at, "`run` inside `d_step`", "use `atomic` instead");
            }
            let mut remote = None;
            edge.action.walk(&mut |part| {
                if let ir::Expr::RemoteLabel { at, .. } | ir::Expr::RemoteVar { at, .. } = part {
                    remote = Some(*at);
                }
            });
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
    program.present().any(|(_, template)| {
        let receives = |at: NodeId, sent: ir::ClassId| {
            let mut edges = template.nodes[at.0].edges.iter();
            edges.any(|e| {
                let channel = e.action.receives();
                channel.and_then(|c| program.rendezvous(c)) == Some(sent)
            })
        };
        let mut edges = template.nodes.iter().flat_map(|n| &n.edges);
        edges.any(|edge| match &edge.action {
            Action::Send { channel, .. } => program
                .rendezvous(channel)
                .is_some_and(|sent| receives(edge.target, sent)),
            _ => false,
        })
    })
}
