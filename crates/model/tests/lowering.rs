//! The plain and the optimised lowering have exactly the interpreter's transitions, and claimed symmetries
//! map programs onto themselves: every model of the library at small N, and texts that each single out one thing.

use std::path::PathBuf;

use threadwise_lang::diagnostics::Code;
use threadwise_model::eval::{self, Context};
use threadwise_model::lower::lower;
use threadwise_model::system::{Expr, SystemPropertyKind};
use threadwise_model::temporal::{FairnessKind, Formula};
use threadwise_testgen::agree::Findings;
use threadwise_testgen::{agree, instance, symmetry};

/// Room for each dynamic template.
const CAPACITY: u32 = 3;

fn library() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut models: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the model library is there")
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "tw"))
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a file has a name")
                .to_string_lossy()
                .into_owned();
            let text = std::fs::read_to_string(&path).expect("a model can be read");
            (name, text)
        })
        .collect();
    models.sort();
    models
}

#[test]
fn library_models_agree() {
    let models = library();
    assert!(models.len() >= 25, "only {} models found", models.len());
    for (name, text) in models {
        for n in 2..=3 {
            let parametric = text.contains("param N");
            let params: &[(&str, i64)] = if parametric { &[("N", n)] } else { &[] };
            let instance = match instance(&text, params) {
                Ok(instance) => instance,
                // Some models begin at three.
                Err(error) if error.starts_with("E0503") => continue,
                Err(error) => panic!("{name} at N={n}: {error}"),
            };
            let findings = agree::compare(&instance, CAPACITY, 20_000)
                .unwrap_or_else(|e| panic!("{name} at N={n}: {e}"));
            assert_eq!(findings.limits, 0, "{name} at N={n}");
            let system = lower(&instance, CAPACITY).expect("it was lowered before");
            symmetry::check(&system, 1_000).unwrap_or_else(|e| panic!("{name} at N={n}: {e}"));
        }
    }
}

/// Compares all forms of a text, in all its states.
fn agree(text: &str) -> Findings {
    let instance = instance(text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let findings =
        agree::compare(&instance, CAPACITY, 50_000).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let system = lower(&instance, CAPACITY).expect("it was lowered before");
    symmetry::check(&system, 500).unwrap_or_else(|e| panic!("{text}\n{e}"));
    findings
}

#[test]
fn reads_see_earlier_writes_of_the_step() {
    let findings = agree(
        "shared a: array[0..2] of 0..9 = any; shared x, y: 0..2 = any; shared out: 0..9 = 0;
         process P { begin: atomic { a[x] := 7; a[y] := a[x] + 1; a[x], a[0] := a[y], 3; out := a[x]; } }
         invariant seen: P at done -> out >= 3;",
    );
    // In states with x == 0 the last assignment names one cell twice.
    assert!(findings.failures && !findings.invariants);
}

#[test]
fn a_later_write_to_the_same_cell_counts() {
    let findings = agree(
        "shared a: array[0..2] of 0..3 = 0; shared x, y: 0..2 = any;
         process P { begin: atomic { a[x] := 1; a[y] := 2; a[x] := 3; } }
         invariant last: P at done -> a[x] == 3 && (x != y -> a[y] == 2);",
    );
    assert!(!findings.violated());
}

#[test]
fn arrays_of_two_dimensions() {
    let findings = agree(
        "enum E { u, v, w } shared a: array[1..2] of array[E] of 0..3 = 0; shared k: 1..3 = any; shared e: E = any;
         process P { begin: atomic { a[k][e] := a[k][v] + 1; a[1][e] := a[k][e] + a[2][u]; } }
         invariant some: P at done -> a[1][u] + a[1][v] > 0;",
    );
    assert!(findings.failures, "k == 3 is no index");
}

#[test]
fn checks_follow_short_circuits() {
    let findings = agree(
        "shared a: array[0..1] of 0..1 = 0; shared x: 0..3 = any; shared b: bool = any; shared c: bool = false;
         process P {
             l1: c := x < 2 && a[x] == 0;
             l2: c := x >= 2 || a[x] == 0;
             l3: c := x < 2 -> a[x] == 0 && (b -> 4 / (x + 1) > 1);
             l4: c := b && x < 2 && a[x] == 0 || !b && (x >= 2 || 6 / x > 2);
             l5: if b || a[x] == 0 { c := true; } else if a[x - 1] == 0 { c := false; }
         }",
    );
    assert!(findings.failures);
}

#[test]
fn the_first_check_that_fails_under_a_quantifier_is_the_failure() {
    // For some values of x the index fails first, for others the division; the values of k decide.
    let findings = agree(
        "shared a: array[0..2] of 0..1 = any; shared x: 0..4 = any; shared c: bool = false; shared n: 0..99 = 0;
         process P {
             l1: c := forall k in 0..2: a[x - k] == 0 && 6 / (x - 3 + k) < 9;
             l2: c := exists k in 0..2: 6 / (x - k) < 9 && (forall j in 0..1: a[k + j] <= 6 / (j + x - 2));
             l3: n := sum k in 0..2: a[k] / (x - k) + a[x - k];
             l4: n := max k in 1..0: k;
         }
         invariant fine: forall k in 0..2: a[k] / (x - 4) <= a[x];",
    );
    assert!(findings.failures && findings.invariants);
}

#[test]
fn a_quantifier_goes_on_when_its_value_is_clear() {
    for body in [
        "exists k in 0..2: 6 / (1 - k) > 0",
        "forall k in 0..2: 6 / (1 - k) < 0",
        "(count k in 0..2: 6 / (1 - k) > 0) > 0",
    ] {
        let findings = agree(&format!(
            "shared c: bool = false; process P {{ l1: c := {body}; }} invariant same: {body};"
        ));
        assert!(findings.failures && findings.invariants, "{body}");
    }
}

/// A random truth value, of parts that may fail. `bound` is how many variables are bound.
fn predicate(next: &mut dyn FnMut(usize) -> usize, depth: usize, bound: usize) -> String {
    let number = |next: &mut dyn FnMut(usize) -> usize| match next(3 + bound) {
        0 => "x".to_owned(),
        1 => "x - 2".to_owned(),
        2 => "y".to_owned(),
        at => format!("k{}", at - 3),
    };
    if depth == 0 || next(6) == 0 {
        let number = number(next);
        return match next(4) {
            0 => "b".to_owned(),
            1 => format!("{number} > 1"),
            2 => format!("a[{number}] == 1"),
            _ => format!("4 / ({number}) > 1"),
        };
    }
    let many = 2 + next(4);
    let mut parts = |word: &str| {
        let parts: Vec<String> = (0..many)
            .map(|_| predicate(next, depth - 1, bound))
            .collect();
        format!("({})", parts.join(word))
    };
    match many + depth + bound {
        sum if sum % 4 == 0 => parts(" && "),
        sum if sum % 4 == 1 => parts(" || "),
        sum if sum % 4 == 2 && bound < 2 => {
            let word = ["exists", "forall"][next(2)];
            let body = predicate(next, depth - 1, bound + 1);
            format!("({word} k{bound} in 0..2: {body})")
        }
        _ => {
            let (first, second) = (parts(" || "), predicate(next, depth - 1, bound));
            format!("!({first} -> {second})")
        }
    }
}

#[test]
fn invariants_fail_where_the_interpreter_says_so() {
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let (mut kept, mut violated) = (0, 0);
    for _ in 0..40 {
        let mut text = "shared a: array[0..2] of 0..1 = any; shared x: 0..4 = any; shared y: 0..1 = any; shared b: bool = any; process P { l1: skip; }\n".to_owned();
        for at in 0..10 {
            let predicate = predicate(&mut next, 4, 0);
            text += &format!("invariant i{at}: {predicate};\n");
        }
        agree(&text);
        let instance = instance(&text, &[]).expect("no errors");
        let system = lower(&instance, CAPACITY).expect("it is small");
        for state in eval::initial_states(&system).expect("small numbers") {
            let context = Context::of_state(&system, &state);
            for property in &system.properties {
                if let SystemPropertyKind::Invariant(total) = &property.kind {
                    match context.holds(total).expect("small numbers") {
                        true => kept += 1,
                        false => violated += 1,
                    }
                }
            }
        }
    }
    assert!(
        kept >= 5_000 && violated >= 20_000,
        "{kept} hold, {violated} do not"
    );
}

/// What may fail in a long disjunction does not make it grow with the square of its length.
#[test]
fn long_properties_stay_small() {
    let size = |parts: usize| {
        let parts: Vec<String> = (0..parts)
            .map(|at| format!("a[x + {at} - {at}] == {}", at % 9))
            .collect();
        let text = format!(
            "shared a: array[0..2] of 0..9 = 0; shared x: 0..4 = 0; process P {{ l1: skip; }}
             invariant all: forall k in 0..1: k == 7 || {};",
            parts.join(" || ")
        );
        let instance = instance(&text, &[]).expect("no errors");
        let system = lower(&instance, CAPACITY).expect("it is small");
        format!("{:?}", system.properties.last().expect("one").kind).len()
    };
    let (short, long) = (size(20), size(200));
    assert!(long < 20 * short, "{short} and {long}");
}

#[test]
fn division_rounds_towards_zero() {
    let findings = agree(
        "shared x, y: -3..3 = any; shared q, r: -9..9 = 0;
         process P { l1: if y != 0 { q := x / y; r := x % y; } else { goto l2; } l2: skip; }
         invariant together: P at l2 && y != 0 -> q * y + r == x;
         invariant sign: x < 0 || r >= 0;",
    );
    assert!(!findings.violated());
}

#[test]
fn counters_of_labelled_loops() {
    let findings = agree(
        "enum E { u, v } shared s: 0..9 = 0; shared b: bool = any;
         ordered process P[i: 1..2] {
             again: skip;
             for k in 0..2 {
                 l1: s := (s + k) % 5;
                 if s == 4 { break; }
                 for e in E { l2: if e == v && b { goto out; } if s == 1 { return; } }
                 l3: havoc b;
                 if b { goto l2; }
             }
             out: for j in P { l4: s := (s + j + i) % 5; }
             for z in 3..2 { l5: skip; }
             if s == 2 { goto again; }
         }",
    );
    assert!(!findings.failures && findings.states > 200, "{findings:?}");
}

#[test]
fn rounds_of_labelled_loops_that_pass_no_label() {
    let findings = agree(
        "shared x: 0..3 = 0; process P { a: for k in 1..3 { if x < 2 { b: havoc x; } } c: goto a; }",
    );
    assert!(findings.states > 10);
    agree(
        "shared x: 0..99 = 0; process P { a: for j in 1..3 { for k in -1..3 { if j == k + 1 || j == k { b: x := 10 * j + k; } } } c: skip; }",
    );
    agree(
        "shared x: 0..2 = 0;
        process P[i: 1..2] { begin: skip; for k in 1..4 {
            if x == 0 { b: havoc x; } else if x == 1 { if k == 3 { break; } } else { for l in 0..1 { if l == 1 { c: x := k % 3; } } }
        } d: goto begin; e: goto c; }",
    );
    agree(
        "param N = 2; process P { a: for k in 3..N { b: for l in 1..N { if l == 2 { c: skip; } } } d: goto b; }",
    );
}

#[test]
fn loops_without_labels() {
    let findings = agree(
        "shared a: array[0..3] of 0..3 = 0; shared x: 0..3 = any; shared n: 0..20 = 0;
         process P {
             l1: atomic { for k in 0..3 { if k == x { break; } a[k] := k; for j in 0..1 { n := n + a[k] * j; } } }
             l2: atomic { for k in 2..1 { n := 0; } for k in 1..2 { for j in 1..2 { n := n + j; } } }
         }",
    );
    assert!(!findings.failures);
}

#[test]
fn while_and_loop_come_back_to_their_label() {
    let findings = agree(
        "shared x: 0..5 = 0;
         process P { l1: while x < 3 { x := x + 1; } l2: loop { x := (x + 1) % 6; if x == 2 { break; } } l3: skip; }
         invariant small: x <= 5;",
    );
    assert!(!findings.violated());
    assert_eq!(findings.states, 11);
}

#[test]
fn primitives() {
    let findings = agree(
        "shared x: 0..3 = 0; shared a: array[P] of 0..2 = 0; shared last: P? = none;
         process P[i: 1..2] {
             local old: 0..2 = 0; local done_it: bool = false; local before: P? = none;
             l1: done_it := cas(x, 0, 2);
             l2: old := swap(x, 3);
             l3: old := fetch_add(a[i], 1);
             l4: before := swap(last, i);
             l5: cas(x, 3, 0); swap(x, 1); fetch_add(x, -1);
             l6: done_it := cas(x, 6 / x, x + 3);
         }",
    );
    assert!(findings.failures, "old is too small for 3");
}

#[test]
fn a_cell_twice_in_one_assignment() {
    let findings = agree(
        "shared a: array[0..1] of 0..1 = 0; shared b: array[0..1] of bool = false; shared x, y: 0..1 = any;
         process P {
             l1: a[x], a[y] := 1, 0;
             l2: b[x] := swap(b[y], true);
             l3: a[x], x, a[1 - y] := 1, 0, x + 5;
         }",
    );
    assert!(findings.failures);
}

#[test]
fn mutexes() {
    let findings = agree(
        "shared m: array[0..1] of mutex; shared n: mutex; shared x: 0..2 = any;
         process P[i: 1..2] { l1: lock m[x]; l2: unlock m[0]; l3: if locked(n) { l4: unlock n; } else { l5: lock n; } }
         process Q { q1: lock n; q2: await !locked(m[1]); unlock n; }
         deadlock_free;",
    );
    assert!(findings.failures && findings.deadlocks);
}

#[test]
fn blocking_inside_branches() {
    let findings = agree(
        "shared x: 0..3 = any; shared a: array[1..3] of bool = any;
         process P[i: 1..2] {
             l1: if x > 0 { await a[1]; x := x - 1; } else { await a[2]; }
             l2: choose { await x == 0; x := 3; } or { await x == 1; } or { await false; }
             l3: choose k in 1..3 { await a[k]; a[k] := false; x := k; }
             l4: for k in 1..3 { await a[k] || x < k; }
             l5: choose k in 2..1 { x := 0; }
         }
         deadlock_free;",
    );
    assert!(findings.deadlocks);
}

#[test]
fn a_failing_check_on_a_path_that_leads_nowhere_counts() {
    let findings = agree(
        "shared a: array[1..2] of bool = true; shared x: 0..3 = any;
         process P { l1: await a[x] && false; l2: skip; }",
    );
    assert!(findings.failures);
    let findings = agree(
        "shared x: 0..3 = any;
         process P { l1: assert x != 1; choose k in 2..1 { x := 0; } l2: skip; }",
    );
    assert!(findings.failures);
}

#[test]
fn resting() {
    let findings = agree(
        "shared x: 0..2 = 0;
         process P[i: 1..2] { loop { l1: stay; await x < 2; x := x + 1; l2: stay; l3: if x == 2 { x := 0; } } }
         deadlock_free;",
    );
    // With x == 2 a process at l1 can only rest, but one at l3 or l2 goes on.
    assert!(!findings.failures);
    let findings = agree("process P[i: 1..2] { l1: stay; await false; l2: skip; } deadlock_free;");
    assert!(findings.deadlocks, "resting is no step");
}

#[test]
fn ids_of_all_kinds() {
    let findings = agree(
        "shared turn: P? = none; shared who: P = any; shared n: 0..9 = 0; shared a: array[0..3] of 0..1 = 0;
         ordered process P[i: 2..4] {
             local v: 0..9 = i;
             l1: turn := i; n := i + 1; a[i - 2] := 1;
             l2: who := n - 1;
             l3: if turn != none { who := turn; } turn := none;
             l4: who := turn;
         }
         ring process R[r: 1..3] {
             local to: R = next(r);
             r1: to := next(to);
             r2: await to == prev(prev(r)) || to == r; to := r;
         }
         invariant four: P[4] at {l1, l2} || n > 0;
         invariant five: P[5 - R[2].to] at l1 || n >= 0;",
    );
    assert!(findings.failures);
}

#[test]
fn processes_that_are_started() {
    let findings = agree(
        "shared n: 0..6 = 0; shared m: mutex;
         process Main { l1: while n < 2 { start Child; n := n + 1; } l2: atomic { start Child; start Other; } l3: skip; }
         process Child[] {
             local v: 0..2 = any; local w: bool = false;
             c1: lock m; w := true;
             c2: unlock m;
             c3: if v == 0 { n := (n + 1) % 7; }
         }
         process Other[] { local z: bool = any; o1: z := !z; o2: start Other; }
         invariant few: (count c in Child: Child[c].w) <= 2;
         invariant all: forall c in Child: Child[c] at {c2, c3, done} -> Child[c].w;
         invariant large: (max c in Child: Child[c].v) <= 2;
         invariant some: (exists c in Child: Child[c] at c2) -> locked(m);
         invariant sums: (sum c in Child: Child[c].v) <= 6;",
    );
    assert!(findings.full > 0 && findings.invariants, "{findings:?}");
}

#[test]
fn definitions_see_the_state_of_the_step() {
    let findings = agree(
        "shared x: 0..9 = any; shared a: array[0..2] of 0..9 = 1;
         def twice(v: int) = v + v; def cell(v: int) = a[v]; def both(p: bool, q: int) = p && cell(q) < x;
         process P { l1: atomic { x := twice(twice(cell(2))); a[1] := twice(x); x := cell(1) - cell(0); } l2: assert both(x < 9, x % 3); }",
    );
    assert!(findings.states > 10);
}

#[test]
fn havoc_is_one_place_after_the_other() {
    let findings = agree(
        "shared x: 0..2 = 0; shared a: array[0..1] of bool = false; shared p: P? = none; enum E { u, v, w } shared e: E = u;
         process P[i: 1..2] { l1: havoc x, a[x]; l2: havoc p, e; }",
    );
    assert!(findings.failures, "x == 2 is no index");
}

#[test]
fn beyond_64_bits_nothing_is_claimed() {
    let findings = agree(
        "shared n: int = 4611686018427387904; shared b: bool = any;
         process P { l1: if b { n := n + n; } else { n := n - 1; } l2: n := n * 2; }",
    );
    assert!(findings.limits > 0 && !findings.violated());
}

#[test]
fn sets_may_be_empty() {
    let findings = agree(
        "param N = 0; shared a: array[P] of bool = false; shared x: 0..1 = 0;
         process P[i: 1..N] { l1: a[i] := true; }
         process Q { q1: if forall p in P: a[p] { x := 1; } q2: x := min p in P: 1; }
         invariant none_there: (exists p in P: P[p] at l1) || x <= 1;",
    );
    assert!(findings.failures);
}

fn refusal(text: &str) -> Vec<Code> {
    let instance = instance(text, &[]).unwrap_or_else(|e| panic!("{e}"));
    match lower(&instance, CAPACITY) {
        Ok(_) => panic!("this should have been refused"),
        Err(errors) => {
            assert!(
                errors.iter().all(|d| d.help.is_some()),
                "every refusal says what to do"
            );
            errors.iter().map(|d| d.code).collect()
        }
    }
}

#[test]
fn too_many_paths_are_refused() {
    let branches = "choose { skip; } or { x := !x; } ".repeat(40);
    let text = format!("shared x: bool = false; process P {{ l1: {branches} l2: {branches} }}");
    assert_eq!(refusal(&text), [Code::TooManyPaths, Code::TooManyPaths]);
}

#[test]
fn values_that_double_with_each_assignment_are_refused() {
    let doubling = "n := n + n; ".repeat(60);
    let text = format!("shared n: int = 0; process P {{ l1: atomic {{ {doubling} }} }}");
    assert_eq!(refusal(&text), [Code::ExpansionTooLarge]);
}

#[test]
fn definitions_that_double_are_refused() {
    let mut text = "shared x: int = 0; def d0(a: int) = a + x;\n".to_owned();
    for k in 1..60 {
        text.push_str(&format!(
            "def d{k}(a: int) = d{0}(a) + d{0}(a + 1);\n",
            k - 1
        ));
    }
    text.push_str("process P { l1: x := d59(1); }\ninvariant i: d59(2) >= 0;");
    assert_eq!(
        refusal(&text),
        [Code::ExpansionTooLarge, Code::ExpansionTooLarge]
    );
}

#[test]
fn values_that_nest_deeply_are_refused() {
    let nesting = "n := 1 - n; ".repeat(2_000);
    let text = format!("shared n: int = 0; process P {{ l1: atomic {{ {nesting} }} }}");
    assert_eq!(refusal(&text), [Code::ExpansionTooLarge]);
}

#[test]
fn long_loops_without_labels_are_refused() {
    let text = "shared x: 0..1 = 0;
        process P { l1: atomic { for i in 1..100000 { for j in 1..100000 { x := 1 - x; } } } }";
    assert_eq!(refusal(text), [Code::ExpansionTooLarge]);
}

#[test]
fn a_counting_loop_stays_small() {
    let text = "shared x: int = 0; process P { l1: atomic { for i in 1..2000 { x := x + 1; } } }
        invariant all: P at done -> x == 2000;";
    assert!(!agree(text).violated());
}

#[test]
fn any_integer_is_refused() {
    assert_eq!(
        refusal("shared x: int = 0; process P { l1: havoc x; }"),
        [Code::TypeNotAllowed]
    );
}

/// What fails while fairness is evaluated does not hold, and what fails in the formula violates the property.
#[test]
fn failing_predicates_of_liveness() {
    let text = "
        shared x: 0..2 = any;
        process S { a: skip; }
        fairness f: weak 1 / x <= 1, strong if !(1 / x > 5) then x == 1;
        liveness plain under f: F (x == 1);
        liveness own: F (1 / x == 1);
    ";
    let instance = instance(text, &[]).expect("no errors");
    let system = lower(&instance, CAPACITY).expect("it is small");
    let liveness = |name: &str| {
        let found = system.properties.iter().find(|p| p.name == name);
        match found.map(|property| &property.kind) {
            Some(SystemPropertyKind::Liveness(liveness)) => liveness,
            other => panic!("{other:?}"),
        }
    };
    let plain = liveness("plain");
    assert!(!matches!(plain.formula, Formula::And(_)), "{plain:?}");
    let values: Vec<Vec<bool>> = eval::initial_states(&system)
        .expect("small numbers")
        .map(|state| {
            let context = Context::of_state(&system, &state);
            let mut values = Vec::new();
            for term in &plain.fairness[0] {
                let holds = |e: &Expr| context.holds(e).expect("small numbers");
                match &term.kind {
                    FairnessKind::Scheduled(_) => {}
                    FairnessKind::Weak(e) => values.push(holds(e)),
                    FairnessKind::Strong(p, q) => values.extend([holds(p), holds(q)]),
                }
            }
            values
        })
        .collect();
    let (yes, no) = (true, false);
    assert_eq!(values, [[no, no, no], [yes, yes, yes], [yes, yes, no]]);
    // F .. and G defined.
    assert!(matches!(&liveness("own").formula, Formula::And(parts) if parts.len() == 2));
}
