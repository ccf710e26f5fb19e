//! `threadwise check`: every property of every file, at every instance that was asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use threadwise::{
    Certificate, Checked, Claim, Denied, Exit, Options, Plan, PropertyResult, Registry, Report,
    ReportedDiagnostic, RequestError, Run, Scope, Session, Stop, Values, VerdictKind, combinations,
    page::{self, Source},
    sarif,
};

use crate::args::{CheckArgs, Format, LimitArgs, TraceFormat};
use crate::input::{self, Wanted};
use crate::progress::ProgressLine;
use crate::shard::{self, CheckedUnit, ShardError, Sharing, UnitOutcome};
use crate::supervise::{Supervisor, default_memory};
use crate::terminal::{Terminal, say};
use crate::text::{Detail, Printer};
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
    if args.files.iter().filter(|file| is_stdin(file)).count() > 1 {
        terminal.error(&"standard input (`-`) can be named once only");
        return Exit::Input;
    }
    let files = match files(args) {
        Ok(files) => files,
        Err(message) => {
            terminal.error(&message);
            return Exit::Input;
        }
    };
    if let Some(path) = &args.report
        && !may_write(path, &files, terminal)
    {
        return Exit::Input;
    }
    if let Some(path) = &args.witness
        && let Some(why) = witness::refused(path, &files)
    {
        terminal.error(&why);
        return Exit::Input;
    }
    let options = options(args);
    let instances = combinations(&options.settings).map_or(1, |all| all.len());
    let sharing = match sharing(args, &options, &files) {
        Ok(sharing) => sharing,
        Err(error) => {
            terminal.error(&error);
            return Exit::Input;
        }
    };
    let supervisor = supervisor(&args.limits, terminal, interrupted, !args.quiet);
    let output = Output::of(args);
    let detail = Detail {
        quiet: args.quiet,
        verbose: args.verbose,
        explain: args.explain,
    };
    let printer =
        (output.format == Format::Text).then(|| Printer::new(*terminal, detail, args.trace_format));
    let found = Arc::new(Mutex::new(Some(Found {
        files: files.len(),
        printer,
        sharing,
        ..Found::default()
    })));
    let limits = watch_limits(&options, supervisor.deadline);
    let last_words = {
        let (terminal, options, found) = (*terminal, options.clone(), Arc::clone(&found));
        let output = output.clone();
        move |cut| last_words(&found, cut, &output, &options, &terminal)
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
        instances,
    };
    for (position, file) in files.iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        if let Err(error) = check.file(position, file) {
            terminal.error(&error);
            return Exit::Input;
        }
    }
    let found = lock(&found).take();
    let interrupted = interrupted.load(Ordering::Relaxed);
    // Whoever else has taken it prints it, and ends the process.
    let Some(found) = found else {
        loop {
            std::thread::park();
        }
    };
    let closing = found.sharing.as_ref().zip(args.shard.results.as_deref());
    let closing = closing.map(|(sharing, directory)| shard::closing(sharing, directory));
    let exit = watch::writing(|| finish(found, interrupted, &output, terminal));
    if let Some(closing) = closing.filter(|_| !args.quiet) {
        terminal.note(&closing);
    }
    exit
}

/// The files that are named, and those below the directories that are.
fn files(args: &CheckArgs) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in &args.files {
        // A file that is not there is told of when its turn comes.
        match path.is_dir() {
            true => {
                let below = input::files(path, Wanted::Programs);
                files.extend(below.map_err(|error| error.to_string())?);
            }
            false => files.push(path.clone()),
        }
    }
    match files.is_empty() {
        true => Err("there is no model below the directories given\n  help: models end in .tw, Promela in .pml, C in .c or .i".to_owned()),
        false => Ok(files),
    }
}

/// The share of this process, if the work is divided.
fn sharing(
    args: &CheckArgs,
    options: &Options,
    files: &[PathBuf],
) -> Result<Option<Sharing>, ShardError> {
    let (Some(share), Some(directory)) = (args.shard.shard, &args.shard.results) else {
        return Ok(None);
    };
    shard::lasting(files)?;
    let Options {
        for_all,
        properties,
        only,
        engine,
        engine_options,
        explain,
        recheck,
        seconds,
        ..
    } = options;
    let (memory, language, deny) = (args.limits.memory, &args.language, &args.deny);
    let asked = format!(
        "check {for_all:?} {properties:?} {only:?} {engine:?} {engine_options:?} {explain} {recheck} {seconds:?} {memory:?} {language:?} {deny:?}"
    );
    let none = || vec![Values::default()];
    let instances = combinations(&options.settings).unwrap_or_else(|_| none());
    let unit = |file: &PathBuf, values: &Values| named(file, values);
    let units = files
        .iter()
        .flat_map(|file| instances.iter().map(move |v| unit(file, v)));
    let units: Vec<String> = units.collect();
    Sharing::open(directory, share, &asked, &units).map(Some)
}

/// The name of a unit.
fn named(file: &Path, values: &Values) -> String {
    match values.is_empty() {
        true => file.to_string_lossy().into_owned(),
        false => format!("{} at {values}", file.to_string_lossy()),
    }
}

/// How results are handed over.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) format: Format,
    pub(crate) report: Option<PathBuf>,
    pub(crate) quiet: bool,
}

impl Output {
    fn of(args: &CheckArgs) -> Output {
        Output {
            format: match args.json {
                true => Format::Json,
                false => args.format,
            },
            report: args.report.clone(),
            quiet: args.quiet,
        }
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
pub(crate) struct Found {
    /// The file that is being checked.
    file: Option<String>,
    /// How many files there are, and how many were begun.
    files: usize,
    begun: usize,
    pub(crate) runs: Vec<Run>,
    /// The files, if what is written shows them.
    pub(crate) sources: Vec<Source>,
    /// Absent when the report is printed at the end, as JSON.
    pub(crate) printer: Option<Printer>,
    /// If this is one process of several.
    sharing: Option<Sharing>,
    /// The units that are being done, with their keys and values.
    open: Vec<Unit>,
}

/// An instance of a file, when the work is divided.
#[derive(Clone)]
struct Unit {
    file: String,
    /// The number of the first one of the file.
    first: usize,
    number: usize,
    key: String,
    values: Values,
}

/// Nothing that holds the lock leaves things half done.
fn lock(found: &Mutex<Option<Found>>) -> MutexGuard<'_, Option<Found>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints what there is when the check has to end where it stands.
fn last_words(
    found: &Mutex<Option<Found>>,
    cut: Cut,
    output: &Output,
    options: &Options,
    terminal: &Terminal,
) -> Exit {
    // If it is being printed already, nothing is added to it.
    let mut found = lock(found).take().unwrap_or_default();
    if let Some(file) = found.file.take() {
        let run = Run::cut_short(&file, options, cut.by, cut.place);
        if let Some(printer) = &mut found.printer {
            printer.run(&run, "", true);
        }
        // With the same limits it would end here again.
        if matches!(cut.by, Stop::Time | Stop::Memory)
            && let Some(unit) = found.open.first().cloned()
            && let Some(sharing) = &mut found.sharing
        {
            let done = done(&unit, UnitOutcome::Checked, &run, Vec::new(), None);
            if let Err(error) = sharing.keep(unit.number, &unit.key, done) {
                terminal.error(&error);
            }
        }
        found.runs.push(run);
    } else if found.runs.is_empty() {
        return cut.exit();
    }
    watch::left_out(found.files - found.begun, cut, terminal);
    finish(found, cut.by == Stop::Interrupted, output, terminal)
}

/// What was found of a unit, as it is kept.
fn done(
    unit: &Unit,
    outcome: UnitOutcome,
    run: &Run,
    about: Vec<ReportedDiagnostic>,
    source: Option<Source>,
) -> shard::Found {
    shard::Found::Check(Box::new(CheckedUnit {
        file: unit.file.clone(),
        first: unit.first,
        outcome,
        run: run.clone(),
        values: run.values.clone(),
        trouble: run.trouble,
        about,
        source,
    }))
}

/// Prints the report, as far as it is not printed, and says what the exit status is.
pub(crate) fn finish(
    found: Found,
    interrupted: bool,
    output: &Output,
    terminal: &Terminal,
) -> Exit {
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
    if let Some(path) = &output.report {
        exit = exit.and(write_page(path, &report, &sources, output, terminal));
        report.exit = exit.code();
    }
    let text = match (&mut printer, output.format) {
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

/// Whether a page can be written, as far as can be seen before there is one; if not, says so.
pub(crate) fn may_write(path: &Path, models: &[PathBuf], terminal: &Terminal) -> bool {
    let Some(why) = unwritable(path, models) else {
        return true;
    };
    terminal.error(&format_args!(
        "{}: the report cannot be written: {why}\n  help: check the name given to --report",
        path.display()
    ));
    false
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
    output: &Output,
    terminal: &Terminal,
) -> Exit {
    let written = page::report(report, sources)
        .map_err(|error| error.to_string())
        .and_then(|text| fs::write(path, text).map_err(|error| error.to_string()));
    let shown = path.display();
    match written {
        Ok(()) if output.quiet => Exit::Proved,
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
    /// How many instances of each file are asked for.
    instances: usize,
}

impl Check<'_> {
    /// Does something with what was found so far, unless somebody else prints it already.
    fn found(&self, change: impl FnOnce(&mut Found)) {
        if let Some(found) = &mut *lock(self.found) {
            change(found);
        }
    }

    fn file(&mut self, position: usize, path: &Path) -> Result<(), ShardError> {
        watch::reading();
        self.found(|found| {
            found.file = Some(path.to_string_lossy().into_owned());
            found.begun += 1;
        });
        if self.left_to_check(position, path)? {
            self.checked(path)?;
        }
        self.found(|found| found.file = None);
        Ok(())
    }

    /// Finds the units of a file that are to be done here, and takes over those that are done. Whether any is left, if the work is divided.
    fn left_to_check(&mut self, position: usize, path: &Path) -> Result<bool, ShardError> {
        let first = position * self.instances;
        let mut left = Ok(true);
        self.found(|found| {
            let Some(sharing) = &mut found.sharing else {
                return;
            };
            let mine = (first..first + self.instances).filter(|unit| sharing.has(*unit));
            let mine: Vec<usize> = mine.collect();
            let instances = combinations(&self.options.settings).unwrap_or_default();
            let texts = match mine.is_empty() {
                true => Vec::new(),
                false => input::texts(path),
            };
            found.open.clear();
            for number in mine {
                let values = instances.get(number - first).cloned().unwrap_or_default();
                let key = sharing.key(&named(path, &values), &texts);
                match sharing.before(number, &key) {
                    Ok(Some(shard::Found::Check(unit))) => found.runs.extend(unit.restored()),
                    Ok(_) => found.open.push(Unit {
                        file: path.to_string_lossy().into_owned(),
                        first,
                        number,
                        key,
                        values,
                    }),
                    Err(error) => left = Err(error),
                }
            }
            if left.is_ok() {
                left = Ok(!found.open.is_empty());
            }
        });
        left
    }

    /// Keeps what was found of the units that are open, if the work is divided: of one instance, or of the whole file.
    fn keep(
        &self,
        values: Option<&Values>,
        outcome: UnitOutcome,
        run: &Run,
        about: &[ReportedDiagnostic],
        session: Option<&Session>,
    ) -> Result<(), ShardError> {
        let late = self
            .supervisor
            .deadline
            .is_some_and(|end| Instant::now() >= end);
        if late || self.interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut kept = Ok(());
        self.found(|found| {
            let Some(sharing) = &mut found.sharing else {
                return;
            };
            let of = |unit: &Unit| values.is_none_or(|values| unit.values == *values);
            let (now, later): (Vec<Unit>, Vec<Unit>) = found.open.drain(..).partition(of);
            found.open = later;
            for unit in now {
                let done = done(
                    &unit,
                    outcome,
                    run,
                    about.to_vec(),
                    session.map(Source::new),
                );
                if let Err(error) = sharing.keep(unit.number, &unit.key, done) {
                    kept = Err(error);
                }
            }
        });
        kept
    }

    fn checked(&mut self, path: &Path) -> Result<(), ShardError> {
        let session = match input::read_model(path, &self.args.language) {
            Ok(session) => session,
            Err(error) => {
                self.terminal.error(&error);
                let run = failed(
                    path.to_string_lossy().into_owned(),
                    format!("{}: {}", error.name, error.message),
                    Some(error.help),
                );
                return self.push(run, None);
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
                let run = Run {
                    file: session.name().to_owned(),
                    diagnostics: about_file,
                    ..Run::default()
                };
                return self.push(run, Some(&session));
            }
        };
        let plan = match Plan::new(program, &self.options) {
            Ok(plan) => plan,
            Err(error) => return self.refused(&session, &error, about_file),
        };
        self.supervisor.progress.begin(session.name());
        let mut excluded = Vec::new();
        let mut checked = 0;
        let about_all = about_file.clone();
        let stated = session.is_imported()
            || states_something(!program.properties.is_empty(), session.source());
        for values in &plan.instances {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            if !self.is_open(values) {
                continue;
            }
            let outcome = session.check_instance(&plan, values, &mut self.supervisor);
            self.supervisor.progress.clear();
            let mut run = match outcome {
                Checked::Run(run) => run,
                Checked::Excluded => {
                    excluded.push(values.to_string());
                    let (none, why) = (Run::default(), UnitOutcome::Excluded);
                    self.keep(Some(values), why, &none, &about_all, Some(&session))?;
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
            let how = UnitOutcome::Checked;
            self.keep(Some(values), how, &run, &about_all, Some(&session))?;
            run.diagnostics.splice(0..0, about_file.drain(..));
            watch::writing(|| self.write_evidence(&mut run, &session));
            self.found(|found| {
                if let Some(printer) = &mut found.printer {
                    printer.run(&run, session.source(), stated);
                }
                found.runs.push(run);
            });
        }
        self.found(|found| {
            if let Some(printer) = &mut found.printer {
                printer.end_of_file();
            }
        });
        // Of a share there may be instances elsewhere.
        if checked == 0 && !self.is_shared() {
            return self.refused(&session, &RequestError::AllExcluded, about_file);
        } else if !excluded.is_empty() && !self.args.quiet {
            let list = excluded.join("; ");
            let name = session.name();
            self.terminal
                .note(&format_args!("{name}: `where` excludes {list}"));
        }
        Ok(())
    }

    fn is_shared(&self) -> bool {
        let mut shared = false;
        self.found(|found| shared = found.sharing.is_some());
        shared
    }

    /// Whether an instance is to be done here.
    fn is_open(&self, values: &Values) -> bool {
        let mut open = false;
        self.found(|found| {
            open = found.sharing.is_none() || found.open.iter().any(|unit| unit.values == *values);
        });
        open
    }

    /// A request that makes no sense for this model.
    fn refused(
        &mut self,
        session: &Session,
        error: &RequestError,
        about_file: Vec<ReportedDiagnostic>,
    ) -> Result<(), ShardError> {
        let name = session.name().to_owned();
        self.terminal
            .error(&format_args!("{name}: {}", with_help(error)));
        self.push(senseless(name, error, about_file), Some(session))
    }

    /// What is to be said of a file as a whole, since no instance of it was checked.
    fn push(&self, run: Run, session: Option<&Session>) -> Result<(), ShardError> {
        self.keep(None, UnitOutcome::File, &run, &[], session)?;
        self.found(|found| found.runs.push(run));
        Ok(())
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

/// Whether a model says what must hold, by properties or by assertions.
pub(crate) fn states_something(properties: bool, text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    properties || words.any(|word| word == "assert")
}

/// A run that could not even begin, because what was asked makes no sense for the model.
pub(crate) fn senseless(
    name: String,
    error: &RequestError,
    mut about_file: Vec<ReportedDiagnostic>,
) -> Run {
    let mut run = failed(name, error.to_string(), error.help());
    about_file.append(&mut run.diagnostics);
    run.diagnostics = about_file;
    run
}

/// A run that could not even begin.
fn failed(file: String, message: String, help: Option<String>) -> Run {
    Run {
        file,
        diagnostics: vec![ReportedDiagnostic::error(message, help)],
        ..Run::default()
    }
}
