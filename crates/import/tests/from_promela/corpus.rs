//! Models from the literature, right and wrong ones, each with what is expected of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::scratch;
use crate::from_promela::ours;
use crate::from_promela::spin::{self, Failure, Spin};

/// The properties of a program that are no formulas.
pub const CHECKS: &str = "checks";
pub const ENDS: &str = "ends";
pub const CLAIM: &str = "never";
pub const ACCEPTANCE: &str = "no_acceptance_cycle";
/// How lines begin that only this test reads: where the model has no such property or counts more states.
const SPIN_ONLY: &str = "// SPIN: ";
pub const PROGRESS: &str = "no_non_progress_cycle";

/// A model with what its directives say.
#[derive(Debug)]
pub struct Model {
    pub path: PathBuf,
    pub name: String,
    pub text: String,
    pub defines: Vec<(String, String)>,
    /// For each property whether it is violated.
    pub expected: BTreeMap<String, bool>,
    pub states: Option<u64>,
    /// The model is refused, with these words in a message.
    pub refused: Option<String>,
}

impl Model {
    fn read(path: &Path) -> Model {
        let text = std::fs::read_to_string(path).unwrap();
        let mut model = Model {
            path: path.to_owned(),
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            text: text.clone(),
            defines: Vec::new(),
            expected: BTreeMap::new(),
            states: None,
            refused: None,
        };
        for line in text.lines() {
            // What begins with `//@` is also for `threadwise test`.
            let directive = line.strip_prefix("//@ ").or(line.strip_prefix(SPIN_ONLY));
            let Some(directive) = directive else {
                continue;
            };
            let (what, value) = directive
                .split_once(": ")
                .unwrap_or_else(|| panic!("{path:?}: {line}"));
            match what.split_once(' ') {
                None if what == "define" => {
                    let (name, value) = value.split_once('=').unwrap();
                    model.defines.push((name.to_owned(), value.to_owned()));
                }
                None if what == "states" => model.states = Some(value.parse().unwrap()),
                None if what == "refused" => model.refused = Some(value.to_owned()),
                Some(("expect", property)) => {
                    let property = match property {
                        "deadlock_free" | "valid_end_states" => ENDS,
                        other => other,
                    };
                    let violated = match value {
                        "proved" => false,
                        "violated" => true,
                        _ => panic!("{path:?}: {line}"),
                    };
                    model.expected.insert(property.to_owned(), violated);
                }
                _ => panic!("{path:?}: {line}"),
            }
        }
        model
    }

    /// How a line about its end states begins: as the model calls the property, if it has it.
    fn about_ends(&self) -> String {
        let imported = ours::imported(&self.name, &self.text, &self.defines);
        let text = imported.map(|imported| imported.text()).unwrap_or_default();
        if text.contains("\ndeadlock_free;") {
            "//@ expect deadlock_free".to_owned()
        } else if text.contains("\ninvariant valid_end_states:") {
            "//@ expect valid_end_states".to_owned()
        } else {
            format!("{SPIN_ONLY}expect {ENDS}")
        }
    }

    /// The names of its formulas.
    fn formulas(&self) -> Vec<&str> {
        let lines = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("ltl "));
        lines
            .map(|line| line.split_whitespace().next().unwrap())
            .collect()
    }

    fn has_claim(&self) -> bool {
        self.text.contains("\nnever ")
    }

    /// Whether there is something that SPIN checks instead of end states.
    fn claims(&self) -> bool {
        self.has_claim() || !self.formulas().is_empty()
    }

    /// What SPIN says, as directives. Where checks fail SPIN goes on, but a run of ours ends: what SPIN finds
    /// violated may then lie behind the end, and nothing is expected.
    fn lines(&self) -> Vec<String> {
        let spin = Spin::new(
            &scratch(&format!("corpus-{}", self.name)),
            &self.text,
            &self.defines,
        );
        let ok = |result: Result<bool, Failure>| {
            result.unwrap_or_else(|why| panic!("{}: {why:?}", self.name))
        };
        let safety = spin
            .safety()
            .unwrap_or_else(|why| panic!("{}: {why:?}", self.name));
        let mut verdicts = vec![
            (CHECKS, safety.checks_violated),
            (ENDS, safety.ends_violated),
        ];
        let formulas = self.formulas();
        let claim = self.has_claim();
        for &formula in &formulas {
            verdicts.push((formula, ok(spin.claim(Some(formula)))));
        }
        if claim {
            verdicts.push((CLAIM, ok(spin.claim(None))));
        }
        if formulas.is_empty() && !claim {
            let labels = |prefix: &str| self.text.lines().any(|line| line.starts_with(prefix));
            if labels("accept") {
                verdicts.push((ACCEPTANCE, ok(spin.claim(None))));
            }
            if labels("progress") {
                verdicts.push((PROGRESS, ok(spin.non_progress())));
            }
        }
        let mut lines = Vec::new();
        for (property, violated) in verdicts {
            if property == CHECKS || !violated || !safety.checks_violated {
                let verdict = if violated { "violated" } else { "proved" };
                lines.push(match property {
                    ENDS => format!("{}: {verdict}", self.about_ends()),
                    _ => format!("//@ expect {property}: {verdict}"),
                });
            }
        }
        if !safety.checks_violated {
            lines.push(format!("{SPIN_ONLY}states: {}", safety.states));
        }
        lines
    }

    /// The text with these directives, after the words about the model.
    fn with(&self, lines: &[String]) -> String {
        let mine = |line: &&str| {
            let about = line.strip_prefix("//@ ").or(line.strip_prefix(SPIN_ONLY));
            about.is_some_and(|about| about.starts_with("expect ") || about.starts_with("states: "))
        };
        let mut rest: Vec<&str> = self.text.lines().filter(|line| !mine(line)).collect();
        let words = rest
            .iter()
            .take_while(|line| line.starts_with("//"))
            .count();
        rest.splice(words..words, lines.iter().map(String::as_str));
        rest.join("\n") + "\n"
    }
}

/// All models, by name.
pub fn models() -> Vec<Model> {
    let files = std::fs::read_dir(ours::models())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "pml"))
        .collect();
    files.sort();
    files.iter().map(|path| Model::read(path)).collect()
}

/// Calls `f` with each, on two threads.
pub fn each<T: Sync>(items: &[T], f: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    f(item);
                }
            });
        }
    });
}

#[test]
fn expectations_are_what_spin_says() {
    if spin::skip() {
        return;
    }
    let models = models();
    assert!(models.len() >= 65, "only {} models", models.len());
    let write = std::env::var_os("PROMELA_WRITE").is_some();
    let wrong = Mutex::new(BTreeSet::new());
    each(&models, |model| {
        let text = model.with(&model.lines());
        if text != model.text {
            wrong.lock().unwrap().insert(model.name.clone());
            if write {
                std::fs::write(&model.path, &text).unwrap();
            }
        }
    });
    let wrong = wrong.into_inner().unwrap();
    println!("{} models", models.len());
    assert!(
        write || wrong.is_empty(),
        "PROMELA_WRITE=1 would change the directives of {wrong:?}"
    );
}

/// A model that is called wrong has something violated, and only such a model has checks or end states violated.
#[test]
fn names_say_what_is_wrong() {
    let mut wrong = 0;
    for model in models() {
        let violated = model.expected.values().any(|&violated| violated);
        let called = model.name.starts_with("wrong_");
        wrong += usize::from(called);
        assert!(violated || !called, "{}: nothing is violated", model.name);
        for property in [CHECKS, ENDS] {
            let violated = model.expected.get(property) == Some(&true);
            assert!(
                called || !violated,
                "{}: {property} is violated",
                model.name
            );
        }
    }
    assert!(wrong >= 25, "only {wrong} wrong models");
}

/// Every verdict and every number of states is ours as well.
#[test]
fn models_are_as_expected() {
    let models = models();
    let wrong = Mutex::new(BTreeMap::new());
    let refused = Mutex::new(BTreeMap::new());
    let verdicts = AtomicUsize::new(0);
    let counts = AtomicUsize::new(0);
    each(&models, |model| {
        let mut differences = Vec::new();
        match ours::imported(&model.name, &model.text, &model.defines) {
            Err(why) => {
                if !model
                    .refused
                    .as_ref()
                    .is_some_and(|words| why.contains(words))
                {
                    differences.push(format!("refused: {why}"));
                }
                refused.lock().unwrap().insert(model.name.clone(), why);
            }
            Ok(imported) => {
                if model.refused.is_some() {
                    differences.push("not refused".to_owned());
                }
                let system = ours::system(&model.name, &imported.text());
                match ours::decide(&system, 3_000_000) {
                    None => differences.push("too many states".to_owned()),
                    Some(decided) => {
                        for (property, violated) in &model.expected {
                            verdicts.fetch_add(1, Ordering::Relaxed);
                            let found = decided.verdict(property);
                            // With a claim SPIN does not check end states, unless it is told to leave the claim out.
                            let left_out = property == ENDS && found.is_none() && model.claims();
                            if found != Some(*violated) && !left_out {
                                differences.push(format!(
                                    "{property}: violated is {violated} for SPIN, {found:?} for us"
                                ));
                            }
                        }
                        if let Some(states) = model.states {
                            counts.fetch_add(1, Ordering::Relaxed);
                            if states != decided.states {
                                differences.push(format!(
                                    "states: {states} for SPIN, {} for us",
                                    decided.states
                                ));
                            }
                        }
                    }
                }
            }
        }
        if !differences.is_empty() {
            wrong
                .lock()
                .unwrap()
                .insert(model.name.clone(), differences);
        }
    });
    let (verdicts, counts) = (verdicts.into_inner(), counts.into_inner());
    let refused = refused.into_inner().unwrap();
    println!(
        "{} models, {} refused, {verdicts} verdicts, {counts} counts",
        models.len(),
        refused.len()
    );
    for (name, why) in &refused {
        println!("{name}: {why}");
    }
    let wrong = wrong.into_inner().unwrap();
    let list: Vec<String> = wrong
        .iter()
        .map(|(name, what)| format!("{name}: {}", what.join("; ")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} models:\n{}",
        wrong.len(),
        models.len(),
        list.join("\n")
    );
    assert!(
        verdicts >= 150 && counts >= 50,
        "{verdicts} verdicts, {counts} counts"
    );
}
