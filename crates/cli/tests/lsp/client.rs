//! A client: what an editor sends, and what it hears.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Long enough for a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(180);

pub const URI: &str = "file:///model.tw";

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What the server sent besides answers.
    pub heard: Vec<Value>,
    next: u64,
    version: i64,
}

impl Client {
    /// A server that has heard nothing yet.
    pub fn start() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_threadwise"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            child,
            input,
            messages,
            heard: Vec::new(),
            next: 0,
            version: 0,
        }
    }

    /// A server that is ready, for an editor that can do all it asks about.
    pub fn new() -> Client {
        Client::with(json!({
            "textDocument": {
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
            "workspace": { "codeLens": { "refreshSupport": true } },
            "window": { "workDoneProgress": true },
        }))
    }

    /// A server that is ready, for an editor with these abilities.
    pub fn with(capabilities: Value) -> Client {
        let mut client = Client::start();
        client.ask("initialize", json!({ "capabilities": capabilities }));
        client.tell("initialized", json!({}));
        client
    }

    /// Sends bytes as they are. A server that has ended does not read them.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(bytes).and_then(|()| input.flush());
        }
    }

    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let head = format!("Content-Length: {}\r\n\r\n", body.len());
        self.send_bytes(&[head.as_bytes(), body.as_bytes()].concat());
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message; nothing if none comes in this time, or the server has ended.
    pub fn hear(&mut self, patience: Duration) -> Option<Value> {
        self.messages.recv_timeout(patience).ok()
    }

    /// Waits for the answer to a request; what else comes is kept.
    #[track_caller]
    pub fn answer(&mut self, id: &Value) -> Value {
        let wanted = |message: &Value| message.get("method").is_none() && message["id"] == *id;
        if let Some(at) = self.heard.iter().position(wanted) {
            return self.heard.remove(at);
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let Some(message) = self.hear(PATIENCE) else {
                break;
            };
            if wanted(&message) {
                return message;
            }
            self.heard.push(message);
        }
        panic!(
            "no answer to {id}; the server is {:?}",
            self.child.try_wait()
        );
    }

    /// A request with its whole answer.
    #[track_caller]
    pub fn whole(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(&json!(id))
    }

    /// A request with its result.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.whole(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// A request that must fail; the number and the message of the error.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.whole(method, params);
        let error = &answer["error"];
        let code = error["code"].as_i64();
        let code = code.unwrap_or_else(|| panic!("{method} was answered: {answer}"));
        (code, error["message"].as_str().unwrap().to_owned())
    }

    pub fn open(&mut self, text: &str) {
        self.version += 1;
        let document = json!({
            "uri": URI, "languageId": "threadwise", "version": self.version, "text": text,
        });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text.
    pub fn replace(&mut self, text: &str) {
        self.change(json!([{ "text": text }]));
    }

    pub fn change(&mut self, changes: Value) {
        self.version += 1;
        let document = json!({ "uri": URI, "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    /// The messages about the present version of the document.
    #[track_caller]
    pub fn diagnostics(&mut self) -> Value {
        let version = json!(self.version);
        let wanted = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["version"] == version
        };
        let begun = Instant::now();
        loop {
            // The last is the one that counts.
            if let Some(at) = self.heard.iter().rposition(wanted) {
                return self.heard.remove(at)["params"]["diagnostics"].clone();
            }
            assert!(begun.elapsed() < PATIENCE, "no messages");
            if let Some(message) = self.hear(PATIENCE) {
                self.heard.push(message);
            }
        }
    }

    /// Says goodbye; the exit status must be that of a good end.
    #[track_caller]
    pub fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.status(), Some(0));
    }

    /// The exit status of a server that ends.
    pub fn status(&mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => length = length.or(line.strip_prefix("Content-Length: ")?.parse().ok()),
        }
    }
    let mut body = vec![0; length?];
    output.read_exact(&mut body).ok()?;
    let message: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(message["jsonrpc"], "2.0");
    Some(message)
}

/// The models of the library, and those that are only for tests, with their names.
pub fn models() -> Vec<(String, String)> {
    let mut found = threadwise_testgen::library();
    found.extend(threadwise_testgen::library_for_all());
    found.extend(threadwise_testgen::variants_for_all());
    assert!(found.len() > 60);
    found
}

/// A model of the library.
pub fn model(name: &str) -> String {
    let found = models().into_iter().find(|(known, _)| known == name);
    found.unwrap().1
}

/// The position of the `n`-th occurrence of a text that is all ASCII, `inside` bytes into it.
pub fn position(text: &str, of: &str, n: usize, inside: usize) -> Value {
    let at = text.match_indices(of).nth(n);
    let at = at.unwrap_or_else(|| panic!("no {of} {n}")).0 + inside;
    place(text, at)
}

/// The position of a byte.
pub fn place(text: &str, at: usize) -> Value {
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    json!({ "line": line, "character": text[start..at].encode_utf16().count() })
}

/// The byte of a position.
pub fn byte(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap() as usize;
    let start = match line {
        0 => 0,
        _ => text.match_indices('\n').nth(line - 1).unwrap().0 + 1,
    };
    let mut left = position["character"].as_u64().unwrap() as usize;
    for (at, c) in text[start..].char_indices() {
        if left == 0 {
            return start + at;
        }
        left -= c.len_utf16();
    }
    assert_eq!(left, 0);
    text.len()
}

/// Parameters of a request about a place in the document.
pub fn at(position: &Value) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": position })
}

/// Parameters of a request about the whole document.
pub fn whole_document() -> Value {
    json!({ "textDocument": { "uri": URI } })
}

/// The text of a range.
pub fn text_of(text: &str, range: &Value) -> String {
    text[byte(text, &range["start"])..byte(text, &range["end"])].to_owned()
}

/// The text after some edits.
pub fn edited(text: &str, edits: &Value) -> String {
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().unwrap().to_owned();
            (byte(text, &range["start"]), byte(text, &range["end"]), new)
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    text
}
