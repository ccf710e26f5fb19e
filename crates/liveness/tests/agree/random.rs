//! Random programs with random fairness and properties.
//!
//! ```sh
//! cargo test --release -p threadwise-liveness --test all -- --ignored agree::   # fifty times as many, and larger ones
//! ```

use threadwise_model::lower::lower;
use threadwise_model::system::SystemPropertyKind;
use threadwise_testgen::coverage::{Quality, Sample};
use threadwise_testgen::generate::generate_live;
use threadwise_testgen::generated_programs;
use threadwise_testgen::liveness::judge;
use threadwise_testgen::sweep::programs;

use crate::agree::common::{Count, Question, compare, settings};

/// Programs that are generated.
const SEEDS: u64 = 440;
/// Programs that are compared at least.
const PROGRAMS: u64 = 400;
/// Larger ones are left out.
const STATES: usize = 150;

#[derive(Debug, Default)]
struct Findings {
    sample: Option<Sample>,
    properties: usize,
    needs_fairness: bool,
    flips: bool,
    holds: usize,
    counts: Vec<Count>,
}

#[test]
fn engines_agree_with_the_oracle_on_random_programs() {
    compare_random(programs(SEEDS), STATES, programs(PROGRAMS));
}

#[test]
#[ignore = "takes minutes"]
fn engines_agree_with_the_oracle_on_many_random_programs() {
    compare_random(50 * SEEDS, 10 * STATES, 50 * PROGRAMS);
}

/// Compares engines on the programs of so many seeds, those with at most so many states, of which there must be so many.
fn compare_random(seeds: u64, states: usize, least: u64) {
    let settings = settings();
    let found = generated_programs(generate_live, seeds, |seed, _, instance| {
        let system = lower(instance, 1).map_err(|_| "not lowered")?;
        let mut findings = Findings {
            counts: vec![Count::default(); settings.len()],
            ..Findings::default()
        };
        let mut most = 0;
        for property in &system.properties {
            let SystemPropertyKind::Liveness(liveness) = &property.kind else {
                continue;
            };
            let Ok(judgement) = judge(&system, liveness, states) else {
                continue;
            };
            findings.properties += 1;
            findings.needs_fairness |= judgement.needs_fairness;
            findings.flips |= judgement.flips;
            findings.holds += usize::from(judgement.violation.is_none());
            most = most.max(judgement.states);
            let question = Question {
                instance,
                system: &system,
                property,
                liveness,
            };
            // Every engine, with symmetry for half of the programs.
            let symmetric = seed % 2 == 0;
            for (setting, count) in settings.iter().zip(&mut findings.counts) {
                if setting.symmetric == symmetric {
                    *count += compare(question, &judgement, setting)?;
                }
            }
        }
        if findings.properties > 0 {
            let violated = findings.holds < findings.properties;
            findings.sample = Some(Sample::new(instance, &system, most as u64, violated));
        }
        Ok(findings)
    });
    let mut found = found;
    found.retain(|findings| findings.properties > 0);
    let programs = found.len();
    let share = |wanted: fn(&Findings) -> bool| {
        let count = found.iter().filter(|findings| wanted(findings)).count();
        100.0 * count as f64 / programs as f64
    };
    let properties: usize = found.iter().map(|findings| findings.properties).sum();
    let holds: usize = found.iter().map(|findings| findings.holds).sum();
    let needs_fairness = share(|findings| findings.needs_fairness);
    let flips = share(|findings| findings.flips);
    println!(
        "{programs} programs, {properties} properties, {holds} hold; {needs_fairness:.1}% of the programs have one that holds only because of an \
         assumption, {flips:.1}% one whose verdict flips with the polarity of strong assumptions"
    );
    let mut refined = 0;
    for (number, setting) in settings.iter().enumerate() {
        let mut count = Count::default();
        found.iter().for_each(|f| count += f.counts[number]);
        println!("{}: {count:?}", setting.name);
        assert!(count.proved >= programs / 4 && count.violated >= programs / 5);
        assert!(count.gave_up * 50 <= count.proved + count.violated);
        refined += count.refined;
    }
    assert!(refined >= programs / 2, "only {refined} refined");
    assert!(programs as u64 >= least, "only {programs} programs");
    assert!(needs_fairness >= 25.0);
    assert!(flips >= 10.0);
    assert!(holds * 4 > properties && holds * 4 < properties * 3);
    let samples = found.into_iter().filter_map(|findings| findings.sample);
    Quality::of(samples).assert_statements(2.0, &["start"]);
}
