//! Assertions for views: found by guessing from samples and dropping what a step breaks, until nothing is left to drop.
//!
//! First equations: the affine hull of the points of each view, widened by the states that steps lead to from states in which all present assertions
//! hold (Section "algorithm" of the design notes: a symbolic affine hull). Then candidates of any form, as in Houdini: all
//! are assumed, those that a step breaks go, as long as there are some. What remains is inductive by construction, whatever the candidates were; samples only save questions.

use std::collections::HashMap;

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};

use crate::conditions::{Case, Cases, Goal, Origin};
use crate::hull::Hull;
use crate::lia::{self, Model};
use crate::points::{Points, holds};
use crate::questions::{Asked, Halt, Place, Questions, Spot};
use crate::scope::Form;

/// The assertion of a view: equations for each mode, and other formulas.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewAssertion {
    /// In the order of the view's modes.
    hulls: Vec<Hull>,
    lemmas: Vec<Linear>,
}

impl ViewAssertion {
    /// Formulas alone, of a view with one mode.
    pub(crate) fn of(lemmas: Vec<Linear>) -> ViewAssertion {
        ViewAssertion {
            hulls: vec![Hull::everything()],
            lemmas,
        }
    }

    /// That there are no states.
    pub(crate) fn unreached() -> ViewAssertion {
        ViewAssertion::default()
    }

    /// Whether there are states of the view, as far as is known.
    fn reached(&self) -> bool {
        self.hulls.iter().any(|hull| hull.reached)
    }
}

/// The assertions of all views, as far as they are known.
pub(crate) struct Inference<'a, 's> {
    pub(crate) cases: &'s Cases<'a>,
    pub(crate) points: &'s Points,
    /// Conditions of which one holds in each state of a view. Equations are computed for each.
    modes: &'s [Vec<Linear>],
    /// Where the value of a variable is in the points of a view.
    places: Vec<HashMap<Variable, usize>>,
    views: Vec<ViewAssertion>,
    /// Questions about them.
    pub(crate) questions: Questions<'s>,
    /// The views whose assertions the questions do not know.
    changed: Vec<usize>,
    /// For each case, the state of the views it depends on when it was last found in order.
    settled: Vec<Option<Vec<u64>>>,
    /// How often the assertion of each view changed.
    versions: Vec<u64>,
}

impl<'a, 's> Inference<'a, 's> {
    /// Begins with the hulls of the points.
    pub(crate) fn new(
        cases: &'s Cases<'a>,
        points: &'s Points,
        modes: &'s [Vec<Linear>],
        questions: u64,
        stop: &'s dyn Fn() -> bool,
    ) -> Inference<'a, 's> {
        let places = cases.variables.iter().map(|variables| {
            let places = variables.iter().enumerate();
            places.map(|(place, variable)| (*variable, place)).collect()
        });
        let mut inference = Inference {
            cases,
            points,
            modes,
            places: places.collect(),
            views: vec![ViewAssertion::default(); cases.views.len()],
            questions: Questions::new(cases.views.len(), questions, stop),
            changed: Vec::new(),
            settled: vec![None; cases.cases.len()],
            versions: vec![0; cases.views.len()],
        };
        inference.seed_hulls();
        inference
    }

    /// Takes note that the assertion of a view is another one.
    fn change(&mut self, view: usize) {
        self.versions[view] += 1;
        self.changed.push(view);
    }

    /// Assumes a formula of a view.
    pub(crate) fn assume(&mut self, view: usize, formula: Linear) {
        self.views[view].lemmas.push(formula);
        self.change(view);
    }

    /// Takes back what was assumed.
    pub(crate) fn drop(&mut self, view: usize, formula: &Linear) {
        self.views[view].lemmas.retain(|lemma| lemma != formula);
        self.change(view);
    }

    /// The assertions, to go back to or to go on with.
    pub(crate) fn views(&self) -> &[ViewAssertion] {
        &self.views
    }

    /// Goes on with other assertions.
    pub(crate) fn set_views(&mut self, views: Vec<ViewAssertion>) {
        self.views = views;
        (0..self.views.len()).for_each(|view| self.change(view));
    }

    /// The hulls of the points alone.
    fn seed_hulls(&mut self) {
        (0..self.views.len()).for_each(|view| self.change(view));
        for (view, points) in self.points.of_view.iter().enumerate() {
            self.views[view].hulls = vec![Hull::default(); self.modes[view].len()];
            for point in points {
                self.add(view, point);
            }
        }
    }

    /// Takes a state of a view into the hull of its mode, and says whether it was outside.
    fn add(&mut self, view: usize, point: &[i64]) -> bool {
        let mut modes = self.modes[view].iter();
        let mode = modes.position(|mode| holds(mode, &self.places[view], point));
        // One of them holds.
        mode.is_some_and(|mode| self.views[view].hulls[mode].add(point))
    }

    /// Computes the hulls anew, now that there are lemmas.
    pub(crate) fn again(&mut self) -> Result<(), Halt> {
        self.seed_hulls();
        self.settled.fill(None);
        self.close_hulls()
    }

    /// What the assertion of a view says: false if none of its states were reached.
    pub(crate) fn formulas(&self, view: usize) -> Result<Vec<Linear>, Overflow> {
        let assertion = &self.views[view];
        if !assertion.reached() {
            return Ok(vec![Linear::constant(false)]);
        }
        let mut formulas = Vec::new();
        for (mode, hull) in self.modes[view].iter().zip(&assertion.hulls) {
            let other = mode.negation()?;
            if !hull.reached {
                formulas.push(other);
                continue;
            }
            for form in hull.forms(&self.cases.variables[view]) {
                let equation = form.equals(&Form::number(0))?;
                formulas.push(Linear::any([other.clone(), equation]));
            }
        }
        formulas.extend(assertion.lemmas.iter().cloned());
        Ok(formulas)
    }

    /// Tells the questions what changed.
    fn tell(&mut self) -> Result<(), Halt> {
        while let Some(view) = self.changed.pop() {
            self.questions.assert(view, &self.formulas(view)?);
        }
        Ok(())
    }

    /// Whether a case can lead to a state in which a formula of its view does not hold.
    pub(crate) fn broken(&mut self, number: usize, formula: &Linear) -> Result<Asked, Halt> {
        let cases = self.cases;
        let case = &cases.cases[number];
        if unaffected(case, formula) || self.unreached(case) {
            return Ok(Asked::Impossible);
        }
        self.tell()?;
        let place = Place::Case(number);
        let about = Some(self.questions.number(case.view, formula));
        if self.questions.is_impossible(place, about) {
            return Ok(Asked::Impossible);
        }
        let broken = Cases::after(formula, &case.after)?.negation()?;
        if broken.truth() == Some(false) {
            return Ok(Asked::Impossible);
        }
        let spot = Spot {
            place,
            facts: &case.facts,
            assumed: &case.assumed,
        };
        self.questions.ask(spot, about, &[broken])
    }

    /// Whether something about a case must be asked again.
    fn is_settled(&self, number: usize) -> bool {
        self.settled[number].as_ref() == Some(&self.state_of(number))
    }

    fn state_of(&self, number: usize) -> Vec<u64> {
        let case = &self.cases.cases[number];
        let assumed = case.assumed.iter().map(|i| self.versions[i.view]);
        assumed.chain([self.versions[case.view]]).collect()
    }

    /// The equations of the samples as guesses, in the place of hulls.
    pub(crate) fn guesses(&mut self) -> Result<Vec<(usize, Linear)>, Halt> {
        let mut guesses = Vec::new();
        self.seed_hulls();
        for view in 0..self.views.len() {
            let mut lemmas = std::mem::take(&mut self.views[view].lemmas);
            let formulas = self.formulas(view)?.into_iter();
            guesses.extend(formulas.map(|formula| (view, formula)));
            self.views[view].lemmas.append(&mut lemmas);
            self.views[view].hulls = vec![Hull::everything(); self.modes[view].len()];
            self.change(view);
        }
        Ok(guesses)
    }

    /// Widens the hulls until no step leads out of them.
    pub(crate) fn close_hulls(&mut self) -> Result<(), Halt> {
        loop {
            let mut changed = false;
            for number in 0..self.cases.cases.len() {
                changed |= self.widen(number)?;
            }
            if !changed {
                let hulls = self.views.iter_mut().flat_map(|view| &mut view.hulls);
                hulls.for_each(Hull::reduce);
                self.settled.fill(None);
                return Ok(());
            }
        }
    }

    /// Widens the hull of a view by what a case leads to.
    fn widen(&mut self, number: usize) -> Result<bool, Halt> {
        if self.is_settled(number) {
            return Ok(false);
        }
        let cases = self.cases;
        let case = &cases.cases[number];
        if self.unreached(case) {
            return Ok(false);
        }
        let mut changed = false;
        for mode in 0..self.modes[case.view].len() {
            changed |= self.widen_mode(number, mode)?;
        }
        if changed {
            // What was widened is assumed in other cases, and perhaps in this one.
            self.change(case.view);
        } else {
            self.settled[number] = Some(self.state_of(number));
        }
        Ok(changed)
    }

    /// Widens the hull of one mode. What is assumed stays as it was meanwhile: to take it in anew after every point costs more than to look at the case again.
    fn widen_mode(&mut self, number: usize, mode: usize) -> Result<bool, Halt> {
        let cases = self.cases;
        let case = &cases.cases[number];
        let mut changed = false;
        let other = self.modes[case.view][mode].negation()?;
        loop {
            let hull = &self.views[case.view].hulls[mode];
            let mut claims = Vec::new();
            if hull.reached {
                for form in hull.forms(&cases.variables[case.view]) {
                    let equation = form.equals(&Form::number(0))?;
                    claims.push(Linear::any([other.clone(), equation]));
                }
            } else {
                claims.push(other.clone());
            }
            let mut outside = None;
            for claim in &claims {
                match self.broken(number, claim)? {
                    Asked::Possible(model) => {
                        outside = Some(model);
                        break;
                    }
                    Asked::Impossible => {}
                    // Without an answer nothing can be kept that depends on it.
                    Asked::Open => return Err(Halt::Solver(lia::Why::Branches)),
                }
            }
            let Some(model) = outside else {
                return Ok(changed);
            };
            if !self.add_point(case, &model)? {
                return Ok(changed);
            }
            changed = true;
        }
    }

    /// Adds the state of a view after a step to its hull.
    fn add_point(&mut self, case: &Case, model: &Model) -> Result<bool, Halt> {
        let point = self.point_after(case, model)?;
        Ok(self.add(case.view, &point))
    }

    /// The state of a view after a step.
    fn point_after(&self, case: &Case, model: &Model) -> Result<Vec<i64>, Halt> {
        let variables = self.cases.variables[case.view].iter();
        let values = variables.map(|variable| {
            let Some(form) = case.after.get(variable) else {
                return Ok(model.value(*variable));
            };
            let value = model.sum(&form.terms, form.constant);
            value.ok_or(Halt::Overflow(Overflow))
        });
        values.collect()
    }

    /// Whether the states before a case are not reached, as far as is known.
    fn unreached(&self, case: &Case) -> bool {
        let mut assumed = case.assumed.iter().filter(|one| one.unless.is_none());
        assumed.any(|instantiation| !self.views[instantiation.view].reached())
    }

    /// Adds candidates for each view, and drops what is not inductive: what samples exclude, then what steps break.
    pub(crate) fn houdini(&mut self, candidates: Vec<Vec<Linear>>) -> Result<(), Halt> {
        let before: Vec<usize> = self.views.iter().map(|view| view.lemmas.len()).collect();
        for (view, candidates) in candidates.into_iter().enumerate() {
            if !self.views[view].reached() {
                continue;
            }
            let (places, points) = (&self.places[view], &self.points.of_view[view]);
            let known = &self.views[view].lemmas;
            let mut kept: Vec<Linear> = Vec::new();
            for candidate in candidates {
                if !known.contains(&candidate)
                    && points.iter().all(|point| holds(&candidate, places, point))
                {
                    kept.push(candidate);
                }
            }
            kept.sort();
            kept.dedup();
            self.views[view].lemmas.extend(kept);
            self.change(view);
        }
        self.settled.fill(None);
        loop {
            let mut changed = false;
            for number in 0..self.cases.cases.len() {
                changed |= self.drop_broken(number, &before)?;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Drops candidates that a case breaks. Those that were there before are inductive without them.
    fn drop_broken(&mut self, number: usize, before: &[usize]) -> Result<bool, Halt> {
        let cases = self.cases;
        let case = &cases.cases[number];
        if self.views[case.view].lemmas.len() == before[case.view]
            || self.is_settled(number)
            || self.unreached(case)
        {
            return Ok(false);
        }
        let kept = self.kept(number, before[case.view])?;
        let changed = kept.len() < self.views[case.view].lemmas.len();
        if changed {
            self.views[case.view].lemmas = kept;
            self.change(case.view);
            let own = case.assumed.iter().any(|i| i.view == case.view);
            if !own {
                self.settled[number] = Some(self.state_of(number));
            }
        } else {
            self.settled[number] = Some(self.state_of(number));
        }
        Ok(changed)
    }

    /// The lemmas of a view that hold after a case.
    fn kept(&mut self, number: usize, before: usize) -> Result<Vec<Linear>, Halt> {
        let cases = self.cases;
        let case = &cases.cases[number];
        let view = case.view;
        let lemmas = self.views[view].lemmas.clone();
        let mut broken = vec![false; lemmas.len()];
        for (place, lemma) in lemmas.iter().enumerate().skip(before) {
            if broken[place] {
                continue;
            }
            match self.broken(number, lemma)? {
                Asked::Impossible => {}
                Asked::Open => broken[place] = true,
                Asked::Possible(model) => {
                    broken[place] = true;
                    // One state excludes many.
                    let point = self.point_after(case, &model)?;
                    for (other, lemma) in lemmas.iter().enumerate().skip(before) {
                        if !broken[other] && !holds(lemma, &self.places[view], &point) {
                            broken[other] = true;
                        }
                    }
                }
            }
        }
        let each = lemmas.into_iter().zip(broken);
        Ok(each
            .filter(|(_, broken)| !broken)
            .map(|(lemma, _)| lemma)
            .collect())
    }

    /// Whether formulas contradict what holds at a place.
    pub(crate) fn contradicts(&mut self, spot: Spot, formulas: &[Linear]) -> Result<bool, Halt> {
        let mut assumed = spot.assumed.iter().filter(|one| one.unless.is_none());
        if assumed.any(|instantiation| !self.views[instantiation.view].reached()) {
            return Ok(true);
        }
        self.tell()?;
        self.questions.contradicts(spot, formulas)
    }

    /// Whether a goal follows from the assertions; if not, what is in its way.
    pub(crate) fn follows(&mut self, goal: &Goal) -> Result<Asked, Halt> {
        let mut assumed = goal.assumed.iter().filter(|one| one.unless.is_none());
        if assumed.any(|instantiation| !self.views[instantiation.view].reached()) {
            return Ok(Asked::Impossible);
        }
        self.tell()?;
        let spot = Spot {
            place: Place::Goal(goal.number),
            facts: &goal.facts,
            assumed: &goal.assumed,
        };
        self.questions.ask(spot, None, &[])
    }
}

/// Whether a step leaves what a formula says as it was, because neither its variables nor the processes of the view change.
pub(crate) fn unaffected(case: &Case, formula: &Linear) -> bool {
    let bystander = match &case.origin {
        Origin::Step { mover, started, .. } => mover.is_none() && started.is_empty(),
        Origin::Initial => false,
    };
    bystander && !has_any(formula, &case.after)
}

/// Whether a formula has one of these variables.
fn has_any(formula: &Linear, of: &HashMap<Variable, Form>) -> bool {
    match formula {
        Linear::Atom(atom) => (atom.terms.iter()).any(|(variable, _)| of.contains_key(variable)),
        Linear::And(members) | Linear::Or(members) => {
            members.iter().any(|member| has_any(member, of))
        }
    }
}

/// The variables of a formula.
pub(crate) fn variables(formula: &Linear) -> Vec<Variable> {
    let mut found = Vec::new();
    collect(formula, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

fn collect(formula: &Linear, found: &mut Vec<Variable>) {
    match formula {
        Linear::Atom(atom) => found.extend(atom.terms.iter().map(|(variable, _)| *variable)),
        Linear::And(members) | Linear::Or(members) => {
            members.iter().for_each(|member| collect(member, found));
        }
    }
}
