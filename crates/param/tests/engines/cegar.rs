//! `counter --method cegar`: what the published method proves, and that it proves nothing wrong.

use threadwise_param::engine::{Method, Way};
use threadwise_testgen::{library_for_all, variants_for_all};

use crate::engines::common::{BUDGET, Verdict, decide};
use crate::engines::library::{compare, expected};

/// What is not proved in time: the abstraction is too weak for it, or predicates are found without end.
const OPEN: &[&str] = &["as_many", "bakery", "maximum", "ticket_lock"];

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
            if expected.at.is_none()
                && !open
                && !matches!(found[expected.property], Verdict::Proved(..))
            {
                let found = &found[expected.property];
                wrong.push(format!("{name}: {}: {found:?}", expected.property));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_no_process_alone_can_know_violates_the_abstraction() {
    let mut all = library_for_all().into_iter();
    let (_, text) = all.find(|(name, _)| name == "maximum").expect("a model");
    let found = decide(Way::Counter(Method::Cegar), &text, 100 * BUDGET);
    let Verdict::Unknown(why) = &found.expect("verdicts")["checks"] else {
        panic!("it has no thread-modular proof");
    };
    assert!(why.contains("the abstraction has a violation"), "{why}");
}

#[test]
fn nothing_wrong_is_proved() {
    for (name, text) in variants_for_all() {
        let found = decide(Way::Counter(Method::Cegar), &text, BUDGET / 20);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &text, &found);
    }
}
