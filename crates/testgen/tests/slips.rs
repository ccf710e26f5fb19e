//! Whether the comparison of readings would notice a mistake: each slip is made in the program that the interpreter runs, and must be seen
//! within 50 random programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_model::instance::Instance;
use threadwise_testgen::slips::{Position, Slip, misread};
use threadwise_testgen::{agree, generate, instance};

/// Within how many programs a slip must be noticed.
const PROGRAMS: u64 = 50;
/// How many states of each are compared.
const STATES: usize = 200;
/// Room for each dynamic template.
const CAPACITY: u32 = 3;

/// The first of the programs from this seed on by which each slip is noticed, and how many had a place for it.
fn noticed(first: u64) -> BTreeMap<(Position, Slip), (Option<u64>, u64)> {
    let mut noticed = BTreeMap::new();
    for position in Position::ALL {
        for slip in Slip::ALL {
            noticed.insert((position, slip), (None, 0));
        }
    }
    for number in 0..PROGRAMS {
        let text = generate::generate_sharp(first + number);
        let right = instance(&text, &[]).unwrap_or_else(|error| panic!("{text}\n{error}"));
        for ((position, slip), (by, places)) in &mut noticed {
            if by.is_some() {
                continue;
            }
            let Some(program) = misread(right.program(), *slip, *position) else {
                continue;
            };
            *places += 1;
            // One that begins outside of its types would be noticed for another reason.
            let Ok(wrong) = Instance::new(Arc::new(program), &BTreeMap::new()) else {
                continue;
            };
            if agree::compare_readings(&wrong, &right, CAPACITY, STATES).is_err() {
                *by = Some(number + 1);
            }
        }
    }
    noticed
}

#[test]
fn slips_are_noticed_within_fifty_programs() {
    let mut missed = Vec::new();
    for first in [0, 1_000_000] {
        for ((position, slip), (by, places)) in noticed(first) {
            match by {
                Some(by) => println!("{position:?} {slip:?}: program {by} from seed {first}"),
                None => missed.push(format!(
                    "{position:?} {slip:?}: not noticed from seed {first}, {places} had a place"
                )),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
