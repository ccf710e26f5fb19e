//! `threadwise check`: every property of every file, at every instance that was asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use threadwise::{
    Certificate, Checked, Claim, Denied, Exit, Options, Plan, PropertyResult, Registry, Report,
    ReportedDiagnostic, RequestError, Run, Scope, Session, Stop, VerdictKind,
    page::{self, Source},
    sarif,
};

use crate::args::{CheckArgs, Format, LimitArgs, TraceFormat};
use crate::input;
use crate::progress::ProgressLine;
use crate::supervise::{Supervisor, default_memory};
use crate::terminal::{Terminal, say};
use crate::text::Printer;
use crate::traces;
use crate::watch::{self, Cut};
use crate::witness::{self, Written};

pub(crate) fn run(
    args: &'static CheckArgs,
    terminal: &Terminal,
    interrupted: &'static AtomicBool,
) -> Exit {
    let denied = match Registry::standard()
        .get(&args.engine)
        .and_then(|_| Denied::parse(&args.deny))
    {
        Ok(denied) => denied,
        Err(error) => {
            terminal.error(&with_help(&error));
            return Exit::Input;
        }
    };
    if let Some(form) = args.trace_format
        && args.trace.is_none()
        && !form.is_for_people()
    {
        terminal.error(&format_args!(
            "traces in the form `{}` are written to files\n  help: say where with --trace DIR, or choose `lanes` or `text`",
            form.name()
        ));
        return Exit::Input;
    }
    if let Some(path) = &args.report
        && let Some(why) = unwritable(path, &args.files)
    {
        terminal.error(&format_args!(
            "{}: the report cannot be written: {why}\n  help: check the name given to --report",
            path.display()
        ));
        return Exit::Input;
    }
    if let Some(path) = &args.witness
        && let Some(why) = witness::refused(path, &args.files)
    {
        terminal.error(&why);
        return Exit::Input;
    }
    if args.files.iter().filter(|file| is_stdin(file)).count() > 1 {
        terminal.error(&"standard input (`-`) can be named once only");
        return Exit::Input;
    }
    let options = options(args);
    let supervisor = supervisor(&args.limits, terminal, interrupted, !args.quiet);
    let printer = (format(args) == Format::Text).then(|| Printer::new(*terminal, args));
    let found = Arc::new(Mutex::new(Some(Found {
        printer,
        ..Found::default()
    })));
    let limits = watch_limits(&options, supervisor.deadline);
    let last_words = {
        let (terminal, options, found) = (*terminal, options.clone(), Arc::clone(&found));
        move |cut| last_words(&found, cut, args, &options, &terminal)
    };
    watch::start(limits, interrupted, last_words);
    let mut check = Check {
        args,
        terminal,
        interrupted,
        denied,
        options,
        supervisor,
        written: BTreeSet::new(),
        found: &found,
    };
    for file in &args.files {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        check.file(file);
    }
    let found = lock(&found).take();
    let interrupted = interrupted.load(Ordering::Relaxed);
    // Whoever else has taken it prints it, and ends the process.
    let Some(found) = found else {
        loop {
            std::thread::park();
        }
    };
    watch::writing(|| finish(found, interrupted, args, terminal))
}

fn format(args: &CheckArgs) -> Format {
    match args.json {
        true => Format::Json,
        false => args.format,
    }
}

/// What the process itself may use.
pub(crate) fn watch_limits(options: &Options, deadline: Option<Instant>) -> watch::Limits {
    watch::Limits {
        time: options.seconds.map(Duration::from_secs_f64),
        deadline,
        memory: options.memory,
        memory_alone: false,
    }
}

/// What was found so far, for whoever prints it: the check when it is over, or the watch when it has to end it.
#[derive(Default)]
struct Found {
    /// The file that is being checked.
    file: Option<String>,
    /// How many files were begun.
    begun: usize,
    runs: Vec<Run>,
    /// The files, if what is written shows them.
    sources: Vec<Source>,
    /// Absent when the report is printed at the end, as JSON.
    printer: Option<Printer>,
}

/// Nothing that holds the lock leaves things half done.
fn lock(found: &Mutex<Option<Found>>) -> MutexGuard<'_, Option<Found>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints what there is when the check has to end where it stands.
fn last_words(
    found: &Mutex<Option<Found>>,
    cut: Cut,
    args: &CheckArgs,
    options: &Options,
    terminal: &Terminal,
) -> Exit {
    // If it is being printed already, nothing is added to it.
    let mut found = lock(found).take().unwrap_or_default();
    if let Some(file) = found.file.take() {
        let run = Run::cut_short(&file, options, cut.by, cut.place);
        if let Some(printer) = &mut found.printer {
            printer.run(&run, &Session::refused(file, "", Vec::new()));
        }
        found.runs.push(run);
    } else if found.runs.is_empty() {
        return cut.exit();
    }
    watch::left_out(args.files.len() - found.begun, cut, terminal);
    finish(found, cut.by == Stop::Interrupted, args, terminal)
}

/// Prints the report, as far as it is not printed, and says what the exit status is.
fn finish(found: Found, interrupted: bool, args: &CheckArgs, terminal: &Terminal) -> Exit {
    let Found {
        runs,
        sources,
        mut printer,
        ..
    } = found;
    let mut report = Report::new(runs);
    let mut exit = report.status();
    if interrupted {
        exit = Exit::Interrupted;
        report.exit = exit.code();
    }
    if let Some(path) = &args.report {
        exit = exit.and(write_page(path, &report, &sources, args, terminal));
        report.exit = exit.code();
    }
    let text = match (&mut printer, format(args)) {
        (Some(printer), _) => {
            printer.end(&report);
            return exit;
        }
        (None, Format::Sarif) => serde_json::to_string_pretty(&sarif(&report, &sources)),
        (None, _) => serde_json::to_string_pretty(&report),
    };
    match text {
        Ok(text) => say(format_args!("{text}\n")),
        Err(error) => {
            terminal.error(&format_args!(
                "internal error: the report cannot be written: {error}"
            ));
            exit = exit.and(Exit::Internal);
        }
    }
    exit
}

/// What would keep a page from being written, as far as can be seen before there is one.
fn unwritable(path: &Path, models: &[PathBuf]) -> Option<&'static str> {
    let same = |model: &PathBuf| match (model.canonicalize(), path.canonicalize()) {
        (Ok(model), Ok(page)) => model == page,
        _ => false,
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        _ if is_stdin(path) => Some("a page needs a file"),
        _ if path.is_dir() => Some("it is a directory"),
        _ if models.iter().any(same) => Some("it is a model that is to be checked"),
        Some(parent) if !parent.is_dir() => Some("there is no such directory"),
        _ => None,
    }
}

/// Writes the report as a page.
fn write_page(
    path: &Path,
    report: &Report,
    sources: &[Source],
    args: &CheckArgs,
    terminal: &Terminal,
) -> Exit {
    let written = page::report(report, sources)
        .map_err(|error| error.to_string())
        .and_then(|text| fs::write(path, text).map_err(|error| error.to_string()));
    let shown = path.display();
    match written {
        Ok(()) if args.quiet => Exit::Proved,
        Ok(()) => {
            terminal.note(&format_args!("report written to {shown}"));
            Exit::Proved
        }
        Err(error) => {
            terminal.error(&format_args!(
                "{shown}: the report cannot be written: {error}\n  help: check the name given to --report"
            ));
            Exit::Input
        }
    }
}

/// The parent of the workers, with the limits of the command line.
pub(crate) fn supervisor<'a>(
    limits: &LimitArgs,
    terminal: &Terminal,
    interrupted: &'a AtomicBool,
    progress: bool,
) -> Supervisor<'a> {
    let total = limits.total_timeout.map(Duration::from_secs_f64);
    Supervisor::new(
        total.map(|total| Instant::now() + total),
        interrupted,
        ProgressLine::new(terminal.progress && progress),
    )
}

/// The options of an engine that follow from the limits.
pub(crate) fn limited(limits: &LimitArgs) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    Options {
        seconds: limits.timeout,
        memory: limits.memory.map(|mib| mib << 20).or_else(default_memory),
        threads: limits
            .threads
            .unwrap_or(u16::try_from(cores).unwrap_or(u16::MAX)),
        ..Options::default()
    }
}

/// What is asked for.
pub(crate) fn options(args: &CheckArgs) -> Options {
    Options {
        settings: args.instance.set.clone(),
        for_all: args.for_all.clone(),
        properties: args.property.clone(),
        only: args.only,
        engine: args.engine.clone(),
        engine_options: args.engine_options.0.clone(),
        // A report shows what there is to read, and a witness says what a proof does.
        explain: args.explain
            || (args.report.is_some() || args.witness.is_some()) && explains(&args.engine),
        recheck: !args.no_recheck,
        certificates: args.certificate.is_some(),
        ..limited(&args.limits)
    }
}

/// Whether the proofs of an engine can be written for people.
pub(crate) fn explains(engine: &str) -> bool {
    let engine = Registry::standard().get(engine);
    engine.is_ok_and(|engine| engine.explains)
}

/// A message with its advice below it.
pub(crate) fn with_help(error: &RequestError) -> String {
    match error.help() {
        Some(help) => format!("{error}\n  help: {help}"),
        None => error.to_string(),
    }
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// One invocation, as far as it has come.
struct Check<'a> {
    args: &'a CheckArgs,
    terminal: &'a Terminal,
    interrupted: &'a AtomicBool,
    denied: Denied,
    options: Options,
    supervisor: Supervisor<'a>,
    /// Names of the traces and certificates written so far.
    written: BTreeSet<PathBuf>,
    found: &'a Mutex<Option<Found>>,
}

impl Check<'_> {
    /// Does something with what was found so far, unless somebody else prints it already.
    fn found(&self, change: impl FnOnce(&mut Found)) {
        if let Some(found) = &mut *lock(self.found) {
            change(found);
        }
    }

    fn file(&mut self, path: &Path) {
        watch::reading();
        self.found(|found| {
            found.file = Some(path.to_string_lossy().into_owned());
            found.begun += 1;
        });
        self.checked(path);
        self.found(|found| found.file = None);
    }

    fn checked(&mut self, path: &Path) {
        let session = match input::read_model(path, &self.args.language) {
            Ok(session) => session,
            Err(error) => {
                self.terminal.error(&error);
                self.push(failed(
                    path.to_string_lossy().into_owned(),
                    format!("{}: {}", error.name, error.message),
                    Some(error.help),
                ));
                return;
            }
        };
        if self.args.report.is_some() || self.args.format == Format::Sarif {
            self.found(|found| found.sources.push(Source::new(&session)));
        }
        let accepted = session.accepted(&self.denied);
        let (name, text) = (session.name(), session.source());
        if session.program().is_none() {
            self.terminal
                .refused(session.diagnostics(), name, text, "nothing was checked");
        } else if !self.args.quiet || !accepted {
            self.terminal.diagnostics(session.diagnostics(), name, text);
        }
        if !accepted && session.program().is_some() {
            let codes = session
                .diagnostics()
                .iter()
                .map(|diagnostic| diagnostic.code);
            let denied: BTreeSet<&str> = codes
                .filter(|code| self.denied.contains(*code))
                .map(|code| code.slug())
                .collect();
            let denied: Vec<&str> = denied.into_iter().collect();
            self.terminal.error(&format_args!(
                "{}: denied: {}\n  help: fix what the warnings above say, or leave out --deny",
                session.name(),
                denied.join(", ")
            ));
        }
        let mut about_file = session.reported(session.diagnostics(), &self.denied);
        let program = match session.program() {
            Some(program) if accepted => program,
            _ => {
                self.push(Run {
                    file: session.name().to_owned(),
                    diagnostics: about_file,
                    ..Run::default()
                });
                return;
            }
        };
        let plan = match Plan::new(program, &self.options) {
            Ok(plan) => plan,
            Err(error) => return self.refused(&session, &error, about_file),
        };
        self.supervisor.progress.begin(session.name());
        let mut excluded = Vec::new();
        let mut checked = 0;
        for values in &plan.instances {
            if self.interrupted.load(Ordering::Relaxed) {
                return;
            }
            let mut run = match session.check_instance(&plan, values, &mut self.supervisor) {
                Checked::Run(run) => run,
                Checked::Excluded => {
                    excluded.push(values.to_string());
                    continue;
                }
                Checked::Rejected(diagnostics) => {
                    self.terminal
                        .diagnostics(&diagnostics, session.name(), session.source());
                    Run {
                        file: session.name().to_owned(),
                        values: values.clone(),
                        diagnostics: session.reported(&diagnostics, &self.denied),
                        ..Run::default()
                    }
                }
            };
            checked += 1;
            for diagnostic in run.diagnostics.iter().filter(|d| d.code.is_none()) {
                self.terminal.error(&diagnostic.message);
            }
            run.diagnostics.splice(0..0, about_file.drain(..));
            watch::writing(|| self.write_evidence(&mut run, &session));
            self.found(|found| {
                if let Some(printer) = &mut found.printer {
                    printer.run(&run, &session);
                }
                found.runs.push(run);
            });
        }
        self.found(|found| {
            if let Some(printer) = &mut found.printer {
                printer.end_of_file();
            }
        });
        if checked == 0 {
            self.refused(&session, &RequestError::AllExcluded, about_file);
        } else if !excluded.is_empty() && !self.args.quiet {
            let list = excluded.join("; ");
            let name = session.name();
            self.terminal
                .note(&format_args!("{name}: `where` excludes {list}"));
        }
    }

    /// A request that makes no sense for this model.
    fn refused(
        &mut self,
        session: &Session,
        error: &RequestError,
        mut about_file: Vec<ReportedDiagnostic>,
    ) {
        let name = session.name().to_owned();
        self.terminal
            .error(&format_args!("{name}: {}", with_help(error)));
        let mut run = failed(name, error.to_string(), error.help());
        about_file.append(&mut run.diagnostics);
        run.diagnostics = about_file;
        self.push(run);
    }

    fn push(&self, run: Run) {
        self.found(|found| found.runs.push(run));
    }

    /// Writes the evidence that is asked for: a trace for each violation, a certificate for each proof.
    fn write_evidence(&mut self, run: &mut Run, session: &Session) {
        let mut failed = false;
        for result in &run.results {
            match result.verdict {
                VerdictKind::Violated => {
                    if let (Some(directory), Some(trace)) = (&self.args.trace, &result.trace) {
                        let form = self.args.trace_format.unwrap_or(TraceFormat::Json);
                        let text = traces::file(trace, form, session.source());
                        let text = text.map_err(|error| error.to_string());
                        let place = place(result);
                        let kind = ("trace", form.extension());
                        failed |= !self.write(directory, kind, session, result, &place, text);
                    }
                }
                VerdictKind::Proved => {
                    if let Some(directory) = &self.args.certificate {
                        failed |= !self.write_certificates(directory, session, result);
                    }
                }
                VerdictKind::Unknown => {}
            }
        }
        if let Some(path) = &self.args.witness {
            let shown = path.display();
            match witness::write(path, run, session, &self.args.language) {
                Written::Yes if self.args.quiet => {}
                Written::Yes => self
                    .terminal
                    .note(&format_args!("witness written to {shown}")),
                Written::None(_) if self.args.quiet => {}
                Written::None(reason) => self
                    .terminal
                    .note(&format_args!("no witness is written: {reason}")),
                Written::Failed(error) => {
                    failed = true;
                    self.terminal.error(&format_args!(
                        "{shown}: the witness cannot be written: {error}\n  help: check the name given to --witness"
                    ));
                }
            }
        }
        if failed {
            run.trouble = Some(run.exit().and(Exit::Input));
        }
    }

    /// Writes the proof of a property: one file, or one for each instance if it was proved one after the other. Whether that went well.
    fn write_certificates(
        &mut self,
        directory: &Path,
        session: &Session,
        result: &PropertyResult,
    ) -> bool {
        let place = place(result);
        let one = result.certificate.iter().map(|one| (place.clone(), one));
        let each = result.certificates.iter();
        let each = each.map(|(values, one)| (values.to_string(), one));
        let all: Vec<(String, &Certificate)> = one.chain(each).collect();
        if all.is_empty() && !self.args.quiet {
            self.terminal.note(&format_args!(
                "no certificate of `{}` is written: the engine gave none",
                result.property
            ));
        }
        let mut well = true;
        for (place, certificate) in all {
            let text = Ok(format!("{}\n", certificate.to_json()));
            let kind = ("certificate", "cert.json");
            well &= self.write(directory, kind, session, result, &place, text);
        }
        well
    }

    /// Writes evidence into a file of its own. Whether that went well.
    fn write(
        &mut self,
        directory: &Path,
        (what, extension): (&str, &str),
        session: &Session,
        result: &PropertyResult,
        place: &str,
        text: Result<String, String>,
    ) -> bool {
        let stem = Path::new(session.name()).file_stem().unwrap_or_default();
        let stem = match stem.to_string_lossy() {
            stem if stem == "-" => "stdin".to_owned(),
            stem => stem.into_owned(),
        };
        let place = place.replace(", ", ",");
        let base = [stem.as_str(), &result.property, &place];
        let base: Vec<&str> = base.into_iter().filter(|part| !part.is_empty()).collect();
        let path = fresh(&mut self.written, directory, &base.join("."), extension);
        let written = text.and_then(|text| {
            fs::create_dir_all(directory)
                .and_then(|()| fs::write(&path, text))
                .map_err(|error| error.to_string())
        });
        let shown = path.display();
        match &written {
            Ok(()) if self.args.quiet => {}
            Ok(()) => self.terminal.note(&format_args!(
                "{what} of `{}` written to {shown}",
                result.property
            )),
            Err(error) => self.terminal.error(&format_args!(
                "{shown}: the {what} cannot be written: {error}\n  help: check the directory given to --{what}"
            )),
        }
        written.is_ok()
    }
}

/// What evidence is about, for the name of its file.
fn place(result: &PropertyResult) -> String {
    let all = |c: &Certificate| matches!(c.claim, Claim::Family(_)) && c.params.is_empty();
    let all = result.certificate.as_ref().is_some_and(all);
    match &result.scope {
        // The proof may be for more than was asked for.
        Scope::Instance { values } if all && !values.is_empty() => "all".to_owned(),
        Scope::Instance { values } => values.to_string(),
        Scope::All { values, .. } if values.is_empty() => "all".to_owned(),
        Scope::All { values, .. } => format!("all, {values}"),
    }
}

/// A name that no evidence of this invocation has yet: files of one name in two directories must
/// not overwrite each other's.
fn fresh(
    written: &mut BTreeSet<PathBuf>,
    directory: &Path,
    base: &str,
    extension: &str,
) -> PathBuf {
    let mut path = directory.join(format!("{base}.{extension}"));
    let mut number = 2;
    while !written.insert(path.clone()) {
        path = directory.join(format!("{base}-{number}.{extension}"));
        number += 1;
    }
    path
}

/// A run that could not even begin.
fn failed(file: String, message: String, help: Option<String>) -> Run {
    Run {
        file,
        diagnostics: vec![ReportedDiagnostic::error(message, help)],
        ..Run::default()
    }
}
