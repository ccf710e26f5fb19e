//! Interpolants: what they follow from, what they contradict, and what they speak of.

use std::collections::BTreeSet;

use crate::lia::{at_most, equal, generate, solve, solver};
use threadwise_evidence::arithmetic::Formula;
use threadwise_param::lia::{Answer, Limits, interpolate};
use threadwise_testgen::random::Random;

fn variables(formulas: &[Formula]) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for formula in formulas {
        match formula {
            Formula::Atom(atom) => found.extend(atom.terms.iter().map(|(x, _)| *x)),
            Formula::And(members) | Formula::Or(members) => found.extend(variables(members)),
        }
    }
    found
}

/// The interpolant, if there is one that could be checked.
fn checked(a: &[Formula], b: &[Formula]) -> Option<Formula> {
    let found = interpolate(a, b, Limits::default(), &|| false)?;
    let mut solver = solver();
    let mut unsat = |formulas: Vec<Formula>| {
        // Interpolants may have larger numbers; a limit is no mistake, but must be rare.
        match solve(&mut solver, &formulas, 0) {
            Answer::Sat(model) => panic!("{found:?} is none of {a:#?} and {b:#?}: {model:?}"),
            Answer::Unsat(_) => true,
            Answer::Unknown(_) => false,
        }
    };
    let mut implied = a.to_vec();
    implied.push(found.negation().expect("fits"));
    let mut refuting = b.to_vec();
    refuting.push(found.clone());
    if !unsat(implied) || !unsat(refuting) {
        return None;
    }
    let (of_a, of_b) = (variables(a), variables(b));
    for variable in variables(std::slice::from_ref(&found)) {
        assert!(
            of_a.contains(&variable) && of_b.contains(&variable),
            "{found:?}"
        );
    }
    Some(found)
}

#[test]
fn a_sum_gives_what_the_first_list_adds() {
    let (x, y, z) = (0, 1, 2);
    // x <= y and y <= z; against z <= x - 1.
    let a = [
        at_most(&[(x, 1), (y, -1)], 0),
        at_most(&[(y, 1), (z, -1)], 0),
    ];
    let b = [at_most(&[(z, 1), (x, -1)], 1)];
    assert_eq!(checked(&a, &b), Some(at_most(&[(x, 1), (z, -1)], 0)));
    // The other way round.
    assert_eq!(checked(&b, &a), Some(at_most(&[(z, 1), (x, -1)], 1)));
}

#[test]
fn lists_that_contradict_themselves_give_constants() {
    let nothing = [at_most(&[(0, 1)], 0), at_most(&[(0, -1)], 1)];
    let something = [at_most(&[(0, 1)], -3)];
    assert_eq!(
        checked(&nothing, &something),
        Some(Formula::constant(false))
    );
    assert_eq!(checked(&something, &nothing), Some(Formula::constant(true)));
    assert_eq!(checked(&something, &something), None);
}

#[test]
fn cases_become_disjunctions_and_conjunctions() {
    let x = 0;
    // x is 2 or 7; against x <= 1 or x >= 3, and x <= 2 or x >= 8.
    let either = [Formula::any([equal(&[(x, 1)], -2), equal(&[(x, 1)], -7)])];
    let neither = [
        Formula::any([at_most(&[(x, 1)], -1), at_most(&[(x, -1)], 3)]),
        Formula::any([at_most(&[(x, 1)], -2), at_most(&[(x, -1)], 8)]),
    ];
    for (a, b) in [(&either[..], &neither[..]), (&neither, &either)] {
        let found = checked(a, b).expect("an interpolant");
        // No single inequality can be one.
        assert!(!matches!(found, Formula::Atom(_)), "{found:?}");
    }
}

#[test]
fn what_takes_divisibility_has_no_answer() {
    let (x, y, s, t) = (0, 1, 2, 3);
    // x + y is even, and odd: no formula over inequalities of x and y says either.
    let even = [equal(&[(x, 1), (y, 1), (s, -2)], 0)];
    let odd = [equal(&[(x, 1), (y, 1), (t, -2)], -1)];
    let both = [&even[..], &odd].concat();
    assert!(matches!(solve(&mut solver(), &both, 0), Answer::Unsat(_)));
    assert_eq!(checked(&even, &odd), None);
}

#[test]
fn random_interpolants_are_interpolants() {
    let mut random = Random::new(11);
    let (mut refuted, mut found, mut shaped) = (0, 0, 0);
    for _ in 0..4000 {
        let question = match random.below(3) {
            0 => generate::in_box(&mut random, 4, 4),
            1 => generate::wide(&mut random),
            _ => generate::step(&mut random),
        };
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for (position, formula) in question.formulas.into_iter().enumerate() {
            let first = match random.percent(60) {
                true => position < question.hypotheses,
                false => random.percent(50),
            };
            if first { &mut a } else { &mut b }.push(formula);
        }
        let formulas = [a.as_slice(), &b].concat();
        if let Answer::Unsat(_) = solve(&mut solver(), &formulas, 0) {
            refuted += 1;
            if let Some(interpolant) = checked(&a, &b) {
                found += 1;
                shaped += usize::from(
                    !matches!(interpolant, Formula::Atom(_)) && interpolant.truth().is_none(),
                );
            }
        }
    }
    println!("{refuted} refuted, {found} with interpolants, {shaped} with cases");
    assert!(refuted > 1500 && found * 100 > refuted * 99 && shaped * 10 > found);
}
