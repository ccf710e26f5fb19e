//! Random programs: interpreter, plain and optimised lowering agree on all of them, and together
//! they exercise the whole language. What was exercised is printed and asserted.

use threadwise_model::lower::lower;
use threadwise_testgen::coverage::{Quality, Sample};
use threadwise_testgen::generate::generate_sharp;
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
    Quality::of(samples).assert(&[]);
}
