//! `threadwise simulate`: one execution, at random or as the user chooses.

use std::io::{self, BufRead};
use std::path::Path;

use threadwise::{Exit, Options, Plan, RequestError, Session, Values, combinations};
use threadwise_evidence::{Ending, Recorder, RunEnding, Trace};
use threadwise_lang::program::{Program, PropertyKind};
use threadwise_lang::render::LineIndex;
use threadwise_model::expression::Limit;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Outcome};
use threadwise_model::names::Names;
use threadwise_model::simulate::{Event, Simulation};
use threadwise_model::state::{ProcessRef, State};

use crate::args::{InstanceArgs, SimulateArgs};
use crate::check::with_help;
use crate::input;
use crate::terminal::{Terminal, complain, say};
use crate::traces;
use crate::words::counted;

pub(crate) fn run(args: &SimulateArgs, terminal: &Terminal) -> Exit {
    if args.interactive && args.file == Path::new("-") {
        terminal.error(&"the model and your choices cannot both come from standard input");
        return Exit::Input;
    }
    let (session, instance) = match instance(&args.file, &args.instance, terminal) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
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
    let trace = match walk(&session, &instance, &watched, simulation, args.steps) {
        Ok(trace) => trace,
        Err(Trouble::Limit(limit)) => return limited(&session, limit, terminal),
        Err(Trouble::Internal(message)) => {
            terminal.error(&format_args!("internal error: {message}"));
            return Exit::Internal;
        }
    };
    match traces::in_form(&trace, args.format, session.text()) {
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
        (None, _) => Exit::Proved,
    }
}

/// Reads a model and builds the one instance that the arguments name.
pub(crate) fn instance(
    file: &Path,
    args: &InstanceArgs,
    terminal: &Terminal,
) -> Result<(Session, Instance), Exit> {
    let refuse = |message: &dyn std::fmt::Display| {
        terminal.error(message);
        Exit::Input
    };
    let input = input::read(file).map_err(|error| refuse(&error))?;
    let session = Session::new(input.name, input.text);
    if session.program().is_none() {
        let (name, text) = (session.name(), session.text());
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
    let values: Values = values.into_iter().next().unwrap_or_default();
    match session.instance(&values) {
        Ok(instance) => Ok((session, instance)),
        Err(diagnostics) => {
            terminal.diagnostics(&diagnostics, session.name(), session.text());
            Err(Exit::Input)
        }
    }
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
    let lines = LineIndex::new(session.text());
    let (line, column) = lines.position(session.text(), limit.span().start);
    let name = session.name();
    terminal.error(&format_args!(
        "{name}:{line}:{column}: the execution cannot go on: {limit}"
    ));
    Exit::Unknown
}

/// A random execution, up to its end, a violation, or so many steps.
fn walk(
    session: &Session,
    instance: &Instance,
    watched: &[String],
    mut simulation: Simulation<'_>,
    steps: u64,
) -> Result<Trace, Trouble> {
    let program = instance.program();
    let initial = simulation.state().clone();
    let mut recorder = Recorder::new(instance, session.text(), initial).map_err(internal)?;
    let mut ending = (None, RunEnding::End);
    if let Some(name) = violated(instance, watched, simulation.state())? {
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
                    if let Some(name) = violated(instance, watched, simulation.state())? {
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
                Event::Ended => break,
            }
        }
    }
    recorder.finish(ending.0, ending.1).map_err(internal)
}

/// The first invariant that does not hold in a state.
fn violated<'a>(
    instance: &'a Instance,
    watched: &[String],
    state: &State,
) -> Result<Option<&'a str>, Limit> {
    let interpreter = Interpreter::new(instance);
    for property in &instance.program().properties {
        if let PropertyKind::Invariant(predicate) = &property.kind
            && watched.contains(&property.name)
            && !interpreter.judge(state, predicate)?.holds()
        {
            return Ok(Some(&property.name));
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
    lines: LineIndex,
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
            lines: LineIndex::new(session.text()),
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
                Ok(Some(name)) => {
                    seen_violation = true;
                    say(format_args!("`{name}` does not hold here\n"));
                }
                Ok(None) => {}
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
        let source = |start: u32| {
            let number = self.lines.line(start);
            let line = self.session.text().lines().nth(number - 1).unwrap_or("");
            format!("{number}: {}", line.trim())
        };
        match outcome {
            Outcome::Rest { span } => {
                format!("{name}  rests at {from}  {}", source(span.start))
            }
            Outcome::Fail { failure, .. } => format!(
                "{name}  fails at {from}: {}  {}",
                threadwise_evidence::CheckName::from(failure.kind),
                source(failure.span.start)
            ),
            Outcome::Move { state, to, path } => {
                let to = self.names.location(process.template, *to);
                let changes: Vec<String> = self
                    .names
                    .changes(before, state)
                    .into_iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                let source = path.first().map(|span| source(span.start));
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
                "no process can do anything: undo with `u`, or quit with `q`\n"
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
