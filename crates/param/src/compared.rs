//! Counters relative to a reference: how many others compare with it, as `#(j at l: a[j] < a[i])` of those that are before a process i.
//!
//! The comparisons are those of guards: of a variable that each process has, of several processes with each other or of one with a shared variable, and of ids that have an order. Each is counted
//! twice, with `<` and with `<=`: that both numbers are the same says that no two processes have the same value. Equations about these numbers are found like all others, as that
//! of the ticket lock: as many are before a process as its ticket is ahead of the number that is shown.
//!
//! What a step does to the numbers follows from the definition. Processes in scope are 1 or 0. Of the others all keep what they are, unless the step writes something that is compared. Then
//! what would have to be otherwise is told by a process out of scope, of which all is assumed that is known of processes at its label: "of all at l it holds, or there is one at l of which it does not".

use std::collections::{HashMap, HashSet};

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};
use threadwise_lang::program::{IdOrder, LocationId, Scalar, TemplateId};
use threadwise_model::family::{Cell, Dimension, Family, Formula, Index, Names, Path, Term, Write};

use crate::conditions::{Cases, Instantiation, instantiations};
use crate::scope::{
    ComparedAt, Comparison, Form, Ghosts, Place, Reference, Scope, Table, Translator, Var,
    indicates, plain,
};

/// Comparisons that are looked at together at most: each makes a counter for each label.
const MOST: usize = 2;

impl Comparison {
    /// What a comparison that goes round compares, one value with another one, and from which on, and whether strictly; `None` if it is of another kind.
    pub(crate) fn round(&self, table: &Table) -> Option<([Variable; 3], bool)> {
        let variables = crate::infer::variables(&self.predicate);
        let place = |variable: &Variable| match table.var(*variable) {
            Var::Local(place @ 0..2, ..) => Some(*place as usize),
            Var::Shared(_, places) if places.is_empty() => Some(2),
            _ => None,
        };
        let mut found = [None; 3];
        for variable in variables {
            found[place(&variable)?] = Some(variable);
        }
        let [one, other, first] = found;
        let compared = [one?, other?, first?];
        let [one, other, first] = compared.map(Form::variable);
        let strictly = [true, false].into_iter().find(|strictly| {
            sooner(&one, &other, &first, *strictly).as_ref() == Ok(&self.predicate)
        });
        Some((compared, strictly?))
    }

    /// Whether another comparison of the same processes holds wherever this one does, as their texts show.
    fn implies(&self, other: &Comparison) -> bool {
        let (Linear::Atom(one), Linear::Atom(two)) = (&self.predicate, &other.predicate) else {
            return false;
        };
        (self.template, self.of) == (other.template, other.of)
            && one.terms == two.terms
            && one.constant > two.constant
    }
}

impl Ghosts {
    /// The numbers of processes that compare with a reference, label by label.
    pub(crate) fn numbers(
        &self,
        family: &Family,
        comparison: usize,
        reference: u32,
    ) -> Vec<ComparedAt> {
        let template = self.compared[comparison].template;
        let labels = family.templates[template].locations.indices();
        let at = |location| ComparedAt {
            comparison: comparison as u32,
            template,
            location,
            reference,
        };
        labels.map(at).collect()
    }
}

/// The sets of comparisons that guards suggest, each to be tried by itself: of integers.
pub(crate) fn comparisons(family: &Family, table: &mut Table) -> Vec<Vec<Comparison>> {
    let integer = |scalar: &Scalar| matches!(scalar, Scalar::Int | Scalar::Range(..));
    of_guards(family, table, &integer)
}

/// The same of truth values. How many are ahead matters little there; but where processes are compared, it is asked who keeps one from its step.
pub(crate) fn truths(family: &Family, table: &mut Table) -> Vec<Vec<Comparison>> {
    let mut sets = of_guards(family, table, &|scalar| *scalar == Scalar::Bool);
    sets.truncate(1);
    sets
}

fn of_guards(
    family: &Family,
    table: &mut Table,
    is_compared: &dyn Fn(&Scalar) -> bool,
) -> Vec<Vec<Comparison>> {
    let mut sets: Vec<Vec<Comparison>> = Vec::new();
    let program = family.program();
    for (template, declaration) in family.templates.iter_enumerated() {
        let mut compared = Vec::new();
        for path in &declaration.paths {
            for guard in &path.guard {
                compared_in(guard, &mut compared);
            }
        }
        let mut pairs: Vec<[Variable; 2]> = Vec::new();
        let mut push = |pair: [Var; 2]| {
            let pair = pair.map(|var| table.number(var));
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        };
        for term in &compared {
            match term {
                Term::Cell(Cell::Local {
                    template: of,
                    var,
                    indices,
                    ..
                }) if *of == template && indices.is_empty() => {
                    let scalar = &program.templates[template].locals[*var].scalar;
                    if is_compared(scalar) {
                        push([0, 1].map(|i| Var::Local(i, template, *var, Vec::new())));
                    }
                }
                Term::Cell(Cell::Shared { var, .. }) => {
                    let each = matches!(family.shared[*var].dims.as_slice(),
                        [Dimension::Processes(of)] if *of == template);
                    let scalar = &program.shared[*var].scalar;
                    if each && is_compared(scalar) {
                        push([0, 1].map(|i| Var::Shared(*var, vec![Place::Reference(i)])));
                    }
                }
                Term::Own
                    if is_compared(&Scalar::Int)
                        && program.templates[template].order == IdOrder::Ordered =>
                {
                    push([0, 1].map(Var::Id));
                }
                _ => {}
            }
        }
        for [one, reference] in pairs {
            let [one, reference] = [one, reference].map(Form::variable);
            let ways = [
                (one.less(&reference), true),
                (one.at_most(&reference), false),
            ];
            let each = ways.into_iter().filter_map(|(predicate, order)| {
                Some(Comparison {
                    template,
                    of: template,
                    predicate: predicate.ok()?,
                    order,
                })
            });
            sets.push(each.take(MOST).collect());
        }
    }
    sets
}

/// Comparisons of processes with entries of arrays, each set to be tried by itself: who has an index at least that of the entry, as far as a guard uses it; and who has that index and is the one that
/// an entry names.
pub(crate) fn levels(family: &Family, table: &mut Table) -> Result<Vec<Vec<Comparison>>, Overflow> {
    let mut sets: Vec<Vec<Comparison>> = Vec::new();
    for (template, declaration) in family.templates.iter_enumerated() {
        let scope = Scope::of(&[Reference {
            template,
            location: declaration.entry,
        }]);
        let own = Names {
            own: Some(0),
            ..Names::default()
        };
        for path in &declaration.paths {
            for (slot, index) in family.named_slots(&path.guard, &[], usize::MAX) {
                let resolved = index.resolve(&own);
                if resolved == index {
                    continue;
                }
                let mut translator = Translator::new(family, table, &scope);
                let index = translator.term(&resolved)?;
                let fits = index.terms.iter().all(|(variable, _)| {
                    let var = translator.table.var(*variable);
                    matches!(var, Var::Param(_) | Var::Shared(..) | Var::Local(..))
                });
                let entry = translator.var(Var::Id(1));
                if !fits {
                    continue;
                }
                let of = |predicate| Comparison {
                    template,
                    of: slot,
                    predicate,
                    order: false,
                };
                let mut set = vec![of(entry.at_most(&index)?)];
                let own = translator.var(Var::Id(0));
                for (var, variable) in family.shared.iter_enumerated() {
                    let each = variable.dims.as_slice() == [Dimension::Processes(slot)];
                    let scalar = &family.program().shared[var].scalar;
                    let names =
                        matches!(scalar, Scalar::Id(to) | Scalar::OptId(to) if *to == template);
                    if each && names && set.len() < MOST {
                        let named = translator.var(Var::Shared(var, vec![Place::Reference(1)]));
                        set.push(of(Linear::all([
                            entry.at_most(&index)?,
                            index.at_most(&entry)?,
                            named.at_most(&own)?,
                            own.at_most(&named)?,
                        ])));
                    }
                }
                if !sets.contains(&set) {
                    sets.push(set);
                }
            }
        }
    }
    Ok(sets)
}

/// Comparisons that go round: an own variable that is awaited in a shared one comes sooner or later, as seen from the value that the shared one has now. For tickets that wrap
/// around these are the processes whose tickets are shown before: as many as there are steps from the ticket that is shown.
pub(crate) fn rounds(family: &Family, table: &mut Table) -> Vec<Vec<Comparison>> {
    let program = family.program();
    let mut sets: Vec<Vec<Comparison>> = Vec::new();
    for (template, declaration) in family.templates.iter_enumerated() {
        let mut awaited = Vec::new();
        for guard in declaration.paths.iter().flat_map(|path| &path.guard) {
            let Formula::Equal(one, other) = guard else {
                continue;
            };
            for (one, other) in [(one, other), (other, one)] {
                if let (
                    Term::Cell(Cell::Local {
                        template: of,
                        var,
                        indices,
                        ..
                    }),
                    Term::Cell(Cell::Shared {
                        var: shared,
                        indices: places,
                    }),
                ) = (one, other)
                    && *of == template
                    && indices.is_empty()
                    && places.is_empty()
                    && matches!(
                        program.templates[template].locals[*var].scalar,
                        Scalar::Range(..)
                    )
                    && matches!(program.shared[*shared].scalar, Scalar::Range(..))
                    && !awaited.contains(&(*var, *shared))
                {
                    awaited.push((*var, *shared));
                }
            }
        }
        for (var, shared) in awaited {
            let [one, reference] = [0, 1]
                .map(|i| Form::variable(table.number(Var::Local(i, template, var, Vec::new()))));
            let origin = Form::variable(table.number(Var::Shared(shared, Vec::new())));
            let each = [true, false].into_iter().filter_map(|order| {
                Some(Comparison {
                    template,
                    of: template,
                    predicate: sooner(&one, &reference, &origin, order).ok()?,
                    order,
                })
            });
            sets.push(each.take(MOST).collect());
        }
    }
    sets
}

/// That a value comes before another one, or is the same, going round from a first one.
fn sooner(one: &Form, other: &Form, first: &Form, strictly: bool) -> Result<Linear, Overflow> {
    let before = match strictly {
        true => one.less(other)?,
        false => one.at_most(other)?,
    };
    let (later, earlier) = (first.at_most(one)?, one.less(first)?);
    let other_earlier = other.less(first)?;
    Ok(Linear::any([
        Linear::all([later.clone(), other_earlier]),
        Linear::all([later, before.clone(), first.at_most(other)?]),
        Linear::all([earlier, before, other.less(first)?]),
    ]))
}

/// The terms that a guard compares.
fn compared_in(guard: &Formula, found: &mut Vec<Term>) {
    match guard {
        Formula::AtMost(a, b) | Formula::Equal(a, b) => {
            summands(a, found);
            summands(b, found);
        }
        Formula::Not(inner) => compared_in(inner, found),
        Formula::And(members) | Formula::Or(members) => {
            members.iter().for_each(|member| compared_in(member, found));
        }
        Formula::ForAll(_, _, body) | Formula::Exists(_, _, body) => compared_in(body, found),
        Formula::Constant(_) | Formula::At { .. } => {}
    }
}

fn summands(term: &Term, found: &mut Vec<Term>) {
    match term {
        Term::Sum(terms) => terms.iter().for_each(|term| summands(term, found)),
        Term::Scaled(_, term) => summands(term, found),
        Term::Fold { body, .. } => summands(body, found),
        Term::If(condition, yes, no) => {
            compared_in(condition, found);
            summands(yes, found);
            summands(no, found);
        }
        other => found.push(other.clone()),
    }
}

impl Translator<'_> {
    /// A comparison of a process with a reference.
    pub(crate) fn compare(
        &mut self,
        comparison: &Comparison,
        process: u32,
        reference: u32,
    ) -> Result<Linear, Overflow> {
        let mut renaming = HashMap::new();
        for variable in crate::infer::variables(&comparison.predicate) {
            let renamed = self.table.renamed(variable, &[process, reference]);
            renaming.insert(variable, renamed);
        }
        renamed(&comparison.predicate, &renaming)
    }

    /// What holds of the numbers of processes that compare with references, in every state.
    pub(crate) fn compared_facts(
        &mut self,
        ghosts: &Ghosts,
        facts: &mut Vec<Linear>,
    ) -> Result<(), Overflow> {
        for (number, comparison) in ghosts.compared.iter().enumerate() {
            for reference in self.scope.of_template(comparison.of) {
                for process in self.scope.of_template(comparison.template) {
                    if process != reference {
                        let holds = self.compare(comparison, process, reference)?;
                        let is = Var::Comparison(process, number as u32, reference, false);
                        let is = self.var(is);
                        facts.push(indicates(&is, &holds)?);
                    }
                }
                for at in ghosts.numbers(self.family, number, reference) {
                    let scope: Vec<(u32, Reference)> = self.scope.iter().collect();
                    let (held, count) = self.others(at, &scope, false)?;
                    facts.push(Form::number(0).at_most(&held)?);
                    facts.push(held.at_most(&count)?);
                    for (weaker, other) in ghosts.compared.iter().enumerate() {
                        if comparison.implies(other) {
                            let at = ComparedAt {
                                comparison: weaker as u32,
                                ..at
                            };
                            let (more, _) = self.others(at, &scope, false)?;
                            facts.push(held.at_most(&more)?);
                        }
                    }
                }
            }
        }
        self.related(ghosts, facts)
    }

    /// Of how many processes out of scope a comparison holds at a label, with the scope before a step or after it, and how many there were before.
    pub(crate) fn others(
        &mut self,
        at: ComparedAt,
        scope: &[(u32, Reference)],
        after: bool,
    ) -> Result<(Form, Form), Overflow> {
        let here = Reference {
            template: at.template,
            location: at.location,
        };
        let mut held = self.var(Var::Compared(at, after));
        for (process, reference) in scope {
            if *reference == here && *process != at.reference {
                let is = Var::Comparison(*process, at.comparison, at.reference, after);
                held = held.plus(-1, &self.var(is))?;
            }
        }
        let known = self.scope.iter().filter(|(_, r)| *r == here).count();
        let count = self.var(Var::Counter(at.template, at.location));
        Ok((held, count.add(-(known as i64))?))
    }
}

/// A formula with other variables, in any order.
fn renamed(formula: &Linear, to: &HashMap<Variable, Variable>) -> Result<Linear, Overflow> {
    let each = |members: &[Linear]| -> Result<Vec<Linear>, Overflow> {
        members.iter().map(|member| renamed(member, to)).collect()
    };
    Ok(match formula {
        Linear::And(members) => Linear::all(each(members)?),
        Linear::Or(members) => Linear::any(each(members)?),
        Linear::Atom(atom) => {
            let mut form = Form::number(atom.constant);
            for (variable, factor) in &atom.terms {
                let variable = to.get(variable).unwrap_or(variable);
                form = form.plus(*factor, &Form::variable(*variable))?;
            }
            form.at_most_zero()?
        }
    })
}

/// A step, as far as it matters to numbers of processes that compare with references.
pub(crate) struct Step<'s> {
    pub(crate) path: &'s Path,
    pub(crate) own: u32,
    pub(crate) to: LocationId,
    pub(crate) started: &'s [usize],
    /// The processes after the step of which something is said.
    pub(crate) references: &'s [Reference],
    pub(crate) writes: &'s [Write],
}

/// What is assumed about a scope.
#[derive(Debug, Default)]
pub(crate) struct More {
    pub(crate) facts: Vec<Linear>,
    pub(crate) instantiations: Vec<Instantiation>,
}

impl Cases<'_> {
    /// What becomes of the numbers of processes that compare with references.
    pub(crate) fn compared_after(
        &mut self,
        scope: &Scope,
        step: &Step<'_>,
        assumed: &mut More,
        after: &mut HashMap<Variable, Form>,
    ) -> Result<(), Overflow> {
        let family = self.family;
        let before = after.clone();
        let mut later: Vec<(u32, Reference)> = scope.iter().collect();
        for (number, reference) in &mut later {
            if *number == step.own {
                reference.location = step.to;
            }
        }
        let started = step.started.iter();
        later.extend(started.map(|place| (*place as u32, step.references[*place])));
        for (number, comparison) in self.ghosts.compared.clone().iter().enumerate() {
            for (reference, of) in step.references.iter().enumerate() {
                if of.template != comparison.of {
                    continue;
                }
                let reference = reference as u32;
                for (process, counted) in &later {
                    if counted.template == comparison.template && *process != reference {
                        let mut translator = Translator::new(family, &mut self.table, scope);
                        let holds = translator.compare(comparison, *process, reference)?;
                        let holds = Cases::after(&holds, &before)?;
                        let is = Var::Comparison(*process, number as u32, reference, true);
                        let is = translator.var(is);
                        assumed.facts.push(indicates(&is, &holds)?);
                        assumed.facts.append(&mut translator.facts);
                    }
                }
                for at in self.ghosts.numbers(family, number, reference) {
                    let mut translator = Translator::new(family, &mut self.table, scope);
                    let now = translator.var(Var::Compared(at, true));
                    let variable = translator.table.number(Var::Compared(at, false));
                    after.insert(variable, now);
                    self.number_after(scope, step, (comparison, at), &later, assumed)?;
                }
            }
        }
        Ok(())
    }

    fn number_after(
        &mut self,
        scope: &Scope,
        step: &Step<'_>,
        (comparison, at): (&Comparison, ComparedAt),
        later: &[(u32, Reference)],
        assumed: &mut More,
    ) -> Result<(), Overflow> {
        let family = self.family;
        let mut translator = Translator::new(family, &mut self.table, scope);
        let (was, count) = {
            let scope: Vec<(u32, Reference)> = scope.iter().collect();
            translator.others(at, &scope, false)?
        };
        let (is, _) = translator.others(at, later, true)?;
        let mut new = 0;
        if at.location == family.templates[at.template].entry {
            let of = |template: TemplateId| template == at.template;
            let all = step.path.starts_of(at.template);
            let known = step.started.iter();
            let known = known.filter(|place| of(step.references[**place].template));
            new = all as i64 - known.count() as i64;
        }
        let zero = Form::number(0);
        assumed.facts.push(zero.at_most(&is)?);
        assumed.facts.push(is.at_most(&count.add(new)?)?);
        if step.started.contains(&(at.reference as usize)) {
            return Ok(());
        }
        let (not_less, not_more) = (was.at_most(&is)?, is.at_most(&was.add(new)?)?);
        if !self.may_change(step, comparison, at.reference) {
            assumed.facts.extend([not_less, not_more]);
            return Ok(());
        }
        // Whether it held before, if that matters, and whether it does afterwards.
        let none = is.at_most(&Form::number(new))?;
        let mut told = match at.reference == step.own {
            true => vec![(count.at_most(&is)?, None, false), (none, None, true)],
            false => vec![
                (not_less, Some(true), false),
                (not_more, Some(false), true),
                (none, None, true),
            ],
        };
        if comparison.of == comparison.template {
            told.truncate(2);
        }
        for (position, (unless, held, holds)) in told.into_iter().enumerate() {
            let number = self.told(at, position as u32);
            let process = Reference {
                template: at.template,
                location: at.location,
            };
            let wider = with(scope, number, process);
            let mut known = Vec::new();
            let after = self.cells_after(&wider, step.writes, &mut known)?;
            let mut translator = Translator::new(family, &mut self.table, &wider);
            let was = translator.compare(comparison, number, at.reference)?;
            let is = Cases::after(&was, &after)?;
            known.push(if holds { is } else { is.negation()? });
            if let Some(held) = held {
                known.push(if held { was } else { was.negation()? });
            }
            self.beside(scope, (number, process), &unless, known, assumed)?;
        }
        Ok(())
    }

    /// A number for a process of whom something is told: another one for each reason.
    fn told(&self, at: ComparedAt, position: u32) -> u32 {
        let templates = self.family.templates.iter();
        let labels = templates.map(|template| template.locations.len() as u32);
        let labels = labels.max().unwrap_or_default();
        let of = at.comparison * 8 + at.reference;
        16 + (of * labels + at.location.index() as u32) * 3 + position
    }

    /// The values of the cells of a scope after writes, where they may be others.
    fn cells_after(
        &mut self,
        scope: &Scope,
        writes: &[Write],
        facts: &mut Vec<Linear>,
    ) -> Result<HashMap<Variable, Form>, Overflow> {
        let mut translator = Translator::new(self.family, &mut self.table, scope);
        let mut after = HashMap::new();
        for cell in translator.cells() {
            let before = Term::Cell(cell.clone());
            let mut value = before.clone();
            for write in writes {
                value = write.after(&cell, value);
            }
            if value != before
                && let Some(var) = plain(&cell)
            {
                let value = translator.term(&value)?;
                after.insert(translator.table.number(var), value);
            }
        }
        facts.append(&mut translator.facts);
        Ok(after)
    }

    /// Whether a step may change a comparison of somebody out of scope with a reference.
    fn may_change(&self, step: &Step<'_>, comparison: &Comparison, reference: u32) -> bool {
        let written = |variable: Variable| {
            step.writes
                .iter()
                .any(|write| match (self.table.var(variable), &write.cell) {
                    (Var::Shared(var, places), Cell::Shared { var: to, indices }) => {
                        let pairs = places.iter().zip(indices);
                        let apart = |(place, index): (&Place, &Index)| match (place, index) {
                            (Place::Position(a), Index::Position(b)) => a != b,
                            (Place::Reference(0), Index::Process(Term::Reference(_))) => true,
                            (Place::Reference(_), Index::Process(Term::Reference(to))) => {
                                *to != reference
                            }
                            _ => false,
                        };
                        var == to && !pairs.into_iter().any(apart)
                    }
                    (Var::Local(of, ..), Cell::Local { process, .. }) => match **process {
                        Term::Reference(to) => *of != 0 && to == reference,
                        _ => true,
                    },
                    _ => false,
                })
        };
        let mut variables = crate::infer::variables(&comparison.predicate).into_iter();
        variables.any(written)
    }

    /// Assumes something of a process beside those in scope, with all that is known of it, unless something else holds.
    pub(crate) fn beside(
        &mut self,
        scope: &Scope,
        (number, process): (u32, Reference),
        unless: &Linear,
        known: Vec<Linear>,
        assumed: &mut More,
    ) -> Result<(), Overflow> {
        let family = self.family;
        let mut translator = Translator::new(family, &mut self.table, scope);
        let everywhere = translator.background(&self.ghosts)?;
        let everywhere: HashSet<Linear> = everywhere.into_iter().chain(translator.facts).collect();
        let wider = with(scope, number, process);
        let mut translator = Translator::new(family, &mut self.table, &wider);
        let mut facts = known;
        facts.extend(translator.background(&self.ghosts)?);
        facts.append(&mut translator.facts);
        facts.retain(|fact| !everywhere.contains(fact));
        let guarded = facts.into_iter();
        let guarded = guarded.map(|fact| Linear::any([unless.clone(), fact]));
        assumed.facts.extend(guarded);
        let by_references = self.by_references();
        let here = instantiations(
            &wider,
            &self.views,
            &by_references,
            &self.variables,
            &mut self.table,
        );
        let about = here
            .into_iter()
            .filter(|one| one.references.contains(&number));
        assumed.instantiations.extend(about.map(|mut one| {
            one.unless = Some(unless.clone());
            one
        }));
        Ok(())
    }
}

/// A scope with one more process.
pub(crate) fn with(scope: &Scope, number: u32, process: Reference) -> Scope {
    let mut wider = scope.clone();
    let place = number as usize;
    if wider.references.len() <= place {
        wider.references.resize(place + 1, None);
    }
    wider.references[place] = Some(process);
    wider
}
