//! Mutual exclusion is recognised where it stands, and counting says the same as the pairs.

use threadwise_model::eval::Context;
use threadwise_model::exclusion::AtMostOne;
use threadwise_model::lower::lower;
use threadwise_model::system::{Expr, System, SystemPropertyKind};
use threadwise_testgen::instance;

fn system(invariants: &str) -> System {
    let text = format!(
        "shared flag: array[P] of bool = any; shared x: 0..3 = any;
         process P[i: 1..4] {{ local k: 0..3 = any; a: flag[i] := true; b: x := k; }}
         def inside(i: P) = P[i] at b && flag[i];
         {invariants}"
    );
    let instance = instance(&text, &[]).expect("no errors");
    lower(&instance, 1).expect("small enough")
}

fn invariants(system: &System) -> Vec<&Expr> {
    let kinds = system.properties.iter().map(|property| &property.kind);
    kinds
        .filter_map(|kind| match kind {
            SystemPropertyKind::Invariant(expr) => Some(expr),
            _ => None,
        })
        .collect()
}

#[test]
fn counting_says_the_same() {
    let system = system(
        "invariant i1: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);
         invariant i2: forall i, j in P: i != j -> !(inside(i) && inside(j));
         invariant i3: forall i, j in P: i == j || !(flag[i] && x == 2 && flag[j] && x == 2);
         invariant i4: forall i, j in P: i != j -> !(P[i].k == x && P[j].k == x);",
    );
    let mut recognised = 0;
    for expr in invariants(&system) {
        let Some(found) = AtMostOne::of(expr) else {
            continue;
        };
        recognised += 1;
        let (mut one, mut more) = (0, 0);
        // A small generator that visits many different states.
        let mut seed = 7u64;
        for _ in 0..3_000 {
            let state: Vec<i64> = (0..system.cells)
                .map(|_| {
                    seed = seed
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    (seed >> 60) as i64 % 2
                })
                .collect();
            let context = Context::of_state(&system, &state);
            let count = (found.lo..=found.hi)
                .filter(|value| {
                    let body = Expr::Fold {
                        kind: threadwise_lang::program::FoldKind::Exists,
                        bound: found.bound,
                        lo: *value,
                        hi: *value,
                        body: Box::new(found.body.clone()),
                    };
                    context.holds(&body).expect("no overflow")
                })
                .count();
            assert_eq!(context.holds(expr).expect("no overflow"), count <= 1);
            if count <= 1 {
                one += 1;
            } else {
                more += 1;
            }
        }
        assert!(one > 100 && more > 100, "{one} and {more}");
    }
    assert!(recognised >= 3, "{recognised} recognised");
}

#[test]
fn other_forms_are_left_alone() {
    let system = system(
        "invariant different_bodies: forall i, j in P: i != j -> !(P[i] at a && P[j] at b);
         invariant mixed: forall i, j in P: i != j -> !(P[i].k == P[j].k && flag[i]);
         invariant positive: forall i, j in P: i != j -> (flag[i] && flag[j]);
         invariant different_ranges: forall i in 1..2, j in 1..3: i != j -> !(x == i && x == j);
         invariant without_pairs: forall i, j in P: !(flag[i] && flag[j]);
         invariant exists_inside: forall i in P: exists j in P: i == j || !(flag[i] && flag[j]);",
    );
    for expr in invariants(&system) {
        assert_eq!(AtMostOne::of(expr), None);
    }
}
