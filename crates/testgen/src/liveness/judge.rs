//! What a liveness property is worth as a test: its verdict, and whether that depends on fairness.

use threadwise_model::system::System;
use threadwise_model::temporal::Liveness;

use super::space::{Lasso, Space, Unknown, distinct_terms, swapped, without};

/// What the oracle says about a property.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// A fair run that violates it; it holds if there is none.
    pub violation: Option<Lasso>,
    /// It holds, and no longer does without one of its assumptions.
    pub needs_fairness: bool,
    /// The verdict would be another if strong assumptions were read the wrong way round.
    pub flips: bool,
    /// How many states there are.
    pub states: usize,
}

/// Judges a property in all states, at most so many. A run that violates it is judged again, by the direct meaning of the property.
pub fn judge(system: &System, liveness: &Liveness, most: usize) -> Result<Judgement, Unknown> {
    let space = Space::explore(system, liveness, most)?;
    let violation = space.decide(liveness)?;
    if let Some(lasso) = &violation {
        assert!(
            lasso.refutes(system, liveness)?,
            "the oracle's run refutes nothing: {lasso:?}"
        );
    }
    let holds = violation.is_none();
    let mut needs_fairness = false;
    if holds {
        for term in distinct_terms(liveness) {
            needs_fairness = space.decide(&without(liveness, &term))?.is_some();
            if needs_fairness {
                break;
            }
        }
    }
    let flips = match swapped(liveness) {
        Some(swapped) => space.decide(&swapped)?.is_none() != holds,
        None => false,
    };
    Ok(Judgement {
        violation,
        needs_fairness,
        flips,
        states: space.len(),
    })
}
