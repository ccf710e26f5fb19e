//! Questions about variables in small boxes, answered by trying all values.

use crate::lia::{Tally, check, generate, holds, solve, solver};
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

#[test]
fn formulas_come_and_go() {
    let mut random = Random::new(8);
    let (variables, edge) = (3, 3);
    let mut solver = solver();
    let mut levels: Vec<Vec<Formula>> = Vec::new();
    let mut refuted = 0;
    for _ in 0..6000 {
        let some = generate::in_box(&mut random, variables, edge).formulas;
        let (the_box, some) = some.split_at(2 * variables as usize);
        match random.below(6) {
            0 if levels.len() < 5 => {
                // Some levels bring variables that are new.
                let new = match random.percent(30) {
                    true => the_box,
                    false => &some[..1],
                };
                solver.push(new);
                levels.push(new.to_vec());
            }
            1 => {
                solver.pop();
                levels.pop();
            }
            _ => {
                let question: Vec<Formula> = the_box.iter().chain(some).cloned().collect();
                let formulas = levels.iter().flatten().chain(&question);
                let formulas: Vec<Formula> = formulas.cloned().collect();
                let answer = solver.solve(&question, &|| false);
                check(&solver, &formulas, &answer);
                let expected = some_values(&formulas, &mut Vec::new(), variables as usize, edge);
                assert_eq!(matches!(answer, Answer::Sat(_)), expected, "{formulas:#?}");
                refuted += usize::from(!expected);
            }
        }
    }
    assert!(refuted > 500, "{refuted}");
}
