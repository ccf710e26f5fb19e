//! Random programs in which processes wait for each other, with liveness properties under fairness.
//!
//! A process goes through a few steps, round and round or once: it takes and gives back a semaphore, counts itself in and out, rests, or chooses. What is assumed of the scheduler and of the semaphore,
//! and what is promised, is picked at random, so some properties hold because of just what is assumed, and some for no number of processes.

use crate::random::Random;

/// The program with this seed.
pub fn waiting(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x3c6e_f372);
    let least = random.between(1, 2);
    let mut lines = vec![
        format!("param N = 2 where N >= {least};"),
        format!("shared x: bool = {};", random.percent(80)),
        "shared c: 0..N = 0;".to_owned(),
        "process P[i: 1..N] {".to_owned(),
    ];
    let repeats = random.percent(65);
    let mut steps: Vec<String> = Vec::new();
    if random.percent(40) {
        steps.push(if random.percent(60) { "stay;" } else { "skip;" }.to_owned());
    }
    let inside = random.between(0, 2);
    match random.below(4) {
        0 | 1 => {
            steps.push("atomic { await x; x := false; }".to_owned());
            for _ in 0..inside {
                steps.push(if random.percent(15) { "stay;" } else { "skip;" }.to_owned());
            }
            if random.percent(90) {
                steps.push("x := true;".to_owned());
            }
        }
        2 => {
            steps.push("atomic { await c < N; c := c + 1; }".to_owned());
            if random.percent(60) {
                let limit = if random.percent(50) { "N" } else { "2" };
                steps.push(format!("await c >= {limit};"));
            }
            if random.percent(60) {
                steps.push("atomic { await c > 0; c := c - 1; }".to_owned());
            }
        }
        _ => {
            steps.push("choose { x := true; } or { x := false; }".to_owned());
            steps.push("await x;".to_owned());
        }
    }
    if random.percent(25) {
        steps.push("choose { skip; } or { await x; }".to_owned());
    }
    let count = steps.len();
    let steps = steps.iter().enumerate();
    let steps = steps.map(|(number, step)| format!("l{number}: {step}"));
    let steps: Vec<String> = steps.collect();
    match repeats {
        true => lines.push(format!("    loop {{ {} }}", steps.join(" "))),
        false => lines.push(format!("    {}", steps.join(" "))),
    }
    lines.push("}".to_owned());
    let label = |random: &mut Random| match random.below(count + 1) {
        last if last == count && !repeats => "done".to_owned(),
        other => format!("l{}", other.min(count - 1)),
    };
    lines.push("fairness scheduling: unconditional;".to_owned());
    for name in ["first", "second"] {
        let (from, to) = (label(&mut random), label(&mut random));
        let test = random
            .one(&["", " && x", " && c > 0"])
            .copied()
            .unwrap_or("");
        lines.push(match random.below(5) {
            0 => format!("fairness {name}: weak x;"),
            1 => format!("fairness {name}: strong if x then c > 0;"),
            _ => format!(
                "fairness {name}: strong forall i in P: if P[i] at {from}{test} then P[i] at {to};"
            ),
        });
    }
    for number in 0..3 {
        let under = match random.below(8) {
            0 => "",
            1..4 => " under scheduling",
            4..6 => " under scheduling, first",
            6 => " under scheduling, first, second",
            _ => " under first",
        };
        let (from, to) = (label(&mut random), label(&mut random));
        let state = random
            .one(&["x", "!x", "c == 0", "c > 0"])
            .copied()
            .unwrap_or("x");
        let formula = match random.below(11) {
            0 => format!("G F {}", bracketed(state)),
            1 => format!("forall i in P: F P[i] at {to}"),
            2 => format!("forall i in P: G F P[i] at {to}"),
            3 => format!("G ({state} -> F (exists i in P: P[i] at {to}))"),
            4 => format!(
                "(forall i in P: G (P[i] at {from} -> F P[i] at {to})) -> (forall i in P: G F P[i] at l0)"
            ),
            5 => format!("forall i in P: F G P[i] at {to}"),
            6 => format!(
                "G ((exists i in P: P[i] at {from}) -> F G {})",
                bracketed(state)
            ),
            7 => format!("forall i in P: (G F P[i] at {from}) -> (G F P[i] at {to})"),
            _ => format!("forall i in P: G (P[i] at {from} -> F P[i] at {to})"),
        };
        lines.push(format!("liveness live{number}{under}: {formula};"));
    }
    lines.join("\n") + "\n"
}

fn bracketed(state: &str) -> String {
    match state.len() {
        0..3 => state.to_owned(),
        _ => format!("({state})"),
    }
}
