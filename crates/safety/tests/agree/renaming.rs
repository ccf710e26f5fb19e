//! Names do not matter: with every name of a model replaced, a proof takes as many refinements and predicates, and its outline is
//! the same but for the names.

use std::collections::{BTreeMap, BTreeSet};

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_lang::syntax::{SyntaxElement, SyntaxKind, parse};
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_safety::{How, Pairwise, Split};
use threadwise_show::to_outline;
use threadwise_testgen::{instance, library};

/// Names that are not the model's: functions of the language, where processes end, and operators of its temporal logic.
const PREDEFINED: [&str; 15] = [
    "cas",
    "swap",
    "fetch_add",
    "next",
    "prev",
    "locked",
    "enabled",
    "taken",
    "done",
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

/// What a proof takes, and how it reads; `None` if there is no proof.
fn proof(engine: &dyn Engine, system: &System, property: &str) -> Option<(u64, u64, String)> {
    let properties: Vec<_> = system
        .properties
        .iter()
        .filter(|known| known.name == property)
        .collect();
    let outcome = engine.check_all(system, &properties, &Limits::NONE, &mut Silent);
    if !matches!(outcome.answers[..], [Answer::Proved(_)]) {
        return None;
    }
    let account = &outcome.accounts[0];
    let outline = account.outline.as_ref().expect("an outline");
    Some((
        account.refinements.expect("counted"),
        account.predicates.expect("counted"),
        // A word of ours that is a variable of ticket_lock as well.
        to_outline(outline)
            .join("\n")
            .replace("not all is shown", "not all"),
    ))
}

/// Compares a property of a model with itself under other names; gives the refinements and predicates that both take.
fn compare(engine: &dyn Engine, text: &str, n: i64, property: &str) -> Option<(u64, u64)> {
    let mut names = new_names(text);
    let other = renamed(text, &names);
    assert!(!other.contains("invariant mutex"));
    let system = |text: &str, param: &str| {
        let instance = instance(text, &[(param, n)]).expect("an instance");
        lower(&instance, 3).expect("small enough")
    };
    let (one, two) = (system(text, "N"), system(&other, &names["N"]));
    // Properties without a name of their own keep the one that they have.
    let new = names.get(property).map_or(property, String::as_str);
    let before = proof(engine, &one, property);
    let after = proof(engine, &two, new);
    assert_eq!(before.is_some(), after.is_some());
    let (before, after) = before.zip(after)?;
    assert_eq!((before.0, before.1), (after.0, after.1), "{other}");
    let known = outlined(&one);
    names.retain(|name, _| known.contains(name));
    assert_eq!(
        words(&before.2, &names),
        words(&after.2, &BTreeMap::new()),
        "{}\n{}",
        before.2,
        after.2
    );
    Some((before.0, before.1))
}

fn engines() -> (Split, Pairwise) {
    let split = Split {
        how: How {
            explain: true,
            certificates: false,
            ..How::default()
        },
        ..Split::default()
    };
    let pairwise = Pairwise(How {
        explain: true,
        certificates: false,
        ..How::default()
    });
    (split, pairwise)
}

#[test]
fn published_figures_do_not_depend_on_names() {
    let (split, pairwise) = engines();
    let models: BTreeMap<String, String> = library().into_iter().collect();
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
            let figures = compare(&split, &models[model], n, "mutex");
            assert_eq!(figures, Some(published), "{model}, N={n}");
            if n <= 3 {
                let figures = compare(&pairwise, &models[model], n, "mutex");
                assert_eq!(figures, Some((0, 0)), "{model}, N={n}");
            }
        }
    }
}

#[test]
fn outlines_of_the_library_do_not_depend_on_names() {
    let (split, pairwise) = engines();
    let mut compared = 0;
    for (_, text) in library() {
        let Ok(model) = instance(&text, &[("N", 2)]) else {
            continue;
        };
        let system = lower(&model, 3).expect("small enough");
        // Letters that the model has for something itself are not free for processes.
        let letter =
            |name: &String| ('i'..='q').any(|letter| name.starts_with(letter) && name.len() == 1);
        if outlined(&system).iter().any(letter) {
            continue;
        }
        for property in &system.properties {
            if matches!(property.kind, SystemPropertyKind::Liveness(_)) {
                continue;
            }
            for engine in [&split as &dyn Engine, &pairwise] {
                compared += usize::from(compare(engine, &text, 2, &property.name).is_some());
            }
        }
    }
    assert!(compared >= 80, "{compared}");
}
