//! The abstraction as a transition system: the program of Definition 5 of Pani, Weissenbacher and Zuleger (FMCAD 2020).
//!
//! A state is a view with values for its variables: some processes are followed, all others are what the counters say. A step is one of theirs, or one of another process,
//! whose own variables may be anything. So each way for the states of a view to come about has one view that it comes from: that of the processes that are followed.

use std::collections::{BTreeSet, HashMap};

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};

use crate::conditions::{Case, Cases, Goal, Instantiation, Origin, form_after};
use crate::infer::variables;
use crate::scope::Form;

/// Ways to violate one goal that are told apart.
const MOST_WAYS: usize = 32;

/// Where a step, or a violation, comes from.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) view: usize,
    /// The variables of the scope that are the view's, in their order.
    pub(crate) variables: Vec<Variable>,
}

/// A step, or the beginning.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) case: usize,
    pub(crate) before: Option<Before>,
    /// What holds before.
    pub(crate) facts: Vec<Linear>,
}

/// A violation, in one of the ways that the property can be violated in.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) facts: Vec<Linear>,
    pub(crate) before: Before,
}

/// What is assumed of another process that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summary {
    /// Nothing, as published: its own variables may have any values.
    Anything,
    /// That neither it nor it together with those who are followed has violated the property so far. This is said of all states before a violation, so no shortest way to one is lost.
    Claimed,
}

/// The views that a violation can come from, and the steps between them.
#[derive(Debug)]
pub(crate) struct Transitions<'c, 'a> {
    pub(super) cases: &'c Cases<'a>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) targets: Vec<Target>,
    /// Edges by the view that they come from.
    pub(super) leaving: HashMap<usize, Vec<usize>>,
    /// The edges that come from nowhere.
    pub(super) entering: Vec<usize>,
    /// The views that play a part.
    pub(crate) views: BTreeSet<usize>,
}

impl<'c, 'a> Transitions<'c, 'a> {
    /// The program as published, or with what `summary` assumes of the one that moves.
    pub(crate) fn new(
        cases: &'c Cases<'a>,
        goals: &[Goal],
        summary: Summary,
    ) -> Transitions<'c, 'a> {
        let claims = match summary {
            Summary::Anything => Vec::new(),
            Summary::Claimed => goals.iter().filter_map(|goal| claim(cases, goal)).collect(),
        };
        let mut system = Transitions {
            cases,
            edges: Vec::new(),
            targets: Vec::new(),
            leaving: HashMap::new(),
            entering: Vec::new(),
            views: BTreeSet::new(),
        };
        for goal in goals {
            let most = goal.assumed.iter().max_by_key(|i| i.references.len());
            if let Some(most) = most {
                for facts in ways(goal) {
                    let before = system.before(most);
                    system.targets.push(Target { facts, before });
                }
            }
        }
        let mut open: Vec<usize> = system.targets.iter().map(|t| t.before.view).collect();
        while let Some(view) = open.pop() {
            if !system.views.insert(view) {
                continue;
            }
            for (number, case) in cases.cases.iter().enumerate() {
                if case.view == view {
                    let before = source(cases, case).map(|source| system.before(source));
                    open.extend(before.as_ref().map(|before| before.view));
                    let edge = system.edges.len();
                    match &before {
                        Some(before) => system.leaving.entry(before.view).or_default().push(edge),
                        None => system.entering.push(edge),
                    }
                    let mut facts = case.facts.clone();
                    for instantiation in &case.assumed {
                        let own = claims.iter();
                        let own = own.filter(|(view, _)| *view == instantiation.view);
                        facts.extend(own.map(|(_, claim)| instantiation.says(claim)));
                    }
                    system.edges.push(Edge {
                        case: number,
                        before,
                        facts,
                    });
                }
            }
        }
        system
    }

    fn before(&self, instantiation: &Instantiation) -> Before {
        let variables = self.cases.variables[instantiation.view].iter();
        let renaming = &instantiation.renaming;
        Before {
            view: instantiation.view,
            variables: variables
                .map(|variable| *renaming.get(variable).unwrap_or(variable))
                .collect(),
        }
    }

    pub(crate) fn case(&self, edge: usize) -> &'c Case {
        &self.cases.cases[self.edges[edge].case]
    }

    /// What holds before a step.
    pub(crate) fn facts(&self, edge: usize) -> &[Linear] {
        &self.edges[edge].facts
    }

    /// The view that an edge leads to.
    pub(super) fn view(&self, edge: usize) -> usize {
        self.case(edge).view
    }

    /// A formula of the view that something comes from, in terms of the scope.
    pub(super) fn renamed(&self, formula: &Linear, before: &Before) -> Linear {
        let own = self.cases.variables[before.view].iter().copied();
        let renaming = own.zip(before.variables.iter().copied()).collect();
        Cases::renamed(formula, &renaming)
    }

    /// The values after a step of the variables of the view that it leads to, in their order.
    pub(crate) fn values(&self, edge: usize) -> Vec<Form> {
        let case = self.case(edge);
        let variables = self.cases.variables[case.view].iter();
        variables
            .map(|variable| match case.after.get(variable) {
                Some(form) => form.clone(),
                None => Form::variable(*variable),
            })
            .collect()
    }
}

/// That a goal is not violated, as a formula of the view that it is about; nothing if the view cannot say it.
pub(super) fn claim(cases: &Cases, goal: &Goal) -> Option<(usize, Linear)> {
    let most = goal.assumed.iter().max_by_key(|i| i.references.len())?;
    let back: HashMap<Variable, Variable> = cases.variables[most.view]
        .iter()
        .map(|variable| (*most.renaming.get(variable).unwrap_or(variable), *variable))
        .collect();
    let violation = Linear::all(goal.violation.iter().cloned());
    if !variables(&violation).iter().all(|v| back.contains_key(v)) {
        return None;
    }
    let claim = Cases::renamed(&violation, &back).negation().ok()?;
    Some((most.view, claim))
}

/// The ways to violate a goal: where the violation is a disjunction, one for each member. An inequality can tell a state from one of them, seldom from all.
fn ways(goal: &Goal) -> Vec<Vec<Linear>> {
    let mut ways: Vec<Vec<Linear>> = vec![Vec::new()];
    for fact in &goal.facts {
        let members = match fact {
            Linear::Or(members) if goal.violation.contains(fact) => members.as_slice(),
            other => std::slice::from_ref(other),
        };
        let members = match ways.len() * members.len() <= MOST_WAYS {
            true => members,
            false => std::slice::from_ref(fact),
        };
        ways = ways
            .iter()
            .flat_map(|way| {
                members.iter().map(|member| {
                    let mut way = way.clone();
                    way.push(member.clone());
                    way
                })
            })
            .collect();
    }
    ways
}

/// What a case comes from: the processes that are followed and were there before, and if that is not enough, the one that moves.
fn source<'i>(cases: &Cases, case: &'i Case) -> Option<&'i Instantiation> {
    let Origin::Step { started, .. } = &case.origin else {
        return None;
    };
    let arity = cases.views[case.view].references.len();
    let old = (0..arity).filter(|place| !started.contains(place));
    let old: Vec<u32> = old.map(|place| place as u32).collect();
    let fits = |i: &&Instantiation| {
        i.references.len() <= arity && old.iter().all(|place| i.references.contains(place))
    };
    let fitting = case.assumed.iter().filter(fits);
    // The first of those with the most references.
    fitting.rev().max_by_key(|i| i.references.len())
}

/// A run of the abstraction, written out: formulas over the variables that it begins with, and fresh ones.
pub(super) struct Unrolled {
    /// What must hold.
    pub(super) formulas: Vec<Linear>,
    /// The values of the present view's variables.
    state: Vec<Form>,
    /// The next fresh variable.
    next: Variable,
}

impl Unrolled {
    /// Before any step of a run that begins in any state of a view: the variables of this state are the first fresh ones.
    pub(super) fn anywhere(system: &Transitions, view: usize, first: Variable) -> Unrolled {
        let count = system.cases.variables[view].len() as Variable;
        Unrolled {
            formulas: Vec::new(),
            state: (first..first + count).map(Form::variable).collect(),
            next: first + count,
        }
    }

    /// Takes a step. The first one of a run from the beginning comes from nowhere.
    pub(super) fn step(&mut self, system: &Transitions, edge: usize) -> Result<(), Overflow> {
        let mut map = self.known(system.edges[edge].before.as_ref());
        let values = system.values(edge);
        let mentioned = values.iter().flat_map(|form| form.terms.iter());
        self.fresh(&mut map, mentioned.map(|(variable, _)| *variable));
        self.take(&mut map, system.facts(edge))?;
        let after = values
            .iter()
            .map(|form| form_after(&form.terms, form.constant, &map));
        self.state = after.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Ends with a violation.
    pub(super) fn violate(&mut self, target: &Target) -> Result<(), Overflow> {
        let mut map = self.known(Some(&target.before));
        self.take(&mut map, &target.facts)
    }

    fn known(&self, before: Option<&Before>) -> HashMap<Variable, Form> {
        let scope = before.into_iter().flat_map(|before| &before.variables);
        scope.copied().zip(self.state.iter().cloned()).collect()
    }

    fn fresh(
        &mut self,
        map: &mut HashMap<Variable, Form>,
        variables: impl IntoIterator<Item = Variable>,
    ) {
        for variable in variables {
            map.entry(variable).or_insert_with(|| {
                self.next += 1;
                Form::variable(self.next - 1)
            });
        }
    }

    fn take(
        &mut self,
        map: &mut HashMap<Variable, Form>,
        facts: &[Linear],
    ) -> Result<(), Overflow> {
        for fact in facts {
            self.fresh(map, variables(fact));
            let fact = Cases::after(fact, map)?;
            if fact.truth() != Some(true) {
                self.formulas.push(fact);
            }
        }
        Ok(())
    }
}
