//! The conditions by going through the states one by one.
//!
//! A program with a few thousand reachable states can have variables with thousands of values, or steps that write many cells at once. Encoding
//! its steps takes room for all of these values, while the states that a certificate claims are few. So they are listed, and each
//! condition is looked at in each of them with the evaluator: what it says is then not encoded by anybody, and the time grows with the states and their steps
//! alone. Exact, as the other ways are: it is the claimed set that is gone through, not what is reachable.
//!
//! If there are too many states, this gives up, and the other ways are tried.

use std::collections::HashMap;

use threadwise_evidence::Claim;
use threadwise_evidence::certificate::cell_values;
use threadwise_evidence::dag::{Child, Dag};
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::system::{Expr, ProcessId, Step, System, SystemPropertyKind};

use crate::Error;
use crate::conditions::{Method, Report, Subject, reject};
use crate::fair;
use crate::parts::Parts;
use crate::rejection::Condition;

/// The most states of a set that are gone through: of more, walks are quicker.
const MOST_STATES: usize = 50_000;
/// The most values of cells that are kept.
const MOST_KEPT: usize = 10_000_000;
/// The most nodes that are met while states are listed.
const MOST_VISITS: u64 = 4_000_000;
/// The most outcomes of steps that are looked at.
const MOST_OUTCOMES: u64 = 10_000_000;

/// A state: the value of every cell.
pub(crate) type State = Box<[i64]>;

/// The least value of each cell, and how many there are.
pub(crate) type Domains = [(i64, u64)];

/// What is too much for this way of deciding.
pub(crate) fn too_many(what: &str) -> Error {
    Error::unsupported(format!("there are too many {what} to go through"))
}

/// The values of the cells of a system, which must be finitely many.
pub(crate) fn domains(system: &System) -> Result<Vec<(i64, u64)>, Error> {
    let all: Option<Vec<(i64, u64)>> = cell_values(system).into_iter().collect();
    all.ok_or_else(|| Error::unsupported("a variable is not finite"))
}

/// A decision graph in a form in which children are found fast.
pub(crate) struct Graph {
    root: Child,
    /// The cell of the system that each node tests, and where its runs end.
    nodes: Vec<(usize, usize)>,
    /// The position after the last one of each run.
    ends: Vec<u64>,
    children: Vec<Child>,
}

impl Graph {
    /// A decision graph, with the cells of the system that its own are.
    pub(crate) fn new(dag: &Dag, cells: &[usize]) -> Graph {
        let mut graph = Graph {
            root: dag.root(),
            nodes: Vec::with_capacity(dag.len()),
            ends: Vec::new(),
            children: Vec::new(),
        };
        for node in dag.nodes() {
            let mut end = 0u64;
            for run in node.runs {
                end = end.saturating_add(run.count);
                graph.ends.push(end);
                graph.children.push(run.child);
            }
            graph.nodes.push((cells[node.cell], graph.ends.len()));
        }
        graph
    }

    /// Where the runs of a node are.
    fn runs(&self, node: usize) -> std::ops::Range<usize> {
        let begin = node.checked_sub(1).map_or(0, |before| self.nodes[before].1);
        begin..self.nodes[node].1
    }

    /// The child of a node for a value of its cell; what is no value of the cell is in no set.
    fn child(&self, node: usize, domains: &Domains, value: i64) -> Child {
        let (lo, _) = domains[self.nodes[node].0];
        let Ok(position) = u64::try_from(i128::from(value) - i128::from(lo)) else {
            return Child::FALSE;
        };
        let runs = self.runs(node);
        let at = runs.start + self.ends[runs.clone()].partition_point(|end| *end <= position);
        match at < runs.end {
            true => self.children[at],
            false => Child::FALSE,
        }
    }

    /// Whether the state with these values is in the set.
    pub(crate) fn contains(&self, domains: &Domains, value: impl Fn(usize) -> i64) -> bool {
        let mut at = self.root;
        // Children stand before their parents, so this ends.
        while let Some(node) = at.node() {
            at = self.child(node, domains, value(self.nodes[node].0));
        }
        at == Child::TRUE
    }

    /// How many ways lead to true, each with as many values as it allows.
    fn ways(&self) -> u64 {
        let leaf = |child: Child| u64::from(child == Child::TRUE);
        let mut ways: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let mut sum = 0u64;
            let mut begin = 0;
            for at in self.runs(node) {
                let child = self.children[at];
                let below = child.node().map_or(leaf(child), |child| ways[child]);
                let count = self.ends[at] - begin;
                begin = self.ends[at];
                sum = sum.saturating_add(below.saturating_mul(count));
            }
            ways.push(sum);
        }
        self.root.node().map_or(leaf(self.root), |root| ways[root])
    }
}

/// What is left to do while states are listed: go on in a graph, from a child of a node.
struct Open {
    graph: usize,
    child: Child,
    /// How many values were given before.
    given: usize,
    /// What is given on the way.
    value: Option<(usize, i64)>,
}

/// The states over the first cells of a system that are in all of these sets, if they are not more than so many. The graphs test no other cells.
pub(crate) fn list(
    graphs: &[Graph],
    domains: &Domains,
    most: usize,
    cancel: &dyn Fn() -> bool,
) -> Result<Vec<State>, Error> {
    if let [only] = graphs
        && only.ways() > most as u64
    {
        return Err(too_many("states"));
    }
    let cells = domains.len();
    let mut states: Vec<State> = Vec::new();
    let mut values: Vec<Option<i64>> = vec![None; cells];
    let mut given: Vec<usize> = Vec::new();
    let mut visits = 0u64;
    let mut open = vec![Open {
        graph: 0,
        child: graphs.first().map_or(Child::TRUE, |graph| graph.root),
        given: 0,
        value: None,
    }];
    while let Some(next) = open.pop() {
        for cell in given.drain(next.given..) {
            values[cell] = None;
        }
        if let Some((cell, value)) = next.value {
            values[cell] = Some(value);
            given.push(cell);
        }
        let Open {
            mut graph,
            mut child,
            ..
        } = next;
        loop {
            visits += 1;
            if visits.is_multiple_of(4096) && cancel() {
                return Err(Error::Cancelled);
            }
            if visits > MOST_VISITS {
                return Err(too_many("states"));
            }
            let branch = |child: Child, cell: usize, position: u64| Open {
                graph,
                child,
                given: given.len(),
                // Positions are within the domain, so this does not overflow.
                value: Some((cell, domains[cell].0.wrapping_add_unsigned(position))),
            };
            if let Some(node) = child.node() {
                let set = &graphs[graph];
                let cell = set.nodes[node].0;
                if let Some(value) = values[cell] {
                    child = set.child(node, domains, value);
                    continue;
                }
                let mut begin = 0;
                for at in set.runs(node) {
                    let end = set.ends[at];
                    if set.children[at] != Child::FALSE {
                        visits = visits.saturating_add(end - begin);
                        if visits > MOST_VISITS {
                            return Err(too_many("states"));
                        }
                        open.extend(
                            (begin..end).map(|place| branch(set.children[at], cell, place)),
                        );
                    }
                    begin = end;
                }
                break;
            }
            if child == Child::FALSE {
                break;
            }
            if graph + 1 < graphs.len() {
                graph += 1;
                child = graphs[graph].root;
                continue;
            }
            // In all sets; what no set tests has any value.
            let Some(cell) = values.iter().position(Option::is_none) else {
                if states.len() == most || states.len() * cells > MOST_KEPT {
                    return Err(too_many("states"));
                }
                states.push(values.iter().copied().flatten().collect());
                break;
            };
            let size = domains[cell].1;
            visits = visits.saturating_add(size);
            if visits > MOST_VISITS {
                return Err(too_many("states"));
            }
            open.extend((0..size).map(|place| branch(Child::TRUE, cell, place)));
            break;
        }
    }
    Ok(states)
}

/// The steps of processes, one state after the other, with their work counted.
pub(crate) struct Steps<'a> {
    subject: Subject<'a>,
    outcomes: u64,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(subject: Subject<'a>) -> Steps<'a> {
        Steps {
            subject,
            outcomes: 0,
        }
    }

    /// How many outcomes were looked at.
    pub(crate) fn count(&self) -> u64 {
        self.outcomes
    }

    /// What a process can do from a state: each of its steps there with all that it can do. A step that leaves 64 bits rejects the certificate.
    pub(crate) fn of(
        &mut self,
        state: &[i64],
        process: ProcessId,
        mut each: impl FnMut(&'a Step, Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let system = self.subject.system;
        let Some(location) = system.location(state, process) else {
            return Ok(());
        };
        for step in &system.templates[system.template_of(process)].steps[location] {
            let combinations = step.choices.iter().fold(1u64, |all, (lo, hi)| {
                let size = (i128::from(*hi) - i128::from(*lo) + 1).max(0);
                all.saturating_mul(u64::try_from(size).unwrap_or(u64::MAX))
            });
            self.outcomes = self.outcomes.saturating_add(combinations.max(1));
            if self.outcomes > MOST_OUTCOMES || combinations > eval::MAX_CHOICES {
                return Err(too_many("outcomes of steps"));
            }
            for outcome in eval::outcomes_of(system, std::slice::from_ref(step), state, process) {
                match outcome {
                    Outcome::Overflow => {
                        let name = self.subject.name(process, step);
                        let condition = Condition::Overflow(Some(name));
                        return reject(true, condition, self.subject.describe(state), None);
                    }
                    Outcome::Full(_) | Outcome::TooManyChoices => {
                        return Err(too_many("outcomes of steps"));
                    }
                    outcome => each(step, outcome)?,
                }
            }
        }
        Ok(())
    }
}

/// Checks a claim for several properties by going through its states.
pub(crate) fn decide<'a>(
    subject: Subject<'a>,
    claim: &Claim,
    parts: &'a Parts<'a>,
    properties: &[(&str, &SystemPropertyKind)],
    closed: &mut bool,
) -> Vec<Result<Report, Error>> {
    let begun = Listed::new(subject, claim, parts).and_then(|mut listed| {
        let failing = listed.closed()?;
        Ok((listed, failing))
    });
    let (listed, failing) = match begun {
        Ok(begun) => begun,
        Err(error) => return vec![Err(error); properties.len()],
    };
    // Of a claim without an invariant nothing was asked so far.
    *closed |= listed.states.is_some();
    let each = properties.iter().map(|(name, kind)| {
        let mut more = Report::default();
        match kind {
            SystemPropertyKind::Invariant(expr) => listed.invariant(name, expr)?,
            SystemPropertyKind::DeadlockFree => listed.deadlock()?,
            SystemPropertyKind::Checks => failing.clone().map_or(Ok(()), Err)?,
            SystemPropertyKind::Liveness(liveness) => {
                // `property_of` lets no other claim through.
                let Claim::Fair(claim) = claim else {
                    return Err(Error::mismatch("the claim is not about fair runs"));
                };
                more = fair::check(Method::Each, subject, parts, claim, liveness)?;
            }
        }
        Ok(listed.report.and(more))
    });
    each.collect()
}

/// A claimed set as a list of states.
struct Listed<'a> {
    subject: Subject<'a>,
    /// Nothing if all states are meant, and nothing depends on which these are: so it is for proofs about fair runs that need no invariant.
    states: Option<Vec<State>>,
    report: Report,
}

impl<'a> Listed<'a> {
    fn new(subject: Subject<'a>, claim: &Claim, parts: &Parts<'_>) -> Result<Listed<'a>, Error> {
        let list_of = parts.list();
        let states = match claim {
            Claim::Fair(_) if list_of.is_empty() => None,
            _ => {
                let domains = domains(subject.system)?;
                let graphs = list_of
                    .iter()
                    .map(|part| Graph::new(part.dag, &part.cells))
                    .collect::<Vec<_>>();
                Some(list(&graphs, &domains, MOST_STATES, subject.cancel)?)
            }
        };
        Ok(Listed {
            subject,
            states,
            report: Report {
                nodes: list_of.iter().map(|part| part.dag.len()).sum(),
                ..Report::default()
            },
        })
    }

    fn states(&self) -> &[State] {
        self.states.as_deref().unwrap_or(&[])
    }

    /// That the initial states are in the set, and that no step leads out of it or leaves 64 bits. Finds one that fails a check.
    fn closed(&mut self) -> Result<Option<Error>, Error> {
        let Some(states) = &self.states else {
            return Ok(None);
        };
        let subject = self.subject;
        let system = subject.system;
        let known: HashMap<&[i64], ()> = states.iter().map(|state| (&**state, ())).collect();
        let initial = eval::initial_states(system)
            .map_err(|_| Error::unsupported("an initial value leaves 64 bits"))?;
        // No state comes twice, so this ends at the latest with one more than are known.
        for state in initial {
            if !known.contains_key(&*state) {
                reject(true, Condition::Initial, subject.describe(&state), None)?;
            }
        }
        let mut failing = None;
        let mut steps = Steps::new(subject);
        for (number, state) in states.iter().enumerate() {
            if number % 64 == 0 && (subject.cancel)() {
                return Err(Error::Cancelled);
            }
            for process in (0..system.processes()).map(ProcessId::from_raw) {
                steps.of(state, process, |step, outcome| match outcome {
                    Outcome::Move(next) if !known.contains_key(&*next) => {
                        let condition = Condition::Step(subject.name(process, step));
                        let next = Some(subject.describe(&next));
                        reject(true, condition, subject.describe(state), next)
                    }
                    Outcome::Failure(kind, span) if failing.is_none() => {
                        let condition = Condition::Check {
                            step: subject.name(process, step),
                            check: kind.into(),
                            span,
                        };
                        failing = reject(true, condition, subject.describe(state), None).err();
                        Ok(())
                    }
                    _ => Ok(()),
                })?;
            }
        }
        self.report.conditions += states.len() as u64;
        self.report.visits += steps.count();
        Ok(failing)
    }

    fn invariant(&self, name: &str, expr: &Expr) -> Result<(), Error> {
        for (number, state) in self.states().iter().enumerate() {
            if number % 64 == 0 && (self.subject.cancel)() {
                return Err(Error::Cancelled);
            }
            let condition = match Context::of_state(self.subject.system, state).holds(expr) {
                Ok(true) => continue,
                Ok(false) => Condition::Property(name.to_owned()),
                Err(eval::Overflow) => Condition::Overflow(None),
            };
            reject(true, condition, self.subject.describe(state), None)?;
        }
        Ok(())
    }

    fn deadlock(&self) -> Result<(), Error> {
        let system = self.subject.system;
        for (number, state) in self.states().iter().enumerate() {
            if number % 64 == 0 && (self.subject.cancel)() {
                return Err(Error::Cancelled);
            }
            let mut processes = (0..system.processes()).map(ProcessId::from_raw);
            let resting = processes.clone().all(|process| {
                let outcomes = eval::outcomes(system, state, process);
                outcomes.iter().all(|outcome| *outcome == Outcome::Rest)
            });
            if resting && processes.any(|process| eval::active(system, state, process).is_some()) {
                let state = self.subject.describe(state);
                reject(true, Condition::Deadlock, state, None)?;
            }
        }
        Ok(())
    }
}
