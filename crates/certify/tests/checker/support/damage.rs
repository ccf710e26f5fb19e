//! Models whose certificates are damaged, and the comparison of the checker with the oracle on them.

use threadwise_certify::Error;
use threadwise_evidence::Certificate;
use threadwise_evidence::dag::{Child, Dag, Run};
use threadwise_model::instance::Instance;
use threadwise_model::system::System;

use super::{State, check, graph, library, oracle, plain, reachable, universe};

pub struct Subject {
    pub name: &'static str,
    pub instance: Instance,
    pub system: System,
    pub universe: Vec<State>,
    pub states: Vec<State>,
    pub property: String,
    pub dag: Dag,
}

/// Values of parameters.
type Params = &'static [(&'static str, i64)];

/// The models, with a property that each of them has and that holds.
const MODELS: [(&str, Params, &str); 5] = [
    ("mux_sem", &[("N", 3)], "mutex"),
    ("mux_sem_last", &[("N", 3)], "owner"),
    ("dekker", &[], "mutex"),
    ("peterson", &[("N", 2)], "deadlock_free"),
    ("bakery", &[("N", 2)], "checks"),
];

pub fn subject(name: &'static str, params: &[(&str, i64)], property: &str) -> Subject {
    let instance = library(name, params);
    let system = plain(&instance);
    let universe = universe(&system, 200_000).expect("small");
    let states = reachable(&system, 10_000).expect("small");
    let dag = graph(&system, &states).expect("finite");
    Subject {
        name,
        instance,
        universe,
        states: states.into_iter().collect(),
        property: property.to_owned(),
        dag,
        system,
    }
}

pub fn subjects() -> Vec<Subject> {
    MODELS
        .into_iter()
        .map(|(name, params, property)| subject(name, params, property))
        .collect()
}

impl Subject {
    pub fn certificate(&self, dag: Dag) -> Certificate {
        Certificate::inductive(&self.system, &self.property, dag)
    }
}

#[derive(Default, Debug)]
pub struct Count {
    pub accepted: usize,
    pub refused: usize,
}

/// Has the checker and the oracle judge, and compares.
pub fn judge(subject: &Subject, certificate: &Certificate, property: &str, count: &mut Count) {
    // Through the written form, as a file would come.
    let certificate = Certificate::from_json(&certificate.to_json()).expect("well-formed");
    let expected = oracle(&subject.system, &subject.universe, &certificate, property);
    let answer = check(&subject.instance, &certificate, property, &|| false);
    match (&expected, &answer) {
        (Ok(()), Ok(_)) => count.accepted += 1,
        (Err(_), Err(Error::Rejected(_) | Error::Mismatch(_))) => count.refused += 1,
        _ => panic!("{}, {property}: {expected:?} but {answer:?}", subject.name),
    }
}

/// A graph with the nodes of another one, each changed by `change`, which sees its position, cell and children.
pub fn changed(dag: &Dag, mut change: impl FnMut(usize, &mut usize, &mut Vec<Run>)) -> Dag {
    let written: serde_json::Value = serde_json::to_value(dag).expect("a graph");
    let mut nodes = Vec::new();
    for (position, node) in dag.nodes().enumerate() {
        let (mut cell, mut runs) = (node.cell, node.runs.to_vec());
        change(position, &mut cell, &mut runs);
        let mut numbers = vec![cell as u64];
        for run in runs {
            let child = match run.child.node() {
                Some(node) => node as u64 + 2,
                None => u64::from(run.child == Child::TRUE),
            };
            numbers.extend(std::iter::repeat_n(child, run.count as usize));
        }
        nodes.push(numbers);
    }
    let value = serde_json::json!({
        "cells": written["cells"], "nodes": nodes, "root": written["root"],
    });
    serde_json::from_value(value).expect("well-formed")
}

/// One child of a node, by position of the value.
pub fn replace(runs: &mut Vec<Run>, value: usize, child: Child) {
    let mut children: Vec<Child> = runs
        .iter()
        .flat_map(|run| std::iter::repeat_n(run.child, run.count as usize))
        .collect();
    let at = value % children.len();
    children[at] = child;
    *runs = children
        .into_iter()
        .map(|child| Run { count: 1, child })
        .collect();
}

pub fn children(dag: &Dag) -> usize {
    dag.nodes().map(|node| node.values() as usize).sum()
}

/// The position of the node and of the value of the k-th child in a graph.
pub fn child_at(dag: &Dag, mut k: usize) -> (usize, usize) {
    for (position, node) in dag.nodes().enumerate() {
        let values = node.values() as usize;
        if k < values {
            return (position, k);
        }
        k -= values;
    }
    (0, 0)
}

/// How often each class is tried on each model; 25 in each class over all models are asked for.
pub const EACH: usize = 30;
