//! What the checker says when it does not accept a certificate, in words. Nothing here decides anything.

use std::fmt;

use crate::rejection::{Condition, FairFault, FairPlace, Rejection, StepName, Turn};

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Turn::Step(step) => step.fmt(f),
            Turn::Nothing(process) => write!(f, "the turn of {process}, which can do nothing,"),
        }
    }
}

impl fmt::Display for FairPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FairPlace {
            conjunct,
            alternative,
            mover,
            layer,
        } = self;
        write!(
            f,
            "proof of conjunct {conjunct} for alternative {alternative}"
        )?;
        if let Some(mover) = mover {
            write!(f, " with steps of {mover}")?;
        }
        match layer {
            Some(layer) => write!(f, ", layer {layer}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StepName {
            process, from, to, ..
        } = self;
        write!(f, "the step of {process} from `{from}`")?;
        match to {
            Some(to) => write!(f, " to `{to}`"),
            None => Ok(()),
        }
    }
}

/// How many cells of a state are printed.
const MOST_CELLS: usize = 24;

struct Cells<'a>(&'a [(String, String)]);

impl fmt::Display for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().take(MOST_CELLS).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{name} = {value}")?;
        }
        match self.0.len().saturating_sub(MOST_CELLS) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = Cells(&self.state);
        match &self.condition {
            Condition::Initial => write!(
                f,
                "the claimed set does not contain the initial state {state}"
            ),
            Condition::Step(step) => write!(
                f,
                "{step} leads out of the claimed set: it sets {} in the state {state}",
                Cells(&self.changes)
            ),
            Condition::Property(name) => write!(
                f,
                "`{name}` does not hold everywhere in the claimed set: not in the state {state}"
            ),
            Condition::Check { step, check, .. } => write!(
                f,
                "{step} fails a check in a state of the claimed set, because {check}: {state}"
            ),
            Condition::Deadlock => write!(f, "the claimed set contains a deadlock: {state}"),
            Condition::Overflow(Some(step)) => write!(
                f,
                "a computation of {step} leaves 64 bits in a state of the claimed set: {state}"
            ),
            Condition::Overflow(None) => write!(
                f,
                "evaluating the property leaves 64 bits in a state of the claimed set: {state}"
            ),
            Condition::Fair(place, fault) => {
                write!(f, "{place}: ")?;
                let changes = Cells(&self.changes);
                let changes = match self.changes.is_empty() {
                    true => format_args!("it changes nothing"),
                    false => format_args!("it sets {changes}"),
                };
                match fault {
                    FairFault::Initial => {
                        write!(f, "the start does not contain the initial state {state}")
                    }
                    FairFault::Start(turn) => write!(
                        f,
                        "{turn} leads out of the start: {changes} in the state {state}"
                    ),
                    FairFault::NotStuck(turn) => write!(
                        f,
                        "{turn} is possible in a state that is said to be stuck: {changes} in the state {state}"
                    ),
                    FairFault::Leaves(turn) => write!(
                        f,
                        "{turn} leads out of the states that are deleted: {changes} in the state {state}"
                    ),
                    FairFault::Fulfils(turn) => write!(
                        f,
                        "{turn} is what runs are said not to do there: {changes} in the state {state}"
                    ),
                    FairFault::Holds => write!(
                        f,
                        "what a strong assumption promises holds in the state {state}"
                    ),
                    FairFault::Left => write!(f, "the state {state} is left at the end"),
                }
            }
        }
    }
}
