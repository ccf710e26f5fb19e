//! `threadwise merge`: what the shares of a divided check or test have found, as if one process had done all of it.

use threadwise::{Exit, RequestError, Run};

use crate::args::{Format, MergeArgs};
use crate::check::{self, Output, finish, may_write, senseless, states_something};
use crate::expectations::{self, TestedFile};
use crate::shard::{CheckedUnit, Found, UnitOutcome, merged};
use crate::terminal::Terminal;
use crate::text::{Detail, Printer};

pub(crate) fn run(args: &MergeArgs, terminal: &Terminal) -> Exit {
    let found = match merged(&args.directory) {
        Ok(found) => found,
        Err(error) => {
            terminal.error(&error);
            return Exit::Input;
        }
    };
    let mut checked = Vec::new();
    let mut tested = Vec::new();
    for unit in found {
        match unit {
            Found::Check(unit) => checked.push(*unit),
            Found::Test(file) => tested.push(*file),
        }
    }
    match tested.is_empty() {
        true => all_checked(args, checked, terminal),
        false => all_tested(args, &tested, terminal),
    }
}

/// The report of a check.
fn all_checked(args: &MergeArgs, units: Vec<CheckedUnit>, terminal: &Terminal) -> Exit {
    if let Some(path) = &args.report
        && !may_write(path, &[], terminal)
    {
        return Exit::Input;
    }
    let output = Output {
        format: match args.json {
            true => Format::Json,
            false => args.format,
        },
        report: args.report.clone(),
        quiet: args.quiet,
    };
    let detail = Detail {
        quiet: args.quiet,
        verbose: args.verbose,
        explain: args.explain,
    };
    let mut printer =
        (output.format == Format::Text).then(|| Printer::new(*terminal, detail, None));
    let mut found = check::Found::default();
    let mut units = units.into_iter().peekable();
    while let Some(unit) = units.next() {
        let (first, source) = (unit.first, unit.source.clone());
        let mut of_file = vec![unit];
        // The units of a file stand together.
        while let Some(next) = units.next_if(|next| next.first == first) {
            of_file.push(next);
        }
        let text = source.as_ref().map_or("", |source| source.text.as_str());
        let stated = source.as_ref().is_none_or(|source| {
            !source.name.ends_with(".tw")
                || states_something(!source.properties.is_empty(), &source.text)
        });
        for run in runs(of_file) {
            for problem in run.diagnostics.iter().filter(|_| run.results.is_empty()) {
                terminal.error(&format_args!("{}: {}", run.file, problem.message));
            }
            if let Some(printer) = &mut printer {
                printer.run(&run, text, stated);
            }
            found.runs.push(run);
        }
        if let Some(printer) = &mut printer {
            printer.end_of_file();
        }
        found.sources.extend(source);
    }
    found.printer = printer;
    finish(found, false, &output, terminal)
}

/// The runs of one file, as one process has them: what concerns the file is said once.
fn runs(mut units: Vec<CheckedUnit>) -> Vec<Run> {
    if let Some(whole) = units
        .iter()
        .position(|unit| unit.outcome == UnitOutcome::File)
    {
        return units.swap_remove(whole).restored().into_iter().collect();
    }
    let (name, mut about) = (units[0].file.clone(), units[0].about.clone());
    let mut runs = Vec::new();
    for mut run in units.into_iter().filter_map(CheckedUnit::restored) {
        run.diagnostics.splice(0..0, about.drain(..));
        runs.push(run);
    }
    if runs.is_empty() {
        runs.push(senseless(name, &RequestError::AllExcluded, about));
    }
    runs
}

/// What a test printed of each file, and the sums.
fn all_tested(args: &MergeArgs, files: &[TestedFile], terminal: &Terminal) -> Exit {
    if args.json || args.report.is_some() || args.format != Format::Text {
        terminal.error(&"these are results of `test`, which are text\n  help: leave out --format, --json and --report");
        return Exit::Input;
    }
    expectations::summed(files, terminal)
}
