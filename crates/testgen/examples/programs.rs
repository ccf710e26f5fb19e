//! Writes random programs to a folder, for `scripts/compare-engines`: `programs FOLDER FIRST COUNT`, one for each seed from FIRST on. Odd seeds
//! give programs with liveness properties under fairness.

#![allow(missing_docs)]

use std::path::PathBuf;
use threadwise_testgen::generate::{generate, generate_live, generate_sharp};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, first, count] = arguments.as_slice() else {
        panic!("programs FOLDER FIRST COUNT");
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let (first, count) = (number(first), number(count));
    for seed in first..first.saturating_add(count) {
        let text = match seed % 4 {
            0 => generate(seed),
            2 => generate_sharp(seed),
            _ => generate_live(seed),
        };
        let file = PathBuf::from(folder).join(format!("{seed}.tw"));
        std::fs::write(file, text).expect("the folder can be written");
    }
}
