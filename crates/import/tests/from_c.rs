//! C programs are brought over with their meaning. Those under `tests/c` have the verdicts that they state, and every step of a run has a line of the original; arithmetic is that of gcc;
//! damaged programs do no damage.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::c_programs::{Expected, Found, bring, check, outcome, programs};
use crate::common::golden;
use threadwise_import::from_c::{DataModel, Integers, Reading};
use threadwise_testgen::origins::origins;

/// For how long a program may be checked before it counts as not decided.
const PATIENCE: Duration = Duration::from_secs(900);

#[test]
fn every_program_is_brought_over_with_its_lines() {
    let mut refused = Vec::new();
    let (mut files, mut lines) = (0, 0);
    for program in programs() {
        files += 1;
        let imported = match bring(&program.name, &program.text, Integers::Mathematical) {
            Ok(imported) => imported,
            Err(messages) => {
                refused.push(format!("{}: {messages}", program.name));
                continue;
            }
        };
        let last = program.text.lines().count() as u32;
        for line in origins(&imported.program, &imported.layout)
            .into_iter()
            .flatten()
        {
            assert!((1..=last).contains(&line), "{}: line {line}", program.name);
            lines += 1;
        }
        let checked = threadwise_lang::check(&imported.text());
        assert!(
            checked.program.is_some(),
            "{}: {:?}\n{}",
            program.name,
            checked.diagnostics,
            imported.text()
        );
        let again = bring(&program.name, &program.text, Integers::Mathematical);
        assert_eq!(again.map(|again| again.text()).ok(), Some(imported.text()));
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(
        files >= 120 && lines > 1_000,
        "{files} files, {lines} lines"
    );
}

#[test]
fn programs_become_the_models_of_the_golden_files() {
    let reading = Reading {
        integers: Integers::Mathematical,
        data_model: DataModel::Lp64,
    };
    let each = programs().into_iter().map(|program| {
        let outcome = outcome(&program.name, &program.text, reading);
        (program.name, golden::golden(&outcome))
    });
    golden::compare("c", &each.collect::<Vec<_>>());
}

#[test]
fn programs_have_the_verdicts_that_they_state() {
    let programs = programs();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let [proved, violated, for_all, steps] = [const { AtomicUsize::new(0) }; 4];
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match check(program, PATIENCE) {
                        Ok(Found::Proved { all }) => {
                            proved.fetch_add(1, Ordering::Relaxed);
                            for_all.fetch_add(usize::from(all), Ordering::Relaxed);
                        }
                        Ok(Found::Violated { lines }) => {
                            violated.fetch_add(1, Ordering::Relaxed);
                            steps.fetch_add(lines, Ordering::Relaxed);
                        }
                        Err(message) => {
                            let text = format!("{}: {message}", program.name);
                            wrong.lock().unwrap().push(text);
                        }
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let summary = format!(
        "{} proved, {} of them for any number of threads, {} violated with {} steps, {} wrong or open",
        of(&proved),
        of(&for_all),
        of(&violated),
        of(&steps),
        wrong.len()
    );
    println!("{summary}");
    assert!(wrong.is_empty(), "{summary}\n{}", wrong.join("\n"));
    assert!(of(&proved) >= 60 && of(&violated) >= 35, "{summary}");
    assert!(of(&for_all) >= 30 && of(&steps) > 300, "{summary}");
}

#[test]
fn the_programs_are_many_and_of_both_kinds() {
    let programs = programs();
    let count = |wanted: fn(&Expected) -> bool| {
        let of_kind = programs.iter().filter(|program| wanted(&program.expected));
        of_kind.count()
    };
    let proved = count(|expected| matches!(expected, Expected::Proved));
    let for_all = count(|expected| matches!(expected, Expected::ProvedForAll));
    let violated = count(|expected| matches!(expected, Expected::Violated));
    assert!(proved >= 40, "{proved}");
    // Programs that start threads have no parameter: a proof about them is for any number.
    assert!(for_all >= 15, "{for_all}");
    assert!(violated >= 40, "{violated}");
    // A name says which kind it is.
    for program in &programs {
        let wrong = program.name.contains("wrong") || program.name.contains("bug");
        assert_eq!(
            wrong,
            matches!(program.expected, Expected::Violated),
            "{}",
            program.name
        );
    }
}
