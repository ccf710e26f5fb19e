//! The walk through the code in the book is true: each function that it names is in the file that it links to, and calls what comes next.

use std::path::{Path, PathBuf};

/// A row of the walk: a function, its file, and what it leads to.
struct Stop {
    name: String,
    file: PathBuf,
    leads_to: Vec<String>,
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/walk.md")
}

/// ``| [`name`](file) | what it does | `next`, `other` |``
fn stop(line: &str) -> Option<Stop> {
    let (name, rest) = line.strip_prefix("| [`")?.split_once("`](")?;
    let (file, rest) = rest.split_once(')')?;
    let (_, last) = rest.trim_end().trim_end_matches('|').rsplit_once(" | ")?;
    let leads_to = last.split('`').skip(1).step_by(2).map(str::to_owned);
    Some(Stop {
        name: name.to_owned(),
        file: page().parent()?.join(file),
        leads_to: leads_to.collect(),
    })
}

/// The text of a function: from its head to the brace that closes it, which stands below the head's first word.
fn body<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let head = text
        .match_indices(&format!("fn {name}"))
        .find(|(at, found)| {
            let after = text[at + found.len()..].chars().next();
            matches!(after, Some('(' | '<'))
        });
    let at = head?.0;
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent = text[line..].len() - text[line..].trim_start_matches(' ').len();
    let close = format!("\n{}}}\n", " ".repeat(indent));
    let end = text[at..].find(&close).map_or(text.len(), |end| at + end);
    Some(&text[at..end])
}

/// Whether a text has this as a word of its own; of a path, the last part.
fn names(text: &str, word: &str) -> bool {
    let word = word.rsplit("::").next().unwrap_or(word);
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !part(c)).any(|found| found == word)
}

#[test]
fn the_walk_leads_through_the_code_as_it_is() {
    let text = std::fs::read_to_string(page()).expect("the page");
    let stops: Vec<Stop> = text.lines().filter_map(stop).collect();
    assert!(stops.len() >= 25, "{} stops", stops.len());
    let mut wrong = Vec::new();
    for Stop {
        name,
        file,
        leads_to,
    } in &stops
    {
        let Ok(code) = std::fs::read_to_string(file) else {
            wrong.push(format!("{name}: {} is not there", file.display()));
            continue;
        };
        let own = name.rsplit("::").next().unwrap_or(name);
        let Some(body) = body(&code, own) else {
            wrong.push(format!("{} has no function `{name}`", file.display()));
            continue;
        };
        assert!(!leads_to.is_empty(), "`{name}` leads nowhere");
        let missing = leads_to.iter().filter(|next| !names(body, next));
        wrong.extend(missing.map(|next| format!("`{name}` does not name `{next}`")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_walk_that_is_wrong_is_noticed() {
    let code = "impl A {\n    fn first(&self) {\n        second(1)\n    }\n}\n\nfn firsthand() {\n    third()\n}\n";
    assert!(names(body(code, "first").unwrap(), "b::second"));
    assert!(!names(body(code, "first").unwrap(), "third"));
    assert!(!names(body(code, "first").unwrap(), "seco"));
    assert!(body(code, "second").is_none());
    let row = stop("| [`A::first`](a.rs) | does it | `second`, `third` |").unwrap();
    assert_eq!(row.leads_to, ["second", "third"]);
    assert!(row.file.ends_with("a.rs") && stop("| first | second |").is_none());
}
