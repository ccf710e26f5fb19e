//! Justice of the one who is least.
//!
//! That somebody at a label has a step is no justice if it is another one each time. But of finitely many processes one is least in the order in which guards compare them. It is followed beside the
//! reference: while nobody is less, it has a step; nobody comes who is less; so it moves. Who is less than it is counted, as for the reference, so
//! all of that are questions about one number.

use std::collections::{BTreeMap, HashMap};

use threadwise_evidence::arithmetic::{Formula as Linear, Variable};
use threadwise_evidence::family::{Deletion, DeletionPart, Least};
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Liveness, PathEnd};

use super::{About, Edge, Mover, Search, Shown, Site, has_others};
use crate::conditions::{Cases, Goal, Instantiation, Origin, TooMuch};
use crate::questions::Halt;
use crate::scope::{ComparedAt, Form, Reference, Var};

/// Somebody at a label who is least there in an order.
pub(super) struct Followed {
    template: TemplateId,
    location: LocationId,
    comparison: usize,
    /// That it is an order.
    order: Vec<Goal>,
    /// The transitions of others, by the site of the reference in the place of a control.
    steps: BTreeMap<Edge, Beside>,
}

/// A transition beside somebody who is followed.
pub(super) struct Beside {
    pub(super) number: usize,
    pub(super) facts: Vec<Linear>,
    pub(super) assumed: Vec<Instantiation>,
    after: HashMap<Variable, Form>,
}

impl Followed {
    /// All that may be worth it.
    pub(super) fn all(
        cases: &mut Cases<'_>,
        liveness: &Liveness,
        sites: &[Site],
    ) -> Result<Vec<Followed>, TooMuch> {
        let family = cases.family;
        let mut all = Vec::new();
        for (template, declared) in family.templates.iter_enumerated() {
            if !liveness.unconditional || !has_others(family, liveness, template) {
                continue;
            }
            for location in declared.locations.indices() {
                let mut paths = declared.paths.iter();
                // Whoever has a step anyway need not be least for it.
                let open = paths.any(|path| path.from == location && path.guard.is_empty());
                if open || declared.rests.contains(&location) {
                    continue;
                }
                for comparison in cases.orders(template) {
                    let mut followed = Followed {
                        template,
                        location,
                        comparison,
                        order: cases.order_goals(comparison)?,
                        steps: BTreeMap::new(),
                    };
                    for site in 0..sites.len() {
                        followed.steps_at(cases, liveness, sites, site)?;
                    }
                    all.push(followed);
                }
            }
        }
        Ok(all)
    }

    fn steps_at(
        &mut self,
        cases: &mut Cases<'_>,
        liveness: &Liveness,
        sites: &[Site],
        site: usize,
    ) -> Result<(), TooMuch> {
        let family = cases.family;
        let reference = liveness.reference.map(|(_, template)| template);
        let by_references = cases.by_references();
        for (template, declared) in family.templates.iter_enumerated() {
            for (path, taken) in declared.paths.iter().enumerate() {
                let PathEnd::At(to) = taken.end else { continue };
                let own = reference == Some(template) && sites[site].location == Some(taken.from);
                let other = has_others(family, liveness, template);
                let movers = [
                    (own, Mover::Own, Some(to), Some(0)),
                    (other, Mover::Other(template), sites[site].location, None),
                ];
                for (_, mover, at, place) in movers.into_iter().filter(|(is, ..)| *is) {
                    let reference = reference.zip(at);
                    let reference =
                        reference.map(|(template, location)| Reference { template, location });
                    let followed = Reference {
                        template: self.template,
                        location: self.location,
                    };
                    let references: Vec<Reference> =
                        reference.into_iter().chain([followed]).collect();
                    let origin = Origin::Step {
                        mover: place,
                        template,
                        path,
                        started: Vec::new(),
                    };
                    let case = cases.step(0, &references, (taken, to), origin, &by_references)?;
                    let Some(case) = case else { continue };
                    cases.goals += 1;
                    let edge = Edge {
                        control: site,
                        mover,
                        path,
                    };
                    let beside = Beside {
                        number: cases.goals,
                        facts: case.facts,
                        assumed: case.assumed,
                        after: case.after,
                    };
                    self.steps.insert(edge, beside);
                }
            }
        }
        Ok(())
    }
}

impl<'p> Search<'p, '_, '_, '_> {
    /// A transition beside somebody who is followed.
    pub(super) fn beside(&self, followed: usize, edge: Edge) -> &'p Beside {
        let site = Edge {
            control: self.controls[edge.control],
            ..edge
        };
        &self.prepared.followed[followed].steps[&site]
    }

    /// That the comparisons are orders by which somebody is said to be least.
    pub(super) fn orders(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for comparison in 0..self.cases.ghosts.compared.len() {
            let used = self.deletions.iter().any(|deletion| {
                matches!(deletion, Deletion::Least { least, .. } if least.comparison == comparison)
            });
            let mut followed = self.prepared.followed.iter();
            let followed = followed.find(|followed| followed.comparison == comparison);
            if let Some(followed) = followed.filter(|_| used) {
                goals.extend(followed.order.iter().cloned());
            }
        }
        goals
    }

    /// The numbers of those that compare with the reference.
    pub(super) fn compared(&self) -> impl Iterator<Item = Variable> {
        let views = self.cases.views.iter().zip(&self.cases.variables);
        let of = self
            .prepared
            .liveness
            .reference
            .map(|(_, template)| template);
        let about = views.filter(
            |(view, _)| matches!(view.references.as_slice(), [one] if Some(one.template) == of),
        );
        let variables = about.flat_map(|(_, variables)| variables);
        let numbers = variables
            .copied()
            .filter(|variable| matches!(self.cases.table.var(*variable), Var::Compared(..)));
        numbers
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
    }

    /// How many at the label are less than a process, if views speak of that.
    fn fewer(&self, followed: usize, process: u32) -> Option<Form> {
        let followed = &self.prepared.followed[followed];
        let at = ComparedAt {
            comparison: followed.comparison as u32,
            template: followed.template,
            location: followed.location,
            reference: process,
        };
        let number = self.cases.table.known(&Var::Compared(at, false))?;
        Some(Form::variable(number))
    }

    pub(super) fn least(&mut self) -> Result<bool, Halt> {
        for followed in 0..self.prepared.followed.len() {
            if self.first_moves(followed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes states in which the one who is least does not stay.
    fn first_moves(&mut self, number: usize) -> Result<bool, Halt> {
        let (mut states, mut shown) = (BTreeMap::new(), BTreeMap::new());
        for control in 0..self.controls.len() {
            let Some(present) = self.somebody_less(number, control)? else {
                return Ok(false);
            };
            for candidate in self.candidates(&present, None) {
                if let Some(found) = self.first_has_step(number, control, &candidate)? {
                    states.insert(control, candidate);
                    shown.insert(control, found);
                    break;
                }
            }
        }
        let mut kept = loop {
            if states.is_empty() {
                return Ok(false);
            }
            let kept = match self.persists(&states)? {
                Ok(kept) => kept,
                Err(control) => {
                    states.remove(&control);
                    continue;
                }
            };
            match self.stays_first(number, &states)? {
                Ok(stays) => break kept.into_iter().chain(stays).collect::<Vec<_>>(),
                Err(control) => drop(states.remove(&control)),
            }
        };
        let each = states.keys().flat_map(|control| shown.remove(control));
        let mut each: Vec<Shown> = each.flatten().collect();
        self.shown.append(&mut each);
        self.shown.append(&mut kept);
        let states = self.delete(states.into_iter().collect());
        let followed = &self.prepared.followed[number];
        let declared = &self.cases.family.templates[followed.template];
        let least = Least {
            template: declared.name.clone(),
            location: declared.locations[followed.location].clone(),
            comparison: followed.comparison,
        };
        self.deletions.push(Deletion::Least { least, states });
        Ok(true)
    }

    /// Whether the reference is at the label, too.
    fn is_here(&self, number: usize, control: usize) -> bool {
        let followed = &self.prepared.followed[number];
        let own = self
            .prepared
            .liveness
            .reference
            .map(|(_, template)| template);
        let who = (Some(followed.template), Some(followed.location));
        (own, self.site(control).location) == who
    }

    /// That there is somebody at the label, less than the reference if that is there.
    fn somebody_less(&self, number: usize, control: usize) -> Result<Option<Linear>, Halt> {
        let followed = &self.prepared.followed[number];
        let count = match self.is_here(number, control) {
            true => self.fewer(number, 0),
            false => {
                let counter = Var::Counter(followed.template, followed.location);
                self.number(&counter).map(Form::variable)
            }
        };
        let present = count.map(|count| Form::number(1).at_most(&count));
        Ok(present.transpose()?)
    }

    /// That in these states the one who is least is there, is not the reference, has a step, and does not take it.
    fn first_has_step(
        &mut self,
        number: usize,
        control: usize,
        states: &Linear,
    ) -> Result<Option<Vec<Shown>>, Halt> {
        let site = self.controls[control];
        let followed = &self.prepared.followed[number];
        let who = (followed.template, followed.location);
        let process = u32::from(self.prepared.liveness.reference.is_some());
        let zero = Form::number(0);
        let Some(fewer) = self.fewer(number, process) else {
            return Ok(None);
        };
        let is_least = fewer.at_most(&zero)?;
        let mut region = self.region(control)?;
        region.push(states.clone());
        let Some(standing) = self.site(control).others.get(&who) else {
            return Ok(None);
        };
        if self.refuted(About::Site(site), &region)? {
            return Ok(None);
        }
        let mut enabled = region.clone();
        enabled.push(is_least.clone());
        enabled.extend(standing.closed.iter().cloned());
        let at = Some(who.1.index());
        let condition = self.part(DeletionPart::Enabled, control, Some(who.0), at);
        let mut shown = Vec::new();
        match self.show(condition, About::Other(site, who), enabled)? {
            Some(one) => shown.push(one),
            None => return Ok(None),
        }
        let family = self.cases.family;
        let leaving = self.edges_now().into_iter().filter(|(edge, _)| {
            let from = |path: usize| family.templates[who.0].paths[path].from;
            edge.control == control && edge.mover == Mover::Other(who.0) && from(edge.path) == who.1
        });
        match self.gone(leaving.collect(), states, Some(&is_least))? {
            Some(mut gone) => shown.append(&mut gone),
            None => return Ok(None),
        }
        let Some(count) = self.number(&Var::Counter(who.0, who.1)) else {
            return Ok(None);
        };
        let mut absent = vec![Form::variable(count).at_most(&zero)?];
        if self.is_here(number, control)
            && let Some(fewer) = self.fewer(number, 0)
        {
            absent.push(fewer.at_most(&zero)?);
        }
        region.push(Linear::any(absent));
        let condition = self.part(DeletionPart::Present, control, Some(who.0), at);
        match self.show(condition, About::Site(site), region)? {
            Some(one) => shown.push(one),
            None => return Ok(None),
        }
        Ok(Some(shown))
    }

    /// That nobody comes to be less than the one who is least; or from where somebody does.
    fn stays_first(
        &mut self,
        number: usize,
        states: &BTreeMap<usize, Linear>,
    ) -> Result<Result<Vec<Shown>, usize>, Halt> {
        let process = u32::from(self.prepared.liveness.reference.is_some());
        let mut shown = Vec::new();
        for (edge, _) in self.edges_now() {
            let Some(before) = states.get(&edge.control) else {
                continue;
            };
            let Some(fewer) = self.fewer(number, process) else {
                return Ok(Err(edge.control));
            };
            let beside = self.beside(number, edge);
            let mut formulas = self.around_in(edge, &beside.after)?;
            formulas.push(before.clone());
            formulas.push(fewer.at_most(&Form::number(0))?);
            let after = crate::conditions::form_after(&fewer.terms, 0, &beside.after)?;
            formulas.push(Form::number(1).at_most(&after)?);
            let condition = self.part_of(DeletionPart::Least, edge);
            match self.show(condition, About::Beside(number, edge), formulas)? {
                Some(one) => shown.push(one),
                None => return Ok(Err(edge.control)),
            }
        }
        Ok(Ok(shown))
    }
}
