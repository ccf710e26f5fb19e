//! Checks from the editor: lenses, verdicts, violations as messages, and all the ways in which a check ends early.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lsp::client::{Client, PATIENCE, URI, at, model, position, text_of, whole_document};

const CHECK: &str = "workspace/executeCommand";

fn check(property: &str) -> Value {
    json!({ "command": "threadwise.check", "arguments": [URI, property] })
}

/// The titles of the lenses, each with the name it stands above.
fn lenses(client: &mut Client, text: &str) -> Vec<(String, String)> {
    let lenses = client.ask("textDocument/codeLens", whole_document());
    let lenses = lenses.as_array().unwrap().iter();
    lenses
        .map(|lens| {
            let title = lens["command"]["title"].as_str().unwrap().to_owned();
            (text_of(text, &lens["range"]), title)
        })
        .collect()
}

fn lens(client: &mut Client, text: &str, property: &str) -> String {
    let all = lenses(client, text);
    let found = all.into_iter().find(|(name, _)| name == property);
    found.unwrap().1
}

#[test]
fn a_verdict_stands_above_its_property() {
    let text = model("mux_sem");
    let mut client = Client::new();
    client.open(&text);
    assert_eq!(lens(&mut client, &text, "mutex"), "check");
    let answer = client.ask(CHECK, check("mutex"));
    let own = answer.as_array().unwrap().iter();
    let own = own
        .clone()
        .find(|result| result["property"] == "mutex")
        .unwrap();
    assert_eq!(own["verdict"], "proved");
    assert_eq!(
        lens(&mut client, &text, "mutex"),
        "proved for all N where N >= 2, by counter"
    );
    // The client is told to ask for lenses anew, and sees the check begin and end.
    let heard = |client: &Client, method: &str| {
        client
            .heard
            .iter()
            .filter(|m| m["method"] == method)
            .count()
    };
    assert!(heard(&client, "workspace/codeLens/refresh") >= 2);
    assert_eq!(heard(&client, "window/workDoneProgress/create"), 1);
    // A change makes it old; taking the change back makes it current again.
    client.replace(&format!("{text}\n"));
    assert_eq!(
        lens(&mut client, &text, "mutex"),
        "proved, before the last change; check again"
    );
    client.replace(&text);
    assert_eq!(
        lens(&mut client, &text, "mutex"),
        "proved for all N where N >= 2, by counter"
    );
    client.end();
}

#[test]
fn progress_is_reported_where_the_client_says() {
    let mut client = Client::with(json!({}));
    client.open(&model("mux_sem"));
    let mut params = check("mutex");
    params["workDoneToken"] = json!("here");
    client.ask(CHECK, params);
    let progress: Vec<&Value> = (client.heard.iter())
        .filter(|message| message["method"] == "$/progress")
        .map(|message| &message["params"])
        .collect();
    assert_eq!(progress.len(), 2, "{progress:?}");
    assert_eq!(progress[0]["token"], "here");
    assert_eq!(progress[0]["value"]["kind"], "begin");
    assert_eq!(progress[0]["value"]["title"], "checking mutex");
    assert_eq!(progress[1]["value"]["kind"], "end");
    assert!(
        client
            .heard
            .iter()
            .all(|message| message.get("id").is_none())
    );
    client.end();
}

#[test]
fn a_violation_is_a_message_with_its_steps() {
    let text = model("wrong_peterson2");
    let mut client = Client::new();
    client.open(&text);
    client.diagnostics();
    client.ask(CHECK, check("mutex"));
    let messages = client.diagnostics();
    assert_eq!(messages.as_array().unwrap().len(), 1, "{messages}");
    let message = &messages[0];
    assert_eq!(message["code"], "violated");
    assert_eq!(text_of(&text, &message["range"]), "mutex");
    assert_eq!(
        message["message"],
        "`mutex` is violated at N=2, after 8 steps"
    );
    let steps = message["relatedInformation"].as_array().unwrap();
    assert_eq!(steps.len(), 8);
    assert_eq!(steps[0]["message"], "1. P[1]: idle to give");
    let range = &steps[3]["location"]["range"];
    assert!(text_of(&text, range).starts_with("give:"), "{range}");
    assert_eq!(
        steps[4]["message"],
        "5. P[2]: want to wait; wants[2] = true"
    );
    // It goes when the text changes.
    client.replace(&format!("{text}\n"));
    assert_eq!(client.diagnostics(), json!([]));
    client.end();
}

#[test]
fn a_failing_check_is_shown_where_it_fails() {
    let text = "shared x: 0..2 = 0;\nprocess P {\n    a: x := 2;\n    b: x := x + 1;\n}\ninvariant any: x >= 0 || x == 1;\n";
    let mut client = Client::new();
    client.open(text);
    client.ask(
        CHECK,
        json!({ "command": "threadwise.check", "arguments": [URI] }),
    );
    let messages = client.diagnostics();
    let all = messages.as_array().unwrap();
    let message = all
        .iter()
        .find(|message| message["code"] == "violated")
        .unwrap();
    assert_eq!(text_of(text, &message["range"]), "b: x := x + 1;");
    client.end();
}

#[test]
fn the_invariant_of_a_label_is_in_its_hover() {
    let text = model("mux_sem_last");
    let mut client = Client::new();
    client.open(&text);
    let place = at(&position(&text, "critical:", 0, 1));
    let before = client.ask("textDocument/hover", place.clone());
    assert!(!before.to_string().contains("By the proof"));
    client.ask(CHECK, check("mutex"));
    let hover = client.ask("textDocument/hover", place.clone());
    let words = hover["contents"]["value"].as_str().unwrap();
    assert!(
        words.contains("By the proof of `mutex`, here holds:\n- `"),
        "{words}"
    );
    client.replace(&format!("{text}\n"));
    let hover = client.ask("textDocument/hover", place);
    assert!(
        hover.to_string().contains("before the last change"),
        "{hover}"
    );
    client.end();
}

/// A model whose check takes far longer than a test.
const ENDLESS: &str = "\
param N = 7 where N == 7;
shared x: array[P] of 0..996 = 1;
shared t: 0..996 = 0;
ordered process P[i: 1..N] {
    local y: 0..996 = 2;
    loop {
        a: y := (y * t + i) % 997;
        b: atomic { x[i] := (x[i] * y + t) % 997; }
        c: atomic { t := (t * t + y) % 997; }
    }
}
invariant low: (sum i in P: x[i] * x[i]) % 997 != 5 || t * t % 997 != 3 || (exists i in P: P[i].y < 990);
liveness far: F (t == 500);
";

#[test]
fn a_check_never_blocks_and_ends_when_told() {
    let mut client = Client::new();
    client.open(ENDLESS);
    // By a cancelled request.
    let id = client.begin(CHECK, check("low"));
    let begun = Instant::now();
    while lens(&mut client, ENDLESS, "low") != "checking .. (stop)" {
        assert!(begun.elapsed() < PATIENCE, "it is not being checked");
    }
    let hover = client.ask("textDocument/hover", at(&position(ENDLESS, "x:", 0, 0)));
    assert!(hover.to_string().contains("shared x"));
    let child = only_child(client.child.id());
    client.tell("$/cancelRequest", json!({ "id": id }));
    let answer = client.answer(&json!(id));
    assert_eq!(answer["error"]["code"], -32800);
    assert_eq!(lens(&mut client, ENDLESS, "low"), "check");
    gone(child);
    // By a change of the text; what waits in line goes with it.
    let first = client.begin(CHECK, check("low"));
    let second = client.begin(CHECK, check("far"));
    client.replace(&format!("{ENDLESS}\n"));
    for id in [first, second] {
        assert_eq!(client.answer(&json!(id))["error"]["code"], -32801);
    }
    // By the command of the lens.
    let id = client.begin(CHECK, check("low"));
    client.ask(
        CHECK,
        json!({ "command": "threadwise.cancel", "arguments": [URI] }),
    );
    assert_eq!(client.answer(&json!(id))["error"]["code"], -32800);
    // By the end of the document, and of the server.
    let id = client.begin(CHECK, check("low"));
    client.tell("textDocument/didClose", whole_document());
    assert_eq!(client.answer(&json!(id))["error"]["code"], -32801);
    client.open(ENDLESS);
    let id = client.begin(CHECK, check("low"));
    client.ask("workspace/symbol", json!({ "query": "" }));
    let child = only_child(client.child.id());
    client.ask("shutdown", Value::Null);
    let answer = client.answer(&json!(id));
    assert_eq!(answer["error"]["code"], -32800);
    client.tell("exit", Value::Null);
    assert_eq!(client.status(), Some(0));
    gone(child);
}

/// The process that a server has started, where the system says.
fn only_child(server: u32) -> Option<u32> {
    let begun = Instant::now();
    while cfg!(target_os = "linux") && begun.elapsed() < PATIENCE {
        for task in std::fs::read_dir(format!("/proc/{server}/task")).unwrap() {
            let children = task.unwrap().path().join("children");
            let children = std::fs::read_to_string(children).unwrap_or_default();
            if let Some(child) = children.split_whitespace().next() {
                return child.parse().ok();
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Waits until a process is no more.
#[track_caller]
fn gone(process: Option<u32>) {
    assert_eq!(process.is_some(), cfg!(target_os = "linux"));
    let begun = Instant::now();
    while let Some(process) = process
        && std::path::Path::new(&format!("/proc/{process}")).exists()
    {
        assert!(begun.elapsed() < PATIENCE, "{process} lives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let mut client = Client::new();
    client.open(ENDLESS);
    for (params, code) in [
        (json!({ "command": "threadwise.check" }), -32602),
        (
            json!({ "command": "threadwise.check", "arguments": ["file:///other.tw", "low"] }),
            -32602,
        ),
        (check("other"), -32602),
        (json!({ "command": "other", "arguments": [URI] }), -32602),
        (Value::Null, -32602),
    ] {
        assert_eq!(client.refused(CHECK, params).0, code);
    }
    client.replace("process P { a: b; }\ninvariant low: true;\n");
    let (code, message) = client.refused(CHECK, check("low"));
    assert_eq!(code, -32803);
    assert!(message.contains("errors"), "{message}");
    client.end();
}

#[test]
fn a_check_that_takes_too_long_is_unknown() {
    let mut client = Client::start();
    let options = json!({ "check": { "timeout": 0.3 } });
    client.ask(
        "initialize",
        json!({ "capabilities": {}, "initializationOptions": options }),
    );
    client.open(ENDLESS);
    let answer = client.ask(CHECK, check("low"));
    let results = answer.as_array().unwrap();
    assert!(
        results.iter().any(|result| result["verdict"] == "unknown"),
        "{answer}"
    );
    assert!(lens(&mut client, ENDLESS, "low").starts_with("unknown: "));
    client.end();
}
