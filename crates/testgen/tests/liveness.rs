//! Random programs with fairness: interpreter and lowering agree on all predicates. And the oracle for liveness on them: where it says that a property holds, no random run says otherwise. (Where it says that one is
//! violated, the run that it gives is judged by itself.)

use threadwise_model::lower::lower;
use threadwise_model::system::SystemPropertyKind;
use threadwise_testgen::generate::generate_live;
use threadwise_testgen::liveness::{Space, judge};
use threadwise_testgen::random::Random;
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{agree, generated_programs};

const PROGRAMS: u64 = 80;
const STATES: usize = 1_500;
const CAPACITY: u32 = 1;
const WALKS: usize = 60;

#[test]
fn random_programs_with_fairness_agree() {
    let count = programs(PROGRAMS);
    let compared = generated_programs(generate_live, count, |_, _, instance| {
        agree::compare(instance, CAPACITY, STATES)
    });
    let predicates: usize = compared.iter().map(|findings| findings.predicates).sum();
    println!("{predicates} predicates");
    assert!(predicates as u64 >= 250 * count);
}

#[test]
fn random_runs_refute_no_property_that_holds() {
    let count = programs(PROGRAMS);
    let tried = generated_programs(generate_live, count, |seed, _, instance| {
        let system = lower(instance, CAPACITY).map_err(|_| "not lowered")?;
        let mut random = Random::new(seed);
        let (mut fair, mut lassos) = (0, 0);
        for property in &system.properties {
            let SystemPropertyKind::Liveness(liveness) = &property.kind else {
                continue;
            };
            let Ok(judgement) = judge(&system, liveness, STATES) else {
                continue;
            };
            let Ok(space) = Space::explore(&system, liveness, STATES) else {
                continue;
            };
            for _ in 0..WALKS {
                let length = 2 + random.below(30);
                let Some(lasso) = space.walk(length, &mut |n| random.below(n)) else {
                    continue;
                };
                lassos += 1;
                let refutes = lasso.refutes(&system, liveness);
                if refutes == Ok(true) {
                    fair += 1;
                    if judgement.violation.is_none() {
                        return Err(format!("{}: {lasso:?}", property.name));
                    }
                }
            }
        }
        Ok((lassos, fair))
    });
    let lassos: usize = tried.iter().map(|(lassos, _)| lassos).sum();
    let refuting: usize = tried.iter().map(|(_, fair)| fair).sum();
    println!("{lassos} runs, {refuting} of them refute a property");
    assert!(refuting as u64 * 4 >= 5 * count);
}
