//! Situations of a few processes that never come about: proofs by backward search with guesses.
//!
//! A situation says of a few different processes where they are, what variables hold and whom ids name, each as a set of values (`columns`). Beginning with what violates a property, the situations
//! before each are computed (`steps`, by `cases`), and generalised by what small instances show (`table`, `search`). What is found is closed under steps, so it is an inductive invariant, which
//! is written down (`write`) and checked by others. Programs that start processes have no such proofs; what there is no column for, integers without bounds above all, is left out, so situations
//! cover more than what leads to violations.

mod arrivals;
mod cases;
mod closed;
mod columns;
mod evaluate;
mod ring;
mod search;
mod steps;
mod table;
mod write;

use threadwise_evidence::family::{Excluded, Fact};
use threadwise_evidence::{Certificate, Missing};
use threadwise_lang::program::TemplateId;
use threadwise_model::family::{Conjunct, PathEnd};

use crate::candidates::Modes;
use crate::certificate;
use crate::conditions::{Cases, TooMuch};
use crate::counter::{Allowance, Attempt, Claimed, Gap, Proof};
use crate::engine::Proved;
use crate::explain;
use crate::infer::Inference;
use crate::missing::LEMMA;
use crate::points::Points;
use crate::scope::{Ghosts, Table};
pub(crate) use arrivals::Arrivals;
use columns::{Frame, Situation};
use search::Search;
use steps::Step;

impl Attempt<'_> {
    /// Tries to prove properties by situations that never come about.
    pub(crate) fn excluded(
        &self,
        properties: &[(String, Claimed)],
        arrivals: Option<Arrivals>,
        proved: &mut Proved,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        let frame = match Frame::new(self.family, arrivals) {
            Ok(frame) => frame,
            Err(why) => {
                proved.note(why);
                return Ok(());
            }
        };
        let mut groups = Vec::new();
        let mut names = Vec::new();
        for (name, claimed) in properties {
            let goals = match claimed {
                Claimed::Checks => failures(&frame),
                Claimed::Invariant(conjuncts) => violations(&frame, conjuncts),
                Claimed::Deadlock => {
                    let why = "a deadlock is not about a few processes".to_owned();
                    proved.whys.insert(name.clone(), why);
                    continue;
                }
            };
            match goals {
                Ok(goals) => {
                    groups.push(goals);
                    names.push(name);
                }
                Err(cases::TooMany) => {
                    proved.whys.insert(
                        name.clone(),
                        "it can be violated in too many ways".to_owned(),
                    );
                }
            }
        }
        let mut search = Search::new(&frame, self.samples, allowance.stop);
        for (group, needed) in search.run(&groups).into_iter().enumerate() {
            let Some(needed) = needed else { continue };
            let mut claim = self.instances(allowance)?;
            let processes = needed
                .iter()
                .map(|one| one.scope.len() - frame.singles.len())
                .max();
            let excluded: Vec<Excluded> = needed.iter().map(|one| one.excluded(&frame)).collect();
            let mut facts = excluded.iter().flat_map(|one| &one.facts);
            if let Some(arrivals) = &frame.arrivals
                && facts.any(|fact| matches!(fact, Fact::Came { .. }))
            {
                claim.arrivals = Some(Box::new(arrivals.claimed(self.family)));
            }
            claim.excluded = Some(excluded);
            let round = format!(
                "{} situations of up to {} processes are excluded, after {} wrong guesses",
                needed.len(),
                processes.unwrap_or(0),
                search.wrong()
            );
            let proof = Proof {
                certificate: Certificate::family(names[group], self.fixed.clone(), claim),
                rounds: vec![round],
            };
            proved.proofs.insert(names[group].clone(), proof);
        }
        for (group, gap) in &search.stuck {
            let name = names[*group];
            proved.whys.insert(name.clone(), gap.to_string());
            let open = search.open.get(group);
            let open =
                open.and_then(|goal| explain::situation(self.family, &goal.excluded(&frame)));
            if let Some(state) = open {
                let gap =
                    format!("from what is known of a few processes, `{name}` may fail: {state}");
                let missing = Missing::new(gap).help(LEMMA);
                proved.missing.insert(name.clone(), missing);
            }
        }
        Ok(())
    }

    /// The claim that every value of the parameters has an instance, and nothing else.
    fn instances(
        &self,
        allowance: &Allowance,
    ) -> Result<threadwise_evidence::family::FamilyClaim, Gap> {
        let mut cases = Cases::new(self.family, Table::default(), Ghosts::default(), 0)?;
        let requirements = cases.requirements().map_err(TooMuch::from)?;
        let points = Points::new(&cases, &[]);
        let modes = Modes::none(&cases);
        let mut inference =
            Inference::new(&cases, &points, &modes, allowance.questions, allowance.stop);
        Ok(certificate::claim(
            &mut inference,
            &requirements,
            &[],
            None,
        )?)
    }
}

/// The situations that violate an invariant.
fn violations(frame: &Frame, conjuncts: &[Conjunct]) -> Result<Vec<Situation>, cases::TooMany> {
    let each = conjuncts
        .iter()
        .map(|conjunct| steps::violations(frame, conjunct));
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The situations in which a check fails.
fn failures(frame: &Frame) -> Result<Vec<Situation>, cases::TooMany> {
    let mut found = Vec::new();
    for (template, declared) in frame.family.templates.iter_enumerated() {
        for (number, path) in declared.paths.iter().enumerate() {
            if let PathEnd::Fails(..) = path.end {
                let mut scope: Vec<TemplateId> = frame.singles.clone();
                let single = scope.iter().position(|single| *single == template);
                let mover = single.unwrap_or_else(|| {
                    scope.push(template);
                    scope.len() - 1
                });
                let step = Step::new(frame, template, number, mover as u8);
                found.extend(step.failing(frame, scope)?);
            }
        }
    }
    Ok(found)
}
