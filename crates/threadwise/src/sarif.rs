//! Results in the Static Analysis Results Interchange Format, SARIF 2.1.0, which code hosts and editors show beside the source.
//!
//! A violated property is a failure at its declaration, with the run as a code flow; what is proved passes; what is unknown is open. Diagnostics
//! of the front end are results, too.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use threadwise_evidence::{Step, Trace};
use threadwise_show::to_conclusion;

use crate::page::Source;
use crate::report::{Kind, Level, PropertyResult, Report, ReportedDiagnostic, Run, VerdictKind};

/// Of longer runs only the first and the last steps are in a code flow: those who show them draw every one.
const MOST_STEPS: usize = 1_000;

/// The report as SARIF. `sources` are the files that its runs name.
pub fn sarif(report: &Report, sources: &[Source]) -> Value {
    let mut rules: BTreeMap<String, Value> = BTreeMap::new();
    let mut results = Vec::new();
    for run in &report.runs {
        let source = sources.iter().find(|source| source.name == run.file);
        for result in &run.results {
            let (id, text) = rule(result.kind);
            rules
                .entry(id.to_owned())
                .or_insert_with(|| json!({ "id": id, "shortDescription": { "text": text } }));
            results.push(verdict(run, result, source));
        }
        for diagnostic in &run.diagnostics {
            let id = diagnostic.code.as_deref().unwrap_or("input");
            let name = diagnostic.name.as_deref().unwrap_or("input");
            rules.entry(id.to_owned()).or_insert_with(
                || json!({ "id": id, "name": name, "shortDescription": { "text": name } }),
            );
            results.push(message(run, diagnostic, id));
        }
    }
    let artifacts = sources.iter().map(|source| {
        json!({ "location": { "uri": uri(&source.name) }, "sourceLanguage": "threadwise" })
    });
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "threadwise",
                "semanticVersion": report.version,
                "rules": rules.into_values().collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts.collect::<Vec<_>>(),
            "invocations": [{ "executionSuccessful": report.exit < 4, "exitCode": report.exit }],
            "results": results,
            "properties": { "memoryModel": report.memory_model },
        }],
    })
}

/// The rule that a kind of property is, and what it asks.
fn rule(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Builtin => (
            "checks",
            "No assertion fails, and no value leaves its type.",
        ),
        Kind::Invariant => ("invariant", "An invariant holds in every reachable state."),
        Kind::Deadlock => (
            "deadlock_free",
            "Some process can go on, or all have ended.",
        ),
        Kind::Liveness => (
            "liveness",
            "What should happen happens in every fair execution.",
        ),
    }
}

fn verdict(run: &Run, result: &PropertyResult, source: Option<&Source>) -> Value {
    let (kind, level) = match result.verdict {
        VerdictKind::Proved => ("pass", "none"),
        VerdictKind::Violated => ("fail", "error"),
        VerdictKind::Unknown => ("open", "none"),
    };
    let mut text = format!(
        "`{}` is {} {}",
        result.property,
        result.verdict.as_str(),
        result.scope.phrase()
    );
    text.truncate(text.trim_end().len());
    let because = result.trace.as_ref().map(|trace| {
        let conclusion = to_conclusion(trace, source.map(|source| source.text.as_str()));
        conclusion.trim().to_owned()
    });
    let because = match (&because, &result.reason) {
        (Some(because), _) => Some(because.as_str()),
        (None, Some(reason)) => Some(reason.message.as_str()),
        (None, None) => None,
    };
    if let Some(because) = because {
        text.push_str(": ");
        text.push_str(because);
    }
    if let Some(missing) = result.reason.as_ref().and_then(|r| r.missing.as_ref()) {
        text.push_str("; missing: ");
        text.push_str(&missing.gap);
        if let Some(state) = &missing.state {
            text.push_str(&format!(", as in: {state}"));
        }
    }
    let declared = source.and_then(|source| {
        let mut properties = source.properties.iter();
        properties.find(|property| property.name == result.property)
    });
    // The built-in checks are declared nowhere; a failing one has a line.
    let failing = result.trace.as_ref().and_then(|trace| match &trace.ending {
        threadwise_evidence::Ending::Check { line, .. } => line.map(|line| line as usize),
        _ => None,
    });
    let line = failing.or(declared.and_then(|property| property.line));
    let mut value = json!({
        "ruleId": rule(result.kind).0,
        "kind": kind,
        "level": level,
        "message": { "text": text },
        "locations": [place(&run.file, line.unwrap_or(1))],
        "partialFingerprints": {
            "property/v1": format!("{} {} {}", run.file, result.property, result.scope.phrase()),
        },
        "properties": { "engine": result.engine, "rechecked": result.rechecked },
    });
    if !result.holds.is_empty() {
        value["properties"]["holds"] = json!(result.holds);
    }
    if let Some(trace) = &result.trace {
        value["codeFlows"] = json!([code_flow(&run.file, trace)]);
    }
    value
}

/// A run as steps through the source.
fn code_flow(file: &str, trace: &Trace) -> Value {
    let steps = trace.steps.len();
    let shown = |position: usize| {
        steps <= MOST_STEPS || position < MOST_STEPS / 2 || position >= steps - MOST_STEPS / 2
    };
    let locations = trace.steps.iter().enumerate();
    let locations = locations
        .filter(|(position, _)| shown(*position))
        .map(|(position, step)| {
            let mut location = place(file, step.line.unwrap_or(1) as usize);
            location["message"] = json!({ "text": sentence(step) });
            json!({ "location": location, "executionOrder": position + 1 })
        });
    let mut text = match trace.loop_from {
        Some(from) => format!("{from} steps, then {} for ever", steps - from.min(steps)),
        None => format!("{steps} steps"),
    };
    if steps > MOST_STEPS {
        text.push_str(&format!(", the first and last {} of them", MOST_STEPS / 2));
    }
    json!({
        "message": { "text": text },
        "threadFlows": [{ "id": "execution", "locations": locations.collect::<Vec<_>>() }],
    })
}

/// What a step does: `P[1] goes from look to enter; x = false`.
fn sentence(step: &Step) -> String {
    let mut text = match (step.idle, step.rest) {
        (true, _) => format!("{} has no step at {}", step.process, step.from),
        (false, true) => format!("{} rests at {}", step.process, step.from),
        (false, false) => format!("{} goes from {} to {}", step.process, step.from, step.to),
    };
    for (position, (name, value)) in step.changes.iter().enumerate() {
        text.push_str(if position == 0 { "; " } else { ", " });
        text.push_str(&format!("{name} = {value}"));
    }
    text
}

fn message(run: &Run, diagnostic: &ReportedDiagnostic, id: &str) -> Value {
    let level = match diagnostic.severity {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    let region = diagnostic.place.map(|place| {
        json!({
            "startLine": place.line, "startColumn": place.column,
            "endLine": place.end_line, "endColumn": place.end_column,
        })
    });
    let mut location =
        json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&run.file) } } });
    if let Some(region) = region {
        location["physicalLocation"]["region"] = region;
    }
    json!({
        "ruleId": id,
        "kind": "fail",
        "level": level,
        "message": { "text": text },
        "locations": [location],
    })
}

fn place(file: &str, line: usize) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line },
        },
    })
}

/// The name of a file as a reference: relative as it was given, or with its scheme.
fn uri(file: &str) -> String {
    let mut text = String::new();
    if file == "-" {
        return "stdin".to_owned();
    }
    let file = file.replace('\\', "/");
    if file.starts_with('/') {
        text.push_str("file://");
    }
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
