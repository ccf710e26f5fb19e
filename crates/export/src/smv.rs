//! SMV, the language of NuSMV: a system becomes one module with exactly the same states.
//!
//! The transition relation is one disjunction, over the processes and their moves, and one way to do nothing; there
//! is no variable for the scheduler. That is what NuSMV handles best: with a scheduler in the state, or among the inputs,
//! it is ten times slower and more. The way to do nothing makes the relation total, so that states in which
//! nothing can happen are nothing special to NuSMV, and it adds no state.
//!
//! Each property is an `INVARSPEC`: that no state is reached in which it is violated. A failing check ends the run,
//! so it is no move, and `checks` says that no state is reached in which a step fails.
//!
//! What a move leaves alone has to be said in SMV. The frames of all moves share their parts, which form a tree over
//! the cells; so the text grows with the moves, and not with the moves times the cells. Likewise, expressions that occur
//! more than once are definitions. Their names begin with `__`, which NuSMV leaves out of counterexamples.

use std::collections::BTreeSet;
use std::fmt::Write;

use threadwise_model::system::System;

use crate::terms::{Node, Term, Terms};
use crate::unfold::{Identifiers, Move, Process, UnfoldError, Unfolded, Written, title};

/// The longest program that is written.
const MOST_BYTES: usize = 256 << 20;

/// Writes a system in SMV, with the properties at these positions.
pub fn smv(system: &System, properties: &[usize]) -> Result<String, UnfoldError> {
    let mut unfolded = Unfolded::new(system)?;
    let mut holds = Vec::new();
    for &property in properties {
        holds.push((property, unfolded.holds(property)?));
    }
    let mut identifiers = Identifiers::without(RESERVED);
    let names = unfolded
        .cells
        .iter()
        .map(|cell| identifiers.identifier(&cell.name))
        .collect();
    let specifications = holds.iter().map(|&(property, holds)| {
        let name = identifiers.identifier(&system.properties[property].name);
        (name, holds)
    });
    let specifications: Vec<(String, Term)> = specifications.collect();
    let mut writer = Writer {
        shared: shared(&unfolded, &specifications),
        unfolded: &unfolded,
        names,
        defined: vec![false; unfolded.terms.len()],
        definitions: String::new(),
        frames: BTreeSet::new(),
    };
    let relation = writer.relation();
    let mut specs = String::new();
    for (name, holds) in &specifications {
        let holds = writer.term(*holds);
        // NuSMV repeats the invariant with its answer: a name keeps that on one line.
        let _ = writeln!(writer.definitions, "  __holds_{name} := {holds};");
        let _ = writeln!(specs, "INVARSPEC NAME {name} := __holds_{name};");
    }
    let mut text = writer.header(properties);
    writer.variables(&mut text);
    if !writer.definitions.is_empty() {
        let _ = write!(text, "DEFINE\n{}", writer.definitions);
    }
    text.push_str(&relation);
    text.push_str(&specs);
    if text.len() > MOST_BYTES {
        return Err(UnfoldError::TooLong("the program".to_owned()));
    }
    Ok(text)
}

/// The nodes that are used more than once.
fn shared(unfolded: &Unfolded, specifications: &[(String, Term)]) -> Vec<bool> {
    let mut uses = vec![0u32; unfolded.terms.len()];
    let mut waiting: Vec<Term> = Vec::new();
    let mut use_of = |term: Term, waiting: &mut Vec<Term>| {
        uses[term.index()] += 1;
        if uses[term.index()] == 1 {
            waiting.push(term);
        }
    };
    let mut roots: Vec<Term> = specifications.iter().map(|(_, term)| *term).collect();
    for step in unfolded.processes.iter().flat_map(moves) {
        roots.push(step.guard);
        roots.extend(step.writes.values().filter_map(|written| match written {
            Written::Value(term) => Some(*term),
            Written::Any(..) => None,
        }));
    }
    for root in roots {
        use_of(root, &mut waiting);
        while let Some(term) = waiting.pop() {
            let parts = unfolded.terms.node(term);
            parts.parts(|part| use_of(part, &mut waiting));
        }
    }
    uses.into_iter().map(|uses| uses > 1).collect()
}

fn moves(process: &Process) -> impl Iterator<Item = &Move> {
    process.moves.iter().flatten()
}

struct Writer<'a> {
    unfolded: &'a Unfolded<'a>,
    /// Of the cells.
    names: Vec<String>,
    /// Nodes that get a definition, and those that have one.
    shared: Vec<bool>,
    defined: Vec<bool>,
    definitions: String,
    /// The parts of frames that are defined: cells from the first up to the second.
    frames: BTreeSet<(usize, usize)>,
}

impl Writer<'_> {
    fn terms(&self) -> &Terms {
        &self.unfolded.terms
    }

    fn header(&self, properties: &[usize]) -> String {
        let mut text = format!("-- {}\n", title(self.unfolded.system, properties));
        text.push_str("-- In NuSMV: go; check_invar; print_reachable_states.\n");
        let mut said = BTreeSet::new();
        for cell in &self.unfolded.cells {
            let whose = cell.name.split('[').next().unwrap_or_default();
            if cell.legend.is_empty() || !said.insert((whose, &cell.legend)) {
                continue;
            }
            let values = cell.legend.iter().enumerate();
            let values: Vec<String> = values
                .map(|(code, name)| format!("{code} {name}"))
                .collect();
            let _ = writeln!(text, "-- {whose}: {}", values.join(", "));
        }
        text.push_str("MODULE main\n");
        text
    }

    fn variables(&self, text: &mut String) {
        let cells = || self.unfolded.cells.iter().zip(&self.names);
        if !self.names.is_empty() {
            text.push_str("VAR\n");
        }
        for (cell, name) in cells() {
            let extent = cell.extent;
            let _ = match extent.truth {
                true => writeln!(text, "  {name} : boolean;"),
                false => writeln!(text, "  {name} : {}..{};", extent.lo, extent.hi),
            };
        }
        let mut initial = String::new();
        for (cell, name) in cells() {
            if let Some(value) = cell.initial {
                let value = match (cell.extent.truth, value) {
                    (true, 0) => "FALSE".to_owned(),
                    (true, _) => "TRUE".to_owned(),
                    (false, value) => value.to_string(),
                };
                let _ = writeln!(initial, "  init({name}) := {value};");
            }
        }
        if !initial.is_empty() {
            let _ = write!(text, "ASSIGN\n{initial}");
        }
    }

    fn relation(&mut self) -> String {
        let unfolded = self.unfolded;
        let mut text = String::from("TRANS\n  ");
        let everything = self.frame(&BTreeSet::new());
        text.push_str(&conjunction(everything));
        for process in &unfolded.processes {
            let touched: BTreeSet<usize> = moves(process)
                .flat_map(|step| step.writes.keys().copied())
                .collect();
            if touched.is_empty() {
                continue;
            }
            let mut alternatives = Vec::new();
            for step in moves(process) {
                let mut parts = vec![self.term(step.guard)];
                for &cell in &touched {
                    match step.writes.get(&cell) {
                        None => parts.push(self.kept(cell)),
                        Some(written) => parts.extend(self.written(cell, *written)),
                    }
                }
                alternatives.push(conjunction(parts));
            }
            let mut parts = self.frame(&touched);
            parts.push(format!("({})", alternatives.join("\n    | ")));
            let _ = write!(text, "\n  -- {}\n  | {}", process.name, conjunction(parts));
        }
        text.push_str(";\n");
        text
    }

    fn kept(&self, cell: usize) -> String {
        let name = &self.names[cell];
        match self.unfolded.cells[cell].extent.truth {
            true => format!("(next({name}) <-> {name})"),
            false => format!("(next({name}) = {name})"),
        }
    }

    /// What is said about a cell that is written.
    fn written(&mut self, cell: usize, written: Written) -> Vec<String> {
        let name = self.names[cell].clone();
        let extent = self.unfolded.cells[cell].extent;
        match written {
            Written::Value(value) => {
                let text = self.term(value);
                vec![match (extent.truth, self.terms().constant(value)) {
                    (true, Some(0)) => format!("!next({name})"),
                    (true, Some(_)) => format!("next({name})"),
                    (true, None) => format!("(next({name}) <-> {text})"),
                    (false, _) => format!("(next({name}) = {text})"),
                }]
            }
            Written::Any(lo, hi) if extent.truth => match (lo, hi) {
                (0, 0) => vec![format!("!next({name})")],
                (1, 1) => vec![format!("next({name})")],
                _ => Vec::new(),
            },
            Written::Any(lo, hi) => {
                let mut parts = Vec::new();
                if lo > extent.lo {
                    parts.push(format!("(next({name}) >= {lo})"));
                }
                if hi < extent.hi {
                    parts.push(format!("(next({name}) <= {hi})"));
                }
                parts
            }
        }
    }

    /// That all cells but these keep their values.
    fn frame(&mut self, but: &BTreeSet<usize>) -> Vec<String> {
        let mut parts = Vec::new();
        self.frame_of(0, self.names.len(), but, &mut parts);
        parts
    }

    fn frame_of(&mut self, from: usize, to: usize, but: &BTreeSet<usize>, parts: &mut Vec<String>) {
        if from >= to {
            return;
        }
        if but.range(from..to).next().is_none() {
            parts.push(self.frame_part(from, to));
        } else if to - from > 1 {
            let middle = from + (to - from) / 2;
            self.frame_of(from, middle, but, parts);
            self.frame_of(middle, to, but, parts);
        }
    }

    fn frame_part(&mut self, from: usize, to: usize) -> String {
        if to - from == 1 {
            return self.kept(from);
        }
        let name = format!("__keep_{from}_{}", to - 1);
        if self.frames.insert((from, to)) {
            let middle = from + (to - from) / 2;
            let parts = vec![self.frame_part(from, middle), self.frame_part(middle, to)];
            let _ = writeln!(self.definitions, "  {name} := {};", conjunction(parts));
        }
        name
    }

    /// The text of a node. Definitions are written for the shared nodes under it, parts first.
    fn term(&mut self, term: Term) -> String {
        let mut waiting = vec![(term, false)];
        while let Some((next, parts_done)) = waiting.pop() {
            if self.defined[next.index()] {
                continue;
            }
            if !parts_done {
                waiting.push((next, true));
                let node = self.terms().node(next);
                node.parts(|part| waiting.push((part, false)));
            } else if self.is_defined(next) {
                let text = self.operator(next);
                let _ = writeln!(self.definitions, "  {} := {text};", definition(next));
                self.defined[next.index()] = true;
            }
        }
        self.reference(term)
    }

    fn is_defined(&self, term: Term) -> bool {
        let trivial = matches!(
            self.terms().node(term),
            Node::Truth(_) | Node::Number(_) | Node::Cell(_) | Node::Not(_)
        );
        self.shared[term.index()] && !trivial
    }

    fn reference(&self, term: Term) -> String {
        if self.is_defined(term) {
            return definition(term);
        }
        self.operator(term)
    }

    fn operator(&self, term: Term) -> String {
        let binary = |a: Term, symbol: &str, b: Term| {
            format!("({} {symbol} {})", self.reference(a), self.reference(b))
        };
        match self.terms().node(term) {
            Node::Truth(true) => "TRUE".to_owned(),
            Node::Truth(false) => "FALSE".to_owned(),
            Node::Number(value) if *value < 0 => format!("({value})"),
            Node::Number(value) => value.to_string(),
            Node::Cell(cell) => self.names[*cell].clone(),
            Node::Not(inner) => format!("!{}", self.reference(*inner)),
            Node::And(parts) => {
                conjunction(parts.iter().map(|part| self.reference(*part)).collect())
            }
            Node::Or(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.reference(*part)).collect();
                format!("({})", parts.join(" | "))
            }
            Node::Same(a, b) => binary(*a, "<->", *b),
            Node::Equal(a, b) => binary(*a, "=", *b),
            Node::Less(a, b) => binary(*a, "<", *b),
            Node::Add(a, b) => binary(*a, "+", *b),
            Node::Sub(a, b) => binary(*a, "-", *b),
            Node::Mul(a, b) => binary(*a, "*", *b),
            Node::Div(a, b) => binary(*a, "/", *b),
            Node::Rem(a, b) => binary(*a, "mod", *b),
            Node::Ite(..) => self.cases(term),
        }
    }

    /// A choice, and those that it ends in.
    fn cases(&self, term: Term) -> String {
        let mut text = String::from("(case ");
        let mut rest = term;
        while let Node::Ite(condition, yes, no) = *self.terms().node(rest) {
            if rest != term && self.is_defined(rest) {
                break;
            }
            let (condition, yes) = (self.reference(condition), self.reference(yes));
            let _ = write!(text, "{condition} : {yes}; ");
            rest = no;
        }
        let _ = write!(text, "TRUE : {}; esac)", self.reference(rest));
        text
    }
}

fn definition(term: Term) -> String {
    format!("__t{}", term.index())
}

fn conjunction(mut parts: Vec<String>) -> String {
    match parts.len() {
        0 => "TRUE".to_owned(),
        1 => parts.swap_remove(0),
        _ => format!("({})", parts.join(" & ")),
    }
}

/// Words that mean something in SMV.
const RESERVED: &[&str] = &[
    "A",
    "ABF",
    "ABG",
    "AF",
    "AG",
    "ASSIGN",
    "AX",
    "BU",
    "COMPASSION",
    "COMPID",
    "COMPUTE",
    "COMPWFF",
    "CONSTANTS",
    "CONSTRAINT",
    "CTLSPEC",
    "CTLWFF",
    "DEFINE",
    "E",
    "EBF",
    "EBG",
    "EF",
    "EG",
    "EX",
    "F",
    "FAIRNESS",
    "FALSE",
    "FROZENVAR",
    "G",
    "H",
    "IN",
    "INIT",
    "INVAR",
    "INVARSPEC",
    "ISA",
    "ITYPE",
    "IVAR",
    "JUSTICE",
    "LTLSPEC",
    "LTLWFF",
    "MAX",
    "MDEFINE",
    "MIN",
    "MIRROR",
    "MODULE",
    "NAME",
    "NEXTWFF",
    "O",
    "PRED",
    "PREDICATES",
    "PSLSPEC",
    "S",
    "SIMPWFF",
    "SPEC",
    "T",
    "TRANS",
    "TRUE",
    "U",
    "V",
    "VAR",
    "W",
    "X",
    "Y",
    "Z",
    "abs",
    "array",
    "bool",
    "boolean",
    "case",
    "count",
    "esac",
    "extend",
    "in",
    "init",
    "integer",
    "max",
    "min",
    "mod",
    "next",
    "of",
    "process",
    "real",
    "resize",
    "running",
    "self",
    "signed",
    "sizeof",
    "swconst",
    "toint",
    "union",
    "unsigned",
    "uwconst",
    "word",
    "word1",
    "xnor",
    "xor",
];
