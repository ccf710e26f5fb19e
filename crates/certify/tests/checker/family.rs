//! Proofs about any number of processes: those that engines find are accepted, and z3 confirms their conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_certify::{Error, check, check_family};
use threadwise_conditions::{smtlib, smtlib_family};
use threadwise_engine::{FamilyAnswer, FamilyEngine, Limits, Silent, Task};
use threadwise_evidence::family::FamilyClaim;
use threadwise_evidence::{Certificate, Claim};
use threadwise_lang::program::{Program, PropertyKind};
use threadwise_model::instance::Instance;
use threadwise_param::engine::{Prover, Way};
use threadwise_testgen::library_for_all;

use crate::checker::smtlib::{all_unsat, z3};

/// The proofs that an engine finds of a program's properties.
fn proofs(way: Way, program: &Arc<Program>) -> Vec<Certificate> {
    let invariants = program.properties.iter();
    let invariants = invariants.filter(|p| matches!(p.kind, PropertyKind::Invariant(_)));
    let invariants = invariants.map(|property| property.name.clone());
    let properties: Vec<String> = ["checks".to_owned()]
        .into_iter()
        .chain(invariants)
        .collect();
    let task = Task {
        program,
        fixed: &BTreeMap::new(),
        properties: &properties,
        solver: None,
        limits: &Limits::NONE,
    };
    let outcome = Prover::new(way).check(&task, &mut Silent);
    let answers = outcome.findings.into_iter();
    let proofs = answers.filter_map(|(answer, _)| match answer {
        FamilyAnswer::Proved(certificate) => certificate,
        _ => None,
    });
    proofs.collect()
}

fn program(text: &str) -> Arc<Program> {
    Arc::new(threadwise_lang::check(text).program.expect("no errors"))
}

/// A model of the library.
fn model(name: &str) -> Arc<Program> {
    let mut models = library_for_all().into_iter();
    let (_, text) = models.find(|(known, _)| known == name).expect("a model");
    program(&text)
}

fn conditions(program: &Arc<Program>, certificate: &Certificate) -> String {
    let mut text = String::new();
    let property = &certificate.property;
    smtlib_family(program, certificate, property, &mut text).expect("conditions");
    text
}

#[test]
fn what_engines_prove_is_accepted_and_confirmed() {
    let models = [
        ("bakery", 2),
        ("fkp2014_extended", 2),
        ("readflag", 1),
        ("semaphore", 2),
        ("shareds", 4),
        ("parent_child", 1),
        ("spin2003", 1),
        ("stack", 4),
    ];
    for (name, expected) in models {
        let program = model(name);
        let proofs = proofs(Way::COUNTER, &program);
        assert_eq!(proofs.len(), expected, "{name}");
        for certificate in proofs {
            let read = Certificate::from_json(&certificate.to_json()).expect("a certificate");
            let checked = check_family(&program, &read, &certificate.property, &|| false);
            checked.unwrap_or_else(|error| panic!("{name}: {error}"));
            if z3() {
                assert!(all_unsat(conditions(&program, &certificate)), "{name}");
            }
        }
    }
}

#[test]
fn proofs_of_another_program_are_refused() {
    let (right, wrong) = (model("shareds"), model("shareds_bug"));
    for certificate in proofs(Way::COUNTER, &right) {
        let property = &certificate.property;
        if property != "checks" {
            continue;
        }
        let error = check_family(&wrong, &certificate, property, &|| false).unwrap_err();
        assert!(!matches!(error, Error::Unsupported(_)), "{error}");
    }
}

#[test]
fn z3_refutes_what_is_not_proved() {
    if !z3() {
        return;
    }
    let program = model("readflag");
    for mut certificate in proofs(Way::COUNTER, &program) {
        let Claim::Family(claim) = &mut certificate.claim else {
            panic!("another kind of claim");
        };
        claim.views.pop();
        assert!(!all_unsat(conditions(&program, &certificate)));
    }
}

#[test]
fn a_claim_is_checked_for_what_it_is_about() {
    let text = "
        param N = 2 where N >= 1;
        shared x: 0..1 = 0;
        process P[i: 1..N] { loop { a: x := 1 - x; } }
        invariant bit: x <= 1;
        deadlock_free;
    ";
    let program = program(text);
    let instance = Instance::new(Arc::clone(&program), &BTreeMap::new()).expect("small");
    let of_family = Certificate::family("bit", BTreeMap::new(), FamilyClaim::default());
    assert!(check_family(&program, &of_family, "bit", &|| false).is_ok());
    let refused = |error: Error, part: &str| {
        assert!(matches!(error, Error::Mismatch(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let error = check(&instance, &of_family, "bit", &|| false).unwrap_err();
    refused(error, "about all values of the parameters");
    let mut out = String::new();
    let error = smtlib(&instance, &of_family, "bit", &mut out).unwrap_err();
    refused(error, "about all values of the parameters");
    let mut of_instance = of_family.clone();
    of_instance.claim = Claim::Conjunction { parts: Vec::new() };
    let error = check_family(&program, &of_instance, "bit", &|| false).unwrap_err();
    refused(error, "about one instance");

    let check = |certificate: &Certificate, property: &str| {
        check_family(&program, certificate, property, &|| false).unwrap_err()
    };
    refused(check(&of_family, "checks"), "about `bit`");
    let mut other = of_family.clone();
    other.property = "byte".to_owned();
    refused(check(&other, "byte"), "no invariant");
    // Somebody has a step whatever is known.
    other.property = "deadlock_free".to_owned();
    assert!(check_family(&program, &other, "deadlock_free", &|| false).is_ok());
    let mut other = of_family.clone();
    other.params.insert("M".to_owned(), 1);
    refused(check(&other, "bit"), "no parameter");
    let mut other = of_family.clone();
    other.params.insert("N".to_owned(), 0);
    refused(check(&other, "bit"), "`where` does not allow");
    let mut other = of_family.clone();
    other.model = Some("0".repeat(32));
    refused(check(&other, "bit"), "names a model");
    let mut other = of_family.clone();
    other.version += 1;
    refused(check(&other, "bit"), "version");
    let cancelled = check_family(&program, &of_family, "bit", &|| true).unwrap_err();
    assert_eq!(cancelled, Error::Cancelled);
}

#[test]
fn the_example_of_the_documentation_is_accepted() {
    let page = include_str!("../../../../docs/book/src/certificates.md");
    let (_, section) = page
        .split_once("## All values of the parameters")
        .expect("a section");
    let block = |language: &str| {
        let (_, rest) = section
            .split_once(&format!("```{language}\n"))
            .expect("a block");
        rest.split_once("```").expect("its end").0
    };
    let program = program(block("tw"));
    let certificate = Certificate::from_json(block("json")).expect("a certificate");
    let report = check_family(&program, &certificate, "small", &|| false).expect("a proof");
    // One initial, two steps, one of the property.
    assert_eq!(report.conditions, 4);
    if z3() {
        assert!(all_unsat(conditions(&program, &certificate)));
    }
}
