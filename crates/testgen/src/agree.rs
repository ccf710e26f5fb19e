//! The interpreter, the plain lowering and the optimised lowering, compared.
//!
//! The states that the interpreter reaches are explored breadth first. In each, for every process, the set
//! of moves, rests and failures must be the same for all three, in both directions; every
//! property must have the same value, and so must the predicates of liveness properties and fairness; deadlocks must be the same; every cell must lie in
//! the interval that the optimiser claims; a step must write nothing outside its footprint. Where the
//! interpreter reaches a limit of threadwise (64 bits) nothing is compared.

use std::collections::{BTreeSet, HashMap, VecDeque};

use threadwise_lang::program::PropertyKind;
use threadwise_model::eval::{self, Context, Outcome};
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{self, Interpreter, Judgement};
use threadwise_model::layout;
use threadwise_model::lower;
use threadwise_model::optimise::{Footprint, Optimised, Steps};
use threadwise_model::state::State;
use threadwise_model::system::{Expr, ProcessId, Scope, System, SystemPropertyKind};
use threadwise_model::temporal::{self, Atom, Fairness, FairnessKind, Taken};

/// What an exploration found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// States explored.
    pub states: usize,
    /// Transitions compared.
    pub transitions: usize,
    /// Whether all reachable states were explored.
    pub complete: bool,
    /// Whether a check failed somewhere.
    pub failures: bool,
    /// Whether an invariant was violated somewhere.
    pub invariants: bool,
    /// Whether there was a deadlock, and the program claims that there is none.
    pub deadlocks: bool,
    /// The names of the properties that were violated.
    pub violated: BTreeSet<String>,
    /// Processes in states where the interpreter reached a limit.
    pub limits: usize,
    /// Processes in states where a dynamic template was full.
    pub full: usize,
    /// Checks that the optimiser dropped.
    pub discharged: usize,
    /// Values of predicates of liveness properties that were compared.
    pub predicates: usize,
}

impl Findings {
    /// Whether some property was violated.
    pub fn violated(&self) -> bool {
        !self.violated.is_empty()
    }

    /// Whether everything about the instance is known: all states, and nothing beyond a limit.
    pub fn settled(&self) -> bool {
        self.complete && self.limits == 0 && self.full == 0
    }
}

/// Compares all forms of an instance, in at most `most` states.
pub fn compare(instance: &Instance, capacity: u32, most: usize) -> Result<Findings, String> {
    compare_readings(instance, instance, capacity, most)
}

/// The same, where the interpreter runs an instance, and the lowering reads what may be another: to see whether a difference is noticed.
pub fn compare_readings(
    interpreted: &Instance,
    lowered: &Instance,
    capacity: u32,
    most: usize,
) -> Result<Findings, String> {
    let system = lower::lower(lowered, capacity).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(|d| d.message.clone()).collect();
        format!("not lowered: {}", errors.join("; "))
    })?;
    let optimised = Optimised::new(&system);
    Comparison {
        interpreter: Interpreter::new(interpreted),
        system: &system,
        optimised: &optimised,
        steps: HashMap::new(),
        footprints: HashMap::new(),
        temporal: Predicates::all(interpreted, &system)?,
        findings: Findings {
            discharged: optimised.claims().discharged.len(),
            ..Findings::default()
        },
    }
    .run(most)
}

struct Comparison<'a> {
    interpreter: Interpreter<'a>,
    system: &'a System,
    optimised: &'a Optimised<'a>,
    /// The optimised steps of the processes met so far.
    steps: HashMap<ProcessId, Steps>,
    footprints: HashMap<ProcessId, Vec<Vec<Footprint>>>,
    temporal: Vec<Predicates<'a>>,
    findings: Findings,
}

impl Comparison<'_> {
    fn run(mut self, most: usize) -> Result<Findings, String> {
        let mut seen: HashMap<Vec<i64>, ()> = HashMap::new();
        let mut queue = VecDeque::new();
        self.findings.complete = true;
        for state in self.initial(most)? {
            if seen.insert(state.clone(), ()).is_none() {
                queue.push_back(state);
            }
        }
        while let Some(flat) = queue.pop_front() {
            if self.findings.states >= most {
                self.findings.complete = false;
                break;
            }
            self.findings.states += 1;
            for next in self.state(&flat)? {
                if !seen.contains_key(&next) {
                    seen.insert(next.clone(), ());
                    queue.push_back(next);
                }
            }
        }
        Ok(self.findings)
    }

    /// The initial states, which must be the same for the interpreter and the lowering.
    fn initial(&mut self, most: usize) -> Result<Vec<Vec<i64>>, String> {
        let states = self
            .interpreter
            .initial_states()
            .map_err(|limit| limit.to_string())?;
        let total = states.total();
        let mut interpreted = Vec::new();
        for state in states.take(most) {
            if !self.interpreter.is_initial(&state) {
                return Err(format!("not initial after all: {state:?}"));
            }
            interpreted.push(self.flatten(&state)?);
        }
        let lowered: Vec<Vec<i64>> = eval::initial_states(self.system)
            .map_err(|overflow| overflow.to_string())?
            .take(most)
            .collect();
        if total.is_none_or(|total| total > most as u128) {
            self.findings.complete = false;
            return Ok(interpreted);
        }
        let mut sorted = interpreted.clone();
        sorted.sort();
        let mut other = lowered;
        other.sort();
        if sorted != other {
            return Err(format!("initial states differ:\n{sorted:?}\n{other:?}"));
        }
        Ok(interpreted)
    }

    fn flatten(&self, state: &State) -> Result<Vec<i64>, String> {
        let flat = layout::flatten(self.system, state).ok_or("a state does not fit")?;
        let back = layout::unflatten(self.system, &flat);
        if back != *state {
            return Err(format!("not the same state:\n{state:?}\n{back:?}"));
        }
        Ok(flat)
    }

    /// Compares everything in one state, and lists its successors.
    fn state(&mut self, flat: &[i64]) -> Result<Vec<Vec<i64>>, String> {
        let state = layout::unflatten(self.system, flat);
        self.intervals(flat)?;
        let mut successors = Vec::new();
        let mut idle = true;
        let mut active = false;
        let mut known = true;
        for process in (0..self.system.processes()).map(ProcessId::from_raw) {
            if self.system.location(flat, process).is_none() {
                let index = self.system.index_of(process);
                if index < state.count(self.system.template_of(process)) {
                    return Err(format!("{process:?} is started, but not in the vector"));
                }
                continue;
            }
            active |= eval::active(self.system, flat, process).is_some();
            let plain = eval::outcomes(self.system, flat, process);
            idle &= plain.iter().all(|outcome| *outcome == Outcome::Rest);
            let optimised = self.optimised_outcomes(flat, process)?;
            if plain != optimised {
                return Err(self.difference(
                    "plain",
                    &plain,
                    "optimised",
                    &optimised,
                    flat,
                    process,
                ));
            }
            let reference = layout::process_ref(self.system, process);
            let Ok(outcomes) = self.interpreter.outcomes(&state, reference) else {
                self.findings.limits += 1;
                known = false;
                continue;
            };
            let mut interpreted = Vec::new();
            for outcome in outcomes {
                interpreted.push(match outcome {
                    interpreter::Outcome::Move { state, .. } => {
                        match layout::flatten(self.system, &state) {
                            Some(flat) => {
                                if layout::unflatten(self.system, &flat) != state {
                                    return Err(format!("not the same state: {state:?}"));
                                }
                                Outcome::Move(flat)
                            }
                            None => {
                                self.findings.full += 1;
                                let full = self.system.templates.iter_enumerated().find(
                                    |(id, template)| {
                                        template.dynamic && state.count(*id) > template.count
                                    },
                                );
                                Outcome::Full(full.map(|(id, _)| id).ok_or("no template is full")?)
                            }
                        }
                    }
                    interpreter::Outcome::Rest { .. } => Outcome::Rest,
                    interpreter::Outcome::Fail { failure, .. } => {
                        self.findings.failures = true;
                        self.findings.violated.insert("checks".to_owned());
                        Outcome::Failure(failure.kind, failure.span)
                    }
                });
            }
            interpreted.sort();
            interpreted.dedup();
            if interpreted != plain {
                return Err(self.difference(
                    "interpreted",
                    &interpreted,
                    "plain",
                    &plain,
                    flat,
                    process,
                ));
            }
            self.findings.transitions += plain.len();
            successors.extend(plain.into_iter().filter_map(|outcome| match outcome {
                Outcome::Move(next) => Some(next),
                _ => None,
            }));
        }
        if known {
            let deadlock = idle && active;
            let interpreted = self
                .interpreter
                .is_deadlock(&state)
                .map_err(|limit| limit.to_string())?;
            if deadlock != interpreted {
                return Err(format!("deadlock: {deadlock} or {interpreted} in {flat:?}"));
            }
            if deadlock {
                for property in &self.system.properties {
                    if matches!(property.kind, SystemPropertyKind::DeadlockFree) {
                        self.findings.deadlocks = true;
                        self.findings.violated.insert(property.name.clone());
                    }
                }
            }
        }
        self.properties(&state, flat)?;
        self.temporal(&state, flat)?;
        Ok(successors)
    }

    /// Outcomes by the optimised steps; moves must keep to the steps' footprints.
    fn optimised_outcomes(
        &mut self,
        flat: &[i64],
        process: ProcessId,
    ) -> Result<Vec<Outcome>, String> {
        let Some(location) = self.system.location(flat, process) else {
            return Ok(Vec::new());
        };
        let steps = self
            .steps
            .entry(process)
            .or_insert_with(|| self.optimised.steps_of(process));
        let footprints = self.footprints.entry(process).or_insert_with(|| {
            steps
                .iter()
                .map(|steps| {
                    steps
                        .iter()
                        .map(|step| Footprint::of(self.system, step, process))
                        .collect()
                })
                .collect()
        });
        let mut outcomes = Vec::new();
        for (step, footprint) in steps[location].iter().zip(&footprints[location.index()]) {
            let of_step = eval::outcomes_of(self.system, std::slice::from_ref(step), flat, process);
            for outcome in &of_step {
                if let Outcome::Move(next) = outcome {
                    keeps_to(self.system, footprint, flat, next)?;
                }
            }
            outcomes.extend(of_step);
        }
        outcomes.sort();
        outcomes.dedup();
        Ok(outcomes)
    }

    fn intervals(&self, flat: &[i64]) -> Result<(), String> {
        for (id, var) in self.system.vars.iter_enumerated() {
            let interval = self.optimised.claims().bounds.vars[id];
            let copies = match var.scope {
                Scope::Shared => 1,
                Scope::Local(template) => self.system.templates[template].count,
            };
            for copy in 0..copies {
                for offset in 0..var.len {
                    let value = flat[self.system.cell(id, copy, offset).index()];
                    if value < interval.lo || value > interval.hi {
                        return Err(format!("{} is {value}, outside {interval:?}", var.name));
                    }
                }
            }
        }
        Ok(())
    }

    fn properties(&mut self, state: &State, flat: &[i64]) -> Result<(), String> {
        let program = self.interpreter.instance().program();
        // The built-in checks come first in the system, and are not listed in the program.
        for (property, lowered) in program.properties.iter().zip(&self.system.properties[1..]) {
            let (PropertyKind::Invariant(expr), SystemPropertyKind::Invariant(total)) =
                (&property.kind, &lowered.kind)
            else {
                continue;
            };
            let Ok(judgement) = self.interpreter.judge(state, expr) else {
                self.findings.limits += 1;
                continue;
            };
            let holds = Context::of_state(self.system, flat)
                .holds(total)
                .map_err(|overflow| format!("{}: {overflow}", property.name))?;
            if holds != judgement.holds() {
                return Err(format!(
                    "{} is {judgement:?}, lowered {holds}, in {flat:?}",
                    property.name
                ));
            }
            if !holds {
                self.findings.invariants = true;
                self.findings.violated.insert(property.name.clone());
            }
        }
        Ok(())
    }

    /// The predicates of liveness properties, after each step that they ask about and after any other.
    fn temporal(&mut self, state: &State, flat: &[i64]) -> Result<(), String> {
        // There are many predicates, and what is wrong with one shows early.
        const STATES: usize = 150;
        if self.findings.states > STATES {
            return Ok(());
        }
        for predicates in &self.temporal {
            let place = |error: String| format!("{}: {error} in {flat:?}", predicates.property);
            for last in std::iter::once(None).chain((0..predicates.taken.len()).map(Some)) {
                let compared = predicates
                    .compare(&self.interpreter, self.system, state, flat, last)
                    .map_err(place)?;
                match compared {
                    Some(compared) => self.findings.predicates += compared,
                    None => self.findings.limits += 1,
                }
            }
        }
        Ok(())
    }

    fn difference(
        &self,
        left: &str,
        a: &[Outcome],
        right: &str,
        b: &[Outcome],
        flat: &[i64],
        process: ProcessId,
    ) -> String {
        let only = |a: &[Outcome], b: &[Outcome]| -> Vec<Outcome> {
            a.iter()
                .filter(|outcome| !b.contains(outcome))
                .cloned()
                .collect()
        };
        format!(
            "{} at {:?} in {flat:?}\nonly {left}: {:?}\nonly {right}: {:?}",
            layout::process_name(self.system, process),
            self.system.location(flat, process),
            only(a, b),
            only(b, a),
        )
    }
}

/// The predicates of a liveness property and of its fairness, as they stand in the source and lowered.
struct Predicates<'a> {
    property: &'a str,
    taken: &'a [Taken],
    formula: Vec<(Atom<'a>, &'a Expr)>,
    /// Whether no check fails in any of these, if one can.
    defined: Option<&'a Expr>,
    conditions: Vec<(Atom<'a>, &'a Expr)>,
}

impl<'a> Predicates<'a> {
    fn all(instance: &'a Instance, system: &'a System) -> Result<Vec<Self>, String> {
        let mut all = Vec::new();
        // The built-in checks come first in the system, and are not listed in the program.
        let properties = instance.program().properties.iter();
        for (property, lowered) in properties.zip(&system.properties[1..]) {
            let (PropertyKind::Liveness { under, formula }, SystemPropertyKind::Liveness(lowered)) =
                (&property.kind, &lowered.kind)
            else {
                continue;
            };
            let large = |_| format!("{} is too large", property.name);
            let unfolded = temporal::unfold(instance, formula, property.span).map_err(large)?;
            let fairness =
                temporal::unfold_fairness(instance, under, property.span).map_err(large)?;
            let (mut atoms, mut exprs) = (Vec::new(), Vec::new());
            unfolded.for_atoms(&mut |atom| atoms.push(atom.clone()));
            lowered.formula.for_atoms(&mut |expr| exprs.push(expr));
            let defined = exprs.get(atoms.len()).copied();
            let atoms_of_terms = fairness.iter().flatten().flat_map(of_term).cloned();
            let exprs_of_terms = lowered.fairness.iter().flatten().flat_map(of_term);
            all.push(Predicates {
                property: &property.name,
                taken: &lowered.taken,
                formula: atoms.into_iter().zip(exprs).collect(),
                defined,
                conditions: atoms_of_terms.zip(exprs_of_terms).collect(),
            });
        }
        Ok(all)
    }

    /// How many are compared after a step; nothing where the interpreter reaches a limit.
    fn compare(
        &self,
        interpreter: &Interpreter,
        system: &System,
        state: &State,
        flat: &[i64],
        last: Option<usize>,
    ) -> Result<Option<usize>, String> {
        let mut choices = vec![0; self.taken.len()];
        let step = last.map(|last| {
            choices[last] = 1;
            (self.taken[last].process, self.taken[last].location)
        });
        let context = Context {
            choices: &choices,
            ..Context::of_state(system, flat)
        };
        let holds = |expr: &Expr| context.holds(expr).map_err(|error| error.to_string());
        let judge = |atom: &Atom| {
            interpreter
                .judge_after(state, step, atom.expr, &atom.bindings)
                .ok()
        };
        let mut defined = true;
        for (position, (atom, expr)) in self.formula.iter().enumerate() {
            let Some(judgement) = judge(atom) else {
                return Ok(None);
            };
            match judgement {
                Judgement::Fails(_) => defined = false,
                _ if holds(expr)? == judgement.holds() => {}
                _ => {
                    return Err(format!(
                        "predicate {position} is {judgement:?} after {step:?}"
                    ));
                }
            }
        }
        let said = match self.defined {
            Some(expr) => holds(expr)?,
            None => true,
        };
        if said != defined {
            return Err(format!("defined: {said}, after {step:?}"));
        }
        for (position, (atom, expr)) in self.conditions.iter().enumerate() {
            let Some(judgement) = judge(atom) else {
                return Ok(None);
            };
            if holds(expr)? != judgement.holds() {
                return Err(format!(
                    "condition {position} is {judgement:?} after {step:?}"
                ));
            }
        }
        Ok(Some(self.formula.len() + self.conditions.len()))
    }
}

/// The predicates of an assumption.
fn of_term<A>(term: &Fairness<A>) -> Vec<&A> {
    match &term.kind {
        FairnessKind::Scheduled(_) => Vec::new(),
        FairnessKind::Weak(e) => vec![e],
        FairnessKind::Strong(p, q) => vec![p, q],
    }
}

fn keeps_to(
    system: &System,
    footprint: &Footprint,
    before: &[i64],
    after: &[i64],
) -> Result<(), String> {
    for (cell, (x, y)) in before.iter().zip(after).enumerate() {
        if x == y {
            continue;
        }
        let (var, copy, offset) =
            layout::locate(system, threadwise_model::system::CellId::new(cell))
                .ok_or_else(|| format!("cell {cell} belongs to nothing"))?;
        let allowed = footprint.writes.iter().any(|region| {
            region.var == var
                && (system.vars[var].scope == Scope::Shared
                    || region.process.is_none_or(|p| p == copy))
                && region.offset.is_none_or(|o| o == offset)
        });
        if !allowed {
            return Err(format!("cell {cell} is written outside the footprint"));
        }
    }
    Ok(())
}
