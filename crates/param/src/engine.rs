//! The engines for every value of the parameters: `counter`, `cubes` and `generalise`.
//!
//! All search small instances for violations, look for a proof, and search larger instances if there is none. They differ in how they look for the proof.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use threadwise_engine::{
    Counterexample, Decides, EngineInfo, EngineOptions, FamilyAnswer, FamilyEngine, FamilyOutcome,
    Form, Make, Observer, OptionInfo, Refused, Setup, Task,
};
use threadwise_evidence::{
    Account, CHECKS, Certificate, Claim, Missing, Outline, Reason, ReasonCode, Round, Stats,
    Vacuity,
};
use threadwise_lang::program::{Program, PropertyKind};
use threadwise_lang::suggest::closest;
use threadwise_model::family::{self, Family, Formula, Liveness};
use threadwise_model::system::System;

use crate::chc::Asked;
use crate::counter::{Allowance, Attempt, Claimed, Proof};
use crate::cubes::Arrivals;
use crate::explain;
use crate::small::{self, Found, Reach};

/// States of each small instance that are looked at as samples.
pub(crate) const SAMPLES: usize = 1_500;
/// And where only equations and bounds are guessed from them.
const FAIR_SAMPLES: usize = 300;
/// The same for searches backwards, which guess from what samples do not show.
const MORE_SAMPLES: usize = 10_000;
/// Questions that the arithmetic solver is asked at most.
pub(crate) const QUESTIONS: u64 = 400_000;
/// Steps of the solver after which to give up where there are other engines to try. The hardest program of the library needs 57,000.
const BOUNDED_STEPS: u64 = 80_000;
/// And for liveness. The barrier needs more than half of that.
const FAIR_STEPS: u64 = 80_000;
/// Steps at least for telling whether a liveness property is proved for want of runs.
const VACUITY_STEPS: u64 = 1_000;
/// Steps for telling what proofs lack, if there are none.
const TELLING: u64 = 4_000;
/// Units of work of a step of the arithmetic solver: it asks at each whether to stop.
const STEP: u64 = 300;

/// Thread-modular counter abstraction, as the engine is known.
pub static COUNTER: EngineInfo = EngineInfo {
    name: "counter",
    about: "Processes are counted by label, and one or a few are followed, with integers without bounds: proofs by linear arithmetic, for any number of processes.",
    decides: Decides::Safety,
    explains: true,
    options: &[METHOD, INTERPOLANTS, SOLVER],
    make: Make::All(counter),
};

const METHOD: OptionInfo = OptionInfo::new(
    "method",
    "In `counter`, how to look for a proof",
    Form::Choice(
        "METHOD",
        &[
            (
                "native",
                "By equations, guesses and clauses, in stages (default)",
            ),
            (
                "cegar",
                "By predicate abstraction, with predicates from interpolation, as the method was published",
            ),
            (
                "chc",
                "By another program, as Horn clauses; what it finds is proved here, not trusted",
            ),
        ],
    ),
);

const INTERPOLANTS: OptionInfo = OptionInfo::new(
    "interpolants",
    "With `--method cegar`, which interpolants become predicates",
    Form::Choice(
        "WHICH",
        &[
            (
                "inequalities",
                "Inequalities that no step of another process breaks, as far as there are any (default)",
            ),
            (
                "lattice",
                "Those of proofs about the smallest sets of template terms alone, as published",
            ),
        ],
    ),
);

const SOLVER: OptionInfo = OptionInfo::new(
    "solver",
    "With `--method chc`, the program to ask, which must be on the PATH [default: z3]",
    Form::Value("NAME"),
);

/// The programs that solve Horn clauses; the first is asked unless another is named.
const SOLVERS: &[&str] = &["z3"];

/// Invariants of small instances, generalised, as the engine is known.
pub static GENERALISE: EngineInfo = EngineInfo {
    name: "generalise",
    about: "The invariant of a small instance, generalised to all: for arrays with an entry for each process, and guards about all processes.",
    decides: Decides::Safety,
    explains: true,
    options: &[],
    make: Make::All(|setup| Ok(Box::new(Prover::new(Way::Generalise).set_up(setup)))),
};

/// Liveness by deletion with rankings, as the engine is known.
pub static RANKING: EngineInfo = EngineInfo {
    name: "ranking",
    about: "Liveness for any number of processes: what a fair run that waits does for ever is deleted by ranks, justice and compassion until nothing is left.",
    decides: Decides::Liveness,
    explains: true,
    options: &[],
    make: Make::All(|setup| {
        let Setup {
            bounded, explain, ..
        } = *setup;
        Ok(Box::new(Ranking { bounded, explain }))
    }),
};

/// Backward search with guesses, as the engine is known.
pub static CUBES: EngineInfo = EngineInfo {
    name: "cubes",
    about: "Backward search over situations of a few processes, with guesses from small instances: for protocols, with pointers and guards about all processes.",
    decides: Decides::Safety,
    explains: true,
    options: &[],
    make: Make::All(|setup| Ok(Box::new(Prover::new(Way::Cubes).set_up(setup)))),
};

/// [`COUNTER`] asking another program.
pub fn by_solver() -> EngineOptions {
    EngineOptions::default().value(METHOD.name, "chc")
}

fn counter(setup: &Setup) -> Result<Box<dyn FamilyEngine>, Refused> {
    let method = setup.options.choice(&METHOD)?;
    let mut prover = Prover::new(Way::Counter(method)).set_up(setup);
    prover.interpolants = setup.options.choice(&INTERPOLANTS)?;
    if method != Method::Cegar && !setup.options.all(&INTERPOLANTS).is_empty() {
        return Err(Refused {
            message: "`--interpolants` is for `--method cegar`".to_owned(),
            help: "leave it out, or say `--method cegar`, too".to_owned(),
        });
    }
    if let Some(name) = setup.options.all(&SOLVER).last() {
        if method != Method::Chc {
            return Err(Refused {
                message: "`--solver` is for `--method chc`".to_owned(),
                help: "leave it out, or say `--method chc`, too".to_owned(),
            });
        }
        let Some(known) = SOLVERS.iter().find(|known| *known == name) else {
            let near = closest(name, SOLVERS.iter().map(|&known| known.to_owned()));
            return Err(Refused {
                message: format!("there is no solver `{name}` that threadwise knows how to ask"),
                help: match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the solvers: {}", SOLVERS.join(", ")),
                },
            });
        };
        prover.solver = known;
    }
    Ok(Box::new(prover))
}

/// An engine for every value of the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Prover {
    /// How a proof is looked for.
    pub way: Way,
    /// Which predicates [`Method::Cegar`] takes.
    pub interpolants: Interpolants,
    /// The program that [`Method::Chc`] asks.
    pub solver: &'static str,
    /// Whether to give up after some amount of work that depends on nothing but the task, since there are others to try.
    pub bounded: bool,
    /// Whether proofs are to come with outlines.
    pub explain: bool,
}

/// How a proof is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Thread-modular counter abstraction.
    Counter(Method),
    /// Invariants of small instances, generalised.
    Generalise,
    /// Backward search with guesses.
    Cubes,
}

impl Way {
    /// `counter`, by its own method.
    pub const COUNTER: Way = Way::Counter(Method::Native);
}

/// How the counter abstraction is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By equations, guesses and clauses, in stages.
    #[default]
    Native,
    /// By predicate abstraction, with predicates from interpolation.
    Cegar,
    /// By another program, as Horn clauses; what it finds is proved here.
    Chc,
}

/// Which interpolants become predicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolants {
    /// Inequalities first, those that no step of another process breaks before others; those of proofs if there are none.
    #[default]
    Inequalities,
    /// Those of proofs about the smallest sets of template terms.
    Lattice,
}

/// What was proved, and why not more.
#[derive(Default)]
pub(crate) struct Proved {
    pub(crate) proofs: BTreeMap<String, Proof>,
    /// What is to say about single properties.
    pub(crate) whys: BTreeMap<String, String>,
    /// What proofs lack, in the model's words.
    pub(crate) missing: BTreeMap<String, Missing>,
    why: Option<String>,
}

impl Proved {
    /// Says why there is no proof of what has none.
    pub(crate) fn note(&mut self, why: String) {
        self.why = Some(why);
    }
}

impl Prover {
    /// One without bounds that writes no outlines.
    pub fn new(way: Way) -> Prover {
        Prover {
            way,
            interpolants: Interpolants::default(),
            solver: SOLVERS[0],
            bounded: false,
            explain: false,
        }
    }

    fn set_up(self, setup: &Setup) -> Prover {
        Prover {
            bounded: setup.bounded,
            explain: setup.explain,
            ..self
        }
    }
}

impl FamilyEngine for Prover {
    fn name(&self) -> &'static str {
        match self.way {
            Way::Counter(_) => COUNTER.name,
            Way::Generalise => GENERALISE.name,
            Way::Cubes => CUBES.name,
        }
    }

    fn check(&self, task: &Task, observer: &mut dyn Observer) -> FamilyOutcome {
        let search = |reach: Reach, properties: &[String], observer: &mut dyn Observer| {
            let Task {
                program,
                fixed,
                limits,
                ..
            } = *task;
            small::search(program, fixed, properties, reach, limits, observer)
        };
        let Found {
            mut violations,
            mut states,
            mut instances,
            mut processes,
            mut stopped,
            ..
        } = match self.looks() {
            true => search(Reach::Small, task.properties, observer),
            false => Found::nothing(task.properties.len()),
        };
        let Proved {
            mut proofs,
            whys,
            mut missing,
            why,
        } = match stopped {
            None => self.prove(task, &violations, observer),
            Some(_) => Proved::default(),
        };
        let beyond: &[Reach] = match self.way {
            _ if !self.looks() => &[],
            Way::Counter(_) => &[Reach::Larger, Reach::Far],
            // Whoever is not asked alone has `counter` at its side.
            Way::Cubes | Way::Generalise => &[Reach::Larger],
        };
        for &reach in beyond {
            let open: Vec<usize> = (0..violations.len())
                .filter(|place| {
                    let proved = proofs.contains_key(&task.properties[*place]);
                    violations[*place].is_none() && !proved
                })
                .collect();
            if stopped.is_some() || open.is_empty() {
                break;
            }
            let names = open.iter().map(|place| task.properties[*place].clone());
            let names: Vec<String> = names.collect();
            let found = search(reach, &names, observer);
            states += found.states;
            instances += found.instances;
            processes = processes.max(found.processes);
            stopped = found.stopped;
            for (place, violation) in open.into_iter().zip(found.violations) {
                violations[place] = violation;
            }
        }
        let round = self.looks().then(|| Round::new(format!(
            "{instances} small instances, with up to {processes} processes: {states} states up to symmetry"
        )));
        let answers = task.properties.iter().zip(violations);
        let findings = answers.map(|(property, violation)| {
            let mut account = Account {
                rounds: round.iter().cloned().collect(),
                ..Account::default()
            };
            if let Some(proof) = proofs.remove(property) {
                account.rounds.extend(proof.rounds.into_iter().map(Round::new));
                account.outline = outline_of(self.explain, task, property, &proof.certificate);
                return (FamilyAnswer::Proved(Some(proof.certificate)), account);
            }
            let answer = match (violation, stopped) {
                (Some(violation), _) => FamilyAnswer::Violated(Box::new(violation)),
                (None, Some(stop)) => FamilyAnswer::Unknown(stop.into()),
                (None, None) if is_liveness(task.program, property) => {
                    FamilyAnswer::Unknown(self.refused(property))
                }
                (None, None) => {
                    let why = whys.get(property).or(why.as_ref());
                    let gave_up = why.map(|why| Missing::new(format!("`{}` gave up: {why}", self.name())));
                    let missing = missing.remove(property).or(gave_up);
                    let why = why.map(|why| format!(" ({why})"));
                    let mut message = format!("`{}` found no proof{}", self.name(), why.unwrap_or_default());
                    if self.looks() {
                        message += &format!(", and no violation in {states} states of instances with up to {processes} processes");
                    }
                    FamilyAnswer::Unknown(Reason::new(ReasonCode::NoProof, message).missing(missing))
                }
            };
            (answer, account)
        });
        FamilyOutcome {
            findings: findings.collect(),
            stats: Stats::default(),
        }
    }
}

impl Prover {
    /// Whether it looks for violations: not if others have done so, and another program is asked for a proof.
    fn looks(&self) -> bool {
        !(self.bounded && matches!(self.way, Way::Counter(Method::Chc)))
    }

    /// Tries to prove what is not violated.
    fn prove(
        &self,
        task: &Task,
        violations: &[Option<Counterexample>],
        observer: &mut dyn Observer,
    ) -> Proved {
        let mut proved = Proved::default();
        if !self.looks() && !task.solver.is_some_and(|host| host.has(self.solver)) {
            proved.why = Some(format!("`{}` is not there to be asked", self.solver));
            return proved;
        }
        let family = match Family::new(Arc::clone(task.program), task.fixed) {
            Ok(family) => family,
            Err(unsupported) => {
                proved.why = Some(unsupported.what);
                return proved;
            }
        };
        let mut open: Vec<(String, Claimed)> = Vec::new();
        for (property, violation) in task.properties.iter().zip(violations) {
            if violation.is_some() {
                continue;
            }
            if property == CHECKS {
                open.push((property.clone(), Claimed::Checks));
                continue;
            }
            match family.invariant(property) {
                Ok(Some(conjuncts)) => {
                    open.push((property.clone(), Claimed::Invariant(conjuncts)));
                }
                Err(unsupported) => {
                    proved.whys.insert(property.clone(), unsupported.what);
                }
                Ok(None) => {}
            }
            if is_deadlock(task.program, property) && self.follows_witnesses() {
                open.push((property.clone(), Claimed::Deadlock));
            }
        }
        let most = match self.way {
            Way::Cubes => MORE_SAMPLES,
            _ => SAMPLES,
        };
        let arrivals = match self.way {
            Way::Cubes => Arrivals::of(&family),
            _ => None,
        };
        let ghost = |system: &mut System| {
            if let Some(arrivals) = &arrivals {
                arrivals.added(system);
            }
        };
        let samples = small::samples(
            &family.shared_program(),
            task.fixed,
            most,
            &ghost,
            task.limits,
            observer,
        );
        let steps = Cell::new(0);
        let stop = || {
            task.limits.spend(STEP);
            steps.set(steps.get() + 1);
            let enough = self.bounded && steps.get() > BOUNDED_STEPS;
            enough || task.limits.should_stop().is_some()
        };
        let attempt = Attempt {
            family: &family,
            samples: &samples,
            fixed: task.fixed,
        };
        let calm = calm(task);
        let mut allowance = Allowance {
            questions: QUESTIONS,
            stop: &stop,
            calm: &calm,
            missing: BTreeMap::new(),
        };
        let outcome = match self.way {
            Way::Cubes => attempt.excluded(&open, arrivals, &mut proved, &mut allowance),
            Way::Counter(Method::Native) => attempt.all(&open, &mut proved.proofs, &mut allowance),
            Way::Counter(Method::Cegar) => {
                attempt.refined(&open, self.interpolants, &mut proved, &mut allowance)
            }
            Way::Counter(Method::Chc) => {
                let asked = task.solver.map(|host| Asked {
                    host,
                    name: self.solver,
                    bounded: self.bounded,
                });
                attempt.solved(&open, asked, &mut proved, &mut allowance)
            }
            Way::Generalise => attempt.generalise(&open, &mut proved.proofs, &mut allowance),
        };
        proved.missing.append(&mut allowance.missing);
        proved.why = outcome.err().map(|gap| gap.to_string()).or(proved.why);
        proved
    }

    /// Whether goals may be about processes that there may not be, which the published methods know nothing of.
    fn follows_witnesses(&self) -> bool {
        matches!(self.way, Way::Counter(Method::Native) | Way::Generalise)
    }

    fn refused(&self, property: &str) -> Reason {
        let name = self.name();
        Reason::new(
            ReasonCode::Unsupported,
            format!("`{name}` decides safety properties, and `{property}` is a liveness property"),
        )
    }
}

/// An engine for liveness at every value of the parameters. It looks for no violations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ranking {
    /// Whether to give up after some amount of work that depends on nothing but the task, since there are others to try.
    pub bounded: bool,
    /// Whether proofs are to come with outlines.
    pub explain: bool,
}

/// Whether a promise is kept for want of runs: what nobody can wait for, not even in vain, never begins. Asked of the proof's own method, with as much work
/// as the proof took; what cannot be told with that is not told.
fn vacuity(
    task: &Task,
    attempt: &Attempt,
    property: &str,
    liveness: &Liveness,
    enough: u64,
) -> Option<Vacuity> {
    let steps = Cell::new(0);
    let stop = || {
        task.limits.spend(STEP);
        steps.set(steps.get() + 1);
        steps.get() > enough || task.limits.should_stop().is_some()
    };
    let never_from = |from: family::From| {
        let mut allowance = Allowance {
            questions: QUESTIONS,
            stop: &stop,
            calm: &|| true,
            missing: BTreeMap::new(),
        };
        let mut in_vain = Liveness {
            from,
            until: Formula::Constant(false),
            fails: None,
            ..liveness.clone()
        };
        if let Some(fails) = liveness.fails {
            // Of all runs, not of those that violate the property.
            in_vain.pairs.remove(fails);
        }
        matches!(
            attempt.fair(property, &in_vain, &mut allowance),
            Ok(Some(_))
        )
    };
    if !never_from(liveness.from.clone()) {
        return None;
    }
    let triggered = matches!(&liveness.from, family::From::Whenever(when) if !matches!(when, Formula::Constant(true)));
    if triggered && !never_from(family::From::Beginning) {
        return Some(Vacuity::NeverTriggered {
            conjuncts: Vec::new(),
            triggers: Vec::new(),
        });
    }
    // What is shown of every process that there is shows nothing where there is none.
    let empty = liveness.reference.is_some_and(|(_, template)| {
        let small = small::instances(task.program, task.fixed, Reach::Small);
        small.iter().any(|instance| instance.count(template) == 0)
    });
    (!empty).then_some(Vacuity::NoFairRun)
}

impl Ranking {
    fn prove(
        &self,
        task: &Task,
        property: &str,
        samples: &[small::Sample],
    ) -> Result<(Proof, Option<Vacuity>), (String, Missing)> {
        let gave_up = |why: String| (why.clone(), Missing::new(why));
        let unsupported = |what: threadwise_model::family::Unsupported| gave_up(what.what);
        let family = Family::new(Arc::clone(task.program), task.fixed).map_err(unsupported)?;
        let liveness = family.liveness(property).map_err(unsupported)?;
        let liveness =
            liveness.ok_or_else(|| gave_up("it decides liveness properties".to_owned()))?;
        let steps = Cell::new(0);
        let stop = || {
            task.limits.spend(STEP);
            steps.set(steps.get() + 1);
            let enough = self.bounded && steps.get() > FAIR_STEPS;
            enough || task.limits.should_stop().is_some()
        };
        let attempt = Attempt {
            family: &family,
            samples,
            fixed: task.fixed,
        };
        let calm = calm(task);
        let mut allowance = Allowance {
            questions: QUESTIONS,
            stop: &stop,
            calm: &calm,
            missing: BTreeMap::new(),
        };
        let why = match attempt.fair(property, &liveness, &mut allowance) {
            Ok(Some(proof)) => {
                let enough = steps.get().max(VACUITY_STEPS);
                let vacuous = vacuity(task, &attempt, property, &liveness, enough);
                return Ok((proof, vacuous));
            }
            Ok(None) => "something may be left for ever, after all that can be deleted".to_owned(),
            Err(gap) => gap.to_string(),
        };
        Err(match allowance.missing.remove(property) {
            Some(missing) => (why, missing),
            None => gave_up(why),
        })
    }
}

impl FamilyEngine for Ranking {
    fn name(&self) -> &'static str {
        RANKING.name
    }

    fn check(&self, task: &Task, observer: &mut dyn Observer) -> FamilyOutcome {
        let family = Family::new(Arc::clone(task.program), task.fixed);
        let program = family.map(|family| family.shared_program());
        let samples = small::samples(
            program.as_ref().unwrap_or(task.program),
            task.fixed,
            FAIR_SAMPLES,
            &|_| {},
            task.limits,
            observer,
        );
        let findings = task.properties.iter().map(|property| {
            let mut account = Account::default();
            let answer = match self.prove(task, property, &samples) {
                Ok((proof, vacuous)) => {
                    account.vacuous = vacuous;
                    account.rounds = proof.rounds.into_iter().map(Round::new).collect();
                    account.outline = outline_of(self.explain, task, property, &proof.certificate);
                    FamilyAnswer::Proved(Some(proof.certificate))
                }
                Err((why, missing)) => FamilyAnswer::Unknown(match task.limits.should_stop() {
                    Some(stop) => stop.into(),
                    None => Reason::new(
                        ReasonCode::NoProof,
                        format!("`{}` found no proof ({why})", RANKING.name),
                    )
                    .missing(Some(missing)),
                }),
            };
            (answer, account)
        });
        FamilyOutcome {
            findings: findings.collect(),
            stats: Stats::default(),
        }
    }
}

/// When to stop telling what proofs lack.
fn calm<'t>(task: &'t Task<'_>) -> impl Fn() -> bool + 't {
    let steps = Cell::new(0);
    move || {
        task.limits.spend(STEP);
        steps.set(steps.get() + 1);
        steps.get() > TELLING || task.limits.should_stop().is_some()
    }
}

/// What a certificate says, if there is time to write it.
fn outline_of(
    explain: bool,
    task: &Task,
    property: &str,
    certificate: &Certificate,
) -> Option<Outline> {
    let Claim::Family(claim) = &certificate.claim else {
        return None;
    };
    let hurry = || task.limits.should_stop().is_some() || !task.limits.has_leisure();
    match explain {
        true => explain::outline(task.program, task.fixed, property, claim, &hurry),
        false => None,
    }
}

fn is_liveness(program: &Program, property: &str) -> bool {
    let mut properties = program.properties.iter();
    properties
        .any(|known| known.name == property && matches!(known.kind, PropertyKind::Liveness { .. }))
}

fn is_deadlock(program: &Program, property: &str) -> bool {
    let mut properties = program.properties.iter();
    properties.any(|known| known.name == property && known.kind == PropertyKind::DeadlockFree)
}

#[cfg(test)]
mod tests {
    use threadwise_engine::{Limits, Silent};

    use super::*;

    #[test]
    fn each_property_has_an_answer() {
        let text = "
            param N = 2 where N >= 1; shared x: 0..1 = 0;
            process P[i: 1..N] { loop { a: x := 1 - x; } }
            invariant zero: x == 0; invariant bit: x <= 1;
            liveness again: G F (x == 0);
        ";
        let program = Arc::new(threadwise_lang::check(text).program.unwrap());
        let properties = ["checks", "zero", "bit", "again"].map(str::to_owned);
        let fixed = BTreeMap::from([("N".to_owned(), 3)]);
        for way in [Way::COUNTER, Way::Generalise] {
            let task = Task {
                program: &program,
                fixed: &fixed,
                properties: &properties,
                solver: None,
                limits: &Limits::NONE,
            };
            let engine = Prover {
                bounded: true,
                ..Prover::new(way)
            };
            let outcome = engine.check(&task, &mut Silent);
            let [_, zero, _, again] = outcome.findings.as_slice() else {
                panic!("an answer for each of four properties");
            };
            let (FamilyAnswer::Violated(violation), _) = zero else {
                panic!("{zero:?}");
            };
            assert_eq!(violation.instance.params().collect::<Vec<_>>(), [("N", 3)]);
            let (FamilyAnswer::Unknown(reason), _) = again else {
                panic!("{again:?}");
            };
            assert_eq!(reason.code, ReasonCode::Unsupported);
        }
    }
}
