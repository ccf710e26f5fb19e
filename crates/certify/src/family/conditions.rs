//! What has to be shown of a claim about all values of the parameters.
//!
//! 1. *Instance*: every value of the parameters that `where` allows has an instance.
//! 2. *Initial*: the assertions hold at first.
//! 3. *Step*: the assertions of a view hold after each step, if those of all views held before it. The step is that of a reference of the view, or of one
//!    more process; some references may be started by it.
//! 4. *Property*: the assertions exclude what violates the invariant; or that a *check* fails; or a *deadlock* (`deadlock`).
//!
//! Each is a list of hypotheses and the negation of a goal, which contradict each other. A judge is given them, hypotheses that
//! conditions share once.

use std::collections::BTreeSet;

use threadwise_evidence::CheckName;
use threadwise_evidence::arithmetic::Formula;
use threadwise_evidence::family::{Condition, Reference};
use threadwise_lang::program::{LocationId, Span, TemplateId};
use threadwise_model::family::{
    Conjunct, Family, Formula as Guard, Names, Path, PathEnd, Population, Term,
};

use super::after::After;
use super::entries::{Said, entries};
use super::linear::{Linear, at_most, equal, less, substitute};
use super::names::{Place, Symbol, Table, counted_name, id_name};
use super::scope::{Process, Scope, assertions, assumptions, facts};
use super::translate::Translation;
use super::{Claimed, Counted, among, sums};
use crate::Error;

/// Decides whether what it was given is contradictory.
pub trait Judge {
    /// Gives it formulas that hold until the next `pop`.
    fn push(&mut self, table: &Table, formulas: &[Formula]) -> Result<(), Error>;

    /// Takes back the formulas that it was given last.
    fn pop(&mut self) -> Result<(), Error>;

    /// Asks whether the formulas that it has are contradictory, for a condition. What this is about can be asked for.
    fn judge(
        &mut self,
        table: &Table,
        condition: &Condition,
        about: &dyn Fn(&Table) -> (String, Option<Span>),
    ) -> Result<(), Error>;
}

/// Lists the conditions of a claim for a judge.
pub(crate) struct Lister<'a, J> {
    pub(crate) family: &'a Family,
    pub(crate) claim: &'a Claimed<'a>,
    pub(crate) property: &'a str,
    pub(crate) table: Table,
    pub(crate) judge: J,
    pub(crate) stop: &'a dyn Fn() -> bool,
    pub(crate) conditions: u64,
    /// The comparisons that have been shown to be orders.
    pub(crate) orders: BTreeSet<usize>,
}

/// The steps of a process from a label to states that a view fits.
struct Steps<'a> {
    view: usize,
    /// The reference that moves, if one does.
    mover: Option<usize>,
    template: TemplateId,
    from: LocationId,
    /// The references that are started.
    started: &'a [usize],
}

impl<J: Judge> Lister<'_, J> {
    /// Counts a condition.
    pub(super) fn go_on(&mut self) -> Result<(), Error> {
        self.conditions += 1;
        self.ask()
    }

    /// Asks whether to give up.
    fn ask(&self) -> Result<(), Error> {
        match (self.stop)() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// That every allowed value of the parameters has an instance.
    pub(crate) fn instance(&mut self) -> Result<(), Error> {
        for (number, requirement) in self.family.requirements.iter().enumerate() {
            self.go_on()?;
            let mut scope = Scope::default();
            let mut names = Names::default();
            if let Some(template) = requirement.of {
                names.own = Some(0);
                scope.processes.push(Process {
                    number: 0,
                    template,
                    location: self.family.templates[template].entry,
                });
            }
            let mut translation = Translation::new(self.family, &scope, &mut self.table);
            translation.at_first = true;
            let mut known = assumptions(&mut translation)?;
            if let Some(template) = requirement.of {
                let own = translation.variable(id_name(0));
                known.push(at_most(&Linear::default(), &own)?);
                // Of a template that grows there can be any number of processes later.
                let declared = &self.family.templates[template].population;
                if let Population::Between(..) = declared {
                    known.push(less(&own, &translation.population(template)?)?);
                }
            }
            known.push(translation.assume(&requirement.formula.resolve(&names), false)?);
            known.extend(translation.take_facts());
            self.judge.push(&self.table, &known)?;
            let condition = Condition::Instance {
                requirement: number,
            };
            self.judge.judge(&self.table, &condition, &|_| {
                let what = "every value of the parameters that `where` allows has an instance";
                (what.to_owned(), Some(requirement.span))
            })?;
            self.judge.pop()?;
        }
        Ok(())
    }

    /// That assertions hold at first.
    pub(crate) fn initial(&mut self) -> Result<(), Error> {
        let claim = self.claim;
        for (number, view) in claim.views.iter().enumerate() {
            let begins = |(template, location): &(TemplateId, LocationId)| {
                let template = &self.family.templates[*template];
                *location == template.entry && !matches!(template.population, Population::Grows)
            };
            if !view.references.iter().all(begins) {
                continue;
            }
            let scope = of_references(&view.references);
            let mut translation = Translation::new(self.family, &scope, &mut self.table);
            let mut known = facts(&mut translation, claim)?;
            known.extend(at_first(&mut translation, claim)?);
            known.extend(translation.take_facts());
            self.judge.push(&self.table, &known)?;
            for (assertion, formula) in view.assertions.iter().enumerate() {
                self.go_on()?;
                let mut translation = Translation::new(self.family, &scope, &mut self.table);
                let wrong = translation.rename(formula, &|i| i)?.negation()?;
                self.judge.push(&self.table, &[wrong])?;
                let condition = Condition::Initial {
                    view: number,
                    assertion,
                };
                let family = self.family;
                self.judge.judge(&self.table, &condition, &|table| {
                    let asserted = asserted(family, table, &view.references, formula);
                    (format!("{asserted} holds at first"), None)
                })?;
                self.judge.pop()?;
            }
            self.judge.pop()?;
        }
        Ok(())
    }

    /// That assertions hold after every step.
    pub(crate) fn steps(&mut self) -> Result<(), Error> {
        let claim = self.claim;
        let family = self.family;
        for (view, claimed) in claim.views.iter().enumerate() {
            if claimed.assertions.is_empty() {
                continue;
            }
            let references = claimed.references.iter().enumerate();
            let moved = references.map(|(i, (template, _))| (Some(i), *template));
            let others = family.templates.indices().map(|template| (None, template));
            for (mover, template) in moved.chain(others) {
                let new = claimed.references.iter().enumerate();
                let new = new.filter(|(i, (template, location))| {
                    let template = &family.templates[*template];
                    let grows = matches!(template.population, Population::Grows);
                    Some(*i) != mover && grows && *location == template.entry
                });
                let new: Vec<usize> = new.map(|(i, _)| i).collect();
                for started in subsets(&new) {
                    for from in family.templates[template].locations.indices() {
                        self.steps_of(&Steps {
                            view,
                            mover,
                            template,
                            from,
                            started: &started,
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn steps_of(&mut self, steps: &Steps<'_>) -> Result<(), Error> {
        let (family, claim) = (self.family, self.claim);
        let view = &claim.views[steps.view];
        let starts_enough = |path: &Path| {
            let of = |template: TemplateId| {
                let started = steps.started.iter();
                let started = started.filter(|i| view.references[**i].0 == template);
                started.count() <= path.starts_of(template)
            };
            family.templates.indices().all(of)
        };
        let paths = family.templates[steps.template].paths.iter().enumerate();
        let paths = paths.filter_map(|(number, path)| match path.end {
            PathEnd::At(to) => Some((number, path, to)),
            PathEnd::Fails(..) => None,
        });
        let paths: Vec<_> = paths
            .filter(|(_, path, to)| {
                let arrives = steps.mover.is_none_or(|i| view.references[i].1 == *to);
                path.from == steps.from && arrives && starts_enough(path)
            })
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        self.ask()?;
        let everybody = of_references(&view.references).processes;
        let mover = Process {
            number: steps.mover.unwrap_or(view.references.len()) as u32,
            template: steps.template,
            location: steps.from,
        };
        let (mut started, mut scope) = (Vec::new(), Scope::default());
        for process in everybody {
            if steps.started.contains(&(process.number as usize)) {
                started.push(process);
            } else if process.number != mover.number {
                scope.processes.push(process);
            } else {
                scope.processes.push(mover);
            }
        }
        if steps.mover.is_none() {
            scope.processes.push(mover);
        }
        let mut translation = Translation::new(family, &scope, &mut self.table);
        let mut before = facts(&mut translation, claim)?;
        before.extend(assertions(&mut translation, claim)?);
        before.extend(translation.take_facts());
        let described = translation.described();
        self.judge.push(&self.table, &before)?;
        for (number, path, to) in paths {
            let mut translation = Translation::new(family, &scope, &mut self.table);
            translation.describe_again(described.clone());
            let names = Names {
                own: Some(mover.number),
                bound: Vec::new(),
            };
            let mut known = Vec::new();
            let guards = resolved(path, &names);
            for guard in &guards {
                known.push(translation.assume(guard, true)?);
            }
            let mut after = After::new(claim, path, mover, to, started.clone())
                .of_stranger(steps.mover.is_none());
            known.extend(after.facts(&mut translation)?);
            let mut wrong = Vec::with_capacity(view.assertions.len());
            for assertion in view.assertions {
                let holds = after.formula(&mut translation, assertion, &mut known)?;
                wrong.push(holds.negation()?);
            }
            known.extend(translation.take_facts());
            let said = Said {
                formulas: &guards,
                holds: true,
                writes: after.writes(),
                processes: &[mover],
                first: (view.references.len() + usize::from(steps.mover.is_none())) as u32,
            };
            let everywhere = [before.as_slice(), known.as_slice()];
            let table = &mut self.table;
            let more = entries(family, &scope, table, claim, &said, &everywhere)?;
            known.extend(more);
            self.judge.push(&self.table, &known)?;
            for (assertion, wrong) in wrong.into_iter().enumerate() {
                self.go_on()?;
                self.judge.push(&self.table, &[wrong])?;
                let condition = Condition::Step {
                    view: steps.view,
                    assertion,
                    mover: steps.mover,
                    template: family.templates[steps.template].name.clone(),
                    path: number,
                    started: steps.started.to_vec(),
                };
                let formula = &view.assertions[assertion];
                self.judge.judge(&self.table, &condition, &|table| {
                    let asserted = asserted(family, table, &view.references, formula);
                    let whose = match steps.mover {
                        Some(i) => format!("its reference ${i}"),
                        None => "another process".to_owned(),
                    };
                    let step = step_name(family, steps.template, path, Some(to));
                    let what = format!("{asserted} holds after {step}, by {whose}");
                    (what, Some(path.span))
                })?;
                self.judge.pop()?;
            }
            self.judge.pop()?;
        }
        self.judge.pop()
    }

    /// That no check fails.
    pub(crate) fn checks(&mut self) -> Result<(), Error> {
        let family = self.family;
        for (template, declared) in family.templates.iter_enumerated() {
            for (number, path) in declared.paths.iter().enumerate() {
                let PathEnd::Fails(kind, span) = path.end else {
                    continue;
                };
                self.go_on()?;
                let scope = of_references(&[(template, path.from)]);
                let mut translation = Translation::new(family, &scope, &mut self.table);
                let mut known = facts(&mut translation, self.claim)?;
                known.extend(assertions(&mut translation, self.claim)?);
                let names = Names {
                    own: Some(0),
                    bound: Vec::new(),
                };
                let guards = resolved(path, &names);
                for guard in &guards {
                    known.push(translation.assume(guard, true)?);
                }
                known.extend(translation.take_facts());
                let said = Said {
                    formulas: &guards,
                    holds: true,
                    writes: &[],
                    processes: &scope.processes,
                    first: 1,
                };
                let (table, claim) = (&mut self.table, self.claim);
                let more = entries(family, &scope, table, claim, &said, &[&known])?;
                known.extend(more);
                self.judge.push(&self.table, &known)?;
                let condition = Condition::Check {
                    template: declared.name.clone(),
                    path: number,
                };
                self.judge.judge(&self.table, &condition, &|_| {
                    let step = step_name(family, template, path, None);
                    let check = CheckName::from(kind);
                    let what = format!("{step} does not fail a check, because {check}");
                    (what, Some(span))
                })?;
                self.judge.pop()?;
            }
        }
        Ok(())
    }

    /// That an invariant holds.
    pub(crate) fn invariant(&mut self, conjuncts: &[Conjunct]) -> Result<(), Error> {
        let family = self.family;
        for (number, conjunct) in conjuncts.iter().enumerate() {
            let templates: Vec<TemplateId> = conjunct.variables.iter().map(|(_, t)| *t).collect();
            for (of, names) in identifications(&templates) {
                for references in placements(family, &of) {
                    self.go_on()?;
                    let scope = of_references(&references);
                    let mut translation = Translation::new(family, &scope, &mut self.table);
                    let mut known = facts(&mut translation, self.claim)?;
                    known.extend(assertions(&mut translation, self.claim)?);
                    let mut resolved = Names::default();
                    for ((var, _), name) in conjunct.variables.iter().zip(&names) {
                        resolved = resolved.with(*var, *name as u32);
                    }
                    let body = conjunct.body.resolve(&resolved);
                    known.push(translation.assume(&body, false)?);
                    known.extend(translation.take_facts());
                    let said = Said {
                        formulas: std::slice::from_ref(&body),
                        holds: false,
                        writes: &[],
                        processes: &scope.processes,
                        first: references.len() as u32,
                    };
                    let (table, claim) = (&mut self.table, self.claim);
                    let more = entries(family, &scope, table, claim, &said, &[&known])?;
                    known.extend(more);
                    self.judge.push(&self.table, &known)?;
                    let condition = Condition::Property {
                        conjunct: number,
                        references: references.iter().map(|r| named(family, *r)).collect(),
                        names: names.clone(),
                    };
                    let property = self.property;
                    self.judge.judge(&self.table, &condition, &|_| {
                        let where_they_are = where_they_are(family, &references);
                        let what = format!("`{property}` is not violated{where_they_are}");
                        (what, property_span(family, property))
                    })?;
                    self.judge.pop()?;
                }
            }
        }
        Ok(())
    }
}

/// The guards of a path, with the names that are known.
fn resolved(path: &Path, names: &Names) -> Vec<Guard> {
    let guards = path.guard.iter();
    guards.map(|guard| guard.resolve(names)).collect()
}

/// What holds in initial states.
fn at_first(
    translation: &mut Translation<'_, '_>,
    claim: &Claimed<'_>,
) -> Result<Vec<Formula>, Error> {
    let family = translation.family;
    let scope = translation.scope;
    let zero = Linear::default();
    let mut known = Vec::new();
    for (id, template) in family.templates.iter_enumerated() {
        let grows = matches!(template.population, Population::Grows);
        for location in template.locations.indices() {
            if grows || location != template.entry {
                known.push(equal(&translation.count(id, location), &zero)?);
            }
        }
    }
    for (variable, own, cell) in scope.cells(family) {
        if let Some(initial) = &variable.initial {
            let names = Names {
                own,
                bound: Vec::new(),
            };
            let initial = translation.linear(&initial.resolve(&names))?;
            let value = translation.linear(&Term::Cell(cell))?;
            known.push(equal(&value, &initial)?);
        }
    }
    for predicate in &family.initially {
        known.push(translation.assume(predicate, true)?);
    }
    for (number, counted) in claim.counted.iter().enumerate() {
        let template = &family.templates[counted.template];
        for location in template.locations.indices() {
            let which = counted_name(family, counted.template, location, number);
            let which = translation.variable(which);
            if location != template.entry || matches!(template.population, Population::Grows) {
                known.push(equal(&which, &zero)?);
                continue;
            }
            let count = translation.count(counted.template, location);
            if let Some(holds) = uniform(translation, counted)? {
                let fails = holds.negation()?;
                known.push(Formula::any([
                    Formula::all([holds, equal(&which, &count)?]),
                    Formula::all([fails, equal(&which, &zero)?]),
                ]));
            }
        }
    }
    known.extend(sums::at_first(translation)?);
    known.extend(among::at_first(translation, claim)?);
    Ok(known)
}

/// A counted predicate with what the variables of a process begin with, if that is the same for all processes.
fn uniform(
    translation: &mut Translation<'_, '_>,
    counted: &Counted<'_>,
) -> Result<Option<Formula>, Error> {
    let family = translation.family;
    let mut same = true;
    let formula = substitute(counted.predicate, &mut |variable| {
        let symbol = translation.table.symbol(variable)?.clone();
        let declared = match &symbol {
            Symbol::Param(_)
            | Symbol::Count(..)
            | Symbol::Counted(..)
            | Symbol::Sum(..)
            | Symbol::Compared(_) => {
                return Ok(Linear::variable(variable));
            }
            Symbol::Id(_) => None,
            Symbol::Shared(var, places) => {
                if places.iter().all(|p| matches!(p, Place::Position(_))) {
                    return Ok(Linear::variable(variable));
                }
                Some(&family.shared[*var])
            }
            Symbol::Local(_, name, _) => {
                let mut locals = family.templates[counted.template].locals.iter();
                locals.find(|local| local.name == *name)
            }
        };
        let initial = declared.and_then(|variable| variable.initial.as_ref());
        // A term that mentions the process is another one when it is somebody.
        let somebody = Names {
            own: Some(0),
            bound: Vec::new(),
        };
        match initial {
            Some(initial) if initial.resolve(&somebody) == *initial => translation.linear(initial),
            _ => {
                same = false;
                Ok::<_, Error>(Linear::default())
            }
        }
    })?;
    Ok(same.then_some(formula))
}

/// The processes of a view, as references of its own.
fn of_references(references: &[(TemplateId, LocationId)]) -> Scope {
    let processes = references.iter().zip(0..);
    let processes = processes.map(|((template, location), number)| Process {
        number,
        template: *template,
        location: *location,
    });
    Scope {
        processes: processes.collect(),
    }
}

/// All subsets, the empty one first.
fn subsets(of: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for item in of {
        let with = all.iter().map(|subset| {
            let mut subset: Vec<usize> = subset.clone();
            subset.push(*item);
            subset
        });
        let with: Vec<_> = with.collect();
        all.extend(with);
    }
    all
}

/// All ways in which variables of templates can be the same processes: the templates of the processes, and which one each variable is. Processes are numbered in the order in which variables
/// name them first.
fn identifications(variables: &[TemplateId]) -> Vec<(Vec<TemplateId>, Vec<usize>)> {
    let mut ways = vec![(Vec::new(), Vec::new())];
    for variable in variables {
        let mut further = Vec::new();
        for (processes, names) in ways {
            for name in 0..=processes.len() {
                let (mut processes, mut names) = (processes.clone(), names.clone());
                match processes.get(name) {
                    None => processes.push(*variable),
                    Some(template) if template == variable => {}
                    Some(_) => continue,
                }
                names.push(name);
                further.push((processes, names));
            }
        }
        ways = further;
    }
    ways
}

/// All ways to put processes of templates at labels, one after the other: there can be many.
fn placements<'f>(
    family: &'f Family,
    of: &'f [TemplateId],
) -> impl Iterator<Item = Vec<(TemplateId, LocationId)>> + 'f {
    let labels = |template: TemplateId| family.templates[template].locations.len();
    let ways = of.iter().map(|template| labels(*template) as u128);
    let ways = ways.fold(1, u128::saturating_mul);
    (0..ways).map(move |mut way| {
        let mut placed = Vec::with_capacity(of.len());
        for template in of {
            let labels = labels(*template) as u128;
            let label = LocationId::from_usize((way % labels) as usize);
            placed.push((*template, label));
            way /= labels;
        }
        placed
    })
}

fn named(family: &Family, (template, location): (TemplateId, LocationId)) -> Reference {
    let template = &family.templates[template];
    Reference {
        template: template.name.clone(),
        location: template.locations[location].clone(),
    }
}

/// "with $0 of P at l, $1 of P at m".
fn where_they_are(family: &Family, references: &[(TemplateId, LocationId)]) -> String {
    let each = references.iter().enumerate().map(|(i, reference)| {
        let Reference { template, location } = named(family, *reference);
        format!("${i} of {template} at {location}")
    });
    let each: Vec<String> = each.collect();
    match each.is_empty() {
        true => String::new(),
        false => format!(" with {}", each.join(", ")),
    }
}

fn asserted(
    family: &Family,
    table: &Table,
    references: &[(TemplateId, LocationId)],
    formula: &Formula,
) -> String {
    let where_they_are = where_they_are(family, references);
    format!("the assertion `{}`{where_they_are}", table.formula(formula))
}

fn step_name(family: &Family, template: TemplateId, path: &Path, to: Option<LocationId>) -> String {
    let template = &family.templates[template];
    let from = &template.locations[path.from];
    match to {
        Some(to) => format!(
            "the step of {} from `{from}` to `{}`",
            template.name, template.locations[to]
        ),
        None => format!("the step of {} from `{from}`", template.name),
    }
}

pub(super) fn property_span(family: &Family, name: &str) -> Option<Span> {
    let mut properties = family.program().properties.iter();
    let property = properties.find(|property| property.name == name)?;
    Some(property.span)
}
