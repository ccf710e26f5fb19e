//! The C programs under `tests/c`, and how they are checked.

pub mod arithmetic;
pub mod constructs;
pub mod damage;
pub mod data_models;
pub mod random;
pub mod real;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use threadwise::{Options, PropertyResult, Scope, Session, VerdictKind};
use threadwise_evidence::Ending;
use threadwise_import::from_c::{DataModel, Integers, Reading, from_c};
use threadwise_import::{Imported, Outcome, Settings};
use threadwise_testgen::origins::origins;

/// A program with what it says about itself.
pub struct CFile {
    /// Its path below `tests/c`.
    pub name: String,
    pub text: String,
    pub expected: Expected,
}

/// What a program says in its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Proved,
    /// For any number of threads.
    ProvedForAll,
    Violated,
}

/// What was found.
pub enum Found {
    Proved {
        /// For any number of threads.
        all: bool,
    },
    Violated {
        /// How many steps of the run have a line.
        lines: usize,
    },
}

/// All programs, in order.
pub fn programs() -> Vec<CFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c");
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in [folder.clone(), folder.join("templates")] {
        let entries = std::fs::read_dir(folder).unwrap();
        paths.extend(entries.map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|end| end == "c" || end == "i"));
    paths.sort();
    let each = paths.iter().map(|path| {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let stated = lines.find_map(|line| line.strip_prefix("//@ expect checks: "));
        let expected = match stated {
            Some("proved") => Expected::Proved,
            Some("violated") => Expected::Violated,
            Some(all) if all.starts_with("proved for all ") => Expected::ProvedForAll,
            other => panic!("{name} expects {other:?}"),
        };
        CFile {
            name,
            text,
            expected,
        }
    });
    each.collect()
}

/// A program as a model, or what the front end says about it. Nothing is included.
pub fn bring(name: &str, text: &str, integers: Integers) -> Result<Imported, String> {
    let reading = Reading {
        integers,
        data_model: DataModel::Lp64,
    };
    bring_as(name, text, reading)
}

/// What comes of a program. Nothing is included.
pub fn outcome(name: &str, text: &str, reading: Reading) -> Outcome {
    let mut include = |file: &str| Err(format!("there is no `{file}`"));
    let mut settings = Settings {
        defines: Vec::new(),
        include: &mut include,
    };
    from_c(name, text, reading, &mut settings)
}

/// The same for types of any width.
pub fn bring_as(name: &str, text: &str, reading: Reading) -> Result<Imported, String> {
    let outcome = outcome(name, text, reading);
    assert!(
        !outcome.files.is_empty(),
        "{name}: the file itself was read"
    );
    outcome.result.map_err(|remarks| {
        assert!(!remarks.is_empty(), "{name}: refused without a reason");
        let mut messages = Vec::new();
        for remark in &remarks {
            let file = &outcome.files[remark.file];
            let diagnostic = &remark.diagnostic;
            let (start, end) = (diagnostic.span.start, diagnostic.span.end);
            // A place is one in the text of the file.
            assert!(
                start <= end && file.text.get(start as usize..end as usize).is_some(),
                "{name}: {start}..{end} is no place in `{}`: {}",
                file.name,
                diagnostic.message
            );
            let line = file.text[..start as usize].matches('\n').count() + 1;
            messages.push(format!(
                "{}:{line}: {} [{}]",
                file.name, diagnostic.message, diagnostic.label
            ));
        }
        messages.join("; ")
    })
}

/// Checks a program, and compares with what it expects.
pub fn check(program: &CFile, patience: Duration) -> Result<Found, String> {
    let imported = bring(&program.name, &program.text, Integers::Mathematical)?;
    let result = checks(&imported.text(), patience)?;
    let stated = program.expected;
    let fits = match result.verdict {
        VerdictKind::Proved => stated != Expected::Violated,
        VerdictKind::Violated => stated == Expected::Violated,
        VerdictKind::Unknown => {
            let reason = result.reason.map(|reason| reason.message);
            return Err(format!("open, expected {stated:?}: {reason:?}"));
        }
    };
    if !fits {
        let run = result.trace.as_ref().map(|trace| trace.to_json());
        return Err(format!(
            "WRONG: {:?}, expected {stated:?}\n{}",
            result.verdict,
            run.unwrap_or_default()
        ));
    }
    let Some(trace) = &result.trace else {
        // Without parameters, what begins empty may have any number of threads.
        let model = threadwise_lang::check(&imported.text()).program.unwrap();
        let any = model.templates.iter().any(|template| {
            let instances = &template.instances;
            matches!(instances, threadwise_lang::program::Instances::Dynamic)
        });
        let all = matches!(result.scope, Scope::All { .. }) || (any && model.params.is_empty());
        if stated == Expected::ProvedForAll && !all {
            return Err(format!("proved {}, not for all", result.scope.phrase()));
        }
        return Ok(Found::Proved { all });
    };
    // Every step, and the check that fails, is on a line of the program.
    let original = |line: Option<u32>| {
        let line = line.ok_or("a step without a line of the model")?;
        let lines = origins(&imported.program, &imported.layout);
        lines[line as usize - 1].ok_or("a step without a line of the program")
    };
    let mut lines = 0;
    for step in &trace.steps {
        original(step.line).map_err(|message| {
            format!(
                "{message}: {} from {}\n{}",
                step.process,
                step.from,
                imported.text()
            )
        })?;
        lines += 1;
    }
    let Ending::Check { line, .. } = &trace.ending else {
        return Err(format!("no check fails in the end: {:?}", trace.ending));
    };
    original(*line)?;
    Ok(Found::Violated { lines })
}

/// What is found about the checks of a model.
pub fn checks(model: &str, patience: Duration) -> Result<PropertyResult, String> {
    let session = Session::new("model.tw", model);
    let options = Options {
        memory: Some(3 << 30),
        ..Options::default()
    };
    let (send, found) = mpsc::channel();
    // A thread that takes too long is left behind until the test ends.
    std::thread::spawn(move || {
        let _ = send.send(session.check(&options));
    });
    let report = found.recv_timeout(patience);
    let report = report.map_err(|_| format!("open after {patience:?}"))?;
    let report = report.map_err(|error| error.to_string())?;
    let run = report.runs.into_iter().next().ok_or("no run")?;
    let mut results = run.results.into_iter();
    let checks = results.find(|result| result.property == "checks");
    checks.ok_or_else(|| format!("no result: {:?}", run.diagnostics))
}
