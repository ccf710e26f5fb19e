//! BLIF, a netlist that ABC reads: a system and one property as a sequential circuit.
//!
//! A cell is a row of latches that hold its value in binary, in two's complement if it can be negative; so
//! different states are different latch values. In each cycle the inputs choose a process, one of the moves that it may
//! have at its location, and what a move leaves open; if there is no such move, or it is not
//! enabled, nothing happens. So a cycle is a move or nothing, and the latches reach exactly the states
//! that runs reach before a check fails. The one output, `bad`, is true in a state that violates the property.
//!
//! Where variables begin with any value, the first cycle takes them from inputs: the latch `started` is false in the
//! one state before it, and `bad` is false there, too.
//!
//! All latches have initial values, and the gates are conjunctions with inverters at their inputs.

mod gates;

use std::fmt::Write;

use threadwise_model::system::System;

use crate::terms::{Extent, Node, Term};
use crate::unfold::{Identifiers, Move, UnfoldError, Unfolded, Written, title};
use gates::{Driver, Gates, Wire, Word, width};

/// The largest circuit that is written.
const MOST_SIGNALS: usize = 1 << 24;

/// Writes a system in BLIF, with the property at this position.
pub fn blif(system: &System, property: usize) -> Result<String, UnfoldError> {
    let mut unfolded = Unfolded::new(system)?;
    let holds = unfolded.holds(property)?;
    let mut circuit = Circuit::new(&unfolded);
    circuit.latches();
    circuit.selectors();
    let next = circuit.cycle();
    let holds = circuit.truth(holds);
    let bad = match circuit.started {
        None => !holds,
        Some(started) => circuit.gates.and(started, !holds),
    };
    if circuit.gates.drivers().len() > MOST_SIGNALS {
        return Err(UnfoldError::TooLong("the circuit".to_owned()));
    }
    Ok(circuit.text(&title(system, &[property]), &next, bad))
}

/// What a term is made of.
#[derive(Clone, Debug)]
enum Built {
    Truth(Wire),
    Number(Word),
}

struct Circuit<'a> {
    unfolded: &'a Unfolded<'a>,
    gates: Gates,
    /// The gates of each term, as far as they are built.
    built: Vec<Option<Built>>,
    /// The latches of each cell.
    cells: Vec<Vec<Wire>>,
    /// False before the first cycle, if some cells begin with any value.
    started: Option<Wire>,
    /// Name and wire of each input.
    inputs: Vec<(String, Wire)>,
    /// Inputs that choose a process, and one of its moves.
    process: Vec<Wire>,
    alternative: Vec<Wire>,
    /// Inputs that are the values of what is left open.
    open: Vec<Vec<Wire>>,
}

impl<'a> Circuit<'a> {
    fn new(unfolded: &'a Unfolded<'a>) -> Self {
        Circuit {
            unfolded,
            gates: Gates::new(),
            built: vec![None; unfolded.terms.len()],
            cells: Vec::new(),
            started: None,
            inputs: Vec::new(),
            process: Vec::new(),
            alternative: Vec::new(),
            open: Vec::new(),
        }
    }

    fn latches(&mut self) {
        for cell in &self.unfolded.cells {
            let latches = (0..stored(cell.extent)).map(|_| self.gates.free());
            self.cells.push(latches.collect());
        }
        if self
            .unfolded
            .cells
            .iter()
            .any(|cell| cell.initial.is_none())
        {
            self.started = Some(self.gates.free());
        }
    }

    fn input(&mut self, name: String) -> Wire {
        let wire = self.gates.free();
        self.inputs.push((name, wire));
        wire
    }

    fn selectors(&mut self) {
        let processes = self.unfolded.processes.len();
        for bit in 0..bits_for(processes) {
            let wire = self.input(format!("in.process.{bit}"));
            self.process.push(wire);
        }
        let locations = self
            .unfolded
            .processes
            .iter()
            .flat_map(|process| &process.moves);
        let most = locations.map(Vec::len).max().unwrap_or(0);
        for bit in 0..bits_for(most) {
            let wire = self.input(format!("in.move.{bit}"));
            self.alternative.push(wire);
        }
    }

    /// The input bits for the value at this position among those that a cycle leaves open.
    fn open(&mut self, position: usize, bits: usize) -> Vec<Wire> {
        while self.open.len() <= position {
            self.open.push(Vec::new());
        }
        for bit in self.open[position].len()..bits {
            let wire = self.input(format!("in.value.{position}.{bit}"));
            self.open[position].push(wire);
        }
        self.open[position][..bits].to_vec()
    }

    /// What the latches of each cell become.
    fn cycle(&mut self) -> Vec<Vec<Wire>> {
        let unfolded = self.unfolded;
        let cells = unfolded.cells.len();
        // For each cell when it is written, and with what.
        let mut writes: Vec<Vec<(Wire, Vec<Wire>)>> = vec![Vec::new(); cells];
        for (number, process) in unfolded.processes.iter().enumerate() {
            let inputs = self.process.clone();
            let chosen = self.is_number(&inputs, number);
            for moves in &process.moves {
                for (alternative, step) in moves.iter().enumerate() {
                    let picked = match moves.len() {
                        1 => Wire::TRUE,
                        _ => {
                            let inputs = self.alternative.clone();
                            self.is_number(&inputs, alternative)
                        }
                    };
                    let picked = self.gates.and(chosen, picked);
                    self.take(step, picked, &mut writes);
                }
            }
        }
        let mut next = Vec::with_capacity(cells);
        for (cell, writes) in writes.into_iter().enumerate() {
            let written = writes.iter().map(|(when, _)| *when).collect();
            let written = self.gates.any(written);
            let mut bits = Vec::new();
            for bit in 0..self.cells[cell].len() {
                let mut sources = vec![self.gates.and(!written, self.cells[cell][bit])];
                for (when, value) in &writes {
                    sources.push(self.gates.and(*when, value[bit]));
                }
                bits.push(self.gates.any(sources));
            }
            next.push(bits);
        }
        if let Some(started) = self.started {
            self.begin(started, &mut next);
        }
        next
    }

    /// Adds what a move writes, if it is picked and enabled.
    fn take(&mut self, step: &Move, picked: Wire, writes: &mut [Vec<(Wire, Vec<Wire>)>]) {
        let guard = self.truth(step.guard);
        let mut taken = self.gates.and(picked, guard);
        let mut values = Vec::new();
        let mut open = 0;
        for (&cell, written) in &step.writes {
            let extent = self.unfolded.cells[cell].extent;
            let bits = self.cells[cell].len();
            values.push(match *written {
                Written::Value(term) => self.stored_bits(term, bits),
                Written::Any(lo, hi) => {
                    let value = self.open(open, bits);
                    open += 1;
                    let fits = self.fits(&value, extent, (lo, hi));
                    taken = self.gates.and(taken, fits);
                    value
                }
            });
        }
        for (&cell, value) in step.writes.keys().zip(values) {
            writes[cell].push((taken, value));
        }
    }

    /// In the first cycle the open cells take any value, and all others keep theirs.
    fn begin(&mut self, started: Wire, next: &mut [Vec<Wire>]) {
        let mut open = 0;
        for (cell, next) in next.iter_mut().enumerate() {
            let info = &self.unfolded.cells[cell];
            let mut first = self.cells[cell].clone();
            if info.initial.is_none() {
                let value = self.open(open, first.len());
                open += 1;
                let fits = self.fits(&value, info.extent, (info.extent.lo, info.extent.hi));
                // Inputs that are no value stand for the least one.
                let least = Word::constant(info.extent.lo);
                for (bit, wire) in first.iter_mut().enumerate() {
                    *wire = self.gates.choose(fits, value[bit], least.bit(bit));
                }
            }
            for (next, first) in next.iter_mut().zip(first) {
                *next = self.gates.choose(started, *next, first);
            }
        }
    }

    /// That stored bits are one of the values between two.
    fn fits(&mut self, bits: &[Wire], extent: Extent, (lo, hi): (i64, i64)) -> Wire {
        let value = as_word(bits, extent);
        let below = self.gates.less(&value, &Word::constant(lo));
        let above = self.gates.less(&Word::constant(hi), &value);
        self.gates.and(!below, !above)
    }

    fn is_number(&mut self, inputs: &[Wire], number: usize) -> Wire {
        let bits = inputs.iter().enumerate();
        let bits = bits.map(|(bit, &wire)| if number >> bit & 1 == 1 { wire } else { !wire });
        self.gates.all(bits.collect())
    }

    fn stored_bits(&mut self, term: Term, bits: usize) -> Vec<Wire> {
        match self.build(term) {
            Built::Truth(wire) => vec![wire],
            Built::Number(word) => (0..bits).map(|bit| word.bit(bit)).collect(),
        }
    }

    fn truth(&mut self, term: Term) -> Wire {
        match self.build(term) {
            Built::Truth(wire) => wire,
            Built::Number(word) => !self.gates.equal(&word, &Word::constant(0)),
        }
    }

    fn word(&mut self, term: Term) -> Word {
        match self.build(term) {
            Built::Truth(wire) => Word::truth(wire),
            Built::Number(word) => word,
        }
    }

    /// The gates of a term, parts first: terms can be deep.
    fn build(&mut self, term: Term) -> Built {
        let mut waiting = vec![term];
        while let Some(&next) = waiting.last() {
            let before = waiting.len();
            if self.built[next.index()].is_none() {
                let parts = self.unfolded.terms.node(next);
                parts.parts(|part| {
                    if self.built[part.index()].is_none() {
                        waiting.push(part);
                    }
                });
            }
            if waiting.len() == before {
                waiting.pop();
                if self.built[next.index()].is_none() {
                    self.built[next.index()] = Some(self.operator(next));
                }
            }
        }
        self.built[term.index()]
            .clone()
            .unwrap_or(Built::Truth(Wire::FALSE))
    }

    /// The gates of a term whose parts are built.
    fn operator(&mut self, term: Term) -> Built {
        let unfolded = self.unfolded;
        let extent = unfolded.terms.extent(term);
        let wide = width(extent.lo, extent.hi);
        let mut binary = |f: fn(&mut Gates, &Word, &Word, usize) -> Word, a: Term, b: Term| {
            let (a, b) = (self.word(a), self.word(b));
            Built::Number(f(&mut self.gates, &a, &b, wide))
        };
        match unfolded.terms.node(term) {
            Node::Truth(true) => Built::Truth(Wire::TRUE),
            Node::Truth(false) => Built::Truth(Wire::FALSE),
            Node::Number(value) => Built::Number(Word::constant(*value)),
            Node::Cell(cell) if extent.truth => Built::Truth(self.cells[*cell][0]),
            Node::Cell(cell) => Built::Number(as_word(&self.cells[*cell], extent)),
            Node::Not(inner) => Built::Truth(!self.truth(*inner)),
            Node::And(parts) => {
                let parts = parts.iter().map(|part| self.truth(*part)).collect();
                Built::Truth(self.gates.all(parts))
            }
            Node::Or(parts) => {
                let parts = parts.iter().map(|part| self.truth(*part)).collect();
                Built::Truth(self.gates.any(parts))
            }
            Node::Same(a, b) => {
                let (a, b) = (self.truth(*a), self.truth(*b));
                Built::Truth(self.gates.same(a, b))
            }
            Node::Equal(a, b) => {
                let (a, b) = (self.word(*a), self.word(*b));
                Built::Truth(self.gates.equal(&a, &b))
            }
            Node::Less(a, b) => {
                let (a, b) = (self.word(*a), self.word(*b));
                Built::Truth(self.gates.less(&a, &b))
            }
            Node::Add(a, b) => binary(Gates::add, *a, *b),
            Node::Sub(a, b) => binary(Gates::subtract, *a, *b),
            Node::Mul(a, b) => binary(Gates::multiply, *a, *b),
            Node::Div(a, b) => binary(|gates, a, b, _| gates.divide(a, b).0, *a, *b),
            Node::Rem(a, b) => binary(|gates, a, b, _| gates.divide(a, b).1, *a, *b),
            Node::Ite(condition, yes, no) if extent.truth => {
                let condition = self.truth(*condition);
                let (yes, no) = (self.truth(*yes), self.truth(*no));
                Built::Truth(self.gates.choose(condition, yes, no))
            }
            Node::Ite(condition, yes, no) => {
                let condition = self.truth(*condition);
                let (yes, no) = (self.word(*yes), self.word(*no));
                Built::Number(self.gates.choose_word(condition, &yes, &no, wide))
            }
        }
    }

    fn text(&self, title: &str, next: &[Vec<Wire>], bad: Wire) -> String {
        let mut names = vec![String::new(); self.gates.drivers().len()];
        let mut identifiers = Identifiers::without(&["bad", "g", "in", "next", "started"]);
        let mut latches = Vec::new();
        for ((cell, wires), next) in self.unfolded.cells.iter().zip(&self.cells).zip(next) {
            let name = identifiers.identifier(&cell.name);
            for (bit, (wire, next)) in wires.iter().zip(next).enumerate() {
                names[wire.signal()] = format!("{name}.{bit}");
                let initial = cell.initial.unwrap_or(cell.extent.lo);
                latches.push((*wire, *next, initial >> bit & 1));
            }
        }
        if let Some(started) = self.started {
            names[started.signal()] = "started".to_owned();
            latches.push((started, Wire::TRUE, 0));
        }
        for (name, wire) in &self.inputs {
            names[wire.signal()].clone_from(name);
        }
        for (signal, name) in names.iter_mut().enumerate() {
            if name.is_empty() {
                *name = format!("g.{signal}");
            }
        }
        let mut text = format!("# {title}\n");
        text.push_str("# In ABC: read_blif FILE; strash; pdr. The output is true where the property is violated.\n");
        text.push_str(".model main\n.inputs");
        for (name, _) in &self.inputs {
            let _ = write!(text, " {name}");
        }
        text.push_str("\n.outputs bad\n");
        for (number, (wire, _, initial)) in latches.iter().enumerate() {
            let _ = writeln!(
                text,
                ".latch next.{number} {} {initial}",
                names[wire.signal()]
            );
        }
        // A signal and its complement differ in the cover of what reads them.
        let covers = |wire: Wire| if wire.is_complement() { '0' } else { '1' };
        for (signal, driver) in self.gates.drivers().iter().enumerate() {
            match driver {
                Driver::Free => {}
                Driver::False => {
                    let _ = writeln!(text, ".names {}", names[signal]);
                }
                Driver::And(a, b) => {
                    let (first, second) = (&names[a.signal()], &names[b.signal()]);
                    let _ = writeln!(text, ".names {first} {second} {}", names[signal]);
                    let _ = writeln!(text, "{}{} 1", covers(*a), covers(*b));
                }
            }
        }
        let copies = latches
            .iter()
            .enumerate()
            .map(|(number, (_, next, _))| (format!("next.{number}"), *next));
        for (name, wire) in copies.chain([("bad".to_owned(), bad)]) {
            let _ = writeln!(
                text,
                ".names {} {name}\n{} 1",
                names[wire.signal()],
                covers(wire)
            );
        }
        text.push_str(".end\n");
        text
    }
}

/// How many latches hold a cell: the sign of what is never negative is not among them.
fn stored(extent: Extent) -> usize {
    match extent {
        Extent { truth: true, .. } => 1,
        Extent { lo, hi, .. } => width(lo, hi) - usize::from(lo >= 0),
    }
}

/// The number that stored bits are.
fn as_word(bits: &[Wire], extent: Extent) -> Word {
    let mut bits = bits.to_vec();
    if extent.lo >= 0 {
        bits.push(Wire::FALSE);
    }
    Word::new(bits)
}

/// How many bits tell so many things apart.
fn bits_for(things: usize) -> u32 {
    things
        .saturating_sub(1)
        .checked_ilog2()
        .map_or(0, |log| log + 1)
}
