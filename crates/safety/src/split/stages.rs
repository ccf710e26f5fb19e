//! Errors looked for at every stage of the computation.
//!
//! A stage adds one step of everybody to the one before, all at once, as in the paper. Its states without errors need not be
//! closed under steps, so that "nothing that is right leads to an error" is no proof here: the computation goes on, and the
//! exit is that of the fixpoint. (Cohen and Namjoshi, "Local proofs for global safety properties", CAV 2007, Section 3.)
//!
//! The stages are those of the factored assertions until one has errors, and then those of the sharp ones, from the first: only errors in these are
//! refined.
//!
//! The stages also show by which way a violation comes about: back through them, from the violations to their predecessors in
//! the stage before, and so on. Where the way begins in an initial state, it is a run. Where it breaks, the states at its beginning are in the assertions
//! only because these cannot tell them from others, and what tells them apart is a better predicate than what makes
//! a violation one. (The paper names such predicates, and leaves them open.)

use std::collections::BTreeSet;
use std::rc::Rc;

use threadwise_engine::Answer;
use threadwise_model::system::SystemProperty;
use threadwise_symbolic::{Bdd, Halt, Layout, Search, Symbolic};

use super::division::Staged;
use super::refine::{Among, Predicate, Refinement};
use super::view::View;
use super::{Attempt, How, Predicates, Stage, each};

/// Decides the properties that have no answer yet.
pub(super) fn decide<'s, D: Staged>(
    search: &mut Search<'_, 's>,
    representatives: &D::Representatives,
    how: How,
    properties: &[&SystemProperty],
    answers: &mut [Option<Answer>],
) -> Result<(), Halt> {
    let start = search.symbolic.clone();
    each(
        search,
        representatives,
        how,
        properties,
        answers,
        |attempt: &mut Attempt<D>| attempt.run_by_stages(&start),
    )
}

/// What comes after a sequence of stages.
enum Next {
    /// Nothing: the property is decided.
    Decided(Answer),
    /// These predicates are exposed.
    Expose(BTreeSet<Predicate>),
    /// These are errors too, layer by layer.
    Extend(Vec<Bdd>),
    /// There is a better layout to begin anew in.
    Rearrange(Layout),
}

impl<'s, D: Staged> Attempt<'_, '_, 's, D> {
    fn run_by_stages(&mut self, start: &Rc<Symbolic<'s>>) -> Result<Answer, Halt> {
        self.search.symbolic = start.clone();
        self.count();
        self.layers = vec![self.forbidden()?];
        loop {
            if let Some(run) = self.violation()? {
                return Ok(Answer::Violated(run));
            }
            let symbolic = self.search.symbolic.clone();
            match self.stages()? {
                Next::Decided(answer) => return Ok(answer),
                Next::Extend(before) => before.into_iter().for_each(|layer| self.extend(layer)),
                Next::Expose(predicates) => {
                    self.expose(predicates)?;
                    self.bring_layers(&symbolic)?;
                }
                Next::Rearrange(layout) => {
                    self.search.replace(symbolic.rebuild(layout)?);
                    self.bring_layers(&symbolic)?;
                }
            }
        }
    }

    /// Computes stages until one has errors about which something can be done.
    fn stages(&mut self) -> Result<Next, Halt> {
        let symbolic = self.search.symbolic.clone();
        let d = &symbolic.diagrams;
        let error = self.error()?;
        let view = View::new(&symbolic, &self.globals)?;
        let assertions = D::first(&symbolic, &view)?;
        let mut stage = Stage::of(symbolic.clone(), view, assertions);
        let mut stages: Vec<Bdd> = Vec::new();
        loop {
            self.search.round();
            let states = stage.assertions.conjunction(d)?;
            stages.push(states.clone());
            let mut right = None;
            if !d.is_empty(&d.and(&states, &error)?) {
                let (assertions, view) = (&stage.assertions, &stage.view);
                if let Some(first) =
                    assertions.first_sharp(self.search, view, self.representatives)?
                {
                    stage.assertions = first;
                    stages.clear();
                    continue;
                }
                if self.how.predicates == Predicates::Paths
                    && let Some(next) = self.follow(&stage.view, &stages, &error)?
                {
                    return Ok(next);
                }
                match self.refine(&stage.view, &states, &error)? {
                    Refinement::Expose(predicates) => return Ok(Next::Expose(predicates)),
                    Refinement::Extend(before) => return Ok(Next::Extend(vec![before])),
                    Refinement::Proof(states) => right = Some(states),
                }
            }
            if let Some(layout) = self.search.better_layout(&states)? {
                return Ok(Next::Rearrange(layout));
            }
            let next = stage
                .assertions
                .next(self.search, &stage.view, self.representatives)?;
            if next == stage.assertions {
                return Ok(Next::Decided(match right {
                    None => self.proved(&stage)?,
                    Some(right) => self.proved_without_errors(&stage, &right)?,
                }));
            }
            stage.assertions = next;
        }
    }

    /// Follows the violations back through the stages.
    fn follow(&mut self, view: &View, stages: &[Bdd], error: &Bdd) -> Result<Option<Next>, Halt> {
        let symbolic = self.search.symbolic.clone();
        let d = &symbolic.diagrams;
        let Some((last, earlier)) = stages.split_last() else {
            return Ok(None);
        };
        let mut here = d.and(last, error)?;
        let mut way: Vec<Bdd> = Vec::new();
        for stage in earlier.iter().rev() {
            if !d.is_empty(&d.and(&here, &symbolic.initial)?) {
                break;
            }
            let before = self.search.pre_within(&here, stage)?;
            if d.is_empty(&before) {
                let after = self.search.post(stage)?;
                let right = d.or(&symbolic.initial, &after)?;
                let processes = self.looked_at(view);
                // What makes a violation one is likely to matter before, too.
                for mentioned in [self.mentioned()?, d.support(&here)] {
                    let among = Among {
                        view,
                        processes: &processes,
                        mentioned: &mentioned,
                        predicates: self.how.predicates,
                    };
                    let mut predicates = among.predicates(self.search, &here, &right)?;
                    // What is left open may blur the difference, so that there are some that do not tell anything apart.
                    predicates.retain(|(cell, value)| !symbolic.layout.exposes(*cell, *value));
                    if !predicates.is_empty() {
                        return Ok(Some(Next::Expose(predicates)));
                    }
                }
                return Ok(None);
            }
            way.push(before.clone());
            here = before;
        }
        // All the way: there are initial states among these, at the latest in the first stage, which has no others.
        Ok((!way.is_empty()).then_some(Next::Extend(way)))
    }
}
