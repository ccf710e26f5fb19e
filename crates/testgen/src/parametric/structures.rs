//! Random programs whose processes form a structure: lists and stacks of pointers, rings, and queues in arrays whose size is a parameter.
//!
//! A program is put together from a protocol of the kind, in one of several spellings, and claims about who is where and what is written where. In half of the programs something
//! is changed ([`mutants`](super::mutants)); so some claims hold for every number of processes, some for none, and some from or up to a number that nobody chose.

use super::mutants::changed;
use crate::random::Random;

/// The program with this seed.
pub fn generate_structures(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xbb67_ae85);
    let text = match random.below(3) {
        0 => pointers(&mut random),
        1 => ring(&mut random),
        _ => slots(&mut random),
    };
    match random.percent(50) {
        true => changed(&text, &mut random).unwrap_or(text),
        false => text,
    }
}

/// The program with this seed, a ring of places that are filled at its back and emptied at its front. It is changed in a third of the programs.
pub fn generate_buffers(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x5be0_cd19);
    let text = buffer(&mut random);
    match random.percent(35) {
        true => changed(&text, &mut random).unwrap_or(text),
        false => text,
    }
}

/// The program with this seed, in which processes go up level by level and somebody is kept back on each. It is changed in a third of the programs.
pub fn generate_levels(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x1f83_d9ab);
    let text = levels(&mut random);
    match random.percent(35) {
        true => changed(&text, &mut random).unwrap_or(text),
        false => text,
    }
}

/// One of some texts.
fn pick(random: &mut Random, texts: &[&str]) -> String {
    random.one(texts).copied().unwrap_or_default().to_owned()
}

/// A program of these parts: a declaration of the template, the steps with their labels, and claims.
fn program(random: &mut Random, head: &str, steps: &[String], claims: &[&str]) -> String {
    let steps = steps.iter().enumerate();
    let steps: Vec<String> = steps.map(|(at, step)| format!("l{at}: {step}")).collect();
    let mut text = match random.percent(70) {
        true => format!("{head}\nloop {{\n{}\n}}\n}}\n", steps.join("\n")),
        false => format!("{head}\n{}\n}}\n", steps.join("\n")),
    };
    let mut number = 0;
    while number < 4 {
        let claim = pick(random, claims);
        let label = |random: &mut Random| format!("l{}", random.below(steps.len()));
        let claim = claim
            .replace("HERE", &label(random))
            .replace("YONDER", &label(random));
        text.push_str(&format!("invariant claim{number}: {claim};\n"));
        number += 1;
    }
    text
}

/// No two processes from one step to another one.
fn alone(from: usize, to: usize) -> String {
    let labels: Vec<String> = (from..=to).map(|at| format!("l{at}")).collect();
    let labels = labels.join(", ");
    format!("forall i, j in P: i != j -> !(P[i] at {{{labels}}} && P[j] at {{{labels}}})")
}

/// A queue, a stack, or a lock with an owner, of pointers to processes.
fn pointers(random: &mut Random) -> String {
    let least = random.between(0, 2);
    let order = pick(random, &["", "", "ordered "]);
    let head = format!(
        "param N = 2 where N >= {least};\nshared last: P? = none;\nshared link: array[P] of P? = none;\n\
         {order}process P[i: 1..N] {{\nlocal p: P? = none;"
    );
    let (steps, exclusive): (Vec<&str>, (usize, usize)) = match random.below(5) {
        // The lock of Craig, Landin and Hagersten, with the links in shared memory.
        0 => (
            vec![
                "p := swap(last, i);",
                "await p == none || link[p] == i;",
                "skip;",
                "if last == i { last := none; } else { link[i] := last; }",
                "p := none;",
            ],
            (2, 2),
        ),
        1 => (
            vec![
                "atomic { await last == none; last := i; }",
                "link[i] := last;",
                "skip;",
                "last := none;",
            ],
            (1, 3),
        ),
        2 => (
            vec![
                "cas(last, none, i);",
                "await last == i;",
                "link[i] := none;",
                "last := none;",
            ],
            (2, 3),
        ),
        // A stack: a node is taken away by who has put it there, or it is seen by others.
        3 => (
            vec![
                "p := last;",
                "link[i] := p;",
                "atomic { if last == p { last := i; } else { goto l0; } }",
                "p := last;",
                "atomic { await p != none && last == p; last := link[p]; }",
                "p := none;",
            ],
            (5, 5),
        ),
        _ => (
            vec![
                "atomic { await forall j in P: link[j] != i; p := last; }",
                "atomic { await link[i] == none; link[i] := p; }",
                "atomic { for j in P { if link[j] == i { link[j] := none; } } last := i; }",
                "link[i] := none;",
            ],
            (2, 2),
        ),
    };
    let steps: Vec<String> = steps.into_iter().map(str::to_owned).collect();
    let exclusive = alone(exclusive.0, exclusive.1);
    let claims = [
        exclusive.as_str(),
        exclusive.as_str(),
        "forall i in P: P[i] at HERE -> last != none",
        "forall i in P: P[i] at HERE -> last == i",
        "forall i in P: last == i -> !(P[i] at HERE)",
        "forall i in P: P[i].p == none || !(P[i] at HERE)",
        "forall i, j in P: i != j && P[i].p != none -> P[i].p != P[j].p",
        "forall i, j in P: i != j && link[i] != none -> link[i] != link[j]",
        "forall i in P: link[i] != i",
        "forall i in P: P[i].p != i",
        "last == none -> !(exists i in P: P[i] at HERE)",
        "forall i, j in P: i != j && P[i] at HERE && P[j] at YONDER -> link[i] != j",
    ];
    program(random, &head, &steps, &claims)
}

/// A token, forks, or names that go round.
fn ring(random: &mut Random) -> String {
    let least = random.between(0, 3);
    let holder = random.percent(40) && least > 0;
    let mut head =
        format!("param N = 3 where N >= {least};\nshared fork: array[P] of bool = false;\n");
    if holder {
        head.push_str("shared token: P = 1;\n");
    }
    head.push_str("ring process P[i: 1..N] {\nlocal has: bool = (i == 1);");
    let (aside, back) = match random.percent(75) {
        true => ("next", "prev"),
        false => ("prev", "next"),
    };
    let (steps, exclusive): (Vec<String>, (usize, usize)) = match (random.below(3), holder) {
        (0, true) => (
            vec![
                "await token == i;".to_owned(),
                "skip;".to_owned(),
                format!("token := {aside}(i);"),
            ],
            (1, 2),
        ),
        (_, true) => (
            vec![
                "skip;".to_owned(),
                "atomic { await token == i || !has; has := token == i; }".to_owned(),
                "await token == i;".to_owned(),
                format!("atomic {{ token := {aside}(token); has := false; }}"),
            ],
            (3, 3),
        ),
        (0, false) => (
            vec![
                "atomic { await has || fork[i]; fork[i] := false; has := false; }".to_owned(),
                "skip;".to_owned(),
                format!("fork[{aside}(i)] := true;"),
            ],
            (1, 2),
        ),
        (1, false) => (
            vec![
                "atomic { await !fork[i]; fork[i] := true; }".to_owned(),
                format!("atomic {{ await !fork[{aside}(i)]; fork[{aside}(i)] := true; }}"),
                "skip;".to_owned(),
                "fork[i] := false;".to_owned(),
                format!("fork[{aside}(i)] := false;"),
            ],
            (2, 2),
        ),
        _ => (
            vec![
                format!(
                    "atomic {{ await !fork[{aside}(i)] && !fork[{back}(i)]; fork[i] := true; }}"
                ),
                "skip;".to_owned(),
                "fork[i] := false;".to_owned(),
            ],
            (1, 2),
        ),
    };
    let all = alone(exclusive.0, exclusive.1);
    let at = |who: &str| {
        let labels: Vec<String> = (exclusive.0..=exclusive.1)
            .map(|at| format!("l{at}"))
            .collect();
        format!("P[{who}] at {{{}}}", labels.join(", "))
    };
    let near = format!(
        "forall i in P: i != next(i) -> !({} && {})",
        at("i"),
        at("next(i)")
    );
    let near_too = format!(
        "forall i in P: {} -> !({}) || next(i) == i",
        at("i"),
        at("prev(i)")
    );
    let mut claims = vec![
        all.as_str(),
        near.as_str(),
        near_too.as_str(),
        "forall i in P: next(prev(i)) == i",
        "forall i in P: P[i] at HERE -> !fork[next(i)]",
        "forall i in P: P[i] at HERE -> fork[i]",
        "forall i, j in P: i != j && fork[i] -> !fork[j]",
        "forall i in P: fork[i] -> !fork[next(i)] || i == next(i)",
        "forall i in P: P[i] at HERE -> !(P[next(i)] at YONDER)",
        "forall i, j in P: i < j -> !(P[i].has && P[j].has)",
        "(count i in P: fork[i]) <= 1",
        "exists i in P: P[i] at HERE || fork[i]",
    ];
    if holder {
        claims.extend([
            "forall i in P: P[i] at HERE -> token == i",
            "forall i in P: token == i -> !(P[next(i)] at HERE) || next(i) == i",
        ]);
    }
    let steps: Vec<String> = steps;
    program(random, &head, &steps, &claims)
}

/// Turns that are drawn, and an array of places whose size is a parameter.
fn slots(random: &mut Random) -> String {
    let least = random.between(1, 2);
    let (size, extent, last) = match random.below(3) {
        0 => ("N", "", "N - 1"),
        1 => ("K", "param K = 2 where K >= 1;\n", "K - 1"),
        _ => ("K", "param K = 3 where K >= N;\n", "K - 1"),
    };
    let filled = pick(random, &["may[0..LAST]", "bits"]).starts_with("may");
    let kind = if filled { "bool = false" } else { "0..2 = 0" };
    let head = format!(
        "param N = 2 where N >= {least};\n{extent}shared turn: 0..{last} = 0;\nshared may: array[0..{last}] of {kind};\n\
         shared first: bool = true;\nshared who: array[0..{last}] of P? = none;\nprocess P[i: 1..N] {{\nlocal m: 0..{last} = 0;"
    );
    let (set, clear, is) = match filled {
        true => ("may[AT] := true;", "may[AT] := false;", "may[AT]"),
        false => ("may[AT] := 1;", "may[AT] := 0;", "may[AT] > 0"),
    };
    let at = |text: &str, place: &str| text.replace("AT", place);
    let after = format!("(m + 1) % {size}");
    let (steps, exclusive) = match random.below(3) {
        0 => (
            vec![
                format!("atomic {{ m, turn := turn, (turn + 1) % {size}; }}"),
                format!(
                    "atomic {{ await {} || first && m == 0; first := false; {} }}",
                    at(is, "m"),
                    at(clear, "m")
                ),
                "skip;".to_owned(),
                at(set, &after),
            ],
            (2, 3),
        ),
        1 => (
            vec![
                format!(
                    "atomic {{ await who[turn] == none; who[turn] := i; m := turn; turn := (turn + 1) % {size}; }}"
                ),
                at(set, "m"),
                format!("assert {};", at(is, "m")),
                format!("atomic {{ {} who[m] := none; }}", at(clear, "m")),
            ],
            (1, 3),
        ),
        _ => (
            vec![
                "havoc m;".to_owned(),
                format!("atomic {{ await !({}); {} }}", at(is, "m"), at(set, "m")),
                "who[m] := i;".to_owned(),
                "assert who[m] == i;".to_owned(),
                at(clear, "m"),
            ],
            (2, 4),
        ),
    };
    let labels: Vec<String> = (exclusive.0..=exclusive.1)
        .map(|at| format!("l{at}"))
        .collect();
    let labels = labels.join(", ");
    let all = alone(exclusive.0, exclusive.1);
    let apart = format!(
        "forall i, j in P: i != j && P[i] at {{{labels}}} && P[j] at {{{labels}}} -> P[i].m != P[j].m"
    );
    let mine = format!("forall i in P: P[i] at {{{labels}}} -> who[P[i].m] == i");
    let raised = format!("forall i in P: P[i] at HERE -> {}", at(is, "P[i].m"));
    let bound = format!("forall i in P: P[i].m <= {last} && turn < {size}");
    let claims = [
        all.as_str(),
        apart.as_str(),
        apart.as_str(),
        mine.as_str(),
        raised.as_str(),
        bound.as_str(),
        "forall i, j in P: i != j && P[i] at HERE && P[j] at YONDER -> P[i].m != P[j].m",
        "(exists i in P: P[i] at HERE) -> !first",
    ];
    program(random, &head, &steps, &claims)
}

/// A ring of places: how many are full is counted, or one stays free, or semaphores count both before and after.
fn buffer(random: &mut Random) -> String {
    let head = "param N = 2 where N >= 1;\nparam C = 2 where C >= 1;\nshared full: array[0..C - 1] of bool = false;\n\
         shared front, back: 0..C - 1 = 0;\nshared used, filled: 0..C = 0;\nshared gaps: 0..C = C;\nprocess P[i: 1..N] {";
    let put = "assert !full[back]; full[back], back := true, (back + 1) % C;";
    let get = "assert full[front]; full[front], front := false, (front + 1) % C;";
    let steps = match random.below(4) {
        0 => vec![
            format!("atomic {{ await used < C; {put} used := used + 1; }}"),
            format!("atomic {{ await used > 0; {get} used := used - 1; }}"),
        ],
        1 => vec![
            format!("atomic {{ await (back + 1) % C != front; {put} }}"),
            format!("atomic {{ await front != back; {get} }}"),
        ],
        2 => vec![
            "atomic { await gaps > 0; gaps := gaps - 1; }".to_owned(),
            format!("atomic {{ {put} }}"),
            "filled := filled + 1;".to_owned(),
            "atomic { await filled > 0; filled := filled - 1; }".to_owned(),
            format!("atomic {{ {get} }}"),
            "gaps := gaps + 1;".to_owned(),
        ],
        // The place that is emptied is told before it is emptied.
        _ => vec![
            format!("atomic {{ await gaps > 0; gaps := gaps - 1; {put} filled := filled + 1; }}"),
            "atomic { await filled > 0; filled := filled - 1; }".to_owned(),
            format!("atomic {{ {get} gaps := gaps + 1; }}"),
        ],
    };
    let claims = [
        "front < back -> used == back - front || used == 0",
        "front == back && used == 0 && filled == 0 && gaps == C -> (forall k in 0..C - 1: !full[k]) || full[front]",
        "forall j, k in 0..C - 1: front == back && full[j] -> full[k]",
        "forall k in 0..C - 1: front <= k && k < back -> full[k]",
        "forall k in 0..C - 1: full[k] && back <= k -> front <= k && back <= front",
        "forall k in 0..C - 1: full[k] -> front != back || used == C || gaps == 0",
        "gaps + filled <= C",
        "forall i in P: P[i] at HERE -> front != back || full[front]",
        "(exists k in 0..C - 1: full[k]) || front == back",
    ];
    program(random, head, &steps, &claims)
}

/// Levels, each with the process that came there last: it goes on if another one comes, or if nobody else is as high.
fn levels(random: &mut Random) -> String {
    let (extent, top) = match random.below(4) {
        0 => ("param K = 2 where K >= N;\n", "K"),
        1 => ("param K = 2 where K >= 1;\n", "K"),
        _ => ("", "N"),
    };
    let low = random.between(0, 1);
    let (kind, first) = match random.percent(60) {
        true => ("P?", "none"),
        false => ("P", "any"),
    };
    let head = format!(
        "param N = 2 where N >= 1;\n{extent}shared h: array[P] of 0..{top} = 0;\nshared s: array[{low}..{top}] of {kind} = {first};\nprocess P[i: 1..N] {{"
    );
    let lower = pick(
        random,
        &[
            "(forall j in P: j != i -> h[j] < h[i])",
            "!(exists j in P: j != i && h[j] >= h[i])",
            "(forall j in P: j == i || h[j] + 1 <= h[i])",
            "(forall j in P: h[j] < h[i] || i == j)",
            "(forall j in P: j != i -> h[j] <= h[i])",
        ],
    );
    let passes = pick(
        random,
        &["s[h[i]] != i || LOWER", "LOWER || s[h[i]] != i", "LOWER"],
    );
    let passes = passes.replace("LOWER", &lower);
    let rise = "h[i], s[h[i] + 1] := h[i] + 1, i;";
    let at_top = format!("h[i] == {top}");
    let steps = match random.below(2) {
        0 => vec![
            "atomic { h[i], s[1] := 1, i; }".to_owned(),
            format!("if {at_top} {{ goto l4; }}"),
            format!("await {passes};"),
            format!("atomic {{ {rise} }} goto l1;"),
            "skip;".to_owned(),
            "h[i] := 0;".to_owned(),
        ],
        _ => vec![
            "atomic { h[i], s[1] := 1, i; }".to_owned(),
            format!("if {at_top} {{ goto l3; }}"),
            format!("atomic {{ await {passes}; {rise} }} goto l1;"),
            "skip;".to_owned(),
            "h[i] := 0;".to_owned(),
        ],
    };
    let last = steps.len() - 1;
    let all = alone(last - 1, last);
    let claims = [
        all.as_str(),
        all.as_str(),
        "forall i in P: P[i] at HERE -> h[i] >= 1",
        "forall i, j in P: i != j && P[i] at HERE && P[j] at YONDER -> h[i] != h[j]",
        "forall i, j in P: i != j && P[i] at HERE -> h[j] <= h[i]",
        "forall i, j in P: i != j && P[i] at HERE -> h[j] < TOP",
        "forall i in P: h[i] >= 1 -> s[h[i]] == i || !(P[i] at HERE)",
        "(count i in P: P[i] at HERE) <= 1",
    ];
    program(random, &head, &steps, &claims).replace("TOP", top)
}
