//! What processes must see of each other, beside shared variables.
//!
//! A process of our language sees neither where another is nor its local variables. For a rendezvous the sender must know who is ready to receive,
//! `timeout` asks whether anybody can move, and `P@label` where another is. So where these are used, a shared array says at which of the control states that matter
//! each process is, and the locals that decide there become shared as well. Both are functions of what SPIN has in
//! its states, so the number of states stays the same.

use super::classes::actions;
use super::ir::*;
use super::steps::asks_timeout;
use super::terms::{Tracked, pid_only};
use std::collections::BTreeSet;

/// Variables that are written somewhere.
fn assigned(program: &Program) -> BTreeSet<VarId> {
    let cells = actions(program).flat_map(|(_, edge)| edge.action.written());
    cells.map(|cell| cell.var).collect()
}

/// What an initial value is at the beginning, where it speaks of other variables.
fn at_start(program: &Program, e: &Expr, depth: usize) -> Option<Expr> {
    let again = |e: &Expr| at_start(program, e, depth + 1);
    if depth > 60 {
        return None;
    }
    Some(match e {
        Expr::Var(cell) if cell.indices.is_empty() => again(&program.vars[cell.var.0].initial)?,
        Expr::Var(cell) if program.vars[cell.var.0].initial.number().is_some() => {
            let index = again(cell.indices.first()?)?.number()?;
            let (low, high) = *program.vars[cell.var.0].dims.first()?;
            if cell.indices.len() != 1 || index < low || index > high {
                return None;
            }
            program.vars[cell.var.0].initial.clone()
        }
        Expr::Num(_) | Expr::Member(..) | Expr::Pid(_) => e.clone(),
        Expr::Not(e) => Expr::Not(Box::new(again(e)?)),
        Expr::Minus(e) => super::fold::fold(&Expr::Minus(Box::new(again(e)?))),
        Expr::Bin(op, a, b, at) => super::fold::fold(&Expr::Bin(
            *op,
            Box::new(again(a)?),
            Box::new(again(b)?),
            *at,
        )),
        Expr::Var(_)
        | Expr::Chan(_)
        | Expr::NrPr
        | Expr::Timeout(_)
        | Expr::Cond(..)
        | Expr::Length(_)
        | Expr::Full(_)
        | Expr::Empty(_)
        | Expr::Poll { .. }
        | Expr::RemoteLabel { .. }
        | Expr::RemoteVar { .. } => return None,
    })
}

/// Makes initial values constants, or expressions of the pid, or marks them as set by `run`.
pub(super) fn settle_initials(program: &mut Program) -> Result<()> {
    for at in 0..program.vars.len() {
        let var = &program.vars[at];
        if var.initial.number().is_some() {
            let n = super::ranges::converted(&var.kind, var.initial.number().unwrap_or(0));
            program.vars[at].initial = Expr::Num(n);
        }
        let var = &program.vars[at];
        if var.list.is_some() && var.owner.is_some() {
            program.vars[at].shared = true;
        }
        let var = &program.vars[at];
        let run = var.owner.is_some_and(|t| program.templates[t.0].run);
        if var.parameter {
            // Those that are there from the beginning have zero: the array's initial value.
            program.vars[at].shared = run;
            continue;
        }
        if var.initial.number().is_some() || (var.owner.is_some() && pid_only(&var.initial)) {
            continue;
        }
        if run {
            if var.owner.is_some_and(|t| program.templates[t.0].active > 0) {
                return refuse(
                    var.at,
                    "an initial value that is no constant, in a proctype that is both active and run",
                    "set the variable by an assignment",
                );
            }
            program.vars[at].shared = true;
            continue;
        }
        match at_start(program, &var.initial.clone(), 0) {
            Some(e) if var.owner.is_some() || e.number().is_some() => {
                let e = match e.number() {
                    Some(n) => Expr::Num(super::ranges::converted(&var.kind, n)),
                    None => e,
                };
                program.vars[at].initial = e;
            }
            _ => {
                return refuse(
                    var.at,
                    "an initial value that is not known before the program runs",
                    "set it by an assignment",
                );
            }
        }
    }
    Ok(())
}

/// Whether any process asks for `timeout`.
pub(super) fn timeouts(program: &Program) -> bool {
    actions(program).any(|(_, edge)| asks_timeout(edge))
}

/// Labels that the text of some process asks for: `P@label`.
fn named(program: &Program) -> BTreeSet<(TemplateId, String)> {
    let mut all = BTreeSet::new();
    program.walk(&mut |part| {
        if let Expr::RemoteLabel {
            template, label, ..
        } = part
        {
            all.insert((*template, label.clone()));
        }
    });
    all
}

/// Finds the control states that others must see, and shares the variables that decide there.
pub(super) fn track(program: &mut Program) -> Result<Tracked> {
    let mut tracked = Tracked::new();
    let all = timeouts(program);
    let written = assigned(program);
    let named = named(program);
    let mut share: BTreeSet<VarId> = BTreeSet::new();
    let mut own: BTreeSet<VarId> = BTreeSet::new();
    for (at, template) in program.present() {
        let mut next = 1;
        for (node_at, node) in template.nodes.iter().enumerate() {
            let mut received = node.edges.iter().filter_map(|e| e.action.receives());
            let receives = received.any(|c| program.rendezvous(c).is_some());
            let asked = node
                .labels
                .iter()
                .any(|label| named.contains(&(TemplateId(at), label.clone())));
            if !receives && (!(all || asked) || node.deterministic) {
                continue;
            }
            tracked.insert((TemplateId(at), NodeId(node_at)), next);
            next += 1;
            if !receives && !all {
                continue;
            }
            let mut held = |c: &ChanRef| {
                let chan = &program.chans[c.decl.0];
                share.extend(chan.var.filter(|_| chan.owner.is_some()));
            };
            let mut open: Vec<&Edge> = node.edges.iter().collect();
            let mut seen: BTreeSet<NodeId> = BTreeSet::new();
            while let Some(edge) = open.pop() {
                for id in edge.unless.iter().copied().chain(edge.action.inner()) {
                    if seen.insert(id) {
                        open.extend(&template.nodes[id.0].edges);
                    }
                }
                let waits =
                    matches!(edge.action, Action::Test(_)) || edge.action.channel().is_some();
                if !waits {
                    continue;
                }
                edge.action.channel().into_iter().for_each(&mut held);
                edge.action.walk(&mut |part| {
                    part.channel().into_iter().for_each(&mut held);
                    if let Expr::Var(cell) = part
                        && program.vars[cell.var.0].owner.is_some()
                    {
                        own.insert(cell.var);
                    }
                });
            }
        }
    }
    share.extend(own);
    for var in share {
        let v = &program.vars[var.0];
        if v.shared || (!written.contains(&var) && pid_only(&v.initial)) {
            continue;
        }
        program.vars[var.0].shared = true;
    }
    Ok(tracked)
}
