//! Freedom from deadlock, as one goal: a state in which some process has not ended and nobody has a step is contradictory.
//!
//! "Somebody has a step" is negated and assumed: of every label, nobody is there, or any process that is there has no step. So one is picked, the *witness* of the label, and what is known
//! of processes there is assumed of it, unless there is nobody. Where predicates are counted, there is a witness of those that they hold of and of those that they do
//! not, since equations speak of these numbers. Nothing is assumed of two witnesses, which need not differ. What is lost is what only several processes
//! together show, as that somebody has the least number.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::Formula as Linear;
use threadwise_evidence::family::Condition;
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Family, Formula, Names};

use crate::conditions::{Cases, Goal, TooMuch, instantiations};
use crate::scope::{Form, Reference, Scope, Translator, Var};

/// The labels of processes that have not ended.
fn labels(family: &Family) -> Vec<(TemplateId, LocationId)> {
    let mut labels = Vec::new();
    for (id, template) in family.templates.iter_enumerated() {
        let done = family.program().templates[id].done();
        let here = template.locations.indices().filter(|label| *label != done);
        labels.extend(here.map(|label| (id, label)));
    }
    labels
}

impl Cases<'_> {
    /// The goal for freedom from deadlock.
    pub(crate) fn deadlock_goal(&mut self) -> Result<Goal, TooMuch> {
        let family = self.family;
        let by_references = self.by_references();
        let nobody = Scope::default();
        let mut translator = Translator::new(family, &mut self.table, &nobody);
        let mut facts = translator.background(&self.counted)?;
        let mut open = Form::default();
        for (template, location) in labels(family) {
            let counter = translator.var(Var::Counter(template, location));
            open = open.plus(1, &counter)?;
        }
        facts.push(Form::number(1).at_most(&open)?);
        facts.append(&mut translator.facts);
        let everywhere: HashSet<Linear> = facts.iter().cloned().collect();
        let mut assumed = instantiations(
            &nobody,
            &self.views,
            &by_references,
            &self.variables,
            &mut self.table,
        );
        let mut number = 0;
        for (template, location) in labels(family) {
            for counted in self.witnesses(template) {
                let mut scope = Scope::default();
                scope.references.resize(number, None);
                scope
                    .references
                    .push(Some(Reference { template, location }));
                number += 1;
                let (absent, mut known) = self.stuck(&scope, counted)?;
                known.retain(|known| !everywhere.contains(known));
                facts.push(Linear::any([absent.clone(), Linear::all(known)]));
                let here = instantiations(
                    &scope,
                    &self.views,
                    &by_references,
                    &self.variables,
                    &mut self.table,
                );
                let here = here.into_iter().filter(|one| !one.references.is_empty());
                assumed.extend(here.map(|mut one| {
                    one.unless = Some(absent.clone());
                    one
                }));
            }
        }
        self.goals += 1;
        Ok(Goal {
            number: self.goals,
            condition: Condition::Deadlock,
            facts,
            violation: Vec::new(),
            assumed,
        })
    }

    /// Which processes of a template there are witnesses of at a label: any, or those that a counted predicate holds of, or does not.
    fn witnesses(&self, template: TemplateId) -> Vec<Option<(usize, bool)>> {
        let counted = self.counted.iter().enumerate();
        let counted = counted.filter(|(_, counted)| counted.template == template);
        let some = counted.flat_map(|(number, _)| [Some((number, true)), Some((number, false))]);
        let some: Vec<_> = some.collect();
        if some.is_empty() { vec![None] } else { some }
    }

    /// When there is no such process as the one in scope, and what is known of it if there is and it has no step.
    fn stuck(
        &mut self,
        scope: &Scope,
        counted: Option<(usize, bool)>,
    ) -> Result<(Linear, Vec<Linear>), TooMuch> {
        let family = self.family;
        let Some((own, Reference { template, location })) = scope.iter().next() else {
            return Ok((Linear::constant(true), Vec::new()));
        };
        let mut translator = Translator::new(family, &mut self.table, scope);
        let count = translator.var(Var::Counter(template, location));
        let zero = Form::number(0);
        let mut known = Vec::new();
        let absent = match counted {
            None => count.at_most(&zero)?,
            Some((predicate, holds)) => {
                let is = translator.renamed(&self.counted[predicate].predicate, own)?;
                known.push(if holds { is } else { is.negation()? });
                let those = Var::Counted(predicate as u32, template, location, false);
                let those = translator.var(those);
                match holds {
                    true => those.at_most(&zero)?,
                    false => count.at_most(&those)?,
                }
            }
        };
        let names = Names {
            own: Some(own),
            ..Names::default()
        };
        let paths = family.templates[template].paths.iter();
        // Of values that a path could choose nothing is known.
        for path in paths.filter(|path| path.from == location && path.choices == 0) {
            let guard = path.guard.iter().map(|guard| guard.resolve(&names));
            known.push(translator.assume(&Formula::all(guard), false)?);
        }
        if !known.iter().any(|known| known.truth() == Some(false)) {
            known.extend(translator.background(&self.counted)?);
            known.append(&mut translator.facts);
        }
        Ok((absent, known))
    }
}
