//! `counter --method cegar`: predicate abstraction of the counter abstraction, with predicates from interpolation, after Pani, Weissenbacher and Zuleger
//! (FMCAD 2020, Section VII).
//!
//! An abstract state is a view and the predicates, of those known, that hold there. From the beginning, all abstract states are explored, breadth first; one in which more holds than
//! in another of the same view need not be looked at. A way to a violation that no run can take is refuted by interpolants, one at each view that it passes, and these are new
//! predicates ([`refine`]). When no violation is left, what was explored is inductive, and is proved and certified as any other assertions are. A way that
//! a run of the abstraction can take makes the abstraction finer ([`finer`]), as long as something is known that this way contradicts. If nothing is, the abstraction is too weak, or the program wrong.

mod finer;
mod refine;
mod system;

use std::collections::{BTreeMap, HashMap, VecDeque};

use threadwise_evidence::arithmetic::{Formula as Linear, Overflow, Variable};

use crate::candidates::{Modes, strides};
use crate::certificate::Failure;
use crate::conditions::{Cases, Goal, TooMuch};
use crate::counter::{Allowance, Attempt, Claimed, Gap, Proof};
use crate::engine::{Interpolants, Proved};
use crate::infer::{Inference, ViewAssertion, variables};
use crate::lia::{self, Answer, Model, Solver};
use crate::points::{Points, holds};
use crate::questions::{Asked, Halt};
use crate::scope::{Form, Var};
use finer::{Finer, Level, Way};
use refine::{Refinement, Templates};
use system::claim;
pub(crate) use system::{Before, Summary, Transitions};

/// Rounds of refinement, and abstract states, at most.
const MOST_ROUNDS: usize = 200;
const MOST_STATES: usize = 5_000;

impl Attempt<'_> {
    /// Tries to prove properties by predicate abstraction, one after the other.
    pub(crate) fn refined(
        &self,
        properties: &[(String, Claimed)],
        interpolants: Interpolants,
        proved: &mut Proved,
        allowance: &mut Allowance,
    ) -> Result<(), Gap> {
        for (name, claimed) in properties {
            // Each of them has all questions: refinement may go on for ever.
            let mut own = Allowance {
                questions: allowance.questions,
                stop: allowance.stop,
                calm: allowance.calm,
                missing: Default::default(),
            };
            match self.abstracted(name, claimed, interpolants, &mut own) {
                Ok(Ok(proof)) => {
                    proved.proofs.insert(name.clone(), proof);
                }
                Ok(Err(why)) => {
                    proved.whys.insert(name.clone(), why);
                }
                Err(gap @ Gap::Halt(Halt::Questions)) => {
                    proved.whys.insert(name.clone(), gap.to_string());
                }
                Err(gap) => return Err(gap),
            }
        }
        Ok(())
    }

    /// Tries to prove one property. Without a proof, it says why.
    fn abstracted(
        &self,
        name: &str,
        claimed: &Claimed,
        interpolants: Interpolants,
        allowance: &mut Allowance,
    ) -> Result<Result<Proof, String>, Gap> {
        let mut candidates = None;
        let mut ways = Vec::new();
        let mut finer = Finer::default();
        loop {
            let way = match self.explored((name, claimed), &finer, interpolants, allowance)? {
                Outcome::Proved(proof) => return Ok(Ok(proof)),
                Outcome::Stuck(why) => return Ok(Err(why)),
                Outcome::Violation(way) => way,
            };
            let candidates = match &candidates {
                Some(known) => known,
                None => candidates.insert(Finer::most(self.family)?),
            };
            ways.push(way);
            match self.refuting(claimed, &ways, candidates, allowance)? {
                Some(found) => finer = found,
                None => return Ok(Err("the abstraction has a violation".to_owned())),
            }
        }
    }

    /// Tries to prove one property by one abstraction.
    fn explored(
        &self,
        (name, claimed): (&str, &Claimed),
        finer: &Finer,
        interpolants: Interpolants,
        allowance: &mut Allowance,
    ) -> Result<Outcome, Gap> {
        let Level { mut cases, goals } = Level::new(self.family, claimed, finer)?;
        let requirements = cases.requirements().map_err(TooMuch::from)?;
        let strides = strides(&mut cases);
        let system = Transitions::new(&cases, &goals, finer.summary);
        let templates = Templates::new(&cases, &strides);
        let mut search = Search::new(&system, interpolants, Asker::new(allowance));
        search.somebody(&goals).map_err(TooMuch::from)?;
        let mut rounds = 0;
        let nodes = loop {
            let path = match search.explore()? {
                Explored::Safe(nodes) => break nodes,
                Explored::Violation(path) => path,
                Explored::TooMany => {
                    return Ok(Outcome::Stuck(format!(
                        "there are more than {MOST_STATES} abstract states"
                    )));
                }
            };
            rounds += 1;
            if rounds > MOST_ROUNDS {
                return Ok(Outcome::Stuck(format!(
                    "{MOST_ROUNDS} rounds of refinement did not suffice"
                )));
            }
            match search.refine(&path, &templates)? {
                Refinement::Predicates(found) => {
                    let mut new = false;
                    for (view, predicate) in found {
                        new |= search.add(view, predicate);
                    }
                    if !new {
                        return Ok(Outcome::Stuck("no new predicates were found".to_owned()));
                    }
                }
                Refinement::Feasible => {
                    allowance.questions = search.asker.questions;
                    return Ok(Outcome::Violation(Way::new(&system, &path)));
                }
                Refinement::Open => {
                    return Ok(Outcome::Stuck(
                        "a way to a violation could not be refuted".to_owned(),
                    ));
                }
            }
        };
        let count = search.count();
        allowance.questions = search.asker.questions;
        let points = Points::default();
        let modes = Modes::none(&cases);
        for form in [Shape::Common, Shape::States] {
            let views = search.assertions(&nodes, form);
            let mut inference =
                Inference::new(&cases, &points, &modes, allowance.questions, allowance.stop);
            inference.set_views(views);
            let proof = self.judge(&mut inference, &requirements, &goals, name);
            allowance.questions = inference.questions.left();
            match proof {
                Ok(Some(mut proof)) => {
                    proof.rounds.push(format!(
                        "proved with {count} predicates, after {rounds} rounds of refinement{}",
                        finer.words()
                    ));
                    return Ok(Outcome::Proved(proof));
                }
                Ok(None) | Err(Gap::Failure(Failure::NotInductive)) => {}
                Err(gap) => return Err(gap),
            }
        }
        Ok(Outcome::Stuck(
            "what was explored could not be confirmed".to_owned(),
        ))
    }
}

/// What came of one abstraction.
enum Outcome {
    Proved(Proof),
    /// A run of the abstraction violates the property.
    Violation(Way),
    /// Nothing, for this reason.
    Stuck(String),
}

/// How what was explored becomes assertions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// What holds in all abstract states of a view.
    Common,
    /// That one of the abstract states holds.
    States,
}

/// The arithmetic solver, with what it may use.
struct Asker<'s> {
    solver: Solver,
    questions: u64,
    stop: &'s dyn Fn() -> bool,
}

impl<'s> Asker<'s> {
    fn new(allowance: &Allowance<'s>) -> Asker<'s> {
        Asker {
            solver: Solver::new(lia::Limits::default()),
            questions: allowance.questions,
            stop: allowance.stop,
        }
    }

    /// Whether formulas can hold with what the solver has taken in.
    fn ask(&mut self, formulas: &[Linear]) -> Result<Asked, Halt> {
        if (self.stop)() {
            return Err(Halt::Stopped);
        }
        self.questions = self.questions.checked_sub(1).ok_or(Halt::Questions)?;
        match self.solver.solve(formulas, self.stop) {
            Answer::Sat(model) => Ok(Asked::Possible(model)),
            Answer::Unsat(_) => Ok(Asked::Impossible),
            Answer::Unknown(lia::Why::Stopped) => Err(Halt::Stopped),
            Answer::Unknown(_) => Ok(Asked::Open),
        }
    }
}

/// An abstract state.
#[derive(Clone, Debug)]
struct Node {
    view: usize,
    /// The predicates that hold.
    holds: Vec<u32>,
    /// The abstract state before, and the edge from there.
    from: (Option<usize>, usize),
}

/// A way to a violation.
struct Path {
    edges: Vec<usize>,
    target: usize,
}

enum Explored {
    Safe(Vec<Node>),
    Violation(Path),
    TooMany,
}

/// What is known of a step from an abstract state.
#[derive(Default)]
struct Known {
    /// Whether it can be taken.
    possible: bool,
    /// States that it leads to.
    points: Vec<Vec<i64>>,
    /// Of the first predicates, whether they hold after it.
    holds: Vec<bool>,
}

/// The abstract states, and the predicates so far.
struct Search<'t, 'c, 'a, 's> {
    system: &'t Transitions<'c, 'a>,
    interpolants: Interpolants,
    asker: Asker<'s>,
    predicates: BTreeMap<usize, Vec<Linear>>,
    places: HashMap<usize, HashMap<Variable, usize>>,
    steps: HashMap<(usize, Vec<u32>), Known>,
    violations: HashMap<(usize, Vec<u32>), bool>,
}

impl<'t, 'c, 'a, 's> Search<'t, 'c, 'a, 's> {
    fn new(
        system: &'t Transitions<'c, 'a>,
        interpolants: Interpolants,
        asker: Asker<'s>,
    ) -> Search<'t, 'c, 'a, 's> {
        let places = system.views.iter().map(|view| {
            let variables = system.cases.variables[*view].iter().enumerate();
            let places = variables.map(|(place, variable)| (*variable, place));
            (*view, places.collect())
        });
        Search {
            system,
            interpolants,
            asker,
            predicates: system
                .views
                .iter()
                .map(|view| (*view, Vec::new()))
                .collect(),
            places: places.collect(),
            steps: HashMap::new(),
            violations: HashMap::new(),
        }
    }

    /// Adds a predicate, and says whether it is a new one.
    fn add(&mut self, view: usize, predicate: Linear) -> bool {
        let known = self.predicates.entry(view).or_default();
        let new = !known.contains(&predicate);
        if new {
            known.push(predicate);
        }
        new
    }

    /// Where processes are counted by a predicate, begins with this: the property holds, or somebody at a label is counted. It is a disjunction, so no inequality that
    /// interpolation finds comes near it. Only properties of shared variables mean the same in all views.
    fn somebody(&mut self, goals: &[Goal]) -> Result<(), Overflow> {
        let cases = self.system.cases;
        let is_shared = |variable: &Variable| {
            matches!(cases.table.var(*variable), Var::Shared(..) | Var::Param(_))
        };
        for (_, claim) in goals.iter().filter_map(|goal| claim(cases, goal)) {
            let used = variables(&claim);
            if used.is_empty() || !used.iter().all(is_shared) {
                continue;
            }
            for view in &self.system.views {
                for variable in &cases.variables[*view] {
                    if matches!(cases.table.var(*variable), Var::Counted(.., false)) {
                        let somebody = Form::number(1).at_most(&Form::variable(*variable))?;
                        self.add(*view, Linear::any([claim.clone(), somebody]));
                    }
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.predicates.values().map(Vec::len).sum()
    }

    /// What holds in an abstract state of the view that something comes from, in terms of the scope.
    fn state(&self, before: Option<&Before>, holds: &[u32]) -> Vec<Linear> {
        let Some(before) = before else {
            return Vec::new();
        };
        let predicates = &self.predicates[&before.view];
        let each = holds.iter().map(|number| &predicates[*number as usize]);
        each.map(|predicate| self.system.renamed(predicate, before))
            .collect()
    }

    /// Explores the abstract states, until a violation is found or there are no others.
    fn explore(&mut self) -> Result<Explored, Halt> {
        let system = self.system;
        let mut nodes: Vec<Node> = Vec::new();
        let mut queue: VecDeque<usize> = VecDeque::new();
        let mut begin: VecDeque<usize> = system.entering.iter().copied().collect();
        loop {
            let (from, edges) = if let Some(edge) = begin.pop_front() {
                (None, vec![edge])
            } else if let Some(node) = queue.pop_front() {
                let edges = system.leaving.get(&nodes[node].view);
                (Some(node), edges.cloned().unwrap_or_default())
            } else {
                return Ok(Explored::Safe(nodes));
            };
            for edge in edges {
                let before = from.map_or(Vec::new(), |node| nodes[node].holds.clone());
                let Some(holds) = self.after(edge, &before)? else {
                    continue;
                };
                let view = system.view(edge);
                let more =
                    |node: &Node| node.view == view && node.holds.iter().all(|n| holds.contains(n));
                if nodes.iter().any(more) {
                    continue;
                }
                let node = Node {
                    view,
                    holds,
                    from: (from, edge),
                };
                if let Some(target) = self.violated(&node)? {
                    return Ok(Explored::Violation(path(&nodes, node, target)));
                }
                if nodes.len() >= MOST_STATES {
                    return Ok(Explored::TooMany);
                }
                queue.push_back(nodes.len());
                nodes.push(node);
            }
        }
    }

    /// The violation that an abstract state allows, if there is one.
    fn violated(&mut self, node: &Node) -> Result<Option<usize>, Halt> {
        let system = self.system;
        for (number, target) in system.targets.iter().enumerate() {
            if target.before.view != node.view {
                continue;
            }
            let key = (number, node.holds.clone());
            let violated = match self.violations.get(&key) {
                Some(known) => *known,
                None => {
                    let state = self.state(Some(&target.before), &node.holds);
                    self.asker.solver.push(target.facts.iter().chain(&state));
                    let asked = self.asker.ask(&[]);
                    self.asker.solver.pop();
                    let violated = !matches!(asked?, Asked::Impossible);
                    self.violations.insert(key, violated);
                    violated
                }
            };
            if violated {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The predicates that hold after a step from an abstract state; none if it cannot be taken.
    fn after(&mut self, edge: usize, before: &[u32]) -> Result<Option<Vec<u32>>, Halt> {
        let view = self.system.view(edge);
        let key = (edge, before.to_vec());
        let stored = self.steps.remove(&key);
        let first = stored.is_none();
        let mut known = stored.unwrap_or_default();
        let wanted = self.predicates[&view].len();
        if first || (known.possible && known.holds.len() < wanted) {
            let state = self.state(self.system.edges[edge].before.as_ref(), before);
            self.asker
                .solver
                .push(self.system.facts(edge).iter().chain(&state));
            let outcome = self.learn(edge, first, &mut known);
            self.asker.solver.pop();
            outcome?;
        }
        let holds = known.holds.iter().enumerate().filter(|(_, holds)| **holds);
        let holds = holds.map(|(number, _)| number as u32).collect();
        let possible = known.possible;
        self.steps.insert(key, known);
        Ok(possible.then_some(holds))
    }

    /// Asks which predicates hold after a step that the solver has taken in.
    fn learn(&mut self, edge: usize, first: bool, known: &mut Known) -> Result<(), Halt> {
        if first {
            match self.asker.ask(&[])? {
                Asked::Impossible => return Ok(()),
                Asked::Possible(model) => known.points.push(self.point(edge, &model)?),
                Asked::Open => {}
            }
            known.possible = true;
        }
        let view = self.system.view(edge);
        let after = &self.system.case(edge).after;
        while let Some(predicate) = self.predicates[&view].get(known.holds.len()) {
            let places = &self.places[&view];
            let refuted = known
                .points
                .iter()
                .any(|point| !holds(predicate, places, point));
            let holds = !refuted && {
                let negated = Cases::after(predicate, after)?.negation()?;
                match self.asker.ask(&[negated])? {
                    Asked::Impossible => true,
                    Asked::Possible(model) => {
                        let point = self.point(edge, &model)?;
                        known.points.push(point);
                        false
                    }
                    Asked::Open => false,
                }
            };
            known.holds.push(holds);
        }
        Ok(())
    }

    /// The state that a step leads to.
    fn point(&self, edge: usize, model: &Model) -> Result<Vec<i64>, Halt> {
        let values = self.system.values(edge);
        let each = values.iter().map(|form| {
            let value = model.sum(&form.terms, form.constant);
            value.ok_or(Halt::Overflow(Overflow))
        });
        each.collect()
    }

    /// What was explored, as assertions of views.
    fn assertions(&self, nodes: &[Node], shape: Shape) -> Vec<ViewAssertion> {
        let views = 0..self.system.cases.views.len();
        views
            .map(|view| {
                let own: Vec<&Node> = nodes.iter().filter(|node| node.view == view).collect();
                match self.predicates.get(&view) {
                    Some(_) if own.is_empty() => ViewAssertion::unreached(),
                    Some(predicates) => ViewAssertion::of(lemmas(predicates, &own, shape)),
                    // Nothing is claimed of views that play no part.
                    None => ViewAssertion::of(Vec::new()),
                }
            })
            .collect()
    }
}

/// What holds in the abstract states of a view.
fn lemmas(predicates: &[Linear], nodes: &[&Node], shape: Shape) -> Vec<Linear> {
    let everywhere = |number: &u32| nodes.iter().all(|node| node.holds.contains(number));
    let formula = |number: &u32| predicates[*number as usize].clone();
    let all: Vec<u32> = (0..predicates.len() as u32).collect();
    let mut lemmas: Vec<Linear> = all.iter().filter(|n| everywhere(n)).map(formula).collect();
    if shape == Shape::States {
        // An abstract state in which more holds than in another one says nothing new.
        let weakest = nodes.iter().enumerate().filter(|(place, node)| {
            !nodes.iter().enumerate().any(|(other_place, other)| {
                let fewer = other.holds.iter().all(|n| node.holds.contains(n));
                fewer && (other.holds.len() < node.holds.len() || other_place < *place)
            })
        });
        let states = weakest.map(|(_, node)| {
            let own = node.holds.iter().filter(|number| !everywhere(number));
            Linear::all(own.map(formula))
        });
        let states = Linear::any(states);
        if states.truth() != Some(true) {
            lemmas.push(states);
        }
    }
    lemmas
}

/// The way to an abstract state that is not among the nodes yet.
fn path(nodes: &[Node], last: Node, target: usize) -> Path {
    let mut edges = Vec::new();
    let mut from = Some(&last);
    while let Some(node) = from {
        edges.push(node.from.1);
        from = node.from.0.map(|number| &nodes[number]);
    }
    edges.reverse();
    Path { edges, target }
}
