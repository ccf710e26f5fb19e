//! The engines by name, and the choice among them.

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

/// The engine that a choice comes down to.
pub fn chosen(name: &str) -> &str {
    if name == AUTO { EXPLICIT } else { name }
}

/// Every engine there is.
pub const ENGINES: &[EngineInfo] = &[
    EngineInfo {
        name: AUTO,
        properties: "safety",
        scope: "one instance",
        about: "The default: chooses an engine for each property; at present always `explicit`.",
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
];
