//! What three processes had to expose is all that more of them need.

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_liveness::{Local, Variant};
use threadwise_model::lower::lower;
use threadwise_testgen::{instance, library};

/// The model, the property, the number of processes, and how many facts are exposed of each process but the first.
const TABLE: &[(&str, &str, i64, u64)] = &[
    ("mux_sem", "access", 6, 2),
    ("mux_sem_unfair", "first", 6, 2),
    ("mux_sem_nondet", "first", 6, 2),
    ("dining", "access_1", 5, 3),
    ("cond_term", "first", 6, 1),
    ("bakery", "first", 4, 2),
];

#[test]
fn the_first_guess_is_enough_and_no_more_than_that() {
    for (name, text) in library() {
        let rows = TABLE.iter().filter(|(model, ..)| *model == name);
        for (_, property, n, each) in rows {
            let mut exposed = Vec::new();
            for (n, certificates) in [(3, false), (*n, true)] {
                let place = format!("{name}, {property}, N={n}");
                let instance = instance(&text, &[("N", n)]).unwrap();
                let system = lower(&instance, 3).unwrap();
                let mut properties = system.properties.iter();
                let property = properties.find(|known| known.name == *property).unwrap();
                let engine = Local {
                    variant: Variant::B,
                    symmetric: true,
                    certificates,
                    exposed,
                    ..Local::default()
                };
                let outcome = engine.check(&system, property, &Limits::NONE, &mut Silent);
                assert!(matches!(outcome.answers[0], Answer::Proved(_)), "{place}");
                let account = &outcome.accounts[0];
                if certificates {
                    assert_eq!(account.refinements, Some(0), "{place}");
                    assert_eq!(account.predicates, Some(each * (n as u64 - 1)), "{place}");
                }
                exposed = account.exposed.clone();
            }
        }
    }
}
