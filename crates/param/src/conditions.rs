//! What has to be shown for assertions about views to be a proof.
//!
//! A view is a list of processes at labels; its assertion is about all processes that it fits. [`Cases`] lists how the states of a view come about: at first, by a step of
//! one of its processes, by a step of another one, or by being started. Each case has a scope (the processes of the view before the step, and the one that moves), the facts that hold there,
//! and, for each variable of the view, its value after the step. Assertions of all views on the processes of the scope are assumed before the step. Since they are assumed of
//! views of every size up to the greatest, instances with fewer processes need no treatment of their own.

use std::collections::{BTreeMap, HashMap, HashSet};

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Overflow, Variable};
use threadwise_evidence::family::{self, Condition};
use threadwise_lang::program::{LocationId, Scalar, TemplateId};
use threadwise_model::family::{
    Cell, Conjunct, Family, Formula, Names, Path, PathEnd, Population, Term, Write, is_slot,
};

use crate::compared::{More, Step};
use crate::scope::{
    Counted, Form, Ghosts, Reference, Scope, Table, Translator, Var, indicates, plain, single,
};
use crate::sums;

/// A view: processes at labels, sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct View {
    pub(crate) references: Vec<Reference>,
}

/// The assertions of a view, instantiated: the view, and where its variables are found in the scope.
#[derive(Clone, Debug)]
pub(crate) struct Instantiation {
    pub(crate) view: usize,
    /// The references of the scope that its references are.
    pub(crate) references: Vec<u32>,
    pub(crate) renaming: HashMap<Variable, Variable>,
    /// Where this holds, there are no such processes, and nothing is assumed of them.
    pub(crate) unless: Option<Linear>,
}

impl Instantiation {
    /// What an assertion of the view says here.
    pub(crate) fn says(&self, assertion: &Linear) -> Linear {
        let renamed = Cases::renamed(assertion, &self.renaming);
        match &self.unless {
            Some(nobody) => Linear::any([nobody.clone(), renamed]),
            None => renamed,
        }
    }
}

/// What is assumed of a scope, and written from it: resolved.
struct Said<'s> {
    formulas: &'s [Formula],
    /// Whether the formulas hold, or do not.
    holds: bool,
    writes: &'s [Write],
    /// The processes whose indices are named, too, if others are compared with the entries.
    processes: &'s [u32],
}

/// One way for the states of a view to come about.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) view: usize,
    pub(crate) origin: Origin,
    /// What holds before.
    pub(crate) facts: Vec<Linear>,
    /// The assertions that hold before.
    pub(crate) assumed: Vec<Instantiation>,
    /// The values of the view's variables after, where they are not what they were.
    pub(crate) after: HashMap<Variable, Form>,
}

/// How the states of a view come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Initial,
    Step {
        mover: Option<usize>,
        template: TemplateId,
        path: usize,
        started: Vec<usize>,
    },
}

/// Something that must be contradictory: a failing check, or a violation of the property.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// Another one for each goal.
    pub(crate) number: usize,
    pub(crate) condition: Condition,
    /// What would hold, the violation included.
    pub(crate) facts: Vec<Linear>,
    /// The violation alone, in terms of the scope.
    pub(crate) violation: Vec<Linear>,
    pub(crate) assumed: Vec<Instantiation>,
}

/// Views and how their states come about.
#[derive(Debug)]
pub(crate) struct Cases<'a> {
    pub(crate) family: &'a Family,
    pub(crate) table: Table,
    pub(crate) ghosts: Ghosts,
    pub(crate) views: Vec<View>,
    /// The variables of each view.
    pub(crate) variables: Vec<Vec<Variable>>,
    pub(crate) cases: Vec<Case>,
    /// How many goals there are.
    pub(crate) goals: usize,
    /// Whether entries of arrays that terms name by their index are in scope, too.
    named: bool,
}

/// Too many views or cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMuch {
    #[error(transparent)]
    Overflow(#[from] Overflow),
    #[error("there are too many ways to pick processes at labels")]
    Views,
}

/// The greatest number of views, and of cases.
const MAX_VIEWS: usize = 400;
const MAX_CASES: usize = 20_000;
/// The greatest number of entries of arrays that are brought into scope.
const MAX_NAMED: usize = 4;

impl<'a> Cases<'a> {
    /// The views of up to `arity` processes, and their cases.
    pub(crate) fn new(
        family: &'a Family,
        table: Table,
        ghosts: Ghosts,
        arity: usize,
    ) -> Result<Cases<'a>, TooMuch> {
        Cases::build(family, table, ghosts, arity, false)
    }

    /// The same, where entries of arrays that a step names by their index are looked at with it.
    pub(crate) fn with_named(
        family: &'a Family,
        table: Table,
        ghosts: Ghosts,
        arity: usize,
    ) -> Result<Cases<'a>, TooMuch> {
        Cases::build(family, table, ghosts, arity, true)
    }

    fn build(
        family: &'a Family,
        mut table: Table,
        ghosts: Ghosts,
        arity: usize,
        named: bool,
    ) -> Result<Cases<'a>, TooMuch> {
        table.compared = ghosts.compared.clone();
        let views = views(family, arity)?;
        let ids = uses_ids(family);
        let mut variables = Vec::with_capacity(views.len());
        for view in &views {
            variables.push(view_variables(family, &mut table, &ghosts, view, ids));
        }
        let mut cases = Cases {
            family,
            table,
            ghosts,
            views,
            variables,
            cases: Vec::new(),
            goals: 0,
            named,
        };
        let by_references = cases.by_references();
        for view in 0..cases.views.len() {
            cases.initial(view)?;
            cases.steps(view, &by_references)?;
            if cases.cases.len() > MAX_CASES {
                return Err(TooMuch::Views);
            }
        }
        Ok(cases)
    }

    pub(crate) fn by_references(&self) -> HashMap<Vec<Reference>, usize> {
        let views = self.views.iter().enumerate();
        views
            .map(|(number, view)| (view.references.clone(), number))
            .collect()
    }

    fn initial(&mut self, view: usize) -> Result<(), Overflow> {
        let family = self.family;
        let references = self.views[view].references.clone();
        let fits = references.iter().all(|reference| {
            let template = &family.templates[reference.template];
            reference.location == template.entry
                && !matches!(template.population, Population::Grows)
        });
        if !fits {
            return Ok(());
        }
        let scope = Scope::of(&references);
        let mut translator = Translator::new(family, &mut self.table, &scope);
        let mut facts = translator.background(&self.ghosts)?;
        for (id, template) in family.templates.iter_enumerated() {
            for location in template.locations.indices() {
                let empty =
                    location != template.entry || matches!(template.population, Population::Grows);
                if empty {
                    let counter = translator.var(Var::Counter(id, location));
                    facts.push(counter.equals(&Form::number(0))?);
                }
            }
        }
        for cell in translator.cells() {
            let (initial, own) = match &cell {
                Cell::Shared { var, .. } => (&family.shared[*var].initial, None),
                Cell::Local {
                    template,
                    process,
                    var,
                    ..
                } => {
                    let own = match **process {
                        Term::Reference(number) => Some(number),
                        _ => None,
                    };
                    (&family.templates[*template].locals[*var].initial, own)
                }
            };
            if let (Some(initial), Some(var)) = (initial, plain(&cell)) {
                let names = Names {
                    own,
                    ..Names::default()
                };
                let initial = translator.term(&initial.resolve(&names))?;
                let value = translator.var(var);
                facts.push(value.equals(&initial)?);
            }
        }
        for predicate in &family.initially {
            facts.push(translator.assume(predicate, true)?);
        }
        for (number, counted) in self.ghosts.counted.iter().enumerate() {
            let template = &family.templates[counted.template];
            let entry = Var::Counted(number as u32, counted.template, template.entry, false);
            let entry = translator.var(entry);
            let all = translator.var(Var::Counter(counted.template, template.entry));
            if let Some(holds) = initially(&mut translator, counted)? {
                facts.push(Linear::any([
                    Linear::all([holds.clone(), entry.equals(&all)?]),
                    Linear::all([holds.negation()?, entry.equals(&Form::number(0))?]),
                ]));
            }
        }
        sums::at_first(&mut translator, &mut facts)?;
        translator.compared_at_first(&self.ghosts, &mut facts)?;
        facts.append(&mut translator.facts);
        self.cases.push(Case {
            view,
            origin: Origin::Initial,
            facts,
            assumed: Vec::new(),
            after: HashMap::new(),
        });
        Ok(())
    }

    fn steps(
        &mut self,
        view: usize,
        by_references: &HashMap<Vec<Reference>, usize>,
    ) -> Result<(), Overflow> {
        let family = self.family;
        let references = self.views[view].references.clone();
        for (template, declaration) in family.templates.iter_enumerated() {
            for (number, path) in declaration.paths.iter().enumerate() {
                let PathEnd::At(to) = path.end else { continue };
                let movers = references
                    .iter()
                    .enumerate()
                    .filter_map(|(place, reference)| {
                        let moved = (reference.template, reference.location) == (template, to);
                        moved.then_some(Some(place))
                    });
                let other = crate::conditions::room(family, &references, template);
                let movers: Vec<Option<usize>> = movers.chain(other.then_some(None)).collect();
                for mover in movers {
                    for started in started(family, &references, path, mover) {
                        let origin = Origin::Step {
                            mover,
                            template,
                            path: number,
                            started,
                        };
                        let case =
                            self.step(view, &references, (path, to), origin, by_references)?;
                        self.cases.extend(case);
                    }
                }
            }
        }
        Ok(())
    }

    /// A step to states of some references, which are those of a view unless they are looked at for another reason.
    pub(crate) fn step(
        &mut self,
        view: usize,
        references: &[Reference],
        (path, to): (&Path, LocationId),
        origin: Origin,
        by_references: &HashMap<Vec<Reference>, usize>,
    ) -> Result<Option<Case>, Overflow> {
        let Origin::Step {
            mover,
            template,
            started,
            ..
        } = &origin
        else {
            return Ok(None);
        };
        let (family, template) = (self.family, *template);
        let mut scope = Scope::of(references);
        for place in started {
            scope.references[*place] = None;
        }
        let moving = Reference {
            template,
            location: path.from,
        };
        let own = match mover {
            Some(place) => {
                scope.references[*place] = Some(moving);
                *place as u32
            }
            None => {
                scope.references.push(Some(moving));
                references.len() as u32
            }
        };
        let names = Names {
            own: Some(own),
            ..Names::default()
        };
        let mut translator = Translator::new(family, &mut self.table, &scope);
        let mut facts = translator.background(&self.ghosts)?;
        let guards = path.guard.iter().map(|guard| guard.resolve(&names));
        let guards: Vec<Formula> = guards.collect();
        for guard in &guards {
            facts.push(translator.assume(guard, true)?);
        }
        let mut after = HashMap::new();
        let writes: Vec<Write> = path.writes.iter().map(|write| write.of(own)).collect();
        for cell in translator.cells() {
            let before = Term::Cell(cell.clone());
            let mut value = before.clone();
            for write in &writes {
                value = write.after(&cell, value);
            }
            if value != before
                && let Some(var) = plain(&cell)
            {
                let value = translator.term(&value)?;
                after.insert(translator.table.number(var), value);
            }
        }
        let mut change: BTreeMap<(TemplateId, LocationId), i64> = BTreeMap::new();
        *change.entry((template, path.from)).or_default() -= 1;
        *change.entry((template, to)).or_default() += 1;
        for child in &path.starts {
            let entry = family.templates[child.template].entry;
            *change.entry((child.template, entry)).or_default() += 1;
        }
        for ((template, location), by) in change {
            if by != 0 {
                let counter = translator.var(Var::Counter(template, location));
                let number = translator.table.number(Var::Counter(template, location));
                after.insert(number, counter.add(by)?);
            }
        }
        sums::after(&mut translator, path, (own, template, to), &mut after)?;
        for place in started {
            newborn(
                &mut translator,
                references,
                *place,
                (path, own),
                started,
                &mut facts,
                &mut after,
            )?;
        }
        for (number, counted) in self.ghosts.counted.iter().enumerate() {
            let flow = Flow {
                number: number as u32,
                counted,
                path,
                own,
                to,
                started,
                references,
            };
            flow.facts(&mut translator, &mut facts, &mut after)?;
        }
        facts.append(&mut translator.facts);
        let said = Said {
            formulas: &guards,
            holds: true,
            writes: &writes,
            processes: &[own],
        };
        let mut assumed = self.assumed(&scope, &said, by_references, &mut facts)?;
        if !self.ghosts.compared.is_empty() {
            let step = Step {
                path,
                own,
                to,
                started,
                references,
                writes: &writes,
            };
            let mut more = More::default();
            self.compared_after(&scope, &step, &mut more, &mut after)?;
            facts.append(&mut more.facts);
            assumed.append(&mut more.instantiations);
        }
        Ok(Some(Case {
            view,
            origin,
            facts,
            assumed,
            after,
        }))
    }

    /// The assertions that hold of a scope, also with the entries of arrays that are named by their index: each is one more in scope, unless there is no such entry
    /// or it is in scope already. What is known of these entries goes to the facts.
    fn assumed(
        &mut self,
        scope: &Scope,
        said: &Said,
        by_references: &HashMap<Vec<Reference>, usize>,
        facts: &mut Vec<Linear>,
    ) -> Result<Vec<Instantiation>, Overflow> {
        let (views, variables) = (&self.views, &self.variables);
        let mut all = instantiations(scope, views, by_references, variables, &mut self.table);
        if !self.named {
            return Ok(all);
        }
        let family = self.family;
        let mut named = family.named_slots(said.formulas, said.writes, MAX_NAMED);
        for process in said.processes {
            let reference = scope.references.get(*process as usize).copied().flatten();
            let template = reference.map(|reference| reference.template);
            for slot in template.map_or(Vec::new(), |of| family.slots_of(of, *process)) {
                let compared = self.ghosts.compared.iter().any(|c| c.of == slot.0);
                if compared && named.len() < MAX_NAMED && !named.contains(&slot) {
                    named.push(slot);
                }
            }
        }
        let everywhere: HashSet<Linear> = match named.is_empty() {
            true => return Ok(all),
            false => facts.iter().cloned().collect(),
        };
        let first = scope.references.len();
        for (position, (template, index)) in named.iter().enumerate() {
            let number = (first + position) as u32;
            let mut with = scope.clone();
            with.references.resize(first + position, None);
            with.references.push(Some(Reference {
                template: *template,
                location: self.family.templates[*template].entry,
            }));
            let mut translator = Translator::new(self.family, &mut self.table, &with);
            let index = translator.term(index)?;
            let mut unless = vec![
                index.less(&Form::number(0))?,
                translator.population(*template)?.at_most(&index)?,
            ];
            for other in scope.of_template(*template) {
                let other = translator.var(Var::Id(other));
                unless.push(index.equals(&other)?);
            }
            let unless = Linear::any(unless);
            let mut known = translator.background(&self.ghosts)?;
            let id = translator.var(Var::Id(number));
            known.push(index.equals(&id)?);
            for formula in said.formulas {
                known.push(translator.assume(formula, said.holds)?);
            }
            for write in said.writes.iter().filter(|write| write.each.is_empty()) {
                translator.term(&write.value)?;
                translator.term(&Term::Cell(write.cell.clone()))?;
            }
            known.append(&mut translator.facts);
            let new = known
                .into_iter()
                .filter(|known| !everywhere.contains(known));
            facts.extend(new.map(|known| Linear::any([unless.clone(), known])));
            let (views, variables) = (&self.views, &self.variables);
            let here = instantiations(&with, views, by_references, variables, &mut self.table);
            let here = here
                .into_iter()
                .filter(|one| one.references.contains(&number));
            all.extend(here.map(|mut one| {
                one.unless = Some(unless.clone());
                one
            }));
        }
        Ok(all)
    }

    /// The goals for the built-in checks: no path on which one fails is taken.
    pub(crate) fn check_goals(&mut self) -> Result<Vec<Goal>, Overflow> {
        let family = self.family;
        let by_references = self.by_references();
        let mut goals = Vec::new();
        for (template, declaration) in family.templates.iter_enumerated() {
            for (number, path) in declaration.paths.iter().enumerate() {
                if !matches!(path.end, PathEnd::Fails(..)) {
                    continue;
                }
                let scope = Scope::of(&[Reference {
                    template,
                    location: path.from,
                }]);
                let names = Names {
                    own: Some(0),
                    ..Names::default()
                };
                let mut translator = Translator::new(family, &mut self.table, &scope);
                let mut facts = translator.background(&self.ghosts)?;
                let mut violation = Vec::new();
                let guards = path.guard.iter().map(|guard| guard.resolve(&names));
                let guards: Vec<Formula> = guards.collect();
                for guard in &guards {
                    violation.push(translator.assume(guard, true)?);
                }
                facts.extend(violation.iter().cloned());
                facts.append(&mut translator.facts);
                let said = Said {
                    formulas: &guards,
                    holds: true,
                    writes: &[],
                    processes: &[0],
                };
                let assumed = self.assumed(&scope, &said, &by_references, &mut facts)?;
                self.goals += 1;
                goals.push(Goal {
                    number: self.goals,
                    condition: Condition::Check {
                        template: declaration.name.clone(),
                        path: number,
                    },
                    facts,
                    violation,
                    assumed,
                });
            }
        }
        Ok(goals)
    }

    /// The goals for an invariant.
    pub(crate) fn property_goals(&mut self, conjuncts: &[Conjunct]) -> Result<Vec<Goal>, TooMuch> {
        let mut goals = Vec::new();
        for (number, conjunct) in conjuncts.iter().enumerate() {
            for names in identifications(conjunct) {
                self.property_goal(number, conjunct, &names, &mut goals)?;
                if goals.len() > MAX_CASES {
                    return Err(TooMuch::Views);
                }
            }
        }
        Ok(goals)
    }

    fn property_goal(
        &mut self,
        number: usize,
        conjunct: &Conjunct,
        names: &[usize],
        goals: &mut Vec<Goal>,
    ) -> Result<(), TooMuch> {
        let family = self.family;
        let by_references = self.by_references();
        let count = names.iter().max().map_or(0, |most| most + 1);
        let templates: Vec<TemplateId> = (0..count)
            .filter_map(|reference| {
                let place = names.iter().position(|name| *name == reference)?;
                Some(conjunct.variables[place].1)
            })
            .collect();
        let mut choices: Vec<Vec<Reference>> = vec![Vec::new()];
        for template in &templates {
            let locations = family.templates[*template].locations.indices();
            choices = choices
                .iter()
                .flat_map(|references| {
                    locations.clone().map(|location| {
                        let mut references = references.clone();
                        references.push(Reference {
                            template: *template,
                            location,
                        });
                        references
                    })
                })
                .collect();
            if choices.len() > MAX_CASES {
                return Err(TooMuch::Views);
            }
        }
        let mut resolution = Names::default();
        for ((var, _), name) in conjunct.variables.iter().zip(names) {
            resolution = resolution.with(*var, *name as u32);
        }
        let body = conjunct.body.resolve(&resolution);
        for references in choices {
            let scope = Scope::of(&references);
            let mut translator = Translator::new(family, &mut self.table, &scope);
            let violation = translator.assume(&body, false)?;
            if violation.truth() == Some(false) {
                continue;
            }
            let mut facts = translator.background(&self.ghosts)?;
            facts.push(violation.clone());
            facts.append(&mut translator.facts);
            let processes: Vec<u32> = scope.iter().map(|(number, _)| number).collect();
            let said = Said {
                formulas: std::slice::from_ref(&body),
                holds: false,
                writes: &[],
                processes: &processes,
            };
            let assumed = self.assumed(&scope, &said, &by_references, &mut facts)?;
            let shown = references.iter().map(|r| shown(family, *r));
            self.goals += 1;
            goals.push(Goal {
                number: self.goals,
                condition: Condition::Property {
                    conjunct: number,
                    references: shown.collect(),
                    names: names.to_vec(),
                },
                facts,
                violation: vec![violation],
                assumed,
            });
        }
        Ok(())
    }

    /// The conditions that every allowed value of the parameters has an instance: hypotheses and negated requirement.
    pub(crate) fn requirements(&mut self) -> Result<Vec<(Condition, Vec<Linear>)>, Overflow> {
        let family = self.family;
        let mut conditions = Vec::new();
        for (number, requirement) in family.requirements.iter().enumerate() {
            let scope = Scope::default();
            let mut translator = Translator::new(family, &mut self.table, &scope);
            translator.at_first = true;
            let mut facts = Vec::new();
            for assumption in &family.assumptions {
                facts.push(translator.assume(assumption, true)?);
            }
            let mut names = Names::default();
            if let Some(template) = requirement.of {
                names.own = Some(0);
                let own = translator.var(Var::Id(0));
                let population = translator.population(template)?;
                facts.push(Form::number(0).at_most(&own)?);
                // Of a template that grows there will be more.
                if !matches!(family.templates[template].population, Population::Grows) {
                    facts.push(own.less(&population)?);
                }
            }
            let formula = requirement.formula.resolve(&names);
            facts.push(translator.assume(&formula, false)?);
            facts.append(&mut translator.facts);
            let condition = Condition::Instance {
                requirement: number,
            };
            conditions.push((condition, facts));
        }
        Ok(conditions)
    }

    /// A formula of a view, instantiated.
    pub(crate) fn renamed(formula: &Linear, renaming: &HashMap<Variable, Variable>) -> Linear {
        match formula {
            Linear::Atom(atom) => {
                let mut terms: Vec<(Variable, i64)> = atom
                    .terms
                    .iter()
                    .map(|(variable, factor)| {
                        (*renaming.get(variable).unwrap_or(variable), *factor)
                    })
                    .collect();
                // Different variables stay different, so the form stays normal but for the order.
                terms.sort_unstable_by_key(|(variable, _)| *variable);
                Linear::Atom(Atom {
                    terms,
                    constant: atom.constant,
                })
            }
            Linear::And(members) => Linear::And(
                members
                    .iter()
                    .map(|m| Cases::renamed(m, renaming))
                    .collect(),
            ),
            Linear::Or(members) => Linear::Or(
                members
                    .iter()
                    .map(|m| Cases::renamed(m, renaming))
                    .collect(),
            ),
        }
    }

    /// What a formula of a view says after the step of a case.
    pub(crate) fn after(
        formula: &Linear,
        after: &HashMap<Variable, Form>,
    ) -> Result<Linear, Overflow> {
        Ok(match formula {
            Linear::Atom(atom) => form_after(&atom.terms, atom.constant, after)?.at_most_zero()?,
            Linear::And(members) => {
                let each = members.iter().map(|m| Cases::after(m, after));
                Linear::all(each.collect::<Result<Vec<_>, _>>()?)
            }
            Linear::Or(members) => {
                let each = members.iter().map(|m| Cases::after(m, after));
                Linear::any(each.collect::<Result<Vec<_>, _>>()?)
            }
        })
    }

    /// How a certificate names the condition that an assertion holds after a case.
    pub(crate) fn condition(&self, case: &Case, view: usize, assertion: usize) -> Condition {
        match &case.origin {
            Origin::Initial => Condition::Initial { view, assertion },
            Origin::Step {
                mover,
                template,
                path,
                started,
            } => Condition::Step {
                view,
                assertion,
                mover: *mover,
                template: self.family.templates[*template].name.clone(),
                path: *path,
                started: started.clone(),
            },
        }
    }
}

/// The value of a linear form after the step of a case.
pub(crate) fn form_after(
    terms: &[(Variable, i64)],
    constant: i64,
    after: &HashMap<Variable, Form>,
) -> Result<Form, Overflow> {
    let mut form = Form::number(constant);
    for (variable, factor) in terms {
        let value = match after.get(variable) {
            Some(value) => form.plus(*factor, value)?,
            None => form.plus(*factor, &Form::variable(*variable))?,
        };
        form = value;
    }
    Ok(form)
}

/// Whether a process of a template can be in scope beside these: not if the template has a single one, which is there.
pub(crate) fn room(family: &Family, references: &[Reference], template: TemplateId) -> bool {
    !single(family, template) || references.iter().all(|r| r.template != template)
}

pub(crate) fn shown(family: &Family, reference: Reference) -> family::Reference {
    let template = &family.templates[reference.template];
    family::Reference {
        template: template.name.clone(),
        location: template.locations[reference.location].clone(),
    }
}

/// All views of up to so many processes.
fn views(family: &Family, arity: usize) -> Result<Vec<View>, TooMuch> {
    let mut all: Vec<Reference> = Vec::new();
    for (template, declaration) in family.templates.iter_enumerated() {
        for location in declaration.locations.indices() {
            all.push(Reference { template, location });
        }
    }
    let mut views = vec![View {
        references: Vec::new(),
    }];
    let mut last = views.clone();
    for _ in 0..arity {
        let mut further = Vec::new();
        for view in &last {
            for reference in &all {
                let sorted = view.references.last().is_none_or(|last| last <= reference);
                if sorted && room(family, &view.references, reference.template) {
                    let mut references = view.references.clone();
                    references.push(*reference);
                    further.push(View { references });
                }
            }
        }
        views.extend(further.iter().cloned());
        if views.len() > MAX_VIEWS {
            return Err(TooMuch::Views);
        }
        last = further;
    }
    Ok(views)
}

/// Whether ids of processes matter beyond telling them apart. Those of entries always do.
fn uses_ids(family: &Family) -> bool {
    let program = family.program();
    let locals = program.templates.iter().flat_map(|t| t.locals.iter());
    let mut all = program.shared.iter().chain(locals);
    let ordered = program
        .templates
        .iter()
        .any(|t| t.order != threadwise_lang::program::IdOrder::Unordered && !is_slot(t));
    ordered
        || all.any(|variable| {
            matches!(
                variable.scalar,
                Scalar::Id(_) | Scalar::OptId(_) | Scalar::Mutex
            )
        })
}

/// The variables that the assertion of a view may speak of.
pub(crate) fn view_variables(
    family: &Family,
    table: &mut Table,
    ghosts: &Ghosts,
    view: &View,
    ids: bool,
) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (param, fixed) in family.fixed.iter_enumerated() {
        if fixed.is_none() {
            variables.push(table.number(Var::Param(param)));
        }
    }
    let scope = Scope::of(&view.references);
    let cells = Translator::new(family, table, &scope).cells();
    for cell in cells {
        if let Some(var) = plain(&cell) {
            variables.push(table.number(var));
        }
    }
    for (number, reference) in (0..).zip(&view.references) {
        if ids || family.is_slot(reference.template) {
            variables.push(table.number(Var::Id(number)));
        }
    }
    for (template, declaration) in family.templates.iter_enumerated() {
        for location in declaration.locations.indices() {
            variables.push(table.number(Var::Counter(template, location)));
        }
        for (number, predicate) in ghosts.counted.iter().enumerate() {
            if predicate.template == template {
                for location in declaration.locations.indices() {
                    let var = Var::Counted(number as u32, template, location, false);
                    variables.push(table.number(var));
                }
            }
        }
        for number in 0..table.summed.len() {
            if table.summed[number].template == template {
                for location in declaration.locations.indices() {
                    variables.push(table.number(Var::Sum(
                        number as u32,
                        template,
                        location,
                        false,
                    )));
                }
            }
        }
    }
    for (number, reference) in view.references.iter().enumerate() {
        let compared = ghosts.compared.iter().enumerate();
        for (comparison, _) in compared.filter(|(_, c)| c.of == reference.template) {
            for of in ghosts.numbers(family, comparison, number as u32) {
                variables.push(table.number(Var::Compared(of, false)));
            }
        }
    }
    variables
}

/// The assertions that can be assumed in a scope: every view, in every way that it fits.
pub(crate) fn instantiations(
    scope: &Scope,
    views: &[View],
    by_references: &HashMap<Vec<Reference>, usize>,
    variables: &[Vec<Variable>],
    table: &mut Table,
) -> Vec<Instantiation> {
    let arity = views.iter().map(|v| v.references.len()).max().unwrap_or(0);
    let all: Vec<(u32, Reference)> = scope.iter().collect();
    let mut found = Vec::new();
    let mut picks: Vec<Vec<(u32, Reference)>> = vec![Vec::new()];
    for size in 0..=arity {
        for pick in &picks {
            let references: Vec<Reference> = pick.iter().map(|(_, r)| *r).collect();
            if let Some(view) = by_references.get(&references) {
                let numbers: Vec<u32> = pick.iter().map(|(number, _)| *number).collect();
                let renaming = variables[*view].iter().filter_map(|variable| {
                    let renamed = table.renamed(*variable, &numbers);
                    (renamed != *variable).then_some((*variable, renamed))
                });
                let renaming = renaming.collect();
                found.push(Instantiation {
                    view: *view,
                    references: numbers,
                    renaming,
                    unless: None,
                });
            }
        }
        if size < arity {
            picks = picks
                .iter()
                .flat_map(|pick| {
                    let free = all.iter().filter(|one| !pick.contains(one));
                    free.map(|one| {
                        let mut pick = pick.clone();
                        pick.push(*one);
                        pick
                    })
                })
                .collect();
        }
    }
    found
}

/// The sets of references that a path can have started.
fn started(
    family: &Family,
    references: &[Reference],
    path: &Path,
    mover: Option<usize>,
) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    if path.starts.is_empty() {
        return sets;
    }
    for (place, reference) in references.iter().enumerate() {
        let at_entry = family.templates[reference.template].entry == reference.location;
        let room = path.starts_of(reference.template);
        if Some(place) == mover || !at_entry || room == 0 {
            continue;
        }
        let with: Vec<Vec<usize>> = sets
            .iter()
            .filter(|set| {
                let same = set
                    .iter()
                    .filter(|other| references[**other].template == reference.template);
                same.count() < room
            })
            .map(|set| {
                let mut set = set.clone();
                set.push(place);
                set
            })
            .collect();
        sets.extend(with);
    }
    sets
}

/// What is known of a reference that a step has started.
fn newborn(
    translator: &mut Translator,
    references: &[Reference],
    place: usize,
    (path, mover): (&Path, u32),
    started: &[usize],
    facts: &mut Vec<Linear>,
    after: &mut HashMap<Variable, Form>,
) -> Result<(), Overflow> {
    let family = translator.family;
    let template = references[place].template;
    let id = translator.var(Var::Id(place as u32));
    let population = translator.population(template)?;
    let new = path.starts_of(template) as i64;
    facts.push(population.at_most(&id)?);
    facts.push(id.less(&population.add(new)?)?);
    for other in started {
        if *other < place && references[*other].template == template {
            let other = translator.var(Var::Id(*other as u32));
            facts.push(other.differs(&id)?);
        }
    }
    let names = Names {
        own: Some(place as u32),
        ..Names::default()
    };
    // The cells of the view that are the newborn's, which the scope before does not show.
    let whole = Scope::of(references);
    let cells = Translator::new(family, translator.table, &whole).cells();
    for cell in cells {
        let Cell::Local {
            template,
            process,
            var,
            ..
        } = &cell
        else {
            continue;
        };
        if **process != Term::Reference(place as u32) {
            continue;
        }
        let variable = &family.templates[*template].locals[*var];
        let Some(cell_var) = plain(&cell) else {
            continue;
        };
        let number = translator.table.number(cell_var);
        let mut given = Vec::new();
        for term in path.given(*template, *var, mover) {
            given.push(translator.term(&term)?);
        }
        if let [value] = &given[..] {
            after.insert(number, value.clone());
            continue;
        }
        if !given.is_empty() {
            let value = Form::variable(number);
            let each = given.iter().map(|given| value.equals(given));
            facts.push(Linear::any(each.collect::<Result<Vec<_>, _>>()?));
            continue;
        }
        match &variable.initial {
            Some(initial) => {
                let value = translator.term(&initial.resolve(&names))?;
                after.insert(number, value);
            }
            None => {
                let value = Form::variable(number);
                if let Some(least) = &variable.least {
                    let least = translator.term(least)?;
                    facts.push(least.at_most(&value)?);
                }
                if let Some(greatest) = &variable.greatest {
                    let greatest = translator.term(greatest)?;
                    // Ids of a template that grows may be of those that were just started.
                    let grows = path.starts.len() as i64;
                    facts.push(value.at_most(&greatest.add(grows)?)?);
                }
            }
        }
    }
    Ok(())
}

/// What becomes of the number of processes of which a counted predicate holds.
struct Flow<'a> {
    number: u32,
    counted: &'a Counted,
    path: &'a Path,
    own: u32,
    to: LocationId,
    started: &'a [usize],
    references: &'a [Reference],
}

impl Flow<'_> {
    fn facts(
        &self,
        translator: &mut Translator,
        facts: &mut Vec<Linear>,
        after: &mut HashMap<Variable, Form>,
    ) -> Result<(), Overflow> {
        let template = self.counted.template;
        let mut scope: Vec<(u32, Reference)> = translator.scope.iter().collect();
        scope.retain(|(_, reference)| reference.template == template);
        let newborn: Vec<u32> = self
            .started
            .iter()
            .filter(|place| self.references[**place].template == template)
            .map(|place| *place as u32)
            .collect();
        for reference in scope
            .iter()
            .map(|(number, _)| *number)
            .chain(newborn.iter().copied())
        {
            let holds = translator.renamed(&self.counted.predicate, reference)?;
            let holds = Cases::after(&holds, after)?;
            let indicator = translator.var(Var::Indicator(reference, self.number, true));
            facts.push(indicates(&indicator, &holds)?);
        }
        let (shared, delta) = self.shared_part(translator, after)?;
        let zero = Form::number(0);
        let entry = translator.family.templates[template].entry;
        let unseen = self.path.starts_of(template) - newborn.len();
        for location in translator.family.templates[template].locations.indices() {
            let total = translator.var(Var::Counter(template, location));
            let before = Var::Counted(self.number, template, location, false);
            let before_number = translator.table.number(before.clone());
            let before = translator.var(before);
            let later = Var::Counted(self.number, template, location, true);
            let later = translator.var(later);
            after.insert(before_number, later.clone());
            let mut others = total;
            let mut held = before;
            let mut holding = later;
            for (number, reference) in &scope {
                if reference.location == location {
                    others = others.add(-1)?;
                    let indicator = translator.var(Var::Indicator(*number, self.number, false));
                    held = held.plus(-1, &indicator)?;
                }
                let moved = match *number == self.own {
                    true => self.to,
                    false => reference.location,
                };
                if moved == location {
                    let indicator = translator.var(Var::Indicator(*number, self.number, true));
                    holding = holding.plus(-1, &indicator)?;
                }
            }
            let mut more = 0;
            if location == entry {
                for number in &newborn {
                    let indicator = translator.var(Var::Indicator(*number, self.number, true));
                    holding = holding.plus(-1, &indicator)?;
                }
                more = unseen as i64;
            }
            facts.push(zero.at_most(&holding)?);
            facts.push(holding.at_most(&others.add(more)?)?);
            let grown = held.add(more)?;
            if !shared {
                facts.push(held.at_most(&holding)?);
                facts.push(holding.at_most(&grown)?);
            } else if let Some(delta) = &delta {
                let rises = zero.less(delta)?;
                let falls = delta.less(&zero)?;
                facts.push(Linear::any([rises, held.at_most(&holding)?]));
                facts.push(Linear::any([falls, holding.at_most(&grown)?]));
            }
        }
        Ok(())
    }

    /// Whether the predicate depends on shared variables, and by how much that part of it changes.
    fn shared_part(
        &self,
        translator: &Translator,
        after: &HashMap<Variable, Form>,
    ) -> Result<(bool, Option<Form>), Overflow> {
        let mut part = Vec::new();
        for (variable, factor) in &self.counted.predicate.terms {
            match translator.table.var(*variable) {
                // Cells of arrays at the process itself are written by whoever likes.
                Var::Shared(_, places) if places.iter().any(is_reference) => {
                    return Ok((true, None));
                }
                Var::Shared(..) | Var::Counter(..) => part.push((*variable, *factor)),
                _ => {}
            }
        }
        if part.is_empty() {
            return Ok((false, None));
        }
        let later = form_after(&part, 0, after)?;
        let before = form_after(&part, 0, &HashMap::new())?;
        Ok((true, Some(later.plus(-1, &before)?)))
    }
}

fn is_reference(place: &crate::scope::Place) -> bool {
    matches!(place, crate::scope::Place::Reference(_))
}

/// Whether a counted predicate holds of all processes at first or of none, if that can be said: a formula over parameters and shared variables.
fn initially(translator: &mut Translator, counted: &Counted) -> Result<Option<Linear>, Overflow> {
    let family = translator.family;
    let mut form = Form::number(counted.predicate.constant);
    for (variable, factor) in &counted.predicate.terms {
        let value = match translator.table.var(*variable).clone() {
            Var::Param(_) | Var::Counter(..) => Form::variable(*variable),
            Var::Shared(_, places) if !places.iter().any(is_reference) => Form::variable(*variable),
            Var::Local(_, template, local, _) => {
                match &family.templates[template].locals[local].initial {
                    Some(initial) if !initial.to_string().contains("own") => {
                        translator.term(initial)?
                    }
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        form = form.plus(*factor, &value)?;
    }
    Ok(Some(form.at_most_zero()?))
}

/// The ways in which variables of the same template may be the same process, by first appearance.
fn identifications(conjunct: &Conjunct) -> Vec<Vec<usize>> {
    let mut ways: Vec<Vec<usize>> = vec![Vec::new()];
    for (place, (_, template)) in conjunct.variables.iter().enumerate() {
        let mut further = Vec::new();
        for way in &ways {
            let next = way.iter().max().map_or(0, |most| most + 1);
            for name in 0..=next {
                let first = way.iter().position(|other| *other == name);
                let fits = first.is_none_or(|first| conjunct.variables[first].1 == *template);
                if fits {
                    let mut way = way.clone();
                    way.push(name);
                    further.push(way);
                }
            }
        }
        debug_assert_eq!(place + 1, further.first().map_or(place + 1, Vec::len));
        ways = further;
    }
    ways
}
