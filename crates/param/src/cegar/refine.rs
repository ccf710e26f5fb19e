//! New predicates from a way to a violation that no run can take: interpolation abstraction.
//!
//! The way is cut at each view that it passes, from the beginning on. Before the cut are one step and what the last cut told; behind it is the rest. Both together are contradictory. An
//! interpolant follows from the part before the cut and contradicts the part behind it. There are many, and those that proofs lead to tend to track how often loops are
//! run. So the query is made weaker before it is asked (Leroux, Rümmer and Subotic, "Guiding Craig interpolation with domain-specific abstractions", 2016): both parts get variables of their own, and share
//! only the values of some *template terms*. Terms are those of Definition 6 of Pani, Weissenbacher and Zuleger: shared variables, parameters, and differences of a variable and
//! a counter, each times the stride of the other; and, at a higher price, what else the view has.
//!
//! First, one inequality with coefficients 1 and -1 is looked for: if a sum of terms is greater before the cut than behind it, whatever
//! states are chosen for both, then a number in between makes an interpolant of it. Sums of two terms are tried one by one, those of least norm first. If one is found that
//! no step of another process breaks, it is taken: these loops are what makes ways longer and longer. If not, coefficients for
//! all variables of the view are looked for, by the arithmetic solver itself: the smallest ones with which no state that spoke against earlier ones speaks against the sum.
//! If there are none either, an unstable inequality has to do; and where none tells the two parts apart, an interpolant is read off a proof. Fewer terms are a stronger abstraction, so it is about a set of terms from which none can
//! be left out with the query still contradictory.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};

use super::system::{Transitions, Unrolled};
use super::{Path, Search};
use crate::conditions::{Cases, Origin, form_after};
use crate::engine::Interpolants;
use crate::lia::{self, Model, interpolate};
use crate::questions::{Asked, Halt};
use crate::scope::{Form, Var};

/// What came of a way to a violation.
pub(super) enum Refinement {
    /// It cannot be taken, by these predicates of views.
    Predicates(Vec<(usize, Linear)>),
    /// A run of the abstraction takes it.
    Feasible,
    /// The solver does not know.
    Open,
}

/// Sets of terms that are tried at each cut.
const MOST_SETS: usize = 8;
/// Inequalities that are asked about at each cut, that are found, and that are kept.
const MOST_ASKED: usize = 80;
const MOST_FOUND: usize = 24;
const MOST_KEPT: usize = 2;
/// Coefficients that are tried at each cut, and the greatest norm that they have.
const MOST_TRIED: usize = 60;
const MOST_NORM: i64 = 9;

/// The template terms of views, the cheapest first.
pub(super) struct Templates {
    of_view: Vec<Vec<Template>>,
    /// Sums of the terms of each view, once they are needed.
    sums: Vec<OnceCell<Vec<Sum>>>,
}

/// A template term.
#[derive(Clone, Debug)]
struct Template {
    form: Form,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A shared variable and a counter.
    Difference,
    /// A shared variable or a parameter.
    Global,
    /// What else there is.
    Other,
}

impl Templates {
    pub(super) fn new(cases: &Cases, strides: &HashMap<Variable, BTreeSet<i64>>) -> Templates {
        let of_view = cases.variables.iter().map(|variables| {
            let counters: Vec<Variable> = variables
                .iter()
                .copied()
                .filter(|variable| {
                    matches!(
                        cases.table.var(*variable),
                        Var::Counter(..) | Var::Counted(.., false)
                    )
                })
                .collect();
            let mut templates = Vec::new();
            for variable in variables {
                for by in strides.get(variable).into_iter().flatten() {
                    for counter in &counters {
                        for sign in [-1, 1] {
                            let mut terms = vec![(*variable, 1), (*counter, sign * by)];
                            terms.sort_unstable();
                            templates.push(Template {
                                form: Form { terms, constant: 0 },
                                kind: Kind::Difference,
                            });
                        }
                    }
                }
            }
            let kinds = [Kind::Global, Kind::Other];
            for kind in kinds {
                for variable in variables {
                    let own = match cases.table.var(*variable) {
                        Var::Param(_) | Var::Shared(..) => Kind::Global,
                        _ => Kind::Other,
                    };
                    if own == kind {
                        templates.push(Template {
                            form: Form::variable(*variable),
                            kind,
                        });
                    }
                }
            }
            templates
        });
        Templates {
            of_view: of_view.collect(),
            sums: vec![OnceCell::new(); cases.views.len()],
        }
    }
}

/// A way to a violation, cut in two.
struct Cut<'t> {
    view: usize,
    before: Vec<Linear>,
    behind: Vec<Linear>,
    templates: &'t [Template],
    sums: &'t [Sum],
    /// The values of template terms, before the cut and behind it.
    values: Vec<(Form, Form)>,
    /// The same of the view's variables.
    variables: Vec<(Form, Form)>,
}

impl Cut<'_> {
    /// By how much each term is greater before the cut than behind it, in a model of both.
    fn apart(&self, model: &Model) -> Option<Vec<i64>> {
        let each = self
            .values
            .iter()
            .map(|(before, behind)| value(before, model)?.checked_sub(value(behind, model)?));
        each.collect()
    }

    /// That some terms have the same values.
    fn shared(&self, terms: &[usize]) -> Result<Vec<Linear>, Overflow> {
        let each = terms.iter().map(|term| &self.values[*term]);
        each.map(|(before, behind)| before.equals(behind)).collect()
    }
}

impl Search<'_, '_, '_, '_> {
    /// Finds predicates that rule a way to a violation out.
    pub(super) fn refine(
        &mut self,
        path: &Path,
        templates: &Templates,
    ) -> Result<Refinement, Halt> {
        let system = self.system;
        let first = system.cases.table.count();
        let target = &system.targets[path.target];
        match self.asker.ask(&whole(system, path)?)? {
            Asked::Impossible => {}
            Asked::Possible(_) => return Ok(Refinement::Feasible),
            Asked::Open => return Ok(Refinement::Open),
        }
        let mut found: Vec<(usize, Linear)> = Vec::new();
        let mut told: Vec<Linear> = Vec::new();
        for (place, edge) in path.edges.iter().enumerate() {
            let case = system.case(*edge);
            let view = case.view;
            let mut before = system.facts(*edge).to_vec();
            if let Some(from) = &system.edges[*edge].before {
                before.extend(told.iter().map(|formula| system.renamed(formula, from)));
            }
            let mut rest = Unrolled::anywhere(system, view, first);
            for edge in &path.edges[place + 1..] {
                rest.step(system, *edge)?;
            }
            rest.violate(target)?;
            let variables = &system.cases.variables[view];
            let values = system.values(*edge);
            let ahead: HashMap<Variable, Form> = variables.iter().copied().zip(values).collect();
            let numbers = (first..).map(Form::variable);
            let behind: HashMap<Variable, Form> = variables.iter().copied().zip(numbers).collect();
            let terms = &templates.of_view[view];
            let sums = templates.sums[view].get_or_init(|| sums(terms));
            let values = terms.iter().map(|template| {
                let terms = &template.form.terms;
                Ok((
                    form_after(terms, 0, &ahead)?,
                    form_after(terms, 0, &behind)?,
                ))
            });
            let cut = Cut {
                view,
                before,
                behind: rest.formulas,
                templates: terms,
                sums,
                values: values.collect::<Result<_, Overflow>>()?,
                variables: variables
                    .iter()
                    .map(|variable| (ahead[variable].clone(), behind[variable].clone()))
                    .collect(),
            };
            // What is impossible before the cut needs no further predicates, what is impossible behind it none here.
            if matches!(self.asked(&cut.before)?, Asked::Impossible) {
                break;
            }
            if matches!(self.asked(&cut.behind)?, Asked::Impossible) {
                told.clear();
                continue;
            }
            let Some(interpolants) = self.interpolants(&cut)? else {
                return Ok(Refinement::Open);
            };
            told.clone_from(&interpolants);
            found.extend(interpolants.into_iter().map(|formula| (view, formula)));
        }
        Ok(Refinement::Predicates(found))
    }

    fn asked(&mut self, formulas: &[Linear]) -> Result<Asked, Halt> {
        self.asker.ask(formulas)
    }

    /// Formulas that follow before a cut, each of which contradicts what is behind it.
    fn interpolants(&mut self, cut: &Cut) -> Result<Option<Vec<Linear>>, Halt> {
        let mut chosen = match self.interpolants {
            Interpolants::Inequalities => self.stable_first(cut)?,
            Interpolants::Lattice => Vec::new(),
        };
        if chosen.is_empty() {
            self.asker.solver.push(cut.before.iter().chain(&cut.behind));
            let outcome = self.read_off_proofs(cut);
            self.asker.solver.pop();
            chosen = outcome?;
        }
        Ok((!chosen.is_empty()).then_some(chosen))
    }

    /// Inequalities that are interpolants, those that no step of another process breaks if there are any.
    fn stable_first(&mut self, cut: &Cut) -> Result<Vec<Linear>, Halt> {
        self.asker.solver.push(cut.before.iter().chain(&cut.behind));
        let outcome = self.inequalities(cut);
        self.asker.solver.pop();
        let inequalities = outcome?;
        let mut chosen: Vec<Linear> = Vec::new();
        for inequality in &inequalities {
            for candidate in inequality {
                if chosen.len() < MOST_KEPT && self.stable(cut.view, candidate)? {
                    chosen.push(candidate.clone());
                    break;
                }
            }
        }
        if chosen.is_empty() {
            chosen.extend(self.synthesised(cut)?);
        }
        if chosen.is_empty() {
            let weakest = inequalities
                .iter()
                .filter_map(|inequality| inequality.first());
            chosen.extend(weakest.take(MOST_KEPT).cloned());
        }
        Ok(chosen)
    }

    /// Inequalities between one or two template terms with coefficients 1 and -1 that are interpolants, those of least norm first. Each comes in up to two strengths, the weaker first.
    fn inequalities(&mut self, cut: &Cut) -> Result<Vec<Vec<Linear>>, Halt> {
        let mut found: Vec<Vec<Linear>> = Vec::new();
        let mut samples = Vec::new();
        match self.asked(&[])? {
            Asked::Possible(model) => samples.extend(cut.apart(&model)),
            Asked::Impossible | Asked::Open => return Ok(found),
        }
        let mut asked = 0;
        for sum in cut.sums {
            if found.len() >= MOST_FOUND || asked >= MOST_ASKED {
                break;
            }
            let greater = |sample: &Vec<i64>| {
                let each = sum.members.iter();
                let apart: i128 = each
                    .map(|(term, sign)| sign * i128::from(sample[*term]))
                    .sum();
                apart > 0
            };
            if !samples.iter().all(greater) {
                continue;
            }
            asked += 1;
            let (mut before, mut behind) = (Form::default(), Form::default());
            for (term, sign) in &sum.members {
                let sign = if *sign < 0 { -1 } else { 1 };
                before = before.plus(sign, &cut.values[*term].0)?;
                behind = behind.plus(sign, &cut.values[*term].1)?;
            }
            // Whatever the states: it is greater before the cut.
            match self.asked(&[before.at_most(&behind)?])? {
                Asked::Possible(model) => samples.extend(cut.apart(&model)),
                Asked::Open => {}
                Asked::Impossible => {
                    let mut strengths = Vec::new();
                    for least in self.thresholds(&before, &behind)? {
                        strengths.push(Form::number(least).at_most(&sum.form)?);
                    }
                    found.push(strengths);
                }
            }
        }
        Ok(found)
    }

    /// An inequality over any variables of the view that is an interpolant and that no step of another process breaks, of least norm. Coefficients are looked for that agree with all states that
    /// spoke against those tried before.
    fn synthesised(&mut self, cut: &Cut) -> Result<Option<Linear>, Halt> {
        let system = self.system;
        let variables = &system.cases.variables[cut.view];
        // By how much each variable is greater before the cut; and by how much a step of another process makes it grow.
        let (mut apart, mut grows): (Vec<Vec<i64>>, Vec<Vec<i64>>) = (Vec::new(), Vec::new());
        let mut norm = 1;
        for _ in 0..MOST_TRIED {
            let Some(factors) = self.coefficients(&apart, &grows, variables.len(), &mut norm)?
            else {
                return Ok(None);
            };
            let mut sum = Form::default();
            let (mut before, mut behind) = (Form::default(), Form::default());
            for (place, factor) in factors.iter().enumerate() {
                sum = sum.plus(*factor, &Form::variable(variables[place]))?;
                before = before.plus(*factor, &cut.variables[place].0)?;
                behind = behind.plus(*factor, &cut.variables[place].1)?;
            }
            self.asker.solver.push(cut.before.iter().chain(&cut.behind));
            let outcome = match self.asked(&[before.at_most(&behind)?]) {
                Ok(Asked::Impossible) => self.thresholds(&before, &behind).map(Ok),
                other => other.map(Err),
            };
            self.asker.solver.pop();
            let thresholds = match outcome? {
                Ok(thresholds) => thresholds,
                Err(Asked::Possible(model)) => {
                    let each = cut.variables.iter().map(|(before, behind)| {
                        value(before, &model)?.checked_sub(value(behind, &model)?)
                    });
                    match each.collect() {
                        Some(sample) => apart.push(sample),
                        None => return Ok(None),
                    }
                    continue;
                }
                Err(_) => return Ok(None),
            };
            let mut broken = None;
            for least in thresholds {
                let inequality = Form::number(least).at_most(&sum)?;
                match self.unstable(cut.view, &inequality)? {
                    Stability::Stable => return Ok(Some(inequality)),
                    Stability::Broken(growth) => broken = Some(growth),
                    Stability::Open => {}
                }
            }
            match broken {
                Some(growth) => grows.push(growth),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Small coefficients with which a sum is positive for some samples, and not negative for others.
    fn coefficients(
        &mut self,
        positive: &[Vec<i64>],
        not_negative: &[Vec<i64>],
        count: usize,
        norm: &mut i64,
    ) -> Result<Option<Vec<i64>>, Halt> {
        // Each coefficient is a difference of two numbers that are 0 or 1.
        let (plus, minus) = (
            |place: usize| 2 * place as Variable,
            |place: usize| 2 * place as Variable + 1,
        );
        let mut formulas = Vec::new();
        let mut size = Form::default();
        for place in 0..count {
            for part in [plus(place), minus(place)] {
                let part = Form::variable(part);
                formulas.push(Form::number(0).at_most(&part)?);
                formulas.push(part.at_most(&Form::number(1))?);
                size = size.plus(1, &part)?;
            }
        }
        let samples = positive.iter().map(|sample| (sample, 1));
        let samples = samples.chain(not_negative.iter().map(|sample| (sample, 0)));
        for (sample, least) in samples {
            let mut sum = Form::default();
            for (place, factor) in sample.iter().enumerate() {
                sum = sum.plus(*factor, &Form::variable(plus(place)))?;
                sum = sum.plus(-*factor, &Form::variable(minus(place)))?;
            }
            formulas.push(Form::number(least).at_most(&sum)?);
        }
        formulas.push(Form::number(1).at_most(&size)?);
        while *norm <= MOST_NORM {
            let small = size.at_most(&Form::number(*norm))?;
            let all: Vec<Linear> = formulas.iter().cloned().chain([small]).collect();
            if let Asked::Possible(model) = self.asked(&all)? {
                let each = (0..count).map(|p| model.value(plus(p)) - model.value(minus(p)));
                return Ok(Some(each.collect()));
            }
            // With more samples it will not be smaller.
            *norm += 1;
        }
        Ok(None)
    }

    /// Interpolants from proofs, over the smallest sets of terms.
    fn read_off_proofs(&mut self, cut: &Cut) -> Result<Vec<Linear>, Halt> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for order in orders(cut.templates) {
            let set = self.smallest(cut, order)?;
            sets.extend(set.filter(|set| !sets.contains(set)));
            if sets.len() >= MOST_SETS {
                break;
            }
        }
        // Of the sets that nothing can be left out of, those with the fewest terms come first.
        sets.sort_by_key(Vec::len);
        for terms in &sets {
            if let Some(found) = self.read_off(cut, terms)? {
                return Ok(match found {
                    Linear::And(parts) => parts,
                    other => vec![other],
                });
            }
        }
        Ok(Vec::new())
    }

    /// A set of terms from which none can be left out. The first ones are left out first.
    fn smallest(&mut self, cut: &Cut, order: Vec<usize>) -> Result<Option<Vec<usize>>, Halt> {
        let mut kept = order;
        if !self.contradictory(cut, &kept)? {
            return Ok(None);
        }
        let mut size = kept.len().div_ceil(2);
        loop {
            let mut place = 0;
            while place < kept.len() {
                let end = (place + size).min(kept.len());
                let rest: Vec<usize> = [&kept[..place], &kept[end..]].concat();
                if self.contradictory(cut, &rest)? {
                    kept = rest;
                } else {
                    place = end;
                }
            }
            if size == 1 {
                kept.sort_unstable();
                return Ok(Some(kept));
            }
            size = size.div_ceil(2);
        }
    }

    fn contradictory(&mut self, cut: &Cut, terms: &[usize]) -> Result<bool, Halt> {
        let shared = cut.shared(terms)?;
        Ok(matches!(self.asked(&shared)?, Asked::Impossible))
    }

    /// Numbers that a form is at least before a cut, and less than behind it: the least, and the greatest if it is found. All values before the cut are greater than all behind it.
    fn thresholds(&mut self, before: &Form, behind: &Form) -> Result<Vec<i64>, Halt> {
        // The solver has taken in both parts, which together have a model: they share no variables here.
        let Asked::Possible(model) = self.asked(&[])? else {
            return Ok(Vec::new());
        };
        let (Some(start), Some(mut most)) = (value(before, &model), value(behind, &model)) else {
            return Ok(Vec::new());
        };
        let mut above = start;
        while most < above - 1 {
            let middle = most + (above - most) / 2;
            match self.asked(&[Form::number(middle).at_most(behind)?])? {
                Asked::Possible(model) => match value(behind, &model) {
                    Some(greater) => most = greater,
                    None => return Ok(Vec::new()),
                },
                Asked::Impossible => above = middle,
                Asked::Open => return Ok(Vec::new()),
            }
        }
        let (mut least, mut below) = (start, above);
        while below < least {
            let middle = below + (least - below) / 2;
            match self.asked(&[before.at_most(&Form::number(middle))?])? {
                Asked::Possible(model) => match value(before, &model) {
                    Some(smaller) => least = smaller,
                    None => break,
                },
                Asked::Impossible => below = middle + 1,
                Asked::Open => break,
            }
        }
        let greatest = (least > above).then_some(least);
        Ok([above].into_iter().chain(greatest).collect())
    }

    /// An interpolant over some terms, read off a proof.
    fn read_off(&mut self, cut: &Cut, terms: &[usize]) -> Result<Option<Linear>, Halt> {
        let table = self.system.cases.table.count();
        let used = |formulas: &[Linear]| {
            let each = formulas.iter().flat_map(crate::infer::variables);
            each.max().unwrap_or(0)
        };
        let first = table.max(used(&cut.before)).max(used(&cut.behind));
        // Beyond everything: the values behind the cut may have variables that no formula has.
        let first = first + cut.values.len() as Variable + 1;
        let (mut before, mut behind) = (cut.before.clone(), cut.behind.clone());
        let mut meaning = HashMap::new();
        for (place, term) in terms.iter().enumerate() {
            let number = first + place as Variable;
            let name = Form::variable(number);
            before.push(name.equals(&cut.values[*term].0)?);
            behind.push(name.equals(&cut.values[*term].1)?);
            meaning.insert(number, cut.templates[*term].form.clone());
        }
        let found = interpolate(&before, &behind, lia::Limits::default(), self.asker.stop);
        match found {
            Some(formula) => Ok(Some(Cases::after(&formula, &meaning)?)),
            None => Ok(None),
        }
    }

    fn stable(&mut self, view: usize, formula: &Linear) -> Result<bool, Halt> {
        Ok(matches!(self.unstable(view, formula)?, Stability::Stable))
    }

    /// Whether steps of other processes keep a formula.
    fn unstable(&mut self, view: usize, formula: &Linear) -> Result<Stability, Halt> {
        let system = self.system;
        for edge in system.leaving.get(&view).into_iter().flatten() {
            let case = system.case(*edge);
            let other = matches!(case.origin, Origin::Step { mover: None, .. });
            let (Some(before), true) = (&system.edges[*edge].before, other) else {
                continue;
            };
            if case.view != view {
                continue;
            }
            let holds = system.renamed(formula, before);
            let broken = Cases::after(formula, &case.after)?.negation()?;
            self.asker
                .solver
                .push(system.facts(*edge).iter().chain([&holds]));
            let asked = self.asker.ask(&[broken]);
            self.asker.solver.pop();
            match asked? {
                Asked::Impossible => {}
                Asked::Open => return Ok(Stability::Open),
                Asked::Possible(model) => {
                    let values = system.values(*edge);
                    let pairs = values.iter().zip(&before.variables);
                    let growth = pairs.map(|(after, variable)| {
                        value(after, &model)?.checked_sub(model.value(*variable))
                    });
                    let growth: Option<Vec<i64>> = growth.collect();
                    return Ok(growth.map_or(Stability::Open, Stability::Broken));
                }
            }
        }
        Ok(Stability::Stable)
    }
}

/// A way to a violation, written out from the beginning.
pub(super) fn whole(system: &Transitions, path: &Path) -> Result<Vec<Linear>, Overflow> {
    let first = system.cases.table.count();
    let mut whole = Unrolled::anywhere(system, system.view(path.edges[0]), first);
    for edge in &path.edges {
        whole.step(system, *edge)?;
    }
    whole.violate(&system.targets[path.target])?;
    Ok(whole.formulas)
}

/// Whether steps of other processes keep an inequality.
enum Stability {
    Stable,
    /// One does not, by which the variables of the view grow by so much.
    Broken(Vec<i64>),
    Open,
}

/// The value of a form in a model.
fn value(form: &Form, model: &Model) -> Option<i64> {
    model.sum(&form.terms, form.constant)
}

/// A sum of template terms, or of their negations.
#[derive(Clone)]
struct Sum {
    members: Vec<(usize, i128)>,
    form: Form,
}

/// The sums of one or two terms, those of least norm first.
fn sums(templates: &[Template]) -> Vec<Sum> {
    let mut partial: Vec<Vec<(usize, i128)>> = vec![Vec::new()];
    let mut sums: BTreeMap<Vec<(Variable, i64)>, (u64, Sum)> = BTreeMap::new();
    for _ in 0..2 {
        let mut further = Vec::new();
        for members in &partial {
            let first = members.last().map_or(0, |(term, _)| term + 1);
            for term in first..templates.len() {
                for sign in [1, -1] {
                    let mut members = members.clone();
                    members.push((term, sign));
                    further.push(members);
                }
            }
        }
        for members in &further {
            let mut form = Form::default();
            for (term, sign) in members {
                let sign = if *sign < 0 { -1 } else { 1 };
                match form.plus(sign, &templates[*term].form) {
                    Ok(sum) => form = sum,
                    Err(Overflow) => continue,
                }
            }
            let norm: u64 = form
                .terms
                .iter()
                .map(|(_, factor)| factor.unsigned_abs())
                .sum();
            if norm > 0 && !sums.contains_key(&form.terms) {
                let members = members.clone();
                sums.insert(form.terms.clone(), (norm, Sum { members, form }));
            }
        }
        partial = further;
    }
    let mut sums: Vec<(u64, Sum)> = sums.into_values().collect();
    sums.sort_by_key(|(norm, _)| *norm);
    sums.into_iter().map(|(_, sum)| sum).collect()
}

/// Orders in which terms are left out, the first ones first.
fn orders(templates: &[Template]) -> Vec<Vec<usize>> {
    let of = |kind: Kind| -> Vec<usize> {
        let each = templates.iter().enumerate();
        let own = each.filter(|(_, template)| template.kind == kind);
        own.map(|(place, _)| place).rev().collect()
    };
    let (other, global, difference) = (of(Kind::Other), of(Kind::Global), of(Kind::Difference));
    let mut orders = vec![[&other[..], &global, &difference].concat()];
    for last in &global {
        let rest: Vec<usize> = global.iter().copied().filter(|g| g != last).collect();
        orders.push([&other[..], &rest, &difference, &[*last]].concat());
    }
    orders.push([&other[..], &difference, &global].concat());
    orders
}
