//! Questions about variables in small boxes, answered by trying all values.

use crate::{Tally, generate, holds, solve, solver};
use threadwise_evidence::arithmetic::Formula;
use threadwise_param::lia::Answer;
use threadwise_testgen::random::Random;

/// Whether some values from `-edge` to `edge` satisfy all formulas.
fn some_values(formulas: &[Formula], values: &mut Vec<i64>, variables: usize, edge: i64) -> bool {
    if values.len() == variables {
        let value = |variable: u32| values[variable as usize];
        return formulas.iter().all(|formula| holds(formula, &value));
    }
    (-edge..=edge).any(|value| {
        values.push(value);
        let found = some_values(formulas, values, variables, edge);
        values.pop();
        found
    })
}

#[test]
fn small_boxes_are_decided_as_by_trying() {
    let mut random = Random::new(7);
    let mut solver = solver();
    let mut tally = Tally::default();
    for _ in 0..4000 {
        let (variables, edge) = *random.one(&[(1, 4), (2, 4), (3, 3), (4, 1)]).expect("some");
        let question = generate::in_box(&mut random, variables, edge);
        let before = *solver.statistics();
        let answer = solve(&mut solver, &question.formulas, question.hypotheses);
        tally.count(&answer, &before, solver.statistics());
        let expected = some_values(
            &question.formulas,
            &mut Vec::new(),
            variables as usize,
            edge,
        );
        match answer {
            Answer::Sat(_) => assert!(expected),
            Answer::Unsat(_) => assert!(!expected, "{:#?}", question.formulas),
            Answer::Unknown(why) => panic!("{why}"),
        }
    }
    tally.at_least(&[
        ("sat", tally.sat, 25),
        ("unsat", tally.unsat, 25),
        ("with cases", tally.split, 20),
        ("with integer cases", tally.branched, 5),
    ]);
}
