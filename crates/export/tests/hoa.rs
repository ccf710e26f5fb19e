//! Exported automata, read by a small reader of its own: they accept exactly the runs on which the property does not hold, by the direct meaning of
//! formulas, for the patterns of the literature; and they speak of the program in its own terms.

use std::collections::BTreeMap;

use threadwise_export::hoa::{HoaError, hoa};
use threadwise_testgen::instance;
use threadwise_testgen::liveness::{Arc, Condition, Graph, Word, patterns, patterns_model};
use threadwise_testgen::random::Random;

/// What a file in the format says, as far as it is used here: generalised Büchi acceptance on states, and labels on edges.
struct Hoa {
    propositions: Vec<String>,
    sets: usize,
    start: usize,
    states: BTreeMap<usize, State>,
}

#[derive(Default)]
struct State {
    sets: Vec<usize>,
    edges: Vec<(String, usize)>,
}

/// Reads a file; panics where it is not what it should be.
fn read(text: &str) -> Hoa {
    let (header, rest) = text.split_once("--BODY--\n").expect("a body");
    let body = rest.strip_suffix("--END--\n").expect("an end");
    assert!(header.starts_with("HOA: v1\n"));
    let item = |name: &str| -> &str {
        let mut items = header.lines().filter_map(|line| line.strip_prefix(name));
        let item = items.next().unwrap_or_else(|| panic!("no {name}"));
        assert!(items.next().is_none(), "two {name}");
        item.strip_prefix(": ").expect("a colon")
    };
    assert!(item("properties").contains("state-acc"));
    let (count, names) = item("AP").split_once(' ').unwrap_or((item("AP"), ""));
    let propositions = strings(names);
    assert_eq!(count, propositions.len().to_string());
    let (sets, condition) = item("Acceptance").split_once(' ').expect("a condition");
    let sets: usize = sets.parse().expect("a number");
    let expected: Vec<String> = (0..sets).map(|set| format!("Inf({set})")).collect();
    let expected = if sets == 0 {
        "t".to_owned()
    } else {
        expected.join("&")
    };
    assert_eq!(condition, expected);
    let mut states: BTreeMap<usize, State> = BTreeMap::new();
    let mut current = usize::MAX;
    for line in body.lines() {
        if let Some(state) = line.strip_prefix("State: ") {
            let (number, sets) = state.split_once(' ').unwrap_or((state, "{}"));
            let sets = sets.trim_matches(['{', '}']).split_whitespace();
            current = number.parse().expect("a state");
            let state = State {
                sets: sets.map(|set| set.parse().expect("a set")).collect(),
                edges: Vec::new(),
            };
            assert!(states.insert(current, state).is_none());
        } else {
            let (label, to) = line
                .strip_prefix('[')
                .expect("a label")
                .split_once("] ")
                .expect("an edge");
            let to = to.parse().expect("a state");
            let state = states.get_mut(&current).expect("a state before its edges");
            state.edges.push((label.to_owned(), to));
        }
    }
    assert_eq!(item("States"), states.len().to_string());
    let edges = states.values().flat_map(|state| &state.edges);
    assert!(edges.clone().all(|(_, to)| states.contains_key(to)));
    Hoa {
        propositions,
        sets,
        start: item("Start").parse().expect("a state"),
        states,
    }
}

/// The strings between quotes.
fn strings(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut chars = text.chars();
    while chars.by_ref().any(|c| c == '"') {
        let mut one = String::new();
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            let escaped = if c == '\\' { chars.next() } else { None };
            one.push(escaped.unwrap_or(c));
        }
        all.push(one);
    }
    all
}

/// Whether a label, a disjunction of conjunctions of literals, holds where propositions have these values.
fn holds(label: &str, values: &[bool]) -> bool {
    label.split(" | ").any(|case| {
        case.split('&')
            .all(|literal| match literal.strip_prefix('!') {
                _ if literal == "t" => true,
                Some(atom) => !values[atom.parse::<usize>().expect("a proposition")],
                None => values[literal.parse::<usize>().expect("a proposition")],
            })
    })
}

fn accepts(
    automaton: &Hoa,
    length: usize,
    loop_from: usize,
    values: &dyn Fn(usize) -> Vec<bool>,
) -> bool {
    let count = automaton.states.len();
    let mut graph = Graph {
        arcs: vec![Vec::new(); count * length],
        roots: vec![automaton.start],
    };
    for position in 0..length {
        let values = values(position);
        let next = if position + 1 == length {
            loop_from
        } else {
            position + 1
        };
        for (number, state) in &automaton.states {
            let marks = state.sets.iter().fold(0, |marks, set| marks | 1 << set);
            let edges = state
                .edges
                .iter()
                .filter(|(label, _)| holds(label, &values));
            graph.arcs[position * count + number] = edges
                .map(|(_, to)| Arc {
                    to: next * count + to,
                    marks,
                })
                .collect();
        }
    }
    let conditions: Vec<Condition> = (0..automaton.sets)
        .map(|set| Condition::Some(1 << set))
        .collect();
    graph.cycle(&conditions).is_some()
}

#[test]
fn automata_accept_what_violates_the_property() {
    let model = patterns_model();
    let program = instance(&model, &[]).unwrap_or_else(|error| panic!("{error}"));
    let formulas = patterns().unwrap_or_else(|error| panic!("{error}"));
    let mut random = Random::new(7);
    let (mut accepted, mut states) = (0, 0);
    for (number, (source, formula)) in formulas.iter().enumerate() {
        let text =
            hoa(&program, Some(&format!("f{number}"))).unwrap_or_else(|error| panic!("{error}"));
        let automaton = read(&text);
        states += automaton.states.len();
        let atoms: Vec<usize> = automaton
            .propositions
            .iter()
            .map(|name| {
                "pqrstuvyz"
                    .find(name.as_str())
                    .unwrap_or_else(|| panic!("{name}"))
            })
            .collect();
        for _ in 0..200 {
            let word = Word::random(&mut random, 9, 8);
            let values = |position: usize| {
                let atoms = atoms.iter();
                atoms.map(|atom| word.value(*atom, position)).collect()
            };
            let found = accepts(&automaton, word.positions.len(), word.loop_from, &values);
            assert_eq!(
                found,
                !word.satisfies(formula),
                "{source} on {word:?}:\n{text}"
            );
            accepted += usize::from(found);
        }
    }
    let all = 200 * formulas.len();
    println!(
        "{accepted} of {all} runs are accepted; {states} states in {} automata",
        formulas.len()
    );
    assert!(accepted * 4 > all && accepted * 4 < all * 3);
}

#[test]
fn automata_speak_of_the_program_in_its_own_terms() {
    let model = "
        shared x: bool = true;
        process P[i: 1..2] { loop { idle: stay; request: atomic { await x; x := false; } leave: x := true; } }
        fairness f: unconditional;
        liveness access under f: forall i in P: G (P[i]   at request && (x -> taken(P[i], idle)) -> F P[i] at leave);
        liveness used: G F !x;
        invariant any: x || !x;";
    let program = instance(model, &[]).unwrap_or_else(|error| panic!("{error}"));
    let text = hoa(&program, Some("access")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        read(&text).propositions,
        [
            "P[1] at request",
            "x",
            "taken(P[1], idle)",
            "P[1] at leave",
            "P[2] at request",
            "taken(P[2], idle)",
            "P[2] at leave"
        ]
    );
    let used = hoa(&program, Some("used")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        used,
        format!(
            "HOA: v1\ntool: \"threadwise\" \"{}\"\nname: \"not used\"\nStates: 3\nStart: 0\nAP: 1 \"x\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n\
             properties: trans-labels explicit-labels state-acc\n--BODY--\nState: 0\n[t] 1\n[0] 2\nState: 1\n[t] 1\n[0] 2\nState: 2 {{0}}\n[0] 2\n--END--\n",
            env!("CARGO_PKG_VERSION")
        )
    );
    assert_eq!(
        hoa(&program, None),
        Err(HoaError::NotOne(vec![
            "access".to_owned(),
            "used".to_owned()
        ]))
    );
    assert_eq!(
        hoa(&program, Some("any")),
        Err(HoaError::NotLiveness("any".to_owned()))
    );
}
