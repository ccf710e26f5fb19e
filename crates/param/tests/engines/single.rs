//! Programs that single out one thing: right ones with a proof that needs it, and ones that are wrong at instances far larger than any that is
//! searched, so that an engine which gets it wrong has a proof of what is not true.

use threadwise_param::engine::Way;

use crate::engines::common::{BUDGET, Verdict, decide};

/// The verdict about an invariant.
fn verdict(text: &str, property: &str) -> Verdict {
    let verdicts = decide(Way::COUNTER, text, BUDGET / 8);
    let mut verdicts = verdicts.unwrap_or_else(|error| panic!("{error}\n{text}"));
    verdicts.remove(property).expect("an answer")
}

#[test]
fn what_is_wrong_far_away_is_not_proved() {
    for text in [
        // The greatest of all values is not that of the process itself.
        "param N = 2 where N >= 1; shared x: int = 0; shared y: array[P] of int = 0;
         process P[i: 1..N] { a: atomic { x := (max j in P: y[j]) + 1; y[i] := x; } b: skip; }
         invariant far: x <= 100;",
        // A range may be empty.
        "param N = 2 where N >= -30; shared x: int = 0;
         process P[i: 1..N] { a: x := 1; }
         invariant far: N >= -20;",
        // A step writes several variables.
        "param N = 2 where N >= 1; shared x, y: int = 0;
         process P[i: 1..N] { a: atomic { y := y + 1; x := y; } }
         invariant far: x <= 100;",
        // Whoever is started does something.
        "param N = 2 where N >= 1; shared x: int = 0;
         process P[i: 1..N] { a: start Child; }
         process Child[] { c: fetch_add(x, 1); }
         invariant far: x <= 100;",
    ] {
        let verdict = verdict(text, "far");
        assert!(
            matches!(verdict, Verdict::Unknown(_)),
            "{verdict:?}\n{text}"
        );
    }
}

#[test]
fn what_is_needed_for_a_proof_is_known() {
    for text in [
        // Different processes have different ids.
        "param N = 2 where N >= 1; shared owner: P? = none;
         process P[i: 1..N] { loop { a: atomic { await owner == none; owner := i; } b: owner := none; } }
         invariant right: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);",
        // Who is not at a label is counted where it is instead.
        "param N = 2 where N >= 1; shared x: int = 0;
         process P[i: 1..N] { a: fetch_add(x, 1); b: skip; }
         invariant right: x == count j in P: !(P[j] at a);",
    ] {
        let verdict = verdict(text, "right");
        assert!(matches!(verdict, Verdict::Proved(..)), "{verdict:?}\n{text}");
    }
}

#[test]
fn what_holds_of_a_ring_of_places_depends_on_the_order_of_positions() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, properties) in [
        ("tests/any/right_wrap_free.tw", &["checks", "empty"][..]),
        (
            "tests/any/right_wrap_count.tw",
            &["checks", "between", "all_or_none"],
        ),
    ] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the program");
        let found = decide(Way::COUNTER, &text, BUDGET).expect("evidence");
        for property in properties {
            let Some(Verdict::Proved(_, how)) = found.get(*property) else {
                panic!("{file}: {property}: {found:?}");
            };
            assert!(
                how.contains("in each order of positions"),
                "{property}: {how}"
            );
        }
    }
}

#[test]
fn it_is_counted_how_many_have_come_to_each_level() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, property) in [
        ("models/peterson.tw", "mutex"),
        ("tests/any/right_tower.tw", "alone"),
        ("tests/any/right_stairs.tw", "mutex"),
    ] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the program");
        let found = decide(Way::COUNTER, &text, BUDGET).expect("evidence");
        let Some(Verdict::Proved(_, how)) = found.get(property) else {
            panic!("{file}: {property}: {found:?}");
        };
        assert!(how.contains("at each entry"), "{file}: {how}");
    }
}
