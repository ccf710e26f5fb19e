//! Random questions, answered by z3 where it is installed.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::lia::generate::{self, Question};
use crate::lia::{Tally, solve, solver};
use threadwise_evidence::arithmetic::Formula;
use threadwise_param::lia::Answer;
use threadwise_testgen::random::Random;

/// Whether z3 is there; if not, says so.
fn z3() -> bool {
    let there = Command::new("z3").arg("--version").output().is_ok();
    if !there {
        eprintln!("z3 is not installed: answers are not compared with it");
    }
    there
}

fn number(number: i64) -> String {
    match number {
        0.. => number.to_string(),
        _ => format!("(- {})", number.unsigned_abs()),
    }
}

fn write(formula: &Formula, text: &mut String) {
    let (word, members) = match formula {
        Formula::Atom(atom) => {
            text.push_str("(<= (+ 0");
            for (variable, coefficient) in &atom.terms {
                let _ = write!(text, " (* {} x{variable})", number(*coefficient));
            }
            let _ = write!(text, " {}) 0)", number(atom.constant));
            return;
        }
        Formula::And(members) => ("(and true", members),
        Formula::Or(members) => ("(or false", members),
    };
    text.push_str(word);
    for member in members {
        text.push(' ');
        write(member, text);
    }
    text.push(')');
}

/// What z3 says about each question: whether it can be satisfied, or nothing.
fn answers(questions: &[Question]) -> Vec<Option<bool>> {
    let mut text = String::from("(set-option :timeout 2000)\n");
    let variables = questions.iter().map(|question| question.variables).max();
    for variable in 0..variables.unwrap_or(0) {
        let _ = writeln!(text, "(declare-const x{variable} Int)");
    }
    for question in questions {
        text.push_str("(push)\n");
        for formula in &question.formulas {
            text.push_str("(assert ");
            write(formula, &mut text);
            text.push_str(")\n");
        }
        text.push_str("(check-sat)\n(pop)\n");
    }
    let mut child = Command::new("z3")
        .arg("-in")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // z3 may end before it has read everything.
        let _ = input.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().expect("z3");
    writer.join().expect("a thread");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let found: Vec<Option<bool>> = (said.lines())
        .map(|line| match line {
            "sat" => Some(true),
            "unsat" => Some(false),
            "unknown" => None,
            other => panic!("z3 says {other}"),
        })
        .collect();
    assert_eq!(found.len(), questions.len(), "{said}");
    found
}

/// Compares so many answers, a thousand at a time.
fn compare(count: usize, seed: u64) {
    if !z3() {
        return;
    }
    let mut random = Random::new(seed);
    let mut solver = solver();
    let mut tally = Tally::default();
    while tally.questions < count {
        let questions: Vec<Question> = (0..1000).map(|_| generate::any(&mut random)).collect();
        for (question, theirs) in questions.iter().zip(answers(&questions)) {
            let before = *solver.statistics();
            let mine = solve(&mut solver, &question.formulas, question.hypotheses);
            tally.count(&mine, &before, solver.statistics());
            let mine = match mine {
                Answer::Sat(_) => true,
                Answer::Unsat(_) => false,
                Answer::Unknown(_) => continue,
            };
            // z3 may give up, too.
            if theirs.is_some_and(|theirs| theirs != mine) {
                panic!("z3 says {theirs:?} of {:#?}", question.formulas);
            }
        }
    }
    tally.at_least(&[
        ("sat", tally.sat, 30),
        ("unsat", tally.unsat, 30),
        ("decided", tally.sat + tally.unsat, 97),
        ("with cases", tally.split, 25),
        ("with integer cases", tally.branched, 5),
        ("with big numbers", tally.big, 4),
    ]);
}

#[test]
fn z3_agrees() {
    compare(2000, 1);
}

/// The long run: `cargo test --release -p threadwise-param --test all -- --ignored --nocapture lia::`.
#[test]
#[ignore = "takes minutes"]
fn z3_agrees_on_many() {
    compare(100_000, 2);
}
