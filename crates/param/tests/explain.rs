//! Proofs to be read, read back: each fact, as an invariant of the model, is proved by the explicit engine at small instances.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_engine::{
    Answer as Decided, Engine, FamilyAnswer, FamilyEngine, Limits, Silent, Task,
};
use threadwise_evidence::{Outline, ProcessOutline};
use threadwise_explicit::Explicit;
use threadwise_lang::program::{Program, PropertyKind, Scalar, Template};
use threadwise_model::lower::lower;
use threadwise_model::system::SystemProperty;
use threadwise_param::engine::{Prover, Way};
use threadwise_show::to_outline;
use threadwise_testgen::{instance, library, library_for_all};

/// States of an instance that are visited.
const STATES: u64 = 20_000;

/// The safety properties of a program.
fn safety(program: &Program) -> Vec<String> {
    let invariants = program
        .properties
        .iter()
        .filter(|property| matches!(property.kind, PropertyKind::Invariant(_)));
    ["checks".to_owned()]
        .into_iter()
        .chain(invariants.map(|property| property.name.clone()))
        .collect()
}

/// The proofs of a program, by property, as far as there are any.
fn outlines(
    program: &Arc<Program>,
    properties: Vec<String>,
    bounded: bool,
) -> Vec<(String, Outline)> {
    let engine = Prover {
        bounded,
        explain: true,
        ..Prover::new(Way::COUNTER)
    };
    let outcome = engine.check(
        &Task {
            program,
            fixed: &BTreeMap::new(),
            properties: &properties,
            solver: None,
            limits: &Limits::NONE,
        },
        &mut Silent,
    );
    let found = properties.into_iter().zip(outcome.findings);
    found
        .filter(|(_, (answer, _))| matches!(answer, FamilyAnswer::Proved(_)))
        .map(|(property, (_, account))| {
            let outline = account.outline;
            let outline = outline.unwrap_or_else(|| panic!("{property}: no outline"));
            (property, outline)
        })
        .collect()
}

/// A fact cut into words and signs.
fn words(fact: &str) -> Vec<String> {
    let word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for sign in fact.chars() {
        let longer = word(sign) && word(before)
            || ["->", "<-", "==", "!=", "<=", ">=", "&&", "||"]
                .contains(&format!("{before}{sign}").as_str());
        match words.last_mut() {
            Some(last) if longer => last.push(sign),
            _ if sign == ' ' => {}
            _ => words.push(sign.to_string()),
        }
        before = sign;
    }
    words
}

/// A fact in the language: what its signs mean in place of them. `own` is the process whose variables need not say so.
fn in_the_language(program: &Program, own: Option<(&Template, &str)>, fact: &str) -> String {
    let words = words(fact);
    let mut text = String::new();
    let mut place = 0;
    let is_truth = |name: &str, template: Option<&Template>| {
        let locals = template.iter().flat_map(|template| &template.locals);
        let mut all = program.shared.iter().chain(locals);
        all.any(|variable| variable.name == name && matches!(variable.scalar, Scalar::Bool))
    };
    while place < words.len() {
        let before = place
            .checked_sub(1)
            .map_or("", |before| words[before].as_str());
        let rest = &words[place..];
        let local = own.filter(|(template, _)| {
            before != "." && template.locals.iter().any(|local| local.name == rest[0])
        });
        if rest[0] == "sum" && rest.get(1).is_some_and(|word| word == "(") {
            // The sum of a term over the processes at a label, or over all of a template.
            let end = rest.iter().position(|word| word == ")");
            let end = end.expect("a closing parenthesis");
            let colon = rest.iter().position(|word| word == ":");
            let colon = colon.expect("a term");
            let label = &rest[colon - 1];
            let template = template_of(program, &rest[2..colon]);
            let process = format!("{}[zz]", template.name);
            let term = rest[colon + 1..end].join(" ");
            let term = in_the_language(program, Some((template, &process)), &term);
            text.push_str(&format!(
                "(sum zz in {}: (count ww in 0..0: {process} at {label}) * ({term})) ",
                template.name
            ));
            place += end + 1;
            continue;
        }
        if rest[0] == "#" && rest[1] == "(" {
            // Counted predicates are about one process: a bound one.
            let mut depth = 0;
            let end = rest.iter().position(|word| {
                depth += i32::from(word == "(") - i32::from(word == ")");
                word == ")" && depth == 0
            });
            let end = end.expect("a closing parenthesis");
            let colon = rest
                .iter()
                .position(|word| word == ":")
                .expect("a predicate");
            let template = template_of(program, &rest[2..colon]);
            let predicate = rest[colon + 1..end].join(" ");
            let process = format!("{}[zz]", template.name);
            let predicate = in_the_language(program, Some((template, &process)), &predicate);
            let label = &rest[colon - 1];
            text.push_str(&format!(
                "(count zz in {}: {process} at {label} && ({predicate})) ",
                template.name
            ));
            place += end + 1;
            continue;
        }
        if rest[0] == "#" {
            let qualified = rest.get(2).is_some_and(|word| word == ".");
            let length = if qualified { 3 } else { 1 };
            let template = template_of(program, &rest[1..=length]);
            let label = &rest[length];
            text.push_str(&match template.id_name.is_some()
                || matches!(
                    template.instances,
                    threadwise_lang::program::Instances::Dynamic
                ) {
                true => format!("(count zz in {0}: {0}[zz] at {label}) ", template.name),
                false => format!("(count zz in 0..0: {} at {label}) ", template.name),
            });
            place += length + 1;
            continue;
        }
        // A variable with its indices, and whose it is.
        let mut end = 1;
        while rest.get(end).is_some_and(|word| word == "[") {
            let close = rest[end..]
                .iter()
                .position(|word| word == "]")
                .expect("a closing bracket");
            end += close + 1;
        }
        if rest.get(end).is_some_and(|word| word == ".") {
            end += 2;
        }
        let name = rest[..end].concat();
        let last = rest[..end]
            .iter()
            .rposition(|word| word == ".")
            .map_or(&rest[0], |dot| &rest[dot + 1]);
        let owner = program.templates.iter().find(|t| t.name == rest[0]);
        let template = owner.or(own.map(|(template, _)| template));
        let name = match local {
            Some((_, process)) => format!("{process}.{name}"),
            None => name,
        };
        let numeric =
            |word: &str| ["+", "-", "*", "==", "!=", "<", "<=", ">", ">="].contains(&word);
        let after = rest.get(end).map_or("", String::as_str);
        let summand = numeric(before) || numeric(after);
        text.push_str(&match summand && is_truth(last, template) {
            true => format!("(count zz in 0..0: {name}) "),
            false => format!("{name} "),
        });
        place += end;
    }
    text
}

/// The template with a label: `P.l`, or `l` if there is one only.
fn template_of<'p>(program: &'p Program, name: &[String]) -> &'p Template {
    let label = name.last().expect("a label");
    let mut templates = program.templates.iter();
    let found = match name {
        [template, dot, _] if dot == "." => templates.find(|t| t.name == *template),
        _ => templates.find(|t| t.locations.iter().any(|l| l.name == *label)),
    };
    found.expect("a template of the program")
}

/// The facts of an outline as expressions of their own.
fn statements(program: &Program, outline: &Outline) -> Vec<String> {
    let always = outline.always.iter();
    let mut statements: Vec<String> = always
        .map(|fact| in_the_language(program, None, fact))
        .collect();
    for process in &outline.processes {
        let name = process.process.split('[').next().unwrap_or_default();
        let template = program
            .templates
            .iter()
            .find(|t| t.name == name)
            .expect("a template");
        for label in &process.labels {
            let at = format!("{} at {{{}}}", process.process, label.labels.join(", "));
            for fact in &label.holds {
                let own = process
                    .other
                    .is_none()
                    .then_some((template, process.process.as_str()));
                let fact = in_the_language(program, own, fact);
                statements.push(quantified(process, &format!("{at} -> ({fact})")));
            }
        }
    }
    statements
}

fn quantified(process: &ProcessOutline, body: &str) -> String {
    let bound = |binder: &Option<String>, body: String| match binder {
        Some(binder) => format!("(forall {binder}: {body})"),
        None => body,
    };
    let mut body = format!("({body})");
    if let Some(other) = &process.other {
        if let Some(condition) = &other.condition {
            body = format!("({condition} -> {body})");
        }
        body = bound(&other.binder, body);
    }
    bound(&process.binder, body)
}

/// Values for the parameters at which facts are looked at.
fn sizes(program: &Program) -> Vec<Vec<(&str, i64)>> {
    let named = |n: i64| {
        let params = program.params.iter().map(|param| param.name.as_str());
        params
            .filter(|name| ["N", "M", "K", "C"].contains(name))
            .map(|name| (name, n))
            .collect()
    };
    [2, 3, 4].map(named).to_vec()
}

/// What was read back.
#[derive(Debug, Default)]
struct Count {
    outlines: usize,
    whole: usize,
    facts: usize,
    /// Facts that the language cannot express.
    unspeakable: usize,
    proved: usize,
}

fn read_back(name: &str, text: &str, count: &mut Count) {
    let Some(program) = threadwise_lang::check(text).program else {
        return;
    };
    let program = Arc::new(program);
    for (property, outline) in outlines(&program, safety(&program), true) {
        let shown = to_outline(&outline).join("\n");
        count.outlines += 1;
        count.whole += usize::from(outline.whole);
        let mut longer = text.to_owned();
        let mut facts = Vec::new();
        for fact in statements(&program, &outline) {
            let one = format!("{text}\ninvariant fact: {fact};");
            match threadwise_lang::check(&one).program {
                Some(_) => {
                    longer.push_str(&format!("\ninvariant fact_{}: {fact};", facts.len()));
                    facts.push(fact);
                }
                None if fact.contains("holds")
                    || fact.contains("none")
                    || shown.contains("none comes before") =>
                {
                    count.unspeakable += 1;
                }
                None => panic!("{name}, {property}: {fact}\n{shown}"),
            }
        }
        count.facts += facts.len();
        for params in sizes(&program) {
            let Ok(instance) = instance(&longer, &params) else {
                continue;
            };
            let Ok(system) = lower(&instance, 3) else {
                continue;
            };
            let stated: Vec<&SystemProperty> = system
                .properties
                .iter()
                .filter(|known| known.name.starts_with("fact_"))
                .collect();
            let limits = Limits {
                states: Some(STATES),
                ..Limits::NONE
            };
            let outcome = Explicit::default().check_all(&system, &stated, &limits, &mut Silent);
            for (answer, fact) in outcome.answers.iter().zip(&facts) {
                match answer {
                    Decided::Proved(_) => count.proved += 1,
                    Decided::Unknown(_) => {}
                    other => panic!("{name} at {params:?}, {property}: {fact}: {other:?}\n{shown}"),
                }
            }
        }
    }
}

#[test]
fn outlines_of_the_library_are_true() {
    let mut count = Count::default();
    for (name, text) in library_for_all() {
        read_back(&name, &text, &mut count);
    }
    for (name, text) in library() {
        // Proofs of others take longer than a test may.
        let quick = [
            "mux_sem",
            "test_and_set",
            "critical_sections",
            "dekker",
            "peterson2",
            "readers_writers",
        ];
        if quick.iter().any(|quick| name.starts_with(quick)) {
            read_back(&name, &text, &mut count);
        }
    }
    println!("{count:?}");
    assert!(count.outlines >= 60, "{count:?}");
    assert_eq!(count.whole, count.outlines, "{count:?}");
    assert!(
        count.facts >= 120 && count.proved >= count.facts,
        "{count:?}"
    );
}

/// The outline of a property of a program for any number of processes.
fn shown(model: &str, property: &str) -> String {
    let mut models = library_for_all().into_iter().chain(library());
    let (_, text) = models.find(|(name, _)| name == model).expect("a model");
    let program = threadwise_lang::check(&text).program.expect("no errors");
    let outlines = outlines(&Arc::new(program), vec![property.to_owned()], false);
    let outline = outlines.into_iter().find(|(name, _)| name == property);
    to_outline(&outline.expect("a proof").1).join("\n")
}

#[test]
fn outlines_of_known_programs() {
    for (model, property) in [
        ("fkp2014_extended", "waiting"),
        ("ticket_lock", "mutex"),
        ("bakery", "mutex"),
        ("qw2004", "checks"),
        ("test_and_set", "mutex"),
        ("readers_writers", "checks"),
    ] {
        insta::assert_snapshot!(model, shown(model, property));
    }
}
