//! Which parameter values make an instance, and what is wrong with the others.

use crate::machine::instance;

fn errors(text: &str, values: &[(&str, i64)]) -> Vec<String> {
    instance(text, values).err().unwrap_or_default()
}

const N: &str = "param N where N >= 2; process P[i: 1..N] { a: skip; }";

#[test]
fn parameters_need_values_that_where_allows() {
    assert_eq!(errors(N, &[]), ["E0501 the parameter `N` has no value"]);
    assert_eq!(
        errors(N, &[("N", 1)]),
        ["E0503 `where` does not hold with N = 1"]
    );
    assert_eq!(
        errors(N, &[("N", 2), ("M", 3)]),
        ["E0502 the model has no parameter `M`"]
    );
    assert!(errors(N, &[("N", 2)]).is_empty());
    let two =
        "param N = 2; param M = N * N where N < M; shared x: 0..M = M; process S { a: x := 0; }";
    assert!(errors(two, &[]).is_empty());
    assert_eq!(
        errors(two, &[("N", 1)]),
        ["E0503 `where` does not hold with N = 1, M = 1"]
    );
}

#[test]
fn types_have_values_and_initial_values_lie_in_them() {
    let text = "param N = 1; shared x: 1..N = 1; shared y: 0..5 = N; process S { a: x := 1; }";
    assert_eq!(
        errors(text, &[("N", 0)]),
        ["E0504 the type of `x` has no values with N = 0"]
    );
    assert_eq!(
        errors(text, &[("N", 6)]),
        ["E0505 `y` begins outside its type with N = 6"]
    );
    let ids = "param N = 1; shared x: P = any; process P[i: 1..N] { a: x := i; }";
    assert_eq!(
        errors(ids, &[("N", 0)]),
        ["E0504 the type of `x` has no values with N = 0"]
    );
    let local = "param N = 3; ordered process P[i: 1..N] { local k: 0..2 = i; a: k := 0; }";
    assert_eq!(
        errors(local, &[]),
        ["E0505 `P[3].k` begins outside its type with N = 3"]
    );
    assert!(errors(local, &[("N", 2)]).is_empty());
    // Where there is no process there is no variable to have an empty type.
    assert!(
        errors(
            "param N = 0; process P[i: 1..N] { local p: P = any; a: p := i; }",
            &[]
        )
        .is_empty()
    );
}

#[test]
fn constants_that_fail() {
    let text = "param N = 1; shared x: 0..10 / N = 0; process S { a: x := 0; }";
    assert_eq!(
        errors(text, &[("N", 0)]),
        ["E0507 a bound in the type of `x` divides by zero with N = 0"]
    );
    let text = "param N = 1; shared x: 0..N * N = 0; process S { a: x := 0; }";
    assert_eq!(
        errors(text, &[("N", i64::MAX)]),
        [format!(
            "E0507 a bound in the type of `x` leaves 64 bits with N = {}",
            i64::MAX
        )]
    );
    let text = "param N = 1; shared x: 0..9 = 0; process S { a: for k in 1..9 / N { x := k; } }";
    assert_eq!(
        errors(text, &[("N", 0)]),
        ["E0507 a bound divides by zero with N = 0"]
    );
}

#[test]
fn hostile_sizes_are_refused_at_once() {
    // What is not refused at once would take for ever, or all memory there is.
    let million = errors(N, &[("N", 1_000_000)]);
    assert_eq!(
        million,
        ["E0506 the instance has 1000000 processes with N = 1000000; an instance can have 100000"]
    );
    assert!(errors(N, &[("N", i64::MAX)])[0].starts_with("E0506"));
    let text = "param N = 1; shared f: array[0..N] of array[0..N] of bool = false; process S { a: f[0][0] := true; }";
    assert!(errors(text, &[("N", i64::MAX)])[0].starts_with("E0506"));
    assert!(errors(text, &[("N", 100_000)])[0].starts_with("E0506"));
    let text =
        "param N = 1; process P[i: 1..N] { local f: array[P] of bool = false; a: f[i] := true; }";
    assert!(errors(text, &[("N", 3_000)])[0].starts_with("E0506"));
    let text = "param N = 1; process S { a: assert forall k in 1..N: true; }";
    assert!(errors(text, &[("N", i64::MAX)])[0].starts_with("E0506"));
    let wide = "shared x: -9223372036854775807..9223372036854775807 = 0; process S { a: x := 0; }";
    assert!(errors(wide, &[]).is_empty());
}

#[test]
fn a_hundred_thousand_processes_are_fine() {
    let instance = instance(N, &[("N", 100_000)]).unwrap();
    let interpreter = threadwise_model::interpreter::Interpreter::new(&instance);
    let state = interpreter.initial_states().unwrap().next().unwrap();
    let process = threadwise_model::names::Names::new(&instance)
        .parse_process("P[99999]", &state)
        .unwrap();
    assert_eq!(interpreter.outcomes(&state, process).unwrap().len(), 1);
}
