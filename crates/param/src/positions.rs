//! Facts about positions in arrays whose size is a parameter.
//!
//! Indices of such arrays, and integers that are used as indices, are compared with each other: an entry is before the front of a queue, or behind it. On either side different equations hold, as in a buffer that
//! wraps: the number of items is `back - front` if the front is before the back, and otherwise greater by the size. So for each order of two positions, and each truth
//! value of an entry, the affine hull of the samples gives equations, which are literals of clauses like the order itself. They are guesses from samples: steps decide what is kept.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};
use threadwise_lang::program::{Scalar, TemplateId};
use threadwise_model::family::{FamilyVariable, Population, Term};

use crate::conditions::Cases;
use crate::hull::Hull;
use crate::points::Points;
use crate::scope::{Form, Scope, Translator, Var};

/// Equations that are kept at most, and the variables of one.
const MOST_EQUATIONS: usize = 40;
const MOST_TERMS: usize = 8;
/// Samples on one side of which the hull is looked at at least. Of few, too much holds.
const FEWEST: usize = 40;
/// Positions whose order tells states apart at most: three have thirteen orders.
const MOST_ORDERED: usize = 3;

/// An equation that holds where positions have some order: a form that is 0, about the process of a template or about none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Equation {
    form: Form,
    template: Option<TemplateId>,
}

/// The positions that a view sees: ids of entries as their indices, and integers whose type depends on parameters.
fn positions(cases: &mut Cases, view: usize) -> Result<Vec<Form>, Overflow> {
    let family = cases.family;
    let mut found = Vec::new();
    for variable in cases.variables[view].clone() {
        let declared: Option<(&FamilyVariable, &Scalar)> = match cases.table.var(variable) {
            Var::Shared(var, _) => {
                Some((&family.shared[*var], &family.program().shared[*var].scalar))
            }
            Var::Local(_, template, var, _) => Some((
                &family.templates[*template].locals[*var],
                &family.program().templates[*template].locals[*var].scalar,
            )),
            _ => None,
        };
        let Some((declared, Scalar::Range(..))) = declared else {
            continue;
        };
        let numbers = [&declared.least, &declared.greatest];
        if !numbers
            .iter()
            .all(|bound| matches!(bound, Some(Term::Number(_))))
        {
            found.push(Form::variable(variable));
        }
    }
    let references = cases.views[view].references.clone();
    let scope = Scope::of(&references);
    let mut translator = Translator::new(family, &mut cases.table, &scope);
    for (number, reference) in scope.iter() {
        if family.is_slot(reference.template) {
            let id = translator.var(Var::Id(number));
            let lowest = translator.term(&family.templates[reference.template].lowest_id)?;
            found.push(id.plus(1, &lowest)?);
        }
    }
    Ok(found)
}

/// What clauses about positions are made of, in a view: how positions compare, and whether a form is less than 0, 0, or more. In a state one of three holds, so that there
/// are few from which clauses are put together.
pub(crate) fn literals(
    cases: &mut Cases,
    view: usize,
    equations: &[Equation],
) -> Result<BTreeSet<Linear>, Overflow> {
    let mut found = BTreeSet::new();
    let zero = Form::number(0);
    let positions = positions(cases, view)?;
    for (place, one) in positions.iter().enumerate() {
        for other in &positions[..place] {
            found.extend([one.less(other)?, one.equals(other)?, other.less(one)?]);
        }
    }
    let references = cases.views[view].references.clone();
    for equation in equations {
        let fitting: Vec<u32> = match equation.template {
            None => vec![0],
            Some(template) => (0..)
                .zip(&references)
                .filter(|(_, reference)| reference.template == template)
                .map(|(number, _)| number)
                .collect(),
        };
        for reference in fitting {
            let mut form = Form::number(equation.form.constant);
            for (variable, factor) in &equation.form.terms {
                let variable = cases.table.renamed(*variable, &[reference]);
                form = form.plus(*factor, &Form::variable(variable))?;
            }
            found.extend([form.less(&zero)?, form.equals(&zero)?, zero.less(&form)?]);
        }
    }
    found.retain(|literal| literal.truth().is_none());
    Ok(found)
}

/// The equations that samples show, in views of at most one process.
pub(crate) fn equations(cases: &mut Cases, points: &Points) -> Result<Vec<Equation>, Overflow> {
    let mut found: Vec<Equation> = Vec::new();
    for view in 0..cases.views.len() {
        let template = match cases.views[view].references.as_slice() {
            [] => None,
            [reference] => Some(reference.template),
            _ => continue,
        };
        let variables = cases.variables[view].clone();
        let places: HashMap<Variable, usize> = variables.iter().copied().zip(0..).collect();
        let points = &points.of_view[view];
        let truths: Vec<usize> = (0..variables.len())
            .filter(|place| is_truth(cases, variables[*place]))
            .collect();
        let positions = positions(cases, view)?;
        for (place, one) in positions.iter().enumerate() {
            for other in &positions[..place] {
                let apart = one.plus(-1, other)?;
                for sign in [-1, 0, 1] {
                    let here = points
                        .iter()
                        .filter(|point| value(&apart, &places, point).signum() == sign);
                    let here: Vec<&Vec<i64>> = here.collect();
                    let mut sides = vec![here.clone()];
                    for truth in &truths {
                        for is in [0, 1] {
                            let side = here.iter().filter(|point| point[*truth] == is);
                            sides.push(side.copied().collect());
                        }
                    }
                    for side in sides.iter().filter(|side| side.len() >= FEWEST) {
                        let mut hull = Hull::default();
                        side.iter().for_each(|point| {
                            hull.add(point);
                        });
                        hull.reduce();
                        for form in hull.forms(&variables) {
                            let equation = Equation { form, template };
                            let terms = equation.form.terms.len();
                            let everywhere = || {
                                let mut all = points.iter();
                                all.all(|point| value(&equation.form, &places, point) == 0)
                            };
                            if (2..=MOST_TERMS).contains(&terms)
                                && !found.contains(&equation)
                                && !everywhere()
                            {
                                found.push(equation);
                            }
                        }
                    }
                }
            }
        }
    }
    found.sort_by_key(|equation| equation.form.terms.len());
    found.truncate(MOST_EQUATIONS);
    Ok(found)
}

fn value(form: &Form, places: &HashMap<Variable, usize>, point: &[i64]) -> i128 {
    let mut sum = i128::from(form.constant);
    for (variable, factor) in &form.terms {
        let value = places.get(variable).map_or(0, |place| point[*place]);
        sum += i128::from(*factor) * i128::from(value);
    }
    sum
}

fn is_truth(cases: &Cases, variable: Variable) -> bool {
    let program = cases.family.program();
    let scalar = match cases.table.var(variable) {
        Var::Shared(var, _) => &program.shared[*var].scalar,
        Var::Local(_, template, var, _) => &program.templates[*template].locals[*var].scalar,
        _ => return false,
    };
    matches!(scalar, Scalar::Bool)
}

/// In which order the positions of a view are: one formula for each order, or one that always holds where there are fewer than two positions, or too many.
pub(crate) fn orders(cases: &mut Cases, view: usize) -> Result<Vec<Linear>, Overflow> {
    let positions = indices(cases, view)?;
    let mut orders = vec![Vec::new()];
    if !(2..=MOST_ORDERED).contains(&positions.len()) {
        return Ok(vec![Linear::constant(true)]);
    }
    // Each order of some positions, as a rank of each; one more is put at each rank, and between them.
    for number in 0..positions.len() {
        let further = orders.iter().flat_map(|ranks: &Vec<usize>| {
            (0..=2 * number).map(|place| {
                let mut ranks: Vec<usize> = ranks.iter().map(|rank| 2 * rank + 1).collect();
                ranks.push(place);
                dense(&ranks)
            })
        });
        let further: BTreeSet<Vec<usize>> = further.collect();
        orders = further.into_iter().collect();
    }
    let mut found = Vec::with_capacity(orders.len());
    for ranks in orders {
        let mut members = Vec::new();
        for (place, one) in positions.iter().enumerate() {
            for (other_place, other) in positions[..place].iter().enumerate() {
                members.push(match ranks[place].cmp(&ranks[other_place]) {
                    Ordering::Less => one.less(other)?,
                    Ordering::Equal => one.equals(other)?,
                    Ordering::Greater => other.less(one)?,
                });
            }
        }
        found.push(Linear::all(members));
    }
    Ok(found)
}

/// Ranks without gaps, in the same order.
fn dense(ranks: &[usize]) -> Vec<usize> {
    let all: BTreeSet<usize> = ranks.iter().copied().collect();
    let each = ranks.iter();
    each.map(|rank| all.range(..rank).count()).collect()
}

/// The entries of arrays that a view sees, and integers that have the type of an index of them.
fn indices(cases: &mut Cases, view: usize) -> Result<Vec<Form>, Overflow> {
    let family = cases.family;
    let ranges: Vec<(&Term, &Term)> = family
        .templates
        .iter_enumerated()
        .filter_map(|(id, template)| match &template.population {
            Population::Between(lo, hi) if family.is_slot(id) => Some((lo, hi)),
            _ => None,
        })
        .collect();
    let mut found = Vec::new();
    for form in positions(cases, view)? {
        let declared = match form.terms.as_slice() {
            [(variable, _)] => match cases.table.var(*variable) {
                Var::Shared(var, _) => &family.shared[*var],
                Var::Local(_, template, var, _) => &family.templates[*template].locals[*var],
                _ => {
                    found.push(form);
                    continue;
                }
            },
            _ => {
                found.push(form);
                continue;
            }
        };
        if let (Some(least), Some(greatest)) = (&declared.least, &declared.greatest)
            && ranges.contains(&(least, greatest))
        {
            found.push(form);
        }
    }
    Ok(found)
}
