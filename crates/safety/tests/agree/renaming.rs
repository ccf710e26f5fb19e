//! Names do not matter: with every name of a model replaced, a proof takes as many refinements and predicates, and its outline is
//! the same but for the names.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_lang::syntax::{SyntaxElement, SyntaxKind, parse};
use threadwise_model::lower::lower;
use threadwise_model::system::System;
use threadwise_safety::{Pairwise, Split};
use threadwise_testgen::{instance, library};

/// Names that are not the model's: functions of the language and operators of its temporal logic.
const PREDEFINED: [&str; 14] = [
    "cas",
    "swap",
    "fetch_add",
    "next",
    "prev",
    "locked",
    "enabled",
    "taken",
    "G",
    "F",
    "X",
    "U",
    "R",
    "W",
];

/// New names for those of a text: of other lengths, and in the opposite order.
fn new_names(text: &str) -> BTreeMap<String, String> {
    let tokens = parse(text).tree.descendants_with_tokens();
    let names: BTreeSet<String> = tokens
        .filter_map(SyntaxElement::into_token)
        .filter(|token| token.kind() == SyntaxKind::Name)
        .map(|token| token.text().to_owned())
        .filter(|name| !PREDEFINED.contains(&name.as_str()))
        .collect();
    let count = names.len();
    let new = |place: usize| {
        format!(
            "q{:03}{}",
            count - place,
            "_long".repeat((place * 7 + 3) % 4)
        )
    };
    let names = names.into_iter().enumerate();
    names.map(|(place, name)| (name, new(place))).collect()
}

/// A text with its names replaced, and without comments.
fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let tokens = parse(text).tree.descendants_with_tokens();
    let tokens = tokens.filter_map(SyntaxElement::into_token);
    tokens
        .map(|token| match token.kind() {
            SyntaxKind::LineComment | SyntaxKind::BlockComment => " ".to_owned(),
            _ => {
                let name = names.get(token.text());
                name.cloned().unwrap_or_else(|| token.text().to_owned())
            }
        })
        .collect()
}

/// An outline with these names replaced, as words: where lines end depends on how long names are.
fn words(outline: &str, names: &BTreeMap<String, String>) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for sign in outline.chars() {
        let word = |sign: char| sign.is_alphanumeric() || sign == '_';
        let goes_on = words.last().is_some_and(|last| last.chars().all(word));
        if sign.is_whitespace() {
            words.push(String::new());
        } else if let Some(last) = words.last_mut()
            && goes_on
            && word(sign)
        {
            last.push(sign);
        } else {
            words.push(sign.to_string());
        }
    }
    words.retain(|word| !word.is_empty());
    let replaced = words.into_iter();
    replaced
        .map(|word| names.get(&word).cloned().unwrap_or(word))
        .collect()
}

/// The names that an outline can have from the model; others are its own.
fn outlined(system: &System) -> BTreeSet<String> {
    let vars = system.vars.iter().map(|var| &var.name);
    let params = system.params.iter().map(|(name, _)| name);
    let templates = system.templates.iter();
    let labels = templates.clone().flat_map(|template| &template.locations);
    let templates = templates.map(|template| &template.name);
    vars.chain(params)
        .chain(system.enums.iter().flatten())
        .chain(labels)
        .chain(templates)
        .cloned()
        .collect()
}

/// What a proof of mutual exclusion takes, and how it reads.
fn proof(engine: &dyn Engine, system: &System, property: &str) -> (u64, u64, String) {
    let properties: Vec<_> = system
        .properties
        .iter()
        .filter(|known| known.name == property)
        .collect();
    let outcome = engine.check_all(system, &properties, &Limits::NONE, &mut Silent);
    assert!(
        matches!(outcome.answers[..], [Answer::Proved(_)]),
        "{:?}",
        outcome.answers
    );
    let account = &outcome.accounts[0];
    let outline = account.outline.as_ref().expect("an outline");
    (
        account.refinements.expect("counted"),
        account.predicates.expect("counted"),
        outline.lines().join("\n"),
    )
}

/// Compares a model with itself under other names; gives the refinements and predicates that both take.
fn compare(engine: &dyn Engine, model: &str, n: i64) -> (u64, u64) {
    let (_, text) = library()
        .into_iter()
        .find(|(name, _)| name == model)
        .expect("a model of the library");
    let mut names = new_names(&text);
    let other = renamed(&text, &names);
    let param = names["N"].clone();
    assert!(!other.contains("critical") && !other.contains("mutex"));
    let system = |text: &str, param: &str| {
        let instance = instance(text, &[(param, n)]).expect("an instance");
        lower(&instance, 3).expect("small enough")
    };
    let (one, two) = (system(&text, "N"), system(&other, &param));
    let before = proof(engine, &one, "mutex");
    let after = proof(engine, &two, &names["mutex"]);
    let place = format!("{model}, N={n}, {}", engine.name());
    assert_eq!((before.0, before.1), (after.0, after.1), "{place}");
    let known = outlined(&one);
    names.retain(|name, _| known.contains(name));
    assert_eq!(
        words(&before.2, &names),
        words(&after.2, &BTreeMap::new()),
        "{place}\n{}\n{}",
        before.2,
        after.2
    );
    (before.0, before.1)
}

#[test]
fn proofs_do_not_depend_on_names() {
    let split = Split {
        explain: true,
        certificates: false,
        ..Split::default()
    };
    let pairwise = Pairwise {
        explain: true,
        certificates: false,
        ..Pairwise::default()
    };
    for n in 2..=6 {
        let predicates = n as u64;
        for (model, published) in [
            ("mux_sem", (1, 2 * predicates)),
            ("mux_sem_short", (1, predicates)),
            ("mux_sem_last", (0, 0)),
            ("mux_sem_count", (1, 2 * predicates)),
            ("bakery", (0, 0)),
            ("peterson", (0, 0)),
        ] {
            assert_eq!(compare(&split, model, n), published, "{model}, N={n}");
            if n <= 3 {
                assert_eq!(compare(&pairwise, model, n), (0, 0), "{model}, N={n}");
            }
        }
    }
}
