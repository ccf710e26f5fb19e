//! `threadwise replay`: the interpreter follows a trace and says whether it is what it claims.

use std::path::Path;

use threadwise::{Exit, ReplayFailure, Trace};

use crate::args::ReplayArgs;
use crate::input;
use crate::terminal::{Terminal, complain, say};
use crate::traces;
use threadwise_show::words::one_line;

pub(crate) fn run(args: &ReplayArgs, terminal: &Terminal) -> Exit {
    if args.file == Path::new("-") && args.trace == Path::new("-") {
        terminal.error(&"the model and the trace cannot both be standard input");
        return Exit::Input;
    }
    let (session, text) = match (
        input::read_model(&args.file, &args.language),
        input::read_evidence(&args.trace, "trace"),
    ) {
        (Ok(session), Ok(text)) => (session, text),
        (session, text) => {
            for error in [session.err(), text.err()].into_iter().flatten() {
                terminal.error(&error);
            }
            return Exit::Input;
        }
    };
    let trace: Trace = match Trace::from_json(&text.text) {
        Ok(trace) => trace,
        Err(error) => {
            let help = match other_form(&text.text) {
                Some(form) => format!(
                    "this is a trace in the form `{form}`; `threadwise replay` reads what `--trace-format json` writes"
                ),
                None => "`threadwise check MODEL --trace DIR` writes traces".to_owned(),
            };
            let error = error.to_string();
            terminal.error(&format_args!(
                "{}: {}\n  help: {help}",
                text.name,
                one_line(&error)
            ));
            return Exit::Input;
        }
    };
    if session.program().is_none() {
        let (name, text) = (session.name(), session.source());
        terminal.refused(session.diagnostics(), name, text, "nothing was replayed");
        return Exit::Input;
    }
    let trace = match session.replay(&trace) {
        Ok(trace) => trace,
        Err(ReplayFailure::Instance(diagnostics)) => {
            terminal.diagnostics(&diagnostics, session.name(), session.source());
            return Exit::Input;
        }
        Err(ReplayFailure::Rejected(error)) => {
            terminal.error(&format_args!(
                "{}: the trace does not replay: {}\n  help: was the model changed after the trace was written?",
                text.name,
                one_line(&error.to_string())
            ));
            return Exit::Internal;
        }
    };
    let (source, all) = (session.source(), args.verbose);
    let shown = match traces::printed(&trace, args.format, source, terminal, 0, all) {
        Ok(shown) => shown,
        Err(error) => {
            terminal.error(&format_args!("the trace cannot be shown: {error}"));
            return Exit::Internal;
        }
    };
    if !args.quiet {
        say(format_args!("{shown}"));
    }
    let steps = traces::length(&trace);
    match &trace.property {
        Some(property) => complain(format_args!(
            "the trace replays: {steps}{} `{}` is violated\n",
            if trace.loop_from.is_some() {
                ", and"
            } else {
                ", then"
            },
            one_line(property)
        )),
        None => complain(format_args!("the trace replays: {steps}\n")),
    }
    Exit::Proved
}

/// The form of a trace that is not JSON as it is read here, by how it begins.
fn other_form(text: &str) -> Option<&'static str> {
    if text.starts_with("initial state") {
        return Some("text` or `lanes");
    }
    if text.starts_with("sequenceDiagram") {
        return Some("mermaid");
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    (value.get("states").is_some() && value.get("vars").is_some()).then_some("itf")
}
