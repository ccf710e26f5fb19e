//! New names: every name of every model can be changed, and the program stays what it was.

use serde_json::{Value, json};
use threadwise_lang::check;
use threadwise_lang::diagnostics::Diagnostic;

use crate::lsp::client::{Client, URI, at, byte, edited, models, place, position, text_of};

fn codes(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().map(|d| d.code.as_str()).collect()
}

/// A program without its names and places: what is left must not change.
fn shape(text: &str) -> String {
    let program = check(text).program.expect("a program");
    let shown = format!("{program:?}");
    let mut parts = shown.split("Span {");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out.push_str(part.split_once('}').unwrap().1);
    }
    // Whatever refers to something does so by number.
    out.split('"').step_by(2).collect()
}

#[test]
fn every_name_of_every_model_can_be_changed() {
    const NEW: &str = "a_fresh_name_1";
    let mut client = Client::new();
    let mut count = 0;
    for (file, text) in models() {
        let checked = check(&text);
        client.open(&text);
        let before = shape(&text);
        for (id, symbol) in checked.names.symbols() {
            let mut params = at(&place(&text, symbol.span.start as usize));
            let prepared = client.ask("textDocument/prepareRename", params.clone());
            assert_eq!(prepared["placeholder"], symbol.name);
            assert_eq!(text_of(&text, &prepared["range"]), symbol.name);
            params["newName"] = json!(NEW);
            let answer = client.ask("textDocument/rename", params);
            let edits = &answer["changes"][URI];
            let renamed = edited(&text, edits);
            let place = format!("{}: {}\n{renamed}", file, symbol.name);
            assert_eq!(
                edits.as_array().unwrap().len(),
                checked.names.places_of(id).count(),
                "{place}"
            );
            let again = check(&renamed);
            assert!(again.program.is_some(), "{place}");
            assert_eq!(
                codes(&again.diagnostics),
                codes(&checked.diagnostics),
                "{place}"
            );
            assert_eq!(shape(&renamed), before, "{place}");
            assert!(threadwise_lang::format(&renamed).is_ok());
            let names = again.names;
            let at = edits[0]["range"]["start"].clone();
            let (_, back) = names.at(byte(&renamed, &at) as u32).unwrap();
            let mut original = renamed.clone();
            let places: Vec<_> = names.places_of(back[0]).collect();
            for span in places.iter().rev() {
                original.replace_range(span.start as usize..span.end as usize, &symbol.name);
            }
            assert_eq!(original, text, "{place}");
            count += 1;
        }
    }
    assert!(count > 900, "{count}");
    client.end();
}

const TEXT: &str = "\
param N = 2;
shared free, held: bool = true;
process P[i: 1..N] {
    local own: bool = false;
    a: atomic { await free; free := own; }
    b: for k in 1..2 { c: own := held && k == 1; }
    for k in 1..2 { d: own := held && k == 1; }
}
invariant p: forall x in P: (exists y in P: x != y && P[x].own && P[x].k_2 == 1) -> free;
invariant q: forall x in P: P[x] at {a, b, c, d, done};
";

fn refusal(client: &mut Client, of: &str, n: usize, new: &str) -> String {
    let mut params = at(&position(TEXT, of, n, 0));
    params["newName"] = json!(new);
    let (code, message) = client.refused("textDocument/rename", params);
    assert_eq!(code, -32803);
    message
}

#[test]
fn a_name_that_does_not_fit_is_refused_with_the_reason() {
    let mut client = Client::new();
    client.open(TEXT);
    let mut refuse = |of: &str, n: usize, new: &str| refusal(&mut client, of, n, new);
    assert_eq!(refuse("free", 0, "await"), "`await` is a keyword");
    assert_eq!(refuse("free", 0, "cas"), "`cas` is built in");
    for word in ["", "2x", "a b", "caf\u{e9}", "x;", "-"] {
        assert!(refuse("free", 0, word).contains("is not a name"), "{word}");
    }
    assert_eq!(
        refuse("free", 0, "held"),
        "with the name `held` there would be an error in line 2: `held` is declared twice"
    );
    assert!(refuse("own", 0, "free").contains("`free` is declared twice"));
    assert!(refuse("a:", 0, "b").contains("line 6: the label `b` stands twice"));
    assert!(refuse("a:", 0, "done").contains("has ended"));
    assert_eq!(
        refuse("y in P", 0, "x"),
        "with the name `x`, `x` in line 9 would stand for something else"
    );
    assert!(refuse("p:", 0, "checks").contains("built-in checks"));
    assert!(refuse("k in", 1, "m").contains("is also called `k_2` (line 9)"));
    // On what is no name.
    assert_eq!(refuse("await", 0, "x"), "`await` is a keyword");
    assert_eq!(refuse("done", 0, "x"), "`done` is built in");
    assert_eq!(refuse(":=", 0, "x"), "there is no name here");
    let prepared = client.refused(
        "textDocument/prepareRename",
        at(&position(TEXT, "await", 0, 1)),
    );
    assert_eq!(prepared, (-32803, "`await` is a keyword".to_owned()));
    // A property may have the name of a keyword.
    let mut params = at(&position(TEXT, "p:", 0, 0));
    params["newName"] = json!("mutex");
    let answer = client.ask("textDocument/rename", params);
    assert_eq!(answer["changes"][URI].as_array().unwrap().len(), 1);
    client.end();
}

#[test]
fn a_name_can_be_changed_while_there_are_errors_elsewhere() {
    let mut client = Client::new();
    let text = TEXT.replace("own := held && k == 1; }\n    for", "own := ; }\n    for");
    client.open(&text);
    let mut params = at(&position(&text, "free", 0, 0));
    params["newName"] = json!("open");
    let answer = client.ask("textDocument/rename", params);
    let renamed = edited(&text, &answer["changes"][URI]);
    assert_eq!(renamed, text.replace("free", "open"));
    // But not if it stands in a part that was not read.
    let text = format!("{TEXT}invariant r: forall z in Q: free;\n");
    client.replace(&text);
    let mut params = at(&position(&text, "free", 0, 0));
    params["newName"] = json!("open");
    let (_, message) = client.refused("textDocument/rename", params);
    assert!(
        message.contains("`free` in line 11 stands in a part"),
        "{message}"
    );
    client.end();
}

#[test]
fn labels_that_one_goto_of_a_macro_leads_to_change_together() {
    let text = "\
shared x: bool = true;
macro leave(v) { if v { goto end; } }
process P { b: leave(x); end: skip; }
process Q { b: leave(!x); end: skip; }
";
    let mut client = Client::new();
    client.open(text);
    let mut params = at(&position(text, "end:", 1, 0));
    params["newName"] = json!("last");
    let answer: Value = client.ask("textDocument/rename", params);
    assert_eq!(
        edited(text, &answer["changes"][URI]),
        text.replace("end", "last")
    );
    client.end();
}
