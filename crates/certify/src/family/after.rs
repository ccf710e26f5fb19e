//! The values after a step, as sums over the state before it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Formula, Variable};
use threadwise_lang::program::{LocationId, TemplateId};
use threadwise_model::family::{Cell, FamilyVariable, Index, Names, Path, Population, Term, Write};

use super::linear::{Linear, at_most, differ, equal, less, of_atom, substitute};
use super::names::{Compared, Place, Symbol, counted_name, id_name, indicator_name};
use super::scope::{Process, indicates, within_type};
use super::translate::Translation;
use super::{Claimed, Counted, sums};
use crate::Error;

/// A step.
pub(crate) struct After<'p> {
    pub(super) claim: &'p Claimed<'p>,
    path: &'p Path,
    /// The process whose step it is, as it is before the step.
    pub(super) mover: Process,
    /// Where it is after the step.
    pub(super) to: LocationId,
    /// Processes that the step starts, and that the condition is about.
    pub(super) started: Vec<Process>,
    /// What is written: cells and values over the state before.
    pub(super) writes: Vec<Write>,
    /// The values of variables of the claim.
    values: HashMap<Variable, Linear>,
    /// The numbers of processes that compare with references of which it was said what is known.
    said: RefCell<BTreeSet<Compared>>,
    /// Whether nothing is said about the process whose step it is.
    stranger: bool,
}

/// What a parameter of a process that is started is: that which the step gives it, or one of what it gives to the processes of the template that it starts.
fn given_value(
    translation: &mut Translation<'_, '_>,
    given: &[Term],
    name: String,
    facts: &mut Vec<Formula>,
) -> Result<Linear, Error> {
    if let [value] = given {
        return translation.linear(value);
    }
    let value = translation.variable(name);
    let mut each = Vec::new();
    for given in given {
        let given = translation.linear(given)?;
        each.push(equal(&value, &given)?);
    }
    facts.push(Formula::any(each));
    Ok(value)
}

/// How the number of processes outside the scope changes of which a predicate holds.
enum Flow {
    /// Not at all.
    Same,
    /// It does not grow if the second is at least the first, and does not shrink if it is at most the first.
    Against(Linear, Linear),
    /// Somehow.
    Unknown,
}

impl<'p> After<'p> {
    pub(crate) fn new(
        claim: &'p Claimed<'p>,
        path: &'p Path,
        mover: Process,
        to: LocationId,
        started: Vec<Process>,
    ) -> After<'p> {
        let writes = path.writes.iter().map(|write| write.of(mover.number));
        After {
            claim,
            path,
            mover,
            to,
            started,
            writes: writes.collect(),
            values: HashMap::new(),
            said: RefCell::default(),
            stranger: false,
        }
    }

    /// What is written: cells and values over the state before.
    pub(crate) fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The same step, of a process about which nothing is said.
    pub(crate) fn of_stranger(self, stranger: bool) -> After<'p> {
        After { stranger, ..self }
    }

    /// What is known of the processes that are started, and of what is counted after the step.
    pub(crate) fn facts(
        &self,
        translation: &mut Translation<'_, '_>,
    ) -> Result<Vec<Formula>, Error> {
        let mut facts = Vec::new();
        for (position, process) in self.started.iter().enumerate() {
            let id = translation.variable(id_name(process.number));
            let before = translation.population(process.template)?;
            let more = self.starts(process.template);
            facts.push(at_most(&before, &id)?);
            facts.push(less(&id, &before.plus_number(more)?)?);
            for other in &self.started[..position] {
                if other.template == process.template {
                    let other = translation.variable(id_name(other.number));
                    facts.push(differ(&other, &id)?);
                }
            }
        }
        for (number, counted) in self.claim.counted.iter().enumerate() {
            self.counted(translation, number, counted, &mut facts)?;
        }
        let here = translation.scope.processes.iter().copied();
        let here = here.filter(|process| *process != self.mover || !self.stranger);
        let all: Vec<Process> = here.chain(self.started.iter().copied()).collect();
        for process in all {
            self.all_compared(translation, process, &mut facts)?;
        }
        Ok(facts)
    }

    /// A formula of the claim with the values after the step.
    pub(crate) fn formula(
        &mut self,
        translation: &mut Translation<'_, '_>,
        formula: &Formula,
        facts: &mut Vec<Formula>,
    ) -> Result<Formula, Error> {
        substitute(formula, &mut |variable| {
            if let Some(value) = self.values.get(&variable) {
                return Ok(value.clone());
            }
            let symbol = translation.table.symbol(variable)?.clone();
            let value = self.value(translation, &symbol, facts)?;
            self.values.insert(variable, value.clone());
            Ok(value)
        })
    }

    /// A sum of multiples of variables of the claim, with the values after the step.
    pub(crate) fn sum(
        &mut self,
        translation: &mut Translation<'_, '_>,
        terms: &[(Variable, i64)],
        facts: &mut Vec<Formula>,
    ) -> Result<Linear, Error> {
        let mut sum = Linear::default();
        for (variable, factor) in terms {
            let symbol = translation.table.symbol(*variable)?.clone();
            sum.add(*factor, &self.value(translation, &symbol, facts)?)?;
        }
        Ok(sum)
    }

    /// Whether the step writes local variables of others than the process that takes it, which no program does.
    pub(super) fn writes_of_others(&self) -> bool {
        let own = Term::Reference(self.mover.number);
        let mut writes = self.writes.iter();
        writes.any(|write| matches!(&write.cell, Cell::Local { process, .. } if **process != own))
    }

    /// How many processes of a template the step starts.
    pub(super) fn starts(&self, template: TemplateId) -> i64 {
        self.path.starts_of(template) as i64
    }

    fn template_of(&self, translation: &Translation<'_, '_>, number: u32) -> Option<TemplateId> {
        let mut started = self.started.iter();
        let process = started.find(|process| process.number == number);
        let process = process.or_else(|| translation.scope.get(number));
        process.map(|process| process.template)
    }

    /// A value after the step. What is known of it, if it is any value of a type, goes to the facts.
    pub(super) fn value(
        &self,
        translation: &mut Translation<'_, '_>,
        symbol: &Symbol,
        facts: &mut Vec<Formula>,
    ) -> Result<Linear, Error> {
        let family = translation.family;
        match symbol {
            Symbol::Count(template, location) => {
                let mut change = 0;
                if *template == self.mover.template {
                    change -= i64::from(*location == self.mover.location);
                    change += i64::from(*location == self.to);
                }
                if *location == family.templates[*template].entry {
                    change += self.starts(*template);
                }
                let before = translation.count(*template, *location);
                return Ok(before.plus_number(change)?);
            }
            Symbol::Counted(template, location, number) => {
                let name = counted_name(family, *template, *location, *number);
                return Ok(translation.variable(name + "'"));
            }
            Symbol::Sum(template, location, number) => {
                return sums::after(self, translation, (*template, *location, *number), facts);
            }
            Symbol::Compared(compared) => {
                if self.said.borrow_mut().insert(*compared) {
                    self.compared(translation, *compared, facts)?;
                }
                return Ok(translation.variable(compared.name(family) + "'"));
            }
            Symbol::Param(_) | Symbol::Id(_) => {
                return Ok(translation.variable(symbol.name(family)));
            }
            Symbol::Shared(..) | Symbol::Local(..) => {}
        }
        let cell = symbol.cell(family, &|number| self.template_of(translation, number));
        let Some(cell) = cell else {
            let name = symbol.name(family);
            return Err(Error::no_proof(format!("`{name}` is no variable")));
        };
        if let Cell::Local {
            template,
            process,
            var,
            ..
        } = &cell
            && let Term::Reference(owner) = **process
            && self.started.iter().any(|started| started.number == owner)
        {
            let variable = &family.templates[*template].locals[*var];
            let name = symbol.name(family);
            let given = self.path.given(*template, *var, self.mover.number);
            if !given.is_empty() {
                return given_value(translation, &given, name, facts);
            }
            return self.started_value(translation, variable, owner, name, facts);
        }
        let mut value = Term::Cell(cell.clone());
        for write in &self.writes {
            value = write.after(&cell, value);
        }
        translation.linear(&value)
    }

    /// What a variable of a process that is started begins with.
    fn started_value(
        &self,
        translation: &mut Translation<'_, '_>,
        variable: &FamilyVariable,
        owner: u32,
        name: String,
        facts: &mut Vec<Formula>,
    ) -> Result<Linear, Error> {
        let grows = |term: &Term| {
            let text = term.to_string();
            let mut templates = translation.family.templates.iter_enumerated();
            templates.any(|(id, template)| {
                let population = Term::Population(id).to_string();
                matches!(template.population, Population::Grows) && text.contains(&population)
            })
        };
        // The population changes in the step.
        let fixed = |term: &Option<Term>| term.clone().filter(|term| !grows(term));
        if let Some(initial) = fixed(&variable.initial) {
            let names = Names {
                own: Some(owner),
                bound: Vec::new(),
            };
            return translation.linear(&initial.resolve(&names));
        }
        let variable = FamilyVariable {
            least: fixed(&variable.least),
            greatest: fixed(&variable.greatest),
            ..variable.clone()
        };
        let value = translation.variable(name);
        facts.extend(within_type(translation, &variable, &value)?);
        Ok(value)
    }

    /// What is known of the number of processes, label by label, of which a predicate holds after the step.
    fn counted(
        &self,
        translation: &mut Translation<'_, '_>,
        number: usize,
        counted: &Counted<'_>,
        facts: &mut Vec<Formula>,
    ) -> Result<(), Error> {
        let family = translation.family;
        let template = counted.template;
        let scope = translation.scope;
        let before: Vec<Process> = scope.of(template).copied().collect();
        let mut after = before.clone();
        for process in &mut after {
            if process.number == self.mover.number {
                process.location = self.to;
            }
        }
        let started = self.started.iter().copied();
        after.extend(started.filter(|process| process.template == template));
        for process in &after {
            let mut typed = Vec::new();
            let holds = substitute(counted.predicate, &mut |variable| {
                let symbol = translation.table.symbol(variable)?;
                let symbol = symbol.renamed(&|_| process.number);
                self.value(translation, &symbol, &mut typed)
            })?;
            facts.append(&mut typed);
            let name = indicator_name(process.number, number) + "'";
            let indicator = translation.variable(name);
            facts.extend(indicates(&indicator, holds)?);
        }
        let flow = self.flow(translation, counted, facts)?;
        let zero = Linear::default();
        for location in family.templates[template].locations.indices() {
            let name = counted_name(family, template, location, number);
            let mut others_after = translation.variable(name.clone() + "'");
            let mut others_before = translation.variable(name);
            let mut others = translation.count(template, location);
            for process in before.iter().filter(|p| p.location == location) {
                let name = indicator_name(process.number, number);
                others_before = others_before.minus(&translation.variable(name))?;
                others = others.plus_number(-1)?;
            }
            for process in after.iter().filter(|p| p.location == location) {
                let name = indicator_name(process.number, number) + "'";
                others_after = others_after.minus(&translation.variable(name))?;
            }
            let mut new = 0;
            if location == family.templates[template].entry {
                let known = self.started.iter();
                let known = known.filter(|process| process.template == template);
                new = self.starts(template) - known.count() as i64;
            }
            facts.push(at_most(&zero, &others_after)?);
            facts.push(at_most(&others_after, &others.plus_number(new)?)?);
            let grown = others_before.clone().plus_number(new)?;
            let not_less = at_most(&others_before, &others_after)?;
            let not_more = at_most(&others_after, &grown)?;
            match &flow {
                Flow::Same => facts.extend([not_less, not_more]),
                Flow::Against(was, is) => {
                    facts.push(Formula::any([less(was, is)?, not_less]));
                    facts.push(Formula::any([less(is, was)?, not_more]));
                }
                Flow::Unknown => {}
            }
        }
        Ok(())
    }

    /// How a step changes whether a predicate holds of processes that are not in scope. Their own variables stay as they are.
    fn flow(
        &self,
        translation: &mut Translation<'_, '_>,
        counted: &Counted<'_>,
        facts: &mut Vec<Formula>,
    ) -> Result<Flow, Error> {
        let mut shared: Vec<(Variable, Symbol)> = Vec::new();
        let mut touched = false;
        super::mentioned(counted.predicate, &mut |variable| {
            let symbol = translation.table.symbol(variable)?;
            let Symbol::Shared(var, places) = symbol else {
                return Ok(());
            };
            let mut writes = self.writes.iter().filter_map(|write| match &write.cell {
                Cell::Shared {
                    var: written,
                    indices,
                } if written == var => Some(indices),
                _ => None,
            });
            if places
                .iter()
                .any(|place| matches!(place, Place::Reference(_)))
            {
                // The entry of somebody out of scope is none of somebody in scope.
                touched |= writes.any(|indices| !is_of_scope(places, indices));
            } else if writes.next().is_some() {
                shared.push((variable, symbol.clone()));
            }
            Ok(())
        })?;
        if touched {
            return Ok(Flow::Unknown);
        }
        if shared.is_empty() {
            return Ok(Flow::Same);
        }
        let Formula::Atom(atom) = counted.predicate else {
            return Ok(Flow::Unknown);
        };
        let mut atom = atom.clone();
        atom.constant = 0;
        atom.terms
            .retain(|(variable, _)| shared.iter().any(|(written, _)| written == variable));
        let was = of_atom(&atom, &mut |variable| {
            Ok::<_, Error>(Linear::variable(variable))
        })?;
        let is = of_atom(&atom, &mut |variable| {
            let symbol = translation.table.symbol(variable)?.clone();
            self.value(translation, &symbol, facts)
        })?;
        Ok(Flow::Against(was, is))
    }
}

/// Whether an entry of an array that is written is not the one, at these places, of a process out of scope. What is written for everybody is written for
/// those, too: its index is bound, and no reference.
fn is_of_scope(places: &[Place], written: &[Index]) -> bool {
    places.iter().zip(written).any(|(place, index)| {
        let of_other = matches!(place, Place::Reference(_));
        of_other && matches!(index, Index::Process(Term::Reference(_)))
    })
}
