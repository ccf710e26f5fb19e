//! Instances from texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_evidence::Trace;
use threadwise_model::instance::Instance;
use threadwise_show::{Drawing, Layout};

/// The instance of a text with these parameter values.
pub fn instance(text: &str, values: &[(&str, i64)]) -> Instance {
    let checked = threadwise_lang::check(text);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    let values: BTreeMap<String, i64> = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    Instance::new(Arc::new(program), &values).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// A trace as it is drawn.
pub fn drawn(trace: &Trace, source: Option<&str>, width: Option<usize>, layout: Layout) -> String {
    let drawing = Drawing {
        source,
        width,
        folded: true,
    };
    let lines = drawing.lines(trace, layout).into_iter();
    lines.map(|line| line.text() + "\n").collect()
}
