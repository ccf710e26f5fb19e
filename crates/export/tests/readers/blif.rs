//! BLIF: latches with initial values, gates with covers of one row, one output. Gates come after
//! what they read.

use std::collections::{HashMap, HashSet};

use super::Found;

/// More cycles than this are not gone through.
const MOST_CYCLES: u64 = 1 << 17;

type Row = Vec<(usize, bool)>;

#[derive(Default)]
struct Circuit {
    signals: HashMap<String, usize>,
    inputs: Vec<usize>,
    /// Input, output and initial value.
    latches: Vec<(usize, usize, bool)>,
    /// Inputs with the values at which the gate is true, and its signal. With no row it is false.
    gates: Vec<(Option<Row>, usize)>,
    outputs: Vec<usize>,
    /// There is a state before the first cycle.
    starts: bool,
}

impl Circuit {
    fn signal(&mut self, name: &str) -> usize {
        let next = self.signals.len();
        *self.signals.entry(name.to_owned()).or_insert(next)
    }

    fn parse(text: &str) -> Circuit {
        let mut circuit = Circuit::default();
        let mut open: Vec<usize> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [".model", _] | [".end"] => {}
                [".inputs", ref names @ ..] => {
                    circuit.inputs = names.iter().map(|name| circuit.signal(name)).collect();
                }
                [".outputs", ref names @ ..] => {
                    circuit.outputs = names.iter().map(|name| circuit.signal(name)).collect();
                }
                [".latch", from, to, initial] => {
                    circuit.starts |= to == "started";
                    let latch = (circuit.signal(from), circuit.signal(to), initial == "1");
                    circuit.latches.push(latch);
                }
                [".names", ref inputs @ .., name] => {
                    open = inputs.iter().map(|name| circuit.signal(name)).collect();
                    let signal = circuit.signal(name);
                    circuit.gates.push((None, signal));
                }
                [row, "1"] => {
                    let values = row.bytes().map(|value| value == b'1');
                    let row = open.iter().copied().zip(values).collect();
                    circuit.gates.last_mut().unwrap().0 = Some(row);
                }
                _ => panic!("{line}"),
            }
        }
        circuit
    }

    /// All signals, for sixty-four cycles at once: the bit at a position belongs to the cycle with the
    /// inputs of that number, counted from `first`.
    fn run(&self, state: &[bool], first: u64) -> Vec<u64> {
        let mut values = vec![0u64; self.signals.len()];
        for (position, &input) in self.inputs.iter().enumerate() {
            let bits = (0..64).filter(|bit| (first + bit) >> position & 1 == 1);
            values[input] = bits.fold(0, |all, bit| all | 1 << bit);
        }
        for (&(_, latch, _), &value) in self.latches.iter().zip(state) {
            values[latch] = if value { u64::MAX } else { 0 };
        }
        for (row, gate) in &self.gates {
            let literal = |&(signal, value): &(usize, bool)| {
                if value {
                    values[signal]
                } else {
                    !values[signal]
                }
            };
            let row = row.as_ref();
            values[*gate] = row.map_or(0, |row| {
                row.iter().map(literal).fold(u64::MAX, |a, b| a & b)
            });
        }
        values
    }
}

/// The states of the latches that are reached, the one before the first cycle excepted, and whether
/// the output is ever true; nothing if there are too many inputs for the number of states expected.
pub fn read(text: &str, expected: u64) -> Option<Found> {
    let circuit = Circuit::parse(text);
    if expected > MOST_CYCLES >> circuit.inputs.len().min(63) {
        return None;
    }
    let initial: Vec<bool> = circuit.latches.iter().map(|latch| latch.2).collect();
    let mut known = HashSet::from([initial.clone()]);
    let mut waiting = vec![initial];
    let mut violated = vec![false; circuit.outputs.len()];
    while let Some(state) = waiting.pop() {
        for first in (0..1u64 << circuit.inputs.len()).step_by(64) {
            let values = circuit.run(&state, first);
            for (violated, output) in violated.iter_mut().zip(&circuit.outputs) {
                *violated |= values[*output] != 0;
            }
            let next: Vec<u64> = circuit
                .latches
                .iter()
                .map(|latch| values[latch.0])
                .collect();
            let states = (0..64).map(|bit| next.iter().map(|word| word >> bit & 1 == 1).collect());
            for state in states.collect::<HashSet<Vec<bool>>>() {
                if known.insert(state.clone()) {
                    waiting.push(state);
                }
            }
        }
    }
    Some(Found {
        states: known.len() as u64 - u64::from(circuit.starts),
        violated,
    })
}
