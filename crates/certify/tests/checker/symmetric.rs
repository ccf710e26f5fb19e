//! Conjuncts that are images of others: accepted where the program and the fairness are the same after renaming processes, and refused
//! otherwise.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::checker::support::fair::{claim, left};
use crate::checker::support::{check, graph, plain, reachable};
use threadwise_certify::{Error, Method, check_with};
use threadwise_evidence::Certificate;
use threadwise_evidence::certificate::{Duty, FairClaim, FairProof, Images, Layer, Symmetric};
use threadwise_evidence::dag::Dag;
use threadwise_model::instance::Instance;
use threadwise_model::symmetry::Permutation;
use threadwise_model::system::{System, SystemPropertyKind};
use threadwise_model::temporal::Liveness;
use threadwise_testgen::random::Random;

struct Subject {
    instance: Instance,
    system: System,
    liveness: Liveness,
    claim: FairClaim,
    /// The conjuncts that enumeration proves.
    proved: BTreeSet<usize>,
}

/// A program whose property is called `all`, with what enumeration says of it.
fn subject(text: &str) -> Subject {
    let instance = threadwise_testgen::instance(text, &[]);
    let instance = instance.unwrap_or_else(|error| panic!("{text}: {error}"));
    let system = plain(&instance);
    let states = reachable(&system, 4_000).expect("small");
    let dag = graph(&system, &states).expect("finite");
    let found = system.properties.iter().find(|p| p.name == "all");
    let SystemPropertyKind::Liveness(liveness) = found.expect("a property").kind.clone() else {
        panic!("safety");
    };
    let (whole, _) = claim(&system, &liveness, (&states, dag.clone()), false).expect("small");
    let mut proved: BTreeSet<usize> = (0..liveness.formula.conjuncts().len()).collect();
    let left = left(&system, &liveness, &states).expect("small");
    proved.retain(|conjunct| !left.contains(conjunct));
    Subject {
        instance,
        system,
        liveness,
        claim: whole,
        proved,
    }
}

impl Subject {
    /// The claim with proofs of one conjunct only, and these entries.
    fn judge(&self, of: usize, symmetric: Vec<Symmetric>) -> Result<(), Error> {
        let mut claim = self.claim.clone();
        claim.proofs.retain(|proof| proof.conjunct == of);
        claim.symmetric = symmetric;
        let certificate = Certificate::fair(&self.system, "all", claim);
        let certificate = Certificate::from_json(&certificate.to_json()).expect("well-formed");
        check(&self.instance, &certificate, "all", &|| false).map(|_| ())
    }

    /// That all conjuncts are images of the first, by exchanges.
    fn exchanges(&self, template: &str) -> Vec<Symmetric> {
        let conjuncts = self.liveness.formula.conjuncts().len();
        (1..conjuncts)
            .map(|k| self.entry(template, k, &|index| exchange(index, 0, k as u32)))
            .collect()
    }

    fn entry(&self, template: &str, conjunct: usize, image: &dyn Fn(u32) -> u32) -> Symmetric {
        let mut templates = self.system.templates.iter_enumerated();
        let found = templates.find(|(_, t)| t.name == template);
        let (id, template) = found.expect("a template");
        let images = (0..template.count).map(image).collect();
        let permutation = Permutation::of_template(id, images).expect("a permutation");
        Symmetric::new(&self.system, conjunct, 0, &permutation)
    }
}

fn exchange(index: u32, a: u32, b: u32) -> u32 {
    match index {
        _ if index == a => b,
        _ if index == b => a,
        _ => index,
    }
}

/// Programs that all permutations of `P` leave as they are.
const SYMMETRIC: [&str; 8] = [
    "shared x: bool = true;
     process P[i: 1..3] { loop { idle: stay; request: atomic { await x; x := false; } critical: x := true; } }
     fairness scheduling: unconditional;
     fairness entry: strong forall i in P: if P[i] at request && x then P[i] at critical;
     liveness all under scheduling, entry: forall i in P: G (P[i] at request -> F P[i] at critical);",
    // Ids are held, compared and used as indices.
    "shared turn: P = any; shared want: array[P] of bool = false;
     process P[i: 1..2] { loop { a: want[i] := true; b: await turn == i || forall j in P: j == i || !want[j]; c: atomic { want[i] := false; choose k in P { turn := k; } } } }
     fairness scheduling: unconditional;
     fairness lucky: strong forall i in P: if P[i] at b then turn == i;
     liveness all under scheduling, lucky: forall i in P: G (P[i] at b -> F P[i] at c);",
    // A mutex, which another process takes, too.
    "shared m: mutex;
     process P[i: 1..2] { loop { a: lock m; b: unlock m; } }
     process Q { loop { c: lock m; d: unlock m; } }
     fairness scheduling: unconditional;
     fairness entry: strong forall i in P: if enabled(P[i], a) then taken(P[i], a);
     liveness all under scheduling, entry: forall i in P: G F P[i] at b;",
    // Alternatives that are exchanged.
    "shared last: P? = none;
     process P[i: 1..2] { loop { a: last := i; } }
     fairness some: weak (last == 1) or weak (last == 2);
     fairness scheduling: unconditional;
     liveness all under some, scheduling: forall i in P: F (last == i);",
    // Local variables, and steps that are taken.
    "process P[i: 1..3] { local n: 0..1 = 0; loop { a: n := 1 - n; } }
     fairness justice: weak forall i in P: taken(P[i], a);
     liveness all under justice: forall i in P: G F (P[i].n == 1);",
    // Nothing depends on who counts.
    "shared n: 0..3 = 0;
     process P[i: 1..3] { a: n := n + 1; b: await n == 3; }
     fairness scheduling: unconditional;
     liveness all under scheduling: forall i in P: F P[i] at done;",
    // Which of two choices is whose id does not matter.
    "shared pair: array[P] of P = any;
     process P[i: 1..2] { loop { a: choose j in P { choose k in P { pair[j] := k; } } } }
     fairness scheduling: unconditional;
     fairness often: weak forall i in P: pair[i] == i;
     liveness all under scheduling, often: forall i in P: G F (pair[i] == i);",
    // An index is inside only where the step can be taken; elsewhere it would be in the next one's row.
    "shared row: array[P] of array[0..0] of bool = false; shared n: array[P] of 0..1 = 0;
     process P[i: 1..2] { loop { a: atomic { await n[i] > 0; n[i] := 0; } } }
     process Q { loop { put: atomic { choose j in P { await n[j] < 1; row[j][n[j]] := true; n[j] := n[j] + 1; } } } }
     fairness often: weak forall i in P: n[i] == 1;
     liveness all under often: forall i in P: G F (n[i] == 1);",
];

#[test]
fn images_of_proved_conjuncts_need_no_proofs() {
    for text in SYMMETRIC {
        let subject = subject(text);
        assert!(subject.proved.contains(&0), "{text}");
        let entries = subject.exchanges("P");
        assert!(!entries.is_empty(), "{text}");
        let answer = subject.judge(0, entries);
        assert_eq!(answer, Ok(()), "{text}");
    }
}

/// Programs that are not the same when the first two of `P` are exchanged, and why.
const OTHERS: [(&str, &str); 8] = [
    (
        "shared x: 0..1 = 0;
         ordered process P[i: 1..2] { loop { a: await i == 1 || x == 1; b: x := 1; } }
         fairness scheduling: unconditional;
         liveness all under scheduling: forall i in P: F P[i] at b;",
        "a step of P[1] from `a` is not one of P[2]",
    ),
    (
        "ordered process P[i: 1..2] { local x: 0..2 = i; loop { a: skip; } }
         fairness scheduling: unconditional;
         liveness all under scheduling: forall i in P: F (P[i].x == 1 || P[i].x == 2);",
        "initial values differ",
    ),
    (
        "process P[i: 1..2] { loop { a: skip; b: skip; } }
         fairness mine: weak P[1] at b, weak P[1] at a;
         liveness all under mine: forall i in P: F P[i] at b;",
        "the fairness is not the same",
    ),
    (
        "process P[i: 1..2] { loop { a: skip; b: skip; } }
         fairness mine: weak taken(P[1], a);
         liveness all under mine: forall i in P: F P[i] at b;",
        "does not ask of P[2] which steps it took",
    ),
    (
        "ordered process P[i: 1..2] { local n: 0..3 = 0; loop { a: n := i; } }
         fairness scheduling: unconditional;
         liveness all under scheduling: forall i in P: F (P[i].n > 0);",
        "a step of P[1] from `a` is not one of P[2]",
    ),
    (
        "ordered process P[i: 1..2] { loop { a: stay; await i == 1; b: skip; } }
         fairness scheduling: unconditional;
         liveness all under scheduling: forall i in P: F (P[i] at a || P[i] at b);",
        "a step of P[1] from `a` is not one of P[2]",
    ),
    (
        "ordered process P[i: 1..2] { loop { a: assert i == 1; b: skip; } }
         fairness scheduling: unconditional;
         liveness all under scheduling: forall i in P: G F P[1] at b || P[i] at a;",
        "a step of P[1] from `a` is not one of P[2]",
    ),
    (
        "process P[i: 1..2] { loop { a: skip; b: skip; } }
         fairness scheduling: unconditional;
         liveness all under scheduling: (F P[1] at b) && (F P[2] at a);",
        "conjunct 1 is not the image of conjunct 0",
    ),
];

#[test]
fn what_differs_is_refused() {
    for (text, reason) in OTHERS {
        let subject = subject(text);
        let entries = subject.exchanges("P");
        let error = subject.judge(0, entries).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn on_a_ring_rotations_are_symmetries_and_exchanges_are_not() {
    let text = "shared token: P = 1;
         ring process P[i: 1..4] { loop { a: atomic { await token == i; token := next(i); } } }
         fairness scheduling: unconditional;
         liveness all under scheduling: forall i in P: G F (token == i);";
    // It begins with the first.
    let subject_ = subject(text);
    let rotations: Vec<Symmetric> = (1..4)
        .map(|k| subject_.entry("P", k, &|index| (index + k as u32) % 4))
        .collect();
    let error = subject_
        .judge(0, rotations.clone())
        .expect_err("one begins");
    assert!(
        error.to_string().contains("initial values differ"),
        "{error}"
    );
    let subject_ = subject(&text.replace("P = 1", "P = any"));
    assert_eq!(subject_.judge(0, rotations), Ok(()));
    let error = subject_
        .judge(0, subject_.exchanges("P"))
        .expect_err("no symmetry");
    assert!(error.to_string().contains("is not one of"), "{error}");
}

#[test]
fn entries_must_make_sense() {
    let subject = subject(SYMMETRIC[0]);
    let entry = |conjunct, of, template: &str, images: &[i64]| Symmetric {
        conjunct,
        of,
        permutation: vec![Images {
            template: template.to_owned(),
            images: images.to_vec(),
        }],
    };
    let good = [entry(1, 0, "P", &[2, 1, 3]), entry(2, 0, "P", &[3, 2, 1])];
    assert_eq!(subject.judge(0, good.to_vec()), Ok(()));
    // Where others go does not matter.
    let other = [entry(1, 0, "P", &[2, 3, 1]), entry(2, 0, "P", &[3, 1, 2])];
    assert_eq!(subject.judge(0, other.to_vec()), Ok(()));
    let mut twice = good.to_vec();
    twice[0].permutation.push(good[1].permutation[0].clone());
    for (entries, message) in [
        (vec![good[0].clone()], "no proof of conjunct 2"),
        (
            vec![good[0].clone(), entry(2, 1, "P", &[1, 3, 2])],
            "no proof of conjunct 1",
        ),
        (
            vec![good[0].clone(), entry(2, 2, "P", &[1, 2, 3])],
            "no proof of conjunct 2",
        ),
        (
            vec![entry(1, 0, "P", &[3, 2, 1]), good[1].clone()],
            "conjunct 1 is not the image",
        ),
        (
            vec![entry(1, 0, "P", &[1, 2, 3]), good[1].clone()],
            "conjunct 1 is not the image",
        ),
        (vec![entry(3, 0, "P", &[2, 1, 3])], "conjunct 3"),
        (vec![entry(1, 7, "P", &[2, 1, 3])], "image of 7"),
        (
            vec![entry(1, 0, "Q", &[2, 1, 3]), good[1].clone()],
            "`Q`, which is no template",
        ),
        (
            vec![entry(1, 0, "P", &[2, 1]), good[1].clone()],
            "no permutation",
        ),
        (
            vec![entry(1, 0, "P", &[2, 2, 3]), good[1].clone()],
            "no permutation",
        ),
        (
            vec![entry(1, 0, "P", &[2, 1, 4]), good[1].clone()],
            "no permutation",
        ),
        (
            vec![entry(1, 0, "P", &[i64::MIN, 1, 3]), good[1].clone()],
            "no permutation",
        ),
        (twice, "or twice"),
    ] {
        let error = subject.judge(0, entries).expect_err(message).to_string();
        assert!(error.contains(message), "{message}: {error}");
    }
}

/// Programs that may or may not be symmetric.
fn random_program(random: &mut Random) -> String {
    let pick = |random: &mut Random, texts: &[&str]| random.one(texts).map_or("", |t| t).to_owned();
    let step = |random: &mut Random| {
        let steps = [
            "x := 1 - x;",
            "atomic { await who == i; who := none; }",
            "who := i;",
            "choose k in P { who := k; }",
            "atomic { await !f[i]; f[i] := true; }",
            "f[i] := false;",
            "choose k in P { f[k] := !f[k]; }",
            "stay;",
            "skip;",
            "await x == 1;",
            "if i == 1 { x := 0; }",
            "assert x == 0 || f[i];",
            "await who != none;",
        ];
        pick(random, &steps)
    };
    let some = |random: &mut Random, process: &str| {
        let atoms = [
            "P[i] at a",
            "P[i] at b",
            "who == i",
            "f[i]",
            "!f[i] && x == 1",
            "x == 0",
            "who == none",
            "taken(P[i], a)",
            "exists j in P: j != i && f[j]",
        ];
        format!(
            "({})",
            pick(random, &atoms)
                .replace("P[i]", &format!("P[{process}]"))
                .replace("== i", &format!("== {process}"))
                .replace("f[i]", &format!("f[{process}]"))
                .replace("!= i", &format!("!= {process}"))
        )
    };
    let (first, second) = (step(random), step(random));
    let (start, flags) = (
        pick(random, &["none", "any", "none", "1"]),
        pick(random, &["false", "any"]),
    );
    let mut text = format!(
        "shared x: 0..1 = 0; shared who: P? = {start}; shared f: array[P] of bool = {flags};\n\
         ordered process P[i: 1..2] {{ loop {{ a: {first} b: {second} }} }}\n\
         fairness s: unconditional;\n"
    );
    let mut under = vec!["s"];
    if random.percent(60) {
        let (p, q) = (some(random, "i"), some(random, "i"));
        text.push_str(&format!(
            "fairness g: strong forall i in P: if {p} then {q};\n"
        ));
        under.push("g");
    }
    if random.percent(25) {
        text.push_str(&format!("fairness h: weak {};\n", some(random, "1")));
        under.push("h");
    }
    let (p, q) = (some(random, "i"), some(random, "i"));
    let formula = match random.below(3) {
        0 => format!("forall i in P: G ({p} -> F {q})"),
        1 => format!("forall i in P: G F {p} || F G {q}"),
        _ => format!("(G F {}) && (G F {})", some(random, "1"), some(random, "2")),
    };
    format!(
        "{text}liveness all under {}: {formula};\n",
        under.join(", ")
    )
}

#[test]
fn no_image_is_accepted_that_does_not_hold() {
    let mut counts = [0usize; 3];
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let text = random_program(&mut random);
        let subject = subject(&text);
        if subject.liveness.formula.conjuncts().len() != 2 || !subject.proved.contains(&0) {
            continue;
        }
        let answer = subject.judge(0, subject.exchanges("P"));
        let holds = subject.proved.contains(&1);
        assert!(holds || answer.is_err(), "seed {seed}\n{text}");
        match (answer, holds) {
            (Ok(()), _) => counts[0] += 1,
            (Err(Error::NoProof(_)), true) => counts[1] += 1,
            (Err(Error::NoProof(_)), false) => counts[2] += 1,
            (answer, _) => panic!("seed {seed}: {answer:?}\n{text}"),
        }
    }
    println!("{counts:?}");
    assert!(counts.iter().all(|count| *count >= 15), "{counts:?}");
}

#[test]
fn a_hundred_processes() {
    let text = "shared x: bool = true; shared last: P? = none;
         process P[i: 1..100] { loop { idle: stay; request: atomic { await x; x := false; } critical: atomic { x := true; last := i; } } }
         fairness scheduling: unconditional;
         fairness entry: strong forall i in P: if P[i] at request && x then P[i] at critical;
         liveness all under scheduling, entry: forall i in P: G (P[i] at request -> last == i || last != i || F P[i] at critical);";
    let instance = threadwise_testgen::instance(text, &[]).expect("a program");
    let system = plain(&instance);
    // What the negation waits for is never so, whatever the program does: the bit of its `U` stays set.
    let set = r#"{"cells":["$1"],"nodes":[[0,0,1]],"root":2}"#;
    let proof = FairProof {
        conjunct: 0,
        alternative: 0,
        mover: None,
        start: serde_json::from_str(set).expect("a graph"),
        layers: vec![Layer::Unfair {
            lacks: Duty::Obligation(0),
            remove: Dag::leaf(true),
        }],
    };
    let (id, template) = system.templates.iter_enumerated().next().expect("P");
    let entry = |k: u32| {
        let images = (0..template.count).map(|index| exchange(index, 0, k));
        let permutation = Permutation::of_template(id, images.collect()).expect("an exchange");
        Symmetric::new(&system, k as usize, 0, &permutation)
    };
    let claim = FairClaim {
        invariant: Vec::new(),
        proofs: vec![proof],
        symmetric: (1..100).map(entry).collect(),
    };
    let certificate = Certificate::fair(&system, "all", claim);
    for method in [Method::Walk, Method::Solver] {
        let begun = Instant::now();
        let answer = check_with(method, &instance, &certificate, "all", &|| false);
        let report = answer.expect("a proof");
        println!("{method:?}: {report:?} {:?}", begun.elapsed());
        assert!(report.visits < 200_000, "{report:?}");
        assert!(report.clauses < 1_000_000, "{report:?}");
    }
}
