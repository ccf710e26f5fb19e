//! Certificates in parts: split invariants of small models, damaged in every way; the checker refuses exactly those that
//! enumeration refutes.

use crate::checker::support::damage::{
    Count, EACH, Subject, changed, child_at, children, judge, replace, subjects,
};
use crate::checker::support::split::{Part, graphs, scopes, strongest};
use crate::checker::support::{check, library, plain, processes};
use threadwise_certify::{Condition, Error};
use threadwise_evidence::Certificate;
use threadwise_evidence::dag::{Child, Dag};
use threadwise_model::system::SystemPropertyKind;
use threadwise_testgen::random::Random;

/// The split invariant of a model, and the pairwise one.
fn invariants(subject: &Subject) -> Vec<Vec<Part>> {
    let invariant = |pairs| {
        let scopes = scopes(&subject.system, pairs);
        strongest(&subject.system, scopes, 200_000).expect("small")
    };
    let mut invariants = vec![invariant(false)];
    if processes(&subject.system).count() > 2 {
        invariants.push(invariant(true));
    }
    invariants
}

fn certificate(subject: &Subject, dags: Vec<Dag>) -> Certificate {
    Certificate::conjunction(&subject.system, &subject.property, dags)
}

/// Judges certificates in parts for every property that a model has.
fn judge_all(subject: &Subject, dags: &[Dag], count: &mut Count) {
    for property in &subject.system.properties {
        if !matches!(property.kind, SystemPropertyKind::Liveness(_)) {
            let parts = dags.to_vec();
            let certificate = Certificate::conjunction(&subject.system, &property.name, parts);
            judge(subject, &certificate, &property.name, count);
        }
    }
}

/// Damages invariants, or their graphs, and judges what comes out for the property that holds.
fn damaged(seed: u64, damage: impl Fn(&Subject, &mut Random, &mut Vec<Part>)) -> Count {
    let mut count = Count::default();
    for subject in subjects() {
        for mut parts in invariants(&subject) {
            // Something to damage that is a proof.
            parts.push(whole(&subject));
            let mut random = Random::new(seed);
            for _ in 0..EACH / 2 {
                let mut parts = parts.clone();
                damage(&subject, &mut random, &mut parts);
                let dags = graphs(&subject.system, &parts).expect("finite");
                let certificate = certificate(&subject, dags);
                judge(&subject, &certificate, &subject.property, &mut count);
            }
        }
    }
    count
}

/// The same for a change of one graph.
fn damaged_graph(seed: u64, damage: impl Fn(&mut Random, &Dag) -> Dag) -> Count {
    let mut count = Count::default();
    for subject in subjects() {
        for mut parts in invariants(&subject) {
            parts.push(whole(&subject));
            let dags = graphs(&subject.system, &parts).expect("finite");
            let mut random = Random::new(seed);
            for _ in 0..EACH {
                let mut dags = dags.clone();
                let at = somewhere(&mut random, dags.len());
                if !dags[at].is_empty() {
                    dags[at] = damage(&mut random, &dags[at]);
                }
                let certificate = certificate(&subject, dags);
                judge(&subject, &certificate, &subject.property, &mut count);
            }
        }
    }
    count
}

/// Which part is damaged: every other time the last one, without which the others are weak.
fn somewhere(random: &mut Random, parts: usize) -> usize {
    if random.percent(50) {
        parts - 1
    } else {
        random.below(parts)
    }
}

/// The reachable states as a part.
fn whole(subject: &Subject) -> Part {
    let mut whole = Part::new((0..subject.system.cells).collect());
    whole.values.extend(subject.states.iter().cloned());
    whole
}

#[test]
fn split_invariants_prove_what_they_can() {
    let mut count = Count::default();
    for subject in subjects() {
        for parts in invariants(&subject) {
            let dags = graphs(&subject.system, &parts).expect("finite");
            judge_all(&subject, &dags, &mut count);
        }
    }
    // Without refinement some are too weak, and never is one not inductive.
    assert!(count.accepted >= 10 && count.refused >= 3, "{count:?}");
}

#[test]
fn the_order_of_parts_does_not_matter_nor_that_one_is_there_twice() {
    let count = damaged(1, |_, random, parts| {
        let twice = random.one(parts).cloned();
        parts.extend(twice);
        for at in 0..parts.len() {
            let other = random.below(parts.len());
            parts.swap(at, other);
        }
    });
    assert!(count.refused == 0 && count.accepted >= 50, "{count:?}");
}

#[test]
fn a_state_is_removed_from_a_part() {
    let count = damaged(2, |_, random, parts| {
        let at = random.below(parts.len());
        let values: Vec<_> = parts[at].values.iter().cloned().collect();
        parts[at].values.remove(&values[random.below(values.len())]);
    });
    // Every state of the strongest parts, and every reachable one, is led to from others, or initial. Where a part excludes what
    // another one leads to, fewer states can be inductive too.
    assert!(count.refused >= 60, "{count:?}");
}

#[test]
fn a_part_is_weakened() {
    let count = damaged(3, |subject, random, parts| {
        let at = somewhere(random, parts.len());
        for _ in 0..=random.below(3) {
            let state = random.one(&subject.universe).expect("states");
            let values = parts[at].project(state);
            parts[at].values.insert(values);
        }
    });
    assert!(count.refused >= 10 && count.accepted >= 10, "{count:?}");
}

#[test]
fn a_part_is_dropped() {
    let mut count = Count::default();
    for subject in subjects() {
        for parts in invariants(&subject) {
            for at in 0..parts.len() {
                let mut parts = parts.clone();
                parts.remove(at);
                let dags = graphs(&subject.system, &parts).expect("finite");
                judge_all(&subject, &dags, &mut count);
            }
        }
    }
    assert!(count.refused >= 30, "{count:?}");
}

#[test]
fn a_part_is_about_another_process() {
    let count = damaged(4, |subject, random, parts| {
        // Without what is said of the whole.
        parts.pop();
        let at = random.below(parts.len());
        let all: Vec<usize> = (0..subject.system.cells).collect();
        let mut cells = all.clone();
        for cell in &mut cells {
            if random.percent(20) {
                *cell = *random.one(&all).expect("a cell");
            }
        }
        // Values of some cells, said of others.
        let moved: Vec<usize> = parts[at].cells.iter().map(|cell| cells[*cell]).collect();
        let domains = threadwise_evidence::certificate::cell_values(&subject.system);
        let fits = |(from, to): (&usize, &usize)| domains[*from] == domains[*to];
        let ascending = moved.windows(2).all(|pair| pair[0] < pair[1]);
        if ascending && parts[at].cells.iter().zip(&moved).all(fits) {
            parts[at].cells = moved;
        }
    });
    assert!(count.refused + count.accepted >= 50, "{count:?}");
}

#[test]
fn a_graph_of_a_part_is_wrong() {
    for leaf in [Child::FALSE, Child::TRUE] {
        let count = damaged_graph(5, |random, dag| {
            let (at, value) = child_at(dag, random.below(children(dag)));
            changed(dag, |position, _, runs| {
                if position == at {
                    replace(runs, value, leaf);
                }
            })
        });
        assert!(count.refused >= 10, "{count:?}");
    }
    let count = damaged_graph(6, |random, dag| {
        let (at, value) = child_at(dag, random.below(children(dag)));
        changed(dag, |position, _, runs| {
            if position == at && position > 0 {
                replace(runs, value, Child::to_node(random.below(position) as u32));
            } else if position == at {
                runs.reverse();
            }
        })
    });
    assert!(count.refused >= 10, "{count:?}");
}

#[test]
fn no_parts_at_all_say_nothing() {
    let mut count = Count::default();
    for subject in subjects() {
        judge_all(&subject, &[], &mut count);
        // Nor does what contains everything.
        judge_all(&subject, &[Dag::leaf(true), Dag::leaf(true)], &mut count);
        judge_all(&subject, &[Dag::leaf(true), Dag::leaf(false)], &mut count);
    }
    assert!(count.refused >= 30, "{count:?}");
    // What holds in all states of the types is proved so.
    let text = "shared x: 0..3 = 0; process P[i: 1..3] { loop { a: x := 3 - x; } } invariant small: x < 4;";
    let instance = threadwise_testgen::instance(text, &[]).expect("a program");
    let system = plain(&instance);
    let nothing = Certificate::conjunction(&system, "small", Vec::new());
    check(&instance, &nothing, "small", &|| false).expect("a proof");
    let text = text.replace("x < 4", "x < 3");
    let instance = threadwise_testgen::instance(&text, &[]).expect("a program");
    let nothing = Certificate::conjunction(&plain(&instance), "small", Vec::new());
    match check(&instance, &nothing, "small", &|| false) {
        Err(Error::Rejected(rejection)) => {
            assert_eq!(rejection.condition, Condition::Property("small".into()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_refused_says_why() {
    let instance = library("mux_sem", &[("N", 3)]);
    let system = plain(&instance);
    let text = Certificate::conjunction(&system, "mutex", vec![Dag::leaf(true)]).to_json();
    let part = "{\"cells\":[],\"nodes\":[],\"root\":1}";
    assert!(text.ends_with(&format!(
        "\"claim\":{{\"kind\":\"conjunction\",\"parts\":[{part}]}}}}"
    )));
    // What is no certificate.
    for (from, to, message) in [
        ("\"parts\":", "\"part\":", "unknown field `part`"),
        (
            "\"parts\":",
            "\"more\":1,\"parts\":",
            "unknown field `more`",
        ),
        (
            ",\"parts\":[",
            ",\"cells\":[],\"parts\":[",
            "unknown field `cells`",
        ),
        ("\"root\":1", "\"root\":2", "the root 2"),
        ("\"nodes\":[]", "\"nodes\":[[0,1]]", "tests cell number 0"),
        ("\"conjunction\"", "\"inductive\"", "unknown field `parts`"),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        let error = Certificate::from_json(&damaged).expect_err(to).to_string();
        assert!(error.contains(message), "{to}: {error}");
    }
    let missing = text.replacen(&format!(",\"parts\":[{part}]"), "", 1);
    assert!(Certificate::from_json(&missing).is_err(), "{missing}");
    // What does not fit the model.
    for (second, message) in [
        ("{\"cells\":[\"z\"],\"nodes\":[],\"root\":1}", "no cell `z`"),
        (
            "{\"cells\":[\"x\"],\"nodes\":[[0,1,0,1]],\"root\":2}",
            "children, and",
        ),
        (
            "{\"cells\":[\"P[4]\"],\"nodes\":[],\"root\":1}",
            "no cell `P[4]`",
        ),
    ] {
        let longer = text.replacen(part, &format!("{part},{second}"), 1);
        let certificate = Certificate::from_json(&longer).expect("well-formed");
        let error = check(&instance, &certificate, "mutex", &|| false).expect_err(second);
        assert!(matches!(error, Error::Mismatch(_)), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}
