//! Random questions of several kinds.

use crate::lia::{at_most, equal};
use threadwise_evidence::arithmetic::{Atom, Formula};
use threadwise_testgen::random::Random;

/// Formulas, how many of them are hypotheses that may be taken in before, and how many variables there are.
pub struct Question {
    pub formulas: Vec<Formula>,
    pub hypotheses: usize,
    pub variables: u32,
}

fn atom(random: &mut Random, variables: u32, greatest: i64) -> Formula {
    let terms: Vec<(u32, i64)> = (0..1 + random.below(3))
        .map(|_| {
            let variable = random.below(variables as usize) as u32;
            (variable, random.between(-greatest, greatest))
        })
        .collect();
    at_most(&terms, random.between(-3 * greatest, 3 * greatest))
}

fn tree(random: &mut Random, variables: u32, greatest: i64, depth: usize) -> Formula {
    if depth == 0 || random.percent(15) {
        return match random.percent(20) {
            false => atom(random, variables, greatest),
            true => {
                let Formula::Atom(Atom { terms, constant }) = atom(random, variables, greatest)
                else {
                    unreachable!()
                };
                equal(&terms, constant)
            }
        };
    }
    let members = 1 + random.below(4);
    let members: Vec<Formula> = (0..members)
        .map(|_| tree(random, variables, greatest, depth - 1))
        .collect();
    // The plain constructors too: what callers write need not be flat.
    match random.below(6) {
        0 => Formula::And(members),
        1 => Formula::all(members),
        2 => Formula::Or(members),
        _ => Formula::any(members),
    }
}

/// Clauses that leave several cases, or formulas of any shape, which often are decided without.
fn several(random: &mut Random, count: usize, variables: u32, greatest: i64) -> Vec<Formula> {
    let clauses = random.percent(60);
    let count = if clauses { 2 * count } else { count };
    (0..count)
        .map(|_| match clauses {
            true => {
                let members = 2 + random.below(2);
                Formula::any((0..members).map(|_| tree(random, variables, greatest, 0)))
            }
            false => tree(random, variables, greatest, 3),
        })
        .collect()
}

/// Any formulas over variables in a small box.
pub fn in_box(random: &mut Random, variables: u32, edge: i64) -> Question {
    let mut formulas: Vec<Formula> = (0..variables)
        .flat_map(|x| [at_most(&[(x, 1)], -edge), at_most(&[(x, -1)], -edge)])
        .collect();
    let hypotheses = formulas.len();
    let count = 1 + random.below(6);
    formulas.extend(several(random, count, variables, 3));
    let last = formulas.len();
    Question {
        formulas,
        hypotheses: hypotheses + random.below(last - hypotheses),
        variables,
    }
}

/// Any formulas over variables without bounds.
pub fn wide(random: &mut Random) -> Question {
    let variables = 2 + random.below(5) as u32;
    let greatest = *random.one(&[2, 3, 5]).expect("some");
    let count = 2 + random.below(8);
    Question {
        formulas: several(random, count, variables, greatest),
        hypotheses: random.below(count),
        variables,
    }
}

/// Inequalities with large numbers.
pub fn large(random: &mut Random) -> Question {
    let variables = 2 + random.below(3) as u32;
    let mut formulas = Vec::new();
    for _ in 0..variables + 3 {
        let greatest = 1 << random.between(8, 50);
        let terms: Vec<(u32, i64)> = (0..variables)
            .map(|x| (x, random.between(-greatest, greatest)))
            .collect();
        formulas.push(at_most(&terms, random.between(-greatest, greatest)));
    }
    formulas.push(tree(random, variables, 100, 2));
    Question {
        formulas,
        hypotheses: 2,
        variables,
    }
}

/// A question as a proof of a program asks it: counters of processes at labels, globals that are tied to them, clauses, a step, and the negation of a
/// hypothesis after it.
pub fn step(random: &mut Random) -> Question {
    let labels = 2 + random.below(6) as u32;
    let globals = 1 + random.below(3) as u32;
    let cells = labels + globals;
    // Parameters, then cells before, then cells after.
    let (n, m) = (0, 1);
    let before = |cell: u32| 2 + cell;
    let after = |cell: u32| 2 + cells + cell;
    let label = |random: &mut Random| random.below(labels as usize) as u32;
    let global = |random: &mut Random| labels + random.below(globals as usize) as u32;

    let mut background = vec![at_most(&[(n, -1)], 1), at_most(&[(m, -1)], 0)];
    for now in [&before as &dyn Fn(u32) -> u32, &after] {
        let mut sum: Vec<(u32, i64)> = (0..labels).map(|l| (now(l), 1)).collect();
        sum.push((n, -1));
        background.push(equal(&sum, 0));
        background.extend((0..labels).map(|l| at_most(&[(now(l), -1)], 0)));
    }
    // Lemmas: as functions of the time at which they are said.
    type Lemma = Box<dyn Fn(&dyn Fn(u32) -> u32) -> Formula>;
    let mut lemmas: Vec<Lemma> = Vec::new();
    for _ in 0..2 + random.below(10) {
        let (l, k, g) = (label(random), label(random), global(random));
        let c = random.between(0, 2);
        lemmas.push(match random.below(7) {
            0 => Box::new(move |now| equal(&[(now(g), 1), (now(l), -1), (now(k), -1)], 0)),
            1 => Box::new(move |now| at_most(&[(now(g), 1), (n, -1)], c)),
            2 => Box::new(move |now| at_most(&[(now(g), -1)], -c)),
            3 => Box::new(move |now| {
                Formula::any([at_most(&[(now(l), 1)], 0), at_most(&[(now(g), -1)], 1)])
            }),
            4 => Box::new(move |now| {
                Formula::any([at_most(&[(now(l), 1)], 0), at_most(&[(now(k), 1)], 0)])
            }),
            5 => Box::new(move |now| {
                Formula::any([
                    equal(&[(now(g), 1)], -c),
                    equal(&[(now(l), 1), (m, -1)], 0),
                    at_most(&[(now(k), 1), (now(l), 1)], -1),
                ])
            }),
            _ => Box::new(move |now| at_most(&[(now(l), 1), (now(k), 1)], -1 - c)),
        });
    }
    let mut formulas = background;
    formulas.extend(lemmas.iter().map(|lemma| lemma(&before)));
    let hypotheses = formulas.len();
    let (from, to) = (label(random), label(random));
    formulas.push(at_most(&[(before(from), -1)], 1));
    for cell in 0..labels {
        let change = i64::from(cell == to) - i64::from(cell == from);
        formulas.push(equal(&[(after(cell), 1), (before(cell), -1)], -change));
    }
    let written = global(random);
    for cell in labels..cells {
        let change = if cell == written {
            random.between(-1, 1)
        } else {
            0
        };
        formulas.push(equal(&[(after(cell), 1), (before(cell), -1)], -change));
    }
    if random.percent(60) {
        let (cell, c) = (global(random), random.between(0, 1));
        formulas.push(equal(&[(before(cell), 1)], -c));
    }
    let goal = &lemmas[random.below(lemmas.len())];
    formulas.push(goal(&after).negation().expect("small numbers"));
    Question {
        formulas,
        hypotheses,
        variables: 2 + 2 * cells,
    }
}

/// A question of any kind; most are of the prover's.
pub fn any(random: &mut Random) -> Question {
    match random.below(20) {
        0..2 => in_box(random, 4, 6),
        2..8 => wide(random),
        8 => large(random),
        _ => step(random),
    }
}
