//! Backward reachability: the states from which runs lead to a forbidden one, by chained
//! preimages, until an initial state is among them or nothing is new.
//!
//! Complete for finite programs. The complement of what was found is an inductive invariant, and the
//! weakest one that implies the property, so it is the certificate. Each property needs a search of
//! its own. It looks at states that are not reachable, which can cost much or save much: on locks
//! whose forbidden states have few predecessors it ends after a few steps.

use threadwise_engine::{Answer, Engine, Limits, Observer, Outcome, Unsupported};
use threadwise_evidence::Certificate;
use threadwise_model::system::{System, SystemProperty};
use threadwise_symbolic::Agenda;

use crate::certificate;
use crate::reach::{Halt, Search, run_search};
use crate::target;

/// Backward reachability.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backward;

impl Engine for Backward {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        target::accepts(self.name(), system, property)
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        run_search(
            self,
            system,
            properties,
            limits,
            observer,
            |search, answers| {
                for (answer, property) in answers.iter_mut().zip(properties) {
                    if answer.is_none() {
                        *answer = Some(decide(search, property)?);
                    }
                }
                Ok(None)
            },
        )
    }
}

fn decide(search: &mut Search, property: &SystemProperty) -> Result<Answer, Halt> {
    let symbolic = search.symbolic;
    let d = &symbolic.diagrams;
    let valid = &symbolic.valid;
    let bad = d.and(&target::forbidden(symbolic, property)?, valid)?;
    let mut found = bad.clone();
    let mut agenda = Agenda::new(&symbolic.schedule);
    loop {
        if !d.is_empty(&d.and(&found, &symbolic.initial)?) {
            return Ok(Answer::Violated(search.shortest_run(property, &bad)?));
        }
        let complete = search.advance(&mut agenda, &mut found, |transition, d, set| {
            Ok(d.and(&transition.pre(d, set)?, valid)?)
        })?;
        if complete && d.is_empty(&d.and(&found, &symbolic.initial)?) {
            let safe = d.minus(valid, &found)?;
            let graph = certificate::graph(symbolic, &safe);
            return Ok(Answer::Proved(graph.map(|graph| {
                Certificate::inductive(symbolic.system, &property.name, graph)
            })));
        }
    }
}
