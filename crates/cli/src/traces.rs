//! Traces in their three forms.

use threadwise::Trace;
use threadwise_evidence::{to_itf, to_text};

use crate::args::TraceFormat;
use crate::words::{counted, printable};

/// How long a trace is: `7 steps`, or `2 steps, then 5 for ever`.
pub(crate) fn length(trace: &Trace) -> String {
    let steps = trace.steps.len();
    match trace.loop_from {
        None => counted(steps as u64, "step"),
        Some(from) => format!(
            "{}, then {} for ever",
            counted(from as u64, "step"),
            counted(steps.saturating_sub(from) as u64, "step")
        ),
    }
}

/// A trace as text; `source` is the model that it is about.
pub(crate) fn in_form(
    trace: &Trace,
    form: TraceFormat,
    source: &str,
) -> serde_json::Result<String> {
    let mut text = match form {
        // Lines of the source are in it, and names from the trace.
        TraceFormat::Text => printable(&to_text(trace, Some(source))).into_owned(),
        TraceFormat::Json => serde_json::to_string_pretty(trace)?,
        TraceFormat::Itf => serde_json::to_string_pretty(&to_itf(trace))?,
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}
