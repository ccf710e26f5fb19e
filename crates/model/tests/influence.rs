//! Which shared cells need not be shared, program by program.

use std::collections::BTreeSet;

use threadwise_model::influence::Influence;
use threadwise_model::layout::{cell_name, process_name};
use threadwise_model::lower::lower;
use threadwise_model::optimise::Optimised;
use threadwise_model::symmetry::generators;
use threadwise_model::system::{IdUse, SystemProperty};
use threadwise_testgen::instance;

/// The own cells as `cell of process`, and the unneeded ones, for a property of a program.
fn globals(text: &str, property: &str, symmetric: bool) -> (Vec<String>, Vec<String>) {
    let instance = instance(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
    let system = lower(&instance, 0).expect("small");
    let property = system.properties.iter().find(|p| p.name == property);
    let property = property.expect("a property of the program");
    let anonymous = SystemProperty {
        ids: IdUse::default(),
        ..property.clone()
    };
    let symmetries = match symmetric {
        true => generators(&system, &anonymous),
        false => Vec::new(),
    };
    let found = Influence::new(&Optimised::new(&system)).globals(property, &symmetries);
    let name = |cell| cell_name(&instance, &system, cell);
    let own = found.own.iter();
    let own = own
        .map(|(cell, process)| format!("{} of {}", name(*cell), process_name(&system, *process)));
    (
        own.collect(),
        found.unneeded.iter().map(|cell| name(*cell)).collect(),
    )
}

#[test]
fn what_control_depends_on_is_needed() {
    let text = "shared x: bool = true; shared steps: 0..5 = 0; shared tries: array[P] of 0..2 = 0; shared n: 0..3 = 0;
         process P[i: 1..2] { loop {
            a: atomic { await x; x := false; steps := (steps + 1) % 6; }
            b: if tries[i] < 2 { tries[i] := tries[i] + 1; } else { tries[i] := 0; }
            c: x := true; } }
         process Q { loop { d: n := n + 1; } }
         invariant mutex: forall i, j in P: i != j -> !(P[i] at b && P[j] at b);
         invariant counted: steps < 6;";
    for symmetric in [true, false] {
        let (own, unneeded) = globals(text, "mutex", symmetric);
        assert_eq!(own, ["tries[1] of P[1]", "tries[2] of P[2]", "n of Q"]);
        assert_eq!(unneeded, ["steps"]);
        let (own, unneeded) = globals(text, "counted", symmetric);
        assert_eq!((own.len(), unneeded.len()), (3, 0));
    }
}

#[test]
fn what_is_written_to_a_needed_cell_is_needed() {
    let text = "shared x: 0..2 = 0; shared y: 0..2 = 0; shared z: 0..2 = any; shared w: 0..2 = 1;
         shared k: 0..1 = 0; shared t: array[0..1] of bool = false; shared u: array[0..1] of bool = false;
         process P[i: 1..2] { loop { a: x := y; b: y := z; c: z := w; d: k := 1 - k; e: t[k] := true; f: u[k] := true; } }
         invariant far: x < 2;
         invariant near: z < 3;
         invariant indexed: !t[1];";
    let unneeded = |property| globals(text, property, true).1.join(" ");
    assert_eq!(unneeded("far"), "k t[0] t[1] u[0] u[1]");
    assert_eq!(unneeded("near"), "x y k t[0] t[1] u[0] u[1]");
    assert_eq!(unneeded("indexed"), "x y z w t[0] u[0] u[1]");
}

#[test]
fn symmetry_maps_them_onto_each_other() {
    let text = "shared seen: array[P] of 0..2 = 0; shared met: array[P] of 0..2 = 0;
         process P[i: 1..3] { loop { a: seen[i] := (seen[i] + 1) % 3; b: await met[i] < 2; c: met[i] := 2 - met[i]; } }
         invariant first: seen[1] < 3 && met[1] < 3;";
    let (own, unneeded) = globals(text, "first", false);
    assert_eq!(own, ["met[2] of P[2]", "met[3] of P[3]"]);
    assert_eq!(unneeded, ["seen[2]", "seen[3]"]);
    assert_eq!(globals(text, "first", true), (Vec::new(), Vec::new()));
}

#[test]
fn a_cell_of_one_process_may_be_read_by_another() {
    let text = "shared flag: array[P] of bool = false; shared mine: array[P] of bool = false;
         ordered process P[i: 1..2] { loop { a: flag[i] := true; b: await i == 2 || !flag[2]; c: flag[i] := !mine[i]; d: mine[i] := flag[i]; } }
         invariant mutex: !(P[1] at c && P[2] at c);";
    let (own, unneeded) = globals(text, "mutex", false);
    let own: BTreeSet<String> = own.into_iter().collect();
    assert!(
        !own.contains("flag[2] of P[2]") && !own.contains("flag[2] of P[1]"),
        "{own:?}"
    );
    // The first one's are read by itself alone, and for nothing.
    assert_eq!(unneeded, ["flag[1]", "mine[1]"]);
    assert!(own.contains("mine[2] of P[2]"), "{own:?}");
}
