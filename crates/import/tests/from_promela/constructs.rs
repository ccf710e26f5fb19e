//! The table of constructs, compared with SPIN.

use std::collections::BTreeSet;

use crate::common::scratch;
use crate::from_promela::random::{Comparison, compare};
use crate::from_promela::spin::{self, Failure, Spin};
use crate::from_promela::table::{Construct, ROWS, Treatment};

/// What the table says SPIN refuses, it refuses; and of what is approximated only that differs of which the table says so.
#[test]
fn rows_are_as_spin_says() {
    if spin::skip() {
        return;
    }
    let mut wrong = Vec::new();
    let mut different = BTreeSet::new();
    for row in ROWS {
        let name = format!("row-{:?}", row.construct);
        match row.treatment {
            Treatment::Foreign(program) => {
                let said = Spin::new(&scratch(&name), program, &[]).safety();
                if !matches!(said, Err(Failure::Refused(_))) {
                    wrong.push(format!("{name}: {said:?}"));
                }
            }
            // Builds without the operator are common.
            Treatment::Approximated { .. } if row.construct == Construct::Next => {}
            Treatment::Approximated { program, .. } => {
                let formulas = program.contains("ltl f").then(|| "f".to_owned());
                let formulas: Vec<String> = formulas.into_iter().collect();
                match compare(&name, program, &[], &formulas) {
                    Comparison::Compared(sample) if sample.differences.is_empty() => {}
                    Comparison::Compared(_) => drop(different.insert(row.construct)),
                    _ => wrong.push(format!("{name}: not compared")),
                }
            }
            Treatment::Translated { .. } | Treatment::Refused(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let told = [Construct::AcceptWithFormula, Construct::NrPrWithClaim];
    assert_eq!(different, BTreeSet::from(told));
}
