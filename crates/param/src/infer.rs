//! Assertions for views: found by guessing from samples and dropping what a step breaks, until nothing is left to drop.
//!
//! First equations: the affine hull of the points of each view, widened by the states that steps lead to from states in which all present assertions
//! hold (Section "algorithm" of the design notes: a symbolic affine hull). Then candidates of any form, as in Houdini: all
//! are assumed, those that a step breaks go, as long as there are some. What remains is inductive by construction, whatever the candidates were; samples only save questions.

use std::collections::HashMap;

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Proof, Variable};

use crate::conditions::{Case, Cases, Goal, Instantiation, Origin, form_after};
use crate::hull::Hull;
use crate::lia::{self, Answer, Model, Solver};
use crate::points::{Points, holds};
use crate::scope::Form;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Halt {
    #[error("the time limit was reached, or the search was cancelled")]
    Stopped,
    #[error("the allowance of questions to the arithmetic solver is used up")]
    Questions,
    #[error("the arithmetic solver gave no answer: {0}")]
    Solver(lia::Why),
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

/// The assertion of a view: equations for each mode, and other formulas.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewAssertion {
    /// In the order of the view's modes.
    hulls: Vec<Hull>,
    pub(crate) lemmas: Vec<Linear>,
}

impl ViewAssertion {
    /// Whether there are states of the view, as far as is known.
    pub(crate) fn reached(&self) -> bool {
        self.hulls.iter().any(|hull| hull.reached)
    }
}

/// The assertions of all views, as far as they are known, with a solver to ask about them.
pub(crate) struct Inference<'a, 's> {
    pub(crate) cases: &'s Cases<'a>,
    pub(crate) points: &'s Points,
    /// Conditions of which one holds in each state of a view. Equations are computed for each.
    modes: &'s [Vec<Linear>],
    /// Where the value of a variable is in the points of a view.
    places: Vec<HashMap<Variable, usize>>,
    pub(crate) views: Vec<ViewAssertion>,
    pub(crate) solver: Solver,
    stop: &'s dyn Fn() -> bool,
    questions: u64,
    /// For each case, the state of the views it depends on when it was last found in order.
    settled: Vec<Option<Vec<u64>>>,
    /// How often the assertion of each view became weaker.
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
            solver: Solver::new(lia::Limits::default()),
            stop,
            questions,
            settled: vec![None; cases.cases.len()],
            versions: vec![0; cases.views.len()],
        };
        inference.seed_hulls();
        inference
    }

    /// The hulls of the points alone.
    fn seed_hulls(&mut self) {
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

    /// Takes in what holds before a case or at a goal.
    fn enter(&mut self, facts: &[Linear], assumed: &[Instantiation]) -> Result<(), Halt> {
        let mut hypotheses = Vec::new();
        for instantiation in assumed {
            for formula in self.formulas(instantiation.view)? {
                hypotheses.push(Cases::renamed(&formula, &instantiation.renaming));
            }
        }
        self.solver.push(facts.iter().chain(&hypotheses));
        Ok(())
    }

    /// Whether formulas can hold with what was taken in. Of a question without an answer, `None` says that it could not be settled.
    fn ask<'f>(&mut self, formulas: impl IntoIterator<Item = &'f Linear>) -> Result<Asked, Halt> {
        if (self.stop)() {
            return Err(Halt::Stopped);
        }
        self.questions = self.questions.checked_sub(1).ok_or(Halt::Questions)?;
        match self.solver.solve(formulas, self.stop) {
            Answer::Sat(model) => Ok(Asked::Possible(model)),
            Answer::Unsat(proof) => Ok(Asked::Impossible(proof)),
            Answer::Unknown(lia::Why::Stopped) => Err(Halt::Stopped),
            Answer::Unknown(_) => Ok(Asked::Open),
        }
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
        self.enter(&case.facts, &case.assumed)?;
        let result = self.widen_entered(case);
        self.solver.pop();
        if result? {
            // What was widened is assumed in other cases, and perhaps in this one.
            self.versions[case.view] += 1;
            return Ok(true);
        }
        self.settled[number] = Some(self.state_of(number));
        Ok(false)
    }

    fn widen_entered(&mut self, case: &Case) -> Result<bool, Halt> {
        let mut changed = false;
        for (number, mode) in self.modes[case.view].iter().enumerate() {
            let mode = match unaffected(case, variables(mode).iter()) {
                // It is in the same mode as before, which is not reached.
                true if !self.views[case.view].hulls[number].reached => continue,
                _ => Cases::after(mode, &case.after)?,
            };
            changed |= self.widen_mode(case, number, &mode)?;
        }
        Ok(changed)
    }

    /// Widens the hull of one mode.
    fn widen_mode(&mut self, case: &Case, number: usize, mode: &Linear) -> Result<bool, Halt> {
        let view = case.view;
        let mut changed = false;
        if !self.views[view].hulls[number].reached {
            match self.ask(std::slice::from_ref(mode))? {
                Asked::Possible(model) => changed |= self.add_point(case, &model)?,
                Asked::Impossible(_) => return Ok(false),
                Asked::Open => return Err(Halt::Solver(lia::Why::Branches)),
            }
        }
        loop {
            let forms = self.views[view].hulls[number].forms(&self.cases.variables[view]);
            let mut outside = None;
            for form in &forms {
                let involved = variables(&self.modes[view][number]);
                let involved = form
                    .terms
                    .iter()
                    .map(|(variable, _)| variable)
                    .chain(&involved);
                if unaffected(case, involved) {
                    continue;
                }
                let after = form_after(&form.terms, form.constant, &case.after)?;
                let broken = Linear::all([mode.clone(), after.differs(&Form::number(0))?]);
                if broken.truth() == Some(false) {
                    continue;
                }
                match self.ask(&[broken])? {
                    Asked::Possible(model) => {
                        outside = Some(model);
                        break;
                    }
                    Asked::Impossible(_) => {}
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
            let mut sum = i128::from(form.constant);
            for (variable, factor) in &form.terms {
                sum += i128::from(*factor) * i128::from(model.value(*variable));
            }
            i64::try_from(sum).map_err(|_| Halt::Overflow(Overflow))
        });
        values.collect()
    }

    /// Whether the states before a case are not reached, as far as is known.
    fn unreached(&self, case: &Case) -> bool {
        let mut assumed = case.assumed.iter();
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
        self.enter(&case.facts, &case.assumed)?;
        let result = self.drop_entered(case, before[case.view]);
        self.solver.pop();
        let kept = result?;
        let changed = kept.len() < self.views[case.view].lemmas.len();
        if changed {
            self.views[case.view].lemmas = kept;
            self.versions[case.view] += 1;
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
    fn drop_entered(&mut self, case: &Case, before: usize) -> Result<Vec<Linear>, Halt> {
        let view = case.view;
        let lemmas = self.views[view].lemmas.clone();
        let mut broken = vec![false; lemmas.len()];
        for (place, lemma) in lemmas.iter().enumerate().skip(before) {
            if broken[place] || unaffected(case, variables(lemma).iter()) {
                continue;
            }
            let after = Cases::after(lemma, &case.after)?;
            match self.ask(&[after.negation()?])? {
                Asked::Impossible(_) => {}
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

    /// Whether a goal follows from the assertions; if not, what is in its way.
    pub(crate) fn follows(&mut self, goal: &Goal) -> Result<Asked, Halt> {
        let mut assumed = goal.assumed.iter();
        if assumed.any(|instantiation| !self.views[instantiation.view].reached()) {
            return Ok(Asked::Impossible(Proof::Obvious));
        }
        self.enter(&goal.facts, &goal.assumed)?;
        let asked = self.ask(&[]);
        self.solver.pop();
        asked
    }

    /// Whether a case can lead to a state in which a formula of its view does not hold.
    pub(crate) fn broken(&mut self, case: &Case, formula: &Linear) -> Result<Asked, Halt> {
        if unaffected(case, variables(formula).iter()) || self.unreached(case) {
            return Ok(Asked::Impossible(Proof::Obvious));
        }
        let after = Cases::after(formula, &case.after)?.negation()?;
        self.enter(&case.facts, &case.assumed)?;
        let asked = self.ask(&[after]);
        self.solver.pop();
        asked
    }

    /// A proof that formulas contradict each other, whatever the assertions say, and the positions of those that it is from.
    pub(crate) fn refute<'f>(
        &mut self,
        formulas: impl IntoIterator<Item = &'f Linear>,
    ) -> Result<Option<(Proof, &[u32])>, Halt> {
        match self.ask(formulas)? {
            Asked::Impossible(proof) => Ok(Some((proof, self.solver.core()))),
            Asked::Possible(_) | Asked::Open => Ok(None),
        }
    }

    /// How many questions may still be asked.
    pub(crate) fn left(&self) -> u64 {
        self.questions
    }
}

/// What came of a question.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// It can be, like this.
    Possible(Model),
    /// It cannot.
    Impossible(Proof),
    /// The solver does not know.
    Open,
}

/// Whether a step leaves what is said about these variables as it was, because neither they nor the processes of the view change.
pub(crate) fn unaffected<'v>(
    case: &Case,
    mut variables: impl Iterator<Item = &'v Variable>,
) -> bool {
    let bystander = match &case.origin {
        Origin::Step { mover, started, .. } => mover.is_none() && started.is_empty(),
        Origin::Initial => false,
    };
    bystander && variables.all(|variable| !case.after.contains_key(variable))
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
