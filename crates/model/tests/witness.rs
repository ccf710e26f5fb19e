//! Witnesses: the program with the variables has the runs of the program, and the variables say what they should.

use std::collections::{BTreeSet, VecDeque};

use threadwise_model::eval::{Outcome, initial_states, outcomes};
use threadwise_model::lower::lower;
use threadwise_model::system::{CellDomain, CellId, ProcessId, Scope, System};
use threadwise_model::witness::{Watched, witnessed};
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{instance, library, random_programs, symmetry};

/// States that are looked at of each program.
const STATES: usize = 150;

/// What was seen while programs were compared.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Predicates with a witness.
    witnesses: usize,
    /// States in which it named a process.
    named: usize,
    /// States in which there were several.
    lost: usize,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.witnesses += other.witnesses;
        self.named += other.named;
        self.lost += other.lost;
    }
}

/// Everything of which there can be a witness.
fn all_watched(system: &System) -> Vec<Watched> {
    let mut all = Vec::new();
    for (var, shape) in system.vars.iter_enumerated() {
        if let (Scope::Local(_), Some((lo, hi))) = (shape.scope, system.values(shape.domain)) {
            let values = (lo..=hi).take(6);
            all.extend(values.map(|value| Watched { var, value }));
        }
    }
    all
}

/// Compares the system with and without a witness.
fn compare(system: &System, watched: Watched) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let Some(grown) = witnessed(system, watched, "one") else {
        return Ok(seen);
    };
    symmetry::check(&grown, 60)?;
    seen.witnesses = 1;
    let Scope::Local(template) = system.vars[watched.var].scope else {
        return Err("a witness for what is shared".to_owned());
    };
    let holds_of = |state: &[i64]| -> Vec<i64> {
        let of = |index: &i64| {
            let cell = system.cell(watched.var, *index as u32, 0);
            state[cell.index()] == watched.value
        };
        (0..i64::from(system.templates[template].count))
            .filter(of)
            .collect()
    };
    let (who, lost) = (system.cells, system.cells + 1);
    if grown.vars.last().map(|var| (var.first, var.domain))
        != Some((CellId::new(lost), CellDomain::Bool))
    {
        return Err("the new cells are not the last".to_owned());
    }
    let initial = |system| -> Result<Vec<Vec<i64>>, String> {
        let states = initial_states(system).map_err(|error| error.to_string())?;
        Ok(states.take(STATES).collect())
    };
    let shorter = |state: &[i64]| state[..system.cells].to_vec();
    let mut queue: VecDeque<Vec<i64>> = initial(&grown)?.into();
    let first: Vec<Vec<i64>> = queue.iter().map(|state| shorter(state)).collect();
    if first != initial(system)? {
        return Err("other initial states".to_owned());
    }
    let mut known: BTreeSet<Vec<i64>> = queue.iter().cloned().collect();
    for _ in 0..STATES {
        let Some(state) = queue.pop_front() else {
            break;
        };
        let holds = holds_of(&state);
        let said = (state[who], state[lost] != 0);
        match holds[..] {
            // Once lost, always lost.
            _ if said == (-1, true) => seen.lost += 1,
            [] if said == (-1, false) => {}
            [one] if said == (one, false) => seen.named += 1,
            _ => return Err(format!("{said:?} where it holds of {holds:?}")),
        }
        for process in (0..system.processes()).map(ProcessId::from_raw) {
            let mut after = Vec::new();
            for outcome in outcomes(&grown, &state, process) {
                if let Outcome::Move(next) = outcome {
                    after.push(Outcome::Move(shorter(&next)));
                    let several = holds_of(&next).len() > 1;
                    if (state[lost] != 0 || several) != (next[lost] != 0) {
                        return Err(format!("lost or not: {state:?} to {next:?}"));
                    }
                    if known.insert(next.clone()) {
                        queue.push_back(next);
                    }
                } else {
                    after.push(outcome);
                }
            }
            after.sort();
            if after != outcomes(system, &shorter(&state), process) {
                return Err(format!("{process:?} does something else in {state:?}"));
            }
        }
    }
    Ok(seen)
}

fn compare_all(system: &System) -> Result<Seen, String> {
    let mut seen = Seen::default();
    for watched in all_watched(system) {
        seen += compare(system, watched).map_err(|error| format!("{watched:?}: {error}"))?;
    }
    Ok(seen)
}

#[test]
fn the_library_keeps_its_runs() {
    let mut all = Seen::default();
    for (name, text) in library() {
        for n in [2, 3] {
            let Ok(instance) = instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 2).expect("small enough");
            all += compare_all(&system).unwrap_or_else(|error| panic!("{name} N={n}: {error}"));
        }
    }
    println!("{all:?}");
    assert!(all.witnesses >= 100, "{all:?}");
    assert!(all.named >= 1000 && all.lost >= 1000, "{all:?}");
}

#[test]
fn random_programs_keep_their_runs() {
    let mut all = Seen::default();
    let programs = programs(50);
    for seen in random_programs(programs, |_, _, instance| {
        compare_all(&lower(instance, 2).map_err(|errors| format!("{errors:?}"))?)
    }) {
        all += seen;
    }
    println!("{all:?}");
    let of = |each: usize| each * programs as usize;
    assert!(all.witnesses >= of(1), "{all:?}");
    assert!(all.named >= of(6) && all.lost >= of(6), "{all:?}");
}

#[test]
fn what_cannot_have_a_witness() {
    let system = |text: &str| {
        let instance = instance(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"));
        lower(&instance, 2).expect("small enough")
    };
    let of = |text: &str, name: &str, value: i64| {
        let system = system(text);
        let var = system.vars.iter_enumerated();
        let mut var = var.filter(|(_, var)| var.name == name);
        let (var, _) = var.next().unwrap_or_else(|| panic!("{text}: no {name}"));
        witnessed(&system, Watched { var, value }, "one").is_some()
    };
    let text = "shared x: 0..1 = 0; process P[i: 1..2] { local k: 0..2 = 0; local a: array[0..1] of bool = false;
        local open: 0..1 = any; local who: P = i; l1: k := 1; a[0] := true; l2: open := 0; who := i; }";
    assert!(of(text, "k", 1));
    // Of both at first.
    assert!(!of(text, "k", 0));
    // An array, any value at first, an id, what is shared.
    assert!(!of(text, "a", 1));
    assert!(!of(text, "open", 1));
    assert!(!of(text, "who", 1));
    assert!(!of(text, "x", 1));
    let dynamic = "process C[] { local k: 0..1 = 0; l1: k := 1; } process Main { m1: start C; }";
    assert!(!of(dynamic, "k", 1));
}
