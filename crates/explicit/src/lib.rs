//! The explicit engine: every reachable state, one after the other.
//!
//! It is the oracle that the other engines are tested against, so it shares nothing with them and
//! does nothing clever with states. It is fast by other means: states are packed to bits
//! (`layout`) and stored once (`store`), steps are made special to each process (`term`,
//! `compile`) and run as flat code (`code`). One search (`search`) serves all safety properties of a system; runs
//! to violations are shortest (`path`).
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//! use threadwise_engine::{Answer, Engine, Limits, Silent};
//! use threadwise_explicit::Explicit;
//! use threadwise_model::{instance::Instance, lower::lower};
//!
//! let text = "shared x: 0..2 = 0; process P { a: x := 1; b: x := 2; } invariant low: x < 2;";
//! let program = threadwise_lang::check(text).program.unwrap();
//! let instance = Instance::new(Arc::new(program), &BTreeMap::new()).unwrap();
//! let system = lower(&instance, 0).unwrap();
//! let low = &system.properties[1];
//! let outcome = Explicit::default().check(&system, low, &Limits::NONE, &mut Silent);
//! let Answer::Violated(run) = &outcome.answers[0] else { panic!() };
//! assert_eq!(run.steps.len(), 2);
//! ```

mod certificate;
mod code;
mod compile;
mod emit;
mod expand;
mod initial;
mod layout;
mod path;
mod search;
mod store;
mod symmetry;
mod term;

use threadwise_evidence::{Certificate, Reason, ReasonCode, Stats};
use threadwise_model::system::{
    CellDomain, CellInitial, Scope, System, SystemProperty, SystemPropertyKind, SystemVar,
};

use crate::compile::compile;
use crate::initial::Initial;
use crate::layout::Layout;
use crate::path::Steps;
use crate::search::{Doubt, End, Found, Goal, Search};
use crate::symmetry::{Renaming, Symmetry};
use threadwise_engine::{
    Answer, Decides, Engine, EngineInfo, Limits, Make, Observer, OptionInfo, Outcome, Run,
    RunEnding, State, Unsupported,
};
use threadwise_lang::program::{IdOrder, Instances, Program};

/// The explicit engine, as it is known.
pub static EXPLICIT: EngineInfo = EngineInfo {
    name: "explicit",
    about: "Visits every reachable state, breadth first; counterexamples are the shortest.",
    decides: Decides::Safety,
    explains: false,
    options: &[SYMMETRY],
    make: Make::One(|setup| {
        Ok(Box::new(Explicit {
            exhaustive: setup.count_states,
            along: setup.along,
            symmetry: setup.options.has(&SYMMETRY),
            certificates: setup.certificates,
            threads: usize::from(setup.threads),
            integers: None,
        }))
    }),
};

const SYMMETRY: OptionInfo = OptionInfo {
    remedy: Some(has_processes_alike),
    ..OptionInfo::flag(
        "symmetry",
        "Store one of all states that differ only in who is who, as far as the types allow",
    )
};

fn has_processes_alike(program: &Program) -> bool {
    program.templates.iter().any(|template| {
        template.order == IdOrder::Unordered && !matches!(template.instances, Instances::Single)
    })
}

/// More threads than this would wait for the one that owns the store.
const MOST_THREADS: usize = 4;

/// The explicit engine.
#[derive(Clone, Copy, Debug)]
pub struct Explicit {
    /// Goes on when every property is decided, until all states are counted.
    pub exhaustive: bool,
    /// The built-in checks are looked at along with the other properties: once these are all violated, the search does not go on for long for their sake.
    pub along: bool,
    /// Stores one of all states that differ only in who is who. The counts are then of those.
    pub symmetry: bool,
    /// Gives certificates with proofs, unless there are too many states or they are stored up to symmetry.
    pub certificates: bool,
    /// How many threads may work. The results are the same for any number.
    pub threads: usize,
    /// Integers without bounds that begin with any value begin with one from the first to the second of these. What is then not found may be there all
    /// the same, so nothing is proved of such a system. Without this it is refused.
    pub integers: Option<(i64, i64)>,
}

/// States that were visited.
#[derive(Clone, Debug, Default)]
pub struct Visited {
    /// The states, breadth first.
    pub states: Vec<State>,
    /// Whether they are all that are reachable.
    pub complete: bool,
}

impl Default for Explicit {
    fn default() -> Self {
        Explicit {
            exhaustive: false,
            along: false,
            symmetry: false,
            certificates: false,
            threads: 1,
            integers: None,
        }
    }
}

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        EXPLICIT.name
    }

    fn accepts(&self, system: &System, property: &SystemProperty) -> Result<(), Unsupported> {
        if let SystemPropertyKind::Liveness(_) = property.kind {
            return Err(Unsupported {
                message: format!(
                    "`explicit` decides safety properties, and `{}` is a liveness property",
                    property.name
                ),
                next: Some("use a liveness engine".to_owned()),
            });
        }
        match endless(system) {
            None => Ok(()),
            Some(_) if self.integers.is_some() => Ok(()),
            Some(var) => Err(Unsupported {
                message: format!(
                    "`explicit` visits states one by one, and `{}` begins with any of endlessly many values",
                    var.name
                ),
                next: Some("give it a range, or an initial value".to_owned()),
            }),
        }
    }

    fn check_all(
        &self,
        system: &System,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let layout = Layout::new(system);
        match layout.words {
            1 => self.explore::<1>(system, &layout, properties, limits, observer),
            2 => self.explore::<2>(system, &layout, properties, limits, observer),
            3 => self.explore::<3>(system, &layout, properties, limits, observer),
            4 => self.explore::<4>(system, &layout, properties, limits, observer),
            _ => self.explore::<0>(system, &layout, properties, limits, observer),
        }
    }
}

/// A variable that begins with any of endlessly many values.
fn endless(system: &System) -> Option<&SystemVar> {
    let mut vars = system.vars.iter();
    vars.find(|var| {
        var.domain == CellDomain::Int
            && var.initial == CellInitial::Any
            && has_cells(system, var.scope, var.len)
    })
}

fn has_cells(system: &System, scope: Scope, len: u32) -> bool {
    len > 0
        && match scope {
            Scope::Shared => true,
            Scope::Local(template) => system.templates[template].count > 0,
        }
}

impl Explicit {
    /// The reachable states, breadth first, until a limit is reached or a dynamic template has no room left. Of a system that is refused there are none.
    /// With symmetry, one of all that differ only in who is who.
    pub fn states(&self, system: &System, limits: &Limits, observer: &mut dyn Observer) -> Visited {
        let layout = Layout::new(system);
        match layout.words {
            1 => self.visited::<1>(system, &layout, limits, observer),
            2 => self.visited::<2>(system, &layout, limits, observer),
            3 => self.visited::<3>(system, &layout, limits, observer),
            4 => self.visited::<4>(system, &layout, limits, observer),
            _ => self.visited::<0>(system, &layout, limits, observer),
        }
    }

    fn visited<const W: usize>(
        &self,
        system: &System,
        layout: &Layout,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Visited {
        if self.integers.is_none() && endless(system).is_some() {
            return Visited::default();
        }
        let Ok(initial) = Initial::new(system, layout, self.integers()) else {
            return Visited::default();
        };
        let compiled = compile(system, layout, &[]);
        let symmetry = self.symmetry.then(|| Symmetry::new(system, &[])).flatten();
        let mut search: Search<W> = Search::new(
            system,
            layout,
            &compiled,
            limits,
            &initial,
            Vec::new(),
            symmetry.as_ref(),
        );
        search.exhaustive = true;
        search.threads = self.threads.clamp(1, MOST_THREADS);
        let end = search.run(observer);
        let numbers = 0..search.store.len();
        Visited {
            states: numbers.map(|number| search.cells(number)).collect(),
            complete: end == End::Complete && endless(system).is_none(),
        }
    }

    /// What integers without bounds begin with.
    fn integers(&self) -> (i64, i64) {
        self.integers.unwrap_or_default()
    }

    fn explore<const W: usize>(
        &self,
        system: &System,
        layout: &Layout,
        properties: &[&SystemProperty],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let mut goals = Vec::new();
        let mut invariants = Vec::new();
        // For each property its goal, or why there is none.
        let mut asked = Vec::new();
        for property in properties {
            if let Err(unsupported) = self.accepts(system, property) {
                asked.push(Err(Reason::from(unsupported)));
                continue;
            }
            let goal = match &property.kind {
                SystemPropertyKind::Checks => Goal::Check,
                SystemPropertyKind::DeadlockFree => Goal::Deadlock,
                SystemPropertyKind::Invariant(invariant) => {
                    invariants.push(invariant);
                    Goal::Invariant(invariants.len() - 1)
                }
                SystemPropertyKind::Liveness(_) => continue,
            };
            let at = goals
                .iter()
                .position(|&known| known == goal)
                .unwrap_or(goals.len());
            if at == goals.len() {
                goals.push(goal);
            }
            asked.push(Ok(at));
        }
        if goals.is_empty() && !self.exhaustive {
            let answers = asked
                .into_iter()
                .filter_map(Result::err)
                .map(Answer::Unknown)
                .collect();
            return Outcome {
                answers,
                ..Outcome::default()
            };
        }
        let initial = match Initial::new(system, layout, self.integers()) {
            Ok(initial) => initial,
            Err(wrong) => {
                let message = format!(
                    "the initial value of cell {} is none of its values",
                    wrong.cell
                );
                let answer = || Answer::Unknown(Reason::new(ReasonCode::Internal, message.clone()));
                let answers = asked.into_iter().map(|_| answer()).collect();
                return Outcome {
                    answers,
                    ..Outcome::default()
                };
            }
        };
        let compiled = compile(system, layout, &invariants);
        let symmetry = if self.symmetry {
            Symmetry::new(system, properties)
        } else {
            None
        };
        let mut search: Search<W> = Search::new(
            system,
            layout,
            &compiled,
            limits,
            &initial,
            goals,
            symmetry.as_ref(),
        );
        search.exhaustive = self.exhaustive;
        search.threads = self.threads.clamp(1, MOST_THREADS);
        search.along = self.along;
        let end = search.run(observer);
        let endless = endless(system).is_some();
        if endless {
            search.doubtful.fill(Some(Doubt::Integers));
        }
        let nowhere = search.store.len() == 0 && !system.initially.is_empty();
        let mut answers: Vec<Answer> = asked
            .into_iter()
            .map(|asked| match asked {
                Err(reason) => Answer::Unknown(reason),
                Ok(_) if nowhere && end == End::Complete => Answer::Unknown(Reason::new(
                    ReasonCode::Unsupported,
                    "no state satisfies `initially`",
                )),
                Ok(goal) => answer(&search, goal, end),
            })
            .collect();
        if self.certificates && symmetry.is_none() {
            certify(&search, properties, &mut answers);
        }
        let states = u64::from(search.store.len());
        let stats = Stats {
            states: Some(states),
            transitions: Some(search.transitions),
            depth: Some(search.layers.len() as u64 - 1),
            bytes_per_state: (states > 0).then(|| search.store.bytes() as f64 / states as f64),
            peak_bytes: Some(search.peak),
            up_to_symmetry: self.symmetry.then_some(true),
            ..Stats::default()
        };
        let complete =
            end == End::Complete && !endless && search.doubtful.iter().all(Option::is_none);
        let capacity_exceeded = match end {
            End::Capacity(template) => Some(template),
            _ => None,
        };
        Outcome {
            answers,
            stats,
            complete,
            accounts: Vec::new(),
            capacity_exceeded,
        }
    }
}

fn answer<const W: usize>(search: &Search<W>, goal: usize, end: End) -> Answer {
    if let (Some(found), Some(run)) = (search.found[goal], &search.runs[goal]) {
        return match run {
            Ok((steps, renaming)) => {
                Answer::Violated(run_to(search, search.goals[goal], found, steps, renaming))
            }
            Err(stop) => {
                let mut reason = Reason::from(*stop);
                reason.message = format!(
                    "a violation was found, but {} while its run was rebuilt",
                    reason.message
                );
                Answer::Unknown(reason)
            }
        };
    }
    if end == End::Complete && search.doubtful[goal].is_none() {
        return Answer::Proved(None);
    }
    Answer::Unknown(reason(search, end, search.doubtful[goal]))
}

/// Adds the reachable states to proofs, as their certificate.
fn certify<const W: usize>(
    search: &Search<W>,
    properties: &[&SystemProperty],
    answers: &mut [Answer],
) {
    if !answers.iter().any(|a| matches!(a, Answer::Proved(_))) {
        return;
    }
    let Some(states) = certificate::reachable(search) else {
        return;
    };
    for (property, answer) in properties.iter().zip(answers) {
        if let Answer::Proved(certificate) = answer {
            let proof = Certificate::inductive(search.system, &property.name, states.clone());
            *certificate = Some(proof);
        }
    }
}

fn run_to<const W: usize>(
    search: &Search<W>,
    goal: Goal,
    found: Found,
    (initial, steps): &Steps,
    renaming: &Renaming,
) -> Run {
    let ending = match (goal, found.failure) {
        (_, Some((process, check))) => {
            let site = search.compiled.checks[check as usize];
            let process = renaming.process(search.system, process);
            RunEnding::Check {
                process,
                from: site.from,
                kind: site.kind,
                span: site.span,
            }
        }
        (Goal::Deadlock, None) => RunEnding::Deadlock,
        (Goal::Invariant(_) | Goal::Check, None) => RunEnding::Invariant,
    };
    Run {
        initial: initial.clone(),
        steps: steps.clone(),
        ending,
    }
}

fn reason<const W: usize>(search: &Search<W>, end: End, doubt: Option<Doubt>) -> Reason {
    let states = search.store.len();
    match end {
        End::Stopped(stop) => {
            let reason = Reason::from(stop);
            Reason {
                message: format!("{} after {states} states", reason.message),
                ..reason
            }
        }
        End::States => Reason::new(
            ReasonCode::StateLimit,
            format!("the limit of states was reached after {states}"),
        ),
        End::Memory => Reason::new(
            ReasonCode::MemoryLimit,
            format!("the memory limit was reached after {states} states"),
        )
        .next("allow more memory, or use smaller parameters"),
        End::Numbers => Reason::new(
            ReasonCode::StateLimit,
            format!("there are more states than the engine can number ({states})"),
        ),
        End::Capacity(template) => {
            let template = &search.system.templates[template];
            let message = format!(
                "more than {} processes of `{}` are started",
                template.count, template.name
            );
            Reason::new(ReasonCode::Capacity, message)
        }
        End::OutOfRange(cell) => {
            let message = format!("a step gave cell {cell} a value that is none of its values");
            Reason::new(ReasonCode::Internal, message).next("report this as a bug of threadwise")
        }
        End::Along => Reason::new(
            ReasonCode::Violations,
            "all else is violated, and the search ended soon after that",
        )
        .next("fix the violations first, or insist: --property checks"),
        End::Complete | End::Decided => match doubt {
            Some(Doubt::Integers) => Reason::new(
                ReasonCode::Integers,
                "integers that begin with any value began with a few only",
            ),
            Some(Doubt::TooMany) => Reason::new(
                ReasonCode::Choices,
                "a step has more choices than can be gone through one by one",
            )
            .next("give the variables smaller ranges"),
            _ => Reason::new(
                ReasonCode::Overflow,
                "a computation left the 64 bits of an integer",
            )
            .next("give the variables ranges"),
        },
    }
}
