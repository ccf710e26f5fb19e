//! Each request, on small texts and on the library.

use serde_json::{Value, json};

use crate::lsp::client::{
    Client, URI, at, byte, edited, model, models, place, position, text_of, whole_document,
};

const LOCK: &str = "\
// How many threads there are.
param N = 2 where N >= 2;
enum Phase { idle, busy }
type Slot = 1..N;

// Whether the lock is free.
// It is a truth value.
shared free: bool = true;
shared phase, other: Phase = idle;
shared slots: array[Slot] of bool = false;

def ready(p: Phase) = p == idle && free;
def is_free = free;

macro give(cell) { cell := true; }

process P[i: 1..N] {
    // What was seen.
    local seen: bool = false;
    loop {
        enter: atomic { await ready(phase); free := false; }
        look:  seen := is_free;
        leave: give(free);
        if seen { goto look; }
    }
}

fairness sched: unconditional;
// No two in there.
invariant mutex: forall i, j in P: i != j -> !(P[i] at leave && P[j] at leave);
invariant seen_off: forall k in P: !P[k].seen;
deadlock_free;
liveness again under sched: forall i in P: G F P[i] at enter;
//@ expect mutex: proved at N=2..4
";

/// What a hover says.
fn hover(client: &mut Client, text: &str, of: &str, n: usize, inside: usize) -> String {
    let params = at(&position(text, of, n, inside));
    let hover = client.ask("textDocument/hover", params);
    match &hover["contents"]["value"] {
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}

#[test]
fn hovers_say_what_a_name_is() {
    let mut client = Client::new();
    client.open(LOCK);
    for (of, n, inside, says) in [
        (
            "free",
            1,
            0,
            &[
                "shared free: bool = true",
                "shared variable",
                "Whether the lock is free.\nIt is a truth value.",
            ][..],
        ),
        ("phase)", 0, 0, &["shared phase: Phase = idle"]),
        (
            "N;",
            0,
            0,
            &["param N = 2 where N >= 2", "parameter", "How many threads"],
        ),
        (
            "ready(phase)",
            0,
            2,
            &[
                "def ready(p: Phase) = p == idle && free",
                "definition: a truth value",
            ],
        ),
        ("is_free;", 0, 0, &["def is_free = free"]),
        ("p ==", 0, 0, &["p: Phase", "parameter of a definition"]),
        ("give(free)", 0, 0, &["macro give(cell)", "macro"]),
        ("cell :=", 0, 0, &["parameter of a macro"]),
        (
            "seen :=",
            0,
            0,
            &[
                "local seen: bool = false",
                "local variable of `P`",
                "What was seen.",
            ],
        ),
        ("P[i: ", 0, 0, &["process P[i: 1..N]", "process template"]),
        (
            "i: 1..N",
            0,
            0,
            &["i: 1..N", "own id of the process of `P`"],
        ),
        ("j] at", 0, 0, &["j in P", "bound variable"]),
        ("Slot]", 0, 0, &["type Slot = 1..N"]),
        (
            "idle;",
            0,
            0,
            &[
                "enum Phase { idle, busy }",
                "member of an enumeration of `Phase`",
            ],
        ),
        (
            "leave:",
            0,
            1,
            &[
                "leave: give(free)",
                "label of `P`",
                "leads from `leave` to `enter`, `look`",
            ],
        ),
        (
            "enter;",
            0,
            1,
            &["A step of `P` leads from `enter` to `look`."],
        ),
        (
            "mutex",
            0,
            1,
            &[
                "invariant mutex: forall i, j in P",
                "property",
                "No two in there.",
            ],
        ),
        ("sched:", 1, 0, &["fairness sched: unconditional"]),
        ("mutex: proved", 0, 1, &["invariant mutex"]),
        ("N=2..4", 0, 0, &["param N = 2"]),
    ] {
        let hover = hover(&mut client, LOCK, of, n, inside);
        for part in says {
            assert!(hover.contains(part), "{of} {n}: {hover}");
        }
    }
    assert_eq!(hover(&mut client, LOCK, "await", 0, 1), "");
    assert_eq!(hover(&mut client, LOCK, "// How", 0, 4), "");
    let built_in = "shared x: bool = true;\nprocess P { a: cas(x, true, false); }\n";
    client.replace(built_in);
    assert!(hover(&mut client, built_in, "cas", 0, 1).contains("Compare and swap"));
    client.end();
}

/// The texts of the places of an answer.
fn texts(text: &str, places: &Value) -> Vec<(u64, String)> {
    let places = places.as_array().unwrap().iter();
    places
        .map(|place| {
            let line = place["range"]["start"]["line"].as_u64().unwrap();
            (line, text_of(text, &place["range"]))
        })
        .collect()
}

#[test]
fn names_lead_to_their_declaration_and_their_uses() {
    let mut client = Client::new();
    client.open(LOCK);
    let free = at(&position(LOCK, "free := false", 0, 4));
    let found = client.ask("textDocument/definition", free.clone());
    assert_eq!(texts(LOCK, &found), [(7, "free".to_owned())]);
    assert_eq!(found[0]["uri"], URI);
    let mut references = free.clone();
    references["context"] = json!({ "includeDeclaration": true });
    let found = client.ask("textDocument/references", references.clone());
    let lines: Vec<u64> = texts(LOCK, &found).iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [7, 11, 12, 20, 22]);
    references["context"]["includeDeclaration"] = json!(false);
    let found = client.ask("textDocument/references", references);
    assert_eq!(found.as_array().unwrap().len(), 4);
    let found = client.ask("textDocument/documentHighlight", free);
    assert_eq!(found.as_array().unwrap().len(), 5);
    assert_eq!(found[0]["kind"], 3);
    let nothing = at(&position(LOCK, "await", 0, 0));
    for method in ["definition", "references", "documentHighlight"] {
        let found = client.ask(&format!("textDocument/{method}"), nothing.clone());
        assert_eq!(found, json!([]));
    }
    client.end();
}

#[test]
fn messages_come_as_one_types() {
    let mut client = Client::new();
    client.open(LOCK);
    let warnings = client.diagnostics();
    let codes: Vec<&str> = warnings
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["W0002", "W0002"]);
    assert_eq!(warnings[0]["severity"], 2);
    assert_eq!(warnings[0]["tags"], json!([1]));
    // `free` becomes `fre` in one place.
    let end = position(LOCK, "free := false", 0, 4);
    let start = position(LOCK, "free := false", 0, 3);
    client.change(json!([{ "range": { "start": start, "end": end }, "text": "" }]));
    let errors = client.diagnostics();
    assert_eq!(errors.as_array().unwrap().len(), 1, "{errors}");
    assert_eq!(errors[0]["code"], "E0101");
    assert_eq!(errors[0]["severity"], 1);
    let message = errors[0]["message"].as_str().unwrap();
    assert!(message.contains("help: did you mean `free`?"), "{message}");
    // And the change that mends it is offered.
    let broken = LOCK.replacen("free := false", "fre := false", 1);
    let params = json!({
        "textDocument": { "uri": URI }, "range": errors[0]["range"], "context": { "diagnostics": [] },
    });
    let actions = client.ask("textDocument/codeAction", params.clone());
    assert_eq!(actions[0]["title"], "Change `fre` to `free`");
    let edits = &actions[0]["edit"]["changes"][URI];
    assert_eq!(edited(&broken, edits), LOCK);
    client.change(
        edits
            .as_array()
            .unwrap()
            .iter()
            .map(|edit| json!({ "range": edit["range"], "text": edit["newText"] }))
            .collect(),
    );
    assert_eq!(client.diagnostics(), warnings);
    assert_eq!(client.ask("textDocument/codeAction", params), json!([]));
    // Two declarations: the second message knows the place of the first.
    client.replace("shared x: bool = true;\nshared x: bool = true;\n");
    let twice = client.diagnostics();
    assert_eq!(twice[0]["relatedInformation"][0]["location"]["uri"], URI);
    client.tell("textDocument/didClose", whole_document());
    let (code, message) = client.refused(
        "textDocument/hover",
        at(&json!({ "line": 0, "character": 0 })),
    );
    assert_eq!(
        (code, message.as_str()),
        (-32602, "`file:///model.tw` is not open")
    );
    let cleared = client
        .heard
        .iter()
        .rev()
        .find(|m| m["method"] == "textDocument/publishDiagnostics");
    assert_eq!(cleared.unwrap()["params"]["diagnostics"], json!([]));
    client.end();
}

#[test]
fn other_mistakes_can_be_mended_too() {
    let mut client = Client::new();
    for (broken, mended) in [
        ("shared x: bool = true\n", "shared x: bool = true;\n"),
        ("process P { a: x = 1; }\n", "process P { a: x := 1; }\n"),
        ("shared x: bool := true;\n", "shared x: bool = true;\n"),
        ("invarant a: true;\n", "invariant a: true;\n"),
        ("invariant a: 1 = 2;\n", "invariant a: 1 == 2;\n"),
        (
            "process P { a: goto b; bb: skip; }\n",
            "process P { a: goto bb; bb: skip; }\n",
        ),
    ] {
        client.open(broken);
        let all =
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
        let params = json!({ "textDocument": { "uri": URI }, "range": all, "context": { "diagnostics": [] } });
        let actions = client.ask("textDocument/codeAction", params);
        let edits = &actions[0]["edit"]["changes"][URI];
        assert_eq!(edited(broken, edits), mended, "{actions}");
    }
    client.end();
}

/// The labels of what is proposed at the end of the first occurrence of a text.
fn proposed(client: &mut Client, text: &str, after: &str) -> Vec<String> {
    client.open(text);
    let params = at(&position(text, after, 0, after.len()));
    let items = client.ask("textDocument/completion", params);
    let items = items["items"].as_array().unwrap().iter();
    items
        .map(|item| item["label"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn completion_knows_what_belongs_where() {
    let mut client = Client::new();
    let with = |line: &str| LOCK.replacen("deadlock_free;", line, 1);
    let inside = |line: &str| LOCK.replacen("leave: give(free);", line, 1);
    for (text, after, expected, not) in [
        (
            with("inv"),
            "\ninv",
            &["invariant", "process", "deadlock_free"][..],
            &["await", "free"][..],
        ),
        (
            inside("x: go"),
            "x: go",
            &["goto", "await", "free", "seen", "give", "cas", "i"],
            &["invariant", "P2", "enter"],
        ),
        (
            inside("x: goto "),
            "x: goto ",
            &["enter", "look"],
            &["done", "free"],
        ),
        (
            inside("x: await "),
            "x: await ",
            &["free", "seen", "i", "N", "busy", "ready", "true", "forall"],
            &["give", "goto", "enter"],
        ),
        (
            inside("x: await rea"),
            "x: await rea",
            &["ready"],
            &["invariant"],
        ),
        (
            with("invariant a: forall q in P: P[q]."),
            "P[q].",
            &["seen"],
            &["free", "enter"],
        ),
        (
            with("invariant a: forall q in P: P[q].s;"),
            "P[q].s",
            &["seen"],
            &["free"],
        ),
        (
            with("invariant a: forall q in P: P[q] at "),
            "P[q] at ",
            &["enter", "look", "leave", "done"],
            &["free"],
        ),
        (
            with("invariant a: forall q in P: P[q] at {enter, "),
            "{enter, ",
            &["look", "done"],
            &["free"],
        ),
        (
            with("invariant a: forall q in P: "),
            "q in P: ",
            &["q", "free", "P"],
            &["seen", "j"],
        ),
        (
            with("invariant a: forall q in "),
            "q in ",
            &["P", "Phase", "Slot"],
            &["free"],
        ),
        (
            with("shared z: "),
            "z: ",
            &["bool", "array", "Phase", "P", "Slot"],
            &["free"],
        ),
        (
            with("shared z: array[P] of "),
            "of ",
            &["bool", "mutex", "Phase"],
            &["free"],
        ),
        (with("liveness l under "), "l under ", &["sched"], &["free"]),
        (
            with("fairness f: "),
            "fairness f: ",
            &["weak", "strong", "unconditional"],
            &["free"],
        ),
        (
            with("fairness f: weak forall q in P: enabled(P[q], "),
            "enabled(P[q], ",
            &["enter"],
            &["free"],
        ),
        (inside("x: start "), "start ", &["P"], &["free"]),
        (
            with("def d = fr"),
            "def d = fr",
            &["free", "N"],
            &["seen", "give"],
        ),
        (with("// he"), "// he", &[], &["free", "invariant"]),
        (
            with("process Q { x: await "),
            "x: await ",
            &["free"],
            &["seen", "i"],
        ),
        (String::new(), "", &["process"], &["await"]),
    ] {
        let labels = proposed(&mut client, &text, after);
        for name in expected {
            assert!(
                labels.iter().any(|label| label == name),
                "{after}: {name} not in {labels:?}"
            );
        }
        for name in not {
            assert!(
                !labels.iter().any(|label| label == name),
                "{after}: {name} in {labels:?}"
            );
        }
    }
    client.end();
}

#[test]
fn the_arguments_of_a_call_are_shown() {
    let mut client = Client::new();
    for (line, after, label, active) in [
        ("x: await ready(", "await ready(", "ready(p: Phase)", 0),
        ("x: give(", "x: give(", "give(cell)", 0),
        ("x: cas(free, (true), ", "(true), ", "cas(x, old, new)", 2),
    ] {
        let text = LOCK.replacen("leave: give(free);", line, 1);
        client.open(&text);
        let help = client.ask(
            "textDocument/signatureHelp",
            at(&position(&text, after, 0, after.len())),
        );
        assert_eq!(help["signatures"][0]["label"], label);
        assert_eq!(help["activeParameter"], active, "{line}");
    }
    client.open(LOCK);
    let nowhere = at(&position(LOCK, "loop", 0, 0));
    assert_eq!(
        client.ask("textDocument/signatureHelp", nowhere),
        Value::Null
    );
    client.end();
}

#[test]
fn symbols_are_listed() {
    let mut client = Client::new();
    client.open(LOCK);
    let tree = client.ask("textDocument/documentSymbol", whole_document());
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|entry| entry["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&tree),
        [
            "N", "Phase", "Slot", "free", "phase", "other", "slots", "ready", "is_free", "give",
            "P", "sched", "mutex", "seen_off", "again"
        ]
    );
    assert_eq!(names(&tree[1]["children"]), ["idle", "busy"]);
    assert_eq!(
        names(&tree[10]["children"]),
        ["seen", "enter", "look", "leave"]
    );
    let within = |inner: &Value, outer: &Value| {
        let at = |position: &Value| byte(LOCK, position);
        at(&outer["start"]) <= at(&inner["start"]) && at(&inner["end"]) <= at(&outer["end"])
    };
    for entry in tree.as_array().unwrap() {
        assert!(within(&entry["selectionRange"], &entry["range"]), "{entry}");
        for child in entry["children"].as_array().unwrap() {
            assert!(within(&child["range"], &entry["range"]), "{child}");
        }
    }
    let found = client.ask("workspace/symbol", json!({ "query": "FREE" }));
    assert_eq!(names(&found), ["free", "is_free"]);
    client.end();
    // A client that knows no trees gets a list.
    let mut client = Client::with(json!({}));
    client.open(LOCK);
    let list = client.ask("textDocument/documentSymbol", whole_document());
    assert!(names(&list).contains(&"enter".to_owned()));
    assert_eq!(list[0]["location"]["uri"], URI);
    client.end();
}

#[test]
fn blocks_and_comments_fold() {
    let mut client = Client::new();
    client.open(LOCK);
    let folds = client.ask("textDocument/foldingRange", whole_document());
    let folds: Vec<(u64, u64)> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| {
            (
                fold["startLine"].as_u64().unwrap(),
                fold["endLine"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(folds, [(5, 6), (16, 24), (19, 23)]);
    client.end();
}

#[test]
fn names_have_colours() {
    let mut client = Client::new();
    client.open(LOCK);
    let tokens = client.ask("textDocument/semanticTokens/full", whole_document());
    let data: Vec<u64> = tokens["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    assert_eq!(data.len() % 5, 0);
    let (mut line, mut column) = (0, 0);
    let mut seen = Vec::new();
    for token in data.chunks(5) {
        column = if token[0] == 0 {
            column + token[1]
        } else {
            token[1]
        };
        line += token[0];
        let start = byte(LOCK, &json!({ "line": line, "character": column }));
        let word = &LOCK[start..start + token[2] as usize];
        assert!(
            word.chars().all(|c| c.is_alphanumeric() || c == '_'),
            "{word}"
        );
        seen.push((word.to_owned(), token[3], token[4]));
    }
    // `param N`: a parameter, declared, that is not written.
    assert_eq!(seen[0], ("N".to_owned(), 0, 3));
    assert!(seen.contains(&("leave".to_owned(), 9, 1)));
    assert!(seen.contains(&("free".to_owned(), 4, 0)));
    client.end();
}

#[test]
fn the_layout_is_that_of_the_command() {
    let mut client = Client::new();
    for (file, text) in models() {
        // Spaces that do not belong there, and Windows line ends.
        for broken in [
            text.clone(),
            text.replace(" := ", ":=").replace("    ", " "),
            text.replace('\n', "\r\n"),
            text.replace("//", "// \u{e9}\u{1f600} "),
        ] {
            client.open(&broken);
            let edits = client.ask("textDocument/formatting", whole_document());
            let expected = threadwise_lang::format(&broken).unwrap();
            assert_eq!(edited(&broken, &edits), expected, "{}", file);
        }
    }
    client.open("process {");
    assert_eq!(
        client.ask("textDocument/formatting", whole_document()),
        Value::Null
    );
    client.end();
}

#[test]
fn positions_are_in_the_units_that_were_agreed() {
    let text =
        "/* \u{1f600}\u{e9} */ shared free: bool = true;\r\ninvariant a: /* \u{e9} */ free;\r\n";
    for (encodings, unit) in [
        (json!(["utf-16"]), "utf-16"),
        (json!(["utf-16", "utf-8"]), "utf-8"),
        (Value::Null, "utf-16"),
    ] {
        let mut client = Client::start();
        let capabilities = json!({ "general": { "positionEncodings": encodings } });
        let answer = client.ask("initialize", json!({ "capabilities": capabilities }));
        assert_eq!(answer["capabilities"]["positionEncoding"], unit);
        client.open(text);
        let line = text.lines().nth(1).unwrap();
        let column = |line: &str, of: &str| {
            let before = &line[..line.find(of).unwrap()];
            match unit {
                "utf-8" => before.len(),
                _ => before.encode_utf16().count(),
            }
        };
        let use_at = json!({ "line": 1, "character": column(line, "free") });
        let found = client.ask("textDocument/definition", at(&use_at));
        let first = column(text, "free");
        assert_eq!(
            found[0]["range"],
            json!({ "start": { "line": 0, "character": first }, "end": { "line": 0, "character": first + 4 } })
        );
        // A change in the middle of such a line.
        let end = json!({ "line": 1, "character": column(line, "free") + 4 });
        client.change(json!([{ "range": { "start": use_at, "end": end }, "text": "\u{1f600}" }]));
        let errors = client.diagnostics();
        assert_eq!(errors[0]["code"], "E0001", "{errors}");
        client.end();
    }
}

#[test]
fn a_text_that_is_typed_key_by_key_is_served() {
    let mut client = Client::new();
    let text = model("mux_sem");
    client.open("");
    let mut typed = String::new();
    for (number, c) in text.chars().enumerate() {
        let end = place(&typed, typed.len());
        client.change(json!([{ "range": { "start": end, "end": end }, "text": c.to_string() }]));
        typed.push(c);
        if number % 17 == 0 {
            client.ask("textDocument/completion", at(&place(&typed, typed.len())));
            client.ask("textDocument/documentSymbol", whole_document());
        }
    }
    assert_eq!(client.diagnostics(), json!([]));
    let edits = client.ask("textDocument/formatting", whole_document());
    assert_eq!(
        edited(&text, &edits),
        threadwise_lang::format(&text).unwrap()
    );
    client.end();
}
