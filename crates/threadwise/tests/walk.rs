//! The walk through the code in the book is true: each function that it names is in the file that it links to, and calls what comes next. And whatever
//! `docs/papers.md` names of the sources is in the file that it links to.

use std::path::{Path, PathBuf};

/// A row of the walk: a function, its file, and what it leads to.
struct Stop {
    name: String,
    file: PathBuf,
    leads_to: Vec<String>,
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn page() -> PathBuf {
    docs().join("book/src/walk.md")
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

/// What a page names of the sources, ``[`name`](file.rs)``, with the number of the line.
fn named(page: &str) -> Vec<(usize, &str, &str)> {
    let mut found = Vec::new();
    for (number, line) in page.lines().enumerate() {
        for rest in line.split("[`").skip(1) {
            if let Some((name, rest)) = rest.split_once("`](")
                && let Some((file, _)) = rest.split_once(')')
                && file.ends_with(".rs")
            {
                found.push((number + 1, name, file));
            }
        }
    }
    found
}

/// Whether a file defines a function, a type, or a variant of one.
fn defines(code: &str, name: &str) -> bool {
    let (owner, own) = name.rsplit_once("::").unwrap_or(("", name));
    let defined = |word: &str, kinds: &[&str]| {
        let heads = kinds.iter().map(|kind| format!("{kind} {word}"));
        let mut heads = heads.filter_map(|head| {
            let mut rests = code.match_indices(&head);
            rests.find_map(|(at, head)| {
                let after = code[at + head.len()..].chars().next()?;
                (!after.is_alphanumeric() && after != '_').then_some(at)
            })
        });
        heads.next()
    };
    let kinds = ["fn", "struct", "enum", "trait", "const", "static"];
    if owner.is_empty() || !own.starts_with(char::is_uppercase) {
        return (owner.is_empty() || names(code, owner)) && defined(own, &kinds).is_some();
    }
    // A variant: between the head and the brace that closes it.
    defined(owner, &["enum"]).is_some_and(|at| {
        let rest = &code[at..];
        names(&rest[..rest.find("\n}").unwrap_or(rest.len())], own)
    })
}

#[test]
fn what_the_page_on_the_papers_names_is_there() {
    let page = std::fs::read_to_string(docs().join("papers.md")).expect("the page");
    let named = named(&page);
    assert!(named.len() >= 120, "{} names", named.len());
    let wrong = named.iter().filter_map(|(line, name, file)| {
        let code = std::fs::read_to_string(docs().join(file)).unwrap_or_default();
        (!defines(&code, name)).then(|| format!("papers.md:{line}: {file} has no `{name}`"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_is_not_there_is_noticed() {
    let code = "enum Way {\n    Short,\n}\nimpl Way {\n    fn walk(&self) {}\n}\nstruct Long;\n";
    for there in ["Way", "Way::Short", "Way::walk", "walk", "Long"] {
        assert!(defines(code, there), "{there}");
    }
    for missing in ["Way::Long", "wal", "Road::walk", "Short", "Wa", "Way::run"] {
        assert!(!defines(code, missing), "{missing}");
    }
    let page = "x [`a`](b.rs), [`c`](d.md)\n| [`E::f`](../g.rs) |\n";
    assert_eq!(named(page), [(1, "a", "b.rs"), (2, "E::f", "../g.rs")]);
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
