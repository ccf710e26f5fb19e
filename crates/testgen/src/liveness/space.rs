//! The reachable states of a system with their steps, and whether a liveness property holds there.
//!
//! In every step one process is scheduled that is started: it moves, or rests, or does nothing because it has no outcome. Failing steps end a run
//! and lead nowhere. `taken` asks about the last step, so a state here is one of the system with the answer.

use std::collections::HashMap;

use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::layout;
use threadwise_model::system::{Expr, ProcessId, System};
use threadwise_model::temporal::{Fairness, FairnessKind, Liveness, Taken};

use super::automaton::Automaton;
use super::graph::{Arc, Condition, Graph, Marks};

/// Why nothing is known about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// There are more states than are wanted, or an automaton is too large.
    TooLarge,
    /// A computation leaves 64 bits, a template is full, or a step has too many choices.
    Beyond,
}

/// The reachable states.
#[derive(Clone, Debug)]
pub struct Space<'a> {
    system: &'a System,
    /// Which steps are told apart.
    taken: Vec<Taken>,
    states: Vec<(Vec<i64>, Option<usize>)>,
    steps: Vec<Vec<SpaceStep>>,
    initial: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct SpaceStep {
    process: ProcessId,
    moves: bool,
    to: usize,
}

/// A run without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// Where it begins.
    pub initial: Vec<i64>,
    /// Its steps. After the last it goes on as after the first `loop_from`, where the state is the same.
    pub steps: Vec<LassoStep>,
    /// Where the loop begins.
    pub loop_from: usize,
}

/// A step of a lasso.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LassoStep {
    /// Which process is scheduled.
    pub process: ProcessId,
    /// It takes a step. Otherwise it rests, or has none.
    pub moves: bool,
    /// The state after.
    pub state: Vec<i64>,
}

fn move_taken(
    system: &System,
    taken: &[Taken],
    before: &[i64],
    process: ProcessId,
) -> Option<usize> {
    let location = system.location(before, process)?;
    let process = layout::process_ref(system, process);
    let step = Taken { process, location };
    taken.iter().position(|other| *other == step)
}

/// Whether a predicate of a liveness property holds in a state after a step.
fn holds(
    system: &System,
    state: &[i64],
    taken: Option<usize>,
    expr: &Expr,
) -> Result<bool, Unknown> {
    let mut choices = Vec::new();
    if let Some(taken) = taken {
        choices.resize(taken + 1, 0);
        choices[taken] = 1;
    }
    let context = Context {
        choices: &choices,
        ..Context::of_state(system, state)
    };
    context.holds(expr).map_err(|_| Unknown::Beyond)
}

impl<'a> Space<'a> {
    /// The reachable states of a system, at most so many, with what a property asks about steps.
    pub fn explore(
        system: &'a System,
        liveness: &Liveness,
        most: usize,
    ) -> Result<Space<'a>, Unknown> {
        let mut space = Space {
            system,
            taken: liveness.taken.clone(),
            states: Vec::new(),
            steps: Vec::new(),
            initial: Vec::new(),
        };
        let mut numbers = HashMap::new();
        for state in eval::initial_states(system).map_err(|_| Unknown::Beyond)? {
            let number = space.number(&mut numbers, state, None, most)?;
            space.initial.push(number);
        }
        while space.steps.len() < space.states.len() {
            let state = space.states[space.steps.len()].0.clone();
            let mut steps = Vec::new();
            for process in (0..system.processes()).map(ProcessId::from_raw) {
                if system.location(&state, process).is_none() {
                    continue;
                }
                let outcomes = eval::outcomes(system, &state, process);
                let idle = outcomes.is_empty() || outcomes.contains(&Outcome::Rest);
                if idle {
                    let to = space.number(&mut numbers, state.clone(), None, most)?;
                    steps.push(SpaceStep {
                        process,
                        moves: false,
                        to,
                    });
                }
                for outcome in outcomes {
                    match outcome {
                        Outcome::Move(next) => {
                            let taken = move_taken(system, &space.taken, &state, process);
                            let to = space.number(&mut numbers, next, taken, most)?;
                            steps.push(SpaceStep {
                                process,
                                moves: true,
                                to,
                            });
                        }
                        Outcome::Rest | Outcome::Failure(..) => {}
                        Outcome::Overflow | Outcome::Full(_) | Outcome::TooManyChoices => {
                            return Err(Unknown::Beyond);
                        }
                    }
                }
            }
            space.steps.push(steps);
        }
        Ok(space)
    }

    fn number(
        &mut self,
        numbers: &mut HashMap<(Vec<i64>, Option<usize>), usize>,
        state: Vec<i64>,
        taken: Option<usize>,
        most: usize,
    ) -> Result<usize, Unknown> {
        let key = (state, taken);
        if let Some(number) = numbers.get(&key) {
            return Ok(*number);
        }
        if self.states.len() == most {
            return Err(Unknown::TooLarge);
        }
        let number = self.states.len();
        self.states.push(key.clone());
        numbers.insert(key, number);
        Ok(number)
    }

    /// How many states there are, with what is known of the last step.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state, since there is no initial one.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    fn predicate(&self, expr: &Expr) -> Result<Vec<bool>, Unknown> {
        self.states
            .iter()
            .map(|(state, taken)| holds(self.system, state, *taken, expr))
            .collect()
    }

    /// Whether a property holds: nothing, or a fair run that violates it. The property must ask about the
    /// same steps as the one that this was explored for; its fairness may be another.
    pub fn decide(&self, liveness: &Liveness) -> Result<Option<Lasso>, Unknown> {
        assert_eq!(self.taken, liveness.taken, "not the steps it asks about");
        let automaton = Automaton::of_negation(&liveness.formula).ok_or(Unknown::TooLarge)?;
        let atoms: Vec<Vec<bool>> = automaton
            .atoms
            .iter()
            .map(|atom| self.predicate(atom))
            .collect::<Result<_, _>>()?;
        for terms in &liveness.fairness {
            // Marks for the promises that are kept come first.
            let mut next = automaton.promises;
            let mut mark = || -> Result<Marks, Unknown> {
                next += 1;
                (next <= Marks::BITS as usize)
                    .then(|| 1 << (next - 1))
                    .ok_or(Unknown::TooLarge)
            };
            let mut conditions = automaton.conditions();
            let mut of_state: Vec<Marks> = vec![0; self.states.len()];
            let mut of_process: Vec<Marks> = vec![0; self.system.processes() as usize];
            let mut marked = |expr: &Expr, mark: Marks| -> Result<Marks, Unknown> {
                for (marks, value) in of_state.iter_mut().zip(self.predicate(expr)?) {
                    *marks |= if value { mark } else { 0 };
                }
                Ok(mark)
            };
            for term in terms {
                conditions.push(match &term.kind {
                    FairnessKind::Scheduled(process) => {
                        let mark = mark()?;
                        let first = self.system.templates[process.template].first;
                        of_process[(first + process.index as usize).index()] |= mark;
                        Condition::Some(mark)
                    }
                    FairnessKind::Weak(e) => Condition::Some(marked(e, mark()?)?),
                    FairnessKind::Strong(p, q) => {
                        Condition::If(marked(p, mark()?)?, marked(q, mark()?)?)
                    }
                });
            }
            let product = self.product(&automaton, &atoms, &of_state, &of_process);
            let Some(cycle) = product.graph.cycle(&conditions) else {
                continue;
            };
            let step = |(node, position): &(usize, usize)| {
                let step = product.steps[*node][*position];
                LassoStep {
                    process: step.process,
                    moves: step.moves,
                    state: self.states[step.to].0.clone(),
                }
            };
            let first = cycle.stem.first().or(cycle.round.first());
            let initial = first.map_or(0, |(node, _)| product.nodes[*node].0);
            return Ok(Some(Lasso {
                initial: self.states[initial].0.clone(),
                steps: cycle.stem.iter().chain(&cycle.round).map(step).collect(),
                loop_from: cycle.stem.len(),
            }));
        }
        Ok(None)
    }

    fn product(
        &self,
        automaton: &Automaton<Expr>,
        atoms: &[Vec<bool>],
        of_state: &[Marks],
        of_process: &[Marks],
    ) -> Product {
        let mut product = Product::default();
        let mut numbers: HashMap<(usize, usize), usize> = HashMap::new();
        let mut number = |nodes: &mut Vec<(usize, usize)>, node: (usize, usize)| {
            *numbers.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            })
        };
        for state in &self.initial {
            let root = number(&mut product.nodes, (*state, 0));
            product.graph.roots.push(root);
        }
        while product.steps.len() < product.nodes.len() {
            let (state, at) = product.nodes[product.steps.len()];
            let values: Vec<bool> = atoms.iter().map(|values| values[state]).collect();
            let (mut arcs, mut steps) = (Vec::new(), Vec::new());
            for edge in automaton.states[at].iter().filter(|e| e.fits(&values)) {
                let marks = of_state[state] | automaton.kept(edge);
                for step in &self.steps[state] {
                    arcs.push(Arc {
                        to: number(&mut product.nodes, (step.to, edge.to)),
                        marks: marks | of_process[step.process.index()],
                    });
                    steps.push(*step);
                }
            }
            product.graph.arcs.push(arcs);
            product.steps.push(steps);
        }
        product
    }

    /// A run of so many steps chosen by `pick`, which is given how many there are to choose from, closed where its last state was met
    /// before; nothing if it was not, or if the run ends.
    pub fn walk(&self, length: usize, pick: &mut dyn FnMut(usize) -> usize) -> Option<Lasso> {
        if self.initial.is_empty() {
            return None;
        }
        let initial = self.initial[pick(self.initial.len())];
        let mut at = initial;
        let mut met = vec![self.states[at].0.clone()];
        let mut steps = Vec::new();
        for _ in 0..length {
            let possible = &self.steps[at];
            if possible.is_empty() {
                return None;
            }
            let step = possible[pick(possible.len())];
            at = step.to;
            met.push(self.states[at].0.clone());
            steps.push(LassoStep {
                process: step.process,
                moves: step.moves,
                state: self.states[at].0.clone(),
            });
        }
        let before: Vec<usize> = (0..length).filter(|k| met[*k] == met[length]).collect();
        if before.is_empty() {
            return None;
        }
        Some(Lasso {
            initial: self.states[initial].0.clone(),
            steps,
            loop_from: before[pick(before.len())],
        })
    }
}

#[derive(Default)]
struct Product {
    graph: Graph,
    nodes: Vec<(usize, usize)>,
    steps: Vec<Vec<SpaceStep>>,
}

impl Lasso {
    /// Whether this is a fair run of the system that violates the property, by the direct meaning of each: whether the steps are steps, what the
    /// loop does about fairness, and the values of the formula along the run.
    pub fn refutes(&self, system: &System, liveness: &Liveness) -> Result<bool, Unknown> {
        let begins = eval::initial_states(system)
            .map_err(|_| Unknown::Beyond)?
            .any(|state| state == self.initial);
        let after = |steps: usize| match steps {
            0 => &self.initial,
            steps => &self.steps[steps - 1].state,
        };
        let length = self.steps.len();
        if !begins || self.loop_from >= length || after(length) != after(self.loop_from) {
            return Ok(false);
        }
        let mut taken = vec![None];
        for (position, step) in self.steps.iter().enumerate() {
            let before = after(position);
            let outcomes = eval::outcomes(system, before, step.process);
            let started = system.location(before, step.process).is_some();
            let possible = match step.moves {
                true => outcomes.contains(&Outcome::Move(step.state.clone())),
                false => {
                    step.state == *before
                        && (outcomes.is_empty() || outcomes.contains(&Outcome::Rest))
                }
            };
            if !started || !possible {
                return Ok(false);
            }
            taken.push(match step.moves {
                true => move_taken(system, &liveness.taken, before, step.process),
                false => None,
            });
        }
        let at =
            |position: usize, expr: &Expr| holds(system, after(position), taken[position], expr);
        // The last position is the first of the loop once more: `taken` may say something else there than when the run first came by.
        let round = self.loop_from + 1..=length;
        let often = |expr: &Expr| -> Result<bool, Unknown> {
            for position in round.clone() {
                if at(position, expr)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let met = |term: &Fairness<Expr>| -> Result<bool, Unknown> {
            Ok(match &term.kind {
                FairnessKind::Scheduled(process) => self.steps[self.loop_from..]
                    .iter()
                    .any(|step| layout::process_ref(system, step.process) == *process),
                FairnessKind::Weak(e) => often(e)?,
                FairnessKind::Strong(p, q) => !often(p)? || often(q)?,
            })
        };
        let mut fair = false;
        for terms in &liveness.fairness {
            let mut all = true;
            for term in terms {
                all &= met(term)?;
            }
            fair |= all;
        }
        let mut unknown = Ok(());
        let good = liveness
            .formula
            .holds(length + 1, self.loop_from + 1, &mut |expr, position| {
                at(position, expr).unwrap_or_else(|why| {
                    unknown = Err(why);
                    false
                })
            });
        unknown?;
        Ok(fair && !good)
    }
}

/// The assumptions of a property, each once.
pub fn distinct_terms(liveness: &Liveness) -> Vec<Fairness<Expr>> {
    let mut terms: Vec<Fairness<Expr>> = Vec::new();
    for term in liveness.fairness.iter().flatten() {
        if !terms.contains(term) {
            terms.push(term.clone());
        }
    }
    terms
}

/// The property without one assumption.
pub fn without(liveness: &Liveness, term: &Fairness<Expr>) -> Liveness {
    let mut liveness = liveness.clone();
    for terms in &mut liveness.fairness {
        terms.retain(|other| other != term);
    }
    liveness
}

/// The property with strong assumptions read the wrong way round, as if `strong if p then q` were about `!p`; nothing if it
/// has none.
pub fn swapped(liveness: &Liveness) -> Option<Liveness> {
    let mut liveness = liveness.clone();
    let mut any = false;
    for term in liveness.fairness.iter_mut().flatten() {
        if let FairnessKind::Strong(p, _) = &mut term.kind {
            *p = Expr::Not(Box::new(p.clone()));
            any = true;
        }
    }
    any.then_some(liveness)
}
