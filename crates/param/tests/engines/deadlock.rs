//! Freedom from deadlock for all values.

use threadwise_param::engine::Way;
use threadwise_testgen::library;

use crate::engines::common::{BUDGET, Verdict, decide};
use crate::engines::library::compare;

/// Programs that are free of deadlock for all values, with a proof.
const PROVED: &[&str] = &[
    "cond_term",
    "critical_sections",
    "mux_sem",
    "mux_sem_busy",
    "mux_sem_count",
    "mux_sem_last",
    "mux_sem_nondet",
    "mux_sem_short",
    "mux_sem_try",
    "mux_sem_unfair",
    "peterson2",
    "readers_writers",
    "test_and_set",
    "ticket_lock",
];

#[test]
fn the_library_is_free_of_deadlock() {
    let mut found = Vec::new();
    for (name, text) in library() {
        if !PROVED.contains(&name.as_str()) {
            continue;
        }
        let verdicts = decide(Way::COUNTER, &text, BUDGET);
        let verdicts = verdicts.unwrap_or_else(|e| panic!("{name}: {e}"));
        compare(&name, &text, &verdicts);
        if matches!(verdicts["deadlock_free"], Verdict::Proved(..)) {
            found.push(name);
        }
    }
    assert_eq!(found, PROVED);
}

/// Programs that are stuck only with several processes, or only in some corner.
#[test]
fn what_can_be_stuck_is_not_proved() {
    let wrong = [
        // The last of four finds nothing.
        "param N = 2 where N >= 1; shared x: int = 3;
         process P[i: 1..N] { a: atomic { await x > 0; x := x - 1; } } deadlock_free;",
        // Both must be taken, and are taken one at a time.
        "param N = 2 where N >= 1; shared x: 0..2 = 2;
         process P[i: 1..N] {
             loop {
                 a: atomic { await x > 0; x := x - 1; }
                 b: atomic { await x > 0; x := x - 1; }
                 c: x := x + 2;
             }
         } deadlock_free;",
        // Six have to come, and there are as many as there are.
        "param N = 6 where N >= 1; shared x: int = 0;
         process P[i: 1..N] { a: fetch_add(x, 1); b: await x >= 6 || x == 2; } deadlock_free;",
        // Whoever was started last waits for the next one.
        "shared x: int = 0;
         process P { a: atomic { x := x + 1; start Q; } }
         process Q[] { b: await x == 2; } deadlock_free;",
    ];
    for text in wrong {
        let verdicts = decide(Way::COUNTER, text, BUDGET / 8).unwrap_or_else(|e| panic!("{e}"));
        let found = &verdicts["deadlock_free"];
        assert!(matches!(found, Verdict::Violated(_)), "{text}: {found:?}");
    }
}
