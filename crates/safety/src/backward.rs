//! Backward reachability: the states from which runs lead to a forbidden one, by chained
//! preimages, until an initial state is among them or nothing is new.
//!
//! Complete for finite programs. The complement of what was found is an inductive invariant, and the
//! weakest one that implies the property, so it is the certificate. Each property needs a search of
//! its own. It looks at states that are not reachable, which can cost much or save much: on locks
//! whose forbidden states have few predecessors it ends after a few steps.

use threadwise_engine::{Answer, Decides, EngineInfo, Make};
use threadwise_evidence::Certificate;
use threadwise_model::system::SystemProperty;
use threadwise_symbolic::{Agenda, Bdd, Halt, SIFT_AT, Search, Symbolic, certificate};

use crate::reach::{Method, engine, shortest_run};
use crate::target;

/// Backward reachability, as it is known.
pub static BACKWARD: EngineInfo = EngineInfo {
    name: Backward::NAME,
    about: "States that lead to a violation, as decision diagrams; counterexamples are the shortest.",
    decides: Decides::Safety,
    explains: false,
    options: &[],
    make: Make::One(|_| Ok(Box::new(Backward::default()))),
};

/// Backward reachability.
#[derive(Clone, Copy, Debug)]
pub struct Backward {
    /// The number of nodes of the found set at which a better order of variables is looked for.
    pub sift_at: usize,
}

impl Default for Backward {
    fn default() -> Self {
        Backward { sift_at: SIFT_AT }
    }
}

engine!(Backward);

impl Method for Backward {
    const NAME: &'static str = "backward";

    fn sift_at(&self) -> usize {
        self.sift_at
    }

    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt> {
        for (answer, property) in answers.iter_mut().zip(properties) {
            if answer.is_none() {
                *answer = Some(decide(search, property)?);
            }
        }
        Ok(None)
    }
}

fn decide(search: &mut Search, property: &SystemProperty) -> Result<Answer, Halt> {
    let bad = |symbolic: &Symbolic| -> Result<Bdd, Halt> {
        let bad = target::forbidden(symbolic, property)?;
        Ok(symbolic.diagrams.and(&bad, &symbolic.valid)?)
    };
    let mut found = bad(&search.symbolic)?;
    let mut agenda = Agenda::new(search.symbolic.schedule.clone());
    loop {
        if let Some(same) = search.rearrange(&found)? {
            found = same;
        }
        let symbolic = search.symbolic.clone();
        let d = &symbolic.diagrams;
        if !d.is_empty(&d.and(&found, &symbolic.initial)?) {
            let bad = bad(&symbolic)?;
            return Ok(Answer::Violated(shortest_run(search, property, &bad)?));
        }
        let complete = search.advance(&mut agenda, &mut found, |transition, d, set| {
            Ok(d.and(&transition.pre(d, set)?, &symbolic.valid)?)
        })?;
        if complete && d.is_empty(&d.and(&found, &symbolic.initial)?) {
            let safe = d.minus(&symbolic.valid, &found)?;
            let graph = certificate::graph(&symbolic, symbolic.system, &safe);
            return Ok(Answer::Proved(graph.map(|graph| {
                Certificate::inductive(symbolic.system, &property.name, graph)
            })));
        }
    }
}
