//! Random queues: processes swap their names into `tail`, wait for whoever was there before, and leave.
//!
//! Steps are those of queue locks, most of them in their order; some are left out, doubled or exchanged. Claims say that two processes are not at some labels together, that no two have the same one before
//! them, and what the tail is while somebody is at a label.

use crate::random::Random;

/// The program with this seed.
pub fn generate_queues(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut steps: Vec<&str> = vec![
        "stay;",
        "busy[i] := true;",
        "before := swap(tail, i);",
        "atomic { await before == none || !busy[before]; }",
        "skip;",
        "busy[i] := false;",
    ];
    let others = [
        "before := none;",
        "tail := none;",
        "if tail == i { tail := none; }",
        "atomic { await tail == i; }",
        "atomic { await busy[i]; }",
        "if before != none { busy[before] := false; before := none; }",
        "before := swap(tail, i);",
        "before := swap(tail, before);",
        "busy[i] := true;",
        "choose { skip; } or { goto l0; }",
    ];
    for _ in 0..random.below(4) {
        let place = 1 + random.below(steps.len() - 1);
        let other = random.one(&others).copied().unwrap_or("skip;");
        match random.below(4) {
            0 => steps[place] = other,
            1 if steps.len() > 4 => drop(steps.remove(place)),
            2 if place + 1 < steps.len() => steps.swap(place, place + 1),
            _ => steps.insert(place, other),
        }
    }
    let labels = steps.len();
    let lines: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(number, step)| format!("l{number}: {step}"))
        .collect();
    let body = match random.percent(40) {
        true => format!("loop {{\n{}\n}}", lines.join("\n")),
        false => lines.join("\n"),
    };
    let claims: Vec<String> = (0..5)
        .map(|number| format!("invariant claim{number}: {};", claim(&mut random, labels)))
        .collect();
    format!(
        "param N = 3 where N >= 1;\nshared tail: P? = none;\nshared busy: array[P] of bool = false;\n\
         process P[i: 1..N] {{\nlocal before: P? = none;\n{body}\n}}\n{}",
        claims.join("\n")
    )
}

fn claim(random: &mut Random, labels: usize) -> String {
    let (a, b) = (random.below(labels), random.below(labels));
    match random.below(6) {
        0 => format!("forall i, j in P: i != j -> !(P[i] at l{a} && P[j] at l{a})"),
        1 => format!("forall i, j in P: i != j -> !(P[i] at l{a} && P[j] at l{b})"),
        2 => "forall i, j in P: i != j && P[i].before != none -> P[i].before != P[j].before"
            .to_owned(),
        3 => format!("forall i in P: P[i] at l{a} -> P[i].before != i"),
        4 => format!("forall i in P: P[i] at l{a} -> tail != none"),
        _ => format!("forall i, j in P: P[i].before == j && P[i] at l{a} -> !(P[j] at l{b})"),
    }
}
