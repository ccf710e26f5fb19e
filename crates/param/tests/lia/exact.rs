//! Questions with a point, each written out.

use crate::lia::{at_most, equal, holds, proof, solve, solver};
use threadwise_evidence::arithmetic::{Atom, Formula, Proof};
use threadwise_param::lia::{Answer, Limits, Solver, Why};

#[test]
fn a_sum_of_equations_has_no_integers() {
    // x + y = 2a and x - y = 2b + 1: nothing bounds the variables, and fractions satisfy it.
    let (x, y, a, b) = (0, 1, 2, 3);
    let formulas = [
        equal(&[(x, 1), (y, 1), (a, -2)], 0),
        equal(&[(x, 1), (y, -1), (b, -2)], -1),
    ];
    let Answer::Unsat(proof) = solve(&mut solver(), &formulas, 0) else {
        panic!("not refuted")
    };
    assert_eq!(proof::size(&proof), 3);
}

#[test]
fn integers_out_of_reach_are_unknown() {
    // 3(x - 2y) would have to be 1 or 2; nothing bounds x and y.
    let (x, y, z) = (0, 1, 2);
    let formulas = [
        equal(&[(x, 3), (y, -6), (z, 1)], -2),
        at_most(&[(z, 1)], -1),
        at_most(&[(z, -1)], 0),
    ];
    let answer = solve(&mut solver(), &formulas, 0);
    assert_eq!(answer, Answer::Unknown(Why::Branches));
}

#[test]
fn cases_that_do_not_matter_are_not_in_the_proof() {
    // Twelve clauses about variables of their own, and a contradiction that needs one more clause.
    let mut formulas = Vec::new();
    for x in (0..24).step_by(2) {
        // Not satisfied by zeros.
        formulas.push(Formula::any([
            at_most(&[(x, -1), (x + 1, 1)], 1),
            at_most(&[(x, 1), (x + 1, -1)], 1),
        ]));
    }
    let (p, q) = (30, 31);
    formulas.push(Formula::any([
        at_most(&[(p, 1), (q, 1)], 1),
        at_most(&[(p, 1), (q, 2)], 1),
    ]));
    formulas.push(at_most(&[(p, -1)], 0));
    formulas.push(at_most(&[(q, -1)], 0));
    let mut solver = solver();
    let Answer::Unsat(found) = solve(&mut solver, &formulas, 0) else {
        panic!("not refuted")
    };
    assert_eq!(proof::size(&found), 3);
    assert!(solver.statistics().splits < 20);
}

#[test]
fn cores_leave_out_what_was_not_used() {
    let (x, y, z) = (0, 1, 2);
    let mut solver = solver();
    // The second one takes part only by propagation; the third and the fifth do not.
    solver.push(&[at_most(&[(x, 1)], -1)]);
    solver.push(&[
        Formula::any([at_most(&[(x, -1)], 2), at_most(&[(y, 1), (x, 1)], 0)]),
        at_most(&[(z, 1)], 0),
        at_most(&[(x, -1)], 1),
    ]);
    let question = [at_most(&[(z, -1)], -7), at_most(&[(y, -1), (z, 1)], 0)];
    assert!(matches!(solver.solve(&question, &|| false), Answer::Sat(_)));
    let question = [at_most(&[(z, -1)], -7), at_most(&[(y, -1)], 0)];
    assert!(matches!(
        solver.solve(&question, &|| false),
        Answer::Unsat(_)
    ));
    assert_eq!(solver.core(), [0, 1, 3, 5]);
}

#[test]
fn earlier_questions_leave_no_trace() {
    let (x, y) = (0, 1);
    let hypothesis = at_most(&[(x, 1), (y, 1)], -5);
    let question = Formula::any([at_most(&[(x, -1)], 3), at_most(&[(y, -1)], 4)]);
    let other = at_most(&[(x, -2), (y, -3)], 9);
    let mut solver = solver();
    solver.push([&hypothesis]);
    solver.push([&other]);
    solver.solve([&question, &other], &|| false);
    solver.pop();
    let Answer::Sat(model) = solver.solve([&question], &|| false) else {
        panic!()
    };
    let value = |variable| model.value(variable);
    assert!(holds(&hypothesis, &value) && holds(&question, &value));
    solver.pop();
    // Without the hypothesis, values beyond it are allowed.
    let beyond = at_most(&[(x, -1), (y, -1)], 6);
    assert!(matches!(solver.solve([&beyond], &|| false), Answer::Sat(_)));
    solver.push([&hypothesis]);
    let answer = solver.solve([&beyond], &|| false);
    assert_eq!(answer, Answer::Unsat(Proof::Obvious));
}

#[test]
fn limits_and_odd_inequalities_are_unknown() {
    let clauses: Vec<Formula> = (0..6)
        .flat_map(|x| {
            let y = (x + 1) % 6;
            [
                Formula::any([
                    at_most(&[(x, 2), (y, 1)], 1),
                    at_most(&[(x, -2), (y, -1)], 2),
                ]),
                at_most(&[(x, 1)], -3),
                at_most(&[(x, -1)], -3),
            ]
        })
        .collect();
    let limited = |limits: Limits| Solver::new(limits).solve(&clauses, &|| false);
    let splits = Limits {
        splits: 1,
        ..Limits::default()
    };
    assert_eq!(limited(splits), Answer::Unknown(Why::Splits));
    let pivots = Limits {
        pivots: 0,
        ..Limits::default()
    };
    assert_eq!(limited(pivots), Answer::Unknown(Why::Pivots));
    let depth = Limits {
        depth: 0,
        ..Limits::default()
    };
    assert_eq!(limited(depth), Answer::Unknown(Why::Depth));
    assert_eq!(
        solver().solve(&clauses, &|| true),
        Answer::Unknown(Why::Stopped)
    );
    let odd = |terms: &[(u32, i64)], constant| {
        let terms = terms.to_vec();
        solver().solve([&Formula::Atom(Atom { terms, constant })], &|| false)
    };
    assert_eq!(odd(&[(0, 2), (1, 4)], 0), Answer::Unknown(Why::Form));
    assert_eq!(odd(&[(1, 1), (0, 1)], 0), Answer::Unknown(Why::Form));
    assert_eq!(odd(&[(0, 1)], i64::MIN), Answer::Unknown(Why::Overflow));
    assert_eq!(
        odd(&[(0, i64::MIN), (1, 1)], 0),
        Answer::Unknown(Why::Overflow)
    );
}

#[test]
fn constants_are_decided() {
    let mut solver = solver();
    let truth = |solver: &mut Solver, formula: Formula| {
        matches!(solve(solver, &[formula], 0), Answer::Sat(_))
    };
    assert!(truth(&mut solver, at_most(&[], 0)));
    assert!(!truth(&mut solver, at_most(&[], 1)));
    assert!(truth(&mut solver, Formula::And(vec![])));
    assert!(!truth(&mut solver, Formula::Or(vec![])));
    let nested = Formula::Or(vec![at_most(&[], 1), Formula::Or(vec![at_most(&[], 0)])]);
    assert!(truth(&mut solver, nested));
    // Without a question at all.
    assert!(matches!(solver.solve([], &|| false), Answer::Sat(_)));
}
