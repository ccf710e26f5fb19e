//! What is left where no further deletion was found, in the model's words: where it may be waited for ever, and which steps may be taken meanwhile.
//!
//! It is what is not known, and no run: whoever reads it sees whether something is missing that makes a process move, a step come to an end, or a sum get smaller.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_evidence::Missing;
use threadwise_evidence::family::Condition;

use super::{About, Mover, Search};
use crate::conditions::Goal;
use crate::explain::Scene;
use crate::infer::Inference;
use crate::lia::Model;
use crate::missing::called;
use crate::questions::{Asked, Halt};

/// What helps if everybody is scheduled.
const RANK: &str = "if no fair run does so, write down what gets smaller with these steps, or who has to move: a variable that says how much is left to do, or a further fairness";
/// And if nothing says so.
const SCHEDULED: &str = "the property assumes of nobody that he is scheduled: `fairness f: unconditional;` and `under f` say so of all processes";

/// Numbers of goals for each round: more than there are controls.
const GOALS: usize = 1 << 16;

/// Steps of somebody that are named.
const STEPS: usize = 6;

impl<'s> Search<'_, '_, '_, 's> {
    /// What may go on for ever, as far as is known.
    pub(crate) fn missing(&mut self, stop: &'s dyn Fn() -> bool) -> Option<Missing> {
        self.inference.questions.stop_by(stop);
        self.left().ok()?
    }

    /// That nothing is left, as goals: another number for each round in which they are asked for.
    pub(crate) fn left_over(&mut self, round: usize) -> Result<Vec<Goal>, Halt> {
        let mut goals = Vec::new();
        for control in 0..self.controls.len() {
            goals.push(self.pending(control, (round + 1) * GOALS + control)?);
        }
        Ok(goals)
    }

    fn left(&mut self) -> Result<Option<Missing>, Halt> {
        let mut left = Vec::new();
        for control in 0..self.controls.len() {
            if let Some(model) = self.model(control)? {
                left.push((control, model));
            }
        }
        let Some((first, model)) = left.first() else {
            return Ok(None);
        };
        let context = self.context(About::Site(self.controls[*first]));
        let Some(scene) = Scene::new(self.cases, context.assumed.iter(), &[]) else {
            return Ok(None);
        };
        let places: BTreeSet<usize> = left.iter().map(|(control, _)| *control).collect();
        let steps = self.steps(&places);
        let meanwhile = match steps.is_empty() {
            true => "while nobody takes a step".to_owned(),
            false => format!("while these steps are taken again and again: {steps}"),
        };
        let gap = match self.prepared.liveness.reference {
            Some((_, template)) => {
                let Some(own) = scene.process(0) else {
                    return Ok(None);
                };
                let family = self.cases.family;
                let labels = places
                    .iter()
                    .filter_map(|control| self.site(*control).location);
                let labels = labels
                    .map(|label| format!("`{}`", family.templates[template].locations[label]));
                let labels: Vec<String> = labels.collect();
                format!(
                    "{own} may wait for ever at {}, {meanwhile}",
                    labels.join(", ")
                )
            }
            None => format!("it may be waited for ever, {meanwhile}"),
        };
        let help = match self.prepared.liveness.unconditional {
            true => RANK,
            false => SCHEDULED,
        };
        let missing = Missing::new(gap).help(help);
        Ok(Some(match scene.state(model) {
            Some(state) if !state.is_empty() => missing.state(state),
            _ => missing,
        }))
    }

    /// A state in which it is waited at a control, of those that are left.
    fn model(&mut self, control: usize) -> Result<Option<Model>, Halt> {
        let goal = self.pending(control, control)?;
        Ok(match Inference::follows(self.inference, &goal)? {
            Asked::Possible(model) => Some(model),
            Asked::Impossible | Asked::Open => None,
        })
    }

    /// That there is no state in which it is waited at a control, of those that are left.
    fn pending(&self, control: usize, number: usize) -> Result<Goal, Halt> {
        let context = self.context(About::Site(self.controls[control]));
        let region = self.region(control)?;
        Ok(Goal {
            // One that nobody has asked about.
            number: usize::MAX - number,
            condition: Condition::Pending { control },
            facts: context.facts.iter().cloned().chain(region).collect(),
            violation: Vec::new(),
            assumed: context.assumed.clone(),
        })
    }

    /// The steps that may be taken for ever, by who takes them.
    fn steps(&self, places: &BTreeSet<usize>) -> String {
        let family = self.cases.family;
        let own = self
            .prepared
            .liveness
            .reference
            .map(|(_, template)| template);
        let mut said: BTreeMap<Mover, Vec<String>> = BTreeMap::new();
        for edge in self
            .live
            .keys()
            .filter(|edge| places.contains(&edge.control))
        {
            let template = match (edge.mover, own) {
                (Mover::Other(template), _) | (Mover::Own, Some(template)) => template,
                (Mover::Own, None) => continue,
            };
            let step = called(family, template, edge.path);
            let steps = said.entry(edge.mover).or_default();
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let each = said.into_iter().map(|(mover, mut steps)| {
            if steps.len() > STEPS {
                steps.truncate(STEPS);
                steps.push("..".to_owned());
            }
            let steps = steps.join(", ");
            match mover {
                Mover::Own => format!("its own {steps}"),
                Mover::Other(template) if own == Some(template) => {
                    format!("{steps} of another {}", family.templates[template].name)
                }
                Mover::Other(template) => {
                    format!("{steps} of {}", family.templates[template].name)
                }
            }
        });
        each.collect::<Vec<_>>().join("; ")
    }
}
