//! `threadwise lsp`: the language server, for editors, on standard input and output.
//!
//! One thread owns all state and answers requests one after the other; an answer takes milliseconds, because what the front end says about a
//! version of a document is computed once and kept, in a thread that is abandoned if it takes too long (see `document`). Other threads only read: one the client's messages, two the output of a
//! check, which runs in a process of its own (see `checks`). So nothing is locked, and nothing waits for a check.
//!
//! Messages about a document follow a change after a short pause, so that a burst of keys costs one analysis. A panic in one request
//! is answered as an internal error, and the next request is served: an editor must not lose its server in the middle of a word.

mod built_in;
mod checks;
mod completion;
mod document;
mod edits;
mod frame;
mod hover;
mod messages;
mod navigation;
mod protocol;
mod rename;
mod symbols;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use threadwise::Exit;

use checks::{Checks, Printed, Wanted};
use document::{Document, Encoding};
use frame::{FrameError, Frames};
use protocol::{Failure, response};

/// How long after a change messages about the text are sent.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a check may take, unless the client says otherwise.
const CHECK_SECONDS: f64 = 60.0;
/// Withdraws a request.
const CANCEL_REQUEST: &str = "$/cancelRequest";
/// The command of the lens.
const CHECK: &str = "threadwise.check";
/// Ends the checks of a document.
const CANCEL: &str = "threadwise.cancel";

/// What the server waits for.
enum Event {
    Message(Result<Value, FrameError>),
    /// The client has closed the stream.
    Closed,
    Printed(Printed),
}

pub(crate) fn run() -> Exit {
    let (send, events) = mpsc::channel();
    let reading = send.clone();
    thread::spawn(move || {
        for message in Frames::new(BufReader::new(io::stdin())) {
            if reading.send(Event::Message(message)).is_err() {
                return;
            }
        }
        // Nobody listens if the server has ended already.
        let _ = reading.send(Event::Closed);
    });
    let server = Server {
        out: Box::new(io::stdout()),
        phase: Phase::Waiting,
        client: Client::default(),
        documents: BTreeMap::new(),
        due: BTreeMap::new(),
        checks: Checks::new(send),
        check_seconds: CHECK_SECONDS,
        withdrawn: BTreeSet::new(),
        asked: 0,
        to_begin: BTreeMap::new(),
    };
    server.serve(&events)
}

/// Where in its life the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    Waiting,
    Serving,
    /// After `shutdown`.
    Closing,
}

/// What the client can do, and what was agreed.
struct Client {
    encoding: Encoding,
    tree_of_symbols: bool,
    refreshes_lenses: bool,
    progress: bool,
}

impl Default for Client {
    fn default() -> Client {
        Client {
            encoding: Encoding::Utf16,
            tree_of_symbols: false,
            refreshes_lenses: false,
            progress: false,
        }
    }
}

struct Server {
    out: Box<dyn Write>,
    phase: Phase,
    client: Client,
    documents: BTreeMap<String, Document>,
    /// When messages about a document are to be sent.
    due: BTreeMap<String, Instant>,
    checks: Checks,
    check_seconds: f64,
    /// Requests that are cancelled by a message that is still in line.
    withdrawn: BTreeSet<String>,
    /// How many requests were sent to the client.
    asked: u64,
    /// Requests for a place to report progress, and what is to begin there when the client agrees.
    to_begin: BTreeMap<String, (Value, String)>,
}

/// The answer to a request: now, or when a check has ended.
enum Reply {
    Now(Value),
    Later,
}

impl Server {
    fn serve(mut self, events: &Receiver<Event>) -> Exit {
        let mut queue: VecDeque<Event> = VecDeque::new();
        loop {
            if queue.is_empty() {
                let event = match self.due.values().min() {
                    None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
                };
                match event {
                    Ok(event) => queue.push_back(event),
                    Err(RecvTimeoutError::Timeout) => self.publish_due(),
                    Err(RecvTimeoutError::Disconnected) => return Exit::Violated,
                }
            }
            for event in events.try_iter() {
                // What is withdrawn while it waits in line is not worked on.
                if let Event::Message(Ok(message)) = &event
                    && message["method"] == CANCEL_REQUEST
                {
                    self.withdrawn.insert(message["params"]["id"].to_string());
                }
                queue.push_back(event);
            }
            let Some(event) = queue.pop_front() else {
                continue;
            };
            match event {
                Event::Closed => return Exit::Violated,
                Event::Printed(printed) => self.checked(&printed),
                Event::Message(Err(error)) => {
                    let failure = Failure::parse(error.to_string());
                    self.send(&response(&Value::Null, Err(failure)));
                }
                Event::Message(Ok(message)) => {
                    if let Some(exit) = self.message(&message) {
                        return exit;
                    }
                }
            }
            self.start_checks();
        }
    }

    fn send(&mut self, message: &Value) {
        // A client that is gone closes its other stream, too, and that ends the server.
        let _ = frame::write(&mut *self.out, message);
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request to the client; returns its id.
    fn ask(&mut self, method: &str, params: Value) -> String {
        self.asked += 1;
        let id = format!("threadwise-{}", self.asked);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Takes a message; gives the exit status if it was the last.
    fn message(&mut self, message: &Value) -> Option<Exit> {
        let id = message.get("id");
        let Some(method) = message["method"].as_str() else {
            self.answered(message, id);
            return None;
        };
        let params = &message["params"];
        let Some(id) = id else {
            if method == "exit" {
                return Some(match self.phase {
                    Phase::Closing => Exit::Proved,
                    Phase::Waiting | Phase::Serving => Exit::Violated,
                });
            }
            if method == CANCEL_REQUEST {
                self.withdrawn.remove(&params["id"].to_string());
            }
            if self.phase == Phase::Serving {
                self.guarded(|server| server.notification(method, params));
            }
            return None;
        };
        if !(id.is_i64() || id.is_u64() || id.is_string()) {
            let failure = Failure::invalid_request("an id is an integer or a string");
            self.send(&response(&Value::Null, Err(failure)));
            return None;
        }
        let reply = match self.withdrawn.contains(&id.to_string()) {
            true => Err(Failure::cancelled()),
            false => self
                .guarded(|server| server.request(id, method, params))
                .unwrap_or_else(|| Err(Failure::internal(format!("`{method}` failed")))),
        };
        match reply {
            Ok(Reply::Later) => {}
            Ok(Reply::Now(value)) => self.send(&response(id, Ok(value))),
            Err(failure) => self.send(&response(id, Err(failure))),
        }
        None
    }

    /// Works on something; nothing comes back if that panics. What was said about documents may then be half-done, so it is forgotten.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Server) -> T) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        if result.is_err() {
            for document in self.documents.values_mut() {
                let text = document.text.to_string();
                document.change(None, &text);
            }
        }
        result.ok()
    }

    /// A message without a method is an answer of the client, or nothing at all.
    fn answered(&mut self, message: &Value, id: Option<&Value>) {
        let answer = message.get("result").is_some() || message.get("error").is_some();
        if !answer {
            let failure = Failure::invalid_request("a message has a method, a result or an error");
            let id = id.filter(|id| id.is_i64() || id.is_u64() || id.is_string());
            let message = response(id.unwrap_or(&Value::Null), Err(failure));
            return self.send(&message);
        }
        let begun = id.and_then(Value::as_str);
        let begun = begun.and_then(|id| self.to_begin.remove(id));
        if let Some((token, title)) = begun.filter(|_| message.get("error").is_none()) {
            self.begin_progress(&token, &title);
        }
    }

    // ---- requests ----

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> Result<Reply, Failure> {
        match (self.phase, method) {
            (Phase::Waiting, "initialize") => return Ok(Reply::Now(self.initialize(params))),
            (Phase::Waiting, _) => return Err(Failure::not_initialized()),
            (Phase::Serving, "initialize") => {
                return Err(Failure::invalid_request("`initialize` comes once"));
            }
            (Phase::Closing, _) => {
                return Err(Failure::invalid_request(
                    "nothing is served after `shutdown`",
                ));
            }
            (Phase::Serving, "shutdown") => {
                self.phase = Phase::Closing;
                self.end_checks(|_| true, Failure::cancelled);
                return Ok(Reply::Now(Value::Null));
            }
            (Phase::Serving, "workspace/executeCommand") => return self.command(id, params),
            (Phase::Serving, _) => {}
        }
        self.question(method, params).map(Reply::Now)
    }

    /// A question about documents, which changes nothing.
    fn question(&self, method: &str, params: &Value) -> Result<Value, Failure> {
        let document = || self.document(params);
        let place = || {
            let document = document()?;
            let at = document.offset(&params["position"]);
            let at = at.ok_or_else(|| Failure::invalid_params("a `position` is needed"))?;
            Ok::<_, Failure>((document, at))
        };
        Ok(match method {
            "textDocument/hover" => {
                let (document, at) = place()?;
                hover::hover(document, at)
            }
            "textDocument/definition" | "textDocument/declaration" => {
                let (document, at) = place()?;
                navigation::definition(document, at)
            }
            "textDocument/references" => {
                let (document, at) = place()?;
                let declarations = params["context"]["includeDeclaration"].as_bool();
                navigation::references(document, at, declarations.unwrap_or(true))
            }
            "textDocument/documentHighlight" => {
                let (document, at) = place()?;
                navigation::highlights(document, at)
            }
            "textDocument/prepareRename" => {
                let (document, at) = place()?;
                rename::prepare(document, at)?
            }
            "textDocument/rename" => {
                let (document, at) = place()?;
                let new = params["newName"].as_str();
                let new = new.ok_or_else(|| Failure::invalid_params("a `newName` is needed"))?;
                rename::rename(document, at, new)?
            }
            "textDocument/completion" => {
                let (document, at) = place()?;
                completion::complete(document, at)
            }
            "textDocument/signatureHelp" => {
                let (document, at) = place()?;
                completion::signature(document, at)
            }
            "textDocument/documentSymbol" => match self.client.tree_of_symbols {
                true => symbols::tree(document()?),
                false => Value::Array(symbols::list(document()?, "")),
            },
            "workspace/symbol" => {
                let query = params["query"].as_str().unwrap_or_default();
                let documents = self.documents.values();
                documents
                    .flat_map(|document| symbols::list(document, query))
                    .collect()
            }
            "textDocument/foldingRange" => symbols::folding(document()?),
            "textDocument/semanticTokens/full" => symbols::tokens(document()?),
            "textDocument/formatting" => edits::format(document()?),
            "textDocument/codeAction" => {
                let document = document()?;
                let part = document.span(&params["range"]);
                let part = part.ok_or_else(|| Failure::invalid_params("a `range` is needed"))?;
                edits::actions(document, part)
            }
            "textDocument/codeLens" => self.lenses(document()?),
            _ => return Err(Failure::unknown_method(method)),
        })
    }

    /// The document that a request is about.
    fn document(&self, params: &Value) -> Result<&Document, Failure> {
        let uri = params["textDocument"]["uri"].as_str();
        let uri = uri.ok_or_else(|| Failure::invalid_params("a `textDocument` is needed"))?;
        let document = self.documents.get(uri);
        document.ok_or_else(|| Failure::invalid_params(format!("`{uri}` is not open")))
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let can = |path: &str| params["capabilities"].pointer(path) == Some(&json!(true));
        let encodings = params["capabilities"]["general"]["positionEncodings"].as_array();
        let utf8 = encodings.is_some_and(|known| known.contains(&json!("utf-8")));
        self.client = Client {
            encoding: if utf8 {
                Encoding::Utf8
            } else {
                Encoding::Utf16
            },
            tree_of_symbols: can("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            refreshes_lenses: can("/workspace/codeLens/refreshSupport"),
            progress: can("/window/workDoneProgress"),
        };
        self.configure(&params["initializationOptions"]);
        self.phase = Phase::Serving;
        const INCREMENTAL: u64 = 2;
        json!({
            "serverInfo": { "name": "threadwise", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "positionEncoding": if utf8 { "utf-8" } else { "utf-16" },
                "textDocumentSync": { "openClose": true, "change": INCREMENTAL },
                "hoverProvider": true,
                "definitionProvider": true,
                "declarationProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "renameProvider": { "prepareProvider": true },
                "completionProvider": { "triggerCharacters": ["."] },
                "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
                "documentSymbolProvider": true,
                "workspaceSymbolProvider": true,
                "foldingRangeProvider": true,
                "semanticTokensProvider": {
                    "legend": {
                        "tokenTypes": symbols::TOKEN_TYPES,
                        "tokenModifiers": symbols::TOKEN_MODIFIERS,
                    },
                    "full": true,
                },
                "documentFormattingProvider": true,
                "codeActionProvider": { "codeActionKinds": ["quickfix"] },
                "codeLensProvider": {},
                "executeCommandProvider": {
                    "commands": [CHECK, CANCEL],
                    "workDoneProgress": true,
                },
            },
        })
    }

    /// Settings: how long a check may take.
    fn configure(&mut self, settings: &Value) {
        let seconds = settings["check"]["timeout"].as_f64();
        if let Some(seconds) = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0) {
            self.check_seconds = seconds;
        }
    }

    // ---- documents ----

    fn notification(&mut self, method: &str, params: &Value) {
        let named = &params["textDocument"];
        let uri = named["uri"].as_str().unwrap_or_default().to_owned();
        match method {
            "textDocument/didOpen" => {
                let Some(text) = named["text"].as_str() else {
                    return;
                };
                self.end_checks(|wanted| wanted.uri == uri, Failure::content_modified);
                let version = named["version"].clone();
                let document = Document::new(&uri, version, text, self.client.encoding);
                self.documents.insert(uri.clone(), document);
                self.publish(&uri);
            }
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array();
                let Some(document) = self.documents.get_mut(&uri) else {
                    return;
                };
                document.version = named["version"].clone();
                for change in changes.into_iter().flatten() {
                    let range = change.get("range").filter(|range| !range.is_null());
                    let span = range.map(|range| document.span(range));
                    // A change that cannot be read is left out; the next whole text puts it right.
                    if let (Some(text), None | Some(Some(_))) = (change["text"].as_str(), span) {
                        document.change(span.flatten(), text);
                    }
                }
                self.end_checks(|wanted| wanted.uri == uri, Failure::content_modified);
                self.due.insert(uri, Instant::now() + PAUSE);
            }
            "textDocument/didClose" => {
                if self.documents.remove(&uri).is_none() {
                    return;
                }
                self.due.remove(&uri);
                self.end_checks(|wanted| wanted.uri == uri, Failure::content_modified);
                let nothing = json!({ "uri": uri, "diagnostics": [] });
                self.notify("textDocument/publishDiagnostics", nothing);
            }
            "workspace/didChangeConfiguration" => {
                self.configure(&params["settings"]["threadwise"]);
            }
            CANCEL_REQUEST => {
                let id = params["id"].clone();
                self.end_checks(|wanted| wanted.request == id, Failure::cancelled);
            }
            "window/workDoneProgress/cancel" => {
                let token = Some(params["token"].clone());
                self.end_checks(|wanted| wanted.progress == token, Failure::cancelled);
            }
            // The rest says nothing that matters here.
            _ => {}
        }
    }

    fn publish_due(&mut self) {
        let now = Instant::now();
        let due: Vec<String> = (self.due.iter())
            .filter(|(_, due)| **due <= now)
            .map(|(uri, _)| uri.clone())
            .collect();
        for uri in due {
            self.guarded(|server| server.publish(&uri));
            self.due.remove(&uri);
        }
    }

    /// Sends the messages about a document.
    fn publish(&mut self, uri: &str) {
        self.due.remove(uri);
        if let Some(document) = self.documents.get(uri) {
            let params = json!({
                "uri": uri,
                "version": document.version,
                "diagnostics": messages::all(document),
            });
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    // ---- checks ----

    /// Above each property what a check said, and the way to run it.
    fn lenses(&self, document: &Document) -> Value {
        let uri = &document.uri;
        symbols::properties(document)
            .into_iter()
            .map(|(property, span)| {
                let running = self.checks.is_wanted(uri, &property);
                let title = match document.outcomes.get(&property) {
                    _ if running => "checking .. (stop)".to_owned(),
                    None => "check".to_owned(),
                    Some(outcome) if outcome.is_about(&document.text) => outcome.summary.clone(),
                    Some(outcome) => {
                        format!("{}, before the last change; check again", outcome.verdict)
                    }
                };
                let (command, arguments) = match running {
                    true => (CANCEL, json!([uri])),
                    false => (CHECK, json!([uri, property])),
                };
                json!({
                    "range": document.range(span),
                    "command": { "title": title, "command": command, "arguments": arguments },
                })
            })
            .collect()
    }

    fn command(&mut self, id: &Value, params: &Value) -> Result<Reply, Failure> {
        let uri = params["arguments"][0].as_str();
        let uri = uri.ok_or_else(|| Failure::invalid_params("the first argument is a document"));
        match params["command"].as_str() {
            Some(CHECK) => self.want_check(id, uri?, params).map(|()| Reply::Later),
            Some(CANCEL) => {
                let uri = uri?;
                self.end_checks(|wanted| wanted.uri == uri, Failure::cancelled);
                Ok(Reply::Now(Value::Null))
            }
            other => {
                let name = other.unwrap_or_default();
                Err(Failure::invalid_params(format!(
                    "there is no command `{name}`"
                )))
            }
        }
    }

    fn want_check(&mut self, id: &Value, uri: &str, params: &Value) -> Result<(), Failure> {
        let document = self.documents.get(uri);
        let document =
            document.ok_or_else(|| Failure::invalid_params(format!("`{uri}` is not open")))?;
        let property = params["arguments"][1].as_str().map(str::to_owned);
        let Some(program) = &document.analysis().program else {
            return Err(Failure::request_failed(
                "the text has errors, which have to be fixed first",
            ));
        };
        if let Some(name) = &property {
            let known = program.properties.iter().any(|known| known.name == *name);
            if !known && name != "checks" {
                return Err(Failure::invalid_params(format!(
                    "there is no property `{name}`"
                )));
            }
        }
        let text = document.text.clone();
        let progress = match params.get("workDoneToken") {
            Some(token) if token.is_string() || token.is_i64() => Some(token.clone()),
            _ if self.client.progress => Some(json!(format!("threadwise-check-{id}"))),
            _ => None,
        };
        let wanted = Wanted {
            request: id.clone(),
            uri: uri.to_owned(),
            property,
            text,
            progress,
        };
        if let Some(token) = &wanted.progress {
            let title = wanted.title();
            if params.get("workDoneToken") == Some(token) {
                self.begin_progress(&token.clone(), &title);
            } else {
                let token = token.clone();
                let create = json!({ "token": token });
                let asked = self.ask("window/workDoneProgress/create", create);
                self.to_begin.insert(asked, (token, title));
            }
        }
        self.checks.add(wanted);
        Ok(())
    }

    fn begin_progress(&mut self, token: &Value, title: &str) {
        let value = json!({ "kind": "begin", "title": title, "cancellable": true });
        self.notify("$/progress", json!({ "token": token, "value": value }));
    }

    fn end_progress(&mut self, wanted: &Wanted, message: &str) {
        let Some(token) = &wanted.progress else {
            return;
        };
        // Where the client has not answered yet, nothing has begun.
        let before = self.to_begin.len();
        self.to_begin.retain(|_, (waiting, _)| waiting != token);
        if self.to_begin.len() == before {
            let value = json!({ "kind": "end", "message": message });
            self.notify("$/progress", json!({ "token": token, "value": value }));
        }
    }

    fn refresh_lenses(&mut self) {
        if self.client.refreshes_lenses && self.phase == Phase::Serving {
            self.ask("workspace/codeLens/refresh", Value::Null);
        }
    }

    fn start_checks(&mut self) {
        while let Some(started) = self.checks.start_next(self.check_seconds) {
            match started {
                Ok(_) => self.refresh_lenses(),
                Err((wanted, reason)) => {
                    self.end_progress(&wanted, "not started");
                    let failure = Failure::request_failed(reason);
                    self.send(&response(&wanted.request, Err(failure)));
                }
            }
        }
    }

    fn end_checks(&mut self, unwanted: impl Fn(&Wanted) -> bool, why: fn() -> Failure) {
        let ended = self.checks.end(unwanted);
        for wanted in &ended {
            self.end_progress(wanted, "stopped");
            self.send(&response(&wanted.request, Err(why())));
        }
        if !ended.is_empty() {
            self.refresh_lenses();
        }
    }

    /// A check has come to its end.
    fn checked(&mut self, printed: &Printed) {
        let Some(wanted) = self.checks.finish(printed.number) else {
            return;
        };
        match checks::read(printed, &wanted.text) {
            Err(reason) => {
                self.end_progress(&wanted, &reason);
                let failure = Failure::request_failed(reason);
                self.send(&response(&wanted.request, Err(failure)));
            }
            Ok(outcomes) => {
                let own = |name: &String| wanted.property.as_ref().is_none_or(|p| p == name);
                let mut summaries = outcomes.iter().filter(|(name, _)| own(name));
                let message = summaries.next().map_or("", |(_, outcome)| &outcome.summary);
                self.end_progress(&wanted, message);
                let answer = checks::answer(&outcomes);
                if let Some(document) = self.documents.get_mut(&wanted.uri) {
                    document.outcomes.extend(outcomes);
                }
                // First the messages: whoever waits for the answer then has them.
                self.publish(&wanted.uri);
                self.send(&response(&wanted.request, Ok(answer)));
            }
        }
        self.refresh_lenses();
    }
}
