//! Does the split invariant imply the property?
//!
//! The whole conjunction of the assertions can be as large as the set of reachable states. A property seldom
//! needs it: it falls into goals, each of which speaks of few processes, and only their assertions have to be
//! conjoined. For assertions about one process that is exact: what is hidden of a process depends on the others only through what is seen, so an
//! assertion that a goal does not mention excludes nothing that `common` does not exclude. Those about pairs may exclude
//! it together where those about the goal's processes do not: then the conjunction is looked at.

use threadwise_lang::program::FoldKind;
use threadwise_model::exclusion::AtMostOne;
use threadwise_model::system::{Expr, ProcessId, SystemProperty, SystemPropertyKind};
use threadwise_symbolic::{Bdd, Diagrams, Halt, Search, Symbolic, Translator};

use super::division::{Body, Division};
use super::view::View;
use crate::target;

/// More parts than this are not looked at one by one.
const MAX_PARTS: usize = 20_000;

/// What must not be.
enum Goal {
    /// Not these states.
    Never(Bdd),
    /// Not two of these at once.
    AtMostOne(Vec<Bdd>),
}

/// A property as goals.
pub(crate) struct Goals {
    goals: Vec<Goal>,
    /// Whose each variable is.
    whose: Vec<Option<ProcessId>>,
}

impl Goals {
    /// The goals of a property.
    pub(crate) fn of(
        search: &Search,
        view: &View,
        property: &SystemProperty,
    ) -> Result<Self, Halt> {
        let symbolic = &search.symbolic;
        let whose = view.whose(symbolic);
        let d = &symbolic.diagrams;
        let goals = match &property.kind {
            SystemPropertyKind::Invariant(invariant) => {
                let mut parts = Vec::new();
                if parts_of(invariant, &mut Vec::new(), &mut parts) {
                    let mut goals = Vec::new();
                    for (part, bound) in parts {
                        search.breathe()?;
                        goals.push(goal(symbolic, &whose, part, &bound)?);
                    }
                    goals
                } else {
                    vec![Goal::Never(target::forbidden(symbolic, property)?)]
                }
            }
            SystemPropertyKind::Checks => symbolic
                .transitions
                .failures
                .iter()
                .filter(|fails| !d.is_empty(fails))
                .map(|fails| Goal::Never(fails.clone()))
                .collect(),
            _ => vec![Goal::Never(target::forbidden(symbolic, property)?)],
        };
        Ok(Goals { goals, whose })
    }

    /// Whether the assertions about its processes exclude what each goal forbids.
    pub(crate) fn hold(
        &self,
        search: &Search,
        view: &View,
        assertions: &impl Division,
    ) -> Result<bool, Halt> {
        let d = &search.symbolic.diagrams;
        for goal in &self.goals {
            search.breathe()?;
            let possible = match goal {
                Goal::Never(bad) => assertions.among(d, bad, &self.processes(d, bad))?,
                Goal::AtMostOne(bodies) => {
                    let bodies: Vec<Body> = bodies
                        .iter()
                        .map(|holds| Body {
                            holds,
                            processes: self.processes(d, holds),
                        })
                        .collect();
                    assertions.two_of(d, view, &bodies)?
                }
            };
            if !d.is_empty(&possible) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The processes whose own cells a set speaks of.
    fn processes(&self, d: &Diagrams, set: &Bdd) -> Vec<ProcessId> {
        let mut processes: Vec<ProcessId> = d
            .support(set)
            .into_iter()
            .filter_map(|var| self.whose[var as usize])
            .collect();
        processes.sort_unstable();
        processes.dedup();
        processes
    }
}

/// The conjuncts of an invariant, with the values of the variables that quantifiers around them bind; false if
/// they are too many.
fn parts_of<'e>(
    expr: &'e Expr,
    bound: &mut Vec<(u32, i64)>,
    parts: &mut Vec<(&'e Expr, Vec<(u32, i64)>)>,
) -> bool {
    match expr {
        Expr::And(list) => list.iter().all(|expr| parts_of(expr, bound, parts)),
        Expr::Fold {
            kind: FoldKind::Forall,
            bound: name,
            lo,
            hi,
            body,
        } if AtMostOne::of(expr).is_none() => (*lo..=*hi).all(|value| {
            bound.push((*name, value));
            let few = parts_of(body, bound, parts);
            bound.pop();
            few
        }),
        _ => {
            parts.push((expr, bound.clone()));
            parts.len() <= MAX_PARTS
        }
    }
}

fn goal(
    symbolic: &Symbolic,
    whose: &[Option<ProcessId>],
    part: &Expr,
    bound: &[(u32, i64)],
) -> Result<Goal, Halt> {
    let d = &symbolic.diagrams;
    let translator = Translator {
        system: symbolic.system,
        diagrams: d,
        encoding: &symbolic.encoding,
        choices: &[],
        given: &[],
    };
    if let Some(found) = AtMostOne::of(part) {
        let mut bodies = Vec::new();
        for value in found.lo..=found.hi {
            let mut bound = bound.to_vec();
            bound.push((found.bound, value));
            bodies.push(translator.truth_with(&found.body, &bound)?);
        }
        // Each body must speak of its own processes: then what is hidden in one is independent of the others.
        let mut seen = std::collections::BTreeSet::new();
        let apart = bodies.iter().all(|body| {
            let processes: std::collections::BTreeSet<ProcessId> = d
                .support(body)
                .into_iter()
                .filter_map(|var| whose[var as usize])
                .collect();
            processes.into_iter().all(|process| seen.insert(process))
        });
        if apart {
            return Ok(Goal::AtMostOne(bodies));
        }
    }
    Ok(Goal::Never(d.not(&translator.truth_with(part, bound)?)?))
}
