//! Loops over all processes: which of them the front end and the validator allow where ids have no order.

use threadwise_lang::diagnostics::Code;
use threadwise_lang::program::{IdOrder, Program};
use threadwise_lang::validate::{Rule, validate};

/// Bodies of loops `for j in P` in which rounds do not influence one another.
const INDEPENDENT: &[&str] = &[
    "a[j] := true;",
    "skip; assert b[i] || (exists k in P: b[k]);",
    "a[j], b[j] := b[j], a[j];",
    "if a[j] && b[j] { a[j] := false; } else if !b[j] { b[j] := j == i; } else { x[j] := min(x[j] + 1, 3); }",
    "m[i][j] := m[i][j] || b[i];",
    "m[j][i] := !m[j][j];",
    "own[j] := x[j] + (count k in P: b[k]);",
    "t[own[j]][j] := x[i]; own[j] := t[0][j] % 2;",
    "for k in P { m[j][k] := b[k]; }",
    "for k in 0..1 { t[k][j] := own[j]; own[j] := t[k][j] % 2; }",
    "a[j] := alone(j) || others(j);",
    "x[j] := twice(x[j]);",
    "set(a[j], b[j]);",
    "atomic { a[j] := !a[j]; }",
];

/// Bodies in which they may, and what the message says.
const DEPENDENT: &[(&str, &str)] = &[
    ("y := 1;", "write the same cell of `y`"),
    ("a[i] := true;", "write the same cell of `a`"),
    ("a[j] := true; a[i] := false;", "write the same cell of `a`"),
    ("own[last] := 0;", "write the same cell of `own`"),
    (
        "m[i][j], m[j][i] := true, false;",
        "write the same cell of `m`",
    ),
    (
        "for k in P { m[i][k] := true; }",
        "write the same cell of `m`",
    ),
    ("for k in 0..1 { y := k; }", "write the same cell of `y`"),
    ("a[j] := !a[i];", "reads what another one writes to `a`"),
    (
        "if a[i] { a[j] := false; }",
        "reads what another one writes to `a`",
    ),
    (
        "assert exists k in P: a[k]; a[j] := true;",
        "reads what another one writes to `a`",
    ),
    (
        "m[i][j] := m[j][i];",
        "reads what another one writes to `m`",
    ),
    ("b[j] := others(j);", "reads what another one writes to `b`"),
    ("a[j] := alone(i);", "reads what another one writes to `a`"),
    (
        "a[j] := alone(j) && alone(i);",
        "reads what another one writes to `a`",
    ),
    (
        "own[j] := 0; t[own[last]][j] := 1;",
        "reads what another one writes to `own`",
    ),
    ("await a[j];", "cannot be done for all of them at once"),
    ("havoc a[j];", "cannot be done for all of them at once"),
    (
        "if a[j] { break; }",
        "cannot be done for all of them at once",
    ),
    (
        "choose { a[j] := true; } or { skip; }",
        "cannot be done for all of them at once",
    ),
    ("swap(x[j], 1);", "cannot be done for all of them at once"),
];

fn text(order: &str, body: &str) -> String {
    format!(
        "shared a: array[P] of bool = false; shared b: array[P] of bool = false; shared x: array[P] of 0..3 = 0; shared y: 0..3 = 0; \
         shared m: array[P] of array[P] of bool = false; shared t: array[0..1] of array[P] of 0..3 = 0; \
         def alone(k: P) = a[k] && !m[k][k]; def others(k: P) = exists l in P: l != k && b[l]; def twice(v: int) = min(v + v, 3); \
         macro set(place, value) {{ place := value; }} \
         {order} process P[i: 1..3] {{ local own: array[P] of 0..1 = 0; local last: P = i; l: for j in P {{ {body} }} }}"
    )
}

fn checked(order: &str, body: &str) -> Result<Program, Vec<(Code, String)>> {
    let checked = threadwise_lang::check(&text(order, body));
    let errors = checked.diagnostics.into_iter();
    let errors = errors.map(|error| (error.code, error.message)).collect();
    checked.program.ok_or(errors)
}

/// A program for ordered ids, with the order taken away.
fn without_order(body: &str) -> Program {
    let mut program =
        checked("ordered", body).unwrap_or_else(|errors| panic!("{body}\n{errors:?}"));
    program.templates[0].order = IdOrder::Unordered;
    program
}

#[test]
fn rounds_that_do_not_influence_one_another_need_no_order() {
    for body in INDEPENDENT {
        assert!(
            checked("", body).is_ok(),
            "{body}\n{:?}",
            checked("", body).err()
        );
        assert_eq!(validate(&without_order(body)), Ok(()), "{body}");
    }
}

#[test]
fn rounds_that_depend_on_one_another_need_an_order() {
    for (body, message) in DEPENDENT {
        let errors = checked("", body).err().unwrap_or_default();
        let [(Code::UnorderedFor, said)] = errors.as_slice() else {
            panic!("{body}\n{errors:?}");
        };
        assert!(said.contains(message), "{body}\n{said}");
        let refused = validate(&without_order(body)).map_err(|invalid| invalid.rule);
        assert_eq!(refused, Err(Rule::Order), "{body}");
    }
}
