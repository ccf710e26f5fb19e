//! Real proofs with something changed, and proofs that are held against programs with something changed. The checker refuses them, or
//! what they claim is true all the same: of a program that was changed, explicit search says whether it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadwise_certify::check_family;
use threadwise_evidence::arithmetic::{Atom, Formula, Proof};
use threadwise_evidence::family::{Arrivals, Condition, Excluded, Fact, FamilyClaim, Queue};
use threadwise_evidence::{Certificate, Claim};
use threadwise_lang::program::Program;
use threadwise_lang::syntax::parse;
use threadwise_param::engine::Way;
use threadwise_testgen::parametric::{generate, verdicts};
use threadwise_testgen::random::Random;
use threadwise_testgen::{library_for_all, variants_for_all};

use crate::engines::common::{BUDGET, Verdict, contradiction, decide, program, properties};

/// A proof of a program's property.
struct Source {
    name: String,
    text: String,
    program: Arc<Program>,
    certificate: Certificate,
}

/// The proofs that are found of programs without much ado.
fn sources(
    way: Way,
    programs: impl IntoIterator<Item = (String, String)>,
    budget: u64,
) -> Vec<Source> {
    let mut sources = Vec::new();
    for (name, text) in programs {
        let verdicts = decide(way, &text, budget);
        let verdicts = verdicts.unwrap_or_else(|error| panic!("{name}: {error}"));
        for verdict in verdicts.into_values() {
            if let Verdict::Proved(certificate, _) = verdict {
                sources.push(Source {
                    name: name.clone(),
                    text: text.clone(),
                    program: program(&text).expect("a program"),
                    certificate: *certificate,
                });
            }
        }
    }
    sources
}

/// Programs of the library that are quickly proved, and the right ones among the variants.
fn known() -> Vec<(String, String)> {
    let quick = [
        "bakery",
        "fkp2014",
        "parent_child",
        "ppmm",
        "readflag",
        "semaphore",
        "spin2003",
        "stack",
        "ticket_lock",
    ];
    let library = library_for_all().into_iter();
    let library = library.filter(|(name, _)| quick.contains(&name.as_str()));
    let variants = variants_for_all().into_iter();
    let right = variants.filter(|(name, _)| name.starts_with("right_"));
    library.chain(right).collect()
}

/// The first inequality of a formula.
fn first(formula: &mut Formula) -> Option<&mut Atom> {
    match formula {
        Formula::Atom(atom) => Some(atom),
        Formula::And(members) | Formula::Or(members) => members.iter_mut().find_map(first),
    }
}

/// The claim without an assertion. The proofs about it go as well, and the others keep theirs.
fn without(claim: &FamilyClaim, view: usize, gone: usize) -> FamilyClaim {
    let mut claim = claim.clone();
    claim.views[view].assertions.remove(gone);
    claim
        .proofs
        .retain_mut(|listed| match &mut listed.condition {
            Condition::Initial {
                view: of,
                assertion,
            }
            | Condition::Step {
                view: of,
                assertion,
                ..
            } if *of == view && *assertion >= gone => {
                let kept = *assertion > gone;
                *assertion -= usize::from(kept);
                kept
            }
            _ => true,
        });
    claim
}

/// Changes the first leaf of a proof that fits.
fn change(proof: &mut Proof, change_one: &dyn Fn(&mut Proof) -> bool) -> bool {
    if change_one(proof) {
        return true;
    }
    match proof {
        Proof::Split { holds, fails, .. } => change(holds, change_one) || change(fails, change_one),
        _ => false,
    }
}

/// Everything that is done to a claim, by name.
fn damages(claim: &FamilyClaim) -> Vec<(&'static str, FamilyClaim)> {
    let mut damaged = Vec::new();
    let with = |edit: &dyn Fn(&mut FamilyClaim) -> bool| {
        let mut claim = claim.clone();
        edit(&mut claim).then_some(claim)
    };
    let mut add = |name, claim: Option<FamilyClaim>| damaged.extend(claim.map(|c| (name, c)));
    for (view, claimed) in claim.views.iter().enumerate() {
        for assertion in 0..claimed.assertions.len() {
            add("assertion removed", Some(without(claim, view, assertion)));
            for (name, by) in [("assertion strengthened", 1), ("assertion weakened", -1)] {
                let edit = |claim: &mut FamilyClaim| {
                    let atom = first(&mut claim.views[view].assertions[assertion]);
                    atom.is_some_and(|atom| {
                        atom.constant += by;
                        true
                    })
                };
                add(name, with(&edit));
            }
            let edit = |claim: &mut FamilyClaim| {
                let formula = &mut claim.views[view].assertions[assertion];
                let negation = formula.negation();
                negation.map(|negation| *formula = negation).is_ok()
            };
            add("assertion negated", with(&edit));
        }
        if let Some(next) = claim.views.get(view + 1)
            && next.references.len() == claimed.references.len()
            && next.assertions != claimed.assertions
        {
            let edit = |claim: &mut FamilyClaim| {
                let (before, after) = claim.views.split_at_mut(view + 1);
                std::mem::swap(&mut before[view].references, &mut after[0].references);
                true
            };
            add("labels swapped", with(&edit));
        }
    }
    for listed in 0..claim.proofs.len() {
        let removed = |claim: &mut FamilyClaim| {
            claim.proofs.remove(listed);
            true
        };
        add("proof removed", with(&removed));
        let obvious = |claim: &mut FamilyClaim| {
            claim.proofs[listed].proof = Proof::Obvious;
            true
        };
        add("proof made obvious", with(&obvious));
        let factor = |claim: &mut FamilyClaim| {
            change(&mut claim.proofs[listed].proof, &|proof| match proof {
                Proof::Sum(summands) if summands.len() > 1 => {
                    summands[0].1.push('0');
                    true
                }
                _ => false,
            })
        };
        add("factor changed", with(&factor));
        let summand = |claim: &mut FamilyClaim| {
            change(&mut claim.proofs[listed].proof, &|proof| match proof {
                Proof::Sum(summands) => summands.pop().is_some(),
                _ => false,
            })
        };
        add("summand removed", with(&summand));
        let cases = |claim: &mut FamilyClaim| {
            change(&mut claim.proofs[listed].proof, &|proof| match proof {
                Proof::Split { holds, .. } => {
                    *proof = std::mem::take(holds);
                    true
                }
                _ => false,
            })
        };
        add("case removed", with(&cases));
    }
    for position in 1..claim.variables.len() {
        let edit = |claim: &mut FamilyClaim| {
            claim.variables.swap(position - 1, position);
            true
        };
        add("names swapped", with(&edit));
    }
    for counted in 0..claim.counted.len() {
        let edit = |claim: &mut FamilyClaim| {
            let atom = first(&mut claim.counted[counted].predicate);
            atom.is_some_and(|atom| {
                atom.constant += 1;
                true
            })
        };
        add("predicate changed", with(&edit));
    }
    damaged
}

#[test]
fn damaged_proofs_are_refused() {
    let mut tally: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in sources(Way::COUNTER, known(), BUDGET / 8) {
        let certificate = &source.certificate;
        let Claim::Family(claim) = &certificate.claim else {
            panic!("{}: another kind of claim", source.name);
        };
        let all = damages(claim);
        // A large claim has so many of a kind that some of them are enough.
        let mut of_kind: BTreeMap<&str, usize> = BTreeMap::new();
        for (kind, _) in &all {
            *of_kind.entry(kind).or_default() += 1;
        }
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (kind, claim) in all {
            let number = seen.entry(kind).or_default();
            *number += 1;
            if !number.is_multiple_of(of_kind[kind].div_ceil(8)) {
                continue;
            }
            let mut damaged = certificate.clone();
            damaged.claim = Claim::Family(Box::new(claim));
            let property = &damaged.property;
            let checked = check_family(&source.program, &damaged, property, &|| false);
            let (refused, accepted) = tally.entry(kind).or_default();
            *(if checked.is_err() { refused } else { accepted }) += 1;
        }
    }
    let total: usize = tally.values().map(|(refused, _)| refused).sum();
    assert!(tally.len() >= 11 && total >= 500, "{tally:?}");
    for (kind, (refused, accepted)) in &tally {
        // What is weaker is often as good, and two names may be of variables that matter alike.
        let share = match *kind {
            "assertion weakened" => 50,
            "names swapped" => 80,
            _ => 90,
        };
        let all = refused + accepted;
        assert!(
            refused * 100 >= all * share,
            "{kind}: {refused} of {all} refused"
        );
    }
}

/// What a token becomes.
fn replaced(token: &str) -> Option<String> {
    Some(match token {
        "==" => "<=".to_owned(),
        "!=" => "==".to_owned(),
        "<" => "<=".to_owned(),
        "<=" => "<".to_owned(),
        ">" => ">=".to_owned(),
        ">=" => ">".to_owned(),
        "&&" => "||".to_owned(),
        "||" => "&&".to_owned(),
        "+" => "-".to_owned(),
        "-" => "+".to_owned(),
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        "forall" => "exists".to_owned(),
        "exists" => "forall".to_owned(),
        "max" => "min".to_owned(),
        "atomic" => String::new(),
        "N" => "M".to_owned(),
        number => (number.parse::<i64>().ok()? + 1).to_string(),
    })
}

/// The program with one thing changed, in every way: a token, a guard or `where` left out.
fn changed(text: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let tokens = parse(text).tree.descendants_with_tokens();
    for token in tokens.filter_map(|element| element.into_token()) {
        let (start, end) = (
            usize::from(token.text_range().start()),
            usize::from(token.text_range().end()),
        );
        if token.kind().is_trivia() {
            continue;
        }
        if let Some(other) = replaced(token.text()) {
            texts.push(format!("{}{other}{}", &text[..start], &text[end..]));
        }
        let until = text[start..].find(';').map(|length| start + length);
        let rest = match (token.text(), until) {
            ("await", Some(until)) => Some(format!("skip{}", &text[until..])),
            ("where", Some(until)) => Some(text[until..].to_owned()),
            _ => None,
        };
        texts.extend(rest.map(|rest| format!("{}{rest}", &text[..start])));
    }
    texts
}

/// Holds proofs against changed programs; how many are refused, accepted, and how many of the refused ones are wrong indeed.
fn against_changes(sources: &[Source], most: usize) -> (usize, usize, usize) {
    let (mut refused, mut accepted, mut wrong) = (0, 0, 0);
    for (seed, source) in sources.iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let texts = changed(&source.text);
        for _ in 0..most {
            let Some(text) = random.one(&texts) else {
                break;
            };
            let Some(program) = program(text) else {
                continue;
            };
            let property = &source.certificate.property;
            if !properties(&program).contains(property) {
                continue;
            }
            let checked = check_family(&program, &source.certificate, property, &|| false);
            let true_of_all = match verdicts(text, 4, 2_000, true) {
                Ok(instances) => contradiction(property, &instances),
                Err(_) => continue,
            };
            match (checked, true_of_all) {
                (Ok(_), Err(error)) => {
                    panic!("{}: accepted, but {error}, of\n{text}", source.name)
                }
                (Ok(_), Ok(())) => accepted += 1,
                (Err(_), Ok(())) => refused += 1,
                (Err(_), Err(_)) => {
                    refused += 1;
                    wrong += 1;
                }
            }
        }
    }
    (refused, accepted, wrong)
}

#[test]
fn proofs_of_changed_programs_are_refused() {
    let (refused, accepted, wrong) =
        against_changes(&sources(Way::COUNTER, known(), BUDGET / 8), 12);
    let exercised = refused >= 100 && accepted >= 100 && wrong >= 60;
    assert!(exercised, "{refused}, {wrong} of them wrong; {accepted}");
}

#[test]
fn proofs_of_changed_random_programs_are_refused() {
    let programs = threadwise_testgen::sweep::programs(30);
    let random = (0..programs).map(|seed| (seed.to_string(), generate(seed)));
    let (refused, accepted, wrong) = against_changes(&sources(Way::COUNTER, random, 600), 4);
    // So many of each thirty.
    let of = |thirty: usize| thirty * programs as usize / 30;
    let exercised = refused >= of(12) && accepted >= of(40) && wrong >= of(5);
    assert!(exercised, "{refused}, {wrong} of them wrong; {accepted}");
}

/// Programs with proofs by excluded situations.
fn with_situations() -> Vec<(String, String)> {
    let quick = [
        "bakery",
        "dining",
        "german",
        "mux_sem",
        "mux_sem_count",
        "readers_writers",
        "test_and_set",
    ];
    let finite = threadwise_testgen::library().into_iter();
    let finite = finite.filter(|(name, _)| quick.contains(&name.as_str()));
    let variants = variants_for_all().into_iter();
    let right = variants.filter(|(name, _)| name.starts_with("right_"));
    finite.chain(right).collect()
}

/// Everything that is done to excluded situations, by name.
fn damages_of_situations(excluded: &[Excluded]) -> Vec<(&'static str, Vec<Excluded>)> {
    let mut damaged = Vec::new();
    for number in 0..excluded.len() {
        let mut without = excluded.to_vec();
        without.remove(number);
        damaged.push(("situation removed", without));
        for fact in 0..excluded[number].facts.len() {
            let mut add = |name, edit: &dyn Fn(&mut Vec<Fact>) -> bool| {
                let mut other = excluded.to_vec();
                if edit(&mut other[number].facts) {
                    damaged.push((name, other));
                }
            };
            add("fact removed", &|facts| {
                facts.remove(fact);
                true
            });
            add("value removed", &|facts| match &mut facts[fact] {
                Fact::At { labels, .. } if labels.len() > 1 => labels.pop().is_some(),
                Fact::Value { values, .. } if values.len() > 1 => values.pop().is_some(),
                Fact::Id {
                    references, other, ..
                }
                | Fact::Beside {
                    references, other, ..
                } if *other => references.pop().is_some(),
                _ => false,
            });
            add("turned", &|facts| match &mut facts[fact] {
                Fact::Value { values, .. } if values.len() == 1 => {
                    values[0] = 1 - values[0];
                    true
                }
                Fact::Id { none, other, .. } => {
                    (*none, *other) = (!*none, !*other);
                    true
                }
                Fact::Before { first, second } => {
                    std::mem::swap(first, second);
                    true
                }
                Fact::First { holds, .. } | Fact::Last { holds, .. } => {
                    *holds = !*holds;
                    true
                }
                Fact::Beside { forward, .. } => {
                    *forward = !*forward;
                    true
                }
                Fact::Came { first, second, .. } => {
                    std::mem::swap(first, second);
                    true
                }
                _ => false,
            });
            add("no such name", &|facts| {
                match &mut facts[fact] {
                    Fact::At { labels, .. } => labels.push("nowhere".to_owned()),
                    Fact::Value { cell, .. } | Fact::Id { cell, .. } => cell.push_str("[7]"),
                    Fact::Before { second, .. } | Fact::Came { second, .. } => *second = 77,
                    Fact::First { reference, .. }
                    | Fact::Last { reference, .. }
                    | Fact::Beside { reference, .. } => *reference = 77,
                }
                true
            });
        }
    }
    damaged
}

#[test]
fn damaged_situations_are_refused() {
    let mut tally: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in sources(Way::Cubes, with_situations(), BUDGET / 8) {
        let certificate = &source.certificate;
        let Claim::Family(claim) = &certificate.claim else {
            panic!("{}: another kind of claim", source.name);
        };
        let excluded = claim.excluded.clone().unwrap_or_default();
        for (kind, excluded) in damages_of_situations(&excluded) {
            let mut damaged = certificate.clone();
            damaged.claim = Claim::Family(Box::new(FamilyClaim {
                excluded: Some(excluded),
                ..(**claim).clone()
            }));
            let property = &damaged.property;
            let checked = check_family(&source.program, &damaged, property, &|| false);
            let (refused, accepted) = tally.entry(kind).or_default();
            *(if checked.is_err() { refused } else { accepted }) += 1;
        }
    }
    let total: usize = tally.values().map(|(refused, _)| refused).sum();
    assert!(tally.len() == 5 && total >= 200, "{tally:?}");
    for (kind, (refused, accepted)) in &tally {
        // Values are as many as samples allow, so with one less it is often as good a proof; what is removed is sometimes not needed, and what is turned is sometimes as true.
        let share = match *kind {
            "no such name" => 100,
            "value removed" => 20,
            _ => 70,
        };
        let all = refused + accepted;
        assert!(
            refused * 100 >= all * share,
            "{kind}: {refused} of {all} refused"
        );
    }
}

/// Programs in which it matters who came first.
fn with_queues() -> Vec<(String, String)> {
    let finite = threadwise_testgen::library().into_iter();
    let finite = finite.filter(|(name, _)| name == "mcs_lock");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/any/protocols");
    let once = std::fs::read_to_string(format!("{folder}/right_clh_once.tw")).expect("a text");
    finite
        .chain([("right_clh_once".to_owned(), once)])
        .collect()
}

fn variant(name: &str) -> String {
    let mut variants = variants_for_all().into_iter();
    variants.find(|(known, _)| known == name).expect(name).1
}

/// What is claimed of neighbours in every state follows from no situations where it is true of every ring, and nowhere else.
#[test]
fn what_is_true_of_some_rings_is_refused() {
    for (name, right) in [("right_ring", true), ("wrong_ring", false)] {
        let sources = sources(Way::Cubes, [(name.to_owned(), variant(name))], BUDGET / 8);
        let checks = sources
            .iter()
            .find(|source| source.certificate.property == "checks");
        let checks = checks.expect("a proof");
        let mut asked = 0;
        for property in properties(&checks.program) {
            let mut certificate = checks.certificate.clone();
            certificate.property.clone_from(&property);
            let checked = check_family(&checks.program, &certificate, &property, &|| false);
            let expected = right || property == "checks";
            assert_eq!(checked.is_ok(), expected, "{name}: {property}: {checked:?}");
            asked += 1;
        }
        assert!(asked >= 9, "{name}: {asked}");
    }
}

/// Situations of two processes in a queue, and whether they are as they are claimed to be.
#[test]
fn who_came_first_is_as_steps_make_it() {
    let sources = sources(Way::Cubes, with_queues(), BUDGET / 8);
    let mutex = sources
        .iter()
        .find(|source| source.name == "right_clh_once" && source.certificate.property == "checks");
    let source = mutex.expect("a proof");
    let Claim::Family(claim) = &source.certificate.claim else {
        panic!("another kind of claim");
    };
    let known = claim.excluded.clone().unwrap_or_default();
    let at = |reference: usize, label: &str| Fact::At {
        reference,
        labels: vec![label.to_owned()],
    };
    let came = |(first, second): (usize, usize), [before, after, apart]: [bool; 3]| Fact::Came {
        first,
        second,
        before,
        after,
        apart,
    };
    let tail = |who: usize| Fact::Id {
        cell: "tail".to_owned(),
        none: false,
        references: vec![who],
        other: false,
    };
    let (before, after) = ([true, false, false], [false, true, false]);
    let apart = [false, false, true];
    let claims = [
        (
            true,
            vec![at(0, "wait"), at(1, "critical"), came((0, 1), apart)],
        ),
        (true, vec![at(0, "idle"), came((0, 1), [true, true, false])]),
        (true, vec![tail(0), came((0, 1), before)]),
        (true, vec![tail(0), came((1, 0), after)]),
        (false, vec![tail(0), came((0, 1), after)]),
        (false, vec![tail(1), came((0, 1), before)]),
        (
            false,
            vec![at(0, "wait"), at(1, "wait"), came((0, 1), before)],
        ),
        (
            false,
            vec![at(0, "wait"), at(1, "wait"), came((0, 1), after)],
        ),
        (false, vec![at(0, "wait"), came((0, 1), apart)]),
        (false, vec![came((0, 1), [true, false, true])]),
        (false, vec![came((0, 0), before)]),
    ];
    let order = Queue {
        template: "P".to_owned(),
        labels: ["wait", "critical", "leave", "done"]
            .map(str::to_owned)
            .to_vec(),
    };
    for (number, (expected, facts)) in claims.into_iter().enumerate() {
        let situation = Excluded {
            references: vec!["P".to_owned(); 2],
            facts,
        };
        let mut certificate = source.certificate.clone();
        certificate.claim = Claim::Family(Box::new(FamilyClaim {
            arrivals: Some(Box::new(Arrivals(vec![order.clone()]))),
            excluded: Some(known.iter().cloned().chain([situation]).collect()),
            ..(**claim).clone()
        }));
        let property = &certificate.property;
        let checked = check_family(&source.program, &certificate, property, &|| false);
        assert_eq!(checked.is_ok(), expected, "{number}: {checked:?}");
    }
}

#[test]
fn damaged_orders_of_arrival_are_refused() {
    let (mut refused, mut accepted) = (0, 0);
    for source in sources(Way::Cubes, with_queues(), BUDGET) {
        let certificate = &source.certificate;
        let property = &certificate.property;
        let Claim::Family(claim) = &certificate.claim else {
            panic!("{}: another kind of claim", source.name);
        };
        let arrivals = claim.arrivals.as_ref();
        let Some(queue) = arrivals.and_then(|arrivals| arrivals.0.first()) else {
            continue;
        };
        let check = |queues: Vec<Queue>| {
            let mut damaged = certificate.clone();
            damaged.claim = Claim::Family(Box::new(FamilyClaim {
                arrivals: Some(Box::new(Arrivals(queues))),
                ..(**claim).clone()
            }));
            check_family(&source.program, &damaged, property, &|| false)
        };
        let template = &source.program.templates.raw[0];
        let entry = template.locations[template.entry].name.clone();
        let with = |label: &str| {
            let mut queue = queue.clone();
            queue.labels.push(label.to_owned());
            vec![queue]
        };
        // Nobody is in order, who begins is, there is no such label or template, the labels are the others.
        assert!(check(Vec::new()).is_err(), "{}", source.name);
        assert!(check(with(&entry)).is_err(), "{}", source.name);
        assert!(check(with("nowhere")).is_err(), "{}", source.name);
        let mut other = queue.clone();
        other.template = "Nobody".to_owned();
        assert!(check(vec![other]).is_err(), "{}", source.name);
        let outside = template.locations.iter().map(|location| &location.name);
        let outside = outside.filter(|name| !queue.labels.contains(name) && **name != entry);
        let turned = Queue {
            labels: outside.cloned().collect(),
            ..queue.clone()
        };
        assert!(check(vec![turned]).is_err(), "{}", source.name);
        for gone in 0..queue.labels.len() {
            let mut less = queue.clone();
            less.labels.remove(gone);
            match check(vec![less]) {
                Ok(_) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
        // An order is for situations.
        let mut views = certificate.clone();
        views.claim = Claim::Family(Box::new(FamilyClaim {
            excluded: None,
            ..(**claim).clone()
        }));
        assert!(check_family(&source.program, &views, property, &|| false).is_err());
    }
    // Of a label that a process only passes, the order is not needed.
    assert!(refused >= 8 && refused > accepted, "{refused}, {accepted}");
}

#[test]
fn situations_of_changed_programs_are_refused() {
    let programs = with_situations().into_iter().chain(with_queues());
    let sources = sources(Way::Cubes, programs, BUDGET / 8);
    let (refused, accepted, wrong) = against_changes(&sources, 12);
    let exercised = refused >= 60 && accepted >= 60 && wrong >= 30;
    assert!(exercised, "{refused}, {wrong} of them wrong; {accepted}");
}

#[test]
fn situations_of_changed_random_programs_are_refused() {
    let programs = threadwise_testgen::sweep::programs(30);
    let random = (0..programs).map(|seed| (seed.to_string(), generate(seed)));
    let (refused, accepted, wrong) = against_changes(&sources(Way::Cubes, random, 600), 4);
    // So many of each thirty.
    let of = |thirty: usize| thirty * programs as usize / 30;
    let exercised = refused >= of(8) && accepted >= of(20) && wrong >= of(3);
    assert!(exercised, "{refused}, {wrong} of them wrong; {accepted}");
}
