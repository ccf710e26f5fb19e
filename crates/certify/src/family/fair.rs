//! Liveness for all values of the parameters: that no fair run waits for ever.
//!
//! A run that waits for ever has an end, a tail, in which whatever occurs at all occurs infinitely often or is a state that all later states agree with. What occurs in that tail is confined to
//! a *region* of states, one for each label at which the process that waits can be (a *control*), and to some transitions, the *live* ones; beyond these there are turns in which nothing
//! changes. At first the region is where it is waited, and all transitions are live. Each deletion of the claim takes away what occurs finitely often only:
//!
//! - *impossible*: transitions that do not lead from the region into the region;
//! - *leave*: transitions of the process that waits which are on no cycle of live ones;
//! - *rank*: no live transition raises a sum that is bounded from below, so in the end it stays as it is, and transitions that lower it are not taken any more;
//! - *oneself*, *somebody*: states that every live transition keeps, in which a process at a label has a step, whoever it is, while no step from there is taken (by the process that waits, or by
//!   others): a process that is there stays there, is scheduled, and does not move. That needs unconditional fairness, and a label without `stay`. Processes at the label can be told apart by a
//!   predicate about their own variables, which change in their own steps alone;
//! - *least*: the same of the process that is least of those at a label, in an order (`least`);
//! - *everybody*: states in which no transitions are taken and every process has a step, and none may rest, so that whoever is scheduled moves;
//! - *promise*: the cause of an assumption, if its effect is nowhere in the region. An assumption about each process of a template is one about the process that waits, or says
//!   that the effect holds of somebody infinitely often if the cause does, as there are finitely many.
//!
//! In the end nothing may be left. That there is no live transition is not enough: turns in which nothing changes are always possible.

use std::collections::BTreeSet;

use threadwise_evidence::arithmetic::{Formula, Variable};
use threadwise_evidence::family::{
    Condition, Control, Deleted, Deletion, DeletionPart, FairClaim, Holding, Transition,
};
use threadwise_lang::program::{LocationId, Span, TemplateId};
use threadwise_model::family::{
    Family, Formula as Predicate, From, Liveness, Names, Path, PathEnd, Population, Term,
};

use super::Claimed;
use super::after::After;
use super::blockers::closed;
use super::conditions::{Judge, Lister, property_span};
use super::linear::{Linear, at_most, less};
use super::names::{Symbol, Table, counted_name, location_named, template_named};
use super::scope::{Process, Scope, assertions, facts};
use super::translate::Translation;
use crate::Error;

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mover {
    /// The process that waits.
    Own,
    /// Another one, of this template.
    Other(TemplateId),
}

/// A path that is taken from a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) control: usize,
    pub(super) mover: Mover,
    path: usize,
}

/// What is left of the runs that wait.
pub(super) struct Course<'a> {
    family: &'a Family,
    liveness: &'a Liveness,
    claim: &'a FairClaim,
    /// The label of each control.
    pub(super) locations: Vec<Option<LocationId>>,
    /// What was deleted at each.
    deleted: Vec<Vec<&'a Formula>>,
    pub(super) live: BTreeSet<Edge>,
    /// Sums that stay as they are.
    settled: Vec<&'a [(Variable, i64)]>,
    /// The deletion that is looked at.
    deletion: usize,
}

/// What is asked about a transition.
pub(super) type About<'q> = &'q dyn Fn(
    &mut Translation<'_, '_>,
    &mut After<'_>,
    &mut Vec<Formula>,
) -> Result<Formula, Error>;

impl<'a> Course<'a> {
    fn new(
        family: &'a Family,
        liveness: &'a Liveness,
        claim: &'a FairClaim,
        table: &Table,
    ) -> Result<Course<'a>, Error> {
        let mut locations = Vec::new();
        for control in &claim.controls {
            let location = place(family, liveness, control)?;
            if locations.contains(&location) {
                return Err(Error::no_proof("two controls have the same label"));
            }
            locations.push(location);
        }
        let mut course = Course {
            family,
            liveness,
            claim,
            deleted: vec![Vec::new(); locations.len()],
            locations,
            live: BTreeSet::new(),
            settled: Vec::new(),
            deletion: 0,
        };
        if course.reference().is_none() && course.locations.len() != 1 {
            return Err(Error::no_proof("there is not one control without a label"));
        }
        course.names(table)?;
        for control in 0..course.locations.len() {
            for edge in course.edges(control) {
                course.live.insert(edge);
            }
        }
        Ok(course)
    }

    /// The template of the process that waits.
    pub(super) fn reference(&self) -> Option<TemplateId> {
        self.liveness.reference.map(|(_, template)| template)
    }

    /// That all that is claimed is about the state and the process that waits.
    fn names(&self, table: &Table) -> Result<(), Error> {
        let template_of = |i: u32| self.reference().filter(|_| i == 0);
        let known = |variable: Variable| -> Result<(), Error> {
            let symbol = table.symbol(variable)?;
            symbol.fits(self.family, &template_of).map_err(|why| {
                let name = table.name(variable);
                Error::no_proof(format!(
                    "`{name}` is not about the process that waits: {why}"
                ))
            })
        };
        let mut formulas: Vec<&Formula> = Vec::new();
        formulas.extend(self.claim.controls.iter().map(|control| &control.pending));
        for deletion in &self.claim.deletions {
            match deletion {
                Deletion::Impossible { .. } | Deletion::Leave { .. } => {}
                Deletion::Rank { terms, .. } => {
                    terms
                        .iter()
                        .try_for_each(|(variable, _)| known(*variable))?;
                }
                Deletion::Oneself { states } => formulas.push(&states.states),
                Deletion::Somebody { states, .. }
                | Deletion::Least { states, .. }
                | Deletion::Everybody { states }
                | Deletion::Promise { states, .. } => {
                    formulas.extend(states.iter().map(|deleted| &deleted.states));
                }
            }
        }
        let mut formulas = formulas.into_iter();
        formulas.try_for_each(|formula| super::mentioned(formula, &mut |v| known(v)))
    }

    /// The transitions from a control, but for those that end the waiting.
    fn edges(&self, control: usize) -> Vec<Edge> {
        let mut edges = Vec::new();
        let reference = self.reference();
        if let (Some(template), Some(location)) = (reference, self.locations[control]) {
            for (path, to) in arriving(self.family, template) {
                let declared = &self.family.templates[template].paths[path];
                if declared.from == location && self.locations.contains(&Some(to)) {
                    edges.push(Edge {
                        control,
                        mover: Mover::Own,
                        path,
                    });
                }
            }
        }
        for template in self.family.templates.indices() {
            if self.has_others(template) {
                let paths = arriving(self.family, template);
                edges.extend(paths.map(|(path, _)| Edge {
                    control,
                    mover: Mover::Other(template),
                    path,
                }));
            }
        }
        edges
    }

    /// Whether a template can have processes beside the one that waits.
    fn has_others(&self, template: TemplateId) -> bool {
        let single = matches!(
            &self.family.templates[template].population,
            Population::Between(Term::Number(lo), Term::Number(hi)) if lo == hi
        );
        !(single && self.reference() == Some(template))
    }

    pub(super) fn path(&self, edge: Edge) -> Option<&'a Path> {
        let template = match edge.mover {
            Mover::Own => self.reference()?,
            Mover::Other(template) => template,
        };
        self.family.templates[template].paths.get(edge.path)
    }

    /// The control after a transition.
    fn target(&self, edge: Edge) -> Option<usize> {
        match (edge.mover, self.path(edge)?.end) {
            (Mover::Other(_), _) => Some(edge.control),
            (Mover::Own, PathEnd::At(to)) => {
                self.locations.iter().position(|here| *here == Some(to))
            }
            (Mover::Own, PathEnd::Fails(..)) => None,
        }
    }

    /// A transition of the claim, which must be live.
    fn edge(&self, transition: &Transition) -> Result<Edge, Error> {
        let mover = match &transition.other {
            None => Mover::Own,
            Some(name) => Mover::Other(template(self.family, name)?),
        };
        let edge = Edge {
            control: transition.control,
            mover,
            path: transition.path,
        };
        match self.live.contains(&edge) {
            true => Ok(edge),
            false => Err(Error::no_proof(format!(
                "deletion {} is about a transition that is not live",
                self.deletion
            ))),
        }
    }

    /// The states of a deletion by control.
    fn states(&self, deleted: &'a [Deleted]) -> Result<Vec<Option<&'a Formula>>, Error> {
        let mut states = vec![None; self.locations.len()];
        for one in deleted {
            let slot = states.get_mut(one.control).filter(|slot| slot.is_none());
            let slot = slot.ok_or_else(|| {
                Error::no_proof(format!(
                    "deletion {} is about a control that there is not, or twice about one",
                    self.deletion
                ))
            })?;
            *slot = Some(&one.states);
        }
        Ok(states)
    }

    fn delete(&mut self, states: &[Option<&'a Formula>]) {
        for (deleted, states) in self.deleted.iter_mut().zip(states) {
            deleted.extend(states.iter());
        }
    }

    /// The process that waits and others, numbered as in conditions.
    fn scope(
        &self,
        control: usize,
        others: impl IntoIterator<Item = (TemplateId, LocationId)>,
    ) -> Scope {
        let own = self.reference().zip(self.locations[control]);
        let processes = own.into_iter().chain(others).zip(0..);
        Scope {
            processes: processes
                .map(|((template, location), number)| Process {
                    number,
                    template,
                    location,
                })
                .collect(),
        }
    }

    /// The region at a control: formulas of the claim.
    fn region(&self, control: usize) -> Result<Vec<Formula>, Error> {
        let mut region = vec![self.claim.controls[control].pending.clone()];
        for deleted in &self.deleted[control] {
            region.push(deleted.negation()?);
        }
        Ok(region)
    }

    pub(super) fn condition(
        &self,
        part: DeletionPart,
        control: usize,
        other: Option<TemplateId>,
        at: Option<usize>,
    ) -> Condition {
        Condition::Deletion {
            deletion: self.deletion,
            part,
            control,
            other: other.map(|template| self.family.templates[template].name.clone()),
            at,
        }
    }

    fn condition_of(&self, part: DeletionPart, edge: Edge) -> Condition {
        let other = match edge.mover {
            Mover::Own => None,
            Mover::Other(template) => Some(template),
        };
        self.condition(part, edge.control, other, Some(edge.path))
    }

    fn refuse(&self, why: &str) -> Error {
        Error::no_proof(format!("deletion {}: {why}", self.deletion))
    }

    /// The names of a predicate of the property, or of an assumption about the process that waits.
    fn named(&self) -> Names {
        let names = Names::default();
        match self.liveness.reference {
            Some((var, _)) => names.with(var, 0),
            None => names,
        }
    }
}

/// The label of a control.
fn place(
    family: &Family,
    liveness: &Liveness,
    control: &Control,
) -> Result<Option<LocationId>, Error> {
    match (liveness.reference, &control.location) {
        (None, None) => Ok(None),
        (Some((_, template)), Some(name)) => match location_named(family, template, name) {
            Some(location) => Ok(Some(location)),
            None => Err(Error::no_proof(format!("there is no label `{name}`"))),
        },
        _ => Err(Error::no_proof(
            "a control has a label just if the property is about a process",
        )),
    }
}

fn template(family: &Family, name: &str) -> Result<TemplateId, Error> {
    template_named(family, name)
        .ok_or_else(|| Error::no_proof(format!("the model has no template `{name}`")))
}

/// The paths of a template that arrive at a label, by position, with the label.
fn arriving(
    family: &Family,
    template: TemplateId,
) -> impl Iterator<Item = (usize, LocationId)> + '_ {
    let paths = family.templates[template].paths.iter().enumerate();
    paths.filter_map(|(number, path)| match path.end {
        PathEnd::At(to) => Some((number, to)),
        PathEnd::Fails(..) => None,
    })
}

impl<J: Judge> Lister<'_, J> {
    /// That no fair run violates a liveness property.
    pub(crate) fn liveness(&mut self, liveness: &Liveness, claim: &FairClaim) -> Result<(), Error> {
        let mut course = Course::new(self.family, liveness, claim, &self.table)?;
        self.defined(&course)?;
        self.waiting(&course)?;
        for (number, deletion) in claim.deletions.iter().enumerate() {
            course.deletion = number;
            self.deletion(&mut course, deletion)?;
        }
        course.deletion = claim.deletions.len();
        for control in 0..course.locations.len() {
            let condition = course.condition(DeletionPart::Empty, control, None, None);
            self.state(&course, control, None, condition, true, &|_| Ok(Vec::new()))?;
        }
        Ok(())
    }

    /// That the predicates of the property can be evaluated in all states.
    fn defined(&mut self, course: &Course<'_>) -> Result<(), Error> {
        for (check, holds) in course.liveness.checks.iter().enumerate() {
            let condition = Condition::Defined { check };
            self.judged(course, &Scope::default(), condition, &|translation| {
                Ok(vec![translation.assume(holds, false)?])
            })?;
        }
        Ok(())
    }

    /// That the controls, with what is claimed to hold there, are where it is waited.
    fn waiting(&mut self, course: &Course<'_>) -> Result<(), Error> {
        let until = course.liveness.until.resolve(&course.named());
        for (control, claimed) in course.claim.controls.iter().enumerate() {
            let condition = Condition::Pending { control };
            self.state(course, control, None, condition, false, &|translation| {
                let waits = translation.assume(&until, false)?;
                let fails = translation.rename(&claimed.pending, &|i| i)?.negation()?;
                Ok(vec![waits, fails])
            })?;
        }
        let Some(template) = course.reference() else {
            return Ok(());
        };
        let declared = &course.family.templates[template];
        for location in declared.locations.indices() {
            if course.locations.contains(&Some(location)) {
                continue;
            }
            let reached = arriving(course.family, template).any(|(path, to)| {
                let from = Some(declared.paths[path].from);
                to == location && course.locations.contains(&from)
            });
            let begins = match &course.liveness.from {
                From::Beginning if location == declared.entry => Predicate::Constant(true),
                From::Beginning => Predicate::Constant(false),
                From::Whenever(from) => from.resolve(&course.named()),
            };
            let scope = Scope {
                processes: vec![Process {
                    number: 0,
                    template,
                    location,
                }],
            };
            let condition = Condition::Elsewhere {
                location: declared.locations[location].clone(),
            };
            self.judged(course, &scope, condition, &|translation| {
                let mut known = vec![translation.assume(&until, false)?];
                if !reached {
                    known.push(translation.assume(&begins, true)?);
                }
                Ok(known)
            })?;
        }
        Ok(())
    }

    fn deletion<'a>(
        &mut self,
        course: &mut Course<'a>,
        deletion: &'a Deletion,
    ) -> Result<(), Error> {
        match deletion {
            Deletion::Impossible { transitions } => {
                for transition in transitions {
                    let edge = course.edge(transition)?;
                    self.step(course, DeletionPart::Transition, edge, &|_, _, _| {
                        Ok(Formula::constant(true))
                    })?;
                    course.live.remove(&edge);
                }
            }
            Deletion::Leave { transitions } => leave(course, transitions)?,
            Deletion::Rank { terms, least } => {
                self.rank(course, terms, *least)?;
                course.settled.push(terms);
            }
            Deletion::Oneself { states } => {
                let control = states.control;
                let states = course.states(std::slice::from_ref(states))?;
                self.oneself(course, control, &states)?;
                course.delete(&states);
            }
            Deletion::Somebody {
                template: name,
                location,
                holding,
                states,
            } => {
                let template = template(course.family, name)?;
                let location = location_named(course.family, template, location)
                    .ok_or_else(|| course.refuse("there is no such label"))?;
                let holding = holding.map(|holding| self.holding(course, template, holding));
                let holding = holding.transpose()?;
                let states = course.states(states)?;
                self.somebody(course, (template, location), holding.as_ref(), &states)?;
                course.delete(&states);
            }
            Deletion::Least { least, states } => {
                let states = course.states(states)?;
                self.least(course, least, &states)?;
                course.delete(&states);
            }
            Deletion::Everybody { states } => {
                let states = course.states(states)?;
                self.everybody(course, &states)?;
                course.delete(&states);
            }
            Deletion::Promise {
                assumption,
                own,
                states,
            } => {
                let states = course.states(states)?;
                self.promise(course, (*assumption, *own), &states)?;
                course.delete(&states);
            }
        }
        Ok(())
    }

    fn rank(
        &mut self,
        course: &Course<'_>,
        terms: &[(Variable, i64)],
        least: i64,
    ) -> Result<(), Error> {
        for control in 0..course.locations.len() {
            let condition = course.condition(DeletionPart::Bounded, control, None, None);
            self.state(course, control, None, condition, true, &|_| {
                Ok(vec![less(&sum(terms)?, &Linear::number(least))?])
            })?;
        }
        for edge in &course.live {
            self.step(
                course,
                DeletionPart::Transition,
                *edge,
                &|translation, after, known| {
                    let after = after.sum(translation, terms, known)?;
                    Ok(less(&sum(terms)?, &after)?)
                },
            )?;
        }
        Ok(())
    }

    fn oneself(
        &mut self,
        course: &Course<'_>,
        control: usize,
        states: &[Option<&Formula>],
    ) -> Result<(), Error> {
        let (Some(template), Some(location)) = (course.reference(), course.locations[control])
        else {
            return Err(course.refuse("nobody in particular waits"));
        };
        scheduled(course, template, location)?;
        let moves = |edge: &&Edge| edge.control == control && edge.mover == Mover::Own;
        for edge in course.live.iter().filter(moves) {
            self.gone(course, *edge, states[control], None)?;
        }
        let condition = course.condition(DeletionPart::Enabled, control, None, None);
        let claim = self.claim;
        self.state(course, control, None, condition, true, &|translation| {
            let mut known = in_states(translation, states[control])?;
            known.extend(stands(translation, claim)?);
            Ok(known)
        })?;
        self.persists(course, states)
    }

    fn somebody(
        &mut self,
        course: &Course<'_>,
        (template, location): (TemplateId, LocationId),
        holding: Option<&(Formula, Holding)>,
        states: &[Option<&Formula>],
    ) -> Result<(), Error> {
        scheduled(course, template, location)?;
        let claim = self.claim;
        let leaves = |edge: &&Edge| {
            let from = course.path(**edge).map(|path| path.from);
            edge.mover == Mover::Other(template) && from == Some(location)
        };
        for edge in course.live.iter().filter(leaves) {
            if let Some(of) = states[edge.control] {
                self.gone(course, *edge, Some(of), holding)?;
            }
        }
        let at = Some(location.index());
        for (control, of) in states.iter().enumerate() {
            if of.is_none() {
                continue;
            }
            let here =
                course.reference() == Some(template) && course.locations[control] == Some(location);
            let condition = course.condition(DeletionPart::Present, control, Some(template), at);
            self.state(course, control, None, condition, true, &|translation| {
                let mut known = in_states(translation, *of)?;
                let count = match holding {
                    None => translation.count(template, location),
                    Some((_, holding)) => those(translation, template, location, *holding)?,
                };
                known.push(match holding.filter(|_| here) {
                    // The process that waits is one of those that are counted, or it is not.
                    Some((holds, _)) => {
                        let own = translation.rename(holds, &|_| 0)?;
                        let other = own.negation()?;
                        let alone = at_most(&count, &Linear::number(1))?;
                        let none = at_most(&count, &Linear::default())?;
                        Formula::any([Formula::all([own, alone]), Formula::all([other, none])])
                    }
                    None => at_most(&count, &Linear::number(i64::from(here)))?,
                });
                Ok(known)
            })?;
            let condition = course.condition(DeletionPart::Enabled, control, Some(template), at);
            let other = Some((template, location));
            self.state(course, control, other, condition, true, &|translation| {
                let number = translation.scope.processes.len() as u32 - 1;
                let mut known = in_states(translation, *of)?;
                if let Some((holds, _)) = holding {
                    known.push(translation.rename(holds, &|_| number)?);
                }
                known.extend(stands(translation, claim)?);
                Ok(known)
            })?;
        }
        self.persists(course, states)
    }

    fn everybody(&mut self, course: &Course<'_>, states: &[Option<&Formula>]) -> Result<(), Error> {
        let (family, claim) = (course.family, self.claim);
        for (control, of) in states.iter().enumerate() {
            if of.is_none() {
                continue;
            }
            for edge in course.live.iter().filter(|edge| edge.control == control) {
                self.gone(course, *edge, *of, None)?;
            }
            let own = course.reference().zip(course.locations[control]);
            let condition = match own {
                Some(_) => course.condition(DeletionPart::Enabled, control, None, None),
                None => course.condition(DeletionPart::Present, control, None, None),
            };
            self.state(course, control, None, condition, true, &|translation| {
                let mut known = in_states(translation, *of)?;
                match own {
                    Some(_) => known.extend(resting(translation, claim)?),
                    None => {
                        for template in family.templates.indices() {
                            let population = translation.population(template)?;
                            known.push(at_most(&population, &Linear::default())?);
                        }
                    }
                }
                Ok(known)
            })?;
            for (template, declared) in family.templates.iter_enumerated() {
                if !course.has_others(template) {
                    continue;
                }
                for location in declared.locations.indices() {
                    let at = Some(location.index());
                    let condition =
                        course.condition(DeletionPart::Enabled, control, Some(template), at);
                    let other = Some((template, location));
                    self.state(course, control, other, condition, true, &|translation| {
                        let mut known = in_states(translation, *of)?;
                        known.extend(resting(translation, claim)?);
                        Ok(known)
                    })?;
                }
            }
        }
        Ok(())
    }

    fn promise(
        &mut self,
        course: &Course<'_>,
        (assumption, own): (usize, bool),
        states: &[Option<&Formula>],
    ) -> Result<(), Error> {
        let pair = course.liveness.pairs.get(assumption);
        let pair = pair.ok_or_else(|| course.refuse("there is no such assumption"))?;
        let (cause, effect) = match (pair.of, own) {
            (None, false) => (
                pair.cause.resolve(&course.named()),
                pair.effect.resolve(&course.named()),
            ),
            (Some((var, template)), true) if course.reference() == Some(template) => {
                let names = course.named().with(var, 0);
                (pair.cause.resolve(&names), pair.effect.resolve(&names))
            }
            (Some((var, template)), false)
                if !matches!(
                    course.family.templates[template].population,
                    Population::Grows
                ) =>
            {
                let somebody = |of: &Predicate| {
                    Predicate::quantified(false, var, template, of.clone()).resolve(&course.named())
                };
                (somebody(&pair.cause), somebody(&pair.effect))
            }
            _ => return Err(course.refuse("the assumption is not about that")),
        };
        for (control, of) in states.iter().enumerate() {
            let condition = course.condition(DeletionPart::Effect, control, None, None);
            self.state(course, control, None, condition, true, &|translation| {
                Ok(vec![translation.assume(&effect, true)?])
            })?;
            if of.is_some() {
                let condition = course.condition(DeletionPart::Cause, control, None, None);
                self.state(course, control, None, condition, true, &|translation| {
                    let mut known = in_states(translation, *of)?;
                    known.push(translation.assume(&cause, false)?);
                    Ok(known)
                })?;
            }
        }
        Ok(())
    }

    /// That every live transition from these states leads to these states.
    pub(super) fn persists(
        &mut self,
        course: &Course<'_>,
        states: &[Option<&Formula>],
    ) -> Result<(), Error> {
        for edge in &course.live {
            let Some(before) = states[edge.control] else {
                continue;
            };
            let after_states = course.target(*edge).and_then(|target| states[target]);
            self.step(
                course,
                DeletionPart::Transition,
                *edge,
                &|translation, after, known| {
                    known.push(translation.rename(before, &|i| i)?);
                    Ok(match after_states {
                        Some(states) => after.formula(translation, states, known)?.negation()?,
                        None => Formula::constant(true),
                    })
                },
            )?;
        }
        Ok(())
    }

    /// That a live transition is not taken in some states, by a process that a predicate holds of.
    fn gone(
        &mut self,
        course: &Course<'_>,
        edge: Edge,
        states: Option<&Formula>,
        holding: Option<&(Formula, Holding)>,
    ) -> Result<(), Error> {
        self.step(
            course,
            DeletionPart::Gone,
            edge,
            &|translation, _, known| {
                known.extend(in_states(translation, states)?);
                Ok(match holding {
                    Some((holds, _)) => {
                        let mover = translation.scope.processes.len() as u32 - 1;
                        translation.rename(holds, &|_| mover)?
                    }
                    None => Formula::constant(true),
                })
            },
        )
    }

    /// What holds of those processes that are meant. It must be about variables of their own, which nobody else changes.
    fn holding(
        &self,
        course: &Course<'_>,
        template: TemplateId,
        holding: Holding,
    ) -> Result<(Formula, Holding), Error> {
        let counted = self.claim.counted.get(holding.predicate);
        let counted = counted.filter(|counted| counted.template == template);
        let counted = counted.ok_or_else(|| course.refuse("there is no such predicate"))?;
        super::mentioned(
            counted.predicate,
            &mut |variable| match self.table.symbol(variable)? {
                Symbol::Local(..) | Symbol::Param(_) => Ok(()),
                _ => Err(course.refuse("others may change what holds of the process")),
            },
        )?;
        let holds = match holding.holds {
            true => counted.predicate.clone(),
            false => counted.predicate.negation()?,
        };
        Ok((holds, holding))
    }

    /// A condition about a live transition: that what is asked contradicts the region before and after it.
    pub(super) fn step(
        &mut self,
        course: &Course<'_>,
        part: DeletionPart,
        edge: Edge,
        about: About<'_>,
    ) -> Result<(), Error> {
        self.step_beside(course, part, edge, None, about)
    }

    /// The same, with another process at a label that does not move.
    pub(super) fn step_beside(
        &mut self,
        course: &Course<'_>,
        part: DeletionPart,
        edge: Edge,
        bystander: Option<(TemplateId, LocationId)>,
        about: About<'_>,
    ) -> Result<(), Error> {
        self.go_on()?;
        let (Some(path), Some(target)) = (course.path(edge), course.target(edge)) else {
            return Err(course.refuse("there is no such transition"));
        };
        let PathEnd::At(to) = path.end else {
            return Err(course.refuse("there is no such transition"));
        };
        let other = match edge.mover {
            Mover::Own => None,
            Mover::Other(template) => Some((template, path.from)),
        };
        let scope = course.scope(edge.control, bystander.into_iter().chain(other));
        let mover = match (edge.mover, scope.processes.first(), scope.processes.last()) {
            (Mover::Own, Some(own), _) => *own,
            (Mover::Other(_), _, Some(other)) => *other,
            _ => return Err(course.refuse("nobody moves")),
        };
        let mut translation = Translation::new(self.family, &scope, &mut self.table);
        let mut known = facts(&mut translation, self.claim)?;
        known.extend(assertions(&mut translation, self.claim)?);
        let names = Names {
            own: Some(mover.number),
            bound: Vec::new(),
        };
        for guard in &path.guard {
            known.push(translation.assume(&guard.resolve(&names), true)?);
        }
        let mut after = After::new(self.claim, path, mover, to, Vec::new())
            .of_stranger(edge.mover != Mover::Own);
        known.extend(after.facts(&mut translation)?);
        for region in course.region(edge.control)? {
            known.push(translation.rename(&region, &|i| i)?);
        }
        for region in course.region(target)? {
            let holds = after.formula(&mut translation, &region, &mut known)?;
            known.push(holds);
        }
        for terms in &course.settled {
            let after = after.sum(&mut translation, terms, &mut known)?;
            known.push(at_most(&sum(terms)?, &after)?);
        }
        let wrong = about(&mut translation, &mut after, &mut known)?;
        known.push(wrong);
        known.extend(translation.take_facts());
        self.judge.push(&self.table, &known)?;
        let condition = course.condition_of(part, edge);
        let (what, span) = (words(course, &condition), path.span);
        self.judge
            .judge(&self.table, &condition, &|_| (what.clone(), Some(span)))?;
        self.judge.pop()
    }

    /// A condition about states at a control, perhaps with another process somewhere: that what is asked contradicts the region.
    pub(super) fn state(
        &mut self,
        course: &Course<'_>,
        control: usize,
        other: Option<(TemplateId, LocationId)>,
        condition: Condition,
        in_region: bool,
        about: &dyn Fn(&mut Translation<'_, '_>) -> Result<Vec<Formula>, Error>,
    ) -> Result<(), Error> {
        let scope = course.scope(control, other);
        let region = match in_region {
            true => course.region(control)?,
            false => Vec::new(),
        };
        self.judged(course, &scope, condition, &|translation| {
            let mut known = Vec::new();
            for region in &region {
                known.push(translation.rename(region, &|i| i)?);
            }
            known.extend(about(translation)?);
            Ok(known)
        })
    }

    fn judged(
        &mut self,
        course: &Course<'_>,
        scope: &Scope,
        condition: Condition,
        about: &dyn Fn(&mut Translation<'_, '_>) -> Result<Vec<Formula>, Error>,
    ) -> Result<(), Error> {
        self.go_on()?;
        let mut translation = Translation::new(self.family, scope, &mut self.table);
        let mut known = facts(&mut translation, self.claim)?;
        known.extend(assertions(&mut translation, self.claim)?);
        known.extend(about(&mut translation)?);
        known.extend(translation.take_facts());
        self.judge.push(&self.table, &known)?;
        let what = words(course, &condition);
        let span: Option<Span> = property_span(self.family, self.property);
        self.judge
            .judge(&self.table, &condition, &|_| (what.clone(), span))?;
        self.judge.pop()
    }
}

/// A sum of multiples of variables of the claim, before a step.
fn sum(terms: &[(Variable, i64)]) -> Result<Linear, Error> {
    let mut sum = Linear::default();
    for (variable, factor) in terms {
        sum.add(*factor, &Linear::variable(*variable))?;
    }
    Ok(sum)
}

/// How many processes at a label a counted predicate holds of, or does not.
fn those(
    translation: &mut Translation<'_, '_>,
    template: TemplateId,
    location: LocationId,
    holding: Holding,
) -> Result<Linear, Error> {
    let name = counted_name(translation.family, template, location, holding.predicate);
    let holds = translation.variable(name);
    match holding.holds {
        true => Ok(holds),
        false => Ok(translation.count(template, location).minus(&holds)?),
    }
}

/// What a condition of a liveness property is about, for messages.
fn words(course: &Course<'_>, condition: &Condition) -> String {
    match course.claim.deletions.get(course.deletion) {
        _ if matches!(condition, Condition::Defined { .. }) => {
            "its predicates can be evaluated in all states".to_owned()
        }
        Some(_) => format!("deletion {} is right", course.deletion),
        None => "after all deletions, nothing is left".to_owned(),
    }
}

/// That a process at a label is scheduled and moves then, if it has a step.
pub(super) fn scheduled(
    course: &Course<'_>,
    template: TemplateId,
    location: LocationId,
) -> Result<(), Error> {
    if !course.liveness.unconditional {
        return Err(course.refuse("processes need not be scheduled"));
    }
    match course.family.templates[template].rests.contains(&location) {
        true => Err(course.refuse("a process may rest at the label")),
        false => Ok(()),
    }
}

/// That the state is one of those that are deleted.
pub(super) fn in_states(
    translation: &mut Translation<'_, '_>,
    states: Option<&Formula>,
) -> Result<Vec<Formula>, Error> {
    let states = states.map(|states| translation.rename(states, &|i| i));
    states.into_iter().collect()
}

/// What is known of a process that may do nothing when it is scheduled.
fn resting(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
) -> Result<Vec<Formula>, Error> {
    let family = translation.family;
    let rests = translation.scope.processes.last().is_some_and(|process| {
        let template = &family.templates[process.template];
        template.rests.contains(&process.location)
    });
    match rests {
        true => Ok(Vec::new()),
        false => stands(translation, claim),
    }
}

/// What is known if the last process in scope has no step.
pub(super) fn stands(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
) -> Result<Vec<Formula>, Error> {
    let mut next = translation.scope.processes.len() as u32;
    match translation.scope.processes.last().copied() {
        Some(process) => closed(translation, claim, process, &mut next),
        None => Ok(Vec::new()),
    }
}

/// Takes away transitions of the process that waits which are on no cycle.
fn leave(course: &mut Course<'_>, transitions: &[Transition]) -> Result<(), Error> {
    let mut leaving = Vec::new();
    for transition in transitions {
        let edge = course.edge(transition)?;
        let back = course.target(edge).is_none_or(|target| {
            let mut reached = BTreeSet::from([target]);
            let mut open = vec![target];
            while let Some(control) = open.pop() {
                let from = course.live.iter().filter(|edge| edge.control == control);
                let next = from.filter_map(|edge| course.target(*edge));
                open.extend(next.filter(|next| reached.insert(*next)));
            }
            reached.contains(&edge.control)
        });
        if back || edge.mover != Mover::Own {
            return Err(course.refuse("a transition leads back"));
        }
        leaving.push(edge);
    }
    for edge in leaving {
        course.live.remove(&edge);
    }
    Ok(())
}
