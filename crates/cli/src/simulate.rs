//! `threadwise simulate`: one execution, at random or as the user chooses.

use std::io::{self, BufRead};
use std::path::Path;

use threadwise::{Exit, Options, Plan, RequestError, Session, Values, combinations};
use threadwise_evidence::{Ending, Recorder, RunEnding, Steps, Trace};
use threadwise_lang::program::Span;
use threadwise_lang::program::{Program, PropertyKind};
use threadwise_lang::source::SourceLines;
use threadwise_model::expression::{Failure, Limit};
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Judgement, Outcome};
use threadwise_model::names::Names;
use threadwise_model::simulate::{Event, Simulation};
use threadwise_model::state::{ProcessRef, State};

use crate::args::{LanguageArgs, OneInstanceArgs, SimulateArgs};
use crate::check::with_help;
use crate::input;
use crate::terminal::{Terminal, complain, say};
use crate::traces;
use threadwise_show::words::{counted, one_line};

pub(crate) fn run(args: &SimulateArgs, terminal: &Terminal) -> Exit {
    if args.interactive && args.file == Path::new("-") {
        terminal.error(&"the model and your choices cannot both come from standard input");
        return Exit::Input;
    }
    let (session, instance) = match instance(&args.file, &args.language, &args.instance, terminal) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let liveness = |name: &&String| {
        let mut properties = instance.program().properties.iter();
        properties.any(|p| p.name == **name && matches!(p.kind, PropertyKind::Liveness { .. }))
    };
    if let Some(name) = args.property.iter().find(liveness) {
        terminal.error(&format_args!(
            "{}: `{name}` is a liveness property, which no beginning of an execution violates\n  help: name safety properties only; `threadwise check` decides it",
            session.name()
        ));
        return Exit::Input;
    }
    let options = Options {
        properties: args.property.clone(),
        ..Options::default()
    };
    let watched: Vec<String> = match Plan::new(instance.program(), &options) {
        Ok(plan) => plan
            .properties
            .into_iter()
            .map(|property| property.name)
            .collect(),
        Err(RequestError::EmptyModel) => Vec::new(),
        Err(error) => {
            terminal.error(&format_args!("{}: {}", session.name(), with_help(&error)));
            return Exit::Input;
        }
    };
    let simulation = match Simulation::new(&instance, args.seed) {
        Ok(simulation) => simulation,
        Err(limit) => return limited(&session, limit, terminal),
    };
    if args.interactive {
        let mut guide = Guide::new(&session, &instance, &watched, simulation);
        return guide.run(terminal);
    }
    let (trace, finish) = match walk(&instance, &watched, simulation, args.steps) {
        Ok(trace) => trace,
        Err(Trouble::Limit(limit)) => return limited(&session, limit, terminal),
        Err(Trouble::Internal(message)) => {
            terminal.error(&format_args!("internal error: {message}"));
            return Exit::Internal;
        }
    };
    let (source, all) = (session.source(), args.verbose);
    match traces::printed(&trace, args.format, source, terminal, 0, all) {
        Ok(text) => say(format_args!("{text}")),
        Err(error) => {
            terminal.error(&format_args!("internal error: {error}"));
            return Exit::Internal;
        }
    }
    let steps = counted(trace.steps.len() as u64, "step");
    match (&trace.property, &trace.ending) {
        (Some(property), _) => {
            complain(format_args!("after {steps}: `{property}` is violated\n"));
            Exit::Violated
        }
        (None, Ending::Check { .. }) => {
            complain(format_args!("after {steps}: a check fails\n"));
            Exit::Violated
        }
        (None, Ending::Deadlock) => {
            complain(format_args!(
                "after {steps}: a deadlock, which the model does not forbid\n"
            ));
            Exit::Proved
        }
        (None, _) => {
            match finish {
                Finish::Ended => complain(format_args!("all processes have ended after {steps}\n")),
                Finish::Steps => complain(format_args!("stopped after {steps} (--steps)\n")),
            }
            Exit::Proved
        }
    }
}

/// Reads a model and builds the one instance that the arguments name.
pub(crate) fn instance(
    file: &Path,
    language: &LanguageArgs,
    args: &OneInstanceArgs,
    terminal: &Terminal,
) -> Result<(Session, Instance), Exit> {
    let (session, values) = given(file, language, args, terminal)?;
    match session.instance(&values) {
        Ok(instance) => Ok((session, instance)),
        Err(diagnostics) => {
            terminal.diagnostics(&diagnostics, session.name(), session.source());
            Err(Exit::Input)
        }
    }
}

/// Reads a model, and the values that the arguments give to its parameters.
pub(crate) fn given(
    file: &Path,
    language: &LanguageArgs,
    args: &OneInstanceArgs,
    terminal: &Terminal,
) -> Result<(Session, Values), Exit> {
    let refuse = |message: &dyn std::fmt::Display| {
        terminal.error(message);
        Exit::Input
    };
    let session = input::read_model(file, language).map_err(|error| refuse(&error))?;
    if session.program().is_none() {
        let (name, text) = (session.name(), session.source());
        terminal.refused(
            session.diagnostics(),
            name,
            text,
            "the model cannot be used",
        );
        return Err(Exit::Input);
    }
    if let Some(sweep) = args.set.iter().find(|setting| setting.is_sweep()) {
        let name = &sweep.name;
        return Err(refuse(&format_args!(
            "this command takes one instance: give `{name}` one value, such as --set {name}={}",
            sweep.values.start()
        )));
    }
    let values = combinations(&args.set).map_err(|error| refuse(&error))?;
    Ok((session, values.into_iter().next().unwrap_or_default()))
}

/// What ends a simulation before its time.
enum Trouble {
    Limit(Limit),
    Internal(String),
}

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble::Limit(limit)
    }
}

fn internal(error: impl std::fmt::Display) -> Trouble {
    Trouble::Internal(error.to_string())
}

/// Says that the interpreter cannot go on, and where.
fn limited(session: &Session, limit: Limit, terminal: &Terminal) -> Exit {
    let (line, column) = session.lines().position(limit.span());
    let name = session.name();
    let at = match session.is_imported() {
        true => line.to_string(),
        false => format!("{line}:{column}"),
    };
    terminal.error(&format_args!(
        "{name}:{at}: the execution cannot go on: {limit}"
    ));
    Exit::Unknown
}

/// Why an execution without a violation is no longer.
enum Finish {
    /// Every process has ended.
    Ended,
    /// That was all that was asked for.
    Steps,
}

/// A random execution, up to its end, a violation, or so many steps.
fn walk(
    instance: &Instance,
    watched: &[String],
    mut simulation: Simulation<'_>,
    steps: u64,
) -> Result<(Trace, Finish), Trouble> {
    let mut finish = Finish::Steps;
    let program = instance.program();
    let initial = simulation.state().clone();
    let mut recorder = Recorder::new(instance, initial).map_err(internal)?;
    let mut ending = (None, RunEnding::End);
    if let Some((name, _)) = violated(instance, watched, simulation.state())? {
        ending = (Some(name), RunEnding::Invariant);
    } else {
        for _ in 0..steps {
            match simulation.advance()? {
                Event::Step {
                    process, outcome, ..
                } => {
                    if let Outcome::Fail { failure, .. } = outcome {
                        ending.1 = RunEnding::Check { process, failure };
                        break;
                    }
                    recorder.outcome(process, &outcome);
                    if let Some((name, _)) = violated(instance, watched, simulation.state())? {
                        ending = (Some(name), RunEnding::Invariant);
                        break;
                    }
                }
                Event::Deadlock => {
                    let claim = deadlock_free(program);
                    let claim = claim.filter(|name| watched.iter().any(|known| known == name));
                    ending = (claim, RunEnding::Deadlock);
                    break;
                }
                Event::Ended => {
                    finish = Finish::Ended;
                    break;
                }
            }
        }
    }
    let trace = recorder.finish(ending.0, ending.1).map_err(internal)?;
    Ok((trace, finish))
}

/// The first invariant that does not hold in a state, and what fails if its evaluation does.
fn violated<'a>(
    instance: &'a Instance,
    watched: &[String],
    state: &State,
) -> Result<Option<(&'a str, Option<Failure>)>, Limit> {
    let interpreter = Interpreter::new(instance);
    for property in &instance.program().properties {
        if let PropertyKind::Invariant(predicate) = &property.kind
            && watched.contains(&property.name)
        {
            match interpreter.judge(state, predicate)? {
                Judgement::True => {}
                Judgement::False => return Ok(Some((&property.name, None))),
                Judgement::Fails(failure) => return Ok(Some((&property.name, Some(failure)))),
            }
        }
    }
    Ok(None)
}

/// The name of the claim that there is no deadlock, if the model makes it.
fn deadlock_free(program: &Program) -> Option<&str> {
    let mut claims = program.properties.iter();
    let claim = claims.find(|property| matches!(property.kind, PropertyKind::DeadlockFree));
    claim.map(|property| property.name.as_str())
}

const HELP: &str = concat!(
    "  NUMBER  take that step      r  take a random step\n",
    "  u       undo a step         s  show the whole state\n",
    "  q       quit                ?  this help\n",
);

/// How many options are listed; all can be chosen.
const LISTED: usize = 40;

/// Leads the user through an execution.
struct Guide<'a> {
    session: &'a Session,
    instance: &'a Instance,
    watched: &'a [String],
    names: Names<'a>,
    lines: SourceLines<'a>,
    simulation: Simulation<'a>,
    /// The simulation before each step, for undoing.
    before: Vec<Simulation<'a>>,
}

/// What the user typed.
enum Answer {
    Take(usize),
    Random,
    Undo,
    Show,
    Help,
    Quit,
}

impl<'a> Guide<'a> {
    fn new(
        session: &'a Session,
        instance: &'a Instance,
        watched: &'a [String],
        simulation: Simulation<'a>,
    ) -> Guide<'a> {
        Guide {
            watched,
            session,
            instance,
            names: Names::new(instance),
            lines: session.lines(),
            simulation,
            before: Vec::new(),
        }
    }

    fn run(&mut self, terminal: &Terminal) -> Exit {
        say(format_args!("{HELP}"));
        self.show();
        let mut seen_violation = false;
        loop {
            let options = match self.simulation.options() {
                Ok(options) => options,
                Err(limit) => return limited(self.session, limit, terminal),
            };
            match violated(self.instance, self.watched, self.simulation.state()) {
                Ok(Some((name, failure))) => {
                    seen_violation = true;
                    match failure {
                        None => say(format_args!("`{name}` does not hold here\n")),
                        Some(failure) => say(format_args!(
                            "evaluating `{name}` fails here: {}  {}\n",
                            threadwise_evidence::CheckName::from(failure.kind),
                            self.source(failure.span)
                        )),
                    }
                }
                Ok(None) => {}
                Err(limit) => return limited(self.session, limit, terminal),
            }
            match Interpreter::new(self.instance).is_deadlock(self.simulation.state()) {
                Ok(true) => seen_violation |= self.deadlock(),
                Ok(false) if options.is_empty() => {
                    say(format_args!("all processes have ended\n"));
                }
                Ok(false) => {}
                Err(limit) => return limited(self.session, limit, terminal),
            }
            self.list(&options);
            let failed = match self.ask(options.len()) {
                Answer::Quit => break,
                Answer::Help => {
                    say(format_args!("{HELP}"));
                    continue;
                }
                Answer::Show => {
                    self.show();
                    continue;
                }
                Answer::Undo => {
                    match self.before.pop() {
                        Some(simulation) => self.simulation = simulation,
                        None => say(format_args!("this is the beginning\n")),
                    }
                    continue;
                }
                Answer::Random => {
                    self.before.push(self.simulation.clone());
                    match self.simulation.advance() {
                        Ok(Event::Step {
                            process,
                            outcome,
                            before,
                            ..
                        }) => self.tell(process, &outcome, &before),
                        Ok(Event::Deadlock | Event::Ended) => {
                            self.before.pop();
                            say(format_args!("there is no step\n"));
                            false
                        }
                        Err(limit) => return limited(self.session, limit, terminal),
                    }
                }
                Answer::Take(number) => {
                    let Some((process, outcome)) = options.get(number).cloned() else {
                        continue;
                    };
                    self.before.push(self.simulation.clone());
                    let before = self.simulation.state().clone();
                    self.simulation.take(process, outcome.clone());
                    self.tell(process, &outcome, &before)
                }
            };
            if failed {
                seen_violation = true;
                self.before.pop();
            }
        }
        if seen_violation {
            Exit::Violated
        } else {
            Exit::Proved
        }
    }

    /// Says that this is a deadlock; whether that violates a claim of the model.
    fn deadlock(&self) -> bool {
        let claim = deadlock_free(self.instance.program());
        let claim = claim.filter(|name| self.watched.iter().any(|known| known == name));
        match claim {
            Some(name) => say(format_args!("a deadlock: `{name}` is violated\n")),
            None => say(format_args!(
                "a deadlock, which the model does not forbid\n"
            )),
        }
        claim.is_some()
    }

    /// A line of the source with its number.
    fn source(&self, span: Span) -> String {
        let number = self.lines.line(span);
        let mut lines = self.session.source().lines();
        let line = lines.nth(number as usize - 1).unwrap_or("");
        format!("{number}: {}", one_line(line.trim()))
    }

    /// Says what was done; whether a check failed.
    fn tell(&self, process: ProcessRef, outcome: &Outcome, before: &State) -> bool {
        let line = self.describe(process, outcome, before);
        say(format_args!("{:4}  {line}\n", self.before.len()));
        let failed = matches!(outcome, Outcome::Fail { .. });
        if failed {
            say(format_args!(
                "the execution ends here; choose another step, `u` or `q`\n"
            ));
        }
        failed
    }

    fn describe(&self, process: ProcessRef, outcome: &Outcome, before: &State) -> String {
        let name = self.names.process(process);
        let from = self
            .names
            .location(process.template, before.location(process));
        let source = |span: Span| self.source(span);
        match outcome {
            Outcome::Rest { span } => {
                format!("{name}  rests at {from}  {}", source(*span))
            }
            Outcome::Fail { failure, .. } => {
                let steps = Steps::new(self.instance);
                let what = steps.failure(before, outcome).unwrap_or_default();
                let source = source(failure.span);
                format!("{name}  fails at {from}: {what}  {source}")
            }
            Outcome::Move { state, to, path } => {
                let to = self.names.location(process.template, *to);
                let changes: Vec<String> = self
                    .names
                    .changes(before, state)
                    .into_iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                let source = path.first().map(|span| source(*span));
                let parts = [
                    name,
                    format!("{from} -> {to}"),
                    changes.join(", "),
                    source.unwrap_or_default(),
                ];
                let parts: Vec<String> =
                    parts.into_iter().filter(|part| !part.is_empty()).collect();
                parts.join("  ")
            }
        }
    }

    fn show(&self) {
        let state = self.simulation.state();
        for (process, label) in self.names.locations(state) {
            say(format_args!("      {process} at {label}\n"));
        }
        for (name, value) in self.names.cells(state) {
            say(format_args!("      {name} = {value}\n"));
        }
    }

    fn list(&self, options: &[(ProcessRef, Outcome)]) {
        if options.is_empty() {
            say(format_args!(
                "there is no step: undo with `u`, or quit with `q`\n"
            ));
        }
        let state = self.simulation.state();
        for (position, (process, outcome)) in options.iter().take(LISTED).enumerate() {
            let line = self.describe(*process, outcome, state);
            say(format_args!("  [{}] {line}\n", position + 1));
        }
        if options.len() > LISTED {
            say(format_args!("  .. up to [{}]\n", options.len()));
        }
    }

    /// Asks until the answer makes sense; the end of the input is the end of the session.
    fn ask(&self, options: usize) -> Answer {
        loop {
            say(format_args!("> "));
            let mut line = String::new();
            match io::stdin().lock().read_line(&mut line) {
                Ok(0) | Err(_) => {
                    say(format_args!("\n"));
                    return Answer::Quit;
                }
                Ok(_) => {}
            }
            match line.trim() {
                "q" | "quit" => return Answer::Quit,
                "r" => return Answer::Random,
                "u" => return Answer::Undo,
                "s" => return Answer::Show,
                "?" | "h" | "help" => return Answer::Help,
                "" => {}
                text => match text.parse::<usize>() {
                    Ok(number) if (1..=options).contains(&number) => {
                        return Answer::Take(number - 1);
                    }
                    _ => say(format_args!(
                        "not a choice: a number up to {options}, or r, u, s, q, ?\n"
                    )),
                },
            }
        }
    }
}
