//! The codes of reasons: the words in JSON, the published schema and the book say the same.

use std::path::Path;

use threadwise_evidence::{Occurs, Reason, ReasonCode};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn codes_are_words_in_json() {
    for code in ReasonCode::ALL {
        let reason = Reason::new(*code, "for a reason");
        let json = serde_json::to_value(&reason).unwrap();
        assert_eq!(json["code"], code.as_str());
        assert_eq!(serde_json::from_value::<Reason>(json).unwrap(), reason);
    }
    let unknown = serde_json::json!({ "code": "of-no-kind", "message": "for a reason" });
    assert!(serde_json::from_value::<Reason>(unknown).is_err());
}

#[test]
fn the_schema_lists_the_codes() {
    let schema: serde_json::Value =
        serde_json::from_str(&read("docs/schema/check.schema.json")).unwrap();
    let listed = &schema["$defs"]["reason"]["properties"]["code"]["enum"];
    let published = ReasonCode::ALL.iter();
    let published: Vec<&str> = published
        .filter(|code| code.occurs() != Occurs::Inside)
        .map(|code| code.as_str())
        .collect();
    assert_eq!(*listed, serde_json::json!(published));
}

#[test]
fn the_book_lists_the_codes() {
    let page = read("docs/book/src/command-line.md");
    let rows: String = ReasonCode::ALL
        .iter()
        .filter(|code| code.occurs() != Occurs::Inside)
        .map(|code| {
            let verdict = match code.occurs() {
                Occurs::Unknown => "unknown",
                Occurs::Decided | Occurs::Inside => "decided",
            };
            format!("| `{code}` | {verdict} | {} |\n", code.about())
        })
        .collect();
    assert!(page.contains(&rows), "the table should have:\n{rows}");
}
