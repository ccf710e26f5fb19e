//! The model library: every liveness property of every model at small sizes, and a table of verdicts that were known before any of the engines.

use std::time::Instant;

use threadwise_model::lower::lower;
use threadwise_model::system::SystemPropertyKind;
use threadwise_testgen::liveness::judge;
use threadwise_testgen::{instance, library};

use crate::agree::common::{Question, Setting, compare, settings};

/// More states than any of these instances has.
const STATES: usize = 400_000;

/// Known verdicts for N = 2 to 5: the model, the property, and the sizes at which it holds. The oracle must find the same.
const TABLE: &[(&str, &str, &[i64])] = &[
    // Whoever is scheduled may be looked at only while another is inside.
    ("mux_sem_unfair", "access", &[]),
    // Strong fairness of one process helps that one.
    ("mux_sem_unfair", "first", &[2, 3, 4, 5]),
    ("mux_sem_unfair", "others", &[]),
    ("mux_sem", "access", &[2, 3, 4, 5]),
    // With a ticket. Without, bounded tickets let others overtake.
    ("bakery", "access", &[2, 3, 4, 5]),
    ("bakery", "entry", &[2]),
    ("dining", "access", &[2, 3, 4, 5]),
    // With M = 15. The assumption is needed of all processes.
    ("cond_term", "termination", &[2, 3, 4, 5]),
    ("cond_term", "partly", &[]),
    ("cond_term", "unassisted", &[]),
    // Leaving is not enough; with the request of the process in question it is.
    ("mux_sem_nondet", "overtaken", &[]),
    ("mux_sem_nondet", "first", &[2, 3, 4, 5]),
    ("mux_sem_nondet", "access", &[2, 3, 4, 5]),
    // Whether the semaphore is taken again and again depends on whether processes may rest.
    ("mux_sem_busy", "in_use", &[2, 3, 4, 5]),
    ("mux_sem_unfair", "in_use", &[]),
];

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// What takes seconds.
    Little,
    /// Everything.
    Full,
}

impl Effort {
    /// Whether to run an engine on a property, by the number of states.
    fn allows(self, setting: &Setting, states: usize) -> bool {
        let most = match (setting.local, setting.symmetric) {
            (true, true) => 100,
            (true, false) => 60,
            (false, true) => 10_000,
            (false, false) => 1_000,
        };
        self == Effort::Full || states <= most
    }
}

/// Compares engines with the oracle on some liveness properties of a model at a size; which of them there are, and
/// whether they hold.
fn compare_model(
    (settings, effort): (&[Setting], Effort),
    (name, text): (&str, &str),
    n: i64,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<(String, bool)> {
    let place = format!("{name} at N={n}");
    // Some models have no parameter `N`, and some not all of these sizes.
    let sized = text.contains("param N");
    let params: &[(&str, i64)] = if sized { &[("N", n)] } else { &[] };
    let Ok(instance) = instance(text, params) else {
        return Vec::new();
    };
    let system = lower(&instance, 3).unwrap_or_else(|errors| panic!("{place}: {errors:?}"));
    let mut verdicts = Vec::new();
    for property in &system.properties {
        let SystemPropertyKind::Liveness(liveness) = &property.kind else {
            continue;
        };
        if !wanted(&property.name) {
            continue;
        }
        let judgement = judge(&system, liveness, STATES)
            .unwrap_or_else(|unknown| panic!("{place}, {}: {unknown:?}", property.name));
        let question = Question {
            instance: &instance,
            system: &system,
            property,
            liveness,
        };
        for setting in settings {
            if !effort.allows(setting, judgement.states) {
                continue;
            }
            let begun = Instant::now();
            let count = compare(question, &judgement, setting)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            let seconds = begun.elapsed().as_secs_f64();
            println!(
                "{place}, {}, {}: {seconds:.2} s, {count:?}",
                property.name, setting.name
            );
        }
        verdicts.push((property.name.clone(), judgement.violation.is_none()));
    }
    verdicts
}

/// Every property of the library at small sizes.
fn compare_library(effort: Effort) {
    let settings = settings();
    let mut compared = 0;
    for (name, text) in library() {
        for n in 2..=3 {
            let verdicts = compare_model((&settings, effort), (&name, &text), n, &|_| true);
            compared += verdicts.len();
        }
    }
    assert!(compared >= 50, "only {compared}");
}

fn compare_table(effort: Effort) {
    let settings = settings();
    for (name, text) in library() {
        let rows: Vec<_> = TABLE.iter().filter(|(model, ..)| *model == name).collect();
        if rows.is_empty() {
            continue;
        }
        for n in 2..=5 {
            let mut expected: Vec<(String, bool)> = rows
                .iter()
                .map(|(_, property, holds)| ((*property).to_owned(), holds.contains(&n)))
                .collect();
            let wanted = |property: &str| rows.iter().any(|(_, row, _)| *row == property);
            let mut found = compare_model((&settings, effort), (&name, &text), n, &wanted);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{name} at N={n}");
        }
    }
}

#[test]
fn engines_agree_with_the_oracle_on_the_library() {
    compare_library(Effort::Little);
}

#[test]
fn verdicts_are_those_of_the_table() {
    compare_table(Effort::Little);
}

#[test]
#[ignore = "takes minutes"]
fn all_engines_agree_with_the_oracle_on_the_library() {
    compare_library(Effort::Full);
}

#[test]
#[ignore = "takes minutes"]
fn verdicts_of_all_engines_are_those_of_the_table() {
    compare_table(Effort::Full);
}
