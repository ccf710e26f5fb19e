//! Forward reachability: the states that runs lead to, by chained images, until nothing is new.
//!
//! Complete for finite programs. The set of reachable states is an inductive invariant and
//! the strongest one, so it is the certificate for every property that holds. All properties share one
//! search; each is looked for after every round. With `breadth_first`, layers instead of chaining:
//! slower, and there to compare with the papers, whose forward reachability works so.

use threadwise_engine::{Answer, Decides, EngineInfo, Make, OptionInfo};
use threadwise_evidence::Certificate;
use threadwise_model::system::SystemProperty;
use threadwise_symbolic::{Agenda, Bdd, Halt, SIFT_AT, Search, Transition, certificate};

use crate::reach::{Method, engine, shortest_run};
use crate::target;

/// Forward reachability, as it is known.
pub static FORWARD: EngineInfo = EngineInfo {
    name: Forward::NAME,
    about: "Reachable states as decision diagrams, transitions chained; counterexamples are the shortest.",
    decides: Decides::Safety,
    explains: false,
    options: &[BREADTH_FIRST],
    make: Make::One(|setup| {
        Ok(Box::new(Forward {
            breadth_first: setup.options.has(&BREADTH_FIRST),
            ..Forward::default()
        }))
    }),
};

const BREADTH_FIRST: OptionInfo = OptionInfo::flag(
    "breadth-first",
    "In `forward`, layer by layer instead of chained: slower, for comparison",
);

/// Forward reachability.
#[derive(Clone, Copy, Debug)]
pub struct Forward {
    /// Layers instead of chaining.
    pub breadth_first: bool,
    /// The number of nodes of the reached set at which a better order of variables is looked for.
    pub sift_at: usize,
}

impl Default for Forward {
    fn default() -> Self {
        Forward {
            breadth_first: false,
            sift_at: SIFT_AT,
        }
    }
}

engine!(Forward);

impl Method for Forward {
    const NAME: &'static str = "forward";

    fn sift_at(&self) -> usize {
        self.sift_at
    }

    /// Goes on until every property is decided, and all reachable states are known.
    fn search(
        &self,
        search: &mut Search,
        properties: &[&SystemProperty],
        answers: &mut [Option<Answer>],
    ) -> Result<Option<Bdd>, Halt> {
        let mut open: Vec<(usize, Bdd)> = Vec::new();
        for (index, property) in properties.iter().enumerate() {
            if answers[index].is_none() {
                open.push((index, target::forbidden(&search.symbolic, property)?));
            }
        }
        let mut agenda = Agenda::new(search.symbolic.schedule.clone());
        let mut reached = search.symbolic.initial.clone();
        let mut frontier = reached.clone();
        loop {
            let symbolic = search.symbolic.clone();
            let d = &symbolic.diagrams;
            let mut still = Vec::new();
            for (index, bad) in open {
                if d.is_empty(&d.and(&frontier, &bad)?) {
                    still.push((index, bad));
                } else {
                    let run = shortest_run(search, properties[index], &bad)?;
                    answers[index] = Some(Answer::Violated(run));
                }
            }
            open = still;
            let before = reached.clone();
            let complete = if self.breadth_first {
                reached = d.or(&reached, &search.post(&frontier)?)?;
                reached == before
            } else {
                search.advance(&mut agenda, &mut reached, Transition::post)?
            };
            frontier = d.minus(&reached, &before)?;
            if complete && d.is_empty(&frontier) {
                break;
            }
            if let Some(same) = search.rearrange(&reached)? {
                reached = same;
                frontier = search.symbolic.import(&symbolic, &frontier)?;
                for (index, bad) in &mut open {
                    *bad = target::forbidden(&search.symbolic, properties[*index])?;
                }
            }
        }
        let symbolic = &search.symbolic;
        let graph = match open.is_empty() {
            true => None,
            false => certificate::graph(symbolic, symbolic.system, &reached),
        };
        for (index, _) in open {
            let proof = graph.clone().map(|graph| {
                Certificate::inductive(symbolic.system, &properties[index].name, graph)
            });
            answers[index] = Some(Answer::Proved(proof));
        }
        Ok(Some(reached))
    }
}
