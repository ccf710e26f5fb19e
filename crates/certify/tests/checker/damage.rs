//! Damaged certificates: the checker refuses exactly those that enumeration refutes.
//!
//! Five models, eight classes of damage, many variants of each. The oracle goes through every state of the
//! types' product with the reference evaluator and shares nothing with the checker.

use std::collections::BTreeMap;

use crate::checker::support::damage::{
    Count, EACH, Subject, changed, child_at, children, judge, replace, subject, subjects,
};
use crate::checker::support::{State, check, graph, library, oracle, plain, reachable, universe};
use threadwise_certify::Error;
use threadwise_evidence::certificate::digest;
use threadwise_evidence::dag::{Builder, Child, Dag};
use threadwise_evidence::{Certificate, Claim};
use threadwise_model::system::SystemPropertyKind;
use threadwise_testgen::random::Random;

#[test]
fn a_state_is_removed() {
    let mut count = Count::default();
    for subject in subjects() {
        let mut random = Random::new(1);
        for _ in 0..EACH {
            let mut states = subject.states.clone();
            states.remove(random.below(states.len()));
            let dag = graph(&subject.system, &states.into_iter().collect()).expect("finite");
            let certificate = subject.certificate(dag);
            judge(&subject, &certificate, &subject.property, &mut count);
        }
    }
    // Every reachable state has a predecessor, or is initial.
    assert_eq!((count.accepted, count.refused), (0, 5 * EACH));
}

#[test]
fn an_assertion_is_weakened() {
    let mut count = Count::default();
    for subject in subjects() {
        let mut random = Random::new(2);
        for round in 0..EACH {
            // A false child becomes true; or, every other time, one single state is added.
            let dag = if round % 2 == 0 {
                let (at, value) = child_at(&subject.dag, random.below(children(&subject.dag)));
                changed(&subject.dag, |position, _, runs| {
                    if position == at {
                        replace(runs, value, Child::TRUE);
                    }
                })
            } else {
                let mut states: std::collections::BTreeSet<State> =
                    subject.states.iter().cloned().collect();
                states.extend(random.one(&subject.universe).cloned());
                graph(&subject.system, &states).expect("finite")
            };
            let certificate = subject.certificate(dag);
            judge(&subject, &certificate, &subject.property, &mut count);
        }
    }
    assert!(count.refused >= 25 && count.accepted >= 5, "{count:?}");
}

#[test]
fn an_assertion_is_strengthened() {
    let mut count = Count::default();
    for subject in subjects() {
        let mut random = Random::new(3);
        for _ in 0..EACH {
            let (at, value) = child_at(&subject.dag, random.below(children(&subject.dag)));
            let dag = changed(&subject.dag, |position, _, runs| {
                if position == at {
                    replace(runs, value, Child::FALSE);
                }
            });
            let certificate = subject.certificate(dag);
            judge(&subject, &certificate, &subject.property, &mut count);
        }
    }
    assert!(count.refused >= 25, "{count:?}");
}

#[test]
fn nodes_are_swapped() {
    let mut count = Count::default();
    for subject in subjects() {
        let mut random = Random::new(4);
        for round in 0..EACH {
            let (at, value) = child_at(&subject.dag, random.below(children(&subject.dag)));
            let other = random.below(subject.dag.cells().len());
            let dag = changed(&subject.dag, |position, cell, runs| {
                if position != at {
                    return;
                }
                let values: u64 = runs.iter().map(|run| run.count).sum();
                if round % 2 == 0 && position > 0 {
                    // Another node as a child.
                    replace(runs, value, Child::to_node(random.below(position) as u32));
                } else if let Some(same) = subject.dag.nodes().find(|node| {
                    node.cell != *cell && node.cell >= other && node.values() == values
                }) {
                    // Another cell is tested.
                    *cell = same.cell;
                } else {
                    runs.reverse();
                }
            });
            let certificate = subject.certificate(dag);
            judge(&subject, &certificate, &subject.property, &mut count);
        }
    }
    assert!(count.refused >= 25, "{count:?}");
}

#[test]
fn processes_are_permuted() {
    let mut count = Count::default();
    for subject in subjects() {
        let cells = subject.dag.cells().to_vec();
        let sizes: BTreeMap<usize, u64> = subject
            .dag
            .nodes()
            .map(|node| (node.cell, node.values()))
            .collect();
        let mut random = Random::new(5);
        for _ in 0..EACH {
            // Two cells with equally many values change places; whole processes now and then.
            let a = random.below(cells.len());
            let alike: Vec<usize> = (0..cells.len())
                .filter(|b| sizes.get(b) == sizes.get(&a))
                .collect();
            let b = *random.one(&alike).expect("itself");
            let whole = random.percent(40);
            let process = |name: &str| name.find(']').map(|end| name[..=end].to_owned());
            let swap = |name: &str| -> String {
                match (process(&cells[a]), process(&cells[b])) {
                    (Some(p), Some(q)) if whole && name.starts_with(&p) => name.replacen(&p, &q, 1),
                    (Some(p), Some(q)) if whole && name.starts_with(&q) => name.replacen(&q, &p, 1),
                    (Some(_), Some(_)) if whole => name.to_owned(),
                    _ if name == cells[a] => cells[b].clone(),
                    _ if name == cells[b] => cells[a].clone(),
                    _ => name.to_owned(),
                }
            };
            let mut value = serde_json::to_value(&subject.dag).expect("a graph");
            value["cells"] = cells
                .iter()
                .map(|name| swap(name))
                .collect::<Vec<_>>()
                .into();
            let Ok(dag) = serde_json::from_value::<Dag>(value) else {
                continue;
            };
            let certificate = subject.certificate(dag);
            judge(&subject, &certificate, &subject.property, &mut count);
        }
    }
    assert!(count.refused >= 25 && count.accepted >= 5, "{count:?}");
}

#[test]
fn the_model_is_another() {
    let mut count = Count::default();
    let subjects = subjects();
    // As they are, the digest gives them away.
    for subject in &subjects {
        for other in subjects.iter().filter(|other| other.name != subject.name) {
            let mut certificate = other.certificate(other.dag.clone());
            certificate.property.clone_from(&subject.property);
            certificate.params = subject.system.params.iter().cloned().collect();
            let answer = check(&subject.instance, &certificate, &subject.property, &|| {
                false
            });
            assert!(matches!(answer, Err(Error::Mismatch(_))), "{answer:?}");
            assert!(answer.unwrap_err().to_string().contains("another model"));
            // With a forged digest the conditions must do.
            certificate.model = Some(digest(&subject.system));
            judge(subject, &certificate, &subject.property, &mut count);
        }
    }
    // Variants of a model: the same cells, other steps.
    let text = |name: &str| {
        let path = format!("{}/../../models/{name}.tw", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("a model")
    };
    let changes = [
        ("mux_sem", "await x; x := false;", "x := false;"),
        ("mux_sem", "leave:    x := true;", "leave:    skip;"),
        ("mux_sem", "shared x: bool = true", "shared x: bool = any"),
        ("mux_sem", "shared x: bool = true", "shared x: bool = false"),
        ("mux_sem", "await x; x := false;", "await x; x := true;"),
        ("peterson", "y[i], s[1] := 1, i;", "y[i], s[1] := 0, i;"),
        (
            "peterson",
            "shared s: array[1..N] of P = any",
            "shared s: array[1..N] of P = 1",
        ),
        ("peterson", "leave:    y[i] := 0;", "leave:    skip;"),
        (
            "peterson",
            "j != i -> y[j] < y[i]",
            "j != i -> y[j] <= y[i]",
        ),
    ];
    for (name, from, to) in changes {
        let subject = subjects.iter().find(|s| s.name == name).expect("a model");
        let source = text(name);
        assert!(source.contains(from), "{name}: {from}");
        let params: Vec<(&str, i64)> = subject
            .system
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let changed = source.replace(from, to);
        let Ok(instance) = threadwise_testgen::instance(&changed, &params) else {
            continue;
        };
        let system = plain(&instance);
        for property in &subject.system.properties {
            if let SystemPropertyKind::Liveness(_) = property.kind {
                continue;
            }
            let mut certificate =
                Certificate::inductive(&subject.system, &property.name, subject.dag.clone());
            certificate.model = None;
            let variant = Subject {
                name: subject.name,
                instance: instance.clone(),
                universe: universe(&system, 200_000).expect("small"),
                states: Vec::new(),
                property: property.name.clone(),
                dag: subject.dag.clone(),
                system: plain(&instance),
            };
            judge(&variant, &certificate, &property.name, &mut count);
        }
    }
    assert!(count.refused >= 25, "{count:?}");
}

#[test]
fn there_are_other_numbers_of_processes() {
    let mut count = Count::default();
    let sizes: [(&str, &[i64], &str); 5] = [
        ("mux_sem", &[2, 3, 4], "mutex"),
        ("mux_sem_last", &[2, 3], "owner"),
        ("mux_sem_short", &[2, 3, 4], "mutex"),
        ("peterson", &[2], "mutex"),
        ("test_and_set", &[2, 3], "mutex"),
    ];
    for (name, sizes, property) in sizes {
        for here in sizes {
            let subject = subject(name, &[("N", *here)], property);
            for there in 2..=5 {
                let other = library(name, &[("N", there)]);
                let system = plain(&other);
                let Some(states) = reachable(&system, 3_000) else {
                    continue;
                };
                let dag = graph(&system, &states).expect("finite");
                let mut certificate = Certificate::inductive(&system, property, dag);
                // As it is, then with the envelope of this instance.
                judge(&subject, &certificate, property, &mut count);
                certificate.params = subject.system.params.iter().cloned().collect();
                certificate.model = None;
                judge(&subject, &certificate, property, &mut count);
            }
        }
    }
    assert!(count.refused >= 25, "{count:?}");
}

#[test]
fn the_property_is_another() {
    let mut count = Count::default();
    let mut renamed = Count::default();
    let names = [
        "wrong_hyman",
        "wrong_peterson2",
        "wrong_test_and_set",
        "mux_sem",
        "dekker",
    ];
    for name in names {
        let instance = library(name, &[]);
        let system = plain(&instance);
        let Some(universe) = universe(&system, 200_000) else {
            continue;
        };
        let states = reachable(&system, 10_000).expect("small");
        let dag = graph(&system, &states).expect("finite");
        let properties: Vec<String> = system.properties.iter().map(|p| p.name.clone()).collect();
        let subject = Subject {
            name,
            universe,
            states: states.into_iter().collect(),
            property: String::new(),
            dag,
            instance,
            system,
        };
        for of in &properties {
            for asked in &properties {
                let mut certificate =
                    Certificate::inductive(&subject.system, of, subject.dag.clone());
                judge(&subject, &certificate, asked, &mut count);
                certificate.property.clone_from(asked);
                judge(&subject, &certificate, asked, &mut renamed);
            }
        }
    }
    assert!(count.refused >= 25, "{count:?}");
    assert!(
        renamed.refused >= 10 && renamed.accepted >= 10,
        "{renamed:?}"
    );
}

#[test]
fn truncated_and_malformed_files_are_refused_with_a_message() {
    let subject = subject("mux_sem", &[("N", 3)], "mutex");
    let text = subject.certificate(subject.dag.clone()).to_json();
    for end in 0..text.len() {
        if let Some(part) = text.get(..end) {
            let error = Certificate::from_json(part).expect_err("a part");
            assert!(error.to_string().contains("not a certificate"), "{error}");
        }
    }
    let mut random = Random::new(9);
    let mut refused = 0;
    for _ in 0..2_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = *random.one(b"0123456789-[]{},\":x").expect("a letter");
        }
        let Ok(damaged) = String::from_utf8(bytes) else {
            continue;
        };
        match Certificate::from_json(&damaged) {
            // Whatever can be read is judged like any other.
            Ok(certificate) => {
                let expected = oracle(
                    &subject.system,
                    &subject.universe,
                    &certificate,
                    &subject.property,
                );
                let answer = check(&subject.instance, &certificate, &subject.property, &|| {
                    false
                });
                let forged = certificate.model != Some(digest(&subject.system));
                assert!(
                    answer.is_ok() == expected.is_ok() || forged && answer.is_err(),
                    "{damaged}"
                );
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(refused >= 500, "{refused}");
    for (from, to, message) in [
        ("\"version\":1", "\"version\":2", "version 2"),
        ("\"kind\":\"inductive\"", "\"kind\":\"magic\"", "magic"),
        ("\"root\":", "\"root\":99", "the root 99"),
        ("\"cells\":[\"x\"", "\"cells\":[\"x\",\"x\"", "listed twice"),
        ("\"nodes\":[[", "\"nodes\":[[],[", "has no children"),
        (
            "\"nodes\":[[",
            "\"nodes\":[[0,2],[",
            "not 0, 1 or an earlier node",
        ),
        (
            "\"nodes\":[[",
            "\"nodes\":[[99,0],[",
            "tests cell number 99",
        ),
        (
            "\"nodes\":[[",
            "\"nodes\":[[0,-3],[",
            "repeats a child that is not there",
        ),
        (
            "\"nodes\":[[",
            "\"nodes\":[[0,1,-9223372036854775808],[",
            "too often",
        ),
        ("\"params\"", "\"parameters\"", "unknown field"),
        ("\"N\":3", "\"N\":2,\"N\":3", "`N` has two values"),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        let error = Certificate::from_json(&damaged).expect_err(to).to_string();
        assert!(error.contains(message), "{to}: {error}");
    }
    // What can only be seen beside the model.
    for (from, to, message) in [
        ("\"x\"", "\"z\"", "no cell `z`"),
        ("\"nodes\":[[0,", "\"nodes\":[[0,1,", "children, and"),
        ("\"N\":3", "\"N\":3,\"M\":1", "no parameter"),
        ("\"N\":3", "", "no value of `N`"),
    ] {
        let damaged = text.replacen(from, to, 1);
        if damaged == text {
            continue;
        }
        let Ok(certificate) = Certificate::from_json(&damaged) else {
            continue;
        };
        let error = check(&subject.instance, &certificate, "mutex", &|| false).expect_err(to);
        assert!(error.to_string().contains(message), "{to}: {error}");
    }
}

#[test]
fn deep_and_large_graphs_are_no_trouble() {
    let instance = library("mux_sem", &[("N", 3)]);
    let system = plain(&instance);
    // A chain as deep as it has nodes, which tests the same cell over and over.
    let mut nodes = String::from("[0,0,1]");
    for node in 0..200_000u32 {
        nodes.push_str(&format!(",[0,{},{}]", node + 2, node + 2));
    }
    let text = format!(
        "{{\"version\":1,\"property\":\"mutex\",\"params\":{{\"N\":3}},\"claim\":{{\"kind\":\"inductive\",\
         \"cells\":[\"x\"],\"nodes\":[{nodes}],\"root\":200002}}}}"
    );
    let certificate = Certificate::from_json(&text).expect("well-formed");
    let Claim::Inductive(dag) = &certificate.claim else {
        panic!("another claim");
    };
    assert_eq!(dag.len(), 200_001);
    // It ends by itself, long before it has asked so often whether to go on.
    let asked = std::cell::Cell::new(0);
    let answer = check(&instance, &certificate, "mutex", &|| {
        asked.set(asked.get() + 1);
        asked.get() > 10_000_000
    });
    assert!(matches!(answer, Err(Error::Rejected(_))), "{answer:?}");
    // A builder makes one node of all that.
    let mut builder = Builder::new([("x".to_owned(), 2)]);
    let mut child = builder
        .node_of(0, [Child::FALSE, Child::TRUE])
        .expect("a node");
    for _ in 0..10 {
        child = builder.node_of(0, [child, child]).expect("a node");
    }
    assert_eq!(builder.finish(child).len(), 1);
    let _ = system;
}
