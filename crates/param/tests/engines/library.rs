//! The programs of the library, and wrong ones.

use std::collections::BTreeMap;

use threadwise_lang::program::PropertyKind;
use threadwise_param::engine::Way;
use threadwise_testgen::parametric::verdicts;
use threadwise_testgen::{library, library_for_all, protocols_for_all, variants_for_all};

use crate::engines::common::{BUDGET, Verdict, contradiction, decide, program, properties};

/// What a program says of its properties at some values: `//@ expect mutex: violated at N=1..2, M=3`.
pub struct Expected<'a> {
    pub property: &'a str,
    pub verdict: &'a str,
    /// The values; nothing if it is for all of them.
    pub at: Option<BTreeMap<&'a str, (i64, i64)>>,
}

impl Expected<'_> {
    /// Whether it is about these values: those that it does not name may be any.
    fn covers(&self, values: &BTreeMap<String, i64>) -> bool {
        let inside = |(name, (lo, hi)): (&&str, &(i64, i64))| {
            let value = values.get(*name);
            value.is_some_and(|value| (lo..=hi).contains(&value))
        };
        self.at.as_ref().is_none_or(|at| at.iter().all(inside))
    }
}

pub fn expected(text: &str) -> Vec<Expected<'_>> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("//@ expect "));
    let each = lines.filter_map(|line| {
        let (property, rest) = line.split_once(": ")?;
        if let Some((verdict, _)) = rest.split_once(" for all ") {
            return Some(Expected {
                property,
                verdict,
                at: None,
            });
        }
        let (verdict, values) = rest.split_once(" at ")?;
        let values = values.split(", ").map(|value| {
            let (name, range) = value.split_once('=')?;
            let (lo, hi) = range.split_once("..").unwrap_or((range, range));
            Some((name, (lo.parse().ok()?, hi.parse().ok()?)))
        });
        Some(Expected {
            property,
            verdict,
            at: Some(values.collect::<Option<_>>()?),
        })
    });
    each.collect()
}

/// What contradicts what the program says of itself.
pub fn compare(name: &str, text: &str, verdicts: &BTreeMap<String, Verdict>) {
    for expected in expected(text) {
        let property = expected.property;
        match verdicts.get(property) {
            Some(Verdict::Proved(..)) => {
                assert_eq!(expected.verdict, "proved", "{name}: {property}");
            }
            Some(Verdict::Violated(values)) if expected.covers(values) => {
                assert_eq!(
                    expected.verdict, "violated",
                    "{name}: {property} at {values:?}"
                );
            }
            _ => {}
        }
    }
}

/// The properties that are proved of a program, after everything else was seen to.
fn proved(way: Way, name: &str, text: &str, budget: u64) -> Vec<String> {
    let verdicts = decide(way, text, budget).unwrap_or_else(|error| panic!("{name}: {error}"));
    compare(name, text, &verdicts);
    let proved = verdicts.iter();
    let proved = proved.filter(|(_, verdict)| matches!(verdict, Verdict::Proved(..)));
    proved.map(|(property, _)| property.clone()).collect()
}

/// What takes longer than there is time for here: they may stay open, but nothing wrong may be said of them.
const LONG: &[&str] = &["maximum", "unverif_13", "unverif_13_2"];

#[test]
fn the_library_for_all_is_decided() {
    let mut wrong = Vec::new();
    for (name, text) in library_for_all() {
        let verdicts = decide(Way::COUNTER, &text, BUDGET);
        let verdicts = verdicts.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &verdicts);
        let program = program(&text).unwrap_or_else(|| panic!("{name}"));
        let waits = |property: &str| {
            let mut known = program.properties.iter();
            known.any(|p| p.name == property && matches!(p.kind, PropertyKind::Liveness { .. }))
        };
        for expected in expected(&text) {
            let property = expected.property;
            // Liveness is for another engine.
            if waits(property) {
                continue;
            }
            let found = match &verdicts[property] {
                Verdict::Proved(..) => "proved",
                Verdict::Violated(_) => "violated",
                Verdict::Unknown(reason) => reason,
            };
            let wanted = expected.at.is_none() || expected.verdict == "violated";
            let wanted = wanted && !LONG.contains(&name.as_str());
            if wanted && found != expected.verdict {
                wrong.push(format!("{name}: {property}: {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_wrong_is_not_proved() {
    let (mut proved_right, mut right, mut violated, mut wrong) = (0, 0, 0, 0);
    for (name, text) in variants_for_all() {
        let verdicts = decide(Way::COUNTER, &text, BUDGET / 8);
        let verdicts = verdicts.unwrap_or_else(|error| panic!("{name}: {error}"));
        // A contradiction would be a proof of what is violated somewhere.
        compare(&name, &text, &verdicts);
        let found = |wanted: fn(&Verdict) -> bool| verdicts.values().filter(|v| wanted(v)).count();
        let (proofs, runs) = (
            found(|verdict| matches!(verdict, Verdict::Proved(..))),
            found(|verdict| matches!(verdict, Verdict::Violated(_))),
        );
        if name.starts_with("wrong_") {
            wrong += 1;
            violated += usize::from(runs > 0);
        } else {
            assert_eq!(runs, 0, "{name}");
            right += 1;
            proved_right += usize::from(proofs == verdicts.len());
        }
    }
    assert!(proved_right >= 18, "{proved_right} of {right}");
    assert!(violated >= 20, "{violated} of {wrong}");
}

#[test]
fn wrong_protocols_are_not_proved() {
    let (mut right, mut proved_right, mut violated) = (0, 0, 0);
    for (name, text) in protocols_for_all() {
        let verdicts = decide(Way::COUNTER, &text, BUDGET / 20);
        let mut verdicts = verdicts.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &verdicts);
        // `deadlock` has a list of its own.
        verdicts.remove("deadlock_free");
        let runs = |verdict: &&Verdict| matches!(verdict, Verdict::Violated(_));
        let runs = verdicts.values().filter(runs).count();
        if name.starts_with("wrong_") {
            violated += usize::from(runs > 0);
        } else {
            assert_eq!(runs, 0, "{name}");
            let proofs = |verdict: &&Verdict| matches!(verdict, Verdict::Proved(..));
            right += 1;
            proved_right += usize::from(verdicts.values().filter(proofs).count() == verdicts.len());
        }
    }
    assert!(right >= 30, "{right}");
    assert!(proved_right >= 8, "{proved_right} of {right}");
    assert!(violated >= 15, "{violated}");
}

/// Programs of the library of finite models that `counter` soon has proofs of, of all their invariants and checks.
const PROVED: &[&str] = &[
    "bakery",
    "critical_sections",
    "dekker",
    "mux_sem",
    "mux_sem_count",
    "mux_sem_last",
    "mux_sem_short",
    "peterson2",
    "test_and_set",
];
/// And `generalise`.
const GENERALISED: &[&str] = &[
    "bakery",
    "mux_sem",
    "mux_sem_count",
    "mux_sem_last",
    "mux_sem_short",
    "test_and_set",
];

/// What is proved of a finite model holds at small instances, and those that should be are proved.
fn finite(way: Way, wanted: &[&str]) {
    let mut missing = Vec::new();
    for (name, text) in library() {
        let proved = proved(way, &name, &text, BUDGET / 8);
        if proved.is_empty() {
            missing.extend(wanted.contains(&name.as_str()).then_some(name));
            continue;
        }
        let instances = verdicts(&text, 3, 20_000, true).unwrap_or_else(|e| panic!("{name}: {e}"));
        for property in &proved {
            contradiction(property, &instances).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        if wanted.contains(&name.as_str()) {
            let mut all = properties(&program(&text).expect("a program"));
            // `deadlock` has a list of its own.
            all.retain(|name| name != "deadlock_free");
            let open: Vec<_> = all.iter().filter(|name| !proved.contains(name)).collect();
            missing.extend((!open.is_empty()).then(|| format!("{name}: {open:?}")));
        }
    }
    assert!(missing.is_empty(), "not proved: {missing:?}");
}

#[test]
fn proofs_about_finite_models_hold_at_small_instances() {
    finite(Way::COUNTER, PROVED);
}

#[test]
fn so_do_generalised_ones() {
    finite(Way::Generalise, GENERALISED);
}

#[test]
fn the_infinite_ones_are_generalised_too() {
    for (name, text) in library_for_all() {
        if matches!(name.as_str(), "bakery" | "ticket_lock") {
            let proved = proved(Way::Generalise, &name, &text, BUDGET);
            assert!(proved.contains(&"mutex".to_owned()), "{name}: {proved:?}");
        }
    }
}
