//! Where properties hold: each instance is searched by the explicit engine, up to symmetry and to a number of states.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_explicit::Explicit;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{SystemProperty, SystemPropertyKind};

use crate::instance;

/// Room for processes of a template that begins empty, at first and at last.
const CAPACITY: (u32, u32) = (4, 16);

/// Whether a property holds at an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does: every state was visited.
    Holds,
    /// It does not: a run was found.
    Violated,
    /// There were too many states.
    Undecided,
}

/// What was found at one instance.
#[derive(Clone, Debug)]
pub struct AtInstance {
    /// The values of all parameters.
    pub values: BTreeMap<String, i64>,
    /// Each safety property by name, the built-in checks among them.
    pub truths: BTreeMap<String, Truth>,
}

/// The truth of every safety property of a program at the instances with the parameter `N` from 0 to `up_to`, as far as `where` allows.
/// Of other parameters the smallest three values are combined with each. Of each instance so many states are visited at most; `symmetry` visits one of all
/// that differ only in who is who. What is wrong with the program, if it is no program.
pub fn verdicts(
    text: &str,
    up_to: i64,
    states: u64,
    symmetry: bool,
) -> Result<Vec<AtInstance>, String> {
    let defaults = instance(text, &[])?;
    let program = Arc::new(defaults.program().clone());
    let mut combinations = vec![BTreeMap::new()];
    for (name, _) in defaults.params() {
        let values = if name == "N" { 0..=up_to } else { 0..=2 };
        combinations = (combinations.iter())
            .flat_map(|others: &BTreeMap<String, i64>| {
                let with = |value| {
                    let mut all = others.clone();
                    all.insert(name.to_owned(), value);
                    all
                };
                values.clone().map(with)
            })
            .collect();
    }
    let explicit = Explicit {
        symmetry,
        ..Explicit::default()
    };
    let mut found = Vec::new();
    for values in combinations {
        // `where` excludes some.
        let Ok(instance) = Instance::new(Arc::clone(&program), &values) else {
            continue;
        };
        let truths = search(&instance, &explicit, states)?;
        found.push(AtInstance { values, truths });
    }
    Ok(found)
}

fn search(
    instance: &Instance,
    explicit: &Explicit,
    states: u64,
) -> Result<BTreeMap<String, Truth>, String> {
    let mut capacity = CAPACITY.0;
    loop {
        let system = lower(instance, capacity).map_err(|errors| format!("{errors:?}"))?;
        let properties: Vec<&SystemProperty> = (system.properties.iter())
            .filter(|property| !matches!(property.kind, SystemPropertyKind::Liveness(_)))
            .collect();
        let limits = Limits {
            states: Some(states),
            ..Limits::NONE
        };
        let outcome = explicit.check_all(&system, &properties, &limits, &mut Silent);
        if outcome.capacity_exceeded.is_some() && capacity < CAPACITY.1 {
            capacity *= 2;
            continue;
        }
        let room = outcome.capacity_exceeded.is_none();
        let truth = |answer: &Answer| match answer {
            Answer::Violated(_) => Truth::Violated,
            Answer::Proved(_) if room => Truth::Holds,
            _ => Truth::Undecided,
        };
        let truths = properties.iter().zip(&outcome.answers);
        return Ok(truths
            .map(|(property, answer)| (property.name.clone(), truth(answer)))
            .collect());
    }
}
