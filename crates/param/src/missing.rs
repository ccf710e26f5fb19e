//! What a proof lacks, in the model's words.
//!
//! An invariant that could not be proved is broken by a step from a state in which everything holds that was found, the invariant itself included: a counterexample to
//! induction. Of checks and of freedom from deadlock there is the state in which they fail. Neither need be reached, and mostly it is not: it shows what is not known. The
//! richest abstraction that came to an end tells, since what it does not know is what is hard.

use std::collections::{BTreeMap, HashMap};

use threadwise_evidence::arithmetic::{Formula as Linear, Variable};
use threadwise_evidence::family::Condition;
use threadwise_evidence::{CheckName, Missing};
use threadwise_lang::program::TemplateId;
use threadwise_model::family::{Family, PathEnd};

use crate::conditions::{Case, Cases, Goal, Instantiation, Origin};
use crate::counter::{Allowance, Proof};
use crate::explain::Scene;
use crate::infer::{Inference, ViewAssertion, variables};
use crate::lia::Model;
use crate::points::Points;
use crate::questions::{Asked, Halt};
use crate::scope::Reference;
use crate::small::Sample;

/// What helps where a state cannot be excluded.
pub(crate) const LEMMA: &str = "if no run reaches such a state, state why as a further invariant: the proof gets its terms from there, and its own verdict tells whether it is true";

/// Questions that may be asked about what the proof of a property lacks.
const QUESTIONS: u64 = 2_000;

/// How far the search came: the last abstraction of each number of processes, with what was found.
#[derive(Default)]
pub(crate) struct Reached<'a> {
    last: BTreeMap<usize, Standing<'a>>,
}

/// An abstraction, and what was found with it.
struct Standing<'a> {
    cases: Cases<'a>,
    modes: Vec<Vec<Linear>>,
    views: Vec<ViewAssertion>,
    /// What does not follow.
    goals: Vec<(String, Vec<Goal>)>,
}

impl<'a> Reached<'a> {
    /// Takes note of an abstraction in which goals do not follow.
    pub(crate) fn note(
        &mut self,
        arity: usize,
        cases: Cases<'a>,
        modes: Vec<Vec<Linear>>,
        views: Vec<ViewAssertion>,
        goals: Vec<(String, Vec<Goal>)>,
    ) {
        let standing = Standing {
            cases,
            modes,
            views,
            goals,
        };
        self.last.insert(arity, standing);
    }

    /// Tells what the proofs lack that there are none of, about as few processes as possible.
    pub(crate) fn tell(
        &self,
        proofs: &BTreeMap<String, Proof>,
        samples: &[Sample],
        allowance: &mut Allowance,
    ) {
        for standing in self.last.values() {
            for (name, goals) in &standing.goals {
                if proofs.contains_key(name) || allowance.missing.contains_key(name) {
                    continue;
                }
                let points = Points::new(&standing.cases, &samples[..0]);
                let (cases, modes) = (&standing.cases, &standing.modes);
                let mut inference =
                    Inference::new(cases, &points, modes, QUESTIONS, allowance.calm);
                inference.set_views(standing.views.clone());
                // Without an answer nothing is told.
                if let Ok(Some(missing)) = missing(&mut inference, name, goals) {
                    allowance.missing.insert(name.clone(), missing);
                }
            }
        }
    }
}

/// What a proof lacks: a state that breaks the property, or from which a step does.
fn missing(inference: &mut Inference, name: &str, goals: &[Goal]) -> Result<Option<Missing>, Halt> {
    let mut open = None;
    for goal in goals {
        if let Asked::Possible(model) = inference.follows(goal)? {
            open = Some((goal, model));
            break;
        }
    }
    let Some((goal, model)) = open else {
        return Ok(None);
    };
    if let Condition::Property { .. } = goal.condition {
        return step(inference, name, goals);
    }
    Ok(violation(inference.cases, name, goal, &model))
}

/// A step that breaks an invariant.
fn step(inference: &mut Inference, name: &str, goals: &[Goal]) -> Result<Option<Missing>, Halt> {
    let cases = inference.cases;
    let mut facts: Vec<(usize, Linear)> = Vec::new();
    for goal in goals {
        match fact(cases, goal) {
            Some(fact) => facts.push(fact),
            None => return Ok(None),
        }
    }
    for (view, fact) in &facts {
        inference.assume(*view, fact.clone());
    }
    for (number, case) in cases.cases.iter().enumerate() {
        for (view, fact) in &facts {
            if *view != case.view {
                continue;
            }
            if let Asked::Possible(model) = inference.broken(number, fact)? {
                return Ok(after(cases, case, name, &model));
            }
        }
    }
    Ok(None)
}

/// What a goal denies, as a formula of its view, if there is a view of so many processes.
fn fact(cases: &Cases, goal: &Goal) -> Option<(usize, Linear)> {
    let Condition::Property { references, .. } = &goal.condition else {
        return None;
    };
    let mut whole = goal.assumed.iter();
    let whole = whole.find(|one| one.references.len() == references.len())?;
    let names: HashMap<Variable, Variable> = whole
        .renaming
        .iter()
        .map(|(own, there)| (*there, *own))
        .collect();
    let violation = Linear::all(goal.violation.iter().cloned());
    let fact = Cases::renamed(&violation, &names).negation().ok()?;
    let known = &cases.variables[whole.view];
    let said = variables(&violation).into_iter();
    let mut said = said.map(|variable| *names.get(&variable).unwrap_or(&variable));
    said.all(|variable| known.contains(&variable))
        .then_some((whole.view, fact))
}

/// The step of a case, as what breaks a property.
fn after(cases: &Cases, case: &Case, name: &str, model: &Model) -> Option<Missing> {
    let Origin::Step {
        mover,
        template,
        path,
        ..
    } = &case.origin
    else {
        let gap = format!("`{name}` may fail at first");
        return Some(Missing::new(gap).help(LEMMA));
    };
    let references = &cases.views[case.view].references;
    let number = mover.unwrap_or(references.len()) as u32;
    let from = cases.family.templates[*template].paths[*path].from;
    let own = Reference {
        template: *template,
        location: from,
    };
    let scene = Scene::new(cases, case.assumed.iter(), &[(number, own)])?;
    let step = called(cases.family, *template, *path);
    let gap = format!(
        "after {step} of {}, `{name}` may fail",
        scene.process(number)?
    );
    Some(Missing::new(gap).state(scene.state(model)?).help(LEMMA))
}

/// A step by its label, and by where it leads if others begin there, too.
pub(crate) fn called(family: &Family, template: TemplateId, path: usize) -> String {
    let declared = &family.templates[template];
    let path = &declared.paths[path];
    let label = &declared.locations[path.from];
    let same = declared
        .paths
        .iter()
        .filter(|other| other.from == path.from);
    let mut ends = same.map(|other| &other.end);
    match &path.end {
        PathEnd::At(to) if ends.any(|end| matches!(end, PathEnd::At(other) if other != to)) => {
            format!("`{label}` (to `{}`)", declared.locations[*to])
        }
        _ => format!("`{label}`"),
    }
}

/// The state in which a goal fails.
fn violation(cases: &Cases, name: &str, goal: &Goal, model: &Model) -> Option<Missing> {
    let there = |one: &&Instantiation| {
        let mut unless = one.unless.iter();
        !unless.any(|nobody| holds(nobody, model))
    };
    let scene = Scene::new(cases, goal.assumed.iter().filter(there), &[])?;
    let gap = match &goal.condition {
        Condition::Check { template, path } => {
            let mut templates = cases.family.templates.iter_enumerated();
            let (template, declared) = templates.find(|(_, known)| known.name == *template)?;
            let PathEnd::Fails(kind, _) = declared.paths[*path].end else {
                return None;
            };
            let step = called(cases.family, template, *path);
            let why = CheckName::from(kind);
            format!(
                "in {step} of {}, a check may fail: {why}",
                scene.process(0)?
            )
        }
        Condition::Deadlock => "nobody may have a step, though not all have ended".to_owned(),
        _ => format!("`{name}` may fail"),
    };
    Some(Missing::new(gap).state(scene.state(model)?).help(LEMMA))
}

/// Whether a formula holds in a model.
fn holds(formula: &Linear, model: &Model) -> bool {
    match formula {
        Linear::Atom(atom) => {
            let sum = model.sum(&atom.terms, atom.constant);
            sum.is_some_and(|sum| sum <= 0)
        }
        Linear::And(members) => members.iter().all(|member| holds(member, model)),
        Linear::Or(members) => members.iter().any(|member| holds(member, model)),
    }
}
