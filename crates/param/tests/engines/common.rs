//! Asking an engine, and having its evidence checked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use threadwise_certify::check_family;
use threadwise_engine::{FamilyAnswer, FamilyEngine, Limits, Silent, Stop, Task};
use threadwise_evidence::{CHECKS, Certificate, replay};
use threadwise_lang::program::{Program, PropertyKind};
use threadwise_param::engine::{Prover, Way};
use threadwise_testgen::parametric::{AtInstance, Truth};

/// How often an engine may ask whether to stop. It is the same on every machine, since no engine looks at the clock.
pub const BUDGET: u64 = 40_000;

/// What was found about a property. The evidence has been checked.
#[derive(Debug)]
pub enum Verdict {
    /// It holds for all values; how the proof was found, in words.
    Proved(Box<Certificate>, String),
    /// It does not hold at these.
    Violated(BTreeMap<String, i64>),
    Unknown(String),
}

pub fn program(text: &str) -> Option<Arc<Program>> {
    threadwise_lang::check(text).program.map(Arc::new)
}

/// The built-in checks, the invariants, and freedom from deadlock.
pub fn properties(program: &Program) -> Vec<String> {
    let safety = program.properties.iter();
    let safety = safety.filter(|p| !matches!(p.kind, PropertyKind::Liveness { .. }));
    let safety = safety.map(|property| property.name.clone());
    [CHECKS.to_owned()].into_iter().chain(safety).collect()
}

/// What an engine finds about all properties, by name. An error if its evidence is none.
pub fn decide(way: Way, text: &str, budget: u64) -> Result<BTreeMap<String, Verdict>, String> {
    decide_by(Prover::new(way), text, budget)
}

/// The same, of an engine with options.
pub fn decide_by(
    prover: Prover,
    text: &str,
    budget: u64,
) -> Result<BTreeMap<String, Verdict>, String> {
    let program = program(text).ok_or("no program")?;
    let properties = properties(&program);
    let asked = AtomicU64::new(0);
    let stop = || {
        let enough = asked.fetch_add(1, Ordering::Relaxed) >= budget;
        enough.then_some(Stop::Cancelled)
    };
    let limits = Limits {
        stop: Some(&stop),
        ..Limits::NONE
    };
    let task = Task {
        program: &program,
        fixed: &BTreeMap::new(),
        properties: &properties,
        solver: None,
        limits: &limits,
    };
    let outcome = prover.check(&task, &mut Silent);
    let mut verdicts = BTreeMap::new();
    for (property, (answer, account)) in properties.iter().zip(outcome.findings) {
        let verdict = match answer {
            FamilyAnswer::Proved(None) => {
                return Err(format!("{property}: a proof without evidence"));
            }
            FamilyAnswer::Proved(Some(certificate)) => {
                check_family(&program, &certificate, property, &|| false)
                    .map_err(|error| format!("{property}: the proof is refused: {error}"))?;
                let how = account
                    .rounds
                    .last()
                    .map(|round| round.text.clone())
                    .unwrap_or_default();
                Verdict::Proved(Box::new(certificate), how)
            }
            FamilyAnswer::Violated(found) => {
                let trace = found
                    .run
                    .record(&found.instance, &found.system, property)
                    .map_err(|error| format!("{property}: no run of the program: {error}"))?;
                replay(&found.instance, &trace)
                    .map_err(|error| format!("{property}: the run is refused: {error}"))?;
                let params = found.instance.params();
                Verdict::Violated(
                    params
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            }
            FamilyAnswer::Unknown(reason) => Verdict::Unknown(reason.message),
        };
        verdicts.insert(property.clone(), verdict);
    }
    Ok(verdicts)
}

/// Compares a claim that a property holds for all values with what a search of instances found.
pub fn contradiction(property: &str, instances: &[AtInstance]) -> Result<(), String> {
    let wrong = instances
        .iter()
        .find(|at| at.truths.get(property) == Some(&Truth::Violated));
    match wrong {
        None => Ok(()),
        Some(at) => Err(format!("{property} is wrong at {:?}", at.values)),
    }
}
