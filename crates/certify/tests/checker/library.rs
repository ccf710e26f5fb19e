//! Certificates from the reachable states of library models are accepted, and only where the property holds.

use crate::checker::support::{check, graph, library, plain, reachable};
use threadwise_certify::Error;
use threadwise_evidence::Certificate;
use threadwise_model::system::SystemPropertyKind;

#[test]
fn reachable_states_prove_what_they_can() {
    let mut proved = 0;
    let mut refused = 0;
    for (name, text) in threadwise_testgen::library() {
        let instance = threadwise_testgen::instance(&text, &[]).expect("a model");
        let system = plain(&instance);
        let Some(states) = reachable(&system, 5_000) else {
            continue;
        };
        let Some(dag) = graph(&system, &states) else {
            continue;
        };
        for property in &system.properties {
            if let SystemPropertyKind::Liveness(_) = property.kind {
                continue;
            }
            let certificate = Certificate::inductive(&system, &property.name, dag.clone());
            let expected = crate::checker::support::oracle(
                &system,
                &states.iter().cloned().collect::<Vec<_>>(),
                &certificate,
                &property.name,
            );
            let begun = std::time::Instant::now();
            let answer = check(&instance, &certificate, &property.name, &|| false);
            println!(
                "{name} {} {} states {} nodes: {:?} {:?}",
                property.name,
                states.len(),
                dag.len(),
                answer.as_ref().map_err(ToString::to_string),
                begun.elapsed()
            );
            match (&expected, &answer) {
                (Ok(()), Ok(_)) => proved += 1,
                (Err(_), Err(Error::Rejected(_))) => refused += 1,
                (_, Err(Error::Unsupported(_))) if system.templates.iter().any(|t| t.dynamic) => {}
                _ => panic!("{name}, {}: {expected:?} {answer:?}", property.name),
            }
        }
    }
    assert!(proved >= 40, "{proved}");
    assert!(refused >= 5, "{refused}");
}

#[test]
fn the_examples_of_the_documentation_are_certificates() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/book/src/certificates.md"
    );
    let page = std::fs::read_to_string(path).expect("the page");
    // What follows is about all instances, with an example of its own.
    let (page, _) = page
        .split_once("## All values of the parameters")
        .expect("a section");
    let examples: Vec<&str> = page
        .split("```json")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let mut certificate = Certificate::from_json(example).expect("well-formed");
        // The page does not go with every change of the model.
        certificate.model = None;
        let instance = library("mux_sem", &[("N", 2)]);
        check(&instance, &certificate, "mutex", &|| false).expect("a proof");
    }
}
