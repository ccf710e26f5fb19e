//! The conditions by going through the states one by one, with the interpreter.
//!
//! A program with a few thousand reachable states can have variables with thousands of values, or steps that write many cells at once. Encoding
//! its steps takes room for all of these values, while the states that a certificate claims are few. So they are listed, and each
//! condition is looked at in each of them: no step that the interpreter takes leads out of them, and it judges the property.
//!
//! Nothing has to be trusted for this but the front end, the interpreter and the walk here. The lowered program says which cells a certificate names, so
//! which states are listed (`listing`); but whatever is listed, what is shown is that *these* states contain the initial ones, are closed and have the property, and that is a proof.
//!
//! If there are too many states, this gives up, and the other ways are tried.

use threadwise_evidence::{CHECKS, Claim};
use threadwise_lang::program::{Expr, PropertyKind};
use threadwise_model::layout::unflatten;
use threadwise_model::system::SystemPropertyKind;
use threadwise_model::temporal::{Atom, Liveness};

use crate::Error;
use crate::fair::each as proofs;
use crate::fair::meaning::Meaning;
use crate::listing::{Graph, domains, list};
use crate::parts::Parts;
use crate::rejection::{Condition, refused};
use crate::report::{Method, Report, Subject};
use crate::space::{EventKind, Space, StateId};

/// Checks a claim of at most so many states for several properties by going through them; `images` checks what it says about conjuncts that are images of others.
pub(crate) fn decide<'a>(
    subject: Subject<'a>,
    most: usize,
    claim: &Claim,
    parts: &'a Parts<'a>,
    properties: &[(&str, &SystemPropertyKind)],
    closed: &mut bool,
    images: &dyn Fn(&Liveness) -> Result<Report, Error>,
) -> Vec<Result<Report, Error>> {
    let mut listed = match Listed::new(subject, most, claim, parts) {
        Ok(listed) => listed,
        Err(error) => return vec![Err(error); properties.len()],
    };
    let failing = match listed.closed() {
        Ok(failing) => failing,
        Err(error) => return vec![Err(error); properties.len()],
    };
    // Of a claim without an invariant nothing was asked so far.
    *closed |= listed.states.is_some();
    let mut judge = |name: &str, lowered: &SystemPropertyKind| {
        if (subject.cancel)() {
            return Err(Error::Cancelled);
        }
        let mut more = Report::default();
        let mut known = subject.instance.program().properties.iter();
        let property = known.find(|known| known.name == name);
        match (property.map(|property| &property.kind), claim, lowered) {
            (None, ..) if name == CHECKS => failing.clone().map_or(Ok(()), Err)?,
            (Some(PropertyKind::Invariant(expr)), ..) => listed.invariant(name, expr)?,
            (Some(PropertyKind::DeadlockFree), ..) => listed.deadlock()?,
            (
                Some(PropertyKind::Liveness { under, formula }),
                Claim::Fair(claim),
                SystemPropertyKind::Liveness(lowered),
            ) => {
                let span = property.map(|property| property.span).unwrap_or_default();
                let meaning = Meaning::new(subject.instance, (formula, under, span), lowered)?;
                let (space, states) = (&mut listed.space, listed.states);
                more = proofs::check(space, states, parts, claim, &meaning, lowered)?;
                more = more.and(images(lowered)?);
            }
            // `property_of` lets no other claim through.
            _ => return Err(Error::mismatch("the claim is not about this property")),
        }
        Ok(listed.report().and(more))
    };
    let ask = |(name, lowered): &(&str, &SystemPropertyKind)| judge(name, lowered);
    properties.iter().map(ask).collect()
}

/// A claimed set as a list of states.
struct Listed<'a> {
    space: Space<'a>,
    /// How many states are claimed: they come first in the space. Nothing if all states are meant, and nothing depends on which these are: so it is for proofs
    /// about fair runs that need no invariant.
    states: Option<usize>,
    nodes: usize,
}

impl<'a> Listed<'a> {
    fn new(
        subject: Subject<'a>,
        most: usize,
        claim: &Claim,
        parts: &Parts<'_>,
    ) -> Result<Listed<'a>, Error> {
        let mut space = Space::new(subject);
        let parts = parts.list();
        let everywhere = matches!(claim, Claim::Fair(_)) && parts.is_empty();
        if !everywhere {
            let domains = domains(subject.system)?;
            let graphs = parts.iter().map(|part| Graph::new(part.dag, &part.cells));
            let graphs: Vec<Graph> = graphs.collect();
            for cells in list(&graphs, &domains, most, subject.cancel)? {
                space.listed(unflatten(subject.system, &cells))?;
            }
        }
        Ok(Listed {
            states: (!everywhere).then_some(space.len()),
            space,
            nodes: parts.iter().map(|part| part.dag.len()).sum(),
        })
    }

    fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.unwrap_or(0)).map(StateId::from_usize)
    }

    fn report(&self) -> Report {
        Report {
            method: Some(Method::Each),
            nodes: self.nodes,
            conditions: self.states.unwrap_or(0) as u64,
            visits: self.space.outcomes,
            ..Report::default()
        }
    }

    /// That the initial states are in the set, and that no step leads out of it or leaves 64 bits. Finds one that fails a check.
    fn closed(&mut self) -> Result<Option<Error>, Error> {
        let Some(claimed) = self.states else {
            return Ok(None);
        };
        // No state comes twice, so this ends at the latest with one more than are claimed.
        for state in self.space.initial()? {
            let state = self.space.number(state);
            if state.index() >= claimed {
                return Err(refused(
                    Condition::Initial,
                    self.space.describe(state),
                    None,
                ));
            }
        }
        let mut failing = None;
        for state in self.states() {
            for event in self.space.events(state)?.iter() {
                let refuse = |condition, next: Option<StateId>| {
                    let next = next.map(|next| self.space.describe(next));
                    refused(condition, self.space.describe(state), next)
                };
                match event.kind {
                    EventKind::Move(to) if to.index() >= claimed => {
                        let condition = Condition::Step(self.space.name(state, event));
                        return Err(refuse(condition, Some(to)));
                    }
                    EventKind::Fail(failure) if failing.is_none() => {
                        let condition = Condition::Check {
                            step: self.space.name(state, event),
                            check: failure.kind.into(),
                            span: failure.span,
                        };
                        failing = Some(refuse(condition, None));
                    }
                    _ => {}
                }
            }
        }
        Ok(failing)
    }

    fn invariant(&self, name: &str, expr: &Expr) -> Result<(), Error> {
        let predicate = Atom {
            expr,
            bindings: Vec::new(),
        };
        for state in self.states() {
            // Where a check fails in it, it does not hold.
            if self.space.truth(state, None, &predicate)? != Some(true) {
                let condition = Condition::Property(name.to_owned());
                return Err(refused(condition, self.space.describe(state), None));
            }
        }
        Ok(())
    }

    fn deadlock(&mut self) -> Result<(), Error> {
        for state in self.states() {
            if self.space.is_deadlock(state)? {
                return Err(refused(
                    Condition::Deadlock,
                    self.space.describe(state),
                    None,
                ));
            }
        }
        Ok(())
    }
}
