//! Random sessions: edits at random places, requests about random places, broken messages in between. The server answers every request,
//! never with an internal error, and its text stays that of the client.
//!
//! The seed is fixed; `THREADWISE_FUZZ_SECONDS` lets it go on with other seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use threadwise_testgen::random::Random;

use crate::lsp::client::{Client, URI, edited, models, place, whole_document};
use crate::lsp::speed::requests;

/// What is typed.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n",
    "\r",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ".",
    ":=",
    " at ",
    "goto ",
    "forall i in P: ",
    "P[i].",
    "x",
    "shared ",
    "process P {",
    "\u{e9}",
    "\u{1f600}",
    "//",
    "/*",
    "*/",
    "\u{0}",
    "0",
    "\"",
    "&&",
    "macro m(a) { a := 1; }",
    "enum E { a, b }",
    "//@ expect p: proved at N=2",
];

/// A place in a text, or some way beside it.
fn somewhere(random: &mut Random, text: &str) -> Value {
    if random.below(8) == 0 {
        return json!({ "line": random.below(400), "character": random.below(200) });
    }
    place(text, boundary(random, text))
}

fn boundary(random: &mut Random, text: &str) -> usize {
    let mut at = random.below(text.len() + 1);
    // Not inside a character, and not inside a line break, where there is no position.
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
        at -= 1;
    }
    at
}

/// A message that no client should send.
fn garbage(random: &mut Random) -> Vec<u8> {
    let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
    match random.below(10) {
        0 => frame("{"),
        1 => frame("[]"),
        2 => frame("{\"jsonrpc\":\"2.0\"}"),
        3 => b"Content-Length: 999999999999\r\n\r\n".to_vec(),
        4 => b"Content-Length: x\r\n\r\n".to_vec(),
        5 => b"\xff\xfe\x00garbage\r\n".to_vec(),
        6 => frame("{\"id\":{},\"method\":\"shutdown\"}"),
        7 => frame(
            "{\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":{\"uri\":\"file:///model.tw\"}}}",
        ),
        8 => frame("{\"method\":\"textDocument/didOpen\",\"params\":[1,2]}"),
        _ => frame("{\"id\":\"nothing\",\"result\":null}"),
    }
}

struct Session {
    client: Client,
    text: String,
    kinds: BTreeMap<String, usize>,
}

impl Session {
    fn count(&mut self, kind: &str) {
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
    }

    fn edit(&mut self, random: &mut Random) {
        let mut changes = Vec::new();
        for _ in 0..=random.below(3) {
            let (a, b) = (boundary(random, &self.text), boundary(random, &self.text));
            let (start, mut end) = (a.min(b), a.max(b));
            // Most edits are small.
            if random.below(6) > 0 {
                end = start + (end - start).min(random.below(6));
                while !self.text.is_char_boundary(end) || self.text[..end].ends_with('\r') {
                    end -= 1;
                }
                end = end.max(start);
            }
            let piece = PIECES[random.below(PIECES.len())];
            let range = json!({ "start": place(&self.text, start), "end": place(&self.text, end) });
            // The client of these tests counts lines by `\n`: a lone `\r` would shift it.
            if piece == "\r" || breaks_pair(&self.text, start, end, piece) {
                continue;
            }
            changes.push(json!({ "range": range, "text": piece }));
            self.text.replace_range(start..end, piece);
        }
        self.client.change(Value::Array(changes));
        self.count("didChange");
    }

    fn ask(&mut self, random: &mut Random) {
        let place = somewhere(random, &self.text);
        let all = requests(&place);
        let (method, params) = all[random.below(all.len())].clone();
        let params = match random.below(20) {
            0 => Value::Null,
            1 => json!({ "textDocument": { "uri": "file:///closed.tw" }, "position": place }),
            _ => params,
        };
        let answer = self.client.whole(method, params);
        let code = answer["error"]["code"].as_i64();
        assert!(
            matches!(code, None | Some(-32602 | -32803)),
            "{method}: {answer}\n{}",
            self.text
        );
        self.count(method);
    }
}

/// Whether an edit would leave a `\r` without its `\n`.
fn breaks_pair(text: &str, start: usize, end: usize, piece: &str) -> bool {
    let left = text[..start].ends_with('\r');
    let right = text[end..].starts_with('\n');
    let removed = &text[start..end];
    left || (right && removed.ends_with('\r')) || piece.ends_with('\r')
}

fn session(seed: u64, kinds: &mut BTreeMap<String, usize>) {
    let mut random = Random::new(seed);
    let all = models();
    let (_, text) = &all[random.below(all.len())];
    let text = match random.below(3) {
        0 => text.replace('\n', "\r\n"),
        _ => text.clone(),
    };
    let mut session = Session {
        client: Client::new(),
        text: text.clone(),
        kinds: std::mem::take(kinds),
    };
    session.client.open(&text);
    for _ in 0..150 {
        match random.below(12) {
            0..4 => session.edit(&mut random),
            4 => {
                let bytes = garbage(&mut random);
                session.client.send_bytes(&bytes);
                session.count("garbage");
            }
            5 if random.below(4) == 0 => {
                session
                    .client
                    .tell("textDocument/didClose", whole_document());
                session.client.open(&session.text.clone());
                session.count("reopened");
            }
            6 if random.below(4) == 0 => {
                let (code, _) = session.client.refused("no/such", json!({}));
                assert_eq!(code, -32601);
                session.count("no/such");
            }
            _ => session.ask(&mut random),
        }
    }
    // The server's text is the client's: what it would make of it is what is made of it here.
    let edits = session
        .client
        .ask("textDocument/formatting", whole_document());
    match threadwise_lang::format(&session.text) {
        Ok(expected) => assert_eq!(edited(&session.text, &edits), expected, "seed {seed}"),
        Err(_) => assert_eq!(edits, Value::Null, "seed {seed}"),
    }
    let published = session.client.diagnostics();
    let expected = threadwise_lang::check(&session.text).diagnostics;
    let codes: Vec<&str> = expected.iter().map(|d| d.code.as_str()).collect();
    let found: Vec<&str> = (published.as_array().unwrap().iter())
        .map(|d| d["code"].as_str().unwrap())
        .collect();
    assert_eq!(found, codes, "seed {seed}");
    *kinds = session.kinds;
    session.client.end();
}

#[test]
fn random_sessions_are_served() {
    let mut kinds = BTreeMap::new();
    for seed in 0..12 {
        session(seed, &mut kinds);
    }
    let expected: BTreeSet<String> = requests(&json!({}))
        .iter()
        .map(|(method, _)| (*method).to_owned())
        .chain(["didChange", "garbage", "reopened", "no/such"].map(str::to_owned))
        .collect();
    let found: BTreeSet<String> = kinds.keys().cloned().collect();
    assert_eq!(found, expected);
    assert!(kinds.values().all(|count| *count >= 3), "{kinds:?}");
    let seconds = std::env::var("THREADWISE_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(0);
    let begun = Instant::now();
    let mut seed = 1000;
    while begun.elapsed() < Duration::from_secs(seconds) {
        session(seed, &mut kinds);
        seed += 1;
    }
}

/// Requests in any order, also before and after their time; a server that is told to leave leaves.
#[test]
fn any_order_of_messages_is_survived() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut client = Client::start();
        let methods = [
            "initialize",
            "shutdown",
            "textDocument/hover",
            "textDocument/completion",
            "workspace/symbol",
            "workspace/executeCommand",
            "no/such",
        ];
        for _ in 0..40 {
            match random.below(6) {
                0 => client.open("shared x: bool = true;\n"),
                1 => client.replace("process P { a: skip; }\n"),
                2 => client.tell("initialized", Value::Null),
                3 => {
                    let bytes = garbage(&mut random);
                    client.send_bytes(&bytes);
                }
                _ => {
                    let method = methods[random.below(methods.len())];
                    let params = json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 8 } });
                    let answer = client.whole(method, params);
                    let code = answer["error"]["code"].as_i64().unwrap_or(0);
                    assert_ne!(code, -32603, "{method}: {answer}");
                }
            }
        }
        client.tell("exit", Value::Null);
        assert!(matches!(client.status(), Some(0 | 1)));
    }
}
