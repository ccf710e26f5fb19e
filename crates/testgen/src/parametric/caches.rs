//! Random protocols of caches: each process has a line, and a step changes its own and those of everybody else at once.
//!
//! A step asks for the state of the own line, and perhaps for those of all others, moves the others from states to states, and then its own. Claims say which states two lines may not
//! have together. Some of them happen to hold for every number of processes, some from no number on.

use crate::random::Random;

const STATES: [&str; 4] = ["invalid", "shared_", "exclusive", "modified"];

/// The protocol with this seed.
pub fn generate_caches(seed: u64) -> String {
    let mut random = Random::new(seed);
    let states = 3 + random.below(2);
    let order = if random.percent(40) { "ordered " } else { "" };
    let mut writer = Writer { random, states };
    let actions: Vec<String> = (0..2 + writer.random.below(3))
        .map(|_| writer.action())
        .collect();
    let claims: Vec<String> = (0..4).map(|number| writer.claim(number)).collect();
    format!(
        "param N = 3 where N >= 1;\nenum Line {{ {} }}\nshared line: array[P] of Line = invalid;\n\
         {order}process P[i: 1..N] {{\nlocal asks: array[P] of bool = false;\nloop {{ l: choose {{ {} }} }}\n}}\n{}",
        STATES[..states].join(", "),
        actions.join(" }\nor { "),
        claims.join("\n")
    )
}

struct Writer {
    random: Random,
    states: usize,
}

impl Writer {
    fn state(&mut self) -> &'static str {
        STATES[self.random.below(self.states)]
    }

    fn action(&mut self) -> String {
        let mut text = String::new();
        let (own, other) = (self.state(), self.state());
        text.push_str(&match self.random.below(5) {
            0 => String::new(),
            1 => format!("await line[i] == {own}; "),
            2 => format!("await line[i] != {own}; "),
            3 => format!("await forall j in P: j != i -> line[j] != {other}; "),
            _ => {
                format!("await line[i] == {own} && (exists j in P: j != i && line[j] == {other}); ")
            }
        });
        text.push_str(&self.everybody());
        let own = self.state();
        text.push_str(&match self.random.below(6) {
            0 => "skip;".to_owned(),
            1 => format!("if exists j in P: line[j] == {other} {{ line[i] := {own}; }}"),
            _ => format!("line[i] := {own};"),
        });
        text
    }

    /// What becomes of the others, or of all.
    fn everybody(&mut self) -> String {
        let [a, b, c, d] = [(); 4].map(|()| self.state());
        match self.random.below(7) {
            0 => String::new(),
            1 => format!("for j in P {{ line[j] := {a}; }} "),
            2 => format!("for j in P {{ if j != i {{ line[j] := {a}; }} }} "),
            3 => format!("for j in P {{ if line[j] == {a} {{ line[j] := {b}; }} }} "),
            4 => format!(
                "for j in P {{ if line[j] == {a} {{ line[j] := {b}; }} else if line[j] == {c} {{ line[j] := {d}; }} }} "
            ),
            5 => format!(
                "for j in P {{ asks[j] := line[j] == {a}; }} for j in P {{ if asks[j] {{ line[j] := {b}; }} }} "
            ),
            _ => format!(
                "for j in P {{ line[j] := {a}; if j == i {{ assert line[j] == {a}; line[j] := {b}; }} }} "
            ),
        }
    }

    fn claim(&mut self, number: usize) -> String {
        let (a, b) = (self.state(), self.state());
        let claim = match self.random.below(4) {
            0 => format!("line[i] == {a} -> line[j] == {b}"),
            1 => format!("!(line[i] == {a} && line[j] == {a})"),
            _ => format!("!(line[i] == {a} && line[j] == {b})"),
        };
        format!("invariant claim{number}: forall i, j in P: i != j -> ({claim});")
    }
}
