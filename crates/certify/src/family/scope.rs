//! The processes that a condition is about, and what holds of them in every state.

use threadwise_evidence::arithmetic::Formula;
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Cell, Dimension, Family, FamilyVariable, Index, Population, Term};

use super::linear::{Linear, at_most, differ, equal, less};
use super::names::{counted_name, id_name, indicator_name};
use super::translate::Translation;
use super::{Claimed, View, compared, sums};
use crate::Error;

/// A process that a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number: it is `$number`.
    pub(crate) number: u32,
    /// Its template.
    pub(crate) template: TemplateId,
    /// Where it is.
    pub(crate) location: LocationId,
}

/// The processes that a condition is about: all different.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) processes: Vec<Process>,
}

impl Scope {
    /// The process with a number.
    pub(crate) fn get(&self, number: u32) -> Option<&Process> {
        self.processes.iter().find(|p| p.number == number)
    }

    /// The processes of a template.
    pub(crate) fn of(&self, template: TemplateId) -> impl Iterator<Item = &Process> {
        let all = self.processes.iter();
        all.filter(move |process| process.template == template)
    }

    /// The processes of a template at a label.
    pub(crate) fn at(
        &self,
        template: TemplateId,
        location: LocationId,
    ) -> impl Iterator<Item = &Process> {
        self.of(template).filter(move |p| p.location == location)
    }

    /// All ways to index these dimensions by numbers and processes in scope.
    fn indices(&self, dims: &[Dimension]) -> Vec<Vec<Index>> {
        let mut ways = vec![Vec::new()];
        for dim in dims {
            let each: Vec<Index> = match dim {
                Dimension::Positions { lowest, size } => (0..i64::from(*size))
                    .map(|offset| Index::Position(lowest.saturating_add(offset)))
                    .collect(),
                Dimension::Processes(template) => {
                    let each = self.of(*template).map(|p| Term::Reference(p.number));
                    each.map(Index::Process).collect()
                }
            };
            let further = ways.iter().flat_map(|way: &Vec<Index>| {
                each.iter().map(|index| {
                    let mut way = way.clone();
                    way.push(index.clone());
                    way
                })
            });
            ways = further.collect();
        }
        ways
    }

    /// The cells of shared variables that processes in scope name, and those of their own variables.
    pub(crate) fn cells<'f>(
        &self,
        family: &'f Family,
    ) -> Vec<(&'f FamilyVariable, Option<u32>, Cell)> {
        let mut cells = Vec::new();
        for (var, variable) in family.shared.iter_enumerated() {
            for indices in self.indices(&variable.dims) {
                cells.push((variable, None, Cell::Shared { var, indices }));
            }
        }
        for process in &self.processes {
            let locals = &family.templates[process.template].locals;
            for (var, variable) in locals.iter_enumerated() {
                for indices in self.indices(&variable.dims) {
                    let cell = Cell::Local {
                        template: process.template,
                        process: Box::new(Term::Reference(process.number)),
                        var,
                        indices,
                    };
                    cells.push((variable, Some(process.number), cell));
                }
            }
        }
        cells
    }
}

/// What holds in every state, whatever a claim says.
pub(crate) fn facts(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
) -> Result<Vec<Formula>, Error> {
    let family = translation.family;
    let scope = translation.scope;
    let mut facts = assumptions(translation)?;
    let zero = Linear::default();
    for (template, declared) in family.templates.iter_enumerated() {
        let population = translation.population(template)?;
        for location in declared.locations.indices() {
            let here = scope.at(template, location).count();
            let count = translation.count(template, location);
            facts.push(at_most(&Linear::number(here as i64), &count)?);
        }
        let present = Linear::number(scope.of(template).count() as i64);
        facts.push(at_most(&present, &population)?);
        if let Population::Between(lo, hi) = &declared.population {
            let size = translation.linear(hi)?.minus(&translation.linear(lo)?)?;
            let size = size.plus_number(1)?;
            facts.push(Formula::any([
                Formula::all([at_most(&zero, &size)?, equal(&population, &size)?]),
                Formula::all([less(&size, &zero)?, equal(&population, &zero)?]),
            ]));
        }
        let ids: Vec<Linear> = scope
            .of(template)
            .map(|process| translation.variable(id_name(process.number)))
            .collect();
        for (position, id) in ids.iter().enumerate() {
            facts.push(at_most(&zero, id)?);
            facts.push(less(id, &population)?);
            for other in &ids[..position] {
                facts.push(differ(other, id)?);
            }
        }
    }
    for (variable, _, cell) in scope.cells(family) {
        let value = translation.linear(&Term::Cell(cell))?;
        facts.extend(within_type(translation, variable, &value)?);
    }
    compared::counted(translation, claim, &mut facts)?;
    for (number, counted) in claim.counted.iter().enumerate() {
        for process in scope.of(counted.template) {
            let holds = translation.rename(counted.predicate, &|_| process.number)?;
            let indicator = translation.variable(indicator_name(process.number, number));
            facts.extend(indicates(&indicator, holds)?);
        }
        for location in family.templates[counted.template].locations.indices() {
            let name = counted_name(family, counted.template, location, number);
            let which = translation.variable(name);
            let count = translation.count(counted.template, location);
            facts.push(at_most(&zero, &which)?);
            facts.push(at_most(&which, &count)?);
            let (mut holding, mut here) = (Linear::default(), 0);
            for process in scope.at(counted.template, location) {
                let name = indicator_name(process.number, number);
                holding = holding.plus(&translation.variable(name))?;
                here += 1;
            }
            facts.push(at_most(&holding, &which)?);
            let failing = Linear::number(here).minus(&holding)?;
            facts.push(at_most(&failing, &count.minus(&which)?)?);
        }
    }
    facts.extend(sums::facts(translation)?);
    Ok(facts)
}

/// What `where` says.
pub(crate) fn assumptions(translation: &mut Translation<'_, '_>) -> Result<Vec<Formula>, Error> {
    let assumptions = translation.family.assumptions.iter();
    assumptions
        .map(|assumption| translation.assume(assumption, true))
        .collect()
}

/// That a value is inside the type of a variable.
pub(crate) fn within_type(
    translation: &mut Translation<'_, '_>,
    variable: &FamilyVariable,
    value: &Linear,
) -> Result<Vec<Formula>, Error> {
    let mut facts = Vec::new();
    if let Some(least) = &variable.least {
        facts.push(at_most(&translation.linear(least)?, value)?);
    }
    if let Some(greatest) = &variable.greatest {
        facts.push(at_most(value, &translation.linear(greatest)?)?);
    }
    Ok(facts)
}

/// That a variable is 1 if a formula holds, and 0 otherwise.
pub(crate) fn indicates(indicator: &Linear, holds: Formula) -> Result<Vec<Formula>, Error> {
    let (zero, one) = (Linear::default(), Linear::number(1));
    let fails = holds.negation()?;
    Ok(vec![
        at_most(&zero, indicator)?,
        at_most(indicator, &one)?,
        Formula::any([
            Formula::all([holds, equal(indicator, &one)?]),
            Formula::all([fails, equal(indicator, &zero)?]),
        ]),
    ])
}

/// The assertions of all views that fit processes in scope, in every way they do.
pub(crate) fn assertions(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
) -> Result<Vec<Formula>, Error> {
    let mut found = Vec::new();
    for view in &claim.views {
        let mut ways = Vec::new();
        injections(translation.scope, view, &mut Vec::new(), &mut ways);
        for way in ways {
            for assertion in view.assertions {
                found.push(translation.rename(assertion, &|i| way[i as usize])?);
            }
        }
    }
    Ok(found)
}

/// For each way to find the references of a view in scope, the numbers of the processes that they are.
fn injections(scope: &Scope, view: &View<'_>, chosen: &mut Vec<u32>, ways: &mut Vec<Vec<u32>>) {
    let Some((template, location)) = view.references.get(chosen.len()) else {
        ways.push(chosen.clone());
        return;
    };
    for process in scope.at(*template, *location) {
        if !chosen.contains(&process.number) {
            chosen.push(process.number);
            injections(scope, view, chosen, ways);
            chosen.pop();
        }
    }
}
