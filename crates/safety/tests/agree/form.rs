//! The forms of certificates: all assertions together, or one by one.

use std::time::Instant;

use threadwise_certify::{Method, Report, check, check_with};
use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_evidence::{Certificate, Claim};
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_safety::{Errors, Form, How, Pairwise, Split};
use threadwise_testgen::{instance, library};

use crate::agree::common::{oracle, safety};

/// Certificates with more nodes are not given to the solver.
const LARGE: usize = 500;

/// Counters that only grow, and a reader for each two of them: what each process knows is little, but all of it together relates
/// everything with everything, in any order of cells.
const GRID: &str = "
    param M = 3 where M >= 2;
    shared v: array[0..M-1] of 0..3 = 0;
    ordered process Up[j: 0..M-1] {
        loop { up: atomic { await v[j] < 3; v[j] := v[j] + 1; } }
    }
    ordered process P[i: 0..M*M-1] {
        local x: 0..3 = 0;
        local y: 0..3 = 0;
        loop {
            first:  x := v[i / M];
            second: y := v[i % M];
        }
    }
    invariant behind: forall i in P: P[i].x <= v[i / M] && P[i].y <= v[i % M];";

fn how(form: Form) -> How {
    How {
        form,
        ..How::default()
    }
}

fn split(form: Form) -> Split {
    let errors = Errors::default();
    let how = how(form);
    Split { how, errors }
}

fn pairwise(form: Form) -> Pairwise {
    Pairwise(how(form))
}

/// The proofs that an engine finds of a program.
fn proofs(engine: &dyn Engine, instance: &Instance) -> Vec<Certificate> {
    let system = lower(instance, 3).expect("small enough");
    let outcome = engine.check_all(&system, &safety(&system), &Limits::NONE, &mut Silent);
    let answers = outcome.answers.into_iter();
    answers
        .filter_map(|answer| match answer {
            Answer::Proved(proof) => proof,
            _ => None,
        })
        .collect()
}

fn accepted(instance: &Instance, proof: &Certificate) -> Report {
    let answer = check(instance, proof, &proof.property, &|| false);
    answer.unwrap_or_else(|error| panic!("{}: {error}", proof.property))
}

fn in_parts(proof: &Certificate) -> bool {
    matches!(proof.claim, Claim::Conjunction { .. })
}

#[test]
fn the_library_in_parts() {
    let (mut parts, mut whole) = (0, 0);
    for (name, text) in library() {
        for n in 2..=4 {
            let Ok(instance) = instance(&text, &[("N", n)]) else {
                continue;
            };
            let system = lower(&instance, 3).expect("small enough");
            if !oracle(&system).complete {
                continue;
            }
            let mut proofs_in_parts = proofs(&split(Form::Parts), &instance);
            if n < 4 {
                proofs_in_parts.extend(proofs(&pairwise(Form::Parts), &instance));
            }
            for proof in proofs_in_parts {
                // What is proved by leaving the errors out of the invariant is one set.
                if in_parts(&proof) {
                    parts += 1;
                } else {
                    whole += 1;
                }
                let nodes: usize = proof.claim.parts().iter().map(|part| part.len()).sum();
                // The solver is slow on large graphs.
                let methods = [Method::Walk, Method::Solver];
                for method in methods.into_iter().take(if nodes < LARGE { 2 } else { 1 }) {
                    let property = &proof.property;
                    let answer = check_with(method, &instance, &proof, property, &|| false);
                    if let Err(error) = answer {
                        panic!("{name} N={n}, {property}, {method:?}: {error}");
                    }
                }
            }
        }
    }
    println!("{parts} in parts, {whole} whole");
    assert!(parts >= 200, "{parts} in parts, {whole} whole");
}

fn semaphore(n: i64) -> Instance {
    let model = library().into_iter().find(|(name, _)| name == "mux_sem");
    let (_, text) = model.expect("a model of the library");
    instance(&text, &[("N", n)]).expect("an instance")
}

fn grid(m: i64) -> Instance {
    instance(GRID, &[("M", m)]).expect("an instance")
}

#[test]
fn the_cheaper_form_is_chosen() {
    // Together far larger than apart.
    let grid_of_four = grid(4);
    let apart = proofs(&split(Form::Cheaper), &grid_of_four);
    let together = proofs(&split(Form::Whole), &grid_of_four);
    assert_eq!((apart.len(), together.len()), (2, 2));
    for (apart, together) in apart.iter().zip(&together) {
        assert!(in_parts(apart) && !in_parts(together));
        let (apart, together) = (
            accepted(&grid_of_four, apart),
            accepted(&grid_of_four, together),
        );
        println!("apart: {apart:?}, together: {together:?}");
        assert!(apart.nodes * 20 < together.nodes, "{apart:?}, {together:?}");
        assert!(
            apart.visits * 20 < together.visits,
            "{apart:?}, {together:?}"
        );
    }
    for proof in proofs(&pairwise(Form::Cheaper), &grid_of_four) {
        assert!(in_parts(&proof));
        let report = accepted(&grid_of_four, &proof);
        println!("pairs apart: {report:?}");
    }
    // Together no larger than apart.
    let semaphore = semaphore(60);
    let engines: [&dyn Engine; 2] = [&split(Form::Cheaper), &pairwise(Form::Cheaper)];
    for engine in engines {
        for proof in proofs(engine, &semaphore) {
            assert!(!in_parts(&proof));
        }
    }
}

/// From sixteen processes on, what everybody sees can be computed with one relation for all steps.
#[test]
fn a_step_of_all_at_once() {
    let instance = semaphore(20);
    let system = lower(&instance, 3).expect("small enough");
    let outcome = Split::default().check_all(&system, &safety(&system), &Limits::NONE, &mut Silent);
    let exposed: Vec<_> = outcome.accounts.iter().map(|a| a.predicates).collect();
    assert_eq!(exposed.iter().max(), Some(&Some(40)), "{exposed:?}");
    for answer in &outcome.answers {
        match answer {
            Answer::Proved(Some(proof)) => accepted(&instance, proof),
            other => panic!("{other:?}"),
        };
    }
}

#[test]
fn a_hundred_processes_in_parts() {
    for (instance, form) in [
        (semaphore(100), Form::Parts),
        // So large that all assertions together could not be built.
        (grid(9), Form::Cheaper),
    ] {
        let proofs = proofs(&split(form), &instance);
        assert!(proofs.len() >= 2);
        for proof in &proofs {
            assert!(in_parts(proof));
            let begun = Instant::now();
            let report = accepted(&instance, proof);
            println!("{}: {report:?} {:?}", proof.property, begun.elapsed());
            // For each step of somebody and each process a question, and few nodes for each.
            assert!(report.conditions < 40_000, "{report:?}");
            assert!(report.visits < 600_000, "{report:?}");
            assert_eq!(report.clauses, 0, "{report:?}");
        }
    }
}
