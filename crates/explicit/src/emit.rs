//! From special expressions to flat code: conditions become tests that jump, everything else
//! leaves its value in a slot.

use std::collections::BTreeMap;

use threadwise_lang::program::{ArithOp, CompareOp, FoldKind};

use crate::code::{Address, Bits, Op, Slot};
use crate::term::{Term, Variable};

/// A place in the code that may not be known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label(u32);

/// Code in the making. Jumps hold labels until `finish` puts addresses in their place.
pub(crate) struct Emitter {
    ops: Vec<Op>,
    bits: Vec<Bits>,
    labels: Vec<Address>,
    /// What stands in the memory at first.
    memory: Vec<i64>,
    constants: BTreeMap<i64, Slot>,
    variables: BTreeMap<Variable, Slot>,
    temporaries: Vec<Slot>,
    used: usize,
    own: Slot,
}

/// How many temporary slots are in use.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

impl Emitter {
    /// For states of so many cells.
    pub fn new(cells: usize) -> Self {
        let own = cells as Slot;
        let mut emitter = Emitter {
            ops: Vec::new(),
            bits: Vec::new(),
            labels: Vec::new(),
            memory: vec![0; cells + 2],
            constants: BTreeMap::new(),
            variables: BTreeMap::new(),
            temporaries: Vec::new(),
            used: 0,
            own,
        };
        emitter.variables.insert(Variable::Own, own);
        emitter.variables.insert(Variable::OwnProcess, own + 1);
        emitter
    }

    /// The finished code: instructions, bits, memory, and the slot of the own index.
    pub fn finish(mut self) -> (Vec<Op>, Vec<Bits>, Vec<i64>, Slot) {
        for op in &mut self.ops {
            match op {
                Op::Jump { to }
                | Op::JumpEq { to, .. }
                | Op::JumpNe { to, .. }
                | Op::JumpLt { to, .. }
                | Op::JumpLe { to, .. }
                | Op::Next { to, .. } => *to = self.labels[*to as usize],
                _ => {}
            }
        }
        (self.ops, self.bits, self.memory, self.own)
    }

    /// Where the next instruction will stand.
    pub fn here(&self) -> Address {
        self.ops.len() as Address
    }

    /// Adds an instruction.
    pub fn op(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// A label without a place.
    pub fn label(&mut self) -> Label {
        self.labels.push(Address::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    /// Gives a label the present place.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.here();
    }

    /// Goes on at the label.
    pub fn go(&mut self, label: Label) {
        self.op(Op::Jump { to: label.0 });
    }

    /// The temporary slots in use now.
    pub fn mark(&self) -> Mark {
        Mark(self.used)
    }

    /// Gives back the temporary slots taken since the mark.
    pub fn release(&mut self, mark: Mark) {
        self.used = mark.0;
    }

    fn slot(&mut self, value: i64) -> Slot {
        self.memory.push(value);
        self.memory.len() as Slot - 1
    }

    fn constant(&mut self, value: i64) -> Slot {
        match self.constants.get(&value) {
            Some(&slot) => slot,
            None => {
                let slot = self.slot(value);
                self.constants.insert(value, slot);
                slot
            }
        }
    }

    fn temporary(&mut self) -> Slot {
        if self.used == self.temporaries.len() {
            let slot = self.slot(0);
            self.temporaries.push(slot);
        }
        self.used += 1;
        self.temporaries[self.used - 1]
    }

    /// The index of a pair of bits to keep and to set.
    pub fn bits(&mut self, bits: Bits) -> u32 {
        // Neighbouring steps often write the same bits; a full search is not worth its time.
        let recent = self.bits.len().saturating_sub(64);
        match self.bits[recent..].iter().position(|&b| b == bits) {
            Some(at) => (recent + at) as u32,
            None => {
                self.bits.push(bits);
                self.bits.len() as u32 - 1
            }
        }
    }

    /// Begins a loop in which the variable takes the values from `lo` to `hi`, of which there is at least one.
    pub fn begin_loop(&mut self, variable: Variable, lo: i64) -> (Slot, Label) {
        let counter = self.temporary();
        self.variables.insert(variable, counter);
        let lo = self.constant(lo);
        self.op(Op::Copy {
            dst: counter,
            a: lo,
        });
        let top = self.label();
        self.place(top);
        (counter, top)
    }

    /// Ends a loop.
    pub fn end_loop(&mut self, (counter, top): (Slot, Label), hi: i64) {
        let hi = self.constant(hi);
        self.op(Op::Next {
            dst: counter,
            b: hi,
            to: top.0,
        });
    }

    /// Goes on at the label if the term's truth is `sense`.
    pub fn jump(&mut self, term: &Term, sense: bool, label: Label) {
        let to = label.0;
        match term {
            Term::Const(value) => {
                if (*value != 0) == sense {
                    self.go(label);
                }
            }
            Term::Not(inner) => self.jump(inner, !sense, label),
            Term::And(parts) | Term::Or(parts) => {
                // A false part decides a conjunction, a true one a disjunction.
                let decides = matches!(term, Term::Or(_));
                if sense == decides {
                    parts.iter().for_each(|part| self.jump(part, sense, label));
                } else if let Some((last, parts)) = parts.split_last() {
                    let skip = self.label();
                    parts.iter().for_each(|part| self.jump(part, decides, skip));
                    self.jump(last, sense, label);
                    self.place(skip);
                }
            }
            Term::Compare(op, left, right) => {
                let mark = self.mark();
                let (a, b) = (self.value(left), self.value(right));
                self.release(mark);
                self.op(match (op, sense) {
                    (CompareOp::Eq, true) | (CompareOp::Ne, false) => Op::JumpEq { a, b, to },
                    (CompareOp::Ne, true) | (CompareOp::Eq, false) => Op::JumpNe { a, b, to },
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => Op::JumpLt { a, b, to },
                    (CompareOp::Le, true) | (CompareOp::Gt, false) => Op::JumpLe { a, b, to },
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => Op::JumpLt { a: b, b: a, to },
                    (CompareOp::Ge, true) | (CompareOp::Lt, false) => Op::JumpLe { a: b, b: a, to },
                });
            }
            Term::Ite(cond, yes, no) => {
                let (other, end) = (self.label(), self.label());
                self.jump(cond, false, other);
                self.jump(yes, sense, label);
                self.go(end);
                self.place(other);
                self.jump(no, sense, label);
                self.place(end);
            }
            Term::Loop(kind @ (FoldKind::Forall | FoldKind::Exists), bound, lo, hi, body) => {
                let decides = *kind == FoldKind::Exists;
                let mark = self.mark();
                let decided = if sense == decides {
                    label
                } else {
                    self.label()
                };
                let counter = self.begin_loop(Variable::Bound(*bound), *lo);
                self.jump(body, decides, decided);
                self.end_loop(counter, *hi);
                if sense != decides {
                    self.go(label);
                    self.place(decided);
                }
                self.release(mark);
            }
            _ => {
                let mark = self.mark();
                let a = self.value(term);
                self.release(mark);
                let b = self.constant(0);
                self.op(if sense {
                    Op::JumpNe { a, b, to }
                } else {
                    Op::JumpEq { a, b, to }
                });
            }
        }
    }

    /// The slot with the term's value.
    pub fn value(&mut self, term: &Term) -> Slot {
        match term {
            Term::Const(value) => self.constant(*value),
            Term::Cell(cell) => *cell,
            Term::Var(variable) => match self.variables.get(variable) {
                Some(&slot) => slot,
                // Every variable is bound by a loop around it; one that is not has no values.
                None => self.constant(0),
            },
            Term::CellAt(first, index) => {
                let index = self.value(index);
                let dst = self.temporary();
                self.op(Op::CopyAt {
                    dst,
                    first: *first,
                    index,
                });
                dst
            }
            Term::Arith(op, left, right) => {
                let (a, b) = (self.value(left), self.value(right));
                let dst = self.temporary();
                self.op(arithmetic(*op, dst, a, b));
                dst
            }
            Term::Ite(cond, yes, no) => {
                let dst = self.temporary();
                let (other, end) = (self.label(), self.label());
                self.jump(cond, false, other);
                let a = self.value(yes);
                self.op(Op::Copy { dst, a });
                self.go(end);
                self.place(other);
                let a = self.value(no);
                self.op(Op::Copy { dst, a });
                self.place(end);
                dst
            }
            Term::Not(_) | Term::And(_) | Term::Or(_) | Term::Compare(..) => self.truth(term),
            Term::Loop(kind, bound, lo, hi, body) => {
                let (start, op) = match kind {
                    FoldKind::Forall | FoldKind::Exists => return self.truth(term),
                    FoldKind::Count => (0, None),
                    FoldKind::Sum => (0, Some(ArithOp::Add)),
                    FoldKind::Min => (i64::MAX, Some(ArithOp::Min)),
                    FoldKind::Max => (i64::MIN, Some(ArithOp::Max)),
                };
                let dst = self.temporary();
                let a = self.constant(start);
                self.op(Op::Copy { dst, a });
                let mark = self.mark();
                let counter = self.begin_loop(Variable::Bound(*bound), *lo);
                match op {
                    None => {
                        let skip = self.label();
                        self.jump(body, false, skip);
                        self.op(Op::Count { dst });
                        self.place(skip);
                    }
                    Some(op) => {
                        let b = self.value(body);
                        self.op(arithmetic(op, dst, dst, b));
                    }
                }
                self.end_loop(counter, *hi);
                self.release(mark);
                dst
            }
        }
    }

    fn truth(&mut self, term: &Term) -> Slot {
        let dst = self.temporary();
        let (yes, no) = (self.constant(1), self.constant(0));
        let end = self.label();
        self.op(Op::Copy { dst, a: yes });
        self.jump(term, true, end);
        self.op(Op::Copy { dst, a: no });
        self.place(end);
        dst
    }
}

fn arithmetic(op: ArithOp, dst: Slot, a: Slot, b: Slot) -> Op {
    match op {
        ArithOp::Add => Op::Add { dst, a, b },
        ArithOp::Sub => Op::Sub { dst, a, b },
        ArithOp::Mul => Op::Mul { dst, a, b },
        ArithOp::Div => Op::Div { dst, a, b },
        ArithOp::Rem => Op::Rem { dst, a, b },
        ArithOp::Min => Op::Min { dst, a, b },
        ArithOp::Max => Op::Max { dst, a, b },
    }
}
