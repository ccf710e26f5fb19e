//! Freedom from deadlock, as one goal: a state in which some process has not ended and nobody has a step is contradictory.
//!
//! "Somebody has a step" is negated and assumed: of every label, nobody is there, or any process that is there has no step. So one is picked, the *witness* of the label, and what is known
//! of processes there is assumed of it, unless there is nobody. Where predicates are counted, there is a witness of those that they hold of and of those that they do
//! not, since equations speak of these numbers; where processes are compared with each other, also of one that is least of those at the label, which finitely many processes have. Nothing
//! is assumed of two witnesses, which need not differ. What is lost is what only several processes together show in another way.

use std::collections::HashSet;

use threadwise_evidence::arithmetic::Formula as Linear;
use threadwise_evidence::family::Condition;
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Family, Formula, Names};

use crate::blockers::Blockers;
use crate::compared::More;
use crate::conditions::{Cases, Goal, TooMuch, instantiations};
use crate::scope::{ComparedAt, Form, Reference, Scope, Translator, Var};

/// Which process at a label a witness is.
#[derive(Clone, Copy)]
enum Which {
    /// Any.
    Any,
    /// One that a counted predicate holds of, or does not.
    Counted(usize, bool),
    /// One that is least in an order.
    Least(usize),
}

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
        let mut facts = translator.background(&self.ghosts)?;
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
        let witnesses = labels(family).into_iter().flat_map(|(template, location)| {
            let which = self.witnesses(template).into_iter();
            which.map(move |which| (template, location, which))
        });
        let witnesses: Vec<_> = witnesses.collect();
        let mut next = witnesses.len() as u32;
        for (number, (template, location, which)) in witnesses.into_iter().enumerate() {
            let mut scope = Scope::default();
            scope.references.resize(number, None);
            scope
                .references
                .push(Some(Reference { template, location }));
            let mut more = More::default();
            let (absent, mut known) = self.stuck(&scope, which, &mut next, &mut more)?;
            facts.append(&mut more.facts);
            assumed.append(&mut more.instantiations);
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
        self.goals += 1;
        Ok(Goal {
            number: self.goals,
            condition: Condition::Deadlock,
            facts,
            violation: Vec::new(),
            assumed,
        })
    }

    /// Which processes of a template there are witnesses of at a label.
    fn witnesses(&self, template: TemplateId) -> Vec<Which> {
        let counted = self.ghosts.counted.iter().enumerate();
        let counted = counted.filter(|(_, counted)| counted.template == template);
        let some = counted
            .flat_map(|(number, _)| [true, false].map(|holds| Which::Counted(number, holds)));
        let mut some: Vec<Which> = some.collect();
        if some.is_empty() {
            some.push(Which::Any);
        }
        some.extend(self.orders(template).into_iter().map(Which::Least));
        some
    }

    /// That a comparison is an order.
    pub(crate) fn order_goals(&mut self, comparison: usize) -> Result<Vec<Goal>, TooMuch> {
        let compared = self.ghosts.compared[comparison].clone();
        let nobody = Scope::default();
        let mut translator = Translator::new(self.family, &mut self.table, &nobody);
        let mut between = |first, second| translator.compare(&compared, first, second);
        let reflexive = vec![between(0, 0)?];
        let open = vec![between(0, 1)?, between(1, 2)?, between(0, 2)?.negation()?];
        let goals = [(false, reflexive), (true, open)].map(|(transitive, facts)| {
            self.goals += 1;
            Goal {
                number: self.goals,
                condition: Condition::Order {
                    comparison,
                    transitive,
                },
                facts,
                violation: Vec::new(),
                assumed: Vec::new(),
            }
        });
        Ok(goals.into())
    }

    /// The orders of the processes of a template.
    pub(crate) fn orders(&self, template: TemplateId) -> Vec<usize> {
        let compared = self.ghosts.compared.iter().enumerate();
        let orders = compared.filter(|(_, c)| c.order && c.of == template);
        orders.map(|(number, _)| number).collect()
    }

    /// When there is no such process as the one in scope, and what is known of it if there is and it has no step.
    fn stuck(
        &mut self,
        scope: &Scope,
        which: Which,
        next: &mut u32,
        more: &mut More,
    ) -> Result<(Linear, Vec<Linear>), TooMuch> {
        let family = self.family;
        let Some((own, Reference { template, location })) = scope.iter().next() else {
            return Ok((Linear::constant(true), Vec::new()));
        };
        let mut translator = Translator::new(family, &mut self.table, scope);
        let count = translator.var(Var::Counter(template, location));
        let zero = Form::number(0);
        let mut known = Vec::new();
        let absent = match which {
            Which::Any => count.at_most(&zero)?,
            Which::Least(comparison) => {
                let fewer = ComparedAt {
                    comparison: comparison as u32,
                    template,
                    location,
                    reference: own,
                };
                let fewer = translator.var(Var::Compared(fewer, false));
                known.push(fewer.at_most(&zero)?);
                count.at_most(&zero)?
            }
            Which::Counted(predicate, holds) => {
                let is = translator.renamed(&self.ghosts.counted[predicate].predicate, own)?;
                known.push(if holds { is } else { is.negation()? });
                let those = Var::Counted(predicate as u32, template, location, false);
                let those = translator.var(those);
                match holds {
                    true => those.at_most(&zero)?,
                    false => count.at_most(&those)?,
                }
            }
        };
        let unless = Some(absent.clone());
        known.extend(self.closed(scope, own, unless, next, more)?);
        if !known.iter().any(|known| known.truth() == Some(false)) {
            let mut translator = Translator::new(family, &mut self.table, scope);
            known.extend(translator.background(&self.ghosts)?);
            known.append(&mut translator.facts);
        }
        Ok((absent, known))
    }

    /// That a process has no step: of each path, some guard is false. Where processes are compared, it is asked who it is that keeps it from the step; blockers are numbered from `next` on,
    /// and nothing is said of them where `unless` holds.
    pub(crate) fn closed(
        &mut self,
        scope: &Scope,
        own: u32,
        unless: Option<Linear>,
        next: &mut u32,
        more: &mut More,
    ) -> Result<Vec<Linear>, TooMuch> {
        let family = self.family;
        let Some((_, who)) = scope.iter().find(|(number, _)| *number == own) else {
            return Ok(Vec::new());
        };
        let names = Names {
            own: Some(own),
            ..Names::default()
        };
        let mut known = Vec::new();
        let paths = family.templates[who.template].paths.iter();
        // Of values that a path could choose nothing is known.
        for path in paths.filter(|path| path.from == who.location && path.choices == 0) {
            let guard = path.guard.iter().map(|guard| guard.resolve(&names));
            let guard = Formula::all(guard);
            if self.ghosts.compared.is_empty() {
                let mut translator = Translator::new(family, &mut self.table, scope);
                known.push(translator.assume(&guard, false)?);
                known.append(&mut translator.facts);
                continue;
            }
            let mut blockers = Blockers {
                scope,
                next,
                unless: unless.clone(),
                assumed: More::default(),
            };
            known.push(blockers.fails(self, &guard)?);
            more.facts.append(&mut blockers.assumed.facts);
            more.instantiations
                .append(&mut blockers.assumed.instantiations);
        }
        Ok(known)
    }
}
