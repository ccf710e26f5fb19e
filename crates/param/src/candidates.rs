//! Guesses at assertions: inequalities that the program itself suggests, and clauses of two of them.
//!
//! The source of most is the text: guards, values that are assigned, and what the property says. Then there are numbers of processes (none or some at a label), bounds
//! that hold of all samples, differences of variables, and the terms of Definition 6 of Pani, Weissenbacher and Zuleger (FMCAD 2020): a variable and a counter, each
//! times the stride of the other, so that their difference stays what it is when both move.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Atom, Formula as Linear, Overflow, Variable};
use threadwise_lang::program::{IdOrder, Scalar, TemplateId};
use threadwise_model::family::{Cell, Names, Term, Write};
use threadwise_model::state::FREE;

use crate::conditions::{Cases, Goal};
use crate::points::{Points, holds};
use crate::positions::{self, Equation};
use crate::scope::{Counted, Form, Place, Reference, Scope, Translator, Var, plain};

/// An inequality that the text suggests, about processes of these templates: reference `i` is of the `i`th.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seed {
    atom: Atom,
    templates: Vec<TemplateId>,
}

/// The literals of a clause at most, and the literals and clauses of a view.
const MOST_LITERALS: usize = 120;
const MOST_CLAUSES: usize = 6_000;
/// Values that are named one by one at most.
const FEW: usize = 5;

/// What the text of the program and the goals suggest.
pub(crate) fn seeds(cases: &mut Cases, goals: &[&Goal]) -> Vec<Seed> {
    let family = cases.family;
    let mut seeds = BTreeSet::new();
    for (template, declaration) in family.templates.iter_enumerated() {
        // Who comes first, where the program may ask for it. Properties that ask only whether two are the same need it just as well.
        if family.program().templates[template].order == IdOrder::Ordered {
            let (first, second) = (Var::Id(0), Var::Id(1));
            let ids = [first, second].map(|var| Form::variable(cases.table.number(var)));
            if let Ok(Linear::Atom(atom)) = ids[0].less(&ids[1]) {
                let templates = vec![template; 2];
                seeds.insert(Seed { atom, templates });
            }
        }
        for path in &declaration.paths {
            let mover = Reference {
                template,
                location: path.from,
            };
            for write in &path.writes {
                for_everybody(cases, mover, write, &mut seeds);
            }
            let scope = Scope::of(&[mover]);
            let names = Names {
                own: Some(0),
                ..Names::default()
            };
            let mut translator = Translator::new(family, &mut cases.table, &scope);
            let mut formulas = Vec::new();
            for guard in &path.guard {
                formulas.extend(translator.assume(&guard.resolve(&names), true).ok());
            }
            for Write { cell, value, .. } in &path.writes {
                let cell = cell.resolve(&names);
                if let (Some(var), Ok(value)) =
                    (plain(&cell), translator.term(&value.resolve(&names)))
                {
                    // What is assigned, if it is not a change of the variable itself.
                    let variable = translator.table.number(var);
                    if value.terms.iter().all(|(other, _)| *other != variable) {
                        formulas.extend(Form::variable(variable).equals(&value).ok());
                    }
                }
            }
            formulas.append(&mut translator.facts);
            for formula in &formulas {
                atoms(formula, &mut |atom| {
                    seeds.extend(seed(cases, atom, &|_| Some(template)));
                });
            }
        }
    }
    for goal in goals {
        let templates = goal_templates(cases, goal);
        for formula in &goal.violation {
            atoms(formula, &mut |atom| {
                seeds.extend(seed(cases, atom, &|reference| {
                    templates.get(reference as usize).copied()
                }));
            });
        }
    }
    seeds.into_iter().collect()
}

/// What a step suggests that writes for everybody: the last reference moves, and the others are any that are written for.
fn for_everybody(cases: &mut Cases, mover: Reference, write: &Write, seeds: &mut BTreeSet<Seed>) {
    if write.each.is_empty() {
        return;
    }
    let family = cases.family;
    let mut references = Vec::new();
    let mut names = Names {
        own: Some(write.each.len() as u32),
        ..Names::default()
    };
    for (number, (bound, template)) in (0..).zip(&write.each) {
        names = names.with(*bound, number);
        references.push(Reference {
            template: *template,
            location: family.templates[*template].entry,
        });
    }
    references.push(mover);
    let Some(var) = plain(&write.cell.resolve(&names)) else {
        return;
    };
    let scope = Scope::of(&references);
    let mut translator = Translator::new(family, &mut cases.table, &scope);
    let variable = Form::variable(translator.table.number(var));
    let mut formulas = Vec::new();
    let mut values = vec![write.value.resolve(&names)];
    while let Some(value) = values.pop() {
        if let Term::If(condition, yes, no) = value {
            formulas.extend(translator.assume(&condition, true).ok());
            values.extend([*yes, *no]);
        } else if let Ok(value) = translator.term(&value) {
            formulas.extend(variable.equals(&value).ok());
        }
    }
    formulas.append(&mut translator.facts);
    for formula in &formulas {
        atoms(formula, &mut |atom| {
            let template = |reference: u32| {
                let reference = references.get(reference as usize);
                reference.map(|reference| reference.template)
            };
            seeds.extend(seed(cases, atom, &template));
        });
    }
}

fn goal_templates(cases: &Cases, goal: &Goal) -> Vec<TemplateId> {
    use threadwise_evidence::family::Condition;
    let named = |name: &str| {
        let mut templates = cases.family.templates.iter_enumerated();
        templates
            .find(|(_, template)| template.name == name)
            .map(|(id, _)| id)
    };
    match &goal.condition {
        Condition::Check { template, .. } => named(template).into_iter().collect(),
        Condition::Property { references, .. } => {
            let each = references.iter();
            each.filter_map(|reference| named(&reference.template))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// What guards ask of shared variables alone, and the negations of that; and the values of shared truth values that they compare with own variables.
pub(crate) fn tests(cases: &Cases, seeds: &[Seed]) -> Vec<Linear> {
    let mut found = BTreeSet::new();
    for seed in seeds.iter().filter(|seed| seed.templates.is_empty()) {
        let mut terms = seed.atom.terms.iter();
        if terms.any(|(variable, _)| matches!(cases.table.var(*variable), Var::Shared(..))) {
            found.extend(seed.atom.negation().ok());
            found.insert(seed.atom.clone());
        }
    }
    let program = cases.family.program();
    for seed in seeds.iter().filter(|seed| !seed.templates.is_empty()) {
        for (variable, _) in &seed.atom.terms {
            let is_flag = match cases.table.var(*variable) {
                Var::Shared(var, places) => {
                    places.is_empty() && program.shared[*var].scalar == Scalar::Bool
                }
                _ => false,
            };
            if is_flag {
                let holds = Atom {
                    terms: vec![(*variable, -1)],
                    constant: 1,
                };
                found.extend(holds.negation().ok());
                found.insert(holds);
            }
        }
    }
    found.into_iter().map(Linear::Atom).collect()
}

/// Calls for every inequality of a formula.
fn atoms(formula: &Linear, visit: &mut dyn FnMut(&Atom)) {
    match formula {
        Linear::Atom(atom) => visit(atom),
        Linear::And(members) | Linear::Or(members) => {
            members.iter().for_each(|member| atoms(member, visit));
        }
    }
}

/// An inequality as a seed, with its references numbered from 0 on; nothing if it is about choices and the like.
fn seed(cases: &Cases, atom: &Atom, template: &dyn Fn(u32) -> Option<TemplateId>) -> Option<Seed> {
    let mut used = BTreeSet::new();
    for (variable, _) in &atom.terms {
        match cases.table.var(*variable) {
            Var::Param(_) | Var::Counter(..) => {}
            Var::Shared(_, places) => used.extend(references(places)),
            Var::Id(reference) => {
                used.insert(*reference);
            }
            Var::Local(reference, _, _, places) => {
                used.insert(*reference);
                used.extend(references(places));
            }
            Var::Counted(..)
            | Var::Sum(..)
            | Var::Indicator(..)
            | Var::Choice(_)
            | Var::Opaque(_)
            | Var::Compared(..)
            | Var::Comparison(..)
            | Var::Blocker(..) => {
                return None;
            }
        }
    }
    let greatest = used.iter().max().map_or(0, |most| most + 1);
    let templates: Option<Vec<TemplateId>> = (0..greatest).map(template).collect();
    Some(Seed {
        atom: atom.clone(),
        templates: templates?,
    })
}

fn references(places: &[Place]) -> impl Iterator<Item = u32> + '_ {
    places.iter().filter_map(|place| match place {
        Place::Reference(reference) => Some(*reference),
        Place::Position(_) => None,
    })
}

/// The inequalities of the seeds that a view can be asked about, and their negations.
fn seeded(cases: &mut Cases, view: usize, seeds: &[Seed]) -> BTreeSet<Atom> {
    let references = cases.views[view].references.clone();
    let mut found = BTreeSet::new();
    for seed in seeds {
        let mut picks: Vec<Vec<u32>> = vec![Vec::new()];
        for template in &seed.templates {
            picks = picks
                .iter()
                .flat_map(|pick| {
                    let fits = references.iter().enumerate().filter(|(place, reference)| {
                        reference.template == *template && !pick.contains(&(*place as u32))
                    });
                    fits.map(|(place, _)| {
                        let mut pick = pick.clone();
                        pick.push(place as u32);
                        pick
                    })
                })
                .collect();
        }
        for pick in picks {
            let terms = seed.atom.terms.iter();
            let terms: Vec<(Variable, i64)> = terms
                .map(|(variable, factor)| (cases.table.renamed(*variable, &pick), *factor))
                .collect();
            if let Ok(atom) = Atom::at_most_zero(terms, seed.atom.constant)
                && !atom.terms.is_empty()
            {
                found.extend(atom.negation().ok());
                found.insert(atom);
            }
        }
    }
    found
}

/// What a variable is, as far as guesses are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Param,
    Integer,
    /// Few values without an order that matters.
    Small,
    Id(TemplateId),
    Counter,
}

fn sort(cases: &Cases, variable: Variable) -> Option<Sort> {
    let program = cases.family.program();
    let of = |scalar: &Scalar| match scalar {
        Scalar::Int | Scalar::Range(..) => Some(Sort::Integer),
        Scalar::Bool | Scalar::Enum(_) => Some(Sort::Small),
        Scalar::Id(template) | Scalar::OptId(template) => Some(Sort::Id(*template)),
        Scalar::Mutex => None,
    };
    match cases.table.var(variable) {
        Var::Param(_) => Some(Sort::Param),
        Var::Shared(var, _) => of(&program.shared[*var].scalar),
        Var::Local(_, template, var, _) => of(&program.templates[*template].locals[*var].scalar),
        Var::Counter(..) | Var::Counted(..) | Var::Compared(..) => Some(Sort::Counter),
        _ => None,
    }
}

/// Bounds that hold of all samples, and what the text suggests, for each view: first guesses.
pub(crate) fn units(cases: &mut Cases, points: &Points, seeds: &[Seed]) -> Vec<Vec<Linear>> {
    (0..cases.views.len())
        .map(|view| {
            let mut found = seeded(cases, view, seeds);
            for (place, variable) in cases.variables[view].clone().into_iter().enumerate() {
                let ghost = matches!(cases.table.var(variable), Var::Compared(..));
                if sort(cases, variable).is_some_and(|sort| sort != Sort::Param) && !ghost {
                    bounds(&[(variable, 1, place)], &points.of_view[view], &mut found);
                }
            }
            found.into_iter().map(Linear::Atom).collect()
        })
        .collect()
}

/// Bounds of differences and of terms by strides, for each view.
pub(crate) fn differences(cases: &mut Cases, points: &Points) -> Vec<Vec<Linear>> {
    let strides = strides(cases);
    (0..cases.views.len())
        .map(|view| {
            let mut found = BTreeSet::new();
            let variables = cases.variables[view].clone();
            let sorts: Vec<Option<Sort>> = variables
                .iter()
                .map(|variable| sort(cases, *variable))
                .collect();
            for (place, variable) in variables.iter().enumerate() {
                for (other_place, other) in variables.iter().enumerate() {
                    let pairs: Vec<(i64, i64)> = match (sorts[place], sorts[other_place]) {
                        (Some(Sort::Integer), Some(Sort::Integer)) if place < other_place => {
                            vec![(1, -1), (1, 1)]
                        }
                        (Some(Sort::Integer), Some(Sort::Param)) => vec![(1, -1), (1, 1)],
                        (Some(Sort::Integer), Some(Sort::Counter)) => {
                            let by = strides.get(variable).into_iter().flatten();
                            by.flat_map(|by| [(1, -*by), (1, *by)]).collect()
                        }
                        _ => continue,
                    };
                    for (a, b) in pairs {
                        let form = [(*variable, a, place), (*other, b, other_place)];
                        bounds(&form, &points.of_view[view], &mut found);
                    }
                }
            }
            found.into_iter().map(Linear::Atom).collect()
        })
        .collect()
}

/// Numbers of processes that compare with entries of arrays, all labels together: bounds by the entry's index and a parameter that are reached at each value of the parameter, and what holds
/// where such a number is more than 0, or more than 1.
pub(crate) fn levels(cases: &Cases, points: &Points) -> Result<Vec<Vec<Linear>>, Overflow> {
    let mut all = Vec::with_capacity(cases.views.len());
    for (variables, points) in cases.variables.iter().zip(&points.of_view) {
        let mut totals: BTreeMap<(u32, u32), Form> = BTreeMap::new();
        let mut each = Vec::new();
        let (mut params, mut ids) = (Vec::new(), BTreeMap::new());
        for variable in variables {
            let form = Form::variable(*variable);
            match cases.table.var(*variable) {
                Var::Compared(at, false) => {
                    let total = totals.entry((at.comparison, at.reference)).or_default();
                    *total = total.plus(1, &form)?;
                    each.push(form);
                }
                Var::Param(_) => params.push(form),
                Var::Id(reference) => {
                    ids.insert(*reference, form);
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        let places = places(variables);
        each.extend(totals.values().cloned());
        for ((_, reference), total) in &totals {
            for param in &params {
                for (id, sign) in ids
                    .get(reference)
                    .into_iter()
                    .flat_map(|id| [(id, 1), (id, -1)])
                {
                    let form = total.plus(sign, id)?.plus(-1, param)?;
                    for few in [-1, 0, 1] {
                        let few = total.at_most(&Form::number(few))?;
                        let more = points.iter().filter(|point| !holds(&few, &places, point));
                        let more: Vec<&Vec<i64>> = more.collect();
                        let bound = reached(&form, param, &more, &places)?;
                        found.extend(bound.map(|bound| Linear::any([few, bound])));
                    }
                }
            }
            for few in [0, 1] {
                let few = total.at_most(&Form::number(few))?;
                for other in each.iter().filter(|other| *other != total) {
                    for literal in [
                        other.at_most(&Form::number(0))?,
                        Form::number(1).at_most(other)?,
                    ] {
                        let always = |one: &Linear| points.iter().all(|p| holds(one, &places, p));
                        if !always(&few) && !always(&literal) {
                            found.push(Linear::any([few.clone(), literal]));
                        }
                    }
                }
            }
        }
        all.push(found);
    }
    Ok(all)
}

/// That a form is at most what it is at most in samples, if that is the same for each value of a parameter.
fn reached(
    form: &Form,
    param: &Form,
    points: &[&Vec<i64>],
    places: &HashMap<Variable, usize>,
) -> Result<Option<Linear>, Overflow> {
    let value = |form: &Form, point: &[i64]| {
        let terms = form.terms.iter();
        let terms = terms.map(|(v, factor)| factor * places.get(v).map_or(0, |at| point[*at]));
        form.constant + terms.sum::<i64>()
    };
    let mut most: BTreeMap<i64, i64> = BTreeMap::new();
    for point in points {
        let greatest = most.entry(value(param, point)).or_insert(i64::MIN);
        *greatest = value(form, point).max(*greatest);
    }
    let mut bounds = most.values();
    Ok(match bounds.next() {
        Some(first) if bounds.all(|other| other == first) => {
            Some(form.at_most(&Form::number(*first))?)
        }
        _ => None,
    })
}

/// By how much steps change variables.
pub(crate) fn strides(cases: &mut Cases) -> HashMap<Variable, BTreeSet<i64>> {
    let mut strides: HashMap<Variable, BTreeSet<i64>> = HashMap::new();
    let family = cases.family;
    for template in &family.templates {
        for path in &template.paths {
            for Write { cell, value, .. } in &path.writes {
                let Cell::Shared { .. } = cell else { continue };
                let by = match value {
                    Term::Sum(terms) => match terms.as_slice() {
                        [Term::Cell(same), Term::Number(by)] if same == cell => *by,
                        _ => continue,
                    },
                    _ => continue,
                };
                if let Some(var) = plain(cell)
                    && (1..=64).contains(&by.unsigned_abs())
                {
                    let variable = cases.table.number(var);
                    strides.entry(variable).or_default().insert(by.abs());
                }
            }
        }
    }
    strides
}

/// The least and the greatest value of a form over all points, as inequalities.
fn bounds(form: &[(Variable, i64, usize)], points: &[Vec<i64>], found: &mut BTreeSet<Atom>) {
    let value = |point: &Vec<i64>| {
        let each = form.iter();
        each.map(|(_, factor, place)| i128::from(*factor) * i128::from(point[*place]))
            .sum::<i128>()
    };
    let (Some(least), Some(greatest)) = (
        points.iter().map(value).min(),
        points.iter().map(value).max(),
    ) else {
        return;
    };
    let terms = |sign: i64| {
        let each = form.iter();
        each.map(move |(variable, factor, _)| (*variable, sign * factor))
    };
    // Besides what the samples say, the bounds that programs like best.
    for bound in [greatest, 0, 1] {
        if bound >= greatest
            && let Ok(bound) = i64::try_from(bound)
        {
            found.extend(Atom::at_most_zero(terms(1), -bound).ok());
        }
    }
    for bound in [least, 0, 1] {
        if bound <= least
            && let Ok(bound) = i64::try_from(bound)
        {
            found.extend(Atom::at_most_zero(terms(-1), bound).ok());
        }
    }
}

/// What clauses are made of: formulas that do not hold at all points of a view.
fn literals(cases: &mut Cases, view: usize, points: &Points, seeds: &[Seed]) -> Vec<Linear> {
    let mut found: BTreeSet<Linear> = seeded(cases, view, seeds)
        .into_iter()
        .map(Linear::Atom)
        .collect();
    let variables = cases.variables[view].clone();
    let references = cases.views[view].references.clone();
    for (place, variable) in variables.iter().enumerate() {
        let values: BTreeSet<i64> = points.of_view[view]
            .iter()
            .map(|point| point[place])
            .collect();
        let mut against = |constant: Form| {
            let form = Form::variable(*variable);
            for literal in [
                form.equals(&constant),
                form.differs(&constant),
                form.at_most(&constant),
                constant.at_most(&form),
            ] {
                found.extend(literal.ok().filter(|literal| literal.truth().is_none()));
            }
        };
        match sort(cases, *variable) {
            Some(Sort::Counter) => {
                let counter = Form::variable(*variable);
                found.extend(counter.at_most(&Form::number(0)).ok());
                found.extend(Form::number(1).at_most(&counter).ok());
            }
            Some(Sort::Small) => {
                let few = values.iter().take(FEW);
                few.for_each(|value| against(Form::number(*value)));
            }
            Some(Sort::Id(template)) => {
                against(Form::number(-1));
                for (number, reference) in references.iter().enumerate() {
                    if reference.template == template {
                        let id = cases.table.number(Var::Id(number as u32));
                        against(Form::variable(id));
                    }
                }
            }
            Some(Sort::Integer) => {
                against(Form::number(0));
                let few = few_values(cases, *variable);
                if few {
                    values
                        .iter()
                        .for_each(|value| against(Form::number(*value)));
                }
                // Entries of an array, and variables of a kind, against each other.
                for (other_place, other) in variables[..place].iter().enumerate() {
                    if !alike(cases, *variable, *other) {
                        continue;
                    }
                    against(Form::variable(*other));
                    let apart: BTreeSet<i64> = points.of_view[view]
                        .iter()
                        .filter_map(|point| point[place].checked_sub(point[other_place]))
                        .collect();
                    if few && apart.len() <= FEW {
                        for by in apart {
                            if let Ok(moved) = Form::variable(*other).add(by) {
                                against(moved);
                            }
                        }
                    }
                }
            }
            Some(Sort::Param) | None => {}
        }
    }
    let places = places(&variables);
    let all = &points.of_view[view];
    // What always holds excludes nothing.
    found.retain(|literal| all.iter().any(|point| !holds(literal, &places, point)));
    found.into_iter().collect()
}

/// Whether the type of a variable has few values, whatever the parameters are. Values that only small instances lack are no help.
fn few_values(cases: &Cases, variable: Variable) -> bool {
    let declaration = match cases.table.var(variable) {
        Var::Shared(var, _) => &cases.family.shared[*var],
        Var::Local(_, template, var, _) => &cases.family.templates[*template].locals[*var],
        _ => return false,
    };
    match (&declaration.least, &declaration.greatest) {
        (Some(Term::Number(least)), Some(Term::Number(greatest))) => {
            i128::from(*greatest) - i128::from(*least) < FEW as i128
        }
        _ => false,
    }
}

/// Whether two variables are the same one of different processes, entries of one array, or both shared integers.
fn alike(cases: &Cases, one: Variable, other: Variable) -> bool {
    match (cases.table.var(one), cases.table.var(other)) {
        (Var::Shared(a, places), Var::Shared(b, others)) => {
            a == b
                || places.is_empty()
                    && others.is_empty()
                    && sort(cases, other) == Some(Sort::Integer)
        }
        (Var::Local(_, t, a, _), Var::Local(_, u, b, _)) => (t, a) == (u, b),
        _ => false,
    }
}

/// The literals of a view, and at which of its points each holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) literals: Vec<Linear>,
    pub(crate) bits: Vec<Vec<u64>>,
    /// How many words the bits have.
    pub(crate) words: usize,
}

/// What clauses are made of, for each view. Those about numbers of processes are left out on request.
pub(crate) fn pools(
    cases: &mut Cases,
    points: &Points,
    seeds: &[Seed],
    counters: bool,
    equations: Option<&[Equation]>,
) -> Vec<Pool> {
    (0..cases.views.len())
        .map(|view| {
            let mut literals = literals(cases, view, points, seeds);
            if let Some(equations) = equations {
                let more = positions::literals(cases, view, equations).unwrap_or_default();
                let places = places(&cases.variables[view]);
                let all = &points.of_view[view];
                let useful = |more: &Linear| {
                    !literals.contains(more) && all.iter().any(|point| !holds(more, &places, point))
                };
                let more: Vec<Linear> = more.into_iter().filter(useful).collect();
                literals.extend(more);
            }
            if !counters {
                literals.retain(|literal| {
                    let variables = crate::infer::variables(literal);
                    let mut vars = variables.iter().map(|variable| cases.table.var(*variable));
                    !vars.any(|var| matches!(var, Var::Counter(..)))
                });
            }
            literals.sort_by_cached_key(|literal| (size(literal), literal.clone()));
            let places = places(&cases.variables[view]);
            let all = &points.of_view[view];
            let bits: Vec<Vec<u64>> = literals
                .iter()
                .map(|literal| bitset(all.iter().map(|point| holds(literal, &places, point))))
                .collect();
            Pool {
                literals,
                bits,
                words: all.len().div_ceil(64),
            }
        })
        .collect()
}

fn places(variables: &[Variable]) -> HashMap<Variable, usize> {
    let places = variables.iter().enumerate();
    places.map(|(place, variable)| (*variable, place)).collect()
}

/// Clauses of two literals that hold of all samples, for each view.
pub(crate) fn clauses(cases: &mut Cases, points: &Points, seeds: &[Seed]) -> Vec<Vec<Linear>> {
    (0..cases.views.len())
        .map(|view| {
            let mut literals = literals(cases, view, points, seeds);
            let places = places(&cases.variables[view]);
            let all = &points.of_view[view];
            // One that never holds adds nothing to another one.
            literals.retain(|literal| all.iter().any(|point| holds(literal, &places, point)));
            literals.truncate(MOST_LITERALS);
            let bits: Vec<Vec<u64>> = literals
                .iter()
                .map(|literal| bitset(all.iter().map(|point| holds(literal, &places, point))))
                .collect();
            let full = bitset(all.iter().map(|_| true));
            let mut found: BTreeMap<usize, Vec<Linear>> = BTreeMap::new();
            let mut count = 0;
            for (place, literal) in literals.iter().enumerate() {
                for (other_place, other) in literals[..place].iter().enumerate() {
                    let together = bits[place].iter().zip(&bits[other_place]);
                    let together = together.zip(&full).all(|((a, b), full)| a | b == *full);
                    let opposite = literal.negation().as_ref() == Ok(other);
                    if together && !opposite && count < MOST_CLAUSES {
                        let clause = Linear::any([literal.clone(), other.clone()]);
                        found.entry(size(&clause)).or_default().push(clause);
                        count += 1;
                    }
                }
            }
            found.into_values().flatten().collect()
        })
        .collect()
}

fn size(formula: &Linear) -> usize {
    let mut size = 0;
    atoms(formula, &mut |atom| size += atom.terms.len());
    size
}

fn bitset(truths: impl Iterator<Item = bool>) -> Vec<u64> {
    let mut bits = Vec::new();
    for (place, truth) in truths.enumerate() {
        if place % 64 == 0 {
            bits.push(0);
        }
        if truth && let Some(last) = bits.last_mut() {
            *last |= 1_u64 << (place % 64);
        }
    }
    bits
}

/// Predicates that processes can be counted by: what a variable of their own is, and how one compares with a shared one.
pub(crate) struct Predicates {
    /// Those about own variables with few values.
    pub(crate) own: Vec<Counted>,
    /// Those that link an own variable with shared ones.
    pub(crate) linking: Vec<Counted>,
}

/// The predicates that the declarations and the text suggest.
pub(crate) fn predicates(cases: &mut Cases, seeds: &[Seed]) -> Predicates {
    let program = cases.family.program();
    let mut own = Vec::new();
    for (template, declaration) in program.templates.iter_enumerated() {
        for (local, variable) in declaration.locals.iter_enumerated() {
            let most = match &variable.scalar {
                Scalar::Bool => 1,
                Scalar::Enum(id) => program.enums[*id].members.len() as i64 - 1,
                _ => continue,
            };
            if !variable.dims.is_empty() || most > 3 {
                continue;
            }
            let number = cases
                .table
                .number(Var::Local(0, template, local, Vec::new()));
            for value in 1..=most {
                // The variable is at least this.
                let predicate = Atom {
                    terms: vec![(number, -1)],
                    constant: value,
                };
                own.push(Counted {
                    template,
                    predicate,
                });
            }
        }
    }
    let mut linking: Vec<Counted> = Vec::new();
    for seed in seeds {
        let [template] = seed.templates.as_slice() else {
            continue;
        };
        let vars = seed.atom.terms.iter().map(|(v, _)| cases.table.var(*v));
        let (mut local, mut shared, mut other) = (false, false, false);
        for var in vars {
            match var {
                Var::Local(_, _, _, places) => {
                    local = true;
                    other |= references(places).next().is_some();
                }
                Var::Shared(_, places) => {
                    shared = true;
                    other |= references(places).next().is_some();
                }
                Var::Param(_) => {}
                _ => other = true,
            }
        }
        let counted = Counted {
            template: *template,
            predicate: seed.atom.clone(),
        };
        // Of a predicate and its negation, one is enough.
        let opposite = linking.iter().any(|known| {
            known.template == *template && seed.atom.negation().as_ref() == Ok(&known.predicate)
        });
        if local && shared && !other && !opposite && !linking.contains(&counted) {
            linking.push(counted);
        }
    }
    Predicates { own, linking }
}

/// By what the states of a view are told apart before equations are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Modes {
    /// Nothing.
    #[default]
    One,
    /// Truth values.
    Truths,
    /// Which of two shared integers is greater.
    Orders,
    /// Shared truth values, and whether somebody is at labels that are passed one at a time.
    Phases,
    /// In which order positions in arrays are, and truth values.
    Positions,
    /// Shared truth values, and whether somebody holds a mutex.
    Locks,
    /// Whether integers are before the one from which a comparison goes round, or behind it.
    Rounds,
}

/// Truth values, and pairs of integers, that make modes at most.
const MOST_TRUTHS: usize = 4;
const MOST_ORDERS: usize = 1;
/// Integers that are told apart by where they are from the value at which a comparison begins.
const MOST_ROUNDS: usize = 3;
/// Labels, and shared truth values beside them.
const MOST_ALONE: usize = 2;

impl Modes {
    /// Nothing that states are told apart by: one mode of each view, which always holds.
    pub(crate) fn none(cases: &Cases) -> Vec<Vec<Linear>> {
        vec![vec![Linear::constant(true)]; cases.views.len()]
    }

    /// The modes of each view: one of them holds in each state. Samples may say by what states are told apart.
    pub(crate) fn by(
        self,
        cases: &mut Cases,
        points: &Points,
    ) -> Result<Vec<Vec<Linear>>, Overflow> {
        let mut all = Vec::with_capacity(cases.views.len());
        let alone = match self {
            Modes::Phases => alone(cases, points),
            _ => Vec::new(),
        };
        let mut orders_of_places = Vec::new();
        if self == Modes::Positions {
            for view in 0..cases.views.len() {
                orders_of_places.push(positions::orders(cases, view)?);
            }
            if orders_of_places.iter().all(|orders| orders.len() == 1) {
                return Ok(Modes::none(cases));
            }
        }
        for (view, variables) in cases.variables.iter().enumerate() {
            let choices = match self {
                Modes::Positions => {
                    let mut choices = truths(cases, variables)?;
                    choices.push(orders_of_places[view].clone());
                    choices
                }
                Modes::One => Vec::new(),
                Modes::Truths => truths(cases, variables)?,
                Modes::Orders => orders(cases, variables)?,
                // Without such labels this is no more than truth values are.
                Modes::Phases if alone.is_empty() => Vec::new(),
                Modes::Phases => phases(cases, variables, &alone)?,
                Modes::Locks => locks(cases, variables)?,
                Modes::Rounds => rounds(cases, variables)?,
            };
            let mut modes = vec![Vec::new()];
            for choice in &choices {
                modes = modes
                    .iter()
                    .flat_map(|mode: &Vec<Linear>| {
                        choice.iter().map(|one| {
                            let mut mode = mode.clone();
                            mode.push(one.clone());
                            mode
                        })
                    })
                    .collect();
            }
            all.push(modes.into_iter().map(Linear::all).collect());
        }
        Ok(all)
    }
}

/// A mutex is free or not; without any, nothing is told apart.
fn locks(cases: &Cases, variables: &[Variable]) -> Result<Vec<Vec<Linear>>, Overflow> {
    let program = cases.family.program();
    let (mut mutexes, mut shared) = (Vec::new(), Vec::new());
    for variable in variables {
        let Var::Shared(var, places) = cases.table.var(*variable) else {
            continue;
        };
        shared.push(*variable);
        if program.shared[*var].scalar == Scalar::Mutex && places.is_empty() {
            let holder = Form::variable(*variable);
            let free = holder.at_most(&Form::number(FREE))?;
            mutexes.push(vec![free.clone(), free.negation()?]);
        }
    }
    if mutexes.is_empty() {
        return Ok(Vec::new());
    }
    mutexes.extend(truths(cases, &shared)?);
    mutexes.truncate(MOST_TRUTHS);
    Ok(mutexes)
}

/// Where a comparison goes round from the value of a shared variable: on which side of it the own variable that is compared is, and another shared one.
fn rounds(cases: &Cases, variables: &[Variable]) -> Result<Vec<Vec<Linear>>, Overflow> {
    let mut compared = BTreeSet::new();
    for comparison in &cases.ghosts.compared {
        compared.extend(crate::infer::variables(&comparison.predicate));
    }
    let is_origin = |variable: &&Variable| matches!(cases.table.var(**variable), Var::Shared(_, places) if places.is_empty());
    let Some(origin) = compared.iter().find(is_origin).copied() else {
        return Ok(Vec::new());
    };
    let first = Form::variable(origin);
    let mut choices = Vec::new();
    for variable in variables.iter().copied().filter(|one| *one != origin) {
        let other = Form::variable(variable);
        match cases.table.var(variable) {
            Var::Local(0, template, local, places) => {
                let of_others = Var::Local(1, *template, *local, places.clone());
                let known = cases.table.known(&of_others);
                if known.is_some_and(|known| compared.contains(&known)) {
                    choices.push(vec![first.at_most(&other)?, other.less(&first)?]);
                }
            }
            Var::Shared(_, places)
                if places.is_empty() && sort(cases, variable) == Some(Sort::Integer) =>
            {
                choices.push(vec![
                    first.less(&other)?,
                    first.equals(&other)?,
                    other.less(&first)?,
                ]);
            }
            _ => {}
        }
    }
    choices.truncate(MOST_ROUNDS);
    Ok(choices)
}

fn truths(cases: &Cases, variables: &[Variable]) -> Result<Vec<Vec<Linear>>, Overflow> {
    let program = cases.family.program();
    let mut choices = Vec::new();
    for variable in variables {
        let scalar = match cases.table.var(*variable) {
            Var::Shared(var, _) => &program.shared[*var].scalar,
            Var::Local(_, template, var, _) => &program.templates[*template].locals[*var].scalar,
            _ => continue,
        };
        if matches!(scalar, Scalar::Bool) && choices.len() < MOST_TRUTHS {
            let value = Form::variable(*variable);
            let (no, yes) = (Form::number(0), Form::number(1));
            choices.push(vec![value.at_most(&no)?, yes.at_most(&value)?]);
        }
    }
    Ok(choices)
}

/// Labels at which no sample has two processes, though some have many.
fn alone(cases: &Cases, points: &Points) -> Vec<Variable> {
    let mut found = Vec::new();
    let nobody = cases
        .views
        .iter()
        .position(|view| view.references.is_empty());
    let Some((view, all)) = nobody.and_then(|view| Some((view, points.of_view.get(view)?))) else {
        return found;
    };
    for (id, template) in cases.family.templates.iter_enumerated() {
        let counters = cases.variables[view].iter().enumerate();
        let counters: Vec<(usize, Variable)> = counters
            .filter(|(_, variable)| {
                matches!(cases.table.var(**variable), Var::Counter(of, _) if *of == id)
            })
            .map(|(place, variable)| (place, *variable))
            .collect();
        let many = all.iter().any(|point| {
            let total: i64 = counters.iter().map(|(place, _)| point[*place]).sum();
            total > 2
        });
        if !many {
            continue;
        }
        for ((place, variable), location) in counters.iter().zip(template.locations.indices()) {
            let done = location == cases.family.program().templates[id].done();
            let most = all.iter().map(|point| point[*place]).max();
            if !done && most == Some(1) {
                found.push(*variable);
            }
        }
    }
    // Where many labels are, they are not what matters.
    match found.len() <= MOST_ALONE {
        true => found,
        false => Vec::new(),
    }
}

fn phases(
    cases: &Cases,
    variables: &[Variable],
    alone: &[Variable],
) -> Result<Vec<Vec<Linear>>, Overflow> {
    let shared: Vec<Variable> = variables
        .iter()
        .copied()
        .filter(|variable| matches!(cases.table.var(*variable), Var::Shared(..)))
        .collect();
    let mut choices = truths(cases, &shared)?;
    choices.truncate(MOST_ALONE);
    for label in alone {
        let count = Form::variable(*label);
        let (no, yes) = (Form::number(0), Form::number(1));
        choices.push(vec![count.at_most(&no)?, yes.at_most(&count)?]);
    }
    Ok(choices)
}

fn orders(cases: &Cases, variables: &[Variable]) -> Result<Vec<Vec<Linear>>, Overflow> {
    let integers: Vec<Variable> = variables
        .iter()
        .copied()
        .filter(|variable| {
            matches!(cases.table.var(*variable), Var::Shared(_, places) if places.is_empty())
                && sort(cases, *variable) == Some(Sort::Integer)
        })
        .collect();
    let mut choices = Vec::new();
    for (place, one) in integers.iter().enumerate() {
        for other in &integers[..place] {
            if choices.len() < MOST_ORDERS {
                let (one, other) = (Form::variable(*one), Form::variable(*other));
                choices.push(vec![
                    one.less(&other)?,
                    one.equals(&other)?,
                    other.less(&one)?,
                ]);
            }
        }
    }
    Ok(choices)
}
