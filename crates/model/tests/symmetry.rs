//! Which symmetries are claimed, and how permutations act on states.

use threadwise_lang::program::TemplateId;
use threadwise_model::eval::initial_states;
use threadwise_model::layout::cell_name;
use threadwise_model::lower::lower;
use threadwise_model::symmetry::{Permutation, generators};
use threadwise_model::system::{CellId, System, SystemProperty, TemplateSymmetry};
use threadwise_testgen::{instance, symmetry};

fn system(text: &str) -> System {
    let instance = instance(text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
    lower(&instance, 2).expect("it can be lowered")
}

fn claimed(text: &str) -> TemplateSymmetry {
    let system = system(text);
    symmetry::check(&system, 500).unwrap_or_else(|e| panic!("{text}\n{e}"));
    system.templates[0].symmetry
}

fn property<'a>(system: &'a System, name: &str) -> &'a SystemProperty {
    system
        .properties
        .iter()
        .find(|p| p.name == name)
        .expect("the property is there")
}

#[test]
fn ids_that_are_only_compared_are_fully_symmetric() {
    let text = "shared last: P? = none; shared a: array[P] of 0..1 = 0;
        process P[i: 1..3] { l1: await last != i; last := i; a[i] := 1; l2: choose k in P { await a[k] == 0; last := k; } }";
    assert_eq!(claimed(text), TemplateSymmetry::Full);
}

#[test]
fn neighbours_leave_the_rotations() {
    let text = "shared a: array[P] of 0..1 = 0;
        ring process P[i: 1..4] { l1: await a[next(i)] == 0; a[i] := 1; l2: a[prev(i)] := 0; }";
    assert_eq!(claimed(text), TemplateSymmetry::Rotations);
}

#[test]
fn what_tells_processes_apart_leaves_nothing() {
    for text in [
        "shared x: 0..4 = 0; ordered process P[i: 1..3] { l1: x := 1; }",
        "shared x: 0..4 = 0; ring process P[i: 1..3] { l1: x := i; }",
        "shared x: P = 1; ring process P[i: 1..3] { l1: x := next(x); }",
        "shared x: 0..4 = 0; ring process P[i: 1..3] { l1: for k in P { x := (x + 1) % 5; } }",
        "shared x: P? = none; ring process P[i: 1..3] { l1: x := 2; }",
        "shared x: bool = false; def low(p: P) = p < 2; ring process P[i: 1..3] { l1: x := low(i); }",
        "process P { l1: skip; }",
    ] {
        assert_eq!(claimed(text), TemplateSymmetry::Identity, "{text}");
    }
    let dynamic = system("process C[] { l1: start C; } process Main { m1: start C; }");
    assert_eq!(dynamic.templates[0].symmetry, TemplateSymmetry::Identity);
}

#[test]
fn a_named_process_is_fixed() {
    let system = system(
        "shared last: P? = none;
         process P[i: 1..4] { l1: last := i; }
         invariant all: forall i in P: P[i] at l1 || last != none;
         invariant second: P[2] at l1 || last != none;
         invariant two: P[2] at l1 && P[3] at l1 || last != none;
         invariant three: P[1] at l1 && P[2] at l1 && P[3] at l1 || last != none;
         def third = P[3] at l1;
         invariant by_definition: third || last != none;",
    );
    symmetry::check(&system, 500).expect("the claims hold");
    let fixed = |name: &str| -> (usize, Vec<u32>) {
        let group = generators(&system, property(&system, name));
        let fixed = (0..4)
            .filter(|k| group.iter().all(|g| g.index(TemplateId::new(0), *k) == *k))
            .collect();
        (group.len(), fixed)
    };
    assert_eq!(fixed("checks"), (2, vec![]));
    assert_eq!(fixed("all"), (2, vec![]));
    assert_eq!(fixed("second"), (2, vec![1]));
    assert_eq!(fixed("two"), (1, vec![1, 2]));
    assert_eq!(fixed("three"), (0, vec![0, 1, 2, 3]));
    assert_eq!(fixed("by_definition"), (2, vec![2]));
}

#[test]
fn a_named_process_on_a_ring_leaves_nothing() {
    let system = system(
        "shared a: array[P] of bool = false;
         ring process P[i: 1..3] { l1: a[next(i)] := true; }
         invariant free: exists p in P: P[p] at done || !a[p];
         invariant named: P[1] at l1 || a[2];
         invariant numbers: forall p in P: p < 3 || !a[p];",
    );
    assert_eq!(generators(&system, property(&system, "free")).len(), 1);
    assert!(generators(&system, property(&system, "named")).is_empty());
    assert!(generators(&system, property(&system, "numbers")).is_empty());
}

/// Everything that moves, and everything that does not.
const MOVING: &str = "
    shared owner: P = any; shared seen: P? = none; shared m: mutex; shared plain: array[0..2] of 0..9 = 0;
    shared a: array[P] of 0..9 = 0; shared grid: array[0..1] of array[P] of P? = none;
    process Q[j: 1..2] { local q: P? = none; q1: q := none; }
    process P[i: 1..3] { local v: 0..9 = 0; local mine: array[P] of bool = false; l1: skip; l2: skip; }";

#[test]
fn permutations_move_cells_and_the_ids_in_them() {
    let instance = instance(MOVING, &[]).expect("a sound program");
    let system = lower(&instance, 2).expect("it can be lowered");
    let names: Vec<String> = (0..system.cells)
        .map(|cell| cell_name(&instance, &system, CellId::new(cell)))
        .collect();
    let position = |name: &str| names.iter().position(|n| n == name).expect(name);
    let mut state = initial_states(&system)
        .expect("no overflow")
        .next()
        .expect("an initial state");
    let set = |state: &mut Vec<i64>, values: &[(&str, i64)]| {
        for (name, value) in values {
            state[position(name)] = *value;
        }
    };
    // Ids are indices: P[1] is 0. The processes are Q[1], Q[2], P[1], P[2], P[3], numbered from 0.
    set(
        &mut state,
        &[
            ("owner", 0),
            ("seen", 1),
            ("m", 2),
            ("plain[0]", 5),
            ("plain[1]", 6),
            ("a[1]", 7),
            ("a[2]", 8),
            ("a[3]", 9),
            ("grid[1][1]", 2),
            ("grid[1][3]", -1),
            ("Q[2].q", 2),
            ("P[1].pc", 1),
            ("P[1].v", 4),
            ("P[1].mine[2]", 1),
        ],
    );
    let p = TemplateId::new(1);
    let turn = Permutation::of_template(p, vec![1, 2, 0]).expect("a permutation");
    let image = turn.apply(&system, &state);
    let mut expected = vec![0; state.len()];
    for (name, value) in names.iter().zip(&state) {
        if !name.starts_with("P[") {
            expected[position(name)] = *value;
        }
    }
    set(
        &mut expected,
        &[
            ("owner", 1),
            ("seen", 2),
            ("m", 3),
            ("a[2]", 7),
            ("a[3]", 8),
            ("a[1]", 9),
            ("grid[1][2]", 0),
            ("grid[1][1]", -1),
            ("grid[1][3]", -1),
            ("Q[2].q", 0),
            ("P[2].pc", 1),
            ("P[2].v", 4),
            ("P[2].mine[3]", 1),
        ],
    );
    assert_eq!(image, expected, "{names:?}");
    let back = turn.apply(&system, &turn.apply(&system, &image));
    assert_eq!(back, state, "three turns are none");
    // A mutex that a process of another template holds stays with it.
    state[position("m")] = 1;
    assert_eq!(turn.apply(&system, &state)[position("m")], 1);
}

#[test]
fn no_permutation_twice_or_outside() {
    let template = TemplateId::new(0);
    assert!(Permutation::of_template(template, vec![0, 0]).is_none());
    assert!(Permutation::of_template(template, vec![0, 2]).is_none());
    assert!(Permutation::of_template(template, vec![1, 0]).is_some());
}
