//! Three translations of formulas into automata against the direct meaning of formulas on runs: the tableau of the engines, the oracle's
//! automaton, and that of `lbt` (Debian's package of that name) where it is installed.
//!
//! ```sh
//! cargo test --release -p threadwise-liveness --test all -- --ignored formulas::   # a million pairs, some minutes
//! ```

use std::io::Write;
use std::process::{Command, Stdio};

use threadwise_model::tableau::{Tableau, Truth};
use threadwise_model::temporal::Formula;
use threadwise_testgen::liveness::{
    Arc, Automaton, Condition, Graph, Word, patterns, random_formula,
};
use threadwise_testgen::random::Random;

/// The tableau at one position of a run, with some bits set.
struct At<'a> {
    word: &'a Word,
    position: usize,
    bits: usize,
}

impl Truth<usize> for At<'_> {
    type Value = bool;
    type Error = std::convert::Infallible;

    fn constant(&mut self, value: bool) -> Result<bool, Self::Error> {
        Ok(value)
    }

    fn literal(&mut self, atom: &usize, positive: bool) -> Result<bool, Self::Error> {
        Ok(self.word.value(*atom, self.position) == positive)
    }

    fn bit(&mut self, bit: usize) -> Result<bool, Self::Error> {
        Ok(self.bits >> bit & 1 == 1)
    }

    fn and(&mut self, a: &bool, b: &bool) -> Result<bool, Self::Error> {
        Ok(*a && *b)
    }

    fn or(&mut self, a: &bool, b: &bool) -> Result<bool, Self::Error> {
        Ok(*a || *b)
    }
}

/// Whether a tableau accepts a run: all valuations of its bits at all positions, and the steps between them.
fn tableau_accepts(tableau: &Tableau<usize>, word: &Word) -> bool {
    let length = word.positions.len();
    let valuations = 1 << tableau.bits.len();
    let mut graph = Graph::default();
    // Node `position * valuations + bits`; what must hold there if the bits before it are set.
    let mut fulfilled = Vec::new();
    for position in 0..length {
        for bits in 0..valuations {
            let mut at = At {
                word,
                position,
                bits,
            };
            let Ok(values) = tableau.values(&mut at);
            let Ok(start) = tableau.start(&values, &mut at);
            let Ok(demands) = tableau.demands(&values, &mut at);
            if start && position == 0 {
                graph.roots.push(bits);
            }
            let met = demands.iter().enumerate();
            fulfilled.push(met.fold(0, |all, (bit, met)| all | usize::from(*met) << bit));
        }
    }
    let obligations = tableau.obligations();
    for position in 0..length {
        let next = match position + 1 == length {
            true => word.loop_from,
            false => position + 1,
        };
        for bits in 0..valuations {
            let marks = (obligations.iter().enumerate())
                .filter(|(_, bit)| bits >> **bit & 1 == 0)
                .fold(0, |marks, (mark, _)| marks | 1 << mark);
            let arcs = (0..valuations)
                .map(|other| next * valuations + other)
                .filter(|to| bits & !fulfilled[*to] == 0)
                .map(|to| Arc { to, marks });
            graph.arcs.push(arcs.collect());
        }
    }
    let conditions: Vec<Condition> = (0..obligations.len())
        .map(|mark| Condition::Some(1 << mark))
        .collect();
    graph.cycle(&conditions).is_some()
}

fn oracle_accepts(automaton: &Automaton<usize>, word: &Word) -> bool {
    automaton.accepts(word.positions.len(), word.loop_from, &mut |atom, at| {
        word.value(*atom, at)
    })
}

/// A formula with its automata, and those of its negation.
struct Translated {
    formula: Formula<usize>,
    tableaux: [Tableau<usize>; 2],
    automata: [Automaton<usize>; 2],
}

impl Translated {
    fn new(formula: Formula<usize>) -> Option<Translated> {
        Some(Translated {
            tableaux: [Tableau::new(&formula), Tableau::of_negation(&formula)],
            automata: [Automaton::new(&formula)?, Automaton::of_negation(&formula)?],
            formula,
        })
    }

    /// Compares all of them on a run; whether the formula holds there.
    fn compare(&self, word: &Word) -> bool {
        let holds = word.satisfies(&self.formula);
        for (negated, tableau) in self.tableaux.iter().enumerate() {
            assert_eq!(
                tableau_accepts(tableau, word),
                holds != (negated == 1),
                "the tableau of {:?} (negated: {negated}) on {word:?}",
                self.formula
            );
        }
        self.compare_oracle(word)
    }

    /// Compares the oracle's automata alone.
    fn compare_oracle(&self, word: &Word) -> bool {
        let holds = word.satisfies(&self.formula);
        for (negated, automaton) in self.automata.iter().enumerate() {
            assert_eq!(
                oracle_accepts(automaton, word),
                holds != (negated == 1),
                "the automaton of {:?} (negated: {negated}) on {word:?}",
                self.formula
            );
        }
        holds
    }
}

const ATOMS: usize = 3;

/// Compares so many random pairs of a formula and a run.
fn random_pairs(pairs: usize, seed: u64) {
    /// Formulas with more bits have too many valuations to list.
    const BITS: usize = 5;
    const RUNS: usize = 5;
    let mut random = Random::new(seed);
    let (mut compared, mut held, mut bits, mut states, mut formulas) = (0, 0, 0, 0, 0);
    while compared < pairs {
        let operators = 1 + random.below(9);
        let formula = random_formula(&mut random, ATOMS, operators);
        let Some(translated) = Translated::new(formula) else {
            continue;
        };
        if translated.tableaux[0].bits.len() > BITS {
            continue;
        }
        formulas += 1;
        bits += translated.tableaux[0].bits.len();
        states += translated.automata[0].states.len();
        for _ in 0..RUNS {
            let word = Word::random(&mut random, ATOMS, 6);
            held += usize::from(translated.compare(&word));
            compared += 1;
        }
    }
    println!(
        "{compared} pairs of {formulas} formulas, {held} hold; on average {:.1} bits, {:.1} states of the oracle's automaton",
        bits as f64 / formulas as f64,
        states as f64 / formulas as f64
    );
    // Neither side may be rare, or the comparison is worth little.
    assert!(held * 4 > compared && held * 4 < compared * 3);
}

#[test]
fn random_formulas_mean_what_their_automata_accept() {
    random_pairs(10_000, 1);
}

#[test]
#[ignore = "takes minutes"]
fn a_million_random_pairs() {
    random_pairs(1_000_000, 2);
}

#[test]
fn patterns_of_the_literature_mean_what_their_automata_accept() {
    /// With more bits, there are too many valuations to list for many runs; the longest formula has 10.
    const BITS: usize = 7;
    const RUNS: usize = 60;
    let mut random = Random::new(3);
    let all = patterns().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all.len(), 55 + 12 + 27);
    for (text, formula) in all {
        let translated = Translated::new(formula).unwrap_or_else(|| panic!("{text} is too large"));
        let bits = translated.tableaux.iter().map(|t| t.bits.len()).max();
        let bits = bits.unwrap_or(0);
        let mut held = 0;
        for number in 0..RUNS {
            let word = Word::random(&mut random, 9, 8);
            held += usize::from(match bits <= BITS || number < 3 {
                true => translated.compare(&word),
                false => translated.compare_oracle(&word),
            });
        }
        println!("{held:2} of {RUNS} runs, {bits} bits: {text}");
    }
}

/// A formula as `lbt` reads it: prefix form.
fn prefix(formula: &Formula<usize>, out: &mut String) {
    let mut list = |parts: &[Formula<usize>], operator: &str, empty: &str| match parts {
        [] => out.push_str(empty),
        [first, rest @ ..] => {
            rest.iter().for_each(|_| out.push_str(operator));
            prefix(first, out);
            rest.iter().for_each(|part| prefix(part, out));
        }
    };
    match formula {
        Formula::Atom(atom) => out.push_str(&format!("p{atom} ")),
        Formula::And(parts) => list(parts, "& ", "t "),
        Formula::Or(parts) => list(parts, "| ", "f "),
        Formula::Not(f) | Formula::Next(f) => {
            let not = matches!(formula, Formula::Not(_));
            out.push_str(if not { "! " } else { "X " });
            prefix(f, out);
        }
        Formula::Until(f, g) | Formula::Release(f, g) => {
            let until = matches!(formula, Formula::Until(..));
            out.push_str(if until { "U " } else { "V " });
            prefix(f, out);
            prefix(g, out);
        }
    }
}

/// What `lbt` answers: for each state whether it is initial and its acceptance sets, and its edges with guards in prefix form.
struct Lbt {
    sets: usize,
    states: Vec<LbtState>,
}

#[derive(Default)]
struct LbtState {
    initial: bool,
    sets: Vec<usize>,
    edges: Vec<(usize, Vec<String>)>,
}

fn lbt(formula: &Formula<usize>) -> Option<Lbt> {
    let mut text = String::new();
    prefix(formula, &mut text);
    let mut child = Command::new("lbt")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("lbt reads its input");
    let output = child.wait_with_output().expect("lbt ends");
    assert!(output.status.success(), "lbt on {text}");
    let answer = String::from_utf8(output.stdout).expect("text");
    let mut lines = answer.lines();
    let numbers = |line: &str| -> Vec<i64> {
        line.split_whitespace()
            .map(|n| n.parse().unwrap_or_else(|_| panic!("{text}: {line}")))
            .collect()
    };
    let head = numbers(lines.next().expect("a first line"));
    let mut states: Vec<LbtState> = (0..head[0]).map(|_| LbtState::default()).collect();
    // States have numbers of any size, in any order.
    let mut number = std::collections::BTreeMap::new();
    let mut place = |id: i64| {
        let next = number.len();
        *number.entry(id).or_insert(next)
    };
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let state = numbers(line);
        let at = place(state[0]);
        states[at].initial = state[1] == 1;
        states[at].sets = state[2..]
            .iter()
            .take_while(|set| **set >= 0)
            .map(|set| *set as usize)
            .collect();
        for line in lines.by_ref().take_while(|line| line.trim() != "-1") {
            let (to, guard) = line.trim().split_once(' ').expect("a guard");
            let to = place(to.parse().expect("a state"));
            let guard = guard.split_whitespace().map(str::to_owned).collect();
            states[at].edges.push((to, guard));
        }
    }
    Some(Lbt {
        sets: head.get(1).map_or(0, |sets| *sets as usize),
        states,
    })
}

/// Whether a guard holds at a position; takes the tokens that it consists of.
fn guard(tokens: &mut dyn Iterator<Item = &String>, word: &Word, position: usize) -> bool {
    let token = tokens.next().expect("a guard that is whole");
    let mut one = || guard(tokens, word, position);
    match token.as_str() {
        "t" => true,
        "f" => false,
        "!" => !one(),
        "&" => {
            let (a, b) = (one(), one());
            a && b
        }
        "|" => {
            let (a, b) = (one(), one());
            a || b
        }
        atom => word.value(atom[1..].parse().expect("an atom"), position),
    }
}

fn lbt_accepts(automaton: &Lbt, word: &Word) -> bool {
    let length = word.positions.len();
    let mut graph = Graph {
        arcs: vec![Vec::new(); automaton.states.len() * length],
        roots: Vec::new(),
    };
    for (at, state) in automaton.states.iter().enumerate() {
        if state.initial {
            graph.roots.push(at * length);
        }
        let marks = state.sets.iter().fold(0, |marks, set| marks | 1 << set);
        for position in 0..length {
            let next = match position + 1 == length {
                true => word.loop_from,
                false => position + 1,
            };
            for (to, tokens) in &state.edges {
                if guard(&mut tokens.iter(), word, position) {
                    graph.arcs[at * length + position].push(Arc {
                        to: to * length + next,
                        marks,
                    });
                }
            }
        }
    }
    let conditions: Vec<Condition> = (0..automaton.sets)
        .map(|set| Condition::Some(1 << set))
        .collect();
    graph.cycle(&conditions).is_some()
}

#[test]
fn lbt_agrees() {
    if Command::new("lbt")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        eprintln!("SKIPPED: comparison with lbt, which is not installed");
        return;
    }
    let mut random = Random::new(4);
    let mut formulas: Vec<(Formula<usize>, usize)> = patterns()
        .unwrap_or_else(|error| panic!("{error}"))
        .into_iter()
        .map(|(_, formula)| (formula, 9))
        .collect();
    // lbt takes very long on some long ones.
    formulas.retain(|(formula, _)| Tableau::new(formula).bits.len() <= 6);
    while formulas.len() < 400 {
        let operators = 1 + random.below(7);
        formulas.push((random_formula(&mut random, ATOMS, operators), ATOMS));
    }
    let (mut states, mut bits, mut empty) = (0, 0, 0);
    for (formula, atoms) in &formulas {
        let other = lbt(formula).expect("lbt is there");
        states += other.states.len();
        let own = Automaton::new(formula).expect("small");
        bits += Tableau::new(formula).bits.len();
        let mut some = false;
        for _ in 0..20 {
            let word = Word::random(&mut random, *atoms, 6);
            let holds = word.satisfies(formula);
            some |= holds;
            assert_eq!(
                lbt_accepts(&other, &word),
                holds,
                "lbt, {formula:?} on {word:?}"
            );
            assert_eq!(
                oracle_accepts(&own, &word),
                holds,
                "{formula:?} on {word:?}"
            );
        }
        empty += usize::from(!some);
    }
    println!(
        "{} formulas, {empty} never held; on average {:.1} bits where lbt has {:.1} states",
        formulas.len(),
        bits as f64 / formulas.len() as f64,
        states as f64 / formulas.len() as f64
    );
}
