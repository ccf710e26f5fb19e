//! Random programs: interpreter, plain and optimised lowering agree on all of them, and together
//! they exercise the whole language. What was exercised is printed and asserted.

use threadwise_lang::diagnostics::Code;
use threadwise_model::lower::lower;
use threadwise_testgen::coverage::{ForEverybody, Quality, Sample};
use threadwise_testgen::generate::{generate_for_everybody, generate_sharp};
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{agree, generated_programs, symmetry};

/// How many programs are compared.
const PROGRAMS: u64 = 400;
/// How many states of each.
const STATES: usize = 1_200;
/// How many states of each are checked for symmetry, which takes longer.
const SYMMETRIC_STATES: usize = 40;
/// Room for each dynamic template.
const CAPACITY: u32 = 3;

#[test]
fn random_programs_agree() {
    let compared = generated_programs(generate_sharp, programs(PROGRAMS), |_, _, instance| {
        let findings = agree::compare(instance, CAPACITY, STATES)?;
        let system = lower(instance, CAPACITY).map_err(|_| "not lowered a second time")?;
        symmetry::check(&system, SYMMETRIC_STATES)?;
        let states = findings.states as u64;
        let sample = Sample::new(instance, &system, states, findings.violated());
        Ok((sample, findings))
    });
    let (samples, findings): (Vec<_>, Vec<_>) = compared.into_iter().unzip();
    let count = |wanted: fn(&agree::Findings) -> bool| {
        let count = findings.iter().filter(|finding| wanted(finding)).count();
        100.0 * count as f64 / findings.len() as f64
    };
    println!(
        "complete {:.1}%, beyond 64 bits {:.1}%, templates full {:.1}%, {} transitions and {} predicates of liveness compared",
        count(|finding| finding.complete),
        count(|finding| finding.limits > 0),
        count(|finding| finding.full > 0),
        findings.iter().map(|f| f.transitions).sum::<usize>(),
        findings.iter().map(|f| f.predicates).sum::<usize>()
    );
    let quality = Quality::of(samples);
    quality.assert(&[]);
    quality.assert_started(2.0);
}

/// Loops for everybody: the same, and the permutations that types claim are there in spite of them.
#[test]
fn loops_for_everybody_agree() {
    let count = programs(150);
    let compared = generated_programs(generate_for_everybody, count, |_, _, instance| {
        let system = match lower(instance, CAPACITY) {
            Ok(system) => system,
            Err(errors) if errors[0].code == Code::ExpansionTooLarge => return Ok(None),
            Err(errors) => return Err(format!("{errors:?}")),
        };
        let findings = agree::compare(instance, CAPACITY, STATES / 2)?;
        let symmetries = symmetry::check(&system, SYMMETRIC_STATES)?;
        let loops = ForEverybody::of(instance.program());
        Ok(Some((loops, findings, symmetries)))
    });
    let too_large = compared.iter().filter(|found| found.is_none()).count();
    let compared: Vec<_> = compared.into_iter().flatten().collect();
    let mut loops = ForEverybody::default();
    for (found, ..) in &compared {
        loops.add(found);
    }
    let transitions: usize = compared.iter().map(|(_, f, _)| f.transitions).sum();
    let failing = compared.iter().filter(|(_, f, _)| f.failures).count();
    let symmetric = compared
        .iter()
        .filter(|(found, _, symmetries)| found.unordered > 0 && *symmetries > 0)
        .count();
    println!("{loops:?}\n{transitions} transitions, {failing} failing, {symmetric} symmetric");
    let count = count as usize;
    assert!(too_large <= count / 50, "{too_large} are too large");
    assert!(
        loops.unordered > count / 2 && loops.ordered > count / 2 && loops.dependent > count / 20,
        "{loops:?}"
    );
    assert!(
        loops.conditional > count / 4 && loops.nested > count / 10 && loops.asserting > count / 10,
        "{loops:?}"
    );
    assert!(transitions > 100 * count && failing > count / 5 && symmetric > count / 5);
}
