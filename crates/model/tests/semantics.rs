//! The corner cases of `docs/book/src/language.md`, one by one, on the interpreter.
//!
//! A test states a program and, for a process in a state, everything it can do there: `to label:
//! x = 1`, `rest`, or `fail` with the kind of check and the text blamed for it.

use std::collections::BTreeSet;

use crate::machine::{Machine, instance};
use threadwise_lang::program::FairnessTerm;
use threadwise_model::expression::Limit;
use threadwise_model::interpreter::{Interpreter, Judgement};
use threadwise_model::state::State;

/// The outcomes of the first step of `process S { a: STATEMENTS b: skip; }` after DECLARATIONS.
fn first(declarations: &str, statements: &str) -> Vec<String> {
    Machine::new(&format!(
        "{declarations} process S {{ a: {statements} b: skip; }}"
    ))
    .outcomes("S")
}

#[test]
fn later_statements_see_earlier_writes() {
    let outcomes = first("shared x, y: 0..9 = 0;", "x := 3; y := x + 1; x := y + 1;");
    assert_eq!(outcomes, ["to b: x = 5, y = 4"]);
}

#[test]
fn simultaneous_assignment_reads_the_state_before_it() {
    assert_eq!(
        first("shared x: 0..9 = 1; shared y: 0..9 = 2;", "x, y := y, x;"),
        ["to b: x = 2, y = 1"]
    );
    // The index of the second place is evaluated before the first write.
    let outcomes = first(
        "shared k: 0..2 = 0; shared f: array[0..2] of bool = false;",
        "k, f[k] := 2, true;",
    );
    assert_eq!(outcomes, ["to b: k = 2, f[0] = true"]);
}

#[test]
fn simultaneous_assignment_checks_indices_then_values_then_cells_then_types() {
    let shared = "shared k: 0..9 = 5; shared f: array[0..2] of 0..9 = 0;";
    assert_eq!(
        first(shared, "f[k], k := 1 / (k - 5), 10 * k;"),
        ["fail Index in `k`"]
    );
    assert_eq!(
        first(shared, "f[k - 5], k := 1 / (k - 5), 10 * k;"),
        ["fail Division in `1 / (k - 5)`"]
    );
    assert_eq!(
        first(shared, "f[k - 5], f[k - 4 - 1] := 10 * k, 1;"),
        ["fail SameCell in `f[k - 5], f[k - 4 - 1] := 10 * k, 1;`"]
    );
    assert_eq!(
        first(shared, "f[k - 5], k := 10 * k, 20 * k;"),
        ["fail Range in `10 * k`"]
    );
    assert_eq!(
        first(shared, "f[k - 5], f[k - 4] := 1, 2;"),
        ["to b: f[0] = 1, f[1] = 2"]
    );
}

#[test]
fn the_left_side_decides_and_spares_the_right() {
    let shared = "shared x: 0..9 = 0; shared f: array[1..2] of bool = true;";
    assert_eq!(first(shared, "assert x > 0 && f[x] || true;"), ["to b: "]);
    assert_eq!(first(shared, "assert x == 0 || f[x];"), ["to b: "]);
    assert_eq!(first(shared, "assert x > 0 -> f[x];"), ["to b: "]);
    assert_eq!(
        first(shared, "assert f[x] && x > 0;"),
        ["fail Index in `x`"]
    );
    assert_eq!(
        first(shared, "assert x > 0 <-> f[x];"),
        ["fail Index in `x`"]
    );
}

#[test]
fn quantifiers_evaluate_their_body_for_every_value() {
    let shared = "shared f: array[1..2] of bool = false;";
    // The first value decides, and the third fails all the same.
    assert_eq!(
        first(shared, "assert !(forall k in 1..3: f[k]);"),
        ["fail Index in `k`"]
    );
    assert_eq!(
        first(shared, "assert exists k in 0..2: k == 0 || !f[k];"),
        ["to b: "]
    );
    assert_eq!(
        first(shared, "assert exists k in 1..3: !f[k];"),
        ["fail Index in `k`"]
    );
    assert_eq!(
        first(shared, "assert (count k in 1..2: !f[k]) == 2;"),
        ["to b: "]
    );
    assert_eq!(
        first(
            shared,
            "assert (sum k in 1..4: k) == 10 && (min k in 3..5: 0 - k) == 0 - 5;"
        ),
        ["to b: "]
    );
    assert_eq!(
        first(
            shared,
            "assert (forall k in 2..1: false) && !(exists k in 2..1: true);"
        ),
        ["to b: "]
    );
    assert_eq!(
        first(
            shared,
            "assert (count k in 2..1: true) + (sum k in 2..1: 7) == 0;"
        ),
        ["to b: "]
    );
}

#[test]
fn the_least_of_nothing_is_a_failure() {
    assert_eq!(
        first("", "assert (min k in 2..1: k) == 0;"),
        ["fail Empty in `(min k in 2..1: k)`"]
    );
    assert_eq!(
        first("", "assert (max k in 2..1: k) == 0;"),
        ["fail Empty in `(max k in 2..1: k)`"]
    );
}

#[test]
fn division_rounds_towards_zero() {
    let shared = "shared m, n: int = 0;";
    let by = |a: &str, b: &str| first(shared, &format!("m, n := ({a}) / ({b}), ({a}) % ({b});"));
    assert_eq!(by("7", "2"), ["to b: m = 3, n = 1"]);
    assert_eq!(by("-7", "2"), ["to b: m = -3, n = -1"]);
    assert_eq!(by("7", "-2"), ["to b: m = -3, n = 1"]);
    assert_eq!(by("-7", "-2"), ["to b: m = 3, n = -1"]);
    assert_eq!(first(shared, "n := 1 % m;"), ["fail Division in `1 % m`"]);
}

#[test]
fn a_computation_beyond_64_bits_is_a_limit_and_no_failure() {
    let largest = "9223372036854775807";
    for sum in [
        "x + 1",
        "x * 2",
        "-(0 - x - 1)",
        "(0 - x - 1) / (0 - y)",
        "sum k in 1..2: x",
    ] {
        let text =
            format!("shared x: int = {largest}; shared y: int = 1; process S {{ a: x := {sum}; }}");
        let outcomes = Machine::new(&text).raw("S");
        assert!(
            matches!(outcomes, Err(Limit::Overflow { .. })),
            "{sum}: {outcomes:?}"
        );
    }
    // The remainder of the least number by -1 is 0, and fits.
    let text = format!("shared x: int = {largest}; process S {{ a: x := (0 - x - 1) % (0 - 1); }}");
    assert_eq!(Machine::new(&text).outcomes("S"), ["to done: x = 0"]);
    let text = format!("shared x: int = {largest}; process S {{ a: fetch_add(x, 1); }}");
    assert!(matches!(
        Machine::new(&text).raw("S"),
        Err(Limit::Overflow { .. })
    ));
}

#[test]
fn a_false_await_leaves_no_path() {
    assert_eq!(first("shared x: bool = false;", "await x;"), [""; 0]);
    assert_eq!(
        first("shared x: bool = false;", "await !x; x := true;"),
        ["to b: x = true"]
    );
    // Blocking inside a branch takes away that branch only.
    let shared = "shared x: bool = false; shared y: 0..9 = 0;";
    assert_eq!(
        first(
            shared,
            "choose { await x; y := 1; } or { await !x; y := 2; } or { y := 3; }"
        ),
        ["to b: y = 2", "to b: y = 3"]
    );
    assert_eq!(first(shared, "if x { y := 1; } else { await x; }"), [""; 0]);
}

#[test]
fn a_failure_counts_on_its_own_path_only_if_that_path_is_feasible() {
    let shared = "shared x: bool = false; shared y: 0..3 = 0;";
    assert_eq!(
        first(
            shared,
            "choose { await x; assert false; } or { assert x; } or { y := 1; }"
        ),
        ["fail Assert in `assert x;`", "to b: y = 1"]
    );
    assert_eq!(
        first(shared, "if x { assert false; } y := 2;"),
        ["to b: y = 2"]
    );
    // Intermediate values are checked too, even if they would be overwritten.
    assert_eq!(
        first(shared, "y := y + 9; y := 0;"),
        ["fail Range in `y + 9`"]
    );
    // A check in a guard fails before the guard can be false.
    assert_eq!(
        first(
            "shared f: array[1..2] of bool = false; shared k: 0..9 = 7;",
            "await f[k];"
        ),
        ["fail Index in `k`"]
    );
}

#[test]
fn stay_is_resting_or_going_on() {
    let mut machine = Machine::new(
        "shared x: bool = false; process S { a: stay; b: stay; await x; } deadlock_free;",
    );
    assert_eq!(machine.outcomes("S"), ["rest", "to b: "]);
    assert!(!machine.deadlocked());
    machine.go("S", 1);
    assert_eq!(machine.outcomes("S"), ["rest"]);
    assert!(machine.deadlocked(), "resting alone is a deadlock");
}

#[test]
fn a_step_back_to_its_own_label_is_no_rest() {
    let machine = Machine::new("process S { loop { a: skip; } }");
    assert_eq!(machine.outcomes("S"), ["to a: "]);
    assert!(!machine.deadlocked());
}

#[test]
fn a_deadlock_needs_a_process_that_has_not_ended() {
    let mut machine = Machine::new("process S { a: skip; } process T { a: assert false; }");
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), [""; 0]);
    assert!(!machine.deadlocked(), "a step that fails is a step");
    let mut machine = Machine::new("process S { a: skip; }");
    machine.go("S", 0);
    assert!(!machine.deadlocked(), "all have ended");
    assert!(Machine::new("process S { a: await false; }").deadlocked());
    assert!(
        !Machine::with("param N = 0; process P[i: 1..N] { a: await false; }", &[]).deadlocked()
    );
}

#[test]
fn a_mutex_belongs_to_its_holder() {
    let text = "shared m: mutex; process P[i: 1..2] { a: lock m; b: unlock m; c: unlock m; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.cell("m"), "free");
    machine.go("P[2]", 0);
    assert_eq!(machine.cell("m"), "P[2]");
    assert_eq!(machine.outcomes("P[1]"), [""; 0]);
    assert_eq!(machine.outcomes("P[2]"), ["to c: m = free"]);
    machine.go("P[2]", 0);
    assert_eq!(machine.outcomes("P[2]"), ["fail Unlock in `unlock m;`"]);
    machine.go("P[1]", 0);
    assert_eq!(
        machine.outcomes("P[2]"),
        ["fail Unlock in `unlock m;`"],
        "held by another"
    );
}

#[test]
fn locks_in_arrays_and_in_branches() {
    let text = "shared m: array[0..1] of mutex; shared n: 0..1 = 0;
        process P[i: 1..2] { a: if n == 0 { lock m[n]; n := 1; } else { lock m[0]; } b: assert locked(m[0]) && !locked(m[1]); c: skip; }";
    let mut machine = Machine::new(text);
    machine.go("P[1]", 0);
    assert_eq!(
        (machine.cell("m[0]"), machine.cell("m[1]")),
        ("P[1]".to_owned(), "free".to_owned())
    );
    assert_eq!(machine.outcomes("P[2]"), [""; 0]);
    assert_eq!(machine.outcomes("P[1]"), ["to c: "]);
}

#[test]
fn havoc_takes_every_value() {
    assert_eq!(
        first("shared x: 1..3 = 2;", "havoc x;"),
        ["to b: x = 1", "to b: ", "to b: x = 3"]
    );
    assert_eq!(
        first(
            "enum E { red, green } shared e: E = red; shared b: bool = false;",
            "havoc e, b;"
        ),
        [
            "to b: ",
            "to b: b = true",
            "to b: e = green",
            "to b: e = green, b = true"
        ]
    );
    // One after the other: the index is the new value.
    assert_eq!(
        first(
            "shared k: 0..1 = 0; shared f: array[0..1] of bool = true;",
            "havoc k, f[k]; assert f[k];"
        ),
        [
            "fail Assert in `assert f[k];`",
            "to b: ",
            "fail Assert in `assert f[k];`",
            "to b: k = 1"
        ]
    );
    let int = Machine::new("shared x: int = 0; process S { a: havoc x; }");
    assert!(matches!(int.raw("S"), Err(Limit::Infinite { .. })));
    let many = Machine::new("shared x: 0..9000000000 = 0; process S { a: havoc x; }");
    assert!(matches!(many.raw("S"), Err(Limit::TooManyOutcomes { .. })));
}

#[test]
fn havoc_of_ids() {
    let text = "shared p: P? = none; process P[i: 4..5] { a: havoc p; b: skip; }";
    assert_eq!(
        Machine::new(text).outcomes("P[4]"),
        ["to b: ", "to b: p = 4", "to b: p = 5"]
    );
}

#[test]
fn choose_takes_any_value() {
    assert_eq!(
        first(
            "shared x: 0..9 = 0;",
            "choose k in 1..4 { await k % 2 == 0; x := k; }"
        ),
        ["to b: x = 2", "to b: x = 4"]
    );
    assert_eq!(
        first("shared x: 0..9 = 0;", "choose k in 4..1 { x := k; }"),
        [""; 0]
    );
    assert_eq!(
        first(
            "shared x: 0..9 = 0;",
            "choose k in 1..2 { choose j in 1..2 { await j >= k; x := 3 * k + j; } }"
        )
        .len(),
        3,
    );
    let text = "shared q: P? = none; process P[i: 1..2] { a: choose j in P { await j != i; q := j; } b: skip; }";
    assert_eq!(Machine::new(text).outcomes("P[1]"), ["to b: q = 2"]);
}

#[test]
fn for_without_labels_is_one_step() {
    let shared = "shared x: 0..99 = 0; shared f: array[1..3] of 0..9 = 0;";
    assert_eq!(
        first(shared, "for k in 1..3 { f[k] := k; x := x + k; }"),
        ["to b: x = 6, f[1] = 1, f[2] = 2, f[3] = 3"]
    );
    assert_eq!(first(shared, "for k in 3..1 { x := 99 + k; }"), ["to b: "]);
    assert_eq!(
        first(shared, "for k in 1..9 { if k == 4 { break; } x := x + k; }"),
        ["to b: x = 6"]
    );
    assert_eq!(
        first(
            shared,
            "for k in 1..2 { for j in 1..2 { x := 2 * x + j; } }"
        ),
        ["to b: x = 20"]
    );
}

#[test]
fn for_with_labels_keeps_its_counter_in_the_state() {
    let text = "shared x: 0..99 = 0; process P[i: 1..2] { a: skip; for k in 2..4 { b: x := x + k; } c: skip; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.cell("P[1].k"), "2");
    machine.go("P[1]", 0);
    assert_eq!(machine.outcomes("P[1]"), ["to b: x = 2, P[1].k = 3"]);
    machine.go("P[1]", 0);
    machine.go("P[1]", 0);
    assert_eq!(machine.cell("P[1].k"), "4");
    assert_eq!(machine.cell("P[2].k"), "2");
    assert_eq!(
        machine.outcomes("P[1]"),
        ["to c: x = 9, P[1].k = 2"],
        "it is back at the lower bound"
    );
}

#[test]
fn a_loop_that_is_left_resets_its_counter() {
    let text = "shared w: 0..3 = 0;
        process S { begin: skip; for k in 1..3 { b: if k == 2 { if w == 0 { break; } else if w == 1 { goto e; } else if w == 2 { return; } else { goto b2; } } b2: skip; } c: goto begin; e: goto begin; }";
    for (w, expected) in [
        (0, "to c: S.k = 1"),
        (1, "to e: S.k = 1"),
        (2, "to done: S.k = 1"),
        (3, "to b2: "),
    ] {
        let mut machine = Machine::new(&text.replace("0..3 = 0", &format!("0..3 = {w}")));
        for _ in 0..3 {
            machine.go("S", 0);
        }
        assert_eq!(machine.cell("S.k"), "2");
        assert_eq!(machine.outcomes("S"), [expected]);
    }
}

#[test]
fn nested_loops_with_labels() {
    let text = "shared x: 0..999 = 0; process S { a: for j in 1..2 { for k in 1..2 { b: x := 10 * x + 3 * j + k; } } c: skip; }";
    let mut machine = Machine::new(text);
    let mut seen = Vec::new();
    while machine.outcomes("S") != [""; 0] {
        let outcome = machine.outcomes("S").remove(0);
        if outcome.starts_with("fail") {
            break;
        }
        machine.go("S", 0);
        seen.push(format!("{},{}", machine.cell("S.j"), machine.cell("S.k")));
    }
    // To b; then three rounds of b; the fourth leaves 9999 and fails.
    assert_eq!(seen, ["1,1", "1,2", "2,1", "2,2"]);
}

#[test]
fn a_labelled_loop_may_go_round_without_its_label() {
    let text = "shared x: 0..99 = 0; process S { a: for j in 1..3 { for k in 1..3 { if j == k + 1 || j == k { b: x := 10 * j + k; } } } c: skip; }";
    let mut machine = Machine::new(text);
    let mut seen = Vec::new();
    while machine.outcomes("S") != ["to done: "] {
        assert_eq!(machine.outcomes("S").len(), 1);
        machine.go("S", 0);
        seen.push(machine.cell("x"));
    }
    assert_eq!(seen, ["0", "11", "21", "22", "32", "33"]);
    assert_eq!(machine.cell("S.j"), "1");
    assert_eq!(machine.cell("S.k"), "1");
}

#[test]
fn a_loop_over_nothing_is_passed() {
    let text = "param N = 0; shared x: 0..9 = 0; process S { a: skip; for k in 1..N { b: x := k; } c: skip; }";
    assert_eq!(Machine::new(text).outcomes("S"), ["to c: "]);
    assert_eq!(Machine::new(text).cell("S.k"), "1");
    assert_eq!(Machine::with(text, &[("N", 2)]).outcomes("S"), ["to b: "]);
}

#[test]
fn a_labelled_loop_is_met_at_its_label_again() {
    let text = "shared x: 0..9 = 0; process S { a: while x < 2 { x := x + 1; } b: skip; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.outcomes("S"), ["to a: x = 1"]);
    machine.go("S", 0);
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), ["to b: "]);
    // The test belongs to the step that comes round if the label is inside.
    let text = "shared x: 0..9 = 0; process S { a: skip; while x < 2 { b: x := x + 1; } c: skip; }";
    let mut machine = Machine::new(text);
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), ["to b: x = 1"]);
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), ["to c: x = 2"]);
}

#[test]
fn break_leaves_the_innermost_loop() {
    let text = "shared x: 0..9 = 0; process S { loop { a: loop { b: x := x + 1; if x == 2 { break; } } if x == 2 { break; } } c: x := 7; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.outcomes("S"), ["to b: "]);
    machine.go("S", 0);
    // Round the inner loop control passes its label.
    assert_eq!(machine.outcomes("S"), ["to a: x = 1"]);
    machine.go("S", 0);
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), ["to c: x = 2"]);
}

#[test]
fn control_ends_at_done() {
    assert_eq!(
        Machine::new("process S { a: return; b: skip; }").outcomes("S"),
        ["to done: "]
    );
    assert_eq!(
        Machine::new("process S { a: skip; }").outcomes("S"),
        ["to done: "]
    );
    let mut machine = Machine::new("process S { a: goto c; b: skip; c: goto b; }");
    assert_eq!(machine.outcomes("S"), ["to c: "]);
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), ["to b: "]);
}

#[test]
fn primitives_are_what_they_abbreviate() {
    let shared = "shared x: 0..3 = 1; shared r: bool = false; shared o: 0..3 = 0;";
    assert_eq!(
        first(shared, "r := cas(x, 1, 3);"),
        ["to b: x = 3, r = true"]
    );
    assert_eq!(first(shared, "r := cas(x, 2, 3);"), ["to b: "]);
    assert_eq!(first(shared, "cas(x, 1, 2);"), ["to b: x = 2"]);
    assert_eq!(first(shared, "o := swap(x, 3);"), ["to b: x = 3, o = 1"]);
    assert_eq!(
        first(shared, "o := fetch_add(x, 2);"),
        ["to b: x = 3, o = 1"]
    );
    assert_eq!(
        first(shared, "o := fetch_add(x, 3);"),
        ["fail Range in `o := fetch_add(x, 3);`"]
    );
    // What would be written is evaluated only if it is.
    assert_eq!(first(shared, "r := cas(x, 2, 1 / o);"), ["to b: "]);
    assert_eq!(
        first(shared, "r := cas(x, 1, 1 / o);"),
        ["fail Division in `1 / o`"]
    );
    let shared = "shared f: array[1..2] of 1..2 = 1; shared k: 1..2 = 1;";
    assert_eq!(
        first(shared, "f[k] := swap(f[f[1]], 2);"),
        ["fail SameCell in `f[k] := swap(f[f[1]], 2);`"]
    );
    let shared = "shared f: array[1..2] of bool = true; shared k: 1..2 = 1;";
    assert_eq!(
        first(shared, "f[k] := cas(f[1], true, false);"),
        ["fail SameCell in `f[k] := cas(f[1], true, false);`"]
    );
    assert_eq!(
        first(shared, "f[k] := cas(f[1], false, true);"),
        ["to b: f[1] = false"],
        "only one write"
    );
}

#[test]
fn ids_go_round_a_ring() {
    let text =
        "shared p, q: P? = none; ring process P[i: 3..5] { a: p, q := next(i), prev(i); b: skip; }";
    let machine = Machine::new(text);
    assert_eq!(machine.outcomes("P[3]"), ["to b: p = 4, q = 5"]);
    assert_eq!(machine.outcomes("P[5]"), ["to b: p = 3, q = 4"]);
    let alone =
        "param N = 1; shared p: P? = none; ring process P[i: 1..N] { a: p := next(i); b: skip; }";
    assert_eq!(Machine::new(alone).outcomes("P[1]"), ["to b: p = 1"]);
}

#[test]
fn ordered_ids_are_integers_that_are_checked() {
    let text = "shared p: P = 2; shared n: int = 0; ordered process P[i: 2..4] { a: p := i + 1; b: n := 10 * i; c: skip; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.cell("p"), "2");
    assert_eq!(machine.outcomes("P[3]"), ["to b: p = 4"]);
    assert_eq!(machine.outcomes("P[4]"), ["fail Id in `i + 1`"]);
    machine.go("P[3]", 0);
    assert_eq!(machine.outcomes("P[3]"), ["to c: n = 30"]);
}

#[test]
fn for_over_the_ids_of_an_ordered_template() {
    let text = "shared n: 0..99 = 0; ordered process P[i: 2..4] { a: for j in P { if j != i { n := n + j; } } b: skip; for j in P { c: skip; } d: skip; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.outcomes("P[3]"), ["to b: n = 6"]);
    machine.go("P[3]", 0);
    machine.go("P[3]", 0);
    assert_eq!(machine.outcomes("P[3]"), ["to c: P[3].j = 3"]);
    machine.go("P[3]", 0);
    machine.go("P[3]", 0);
    assert_eq!(machine.outcomes("P[3]"), ["to d: P[3].j = 2"]);
}

#[test]
fn none_is_no_id() {
    let text = "shared p: P? = none; shared f: array[P] of bool = false; process P[i: 1..2] { a: f[p] := true; b: skip; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.outcomes("P[1]"), ["fail Id in `p`"]);
    machine.state.shared[0] = 1;
    assert_eq!(machine.outcomes("P[1]"), ["to b: f[2] = true"]);
}

#[test]
fn processes_are_started() {
    let text = "shared n: 0..9 = 0;
        process Child[] { local k: 1..2 = any; local z: bool = true; work: n := n + k; }
        process Main { a: start Child; b: start Child; start Child; c: skip; }
        invariant few: (count c in Child: true) <= 2;";
    let mut machine = Machine::new(text);
    assert_eq!(
        machine.outcomes("Main"),
        [
            "to b: Child[1].k = 1, Child[1].z = true, start Child[1] at work",
            "to b: Child[1].k = 2, Child[1].z = true, start Child[1] at work"
        ]
    );
    machine.go("Main", 1);
    assert_eq!(machine.judge("few"), Judgement::True);
    assert_eq!(machine.outcomes("Child[1]"), ["to done: n = 2"]);
    assert_eq!(machine.outcomes("Main").len(), 4);
    machine.go("Main", 3);
    assert_eq!(machine.judge("few"), Judgement::False);
    assert_eq!(machine.cell("Child[3].k"), "2");
}

#[test]
fn values_any_at_the_start() {
    let text = "param N = 2; shared x: bool = any; shared y: 1..2 = 1; process P[i: 1..N] { local k: 0..2 = any; local own: P = i; a: skip; }";
    let instance = instance(text, &[]).unwrap();
    let interpreter = Interpreter::new(&instance);
    let states: Vec<State> = interpreter.initial_states().unwrap().collect();
    assert_eq!(states.len(), 2 * 3 * 3);
    assert_eq!(interpreter.initial_states().unwrap().total(), Some(18));
    assert_eq!(states.iter().collect::<BTreeSet<_>>().len(), states.len());
    assert!(states.iter().all(|state| interpreter.is_initial(state)));
    let mut other = states[0].clone();
    other.shared[1] = 2;
    assert!(!interpreter.is_initial(&other));
    assert_eq!(states[0].templates.last().unwrap().cells, [0, 0, 0, 1]);
}

#[test]
fn initial_states_are_lazy() {
    let text = "shared f: array[1..1000] of 0..9 = any; process S { a: skip; }";
    let instance = instance(text, &[]).unwrap();
    let states = Interpreter::new(&instance).initial_states().unwrap();
    assert_eq!(states.total(), None);
    assert_eq!(states.take(3).count(), 3);
    let text = "shared x: int = any; process S { a: skip; }";
    let instance = crate::machine::instance(text, &[]).unwrap();
    assert!(matches!(
        Interpreter::new(&instance).initial_states(),
        Err(Limit::Infinite { .. })
    ));
}

#[test]
fn properties_see_every_process() {
    let text = "shared x: 0..9 = 3; process P[i: 1..2] { local f: array[1..2] of 0..9 = 5; a: f[1] := 7; b: skip; } process S { local v: bool = true; s: skip; }
        invariant at: P[1] at {a, b} && P[2] at a && S at s && S.v;
        invariant remote: forall i in P: P[i].f[1] == 5;
        invariant fails: P[1].f[x] == 5;
        invariant spared: x > 2 || P[1].f[x] == 5;";
    let mut machine = Machine::new(text);
    assert_eq!(machine.judge("at"), Judgement::True);
    assert_eq!(machine.judge("remote"), Judgement::True);
    assert!(matches!(machine.judge("fails"), Judgement::Fails(_)));
    assert!(!machine.judge("fails").holds());
    assert_eq!(machine.judge("spared"), Judgement::True);
    machine.go("P[2]", 0);
    assert_eq!(machine.judge("at"), Judgement::False);
    assert_eq!(machine.judge("remote"), Judgement::False);
}

#[test]
fn definitions_evaluate_their_arguments_first() {
    let text = "shared x: 0..9 = 0; def twice(a: int) = a + a; def ignore(a: int) = true; process S { a: x := twice(twice(1) + 1); b: assert ignore(1 / (x - 6)); c: skip; }";
    let mut machine = Machine::new(text);
    assert_eq!(machine.outcomes("S"), ["to b: x = 6"]);
    machine.go("S", 0);
    assert_eq!(machine.outcomes("S"), ["fail Division in `1 / (x - 6)`"]);
}

#[test]
fn macros_stand_for_their_arguments_by_name() {
    let text = "shared x, y: 0..9 = 1; macro inc(v, n) { v := v + n; v := v + n; } process S { a: inc(x, x); inc(y, 1); b: skip; }";
    assert_eq!(Machine::new(text).outcomes("S"), ["to b: x = 4, y = 3"]);
}

#[test]
fn arrays_are_laid_out_by_row_and_named_by_index() {
    let text = "enum E { red, green } shared m: array[E] of array[2..4] of 0..9 = 0; process S { a: m[green][3] := 8; m[red][2] := 1; b: skip; }";
    assert_eq!(
        Machine::new(text).outcomes("S"),
        ["to b: m[red][2] = 1, m[green][3] = 8"]
    );
}

#[test]
fn a_step_that_takes_too_long_is_a_limit() {
    let text = "shared x: int = 0; process S { a: x := sum i in 1..2000: sum j in 1..2000: sum k in 1..2000: 1; }";
    assert!(matches!(
        Machine::new(text).raw("S"),
        Err(Limit::TooMuchWork { .. })
    ));
}

#[test]
fn enabled_and_taken() {
    let text = "shared x: bool = false; process P[i: 1..2] { a: stay; b: await x; c: skip; }
        fairness one: weak enabled(P[1], a);
        fairness two: weak enabled(P[1], b);
        fairness three: weak taken(P[1], a);
        liveness all under one, two, three: F x;";
    let mut machine = Machine::new(text);
    let values = |machine: &Machine, last| {
        let interpreter = Interpreter::new(&machine.instance);
        let terms = machine
            .instance
            .program()
            .fairness
            .iter()
            .flat_map(|f| f.alternatives.iter().flatten());
        terms
            .map(|term| match term {
                FairnessTerm::Weak(_, predicate) => interpreter
                    .judge_after(&machine.state, last, predicate, &[])
                    .unwrap()
                    .holds(),
                _ => panic!("all are weak"),
            })
            .collect::<Vec<bool>>()
    };
    assert_eq!(values(&machine, None), [true, false, false]);
    let process = machine.state.processes().next().unwrap();
    let from = machine.state.location(process);
    machine.go("P[1]", 1);
    assert_eq!(
        values(&machine, Some((process, from))),
        [false, false, true]
    );
    machine.state.shared[0] = 1;
    assert_eq!(values(&machine, None), [false, true, false]);
}
