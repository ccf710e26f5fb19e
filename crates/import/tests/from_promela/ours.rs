//! What we say about a Promela program: brought over, checked, and decided in all states.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_explicit::Explicit;
use threadwise_import::from_promela::from_promela;
use threadwise_import::{Imported, Outcome, Settings};
use threadwise_lang::diagnostics::Severity;
use threadwise_liveness::Monolithic;
use threadwise_model::system::{Scope, System, SystemPropertyKind};

use threadwise_testgen::tools;

/// Verdicts and counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// For each property whether it is violated. The check of end states is called `ends`, whatever form it has.
    pub violated: BTreeMap<String, bool>,
    /// Properties that the engine cannot decide.
    pub undecided: BTreeSet<String>,
    /// States that SPIN would store: those in which nobody is in the middle of something that is one step for SPIN.
    pub states: u64,
}

impl Decided {
    /// Whether a property is violated. A formula whose name is a word of our language has a number behind it.
    pub fn verdict(&self, property: &str) -> Option<bool> {
        let renamed = format!("{property}_2");
        let found = self.violated.get(property);
        found.or_else(|| self.violated.get(&renamed)).copied()
    }
}

/// The models from the literature, and what they include.
pub fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/promela")
}

/// Brings a program over.
pub fn import(name: &str, text: &str, defines: &[(String, String)]) -> Outcome {
    let mut include = |file: &str| {
        std::fs::read_to_string(models().join(file)).map_err(|error| error.to_string())
    };
    let mut settings = Settings {
        defines: defines.to_vec(),
        include: &mut include,
    };
    from_promela(name, text, &mut settings)
}

/// Brings a program over, or says why not: the messages, one a line.
pub fn imported(name: &str, text: &str, defines: &[(String, String)]) -> Result<Imported, String> {
    let outcome = import(name, text, defines);
    outcome.result.map_err(|remarks| {
        assert!(!remarks.is_empty(), "{name}: refused without a word");
        let messages: Vec<&str> = remarks
            .iter()
            .map(|remark| remark.diagnostic.message.as_str())
            .collect();
        messages.join("\n")
    })
}

/// The system that a model means.
pub fn system(name: &str, text: &str) -> System {
    let checked = threadwise_lang::check(text);
    let errors: Vec<_> = checked
        .diagnostics
        .iter()
        .filter(|d| d.code.severity() == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:?}\n{text}");
    tools::system(text, None).unwrap_or_else(|| panic!("{name}: no instance"))
}

/// The variable that is not 0 while somebody is in the middle of something that is one step for SPIN.
pub const EXCLUSIVE: &str = "exclusive";

/// Liveness takes long where there are more states.
const MOST_FOR_LIVENESS: u64 = 6_000;

/// Decides every property; `None` if there are more states than this.
pub fn decide(system: &System, most: u64) -> Option<Decided> {
    let mut decided = Decided::default();
    let safety = tools::safety(system);
    let outcome = tools::explicit(system, &safety, Some(most));
    if !outcome.complete {
        return None;
    }
    for (&at, answer) in safety.iter().zip(&outcome.answers) {
        let property = &system.properties[at];
        let name = match property.kind {
            SystemPropertyKind::DeadlockFree => "ends",
            _ if property.name == "valid_end_states" => "ends",
            _ => &property.name,
        };
        decided
            .violated
            .insert(name.to_owned(), violated(answer, name));
    }
    let exclusive = system
        .vars
        .iter()
        .find(|var| var.scope == Scope::Shared && var.name == EXCLUSIVE);
    decided.states = match exclusive {
        None => outcome.stats.states.unwrap(),
        Some(var) => {
            let visited = Explicit::default().states(system, &Limits::NONE, &mut Silent);
            assert!(visited.complete);
            let free = visited
                .states
                .iter()
                .filter(|state| state[var.first.index()] == 0);
            free.count() as u64
        }
    };
    for property in &system.properties {
        if let SystemPropertyKind::Liveness(_) = property.kind {
            if decided.states > MOST_FOR_LIVENESS {
                decided.undecided.insert(property.name.clone());
                continue;
            }
            let engine = Monolithic::default();
            let outcome = engine.check_all(system, &[property], &Limits::NONE, &mut Silent);
            let name = property.name.clone();
            match &outcome.answers[0] {
                Answer::Unknown(_) => drop(decided.undecided.insert(name)),
                answer => drop(
                    decided
                        .violated
                        .insert(name.clone(), violated(answer, &name)),
                ),
            }
        }
    }
    Some(decided)
}

fn violated(answer: &Answer, name: &str) -> bool {
    match answer {
        Answer::Proved(_) => false,
        Answer::Violated(_) => true,
        Answer::Unknown(reason) => panic!("{name}: {reason:?}"),
    }
}
