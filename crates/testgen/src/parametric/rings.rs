//! Random protocols on a ring: a step asks for flags, for a pointer and for the labels' flags of neighbours, and changes its own or those of a neighbour.
//!
//! Claims are about a process and its neighbours, about two processes, or about who is whose neighbour. Some hold for every number of processes, some for two only, and some from some number on.

use crate::random::Random;

/// The protocol with this seed.
pub fn generate_rings(seed: u64) -> String {
    let random = Random::new(seed);
    let mut writer = Writer { random };
    let least = 1 + writer.random.below(3);
    let steps: Vec<String> = (0..2 + writer.random.below(3))
        .map(|number| format!("l{number}: {}", writer.step()))
        .collect();
    let labels = steps.len();
    let claims: Vec<String> = (0..5).map(|number| writer.claim(number, labels)).collect();
    let at_first = writer
        .random
        .one(&["false", "true"])
        .copied()
        .unwrap_or("false");
    format!(
        "param N = 3 where N >= {least};\nshared flag: array[P] of bool = {at_first};\nshared friend: array[P] of P? = none;\n\
         ring process P[i: 1..N] {{\nlocal seen: P? = none;\nloop {{\n{}\n}}\n}}\n{}",
        steps.join("\n"),
        claims.join("\n")
    )
}

struct Writer {
    random: Random,
}

impl Writer {
    /// A process.
    fn who(&mut self) -> &'static str {
        let all = ["i", "i", "next(i)", "prev(i)", "next(next(i))"];
        self.random.one(&all).copied().unwrap_or("i")
    }

    fn truth(&mut self) -> &'static str {
        if self.random.percent(50) {
            "true"
        } else {
            "false"
        }
    }

    fn step(&mut self) -> String {
        let (a, b, c) = (self.who(), self.who(), self.who());
        let guard = match self.random.below(8) {
            0 => String::new(),
            1 | 2 => format!("await flag[{a}]; "),
            3 | 4 => format!("await !flag[{a}]; "),
            5 => format!("await friend[{a}] == none; "),
            6 => format!("await friend[{a}] == {c}; "),
            _ => "await i == 1; ".to_owned(),
        };
        let truth = self.truth();
        let change = match self.random.below(9) {
            0..=2 => format!("flag[{b}] := {truth};"),
            3 => format!("flag[{b}] := {truth}; flag[{c}] := flag[{a}];"),
            4 | 5 => format!("friend[{b}] := {c};"),
            6 => format!("friend[{b}] := none;"),
            7 => format!("seen := friend[{b}];"),
            _ => format!("if seen != none {{ flag[seen] := {truth}; seen := none; }}"),
        };
        format!("atomic {{ {guard}{change} }}")
    }

    fn label(&mut self, labels: usize) -> String {
        format!("l{}", self.random.below(labels))
    }

    fn claim(&mut self, number: usize, labels: usize) -> String {
        let (a, b) = (self.label(labels), self.label(labels));
        let (who, other) = (self.who(), self.who());
        let claim = match self.random.below(10) {
            0 | 1 => format!("forall i in P: !(P[i] at {a} && P[next(i)] at {b})"),
            2 => format!("forall i, j in P: i != j -> !(P[i] at {a} && P[j] at {b})"),
            3 => format!("forall i in P: P[i] at {a} -> flag[{who}]"),
            4 => format!("forall i in P: P[i] at {a} -> !flag[{who}]"),
            5 => format!("forall i in P: friend[{other}] == none || friend[{other}] == {who}"),
            6 => format!("forall i in P: {who} != {other}"),
            7 => format!("forall i, j in P: i != j -> {who} != j"),
            8 => format!("forall i, j in P: i < j -> next(i) {} j", self.sign()),
            _ => format!("forall i, j in P: next(i) == {other} && i != j -> prev(j) != i"),
        };
        format!("invariant claim{number}: {claim};")
    }

    fn sign(&mut self) -> &'static str {
        self.random.one(&["<=", "<", "!="]).copied().unwrap_or("<=")
    }
}
