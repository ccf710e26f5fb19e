//! Random programs: their reachable states, and their split invariants in parts, prove what holds, and what is damaged is judged as
//! by enumeration.

use std::collections::BTreeSet;

use crate::checker::support::split::{graphs, members, scopes, strongest};
use crate::checker::support::{State, check, graph, oracle, plain, processes, reachable, universe};
use threadwise_certify::Error;
use threadwise_evidence::Certificate;
use threadwise_evidence::certificate::cell_values;
use threadwise_model::eval::{Outcome, outcomes};
use threadwise_model::instance::Instance;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_testgen::random::Random;
use threadwise_testgen::random_programs;
use threadwise_testgen::sweep::programs;

/// How many programs.
const PROGRAMS: u64 = 80;

/// Adds what can be reached from a set, so that no step leads out of it.
fn close(system: &System, states: &mut BTreeSet<State>) {
    let mut open: Vec<State> = states.iter().cloned().collect();
    while let Some(state) = open.pop() {
        for process in processes(system) {
            for outcome in outcomes(system, &state, process) {
                if let Outcome::Move(next) = outcome
                    && states.insert(next.clone())
                {
                    open.push(next);
                }
            }
        }
    }
}

/// How the checker judged the certificates of programs.
#[derive(Default)]
struct Count {
    programs: usize,
    proved: usize,
    refused: usize,
    unsupported: usize,
    /// Damaged ones that were refused, and those that are proofs all the same.
    damaged: [usize; 2],
    /// Certificates in parts that were refused, and those that were accepted.
    parts: [usize; 2],
}

/// States that a certificate in parts may have, at most.
const MOST: usize = 1_000;

/// Split invariants of a program, for single processes and for pairs, and what is left of them after damage.
fn in_parts(seed: u64, instance: &Instance, system: &System) -> Result<[usize; 2], String> {
    let domains = cell_values(system);
    let mut random = Random::new(seed);
    let mut count = [0, 0];
    for pairs in [false, true] {
        let scopes = scopes(system, pairs);
        let Some(mut parts) = strongest(system, scopes, MOST).filter(|parts| !parts.is_empty())
        else {
            continue;
        };
        for round in 0..4 {
            let at = random.below(parts.len());
            match round {
                0 => {}
                1 => {
                    // Another value of one cell.
                    let cell = random.below(parts[at].cells.len().max(1));
                    let mut values = parts[at].values.first().cloned().unwrap_or_default();
                    let domain = parts[at].cells.get(cell).and_then(|cell| domains[*cell]);
                    if let Some((lo, size)) = domain {
                        values[cell] = lo + random.below(size as usize) as i64;
                        parts[at].values.insert(values);
                    }
                }
                2 => drop(parts[at].values.pop_last()),
                _ => drop(parts.remove(at)),
            }
            let dags = graphs(system, &parts).ok_or("not finite")?;
            let Some(all) = members(system, &parts, MOST) else {
                break;
            };
            for property in &system.properties {
                if let SystemPropertyKind::Liveness(_) = property.kind {
                    continue;
                }
                let name = &property.name;
                let certificate = Certificate::conjunction(system, name, dags.clone());
                let expected = oracle(system, &all, &certificate, name);
                match (&expected, check(instance, &certificate, name, &|| false)) {
                    (Ok(()), Ok(_)) => count[1] += 1,
                    (Err(_), Err(Error::Rejected(_))) => count[0] += 1,
                    (_, answer) => {
                        return Err(format!("{name}, in parts: {expected:?} {answer:?}"));
                    }
                }
            }
        }
    }
    Ok(count)
}

fn program(seed: u64, instance: &Instance) -> Result<Count, String> {
    let mut count = Count::default();
    let system = plain(instance);
    let Some(states) = reachable(&system, 2_000) else {
        return Ok(count);
    };
    let Some(dag) = graph(&system, &states) else {
        return Ok(count);
    };
    count.programs = 1;
    let list: Vec<State> = states.iter().cloned().collect();
    let all = universe(&system, 50_000);
    if !system.templates.iter().any(|template| template.dynamic) {
        count.parts = in_parts(seed, instance, &system)?;
    }
    let mut random = Random::new(seed);
    for property in &system.properties {
        if let SystemPropertyKind::Liveness(_) = property.kind {
            continue;
        }
        let name = &property.name;
        let certificate = Certificate::inductive(&system, name, dag.clone());
        let expected = oracle(&system, &list, &certificate, name);
        match (&expected, check(instance, &certificate, name, &|| false)) {
            (Ok(()), Ok(_)) => count.proved += 1,
            (Err(_), Err(Error::Rejected(_))) => count.refused += 1,
            // Nothing but this is unsupported in programs with so few states.
            (_, Err(Error::Unsupported(why))) if why.contains("are started") => {
                count.unsupported += 1;
                continue;
            }
            (_, answer) => return Err(format!("{name}: {expected:?} {answer:?}")),
        }
        let Some(all) = &all else { continue };
        for round in 0..3 {
            let mut damage: BTreeSet<State> = states.clone();
            if round == 0 && list.len() > 1 {
                damage.remove(&list[random.below(list.len())]);
            } else {
                damage.extend(random.one(all).cloned());
            }
            if round == 2 {
                close(&system, &mut damage);
            }
            let dag = graph(&system, &damage).expect("finite");
            let certificate = Certificate::inductive(&system, name, dag);
            let expected = oracle(&system, all, &certificate, name);
            match (&expected, check(instance, &certificate, name, &|| false)) {
                (Ok(()), Ok(_)) => count.damaged[1] += 1,
                (Err(_), Err(Error::Rejected(_))) => count.damaged[0] += 1,
                (_, answer) => return Err(format!("{name}: {expected:?} {answer:?}")),
            }
        }
    }
    Ok(count)
}

#[test]
fn random_programs_are_judged_as_by_enumeration() {
    let programs = programs(PROGRAMS);
    let counts = random_programs(programs, |seed, _, instance| program(seed, instance));
    let sum = |part: fn(&Count) -> usize| counts.iter().map(part).sum::<usize>();
    let (proved, refused) = (sum(|count| count.proved), sum(|count| count.refused));
    let damaged = [sum(|count| count.damaged[0]), sum(|count| count.damaged[1])];
    println!(
        "{} programs: {proved} proved, {refused} refused, {} unsupported; damaged: {damaged:?}",
        sum(|count| count.programs),
        sum(|count| count.unsupported)
    );
    assert!(proved as u64 >= programs / 4, "{proved} proofs");
    assert!(refused as u64 >= programs / 20, "{refused} refused");
    let of = |every: u64| (programs / every) as usize;
    assert!(damaged[0] >= of(8) && damaged[1] >= of(80), "{damaged:?}");
    let parts = [sum(|count| count.parts[0]), sum(|count| count.parts[1])];
    println!("in parts: {parts:?}");
    assert!(parts[0] >= of(2) && parts[1] >= of(2), "{parts:?}");
}
