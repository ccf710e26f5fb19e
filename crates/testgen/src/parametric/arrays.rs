//! Random programs with arrays whose size is a parameter: processes choose entries, take turns through them, mark and clear them, one at a time or all at once.
//!
//! Claims are about all entries, about two processes, or about a process and its entry. Some hold for all sizes and numbers of processes, many for none.

use crate::random::Random;

/// The program with this seed.
pub fn generate_arrays(seed: u64) -> String {
    let mut random = Random::new(seed);
    // Either may be the one that is large at instances.
    let (processes, size) = match random.percent(50) {
        true => ("N", "M"),
        false => ("M", "N"),
    };
    let (first, last) = match random.below(4) {
        0 => ("0", format!("{size} - 1")),
        1 => ("2", format!("{size} + 1")),
        _ => ("1", size.to_owned()),
    };
    let mut writer = Writer {
        random,
        first,
        last,
    };
    let steps: Vec<String> = (0..2 + writer.random.below(3))
        .map(|number| format!("l{number}: {}", writer.step()))
        .collect();
    let claims: Vec<String> = (0..4)
        .map(|number| writer.claim(number, steps.len()))
        .collect();
    let (first, last) = (writer.first, &writer.last);
    let begin = ["false", "false", "true", "any"][writer.random.below(4)];
    format!(
        "param N = 2 where N >= 1;\nparam M = 1 where M >= 1;\nshared a: array[{first}..{last}] of bool = {begin};\n\
         shared c: {first}..{last} = {first};\nprocess P[i: 1..{processes}] {{\nlocal k: {first}..{last} = {first};\nloop {{\n{}\n}} }}\n{}",
        steps.join("\n"),
        claims.join("\n")
    )
}

struct Writer {
    random: Random,
    first: &'static str,
    last: String,
}

impl Writer {
    /// An entry, by its index.
    fn entry(&mut self) -> &'static str {
        ["k", "k", "k", "c", "c", self.first][self.random.below(6)]
    }

    fn truth(&mut self) -> &'static str {
        ["true", "false"][self.random.below(2)]
    }

    fn condition(&mut self) -> String {
        let (entry, other) = (self.entry(), self.entry());
        let (first, last) = (self.first, self.last.clone());
        match self.random.below(8) {
            0 => format!("a[{entry}]"),
            1 | 2 => format!("!a[{entry}]"),
            3 => format!("{entry} == {other}"),
            4 => format!("{entry} != {other} && a[{other}]"),
            5 => format!("forall j in {first}..{last}: !a[j] || j == {entry}"),
            6 => format!("exists j in {first}..{last}: j < {entry} && a[j]"),
            _ => format!("k < {last} && a[k + 1]"),
        }
    }

    /// Statements without labels inside.
    fn action(&mut self) -> String {
        let (entry, truth) = (self.entry(), self.truth());
        let (first, last) = (self.first, self.last.clone());
        match self.random.below(8) {
            0..3 => format!("a[{entry}] := {truth};"),
            3 => format!(
                "a[c], k := {truth}, c; if c == {last} {{ c := {first}; }} else {{ c := c + 1; }}"
            ),
            4 => format!("if k == {last} {{ k := {first}; }} else {{ k := k + 1; }}"),
            5 => format!("for j in {first}..{last} {{ a[j] := {truth}; }}"),
            6 => format!("for j in {first}..{last} {{ if j != {entry} {{ a[j] := !a[j]; }} }}"),
            _ => format!("a[{entry}] := {truth}; k := c;"),
        }
    }

    fn step(&mut self) -> String {
        let (condition, action) = (self.condition(), self.action());
        match self.random.below(8) {
            0 | 1 => "havoc k;".to_owned(),
            2 => format!("atomic {{ {action} }}"),
            3 => format!("atomic {{ assert {condition}; {action} }}"),
            _ => format!("atomic {{ await {condition}; {action} }}"),
        }
    }

    fn claim(&mut self, number: usize, steps: usize) -> String {
        let [at, other] = [(); 2].map(|()| self.random.below(steps));
        let (first, last, truth) = (self.first, self.last.clone(), self.truth());
        let says = match self.random.below(7) {
            0 => format!("forall i in P: P[i] at l{at} -> a[P[i].k] == {truth}"),
            1 | 2 => format!(
                "forall i, j in P: i != j -> !(P[i] at l{at} && P[j] at l{other} && P[i].k == P[j].k)"
            ),
            3 => format!("forall j, k in {first}..{last}: j != k -> !(a[j] && a[k])"),
            4 => format!("forall j in {first}..{last}: a[j] -> j <= c"),
            5 => format!(
                "(exists i in P: P[i] at l{at}) -> (forall j in {first}..{last}: a[j] == {truth})"
            ),
            _ => format!(
                "forall j in {first}..{last}: a[j] == {truth} -> (exists i in P: P[i] at l{at} && P[i].k == j)"
            ),
        };
        format!("invariant claim{number}: {says};")
    }
}
