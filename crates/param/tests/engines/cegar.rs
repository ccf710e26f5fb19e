//! `counter --method cegar`: what the published method proves, and that it proves nothing wrong.

use std::fs;

use threadwise_evidence::CHECKS;
use threadwise_param::engine::{Interpolants, Method, Prover, Way};
use threadwise_testgen::{library_for_all, variants_for_all};

use crate::engines::common::{BUDGET, Verdict, decide, decide_by};
use crate::engines::library::{compare, expected};

/// What is not proved in time: it takes more than this test gives it, or predicates are found without end.
const OPEN: &[&str] = &["as_many", "bakery", "ticket_lock"];

#[test]
fn the_programs_of_the_literature_are_proved() {
    let mut wrong = Vec::new();
    for (name, text) in library_for_all() {
        let open = OPEN.contains(&name.as_str());
        let budget = if open { BUDGET / 8 } else { 4 * BUDGET };
        let found = decide(Way::Counter(Method::Cegar), &text, budget);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &found);
        for expected in expected(&text) {
            // Promises are for another engine.
            let Some(found) = found.get(expected.property) else {
                continue;
            };
            if expected.at.is_none() && !open && !matches!(found, Verdict::Proved(..)) {
                wrong.push(format!("{name}: {}: {found:?}", expected.property));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the published abstraction has a violation, a finer one is proved: with what a run of the published one asks for, and nothing else.
#[test]
fn what_violates_the_abstraction_makes_it_finer() {
    for (path, property, with) in [
        ("any/maximum", CHECKS, ", one predicate counted"),
        ("test_and_set", "mutex", ", one predicate counted"),
        (
            "any/ticket_lock",
            "mutex",
            ", the property assumed of those that move",
        ),
        ("any/fkp2014", "waiting", " of refinement"),
    ] {
        let path = format!("{}/../../models/{path}.tw", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).expect("a model");
        let found = decide(Way::Counter(Method::Cegar), &text, 100 * BUDGET).expect("verdicts");
        let Verdict::Proved(_, how) = &found[property] else {
            panic!("{property}: {:?}", found[property]);
        };
        assert!(how.ends_with(with), "{how}");
    }
}

/// What the others add is 1 at most, which no predicate of the text says of them.
#[test]
fn a_violation_of_all_abstractions_is_said() {
    let text = "
        param N = 2 where N >= 1;
        shared x: int = 0;
        process P[i: 1..N] { local v: 0..5 = 0; a: v := 1; b: x := x + v; }
        invariant few: x <= N;
    ";
    let found = decide(Way::Counter(Method::Cegar), text, BUDGET).expect("verdicts");
    let Verdict::Unknown(why) = &found["few"] else {
        panic!("{:?}", found["few"]);
    };
    assert!(why.contains("the abstraction has a violation"), "{why}");
}

#[test]
fn the_lattice_alone_proves_small_ones_and_nothing_wrong() {
    let lattice = Prover {
        interpolants: Interpolants::Lattice,
        ..Prover::new(Way::Counter(Method::Cegar))
    };
    let mut proved = Vec::new();
    for (name, text) in library_for_all() {
        let found = decide_by(lattice, &text, BUDGET / 8);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &found);
        if found.values().all(|one| matches!(one, Verdict::Proved(..))) {
            proved.push(name);
        }
    }
    assert_eq!(proved, ["mm", "mmpp", "pp", "ppmm", "stack"]);
}

#[test]
fn nothing_wrong_is_proved() {
    for (name, text) in variants_for_all() {
        let found = decide(Way::Counter(Method::Cegar), &text, BUDGET / 20);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &found);
    }
}
