//! Readable proofs: what they say is read back. Each fact, as an invariant of the model, is proved by the explicit engine; and if the
//! outline says that its facts are the whole invariant, they are inductive and imply the property by themselves.

use threadwise_engine::{Answer, Engine, Limits, Silent};
use threadwise_evidence::{Outline, ProcessOutline};
use threadwise_explicit::Explicit;
use threadwise_model::instance::Instance;
use threadwise_model::lower::lower;
use threadwise_model::system::{System, SystemProperty, SystemPropertyKind};
use threadwise_safety::{Cartesian, Exceptions, How, Pairwise, Split};
use threadwise_show::to_outline;
use threadwise_symbolic::{Bdd, Symbolic, with_deep_stack};
use threadwise_testgen::sweep::programs;
use threadwise_testgen::{instance, library, random_programs};

/// Random programs that are looked at.
const SEEDS: u64 = 80;
/// States of a random program that the oracle visits.
const STATES: u64 = 5_000;

/// What became of outlines.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    outlines: usize,
    /// Those that are the whole invariant.
    whole: usize,
    facts: usize,
    /// Facts that the language cannot express.
    unspeakable: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.outlines += other.outlines;
        self.whole += other.whole;
        self.facts += other.facts;
        self.unspeakable += other.unspeakable;
    }
}

/// The facts of an outline as expressions of their own.
fn statements(system: &System, outline: &Outline) -> Vec<String> {
    let mut statements = outline.always.clone();
    for process in &outline.processes {
        for label in &process.labels {
            let at = format!("{} at {{{}}}", process.process, label.labels.join(", "));
            for fact in &label.holds {
                statements.push(quantified(system, process, &format!("{at} -> ({fact})")));
            }
        }
    }
    statements
}

fn quantified(system: &System, process: &ProcessOutline, body: &str) -> String {
    let mut body = format!("({body})");
    if let Some(other) = &process.other {
        if let Some(condition) = &other.condition {
            let condition = match condition.split_once(" < ") {
                Some((i, j)) => by_number(system, &process.binder, i, j),
                None => condition.clone(),
            };
            body = format!("(({condition}) -> {body})");
        }
        body = bound(&other.binder, &other.among, body);
    }
    bound(&process.binder, &process.among, body)
}

/// That one process comes before another, without the order of ids, which not all templates have.
fn by_number(system: &System, binder: &Option<String>, i: &str, j: &str) -> String {
    let name = binder
        .as_ref()
        .and_then(|binder| binder.split(' ').next_back());
    let mut templates = system.templates.iter();
    let template = templates.find(|template| Some(template.name.as_str()) == name);
    let template = template.expect("a template of the model");
    let numbers = template.lowest_id..template.lowest_id + i64::from(template.count);
    let pairs = numbers.clone().flat_map(|a| {
        let later = (a + 1..numbers.end).map(move |b| (a, b));
        later.map(|(a, b)| format!("({i} == {a} && {j} == {b})"))
    });
    pairs.collect::<Vec<_>>().join(" || ")
}

fn bound(binder: &Option<String>, among: &[i64], body: String) -> String {
    let Some(binder) = binder else {
        return body;
    };
    let name = binder.split(' ').next().unwrap_or_default();
    let among: Vec<String> = among.iter().map(|n| format!("{name} == {n}")).collect();
    if among.is_empty() {
        format!("(forall {binder}: {body})")
    } else {
        format!("(forall {binder}: ({}) -> {body})", among.join(" || "))
    }
}

fn safety(system: &System) -> Vec<&SystemProperty> {
    let properties = system.properties.iter();
    properties
        .filter(|property| !matches!(property.kind, SystemPropertyKind::Liveness(_)))
        .collect()
}

/// Engines that explain their proofs.
fn engines(symmetry: bool) -> [(&'static str, Box<dyn Engine>); 2] {
    let split = Split {
        how: How {
            symmetry,
            explain: true,
            certificates: false,
            ..How::default()
        },
        ..Split::default()
    };
    let pairwise = Pairwise(How {
        symmetry,
        explain: true,
        certificates: false,
        ..How::default()
    });
    [("split", Box::new(split)), ("pairwise", Box::new(pairwise))]
}

/// Reads the facts of all outlines of an instance back. `again` makes the instance of another text.
fn read_back(
    text: &str,
    system: &System,
    engine: &dyn Engine,
    again: &dyn Fn(&str) -> Result<Instance, String>,
) -> Result<Count, String> {
    let properties = safety(system);
    let outcome = engine.check_all(system, &properties, &Limits::NONE, &mut Silent);
    let mut count = Count::default();
    for ((property, answer), account) in properties
        .iter()
        .zip(&outcome.answers)
        .zip(&outcome.accounts)
    {
        if !matches!(answer, Answer::Proved(_)) {
            continue;
        }
        let outline = account
            .outline
            .as_ref()
            .ok_or_else(|| format!("{}: no outline", property.name))?;
        let shown = to_outline(outline).join("\n");
        count.outlines += 1;
        omissions(outline).map_err(|error| format!("{}: {error}\n{shown}", property.name))?;
        let all = statements(system, outline);
        let (hidden, facts): (Vec<String>, Vec<String>) =
            all.into_iter().partition(|fact| fact.contains(" holds "));
        count.facts += facts.len();
        count.unspeakable += hidden.len();
        let mut longer = text.to_owned();
        for (number, fact) in facts.iter().enumerate() {
            longer.push_str(&format!("\ninvariant fact_{number}: {fact};"));
        }
        let place = |error: String| format!("{}: {error}\n{shown}", property.name);
        let instance = again(&longer).map_err(place)?;
        let larger = lower(&instance, 3).map_err(|error| place(format!("{error:?}")))?;
        let stated: Vec<&SystemProperty> = larger
            .properties
            .iter()
            .filter(|known| known.name.starts_with("fact_"))
            .collect();
        let answers = Explicit::default()
            .check_all(&larger, &stated, &Limits::NONE, &mut Silent)
            .answers;
        for ((answer, property), fact) in answers.iter().zip(&stated).zip(&facts) {
            if !matches!(answer, Answer::Proved(_)) {
                return Err(place(format!("{}: {fact}: {answer:?}", property.name)));
            }
        }
        if outline.whole && hidden.is_empty() && outline.distance.is_none() {
            count.whole += 1;
            let proof = with_deep_stack(|| prove(&larger, &stated, &property.name));
            proof.map_err(place)?;
        }
    }
    Ok(count)
}

/// What is left out is stated, if and only if something is.
fn omissions(outline: &Outline) -> Result<(), String> {
    let labels = outline.processes.iter().flat_map(|process| &process.labels);
    let omitted = labels.flat_map(|label| &label.omitted);
    let omitted: Vec<_> = omitted.chain(&outline.omitted).collect();
    for omission in &omitted {
        let number = |text: &str| text.parse::<u128>().map_err(|error| error.to_string());
        if number(&omission.allowed)? <= number(&omission.asserted)? {
            return Err(format!("nothing is left out: {omission:?}"));
        }
    }
    if outline.whole == omitted.is_empty() && outline.pairs_omitted == 0 {
        Ok(())
    } else {
        Err("what is left out is not stated, or is stated without reason".to_owned())
    }
}

/// Whether invariants together are inductive and imply a property.
fn prove(system: &System, stated: &[&SystemProperty], property: &str) -> Result<(), String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let symbolic = Symbolic::new(system, 1 << 22).map_err(|error| wrong(&error))?;
    let d = &symbolic.diagrams;
    let set = || -> Result<_, threadwise_symbolic::Error> {
        let mut set = symbolic.valid.clone();
        for fact in stated {
            if let SystemPropertyKind::Invariant(expr) = &fact.kind {
                set = d.and(&set, &symbolic.states(expr)?)?;
            }
        }
        Ok(set)
    };
    let set = set().map_err(|error| wrong(&error))?;
    let outside = |states: &Bdd| -> Result<bool, String> {
        let outside = d.minus(states, &set).map_err(|error| wrong(&error))?;
        Ok(!d.is_empty(&outside))
    };
    if outside(&symbolic.initial)? {
        return Err("the facts do not hold at the beginning".to_owned());
    }
    for transition in symbolic.transitions.moves.iter().flatten() {
        let after = transition.post(d, &set).map_err(|error| wrong(&error))?;
        if outside(&after)? {
            return Err("a step does not keep the facts".to_owned());
        }
    }
    let property = system
        .properties
        .iter()
        .find(|known| known.name == property);
    let bad = match property.map(|property| &property.kind) {
        Some(SystemPropertyKind::Invariant(expr)) => {
            let good = symbolic.states(expr).map_err(|error| wrong(&error))?;
            d.not(&good).map_err(|error| wrong(&error))?
        }
        Some(SystemPropertyKind::DeadlockFree) => {
            symbolic.deadlocks().map_err(|error| wrong(&error))?
        }
        Some(SystemPropertyKind::Checks) => {
            let mut bad = d.none();
            for fails in &symbolic.transitions.failures {
                bad = d.or(&bad, fails).map_err(|error| wrong(&error))?;
            }
            bad
        }
        _ => return Err("no such property".to_owned()),
    };
    let bad = d.and(&set, &bad).map_err(|error| wrong(&error))?;
    if !d.is_empty(&bad) {
        return Err("the facts do not imply the property".to_owned());
    }
    Ok(())
}

#[test]
fn outlines_of_the_library_are_true() {
    let mut all = [Count::default(); 2];
    for (name, text) in library() {
        for (n, symmetry) in [(2, false), (3, true)] {
            let params = [("N", n)];
            let Ok(model) = instance(&text, &params) else {
                continue;
            };
            let system = lower(&model, 3).expect("small enough");
            let again = |text: &str| instance(text, &params);
            for (all, (kind, engine)) in all.iter_mut().zip(engines(symmetry)) {
                match read_back(&text, &system, &*engine, &again) {
                    Ok(count) => *all += count,
                    Err(error) => panic!("{name} N={n}, {kind}, symmetry {symmetry}: {error}"),
                }
            }
        }
    }
    println!("{all:?}");
    for count in all {
        assert!(count.outlines >= 120, "{all:?}");
        assert!(count.whole * 10 >= count.outlines * 8, "{all:?}");
    }
}

#[test]
fn outlines_of_random_programs_are_true() {
    let mut all = [Count::default(); 2];
    let programs = programs(SEEDS);
    for counts in random_programs(programs, |seed, text, instance| {
        let system = lower(instance, 3).map_err(|errors| format!("{errors:?}"))?;
        let limits = Limits {
            states: Some(STATES),
            ..Limits::NONE
        };
        let known = Explicit::default().check_all(&system, &safety(&system), &limits, &mut Silent);
        let mut counts = [Count::default(); 2];
        if !known.complete {
            return Ok(counts);
        }
        let again = |text: &str| threadwise_testgen::instance(text, &[]);
        let engines = engines(!seed.is_multiple_of(4));
        for (count, (kind, engine)) in counts.iter_mut().zip(engines) {
            *count = read_back(text, &system, &*engine, &again)
                .map_err(|error| format!("{kind}: {error}"))?;
        }
        Ok(counts)
    }) {
        for (all, count) in all.iter_mut().zip(counts) {
            *all += count;
        }
    }
    println!("{all:?}");
    for count in all {
        assert!(count.outlines as u64 * 4 >= programs * 3, "{all:?}");
        assert!(count.whole * 2 >= count.outlines, "{all:?}");
    }
}

/// Diagrams have no codes for what no step writes; a reader has to be told.
#[test]
fn what_no_step_writes_is_said() {
    let text = "shared x: 0..5 = 0; shared limit: 0..100 = 2; shared a: array[P] of 0..9 = 0; shared p: P? = none;
        process P[i: 1..3] { local k: 0..7 = 0; loop { l: x := 1 - x; m: a[i] := limit; k := 1; if k > 1 { n: p := none; } } }
        invariant small: x <= 1 && p == none;";
    let instance = instance(text, &[]).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    for (kind, engine) in engines(true) {
        let outcome = engine.check_all(&system, &safety(&system), &Limits::NONE, &mut Silent);
        let outline = outcome.accounts[1].outline.as_ref().expect("a proof");
        let always = outline.always.join("\n");
        for said in [
            "x <= 1",
            "limit == 2",
            "p == none",
            "forall i in P: a[i] <= 2",
            "forall i in P: P[i].k <= 1",
        ] {
            assert!(always.contains(said), "{kind}: no {said} in\n{always}");
        }
        assert!(outline.whole, "{kind}");
    }
}

/// Proofs do not wait for outlines.
#[test]
fn without_leisure_there_is_a_proof_and_no_outline() {
    let text = "shared x: bool = true; process P { loop { l: x := true; } } invariant i: x;";
    let instance = instance(text, &[]).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let limits = Limits {
        leisure: Some(&|| false),
        ..Limits::NONE
    };
    for (kind, engine) in engines(true) {
        let outcome = engine.check_all(&system, &safety(&system), &limits, &mut Silent);
        for (answer, account) in outcome.answers.iter().zip(&outcome.accounts) {
            assert!(matches!(answer, Answer::Proved(_)), "{kind}: {answer:?}");
            assert!(account.outline.is_none(), "{kind}");
        }
    }
}

/// The outline of a property of a library model.
fn shown(engine: &dyn Engine, model: &str, n: i64, property: &str) -> String {
    let (_, text) = library()
        .into_iter()
        .find(|(name, _)| name == model)
        .expect("a model of the library");
    let instance = instance(&text, &[("N", n)]).expect("an instance");
    let system = lower(&instance, 3).expect("small enough");
    let properties = safety(&system);
    let properties: Vec<&SystemProperty> = properties
        .into_iter()
        .filter(|known| known.name == property)
        .collect();
    let outcome = engine.check_all(&system, &properties, &Limits::NONE, &mut Silent);
    let outline = outcome.accounts[0].outline.as_ref().expect("a proof");
    to_outline(outline).join("\n")
}

#[test]
fn outlines_of_known_protocols() {
    let [(_, split), (_, pairwise)] = engines(true);
    for (model, n, property) in [
        ("mux_sem_last", 4, "mutex"),
        ("mux_sem", 4, "mutex"),
        ("mux_sem_count", 3, "mutex"),
        ("test_and_set", 3, "mutex"),
        ("bakery", 3, "mutex"),
        ("dining", 3, "neighbours"),
    ] {
        insta::assert_snapshot!(model, shown(&*split, model, n, property));
    }
    for (model, n, property) in [
        ("mux_sem", 4, "mutex"),
        ("test_and_set", 3, "mutex"),
        ("bakery", 3, "mutex"),
        ("dining", 3, "neighbours"),
        ("wrong_dining", 5, "neighbours"),
        ("readers_writers", 3, "exclusion"),
    ] {
        let name = format!("{model}_pairwise");
        insta::assert_snapshot!(name, shown(&*pairwise, model, n, property));
    }
}

/// In the library there are proofs by relations between locals, which the outlines of `cartesian` do not show.
#[test]
fn relations_that_are_not_shown_are_said_to_be_left_out() {
    let engine = Cartesian {
        exceptions: Exceptions::Computed,
        explain: true,
        certificates: false,
    };
    for (model, property) in [("test_and_set", "mutex"), ("ticket_lock", "mutex")] {
        let lines = shown(&engine, model, 2, property);
        for said in [
            "combinations of all variables",
            "left out of what always holds",
        ] {
            assert!(lines.contains(said), "{model}: no {said} in\n{lines}");
        }
    }
}
