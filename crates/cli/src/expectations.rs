//! `threadwise test`: the expectations written inside models.
//!
//! Each instance that is mentioned is searched for all that is expected of it, and so are all instances together. An
//! undecided expectation counts as failed: `proved` of a model with parameters is not met by proofs at some of their values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use threadwise::{
    CHECKS, Checked, Directive, Exit, Expected, ExpectedScope, Options, Plan, Run, Session,
    Setting, Values, VerdictKind,
};
use threadwise_lang::program::{ExprKind, Program};
use threadwise_lang::render::LineIndex;

use crate::args::TestArgs;
use crate::check::{limited, supervisor, watch_limits, with_help};
use crate::input::{self, Wanted};
use crate::shard::{self, Found, ShardError, Sharing};
use crate::supervise::Supervisor;
use crate::terminal::{Style, Terminal, say};
use crate::watch::{self, Cut};
use threadwise_show::words::{count, counted, one_line, printable};

pub(crate) fn run(args: &TestArgs, terminal: &Terminal, interrupted: &'static AtomicBool) -> Exit {
    let mut files = Vec::new();
    let mut exit = Exit::Proved;
    for path in &args.paths {
        match input::files(path, Wanted::Programs) {
            Ok(found) => files.extend(found),
            Err(error) => {
                terminal.error(&error);
                exit = exit.and(Exit::Input);
            }
        }
    }
    if files.is_empty() {
        if exit == Exit::Proved {
            terminal.error(&"there is no model (`*.tw`) below the paths given");
        }
        return Exit::Input;
    }
    let options = limited(&args.limits);
    let mut sharing = match sharing(args, &options, &files) {
        Ok(sharing) => sharing,
        Err(error) => {
            terminal.error(&error);
            return Exit::Input;
        }
    };
    let supervisor = supervisor(&args.limits, terminal, interrupted, !args.quiet);
    let standing = Arc::new(Mutex::new(Standing::default()));
    let last_words = {
        let (terminal, options, standing) = (*terminal, options.clone(), Arc::clone(&standing));
        move |cut: Cut| last_words(&lock(&standing), cut, &options, &terminal)
    };
    let limits = watch_limits(&options, supervisor.deadline);
    watch::start(limits, interrupted, last_words);
    let mut tester = Tester {
        args,
        terminal,
        interrupted,
        options,
        supervisor,
        total: Tally::default(),
        remarks: Vec::new(),
        said: Vec::new(),
        plain: sharing.is_some(),
        exit,
    };
    for (begun, file) in files.iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let key = match &mut sharing {
            Some(sharing) if !sharing.has(begun) => continue,
            Some(sharing) => {
                let key = sharing.key(&file.to_string_lossy(), &input::texts(file));
                match sharing.before(begun, &key) {
                    Ok(Some(Found::Test(before))) => {
                        tester.total.add(before.tally);
                        tester.fail(before.exit);
                        continue;
                    }
                    Ok(_) => key,
                    Err(error) => {
                        terminal.error(&error);
                        return Exit::Input;
                    }
                }
            }
            None => String::new(),
        };
        watch::reading();
        let name = file.to_string_lossy().into_owned();
        *lock(&standing) = Standing {
            file: name,
            left: files.len() - begun - 1,
            total: tester.total,
            exit: tester.exit,
        };
        let (total, exit) = (tester.total, tester.exit);
        (tester.total, tester.exit) = (Tally::default(), Exit::Proved);
        tester.file(file);
        let tested = TestedFile {
            said: std::mem::take(&mut tester.said),
            tally: tester.total,
            exit: tester.exit,
        };
        tester.total.add(total);
        tester.fail(exit);
        let late = tester
            .supervisor
            .deadline
            .is_some_and(|end| Instant::now() >= end);
        if let Some(sharing) = &mut sharing
            && !late
            && !interrupted.load(Ordering::Relaxed)
            && let Err(error) = sharing.keep(begun, &key, Found::Test(Box::new(tested)))
        {
            terminal.error(&error);
            return Exit::Input;
        }
    }
    if let (Some(sharing), Some(directory)) = (&sharing, &args.shard.results) {
        say(format_args!("until here: {}\n", tester.total.words()));
        terminal.note(&shard::closing(sharing, directory));
    } else if let Err(exit) = closing(files.len(), tester.total, tester.exit, terminal) {
        return exit;
    }
    if interrupted.load(Ordering::Relaxed) {
        return Exit::Interrupted;
    }
    tester.exit
}

/// What was found of one file, when the work is divided.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TestedFile {
    /// The lines that were printed of it.
    said: Vec<String>,
    tally: Tally,
    exit: Exit,
}

/// Prints what all shares have found, as one process would.
pub(crate) fn summed(files: &[TestedFile], terminal: &Terminal) -> Exit {
    let mut total = Tally::default();
    let mut exit = Exit::Proved;
    for file in files {
        file.said
            .iter()
            .for_each(|line| say(format_args!("{line}")));
        total.add(file.tally);
        exit = exit.and(file.exit);
    }
    if exit == Exit::Input {
        terminal.note(
            &"some file or expectation could not be read: the share that it belongs to says which",
        );
    }
    closing(files.len(), total, exit, terminal).map_or_else(|exit| exit, |()| exit)
}

/// Prints the sums. An error if nothing was expected.
fn closing(files: usize, total: Tally, exit: Exit, terminal: &Terminal) -> Result<(), Exit> {
    let files = counted(files as u64, "file");
    say(format_args!("{files}: {}\n", total.words()));
    if total.all() == 0 && exit == Exit::Proved {
        terminal.error(&"none of the models has an expectation\n  help: write one, such as `//@ expect mutex: proved for all N`");
        return Err(Exit::Input);
    }
    Ok(())
}

/// The share of this process, if the work is divided.
fn sharing(
    args: &TestArgs,
    options: &Options,
    files: &[PathBuf],
) -> Result<Option<Sharing>, ShardError> {
    let (Some(share), Some(directory)) = (args.shard.shard, &args.shard.results) else {
        return Ok(None);
    };
    shard::lasting(files)?;
    let (seconds, memory, language) = (options.seconds, args.limits.memory, &args.language);
    let (quiet, verbose) = (args.quiet, args.verbose);
    let asked = format!("test {seconds:?} {memory:?} {language:?} {quiet} {verbose}");
    let units = files.iter().map(|file| file.to_string_lossy().into_owned());
    let units: Vec<String> = units.collect();
    Sharing::open(directory, share, &asked, &units).map(Some)
}

/// How far the test is, for the watch to say when it has to end it.
#[derive(Debug)]
struct Standing {
    /// The file that is being tested.
    file: String,
    /// How many are left after it.
    left: usize,
    /// Those before it.
    total: Tally,
    exit: Exit,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing {
            file: String::new(),
            left: 0,
            total: Tally::default(),
            exit: Exit::Proved,
        }
    }
}

/// Nothing that holds the lock leaves things half done.
fn lock(standing: &Mutex<Standing>) -> MutexGuard<'_, Standing> {
    standing.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what there is when the test has to end where it stands.
fn last_words(standing: &Standing, cut: Cut, options: &Options, terminal: &Terminal) -> Exit {
    let run = Run::cut_short(&standing.file, options, cut.by, cut.place);
    for reason in run.results.iter().filter_map(|r| r.reason.as_ref()) {
        let next = reason.next.iter().map(|next| format!("\n  help: {next}"));
        let next: String = next.collect();
        let message = format!("{}: {}{next}", standing.file, reason.message);
        terminal.error(&message);
    }
    watch::left_out(standing.left, cut, terminal);
    say(format_args!("until then: {}\n", standing.total.words()));
    standing.exit.and(run.exit())
}

/// How many expectations fared how.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tally {
    met: u64,
    unmet: u64,
    undecided: u64,
}

impl Tally {
    fn all(&self) -> u64 {
        self.met + self.unmet + self.undecided
    }

    fn add(&mut self, other: Tally) {
        self.met += other.met;
        self.unmet += other.unmet;
        self.undecided += other.undecided;
    }

    fn words(&self) -> String {
        let mut words = format!("{} met, {} not met", count(self.met), count(self.unmet));
        if self.undecided > 0 {
            words.push_str(&format!(", {} undecided", count(self.undecided)));
        }
        words
    }
}

/// What an expectation is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    /// Values of parameters.
    values: Values,
    /// Parameters for all values of which it is expected.
    for_all: Vec<String>,
}

impl Subject {
    /// To follow what is expected: ` at N=3`, ` for all N`.
    fn phrase(&self) -> String {
        let mut phrase = String::new();
        if !self.for_all.is_empty() {
            phrase.push_str(&format!(" for all {}", self.for_all.join(", ")));
        }
        if !self.values.is_empty() {
            phrase.push_str(&format!(" at {}", self.values));
        }
        phrase
    }

    /// The options of `threadwise check` that ask for it.
    fn options(&self) -> String {
        let sets = self.values.0.iter();
        let sets = sets.map(|(name, value)| format!(" --set {name}={value}"));
        let all = self.for_all.iter().map(|name| format!(" --for-all {name}"));
        sets.chain(all).collect()
    }
}

/// An expectation about one subject.
struct Expectation {
    line: usize,
    what: Aim,
}

/// What is expected.
enum Aim {
    Verdict { property: String, verdict: Expected },
    States(u64),
}

struct Tester<'a> {
    args: &'a TestArgs,
    terminal: &'a Terminal,
    interrupted: &'a AtomicBool,
    options: Options,
    supervisor: Supervisor<'a>,
    total: Tally,
    /// What there is to say about the expectations of the present file, with their lines: instances
    /// are searched in another order.
    remarks: Vec<(usize, String)>,
    /// What was printed of the present file.
    said: Vec<String>,
    /// Without colours: it is kept, and may be printed elsewhere.
    plain: bool,
    exit: Exit,
}

impl Tester<'_> {
    fn say(&mut self, line: String) {
        say(format_args!("{line}"));
        self.said.push(line);
    }

    fn painted(&self, style: Style, word: &str) -> String {
        match self.plain {
            true => word.to_owned(),
            false => self.terminal.paint(style, word),
        }
    }

    fn fail(&mut self, exit: Exit) {
        self.exit = self.exit.and(exit);
    }

    /// Checks an instance, with progress that is gone when something else is printed.
    fn outcome(&mut self, session: &Session, plan: &Plan, values: &Values) -> Checked {
        let outcome = session.check_instance(plan, values, &mut self.supervisor);
        self.supervisor.progress.clear();
        outcome
    }

    fn file(&mut self, path: &Path) {
        let session = match input::read_model(path, &self.args.language) {
            Ok(session) => session,
            Err(error) => {
                self.terminal.error(&error);
                return self.fail(Exit::Input);
            }
        };
        let Some(program) = session.program() else {
            let (name, text) = (session.name(), session.source());
            self.terminal
                .refused(session.diagnostics(), name, text, "nothing was tested");
            return self.fail(Exit::Input);
        };
        self.almost(&session);
        if program.directives.is_empty() {
            if !self.args.quiet {
                let name = session.name();
                self.terminal.note(&format_args!("{name}: no expectations"));
            }
            return;
        }
        let mut tally = Tally::default();
        let expected = self.read(&session, program);
        self.supervisor.progress.begin(session.name());
        for (subject, expectations) in expected {
            if self.interrupted.load(Ordering::Relaxed) {
                break;
            }
            self.subject(&session, program, &subject, &expectations, &mut tally);
        }
        let name = one_line(session.name());
        let mut remarks = std::mem::take(&mut self.remarks);
        remarks.sort_by_key(|(line, _)| *line);
        for (line, remark) in remarks {
            self.say(format!("{name}:{line}: {}\n", printable(&remark)));
        }
        self.total.add(tally);
        if !self.args.quiet {
            self.say(format!("{name}: {}\n", tally.words()));
        }
    }

    /// Remarks on comments that were meant as expectations: `// @ expect ..`.
    fn almost(&self, session: &Session) {
        for (position, line) in session.source().lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                continue;
            };
            let Some(text) = comment.trim_start().strip_prefix('@') else {
                continue;
            };
            let word = text.split_whitespace().next().unwrap_or_default();
            if comment.starts_with(char::is_whitespace)
                && ["expect", "states"].contains(&word.trim_end_matches(':'))
            {
                let name = session.name();
                let number = position + 1;
                self.terminal.note(&format_args!(
                    "{name}:{number}: a comment, and no expectation: write `//@` without a space"
                ));
            }
        }
    }

    /// Reads the directives of a file: what is expected of each subject.
    fn read(
        &mut self,
        session: &Session,
        program: &Program,
    ) -> BTreeMap<Subject, Vec<Expectation>> {
        let lines = LineIndex::new(session.source());
        let mut expected: BTreeMap<Subject, Vec<Expectation>> = BTreeMap::new();
        for directive in &program.directives {
            let line = lines.line(directive.span.start);
            let mut malformed = |message: String| {
                self.terminal
                    .error(&format_args!("{}:{line}: {message}", session.name()));
                self.exit = self.exit.and(Exit::Input);
            };
            let (instances, what): (_, Box<dyn Fn() -> Aim>) =
                match Directive::parse(&directive.text) {
                    Err(error) => {
                        malformed(error.to_string());
                        continue;
                    }
                    Ok(Directive::States { instances, count }) => {
                        (instances, Box::new(move || Aim::States(count)))
                    }
                    Ok(Directive::Expect {
                        property,
                        verdict,
                        scope,
                    }) => {
                        // Plans name unknown properties and parameters, with a suggestion.
                        let options = Options {
                            properties: vec![property.clone()],
                            for_all: match &scope {
                                ExpectedScope::ForAll(names) => names.clone(),
                                ExpectedScope::Claim | ExpectedScope::Instances(_) => Vec::new(),
                            },
                            ..Options::default()
                        };
                        if let Err(error) = Plan::new(program, &options) {
                            malformed(with_help(&error));
                            continue;
                        }
                        let aim = move || Aim::Verdict {
                            property: property.clone(),
                            verdict,
                        };
                        let subject = match scope {
                            ExpectedScope::Instances(instances) => Err(instances),
                            ExpectedScope::ForAll(for_all) => Ok(Subject {
                                values: defaults(program, &for_all),
                                for_all,
                            }),
                            ExpectedScope::Claim => Ok(Subject {
                                values: Values::default(),
                                for_all: Vec::new(),
                            }),
                        };
                        match subject {
                            Ok(subject) => {
                                let expectations = expected.entry(subject).or_default();
                                expectations.push(Expectation { line, what: aim() });
                                continue;
                            }
                            Err(instances) => (instances, Box::new(aim)),
                        }
                    }
                };
            for values in instances {
                match session.instance(&values) {
                    Ok(instance) => {
                        let subject = Subject {
                            values: threadwise::values_of(&instance),
                            for_all: Vec::new(),
                        };
                        let expectations = expected.entry(subject).or_default();
                        expectations.push(Expectation { line, what: what() });
                    }
                    Err(diagnostics) => {
                        for diagnostic in diagnostics {
                            let help = diagnostic.help.map(|help| format!("\n  help: {help}"));
                            let help = help.unwrap_or_default();
                            malformed(format!("at {values}: {}{help}", diagnostic.message));
                        }
                    }
                }
            }
        }
        expected
    }

    /// Checks one subject and compares.
    fn subject(
        &mut self,
        session: &Session,
        program: &Program,
        subject: &Subject,
        expectations: &[Expectation],
        tally: &mut Tally,
    ) {
        let mut names: Vec<String> = Vec::new();
        let mut count_states = false;
        for expectation in expectations {
            match &expectation.what {
                Aim::Verdict { property, .. } if names.contains(property) => {}
                Aim::Verdict { property, .. } => names.push(property.clone()),
                Aim::States(_) => count_states = true,
            }
        }
        if names.is_empty() {
            names.push(CHECKS.to_owned());
        }
        let values = &subject.values;
        let settings = values.0.iter().map(|(name, value)| Setting {
            name: name.clone(),
            values: *value..=*value,
        });
        let options = Options {
            settings: settings.collect(),
            for_all: subject.for_all.clone(),
            properties: names,
            count_states,
            ..self.options.clone()
        };
        let run = match Plan::new(program, &options) {
            Ok(plan) => match self.outcome(session, &plan, values) {
                Checked::Run(run) => run,
                Checked::Rejected(diagnostics) => {
                    self.terminal
                        .diagnostics(&diagnostics, session.name(), session.source());
                    return self.fail(Exit::Input);
                }
                Checked::Excluded => return,
            },
            Err(error) => {
                self.terminal.error(&with_help(&error));
                return self.fail(Exit::Input);
            }
        };
        for diagnostic in &run.diagnostics {
            self.terminal
                .error(&format_args!("{}: {}", session.name(), diagnostic.message));
        }
        if run.trouble == Some(Exit::Internal) {
            return self.fail(Exit::Internal);
        }
        for expectation in expectations {
            self.compare(session, subject, expectation, &run, tally);
        }
    }

    fn compare(
        &mut self,
        session: &Session,
        subject: &Subject,
        expectation: &Expectation,
        run: &Run,
        tally: &mut Tally,
    ) {
        let place = subject.phrase();
        let (met, expected, found) = match &expectation.what {
            Aim::Verdict { property, verdict } => {
                let wanted = match verdict {
                    Expected::Proved => VerdictKind::Proved,
                    Expected::Violated => VerdictKind::Violated,
                };
                let result = run.results.iter().find(|r| r.property == *property);
                let expected = format!("{property}: {}", wanted.as_str());
                match result {
                    Some(result) if result.verdict == VerdictKind::Unknown => {
                        let reason = result.reason.as_ref().map(|r| r.message.clone());
                        (
                            None,
                            expected,
                            reason.unwrap_or_else(|| "the verdict is unknown".to_owned()),
                        )
                    }
                    Some(result) => {
                        let met = result.verdict == wanted;
                        let mut found = result.verdict.as_str().to_owned();
                        let scope = result.scope.phrase();
                        if !scope.is_empty() && scope != place.trim_start() {
                            found.push_str(&format!(" {scope}"));
                        }
                        (Some(met), expected, found)
                    }
                    None => (None, expected, "no result".to_owned()),
                }
            }
            Aim::States(wanted) => {
                let expected = counted(*wanted, "state");
                match run.state_count {
                    Some(states) => (Some(states == *wanted), expected, counted(states, "state")),
                    None => (
                        None,
                        expected,
                        "the states could not all be counted".to_owned(),
                    ),
                }
            }
        };
        let line = expectation.line;
        match met {
            Some(true) => {
                tally.met += 1;
                if self.args.verbose {
                    let word = self.painted(Style::Good, "met");
                    self.remarks
                        .push((line, format!("{expected}{place}: {word}")));
                }
            }
            Some(false) => {
                tally.unmet += 1;
                let word = self.painted(Style::Bad, "not met");
                let see = see(session.name(), subject, &expectation.what);
                let text = format!("{expected}{place}: {word}: found {found}{see}");
                self.remarks.push((line, text));
                self.fail(Exit::Violated);
            }
            None => {
                tally.undecided += 1;
                let word = self.painted(Style::Unsure, "undecided");
                let text = format!("{expected}{place}: {word}: {found}");
                self.remarks.push((line, text));
                self.fail(Exit::Unknown);
            }
        }
    }
}

/// The command that shows the verdict which was not expected, on a line of its own.
fn see(file: &str, subject: &Subject, aim: &Aim) -> String {
    let Aim::Verdict { property, .. } = aim else {
        return String::new();
    };
    if file == "-" {
        return String::new();
    }
    let plain = |c: char| c.is_alphanumeric() || "._-/+".contains(c);
    let file = match file.chars().all(plain) {
        true => file.to_owned(),
        false => format!("'{}'", file.replace('\'', "'\\''")),
    };
    let options = subject.options();
    format!("\n  see: threadwise check {file}{options} --property {property}")
}

/// The default values of all parameters but these. One whose default depends on others stays open: there is no one value of it.
fn defaults(program: &Program, for_all: &[String]) -> Values {
    let others = program.params.iter();
    let others = others.filter(|param| !for_all.contains(&param.name));
    let values = others.filter_map(|param| match param.default.as_ref()?.kind {
        ExprKind::Int(value) => Some((param.name.clone(), value)),
        _ => None,
    });
    Values(values.collect())
}
