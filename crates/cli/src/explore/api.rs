//! What the page of the explorer asks: the page itself, where a walk leads and what can be done there, what `check` finds, and the walk of a trace.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use threadwise::page::{self, Document, Source};
use threadwise::{Session, Trace, Values, values_of};
use threadwise_evidence::{CheckName, Initial, Step, Steps, Value};
use threadwise_lang::check_expression;
use threadwise_lang::diagnostics::Diagnostic;
use threadwise_lang::program::{Expr, PropertyKind};
use threadwise_model::expression::Limit;
use threadwise_model::instance::Instance;
use threadwise_model::interpreter::{Interpreter, Judgement, Outcome};
use threadwise_model::names::Names;
use threadwise_model::state::State;

use crate::args::LanguageArgs;
use crate::explore::http::{Response, Status};
use crate::explore::walk::{self, Choice, Walk, Walked};
use crate::input;

const SCRIPT: &str = include_str!("explore.js");

/// Seconds that `check` has for each property, and for all of them; and how much longer it may take to say so.
const CHECK_SECONDS: u64 = 20;
const CHECK_TOTAL: u64 = 60;
const CHECK_GRACE: u64 = 10;
/// The longest answer of `check` that is read.
const LONGEST_REPORT: u64 = 256 << 20;
/// How many options are listed.
const MOST_OPTIONS: usize = 2_000;
/// How many expressions are watched at once, and how long each may be.
const MOST_WATCHED: usize = 50;
const LONGEST_WATCHED: usize = 1_000;
/// How many watched expressions are remembered.
const MOST_REMEMBERED: usize = 200;

/// The explorer of one file.
pub(super) struct Explorer {
    path: PathBuf,
    language: LanguageArgs,
    values: Values,
    /// What the page begins with.
    begin: Option<Loaded>,
    model: Mutex<Arc<Model>>,
    known: Mutex<Known>,
    /// One `check` at a time.
    checking: Mutex<()>,
}

/// The file as it was when the page was loaded.
struct Model {
    session: Session,
    /// Tells one text from another.
    mark: String,
}

/// What is remembered from one request to the next.
#[derive(Default)]
struct Known {
    /// The model that it is about.
    mark: String,
    instances: BTreeMap<Vec<(String, i64)>, Arc<Instance>>,
    walked: Option<Walked>,
    watched: BTreeMap<(Vec<(String, i64)>, String), Watch>,
}

type Watch = Result<Arc<(Instance, Expr)>, String>;

/// What every request says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    /// The model that the page knows.
    model: String,
    values: Values,
    #[serde(default)]
    walk: Walk,
    /// How many steps of the walk the page knows already.
    #[serde(default)]
    known: usize,
    /// Expressions to evaluate.
    #[serde(default)]
    watch: Vec<String>,
    /// For `trace`: the trace.
    #[serde(default)]
    trace: Option<Json>,
}

/// Something that can be done.
#[derive(Serialize)]
struct Choosable {
    choice: Choice,
    /// What it does; nothing if a check fails in it.
    step: Option<Step>,
    /// Whose it is, and where that is.
    process: String,
    from: String,
    line: u32,
    /// The check that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    fails: Option<String>,
}

/// What the page's script finds in it.
#[derive(Serialize)]
struct Data<'m> {
    model: &'m str,
    file: Source,
    params: Vec<&'m str>,
    values: Values,
    error: Option<String>,
    begin: Option<&'m Loaded>,
    seconds: u64,
}

/// Where a walk leads.
#[derive(Serialize)]
struct Look {
    /// How many steps of the walk fit the model, and why no more do.
    length: usize,
    error: Option<String>,
    /// The steps after those that the page knows, and the first state if it knows none.
    known: usize,
    steps: Vec<Step>,
    initial: Option<Initial>,
    /// How many initial states there are.
    initials: Option<String>,
    options: Vec<Choosable>,
    /// How many options are not listed.
    more: usize,
    deadlock: bool,
    ended: bool,
    properties: Vec<Standing>,
    watch: Vec<WatchedValue>,
}

/// How a property stands in a state.
#[derive(Serialize)]
struct Standing {
    name: String,
    kind: &'static str,
    /// Nothing of a liveness property: no state decides it.
    holds: Option<bool>,
    fails: Option<String>,
    line: u32,
}

/// The value of a watched expression.
#[derive(Serialize)]
struct WatchedValue {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A trace as a walk, with the values of the parameters that it is about.
#[derive(Serialize)]
struct Loaded {
    values: Values,
    walk: Walk,
    loop_from: Option<usize>,
    property: Option<String>,
}

/// What `check` found.
#[derive(Serialize)]
struct Found {
    results: Vec<FoundResult>,
}

#[derive(Serialize)]
struct FoundResult {
    property: Json,
    verdict: Json,
    reason: Json,
    shown: Option<Loaded>,
}

/// A refusal with words.
struct Trouble(Status, String);

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble(Status::Ok, limit.to_string())
    }
}

impl Model {
    fn new(session: Session) -> Model {
        // FNV-1a: enough to tell a text from the one before an edit; nobody gains by making two alike.
        let model = session.model();
        let bytes = model.bytes();
        let mark = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |mark, byte| {
            (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mark = format!("{mark:016x}");
        drop(model);
        Model { session, mark }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind the locks is valid at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answered<T: Serialize>(result: Result<T, Trouble>) -> Response {
    let (status, body) = match result {
        Ok(answer) => match serde_json::to_string(&answer) {
            Ok(body) => (Status::Ok, body),
            Err(error) => (Status::Internal, refused(&error.to_string())),
        },
        Err(Trouble(status, message)) => (status, refused(&message)),
    };
    Response {
        status,
        kind: "application/json",
        body,
    }
}

fn refused(message: &str) -> String {
    json!({ "refused": message }).to_string()
}

impl Explorer {
    pub(super) fn new(
        path: PathBuf,
        language: LanguageArgs,
        session: Session,
        values: Values,
    ) -> Explorer {
        Explorer {
            path,
            language,
            values,
            begin: None,
            model: Mutex::new(Arc::new(Model::new(session))),
            known: Mutex::default(),
            checking: Mutex::default(),
        }
    }

    /// The same, with a page that shows a trace first.
    pub(super) fn beginning_with(self, trace: &Trace) -> Result<Explorer, String> {
        let begin = self.loaded(trace)?;
        Ok(Explorer {
            begin: Some(begin),
            ..self
        })
    }

    fn model(&self) -> Arc<Model> {
        Arc::clone(&locked(&self.model))
    }

    /// The page; the file is read again, so that to load the page anew is to see the model as it is.
    pub(super) fn page(&self) -> Response {
        if self.path != std::path::Path::new("-")
            && let Ok(session) = input::read_model(&self.path, &self.language)
        {
            *locked(&self.model) = Arc::new(Model::new(session));
        }
        let model = self.model();
        let session = &model.session;
        let params = session.program().map_or_else(Vec::new, |program| {
            program
                .params
                .iter()
                .map(|param| param.name.as_str())
                .collect()
        });
        let (values, error) = match session.instance(&self.values) {
            Ok(instance) => (values_of(&instance), None),
            Err(diagnostics) => (self.values.clone(), Some(messages(&diagnostics))),
        };
        let data = serde_json::to_string(&Data {
            model: &model.mark,
            file: Source::new(session),
            params,
            values,
            error,
            begin: self.begin.as_ref(),
            seconds: CHECK_SECONDS,
        });
        let Ok(data) = data else {
            return Response::refusal(Status::Internal);
        };
        let title = format!("{} – threadwise explore", session.name());
        Response {
            status: Status::Ok,
            kind: "text/html; charset=utf-8",
            body: page::document(&Document {
                title: &title,
                data: &data,
                scripts: &[page::VIEWER, SCRIPT],
                plain: "The explorer needs scripts. In a terminal, `threadwise simulate --interactive` walks a program.",
                policy: "connect-src 'self';",
            }),
        }
    }

    fn about(&self, body: &[u8]) -> Result<(Arc<Model>, About), Trouble> {
        let bad = |error| Trouble(Status::BadRequest, format!("{error}"));
        let about: About = serde_json::from_slice(body).map_err(bad)?;
        let model = self.model();
        match about.model == model.mark {
            true => Ok((model, about)),
            false => Err(Trouble(
                Status::Conflict,
                "the model has changed: load the page again".to_owned(),
            )),
        }
    }

    /// Where a walk leads: its steps, what can be done at its end, and what holds there.
    pub(super) fn state(&self, body: &[u8]) -> Response {
        answered(
            self.about(body)
                .and_then(|(model, about)| self.look(&model, &about)),
        )
    }

    fn look(&self, model: &Model, about: &About) -> Result<Look, Trouble> {
        let mut known = locked(&self.known);
        let known = &mut *known;
        if known.mark != model.mark {
            *known = Known {
                mark: model.mark.clone(),
                ..Known::default()
            };
        }
        let instance = known.instance(model, &about.values)?;
        let misstep = |error: walk::Misstep| Trouble(Status::Ok, error.to_string());
        let begun = |walked: &Walked| walked.begins(&instance, &about.walk);
        let mut walked = match known.walked.take().filter(begun) {
            Some(walked) => walked,
            None => Walked::new(Arc::clone(&instance), &about.walk.initial).map_err(misstep)?,
        };
        let followed = walked.follow(&about.walk);
        let walked = known.walked.insert(walked);
        // A walk that does not fit is shown as far as it does.
        let (length, error) = match followed {
            Ok(()) => (about.walk.choices.len(), None),
            Err(error) => (walked.steps().len(), Some(error.to_string())),
        };
        let state = walked.state(length).cloned().unwrap_or_default();
        let steps = walked.steps().get(..length).unwrap_or_default();
        let steps = steps.get(about.known..).unwrap_or_default().to_vec();
        let interpreter = Interpreter::new(&instance);
        let states = interpreter.initial_states()?;
        let describe = Steps::new(&instance);
        let first = walked.state(0).filter(|_| about.known == 0);
        let initial = first.map(|state| describe.state(state));
        let (options, more) = options(&instance, &state, &describe)?;
        let properties = properties(&instance, &state, &describe)?;
        let watch = about.watch.iter().take(MOST_WATCHED);
        let watch = watch
            .map(|text| known.watch(model, about, &state, text))
            .collect();
        let deadlock = interpreter.is_deadlock(&state)?;
        Ok(Look {
            length,
            error,
            known: about.known.min(length),
            steps,
            initial,
            initials: states.total().map(|total| total.to_string()),
            options,
            more,
            deadlock,
            ended: !deadlock
                && state
                    .processes()
                    .all(|process| interpreter.has_ended(&state, process)),
            properties,
            watch,
        })
    }

    /// The walk of a trace.
    pub(super) fn trace(&self, body: &[u8]) -> Response {
        answered(self.about(body).and_then(|(_, about)| {
            let bad = |message: String| Trouble(Status::Ok, message);
            let text = about.trace.map(|trace| trace.to_string());
            let trace = Trace::from_json(&text.unwrap_or_default());
            let trace = trace.map_err(|error| bad(error.to_string()))?;
            self.loaded(&trace).map_err(bad)
        }))
    }

    fn loaded(&self, trace: &Trace) -> Result<Loaded, String> {
        let model = self.model();
        let session = &model.session;
        let trace = session.replay(trace).map_err(|error| error.to_string())?;
        let values = Values(trace.params.clone().into_iter().collect());
        let instance = session.instance(&values).map_err(|all| messages(&all))?;
        let walk = walk::of_trace(&instance, &trace)?;
        Ok(Loaded {
            values: values_of(&instance),
            walk,
            loop_from: trace.loop_from,
            property: trace.property,
        })
    }

    /// What `check` finds at these values, in a process of its own and within a limit of time.
    pub(super) fn check(&self, body: &[u8]) -> Response {
        answered(self.about(body).and_then(|(model, about)| {
            let Ok(_one) = self.checking.try_lock() else {
                let message = "another check is running; wait for it".to_owned();
                return Err(Trouble(Status::Conflict, message));
            };
            let failed = |message: String| Trouble(Status::Ok, message);
            let report = checked(&model.session.model(), &about).map_err(failed)?;
            let mut results = Vec::new();
            let runs = report["runs"].as_array().cloned().unwrap_or_default();
            for result in runs
                .iter()
                .filter_map(|run| run["results"].as_array())
                .flatten()
            {
                let trace = result.get("trace").filter(|trace| !trace.is_null());
                let trace = trace.and_then(|trace| Trace::from_json(&trace.to_string()).ok());
                let walk = trace.map(|trace| self.loaded(&trace)).transpose();
                results.push(FoundResult {
                    property: result["property"].clone(),
                    verdict: result["verdict"].clone(),
                    reason: result["reason"]["message"].clone(),
                    shown: walk.map_err(failed)?,
                });
            }
            Ok(Found { results })
        }))
    }
}

impl Known {
    fn instance(&mut self, model: &Model, values: &Values) -> Result<Arc<Instance>, Trouble> {
        if let Some(known) = self.instances.get(&values.0) {
            return Ok(Arc::clone(known));
        }
        let built = model.session.instance(values);
        let built = built.map_err(|diagnostics| Trouble(Status::Ok, messages(&diagnostics)))?;
        // Whoever goes through many values needs the last ones.
        if self.instances.len() >= 8 {
            self.instances.clear();
        }
        let built = Arc::new(built);
        self.instances.insert(values.0.clone(), Arc::clone(&built));
        Ok(built)
    }

    /// The value of an expression in a state.
    fn watch(&mut self, model: &Model, about: &About, state: &State, text: &str) -> WatchedValue {
        let key = (about.values.0.clone(), text.to_owned());
        if self.watched.len() >= MOST_REMEMBERED {
            self.watched.clear();
        }
        let watch = self
            .watched
            .entry(key)
            .or_insert_with(|| watch(model, &about.values, text));
        let value = match watch {
            Err(message) => Err(message.clone()),
            Ok(watched) => {
                let (instance, value) = &**watched;
                match Interpreter::new(instance).evaluate(state, value) {
                    Err(limit) => Err(limit.to_string()),
                    Ok(Err(failure)) => Err(CheckName::from(failure.kind).to_string()),
                    Ok(Ok(number)) => Ok(Value::from(Names::new(instance).typed(value.ty, number))),
                }
            }
        };
        let (value, error) = match value {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        WatchedValue {
            text: text.to_owned(),
            value,
            error,
        }
    }
}

fn watch(model: &Model, values: &Values, text: &str) -> Watch {
    if text.len() > LONGEST_WATCHED {
        return Err("the expression is too long".to_owned());
    }
    let watched = check_expression(&model.session.model(), text).map_err(|all| messages(&all))?;
    let values = values.0.iter().cloned().collect();
    let instance = Instance::new(Arc::new(watched.program), &values);
    let instance = instance.map_err(|all| messages(&all))?;
    Ok(Arc::new((instance, watched.value)))
}

/// Diagnostics in a line.
fn messages(diagnostics: &[Diagnostic]) -> String {
    let each = diagnostics.iter().map(|diagnostic| match &diagnostic.help {
        Some(help) => format!("{} ({help})", diagnostic.message),
        None => diagnostic.message.clone(),
    });
    let all: Vec<String> = each.take(5).collect();
    all.join("; ")
}

/// Everything that can happen in a state, up to a limit, and how much more there is.
fn options(
    instance: &Instance,
    state: &State,
    describe: &Steps<'_>,
) -> Result<(Vec<Choosable>, usize), Limit> {
    let (interpreter, names) = (Interpreter::new(instance), Names::new(instance));
    let mut options = Vec::new();
    let mut more = 0;
    for (place, process) in state.processes().enumerate() {
        for (number, outcome) in interpreter.outcomes(state, process)?.iter().enumerate() {
            if options.len() >= MOST_OPTIONS {
                more += 1;
                continue;
            }
            let step = describe.step(state, process, Some(outcome));
            let (line, fails) = match outcome {
                Outcome::Fail { failure, .. } => (
                    describe.line(failure.span),
                    describe.failure(state, outcome),
                ),
                _ => (step.as_ref().and_then(|step| step.line).unwrap_or(0), None),
            };
            options.push(Choosable {
                choice: Choice(place, Some(number)),
                process: names.process(process),
                from: names
                    .location(process.template, state.location(process))
                    .to_owned(),
                step,
                line,
                fails,
            });
        }
    }
    Ok((options, more))
}

/// What is to be said of each property in a state.
fn properties(
    instance: &Instance,
    state: &State,
    describe: &Steps<'_>,
) -> Result<Vec<Standing>, Limit> {
    let interpreter = Interpreter::new(instance);
    let mut all = Vec::new();
    for property in &instance.program().properties {
        let (kind, holds, fails) = match &property.kind {
            PropertyKind::Invariant(predicate) => match interpreter.judge(state, predicate)? {
                Judgement::True => ("invariant", Some(true), None),
                Judgement::False => ("invariant", Some(false), None),
                Judgement::Fails(failure) => {
                    let check = CheckName::from(failure.kind).to_string();
                    ("invariant", Some(false), Some(check))
                }
            },
            PropertyKind::DeadlockFree => {
                let holds = !interpreter.is_deadlock(state)?;
                ("deadlock_free", Some(holds), None)
            }
            PropertyKind::Liveness { .. } => ("liveness", None, None),
        };
        all.push(Standing {
            name: property.name.clone(),
            kind,
            holds,
            fails,
            line: describe.line(property.span),
        });
    }
    Ok(all)
}

/// The report of `threadwise check` about one instance.
fn checked(text: &str, about: &About) -> Result<Json, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args([
        "check",
        "-",
        "--json",
        "--quiet",
        "--with-parent",
        "--threads",
        "1",
    ]);
    command.args(["--timeout", &CHECK_SECONDS.to_string()]);
    command.args(["--total-timeout", &CHECK_TOTAL.to_string()]);
    for (name, value) in &about.values.0 {
        command.args(["--set", &format!("{name}={value}")]);
    }
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| format!("`check` cannot be started: {error}"))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let text = text.to_owned();
    let writer = thread::spawn(move || {
        // A child that does not read says so by its answer.
        input.map(|mut input| input.write_all(text.as_bytes()))
    });
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map(|output| output.take(LONGEST_REPORT).read_to_end(&mut bytes));
        (read, bytes)
    });
    let ended = wait(&mut child);
    let _ = writer.join();
    let read = reader.join();
    if !ended {
        return Err(format!("`check` was ended after {CHECK_TOTAL} seconds"));
    }
    let (_, bytes) = read.map_err(|_| "the answer of `check` cannot be read".to_owned())?;
    serde_json::from_slice(&bytes).map_err(|_| "`check` gave no answer".to_owned())
}

/// Waits for a child to end, and ends it if it takes too long.
fn wait(child: &mut Child) -> bool {
    let deadline = Instant::now() + Duration::from_secs(CHECK_TOTAL + CHECK_GRACE);
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
            Ok(None) | Err(_) => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
