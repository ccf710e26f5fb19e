//! The engines by name, and the choice among them.

use threadwise_evidence::{Reason, ReasonCode};

use threadwise_param::engine::FamilyEngine;

use crate::plan::Planned;
use crate::report::Kind;

/// An engine, as `threadwise engines` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// What `--engine` calls it.
    pub name: &'static str,
    /// Which properties it decides.
    pub properties: &'static str,
    /// What its verdicts speak of.
    pub scope: &'static str,
    /// How it works, in a sentence.
    pub about: &'static str,
}

/// The choice that is made unless another is asked for.
pub const AUTO: &str = "auto";
/// The reference engine.
pub const EXPLICIT: &str = "explicit";
/// Forward reachability with decision diagrams.
pub const FORWARD: &str = "forward";
/// Backward reachability with decision diagrams.
pub const BACKWARD: &str = "backward";
/// Split invariants with refinement.
pub const SPLIT: &str = "split";
/// Split invariants over pairs of processes, with refinement.
pub const PAIRWISE: &str = "pairwise";
/// Thread-modular checking.
pub const THREAD_MODULAR: &str = "thread-modular";
/// Thread-modular checking with refinement.
pub const THREAD_MODULAR_REFINED: &str = "thread-modular-refined";
/// Cartesian abstraction with exception sets.
pub const CARTESIAN: &str = "cartesian";

/// Fair cycles of the whole program.
pub const LIVENESS_MONOLITHIC: &str = "liveness-monolithic";
/// Local liveness.
pub const LOCAL_LIVENESS: &str = "local-liveness";
/// Fair local liveness, variant A.
pub const FAIR_LOCAL_LIVENESS_A: &str = "fair-local-liveness-a";
/// Fair local liveness, variant B.
pub const FAIR_LOCAL_LIVENESS_B: &str = "fair-local-liveness-b";

/// Thread-modular counter abstraction.
pub const COUNTER: &str = "counter";
/// Invariants of small instances, generalised.
pub const GENERALISE: &str = "generalise";

/// The engines for all instances at once, in the order in which they are tried.
pub(crate) const FAMILY: &[&str] = &[COUNTER, GENERALISE];

/// The engines that decide liveness, and nothing else.
const LIVENESS: &[&str] = &[
    LIVENESS_MONOLITHIC,
    LOCAL_LIVENESS,
    FAIR_LOCAL_LIVENESS_A,
    FAIR_LOCAL_LIVENESS_B,
];

/// The engine that a choice comes down to for a kind of properties.
pub fn chosen(name: &str, kind: Kind) -> &str {
    match (name, kind) {
        (AUTO, Kind::Liveness) => LIVENESS_MONOLITHIC,
        (AUTO, _) => EXPLICIT,
        (name, _) => name,
    }
}

/// Whether an engine decides properties of a kind; if not, why.
pub(crate) fn decides(name: &str, planned: &Planned) -> Result<(), Reason> {
    let (engine, property) = (chosen(name, planned.kind), &planned.name);
    let (message, next) = match (planned.kind, LIVENESS.contains(&engine)) {
        (Kind::Liveness, true) => return Ok(()),
        (Kind::Liveness, false) => (
            format!(
                "`{engine}` decides safety properties, and `{property}` is a liveness property"
            ),
            format!(
                "`--engine {LIVENESS_MONOLITHIC}` decides liveness, and `--only safety` leaves it out"
            ),
        ),
        (_, false) => return Ok(()),
        (_, true) => (
            format!("`{engine}` decides liveness properties, and `{property}` is none"),
            format!("`--engine {EXPLICIT}` decides safety, and `--only liveness` leaves it out"),
        ),
    };
    Err(Reason::new(ReasonCode::Unsupported, message).next(next))
}

/// The engine of this name, if it is one for all instances at once.
pub(crate) fn family(name: &str) -> Option<FamilyEngine> {
    match name {
        COUNTER => Some(FamilyEngine::Counter),
        GENERALISE => Some(FamilyEngine::Generalise),
        _ => None,
    }
}

/// Every engine there is.
pub const ENGINES: &[EngineInfo] = &[
    EngineInfo {
        name: AUTO,
        properties: "safety, liveness",
        scope: "all instances, or else one",
        about: "The default: several engines that take turns. Safety for all values of the parameters by `counter` and `generalise`; what they leave open at one instance by `explicit`, `forward` and `split`. Liveness at one instance by `liveness-monolithic` and `fair-local-liveness-b`.",
    },
    EngineInfo {
        name: EXPLICIT,
        properties: "safety",
        scope: "one instance",
        about: "Visits every reachable state, breadth first; counterexamples are the shortest.",
    },
    EngineInfo {
        name: FORWARD,
        properties: "safety",
        scope: "one instance",
        about: "Reachable states as decision diagrams, transitions chained; counterexamples are the shortest.",
    },
    EngineInfo {
        name: BACKWARD,
        properties: "safety",
        scope: "one instance",
        about: "States that lead to a violation, as decision diagrams; counterexamples are the shortest.",
    },
    EngineInfo {
        name: SPLIT,
        properties: "safety",
        scope: "one instance",
        about: "One assertion for each process, refined by exposing facts about processes until it is a proof or an error is real; counterexamples are runs through the layers of the error set, not always the shortest.",
    },
    EngineInfo {
        name: PAIRWISE,
        properties: "safety",
        scope: "one instance",
        about: "One assertion for each pair of processes, refined in the same way; counterexamples as of `split`.",
    },
    EngineInfo {
        name: THREAD_MODULAR,
        properties: "safety",
        scope: "one instance",
        about: "Each process against what the steps of the others may do to shared variables, wherever these are taken: quick, but no more than a proof or `unknown`.",
    },
    EngineInfo {
        name: THREAD_MODULAR_REFINED,
        properties: "safety",
        scope: "one instance",
        about: "The same, refined in the way of `split` where it does not suffice; counterexamples as of `split`.",
    },
    EngineInfo {
        name: CARTESIAN,
        properties: "safety",
        scope: "one instance",
        about: "One set of local states for each thread and each valuation of the shared variables, combined freely but for exceptions, which are the model's or computed; counterexamples as of `split`.",
    },
    EngineInfo {
        name: LIVENESS_MONOLITHIC,
        properties: "liveness",
        scope: "one instance",
        about: "Fair cycles of the whole program, as decision diagrams; counterexamples are a stem and a loop.",
    },
    EngineInfo {
        name: LOCAL_LIVENESS,
        properties: "liveness",
        scope: "one instance",
        about: "Fair cycles of one process at a time against what the others may do, with all that fairness speaks of exposed; refined until it is a proof or a run is real.",
    },
    EngineInfo {
        name: FAIR_LOCAL_LIVENESS_A,
        properties: "liveness",
        scope: "one instance",
        about: "The same with the fairness of the others abstracted: for each process, runs in which it moves again and again.",
    },
    EngineInfo {
        name: FAIR_LOCAL_LIVENESS_B,
        properties: "liveness",
        scope: "one instance",
        about: "The same for one process and all of its runs.",
    },
    EngineInfo {
        name: COUNTER,
        properties: "safety",
        scope: "all instances",
        about: "Processes are counted by label, and one or a few are followed, with integers without bounds: proofs by linear arithmetic, for any number of processes.",
    },
    EngineInfo {
        name: GENERALISE,
        properties: "safety",
        scope: "all instances",
        about: "The invariant of a small instance, generalised to all: for arrays with an entry for each process, and guards about all processes.",
    },
];
