//! What a safety property forbids, as a set of states, and what makes a run out of a path into it.

use threadwise_engine::{RunEnding, Unsupported};
use threadwise_model::eval::{self, Outcome};
use threadwise_model::system::{ProcessId, System, SystemProperty, SystemPropertyKind};
use threadwise_symbolic::{Bdd, Error, Symbolic};

/// The states that a property forbids.
pub(crate) fn forbidden(symbolic: &Symbolic, property: &SystemProperty) -> Result<Bdd, Error> {
    let d = &symbolic.diagrams;
    match &property.kind {
        SystemPropertyKind::Invariant(invariant) => Ok(d.not(&symbolic.states(invariant)?)?),
        SystemPropertyKind::Checks => {
            let mut set = d.none();
            for fails in &symbolic.transitions.failures {
                set = d.or(&set, fails)?;
            }
            Ok(set)
        }
        SystemPropertyKind::DeadlockFree => symbolic.deadlocks(),
        SystemPropertyKind::Liveness(_) => Err(Error::Unsupported("temporal properties")),
    }
}

/// Whether a monolithic engine can decide a property.
pub(crate) fn accepts(
    name: &str,
    system: &System,
    property: &SystemProperty,
) -> Result<(), Unsupported> {
    if let SystemPropertyKind::Liveness(_) = property.kind {
        return Err(Unsupported {
            message: format!(
                "`{name}` decides safety properties, and `{}` is a liveness property",
                property.name
            ),
            next: None,
        });
    }
    if let Some(template) = system.templates.iter().find(|template| template.dynamic) {
        return Err(Unsupported {
            message: format!(
                "`{name}` needs a fixed number of processes, and those of `{}` are started while others run",
                template.name
            ),
            next: Some("`explicit` takes such programs".to_owned()),
        });
    }
    Ok(())
}

/// What is wrong in a forbidden state.
pub(crate) fn ending(
    system: &System,
    property: &SystemProperty,
    state: &[i64],
) -> Option<RunEnding> {
    match property.kind {
        SystemPropertyKind::Invariant(_) => Some(RunEnding::Invariant),
        SystemPropertyKind::DeadlockFree => Some(RunEnding::Deadlock),
        SystemPropertyKind::Checks => {
            (0..system.processes())
                .map(ProcessId::from_raw)
                .find_map(|process| {
                    let from = system.location(state, process)?;
                    eval::outcomes(system, state, process)
                        .into_iter()
                        .find_map(|outcome| match outcome {
                            Outcome::Failure(kind, span) => Some(RunEnding::Check {
                                process,
                                from,
                                kind,
                                span,
                            }),
                            _ => None,
                        })
                })
        }
        SystemPropertyKind::Liveness(_) => None,
    }
}
