//! z3 confirms the conditions of certificates, and refutes those of damaged ones; it is used where it is installed.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::checker::support::split::{graphs, scopes, strongest};
use crate::checker::support::{graph, library, plain, reachable};
use threadwise_certify::{Error, check};
use threadwise_conditions::smtlib;
use threadwise_evidence::Certificate;
use threadwise_model::instance::Instance;
use threadwise_model::system::SystemPropertyKind;
use threadwise_testgen::generate::generate;

/// Whether z3 is there; if not, says so.
pub(crate) fn z3() -> bool {
    let there = Command::new("z3").arg("--version").output().is_ok();
    if !there {
        eprintln!("z3 is not installed: the conditions are not confirmed by it");
    }
    there
}

/// What z3 says: whether every question is answered `unsat`.
fn confirmed(instance: &Instance, certificate: &Certificate, property: &str) -> bool {
    let mut text = String::new();
    smtlib(instance, certificate, property, &mut text).expect("conditions");
    all_unsat(text)
}

/// Whether z3 answers every question of a text by `unsat`.
pub(crate) fn all_unsat(text: String) -> bool {
    let mut child = Command::new("z3")
        .args(["-in", "-T:60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3");
    let mut input = child.stdin.take().expect("a pipe");
    let questions = text.matches("(check-sat)").count();
    let writer = std::thread::spawn(move || {
        // z3 may end before it has read everything.
        let _ = input.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().expect("z3");
    writer.join().expect("a thread");
    let answers = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = answers.lines().collect();
    assert_eq!(lines.len(), questions, "{answers}");
    assert!(
        lines.iter().all(|line| ["sat", "unsat"].contains(line)),
        "{answers}"
    );
    lines.iter().all(|line| *line == "unsat")
}

#[test]
fn z3_confirms_and_refutes_as_the_checker_does() {
    if !z3() {
        return;
    }
    let (mut accepted, mut refused) = (0, 0);
    let mut compare = |name: &str, instance: &Instance, certificate: &Certificate| {
        let property = certificate.property.clone();
        let answer = match check(instance, certificate, &property, &|| false) {
            Ok(_) => true,
            Err(Error::Rejected(_)) => false,
            Err(Error::Unsupported(_)) => return,
            Err(other) => panic!("{name}: {other}"),
        };
        let other = confirmed(instance, certificate, &property);
        assert_eq!(answer, other, "{name}, {property}");
        if answer {
            accepted += 1;
        } else {
            refused += 1;
        }
    };
    let models: [(&str, &[(&str, i64)]); 5] = [
        ("mux_sem", &[("N", 3)]),
        ("dekker", &[]),
        ("bakery", &[("N", 2)]),
        ("peterson", &[("N", 2)]),
        ("wrong_hyman", &[]),
    ];
    for (name, params) in models {
        let instance = library(name, params);
        let system = plain(&instance);
        let states = reachable(&system, 10_000).expect("small");
        let mut fewer = states.clone();
        fewer.pop_first();
        let split = strongest(&system, scopes(&system, false), 200_000).expect("small");
        let split = graphs(&system, &split).expect("finite");
        for property in &system.properties {
            if let SystemPropertyKind::Liveness(_) = property.kind {
                continue;
            }
            for states in [&states, &fewer] {
                let dag = graph(&system, states).expect("finite");
                compare(
                    name,
                    &instance,
                    &Certificate::inductive(&system, &property.name, dag),
                );
            }
            for parts in [&split, &split[1..]] {
                let parts = Certificate::conjunction(&system, &property.name, parts.to_vec());
                compare(name, &instance, &parts);
            }
        }
    }
    for seed in 0..40 {
        let text = generate(seed);
        let Ok(instance) = threadwise_testgen::instance(&text, &[]) else {
            continue;
        };
        let system = plain(&instance);
        let Some(states) = reachable(&system, 200) else {
            continue;
        };
        let Some(dag) = graph(&system, &states) else {
            continue;
        };
        for property in &system.properties {
            if !matches!(property.kind, SystemPropertyKind::Liveness(_)) {
                let certificate = Certificate::inductive(&system, &property.name, dag.clone());
                compare(&format!("seed {seed}"), &instance, &certificate);
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted >= 20 && refused >= 25, "{accepted} {refused}");
}
