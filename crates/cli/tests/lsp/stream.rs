//! The stream and the order of messages: what a client does wrong is answered, and nothing ends the server.

use std::time::Duration;

use serde_json::{Value, json};

use crate::lsp::client::{Client, URI, at, whole_document};

const NOBODY: Value = Value::Null;

fn code(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or(0)
}

#[test]
fn what_is_no_message_is_answered_and_skipped() {
    let mut client = Client::new();
    for (bytes, expected) in [
        ("Content-Length: 2\r\n\r\n{]", -32700),
        ("hello world\r\n\r\n", -32700),
        ("Content-Length: -1\r\n\r\n", -32700),
        ("Content-Length: many\r\n\r\n", -32700),
        ("Content-Length: 99999999999999999999\r\n\r\n{}", -32700),
        ("Content-Length: 9999999999\r\n\r\n{}", -32700),
        ("Content-Length: 1\r\n\r\n{}", -32700),
        ("Content-Length: 2\r\n\r\n{}", -32600),
        ("Content-Length: 2\r\n\r\n[]", -32600),
        ("Content-Length: 4\r\n\r\nnull", -32600),
        ("Content-Length: 11\r\n\r\n{\"method\":7}", -32700),
        ("Content-Length: 12\r\n\r\n{\"method\":7}", -32600),
    ] {
        client.send_bytes(bytes.as_bytes());
        // The rest of a body that is longer than said is garbage before the next header.
        let answer = client.answer(&NOBODY);
        assert_eq!(code(&answer), expected, "{bytes}: {answer}");
        client.ask("workspace/symbol", json!({ "query": "" }));
        client.heard.clear();
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    client.send_bytes(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    assert_eq!(code(&client.answer(&NOBODY)), -32700);
    client.send(&json!({ "id": [1], "method": "shutdown" }));
    assert_eq!(code(&client.answer(&NOBODY)), -32600);
    client.send(&json!({ "id": "text", "method": "no/such" }));
    assert_eq!(code(&client.answer(&json!("text"))), -32601);
    client.end();
}

#[test]
fn requests_have_their_time() {
    let mut client = Client::start();
    let (code, _) = client.refused(
        "textDocument/hover",
        at(&json!({ "line": 0, "character": 0 })),
    );
    assert_eq!(code, -32002);
    assert_eq!(client.refused("shutdown", NOBODY).0, -32002);
    client.open("dropped, for nothing is open before `initialize`");
    client.ask("initialize", json!({}));
    assert_eq!(client.refused("initialize", json!({})).0, -32600);
    assert_eq!(
        client.refused("textDocument/codeLens", whole_document()).0,
        -32602
    );
    client.ask("shutdown", NOBODY);
    for method in ["shutdown", "initialize", "textDocument/hover", "no/such"] {
        assert_eq!(client.refused(method, NOBODY).0, -32600, "{method}");
    }
    client.tell("exit", NOBODY);
    assert_eq!(client.status(), Some(0));
}

#[test]
fn the_end_of_the_stream_ends_the_server() {
    let mut client = Client::new();
    assert_eq!(client.status(), Some(1));
    let mut client = Client::start();
    client.tell("exit", NOBODY);
    assert_eq!(client.status(), Some(1));
}

#[test]
fn wrong_parameters_are_refused() {
    let mut client = Client::new();
    client.open("shared x: bool = true;\n");
    let document = json!({ "uri": URI });
    for params in [
        NOBODY,
        json!([]),
        json!({ "textDocument": 7 }),
        json!({ "textDocument": { "uri": "file:///other.tw" } }),
        json!({ "textDocument": document }),
        json!({ "textDocument": document, "position": {} }),
        json!({ "textDocument": document, "position": { "line": -1, "character": 0 } }),
        json!({ "textDocument": document, "position": { "line": 0.5, "character": 0 } }),
        json!({ "textDocument": document, "position": { "line": 0, "character": "x" } }),
    ] {
        for method in ["hover", "definition", "rename", "completion"] {
            let (code, _) = client.refused(&format!("textDocument/{method}"), params.clone());
            assert_eq!(code, -32602, "{method} {params}");
        }
    }
    // Beyond the end of the text is its end.
    let far = at(&json!({ "line": u64::MAX, "character": u64::MAX }));
    assert_eq!(client.ask("textDocument/hover", far), NOBODY);
    for change in [
        json!([{ "range": { "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": 0 } }, "text": "" }]),
        json!([{ "range": {}, "text": "left out" }]),
        json!([{ "text": 7 }]),
        json!("nothing"),
    ] {
        client.change(change);
    }
    assert_eq!(client.diagnostics(), json!([]));
    client.end();
}

#[test]
fn a_request_that_waits_can_be_cancelled() {
    let mut client = Client::new();
    let model = crate::lsp::speed::large_model(4000);
    client.open(&model);
    // While the text is read, the request and its cancellation both wait.
    let id = client.begin("textDocument/documentSymbol", whole_document());
    client.tell("$/cancelRequest", json!({ "id": id }));
    let answer = client.answer(&json!(id));
    assert!(code(&answer) == -32800 || answer.get("result").is_some());
    client.tell("$/cancelRequest", json!({ "id": 12345 }));
    client.tell("$/unknown", json!({}));
    client.end();
}

#[test]
fn texts_that_nobody_writes_are_served() {
    let mut client = Client::new();
    let nested = format!(
        "invariant a: {}true{};\n",
        "(".repeat(10_000),
        ")".repeat(10_000)
    );
    let blocks = format!(
        "process P {{ a: {}{}",
        "loop { ".repeat(10_000),
        "}".repeat(10_001)
    );
    let long = "shared x: bool = true; // the same again and again\n".repeat(200_000);
    let names = format!("invariant a: {};\n", "x && ".repeat(100_000));
    let one_line = "x".repeat(3_000_000);
    for text in [
        &nested,
        &blocks,
        &long,
        &names,
        &one_line,
        "\u{feff}shared x: bool = true;",
        "\0\0\r\r\n\u{85}\u{2028}",
    ] {
        client.open(text);
        client.diagnostics();
        // Opened twice, without a word in between.
        client.open(text);
        client.diagnostics();
        let somewhere = json!({ "line": 0, "character": 14 });
        for method in [
            "hover",
            "definition",
            "references",
            "documentHighlight",
            "completion",
            "signatureHelp",
            "prepareRename",
        ] {
            client.whole(&format!("textDocument/{method}"), at(&somewhere));
        }
        for method in [
            "documentSymbol",
            "foldingRange",
            "semanticTokens/full",
            "formatting",
            "codeLens",
        ] {
            client.whole(&format!("textDocument/{method}"), whole_document());
        }
        client.tell("textDocument/didClose", whole_document());
        let (code, _) = client.refused("textDocument/codeLens", whole_document());
        assert_eq!(code, -32602);
    }
    assert!(client.hear(Duration::from_millis(100)).is_none());
    client.end();
}

/// Definitions that each use the one before twice: who writes them out never ends.
#[test]
fn a_text_that_takes_for_ever_keeps_nobody_waiting() {
    let mut text = "shared x: bool = false;\ndef d0 = x;\n".to_owned();
    for level in 1..60 {
        text.push_str(&format!("def d{level} = d{0} || d{0};\n", level - 1));
    }
    text.push_str("process P { loop { a: x := d59; } }\ninvariant i: !x || d59;\n");
    let mut client = Client::new();
    client.open(&text);
    client.diagnostics();
    // The next version is served, and so is the end.
    client.replace("shared x: boll;\n");
    assert!(client.diagnostics()[0]["message"].is_string());
    client.end();
}
