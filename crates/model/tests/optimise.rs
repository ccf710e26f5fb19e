//! Which checks the interval analysis discharges, that none is discharged that can fail, and what the claims say.

use threadwise_lang::program::LocationId;
use threadwise_model::intervals::Interval;
use threadwise_model::lower::lower;
use threadwise_model::optimise::{Footprint, Optimised, Region};
use threadwise_model::system::{CheckKind, Clause, Expr, ProcessId, Step, System, VarId};
use threadwise_testgen::instance;

fn system(text: &str) -> System {
    let instance = instance(text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"));
    lower(&instance, 2).expect("it can be lowered")
}

/// The kinds of the checks left in the optimised form, and how many were discharged.
fn checks(text: &str) -> (Vec<CheckKind>, usize) {
    let system = system(text);
    let optimised = Optimised::new(&system);
    for claim in &optimised.claims().discharged {
        let step = &system.templates[claim.template].steps[claim.location][claim.step];
        match &step.clauses[claim.clause] {
            Clause::Check(check) => assert_eq!(check.kind, claim.kind),
            Clause::Guard(_) => panic!("a guard cannot be discharged"),
        }
    }
    let left = kinds(
        system
            .templates
            .indices()
            .flat_map(|t| optimised.steps_of_template(t).iter().flatten()),
    );
    let before = kinds(
        system
            .templates
            .iter()
            .flat_map(|t| t.steps.iter().flatten()),
    );
    assert_eq!(
        before.len() - left.len(),
        optimised.claims().discharged.len()
    );
    (left, optimised.claims().discharged.len())
}

fn kinds<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<CheckKind> {
    steps
        .flat_map(|step| &step.clauses)
        .filter_map(|clause| match clause {
            Clause::Check(check) => Some(check.kind),
            Clause::Guard(_) => None,
        })
        .collect()
}

#[test]
fn a_guard_discharges_the_check_behind_it() {
    assert_eq!(
        checks("shared x: 0..3 = 0; process P { loop { l1: await x < 3; x := x + 1; } }"),
        (vec![], 1)
    );
    assert_eq!(
        checks("shared x: 0..3 = 0; process P { loop { l1: await x <= 3; x := x + 1; } }"),
        (vec![CheckKind::Range], 0)
    );
    assert_eq!(
        checks(
            "shared x, y: 0..3 = 0; process P { loop { l1: if !(x == 3) { x := x + 1; } else { y := x - 1; } } }"
        ),
        (vec![], 2)
    );
    assert_eq!(
        checks(
            "shared x: 1..3 = 1; process P { loop { l1: if x + 1 > 3 { x := 1; } else { x := 1 + x; } } }"
        ),
        (vec![], 1)
    );
}

#[test]
fn types_discharge_indices_and_divisions() {
    assert_eq!(
        checks(
            "shared a: array[0..3] of 0..1 = 0; shared x: 0..3 = any; shared y: 1..2 = any;
             process P { l1: a[x] := 0; l2: x := x / y; l3: x := x % 4; l4: x := min(3, x * y); }"
        ),
        (vec![], 5)
    );
    assert_eq!(
        checks(
            "shared a: array[0..2] of 0..1 = 0; shared x: 0..3 = any; process P { l1: a[x] := 0; l2: x := 3 / x; }"
        ),
        (vec![CheckKind::Index, CheckKind::Division], 1)
    );
}

#[test]
fn checks_under_quantifiers_and_short_circuits() {
    assert_eq!(
        checks(
            "shared a: array[1..3] of 0..3 = 0; shared b: bool = false; shared x: 0..4 = any;
             process P {
                 l1: b := forall k in 1..3: a[k] > 0 && a[4 - k] < 9 / k;
                 l2: b := x > 0 && x < 4 && a[x] == 0;
                 l3: b := x <= 0 || x > 3 || a[x] == 0;
             }"
        ),
        (vec![], 5)
    );
    let (left, _) = checks(
        "shared a: array[1..3] of 0..3 = 0; shared b: bool = false; shared x: 0..4 = any;
         process P { l1: b := x > 0 || a[x] == 0; l2: b := exists k in 1..3: a[k + 1] == 0; }",
    );
    assert_eq!(left, [CheckKind::Index, CheckKind::Index]);
}

#[test]
fn intervals_are_tighter_than_types_where_nothing_else_is_written() {
    let system = system(
        "shared x: 0..9 = 2; shared n: int = 5; process P { loop { l1: x := (x + 1) % 4; l2: n := n - 1; } }",
    );
    let optimised = Optimised::new(&system);
    let bounds = &optimised.claims().bounds.vars;
    assert_eq!(bounds[VarId::new(0)], Interval { lo: 0, hi: 3 });
    assert_eq!(
        bounds[VarId::new(1)],
        Interval {
            lo: i64::MIN,
            hi: 5
        },
        "widened downwards only"
    );
}

#[test]
fn a_repeated_check_is_discharged_by_the_first() {
    let (left, _) = checks(
        "shared x, y: 0..9 = any; shared z: int = 0; process P { l1: z := 1 / (x - y); z := 2 / (x - y); }",
    );
    assert_eq!(left, [CheckKind::Division]);
}

#[test]
fn specialising_folds_the_process_in() {
    let system = system(
        "shared turn: P = any; shared a: array[P] of bool = false;
         ordered process P[i: 1..3] { l1: a[i] := i == 2; l2: if i < 3 { a[i + 1] := true; } l3: await turn == i; }",
    );
    let optimised = Optimised::new(&system);
    let steps = optimised.steps_of(ProcessId::new(1));
    let first = &steps[LocationId::new(0)][0];
    assert_eq!(first.updates[0].value, Expr::Const(1));
    assert_eq!(first.updates[0].cell.offset, Some(Expr::Const(1)));
    // The branch that this process never takes is gone.
    assert_eq!(steps[LocationId::new(1)].len(), 1);
    assert!(steps[LocationId::new(1)][0].clauses.is_empty());
    let last = optimised.steps_of(ProcessId::new(2));
    assert!(last[LocationId::new(1)][0].updates.is_empty());
}

#[test]
fn footprints_name_cells_where_they_are_known() {
    let system = system(
        "shared x: 0..2 = 0; shared a: array[P] of 0..2 = 0;
         process P[i: 1..2] { local v: 0..2 = 0; l1: a[i] := x; l2: v := a[i]; l3: choose k in P { a[k] := v; } l4: skip; }",
    );
    let optimised = Optimised::new(&system);
    let process = ProcessId::new(1);
    let steps = optimised.steps_of(process);
    let region = |var: usize, process, offset| Region {
        var: VarId::new(var),
        process,
        offset,
    };
    // Variables: x, a, the program counter, v.
    let pc = region(2, Some(1), Some(0));
    let of =
        |location: usize| Footprint::of(&system, &steps[LocationId::new(location)][0], process);
    assert_eq!(
        of(0).writes.into_iter().collect::<Vec<_>>(),
        [region(1, None, Some(1)), pc]
    );
    assert_eq!(
        of(0).reads.into_iter().collect::<Vec<_>>(),
        [region(0, None, Some(0)), pc]
    );
    assert_eq!(
        of(1).writes.into_iter().collect::<Vec<_>>(),
        [pc, region(3, Some(1), Some(0))]
    );
    assert_eq!(
        of(2).writes.into_iter().collect::<Vec<_>>(),
        [region(1, None, None), pc]
    );
    assert!(region(1, None, None).meets(&region(1, None, Some(1))));
    assert!(!region(3, Some(0), Some(0)).meets(&region(3, Some(1), Some(0))));
}

#[test]
fn large_instances_are_cheap_until_a_process_is_asked_for() {
    let system = system(
        "param N = 20000; shared a: array[P] of 0..2 = 0;
         process P[i: 1..N] { loop { l1: await forall j in P: j != i -> a[j] < 2; a[i] := 2; l2: a[i] := 0; } }",
    );
    let optimised = Optimised::new(&system);
    let steps = optimised.steps_of(ProcessId::new(19_999));
    assert_eq!(steps[LocationId::new(0)].len(), 1);
    assert_eq!(system.cells, 40_000);
}

#[test]
fn a_check_that_may_leave_64_bits_is_kept() {
    let (left, _) = checks(
        "shared n: int = 0;
         process P { loop { l1: n := n + 1; l2: assert n + 1 <= 9223372036854775807; l3: assert n <= 9223372036854775807; } }",
    );
    assert_eq!(left, [CheckKind::Assert]);
}
