//! For tests only: random programs, and the comparison of all forms of a program.
//!
//! [`agree`] explores a program with the interpreter and compares what it finds, state by state and
//! process by process, with the plain and the optimised lowering. [`symmetry`] checks that the permutations
//! that are claimed map the program onto itself.

pub mod agree;
pub mod generate;
pub mod random;
pub mod symmetry;

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_lang::diagnostics::Severity;
use threadwise_model::instance::Instance;

/// The instance of a text with these parameter values; what is wrong with it otherwise.
pub fn instance(text: &str, params: &[(&str, i64)]) -> Result<Instance, String> {
    let checked = threadwise_lang::check(text);
    let Some(program) = checked.program else {
        let errors: Vec<String> = checked
            .diagnostics
            .iter()
            .filter(|d| d.severity() == Severity::Error)
            .map(|d| {
                let line = text[..d.span.start as usize].lines().count();
                format!("{} {} (near line {line})", d.code.as_str(), d.message)
            })
            .collect();
        return Err(errors.join("\n"));
    };
    let values: BTreeMap<String, i64> = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    Instance::new(Arc::new(program), &values).map_err(|errors| {
        let errors: Vec<String> = errors
            .iter()
            .map(|d| format!("{} {}", d.code.as_str(), d.message))
            .collect();
        errors.join("\n")
    })
}
