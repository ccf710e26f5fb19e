//! Channels are no numbers.
//!
//! For SPIN a channel is a number, given when it is made, and a program may store it in a `byte`, compute with it or compare it with
//! another number. Here channels are numbered within their class, so the numbers are others: what would show them is refused. That
//! leaves storing, passing and comparing channels as channels, and whether a variable holds one (0 is no channel, there and here).

use super::classes::actions;
use super::ir::*;
use crate::from_promela::syntax::{Binary, Type};

/// Refuses channels where numbers belong, and numbers where channels do. `more` are the expressions of properties.
pub(super) fn check(program: &Program, more: &[&Expr]) -> Result<()> {
    for (_, edge) in actions(program) {
        action(program, edge)?;
        for e in edge.action.expressions() {
            inside(program, e)?;
        }
    }
    more.iter().try_for_each(|e| inside(program, e))
}

fn action(program: &Program, edge: &Edge) -> Result<()> {
    match &edge.action {
        Action::Assign(cell, e) => {
            numbers(&cell.indices)?;
            alike(program.vars[cell.var.0].kind == Type::Chan, e, edge)
        }
        Action::Run {
            template,
            arguments,
            result,
            ..
        } => {
            if let Some(cell) = result {
                numbers(&cell.indices)?;
                let holds = program.vars[cell.var.0].kind == Type::Chan;
                alike(holds, &Expr::NrPr, edge)?;
            }
            let parameters = &program.templates[template.0].parameters;
            let mut pairs = parameters.iter().zip(arguments);
            pairs.try_for_each(|(p, e)| alike(matches!(p, Parameter::Chan(_)), e, edge))
        }
        Action::Send {
            channel, values, ..
        } => {
            numbers(&channel.indices)?;
            let mut pairs = carries(program, channel).into_iter().zip(values);
            pairs.try_for_each(|(chan, e)| alike(chan, e, edge))
        }
        Action::Receive {
            channel, patterns, ..
        } => received(program, channel, patterns),
        // A channel as a test asks whether there is one.
        _ => Ok(()),
    }
}

/// Of each field of a channel's messages, whether it is a channel.
fn carries(program: &Program, channel: &ChanRef) -> Vec<bool> {
    let fields = program.class_of[channel.decl.0].map(|(id, _)| &program.classes[id.0].fields);
    let kinds = fields.into_iter().flatten();
    kinds
        .map(|field| program.vars[field.0].kind == Type::Chan)
        .collect()
}

fn received(program: &Program, channel: &ChanRef, patterns: &[Match]) -> Result<()> {
    numbers(&channel.indices)?;
    for (chan, pattern) in carries(program, channel).into_iter().zip(patterns) {
        let fits = match pattern {
            Match::Store(cell) => {
                numbers(&cell.indices)?;
                !chan
            }
            Match::StoreChan(cell, _) => {
                numbers(&cell.indices)?;
                chan
            }
            Match::Equal(e) => is_channel(e) == chan,
            Match::Ignore => true,
        };
        if !fits {
            return refuse(channel.at, MESSAGE, HELP);
        }
    }
    Ok(())
}

fn is_channel(e: &Expr) -> bool {
    matches!(e, Expr::Chan(_))
}

fn alike(chan: bool, e: &Expr, edge: &Edge) -> Result<()> {
    if chan == is_channel(e) {
        return Ok(());
    }
    refuse(edge.at, MESSAGE, HELP)
}

const MESSAGE: &str = "a channel that is used as a number, or a number as a channel";
const HELP: &str = "declare what holds channels as `chan`, and compare channels with channels only";

/// None of these is a channel.
fn numbers<'e>(all: impl IntoIterator<Item = &'e Expr>) -> Result<()> {
    for e in all {
        if let Expr::Chan(c) = e {
            return refuse(c.at, MESSAGE, HELP);
        }
    }
    Ok(())
}

/// The parts of an expression that are channels stand where only channels do.
fn inside(program: &Program, e: &Expr) -> Result<()> {
    let mut found = Ok(());
    e.walk(&mut |part| {
        if found.is_ok() {
            found = part_of(program, part);
        }
    });
    found
}

fn part_of(program: &Program, part: &Expr) -> Result<()> {
    match part {
        Expr::Bin(Binary::Equal | Binary::NotEqual, a, b, _) => match (&**a, &**b) {
            (Expr::Chan(_), Expr::Chan(_) | Expr::Num(0)) | (Expr::Num(0), Expr::Chan(_)) => Ok(()),
            (a, b) => numbers([a, b]),
        },
        Expr::Bin(Binary::And | Binary::Or, ..) | Expr::Not(_) => Ok(()),
        Expr::Bin(_, a, b, _) | Expr::Cond(_, a, b, _) => numbers([&**a, b]),
        Expr::Minus(a) => numbers([&**a]),
        Expr::Var(cell) | Expr::RemoteVar { cell, .. } => numbers(&cell.indices),
        Expr::Chan(c) | Expr::Length(c) | Expr::Full(c) | Expr::Empty(c) => numbers(&c.indices),
        Expr::Poll {
            channel, patterns, ..
        } => received(program, channel, patterns),
        Expr::Num(_)
        | Expr::Member(..)
        | Expr::Pid(_)
        | Expr::NrPr
        | Expr::Timeout(_)
        | Expr::RemoteLabel { .. } => Ok(()),
    }
}
