//! Traces in their forms: as files, and as they are printed.

use threadwise::Trace;
use threadwise_show::{Drawing, Layout, Line, Mark, to_itf, to_mermaid};

use crate::args::TraceFormat;
use crate::terminal::{Style, Terminal};
use threadwise_show::words::{counted, one_line};

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

/// The text of a file with a trace, with every step; `source` is the model that it is about.
pub(crate) fn file(trace: &Trace, form: TraceFormat, source: &str) -> serde_json::Result<String> {
    let everything = Drawing {
        source: Some(source),
        width: None,
        folded: false,
    };
    let plain = |line: &Line| format!("{}\n", one_line(&line.text()));
    let mut text = match form {
        TraceFormat::Text => everything
            .lines(trace, Layout::Table)
            .iter()
            .map(plain)
            .collect(),
        TraceFormat::Lanes => everything
            .lines(trace, Layout::Lanes)
            .iter()
            .map(plain)
            .collect(),
        TraceFormat::Json => serde_json::to_string_pretty(trace)?,
        TraceFormat::Itf => serde_json::to_string_pretty(&to_itf(trace))?,
        TraceFormat::Mermaid => to_mermaid(trace),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// A trace as it is printed: in a form, or as it fits. What is for people is as wide as the terminal, less an indentation, and in its colours; long stretches are folded
/// unless all is wanted.
pub(crate) fn printed(
    trace: &Trace,
    form: Option<TraceFormat>,
    source: &str,
    terminal: &Terminal,
    indentation: usize,
    all: bool,
) -> serde_json::Result<String> {
    let layout = match form {
        None => Layout::Fitting,
        Some(TraceFormat::Text) => Layout::Table,
        Some(TraceFormat::Lanes) => Layout::Lanes,
        Some(form) => return file(trace, form, source),
    };
    let drawing = Drawing {
        source: Some(source),
        width: terminal
            .width
            .map(|width| width.saturating_sub(indentation)),
        folded: !all,
    };
    let mut text = String::new();
    for line in drawing.lines(trace, layout) {
        let mut drawn = String::new();
        for piece in &line.0 {
            // Lines of the source are in it, and names from the trace.
            let piece_text = one_line(&piece.text);
            match piece.mark {
                Mark::Plain => drawn.push_str(&piece_text),
                Mark::Title | Mark::Changed => {
                    drawn.push_str(&terminal.paint(Style::Strong, &piece_text));
                }
                Mark::Faint => drawn.push_str(&terminal.paint(Style::Faint, &piece_text)),
            }
        }
        if !drawn.is_empty() {
            text.extend(std::iter::repeat_n(' ', indentation));
        }
        text.push_str(&drawn);
        text.push('\n');
    }
    Ok(text)
}
