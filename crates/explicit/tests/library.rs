//! The engine against the plain evaluator, on every model of the library at small sizes: the same
//! states, the same verdicts, and runs that are runs and as short as can be.

use crate::reference::{explore, judge, orbit};
use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_explicit::Explicit;
use threadwise_model::lower::lower;
use threadwise_model::symmetry;
use threadwise_model::system::System;

fn systems() -> Vec<(String, System)> {
    let mut systems = Vec::new();
    for (name, text) in threadwise_testgen::library() {
        for n in [2, 3] {
            let Ok(instance) = threadwise_testgen::instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 4).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            systems.push((format!("{name} N={n}"), system));
        }
    }
    systems
}

#[test]
fn agrees_with_the_evaluator() {
    let mut compared = 0;
    for (name, system) in systems() {
        let Some(reference) = explore(&system, 20_000) else {
            continue;
        };
        assert!(!reference.doubtful && !reference.full, "{name}");
        compared += 1;
        let properties: Vec<_> = system.properties.iter().collect();
        let engine = Explicit {
            exhaustive: true,
            ..Explicit::default()
        };
        let outcome = engine.check_all(&system, &properties, &Limits::NONE, &mut Silent);
        assert!(outcome.complete, "{name}");
        assert_eq!(
            outcome.stats.states,
            Some(reference.states.len() as u64),
            "{name}"
        );
        for (at, property) in properties.iter().enumerate() {
            let what = format!("{name} {}", property.name);
            judge(
                &what,
                &system,
                property,
                &outcome.answers[at],
                reference.shortest[at],
            );
            let alone = Explicit::default().check(&system, property, &Limits::NONE, &mut Silent);
            judge(
                &what,
                &system,
                property,
                &alone.answers[0],
                reference.shortest[at],
            );
        }
    }
    println!("compared {compared} instances");
    assert!(
        compared >= 40,
        "only {compared} instances were small enough"
    );
}

#[test]
fn symmetry_keeps_one_state_of_each_orbit() {
    let (mut compared, mut reduced) = (0, 0);
    for (name, system) in systems() {
        let Some(reference) = explore(&system, 5_000) else {
            continue;
        };
        compared += 1;
        for (at, property) in system.properties.iter().enumerate() {
            let what = format!("{name} {}", property.name);
            let engine = Explicit {
                symmetry: true,
                ..Explicit::default()
            };
            let outcome = engine.check(&system, property, &Limits::NONE, &mut Silent);
            judge(
                &what,
                &system,
                property,
                &outcome.answers[0],
                reference.shortest[at],
            );
            if !matches!(outcome.answers[0], Answer::Proved(_)) {
                continue;
            }
            let generators = symmetry::generators(&system, property);
            let mut left = reference.states.clone();
            let mut orbits = 0;
            while let Some(state) = left.pop_first() {
                orbits += 1;
                for member in orbit(&system, &generators, &state) {
                    left.remove(&member);
                }
            }
            reduced += usize::from(orbits < reference.states.len());
            assert_eq!(outcome.stats.states, Some(orbits as u64), "{what}");
        }
    }
    println!("compared {compared} instances, reduced {reduced} times");
    assert!(compared >= 30 && reduced >= 30, "{compared} {reduced}");
}
