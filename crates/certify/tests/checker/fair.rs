//! Proofs that no fair run violates a property: those that enumeration finds are accepted, and damaged ones are judged as by
//! enumeration, by both methods.

use std::collections::BTreeMap;

use crate::checker::support::damage::{changed, child_at, children, replace};
use crate::checker::support::fair::{Product, claim, judge};
use crate::checker::support::{State, check, graph, plain, reachable, universe};
use threadwise_certify::{Condition, Error, FairFault, Method, check_with};
use threadwise_conditions::smtlib;
use threadwise_evidence::certificate::{Duty, FairClaim, FairProof, Layer};
use threadwise_evidence::dag::{Child, Dag};
use threadwise_evidence::{Certificate, Claim};
use threadwise_model::instance::Instance;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_model::temporal::Liveness;
use threadwise_testgen::random::Random;

/// Programs with all kinds of assumptions and formulas; all properties hold.
const PROGRAMS: [&str; 7] = [
    // Strong fairness.
    "shared x: bool = true;
     process P[i: 1..2] { loop { idle: stay; request: atomic { await x; x := false; } critical: x := true; } }
     fairness scheduling: unconditional;
     fairness entry: strong forall i in P: if P[i] at request && x then P[i] at critical;
     liveness access under scheduling, entry: forall i in P: G (P[i] at request -> F P[i] at critical);",
    // Steps, and whether they can be taken.
    "shared x: bool = true;
     process P[i: 1..2] { loop { idle: skip; request: atomic { await x; x := false; } critical: x := true; } }
     fairness scheduling: unconditional;
     fairness entry: strong forall i in P: if enabled(P[i], request) then taken(P[i], request);
     fairness justice: weak forall i in P: !enabled(P[i], idle) || taken(P[i], idle);
     liveness access under scheduling, entry, justice: forall i in P: G (P[i] at request -> F P[i] at critical);",
    // Alternatives.
    "shared x: 0..3 = 0;
     process A { loop { a: x := (x + 1) % 4; } }
     process B { loop { b: stay; } }
     fairness either: unconditional or weak (x == 3), weak (x == 1);
     liveness round under either: G F (x == 2);
     liveness strict under either: (G F (x == 3)) && G (x == 1 -> X ((x == 1) U (x == 2)));",
    // The next state, and no fairness at all.
    "shared x: 0..2 = 0;
     process A { loop { a: x := (x + 1) % 3; } }
     liveness next: G (x == 0 -> X (x == 1 && X (x == 2)));
     liveness twice: G (x == 0 -> X X X (x == 0)) && !F G (x == 1);",
    // Processes end, and then do nothing.
    "shared x: 0..3 = 0;
     process P[i: 1..2] { a: x := x + 1; b: skip; }
     fairness scheduling: unconditional;
     liveness ends under scheduling: F (forall i in P: P[i] at done) && F G (x == 2);
     liveness ordered under scheduling: (x <= 1) W (x == 2);",
    // A choice and a check that fails.
    "shared x: 0..3 = 0;
     process P { loop { a: choose v in 0..3 { x := v; } b: assert x != 3; c: skip; } }
     process Q { loop { d: await x == 1; e: skip; } }
     fairness lucky: unconditional;
     fairness often: strong if x == 2 then x == 1, weak P at a;
     liveness passed under lucky, often: G (x == 2 -> F (x == 1 || x == 0));
     liveness never under lucky: G (x != 3) || F P at b;",
    // Initial values that are open, and a formula that is true of some of them at once.
    "shared x: bool = any; shared y: 0..2 = any;
     process P[i: 1..2] { loop { a: atomic { await y > 0; y := y - 1; } } }
     fairness scheduling: unconditional;
     liveness down under scheduling: x || F G (y == 0);
     liveness nothing: F x || G !x;",
];

struct Subject {
    instance: Instance,
    system: System,
    name: String,
    liveness: Liveness,
    universe: Vec<State>,
    claim: FairClaim,
}

impl Subject {
    fn certificate(&self, claim: FairClaim) -> Certificate {
        Certificate::fair(&self.system, &self.name, claim)
    }

    /// Has the checker and the oracle judge, and compares; whether they accept.
    fn judge(&self, claim: FairClaim) -> Option<Result<bool, String>> {
        let certificate = self.certificate(claim.clone());
        let certificate = Certificate::from_json(&certificate.to_json()).expect("well-formed");
        let expected = judge(&self.system, &self.universe, &self.liveness, &claim)?;
        let answer = check(&self.instance, &certificate, &self.name, &|| false);
        Some(match (&expected, &answer) {
            (Ok(()), Ok(_)) => Ok(true),
            (Err(_), Err(Error::Rejected(_) | Error::NoProof(_) | Error::Mismatch(_))) => Ok(false),
            _ => Err(format!("{}: {expected:?} but {answer:?}", self.name)),
        })
    }
}

/// The liveness properties of a program, with the proofs that enumeration finds.
fn subjects(instance: &Instance, by_movers: bool) -> Vec<(Subject, bool)> {
    let system = plain(instance);
    let mut subjects = Vec::new();
    if system.templates.iter().any(|template| template.dynamic) {
        return subjects;
    }
    let (Some(states), Some(universe)) = (reachable(&system, 500), universe(&system, 20_000))
    else {
        return subjects;
    };
    let Some(dag) = graph(&system, &states) else {
        return subjects;
    };
    for property in &system.properties {
        let SystemPropertyKind::Liveness(liveness) = &property.kind else {
            continue;
        };
        let found = claim(&system, liveness, (&states, dag.clone()), by_movers);
        if let Some((claim, proved)) = found {
            let subject = Subject {
                instance: instance.clone(),
                system: plain(instance),
                name: property.name.clone(),
                liveness: liveness.clone(),
                universe: universe.clone(),
                claim,
            };
            subjects.push((subject, proved));
        }
    }
    subjects
}

fn programs() -> Vec<Instance> {
    let instance = |text: &&str| threadwise_testgen::instance(text, &[]);
    PROGRAMS
        .iter()
        .map(|text| instance(text).unwrap_or_else(|error| panic!("{text}: {error}")))
        .collect()
}

#[test]
fn what_enumeration_proves_is_accepted() {
    let mut count = 0;
    for instance in programs() {
        for by_movers in [false, true] {
            for (subject, proved) in subjects(&instance, by_movers) {
                assert!(proved, "{}", subject.name);
                let accepted = subject.judge(subject.claim.clone());
                assert_eq!(accepted, Some(Ok(true)), "{}", subject.name);
                count += 1;
            }
        }
    }
    assert_eq!(count, 24);
}

/// A graph with one child changed.
fn damaged(dag: &Dag, random: &mut Random) -> Dag {
    if dag.is_empty() {
        return Dag::leaf(dag.root() == Child::FALSE);
    }
    let (at, value) = child_at(dag, random.below(children(dag)));
    let child = match random.below(3) {
        0 => Child::TRUE,
        1 => Child::FALSE,
        _ => Child::to_node(random.below(at.max(1)) as u32),
    };
    changed(dag, |position, _, runs| {
        if position == at && child.node().is_none_or(|child| child < at) {
            replace(runs, value, child);
        }
    })
}

/// The kinds of damage.
const CLASSES: [&str; 14] = [
    "a layer is dropped",
    "layers change places",
    "a layer is doubled",
    "a set is damaged",
    "another duty",
    "another kind of layer",
    "another term",
    "the start is damaged",
    "the start is all states",
    "the invariant is damaged",
    "a proof is missing",
    "another conjunct",
    "another alternative",
    "another mover",
];

fn set_of(layer: &mut Layer) -> &mut Dag {
    match layer {
        Layer::Stuck { remove } | Layer::Unfair { remove, .. } => remove,
        Layer::Strong { within, .. } => within,
    }
}

/// Damages a claim; nothing if there is nothing to damage.
fn damage(subject: &Subject, class: usize, random: &mut Random) -> Option<FairClaim> {
    let mut claim = subject.claim.clone();
    let number = random.below(claim.proofs.len());
    let proof: &mut FairProof = claim.proofs.get_mut(number)?;
    let layers = &mut proof.layers;
    let at = random.below(layers.len());
    let terms = subject.liveness.fairness[proof.alternative].len();
    let duty = |random: &mut Random| match random.below(4) {
        0 => Duty::Mover,
        1 => Duty::Obligation(random.below(3)),
        _ => Duty::Term(random.below(terms + 1)),
    };
    match class {
        0 if !layers.is_empty() => drop(layers.remove(at)),
        1 if layers.len() > 1 => {
            let other = random.below(layers.len());
            layers.swap(at, other);
        }
        2 if !layers.is_empty() => {
            let layer = layers[at].clone();
            layers.insert(random.below(layers.len()), layer);
        }
        3 => {
            let set = set_of(layers.get_mut(at)?);
            *set = damaged(set, random);
        }
        4 | 5 => {
            let layer = layers.get_mut(at)?;
            let set = set_of(layer).clone();
            *layer = match (class == 4, random.below(3)) {
                (true, _) | (false, 0) => Layer::Unfair {
                    lacks: duty(random),
                    remove: set,
                },
                (false, 1) => Layer::Stuck { remove: set },
                (false, _) => Layer::Strong {
                    term: random.below(terms + 1),
                    within: set,
                },
            };
        }
        6 => match layers.get_mut(at)? {
            Layer::Strong { term, .. } => *term = random.below(terms + 1),
            Layer::Unfair { lacks, .. } => *lacks = Duty::Term(random.below(terms + 1)),
            Layer::Stuck { .. } => return None,
        },
        7 => proof.start = damaged(&proof.start, random),
        8 => proof.start = Dag::leaf(true),
        9 => claim.invariant[0] = damaged(&claim.invariant[0], random),
        10 => drop(claim.proofs.remove(number)),
        11 => proof.conjunct = random.below(3),
        12 => proof.alternative = random.below(3),
        13 => {
            proof.mover = match random.below(3) {
                0 => None,
                1 => Some("P[1]".to_owned()),
                _ => Some("P[2]".to_owned()),
            }
        }
        _ => return None,
    }
    Some(claim)
}

#[test]
fn damaged_proofs_are_judged_as_by_enumeration() {
    let mut random = Random::new(6);
    let mut counts: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    for instance in programs() {
        for by_movers in [false, true] {
            for (subject, _) in subjects(&instance, by_movers) {
                for (class, what) in CLASSES.iter().enumerate() {
                    for _ in 0..4 {
                        let Some(claim) = damage(&subject, class, &mut random) else {
                            continue;
                        };
                        let answer = subject.judge(claim).expect("small");
                        let answer = answer.unwrap_or_else(|error| panic!("{what}: {error}"));
                        counts.entry(class).or_default()[usize::from(answer)] += 1;
                    }
                }
            }
        }
    }
    for (class, [refused, accepted]) in counts {
        println!("{}: {refused} refused, {accepted} accepted", CLASSES[class]);
        assert!(refused >= 5, "{}: {refused}", CLASSES[class]);
    }
}

/// A program with two processes that do something to two small variables, with assumptions and a property.
fn random_program(random: &mut Random) -> String {
    let pick = |random: &mut Random, texts: &[&str]| random.one(texts).map_or("", |t| t).to_owned();
    let some = |random: &mut Random| {
        let atoms = [
            "x == 0",
            "x == 1",
            "x != 2",
            "y",
            "!y",
            "P[1] at a",
            "P[2] at b",
            "P[1] at b",
            "true",
            "taken(P[1], a)",
            "enabled(P[2], b)",
            "P[2] at a && x == 1",
        ];
        format!("({})", pick(random, &atoms))
    };
    let step = |random: &mut Random| {
        let steps = [
            "x := (x + 1) % 3;",
            "atomic { await y; y := false; }",
            "y := true;",
            "y := !y;",
            "atomic { await x == 1; x := 0; }",
            "stay;",
            "skip;",
            "choose v in 0..1 { x := v; }",
            "await x != 2;",
            "assert x < 2 || y;",
        ];
        pick(random, &steps)
    };
    let (first, second) = (step(random), step(random));
    let mut text = format!(
        "shared x: 0..2 = 0; shared y: bool = true;\n\
         process P[i: 1..2] {{ loop {{ a: {first} b: {second} }} }}\n"
    );
    let mut under = Vec::new();
    if random.percent(70) {
        text.push_str("fairness f: unconditional;\n");
        under.push("f");
    }
    if random.percent(40) {
        let (p, q, e) = (some(random), some(random), some(random));
        let other = if random.percent(30) {
            format!(" or weak {e}")
        } else {
            String::new()
        };
        text.push_str(&format!("fairness g: strong if {p} then {q}{other};\n"));
        under.push("g");
    }
    if random.percent(20) {
        text.push_str(&format!("fairness h: weak {};\n", some(random)));
        under.push("h");
    }
    let (p, q, r) = (some(random), some(random), some(random));
    let formula = match random.below(7) {
        0 => format!("G ({p} -> F {q})"),
        1 => format!("G F {p}"),
        2 => format!("F G {p} || G F {q}"),
        3 => format!("G ({p} -> X ({q} || F {r}))"),
        4 => format!("{p} W {q}"),
        5 => format!("G F {p} -> G F {q}"),
        _ => format!("({p} U {q}) || G ({r} -> F {p})"),
    };
    let under = match under.is_empty() {
        true => String::new(),
        false => format!(" under {}", under.join(", ")),
    };
    format!("{text}liveness l{under}: {formula};\n")
}

#[test]
fn random_programs_are_judged_as_by_enumeration() {
    // Accepted and refused, as they are and damaged.
    let mut counts = [0usize; 4];
    let programs = threadwise_testgen::sweep::programs(50);
    for seed in 0..programs {
        let mut random = Random::new(seed);
        let text = random_program(&mut random);
        let instance = threadwise_testgen::instance(&text, &[]);
        let instance = instance.unwrap_or_else(|error| panic!("{text}: {error}"));
        for (subject, proved) in subjects(&instance, random.percent(50)) {
            match subject.judge(subject.claim.clone()) {
                Some(Ok(accepted)) if accepted == proved => counts[usize::from(!accepted)] += 1,
                other => panic!("seed {seed}: {proved} but {other:?}\n{text}"),
            }
            for _ in 0..4 {
                let class = random.below(CLASSES.len());
                let Some(claim) = damage(&subject, class, &mut random) else {
                    continue;
                };
                match subject.judge(claim) {
                    Some(Ok(accepted)) => counts[2 + usize::from(!accepted)] += 1,
                    other => panic!("seed {seed}, {}: {other:?}\n{text}", CLASSES[class]),
                }
            }
        }
    }
    println!("{counts:?}");
    let fifth = programs as usize / 5;
    assert!(counts[0] >= 2 * fifth && counts[1] >= fifth, "{counts:?}");
    assert!(counts[2] >= fifth && counts[3] >= 4 * fifth, "{counts:?}");
}

/// The first property of a program, with its proofs by enumeration.
fn first(text: &str) -> Subject {
    let instance = threadwise_testgen::instance(text, &[]).expect("a program");
    let mut subjects = subjects(&instance, false);
    subjects.swap_remove(0).0
}

fn refusal(subject: &Subject, change: impl FnOnce(&mut FairClaim)) -> Error {
    let mut claim = subject.claim.clone();
    change(&mut claim);
    let certificate = subject.certificate(claim);
    check(&subject.instance, &certificate, &subject.name, &|| false).expect_err("damaged")
}

#[test]
fn a_refusal_says_what_is_wrong() {
    let subject = first(PROGRAMS[0]);
    let fault = |change: &dyn Fn(&mut FairClaim)| match refusal(&subject, change) {
        Error::Rejected(rejection) => match rejection.condition {
            Condition::Fair(place, fault) => {
                assert_eq!((place.conjunct, place.alternative), (0, 0));
                fault
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let none = Dag::leaf(false);
    assert_eq!(
        fault(&|claim| claim.proofs[0].start = none.clone()),
        FairFault::Initial
    );
    assert_eq!(
        fault(&|claim| claim.proofs[0].layers.clear()),
        FairFault::Left
    );
    let layer =
        |layer: Layer| move |claim: &mut FairClaim| claim.proofs[0].layers = vec![layer.clone()];
    let all = Dag::leaf(true);
    let stuck = Layer::Stuck {
        remove: all.clone(),
    };
    assert!(matches!(fault(&layer(stuck)), FairFault::NotStuck(_)));
    let strong = Layer::Strong {
        term: 2,
        within: all.clone(),
    };
    assert_eq!(fault(&layer(strong)), FairFault::Holds);
    let lacks = Duty::Term(0);
    let unfair = Layer::Unfair { lacks, remove: all };
    assert!(matches!(fault(&layer(unfair)), FairFault::Fulfils(_)));
    // Bit 1 is that of the negated conjunct, and obligation 0 is its.
    let text = r#"{"cells":["$1"],"nodes":[[0,1,0]],"root":2}"#;
    let unset: Dag = serde_json::from_str(text).expect("a graph");
    let leaves = Layer::Strong {
        term: 2,
        within: unset.clone(),
    };
    assert!(matches!(
        fault(&layer(leaves.clone())),
        FairFault::Leaves(_)
    ));
    let error = refusal(&subject, layer(leaves)).to_string();
    let place = "proof of conjunct 0 for alternative 0, layer 0: the ";
    assert!(error.starts_with(place), "{error}");
    assert!(error.contains("$1 = 1 in the state"), "{error}");
    for (cells, message) in [
        ("$2", "no cell `$2`"),
        ("$0'", "no cell `$0'`"),
        ("$last", "no cell `$last`"),
    ] {
        let text = text.replace("$1", cells);
        let dag: Dag = serde_json::from_str(&text).expect("a graph");
        let error = refusal(&subject, layer(Layer::Stuck { remove: dag })).to_string();
        assert!(error.contains(message), "{error}");
    }
    for (lacks, message) in [
        (
            Duty::Obligation(1),
            "there is no obligation 1: the automaton has 1",
        ),
        (Duty::Mover, "the proof has no mover"),
        (Duty::Term(2), "assumption 2 is a strong one"),
        (Duty::Term(4), "there is no assumption 4"),
    ] {
        let remove = unset.clone();
        let error = refusal(&subject, layer(Layer::Unfair { lacks, remove })).to_string();
        assert!(error.contains(message), "{error}");
    }
    let term = |term| Layer::Strong {
        term,
        within: unset.clone(),
    };
    let error = refusal(&subject, layer(term(0))).to_string();
    assert!(
        error.contains("assumption 0 is not a strong one"),
        "{error}"
    );
    let error = refusal(&subject, layer(term(7))).to_string();
    assert!(error.contains("there is no assumption 7"), "{error}");
    let error = refusal(&subject, |claim| drop(claim.proofs.pop())).to_string();
    assert!(
        error.contains("no proof of conjunct 1 for alternative 0"),
        "{error}"
    );
    let error = refusal(&subject, |claim| {
        claim.proofs[1].mover = Some("P[2]".into())
    })
    .to_string();
    assert!(
        error.contains("no proof of conjunct 1 for alternative 0 with steps of P[1]"),
        "{error}"
    );
    let error = refusal(&subject, |claim| claim.proofs[1].mover = Some("Q".into())).to_string();
    assert!(error.contains("no process `Q`"), "{error}");
    let error = refusal(&subject, |claim| claim.proofs[0].conjunct = 2).to_string();
    assert!(error.contains("conjunct 2"), "{error}");
}

#[test]
fn the_first_obligation_is_the_movers() {
    let instance = &programs()[0];
    let mut subjects = subjects(instance, true);
    let subject = subjects.swap_remove(0).0;
    let error = refusal(&subject, |claim| {
        for layer in &mut claim.proofs[0].layers {
            if let Layer::Unfair { lacks, .. } = layer
                && *lacks == Duty::Mover
            {
                *lacks = Duty::Obligation(0);
            }
        }
    });
    assert!(
        error
            .to_string()
            .contains("the first obligation is the mover's"),
        "{error}"
    );
}

#[test]
fn claims_and_properties_must_fit() {
    let text = PROGRAMS[0].to_owned() + "invariant fine: true;";
    let subject = first(&text);
    let mut certificate = subject.certificate(subject.claim.clone());
    certificate.property = "fine".to_owned();
    let error = check(&subject.instance, &certificate, "fine", &|| false).expect_err("safety");
    assert!(
        error.to_string().contains("is a safety property"),
        "{error}"
    );
    let invariant = subject.claim.invariant[0].clone();
    let set = Certificate::inductive(&subject.system, &subject.name, invariant);
    let error = check(&subject.instance, &set, &subject.name, &|| false).expect_err("liveness");
    assert!(
        error.to_string().contains("is a liveness property"),
        "{error}"
    );
    let certificate = subject.certificate(subject.claim.clone());
    let error = smtlib(
        &subject.instance,
        &certificate,
        &subject.name,
        &mut String::new(),
    );
    let error = error.expect_err("liveness");
    assert!(
        matches!(&error, Error::Unsupported(why) if why.contains("SMT-LIB")),
        "{error}"
    );
}

#[test]
fn predicates_must_not_leave_64_bits() {
    // The bound is met in all reachable states, and the claim is all states.
    let subject = first(
        "shared x: 0..3 = 0;
         process P { loop { a: x := 1 - x; } }
         fairness scheduling: unconditional;
         liveness small under scheduling: G F (4611686018427387904 * x >= 0);",
    );
    let accepted = subject.certificate(subject.claim.clone());
    let answer = check(&subject.instance, &accepted, &subject.name, &|| false);
    assert!(answer.is_ok(), "{answer:?}");
    let mut claim = subject.claim.clone();
    claim.invariant = Vec::new();
    let certificate = subject.certificate(claim);
    for method in [Method::Walk, Method::Solver] {
        match check_with(
            method,
            &subject.instance,
            &certificate,
            &subject.name,
            &|| false,
        ) {
            Err(Error::Rejected(rejection)) => {
                assert_eq!(rejection.condition, Condition::Overflow(None))
            }
            other => panic!("{other:?}"),
        }
    }
    // The start is no larger than before, and what is outside of it is not looked at one by one.
    let answer = check_with(
        Method::Each,
        &subject.instance,
        &certificate,
        &subject.name,
        &|| false,
    );
    assert!(answer.is_ok(), "{answer:?}");
}

/// Graphs that test bits last, first, and program cells in two orders: whatever order they have, they are sets.
#[test]
fn cells_are_tested_in_any_order() {
    let subject = first(PROGRAMS[0]);
    let conjuncts = subject.liveness.formula.conjuncts();
    let states = reachable(&subject.system, 500).expect("small");
    let product = Product::new(&subject.system, &subject.liveness, &conjuncts[0], &states);
    let product = product.expect("small");
    let mut claim = subject.claim.clone();
    for (number, layer) in claim.proofs[0].layers.iter_mut().enumerate() {
        let set = set_of(layer);
        let members = product.set(set).expect("a set");
        let mut order: Vec<usize> = (0..set.cells().len()).collect();
        if number % 2 == 0 {
            order.reverse();
        } else {
            order.rotate_left(1);
        }
        *set = product.graph_in(&members, &order);
        assert_eq!(product.set(set).as_ref(), Some(&members));
    }
    assert_ne!(claim, subject.claim);
    let certificate = subject.certificate(claim);
    let answer = check(&subject.instance, &certificate, &subject.name, &|| false);
    let report = answer.expect("a proof");
    // By walks all the same.
    assert_eq!(report.clauses, 0, "{report:?}");
    let Claim::Fair(_) = certificate.claim else {
        panic!("another claim");
    };
}

/// An invariant whose parts are small one by one and large together, in an order that a graph asks for.
#[test]
fn an_invariant_in_parts_is_relied_on_part_by_part() {
    let text =
        "process P[i: 1..14] { local c, d: bool = false; loop { a: atomic { c := !c; d := !d; } } }
         fairness scheduling: unconditional;
         liveness equal under scheduling: G F (P[3].c == P[3].d);";
    let instance = threadwise_testgen::instance(text, &[]).expect("a program");
    let system = plain(&instance);
    let parse = |text: String| -> Dag { serde_json::from_str(&text).expect("a graph") };
    let equal = |i: usize| {
        let nodes = "[1,1,0],[1,0,1],[0,2,3]";
        parse(format!(
            r#"{{"cells":["P[{i}].c","P[{i}].d"],"nodes":[{nodes}],"root":4}}"#
        ))
    };
    // The negation is F G different. As that is never so, bit 1, which puts it off, stays set. The graph tests the cells of one kind
    // before those of the other.
    let names = ["c", "d"].map(|name| (1..=14).map(move |i| format!("P[{i}].{name}")));
    let mut names: Vec<String> = names.into_iter().flatten().collect();
    names.push("$1".to_owned());
    let mut nodes = vec![format!("[{},0,1]", names.len() - 1)];
    for cell in (0..names.len() - 1).rev() {
        let below = nodes.len() + 1;
        nodes.push(format!("[{cell},{below},{below}]"));
    }
    let cells = serde_json::to_string(&names).expect("names");
    let (nodes, root) = (nodes.join(","), nodes.len() + 1);
    let start = parse(format!(
        r#"{{"cells":{cells},"nodes":[{nodes}],"root":{root}}}"#
    ));
    let claim = |parts: Vec<Dag>| FairClaim {
        invariant: parts,
        symmetric: Vec::new(),
        proofs: vec![FairProof {
            conjunct: 0,
            alternative: 0,
            mover: None,
            start: start.clone(),
            layers: vec![Layer::Unfair {
                lacks: Duty::Obligation(0),
                remove: Dag::leaf(true),
            }],
        }],
    };
    let parts: Vec<Dag> = (1..=14).map(equal).collect();
    let certificate = Certificate::fair(&system, "equal", claim(parts.clone()));
    let answer = check(&instance, &certificate, "equal", &|| false);
    let report = answer.expect("a proof");
    assert_eq!(report.clauses, 0, "{report:?}");
    // Without the part about the third process.
    let mut less = parts;
    less.remove(2);
    let certificate = Certificate::fair(&system, "equal", claim(less));
    match check(&instance, &certificate, "equal", &|| false) {
        Err(Error::Rejected(rejection)) => {
            let Condition::Fair(_, fault) = &rejection.condition else {
                panic!("{rejection}");
            };
            assert!(matches!(fault, FairFault::Start(_)), "{rejection}");
        }
        other => panic!("{other:?}"),
    }
}
